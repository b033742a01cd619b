# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The dependent click model."""

import numpy as np

from sklearn_ltr.clicks._counts import CELL_COUNTS
from sklearn_ltr.clicks.base import ClickModel, ratios
from sklearn_ltr.clicks.cascade import by_row, propensities_of
from sklearn_ltr.clicks.sessions import click_probabilities


class DependentClickModel(ClickModel):
    r"""The dependent click model: a cascade that may go on after each click.

    Users look from the top down and click what attracts. After a click at position :math:`k` they
    go on with probability :math:`\lambda_k`, and after a document that does not attract always. If
    the last click of a session is at position :math:`l`, its probability is [1]_

    .. math:: \prod_{k < l} \bigl( c_k \alpha_k \lambda_k + (1 - c_k)(1 - \alpha_k) \bigr) \;
              \alpha_l \Bigl( 1 - \lambda_l + \lambda_l \prod_{k > l} (1 - \alpha_k) \Bigr) ,

    and without a click :math:`\prod_k (1 - \alpha_k)`. The last factor is at least
    :math:`1 - \lambda_l`. With that in its place, as in section 4 of [1]_, the largest likelihood
    is found by counting,

    .. math:: \alpha_{qd} = \frac{\text{clicks on } d}
                            {\text{sessions with } d \text{, not below the last click}} , \qquad
              \lambda_k = 1 - \frac{\text{last clicks at } k}{\text{clicks at } k} .

    So what is below the last click counts as not looked at. Some of it was, so that documents
    shown there come out as more attractive than they are, and users as less patient.

    Parameters
    ----------
    attractiveness_prior : (float, float), default=(0.0, 0.0)
        How many attracted and unattracted impressions to add to each document of a query: those of
        a Beta distribution with parameters one larger. With none a document that was never clicked
        has attractiveness 0, and a click on it in another log is impossible.

    Attributes
    ----------
    propensities_ : ndarray of shape (n_positions,)
        How often each position from 1 on was looked at, that is not below the last click, of the
        times that something was shown there; relative to the largest.
    continuation_ : ndarray of shape (n_positions,)
        :math:`\lambda_k`. Where nothing was clicked, that of all positions together.
    attractiveness_ : ndarray of shape (n_rows,)
        :math:`\alpha_{qd}` of each document of a query, by their ids. 0 of those that were only
        shown below the last click.
    groups_, documents_ : ndarray of shape (n_rows,)
        Ids of the query and the document that each is of.

    See Also
    --------
    CascadeModel : Users who stop at the first click.
    PositionBasedModel : Attention by position, whatever was clicked above.

    Notes
    -----
    What was looked at follows from the model. So one ranker that always shows the same is enough,
    if its users are such; but nothing in such a log tells whether they are.

    References
    ----------
    .. [1] Guo, Liu, Wang. "Efficient Multiple-Click Models in Web Search". WSDM 2009.

    Examples
    --------
    >>> from sklearn_ltr.clicks import ClickLog, DependentClickModel
    >>> log = ClickLog(
    ...     groups=[0] * 6,
    ...     documents=["a", "b", "c", "b", "a", "c"],
    ...     positions=[1, 2, 3, 1, 2, 3],
    ...     clicks=[1, 1, 0, 1, 0, 0],
    ...     sessions=[1, 1, 1, 2, 2, 2],
    ...     keep_sessions=True,
    ... )
    >>> model = DependentClickModel(attractiveness_prior=(1, 1)).fit(log)
    >>> model.continuation_
    array([0.5       , 0.        , 0.33333333])
    >>> model.attractiveness_
    array([0.66666667, 0.75      , 0.5       ])
    >>> round(model.score(log), 3)
    -0.369
    """

    def __init__(self, *, attractiveness_prior=(0.0, 0.0)):
        self.attractiveness_prior = attractiveness_prior

    def fit(self, log):
        """Estimate the attractiveness of each document, and who goes on after a click.

        Parameters
        ----------
        log : ClickLog
            With sessions.

        Returns
        -------
        self : DependentClickModel

        Raises
        ------
        TypeError, ValueError
            If it is no log, it has no impression or no sessions, or a parameter is out of its
            range.
        """
        self._check_params()
        self._check_log(log, "fit")
        log._check_has_sessions("DependentClickModel")
        counts, n = log._counts, log.n_positions
        clicked, looked_at, last = (
            counts.cells[CELL_COUNTS.index(name)] for name in ("clicked", "to_last", "last")
        )
        attractiveness = ratios(
            by_row(log, clicked), by_row(log, looked_at), self.attractiveness_prior
        )
        self._keep(log, propensities_of(log, looked_at), attractiveness)
        clicks, ends = (
            np.bincount(counts.cell_position, weights=values, minlength=n)
            for values in (clicked, last)
        )
        overall = 1 - ends.sum() / clicks.sum() if clicks.any() else 1.0
        self.continuation_ = np.where(
            clicks > 0, 1 - ends / np.where(clicks > 0, clicks, 1), overall
        )
        return self

    def _log_likelihoods(self, log):
        """Of each impression to the last click, and of each session what ends it."""
        sessions = log._sessions("DependentClickModel.score")
        sizes, clicked = sessions.sizes, sessions.clicked
        attractiveness = self._attractiveness_in(log)[sessions.row]
        stays = self.continuation_[sessions.position]
        starts, at = np.cumsum(sizes) - sizes, np.arange(len(clicked))
        last = np.maximum.reduceat(np.where(clicked, at, -1), starts)
        of_row = np.repeat(last, sizes)
        with np.errstate(divide="ignore"):
            missed, hit = np.log1p(-attractiveness), np.log(attractiveness)
            going_on = np.log(stays)
        to_last = (of_row < 0) | (at <= of_row)
        likelihoods = np.where(clicked, hit + np.where(at < of_row, going_on, 0), missed)
        below = np.add.reduceat(np.where(to_last, 0, missed), starts)
        end = stays[np.maximum(last, 0)]
        with np.errstate(divide="ignore"):
            ending = np.log(1 - end + end * np.exp(below))
        return (
            np.concatenate([likelihoods, ending]),
            np.concatenate([to_last, last >= 0]).astype(np.float64),
        )

    def _click_probabilities(self, log):
        return click_probabilities(self, log, self.continuation_)
