# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LAD_TreeBoost (Friedman, Annals of Statistics 2001, Algorithm 3) in slow Python, sharing no code.

`fit_tree` is as in the oracle of McRank: a function from a target to the regions of a tree.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np


class Round(NamedTuple):
    """What a round did."""

    F: np.ndarray  # after it
    values: np.ndarray  # gamma of each region


def median(values, weight=None):
    """The middle of all m that minimise sum of weight * |value - m|, in exact arithmetic.

    With weights of 1 it is the middle value, or the mean of the two in the middle.
    """
    values = [Fraction(float(v)) for v in values]
    weight = [Fraction(1)] * len(values) if weight is None else [Fraction(float(w)) for w in weight]

    def deviation(m):
        return sum(w * abs(v - m) for v, w in zip(values, weight, strict=True))

    # Piecewise linear with corners at the values: the minimisers lie between two of them.
    of = {m: deviation(m) for m in set(values)}
    best = [m for m in of if of[m] == min(of.values())]
    return float((min(best) + max(best)) / 2)


def lad_tree_boost(y, n_rounds, learning_rate, fit_tree, weight=None):
    """Algorithm 3, a generator of each `Round`; `learning_rate` is the nu of section 5."""
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    F = np.full(len(y), median(y, w))
    for _ in range(n_rounds):
        regions = fit_tree(np.where(y > F, 1.0, np.where(y < F, -1.0, 0.0)))
        gamma = np.array([median(y[R] - F[R], w[R]) for R in regions])
        for R, value in zip(regions, gamma, strict=True):
            F[R] += learning_rate * value
        yield Round(F.copy(), gamma)
