# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Precision at the relevant rows of each query; queries and ``work`` as in `_dcg.pyx`.

Serves `metrics/precision.py`.
"""

from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._ranking cimport rank_top
from sklearn_ltr._kernels._types cimport AVERAGE, Row


cdef double query_precision_sum(
    const double[::1] relevant,     # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    Py_ssize_t k,
    int ties,
    Row[::1] work,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t j = 0, p, first, ranked
    cdef double total = 0, above = 0, r, slope
    k = min(k, n)
    ranked = rank_top(relevant, scores, start, n, k, ties, work)
    while j < k:
        first = j
        r = work[j].value
        j += 1
        if ties == AVERAGE:
            while j < ranked and work[j].score == work[first].score:
                r = r + work[j].value
                j += 1
        if r > 0:
            # A position of a group with r relevant among m rows is relevant with probability r/m;
            # if it is, each of the group's positions before it is with probability (r-1)/(m-1).
            slope = (r - 1) / (j - first - 1) if j - first > 1 else 0
            for p in range(first, min(j, k)):
                total = total + r / (j - first) * (above + 1 + (p - first) * slope) / (p + 1)
        above = above + r
    return total


def precision_sum(
    const double[::1] relevant,         # IN, 1 or 0
    const double[::1] scores,           # IN
    Py_ssize_t k,
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """Sum of the precisions at the relevant rows among the top k of each query."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_precision_sum(
            relevant, scores, offsets[q], offsets[q + 1] - offsets[q], k, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )
