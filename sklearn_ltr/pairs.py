# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Preference pairs within queries, each stored once as (winner, loser).

`GradedPairs` never lists its pairs: few distinct grades let sums over all pairs of a query be
computed from sums over its rows. `ExplicitPairs` lists them, for grades that hardly repeat.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sklearn_ltr._kernels import _pairs
from sklearn_ltr.validation import (
    LARGEST,
    SMALLEST,
    check_column,
    check_largest_weight,
    without_vanishing,
)

# More distinct grades than this and pairs are listed: the cost of implicit pairs grows with the
# number of grades.
MAX_GRADES = 32

# Listed pairs and the weight matrix of the longest query may take this many bytes.
MAX_BYTES = 4 * 2**30
BYTES_PER_PAIR = 4 + 4 + 8 + 8 + 24  # winner, loser, distance, weight; what `crossing` makes


def count_pairs(grade, offsets, n_grades):
    """Number of pairs of different grades within each query.

    Parameters
    ----------
    grade : ndarray of shape (n_samples,)
        Number of each row's grade, rows grouped by query.
    offsets : ndarray of shape (n_queries + 1,)
    n_grades : int

    Returns
    -------
    counts : ndarray of shape (n_queries,), dtype int64

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.pairs import count_pairs
    >>> count_pairs(np.array([2, 2, 1, 0, 0, 0]), np.array([0, 6]), 3)
    array([11])
    """
    sizes = np.diff(offsets).astype(np.int64)
    query = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    # Number of rows that share query and grade, for the (query, grade) that occur.
    cells, shared = np.unique(query * n_grades + grade, return_counts=True)
    squares = np.zeros(len(sizes), dtype=np.int64)
    np.add.at(squares, cells // n_grades, shared.astype(np.int64) ** 2)
    return (sizes**2 - squares) // 2


class GradedPairs:
    """All pairs of rows of one query with different grades, never enumerated.

    Parameters
    ----------
    grades : ndarray of shape (n_grades,), dtype float64
        Distinct grades, ascending.
    grade : ndarray of shape (n_samples,), dtype uint8
        Number of each row's grade in `grades`, rows grouped by query.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    n_pairs : int
    """

    def __init__(self, grades, grade, offsets, n_pairs):
        self.grades = grades
        self.grade = grade
        self.offsets = offsets
        self.n_pairs = n_pairs


class ExplicitPairs:
    """Pairs of rows, listed.

    Parameters
    ----------
    winner, loser : ndarray of shape (n_pairs,), dtype int32
        Rows, grouped by query.
    pair_offsets : ndarray of shape (n_queries + 1,), dtype intp
        Pairs of query ``q`` are ``pair_offsets[q]:pair_offsets[q + 1]``.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
        Rows of query ``q``.
    y : ndarray of shape (n_samples,), dtype float64, or None
        Grade of each row, where pairs come from grades.
    weight : ndarray of shape (n_pairs,), dtype float64, or None
        Weight of each pair; None is 1.
    margin : ndarray of shape (n_pairs,), dtype float64, or None
        Degree of each given preference; None is 1.
    """

    def __init__(self, winner, loser, pair_offsets, offsets, y=None, weight=None, margin=None):
        self.winner = winner
        self.loser = loser
        self.pair_offsets = pair_offsets
        self.offsets = offsets
        self.y = y
        self.weight = weight
        self.margin = margin
        self.n_pairs = len(winner)

    def select(self, mask):
        """The pairs of the queries where `mask` (n_queries,) is true, rows renumbered."""
        sizes, counts = np.diff(self.offsets)[mask], np.diff(self.pair_offsets)
        kept = np.repeat(mask, counts)
        offsets, pair_offsets = (
            np.concatenate(([0], np.cumsum(n))).astype(np.intp) for n in (sizes, counts[mask])
        )
        shift = np.repeat(self.offsets[:-1][mask] - offsets[:-1], counts[mask])
        winner, loser = (
            (rows[kept] - shift).astype(np.int32) for rows in (self.winner, self.loser)
        )
        y = None if self.y is None else self.y[np.repeat(mask, np.diff(self.offsets))]
        weight, margin = (
            None if values is None else values[kept] for values in (self.weight, self.margin)
        )
        return ExplicitPairs(winner, loser, pair_offsets, offsets, y, weight, margin)


def preference_pairs(data, max_grades=MAX_GRADES):
    """All pairs of rows of a query whose grades differ, the higher grade winning.

    Parameters
    ----------
    data : RankingData
    max_grades : int, default=32
        Most distinct grades for which pairs stay implicit; at most 255.

    Returns
    -------
    pairs : GradedPairs or ExplicitPairs

    Raises
    ------
    ValueError
        If listing the pairs would take more than 4 GiB.
    """
    grades, grade = np.unique(data.y, return_inverse=True)
    if len(grades) > max_grades:
        return list_pairs(data)
    n_pairs = int(data.sum(count_pairs(grade, data.offsets, len(grades))))
    return GradedPairs(grades, grade.astype(np.uint8), data.offsets, n_pairs)


def list_pairs(data, remedy=f"round `y` to at most {MAX_GRADES} grades", ties=False, n_entries=1):
    """`preference_pairs`, listed whatever the number of grades: ExplicitPairs.

    Parameters
    ----------
    data : RankingData
    remedy : str, default="round `y` to at most 32 grades"
        What the error proposes where they are too many.
    ties : bool, default=False
        List pairs of equal grades, too, in any order of the two rows: those of queries that have
        pairs of different grades.
    n_entries : int, default=1
        How many pairs the caller makes of one.
    """
    y, offsets = data.y, data.offsets
    counts, with_ties, n_grades = _counts(data, ties)
    n_pairs, what = int(counts.sum()), f"`y` has {n_grades} distinct grades, which need"
    _check_bytes(n_entries * n_pairs, data, what, remedy)
    winner, loser = np.empty((2, n_pairs), dtype=np.int32)
    _pairs.list_pairs(y, offsets, with_ties.view(np.uint8), winner, loser)
    pair_offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.intp)
    return ExplicitPairs(winner, loser, pair_offsets, offsets, y, _of_winners(data, winner))


def _of_winners(data, winner):
    """Weights of pairs of clicks: those of the rows that win; None where all are 1."""
    return None if data.click_weight is None else data.click_weight[winner]


def _counts(data, ties):
    """Number of pairs of each query; whether that is of any two rows; and number of grades."""
    grades, grade = np.unique(data.y, return_inverse=True)
    counts = count_pairs(grade, data.offsets, len(grades))
    with_ties = np.logical_and(ties, counts > 0)
    sizes = data.queries.sizes.astype(np.int64)
    return np.where(with_ties, sizes * (sizes - 1) // 2, counts), with_ties, len(grades)


def sample_pairs(data, max_per_query, ties=False, n_entries=1):
    """`list_pairs` with at most `max_per_query` pairs of a query, drawn at random: ExplicitPairs.

    All pairs of a query are as likely. The draw depends on ``data.random_seed`` and the number of
    the query alone, and takes memory for the pairs that are kept, not for all.
    """
    y, offsets = data.y, data.offsets
    counts, with_ties, _ = _counts(data, ties)
    n_pairs = int(np.minimum(counts, max_per_query).sum())
    n_bytes = n_entries * n_pairs * BYTES_PER_PAIR
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"max_pairs_per_query={max_per_query} leaves {n_pairs} pairs, which need "
            f"{n_bytes} bytes, more than the {MAX_BYTES} allowed; lower it."
        )
    winners, losers, counts = [], [], []
    for q, (start, stop) in enumerate(pairwise(offsets.tolist())):
        ascending = np.argsort(y[start:stop], kind="stable")
        ordered = y[start:stop][ascending]
        # Pairs that each row wins; of equal grades, say, the later row.
        lower = np.arange(len(ordered)) if with_ties[q] else np.searchsorted(ordered, ordered)
        last = np.cumsum(lower)
        kept = _draw(int(last[-1]), max_per_query, np.random.default_rng([data.random_seed, q]))
        winner = np.searchsorted(last, kept, side="right")
        loser = kept - (last[winner] - lower[winner])
        winners.append(start + ascending[winner])
        losers.append(start + ascending[loser])
        counts.append(len(kept))
    winner, loser = (np.concatenate(rows).astype(np.int32) for rows in (winners, losers))
    pair_offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.intp)
    return ExplicitPairs(winner, loser, pair_offsets, offsets, y, _of_winners(data, winner))


def _draw(n, k, rng):
    """k of the numbers below n, ascending, or all of them if there are no more."""
    if n <= k:
        return np.arange(n)
    if n <= 4 * k:
        return np.sort(rng.permutation(n)[:k])
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < k:
        drawn = np.concatenate([drawn, rng.integers(n, size=2 * k)])
        _, first = np.unique(drawn, return_index=True)
        drawn = drawn[np.sort(first)]
    return np.sort(drawn[:k])


