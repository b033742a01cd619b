# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Growth of a symmetric regression tree on bin codes, level by level.

Serves `weak/tree.py`.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange
from libc.stdlib cimport calloc, free

from sklearn_ltr._kernels._grown_tree cimport GrownTree, Leaf, size
from sklearn_ltr._kernels._level_histograms cimport Siblings
from sklearn_ltr._kernels._level_search cimport LevelSearch
from sklearn_ltr._kernels._partition cimport cut_of, partition
from sklearn_ltr._kernels._split cimport RIGHT, UNDECIDED, Rules, Split, low
from sklearn_ltr._kernels._types cimport code_t


@cython.nonecheck(False)  # of `self` and its parts, never None: the check would need the GIL
cdef class SymmetricTreeBuilder(GrownTree):
    """Grows trees whose leaves of a level are all cut at the same threshold of one feature.

    A leaf that may not be cut there, since a side would have too few rows or break a monotonic
    constraint, adds nothing to what the cut gains, and stays whole.

    Parameters
    ----------
    starts, n_bins, directions, categorical, uncommon, n_rows, n_threads
        As `TreeBuilder`.
    interactions : Interactions or None
        All cuts count as used above every leaf, also above those that stay whole.
    depth : int
        Most levels of cuts.
    max_leaves : int
        At least 2^depth, or the number of rows if that is smaller.
    max_features : float
        Each level chooses among this share of the features that it may cut.
    """

    cdef LevelSearch search
    cdef int depth
    cdef Py_ssize_t* n_left     # (max_leaves,), -1 where a leaf is not cut
    cdef Siblings* pairs        # (max_leaves,)
    cdef int* order             # (max_leaves,), the leaves from the left to the right
    cdef int* next_order        # (max_leaves,), the same of the next level

    def __init__(
        self, starts, n_bins, directions, categorical, uncommon, n_rows, max_leaves, depth,
        interactions, max_features, n_threads, merge
    ):
        GrownTree.__init__(
            self, n_bins, directions, categorical, n_rows, max_leaves, n_threads, merge
        )
        self.search = LevelSearch(
            self.rows, self.words, starts, n_bins, directions, categorical, uncommon,
            min(max_leaves, 1 << (depth - 1)), interactions, max_features, n_threads, merge
        )
        self.search.leaves = self.search.histograms.leaves = self.leaves
        self.depth = depth
        self.n_left = <Py_ssize_t*>calloc(max_leaves, sizeof(Py_ssize_t))
        self.pairs = <Siblings*>calloc(max_leaves, sizeof(Siblings))
        self.order = <int*>calloc(max_leaves, sizeof(int))
        self.next_order = <int*>calloc(max_leaves, sizeof(int))
        if (
            self.n_left == NULL or self.pairs == NULL
            or self.order == NULL or self.next_order == NULL
        ):
            raise MemoryError("No memory to grow a tree.")

    def __dealloc__(self):
        free(self.n_left)
        free(self.pairs)
        free(self.order)
        free(self.next_order)

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
        unsigned long long seed,        # draws the candidates of levels
    ):
        """Grow a tree."""
        cdef Rules rules = Rules(
            shift, min_low, min_count, l2, rounding, self.bounded, min_category
        )
        cdef Split cut
        cdef int level, n_pairs = 1
        if min_count:
            self.search.histograms.prepare_counts()
        self.pairs[0] = Siblings(0, -1)
        self.order[0] = 0
        with nogil:
            self.plant(counts, n, &rules)
            self.search.allowed.plant()
            for level in range(self.depth):
                self.search.find_best(
                    codes, counts, &rules, seed, level, self.n_leaves, self.pairs, n_pairs, &cut
                )
                if cut.gain <= 0:
                    break
                self.search.allowed.divide(0, 0, cut.feature)
                n_pairs = self.cut_level(codes, counts, &rules, &cut)
                with gil:
                    PyErr_CheckSignals()
            self.finish()

    cdef int cut_level(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        const Split* cut
    ) except -1 nogil:
        """Cut every leaf that may be; returns how many are."""
        cdef Leaf* leaves = self.leaves
        cdef Leaf left, right
        cdef const Split* split
        cdef int i, place, new, n_pairs = 0, n_ordered = 0, n_before = self.n_leaves
        cdef long long size_left, on_left = 0, on_right = 0
        cdef Py_ssize_t n_left      # everywhere
        if self.search.merges:
            self.search.count_sides(codes, counts, rules, cut, n_before)
        # Leaves go to a thread each; few are each cut by all threads.
        if n_before < self.n_threads:
            for i in range(n_before):
                self.n_left[i] = self.move_rows(codes, counts, rules, cut, i, self.n_threads)
        else:
            for i in prange(n_before, schedule="dynamic", num_threads=self.n_threads):
                self.n_left[i] = self.move_rows(codes, counts, rules, cut, i, 1)
        for i in range(n_before):
            if self.n_left[i] >= 0:
                split = &leaves[i].split
                size_left = split.left_count if rules.min_count else low(split.left_word, rules)
                on_left += size_left
                on_right += size(&leaves[i], rules) - size_left
        # Nodes are numbered from the left to the right, not by which side has more rows.
        for place in range(n_before):
            i = self.order[place]
            if self.n_left[i] < 0:
                self.next_order[n_ordered] = i
                n_ordered += 1
                continue
            if cut.missing == UNDECIDED and on_right > on_left:
                leaves[i].split.missing = RIGHT
            self.divide(rules, &leaves[i], self.n_left[i], &left, &right)
            n_left = self.search.sides[i, 0] if self.search.merges else self.n_left[i]
            self.share_rows(rules, &left, &right, n_left)
            new = self.n_leaves - 1
            self.pairs[n_pairs] = Siblings(new, i)
            n_pairs += 1
            if right.n > left.n:
                leaves[i], leaves[new] = right, left
                self.next_order[n_ordered], self.next_order[n_ordered + 1] = new, i
            else:
                leaves[i], leaves[new] = left, right
                self.next_order[n_ordered], self.next_order[n_ordered + 1] = i, new
            n_ordered += 2
        self.order, self.next_order = self.next_order, self.order
        return n_pairs

    cdef Py_ssize_t move_rows(
        self, const code_t[:, :, ::1] codes, const long long[::1] counts, const Rules* rules,
        const Split* cut, int index, int n_threads
    ) noexcept nogil:
        """Put the rows of a leaf's left side first; returns how many, -1 if it is not to be cut.

        How many there are here.
        """
        cdef const Leaf* leaf = &self.leaves[index]
        cdef Py_ssize_t width = codes.shape[2]
        if not self.search.cut_leaf(codes, counts, rules, cut, index):
            return -1
        return partition(
            codes[cut.feature // width],
            cut_of(cut, self.n_bins[cut.feature], width, self.categorical[cut.feature]),
            &self.rows[leaf.start], leaf.stop - leaf.start, &self.row_buffer[leaf.start], n_threads,
        )
