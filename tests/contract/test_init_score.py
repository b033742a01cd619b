# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scores that a boosted ranker is added to: every one that takes them."""

import inspect
import json
import warnings

import numpy as np
import pytest
import sklearn
from every_ranker import RANKERS, always_draws, assert_same, has, learns_from_single_rows, make
from every_ranker import make_data as make_any_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, cross_validate

from sklearn_ltr import GBRank, LambdaMART, McRank, RegressionRanker
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.export import from_dict, to_dict
from sklearn_ltr.export.scoring import RANKERS as EXPORTED
from sklearn_ltr.metrics import ndcg_score

TAKERS = [R for R in RANKERS if "init_score" in inspect.signature(R.fit).parameters]
each_taker = pytest.mark.parametrize("R", TAKERS, ids=lambda R: R.__name__)

# Those of several outputs, and of features that are scores themselves.
WITHOUT = {"McRank", "AdaRank"}


def make_data(R):
    X, y, groups = make_any_data(R)
    return X, y, groups, 0.3 * np.random.default_rng(5).normal(size=len(y))


def test_which_rankers_take_them():
    boosted = {R.__name__ for R in RANKERS if issubclass(R, BoostedRanker)}
    assert {R.__name__ for R in TAKERS} == boosted - WITHOUT
    for R in TAKERS:
        assert "init_score_val" in inspect.signature(R.fit).parameters


@each_taker
@pytest.mark.parametrize("params", [{}, {"subsample": 0.6, "max_features": 0.5}])
def test_the_order_of_rows_is_without_effect(R, params):
    X, y, groups, start = make_data(R)
    model = make(R, **params).fit(X, y, groups, init_score=start)
    order = np.random.default_rng(1).permutation(len(y))
    again = make(R, **params).fit(X[order], y[order], groups[order], init_score=start[order])
    assert_same(again, model, X)
    other = make(R, **params).fit(X, y, groups, init_score=start[order])
    assert not np.array_equal(other.predict(X), model.predict(X))


@each_taker
def test_threads_are_without_effect(R):
    X, y, groups, start = make_data(R)
    model, again = (make(R, n_jobs=n).fit(X, y, groups, init_score=start) for n in (1, 3))
    assert_same(again, model, X)


@each_taker
def test_warm_start(R):
    X, y, groups, start = make_data(R)
    params = {"max_features": 0.5, "subsample": 0.7}
    model = make(R, **params).fit(X, y, groups, init_score=start)
    half = make(R, warm_start=True, **params).set_params(n_estimators=5)
    half.fit(X, y, groups, init_score=start)
    stored = from_dict(json.loads(json.dumps(to_dict(half)))) if R.__name__ in EXPORTED else None
    for each in (half, stored):
        if each is not None:
            each.set_params(n_estimators=12).fit(X, y, groups, init_score=start)
            assert_same(each, model, X)
            each.set_params(n_estimators=13)
            with pytest.raises(ValueError, match="had `init_score`, which is not stored: give it"):
                each.fit(X, y, groups)
    without = make(R, warm_start=True, n_estimators=5).fit(X, y, groups)
    with pytest.raises(ValueError, match="had no `init_score`: leave it out"):
        without.set_params(n_estimators=12).fit(X, y, groups, init_score=start)


CONTINUES = [R for R in TAKERS if not always_draws(R) and R is not GBRank]


@pytest.mark.parametrize("R", CONTINUES, ids=lambda R: R.__name__)
@pytest.mark.parametrize("policy", ["leafwise", "symmetric"])
def test_from_the_scores_of_a_model_a_fit_goes_on_with_it(R, policy):
    """As a warm start, but for rounding; GBRank averages, and draws are those of other rounds."""
    X, y, groups, _ = make_data(R)
    params = {"grow_policy": policy, "min_samples_leaf": 3}
    first = make(R, **params).set_params(n_estimators=6).fit(X, y, groups)
    both = make(R, **params).set_params(n_estimators=12).fit(X, y, groups)
    second = make(R, **params).set_params(n_estimators=6)
    second.fit(X, y, groups, init_score=first.predict(X))
    assert both.n_iter_ == 12
    assert second.n_iter_ == 6
    for mine, theirs in zip(second.model_.rounds, both.model_.rounds[6:], strict=True):
        for (c, weak), (d, other) in zip(mine, theirs, strict=True):
            assert_array_equal(weak.feature, other.feature)
            assert_array_equal(weak.threshold, other.threshold)
            assert c == pytest.approx(d, rel=1e-6)
    assert_allclose(first.predict(X) + second.predict(X), both.predict(X), rtol=1e-7, atol=1e-7)
    assert_allclose(second.train_loss_, both.train_loss_[6:], rtol=1e-7)


