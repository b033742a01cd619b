# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Exports of trees with constraints and categories, in every form that these can be given in."""

import json
import pickle
import re
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from every_ranker import RANKERS, has, make
from exported_models import float32_error, ranklib_scores
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import examples

from sklearn_ltr import McRank
from sklearn_ltr.export import (
    export_text,
    from_dict,
    to_dict,
    to_onnx,
    to_ranklib_xml,
    to_solr_json,
    to_xgboost_json,
    trees_to_frame,
)

GROWERS = [R for R in RANKERS if has(R, "categorical_features")]
each_grower = pytest.mark.parametrize("R", GROWERS, ids=lambda R: R.__name__)
NAMES = ["price", "brand", "age", "colour", "stock"]
KINDS = ["zebra", "ant", "mole", "cow", "", "é"]


@dataclass
class Problem:
    """A fit, and rows to predict."""

    X: object
    y: np.ndarray
    groups: np.ndarray
    params: dict
    rows: object
    categorical: list


def column_of(rng, kind, n):
    """Values of a feature; some are missing."""
    missing = rng.random(n) < rng.choice([0, 0.2])
    if kind == "number":
        return np.where(missing, np.nan, np.rint(8 * rng.normal(size=n)) / 8)
    code = rng.integers(0, len(KINDS), n)
    if kind == "string":
        return np.where(missing, None, np.array(KINDS, dtype=object)[code])
    return np.where(missing, np.nan, 3.0 * code)  # of a matrix


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, named = draw(st.integers(24, 60)), draw(st.booleans())
    categorical = sorted(draw(st.sets(st.integers(0, 4), max_size=3)))
    kinds = ["number"] * 5
    for k in categorical:
        kinds[k] = "string" if named else "code"

    def some(n_rows):
        columns = [column_of(rng, kind, n_rows) for kind in kinds]
        if not named:
            return np.column_stack(columns)
        return pd.DataFrame(
            {
                name: pd.Categorical(x) if kind == "string" else x
                for name, kind, x in zip(NAMES, kinds, columns, strict=True)
            }
        )

    names = st.sampled_from(NAMES) if named else st.integers(0, 4)
    mask = [k in categorical for k in range(5)]
    forms = [mask, np.array(mask), categorical, np.array(categorical, dtype=int)]
    if named:
        forms += ["from_dtype", [NAMES[k] for k in categorical]]
    elif not categorical:
        forms += ["from_dtype", None]
    signs = [0 if k in categorical else draw(st.integers(-1, 1)) for k in range(5)]
    directions = [None, signs, np.array(signs)]
    if named:
        directions.append({name: s for name, s in zip(NAMES, signs, strict=True) if s})
    group = st.sets(names | st.integers(0, 4), min_size=1, max_size=3)
    together = st.sampled_from([None, "pairwise", "no_interactions"]) | st.lists(
        group | group.map(tuple) | group.map(list), min_size=1, max_size=3
    )
    params = {
        "categorical_features": draw(st.sampled_from(range(len(forms))).map(forms.__getitem__)),
        "monotonic_cst": draw(st.sampled_from(range(len(directions))).map(directions.__getitem__)),
        "interaction_cst": draw(together),
        "grow_policy": draw(st.sampled_from(["leafwise", "symmetric"])),
        "max_leaf_nodes": draw(st.sampled_from([2, 4, 8])),
        "min_samples_category": draw(st.sampled_from([1, 10])),
        "min_samples_leaf": draw(st.sampled_from([1, 4])),
        "n_estimators": 4,
        "warm_start": True,
        "method": "ordinal",  # whose thresholds have directions
    }
    X, rows = some(n), some(20)
    groups = rng.integers(0, 4, n)
    y = rng.integers(0, 3, n).astype(float)
    groups[:2], y[:2] = 0, [0, 1]
    return Problem(X, y, groups, params, rows, categorical)


def fitted(R, problem):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing may be learnt
        return make(R, **problem.params).fit(problem.X, problem.y, groups=problem.groups)


def split_on(ranker):
    """Features that trees split on by categories."""
    terms = ranker.model_.first(ranker.best_iteration_).terms
    trees = [weak.as_tree() for _, weak in terms]
    return {int(k) for tree in trees for k in tree.feature[np.isnan(tree.threshold)]}


