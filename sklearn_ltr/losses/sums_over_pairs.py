# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all pairs of rows of a query with different grades, or given pairs, pair by pair."""

from itertools import pairwise

import numpy as np
from scipy.special import expit

from sklearn_ltr._kernels import _pair_losses, _types

# How many pairs of grades a function is called with.
GRADES_AT_A_TIME = 2**20

# How many pairs a kernel goes through, or up to twice as many, before an interrupt is heard.
PAIRS_AT_A_TIME = 2**24

TERMS = _types.names(_types.PairTerm)  # ("logistic curvature", ...)

# Exponentials of scores that are no further apart are added, multiplied and divided in float64.
FAR = 300


class RelativeScores:
    """Scores relative to the largest of their query, in the form that is cheapest to compare.

    Parameters
    ----------
    data : RankingData
    scores : ndarray of shape (n_samples,)

    Attributes
    ----------
    strength : ndarray of shape (n_samples,)
        Their exponential; in queries that are far apart, the scores.
    far : ndarray of shape (n_queries,), dtype uint8
        Which queries these are: with scores that are more than `FAR` apart.
    """

    def __init__(self, data, scores):
        starts = data.offsets[:-1]
        relative = scores - data.per_row(np.maximum.reduceat(scores, starts))
        self.far = (np.minimum.reduceat(relative, starts) < -FAR).astype(np.uint8)
        self.strength = np.exp(relative, out=relative, where=data.per_row(self.far == 0))


# Differences of scores that count as this in the fidelity, as in the kernel, and are 0 in the
# curvature.
FARTHEST, NEAREST = 400, 1e-9


def sums_over_pairs(data):
    """Sums over the pairs of some rows, of grades or given, by the class that is for them."""
    return SumsOverPairs(data) if data.preferences is None else SumsOverListedPairs(data)


