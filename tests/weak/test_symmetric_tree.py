# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric trees against an oracle that tries every cut of every level on the raw values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import symmetric_tree as oracle
from oracles.tree import leaf_of, predict
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

from sklearn_ltr.weak import uncommon
from sklearn_ltr.weak.tree import Tree, TreeGrower

parameters = {
    "max_depth": st.sampled_from([1, 2, 3, 4, 16]),
    "min_samples_leaf": st.sampled_from([1, 1, 2, 3, 5]),
    "l2_regularization": st.sampled_from([0.0, 0.0, 0.5, 3.0]),
}
any_bins = st.sampled_from([255, 255, None, 2, 3])


def grow(X, target, weight=None, count=None, *, max_bins=255, rows=None, seed=0, **params):
    """A symmetric tree on `X`, many small leaves allowed: its Leaves."""
    _, binned = binned_of(X, max_bins)
    return grower_of(binned, **params).grow(target, weight, count, rows, seed)


def grower_of(binned, n_threads=1, **params):
    return TreeGrower(
        binned, n_threads, **{"grow_policy": "symmetric", "min_samples_leaf": 1, **params}
    )


def check(problem, *, max_bins=255, n_threads=1, max_depth=None, **params):
    """Grow a tree and compare all there is about it."""
    X, weight, rows = problem.X, problem.weight, problem.rows
    binner, binned = binned_of(X, max_bins, n_threads)
    leaves = grower_of(binned, n_threads, max_depth=max_depth, **params).grow(
        problem.target, weight, problem.count, rows
    )
    tree = leaves.tree
    assert isinstance(tree, Tree)
    depth = max_depth
    if depth is None:
        depth = int(np.log2(params.pop("max_leaf_nodes", 20)))
    growth = growth_of(problem, binner.thresholds_, params)
    # Weights that are not whole have half a word, so 31 bits for their sum.
    rel = 1e-4 if problem.wild else 1e-6
    nodes = oracle.check_tree(tree, growth, depth, rows, exact=not problem.wild, rel=rel)
    assert tree.n_leaves == len(nodes) == len(leaves.nodes)
    assert set(leaves.nodes) == set(nodes)
    if len(nodes) > 1:
        size = min(growth.size(node.rows) for node in nodes.values())
        assert size >= growth.min_samples_leaf

    # Rows of the leaves, also of rows that the tree was not grown on.
    in_leaf = leaf_of(tree, X)
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
    expected = predict(tree, X)
    scores = np.full(len(X), 0.5)
    leaves.add_to(scores, 0.1)
    assert_allclose(scores, 0.5 + 0.1 * expected, rtol=1e-14)
    tree.value[leaves.nodes] = np.arange(1.0, len(nodes) + 1)  # each leaf can be told
    expected = predict(tree, X)
    scores = np.zeros(len(X))
    leaves.add_to(scores, 1.0)
    assert_array_equal(scores, expected)
    assert_array_equal(tree.predict(X), expected)
    assert_array_equal(tree.apply(binned), expected)
    assert_array_equal(tree.predict(sparse.csc_array(X)), expected)
    return binner, leaves


@examples(50)
@given(
    problem=tree_problems(),
    params=st.fixed_dictionaries(parameters),
    max_bins=any_bins,
    n_threads=st.sampled_from([1, 2, 3]),
)
def test_trees_equal_the_oracle(problem, params, max_bins, n_threads):
    check(problem, max_bins=max_bins, n_threads=n_threads, **params)


@examples(20)
@given(
    problem=tree_problems(max_queries=8, max_rows=8, max_features=17),
    params=st.fixed_dictionaries(parameters),
)
def test_trees_of_several_blocks_of_features(problem, params):
    check(problem, **params)


@examples(30)
@given(
    problem=tree_problems(),
    params=st.fixed_dictionaries(parameters),
    max_bins=any_bins,
    data=st.data(),
)
def test_monotonic_trees_equal_the_oracle(problem, params, max_bins, data):
    n_features = problem.X.shape[1]
    directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    cst = data.draw(directions.filter(any))
    _, leaves = check(problem, max_bins=max_bins, monotonic_cst=cst, **params)
    # Whatever the rule of the leaves, the tree is monotonic.
    values = data.draw(
        st.lists(st.floats(-9, 9), min_size=leaves.tree.n_leaves, max_size=leaves.tree.n_leaves)
    )
    weights = np.arange(1.0, len(values) + 1) % 4
    leaves.set_values(np.array(values), weights)
    assert_monotonic(leaves.tree, problem.X, cst)


