# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models of Solr and of the plugins' model/linear, by readers written from their documentation."""

import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from every_ranker import RANKERS, make, make_data
from exported_models import (
    APART,
    SUMS_OF_TREES,
    TORN,
    fit_to_two,
    float32_error,
    quick,
    rows_near_thresholds,
    terms_of,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from strategies import examples

from sklearn_ltr import (
    AdaRank,
    BlendedRanker,
    LambdaMART,
    LambdaRank,
    McRank,
    RankBoost,
    RankNet,
    RankSVM,
    RegressionRanker,
)
from sklearn_ltr.base import LinearRanker
from sklearn_ltr.export import to_linear_json, to_solr_json
from sklearn_ltr.export.solr import SLACK, _less_slack
from sklearn_ltr.scorefunction import ScoreFunctionRanker

LINEAR = [R for R in RANKERS if issubclass(R, LinearRanker | ScoreFunctionRanker) or R is AdaRank]
each_linear = pytest.mark.parametrize("R", LINEAR, ids=lambda R: R.__name__)
NETS = [R for R in LINEAR if issubclass(R, ScoreFunctionRanker)]


def read_solr(text):
    """A function of a row of 32 bits, as the classes of Solr compute it."""
    model = json.loads(text)
    names = [feature["name"] for feature in model["features"]]
    kind = model["class"].removeprefix("org.apache.solr.ltr.model.")
    params = model["params"]
    if kind == "LinearModel":
        assert params["weights"].keys() == set(names)
        weights = np.float32([params["weights"][name] for name in names])

        def score(row):
            total = np.float32(0)
            for weight, x in zip(weights, row, strict=True):
                total += weight * x
            return total

    elif kind == "NeuralNetworkModel":
        functions = {
            "identity": lambda x: x,
            "relu": lambda x: np.maximum(x, 0),
            "tanh": np.tanh,
            "sigmoid": lambda x: 1 / (1 + np.exp(-x.astype(float))),
        }

        def score(row):
            for layer in params["layers"]:
                matrix, bias = np.float32(layer["matrix"]), np.float32(layer["bias"])
                assert matrix.shape == (len(bias), len(row))
                assert all(isinstance(x, float) for x in np.ravel(layer["matrix"]).tolist())
                total = bias
                for j, x in enumerate(row):
                    total = total + matrix[:, j] * x
                row = np.float32(functions[layer["activation"]](total))
            (result,) = row
            return result

    else:
        assert kind == "MultipleAdditiveTreesModel"

        def leaf(node, row):
            while "feature" in node:
                threshold = np.float32(node["threshold"].replace("Infinity", "inf"))
                left = row[names.index(node["feature"])] <= threshold + np.float32(1e-6)
                node = node["left"] if left else node["right"]
            assert node.keys() == {"value"}
            return np.float32(node["value"])

        def score(row):
            total = np.float32(0)
            for tree in params["trees"]:
                total += np.float32(tree["weight"]) * leaf(tree["root"], row)
            return total

    return score


def solr_scores(text, X):
    score = read_solr(text)
    with np.errstate(over="ignore"):
        rows = X.astype(np.float32)
    return np.array([score(row) for row in rows], dtype=np.float64)


def linear_error(ranker, X):
    """How far sums of 32 bits may be from the weighted sum, a rounding for each step."""
    steps = 3 * X.shape[1] + 4
    return steps * np.finfo(np.float32).eps * (np.abs(X) @ np.abs(ranker.coef_)).max()


@each_linear
def test_linear_functions(R):
    ranker, X = quick(R)
    scores = ranker.predict(X)
    assert len(np.unique(scores)) > 2
    atol = linear_error(ranker, X)
    text = to_solr_json(ranker, name="mine", store="ours")
    model = json.loads(text)
    assert model["class"] == "org.apache.solr.ltr.model.LinearModel"
    assert (model["name"], model["store"]) == ("mine", "ours")
    assert_allclose(solr_scores(text, X), scores, rtol=0, atol=atol)
    weights = json.loads(to_linear_json(ranker))
    assert list(weights) == ["f0", "f1", "f2", "f3", "f4"]
    assert_array_equal(list(weights.values()), ranker.coef_)


@pytest.mark.parametrize("activation", ["tanh", "logistic", "relu"])
@pytest.mark.parametrize("R", NETS, ids=lambda R: R.__name__)
def test_nets(R, activation):
    X, y, groups = make_data()
    net = make(R, hidden_layer_sizes=(4, 3), activation=activation)
    pipeline = make_pipeline(StandardScaler(), net)
    pipeline.fit(X, y, **{f"{R.__name__.lower()}__groups": groups})
    scores = pipeline.predict(X)
    found = solr_scores(to_solr_json(pipeline), X)
    assert_allclose(found, scores, rtol=0, atol=1e-5 * np.abs(scores).max())
    with pytest.raises(TypeError, match=f"this {R.__name__} has hidden layers"):
        to_linear_json(pipeline)


def test_an_intercept():
    """Solr has it as a net of one layer; model/linear has none."""
    X, y, groups = make_data()
    pipeline = make_pipeline(StandardScaler(), RankSVM(C=0.1)).fit(X, y, ranksvm__groups=groups)
    text = to_solr_json(pipeline)
    assert json.loads(text)["class"].endswith("NeuralNetworkModel")
    scores = pipeline.predict(X)
    assert_allclose(solr_scores(text, X), scores, rtol=0, atol=1e-5 * np.abs(scores).max())
    weights = np.array(list(json.loads(to_linear_json(pipeline)).values()))
    differences = X @ weights - scores
    assert_allclose(differences, differences[0], rtol=1e-10)
    pipeline = make_pipeline(MaxAbsScaler(), RankSVM()).fit(X, y, ranksvm__groups=groups)
    assert json.loads(to_solr_json(pipeline))["class"].endswith("LinearModel")


@pytest.mark.parametrize("R", SUMS_OF_TREES, ids=lambda R: R.__name__)
def test_trees(R):
    X, y, groups = make_data()  # without missing values
    ranker = make(R).fit(X, y, groups=groups)
    rows = rows_near_thresholds(ranker, X)
    n_rows = len(rows)
    # Where Solr cannot have a threshold, the next number above may be on another side.
    rows = rows[~np.isin(rows, next_to_lost_thresholds(ranker)).any(axis=1)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = to_solr_json(ranker)
    assert len(caught) == (len(rows) < n_rows)
    found = solr_scores(text, rows)
    assert_allclose(found, ranker.predict(rows), rtol=0, atol=float32_error(ranker))


def next_to_lost_thresholds(ranker):
    cuts = np.concatenate([tree.threshold for _, tree in terms_of(ranker)])
    cuts = np.unique(cuts[np.isfinite(cuts)].astype(np.float32))
    lost = cuts[_less_slack(cuts)[1] != cuts]
    assert (lost < 0).all()
    assert len(lost) < len(cuts) / 4
    return np.nextafter(lost, np.float32(np.inf)).astype(np.float64)


@examples(500)
@given(threshold=st.floats(width=32, allow_nan=False))
def test_what_solr_adds_is_taken_off(threshold):
    threshold = np.float32([threshold])
    (less,), (found,) = _less_slack(threshold)
    with np.errstate(over="ignore", under="ignore"):
        assert less + SLACK == found
        before = np.nextafter(less, np.float32(-np.inf)) + SLACK
        following = np.nextafter(threshold[0], np.float32(np.inf))
    assert found >= threshold[0]
    if found > threshold[0]:
        assert before < threshold[0]  # no sum is nearer
        assert threshold[0] < 0 or threshold[0] < SLACK
    if abs(threshold[0]) > 1e-5:
        assert found <= following


@pytest.mark.parametrize("values", [[1e-14, 2e-14], [-2.0, 0.0]])
def test_thresholds_that_solr_cannot_have(values):
    ranker, X = fit_to_two(values)
    with pytest.warns(UserWarning, match=r"Solr adds 1e-6 .* features 0: .*Shift these feat"):
        text = to_solr_json(ranker)
    if values[1] == 0:
        rows = np.concatenate([X, np.mean(X, axis=0)[None]])  # right at the threshold
        assert_allclose(solr_scores(text, rows), ranker.predict(rows), rtol=1e-6)
    to_solr_json(fit_to_two(np.add(values, 3.0 if values[1] == 0 else [0.001, 0.002]))[0])


@pytest.mark.parametrize("low", [-1e300, 0.0])
def test_thresholds_beyond_32_bits(low):
    X = np.array([[low], [1e300]])
    ranker = RankBoost(n_estimators=1).fit(X, [0, 1], [0, 0])
    rows = np.array([[-3.4e38], [0], [3.4e38]])
    assert_allclose(solr_scores(to_solr_json(ranker), rows), ranker.predict(rows), rtol=1e-6)


@pytest.mark.parametrize("values", APART)
def test_training_values_that_are_close_in_32_bits(values):
    ranker, X = fit_to_two(values)
    if values[0] < 0:
        with pytest.warns(UserWarning, match="Solr adds 1e-6"):
            to_solr_json(ranker)
    else:
        assert_allclose(solr_scores(to_solr_json(ranker), X), ranker.predict(X), rtol=1e-6)


def test_training_values_that_are_one_number_in_32_bits():
    ranker, _ = fit_to_two(TORN)
    with pytest.warns(UserWarning, match="are the same number in 32 bits"):
        to_solr_json(ranker)


def test_missing_values():
    ranker, X = quick(RegressionRanker)
    with pytest.warns(UserWarning, match="Solr takes a missing value for 0, and this model does"):
        text = to_solr_json(ranker)
    complete = X[~np.isnan(X).any(axis=1)]
    found = solr_scores(text, complete)
    assert_allclose(found, ranker.predict(complete), rtol=0, atol=float32_error(ranker))


def test_constants():
    X = np.ones((4, 2))
    ranker = RegressionRanker(n_estimators=1, gain="linear").fit(X, [3] * 4, groups=np.zeros(4))
    assert_array_equal(solr_scores(to_solr_json(ranker), X), 3.0)
    nothing = RankBoost(n_estimators=1).fit(X, [0, 1, 0, 1], groups=np.zeros(4))
    assert_array_equal(solr_scores(to_solr_json(nothing), X), 0.0)


def test_names_and_files(tmp_path):
    X, y, groups = make_data()
    frame = pd.DataFrame(X, columns=["bm25", 'für "x"', "c", "d", "e"])
    for ranker in (RankSVM(C=0.1), LambdaMART(n_estimators=3, min_samples_leaf=2)):
        ranker.fit(frame, y, groups=groups)
        model = json.loads(to_solr_json(ranker))
        assert [feature["name"] for feature in model["features"]] == list(frame.columns)
        to_solr_json(ranker, tmp_path / "model.json")
        assert json.loads((tmp_path / "model.json").read_text(encoding="utf-8")) == model
        solr_scores(to_solr_json(ranker), X)
        with pytest.raises(ValueError, match="must be 5 different strings"):
            to_solr_json(ranker, feature_names=["a"] * 5)
    ranker = RankSVM(C=0.1).fit(frame, y, groups=groups)
    assert list(json.loads(to_linear_json(ranker))) == list(frame.columns)
    given_names = to_linear_json(ranker, feature_names=list("vwxyz"))
    assert list(json.loads(given_names)) == list("vwxyz")
    file = io.StringIO()
    assert to_linear_json(ranker, file) is None
    assert file.getvalue() == to_linear_json(ranker)


def test_what_is_refused():
    grades, _ = quick(McRank)
    with pytest.raises(TypeError, match=r"the scores of McRank are none.*to_onnx"):
        to_solr_json(grades)
    trees, _ = quick(LambdaMART)
    with pytest.raises(TypeError, match=r"model/linear .* the scores of LambdaMART are none"):
        to_linear_json(trees)
    for argument in ("name", "store"):
        with pytest.raises(TypeError, match=f"`{argument}` must be a string"):
            to_solr_json(trees, **{argument: 3})
    X, y, groups = make_data()
    ranker = RankNet().fit(X, y, groups=groups)
    ranker.coefs_[0] *= 1e45
    for export in (to_solr_json, to_linear_json):
        with pytest.raises(ValueError, match="beyond the range of 32 bits"):
            export(ranker)
    members = [("trees", make(LambdaMART)), ("linear", make(LambdaRank))]
    blend = BlendedRanker(members, standardize="train").fit(X, y, groups=groups)
    with pytest.raises(TypeError, match="the scores of BlendedRanker are none"):
        to_solr_json(blend)
