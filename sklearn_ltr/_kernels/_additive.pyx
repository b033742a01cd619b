# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scores of sums of one-feature step functions.

Serves `weak/step_functions.py`.
"""

from cython.parallel cimport prange

from sklearn_ltr._kernels._types cimport floating


cdef inline double step_value(
    double x, const double* thresholds, const double* values, Py_ssize_t n
) noexcept nogil:
    """values[number of thresholds < x], values[n + 1] for a missing x."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t m = n
    cdef Py_ssize_t half
    if x != x:
        return values[n + 1]
    while m > 1:
        half = m >> 1
        if thresholds[low + half - 1] < x:
            low = low + half
        m = m - half
    if m == 1 and thresholds[low] < x:
        low = low + 1
    return values[low]


def step_functions(
    const floating[:, :] X,                 # IN, any strides
    const Py_ssize_t[::1] features,         # IN, (n_steps,) the column of each step function
    const Py_ssize_t[::1] starts,           # IN, (n_steps + 1,) offsets in thresholds
    const double[::1] thresholds,           # IN, ascending within a step function; not empty
    const double[::1] values,               # IN, two more than thresholds for each step function
    double[::1] out,                        # OUT
    int n_threads,
):
    """Sum of the step functions at each row."""
    cdef Py_ssize_t i, s
    cdef double score
    for i in prange(X.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        score = 0
        for s in range(features.shape[0]):
            score = score + step_value(
                X[i, features[s]], &thresholds[0] + starts[s], &values[0] + starts[s] + 2 * s,
                starts[s + 1] - starts[s],
            )
        out[i] = score
