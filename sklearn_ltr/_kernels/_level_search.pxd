# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best cut of all leaves of a level; see _level_search.pyx."""

from sklearn_ltr._kernels._grown_tree cimport Leaf
from sklearn_ltr._kernels._leaf_histograms cimport LeafHistograms
from sklearn_ltr._kernels._split cimport Rules, Side, Split
from sklearn_ltr._kernels._types cimport code_t


cdef struct Siblings:   # two leaves that were one at the level before
    int smaller         # of fewer rows
    int larger          # it has the place of its parent; -1: there is none, as of the root


cdef class LevelSearch:
    cdef const unsigned int[::1] rows
    cdef const long long[::1] words
    cdef const Py_ssize_t[::1] starts       # first slot of each column
    cdef const Py_ssize_t[::1] starts_in_block
    cdef const Py_ssize_t[::1] n_bins
    cdef const int[::1] directions
    cdef int n_candidates, n_threads
    cdef Leaf* leaves                       # of the builder
    cdef Split* found                       # (n_blocks,), the best cut of each
    cdef LeafHistograms histograms
    cdef Py_ssize_t largest_block
    cdef long long[::1] row_counts          # (n_rows,), leaf after leaf; or empty
    cdef long long[:, ::1] count_cells      # (max_leaves, largest_block), of one block
    cdef double[:, ::1] gains               # (n_threads, most bins)
    cdef unsigned char[::1] candidates      # (n_features,)
    cdef unsigned char[::1] counted         # (n_blocks,), whether what is found regards the counts
    cdef unsigned char[::1] is_open         # (max_leaves,), whether a leaf may be cut

    cdef prepare_counts(self)

    cdef Split best(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        unsigned long long seed, int level, int n_leaves, const Siblings* pairs, int n_pairs
    ) noexcept nogil

    cdef void read(self, int index) noexcept nogil

    cdef void read_counts(self, const long long[::1] counts, int index) noexcept nogil

    cdef void fill(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, const Siblings* pairs, int n_pairs,
        int n_parts
    ) noexcept nogil

    cdef void search_block(
        self, Py_ssize_t block, Py_ssize_t width, int n_leaves, bint with_counts,
        const Rules* rules, bint at_most, int thread
    ) noexcept nogil

    cdef void search_feature(
        self, Py_ssize_t k, Side missing, int n_leaves, bint with_counts, const Rules* rules,
        bint at_most, int thread, Split* best
    ) noexcept nogil

    cdef void count_block(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, int n_leaves
    ) noexcept nogil

    cdef Split choose(self, Py_ssize_t n_blocks) noexcept nogil

    cdef bint cut_leaf(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        const Split* cut, int index
    ) noexcept nogil

    cdef bint lacks_weight(
        self, const code_t[:, :, ::1] codes, const Rules* rules, const Leaf* leaf
    ) noexcept nogil
