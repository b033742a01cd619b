# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""1 - NDCG of positions that are smooth functions of the scores."""

import numpy as np

from sklearn_ltr._kernels import _dcg, _smooth_ranks
from sklearn_ltr.interrupts import parts
from sklearn_ltr.labels import check_gain, gains
from sklearn_ltr.losses.base import BoundLoss, Loss, positive
from sklearn_ltr.metrics.dcg import discounts_of, relative_gains
from sklearn_ltr.ranking import run_kernel

# A line search moves no score by more than so many temperatures: the slopes of pairs that are as
# far apart have all but vanished, and with them the way back.
LONGEST_STEP = 10


class _BoundApproxNDCG(BoundLoss):
    def _prepare(self, loss):
        data, self._temperature = self.data, positive(loss, "temperature")
        check_gain(data.y, "exponential")
        gain = relative_gains(gains(data.y, "exponential"), data.offsets)
        self._longest = int(data.queries.sizes.max(initial=1))
        discounts = discounts_of(self._longest, "log2")
        threads = {"offsets": data.offsets, "n_threads": data.n_threads}
        ideal = run_kernel(_dcg.ideal_dcg, gain, discounts, **threads)
        if data.click_weight is not None:  # the ideal has none, as it would cancel
            gain = gain * data.click_weight
        self._differ = data.informative
        self._gain = np.where(
            data.per_row(self._differ), gain / data.per_row(np.where(ideal > 0, ideal, 1)), 0.0
        )
        self._ends = data.per_row(data.offsets[:-1]), data.per_row(data.offsets[1:])

    def _evaluate(self, scores, round):
        z = scores / self._temperature
        ranks = self._ranks(z)
        log = np.log(1 + ranks)
        pull = np.log(2) * self._gain / ((1 + ranks) * log**2)
        gradient, self._bend = np.empty((2, len(z)))
        out = self.data.n_threads, gradient, self._bend
        for part in self._parts():
            _smooth_ranks.slopes(z, pull, *self._ends, part.start, part.stop, *out)
        return self._from_ranks(ranks), gradient / self._temperature

    def _curvature(self):
        return self._bend / self._temperature**2

    def _value(self, scores):
        return self._from_ranks(self._ranks(scores / self._temperature))

    def _longest_step(self, g):
        return LONGEST_STEP * self._temperature / self.data.largest(np.abs(g))

    def _ranks(self, z):
        ranks = np.empty(len(z))
        for part in self._parts():
            ends = *self._ends, part.start, part.stop
            _smooth_ranks.smooth_ranks(z, self._gain, *ends, self.data.n_threads, ranks)
        return ranks

    def _from_ranks(self, ranks):
        ndcg = np.add.reduceat(self._gain / np.log2(1 + ranks), self.data.offsets[:-1])
        return np.where(self._differ, 1 - ndcg, 0.0)

    def _parts(self):
        return parts(self.data.n_samples, 2 * self._longest)


class ApproxNDCG(Loss):
    r"""1 - NDCG, of positions that are smooth functions of the scores.

    .. math:: R(h) = 1 - \frac{1}{Z} \sum_i \frac{2^{y_i} - 1}{\log_2(1 + \pi_i)}, \qquad
        \pi_i = 1 + \sum_{k \ne i} \frac{1}{1 + e^{(h_i - h_k) / T}}

    for each query, with grades y that are not negative and Z the largest DCG that its rows can have
    [1]_ [2]_. A query whose grades are all equal has no order to learn, and counts as 0. Takes time
    in proportion to the square of the rows of a query, and memory to their number.

    Parameters
    ----------
    temperature : float, default=1.0
        T, positive. The smaller it is, the nearer are :math:`\pi_i` to the positions, and the fewer
        pairs of rows have a slope. Boosted trees take steps in proportion to it, so that it changes
        nothing but the scale of their scores; to a linear function or net it does.

    Notes
    -----
    With :math:`c_i = \ln 2 \, (2^{y_i} - 1) / (Z (1 + \pi_i) \ln^2(1 + \pi_i))`, what a position
    more costs, and :math:`s_{ik} = e^{|d|} / (1 + e^{|d|})^2`, :math:`d = (h_i - h_k) / T`, the
    gradient is :math:`\frac{1}{T} \sum_k (c_k - c_i) s_{ik}`. The loss is not convex. The curvature
    is

    .. math:: W_i = \frac{2}{T^2} \sum_{k \ne i} \max(c_i, c_k) \, s_{ik} .

    It bounds the Hessian at the scores: the discount is a convex function of the position, which
    only takes from the Hessian, no :math:`\pi_i` has a second derivative beyond
    :math:`s_{ik} / T^2` along a pair, and of the two of a pair only one is positive. It does not
    bound long steps, as :math:`c_i` rises with the score. The step :math:`-G_i / W_i` is at most
    T / 2.

    A line search goes on to where no score has moved by more than 10 T. The lowest value along the
    first steps is often much further, where all pairs are so far apart that their slopes vanish,
    and nothing is learnt any more.

    Where clicks have propensities p, gains are times 1 / p, relative to the largest, and Z is
    as without.

    References
    ----------
    .. [1] Qin, Liu, Li. "A General Approximation Framework for Direct Optimization of Information
       Retrieval Measures". Information Retrieval 13, 2010.
    .. [2] Bruch, Zoghi, Bendersky, Najork. "Revisiting Approximate Metric Optimization in the Age
       of Deep Neural Networks". SIGIR 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import ApproxNDCG
    >>> y, scores, offsets = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2])
    >>> ApproxNDCG().value(y, scores, offsets).round(4)  # 1 - 1 / log2(1 + 1.5)
    array([0.2435])
    >>> ApproxNDCG().gradient(y, scores, offsets).round(4)
    array([-0.0826,  0.0826])
    >>> ApproxNDCG().curvature(y, scores, offsets).round(4)
    array([0.1651, 0.1651])
    """

    abilities = Loss.abilities | {"propensity"}
    bound = _BoundApproxNDCG

    def __init__(self, temperature=1.0):
        self.temperature = temperature
