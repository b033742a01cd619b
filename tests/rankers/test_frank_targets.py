# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FRank with target probabilities below 1, of their own for each two grades, and with ties."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import frank as oracle
from scipy.optimize import minimize

from sklearn_ltr import FRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.labels import consistent_probability
from sklearn_ltr.losses.listed_fidelity import ListedFidelity
from sklearn_ltr.pairs import list_pairs, sample_pairs
from sklearn_ltr.ranking_data import RankingData

THREE = {"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 2], "groups": [0, 0, 0]}


def least_loss(y, P, tie_weight=0.0):
    """The least J there is of the rows of one query, whatever function of them."""
    y = np.asarray(y, dtype=float)
    winner, loser, D, _ = oracle.training_pairs(y, np.zeros(len(y)), None, tie_weight)
    target = oracle.targets(y, winner, loser, P)
    starts = np.random.default_rng(0).normal(size=(5, len(y)))
    return min(
        minimize(lambda h: oracle.loss(h[winner] - h[loser], D, target), start).fun
        for start in starts
    )


@pytest.mark.parametrize("step", ["paper", "exact"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3, 0.1])
@pytest.mark.parametrize("target", [0.55, 0.6, 0.9])
def test_rounds_go_on_to_the_least_loss(step, learning_rate, target):
    """A step of (3) as it is printed overshoots, and no stump would lower the loss at it."""
    params = {"n_estimators": 1000, "step": step, "learning_rate": learning_rate}
    model = FRank(**params, target_probability=target).fit(**THREE)
    least = least_loss(THREE["y"], lambda higher, lower: target)
    assert model.train_loss_[-1] == pytest.approx(least, abs=1e-7)
    assert (np.diff(model.train_loss_) < 0).all()


@pytest.mark.parametrize("target", [0.55, 0.8, 0.97, partial(consistent_probability, step=0.7)])
@pytest.mark.parametrize("learning_rate", [1.0, 0.2])
def test_no_round_raises_the_loss(target, learning_rate):
    X, y, groups = make_ranking(n_queries=15, n_docs=12, random_state=0)
    params = {"learning_rate": learning_rate, "target_probability": target, "tie_weight": 0.2}
    model = FRank(60, **params).fit(X, y, groups)
    assert model.n_iter_ == 60
    assert (np.diff(model.train_loss_) <= 1e-15).all()


def test_consistent_probabilities_leave_no_loss():
    """One P* for all pairs contradicts property (3): no function reaches it thrice."""
    one = FRank(300, target_probability=0.6).fit(**THREE)
    assert one.train_loss_[-1] == pytest.approx(0.00055, abs=1e-5)
    P = partial(consistent_probability, step=0.6)
    for target in (P, {1: 0.6, 2: 0.36 / 0.52}):
        model = FRank(300, target_probability=target).fit(**THREE)
        assert model.train_loss_[-1] < 1e-9
        log_odds = np.log(0.6 / 0.4)
        assert_allclose(model.predict(THREE["X"]), [0, log_odds, 2 * log_odds], atol=1e-3)


def test_probabilities_of_gaps_as_a_callable_or_a_mapping_or_a_number():
    X, y, groups = make_ranking(n_queries=15, n_docs=12, random_state=1)
    gaps = {gap: 0.7 + 0.05 * gap for gap in range(1, 5)}
    by_mapping = FRank(20, target_probability=gaps).fit(X, y, groups)
    by_callable = FRank(
        20, target_probability=lambda higher, lower: 0.7 + 0.05 * (higher - lower)
    ).fit(X, y, groups)
    assert_allclose(by_callable.predict(X), by_mapping.predict(X), rtol=1e-9, atol=1e-12)
    number = FRank(20, target_probability=0.8).fit(X, y, groups)
    constant = FRank(20, target_probability=dict.fromkeys(range(1, 5), 0.8)).fit(X, y, groups)
    assert_array_equal(constant.predict(X), number.predict(X))
    assert_array_equal(constant.train_loss_, number.train_loss_)
    assert not np.allclose(by_mapping.predict(X), number.predict(X))
    certain = FRank(20, target_probability=lambda higher, lower: np.ones_like(higher))
    assert_array_equal(certain.fit(X, y, groups).predict(X), FRank(20).fit(X, y, groups).predict(X))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({1: 0.6}, r"no probability of grades 2 apart; it lists \[1\]"),
        ({1: 0.6, 2: 1.2}, r"in \[0.5, 1\]; got 1.2 for the grades 2 and 0"),
        (lambda higher, lower: np.full(len(higher), 0.4), r"got 0.4 for the grades"),
        (lambda higher, lower: np.full(len(higher), np.nan), r"got nan for the grades"),
        (lambda higher, lower: 0.8, r"returned shape \(\) for grades of shape \(3,\)"),
        (partial(consistent_probability, step=[0.6]), r"of the grades 0 to 1, but .* grade 2"),
    ],
)
def test_wrong_probabilities(target, message):
    with pytest.raises(ValueError, match=message):
        FRank(2, target_probability=target).fit(**THREE)


