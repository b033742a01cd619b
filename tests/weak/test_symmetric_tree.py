# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What only symmetric trees have; what all trees have is in test_tree.py."""

from functools import partial

import numpy as np
import pytest
import tree_problems as of_any_policy
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import symmetric_tree as oracle
from strategies import examples
from tree_problems import (
    ARRAYS,
    TreeProblem,
    any_bins,
    assert_same_tree,
    binned_of,
    give_means,
    make,
    parameters,
    tree_problems,
)

from sklearn_ltr.weak.tree import Tree

check, grow, grower_of = (
    partial(function, grow_policy="symmetric")
    for function in (of_any_policy.check, of_any_policy.grow, of_any_policy.grower_of)
)


@examples(30)
@given(
    problem=tree_problems(max_features=3),
    params=st.fixed_dictionaries(
        {name: parameters[name] for name in ("min_samples_leaf", "l2_regularization")}
    ),
    constrained=st.booleans(),
    max_bins=any_bins,
    seed=st.integers(0, 3),
    max_features=st.sampled_from([1.0, 0.5]),
)
def test_one_level_is_a_leafwise_tree_of_two_leaves(
    problem, params, constrained, max_bins, seed, max_features
):
    """Bit for bit, but for the last digits of gains where counts are apart from weights."""
    _, binned = binned_of(problem.X, max_bins)
    cst = [(-1) ** k for k in range(problem.X.shape[1])] if constrained else None
    params = {**params, "monotonic_cst": cst, "max_features": max_features}
    args = problem.target, problem.weight, problem.count, problem.rows, seed
    leaves = grower_of(binned, max_depth=1, **params).grow(*args)
    expected = of_any_policy.grower_of(binned, max_leaf_nodes=2, **params).grow(*args)
    for each in (leaves, expected):
        each.set_values(each.sums(problem.target, problem.weight), each.sums(problem.weight))
    assert_same_tree(leaves.tree, expected.tree, (*ARRAYS, "value"))
    if problem.count is problem.weight or constrained or params["l2_regularization"]:
        assert_array_equal(leaves.tree.gain, expected.tree.gain)
    assert_allclose(leaves.tree.gain, expected.tree.gain, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
@pytest.mark.parametrize("weighted", [False, True])
def test_gains_of_targets_far_from_0(weighted, offset):
    """No difference of large terms is between the gain and its digits."""
    X, target = make(1000, 4)
    target = np.round(64 * target) / 64
    weight = np.ones(1000) if weighted else None  # whose rows are then counted
    params = {"max_depth": 3, "min_samples_leaf": 15}
    expected, tree = (grow(X, t, weight, **params).tree for t in (target, target + offset))
    assert_same_tree(tree, expected, ARRAYS)
    assert_allclose(tree.gain, expected.gain, rtol=1e-4 if offset == 1e7 else 1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_gains_of_a_level_are_what_the_squared_error_loses(weighted):
    X, target = make(1000, 4)
    weight = np.random.default_rng(0).random(1000) if weighted else np.ones(1000)
    _, binned = binned_of(X)

    def error(depth):
        leaves = grower_of(binned, max_depth=depth, min_samples_leaf=15).grow(target, weight)
        give_means(leaves, target, weight)
        return leaves.tree, np.sum(weight * (target - leaves.tree.predict(X)) ** 2)

    tree, _ = error(6)
    before = np.sum(weight * (target - np.average(target, weights=weight)) ** 2)
    split = oracle.levels(tree)
    assert len(split) == 6
    assert any(len(nodes) < 2**level for level, nodes in enumerate(split))  # some leaves are whole
    for depth, nodes in enumerate(split, 1):
        upper, after = error(depth)
        assert_array_equal(upper.gain[np.concatenate(split[:depth])],
                           tree.gain[np.concatenate(split[:depth])])  # fmt: skip
        assert tree.gain[nodes].sum() == pytest.approx(before - after, rel=1e-6)
        before = after


def test_one_cut_a_level():
    X, target = make(3000, 6, distinct=30)
    tree = grow(X, target, max_depth=7, min_samples_leaf=20).tree
    split = oracle.levels(tree)
    assert len(split) == 7
    assert len({oracle.cut_at(tree, nodes[0]) for nodes in split}) == 7
    level_of = {i: level for level, nodes in enumerate(split) for i in nodes}
    for i, level in level_of.items():
        assert all(level_of.get(tree.left[i] + side, 7) > level for side in (0, 1))
        assert oracle.cut_at(tree, i) == oracle.cut_at(tree, split[level][0])


# --- leaves that stay whole ----------------------------------------------------------------------


def test_a_leaf_that_is_too_small_stays_whole_and_is_cut_below():
    X = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 0, 1]], dtype=float)
    target = np.array([0.0, 9, 8, 100, 103, 103])
    leaves = grow(X, target, max_depth=3)
    tree = leaves.tree
    # The second level divides the left half alone, the third both the rest and the right half.
    assert [[oracle.cut_at(tree, n)[0] for n in nodes] for nodes in oracle.levels(tree)] == [
        [0], [1], [2, 2]
    ]  # fmt: skip
    give_means(leaves, target)
    assert tree.predict(X).tolist() == [0, 9, 8, 100, 103, 103]
    assert tree.predict(np.array([[1.0, 1, 0]])).tolist() == [100]


