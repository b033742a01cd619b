# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Likelihood of the order of a query's rows in the model of Plackett and Luce.

Serves `losses/list_likelihood.py`.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, exp, fabs, log, log1p


cdef double query_sums(
    const double[::1] scores,
    const Py_ssize_t[::1] bounds,
    Py_ssize_t lowest,
    Py_ssize_t end,
    double[::1] log_sum,
    double[::1] expected,
) noexcept nogil:
    """Loss of the query of the grades `lowest` to `end` - 1."""
    cdef Py_ssize_t g, i
    cdef double top = -INFINITY, total = 0, loss = 0, rate = -INFINITY, term
    for g in range(lowest, end):
        for i in range(bounds[g], bounds[g + 1]):
            if scores[i] > top:
                total = total * exp(top - scores[i]) + 1
                top = scores[i]
            else:
                total += exp(scores[i] - top)
        log_sum[g] = top + log(total)
        if g > lowest:
            for i in range(bounds[g], bounds[g + 1]):
                loss += log_sum[g] - scores[i]
    # `rate` is the logarithm of the sum of m / exp(log_sum) over the grades so far.
    for g in range(end - 1, lowest - 1, -1):
        if g > lowest:
            term = log(<double>(bounds[g + 1] - bounds[g])) - log_sum[g]
            rate = max(rate, term) + log1p(exp(-fabs(rate - term)))
        for i in range(bounds[g], bounds[g + 1]):
            expected[i] = exp(scores[i] + rate)
    return loss


def plackett_luce(
    const double[::1] scores,           # IN, (n_samples,), the rows of a query by ascending grade
    const Py_ssize_t[::1] bounds,       # IN, (n_grades + 1,), where each grade of each query begins
    const Py_ssize_t[::1] grades,       # IN, (n_queries + 1,), the first grade of each query
    int n_threads,
    double[::1] log_sum,                # OUT, scratch, (n_grades,)
    double[::1] value,                  # OUT, (n_queries,), negative log likelihood
    double[::1] expected,               # OUT, (n_samples,), expected number of times that each row
                                        #     is chosen
):
    """Rows of one grade are chosen from those of their grade or below; the lowest grade is not."""
    cdef Py_ssize_t q
    for q in prange(value.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        value[q] = query_sums(scores, bounds, grades[q], grades[q + 1], log_sum, expected)
