# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LambdaRank's gradients from their definition, one query.

Every order of the tied rows is enumerated and every pair swapped, so keep queries to a handful of
rows. A metric is a function of a ranking, a list of rows with the best first.
"""

from itertools import combinations
from math import exp, log2

import numpy as np

from oracles.metrics import discounted_gain, rankings


def ndcg(y, k, T, gain="exponential", discount="log2"):
    """NDCG over the ideal of as many positions as may be the upper one of a pair."""
    depth = min(len(y) if k is None else k, T)
    best = sorted(range(len(y)), key=lambda i: -y[i])
    ideal = discounted_gain(best, y, depth, gain, discount)
    return lambda r: 0.0 if ideal == 0 else discounted_gain(r, y, k, gain, discount) / ideal


def average_precision(y, k, relevant_from=1, denominator="relevant"):
    relevant = [g >= relevant_from for g in y]
    k = len(y) if k is None else k
    divisor = sum(relevant) if denominator == "relevant" else min(sum(relevant), k)

    def value(ranking):
        hits = [p for p, row in enumerate(ranking, start=1) if relevant[row]]
        return sum(h / p for h, p in enumerate(hits, start=1) if p <= k) / max(divisor, 1)

    return value


def reciprocal_rank(y, k, relevant_from=1):
    def value(ranking):
        for position, row in enumerate(ranking, start=1):
            if y[row] >= relevant_from:
                return 1 / position if k is None or position <= k else 0.0
        return 0.0

    return value


def swap_changes(metric, order, T):
    """|change by the swap of i and j| as a matrix, in one order; 0 with both beyond T."""
    delta = np.zeros((len(order), len(order)))
    before = metric(order)
    for p, q in combinations(range(len(order)), 2):
        if p < T:
            swapped = list(order)
            swapped[p], swapped[q] = order[q], order[p]
            delta[order[p], order[q]] = delta[order[q], order[p]] = abs(metric(swapped) - before)
    return delta


def expected_changes(metric, y, scores, T):
    """`swap_changes` averaged over the orders of the tied rows."""
    return np.mean([swap_changes(metric, r, T) for r in rankings(y, scores, "average")], axis=0)


def lambdas(delta, gain, scores, sigmoid, query_norm):
    """Gradient and curvature from the changes, as LightGBM's lambdarank has them."""
    n = len(gain)
    gradient, curvature, total = np.zeros(n), np.zeros(n), 0.0
    spread = max(scores) != min(scores)
    for i in range(n):
        for j in range(n):
            if gain[i] <= gain[j]:
                continue
            difference = scores[i] - scores[j]
            weight = delta[i, j]
            if query_norm and spread:
                weight /= 0.01 + abs(difference)
            rho = 1 / (1 + exp(min(sigmoid * difference, 700)))
            gradient[i] -= sigmoid * rho * weight
            gradient[j] += sigmoid * rho * weight
            curvature[[i, j]] += sigmoid**2 * rho * (1 - rho) * weight
            total += 2 * sigmoid * rho * weight
    if query_norm and total > 0:
        gradient *= log2(1 + total) / total
        curvature *= log2(1 + total) / total
    return gradient, curvature
