# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of the leaves of a growing tree; see _leaf_histograms.pyx."""

from sklearn_ltr._kernels._types cimport code_t


cdef class LeafHistograms:
    cdef Py_ssize_t n_slots
    cdef long long[:, ::1] cells            # (max_leaves, n_slots + 1)
    cdef long long[:, ::1] partial          # of parts of a leaf's rows but the first
    cdef long long[::1] row_words           # the words of a leaf's rows
    cdef const Py_ssize_t[::1] starts       # first slot of each column
    cdef const unsigned char[::1] listed    # (n_blocks,)
    cdef const Py_ssize_t[::1] common       # common code of each column
    cdef const long long[::1] indptr        # (n_rows + 1,)
    cdef const unsigned int[::1] slots
    cdef bint any_listed

    cdef void read_rows(
        self, int leaf, const unsigned int* rows, const long long[::1] words, Py_ssize_t first,
        Py_ssize_t last, Py_ssize_t part, Py_ssize_t at
    ) noexcept nogil

    cdef void fill_block(
        self, int leaf, const code_t[:, :, ::1] codes, Py_ssize_t block, const unsigned int* rows,
        Py_ssize_t at, Py_ssize_t n, long long word, int n_parts
    ) noexcept nogil

    cdef void join_parts(
        self, int leaf, Py_ssize_t first, Py_ssize_t last, long long word, int n_parts
    ) noexcept nogil

    cdef void subtract_block(
        self, int child, Py_ssize_t first, Py_ssize_t last, int parent
    ) noexcept nogil
