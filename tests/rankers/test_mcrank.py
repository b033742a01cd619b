# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""McRank against the paper's algorithms in slow NumPy, and against scikit-learn's classifier."""

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import mcrank as oracle
from oracles.tree import Growth, check_tree, regions
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import examples, ranking_problems
from trees import (
    GRID,
    INVALID,
    SMALL,
    make,
    parameters,
    row_weights,
    weights,
)

from sklearn_ltr import McRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.rankers.mcrank import CRITERIA, INITS, MAX_VALUE, METHODS

each_method = pytest.mark.parametrize("method", METHODS)


def trees_of(model):
    return [[tree for _, tree in terms] for terms in model.model_.rounds]


@examples(150)
@given(
    problem=ranking_problems(grades=("three", "five", "negative")),
    params=st.fixed_dictionaries(parameters | {"learning_rate": st.sampled_from([0.1, 0.3])}),
    method=st.sampled_from(METHODS),
    init=st.sampled_from(INITS),
    criterion=st.sampled_from(CRITERIA),
    data=st.data(),
)
def test_rounds_equal_the_oracle(problem, params, method, init, criterion, data):
    """Algorithm 1 with all probabilities of a round from before it, and section 4."""
    X, y, groups, query_weight = problem
    sample_weight, exact = data.draw(weights(len(y)))
    w, count = row_weights(query_weight, sample_weight, len(y))
    if not w.any():
        return
    model = McRank(3, method=method, init=init, criterion=criterion, **params)
    model.fit(X, y, groups, query_weight=query_weight, sample_weight=sample_weight)
    kept = w > 0
    X, y, w, count = X[kept], y[kept], w[kept], count[kept]
    exact = exact and query_weight is None and criterion == "squared_error"
    levels, level = np.unique(y, return_inverse=True)
    K = len(levels)
    assert_array_equal(model.levels_, levels)
    if K == 1:
        assert_array_equal(model.predict(X), y)
        assert_array_equal(model.predict_grade_proba(X), np.ones((len(y), 1)))
        return
    rounds = trees_of(model)
    if init == "prior":
        n_outputs = K if method == "classification" else K - 1
        rounds[0] = rounds[0][n_outputs:]  # less the constants that come first
    trees = iter([tree for terms in rounds for tree in terms])
    numbers = []

    def growth_on(target, h=1):
        names = ("max_leaf_nodes", "max_depth", "min_samples_leaf")
        rules = {name: params[name] for name in names}
        return Growth(X, target, weight=w * h, count=count, l2=params["l2_regularization"], **rules)

    def fit_tree(*target):
        tree = next(trees)
        check_tree(tree, growth_on(*target), exact=exact, rel=1e-6 if exact else 1e-4)
        found = regions(tree, X)
        numbers.append((tree, [i for i, _ in found]))
        return [rows for _, rows in found]

    algorithm = oracle.classification if method == "classification" else oracle.ordinal
    loop = algorithm(
        level,
        K,
        model.n_iter_,
        params["learning_rate"],
        fit_tree,
        weight=w,
        l2=params["l2_regularization"],
        largest=MAX_VALUE,
        prior=init == "prior",
        newton=criterion == "newton",
    )
    F = np.zeros((len(y), K if method == "classification" else K - 1))
    if init == "prior":
        prior_of = oracle.prior_of_classes if method == "classification" else oracle.prior_of_levels
        F += prior_of(level, K, w)
    for staged, expected in zip(model.staged_predict(X), loop, strict=True):
        F = expected.F
        for (tree, leaves), values in zip(numbers, expected.values, strict=True):
            assert_allclose(tree.value[leaves], values, rtol=1e-8, atol=1e-8)
        numbers.clear()
        assert_allclose(staged, scores_of(F, levels, method), rtol=1e-8, atol=1e-8)
    assert next(trees, None) is None
    assert_allclose(model.predict(X), scores_of(F, levels, method), rtol=1e-8, atol=1e-8)

    p = model.predict_grade_proba(X)
    assert p.shape == (len(y), K)
    assert ((p >= 0) & (p <= 1)).all()
    assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    if method == "classification":
        assert_allclose(p, oracle.softmax(F), rtol=1e-8, atol=1e-8)
    else:
        q = np.maximum(oracle.class_probabilities(oracle.sigmoid(F)), 0)
        assert_allclose(p, q / q.sum(axis=1, keepdims=True), rtol=1e-8, atol=1e-8)
    if model.n_iter_ < 3:  # no tree gains anything any more
        p = oracle.softmax(F) if method == "classification" else oracle.sigmoid(F)
        for k in range(p.shape[1]):
            here = level == k if method == "classification" else level >= k + 1
            growth = growth_on(here - p[:, k])
            root = growth.root()
            scale = growth_on(np.ones(len(y))).scale(root.rows)
            assert all(s.gain <= 1e-9 * scale for s in growth.splits(root))


