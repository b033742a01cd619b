# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Random orders of the rows of each query, and the logistic loss of the rows next to each other.

Serves `losses/yeti.py`.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport exp, fabs, log, log1p
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_ltr._kernels._draws cimport split_mix
from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._types cimport Row

cdef enum:
    BUCKETS = 2         # for each row
    CROWDED = 8         # pairs in one bucket, for each row, from which on merging is faster


cdef inline double odds(uint64_t key, Py_ssize_t place) noexcept nogil:
    """u / (1 - u) of a u that is uniform in the open interval (0, 1), of 52 bits and a half."""
    cdef double u = (<double>(split_mix(key, place) >> 12) + 0.5) * 2.0**-52
    return u / (1 - u)


cdef inline int64_t bits(double x) noexcept nogil:
    """Of a positive number: whole numbers in the same order, about as its logarithm."""
    cdef int64_t result
    memcpy(&result, &x, sizeof(double))
    return result


cdef void sort_far(
    uint64_t key, Py_ssize_t n, const double* score, Row[::1] work
) noexcept nogil:
    """The order by z of rows that are too far apart for e^z."""
    cdef Py_ssize_t i
    for i in range(n):
        work[i].score = score[i] + log(odds(key, i))
        work[i].tie = work[i].value = i
    sort_rows(work, n)


cdef void sort_near(
    uint64_t key, Py_ssize_t n, const double* strength, double* drawn, int* bucket, int* count,
    Row[::1] work,
) noexcept nogil:
    """The order by e^z = strength u / (1 - u): into buckets of equal length first."""
    cdef Py_ssize_t i, j, crowd = 0
    cdef double lowest, highest, per_bit
    cdef int start = 0, size
    cdef int64_t top
    cdef Row row
    for i in range(n):
        drawn[i] = strength[i] * odds(key, i)
    lowest = highest = drawn[0]
    for i in range(1, n):
        lowest = min(lowest, drawn[i])
        highest = max(highest, drawn[i])
    top = bits(highest)
    per_bit = BUCKETS * n / (<double>(top - bits(lowest)) + 1)
    memset(count, 0, (BUCKETS * n + 1) * sizeof(int))
    for i in range(n):
        bucket[i] = <int>(<double>(top - bits(drawn[i])) * per_bit)
        crowd += count[bucket[i]]
        count[bucket[i]] += 1
    for i in range(BUCKETS * n + 1):
        size = count[i]
        count[i] = start
        start = start + size
    for i in range(n):
        j = count[bucket[i]]
        count[bucket[i]] += 1
        work[j].score = drawn[i]
        work[j].tie = work[j].value = i
    if crowd > CROWDED * n:
        sort_rows(work, n)
        return
    for i in range(1, n):   # rows move within their bucket, past none that is equal
        row = work[i]
        j = i
        while j > 0 and row.score > work[j - 1].score:
            work[j] = work[j - 1]
            j -= 1
        work[j] = row


cdef double neighbours(
    Py_ssize_t n_pairs, bint far, const double* strength, const double* grade,
    const double* of_click, const double* share, const Row* order, double* weight,
    double* gradient, double* curvature,
) noexcept nogil:
    """Add each pair of rows at successive positions to its rows; returns the loss."""
    cdef Py_ssize_t k, i, j = <Py_ssize_t>order[0].value
    cdef double gap, w, better, worse, x, wrong, right, pull, bend, loss = 0
    for k in range(n_pairs):
        i = j
        j = <Py_ssize_t>order[k + 1].value
        gap = grade[i] - grade[j]
        if gap == 0:
            continue
        w = fabs(gap) * share[k] * of_click[i if gap > 0 else j]
        better = strength[i] if gap > 0 else strength[j]
        worse = strength[j] if gap > 0 else strength[i]
        if far:
            x = exp(-fabs(worse - better))
            right = (1 if better > worse else x) / (1 + x)
            wrong = (x if better > worse else 1) / (1 + x)
            loss += w * (max(worse - better, 0.0) + log1p(x))
        else:
            right, wrong = better / (better + worse), worse / (better + worse)
            loss -= w * log(right)
        pull = w * wrong
        bend = pull * right
        pull = pull if gap > 0 else -pull
        weight[0] += w
        gradient[i] -= pull
        gradient[j] += pull
        curvature[i] += bend
        curvature[j] += bend
    return loss


cdef void draw_query(
    uint64_t key, Py_ssize_t first, Py_ssize_t last, Py_ssize_t n, Py_ssize_t n_pairs, bint far,
    const double* strength, const double* grade, const double* of_click, const double* share,
    Row[::1] work, double* drawn, int* bucket, int* count, double* value, double* weight,
    double* gradient, double* curvature,
) noexcept nogil:
    cdef Py_ssize_t p
    for p in range(first, last):
        if far:
            sort_far(split_mix(key, p), n, strength, work)
        else:
            sort_near(split_mix(key, p), n, strength, drawn, bucket, count, work)
        value[0] += neighbours(
            n_pairs, far, strength, grade, of_click, share, &work[0], weight, gradient, curvature
        )


def draw_pairs(
    const double[::1] strength,         # IN, (n_samples,), e^s of each row, or s in queries where
                                        #     rows are far apart, both relative to the largest s
    const double[::1] grades,           # IN, (n_samples,)
    const double[::1] of_click,         # IN, (n_samples,), weight of the pairs that a row wins
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    const Py_ssize_t[::1] queries,      # IN, the places of those to draw for
    const Py_ssize_t[::1] numbers,      # IN, (n_queries,), what each is drawn by
    const unsigned char[::1] far,       # IN, (n_queries,), which are those of s
    const double[::1] share,            # IN, weight of the pairs at each position, from the top on
    uint64_t seed,
    Py_ssize_t first,                   # the permutations first, first + 1, ..., last - 1
    Py_ssize_t last,
    int n_threads,
    Row[::1] work,                      # OUT, scratch: twice the longest query for each thread
    double[:, ::1] drawn,               # OUT, scratch, (n_threads, longest query)
    int[:, ::1] counts,                 # OUT, scratch, (n_threads, 3 longest query + 1)
    double[::1] value,                  # IN, OUT, (n_queries,), the loss
    double[::1] weight,                 # IN, OUT, (n_queries,), sum of the weights of the pairs
    double[::1] gradient,               # IN, OUT, (n_samples,)
    double[::1] curvature,              # IN, OUT, (n_samples,)
):
    """Add the pairs of some permutations: O(n log n) for a query of n rows and a permutation.

    What is drawn for a row depends on nothing but the seed and the numbers of its query, the
    permutation and the row in its query.
    """
    cdef Py_ssize_t m, q, n, start, part = work.shape[0] // n_threads
    cdef int t
    for m in prange(queries.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        q = queries[m]
        start = offsets[q]
        n = offsets[q + 1] - start
        t = threadid()
        draw_query(
            split_mix(seed, numbers[q]), first, last, n, min(n - 1, share.shape[0]), far[q],
            &strength[start], &grades[start], &of_click[start], &share[0],
            work[t * part:(t + 1) * part], &drawn[t, 0], &counts[t, 0], &counts[t, n],
            &value[q], &weight[q], &gradient[start], &curvature[start],
        )
