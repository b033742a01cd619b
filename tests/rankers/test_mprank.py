# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPRank: the minimum over listed pairs, by either solver, and hard data."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import mprank as oracle
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from strategies import examples

from sklearn_ltr import MPRank
from sklearn_ltr.rankers import mprank

seeds = st.integers(0, 2**32 - 1)
ALIKE = st.sampled_from(["query", "pair"])


@pytest.fixture(params=["at once", "by steps"])
def solver(request, monkeypatch):
    if request.param == "by steps":
        monkeypatch.setattr(mprank, "MOST_FEATURES", 0)


def make(seed=0, n_queries=6, n_features=4):
    """Queries of 1 to 9 rows; grades few or continuous, ties, a constant column, and a gap."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries + 1), [5, *rng.integers(1, 10, n_queries)])
    X = rng.normal(size=(len(groups), n_features))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 3.0
    X += rng.normal(size=(n_queries + 1, n_features))[groups] * (seed % 3)
    if rng.random() < 0.3:
        y = rng.normal(size=len(groups)).round(2)
    else:
        y = rng.integers(0, rng.integers(2, 5), len(groups)).astype(float)
    y[:2] = 0, 1
    order = rng.permutation(len(groups))
    return X[order], y[order], groups[order]


@pytest.mark.parametrize("by_steps", [False, True])
@examples(40)
@given(seed=seeds, C=st.sampled_from([1e-3, 1.0, 30.0, 1e4]), as_sparse=st.booleans(), alike=ALIKE)
def test_minimum_over_listed_pairs(by_steps, seed, C, as_sparse, alike):
    X, y, groups = make(seed)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], groups.max() + 1)[groups]
    problem = *oracle.pairs(X, y, groups, weight, alike), C
    expected = oracle.solve(*problem)
    with pytest.MonkeyPatch.context() as patch:
        if by_steps:
            patch.setattr(mprank, "MOST_FEATURES", 0)
        given = sparse.csr_array(X) if as_sparse else X
        model = MPRank(C, pair_weighting=alike)
        found = model.fit(given, y, groups, query_weight=weight).coef_
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert oracle.objective(found, *problem) == pytest.approx(oracle.objective(expected, *problem))


@examples(15)
@given(seed=seeds)
def test_mean_over_ordered_pairs(seed):
    """Of all rows as one query, with the C that goes with it."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 12))
    X, y = rng.normal(size=(m, 3)), np.arange(m) + rng.normal(size=m)
    C = 5.0
    w = MPRank(C * (m - 1) / (2 * m)).fit(X, y, np.zeros(m)).coef_
    slope = approx_fprime(w, oracle.objective_of_ordered_pairs, 1e-6, X, y, C)
    assert_allclose(slope, 0, atol=1e-3)


def test_two_rows_by_hand(solver):
    """One pair, one feature: w^2 / 2 + C (2 w - 3)^2 is least at w = 12 C / (1 + 8 C)."""
    model = MPRank(0.5).fit([[1.0], [3.0]], [0, 3], [7, 7])
    assert model.coef_ == pytest.approx([6 / 5])


def test_one_query_is_ridge_regression(solver):
    X, y, _ = make(3)
    n, C = len(y), 2.0
    ridge = Ridge(alpha=(n - 1) / (4 * C)).fit(X, y)
    assert_allclose(MPRank(C).fit(X, y, np.zeros(n)).coef_, ridge.coef_, rtol=1e-8, atol=1e-10)


