# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of packed words over bin codes.

Serves `_grown_tree.pyx`, `_leaf_histograms.pyx`, `_leaf_search.pyx`, `_level_histograms.pyx`,
`_partition.pyx` and `_uncommon.pyx`.

A word holds two sums in one 64-bit integer, so that one addition serves both: a signed one in the
high bits, one that is not negative in the low ones, which therefore never borrows. Integer sums do
not depend on their order. A histogram is a slot for each code of each feature; `starts` holds the
first slot of each feature.
"""

from sklearn_ltr._kernels._types cimport code8_t, code_t


cdef void add_rows(
    const code_t* codes,            # IN, the codes of a block of features, row-major
    const unsigned int* rows,       # IN, rows to add, and AHEAD more
    const long long* words,         # IN, the word of each of `rows`
    Py_ssize_t n,
    const Py_ssize_t* starts,       # IN, the first slot of each feature of the block
    long long* histogram,           # IN/OUT
) noexcept nogil:
    """Add the words of some rows to the histograms of the features of a block."""
    cdef long long* h0 = histogram + starts[0]
    cdef long long* h1 = histogram + starts[1]
    cdef long long* h2 = histogram + starts[2]
    cdef long long* h3 = histogram + starts[3]
    cdef long long* h4
    cdef long long* h5
    cdef long long* h6
    cdef long long* h7
    cdef const code_t* code
    cdef long long word
    cdef Py_ssize_t i
    if code_t is code8_t:
        h4, h5, h6, h7 = (
            histogram + starts[4], histogram + starts[5], histogram + starts[6],
            histogram + starts[7],
        )
        for i in range(n):
            prefetch(codes + 8 * <size_t>rows[i + AHEAD])
            code = codes + 8 * <size_t>rows[i]
            word = words[i]
            h0[code[0]] += word
            h1[code[1]] += word
            h2[code[2]] += word
            h3[code[3]] += word
            h4[code[4]] += word
            h5[code[5]] += word
            h6[code[6]] += word
            h7[code[7]] += word
    else:
        for i in range(n):
            prefetch(codes + 4 * <size_t>rows[i + AHEAD])
            code = codes + 4 * <size_t>rows[i]
            word = words[i]
            h0[code[0]] += word
            h1[code[1]] += word
            h2[code[2]] += word
            h3[code[3]] += word


cdef void subtract(
    const long long* child, Py_ssize_t start, Py_ssize_t stop, long long* parent
) noexcept nogil:
    """Turn a parent's histogram into that of the child's sibling."""
    cdef Py_ssize_t slot
    for slot in range(start, stop):
        parent[slot] -= child[slot]
