# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trees against an oracle that tries every split of every node on the raw values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import tree as oracle
from scipy import sparse
from strategies import examples
from tree_problems import (
    ARRAYS,
    TreeProblem,
    assert_monotonic,
    assert_same_tree,
    binned_of,
    give,
    give_means,
    growth_of,
    make,
    tree_problems,
)

from sklearn_ltr.weak import uncommon as module
from sklearn_ltr.weak.tree import Tree, TreeGrower


def grow(X, target, weight=None, count=None, *, max_bins=255, rows=None, seed=0, **params):
    """A tree on `X`, many small leaves allowed: its Leaves."""
    _, binned = binned_of(X, max_bins)
    grower = TreeGrower(binned, **{"min_samples_leaf": 1, **params})
    return grower.grow(target, weight, count, rows, seed)


parameters = {
    "max_leaf_nodes": st.sampled_from([2, 3, 4, 5, 20]),
    "max_depth": st.sampled_from([None, None, 1, 2, 3]),
    "min_samples_leaf": st.sampled_from([1, 1, 2, 3]),
    "l2_regularization": st.sampled_from([0.0, 0.0, 0.5, 3.0]),
}


def check(problem, *, max_bins=255, n_threads=1, **params):
    """Grow a tree and compare all there is about it."""
    X, weight, rows = problem.X, problem.weight, problem.rows
    binner, binned = binned_of(X, max_bins, n_threads)
    leaves = TreeGrower(binned, n_threads, **params).grow(
        problem.target, weight, problem.count, rows
    )
    tree = leaves.tree
    assert isinstance(tree, Tree)
    growth = growth_of(problem, binner.thresholds_, params)
    # Weights that are not whole have half a word, so 31 bits for their sum.
    nodes = oracle.check_tree(
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


@examples(300)
@given(
    problem=tree_problems(),
    params=st.fixed_dictionaries(parameters),
    max_bins=st.sampled_from([255, 255, None, 2, 3]),
    n_threads=st.sampled_from([1, 2]),
)
def test_trees_equal_the_oracle(problem, params, max_bins, n_threads):
    check(problem, max_bins=max_bins, n_threads=n_threads, **params)


@examples(60)
@given(
    problem=tree_problems(max_queries=10, max_rows=8, max_features=17),
    params=st.fixed_dictionaries(parameters),
)
def test_trees_of_several_blocks_of_features(problem, params):
    check(problem, **params)


@examples(100)
@given(
    problem=tree_problems(),
    params=st.fixed_dictionaries(parameters),
    data=st.data(),
)
def test_monotonic_trees_equal_the_oracle(problem, params, data):
    n_features = problem.X.shape[1]
    directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    cst = data.draw(directions.filter(any))
    _, leaves = check(problem, monotonic_cst=cst, **params)
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
def test_codes_of_16_bits(n_features):
    X, target = make(400, n_features)
    problem = TreeProblem(X, np.round(8 * target) / 8, None, None, None, False)
    binner, leaves = check(problem, max_bins=None, max_leaf_nodes=4, min_samples_leaf=5)
    assert binner.n_bins_.min() > 300
    assert leaves.tree.bin.max() > 0
    unseen = make(100, n_features, seed=1)[0]
    coded = binner.transform(unseen, np.arange(100))
    assert coded.codes.dtype == np.uint16
    assert_array_equal(leaves.tree.apply(coded), oracle.predict(leaves.tree, unseen))


@pytest.mark.parametrize("max_bins", [255, 1000])
def test_more_bins_than_rows(max_bins):
    """Most bins are empty: of thresholds that part the rows alike the lowest counts."""
    X, target = make(1500, 5)
    binner, _ = binned_of(X, max_bins)
    rows = np.arange(20)
    target = np.round(target[:20])
    binned = binner.transform(X, rows)
    params = {"max_leaf_nodes": 6, "min_samples_leaf": 2}
    leaves = TreeGrower(binned, **params).grow(target)
    problem = TreeProblem(X[:20], target, None, None, None, False)
    oracle.check_tree(leaves.tree, growth_of(problem, binner.thresholds_, params))


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("common", ["zero", "missing", "mixed"])
@pytest.mark.parametrize("max_bins", [255, None])
def test_features_of_mostly_one_value(max_bins, common, n_threads):
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
    if max_bins is None:  # codes of 16 bits
        X = np.vstack([X, np.full((300, n_features), X[0, 0])])
        X[80:, 36] = np.arange(300)
    target = np.round(np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 18]) + rng.normal(size=len(X)))
    rows = None if n_threads < 2 else np.flatnonzero(rng.random(len(X)) < 0.9)
    weight = None if n_threads < 3 else rng.integers(1, 4, len(X)).astype(float)
    problem = TreeProblem(X, target, weight, weight, rows, False)
    params = {"max_leaf_nodes": 8, "min_samples_leaf": 2, "n_threads": n_threads}
    check(problem, max_bins=max_bins, **params)


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


