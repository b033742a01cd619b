# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Loss of YetiRank: the logistic loss of rows that come next to each other in random orders."""

import numpy as np

from sklearn_ltr._kernels import _yeti
from sklearn_ltr.interrupts import parts
from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.losses.sums_over_pairs import RelativeScores, SumsOverPairs
from sklearn_ltr.ranking import rows_to_rank

# What is drawn in a round: the key of its seed. Those of weak learners count up from 0.
ORDERS = 2**31

# The step -G / W of a row is at most this. No fit that goes well comes near it.
LONGEST_STEP = 100

# What a kernel does for one row of a permutation, in numbers that it looks at.
COST = 32

# Pairs further down, of smaller weights, are left out: with small grades these might vanish.
LEAST_SHARE = 1e-150


class BoundYetiPairs(BoundLoss):
    """`YetiPairs` of some rows.

    Attributes
    ----------
    value : ndarray of shape (n_queries,)
        Weighted logistic loss of the pairs of each query that were drawn for the last `update`,
        and of all its pairs if the loss has these.
    gradient : ndarray of shape (n_samples,)
        Derivative of the weighted sum of the values, the weights of the pairs taken as constants.
    """

    draws = True

    def _prepare(self, loss):
        data, self._loss = self.data, loss
        longest = int(data.queries.sizes.max(initial=1))
        share = loss.decay ** np.arange(longest) / loss.n_permutations
        self._share = share[share >= LEAST_SHARE]
        self._queries = np.flatnonzero(data.informative)
        self._numbers = data.query_numbers.astype(np.intp)
        self._scratch = (
            rows_to_rank(data.offsets, data.n_threads),
            np.empty((data.n_threads, longest)),
            np.empty((data.n_threads, 3 * longest + 1), dtype=np.intc),
        )
        self._pairs = None
        if loss.all_pairs_weight and data.any(data.informative):
            self._pairs = SumsOverPairs(data)
            self._weight_of_all = data.dot(self.weight, _sums_of_gaps(data))

    def _evaluate(self, scores, round):
        relative = RelativeScores(self.data, scores)
        value, weight, G, H = self._drawn(relative, self.data.seed(round, ORDERS))
        if self._pairs is not None:
            weight_of_drawn = self.data.dot(self.weight, weight)
            times = self._loss.all_pairs_weight * weight_of_drawn / self._weight_of_all
            of_all = self._pairs.gap_logistic(relative)
            value, G, H = (
                drawn + times * part for drawn, part in zip((value, G, H), of_all, strict=True)
            )
        self._bend = np.maximum(H, np.abs(G) / LONGEST_STEP)
        return value, G

    def _drawn(self, relative, seed):
        """Loss and weight of the pairs drawn in each query, gradient and curvature of each row."""
        data = self.data
        value, weight = np.zeros((2, data.n_queries))
        G, H = np.zeros((2, data.n_samples))
        queries = data.offsets, self._queries, self._numbers, relative.far
        rows = relative.strength, data.y, data.win_weight, *queries, self._share
        for part in parts(self._loss.n_permutations, COST * data.n_samples):
            out = *self._scratch, value, weight, G, H
            _yeti.draw_pairs(*rows, seed, part.start, part.stop, data.n_threads, *out)
        return value, weight, G, H

    def _curvature(self):
        return self._bend

    def start(self):
        return 0.0

    def step(self, h, g):
        return 1.0


class YetiPairs(Loss):
    r"""Logistic loss of pairs that are neighbours in random orders of their query, YetiRank's.

    In each round :math:`P` orders are drawn for each query: its rows by descending

    .. math:: z_i = s_i + \ln \frac{u_i}{1 - u_i}, \qquad u_i \sim U(0, 1).

    Rows of different grades at the positions :math:`k` and :math:`k + 1`, from 0, are a pair of
    weight :math:`w = \beta^k |y_i - y_j| / P`. With i the better row of a pair,

    .. math:: R(s) = \sum w \ln\left(1 + e^{-(s_i - s_j)}\right), \quad
        \rho = \frac{1}{1 + e^{s_i - s_j}}, \quad
        G_i \mathrel{-}= w \rho, \quad G_j \mathrel{+}= w \rho, \quad
        H_i, H_j \mathrel{+}= w \rho (1 - \rho)

    at the scores without noise; of clicks w is over the propensity of row i. The curvature is
    :math:`\max(H, |G| / 100)`, so that steps are finite where pairs are far in the wrong order.

    A round has a function of its own, which also changes with the order of the scores, and H does
    not bound its Hessian: there is nothing to search a line for.

    Parameters
    ----------
    n_permutations : int, default=10
        :math:`P`.
    decay : float in (0, 1], default=0.85
        :math:`\beta`.
    all_pairs_weight : float, default=0.0
        Adds the same loss of all pairs of rows of a query with different grades, of weight
        :math:`|y_i - y_j|`, times what makes their total weight, over all queries, so many times
        that of the pairs drawn.
    """

    abilities = frozenset({"gradient", "curvature", "propensity"})
    bound = BoundYetiPairs

    def __init__(self, n_permutations=10, decay=0.85, all_pairs_weight=0.0):
        self.n_permutations = n_permutations
        self.decay = decay
        self.all_pairs_weight = all_pairs_weight


def _sums_of_gaps(data):
    """Sum of the differences of the grades of all pairs of each query: ndarray (n_queries,).

    Of clicks, each times the weight of the pair.
    """
    order, starts = data.grade_groups.order, data.offsets[:-1]
    y = data.y[order]
    gaps = np.diff(y, prepend=y[:1])
    gaps[starts] = 0
    # A gap between two rows next to each other is part of the pairs across it.
    below = np.arange(len(y)) - data.per_row(starts)
    above = data.per_row(data.queries.sizes) - below
    if data.click_weight is not None:
        weight = data.click_weight[order]
        up_to = np.cumsum(weight)
        above = data.per_row(up_to[data.offsets[1:] - 1]) - up_to + weight
    return np.add.reduceat(gaps * below * above, starts)
