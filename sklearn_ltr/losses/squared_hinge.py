# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Squared losses of the score differences of preference pairs, and of tied rows."""

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ltr._kernels import _hinge
from sklearn_ltr.metrics._per_query import rows_to_rank

NODE = np.dtype([(name, "f8") for name in ("at", "sum", "square", "count")])


class HingeValues(NamedTuple):
    """What sums over pairs give at some scores.

    Attributes
    ----------
    value : ndarray of shape (n_queries,)
        The loss of each query.
    gradient : ndarray of shape (n_samples,)
    count : ndarray of shape (n_samples,)
        Number of each row's active pairs, or their weights summed.
    product : callable
        ``product(direction)`` is the Hessian times a direction, both of shape (n_samples,).
    """

    value: np.ndarray
    gradient: np.ndarray
    count: np.ndarray
    product: Callable


class GradeGroups(NamedTuple):
    """Rows of one query and one grade; a row without a grade is a group by itself.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        The rows by query, and by ascending grade within it, those without a grade last.
    first : ndarray of shape (n_groups,)
        Position in `order` of the first row of each group.
    group : ndarray of shape (n_samples,)
        Number of each row's group.
    """

    order: np.ndarray
    first: np.ndarray
    group: np.ndarray


def group_by_grade(y, offsets):
    """Sort the rows of each query by grade.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        Grades, rows grouped by query; NaN is none.
    offsets : ndarray of shape (n_queries + 1,), dtype intp

    Returns
    -------
    groups : GradeGroups
    """
    query = number_of_query(offsets)
    order = np.lexsort((y, query))
    ordered = y[order]
    begins = np.ones(len(y), dtype=bool)
    begins[1:] = (ordered[1:] != ordered[:-1]) | (query[1:] != query[:-1])
    group = np.empty(len(y), dtype=np.intp)
    group[order] = np.cumsum(begins) - 1
    return GradeGroups(order, np.flatnonzero(begins), group)


