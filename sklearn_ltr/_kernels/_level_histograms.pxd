# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of all leaves of a level; see _level_histograms.pyx."""

from sklearn_ltr._kernels._grown_tree cimport Leaf
from sklearn_ltr._kernels._leaf_histograms cimport LeafHistograms
from sklearn_ltr._kernels._types cimport code_t


cdef struct Siblings:   # two leaves that were one at the level before
    int smaller         # of fewer rows
    int larger          # it has the place of its parent; -1: there is none, as of the root


cdef class LevelHistograms:
    cdef LeafHistograms words_by_code       # of each leaf
    cdef const unsigned int[::1] rows
    cdef const long long[::1] words
    cdef Leaf* leaves                       # of the builder
    cdef const Py_ssize_t[::1] starts_in_block
    cdef Py_ssize_t largest_block, max_leaves
    cdef long long[::1] row_counts          # (n_rows,), leaf after leaf; or empty
    cdef long long[:, ::1] count_cells      # (max_leaves, largest_block), of one block

    cdef prepare_counts(self)

    cdef void read(self, const Siblings* pairs, int n_pairs, int n_threads) noexcept nogil

    cdef void read_leaf(self, int index) noexcept nogil

    cdef void fill(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, const Siblings* pairs, int n_pairs,
        int n_threads, bint here
    ) noexcept nogil

    cdef void subtract(
        self, Py_ssize_t block, Py_ssize_t width, const Siblings* pairs, int n_pairs
    ) noexcept nogil

    cdef void read_counts(
        self, const long long[::1] counts, int n_leaves, int n_threads
    ) noexcept nogil

    cdef void count_block(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, int n_leaves,
        const unsigned char[::1] wanted
    ) noexcept nogil
