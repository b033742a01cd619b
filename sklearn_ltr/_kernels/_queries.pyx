# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Content hashes of rows: what puts the rows of a data set into their canonical order.

Serves `queries.py`.
"""

from cython.parallel cimport prange
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from sklearn_ltr._kernels._types cimport floating, index_t


cdef inline uint64_t mix(uint64_t h) noexcept nogil:
    # The finaliser of splitmix64: a bijection of 64-bit words with full avalanche.
    h = (h ^ (h >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    h = (h ^ (h >> 27)) * <uint64_t>0x94D049BB133111EB
    return h ^ (h >> 31)


cdef inline uint64_t cell_hash(uint64_t column, double value) noexcept nogil:
    # A zero of either sign hashes to 0, so that a dense row and its sparse twin agree.
    cdef uint64_t bits
    if value == 0:
        return 0
    if value != value:
        bits = <uint64_t>0x7FF8000000000000  # one bit pattern for every NaN
    else:
        memcpy(&bits, &value, 8)
    return mix(bits ^ mix(column + <uint64_t>0x9E3779B97F4A7C15))


def hash_dense(
    const floating[:, :] X,         # IN, any strides
    uint64_t first_column,          # IN, number of the first column
    bint single,                    # whether to hash numbers as rounded to single precision
    uint64_t[::1] out,              # OUT, added to
    int n_threads,
):
    """Add the hash of every cell of a row to ``out[row]`` (wrapping at 64 bits)."""
    cdef Py_ssize_t i, k
    cdef uint64_t h
    for i in prange(X.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        h = 0
        if single:
            for k in range(X.shape[1]):
                h = h + cell_hash(first_column + <uint64_t>k, <float>X[i, k])
        else:
            for k in range(X.shape[1]):
                h = h + cell_hash(first_column + <uint64_t>k, X[i, k])
        out[i] += h


def hash_csr(
    const floating[::1] data,       # IN
    const index_t[::1] indices,     # IN
    const index_t[::1] indptr,      # IN
    bint single,                    # as in `hash_dense`
    uint64_t[::1] out,              # OUT, added to
    int n_threads,
):
    """`hash_dense` of a CSR matrix without duplicate entries."""
    cdef Py_ssize_t i, p
    cdef uint64_t h
    for i in prange(out.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        h = 0
        for p in range(indptr[i], indptr[i + 1]):
            h = h + cell_hash(
                <uint64_t>indices[p], <double><float>data[p] if single else <double>data[p]
            )
        out[i] += h


def mix_hashes(uint64_t[::1] hashes):  # IN, OUT
    """Finalise hashes in place, so that their sum over a query is a hash of the query."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(hashes.shape[0]):
            hashes[i] = mix(hashes[i] + <uint64_t>0x9E3779B97F4A7C15)
