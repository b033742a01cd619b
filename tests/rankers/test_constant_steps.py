# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Steps of one length, those of Theorem 1 of the QBRank paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles.pair_losses import squared_hinge

from sklearn_ltr import QuadraticBoosting
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.losses import SquaredHinge

N_QUERIES = 25


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=N_QUERIES, random_state=0)


def risk(y, h, groups):
    return np.mean([squared_hinge(y[groups == q], h[groups == q]) for q in np.unique(groups)])


def norm(y, g, groups):
    """By the definition, with W of two for each pair of a row."""
    W = [2 * ((groups == groups[i]) & (y != y[i])).sum() for i in range(len(y))]
    return np.sqrt((W * g**2).sum() / len(np.unique(groups)))


def test_each_step_has_the_same_length(data):
    X, y, groups = data
    ranker = QuadraticBoosting(30, 0.1, loss=SquaredHinge(), step="constant").fit(X, y, groups)
    assert ranker.n_iter_ == 30
    h = np.zeros(len(y))
    for (coefficient, tree), loss in zip(ranker.model_.terms, ranker.train_loss_, strict=True):
        step = coefficient * tree.predict(X)
        assert norm(y, step, groups) == pytest.approx(0.1, rel=1e-9)
        before, h = risk(y, h, groups), h + step
        assert loss == pytest.approx(risk(y, h, groups), rel=1e-9)
        assert loss <= before
    assert_allclose(ranker.predict(X), h, rtol=1e-9, atol=1e-12)


def test_it_ends_where_a_step_would_raise_the_risk(data):
    X, y, groups = data
    params = {"learning_rate": 1.0, "loss": SquaredHinge(), "step": "constant"}
    ranker = QuadraticBoosting(500, **params).fit(X, y, groups)
    assert 0 < ranker.n_iter_ < 500
    h = ranker.predict(X)
    # What the next tree is, whatever the step: that of a fit that goes on by line search.
    other = QuadraticBoosting(ranker.n_iter_, **params, warm_start=True).fit(X, y, groups)
    other.set_params(step="search", n_estimators=ranker.n_iter_ + 1).fit(X, y, groups)
    _, tree = other.model_.terms[-1]
    g = tree.predict(X)
    assert risk(y, h + g / norm(y, g, groups), groups) > risk(y, h, groups)


def test_random_trees_go_on_after_a_step_that_is_not_taken(data):
    X, y, groups = data
    ranker = QuadraticBoosting(
        60, 3.0, loss=SquaredHinge(), step="constant", subsample=0.3, random_state=0
    ).fit(X, y, groups)
    assert ranker.n_iter_ == 60
    assert 0 < len(ranker.model_.terms) < 60
    assert (np.diff(ranker.train_loss_) <= 0).all()


@pytest.mark.parametrize("s", [0.5, 0.8, 1.2])
def test_bound_of_theorem_1(data, s):
    """Where each row has a leaf, the weak learner is exact, and any scores are within its span."""
    _, y, groups = data
    X = np.arange(len(y), dtype=float)[:, None]
    target, start = y - y.mean(), risk(y, np.zeros(len(y)), groups)
    assert risk(y, target, groups) == 0
    size = norm(y, target, groups)
    bound = 2 * s * np.sqrt(start * size) + s**4
    assert bound < start  # or it would say nothing
    n_rounds = int(np.ceil(np.sqrt(size * start) / s**3))
    ranker = QuadraticBoosting(
        n_rounds,
        s**2,
        loss=SquaredHinge(),
        step="constant",
        max_leaf_nodes=len(y),
        min_samples_leaf=1,
        max_bins=None,
    ).fit(X, y, groups)
    assert ranker.train_loss_[-1] <= bound


def test_wrong_step(data):
    with pytest.raises(ValueError, match="`step` must be one of"):
        QuadraticBoosting(step="paper").fit(*data)