def scores_of(F, levels, method):
    if method == "classification":
        return oracle.expected_relevance(oracle.softmax(F), levels)
    return oracle.ordinal_score(oracle.sigmoid(F), levels)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_grades", [2, 3, 5])
def test_equals_gradient_boosting_of_scikit_learn(n_grades, weighted, init):
    """Its classifier, which fits one function of two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    y = np.round(1.5 + X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=200))
    y = np.clip(y, 0, n_grades - 1)
    weight = rng.integers(1, 4, 200) / 2 if weighted else None
    shared = {"n_estimators": 8, "learning_rate": 0.2, "max_leaf_nodes": 5, "max_depth": None}
    theirs = "zero" if init == "zero" else None
    expected = GradientBoostingClassifier(init=theirs, **shared, random_state=0)
    expected.fit(X, y, sample_weight=weight)
    p = expected.predict_proba(X)
    for method in METHODS:
        if method == "ordinal" and n_grades > 2:
            continue
        model = McRank(**shared, min_samples_leaf=1, max_bins=None, method=method, init=init)
        model.fit(X, y, np.arange(200), query_weight=weight)
        assert_allclose(model.predict_grade_proba(X), p, rtol=1e-8)
        assert_allclose(model.predict(X), p @ np.arange(n_grades), rtol=1e-8)


def test_ordinal_is_one_classifier_for_each_level():
    """Section 4: partitions into {y >= k} and {y < k}, "exactly the same boosting tree"."""
    X, y, groups = make(n_queries=40)
    model = McRank(**SMALL, method="ordinal").fit(X, y, groups)
    at_least = []
    for k in range(1, 5):
        binary = McRank(**SMALL).fit(X, (y >= k).astype(float), groups)
        at_least.append(binary.predict(X))
    assert_allclose(model.predict(X), np.sum(at_least, axis=0), rtol=1e-9)


def test_methods_agree_on_two_grades():
    X, y, groups = make(grades=2, n_queries=40)
    models = [McRank(**SMALL, method=method).fit(X, y, groups) for method in METHODS]
    assert [len(terms) for terms in trees_of(models[0])] == [2] * 8
    assert [len(terms) for terms in trees_of(models[1])] == [1] * 8
    p, q = (model.predict_grade_proba(X) for model in models)
    assert_allclose(p, q, rtol=1e-9)
    assert_allclose(models[0].predict(X), p[:, 1], rtol=1e-12)
    assert_allclose(models[1].predict(X), p[:, 1], rtol=1e-9)


@each_method
def test_scores_are_expected_relevance(method):
    X, y, groups = make(n_queries=40)
    y = np.array([-1.0, 0.0, 0.5, 2.0, 7.0])[y.astype(int)]
    model = McRank(**SMALL, method=method).fit(X, y, groups)
    p = model.predict_grade_proba(X)
    assert_array_equal(model.levels_, [-1, 0, 0.5, 2, 7])
    assert_array_equal(model.levels_, model.grades_)
    scores = p @ model.levels_
    if method == "classification":
        assert_allclose(model.predict(X), scores, rtol=1e-12)
    else:  # where no class probability was negative
        assert (np.abs(model.predict(X) - scores) < 1e-9).mean() > 0.5
    assert ((model.predict(X) > -1) & (model.predict(X) < 7)).all()
    # What the grades are called matters to the score only.
    renamed = McRank(**SMALL, method=method).fit(X, np.searchsorted(model.levels_, y), groups)
    assert_array_equal(renamed.predict_grade_proba(X), p)


@each_method
def test_stages_and_importances(method):
    X, y, groups = make(n_queries=60)
    model = McRank(**SMALL, method=method).fit(X, y, groups)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_ == 8
    assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
    assert (np.diff(model.train_loss_) < 0).all()
    p = model.predict_grade_proba(X)
    if method == "classification":  # (7), a row
        loss = -np.log(p[np.arange(len(y)), y.astype(int)])
        assert model.train_loss_[-1] == pytest.approx(loss.mean(), rel=1e-10)

    gains, splits = np.zeros(4), np.zeros(4)
    for terms in trees_of(model):
        assert len(terms) == (5 if method == "classification" else 4)
        for tree in terms:
            for feature, gain in zip(tree.feature, tree.gain, strict=True):
                if feature >= 0:
                    gains[feature] += gain
                    splits[feature] += 1
    assert_allclose(model.feature_importances_, gains / gains.sum(), rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert_array_equal(model.n_splits_, splits)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 2}


# --- values of grades ----------------------------------------------------------------------------


@each_method
def test_grade_values(method):
    X, y, groups = make()
    params = SMALL | {"method": method}
    plain = McRank(**params).fit(X, y, groups)
    p = plain.predict_grade_proba(X)
    gains = 2.0 ** np.arange(5) - 1
    for values in (gains, gains.tolist(), lambda grades: 2**grades - 1):
        model = McRank(**params, grade_values=values).fit(X, y, groups)
        assert_array_equal(model.predict_grade_proba(X), p)
        assert_array_equal(model.levels_, np.arange(5))
        if method == "classification":
            assert_allclose(model.predict(X), p @ gains, rtol=1e-12)
        else:
            assert not np.allclose(model.predict(X), plain.predict(X))
    # Equation (6): an affine function of the values is one of the scores.
    for a, b in ((3.0, 7.0), (0.01, -4.0)):
        moved = McRank(**params, grade_values=lambda g, a=a, b=b: a * g + b).fit(X, y, groups)
        assert_allclose(moved.predict(X), a * plain.predict(X) + b, rtol=1e-10)
    named = McRank(**params, grade_values=np.exp).fit(X, y, groups)
    expected = McRank(**params, grade_values=np.exp(np.arange(5.0))).fit(X, y, groups)
    assert_array_equal(named.predict(X), expected.predict(X))


def test_grade_values_by_hand():
    """The sum over k of p_k T(k), by parts where the p_k are differences."""
    X, y, groups = make(n_queries=40)
    T = np.array([0.0, 0.1, 5.0, 5.5, 100.0])
    model = McRank(**SMALL, method="ordinal", grade_values=T).fit(X, y, groups)
    binary = [McRank(**SMALL).fit(X, (y >= k) * 1.0, groups).predict(X) for k in range(1, 5)]
    expected = oracle.ordinal_score(np.column_stack(binary), T)
    assert_allclose(model.predict(X), expected, rtol=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 2, 3],
        [0, 1, 2, 3, 4, 5],
        [0, 1, 1, 2, 3],
        [4, 3, 2, 1, 0],
        [0, 1, 2, 3, np.nan],
        [0, 1, 2, 3, np.inf],
        [[0, 1, 2, 3, 4]],
        3.0,
        lambda grades: grades[:-1],
        lambda grades: -grades,
        lambda grades: 0 * grades,
        lambda grades: np.full_like(grades, np.nan),
        lambda grades: 1.0,
    ],
)
def test_wrong_grade_values(values):
    X, y, groups = make()
    with pytest.raises(ValueError, match="grade_values"):
        McRank(1, grade_values=values).fit(X, y, groups)


@each_method
def test_many_grades_become_quantile_levels(method):
    X, y, groups = make(n_queries=80)
    rng = np.random.default_rng(0)
    y = np.round(y + rng.normal(size=len(y)), 2)
    assert len(np.unique(y)) > 100
    with pytest.warns(UserWarning, match="32"):
        model = McRank(**SMALL, method=method).fit(X, y, groups)
    assert len(model.levels_) == 32
    assert (np.diff(model.levels_) > 0).all()
    assert y.min() <= model.levels_[0] <= np.quantile(y, 0.1)
    assert_array_equal(model.grades_, np.unique(y))
    p = model.predict_grade_proba(X)
    assert p.shape == (len(y), 32)
    assert_allclose(p.sum(axis=1), 1)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.5
    scores = model.predict(X)
    assert ((scores >= y.min()) & (scores <= y.max())).all()


@each_method
def test_32_grades_are_levels_themselves(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.arange(200) % 32 / 7
    with warnings.catch_warnings(action="error"):
        model = McRank(2, method=method, min_samples_leaf=1).fit(X, y, np.arange(200) // 10)
    assert_array_equal(model.levels_, np.unique(y))


@each_method
def test_one_grade(method):
    X, _, groups = make()
    model = McRank(3, method=method).fit(X, np.full(len(X), 2.0), groups)
    assert_array_equal(model.predict(X), np.full(len(X), 2.0))
    assert_array_equal(model.predict_grade_proba(X), np.ones((len(X), 1)))
    assert_array_equal(model.feature_importances_, np.zeros(4))


@each_method
def test_separable_grades(method):
    """Probabilities go to 0 and 1, denominators to 0; scores stay numbers, and right."""
    X = np.tile(np.arange(3.0), 40)[:, None]
    y = X[:, 0]
    model = McRank(300, 1.0, method=method, min_samples_leaf=1).fit(X, y, np.arange(120) // 6)
    scores = model.predict(np.arange(3.0)[:, None])
    assert_allclose(scores, [0, 1, 2], atol=1e-6)
    assert np.isfinite(model.train_loss_).all()
    assert (np.diff(model.train_loss_) <= 0).all()
    p = model.predict_grade_proba(X)
    assert np.isfinite(p).all()
    # A row that all the others contradict.
    X, y = np.r_[X, [[0.0]]], np.r_[y, 2.0]
    model = McRank(300, 1.0, method=method, min_samples_leaf=1).fit(X, y, np.arange(121) // 6)
    assert np.isfinite(model.predict(X)).all()
    first = model.predict_grade_proba(np.zeros((1, 1)))[0]
    assert_allclose(first, [40 / 41, 0, 1 / 41], atol=0.02)


# --- weights -------------------------------------------------------------------------------------


def assert_same_trees(model, expected):
    assert model.n_iter_ == expected.n_iter_
    for one, other in zip(trees_of(model), trees_of(expected), strict=True):
        for a, b in zip(one, other, strict=True):
            for name in ("feature", "bin", "threshold", "missing_right", "left"):
                assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@each_method
@pytest.mark.parametrize("min_samples_leaf", [1, 3])
@pytest.mark.parametrize("max_bins", [255, 8])
@pytest.mark.parametrize("binning", ["quantile", "adaptive"])
def test_sample_weight_is_repetition(method, binning, max_bins, min_samples_leaf):
    for seed in range(2):
        X, y, groups = make(seed)
        rng = np.random.default_rng(seed)
        weight = rng.integers(0, 5, len(y))
        repeated = np.repeat(np.arange(len(y)), weight)
        params = SMALL | {
            "method": method,
            "min_samples_leaf": min_samples_leaf,
            "max_bins": max_bins,
            "binning": binning,
            "l2_regularization": 0.5 * seed,
        }
        model = McRank(**params)
        model.fit(X, y, groups, sample_weight=weight)
        expected = McRank(**params).fit(X[repeated], y[repeated], groups[repeated])
        assert_same_trees(model, expected)
        unseen = make(seed + 10, missing=0.3)[0]
        unseen[::3, 3] = np.nan
        for Z in (X, unseen):
            p, q = model.predict_grade_proba(Z), expected.predict_grade_proba(Z)
            assert_allclose(p, q, rtol=1e-12, atol=1e-12)
            assert_allclose(model.predict(Z), expected.predict(Z), rtol=1e-12, atol=1e-12)
        assert_allclose(model.train_loss_, expected.train_loss_, rtol=1e-12)


@each_method
def test_quantile_levels_count_weights(method):
    X, y, groups = make(n_queries=60)
    rng = np.random.default_rng(0)
    y = np.round(y + rng.normal(size=len(y)), 1)
    weight = rng.integers(0, 5, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    with pytest.warns(UserWarning, match="32"):
        model = McRank(2, method=method).fit(X, y, groups, sample_weight=weight)
    with pytest.warns(UserWarning, match="32"):
        expected = McRank(2, method=method).fit(X[repeated], y[repeated], groups[repeated])
    assert_allclose(model.levels_, expected.levels_, rtol=1e-12)


@each_method
def test_scale_of_weights_does_not_matter(method):
    X, y, groups = make()
    of_query = np.random.default_rng(1).uniform(0.2, 3.0, groups.max() + 1)[groups]
    params = SMALL | {"min_samples_leaf": 1, "method": method}
    l2 = {"l2_regularization": 1.0}
    expected = McRank(**params, **l2).fit(X, y, groups, query_weight=of_query)
    for factor in (1e-6, 1 / 3, 1000.0):
        model = McRank(**params, **l2).fit(X, y, groups, query_weight=factor * of_query)
        assert_same_trees(model, expected)
        assert_allclose(model.predict(X), expected.predict(X), rtol=1e-12)
    weight = np.random.default_rng(0).uniform(1.0, 3.0, len(y))
    expected = McRank(**params).fit(X, y, groups, sample_weight=weight)
    for factor in (np.pi, 1000.0):
        model = McRank(**params).fit(X, y, groups, sample_weight=factor * weight)
        assert_same_trees(model, expected)
        assert_allclose(model.predict(X), expected.predict(X), rtol=1e-12)


# --- constraints, searches, parameters -----------------------------------------------------------


def test_monotonic_constraints():
    X, y, groups = make(n_queries=60)
    cst = [1, 0, -1, 0]
    params = {"min_samples_leaf": 2, "method": "ordinal"}
    model = McRank(20, 0.3, monotonic_cst=cst, **params).fit(X, y, groups)
    free = McRank(20, 0.3, **params).fit(X, y, groups)
    violated = 0
    for k in (0, 2):
        Z = X[:50].copy()
        rising, of_free = [], []
        for value in np.unique(X[~np.isnan(X[:, k]), k]):
            Z[:, k] = value
            rising.append(cst[k] * model.predict(Z))
            of_free.append(cst[k] * free.predict(Z))
        assert (np.diff(rising, axis=0) >= -1e-12).all()
        violated += (np.diff(of_free, axis=0) < -1e-3).sum()
    assert violated
    with pytest.raises(ValueError, match="monotonic_cst"):
        McRank(monotonic_cst=cst, method="classification").fit(X, y, groups)


@each_method
def test_few_features_and_queries_a_round(method):
    X, y, groups = make(n_queries=80)
    shared = SMALL | {"method": method}
    whole = McRank(**shared).fit(X, y, groups).predict(X)
    for params in ({"max_features": 0.25}, {"subsample": 0.5}):
        drawn = McRank(**shared, **params, random_state=0).fit(X, y, groups)
        again = McRank(**shared, **params, random_state=0).fit(X, y, groups)
        other = McRank(**shared, **params, random_state=1).fit(X, y, groups)
        assert_array_equal(drawn.predict(X), again.predict(X))
        assert not np.allclose(drawn.predict(X), other.predict(X))
        assert not np.allclose(drawn.predict(X), whole)
        assert drawn.score(X, y, groups) > 0.7
    # Each class draws features of its own.
    model = McRank(1, max_features=0.25, min_samples_leaf=1, method=method, random_state=0)
    model.fit(X, y, groups)
    assert len({int(tree.feature[0]) for tree in trees_of(model)[0]}) > 1


def test_search_equals_a_loop():
    X, y, groups = make_ranking(
        40, (4, 9), 6, n_informative=3, n_redundant=1, n_grades=3, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(y))
    X, y, groups = X[order], y[order], groups[order]
    grid = GRID | {"method": list(METHODS)}
    expected = []
    for params in ParameterGrid(grid):
        scores = []
        for train, test in GroupKFold(3).split(X, y, groups):
            mean, std = X[train].mean(axis=0), X[train].std(axis=0)
            model = McRank(min_samples_leaf=3, **params)
            model.fit((X[train] - mean) / std, y[train], groups[train])
            predicted = model.predict((X[test] - mean) / std)
            scores.append(ndcg_score(y[test], predicted, groups=groups[test], k=10))
        expected.append(np.mean(scores))
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            make_pipeline(StandardScaler(), McRank(min_samples_leaf=3)),
            {"mcrank__" + key: values for key, values in grid.items()},
            cv=GroupKFold(3),
            error_score="raise",
        )
        search.fit(X, y, groups=groups)
    assert len(set(expected)) == 16
    assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    best = list(ParameterGrid(grid))[int(np.argmax(expected))]
    assert search.best_params_ == {"mcrank__" + key: value for key, value in best.items()}


@each_method
@pytest.mark.parametrize("params", INVALID)
def test_invalid_parameters(params, method):
    with pytest.raises((ValueError, TypeError), match=next(iter(params))):
        McRank(method=method, **params).fit(*make())


@pytest.mark.parametrize("method", ["multiclass", "", None])
def test_invalid_methods(method):
    with pytest.raises(ValueError, match="method"):
        McRank(method=method).fit(*make())


@each_method
def test_a_warm_start_knows_its_grades(method):
    X, y, groups = make()
    model = McRank(2, method=method, warm_start=True).fit(X, np.minimum(y, 2), groups)
    with pytest.raises(ValueError, match=r"`y` has the grade 3.*warm_start"):
        model.set_params(n_estimators=4).fit(X, np.where(y >= 2, 3, y), groups)


WAYS = [
    {},
    {"method": "ordinal"},
    {"init": "prior"},
    {"method": "ordinal", "init": "prior"},
    {"criterion": "newton"},
    {"grow_policy": "symmetric"},
    {"subsample": 0.5, "max_features": 0.5},
]


@pytest.mark.filterwarnings("ignore::sklearn_ltr.exceptions.ConstantModelWarning")
@pytest.mark.parametrize("params", WAYS, ids=str)
def test_where_no_split_is_possible_the_shares_are_learned(params):
    """Algorithm 1 with trees of one leaf."""
    X, y, groups = np.ones((6, 1)), np.array([0, 1, 2, 1, 1, 1]), np.zeros(6)
    if "subsample" in params:  # of queries
        X, y, groups = np.ones((60, 1)), np.tile(y, 10), np.arange(60) // 6
    model = McRank(n_estimators=300, learning_rate=0.05, random_state=0, **params)
    p = model.fit(X, y, groups=groups).predict_grade_proba(X)
    assert_allclose(p, np.tile([1 / 6, 2 / 3, 1 / 6], (len(y), 1)), atol=1e-6)
    expected = -(np.log(2 / 3) * 4 + 2 * np.log(1 / 6)) / 6
    if params.get("method") != "ordinal":
        assert model.train_loss_[-1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn_ltr.exceptions.ConstantModelWarning")
@pytest.mark.parametrize("params", WAYS[:6], ids=str)
def test_too_few_rows_for_a_split(params):
    """With a warm start, weights, and early stopping on other rows."""
    X, groups = np.arange(30.0)[:, None], np.arange(30) // 10
    y = np.repeat([0, 1, 2], [5, 20, 5])[np.random.default_rng(0).permutation(30)]
    weight = np.where(y == 1, 1.0, 2.0)
    model = McRank(n_estimators=100, min_samples_leaf=20, **params)
    model.fit(X, y, groups=groups, sample_weight=weight)
    p = model.predict_grade_proba(X)
    assert_allclose(p, np.tile([0.25, 0.5, 0.25], (30, 1)), atol=0.02)
    more = clone(model).set_params(n_estimators=50, warm_start=True)
    more.fit(X, y, groups=groups, sample_weight=weight).set_params(n_estimators=100)
    more.fit(X, y, groups=groups, sample_weight=weight)
    assert_array_equal(more.predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore::sklearn_ltr.exceptions.ConstantModelWarning")
def test_rounds_end_where_the_shares_are_reached():
    X, y = np.ones((9, 1)), np.arange(9) % 3
    assert McRank().fit(X, y, groups=np.zeros(9)).n_iter_ == 0
