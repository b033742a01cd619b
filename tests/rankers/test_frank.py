# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FRank against the brute-force oracle, round by round, and what its formulas imply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import frank as oracle
from strategies import RankingProblem, examples, ranking_problems

from sklearn_ltr import FRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.losses.listed_fidelity import (
    LARGEST_CURVATURE,
    BoundListedFidelity,
    ListedFidelity,
)
from sklearn_ltr.losses.pair_sums import LONGEST_STEP
from sklearn_ltr.pairs import list_pairs, sample_pairs
from sklearn_ltr.rankers.frank import STEPS
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.weak import fidelity_search
from sklearn_ltr.weak.stump import NO_GAIN


def by_grades(higher, lower):
    """A probability for each two grades, between 2 / 3 and 1."""
    return 1 / (1 + np.exp(lower - higher) / (2 + np.abs(lower)))


TARGETS = (1.0, 1.0, 0.8, by_grades)


def fit(problem, **params):
    X, y, groups, query_weight = problem
    return FRank(**params).fit(X, y, groups, query_weight=query_weight)


def check_in_lock_step(
    model, problem, *, step, learning_rate=1.0, target_probability=1.0, tie_weight=0.0
):
    """Every round of a fitted model against all candidates of the oracle on its scores."""
    X, y, groups, query_weight = problem
    winner, loser, D, rows = oracle.training_pairs(y, groups, query_weight, tie_weight)
    if tie_weight > 0 or callable(target_probability):
        P = target_probability
        of_grades = P if callable(P) else lambda higher, lower: P
        target_probability = oracle.targets(y, winner, loser, of_grades)
    rest = winner, loser, D, target_probability
    everything = oracle.candidates(X[rows])
    H = np.zeros(len(X))
    size = oracle.total_weight(groups, winner, query_weight)
    assert D.sum() == pytest.approx(size)
    terms = model.model_.terms
    assert len(terms) == model.n_iter_
    for t, (coefficient, stump) in enumerate(terms):
        o = H[winner] - H[loser]
        found = {c: oracle.evaluate(X, c, o, *rest) for c in everything}
        split = oracle.Candidate(stump.feature, stump.threshold, stump.missing_above)
        here = found[split]
        best = max(e.fall for e in found.values())
        # Falls are differences of losses near D: the oracle knows them to some 1e-15 of these.
        rounding = 1e-14 * size
        assert here.fall >= best * (1 - 2e-9) - rounding
        tied = [c for c, e in found.items() if e.fall >= best * (1 - 1e-7) - 10 * rounding]
        clear = all(found[c].fall >= best * (1 - 1e-11) for c in tied)
        if clear and best > 1e-6 * size:
            assert split == min(tied)  # a clear winner, or clear ties
        assert stump.value == 1
        assert stump.gain * size == pytest.approx(here.fall, rel=1e-7, abs=10 * rounding)
        alpha = coefficient / learning_rate
        W = sum(oracle.weight_terms(o, D, target_probability))
        certain = min(W.max(), max(here.right, here.wrong)) > 1e-6 * size
        if step == "paper":
            if certain:
                assert alpha == pytest.approx(here.alpha, rel=1e-8, abs=1e-10)
        else:
            check_exact_step(X, split, alpha, here.alpha, o, *rest)
        H = H + coefficient * oracle.is_above(X, *split)
        after = oracle.loss(H[winner] - H[loser], D, target_probability)
        assert model.train_loss_[t] == pytest.approx(after / size, rel=1e-9, abs=1e-14)
    assert_allclose(model.predict(X), H, rtol=1e-9, atol=1e-9)
    if model.n_iter_ < model.n_estimators:
        o = H[winner] - H[loser]
        falls = [oracle.evaluate(X, c, o, *rest).fall for c in everything]
        # Below P* = 1 the losses of pairs that are certain are up to sqrt(2) times as much.
        assert max(falls, default=0) <= 1.1 * np.sqrt(2) * NO_GAIN * size + 1e-14 * size


