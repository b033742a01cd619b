# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPBoost against the brute-force oracle, round by round, and what the paper proves of it."""

import subprocess
import sys
import textwrap
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import mpboost as oracle
from strategies import RankingProblem, examples, ranking_problems

from sklearn_ltr import MPBoost, ranking_data
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.pairs import list_pairs
from sklearn_ltr.rankers.mpboost import STEPS
from sklearn_ltr.weak.stump import NO_GAIN

DISTANCES = (
    {"distance": "binary"},
    {"distance": "linear", "alpha": 0.3},
    {"distance": "linear", "alpha": 2.0},
    {"distance": "linear", "alpha": 1e-3},
    {"distance": "logarithmic"},
    {"distance": "logarithmic", "lam": 0.1},
    {"distance": "logistic"},
    {"distance": "logistic", "beta": 4.0},
    {"distance": lambda high, low: (high - low) * (1 + high**2)},
)
LISTED = mock.patch.object(ranking_data, "preference_pairs", list_pairs)


def fit(problem, *, listed=False, **params):
    X, y, groups, query_weight = problem
    model = MPBoost(**params)
    if listed:
        with LISTED:
            return model.fit(X, y, groups, query_weight=query_weight)
    return model.fit(X, y, groups, query_weight=query_weight)


def pairs_of(problem, distance):
    winner, loser, q, rows = oracle.training_pairs(problem.y, problem.groups, problem.query_weight)
    d = oracle.directed_distance(problem.y[winner], problem.y[loser], **distance)
    return winner, loser, d, q, rows


def check_in_lock_step(model, problem, *, step, learning_rate, distance):
    """Every round of a fitted model against every stump the oracle can build on its scores."""
    X = problem.X
    winner, loser, d, q, rows = pairs_of(problem, distance)
    w_first, _ = oracle.pair_weights(np.zeros(len(X)), winner, loser, d, q)
    terms = model.model_.terms
    assert model.n_iter_ == len(terms) == len(model.bound_)
    rounds = oracle.mpboost(
        X,
        problem.y,
        problem.groups,
        len(terms),
        learning_rate=learning_rate,
        step=step,
        query_weight=problem.query_weight,
        follow=terms,
        **distance,
    )
    F = np.zeros(len(X))
    for t, (coefficient, stump) in enumerate(terms):
        expected = next(rounds, None)
        if expected is None:  # the oracle sees nothing more to gain
            assert stump.gain <= oracle.MIN_GAIN * (1 + 1e-2)
            return
        assert coefficient == learning_rate
        split = oracle.Candidate(stump.feature, stump.threshold, stump.missing_above)
        here = oracle.evaluate(X, expected.w_before, winner, loser, d, split, step)
        # A gain far below 1 is a difference of sums near 1, known to about 1e-15 of them.
        assert here.gain >= expected.gain * (1 - 1e-7) - 1e-13
        assert stump.gain == pytest.approx(here.gain, rel=1e-7, abs=1e-13)
        # Below that, rounding can decide between splits that tie.
        if expected.gap > 1e-6 and expected.gain > 1e-4:
            chosen = expected.stump
            assert split == (chosen.feature, chosen.threshold, chosen.missing_above)
        rounding = 1e-14 * d.max() / (here.den if step == "paper" else here.den2)
        assert stump.value == pytest.approx(here.a, rel=1e-8, abs=rounding)
        assert_allclose(np.log(model.bound_[t]), expected.log_bound, rtol=1e-8, atol=1e-10)
        F = expected.F
        # Theorem 1: the weight of the misordered pairs is at most Z_1 ... Z_t.
        assert oracle.misordering(F, winner, loser, w_first) <= model.bound_[t] * (1 + 1e-9)
    assert_allclose(model.predict(X), F, rtol=1e-9, atol=1e-9)
    if model.n_iter_ < model.n_estimators:
        w, log_bound = oracle.pair_weights(F, winner, loser, d, q)
        _, gain, _ = oracle.best_stump(X, w, winner, loser, d, step, rows)
        smallest = NO_GAIN * (d.max() ** 2 if step == "paper" else 1)
        assert gain <= smallest * (1 + 1e-2) or log_bound < -600


# A distance far from 1 makes the paper's step overshoot; the package says so.
overshooting = pytest.mark.filterwarnings("ignore:The training loss rose:UserWarning")

