# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause

cdef double expected_changes(
    int kind, Py_ssize_t n, Py_ssize_t T, const double* discount, const double* score,
    const double* gain, double* alpha, double* f, double* beta, double* omega,
) noexcept nogil
