# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a log counts: sums of whole numbers, so that the order in which they come is lost."""

from typing import NamedTuple

import numpy as np

from sklearn_ltr.clicks._rows import Rows, unite
from sklearn_ltr.queries import row_hash

# Of a cell, a document of a query at one position: how often it was shown and clicked, shown at or
# above the first click of its session and at or above the last (anywhere if there is no click), and
# was the first and the last click. Without sessions only the first two are known.
CELL_COUNTS = ("shown", "clicked", "to_first", "first", "to_last", "last")

# Of a pair of documents of a query: how often the first was clicked, and the second was unclicked
# above, unclicked above the last click, clicked above, unclicked right below, unclicked below.
PAIR_COUNTS = ("skipped_above", "skipped_above_last", "clicked_above", "next", "below")


class Sessions(NamedTuple):
    """Every session as it was.

    Parameters
    ----------
    row : ndarray of shape (n_impressions,), dtype int32 or int64
        The impressions of each session follow one another, by position.
    position : ndarray of shape (n_impressions,), dtype int32
        From 0.
    clicked : ndarray of shape (n_impressions,), dtype bool
    sizes : ndarray of shape (n_sessions,), dtype int32
    """

    row: np.ndarray
    position: np.ndarray
    clicked: np.ndarray
    sizes: np.ndarray

    def in_order(self):
        """The same, in an order that depends on nothing but what they hold."""
        columns = self.row, self.position, self.clicked
        hashes = row_hash(np.column_stack([column.astype(np.float64) for column in columns]))
        starts = np.cumsum(self.sizes) - self.sizes
        order = np.argsort(np.add.reduceat(hashes, starts), kind="stable")
        sizes = self.sizes[order]
        rows = np.repeat(starts[order] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(hashes))
        return Sessions(self.row[rows], self.position[rows], self.clicked[rows], sizes)


class Counts(NamedTuple):
    """What some sessions, or impressions of which no session is known, add up to.

    Parameters
    ----------
    rows : Rows
    cell_row, cell_position : ndarray of shape (n_cells,)
        Position from 0; cells by row and position.
    cells : ndarray of shape (2 or 6, n_cells), dtype int64
        See `CELL_COUNTS`.
    winner, loser : ndarray of shape (n_pairs,), or None
        Rows.
    pairs : ndarray of shape (5, n_pairs), dtype int64, or None
        See `PAIR_COUNTS`.
    sessions : Sessions or None
    n_sessions : int
    """

    rows: Rows
    cell_row: np.ndarray
    cell_position: np.ndarray
    cells: np.ndarray
    winner: np.ndarray | None
    loser: np.ndarray | None
    pairs: np.ndarray | None
    sessions: Sessions | None
    n_sessions: int

    @property
    def size(self):
        """How many cells and pairs there are, and impressions of sessions."""
        n_pairs = 0 if self.pairs is None else self.pairs.shape[1]
        n_impressions = 0 if self.sessions is None else len(self.sessions.row)
        return self.cells.shape[1] + n_pairs + n_impressions


def count(rows, row, position, clicked, sizes, keep_pairs, keep_sessions):
    """Counts of impressions.

    Parameters
    ----------
    rows : Rows
    row, position : ndarray of shape (n,)
        Number of the row, and position from 0.
    clicked : ndarray of shape (n,), dtype bool
    sizes : ndarray of shape (n_sessions,), or None
        Impressions of each session, which follow one another, by position.
    keep_pairs, keep_sessions : bool
    """
    if sizes is None:
        cells = np.array([np.ones(len(row), dtype=np.int64), clicked])
        return Counts(rows, *_sum_by(row, position, cells), None, None, None, None, 0)
    n = len(row)
    starts, at = np.cumsum(sizes) - sizes, np.arange(n)
    first = np.minimum.reduceat(np.where(clicked, at, n), starts)
    last = np.maximum.reduceat(np.where(clicked, at, -1), starts)
    first, last = np.repeat(first, sizes), np.repeat(np.where(last < 0, n, last), sizes)
    flags = np.ones(n, dtype=bool), clicked, at <= first, at == first, at <= last, at == last
    cells = _sum_by(row, position, np.array(flags, dtype=np.int64))
    pairs, sessions = (None, None, None), None
    if keep_pairs:
        pairs = _count_pairs(row, clicked, last, sizes, starts)
    if keep_sessions:
        columns = row.astype(np.int64), position.astype(np.int32), clicked
        sessions = Sessions(*columns, sizes.astype(np.int32))
    return Counts(rows, *cells, *pairs, sessions, len(sizes))


def _count_pairs(row, clicked, last, sizes, starts):
    """Each clicked row over others of its session, by what these are."""
    winners = np.flatnonzero(clicked)
    session = np.searchsorted(starts, winners, side="right") - 1
    n_others = sizes[session]
    winner = np.repeat(winners, n_others)
    loser = np.arange(n_others.sum()) + np.repeat(
        starts[session] - (np.cumsum(n_others) - n_others), n_others
    )
    above = loser < winner
    kept = np.where(clicked[loser], above, winner != loser)
    winner, loser, above = winner[kept], loser[kept], above[kept]
    skipped = ~clicked[loser]
    flags = (
        skipped & above,
        skipped & above & (winner == last[winner]),
        ~skipped,
        skipped & (loser == winner + 1),
        skipped & ~above,
    )
    return _sum_by(row[winner], row[loser], np.array(flags, dtype=np.int64))


def _sum_by(first, second, counts):
    """Sums of the counts (n_counts, n) of equal numbers, by these numbers."""
    if len(first) == 0:
        return first, second, counts
    keys = first * (int(second.max()) + 1) + second
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    sums = np.empty((len(counts), len(starts)), dtype=np.int64)
    for values, out in zip(counts, sums, strict=True):
        np.add.reduceat(values[order], starts, out=out)
    return first[order[starts]], second[order[starts]], sums


def merge(first, second):
    """Counts of both: Counts."""
    parts = first, second
    rows, numbers = unite([part.rows for part in parts])
    cells = _sum_by(
        np.concatenate([n[part.cell_row] for part, n in zip(parts, numbers, strict=True)]),
        np.concatenate([part.cell_position for part in parts]),
        np.hstack([part.cells for part in parts]),
    )
    pairs, sessions = (None, None, None), None
    if first.pairs is not None:
        pairs = _sum_by(
            np.concatenate([n[part.winner] for part, n in zip(parts, numbers, strict=True)]),
            np.concatenate([n[part.loser] for part, n in zip(parts, numbers, strict=True)]),
            np.hstack([part.pairs for part in parts]),
        )
    if first.sessions is not None:
        row = np.concatenate([n[part.sessions.row] for part, n in zip(parts, numbers, strict=True)])
        others = zip(*(part.sessions[1:] for part in parts), strict=True)
        sessions = Sessions(row, *map(np.concatenate, others))
    return Counts(rows, *cells, *pairs, sessions, first.n_sessions + second.n_sessions)
