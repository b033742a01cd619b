# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every loss and every ranker that takes a probability aimed at, and ties."""

import inspect
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from every_ranker import RANKERS, has, make
from numpy.testing import assert_allclose, assert_array_equal
from ranked_rows import make as make_rows
from scipy.special import expit

from sklearn_ltr import RankNet, losses
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.labels import consistent_probability, preference_pairs
from sklearn_ltr.losses import sums_over_pairs
from sklearn_ltr.losses.sums_over_pairs import SumsOverPairs
from sklearn_ltr.ranking_data import RankingData

METHODS = "value", "gradient", "curvature"
LOSSES = [
    getattr(losses, name)
    for name in losses.__all__
    if "target_probability" in inspect.signature(getattr(losses, name)).parameters
]
OF_PROBABILITY = [R for R in RANKERS if has(R, "target_probability")]
each_loss = pytest.mark.parametrize("loss", LOSSES)


def all_of(loss, *rows):
    return [getattr(loss, method)(*rows) for method in METHODS]


def test_which_take_it():
    assert {loss.__name__ for loss in LOSSES} >= {"FidelityPairs", "LogisticPairs"}
    assert {R.__name__ for R in OF_PROBABILITY} >= {"FRank", "RankNet"}
    for loss in LOSSES:
        assert "tie_weight" in inspect.signature(loss).parameters


@each_loss
def test_a_number_is_a_constant_function_of_grades(loss):
    y, h, offsets = make_rows(0)
    gaps = np.unique(np.subtract.outer(y, y))
    for P in (0.5, 0.8, 1.0):
        expected = all_of(loss(target_probability=P), y, h, offsets)
        for of_grades in (
            dict.fromkeys(gaps[gaps > 0].tolist(), P),
            lambda higher, lower, P=P: np.full_like(higher, P),
        ):
            found = all_of(loss(target_probability=of_grades), y, h, offsets)
            for one, other in zip(found, expected, strict=True):
                assert_allclose(one, other, rtol=1e-11, atol=1e-13)


@each_loss
@pytest.mark.parametrize("P", [0.6, 0.9])
def test_consistent_probabilities_are_reached_by_differences_of_grades(loss, P):
    """Property (3): then, and only then, one score for each grade serves all pairs."""
    y, offsets = np.array([0.0, 1.0, 3.0, 1.0]), np.array([0, 4])
    consistent = loss(target_probability=partial(consistent_probability, step=P))
    h = y * np.log(P / (1 - P))
    assert_allclose(consistent.gradient(y, h, offsets), 0, atol=1e-12)
    assert np.abs(loss(target_probability=P).gradient(y, h, offsets)).max() > 0.01


@each_loss
def test_a_tie_has_its_minimum_where_scores_are_equal(loss):
    y, offsets = np.array([0.0, 1.0, 1.0]), np.array([0, 3])
    tied, untied = loss(tie_weight=2.0), loss()
    gaps = [-3.0, -1.0, 0.0, 1.0, 3.0]
    added = []
    for gap in gaps:
        h = np.array([0.0, 0.0, gap])
        added.append((tied.value(y, h, offsets) - untied.value(y, h, offsets))[0])
        pull = tied.gradient(y, h, offsets) - untied.gradient(y, h, offsets)
        assert_allclose(pull[0], 0, atol=1e-15)
        assert_allclose(pull[1], -pull[2], atol=1e-15)
        assert np.sign(pull[2].round(12)) == np.sign(gap)
    assert int(np.argmin(added)) == 2
    assert_allclose(added, added[::-1], rtol=1e-12)


@each_loss
def test_a_query_of_one_grade_has_no_ties(loss):
    y, h, offsets = np.array([1.0, 1.0, 0.0, 1.0]), np.array([0.0, 2.0, 0.3, 0.1]), [0, 2, 4]
    value, gradient, curvature = all_of(loss(tie_weight=1.0), y, h, np.array(offsets))
    assert value[0] == 0
    assert_array_equal(np.concatenate([gradient[:2], curvature[:2]]), 0)
    assert value[1] > 0


