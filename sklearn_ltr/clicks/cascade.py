# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cascade model."""

import numpy as np

from sklearn_ltr.clicks._counts import CELL_COUNTS
from sklearn_ltr.clicks.base import ClickModel, ratios
from sklearn_ltr.clicks.sessions import click_probabilities
from sklearn_ltr.validation import warn_caller


class CascadeModel(ClickModel):
    r"""The cascade model: users look from the top down, to the first document that attracts.

    That one is clicked, and nothing below it is looked at. The document at position :math:`k` of a
    session is clicked with probability [1]_

    .. math:: P(C_k = 1) = \alpha_k \prod_{j < k} (1 - \alpha_j) .

    So documents at and above the click were looked at, and of a session without a click all were;
    the attractiveness of largest likelihood is a share,

    .. math:: \alpha_{qd} = \frac{\text{sessions in which } d \text{ was the first click}}
                            {\text{sessions with } d \text{, not below the first click}} .

    The model knows no second click. What is below the first one in a session is left out, in `fit`
    and in `score`, with a warning: :class:`DependentClickModel` has several.

    Parameters
    ----------
    attractiveness_prior : (float, float), default=(0.0, 0.0)
        How many attracted and unattracted impressions to add to each document of a query: those of
        a Beta distribution with parameters one larger. With none a document that was never clicked
        has attractiveness 0, and a click on it in another log is impossible.

    Attributes
    ----------
    propensities_ : ndarray of shape (n_positions,)
        How often each position from 1 on was looked at, of the times that something was shown
        there; relative to the largest.
    attractiveness_ : ndarray of shape (n_rows,)
        :math:`\alpha_{qd}` of each document of a query, by their ids. 0 of those that were only
        shown below a click.
    groups_, documents_ : ndarray of shape (n_rows,)
        Ids of the query and the document that each is of.

    Warns
    -----
    UserWarning
        If sessions have several clicks.

    See Also
    --------
    PositionBasedModel : Attention by position, whatever was clicked above.
    DependentClickModel : Users who go on after a click.

    Notes
    -----
    What was looked at follows from the model. So one ranker that always shows the same is enough,
    if its users are such; but nothing in such a log tells whether they are.

    References
    ----------
    .. [1] Craswell, Zoeter, Taylor, Ramsey. "An Experimental Comparison of Click Position-Bias
       Models". WSDM 2008.

    Examples
    --------
    >>> from sklearn_ltr.clicks import CascadeModel, ClickLog
    >>> log = ClickLog(
    ...     groups=[0] * 6,
    ...     documents=["a", "b", "c", "b", "a", "c"],
    ...     positions=[1, 2, 3, 1, 2, 3],
    ...     clicks=[0, 1, 0, 0, 0, 1],
    ...     sessions=[1, 1, 1, 2, 2, 2],
    ... )
    >>> model = CascadeModel().fit(log)
    >>> model.documents_, model.attractiveness_
    (array(['a', 'b', 'c'], dtype=object), array([0. , 0.5, 1. ]))
    >>> model.propensities_
    array([1. , 1. , 0.5])
    """

    def __init__(self, *, attractiveness_prior=(0.0, 0.0)):
        self.attractiveness_prior = attractiveness_prior

    def fit(self, log):
        """Estimate the attractiveness of each document.

        Parameters
        ----------
        log : ClickLog
            With sessions.

        Returns
        -------
        self : CascadeModel

        Raises
        ------
        TypeError, ValueError
            If it is no log, it has no impression or no sessions, or a parameter is out of its
            range.
        """
        self._check_params()
        self._check_log(log, "fit")
        log._check_has_sessions("CascadeModel")
        _warn_of_further_clicks(log)
        looked_at, first = _looked_at_and_first(log)
        self._keep(
            log,
            propensities_of(log, looked_at),
            ratios(by_row(log, first), by_row(log, looked_at), self.attractiveness_prior),
        )
        return self

    def _log_likelihoods(self, log):
        log._check_has_sessions("CascadeModel")
        _warn_of_further_clicks(log)
        looked_at, first = _looked_at_and_first(log)
        attractiveness = self._attractiveness_in(log)[log._counts.cell_row]
        with np.errstate(divide="ignore"):
            likelihoods = np.concatenate([np.log(attractiveness), np.log1p(-attractiveness)])
        return likelihoods, np.concatenate([first, looked_at - first])

    def _click_probabilities(self, log):
        stays = np.zeros(len(self.propensities_))  # after a click
        return click_probabilities(self, log, stays)


def by_row(log, values):
    """Sums of values of the cells of each row."""
    counts = log._counts
    return np.bincount(counts.cell_row, weights=values, minlength=counts.rows.n_rows)


def propensities_of(log, looked_at):
    """Shares of the impressions at each position that were looked at, relative to the largest."""
    counts, n = log._counts, log.n_positions
    seen = np.bincount(counts.cell_position, weights=looked_at, minlength=n)
    shown = np.bincount(counts.cell_position, weights=counts.cells[0], minlength=n)
    share = np.divide(seen, shown, out=np.zeros(n), where=shown > 0)
    return share / share.max()


def _looked_at_and_first(log):
    cells = log._counts.cells
    return cells[CELL_COUNTS.index("to_first")], cells[CELL_COUNTS.index("first")]


def _warn_of_further_clicks(log):
    further = log.n_clicks - int(_looked_at_and_first(log)[1].sum())
    if further:
        warn_caller(
            f"{further} of {log.n_clicks} clicks are not the first of their session, of which "
            "CascadeModel knows nothing: what is below the first click is left out. "
            "DependentClickModel has several clicks.",
            UserWarning,
        )
