# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of the list of a query's scores."""

import numpy as np
from sklearn.base import BaseEstimator


class ListCrossEntropy(BaseEstimator):
    r"""Cross entropy of top-one probabilities, ListNet's.

    .. math:: R(h) = -\sum_i p_i(y) \ln p_i(h), \qquad p_i(z) = \frac{e^{z_i}}{\sum_k e^{z_k}}

    for each query [1]_. One whose grades are all equal has no order to learn, and counts as 0; the
    formula would pull its scores together.

    Notes
    -----
    The gradient is :math:`p(h) - p(y)`, the curvature :math:`W = \max(p(h), p(y))`. The Hessian is
    :math:`\operatorname{diag}(p(h)) - p(h) p(h)^\top`, at most :math:`\operatorname{diag}(p(h))`,
    which bounds short steps only. A row of high grade that is far behind has
    :math:`p_i(h)` near 0, and the step :math:`-G_i / W_i` would have no limit; with the maximum it
    lies in [-1, 1].

    References
    ----------
    .. [1] Cao, Qin, Liu, Tsai, Li. "Learning to Rank: From Pairwise Approach to Listwise Approach".
       ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ListCrossEntropy
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> ListCrossEntropy().value(y, scores, offsets).round(4)
    array([0.6931])
    >>> ListCrossEntropy().gradient(y, scores, offsets).round(4)
    array([-0.2311,  0.2311])
    >>> ListCrossEntropy().curvature(y, scores, offsets).round(4)
    array([0.7311, 0.5   ])
    """

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        starts = offsets[:-1]
        terms = np.exp(_log_top_one(y, offsets)) * _log_top_one(scores, offsets)
        return np.where(_ordered(y, offsets), -np.add.reduceat(terms, starts), 0.0)

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        aim, now = np.exp(_log_top_one(y, offsets)), np.exp(_log_top_one(scores, offsets))
        return _where_ordered(now - aim, y, offsets)

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian at the scores: ndarray of shape (n_samples,)."""
        log_p = np.maximum(_log_top_one(y, offsets), _log_top_one(scores, offsets))
        return _where_ordered(np.exp(log_p), y, offsets)


def _log_top_one(z, offsets):
    """Logarithms of p(z)."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    z = z - np.repeat(np.maximum.reduceat(z, starts), sizes)
    return z - np.repeat(np.log(np.add.reduceat(np.exp(z), starts)), sizes)


def _ordered(y, offsets):
    """Whether each query has two grades."""
    starts = offsets[:-1]
    return np.maximum.reduceat(y, starts) > np.minimum.reduceat(y, starts)


def _where_ordered(values, y, offsets):
    """The values (n_samples,) where the query has two grades, else 0."""
    return np.where(np.repeat(_ordered(y, offsets), np.diff(offsets)), values, 0.0)
