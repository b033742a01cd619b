# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every bound loss, found by a walk through the package."""

import importlib
import inspect
import pkgutil
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from ranked_rows import make
from sklearn.base import BaseEstimator

import sklearn_ltr.losses
from sklearn_ltr import FRank, ListNet, MPBoost, QuadraticBoosting, RankNet
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.labels import directed_distance
from sklearn_ltr.losses import LogisticPairs, SquaredHinge
from sklearn_ltr.losses.base import BoundLoss, Loss, bind, check_loss
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.losses.lambdas import Lambdas
from sklearn_ltr.ranking_data import RankingData


def find_losses():
    """All classes of losses, each with arguments for those that have no defaults."""
    found = set()
    for info in pkgutil.walk_packages(sklearn_ltr.losses.__path__, "sklearn_ltr.losses."):
        for value in vars(importlib.import_module(info.name)).values():
            if inspect.isclass(value) and issubclass(value, Loss):
                found.add(value)
    return sorted(found - {Loss}, key=lambda L: L.__name__)


# Those that cannot be made without arguments.
ARGUMENTS = {
    "StumpExponential": {
        "distance": partial(directed_distance, distance="linear"),
        "squared": True,
    },
    "Multinomial": {"n_levels": 5, "level_of": lambda y: y.astype(int)},
    "CumulativeBinomial": {"n_levels": 5, "level_of": lambda y: y.astype(int)},
}
LOSSES = [L(**ARGUMENTS.get(L.__name__, {})) for L in find_losses()]
OF_SCORES = [loss for loss in LOSSES if "n_levels" not in loss.get_params()]
WITH_VALUES = [loss for loss in OF_SCORES if "value" in loss.abilities]
each = pytest.mark.parametrize("loss", OF_SCORES, ids=lambda loss: type(loss).__name__)
each_with_values = pytest.mark.parametrize(
    "loss", WITH_VALUES, ids=lambda loss: type(loss).__name__
)


def rows(seed=3, n_queries=40, **options):
    """Graded rows with a weight for each query, and scores."""
    y, scores, offsets = make(seed, 1.5, n_queries=n_queries)
    y = np.clip(np.round(np.abs(y)), 0, 4)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], n_queries)
    return RankingData.of(y, offsets, weight, **options), scores


def at(loss, data, scores, **options):
    bound = loss.bind(data, **options)
    bound.update(scores)
    return bound


def test_the_walk_finds_losses():
    names = {type(loss).__name__ for loss in LOSSES}
    assert {*sklearn_ltr.losses.__all__, "Lambdas", "ListedFidelity", "Multinomial"} <= names
    assert len(WITH_VALUES) == len(sklearn_ltr.losses.__all__)


@each
def test_threads_do_not_change_a_bit(loss):
    found = []
    for n_threads in (1, 2, 3):
        data, scores = rows(n_threads=n_threads)
        bound = at(loss, data, scores)
        curvature = bound.curvature if "curvature" in loss.abilities else np.empty(0)
        found.append(np.concatenate([[bound.loss], bound.gradient, curvature]))
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


@each
def test_an_update_leaves_nothing_behind(loss):
    data, scores = rows()
    bound = at(loss, data, scores)
    first = bound.loss, np.array(bound.gradient)
    bound.update(-3 * scores)
    assert bound.loss != first[0]
    bound.update(scores)
    assert bound.loss == first[0]
    assert_array_equal(bound.gradient, first[1])


@each
def test_weights_are_relative(loss):
    """A common factor of the weights of all queries changes nothing."""
    data, scores = rows()
    more = RankingData.of(data.y, data.offsets, 8 * data.query_weight)
    one, other = at(loss, data, scores), at(loss, more, scores)
    assert_allclose(other.loss, one.loss, rtol=1e-12)
    shares = [b.gradient / np.abs(b.gradient).max() for b in (one, other)]
    assert_allclose(shares[1], shares[0], rtol=1e-10, atol=1e-13)


@each_with_values
def test_gradient_is_that_of_the_weighted_sum(loss):
    data, scores = rows(n_queries=6)
    bound = at(loss, data, scores)
    assert_allclose(bound.loss, (data.v * bound.value).mean(), rtol=1e-13)
    assert_allclose(bound.total, data.v @ bound.value, rtol=1e-13)
    moves = 1e-5 * np.eye(len(scores))
    slopes = [(bound.loss_at(scores + m) - bound.loss_at(scores - m)) / 2e-5 for m in moves]
    assert_allclose(bound.gradient, np.array(slopes) * data.n_queries, rtol=1e-5, atol=1e-4)


