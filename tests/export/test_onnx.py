# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers as ONNX, run by onnxruntime."""

import json

import numpy as np
import pytest
from every_ranker import RANKERS, each_variant, has, make, make_data
from exported_models import (
    SUMS_OF_TREES,
    TORN,
    fit_to_two,
    float32_error,
    quick,
    rows_near_thresholds,
)
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_ltr import (
    BlendedRanker,
    FeatureRank,
    LambdaMART,
    LambdaRank,
    McRank,
    RankBoost,
    RegressionRanker,
)
from sklearn_ltr.export import register_onnx_converters, to_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

DTYPES = {"float64": np.float64, "float32": np.float32}
EPSILON = np.finfo(np.float32).eps
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def run(model, X, name="X"):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (scores,) = session.run(None, {name: X})
    assert scores.shape == (len(X), 1)
    assert scores.dtype == X.dtype
    return scores.ravel()


@each_dtype
@each_variant
def test_scores(R, params, dtype):
    ranker, X = quick(R, **params)
    if R is FeatureRank:
        with pytest.raises(TypeError, match="FeatureRank are made of the ranks of a row among"):
            to_onnx(ranker, dtype=dtype)
        return
    if R is BlendedRanker and ranker.standardize == "query":
        with pytest.raises(ValueError, match='standardize="query" scores a row by the other rows'):
            to_onnx(ranker, dtype=dtype)
        return
    if "categorical_features" in params:
        with pytest.raises(ValueError, match="splits on categories of feature 1,"):
            to_onnx(ranker, dtype=dtype)
        return
    model = to_onnx(ranker, dtype=dtype)
    scores = ranker.predict(X.astype(dtype))
    assert len(np.unique(scores)) > 3
    # Of linear functions and nets, all is of 64 bits but where 32 are asked for.
    trees = R in SUMS_OF_TREES or R in (McRank, BlendedRanker)
    error = EPSILON if trees or dtype == "float32" else 1e-13
    found = run(model, X.astype(dtype))
    assert_allclose(found, scores, rtol=0, atol=10 * error * np.abs(scores).max())


@each_dtype
@pytest.mark.parametrize(
    ("R", "params"),
    [
        pytest.param(R, params, id=f"{R.__name__}-{name}")
        for R in SUMS_OF_TREES
        for name, params in {"default": {}, "symmetric": {"grow_policy": "symmetric"}}.items()
        if all(has(R, key) for key in params)
    ],
)
def test_rows_at_and_next_to_thresholds(R, params, dtype):
    ranker, X = quick(R, **params)
    rows = rows_near_thresholds(ranker, X, DTYPES[dtype])
    scores = ranker.predict(rows)
    # With 64 bits only the sum is rounded.
    error = float32_error(ranker) if dtype == "float32" else EPSILON * np.abs(scores).max()
    found = run(to_onnx(ranker, dtype=dtype), rows.astype(dtype))
    assert_allclose(found, scores, rtol=0, atol=error)
    steps = np.abs(np.diff(np.unique(scores)))
    assert steps.max() > 10 * error  # so that a row on a wrong side is seen


@pytest.mark.parametrize("method", ["classification", "ordinal"])
def test_probabilities_near_thresholds(method):
    ranker, X = quick(McRank, method=method)
    at = RegressionRanker(n_estimators=12, min_samples_leaf=2, max_leaf_nodes=5)
    at.model_, at.best_iteration_ = ranker.model_, ranker.best_iteration_
    rows = rows_near_thresholds(at, X, np.float64)
    scores = ranker.predict(rows)
    assert_allclose(run(to_onnx(ranker), rows), scores, rtol=0, atol=1e-6 * scores.max())


def test_one_level_of_grades_is_a_constant():
    X, _, groups = make_data(McRank)
    ranker = make(McRank).fit(X, np.full(len(X), 2.0), groups=groups)
    assert_allclose(run(to_onnx(ranker), X), 2.0)


@each_dtype
def test_nothing_but_missing_values_passes(dtype):
    X = np.array([[np.nan], [1.0], [1.0], [-3e38]])
    for y in ([1, 0, 0, 0], [0, 1, 1, 1]):
        ranker = RankBoost(n_estimators=1).fit(X, y, groups=np.zeros(4))
        largest = np.finfo(dtype).max
        rows = np.array([[np.nan], [largest], [-largest], [0.0]], dtype=dtype)
        found = run(to_onnx(ranker, dtype=dtype), rows)
        assert_allclose(found, ranker.predict(rows), rtol=1e-6)


