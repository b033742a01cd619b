# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The oracles of trees and of McRank: hand-computed examples and what the paper proves."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import examples, ranking_problems

from oracles import mcrank as oracle
from oracles.tree import Growth, check_tree, grow, leaf_of, midpoints, predict, regions

NAN = np.nan
INF = np.inf


# --- trees ---------------------------------------------------------------------------------------


def column(*values):
    return np.array(values, dtype=float)[:, None]


def test_a_split_by_hand():
    # Halves: {0, 1} with mean 1, {2, 3} with mean 5; the whole has mean 3.
    tree = grow(Growth(column(1, 2, 4, 8), [0.0, 2.0, 4.0, 6.0], max_leaf_nodes=2))
    assert (tree.feature, tree.bin) == ([0, -1, -1], [1, 0, 0])
    assert (tree.threshold, tree.left) == ([3.0, 0.0, 0.0], [1, 0, 0])
    assert tree.value == [0.0, 1.0, 5.0]
    assert tree.gain == [2**2 / 2 + 10**2 / 2 - 12**2 / 4, 0.0, 0.0]
    assert not any(tree.missing_right)  # as many rows on either side
    assert predict(tree, column(3.0, 3.1, NAN)).tolist() == [1.0, 5.0, 1.0]


def test_best_first_by_hand():
    """The node of the larger gain is split first, wherever it is."""
    X = column(0, 1, 2, 3, 4, 5, 6, 7)
    target = np.array([0.0, 0, 1, 1, 10, 10, 14, 14])
    tree = grow(Growth(X, target, max_leaf_nodes=3))
    assert tree.left == [1, 0, 3, 0, 0]
    assert tree.threshold == [3.5, 0.0, 5.5, 0.0, 0.0]
    assert tree.value == [0.0, 0.5, 0.0, 10.0, 14.0]
    tree = grow(Growth(X, target, max_leaf_nodes=9))
    assert tree.left == [1, 5, 3, 0, 0, 0, 0]  # four leaves are pure
    tree = grow(Growth(X, target, max_depth=1))
    assert tree.left == [1, 0, 0]


def test_equal_nodes_are_split_in_order_of_creation():
    tree = grow(Growth(column(0, 1, 2, 3), [0.0, 1.0, 8.0, 9.0], max_leaf_nodes=3))
    assert tree.left == [1, 3, 0, 0, 0]


def test_weights_counts_and_l2_by_hand():
    X, target = column(0, 1, 2), [0.0, 1.0, 1.0]
    # Left {0}: G 0, H 2; right: G 4, H 4; all: G 4, H 6.
    tree = grow(Growth(X, target, weight=[2.0, 1.0, 3.0], max_leaf_nodes=2))
    assert tree.threshold[0] == 0.5
    assert tree.gain[0] == pytest.approx(4 - 16 / 6)
    tree = grow(Growth(X, target, weight=[2.0, 1.0, 3.0], max_leaf_nodes=2, l2=2.0))
    assert tree.gain[0] == pytest.approx(16 / 6 - 16 / 8)
    assert tree.value[2] == pytest.approx(4 / 6)
    assert grow(Growth(X, target, min_samples_leaf=2)).feature == [-1]
    tree = grow(Growth(X, target, count=[1, 1, 2], min_samples_leaf=2))
    assert tree.threshold == [1.5, 0.0, 0.0]
    assert tree.missing_right == [False] * 3  # both sides count 2


