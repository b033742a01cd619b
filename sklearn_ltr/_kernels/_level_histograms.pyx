# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of all leaves of a level, of words and, where they are asked for, of counts.

Serves `_level_search.pyx` and `_symmetric_tree.pyx`.
"""

import numpy as np

cimport cython
from cython.parallel cimport prange
from libc.string cimport memset

from sklearn_ltr._kernels._grown_tree cimport Leaf
from sklearn_ltr._kernels._histogram cimport add_rows
from sklearn_ltr._kernels._leaf_histograms cimport LeafHistograms
from sklearn_ltr._kernels._types cimport code_t


@cython.nonecheck(False)  # of `self` and its parts, never None: the check would need the GIL
cdef class LevelHistograms:
    """Histograms of the leaves of a `SymmetricTreeBuilder`, whose parameters it has.

    Leaf i owns histogram i. Of two leaves that were one, the smaller has its histogram built from
    its rows, and the larger the rest of that of the parent, in its place.
    """

    def __init__(self, rows, words, starts, uncommon, max_leaves, n_threads):
        self.words_by_code = LeafHistograms(starts, uncommon, len(words), max_leaves, n_threads)
        firsts = np.array(starts[: len(starts) - 1]).reshape(len(uncommon.listed), -1)
        self.rows, self.words, self.max_leaves = rows, words, max_leaves
        self.starts_in_block = (firsts - firsts[:, :1]).ravel()
        self.largest_block = int(np.diff(firsts[:, 0], append=starts[len(starts) - 1]).max())
        self.row_counts = np.zeros(0, dtype=np.int64)
        self.count_cells = np.zeros((0, 0), dtype=np.int64)

    cdef prepare_counts(self):
        """Make room for the leaves' histograms of counts, of one block of features."""
        if self.row_counts.shape[0] == 0:
            self.row_counts = np.zeros(self.words.shape[0], dtype=np.int64)
            self.count_cells = np.zeros((self.max_leaves, self.largest_block), dtype=np.int64)

    cdef void read(self, const Siblings* pairs, int n_pairs, int n_threads) noexcept nogil:
        """Words of the rows of the new leaves that are built from them.

        The root's rows are shared out, other leaves go to a thread each.
        """
        cdef Py_ssize_t i, n = self.leaves[0].stop
        if pairs[0].larger < 0:
            for i in prange(n_threads, schedule="static", num_threads=n_threads):
                self.words_by_code.read_rows(
                    0, &self.rows[0], self.words, n * i // n_threads, n * (i + 1) // n_threads, i,
                    n * i // n_threads,
                )
        else:
            for i in prange(n_pairs, schedule="dynamic", num_threads=n_threads):
                self.read_leaf(pairs[i].smaller)

    cdef void read_leaf(self, int index) noexcept nogil:
        cdef const Leaf* leaf = &self.leaves[index]
        self.words_by_code.read_rows(
            index, &self.rows[leaf.start], self.words, 0, leaf.stop - leaf.start, 0, leaf.start
        )

    cdef void fill(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, const Siblings* pairs, int n_pairs,
        int n_threads,                  # as of `read`
        bint here                       # whether the words of leaves have rows of other ranks, too
    ) noexcept nogil:
        """Histograms of a block of features of the new leaves that are built from their rows."""
        cdef int n_parts = n_threads if pairs[0].larger < 0 else 1
        cdef const Leaf* leaf
        cdef long long word
        cdef Py_ssize_t row
        cdef int i
        for i in range(n_pairs):
            leaf = &self.leaves[pairs[i].smaller]
            word = leaf.sums.word
            if here:
                word = 0
                for row in range(leaf.start, leaf.stop):
                    word += self.words_by_code.row_words[row]
            self.words_by_code.fill_block(
                pairs[i].smaller, codes, block, &self.rows[leaf.start], leaf.start,
                leaf.stop - leaf.start, word, n_parts,
            )

    cdef void subtract(
        self, Py_ssize_t block, Py_ssize_t width, const Siblings* pairs, int n_pairs
    ) noexcept nogil:
        """Histograms of a block of features of their siblings."""
        cdef int i
        for i in range(n_pairs):
            if pairs[i].larger >= 0:
                self.words_by_code.subtract_block(
                    pairs[i].smaller, block * width, (block + 1) * width, pairs[i].larger
                )

    cdef void read_counts(
        self, const long long[::1] counts, int n_leaves, int n_threads
    ) noexcept nogil:
        """Counts of the rows of all leaves."""
        cdef Py_ssize_t i
        cdef int leaf
        for leaf in prange(n_leaves, schedule="dynamic", num_threads=n_threads):
            for i in range(self.leaves[leaf].start, self.leaves[leaf].stop):
                self.row_counts[i] = counts[self.rows[i]]

    cdef void count_block(
        self, const code_t[:, :, ::1] codes, Py_ssize_t block, int n_leaves,
        const unsigned char[::1] wanted         # IN, by leaf
    ) noexcept nogil:
        """Histograms of counts of a block of features."""
        cdef const Leaf* leaf
        cdef int i
        for i in range(n_leaves):
            if not wanted[i]:
                continue
            leaf = &self.leaves[i]
            memset(&self.count_cells[i, 0], 0, self.largest_block * sizeof(long long))
            add_rows(
                &codes[block, 0, 0], &self.rows[leaf.start], &self.row_counts[leaf.start],
                leaf.stop - leaf.start, &self.starts_in_block[block * codes.shape[2]],
                &self.count_cells[i, 0],
            )
