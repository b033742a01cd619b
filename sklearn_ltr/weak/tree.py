# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Regression trees, grown best-first on bin codes."""

import math
from functools import partial

import numpy as np

from sklearn_ltr._kernels import _leaves
from sklearn_ltr._kernels._symmetric_tree import SymmetricTreeBuilder
from sklearn_ltr._kernels._tree import TreeBuilder
from sklearn_ltr.binning import MAX_BINS, MOST_CATEGORIES
from sklearn_ltr.reduction import count as count_all
from sklearn_ltr.reduction import everywhere, median, merged, merger, size, total
from sklearn_ltr.weak import schema
from sklearn_ltr.weak.base import WeakRanker, stored_threshold
from sklearn_ltr.weak.forest import TreeEnsemble, flags_of
from sklearn_ltr.weak.interactions import Interactions
from sklearn_ltr.weak.uncommon import UncommonCells

# Bits of a packed word without its sign, and one to spare for what rounding adds to the sum.
WORD_BITS = 62

# Bits of the sum of weights at most; the sum of weighted targets has the others.
WEIGHT_BITS = 31

# The same of the sums of leaves, whose error is then below that of sums in float64.
SUM_BITS = 62

# Whole weights up to this sum are numbers of rows; beyond, targets would be rounded too coarsely.
MOST_WHOLE = 2**20

# Rows below which a second thread costs more than it does.
ROWS_PER_THREAD = 20_000

NO_VALUES = np.empty(0)
NO_COUNTS = np.empty(0, dtype=np.int64)
NO_CATEGORIES = np.empty((0, 8), dtype=np.uint32)


