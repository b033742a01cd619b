# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Preference pairs within queries, each stored once as (winner, loser).

`GradedPairs` never lists its pairs: few distinct grades let sums over all pairs of a query be
computed from sums over its rows. `ExplicitPairs` lists them, for grades that hardly repeat.
"""

import numpy as np

from sklearn_ltr._kernels import _pairs

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
    y : ndarray of shape (n_samples,), dtype float64
        Grade of each row.
    pair_offsets : ndarray of shape (n_queries + 1,), dtype intp
        Pairs of query ``q`` are ``pair_offsets[q]:pair_offsets[q + 1]``.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
        Rows of query ``q``.
    """

    def __init__(self, winner, loser, y, pair_offsets, offsets):
        self.winner = winner
        self.loser = loser
        self.y = y
        self.pair_offsets = pair_offsets
        self.offsets = offsets
        self.n_pairs = len(winner)


def preference_pairs(y, offsets, max_grades=MAX_GRADES, n_threads=1):
    """All pairs of rows of a query whose grades differ, the higher grade winning.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        Grades, rows grouped by query.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    max_grades : int, default=32
        Most distinct grades for which pairs stay implicit; at most 255.
    n_threads : int, default=1
        Each holds the weights of a query where pairs are listed.

    Returns
    -------
    pairs : GradedPairs or ExplicitPairs

    Raises
    ------
    ValueError
        If listing the pairs would take more than 4 GiB.
    """
    grades, grade = np.unique(y, return_inverse=True)
    if len(grades) > max_grades:
        return list_pairs(y, offsets, n_threads)
    n_pairs = int(count_pairs(grade, offsets, len(grades)).sum())
    return GradedPairs(grades, grade.astype(np.uint8), offsets, n_pairs)


def list_pairs(y, offsets, n_threads=1):
    """`preference_pairs`, listed whatever the number of grades: ExplicitPairs."""
    grades, grade = np.unique(y, return_inverse=True)
    counts = count_pairs(grade, offsets, len(grades))
    n_pairs, longest = int(counts.sum()), int(np.diff(offsets).max())
    n_bytes = n_pairs * BYTES_PER_PAIR + 8 * n_threads * longest**2
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"`y` has {len(grades)} distinct grades, which need {n_pairs} listed pairs and "
            f"{n_bytes} bytes, more than the {MAX_BYTES} allowed; round `y` to at most "
            f"{MAX_GRADES} grades, or split long queries (the longest has {longest} rows)."
        )
    winner, loser = np.empty((2, n_pairs), dtype=np.int32)
    _pairs.list_pairs(y, offsets, winner, loser)
    pair_offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.intp)
    return ExplicitPairs(winner, loser, y, pair_offsets, offsets)
