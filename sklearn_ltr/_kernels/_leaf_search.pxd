# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best splits of the leaves of a growing tree; see _leaf_search.pyx."""

from sklearn_ltr._kernels._allowed cimport AllowedFeatures
from sklearn_ltr._kernels._grown_tree cimport Leaf
from sklearn_ltr._kernels._leaf_histograms cimport LeafHistograms
from sklearn_ltr._kernels._split cimport Rules, Split
from sklearn_ltr._kernels._types cimport code_t

cdef enum:
    CELLS_PER_THREAD = 200_000  # with fewer a second thread costs more than it does


cdef class LeafSearch:
    cdef const unsigned int[::1] rows
    cdef const long long[::1] words
    cdef const Py_ssize_t[::1] starts, n_bins
    cdef const int[::1] directions
    cdef const unsigned char[::1] categorical
    cdef int max_depth, n_threads
    cdef Leaf* leaves                       # of the builder
    cdef Split* found                       # (n_blocks, 2), the best splits of two leaves
    cdef LeafHistograms histograms
    cdef AllowedFeatures allowed
    cdef long long[::1] count_histogram
    cdef object merge                       # of the builder
    cdef bint merges
    cdef long long[::1] left_count          # (1,), to be merged
    cdef unsigned char[:, ::1] candidates   # (2, n_features)

    cdef prepare_counts(self)

    cdef int evaluate(
        self, const code_t[:, :, ::1] codes, const Rules* rules, unsigned long long seed,
        int smaller, int larger
    ) except -1 nogil

    cdef bint may_split(self, const Leaf* leaf, const Rules* rules) noexcept nogil

    cdef int scan(
        self, const code_t[:, :, ::1] codes, const Rules* rules, int smaller, int larger,
        int* wanted
    ) except -1 nogil

    cdef int fill_merged(
        self, const code_t[:, :, ::1] codes, const Rules* rules, int smaller, int larger,
        int* wanted, int n_threads
    ) except -1 nogil

    cdef void search_block(
        self, Py_ssize_t block, Py_ssize_t width, int leaf, int which, const long long* counts,
        const Rules* rules
    ) noexcept nogil

    cdef void choose(self, Py_ssize_t n_blocks, int leaf, int which) noexcept nogil

    cdef int counts_suffice(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        int index
    ) except -1 nogil

    cdef int search_counted(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        unsigned long long seed, int index
    ) except -1 nogil
