# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fidelity loss of listed preference pairs (Tsai et al., SIGIR 2007)."""

import numpy as np

from sklearn_ltr._kernels import _fidelity
from sklearn_ltr.losses.pairwise import PairSweep

# The second derivative of 1 / sqrt(1 + exp(-o)) is at most this.
LARGEST_CURVATURE = 0.05

# Its derivative is at most half of this.
LARGEST_WEIGHT = 0.385


class PairSums:
    """Sums over pairs that a split of the rows cuts; see `FidelityLoss`.

    Attributes
    ----------
    potential : ndarray of shape (n_samples,)
        Numbers of a row's pairs, with the sign of a win or a loss. Its sum over the rows above a
        threshold is the signed sum over the pairs that the threshold cuts.
    degree : ndarray of shape (n_samples,)
        Numbers of a row's pairs, summed.
    weight : ndarray of shape (n_pairs,)
        The numbers that `sweep` sums over the pairs that each threshold cuts.
    """

    def __init__(self, pairs, sweep):
        self.potential, self.degree = np.zeros((2, int(pairs.offsets[-1])))
        self.weight = np.zeros(pairs.n_pairs)
        self._sweep = sweep

    def sweep(self, features, codes, order, delta):
        """See `GradedExponentialLoss.sweep`."""
        self._sweep(self.weight, self.degree, features, codes, order, delta)