def check_exact_step(X, split, alpha, paper_alpha, *pairs):
    """No worse than the paper's step and any up to it; a minimum, or as far as may be gone."""
    around = alpha * (1 + 1e-3 * np.array([-1, 1]))
    others = [0, paper_alpha, *around]
    losses = oracle.along(X, split, [alpha, *others], *pairs)
    rounding = 1e-13 * pairs[3].sum()
    assert losses[0] <= losses[1:3].min() + rounding
    if abs(abs(alpha) - LONGEST_STEP) < 1e-9:
        assert losses[0] <= losses[3] + rounding
    else:
        assert losses[0] <= losses[3:].min() + rounding


settings_of_a_fit = {
    "problem": ranking_problems(grades=("three", "five", "continuous", "negative")),
    "step": st.sampled_from(STEPS),
    "target_probability": st.sampled_from(TARGETS),
    "tie_weight": st.sampled_from([0.0, 0.0, 0.3]),
    "learning_rate": st.sampled_from([1.0, 1.0, 0.1]),
}


@examples(200)
@given(**settings_of_a_fit)
def test_rounds_equal_the_oracle(problem, **params):
    check_in_lock_step(fit(problem, n_estimators=6, **params), problem, **params)


@examples(40)
@given(**settings_of_a_fit)
def test_thirty_rounds_equal_the_oracle(problem, **params):
    check_in_lock_step(fit(problem, n_estimators=30, **params), problem, **params)


def make_problem(seed=0, n_queries=20, grades=5, missing=0.0, weighted=False, noise=0.5):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(1, 12, n_queries))
    n = len(groups)
    X = np.column_stack([rng.normal(size=(n, 4)), rng.integers(0, 3, (n, 2))])
    X = np.round(X * 16) / 16
    utility = X[:, 1] + 0.7 * X[:, 4] + noise * rng.normal(size=n)
    y = np.clip(np.round(utility + 1), 0, grades - 1)
    X[rng.random(X.shape) < missing] = np.nan
    weight = rng.choice([0.5, 1.0, 4.0], n_queries)[groups] if weighted else None
    order = rng.permutation(n)
    weight = None if weight is None else weight[order]
    return RankingProblem(X[order], y[order], groups[order], weight)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("target", [1.0, 0.8, 0.5])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_thirty_rounds_on_more_rows(step, target, seed):
    """Bounds prune here, and steps of many sizes are interpolated."""
    problem = make_problem(seed, n_queries=30, missing=0.1 * seed, weighted=seed == 1, noise=seed)
    params = {"step": step, "target_probability": target}
    model = fit(problem, n_estimators=30, **params)
    check_in_lock_step(model, problem, **params)
    assert model.n_iter_ == (0 if target == 0.5 else 30)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_features_are_left_out_and_nothing_changes(n_jobs, monkeypatch):
    X, y, groups = make_ranking(n_queries=40, n_docs=25, n_features=60, random_state=1)
    swept = []

    def counted(self, loss, features):
        swept.append(len(features))
        return original(self, loss, features)

    original = fidelity_search.FidelitySearch._denominators
    monkeypatch.setattr(fidelity_search.FidelitySearch, "_denominators", counted)
    quick = FRank(n_estimators=25, n_jobs=n_jobs).fit(X, y, groups)
    n_swept = sum(swept)
    everything = BoundListedFidelity.ceiling

    def loose(self, num, den, share):
        return everything(self, num, den, share) + 1.0

    monkeypatch.setattr(BoundListedFidelity, "ceiling", loose)
    slow = FRank(n_estimators=25, n_jobs=n_jobs).fit(X, y, groups)
    assert n_swept < 0.7 * 25 * 60
    assert_array_equal(quick.train_loss_, slow.train_loss_)
    assert_array_equal(quick.predict(X), slow.predict(X))


@pytest.mark.slow
@examples(100)
@given(problem=ranking_problems(), target=st.sampled_from([1.0, 0.9, 0.6]))
def test_exact_steps_never_raise_the_loss(problem, target):
    model = fit(problem, n_estimators=20, step="exact", target_probability=target)
    losses = model.train_loss_
    if len(losses) == 0:
        return
    at_start = 1 - np.sqrt(target / 2) - np.sqrt((1 - target) / 2)
    assert (np.diff([at_start, *losses]) <= 1e-14).all()
    assert ((losses >= 0) & (losses <= 1)).all()