def test_distances_are_kept():
    """What a linear function can keep is kept as C grows."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 3)), np.arange(60) // 10
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=6)[groups]
    assert_allclose(MPRank(1e9).fit(X, y, groups).coef_, [1.0, -2.0, 0.5], rtol=1e-7)


def test_rows_of_one_grade_are_drawn_together(solver):
    """Unlike those of preference pairs; without the tie the first feature would weigh more."""
    X, groups = np.array([[0.0], [1.0], [2.0]]), np.zeros(3)
    # 2 / 3 C sum of (w d - t)^2 over (1, 0), (1, 1), (2, 1), with C = 3 / 2.
    assert MPRank(1.5).fit(X, [0, 0, 1], groups).coef_ == pytest.approx([3 / 7])


def test_what_queries_have_in_common_is_not_seen(solver):
    X, y, groups = make(4)
    far = 1e7 * np.random.default_rng(0).normal(size=(groups.max() + 1, X.shape[1]))[groups]
    expected = MPRank().fit(X, y, groups)
    assert_allclose(MPRank().fit(X + far, y, groups).coef_, expected.coef_, rtol=1e-5, atol=1e-8)
    lifted = MPRank().fit(X, y + 64.0 * groups, groups)
    assert_allclose(lifted.coef_, expected.coef_, rtol=1e-10, atol=1e-12)


def test_badly_scaled_and_repeated_columns(solver):
    X, y, groups = make(7, n_queries=30)
    X = np.column_stack([X * [1e6, 1.0, 1.0, 1e-4], X[:, 0]])
    problem = *oracle.pairs(X, y, groups), 1e5
    found, expected = MPRank(1e5).fit(X, y, groups).coef_, oracle.solve(*problem)
    assert oracle.objective(found, *problem) == pytest.approx(oracle.objective(expected, *problem))


def test_singular_to_the_precision_of_numbers(monkeypatch):
    """Then the features themselves are solved with, not their squares."""
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(40, 2)), np.arange(40) // 8
    X = np.column_stack([X, X.sum(axis=1)])
    y = X @ [1.0, 2.0, 0.0] + 0.1 * rng.normal(size=40)
    found, at_once = [], mprank._solve_at_once
    monkeypatch.setattr(mprank, "_solve_at_once", lambda *a: found.append(at_once(*a)))
    model = MPRank(1e18).fit(X, y, groups)
    assert found == [None]
    # Which of the equivalent weights they are is beyond the precision; what they give is not.
    expected = oracle.solve(*oracle.pairs(X, y, groups), 1e6)
    assert_allclose(model.predict(X), X @ expected, rtol=1e-4, atol=1e-4)


def test_more_features_than_rows(solver):
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(12, 30)), np.tile([0.0, 1, 2], 4), np.arange(12) // 6
    expected = oracle.solve(*oracle.pairs(X, y, groups), 10.0)
    assert_allclose(MPRank(10.0).fit(X, y, groups).coef_, expected, rtol=1e-8)


def test_very_many_sparse_features():
    """The matrix of the features squared would take 80 GB."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 100_000), density=1e-3, rng=rng, format="csr")
    y, groups = rng.integers(0, 3, 300), np.arange(300) // 10
    model = MPRank(1.0).fit(X, y, groups)
    assert model.score(X, y, groups) == 1
    Xw = X @ model.coef_ - y
    slope = model.coef_.copy()
    for q in range(30):
        rows = slice(10 * q, 10 * q + 10)
        residual = Xw[rows] - Xw[rows].mean()
        slope += 4 / (9 * 30) * (X[rows].T @ residual)
    assert_allclose(slope, 0, atol=1e-9)


def test_too_few_steps_warn(monkeypatch):
    monkeypatch.setattr(mprank, "MOST_FEATURES", 0)
    monkeypatch.setattr(mprank, "MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="in 1 steps.* lower C"):
        MPRank(100.0).fit(*make())


def test_memory_does_not_grow_with_the_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 10))
    y, groups = X[:, 0] + rng.normal(size=50_000), np.zeros(50_000)
    tracemalloc.start()
    MPRank().fit(X, y, groups)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * X.nbytes  # a list of the pairs would take thousands of times that


@pytest.mark.parametrize("C", [0, -1.0, np.nan, np.inf])
def test_wrong_C(C):
    with pytest.raises(ValueError, match="C == "):
        MPRank(C).fit(*make())


def test_queries_of_one_grade_are_skipped():
    X, y, groups = make(2)
    more = np.vstack([X, 9 * np.ones((3, 4))])
    more[-1] = 0
    model = MPRank().fit(more, [*y, 1, 1, 1], [*groups, 99, 99, 99])
    assert_array_equal(model.coef_, MPRank().fit(X, y, groups).coef_)
