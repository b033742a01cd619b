# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of features whose cells mostly hold one code, from the other cells.

The others are listed row by row, as slots of the histogram. What belongs to the common code is what
they leave of the sum over all rows.
"""

from cython.parallel cimport prange

from sklearn_ltr._kernels._histogram cimport AHEAD, code_t, prefetch


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


def count_uncommon(
    const code_t[:, :, ::1] codes,
    const Py_ssize_t[::1] blocks,       # IN, the blocks to look at
    const Py_ssize_t[::1] common,       # IN, the common code of each column
    long long[::1] counts,              # OUT, by row
    int n_threads,
):
    """Count the cells of each row with uncommon codes."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t b, i, j, block
    cdef long long count
    for i in prange(codes.shape[1], schedule="static", nogil=True, num_threads=n_threads):
        count = 0
        for b in range(blocks.shape[0]):
            block = blocks[b]
            for j in range(width):
                count = count + (codes[block, i, j] != common[block * width + j])
        counts[i] = count


def list_uncommon(
    const code_t[:, :, ::1] codes,
    const Py_ssize_t[::1] blocks,       # IN
    const Py_ssize_t[::1] common,       # IN
    const Py_ssize_t[::1] starts,       # IN, first slot of each column
    const long long[::1] indptr,        # IN, (n_rows + 1,) where each row's slots begin
    unsigned int[::1] slots,            # OUT
    int n_threads,
):
    """List the slots of each row's cells with uncommon codes."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t b, i, j, block
    cdef long long place
    for i in prange(codes.shape[1], schedule="static", nogil=True, num_threads=n_threads):
        place = indptr[i]
        for b in range(blocks.shape[0]):
            block = blocks[b]
            for j in range(width):
                if codes[block, i, j] != common[block * width + j]:
                    slots[place] = <unsigned int>(starts[block * width + j] + codes[block, i, j])
                    place = place + 1


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