@each_taker
@pytest.mark.parametrize("params", [{}, {"early_stopping": True}])
def test_validation_rows_are_judged_by_the_sum(R, params):
    X, y, groups, start = make_data(R)
    train = groups < 20
    model = make(R, **params).fit(
        X[train],
        y[train],
        groups[train],
        X_val=X[~train],
        y_val=y[~train],
        groups_val=groups[~train],
        init_score=start[train],
        init_score_val=start[~train],
    )
    expected = [
        ndcg_score(y[~train], start[~train] + scores, groups[~train], k=10)
        for scores in model.staged_predict(X[~train])
    ]
    assert_allclose(model.validation_score_, expected, rtol=1e-9)
    best = list(model.staged_predict(X))[model.best_iteration_ - 1]
    assert_allclose(model.predict(X), best, rtol=1e-12)


@each_taker
def test_held_out_rows_take_theirs_along(R):
    X, y, groups, _ = make_data(R)
    model = make(R, early_stopping=True).fit(X, y, groups, init_score=1e6 * y)
    assert_array_equal(model.validation_score_, 1)
    model = make(R, early_stopping=True).fit(X, y, groups, init_score=-3 * y)
    assert model.validation_score_[0] < 0.9


@each_taker
def test_a_model_that_adds_nothing_is_constant(R):
    X, y, groups, start = make_data(R)
    with pytest.warns(ConstantModelWarning):
        make(R).fit(np.zeros_like(X), y, groups, init_score=start)


@each_taker
@pytest.mark.parametrize("size", [1e3, 1e20, 1e100, 1e139])
def test_scores_of_any_size(R, size):
    """What comes is a number; where nothing can be added to them, a warning says so."""
    X, y, groups, start = make_data(R)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = make(R).fit(X, y, groups, init_score=size * start).predict(X)
    assert np.isfinite(scores).all()
    assert {warning.category for warning in caught} <= {ConstantModelWarning}
    if (size * start + scores == size * start).all():
        assert "`init_score` is so large" in str(caught[-1].message)


@each_taker
def test_numbers_that_it_refuses(R):
    X, y, groups, start = make_data(R)
    n = len(y)
    for wrong, message in (
        (start[1:], f"one entry for each of the {n} rows"),
        (np.zeros((n, 2)), "must be one-dimensional"),
        (np.append(start[1:], np.nan), "contains NaN"),
        (np.append(start[1:], np.inf), "contains infinity"),
        (np.append(start[1:], 1e200), f"has 1e\\+200 at row {n - 1}"),
        (["a"] * n, "cannot be read as a column"),
    ):
        with pytest.raises(ValueError, match=f"init_score.*{message}"):
            make(R).fit(X, y, groups, init_score=wrong)
        validation = {"X_val": X, "y_val": y, "groups_val": groups, "init_score_val": wrong}
        with pytest.raises(ValueError, match=f"init_score_val.*{message}"):
            make(R).fit(X, y, groups, init_score=start, **validation)


@each_taker
def test_what_goes_together(R):
    X, y, groups, start = make_data(R)
    validation = {"X_val": X, "y_val": y, "groups_val": groups}
    with pytest.raises(ValueError, match=r"so must validation rows: give `init_score_val`"):
        make(R).fit(X, y, groups, init_score=start, **validation)
    with pytest.raises(ValueError, match=r"so must training rows: give `init_score`"):
        make(R).fit(X, y, groups, init_score_val=start, **validation)
    with pytest.raises(ValueError, match="`init_score_val` is of validation rows: give `X_val`"):
        make(R).fit(X, y, groups, init_score=start, init_score_val=start)


