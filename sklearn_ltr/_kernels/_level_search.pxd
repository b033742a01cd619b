# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best cut of all leaves of a level; see _level_search.pyx."""

from sklearn_ltr._kernels._allowed cimport AllowedFeatures
from sklearn_ltr._kernels._grown_tree cimport Leaf
from sklearn_ltr._kernels._level_histograms cimport LevelHistograms, Siblings
from sklearn_ltr._kernels._split cimport Rules, Side, Split
from sklearn_ltr._kernels._types cimport code_t


cdef class LevelSearch:
    cdef const unsigned int[::1] rows
    cdef const Py_ssize_t[::1] starts       # first slot of each column
    cdef const Py_ssize_t[::1] n_bins
    cdef const int[::1] directions
    cdef const unsigned char[::1] categorical
    cdef int n_threads
    cdef Leaf* leaves                       # of the builder
    cdef Split* found                       # (n_blocks,), the best cut of each
    cdef LevelHistograms histograms
    cdef AllowedFeatures allowed            # of the level, in the place of a leaf
    cdef double[:, ::1] gains               # (n_threads, most bins)
    cdef unsigned char[::1] candidates      # (n_features,)
    cdef unsigned char[::1] counted         # (n_blocks,), whether what is found regards the counts
    cdef unsigned char[::1] is_open         # (max_leaves,), whether a leaf may be cut
    cdef object merge                       # of the builder
    cdef bint merges
    cdef long long[:, ::1] sides            # (max_leaves, 2), of the cut, where ranks are merged

    cdef int find_best(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        unsigned long long seed, int level, int n_leaves, const Siblings* pairs, int n_pairs,
        Split* cut
    ) except -1 nogil

    cdef void search_block(
        self, Py_ssize_t block, Py_ssize_t width, int n_leaves, bint with_counts,
        const Rules* rules, bint at_most, int thread
    ) noexcept nogil

    cdef void search_feature(
        self, Py_ssize_t k, Side missing, int n_leaves, bint with_counts, const Rules* rules,
        bint at_most, int thread, Split* best
    ) noexcept nogil

    cdef int order_of_level(
        self, Py_ssize_t k, int n_leaves, const Rules* rules, int* order
    ) noexcept nogil

    cdef Split choose(self, Py_ssize_t n_blocks) noexcept nogil

    cdef int count_sides(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        const Split* cut, int n_leaves
    ) except -1 nogil

    cdef bint cut_leaf(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        const Split* cut, int index
    ) noexcept nogil

    cdef bint lacks_weight(
        self, const code_t[:, :, ::1] codes, const Rules* rules, const Leaf* leaf, int index
    ) noexcept nogil
