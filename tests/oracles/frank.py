# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FRank (Tsai et al., SIGIR 2007) in slow NumPy, from the paper, sharing no code with the package.

Numbers in parentheses are the paper's equations. Pair p says that row `winner[p]` has a higher
grade than row `loser[p]` of its query, or the same if ties count; D[p] is its weight (1), o[p] its
score difference. `target` is P*, a number or one for each pair.
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


def training_pairs(y, groups, query_weight=None, tie_weight=0.0):
    """Winner, loser and D of all pairs of queries of positive weight, and the rows of these.

    Pairs of equal grades take part in queries of several grades, with the weight `tie_weight`.
    """
    q = np.ones(len(y)) if query_weight is None else np.asarray(query_weight, dtype=float)
    pairs = [
        (i, j)
        for i in range(len(y))
        for j in range(len(y))
        if groups[i] == groups[j] and y[i] > y[j] and q[i] > 0
    ]
    with_order = {groups[i] for i, _ in pairs}
    if tie_weight > 0:
        pairs += [
            (i, j)
            for i in range(len(y))
            for j in range(i)
            if groups[i] == groups[j] and y[i] == y[j] and q[i] > 0 and groups[i] in with_order
        ]
    winner, loser = np.array(pairs, dtype=int).reshape(-1, 2).T
    w = np.where(y[winner] == y[loser], tie_weight, 1.0)
    counts = np.array([np.sum(w[groups[winner] == groups[i]]) for i in winner])
    return winner, loser, q[winner] * w / counts, q > 0


def targets(y, winner, loser, of_grades):
    """P* of each pair: 1/2 of a tie, else `of_grades` of its two grades."""
    pairs = zip(y[winner].tolist(), y[loser].tolist(), strict=True)
    return np.array([0.5 if high == low else of_grades(high, low) for high, low in pairs])


def combined(p, q):
    """P(i > k) by property (3) of section 3.1, of independent P(i > j) = p and P(j > k) = q."""
    return p * q / (p * q + (1 - p) * (1 - q))


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


def weight_terms(o, D, target):
    """The two terms of W (4), for moderate o: W is the first minus the second."""
    e = np.exp(o)
    return (
        D * np.sqrt(target * e) / (1 + e) ** 1.5,
        D * e * np.sqrt(1 - target) / (1 + e) ** 1.5,
    )


def weights(o, D, target):
    """W (4), for moderate o."""
    first, second = weight_terms(o, D, target)
    return first - second


def sides(h, o, D, target):
    """What stands on the two sides of the equation before (3), each term with the sign +.

    The derivative of the loss is 0 where, over the pairs of h = 1 and of h = -1,
    ``sum(A(o + a) - B(o + a) if h == 1) = sum(A(o - a) - B(o - a) if h == -1)`` with A and B the
    terms of (4). With the denominators frozen at a = 0, A(o + a) is A(o) exp(-a), but B(o + a) is
    B(o) exp(a), where the paper has a misprint: so B goes to the other side.
    """
    A, B = weight_terms(o, D, target)
    right = A[h == 1].sum() + B[h == -1].sum()
    wrong = A[h == -1].sum() + B[h == 1].sum()
    return right, wrong


def step_of(right, wrong, guard):
    """Alpha (3); the guard is added to both sums."""
    if max(right, wrong, guard) <= 0:
        return 0.0
    return 0.5 * np.log((right + guard) / (wrong + guard))


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
    right, wrong = sides(h, o, D, target)
    alpha = step_of(right, wrong, 0.5 * np.sum(weight_terms(o, D, target)) / len(o))
    crossing = h != 0
    P = np.broadcast_to(target, o.shape)[crossing]
    before = fidelity(o[crossing], P)
    after = fidelity(o[crossing] + alpha * h[crossing], P)
    return Evaluation(alpha, float(np.sum(D[crossing] * (before - after))), right, wrong)


def along(X, candidate, alphas, o, winner, loser, D, target):
    """Loss (2) where each of `alphas` is added above a split."""
    above = is_above(X, *candidate).astype(int)
    h = above[winner] - above[loser]
    return np.array([loss(o + alpha * h, D, target) for alpha in alphas])