@pytest.mark.parametrize("learning_rate", [30.0, 1000.0])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("target", [1.0, 0.8])
def test_a_huge_learning_rate(learning_rate, step, target):
    """The loss may rise, but stays in [0, 1], and all numbers stay finite."""
    problem = make_problem(noise=2.0, missing=0.1, weighted=True)
    params = {"step": step, "target_probability": target, "learning_rate": learning_rate}
    model = fit(problem, n_estimators=15, **params)
    assert np.isfinite(model.predict(problem.X)).all()
    assert ((model.train_loss_ >= 0) & (model.train_loss_ <= 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_separable_data(step):
    X = np.arange(12.0)[:, None] % 6
    y = X[:, 0] // 2
    model = FRank(n_estimators=3000, step=step).fit(X, y, np.repeat([0, 1], 6))
    scores = model.predict(X)
    assert np.isfinite(scores).all()
    assert_allclose(scores[:6], scores[[0, 0, 2, 2, 4, 4]])
    assert (np.diff(scores[[0, 2, 4]]) > 20).all()
    assert model.train_loss_[-1] < 1e-8
    assert (np.diff(model.train_loss_) <= 0).all()


def test_nothing_to_learn():
    """Features that do not differ, or that say nothing; P* = 1/2 is optimal at 0."""
    y, groups = np.array([0.0, 1.0, 0.0, 1.0]), np.zeros(4)
    model = FRank(n_estimators=3).fit(np.ones((4, 1)), y, groups)
    assert model.n_iter_ == 0
    assert_array_equal(model.predict(np.ones((2, 1))), [0, 0])
    assert FRank(n_estimators=3).fit([[0.0], [0.0], [1.0], [1.0]], y, groups).n_iter_ == 0
    X = y[:, None]
    assert FRank(n_estimators=3, target_probability=0.5).fit(X, y, groups).n_iter_ == 0


def test_a_finite_target_is_reached():
    """With P* < 1 the best difference is ln(P* / (1 - P*)), where the loss is 0."""
    X = np.array([[0.0], [1.0]])
    params = {"step": "exact", "target_probability": 0.8, "n_estimators": 50}
    model = FRank(**params).fit(X, [0.0, 1.0], [0, 0])
    assert np.diff(model.predict(X))[0] == pytest.approx(np.log(4), rel=1e-6)
    assert model.train_loss_[-1] < 1e-12


def test_every_query_counts_the_same():
    """A query of one pair against one of 100 pairs that say the opposite: nothing to gain."""
    X = np.array([1.0, 0.0] + [0.0] * 10 + [1.0] * 10)[:, None]
    y = np.array([1.0, 0.0] + [1.0] * 10 + [0.0] * 10)
    groups = np.repeat([0, 1], [2, 20])
    assert FRank(n_estimators=1).fit(X, y, groups).n_iter_ == 0
    weight = np.where(groups == 0, 2.0, 1.0)
    model = FRank(n_estimators=1).fit(X, y, groups, query_weight=weight)
    # (3) with W_+ = 2 c, W_- = c, and half a pair's mean weight 3 c / 101 / 2 on both sides
    guard = 1.5 / 101
    assert model.model_.terms[0][0] == pytest.approx(0.5 * np.log((2 + guard) / (1 + guard)))


# --- the loss ------------------------------------------------------------------------------------


def make_loss(seed, target, spread=1.0, n_threads=1):
    rng = np.random.default_rng(seed)
    offsets = np.array([0, 7, 8, 19, 24], dtype=np.intp)
    y = rng.integers(0, 4, 24).astype(float)
    data = RankingData.of(y, offsets, np.array([1.0, 2.0, 0.5, 3.0]), n_threads=n_threads)
    loss = ListedFidelity(target).bind(data)
    pairs = ListedFidelity(target).pairs(data)
    scores = spread * rng.normal(size=24)
    loss.update(scores)
    counts = np.diff(pairs.pair_offsets)
    return loss, pairs, scores, np.repeat(data.query_weight / np.maximum(counts, 1), counts)


@pytest.mark.parametrize("target", [1.0, 0.8, 0.5])
@pytest.mark.parametrize("spread", [0.1, 3.0])
def test_weights_are_minus_twice_the_slope(target, spread):
    """(4) is right; and the loss is (2)."""
    loss, pairs, scores, D = make_loss(0, target, spread)
    o = scores[pairs.winner] - scores[pairs.loser]
    h = 1e-6
    slope = (oracle.fidelity(o + h, target) - oracle.fidelity(o - h, target)) / (2 * h)
    W = -2 * D * slope
    assert_allclose(W, oracle.weights(o, D, target), atol=1e-9)
    first, second = oracle.weight_terms(o, D, target)
    assert loss.n_pairs == len(D)
    if target == 1:
        assert_array_equal(loss.pairs.winner, pairs.winner)
        assert_allclose(loss.weights.weight, first, rtol=1e-12, atol=1e-16)
    assert loss.weight_total == pytest.approx((first + second).sum(), rel=1e-12)
    degree = np.bincount(pairs.winner, first + second, 24)
    degree += np.bincount(pairs.loser, first + second, 24)
    assert_allclose(loss.weights.degree, degree, atol=1e-14)
    assert loss.total == pytest.approx(oracle.loss(o, D, target), rel=1e-11)
    assert loss.scale == pytest.approx(D.sum())
    signed = np.zeros(24)
    np.add.at(signed, pairs.winner, first - second)
    np.subtract.at(signed, pairs.loser, first - second)
    assert_allclose(loss.weights.signed, signed, atol=1e-14)
    gradient = np.zeros(24)
    np.add.at(gradient, pairs.winner, D * slope)
    np.subtract.at(gradient, pairs.loser, D * slope)
    assert_allclose(loss.gradient, gradient, atol=1e-8)


def test_sign_of_the_weights():
    """W > 0 for P* = 1; else it turns negative where e^o > P* / (1 - P*)."""
    o = np.linspace(-20, 20, 401)
    assert (oracle.weights(o, 1.0, 1.0) > 0).all()
    W = oracle.weights(o, 1.0, 0.8)
    assert_array_equal(W < 0, np.exp(o) > 4)


def test_curvature_of_the_loss():
    """What `BoundListedFidelity.ceiling` builds on."""
    o = np.linspace(-30, 30, 60_001)
    curvature = np.gradient(np.gradient(oracle.fidelity(o, 1.0), o), o)[2:-2]
    assert -curvature.min() <= LARGEST_CURVATURE
    growth = np.gradient(np.log(oracle.weights(o, 1.0, 1.0)), o)
    assert growth.min() > -1 - 1e-9
    assert growth.max() < 0.5 + 1e-9


@examples(50)
@given(seed=st.integers(0, 10**6), target=st.sampled_from([1.0, 0.8]), spread=st.floats(0, 5))
def test_ceiling_bounds_the_fall(seed, target, spread):
    loss, pairs, scores, D = make_loss(seed, target, spread)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        above = rng.random(24) < rng.random()
        h = above[pairs.winner].astype(int) - above[pairs.loser]
        right, wrong = oracle.sides(h, scores[pairs.winner] - scores[pairs.loser], D, target)
        num, den = right - wrong, right + wrong
        # What can fall: D of a pair, times both roots.
        share = (D * h**2).sum() * (np.sqrt(target) + np.sqrt(1 - target))
        alpha = loss.crossing_step(above)
        assert alpha == pytest.approx(float(loss.step(num, den)), rel=1e-9, abs=1e-12)
        assert alpha * num >= 0
        fall, slope = (of_alpha[0] for of_alpha in loss.along(above, [alpha]))
        assert fall <= loss.ceiling(num, den, share) * (1 + 1e-12) + 1e-15
        lower = np.abs(num) + rng.random() * (den - np.abs(num))
        assert fall <= loss.ceiling(num, lower, share) * (1 + 1e-9) + 1e-15
        # Whatever P*, the loss falls all the way to alpha, and goes on falling.
        assert fall >= -1e-15
        assert slope * alpha >= -1e-15


@pytest.mark.parametrize("target", [1.0, 0.7])
@pytest.mark.parametrize("spread", [0.0, 1.0, 20.0])
def test_along_a_split(target, spread):
    loss, pairs, scores, D = make_loss(3, target, spread, n_threads=2)
    above = np.random.default_rng(0).random(24) < 0.5
    alphas = np.array([-2.0, -1e-3, 0.0, 0.5, 6.0])
    fall, slope = loss.along(above, alphas)
    h = above[pairs.winner].astype(int) - above[pairs.loser]
    o = scores[pairs.winner] - scores[pairs.loser]
    J = np.array([oracle.loss(o + a * h, D, target) for a in alphas])
    assert_allclose(fall, oracle.loss(o, D, target) - J, atol=1e-14)
    W = [0.5 * (h * oracle.weights(o + a * h, D, target)).sum() for a in alphas]
    assert_allclose(slope, W, atol=1e-14)


def test_far_scores():
    """Beyond a range of 400 score differences are taken one by one."""
    y, offsets = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 4], dtype=np.intp)
    loss = ListedFidelity().bind(RankingData.of(y, offsets))
    loss.update(np.array([1000.0, 999.0, -1000.0, -1002.0]))
    F = oracle.fidelity(np.array([1.0, 2.0, 2002.0, -1999.0]), 1.0)
    assert loss.total == pytest.approx(F.mean(), rel=1e-14)
    loss.update(np.array([200.0, 199.0, -160.0, -162.0]))
    assert loss.total == pytest.approx(F.mean(), rel=1e-13)


