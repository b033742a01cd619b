# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The exponential loss for trees, regressors, linear functions and nets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles.pair_losses import exponential_pairs
from scipy.optimize import minimize
from sklearn.tree import DecisionTreeRegressor

from sklearn_ltr import LossRanker, MPBoost, QuadraticBoosting
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.labels import directed_distance, preference_pairs
from sklearn_ltr.losses import ExponentialPairs
from sklearn_ltr.ranking_data import RankingData

DISTANCES = [
    {"distance": "binary"},
    {"distance": "linear", "alpha": 2.0},
    {"distance": "logarithmic"},
    {"distance": "logistic", "beta": 1.0},
]


@pytest.mark.parametrize("params", DISTANCES, ids=str)
@pytest.mark.parametrize("estimator", [None, DecisionTreeRegressor(max_depth=3)], ids=str)
def test_boosted(params, estimator):
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    ranker = QuadraticBoosting(
        25, 0.3, loss=ExponentialPairs(**params), estimator=estimator, min_samples_leaf=5
    ).fit(X, y, groups=groups)
    scores = ranker.predict(X)
    of_queries = [
        exponential_pairs(y[groups == q], scores[groups == q], **params) for q in range(30)
    ]
    assert ranker.train_loss_[-1] == pytest.approx(np.mean(of_queries), rel=1e-10)
    assert (np.diff(ranker.train_loss_) <= 0).all()
    pairs, _ = preference_pairs(y, groups)
    assert ranker.train_loss_[-1] < 0.5 * len(pairs) / 30


def test_a_function_as_distance():
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    fits = [
        QuadraticBoosting(5, loss=ExponentialPairs(distance=distance)).fit(X, y, groups=groups)
        for distance in ("logistic", lambda high, low: directed_distance(high, low, "logistic"))
    ]
    assert_array_equal(fits[0].predict(X), fits[1].predict(X))


def test_linear_function_of_pairs_of_rows():
    rng = np.random.default_rng(0)
    difference = rng.normal(size=(100, 3))
    difference *= np.sign(difference @ [1, -1, 0.5] + 2 * rng.normal(size=100))[:, None]
    X = np.stack([difference, np.zeros_like(difference)], axis=1).reshape(-1, 3)
    y, groups = np.tile([1.0, 0.0], 100), np.arange(200) // 2
    loss = ExponentialPairs("binary")
    ranker = LossRanker(loss=loss, alpha=0.1, tol=1e-9).fit(X, y, groups=groups)
    expected = minimize(
        lambda w: np.exp(-difference @ w).mean() + 0.05 * w @ w, np.zeros(3), tol=1e-12
    )
    assert_allclose(ranker.coef_, expected.x, rtol=1e-4)


def test_the_loss_is_that_of_mpboost():
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    ranker = MPBoost(10, distance="logarithmic", step="newton").fit(X, y, groups=groups)
    offsets = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
    loss = ExponentialPairs("logarithmic")
    at_start = loss.value(y, np.zeros(len(y)), offsets).sum()
    at_end = loss.value(y, ranker.predict(X), offsets).sum()
    assert at_end / at_start == pytest.approx(ranker.train_loss_[-1], rel=1e-10)


def test_beyond_the_range_of_numbers():
    """Value and slope go on without a jump, and the slope does not fall."""
    y, offsets, loss = np.array([1.0, 0.0]), np.array([0, 2]), ExponentialPairs("binary")
    below, above = (np.array([0.0, 300 + d]) for d in (-1e-9, 1e-9))
    for method in (loss.value, loss.gradient):
        assert_allclose(method(y, below, offsets), method(y, above, offsets), rtol=1e-8)
    far = loss.value(y, np.array([0.0, 5300.0]), offsets)
    assert_allclose(far, [5001 * np.exp(300)], rtol=1e-12)
    assert_allclose(
        loss.gradient(y, np.array([0.0, 5300.0]), offsets), np.exp(300) * np.array([-1, 1.0])
    )


@pytest.mark.parametrize("listed", [False, True])
def test_a_far_query_leaves_the_others_alone(listed):
    y, offsets = np.array([2.0, 0, 1, 1, 0, 2, 0]), np.array([0, 2, 4, 7])
    h = np.array([-1e6, 1e6, 0.3, 0.1, 0.5, 0.2, -0.3])
    if listed:  # more than 32 grades
        y, offsets = np.concatenate([y, np.arange(40.0)]), np.append(offsets, 47)
        h = np.concatenate([h, np.arange(40) / 50])
    loss = ExponentialPairs("linear")
    value = loss.value(y, h, offsets)
    assert_allclose(value[2], exponential_pairs(y[4:7], h[4:7], "linear"), rtol=1e-13)
    assert_allclose(
        loss.gradient(y, h, offsets)[4:7],
        loss.gradient(y[4:7], h[4:7], offsets[:1].repeat(2) + [0, 3]),
        rtol=1e-13,
    )
    assert value[1] == 0


def test_steps_are_no_longer_than_those_of_mpboost():
    """All pairs are right along the features, so that the loss falls without end."""
    y, groups = np.tile([0.0, 1.0], 20), np.repeat(np.arange(20), 2)
    X = y[:, None].copy()
    ranker = QuadraticBoosting(
        1, 1.0, loss=ExponentialPairs("linear", alpha=2.0), min_samples_leaf=1
    ).fit(X, y, groups=groups)
    scores = ranker.predict(X)
    assert 2.0 * (scores[1] - scores[0]) == pytest.approx(30, rel=0.02)


def test_no_pairs_at_all():
    y, h, offsets = np.ones(4), np.arange(4.0), np.array([0, 1, 4])
    bound = ExponentialPairs().bind(RankingData.of(y, offsets))
    bound.update(h)
    for values in (bound.value, bound.gradient, bound.curvature):
        assert_array_equal(values, 0)
    assert bound.loss_at(h) == 0


def test_wrong_distance():
    with pytest.raises(ValueError, match="`distance` must be one of"):
        ExponentialPairs("square").value(np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2]))
