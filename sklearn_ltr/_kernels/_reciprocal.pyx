# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reciprocal ranks of each query, expected or not; queries and ``work`` as in `_dcg.pyx`.

Serves `metrics/reciprocal.py`.
"""

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._ranking cimport rank_top
from sklearn_ltr._kernels._types cimport AVERAGE, Row

cdef enum:
    STEPS_AT_A_TIME = 1 << 26   # before an interrupt is heard; a group of m rows takes m^2


cdef double query_reciprocal_rank(
    const double[::1] relevant,     # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    Py_ssize_t k,
    int ties,
    Row[::1] work,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t j = 0, p, first, ranked
    cdef double total = 0, none = 1, r, rest
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
            # Where the group's positions before p hold none of its r relevant rows, p does with
            # probability r over the rows that are left.
            for p in range(first, min(j, k)):
                rest = j - p
                total = total + none * r / rest / (p + 1)
                none = none * (rest - r) / rest
            return total
    return total


cdef double stop_in_group(
    Row[::1] work,                  # IN, OUT, the second half is scratch
    Py_ssize_t first,
    Py_ssize_t end,
    Py_ssize_t k,
) except -1 nogil:
    """Sum over positions p of tied rows of P(a user who reaches the group stops at p) / p.

    With a[t] the probability of passing t of the rows, drawn at random, and b[t] that of passing
    t of them and stopping at one more, each further row turns a and b into means of what they were
    with and without it.
    """
    cdef Py_ssize_t spare = work.shape[0] // 2, depth = min(end, k) - first, n, t, steps = 0
    cdef double total = 0, stop
    for t in range(depth):
        work[spare + t].score = t == 0      # a[t]
        work[spare + t].value = 0           # b[t]
    for n in range(1, end - first + 1):
        steps += min(n, depth)
        if steps > STEPS_AT_A_TIME:
            steps = 0
            with gil:
                PyErr_CheckSignals()
        stop = work[first + n - 1].value
        for t in range(min(n, depth - 1), 0, -1):
            work[spare + t].value = (
                (n - 1 - t) * work[spare + t].value
                + t * (1 - stop) * work[spare + t - 1].value
                + stop * work[spare + t].score
            ) / n
            work[spare + t].score = (
                (n - t) * work[spare + t].score + t * (1 - stop) * work[spare + t - 1].score
            ) / n
        work[spare].value = ((n - 1) * work[spare].value + stop) / n
    for t in range(depth):
        total = total + work[spare + t].value / (first + t + 1)
    return total


cdef double query_expected_reciprocal_rank(
    const double[::1] stops,        # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    Py_ssize_t k,
    int ties,
    Row[::1] work,                  # OUT
) except -1 nogil:
    cdef Py_ssize_t j = 0, p, first, ranked
    cdef double total = 0, none = 1
    k = min(k, n)
    ranked = rank_top(stops, scores, start, n, k, ties, work)
    while j < k and none > 0:
        first = j
        j += 1
        if ties == AVERAGE:
            while j < ranked and work[j].score == work[first].score:
                j += 1
        if j == first + 1:
            total = total + none * work[first].value / j
        else:
            total = total + none * stop_in_group(work, first, j, k)
        for p in range(first, j):
            none = none * (1 - work[p].value)
    return total


def reciprocal_rank(
    const double[::1] relevant,         # IN, 1 or 0
    const double[::1] scores,           # IN
    Py_ssize_t k,
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """One over the position of the first relevant row, 0 where that is not in the top k."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_reciprocal_rank(
            relevant, scores, offsets[q], offsets[q + 1] - offsets[q], k, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )


def expected_reciprocal_rank(
    const double[::1] stops,            # IN, probability that a user who reaches the row stops
    const double[::1] scores,           # IN
    Py_ssize_t k,
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """Expectation of one over the position where the user stops, 0 where not in the top k."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_expected_reciprocal_rank(
            stops, scores, offsets[q], offsets[q + 1] - offsets[q], k, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )
