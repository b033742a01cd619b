# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks within queries, by a key of two parts.

Serves `weak/hidden_order.py`.
"""

from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._types cimport Row


cdef void rank_query(
    const Py_ssize_t[::1] major,        # IN
    const double[::1] minor,            # IN
    Py_ssize_t start,
    Py_ssize_t end,
    Row[::1] work,                      # OUT, scratch
    double[::1] ranks,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t n = end - start, i, first, last = 0
    cdef double rank
    for i in range(n):
        work[i].score = major[start + i]
        work[i].tie = -minor[start + i]
        work[i].value = i
    sort_rows(work, n)  # the highest key first
    while last < n:
        first = last
        last += 1
        while (
            last < n
            and work[last].score == work[first].score
            and work[last].tie == work[first].tie
        ):
            last += 1
        rank = (n - (first + last) / 2.0) / n
        for i in range(first, last):
            ranks[start + <Py_ssize_t>work[i].value] = rank


def ranks_within_queries(
    const Py_ssize_t[::1] major,        # IN, compared first
    const double[::1] minor,            # IN, compared where `major` is equal
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch, twice the longest query for each thread
    double[::1] ranks,                  # OUT
):
    """(r - 1/2) / n of each row, with r = n for the highest key; equal keys share their mean."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(
        offsets.shape[0] - 1, schedule="guided", nogil=True, num_threads=n_threads
    ):
        rank_query(
            major, minor, offsets[q], offsets[q + 1],
            work[threadid() * share:(threadid() + 1) * share], ranks,
        )
