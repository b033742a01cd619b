# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The presets against the tools they are named after, on the same scores."""

import os
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics
from sklearn.linear_model import LinearRegression

from sklearn_ltr.datasets.letor import load_letor_folds
from sklearn_ltr.metrics import (
    average_precision_score,
    dcg_score,
    expected_reciprocal_rank_score,
    ndcg_score,
    precision_at_k_score,
)

N_QUERIES = 60


@pytest.fixture(params=["tied", "distinct"])
def data(request):
    """Grades, scores and groups: queries of 1 to 19 rows, some without a relevant row.

    The scores are whole numbers or ranks, which float32 holds exactly: two of the tools store it.
    """
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 20, N_QUERIES)
    n = sizes.sum()
    y_true = rng.integers(0, 5, n) * (rng.random(n) < 0.3)
    tied = rng.integers(0, 6, n)
    y_score = tied if request.param == "tied" else rng.permutation(n)
    groups = np.repeat(np.arange(N_QUERIES), sizes)
    empty = np.bincount(groups, y_true) == 0
    assert 5 < empty.sum() < 40
    return y_true.astype(float), y_score.astype(float), groups


@pytest.mark.parametrize("k", [None, 1, 3, 10])
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_sklearn(data, name, k):
    y_true, y_score, groups = data
    ours = {"ndcg_score": ndcg_score, "dcg_score": dcg_score}[name]
    theirs = getattr(sklearn_metrics, name)
    values, ids = ours(y_true, y_score, groups, k=k, per_query=True, like="sklearn")
    for value, query in zip(values, ids, strict=True):
        rows = groups == query
        if rows.sum() > 1:  # scikit-learn refuses one row
            expected = theirs(y_true[None, rows], y_score[None, rows], k=k)
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-15)


def lightgbm_values(y_true, y_score, groups, weight=None, metrics=("ndcg", "map")):
    """Metrics of a booster without trees, whose scores are the initial ones."""
    lightgbm = pytest.importorskip("lightgbm")
    dataset = lightgbm.Dataset(
        np.zeros((len(y_true), 1)),
        y_true,
        group=np.bincount(groups),
        init_score=y_score,
        weight=weight,
        params={"verbose": -1, "feature_pre_filter": False},
    )
    parameters = {
        "objective": "regression",
        "metric": list(metrics),
        "eval_at": [1, 3, 5, 10],
        "verbose": -1,
        "num_threads": 1,
    }
    booster = lightgbm.Booster(parameters, dataset)
    return {name: value for _, name, value, _ in booster.eval_train()}


def test_lightgbm(data):
    values = lightgbm_values(*data)
    for k in (1, 3, 5, 10):
        ndcg = ndcg_score(*data, k=k, like="lightgbm")
        assert values[f"ndcg@{k}"] == pytest.approx(ndcg, rel=1e-12)
        average_precision = average_precision_score(*data, k=k, like="lightgbm")
        assert values[f"map@{k}"] == pytest.approx(average_precision, rel=1e-12)


def test_lightgbm_calls_a_grade_above_one_half_relevant(data):
    y_true, *scores_and_groups = data
    data = y_true / 4, *scores_and_groups
    values = lightgbm_values(*data, metrics=["map"])
    assert (data[0] == 0.5).any()
    for k in (1, 10):
        expected = average_precision_score(*data, k=k, like="lightgbm")
        assert values[f"map@{k}"] == pytest.approx(expected, rel=1e-12)


def xgboost_values(names, y_true, y_score, groups, weight=None):
    """Metrics of a booster without trees, whose scores are the base margins."""
    xgboost = pytest.importorskip("xgboost")
    dmatrix = xgboost.DMatrix(
        np.zeros((len(y_true), 1)), y_true, base_margin=y_score, qid=groups, weight=weight
    )
    parameters = {"objective": "rank:pairwise", "eval_metric": names, "nthread": 1}
    line = xgboost.Booster(parameters, [dmatrix]).eval(dmatrix, name="set")
    values = (field.removeprefix("set-").rsplit(":", 1) for field in line.split("\t")[1:])
    return {name: float(value) for name, value in values}


