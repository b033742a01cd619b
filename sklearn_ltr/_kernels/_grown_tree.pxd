# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A tree while it grows, and the rows of its leaves; see _grown_tree.pyx."""

from sklearn_ltr._kernels._split cimport Node, Rules, Split


cdef struct Leaf:
    int node            # its number in the tree
    int depth
    Py_ssize_t start    # its rows are rows[start:stop]
    Py_ssize_t stop
    Py_ssize_t n        # how many rows it has everywhere
    Node sums
    Split split         # the best one, of gain 0 where there is none


cdef class GrownTree:
    cdef readonly unsigned int[::1] rows
    cdef readonly long long[::1] words
    cdef readonly int[::1] feature, bin, left
    cdef readonly unsigned char[::1] missing_right
    cdef readonly unsigned long long[:, ::1] left_codes, right_codes
    cdef readonly double[::1] gain
    cdef readonly long long[::1] low_sum, n_samples
    cdef readonly Py_ssize_t[::1] leaf_node, leaf_start, leaf_stop
    cdef readonly int n_nodes, n_leaves
    cdef int max_leaves, n_threads
    cdef bint bounded
    cdef Leaf* leaves
    cdef const Py_ssize_t[::1] n_bins
    cdef const int[::1] directions
    cdef const unsigned char[::1] categorical
    cdef unsigned int[::1] row_buffer
    cdef object merge           # adds up integers of all ranks; None where all rows are here
    cdef bint merges            # whether there is such
    cdef long long[::1] root_sums

    cdef int plant(
        self, const long long[::1] counts, Py_ssize_t n, const Rules* rules
    ) except -1 nogil

    cdef void divide(
        self, const Rules* rules, const Leaf* parent, Py_ssize_t n_left, Leaf* left, Leaf* right
    ) noexcept nogil

    cdef void share_rows(
        self, const Rules* rules, Leaf* leaf, Leaf* sibling, Py_ssize_t n
    ) noexcept nogil

    cdef void note_size(self, const Leaf* leaf, const Rules* rules) noexcept nogil

    cdef void finish(self) noexcept nogil

cdef long long size(const Leaf* leaf, const Rules* rules) noexcept nogil
