# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The pairs of LambdaRank: of tied rows, and of a row with those below it.

Serves `_lambdas.pyx`.
"""

from libc.math cimport fabs, fmax


cdef void pairs_within(
    Py_ssize_t m, double factor, const double* gain, double* gradient, double* curvature,
    double* total,
) noexcept nogil:
    """Add the pairs of tied rows, which come by descending gain, in O(m).

    Their probabilities are 1/2.
    """
    cdef Py_ssize_t j
    cdef double gains = 0, part = 0
    for j in range(m):                  # pairs that j loses
        if j == 0 or gain[j] != gain[j - 1]:
            part = 0.5 * factor * fmax(gains - j * gain[j], 0)
        gradient[j] += part
        curvature[j] += 0.5 * part
        total[j] += part
        gains += gain[j]
    gains = 0
    for j in range(m - 1, -1, -1):      # pairs that j wins
        if j == m - 1 or gain[j] != gain[j + 1]:
            part = 0.5 * factor * fmax((m - 1 - j) * gain[j] - gains, 0)
        gradient[j] -= part
        curvature[j] += 0.5 * part
        gains += gain[j]


cdef void pairs_below(
    Py_ssize_t n, double score, double gain, double alpha, double f, double reference,
    double offset, double slope, in_t scores, in_t gains, in_t weights, in_t beta, out_t pull,
    out_t bend, out_t gradient, out_t curvature, out_t total,
) noexcept nogil:
    """Add the pairs of one row with n rows of lower scores: to theirs, and in `pull` and `bend`.

    Without branches and sums over rows, so that it compiles to SIMD instructions.
    """
    cdef Py_ssize_t j
    cdef double odds, gap, inverse, difference, delta, push
    for j in range(n):
        odds = weights[j] * reference           # exp(-(score - scores[j])), without an exp
        gap = offset + slope * (score - scores[j])
        inverse = 1 / ((1 + odds) * gap)
        difference = gain - gains[j]
        delta = alpha + f * beta[j]             # below 0 by rounding only
        delta = (delta if delta > 0 else 0) * inverse
        push = difference * delta * (odds if difference > 0 else 1.0)
        pull[j] = push
        bend[j] = fabs(difference) * delta * odds * inverse * gap
        gradient[j] += push
        total[j] += fabs(push)
        curvature[j] += bend[j]


cdef double sum_of(const double* values, Py_ssize_t n) noexcept nogil:
    cdef double a = 0, b = 0, c = 0, d = 0
    cdef Py_ssize_t j
    for j in range(0, n - 3, 4):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
    for j in range(n - n % 4, n):
        a += values[j]
    return (a + b) + (c + d)
