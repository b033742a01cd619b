# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Exponential loss of preference pairs, for stumps: MPBoost's and RankBoost's."""

import numpy as np

from sklearn_ltr._kernels import _explicit_pairs, _graded_pairs, _graded_sweep
from sklearn_ltr.cached import cached_property
from sklearn_ltr.interrupts import parts
from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.losses.pair_sums import Crossing, PairSweep
from sklearn_ltr.pairs import GradedPairs

# Pairs whose distances are computed together, to bound what the computation takes.
PAIRS_AT_ONCE = 2**20


class StumpExponential(Loss):
    r"""Exponential loss of preference pairs with directed distances as labels.

    .. math:: J(F) = \sum_{(i, j)} v_q\, e^{-d_{ij} (F_i - F_j)}

    over pairs with row i preferred to row j, :math:`v_q` the weight of their query (equation 10 of
    the MPBoost paper), of clicks times that of row i.

    Parameters
    ----------
    distance : callable
        Takes arrays of higher and lower grades, returns positive distances.
    squared : bool
        Weigh the crossing pairs of `degree` and `sweep` by the squared distance, as the curvature
        of the loss does, or by 1, as the MPBoost paper does.
    """

    # No "value": it may be beyond the range of numbers, and only its logarithm is at hand.
    abilities = frozenset({"gradient", "stumps", "preferences", "margins", "propensity"})

    def __init__(self, distance, squared):
        self.distance = distance
        self.squared = squared

    def bind(self, data, weight=None):
        """The loss of the pairs of some rows: BoundStumpExponential."""
        kind = _OfGrades if isinstance(data.pairs, GradedPairs) else _Listed
        return kind(self, data, data.query_weight if weight is None else weight)


