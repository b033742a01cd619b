# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What writers see of pipelines, searches, blends: the function on the columns that are given."""

import json

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_ranker import make, make_data
from exported_models import SUMS_OF_TREES, assert_scores, quick, ranklib_scores, terms_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeRegressor
from strategies import examples

from sklearn_ltr import BlendedRanker, GBRank, LambdaMART, LambdaRank, MPBoost, RankSVM
from sklearn_ltr.export import to_ranklib_xml, to_xgboost_json
from sklearn_ltr.export.rounding import rounded_down
from sklearn_ltr.export.scalers import largest_below
from sklearn_ltr.export.scoring import scoring_of
from sklearn_ltr.preprocessing import QueryScaler

SCALERS = {
    "standard": StandardScaler(),
    "only scaled": StandardScaler(with_mean=False),
    "only centred": StandardScaler(with_std=False),
    "range": MinMaxScaler((-3, 7)),
    "largest": MaxAbsScaler(),
    "robust": RobustScaler(),
    "robust, only centred": RobustScaler(with_scaling=False),
    "nothing": "passthrough",
    "several": make_pipeline(RobustScaler(), "passthrough", MinMaxScaler()),
}
each_scaler = pytest.mark.parametrize("scaler", SCALERS.values(), ids=SCALERS)
finite = st.floats(allow_nan=False, allow_infinity=False)


def walk(nodes, row):
    """The leaf of a row."""
    node = 0
    while nodes.feature[node] >= 0:
        x = row[nodes.feature[node]]
        right = nodes.missing_right[node] if np.isnan(x) else x > nodes.threshold[node]
        node = nodes.left[node] + right
    return nodes.value[node]


def near(nodes, row):
    """Rows at each threshold and next to it."""
    for feature, threshold in zip(nodes.feature, nodes.threshold, strict=True):
        if feature >= 0 and np.isfinite(threshold):
            for x in (np.nextafter(threshold, -np.inf), threshold, np.nextafter(threshold, np.inf)):
                other = row.copy()
                other[feature] = x
                yield other


@each_scaler
@pytest.mark.parametrize("R", SUMS_OF_TREES, ids=lambda R: R.__name__)
def test_thresholds_behind_scalers_are_exact(R, scaler):
    X, y, groups = make_data(R)
    pipeline = Pipeline([("scaler", scaler), ("ranker", make(R, n_estimators=4))])
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(X, y, groups=groups)
    function = scoring_of(pipeline).function
    rows = [row for i, nodes in enumerate(function.nodes) for row in near(nodes, X[i])]
    rows = np.concatenate([X, rows])
    assert len(rows) > len(X) + 10
    transformed = pipeline[:-1].transform(rows)
    terms = [term for term in terms_of(pipeline[-1]) if term[1].n_leaves > 1]
    assert len(terms) == len(function.nodes)
    for (coefficient, tree), nodes in zip(terms, function.nodes, strict=True):
        expected = coefficient * tree.predict(transformed)
        assert_array_equal([walk(nodes, row) for row in rows], expected)


@each_scaler
@pytest.mark.parametrize(
    "ranker",
    [RankSVM(C=0.1), make(LambdaRank, hidden_layer_sizes=(4, 3), activation="relu")],
    ids=["linear", "net"],
)
def test_linear_functions_and_nets_behind_scalers(ranker, scaler):
    X, y, groups = make_data()
    pipeline = Pipeline([("scaler", scaler), ("ranker", ranker)]).fit(X, y, ranker__groups=groups)
    function, found = scoring_of(pipeline).function, X
    for i, (weights, intercepts) in enumerate(
        zip(function.weights, function.intercepts, strict=True)
    ):
        found = (np.maximum(found, 0) if i else found) @ weights + intercepts
    scores = pipeline.predict(X)
    assert_allclose(found.ravel(), scores, rtol=0, atol=1e-12 * np.abs(scores).max())


@examples(300)
@given(
    threshold=finite,
    shift=finite,
    scale=st.floats(1e-300, 1e300),
    operations=st.sampled_from([(np.subtract, np.divide), (np.multiply, np.add)]),
)
def test_the_largest_number_below_a_threshold(threshold, shift, scale, operations):
    numbers = {np.subtract: shift, np.add: shift, np.multiply: scale, np.divide: scale}
    maps = [(operation, np.array([7.0, numbers[operation]])) for operation in operations]
    (found,) = largest_below(np.array([threshold]), maps, np.array([1]))

    def mapped(x):
        with np.errstate(all="ignore"):
            for operation, number in maps:
                x = operation(x, number[1])
        return x

    largest = np.finfo(np.float64).max
    assert found == -np.inf or mapped(found) <= threshold
    with np.errstate(over="ignore", under="ignore"):
        following = -largest if found == -np.inf else np.nextafter(found, np.inf)
    assert following == np.inf or mapped(following) > threshold


