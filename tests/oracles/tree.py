# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A best-first regression tree in slow Python on raw values, sharing no code with the package.

Every candidate split of a node is tried on its rows, with correctly rounded sums, which therefore
depend on which rows they run over and on nothing else. A split sends ``x <= threshold`` to the left
and missing values to a side of their own choosing. Of equally good splits the first one counts: the
lowest feature, then the lowest threshold, then missing values to the left; of equally good nodes
the earlier one.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from math import fsum, inf, isnan
from typing import NamedTuple

import numpy as np

TIE = 1e-9  # splits tie when their gains agree this well, relatively


class Split(NamedTuple):
    """A candidate: `bin` is the number of the threshold; past the last it is infinity."""

    feature: int
    bin: int
    missing_right: bool
    gain: float
    left: tuple  # rows
    right: tuple
    own_missing: bool  # the node has rows missing in the feature

    @property
    def partition(self):
        """The two sets of rows, whichever is left."""
        return frozenset((self.left, self.right))


class Node(NamedTuple):
    """Rows, depth, bounds that monotonic constraints put on the value, features used above it."""

    rows: tuple
    depth: int = 0
    low: float = -inf
    high: float = inf
    used: frozenset = frozenset()


@dataclass
class Growth:
    """What a tree is grown on, and by which rules.

    `weight` multiplies a row's squared error, `count` is what it counts for `min_samples_leaf`.
    Without `thresholds` there is one halfway between any two neighbouring values of a feature.
    """

    X: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None = None
    count: np.ndarray | None = None
    thresholds: list | None = None
    max_leaf_nodes: int = 20
    max_depth: int | None = None
    min_samples_leaf: float = 1
    l2: float = 0.0
    monotonic_cst: list | None = None
    interaction_cst: list | None = None
    _splits: dict = field(default_factory=dict)

    def __post_init__(self):
        n, n_features = np.shape(self.X)
        self.columns = np.asarray(self.X, dtype=float).T.tolist()
        self.target = np.asarray(self.target, dtype=float).tolist()
        self.weight = [1.0] * n if self.weight is None else np.asarray(self.weight).tolist()
        self.count = [1] * n if self.count is None else np.asarray(self.count).tolist()
        if self.thresholds is None:
            self.thresholds = [midpoints(column) for column in self.columns]
        self.thresholds = [[float(t) for t in thresholds] for thresholds in self.thresholds]
        if self.monotonic_cst is None:
            self.monotonic_cst = [0] * n_features

    def root(self, rows=None):
        """The first node; `rows` are all by default."""
        return Node(tuple(range(len(self.target)) if rows is None else np.asarray(rows).tolist()))

    def sums(self, rows):
        """G and H of some rows."""
        return (
            fsum(self.weight[i] * self.target[i] for i in rows),
            fsum(self.weight[i] for i in rows),
        )

    def size(self, rows):
        """What rows count together."""
        return fsum(self.count[i] for i in rows)

    def fit(self, node):
        """What the mean takes off the squared error: G^2 / (H + lambda) if unbounded."""
        G, H = self.sums(node.rows)
        value = self.mean(node)
        return value * (2 * G - (H + self.l2) * value)

    def mean(self, node):
        """G / (H + lambda) within the bounds; 0 where there is no weight."""
        G, H = self.sums(node.rows)
        return min(max(G / (H + self.l2) if H + self.l2 > 0 else 0.0, node.low), node.high)

    def scale(self, rows):
        """What gains may be measured by: the gain if all targets of `rows` had one sign."""
        total = fsum(self.weight[i] * abs(self.target[i]) for i in rows)
        return total**2 / (fsum(self.weight[i] for i in rows) + self.l2)

    def allowed(self, used):
        """The features of all groups that have the `used` ones; those in no group are a group."""
        everything = set(range(len(self.columns)))
        if self.interaction_cst is None:
            return everything
        groups = [set(group) for group in self.interaction_cst]
        groups.append(everything - set().union(*groups))
        return set().union(*(group for group in groups if used <= group))

    def candidates(self, node):
        """Every split that puts rows on both sides, in the order of precedence."""
        parent = self.fit(node)
        for feature in sorted(self.allowed(node.used)):
            present = self.present(feature, node.rows)
            missing = [i for i in node.rows if i not in set(present)]
            for way, lower in self.ways(feature, present):
                low = [i for i in present if i in lower]
                high = [i for i in present if i not in lower]
                choices = [False, True] if missing else [self.size(high) > self.size(low)]
                for missing_right in choices:
                    left = tuple(sorted(low if missing_right else low + missing))
                    right = tuple(sorted(high + missing if missing_right else high))
                    if left and right:
                        sides = [node._replace(rows=rows) for rows in (left, right)]
                        gain = sum(map(self.fit, sides)) - parent
                        b = self.bin_of(feature, way, missing_right)
                        yield Split(feature, b, missing_right, gain, left, right, bool(missing))

    def present(self, feature, rows):
        """The rows that a feature may part; the others stay together."""
        return [i for i in rows if not isnan(self.columns[feature][i])]

    def ways(self, feature, present):
        """The ways to part rows by their values, in order: what it is, and the rows on the left."""
        column = self.columns[feature]
        # A threshold with no row between it and the one before parts them alike.
        bins = {sum(t < column[i] for t in self.thresholds[feature]) for i in present} | {0}
        edges = [*self.thresholds[feature], inf]
        for b in sorted(bins):
            yield b, {i for i in present if column[i] <= edges[b]}

    def bin_of(self, feature, way, missing_right):
        """What a split has as its `bin`."""
        return way

    def threshold_of(self, split):
        """What a split compares with."""
        return [*self.thresholds[split.feature], inf][split.bin]

    def children(self, node, split):
        """The two nodes below, within bounds that keep the means of both sides apart."""
        used = node.used | {split.feature}
        left = Node(split.left, node.depth + 1, node.low, node.high, used)
        right = Node(split.right, node.depth + 1, node.low, node.high, used)
        sign = self.monotonic_cst[split.feature]
        if sign:
            middle = (self.mean(left) + self.mean(right)) / 2
            below, above = (left, right) if sign > 0 else (right, left)
            below, above = below._replace(high=middle), above._replace(low=middle)
            left, right = (below, above) if sign > 0 else (above, below)
        return left, right

    def is_valid(self, node, split):
        """Whether both sides are large enough, in the right order, and better than the node."""
        if min(self.size(split.left), self.size(split.right)) < self.min_samples_leaf:
            return False
        if min(self.sums(split.left)[1], self.sums(split.right)[1]) <= 0:
            return False
        left = self.mean(node._replace(rows=split.left))
        right = self.mean(node._replace(rows=split.right))
        return self.monotonic_cst[split.feature] * (right - left) >= 0

    def splits(self, node):
        """The valid splits of a node in the order of precedence, also those that gain nothing."""
        if self.max_depth is not None and node.depth >= self.max_depth:
            return []
        if node not in self._splits:
            valid = [s for s in self.candidates(node) if self.is_valid(node, s)]
            self._splits[node] = valid
        return self._splits[node]

    def best(self, node):
        """The best split, None if none gains anything."""
        splits = self.splits(node)
        best = max((s.gain for s in splits), default=0.0)
        if best <= 1e-12 * self.scale(node.rows):
            return None
        return next(s for s in splits if s.gain >= best * (1 - TIE))


