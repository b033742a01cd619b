# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of stumps, one by one and collapsed to step functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from strategies import examples

from sklearn_ltr.boosting.additive import AdditiveModel
from sklearn_ltr.weak import step_functions as module
from sklearn_ltr.weak.step_functions import StepFunctions
from sklearn_ltr.weak.stump import Stump

values = st.sampled_from([-2.0, -1.0, -0.0, 0.0, 0.5, np.nextafter(0.5, 1), 3.0, np.inf, np.nan])
thresholds = st.sampled_from([-1.5, -0.0, 0.0, 0.25, 0.5, 2.0, np.inf])
stumps = st.builds(
    Stump,
    feature=st.integers(0, 3),
    bin=st.just(0),
    threshold=thresholds,
    missing_above=st.booleans(),
    gain=st.floats(0.01, 1),
    value=st.floats(-3, 3),
)
terms = st.lists(st.lists(st.tuples(st.floats(0.1, 1), stumps), max_size=3), max_size=8)


def predict(model, X, n_threads=1):
    return model.collapse().predict(X, n_threads)


def scores_by_hand(rounds, X):
    scores = np.zeros(len(X))
    for i, row in enumerate(X):
        for coefficient, stump in (term for terms in rounds for term in terms):
            x = row[stump.feature]
            if stump.missing_above if np.isnan(x) else x > stump.threshold:
                scores[i] += coefficient * stump.value
    return scores


@examples(100)
@given(rounds=terms, rows=st.lists(st.tuples(*[values] * 4), min_size=1, max_size=6))
def test_scores_equal_the_sum_of_stumps(rounds, rows):
    X = np.array(rows)
    model = AdditiveModel(4, rounds)
    expected = scores_by_hand(rounds, X)
    close = {"rtol": 1e-12, "atol": 1e-12}
    assert_allclose(predict(model, X), expected, **close)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(rounds)
    for t, stage in enumerate(stages):
        assert_allclose(stage, scores_by_hand(rounds[: t + 1], X), **close)
        assert_allclose(predict(model.first(t + 1), X), stage, **close)
    scores = predict(model, X)
    assert scores.dtype == np.float64
    assert_array_equal(predict(model, X, n_threads=2), scores)
    assert_array_equal(predict(model, np.asfortranarray(X)), scores)
    assert_array_equal(predict(model, X[::-1])[::-1], scores)
    assert_array_equal(predict(model, sparse.csr_array(X)), scores)


def make(seed, n=40, n_rounds=30, n_features=6):
    rng = np.random.default_rng(seed)
    rounds = []
    for _ in range(n_rounds):
        feature, missing_above = rng.integers(n_features), rng.random() < 0.5
        stump = Stump(feature, 0, rng.normal(), missing_above, 1.0, rng.normal())
        rounds.append([(0.5, stump)])
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.6)
    X[rng.random(X.shape) < 0.1] = np.nan
    return AdditiveModel(n_features, rounds), X


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("chunk", [1, 7, 40, 41, 1000])
def test_sparse_rows_in_chunks(form, chunk, monkeypatch):
    model, X = make(0)
    X[5:9] = 0
    monkeypatch.setattr(module, "CHUNK", chunk)
    S = form(X)
    if S.format == "csr":
        assert_array_equal(predict(model, S), predict(model, X))
    for one, two in zip(model.staged_predict(S), model.staged_predict(X), strict=True):
        assert_array_equal(one, two)


def test_single_precision_is_compared_exactly():
    """A threshold halfway between neighbours of 32 bits is none of them."""
    low, high = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    above = np.nextafter(high, np.float32(2))
    for a, b in ((low, high), (high, above)):
        threshold = (float(a) + float(b)) / 2
        model = AdditiveModel(1, [[(1.0, Stump(0, 0, threshold, False, 1.0, 2.0))]])
        X = np.array([[a], [b]])
        assert X.dtype == np.float32
        assert_array_equal(predict(model, X), [0, 2])
        assert_array_equal(list(model.staged_predict(X)), [[0, 2]])
        assert_array_equal(list(model.staged_predict(sparse.csr_array(X))), [[0, 2]])


def test_stages_are_arrays_of_their_own():
    model, X = make(1, n_rounds=3)
    first, second, _ = model.staged_predict(X)
    assert not np.shares_memory(first, second)
    assert not np.array_equal(first, second)


def test_no_terms():
    model = AdditiveModel(3)
    X = np.ones((4, 3))
    assert_array_equal(predict(model, X), np.zeros(4))
    assert_array_equal(predict(model, sparse.csr_array(X)), np.zeros(4))
    assert list(model.staged_predict(X)) == []
    assert_array_equal(model.importances(), np.zeros((2, 3)))


def test_no_rows():
    model, X = make(2)
    assert predict(model, X[:0]).shape == (0,)
    assert predict(model, sparse.csr_array(X[:0])).shape == (0,)


def test_importances_are_shares_of_the_gain():
    def stump(feature, gain):
        return Stump(feature, 0, 0.0, False, gain, 1.0)

    model = AdditiveModel(4, [[(0.1, stump(2, 3.0))], [(1.0, stump(0, 1.0)), (1.0, stump(2, 4.0))]])
    assert_array_equal(model.importances()[0], [1 / 8, 0, 7 / 8, 0])
    assert_array_equal(model.importances()[1], [1, 0, 2, 0])
    assert_array_equal(model.first(1).importances(), [[0, 0, 1, 0], [0, 0, 1, 0]])
    assert model.terms == [term for terms in model.rounds for term in terms]


def test_size_of_a_collapsed_model_is_that_of_its_thresholds():
    stumps = [(1.0, Stump(1, 0, t % 3, False, 1.0, 1.0)) for t in range(300)]
    steps = StepFunctions(stumps)
    assert steps.features.tolist() == [1]
    assert steps.starts.tolist() == [0, 3]
    X = np.array([[0.0, -1.0], [0, 0], [0, 0.5], [0, 1], [0, 1.5], [0, 3], [0, np.nan]])
    assert_array_equal(steps.predict(X), [0, 0, 100, 100, 200, 300, 0])
