# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logistic loss of score differences."""

from numbers import Real

import numpy as np

from sklearn_ltr.labels import check_target_probability, check_tie_weight, target_probability
from sklearn_ltr.losses.base import BoundLoss, Loss, positive
from sklearn_ltr.losses.pairs_alike import PairsAlike, check_of_grades
from sklearn_ltr.losses.sums_over_pairs import SumsOverPairs, sums_over_pairs


class _BoundLogisticPairs(BoundLoss):
    """The cross entropy of a pair is its logistic loss and 1 - P* times its difference."""

    def _prepare(self, loss):
        data, P = self.data, loss.target_probability
        self._sums, self._sigmoid = sums_over_pairs(data), positive(loss, "sigmoid")
        check_target_probability(P)
        check_tie_weight(loss.tie_weight)
        check_of_grades(data, loss)
        self._tie_weight = loss.tie_weight
        self._tied = SumsOverPairs(data, tied=True) if loss.tie_weight > 0 else None
        self._linear = None
        if data.preferences is not None:
            self._linear = (1 - P) * self._sums.balance if P < 1 else None
        elif not (isinstance(P, Real) and P == 1):
            self._linear = self._sums.of_grades(
                lambda higher, lower: 1 - target_probability(higher, lower, P)
            )

    def _evaluate(self, scores, round):
        self._m = self._sigmoid * scores
        value, gradient = self._at(self._m)
        return value, self._sigmoid * gradient

    def _at(self, m):
        value, gradient = self._sums.logistic(m)
        if self._linear is not None:
            value += np.add.reduceat(self._linear * m, self.data.offsets[:-1])
            gradient += self._linear
        if self._tied:
            # With P* = 1/2 the order of the two rows does not matter: of both, a half each.
            for sign in (1, -1):
                of_ties, slope = self._tied.logistic(sign * m)
                value += self._tie_weight / 2 * of_ties
                gradient += sign * self._tie_weight / 2 * slope
        return value, gradient

    def _curvature(self):
        bend = self._sums.of_term("logistic curvature", self._m, 1)
        if self._tied:
            bend += self._tie_weight * self._tied.of_term("logistic curvature", self._m, 1)
        return 2 * self._sigmoid**2 * bend

    def _value(self, scores):
        return self._at(self._sigmoid * scores)[0]


class LogisticPairs(PairsAlike, Loss):
    r"""Logistic loss of score differences, RankNet's.

    .. math:: R(h) = \sum_{y_i > y_j} \left[-P^*_{ij} o_{ij} +
        \ln\left(1 + e^{o_{ij}}\right)\right], \quad o_{ij} = \sigma (h_i - h_j)

    over the pairs of rows of one query with different grades: the cross entropy of [1]_, which is
    :math:`\ln (1 + e^{-o_{ij}})` for pairs that are certain. Takes time in proportion to the number
    of pairs, and memory to that of rows.

    Parameters
    ----------
    sigmoid : float, default=1.0
        :math:`\sigma`, positive.
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
    A pair adds :math:`\sigma (1 / (1 + e^{-o_{ij}}) - P^*_{ij})` to the gradient of its winner, and
    takes it from that of its loser. The curvature is

    .. math:: W_i = 2 \sigma^2 \sum_j \kappa(\sigma (h_i - h_j)), \qquad
        \kappa(m) = \frac{\tanh(m / 2)}{2 m},

    over all pairs of row i, whatever :math:`P^*`, with :math:`\kappa(0) = 1/4`. It bounds the
    loss for any step from the present scores: the parabola with second derivative
    :math:`\kappa(m)` that touches :math:`\ln(1 + e^{-m})` at m lies above it everywhere [2]_. It is
    larger than the second derivative at m, which does not bound long steps.

    Where clicks have propensities p, each pair is times 1 / p of its winner, relative to the
    largest; means are over numbers of pairs.

    References
    ----------
    .. [1] Burges et al. "Learning to Rank using Gradient Descent". ICML 2005.
    .. [2] Jaakkola, Jordan. "Bayesian Parameter Estimation via Variational Methods". Statistics and
       Computing 10, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import LogisticPairs
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> LogisticPairs().value(y, scores, offsets).round(4)
    array([0.6931])
    >>> LogisticPairs().gradient(y, scores, offsets)
    array([-0.5,  0.5])
    >>> LogisticPairs().curvature(y, scores, offsets)
    array([0.5, 0.5])
    """

    bound = _BoundLogisticPairs

    def __init__(self, sigmoid=1.0, target_probability=1.0, tie_weight=0.0, pair_weighting="pair"):
        self.sigmoid = sigmoid
        self.target_probability = target_probability
        self.tie_weight = tie_weight
        self.pair_weighting = pair_weighting
