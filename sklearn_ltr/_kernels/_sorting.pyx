# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Values of features in order, and bins of a fixed length.

Serves `binning.py`.
"""

from libc.string cimport memset

from sklearn_ltr._kernels._types cimport floating

ctypedef fused key_t:
    unsigned int
    unsigned long long

cdef enum:
    DIGIT = 11      # bits that a pass of the sort looks at
    N_BUCKETS = 2048
    MAX_PASSES = 6


def sort_floats(
    key_t[::1] keys,                    # INOUT, bits of the numbers; no NaN
    key_t[::1] spare,                   # OUT, room for as many
):
    """Sort floating point numbers, given by their bits, least significant digit first."""
    cdef Py_ssize_t n = keys.shape[0]
    if n > 0:
        with nogil:
            radix_sort(&keys[0], &spare[0], n)


cdef void radix_sort(key_t* keys, key_t* spare, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t counts[MAX_PASSES][N_BUCKETS]
    cdef key_t sign = (<key_t>1) << (8 * sizeof(key_t) - 1)
    cdef int n_passes = (8 * sizeof(key_t) + DIGIT - 1) // DIGIT
    cdef key_t* source = keys
    cdef key_t* target = spare
    cdef key_t key
    cdef Py_ssize_t i, start, count
    cdef int digit, bucket
    memset(counts, 0, sizeof(counts))
    for i in range(n):
        # As unsigned integers: negative numbers below positive ones, and in reverse.
        key = ~keys[i] if keys[i] & sign else keys[i] | sign
        keys[i] = key
        for digit in range(n_passes):
            counts[digit][(key >> (digit * DIGIT)) & (N_BUCKETS - 1)] += 1
    for digit in range(n_passes):
        if counts[digit][(keys[0] >> (digit * DIGIT)) & (N_BUCKETS - 1)] == n:
            continue  # all share it
        start = 0
        for bucket in range(N_BUCKETS):
            count = counts[digit][bucket]
            counts[digit][bucket] = start
            start = start + count
        for i in range(n):
            key = source[i]
            bucket = (key >> (digit * DIGIT)) & (N_BUCKETS - 1)
            target[counts[digit][bucket]] = key
            counts[digit][bucket] += 1
        source, target = target, source
    for i in range(n):
        key = source[i]
        keys[i] = key ^ sign if key & sign else ~key


def bins_of_length(
    const floating[::1] values,         # IN, distinct, ascending
    double length,
    Py_ssize_t[::1] starts,             # OUT, where each bin starts
):
    """Bins that start at a value and take in all that are no more than `length` above it.

    Returns the number of bins, or `len(starts) + 1` if there are more than fit.
    """
    cdef Py_ssize_t n_bins = 0
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t low, high, middle, step
    with nogil:
        while first < values.shape[0]:
            if n_bins == starts.shape[0]:
                n_bins = n_bins + 1
                break
            starts[n_bins] = first
            n_bins = n_bins + 1
            # The bin holds `low` and not `high`: steps of double size, then halve.
            low, step = first, 1
            high = low + step
            while high < values.shape[0] and <double>values[high] - values[first] <= length:
                low, step = high, 2 * step
                high = low + step
            high = min(high, values.shape[0])
            while high - low > 1:
                middle = (low + high) // 2
                if <double>values[middle] - values[first] <= length:
                    low = middle
                else:
                    high = middle
            first = high
    return n_bins
