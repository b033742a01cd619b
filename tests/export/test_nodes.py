# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trees of every ranker that has some as text and as a frame: both are all of the model."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from every_ranker import CATEGORICAL, RANKERS, has, make, make_data, with_codes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.tree import DecisionTreeRegressor

from sklearn_ltr import AdaRank, McRank, MPBoost, QBRank, RankNet, RegressionRanker
from sklearn_ltr.export import export_text, from_dict, scoring, to_dict, trees_to_frame

NODES = [R for R in RANKERS if R in scoring.RANKERS.values()]
CASES = [
    pytest.param(R, params, id=f"{R.__name__}-{'-'.join(map(str, params.values()))}")
    for R in NODES
    for params in (
        {},
        {"grow_policy": "symmetric"},
        {"early_stopping": True, "n_iter_no_change": 2, "validation_fraction": 0.3},
        {"method": "ordinal", "probabilities": "tree"},
        {"init": "prior"},
        {"categorical_features": CATEGORICAL, "min_samples_category": 2},
    )
    if all(has(R, name) for name in params)
]
each_case = pytest.mark.parametrize(("R", "params"), CASES)


def outputs_by_frame(nodes, X, n_outputs):
    """What the rows of a frame say of rows of features, node by node."""
    found = np.zeros((n_outputs, len(X)))
    for _, tree in nodes.groupby(["round", "tree"], sort=True):
        tree = tree.set_index("node")
        for i, x in enumerate(X):
            node = tree.loc[0]
            while pd.notna(node["feature"]):
                value = x[int(node["feature"].split()[-1])]
                if isinstance(node["categories"], list):
                    side = "right" if value in node["categories"] else "left"
                else:
                    side = "left" if value <= node["threshold"] else "right"
                side = node["missing"] if np.isnan(value) else side
                node = tree.loc[node[side]]
            found[node["output"], i] += node["coefficient"] * node["value"]
    return found


def outputs_by_text(text, X, n_outputs):
    """What the lines of a text say of rows of features: a leaf holds where all above it do."""
    found, output, holds = np.zeros((n_outputs, len(X))), 0, []
    for line in text.splitlines():
        if head := re.fullmatch(r"round \d+(?:, output (\d+))?", line):
            output = int(head[1] or 0)
            continue
        depth, content = line.count("|   "), line.rpartition("|--- ")[2]
        above = np.logical_and.reduce([np.ones(len(X), dtype=bool), *holds[:depth]])
        if leaf := re.fullmatch(r"value: (\S+)", content):
            found[output, above] += float(leaf[1])
            continue
        rule = re.fullmatch(
            r"feature (\d+) (?:(<=|>) (\S+?)( or missing)?|is (missing|not missing)|"
            r"(in|not in) \{(.*)\}( or missing)?)",
            content,
        )
        x = X[:, int(rule[1])]
        if rule[6]:
            side = np.isin(x, [float(v) for v in rule[7].split(", ") if v]) == (rule[6] == "in")
            side = np.where(np.isnan(x), rule[8] is not None, side)
        elif rule[5]:
            side = np.isnan(x) == (rule[5] == "missing")
        else:
            side = (x <= float(rule[3])) if rule[2] == "<=" else (x > float(rule[3]))
            side |= np.isnan(x) & (rule[4] is not None)
        holds[depth:] = [side]
    return found


@each_case
def test_nodes_are_the_model(R, params):
    X, y, groups = make_data(R)
    X, params = with_codes(X, params)
    model = make(R, **{"n_estimators": 5} | params).fit(X, y, groups)
    n_outputs = model.model_.n_outputs
    nodes = trees_to_frame(model)
    assert list(nodes["round"].unique()) == list(range(1, model.best_iteration_ + 1))
    for found in (
        outputs_by_frame(nodes, X[:40], n_outputs),
        outputs_by_text(export_text(model, max_depth=99, precision=17), X[:40], n_outputs),
    ):
        scores = model._to_scores(found[0] if n_outputs == 1 else found)
        assert_allclose(scores, model.predict(X[:40]), rtol=1e-12, atol=1e-12)


@each_case
def test_columns(R, params):
    X, y, groups = make_data(R)
    X, params = with_codes(X, params)
    model = make(R, **{"n_estimators": 5} | params).fit(X, y, groups)
    nodes = trees_to_frame(model)
    splits, leaves = nodes[nodes["left"].notna()], nodes[nodes["left"].isna()]
    of_splits = ["feature", "missing", "left", "right", "gain"]
    assert splits[of_splits].notna().all(axis=None)
    assert (splits["threshold"].notna() != splits["categories"].notna()).all()
    of_splits += ["threshold", "categories"]
    assert leaves[of_splits].isna().all(axis=None)
    assert splits["value"].isna().all()
    assert leaves["value"].notna().all()
    assert set(splits["missing"]) <= {"left", "right"}
    gains = splits.groupby("feature")["gain"].sum()
    assert_allclose(
        [gains.get(f"feature {k}", 0) / gains.sum() for k in range(5)], model.feature_importances_
    )
    # Children are one level below, and have the rows of their parent.
    for _, tree in nodes.groupby(["round", "tree"]):
        tree = tree.set_index("node")
        assert tree["depth"][0] == 0
        for _, node in tree[tree["left"].notna()].iterrows():
            children = tree.loc[[node["left"], node["right"]]]
            assert (children["depth"] == node["depth"] + 1).all()
            assert children["n_samples"].sum() == node["n_samples"]
            assert children["cover"].sum() == pytest.approx(node["cover"])


