# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""YetiRank's pairs, gradients and second derivatives from their formulas, one query at a time.

Uniform numbers are a table with a row for each permutation and a column for each row of the query.
"""

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np

WORD = 2**64


class Sums(NamedTuple):
    """Loss of a query, total weight of its pairs, and derivatives of each row."""

    value: float
    weight: float
    gradient: np.ndarray
    hessian_diagonal: np.ndarray


def splitmix(key, number):
    """Output of the generator by Steele, Lea and Flood (2014) after `number` + 1 steps."""
    x = (key + (number + 1) * 0x9E3779B97F4A7C15) % WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
    return x ^ x >> 31


def uniforms(seed, query, n_permutations, n_rows):
    """In the middle of one of 2^52 parts of the interval from 0 to 1, each as likely."""
    of_query = splitmix(seed, query)
    return [
        [((splitmix(splitmix(of_query, p), i) >> 12) + 0.5) / 2**52 for i in range(n_rows)]
        for p in range(n_permutations)
    ]


def order_of(s, u):
    """Numbers of the rows by descending z, ties as they come."""
    top = max(s)  # which makes no difference but to rounding
    z = [s[i] - top + log(u[i] / (1 - u[i])) for i in range(len(s))]
    return sorted(range(len(s)), key=lambda i: -z[i])


def drawn_pairs(y, s, table, decay):
    """(better, worse, weight) of each pair of neighbours of different grades."""
    for u in table:
        order = order_of(s, u)
        for k in range(len(order) - 1):
            i, j = order[k], order[k + 1]
            if y[i] != y[j]:
                weight = decay**k * abs(y[i] - y[j]) / len(table)
                yield (i, j, weight) if y[i] > y[j] else (j, i, weight)


def all_pairs(y):
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                yield i, j, y[i] - y[j]


def logistic(pairs, s):
    """Sums over pairs of their logistic loss and of its derivatives, each times its weight."""
    value = total = 0.0
    G, H = np.zeros((2, len(s)))
    for i, j, w in pairs:
        d = s[i] - s[j]
        x = exp(-abs(d))
        rho = (x if d > 0 else 1) / (1 + x)
        right = (1 if d > 0 else x) / (1 + x)
        value += w * (max(-d, 0.0) + log1p(x))
        total += w
        G[i] -= w * rho
        G[j] += w * rho
        H[[i, j]] += w * rho * right
    return Sums(value, total, G, H)


def of_queries(y, s, queries, seed, weights, n_permutations, decay, all_pairs_weight):
    """Loss of each query; gradient and curvature of each row, times the weight of its query."""
    drawn, every = [], []
    for number, rows in enumerate(queries):
        table = uniforms(seed, number, n_permutations, len(y[rows]))
        drawn.append(logistic(drawn_pairs(y[rows], s[rows], table, decay), s[rows]))
        every.append(logistic(all_pairs(y[rows]), s[rows]))
    of_drawn = sum(w * sums.weight for w, sums in zip(weights, drawn, strict=True))
    of_all = sum(w * sums.weight for w, sums in zip(weights, every, strict=True))
    factor = all_pairs_weight * of_drawn / of_all
    value = np.array([d.value + factor * a.value for d, a in zip(drawn, every, strict=True)])
    G, H = (
        np.concatenate(
            [
                w * (getattr(d, name) + factor * getattr(a, name))
                for w, d, a in zip(weights, drawn, every, strict=True)
            ]
        )
        for name in ("gradient", "hessian_diagonal")
    )
    return value, G, np.maximum(H, np.abs(G) / 100)
