# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranking metrics from their definitions, one query and one position at a time.

Ties are handled by looking at rankings, never in closed form: the average enumerates every order of
the tied rows, so keep queries to a handful of rows.
"""

from itertools import pairwise, permutations
from math import log2

import numpy as np


def rankings(y_true, y_score, ties):
    """The rankings, as lists of rows, whose values the rule averages."""
    rows = range(len(y_true))
    if ties == "average":
        return [
            order
            for order in permutations(rows)
            if all(y_score[a] >= y_score[b] for a, b in pairwise(order))
        ]
    second_key = {
        "input": lambda i: i,
        "reverse": lambda i: -i,
        "worst": lambda i: y_true[i],
        "best": lambda i: -y_true[i],
    }[ties]
    return [sorted(rows, key=lambda i: (-y_score[i], second_key(i)))]


def expected(value_of_ranking, y_true, y_score, ties):
    return np.mean([value_of_ranking(r) for r in rankings(y_true, y_score, ties)])


def discounted_gain(order, y_true, k, gain, discount):
    total = 0.0
    for position, row in enumerate(order, start=1):
        if k is not None and position > k:
            break
        g = 2 ** y_true[row] - 1 if gain == "exponential" else y_true[row]
        if discount == "log2":
            total += g / log2(1 + position)
        else:
            total += g if position <= 2 else g / log2(position)
    return total


def dcg(y_true, y_score, k=None, gain="exponential", discount="log2", ties="average"):
    return expected(lambda r: discounted_gain(r, y_true, k, gain, discount), y_true, y_score, ties)


def ndcg(
    y_true, y_score, k=None, gain="exponential", discount="log2", ties="average", short="clip"
):
    """NaN where undefined."""
    if max(y_true) == 0:
        return np.nan
    if short == "zero" and k is not None and len(y_true) < k:
        return 0.0
    best = sorted(range(len(y_true)), key=lambda i: -y_true[i])
    ideal = discounted_gain(best, y_true, k, gain, discount)
    return dcg(y_true, y_score, k, gain, discount, ties) / ideal


def average_precision(
    y_true, y_score, k=None, relevant_from=1, denominator="relevant", ties="average"
):
    """NaN where undefined."""
    relevant = [y >= relevant_from for y in y_true]
    cut = len(y_true) if k is None else k

    def precision_sum(order):
        hits, total = 0, 0.0
        for position, row in enumerate(order[:cut], start=1):
            if relevant[row]:
                hits += 1
                total += hits / position
        return total

    count = sum(relevant)
    if count == 0:
        return np.nan
    divisor = count if denominator == "relevant" else min(count, cut)
    return expected(precision_sum, y_true, y_score, ties) / divisor


def precision_at_k(y_true, y_score, k, relevant_from=1, ties="average", short="pad"):
    n = len(y_true)
    if short == "zero" and n < k:
        return 0.0
    # Rows count by the grade they have, so "worst" and "best" need relevance, not the grade.
    relevant = [float(y >= relevant_from) for y in y_true]
    divisor = min(n, k) if short == "clip" else k
    return expected(lambda r: sum(relevant[i] for i in r[:k]), relevant, y_score, ties) / divisor


def expected_reciprocal_rank(y_true, y_score, max_grade, k=None, ties="average"):
    """NaN where undefined."""
    if max(y_true) <= 0:
        return np.nan
    stop = [(2.0**y - 1) / 2.0**max_grade for y in y_true]

    def value(order):
        total, reads_on = 0.0, 1.0
        for position, row in enumerate(order[:k], start=1):
            total += reads_on * stop[row] / position
            reads_on *= 1 - stop[row]
        return total

    return expected(value, y_true, y_score, ties)


def comparable_pairs(y_true):
    """(winner, loser) of every pair of rows of different grades."""
    rows = range(len(y_true))
    return [(i, j) for i in rows for j in rows if y_true[i] > y_true[j]]


def kendall_tau_distance(y_true, y_score, denominator="comparable", ties="average"):
    """NaN where undefined."""
    n = len(y_true)
    pairs = comparable_pairs(y_true)
    if not pairs:
        return np.nan
    z = len(pairs) if denominator == "comparable" else n * (n - 1) / 2
    if ties == "agree":
        return sum(y_score[i] < y_score[j] for i, j in pairs) / z
    return (
        expected(
            lambda order: sum(order.index(i) > order.index(j) for i, j in pairs),
            y_true,
            y_score,
            "average",
        )
        / z
    )


def precision_of_surest_pairs(y_true, y_score, groups, share):
    """All orders of the pairs that the scores allow, and of the rows of every tied pair."""
    gaps = [y_score[i] - y_score[j] for i, j in comparable_pairs(y_true) if groups[i] == groups[j]]
    m = max(1, round(share * len(gaps)))
    values = []
    for order in permutations(gaps):
        if all(abs(a) >= abs(b) for a, b in pairwise(order)):
            values.append(sum((np.sign(gap) + 1) / 2 for gap in order[:m]) / m)
    return np.mean(values)


def mean_over_queries(metric, y_true, y_score, groups, undefined="skip", weight=None):
    """Values of the queries by id, and their mean under the rule for undefined ones."""
    values, weights = {}, {}
    for query in dict.fromkeys(groups):
        rows = [i for i, g in enumerate(groups) if g == query]
        value = metric([y_true[i] for i in rows], [y_score[i] for i in rows])
        if np.isnan(value) and undefined != "skip":
            value = undefined
        values[query] = value
        weights[query] = 1.0 if weight is None else weight[rows[0]]
    counted = [q for q in values if not np.isnan(values[q])]
    total = sum(weights[q] for q in counted)
    mean = sum(weights[q] * values[q] for q in counted) / total if counted else np.nan
    return values, mean
