# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A symmetric regression tree in slow Python on raw values, sharing no code with the package.

Level by level, every candidate cut is tried on all leaves. A leaf that may not be cut there, since
a side would count too little, have no weight or break a monotonic constraint, adds no gain and
stays as it is; all others are divided, whatever they gain. Interaction constraints take all cuts so
far as used, by whichever leaf. Of equally good cuts the first one counts: the lowest feature, then
the lowest threshold, then missing values to the left.
"""

from typing import NamedTuple

import numpy as np

from oracles.tree import Split


class Cut(NamedTuple):
    """A candidate, with what it makes of each leaf that it divides."""

    feature: int
    bin: int
    missing_right: bool
    gain: float
    splits: dict  # number of a leaf: Split

    @property
    def partition(self):
        """The leaves that are divided, each the two sets of rows, whichever is left."""
        return frozenset(split.partition for split in self.splits.values())


def may_be_divided(growth, node):
    """Whether a leaf is large enough for any cut at all."""
    return len(node.rows) >= 2 and growth.size(node.rows) >= 2 * growth.min_samples_leaf


def cuts(growth, leaves):
    """Every cut that divides at least one of the `leaves`, a dict of Node, in order."""
    allowed = growth.allowed(frozenset().union(*(node.used for node in leaves.values())))
    leaves = {i: node for i, node in leaves.items() if may_be_divided(growth, node)}
    before = {i: growth.fit(node) for i, node in leaves.items()}
    for feature in sorted(allowed):
        of_all = set(growth.present(feature, [r for n in leaves.values() for r in n.rows]))
        present = {i: [r for r in n.rows if r in of_all] for i, n in leaves.items()}
        missing = {i: [r for r in n.rows if r not in of_all] for i, n in leaves.items()}
        for way, lower in growth.ways(feature, [r for p in present.values() for r in p]):
            sides = {
                i: ([r for r in p if r in lower], [r for r in p if r not in lower])
                for i, p in present.items()
            }
            for missing_right in (False, True):
                b, splits = growth.bin_of(feature, way, missing_right), {}
                for i, (low, high) in sides.items():
                    left = tuple(sorted(low if missing_right else low + missing[i]))
                    right = tuple(sorted(high + missing[i] if missing_right else high))
                    if not left or not right:
                        continue
                    gain = (
                        growth.fit(leaves[i]._replace(rows=left))
                        + growth.fit(leaves[i]._replace(rows=right))
                        - before[i]
                    )
                    split = Split(feature, b, missing_right, gain, left, right, bool(missing[i]))
                    if growth.is_valid(leaves[i], split):
                        splits[i] = split
                if not splits:
                    continue
                if not any(missing.values()):
                    left, right = (
                        sum(growth.size(getattr(s, side)) for s in splits.values())
                        for side in ("left", "right")
                    )
                    if missing_right != (right > left):
                        continue
                yield Cut(feature, b, missing_right, sum(s.gain for s in splits.values()), splits)


def levels(tree):
    """The splits of a tree of the package level by level: list of lists of nodes.

    Within a level they come one after the other; the next level has another cut, since the same one
    again would divide nothing.
    """
    inner = np.flatnonzero(np.asarray(tree.feature) >= 0)
    inner = inner[np.argsort(np.asarray(tree.left)[inner])].tolist()
    found = []
    for i in inner:
        if not found or cut_at(tree, i) != cut_at(tree, found[-1][-1]):
            found.append([])
        found[-1].append(i)
    return found


def cut_at(tree, i):
    """What node `i` does."""
    return int(tree.feature[i]), tree.bin[i], bool(tree.missing_right[i])


def check_tree(tree, growth, depth, rows=None, *, exact=True, rel=1e-6):
    """Compare a tree of the package cut by cut; near ties are its own to decide.

    Each cut is compared with all that the oracle could have done to the leaves there were then. Of
    cuts that part the rows alike the order of precedence decides; and where sums are `exact`, so
    that the package cannot see ties otherwise, of all the best ones that gain the same.

    Returns
    -------
    leaves : dict of int to Node
    """
    root = growth.root(rows)
    scale = growth.scale(root.rows)
    noise = rel * 1e-3 * scale
    leaves = {0: root}
    done = levels(tree)
    assert len(done) <= depth, f"{len(done)} levels, where {depth} are allowed"
    for level, nodes in enumerate(done):
        chosen = cut_at(tree, nodes[0])
        assert set(nodes) <= leaves.keys(), f"level {level}: {nodes} are not all leaves"
        candidates = list(cuts(growth, leaves))
        same = [c for c in candidates if c[:3] == chosen]
        assert same, f"level {level}: {chosen} divides nothing"
        (cut,) = same
        _check_divided(growth, leaves, cut, nodes, noise if not exact else 1e-12 * scale)
        best = max(c.gain for c in candidates)
        near = [c for c in candidates if c.gain >= best * (1 - rel) - noise]
        assert cut in near, f"level {level}: {cut[:4]} where {near[0][:4]} is better"
        assert cut.gain > -noise, f"level {level}: {cut[:4]}"
        alike = [c for c in near if c.partition == cut.partition]
        if exact and best > 1e-4 * scale and all(c.gain >= best * (1 - 1e-12) for c in near):
            alike = near
        assert best <= noise or cut == alike[0], (
            f"level {level}: {cut[:4]} where {alike[0][:4]} comes first"
        )
        for i in nodes:
            split = cut.splits[i]
            off = abs(tree.gain[i] - split.gain)
            assert off <= max(1e-7, rel / 100) * abs(split.gain) + noise, (tree.gain[i], split.gain)
            assert tree.threshold[i] == growth.threshold_of(split)
            assert tree.value[i] == 0
            children = growth.children(leaves.pop(i), split)
            leaves[int(tree.left[i])], leaves[int(tree.left[i]) + 1] = children
    assert sorted(leaves) == np.flatnonzero(np.asarray(tree.feature) < 0).tolist()
    if len(done) < depth:
        best = max(cuts(growth, leaves), key=lambda c: c.gain, default=None)
        assert best is None or best.gain <= noise, f"{best[:4]} could follow level {len(done) - 1}"
    for i in leaves:
        assert tree.gain[i] == 0
        assert tree.left[i] == 0
    return leaves


def _check_divided(growth, leaves, cut, nodes, noise):
    """Exactly those leaves are divided that may be; equal means may be in either order."""
    for i in cut.splits.keys() ^ set(nodes):
        node = leaves[i]
        assert i in cut.splits, f"{cut[:4]} divides leaf {i} of rows {node.rows}, which it must not"
        left, right = (
            growth.mean(node._replace(rows=rows))
            for rows in (cut.splits[i].left, cut.splits[i].right)
        )
        close = growth.monotonic_cst[cut.feature] and abs(right - left) <= noise
        assert close, f"{cut[:4]} leaves leaf {i} of rows {node.rows} whole"
        del cut.splits[i]