@examples(30)
@given(
    problem=tree_problems(max_features=3),
    params=st.fixed_dictionaries({k: v for k, v in parameters.items() if k != "max_depth"}),
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
    expected = TreeGrower(binned, max_leaf_nodes=2, **params).grow(*args)
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


# --- what the oracle is too slow for -------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [1, 3, 5])
def test_codes_of_16_bits(n_features):
    X, target = make(400, n_features)
    problem = TreeProblem(X, np.round(8 * target) / 8, None, None, None, False)
    binner, leaves = check(problem, max_bins=None, max_depth=3, min_samples_leaf=5)
    assert binner.n_bins_.min() > 300
    unseen = make(100, n_features, seed=1)[0]
    coded = binner.transform(unseen, np.arange(100))
    assert coded.codes.dtype == np.uint16
    assert_array_equal(leaves.tree.apply(coded), predict(leaves.tree, unseen))


@pytest.mark.parametrize("max_bins", [255, 1000])
def test_more_bins_than_rows(max_bins):
    """Most bins are empty: of thresholds that part the rows alike the lowest counts."""
    X, target = make(1500, 5)
    binner, _ = binned_of(X, max_bins)
    rows = np.arange(20)
    target = np.round(target[:20])
    params = {"max_depth": 3, "min_samples_leaf": 2}
    leaves = grower_of(binner.transform(X, rows), **params).grow(target)
    problem = TreeProblem(X[:20], target, None, None, None, False)
    growth = growth_of(problem, binner.thresholds_, {"min_samples_leaf": 2})
    oracle.check_tree(leaves.tree, growth, 3)


def sparse_like(common, n_rows_more):
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
def test_features_of_mostly_one_value(max_bins, common, n_threads):
    X, target, rng = sparse_like(common, 300 if max_bins is None else 0)  # codes of 16 bits
    rows = None if n_threads < 2 else np.flatnonzero(rng.random(len(X)) < 0.9)
    weight = None if n_threads < 3 else rng.integers(1, 4, len(X)).astype(float)
    problem = TreeProblem(X, target, weight, weight, rows, False)
    check(problem, max_bins=max_bins, max_depth=4, min_samples_leaf=2, n_threads=n_threads)


@pytest.mark.parametrize("common", ["zero", "mixed"])
def test_a_few_features_of_mostly_one_value(common):
    X, target, _ = sparse_like(common, 0)
    check(TreeProblem(X, target, None, None, None, False), max_depth=2, min_samples_leaf=2)


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_listing_uncommon_cells_changes_nothing(monkeypatch, weighted, max_bins, n_threads):
    rng = np.random.default_rng(0)
    n = 30_000  # enough for all threads
    X = rng.normal(size=(n, 21)).round(4 if max_bins is None else 2)
    X[:, 3:19][rng.random((n, 16)) < 0.93] = 1.0
    X[:, 5][rng.random(n) < 0.9] = np.nan
    target = X[:, 3] * np.nan_to_num(X[:, 5]) + X[:, 10] + X[:, 0] + rng.normal(size=n)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    trees = []
    for most in (-1.0, 1.5, 8.0):  # no block, some, all
        monkeypatch.setattr(uncommon, "MOST_UNCOMMON", most)
        _, binned = binned_of(X, max_bins)
        leaves = grower_of(binned, n_threads, max_depth=7, min_samples_leaf=20).grow(target, weight)
        give_means(leaves, target, weight)
        trees.append(leaves.tree)
    assert uncommon.UncommonCells(binned, binned.slot_starts(), 1).listed.all()
    assert trees[0].n_leaves > 20
    for tree in trees[1:]:
        assert_same_tree(tree, trees[0], (*ARRAYS, "gain", "value"))


@pytest.mark.parametrize(("counted", "max_features"), [(False, 1.0), (True, 0.5)])
def test_threads_and_the_order_of_rows_change_nothing(counted, max_features):
    X, target = make(30_000, 40, distinct=8)
    rng = np.random.default_rng(1)
    weight = rng.random(len(X)) if counted else None
    count = rng.integers(1, 4, len(X)).astype(float) if counted else None
    rows = np.flatnonzero(rng.random(len(X)) < 0.9)
    found = []
    params = {"max_depth": 6, "min_samples_leaf": 300, "max_features": max_features}
    for order, n_threads in (
        (np.arange(len(X)), 1),
        (np.arange(len(X)), 2),
        (np.arange(len(X)), 3),
        (rng.permutation(len(X)), 2),
    ):
        inverse = np.argsort(order)
        _, binned = binned_of(X[order], n_threads=n_threads)
        w, c = (None if a is None else a[order] for a in (weight, count))
        leaves = grower_of(binned, n_threads, **params).grow(
            target[order], w, c, np.sort(inverse[rows]), 5
        )
        sums = leaves.sums(target[order], w)
        give(leaves, sums)
        scores = np.zeros(len(X))
        leaves.add_to(scores, 0.1)
        found.append((leaves.tree, leaves.nodes, sums, scores[inverse]))
    tree, *expected = found[0]
    assert len(oracle.levels(tree)) == 6
    assert tree.n_leaves < 64  # some leaves stay whole
    for other, *arrays in found[1:]:
        assert_same_tree(other, tree)
        for array, same in zip(arrays, expected, strict=True):
            assert_array_equal(array, same)


def test_growing_on_some_rows_is_growing_on_their_matrix():
    X, target = make(500, 5, distinct=20)
    weight = np.random.default_rng(0).integers(1, 5, 500).astype(float)
    binner, binned = binned_of(X)
    rows = np.flatnonzero(np.random.default_rng(1).random(500) < 0.4)
    for w in (None, weight, weight / 7):
        part = None if w is None else w[rows]
        expected = grower_of(binner.transform(X, rows), min_samples_leaf=4).grow(target[rows], part)
        leaves = grower_of(binned, min_samples_leaf=4).grow(target, w, None, rows)
        assert leaves.tree.n_leaves > 8
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
    params = {"max_leaf_nodes": 40, "min_samples_leaf": 8}
    grower = grower_of(binned, **params)
    trees = [grower.grow(*call).tree for call in calls]
    for tree, call in zip(trees, calls, strict=True):
        assert_same_tree(tree, grower_of(binned, **params).grow(*call).tree)
    assert_same_tree(trees[0], trees[-1])
    assert trees[4].n_leaves == 1


@pytest.mark.parametrize("min_samples_leaf", [1, 3, 10])
def test_a_whole_weight_is_a_number_of_rows(min_samples_leaf):
    """Also for the side of values that are missing only in prediction."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, target = make(60, 5, seed, distinct=12)
        X[:, 0] = np.nan_to_num(X[:, 0])
        weight = rng.integers(1, 6, 60).astype(float)
        repeated = np.repeat(np.arange(60), weight.astype(int))
        binner, binned = binned_of(X)
        params = {"max_leaf_nodes": 16, "min_samples_leaf": min_samples_leaf}
        expected = grower_of(binner.transform(X, repeated), **params).grow(target[repeated])
        for count in (weight, weight.copy()):
            leaves = grower_of(binned, **params).grow(target, weight, count)
            assert leaves.tree.n_leaves > 1
            assert_same_tree(leaves.tree, expected.tree, ARRAYS)
            assert_allclose(leaves.tree.gain, expected.tree.gain, rtol=1e-9)


@pytest.mark.parametrize("factor", [5e-324, 1e-307, 1e-250, 1e140])
def test_vanishing_targets_and_weights_are_no_error(factor):
    X, target = make(400, 5)
    weight = np.random.default_rng(0).random(400) + 0.1
    for t, w in ((factor * target, None), (factor * target, weight), (target, factor * weight)):
        leaves = grow(X, t, w, max_depth=4, min_samples_leaf=5)
        leaves.set_values(leaves.sums(t, w), leaves.sums(None, w))
        assert np.isfinite(leaves.tree.value).all()


@pytest.mark.parametrize("factor", [1e-100, 2.0**-30, 1 / 3, 2.0**40, 1e100])
def test_the_scale_of_weights_and_targets_does_not_matter(factor):
    X, target = make(400, 5)
    weight = np.random.default_rng(0).random(400) + 0.1
    params = {"max_depth": 4, "min_samples_leaf": 5}
    names = ("feature", "bin", "missing_right", "left")
    for w in (None, weight):
        expected = grow(X, target, w, **params).tree
        scaled = grow(X, factor * target, w, **params).tree
        assert_same_tree(scaled, expected, names)
        assert_allclose(scaled.gain, factor**2 * expected.gain, rtol=1e-6)
    scaled = grow(X, target, factor * weight, **params).tree
    assert_same_tree(scaled, expected, names)
    assert_allclose(scaled.gain, factor * expected.gain, rtol=1e-6)


def test_unseen_rows():
    X, target = make(600, 6, seed=2, distinct=9)
    X[:, 3] = np.nan_to_num(X[:, 3])  # nothing missing in training
    target += 2 * X[:, 3]
    binner, binned = binned_of(X)
    leaves = grower_of(binned, max_depth=5, min_samples_leaf=3).grow(target)
    give(leaves, np.random.default_rng(0).normal(size=len(leaves.nodes)))
    tree = leaves.tree
    assert 3 in tree.feature
    rng = np.random.default_rng(1)
    unseen = np.round(3 * rng.normal(size=(500, 6)), 1)
    unseen[rng.random(unseen.shape) < 0.3] = np.nan
    unseen[0] = np.nan
    expected = predict(tree, unseen)
    for same in (unseen, np.asfortranarray(unseen), sparse.csc_matrix(unseen)):
        assert_array_equal(tree.predict(same), expected)
    assert_array_equal(tree.apply(binner.transform(unseen, np.arange(500))), expected)


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


# --- nothing to gain, and shapes at the edge -----------------------------------------------------


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
        assert_array_equal(tree.predict(column[:, None]), np.full(6, 2.5))


@pytest.mark.parametrize("n", [10, 300, 20_000])
def test_rounding_of_weights_is_nothing_to_gain(n):
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(n, 3)), rng.random(n) + 0.1
    X[:, 1] = np.sign(X[:, 1])
    assert grow(X, np.full(n, -1.5), weight).tree.n_leaves == 1
    target = np.where(X[:, 1] > 0, 1.0, 0.3)
    assert grow(X, target, weight).tree.n_leaves == 2


@pytest.mark.parametrize("max_depth", [1, 16])
def test_one_row(max_depth):
    leaves = grow(np.array([[1.0, np.nan]]), np.array([3.0]), max_depth=max_depth)
    assert leaves.tree.n_leaves == 1
    assert leaves.sums(np.array([3.0])).tolist() == [3.0]


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