def test_a_side_without_weight_keeps_the_value():
    """Though its rows count, and others gain from the cut."""
    X = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1]], dtype=float)
    target = np.array([0.0, 0, 5, 5, 50, 50, 50, 50])
    for scale in (1.0, 0.7):
        for weightless in ([6, 7], [4, 5]):
            weight = np.full(8, scale)
            weight[weightless] = 0
            leaves = grow(X, target, weight, max_depth=2)
            give_means(leaves, target, weight)
            assert_allclose(leaves.tree.predict(X), [0, 0, 5, 5, 50, 50, 50, 50])
            assert leaves.tree.n_leaves == 3


def test_gains_may_be_negative():
    """`l2_regularization` takes from the sum what it costs the leaves that are better whole."""
    X = np.array([[0, 0]] * 4 + [[0, 1]] * 4 + [[1, 0]] * 4 + [[1, 1]] * 4, dtype=float)
    target = np.repeat([-20.0, 20, 10, 10], 4)
    leaves = grow(X, target, max_depth=2, l2_regularization=4.0)
    tree = leaves.tree
    assert tree.gain.min() < 0 < tree.gain.sum()
    again = Tree.from_plain(tree.to_plain(), "tree", [[0.5], [0.5]])
    assert_same_tree(again, tree)
    # With more to lose than to gain growth ends.
    target = np.repeat([-20.0, 20, 50, 50], 4)
    assert grow(X, target, max_depth=2, l2_regularization=4.0).tree.n_leaves == 2


def test_a_cut_that_costs_only_leaves_that_count_too_little():
    """These stay whole, so that their loss is no reason to look at other features first."""
    a, b, c = np.zeros((3, 16))
    a[8:] = 1
    c[4:8] = c[8:10] = 1
    b[3:7] = 1
    X = np.zeros((16, 40))
    X[:, 0], X[:, 1], X[:, 35] = a, b, c  # the last in another block
    target = np.repeat([-20.0, 20, 1000, 1000], 4)
    problem = TreeProblem(X, target, np.ones(16), None, None, False)
    _, leaves = check(problem, max_depth=2, min_samples_leaf=3, l2_regularization=0.5)
    assert [oracle.cut_at(leaves.tree, i)[0] for i in (0, 1)] == [0, 35]
    assert leaves.tree.n_leaves == 3


def test_missing_values_of_leaves_that_are_too_small_decide_nothing():
    """They go to the side of most rows of the leaves that are divided."""
    X = np.array([[0, np.nan]] * 3 + [[1, 0]] * 3 + [[1, 1]] * 5)
    target = np.array([-90.0] * 3 + [0.0] * 3 + [9.0] * 5)
    problem = TreeProblem(X, target, None, None, None, False)
    _, leaves = check(problem, max_depth=2, min_samples_leaf=2)
    assert [oracle.cut_at(leaves.tree, n[0]) for n in oracle.levels(leaves.tree)] == [
        (0, 0, True), (1, 0, True)
    ]  # fmt: skip
    assert leaves.tree.n_leaves == 3


def test_of_equal_cuts_of_a_feature_the_lower_threshold_counts():
    """Also if missing values go to the right there, and to the left at the higher one."""
    X = np.array([[0.0], [1.0], [2.0], [np.nan]])
    target = np.array([3.0, -3.0, 3.0, -3.0])
    problem = TreeProblem(X, target, None, None, None, False)
    _, leaves = check(problem, max_depth=1, min_samples_leaf=1)
    assert oracle.cut_at(leaves.tree, 0) == (0, 0, True)


