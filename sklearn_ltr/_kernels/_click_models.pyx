# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Expectation maximisation of the position-based click model.

Serves `clicks/position_based.py`.
"""

from cython.parallel cimport prange
from libc.math cimport fabs, fmax


cdef double NEXT_TO_NOTHING = 1e-200


cdef double update_rows(
    Py_ssize_t first,
    Py_ssize_t end,
    const Py_ssize_t[::1] offsets,      # IN
    const int[::1] positions,           # IN
    const double[::1] clicked,          # IN
    const double[::1] skipped,          # IN
    const double[::1] times,            # IN
    const double[::1] propensities,     # IN
    double attracted,
    double unattracted,
    double[::1] attractiveness,         # IN and OUT
    double[::1] looked_at,              # OUT
) noexcept nogil:
    cdef Py_ssize_t r, i, k
    cdef double a, p, c, s, total, top, share, change = 0
    for r in range(first, end):
        a = attractiveness[r]
        top = attracted
        total = attracted + unattracted
        for i in range(offsets[r], offsets[r + 1]):
            k = positions[i]
            p = propensities[k]
            c = clicked[i]
            s = skipped[i]
            total = total + c + s
            if s > 0 and p * a < 1:
                # Not clicked: attracted but not looked at, or looked at but not attracted.
                share = s / (1 - p * a)
                top = top + c + share * a * (1 - p)
                looked_at[k] = looked_at[k] + times[r] * (c + share * p * (1 - a))
            else:
                top = top + c
                looked_at[k] = looked_at[k] + times[r] * c
        if total > 0:
            # Of what was never clicked it goes to 0, and numbers too small for their format are
            # slow.
            top = top / total if top > NEXT_TO_NOTHING else 0
            attractiveness[r] = top
            change = fmax(change, fabs(top - a))
    return change


def expect_and_maximise(
    const Py_ssize_t[::1] blocks,       # IN, (n_blocks + 1,), rows of each block
    const Py_ssize_t[::1] offsets,      # IN, (n_rows + 1,), cells of each row
    const int[::1] positions,           # IN, (n_cells,), from 0
    const double[::1] clicked,          # IN, (n_cells,)
    const double[::1] skipped,          # IN, (n_cells,)
    const double[::1] times,            # IN, (n_rows,), how many rows each stands for
    const double[::1] propensities,     # IN, (n_positions,)
    double attracted,
    double unattracted,
    int n_threads,
    double[::1] attractiveness,         # IN and OUT, (n_rows,)
    double[:, ::1] looked_at,           # OUT, (n_blocks, n_positions)
    double[::1] change,                 # OUT, (n_blocks,)
):
    """A round: the attractiveness of rows, and how often each position is expected to be looked at.

    The latter by block, to be added up, so that sums do not depend on the number of threads; and by
    block the largest change of an attractiveness.
    `attracted` and `unattracted` are added to the counts of each row.
    """
    cdef Py_ssize_t b
    looked_at[:] = 0
    for b in prange(blocks.shape[0] - 1, schedule="guided", nogil=True, num_threads=n_threads):
        change[b] = update_rows(
            blocks[b], blocks[b + 1], offsets, positions, clicked, skipped, times, propensities,
            attracted, unattracted, attractiveness, looked_at[b],
        )