def test_dtypes_of_any_model():
    """Also of one that has learnt nothing, and of one without counts."""
    X, y, groups = make_data()
    models = [RegressionRanker(2, min_samples_leaf=2).fit(X, y, groups)]
    models.append(MPBoost(2).fit(np.ones((4, 5)), [0, 1, 0, 1], np.zeros(4)))
    data = to_dict(models[0])
    for terms in data["rounds"]:
        for term in terms:
            term.pop("cover", None)
            term.pop("n_samples", None)
    models.append(from_dict(data))
    names = ["round", "tree", "output", "coefficient", "node", "depth", "feature", "threshold"]
    names += ["categories", "missing", "left", "right", "gain", "cover", "n_samples", "value"]
    for model in models:
        nodes = trees_to_frame(model)
        assert list(nodes.columns) == names
        integers = ["round", "tree", "output", "node", "depth", "left", "right", "n_samples"]
        for name in integers:
            assert pd.api.types.is_integer_dtype(nodes[name].dtype), name
    assert len(trees_to_frame(models[1])) == 0
    assert export_text(models[1]) == ""
    assert trees_to_frame(models[2])[["cover", "n_samples"]].isna().all(axis=None)


def test_constants_and_outputs():
    X, y, groups = make_data()
    nodes = trees_to_frame(QBRank(3, pair_weight=0.5).fit(X, y, groups))
    first = nodes[nodes["round"] == 1]
    assert set(first["tree"]) == {0, 1}
    assert len(first[first["tree"] == 0]) == 1
    model = make(McRank).fit(X, y, groups)
    nodes = trees_to_frame(model)
    assert set(nodes["output"]) == set(range(model.model_.n_outputs))
    assert_array_equal(nodes["output"], nodes["tree"] % model.model_.n_outputs)
    assert "round 1, output 2\n" in export_text(model, round=1)


def test_a_small_tree_as_text():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, np.nan], [3.0, np.nan]])
    y, groups = [0, 0, 1, 1], [1, 1, 1, 1]
    frame = pd.DataFrame(X, columns=["price", "rating"])
    model = RegressionRanker(1, 1.0, min_samples_leaf=1, max_leaf_nodes=2).fit(frame, y, groups)
    text = export_text(model, round=1)
    assert text.splitlines()[-4:] == [
        "|--- price <= 1.5",
        "|   |--- value: -0.5",
        "|--- price > 1.5",
        "|   |--- value: 0.5",
    ]
    model.fit(frame[["rating"]], y, groups)
    assert "|--- rating is not missing\n|   |--- value: -0.5\n" in export_text(model)
    assert "|--- Rating is missing\n" in export_text(model, feature_names=["Rating"])


def test_what_is_too_deep():
    X, y, groups = make_data()
    model = RegressionRanker(1, min_samples_leaf=2).fit(X, y, groups)
    depth = trees_to_frame(model)["depth"].max()
    text = export_text(model, max_depth=1)
    branches = [
        int(found) for found in re.findall(r"^\|   \|--- truncated .* (\d+)$", text, re.MULTILINE)
    ]
    assert 1 <= len(branches) <= 2
    assert max(branches) == depth - 1
    assert "truncated" not in export_text(model, max_depth=int(depth))


def test_rounds():
    X, y, groups = make_data()
    model = RegressionRanker(3).fit(X, y, groups)
    whole = export_text(model)
    assert whole == "".join(export_text(model, round=k) for k in (1, 2, 3))
    for round in (0, 4, -1):
        with pytest.raises(ValueError, match=f"`round` is {round}, but .* from 1 to 3"):
            export_text(model, round=round)
    with pytest.raises(TypeError, match="round"):
        export_text(model, round=1.5)
    with pytest.raises(ValueError, match="max_depth"):
        export_text(model, max_depth=0)
    with pytest.raises(ValueError, match="precision"):
        export_text(model, precision=0)


@pytest.mark.parametrize("export", [export_text, trees_to_frame])
def test_refused(export):
    X, y, groups = make_data()
    X = np.nan_to_num(X)
    with pytest.raises(NotFittedError):
        export(RegressionRanker())
    for R in (AdaRank, RankNet):
        with pytest.raises(TypeError, match=f"stumps or trees only; got {R.__name__}"):
            export(make(R).fit(X, y, groups))
    model = make(QBRank, estimator=DecisionTreeRegressor(max_depth=2)).fit(X, y, groups)
    with pytest.raises(TypeError, match="regressors, given as `estimator`, and not of trees"):
        export(model)
    model = RegressionRanker(2).fit(X, y, groups)
    with pytest.raises(ValueError, match="one name for each of the 5 features; got 1"):
        export(model, feature_names=["a"])


@pytest.mark.parametrize("export", [export_text, trees_to_frame])
def test_of_a_search(export):
    X, y, groups = make_data()
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(RegressionRanker(3), {"max_leaf_nodes": [2, 4]}, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
    found, expected = export(search), export(search.best_estimator_)
    assert found.equals(expected) if export is trees_to_frame else found == expected


def test_without_pandas(monkeypatch):
    X, y, groups = make_data()
    model = RegressionRanker(2).fit(X, y, groups)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"trees_to_frame requires pandas.*pip install"):
        trees_to_frame(model)
    assert export_text(model)
