# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logistic loss of score differences."""

from sklearn_ltr.losses.base import BoundLoss, Loss, positive
from sklearn_ltr.losses.pairs_alike import PairsAlike
from sklearn_ltr.losses.sums_over_pairs import SumsOverPairs


class _BoundLogisticPairs(BoundLoss):
    def _prepare(self, loss):
        self._sums, self._sigmoid = SumsOverPairs(self.data), positive(loss, "sigmoid")

    def _evaluate(self, scores, round):
        self._m = self._sigmoid * scores
        value, gradient = self._sums.logistic(self._m)
        return value, self._sigmoid * gradient

    def _curvature(self):
        return 2 * self._sigmoid**2 * self._sums.of_term("logistic curvature", self._m, 1)

    def _value(self, scores):
        return self._sums.logistic(self._sigmoid * scores)[0]


class LogisticPairs(PairsAlike, Loss):
    r"""Logistic loss of score differences, RankNet's.

    .. math:: R(h) = \sum_{y_i > y_j} \ln\left(1 + e^{-\sigma (h_i - h_j)}\right)

    over the pairs of rows of one query with different grades: the cross entropy of [1]_ for pairs
    that are certain. Takes time in proportion to the number of pairs, and memory to that of rows.

    Parameters
    ----------
    sigmoid : float, default=1.0
        :math:`\sigma`, positive.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, or each query, whose loss is then the mean over its pairs.

    Notes
    -----
    A pair adds :math:`-\sigma / (1 + e^{\sigma (h_i - h_j)})` to the gradient of its winner, and
    takes it from that of its loser. The curvature is

    .. math:: W_i = 2 \sigma^2 \sum_j \kappa(\sigma (h_i - h_j)), \qquad
        \kappa(m) = \frac{\tanh(m / 2)}{2 m},

    over all pairs of row i, with :math:`\kappa(0) = 1/4`. It bounds the loss for any step from the
    present scores: the parabola with second derivative :math:`\kappa(m)` that touches
    :math:`\ln(1 + e^{-m})` at m lies above it everywhere [2]_. It is larger than the second
    derivative at m, which does not bound long steps.

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

    def __init__(self, sigmoid=1.0, pair_weighting="pair"):
        self.sigmoid = sigmoid
        self.pair_weighting = pair_weighting