def test_unseen_rows():
    X, target = make(600, 6, seed=2, distinct=9)
    X[:, 3] = np.nan_to_num(X[:, 3])  # nothing missing in training
    target += X[:, 3]
    binner, binned = binned_of(X)
    leaves = TreeGrower(binned, max_leaf_nodes=30, min_samples_leaf=3).grow(target)
    give(leaves, np.random.default_rng(0).normal(size=30))
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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("distinct", [None, 8])
def test_threads_and_the_order_of_rows_change_nothing(weighted, distinct):
    X, target = make(30_000, 9, distinct=distinct)
    rng = np.random.default_rng(1)
    weight = rng.random(len(X)) if weighted else None
    rows = np.flatnonzero(rng.random(len(X)) < 0.9)
    found = []
    params = {"max_leaf_nodes": 30, "min_samples_leaf": 50}
    for order, n_threads in (
        (np.arange(len(X)), 1),
        (np.arange(len(X)), 2),
        (np.arange(len(X)), 3),
        (rng.permutation(len(X)), 1),
    ):
        inverse = np.argsort(order)
        _, binned = binned_of(X[order], n_threads=n_threads)
        leaves = TreeGrower(binned, n_threads, **params).grow(
            target[order],
            None if weight is None else weight[order],
            None,
            np.sort(inverse[rows]),
        )
        sums = leaves.sums(target[order], None if weight is None else weight[order])
        give(leaves, sums)
        scores = np.zeros(len(X))
        leaves.add_to(scores, 0.1)
        found.append((leaves.tree, leaves.nodes, sums, scores[inverse]))
    tree, nodes, sums, scores = found[0]
    assert tree.n_leaves == 30
    for other, other_nodes, other_sums, other_scores in found[1:]:
        assert_same_tree(other, tree)
        assert_array_equal(other_nodes, nodes)
        assert_array_equal(other_sums, sums)
        assert_array_equal(other_scores, scores)


def test_growing_on_some_rows_is_growing_on_their_matrix():
    X, target = make(500, 5, distinct=20)
    weight = np.random.default_rng(0).integers(1, 5, 500).astype(float)
    binner, binned = binned_of(X)
    rows = np.flatnonzero(np.random.default_rng(1).random(500) < 0.4)
    for w in (None, weight, weight / 7):
        part = None if w is None else w[rows]
        expected = TreeGrower(binner.transform(X, rows), min_samples_leaf=4).grow(
            target[rows], part
        )
        leaves = TreeGrower(binned, min_samples_leaf=4).grow(target, w, None, rows)
        assert_same_tree(leaves.tree, expected.tree)
        sums = expected.sums(target[rows], part)
        assert_allclose(leaves.sums(target, w), sums, rtol=1e-13, atol=1e-13)


def test_a_grower_keeps_nothing_of_its_earlier_trees():
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
    params = {"max_leaf_nodes": 15, "min_samples_leaf": 8}
    grower = TreeGrower(binned, **params)
    trees = [grower.grow(*call).tree for call in calls]
    for tree, call in zip(trees, calls, strict=True):
        assert_same_tree(tree, TreeGrower(binned, **params).grow(*call).tree)
    assert_same_tree(trees[0], trees[-1])
    assert trees[4].n_leaves == 1


