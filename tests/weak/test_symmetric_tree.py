# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric trees against an oracle that tries every cut of every level on the raw values."""

import numpy as np
import pytest
from every_ranker import RANKERS, has, make_data
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import symmetric_tree as oracle
from strategies import examples
from tree_problems import assert_same_tree, binned_of, check, give_means, grow, tree_problems

from sklearn_ltr.weak.tree import TreeGrower

SYMMETRIC = {"grow_policy": "symmetric"}
RANKERS_OF_TREES = [R for R in RANKERS if has(R, "grow_policy")]
each_ranker_of_trees = pytest.mark.parametrize("R", RANKERS_OF_TREES, ids=lambda R: R.__name__)

parameters = {
    "max_leaf_nodes": st.sampled_from([2, 3, 4, 8, 20]),
    "max_depth": st.sampled_from([None, None, 1, 2, 3]),
    "min_samples_leaf": st.sampled_from([1, 1, 2, 3]),
    "l2_regularization": st.sampled_from([0.0, 0.0, 0.5, 3.0]),
}


@examples(200)
@given(
    problem=tree_problems(),
    params=st.fixed_dictionaries(parameters),
    max_bins=st.sampled_from([255, 255, None, 2, 3]),
    n_threads=st.sampled_from([1, 2]),
)
def test_trees_equal_the_oracle(problem, params, max_bins, n_threads):
    check(problem, oracle.check_tree, max_bins=max_bins, n_threads=n_threads, **SYMMETRIC, **params)


@examples(40)
@given(
    problem=tree_problems(max_queries=10, max_rows=8, max_features=17),
    params=st.fixed_dictionaries(parameters),
)
def test_trees_of_several_blocks_of_features(problem, params):
    check(problem, oracle.check_tree, **SYMMETRIC, **params)


@examples(80)
@given(problem=tree_problems(), params=st.fixed_dictionaries(parameters), data=st.data())
def test_monotonic_trees_equal_the_oracle(problem, params, data):
    n_features = problem.X.shape[1]
    directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    params["monotonic_cst"] = data.draw(directions)
    check(problem, oracle.check_tree, **SYMMETRIC, **params)


@examples(60)
@given(
    problem=tree_problems(),
    min_samples_leaf=st.sampled_from([1, 2, 3]),
    l2=st.sampled_from([0.0, 0.5]),
)
def test_one_level_is_one_split(problem, min_samples_leaf, l2):
    """A symmetric tree of one level and a leafwise one of two leaves are the same tree."""
    params = {"min_samples_leaf": min_samples_leaf, "l2_regularization": l2, "max_leaf_nodes": 2}
    given = problem.X, problem.target, problem.weight, problem.count
    symmetric = grow(*given, rows=problem.rows, **SYMMETRIC, **params).tree
    leafwise = grow(*given, rows=problem.rows, **params).tree
    if not problem.wild:  # there rounding may be all that a split gains
        assert_same_tree(symmetric, leafwise, ("feature", "bin", "missing_right", "left"))