@each_loss
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "1", None])
def test_wrong_weights_of_ties(loss, weight):
    y, h, offsets = make_rows(0)
    for method in METHODS:
        with pytest.raises(ValueError, match="`tie_weight` must be"):
            getattr(loss(tie_weight=weight), method)(y, h, offsets)


@each_loss
def test_wrong_probabilities_of_grades(loss):
    y, h, offsets = np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([0, 3])
    for P, message in [
        ({1: 0.6}, "no probability of grades 2 apart"),
        ({1: 0.6, 2: 0.3}, "must be in .* got 0.3 for the grades 2 and 0"),
        (lambda higher, lower: 0.7, "returned shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            loss(target_probability=P).value(y, h, offsets)


@pytest.mark.parametrize("R", OF_PROBABILITY)
def test_rankers_take_every_kind(R):
    X, y, groups = make_ranking(n_queries=12, n_docs=8, random_state=0)
    scores = []
    for P in (1.0, 0.8, {gap: 0.7 + 0.05 * gap for gap in range(1, 5)}, consistent_probability):
        ranker = make(R, target_probability=P).fit(X, y, groups=groups)
        scores.append(ranker.predict(X))
        assert ranker.score(X, y, groups=groups) > 0.5
    for i in range(3):
        assert not np.allclose(scores[i], scores[i + 1])
    for P in (0.4, 1.1, np.nan, "1", None, [0.6], {1: 0.6}, {1: 2.0, 2: 0.6, 3: 0.6, 4: 0.6}):
        with pytest.raises(ValueError, match="`target_probability`"):
            make(R, target_probability=P).fit(X, y, groups=groups)


@pytest.mark.parametrize("R", OF_PROBABILITY)
def test_given_preferences_have_no_grades(R):
    X, y, groups = make_ranking(n_queries=12, n_docs=8, random_state=0)
    pairs, _ = preference_pairs(y, groups)
    with pytest.raises(ValueError, match=r"`target_probability` .* with `preferences`"):
        make(R, target_probability={1: 0.6}).fit(X, None, groups=groups, preferences=pairs)


def test_ranknet_minimises_the_cross_entropy():
    """One feature and consistent probabilities: the slope is their log-odds."""
    X, y = np.array([[0.0], [1.0], [2.0], [2.0]]), [0, 1, 2, 2]
    params = {"alpha": 0.0, "tol": 1e-8}
    for P in (0.6, 0.9):
        target = partial(consistent_probability, step=P)
        ranker = RankNet(target_probability=target, **params).fit(X, y, groups=np.zeros(4))
        assert_allclose(ranker.coef_, [np.log(P / (1 - P))], rtol=1e-5)
    ranker = RankNet(target_probability=0.8, tie_weight=1.0, **params)
    ranker.fit([[0.0], [1.0], [3.0]], [0, 1, 1], groups=np.zeros(3))
    w = ranker.coef_[0]
    slope = (expit(w) - 0.8) + 3 * (expit(3 * w) - 0.8) + 2 * (expit(2 * w) - 0.5)
    assert slope == pytest.approx(0, abs=1e-6)


def test_sums_of_grades_in_parts(monkeypatch):
    y, _, offsets = make_rows(5, n_queries=20)
    data = RankingData.of(y, offsets)

    def function(higher, lower):
        return higher**2 - lower

    expected = np.zeros(len(y))
    for start, stop in pairwise(offsets):
        for i in range(start, stop):
            for j in range(start, stop):
                if y[i] > y[j]:
                    expected[[i, j]] += np.array([1, -1]) * function(y[i], y[j])
    whole = SumsOverPairs(data).of_grades(function)
    assert_allclose(whole, expected, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(sums_over_pairs, "GRADES_AT_A_TIME", 3)
    assert_allclose(SumsOverPairs(data).of_grades(function), expected, rtol=1e-12, atol=1e-12)