def number_of_query(offsets):
    """The number of each row's query."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


class HingeSums:
    r"""Squared hinge of all pairs of rows of a query with different grades, never enumerated.

    .. math:: R(h) = \sum_{y_i > y_j} \frac12 (\tau_{ij} - (h_i - h_j))_+^2

    in O(n log n) for a query of n rows, whatever the number of grades. A pair is active if what is
    squared is positive, and the Hessian is that of the active pairs.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        Grades, rows grouped by query; a row with NaN is in no pair.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    margin : float or "grade"
        :math:`\tau`, of any sign; "grade" is the difference of the pair's grades.
    n_threads : int, default=1
        The sums do not depend on it.

    Attributes
    ----------
    n_pairs : int
    degree : ndarray of shape (n_samples,)
        Number of each row's pairs, active or not.
    """

    def __init__(self, y, offsets, margin, n_threads=1):
        groups = group_by_grade(y, offsets)
        query, graded, starts = number_of_query(offsets), ~np.isnan(y), offsets[:-1]
        level = groups.group - groups.group[groups.order[starts]][query]
        self._level = np.where(graded, level, -1).astype(np.int32)
        in_query = np.add.reduceat(graded, starts, dtype=np.int64)[query]
        degree = np.where(graded, in_query - np.bincount(groups.group)[groups.group], 0)
        self.n_pairs = int(degree.sum()) // 2
        self.degree = degree.astype(np.float64)
        # Either way the hinge of a pair is b_i + tau - b_j.
        self._origin, self._tau = (y, 0.0) if margin == "grade" else (0.0, float(margin))
        self._offsets = offsets
        self._n_threads = n_threads
        self._work = rows_to_rank(offsets, n_threads)
        self._nodes = np.empty(n_threads * (int(self._level.max()) + 1), dtype=NODE)

    def __call__(self, scores):
        """Evaluate at `scores`.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,), dtype float64

        Returns
        -------
        values : HingeValues
        """
        n = len(scores)
        value, sums = np.empty(len(self._offsets) - 1), np.zeros((2, n))
        order, reach = np.empty(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
        _hinge.hinge_sums(
            self._origin - scores,
            self._level,
            self._offsets,
            self._tau,
            self._n_threads,
            self._work,
            self._nodes,
            value,
            sums,
            order,
            reach,
        )
        gradient, count = sums
        product = partial(self._product, order, self._level[order], reach, count[order])
        return HingeValues(value, gradient, count, product)

    def _product(self, order, level, reach, count, direction):
        """Hessian times direction; all but that and the result in the order of the scores."""
        z = direction[order]
        # From a row of the query, so that a common part takes no digits.
        z -= np.repeat(z[self._offsets[:-1]], np.diff(self._offsets))
        sums = np.zeros((2, len(z)))
        nodes = np.empty(len(self._nodes))
        _hinge.partner_sums(level, reach, self._offsets, z, self._n_threads, nodes, sums)
        product = np.empty_like(z)
        product[order] = count * z - sums[0] - sums[1]
        return product


class ListedHingeSums:
    """Squared hinge of listed pairs; every sum takes a pair by its weight.

    Attributes and what a call takes and returns as `HingeSums`.

    Parameters
    ----------
    pairs : ExplicitPairs
    margin : float
    """

    def __init__(self, pairs, margin):
        self.n_pairs = pairs.n_pairs
        self._pairs = pairs
        self._margin = margin
        self._weight = np.ones(pairs.n_pairs) if pairs.weight is None else pairs.weight
        counts = np.diff(pairs.pair_offsets)
        self._query = np.repeat(np.arange(len(counts)), counts)
        self.degree = self._sum(self._weight, self._weight)

    def __call__(self, scores):
        winner, loser = self._pairs.winner, self._pairs.loser
        m = np.maximum(self._margin - (scores[winner] - scores[loser]), 0)
        pull = self._weight * m
        active = self._weight * (m > 0)
        n_queries = len(self._pairs.pair_offsets) - 1
        value = np.bincount(self._query, pull * m / 2, n_queries)
        product = partial(self._product, active)
        return HingeValues(value, self._sum(-pull, pull), self._sum(active, active), product)

    def _product(self, active, direction):
        change = active * (direction[self._pairs.winner] - direction[self._pairs.loser])
        return self._sum(change, -change)

    def _sum(self, of_winner, of_loser):
        """Sums over the pairs of each row."""
        n_samples = int(self._pairs.offsets[-1])
        won = np.bincount(self._pairs.winner, of_winner, n_samples)
        return won + np.bincount(self._pairs.loser, of_loser, n_samples)


class TiedSums:
    r"""Squared difference of all pairs of rows of a query with the same grade.

    .. math:: R(h) = \sum_{i < j,\, y_i = y_j} \frac12 (h_i - h_j)^2

    in O(n). All of its pairs are active. Attributes and what a call takes and returns as
    `HingeSums`, except for `degree`.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        Grades, rows grouped by query; a row with NaN is in no pair.
    offsets : ndarray of shape (n_queries + 1,), dtype intp

    Attributes
    ----------
    n_pairs : int
    degree : ndarray of shape (n_samples,)
        Number of rows of each row's query and grade, itself included, or 0 if it is the only one:
        a diagonal that is no less than the Hessian, and constant.
    """

    def __init__(self, y, offsets):
        groups = group_by_grade(y, offsets)
        self._offsets = offsets
        self._group = groups.group
        self._size = np.bincount(groups.group)
        self._first = groups.order[groups.first][groups.group]
        self.n_pairs = int((self._size * (self._size - 1) // 2).sum())
        size = self._size[groups.group]
        self.degree = np.where(size > 1, size, 0).astype(np.float64)
        self._count = size - 1.0

    def __call__(self, scores):
        deviation = self._deviation(scores)
        of_row = self._size[self._group] * deviation
        value = np.add.reduceat(of_row * deviation / 2, self._offsets[:-1])
        return HingeValues(value, of_row, self._count.copy(), self._product)

    def _product(self, direction):
        return self._size[self._group] * self._deviation(direction)

    def _deviation(self, x):
        """Difference of each row to the mean of its group."""
        # From a row of the group, so that equal rows give 0 and a common part takes no digits.
        x = x - x[self._first]
        return x - (np.bincount(self._group, x) / self._size)[self._group]


class SquaredHinge(BaseEstimator):
    r"""Squared hinge of score differences.

    .. math:: R(h) = \sum_{y_i > y_j} \frac12 (\tau_{ij} - (h_i - h_j))_+^2

    over the pairs of rows of one query with different grades: the loss of QBRank [1]_ and of
    RankSVM with squared slack [2]_. Pairs are never listed: a query of n rows takes O(n log n).

    Parameters
    ----------
    margin : float or "grade", default="grade"
        :math:`\tau`, by how much the winner must be ahead for a pair to cost nothing; positive.
        "grade": by the difference of the grades.

    Notes
    -----
    The gradient of a row is the sum of :math:`(\tau - (h_i - h_j))_+` over the pairs that it loses
    minus the same sum over those that it wins. The curvature is twice the number of its pairs,
    those that cost nothing included, and bounds the loss for any step: the Hessian of a pair is
    :math:`\begin{pmatrix} 1 & -1 \\ -1 & 1 \end{pmatrix}`, at most the diagonal (2, 2), or 0.

    References
    ----------
    .. [1] Zheng, Zha, Zhang, Chapelle, Chen, Sun. "A General Boosting Method and its Application to
       Learning Ranking Functions for Web Search". NIPS 2007.
    .. [2] Chapelle, Keerthi. "Efficient Algorithms for Ranking with SVMs". Information Retrieval
       13, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import SquaredHinge
    >>> y, scores, offsets = np.array([2.0, 1.0, 0.0]), np.zeros(3), np.array([0, 3])
    >>> SquaredHinge().value(y, scores, offsets)
    array([3.])
    >>> SquaredHinge().gradient(y, scores, offsets)
    array([-3.,  0.,  3.])
    >>> SquaredHinge().curvature(y, scores, offsets)
    array([4., 4., 4.])
    """

    def __init__(self, margin="grade"):
        self.margin = margin

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        return self._sums(y, offsets)(scores).value

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        return self._sums(y, offsets)(scores).gradient

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian, for any step: ndarray of shape (n_samples,)."""
        return 2 * self._sums(y, offsets).degree

    def _sums(self, y, offsets):
        margin = self.margin
        if margin != "grade" and not (isinstance(margin, Real) and 0 < margin < np.inf):
            raise ValueError(f'`margin` must be "grade" or a positive number; got {margin!r}.')
        return HingeSums(y, offsets, margin)
