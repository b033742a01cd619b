# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best single feature, and sums with given weights."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from strategies import ranking_problems

from sklearn_ltr import MPBoost, SingleFeatureRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.metrics.registry import METRICS
from sklearn_ltr.scorers import get_scorer, make_ranking_scorer


@pytest.fixture(scope="module")
def data():
    return make_ranking(40, (3, 12), 8, n_informative=3, n_redundant=2, random_state=0)


def ndcg_of_query(y, scores):
    if len(y) == 1:
        return float(y[0] > 0) or np.nan
    return ndcg_score([2**y - 1], [scores], k=10) if y.any() else np.nan


def ap_of_query(y, scores):
    return average_precision_score(y >= 1, scores) if (y >= 1).any() else np.nan


def by_hand(of_query, X, y, groups, query_weight):
    """The mean of each feature and order."""
    queries = [groups == q for q in np.unique(groups)]
    if query_weight is None:
        query_weight = np.ones(len(y))
    means = np.empty((X.shape[1], 2))
    for j in range(X.shape[1]):
        for k, sign in enumerate((1, -1)):
            values = np.array([of_query(y[rows], sign * X[rows, j]) for rows in queries])
            weights = np.array([query_weight[rows][0] for rows in queries])
            counts = ~np.isnan(values) & (weights > 0)
            means[j, k] = np.average(values[counts], weights=weights[counts])
    return means


@given(ranking_problems(grades=("three", "five"), missing=False))
def test_equals_a_loop(problem):
    X, y, groups, query_weight = problem
    ranker = SingleFeatureRanker().fit(X, y, groups, query_weight=query_weight)
    expected = by_hand(ndcg_of_query, X, y, groups, query_weight)
    assert_allclose(ranker.feature_scores_, expected, rtol=1e-12)
    feature, order = np.argwhere(expected >= expected.max() * (1 - 1e-10))[0]
    assert ranker.feature_ == feature
    coef = np.zeros(X.shape[1])
    coef[feature] = 1 - 2 * order
    assert_array_equal(ranker.coef_, coef)
    assert_array_equal(ranker.predict(X), X[:, feature] * coef[feature])


def test_average_precision_equals_a_loop():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(200, 5)), rng.integers(0, 20, 200)
    y = np.clip(np.round(rng.normal(size=200) - X[:, 3]), 0, 2)
    ranker = SingleFeatureRanker("map").fit(X, y, groups)
    assert_allclose(ranker.feature_scores_, by_hand(ap_of_query, X, y, groups, None), rtol=1e-12)
    assert ranker.feature_ == 3
    assert ranker.coef_[3] == -1


def test_its_scores_are_those_of_the_metric(data):
    X, y, groups = data
    for name in METRICS:
        switches = {"max_grade": 4} if name == "err" else {}
        metric = get_metric(f"{name}@3" if name in ("p", "precision") else name, **switches)
        ranker = SingleFeatureRanker(metric).fit(X, y, groups)
        best = ranker.feature_scores_.max()
        assert metric(y, ranker.predict(X), groups) == pytest.approx(best, rel=1e-12)
        assert ranker.feature_scores_.shape == (8, 2)


def test_scorer_and_switches(data):
    X, y, groups = data
    expected = SingleFeatureRanker("ndcg@5").fit(X, y, groups)
    ranker = SingleFeatureRanker(get_scorer("ndcg@5")).fit(X, y, groups)
    assert_array_equal(ranker.feature_scores_, expected.feature_scores_)
    linear = SingleFeatureRanker(make_ranking_scorer("ndcg@5", gain="linear")).fit(X, y, groups)
    assert not np.allclose(linear.feature_scores_, expected.feature_scores_)
    # Rules by which tied rows depend on the order of rows are not used.
    rounded = np.round(X)
    by_input = SingleFeatureRanker(get_metric("ndcg@5", ties="input"))
    with pytest.warns(UserWarning, match=r"takes ties='average' in the place of ties='input'"):
        by_input.fit(rounded, y, groups)
    average = SingleFeatureRanker("ndcg@5").fit(rounded, y, groups)
    assert_array_equal(by_input.feature_scores_, average.feature_scores_)


def test_of_equal_columns_the_first():
    rng = np.random.default_rng(0)
    x, groups = rng.normal(size=60), np.repeat(np.arange(10), 6)
    noise, y = rng.normal(size=60), np.clip(np.round(x), 0, 2)
    for columns, feature, sign in [
        ([noise, x, x, -x, 2 * x], 1, 1),
        ([noise, -x, x], 1, -1),
        ([np.ones(60), np.zeros(60)], 0, 1),
    ]:
        ranker = SingleFeatureRanker().fit(np.column_stack(columns), y, groups)
        assert (ranker.feature_, ranker.coef_[feature]) == (feature, sign)


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse(data, layout):
    X, y, groups = data
    X = np.where(np.abs(X) > 0.5, X, 0)
    expected = SingleFeatureRanker().fit(X, y, groups)
    ranker = SingleFeatureRanker(n_jobs=2).fit(layout(X), y, groups)
    assert_array_equal(ranker.feature_scores_, expected.feature_scores_)
    assert_array_equal(ranker.predict(layout(X)), expected.predict(X))


