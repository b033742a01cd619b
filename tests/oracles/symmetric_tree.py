# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A symmetric regression tree in slow Python on raw values, sharing no code with the package.

At each level every cut, a feature, a threshold and a side of missing values, is tried on the rows
of all leaves. A leaf that may not be divided by a cut adds nothing to what the cut gains, and stays
as it is. Of equally good cuts the first one counts: the lowest feature, then the lowest threshold,
then missing values to the left.
"""

from math import fsum, inf, isnan
from typing import NamedTuple

import numpy as np

from oracles.tree import Split


class Cut(NamedTuple):
    """A candidate of a level; `splits` are those of the leaves that it divides, by their number."""

    feature: int
    bin: int
    missing_right: bool
    gain: float
    splits: dict

    @property
    def parts(self):
        """The sides of the leaves that are divided, whichever is left."""
        return {i: split.partition for i, split in self.splits.items()}


def cuts(growth, leaves):
    """Every cut of a level in the order of precedence; `leaves` are nodes by their number."""
    open_leaves = {i: node for i, node in leaves.items() if may_be_divided(growth, node)}
    for feature, column in enumerate(growth.columns):
        edges = [*growth.thresholds[feature], inf]
        any_missing = any(isnan(column[r]) for node in open_leaves.values() for r in node.rows)
        for b, edge in enumerate(edges):
            for missing_right in [False, True] if any_missing else [None]:
                splits = {}
                for i, node in open_leaves.items():
                    split = split_of(growth, node, feature, b, edge, bool(missing_right))
                    if is_valid(growth, node, split):
                        splits[i] = split
                if missing_right is None:
                    sizes = [
                        fsum(growth.size(getattr(split, side)) for split in splits.values())
                        for side in ("left", "right")
                    ]
                    missing_right = sizes[1] > sizes[0]
                yield Cut(feature, b, missing_right, fsum(s.gain for s in splits.values()), splits)


def may_be_divided(growth, node):
    return len(node.rows) >= 2 and growth.size(node.rows) >= 2 * growth.min_samples_leaf


def split_of(growth, node, feature, b, edge, missing_right):
    """The split that a cut makes of a leaf."""
    column = growth.columns[feature]
    right = [r for r in node.rows if (missing_right if isnan(column[r]) else column[r] > edge)]
    left = [r for r in node.rows if r not in set(right)]
    sides = [node._replace(rows=tuple(rows)) for rows in (left, right)]
    gain = sum(map(growth.fit, sides)) - growth.fit(node)
    return Split(feature, b, missing_right, gain, tuple(left), tuple(right), False)


def is_valid(growth, node, split):
    """Whether both sides have rows, and enough, and their means are in the right order."""
    if not (split.left and split.right):
        return False
    if min(growth.size(split.left), growth.size(split.right)) < growth.min_samples_leaf:
        return False
    left, right = (growth.mean(node._replace(rows=rows)) for rows in (split.left, split.right))
    return growth.monotonic_cst[split.feature] * (right - left) >= 0


def check_tree(tree, growth, rows=None, *, exact=True, rel=1e-6):
    """Compare a symmetric tree of the package level by level, as `oracles.tree.check_tree`.

    The levels are those of ``growth.max_depth``, or as many as ``growth.max_leaf_nodes`` leaves
    allow.

    Returns
    -------
    nodes : dict of int to Node
        Those of the leaves.
    """
    depth = growth.max_depth
    if depth is None:
        depth = int(np.log2(growth.max_leaf_nodes))
    left = np.asarray(tree.left)
    root = growth.root(rows)
    scale = growth.scale(root.rows)
    noise = rel * 1e-3 * scale
    leaves, n_nodes, n_levels = {0: root}, 1, 0
    while n_nodes < len(left):
        candidates = list(cuts(growth, leaves))
        best = max(cut.gain for cut in candidates)
        assert best > -noise
        parent = int(np.flatnonzero((left == n_nodes) & (np.asarray(tree.feature) >= 0))[0])
        chosen = (tree.feature[parent], tree.bin[parent], bool(tree.missing_right[parent]))
        near = [cut for cut in candidates if cut.gain >= best * (1 - rel) - noise]
        same = [cut for cut in near if cut[:3] == chosen]
        assert same, f"level {n_levels}: {chosen} where {near[0][:4]} is better"
        (cut,) = same
        divided = {i: frozenset((s.left, s.right)) for i, s in cut.splits.items()}
        alike = [
            c
            for c in near
            if {i: frozenset((s.left, s.right)) for i, s in c.splits.items()} == divided
        ]
        if exact and best > 1e-4 * scale and all(c.gain >= best * (1 - 1e-12) for c in near):
            alike = near
        assert best <= noise or cut == alike[0], (
            f"level {n_levels}: {cut[:4]} where {alike[0][:4]} comes first"
        )
        made = {}
        for i, split in cut.splits.items():
            child = int(left[i])
            made[child] = i
            assert (tree.feature[i], tree.bin[i], bool(tree.missing_right[i])) == chosen, i
            edges = [*growth.thresholds[split.feature], inf]
            assert tree.threshold[i] == edges[split.bin]
            assert tree.value[i] == 0
            off = abs(tree.gain[i] - split.gain)
            assert off <= max(1e-7, rel / 100) * abs(split.gain) + noise, (tree.gain[i], split.gain)
            leaves[child], leaves[child + 1] = growth.children(leaves.pop(i), split)
        # These leaves and no others were divided now.
        assert sorted(made) == list(range(n_nodes, n_nodes + 2 * len(made), 2))
        n_nodes += 2 * len(made)
        n_levels += 1
    assert n_nodes == len(left)
    assert sorted(leaves) == np.flatnonzero(np.asarray(tree.feature) < 0).tolist()
    assert n_levels <= depth
    if n_levels < depth:
        gain = max((cut.gain for cut in cuts(growth, leaves)), default=0.0)
        assert gain <= noise, f"another level could gain {gain}"
    for i in leaves:
        assert tree.gain[i] == 0
        assert left[i] == 0
    return leaves