@each_dtype
def test_no_tree_at_all(dtype):
    X = np.ones((4, 2))
    constant = RegressionRanker(n_estimators=1, gain="linear").fit(X, [3] * 4, groups=np.zeros(4))
    assert_allclose(run(to_onnx(constant, dtype=dtype), X.astype(dtype)), 3.0)
    nothing = RankBoost(n_estimators=1).fit(X, [0, 1, 0, 1], groups=np.zeros(4))
    assert_allclose(run(to_onnx(nothing, dtype=dtype), X.astype(dtype)), 0.0)


def test_training_values_that_are_one_number_in_32_bits():
    ranker, X = fit_to_two(TORN)
    assert_allclose(run(to_onnx(ranker), X), ranker.predict(X), rtol=1e-6)
    with pytest.warns(UserWarning, match="are the same number in 32 bits"):
        to_onnx(ranker, dtype="float32")


def test_names():
    pd = pytest.importorskip("pandas")
    X, y, groups = make_data(LambdaMART)
    frame = pd.DataFrame(X, columns=["bm25", "für", "c", "d", "e"])
    model = to_onnx(make(LambdaMART).fit(frame, y, groups=groups))
    (stored,) = model.metadata_props
    assert stored.key == "feature_names"
    assert json.loads(stored.value) == list(frame.columns)
    assert not to_onnx(quick(LambdaMART)[0]).metadata_props


def test_arguments():
    with pytest.raises(ValueError, match="`dtype` must be one of"):
        to_onnx(quick(LambdaMART)[0], dtype="float16")


def test_a_blend_of_all_kinds():
    X, y, groups = make_data()
    members = [
        ("trees", make(LambdaMART)),
        ("grades", make(McRank)),
        ("net", make_pipeline(StandardScaler(), make(LambdaRank, hidden_layer_sizes=(3,)))),
        ("left out", "drop"),
        ("linear", make(LambdaRank)),
        ("of no weight", RankBoost(n_estimators=2)),
    ]
    weights = [2, 1, 0.5, 7, -1, 0]
    blend = BlendedRanker(members, weights=weights, standardize="train").fit(X, y, groups=groups)
    scores = blend.predict(X)
    assert_allclose(run(to_onnx(blend), X), scores, rtol=0, atol=1e-6 * np.abs(scores).max())
    found = run(to_onnx(blend, dtype="float32"), X.astype(np.float32))
    scores = blend.predict(X.astype(np.float32))
    assert_allclose(found, scores, rtol=0, atol=1e-5 * np.abs(scores).max())


# --- skl2onnx ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def skl2onnx():
    skl2onnx = pytest.importorskip("skl2onnx")
    register_onnx_converters()
    return skl2onnx


@each_dtype
@pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
def test_skl2onnx_converts_a_pipeline(skl2onnx, R, dtype):
    X, y, groups = make_data(RegressionRanker)
    fill = SimpleImputer()
    if dtype == "float64":  # for which onnxruntime has no Imputer
        X, fill = np.nan_to_num(X), "passthrough"
    steps = ColumnTransformer([("fill", fill, [0, 1, 2]), ("left out", "drop", [3, 4])])
    pipeline = make_pipeline(steps, StandardScaler(), make(R, standardize="train"))
    pipeline.fit(X, y, **{f"{R.__name__.lower()}__groups": groups})
    X = X.astype(dtype)
    if R is FeatureRank:
        with pytest.raises(TypeError, match="FeatureRank are made of"):
            skl2onnx.to_onnx(pipeline, X[:1])
        return
    model = skl2onnx.to_onnx(pipeline, X[:1])
    scores = pipeline.predict(X)
    assert_allclose(run(model, X), scores, rtol=0, atol=2e-5 * np.abs(scores).max())


def test_skl2onnx_takes_whole_numbers(skl2onnx):
    X = np.random.default_rng(0).integers(0, 9, (60, 3))
    ranker = make(LambdaMART).fit(X, X[:, 0] % 3, groups=np.repeat(np.arange(6), 10))
    kind = skl2onnx.common.data_types.Int64TensorType([None, 3])
    model = skl2onnx.convert_sklearn(ranker, initial_types=[("X", kind)])
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (scores,) = session.run(None, {"X": X})
    assert_allclose(scores.ravel(), ranker.predict(X), rtol=0, atol=float32_error(ranker))


def test_steps_that_skl2onnx_is_for():
    """`to_onnx` names the step that it does not know."""
    X, y, groups = make_data()
    pipeline = make_pipeline(FunctionTransformer(np.tanh), make(LambdaMART))
    pipeline.fit(X, y, lambdamart__groups=groups)
    with pytest.raises(TypeError, match=r"Step 'functiontransformer' .* cannot be exported"):
        to_onnx(pipeline)