class Tree(WeakRanker):
    """A regression tree.

    Nodes are numbered in the order they were made; 0 is the root, and siblings follow each other.

    Parameters
    ----------
    feature : ndarray of shape (n_nodes,), dtype int32
        The feature that a node splits on; -1 at a leaf.
    bin : ndarray of shape (n_nodes,), dtype int32
        Rows with a code up to this go to the left.
    threshold : ndarray of shape (n_nodes,), dtype float64
        Rows with a value up to this go to the left; infinite where only missing values go right.
    missing_right : ndarray of shape (n_nodes,), dtype bool
        Whether missing values go to the right.
    left : ndarray of shape (n_nodes,), dtype int32
        The left child, which the right one follows; 0 at a leaf.
    gain : ndarray of shape (n_nodes,), dtype float64
        What the split lowers the weighted squared error by; 0 at a leaf.
    value : ndarray of shape (n_nodes,), dtype float64
        Of leaves; 0 elsewhere.
    cover : ndarray of shape (n_nodes,), dtype float64, default=None
        Weight of the rows that it was grown on; None where that was not kept.
    n_samples : ndarray of shape (n_nodes,), dtype int64, default=None
        Their number.
    categories : ndarray of shape (n_nodes, 8), dtype uint32, default=None
        Of a node that splits on a categorical feature, the codes that go right: that of code c is
        bit c % 32 of number c // 32. Such a node has no threshold, which is NaN, and the bin 0.
        None if there is no such node.
    """

    categories = None  # of those stored before there were any

    def __init__(
        self,
        feature,
        bin,
        threshold,
        missing_right,
        left,
        gain,
        value,
        cover=None,
        n_samples=None,
        categories=None,
    ):
        self.feature = feature
        self.bin = bin
        self.threshold = threshold
        self.missing_right = missing_right
        self.left = left
        self.gain = gain
        self.value = value
        self.cover = cover
        self.n_samples = n_samples
        self.categories = categories

    @classmethod
    def constant(cls, value):
        """A tree of one leaf."""
        minus_one, zero = np.full(1, -1, dtype=np.intc), np.zeros(1, dtype=np.intc)
        no = np.zeros(1, dtype=bool)
        return cls(minus_one, zero, np.zeros(1), no, zero, np.zeros(1), np.array([float(value)]))

    def __repr__(self):
        return f"Tree(n_leaves={self.n_leaves})"

    @property
    def n_leaves(self):
        return len(self.feature) // 2 + 1

    @property
    def has_categories(self):
        """Whether a node splits on a categorical feature."""
        return self.categories is not None

    def categories_right(self, node):
        """Codes of the categories that go right at a node: ascending ndarray of int."""
        return np.flatnonzero(flags_of(self.categories[[node]]))

    @classmethod
    def collapse(cls, terms, n_outputs=1):
        """As `WeakRanker.collapse`: a TreeEnsemble."""
        return TreeEnsemble(terms, n_outputs)

    def as_tree(self):
        """Itself."""
        return self

    def to_plain(self):
        """Its fields as plain data; thresholds are those of the bins.

        Of `categories`, the codes that go right, and None at other nodes.
        """
        fields = schema.plain(self, self._kinds([]))
        if self.has_categories:
            fields["categories"] = [
                self.categories_right(node).tolist() if np.isnan(self.threshold[node]) else None
                for node in range(len(self.feature))
            ]
        return fields

    @classmethod
    def from_plain(cls, value, path, bins):
        """The tree that `to_plain` made plain data of; ValueError if they are malformed.

        Each split must have two leaves or later splits of its own.
        """
        found = schema.fields(cls._kinds(bins), value, path, schema.with_defaults(cls))
        feature, left = found["feature"], found["left"]
        n_nodes = len(feature)
        for name, array in found.items():
            schema.require(
                len(array) == n_nodes, f"{path}.{name}", f"have {n_nodes} entries, as `feature`"
            )
        inner = np.flatnonzero(feature >= 0)
        schema.require(
            n_nodes == 2 * len(inner) + 1, f"{path}.feature", "be -1 at one node more than not"
        )
        # Two children for each split, no node a child twice, and children after their parents: then
        # all nodes hang together, and no walk goes round in a circle.
        once = np.array_equal(np.sort(left[inner]), np.arange(1, n_nodes, 2))
        schema.require(once, f"{path}.left", "have each odd number once, at the splits")
        later = (left[inner] > inner).all()
        schema.require(later, f"{path}.left", "be greater than the number of the node")
        for name in ("bin", "left", "gain"):
            no_leaf = not found[name][feature < 0].any()
            schema.require(no_leaf, f"{path}.{name}", "be 0 at the leaves")
        positive = (found["cover"] > 0).all() if "cover" in found else True
        schema.require(positive, f"{path}.cover", "be positive")
        threshold, sets = np.zeros(n_nodes), found.get("categories", [None] * n_nodes)
        for node, codes in enumerate(sets):
            if codes is not None:
                at, n_codes = f"{path}.categories[{node}]", len(bins[feature[node]]) + 1
                schema.require(feature[node] >= 0, at, "be null at a leaf")
                schema.require(found["bin"][node] == 0, f"{path}.bin[{node}]", "be 0")
                known = (codes < n_codes).all()
                schema.require(known, at, f"be below {n_codes}, the categories of the feature")
        for node in inner:
            threshold[node] = (
                np.nan
                if sets[node] is not None
                else stored_threshold(
                    bins, feature[node], found["bin"][node], f"{path}.bin[{node}]"
                )
            )
        if "categories" in found:
            found["categories"] = _as_bits(sets)
        return cls(threshold=threshold, **found)

    @classmethod
    def _kinds(cls, bins):
        """The kinds of the fields that are stored."""
        return {
            "feature": partial(schema.integers, low=-1, high=len(bins) - 1),
            "bin": partial(schema.integers, low=0, high=MAX_BINS),
            "missing_right": partial(schema.array, (bool,), np.bool_),
            "left": partial(schema.integers, low=0, high=2**31 - 1),
            "gain": partial(schema.floats, largest=schema.LARGEST**2),
            "value": partial(schema.floats, largest=schema.LARGEST),
            "cover": partial(schema.floats, largest=schema.LARGEST),
            "n_samples": schema.counts,
            "categories": partial(schema.list_of, partial(schema.or_none, _codes)),
        }

    def importances(self, n_features):
        """Gain of the splits on each feature, and their number: two ndarrays (n_features,)."""
        inner = self.feature >= 0
        features = self.feature[inner]
        gains = np.bincount(features, weights=self.gain[inner], minlength=n_features)
        return gains, np.bincount(features, minlength=n_features)

    def apply(self, binned, n_threads=1):
        """Values at the rows of a BinnedMatrix: ndarray of shape (n_samples,)."""
        leaves = np.empty(binned.n_samples, dtype=np.intc)
        _leaves.apply(
            binned.codes,
            binned.n_bins,
            self.feature,
            self.bin,
            self.left,
            self.missing_right.view(np.uint8),
            binned.categorical,
            NO_CATEGORIES if self.categories is None else self.categories,
            leaves,
            n_threads,
        )
        return self.value[leaves]

    def predict(self, X):
        """Values at the rows of `X`: ndarray of shape (n_samples,).

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        """
        return TreeEnsemble([(0, 1.0, self)]).predict(X)


