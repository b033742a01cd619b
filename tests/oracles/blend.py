# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of standardised scores in plain Python, with exact sums and no package code."""

from math import fsum, sqrt


def standardized(scores):
    """Scores less their mean, over their standard deviation; 0 where they are all the same."""
    if min(scores) == max(scores):
        return [0.0] * len(scores)
    mean = fsum(scores) / len(scores)
    deviation = sqrt(fsum((s - mean) ** 2 for s in scores) / len(scores))
    return [(s - mean) / deviation for s in scores]


def moments(scores, counts=None):
    """Mean and standard deviation, a row counting so many times."""
    counts = [1.0] * len(scores) if counts is None else counts
    total = fsum(counts)
    mean = fsum(c * s for c, s in zip(counts, scores, strict=True)) / total
    squares = fsum(c * (s - mean) ** 2 for c, s in zip(counts, scores, strict=True))
    return mean, sqrt(squares / total)


def blend_within_queries(members, weights, groups):
    """The blend of the scores of several members, a list each, standardised within queries."""
    result = [0.0] * len(groups)
    for query in set(groups):
        rows = [i for i, group in enumerate(groups) if group == query]
        parts = [standardized([scores[i] for i in rows]) for scores in members]
        for k, i in enumerate(rows):
            result[i] = fsum(w * part[k] for w, part in zip(weights, parts, strict=True))
    return result


def blend_by_training_rows(members, weights, training):
    """The same with the mean and deviation of other scores of each member."""
    parts = []
    for scores, rows in zip(members, training, strict=True):
        mean, deviation = moments(rows)
        same = min(rows) == max(rows)
        parts.append([0.0 if same else (s - mean) / deviation for s in scores])
    return [
        fsum(w * p for w, p in zip(weights, row, strict=True)) for row in zip(*parts, strict=True)
    ]