@examples(10)
@given(
    seed=st.integers(0, 10**6),
    min_samples_leaf=st.sampled_from([2, 5, 9, 20]),
    l2=st.sampled_from([0.0, 0.0, 2.0]),
    constrained=st.booleans(),
    weighted=st.booleans(),
    n_threads=st.sampled_from([1, 2]),
)
def test_counts_apart_from_weights(seed, min_samples_leaf, l2, constrained, weighted, n_threads):
    """Cuts are found without regard to counts first, in several blocks of features."""
    rng = np.random.default_rng(seed)
    n, n_features = 30, 37
    X = rng.integers(0, 3, (n, n_features)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    count = rng.integers(1, 6, n).astype(float)
    weight = rng.integers(1, 9, n) / 8 if weighted else None
    problem = TreeProblem(X, rng.integers(-8, 9, n) / 8, weight, count, None, False)
    check(
        problem,
        n_threads=n_threads,
        max_depth=3,
        min_samples_leaf=min_samples_leaf,
        l2_regularization=l2,
        monotonic_cst=rng.integers(-1, 2, n_features).tolist() if constrained else None,
    )


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_counts_that_hardly_ever_suffice(l2):
    """Every block of features is counted once a level, and no more."""
    X, target = make(2000, 200, missing=0)
    weight = 0.5 + np.random.default_rng(0).random(2000)
    params = {"l2_regularization": l2, "max_depth": 6}
    leaves = grow(X, target, weight, min_samples_leaf=995, **params)
    assert leaves.tree.n_leaves == 2
    assert leaves.sums().min() >= 995
    assert grow(X, target, weight, min_samples_leaf=1001, **params).tree.n_leaves == 1
    assert grow(X, target, weight, min_samples_leaf=10**30, **params).tree.n_leaves == 1


# --- features drawn for a level ------------------------------------------------------------------


def drawn(n_features, n_levels, max_features, seed, n_threads=1, order=None):
    """The features that each level may be cut on: list of sets.

    A feature that is better than all others at every level is cut wherever it is drawn.
    """
    values = np.arange(n_levels + 1.0)
    better, other = (a.ravel() for a in np.meshgrid(values, values))
    target = 4.0**better + other
    found = [set() for _ in range(n_levels)]
    for k in range(n_features):
        X = np.tile(other[:, None], n_features)
        X[:, k] = better
        rows = np.arange(len(X)) if order is None else order
        _, binned = binned_of(X[rows], n_threads=n_threads)
        grower = grower_of(binned, n_threads, max_depth=n_levels, max_features=max_features)
        tree = grower.grow(target[rows], seed=seed).tree
        split = oracle.levels(tree)
        assert len(split) == n_levels
        for level, nodes in enumerate(split):
            if tree.feature[nodes[0]] == k:
                found[level].add(k)
    return found


@pytest.mark.parametrize("n_features", [2, 7, pytest.param(19, marks=pytest.mark.slow)])
def test_each_level_draws_as_many_features_as_asked_for(n_features):
    sets = []
    for seed in range(3):
        for n_drawn in {1, 2, n_features // 2, n_features - 1}:
            found = drawn(n_features, 3, (n_drawn + 0.01) / n_features, seed)
            assert [len(features) for features in found] == [n_drawn] * 3
            if n_drawn == 1:
                sets += map(tuple, found)
    assert len(set(sets)) > 1
    assert any(sets[i] != sets[i + 1] for i in range(0, len(sets), 3))  # anew for each level
    found = drawn(n_features, 3, 1.0, 0)
    assert found == [set(range(n_features))] * 3


def test_drawn_features_depend_on_the_seed_alone():
    expected = drawn(7, 3, 0.5, 3)
    order = np.random.default_rng(0).permutation(16)
    assert drawn(7, 3, 0.5, 3, n_threads=3) == expected
    assert drawn(7, 3, 0.5, 3, order=order) == expected
    assert drawn(7, 3, 0.5, 4) != expected


# --- shapes at the edge --------------------------------------------------------------------------


def test_all_levels_there_may_be():
    """Each level parts one row from the others, so that most leaves stay whole."""
    x = np.arange(17.0)[:, None]
    target = 3.0 ** np.arange(17)
    leaves = grow(x, target, max_depth=16)
    assert len(oracle.levels(leaves.tree)) == 16
    give_means(leaves, target)
    assert_allclose(leaves.tree.predict(x), target, rtol=1e-13)
    codes = np.arange(2**16)
    bits = (codes[:, None] >> np.arange(16) & 1).astype(float)
    leaves = grow(bits, codes.astype(float), max_depth=16)
    assert leaves.tree.n_leaves == 2**16
    assert leaves.tree.feature[:3].tolist() == [15, 14, 14]
    give_means(leaves, codes.astype(float))
    assert_array_equal(leaves.tree.predict(bits), codes)


def test_depth_is_what_the_leaves_have_room_for():
    X, target = make(300, 5)
    for most, depth in ((2, 1), (3, 1), (4, 2), (15, 3), (16, 4), (31, 4)):
        tree = grow(X, target, max_leaf_nodes=most).tree
        assert tree.n_leaves <= most
        assert_same_tree(tree, grow(X, target, max_leaf_nodes=99, max_depth=depth).tree)
        assert len(oracle.levels(tree)) == depth