def test_a_split_of_missing_values_stays_one():
    maps = [(np.subtract, np.array([3.0]))]
    assert largest_below(np.array([np.inf]), maps, np.array([0])) == np.inf


def test_values_that_32_bits_do_not_tell_apart_behind_a_scaler():
    """Times in seconds, of which numbers of 32 bits have one for two minutes."""
    rng = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + rng.integers(0, 600, 60), rng.normal(size=60)])
    y, groups = (X[:, 0] > 1.7e9 + 300) + (X[:, 1] > 0), np.repeat(np.arange(6), 10)
    pipeline = make_pipeline(StandardScaler(), make(LambdaMART)).fit(
        X, y, lambdamart__groups=groups
    )
    for export in (to_xgboost_json, to_ranklib_xml):
        with pytest.warns(UserWarning, match="the same number in 32 bits, of the features 0: rows"):
            export(pipeline)
    X[:, 0] -= 1.7e9  # a remedy
    pipeline.fit(X, y, lambdamart__groups=groups)
    to_xgboost_json(pipeline)


@examples(300)
@given(threshold=st.floats(allow_nan=False))
def test_numbers_of_32_bits_are_rounded_down(threshold):
    (narrow,) = rounded_down(np.array([threshold]))
    assert narrow.dtype == np.float32
    assert float(narrow) <= threshold
    with np.errstate(over="ignore", under="ignore"):
        following = np.nextafter(narrow, np.float32(np.inf))
    assert float(following) > threshold or np.isinf(following)


# --- What is unwrapped ---------------------------------------------------------------------------


def test_searches_and_frozen_estimators():
    X, y, groups = make_data()
    pipeline = make_pipeline(StandardScaler(), make(LambdaMART))
    search = GridSearchCV(pipeline, {"lambdamart__n_estimators": [3]}, cv=GroupKFold(2))
    assert_not_fitted(search)
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    found = search.best_estimator_
    expected = scoring_of(found)
    for estimator in (search, FrozenEstimator(found), FrozenEstimator(search)):
        scoring = scoring_of(estimator)
        for one, two in zip(scoring.function.nodes, expected.function.nodes, strict=True):
            assert_array_equal(one.threshold, two.threshold)
    search.set_params(refit=False)
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="GridSearchCV has refit=False"):
        scoring_of(search)


def assert_not_fitted(estimator):
    with pytest.raises(NotFittedError):
        scoring_of(estimator)


def test_what_is_not_fitted():
    assert_not_fitted(MPBoost())
    assert_not_fitted(make_pipeline(StandardScaler(), MPBoost()))
    ranker, _ = quick(MPBoost)
    assert_not_fitted(make_pipeline(StandardScaler(), ranker))


def test_names_are_those_of_the_columns_given():
    X, y, groups = make_data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    for first in (StandardScaler(), "passthrough", None):
        pipeline = Pipeline([("first", first), ("ranker", make(LambdaMART))])
        scoring = scoring_of(pipeline.fit(frame, y, ranker__groups=groups))
        assert scoring.names == list("abcde")
        assert scoring.n_features == 5
    assert scoring_of(quick(LambdaMART)[0]).names is None
    assert scoring_of(quick(LambdaMART)[0]).checked_names(None) == ["f0", "f1", "f2", "f3", "f4"]


# --- What cannot be exported ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        (MinMaxScaler(clip=True), ValueError, "Step 'step' .* MinMaxScaler, has clip=True"),
        (QueryScaler(), TypeError, "Step 'step' .* QueryScaler, scales a row by the other rows"),
        (
            QuantileTransformer(n_quantiles=9),
            TypeError,
            "Step 'step' .* QuantileTransformer",
        ),
        (make_pipeline(FunctionTransformer()), TypeError, "Step 'functiontransformer' of the pipe"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_steps_that_cannot_be_exported(step, error, message):
    X, y, groups = make_data()
    pipeline = Pipeline([("step", step), ("ranker", make(LambdaMART))])
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(X, y, groups=groups)
    with pytest.raises(error, match=message):
        scoring_of(pipeline)


def test_estimators_that_cannot_be_exported():
    X, y, groups = make_data()
    regressors = GBRank(n_estimators=2, estimator=DecisionTreeRegressor()).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"`estimator` is DecisionTreeRegressor.*estimator=None"):
        scoring_of(regressors)
    for estimator in (LinearRegression(), make_pipeline(StandardScaler(), LinearRegression())):
        with pytest.raises(TypeError, match=r"rankers of this package.*got LinearRegression"):
            scoring_of(estimator.fit(X, y))
    with pytest.raises(TypeError, match="does not end in a ranker"):
        scoring_of(make_pipeline(StandardScaler()).fit(X))
    members = [("trees", make(LambdaMART)), ("other", LinearRegression())]
    blend = BlendedRanker(members, standardize="train").fit(X, y, groups=groups)
    with pytest.raises(TypeError, match=r'member "other": Only .*got LinearRegression'):
        scoring_of(blend)
    blend = BlendedRanker(members[:1], standardize="query").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match='fit it with standardize="train"'):
        scoring_of(blend)


