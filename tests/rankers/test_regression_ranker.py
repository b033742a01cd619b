# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RegressionRanker against Algorithm 2 of the McRank paper in slow NumPy, and in scikit-learn."""

from functools import partial

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import mcrank as oracle
from oracles.tree import Growth, check_tree, regions
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import examples, ranking_problems
from trees import GRID, INVALID, SMALL, make, parameters, row_weights, weights

from sklearn_ltr import RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.scorers import get_scorer


def trees_of(model):
    """The trees of each round, without the constant of the first."""
    return [[tree for _, tree in terms if tree.n_leaves > 1] for terms in model.model_.rounds]


@examples(100)
@given(
    problem=ranking_problems(),
    params=st.fixed_dictionaries(parameters),
    gain=st.sampled_from(["exponential", "linear"]),
    data=st.data(),
)
def test_rounds_equal_the_oracle(problem, params, gain, data):
    X, y, groups, query_weight = problem
    sample_weight, exact = data.draw(weights(len(y)))
    w, count = row_weights(query_weight, sample_weight, len(y))
    if not w.any():
        return
    model = RegressionRanker(5, gain=gain, **params)
    model.fit(X, y, groups, query_weight=query_weight, sample_weight=sample_weight)
    kept = w > 0
    X, y, w, count = X[kept], y[kept], w[kept], count[kept]
    exact = exact and query_weight is None
    trees = iter([tree for terms in trees_of(model) for tree in terms])
    numbers = []

    def growth_on(target):
        names = ("max_leaf_nodes", "max_depth", "min_samples_leaf")
        rules = {name: params[name] for name in names}
        return Growth(X, target, weight=w, count=count, l2=params["l2_regularization"], **rules)

    def fit_tree(target):
        tree = next(trees, None)
        if tree is None:  # of a model that is a constant
            return [np.arange(len(X))]
        check_tree(tree, growth_on(target), exact=exact, rel=1e-6 if exact else 1e-4)
        found = regions(tree, X)
        numbers.append((tree, [i for i, _ in found]))
        return [rows for _, rows in found]

    loop = oracle.regression(
        y,
        model.n_iter_,
        params["learning_rate"],
        fit_tree,
        gain=gain,
        weight=w,
        l2=params["l2_regularization"],
    )
    F = np.full(len(y), np.average(2**y - 1 if gain == "exponential" else y, weights=w))
    target = 2**y - 1 if gain == "exponential" else y
    for staged, expected in zip(model.staged_predict(X), loop, strict=True):
        F = expected.F
        assert_allclose(staged, F, rtol=1e-10, atol=1e-10)
        if numbers:
            tree, leaves = numbers.pop()
            assert_allclose(tree.value[leaves], expected.values[0], rtol=1e-10, atol=1e-10)
    assert next(trees, None) is None
    if model.n_iter_ < 5:  # no tree gains anything any more
        growth = growth_on(target - F)
        root = growth.root()
        assert all(s.gain <= 1e-9 * growth_on(target).scale(root.rows) for s in growth.splits(root))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("l", [4, 10])
def test_equals_gradient_boosting_of_scikit_learn(l, weighted):
    """Which grows its trees best-first, too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    y = np.clip(np.round(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=200)), 0, 4)
    weight = rng.integers(1, 4, 200) / 2 if weighted else None
    shared = {"n_estimators": 15, "learning_rate": 0.2, "max_leaf_nodes": l, "max_depth": None}
    expected = GradientBoostingRegressor(**shared, random_state=0)
    expected.fit(X, 2.0**y - 1, sample_weight=weight)
    model = RegressionRanker(**shared, min_samples_leaf=1, max_bins=None)
    # As query weights, which count nothing in `min_samples_leaf`.
    model.fit(X, y, np.arange(200), query_weight=weight)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9)
    assert_allclose(model.feature_importances_.sum(), 1)


def test_starts_at_the_mean():
    X, y, groups = make()
    for gain, target in (("exponential", 2**y - 1), ("linear", y)):
        model = RegressionRanker(1, 1e-12, gain=gain).fit(X, y, groups)
        assert_allclose(model.predict(X), np.full(len(y), target.mean()))
        weight = np.arange(len(y)) % 3
        model.fit(X, y, groups, sample_weight=weight)
        assert_allclose(model.predict(X), np.full(len(y), np.average(target, weights=weight)))


def test_linear_gain_is_a_regression_on_the_grades():
    X, y, groups = make()
    scores = RegressionRanker(**SMALL, gain="linear").fit(X, y, groups).predict(X)
    moved = RegressionRanker(**SMALL, gain="linear").fit(X, 3 * y - 5, groups).predict(X)
    assert_allclose(moved, 3 * scores - 5, rtol=1e-9, atol=1e-9)
    exponential = RegressionRanker(**SMALL, gain="linear").fit(X, 2**y - 1, groups)
    expected = RegressionRanker(**SMALL).fit(X, y, groups)
    assert_allclose(exponential.predict(X), expected.predict(X), rtol=1e-12)
    assert not np.allclose(expected.predict(X), scores, rtol=1e-3)


def test_groups_do_not_matter_to_a_pointwise_loss():
    X, y, groups = make()
    expected = RegressionRanker(**SMALL).fit(X, y, groups).predict(X)
    for ids in (np.arange(len(y)), np.zeros(len(y)), y):
        other = RegressionRanker(**SMALL).fit(X, y, ids)
        assert_allclose(other.predict(X), expected, rtol=1e-12)


def assert_same_trees(model, expected):
    assert model.n_iter_ == expected.n_iter_
    for one, other in zip(trees_of(model), trees_of(expected), strict=True):
        for a, b in zip(one, other, strict=True):
            for name in ("feature", "bin", "threshold", "missing_right", "left"):
                assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@pytest.mark.parametrize("min_samples_leaf", [1, 3])
@pytest.mark.parametrize("max_bins", [255, 8])
@pytest.mark.parametrize("binning", ["quantile", "adaptive"])
@pytest.mark.parametrize("seed", range(3))
def test_sample_weight_is_repetition(seed, binning, max_bins, min_samples_leaf):
    """Also for the side of values that are missing only in prediction."""
    X, y, groups = make(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 5, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    params = SMALL | {
        "min_samples_leaf": min_samples_leaf,
        "max_bins": max_bins,
        "binning": binning,
        "l2_regularization": 0.5 * seed,
    }
    model = RegressionRanker(**params)
    model.fit(X, y, groups, sample_weight=weight)
    expected = RegressionRanker(**params).fit(X[repeated], y[repeated], groups[repeated])
    assert_same_trees(model, expected)
    unseen = make(seed + 10, missing=0.3)[0]
    unseen[::3, 3] = np.nan
    for Z in (X, unseen):
        assert_allclose(model.predict(Z), expected.predict(Z), rtol=1e-12, atol=1e-12)
    assert_allclose(model.train_loss_, expected.train_loss_, rtol=1e-12)


def test_sample_weight_is_repetition_under_query_weights():
    """Which are not whole; there are no ties for their rounding to decide."""
    X, y, groups = make(3, n_queries=60, missing=0)
    rng = np.random.default_rng(0)
    X += 0.1 * rng.random(X.shape)
    weight = rng.integers(0, 5, len(y))
    query_weight = rng.choice([0.5, 1.0, 3.0], groups.max() + 1)[groups]
    repeated = np.repeat(np.arange(len(y)), weight)
    params = SMALL | {"l2_regularization": 1.0}
    model = RegressionRanker(**params)
    model.fit(X, y, groups, query_weight=query_weight, sample_weight=weight)
    expected = RegressionRanker(**params).fit(
        X[repeated], y[repeated], groups[repeated], query_weight=query_weight[repeated]
    )
    assert_same_trees(model, expected)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-10)


def test_scale_of_weights_does_not_matter():
    X, y, groups = make()
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    of_query = np.random.default_rng(1).uniform(0.2, 3.0, groups.max() + 1)[groups]
    params = SMALL | {"min_samples_leaf": 1}
    l2 = {"l2_regularization": 1.0}
    expected = RegressionRanker(**params, **l2)
    expected.fit(X, y, groups, query_weight=of_query, sample_weight=np.ceil(weight))
    for factor in (1e-6, 1 / 3, 1000.0):
        model = RegressionRanker(**params, **l2)
        model.fit(X, y, groups, query_weight=factor * of_query, sample_weight=np.ceil(weight))
        assert_same_trees(model, expected)
        assert_allclose(model.predict(X), expected.predict(X), rtol=1e-12)
    # A leaf of weight 1 is enough, so that weights above 1 may grow.
    expected = RegressionRanker(**params).fit(X, y, groups, sample_weight=1 + weight)
    for factor in (np.pi, 1000.0):
        model = RegressionRanker(**params).fit(X, y, groups, sample_weight=factor * (1 + weight))
        assert_same_trees(model, expected)
        assert_allclose(model.predict(X), expected.predict(X), rtol=1e-12)


def test_query_weights_count_nothing_in_a_leaf():
    X, y, groups = make(missing=0)
    params = SMALL | {"min_samples_leaf": 20, "n_estimators": 3}
    model = RegressionRanker(**params).fit(X, y, groups, query_weight=np.full(len(y), 100.0))
    expected = RegressionRanker(**params).fit(X, y, groups)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-10)
    many = RegressionRanker(**params).fit(X, y, groups, sample_weight=np.full(len(y), 100.0))
    assert not np.allclose(many.predict(X), expected.predict(X))
    for (tree,) in trees_of(model):
        assert min(len(rows) for _, rows in regions(tree, X)) >= 20


@pytest.mark.parametrize(
    "weight", [lambda n: -np.ones(n), lambda n: np.zeros(n), lambda n: np.full(n, np.nan),
               lambda n: np.ones(n - 1), lambda n: np.ones((n, 2)), lambda n: np.full(n, np.inf)]
)  # fmt: skip
def test_wrong_sample_weights_are_refused(weight):
    X, y, groups = make()
    with pytest.raises(ValueError, match="sample_weight"):
        RegressionRanker(1).fit(X, y, groups, sample_weight=weight(len(y)))


def test_weights_that_leave_nothing():
    X, y, groups = make()
    first = (groups == 0).astype(float)
    with pytest.raises(ValueError, match="weight"):
        RegressionRanker(1).fit(X, y, groups, query_weight=first, sample_weight=1 - first)


def test_stages_and_importances():
    X, y, groups = make(n_queries=60)
    model = RegressionRanker(**SMALL).fit(X, y, groups)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_ == 8
    assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
    losses = [np.mean((2**y - 1 - scores) ** 2) for scores in stages]
    assert_allclose(model.train_loss_, losses, rtol=1e-10)
    assert (np.diff(losses) < 0).all()

    gains, splits = np.zeros(4), np.zeros(4)
    for (tree,) in trees_of(model):
        for feature, gain in zip(tree.feature, tree.gain, strict=True):
            if feature >= 0:
                gains[feature] += gain
                splits[feature] += 1
    assert_allclose(model.feature_importances_, gains / gains.sum(), rtol=1e-12)
    assert_array_equal(model.n_splits_, splits)
    assert model.n_splits_.sum() == 8 * 4
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 2}


def test_constant_grades_and_features():
    X, y, groups = make()
    model = RegressionRanker(3).fit(X, np.full(len(y), 2.0), groups)
    assert_allclose(model.predict(X), np.full(len(y), 3.0))
    model = RegressionRanker(3).fit(np.zeros_like(X), y, groups)
    assert_allclose(model.predict(X), np.full(len(y), np.mean(2**y - 1)))
    assert_array_equal(model.feature_importances_, np.zeros(4))
    assert_array_equal(model.n_splits_, np.zeros(4))


def test_monotonic_constraints():
    X, y, groups = make(n_queries=60)
    cst = [1, 0, -1, 0]
    model = RegressionRanker(30, 0.3, monotonic_cst=cst, min_samples_leaf=2).fit(X, y, groups)
    free = RegressionRanker(30, 0.3, min_samples_leaf=2).fit(X, y, groups)
    violated = 0
    for k in (0, 2):
        Z = X[:50].copy()
        rising, of_free = [], []
        for value in np.unique(X[~np.isnan(X[:, k]), k]):
            Z[:, k] = value
            rising.append(cst[k] * model.predict(Z))
            of_free.append(cst[k] * free.predict(Z))
        assert (np.diff(rising, axis=0) >= -1e-12).all()
        assert np.ptp(rising) > 0 or k == 2
        violated += (np.diff(of_free, axis=0) < -1e-3).sum()
    assert violated


def test_few_features_and_queries_a_round():
    X, y, groups = make(n_queries=80)
    whole = RegressionRanker(**SMALL).fit(X, y, groups).predict(X)
    for params in ({"max_features": 0.25}, {"subsample": 0.5}):
        drawn = RegressionRanker(**SMALL, **params, random_state=0).fit(X, y, groups)
        again = RegressionRanker(**SMALL, **params, random_state=0).fit(X, y, groups)
        other = RegressionRanker(**SMALL, **params, random_state=1).fit(X, y, groups)
        assert_array_equal(drawn.predict(X), again.predict(X))
        assert not np.allclose(drawn.predict(X), other.predict(X))
        assert not np.allclose(drawn.predict(X), whole)
        assert drawn.score(X, y, groups) > 0.7


def test_a_subsample_is_of_whole_queries():
    """Features that name a query: a leaf holds all its rows or none."""
    groups = np.repeat(np.arange(8), 5)
    X = (groups[:, None] == np.arange(8)).astype(float)
    y = np.tile([0.0, 0, 1, 1, 1], 8) + groups
    model = RegressionRanker(1, 1.0, gain="linear", subsample=0.5, min_samples_leaf=1,
                             max_leaf_nodes=9, random_state=0).fit(X, y, groups)  # fmt: skip
    ((tree,),) = trees_of(model)
    assert tree.n_leaves == 4  # the features of three queries, and the rest
    means = np.array([y[groups == q].mean() for q in range(8)])
    predicted = model.predict(np.eye(8))
    assert (np.abs(predicted[:, None] - means) < 1e-9).any(axis=1).all()
    assert len(np.unique(np.round(predicted, 6))) == 4


# --- searches ------------------------------------------------------------------------------------


def test_search_equals_a_loop():
    X, y, groups = make_ranking(
        40, (4, 9), 6, n_informative=3, n_redundant=1, n_grades=3, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(y))
    X, y, groups = X[order], y[order], groups[order]
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    name = "regressionranker__"
    grid = {name + key: values for key, values in GRID.items()}
    expected = []
    for params in ParameterGrid(GRID):
        scores = []
        for train, test in GroupKFold(3).split(X, y, groups):
            mean, std = X[train].mean(axis=0), X[train].std(axis=0)
            model = RegressionRanker(min_samples_leaf=3, **params)
            standard = (X[train] - mean) / std
            model.fit(standard, y[train], groups[train], sample_weight=weight[train])
            predicted = model.predict((X[test] - mean) / std)
            scores.append(ndcg_score(y[test], predicted, groups=groups[test], k=10))
        expected.append(np.mean(scores))
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RegressionRanker(min_samples_leaf=3).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        search = GridSearchCV(
            make_pipeline(scaler, ranker),
            grid,
            cv=GroupKFold(3),
            scoring=get_scorer("ndcg@10"),
            error_score="raise",
        )
        search.fit(X, y, groups=groups, sample_weight=weight)
    assert len(set(expected)) == 8
    assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    best = list(ParameterGrid(GRID))[int(np.argmax(expected))]
    assert search.best_params_ == {name + key: value for key, value in best.items()}


# --- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [*INVALID, {"gain": "exp"}, {"gain": None}])
def test_invalid_parameters(params):
    with pytest.raises((ValueError, TypeError), match=next(iter(params))):
        RegressionRanker(**params).fit(*make())


def test_extreme_parameters():
    X, y, groups = make()
    fit = partial(RegressionRanker, n_estimators=2)
    target = np.mean(2**y - 1)
    heavy = fit(l2_regularization=1e12).fit(X, y, groups)
    assert_allclose(heavy.predict(X), target, rtol=1e-6)
    one = fit(min_samples_leaf=len(y)).fit(X, y, groups)
    assert_allclose(one.predict(X), target)
    deep = fit(max_leaf_nodes=10**6, min_samples_leaf=1, learning_rate=1.0, max_bins=None)
    deep.fit(X, y, groups)
    assert np.mean((deep.predict(X) - (2**y - 1)) ** 2) < 0.05
    assert fit(max_depth=10**6).fit(X, y, groups).n_iter_ == 2
    large = fit(gain="linear").fit(X, 1e100 * y, groups)
    assert_allclose(large.predict(X), 1e100 * fit(gain="linear").fit(X, y, groups).predict(X))