def test_missing_values_by_hand():
    X, target = column(0, 1, NAN, NAN), [0.0, 1.0, 1.0, 1.0]
    tree = grow(Growth(X, target, max_leaf_nodes=2))
    assert (tree.threshold[0], tree.missing_right[0]) == (0.5, True)
    target = [1.0, 1.0, 0.0, 0.0]
    tree = grow(Growth(X, target, max_leaf_nodes=2))
    assert (tree.threshold[0], tree.bin[0], tree.missing_right[0]) == (INF, 1, True)
    assert predict(tree, column(50, NAN)).tolist() == [1.0, 0.0]
    # Left to choose, they go to the left.
    X, target = column(0, 1, NAN), [0.0, 1.0, 0.5]
    tree = grow(Growth(X, target, max_leaf_nodes=2))
    assert not tree.missing_right[0]
    splits = list(Growth(X, target).candidates(Growth(X, target).root()))
    assert [s[:3] for s in splits] == [(0, 0, False), (0, 0, True), (0, 1, True)]


def test_missing_values_only_in_prediction_go_with_the_crowd():
    for target, side in (([0.0, 1.0, 1.0], True), ([0.0, 0.0, 1.0], False)):
        tree = grow(Growth(column(0, 1, 2), target, max_leaf_nodes=2))
        assert tree.missing_right[0] == side
    tree = grow(Growth(column(0, 1, 2), [0.0, 1.0, 1.0], count=[5, 1, 1], max_leaf_nodes=2))
    assert not tree.missing_right[0]


def test_ties_by_hand():
    # The second feature parts as the first one does, the third with sides swapped.
    x = np.array([0.0, 0.0, 1.0, 1.0])
    for columns in ([x, x], [x, 1 - x], [1 - x, x], [0 * x, x, -x]):
        tree = grow(Growth(np.column_stack(columns), [0.0, 0.0, 1.0, 1.0]))
        assert tree.feature[0] == len(columns) - 2
    # Two thresholds of the same gain: the lower; with given thresholds also across empty bins.
    target = [1.0, 0.0, 1.0]
    assert grow(Growth(column(0, 1, 2), target, max_leaf_nodes=2)).threshold[0] == 0.5
    given = [[-3.0, -1.0, 0.1, 0.2, 0.9, 1.5]]
    tree = grow(Growth(column(0, 1, 2), target, max_leaf_nodes=2, thresholds=given))
    assert (tree.bin[0], tree.threshold[0]) == (2, 0.1)


def test_monotonic_constraints_by_hand():
    X = column(0, 1, 2, 3)
    target = np.array([0.0, 4.0, 2.0, 6.0])
    free = grow(Growth(X, target))
    assert sorted(free.value[i] for i, k in enumerate(free.feature) if k < 0) == [0, 2, 4, 6]
    tree = grow(Growth(X, target, monotonic_cst=[1]))
    values = predict(tree, X)
    assert (np.diff(values) >= 0).all()
    assert values[0] < values[3]
    assert grow(Growth(X, target, monotonic_cst=[-1])).feature == [-1]
    # The first feature puts means of 2 and 7 apart, and nothing below may cross the middle.
    X = np.array([[0.0, 0.0]] * 3 + [[0.0, 1.0]] + [[1.0, 0.0]] * 4)
    target = [0.0, 0.0, 0.0, 8.0, 7.0, 7.0, 7.0, 7.0]
    tree = grow(Growth(X, target, monotonic_cst=[1, 0]))
    assert tree.feature == [0, 1, -1, -1, -1]
    assert predict(tree, X).tolist() == [0, 0, 0, 4.5, 7, 7, 7, 7]
    tree = grow(Growth(X, target, monotonic_cst=[0, 0]))
    assert predict(tree, X).tolist() == target


def test_leaves_and_regions_by_hand():
    X = column(0, 1, 2, NAN)
    tree = grow(Growth(X, [0.0, 1.0, 5.0, 9.0]))
    found = regions(tree, X)
    assert [i for i, _ in found] == sorted(i for i, k in enumerate(tree.feature) if k < 0)
    assert sorted(np.concatenate([rows for _, rows in found])) == [0, 1, 2, 3]
    for i, rows in found:
        assert (leaf_of(tree, X)[rows] == i).all()
        assert tree.nodes[i].rows == tuple(rows)


