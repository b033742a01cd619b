# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs that count the same, or queries, in every loss that is a sum over pairs."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ltr import LossRanker, QuadraticBoosting, RankNet, losses
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.losses import SquaredHinge
from sklearn_ltr.losses.pairs_alike import PairsAlike
from sklearn_ltr.pairs import Preferences
from sklearn_ltr.ranking_data import RankingData

PAIR_LOSSES = [
    loss for name in losses.__all__ if issubclass(loss := getattr(losses, name), PairsAlike)
]
each_loss = pytest.mark.parametrize("Loss", PAIR_LOSSES)


def problem():
    """Queries of 2 to 8 rows, one of them without pairs."""
    rng = np.random.default_rng(0)
    sizes = np.arange(2, 9)
    y = rng.integers(0, 4, sizes.sum()).astype(float)
    y[:2], y[2:5] = [0, 1], 2
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return y, offsets, rng.normal(size=len(y)), rng.choice([1.0, 2.0, 5.0], len(sizes))


def test_all_losses_that_sum_over_pairs_have_the_switch():
    """By what they are: twice the rows are four times the loss."""
    y, offsets, scores, _ = problem()
    for name in losses.__all__:
        Loss = getattr(losses, name)
        if "value" not in Loss.abilities or Loss.bound.draws:
            continue
        once = Loss().value(y, scores, offsets)
        twice = Loss().value(np.repeat(y, 2), np.repeat(scores, 2), 2 * offsets)
        assert np.allclose(twice, 4 * once) == (Loss in PAIR_LOSSES), name


@each_loss
def test_a_query_counts_as_the_mean_over_its_pairs(Loss):
    y, offsets, scores, weight = problem()
    data = RankingData.of(y, offsets, weight)
    pair, query = (Loss(pair_weighting=alike).bind(data) for alike in ("pair", "query"))
    for bound in (pair, query):
        bound.update(scores)
    counts = [
        sum(a > b for a in y[start:stop] for b in y[start:stop])
        for start, stop in pairwise(offsets)
    ]
    assert counts[1] == 0
    of_row = np.repeat(np.maximum(counts, 1), np.diff(offsets))
    assert_allclose(query.gradient, pair.gradient / of_row, rtol=1e-14)
    assert_allclose(query.curvature, pair.curvature / of_row, rtol=1e-14)
    summed, mean = (Loss(pair_weighting=a).value(y, scores, offsets) for a in ("pair", "query"))
    assert_allclose(mean, summed / np.maximum(counts, 1), rtol=1e-14)
    expected = np.mean(weight / weight.mean() * pair.value / np.maximum(counts, 1))
    assert query.loss == pytest.approx(expected, rel=1e-14)


@each_loss
def test_queries_alike_are_another_model(Loss):
    X, y, groups = make_ranking(20, random_state=0)
    models = [
        QuadraticBoosting(n_estimators=3, loss=Loss(pair_weighting=alike)).fit(X, y, groups=groups)
        for alike in ("pair", "query")
    ]
    assert not np.allclose(models[0].predict(X), models[1].predict(X), rtol=1e-3)


def test_given_preferences_count_by_their_weights():
    y, offsets, scores, _ = problem()
    winner, loser, weight = np.array([0, 2, 3, 5, 6]), np.array([1, 3, 4, 6, 8]), np.ones(5)
    weight[1:3] = 1, 3
    ungraded = np.full(len(y), np.nan)
    data = RankingData.of(ungraded, offsets, preferences=Preferences(winner, loser, weight, len(y)))
    bounds = [SquaredHinge(1.0, pair_weighting=alike).bind(data) for alike in ("pair", "query")]
    for bound in bounds:
        bound.update(scores)
    in_query = np.repeat([1, 4, 2, 1, 1, 1, 1], np.diff(offsets))
    assert_allclose(bounds[1].gradient, bounds[0].gradient / in_query, rtol=1e-14)


def test_of_ranknet_and_of_its_loss():
    X, y, groups = make_ranking(20, random_state=0)
    loss = losses.LogisticPairs(pair_weighting="query")
    expected = RankNet(pair_weighting="query", alpha=0.1).fit(X, y, groups=groups)
    found = LossRanker(loss=loss, alpha=0.1).fit(X, y, groups=groups)
    assert_array_equal(found.predict(X), expected.predict(X))


@each_loss
def test_a_wrong_switch(Loss):
    with pytest.raises(ValueError, match="`pair_weighting` must be one of"):
        Loss(pair_weighting="queries").value(*problem()[::2], problem()[1])
