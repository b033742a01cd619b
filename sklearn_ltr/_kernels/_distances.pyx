# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of rows of a query whose numbers differ by more than a tolerance, without listing them.

Serves `rankers/svrank.py`.
"""

from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._types cimport Row


cdef double of_query(
    const double[::1] r,
    Py_ssize_t start,
    Py_ssize_t stop,
    double epsilon,
    Row[::1] work,
    double[::1] slope,
) noexcept nogil:
    """Fill the slopes of one query's rows and return its sum."""
    cdef Py_ssize_t k, low, high, n = stop - start
    cdef double total = 0
    for k in range(n):
        # From a row of the query, so that a common part takes no digits.
        work[k].score = r[start + k] - r[start]
        work[k].tie = k
        work[k].value = start + k
    sort_rows(work, n)
    # Of the rows by descending number, those before `high` are above row k by more than the
    # tolerance, those from `low` on are below it by more.
    low = high = 0
    for k in range(n):
        while low < n and not work[k].score - work[low].score > epsilon:
            low += 1
        while work[high].score - work[k].score > epsilon:
            high += 1
        slope[<Py_ssize_t>work[k].value] = n - low - high
        total = total + work[k].score * (n - low - high) - epsilon * high
    return total


def distances(
    const double[::1] r,            # IN, (n_samples,)
    const Py_ssize_t[::1] offsets,  # IN, (n_queries + 1,)
    double epsilon,                 # not negative
    int n_threads,
    Row[::1] work,                  # OUT, scratch, twice the longest query a thread
    double[::1] slope,              # OUT, (n_samples,), number of rows that are below by more than
                                    #     epsilon, less that of rows that are above by more
    double[::1] total,              # OUT, (n_queries,), of all pairs what is above epsilon
):
    """The sum of max(0, |r_i - r_j| - epsilon) over the pairs of each query, and its slope."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(total.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        total[q] = of_query(
            r, offsets[q], offsets[q + 1], epsilon,
            work[threadid() * share:(threadid() + 1) * share], slope,
        )