def midpoints(values):
    """Halfway between neighbouring distinct values that are not missing."""
    distinct = sorted({value for value in values if not isnan(value)})
    return [low + (high - low) / 2 for low, high in pairwise(distinct)]


@dataclass
class OracleTree:
    """Arrays of one entry a node, as the package has them; children are next to each other."""

    feature: list
    bin: list
    threshold: list
    missing_right: list
    left: list
    value: list
    gain: list
    nodes: list  # Node


def grow(growth, rows=None):
    """The tree, its leaves at their means."""
    tree = OracleTree([], [], [], [], [], [], [], [])

    def add(node):
        for name, start in (
            ("feature", -1),
            ("bin", 0),
            ("threshold", 0.0),
            ("missing_right", False),
            ("left", 0),
            ("value", growth.mean(node)),
            ("gain", 0.0),
            ("nodes", node),
        ):
            getattr(tree, name).append(start)

    add(growth.root(rows))
    n_leaves = 1
    while n_leaves < growth.max_leaf_nodes:
        leaves = [i for i, k in enumerate(tree.feature) if k < 0]
        best = {i: growth.best(tree.nodes[i]) for i in leaves}
        best = {i: split for i, split in best.items() if split is not None}
        if not best:
            break
        largest = max(split.gain for split in best.values())
        i = next(i for i, split in best.items() if split.gain >= largest * (1 - TIE))
        split = best[i]
        tree.feature[i], tree.bin[i], tree.missing_right[i] = split[:3]
        tree.threshold[i] = [*growth.thresholds[split.feature], inf][split.bin]
        tree.left[i], tree.value[i], tree.gain[i] = len(tree.nodes), 0.0, split.gain
        for child in growth.children(tree.nodes[i], split):
            add(child)
        n_leaves += 1
    return tree


