# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Best-first growth of a regression tree on bin codes.

Serves `weak/tree.py`.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals

from sklearn_ltr._kernels._grown_tree cimport GrownTree, Leaf, size
from sklearn_ltr._kernels._leaf_search cimport LeafSearch
from sklearn_ltr._kernels._partition cimport cut_of, partition
from sklearn_ltr._kernels._split cimport TIE, UNDECIDED, Rules, Split
from sklearn_ltr._kernels._types cimport code_t

cdef enum:
    CELLS_AT_A_TIME = 1 << 27


@cython.nonecheck(False)  # of `self` and its parts, never None: the check would need the GIL
cdef class TreeBuilder(GrownTree):
    """Grows trees on one binned matrix, best-first.

    Parameters
    ----------
    starts : ndarray of shape (n_blocks * width + 1,), dtype intp
        First slot of each feature in a histogram; columns that pad the last block have one, too.
    n_bins : ndarray of shape (n_features,), dtype intp
    directions : ndarray of shape (n_features,), dtype intc
        Monotonic constraints.
    categorical : ndarray of shape (n_features,), dtype uint8
        Whether codes of a feature are categories, in no order.
    uncommon : UncommonCells
        Blocks whose histograms are built from their cells with uncommon codes.
    n_rows, max_leaves, max_depth : int
    interactions : Interactions or None
    max_features : float
        Each node chooses among this share of the features that it may split on.
    n_threads : int
    merge : callable or None
        As of `GrownTree`.
    """

    cdef LeafSearch search

    def __init__(
        self, starts, n_bins, directions, categorical, uncommon, n_rows, max_leaves, max_depth,
        interactions, max_features, n_threads, merge
    ):
        GrownTree.__init__(
            self, n_bins, directions, categorical, n_rows, max_leaves, n_threads, merge
        )
        self.search = LeafSearch(
            self.rows, self.words, starts, n_bins, directions, categorical, uncommon, max_leaves,
            max_depth, interactions, max_features, n_threads, merge
        )
        self.search.leaves = self.leaves

    def grow(
        self,
        const code_t[:, :, ::1] codes,
        const long long[::1] counts,    # IN, of each row, where apart from the low sums; or empty
        Py_ssize_t n,                   # how many of `rows` to grow on
        int shift,                      # bits of the low sum of a word
        long long min_low,              # least low sum of a leaf
        long long min_count,            # least count of a leaf; 0 where they are not apart
        double l2,                      # added to low sums
        double rounding,                # of each row's part of either sum
        double min_category,            # least count of a category that is told apart
        unsigned long long seed,        # draws the candidates of nodes
    ):
        """Grow a tree."""
        cdef Rules rules = Rules(
            shift, min_low, min_count, l2, rounding, self.bounded, min_category
        )
        cdef Leaf* leaves = self.leaves
        cdef Py_ssize_t looked_at = n * codes.shape[0] * codes.shape[2]
        cdef int i
        if min_count:
            self.search.prepare_counts()
        with nogil:
            self.plant(counts, n, &rules)
            self.search.allowed.plant()
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
                if min_count and not self.search.counts_suffice(codes, counts, &rules, i):
                    self.search.search_counted(codes, counts, &rules, seed, i)
                else:
                    self.split(codes, &rules, seed, i)
            self.finish()

    cdef int most_gaining(self) noexcept nogil:
        """The leaf whose split gains most, the earlier node among equals; -1: none has a split."""
        cdef const Leaf* leaves = self.leaves
        cdef int i, best = -1
        cdef double most = 0
        for i in range(self.n_leaves):
            most = max(most, leaves[i].split.gain)
        # Whichever of two siblings comes first among the leaves, the choice is the same.
        for i in range(self.n_leaves):
            if leaves[i].split.gain > 0 and leaves[i].split.gain * (1 + TIE) >= most:
                if best < 0 or leaves[i].node < leaves[best].node:
                    best = i
        return best

    cdef int split(
        self, const code_t[:, :, ::1] codes, const Rules* rules, unsigned long long seed, int larger
    ) except -1 nogil:
        """Make two leaves of one, and find their splits."""
        cdef Leaf* leaves = self.leaves
        cdef Leaf parent = leaves[larger]
        cdef const Split* split = &parent.split
        cdef Leaf left, right
        cdef Py_ssize_t width = codes.shape[2]
        cdef int smaller = self.n_leaves
        cdef bint right_is_larger
        self.divide(
            rules,
            &parent,
            partition(
                codes[split.feature // width],
                cut_of(
                    split, self.n_bins[split.feature], width, self.categorical[split.feature]
                ),
                &self.rows[parent.start], parent.stop - parent.start, &self.row_buffer[0],
                self.n_threads,
            ),
            &left,
            &right,
        )
        if split.missing == UNDECIDED:
            self.missing_right[parent.node] = size(&right, rules) > size(&left, rules)
        if self.merges:     # of the rows elsewhere only the sums are known
            right_is_larger = size(&right, rules) > size(&left, rules)
        else:
            right_is_larger = right.stop - right.start > left.stop - left.start
        if right_is_larger:
            leaves[larger], leaves[smaller] = right, left
        else:
            leaves[larger], leaves[smaller] = left, right
        if not self.merges:
            self.share_rows(
                rules, &leaves[smaller], &leaves[larger],
                leaves[smaller].stop - leaves[smaller].start,
            )
        self.search.allowed.divide(larger, smaller, split.feature)
        if self.n_leaves < self.max_leaves:
            self.search.evaluate(codes, rules, seed, smaller, larger)
        return 0
