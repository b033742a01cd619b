# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""McRank (Li, Burges and Wu, NIPS 2007) in slow NumPy, from the paper, sharing no code.

The loops take `fit_tree`, a function from a target to the regions R_1 ... R_J of a regression tree
grown on it: arrays of rows that together hold each row once. So a test decides what grows the
trees, and can look at every target. `weight` is the weight of a row, as if it were there that
often. Levels are numbered 0 ... K - 1.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Round(NamedTuple):
    """What a round did."""

    F: np.ndarray  # after it, (N, K); (N,) in regression and of the binary problems (N, K - 1)
    values: list  # of one array a tree, the betas of its regions


def softmax(F):
    """Line 4 of Algorithm 1."""
    e = np.exp(F - F.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def leaf_value(residual, p, n_classes, weight=None, l2=0.0, largest=np.inf):
    """Line 6 of Algorithm 1, beta, which without `l2` is at most `largest`."""
    w = np.ones(len(p)) if weight is None else weight
    numerator = (n_classes - 1) / n_classes * np.sum(w * residual)
    denominator = max(np.sum(w * (1 - p) * p), abs(numerator) / largest) + l2
    return numerator / denominator if denominator > 0 else 0.0


def friedman_leaf_value(residual, n_classes):
    """Line 2(b)ii of Friedman's Algorithm 6, gamma, which sees residuals only."""
    size = np.abs(residual)
    return (n_classes - 1) / n_classes * np.sum(residual) / np.sum(size * (1 - size))


def regression(y, n_rounds, learning_rate, fit_tree, *, gain="exponential", weight=None, l2=0.0):
    """Algorithm 2, a generator of each `Round`."""
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    target = 2.0 ** np.asarray(y) - 1 if gain == "exponential" else np.asarray(y, dtype=float)
    S = np.full(len(y), np.sum(w * target) / np.sum(w))
    for _ in range(n_rounds):
        residual = target - S
        regions = fit_tree(residual)
        values = []
        for R in regions:
            values.append(np.sum((w * residual)[R]) / (np.sum(w[R]) + l2))
            S[R] += learning_rate * values[-1]
        yield Round(S.copy(), [np.array(values)])


def classification(
    level,
    n_classes,
    n_rounds,
    learning_rate,
    fit_tree,
    *,
    literal=False,
    weight=None,
    l2=0.0,
    largest=np.inf,
    prior=False,
    newton=False,
):
    """Algorithm 1, a generator of each `Round`.

    Line 4 stands inside the loop over classes. With `literal` each class sees what the tree of
    the class before it did to the probabilities; otherwise all classes of a round see the same
    ones, as in Friedman's Algorithm 6, from which Algorithm 1 is taken.

    With `prior` it starts from the logarithms of the classes' shares, with `newton` `fit_tree` gets
    the residual over the second derivative, and that.
    """
    level = np.asarray(level)
    w = np.ones(len(level)) if weight is None else np.asarray(weight, dtype=float)
    is_class = (level[:, None] == np.arange(n_classes)).astype(float)
    F = np.zeros((len(level), n_classes))
    if prior:
        F += prior_of_classes(level, n_classes, w)
    for _ in range(n_rounds):
        p = softmax(F)
        values = []
        for k in range(n_classes):
            if literal:
                p = softmax(F)
            residual = is_class[:, k] - p[:, k]
            regions = fit_tree(*target_of(residual, p[:, k], newton, largest))
            beta = [leaf_value(residual[R], p[R, k], n_classes, w[R], l2, largest) for R in regions]
            for R, value in zip(regions, beta, strict=True):
                F[R, k] += learning_rate * value
            values.append(np.array(beta))
        yield Round(F.copy(), values)


def ordinal_by_two_classes(
    level, n_classes, n_rounds, learning_rate, fit_tree, *, weight=None, l2=0.0
):
    """Section 4 literally, a generator of P(y >= k), k = 1 ... K - 1, after each round.

    Each of the K - 1 partitions {y <= k - 1}, {y >= k} is a problem of two classes for Algorithm 1,
    which grows two trees a round.
    """
    problems = [
        classification(
            np.asarray(level) >= k, 2, n_rounds, learning_rate, fit_tree, weight=weight, l2=l2
        )
        for k in range(1, n_classes)
    ]
    for rounds in zip(*problems, strict=True):
        yield np.column_stack([softmax(r.F)[:, 1] for r in rounds])


def prior_of_classes(level, n_classes, w):
    """Logarithms of the shares of the classes."""
    return np.log([w[level == k].sum() / w.sum() for k in range(n_classes)])


def prior_of_levels(level, n_classes, w):
    """Logarithms of the odds of being of a class or above."""
    above = np.array([w[level >= k].sum() for k in range(1, n_classes)])
    return np.log(above / (w.sum() - above))


def target_of(residual, p, newton, largest):
    """What a tree is to fit, and with which weights."""
    if not newton:
        return (residual,)
    h = np.maximum(p * (1 - p), abs(residual) / largest)
    return np.where(h > 0, residual / np.where(h > 0, h, 1), 0), h


def ordinal(
    level,
    n_classes,
    n_rounds,
    learning_rate,
    fit_tree,
    *,
    weight=None,
    l2=0.0,
    largest=np.inf,
    prior=False,
    newton=False,
):
    """Section 4 with one tree for f = F_1 - F_0 of each problem, a generator of each `Round`.

    The trees for F_0 and F_1 are grown on residuals of opposite sign. (K - 1) / K = 1 / 2 of
    each is one whole step of f.
    """
    level = np.asarray(level)
    w = np.ones(len(level)) if weight is None else np.asarray(weight, dtype=float)
    f = np.zeros((len(level), n_classes - 1))
    if prior:
        f += prior_of_levels(level, n_classes, w)
    for _ in range(n_rounds):
        values = []
        for k in range(1, n_classes):
            p = sigmoid(f[:, k - 1])
            residual = (level >= k) - p
            regions = fit_tree(*target_of(residual, p, newton, largest))
            beta = [2 * leaf_value(residual[R], p[R], 2, w[R], l2, largest / 2) for R in regions]
            for R, value in zip(regions, beta, strict=True):
                f[R, k - 1] += learning_rate * value
            values.append(np.array(beta))
        yield Round(f.copy(), values)


def sigmoid(f):
    return 1 / (1 + np.exp(-f))


def class_probabilities(at_least):
    """(8): P(y = k) from P(y >= k), k = 1 ... K - 1; some may be negative."""
    n = len(at_least)
    at_most = np.column_stack([1 - at_least, np.ones(n)])  # P(y <= k), k = 0 ... K - 1
    return np.diff(at_most, axis=1, prepend=0.0)


def expected_relevance(p, T):
    """(5)."""
    return sum(p[:, k] * T[k] for k in range(p.shape[1]))


def ordinal_score(at_least, T):
    """(5) of (8), summed by parts: needs no class probabilities."""
    score = np.full(len(at_least), float(T[0]))
    for k in range(1, len(T)):
        score = score + (T[k] - T[k - 1]) * at_least[:, k - 1]
    return score


def dcg(y, order, c):
    """(1): `order` holds the rows from the first position to the last."""
    return float(sum(c[i] * (2.0 ** y[row] - 1) for i, row in enumerate(order)))


def lemma_1(y, y_hat, c):
    """Right side of (4)."""
    n = len(y)
    c = np.asarray(c, dtype=float)
    spread = np.sum(c**2) - n * np.prod(c ** (2 / n))
    # The two are equal when all c are, which rounding may turn into less than 0.
    return float(15 * np.sqrt(2) * np.sqrt(max(spread, 0.0)) * np.sqrt(np.sum(y != y_hat)))


def adaptive_bins(values, max_bins, length=1e-8):
    """Appendix I: the bins as lists of ascending values, and the length that they took.

    A bin starts at the smallest value that is in none yet, and takes what is at most `length`
    larger. If it takes more than `max_bins` of them the length is doubled; the paper says
    "increment" only.
    """
    values = sorted(v for v in np.asarray(values, dtype=float).tolist() if not np.isnan(v))
    while True:
        bins = []
        for v in values:
            if bins and v - bins[-1][0] <= length:
                bins[-1].append(v)
            else:
                bins.append([v])
        if len(bins) <= max_bins:
            return bins, length
        length *= 2


def adaptive_thresholds(values, max_bins, length=1e-8):
    """Halfway between the largest value of a bin and the smallest one of the next."""
    bins, _ = adaptive_bins(values, max_bins, length)
    return [below[-1] + (above[0] - below[-1]) / 2 for below, above in pairwise(bins)]
