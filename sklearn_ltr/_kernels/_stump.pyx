# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the search for a stump needs beside the sums over pairs.

Serves `weak/fidelity_search.py` and `weak/stump.py`.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport fabs, sqrt
from libc.string cimport memset

from sklearn_ltr._kernels._types cimport (
    CORRELATION, SQUARED, code_t, position_t
)


cdef void presort_chunk(
    const code_t* codes, Py_ssize_t width, const int* query, const Py_ssize_t* offsets,
    Py_ssize_t first, Py_ssize_t last, int* by_code, int* filled, Py_ssize_t* place,
    Py_ssize_t n_codes, position_t* order,
) noexcept nogil:
    """A counting sort of the rows of queries first to last, dealt out to the queries."""
    cdef Py_ssize_t start = offsets[first]
    cdef Py_ssize_t n = offsets[last] - start
    cdef Py_ssize_t i, c, p, q
    memset(place, 0, (n_codes + 1) * sizeof(Py_ssize_t))
    memset(filled, 0, (last - first) * sizeof(int))
    for i in range(n):
        place[codes[(start + i) * width] + 1] += 1
    for c in range(1, n_codes + 1):
        place[c] += place[c - 1]
    for i in range(n):
        c = codes[(start + i) * width]
        by_code[place[c]] = <int>i
        place[c] += 1
    for p in range(n):
        i = start + by_code[p]
        q = query[i]
        order[offsets[q] + filled[q - first]] = <position_t>(i - offsets[q])
        filled[q - first] += 1


def presort(
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    const int[::1] query,                   # IN, (n_samples,) ascending number of the row's query
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const Py_ssize_t[::1] chunks,           # IN, first query of each chunk, and n_queries
    int[:, :, ::1] buffer,                  # OUT, (n_threads, 2, most rows of a chunk), scratch
    Py_ssize_t[:, ::1] counts,              # OUT, (n_threads, most codes + 1), scratch
    Py_ssize_t first,                       # of the features
    position_t[:, ::1] order,               # OUT, (n_features, n_samples)
):
    """Positions of the rows of each query, by ascending code; equal codes keep their order.

    Queries are sorted together in chunks that stay in the cache.
    """
    cdef Py_ssize_t width = codes.shape[2]
    cdef int n_threads = buffer.shape[0]
    cdef Py_ssize_t k, chunk
    for k in prange(order.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        for chunk in range(chunks.shape[0] - 1):
            presort_chunk(
                &codes[(first + k) // width, 0, (first + k) % width], width, &query[0], &offsets[0],
                chunks[chunk], chunks[chunk + 1], &buffer[threadid(), 0, 0],
                &buffer[threadid(), 1, 0], &counts[threadid(), 0], counts.shape[1] - 1,
                &order[k, 0],
            )


def sum_by_code(
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    const double[::1] values,               # IN, (n_samples,)
    const Py_ssize_t[::1] starts,           # IN, (n_blocks * width,) first bin of each feature
    double[::1] sums,                       # OUT, zeroed
    int n_threads,
):
    """Sum of the values in each bin of every feature."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t block, i, j
    cdef double value
    cdef const code_t* row
    cdef const Py_ssize_t* start
    for block in prange(codes.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        start = &starts[block * width]
        for i in range(codes.shape[1]):
            value = values[i]
            row = &codes[block, i, 0]
            if width == 8:
                for j in range(8):
                    sums[start[j] + row[j]] += value
            else:
                for j in range(4):
                    sums[start[j] + row[j]] += value


cdef inline double gain_of(double num, double den, int criterion) noexcept nogil:
    """Gain of a candidate; falls as den grows."""
    if criterion == CORRELATION:
        return fabs(num)
    if den <= 0:
        return 0
    if criterion == SQUARED:
        return num * num / den
    # den - sqrt(den^2 - num^2) without cancellation
    return num * num / (den + sqrt(max(den * den - num * num, 0)))


cdef inline double tighten(
    double num, double* lower, double decay, double lost, double scale, double share, int criterion
) noexcept nogil:
    """Loosen the lower bound of a denominator, and bound the gain from above."""
    lower[0] = scale * max(lower[0] * decay, lower[0] - lost)
    return gain_of(num, max(lower[0], share * fabs(num)), criterion)


def gains(
    const double[:, ::1] num,               # IN, (n_slots, 2)
    const double[:, ::1] den,               # IN, (n_slots, 2)
    double share,                           # IN, a denominator is at least this share of |num|
    int criterion,                          # IN
    double[:, ::1] out,                     # OUT, (n_slots, 2)
):
    """Gain of each candidate."""
    cdef Py_ssize_t t, side
    with nogil:
        for t in range(num.shape[0]):
            for side in range(2):
                out[t, side] = gain_of(
                    num[t, side], max(den[t, side], share * fabs(num[t, side])), criterion
                )


def bound_gains(
    const Py_ssize_t[:, ::1] features,      # IN, (n_features, 4), as for the sweeps
    const double[::1] sums,                 # IN, potentials summed by bin
    double decay,                           # IN, a denominator has shrunk by at most this factor,
    double lost,                            # IN, and by at most this sum,
    double scale,                           # IN, and its unit has changed by this factor
    double share,                           # IN, a denominator is at least this share of |num|
    int criterion,                          # IN
    double[:, ::1] lower,                   # IN, OUT, (sum of bins, 2), bounds of denominators
    double[:, ::1] num,                     # OUT, (sum of bins, 2)
    double[::1] ceiling,                    # OUT, (n_features,)
):
    """Numerator of each candidate, missing values below and above, 0 where there is none.

    ceiling bounds the gains of a feature from above.
    """
    cdef Py_ssize_t f, t, first, last
    cdef double below, missing_below, most
    with nogil:
        for f in range(features.shape[0]):
            first = features[f, 1]
            last = first + features[f, 2] - 1       # the slot of missing values is after it
            below = 0
            missing_below = sums[last + 1]
            most = 0
            for t in range(first, last + 1):
                below += sums[t]
                missing_below += sums[t]
                num[t, 0] = -missing_below if t < last else 0
                num[t, 1] = -below if features[f, 3] == 2 else 0
                most = max(most, tighten(num[t, 0], &lower[t, 0], decay, lost, scale, share,
                                         criterion))
                most = max(most, tighten(num[t, 1], &lower[t, 1], decay, lost, scale, share,
                                         criterion))
            num[last + 1, 0] = 0
            num[last + 1, 1] = 0
            ceiling[f] = most


def accumulate(
    const Py_ssize_t[:, ::1] features,      # IN, (n_swept, 4), as for the sweeps
    double[:, ::1] sums,                    # IN, OUT, (sum of bins, 2)
):
    """Running sums over the bins of each feature, in place."""
    cdef Py_ssize_t f, t
    with nogil:
        for f in range(features.shape[0]):
            for t in range(features[f, 1] + 1, features[f, 1] + features[f, 2]):
                sums[t, 0] += sums[t - 1, 0]
                sums[t, 1] += sums[t - 1, 1]
