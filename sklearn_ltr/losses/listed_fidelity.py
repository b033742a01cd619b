# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fidelity loss of listed preference pairs, every query the same: FRank's (SIGIR 2007)."""

import numpy as np

from sklearn_ltr._kernels import _fidelity
from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.losses.pair_sums import PairSums, PairSweep
from sklearn_ltr.pairs import list_pairs, sample_pairs

# The second derivative of 1 / sqrt(1 + exp(-o)) is at most this.
LARGEST_CURVATURE = 0.05

# Its derivative is at most half of this.
LARGEST_WEIGHT = 0.385


class ListedFidelity(Loss):
    r"""Fidelity loss (2) of the FRank paper.

    .. math:: J(H) = \sum_{(i, j)} D_{ij} \left[1 - \sqrt{P^* s_{ij}} -
        \sqrt{(1 - P^*)(1 - s_{ij})}\right], \quad s_{ij} = \frac{1}{1 + e^{-(H_i - H_j)}}

    with :math:`D_{ij}` the weight of the query over its number of pairs; given preferences have it
    in proportion to their own weights.

    Parameters
    ----------
    target_probability : float, default=1.0
        :math:`P^*`.
    max_pairs_per_query : int, default=None
        Draw this many of the pairs of grades of a query if it has more. None takes all.
    """

    abilities = frozenset({"gradient", "stumps"})

    def __init__(self, target_probability=1.0, max_pairs_per_query=None):
        self.target_probability = target_probability
        self.max_pairs_per_query = max_pairs_per_query

    def bind(self, data, weight=None):
        """The loss of the pairs of some rows: BoundListedFidelity."""
        return BoundListedFidelity(self, data, data.query_weight if weight is None else weight)

    def pairs(self, data):
        """The pairs of some rows, listed: ExplicitPairs."""
        cap = self.max_pairs_per_query
        if data.preferences is not None:
            if cap is not None:
                raise ValueError(
                    "`max_pairs_per_query` draws from the pairs of grades; with `preferences`, "
                    "give fewer of them instead."
                )
            return data.pairs
        if cap is None:
            return list_pairs(data, remedy="set `max_pairs_per_query`")
        return sample_pairs(data, int(cap))


class BoundListedFidelity(BoundLoss):
    """`ListedFidelity` of some rows, and pair weights (4).

    The weight (4) of a pair is minus twice the derivative of its term by the difference.

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

    total = None  # an attribute here

    def _prepare(self, loss):
        data, weight, P = self.data, self.weight, loss.target_probability
        self.pairs = pairs = loss.pairs(data)
        self.n_pairs = pairs.n_pairs
        self._rows = pairs.winner, pairs.loser, pairs.pair_offsets
        self._roots = float(np.sqrt(P)), float(np.sqrt(1 - P))
        self._n_threads = data.n_threads
        self.positive = P == 1  # whether all weights are
        counts = np.diff(pairs.pair_offsets)
        of_pairs = np.ones(pairs.n_pairs) if pairs.weight is None else pairs.weight
        query = np.repeat(np.arange(len(counts)), counts)
        in_query = np.bincount(query, of_pairs, len(counts))
        self._D = of_pairs * weight[query] / in_query[query]
        self.scale = data.sum(weight[counts > 0])
        self._sums = np.empty((len(counts), 3))
        self._factors = np.empty((2, data.n_samples))
        self._x = np.empty(pairs.n_pairs)
        sweep = PairSweep(pairs, data.n_threads)
        self.weights, self._parts = PairSums(pairs, sweep), PairSums(pairs, sweep)

    @property
    def loss(self):
        """J as a share of the largest that it can be: float."""
        return self.total / self.scale

    @property
    def gradient(self):
        """Derivative of J with respect to each score: ndarray of shape (n_samples,)."""
        return -0.5 * self.weights.signed

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
        sums.signed[:], sums.degree[:] = won - lost, won + lost
        return sums

    def update(self, scores, round=0):
        """Recompute all weights (4) at `scores` (n_samples,)."""
        weights, pairs = self.weights, (self._rows, self.pairs.offsets, self._D, *self._roots)
        out = self._factors, self._x, weights.weight, weights.signed, weights.degree, self._sums
        _fidelity.update(scores, *pairs, *out, self._n_threads)
        self.total, self.weight_total, self.lost = self.data.sum(self._sums).tolist()

    def parts(self, alpha):
        """Even and odd part of what a pair's loss falls by if its difference grows by `alpha`.

        Returns
        -------
        sums : PairSums
            ``signed`` of the odd part over alpha, ``weight`` the even part over its square;
            valid until the next call for any.
        """
        sums = self._parts
        pairs = self._rows, self.pairs.offsets, self._D, *self._roots, self._x
        out = sums.weight, sums.signed, sums.degree
        _fidelity.parts(*pairs, _factors_of(alpha)[0], *out, self._n_threads)
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
        right, wrong = self.data.sum(sums)
        return float(self.step(right - wrong, right + wrong))

    def along(self, above, alphas):
        """What J falls by where each of `alphas` is added to the scores above, and the slopes.

        Returns
        -------
        fall, slope : ndarrays of the shape of `alphas`
        """
        steps = _factors_of(alphas)
        sums = np.empty((len(self._sums), len(steps), 2))
        pairs = self._rows, self._D, *self._roots, self._x
        _fidelity.along(above.view(np.uint8), *pairs, steps, sums, self._n_threads)
        return self.data.sum(sums).T


def _factors_of(alphas):
    """Rows of `steps` of the kernels."""
    a = np.atleast_1d(alphas)
    return np.column_stack([a, np.exp(-a), np.exp(a), -np.expm1(-a), -np.expm1(a)])
