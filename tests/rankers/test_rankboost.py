# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost against the brute-force oracle, round by round, and what the paper proves of it."""

from contextlib import nullcontext
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import rankboost as oracle
from strategies import RankingProblem, examples, ranking_problems

from sklearn_ltr import RankBoost, ranking_data
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.pairs import list_pairs
from sklearn_ltr.rankers import rankboost as module
from sklearn_ltr.rankers.rankboost import STEPS
from sklearn_ltr.ranking_data import RankingData

LISTED = mock.patch.object(ranking_data, "preference_pairs", list_pairs)


def fit(problem, *, listed=False, **params):
    X, y, groups, query_weight = problem
    model = RankBoost(**params)
    if listed:
        with LISTED:
            return model.fit(X, y, groups, query_weight=query_weight)
    return model.fit(X, y, groups, query_weight=query_weight)


def pairs_of(problem):
    return oracle.training_pairs(problem.y, problem.groups, problem.query_weight)


def bound_of_the_third_method(r, alpha):
    """(1 + r) / 2 e^-alpha + (1 - r) / 2 e^alpha; sqrt(1 - r^2) at the best alpha."""
    return (1 + r) / 2 * np.exp(-alpha) + (1 - r) / 2 * np.exp(alpha)


def check_in_lock_step(model, problem, *, step, learning_rate):
    """Every round of a fitted model against every stump the oracle can build on its scores."""
    X = problem.X
    winner, loser, q, rows = pairs_of(problem)
    D_first = q / q.sum()
    terms = model.model_.terms
    assert model.n_iter_ == len(terms) == len(model.train_loss_)
    rounds = oracle.rankboost(
        X,
        problem.y,
        problem.groups,
        len(terms),
        step=step,
        learning_rate=learning_rate,
        query_weight=problem.query_weight,
        follow=terms,
    )
    H, previous = np.zeros(len(X)), 1.0
    for (coefficient, stump), loss in zip(terms, model.train_loss_, strict=True):
        expected = next(rounds, None)
        if expected is None:  # the oracle sees nothing more to gain
            assert stump.gain <= oracle.MIN_GAIN * (1 + 1e-2)
            return
        assert stump.value == 1
        split = oracle.Candidate(stump.feature, stump.threshold, stump.missing_above)
        here = oracle.evaluate(X, expected.D, winner, loser, split, step)
        # A gain far below 1 is a difference of sums near 1, known to about 1e-15 of them; with
        # the exact step so is W-, of which the square root matters.
        rounding = 1e-13
        if step == "exact":
            rounding += 2 * np.sqrt(max(here.right, here.wrong) * 2e-15)
        assert here.gain >= expected.gain * (1 - 1e-7) - rounding
        assert stump.gain == pytest.approx(here.gain, rel=1e-7, abs=rounding)
        # Below that, rounding can decide between splits that tie.
        if expected.gap > 1e-6 and expected.gain > 1e-4:
            assert split == expected.stump
            assert coefficient == pytest.approx(learning_rate * expected.alpha, rel=1e-8, abs=1e-11)
        assert coefficient == pytest.approx(learning_rate * here.alpha, rel=1e-8, abs=1e-11)
        assert_allclose(np.log(loss), expected.log_loss, rtol=1e-8, atol=1e-10)
        assert loss / previous == pytest.approx(expected.Z, rel=1e-8)
        if learning_rate == 1:
            # Both methods stay below the bound that the third one minimises.
            third = oracle.evaluate(X, expected.D, winner, loser, split, "approximate")
            assert loss / previous <= third.Z(third.alpha) * (1 + 1e-9)
            bound = bound_of_the_third_method(third.r, third.alpha)
            assert loss / previous <= bound * (1 + 1e-9)
        H, previous = expected.H, loss
        # Theorem 1: the weight of the misordered pairs is at most Z_1 ... Z_t.
        assert oracle.misordering(H, winner, loser, D_first) <= loss * (1 + 1e-9)
    assert_allclose(model.predict(X), H, rtol=1e-9, atol=1e-9)
    if model.n_iter_ < model.n_estimators:
        D, log_loss = oracle.weights(H, winner, loser, q)
        _, evaluation, _ = oracle.best_stump(X, D, winner, loser, step, rows)
        assert evaluation.gain <= oracle.MIN_GAIN * (1 + 1e-2) or log_loss < -600