def given_pairs(data):
    """The preferences of rows that are given, in the order of the data.

    Parameters
    ----------
    data : RankingData
        With preferences; pairs of other rows are left out.

    Returns
    -------
    pairs : ExplicitPairs

    Raises
    ------
    ValueError
        If they would take more than 4 GiB.
    """
    preferences, order = data.preferences, data.queries.order
    position = np.full(preferences.n_samples, -1, dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    winner, loser = position[preferences.winner], position[preferences.loser]
    kept = winner >= 0
    winner, loser, weight = winner[kept], loser[kept], preferences.weight[kept]
    margin = None if preferences.margin is None else preferences.margin[kept]
    content = (weight,) if margin is None else (margin, weight)
    sequence = np.lexsort((*content, loser, winner))
    winner, loser, weight = winner[sequence], loser[sequence], weight[sequence]
    margin = None if margin is None else margin[sequence]
    _check_bytes(len(winner), data, "`preferences` need", "give fewer of them")
    pair_offsets = np.searchsorted(winner, data.offsets).astype(np.intp)
    return ExplicitPairs(winner, loser, pair_offsets, data.offsets, weight=weight, margin=margin)


def _check_bytes(n_pairs, data, what, remedy):
    longest = int(data.queries.sizes.max())
    n_bytes = n_pairs * BYTES_PER_PAIR + 8 * data.n_threads * longest**2
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"{what} {n_pairs} listed pairs and {n_bytes} bytes, more than the {MAX_BYTES} "
            f"allowed; {remedy}, or split long queries (the longest has {longest} rows)."
        )


class Preferences(NamedTuple):
    """Validated preferences between rows of the caller's arrays, of positive weight."""

    winner: np.ndarray
    loser: np.ndarray
    weight: np.ndarray
    n_samples: int
    margin: np.ndarray | None = None

    def queries(self):
        """A query number for each row: the rows that preferences connect are one query."""
        edges = sparse.coo_array(
            (np.ones(len(self.winner)), (self.winner, self.loser)),
            shape=(self.n_samples, self.n_samples),
        )
        return connected_components(edges, directed=False)[1]

    def columns(self):
        """Weights won and lost by each row, which are part of its content.

        With margins, also their sums by weight.
        """
        values = [self.weight]
        if self.margin is not None and (self.margin != 1).any():
            values.append(self.weight * self.margin)
        return [
            _sums(rows, value, self.n_samples)
            for value in values
            for rows in (self.winner, self.loser)
        ]


def _sums(rows, values, n_samples):
    """Sums of the values of each row, to the last bit the same in whatever order they come."""
    order = np.argsort(values)
    return np.bincount(rows[order], weights=values[order], minlength=n_samples)


def check_preferences(preferences, weight, margin, n_samples):
    """Validate `preferences`, `preference_weight` and `preference_margin` of ``fit``.

    Parameters
    ----------
    preferences : array-like of shape (n_pairs, 2), integer
        Row of the winner and row of the loser. Pairs may repeat and contradict each other.
    weight : array-like of shape (n_pairs,) or None
        Not negative; None is 1.
    margin : array-like of shape (n_pairs,) or None
        Positive.
    n_samples : int

    Returns
    -------
    preferences : Preferences

    Raises
    ------
    ValueError
        If an index is no integer or outside the rows, a row is preferred to itself, weights or
        margins are invalid, or no pair is left.
    """
    try:
        pairs = np.asarray(preferences)
    except ValueError:  # rows of different length
        pairs = np.empty(len(preferences), dtype=object)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(
            "`preferences` must be an integer array of shape (n_pairs, 2), row of the winner and "
            f"row of the loser; got dtype {pairs.dtype} and shape {pairs.shape}."
        )
    outside = (pairs < 0) | (pairs >= n_samples)
    if outside.any():
        p = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"`preferences` has the pair {pairs[p].tolist()} at {p}, but there are {n_samples} "
            "rows. Cross-validation cuts rows, and row numbers then no longer fit: renumber the "
            "pairs for each fold."
        )
    winner, loser = pairs.T.astype(np.intp)
    if (winner == loser).any():
        p = int(np.flatnonzero(winner == loser)[0])
        raise ValueError(f"`preferences` prefers row {winner[p]} to itself, at {p}.")
    if weight is None:
        weight = np.ones(len(pairs))
    else:
        weight = check_column(weight, "preference_weight", finite=False)
    if weight.shape != (len(pairs),) or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(
            f"`preference_weight` must have one finite entry, not negative, for each of the "
            f"{len(pairs)} pairs; got shape {weight.shape}."
        )
    kept = weight > 0
    if not kept.any():
        raise ValueError("`preferences` has no pair of positive weight.")
    check_largest_weight(weight, "preference_weight", "pair")
    weight = without_vanishing(weight)
    if margin is not None:
        margin = _check_preference_margin(margin, len(pairs))[kept]
    return Preferences(winner[kept], loser[kept], weight[kept], n_samples, margin)


def _check_preference_margin(margin, n_pairs):
    margin = check_column(margin, "preference_margin", finite=False)
    if margin.shape != (n_pairs,):
        raise ValueError(
            f"`preference_margin` must have one entry for each of the {n_pairs} pairs; got shape "
            f"{margin.shape}."
        )
    wrong = ~((margin >= SMALLEST) & (margin <= LARGEST))  # so is NaN
    if wrong.any():
        p = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"`preference_margin` must be positive, between {SMALLEST:g} and {LARGEST:g}; got "
            f"{margin[p]:g} at pair {p}. A pair of no degree says nothing: leave it out."
        )
    return margin