def test_thresholds_between_values():
    assert midpoints([1.0, NAN, 0.0, -0.0, 3.0]) == [0.5, 2.0]
    assert midpoints([NAN]) == midpoints([2.0, 2.0]) == []


growths = {
    "min_samples_leaf": st.integers(1, 3),
    "max_leaf_nodes": st.integers(2, 8),
    "max_depth": st.sampled_from([None, 1, 2, 3]),
    "l2": st.sampled_from([0.0, 0.5, 3.0]),
}


@examples(60)
@given(problem=ranking_problems(), params=st.fixed_dictionaries(growths), data=st.data())
def test_trees_are_what_the_rules_say(problem, params, data):
    X, y, _, _ = problem
    n = len(y)
    count = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    growth = Growth(X, y, count=count, weight=count, **params)
    tree = grow(growth)
    check_tree(tree, growth)
    found = regions(tree, X)
    assert len(found) <= params["max_leaf_nodes"]
    for i, rows in found:
        assert tree.nodes[i].rows == tuple(rows)
        assert len(found) == 1 or count[rows].sum() >= params["min_samples_leaf"]
        G, H = (count * y)[rows].sum(), count[rows].sum()
        assert tree.value[i] == pytest.approx(G / (H + params["l2"]))
    # The gains add up to what the tree takes off sum w y^2, apart from the root's own part.
    fits = [growth.fit(tree.nodes[i]) for i, _ in found]
    assert sum(tree.gain) == pytest.approx(sum(fits) - growth.fit(growth.root()), abs=1e-9)


def break_tree(tree, name, i, value):
    broken = type(tree)(**{key: list(array) for key, array in vars(tree).items()})
    getattr(broken, name)[i] = value
    return broken


def test_the_comparison_sees_what_is_wrong():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(30, 3)), 1)
    X[:, 2] = X[:, 0]
    X[rng.random((30, 3)) < 0.2] = NAN
    growth = Growth(X, rng.normal(size=30), max_leaf_nodes=4)
    tree = grow(growth)
    check_tree(tree, growth)
    for name, i, value in (
        ("feature", 0, (tree.feature[0] + 1) % 3),
        ("bin", 0, tree.bin[0] + 1),
        ("missing_right", 0, not tree.missing_right[0]),
        ("threshold", 0, tree.threshold[0] + 0.01),
        ("gain", 0, tree.gain[0] * 1.001),
        ("gain", len(tree.gain) - 1, 0.1),
        ("value", 0, 1.0),
    ):
        with pytest.raises(AssertionError):
            check_tree(break_tree(tree, name, i, value), growth)
    for other in (
        Growth(X, growth.target, max_leaf_nodes=3),
        Growth(X, growth.target, max_leaf_nodes=5),
        Growth(X, growth.target, max_leaf_nodes=4, l2=1.0),
        Growth(X, growth.target, max_leaf_nodes=4, min_samples_leaf=12),
        Growth(X, growth.target, max_leaf_nodes=4, max_depth=1),
        Growth(X, growth.target, max_leaf_nodes=4, weight=1 + rng.random(30)),
    ):
        with pytest.raises(AssertionError):
            check_tree(tree, other)


def test_the_comparison_knows_the_order_of_equal_splits():
    x = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    growth = Growth(np.column_stack([x, x]), 2 * x)
    tree = grow(growth)
    check_tree(tree, growth)
    with pytest.raises(AssertionError, match="comes first"):
        check_tree(break_tree(tree, "feature", 0, 1), growth)


# --- McRank --------------------------------------------------------------------------------------


def discounts(n, L=None):
    c = 1 / np.log2(1 + np.arange(1, n + 1))
    return np.where(np.arange(n) < (n if L is None else L), c, 0.0)