class FidelityLoss:
    r"""Fidelity loss (2) of the FRank paper and pair weights (4).

    .. math:: J(H) = \sum_{(i, j)} D_{ij} \left[1 - \sqrt{P^* s_{ij}} -
        \sqrt{(1 - P^*)(1 - s_{ij})}\right], \quad s_{ij} = \frac{1}{1 + e^{-(H_i - H_j)}}

    with :math:`D_{ij}` the weight of the query over its number of pairs; given preferences have it
    in proportion to their own weights. The weight (4) of a pair is minus twice the derivative of
    its term.

    Parameters
    ----------
    pairs : ExplicitPairs
    query_weight : ndarray of shape (n_queries,), dtype float64, positive
    target_probability : float
        :math:`P^*`.
    n_threads : int

    Attributes
    ----------
    n_pairs : int
    scale : float
        The weights of all queries with pairs, summed: `total` is at most this.
    weights : PairSums
        Of W, the weights (4).
    total : float
        J(H).
    weight_total : float
        Sum of the absolute weights.
    lost : float
        What weights have lost since the `update` before the last one, summed over those that fell.
    """

    def __init__(self, pairs, query_weight, target_probability=1.0, n_threads=1):
        self.pairs = pairs
        self.n_pairs = pairs.n_pairs
        self._rows = pairs.winner, pairs.loser, pairs.pair_offsets
        self._roots = float(np.sqrt(target_probability)), float(np.sqrt(1 - target_probability))
        self._n_threads = n_threads
        self.positive = target_probability == 1  # whether all weights are
        counts = np.diff(pairs.pair_offsets)
        of_pairs = np.ones(pairs.n_pairs) if pairs.weight is None else pairs.weight
        query = np.repeat(np.arange(len(counts)), counts)
        in_query = np.bincount(query, of_pairs, len(counts))
        self._D = of_pairs * query_weight[query] / in_query[query]
        self.scale = query_weight[counts > 0].sum()
        self._sums = np.empty((len(counts), 3))
        self._factors = np.empty((2, int(pairs.offsets[-1])))
        self._x = np.empty(pairs.n_pairs)
        sweep = PairSweep(pairs, n_threads)
        self.weights, self._parts = PairSums(pairs, sweep), PairSums(pairs, sweep)

    def shares(self):
        """D of the pairs: PairSums that are valid until the next call for any."""
        return self._fill(np.ones(self.n_pairs))

    def losses(self):
        """The terms of J: PairSums that are valid until the next call for any."""
        x, (target, rest) = self._x, self._roots
        root = np.sqrt(1 + x)
        if rest == 0:
            return self._fill(x / (root * (1 + root)))
        return self._fill(np.maximum(1 - target / root - rest / np.sqrt(1 + 1 / x), 0))

    def _fill(self, values):
        """Sums of D times `values`, which are overwritten."""
        sums, n_samples = self._parts, int(self.pairs.offsets[-1])
        values *= self._D
        sums.weight[:] = values
        won = np.bincount(self.pairs.winner, values, n_samples)
        lost = np.bincount(self.pairs.loser, values, n_samples)
        sums.potential[:], sums.degree[:] = won - lost, won + lost
        return sums

    def update(self, scores):
        """Recompute all weights (4) at `scores` (n_samples,)."""
        weights = self.weights
        _fidelity.update(
            scores,
            self._rows,
            self.pairs.offsets,
            self._D,
            *self._roots,
            self._factors,
            self._x,
            weights.weight,
            weights.potential,
            weights.degree,
            self._sums,
            self._n_threads,
        )
        self.total, self.weight_total, self.lost = self._sums.sum(axis=0).tolist()

    def parts(self, alpha):
        """Even and odd part of what a pair's loss falls by if its difference grows by `alpha`.

        Returns
        -------
        sums : PairSums
            ``potential`` of the odd part over alpha, ``weight`` the even part over its square;
            valid until the next call for any.
        """
        sums = self._parts
        _fidelity.parts(
            self._rows,
            self.pairs.offsets,
            self._D,
            *self._roots,
            self._x,
            _factors_of(alpha)[0],
            sums.weight,
            sums.potential,
            sums.degree,
            self._n_threads,
        )
        return sums

    def step(self, num, den):
        """Alpha by (3), half a pair's mean weight added to either side.

        Parameters
        ----------
        num, den : ndarrays
            Difference and sum of the weights of the pairs with the winner above and of those with
            the loser above; a negative weight counts as 0.
        """
        half_pair = 0.5 * self.weight_total / self.n_pairs
        right, wrong = np.maximum((den + num) / 2, 0), np.maximum((den - num) / 2, 0)
        return 0.5 * np.log((right + half_pair) / (wrong + half_pair))

    def ceiling(self, num, den, share):
        """Bound of what the loss falls by at the step of (3).

        It falls as `den` grows, so that a lower bound of `den` will do if all weights are positive.

        Parameters
        ----------
        num, den : ndarrays
            As for `step`.
        share : ndarray
            Sum of D over the pairs that are cut.
        """
        alpha, num = np.abs(self.step(num, den)), np.abs(num)
        # Taylor's formula, with the largest curvature there is; and no pair falls by more than D.
        bound = 0.5 * alpha * (num + LARGEST_CURVATURE * sum(self._roots) * share * alpha)
        bound = np.minimum(bound, share)
        if self.positive:
            # From o to o + a a weight grows by a factor exp(a / 2) at most, and falls by
            # exp(-a / 2) at most from o to o - a.
            t = np.exp(alpha / 2)
            bound = np.minimum(bound, num * (t**5 - 1) / (t * (1 + t) * (1 + t**2)))
        return bound

    def mass(self, den, share):
        """Bound of the sums over cut pairs of the absolute values of both terms of (4)."""
        return den if self.positive else LARGEST_WEIGHT * sum(self._roots) * share

    def crossing_step(self, above):
        """Alpha by (3) of a split of the rows into `above` (n_samples,), dtype bool, and below."""
        sums = np.empty((len(self._sums), 2))
        _fidelity.crossing(
            above.view(np.uint8), self._rows, self.weights.weight, sums, self._n_threads
        )
        right, wrong = sums.sum(axis=0)
        return float(self.step(right - wrong, right + wrong))

    def along(self, above, alphas):
        """What J falls by where each of `alphas` is added to the scores above, and the slopes.

        Returns
        -------
        fall, slope : ndarrays of the shape of `alphas`
        """
        steps = _factors_of(alphas)
        sums = np.empty((len(self._sums), len(steps), 2))
        _fidelity.along(
            above.view(np.uint8),
            self._rows,
            self._D,
            *self._roots,
            self._x,
            steps,
            sums,
            self._n_threads,
        )
        return sums.sum(axis=0).T


def _factors_of(alphas):
    """Rows of `steps` of the kernels."""
    a = np.atleast_1d(alphas)
    return np.column_stack([a, np.exp(-a), np.exp(a), -np.expm1(-a), -np.expm1(a)])
