# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scores of sums of regression trees, from codes of the features' values.

Serves `weak/forest.py`.
"""

from cython.parallel cimport prange, threadid
from libc.string cimport memset

from sklearn_ltr._kernels._types cimport ForestSplit, floating


ctypedef fused rank_t:      # code of a value: how many thresholds are below it
    unsigned char
    unsigned short
    unsigned int


cdef void encode(
    const floating[:, :] X, Py_ssize_t start, Py_ssize_t n, Py_ssize_t feature,
    const double* thresholds, Py_ssize_t size, Py_ssize_t missing, rank_t* codes,
) noexcept nogil:
    """Number of thresholds < value of each row; they are 2 size - 1, the last may be infinite.

    Four rows are searched at a time, as a search by itself waits for each of its comparisons.
    """
    cdef double[4] value
    cdef Py_ssize_t[4] code
    cdef Py_ssize_t i, j, step
    for i in range(0, n, 4):
        for j in range(4):
            value[j] = X[start + min(i + j, n - 1), feature]
            code[j] = 0
        step = size
        while step > 0:
            for j in range(4):
                code[j] = code[j] + step if thresholds[code[j] + step - 1] < value[j] else code[j]
            step = step >> 1
        for j in range(4):
            codes[i + j] = <rank_t>(code[j] if value[j] == value[j] else missing)


cdef inline void part(
    const rank_t* codes, rank_t first, rank_t count, rank_t leaf, rank_t new, Py_ssize_t n,
    rank_t* leaves,
) noexcept nogil:
    """Move the rows of a leaf that go right to a new leaf."""
    cdef Py_ssize_t i
    # One comparison for both ends of the range: codes below `first` wrap around to large ones.
    for i in range(n):
        leaves[i] = (
            new if (leaves[i] == leaf) & (<rank_t>(codes[i] - first) < count) else leaves[i]
        )


cdef void add_by_parts(
    const ForestSplit* splits, Py_ssize_t n_splits, const double* values, const rank_t* codes,
    Py_ssize_t block, Py_ssize_t n, rank_t* leaves, double* scores,
) noexcept nogil:
    """Add a tree's values, all rows taking part in every split: no branches, many rows at a time.
    """
    cdef Py_ssize_t s, i
    # Whole vectors; what is beyond the last row is computed and never read.
    cdef Py_ssize_t padded = (n + 15) & -16
    memset(leaves, 0, padded * sizeof(rank_t))
    for s in range(n_splits):
        part(
            codes + splits[s].column * block, <rank_t>splits[s].first, <rank_t>splits[s].count,
            <rank_t>splits[s].leaf, <rank_t>(s + 1), padded, leaves,
        )
    for i in range(n):
        scores[i] += values[leaves[i]]


cdef void add_by_bits(
    const ForestSplit* cuts, Py_ssize_t n_cuts, const double* values, const rank_t* codes,
    Py_ssize_t block, Py_ssize_t n, rank_t* numbers, double* scores,
) noexcept nogil:
    """Add a tree's values, which the outcomes of its comparisons number: bit k is that of cut k.

    What is beyond the last row, up to whole vectors, is computed and never read.
    """
    cdef Py_ssize_t k, i
    cdef Py_ssize_t padded = (n + 15) & -16
    cdef const rank_t* column
    cdef rank_t first, count, bit
    memset(numbers, 0, padded * sizeof(rank_t))
    for k in range(n_cuts):
        column = codes + cuts[k].column * block
        first, count, bit = <rank_t>cuts[k].first, <rank_t>cuts[k].count, <rank_t>(1 << k)
        for i in range(padded):
            numbers[i] = numbers[i] | (bit if <rank_t>(column[i] - first) < count else <rank_t>0)
    for i in range(n):
        scores[i] += values[numbers[i]]


cdef void add_by_walks(
    const ForestSplit* splits, const double* values, const rank_t* codes, Py_ssize_t block,
    Py_ssize_t n, double* scores,
) noexcept nogil:
    """Add a tree's values, each row walking from the root: the cost grows with the depth only."""
    cdef Py_ssize_t i, s
    cdef rank_t above
    for i in range(n):
        s = 0
        while s >= 0:
            above = <rank_t>(codes[splits[s].column * block + i] - <rank_t>splits[s].first)
            s = splits[s].right if above < <rank_t>splits[s].count else splits[s].left
        scores[i] += values[-1 - s]


