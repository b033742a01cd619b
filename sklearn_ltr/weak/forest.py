# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of regression trees."""

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _forest, _types

# Rows of a sparse matrix are made dense this many at a time.
CHUNK = 10_000
# Rows that a thread takes through all trees at a time; a multiple of 16.
BLOCK = 256
# Trees of more splits are walked down; at most 255, so that leaf numbers fit any code.
MOST_PARTS = 255
# Trees of no more different cuts than a byte has bits may have a table of values, if it is no
# larger than this many times the leaves.
MOST_BITS = 8
VALUES_PER_LEAF = 8
# So are, without a table, trees of more splits for each row, when there are only a few rows.
PARTS_PER_ROW = 6


class TreeEnsemble:
    """A sum of regression trees with coefficients, for one or several outputs.

    Values are first replaced by codes, the number of the ensemble's thresholds below them. A tree
    of moderate size then finds the leaves of many rows at once: it starts with all rows in leaf 0,
    and each split moves some rows of one leaf to a new one. That costs a few operations on bytes,
    and no branch, for each split and row. Where few cuts serve many splits, as in symmetric trees,
    each cut is tried once, and what they say together is the number of a value in a table.

    Parameters
    ----------
    terms : list of (int, float, tree)
        Output, coefficient and tree, in the order they were added. A tree has the arrays `feature`
        (-1 at a leaf), `threshold`, `missing_right`, `left` and `value`, one element a node. Node 0
        is the root, the right child is the one after the left child, and both come after their
        parent. Rows with ``x <= threshold`` go left, a missing value where `missing_right` says.
        Where the threshold is NaN, `categories` says which codes go right, as in `Tree`.
    n_outputs : int, default=1

    Attributes
    ----------
    features : ndarray of shape (n_used,), dtype intp, ascending
        The features that are split on.
    """

    def __init__(self, terms, n_outputs=1):
        self.n_outputs = n_outputs
        self._outputs = np.array([output for output, _, _ in terms], dtype=np.intp)
        coefficients = np.array([coefficient for _, coefficient, _ in terms], dtype=float)

        def joined(name, dtype):
            return np.concatenate([np.empty(0, dtype), *(getattr(t, name) for _, _, t in terms)])

        # Nodes of all trees; a node is known by its number among them.
        sizes = np.array([len(tree.left) for _, _, tree in terms], dtype=np.intp)
        tree_of = np.repeat(np.arange(len(terms)), sizes)
        feature = joined("feature", np.intp)
        inner, leaves = np.flatnonzero(feature >= 0), np.flatnonzero(feature < 0)
        left = joined("left", np.intp)[inner] + (np.cumsum(sizes) - sizes)[tree_of[inner]]

        n_splits = np.bincount(tree_of[inner], minlength=len(terms))
        self._starts = np.concatenate(([0], np.cumsum(n_splits))).astype(np.intp)
        number = np.arange(len(inner)) - self._starts[tree_of[inner]]  # of a split in its tree
        leaf = self._number_leaves(inner, left, number, len(feature))

        self._values = np.zeros(len(leaves))
        place = self._starts[tree_of[leaves]] + tree_of[leaves] + leaf[leaves]
        self._values[place] = coefficients[tree_of[leaves]] * joined("value", float)[leaves]

        following = -1 - leaf
        following[inner] = number
        self._splits = np.zeros(max(len(inner), 1), dtype=_types.FOREST_SPLIT)  # never empty
        splits = self._splits[: len(inner)]
        self.features, splits["column"] = np.unique(feature[inner], return_inverse=True)
        threshold, missing_right = joined("threshold", float), joined("missing_right", bool)
        threshold, missing_right = threshold[inner], missing_right[inner]
        by_set = np.isnan(threshold)
        sets = _codes_right(terms, inner[by_set])
        self._cut(splits, threshold, missing_right, by_set, sets)
        self._number_sets(splits, tree_of[inner], missing_right, by_set, sets)
        splits["leaf"] = leaf[inner]
        splits["left"] = following[left]
        splits["right"] = following[left + 1]
        self._number_by_bits(n_splits)

    def _number_by_bits(self, n_splits):
        """Replace the splits of trees with few different cuts by these, the leaves by tables."""
        self._by_bits = np.zeros(len(n_splits), dtype=np.uint8)
        column, first, count = (
            self._splits[name].astype(np.int64) for name in ("column", "first", "count")
        )
        limit = max(first.max(), count.max()) + 1
        cut = (column * limit + first) * limit + count
        splits, values = [], []
        for t, start in enumerate(self._starts[:-1]):
            own = self._splits[start : start + n_splits[t]]
            leaves = self._values[start + t : start + t + n_splits[t] + 1]
            _, where, bit = np.unique(
                cut[start : start + n_splits[t]], return_index=True, return_inverse=True
            )
            few = len(where) < len(own) and len(where) <= MOST_BITS
            if few and 2 ** len(where) <= VALUES_PER_LEAF * len(leaves):
                self._by_bits[t] = True
                leaves = leaves[_leaf_of_bits(own, bit, len(where))]
                own = own[where]
            splits.append(own)
            values.append(leaves)
        self._starts = np.cumsum([0, *map(len, splits)], dtype=np.intp)
        self._first_value = np.cumsum([0, *map(len, values)], dtype=np.intp)[:-1]
        if self._by_bits.any():
            self._splits, self._values = np.concatenate(splits), np.concatenate(values)

    @staticmethod
    def _number_leaves(inner, left, number, n_nodes):
        """Number of the leaf that each node is until it is split.

        The right child of split s is leaf s + 1, the left child keeps the number of its parent.
        """
        leaf = np.zeros(n_nodes, dtype=np.intp)
        leaf[left + 1] = number + 1
        named_by = np.arange(n_nodes)
        named_by[left] = inner
        while np.any(farther := named_by[named_by] != named_by):
            named_by[farther] = named_by[named_by[farther]]
        return leaf[named_by]

    def _cut(self, splits, threshold, missing_right, by_set, sets):
        """Thresholds of each feature used, and the codes that go right at each split with one.

        A categorical feature has one between any two codes, up to the highest that is in one of the
        `sets` (n_sets, 256) of its splits. Codes above are alike: they always go left.
        """
        highest = np.full(len(self.features), -1)
        top = 255 - np.argmax(sets[:, ::-1], axis=1)
        np.maximum.at(highest, splits["column"][by_set], np.where(sets.any(axis=1), top, -1))
        order = np.argsort(splits["column"], kind="stable")
        ends = np.cumsum(np.bincount(splits["column"], minlength=len(self.features)))
        tables = []
        n_cuts = np.zeros(len(self.features), dtype=np.intp)
        for k, own in enumerate(np.split(order, ends)[:-1]):
            if by_set[own[0]]:
                cuts = np.arange(highest[k] + 1) + 0.5
            else:
                cuts = np.unique(threshold[own])
                cuts = cuts[cuts < np.inf]  # nothing is above the one at infinity
                rank = np.searchsorted(cuts, threshold[own])
                splits["first"][own] = rank + 1
                splits["count"][own] = len(cuts) - rank + missing_right[own]
            n_cuts[k] = len(cuts)
            # One less than a power of two, for a search without branches.
            padding = (1 << len(cuts).bit_length()) - 1 - len(cuts)
            tables.append(np.append(cuts, np.full(padding, np.inf)))
        lengths = np.array([len(table) for table in tables], dtype=np.intp)
        self._thresholds = np.concatenate([*tables, [0.0]])  # never empty
        self._first_threshold = np.cumsum(lengths) - lengths
        self._n_searched = (lengths + 1) // 2
        self._missing = n_cuts + 1
        self._dtype = np.min_scalar_type(max(n_cuts, default=0) + 1).type

    def _number_sets(self, splits, tree, missing_right, by_set, sets):
        """Make columns of the sets of codes that go right, each set one of its tree."""
        self._set_starts = np.zeros(len(self._outputs) + 1, dtype=np.intp)
        self._set_columns, self._sets = np.empty(0, dtype=np.intp), sets
        if len(sets) == 0:
            return
        column, tree = splits["column"][by_set].astype(np.intp), tree[by_set]
        missing = self._missing[column]
        in_set = np.zeros((len(column), missing.max() + 1), dtype=np.uint8)
        n_codes = min(in_set.shape[1], sets.shape[1])
        in_set[:, :n_codes] = sets[:, :n_codes]
        in_set[np.arange(len(column)), missing] = missing_right[by_set]
        keys = np.column_stack([tree, column, np.packbits(in_set, axis=1)])
        keys, index, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        self._set_starts[:] = np.searchsorted(keys[:, 0], np.arange(len(self._set_starts)))
        self._set_columns, self._sets = column[index], in_set[index]
        splits["column"][by_set] = len(self.features) + inverse.ravel() - self._set_starts[tree]
        splits["first"][by_set] = splits["count"][by_set] = 1

    def predict(self, X, n_threads=1):
        """Sum of the trees at the rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_outputs, n_samples), dtype float64
            The same bits for any number of threads: terms are added in their order.
        """
        scores = np.zeros((self.n_outputs, X.shape[0]))
        if not sparse.issparse(X):
            self._add_dense(X, self.features, scores, n_threads)
        else:
            positions = np.arange(len(self.features))
            for start in range(0, X.shape[0], CHUNK):
                rows = X[start : start + CHUNK][:, self.features].toarray()
                self._add_dense(rows, positions, scores[:, start : start + CHUNK], n_threads)
        return scores[0] if self.n_outputs == 1 else scores

    def _add_dense(self, X, columns, scores, n_threads):
        n_rows = max(X.shape[0], 1)
        block = min(BLOCK, 16 * -(-n_rows // (16 * n_threads)))
        n_threads = min(n_threads, -(-n_rows // block))
        n_columns = len(columns) + np.diff(self._set_starts).max(initial=0) + 1
        _forest.add_trees(
            X,
            columns,
            self._first_threshold,
            self._n_searched,
            self._missing,
            self._thresholds,
            self._splits,
            self._starts,
            self._values,
            self._first_value,
            self._by_bits,
            self._set_starts,
            self._set_columns,
            self._sets,
            self._outputs,
            min(MOST_PARTS, PARTS_PER_ROW * n_rows),
            np.empty((n_threads, n_columns, block), self._dtype),
            scores,
        )


def _codes_right(terms, nodes):
    """The codes that go right at some nodes of all trees: ndarray of shape (n, 256), uint8."""
    if len(nodes) == 0:
        return np.empty((0, 256), dtype=np.uint8)
    return flags_of(sets_of([tree for _, _, tree in terms])[nodes])


def sets_of(trees):
    """The codes that go right at all nodes of trees, as `Tree.categories` has them, else none."""
    none = np.zeros((max(len(tree.left) for tree in trees), 8), dtype=np.uint32)
    return np.concatenate(
        [tree.categories if tree.has_categories else none[: len(tree.left)] for tree in trees]
    )


def flags_of(sets):
    """Which codes are in each set of `Tree.categories`: ndarray of shape (n_sets, 256), uint8."""
    bits = sets[:, :, None] >> np.arange(32, dtype=np.uint32) & 1
    return bits.astype(np.uint8).reshape(len(sets), 256)


def _leaf_of_bits(splits, bit, n_bits):
    """The leaf where rows end for which cut k says right exactly if bit k of a number is set.

    ndarray of shape (2 ** n_bits,), dtype intp
    """
    numbers = np.arange(2**n_bits)
    at = np.zeros(len(numbers), dtype=np.intp)
    while len(walking := np.flatnonzero(at >= 0)):
        split = at[walking]
        right = (numbers[walking] >> bit[split]) & 1 == 1
        at[walking] = np.where(right, splits["right"][split], splits["left"][split])
    return -1 - at
