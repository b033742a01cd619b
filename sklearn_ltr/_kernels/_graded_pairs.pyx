# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the pairs of rows of different grades, for the exponential loss.

Serves `losses/exponential.py`.

The weight of a pair (i, j) with grades a > b factorises, exp(-d(F_i - F_j)) = E[i, b] E[j, a] with
E[i, b] = exp(-d_ab (F_i - c)) and E[j, a] = exp(d_ab (F_j - c)) for any c, so sums over pairs are
products of sums over rows. c is chosen for each query and pair of grades so that the largest E of
both sides are equal, and the largest weight of all, exp(M), is divided out: no E exceeds 1, and a
weight that underflows is smaller than the largest by exp(-700). If winners have weights, at most 1,
E[i, b] has that of i as a factor; c and M are what they are without.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, exp
from libc.string cimport memset


cdef inline void extremes(
    const double* F, const unsigned char* grade, Py_ssize_t n, Py_ssize_t L,
    double* low, double* high,
) noexcept nogil:
    """Smallest and largest score of each grade; (inf, -inf) of an absent one."""
    cdef Py_ssize_t a, i
    for a in range(L):
        low[a] = INFINITY
        high[a] = -INFINITY
    for i in range(n):
        a = grade[i]
        low[a] = min(low[a], F[i])
        high[a] = max(high[a], F[i])


def largest_log_weight(
    const double[::1] scores,               # IN, (n_samples,)
    const unsigned char[::1] grade,         # IN, (n_samples,)
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[:, ::1] distance,          # IN, (L, L), symmetric
    const double[::1] log_query_weight,     # IN, (n_queries,)
    double[:, ::1] buffer,                  # OUT, (1, at least 2 L), scratch
):
    """M: the largest log weight of a pair, -inf without pairs.

    In one thread: without exponentials it takes a small part of what `graded_potentials` takes.
    """
    cdef Py_ssize_t q, a, b, start
    cdef Py_ssize_t L = distance.shape[0]
    cdef double largest = -INFINITY
    cdef double* low = &buffer[0, 0]
    cdef double* high = low + L
    with nogil:
        for q in range(offsets.shape[0] - 1):
            start = offsets[q]
            extremes(&scores[start], &grade[start], offsets[q + 1] - start, L, low, high)
            for a in range(1, L):
                for b in range(a):
                    # -inf where either grade is absent
                    largest = max(
                        largest, log_query_weight[q] + distance[a, b] * (high[b] - low[a])
                    )
    return largest


cdef void query_sums_of_grades(
    const double* F, const unsigned char* grade, const double* weight, Py_ssize_t n,
    Py_ssize_t L, const double* distance, const double* factors, double shift,
    double* S, double* E, double* gradient, double* degree, double* loss,
) noexcept nogil:
    """`graded_sums` of one query; S has room for L (L + 2) numbers."""
    cdef double* low = S + L * L
    cdef double* high = low + L
    cdef const double* scale = factors
    cdef const double* signed = factors + L * L
    cdef const double* unit = factors + 2 * L * L
    cdef Py_ssize_t a, b, i
    cdef double w, d, product, pi, deg
    cdef double total = 0
    extremes(F, grade, n, L, low, high)
    memset(S, 0, L * L * sizeof(double))
    for i in range(n):
        a = grade[i]
        w = weight[i]
        for b in range(L):
            d = distance[a * L + b]
            if b == a or high[b] < low[b]:
                E[i * L + b] = 0
            elif b < a:
                E[i * L + b] = (
                    w * scale[a * L + b] * exp(shift - d * (F[i] - (low[a] + high[b]) / 2))
                )
            else:
                E[i * L + b] = scale[a * L + b] * exp(shift + d * (F[i] - (low[b] + high[a]) / 2))
            S[a * L + b] += E[i * L + b]
    for i in range(n):
        a = grade[i]
        pi = 0
        deg = 0
        for b in range(L):
            product = E[i * L + b] * S[b * L + a]
            deg += product
            pi += product * signed[a * L + b]
            if b < a:
                total += product * unit[a * L + b]
        gradient[i] = -pi
        degree[i] = deg
    loss[0] = total


def graded_sums(
    const double[::1] scores,               # IN, (n_samples,)
    const unsigned char[::1] grade,         # IN, (n_samples,)
    const double[::1] weight,               # IN, (n_samples,), of the pairs that a row wins
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[:, ::1] distance,          # IN, (L, L), symmetric
    const double[:, :, ::1] factors,        # IN, (3, L, L): of E, of the gradient, of the loss
    const double[::1] shift,                # IN, (n_queries,): (log query weight - M) / 2
    double[:, ::1] buffer,                  # OUT, (n_threads, L (L + 2)), scratch
    double[:, ::1] E,                       # OUT, (n_samples, L)
    double[::1] gradient,                   # OUT, (n_samples,)
    double[::1] degree,                     # OUT, (n_samples,)
    double[::1] loss,                       # OUT, (n_queries,)
):
    """Weight factors E, and for each row the sums over its pairs; O(n L)."""
    cdef Py_ssize_t q, start
    cdef Py_ssize_t L = distance.shape[0]
    cdef int n_threads = buffer.shape[0]
    for q in prange(loss.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        start = offsets[q]
        query_sums_of_grades(
            &scores[start], &grade[start], &weight[start], offsets[q + 1] - start, L,
            &distance[0, 0], &factors[0, 0, 0], shift[q], &buffer[threadid(), 0], &E[start, 0],
            &gradient[start], &degree[start], &loss[q],
        )


def graded_crossing(
    const unsigned char[::1] above,         # IN, (n_samples,), 1 where a row is above
    const unsigned char[::1] grade,         # IN
    const Py_ssize_t[::1] offsets,          # IN
    const double[:, ::1] E,                 # IN
    double[:, :, ::1] sums,                 # OUT, (2, L, L), scratch
    double[:, ::1] crossing,                # OUT, (L, L), zeroed
):
    """crossing[a, b]: products E E of the pairs with grade a above and grade b below.

    In one thread, as the order of the queries in these sums must not depend on threads.
    """
    cdef Py_ssize_t q, i, a, b
    cdef Py_ssize_t L = E.shape[1]
    with nogil:
        for q in range(offsets.shape[0] - 1):
            memset(&sums[0, 0, 0], 0, 2 * L * L * sizeof(double))
            for i in range(offsets[q], offsets[q + 1]):
                a = grade[i]
                for b in range(L):
                    sums[above[i], a, b] += E[i, b]
            for a in range(L):
                for b in range(L):
                    crossing[a, b] += sums[1, a, b] * sums[0, b, a]
