# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a query in the order of their scores.

Serves `_correlation.pyx`, `_dcg.pyx`, `_hidden_order.pyx`, `_hinge.pyx`, `_lambdas.pyx`,
`_precision.pyx` and `_reciprocal.pyx`.

A row comes with what decides between equal scores, and with what is wanted of it. Only the top
positions are brought into order where no more are asked for: at most O(n log n) for a query of n
rows, close to O(n) where the cut-off is small.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from sklearn_ltr._kernels._types cimport AVERAGE, INPUT, REVERSE, WORST, Row

cdef enum:
    RUN = 8             # rows put in order by insertion before the runs are merged


cdef inline bint precedes(const Row* a, const Row* b) noexcept nogil:
    # Without short cuts: a branch on scores in no order is mispredicted every other time.
    return (a.score > b.score) | ((a.score == b.score) & (a.tie < b.tie))


cdef int64_t sort_rows(
    Row[::1] work,          # IN, OUT, the rows are work[:n]; the second half of work is scratch
    Py_ssize_t n,
) noexcept nogil:
    """Sort, and return how many pairs of rows were in the wrong order.

    By merging, whose time depends little on the order of the rows and on ties.
    """
    cdef Py_ssize_t spare = work.shape[0] // 2, source = 0, target = spare, width = RUN
    cdef Py_ssize_t low = 0, i, j, left, middle, right, high
    cdef int64_t wrong = 0
    cdef bint take_right
    cdef Row row
    while low < n:
        for i in range(low + 1, min(low + RUN, n)):
            row = work[i]
            j = i
            while j > low and precedes(&row, &work[j - 1]):
                work[j] = work[j - 1]
                j -= 1
            work[j] = row
            wrong += i - j
        low += RUN
    while width < n:
        low = 0
        while low < n:
            left = source + low
            middle = right = source + min(low + width, n)
            high = source + min(low + 2 * width, n)
            i = target + low
            while left < middle and right < high:
                take_right = precedes(&work[right], &work[left])
                work[i] = work[right if take_right else left]
                wrong += take_right * (middle - left)
                right += take_right
                left += not take_right
                i += 1
            while left < middle:
                work[i] = work[left]
                left += 1
                i += 1
            while right < high:
                work[i] = work[right]
                right += 1
                i += 1
            low += 2 * width
        source, target = target, source
        width *= 2
    if source == spare:
        for i in range(n):
            work[i] = work[spare + i]
    return wrong


cdef Py_ssize_t keep_top(
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


cdef Py_ssize_t rank_top(
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
