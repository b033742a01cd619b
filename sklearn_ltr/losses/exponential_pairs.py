# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Exponential loss of score differences, times directed distances."""

from functools import partial

import numpy as np

from sklearn_ltr.labels import DISTANCES, directed_distance
from sklearn_ltr.losses.base import BoundLoss, Loss, positive
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.losses.pairs_alike import PairsAlike

# The logarithm of the loss of a query from which on it grows linearly, within the range of numbers.
LARGEST_LOG = 300.0

# A step changes the logarithm of no pair's loss by more.
LONGEST_STEP = 30.0


class _BoundExponentialPairs(BoundLoss):
    def _prepare(self, loss):
        parameters = {name: positive(loss, name) for name in ("alpha", "lam", "beta")}
        if not callable(loss.distance) and loss.distance not in DISTANCES:
            raise ValueError(
                f"`distance` must be one of {list(DISTANCES)} or a callable; got {loss.distance!r}."
            )
        self._pairs = None
        if self.data.with_pairs.any():
            distance = partial(directed_distance, distance=loss.distance, **parameters)
            ones = np.ones(self.data.n_queries)
            self._pairs = StumpExponential(distance, squared=True).bind(self.data, ones)
            self._pairs.update_by_query(np.zeros(self.data.n_samples))  # sorts, once

    def _evaluate(self, scores, round):
        value, factor = self._at(scores)
        if self._pairs is None:
            self._bend = np.zeros(len(scores))
            return value, np.zeros(len(scores))
        self._bend = 2 * factor * self._pairs.degree
        return value, factor * self._pairs.gradient

    def _curvature(self):
        return self._bend

    def _value(self, scores):
        return self._at(scores)[0]

    def _longest_step(self, g):
        starts = self.data.offsets[:-1]
        apart = self.data.largest(np.maximum.reduceat(g, starts) - np.minimum.reduceat(g, starts))
        return LONGEST_STEP / (apart * self._pairs.max_distance) if apart > 0 else np.inf

    def _at(self, scores):
        """Loss of each query, and what the sums of its rows are to be multiplied with.

        The sums are relative to the largest loss of a pair of the query, so that none overflows.
        """
        if self._pairs is None:
            return np.zeros(self.data.n_queries), None
        sums, log_scale = self._pairs.update_by_query(scores)
        log = log_scale + np.log(np.where(sums > 0, sums, 1))
        far = log > LARGEST_LOG
        factor = np.exp(np.where(far, LARGEST_LOG, log_scale))
        value = factor * np.where(far, 1 + log - LARGEST_LOG, sums)
        factor[far] /= sums[far]
        return value, self.data.per_row(factor)


class ExponentialPairs(PairsAlike, Loss):
    r"""Exponential loss of score differences, MPBoost's and RankBoost's.

    .. math:: R(h) = \sum_{y_i > y_j} e^{-d_{ij} (h_i - h_j)}

    over the pairs of rows of one query with different grades, with directed distances
    :math:`d_{ij}` that say how far the grades are apart, equation 10 of [1]_; where all are 1 it is
    the loss of [2]_. So MPBoost and RankBoost run on trees, any regressor, linear functions and
    nets. Takes O(n L) for a query of n rows with L grades, up to 32 in all; with more grades, or of
    given preferences, pairs are listed.

    Parameters
    ----------
    distance : {"linear", "logarithmic", "logistic", "binary"} or callable, default="logistic"
        Directed distance of two grades, as in `MPBoost`; of given preferences it is their margin,
        or 1.
    alpha : float, default=0.5
        :math:`\alpha` of the linear distance, positive.
    lam : float, default=3.0
        :math:`\lambda` of the logarithmic distance, positive.
    beta : float, default=0.5
        :math:`\beta` of the logistic distance, positive.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, or each query, whose loss is then the mean over its pairs.

    Notes
    -----
    With :math:`w_{ij} = e^{-d_{ij} (h_i - h_j)}` a pair adds :math:`-d_{ij} w_{ij}` to the gradient
    of its winner, and takes it from that of its loser. The curvature is

    .. math:: W_i = 2 \sum_j d_{ij}^2 w_{ij}

    over all pairs of row i, as the Hessian of a pair is :math:`d^2 w` times
    :math:`\begin{pmatrix} 1 & -1 \\ -1 & 1 \end{pmatrix}`, at most the diagonal (2, 2). It
    bounds the Hessian at the scores. No W bounds long steps: in the wrong direction the loss grows
    exponentially. Steps are kept safe by what they start from and by the line search: the targets
    :math:`-G_i / W_i` are at most :math:`1 / (2 d_{\min})`, the step is shortened until the loss
    falls, so that it never rises, and it is no longer than changes the logarithm of the loss of a
    pair by 30, as in `MPBoost`.

    Where the loss of a query exceeds :math:`e^{300}` it goes on linearly in its logarithm, so that
    numbers stay finite; it remains convex. No boosting comes there, which starts at equal scores.

    Where clicks have propensities p, each pair is times 1 / p of its winner, relative to the
    largest; means are over numbers of pairs.

    References
    ----------
    .. [1] Zhu, Chen, Zhu, Wang, Wang, Chen. "A General Magnitude-Preserving Boosting Algorithm for
       Search Ranking". CIKM 2009.
    .. [2] Freund, Iyer, Schapire, Singer. "An Efficient Boosting Algorithm for Combining
       Preferences". JMLR 4, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ExponentialPairs
    >>> y, scores, offsets = np.array([2.0, 0.0]), np.array([-1.0, 0.0]), np.array([0, 2])
    >>> loss = ExponentialPairs(distance="linear", alpha=0.5)
    >>> loss.value(y, scores, offsets).round(4)
    array([2.7183])
    >>> loss.gradient(y, scores, offsets).round(4)
    array([-2.7183,  2.7183])
    >>> loss.curvature(y, scores, offsets).round(4)
    array([5.4366, 5.4366])
    """

    abilities = PairsAlike.abilities | {"margins"}
    bound = _BoundExponentialPairs

    def __init__(self, distance="logistic", alpha=0.5, lam=3.0, beta=0.5, pair_weighting="pair"):
        self.distance = distance
        self.alpha = alpha
        self.lam = lam
        self.beta = beta
        self.pair_weighting = pair_weighting