class BoundStumpExponential(BoundLoss):
    """`StumpExponential` of some rows.

    Attributes
    ----------
    n_pairs : int
    max_distance, min_distance : float
        Largest and smallest label of a pair.
    squared : bool
    log_loss : float
        Logarithm of J at the scores of the last `update`, over J where all scores are 0.
    total : float
        Sum of the pair weights. All sums over pairs share one scale, ``exp(log_scale)``.
    log_scale : float
    gradient : ndarray of shape (n_samples,)
        Minus the weighted distances of a row to those that it beats, plus those to its winners.
    degree : ndarray of shape (n_samples,)
        Weights of a row's pairs, summed; times the squared distance if `squared`, and then the
        diagonal of the Hessian.
    """

    total = None  # an attribute here

    def _prepare(self, loss):
        data, self.squared = self.data, loss.squared
        self.pairs, self.n_pairs = data.pairs, data.pairs.n_pairs
        self._log_weight = np.log(self.weight)
        self._label(loss.distance)
        self.max_distance = data.largest(self._labels)
        self.min_distance = data.smallest(self._labels)
        self.gradient, self.degree = np.empty((2, data.n_samples))
        self._sums = np.empty(data.n_queries)
        self._log_start = 0.0
        self.update(np.zeros(data.n_samples))
        self._log_start = self.log_loss

    @property
    def loss(self):
        """J over J where all scores are 0, infinite where it is beyond the range of numbers."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_loss)

    def update(self, scores, round=0):
        """Recompute the weights at `scores` (n_samples,)."""
        self._update(scores)
        self.total = self.data.sum(self._sums)
        self.log_loss = self.log_scale + np.log(self.total) - self._log_start

    def update_by_query(self, scores):
        """Recompute as `update`, the weights of each query over the largest of its own.

        Whatever the weights of other queries are, and whatever those of the queries that this loss
        was bound with.

        Returns
        -------
        sums : ndarray of shape (n_queries,)
            Of the pair weights of each query.
        log_scales : ndarray of shape (n_queries,)
            Logarithms of what they, `gradient` and `degree` are over; 0 without pairs.
        """
        self._log_weight = np.zeros(self.data.n_queries)
        largest = self._largest(scores)
        largest[largest == -np.inf] = 0
        self._log_weight = -largest
        self._update(scores)
        return self._sums, largest + self.log_scale

    def crossing(self, above):
        """Weights of the pairs that a split separates, by distance.

        Parameters
        ----------
        above : ndarray of shape (n_samples,), dtype bool, contiguous

        Returns
        -------
        crossing : Crossing
        """
        raise NotImplementedError

    def sweep(self, features, codes, order, delta):
        """Change of the crossing weight (see `degree`) at each bin of some features.

        Parameters
        ----------
        features : ndarray of shape (n_swept, 4), dtype intp
            Feature, its first row in `delta`, its number of bins, and 2 if it has missing values,
            else 1.
        codes : ndarray
            Codes of a BinnedMatrix.
        order : ndarray of shape (n_features, n_samples)
            Positions of each query's rows by ascending code.
        delta : ndarray of shape (n_bins_total, 2), dtype float64
            Added to; missing values below in the first column, above in the second.
        """
        raise NotImplementedError


class _OfGrades(BoundStumpExponential):
    """Of implicit pairs: every sum over pairs in O(rows x grades)."""

    def _label(self, distance):
        data, pairs = self.data, self.pairs
        n_grades = len(pairs.grades)
        a, b = self._halves = np.tril_indices(n_grades, -1)
        # Only grades that meet in a query are at a distance; that of others meets no weight.
        present = np.zeros((data.n_queries, n_grades))
        present[data.queries.query_of_row(), pairs.grade] = 1
        meet = (present.T @ present)[a, b] > 0
        self._labels = distance(pairs.grades[a[meet]], pairs.grades[b[meet]])
        distances = np.full(len(a), data.largest(self._labels))
        distances[meet] = self._labels
        self._distance = np.zeros((n_grades, n_grades))
        self._distance[a, b] = self._distance[b, a] = distances
        # Each E carries `scale`, so that a product of two carries its square; `signed` and `unit`
        # turn such a product into the signed distance and into the plain weight.
        scale = self._distance if self.squared else np.ones_like(self._distance)
        plain = np.zeros_like(scale)
        plain[a, b] = plain[b, a] = 1 / scale[a, b] ** 2
        signed = plain * self._distance
        signed[b, a] *= -1
        self._factors = np.stack([scale, signed, plain])
        self._buffer = np.empty((data.n_threads, n_grades * (n_grades + 2)))
        self._E = np.empty((data.n_samples, n_grades))

    def _largest(self, scores):
        """Logarithm of the largest weight of each query, -inf without pairs."""
        order, first, higher, lower, distance, starts, some = self._met
        low, high = (f.reduceat(scores[order], first) for f in (np.minimum, np.maximum))
        largest = np.full(self.data.n_queries, -np.inf)
        largest[some] = np.maximum.reduceat(distance * (high[lower] - low[higher]), starts)
        return largest

    @cached_property
    def _met(self):
        """The pairs of the grades of each query, as numbers of groups of its rows."""
        order, first, _ = self.data.grade_groups
        query = self.data.queries.query_of_row()[order[first]]
        n_groups = np.bincount(query, minlength=self.data.n_queries)
        n_lower = np.arange(len(first)) - np.repeat(np.cumsum(n_groups) - n_groups, n_groups)
        higher = np.repeat(np.arange(len(first)), n_lower)
        begins = np.repeat(np.cumsum(n_lower) - n_lower, n_lower)
        lower = higher - 1 - (np.arange(len(higher)) - begins)
        grade = self.pairs.grade[order[first]]
        n_pairs = n_groups * (n_groups - 1) // 2
        some = np.flatnonzero(n_pairs)
        starts = (np.cumsum(n_pairs) - n_pairs)[some]
        return (
            order,
            first,
            higher,
            lower,
            self._distance[grade[higher], grade[lower]],
            starts,
            some,
        )

    def _update(self, scores):
        rows, others = (scores, self.pairs.grade), (self.data.offsets, self._distance)
        weights = self._log_weight, self._buffer
        self.log_scale = _graded_pairs.largest_log_weight(*rows, *others, *weights)
        shift = 0.5 * (self._log_weight - self.log_scale)
        rows += (self.data.win_weight,)
        out = self._E, self.gradient, self.degree, self._sums
        _graded_pairs.graded_sums(*rows, *others, self._factors, shift, self._buffer, *out)

    def crossing(self, above):
        crossing, scratch = np.zeros_like(self._distance), np.empty((2, *self._distance.shape))
        rows = above.view(np.uint8), self.pairs.grade, self.data.offsets, self._E
        _graded_pairs.graded_crossing(*rows, scratch, crossing)
        crossing *= self._factors[2]
        a, b = self._halves
        return Crossing(self._distance[a, b], crossing[a, b], crossing[b, a])

    def sweep(self, features, codes, order, delta):
        rows = self.data.offsets, self.pairs.grade, self._E, self.degree
        for part in parts(len(features), self._E.size):
            _graded_sweep.graded_sweep(features[part], codes, order, *rows, self._buffer, delta)


class _Listed(BoundStumpExponential):
    """Of listed pairs."""

    def _label(self, distance):
        pairs = self.pairs
        given = pairs.margin is not None
        self._labels = pairs.margin if given else np.ones(pairs.n_pairs)
        for first in range(0, pairs.n_pairs if pairs.y is not None else 0, PAIRS_AT_ONCE):
            part = slice(first, first + PAIRS_AT_ONCE)
            self._labels[part] = distance(pairs.y[pairs.winner[part]], pairs.y[pairs.loser[part]])
        self._log_pair_weight = np.log(pairs.weight) if pairs.weight is not None else np.empty(0)
        self._weight = np.empty(pairs.n_pairs)  # times the squared distance if `squared`
        self._sweep = PairSweep(pairs, self.data.n_threads)

    def _largest(self, scores):
        """Compute the logarithms of the weights, and return the largest of each query."""
        pairs, n_threads = self.pairs, self.data.n_threads
        rows = pairs.winner, pairs.loser, self._labels, pairs.pair_offsets
        weights = self._log_weight, self._log_pair_weight, self._weight
        _explicit_pairs.explicit_log_weights(scores, rows, *weights, self._sums, n_threads)
        return self._sums.copy()

    def _update(self, scores):
        pairs, n_threads = self.pairs, self.data.n_threads
        rows = pairs.winner, pairs.loser, self._labels, pairs.pair_offsets
        self.log_scale = self.data.largest(self._largest(scores))
        how = self.log_scale, self.squared
        out = self._weight, self.gradient, self.degree, self._sums
        _explicit_pairs.explicit_sums(rows, pairs.offsets, *how, *out, n_threads)

    def crossing(self, above):
        agrees = above[self.pairs.winner]
        crosses = np.flatnonzero(agrees != above[self.pairs.loser])
        agrees = agrees[crosses]
        distance, weight = self._labels[crosses], self._weight[crosses]
        if self.squared:
            weight /= distance**2
        return Crossing(distance, weight * agrees, weight * ~agrees)

    def sweep(self, features, codes, order, delta):
        self._sweep(self._weight, self.degree, features, codes, order, delta)
