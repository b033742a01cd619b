# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sorts the rows of a query.

Serves `_correlation.pyx`, `_dcg.pyx`, `_distances.pyx`, `_hidden_order.pyx`, `_hinge.pyx`,
`_lambdas.pyx`, `_precision.pyx`, `_reciprocal.pyx`, `_violated.pyx` and `_yeti.pyx`.
"""

from libc.stdint cimport int64_t

from sklearn_ltr._kernels._types cimport Row


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
