# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of the score differences of preference pairs."""

from typing import NamedTuple

import numpy as np

from sklearn_ltr._kernels import _pairwise
from sklearn_ltr.pairs import GradedPairs

# Pairs whose distances are computed together, to bound what the computation takes.
PAIRS_AT_ONCE = 2**20


# Queries whose pairs fill less than this share of rows squared are swept pair by pair, as are those
# of which a matrix would take more than this many bytes.
SPARSE = 0.02
LARGEST_MATRIX = 2**29


class PairSweep:
    """Sums weights of listed pairs over those that each threshold of a feature cuts.

    By rows of the weight matrix of each query, or pair by pair where matrices would be nearly empty
    or very large.

    Parameters
    ----------
    pairs : ExplicitPairs
    n_threads : int
    """

    def __init__(self, pairs, n_threads):
        self._pairs = pairs
        self._n_threads = n_threads
        sizes = np.diff(pairs.offsets).astype(np.int64)
        longest = int(sizes.max())
        filled = 2 * pairs.n_pairs / (sizes**2).sum()
        dense = filled >= SPARSE and 8 * longest**2 <= LARGEST_MATRIX
        self._buffer = np.empty((n_threads, longest * (longest + 1))) if dense else None

    def __call__(self, weight, degree, features, codes, order, delta):
        """Sweep weights (n_pairs,) of row sums `degree`, as `GradedExponentialLoss.sweep`."""
        pairs = self._pairs
        if self._buffer is None:
            rows = pairs.winner, pairs.loser, pairs.pair_offsets
            _pairwise.sparse_sweep(features, codes, rows, weight, delta, self._n_threads)
            return
        rows = pairs.winner, pairs.loser, weight, pairs.pair_offsets
        _pairwise.explicit_sweep(
            features, codes, order, rows, pairs.offsets, degree, self._buffer, delta
        )


class Crossing(NamedTuple):
    """Weights of the pairs that a split separates.

    ``agreeing`` is the weight of the pairs at some ``distance`` with the winner above, ``contrary``
    of those with the loser above; arrays of one shape, dtype float64.
    """

    distance: np.ndarray
    agreeing: np.ndarray
    contrary: np.ndarray


def exponential_loss(pairs, distance, query_weight, *, squared, n_threads=1):
    r"""Exponential loss of preference pairs with directed distances as labels.

    .. math:: J(F) = \sum_{(i, j)} v_q\, e^{-d_{ij} (F_i - F_j)}

    over pairs with row i preferred to row j, :math:`v_q` the weight of their query (equation 10 of
    the MPBoost paper).

    Parameters
    ----------
    pairs : GradedPairs or ExplicitPairs
    distance : callable
        Takes arrays of higher and lower grades, returns positive distances.
    query_weight : ndarray of shape (n_queries,), dtype float64, positive
    squared : bool
        Weigh the crossing pairs of `degree` and `sweep` by the squared distance, as the curvature
        of the loss does, or by 1, as the paper does.
    n_threads : int, default=1

    Returns
    -------
    loss : object
        With ``update(scores)`` and, after it, ``potential``, ``degree``, ``crossing(above)`` and
        ``sweep(...)``; see `GradedExponentialLoss`.
    """
    kind = GradedExponentialLoss if isinstance(pairs, GradedPairs) else ExplicitExponentialLoss
    return kind(pairs, distance, query_weight, squared=squared, n_threads=n_threads)


