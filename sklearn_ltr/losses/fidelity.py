# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fidelity loss of score differences."""

from numbers import Real

import numpy as np

from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.losses.pairs_alike import PairsAlike
from sklearn_ltr.losses.sums_over_pairs import SumsOverPairs

# Largest second derivative of -1 / sqrt(1 + exp(-o)), at exp(-o) = 5 - sqrt(21). Downwards the
# same function bends less: see `listed_fidelity.LARGEST_CURVATURE`.
X = 5 - np.sqrt(21)
STEEPEST = X * (2 - X) / (4 * (1 + X) ** 2.5)  # 0.069045...


class _BoundFidelityPairs(BoundLoss):
    def _prepare(self, loss):
        P = loss.target_probability
        if not (isinstance(P, Real) and 0.5 <= P <= 1):
            raise ValueError(f"`target_probability` must be in [0.5, 1]; got {P!r}.")
        self._roots = float(np.sqrt(P)), float(np.sqrt(1 - P))
        self._sums = SumsOverPairs(self.data)

    def _evaluate(self, scores, round):
        gradient = self._sums.of_term("fidelity slope", scores, -1, self._roots)
        return self._value(scores), gradient

    def _curvature(self):
        return 2 * STEEPEST * sum(self._roots) * self.data.degree

    def _value(self, scores):
        terms = self._sums.of_term("fidelity", scores, 0, self._roots)
        return np.add.reduceat(terms, self.data.offsets[:-1])


class FidelityPairs(PairsAlike, Loss):
    r"""Fidelity loss of score differences, FRank's.

    .. math:: R(h) = \sum_{y_i > y_j} \left[1 - \sqrt{P^* s_{ij}} -
        \sqrt{(1 - P^*)(1 - s_{ij})}\right], \quad s_{ij} = \frac{1}{1 + e^{-(h_i - h_j)}}

    over the pairs of rows of one query with different grades, equation 2 of [1]_ with the same
    weight for each pair. No pair costs more than 1. Takes time in proportion to the number of
    pairs, and memory to that of rows.

    Parameters
    ----------
    target_probability : float in [0.5, 1], default=1.0
        :math:`P^*`, the probability aimed at that the row of the higher grade wins.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, or each query, whose loss is then the mean over its pairs.

    Notes
    -----
    A pair adds :math:`\frac12 \left(\sqrt{(1 - P^*)(1 - s)}\, s - \sqrt{P^* s}\, (1 - s)\right)` to
    the gradient of its winner, and takes it from that of its loser. The curvature is
    :math:`2 c (\sqrt{P^*} + \sqrt{1 - P^*})` times the number of a row's pairs, with c = 0.0690 the
    largest second derivative of :math:`-\sqrt{s}`. It bounds the loss, which is not convex, for any
    step.

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

    def __init__(self, target_probability=1.0, pair_weighting="pair"):
        self.target_probability = target_probability
        self.pair_weighting = pair_weighting
