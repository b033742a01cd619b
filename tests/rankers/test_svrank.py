# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""SVRank: its loss and its minimum from listed pairs, and hard data."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import svrank as oracle
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from strategies import examples

from sklearn_ltr import SVRank
from sklearn_ltr._kernels import _distances
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.ranking import rows_to_rank

seeds = st.integers(0, 2**32 - 1)


def make(seed=0, n_queries=3, n_features=3):
    """Queries of 1 to 5 rows; grades few or continuous, ties, and queries far apart."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries + 1), [4, *rng.integers(1, 6, n_queries)])
    X = rng.normal(size=(len(groups), n_features))
    X[:, 1] = np.round(X[:, 1])
    X += rng.normal(size=(n_queries + 1, n_features))[groups] * (seed % 3)
    if rng.random() < 0.3:
        y = rng.normal(size=len(groups)).round(2)
    else:
        y = rng.integers(0, rng.integers(2, 5), len(groups)).astype(float)
    y[:2] = 0, 1
    order = rng.permutation(len(groups))
    return X[order], y[order], groups[order]


def distances(r, offsets, epsilon, n_threads=1):
    offsets = np.asarray(offsets, dtype=np.intp)
    slope, total = np.full(len(r), np.nan), np.empty(len(offsets) - 1)
    work = rows_to_rank(offsets, n_threads)
    _distances.distances(r, offsets, epsilon, n_threads, work, slope, total)
    return slope, total


@examples(60)
@given(
    r=st.lists(st.integers(-6, 6).map(lambda k: k / 2), min_size=2, max_size=12),
    epsilon=st.sampled_from([0.0, 0.5, 0.7, 1.0, 9.0]),
    lift=st.sampled_from([0.0, 1e6]),
)
def test_loss_and_slope_equal_brute_force(r, epsilon, lift):
    """With ties, and differences of exactly the tolerance."""
    r = np.array(r)
    slope, total = distances(np.concatenate([r + lift, r]), [0, len(r), 2 * len(r)], epsilon)
    d = r[:, None] - r
    expected = np.maximum(np.abs(d) - epsilon, 0).sum() / 2
    assert_allclose(total, [expected] * 2, rtol=1e-12, atol=1e-12)
    assert_array_equal(slope, np.tile((d > epsilon).sum(axis=1) - (d < -epsilon).sum(axis=1), 2))


def test_threads_change_nothing():
    r = np.random.default_rng(0).normal(size=3000)
    offsets = [0, 1000, 1001, 1500, 3000]
    for a, b in zip(distances(r, offsets, 0.3), distances(r, offsets, 0.3, 3), strict=True):
        assert_array_equal(a, b)


@examples(30)
@given(
    seed=seeds,
    C=st.sampled_from([0.1, 3.0, 50.0]),
    epsilon=st.sampled_from([0.0, 0.1, 0.6]),
    as_sparse=st.booleans(),
    alike=st.sampled_from(["query", "pair"]),
)
def test_minimum_over_listed_pairs(seed, C, epsilon, as_sparse, alike):
    X, y, groups = make(seed)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], groups.max() + 1)[groups]
    problem = *oracle.pairs(X, y, groups, weight, alike), C, epsilon
    expected = oracle.objective(oracle.solve(*problem), *problem)
    given = sparse.csr_array(X) if as_sparse else X
    model = SVRank(C, epsilon=epsilon, pair_weighting=alike, tol=1e-7)
    model.fit(given, y, groups, query_weight=weight)
    found = oracle.objective(model.coef_, *problem)
    assert found <= expected * (1 + 1e-6) + 1e-9
    assert found >= expected * (1 - 1e-4) - 1e-9


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_tol_bounds_the_excess(tol):
    X, y, groups = make_ranking(n_queries=8, random_state=0)
    problem = *oracle.pairs(X, y, groups), 10.0, 0.1
    loose, tight = (
        oracle.objective(SVRank(10.0, tol=t).fit(X, y, groups).coef_, *problem) for t in (tol, 1e-7)
    )
    assert loose - tight <= tol * loose


def test_one_pair_by_hand():
    """w^2 / 2 + C max(0, |2 w - 3| - 1/2) is least at w = 2 C, or where the pair costs nothing."""
    data = [[1.0], [3.0]], [0, 3], [7, 7]
    assert SVRank(0.5, epsilon=0.5).fit(*data).coef_ == pytest.approx([1.0])
    assert SVRank(9.0, epsilon=0.5, tol=1e-9).fit(*data).coef_ == pytest.approx([1.25])


def test_distances_are_kept():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 3)), np.arange(60) // 10
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=6)[groups]
    y[5] += 100  # a median is not moved by one of many
    model = SVRank(1e3, epsilon=0, tol=1e-6).fit(X, y, groups)
    assert_allclose(model.coef_, [1.0, -2.0, 0.5], atol=1e-2)


def test_a_tolerance_beyond_all_differences_warns():
    X, y, groups = make()
    with pytest.warns(ConstantModelWarning, match="lower `epsilon`"):
        model = SVRank(epsilon=10).fit(X, y, groups)
    assert_array_equal(model.coef_, 0)


def test_what_queries_have_in_common_is_not_seen():
    X, y, groups = make_ranking(n_queries=10, random_state=0)
    far = 1e6 * np.random.default_rng(0).normal(size=(10, X.shape[1]))[groups]
    expected = SVRank(tol=1e-6).fit(X, y, groups)
    found = SVRank(tol=1e-6).fit(X + far, y + 64.0 * groups, groups)
    assert_allclose(found.predict(X), expected.predict(X), rtol=1e-2, atol=1e-2)


def test_memory_does_not_grow_with_the_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 10))
    y, groups = X[:, 0] + rng.normal(size=50_000), np.zeros(50_000)
    tracemalloc.start()
    model = SVRank().fit(X, y, groups)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nbytes  # a list of the pairs would take thousands of times that
    assert model.coef_[0] > 20 * np.abs(model.coef_[1:]).max()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C == 0"),
        ({"epsilon": -0.1}, "epsilon == -0.1"),
        ({"epsilon": np.nan}, "epsilon == nan"),
        ({"tol": 0.0}, "tol == 0"),
        ({"max_iter": 0}, "max_iter == 0"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        SVRank(**params).fit(*make())


def test_max_iter_warns():
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"SVRank stopped after 2 planes .* raise max_iter"):
        model = SVRank(100.0, max_iter=2).fit(X, y, groups)
    assert model.n_iter_ == 2


def test_C_and_epsilon_are_in_proportion_to_the_grades():
    X, y, groups = make_ranking(n_queries=10, random_state=0)
    model = SVRank(2.0, epsilon=0.1, tol=1e-6).fit(X, y, groups)
    larger = SVRank(16.0, epsilon=0.8, tol=1e-6).fit(X, 8 * y, groups)
    assert_allclose(larger.coef_, 8 * model.coef_, rtol=1e-9)
