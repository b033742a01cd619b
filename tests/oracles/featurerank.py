# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FeatureRank (Wang and Mao) in slow NumPy, from the paper, without package code.

Readings taken: class centres are means over queries of the means in each query's intervals; rows
of one grade share what they cover; a value belongs to the class of the nearest centre, the higher
class if two are equally near; equation (4) has its two cases exchanged, or, with `lower`, other
conditions; T is over the pairs of different grades and a tied pair counts half; h is (r - 1/2) / n.
"""

from fractions import Fraction
from math import exp, fsum, log
from typing import NamedTuple

import numpy as np


class Round(NamedTuple):
    """What is done with feature m."""

    centers: np.ndarray  # of class 1, ..., K
    margin: float  # how clearly the nearest centre of every value is the nearest
    h: np.ndarray  # ranks of all rows of learnable queries; others NaN
    beta: float
    f: np.ndarray
    T: float  # mean over the queries after this feature


def rows_by_query(y, groups):
    """Rows of each query that has two grades."""
    queries = [np.flatnonzero([g == q for g in groups]) for q in dict.fromkeys(groups)]
    return [rows for rows in queries if len(set(y[rows])) > 1]


def interval_means(x, y, K):
    """Mean of x in each of K intervals of the list, first the one of the highest grades."""
    n = len(y)
    order = sorted(range(n), key=lambda i: -y[i])
    # Rows of one grade are exchangeable: each position of theirs holds their mean.
    at_position = []
    for i in order:
        tied = [x[j] for j in range(n) if y[j] == y[i]]
        at_position.append(fsum(tied) / len(tied))
    means = []
    for k in range(K):
        begin, end = Fraction(k * n, K), Fraction((k + 1) * n, K)
        parts = [max(Fraction(0), min(end, p + 1) - max(begin, p)) for p in range(n)]
        length = end - begin
        means.append(fsum(float(a / length) * v for a, v in zip(parts, at_position, strict=True)))
    return means


def class_centers(x, y, queries, weight, K):
    """C_1, ..., C_K."""
    of_queries = [interval_means(x[rows], y[rows], K) for rows in queries]
    total = fsum(weight)
    first_to_last = [
        fsum(v * means[k] for v, means in zip(weight, of_queries, strict=True)) / total
        for k in range(K)
    ]
    return np.array(first_to_last[::-1])


def class_of(value, centers):
    """The class, from 0, and by how much the next centre, if it is another, is farther."""
    distance = [abs(value - c) for c in centers]
    chosen = max(k for k, d in enumerate(distance) if d == min(distance))
    others = [
        d - min(distance) for d, c in zip(distance, centers, strict=True) if c != centers[chosen]
    ]
    return chosen, min(others, default=np.inf)


def key(value, centers, lower=False):
    """Equations (3) and (4): keys compare as values do."""
    K = len(centers)
    k, _ = class_of(value, centers)
    if lower:
        difference = centers[k] - centers[k - 1] if k > 0 else centers[1] - centers[0]
    else:
        difference = centers[k + 1] - centers[k] if k < K - 1 else centers[k] - centers[k - 1]
    return k, float(np.sign(difference)) * value


def ranks(keys):
    """(r - 1/2) / n, the best has r = n; equal keys share their mean rank."""
    n = len(keys)
    return [(sum(b < a for b in keys) + sum(b == a for b in keys) / 2) / n for a in keys]


def tau_distance(y, scores):
    """T of one query."""
    wrong, z = Fraction(0), 0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                z += 1
                wrong += Fraction(int(scores[i] < scores[j])) + Fraction(
                    int(scores[i] == scores[j]), 2
                )
    return float(wrong / z)


def featurerank(
    X, y, groups, K, query_weight=None, follow=None, columns=None, lower=False, E_of=None
):
    """Table 1, a generator of each `Round`.

    `E_of` makes E of the grades and scores of a query; None is 1 - 2 T.

    With `follow`, a list of (centers, beta) of a fitted model, each round uses these in the place
    of its own, so that rounding cannot part the two.
    """
    queries = rows_by_query(y, groups)
    v = np.ones(len(queries))
    if query_weight is not None:
        v = np.array([query_weight[rows[0]] for rows in queries])
        queries = [rows for rows, weight in zip(queries, v, strict=True) if weight > 0]
        v = v[v > 0]
    w = [1.0] * len(queries)
    f = np.zeros(len(y))
    if E_of is None:

        def E_of(y, scores):
            return 1 - 2 * tau_distance(y, scores)

    for m, column in enumerate(range(X.shape[1]) if columns is None else columns):
        x = X[:, column]
        found = class_centers(x, y, queries, v, K)
        centers = found if follow is None else follow[m][0]
        margin = min(class_of(value, centers)[1] for rows in queries for value in x[rows])
        h = np.full(len(y), np.nan)
        for rows in queries:
            h[rows] = ranks([key(value, centers, lower) for value in x[rows]])
        E = [E_of(y[rows], h[rows]) for rows in queries]
        above = fsum(a * b * (1 + e) for a, b, e in zip(v, w, E, strict=True))
        below = fsum(a * b * (1 - e) for a, b, e in zip(v, w, E, strict=True))
        least = np.finfo(float).eps / 2 * (above + below)
        found_beta = 0.5 * log(max(above, least) / max(below, least))
        beta = found_beta if follow is None else follow[m][1]
        f = f + beta * h
        E = [E_of(y[rows], f[rows]) for rows in queries]
        w = [exp(-e) for e in E]
        T = fsum(a * (1 - e) / 2 for a, e in zip(v, E, strict=True)) / fsum(v)
        yield Round(found, margin, h, found_beta, f, T)
