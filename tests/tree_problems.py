# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Problems of growing a tree, and its comparison with an oracle."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import tree as oracle
from scipy import sparse
from strategies import ranking_problems

from sklearn_ltr.binning import Binner
from sklearn_ltr.weak.tree import Tree, TreeGrower

ARRAYS = ("feature", "bin", "threshold", "missing_right", "left")


def binned_of(X, max_bins=255, n_threads=1):
    rows = np.arange(len(X))
    binner = Binner(max_bins).fit(X, rows)
    return binner, binner.transform(X, rows, n_threads)


def grow(X, target, weight=None, count=None, *, max_bins=255, rows=None, seed=0, **params):
    """A tree on `X`, many small leaves allowed: its Leaves."""
    _, binned = binned_of(X, max_bins)
    grower = TreeGrower(binned, **{"min_samples_leaf": 1, **params})
    return grower.grow(target, weight, count, rows, seed)


def give(leaves, values, l2=0.0):
    """Set the values of the leaves themselves."""
    leaves.set_values(values * (1 + l2), np.ones(len(values)))


def give_means(leaves, target, weight=None):
    leaves.set_values(leaves.sums(target, weight), leaves.sums(np.ones(len(target)), weight))


def assert_same_tree(tree, expected, names=(*ARRAYS, "gain")):
    for name in names:
        assert_array_equal(getattr(tree, name), getattr(expected, name), err_msg=name)


@dataclass
class TreeProblem:
    """What a tree is grown on. All are multiples of 1/8, but for weights that are `wild`."""

    X: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None
    count: np.ndarray | None
    rows: np.ndarray | None
    wild: bool


@st.composite
def tree_problems(draw, *, subsets=True, **options):
    problem = draw(ranking_problems(grades=("five", "negative"), weights=False, **options))
    n = len(problem.y)

    def per_row(elements):
        return np.array(draw(st.lists(elements, min_size=n, max_size=n)), dtype=float)

    target = problem.y - draw(st.sampled_from([0.0, 1.5]))
    kind = draw(st.sampled_from(["none", "none", "whole", "zeros", "eighths", "wild"]))
    weight = {
        "none": lambda: None,
        "whole": lambda: per_row(st.integers(1, 3)),
        "zeros": lambda: per_row(st.integers(0, 2)),
        "eighths": lambda: per_row(st.sampled_from([0.125, 1.0, 2.5])),
        "wild": lambda: per_row(st.just(0.0) | st.floats(0.05, 20.0)),
    }[kind]()
    count = {
        "none": lambda: None,
        "weight": lambda: weight,
        "own": lambda: per_row(st.integers(1, 3)),
    }[draw(st.sampled_from(["none", "none", "weight", "own"]))]()
    if count is weight and kind in ("zeros", "wild"):
        count = None
    rows = None
    if subsets and draw(st.booleans()):
        kept = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
        rows = np.flatnonzero(kept)
    if weight is not None:
        weight[0 if rows is None else rows[0]] = 1.0  # at least one is not 0
    return TreeProblem(problem.X, target, weight, count, rows, kind in ("zeros", "wild"))


parameters = {
    "max_leaf_nodes": st.sampled_from([2, 3, 4, 5, 20]),
    "max_depth": st.sampled_from([None, None, 1, 2, 3]),
    "min_samples_leaf": st.sampled_from([1, 1, 2, 3]),
    "l2_regularization": st.sampled_from([0.0, 0.0, 0.5, 3.0]),
}


def growth_of(problem, thresholds, params):
    params = dict(params)
    return oracle.Growth(
        problem.X,
        problem.target,
        weight=problem.weight,
        count=problem.count,
        thresholds=thresholds,
        l2=params.pop("l2_regularization", 0.0),
        **{name: value for name, value in params.items() if name != "grow_policy"},
    )


def check(problem, check_tree=oracle.check_tree, *, max_bins=255, n_threads=1, **params):
    """Grow a tree and compare all there is about it.

    `check_tree` is as that of the oracle: it compares the tree split by split.
    """
    X, weight, rows = problem.X, problem.weight, problem.rows
    binner, binned = binned_of(X, max_bins, n_threads)
    leaves = TreeGrower(binned, n_threads, **params).grow(
        problem.target, weight, problem.count, rows
    )
    tree = leaves.tree
    assert isinstance(tree, Tree)
    growth = growth_of(problem, binner.thresholds_, params)
    # Weights that are not whole have half a word, so 31 bits for their sum.
    nodes = check_tree(
        tree, growth, rows, exact=not problem.wild, rel=1e-4 if problem.wild else 1e-6
    )
    assert tree.n_leaves == len(nodes) == len(leaves.nodes)
    assert set(leaves.nodes) == set(nodes)

    # Rows of the leaves, also of rows that the tree was not grown on.
    give(leaves, np.arange(1.0, len(nodes) + 1), growth.l2)
    if not params.get("monotonic_cst"):
        number = np.zeros(len(X))
        leaves.add_to(number, 1.0)
        in_leaf = leaves.nodes[np.rint(number).astype(int) - 1]
        assert_array_equal(in_leaf, oracle.leaf_of(tree, X))
        for i, node in nodes.items():
            mine = np.arange(len(X)) if rows is None else rows
            assert_array_equal(mine[in_leaf[mine] == i], node.rows)

    # Sums of leaves, and their means as values.
    G, H = leaves.sums(problem.target, weight), leaves.sums(np.ones(len(X)), weight)
    for i, g, h in zip(leaves.nodes, G, H, strict=True):
        assert_allclose([g, h], growth.sums(nodes[i].rows), rtol=1e-12, atol=1e-12)
    leaves.set_values(G, H)
    expected = [growth.mean(nodes[i]) for i in leaves.nodes]
    assert_allclose(tree.value[leaves.nodes], expected, rtol=1e-10, atol=1e-10)
    scores = np.full(len(X), 0.5)
    leaves.add_to(scores, 0.1)
    expected = oracle.predict(tree, X)
    assert_allclose(scores, 0.5 + 0.1 * expected, rtol=1e-14)
    assert_array_equal(tree.predict(X), expected)
    assert_array_equal(tree.apply(binned), expected)
    assert_array_equal(tree.predict(sparse.csc_array(X)), expected)
    return binner, leaves