settings_of_a_fit = {
    "step": st.sampled_from(list(STEPS)),
    "learning_rate": st.sampled_from([1.0, 1.0, 0.1]),
    "listed": st.booleans(),
}


@examples(300)
@given(
    problem=ranking_problems(grades=("three", "five", "continuous", "negative")),
    **settings_of_a_fit,
)
def test_rounds_equal_the_oracle(problem, step, learning_rate, listed):
    params = {"step": step, "learning_rate": learning_rate}
    model = fit(problem, listed=listed, n_estimators=6, max_bins=None, **params)
    check_in_lock_step(model, problem, **params)


@examples(60)
@given(problem=ranking_problems(), **settings_of_a_fit)
def test_thirty_rounds_equal_the_oracle(problem, step, learning_rate, listed):
    params = {"step": step, "learning_rate": learning_rate}
    model = fit(problem, listed=listed, n_estimators=30, **params)
    check_in_lock_step(model, problem, **params)


def make_problem(seed=0, n_queries=12, grades=5, missing=0.0, weighted=False, noise=0.5):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(2, 12, n_queries))
    n = len(groups)
    X = np.column_stack([rng.normal(size=(n, 4)), rng.integers(0, 3, (n, 2))])
    X = np.round(64 * X) / 64  # so that midpoints are exact
    utility = X[:, 1] + 0.7 * X[:, 4] + noise * rng.normal(size=n)
    y = utility if grades is None else np.clip(np.round(utility + 1), 0, grades - 1)
    X[rng.random(X.shape) < missing] = np.nan
    weight = rng.choice([0.5, 1.0, 4.0], n_queries)[groups] if weighted else None
    order = rng.permutation(n)
    weight = None if weight is None else weight[order]
    return RankingProblem(X[order], y[order], groups[order], weight)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("params", [{}, {"grades": None}, {"missing": 0.2, "weighted": True}])
def test_thirty_rounds_of_longer_queries(step, params):
    """Noisy data, where no round ends the fit early; more than 32 grades are listed as such."""
    problem = make_problem(3, noise=2.0, **params)
    model = fit(problem, step=step, n_estimators=30)
    assert model.n_iter_ == 30
    check_in_lock_step(model, problem, step=step, learning_rate=1.0)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_the_loss_falls_each_round(step, learning_rate):
    problem = make_problem(2, weighted=True, missing=0.1)
    model = fit(problem, step=step, learning_rate=learning_rate, n_estimators=40)
    assert model.train_loss_[0] < 1
    assert (np.diff(model.train_loss_) < 0).all()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seed", range(3))
def test_implicit_and_listed_pairs_give_the_same_model(step, seed):
    problem = make_problem(seed, grades=3 + seed, missing=0.1 * seed, weighted=seed == 1)
    params = {"step": step, "n_estimators": 15}
    implicit, listed = fit(problem, **params), fit(problem, listed=True, **params)
    assert implicit.n_iter_ == listed.n_iter_ == 15
    assert_allclose(implicit.train_loss_, listed.train_loss_, rtol=1e-9)
    assert_allclose(implicit.predict(problem.X), listed.predict(problem.X), rtol=1e-8, atol=1e-9)


def loss_of(problem, scores, listed):
    """The package's loss at the scores of the rows of positive weight, and these rows."""
    q = np.ones(len(problem.y)) if problem.query_weight is None else problem.query_weight
    _, query = np.unique(problem.groups, return_inverse=True)
    rows = np.argsort(query, kind="stable")
    rows = rows[q[rows] > 0]
    _, first, sizes = np.unique(query[rows], return_index=True, return_counts=True)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.intp)
    data = RankingData.of(problem.y[rows], offsets, q[rows][first])
    with LISTED if listed else nullcontext():
        loss = StumpExponential(module.ones, squared=False).bind(data)
    loss.update(scores[rows])
    return loss, rows


