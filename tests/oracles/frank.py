# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FRank (Tsai et al., SIGIR 2007) in slow NumPy, from the paper, sharing no code with the package.

Numbers in parentheses are the paper's equations. Pair p says that row `winner[p]` has a higher
grade than row `loser[p]` of its query; D[p] is its weight (1), o[p] its score difference.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Candidate(NamedTuple):
    """A split: a row is above if its value > threshold, a missing one if `missing_above`."""

    feature: int
    threshold: float  # inf: only missing values are above
    missing_above: bool


class Evaluation(NamedTuple):
    """A candidate, at its own step."""

    alpha: float
    fall: float  # what the loss (2) falls by
    right: float  # sum of W over the pairs with the winner above
    wrong: float  # and with the loser above


def training_pairs(y, groups, query_weight=None):
    """Winner, loser and D of all pairs of queries of positive weight, and the rows of these."""
    q = np.ones(len(y)) if query_weight is None else np.asarray(query_weight, dtype=float)
    pairs = [
        (i, j)
        for i in range(len(y))
        for j in range(len(y))
        if groups[i] == groups[j] and y[i] > y[j] and q[i] > 0
    ]
    winner, loser = np.array(pairs, dtype=int).reshape(-1, 2).T
    counts = np.array([np.sum(groups[winner] == groups[i]) for i in winner])
    return winner, loser, q[winner] / counts, q > 0


def total_weight(groups, winner, query_weight=None):
    """The sum of the weights of the queries that have pairs."""
    q = np.ones(len(groups)) if query_weight is None else np.asarray(query_weight, dtype=float)
    return sum(q[groups == g][0] for g in set(groups[winner].tolist()))


def fidelity(o, target):
    """F(o), the loss of a pair."""
    with np.errstate(over="ignore"):
        p, not_p = 1 / (1 + np.exp(-o)), 1 / (1 + np.exp(o))
    return 1 - (np.sqrt(target * p) + np.sqrt((1 - target) * not_p))


def loss(o, D, target):
    """J (2)."""
    return float(np.sum(D * fidelity(o, target)))


def weights(o, D, target):
    """W (4), for moderate o."""
    e = np.exp(o)
    return D * (np.sqrt(target * e) - e * np.sqrt(1 - target)) / (1 + e) ** 1.5


def step_of(right, wrong, guard):
    """Alpha (3); the guard is added to both sums, after a negative one has counted as 0."""
    if max(right, wrong, guard) <= 0:
        return 0.0
    return 0.5 * np.log((max(right, 0) + guard) / (max(wrong, 0) + guard))


def is_above(X, feature, threshold, missing_above):
    """Which rows of `X` are above."""
    column = X[:, feature]
    return np.where(np.isnan(column), missing_above, column > threshold)


def candidates(X):
    """Every split of the training rows `X`, in order of (feature, threshold, missing_above)."""
    found = []
    for feature in range(X.shape[1]):
        column = X[:, feature]
        missing = np.isnan(column)
        values = sorted(set(column[~missing].tolist()))
        for low, high in pairwise(values):
            threshold = low + (high - low) / 2
            if missing.any():
                sides = [False, True]
            else:
                sides = [bool(2 * np.sum(column > threshold) > len(column))]
            found += [Candidate(feature, threshold, side) for side in sides]
        if missing.any() and values:
            found.append(Candidate(feature, np.inf, True))
    return found


def evaluate(X, candidate, o, winner, loser, D, target):
    """Figure 2, (a.1) and (a.2)."""
    above = is_above(X, *candidate).astype(int)
    h = above[winner] - above[loser]
    W = weights(o, D, target)
    right, wrong = W[h == 1].sum(), W[h == -1].sum()
    alpha = step_of(right, wrong, 0.5 * np.abs(W).sum() / len(W))
    crossing = h != 0
    before = fidelity(o[crossing], target)
    after = fidelity(o[crossing] + alpha * h[crossing], target)
    return Evaluation(alpha, float(np.sum(D[crossing] * (before - after))), right, wrong)


def along(X, candidate, alphas, o, winner, loser, D, target):
    """Loss (2) where each of `alphas` is added above a split."""
    above = is_above(X, *candidate).astype(int)
    h = above[winner] - above[loser]
    return np.array([loss(o + alpha * h, D, target) for alpha in alphas])
