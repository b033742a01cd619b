# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of trees as XGBoost's JSON, read by XGBoost and by a reader written from its format."""

import io
import json

import numpy as np
import pytest
from every_ranker import has, make_data
from exported_models import (
    APART,
    SUMS_OF_TREES,
    TORN,
    assert_scores,
    fit_to_two,
    float32_error,
    quick,
    rows_near_thresholds,
    terms_of,
)
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ltr import (
    FRank,
    GBRank,
    LambdaMART,
    LambdaRank,
    McRank,
    MPBoost,
    QBRank,
    RankBoost,
    RegressionRanker,
)
from sklearn_ltr.export import from_dict, to_dict, to_xgboost_json

VARIANTS = {
    "default": {},
    "stopped": {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 3},
    "all bins": {"max_bins": None},
    "symmetric": {"grow_policy": "symmetric", "max_leaf_nodes": 8},
    "constant": {"gain": "linear"},
}
each_model = pytest.mark.parametrize(
    ("R", "params"),
    [
        pytest.param(R, params, id=f"{R.__name__}-{name}")
        for R in SUMS_OF_TREES
        for name, params in VARIANTS.items()
        if all(has(R, key) for key in params)
    ],
)


def read_dump(text):
    """A function of a row that gives the leaf of each tree, in 32 bits."""

    def leaf(node, row):
        while "leaf" not in node:
            x = np.float32(row[int(node["split"].removeprefix("f"))])
            left, right = node["children"]
            assert (node["yes"], node["no"]) == (left["nodeid"], right["nodeid"])
            if np.isnan(x):
                node = left if node["missing"] == node["yes"] else right
            else:
                node = left if x < np.float32(node["split_condition"]) else right
        return np.float32(node["leaf"])

    trees = json.loads(text)
    return lambda row: [leaf(tree, row) for tree in trees]


def booster_of(text):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.Booster()
    booster.load_model(bytearray(text, "utf-8"))
    return booster, lambda X, **what: booster.predict(xgboost.DMatrix(X), **what)


@each_model
def test_dump(R, params):
    ranker, X = quick(R, **params)
    rows = rows_near_thresholds(ranker, X)
    leaves = read_dump(to_xgboost_json(ranker, format="dump"))
    found = np.array([leaves(row) for row in rows])
    assert_scores(found.sum(axis=1, dtype=np.float64), ranker, rows)
    # Each row is in the very leaf of each tree, but the first, which has the constants.
    expected = [c * tree.predict(rows) for c, tree in terms_of(ranker) if tree.n_leaves > 1]
    assert_array_equal(found[:, 1:], np.float32(expected).T[:, 1:])
    # Training values that were told apart are so after rounding.
    assert_array_equal([leaves(row) for row in np.float32(X)], found[: len(X)])


@each_model
def test_model(R, params):
    ranker, X = quick(R, **params)
    rows = rows_near_thresholds(ranker, X)
    _, predict = booster_of(to_xgboost_json(ranker))
    assert_scores(predict(rows), ranker, rows)
    contributions = predict(rows, pred_contribs=True)
    assert_allclose(
        contributions.sum(axis=1), ranker.predict(rows), rtol=0, atol=4 * float32_error(ranker)
    )


def test_figures():
    """The largest difference of scores, of what sums in 32 bits allow: it is small, and not 0."""
    ranker, X = quick(LambdaMART, n_estimators=100)
    rows = rows_near_thresholds(ranker, X)
    leaves = read_dump(to_xgboost_json(ranker, format="dump"))
    sums = np.array([np.sum(leaves(row), dtype=np.float64) for row in rows])
    difference = np.abs(sums - ranker.predict(rows)).max()
    assert 0 < difference < 1e-6 * np.abs(ranker.predict(rows)).max()


def test_the_model_is_what_the_dump_is():
    ranker, _ = quick(LambdaMART)
    booster, _ = booster_of(to_xgboost_json(ranker))
    mine = json.loads(to_xgboost_json(ranker, format="dump"))
    for text, tree in zip(booster.get_dump(dump_format="json"), mine, strict=True):
        assert_same_tree(json.loads(text), tree)


def assert_same_tree(one, two):
    assert one.keys() == two.keys()
    for key, value in one.items():
        if key == "children":
            for pair in zip(value, two[key], strict=True):
                assert_same_tree(*pair)
        elif isinstance(value, float):
            assert np.float32(value) == np.float32(two[key])
        else:
            assert value == two[key]


