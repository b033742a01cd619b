# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Best-first growth of a regression tree on bin codes.

Serves `weak/tree.py`.
"""

import numpy as np

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange
from libc.math cimport INFINITY

from sklearn_ltr._kernels._histogram cimport AHEAD
from sklearn_ltr._kernels._leaf_search cimport Leaf, LeafSearch
from sklearn_ltr._kernels._partition cimport partition
from sklearn_ltr._kernels._split cimport RIGHT, TIE, UNDECIDED, Node, Rules, Split, low, mean
from sklearn_ltr._kernels._types cimport code_t

cdef enum:
    CELLS_AT_A_TIME = 1 << 27


cdef inline long long size(const Leaf* leaf, const Rules* rules) noexcept nogil:
    """How many rows a leaf counts as."""
    return leaf.sums.count if rules.min_count else low(leaf.sums.word, rules)


@cython.nonecheck(False)  # of `self` and `search`, never None: the check would need the GIL
cdef class TreeBuilder:
    """Grows trees on one binned matrix.

    Parameters
    ----------
    starts : ndarray of shape (n_blocks * width + 1,), dtype intp
        First slot of each feature in a histogram; columns that pad the last block have one, too.
    n_bins : ndarray of shape (n_features,), dtype intp
    directions : ndarray of shape (n_features,), dtype intc
        Monotonic constraints.
    uncommon : UncommonCells
        Blocks whose histograms are built from their cells with uncommon codes.
    n_rows, max_leaves, max_depth, n_candidates, n_threads : int
        Each node chooses among `n_candidates` features.

    Attributes
    ----------
    rows : ndarray of shape (n_rows + AHEAD,), dtype uint32
        To be filled with the rows to grow on, ascending. `grow` permutes them, leaf after leaf, the
        rows of a leaf ascending.
    words : ndarray of shape (n_rows,), dtype int64
        To be filled with the packed word of each row.
    feature, bin, left, missing_right, gain : ndarrays of shape (2 * max_leaves - 1,)
        The tree, by node. The right child is left + 1; leaves have feature -1.
    leaf_node, leaf_start, leaf_stop : ndarrays of shape (max_leaves,), dtype intp
    """

    cdef readonly unsigned int[::1] rows
    cdef readonly long long[::1] words
    cdef readonly int[::1] feature, bin, left
    cdef readonly unsigned char[::1] missing_right
    cdef readonly double[::1] gain
    cdef readonly Py_ssize_t[::1] leaf_node, leaf_start, leaf_stop
    cdef readonly int n_nodes, n_leaves
    cdef int max_leaves, n_threads
    cdef bint bounded
    cdef unsigned int[::1] row_buffer
    cdef LeafSearch search

    def __init__(
        self, starts, n_bins, directions, uncommon, n_rows, max_leaves, max_depth, n_candidates,
        n_threads
    ):
        self.rows = np.zeros(n_rows + AHEAD, dtype=np.uint32)
        self.words = np.zeros(n_rows, dtype=np.int64)
        self.search = LeafSearch(
            self.rows, self.words, starts, n_bins, directions, uncommon, max_leaves, max_depth,
            n_candidates, n_threads
        )
        self.max_leaves, self.n_threads = max_leaves, n_threads
        self.bounded = bool(np.any(directions))
        self.row_buffer = np.empty_like(self.rows)
        self.feature, self.bin, self.left = np.zeros((3, 2 * max_leaves - 1), dtype=np.intc)
        self.missing_right = np.zeros(2 * max_leaves - 1, dtype=np.uint8)
        self.gain = np.zeros(2 * max_leaves - 1)
        self.leaf_node, self.leaf_start, self.leaf_stop = np.zeros((3, max_leaves), dtype=np.intp)

    def grow(
        self,
        const code_t[:, :, ::1] codes,
        const long long[::1] counts,    # IN, of each row, where apart from the low sums; or empty
        Py_ssize_t n,                   # how many of `rows` to grow on
        int shift,                      # bits of the low sum of a word
        long long min_low,              # least low sum of a leaf
        long long min_count,            # least count of a leaf
        double l2,                      # added to low sums
        double rounding,                # of each row's part of either sum
        unsigned long long seed,        # draws the candidates of nodes
    ):
        """Grow a tree."""
        cdef Rules rules = Rules(shift, min_low, min_count, l2, rounding, self.bounded)
        cdef Leaf* leaves = self.search.leaves
        cdef Leaf* root = &leaves[0]
        cdef long long word = 0
        cdef long long count = 0
        cdef Py_ssize_t row, looked_at = n * codes.shape[0] * codes.shape[2]
        cdef int i
        if counts.shape[0]:
            self.search.prepare_counts()
        root.node, root.depth, root.start, root.stop = 0, 0, 0, n
        root.sums = Node(0, 0, 0, -INFINITY, INFINITY)
        self.n_nodes = self.n_leaves = 1
        with nogil:
            for row in prange(n, schedule="static", num_threads=self.n_threads):
                word += self.words[self.rows[row]]
                if counts.shape[0]:
                    count += counts[self.rows[row]]
            root.sums.word, root.sums.count = word, count
            root.sums.rounding = rounding * n
            self.search.evaluate(codes, &rules, seed, 0, -1)
            while self.n_leaves < self.max_leaves:
                i = self.most_gaining()
                if i < 0:
                    break
                looked_at += (leaves[i].stop - leaves[i].start) * codes.shape[0] * codes.shape[2]
                if looked_at > CELLS_AT_A_TIME:     # now and then an interrupt is heard
                    looked_at = 0
                    with gil:
                        PyErr_CheckSignals()
                # Counts that are apart from the low sums are looked at where a split is at hand.
                if counts.shape[0] and not self.search.counts_suffice(codes, counts, &rules, i):
                    self.search.search_counted(codes, counts, &rules, seed, i)
                else:
                    self.split(codes, &rules, seed, i)
            for i in range(self.n_leaves):
                self.feature[leaves[i].node] = -1
                self.bin[leaves[i].node] = self.left[leaves[i].node] = 0
                self.missing_right[leaves[i].node] = False
                self.gain[leaves[i].node] = 0
                self.leaf_node[i] = leaves[i].node
                self.leaf_start[i] = leaves[i].start
                self.leaf_stop[i] = leaves[i].stop

    cdef int most_gaining(self) noexcept nogil:
        """The leaf whose split gains most, the earlier node among equals; -1: none has a split."""
        cdef const Leaf* leaves = self.search.leaves
        cdef int i, best = -1
        cdef double ratio
        for i in range(self.n_leaves):
            if leaves[i].split.gain == 0:
                continue
            ratio = 2 if best < 0 else leaves[i].split.gain / leaves[best].split.gain
            if ratio > 1 + TIE or (ratio * (1 + TIE) >= 1 and leaves[i].node < leaves[best].node):
                best = i
        return best

    cdef void split(
        self, const code_t[:, :, ::1] codes, const Rules* rules, unsigned long long seed, int larger
    ) noexcept nogil:
        """Make two leaves of one, and find their splits."""
        cdef Leaf* leaves = self.search.leaves
        cdef Leaf parent = leaves[larger]
        cdef const Split* split = &parent.split
        cdef Leaf left = parent
        cdef Leaf right = parent
        cdef double left_mean, right_mean
        cdef int smaller = self.n_leaves
        left.sums.word, left.sums.count = split.left_word, split.left_count
        right.sums.word = parent.sums.word - split.left_word
        right.sums.count = parent.sums.count - split.left_count
        if self.search.directions[split.feature] != 0:
            left_mean = mean(left.sums.word, &parent.sums, rules)
            right_mean = mean(right.sums.word, &parent.sums, rules)
            if self.search.directions[split.feature] > 0:
                left.sums.upper = right.sums.lower = (left_mean + right_mean) / 2
            else:
                left.sums.lower = right.sums.upper = (left_mean + right_mean) / 2
        left.node, right.node = self.n_nodes, self.n_nodes + 1
        left.depth = right.depth = parent.depth + 1
        left.stop = right.start = parent.start + partition(
            codes[split.feature // codes.shape[2]], self.search.cut(split, codes.shape[2]),
            &self.rows[parent.start], parent.stop - parent.start, &self.row_buffer[0],
            self.n_threads,
        )
        left.sums.rounding = rules.rounding * (left.stop - left.start)
        right.sums.rounding = rules.rounding * (right.stop - right.start)
        self.feature[parent.node] = split.feature
        self.bin[parent.node] = split.bin
        self.left[parent.node] = left.node
        self.gain[parent.node] = split.gain
        self.missing_right[parent.node] = split.missing == RIGHT or (
            split.missing == UNDECIDED and size(&right, rules) > size(&left, rules)
        )
        self.n_nodes += 2
        self.n_leaves += 1
        if right.stop - right.start > left.stop - left.start:
            leaves[larger], leaves[smaller] = right, left
        else:
            leaves[larger], leaves[smaller] = left, right
        if self.n_leaves < self.max_leaves:
            self.search.evaluate(codes, rules, seed, smaller, larger)
