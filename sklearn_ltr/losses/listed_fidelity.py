# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fidelity loss of listed preference pairs, every query the same: FRank's (SIGIR 2007)."""

from numbers import Real

import numpy as np

from sklearn_ltr._kernels import _fidelity
from sklearn_ltr.labels import target_probability
from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.losses.pair_sums import PairSums, PairSweep, balancing_step
from sklearn_ltr.losses.pairs_alike import check_no_ties, check_of_grades
from sklearn_ltr.pairs import ExplicitPairs, list_pairs, sample_pairs

# The second derivative of 1 / sqrt(1 + exp(-o)) is at most this.
LARGEST_CURVATURE = 0.05


class ListedFidelity(Loss):
    r"""Fidelity loss (2) of the FRank paper.

    .. math:: J(H) = \sum_{(i, j)} D_{ij} \left[1 - \sqrt{P^* s_{ij}} -
        \sqrt{(1 - P^*)(1 - s_{ij})}\right], \quad s_{ij} = \frac{1}{1 + e^{-(H_i - H_j)}}

    with :math:`D_{ij}` the weight of the query over its number of pairs; given preferences and
    pairs of equal grades have it in proportion to their own weights. Of clicks it is times the
    weight of the row that wins.

    Parameters
    ----------
    target_probability : float, mapping or callable, default=1.0
        :math:`P^*`, as `labels.target_probability` takes it.
    tie_weight : float, default=0.0
        Weight of pairs of equal grades, for which :math:`P^* = 1/2`.
    smoothing : float, default=0.5
        How many pairs of mean weight `BoundListedFidelity.step` adds to either side.
    max_pairs_per_query : int, default=None
        Draw this many of the pairs of grades of a query if it has more. None takes all.
    """

    abilities = frozenset({"gradient", "stumps", "preferences", "propensity"})

    def __init__(
        self, target_probability=1.0, tie_weight=0.0, smoothing=0.5, max_pairs_per_query=None
    ):
        self.target_probability = target_probability
        self.tie_weight = tie_weight
        self.smoothing = smoothing
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
            check_of_grades(data, self)
            return data.pairs
        check_no_ties(data, self.tie_weight)
        ties = self.tie_weight > 0
        n_entries = 1 if self.target_probability == 1 and not ties else 2
        if cap is None:
            return list_pairs(data, "set `max_pairs_per_query`", ties, n_entries)
        return sample_pairs(data, int(cap), ties, n_entries)


def directed_pairs(pairs, weight, loss):
    r"""Pairs of any :math:`P^*` as pairs of :math:`P^* = 1`.

    With :math:`F(o) = 1 - \sqrt{s(o)}`, the loss of a pair that is certain,

    .. math:: 1 - \sqrt{P^* s(o)} - \sqrt{(1 - P^*) s(-o)}
        = \sqrt{P^*} F(o) + \sqrt{1 - P^*} F(-o) - (\sqrt{P^*} + \sqrt{1 - P^*} - 1) .

    Parameters
    ----------
    pairs : ExplicitPairs
    weight : ndarray of shape (n_pairs,)
        Of each pair.
    loss : Loss
        With `target_probability` and `tie_weight`.

    Returns
    -------
    pairs : ExplicitPairs
        Those given, and the other way around those that are not certain.
    weight : ndarray
        Of each of them.
    excess : ndarray of shape (n_queries,)
        What the loss of a query is less than that of its pairs.
    """
    n_queries = len(pairs.pair_offsets) - 1
    P = loss.target_probability
    if pairs.y is not None and not (isinstance(P, Real) and loss.tie_weight == 0):
        higher, lower = pairs.y[pairs.winner], pairs.y[pairs.loser]
        tied = higher == lower
        P = np.full(pairs.n_pairs, 0.5)
        P[~tied] = target_probability(higher[~tied], lower[~tied], loss.target_probability)
    elif P == 1:
        return pairs, weight, np.zeros(n_queries)
    P = np.broadcast_to(np.asarray(P, dtype=np.float64), weight.shape)
    query = np.repeat(np.arange(n_queries), np.diff(pairs.pair_offsets))
    target, rest, back = np.sqrt(P), np.sqrt(1 - P), np.flatnonzero(P < 1)
    # Queries in order, and in each what was given before what is the other way around.
    of_query = np.concatenate([query, query[back]])
    order = np.argsort(of_query, kind="stable")
    winner = np.concatenate([pairs.winner, pairs.loser[back]])[order]
    loser = np.concatenate([pairs.loser, pairs.winner[back]])[order]
    offsets = np.searchsorted(of_query[order], np.arange(n_queries + 1)).astype(np.intp)
    excess = np.bincount(query, weight * (target + rest - 1), n_queries)
    weight = np.concatenate([weight * target, (weight * rest)[back]])[order]
    return ExplicitPairs(winner, loser, offsets, pairs.offsets), weight, excess


