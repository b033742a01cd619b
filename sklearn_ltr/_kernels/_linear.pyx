# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Linear functions of rows, and hidden layers of nets, each sum in an order of its own.

Serves `linear.py`.

The terms of a row are added in the same order whatever rows are around it and however they are
stored, which no BLAS promises. What a sparse row leaves out would change no sum: a sum that begins
at 0 is never -0, and so stays what it is when 0 or -0 is added.
"""

from cython.parallel cimport prange
from libc.math cimport exp, tanh

from sklearn_ltr._kernels._types cimport LOGISTIC, TANH, floating, index_t

# Long rows take as long as it takes to fetch them, and processors look ahead by too little.
cdef extern from *:
    """
    #if defined(__GNUC__)
    #define SKLEARN_LTR_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define SKLEARN_LTR_PREFETCH(p) (void)(p)
    #endif
    """
    void prefetch "SKLEARN_LTR_PREFETCH"(const void* address) noexcept nogil

cdef enum:
    LANES = 8               # partial sums of a row: that of column j is j % LANES
    AHEAD = 4096            # bytes to look ahead
    ROWS = 4                # of a block that a hidden layer takes at a time
    UNITS = 4


cdef inline double total(const double* lanes) noexcept nogil:
    return (
        ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
        + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    )


cdef inline double activated(double z, int activation) noexcept nogil:
    # One value at a time, by the C library: functions of whole vectors may round the last few
    # values in another way.
    if activation == TANH:
        return tanh(z)
    if activation == LOGISTIC:
        return 1 / (1 + exp(-z))
    return 0 if z <= 0 else z


cdef inline double dense_sum(
    const floating* x, const double* weights, Py_ssize_t n
) noexcept nogil:
    cdef double[LANES] lanes
    cdef Py_ssize_t j, k, lane
    for lane in range(LANES):
        lanes[lane] = 0
    for k in range(n // LANES):
        prefetch(<const char*>(x + k * LANES) + AHEAD)
        for lane in range(LANES):
            lanes[lane] += <double>x[k * LANES + lane] * weights[k * LANES + lane]
    for j in range(n // LANES * LANES, n):
        lanes[j % LANES] += <double>x[j] * weights[j]
    return total(lanes)


cdef inline double sparse_sum(
    const floating* values, const index_t* columns, const double* weights, Py_ssize_t n
) noexcept nogil:
    cdef double[LANES] lanes
    cdef Py_ssize_t k, lane
    for lane in range(LANES):
        lanes[lane] = 0
    for k in range(n):
        lanes[columns[k] % LANES] += <double>values[k] * weights[columns[k]]
    return total(lanes)


def of_dense_rows(
    const floating[:, ::1] X,           # IN, at least one column
    const double[::1] weights,          # IN, (n_features,)
    int n_threads,
    double[::1] out,                    # OUT
):
    """Weighted sum of each row."""
    cdef Py_ssize_t i
    for i in prange(X.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        out[i] = dense_sum(&X[i, 0], &weights[0], X.shape[1])


def of_sparse_rows(
    const floating[::1] values,         # IN, of a canonical CSR matrix
    const index_t[::1] columns,         # IN
    const index_t[::1] starts,          # IN, (n_samples + 1,)
    const double[::1] weights,          # IN, (n_features,)
    int n_threads,
    double[::1] out,                    # OUT
):
    """Weighted sum of each row: the bits of `of_dense_rows`."""
    cdef Py_ssize_t i
    cdef const floating* x = &values[0] if values.shape[0] else NULL
    cdef const index_t* j = &columns[0] if values.shape[0] else NULL
    for i in prange(out.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        out[i] = sparse_sum(x + starts[i], j + starts[i], &weights[0], starts[i + 1] - starts[i])


cdef inline void sum_block(
    const floating* x, const Py_ssize_t* rows, const double* weights, Py_ssize_t n_features,
    Py_ssize_t n_units, double* out,
) noexcept nogil:
    """Sums of ROWS rows for UNITS units, which stay in registers."""
    cdef double[ROWS * UNITS] sums
    cdef Py_ssize_t j, r, u
    for r in range(ROWS * UNITS):
        sums[r] = 0
    for j in range(n_features):
        for r in range(ROWS):
            for u in range(UNITS):
                sums[r * UNITS + u] += <double>x[rows[r] + j] * weights[j * n_units + u]
    for r in range(ROWS * UNITS):
        out[r] = sums[r]


cdef inline void sum_unit(
    const floating* x, const Py_ssize_t* rows, const double* weights, Py_ssize_t n_features,
    Py_ssize_t n_units, double* out,
) noexcept nogil:
    """Sums of ROWS rows for one unit."""
    cdef double[ROWS] sums
    cdef Py_ssize_t j, r
    for r in range(ROWS):
        sums[r] = 0
    for j in range(n_features):
        for r in range(ROWS):
            sums[r] += <double>x[rows[r] + j] * weights[j * n_units]
    for r in range(ROWS):
        out[r * UNITS] = sums[r]


cdef void dense_block(
    const floating[:, ::1] X, Py_ssize_t start, const double[:, ::1] weights,
    const double[::1] intercepts, int activation, double[:, ::1] out,
) noexcept nogil:
    """A hidden layer's outputs at ROWS rows from `start`, or at as many as there are."""
    cdef Py_ssize_t[ROWS] rows          # where they start; the last one again where it is too few
    cdef double[ROWS * UNITS] sums
    cdef Py_ssize_t n_features = X.shape[1], n_units = weights.shape[1]
    cdef Py_ssize_t n_rows = min(<Py_ssize_t>ROWS, X.shape[0] - start)
    cdef Py_ssize_t unit = 0, n, r, u
    for r in range(ROWS):
        rows[r] = (start + min(r, n_rows - 1)) * n_features
    while unit < n_units:
        n = UNITS if unit + UNITS <= n_units else 1
        if n == UNITS:
            sum_block(&X[0, 0], rows, &weights[0, unit], n_features, n_units, sums)
        else:
            sum_unit(&X[0, 0], rows, &weights[0, unit], n_features, n_units, sums)
        for r in range(n_rows):
            for u in range(unit, unit + n):
                out[start + r, u] = activated(
                    sums[r * UNITS + u - unit] + intercepts[u], activation
                )
        unit += n


