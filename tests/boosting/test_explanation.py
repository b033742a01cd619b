# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scores of stump rankers as sums of one-feature step functions.

Every `StumpBoosting` that a walk through the package finds is tested.
"""

import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from strategies import examples, ranking_problems

import sklearn_ltr
from sklearn_ltr import FRank, MPBoost, RankBoost
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.weak import step_functions

STOPPING = {"early_stopping": True, "n_iter_no_change": 3, "validation_fraction": 0.3}


def find_stump_rankers():
    """Every public stump ranker of the package."""
    found = set()
    for info in pkgutil.walk_packages(sklearn_ltr.__path__, "sklearn_ltr."):
        for value in vars(importlib.import_module(info.name)).values():
            if inspect.isclass(value) and issubclass(value, StumpBoosting):
                found.add(value)
    return sorted(found - {StumpBoosting}, key=lambda R: R.__name__)


STUMP_RANKERS = find_stump_rankers()
each_ranker = pytest.mark.parametrize("R", STUMP_RANKERS, ids=lambda R: R.__name__)


def make_data(seed=0, n_queries=30):
    X, y, groups = make_ranking(n_queries=n_queries, random_state=seed)
    rng = np.random.default_rng(seed)
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.2] = 0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, groups


def check_explanation(ranker, X):
    """Contributions and shape functions say what the ranker predicts at `X`, and nothing else."""
    scores, contributions = ranker.predict(X), ranker.contributions(X)
    assert contributions.shape == X.shape
    assert contributions.dtype == np.float64
    assert_array_equal(np.asarray(sum(contributions.T)), scores)
    assert_allclose(contributions.sum(axis=1), scores, rtol=1e-12, atol=1e-12)

    stumps = [weak for _, weak in ranker.model_.first(ranker.best_iteration_).terms]
    unused = np.setdiff1d(np.arange(X.shape[1]), [stump.feature for stump in stumps])
    assert not contributions[:, unused].any()
    for k in range(X.shape[1]):
        thresholds, values = ranker.shape_function(k)
        assert len(values) == len(thresholds) + 2
        assert thresholds.dtype == values.dtype == np.float64
        own = [weak.threshold for weak in stumps if weak.feature == k and weak.threshold < np.inf]
        assert_array_equal(thresholds, np.unique(own))
        # At each threshold, right above it, and where the value is missing.
        x = np.concatenate([thresholds, np.nextafter(thresholds, np.inf), [-1e300, 1e300, np.nan]])
        m = len(thresholds)
        expected = [*values[:m], *values[1 : m + 1], values[0], values[m], values[-1]]
        probes = np.full((len(x), X.shape[1]), np.nan)
        probes[:, k] = x
        assert_array_equal(ranker.contributions(probes)[:, k], expected)
    return contributions


def test_walk_finds_the_stump_rankers():
    assert {FRank, MPBoost, RankBoost} <= set(STUMP_RANKERS)
    for R in STUMP_RANKERS:
        for method in (R.contributions, R.shape_function):
            assert "Parameters\n" in method.__doc__


@each_ranker
def test_contributions_sum_to_the_scores(R):
    X, y, groups = make_data()
    ranker = R(n_estimators=40).fit(X, y, groups)
    contributions = check_explanation(ranker, X)
    assert len(np.unique([weak.feature for _, weak in ranker.model_.terms])) > 2
    assert_array_equal(ranker.set_params(n_jobs=2).contributions(X), contributions)
    assert_array_equal(ranker.contributions(X[7:9]), contributions[7:9])
    assert ranker.contributions(X[:1]).shape == (1, X.shape[1])
    # As the stumps say, one by one.
    by_hand = np.zeros(X.shape)
    for coefficient, stump in ranker.model_.terms:
        by_hand[:, stump.feature] += coefficient * stump.predict(X)
    assert_allclose(contributions, by_hand, rtol=1e-12, atol=1e-12)


@each_ranker
def test_best_iteration_counts(R):
    """As for `predict`, rounds after the best one do not."""
    X, y, groups = make_data(n_queries=20)
    ranker = R(n_estimators=60, random_state=0, **STOPPING).fit(X, y, groups)
    assert ranker.best_iteration_ < ranker.n_iter_
    check_explanation(ranker, X)
    thresholds = [len(ranker.shape_function(k)[0]) for k in range(X.shape[1])]
    assert sum(thresholds) <= ranker.best_iteration_


@each_ranker
def test_warm_start_and_learning_rate(R):
    X, y, groups = make_data()
    ranker = R(n_estimators=5, warm_start=True, learning_rate=0.25).fit(X, y, groups)
    before = check_explanation(ranker, X)
    ranker.set_params(n_estimators=20, learning_rate=0.5).fit(X, y, groups)
    assert not np.array_equal(check_explanation(ranker, X), before)
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).contributions(X), ranker.contributions(X))


@each_ranker
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("chunk", [7, 10_000])
def test_sparse_and_single_precision(R, form, chunk, monkeypatch):
    X, y, groups = make_data()
    ranker = R(n_estimators=20).fit(X, y, groups)
    expected = ranker.contributions(X)
    monkeypatch.setattr(step_functions, "CHUNK", chunk)
    contributions = ranker.contributions(form(X))
    assert isinstance(contributions, np.ndarray)
    assert_array_equal(contributions, expected)
    X = X.astype(np.float32)
    assert_array_equal(ranker.contributions(form(X)), ranker.contributions(X))
    assert_array_equal(np.asarray(sum(ranker.contributions(X).T)), ranker.predict(X))


@each_ranker
def test_unused_feature(R):
    X = np.column_stack([np.zeros(6), [0, 1, 2, 3, 4, np.nan]])
    ranker = R(n_estimators=3).fit(X, [0, 1, 2, 3, 4, 0], np.zeros(6))
    thresholds, values = ranker.shape_function(0)
    assert thresholds.shape == (0,)
    assert_array_equal(values, [0, 0])
    assert len(ranker.shape_function(1)[0])
    check_explanation(ranker, X)


@each_ranker
def test_nothing_learnt(R):
    """No stump parts rows that are all equal."""
    X = np.ones((4, 2))
    ranker = R(n_estimators=3).fit(X, [0, 1, 0, 1], np.zeros(4))
    assert ranker.n_iter_ == 0
    assert_array_equal(ranker.contributions(X), np.zeros((4, 2)))
    assert_array_equal(ranker.shape_function(1)[1], [0, 0])


def test_only_missing_values_are_above():
    X = np.array([[1.0], [1.0], [np.nan]])
    ranker = MPBoost(n_estimators=1).fit(X, [0, 0, 1], np.zeros(3))
    assert ranker.model_.terms[0][1].threshold == np.inf
    thresholds, values = ranker.shape_function(0)
    assert thresholds.shape == (0,)
    assert values[0] == 0 < values[1]
    check_explanation(ranker, X)


@each_ranker
def test_features_by_name(R):
    X, y, groups = make_data(n_queries=10)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    ranker = R(n_estimators=10).fit(frame, y, groups)
    k = ranker.model_.terms[0][1].feature
    for by_name, by_number in zip(
        ranker.shape_function(f"f{k}"), ranker.shape_function(np.int32(k)), strict=True
    ):
        assert_array_equal(by_name, by_number)
    assert_array_equal(sum(ranker.contributions(frame).T), ranker.predict(frame))
    with pytest.raises(ValueError, match=r"'query', which is no column of `X`: .* named"):
        ranker.shape_function("query")
    with pytest.raises(ValueError, match=r"feature names should match"):
        ranker.contributions(frame[frame.columns[::-1]])


@each_ranker
def test_bad_features(R):
    X, y, groups = make_data(n_queries=10)
    ranker = R(n_estimators=2)
    with pytest.raises(NotFittedError):
        ranker.contributions(X)
    with pytest.raises(NotFittedError):
        ranker.shape_function(0)
    ranker.fit(X, y, groups)
    for feature in (-1, X.shape[1], 10**30, None, 1.0, True, [1], b"f1", "f1"):
        with pytest.raises(ValueError, match=r"`feature` has .* no column of `X`: there are 20"):
            ranker.shape_function(feature)
    with pytest.raises(ValueError, match="expecting 20 features"):
        ranker.contributions(X[:, 1:])
    with pytest.raises(ValueError, match="infinity"):
        ranker.contributions(np.full(X.shape, np.inf))


@each_ranker
def test_shape_functions_are_copies(R):
    X, y, groups = make_data(n_queries=10)
    ranker = R(n_estimators=5).fit(X, y, groups)
    scores = ranker.predict(X)
    for k in range(X.shape[1]):
        for array in ranker.shape_function(k):
            array[:] = 7
    assert_array_equal(ranker.predict(X), scores)


@examples(30)
@given(problem=ranking_problems(), rounds=st.integers(1, 6), data=st.data())
@each_ranker
def test_awkward_problems(R, problem, rounds, data):
    X, y, groups, query_weight = problem
    ranker = R(n_estimators=rounds).fit(X, y, groups, query_weight)
    rows = data.draw(st.permutations(range(len(X))))
    contributions = check_explanation(ranker, X[rows])
    assert_array_equal(ranker.contributions(sparse.csr_array(X[rows])), contributions)