# --- given weights -------------------------------------------------------------------------------


def test_weights(data):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    expected = 0.8 * X[:, 2] + 0.2 * X[:, 5]
    array = np.array([0, 0, 0.8, 0, 0, 0.2, 0, 0])
    for weights in (array, array.tolist(), {2: 0.8, 5: 0.2}, {np.int64(5): 0.2, 2: 0.8}):
        ranker = SingleFeatureRanker(weights=weights).fit(X, y, groups)
        assert_allclose(ranker.predict(X), expected, rtol=1e-14, atol=1e-15)
        assert ranker.feature_ is None
    for weights in ({"x2": 0.8, "x5": 0.2}, {2: 0.8, "x5": 0.2}):
        ranker = SingleFeatureRanker(weights=weights).fit(frame, y, groups)
        assert_array_equal(ranker.coef_, array)
    # No metric looks at the grades.
    SingleFeatureRanker(weights=array).fit(X, y - 5, groups)


def test_refitting_with_weights_forgets_the_feature(data):
    X, y, groups = data
    ranker = SingleFeatureRanker().fit(X, y, groups)
    ranker.set_params(weights={0: 1.0}).fit(X, y, groups)
    assert ranker.feature_ is None
    assert ranker.feature_scores_ is None


def test_weights_are_tuned_by_a_grid_search():
    X, y, groups = make_ranking(60, (5, 15), 4, n_informative=2, n_redundant=0, random_state=0)
    mixes = [{0: 1 - a, 1: sign * a} for a in np.linspace(0, 1, 5) for sign in (1, -1)]
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(SingleFeatureRanker(), {"weights": mixes}, cv=GroupKFold(3)).fit(
            X, y, groups=groups
        )
    means = []
    for mix in mixes:
        scores = mix[0] * X[:, 0] + mix[1] * X[:, 1]
        folds = GroupKFold(3).split(X, y, groups)
        ndcg = get_metric("ndcg@10")
        means.append(np.mean([ndcg(y[test], scores[test], groups[test]) for _, test in folds]))
    assert_allclose(search.cv_results_["mean_test_score"], means, rtol=1e-12)
    assert search.best_params_["weights"] == mixes[np.argmax(means)]
    assert np.ptp(means) > 0.02


# --- errors --------------------------------------------------------------------------------------


def test_errors(data):
    X, y, groups = data
    fit = partial(SingleFeatureRanker.fit, X=X, y=y, groups=groups)
    for weights, message in [
        ([1.0, 2.0], r"`weights` must have one entry for each of the 8 features; got shape \(2,\)"),
        (np.ones((8, 1)), r"got shape \(8, 1\)"),
        ({8: 1.0}, r"`weights` has 8, which is no column.*there are 8, and they have no names"),
        ({-1: 1.0}, "`weights` has -1"),
        ({"bm25": 1.0}, "`weights` has 'bm25'"),
        ({0: np.nan}, "`weights` must be finite"),
        ([np.inf] * 8, "weights"),
        ({0: "much"}, "much"),
    ]:
        with pytest.raises(ValueError, match=message):
            fit(SingleFeatureRanker(weights=weights))
    with pytest.raises(ValueError, match=r"'bm25', which is no column.*named \['x0', 'x1'\]"):
        SingleFeatureRanker(weights={"bm25": 1}).fit(
            pd.DataFrame(X[:, :2], columns=["x0", "x1"]), y, groups
        )
    with pytest.raises(ValueError, match="Unknown metric 'best'"):
        fit(SingleFeatureRanker("best"))
    with pytest.raises(ValueError, match="negative"):
        SingleFeatureRanker().fit(X, y - 1, groups)
    assert SingleFeatureRanker("map").fit(X, y - 1, groups).feature_ >= 0
    with pytest.raises(ValueError, match="map is undefined in every query"):
        SingleFeatureRanker("map").fit(X, y / 10, groups)
    with pytest.raises(ValueError, match="NaN"):
        SingleFeatureRanker().fit(np.where(X > 1, np.nan, X), y, groups)


def test_learning_beats_it(data):
    X, y, groups = data
    baseline = SingleFeatureRanker().fit(X, y, groups).score(X, y, groups)
    assert baseline < MPBoost(n_estimators=50).fit(X, y, groups).score(X, y, groups)


def test_order_of_rows_does_not_matter_where_columns_tie():
    """Sums over queries in another order could part them."""

    @given(st.permutations(range(30)))
    def check(order):
        rng = np.random.default_rng(1)
        x, groups = rng.normal(size=30), np.repeat(np.arange(10), 3)
        y = rng.integers(0, 3, 30)
        X = np.column_stack([-x, x, np.exp(x)])
        ranker = SingleFeatureRanker().fit(X[order], y[order], groups[order])
        assert_array_equal(ranker.coef_, SingleFeatureRanker().fit(X, y, groups).coef_)

    check()
