# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cross entropy of softmax and perturbed gains, which bounds NDCG."""

import numpy as np

from sklearn_ltr.labels import check_gain
from sklearn_ltr.losses.base import Loss
from sklearn_ltr.losses.softmax import BoundCrossEntropy

# What is drawn in a round: the key of its seed, far from those of the weak rankers.
GAMMAS = 2**31


class _BoundListNDCGCrossEntropy(BoundCrossEntropy):
    draws = True

    def _prepare(self, loss):
        data, starts = self.data, self.data.offsets[:-1]
        check_gain(data.y, "linear")  # not negative, and of any size
        # Over the largest 2^y of the query: 2^y, and how much a gamma may take from it.
        largest = np.maximum.reduceat(data.y, starts)
        self._largest = data.per_row(largest)
        self._gain = np.exp2(data.y - self._largest)
        spread = 1 - np.minimum.reduceat(self._gain, starts)
        self._width = data.per_row(np.minimum(np.exp2(-largest), spread))
        self._counts = spread > 0  # few digits are left of grades that hardly do
        self._draw(0)

    def _draw(self, round):
        data = self.data
        rows, n = data.row_numbers
        gamma = np.random.default_rng(data.seed(round, GAMMAS)).random(n)[rows]
        gain = self._gain - self._width * gamma
        whole = data.per_row(np.add.reduceat(gain, data.offsets[:-1]))
        self._aim = gain / whole
        self._weigh((np.exp2(-self._largest) - self._width * gamma) / whole)
        self._round = round

    def _evaluate(self, scores, round):
        if round != self._round:
            self._draw(round)
        return super()._evaluate(scores, round)


class ListNDCGCrossEntropy(Loss):
    r"""Cross entropy of perturbed gains and the softmax of the scores: XE-NDCG.

    .. math:: R(h) = -\sum_i \phi_i \ln \rho_i, \qquad
        \rho_i = \frac{e^{h_i}}{\sum_k e^{h_k}}, \qquad
        \phi_i = \frac{2^{y_i} - \gamma_i}{\sum_k (2^{y_k} - \gamma_k)}

    for each query, with grades y that are not negative, and :math:`\gamma_i` drawn from (0, 1)
    [1]_. It is convex, and its mean over the queries bounds a logarithm of the mean NDCG. A query
    whose grades are all equal has no order to learn, and counts as 0.

    Notes
    -----
    The :math:`\gamma` are drawn anew in each round of boosting and for each batch of Adam, once for
    a fit by L-BFGS, and always in the same way where the three methods are called on arrays. Where
    the :math:`2^y` of a query differ by less than 1, which they do not for whole grades, they are
    drawn from (0, that difference), as they would else hide it.

    The gradient is :math:`\rho - \phi`, the curvature :math:`W = \max(\rho, \phi)`. The Hessian is
    :math:`\operatorname{diag}(\rho) - \rho \rho^\top`, at most :math:`\operatorname{diag}(\rho)`,
    which bounds short steps only; with the maximum the step :math:`-G_i / W_i` lies in [-1, 1], as
    that of `ListCrossEntropy`. The paper's trees divide an approximation of the Newton direction by
    :math:`\rho (1 - \rho)`, which has no limit where a row is far behind.

    Where clicks have propensities p, the numerator of :math:`\phi_i` is :math:`(2^{y_i} - 1) /
    p_i + 1 - \gamma_i`, with 1 / p relative to the largest: what a click adds is weighed. Its
    denominator is as without, so that :math:`\phi` does not sum to 1.

    References
    ----------
    .. [1] Bruch. "An Alternative Cross Entropy Loss for Learning-to-Rank". WWW 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ListNDCGCrossEntropy
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> ListNDCGCrossEntropy().value(y, scores, offsets).round(4)
    array([0.6931])
    >>> slope = ListNDCGCrossEntropy().gradient(y, scores, offsets)
    >>> bool(slope[0] < 0 < slope[1])
    True
    >>> bool(np.isclose(slope.sum(), 0))
    True
    """

    abilities = Loss.abilities | {"propensity"}
    bound = _BoundListNDCGCrossEntropy
