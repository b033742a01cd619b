# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Weight of the pairs of rows of different grades that each threshold of a feature cuts.

Serves `losses/exponential.py`.

Pairs are not listed: their weights are products of two factors E, see `_graded_pairs.pyx`. Rows
change sides one by one, by ascending code, and each changes the sums of a query by its pairs.
"""

from cython.parallel cimport prange
from libc.string cimport memset

from sklearn_ltr._kernels._types cimport code_t, position_t

cdef enum:
    BLOCK_BYTES = 262144    # of E that a sweep goes through for one feature after another


cdef inline void move_row(
    Py_ssize_t i, Py_ssize_t code, const unsigned char* grade, const double* E,
    const double* degree, Py_ssize_t L, double* S, double* delta,
) noexcept nogil:
    """Row i goes below: its pairs with rows above start to cross, those with rows below cease."""
    cdef Py_ssize_t a = grade[i]
    cdef Py_ssize_t b
    cdef double ceased = 0
    for b in range(L):
        ceased += E[i * L + b] * S[b * L + a]
    for b in range(L):
        S[a * L + b] += E[i * L + b]
    delta[2 * code] += degree[i] - 2 * ceased


cdef inline void sweep_rows(
    const position_t* order, Py_ssize_t first, Py_ssize_t last, const code_t* codes,
    Py_ssize_t stride, const unsigned char* grade, const double* E, const double* degree,
    Py_ssize_t L, double* S, double* delta,
) noexcept nogil:
    cdef Py_ssize_t p, i
    for p in range(first, last):
        i = order[p]
        move_row(i, codes[i * stride], grade, E, degree, L, S, delta)


cdef void sweep_query(
    const position_t* order, Py_ssize_t n, const code_t* codes, Py_ssize_t stride,
    Py_ssize_t n_bins, Py_ssize_t n_sides, const unsigned char* grade, const double* E,
    const double* degree, Py_ssize_t L, double* S, double* delta,
) noexcept nogil:
    """Add one query to the changes of the crossing weight of a feature.

    delta[2 t] has the missing values below, delta[2 t + 1] above. Common numbers of grades are
    written out for the compiler to unroll.
    """
    cdef Py_ssize_t present = n
    cdef Py_ssize_t p
    cdef Py_ssize_t side
    while present > 0 and codes[order[present - 1] * stride] == n_bins:
        present -= 1
    for side in range(n_sides):
        memset(S, 0, L * L * sizeof(double))
        if side == 0:
            for p in range(present, n):
                move_row(order[p], 0, grade, E, degree, L, S, delta)
        if L == 2:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 2, S, delta + side)
        elif L == 3:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 3, S, delta + side)
        elif L == 4:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 4, S, delta + side)
        elif L == 5:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 5, S, delta + side)
        else:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, L, S, delta + side)


cdef Py_ssize_t block_end(
    const Py_ssize_t[::1] offsets, Py_ssize_t q, Py_ssize_t n_rows
) noexcept nogil:
    """The query after a block that starts at q and has n_rows rows, or one query if longer."""
    cdef Py_ssize_t last = offsets[q] + n_rows
    q += 1
    while q < offsets.shape[0] - 1 and offsets[q + 1] <= last:
        q += 1
    return q


cdef void sweep_share(
    Py_ssize_t share, Py_ssize_t n_shares, const Py_ssize_t[:, ::1] features,
    const code_t[:, :, ::1] codes, const position_t[:, ::1] order, const Py_ssize_t[::1] offsets,
    const unsigned char* grade, const double[:, ::1] E, const double* degree, double* S,
    double[:, ::1] delta,
) noexcept nogil:
    """Every n_shares-th feature, block by block of queries, whose E stay in the cache."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t L = E.shape[1]
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last, f, k, q, start
    while first < offsets.shape[0] - 1:
        last = block_end(offsets, first, BLOCK_BYTES // (8 * L))
        f = share
        while f < features.shape[0]:
            k = features[f, 0]
            for q in range(first, last):
                start = offsets[q]
                sweep_query(
                    &order[k, start], offsets[q + 1] - start, &codes[k // width, start, k % width],
                    width, features[f, 2], features[f, 3], grade + start, &E[start, 0],
                    degree + start, L, S, &delta[features[f, 1], 0],
                )
            f += n_shares
        first = last


def graded_sweep(
    const Py_ssize_t[:, ::1] features,      # IN, (n_swept, 4): feature, first row in delta, bins,
                                            #     and 2 sides where it has missing values, else 1
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    const position_t[:, ::1] order,         # IN, (n_features, n_samples): rows of a query by code
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const unsigned char[::1] grade,         # IN, (n_samples,)
    const double[:, ::1] E,                 # IN, (n_samples, L)
    const double[::1] degree,               # IN, (n_samples,)
    double[:, ::1] buffer,                  # OUT, (n_threads, at least L L), scratch
    double[:, ::1] delta,                   # OUT, (sum of bins, 2), zeroed for the features
):
    """Change of the crossing weight at each bin: O(n L) a feature, for every threshold."""
    cdef Py_ssize_t t
    cdef int n_threads = buffer.shape[0]
    for t in prange(n_threads, schedule="static", nogil=True, num_threads=n_threads):
        sweep_share(
            t, n_threads, features, codes, order, offsets, &grade[0], E, &degree[0], &buffer[t, 0],
            delta,
        )
