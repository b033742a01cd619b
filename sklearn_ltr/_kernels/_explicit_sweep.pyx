# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Weight of listed preference pairs that each threshold of a feature cuts.

Serves `losses/pair_sums.py`.
"""

from cython.parallel cimport prange
from libc.string cimport memset

from sklearn_ltr._kernels._types cimport code_t, position_t


cdef void fill_matrix(
    const int* winner, const int* loser, const double* weight, Py_ssize_t n_pairs,
    Py_ssize_t start, Py_ssize_t n, double* W,
) noexcept nogil:
    cdef Py_ssize_t p, i, j
    memset(W, 0, n * n * sizeof(double))
    for p in range(n_pairs):
        i = winner[p] - start
        j = loser[p] - start
        # A pair may be listed more than once, and both ways round.
        W[i * n + j] += weight[p]
        W[j * n + i] += weight[p]


cdef void sweep_matrix(
    const position_t* order, Py_ssize_t n, const code_t* codes, Py_ssize_t stride,
    Py_ssize_t n_bins, Py_ssize_t n_sides, const double* W, const double* degree, double* below,
    double* delta,
) noexcept nogil:
    """Add one query to the changes of the crossing weight of a feature, as `sweep_query` of
    `_graded_sweep.pyx`, by rows of the matrix: below[j] = weight between j and the rows below.
    """
    cdef Py_ssize_t present = n
    cdef Py_ssize_t p, i, j
    cdef const double* row
    cdef Py_ssize_t side
    while present > 0 and codes[order[present - 1] * stride] == n_bins:
        present -= 1
    for side in range(n_sides):
        memset(below, 0, n * sizeof(double))
        for p in range(n if side == 0 else present):
            # side 0: the missing rows first, then the others
            i = order[(p + present) % n] if side == 0 else order[p]
            row = W + i * n
            j = 0 if codes[i * stride] == n_bins else 2 * codes[i * stride]
            delta[j + side] += degree[i] - 2 * below[i]
            for j in range(n):
                below[j] += row[j]


def explicit_sweep(
    const Py_ssize_t[:, ::1] features,      # IN, as for `graded_sweep`
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    const position_t[:, ::1] order,         # IN, (n_features, n_samples)
    pairs,                                  # IN, (winner, loser, weight, pair offsets)
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[::1] degree,               # IN, (n_samples,)
    double[:, ::1] buffer,                  # OUT, (n_threads, n (n + 1)), n of the longest query
    double[:, ::1] delta,                   # OUT, (sum of bins, 2), zeroed for the features
):
    """`graded_sweep` of listed pairs: O(n^2) a query and feature, in SIMD rows.

    A query's weights are laid out once for all the features of a thread and stay in its cache.
    """
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const double[::1] weight = pairs[2]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[3]
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t t, f, k, q, start, n, first, n_pairs
    cdef int n_threads = buffer.shape[0]
    cdef double* W
    for t in prange(n_threads, schedule="static", nogil=True, num_threads=n_threads):
        W = &buffer[t, 0]
        for q in range(offsets.shape[0] - 1):
            start = offsets[q]
            n = offsets[q + 1] - start
            first = pair_offsets[q]
            n_pairs = pair_offsets[q + 1] - first
            if n_pairs == 0:
                continue
            fill_matrix(
                &winner[first], &loser[first], &weight[first], n_pairs, start, n, W
            )
            f = t
            while f < features.shape[0]:
                k = features[f, 0]
                sweep_matrix(
                    &order[k, start], n, &codes[k // width, start, k % width], width,
                    features[f, 2], features[f, 3], W, &degree[start], W + n * n,
                    &delta[features[f, 1], 0],
                )
                f = f + n_threads


cdef void add_pairs(
    const int* winner, const int* loser, const double* weight, Py_ssize_t n_pairs,
    const code_t* codes, Py_ssize_t width, Py_ssize_t n_bins, Py_ssize_t n_sides, double* delta,
) noexcept nogil:
    """Each pair is cut from the bin of its lower row on, and no more from that of its higher."""
    cdef Py_ssize_t p, a, b, low, high, side
    for p in range(n_pairs):
        a = codes[winner[p] * width]
        b = codes[loser[p] * width]
        low = min(a, b)
        high = max(a, b)
        if high == n_bins and low < n_bins:     # one value is missing
            delta[0] += weight[p]
            delta[2 * low] -= weight[p]
            delta[2 * low + 1] += weight[p]
        elif low < high:
            for side in range(n_sides):
                delta[2 * low + side] += weight[p]
                delta[2 * high + side] -= weight[p]


def sparse_sweep(
    const Py_ssize_t[:, ::1] features,      # IN, (n_swept, 4), as for `explicit_sweep`
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    pairs,                                  # IN, (winner, loser, pair offsets)
    const double[::1] weight,               # IN, (n_pairs,)
    double[:, ::1] delta,                   # OUT, (sum of bins, 2), zeroed for the features
    int n_threads,
):
    """`explicit_sweep` in time and memory that grow with the pairs, not rows squared."""
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t f, k
    for f in prange(features.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        k = features[f, 0]
        add_pairs(
            &winner[0], &loser[0], &weight[0], weight.shape[0], &codes[k // width, 0, k % width],
            width, features[f, 2], features[f, 3], &delta[features[f, 1], 0],
        )