@pytest.mark.parametrize("min_samples_leaf", [1, 3, 10])
def test_a_whole_weight_is_a_number_of_rows(min_samples_leaf):
    """Also for the side of values that are missing only in prediction."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        X, target = make(120, 5, seed, distinct=12)
        X[:, 0] = np.nan_to_num(X[:, 0])
        weight = rng.integers(1, 6, 120).astype(float)
        repeated = np.repeat(np.arange(120), weight.astype(int))
        binner, binned = binned_of(X)
        params = {"max_leaf_nodes": 12, "min_samples_leaf": min_samples_leaf}
        leaves = TreeGrower(binned, **params).grow(target, weight, weight)
        coded = binner.transform(X, repeated)
        expected = TreeGrower(coded, **params).grow(target[repeated])
        assert leaves.tree.n_leaves > 5
        assert_same_tree(leaves.tree, expected.tree, ARRAYS)
        assert_allclose(leaves.tree.gain, expected.tree.gain, rtol=1e-12)
        sums, expected_sums = np.zeros((2, len(leaves.tree.feature)))
        sums[leaves.nodes] = leaves.sums(target, weight)
        expected_sums[expected.nodes] = expected.sums(target[repeated])
        assert_allclose(sums, expected_sums, rtol=1e-14, atol=1e-14)
        other = TreeGrower(binned, **params).grow(target, weight, weight.copy())
        assert_same_tree(other.tree, leaves.tree, ARRAYS)


@pytest.mark.parametrize("min_samples_leaf", [1, 2, 3, 4])
@pytest.mark.parametrize("unit", [1.0, 0.3])
def test_rows_without_weight_count(min_samples_leaf, unit):
    X = np.arange(8.0)[:, None]
    target = np.array([0.0, 0, -1, 2, -1, 1, 3, 1])
    weight = unit * np.array([0.0, 0, 1, 1, 2, 1, 0, 1])
    check(TreeProblem(X, target, weight, None, None, True), min_samples_leaf=min_samples_leaf)


@pytest.mark.parametrize("factor", [5e-324, 1e-307, 1e-250, 1e140])
def test_vanishing_targets_and_weights_are_no_error(factor):
    X, target = make(400, 5)
    weight = np.random.default_rng(0).random(400) + 0.1
    for t, w in ((factor * target, None), (factor * target, weight), (target, factor * weight)):
        leaves = grow(X, t, w, max_leaf_nodes=12, min_samples_leaf=5)
        leaves.set_values(leaves.sums(t, w), leaves.sums(None, w))
        assert np.isfinite(leaves.tree.value).all()


@pytest.mark.parametrize("factor", [1e-100, 2.0**-30, 1 / 3, 2.0**40, 1e100])
def test_the_scale_of_weights_and_targets_does_not_matter(factor):
    X, target = make(400, 5)
    weight = np.random.default_rng(0).random(400) + 0.1
    params = {"max_leaf_nodes": 12, "min_samples_leaf": 5}
    for w in (None, weight):
        expected = grow(X, target, w, **params).tree
        scaled = grow(X, factor * target, w, **params).tree
        for name in ("feature", "bin", "missing_right", "left"):
            assert_array_equal(getattr(scaled, name), getattr(expected, name))
        assert_allclose(scaled.gain, factor**2 * expected.gain, rtol=1e-6)
    expected = grow(X, target, weight, **params).tree
    scaled = grow(X, target, factor * weight, **params).tree
    for name in ("feature", "bin", "missing_right", "left"):
        assert_array_equal(getattr(scaled, name), getattr(expected, name))
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
    check(problem, min_samples_leaf=1)
    check(problem, min_samples_leaf=1, monotonic_cst=[1])


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


@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_to_gain(weighted):
    x = np.array([0.0, 0, 1, 1, 2, 2])
    for column, target in (
        (x, np.zeros(6)),
        (x, np.full(6, 0.1)),
        (x, np.array([0.1, 0.3, 0.3, 0.1, 0.1, 0.3])),
        (np.full(6, 3.0), x),
        (np.full(6, np.nan), x),
    ):
        weight = np.full(6, 0.7) if weighted else None
        leaves = grow(column[:, None], target, weight)
        tree = leaves.tree
        assert (tree.n_leaves, tree.feature.tolist(), tree.left.tolist()) == (1, [-1], [0])
        assert leaves.nodes.tolist() == [0]
        give(leaves, np.array([2.5]))
        scores = np.zeros(6)
        leaves.add_to(scores, 2.0)
        assert_array_equal(scores, np.full(6, 5.0))
        assert_array_equal(tree.predict(column[:, None]), np.full(6, 2.5))


@pytest.mark.parametrize("n", [10, 300, 20_000])
def test_rounding_of_weights_is_nothing_to_gain(n):
    """Weights that are not whole are rounded, and so are targets, each by itself."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(n, 3)), rng.random(n) + 0.1
    X[:, 1] = np.sign(X[:, 1])
    assert grow(X, np.full(n, -1.5), weight).tree.n_leaves == 1
    target = np.where(X[:, 1] > 0, 1.0, 0.3)
    assert grow(X, target, weight).tree.n_leaves == 2


def test_one_row():
    leaves = grow(np.array([[1.0, np.nan]]), np.array([3.0]))
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
def test_listing_uncommon_cells_changes_nothing(monkeypatch, weighted, max_bins, n_threads):
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
        grower = TreeGrower(binned, n_threads, max_leaf_nodes=25)
        leaves = grower.grow(target, weight)
        give_means(leaves, target, weight)
        trees.append(leaves.tree)
    listed = module.UncommonCells(binned, binned.slot_starts(), 1).listed
    assert listed.all()
    assert {0, 3, 5, 10} <= set(trees[0].feature.tolist())
    for tree in trees[1:]:
        assert_same_tree(tree, trees[0], (*ARRAYS, "gain", "value"))
