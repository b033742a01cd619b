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