@examples(100)
@given(
    problem=ranking_problems(),
    listed=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_potentials_give_the_correlation_of_every_stump(problem, listed, seed):
    """Section 3.2: r = sum of pi(x) h(x), with pi from the package and r from the pairs."""
    X = problem.X
    scores = np.random.default_rng(seed).normal(size=len(X))
    winner, loser, q, used = pairs_of(problem)
    D, _ = oracle.weights(scores, winner, loser, q)
    loss, rows = loss_of(problem, scores, listed)
    pi = np.zeros(len(X))
    pi[rows] = -loss.gradient / loss.total
    assert_allclose(pi, oracle.potentials(D, winner, loser, len(X)), rtol=1e-9, atol=1e-13)
    for candidate in oracle.candidates(X[used]):
        here = oracle.evaluate(X, D, winner, loser, candidate, "exact")
        h = oracle.apply_stump(oracle.Stump(*candidate), X)
        assert here.r == pytest.approx(pi @ h, abs=1e-12)
        above = np.ascontiguousarray(h[rows] == 1)
        crossing = loss.crossing(above)
        assert crossing.agreeing.sum() / loss.total == pytest.approx(here.right, abs=1e-12)
        assert crossing.contrary.sum() / loss.total == pytest.approx(here.wrong, abs=1e-12)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("n_queries", [1, 8])
@pytest.mark.parametrize("seed", range(2))
def test_two_grades_keep_the_product_form(step, n_queries, seed):
    """RankBoost.B: D(x0, x1) = v(x0) v(x1), from which alpha and Z follow without any pair."""
    problem = make_problem(seed, n_queries=n_queries, grades=2, noise=2.0)
    X, y, groups, _ = problem
    assert set(y) == {0, 1}
    model = fit(problem, step=step, n_estimators=20)
    v = np.ones(len(X))
    better = y == 1

    def sums(values):
        """Per query, the sums over the better and over the worse rows."""
        return np.array(
            [
                [values[better & (groups == g)].sum(), values[~better & (groups == g)].sum()]
                for g in range(n_queries)
            ]
        ).T

    n_better, n_worse = sums(v)
    half = 0.5 / (n_better @ n_worse)
    loss = 1.0
    for (alpha, stump), train_loss in zip(model.model_.terms, model.train_loss_, strict=True):
        h = oracle.apply_stump(stump, X)
        all_better, all_worse = sums(v)
        above_better, above_worse = sums(v * h)
        total = all_better @ all_worse
        right = above_better @ (all_worse - above_worse) / total
        wrong = (all_better - above_better) @ above_worse / total
        if step == "approximate":
            right, wrong = (1 + right - wrong) / 2, (1 - right + wrong) / 2
        assert alpha == pytest.approx(0.5 * np.log((right + half) / (wrong + half)), rel=1e-7)
        v = v * np.exp(np.where(better, -alpha, alpha) * h)
        new_better, new_worse = sums(v)
        loss *= new_better @ new_worse / total
        assert train_loss == pytest.approx(loss, rel=1e-9)
    assert model.n_iter_ > 5


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_separable_data(step, listed, sign):
    """W- = 0 or W+ = 0: alpha is that of half a pair, and rounds end when no weight is left."""
    X = sign * (np.arange(12.0)[:, None] % 6)
    y = np.floor(np.arange(12.0) % 6 / 3)
    problem = RankingProblem(X, y, np.repeat([0, 1], 6), None)
    model = fit(problem, listed=listed, n_estimators=5000, step=step)
    n_pairs = 18
    coefficients = np.array([coefficient for coefficient, _ in model.model_.terms])
    assert_allclose(coefficients, sign * 0.5 * np.log(2 * n_pairs + 1), rtol=1e-9)
    assert {stump.threshold for _, stump in model.model_.terms} == {2.5 * sign}
    assert 2 <= model.n_iter_ < 5000
    assert model.train_loss_[-1] < 1e-290
    scores = model.predict(X)
    assert np.isfinite(scores).all()
    assert (scores[y == 1].min() - scores[y == 0].max()) > 300


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("listed", [False, True])
def test_separable_data_of_three_grades(step, listed):
    X = np.arange(12.0)[:, None] % 6
    problem = RankingProblem(X, X[:, 0] // 2, np.repeat([0, 1], 6), None)
    model = fit(problem, listed=listed, n_estimators=5000, step=step)
    assert 2 <= model.n_iter_ < 5000
    assert model.train_loss_[-1] < 1e-290
    assert np.isfinite([coefficient for coefficient, _ in model.model_.terms]).all()
    scores = model.predict(X)
    assert (np.diff(scores[[0, 2, 4]]) > 300).all()
    assert_allclose(scores[:6], scores[[0, 0, 2, 2, 4, 4]])


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("n_queries", [1, 7, 100])
def test_a_copy_of_a_perfect_feature_ties(step, n_queries):
    """No pair is wrong for any of three columns: rounding must not choose between them."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n_queries), 9)
    y = rng.integers(0, 3, len(groups)).astype(float)
    y[:2] = 0, 2
    weight = rng.uniform(0.1, 1.0, n_queries)[groups]
    X = np.column_stack([y, -y, y + 1 / 3])
    model = fit(RankingProblem(X, y, groups, weight), step=step, n_estimators=25)
    assert {stump.feature for _, stump in model.model_.terms} == {0}


@pytest.mark.slow
@examples(100)
@given(problem=ranking_problems(max_features=1, missing=False))
def test_exact_is_never_above_approximate_on_the_same_stump(problem):
    """One split of one column, so that both steps have the same stump."""
    X, y, groups, query_weight = problem
    column = X[:, :1] > np.median(X)
    problem = RankingProblem(column.astype(float), y, groups, query_weight)
    exact, approximate = (
        fit(problem, step=step, n_estimators=1) for step in ("exact", "approximate")
    )
    assert exact.n_iter_ <= 1
    if exact.n_iter_ and approximate.n_iter_:
        assert exact.train_loss_[0] <= approximate.train_loss_[0] * (1 + 1e-12)
        (alpha, _), (cautious, _) = exact.model_.terms[0], approximate.model_.terms[0]
        assert alpha * cautious > 0
        assert abs(alpha) >= abs(cautious) * (1 - 1e-12)
    else:
        assert exact.n_iter_ == 0 or approximate.n_iter_ == 0


def test_the_steps_choose_by_different_criteria():
    """Many pairs right and some wrong, or fewer right and none wrong: r prefers the first.

    W+ = .8, W- = .2: r = .6, Z = .8. W+ = .55, W- = 0: r = .55, Z = .45.
    """
    n = 20
    y = np.tile([1.0, 0.0], n)
    groups = np.repeat(np.arange(n), 2)
    X = np.zeros((2 * n, 2))
    X[::2, 0] = np.arange(n) < 16  # the winner above in 16 queries, the loser in the others
    X[1::2, 0] = np.arange(n) >= 16
    X[::2, 1] = np.arange(n) < 11  # the winner above in 11, nobody in the others
    problem = RankingProblem(X, y, groups, None)
    half = 0.5 / n
    for step, feature, alpha in (
        ("approximate", 0, 0.5 * np.log((0.8 + half) / (0.2 + half))),
        ("exact", 1, 0.5 * np.log((0.55 + half) / half)),
    ):
        ((coefficient, stump),) = fit(problem, step=step, n_estimators=1).model_.terms
        assert stump.feature == feature
        assert coefficient == pytest.approx(alpha, rel=1e-12)


@pytest.mark.parametrize("step", STEPS)
def test_constant_features_give_no_round(step):
    X, y, groups, _ = make_problem()
    for Z in (np.zeros_like(X), np.full_like(X, np.nan), groups[:, None]):
        model = RankBoost(step=step).fit(Z.astype(float), y, groups)
        assert (model.n_iter_, model.best_iteration_, len(model.train_loss_)) == (0, 0, 0)
        assert_array_equal(model.predict(Z.astype(float)), np.zeros(len(Z)))


@pytest.mark.parametrize("step", STEPS)
def test_grades_count_by_their_order_only(step):
    X, y, groups, _ = make_problem(4, missing=0.1)
    expected = RankBoost(10, step=step).fit(X, y, groups).predict(X)
    for z in (y - 7, 10 * y, np.exp(y)):
        found = RankBoost(10, step=step).fit(X, z, groups).predict(X)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", ["Exact", None, "newton", ["exact"]])
def test_invalid_steps(step):
    with pytest.raises((ValueError, TypeError), match="step"):
        fit(make_problem(), step=step)