@each_taker
@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("base_margin", "init_score="),
        ("base_margin_eval_set", "init_score_val="),
        ("eval_init_score", "init_score_val="),
        ("baseline", "init_score="),
        ("init_model", "warm_start=True goes on with an earlier fit, and init_score= takes"),
    ],
)
def test_names_that_others_have(R, name, instead):
    with pytest.raises(TypeError, match=f"no argument `{name}`: .*{instead}"):
        make(R).fit(*make_data(R)[:3], **{name: 1})


@pytest.mark.parametrize("R", [R for R in RANKERS if R.__name__ in WITHOUT], ids=str)
def test_those_without_say_so(R):
    with pytest.raises(TypeError, match=r"`init_score`: nothing .* scores start from 0; warm"):
        make(R).fit(*make_data(R)[:3], init_score=1)


@each_taker
def test_routing(R):
    """Folds have their rows' scores."""
    X, y, groups, start = make_data(R)
    seen = []

    class Spy(R):
        def _fit(self, X, y, groups, *args, init_score, **kwargs):
            seen.append((y, init_score))
            return super()._fit(X, y, groups, *args, init_score=init_score, **kwargs)

    Spy.__init__ = R.__init__
    params = {"groups": groups, "init_score": start}
    cv = GroupKFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make(R).set_fit_request(init_score=True)
        spy = Spy(**model.get_params()).set_fit_request(init_score=True)
        cross_validate(spy, X, y, cv=cv, params=params, error_score="raise")
    assert len(seen) == 3
    for (train, _), (of_fold, scores) in zip(cv.split(X, y, groups), seen, strict=True):
        assert_array_equal(of_fold, y[train])
        assert_array_equal(scores, start[train])


@each_taker
def test_query_constants_are_seen_by_pointwise_losses_only(R):
    if learns_from_single_rows(R) or R is GBRank:
        pytest.skip("it looks at single scores")
    X, y, groups, start = make_data(R)
    model = make(R).fit(X, y, groups, init_score=start)
    shifted = make(R).fit(X, y, groups, init_score=start + 8.0 * (groups % 3))
    if not always_draws(R):  # by an order of rows that depends on the scores
        assert_allclose(shifted.predict(X), model.predict(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("policy", ["leafwise", "symmetric"])
@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_fits_what_the_scores_leave(policy, weighted):
    """The same as other grades, whose mean is 0, so that they have no constant to start from."""
    X, y, groups, start = make_data(RegressionRanker)
    weight = np.random.default_rng(2).integers(1, 4, len(y)) if weighted else np.ones(len(y))
    start += np.average(y - start, weights=weight)
    params = {"gain": "linear", "grow_policy": policy, "sample_weight": weight}
    weight = params.pop("sample_weight")
    model = make(RegressionRanker, **params).fit(
        X, y, groups, sample_weight=weight, init_score=start
    )
    expected = make(RegressionRanker, **params).fit(X, y - start, groups, sample_weight=weight)
    assert_allclose(model.predict(X), expected.predict(X), atol=1e-9)
    assert_allclose(model.train_loss_, expected.train_loss_)


def test_averages_are_added_to_them():
    """GBRank judges pairs at the sum, and fits its mean without them."""
    X, y, groups, start = make_data(GBRank)
    model = make(GBRank, n_estimators=1, learning_rate=1.0, max_leaf_nodes=2)
    model.fit(X, y, groups, init_score=1e3 * y)  # all pairs are in order, by their degree
    assert_array_equal(model.predict(X), 0)
    model.fit(X, y, groups, init_score=start)
    assert np.ptp(model.predict(X)) > 0


@pytest.mark.parametrize("R", [RegressionRanker, LambdaMART], ids=lambda R: R.__name__)
def test_a_ranker_corrects_another(R):
    """What it is for: the sum is better than what it starts from, on rows that it has not seen."""
    X, y, groups, _ = make_data(R)
    start = np.nan_to_num(X[:, 1])
    train = groups < 20
    model = make(R, n_estimators=30).fit(X[train], y[train], groups[train], init_score=start[train])
    before, after = (
        ndcg_score(y[~train], scores, groups[~train], k=10)
        for scores in (start[~train], start[~train] + model.predict(X[~train]))
    )
    assert after > before


def test_mcrank_has_other_outputs():
    assert "init_score" not in inspect.signature(McRank.fit).parameters
    assert has(McRank, "warm_start")
