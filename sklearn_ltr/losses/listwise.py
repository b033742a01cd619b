# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of the list of a query's scores."""

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ltr._kernels import _plackett_luce
from sklearn_ltr.losses.squared_hinge import group_by_grade

# Largest second derivative of -x / (2 sqrt(x^2 + 1)), at x = 1/2.
LARGEST_BEND = 0.75 * 0.8**2.5  # 0.4293...


class ListCrossEntropy(BaseEstimator):
    r"""Cross entropy of top-one probabilities, ListNet's.

    .. math:: R(h) = -\sum_i p_i(y / T) \ln p_i(h), \qquad
        p_i(z) = \frac{e^{z_i}}{\sum_k e^{z_k}}

    for each query, with grades y [1]_. One whose grades are all equal has no order to learn, and
    counts as 0; the formula would pull its scores together.

    Parameters
    ----------
    temperature : float, default=1.0
        T, positive. The smaller it is, the more of the probability to be on top the rows of the
        highest grade have.

    Notes
    -----
    The gradient is :math:`p(h) - p(y / T)`, the curvature :math:`W = \max(p(h), p(y / T))`. The
    Hessian is :math:`\operatorname{diag}(p(h)) - p(h) p(h)^\top`, at most
    :math:`\operatorname{diag}(p(h))`, which bounds short steps only. A row of high grade that is
    far behind has :math:`p_i(h)` near 0, and the step :math:`-G_i / W_i` would have no limit; with
    the maximum it lies in [-1, 1].

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

    def __init__(self, temperature=1.0):
        self.temperature = temperature

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        starts = offsets[:-1]
        terms = np.exp(self._log_aim(y, offsets)) * _log_top_one(scores, offsets)
        return np.where(_ordered(y, offsets), -np.add.reduceat(terms, starts), 0.0)

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        aim, now = np.exp(self._log_aim(y, offsets)), np.exp(_log_top_one(scores, offsets))
        return _where_ordered(now - aim, y, offsets)

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian at the scores: ndarray of shape (n_samples,)."""
        log_p = np.maximum(self._log_aim(y, offsets), _log_top_one(scores, offsets))
        return _where_ordered(np.exp(log_p), y, offsets)

    def _log_aim(self, y, offsets):
        temperature = self.temperature
        if not (isinstance(temperature, Real) and 0 < temperature < np.inf):
            raise ValueError(f"`temperature` must be a positive number; got {temperature!r}.")
        return _log_top_one(y / temperature, offsets)


class ListLikelihood(BaseEstimator):
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

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        return _plackett_luce_sums(y, scores, offsets)[0]

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        return _plackett_luce_sums(y, scores, offsets)[1] - _above_lowest(y, offsets)

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian at the scores: ndarray of shape (n_samples,)."""
        expected = _plackett_luce_sums(y, scores, offsets)[1]
        return np.maximum(expected, _above_lowest(y, offsets))


class ListCosine(BaseEstimator):
    r"""Cosine of the angle between the scores and the grades, RankCosine's.

    .. math:: R(h) = \frac12 \left( 1 - \frac{g^\top h}{|g| \sqrt{|h|^2 + n}} \right)

    for each query of n rows, with g its grades [1]_. The paper's loss has no n: it is undefined
    where all scores are 0, and the same for any multiple of them. With n it is smooth, and as the
    paper's where the scores are large, :math:`|h|^2 \gg n`. A query whose grades are all equal has
    no order to learn, and counts as 0.

    Parameters
    ----------
    center : bool, default=True
        Subtract their means in the query from g and h: the cosine is then Pearson's correlation,
        and like a ranking it does not depend on a shift of the scores. False is the paper's loss.

    Notes
    -----
    With :math:`r^2 = |h|^2 + n` the gradient is
    :math:`-\frac{1}{2 r} \left( g / |g| - (g^\top h / |g|) \, h / r^2 \right)`, where g and h are
    centred if `center`. The loss is not convex. The curvature is :math:`W = c / n` for all rows,
    :math:`c = \frac34 (4/5)^{5/2} = 0.4293`, and bounds the loss for any step: no second derivative
    is larger, and it is reached where :math:`h = \sqrt{n} \, g / (2 |g|)`.

    References
    ----------
    .. [1] Qin, Zhang, Tsai, Wang, Liu, Li. "Query-level Loss Functions for Information Retrieval".
       Information Processing and Management 44, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ListCosine
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> ListCosine().value(y, scores, offsets)
    array([0.5])
    >>> ListCosine().gradient(y, scores, offsets)
    array([-0.25,  0.25])
    >>> ListCosine().curvature(y, scores, offsets).round(4)
    array([0.2147, 0.2147])
    """

    def __init__(self, center=True):
        self.center = center

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        cosine = self._angle(y, scores, offsets)[3]
        return np.where(_ordered(y, offsets), (1 - cosine) / 2, 0.0)

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        aim, now, length, cosine = self._angle(y, scores, offsets)
        sizes = np.diff(offsets)
        slope = (np.repeat(cosine, sizes) * now - aim) / np.repeat(2 * length, sizes)
        return _where_ordered(slope, y, offsets)

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian, for any step: ndarray of shape (n_samples,)."""
        self._check_center()
        sizes = np.diff(offsets)
        return _where_ordered(np.repeat(LARGEST_BEND / sizes, sizes), y, offsets)

    def _angle(self, y, scores, offsets):
        """g / |g| and h / r, of each row; r and the cosine, of each query."""
        self._check_center()
        starts, sizes = offsets[:-1], np.diff(offsets)
        if self.center:
            y, scores = _centred(y, offsets), _centred(scores, offsets)
        norm = np.sqrt(np.add.reduceat(y**2, starts))
        length = np.sqrt(np.add.reduceat(scores**2, starts) + sizes)
        aim = y / np.repeat(np.where(norm > 0, norm, 1), sizes)
        now = scores / np.repeat(length, sizes)
        return aim, now, length, np.add.reduceat(aim * now, starts)

    def _check_center(self):
        if self.center not in (True, False):
            raise ValueError(f"`center` must be True or False; got {self.center!r}.")


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


def _above_lowest(y, offsets):
    """1.0 for each row above the lowest grade of its query, else 0.0."""
    lowest = np.minimum.reduceat(y, offsets[:-1])
    return (y > np.repeat(lowest, np.diff(offsets))).astype(np.float64)


def _centred(z, offsets):
    """`z` minus its mean in each query."""
    sizes = np.diff(offsets)
    return z - np.repeat(np.add.reduceat(z, offsets[:-1]) / sizes, sizes)


def _plackett_luce_sums(y, scores, offsets):
    """Loss of each query, and expected number of times that each row is chosen."""
    groups = group_by_grade(y, offsets)
    # Only differences in a query count; near 0 they keep their digits.
    top = np.repeat(np.maximum.reduceat(scores, offsets[:-1]), np.diff(offsets))
    value, in_order, expected = np.empty(len(offsets) - 1), np.empty(len(y)), np.empty(len(y))
    _plackett_luce.plackett_luce(
        (scores - top)[groups.order],
        np.append(groups.first, len(y)),
        np.searchsorted(groups.first, offsets),
        np.empty(len(groups.first)),
        value,
        in_order,
    )
    expected[groups.order] = in_order
    return value, expected
