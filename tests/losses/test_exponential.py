# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The exponential loss of pairs against sums over listed pairs, and against its own values."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from strategies import examples

from sklearn_ltr import pairs
from sklearn_ltr.labels import directed_distance
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.ranking_data import RankingData

DISTANCES = (
    partial(directed_distance, distance="binary"),
    partial(directed_distance, distance="linear", alpha=0.4),
    partial(directed_distance, distance="linear", alpha=3.0),
    partial(directed_distance, distance="logistic"),
    lambda high, low: (high - low) * (1 + high),
)
kinds = pytest.mark.parametrize("listed", [False, True])


def make(seed, n_grades=4, scale=1.0, n_queries=6):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_queries)
    sizes[0] = 8
    offsets = np.cumsum([0, *sizes]).astype(np.intp)
    y = rng.integers(0, n_grades, offsets[-1]).astype(float)
    y[:2] = 0, n_grades - 1
    return y, offsets, rng.choice([0.2, 1.0, 5.0], n_queries), scale * rng.normal(size=len(y))


def listing(y, offsets, weight, distance):
    """Winner, loser, distance and query weight of each pair."""
    found = [
        (i, j, v)
        for start, stop, v in zip(offsets[:-1], offsets[1:], weight, strict=True)
        for i in range(start, stop)
        for j in range(start, stop)
        if y[i] > y[j]
    ]
    winner, loser, v = (np.array(column) for column in zip(*found, strict=True))
    return winner, loser, distance(y[winner], y[loser]), v


def log_loss_of(scores, winner, loser, d, v):
    return logsumexp(np.log(v) - d * (scores[winner] - scores[loser]))


def make_loss(y, offsets, weight, distance, *, squared, listed, n_threads=1):
    data = RankingData.of(y, offsets, weight, n_threads=n_threads)
    if listed:
        vars(data)["pairs"] = pairs.list_pairs(data)
    return StumpExponential(distance, squared).bind(data)


def log_loss_at(loss, scores):
    """Logarithm of the sum of the pair weights."""
    loss.update(scores)
    return loss.log_scale + np.log(loss.total)


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_grades=st.sampled_from([2, 3, 4, 5, 7]),
    scale=st.sampled_from([0.0, 1.0, 30.0, 3000.0]),
    distance=st.sampled_from(DISTANCES),
    squared=st.booleans(),
    listed=st.booleans(),
)
def test_sums_equal_sums_over_the_pairs(seed, n_grades, scale, distance, squared, listed):
    y, offsets, weight, scores = make(seed, n_grades, scale)
    winner, loser, d, v = listing(y, offsets, weight, distance)
    loss = make_loss(y, offsets, weight, distance, squared=squared, listed=listed)
    assert loss.n_pairs == len(d)
    assert (loss.min_distance, loss.max_distance) == pytest.approx((d.min(), d.max()), rel=1e-15)

    log_loss = log_loss_at(loss, scores)
    assert_allclose(log_loss, log_loss_of(scores, winner, loser, d, v), rtol=1e-13, atol=1e-11)
    at_start = log_loss_of(np.zeros(len(y)), winner, loser, d, v)
    assert_allclose(loss.log_loss, log_loss - at_start, rtol=1e-13, atol=1e-11)

    rows = np.arange(len(y))[:, None]
    w = np.exp(np.log(v) - d * (scores[winner] - scores[loser]) - log_loss)
    pull, crossing_weight = w * d, w * d**2 if squared else w
    close = {"rtol": 1e-9, "atol": 1e-13 * d.max() ** 2}
    gradient = ((loser == rows) * pull - (winner == rows) * pull).sum(axis=1)
    assert_allclose(loss.gradient / loss.total, gradient, **close)
    degree = (((winner == rows) | (loser == rows)) * crossing_weight).sum(axis=1)
    assert_allclose(loss.degree / loss.total, degree, **close)

    above = np.random.default_rng(seed).random(len(y)) < 0.5
    crossing = loss.crossing(above)
    for own in np.unique(d):
        here = np.isclose(crossing.distance, own, rtol=1e-13)
        same = np.isclose(d, own, rtol=1e-13)
        won = w[same & above[winner] & ~above[loser]].sum()
        lost = w[same & ~above[winner] & above[loser]].sum()
        assert_allclose(crossing.agreeing[here].sum() / loss.total, won, rtol=1e-9, atol=1e-13)
        assert_allclose(crossing.contrary[here].sum() / loss.total, lost, rtol=1e-9, atol=1e-13)
    split = above[winner] != above[loser]
    everything = crossing.agreeing.sum() + crossing.contrary.sum()
    assert_allclose(everything / loss.total, w[split].sum(), rtol=1e-9, atol=1e-13)


