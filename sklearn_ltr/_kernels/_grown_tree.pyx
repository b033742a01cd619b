# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A tree while it grows, and the rows of its leaves.

Serves `_level_histograms.pyx`, `_symmetric_tree.pyx` and `_tree.pyx`.
"""

import numpy as np

cimport cython
from cython.parallel cimport prange
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from sklearn_ltr._kernels._histogram cimport AHEAD
from sklearn_ltr._kernels._split cimport RIGHT, Node, Rules, Split, low, mean


cdef long long size(const Leaf* leaf, const Rules* rules) noexcept nogil:
    """How many rows a leaf counts as."""
    return leaf.sums.count if rules.min_count else low(leaf.sums.word, rules)


@cython.nonecheck(False)  # of `self`, never None: the check would need the GIL
cdef class GrownTree:
    """Base class of what grows trees on one binned matrix, one after the other.

    Parameters
    ----------
    n_bins : ndarray of shape (n_features,), dtype intp
    directions : ndarray of shape (n_features,), dtype intc
        Monotonic constraints.
    categorical : ndarray of shape (n_features,), dtype uint8
        Whether codes of a feature are categories, in no order.
    n_rows, max_leaves, n_threads : int
    merge : callable or None
        Replaces integers, in a contiguous array, by their sums over all ranks; None where all rows
        are here.

    Attributes
    ----------
    rows : ndarray of shape (n_rows + AHEAD,), dtype uint32
        To be filled with the rows to grow on, ascending. `grow` permutes them, leaf after leaf, the
        rows of a leaf ascending.
    words : ndarray of shape (n_rows,), dtype int64
        To be filled with the packed word of each row.
    feature, bin, left, missing_right, gain : ndarrays of shape (2 * max_leaves - 1,)
        The tree, by node. The right child is left + 1; leaves have feature -1.
    left_codes, right_codes : ndarrays of shape (2 * max_leaves - 1, 4), dtype uint64
        At a split on a categorical feature, the codes of the node's rows on either side, a bit
        each; whatever else is there belongs to other trees. Empty without such features.
    low_sum, n_samples : ndarrays of shape (2 * max_leaves - 1,), dtype int64
        Of each node, the low sum of the words of its rows, and how many rows it has here.
    leaf_node, leaf_start, leaf_stop : ndarrays of shape (max_leaves,), dtype intp
    """

    def __init__(self, n_bins, directions, categorical, n_rows, max_leaves, n_threads, merge):
        self.rows = np.zeros(n_rows + AHEAD, dtype=np.uint32)
        self.words = np.zeros(n_rows, dtype=np.int64)
        self.n_bins, self.directions, self.categorical = n_bins, directions, categorical
        self.max_leaves, self.n_threads = max_leaves, n_threads
        self.bounded = bool(np.any(directions))
        self.merge, self.merges = merge, merge is not None
        self.root_sums = np.zeros(3, dtype=np.int64)
        self.row_buffer = np.empty_like(self.rows)
        self.feature, self.bin, self.left = np.zeros((3, 2 * max_leaves - 1), dtype=np.intc)
        self.missing_right = np.zeros(2 * max_leaves - 1, dtype=np.uint8)
        self.gain = np.zeros(2 * max_leaves - 1)
        n_sets = 2 * max_leaves - 1 if np.any(categorical) else 0
        self.left_codes, self.right_codes = np.zeros((2, n_sets, 4), dtype=np.uint64)
        self.low_sum, self.n_samples = np.zeros((2, 2 * max_leaves - 1), dtype=np.int64)
        self.leaf_node, self.leaf_start, self.leaf_stop = np.zeros((3, max_leaves), dtype=np.intp)
        self.leaves = <Leaf*>calloc(max_leaves, sizeof(Leaf))
        if self.leaves == NULL:
            raise MemoryError("No memory to grow a tree.")

    def __dealloc__(self):
        free(self.leaves)

    cdef int plant(
        self,
        const long long[::1] counts,    # IN, of each row, where apart from the low sums; or empty
        Py_ssize_t n,                   # how many of `rows` to grow on
        const Rules* rules,
    ) except -1 nogil:
        """Start with a root that has all rows."""
        cdef Leaf* root = &self.leaves[0]
        cdef long long word = 0
        cdef long long count = 0
        cdef Py_ssize_t row
        for row in prange(n, schedule="static", num_threads=self.n_threads):
            word += self.words[self.rows[row]]
            if rules.min_count:
                count += counts[self.rows[row]]
        self.root_sums[0], self.root_sums[1], self.root_sums[2] = word, count, n
        if self.merges:
            with gil:
                self.merge(self.root_sums)
        root.node, root.depth, root.start, root.stop = 0, 0, 0, n
        root.n = self.root_sums[2]
        root.sums = Node(
            self.root_sums[0], self.root_sums[1], rules.rounding * root.n, -INFINITY, INFINITY
        )
        root.split.gain = 0
        self.note_size(root, rules)
        self.n_nodes = self.n_leaves = 1
        return 0

    cdef void divide(
        self,
        const Rules* rules,
        const Leaf* parent,         # IN, with its split
        Py_ssize_t n_left,          # how many of its rows, the first ones, go left
        Leaf* left,                 # OUT; neither this nor the next is the parent
        Leaf* right,
    ) noexcept nogil:
        """Make two leaves of one; how many rows they have everywhere is left to the caller.

        Of a split that is undecided about missing values the caller says where they go.
        """
        cdef const Split* split = &parent.split
        cdef double left_mean, right_mean
        cdef int i
        left[0], right[0] = parent[0], parent[0]
        left.sums.word, left.sums.count = split.left_word, split.left_count
        right.sums.word = parent.sums.word - split.left_word
        right.sums.count = parent.sums.count - split.left_count
        if self.directions[split.feature] != 0:
            left_mean = mean(left.sums.word, &parent.sums, rules)
            right_mean = mean(right.sums.word, &parent.sums, rules)
            if self.directions[split.feature] > 0:
                left.sums.upper = right.sums.lower = (left_mean + right_mean) / 2
            else:
                left.sums.lower = right.sums.upper = (left_mean + right_mean) / 2
        left.node, right.node = self.n_nodes, self.n_nodes + 1
        left.depth = right.depth = parent.depth + 1
        left.stop = right.start = parent.start + n_left
        self.feature[parent.node] = split.feature
        self.bin[parent.node] = split.bin
        self.left[parent.node] = left.node
        self.gain[parent.node] = split.gain
        self.missing_right[parent.node] = split.missing == RIGHT
        if self.categorical[split.feature]:
            for i in range(4):
                self.left_codes[parent.node, i] = split.left.bits[i]
                self.right_codes[parent.node, i] = split.right.bits[i]
        self.note_size(left, rules)
        self.note_size(right, rules)
        self.n_nodes += 2
        self.n_leaves += 1

    cdef void share_rows(
        self, const Rules* rules, Leaf* leaf, Leaf* sibling, Py_ssize_t n
    ) noexcept nogil:
        """Note how many rows two leaves have: one so many, the other what is left of its parent's.

        The sibling has noted the number of the parent.
        """
        leaf.n, sibling.n = n, sibling.n - n
        leaf.sums.rounding = rules.rounding * leaf.n
        sibling.sums.rounding = rules.rounding * sibling.n

    cdef void note_size(self, const Leaf* leaf, const Rules* rules) noexcept nogil:
        self.low_sum[leaf.node] = low(leaf.sums.word, rules)
        self.n_samples[leaf.node] = leaf.stop - leaf.start

    cdef void finish(self) noexcept nogil:
        """Write down the leaves."""
        cdef const Leaf* leaf
        cdef int i
        for i in range(self.n_leaves):
            leaf = &self.leaves[i]
            self.feature[leaf.node] = -1
            self.bin[leaf.node] = self.left[leaf.node] = 0
            self.missing_right[leaf.node] = False
            self.gain[leaf.node] = 0
            self.leaf_node[i] = leaf.node
            self.leaf_start[i] = leaf.start
            self.leaf_stop[i] = leaf.stop