@examples(300)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12),
    truncation=st.one_of(st.none(), st.integers(1, 12)),
    data=st.data(),
)
def test_lemma_1(pairs, truncation, data):
    """Of full lists (equation 4), and with c cut off, where the product is 0."""
    y, y_hat = np.array(pairs).T
    n = len(y)
    c = discounts(n, truncation)
    breaks_ties = np.array(data.draw(st.permutations(range(n))))
    order = np.lexsort((breaks_ties, -y_hat))
    best = np.lexsort((breaks_ties, -y))
    loss = oracle.dcg(y, best, c) - oracle.dcg(y, order, c)
    assert -1e-12 <= loss <= oracle.lemma_1(y, y_hat, c) + 1e-12
    if (y == y_hat).all():
        assert loss == pytest.approx(0)


def test_dcg_and_the_bound_by_hand():
    y, c = np.array([0, 4]), np.array([1.0, 0.5])
    assert oracle.dcg(y, [0, 1], c) == 7.5
    assert oracle.dcg(y, [1, 0], c) == 15
    # 15 sqrt(2) (1 + 1/4 - 2 * 1/2)^(1/2) sqrt(2)
    assert oracle.lemma_1(y, np.array([4, 0]), c) == pytest.approx(15)
    assert oracle.lemma_1(y, np.array([1, 4]), c) == pytest.approx(15 / np.sqrt(2))