def test_the_paper_step_is_a_relaxation():
    """With P* = 1 it lowers the loss, but by less than half of what is possible."""
    rng = np.random.default_rng(0)
    reached, shorter = [], []
    for _ in range(100):
        o, h = rng.normal(size=40), rng.choice([-1, 1], p=[0.3, 0.7], size=40)
        W = oracle.weights(o, 1.0, 1.0)
        alpha = oracle.step_of(W[h == 1].sum(), W[h == -1].sum(), 0)
        grid = np.linspace(0, np.sign(alpha) * 10, 2001)
        start = oracle.loss(o, 1.0, 1.0)
        falls = start - oracle.fidelity(o + grid[:, None] * h, 1.0).sum(axis=1)
        fall = start - oracle.loss(o + alpha * h, 1.0, 1.0)
        assert fall > 0
        reached.append(fall / falls.max())
        shorter.append(alpha / grid[falls.argmax()])
    assert 0.2 < np.median(reached) < 0.7
    assert np.median(shorter) < 0.5


@pytest.mark.parametrize("longest", [0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 4.0, 6.0])
def test_error_of_interpolation(longest):
    """What a pair's loss falls by, between the nodes: an error that its weight bounds."""
    o = np.linspace(-20, 20, 401)[:, None]
    alpha = np.linspace(-longest, longest, 100)
    nodes = fidelity_search.chebyshev_nodes(longest)
    basis = fidelity_search.lagrange_basis((nodes / longest) ** 2, (alpha / longest) ** 2)
    ahead = fall_of(o, nodes)
    back = fall_of(o, -nodes)
    even, odd = (ahead + back) / 2 / nodes**2, (ahead - back) / 2 / nodes
    found = alpha * (odd @ basis) + alpha**2 * (even @ basis)
    error = np.abs(found - fall_of(o, alpha)) / (np.abs(alpha) * oracle.weights(o, 1.0, 1.0))
    assert error.max() <= fidelity_search.INTERPOLATION
    assert error.max() > 1e-4 * fidelity_search.INTERPOLATION  # not many more nodes than needed


