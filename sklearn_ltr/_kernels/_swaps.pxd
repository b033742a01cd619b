# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause

cdef double expected_changes(
    int kind, Py_ssize_t n, Py_ssize_t T, const double* discount, const double* score,
    const double* gain, double* alpha, double* f, double* beta, double* omega,
) noexcept nogil


cdef inline Py_ssize_t tie_end(
    const double* score, Py_ssize_t n, Py_ssize_t first
) noexcept nogil:
    """End of the rows tied with the first: at least one row, even where no score equals itself."""
    cdef Py_ssize_t j = first + 1
    while j < n and score[j] == score[first]:
        j += 1
    return j
