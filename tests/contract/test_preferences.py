# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Preferences given as pairs of rows in the place of grades, for every ranker that takes them."""

import inspect
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import examples, ranking_problems

import sklearn_ltr
from sklearn_ltr.datasets import make_ranking

RANKERS = [
    R
    for R in (getattr(sklearn_ltr, name) for name in sklearn_ltr.__all__)
    if "preferences" in inspect.signature(R.fit).parameters
]
BOOSTED = [R for R in RANKERS if "n_estimators" in inspect.signature(R).parameters]
each_ranker = pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
each_boosted = pytest.mark.parametrize("R", BOOSTED, ids=lambda R: R.__name__)


def make(R, n_estimators=15, **params):
    own = inspect.signature(R).parameters
    if "distance" in own:
        params = {"distance": "binary", **params}
    if "pair_weight" in own:  # labels left out
        params = {"pair_weight": 1.0, "margin": 1.0, **params}
    params = {"n_estimators": n_estimators, "C": 0.01, "alpha": 0.01, **params}
    return R(**{name: value for name, value in params.items() if name in own})


def pairs_of(y, groups):
    groups = np.asarray(groups)
    return np.argwhere((groups[:, None] == groups) & (y[:, None] > y))


@pytest.fixture
def data():
    X, y, groups = make_ranking(n_queries=20, n_docs=(1, 12), n_features=12, random_state=0)
    return X, y, groups, pairs_of(y, groups)


def test_there_are_rankers():
    assert sklearn_ltr.MPBoost in BOOSTED
    assert {sklearn_ltr.RankSVM, sklearn_ltr.RankNet} <= set(RANKERS)


@pytest.mark.parametrize(
    "R",
    [R for name in sklearn_ltr.__all__ if (R := getattr(sklearn_ltr, name)) not in RANKERS],
    ids=lambda R: R.__name__,
)
def test_rankers_of_grades_say_who_takes_them(R):
    X, y, groups = make_ranking(n_queries=3, random_state=0)
    ranker = R([("a", sklearn_ltr.RankNet())]) if R is sklearn_ltr.BlendedRanker else R()
    for name in ("preferences", "preference_weight", "preference_margin"):
        with pytest.raises(TypeError, match=rf"{R.__name__}.fit\(\) has no .*grades") as caught:
            ranker.fit(X, y, groups=groups, **{name: [[0, 1]]})
        named = re.findall(r"[A-Z]\w*[a-z]\w*", str(caught.value).split("have not. ")[1])
        assert sorted(named) == sorted(R.__name__ for R in RANKERS)


@each_boosted
@examples(40)
@given(problem=ranking_problems(), seed=st.integers(0, 100))
def test_pairs_of_grades_give_the_model_of_the_grades(R, problem, seed):
    X, y, groups, weight = problem
    pairs = np.random.default_rng(seed).permutation(pairs_of(y, groups))
    expected = make(R, max_bins=None).fit(X, y, groups, query_weight=weight)
    model = make(R, max_bins=None)
    model.fit(X, groups=groups, query_weight=weight, preferences=pairs)
    # Beyond a few rounds little is left to gain, and rounding decides between equal stumps.
    n = min(4, model.n_iter_, expected.n_iter_)
    assert_allclose(model.train_loss_[:n], expected.train_loss_[:n], rtol=1e-7)
    assert model.n_queries_ == expected.n_queries_
    assert model.n_queries_skipped_ == expected.n_queries_skipped_


@each_ranker
def test_same_model_on_ordinary_data(R, data):
    X, y, groups, pairs = data
    expected = make(R).fit(X, y, groups)
    model = make(R).fit(X, groups=groups, preferences=pairs)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-5, atol=1e-5)
    if R not in BOOSTED:
        return
    for (_, mine), (_, same) in zip(model.model_.terms, expected.model_.terms, strict=True):
        assert_array_equal(mine.feature, same.feature)
        assert_array_equal(mine.threshold, same.threshold)
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9, atol=1e-12)


@each_ranker
def test_rows_that_preferences_connect_are_a_query(R, data):
    X, _y, groups, pairs = data
    expected = make(R).fit(X, groups=groups, preferences=pairs)
    model = make(R).fit(X, preferences=pairs)  # and no warning
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9, atol=1e-12)
    assert model.n_queries_ - model.n_queries_skipped_ == len(np.unique(groups[pairs[:, 0]]))


@each_ranker
def test_order_of_rows_and_of_pairs(R, data):
    X, _y, _groups, pairs = data
    weight = 1.0 + np.arange(len(pairs)) % 3
    rng = np.random.default_rng(0)
    rows, order = rng.permutation(len(X)), rng.permutation(len(pairs))
    place = np.argsort(rows)
    for n_jobs in (1, 2):
        fits = {"preference_weight": weight, "preferences": pairs}
        expected = make(R).fit(X, **fits).predict(X)
        fits = {"preference_weight": weight[order], "preferences": place[pairs[order]]}
        model = make(R, n_jobs=n_jobs).fit(X[rows], **fits)
        assert_array_equal(model.predict(X), expected)


