# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Likelihood of the order of the grades."""

import numpy as np

from sklearn_ltr._kernels import _plackett_luce
from sklearn_ltr.losses.base import BoundLoss, Loss


class _BoundListLikelihood(BoundLoss):
    def _prepare(self, loss):
        data, groups = self.data, self.data.grade_groups
        self._order = groups.order
        # Where each grade of each query begins, and the first grade of each query.
        self._bounds = np.append(groups.first, data.n_samples)
        self._grades = np.searchsorted(groups.first, data.offsets)
        lowest = np.minimum.reduceat(data.y, data.offsets[:-1])
        self._above_lowest = 1.0 * (data.y > data.per_row(lowest))

    def _evaluate(self, scores, round):
        # Only differences in a query count; near 0 they keep their digits.
        top = self.data.per_row(np.maximum.reduceat(scores, self.data.offsets[:-1]))
        value, in_order = np.empty(self.data.n_queries), np.empty(len(scores))
        rows = (scores - top)[self._order], self._bounds, self._grades
        scratch = np.empty(len(self._bounds) - 1)
        _plackett_luce.plackett_luce(*rows, self.data.n_threads, scratch, value, in_order)
        self._expected = np.empty_like(in_order)  # number of times that each row is chosen
        self._expected[self._order] = in_order
        return value, self._expected - self._above_lowest

    def _curvature(self):
        return np.maximum(self._expected, self._above_lowest)


class ListLikelihood(Loss):
    r"""Negative log likelihood of the order of the grades, ListMLE's.

    .. math:: R(h) = \sum_{l} \left[ m_l \ln \sum_{y_k \le l} e^{h_k} - \sum_{y_i = l} h_i \right]

    for each query, over its grades l except the lowest, with :math:`m_l` the number of rows of
    grade l. Where all grades differ this is the likelihood loss of [1]_: the model of Plackett and
    Luce, in which rows are chosen one after the other, best first, with probability
    :math:`e^{h_i}` over the sum of the rows that are left. O(n log n) for a query of n rows.

    Notes
    -----
    Rows of one grade have no order, and the loss does not depend on any. By Breslow's rule [2]_
    each of them is chosen from all rows of its grade or below. Nothing is chosen from the rows of
    the lowest grade alone: that would say nothing about the order of grades, only pull the scores
    of these rows together. Where a single row has the lowest grade such a term is 0 anyway.

    With :math:`P_i = e^{h_i} \sum_{l \ge y_i} m_l / \sum_{y_k \le l} e^{h_k}`, the expected number
    of times that row i is chosen, the gradient is :math:`P_i - 1` for rows above the lowest grade
    and :math:`P_i` for the others. The curvature is :math:`W_i = \max(P_i, 1)` and :math:`P_i`. The
    Hessian is at most :math:`\operatorname{diag}(P)`, which bounds short steps only; with the
    maximum the step :math:`-G_i / W_i` lies in [-1, 1], as that of `ListCrossEntropy`.

    References
    ----------
    .. [1] Xia, Liu, Wang, Zhang, Li. "Listwise Approach to Learning to Rank: Theory and Algorithm".
       ICML 2008.
    .. [2] Breslow. "Covariance Analysis of Censored Survival Data". Biometrics 30, 1974.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ListLikelihood
    >>> y, scores, offsets = np.array([2.0, 1.0, 0.0]), np.zeros(3), np.array([0, 3])
    >>> ListLikelihood().value(y, scores, offsets).round(4)  # ln 3 + ln 2
    array([1.7918])
    >>> ListLikelihood().gradient(y, scores, offsets).round(4)
    array([-0.6667, -0.1667,  0.8333])
    >>> ListLikelihood().curvature(y, scores, offsets).round(4)
    array([1.    , 1.    , 0.8333])
    """

    no_propensity = (
        "the probability of a whole order is no sum over clicks, so that no weights of these make "
        "it what it is without bias; take ListCrossEntropy or ListNDCGCrossEntropy"
    )
    bound = _BoundListLikelihood