@each_with_values
def test_bound_is_what_the_three_methods_say(loss):
    data, scores = rows()
    bound = at(loss, data, scores)
    arguments = data.y, scores, data.offsets
    assert_array_equal(bound.value, loss.value(*arguments))
    assert_array_equal(bound.gradient, data.per_row(data.v) * loss.gradient(*arguments))
    assert_array_equal(bound.curvature, data.per_row(data.v) * loss.curvature(*arguments))
    assert bound.loss_at(scores) == bound.loss


@each_with_values
def test_the_adapter_of_own_losses_gives_the_same(loss):
    class Own:
        value, gradient, curvature = loss.value, loss.gradient, loss.curvature

    data, scores = rows()
    own, ours = bind(Own(), data), at(loss, data, scores)
    own.update(scores)
    for name in ("value", "gradient", "curvature", "loss", "total"):
        assert_array_equal(getattr(own, name), getattr(ours, name))
    assert own.loss_at(2 * scores) == ours.loss_at(2 * scores)
    assert own.start() == ours.start()


@each_with_values
def test_curvature_is_computed_where_it_is_asked_for(loss, monkeypatch):
    data, scores = rows()
    bound = at(loss, data, scores)
    calls = []
    original = type(bound)._curvature
    monkeypatch.setattr(type(bound), "_curvature", lambda self: calls.append(1) or original(self))
    bound.update(scores)
    assert not calls
    assert bound.curvature is bound.curvature
    assert len(calls) == 1


@each_with_values
def test_rows_are_sorted_and_grouped_once(loss, monkeypatch):
    """Whatever depends on grades alone is done when a loss is bound, and not at each evaluation."""
    data, scores = rows()
    bound = loss.bind(data)
    for name in ("lexsort", "unique", "argsort"):
        monkeypatch.setattr(np, name, lambda *args, **kwargs: pytest.fail("sorted again"))
    bound.update(scores)
    bound.loss_at(scores)
    assert np.isfinite(bound.curvature).all()


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_losses_are_bound_losses_when_bound(loss):
    data, _ = rows()
    assert isinstance(loss.bind(data), BoundLoss)
    abilities = {"value", "gradient", "curvature", "stumps"}
    abilities |= {"preferences", "margins", "propensity"}
    assert loss.abilities <= abilities


def test_what_a_loss_cannot_do_is_said_when_fitting():
    X, y, groups = make_ranking(n_queries=5, random_state=0)
    with pytest.raises(
        ValueError, match=r"QuadraticBoosting needs the value of a loss, which Lamb"
    ):
        QuadraticBoosting(loss=Lambdas()).fit(X, y, groups)
    exponential = StumpExponential(**ARGUMENTS["StumpExponential"])
    with pytest.raises(
        ValueError, match=r"needs the curvature and the value of a loss, which Stump"
    ):
        QuadraticBoosting(loss=exponential).fit(X, y, groups)

    class Following(ListNet):
        """Names gradients of no loss, which L-BFGS cannot follow."""

        def _loss(self):
            return Lambdas()

    with pytest.raises(ValueError, match=r"Following by this solver needs the value of a loss"):
        Following().fit(X, y, groups)
    assert Following(solver="adam", max_iter=2).fit(X, y, groups).n_iter_ == 2


def test_objects_without_the_three_methods_are_no_losses():
    class Half(BaseEstimator):
        def value(self, y, scores, offsets):
            return np.zeros(len(offsets) - 1)

    with pytest.raises(
        ValueError, match=r"must have the methods .* has no \['gradient', 'curvature'"
    ):
        check_loss(Half(), {"value"}, "QuadraticBoosting")


@pytest.mark.parametrize("loss", [SquaredHinge(), LogisticPairs()], ids=repr)
def test_one_loss_serves_trees_and_linear_functions(loss):
    """A loss named by a linear ranker of two lines is minimised as by trees."""

    class Linear(RankNet):
        def _loss(self):
            return loss

    X, y, groups = make_ranking(n_queries=30, random_state=0)
    linear = Linear(n_jobs=2).fit(X, y, groups)
    assert linear.train_loss_[-1] < linear.train_loss_[0]
    trees = QuadraticBoosting(20, loss=loss, n_jobs=2).fit(X, y, groups)
    assert trees.train_loss_[-1] < trees.train_loss_[0]


@pytest.mark.parametrize("R", [MPBoost, FRank])
def test_gradient_of_stump_losses_has_the_sign_of_a_derivative(R):
    """A row that is preferred is pushed up: its derivative is negative."""
    data = RankingData.of(np.array([1.0, 0.0]), [0, 2])
    exponential = StumpExponential(**ARGUMENTS["StumpExponential"])
    loss = exponential if R is MPBoost else find_loss("ListedFidelity")()
    bound = at(loss, data, np.zeros(2))
    assert bound.gradient[0] < 0 < bound.gradient[1]


def find_loss(name):
    return next(L for L in find_losses() if L.__name__ == name)
