# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best splits of the leaves of a growing tree, from their histograms.

Serves `_level_search.pyx` and `_tree.pyx`.
"""

import numpy as np

cimport cython
from cython.parallel cimport prange
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from sklearn_ltr._kernels._allowed cimport AllowedFeatures
from sklearn_ltr._kernels._histogram cimport add_rows
from sklearn_ltr._kernels._leaf_histograms cimport LeafHistograms
from sklearn_ltr._kernels._partition cimport count_left, cut_of
from sklearn_ltr._kernels._split cimport (
    TIE,
    Rules,
    Split,
    low,
    search_categories,
    search_feature,
)
from sklearn_ltr._kernels._types cimport code_t


@cython.nonecheck(False)  # of `self` and its parts, never None: the check would need the GIL
cdef class LeafSearch:
    """Finds the best splits of the leaves of a `TreeBuilder`, whose parameters it has.

    The builder says what the leaves are; their splits are noted here.
    """

    def __init__(
        self, rows, words, starts, n_bins, directions, categorical, uncommon, max_leaves, max_depth,
        interactions, max_features, n_threads, merge
    ):
        self.merge, self.merges = merge, merge is not None
        self.rows, self.words = rows, words
        self.starts, self.n_bins, self.directions = starts, n_bins, directions
        self.categorical = categorical
        self.max_depth, self.n_threads = max_depth, n_threads
        self.histograms = LeafHistograms(starts, uncommon, len(words), max_leaves, n_threads)
        self.count_histogram = np.zeros(0, dtype=np.int64)
        self.left_count = np.zeros(1, dtype=np.int64)
        self.allowed = AllowedFeatures(interactions, max_features, len(n_bins), max_leaves)
        self.candidates = np.ones((2, len(n_bins)), dtype=np.uint8)
        self.found = <Split*>calloc(2 * len(starts), sizeof(Split))
        if self.found == NULL:
            raise MemoryError("No memory to grow a tree.")

    def __dealloc__(self):
        free(self.found)

    cdef prepare_counts(self):
        """Make room for a histogram of counts."""
        if self.count_histogram.shape[0] == 0:
            self.count_histogram = np.zeros(self.histograms.n_slots, dtype=np.int64)

    cdef int evaluate(
        self, const code_t[:, :, ::1] codes, const Rules* rules, unsigned long long seed,
        int smaller, int larger
    ) except -1 nogil:
        """Find the best splits of two siblings, or of the root, when `larger` is -1.

        Without regard to counts that are apart from the low sums: no split that they allow is
        better.
        """
        cdef Rules uncounted = rules[0]
        cdef int wanted[2]
        cdef int i
        cdef Leaf* leaf
        wanted[0], wanted[1] = smaller, larger
        for i in range(2):
            if wanted[i] < 0:
                continue
            leaf = &self.leaves[wanted[i]]
            leaf.split.gain = 0
            if not self.may_split(leaf, rules):
                wanted[i] = -1
            elif self.allowed.vary:
                self.allowed.choose(seed, leaf.node, wanted[i], &self.candidates[i, 0])
        if wanted[0] < 0 and wanted[1] < 0:
            return 0
        uncounted.min_count = 0
        self.scan(codes, &uncounted, smaller, larger, wanted)
        return 0

    cdef bint may_split(self, const Leaf* leaf, const Rules* rules) noexcept nogil:
        """Whether a leaf has enough of everything; rows elsewhere are not counted yet."""
        return (
            (self.merges or leaf.stop - leaf.start >= 2)
            and (self.max_depth < 0 or leaf.depth < self.max_depth)
            and low(leaf.sums.word, rules) >= 2 * rules.min_low
            and leaf.sums.count >= 2 * rules.min_count
        )

    cdef int scan(
        self, const code_t[:, :, ::1] codes, const Rules* rules, int smaller, int larger,
        int* wanted
    ) except -1 nogil:
        """Histograms of two siblings, and the best splits of those that are wanted."""
        cdef Py_ssize_t width = codes.shape[2]
        cdef const unsigned int* rows = &self.rows[self.leaves[smaller].start]
        cdef Py_ssize_t n = self.leaves[smaller].stop - self.leaves[smaller].start
        cdef Py_ssize_t i, block
        cdef int n_threads = self.n_threads
        if n * self.n_bins.shape[0] + 2 * self.histograms.n_slots < CELLS_PER_THREAD:
            n_threads = 1
        for i in prange(n_threads, schedule="static", num_threads=n_threads):
            self.histograms.read_rows(
                smaller, rows, self.words, n * i // n_threads, n * (i + 1) // n_threads, i,
                n * i // n_threads,
            )
        if self.merges:
            self.fill_merged(codes, rules, smaller, larger, wanted, n_threads)
        for block in prange(codes.shape[0], schedule="dynamic", num_threads=n_threads):
            if not self.merges:
                self.histograms.fill_block(
                    smaller, codes, block, rows, 0, n, self.leaves[smaller].sums.word, n_threads
                )
            if larger >= 0:
                self.histograms.subtract_block(
                    smaller, block * width, (block + 1) * width, larger
                )
            self.search_block(block, width, wanted[0], 0, NULL, rules)
            self.search_block(block, width, wanted[1], 1, NULL, rules)
        self.choose(codes.shape[0], wanted[0], 0)
        self.choose(codes.shape[0], wanted[1], 1)
        return 0

    cdef int fill_merged(
        self, const code_t[:, :, ::1] codes, const Rules* rules, int smaller, int larger,
        int* wanted, int n_threads
    ) except -1 nogil:
        """The histogram of a leaf over all ranks, and how many rows it and its sibling have.

        Those that have a single one are not wanted any more.
        """
        cdef const unsigned int* rows = &self.rows[self.leaves[smaller].start]
        cdef Py_ssize_t n = self.leaves[smaller].stop - self.leaves[smaller].start
        cdef long long[::1] cells = self.histograms.cells[smaller]
        cdef long long word = 0
        cdef Py_ssize_t i, block
        # What is common to the rows here is a part of the word of the rows here.
        for i in range(n):
            word += self.histograms.row_words[i]
        for block in prange(codes.shape[0], schedule="dynamic", num_threads=n_threads):
            self.histograms.fill_block(smaller, codes, block, rows, 0, n, word, n_threads)
        cells[self.histograms.n_slots] = n
        with gil:
            self.merge(cells)
        if larger >= 0:
            n = cells[self.histograms.n_slots]
            self.leaves[smaller].n, self.leaves[larger].n = n, self.leaves[larger].n - n
        for i in range(2):
            if wanted[i] < 0:
                continue
            self.leaves[wanted[i]].sums.rounding = rules.rounding * self.leaves[wanted[i]].n
            if self.leaves[wanted[i]].n < 2:
                wanted[i] = -1
        return 0

    cdef void search_block(
        self, Py_ssize_t block, Py_ssize_t width, int leaf, int which, const long long* counts,
        const Rules* rules
    ) noexcept nogil:
        """The best split of a leaf on the features of a block."""
        cdef Py_ssize_t k, slot
        cdef const long long* counts_of_k
        cdef Split* best = &self.found[2 * block + which]
        best.gain = 0
        if leaf < 0:
            return
        for k in range(block * width, min((block + 1) * width, self.n_bins.shape[0])):
            if not self.candidates[which, k]:
                continue
            slot = self.starts[k]
            counts_of_k = counts + slot if counts != NULL else NULL
            if self.categorical[k]:
                search_categories(
                    &self.histograms.cells[leaf, slot], counts_of_k, <int>k, self.n_bins[k],
                    &self.leaves[leaf].sums, rules, best,
                )
            else:
                search_feature(
                    &self.histograms.cells[leaf, slot], counts_of_k, <int>k, self.n_bins[k],
                    self.directions[k], &self.leaves[leaf].sums, rules, best,
                )

    cdef void choose(self, Py_ssize_t n_blocks, int leaf, int which) noexcept nogil:
        """The best split of all blocks; the first of equals."""
        cdef Py_ssize_t block
        if leaf < 0:
            return
        self.leaves[leaf].split.gain = 0
        for block in range(n_blocks):
            if self.found[2 * block + which].gain > self.leaves[leaf].split.gain * (1 + TIE):
                self.leaves[leaf].split = self.found[2 * block + which]

    cdef int counts_suffice(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        int index
    ) except -1 nogil:
        """Whether both sides of a leaf's split count enough; notes the count of the left one."""
        cdef Leaf* leaf = &self.leaves[index]
        cdef Py_ssize_t width = codes.shape[2]
        cdef int k = leaf.split.feature
        if leaf.split.gain == 0:
            return True
        leaf.split.left_count = count_left(
            codes[k // width], cut_of(&leaf.split, self.n_bins[k], width, self.categorical[k]),
            &self.rows[leaf.start], leaf.stop - leaf.start, counts,
        )
        if self.merges:
            self.left_count[0] = leaf.split.left_count
            with gil:
                self.merge(self.left_count)
            leaf.split.left_count = self.left_count[0]
        return (
            leaf.split.left_count >= rules.min_count
            and leaf.sums.count - leaf.split.left_count >= rules.min_count
        )

    cdef int search_counted(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        unsigned long long seed, int index
    ) except -1 nogil:
        """The best split of a leaf whose sides count enough, when those of the present do not.

        A histogram of counts tells the best one of a block of features, until the best of all
        blocks is such a one.
        """
        cdef Rules uncounted = rules[0]
        cdef Leaf* leaf = &self.leaves[index]
        cdef Py_ssize_t n = leaf.stop - leaf.start
        cdef Py_ssize_t width = codes.shape[2]
        cdef Py_ssize_t i, block, first, last
        uncounted.min_count = 0
        if self.allowed.vary:
            self.allowed.choose(seed, leaf.node, index, &self.candidates[0, 0])
        for block in range(codes.shape[0]):
            self.search_block(block, width, index, 0, NULL, &uncounted)
        for i in range(n):
            self.histograms.row_words[i] = counts[self.rows[leaf.start + i]]
        while not self.counts_suffice(codes, counts, rules, index):
            block = leaf.split.feature // width
            first, last = self.starts[block * width], self.starts[(block + 1) * width]
            memset(&self.count_histogram[first], 0, (last - first) * sizeof(long long))
            add_rows(
                &codes[block, 0, 0], &self.rows[leaf.start], &self.histograms.row_words[0], n,
                &self.starts[block * width], &self.count_histogram[0],
            )
            if self.merges:
                with gil:
                    self.merge(self.count_histogram[first:last])
            self.search_block(block, width, index, 0, &self.count_histogram[0], rules)
            self.choose(codes.shape[0], index, 0)
        return 0
