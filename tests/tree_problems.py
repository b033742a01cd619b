# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What trees are grown on in tests, and what is compared."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import symmetric_tree as symmetric_oracle
from oracles import tree as oracle
from oracles.categories import CategoricalGrowth, Keyed
from scipy import sparse
from strategies import ranking_problems

from sklearn_ltr.binning import Binner
from sklearn_ltr.weak.tree import Tree, TreeGrower

ARRAYS = ("feature", "bin", "threshold", "missing_right", "left")

# Of a symmetric tree `max_leaf_nodes` sets the depth where `max_depth` does not.
parameters = {
    "max_leaf_nodes": st.sampled_from([2, 3, 4, 5, 20]),
    "max_depth": st.sampled_from([None, None, 1, 2, 3, 4, 16]),
    "min_samples_leaf": st.sampled_from([1, 1, 2, 3, 5]),
    "l2_regularization": st.sampled_from([0.0, 0.0, 0.5, 3.0]),
}
any_bins = st.sampled_from([255, 255, None, 2, 3])


def binned_of(X, max_bins=255, n_threads=1, n_categories=None):
    rows = np.arange(len(X))
    n_categories = None if n_categories is None else np.array(n_categories)
    binner = Binner(max_bins, "quantile", n_categories).fit(X, rows)
    return binner, binner.transform(X, rows, n_threads)


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


def grower_of(binned, n_threads=1, **params):
    """A grower of trees of many small leaves."""
    return TreeGrower(binned, n_threads, **{"min_samples_leaf": 1, **params})


def grow(X, target, weight=None, count=None, *, max_bins=255, rows=None, seed=0, **params):
    """A tree on `X`: its Leaves."""
    _, binned = binned_of(X, max_bins)
    return grower_of(binned, **params).grow(target, weight, count, rows, seed)


def growth_of(problem, thresholds, params, **categories):
    params = {name: value for name, value in params.items() if name != "grow_policy"}
    return (CategoricalGrowth if categories else oracle.Growth)(
        problem.X,
        problem.target,
        weight=problem.weight,
        count=problem.count,
        thresholds=thresholds,
        l2=params.pop("l2_regularization", 0.0),
        **params,
        **categories,
    )


def check_splits(tree, growth, policy, rows=None, **precision):
    """Compare a tree with the oracle of its policy: the Node of each leaf."""
    tree = Keyed(tree) if isinstance(growth, CategoricalGrowth) else tree
    if policy == "leafwise":
        return oracle.check_tree(tree, growth, rows, **precision)
    depth = growth.max_depth
    if depth is None:
        depth = int(np.log2(growth.max_leaf_nodes))
    return symmetric_oracle.check_tree(tree, growth, depth, rows, **precision)


def check(problem, *, grow_policy, max_bins=255, n_threads=1, categories=None, **params):
    """Grow a tree and compare all there is about it.

    `categories` are what `CategoricalGrowth` takes besides.
    """
    X, weight, rows, categories = problem.X, problem.weight, problem.rows, categories or {}
    binner, binned = binned_of(X, max_bins, n_threads, categories.get("n_categories"))
    least = categories.get("min_samples_category", 1)
    leaves = grower_of(
        binned, n_threads, grow_policy=grow_policy, min_samples_category=least, **params
    ).grow(problem.target, weight, problem.count, rows)
    tree = leaves.tree
    assert isinstance(tree, Tree)
    growth = growth_of(problem, binner.thresholds_, params, **categories)
    # Weights that are not whole have half a word, so 31 bits for their sum.
    rel = 1e-4 if problem.wild else 1e-6
    nodes = check_splits(tree, growth, grow_policy, rows, exact=not problem.wild, rel=rel)
    assert tree.n_leaves == len(nodes) == len(leaves.nodes)
    assert set(leaves.nodes) == set(nodes)
    if len(nodes) > 1:
        size = min(growth.size(node.rows) for node in nodes.values())
        assert size >= growth.min_samples_leaf

    # Rows of the leaves.
    in_leaf = oracle.leaf_of(tree, X)
    mine = np.arange(len(X)) if rows is None else rows
    for i, node in nodes.items():
        assert_array_equal(mine[in_leaf[mine] == i], node.rows)

    # Sums of leaves, and their means as values.
    G, H = leaves.sums(problem.target, weight), leaves.sums(np.ones(len(X)), weight)
    for i, g, h in zip(leaves.nodes, G, H, strict=True):
        assert_allclose([g, h], growth.sums(nodes[i].rows), rtol=1e-12, atol=1e-12)
    leaves.set_values(G, H)
    expected = [growth.mean(nodes[i]) for i in leaves.nodes]
    assert_allclose(tree.value[leaves.nodes], expected, rtol=1e-10, atol=1e-10)
    assert_predicts(leaves, binned, X)
    tree.value[leaves.nodes] = np.arange(1.0, len(nodes) + 1)  # each leaf can be told
    assert_predicts(leaves, binned, X)
    return binner, leaves


def assert_predicts(leaves, binned, X):
    """Every way to the values of leaves finds them, also of rows that it was not grown on."""
    tree = leaves.tree
    expected = oracle.predict(tree, X)
    scores = np.full(len(X), 0.5)
    leaves.add_to(scores, 0.1)
    assert_allclose(scores, 0.5 + 0.1 * expected, rtol=1e-14)
    scores = np.zeros(len(X))
    leaves.add_to(scores, 1.0)
    assert_array_equal(scores, expected)
    assert_array_equal(tree.predict(X), expected)
    assert_array_equal(tree.apply(binned), expected)
    assert_array_equal(tree.predict(sparse.csc_array(X)), expected)


def assert_monotonic(tree, X, cst):
    for k, sign in enumerate(cst):
        Z = X.copy()
        previous = None
        for value in np.unique(X[~np.isnan(X[:, k]), k]):
            Z[:, k] = value
            predicted = tree.predict(Z)
            if sign and previous is not None:
                assert (sign * (predicted - previous) >= 0).all()
            previous = predicted


def make(n, n_features=4, seed=0, *, missing=0.1, distinct=None):
    """A larger problem of a target that several features explain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    if distinct is not None:
        X = np.floor(X * distinct / 5)
    target = X[:, 0] + np.abs(X[:, 1 % n_features]) + 0.5 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, target
