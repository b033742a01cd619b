# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cross entropy of top-one probabilities."""

import numpy as np

from sklearn_ltr.losses.base import BoundLoss, Loss, positive


class _BoundListCrossEntropy(BoundLoss):
    def _prepare(self, loss):
        self._log_aim = self._log_top_one(self.data.y / positive(loss, "temperature"))
        self._aim = np.exp(self._log_aim)
        self._ordered = self.data.per_row(self.data.informative)

    def _evaluate(self, scores, round):
        self._log_now = self._log_top_one(scores)
        gradient = np.where(self._ordered, np.exp(self._log_now) - self._aim, 0.0)
        return self._cross_entropy(self._log_now), gradient

    def _curvature(self):
        return np.where(self._ordered, np.exp(np.maximum(self._log_aim, self._log_now)), 0.0)

    def _value(self, scores):
        return self._cross_entropy(self._log_top_one(scores))

    def _cross_entropy(self, log_now):
        terms = self._aim * log_now
        return np.where(self.data.informative, -np.add.reduceat(terms, self.data.offsets[:-1]), 0.0)

    def _log_top_one(self, z):
        """Logarithms of p(z)."""
        starts, per_row = self.data.offsets[:-1], self.data.per_row
        z = z - per_row(np.maximum.reduceat(z, starts))
        return z - per_row(np.log(np.add.reduceat(np.exp(z), starts)))


class ListCrossEntropy(Loss):
    r"""Cross entropy of top-one probabilities, ListNet's.

    .. math:: R(h) = -\sum_i p_i(y / T) \ln p_i(h), \qquad
        p_i(z) = \frac{e^{z_i}}{\sum_k e^{z_k}}

    for each query, with grades y [1]_. One whose grades are all equal has no order to learn, and
    counts as 0; the formula would pull its scores together.

    Parameters
    ----------
    temperature : float, default=1.0
        T, positive. The smaller it is, the more of the probability to be on top the rows of the
        highest grade have.

    Notes
    -----
    The gradient is :math:`p(h) - p(y / T)`, the curvature :math:`W = \max(p(h), p(y / T))`. The
    Hessian is :math:`\operatorname{diag}(p(h)) - p(h) p(h)^\top`, at most
    :math:`\operatorname{diag}(p(h))`, which bounds short steps only. A row of high grade that is
    far behind has :math:`p_i(h)` near 0, and the step :math:`-G_i / W_i` would have no limit; with
    the maximum it lies in [-1, 1].

    References
    ----------
    .. [1] Cao, Qin, Liu, Tsai, Li. "Learning to Rank: From Pairwise Approach to Listwise Approach".
       ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ListCrossEntropy
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> ListCrossEntropy().value(y, scores, offsets).round(4)
    array([0.6931])
    >>> ListCrossEntropy().gradient(y, scores, offsets).round(4)
    array([-0.2311,  0.2311])
    >>> ListCrossEntropy().curvature(y, scores, offsets).round(4)
    array([0.7311, 0.5   ])
    """

    bound = _BoundListCrossEntropy

    def __init__(self, temperature=1.0):
        self.temperature = temperature
