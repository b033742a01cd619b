# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Squared hinge of score differences."""

from sklearn_ltr.losses.base import BoundLoss, Loss, positive
from sklearn_ltr.losses.hinge_sums import hinge_sums
from sklearn_ltr.losses.pairs_alike import PairsAlike


class _BoundSquaredHinge(BoundLoss):
    def _prepare(self, loss):
        if loss.margin != "grade":
            positive(loss, "margin", otherwise='"grade" or ')
        self._sums = hinge_sums(self.data, loss.margin)

    def _evaluate(self, scores, round):
        at = self._sums(scores)
        return at.value, at.gradient

    def _curvature(self):
        return 2 * self._sums.degree


class SquaredHinge(PairsAlike, Loss):
    r"""Squared hinge of score differences.

    .. math:: R(h) = \sum_{y_i > y_j} \frac12 (\tau_{ij} - (h_i - h_j))_+^2

    over the pairs of rows of one query with different grades: the loss of QBRank [1]_ and of
    RankSVM with squared slack [2]_. Pairs are never listed: a query of n rows takes O(n log n).

    Parameters
    ----------
    margin : float or "grade", default="grade"
        :math:`\tau`, by how much the winner must be ahead for a pair to cost nothing; positive.
        "grade": by the difference of the grades; of given preferences that is their margin, or 1.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, or each query, whose loss is then the mean over its pairs.

    Notes
    -----
    The gradient of a row is the sum of :math:`(\tau - (h_i - h_j))_+` over the pairs that it loses
    minus the same sum over those that it wins. The curvature is twice the number of its pairs,
    those that cost nothing included, and bounds the loss for any step: the Hessian of a pair is
    :math:`\begin{pmatrix} 1 & -1 \\ -1 & 1 \end{pmatrix}`, at most the diagonal (2, 2), or 0.

    Where clicks have propensities p, each pair is times 1 / p of its winner, relative to the
    largest; means are over numbers of pairs.

    References
    ----------
    .. [1] Zheng, Zha, Zhang, Chapelle, Chen, Sun. "A General Boosting Method and its Application to
       Learning Ranking Functions for Web Search". NIPS 2007.
    .. [2] Chapelle, Keerthi. "Efficient Algorithms for Ranking with SVMs". Information Retrieval
       13, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import SquaredHinge
    >>> y, scores, offsets = np.array([2.0, 1.0, 0.0]), np.zeros(3), np.array([0, 3])
    >>> SquaredHinge().value(y, scores, offsets)
    array([3.])
    >>> SquaredHinge().gradient(y, scores, offsets)
    array([-3.,  0.,  3.])
    >>> SquaredHinge().curvature(y, scores, offsets)
    array([4., 4., 4.])
    """

    abilities = PairsAlike.abilities | {"margins"}
    bound = _BoundSquaredHinge

    def __init__(self, margin="grade", pair_weighting="pair"):
        self.margin = margin
        self.pair_weighting = pair_weighting
