# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cross entropy of top-one probabilities."""

import numpy as np

from sklearn_ltr.labels import check_gain
from sklearn_ltr.losses.base import Loss, positive
from sklearn_ltr.losses.softmax import BoundCrossEntropy


class _BoundListCrossEntropy(BoundCrossEntropy):
    def _prepare(self, loss):
        z = self.data.y / positive(loss, "temperature")
        self._aim = np.exp(self._log_softmax(z))
        if self.data.propensity is not None:
            check_gain(self.data.y, "linear")
        # A row of grade 0 has e^0 where another has e^z.
        self._weigh(self._aim * np.exp(-z))
        self._counts = self.data.informative


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

    Where clicks have propensities p, the numerator of :math:`p_i(y / T)` is :math:`1 + (e^{y_i
    / T} - 1) / p_i`, with 1 / p relative to the largest: what a click adds is weighed. Its
    denominator is as without, so that the probabilities do not sum to 1.

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

    abilities = Loss.abilities | {"propensity"}
    bound = _BoundListCrossEntropy

    def __init__(self, temperature=1.0):
        self.temperature = temperature
