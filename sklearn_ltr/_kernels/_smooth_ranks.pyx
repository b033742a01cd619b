# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Positions that are smooth functions of the scores of a query, and slopes of functions of them.

Serves `losses/approx_ndcg.py`.
"""

from cython.parallel cimport prange
from libc.math cimport exp, fabs, fmax


cdef double smooth_rank(
    const double[::1] scores, Py_ssize_t i, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    """1 + the sum over all other rows of how far they are ahead, from 0 to 1."""
    cdef Py_ssize_t j
    cdef double d, x, total = 0.5       # the row itself adds 1/2 of its own
    for j in range(start, end):
        d = scores[j] - scores[i]
        x = exp(-fabs(d))
        total += (1 if d > 0 else x) / (1 + x)
    return total


cdef void slopes_of_row(
    const double[::1] scores, const double[::1] pull, Py_ssize_t i, Py_ssize_t start,
    Py_ssize_t end, double* gradient, double* curvature,
) noexcept nogil:
    cdef Py_ssize_t j
    cdef double x, steepness, slope = 0, bend = 0
    for j in range(start, end):
        x = exp(-fabs(scores[j] - scores[i]))
        steepness = x / ((1 + x) * (1 + x))
        slope += (pull[j] - pull[i]) * steepness
        bend += (fmax(pull[j], pull[i]) if j != i else 0) * steepness
    gradient[0] = slope
    curvature[0] = 2 * bend


def smooth_ranks(
    const double[::1] scores,           # IN, (n_samples,)
    const double[::1] gains,            # IN, (n_samples,)
    const Py_ssize_t[::1] start,        # IN, (n_samples,), of the rows of each row's query
    const Py_ssize_t[::1] end,          # IN, (n_samples,)
    Py_ssize_t first,                   # the rows first, first + 1, ..., last - 1 only
    Py_ssize_t last,
    int n_threads,
    double[::1] ranks,                  # OUT, (n_samples,), 1 where the gain is 0
):
    """Smooth positions of the rows of positive gain, from 1 on."""
    cdef Py_ssize_t i
    for i in prange(first, last, schedule="guided", nogil=True, num_threads=n_threads):
        ranks[i] = smooth_rank(scores, i, start[i], end[i]) if gains[i] > 0 else 1


def slopes(
    const double[::1] scores,           # IN, (n_samples,)
    const double[::1] pull,             # IN, (n_samples,), derivatives by positions, not negative
    const Py_ssize_t[::1] start,        # IN, (n_samples,), as in `smooth_ranks`
    const Py_ssize_t[::1] end,
    Py_ssize_t first,
    Py_ssize_t last,
    int n_threads,
    double[::1] gradient,               # OUT, (n_samples,), derivatives by the scores
    double[::1] curvature,              # OUT, (n_samples,), a bound of the second ones
):
    """Derivatives of a sum of functions of the smooth positions."""
    cdef Py_ssize_t i
    for i in prange(first, last, schedule="guided", nogil=True, num_threads=n_threads):
        slopes_of_row(scores, pull, i, start[i], end[i], &gradient[i], &curvature[i])
