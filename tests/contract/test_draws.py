# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every loss that draws at random, in every ranker that takes it."""

import numpy as np
import pytest
from every_ranker import RANKERS, always_draws, assert_same, make, make_data
from numpy.testing import assert_array_equal
from sklearn.base import clone

from sklearn_ltr import LossRanker, QuadraticBoosting, losses
from sklearn_ltr.losses.base import bind
from sklearn_ltr.ranking_data import RankingData

DRAWING = [name for name in losses.__all__ if getattr(losses, name).bound.draws]


def fitters():
    for R in RANKERS:
        if always_draws(R):
            yield R.__name__, make(R)
    for name in DRAWING:
        loss = getattr(losses, name)()
        yield f"QuadraticBoosting-{name}", make(QuadraticBoosting, loss=loss)
        for solver in ("lbfgs", "adam"):
            ranker = make(LossRanker, loss=loss, solver=solver, max_iter=20, batch_size=4)
            yield f"LossRanker-{name}-{solver}", ranker


FITTERS = dict(fitters())
each = pytest.mark.parametrize("ranker", FITTERS.values(), ids=list(FITTERS))
BOOSTED = {name: ranker for name, ranker in FITTERS.items() if "warm_start" in ranker.get_params()}
each_boosted = pytest.mark.parametrize("ranker", BOOSTED.values(), ids=list(BOOSTED))
each_loss = pytest.mark.parametrize("name", DRAWING)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows():
    X, y, groups = make_data(LossRanker)
    return np.nan_to_num(X), y, groups


def test_the_walk_finds_losses_that_draw():
    assert "ListNDCGCrossEntropy" in DRAWING


@each
def test_random_state_says_what_is_drawn(ranker):
    X, y, groups = rows()
    expected = clone(ranker).fit(X, y, groups)
    assert_same(clone(ranker).fit(X, y, groups), expected, X)
    other = clone(ranker).set_params(random_state=1).fit(X, y, groups)
    assert not np.array_equal(other.predict(X), expected.predict(X))


@each
def test_order_names_and_threads_do_not_matter(ranker):
    X, y, groups = rows()
    expected = clone(ranker).fit(X, y, groups)
    rng = np.random.default_rng(1)
    order, names = rng.permutation(len(y)), rng.permutation(groups.max() + 1)
    other = clone(ranker).set_params(n_jobs=2).fit(X[order], y[order], names[groups[order]])
    assert_same(other, expected, X)


@pytest.mark.parametrize("k", [1, 5])
@each_boosted
def test_a_warm_start_draws_what_an_uninterrupted_fit_does(ranker, k):
    X, y, groups = rows()
    expected = clone(ranker).fit(X, y, groups)
    parts = clone(ranker).set_params(warm_start=True, n_estimators=k).fit(X, y, groups)
    parts.set_params(n_estimators=ranker.n_estimators).fit(X, y, groups)
    assert_same(parts, expected, X)


@each_loss
def test_each_round_is_another_function(name):
    _, y, groups = rows()
    _, offsets = np.unique(np.sort(groups), return_index=True)
    data = RankingData.of(y[np.argsort(groups, kind="stable")], np.append(offsets, len(y)))
    h = np.sin(np.arange(len(y), dtype=float))
    bound = getattr(losses, name)().bind(data)
    found = []
    for k in (0, 3, 0):
        bound.update(h, k)
        assert bound.loss_at(h) == bound.loss  # along the way it stays the function of the round
        found.append((bound.loss, bound.gradient))
    assert found[0][0] == found[2][0]
    assert_array_equal(found[0][1], found[2][1])
    assert found[0][0] != found[1][0]
    assert (found[0][1] != found[1][1]).any()


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_rounds_of_the_solvers(solver, monkeypatch):
    """L-BFGS minimises one function; Adam has a draw for each batch."""
    rounds, loss = [], getattr(losses, DRAWING[0])()
    update = loss.bound.update

    def noted(self, scores, round=0):
        rounds.append(round)
        update(self, scores, round)

    monkeypatch.setattr(loss.bound, "update", noted)
    X, y, groups = rows()
    ranker = make(LossRanker, loss=loss, solver=solver, max_iter=3, batch_size=5).fit(X, y, groups)
    rounds = rounds[2:]  # after those that say which queries there is something to learn from
    if solver == "lbfgs":
        assert set(rounds) == {0}
    else:
        n_queries = ranker.n_queries_ - ranker.n_queries_skipped_
        assert rounds == list(range(3 * -(-n_queries // 5)))


@each_loss
def test_a_round_without_a_step_is_not_the_last(name, monkeypatch):
    """The next one draws something else."""
    loss = getattr(losses, name)()
    step = loss.bound.step
    calls = []

    def halting(self, h, g):
        calls.append(1)
        return 0.0 if len(calls) == 2 else step(self, h, g)

    monkeypatch.setattr(loss.bound, "step", halting)
    X, y, groups = rows()
    ranker = make(QuadraticBoosting, loss=loss, n_estimators=4, learning_rate=0.1)
    assert ranker.fit(X, y, groups).n_iter_ == 4
    assert [len(terms) for terms in ranker.model_.rounds] == [1, 0, 1, 1]


@each_loss
def test_a_bound_loss_is_not_shared(name):
    """Two rankers with one loss do not see each other's draws."""
    loss = getattr(losses, name)()
    data = RankingData.of(np.array([2.0, 0.0, 1.0]), [0, 3])
    one, other = bind(loss, data), bind(loss, data)
    one.update(np.zeros(3))
    before = one.gradient.copy()
    other.update(np.zeros(3), 5)
    one.update(np.zeros(3))
    assert_array_equal(one.gradient, before)
