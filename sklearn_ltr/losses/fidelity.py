# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fidelity loss of score differences."""

from numbers import Real

import numpy as np

from sklearn_ltr._kernels import _fidelity
from sklearn_ltr.labels import check_target_probability, check_tie_weight
from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.losses.listed_fidelity import directed_pairs
from sklearn_ltr.losses.pairs_alike import PairsAlike, check_of_grades
from sklearn_ltr.losses.sums_over_pairs import sums_over_pairs
from sklearn_ltr.pairs import list_pairs

# Largest second derivative of -1 / sqrt(1 + exp(-o)), at exp(-o) = 5 - sqrt(21). Downwards the
# same function bends less: see `listed_fidelity.LARGEST_CURVATURE`.
X = 5 - np.sqrt(21)
STEEPEST = X * (2 - X) / (4 * (1 + X) ** 2.5)  # 0.069045...


class _BoundFidelityPairs(BoundLoss):
    def _prepare(self, loss):
        check_target_probability(loss.target_probability)
        check_tie_weight(loss.tie_weight)
        check_of_grades(self.data, loss)
        one_for_all = isinstance(loss.target_probability, Real) and loss.tie_weight == 0
        self._sums = (_OneForAll if one_for_all else _Listed)(self.data, loss)

    def _evaluate(self, scores, round):
        return self._sums(scores)

    def _curvature(self):
        return self._sums.curvature

    def _value(self, scores):
        return self._sums.value(scores)


class _OneForAll:
    """Loss and gradient of pairs of one probability, which are never listed."""

    def __init__(self, data, loss):
        P = loss.target_probability
        self._data = data
        self._roots = float(np.sqrt(P)), float(np.sqrt(1 - P))
        self._sums = sums_over_pairs(data)
        self.curvature = 2 * STEEPEST * sum(self._roots) * self._sums.degree

    def __call__(self, scores):
        gradient = self._sums.of_term("fidelity slope", scores, -1, self._roots)
        return self.value(scores), gradient

    def value(self, scores):
        terms = self._sums.of_term("fidelity", scores, 0, self._roots)
        return np.add.reduceat(terms, self._data.offsets[:-1])


class _Listed:
    """The same of any probabilities, and with ties: pairs are listed, and both ways."""

    def __init__(self, data, loss):
        self._data = data
        pairs = list_pairs(data, ties=loss.tie_weight > 0, n_entries=2)
        weight = np.where(pairs.y[pairs.winner] == pairs.y[pairs.loser], loss.tie_weight, 1.0)
        if pairs.weight is not None:
            weight *= pairs.weight
        self._pairs, self._weight, self._excess = directed_pairs(pairs, weight, loss)
        rows = np.concatenate([self._pairs.winner, self._pairs.loser])
        degree = np.bincount(rows, np.tile(self._weight, 2), data.n_samples)
        self.curvature = 2 * STEEPEST * degree

    def __call__(self, scores):
        pairs, data = self._pairs, self._data
        rows = pairs.winner, pairs.loser, pairs.pair_offsets
        scratch = np.empty((2, data.n_samples)), np.empty(pairs.n_pairs), np.zeros(pairs.n_pairs)
        (signed, degree), sums = np.empty((2, data.n_samples)), np.empty((data.n_queries, 3))
        out = *scratch, signed, degree, sums
        _fidelity.update(scores, rows, pairs.offsets, self._weight, *out, data.n_threads)
        return np.maximum(sums[:, 0] - self._excess, 0), -0.5 * signed

    def value(self, scores):
        return self(scores)[0]


class FidelityPairs(PairsAlike, Loss):
    r"""Fidelity loss of score differences, FRank's.

    .. math:: R(h) = \sum_{y_i > y_j} \left[1 - \sqrt{P^*_{ij} s_{ij}} -
        \sqrt{(1 - P^*_{ij})(1 - s_{ij})}\right], \quad s_{ij} = \frac{1}{1 + e^{-(h_i - h_j)}}

    over the pairs of rows of one query with different grades, equation 2 of [1]_ with the same
    weight for each pair. No pair costs more than 1. Takes time in proportion to the number of
    pairs, and memory to that of rows; with `tie_weight`, or other than one probability for all
    pairs, memory to that of pairs.

    Parameters
    ----------
    target_probability : float, mapping or callable, default=1.0
        :math:`P^*`, in [0.5, 1], the probability aimed at that the row of the higher grade wins: a
        number for all pairs, a mapping of the differences of grades that occur, or a callable that
        takes two arrays, the higher and the lower grade of each pair, such as
        `sklearn_ltr.labels.consistent_probability`.
    tie_weight : float, default=0.0
        Weight of each pair of rows of one query with equal grades, for which :math:`P^* = 1/2`, in
        queries of several grades. A mean over pairs is over the others.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, or each query, whose loss is then the mean over its pairs.

    Notes
    -----
    A pair adds :math:`\frac12 \left(\sqrt{(1 - P^*)(1 - s)}\, s - \sqrt{P^* s}\, (1 - s)\right)` to
    the gradient of its winner, and takes it from that of its loser. The curvature is
    :math:`2 c (\sqrt{P^*} + \sqrt{1 - P^*})` times the number of a row's pairs, with c = 0.0690 the
    largest second derivative of :math:`-\sqrt{s}`. It bounds the loss, which is not convex, for any
    step.

    Where clicks have propensities p, each pair is times 1 / p of its winner, relative to the
    largest; means are over numbers of pairs.

    References
    ----------
    .. [1] Tsai, Liu, Qin, Chen, Ma. "FRank: A Ranking Method with Fidelity Loss". SIGIR 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import FidelityPairs
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> FidelityPairs().value(y, scores, offsets).round(4)
    array([0.2929])
    >>> FidelityPairs().gradient(y, scores, offsets).round(4)
    array([-0.1768,  0.1768])
    >>> FidelityPairs().curvature(y, scores, offsets).round(4)
    array([0.1381, 0.1381])
    """

    bound = _BoundFidelityPairs

    def __init__(self, target_probability=1.0, tie_weight=0.0, pair_weighting="pair"):
        self.target_probability = target_probability
        self.tie_weight = tie_weight
        self.pair_weighting = pair_weighting
