# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What hypothesis draws: small, awkward ranking problems, and how many of them."""

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

GRADES = {
    "three": st.sampled_from([0.0, 1.0, 2.0]),
    "five": st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.0]),
    "continuous": st.integers(0, 400).map(lambda k: k / 100),
    "negative": st.integers(-16, 16).map(lambda k: k / 8),
}
COLUMNS = ("values", "values", "binary", "constant", "complement", "copy", "missing")


def examples(n):
    """Have a test draw `n` examples where others draw 100, more or less as the profile does."""
    return settings(max_examples=max(n * settings.default.max_examples // 100, 1))


@dataclass
class RankingProblem:
    """What `fit` takes."""

    X: np.ndarray  # multiples of 1/8 or NaN, so that midpoints are exact
    y: np.ndarray
    groups: np.ndarray  # one integer or string id a row, the rows of a query interleaved
    query_weight: np.ndarray | None  # one entry a row, constant in a query, some zero

    def __iter__(self):
        return iter((self.X, self.y, self.groups, self.query_weight))


@st.composite
def ranking_problems(
    draw,
    *,
    max_queries=6,
    max_rows=8,
    max_features=4,
    grades=("three", "five", "continuous"),
    missing=True,
    weights=True,
):
    """Draw a `RankingProblem` with at least one pair in a query of positive weight.

    Parameters
    ----------
    max_queries, max_rows, max_features : int
        Largest number of queries, rows of a query (at least 2) and features; the smallest is 1.
    grades : tuple of str
        Kinds of grades to choose from: "three" (0-2), "five" (0-4), "continuous" (0-4 in steps
        of .01), "negative" (-2 to 2 in steps of 1/8).
    missing : bool
        Allow NaN cells and columns.
    weights : bool
        Allow query weights; else `query_weight` is None.
    """
    sizes = draw(st.lists(st.integers(1, max_rows), min_size=1, max_size=max_queries))
    informative = draw(st.integers(0, len(sizes) - 1))
    sizes[informative] = max(2, sizes[informative])
    n = sum(sizes)
    query = np.repeat(np.arange(len(sizes)), sizes)

    grade = GRADES[draw(st.sampled_from(grades))]
    y = np.array(draw(st.lists(grade, min_size=n, max_size=n)))
    first = int(np.flatnonzero(query == informative)[0])
    if len(set(y[query == informative])) == 1:
        y[first + 1] = draw(grade.filter(lambda g: g != y[first]))

    X = _matrix(draw, n, draw(st.integers(1, max_features)), missing)

    if draw(st.booleans()):
        ids = np.array(draw(_unique(st.integers(-3, 2**40), len(sizes))), dtype=np.int64)
    else:
        ids = np.array(draw(_unique(st.text("ab1 ", min_size=1, max_size=3), len(sizes))))

    query_weight = None
    if weights and draw(st.booleans()):
        weight = st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0])
        of_query = np.array(draw(st.lists(weight, min_size=len(sizes), max_size=len(sizes))))
        if of_query[informative] == 0:
            of_query[informative] = 2.0
        query_weight = of_query[query]

    order = np.array(draw(st.permutations(range(n))))
    return RankingProblem(
        X=X[order],
        y=y[order],
        groups=ids[query][order],
        query_weight=None if query_weight is None else query_weight[order],
    )


def _unique(elements, size):
    return st.lists(elements, min_size=size, max_size=size, unique=True)


def _matrix(draw, n, n_features, missing):
    eighths = st.integers(-16, 16).map(lambda k: k / 8)
    kinds = COLUMNS if missing else COLUMNS[:-1]
    columns = []
    for _ in range(n_features):
        kind = draw(st.sampled_from(kinds))
        if kind in ("complement", "copy") and not columns:
            kind = "binary"
        if kind == "constant":
            column = np.full(n, draw(eighths))
        elif kind == "missing":
            column = np.full(n, np.nan)
        elif kind == "copy":
            column = columns[-1].copy()
        elif kind == "complement":
            column = 1.0 - columns[-1]
        else:
            few = [0.0, 1.0]
            if kind == "values":
                few = draw(st.lists(eighths, min_size=2, max_size=6, unique=True)) + [-0.0]
            column = np.array(draw(st.lists(st.sampled_from(few), min_size=n, max_size=n)))
        if missing and kind in ("values", "binary", "constant") and draw(st.booleans()):
            cells = draw(st.lists(st.integers(0, n - 1), max_size=(n + 1) // 2, unique=True))
            column[cells] = np.nan
        columns.append(column)
    return np.column_stack(columns)
