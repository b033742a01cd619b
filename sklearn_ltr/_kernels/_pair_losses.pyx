# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the pairs of a query of functions of the difference of their scores.

Serves `losses/sums_over_pairs.py`.
"""

from cython.parallel cimport prange
from libc.math cimport exp, fabs, log, log1p, sqrt, tanh

from sklearn_ltr._kernels._types cimport FIDELITY_SLOPE, LOGISTIC_CURVATURE

cdef enum:
    # A difference beyond counts as this in the fidelity; the slope is then exp(-200) at most.
    FARTHEST = 400

cdef double ENOUGH = 1e300      # at which a product of numbers from 1 to 2 cannot overflow yet
cdef double LITTLE = 1e-150     # at which one of numbers from e^-300 to 1 cannot underflow yet


cdef inline double half_pull(double x) noexcept nogil:
    """Derivative of 1 / sqrt(1 + x) with respect to -log(x)."""
    return x / (2 * (1 + x) * sqrt(1 + x))


cdef inline double value_of(int term, double d, double target, double rest) noexcept nogil:
    cdef double x
    if term == LOGISTIC_CURVATURE:
        # Below, rounding could not tell the quotient from its limit, and it might be 0 / 0.
        return tanh(d / 2) / (2 * d) if fabs(d) > 1e-9 else 0.25
    x = exp(-min(max(d, -FARTHEST), FARTHEST))
    if term == FIDELITY_SLOPE:
        return rest * half_pull(1 / x) - target * half_pull(x)
    if rest == 0:
        # 1 - 1 / sqrt(1 + x), without loss of digits where x is small
        return x / (sqrt(1 + x) * (1 + sqrt(1 + x)))
    return max(1 - target / sqrt(1 + x) - rest / sqrt(1 + 1 / x), 0.0)


cdef void pair_sums_of_query(
    int term,
    const double[::1] scores,
    const double[::1] weight,
    const Py_ssize_t[::1] lower,
    Py_ssize_t start,
    Py_ssize_t first,
    Py_ssize_t last,
    double target,
    double rest,
    double sign,
    double[::1] out,
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double t, w, total
    for i in range(first, last):
        total = 0
        w = weight[i]
        for j in range(start, lower[i]):
            t = w * value_of(term, scores[i] - scores[j], target, rest)
            total += t
            out[j] += sign * t
        out[i] += total


def pair_sums(
    int term,
    const double[::1] scores,           # IN, (n_samples,), the rows of a query by ascending grade
    const double[::1] weight,           # IN, (n_samples,), of the pairs that a row wins
    const Py_ssize_t[::1] lower,        # IN, (n_samples,), end of the rows of lower grade
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    Py_ssize_t first,                   # the winners are the rows first, first + 1, ..., last - 1
    Py_ssize_t last,
    double target,                      # of the fidelity: square root of P*, and of 1 - P*
    double rest,
    double sign,                        # of a term in the sum of the loser: -1, 0, or 1
    int n_threads,
    double[::1] out,                    # IN, OUT, (n_samples,)
):
    """Add the term of every pair to its winner and, times `sign`, to its loser."""
    cdef Py_ssize_t q
    for q in prange(offsets.shape[0] - 1, schedule="guided", nogil=True, num_threads=n_threads):
        pair_sums_of_query(
            term, scores, weight, lower, offsets[q], max(offsets[q], first),
            min(offsets[q + 1], last), target, rest, sign, out
        )


cdef double logistic_sums_of_query(
    const double[::1] scores,
    const double[::1] weight,
    const Py_ssize_t[::1] lower,
    Py_ssize_t start,
    Py_ssize_t first,
    Py_ssize_t last,
    double[::1] slope,
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double d, x, t, total, value = 0, product = 1, w = 1
    for i in range(first, last):
        total = 0
        if weight[i] != w:
            value += w * log(product)
            product = 1
            w = weight[i]
        for j in range(start, lower[i]):
            d = scores[i] - scores[j]
            x = exp(-fabs(d))
            t = w * ((x if d > 0 else 1) / (1 + x))
            total += t
            slope[j] += t
            # One logarithm for many pairs: it takes longer than all else.
            value += w * max(-d, 0.0)
            product *= 1 + x
            if product > ENOUGH:
                value += w * log(product)
                product = 1
        slope[i] -= total
    return value + w * log(product)


def logistic_sums(
    const double[::1] scores,           # IN, (n_samples,), as in `pair_sums`
    const double[::1] weight,
    const Py_ssize_t[::1] lower,
    const Py_ssize_t[::1] offsets,
    Py_ssize_t first,
    Py_ssize_t last,
    int n_threads,
    double[::1] value,                  # IN, OUT, (n_queries,)
    double[::1] slope,                  # IN, OUT, (n_samples,)
):
    """Add log(1 + exp(-d)) over the pairs of each query, and its derivatives of each row."""
    cdef Py_ssize_t q
    for q in prange(offsets.shape[0] - 1, schedule="guided", nogil=True, num_threads=n_threads):
        value[q] += logistic_sums_of_query(
            scores, weight, lower, offsets[q], max(offsets[q], first), min(offsets[q + 1], last),
            slope
        )


cdef double gap_logistic_sums_of_query(
    bint far,
    const double[::1] strength,
    const double[::1] grades,
    const double[::1] weight,
    const Py_ssize_t[::1] lower,
    Py_ssize_t start,
    Py_ssize_t first,
    Py_ssize_t last,
    double[::1] slope,
    double[::1] bend,
) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double w, gap, next_gap, d, x, right, pull, pulls, bends, value = 0, product
    for i in range(first, last):
        pulls = bends = gap = 0
        product = 1
        w = weight[i]
        for j in range(start, lower[i]):
            next_gap = w * (grades[i] - grades[j])
            if next_gap != gap or product < LITTLE:
                # One logarithm for many pairs, as above.
                value -= gap * log(product)
                gap, product = next_gap, 1
            if far:
                d = strength[j] - strength[i]
                x = exp(-fabs(d))
                right = (1 if d < 0 else x) / (1 + x)
                pull = gap * ((x if d < 0 else 1) / (1 + x))
                value += gap * (max(d, 0.0) + log1p(x))
            else:
                right = strength[i] / (strength[i] + strength[j])
                pull = gap * (strength[j] / (strength[i] + strength[j]))
                product *= right
            pulls += pull
            slope[j] += pull
            bends += pull * right
            bend[j] += pull * right
        value -= gap * log(product)
        slope[i] -= pulls
        bend[i] += bends
    return value


def gap_logistic_sums(
    const double[::1] strength,         # IN, (n_samples,), as in `logistic_sums`: e^score, or the
                                        #     score in queries where scores are far apart
    const unsigned char[::1] far,       # IN, (n_queries,), which are those of scores
    const double[::1] grades,           # IN, (n_samples,), ascending within a query
    const double[::1] weight,
    const Py_ssize_t[::1] lower,
    const Py_ssize_t[::1] offsets,
    Py_ssize_t first,
    Py_ssize_t last,
    int n_threads,
    double[::1] value,                  # IN, OUT, (n_queries,)
    double[::1] slope,                  # IN, OUT, (n_samples,)
    double[::1] bend,                   # IN, OUT, (n_samples,)
):
    """The same times the difference of the grades, and the second derivatives of each row."""
    cdef Py_ssize_t q
    for q in prange(offsets.shape[0] - 1, schedule="guided", nogil=True, num_threads=n_threads):
        value[q] += gap_logistic_sums_of_query(
            far[q], strength, grades, weight, lower, offsets[q], max(offsets[q], first),
            min(offsets[q + 1], last), slope, bend
        )
