# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Contributions of features to the scores of rankers of trees.

Every `TreeBoosting` that a walk through the package finds is tested.
"""

import gc
import json
import pickle
from inspect import isfunction

import numpy as np
import pandas as pd
import pytest
from every_ranker import RANKERS, has, make
from numpy.testing import assert_allclose, assert_array_equal
from oracles.treeshap import expectation, shapley_values
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

from sklearn_ltr import McRank, RegressionRanker
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.boosting.trees import ATTRIBUTIONS, TreeBoosting
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.export import from_dict, to_dict
from sklearn_ltr.weak.attribution import PathAttribution

TREE_RANKERS = [R for R in RANKERS if issubclass(R, TreeBoosting)]
EXPLAINED = [R for R in TREE_RANKERS if R is not McRank]
each_ranker = pytest.mark.parametrize("R", EXPLAINED, ids=lambda R: R.__name__)
each_policy = pytest.mark.parametrize("grow_policy", ["leafwise", "symmetric"])


def make_data(n_queries=30, n_features=6):
    """Rows whose values float32 holds."""
    X, y, groups = make_ranking(n_queries=n_queries, random_state=0)
    X = X[:, :n_features].astype(np.float32).astype(np.float64)
    rng = np.random.default_rng(0)
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.2] = 0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, groups


def by_definition(ranker, X):
    found, expected = np.zeros(X.shape), 0.0
    for coefficient, tree in ranker.model_.first(ranker.best_iteration_).terms:
        for row, x in zip(found, X, strict=True):
            row += coefficient * shapley_values(tree, x)[0]
        expected += coefficient * expectation(tree, X[0], ())
    return found, expected


def check_sums(ranker, X):
    contributions = ranker.contributions(X)
    assert contributions.shape == X.shape
    assert contributions.dtype == np.float64
    scores = ranker.expected_score_ + contributions.sum(axis=1)
    assert_allclose(scores, ranker.predict(X), rtol=0, atol=1e-10)
    return contributions


def test_every_ranker_of_trees_is_there():
    assert len(EXPLAINED) >= 7
    assert all(isfunction(R.contributions) for R in EXPLAINED)


@each_policy
@each_ranker
def test_contributions(R, grow_policy):
    X, y, groups = make_data()
    ranker = make(R, grow_policy=grow_policy, max_leaf_nodes=8, n_estimators=6).fit(X, y, groups)
    contributions = check_sums(ranker, X)
    expected, base = by_definition(ranker, X[:12])
    assert_allclose(contributions[:12], expected, rtol=1e-11, atol=1e-11)
    assert ranker.expected_score_ == pytest.approx(base, abs=1e-12)
    assert_array_equal(ranker.set_params(n_jobs=2).contributions(X), contributions)
    assert_array_equal(ranker.contributions(X[7:9]), contributions[7:9])
    for form in (sparse.csr_array, sparse.csc_matrix):
        assert_array_equal(ranker.contributions(form(X)), contributions)
    assert_array_equal(ranker.contributions(X.astype(np.float32)), contributions)


@each_ranker
def test_best_iteration_and_warm_start(R):
    X, y, groups = make_data()
    params = {"early_stopping": True, "n_iter_no_change": 2, "validation_fraction": 0.3}
    ranker = make(R, n_estimators=40, **params).fit(X, y, groups)
    assert ranker.best_iteration_ < ranker.n_iter_
    check_sums(ranker, X)
    ranker = make(R, n_estimators=2, warm_start=True).fit(X, y, groups)
    before = check_sums(ranker, X)
    ranker.set_params(n_estimators=6).fit(X, y, groups)
    assert not np.array_equal(check_sums(ranker, X), before)
    # What is kept for the next call is not stored, and not of another model.
    again = pickle.loads(pickle.dumps(ranker))
    assert pickle.dumps(again) == pickle.dumps(pickle.loads(pickle.dumps(again)))
    assert_array_equal(again.contributions(X), ranker.contributions(X))
    stored = from_dict(json.loads(json.dumps(to_dict(ranker))))
    assert_array_equal(stored.contributions(X), ranker.contributions(X))
    assert stored.expected_score_ == ranker.expected_score_


@each_ranker
def test_trees_are_looked_at_once(R, monkeypatch):
    X, y, groups = make_data()
    made = []

    def counted(terms):
        made.append(len(terms))
        return PathAttribution(terms)

    monkeypatch.setattr("sklearn_ltr.boosting.trees.PathAttribution", counted)
    ranker = make(R, n_estimators=3).fit(X, y, groups)
    for _ in range(3):
        ranker.contributions(X[:1])
    _ = ranker.expected_score_
    assert len(made) == 1
    ranker.fit(X, y, groups).contributions(X)
    assert len(made) == 2
    kept = len(ATTRIBUTIONS)
    del ranker
    gc.collect()
    assert len(ATTRIBUTIONS) < kept


@each_ranker
def test_nothing_learnt(R):
    X = np.ones((4, 2))
    ranker = make(R, n_estimators=3).fit(X, [0, 1, 0, 1], np.zeros(4))
    assert_array_equal(ranker.contributions(X), np.zeros((4, 2)))
    assert_allclose(ranker.predict(X), ranker.expected_score_, rtol=1e-12)


@each_ranker
def test_names_and_bad_features(R):
    X, y, groups = make_data()
    ranker = make(R, n_estimators=2)
    with pytest.raises(NotFittedError):
        ranker.contributions(X)
    with pytest.raises(NotFittedError):
        _ = ranker.expected_score_
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    ranker.fit(frame, y, groups)
    assert_array_equal(
        ranker.contributions(frame), make(R, n_estimators=2).fit(X, y, groups).contributions(X)
    )
    with pytest.raises(ValueError, match=r"feature names should match"):
        ranker.contributions(frame[frame.columns[::-1]])
    ranker.fit(X, y, groups)
    with pytest.raises(ValueError, match="expecting 6 features"):
        ranker.contributions(X[:, 1:])
    with pytest.raises(ValueError, match="infinity"):
        ranker.contributions(np.full(X.shape, np.inf))


@each_ranker
def test_models_stored_without_covers(R):
    X, y, groups = make_data()
    data = to_dict(make(R, n_estimators=3).fit(X, y, groups))
    for terms in data["rounds"]:
        for term in terms:
            term.pop("cover", None)
            term.pop("n_samples", None)
    ranker = from_dict(data)
    with pytest.raises(ValueError, match="Fit it again"):
        ranker.contributions(X)
    assert not hasattr(ranker, "expected_score_")


@each_ranker
def test_covers_are_positive(R):
    X, y, groups = make_data()
    data = to_dict(make(R, n_estimators=3).fit(X, y, groups))
    data["rounds"][-1][-1]["cover"][1] = 0.0
    with pytest.raises(ValueError, match=r"\.cover must be positive"):
        from_dict(data)


@pytest.mark.parametrize("R", [R for R in TREE_RANKERS if has(R, "estimator")], ids=repr)
def test_regressors_have_none(R):
    X, y, groups = make_data()
    X = np.nan_to_num(X)
    ranker = make(R, n_estimators=2, estimator=DecisionTreeRegressor(max_depth=2))
    ranker.fit(X, y, groups)
    with pytest.raises(TypeError, match=r"given as `estimator`: .*DecisionTreeRegressor"):
        ranker.contributions(X)
    assert not hasattr(ranker, "expected_score_")


@pytest.mark.parametrize("method", ["classification", "ordinal"])
def test_mcrank_has_none(method):
    X, y, groups = make_data()
    ranker = make(McRank, method=method)
    for model in (ranker, ranker.fit(X, y, groups)):
        with pytest.raises(AttributeError, match="score is no sum of trees but the expected"):
            model.contributions(X)
        assert not hasattr(model, "contributions")
        assert not hasattr(model, "expected_score_")


def test_other_rankers_have_none():
    for R in RANKERS:
        assert hasattr(R, "contributions") == issubclass(R, TreeBoosting | StumpBoosting)


# shap


def xgboost_model(ranker):
    """A Booster of the same trees; values of `X` that float32 holds keep their sides."""
    xgboost = pytest.importorskip("xgboost")
    n_features, base, trees = ranker.n_features_in_, 0.0, []
    for coefficient, tree in ranker.model_.terms:
        if tree.n_leaves == 1:
            base += coefficient * float(tree.value[0])
            continue
        n, inner = len(tree.feature), tree.feature >= 0
        left = np.where(inner, tree.left, -1)
        parents = np.full(n, 2**31 - 1)
        parents[tree.left[inner]] = parents[tree.left[inner] + 1] = np.flatnonzero(inner)
        down = np.minimum(tree.threshold, np.finfo(np.float32).max).astype(np.float32)
        down = np.where(down > tree.threshold, np.nextafter(down, np.float32(-np.inf)), down)
        below = np.nextafter(down.astype(np.float32), np.float32(np.inf))  # x < this is x <= down
        leaf = coefficient * tree.value
        trees.append(
            {
                "base_weights": np.where(inner, 0, leaf).tolist(),
                "categories": [],
                "categories_nodes": [],
                "categories_segments": [],
                "categories_sizes": [],
                "default_left": (~tree.missing_right & inner).astype(int).tolist(),
                "id": len(trees),
                "left_children": left.tolist(),
                "loss_changes": tree.gain.tolist(),
                "parents": parents.tolist(),
                "right_children": np.where(inner, left + 1, -1).tolist(),
                "split_conditions": np.where(inner, below, leaf).tolist(),
                "split_indices": np.where(inner, tree.feature, 0).tolist(),
                "split_type": [0] * n,
                "sum_hessian": tree.cover.tolist(),
                "tree_param": {
                    "num_deleted": "0",
                    "num_feature": str(n_features),
                    "num_nodes": str(n),
                    "size_leaf_vector": "1",
                },
            }
        )
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(len(trees))},
        "iteration_indptr": list(range(len(trees) + 1)),
        "tree_info": [0] * len(trees),
        "trees": trees,
    }
    data = {
        "learner": {
            "attributes": {},
            "feature_names": [],
            "feature_types": [],
            "gradient_booster": {"model": model, "name": "gbtree"},
            "learner_model_param": {
                "base_score": repr(base),
                "boost_from_average": "1",
                "num_class": "0",
                "num_feature": str(n_features),
                "num_target": "1",
            },
            "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
        },
        "version": [3, 0, 0],
    }
    return xgboost.Booster(model_file=bytearray(json.dumps(data), "utf-8"))


@each_policy
@each_ranker
def test_equal_to_shap(R, grow_policy):
    shap = pytest.importorskip("shap")
    X, y, groups = make_data(n_features=12)
    ranker = make(R, grow_policy=grow_policy, max_leaf_nodes=16, n_estimators=20)
    ranker.fit(X, y, groups)
    booster = xgboost_model(ranker)
    explainer = shap.TreeExplainer(booster, feature_perturbation="tree_path_dependent")
    contributions = ranker.contributions(X)
    assert_allclose(contributions, explainer.shap_values(X), rtol=0, atol=1e-5)
    assert ranker.expected_score_ == pytest.approx(float(explainer.expected_value), abs=1e-5)
    # XGBoost's own, whose last column is what the others are added to.
    matrix = pytest.importorskip("xgboost").DMatrix(X)
    expected = booster.predict(matrix, pred_contribs=True)
    assert_allclose(contributions, expected[:, :-1], rtol=0, atol=1e-5)
    assert_allclose(ranker.expected_score_, expected[:, -1], rtol=0, atol=1e-5)


def test_a_clone_has_none():
    X, y, groups = make_data()
    ranker = RegressionRanker(2).fit(X, y, groups)
    ranker.contributions(X)
    with pytest.raises(NotFittedError):
        clone(ranker).contributions(X)
