# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cosine of the angle between scores and grades."""

import numpy as np

from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.validation import check_choice

# Largest second derivative of -x / (2 sqrt(x^2 + 1)), at x = 1/2.
LARGEST_BEND = 0.75 * 0.8**2.5  # 0.4293...


class _BoundListCosine(BoundLoss):
    def _prepare(self, loss):
        check_choice(loss.center, "center", (True, False))
        data, self._center = self.data, loss.center
        g = self._centred(data.y) if self._center else data.y
        norm = np.sqrt(self._sums(g**2))
        self._aim = g / data.per_row(np.where(norm > 0, norm, 1))
        self._ordered = data.per_row(data.informative)

    def _evaluate(self, scores, round):
        now, length, cosine = self._angle(scores)
        per_row = self.data.per_row
        slope = (per_row(cosine) * now - self._aim) / per_row(2 * length)
        return self._from_cosine(cosine), np.where(self._ordered, slope, 0.0)

    def _curvature(self):
        bend = self.data.per_row(LARGEST_BEND / self.data.queries.sizes)
        return np.where(self._ordered, bend, 0.0)

    def _value(self, scores):
        return self._from_cosine(self._angle(scores)[2])

    def _from_cosine(self, cosine):
        return np.where(self.data.informative, (1 - cosine) / 2, 0.0)

    def _angle(self, scores):
        """h / r of each row; r and the cosine of each query."""
        if self._center:
            scores = self._centred(scores)
        length = np.sqrt(self._sums(scores**2) + self.data.queries.sizes)
        now = scores / self.data.per_row(length)
        return now, length, self._sums(self._aim * now)

    def _centred(self, z):
        """`z` minus its mean in each query."""
        return z - self.data.per_row(self._sums(z) / self.data.queries.sizes)

    def _sums(self, z):
        return np.add.reduceat(z, self.data.offsets[:-1])


class ListCosine(Loss):
    r"""Cosine of the angle between the scores and the grades, RankCosine's.

    .. math:: R(h) = \frac12 \left( 1 - \frac{g^\top h}{|g| \sqrt{|h|^2 + n}} \right)

    for each query of n rows, with g its grades [1]_. The paper's loss has no n: it is undefined
    where all scores are 0, and the same for any multiple of them. With n it is smooth, and as the
    paper's where the scores are large, :math:`|h|^2 \gg n`. A query whose grades are all equal has
    no order to learn, and counts as 0.

    Parameters
    ----------
    center : bool, default=True
        Subtract their means in the query from g and h: the cosine is then Pearson's correlation,
        and like a ranking it does not depend on a shift of the scores. False is the paper's loss.

    Notes
    -----
    With :math:`r^2 = |h|^2 + n` the gradient is
    :math:`-\frac{1}{2 r} \left( g / |g| - (g^\top h / |g|) \, h / r^2 \right)`, where g and h are
    centred if `center`. The loss is not convex. The curvature is :math:`W = c / n` for all rows,
    :math:`c = \frac34 (4/5)^{5/2} = 0.4293`, and bounds the loss for any step: no second derivative
    is larger, and it is reached where :math:`h = \sqrt{n} \, g / (2 |g|)`.

    References
    ----------
    .. [1] Qin, Zhang, Tsai, Wang, Liu, Li. "Query-level Loss Functions for Information Retrieval".
       Information Processing and Management 44, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ListCosine
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> ListCosine().value(y, scores, offsets)
    array([0.5])
    >>> ListCosine().gradient(y, scores, offsets)
    array([-0.25,  0.25])
    >>> ListCosine().curvature(y, scores, offsets).round(4)
    array([0.2147, 0.2147])
    """

    no_propensity = (
        "the length of the grades, which a cosine is over, is not a sum over clicks, so that no "
        "weights of these make it what it is without bias; take ListCrossEntropy or "
        "ListNDCGCrossEntropy"
    )
    bound = _BoundListCosine

    def __init__(self, center=True):
        self.center = center
