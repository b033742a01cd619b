# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RegressionRanker with loss="absolute_error" against Friedman's Algorithm 3."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import lad as oracle
from oracles.tree import Growth, check_tree, grow, regions
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor
from strategies import examples, ranking_problems
from trees import SMALL, make, parameters, row_weights, weights

from sklearn_ltr import RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.reduction import median


def lad(*args, **params):
    return RegressionRanker(*args, **params, loss="absolute_error")


# --- medians -------------------------------------------------------------------------------------


@examples(300)
@given(data=st.data())
def test_median_equals_the_oracle(data):
    n = data.draw(st.integers(1, 12))
    of_rows = st.lists(st.integers(-8, 8).map(lambda k: k / 4), min_size=n, max_size=n)
    values = np.array(data.draw(of_rows))
    assert median(values) == np.median(values) == oracle.median(values)
    whole = np.array(data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)), dtype=float)
    repeated = np.repeat(values, whole.astype(int))
    assert median(values, whole) == np.median(repeated) == oracle.median(values, whole)
    of_floats = st.floats(1e-3, 1e3)
    weight = np.array(data.draw(st.lists(of_floats, min_size=n, max_size=n)))
    order = np.array(data.draw(st.permutations(range(n))))
    assert median(values[order], weight[order]) == median(values, weight)
    # A weight that could decide by rounding alone is as if it did not.
    if all(abs(2 * part - weight.sum()) > 1e-9 for part in np.cumsum(weight[values.argsort()])):
        assert median(values, weight) == oracle.median(values, weight)


@pytest.mark.parametrize("scale", [1.0, 0.1, 1 / 3, 1e-9, 1e9, np.pi])
@pytest.mark.parametrize("copies", [1, 1000])
def test_halves_that_rounding_makes_unequal(scale, copies):
    """.1 + .2 is more than .3, and a thousand times .1 is less than 100."""
    values, weight = np.array([1.0, 2.0, 5.0]), scale * np.array([1.0, 2.0, 3.0])
    assert median(np.repeat(values, copies), np.repeat(weight, copies)) == 3.5


def test_weights_that_differ_by_a_row_in_many():
    values, weight = np.array([1.0, 2.0]), np.array([1e9, 1e9 + 1])
    assert median(values, weight) == 2
    assert median(values, weight[::-1]) == 1


# --- rounds --------------------------------------------------------------------------------------


@examples(100)
@given(
    problem=ranking_problems(),
    params=st.fixed_dictionaries(parameters),
    gain=st.sampled_from(["exponential", "linear", {g: 1.5 * g for g in range(5)}]),
    data=st.data(),
)
def test_rounds_equal_the_oracle(problem, params, gain, data):
    X, y, groups, query_weight = problem
    if isinstance(gain, dict) and not set(y) <= gain.keys():
        return
    sample_weight, exact = data.draw(weights(len(y)))
    w, count = row_weights(query_weight, sample_weight, len(y))
    if not w.any():
        return
    model = lad(5, gain=gain, **params)
    model.fit(X, y, groups, query_weight=query_weight, sample_weight=sample_weight)
    kept = w > 0
    of_query = np.ones(len(y)) if query_weight is None else query_weight
    given_weight = (of_query * count)[kept]  # whole or in eighths; for medians scale is nothing
    X, y, w, count = X[kept], y[kept], w[kept], count[kept]
    exact = exact and query_weight is None
    target = 1.5 * y if isinstance(gain, dict) else (y if gain == "linear" else 2**y - 1)
    terms = [tree for terms in model.model_.rounds for _, tree in terms][1:]
    trees = iter(terms)
    numbers = []

    def growth_on(signs):
        names = ("max_leaf_nodes", "max_depth", "min_samples_leaf")
        rules = {name: params[name] for name in names}
        return Growth(X, signs, weight=w, count=count, l2=params["l2_regularization"], **rules)

    def fit_tree(signs):
        tree = next(trees, None)
        if tree is None:
            return [np.arange(len(X))]
        check_tree(tree, growth_on(signs), exact=exact, rel=1e-6 if exact else 1e-4)
        found = regions(tree, X)
        numbers.append((tree, [i for i, _ in found]))
        return [rows for _, rows in found]

    loop = oracle.lad_tree_boost(
        target, model.n_iter_, params["learning_rate"], fit_tree, given_weight
    )
    for staged, loss, expected in zip(
        model.staged_predict(X), model.train_loss_, loop, strict=True
    ):
        assert_allclose(staged, expected.F, rtol=1e-13, atol=1e-13)
        if numbers:
            tree, leaves = numbers.pop()
            assert_allclose(tree.value[leaves], expected.values, rtol=1e-13, atol=1e-13)
        else:
            assert model.n_iter_ == 1  # a constant
            assert_array_equal(expected.values, [0])
        assert loss == pytest.approx(np.average(abs(target - expected.F), weights=w), rel=1e-12)
    assert next(trees, None) is None
    if model.n_iter_ < 5 and exact:  # another tree would have the median 0 in each leaf
        r = target - expected.F
        for _, rows in regions(grow(growth_on(np.sign(r))), X):
            assert oracle.median(r[rows], given_weight[rows]) == 0


