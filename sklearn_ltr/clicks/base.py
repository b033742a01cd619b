# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What all click models do: take a log, keep what they say of its documents, judge other logs."""

from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_ltr.clicks.log import ClickLog
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.validation import warn_caller


class ClickModel(Estimator):
    """Base class of the click models.

    A subclass has `fit`, which calls `_keep`, and `_log_likelihoods` and `_click_probabilities`.
    """

    def score(self, log):
        """Mean log-likelihood of an impression; higher is better.

        A document of a query that the model was not fitted on is taken to be as attractive as the
        mean over what was shown.

        Parameters
        ----------
        log : ClickLog

        Returns
        -------
        score : float
            Minus infinity, with a warning, if there is what the model takes for impossible.

        Raises
        ------
        ValueError
            If the log has positions that the model was not fitted on, or lacks sessions and the
            model is of sessions.
        """
        self._check_judged(log)
        likelihoods, times = self._log_likelihoods(log)
        total = float((likelihoods[times > 0] * times[times > 0]).sum())
        self._check_possible(np.isfinite(total))
        return total / log.n_impressions

    def perplexity(self, log):
        r"""How surprised the model is by the clicks at each position; lower is better.

        .. math:: 2^{-\frac{1}{N_k} \sum \log_2 P(C_k = c_k)} ,

        the sum being over the :math:`N_k` impressions at position :math:`k`, and the probability
        that of a click there whatever was clicked above [1]_. It is 1 if clicks are foreseen, and 2
        if it is said of each that it is as likely as not. A document of a query that the model was
        not fitted on is taken to be as attractive as the mean over what was shown.

        Parameters
        ----------
        log : ClickLog

        Returns
        -------
        perplexity : ndarray of shape (n_positions,)
            NaN at positions without an impression. Infinite, with a warning, if there is a click,
            or none, that the model takes for impossible.

        Raises
        ------
        ValueError
            If the log has positions that the model was not fitted on, or lacks sessions and the
            model is of sessions.

        References
        ----------
        .. [1] Chuklin, Markov, de Rijke. "Click Models for Web Search". Morgan & Claypool 2015,
           chapter 5.
        """
        self._check_judged(log)
        position, probability, clicked, skipped = self._click_probabilities(log)
        with np.errstate(divide="ignore", invalid="ignore"):
            yes, no = clicked * np.log2(probability), skipped * np.log2(1 - probability)
        bits = np.where(clicked > 0, yes, 0) + np.where(skipped > 0, no, 0)
        self._check_possible(np.isfinite(bits).all())
        n = np.bincount(position, weights=clicked + skipped, minlength=len(self.propensities_))
        bits = np.bincount(position, weights=bits, minlength=len(self.propensities_))
        with np.errstate(invalid="ignore"):
            return np.exp2(-bits / n)

    def _check_possible(self, possible):
        if not possible:
            warn_caller(
                "Some clicks are impossible for the model, as it was fitted on documents that were "
                "always clicked when looked at, or never. attractiveness_prior=(1, 1) adds a click "
                "and a miss to each.",
                UserWarning,
            )

    def _check_params(self):
        prior = self.attractiveness_prior
        good = isinstance(prior, (tuple, list, np.ndarray)) and len(prior) == 2
        if not good or not all(isinstance(a, Real) and 0 <= a < np.inf for a in prior):
            raise ValueError(
                "`attractiveness_prior` must be two numbers, not negative: how many attracted and "
                f"unattracted impressions to add to each document; got {prior!r}."
            )

    def _check_log(self, log, method):
        if not isinstance(log, ClickLog):
            raise TypeError(
                f"{type(self).__name__}.{method} takes a ClickLog; got {type(log).__name__}. "
                "ClickLog(groups, documents, positions, clicks, sessions) makes one of arrays."
            )
        log._counts  # noqa: B018 - an error if it is empty

    def _check_judged(self, log):
        check_is_fitted(self, "propensities_")
        self._check_log(log, "score")
        if log.n_positions > len(self.propensities_):
            raise ValueError(
                f"The log has positions up to {log.n_positions}, and the model was fitted on "
                f"{len(self.propensities_)}: leave out what is further down."
            )

    def _keep(self, log, propensities, attractiveness):
        """Set what every click model has after `fit`."""
        counts = log._counts
        rows = counts.rows
        shown = np.bincount(counts.cell_row, weights=counts.cells[0], minlength=rows.n_rows)
        self.propensities_ = propensities
        self.attractiveness_ = attractiveness
        self.groups_ = rows.queries[rows.query]
        self.documents_ = rows.documents[rows.document]
        self._rows = rows
        self._mean_attractiveness = float(shown @ attractiveness / shown.sum())

    def _attractiveness_in(self, log):
        """Attractiveness of each row of a log."""
        at = self._rows.find(log._counts.rows)
        return np.where(at >= 0, self.attractiveness_[at], self._mean_attractiveness)


def ratios(top, bottom, prior):
    """Attractiveness by how often rows attracted and were looked at; 0 of what never was.

    Parameters
    ----------
    top, bottom : ndarray of shape (n_rows,)
    prior : (float, float)
    """
    bottom = bottom + (prior[0] + prior[1])
    return np.divide(top + prior[0], bottom, out=np.zeros(len(top)), where=bottom > 0)
