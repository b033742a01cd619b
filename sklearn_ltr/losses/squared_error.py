# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Squared error."""

import numpy as np

from sklearn_ltr.losses.base import BoundLoss, Loss


class _BoundSquaredError(BoundLoss):
    def _evaluate(self, scores, round):
        return self._value(scores), scores - self.data.y

    def _curvature(self):
        return np.ones(self.data.n_samples)

    def _value(self, scores):
        return np.add.reduceat((self.data.y - scores) ** 2 / 2, self.data.offsets[:-1])


class SquaredError(Loss):
    r"""Squared error of the scores as predictions of the grades.

    .. math:: R(h) = \sum_i \frac12 (y_i - h_i)^2

    Notes
    -----
    The gradient is :math:`h_i - y_i`. The curvature is 1: the Hessian itself, so that the bound is
    exact for any step.

    References
    ----------
    .. [1] Friedman. "Greedy Function Approximation: A Gradient Boosting Machine". Annals of
       Statistics 29, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import SquaredError
    >>> y, scores, offsets = np.array([2.0, 1.0, 0.0]), np.zeros(3), np.array([0, 3])
    >>> SquaredError().value(y, scores, offsets)
    array([2.5])
    >>> SquaredError().gradient(y, scores, offsets)
    array([-2., -1.,  0.])
    >>> SquaredError().curvature(y, scores, offsets)
    array([1., 1., 1.])
    """

    no_propensity = (
        "rows without a click are part of it, and those have no inverse propensity; give "
        "y / propensity as grades, or those of ClickLog.to_training"
    )
    bound = _BoundSquaredError
