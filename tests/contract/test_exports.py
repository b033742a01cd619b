# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker and every format: the scores agree, or an error says what cannot go, and why."""

import inspect
import json
import warnings

import numpy as np
import pytest
from every_ranker import CATEGORICAL, RANKERS, has, make, make_data, with_codes
from exported_models import ranklib_scores
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from sklearn_ltr import BlendedRanker, FeatureRank, McRank, export
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.boosting.trees import TreeBoosting


def of_onnx(model, X):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"X": X})[0].ravel()


def of_dump(text, X):
    def leaf(node, row):
        while "leaf" not in node:
            left = np.float32(row[int(node["split"][1:])]) < np.float32(node["split_condition"])
            node = node["children"][not left]
        return node["leaf"]

    return [sum(leaf(tree, row) for tree in json.loads(text)) for row in X]


def of_xgboost(text, X):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.Booster()
    booster.load_model(bytearray(text, "utf-8"))
    return booster.predict(xgboost.DMatrix(X))


def of_weights(text, X):
    return X @ np.array(list(json.loads(text).values()))


def of_solr(text, X):
    model = json.loads(text)
    params = model["params"]
    if "weights" in params:
        return X @ np.array(list(params["weights"].values()))
    if "layers" in params:
        for layer in params["layers"]:
            functions = {"identity": lambda x: x, "tanh": np.tanh}
            X = functions[layer["activation"]](X @ np.array(layer["matrix"]).T + layer["bias"])
        return X.ravel()
    names = [feature["name"] for feature in model["features"]]

    def leaf(node, row):
        while "feature" in node:
            x = np.float32(row[names.index(node["feature"])])
            node = node[
                "left" if x <= np.float32(node["threshold"]) + np.float32(1e-6) else "right"
            ]
        return float(node["value"])

    return [sum(leaf(tree["root"], row) for tree in params["trees"]) for row in X]


def of_dict(data, X):
    return export.from_dict(json.loads(json.dumps(data))).predict(X)


# A writer, and what reads it.
FORMATS = {
    "dict": (export.to_dict, of_dict),
    "linear": (export.to_linear_json, of_weights),
    "onnx": (export.to_onnx, of_onnx),
    "ranklib": (export.to_ranklib_xml, ranklib_scores),
    "solr": (export.to_solr_json, of_solr),
    "xgboost": (export.to_xgboost_json, of_xgboost),
    "xgboost dump": (lambda ranker: export.to_xgboost_json(ranker, format="dump"), of_dump),
}
TREES = {"onnx", "ranklib", "solr", "xgboost", "xgboost dump"}


def formats_of(R, scaled):
    """The formats that a ranker goes to, or a pipeline of a scaler and it."""
    if R is FeatureRank:
        return set()
    if R is McRank:
        found = {"onnx", "dict"}
    elif R is BlendedRanker:  # of trees
        return TREES
    elif issubclass(R, StumpBoosting | TreeBoosting):
        found = TREES | {"dict"}
    else:
        found = {"dict", "linear", "onnx", "solr"}
    return found - {"dict"} if scaled else found


each = pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
each_format = pytest.mark.parametrize("name", FORMATS)


def writer(name):
    if name == "onnx":
        pytest.importorskip("onnx")
    return FORMATS[name]


def quiet(write, ranker):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Solr adds 1e-6")
        return write(ranker)


def test_every_writer_is_here():
    names = {name for name in export.__all__ if name.startswith("to_")}
    assert names == {
        "to_dict",
        *(f"to_{name}_json" for name in ("linear", "solr", "xgboost")),
        "to_onnx",
        "to_ranklib_xml",
    }
    assert len(FORMATS) == len(names) + 1


@each_format
@each
@pytest.mark.parametrize("scaled", [False, True], ids=["ranker", "pipeline"])
def test_scores_agree_or_an_error_says_why(R, name, scaled):
    write, read = writer(name)
    X, y, groups = make_data()
    X = X.astype(np.float32).astype(np.float64)
    ranker = make(R, standardize="train")
    if scaled:
        ranker = make_pipeline(StandardScaler(), ranker)
    key = f"{R.__name__.lower()}__groups" if scaled else "groups"
    ranker.fit(X, y, **{key: groups})
    if name not in formats_of(R, scaled):
        named = "Pipeline" if (scaled, name) == (True, "dict") else R.__name__
        with pytest.raises((TypeError, ValueError), match=rf"{named}\b.{{20}}"):
            write(ranker)
        return
    model = quiet(write, ranker)
    scores = ranker.predict(X)
    found = np.array(read(model, X))
    if name == "linear":  # up to a constant
        scores, found = scores - scores[0], found - found[0]
    assert len(np.unique(scores)) > 2
    assert_allclose(found, scores, rtol=0, atol=1e-5 * np.abs(scores).max())


@each_format
@each
def test_what_is_not_fitted(R, name):
    write, _ = writer(name)
    with pytest.raises((NotFittedError, TypeError), match=r"is not fitted yet|FeatureRank|Blended"):
        write(make(R))


@each_format
def test_steps_are_named(name):
    write, _ = writer(name)
    X, y, groups = make_data()
    for R in RANKERS:
        pipeline = make_pipeline(QuantileTransformer(n_quantiles=9), make(R))
        pipeline.fit(X, y, **{f"{R.__name__.lower()}__groups": groups})
        expected = "got Pipeline" if name == "dict" else "'quantiletransformer' .*Quantile"
        with pytest.raises(TypeError, match=expected):
            write(pipeline)


@pytest.mark.parametrize(
    "name", ["to_linear_json", "to_ranklib_xml", "to_solr_json", "to_xgboost_json"]
)
def test_texts_go_to_files(name):
    """All writers of text take a file in the same way."""
    parameters = inspect.signature(getattr(export, name)).parameters
    assert list(parameters)[:2] == ["ranker", "file"]
    assert parameters["file"].default is None


@pytest.mark.parametrize(
    "write",
    [export.to_ranklib_xml, export.to_xgboost_json, export.to_solr_json, export.to_onnx],
    ids=lambda write: write.__name__,
)
@pytest.mark.parametrize("R", [R for R in RANKERS if has(R, "categorical_features")])
def test_no_format_takes_categories(R, write):
    if write is export.to_onnx:
        pytest.importorskip("onnx")
    X, y, groups = make_data(R)
    X, params = with_codes(X, {"categorical_features": CATEGORICAL, "min_samples_category": 1})
    model = make(R, **params).fit(X, y, groups)
    error, message = ValueError, "splits on categories of feature"
    if R is McRank and write is not export.to_onnx:
        error, message = (TypeError, ValueError), "McRank"
    with pytest.raises(error, match=message):
        write(model)