def layer_of_dense_rows(
    const floating[:, ::1] X,           # IN, at least one column
    const double[:, ::1] weights,       # IN, (n_features, n_units)
    const double[::1] intercepts,       # IN, (n_units,)
    int activation,                     # an Activation
    int n_threads,
    double[:, ::1] out,                 # OUT, (n_samples, n_units)
):
    """Outputs of a hidden layer: for each unit the terms are added in the order of the columns."""
    cdef Py_ssize_t block
    for block in prange(
        (X.shape[0] + ROWS - 1) // ROWS, schedule="static", nogil=True, num_threads=n_threads
    ):
        dense_block(X, block * ROWS, weights, intercepts, activation, out)


cdef void sparse_row(
    const floating* values, const index_t* columns, Py_ssize_t n, const double[:, ::1] weights,
    const double[::1] intercepts, int activation, double* out,
) noexcept nogil:
    cdef Py_ssize_t n_units = weights.shape[1]
    cdef Py_ssize_t k, u
    for u in range(n_units):
        out[u] = 0
    for k in range(n):
        for u in range(n_units):
            out[u] += <double>values[k] * weights[columns[k], u]
    for u in range(n_units):
        out[u] = activated(out[u] + intercepts[u], activation)


def layer_of_sparse_rows(
    const floating[::1] values,         # IN, of a canonical CSR matrix
    const index_t[::1] columns,         # IN
    const index_t[::1] starts,          # IN, (n_samples + 1,)
    const double[:, ::1] weights,       # IN, (n_features, n_units)
    const double[::1] intercepts,       # IN, (n_units,)
    int activation,                     # an Activation
    int n_threads,
    double[:, ::1] out,                 # OUT, (n_samples, n_units)
):
    """Outputs of a hidden layer: the bits of `layer_of_dense_rows`."""
    cdef Py_ssize_t i
    cdef const floating* x = &values[0] if values.shape[0] else NULL
    cdef const index_t* j = &columns[0] if values.shape[0] else NULL
    for i in prange(out.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        sparse_row(
            x + starts[i], j + starts[i], starts[i + 1] - starts[i], weights, intercepts,
            activation, &out[i, 0],
        )
