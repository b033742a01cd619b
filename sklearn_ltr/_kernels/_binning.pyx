# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Feature values to bin codes, in blocks of features that are row-major inside a block."""

from cython.parallel cimport prange

ctypedef fused floating:
    float
    double

ctypedef fused code_t:
    unsigned char
    unsigned short

ctypedef fused index_t:
    int
    long long


cdef inline Py_ssize_t count_below(
    const double* thresholds, Py_ssize_t n, double value
) noexcept nogil:
    # Branch-light binary search for the number of thresholds < value.
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t half
    while n > 1:
        half = n >> 1
        if thresholds[low + half - 1] < value:
            low = low + half
        n = n - half
    if n == 1 and thresholds[low] < value:
        low = low + 1
    return low


cdef inline Py_ssize_t code_of(
    double value, const double[::1] thresholds, Py_ssize_t start, Py_ssize_t stop
) noexcept nogil:
    if value != value:
        return stop - start + 1
    return count_below(&thresholds[0] + start, stop - start, value)


def bin_dense(
    const floating[:, :] X,             # IN, any strides
    const Py_ssize_t[::1] rows,         # IN, rows of X to take
    const double[::1] thresholds,       # IN, ascending within a feature; not empty
    const Py_ssize_t[::1] starts,       # IN, (n_features + 1,) offsets in thresholds
    code_t[:, :, ::1] codes,            # OUT, (n_blocks, n_rows, width)
    int n_threads,
):
    """Code = number of thresholds below the value; missing = number of thresholds + 1."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t n_features = starts.shape[0] - 1
    cdef Py_ssize_t i, k, row
    for i in prange(rows.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        row = rows[i]
        for k in range(n_features):
            codes[k // width, i, k % width] = <code_t>code_of(
                X[row, k], thresholds, starts[k], starts[k + 1]
            )


def bin_csr(
    const floating[::1] data,           # IN
    const index_t[::1] indices,         # IN
    const index_t[::1] indptr,          # IN
    const Py_ssize_t[::1] rows,         # IN
    const double[::1] thresholds,       # IN
    const Py_ssize_t[::1] starts,       # IN
    const code_t[::1] zero_codes,       # IN, (n_features,) code of an absent cell
    code_t[:, :, ::1] codes,            # OUT
    int n_threads,
):
    """`bin_dense` of a CSR matrix without duplicate entries."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t i, k, p, row
    for i in prange(rows.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        row = rows[i]
        for k in range(zero_codes.shape[0]):
            codes[k // width, i, k % width] = zero_codes[k]
        for p in range(indptr[row], indptr[row + 1]):
            k = indices[p]
            codes[k // width, i, k % width] = <code_t>code_of(
                data[p], thresholds, starts[k], starts[k + 1]
            )