def fall_of(o, alpha):
    """F(o) - F(o + alpha) of a certain pair without cancellation: a quotient of roots."""
    x, root, other = np.exp(-o), np.sqrt(1 + np.exp(-o)), np.sqrt(1 + np.exp(-o - alpha))
    return x * -np.expm1(-alpha) / (root * other * (root + other))


def test_interpolate_or_look_at_each():
    few = np.append(np.full(500, 0.3), [5.0, 6.0])
    assert fidelity_search.best_range(few) == 0.3
    assert fidelity_search.best_range(np.full(500, 3.0)) == 3.0
    assert fidelity_search.best_range(np.array([4.0])) == fidelity_search.SHORTEST_RANGE


# --- the cap -------------------------------------------------------------------------------------


def test_sampled_pairs():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 9, 10, 40, 44], dtype=np.intp)
    y = rng.integers(0, 3, 44).astype(float)
    y[40:] = 1  # one grade
    everything = list_pairs(RankingData.of(y, offsets))
    counts = np.diff(everything.pair_offsets)
    for cap in (1, 5, 50, 150, 10**6):
        pairs = sample_pairs(RankingData.of(y, offsets, random_seed=7), cap)
        assert_array_equal(np.diff(pairs.pair_offsets), np.minimum(counts, cap))
        listed = set(zip(everything.winner.tolist(), everything.loser.tolist(), strict=True))
        kept = list(zip(pairs.winner.tolist(), pairs.loser.tolist(), strict=True))
        assert len(set(kept)) == len(kept)
        assert set(kept) <= listed
        again = sample_pairs(RankingData.of(y, offsets, random_seed=7), cap)
        assert_array_equal(again.winner, pairs.winner)
        other = sample_pairs(RankingData.of(y, offsets, random_seed=8), cap)
        assert cap == 10**6 or not np.array_equal(other.winner, pairs.winner)