@each_boosted
def test_repeated_and_contradicting_pairs(R, data):
    X, _y, _groups, pairs = data
    repeated = np.concatenate([pairs, pairs, pairs[:, ::-1]])
    weight = np.repeat([1.5, 0.5, 1.0], len(pairs))
    a = make(R, 8).fit(X, preferences=repeated)
    b = make(R, 8).fit(X, preferences=repeated, preference_weight=weight)
    assert_allclose(a.predict(X), b.predict(X), rtol=1e-9, atol=1e-12)
    assert a.n_iter_ == 8
    assert a.train_loss_[-1] < a.train_loss_[0]
    # As many for as against: nothing to learn.
    nothing = make(R).fit(X, preferences=np.concatenate([pairs, pairs[:, ::-1]]))
    assert nothing.n_iter_ == 0
    assert_array_equal(nothing.predict(X), np.zeros(len(X)))


@each_ranker
def test_zero_weights_are_as_absent(R, data):
    X, _y, groups, pairs = data
    kept = pairs[:, 0] % 3 > 0
    expected = make(R).fit(X, groups=groups, preferences=pairs[kept])
    model = make(R).fit(X, groups=groups, preferences=pairs, preference_weight=kept.astype(float))
    assert_array_equal(model.predict(X), expected.predict(X))
    # Queries of weight zero take their preferences with them.
    weight = (groups % 2).astype(float)
    rows = np.flatnonzero(weight)
    inside = weight[pairs[:, 0]] > 0
    renumbered = np.searchsorted(rows, pairs[inside])
    expected = make(R).fit(X[rows], groups=groups[rows], preferences=renumbered)
    model = make(R).fit(X, groups=groups, query_weight=weight, preferences=pairs)
    assert_array_equal(model.predict(X), expected.predict(X))


@each_boosted
def test_warm_start_and_validation(R, data):
    X, y, groups, pairs = data
    expected = make(R, 5).fit(X, preferences=pairs)
    model = make(R, 4, warm_start=True).fit(X, preferences=pairs)
    model.set_params(n_estimators=5).fit(X, preferences=pairs)
    assert_array_equal(model.predict(X), expected.predict(X))
    model = make(R, 200, early_stopping=True, n_iter_no_change=3)
    with pytest.raises(ValueError, match="`X_val`"):
        model.fit(X, preferences=pairs)
    model.fit(X, preferences=pairs, X_val=X, y_val=y, groups_val=groups)
    assert len(model.validation_score_) == model.n_iter_ < 200


@each_ranker
@pytest.mark.parametrize(
    ("fits", "message"),
    [
        ({"preferences": [[0, 999]]}, r"pair \[0, 999\] at 0.*Cross-validation"),
        ({"preferences": [[1, 0], [0, -1]]}, r"pair \[0, -1\] at 1"),
        ({"preferences": [[2, 2]]}, "row 2 to itself"),
        ({"preferences": [[0.0, 1.0]]}, "integer array"),
        ({"preferences": [0, 1]}, "shape"),
        ({"preferences": np.empty((0, 2), dtype=int)}, "no pair of positive weight"),
        ({"preferences": [[0, 1]], "preference_weight": [0.0]}, "no pair of positive weight"),
        ({"preferences": [[0, 1]], "preference_weight": [-1.0]}, "`preference_weight`"),
        ({"preferences": [[0, 1]], "preference_weight": [1.0, 2.0]}, "`preference_weight`"),
        ({"preferences": [[0, 1]], "preference_weight": [np.nan]}, "`preference_weight`"),
        ({"preferences": [[0, 1]], "y": np.arange(4)}, "`y` or `preferences`"),
        ({"preferences": [[0, 2]], "groups": [0, 0, 1, 1]}, r"\[0, 2\].*`groups`"),
    ],
)
def test_wrong_preferences_are_refused(R, fits, message):
    if "y" in fits and "pair_weight" in inspect.signature(R).parameters:
        pytest.skip("takes labels beside preferences")
    with pytest.raises(ValueError, match=message):
        make(R).fit(np.arange(8.0).reshape(4, 2), **fits)


def test_distance_of_given_preferences_is_one(data):
    X, _, _groups, pairs = data
    expected = sklearn_ltr.MPBoost(9, distance="binary").fit(X, preferences=pairs).predict(X)
    for distance in ("linear", "logistic"):
        model = sklearn_ltr.MPBoost(9, distance=distance).fit(X, preferences=pairs)
        assert_array_equal(model.predict(X), expected)


def test_clicks_teach_an_order():
    """Noisy preferences, each between two random rows of a query."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    value = X[:, 0] - 0.5 * X[:, 1]
    a = rng.integers(0, 3000, 6000)
    b = np.minimum(a // 10 * 10 + rng.integers(0, 10, 6000), 2999)
    a, b = a[a != b], b[a != b]
    wins = rng.random(len(a)) < 1 / (1 + np.exp(-3 * (value[a] - value[b])))
    pairs = np.where(wins[:, None], np.c_[a, b], np.c_[b, a])
    for R in RANKERS:
        score = make(R, 100).fit(X, groups=np.arange(3000) // 10, preferences=pairs).predict(X)
        assert np.corrcoef(score, value)[0, 1] > 0.85