def leaf_of(tree, X):
    """Number of the leaf that each row of `X` falls into, by a walk through the thresholds."""
    found = []
    for row in np.asarray(X, dtype=float):
        i = 0
        while tree.feature[i] >= 0:
            x = row[tree.feature[i]]
            right = tree.missing_right[i] if isnan(x) else x > tree.threshold[i]
            if isnan(tree.threshold[i]) and not isnan(x):  # a split on categories
                right = x in right_set(tree, i)
            i = tree.left[i] + int(right)
        found.append(int(i))
    return np.array(found, dtype=int)


def right_set(tree, i):
    """The categories that go right at a node of a tree of the package."""
    numbers = [int(number) for number in tree.categories[i]]
    return {32 * j + k for j, number in enumerate(numbers) for k in range(32) if number >> k & 1}


def predict(tree, X):
    """Values of the leaves."""
    return np.asarray(tree.value, dtype=float)[leaf_of(tree, X)]


def regions(tree, X):
    """Rows of `X` of each leaf, in order of the leaves' numbers: list of (leaf, rows)."""
    leaves = leaf_of(tree, X)
    return [(i, np.flatnonzero(leaves == i)) for i, k in enumerate(tree.feature) if k < 0]


def check_tree(tree, growth, rows=None, *, exact=True, rel=1e-6):
    """Compare a tree of the package split by split; near ties are its own to decide.

    Every split is compared with all that the oracle could have done to the nodes there were then,
    so that one near tie does not spoil the comparison of what follows. Of splits that part the
    rows alike the order of precedence decides; and where sums are `exact`, so that the package
    cannot see ties otherwise, of all the best ones that gain the same. Values of leaves are not
    compared.

    Returns
    -------
    nodes : dict of int to Node
        Those of the leaves.
    """
    feature = np.asarray(tree.feature)
    left = np.asarray(tree.left)
    root = growth.root(rows)
    scale = growth.scale(root.rows)
    noise = rel * 1e-3 * scale
    leaves = {0: root}
    n_nodes = 1
    while n_nodes < len(feature):
        (parent,) = np.flatnonzero((left == n_nodes) & (feature >= 0)).tolist()
        gains = {i: largest_gain(growth, node) for i, node in leaves.items()}
        largest = max(gains.values())
        near = [i for i in leaves if gains[i] >= largest * (1 - rel) - noise]
        assert parent in near, f"node {parent} was split, but {gains}"
        sharp = exact and largest > 1e-4 * scale
        if sharp and all(gains[i] >= largest * (1 - 1e-12) for i in near):
            assert parent == min(near), f"node {parent} was split before {min(near)}, which ties"
        node = leaves.pop(parent)
        split = _check_split(tree, growth, node, parent, rel, noise, sharp)
        leaves[n_nodes], leaves[n_nodes + 1] = growth.children(node, split)
        n_nodes += 2
    assert n_nodes == len(feature)
    assert sorted(leaves) == np.flatnonzero(feature < 0).tolist()
    assert len(leaves) <= growth.max_leaf_nodes
    if len(leaves) < growth.max_leaf_nodes:
        for i, node in leaves.items():
            gain = largest_gain(growth, node)
            assert gain <= noise, f"leaf {i} could gain {gain}"
    for i in leaves:
        assert tree.gain[i] == 0
        assert left[i] == 0
    return leaves


def largest_gain(growth, node):
    return max((s.gain for s in growth.splits(node)), default=0.0)


def _check_split(tree, growth, node, i, rel, noise, sharp):
    """The oracle's split that does what node `i` does."""
    splits = growth.splits(node)
    chosen = (tree.feature[i], tree.bin[i], bool(tree.missing_right[i]))
    same = [s for s in splits if s[:3] == chosen]
    known = [s for s in splits if s[:2] == chosen[:2]]
    assert same, f"node {i}: {chosen} is no valid split; there are {[s[:4] for s in known]}"
    (split,) = same
    best = max(s.gain for s in splits)
    near = [s for s in splits if s.gain >= best * (1 - rel) - noise]
    assert split in near, f"node {i}: {split[:4]} where {near[0][:4]} is better"
    alike = [s for s in near if s.partition == split.partition]
    if sharp and all(s.gain >= best * (1 - 1e-12) for s in near):
        alike = near
    assert best <= noise or split == alike[0], (
        f"node {i}: {split[:4]} where {alike[0][:4]} comes first"
    )
    off = abs(tree.gain[i] - split.gain)
    assert off <= max(1e-7, rel / 100) * split.gain + noise, (tree.gain[i], split.gain)
    assert tree.threshold[i] == growth.threshold_of(split), (tree.threshold[i], split)
    assert tree.value[i] == 0
    return split
