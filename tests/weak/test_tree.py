# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trees of both policies against oracles that try every split on the raw values.

What only symmetric trees have is in test_symmetric_tree.py.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import tree as oracle
from oracles.symmetric_tree import levels
from scipy import sparse
from strategies import examples
from tree_problems import (
    ARRAYS,
    TreeProblem,
    any_bins,
    assert_monotonic,
    assert_same_tree,
    binned_of,
    check,
    check_splits,
    give,
    give_means,
    grow,
    grower_of,
    growth_of,
    make,
    parameters,
    tree_problems,
)

from sklearn_ltr.weak import uncommon as module

each_policy = pytest.mark.parametrize("policy", ["leafwise", "symmetric"])


@each_policy
@examples(300)
@given(
    problem=tree_problems(),
    params=st.fixed_dictionaries(parameters),
    max_bins=any_bins,
    n_threads=st.sampled_from([1, 2, 3]),
)
def test_trees_equal_the_oracle(policy, problem, params, max_bins, n_threads):
    check(problem, grow_policy=policy, max_bins=max_bins, n_threads=n_threads, **params)


@each_policy
@examples(60)
@given(
    problem=tree_problems(max_queries=10, max_rows=8, max_features=17),
    params=st.fixed_dictionaries(parameters),
)
def test_trees_of_several_blocks_of_features(policy, problem, params):
    check(problem, grow_policy=policy, **params)


@each_policy
@examples(100)
@given(
    problem=tree_problems(),
    params=st.fixed_dictionaries(parameters),
    max_bins=any_bins,
    data=st.data(),
)
def test_monotonic_trees_equal_the_oracle(policy, problem, params, max_bins, data):
    n_features = problem.X.shape[1]
    directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    cst = data.draw(directions.filter(any))
    params = {"grow_policy": policy, "monotonic_cst": cst, **params}
    _, leaves = check(problem, max_bins=max_bins, **params)
    # Whatever the rule of the leaves, the tree is monotonic.
    values = data.draw(
        st.lists(st.floats(-9, 9), min_size=leaves.tree.n_leaves, max_size=leaves.tree.n_leaves)
    )
    weights = np.arange(1.0, len(values) + 1) % 4
    leaves.set_values(np.array(values), weights)
    assert_monotonic(leaves.tree, problem.X, cst)


@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_a_larger_monotonic_tree(l2):
    X, target = make(2000, seed=1)
    cst = [1, 0, -1, 1]
    params = {"monotonic_cst": cst, "max_leaf_nodes": 40, "l2_regularization": l2}
    leaves = grow(X, target, **params)
    assert leaves.tree.n_leaves == 40
    assert {0, 1} <= set(leaves.tree.feature)
    G, n = leaves.sums(target), leaves.sums(np.ones(len(X)))
    rng = np.random.default_rng(0)
    sample = X[rng.integers(0, len(X), 200)]
    for values, weights in ((G, n), (G, n**0), (rng.normal(size=40), n), (-G, n)):
        leaves.set_values(values, weights)
        assert_monotonic(leaves.tree, sample, cst)
    free = grow(X, target, max_leaf_nodes=40)
    give_means(free, target)
    with pytest.raises(AssertionError):
        assert_monotonic(free.tree, sample, cst)


# --- what the oracle is too slow for -------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [1, 3, 4, 5])
@pytest.mark.parametrize(("policy", "max_leaf_nodes"), [("leafwise", 4), ("symmetric", 8)])
def test_codes_of_16_bits(policy, max_leaf_nodes, n_features):
    X, target = make(400, n_features)
    problem = TreeProblem(X, np.round(8 * target) / 8, None, None, None, False)
    params = {"grow_policy": policy, "max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 5}
    binner, leaves = check(problem, max_bins=None, **params)
    assert binner.n_bins_.min() > 300
    assert leaves.tree.bin.max() > 0
    unseen = make(100, n_features, seed=1)[0]
    coded = binner.transform(unseen, np.arange(100))
    assert coded.codes.dtype == np.uint16
    assert_array_equal(leaves.tree.apply(coded), oracle.predict(leaves.tree, unseen))


@each_policy
@pytest.mark.parametrize("max_bins", [255, 1000])
def test_more_bins_than_rows(policy, max_bins):
    """Most bins are empty: of thresholds that part the rows alike the lowest counts."""
    X, target = make(1500, 5)
    binner, _ = binned_of(X, max_bins)
    rows = np.arange(20)
    target = np.round(target[:20])
    params = {"max_leaf_nodes": 8, "min_samples_leaf": 2}
    leaves = grower_of(binner.transform(X, rows), grow_policy=policy, **params).grow(target)
    problem = TreeProblem(X[:20], target, None, None, None, False)
    check_splits(leaves.tree, growth_of(problem, binner.thresholds_, params), policy)


def mostly_one_value(common, n_rows_more=0):
    """Blocks of features of which one code is common, others, and one where each is."""
    rng = np.random.default_rng(0)
    n, n_features = 80, 37
    X = np.round(2 * rng.normal(size=(n, n_features)), 1)
    usual = rng.random((n, n_features)) < 0.95
    usual[:, 16:21] = False
    usual[:, 25:33] = True
    X[usual] = {"zero": 0.0, "missing": np.nan, "mixed": 1.0}[common]
    if common == "mixed":
        X[:, 3][usual[:, 3]] = np.nan
        X[:, 5][usual[:, 5]] = -3.0
    if n_rows_more:
        X = np.vstack([X, np.full((n_rows_more, n_features), X[0, 0])])
        X[n:, 36] = np.arange(n_rows_more)
    target = np.round(np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 18]) + rng.normal(size=len(X)))
    return X, target, rng


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("common", ["zero", "missing", "mixed"])
@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize(("policy", "max_leaf_nodes"), [("leafwise", 8), ("symmetric", 16)])
def test_features_of_mostly_one_value(policy, max_leaf_nodes, max_bins, common, n_threads):
    X, target, rng = mostly_one_value(common, 300 if max_bins is None else 0)  # codes of 16 bits
    rows = None if n_threads < 2 else np.flatnonzero(rng.random(len(X)) < 0.9)
    weight = None if n_threads < 3 else rng.integers(1, 4, len(X)).astype(float)
    problem = TreeProblem(X, target, weight, weight, rows, False)
    params = {"grow_policy": policy, "max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 2}
    check(problem, max_bins=max_bins, n_threads=n_threads, **params)


@each_policy
@pytest.mark.parametrize("common", ["zero", "mixed"])
def test_a_few_features_of_mostly_one_value(policy, common):
    X, target, _ = mostly_one_value(common)
    problem = TreeProblem(X, target, None, None, None, False)
    check(problem, grow_policy=policy, max_leaf_nodes=4, min_samples_leaf=2)


def test_sums_without_values_count_rows():
    X, target = make(300, 3)
    weight = np.random.default_rng(0).random(300)
    rows = np.arange(10, 290)
    leaves = grow(X, target, rows=rows)
    nodes = oracle.leaf_of(leaves.tree, X[rows])
    assert_array_equal(leaves.sums(), [np.sum(nodes == i) for i in leaves.nodes])
    expected = [weight[rows][nodes == i].sum() for i in leaves.nodes]
    assert_allclose(leaves.sums(weight=weight), expected, rtol=1e-14)


def test_a_feature_of_255_values_and_missing_ones():
    x = np.r_[np.arange(255.0), np.full(30, np.nan)]
    target = np.r_[np.zeros(254), 1.0, np.full(30, 9.0)]
    leaves = grow(x[:, None], target, max_leaf_nodes=3)
    assert leaves.tree.threshold[0] == np.inf
    assert leaves.tree.bin[0] == 254
    assert leaves.tree.threshold.tolist()[1:] == [253.5, 0, 0, 0]


@each_policy
def test_unseen_rows(policy):
    X, target = make(600, 6, seed=2, distinct=9)
    X[:, 3] = np.nan_to_num(X[:, 3])  # nothing missing in training
    target += 2 * X[:, 3]
    binner, binned = binned_of(X)
    params = {"grow_policy": policy, "max_leaf_nodes": 32, "min_samples_leaf": 3}
    leaves = grower_of(binned, **params).grow(target)
    give(leaves, np.random.default_rng(0).normal(size=len(leaves.nodes)))
    tree = leaves.tree
    assert 3 in tree.feature
    assert np.isinf(tree.threshold).any() or tree.missing_right.any()
    rng = np.random.default_rng(1)
    unseen = np.round(3 * rng.normal(size=(500, 6)), 1)
    unseen[rng.random(unseen.shape) < 0.3] = np.nan
    unseen[rng.random(unseen.shape) < 0.3] = 0.0
    unseen[0] = np.nan
    expected = oracle.predict(tree, unseen)
    for same in (unseen, np.asfortranarray(unseen), sparse.csc_matrix(unseen)):
        assert_array_equal(tree.predict(same), expected)
    assert_array_equal(tree.apply(binner.transform(unseen, np.arange(500))), expected)
    coded = binner.transform(sparse.csr_array(unseen), np.arange(500))
    assert_array_equal(tree.apply(coded), expected)
    single = unseen.astype(np.float32)
    assert_array_equal(tree.predict(single), oracle.predict(tree, single))


def test_rows_on_a_threshold_go_left():
    tree = grow(np.array([[0.0], [1.0]]), np.array([0.0, 1.0])).tree
    assert tree.threshold[0] == 0.5
    tree.value[1:] = 1, 2
    assert tree.predict(np.array([[0.5], [np.nextafter(0.5, 1)]])).tolist() == [1, 2]


@each_policy
@pytest.mark.parametrize(
    ("n_features", "distinct", "weighted", "counted", "max_features"),
    [
        (9, None, False, False, 1.0),
        (9, None, True, False, 1.0),
        (9, 8, False, False, 1.0),
        (9, 8, True, False, 1.0),
        (40, 8, False, False, 1.0),
        (40, 8, True, True, 0.5),
    ],
)
def test_threads_and_the_order_of_rows_change_nothing(
    policy, n_features, distinct, weighted, counted, max_features
):
    X, target = make(30_000, n_features, distinct=distinct)
    rng = np.random.default_rng(1)
    weight = rng.random(len(X)) if weighted else None
    count = rng.integers(1, 4, len(X)).astype(float) if counted else None
    rows = np.flatnonzero(rng.random(len(X)) < 0.9)
    params = {"leafwise": {"max_leaf_nodes": 30, "min_samples_leaf": 50},
              "symmetric": {"max_depth": 6, "min_samples_leaf": 300}}[policy]  # fmt: skip
    found = []
    as_they_are, mixed = np.arange(len(X)), rng.permutation(len(X))
    for order, n_threads in (
        (as_they_are, 1), (as_they_are, 2), (as_they_are, 3), (mixed, 1), (mixed, 2)
    ):  # fmt: skip
        inverse = np.argsort(order)
        _, binned = binned_of(X[order], n_threads=n_threads)
        w, c = (None if a is None else a[order] for a in (weight, count))
        grower = grower_of(
            binned, n_threads, grow_policy=policy, max_features=max_features, **params
        )
        leaves = grower.grow(target[order], w, c, np.sort(inverse[rows]), 5)
        sums = leaves.sums(target[order], w)
        give(leaves, sums)
        scores = np.zeros(len(X))
        leaves.add_to(scores, 0.1)
        found.append((leaves.tree, leaves.nodes, sums, scores[inverse]))
    tree, *expected = found[0]
    if policy == "leafwise":
        assert tree.n_leaves == 30
    else:
        assert len(levels(tree)) == 6
        assert tree.n_leaves < 64  # some leaves stay whole
    for other, *arrays in found[1:]:
        assert_same_tree(other, tree)
        for array, same in zip(arrays, expected, strict=True):
            assert_array_equal(array, same)


@each_policy
def test_growing_on_some_rows_is_growing_on_their_matrix(policy):
    X, target = make(500, 5, distinct=20)
    weight = np.random.default_rng(0).integers(1, 5, 500).astype(float)
    binner, binned = binned_of(X)
    rows = np.flatnonzero(np.random.default_rng(1).random(500) < 0.4)
    params = {"grow_policy": policy, "min_samples_leaf": 4}
    for w in (None, weight, weight / 7):
        part = None if w is None else w[rows]
        expected = grower_of(binner.transform(X, rows), **params).grow(target[rows], part)
        leaves = grower_of(binned, **params).grow(target, w, None, rows)
        assert leaves.tree.n_leaves > 8
        assert_same_tree(leaves.tree, expected.tree)
        sums = expected.sums(target[rows], part)
        assert_allclose(leaves.sums(target, w), sums, rtol=1e-13, atol=1e-13)


@each_policy
def test_a_grower_keeps_nothing_of_its_earlier_trees(policy):
    X, target = make(800, 5)
    _, binned = binned_of(X)
    weight = 1 + np.random.default_rng(0).random(800)
    count = np.random.default_rng(1).integers(1, 4, 800).astype(float)
    rows = np.arange(0, 800, 3)
    calls = [
        (target,),
        (-(target**2), weight),
        (target, None, count),
        (target, weight, count, rows),
        (np.zeros(800),),
        (target, None, None, rows),
        (target,),
    ]
    params = {"grow_policy": policy, "max_leaf_nodes": 40, "min_samples_leaf": 8}
    grower = grower_of(binned, **params)
    trees = [grower.grow(*call).tree for call in calls]
    for tree, call in zip(trees, calls, strict=True):
        assert_same_tree(tree, grower_of(binned, **params).grow(*call).tree)
    assert_same_tree(trees[0], trees[-1])
    assert trees[4].n_leaves == 1


@each_policy
@pytest.mark.parametrize("min_samples_leaf", [1, 3, 10])
@pytest.mark.parametrize(("n", "n_seeds"), [(60, 20), (120, 5)])
def test_a_whole_weight_is_a_number_of_rows(policy, n, n_seeds, min_samples_leaf):
    """Also for the side of values that are missing only in prediction."""
    rng = np.random.default_rng(0)
    params = {"grow_policy": policy, "min_samples_leaf": min_samples_leaf, "max_leaf_nodes": 16}
    for seed in range(n_seeds):
        X, target = make(n, 5, seed, distinct=12)
        X[:, 0] = np.nan_to_num(X[:, 0])
        weight = rng.integers(1, 6, n).astype(float)
        repeated = np.repeat(np.arange(n), weight.astype(int))
        binner, binned = binned_of(X)
        expected = grower_of(binner.transform(X, repeated), **params).grow(target[repeated])
        for count, rtol in ((weight, 1e-12), (weight.copy(), 1e-9)):
            leaves = grower_of(binned, **params).grow(target, weight, count)
            assert leaves.tree.n_leaves > (5 if (policy, n) == ("leafwise", 120) else 1)
            assert_same_tree(leaves.tree, expected.tree, ARRAYS)
            assert_allclose(leaves.tree.gain, expected.tree.gain, rtol=rtol)
            sums, expected_sums = np.zeros((2, len(leaves.tree.feature)))
            sums[leaves.nodes] = leaves.sums(target, weight)
            expected_sums[expected.nodes] = expected.sums(target[repeated])
            assert_allclose(sums, expected_sums, rtol=1e-14, atol=1e-14)


@each_policy
@pytest.mark.parametrize("min_samples_leaf", [1, 2, 3, 4])
@pytest.mark.parametrize("unit", [1.0, 0.3])
def test_rows_without_weight_count(policy, min_samples_leaf, unit):
    X = np.arange(8.0)[:, None]
    target = np.array([0.0, 0, -1, 2, -1, 1, 3, 1])
    weight = unit * np.array([0.0, 0, 1, 1, 2, 1, 0, 1])
    problem = TreeProblem(X, target, weight, None, None, True)
    check(problem, grow_policy=policy, min_samples_leaf=min_samples_leaf)


@each_policy
@pytest.mark.parametrize("factor", [5e-324, 1e-307, 1e-250, 1e140])
def test_vanishing_targets_and_weights_are_no_error(policy, factor):
    X, target = make(400, 5)
    weight = np.random.default_rng(0).random(400) + 0.1
    for t, w in ((factor * target, None), (factor * target, weight), (target, factor * weight)):
        leaves = grow(X, t, w, grow_policy=policy, max_leaf_nodes=16, min_samples_leaf=5)
        leaves.set_values(leaves.sums(t, w), leaves.sums(None, w))
        assert np.isfinite(leaves.tree.value).all()


@each_policy
@pytest.mark.parametrize("factor", [1e-100, 2.0**-30, 1 / 3, 2.0**40, 1e100])
def test_the_scale_of_weights_and_targets_does_not_matter(policy, factor):
    X, target = make(400, 5)
    weight = np.random.default_rng(0).random(400) + 0.1
    params = {"grow_policy": policy, "max_leaf_nodes": 16, "min_samples_leaf": 5}
    names = ("feature", "bin", "missing_right", "left")
    for w in (None, weight):
        expected = grow(X, target, w, **params).tree
        scaled = grow(X, factor * target, w, **params).tree
        assert_same_tree(scaled, expected, names)
        assert_allclose(scaled.gain, factor**2 * expected.gain, rtol=1e-6)
    scaled = grow(X, target, factor * weight, **params).tree
    assert_same_tree(scaled, expected, names)
    assert_allclose(scaled.gain, factor * expected.gain, rtol=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "target", [[0, 1], [1, 3], [0, 0, 0, 0.5], [0.125] * 3 + [0.625], [1, 1, 1, 5], [1, 2, 4, 1]]
)
@pytest.mark.parametrize("weight", [None, 1.0, 4.0, 0.5])
def test_targets_of_one_sign_whose_sum_is_a_power_of_two(target, weight, sign):
    """Which fill the bits there are for sums to the last."""
    n = len(target)
    X = np.arange(float(n))[:, None]
    weight = None if weight is None else np.full(n, weight)
    problem = TreeProblem(X, sign * np.array(target, dtype=float), weight, None, None, False)
    check(problem, grow_policy="leafwise", min_samples_leaf=1)
    check(problem, grow_policy="leafwise", min_samples_leaf=1, monotonic_cst=[1])


def test_a_light_row_among_heavy_ones():
    """It still counts as a row."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    target = np.array([0.0, 8.0, 8.0, -8.0])
    weight = np.array([1e12, 1e12, 1e12, 1e-3])
    leaves = grow(X, target, weight)
    give_means(leaves, target, weight)
    predicted = leaves.tree.predict(X)
    assert np.isfinite(predicted).all()
    assert_allclose(predicted[:2], [0, 8])


def test_gains_are_what_the_squared_error_loses():
    X, target = make(1000, 4)
    weight = np.random.default_rng(0).random(1000)
    for w in (None, weight):
        leaves = grow(X, target, w, max_leaf_nodes=25)
        ones = np.ones(1000) if w is None else w
        give_means(leaves, target, w)
        before = np.sum(ones * (target - np.average(target, weights=ones)) ** 2)
        after = np.sum(ones * (target - leaves.tree.predict(X)) ** 2)
        assert leaves.tree.gain.sum() == pytest.approx(before - after, rel=1e-7)


# --- features drawn for a node -------------------------------------------------------------------


def test_some_features_are_drawn_for_each_node():
    X, target = make(600, 12, missing=0)
    target = X.sum(axis=1) + 0.1 * target
    trees = [grow(X, target, max_features=0.25, seed=seed).tree for seed in range(20)]
    for seed, tree in enumerate(trees):
        assert_same_tree(grow(X, target, max_features=0.25, seed=seed).tree, tree)
        assert tree.n_leaves == 20
        assert len(set(tree.feature[tree.feature >= 0])) > 3
    roots = {int(tree.feature[0]) for tree in trees}
    assert len(roots) > 3
    everything = grow(X, target).tree
    assert_same_tree(grow(X, target, seed=1).tree, everything)
    # Three features out of twelve hold the best one every fourth time.
    best = [tree.feature[0] == everything.feature[0] for tree in trees]
    assert 0 < sum(best) < 15


@pytest.mark.slow
@pytest.mark.parametrize("max_features", [1e-9, 1 / 30])
def test_one_feature_a_node(max_features):
    X, target = make(600, 30, missing=0)
    tree = grow(X, target, max_features=max_features).tree
    assert tree.n_leaves == 20
    roots = [int(grow(X, target, max_features=max_features, seed=s).tree.feature[0])
             for s in range(300)]  # fmt: skip
    counts = np.bincount(roots, minlength=30)
    assert (counts > 0).all()
    assert counts.max() < 30  # of 10 expected


def test_drawn_features_are_few_enough():
    """Only a fifth of the features has anything to gain: a node that draws none of them ends."""
    X, target = make(300, 10, missing=0)
    X[:, 2:] = 0.0
    n_leaves = [grow(X, target, max_features=0.1, seed=s).tree.n_leaves for s in range(200)]
    # The root finds something with a chance of 1/5.
    assert 20 <= np.sum(np.array(n_leaves) > 1) <= 62


# --- nothing to gain -----------------------------------------------------------------------------


@each_policy
@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_to_gain(policy, weighted):
    x = np.array([0.0, 0, 1, 1, 2, 2])
    for column, target in (
        (x, np.zeros(6)),
        (x, np.full(6, 0.1)),
        (x, np.array([0.1, 0.3, 0.3, 0.1, 0.1, 0.3])),
        (np.full(6, 3.0), x),
        (np.full(6, np.nan), x),
    ):
        weight = np.full(6, 0.7) if weighted else None
        leaves = grow(column[:, None], target, weight, grow_policy=policy)
        tree = leaves.tree
        assert (tree.n_leaves, tree.feature.tolist(), tree.left.tolist()) == (1, [-1], [0])
        assert leaves.nodes.tolist() == [0]
        give(leaves, np.array([2.5]))
        scores = np.zeros(6)
        leaves.add_to(scores, 2.0)
        assert_array_equal(scores, np.full(6, 5.0))
        assert_array_equal(tree.predict(column[:, None]), np.full(6, 2.5))


@each_policy
@pytest.mark.parametrize("n", [10, 300, 20_000])
def test_rounding_of_weights_is_nothing_to_gain(policy, n):
    """Weights that are not whole are rounded, and so are targets, each by itself."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(n, 3)), rng.random(n) + 0.1
    X[:, 1] = np.sign(X[:, 1])
    assert grow(X, np.full(n, -1.5), weight, grow_policy=policy).tree.n_leaves == 1
    target = np.where(X[:, 1] > 0, 1.0, 0.3)
    assert grow(X, target, weight, grow_policy=policy).tree.n_leaves == 2


@each_policy
@pytest.mark.parametrize("max_depth", [None, 1, 16])
def test_one_row(policy, max_depth):
    X = np.array([[1.0, np.nan]])
    leaves = grow(X, np.array([3.0]), grow_policy=policy, max_depth=max_depth)
    assert leaves.tree.n_leaves == 1
    assert leaves.sums(np.array([3.0])).tolist() == [3.0]


def test_leaves_of_one_value_each():
    X, target = make(200, 1, missing=0)
    leaves = grow(X, target, max_leaf_nodes=500)
    assert leaves.tree.n_leaves == 200
    give(leaves, leaves.sums(target))
    assert_allclose(leaves.tree.predict(X), target, rtol=1e-14)


def test_sums_are_exact_to_the_last_digits():
    X, target = make(5000, 3)
    leaves = grow(X, target, max_leaf_nodes=7)
    nodes = oracle.leaf_of(leaves.tree, X)
    rng = np.random.default_rng(0)
    for values, weight in (
        (target, None),
        (1e-200 * target, None),
        (target, rng.random(5000)),
        (rng.lognormal(0, 5, 5000), rng.integers(1, 9, 5000).astype(float)),
        (np.zeros(5000), None),
    ):
        w = np.ones(5000) if weight is None else weight
        expected = [oracle.fsum((w * values)[nodes == i]) for i in leaves.nodes]
        size = np.sum(np.abs(w * values))
        assert_allclose(leaves.sums(values, weight), expected, rtol=0, atol=2e-15 * size)


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("policy", "params", "cut_on"),
    [
        ("leafwise", {"max_leaf_nodes": 25}, {0, 3, 5, 10}),
        ("symmetric", {"max_depth": 7, "min_samples_leaf": 20}, {0, 5, 10}),
    ],
    ids=["leafwise", "symmetric"],
)
def test_listing_uncommon_cells_changes_nothing(
    monkeypatch, policy, params, cut_on, weighted, max_bins, n_threads
):
    """Histograms of sparse features are built in another way, and are the same."""
    rng = np.random.default_rng(0)
    n = 30_000  # enough for all threads
    X = rng.normal(size=(n, 21)).round(4 if max_bins is None else 2)
    X[:, 3:19][rng.random((n, 16)) < 0.93] = 1.0
    X[:, 5][rng.random(n) < 0.9] = np.nan
    target = X[:, 3] * np.nan_to_num(X[:, 5]) + X[:, 10] + X[:, 0] + rng.normal(size=n)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    trees = []
    for most in (-1.0, 1.5, 8.0):  # no block, some, all
        monkeypatch.setattr(module, "MOST_UNCOMMON", most)
        _, binned = binned_of(X, max_bins)
        grower = grower_of(binned, n_threads, grow_policy=policy, **params)
        leaves = grower.grow(target, weight)
        give_means(leaves, target, weight)
        trees.append(leaves.tree)
    listed = module.UncommonCells(binned, binned.slot_starts(), 1).listed
    assert listed.all()
    assert cut_on <= set(trees[0].feature.tolist())
    assert trees[0].n_leaves > 20
    for tree in trees[1:]:
        assert_same_tree(tree, trees[0], (*ARRAYS, "gain", "value"))
