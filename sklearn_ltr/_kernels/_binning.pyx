# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Feature values to bin codes, in blocks of features that are row-major inside a block.

Serves `binning.py`.
"""

from cython.parallel cimport prange
from libc.string cimport memcpy, memset

from sklearn_ltr._kernels._types cimport code_t, floating, index_t

cdef enum:
    TILE = 128      # rows whose codes are found together
    WIDTH = 8       # columns that are read together
    LANES = 8       # searches that run side by side


cdef inline void load_tile(
    const floating[:, :] X,
    const Py_ssize_t* rows,
    Py_ssize_t n_rows,                  # at most TILE
    Py_ssize_t first,                   # column of X
    Py_ssize_t n_columns,               # at most WIDTH
    floating* values,                   # OUT, (n_rows, WIDTH)
) noexcept nogil:
    # Nothing but loads and stores, so that many rows are on their way from memory at a time.
    cdef Py_ssize_t i, j, row
    for i in range(n_rows):
        row = rows[i]
        for j in range(n_columns):
            values[i * WIDTH + j] = X[row, first + j]


def gather(
    const floating[:, :] X,             # IN, any strides
    const Py_ssize_t[::1] rows,         # IN, rows of X to take
    Py_ssize_t first,                   # first column of X to take
    floating[:, ::1] columns,           # OUT, (at most WIDTH, n_rows)
):
    """Neighbouring columns of some rows."""
    cdef floating values[TILE * WIDTH]
    cdef Py_ssize_t n_columns = columns.shape[0]
    cdef Py_ssize_t tile, start, n_rows, i, j
    with nogil:
        for tile in range((rows.shape[0] + TILE - 1) // TILE):
            start = tile * TILE
            n_rows = min(TILE, rows.shape[0] - start)
            load_tile(X, &rows[start], n_rows, first, n_columns, values)
            for j in range(n_columns):
                for i in range(n_rows):
                    columns[j, start + i] = values[i * WIDTH + j]


cdef inline unsigned long long key_of(double value) noexcept nogil:
    # An integer in the order of the numbers, which compares faster; above all for NaN.
    cdef unsigned long long bits
    cdef unsigned long long sign = (<unsigned long long>1) << 63
    value = value + 0.0  # -0.0 to 0.0
    memcpy(&bits, &value, 8)
    if value != value:
        return ~(<unsigned long long>0)
    return bits ^ (-(bits >> 63) | sign)


def keys_of(
    const double[::1] values,           # IN
    unsigned long long[::1] keys,       # OUT
):
    """Integers in the order of the numbers."""
    cdef Py_ssize_t i
    for i in range(values.shape[0]):
        keys[i] = key_of(values[i])


cdef inline void count_below(
    const unsigned long long* cuts,     # IN, ascending
    Py_ssize_t n,                       # at least 1
    const unsigned long long* keys,     # IN, (LANES,)
    int* counts,                        # OUT, (LANES,) number of cuts below each key
) noexcept nogil:
    # Binary searches without branches, side by side: they wait for memory together.
    cdef Py_ssize_t low[LANES]
    cdef Py_ssize_t half
    cdef int lane
    for lane in range(LANES):
        low[lane] = 0
    while n > 1:
        half = n >> 1
        for lane in range(LANES):
            low[lane] += -<Py_ssize_t>(cuts[low[lane] + half - 1] < keys[lane]) & half
        n = n - half
    for lane in range(LANES):
        counts[lane] = <int>(low[lane] + (cuts[low[lane]] < keys[lane]))


cdef void bin_tile(
    const floating[:, :] X,
    const Py_ssize_t* rows,
    Py_ssize_t n_rows,                  # at most TILE
    const unsigned long long* cuts,
    const Py_ssize_t[::1] starts,
    code_t[:, :, ::1] codes,
    Py_ssize_t start,                   # where the codes of the first row go
) noexcept nogil:
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t n_features = starts.shape[0] - 1
    cdef Py_ssize_t block, i, j, k, in_block
    cdef floating values[TILE * WIDTH]
    cdef unsigned long long keys[TILE]
    cdef int counts[TILE]
    memset(keys, 0, sizeof(keys))
    for block in range(codes.shape[0]):
        in_block = min(width, n_features - block * width)
        load_tile(X, rows, n_rows, block * width, in_block, values)
        for j in range(in_block):
            k = block * width + j
            for i in range(n_rows):
                keys[i] = key_of(values[i * WIDTH + j])
            for i in range((n_rows + LANES - 1) // LANES):
                count_below(
                    cuts + starts[k], starts[k + 1] - starts[k],
                    &keys[i * LANES], &counts[i * LANES],
                )
            for i in range(n_rows):
                codes[block, start + i, j] = <code_t>counts[i]


def bin_dense(
    const floating[:, :] X,             # IN, any strides
    const Py_ssize_t[::1] rows,         # IN, rows of X to take
    const unsigned long long[::1] cuts,  # IN, keys, ascending within a feature
    const Py_ssize_t[::1] starts,       # IN, (n_features + 1,) offsets in cuts
    Py_ssize_t first,                   # number of the first of these rows in `codes`
    code_t[:, :, ::1] codes,            # OUT, (n_blocks, all rows, width)
    int n_threads,
):
    """Code = number of cuts below the value; NaN is above all of them."""
    cdef Py_ssize_t n_rows = rows.shape[0]
    cdef Py_ssize_t tile
    for tile in prange(
        (n_rows + TILE - 1) // TILE, schedule="static", nogil=True, num_threads=n_threads
    ):
        bin_tile(
            X, &rows[tile * TILE], min(TILE, n_rows - tile * TILE), &cuts[0], starts, codes,
            first + tile * TILE,
        )


cdef void bin_csr_tile(
    const floating[::1] data,
    const index_t[::1] indices,
    const index_t[::1] indptr,
    const Py_ssize_t[::1] rows,
    const unsigned long long[::1] cuts,
    const Py_ssize_t[::1] starts,
    const code_t[:, ::1] zero_codes,
    code_t[:, :, ::1] codes,
    Py_ssize_t first,
    Py_ssize_t start,
    Py_ssize_t stop,
) noexcept nogil:
    cdef Py_ssize_t width = 8 if sizeof(code_t) == 1 else 4  # known to the compiler
    cdef Py_ssize_t block, i, j, k, p, low, n, half
    cdef unsigned long long key
    for block in range(codes.shape[0]):
        for i in range(start, stop):
            for j in range(width):
                codes[block, first + i, j] = zero_codes[block, j]
    for i in range(start, stop):
        for p in range(indptr[rows[i]], indptr[rows[i] + 1]):
            k = indices[p]
            key = key_of(data[p])
            low = starts[k]
            n = starts[k + 1] - low
            while n > 1:
                half = n >> 1
                low = low + (-<Py_ssize_t>(cuts[low + half - 1] < key) & half)
                n = n - half
            codes[k // width, first + i, k % width] = <code_t>(low - starts[k] + (cuts[low] < key))


def bin_csr(
    const floating[::1] data,           # IN
    const index_t[::1] indices,         # IN
    const index_t[::1] indptr,          # IN
    const Py_ssize_t[::1] rows,         # IN
    const unsigned long long[::1] cuts,  # IN
    const Py_ssize_t[::1] starts,       # IN
    const code_t[:, ::1] zero_codes,    # IN, (n_blocks, width) codes of absent cells
    Py_ssize_t first,                   # as in `bin_dense`
    code_t[:, :, ::1] codes,            # OUT
    int n_threads,
):
    """`bin_dense` of a CSR matrix without duplicate entries."""
    cdef Py_ssize_t n_rows = rows.shape[0]
    cdef Py_ssize_t tile
    for tile in prange(
        (n_rows + TILE - 1) // TILE, schedule="static", nogil=True, num_threads=n_threads
    ):
        bin_csr_tile(
            data, indices, indptr, rows, cuts, starts, zero_codes, codes, first,
            tile * TILE, min((tile + 1) * TILE, n_rows),
        )