def test_xgboost(data):
    y_true, y_score, groups = data
    values = xgboost_values(["ndcg", "ndcg@1", "ndcg@5", "ndcg@5-"], *data)
    for name, k in (("ndcg", None), ("ndcg@1", 1), ("ndcg@5", 5)):
        expected = ndcg_score(*data, k=k, like="xgboost")
        assert values[name] == pytest.approx(expected, rel=1e-6)
    zero = ndcg_score(*data, k=5, ties="input", undefined=0)
    assert values["ndcg@5-"] == pytest.approx(zero, rel=1e-6)

    data = (y_true > 0).astype(float), y_score, groups  # its binary metrics want 0 and 1
    values = xgboost_values(["map", "map@5", "map@5-", "pre@1", "pre@5"], *data)
    for name, k in (("map", None), ("map@5", 5)):
        expected = average_precision_score(*data, k=k, like="xgboost")
        assert values[name] == pytest.approx(expected, rel=1e-6)
    zero = average_precision_score(
        *data, k=5, ties="input", undefined=0, denominator="min(relevant,k)"
    )
    assert values["map@5-"] == pytest.approx(zero, rel=1e-6)
    for k in (1, 5):
        expected = precision_at_k_score(*data, k=k, like="xgboost")
        assert values[f"pre@{k}"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("tool", ["lightgbm", "xgboost"])
def test_boosters_add_undefined_queries_unweighted(tool, data):
    """The one deviation from two presets, which their notes state."""
    groups = data[2]
    of_query = np.random.default_rng(1).integers(1, 5, N_QUERIES).astype(float)
    ours = ndcg_score(
        *data, k=5, query_weight=of_query[groups], ties="input", per_query=True
    ).values
    undefined = np.isnan(ours)
    as_they_do = (of_query @ np.where(undefined, 0, ours) + undefined.sum()) / of_query.sum()
    if tool == "lightgbm":
        theirs = lightgbm_values(*data, weight=of_query[groups])["ndcg@5"]
    else:
        theirs = xgboost_values(["ndcg@5"], *data, weight=of_query)["ndcg@5"]
    assert theirs == pytest.approx(as_they_do, rel=1e-6)


def test_trec_eval(data):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    y_true, y_score, groups = data
    names = [f"document{row:05d}" for row in range(len(groups))]
    judged, run = ({str(q): {} for q in range(N_QUERIES)} for _ in range(2))
    for name, y, s, q in zip(names, y_true, y_score, groups, strict=True):
        judged[str(q)][name] = int(y)
        run[str(q)][name] = float(s)
    measures = {"ndcg", "ndcg_cut.5,10", "map", "map_cut.5", "P.5,10"}
    results = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(run)
    for measure, score in {
        "ndcg": ndcg_score,
        "ndcg_cut_5": partial(ndcg_score, k=5),
        "ndcg_cut_10": partial(ndcg_score, k=10),
        "map": average_precision_score,
        "map_cut_5": partial(average_precision_score, k=5),
        "P_5": partial(precision_at_k_score, k=5),
        "P_10": partial(precision_at_k_score, k=10),
    }.items():
        ours = score(y_true, y_score, groups, per_query=True, like="trec_eval").values
        theirs = [results[str(q)][measure] for q in range(N_QUERIES)]
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15, err_msg=measure)


def test_gdeval(data):
    ir_measures = pytest.importorskip("ir_measures")
    if shutil.which("perl") is None:
        pytest.skip("gdeval.pl needs perl")
    y_true, y_score, groups = data
    judged, run = (
        [
            cls(str(q), f"document{row:05d}", value)
            for row, (q, value) in enumerate(zip(groups, values, strict=True))
        ]
        for cls, values in (
            (ir_measures.Qrel, y_true.astype(int)),
            (ir_measures.ScoredDoc, y_score),
        )
    )
    for k in (3, 10):
        measure = ir_measures.parse_measure(f"ERR@{k}")
        theirs = np.zeros(N_QUERIES)
        for metric in ir_measures.gdeval.iter_calc([measure], judged, run):
            theirs[int(metric.query_id)] = metric.value
        ours = expected_reciprocal_rank_score(
            y_true, y_score, groups, k=k, per_query=True, like="gdeval"
        ).values
        # The script leaves undefined queries out; ir-measures fills them in with 0.
        np.testing.assert_allclose(np.nan_to_num(ours), theirs, atol=0.6e-5)  # five digits printed


# ---- LETOR --------------------------------------------------------------------------------------


def least_squares_on_folds(name):
    """Grades, groups and scores of each fold's test part, by least squares with intercept."""
    if "SKLEARN_LTR_DATA" not in os.environ:
        pytest.skip("SKLEARN_LTR_DATA is not set")
    for fold in load_letor_folds(Path(os.environ["SKLEARN_LTR_DATA"], name)):
        model = LinearRegression().fit(fold.train.X, fold.train.y)
        yield fold.test.y, model.predict(fold.test.X), fold.test.groups


def test_letor3_on_ohsumed():
    """LETOR's published "Regression" row, to its four digits."""
    folds = list(least_squares_on_folds("ohsumed-letor3-qln"))

    def fold_mean(score, **switches):
        return np.mean([score(*fold, like="letor3", **switches) for fold in folds])

    ndcg = [fold_mean(ndcg_score, k=k) for k in range(1, 11)]
    precision = [fold_mean(precision_at_k_score, k=k) for k in range(1, 11)]
    assert np.round(ndcg, 4).tolist() == [
        *(0.4456, 0.4532, 0.4426, 0.4368, 0.4278),
        *(0.4216, 0.4217, 0.4187, 0.4136, 0.4110),
    ]
    assert np.round(precision, 4).tolist() == [
        *(0.5965, 0.6006, 0.5768, 0.5605, 0.5337),
        *(0.5045, 0.5001, 0.4837, 0.4752, 0.4666),
    ]
    assert round(fold_mean(average_precision_score), 4) == 0.4220


def test_letor4_on_mq2008():
    """One ranking, three conventions."""
    folds = list(least_squares_on_folds("mq2008"))
    for switches, expected in (
        ({"like": "letor4"}, 0.2203),
        ({"undefined": 0}, 0.4870),
        ({"undefined": 1}, 0.7676),
    ):
        values = [ndcg_score(*fold, k=10, **switches) for fold in folds]
        assert round(np.mean(values), 4) == expected
    map_values = [average_precision_score(*fold, like="letor4") for fold in folds]
    assert round(np.mean(map_values), 4) == 0.4555
