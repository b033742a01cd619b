# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of scores in slow NumPy, pair by pair and query by query, sharing no code.

Every public loss has a function of its name in `VALUES`, which returns the loss of one query.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Sums(NamedTuple):
    """Loss of each query, and of each row what its name says; the Hessian as a matrix."""

    value: np.ndarray
    gradient: np.ndarray
    count: np.ndarray  # weights of the active pairs of a row
    hessian: np.ndarray
    degree: np.ndarray  # weights of all pairs of a row
    n_pairs: int


def graded_pairs(y, offsets):
    """(query, winner, loser) of all pairs of a query with different grades; NaN is in none."""
    return [
        (q, i, j)
        for q, (start, stop) in enumerate(pairwise(offsets))
        for i in range(start, stop)
        for j in range(start, stop)
        if y[i] > y[j]
    ]


def tied_pairs(y, offsets):
    """(query, row, row) of all pairs of a query with one grade, each once."""
    return [
        (q, i, j)
        for q, (start, stop) in enumerate(pairwise(offsets))
        for i in range(start, stop)
        for j in range(i + 1, stop)
        if y[i] == y[j]
    ]


def pair_sums(pairs, h, n_queries, hinge, margin, weight=None):
    """Sums of m^2 / 2, m = margin - (h_i - h_j), of the positive ones only if `hinge`."""
    n = len(h)
    value, gradient, count, degree = np.zeros(n_queries), np.zeros(n), np.zeros(n), np.zeros(n)
    hessian = np.zeros((n, n))
    for p, (q, i, j) in enumerate(pairs):
        w = 1.0 if weight is None else weight[p]
        degree[[i, j]] += w
        m = margin(i, j) - (h[i] - h[j])
        if hinge and m <= 0:
            continue
        value[q] += w * m**2 / 2
        gradient[i] -= w * m
        gradient[j] += w * m
        count[[i, j]] += w
        hessian[[i, j], [i, j]] += w
        hessian[[i, j], [j, i]] -= w
    return Sums(value, gradient, count, hessian, degree, len(pairs))


def graded_hinge(y, h, offsets, margin):
    """Squared hinge of all pairs; `margin` is a number or "grade"."""
    pairs = graded_pairs(y, offsets)
    tau = (lambda i, j: y[i] - y[j]) if margin == "grade" else (lambda i, j: margin)
    return pair_sums(pairs, h, len(offsets) - 1, True, tau)


def tied(y, h, offsets):
    """Squared differences of the pairs of one grade."""
    pairs = tied_pairs(y, offsets)
    return pair_sums(pairs, h, len(offsets) - 1, False, lambda i, j: 0.0)


def squared_error(y, h):
    return sum((y[i] - h[i]) ** 2 / 2 for i in range(len(y)))


def squared_hinge(y, h, margin="grade"):
    total = 0.0
    for i, j in _differing(y):
        tau = y[i] - y[j] if margin == "grade" else margin
        total += max(tau - (h[i] - h[j]), 0.0) ** 2 / 2
    return total


def targets(y, of_grades, tie_weight):
    """(i, j, P*, weight) of each pair; those of equal grades take part beside others."""
    found = []
    for i, j in _differing(y):
        if callable(of_grades):
            P = float(of_grades(np.array([y[i]]), np.array([y[j]]))[0])
        elif isinstance(of_grades, dict):
            P = of_grades[y[i] - y[j]]
        else:
            P = of_grades
        found.append((i, j, P, 1.0))
    if found:
        found += [(i, j, 0.5, tie_weight) for i in range(len(y)) for j in range(i) if y[i] == y[j]]
    return found


def logistic_pairs(y, h, sigmoid=1.0, target_probability=1.0, tie_weight=0.0):
    """Cross entropy, C of the FRank paper's section 2."""
    total = 0.0
    for i, j, P, weight in targets(y, target_probability, tie_weight):
        o = sigmoid * (h[i] - h[j])
        total += weight * (P * np.logaddexp(0.0, -o) + (1 - P) * np.logaddexp(0.0, o))
    return total