@kinds
@pytest.mark.parametrize("distance", DISTANCES)
def test_gradient_and_degree_equal_differences_of_the_value(listed, distance):
    y, offsets, weight, scores = make(1, scale=0.5)
    loss = make_loss(y, offsets, weight, distance, squared=True, listed=listed)

    def value(F):
        return np.exp(log_loss_at(loss, F))

    h = 1e-5
    gradient, curvature = np.empty(len(y)), np.empty(len(y))
    for i in range(len(y)):
        step = h * (np.arange(len(y)) == i)
        up, down = value(scores + step), value(scores - step)
        gradient[i] = (up - down) / (2 * h)
        wide = 1e-3 * (np.arange(len(y)) == i)
        curvature[i] = (value(scores + wide) - 2 * value(scores) + value(scores - wide)) / 1e-6
    loss.update(scores)
    scale = np.exp(loss.log_scale)
    size = np.abs(gradient).max()
    assert_allclose(scale * loss.gradient, gradient, rtol=1e-6, atol=1e-7 * size)
    assert_allclose(scale * loss.degree, curvature, rtol=1e-3, atol=1e-5 * curvature.max())


@kinds
@pytest.mark.parametrize("squared", [False, True])
def test_threads_do_not_change_a_bit(listed, squared):
    y, offsets, weight, scores = make(2, n_queries=40)
    results = []
    for n_threads in (1, 2, 3):
        loss = make_loss(
            y, offsets, weight, DISTANCES[3], squared=squared, listed=listed, n_threads=n_threads
        )
        loss.update(scores)
        results.append((loss.log_loss, loss.total, *loss.gradient, *loss.degree))
    assert_array_equal(results[0], results[1])
    assert_array_equal(results[0], results[2])


@kinds
def test_update_forgets_earlier_scores(listed):
    y, offsets, weight, scores = make(3)
    loss = make_loss(y, offsets, weight, DISTANCES[1], squared=False, listed=listed)
    loss.update(scores)
    first, gradient = loss.log_loss, loss.gradient.copy()
    loss.update(1e4 * scores)
    loss.update(scores)
    assert loss.log_loss == first
    assert_array_equal(loss.gradient, gradient)


@kinds
def test_a_shift_of_a_query_changes_nothing(listed):
    y, offsets, weight, scores = make(4)
    loss = make_loss(y, offsets, weight, DISTANCES[1], squared=False, listed=listed)
    loss.update(scores)
    first, gradient = loss.log_loss, loss.gradient.copy()
    shift = 512.0 * np.repeat(np.arange(len(weight)), np.diff(offsets))
    loss.update(scores + shift)
    assert loss.log_loss == pytest.approx(first, rel=1e-12)
    assert_allclose(loss.gradient, gradient, rtol=1e-10, atol=1e-12)


@kinds
def test_only_grades_that_meet_have_a_distance(listed):
    y, offsets = np.array([0.0, 1, 3, 4]), np.array([0, 2, 4])
    asked = []

    def distance(high, low):
        asked.extend(zip(high, low, strict=True))
        return high - low

    loss = make_loss(y, offsets, np.ones(2), distance, squared=False, listed=listed)
    assert sorted(asked) == [(1, 0), (4, 3)]
    assert (loss.min_distance, loss.max_distance) == (1, 1)
    scores = np.array([500.0, 0, 0, 900])
    assert log_loss_at(loss, scores) == pytest.approx(500)
    assert_allclose(loss.gradient / loss.total, [1, -1, 0, 0], atol=1e-12)