settings_of_a_fit = {
    "step": st.sampled_from(STEPS),
    "distance": st.sampled_from(DISTANCES),
    "learning_rate": st.sampled_from([1.0, 1.0, 0.1]),
    "listed": st.booleans(),
}


@pytest.mark.filterwarnings("ignore:`distance` is")  # one breaks requirement (4)
@overshooting
@examples(300)
@given(
    problem=ranking_problems(grades=("three", "five", "continuous", "negative")),
    **settings_of_a_fit,
)
def test_rounds_equal_the_oracle(problem, step, distance, learning_rate, listed):
    params = {"step": step, "learning_rate": learning_rate}
    model = fit(problem, listed=listed, n_estimators=6, **params, **distance)
    check_in_lock_step(model, problem, distance=distance, **params)


@pytest.mark.filterwarnings("ignore:`distance` is")  # one breaks requirement (4)
@overshooting
@examples(60)
@given(problem=ranking_problems(), **settings_of_a_fit)
def test_thirty_rounds_equal_the_oracle(problem, step, distance, learning_rate, listed):
    params = {"step": step, "learning_rate": learning_rate}
    model = fit(problem, listed=listed, n_estimators=30, **params, **distance)
    check_in_lock_step(model, problem, distance=distance, **params)


def make_problem(seed=0, n_queries=20, grades=5, missing=0.0, weighted=False, noise=0.5):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(1, 12, n_queries))
    n = len(groups)
    X = np.column_stack([rng.normal(size=(n, 4)), rng.integers(0, 3, (n, 2))])
    utility = X[:, 1] + 0.7 * X[:, 4] + noise * rng.normal(size=n)
    y = np.clip(np.round(utility + 1), 0, grades - 1)
    X[rng.random(X.shape) < missing] = np.nan
    weight = rng.choice([0.5, 1.0, 4.0], n_queries)[groups] if weighted else None
    order = rng.permutation(n)
    weight = None if weight is None else weight[order]
    return RankingProblem(X[order], y[order], groups[order], weight)


@pytest.mark.slow
@overshooting
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("distance", [{"distance": "binary"}, {"distance": "linear", "alpha": 4.0}])
def test_a_huge_learning_rate(step, listed, distance):
    """The loss itself is no number any more, but the rounds must still be right."""
    problem = make_problem(noise=2.0, n_queries=8, missing=0.1, weighted=True)
    params = {"step": step, "learning_rate": 1000.0}
    model = fit(problem, listed=listed, n_estimators=15, **params, **distance)
    farthest = pairs_of(problem, distance)[2].max()
    assert farthest * np.ptp(model.predict(problem.X)) > 700
    check_rounds_without_loss(model, problem, distance=distance, **params)


def check_rounds_without_loss(model, problem, *, step, learning_rate, distance):
    winner, loser, d, q, rows = pairs_of(problem, distance)
    F = np.zeros(len(problem.X))
    for _, stump in model.model_.terms:
        w, _ = oracle.pair_weights(F, winner, loser, d, q)
        best, gain, gap = oracle.best_stump(problem.X, w, winner, loser, d, step, rows)
        if gap > 1e-6 and gain > 1e-4:
            assert (stump.feature, stump.missing_above) == (best.feature, best.missing_above)
            assert stump.threshold == pytest.approx(best.threshold, rel=1e-14)
            assert stump.value == pytest.approx(best.value, rel=1e-7)
        F = F + learning_rate * oracle.apply_stump(stump, problem.X)
    assert_allclose(model.predict(problem.X), F, rtol=1e-9, atol=1e-9 * np.abs(F).max())
    assert np.isfinite(F).all()


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("listed", [False, True])
def test_separable_data(step, listed):
    """The loss falls below the smallest number; then no weight is left, and rounds end."""
    X = np.arange(12.0)[:, None] % 6
    y = X[:, 0] // 2
    groups = np.repeat([0, 1], 6)
    problem = RankingProblem(X, y, groups, None)
    model = fit(problem, listed=listed, n_estimators=5000, step=step, distance="binary")
    assert 2 <= model.n_iter_ < 5000
    assert model.bound_[-1] < 1e-290
    scores = model.predict(X)
    assert np.isfinite(scores).all()
    assert (np.diff(scores[[0, 2, 4]]) > 300).all()
    assert_allclose(scores[:6], scores[[0, 0, 2, 2, 4, 4]])