class SumsOverPairs:
    """Sums of functions of score differences, in time in proportion to the number of pairs.

    A pair of clicks has the weight of the row that wins it; pairs of equal grades have none.

    Parameters
    ----------
    data : RankingData
    tied : bool, default=False
        Over the pairs of equal grades, of queries that have other pairs.

    Attributes
    ----------
    degree : ndarray of shape (n_samples,)
        Number of each row's pairs of different grades, or their weights summed.
    """

    def __init__(self, data, tied=False):
        self.degree = data.weighted_degree
        groups = data.grade_groups
        # The rows by query and ascending grade, and where the rows of lower grade than each end.
        self._order, self._lower = groups.order, groups.first[groups.group[groups.order]]
        self._data = data
        self._weight = data.win_weight[self._order]
        self._offsets = data.offsets
        if tied:
            # Each grade of a query for itself, in which a row beats those before it.
            self._offsets = np.append(groups.first, data.n_samples).astype(np.intp)
            rows = np.arange(data.n_samples, dtype=np.intp)
            self._lower = np.where(data.per_row(data.informative), rows, self._lower)
        self._windows = _windows(self._lower, self._offsets)

    def of_term(self, term, scores, sign, roots=(1.0, 0.0)):
        """Sums of a term over the pairs of each row.

        Parameters
        ----------
        term : str
            One of `TERMS`.
        scores : ndarray of shape (n_samples,), dtype float64
        sign : {-1, 0, 1}
            What a term is multiplied with in the sum of the row of the lower grade.
        roots : tuple of float
            Square roots of the fidelity's target probability and of what it lacks to 1.

        Returns
        -------
        sums : ndarray of shape (n_samples,)
        """
        sums = np.zeros(len(scores))
        rows = scores[self._order], self._weight, self._lower, self._offsets
        others = *roots, sign, self._data.n_threads, sums
        for window in self._windows:
            _pair_losses.pair_sums(TERMS.index(term), *rows, *window, *others)
        return self._in_rows_order(sums)

    def logistic(self, scores):
        """Logistic loss of the pairs of each query, and its derivatives, at once.

        Returns
        -------
        value : ndarray of shape (n_queries,)
            To an absolute error of about 1e-16 a pair.
        gradient : ndarray of shape (n_samples,)
        """
        data, value, gradient = self._data, np.zeros(len(self._offsets) - 1), np.zeros(len(scores))
        rows = scores[self._order], self._weight, self._lower, self._offsets
        for window in self._windows:
            _pair_losses.logistic_sums(*rows, *window, data.n_threads, value, gradient)
        if self._offsets is not data.offsets:
            value = np.add.reduceat(value, np.searchsorted(self._offsets, data.offsets[:-1]))
        return value, self._in_rows_order(gradient)

    def gap_logistic(self, relative):
        """Logistic loss of the pairs, each times the difference of its grades.

        Parameters
        ----------
        relative : RelativeScores

        Returns
        -------
        value : ndarray of shape (n_queries,)
            To an absolute error of about 1e-16 a pair, times the difference.
        gradient : ndarray of shape (n_samples,)
        curvature : ndarray of shape (n_samples,)
            The diagonal of the Hessian.
        """
        data, value = self._data, np.zeros(self._data.n_queries)
        slope, bend = np.zeros((2, data.n_samples))
        rows = relative.strength[self._order], relative.far, data.y[self._order], self._weight
        others = self._lower, data.offsets
        for window in self._windows:
            out = value, slope, bend
            _pair_losses.gap_logistic_sums(*rows, *others, *window, data.n_threads, *out)
        return value, self._in_rows_order(slope), self._in_rows_order(bend)

    def of_grades(self, function):
        """Sums over the pairs of each row of a function of both grades.

        Parameters
        ----------
        function : callable
            Takes arrays of the higher and the lower grade of each pair.

        Returns
        -------
        sums : ndarray of shape (n_samples,)
            Over the pairs that a row wins, minus those that it loses.
        """
        y = self._data.y[self._order]
        sums = np.zeros(len(y))
        for start, stop in pairwise(self._data.offsets.tolist()):
            grades, index, counts = np.unique(
                y[start:stop], return_inverse=True, return_counts=True
            )
            n, of_row, weight = len(grades), sums[start:stop], self._weight[start:stop]
            weights = np.bincount(index, weight, n)
            size = max(1, GRADES_AT_A_TIME // n)
            for first in range(1, n, size):
                a, b = np.nonzero(np.arange(first, min(first + size, n))[:, None] > np.arange(n))
                a += first
                values = function(grades[a], grades[b])
                of_row += weight * np.bincount(a, values * counts[b], n)[index]
                of_row -= np.bincount(b, values * weights[a], n)[index]
        return self._in_rows_order(sums)

    def _in_rows_order(self, by_grade):
        values = np.empty_like(by_grade)
        values[self._order] = by_grade
        return values


class SumsOverListedPairs:
    """The same over given pairs, each times its weight.

    Parameters
    ----------
    data : RankingData
        With preferences.

    Attributes
    ----------
    degree : ndarray of shape (n_samples,)
        Weights of each row's pairs, summed.
    balance : ndarray of shape (n_samples,)
        The same of those that it wins, minus those that it loses.
    """

    def __init__(self, data):
        self._pairs, self._shape = data.pairs, (data.n_queries, data.n_samples)
        self._query = np.repeat(np.arange(data.n_queries), np.diff(data.pairs.pair_offsets))
        self.degree = self._by_row(data.pairs.weight, 1)
        self.balance = self._by_row(data.pairs.weight, -1)

    def of_term(self, term, scores, sign, roots=(1.0, 0.0)):
        """As `SumsOverPairs.of_term`."""
        return self._by_row(self._pairs.weight * _FUNCTIONS[term](self._gaps(scores), *roots), sign)

    def logistic(self, scores):
        """As `SumsOverPairs.logistic`."""
        gaps, weight = self._gaps(scores), self._pairs.weight
        value = np.bincount(self._query, weight * np.logaddexp(0, -gaps), self._shape[0])
        return value, self._by_row(-weight * expit(-gaps), -1)

    def _gaps(self, scores):
        return scores[self._pairs.winner] - scores[self._pairs.loser]

    def _by_row(self, values, sign):
        won = np.bincount(self._pairs.winner, values, self._shape[1])
        if sign == 0:
            return won
        return won + sign * np.bincount(self._pairs.loser, values, self._shape[1])


def _logistic_curvature(gaps, target, rest):
    near = np.abs(gaps) <= NEAREST
    gaps = np.where(near, 1, gaps)
    return np.where(near, 0.25, np.tanh(gaps / 2) / (2 * gaps))


def _fidelity(gaps, target, rest):
    x = np.exp(-np.clip(gaps, -FARTHEST, FARTHEST))
    if rest == 0:
        return x / (np.sqrt(1 + x) * (1 + np.sqrt(1 + x)))
    return np.maximum(1 - target / np.sqrt(1 + x) - rest / np.sqrt(1 + 1 / x), 0)


def _fidelity_slope(gaps, target, rest):
    x = np.exp(-np.clip(gaps, -FARTHEST, FARTHEST))
    return rest * _half_pull(1 / x) - target * _half_pull(x)


def _half_pull(x):
    return x / (2 * (1 + x) * np.sqrt(1 + x))


_FUNCTIONS = {
    "logistic curvature": _logistic_curvature,
    "fidelity": _fidelity,
    "fidelity slope": _fidelity_slope,
}


def _windows(lower, offsets):
    """Ranges of winners that together have about `PAIRS_AT_A_TIME` pairs.

    They cut a query where its own pairs say so, whatever other queries there are: its sums are
    then formed in the same order anywhere.
    """
    starts, sizes = offsets[:-1], np.diff(offsets)
    n_losers = lower - np.repeat(starts, sizes)
    before = np.cumsum(n_losers) - n_losers
    part = (before - np.repeat(before[starts], sizes)) // PAIRS_AT_A_TIME
    cut = np.r_[True, part[1:] != part[:-1]]  # also at the end of a query that was cut
    window = before[starts] // PAIRS_AT_A_TIME
    cut[starts[1:]] |= window[1:] != window[:-1]
    return list(pairwise([*np.flatnonzero(cut).tolist(), len(lower)]))
