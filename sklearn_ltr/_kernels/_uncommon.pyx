# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of features whose cells mostly hold one code, from the other cells.

Serves `weak/uncommon.py` and `_leaf_histograms.pyx`.

The others are listed row by row, as slots of the histogram. What belongs to the common code is what
they leave of the sum over all rows.
"""

from cython.parallel cimport prange
from libc.string cimport memcmp

from sklearn_ltr._kernels._histogram cimport AHEAD, prefetch
from sklearn_ltr._kernels._types cimport code_t


def count_codes(
    const code_t[:, :, ::1] codes,
    const Py_ssize_t[::1] starts,       # IN, first slot of each column
    Py_ssize_t[::1] counts,             # IN/OUT, by slot
    int n_threads,
):
    """Count the rows with each code."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t block, i, j
    for block in prange(codes.shape[0], schedule="dynamic", nogil=True, num_threads=n_threads):
        for i in range(codes.shape[1]):
            for j in range(width):
                counts[starts[block * width + j] + codes[block, i, j]] += 1


cdef enum:
    CHUNK = 4096    # rows whose blocks are gone through one after the other


def count_uncommon(
    const code_t[:, :, ::1] codes,
    const unsigned char[::1] listed,    # IN, (n_blocks,) the blocks to look at
    const code_t[:, ::1] common,        # IN, (n_blocks, width) the common code of each column
    long long[::1] counts,              # IN/OUT, by row
    int n_threads,
):
    """Count the cells of each row with uncommon codes."""
    cdef Py_ssize_t n_chunks = (codes.shape[1] + CHUNK - 1) // CHUNK
    cdef Py_ssize_t chunk, block, i, j
    for chunk in prange(n_chunks, schedule="static", nogil=True, num_threads=n_threads):
        for block in range(codes.shape[0]):
            if not listed[block]:
                continue
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, codes.shape[1])):
                for j in range(codes.shape[2]):
                    counts[i] += codes[block, i, j] != common[block, j]


def list_uncommon(
    const code_t[:, :, ::1] codes,
    const unsigned char[::1] listed,    # IN
    const code_t[:, ::1] common,        # IN
    const Py_ssize_t[::1] starts,       # IN, first slot of each column
    long long[::1] places,              # IN/OUT, by row: where its slots begin, then end
    unsigned int[::1] slots,            # OUT
    int n_threads,
):
    """List the slots of each row's cells with uncommon codes."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t n_chunks = (codes.shape[1] + CHUNK - 1) // CHUNK
    cdef Py_ssize_t chunk, block, i, j
    for chunk in prange(n_chunks, schedule="static", nogil=True, num_threads=n_threads):
        for block in range(codes.shape[0]):
            if not listed[block]:
                continue
            for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, codes.shape[1])):
                if memcmp(&codes[block, i, 0], &common[block, 0], 8) == 0:
                    continue
                for j in range(width):
                    if codes[block, i, j] != common[block, j]:
                        slots[places[i]] = <unsigned int>(
                            starts[block * width + j] + codes[block, i, j]
                        )
                        places[i] += 1


cdef void add_uncommon(
    const long long* indptr, const unsigned int* slots,
    const unsigned int* rows,       # IN, rows to add, and AHEAD more
    const long long* words,         # IN, the word of each of `rows`
    Py_ssize_t n,
    long long* histogram,           # IN/OUT
) noexcept nogil:
    """Add the words of some rows to the slots listed for them."""
    cdef Py_ssize_t i
    cdef long long place, word
    for i in range(n):
        prefetch(slots + indptr[rows[i + AHEAD]])
        word = words[i]
        for place in range(indptr[rows[i]], indptr[<size_t>rows[i] + 1]):
            histogram[slots[place]] += word


cdef void fill_common(
    Py_ssize_t common, Py_ssize_t first, Py_ssize_t last, long long total, long long* histogram
) noexcept nogil:
    """Give the common slot of a feature what the others leave of the total."""
    cdef Py_ssize_t slot
    for slot in range(first, last):
        total -= histogram[slot]
    histogram[common] += total