class BoundListedFidelity(BoundLoss):
    """`ListedFidelity` of some rows, and pair weights (4).

    The weight (4) of a pair is minus twice the derivative of its term by the difference. Its two
    terms are the weights of two pairs that are certain, see `directed_pairs`: all sums are over
    those, and all weights are positive.

    Attributes
    ----------
    n_pairs : int
        Those of grades, or as given.
    scale : float
        The weights of all queries with pairs, summed: `total` is at most this.
    weights : PairSums
        Of the weights (4).
    total : float
        J(H).
    excess : float
        What J(H) is less than the sum over pairs that are certain.
    weight_total : float
        Sum of the weights.
    lost : float
        What weights have lost since the `update` before the last one, summed over those that fell.
    """

    total = None  # an attribute here

    def _prepare(self, loss):
        data, weight, self._smoothing = self.data, self.weight, loss.smoothing
        pairs = loss.pairs(data)
        self.n_pairs = pairs.n_pairs
        self._n_threads = data.n_threads
        counts = np.diff(pairs.pair_offsets)
        of_pairs = np.ones(pairs.n_pairs) if pairs.weight is None else pairs.weight
        if loss.tie_weight > 0:
            of_pairs[pairs.y[pairs.winner] == pairs.y[pairs.loser]] = loss.tie_weight
        query = np.repeat(np.arange(len(counts)), counts)
        # Pairs of clicks are counted, whatever they weigh: propensities must not cancel.
        in_query = (
            counts if data.click_weight is not None else np.bincount(query, of_pairs, len(counts))
        )
        D = of_pairs * weight[query] / in_query[query]
        self.pairs, self._D, excess = directed_pairs(pairs, D, loss)
        self.excess = data.sum(excess)
        self.scale = data.sum(weight[counts > 0])
        pairs = self.pairs
        self._rows = pairs.winner, pairs.loser, pairs.pair_offsets
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
        return self._fill(np.ones(self.pairs.n_pairs))

    def losses(self):
        """The losses of the pairs: PairSums that are valid until the next call for any."""
        root = np.sqrt(1 + self._x)
        return self._fill(self._x / (root * (1 + root)))

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
        weights, pairs = self.weights, (self._rows, self.pairs.offsets, self._D)
        out = self._factors, self._x, weights.weight, weights.signed, weights.degree, self._sums
        _fidelity.update(scores, *pairs, *out, self._n_threads)
        total, self.weight_total, self.lost = self.data.sum(self._sums).tolist()
        self.total = max(total - self.excess, 0.0)

    def parts(self, alpha):
        """Even and odd part of what a pair's loss falls by if its difference grows by `alpha`.

        Returns
        -------
        sums : PairSums
            ``signed`` of the odd part over alpha, ``weight`` the even part over its square;
            valid until the next call for any.
        """
        sums = self._parts
        pairs = self._rows, self.pairs.offsets, self._D, self._x
        out = sums.weight, sums.signed, sums.degree
        _fidelity.parts(*pairs, _factors_of(alpha)[0], *out, self._n_threads)
        return sums

    def step(self, num, den):
        """Alpha by (3), pairs of mean weight added to either side as `smoothing` says.

        Parameters
        ----------
        num, den : ndarrays
            Difference and sum of the weights of the pairs with the winner above and of those with
            the loser above.
        """
        right, wrong = np.maximum((den + num) / 2, 0), np.maximum((den - num) / 2, 0)
        return balancing_step(right, wrong, self._smoothing * self.weight_total / self.n_pairs)

    def ceiling(self, num, den, share):
        """Bound of what the loss falls by at the step of (3).

        It falls as `den` grows, so that a lower bound of `den` will do.

        Parameters
        ----------
        num, den : ndarrays
            As for `step`.
        share : ndarray
            Sum of D over the pairs that are cut.
        """
        alpha, num = np.abs(self.step(num, den)), np.abs(num)
        # Taylor's formula, with the largest curvature there is; and no pair falls by more than D.
        bound = 0.5 * alpha * (num + LARGEST_CURVATURE * share * alpha)
        bound = np.minimum(bound, share)
        # From o to o + a a weight grows by a factor exp(a / 2) at most, and falls by exp(-a / 2) at
        # most from o to o - a.
        t = np.exp(alpha / 2)
        return np.minimum(bound, num * (t**5 - 1) / (t * (1 + t) * (1 + t**2)))

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
        pairs = self._rows, self._D, self._x
        _fidelity.along(above.view(np.uint8), *pairs, steps, sums, self._n_threads)
        return self.data.sum(sums).T


def _factors_of(alphas):
    """Rows of `steps` of the kernels."""
    a = np.atleast_1d(alphas)
    return np.column_stack([a, np.exp(-a), np.exp(a), -np.expm1(-a), -np.expm1(a)])