def test_ties_are_drawn_together():
    X, y, groups = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 1, 1], np.zeros(4)
    model = FRank(400, target_probability=0.6, tie_weight=1.0).fit(X, y, groups)
    h = np.log(0.6 / 0.4)
    assert_allclose(model.predict(X), [0, h, h, h], atol=1e-3)
    # With a feature that tells tied rows apart, they stay apart as far as the weight allows.
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.0])
    gaps = []
    for tie_weight in (0.0, 0.5, 5.0):
        model = FRank(500, step="exact", target_probability=0.9, tie_weight=tie_weight)
        scores = model.fit(X, y, np.zeros(3)).predict(X)
        gaps.append(abs(scores[2] - scores[0]))
        least = least_loss(y, lambda higher, lower: 0.9, tie_weight)
        assert model.train_loss_[-1] == pytest.approx(least, abs=1e-8)
    assert gaps[0] < 1e-3  # both lose to the same row by the same


def test_ties_count_in_the_number_of_pairs():
    """Three pairs of weights 1, 1 and tie_weight share the weight of the query."""
    y = np.array([0.0, 1.0, 1.0])
    model = FRank(1, tie_weight=0.5).fit([[0.0], [1.0], [2.0]], y, np.zeros(3))
    alpha, stump = model.model_.terms[0]
    H = alpha * (np.array([0.0, 1.0, 2.0]) > stump.threshold)
    F = oracle.fidelity(H[[1, 2]] - H[0], 1.0).sum() + 0.5 * oracle.fidelity(H[1] - H[2], 0.5)
    assert model.train_loss_[0] == pytest.approx(F / 2.5)


def test_queries_of_one_grade_have_no_ties():
    X, y, groups = make_ranking(n_queries=20, n_docs=8, random_state=2)
    y[groups < 5] = 1
    params = {"tie_weight": 0.3, "target_probability": 0.8, "max_bins": None}
    model = FRank(15, **params).fit(X, y, groups)
    assert model.n_queries_skipped_ == 5
    kept = groups >= 5
    alone = FRank(15, **params).fit(X[kept], y[kept], groups[kept])
    assert_allclose(model.train_loss_, alone.train_loss_, rtol=1e-12)


def test_listed_and_sampled_pairs_with_ties():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 9, 10, 40, 44], dtype=np.intp)
    y = rng.integers(0, 3, 44).astype(float)
    y[40:] = 1
    data = RankingData.of(y, offsets, random_seed=7)
    everything = list_pairs(data, ties=True)
    assert_array_equal(np.diff(everything.pair_offsets), [36, 0, 435, 0])
    assert (y[everything.winner] >= y[everything.loser]).all()
    listed = {frozenset(p) for p in zip(everything.winner, everything.loser, strict=True)}
    assert len(listed) == 36 + 435
    for cap in (5, 100, 10**6):
        pairs = sample_pairs(data, cap, ties=True)
        assert_array_equal(np.diff(pairs.pair_offsets), np.minimum([36, 0, 435, 0], cap))
        kept = {frozenset(p) for p in zip(pairs.winner, pairs.loser, strict=True)}
        assert len(kept) == pairs.n_pairs
        assert kept <= listed
        assert (y[pairs.winner] >= y[pairs.loser]).all()


