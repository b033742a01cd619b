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

from sklearn_ltr._kernels._histogram cimport add_rows
from sklearn_ltr._kernels._leaf_gains cimport add_gains, fit_of, gain_of
from sklearn_ltr._kernels._leaf_histograms cimport LeafHistograms
from sklearn_ltr._kernels._leaf_search cimport CELLS_PER_THREAD, draw_candidates
from sklearn_ltr._kernels._partition cimport count_left, cut_of, rows_left
from sklearn_ltr._kernels._split cimport (
    LEFT,
    RIGHT,
    TIE,
    UNDECIDED,
    Rules,
    Side,
    Split,
    is_better,
    low,
)
from sklearn_ltr._kernels._types cimport code_t


@cython.nonecheck(False)  # of `self` and `histograms`, never None: the check would need the GIL
cdef class LevelSearch:
    """Finds the best cut of the leaves of a `SymmetricTreeBuilder`, whose parameters it has.

    The builder says what the leaves are, and which were cut last. Leaf i owns histogram i.
    """

    def __init__(
        self, rows, words, starts, n_bins, directions, uncommon, max_leaves, n_candidates, n_threads
    ):
        n_blocks = len(uncommon.listed)
        firsts = np.array(starts[: len(starts) - 1]).reshape(n_blocks, -1)
        self.rows, self.words = rows, words
        self.starts, self.n_bins, self.directions = starts, n_bins, directions
        self.starts_in_block = (firsts - firsts[:, :1]).ravel()
        self.largest_block = int(np.diff(firsts[:, 0], append=starts[len(starts) - 1]).max())
        self.n_candidates, self.n_threads = n_candidates, n_threads
        self.histograms = LeafHistograms(starts, uncommon, len(words), max_leaves, n_threads)
        self.row_counts = np.zeros(0, dtype=np.int64)
        self.count_cells = np.zeros((0, 0), dtype=np.int64)
        self.gains = np.zeros((n_threads, int(np.max(n_bins))))
        self.candidates = np.ones(len(n_bins), dtype=np.uint8)
        self.counted = np.zeros(n_blocks, dtype=np.uint8)
        self.is_open = np.zeros(max_leaves, dtype=np.uint8)
        self.found = <Split*>calloc(n_blocks, sizeof(Split))
        if self.found == NULL:
            raise MemoryError("No memory to grow a tree.")

    def __dealloc__(self):
        free(self.found)

    cdef prepare_counts(self):
        """Make room for the leaves' histograms of counts, of one block of features."""
        if self.row_counts.shape[0] == 0:
            self.row_counts = np.zeros(self.words.shape[0], dtype=np.int64)
            self.count_cells = np.zeros((len(self.is_open), self.largest_block), dtype=np.int64)

    cdef Split best(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        unsigned long long seed, int level, int n_leaves, const Siblings* pairs, int n_pairs
    ) noexcept nogil:
        """The cut that gains most over all leaves; of gain 0 if none gains."""
        cdef Rules uncounted = rules[0]
        cdef Py_ssize_t width = codes.shape[2]
        cdef Py_ssize_t block, i, n_read = 0
        cdef int n_threads = self.n_threads
        cdef bint apart = counts.shape[0] != 0
        cdef const Leaf* leaf
        cdef Split cut
        uncounted.min_count = 0
        for i in range(n_leaves):
            leaf = &self.leaves[i]
            self.is_open[i] = (
                leaf.stop - leaf.start >= 2
                and low(leaf.sums.word, rules) >= 2 * rules.min_low
                and leaf.sums.count >= 2 * rules.min_count
            )
        for i in range(n_pairs):
            leaf = &self.leaves[pairs[i].smaller]
            n_read += leaf.stop - leaf.start
        if n_read * self.n_bins.shape[0] + n_leaves * self.histograms.cells.shape[1] < (
            CELLS_PER_THREAD
        ):
            n_threads = 1
        if self.n_candidates < self.n_bins.shape[0]:
            draw_candidates(
                seed, level, self.n_candidates, self.n_bins.shape[0], &self.candidates[0]
            )
        # The root's rows are shared out, other leaves go to a thread each.
        if level == 0:
            for i in prange(n_threads, schedule="static", num_threads=n_threads):
                self.histograms.read_rows(
                    0, &self.rows[0], self.words, n_read * i // n_threads,
                    n_read * (i + 1) // n_threads, i, n_read * i // n_threads,
                )
        else:
            for i in prange(n_pairs, schedule="dynamic", num_threads=n_threads):
                self.read(pairs[i].smaller)
        for block in prange(codes.shape[0], schedule="dynamic", num_threads=n_threads):
            self.fill(codes, block, pairs, n_pairs, n_threads if level == 0 else 1)
            self.search_block(
                block, width, n_leaves, False, &uncounted, apart and rules.l2 > 0, threadid()
            )
            self.counted[block] = not apart
        cut = self.choose(codes.shape[0])
        if apart and cut.gain > 0:
            for i in prange(n_leaves, schedule="dynamic", num_threads=n_threads):
                self.read_counts(counts, i)
        # What is found without regard to counts bounds what there is, until a block is counted.
        while cut.gain > 0 and not self.counted[cut.feature // width]:
            block = cut.feature // width
            self.count_block(codes, block, n_leaves)
            self.search_block(block, width, n_leaves, True, rules, False, 0)
            self.counted[block] = True
            cut = self.choose(codes.shape[0])
        return cut

    cdef void read(self, int index) noexcept nogil:
        """Words of a leaf's rows, and a histogram of their uncommon cells."""
        cdef const Leaf* leaf = &self.leaves[index]
        self.histograms.read_rows(
            index, &self.rows[leaf.start], self.words, 0, leaf.stop - leaf.start, 0, leaf.start
        )

    cdef void read_counts(self, const long long[::1] counts, int index) noexcept nogil:
        """Counts of a leaf's rows."""
        cdef Py_ssize_t i
        for i in range(self.leaves[index].start, self.leaves[index].stop):
            self.row_counts[i] = counts[self.rows[i]]

    cdef void fill(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, const Siblings* pairs, int n_pairs,
        int n_parts
    ) noexcept nogil:
        """Histograms of a block of features of the leaves that are new."""
        cdef Py_ssize_t width = codes.shape[2]
        cdef const Leaf* leaf
        cdef int i
        for i in range(n_pairs):
            leaf = &self.leaves[pairs[i].smaller]
            self.histograms.fill_block(
                pairs[i].smaller, codes, block, &self.rows[leaf.start], leaf.start,
                leaf.stop - leaf.start, leaf.sums.word, n_parts,
            )
            if pairs[i].larger >= 0:
                self.histograms.subtract_block(
                    pairs[i].smaller, block * width, (block + 1) * width, pairs[i].larger
                )

    cdef void count_block(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, int n_leaves
    ) noexcept nogil:
        """Histograms of counts of a block of features of all leaves that may be cut."""
        cdef const Leaf* leaf
        cdef int i
        for i in range(n_leaves):
            if not self.is_open[i]:
                continue
            leaf = &self.leaves[i]
            memset(&self.count_cells[i, 0], 0, self.largest_block * sizeof(long long))
            add_rows(
                &codes[block, 0, 0], &self.rows[leaf.start], &self.row_counts[leaf.start],
                leaf.stop - leaf.start, &self.starts_in_block[block * codes.shape[2]],
                &self.count_cells[i, 0],
            )

    cdef void search_block(
        self, Py_ssize_t block, Py_ssize_t width, int n_leaves, bint with_counts,
        const Rules* rules, bint at_most, int thread
    ) noexcept nogil:
        """The best cut on the features of a block."""
        cdef Split* best = &self.found[block]
        cdef Split other
        cdef Py_ssize_t k
        cdef int i
        cdef bint any_missing
        best.gain = 0
        for k in range(block * width, min((block + 1) * width, self.n_bins.shape[0])):
            if not self.candidates[k]:
                continue
            any_missing = False
            for i in range(n_leaves):
                if self.is_open[i] and self.histograms.cells[i, self.starts[k] + self.n_bins[k]]:
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
        """Try every threshold of a feature, with the missing values on one side."""
        cdef double* gains = &self.gains[thread, 0]
        cdef const long long* counts = NULL
        cdef Py_ssize_t bin
        cdef int i
        memset(gains, 0, self.n_bins[k] * sizeof(double))
        for i in range(n_leaves):
            if not self.is_open[i]:
                continue
            if with_counts:
                counts = &self.count_cells[i, self.starts_in_block[k]]
            add_gains(
                &self.histograms.cells[i, self.starts[k]], counts, self.n_bins[k],
                self.directions[k], missing, &self.leaves[i].sums, rules, at_most, gains,
            )
        for bin in range(self.n_bins[k]):
            if gains[bin] > best.gain * (1 + TIE):
                best.gain, best.feature = gains[bin], <int>k
                best.bin, best.missing = <int>bin, missing

    cdef Split choose(self, Py_ssize_t n_blocks) noexcept nogil:
        """The best cut of all blocks; the first of equals."""
        cdef Split best = Split(0, 0, 0, UNDECIDED, 0, 0)
        cdef Py_ssize_t block
        for block in range(n_blocks):
            if self.found[block].gain > best.gain * (1 + TIE):
                best = self.found[block]
        return best

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
        cells = &self.histograms.cells[index, self.starts[k]]
        leaf.split = cut[0]
        leaf.split.left_word = cells[self.n_bins[k]] if cut.missing == LEFT else 0
        for bin in range(cut.bin + 1):
            leaf.split.left_word += cells[bin]
        if rules.rounding > 0 and self.lacks_weight(codes, rules, leaf):
            return False
        leaf.split.left_count = 0
        if counts.shape[0]:
            leaf.split.left_count = count_left(
                codes[k // width], cut_of(cut, self.n_bins[k], width), &self.rows[leaf.start],
                leaf.stop - leaf.start, counts,
            )
        return gain_of(
            leaf.split.left_word, leaf.split.left_count, self.directions[k], &leaf.sums, rules,
            fit_of(&leaf.sums, rules), &leaf.split.gain,
        )

    cdef bint lacks_weight(
        self, const code_t[:, :, ::1] codes, const Rules* rules, const Leaf* leaf
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
        if min(left, right) > n:
            return False
        n_left = rows_left(
            codes[k // width], cut_of(&leaf.split, self.n_bins[k], width), &self.rows[leaf.start], n
        )
        return left <= n_left or right <= n - n_left