@given(
    is_class=st.lists(st.booleans(), min_size=1, max_size=20),
    n_classes=st.integers(2, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_beta_is_friedmans(is_class, n_classes, seed):
    """|r| (1 - |r|) = p (1 - p) for r = 1 - p and for r = -p."""
    p = np.random.default_rng(seed).uniform(0.01, 0.99, len(is_class))
    residual = np.array(is_class, dtype=float) - p
    expected = oracle.friedman_leaf_value(residual, n_classes)
    assert oracle.leaf_value(residual, p, n_classes) == pytest.approx(expected, rel=1e-12)


def test_beta_by_hand():
    p = np.array([0.25, 0.5])
    r = np.array([1.0, 0.0]) - p  # 3/4, -1/2
    assert oracle.leaf_value(r, p, 3) == pytest.approx(2 / 3 * (1 / 4) / (3 / 16 + 4 / 16))
    weight = np.array([2.0, 1.0])
    expected = 2 / 3 * 1.0 / (6 / 16 + 4 / 16 + 0.5)
    assert oracle.leaf_value(r, p, 3, weight, 0.5) == pytest.approx(expected)
    assert oracle.leaf_value(np.zeros(2), np.ones(2), 3) == 0
    assert oracle.leaf_value(-p, 1e-9 * p, 3, largest=5.0) == -5
    assert oracle.leaf_value(-p, 1e-9 * p, 3, l2=0.1, largest=5.0) == pytest.approx(-0.5 / 0.2)


@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(2, 6),
    a=st.floats(0.1, 10),
    b=st.floats(-10, 10),
)
def test_affine_grade_values_change_no_ranking(seed, n_classes, a, b):
    """Equation (6)."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), 10)
    T = np.cumsum(rng.random(n_classes))
    score = oracle.expected_relevance(p, T)
    moved = oracle.expected_relevance(p, a * T + b)
    assert_allclose(moved, a * score + b, rtol=1e-12, atol=1e-12)
    at_least = 1 - np.cumsum(p, axis=1)[:, :-1]
    moved = oracle.ordinal_score(at_least, a * T + b)
    assert_allclose(moved, a * score + b, rtol=1e-12, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 6))
def test_ordinal_scores_need_no_class_probabilities(seed, n_classes):
    """Sums of (5) by parts, also where the implied class probabilities are negative."""
    rng = np.random.default_rng(seed)
    at_least = rng.random((10, n_classes - 1))
    p = oracle.class_probabilities(at_least)
    if n_classes > 2:
        at_least[0].sort()  # the wrong way round
        p = oracle.class_probabilities(at_least)
        assert (p[0] < 0).any()
    assert_allclose(p.sum(axis=1), 1)
    relevance = oracle.expected_relevance(p, np.arange(n_classes))
    assert_allclose(relevance, at_least.sum(axis=1), atol=1e-14)
    T = np.sort(rng.normal(size=n_classes))
    score = oracle.ordinal_score(at_least, T)
    assert_allclose(score, oracle.expected_relevance(p, T), atol=1e-13)


def trees_on(X, log=None, **params):
    """A `fit_tree` of the oracle's own trees; the trees and targets go to `log`."""

    def fit_tree(target):
        growth = Growth(X, target, **params)
        tree = grow(growth)
        if log is not None:
            log.append((target.copy(), tree))
        return [rows for _, rows in regions(tree, X)]

    return fit_tree


def levels_of(y):
    return np.unique(y, return_inverse=True)[1]


@examples(40)
@given(
    problem=ranking_problems(grades=("three", "five"), weights=False, max_queries=3),
    l2=st.sampled_from([0.0, 1.0]),
    leaves=st.integers(2, 4),
    weighted=st.booleans(),
)
def test_two_mirrored_trees_are_one(problem, l2, leaves, weighted):
    """One tree a round does for each binary problem, where the paper grows two."""
    level = levels_of(problem.y)
    weight = 1.0 + np.arange(len(level)) % 3 if weighted else None
    K = level.max() + 1
    params = {"max_leaf_nodes": leaves, "weight": weight, "l2": l2}
    fit_tree = partial(trees_on, problem.X, **params)
    log = []
    one = oracle.ordinal(level, K, 3, 0.3, fit_tree(), weight=weight, l2=l2)
    two = oracle.ordinal_by_two_classes(level, K, 3, 0.3, fit_tree(log), weight=weight, l2=l2)
    for a, at_least in zip(one, two, strict=True):
        assert_allclose(oracle.sigmoid(a.F), at_least, rtol=1e-9)
    for (target, tree), (mirrored, other) in zip(log[::2], log[1::2], strict=True):
        assert_allclose(target, -mirrored, atol=1e-14)
        assert tree.feature == other.feature
        assert tree.threshold == other.threshold


def test_a_round_of_classification_by_hand():
    # K = 3, one row a class twice; at F = 0 every p is 1/3 and pure leaves give
    # beta = 2/3 (2/3) / (2/9) = 2 where the class is, 2/3 (-1/3) / (2/9) = -1 where it is not.
    X, level = column(0, 1, 2, 0, 1, 2), np.array([0, 1, 2, 0, 1, 2])
    expected = np.where(level[:, None] == np.arange(3), 2.0, -1.0)
    log = []
    (first,) = oracle.classification(level, 3, 1, 0.1, trees_on(X, log))
    assert_allclose(first.F, 0.1 * expected)
    for k, (target, tree) in enumerate(log):
        assert_allclose(target, (level == k) - 1 / 3)
        assert len(first.values[k]) == (np.array(tree.feature) < 0).sum()
    # Line 4 as it stands: the second class sees p after F_0 has moved.
    log.clear()
    (literal,) = oracle.classification(level, 3, 1, 0.1, trees_on(X, log), literal=True)
    assert_allclose(literal.F[:, 0], first.F[:, 0])
    p = 1 / (np.exp(0.1 * expected[:, 0]) + 2)
    assert_allclose(log[1][0], (level == 1) - p)
    assert not np.allclose(literal.F[:, 1], first.F[:, 1], rtol=1e-3)


def test_both_readings_agree_at_small_steps():
    """Of the same regions: F after a round differs by the square of the learning rate."""
    level = np.arange(12) % 5 % 3
    regions = [np.arange(5), np.arange(5, 12)]
    difference = []
    for learning_rate in (0.1, 0.01):
        args = (level, 3, 1, learning_rate, lambda target: regions)
        (one,) = oracle.classification(*args)
        (other,) = oracle.classification(*args, literal=True)
        difference.append(np.abs(one.F - other.F).max())
    assert 0.005 < difference[1] / difference[0] < 0.02


def test_two_rounds_of_regression_by_hand():
    X, y = column(0, 0, 1, 1), np.array([0.0, 1.0, 2.0, 2.0])  # targets 0, 1, 3, 3
    rounds = list(oracle.regression(y, 2, 0.5, trees_on(X)))
    assert_allclose(rounds[0].values[0], [-1.25, 1.25])  # about the mean, 1.75
    assert_allclose(rounds[0].F, [1.125, 1.125, 2.375, 2.375])
    assert_allclose(rounds[1].F, [0.8125, 0.8125, 2.6875, 2.6875])
    (linear,) = oracle.regression(y, 1, 1.0, trees_on(X), gain="linear")
    assert_allclose(linear.F, [0.5, 0.5, 2.0, 2.0])
    (shrunk,) = oracle.regression(y, 1, 1.0, trees_on(X), l2=2.0)
    assert_allclose(shrunk.F, 1.75 + np.array([-0.625, -0.625, 0.625, 0.625]))


def test_a_weight_is_a_number_of_rows():
    X, y = column(0, 1, 2, 3), np.array([0.0, 2.0, 1.0, 2.0])
    weight = np.array([1, 2, 3, 1])
    repeated = np.repeat(np.arange(4), weight)
    kept = np.unique(repeated, return_index=True)[1]
    for loop, args in (
        (oracle.regression, (y,)),
        (oracle.classification, (y, 3)),
        (oracle.ordinal, (y, 3)),
    ):
        params = {"max_leaf_nodes": 3, "l2": 0.5}
        fit_tree = trees_on(X, weight=weight, count=weight, **params)
        *_, weighted = loop(*args, 3, 0.3, fit_tree, weight=weight, l2=0.5)
        args = (y[repeated], *args[1:])
        *_, plain = loop(*args, 3, 0.3, trees_on(X[repeated], **params), l2=0.5)
        assert_allclose(weighted.F, plain.F[kept], rtol=1e-12)


def test_adaptive_bins_by_hand():
    # 0 and 1 share a bin of length 1, 2.5 starts the next, where the data are.
    values = [2.5, 0.0, NAN, 9.0, 1.0, 3.0]
    bins, length = oracle.adaptive_bins(values, 3, length=1.0)
    assert (bins, length) == ([[0.0, 1.0], [2.5, 3.0], [9.0]], 1.0)
    assert oracle.adaptive_thresholds(values, 3, length=1.0) == [1.75, 6.0]
    # Two bins: a length of 2 still makes three, one of 4 two.
    bins, length = oracle.adaptive_bins(values, 2, length=1.0)
    assert (bins, length) == ([[0.0, 1.0, 2.5, 3.0], [9.0]], 4.0)
    # Few distinct values keep a bin each.
    assert oracle.adaptive_thresholds([0.0, 1.0, 1.0, 2.0], 3) == [0.5, 1.5]
    assert oracle.adaptive_thresholds([5.0, 5.0, NAN], 1) == []


@given(
    values=st.lists(st.integers(-400, 400).map(lambda k: k / 8), min_size=1, max_size=40),
    max_bins=st.integers(1, 10),
)
def test_adaptive_bins(values, max_bins):
    bins, length = oracle.adaptive_bins(values, max_bins)
    assert len(bins) <= max_bins
    assert [v for b in bins for v in b] == sorted(values)
    assert all(b[-1] - b[0] <= length for b in bins)
    assert all(after[0] - before[0] > length for before, after in pairwise(bins))
    thresholds = oracle.adaptive_thresholds(values, max_bins)
    codes = np.searchsorted(thresholds, [b[0] for b in bins], side="left")
    assert_array_equal(codes, np.arange(len(bins)))
    if len(set(values)) <= max_bins:
        assert thresholds == midpoints(values)
