# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Smooth losses of the score differences of preference pairs."""

from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ltr._kernels import _pair_losses
from sklearn_ltr.losses.squared_hinge import HingeSums, group_by_grade

# The order of `Term` in _pair_losses.pyx.
TERMS = ("logistic curvature", "fidelity", "fidelity slope")

# Largest second derivative of -1 / sqrt(1 + exp(-o)), at exp(-o) = 5 - sqrt(21). Downwards the
# same function bends less: see `fidelity.LARGEST_CURVATURE`.
X = 5 - np.sqrt(21)
STEEPEST = X * (2 - X) / (4 * (1 + X) ** 2.5)  # 0.069045...


def sum_over_pairs(term, y, scores, offsets, sign, roots=(1.0, 0.0), n_threads=1):
    """Sums over the pairs of each row with a row of its query and another grade.

    Parameters
    ----------
    term : str
        What is summed, one of `TERMS`.
    y, scores : ndarray of shape (n_samples,), dtype float64
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    sign : {-1, 0, 1}
        What a term is multiplied with in the sum of the row of the lower grade.
    roots : tuple of float
        Square roots of the fidelity's target probability and of what it lacks to 1.
    n_threads : int, default=1
        Does not change the results.

    Returns
    -------
    sums : ndarray of shape (n_samples,)
    """
    order, lower = _by_grade(y, offsets)
    in_order, sums = np.zeros(len(y)), np.empty(len(y))
    _pair_losses.pair_sums(
        TERMS.index(term), scores[order], lower, offsets, *roots, sign, n_threads, in_order
    )
    sums[order] = in_order
    return sums


def logistic_sums(y, scores, offsets, n_threads=1):
    """Logistic loss of the pairs of each query, and its derivatives, at once.

    Parameters
    ----------
    y, scores : ndarray of shape (n_samples,), dtype float64
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    n_threads : int, default=1
        Does not change the results.

    Returns
    -------
    value : ndarray of shape (n_queries,)
        To an absolute error of about 1e-16 a pair.
    gradient : ndarray of shape (n_samples,)
    """
    order, lower = _by_grade(y, offsets)
    value, in_order, gradient = np.empty(len(offsets) - 1), np.zeros(len(y)), np.empty(len(y))
    _pair_losses.logistic_sums(scores[order], lower, offsets, n_threads, value, in_order)
    gradient[order] = in_order
    return value, gradient


def _by_grade(y, offsets):
    """The rows by query and ascending grade, and where the rows of lower grade than each end."""
    groups = group_by_grade(y, offsets)
    return groups.order, groups.first[groups.group[groups.order]]


class LogisticPairs(BaseEstimator):
    r"""Logistic loss of score differences, RankNet's.

    .. math:: R(h) = \sum_{y_i > y_j} \ln\left(1 + e^{-\sigma (h_i - h_j)}\right)

    over the pairs of rows of one query with different grades: the cross entropy of [1]_ for pairs
    that are certain. Takes time in proportion to the number of pairs, and memory to that of rows.

    Parameters
    ----------
    sigmoid : float, default=1.0
        :math:`\sigma`, positive.

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

    def __init__(self, sigmoid=1.0):
        self.sigmoid = sigmoid

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        return logistic_sums(y, self._checked_sigmoid() * scores, offsets)[0]

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        sigmoid = self._checked_sigmoid()
        return sigmoid * logistic_sums(y, sigmoid * scores, offsets)[1]

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian, for any step: ndarray of shape (n_samples,)."""
        sigmoid = self._checked_sigmoid()
        sums = sum_over_pairs("logistic curvature", y, sigmoid * scores, offsets, 1)
        return 2 * sigmoid**2 * sums

    def _checked_sigmoid(self):
        sigmoid = self.sigmoid
        if not (isinstance(sigmoid, Real) and 0 < sigmoid < np.inf):
            raise ValueError(f"`sigmoid` must be a positive number; got {sigmoid!r}.")
        return sigmoid


class FidelityPairs(BaseEstimator):
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

    def __init__(self, target_probability=1.0):
        self.target_probability = target_probability

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        sums = sum_over_pairs("fidelity", y, scores, offsets, 0, self._roots())
        return np.add.reduceat(sums, offsets[:-1])

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        return sum_over_pairs("fidelity slope", y, scores, offsets, -1, self._roots())

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian, for any step: ndarray of shape (n_samples,)."""
        return 2 * STEEPEST * sum(self._roots()) * HingeSums(y, offsets, "grade").degree

    def _roots(self):
        P = self.target_probability
        if not (isinstance(P, Real) and 0.5 <= P <= 1):
            raise ValueError(f"`target_probability` must be in [0.5, 1]; got {P!r}.")
        return float(np.sqrt(P)), float(np.sqrt(1 - P))