class GradedExponentialLoss:
    """`exponential_loss` of implicit pairs: every sum over pairs in O(rows x grades).

    Attributes
    ----------
    n_pairs : int
    max_distance, min_distance : float
        Largest and smallest label of a pair.
    total : float
        Sum of the pair weights. All sums over pairs share one scale, ``exp(log_scale)``.
    log_scale : float
    potential : ndarray of shape (n_samples,)
        Minus the gradient: signed weighted distances of a row to its partners, summed.
    degree : ndarray of shape (n_samples,)
        Weights of a row's pairs, summed; times the squared distance if `squared`, and then the
        diagonal of the Hessian.
    """

    def __init__(self, pairs, distance, query_weight, *, squared, n_threads):
        self.pairs = pairs
        self.n_pairs = pairs.n_pairs
        self.squared = squared
        n_grades, n_samples = len(pairs.grades), len(pairs.grade)
        a, b = np.tril_indices(n_grades, -1)
        # Only grades that meet in a query are at a distance; that of others meets no weight.
        present = np.zeros((len(query_weight), n_grades))
        present[np.repeat(np.arange(len(query_weight)), np.diff(pairs.offsets)), pairs.grade] = 1
        meet = (present.T @ present)[a, b] > 0
        found = distance(pairs.grades[a[meet]], pairs.grades[b[meet]])
        self.max_distance, self.min_distance = found.max(), found.min()
        distances = np.full(len(a), self.max_distance)
        distances[meet] = found
        self._distance = np.zeros((n_grades, n_grades))
        self._distance[a, b] = self._distance[b, a] = distances
        # Each E carries `scale`, so that a product of two carries its square; `signed` and `unit`
        # turn such a product into the signed distance and into the plain weight.
        scale = self._distance if squared else np.ones_like(self._distance)
        plain = np.zeros_like(scale)
        plain[a, b] = plain[b, a] = 1 / scale[a, b] ** 2
        signed = plain * self._distance
        signed[b, a] *= -1
        self._factors = np.stack([scale, signed, plain])
        self._log_query_weight = np.log(query_weight)
        self._buffer = np.empty((n_threads, n_grades * (n_grades + 2)))
        self._E = np.empty((n_samples, n_grades))
        self.potential, self.degree = np.empty(n_samples), np.empty(n_samples)
        self._loss = np.empty(len(query_weight))

    def update(self, scores):
        """Recompute the weights at `scores` (n_samples,).

        Returns
        -------
        log_loss : float
            Logarithm of J(F).
        """
        grade, offsets = self.pairs.grade, self.pairs.offsets
        self.log_scale = _pairwise.largest_log_weight(
            scores, grade, offsets, self._distance, self._log_query_weight, self._buffer
        )
        _pairwise.graded_potentials(
            scores,
            grade,
            offsets,
            self._distance,
            self._factors,
            0.5 * (self._log_query_weight - self.log_scale),
            self._buffer,
            self._E,
            self.potential,
            self.degree,
            self._loss,
        )
        self.total = self._loss.sum()
        return self.log_scale + np.log(self.total)

    def crossing(self, above):
        """Weights of the pairs that a split separates, by distance.

        Parameters
        ----------
        above : ndarray of shape (n_samples,), dtype bool, contiguous

        Returns
        -------
        crossing : Crossing
        """
        n_grades = len(self.pairs.grades)
        crossing = np.zeros((n_grades, n_grades))
        _pairwise.graded_crossing(
            above.view(np.uint8),
            self.pairs.grade,
            self.pairs.offsets,
            self._E,
            np.empty((2, n_grades, n_grades)),
            crossing,
        )
        crossing *= self._factors[2]
        a, b = np.tril_indices(n_grades, -1)
        return Crossing(self._distance[a, b], crossing[a, b], crossing[b, a])

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
        _pairwise.graded_sweep(
            features,
            codes,
            order,
            self.pairs.offsets,
            self.pairs.grade,
            self._E,
            self.degree,
            self._buffer,
            delta,
        )


class ExplicitExponentialLoss:
    """`exponential_loss` of listed pairs; attributes and methods as `GradedExponentialLoss`."""

    def __init__(self, pairs, distance, query_weight, *, squared, n_threads):
        self.pairs = pairs
        self.n_pairs = pairs.n_pairs
        self.squared = squared
        self._distance = np.ones(pairs.n_pairs)  # of given preferences
        for first in range(0, pairs.n_pairs if pairs.y is not None else 0, PAIRS_AT_ONCE):
            part = slice(first, first + PAIRS_AT_ONCE)
            self._distance[part] = distance(pairs.y[pairs.winner[part]], pairs.y[pairs.loser[part]])
        self.max_distance, self.min_distance = self._distance.max(), self._distance.min()
        self._log_query_weight = np.log(query_weight)
        self._log_pair_weight = np.log(pairs.weight) if pairs.weight is not None else np.empty(0)
        self._weight = np.empty(pairs.n_pairs)  # times the squared distance if `squared`
        self.potential, self.degree = np.empty((2, pairs.offsets[-1]))
        self._loss = np.empty(len(query_weight))
        self._n_threads = n_threads
        self._sweep = PairSweep(pairs, n_threads)

    def update(self, scores):
        pairs, n_threads = self.pairs, self._n_threads
        rows = pairs.winner, pairs.loser, self._distance, pairs.pair_offsets
        _pairwise.explicit_log_weights(
            scores,
            rows,
            self._log_query_weight,
            self._log_pair_weight,
            self._weight,
            self._loss,
            n_threads,
        )
        self.log_scale = self._loss.max()
        _pairwise.explicit_potentials(
            rows,
            pairs.offsets,
            self.log_scale,
            self.squared,
            self._weight,
            self.potential,
            self.degree,
            self._loss,
            n_threads,
        )
        self.total = self._loss.sum()
        return self.log_scale + np.log(self.total)

    def crossing(self, above):
        agrees = above[self.pairs.winner]
        crosses = np.flatnonzero(agrees != above[self.pairs.loser])
        agrees = agrees[crosses]
        distance, weight = self._distance[crosses], self._weight[crosses]
        if self.squared:
            weight /= distance**2
        return Crossing(distance, weight * agrees, weight * ~agrees)

    def sweep(self, features, codes, order, delta):
        self._sweep(self._weight, self.degree, features, codes, order, delta)