def _codes(value, path):
    """Ascending codes of categories."""
    found = schema.integers(value, path, low=0, high=MOST_CATEGORIES - 1)
    schema.require((found[1:] > found[:-1]).all(), path, "ascend")
    return found


def _as_bits(sets):
    """Sets of codes, or None, a row of bits each: ndarray of shape (n_sets, 8), dtype uint32."""
    bits = np.zeros((len(sets), 8), dtype=np.uint32)
    for row, codes in zip(bits, sets, strict=True):
        if codes is not None:
            np.bitwise_or.at(row, codes // 32, np.uint32(1) << (codes % 32).astype(np.uint32))
    return bits


class TreeGrower:
    """Grows least-squares regression trees on a binned matrix.

    With G and H the sums of weight * target and of weight, over a node, its left and its right
    side, the node's best split has the largest gain

        G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2).

    Leafwise, the leaf whose split gains most is split next. A symmetric tree has one split for all
    leaves of a level, that of the largest sum of gains; a leaf of which a side would be too small,
    without weight or in the wrong order adds nothing to the sum and stays whole. Gains within 1e-9
    of each other count as equal: the lowest feature, then the lowest threshold, then missing values
    on the left win.

    Of a categorical feature, the codes that have `min_samples_category` rows at the node are put
    into the order of G / H, equal ones by code, and that order is parted like the bins of another
    feature: no way to part these codes in two gains more, without l2 and constraints (Fisher 1958).
    Of equal gains the one with fewer codes on the left wins. All other codes go where missing
    values go. A level of a symmetric tree has one order, by the sums over all leaves that may be
    cut.

    For the search, weighted targets are rounded to integers, as fine as 64 bits for the sums of
    them and of the weights allow: to about n * 2^-62 of the sum of absolute targets without
    weights, to 2^-31 of it with weights that are not whole. So histograms are exact, and a tree
    depends neither on the order of rows nor on the number of threads. Values of leaves come from
    the targets as they are.

    Parameters
    ----------
    binned : BinnedMatrix
    n_threads : int, default=1
    grow_policy, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, max_features, \
min_samples_category
        As `RegressionRanker` has them.
    monotonic_cst : array-like of int of shape (n_features,), default=None
    interaction_cst : int or list of collections of int, default=None
        Most features that go together in a tree; or groups of those that do, each feature in one at
        least.
    """

    def __init__(
        self,
        binned,
        n_threads=1,
        *,
        grow_policy="leafwise",
        max_leaf_nodes=20,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        monotonic_cst=None,
        interaction_cst=None,
        min_samples_category=1,
    ):
        self.binned = binned
        self.n_threads = n_threads
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_category = min_samples_category
        self.l2_regularization = l2_regularization
        self.monotonic_cst = monotonic_cst
        self._all_rows = np.arange(binned.n_samples, dtype=np.uint32)
        n_features = binned.n_features
        directions = np.zeros(n_features) if monotonic_cst is None else monotonic_cst
        starts, n_samples = binned.slot_starts(), count_all(binned.n_samples)
        if grow_policy == "symmetric":
            depth = symmetric_depth(max_leaf_nodes, max_depth)
            build, shape = SymmetricTreeBuilder, (min(2**depth, n_samples), depth)
        else:
            depth = -1 if max_depth is None else max_depth
            build, shape = TreeBuilder, (min(max_leaf_nodes, n_samples), depth)
        self._builder = build(
            starts,
            binned.n_bins,
            np.asarray(directions, dtype=np.intc),
            binned.categorical,
            UncommonCells(binned, starts, n_threads),
            binned.n_samples,
            *shape,
            None if interaction_cst is None else Interactions(interaction_cst, n_features),
            max_features,
            n_threads,
            merger(),
        )

    def grow(self, target, weight=None, count=None, rows=None, seed=0):
        """Grow a tree.

        Parameters
        ----------
        target : ndarray of shape (n_samples,), dtype float64
        weight : ndarray of shape (n_samples,), dtype float64, not negative, or None
            Weight of each row's squared error; None: 1. A row of a whole weight w is w rows. At
            least one weight is positive.
        count : ndarray of shape (n_samples,), dtype float64, positive, or None
            What a row counts in `min_samples_leaf`; None: 1.
        rows : ndarray, ascending, or None
            The rows to grow on; None: all.
        seed : int
            What draws the features that a node, or a level, may split on, where not all are.

        Returns
        -------
        leaves : Leaves
            Of a tree that has no values yet.
        """
        builder, n = self._builder, len(target) if rows is None else len(rows)
        builder_rows = np.asarray(builder.rows)
        builder_rows[:n] = self._all_rows if rows is None else rows
        builder_rows[n:] = 0
        used = Weighted(
            target if rows is None else target[rows],
            weight if rows is None or weight is None else weight[rows],
            self.threads(n),
        )
        weights = used.weights
        bits = weights.most(WEIGHT_BITS).bit_length()
        weight_scale, scale = weights.scale(WEIGHT_BITS), used.scale(WORD_BITS - bits)
        _leaves.pack(
            target,
            NO_VALUES if weight is None else weight,
            weights.whole,
            builder.rows,
            n,
            scale,
            weight_scale,
            bits,
            builder.words,
            self.threads(n),
        )
        min_low, min_count, counts, unit = 1, 0, NO_COUNTS, weight_scale
        if count is weight:
            min_low = self._least_count(weight_scale)
        else:
            fixed = Weights(count, len(target), self.threads(len(target)))
            unit = fixed.scale(WEIGHT_BITS)
            min_count, counts = self._least_count(unit), fixed.values(unit)
        builder.grow(
            self.binned.codes,
            counts,
            n,
            bits,
            min_low,
            min_count,
            self.l2_regularization * weight_scale,
            0.0 if weights.whole else 1.0,  # a row without weight has the least one
            0.0 if self.min_samples_category == 1 else self.min_samples_category * unit,
            seed,
        )
        # Not scale**2, which can be beyond float64.
        known = target, weight, used
        return Leaves(self, 1 / weight_scale, weight_scale / scale / scale, n, known)

    def _least_count(self, scale):
        """`min_samples_leaf` in units of counts; no leaf has 2^62 of them."""
        return math.ceil(min(self.min_samples_leaf * scale, 2.0**62))

    def threads(self, n_rows):
        """How many threads a pass over rows is worth."""
        return self.n_threads if n_rows >= ROWS_PER_THREAD else 1


def symmetric_depth(max_leaf_nodes, max_depth):
    """Most levels of a symmetric tree: `max_depth`, or what `max_leaf_nodes` has room for."""
    return max_leaf_nodes.bit_length() - 1 if max_depth is None else max_depth


class Leaves:
    """The rows of a training set by the leaves of the tree that was grown last.

    Attributes
    ----------
    tree : Tree
    nodes : ndarray of shape (n_leaves,), dtype intp
        Nodes of the leaves.
    """

    def __init__(self, grower, weight_unit, gain_unit, n_rows, known):
        builder = grower._builder
        n_nodes, n_leaves = builder.n_nodes, builder.n_leaves
        feature, bin, left, missing_right, gain = (
            np.array(array[:n_nodes])
            for array in (
                builder.feature, builder.bin, builder.left, builder.missing_right, builder.gain
            )
        )  # fmt: skip
        # The former are sums over all rows already.
        cover = np.array(builder.low_sum[:n_nodes])
        n_samples = merged(np.array(builder.n_samples[:n_nodes]))
        thresholds = grower.binned.thresholds
        threshold = np.zeros(n_nodes)
        for node in np.flatnonzero(feature >= 0):
            cuts = thresholds[feature[node]]
            threshold[node] = cuts[bin[node]] if bin[node] < len(cuts) else np.inf
        categories, by_set = None, (feature >= 0) & (grower.binned.categorical[feature] > 0)
        if by_set.any():
            categories = _codes_right(builder, by_set, missing_right, grower.binned.n_bins[feature])
            threshold[by_set], bin[by_set] = np.nan, 0
        self.tree = Tree(
            feature, bin, threshold, missing_right.view(bool), left, gain * gain_unit,
            np.zeros(n_nodes), cover * weight_unit, n_samples, categories,
        )  # fmt: skip
        self.nodes = np.array(builder.leaf_node[:n_leaves])
        self._grower = grower
        self._n_rows = n_rows
        self._known = known
        self._rows = builder.rows
        self._starts = np.array(builder.leaf_start[:n_leaves])
        self._stops = np.array(builder.leaf_stop[:n_leaves])

    def sums(self, values=None, weight=None):
        """Sum of weight * value over the rows of each leaf, whatever their order.

        Parameters
        ----------
        values, weight : ndarrays of shape (n_samples,), dtype float64, or None
            None: all 1.

        Returns
        -------
        sums : ndarray of shape (n_leaves,)
        """
        if values is None and weight is None:
            return merged((self._stops - self._starts).astype(np.int64)).astype(np.float64)
        n_threads = self._grower.threads(self._n_rows)
        # What the tree was grown by is added up already.
        target, known_weight, known = self._known
        if values is None:
            known = Weighted.of_weights(known.weights) if weight is known_weight else None
            values, weight = weight, None
        elif values is not target or weight is not known_weight:
            known = None
        known = known or Weighted(values, weight, n_threads)
        sums, scale = np.zeros(len(self.nodes), dtype=np.int64), known.scale(SUM_BITS)
        _leaves.sum_leaves(
            values,
            NO_VALUES if weight is None else weight,
            known.weights.whole,
            scale,
            self._rows,
            self._starts,
            self._stops,
            sums,
            n_threads,
        )
        return merged(sums) / scale

    def set_values(self, numerator, denominator):
        """Give each leaf the value numerator / (denominator + l2_regularization).

        With `monotonic_cst`, every inner node has such a value, too, and where those of two
        siblings are constrained, the values below them stay on either side of their midpoint.

        Parameters
        ----------
        numerator, denominator : ndarrays of shape (n_leaves,), dtype float64
            Where a denominator is 0, so is the value.
        """
        tree, l2 = self.tree, self._grower.l2_regularization
        if self._grower.monotonic_cst is None:
            tree.value[self.nodes] = ratio(numerator, denominator + l2)
            return
        sums = np.zeros((2, len(tree.feature)))
        sums[:, self.nodes] = numerator, denominator
        for node in self._inner()[::-1]:  # children have higher numbers than their parents
            sums[:, node] = sums[:, tree.left[node]] + sums[:, tree.left[node] + 1]
        self._set_bounded(ratio(sums[0], sums[1] + l2))

    def set_medians(self, values, weight=None):
        """Give each leaf the median of the values of its rows, whatever their order.

        With `monotonic_cst`, inner nodes have theirs and bound those below them, as in
        `set_values`.

        Parameters
        ----------
        values : ndarray of shape (n_samples,), dtype float64
        weight : ndarray of shape (n_samples,), dtype float64, positive, or None
            None: all 1.
        """
        tree, all_rows = self.tree, np.asarray(self._rows)
        spans = zip(self._starts, self._stops, strict=True)
        rows = {
            node: all_rows[start:stop]
            for node, (start, stop) in zip(self.nodes, spans, strict=True)
        }
        if self._grower.monotonic_cst is not None:
            for node in self._inner()[::-1]:
                left = tree.left[node]
                rows[node] = np.concatenate([rows[left], rows[left + 1]])
        value = np.zeros(len(tree.feature))
        for node, of_node in rows.items():
            weights = None if weight is None else weight[of_node]
            value[node] = median(values[of_node], weights)
        if self._grower.monotonic_cst is None:
            tree.value[self.nodes] = value[self.nodes]
        else:
            self._set_bounded(value)

    def _inner(self):
        """Nodes that are no leaves, ascending."""
        return np.flatnonzero(self.tree.feature >= 0)

    def _set_bounded(self, value):
        """Give the leaves values that hold `monotonic_cst`, from those of all nodes."""
        tree, cst = self.tree, self._grower.monotonic_cst
        lower, upper = np.full_like(value, -np.inf), np.full_like(value, np.inf)
        for node in self._inner():
            left, right = tree.left[node], tree.left[node] + 1
            for child in (left, right):
                lower[child], upper[child] = lower[node], upper[node]
                value[child] = min(max(value[child], lower[child]), upper[child])
            direction = cst[tree.feature[node]]
            middle = 0.5 * (value[left] + value[right])
            if direction:
                low, high = (left, right) if direction > 0 else (right, left)
                upper[low] = lower[high] = middle
                value[low], value[high] = min(value[low], middle), max(value[high], middle)
        tree.value[self.nodes] = value[self.nodes]

    def add_to(self, scores, coefficient):
        """Add coefficient * value of its leaf to each row, also to those not grown on."""
        if self._n_rows < len(scores):
            scores += coefficient * self.tree.apply(self._grower.binned, self._grower.n_threads)
            return
        _leaves.add_values(
            coefficient * self.tree.value[self.nodes],
            self._rows,
            self._starts,
            self._stops,
            scores,
            self._grower.threads(self._n_rows),
        )


def _codes_right(builder, by_set, missing_right, n_codes):
    """The codes that go right at the nodes `by_set`, as `Tree.categories` has them.

    Codes that the node did not tell apart go where missing values go.
    """
    n_nodes, categories = len(by_set), np.zeros((len(by_set), 8), dtype=np.uint32)
    left, right = (np.array(x[:n_nodes])[by_set] for x in (builder.left_codes, builder.right_codes))
    right = np.where(missing_right[by_set, None] > 0, ~left, right)
    # As many bits as there are codes, 64 in each of the four numbers.
    n_bits = np.clip(n_codes[by_set, None] - 64 * np.arange(4), 0, 64).astype(np.uint64)
    everything = np.uint64(2**64 - 1)
    right &= np.where(n_bits > 0, everything >> (64 - np.maximum(n_bits, 1)), np.uint64(0))
    categories[by_set, 0::2] = right & np.uint64(2**32 - 1)
    categories[by_set, 1::2] = right >> np.uint64(32)
    return categories


class Weights:
    """Weights as integers: as they are where all are whole, small and not 0, else in units of 2^-k.

    Parameters
    ----------
    weight : ndarray, not negative, or None
        None: all 1.
    n : int
        Number of weights, of the rows that are here.
    n_threads : int, default=1

    Attributes
    ----------
    n : int
        Number of weights everywhere.
    sum : float
    whole : bool
    """

    def __init__(self, weight, n, n_threads=1):
        self._weight, self._n_here, self.n = weight, n, count_all(n)
        n = self.n
        self.sum = n if weight is None else float(total(weight, n_threads=n_threads))
        few = self.sum <= max(MOST_WHOLE, 8 * n)
        # Where some are 0 a word would not tell that there is a row; else a row is a unit at least.
        self.whole = weight is None or bool(
            few and everywhere((weight == np.rint(weight)).all() and weight.all())
        )

    def scale(self, bits):
        """Integers per unit of weight where their sum is to have so many bits: float."""
        # Rounding adds up to one unit a row.
        return 1.0 if self.whole else power_of_two((2.0**bits - self.n) / self.sum)

    def most(self, bits):
        """What the sum of the integers does not exceed then: int."""
        return int(self.sum) if self.whole else 2**bits - 1

    def values(self, scale):
        """The integers: ndarray of shape (n,), dtype int64."""
        if self._weight is None:
            return np.ones(self._n_here, dtype=np.int64)
        return np.maximum(np.rint(self._weight * scale), 1).astype(np.int64)


class Weighted:
    """What weighted values are made integers by, so that their sums are exact.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weight : ndarray of shape (n,), not negative, or None
        None: all 1.
    n_threads : int, default=1

    Attributes
    ----------
    weights : Weights
    """

    def __init__(self, values, weight=None, n_threads=1):
        self.weights = Weights(weight, len(values), n_threads)
        self._size = float(size(values, weight, n_threads))

    @classmethod
    def of_weights(cls, weights):
        """Of weights themselves, each counted once."""
        of_them = cls.__new__(cls)
        of_them.weights, of_them._size = Weights(None, weights._n_here), weights.sum
        return of_them

    def scale(self, bits):
        """Integers per unit where the sum of absolute ones is to have so many bits: float."""
        return power_of_two(2.0**bits / self._size) if self._size else 1.0


def power_of_two(x):
    """The largest power of two up to `x`, within the range of float64."""
    return 2.0 ** math.floor(min(max(math.log2(x), -1000), 1000))


def ratio(numerator, denominator):
    """numerator / denominator, 0 where the denominator is."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