def test_nodes_of_the_model():
    ranker, _ = quick(RegressionRanker)
    model = json.loads(to_xgboost_json(ranker))["learner"]["gradient_booster"]["model"]
    trees = [tree for _, tree in terms_of(ranker) if tree.n_leaves > 1]
    assert len(model["trees"]) == len(trees) < len(terms_of(ranker))  # the first is a constant
    for stored, tree in zip(model["trees"], trees, strict=True):
        assert sorted(stored["sum_hessian"]) == pytest.approx(sorted(tree.cover))
        inner = np.array(stored["left_children"]) >= 0
        assert_array_equal(
            np.array(stored["right_children"])[inner], np.array(stored["left_children"])[inner] + 1
        )
        parents = np.array(stored["parents"])[1:]
        assert (parents < np.arange(1, len(inner))).all()
        assert inner[parents].all()


def test_missing_values_alone():
    """A split that only missing values pass, whose children change places."""
    X = np.array([[np.nan], [1.0], [1.0], [-3e38]])
    for y in ([1, 0, 0, 0], [0, 1, 1, 1]):
        ranker = RankBoost(n_estimators=1).fit(X, y, groups=np.zeros(4))
        ((_, tree),) = terms_of(ranker)
        assert np.isinf(tree.threshold[0])
        rows = np.array([[np.nan], [3.4028234e38], [-3.4028234e38], [0.0]])
        leaves = read_dump(to_xgboost_json(ranker, format="dump"))
        assert_allclose([sum(leaves(row)) for row in rows], ranker.predict(rows), rtol=1e-6)
        _, predict = booster_of(to_xgboost_json(ranker))
        assert_scores(predict(rows), ranker, rows)


@pytest.mark.parametrize("scale", [1, -1, 1e-45, 1e-40, 3e38, -3e38, 0])
def test_neighbours_in_32_bits(scale):
    with np.errstate(over="ignore"):
        near = np.float32(1) + np.float32(2**-23) * np.arange(4, dtype=np.float32)
        x = np.unique(np.append(near * np.float32(scale), np.float32([0, 1, -1, 1e-45])))
    X = x[:, None]
    ranker = RankBoost(n_estimators=20, max_bins=None).fit(X, np.arange(len(x)), np.zeros(len(x)))
    leaves = read_dump(to_xgboost_json(ranker, format="dump"))
    assert_scores([np.sum(leaves(row), dtype=float) for row in X], ranker, X)
    _, predict = booster_of(to_xgboost_json(ranker))
    assert_scores(predict(X), ranker, X)


@pytest.mark.parametrize("values", APART)
def test_a_threshold_between_training_values_that_are_close_in_32_bits(values):
    ranker, X = fit_to_two(values)
    assert len(np.unique(ranker.predict(X))) == 2
    for model in (ranker, from_dict(json.loads(json.dumps(to_dict(ranker))))):
        leaves = read_dump(to_xgboost_json(model, format="dump"))
        assert_scores([sum(leaves(row)) for row in X], ranker, X)


def test_training_values_that_are_one_number_in_32_bits():
    ranker, _ = fit_to_two(TORN)
    for model in (ranker, from_dict(json.loads(json.dumps(to_dict(ranker))))):
        with pytest.warns(UserWarning, match=r"of the features 0: .*X\.astype\(np\.float32\)"):
            to_xgboost_json(model)
    to_xgboost_json(fit_to_two(np.float32(TORN))[0])  # the remedy


FLOAT32 = [0, 0, 1.0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "float32 must be a list"),
        ([FLOAT32[:2]], r"float32\[0\] must be a list of three"),
        ([FLOAT32, [3, 0, 1.0]], r"float32\[1\]\[0\] must be an integer from 0 to 0"),
        ([[0, 1, 1.0]], r"float32\[0\]\[1\] must be an integer from 0 to 0"),
        ([[0, 0, 0.1]], r"float32\[0\]\[2\] must be a number of 32 bits"),
        ([[0, 0, 1e39]], r"float32\[0\]\[2\] must be a finite number"),
        ([[0, 0, "1"]], r"float32\[0\]\[2\] must be a finite number"),
    ],
)
def test_malformed_numbers_of_32_bits(value, message):
    data = to_dict(fit_to_two(APART[0])[0])
    assert len(data["float32"]) == 1
    with pytest.raises(ValueError, match=message):
        from_dict(data | {"float32": value})


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y, groups = make_data(MPBoost)
    frame = pd.DataFrame(X, columns=["bm25", 'für "x"', "c", "d", "e"])
    ranker = MPBoost(n_estimators=20).fit(frame, y, groups=groups)
    model = json.loads(to_xgboost_json(ranker))
    assert model["learner"]["feature_names"] == list(frame.columns)
    used = {tree.get("split") for tree in json.loads(to_xgboost_json(ranker, format="dump"))}
    assert {"bm25", 'für "x"'} <= used <= set(frame.columns)
    given = json.loads(to_xgboost_json(ranker, feature_names=list("vwxyz")))
    assert given["learner"]["feature_names"] == list("vwxyz")
    for wrong in (list("vwxy"), list("vwxyy"), [1, 2, 3, 4, 5], ["", *"wxyz"]):
        with pytest.raises(ValueError, match="must be 5 different strings"):
            to_xgboost_json(ranker, feature_names=wrong)
    with pytest.raises(ValueError, match=r"'a\[0\]' has one of .*`feature_names`"):
        to_xgboost_json(ranker, feature_names=["a[0]", *"wxyz"])
    unnamed = MPBoost(n_estimators=2).fit(X, y, groups=groups)
    assert json.loads(to_xgboost_json(unnamed))["learner"]["feature_names"] == []


