# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best cut of all leaves of a level, from their histograms.

Serves `_symmetric_tree.pyx`.
"""

import numpy as np

cimport cython
from cython.parallel cimport prange, threadid
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from sklearn_ltr._kernels._allowed cimport AllowedFeatures
from sklearn_ltr._kernels._leaf_gains cimport add_gains, fit_of, gain_of
from sklearn_ltr._kernels._leaf_search cimport CELLS_PER_THREAD
from sklearn_ltr._kernels._level_histograms cimport LevelHistograms, Siblings
from sklearn_ltr._kernels._partition cimport count_left, cut_of, rows_left
from sklearn_ltr._kernels._split cimport (
    LEFT,
    MOST_CODES,
    RIGHT,
    TIE,
    UNDECIDED,
    Rules,
    Side,
    Split,
    arrange,
    has_code,
    is_better,
    low,
    note_codes,
    order_codes,
)
from sklearn_ltr._kernels._types cimport code_t


@cython.nonecheck(False)  # of `self` and its parts, never None: the check would need the GIL
cdef class LevelSearch:
    """Finds the best cut of the leaves of a `SymmetricTreeBuilder`, whose parameters it has.

    The builder says what the leaves are, and which were cut last.
    """

    def __init__(
        self, rows, words, starts, n_bins, directions, categorical, uncommon, max_leaves,
        interactions, max_features, n_threads, merge
    ):
        self.merge, self.merges = merge, merge is not None
        n_blocks = len(uncommon.listed)
        self.rows = rows
        self.starts, self.n_bins, self.directions = starts, n_bins, directions
        self.categorical = categorical
        self.n_threads = n_threads
        self.histograms = LevelHistograms(rows, words, starts, uncommon, max_leaves, n_threads)
        self.gains = np.zeros((n_threads, int(np.max(n_bins))))
        self.allowed = AllowedFeatures(interactions, max_features, len(n_bins), 1)
        self.candidates = np.ones(len(n_bins), dtype=np.uint8)
        self.counted = np.zeros(n_blocks, dtype=np.uint8)
        self.is_open = np.zeros(max_leaves, dtype=np.uint8)
        self.sides = np.zeros((max_leaves, 2), dtype=np.int64)
        self.found = <Split*>calloc(n_blocks, sizeof(Split))
        if self.found == NULL:
            raise MemoryError("No memory to grow a tree.")

    def __dealloc__(self):
        free(self.found)

    cdef int find_best(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        unsigned long long seed, int level, int n_leaves, const Siblings* pairs, int n_pairs,
        Split* cut                      # OUT
    ) except -1 nogil:
        """The cut that gains most over all leaves; of gain 0 if none gains."""
        cdef Rules uncounted = rules[0]
        cdef Py_ssize_t width = codes.shape[2]
        cdef Py_ssize_t block, i, n_read = 0
        cdef int n_threads = self.n_threads
        cdef bint apart = rules.min_count != 0
        cdef const Leaf* leaf
        uncounted.min_count = 0
        for i in range(n_leaves):
            leaf = &self.leaves[i]
            self.is_open[i] = (
                leaf.n >= 2
                and low(leaf.sums.word, rules) >= 2 * rules.min_low
                and leaf.sums.count >= 2 * rules.min_count
            )
        for i in range(n_pairs):
            leaf = &self.leaves[pairs[i].smaller]
            n_read += leaf.stop - leaf.start
        if n_read * self.n_bins.shape[0] + n_leaves * self.starts[self.starts.shape[0] - 1] < (
            CELLS_PER_THREAD
        ):
            n_threads = 1
        if self.allowed.vary:
            self.allowed.choose(seed, level, 0, &self.candidates[0])
        self.histograms.read(pairs, n_pairs, n_threads)
        if self.merges:
            for block in prange(codes.shape[0], schedule="dynamic", num_threads=n_threads):
                self.histograms.fill(codes, block, pairs, n_pairs, n_threads, True)
            # The leaves that are built from their rows are the last ones.
            with gil:
                self.merge(
                    self.histograms.words_by_code.cells[
                        pairs[0].smaller:pairs[0].smaller + n_pairs
                    ]
                )
        for block in prange(codes.shape[0], schedule="dynamic", num_threads=n_threads):
            if not self.merges:
                self.histograms.fill(codes, block, pairs, n_pairs, n_threads, False)
            self.histograms.subtract(block, codes.shape[2], pairs, n_pairs)
            self.search_block(
                block, width, n_leaves, False, &uncounted, apart and rules.l2 > 0, threadid()
            )
            self.counted[block] = not apart
        cut[0] = self.choose(codes.shape[0])
        if apart and cut.gain > 0:
            self.histograms.read_counts(counts, n_leaves, n_threads)
        # What is found without regard to counts bounds what there is, until a block is counted.
        while cut.gain > 0 and not self.counted[cut.feature // width]:
            block = cut.feature // width
            self.histograms.count_block(codes, block, n_leaves, self.is_open)
            if self.merges:
                with gil:
                    self.merge(self.histograms.count_cells[:n_leaves])
            self.search_block(block, width, n_leaves, True, rules, False, 0)
            self.counted[block] = True
            cut[0] = self.choose(codes.shape[0])
        return 0

    cdef void search_block(
        self, Py_ssize_t block, Py_ssize_t width, int n_leaves, bint with_counts,
        const Rules* rules, bint at_most, int thread
    ) noexcept nogil:
        """The best cut on the features of a block."""
        cdef Split* best = &self.found[block]
        cdef Split other
        cdef Py_ssize_t k, last
        cdef int i
        cdef bint any_missing
        best.gain = 0
        for k in range(block * width, min((block + 1) * width, self.n_bins.shape[0])):
            if not self.candidates[k]:
                continue
            any_missing = False
            last = self.starts[k] + self.n_bins[k]
            for i in range(n_leaves):
                if self.is_open[i] and self.histograms.words_by_code.cells[i, last] != 0:
                    any_missing = True
            if not any_missing:
                self.search_feature(
                    k, UNDECIDED, n_leaves, with_counts, rules, at_most, thread, best
                )
                continue
            other = best[0]
            self.search_feature(k, LEFT, n_leaves, with_counts, rules, at_most, thread, best)
            self.search_feature(k, RIGHT, n_leaves, with_counts, rules, at_most, thread, &other)
            if is_better(&other, best, <int>k):
                best[0] = other

    cdef void search_feature(
        self, Py_ssize_t k, Side missing, int n_leaves, bint with_counts, const Rules* rules,
        bint at_most, int thread, Split* best
    ) noexcept nogil:
        """Try every threshold of a feature, with the missing values on one side.

        Of a categorical feature, codes are in the order of what they have in all leaves together.
        """
        cdef double* gains = &self.gains[thread, 0]
        cdef const long long* words
        cdef const long long* counts = NULL
        cdef long long arranged[MOST_CODES]
        cdef long long arranged_counts[MOST_CODES]
        cdef int order[MOST_CODES]
        cdef Py_ssize_t bin, n_bins = self.n_bins[k]
        cdef double before = best.gain
        cdef int i
        if self.categorical[k]:
            n_bins = self.order_of_level(k, n_leaves, rules, order)
        memset(gains, 0, n_bins * sizeof(double))
        for i in range(n_leaves):
            if not self.is_open[i]:
                continue
            if with_counts:
                counts = &self.histograms.count_cells[
                    i, self.histograms.starts_in_block[k]
                ]
            words = &self.histograms.words_by_code.cells[i, self.starts[k]]
            if self.categorical[k]:
                arrange(
                    words, self.n_bins[k], order, <int>n_bins, self.leaves[i].sums.word, arranged
                )
                words = arranged
                if with_counts:
                    arrange(
                        counts, self.n_bins[k], order, <int>n_bins, self.leaves[i].sums.count,
                        arranged_counts,
                    )
                    counts = arranged_counts
            add_gains(
                words, counts, n_bins, self.directions[k], missing, &self.leaves[i].sums, rules,
                at_most, gains,
            )
        for bin in range(n_bins):
            if gains[bin] > best.gain * (1 + TIE):
                best.gain, best.feature = gains[bin], <int>k
                best.bin, best.missing = <int>bin, missing
        if self.categorical[k] and best.gain > before:
            note_codes(order, <int>n_bins, self.n_bins[k], best)

    cdef int order_of_level(
        self, Py_ssize_t k, int n_leaves, const Rules* rules, int* order
    ) noexcept nogil:
        """The codes of a categorical feature in the order of their means in all open leaves."""
        cdef long long totals[MOST_CODES]
        cdef long long word = 0, count = 0
        cdef Py_ssize_t code
        cdef int i
        memset(totals, 0, sizeof(totals))
        for i in range(n_leaves):
            if self.is_open[i]:
                word += self.leaves[i].sums.word
                count += self.leaves[i].sums.count
                for code in range(self.n_bins[k]):
                    totals[code] += self.histograms.words_by_code.cells[i, self.starts[k] + code]
        return order_codes(totals, self.n_bins[k], word, count, rules, order)

    cdef Split choose(self, Py_ssize_t n_blocks) noexcept nogil:
        """The best cut of all blocks; the first of equals."""
        cdef Split best
        cdef Py_ssize_t block
        memset(&best, 0, sizeof(Split))
        for block in range(n_blocks):
            if self.found[block].gain > best.gain * (1 + TIE):
                best = self.found[block]
        return best

    cdef int count_sides(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        const Split* cut, int n_leaves
    ) except -1 nogil:
        """Over all ranks, how many rows of each leaf a cut would put on the left, and their count.
        """
        cdef Py_ssize_t width = codes.shape[2]
        cdef Py_ssize_t k = cut.feature
        cdef Py_ssize_t n
        cdef const unsigned int* rows
        cdef int i
        for i in range(n_leaves):
            self.sides[i, 0] = self.sides[i, 1] = 0
            if not self.is_open[i]:
                continue
            rows, n = &self.rows[self.leaves[i].start], self.leaves[i].stop - self.leaves[i].start
            self.sides[i, 0] = rows_left(
                codes[k // width], cut_of(cut, self.n_bins[k], width, self.categorical[k]), rows, n
            )
            if rules.min_count:
                self.sides[i, 1] = count_left(
                    codes[k // width], cut_of(cut, self.n_bins[k], width, self.categorical[k]),
                    rows, n, counts,
                )
        with gil:
            self.merge(self.sides[:n_leaves])
        return 0

    cdef bint cut_leaf(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        const Split* cut, int index
    ) noexcept nogil:
        """Make the level's cut the split of a leaf, and tell whether the leaf may be cut so."""
        cdef Leaf* leaf = &self.leaves[index]
        cdef Py_ssize_t k = cut.feature
        cdef Py_ssize_t width = codes.shape[2]
        cdef const long long* cells
        cdef Py_ssize_t bin
        if not self.is_open[index]:
            return False
        cells = &self.histograms.words_by_code.cells[index, self.starts[k]]
        leaf.split = cut[0]
        leaf.split.left_word = cells[self.n_bins[k]] if cut.missing == LEFT else 0
        for bin in range(self.n_bins[k] if self.categorical[k] else cut.bin + 1):
            if not self.categorical[k] or has_code(&cut.left, <unsigned int>bin):
                leaf.split.left_word += cells[bin]
        if rules.rounding > 0 and self.lacks_weight(codes, rules, leaf, index):
            return False
        leaf.split.left_count = 0
        if self.merges:
            leaf.split.left_count = self.sides[index, 1]
        elif rules.min_count:
            leaf.split.left_count = count_left(
                codes[k // width], cut_of(cut, self.n_bins[k], width, self.categorical[k]),
                &self.rows[leaf.start], leaf.stop - leaf.start, counts,
            )
        return gain_of(
            leaf.split.left_word, leaf.split.left_count, self.directions[k], &leaf.sums, rules,
            fit_of(&leaf.sums, rules), &leaf.split.gain,
        )

    cdef bint lacks_weight(
        self, const code_t[:, :, ::1] codes, const Rules* rules, const Leaf* leaf, int index
    ) noexcept nogil:
        """Whether all rows of a side of a leaf's split are without weight.

        Each then adds the least unit to the low sum. The search sees no gain in it, but other
        leaves may have chosen the cut.
        """
        cdef Py_ssize_t k = leaf.split.feature
        cdef Py_ssize_t width = codes.shape[2]
        cdef Py_ssize_t n_left, n = leaf.stop - leaf.start
        cdef long long left = low(leaf.split.left_word, rules)
        cdef long long right = low(leaf.sums.word, rules) - left
        if min(left, right) > leaf.n:
            return False
        if self.merges:
            n_left = self.sides[index, 0]
        else:
            n_left = rows_left(
                codes[k // width], cut_of(&leaf.split, self.n_bins[k], width, self.categorical[k]),
                &self.rows[leaf.start], n
            )
        return left <= n_left or right <= leaf.n - n_left