def fidelity_pairs(y, h, target_probability=1.0, tie_weight=0.0):
    """Equation 2 of the FRank paper, with D = 1."""
    total = 0.0
    for i, j, P, weight in targets(y, target_probability, tie_weight):
        s = np.exp(-np.logaddexp(0.0, h[j] - h[i]))
        rest = np.exp(-np.logaddexp(0.0, h[i] - h[j]))
        total += weight * (1 - np.sqrt(P * s) - np.sqrt((1 - P) * rest))
    return total


def exponential_pairs(y, h, distance="logistic", alpha=0.5, lam=3.0, beta=0.5):
    """Equation 10 of the MPBoost paper; beyond e^300 linear in the logarithm."""
    exponents = [
        -_directed_distance(y[i] - y[j], distance, alpha, lam, beta) * (h[i] - h[j])
        for i, j in _differing(y)
    ]
    if not exponents:
        return 0.0
    log = max(exponents) + np.log(sum(np.exp(e - max(exponents)) for e in exponents))
    return sum(np.exp(e) for e in exponents) if log <= 300 else np.exp(300) * (1 + log - 300)


def _directed_distance(gap, distance, alpha, lam, beta):
    """Equations 6 to 8."""
    if distance == "linear":
        return alpha * gap
    if distance == "logarithmic":
        return np.log(1 + lam * gap)
    return 1 / (1 + np.exp(-beta * gap)) if distance == "logistic" else 1.0


def list_cross_entropy(y, h, temperature):
    if len(set(y)) == 1:
        return 0.0
    y = [v / temperature for v in y]
    e = [np.exp(v - max(y)) for v in y]
    log_sum = max(h) + np.log(sum(np.exp(v - max(h)) for v in h))
    return -sum(e[i] / sum(e) * (h[i] - log_sum) for i in range(len(y)))


def list_ndcg_cross_entropy(y, h, gamma):
    """As the XE-NDCG paper has it, with less drawn where gains differ by less than 1."""
    if len(set(y)) == 1:
        return 0.0
    width = min(1.0, 2 ** max(y) - 2 ** min(y))
    phi = [2 ** y[i] - width * gamma[i] for i in range(len(y))]
    log_sum = max(h) + np.log(sum(np.exp(v - max(h)) for v in h))
    return -sum(phi[i] / sum(phi) * (h[i] - log_sum) for i in range(len(y)))


def approx_ndcg(y, h, temperature=1.0):
    """As Qin, Liu and Li have it, with their alpha the inverse of the temperature."""
    if len(set(y)) == 1:
        return 0.0
    n, dcg = len(y), 0.0
    for i in range(n):
        others = [(h[i] - h[k]) / temperature for k in range(n) if k != i]
        rank = 1 + sum(np.exp(-np.logaddexp(0.0, d)) for d in others)
        dcg += (2 ** y[i] - 1) / np.log2(1 + rank)
    best = sorted(y, reverse=True)
    return 1 - dcg / sum((2 ** best[p] - 1) / np.log2(2 + p) for p in range(n))


def list_likelihood(y, h):
    """Rows above the lowest grade, each chosen from all rows of its grade or below."""
    total = 0.0
    for i in range(len(y)):
        if y[i] > min(y):
            left = [h[k] for k in range(len(y)) if y[k] <= y[i]]
            total += max(left) + np.log(sum(np.exp(v - max(left)) for v in left)) - h[i]
    return total


def list_cosine(y, h, center=True):
    if len(set(y)) == 1:
        return 0.0
    n = len(y)
    y_mean, h_mean = (sum(y) / n, sum(h) / n) if center else (0.0, 0.0)
    product = sum((y[i] - y_mean) * (h[i] - h_mean) for i in range(n))
    of_grades = sum((v - y_mean) ** 2 for v in y)
    of_scores = sum((v - h_mean) ** 2 for v in h)
    return (1 - product / np.sqrt(of_grades * (of_scores + n))) / 2


def _differing(y):
    return [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]


VALUES = {
    "ApproxNDCG": approx_ndcg,
    "ExponentialPairs": exponential_pairs,
    "FidelityPairs": fidelity_pairs,
    "ListCosine": list_cosine,
    "ListCrossEntropy": list_cross_entropy,
    "ListLikelihood": list_likelihood,
    "ListNDCGCrossEntropy": list_ndcg_cross_entropy,
    "LogisticPairs": logistic_pairs,
    "SquaredError": squared_error,
    "SquaredHinge": squared_hinge,
}