@pytest.mark.parametrize("max_leaf_nodes", [4, 10])
def test_with_trees_of_scikit_learn(max_leaf_nodes):
    """Not its boosting, for which a residual of 0, as the median's own row has, is negative."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=200)
    y -= y.min()
    weight = rng.uniform(0.5, 2, 200)  # so that no two splits tie

    def fit_tree(signs):
        tree = DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes, random_state=0)
        leaves = tree.fit(X, signs, sample_weight=weight).apply(X)
        return [np.flatnonzero(leaves == leaf) for leaf in np.unique(leaves)]

    params = {"max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 1, "max_bins": None}
    model = lad(15, 0.2, gain="linear", **params)
    # As query weights, which count nothing in `min_samples_leaf`.
    model.fit(X, y, np.arange(200), query_weight=weight)
    loop = oracle.lad_tree_boost(y, 15, 0.2, fit_tree, weight)
    for staged, expected in zip(model.staged_predict(X), loop, strict=True):
        assert_allclose(staged, expected.F, rtol=1e-12, atol=1e-12)


def test_starts_at_the_median():
    X, y, groups = make()
    for gain, target in (("exponential", 2**y - 1), ("linear", y)):
        start = lad(1, gain=gain).fit(X, y, groups).model_.terms[0][1].value
        assert_array_equal(start, [np.median(target)])
        weight = 1 + np.arange(len(y)) % 3
        start = lad(1, gain=gain).fit(X, y, groups, sample_weight=weight).model_.terms[0][1].value
        assert_array_equal(start, [np.median(np.repeat(target, weight))])


def test_losses_fall_and_outliers_weigh_little():
    X, y, groups = make(n_queries=60)
    y = y.copy()
    y[::40] = 30  # a gain of 10^9
    model = lad(**SMALL).fit(X, y, groups)
    losses = [np.mean(abs(2**y - 1 - s)) for s in model.staged_predict(X)]
    assert_allclose(model.train_loss_, losses, rtol=1e-12)
    assert (np.diff(losses) <= 0).all()
    usual = y < 30
    assert ndcg_score(y[usual], model.predict(X[usual]), groups[usual], k=10) > 0.8
    assert (
        model.predict(X).max() < 20 < RegressionRanker(**SMALL).fit(X, y, groups).predict(X).max()
    )


# --- what must make no difference ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_sample_weight_is_repetition_to_the_last_bit(seed):
    X, y, groups = make(seed)
    weight = np.random.default_rng(seed).integers(0, 5, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    params = SMALL | {
        "l2_regularization": 0.5 * (seed % 2),
        "monotonic_cst": [1, 0, -(seed % 2), 0],
    }
    model = lad(**params).fit(X, y, groups, sample_weight=weight)
    expected = lad(**params).fit(X[repeated], y[repeated], groups[repeated])
    assert_array_equal(model.predict(X), expected.predict(X))
    for terms, others in zip(model.model_.rounds, expected.model_.rounds, strict=True):
        for (_, tree), (_, other) in zip(terms, others, strict=True):
            assert_array_equal(tree.value, other.value)
            assert_array_equal(tree.threshold, other.threshold)


def test_scale_of_weights_does_not_matter():
    X, y, groups = make()
    of_query = np.random.default_rng(1).integers(1, 4, groups.max() + 1)[groups]
    expected = lad(**SMALL).fit(X, y, groups, query_weight=of_query).predict(X)
    for factor in (0.1, 1 / 3, np.pi, 1e6):
        model = lad(**SMALL).fit(X, y, groups, query_weight=factor * of_query)
        assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("params", [{}, {"grow_policy": "symmetric"}, {"subsample": 0.5}])
def test_order_threads_and_names(params):
    X, y, groups = make_ranking(1500, (10, 20), random_state=0)  # enough rows for two threads
    rng = np.random.default_rng(0)
    of_query = rng.uniform(0.1, 3, groups.max() + 1)[groups]
    params = {"n_estimators": 4, "random_state": 0, **params}
    expected = lad(**params).fit(X, y, groups, query_weight=of_query)
    order = rng.permutation(len(y))
    names = rng.permutation(groups.max() + 1)[groups]
    model = lad(**params, n_jobs=2)
    model.fit(X[order], y[order], names[order], query_weight=of_query[order])
    assert_array_equal(model.predict(X), expected.predict(X))
    assert_array_equal(model.train_loss_, expected.train_loss_)


def test_sparse_is_dense():
    X, y, groups = make(missing=0)
    X = np.where(abs(X) < 1, 0, X)
    expected = lad(**SMALL).fit(X, y, groups)
    assert_array_equal(
        lad(**SMALL).fit(sparse.csr_array(X), y, groups).predict(X), expected.predict(X)
    )


# --- rounds that go on, and that end -------------------------------------------------------------


def test_warm_start_and_early_stopping():
    X, y, groups = make(n_queries=60)
    at_once = lad(**SMALL | {"n_estimators": 12}).fit(X, y, groups)
    grown = lad(**SMALL | {"n_estimators": 5}, warm_start=True).fit(X, y, groups)
    grown = grown.set_params(n_estimators=12).fit(X, y, groups)
    assert_array_equal(grown.predict(X), at_once.predict(X))
    assert_array_equal(grown.train_loss_, at_once.train_loss_)
    params = SMALL | {"n_estimators": 200, "early_stopping": True, "n_iter_no_change": 3}
    stopped = lad(**params, random_state=0).fit(X, y, groups)
    assert stopped.best_iteration_ <= stopped.n_iter_ < 200
    assert stopped.best_iteration_ == stopped.validation_score_.argmax() + 1


def test_the_same_median_everywhere_is_said():
    """Where most rows have one grade, whatever the features."""
    X, y, groups = make()
    y = (np.arange(len(y)) % 5 == 0).astype(float)
    with pytest.warns(ConstantModelWarning, match="median gain may be the same in each leaf"):
        model = lad(**SMALL | {"min_samples_leaf": 30}).fit(X, y, groups)
    assert model.n_iter_ == 1
    assert_array_equal(model.predict(X), np.zeros(len(y)))
    with pytest.warns(ConstantModelWarning) as caught:
        RegressionRanker(**SMALL).fit(np.ones_like(X), y, groups)
    assert "median" not in str(caught[0].message)


def test_a_leaf_alone_may_have_a_median():
    """Signs in balance on either side of each split, and more to gain from a constant."""
    X, y = np.repeat([[0.0], [1.0]], 4, axis=0), np.array([0, 1, 3, 9.0] * 2)
    model = lad(1, gain="linear", min_samples_leaf=1).fit(X, y, np.arange(8))
    assert model.n_iter_ == 1
    model = RegressionRanker(1, 1.0, gain="linear", min_samples_leaf=1).fit(X, y, np.arange(8))
    model.set_params(loss="absolute_error", n_estimators=3, warm_start=True)
    model.fit(X, y, np.arange(8))  # from the mean, 3.25
    assert_array_equal(model.predict(X), np.full(8, 2.0))
    assert [len(terms) for terms in model.model_.rounds] == [1, 1]


def test_monotonic_constraints():
    X, y, groups = make(n_queries=60)
    cst = [1, 0, -1, 0]
    model = lad(40, 0.5, monotonic_cst=cst, min_samples_leaf=2).fit(X, y, groups)
    free = lad(40, 0.5, min_samples_leaf=2).fit(X, y, groups)
    violated = 0
    for k in (0, 2):
        Z = X[:50].copy()
        rising, of_free = [], []
        for value in np.unique(X[~np.isnan(X[:, k]), k]):
            Z[:, k] = value
            rising.append(cst[k] * model.predict(Z))
            of_free.append(cst[k] * free.predict(Z))
        for low, high in pairwise(rising):
            assert (high >= low - 1e-12).all()
        violated += (np.diff(of_free, axis=0) < -1e-3).sum()
    assert violated
    assert model.score(X, y, groups) > 0.7


@pytest.mark.parametrize("loss", ["absolute", "lad", None, "huber"])
def test_other_losses_are_refused(loss):
    with pytest.raises((ValueError, TypeError), match="`loss` must be one of"):
        RegressionRanker(loss=loss).fit(*make())
