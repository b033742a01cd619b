# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Squared hinge of preference pairs, and squared differences of tied rows, by sums over rows."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from sklearn_ltr._kernels import _hinge, _types
from sklearn_ltr.losses.pairs_alike import check_no_ties
from sklearn_ltr.ranking import rows_to_rank

NODE = _types.HINGE_NODE


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


def hinge_sums(data, margin):
    """The squared hinge of the pairs of some rows, of grades or given; see `HingeSums`.

    Of given pairs "grade" is their own margin, 1 where there is none. ValueError if they have
    margins that the number given here would make nothing of.
    """
    if data.preferences is None:
        return HingeSums(data, margin)
    of_pairs = data.preferences.margin is not None
    if of_pairs and margin != "grade":
        raise ValueError(
            '`preference_margin` is what margin="grade" takes for given pairs; with '
            f'margin={margin!r} it would be of no effect. Set margin="grade".'
        )
    if margin == "grade":
        margin = data.pairs.margin if of_pairs else 1.0
    return ListedHingeSums(data.pairs, margin)


def tied_sums(data, tie_weight):
    """The squared differences of tied rows, or None where they have no weight; see `TiedSums`.

    ValueError if pairs are given, which say nothing of ties.
    """
    if tie_weight == 0:
        return None
    check_no_ties(data, tie_weight)
    return TiedSums(data)


class HingeSums:
    r"""Squared hinge of all pairs of rows of a query with different grades, never enumerated.

    .. math:: R(h) = \sum_{y_i > y_j} \frac12 (\tau_{ij} - (h_i - h_j))_+^2

    in O(n log n) for a query of n rows, whatever the number of grades. A pair is active if what is
    squared is positive, and the Hessian is that of the active pairs. A pair of clicks is taken by
    the weight of the row that wins it.

    Parameters
    ----------
    data : RankingData
        A row whose grade is NaN is in no pair.
    margin : float or "grade"
        :math:`\tau`, of any sign; "grade" is the difference of the pair's grades.

    Attributes
    ----------
    n_pairs : int
    degree : ndarray of shape (n_samples,)
        Number of each row's pairs, active or not, or their weights summed.
    """

    def __init__(self, data, margin):
        y, offsets, groups = data.y, data.offsets, data.grade_groups
        first = data.per_row(groups.group[groups.order[offsets[:-1]]])
        self._level = np.where(np.isnan(y), -1, groups.group - first).astype(np.int32)
        self.degree = data.weighted_degree
        self.n_pairs = int(data.sum(data.degree)) // 2
        self._weight = data.win_weight
        # Either way the hinge of a pair is b_i + tau - b_j.
        self._origin, self._tau = (y, 0.0) if margin == "grade" else (0.0, float(margin))
        self._offsets = offsets
        self._n_threads = data.n_threads
        self._work = rows_to_rank(offsets, data.n_threads)
        self._nodes = np.empty(data.n_threads * (int(self._level.max(initial=0)) + 1), dtype=NODE)

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
        rows = self._origin - scores, self._weight, self._level, self._offsets
        scratch = self._work, self._nodes
        _hinge.hinge_sums(*rows, self._tau, self._n_threads, *scratch, value, sums, order, reach)
        gradient, count = sums
        product = partial(self._product, order, self._level[order], reach, count[order])
        return HingeValues(value, gradient, count, product)

    def missing(self, scores, at):
        """What the active pairs of each query lack, summed, where `at` are the values at `scores`.

        From those of the squares, by Euler's rule; for a margin that is a number.
        """
        starts = self._offsets[:-1]
        return (2 * at.value - np.add.reduceat(scores * at.gradient, starts)) / self._tau

    def _product(self, order, level, reach, count, direction):
        """Hessian times direction; all but that and the result in the order of the scores."""
        z = direction[order]
        # From a row of the query, so that a common part takes no digits.
        z -= np.repeat(z[self._offsets[:-1]], np.diff(self._offsets))
        sums = np.zeros((2, len(z)))
        nodes, rows = np.empty(len(self._nodes)), (z, self._weight[order])
        _hinge.partner_sums(level, reach, self._offsets, *rows, self._n_threads, nodes, sums)
        product = np.empty_like(z)
        product[order] = count * z - sums[0] - sums[1]
        return product


class ListedHingeSums:
    """Squared hinge of listed pairs; every sum takes a pair by its weight.

    Attributes and what a call takes and returns as `HingeSums`.

    Parameters
    ----------
    pairs : ExplicitPairs
    margin : float or ndarray of shape (n_pairs,)
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
        m = self._lack(scores)
        pull = self._weight * m
        active = self._weight * (m > 0)
        n_queries = len(self._pairs.pair_offsets) - 1
        value = np.bincount(self._query, pull * m / 2, n_queries)
        product = partial(self._product, active)
        return HingeValues(value, self._sum(-pull, pull), self._sum(active, active), product)

    def missing(self, scores, at):
        """What the active pairs of each query lack, by weight, as `HingeSums.missing`."""
        n_queries = len(self._pairs.pair_offsets) - 1
        return np.bincount(self._query, self._weight * self._lack(scores), n_queries)

    def _lack(self, scores):
        winner, loser = self._pairs.winner, self._pairs.loser
        return np.maximum(self._margin - (scores[winner] - scores[loser]), 0)

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
    data : RankingData
        A row whose grade is NaN is in no pair.

    Attributes
    ----------
    n_pairs : int
    degree : ndarray of shape (n_samples,)
        Number of rows of each row's query and grade, itself included, or 0 if it is the only one:
        a diagonal that is no less than the Hessian, and constant.
    """

    def __init__(self, data):
        groups = data.grade_groups
        self._offsets = data.offsets
        self._group = groups.group
        self._size = np.bincount(groups.group)
        self._first = groups.order[groups.first][groups.group]
        self.n_pairs = int(data.sum(self._size * (self._size - 1) // 2))
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