# --- Blends --------------------------------------------------------------------------------------


def test_a_blend_of_trees_is_a_sum_of_trees():
    X, y, groups = make_data(MPBoost)
    scaled = make_pipeline(StandardScaler(), make(GBRank))
    members = [("trees", make(LambdaMART)), ("stumps", MPBoost(n_estimators=9)), ("scaled", scaled)]
    blend = BlendedRanker(members, weights=[1, 2, -0.5], standardize="train")
    blend.fit(X, y, groups=groups)
    function = scoring_of(blend).function
    found = function.constant + sum(
        np.array([walk(nodes, row) for row in X]) for nodes in function.nodes
    )
    assert_allclose(found, blend.predict(X), rtol=0, atol=1e-12)
    # Behind another scaler, in a pipeline.
    outer = make_pipeline(MaxAbsScaler(), blend)
    with sklearn.config_context(enable_metadata_routing=True):
        outer.fit(X, y, groups=groups)
    function = scoring_of(outer).function
    found = function.constant + sum(
        np.array([walk(nodes, row) for row in X]) for nodes in function.nodes
    )
    assert_allclose(found, outer.predict(X), rtol=0, atol=1e-12)
    trees = json.loads(to_xgboost_json(outer, format="dump"))
    assert len(trees) == len(function.nodes)


def test_a_blend_of_linear_functions_is_one():
    X, y, groups = make_data()
    members = [
        ("svm", RankSVM(C=0.1)),
        ("scaled", make_pipeline(StandardScaler(), make(LambdaRank))),
    ]
    blend = BlendedRanker(members, standardize="train").fit(X, y, groups=groups)
    function = scoring_of(blend).function
    assert function.is_linear
    found = (X @ function.weights[0] + function.intercepts[0]).ravel()
    assert_allclose(found, blend.predict(X), rtol=0, atol=1e-10)


def test_members_that_say_nothing():
    X, y, groups = make_data()
    X[:, 4] = 1.0
    members = [
        ("trees", make(LambdaMART)),
        ("nothing", make_pipeline(StandardScaler(), make(LambdaMART))),
    ]
    blend = BlendedRanker(members, weights=[0, 1], standardize="train").fit(X, y, groups=groups)
    blend.deviations_[:] = 0
    function = scoring_of(blend).function
    assert not function.nodes
    assert_array_equal(blend.predict(X), np.full(len(X), function.constant))


def test_the_scale_of_a_blend_is_that_of_its_scores():
    ranker, X = quick(LambdaMART)
    function = scoring_of(ranker).function.times(3.0, -2.0)
    found = function.constant + sum(
        np.array([walk(nodes, row) for row in X]) for nodes in function.nodes
    )
    assert_scores((found + 2) / 3, ranker, X)


# --- RankLib's XML of the same -------------------------------------------------------------------


def test_ranklib_takes_pipelines_searches_and_blends(tmp_path):
    X, y, groups = make_data()
    pipeline = make_pipeline(MinMaxScaler(), make(LambdaMART, max_bins=5))
    search = GridSearchCV(pipeline, {"lambdamart__n_estimators": [3]}, cv=GroupKFold(2))
    X = X.astype(np.float32).astype(np.float64)
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    text = to_ranklib_xml(search)
    scores = search.predict(X)
    assert len(np.unique(scores)) > 3
    assert_allclose(ranklib_scores(text, X), scores, rtol=1e-12, atol=1e-12)
    assert to_ranklib_xml(search, tmp_path / "model.xml") is None
    assert (tmp_path / "model.xml").read_text(encoding="utf-8") == text
    members = [("trees", make(LambdaMART)), ("stumps", make(MPBoost))]
    blend = BlendedRanker(members, standardize="train").fit(X, y, groups=groups)
    found = ranklib_scores(to_ranklib_xml(blend), X)
    assert_allclose(found, blend.predict(X), rtol=0, atol=1e-12)


def test_constants_in_ranklib():
    ranker = make(LambdaMART).fit(*make_data()[:2], groups=make_data()[2])
    X = make_data()[0].astype(np.float32)
    blend = BlendedRanker([("trees", FrozenEstimator(ranker))], standardize="train")
    blend.fit(X, make_data()[1], groups=make_data()[2])
    assert scoring_of(blend).function.constant != 0
    found = ranklib_scores(to_ranklib_xml(blend), X)
    assert_allclose(found, blend.predict(X), rtol=0, atol=1e-12)
