# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of the leaves of a growing tree.

Serves `_leaf_search.pyx` and `_level_histograms.pyx`.
"""

import numpy as np

cimport cython
from libc.string cimport memset

from sklearn_ltr._kernels._histogram cimport add_rows, subtract
from sklearn_ltr._kernels._types cimport code_t
from sklearn_ltr._kernels._uncommon cimport add_uncommon, fill_common


@cython.nonecheck(False)  # of `self`, never None: the check would need the GIL
cdef class LeafHistograms:
    """Histograms of packed words, as many as a `TreeBuilder`, whose parameters it has, has leaves.

    The smaller child of a split has its histogram built from its rows, in a slot of its own; the
    larger one's is what is left of the parent's, in the parent's slot. So leaf i owns histogram i.
    """

    def __init__(self, starts, uncommon, n_rows, max_leaves, n_threads):
        self.starts = starts
        self.listed, self.common = uncommon.listed, uncommon.common
        self.indptr, self.slots = uncommon.indptr, uncommon.slots
        self.any_listed = bool(np.any(uncommon.listed))
        n_slots = starts[len(starts) - 1]
        n_partial = n_threads - 1 if self.any_listed else 0
        self.n_slots = n_slots
        # With a cell for the number of rows, which is summed over ranks with the others.
        self.cells = np.zeros((max_leaves, n_slots + 1), dtype=np.int64)
        self.partial = np.zeros((n_partial, n_slots), dtype=np.int64)
        self.row_words = np.zeros(n_rows, dtype=np.int64)

    cdef void read_rows(
        self,
        int leaf,
        const unsigned int* rows,       # IN, of the leaf
        const long long[::1] words,     # IN, of all rows
        Py_ssize_t first,
        Py_ssize_t last,
        Py_ssize_t part,
        Py_ssize_t at,                  # where to note the words, of the row `first` at first
    ) noexcept nogil:
        """Words of a part of a leaf's rows, and a histogram of their uncommon cells."""
        cdef long long* histogram
        cdef Py_ssize_t i
        for i in range(first, last):
            self.row_words[at + i - first] = words[rows[i]]
        if not self.any_listed:
            return
        histogram = &self.cells[leaf, 0] if part == 0 else &self.partial[part - 1, 0]
        memset(histogram, 0, self.n_slots * sizeof(long long))
        add_uncommon(
            &self.indptr[0], &self.slots[0], rows + first, &self.row_words[at], last - first,
            histogram,
        )

    cdef void fill_block(
        self,
        int leaf,
        const code_t[:, :, ::1] codes,
        Py_ssize_t block,
        const unsigned int* rows,       # IN, of the leaf, whose words `read_rows` has read
        Py_ssize_t at,                  # where it noted them
        Py_ssize_t n,
        long long word,                 # of the leaf
        int n_parts,
    ) noexcept nogil:
        """A leaf's histograms of a block of features, from its rows."""
        cdef Py_ssize_t width = codes.shape[2]
        cdef Py_ssize_t first = self.starts[block * width]
        cdef Py_ssize_t last = self.starts[(block + 1) * width]
        if self.listed[block]:
            self.join_parts(leaf, block * width, (block + 1) * width, word, n_parts)
        else:
            memset(&self.cells[leaf, first], 0, (last - first) * sizeof(long long))
            add_rows(
                &codes[block, 0, 0], rows, &self.row_words[at], n, &self.starts[block * width],
                &self.cells[leaf, 0],
            )

    cdef void join_parts(
        self, int leaf, Py_ssize_t first, Py_ssize_t last, long long word, int n_parts
    ) noexcept nogil:
        """A leaf's histograms of some columns, from those of parts of its rows."""
        cdef Py_ssize_t column, slot
        cdef int part
        for part in range(n_parts - 1):
            for slot in range(self.starts[first], self.starts[last]):
                self.cells[leaf, slot] += self.partial[part, slot]
        for column in range(first, last):
            fill_common(
                self.starts[column] + self.common[column], self.starts[column],
                self.starts[column + 1], word, &self.cells[leaf, 0],
            )

    cdef void subtract_block(
        self, int child, Py_ssize_t first, Py_ssize_t last, int parent
    ) noexcept nogil:
        """Turn a parent's histograms of some columns into those of a child's sibling."""
        subtract(
            &self.cells[child, 0], self.starts[first], self.starts[last], &self.cells[parent, 0]
        )
