# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a query in the order of their scores.

Only the top positions are brought into order: at most O(n log n) for a query of n rows, close to
O(n) where the cut-off is small. `rank_top` is here, to be inlined: queries may be short and many.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from sklearn_ltr._kernels._types cimport AVERAGE, INPUT, REVERSE, WORST, Row

cdef enum:
    RUN = 8             # rows put in order by insertion before the runs are merged


cdef int64_t sort_rows(Row[::1] work, Py_ssize_t n) noexcept nogil


cdef inline Py_ssize_t keep_top(
    Row[::1] work,          # IN, OUT
    Py_ssize_t n,
    Py_ssize_t k,           # positions wanted
    bint whole_groups,      # keep also the rows tied with the one at position k
) noexcept nogil:
    """Sort the first n rows and return how many of them to keep."""
    cdef Py_ssize_t kept = min(k, n)
    sort_rows(work, n)
    if whole_groups:
        while kept < n and work[kept].score == work[kept - 1].score:
            kept += 1
    return kept


cdef inline Py_ssize_t rank_top(
    const double[::1] values,       # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,               # first row of the query
    Py_ssize_t n,                   # its number of rows
    Py_ssize_t k,                   # positions wanted, at most n
    int ties,
    Row[::1] work,                  # OUT, the row at position j is work[j]
) noexcept nogil:
    """Rank the top k rows and, where ties are averaged, the rest of the tie group at k.

    Returns the number of rows ranked.
    """
    cdef Py_ssize_t i, kept = 0, limit = min(n, 2 * k + 2 * RUN)
    cdef bint average = ties == AVERAGE
    cdef Row row, last
    last.score = -INFINITY
    for i in range(n):
        row.score = scores[start + i]
        if row.score < last.score:
            continue
        row.value = values[start + i]
        if ties == INPUT:
            row.tie = i
        elif ties == REVERSE:
            row.tie = -i
        elif ties == WORST:
            row.tie = row.value
        else:  # an average, too, is summed in an order that does not depend on that of the rows
            row.tie = -row.value
        work[kept] = row
        kept += 1
        if kept == limit and i + 1 < n:
            kept = keep_top(work, kept, k, average)
            last = work[k - 1]
            limit = min(n, 2 * kept + 2 * RUN)
    return keep_top(work, kept, k, average)