def test_the_cap_is_of_ordered_and_tied_pairs():
    X, y, groups = make_ranking(n_queries=10, n_docs=10, random_state=0)
    data = RankingData.of(y, np.arange(0, 101, 10))
    loss = ListedFidelity(0.8, tie_weight=0.5, max_pairs_per_query=7).bind(data)
    assert loss.n_pairs == 70
    assert loss.pairs.n_pairs == 140  # each way
    params = {"tie_weight": 0.5, "max_pairs_per_query": 7, "random_state": 0}
    model = FRank(5, **params).fit(X, y, groups)
    order = np.random.default_rng(0).permutation(len(y))
    other = FRank(5, **params, n_jobs=2).fit(X[order], y[order], groups[order])
    assert_array_equal(model.predict(X), other.predict(X))


def test_given_preferences():
    X, preferences = np.array([[0.0], [1.0], [2.0]]), [[1, 0], [2, 1]]
    model = FRank(300, target_probability=0.6).fit(X, preferences=preferences)
    h = np.log(0.6 / 0.4)
    assert_allclose(model.predict(X), [0, h, 2 * h], atol=1e-3)
    # Both ways, with the square roots as weights: probabilities of one's own.
    P = np.array([0.6, 0.9])
    both = [*preferences, *([loser, winner] for winner, loser in preferences)]
    weight = np.concatenate([np.sqrt(P), np.sqrt(1 - P)])
    model = FRank(500).fit(X, preferences=both, preference_weight=weight)
    assert_allclose(np.diff(model.predict(X)), np.log(P / (1 - P)), atol=1e-3)
    for params, name in [
        ({"target_probability": {1: 0.6}}, "`target_probability` must be a number"),
        ({"tie_weight": 1.0}, "`tie_weight` is for pairs of equal grades"),
    ]:
        with pytest.raises(ValueError, match=name):
            FRank(2, **params).fit(X, preferences=preferences)


def test_pairs_both_ways_are_counted_before_they_are_listed():
    """One query of 13,000 rows: its pairs would fit, but not twice."""
    y, X = np.arange(13_000.0) % 2, np.zeros((13_000, 1))
    message = "84500000 listed pairs"
    with pytest.raises(ValueError, match=message):
        FRank(1, target_probability=0.9).fit(X, y, np.zeros(13_000))


@pytest.mark.parametrize("step", [0.5, 0.6, 0.9, 0.999])
def test_consistent_probability_is_property_3(step):
    P = [consistent_probability(gap, 0.0, step) for gap in (1.0, 2.0, 3.0, 5.0)]
    assert P[0] == pytest.approx(step)
    assert P[1] == pytest.approx(oracle.combined(step, step))
    assert P[2] == pytest.approx(oracle.combined(P[1], step))
    assert P[3] == pytest.approx(oracle.combined(P[1], P[2]))


def test_steps_between_grades():
    steps = [0.6, 0.5, 0.95]
    high, low = np.array([1, 2, 3, 2, 3, 3.0]), np.array([0, 1, 2, 0, 1, 0.0])
    expected = [0.6, 0.5, 0.95, 0.6, 0.95, oracle.combined(0.6, 0.95)]
    assert_allclose(consistent_probability(high, low, steps), expected, rtol=1e-12)
    for wrong in (1.0, 0.4, [0.6, 1.0], [], np.nan, [[0.6]]):
        with pytest.raises(ValueError, match="`step` must be a number in"):
            consistent_probability(high, low, wrong)
    with pytest.raises(ValueError, match=r"there is the grade 0\.5"):
        consistent_probability([1.0], [0.5], steps)