@each_grower
@examples(15)
@given(problem=problems())
def test_plain_data_are_the_ranker(R, problem):
    ranker = fitted(R, problem)
    data = to_dict(ranker)
    stored = json.dumps(data, allow_nan=False)
    again = from_dict(json.loads(stored))
    assert json.dumps(to_dict(again)) == stored
    event(f"categories are split on: {bool(split_on(ranker))}")
    for X in (problem.X, problem.rows, pickle.loads(pickle.dumps(problem.rows))):
        assert_array_equal(again.predict(X), ranker.predict(X))
    assert export_text(again) == export_text(ranker)
    pd.testing.assert_frame_equal(trees_to_frame(again), trees_to_frame(ranker))
    if hasattr(ranker, "contributions"):
        assert_array_equal(again.contributions(problem.rows), ranker.contributions(problem.rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (ranker, again):
            model.set_params(n_estimators=6).fit(problem.X, problem.y, groups=problem.groups)
    assert json.dumps(to_dict(again)) == json.dumps(to_dict(ranker))


def of_dump(text, X):
    def leaf(node, row):
        while "leaf" not in node:
            x = np.float32(row[int(node["split"][1:])])
            less = node["missing"] == node["yes"] if np.isnan(x) else x < node["split_condition"]
            node = node["children"][not less]
        return node["leaf"]

    return [sum(leaf(tree, row) for tree in json.loads(text)) for row in X]


def of_solr(text, X):
    def leaf(node, row):
        while "feature" in node:
            x = np.float32(row[int(node["feature"][1:])])
            left = x <= np.float32(node["threshold"]) + np.float32(1e-6)
            node = node["left" if left else "right"]
        return float(node["value"])

    trees = json.loads(text)["params"]["trees"]
    return [sum(float(tree["weight"]) * leaf(tree["root"], row) for tree in trees) for row in X]


def of_xgboost(text, X):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.Booster()
    booster.load_model(bytearray(text, "utf-8"))
    names = json.loads(text)["learner"]["feature_names"]
    return booster.predict(xgboost.DMatrix(X, feature_names=names or None))


def of_onnx(model, X):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"X": X})[0].ravel()


# A writer, what reads it, and whether missing values are not 0 there.
FEATURES = [f"f{k}" for k in range(5)]
FORMATS = {
    "xgboost dump": (
        lambda ranker: to_xgboost_json(ranker, format="dump", feature_names=FEATURES),
        of_dump,
        True,
    ),
    "xgboost": (to_xgboost_json, of_xgboost, True),
    "ranklib": (to_ranklib_xml, ranklib_scores, False),
    "solr": (lambda ranker: to_solr_json(ranker, feature_names=FEATURES), of_solr, False),
    "onnx": (to_onnx, of_onnx, True),
}
OF_SEVERAL_OUTPUTS = {"onnx"}


def rows_of(problem, keeps_missing):
    """The rows to predict, and the same as numbers, those of categories 0."""
    rows = problem.rows.copy()
    if isinstance(rows, np.ndarray):
        numbers = [k for k in range(5) if k not in problem.categorical]
        if not keeps_missing:
            rows[:, numbers] = np.nan_to_num(rows[:, numbers])
        plain = rows.copy()
        plain[:, problem.categorical] = 0
        return rows, plain
    numbers = [name for k, name in enumerate(NAMES) if k not in problem.categorical]
    if not keeps_missing:
        rows[numbers] = rows[numbers].fillna(0.0)
    plain = np.zeros(rows.shape)
    plain[:, [NAMES.index(name) for name in numbers]] = rows[numbers]
    return rows, plain


@each_grower
@pytest.mark.parametrize("name", FORMATS)
@examples(10)
@given(problem=problems())
def test_others_score_the_same_or_name_the_categories(R, name, problem):
    write, read, keeps_missing = FORMATS[name]
    if name == "onnx":
        pytest.importorskip("onnx")
    ranker = fitted(R, problem)
    by_category = sorted(split_on(ranker))
    event(f"categories are split on: {bool(by_category)}")
    if by_category:
        listed = "|".join(re.escape(ranker._feature_name(k)) for k in by_category)
        one_output = R is not McRank or name in OF_SEVERAL_OUTPUTS
        message = rf"^{R.__name__} splits on categories of .*({listed})"
        with pytest.raises((ValueError, TypeError), match=message if one_output else "McRank"):
            write(ranker)
        return
    if R is McRank and name not in OF_SEVERAL_OUTPUTS and len(ranker.levels_) > 1:
        with pytest.raises(TypeError, match="McRank"):
            write(ranker)
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The model uses features that had missing values")
        warnings.filterwarnings("ignore", message="Solr adds 1e-6")
        model = write(ranker)
    rows, plain = rows_of(problem, keeps_missing)
    scores = ranker.predict(rows)
    atol = 1e-6 if R is McRank else float32_error(ranker) + 1e-12
    assert_allclose(read(model, plain), scores, rtol=0, atol=atol)