def make(n, n_features=4, seed=0, *, missing=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    X[rng.random(X.shape) < missing] = np.nan
    filled = np.nan_to_num(X)
    target = filled[:, 0] * filled[:, 1] + (filled[:, 2] > 0.3) + 0.3 * rng.normal(size=n)
    return X, target, rng.random(n) + 0.05


def levels_of(tree):
    """The cuts of a tree as sets of (feature, bin, side of missing values)."""
    inner = tree.feature >= 0
    return set(
        zip(
            tree.feature[inner].tolist(),
            tree.bin[inner].tolist(),
            tree.missing_right[inner].tolist(),
            strict=True,
        )
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [255, 1000])
def test_threads_and_the_order_of_rows_change_nothing(weighted, max_bins):
    X, target, weight = make(40_000, 12)
    weight = weight if weighted else None
    params = {"max_leaf_nodes": 64, "min_samples_leaf": 30, "max_features": 0.7} | SYMMETRIC
    expected = grow(X, target, weight, max_bins=max_bins, seed=3, **params)
    give_means(expected, target, weight)
    assert len(levels_of(expected.tree)) == 6
    order = np.random.default_rng(1).permutation(len(X))
    for rows in (np.arange(len(X)), order):
        for n_threads in (1, 2, 3):
            _, binned = binned_of(X[rows], max_bins, n_threads)
            w = None if weight is None else weight[rows]
            leaves = TreeGrower(binned, n_threads, **params).grow(target[rows], w, seed=3)
            give_means(leaves, target[rows], w)
            assert_same_tree(leaves.tree, expected.tree)
            assert_array_equal(leaves.tree.value, expected.tree.value)


@pytest.mark.parametrize("min_samples_leaf", [1, 40, 400])
def test_small_sides_keep_a_leaf_whole(min_samples_leaf):
    """With weights, counts are apart from them: most cuts leave some leaf whole."""
    X, target, weight = make(2_000)
    leaves = grow(X, target, weight, max_depth=7, min_samples_leaf=min_samples_leaf, **SYMMETRIC)
    assert len(levels_of(leaves.tree)) <= 7
    assert leaves.sums().min() >= min_samples_leaf
    if min_samples_leaf > 1:
        assert leaves.tree.n_leaves < 2**7


def test_sixteen_levels():
    X, target, _ = make(600, 9)
    leaves = grow(X, target, max_depth=16, **SYMMETRIC)
    give_means(leaves, target)
    assert len(levels_of(leaves.tree)) == 16
    scores = np.zeros(len(X))
    leaves.add_to(scores, 1.0)
    assert_array_equal(leaves.tree.predict(X), scores)


@pytest.mark.parametrize(("max_features", "n_drawn"), [(0.5, 4), (0.25, 2), (0.01, 1)])
def test_features_are_drawn_for_each_level(max_features, n_drawn):
    """Of many trees of three levels no level has more to choose from, and all are drawn."""
    X, target, _ = make(300, 8, missing=0)
    seen = set()
    for seed in range(60):
        tree = grow(X, target, max_depth=3, max_features=max_features, seed=seed, **SYMMETRIC).tree
        same = grow(X, target, max_depth=3, max_features=max_features, seed=seed, **SYMMETRIC).tree
        assert_same_tree(tree, same)
        seen.add(int(tree.feature[0]))
    # The best of n_drawn features of 8 is one of the 8 - n_drawn + 1 best.
    assert len(seen) <= 8 - n_drawn + 1
    assert len(seen) > 1


def test_nothing_to_cut_by():
    constant = np.ones((30, 2))
    for X in (constant, np.full((30, 2), np.nan)):
        assert grow(X, np.arange(30.0), **SYMMETRIC).tree.n_leaves == 1
    assert grow(np.arange(30.0)[:, None], np.ones(30), **SYMMETRIC).tree.n_leaves == 1
    assert grow(np.ones((1, 1)), np.ones(1), **SYMMETRIC).tree.n_leaves == 1


@each_ranker_of_trees
def test_bad_policies_are_named(R):
    X, y, groups = make_data(R)
    with pytest.raises(ValueError, match=r"`grow_policy` must be one of .*leafwise.*symmetric"):
        R(grow_policy="depthwise").fit(X, y, groups)
    for params in ({"max_depth": 17}, {"max_leaf_nodes": 2**17}):
        with pytest.raises(ValueError, match=r"at most 16 levels.*Set `max_depth` to 16 or less"):
            R(grow_policy="symmetric", **params).fit(X, y, groups)


@each_ranker_of_trees
def test_depth_is_that_of_the_leaves_unless_given(R):
    X, y, groups = make_data(R)
    shared = {"n_estimators": 3, "min_samples_leaf": 1, "grow_policy": "symmetric"}
    by_leaves = R(max_leaf_nodes=9, **shared, **seeded(R)).fit(X, y, groups).predict(X)
    by_depth = R(max_depth=3, **shared, **seeded(R)).fit(X, y, groups).predict(X)
    assert_array_equal(by_leaves, by_depth)


def seeded(R):
    return {"random_state": 0} if has(R, "random_state") else {}
