# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Discounted cumulative gain of each query.

Serves `losses/approx_ndcg.py`, `losses/lambdas.py`, `metrics/dcg.py` and `metrics/precision.py`.

Queries are rows ``offsets[q]:offsets[q + 1]`` of arrays in grouped order. A thread ranks one at a
time in its own part of ``work``, which has room for twice the rows of the longest query.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY

from sklearn_ltr._kernels._ranking cimport rank_top
from sklearn_ltr._kernels._types cimport AVERAGE, BEST, Row

cdef enum:
    LEVELS = 8          # distinct gains looked for one by one before the rows are sorted instead


cdef double query_dcg(
    const double[::1] gains,        # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    const double[::1] discounts,    # IN
    int ties,
    Row[::1] work,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t k = min(n, discounts.shape[0]), j = 0, p, first
    cdef Py_ssize_t ranked = rank_top(gains, scores, start, n, k, ties, work)
    cdef double total = 0, gain
    while j < k:
        first = j
        gain = work[j].value
        j += 1
        if ties == AVERAGE:
            while j < ranked and work[j].score == work[first].score:
                gain = gain + work[j].value
                j += 1
            if work[first].value == work[j - 1].value:
                # Equal gains: dividing their sum could round, and a perfect ranking miss 1.
                gain = work[first].value
            else:
                gain = gain / (j - first)
        for p in range(first, min(j, k)):
            total = total + gain * discounts[p]
    return total


cdef double query_ideal_dcg(
    const double[::1] gains,        # IN
    Py_ssize_t start,
    Py_ssize_t n,
    const double[::1] discounts,    # IN
    Row[::1] work,                  # OUT
) noexcept nogil:
    """The DCG of the query ranked by gain; grades are few, and counting them beats sorting."""
    cdef Py_ssize_t k = min(n, discounts.shape[0]), j = 0, i, p, count
    cdef double total = 0, above = INFINITY, level, lower
    cdef int _level
    for _level in range(LEVELS):
        level = 0
        for i in range(start, start + n):
            lower = gains[i] if gains[i] < above else 0
            level = lower if lower > level else level
        if level == 0:
            return total
        count = 0
        for i in range(start, start + n):
            count += gains[i] == level
        for p in range(j, min(j + count, k)):
            total += level * discounts[p]
        j += count
        if j >= k:
            return total
        above = level
    return query_dcg(gains, gains, start, n, discounts, BEST, work)


def dcg(
    const double[::1] gains,            # IN
    const double[::1] scores,           # IN
    const double[::1] discounts,        # IN, of positions 1, 2, ...; 0 for those after the last
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """Sum of gain times discount over the ranking of each query."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_dcg(
            gains, scores, offsets[q], offsets[q + 1] - offsets[q], discounts, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )


def ideal_dcg(
    const double[::1] gains,            # IN, not negative
    const double[::1] discounts,        # IN, as in `dcg`, and descending
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """The largest DCG that a ranking of each query can have."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_ideal_dcg(
            gains, offsets[q], offsets[q + 1] - offsets[q], discounts,
            work[threadid() * share:(threadid() + 1) * share],
        )
