# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM: its objective from listed pairs, its minimum by general solvers, and hard data."""

import tracemalloc
import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import ranksvm as oracle
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.svm import LinearSVC
from strategies import examples

from sklearn_ltr import RankSVM
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.losses import SquaredHinge
from sklearn_ltr.rankers.ranksvm import LOSSES, _Primal
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.scorers import get_scorer

each_loss = pytest.mark.parametrize("loss", LOSSES)
seeds = st.integers(0, 2**32 - 1)
SMOOTHED = (None, 2.0, 0.5, 1e-3)


def make(seed=0, n_queries=6, n_features=4):
    """Queries of 1 to 9 rows; grades few or continuous, ties, and a column that is constant."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries + 1), [5, *rng.integers(1, 10, n_queries)])
    X = rng.normal(size=(len(groups), n_features))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = 3.0
    if rng.random() < 0.3:
        y = rng.normal(size=len(groups)).round(2)
    else:
        y = rng.integers(0, rng.integers(2, 5), len(groups)).astype(float)
    y[:2] = 0, 1
    order = rng.permutation(len(groups))
    return X[order], y[order], groups[order]


def assert_solved(model, X, y, groups, rtol=1e-6, weight=None):
    """The objective is that of a general solver."""
    problem = *oracle.pairs(X, y, groups, weight, model.pair_weighting), model.C
    solve = oracle.solve_hinge if model.loss == "hinge" else oracle.solve_squared_hinge
    w = solve(*problem)
    expected = oracle.objective(w, *problem, model.loss)
    found = oracle.objective(model.coef_, *problem, model.loss)
    assert found == pytest.approx(expected, rel=rtol)
    return w


# The objective


def primal(X, y, groups, half_width, C=2.0, weight=None):
    """The objective at w = 0, features scaled, and the problem as pairs."""
    has_pairs = [np.ptp(y[groups == g]) > 0 for g in range(groups.max() + 1)]
    rows = np.argsort(groups, kind="stable")
    rows = rows[np.array(has_pairs)[groups[rows]]]
    sizes = np.unique(groups[rows], return_counts=True)[1]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    v = np.ones(len(rows)) if weight is None else weight[rows]
    v = v[offsets[:-1]]
    scale = np.linspace(0.5, 2, X.shape[1])
    u = np.zeros(X.shape[1])
    data = RankingData.of(y[rows], offsets, v)
    F = _Primal(X[rows], data, C * v / v.sum(), scale, half_width, u)
    return F, scale, oracle.pairs(X, y, groups, weight, "query")


def move(F, u):
    F._move(u, F._X @ (u / F._scale), F._evaluate(F._X @ (u / F._scale)))
    return F


def loss_of(m, h):
    if h is None:
        return np.maximum(m, 0) ** 2
    inside = np.clip((m + h) ** 2 / (4 * h), 0, None)
    return np.where(m <= -h, 0.0, np.where(m >= h, m, inside))


@pytest.mark.parametrize("h", SMOOTHED)
@examples(25)
@given(seed=seeds)
def test_value_equals_brute_force(h, seed):
    X, y, groups = make(seed)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], groups.max() + 1)[groups]
    F, scale, (differences, shares) = primal(X, y, groups, h, weight=weight)
    for size in (0.0, 0.3, 3.0):
        w = size * np.sin(np.arange(X.shape[1]) + 1)
        expected = w @ w / 2 + 2 * shares @ loss_of(1 - differences @ w, h)
        assert move(F, scale * w).value == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("h", SMOOTHED[:3])
@examples(25)
@given(seed=seeds)
def test_gradient_and_hessian_equal_differences(h, seed):
    X, y, groups = make(seed)
    F, scale, (differences, _) = primal(X, y, groups, h)
    u = np.cos(np.arange(X.shape[1]) + seed % 7)
    m = 1 - differences @ (u / scale)
    kinks = [0.0] if h is None else [-h, h]
    step = 1e-5
    if min(np.abs(m - kink).min() for kink in kinks) < 1e-3:
        return  # differences across a kink say nothing of the Hessian
    moves = step * np.eye(len(u))
    sides = [[(move(F, u + s * e).value, F.gradient.copy()) for s in (1, -1)] for e in moves]
    slopes = [(up[0] - down[0]) / (2 * step) for up, down in sides]
    bends = [(up[1] - down[1]) / (2 * step) for up, down in sides]
    move(F, u)
    assert_allclose(F.gradient, slopes, rtol=1e-6, atol=1e-7)
    hessian = [F.hessian() @ e for e in np.eye(len(u))]
    assert_allclose(hessian, bends, rtol=1e-5, atol=1e-6)
    assert F.gap == pytest.approx((scale * F.gradient) @ (scale * F.gradient) / 2)


@examples(50)
@given(seed=seeds, h=st.sampled_from([2.0, 0.5, 1e-2, 1e-4]))
def test_smoothing_gap_equals_brute_force(seed, h):
    X, y, groups = make(seed)
    F, scale, (differences, shares) = primal(X, y, groups, h)
    w = np.cos(np.arange(X.shape[1]) + 1)
    alpha = np.clip((1 - differences @ w + h) / (2 * h), 0, 1)
    expected = h * 2.0 * shares @ (alpha * (1 - alpha))
    assert move(F, scale * w).smoothing_gap() == pytest.approx(expected, rel=1e-6, abs=1e-10)


@examples(50)
@given(seed=seeds, half_width=st.sampled_from(SMOOTHED))
def test_a_step_goes_downhill(seed, half_width):
    X, y, groups = make(seed)
    F = primal(X, y, groups, half_width)[0]
    for factor in (1e-8, 1e-2, 1.0, 1e3, 1e9):
        before, slope, start = F.value, F.gradient.copy(), F.u
        assert F.advance(-factor * slope)
        assert F.value < before
        # Close to the minimum along the line, not just any lower point.
        assert abs(F.gradient @ slope) <= 0.11 * (slope @ slope)
        move(F, start)


# Its minimum


@examples(25)
@given(
    seed=seeds,
    C=st.sampled_from([0.01, 1.0, 30.0, 1000.0]),
    alike=st.sampled_from(["pair", "query"]),
    weighted=st.booleans(),
)
def test_squared_hinge_equals_general_solver(seed, C, alike, weighted):
    X, y, groups = make(seed)
    weight = None
    if weighted:
        weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], groups.max() + 1)[groups]
    model = RankSVM(C=C, pair_weighting=alike, tol=1e-12)
    model.fit(X, y, groups, query_weight=weight)
    w = assert_solved(model, X, y, groups, 1e-9, weight)
    assert_allclose(model.coef_, w, rtol=1e-5, atol=1e-6)
    assert_allclose(model.predict(X), X @ w, rtol=1e-5, atol=1e-5)


@examples(10)
@given(seed=seeds, C=st.sampled_from([0.01, 1.0, 30.0]), alike=st.sampled_from(["pair", "query"]))
def test_hinge_equals_general_solver(seed, C, alike):
    X, y, groups = make(seed, n_queries=2)
    model = RankSVM(C=C, loss="hinge", pair_weighting=alike).fit(X, y, groups)
    w = assert_solved(model, X, y, groups)
    # By strong convexity: the root of twice the gap.
    F = oracle.objective(w, *oracle.pairs(X, y, groups, None, alike), C, "hinge")
    assert np.linalg.norm(model.coef_ - w) <= np.sqrt(2 * 2e-6 * F) + 1e-6


@pytest.mark.parametrize("seed", [32, 189, 582, 1463])
def test_hinge_is_smoothed_no_more_than_rounding_allows(seed):
    """Where values are differences of much larger sums, rounding must not look like a rise."""
    X, y, groups = make(seed, n_queries=2)
    assert_solved(RankSVM(C=30.0, loss="hinge").fit(X, y, groups), X, y, groups)


@each_loss
def test_equals_linear_svc_on_differences(loss):
    X, y, groups = make(3, n_queries=12)
    differences, shares = oracle.pairs(X, y, groups)
    sign = np.where(np.arange(len(differences)) % 2, 1.0, -1.0)
    svc = LinearSVC(C=5.0, loss=loss, fit_intercept=False, dual=True, tol=1e-10, max_iter=10**6)
    svc.fit(sign[:, None] * differences, sign, sample_weight=shares)
    model = RankSVM(C=5.0, loss=loss).fit(X, y, groups)
    found, expected = (
        oracle.objective(w, differences, shares, 5.0, loss) for w in (model.coef_, svc.coef_[0])
    )
    assert found == pytest.approx(expected, rel=1e-6)
    assert_allclose(model.coef_, svc.coef_[0], rtol=1e-3, atol=1e-4)


@each_loss
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
def test_tol_bounds_the_excess(loss, tol):
    X, y, groups = make_ranking(n_queries=30, n_features=10, random_state=0)
    pairs = oracle.pairs(X, y, groups)
    F = [
        oracle.objective(RankSVM(3.0, loss=loss, tol=t).fit(X, y, groups).coef_, *pairs, 3.0, loss)
        for t in (tol, 1e-8)
    ]
    assert -1e-8 <= F[0] / F[1] - 1 <= tol


def test_queries_without_pairs_do_not_count():
    X, y, groups = make(1)
    more = np.concatenate([X, X[:3]]), np.append(y, [1, 1, 1]), np.append(groups, [99, 99, 98])
    one, other = RankSVM(tol=1e-12).fit(X, y, groups), RankSVM(tol=1e-12).fit(*more)
    assert other.n_queries_skipped_ == one.n_queries_skipped_ + 2
    assert_allclose(other.coef_, one.coef_, rtol=1e-10)


@each_loss
def test_only_ratios_of_query_weights_matter(loss):
    X, y, groups = make(2)
    weight = 1.0 + groups % 3
    one = RankSVM(loss=loss).fit(X, y, groups, query_weight=weight)
    other = RankSVM(loss=loss).fit(X, y, groups, query_weight=8 * weight)
    assert_allclose(other.coef_, one.coef_, rtol=1e-12)


def test_a_query_of_weight_2_is_the_query_twice():
    X, y, groups = make(2)
    twice = groups < 2
    both = [np.concatenate([a, a[twice]]) for a in (X, y)]
    alike = {"pair_weighting": "query", "tol": 1e-12}
    one = RankSVM(**alike).fit(X, y, groups, query_weight=1.0 + twice)
    other = RankSVM(**alike).fit(*both, np.append(groups, 100 + groups[twice]))
    assert_allclose(other.coef_, one.coef_, rtol=1e-5)


def test_pairs_count_the_same_as_in_the_paper():
    """A long query outvotes a short one; the minima are those of the sums over listed pairs."""
    X = np.array([[0, 0], [1, 0], [0, 0], [-1, 1], [-1, 1], [-1, 1.0]])
    y, groups = np.array([0, 1, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    by_pair = RankSVM(C=1 / 4, tol=1e-12).fit(X, y, groups)
    by_query = RankSVM(C=1.0, pair_weighting="query", tol=1e-12).fit(X, y, groups)
    assert_allclose(by_pair.coef_, [-1 / 21, 4 / 7], rtol=1e-6)
    assert_allclose(by_query.coef_, [0.2, 0.6], rtol=1e-6)


@each_loss
def test_only_the_order_of_grades_matters(loss):
    X, y, groups = make(4)
    one = RankSVM(loss=loss).fit(X, y, groups)
    other = RankSVM(loss=loss).fit(X, np.exp(3 * y) - 7, groups)
    assert_allclose(other.coef_, one.coef_, rtol=1e-6, atol=1e-9)


# Hard data


@each_loss
def test_a_common_part_of_a_query_takes_no_digits(loss):
    X, y, groups = make(5, n_features=3)
    X = np.round(64 * X) / 64  # so that the shift is exact
    shift = 2.0**30 * np.random.default_rng(0).integers(-9, 9, (groups.max() + 1, 3))
    one = RankSVM(loss=loss).fit(X, y, groups)
    other = RankSVM(loss=loss).fit(X + shift[groups], y, groups)
    assert_allclose(other.coef_, one.coef_, rtol=1e-5, atol=1e-7)


@each_loss
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e3])
def test_sparse_equals_dense(loss, C):
    X, y, groups = make_ranking(n_queries=30, n_features=20, random_state=0)
    X[np.abs(X) < 1] = 0
    # Of two whose losses are that near to the least, predictions may differ by its root.
    params = {"C": C, "loss": loss, "pair_weighting": "query", "tol": 5e-8}
    dense = RankSVM(**params).fit(X, y, groups)
    stored = RankSVM(**params).fit(sparse.csr_array(X), y, groups)
    assert_allclose(stored.predict(X), dense.predict(X), atol=5e-4 * np.abs(dense.coef_).max())


def test_many_sparse_features_are_never_made_dense():
    n, d = 2000, 200_000
    rng = np.random.default_rng(0)
    columns = rng.integers(0, d, (n, 10))
    X = sparse.csr_array((np.ones(10 * n), (np.repeat(np.arange(n), 10), columns.ravel())), (n, d))
    y, groups = rng.integers(0, 3, n), np.arange(n) // 20
    tracemalloc.start()
    model = RankSVM().fit(X, y, groups)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # dense: 3.2e9
    assert model.score(X, y, groups) > 0.9


@each_loss
def test_features_that_say_nothing(loss):
    _, y, groups = make(6)
    model = RankSVM(loss=loss).fit(np.zeros((len(y), 3)), y, groups)
    assert_array_equal(model.coef_, 0)
    assert model.n_iter_ == 0
    per_query = np.random.default_rng(0).normal(size=(groups.max() + 1, 3))[groups]
    model = RankSVM(loss=loss).fit(per_query, y, groups)
    assert np.abs(model.coef_).max() < 1e-12


@each_loss
def test_fewer_rows_than_features(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 30)), np.tile([0.0, 1, 2], 4)
    groups = np.arange(12) // 6
    model = RankSVM(loss=loss, C=1000.0, pair_weighting="query").fit(X, y, groups)
    assert model.score(X, y, groups) == 1
    if loss == "squared_hinge":
        assert_solved(model, X, y, groups)


@each_loss
def test_a_huge_C(loss):
    """The data can be ordered without error: as C grows, the widest margin is approached."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y, groups = np.round(X @ np.arange(5) / 3) + 6, np.arange(40) // 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = RankSVM(1e8, loss=loss).fit(X, y, groups)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y, groups) == 1