cdef void encode_sets(
    const Py_ssize_t* columns, const unsigned char[:, ::1] sets, Py_ssize_t first, Py_ssize_t last,
    const rank_t* codes, Py_ssize_t block, Py_ssize_t n, rank_t* in_sets,
) noexcept nogil:
    """1 where the code of a row is in a set, 0 elsewhere, for each set of a tree."""
    cdef const rank_t* column
    cdef Py_ssize_t s, i
    for s in range(first, last):
        column = codes + columns[s] * block
        for i in range(n):
            in_sets[(s - first) * block + i] = sets[s, column[i]]


def add_trees(
    const floating[:, :] X,                 # IN, any strides
    const Py_ssize_t[::1] features,         # IN, (n_used,) the column in X of each feature used
    const Py_ssize_t[::1] starts,           # IN, (n_used,) first threshold of each
    const Py_ssize_t[::1] sizes,            # IN, (n_used,) it has 2 size - 1 thresholds
    const Py_ssize_t[::1] missing,          # IN, (n_used,) code of a missing value
    const double[::1] thresholds,           # IN, ascending within a feature; not empty
    const ForestSplit[::1] splits,          # IN, of all trees, parents first; not empty
    const Py_ssize_t[::1] tree_starts,      # IN, (n_trees + 1,) first split of each tree
    const double[::1] values,               # IN, of the leaves
    const Py_ssize_t[::1] value_starts,     # IN, (n_trees,) first value of each tree
    const unsigned char[::1] by_bits,       # IN, (n_trees,) whether bits of its splits number them
    const Py_ssize_t[::1] set_starts,       # IN, (n_trees + 1,) first set of codes of each tree
    const Py_ssize_t[::1] set_columns,      # IN, (n_sets,) number of its feature among those used
    const unsigned char[:, ::1] sets,       # IN, (n_sets, n_codes) 1 for each code in the set
    const Py_ssize_t[::1] outputs,          # IN, (n_trees,) row of `scores` that a tree adds to
    Py_ssize_t most_parts,                  # IN, trees of more splits are walked
    rank_t[:, :, ::1] buffer,               # OUT, (n_threads, n_used + most sets of a tree + 1,
                                            # block), scratch; block a multiple of 16
    double[:, :] scores,                    # IN and OUT, (n_outputs, n_samples), rows contiguous
):
    """Add the values of the trees to the scores, in the order of the trees.

    A set of codes is a column of its own to a tree's splits, after those of the features, in which
    1 goes right.
    """
    cdef int n_threads = buffer.shape[0]
    cdef Py_ssize_t block = buffer.shape[2]
    cdef Py_ssize_t n_used = features.shape[0]
    cdef Py_ssize_t last = buffer.shape[1] - 1
    cdef Py_ssize_t b, k, t, n, start, n_splits
    cdef rank_t* codes
    cdef const ForestSplit* tree
    cdef const double* leaf_values
    cdef Py_ssize_t n_blocks = (X.shape[0] + block - 1) // block
    for b in prange(n_blocks, schedule="static", nogil=True, num_threads=n_threads):
        codes = &buffer[threadid(), 0, 0]
        start = b * block
        n = min(block, X.shape[0] - start)
        for k in range(n_used):
            encode(
                X, start, n, features[k], &thresholds[0] + starts[k], sizes[k], missing[k],
                codes + k * block,
            )
        for t in range(outputs.shape[0]):
            tree = &splits[0] + tree_starts[t]
            n_splits = tree_starts[t + 1] - tree_starts[t]
            leaf_values = &values[value_starts[t]]
            if set_starts[t] < set_starts[t + 1]:
                encode_sets(
                    &set_columns[0], sets, set_starts[t], set_starts[t + 1], codes, block, n,
                    codes + n_used * block,
                )
            if by_bits[t]:
                add_by_bits(
                    tree, n_splits, leaf_values, codes, block, n, codes + last * block,
                    &scores[outputs[t], start],
                )
            elif n_splits <= most_parts:
                add_by_parts(
                    tree, n_splits, leaf_values, codes, block, n, codes + last * block,
                    &scores[outputs[t], start],
                )
            else:
                add_by_walks(tree, leaf_values, codes, block, n, &scores[outputs[t], start])