def test_all_pairs_are_as_likely():
    y, offsets = np.array([0.0, 0.0, 1.0, 2.0]), np.array([0, 4], dtype=np.intp)
    for cap in (1, 3):
        found = np.zeros((4, 4))
        for seed in range(2000):
            pairs = sample_pairs(RankingData.of(y, offsets, random_seed=seed), cap)
            found[pairs.winner, pairs.loser] += 1
        drawn = found[found > 0] / 2000
        assert_allclose(drawn, np.full(5, cap / 5), atol=0.04)


def test_cap_is_keyed_by_content_and_seed():
    X, y, groups, _ = make_problem(n_queries=40)
    params = {"n_estimators": 8, "max_pairs_per_query": 5, "random_state": 3}
    model = FRank(**params).fit(X, y, groups)
    order = np.random.default_rng(0).permutation(len(y))
    other = FRank(**params, n_jobs=2).fit(X[order], y[order], -groups[order])
    assert_array_equal(model.predict(X), other.predict(X))
    assert_array_equal(model.train_loss_, other.train_loss_)
    other = FRank(**params | {"random_state": 4}).fit(X, y, groups)
    assert not np.array_equal(model.train_loss_, other.train_loss_)
    warm = FRank(**params | {"n_estimators": 5}, warm_start=True).fit(X, y, groups)
    warm.set_params(n_estimators=8).fit(X, y, groups)
    assert_array_equal(model.predict(X), warm.predict(X))
    assert_array_equal(model.train_loss_, warm.train_loss_)
    uncapped = FRank(n_estimators=8).fit(X, y, groups)
    capped = FRank(n_estimators=8, max_pairs_per_query=10**6).fit(X, y, groups)
    assert_allclose(capped.train_loss_, uncapped.train_loss_, rtol=1e-12)


def test_a_query_too_long_for_all_pairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=20_000)
    groups = np.zeros(20_000)
    with pytest.raises(ValueError, match=r"199990000 listed pairs .* `max_pairs_per_query`"):
        FRank(n_estimators=1).fit(X, y, groups)
    model = FRank(n_estimators=10, max_pairs_per_query=5000).fit(X, y, groups)
    assert model.train_loss_[-1] < 0.2
    assert model.model_.terms[0][1].feature == 0
    with pytest.raises(ValueError, match=r"max_pairs_per_query=100000000 leaves 100000000 pairs"):
        FRank(n_estimators=1, max_pairs_per_query=10**8).fit(X, y, groups)


@examples(60)
@given(problem=ranking_problems(), target=st.sampled_from([1.0, 0.8, by_grades]))
def test_both_sweeps_give_the_same_model(problem, target):
    params = {"n_estimators": 5, "target_probability": target}
    dense = fit(problem, **params)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn_ltr.losses.pair_sums.SPARSE", 10.0)
        sparse = fit(problem, **params)
    assert_array_equal(dense.train_loss_, sparse.train_loss_)
    assert_array_equal(dense.predict(problem.X), sparse.predict(problem.X))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("step", ["newton", None]),
        ("target_probability", [0.4, 1.1, -1.0, np.nan, "1", None, [0.6]]),
        ("tie_weight", [-1.0, np.nan, np.inf, "1", None]),
        ("max_pairs_per_query", [0, -3, 2.5, "3"]),
    ],
)
def test_invalid_parameters(name, values):
    problem = make_problem()
    for value in values:
        with pytest.raises((ValueError, TypeError), match=name):
            fit(problem, **{name: value})