def test_only_the_rounds_that_predict_uses():
    X, y, groups = make_data(GBRank)
    ranker = GBRank(n_estimators=6, min_samples_leaf=2).fit(X, y, groups=groups)
    ranker.best_iteration_ = 4
    ranker._predictor = ranker.model_.first(4).collapse()
    trees = json.loads(to_xgboost_json(ranker, format="dump"))
    assert len(trees) == 4
    leaves = read_dump(json.dumps(trees))
    assert_scores([np.sum(leaves(row), dtype=float) for row in X], ranker, X)


def test_nothing_but_a_constant():
    X, y = np.ones((4, 2)), [3, 3, 3, 3]
    ranker = RegressionRanker(n_estimators=3, gain="linear").fit(X, y, groups=np.zeros(4))
    (tree,) = json.loads(to_xgboost_json(ranker, format="dump"))
    assert tree["leaf"] == ranker.predict(X)[0] == 3
    _, predict = booster_of(to_xgboost_json(ranker))
    assert_array_equal(predict(X), ranker.predict(X))
    nothing = RankBoost(n_estimators=1).fit(X, [0, 1, 0, 1], groups=np.zeros(4))
    (tree,) = json.loads(to_xgboost_json(nothing, format="dump"))
    assert tree["leaf"] == 0


def test_files(tmp_path):
    ranker, _ = quick(FRank)
    text = to_xgboost_json(ranker)
    assert to_xgboost_json(ranker, tmp_path / "a.json") is None
    to_xgboost_json(ranker, str(tmp_path / "b.json"))
    file = io.StringIO()
    to_xgboost_json(ranker, file)
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == text == file.getvalue()
    assert (tmp_path / "b.json").read_bytes() == text.encode()
    with pytest.raises(TypeError, match="`file` must be a path"):
        to_xgboost_json(ranker, 7)


def test_models_stored_without_weights_of_nodes():
    data = to_dict(quick(RegressionRanker)[0])
    for terms in data["rounds"]:
        for term in terms:
            term.pop("cover", None)
    with pytest.warns(UserWarning, match="cannot compute SHAP values"):
        to_xgboost_json(from_dict(data))
    to_xgboost_json(from_dict(data), format="dump")


def test_what_xgboost_does_not_know():
    ranker, _ = quick(MPBoost)
    with pytest.raises(ValueError, match="`format` must be one of"):
        to_xgboost_json(ranker, format="ubj")
    for R in (McRank, LambdaRank):
        with pytest.raises(TypeError, match=f"the scores of {R.__name__} are none"):
            to_xgboost_json(quick(R)[0])
    X, y, groups = make_data()
    far = RegressionRanker(gain="linear", n_estimators=1).fit(X, y * 1e60, groups=groups)
    with pytest.raises(ValueError, match="beyond the range of 32 bits"):
        to_xgboost_json(far)


def test_other_readers():
    """shap, treelite and XGBoost's own ranker read the model."""
    xgboost = pytest.importorskip("xgboost")
    shap = pytest.importorskip("shap")
    treelite = pytest.importorskip("treelite")
    ranker, X = quick(QBRank)
    text = to_xgboost_json(ranker)
    booster, _ = booster_of(text)
    with np.errstate(over="ignore"):  # shap takes the next number after the largest
        values = shap.TreeExplainer(booster)(X)
    assert_scores(values.values.sum(axis=1) + values.base_values, ranker, X)
    model = xgboost.XGBRanker()
    model.load_model(bytearray(text, "utf-8"))
    assert_scores(model.predict(X), ranker, X)
    model = treelite.frontend.from_xgboost_json(text)
    assert_scores(treelite.gtil.predict(model, X.astype(np.float32)), ranker, X)
