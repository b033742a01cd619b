# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the preference pairs that a stump separates."""

from typing import NamedTuple

import numpy as np

from sklearn_ltr._kernels import _explicit_sweep
from sklearn_ltr.interrupts import parts

# Queries whose pairs fill less than this share of rows squared are swept pair by pair, as are those
# of which a matrix would take more than this many bytes.
SPARSE = 0.02
LARGEST_MATRIX = 2**29

# The longest step along a stump where no stump would be too long.
LONGEST_STEP = 10.0


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
        longest = int(sizes.max(initial=1))
        self._n_cells = int((sizes**2).sum())
        filled = 2 * pairs.n_pairs / self._n_cells
        dense = filled >= SPARSE and 8 * longest**2 <= LARGEST_MATRIX
        self._buffer = np.empty((n_threads, longest * (longest + 1))) if dense else None

    def __call__(self, weight, degree, features, codes, order, delta):
        """Sweep weights (n_pairs,) of row sums `degree`, as `BoundStumpExponential.sweep`."""
        pairs = self._pairs
        if self._buffer is None:
            rows = pairs.winner, pairs.loser, pairs.pair_offsets
            for part in parts(len(features), 8 * pairs.n_pairs):
                _explicit_sweep.sparse_sweep(
                    features[part], codes, rows, weight, delta, self._n_threads
                )
            return
        rows = pairs.winner, pairs.loser, weight, pairs.pair_offsets
        for part in parts(len(features), self._n_cells):
            _explicit_sweep.explicit_sweep(
                features[part], codes, order, rows, pairs.offsets, degree, self._buffer, delta
            )


class Crossing(NamedTuple):
    """Weights of the pairs that a split separates.

    ``agreeing`` is the weight of the pairs at some ``distance`` with the winner above, ``contrary``
    of those with the loser above; arrays of one shape, dtype float64.
    """

    distance: np.ndarray
    agreeing: np.ndarray
    contrary: np.ndarray


class PairSums:
    """Numbers of listed pairs, and their sums over those that a split of the rows cuts.

    Attributes
    ----------
    signed : ndarray of shape (n_samples,)
        Numbers of a row's pairs, with the sign of a win or a loss. Its sum over the rows above a
        threshold is the signed sum over the pairs that the threshold cuts.
    degree : ndarray of shape (n_samples,)
        Numbers of a row's pairs, summed.
    weight : ndarray of shape (n_pairs,)
        The numbers that `sweep` sums over the pairs that each threshold cuts.
    """

    def __init__(self, pairs, sweep):
        self.signed, self.degree = np.zeros((2, int(pairs.offsets[-1])))
        self.weight = np.zeros(pairs.n_pairs)
        self._sweep = sweep

    def sweep(self, features, codes, order, delta):
        """See `BoundStumpExponential.sweep`."""
        self._sweep(self.weight, self.degree, features, codes, order, delta)


def balancing_step(right, wrong, added):
    r"""The minimiser of :math:`W_+ e^{-\alpha} + W_- e^{\alpha}`.

    Parameters
    ----------
    right, wrong : floats or ndarrays, not negative
        :math:`W_+` and :math:`W_-`.
    added : float, not negative
        To both, so that the minimiser is finite. Without, it is at most `LONGEST_STEP`, and 0 where
        both sums are.
    """
    if added > 0:
        return 0.5 * np.log((right + added) / (wrong + added))
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = 0.5 * np.log(np.divide(right, wrong))
    return np.nan_to_num(np.clip(alpha, -LONGEST_STEP, LONGEST_STEP))
