# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the pairs of a query of functions of the difference of their scores."""

from libc.math cimport exp, fabs, log1p, sqrt, tanh


cdef enum Term:         # the order of `smooth_pairs.TERMS`
    LOGISTIC
    LOGISTIC_SLOPE
    LOGISTIC_CURVATURE
    FIDELITY
    FIDELITY_SLOPE


cdef enum:
    # A difference beyond counts as this in the fidelity; the slope is then exp(-200) at most.
    FARTHEST = 400


cdef inline double half_pull(double x) noexcept nogil:
    """Derivative of 1 / sqrt(1 + x) with respect to -log(x)."""
    return x / (2 * (1 + x) * sqrt(1 + x))


cdef inline double value_of(int term, double d, double target, double rest) noexcept nogil:
    cdef double x
    if term == LOGISTIC:
        return max(-d, 0.0) + log1p(exp(-fabs(d)))
    if term == LOGISTIC_SLOPE:
        x = exp(-fabs(d))
        return -(x if d > 0 else 1) / (1 + x)
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


def pair_sums(
    int term,
    const double[::1] scores,           # IN, (n_samples,), the rows of a query by ascending grade
    const Py_ssize_t[::1] lower,        # IN, (n_samples,), end of the rows of lower grade
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    double target,                      # of the fidelity: square root of P*, and of 1 - P*
    double rest,
    double sign,                        # of a term in the sum of the loser: -1, 0, or 1
    double[::1] out,                    # OUT, (n_samples,), zeros
):
    """Add the term of every pair to its winner and, times `sign`, to its loser."""
    cdef Py_ssize_t q, i, j
    cdef double t, total
    with nogil:
        for q in range(offsets.shape[0] - 1):
            for i in range(offsets[q], offsets[q + 1]):
                total = 0
                for j in range(offsets[q], lower[i]):
                    t = value_of(term, scores[i] - scores[j], target, rest)
                    total += t
                    out[j] += sign * t
                out[i] += total