def test_badly_scaled_columns():
    X, y, groups = make(7, n_queries=30)
    factors = np.array([1e6, 1.0, 1.0, 1e-4])
    model = RankSVM(tol=1e-9).fit(X * factors, y, groups)
    assert_solved(model, X * factors, y, groups)


def test_max_iter_warns():
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 steps .* raise max_iter"):
        model = RankSVM(100.0, max_iter=1).fit(X, y, groups)
    assert model.n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="stopped after 7 steps"):
        RankSVM(100.0, loss="hinge", max_iter=7).fit(X, y, groups)


@pytest.mark.parametrize("n_grades", [2, 1000, None])
def test_one_long_query(n_grades):
    n = 100_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=n)
    if n_grades:
        y = np.floor(n_grades * np.argsort(np.argsort(y)) / n)
    groups = np.zeros(n)
    tracemalloc.start()
    model = RankSVM(pair_weighting="query", tol=1e-10).fit(X, y, groups)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * X.nbytes  # a list of the pairs would take thousands of times that
    # The gradient of the objective, by the loss on its own.
    offsets = np.array([0, n])
    pairs = (n**2 - (np.unique(y, return_counts=True)[1].astype(float) ** 2).sum()) / 2
    slope = SquaredHinge(margin=1.0).gradient(y, model.predict(X), offsets)
    assert_allclose(model.coef_ + 2 * X.T @ slope / pairs, 0, atol=1e-5)


# Parameters


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C == 0"),
        ({"C": -1.0}, "C == -1"),
        ({"C": np.nan}, "C == nan"),
        ({"C": np.inf}, "C == inf"),
        ({"tol": 0.0}, "tol == 0"),
        ({"max_iter": 0}, "max_iter == 0"),
        ({"loss": "logistic"}, "`loss` must be one of"),
        ({"pair_weighting": "queries"}, "`pair_weighting` must be one of"),
    ],
)
def test_wrong_parameters(params, message):
    X, y, groups = make()
    with pytest.raises(ValueError, match=message):
        RankSVM(**params).fit(X, y, groups)


def test_verbose_prints_a_line_each_step(capsys):
    X, y, groups = make()
    model = RankSVM(loss="hinge", verbose=1).fit(X, y, groups)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) - 1 == model.n_iter_ > 3
    assert "smoothed by 2" in lines[0]


def test_grid_search_of_C():
    X, y, groups = make_ranking(n_queries=60, random_state=0)
    search = GridSearchCV(
        RankSVM(),
        {"C": [1e-9, 1e-3, 0.1]},
        cv=GroupKFold(3),
        scoring=get_scorer("ndcg@10"),
    )
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    assert search.best_params_["C"] > 1e-9