@overshooting
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("distance", DISTANCES[:-1])
@pytest.mark.parametrize("seed", range(3))
def test_implicit_and_listed_pairs_give_the_same_model(step, distance, seed):
    problem = make_problem(seed, grades=3 + seed, missing=0.1 * seed, weighted=seed == 1)
    params = {"step": step, "n_estimators": 15, **distance}
    implicit = fit(problem, **params)
    listed = fit(problem, listed=True, **params)
    assert implicit.n_iter_ == listed.n_iter_ == 15
    assert_allclose(implicit.bound_, listed.bound_, rtol=1e-9)
    assert_allclose(implicit.predict(problem.X), listed.predict(problem.X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("listed", [False, True])
def test_only_distances_of_pairs_matter(listed):
    """Grades 0 and 4 are never in one query: no pair is at distance 4 alpha."""
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    y = np.array([0.0, 1.0, 3.0, 4.0])
    problem = RankingProblem(X, y, np.array([0, 0, 1, 1]), None)
    model = fit(problem, listed=listed, n_estimators=1, distance="linear", alpha=3.0)
    assert model.model_.terms[0][1].value == pytest.approx(3.0)  # a = sum w d / sum w

    def unfinished(high, low):
        return np.where((low == 0) & (high > 1), np.nan, high - low)

    expected = fit(problem, listed=True, n_estimators=3, distance="linear", alpha=1.0)
    model = fit(problem, listed=listed, n_estimators=3, distance=unfinished)
    assert_allclose(model.predict(X), expected.predict(X))


@overshooting
@pytest.mark.parametrize("alpha", [0.25, 3.0])
@pytest.mark.parametrize("step", ["newton", "exact"])
def test_two_grades_with_linear_distances_are_binary_labels(alpha, step):
    """With two grades LDD(alpha) only scales the margins."""
    problem = make_problem(3, grades=2)
    params = {"n_estimators": 25, "step": step}
    binary = fit(problem, distance="binary", **params)
    linear = fit(problem, distance="linear", alpha=alpha, **params)
    assert_allclose(linear.bound_, binary.bound_, rtol=1e-9)
    assert_allclose(alpha * linear.predict(problem.X), binary.predict(problem.X), rtol=1e-7)


def test_two_grades_paper_step_is_shrunk_by_the_distance():
    """The paper's step is d^2 times the minimiser's."""
    problem = make_problem(3, grades=2)
    first = {}
    for alpha, step in ((1.0, "paper"), (0.3, "paper"), (0.3, "newton")):
        model = fit(problem, distance="linear", alpha=alpha, step=step, n_estimators=1)
        ((_, first[alpha, step]),) = model.model_.terms
    assert first[0.3, "paper"].value == pytest.approx(0.3 * first[1.0, "paper"].value)
    assert first[0.3, "paper"].value == pytest.approx(0.09 * first[0.3, "newton"].value)
    # LDD(alpha) with the paper's step is BINARY with a learning rate of alpha^2.
    linear = fit(problem, distance="linear", alpha=0.3, n_estimators=20)
    binary = fit(problem, distance="binary", learning_rate=0.09, n_estimators=20)
    assert_allclose(linear.bound_, binary.bound_, rtol=1e-9)


def test_far_distances_raise_the_loss_in_the_paper_but_not_with_newton():
    """For |d| > 1 the paper's step overshoots."""
    problem = make_problem(1, noise=3.0)
    with pytest.warns(UserWarning, match=r"loss rose.*step='newton'"):
        paper = fit(problem, distance="linear", alpha=2.0, n_estimators=5)
    assert paper.bound_.max() > 1
    for step in ("newton", "exact"):
        model = fit(problem, distance="linear", alpha=2.0, n_estimators=5, step=step)
        assert model.bound_[-1] < 1


@pytest.mark.parametrize("step", ["newton", "exact"])
def test_steps_lower_the_loss_each_round(step):
    problem = make_problem(2, weighted=True, missing=0.1)
    bound = fit(problem, step=step, n_estimators=40).bound_
    assert bound[0] < 1
    assert (np.diff(bound) < 0).all()


@pytest.mark.parametrize("distance", DISTANCES[:-1])
def test_shifted_and_scaled_grades(distance):
    """Distances see differences of grades only."""
    problem = make_problem(4)
    X, y, groups, _ = problem
    params = {"n_estimators": 10, "step": "newton", **distance}
    expected = fit(problem, **params).predict(X)
    shifted = MPBoost(**params).fit(X, y - 7, groups)
    assert_allclose(shifted.predict(X), expected, rtol=1e-9, atol=1e-12)
    halved = {name: value / 4 for name, value in params.items() if name in ("alpha", "lam", "beta")}
    if halved:
        scaled = MPBoost(**params | halved).fit(X, 4 * y, groups)
        assert_allclose(scaled.predict(X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("max_bins", [None, 255, 8])
def test_increasing_functions_of_features_change_nothing(max_bins):
    X, y, groups, _ = make_problem(5, missing=0.1)
    params = {"n_estimators": 20, "max_bins": max_bins}
    expected = MPBoost(**params).fit(X, y, groups).predict(X)
    for Z in (np.exp(X), 1e200 * X, X**3 - 5, np.float32(X)):
        # Not to the bit: sums follow the order of the rows' contents.
        assert_allclose(MPBoost(**params).fit(Z, y, groups).predict(Z), expected, rtol=1e-12)


def test_constant_features_give_no_round():
    X, y, groups, _ = make_problem()
    for Z in (np.zeros_like(X), np.full_like(X, np.nan), np.bincount(groups)[groups][:, None]):
        model = MPBoost().fit(Z.astype(float), y, groups)
        assert (model.n_iter_, model.best_iteration_, len(model.bound_)) == (0, 0, 0)
        assert_array_equal(model.predict(Z.astype(float)), np.zeros(len(Z)))
        assert_array_equal(model.feature_importances_, np.zeros(Z.shape[1]))
        assert list(model.staged_predict(Z.astype(float))) == []


def logistic_by_hand(high, low):
    return 1 / (1 + np.exp(-0.5 * (high - low)))


def test_a_callable_distance():
    problem = make_problem(6)
    expected = fit(problem, distance="logistic", beta=0.5, n_estimators=10)
    model = fit(problem, distance=logistic_by_hand, n_estimators=10)
    assert_array_equal(model.predict(problem.X), expected.predict(problem.X))


@pytest.mark.parametrize(
    "distance",
    [
        lambda high, low: low - high,
        lambda high, low: 0.0 * high,
        lambda high, low: np.full_like(high, np.nan),
        lambda high, low: np.full_like(high, np.inf),
        lambda high, low: 1.0,
        lambda high, low: np.ones((len(high), 2)),
    ],
)
@pytest.mark.parametrize("listed", [False, True])
def test_a_callable_that_is_no_distance(distance, listed):
    with pytest.raises(ValueError, match="`distance`"):
        fit(make_problem(), listed=listed, distance=distance)


@pytest.mark.parametrize(
    "params",
    [
        {"distance": "euclidean"},
        {"distance": None},
        {"distance": ["linear"]},
        {"step": "Newton"},
        {"step": None},
        {"alpha": 0},
        {"lam": -1.0},
        {"beta": 0.0},
        {"alpha": "0.5"},
        {"alpha": np.inf, "distance": "linear"},
        {"lam": np.inf, "distance": "logarithmic"},
        {"lam": np.nan},
        {"beta": np.nan},
    ],
)
def test_invalid_parameters(params):
    with pytest.raises((ValueError, TypeError), match=next(iter(params))):
        fit(make_problem(), **params)


@pytest.mark.parametrize("step", STEPS)
def test_hardly_any_distance(step):
    """Distances whose squares are hardly numbers."""
    problem = make_problem(2)
    model = fit(problem, distance="linear", alpha=1e-120, step=step, n_estimators=5)
    assert np.isfinite(model.predict(problem.X)).all()


@pytest.mark.parametrize("step", STEPS)
def test_early_stopping_on_held_out_queries(step):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 10)
    X = rng.normal(size=(600, 5))
    y = np.digitize(X[:, 2], [-0.5, 0.3, 1.0]).astype(float)
    model = MPBoost(300, early_stopping=True, validation_fraction=0.2, step=step).fit(X, y, groups)
    assert model.n_iter_ < 300
    assert model.best_iteration_ <= model.n_iter_
    assert len(model.validation_score_) == model.n_iter_
    assert model.validation_score_[model.best_iteration_ - 1] == model.validation_score_.max()
    assert model.score(X, y, groups) > 0.95
    assert_allclose(model.predict(X), list(model.staged_predict(X))[model.best_iteration_ - 1])


def test_early_stopping_trains_on_the_other_queries():
    """The loss at round 1 is that of a subset of whole queries, and no other."""
    problem = make_problem(7, n_queries=6)
    X, y, groups, _ = problem
    model = MPBoost(1, early_stopping=True, validation_fraction=0.34, random_state=0)
    model.fit(X, y, groups)
    learnable = [q for q in range(6) if len(set(y[groups == q])) > 1]
    held_out = []
    for a in learnable:
        for b in learnable:
            rest = ~np.isin(groups, [a, b])
            part = MPBoost(1).fit(X[rest], y[rest], groups[rest])
            if a <= b and np.isclose(part.bound_[0], model.bound_[0], rtol=1e-12):
                held_out.append({a, b})
    assert len(held_out) == 1
    (pair,) = held_out
    assert len(pair) == round(0.34 * len(learnable))
    rows = np.isin(groups, list(pair))
    given = MPBoost(1).fit(
        X[~rows], y[~rows], groups[~rows], X_val=X[rows], y_val=y[rows], groups_val=groups[rows]
    )
    assert_allclose(given.validation_score_, model.validation_score_, rtol=1e-12)


def test_feature_importances():
    problem = make_problem(8, n_queries=80, missing=0.05)
    model = fit(problem, n_estimators=40, max_bins=None)
    importances = model.feature_importances_
    assert importances.shape == (6,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-2:]) == {1, 4}
    winner, loser, d, q, _ = pairs_of(problem, {})
    F, gains = np.zeros(len(problem.X)), np.zeros(6)
    for _, stump in model.model_.terms:
        w, _ = oracle.pair_weights(F, winner, loser, d, q)
        split = oracle.Candidate(stump.feature, stump.threshold, stump.missing_above)
        gains[stump.feature] += oracle.evaluate(problem.X, w, winner, loser, d, split).gain
        F = F + oracle.apply_stump(stump, problem.X)
    assert_allclose(importances, gains / gains.sum(), rtol=1e-6)


def test_bound_is_the_training_loss():
    problem = make_problem(9, weighted=True)
    X = problem.X
    model = fit(problem, n_estimators=12, distance="logarithmic")
    winner, loser, d, q, _ = pairs_of(problem, {"distance": "logarithmic"})
    for F, bound in zip(model.staged_predict(X), model.bound_, strict=True):
        loss = (q * np.exp(-d * (F[winner] - F[loser]))).sum() / q.sum()
        assert bound == pytest.approx(loss, rel=1e-10)
    assert_array_equal(model.bound_, model.train_loss_)


MEMORY = r"""
import re
import numpy as np
from sklearn_ltr import MPBoost
from sklearn_ltr.ranking_data import RankingData

n = 100_000
rng = np.random.default_rng(0)
y = np.arange(n) % 2.0
assert RankingData.of(y, [0, n]).pairs.n_pairs == 2_500_000_000
X = rng.normal(size=(n, 8))
X[:, 3] += 0.5 * y
X[:, 3] = np.round(X[:, 3])
model = MPBoost(3, distance="binary").fit(X, y, np.zeros(n))
assert model.n_iter_ == 3
(_, stump), *_ = model.model_.terms
above = X[:, stump.feature] > stump.threshold
won = int((above & (y == 1)).sum()) * int((~above & (y == 0)).sum())
lost = int((above & (y == 0)).sum()) * int((~above & (y == 1)).sum())
assert stump.feature == 3
assert abs(stump.value - (won - lost) / (won + lost)) < 1e-10
assert abs(stump.gain - (won - lost) ** 2 / (won + lost) / 2.5e9) < 1e-10
# Not ru_maxrss: a child starts with its parent's.
peak = re.search(r"VmHWM:\s*(\d+) kB", open("/proc/self/status").read())
print(int(peak[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_2_500_000_000_pairs_within_a_gigabyte():
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(MEMORY)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 1024


def test_validation_score_is_the_metric_of_the_rows_as_given():
    """Also where ties go by the order of the rows."""
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    X_val, y_val, groups_val = make_ranking(n_queries=20, random_state=1)
    order = np.random.default_rng(0).permutation(len(y_val))
    X_val, y_val, groups_val = X_val[order], y_val[order], groups_val[order]
    scores = {}
    for ties in ("input", "reverse", "average"):
        metric = get_metric("ndcg@5", ties=ties)
        model = MPBoost(6, scoring=metric)
        model.fit(X, y, groups, X_val=X_val, y_val=y_val, groups_val=groups_val)
        expected = [metric(y_val, s, groups_val) for s in model.staged_predict(X_val)]
        assert_allclose(model.validation_score_, expected, rtol=1e-12)
        scores[ties] = model.validation_score_
    assert (scores["input"] != scores["reverse"]).any()
