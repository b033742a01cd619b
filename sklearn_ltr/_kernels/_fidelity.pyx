# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over listed preference pairs for the fidelity loss.

Serves `losses/fidelity.py` and `losses/listed_fidelity.py`.

With x = exp(-o) for the score difference o of a pair, its loss is 1 - 1 / sqrt(1 + x). Differences
of such roots are written as quotients, which lose no digits.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, exp, sqrt

cdef enum:
    FARTHEST = 400      # a score difference beyond counts as this; its weight is exp(-200) at most


cdef inline double rise(double x, double root, double c, double m) noexcept nogil:
    """1 / sqrt(1 + c x) - 1 / sqrt(1 + x), with root = sqrt(1 + x) and m = 1 - c."""
    cdef double other = sqrt(1 + c * x)
    return x * m / (root * other * (root + other))


cdef inline double pull(double x) noexcept nogil:
    """x / (1 + x)^(3/2): twice the derivative of 1 / sqrt(1 + exp(-o))."""
    return x / ((1 + x) * sqrt(1 + x))


cdef void row_factors(
    const double* scores, Py_ssize_t n, double* up, double* down
) noexcept nogil:
    """Such that x = down[winner] up[loser]; up[0] = 0 where their range would be too wide."""
    cdef Py_ssize_t i
    cdef double low = INFINITY
    cdef double high = -INFINITY
    for i in range(n):
        low = min(low, scores[i])
        high = max(high, scores[i])
    if high - low > FARTHEST:
        up[0] = 0
        return
    for i in range(n):
        up[i] = exp(scores[i] - (low + high) / 2)
        down[i] = exp((low + high) / 2 - scores[i])


def update(
    const double[::1] scores,               # IN, (n_samples,)
    pairs,                                  # IN, (winner, loser, pair offsets)
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[::1] D,                    # IN, (n_pairs,)
    double[:, ::1] factors,                 # OUT, (2, n_samples), scratch
    double[::1] x,                          # OUT, (n_pairs,)
    double[::1] weight,                     # IN, earlier weights; OUT, (n_pairs,), equation 4
    double[::1] signed_sum,                 # OUT, (n_samples,), weights won minus weights lost
    double[::1] degree,                     # OUT, (n_samples,), weights of a row's pairs
    double[:, ::1] sums,                    # OUT, (n_queries, 3): loss, weight, and what weights
                                            #     have lost
    int n_threads,
):
    """State of all pairs at new scores."""
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[2]
    cdef Py_ssize_t q, p, i, j, start
    cdef double w, z, loss, total, lost
    for q in prange(offsets.shape[0] - 1, schedule="static", nogil=True, num_threads=n_threads):
        start = offsets[q]
        for i in range(start, offsets[q + 1]):
            signed_sum[i] = 0
            degree[i] = 0
        row_factors(
            &scores[start], offsets[q + 1] - start, &factors[0, start], &factors[1, start]
        )
        loss = 0
        total = 0
        lost = 0
        for p in range(pair_offsets[q], pair_offsets[q + 1]):
            i = winner[p]
            j = loser[p]
            if factors[0, start] > 0:
                z = factors[1, i] * factors[0, j]
            else:
                z = exp(min(max(scores[j] - scores[i], -FARTHEST), FARTHEST))
            x[p] = z
            w = D[p] * pull(z)
            loss = loss + D[p] * z / (sqrt(1 + z) * (1 + sqrt(1 + z)))
            lost = lost + max(weight[p] - w, 0)
            total = total + w
            weight[p] = w
            signed_sum[i] += w
            signed_sum[j] -= w
            degree[i] += w
            degree[j] += w
        sums[q, 0] = loss
        sums[q, 1] = total
        sums[q, 2] = lost


def parts(
    pairs,                                  # IN, (winner, loser, pair offsets)
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[::1] D,                    # IN, (n_pairs,)
    const double[::1] x,                    # IN, (n_pairs,)
    const double[::1] step,                 # IN, (5,): alpha, exp(-alpha), exp(alpha), and 1 minus
                                            #     these two
    double[::1] even,                       # OUT, (n_pairs,)
    double[::1] signed_sum,                 # OUT, (n_samples,)
    double[::1] degree,                     # OUT, (n_samples,)
    int n_threads,
):
    """What a pair's loss falls by from o to o + alpha, split into even and odd part.

    even[p] is the even part over alpha^2, degree its sum over a row's pairs; signed_sum the odd
    part over alpha, with the sign of a win or a loss.
    """
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[2]
    cdef double down = step[1]
    cdef double up = step[2]
    cdef double not_down = step[3]
    cdef double not_up = step[4]
    cdef Py_ssize_t q, p, i, j
    cdef double root, ahead, back, half_odd
    for q in prange(offsets.shape[0] - 1, schedule="static", nogil=True, num_threads=n_threads):
        for i in range(offsets[q], offsets[q + 1]):
            signed_sum[i] = 0
            degree[i] = 0
        for p in range(pair_offsets[q], pair_offsets[q + 1]):
            i = winner[p]
            j = loser[p]
            root = sqrt(1 + x[p])
            ahead = rise(x[p], root, down, not_down)
            back = rise(x[p], root, up, not_up)
            half_odd = D[p] / (2 * step[0])
            even[p] = half_odd / step[0] * (ahead + back)
            degree[i] += even[p]
            degree[j] += even[p]
            signed_sum[i] += half_odd * (ahead - back)
            signed_sum[j] -= half_odd * (ahead - back)


def crossing(
    const unsigned char[::1] above,         # IN, (n_samples,)
    pairs,                                  # IN, (winner, loser, pair offsets)
    const double[::1] weight,               # IN, (n_pairs,)
    double[:, ::1] sums,                    # OUT, (n_queries, 2)
    int n_threads,
):
    """Weight of the pairs with the winner above only, and of those with the loser above only."""
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[2]
    cdef Py_ssize_t q, p
    for q in prange(sums.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        sums[q, 0] = 0
        sums[q, 1] = 0
        for p in range(pair_offsets[q], pair_offsets[q + 1]):
            if above[winner[p]] != above[loser[p]]:
                sums[q, above[loser[p]]] += weight[p]


def along(
    const unsigned char[::1] above,         # IN, (n_samples,)
    pairs,                                  # IN, (winner, loser, pair offsets)
    const double[::1] D,                    # IN, (n_pairs,)
    const double[::1] x,                    # IN, (n_pairs,)
    const double[:, ::1] steps,             # IN, (n_steps, 5), rows as in `parts`
    double[:, :, ::1] sums,                 # OUT, (n_queries, n_steps, 2)
    int n_threads,
):
    """What the loss falls by if alpha is added to the scores above, and its slope in alpha."""
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[2]
    cdef Py_ssize_t q, p, k, s
    cdef double root, slope
    for q in prange(sums.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        for k in range(steps.shape[0]):
            sums[q, k, 0] = 0
            sums[q, k, 1] = 0
        for p in range(pair_offsets[q], pair_offsets[q + 1]):
            s = above[loser[p]]     # 1: the difference of the pair shrinks by alpha
            if above[winner[p]] == s:
                continue
            root = sqrt(1 + x[p])
            for k in range(steps.shape[0]):
                slope = pull(x[p] * steps[k, 1 + s])
                sums[q, k, 0] += D[p] * rise(x[p], root, steps[k, 1 + s], steps[k, 3 + s])
                sums[q, k, 1] += D[p] * (-0.5 * slope if s else 0.5 * slope)
