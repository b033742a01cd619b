# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Degrees of given preferences, for every ranker that takes them, and refused by the others."""

import inspect
from itertools import product

import numpy as np
import pytest
import sklearn
from every_ranker import RANKERS, has, make, takes_margins, takes_preferences
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import RankNet, RankSVM, losses
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.labels import preference_pairs
from sklearn_ltr.losses import SquaredHinge
from sklearn_ltr.losses.pairs_alike import PairsAlike
from sklearn_ltr.pairs import check_preferences
from sklearn_ltr.ranking_data import RankingData

CLOSE = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 10_000, "maxfev": 10_000}

# Losses by their settings: of pairs all at one distance, and at the difference of their grades.
OF_ONE_DEGREE = {"SquaredHinge": {"margin": 1.0}, "ExponentialPairs": {"distance": "binary"}}
OF_GRADES = {losses.ExponentialPairs: losses.ExponentialPairs(distance="linear", alpha=1.0)}

OF_PAIRS = [R for R in RANKERS if takes_preferences(R)]


WITH_MARGINS = [R for R in OF_PAIRS if takes_margins(R)]
each = pytest.mark.parametrize("R", WITH_MARGINS, ids=lambda R: R.__name__)
each_of_pairs = pytest.mark.parametrize("R", OF_PAIRS, ids=lambda R: R.__name__)


def takes_any_loss(R):
    return has(R, "loss") and inspect.signature(R).parameters["loss"].default is None


def of_degrees(R, **params):
    """A quick ranker whose pairs of grades are as far apart as the grades, and no row counts."""
    degrees = {"distance": "linear", "alpha": 1.0, "margin": "grade", "pair_weight": 1.0}
    if has(R, "distance"):
        degrees |= {"step": "newton"}  # for distances above 1
    else:
        degrees |= {"alpha": 0.01}
    if takes_any_loss(R):
        degrees |= {"loss": SquaredHinge()}
    return make(R, **(degrees | params))


@pytest.fixture
def data():
    X, y, groups = make_ranking(n_queries=20, n_docs=(1, 12), n_features=12, random_state=0)
    pairs, margin = preference_pairs(y, groups)
    return X, y, groups, pairs, margin


def test_there_are_rankers():
    assert {"QBRank", "GBRank", "MPBoost"} <= {R.__name__ for R in WITH_MARGINS}
    assert {"RankSVM", "LossRanker", "QuadraticBoosting"} <= {R.__name__ for R in WITH_MARGINS}
    assert {"RankBoost", "FRank", "RankNet"} <= {R.__name__ for R in OF_PAIRS} - {
        R.__name__ for R in WITH_MARGINS
    }


@each
def test_pairs_of_grades_with_the_difference_of_the_grades(R, data):
    X, y, groups, pairs, margin = data
    assert set(margin) == {1, 2, 3, 4}
    if not (has(R, "margin") or has(R, "distance") or takes_any_loss(R)):
        pytest.skip("grades have no degree for it")
    rtol = 1e-9 if has(R, "n_estimators") else 1e-5
    expected = of_degrees(R).fit(X, y, groups)
    model = of_degrees(R).fit(X, None, groups, preferences=pairs, preference_margin=margin)
    assert_allclose(model.predict(X), expected.predict(X), rtol=rtol, atol=rtol * 1e-3)
    other = of_degrees(R).fit(X, None, groups, preferences=pairs)
    assert not np.allclose(other.predict(X), expected.predict(X), rtol=1e-3)


@each
def test_no_margin_is_1(R, data):
    X, _, groups, pairs, _ = data
    expected = of_degrees(R).fit(X, None, groups, preferences=pairs)
    ones = np.ones(len(pairs))
    model = of_degrees(R).fit(X, None, groups, preferences=pairs, preference_margin=ones)
    assert_array_equal(model.predict(X), expected.predict(X))


@each
@pytest.mark.parametrize("with_margin", [True, False])
def test_order_of_rows_and_of_pairs(R, data, with_margin):
    """Of weights and margins whose sums round, too."""
    X, _, groups, pairs, margin = data
    rng = np.random.default_rng(0)
    values = {"preference_weight": rng.choice([0.1, 0.2, 0.3, 0.7], len(pairs))}
    if with_margin:
        values["preference_margin"] = margin * rng.choice([0.1, 0.2, 0.3, 0.7], len(pairs))
    expected = of_degrees(R).fit(X, None, groups, preferences=pairs, **values)
    for n_jobs in (1, 2):
        rows, order = rng.permutation(len(X)), rng.permutation(len(pairs))
        values = {name: value[order] for name, value in values.items()}
        pairs, X, groups = np.argsort(rows)[pairs[order]], X[rows], groups[rows]
        model = of_degrees(R, n_jobs=n_jobs).fit(X, None, groups, preferences=pairs, **values)
        assert_array_equal(model.predict(data[0]), expected.predict(data[0]))


@each
def test_repeated_pairs_of_different_degree(R, data):
    X, _, groups, pairs, margin = data
    twice, margins = np.concatenate([pairs, pairs]), np.concatenate([margin, 3 * margin])
    expected = of_degrees(R).fit(X, None, groups, preferences=twice, preference_margin=margins)
    model = of_degrees(R).fit(
        X,
        None,
        groups,
        preferences=np.concatenate([pairs, pairs, pairs]),
        preference_weight=np.repeat([1.0, 0.25, 0.75], len(pairs)),
        preference_margin=np.concatenate([margin, 3 * margin, 3 * margin]),
    )
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-7, atol=1e-10)


@each
def test_pairs_of_no_weight_have_no_degree(R, data):
    X, _, groups, pairs, margin = data
    kept = np.arange(len(pairs)) % 3 > 0
    expected = of_degrees(R).fit(
        X, None, groups, preferences=pairs[kept], preference_margin=margin[kept]
    )
    model = of_degrees(R).fit(
        X,
        None,
        groups,
        preferences=pairs,
        preference_weight=kept.astype(float),
        preference_margin=margin,
    )
    assert_array_equal(model.predict(X), expected.predict(X))


@each
def test_warm_start(R, data):
    if not has(R, "warm_start"):
        pytest.skip("has none")
    X, _, groups, pairs, margin = data
    given = {"groups": groups, "preferences": pairs, "preference_margin": margin}
    expected = of_degrees(R, n_estimators=5).fit(X, **given)
    model = of_degrees(R, n_estimators=4, warm_start=True).fit(X, **given)
    model.set_params(n_estimators=5).fit(X, **given)
    assert_array_equal(model.predict(X), expected.predict(X))


@each
def test_metadata_routing(R, data):
    X, _, groups, pairs, margin = data
    given = {"groups": groups, "preferences": pairs, "preference_margin": margin}
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = of_degrees(R).set_fit_request(preferences=True)
        with pytest.raises(UnsetMetadataPassedError, match="preference_margin"):
            make_pipeline(StandardScaler(), ranker).fit(X, **given)
        ranker.set_fit_request(preference_margin=True)
        model = make_pipeline(StandardScaler(), ranker).fit(X, **given)
    expected = of_degrees(R).fit(StandardScaler().fit_transform(X), **given)
    assert_array_equal(model.predict(X), expected.predict(StandardScaler().fit_transform(X)))


@each
@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf, 1e-200, 1e200])
def test_degrees_that_are_none(R, wrong):
    X = np.arange(8.0).reshape(4, 2)
    given = {"groups": [0, 0, 0, 0], "preferences": [[0, 1], [2, 3]]}
    with pytest.raises(ValueError, match=r"`preference_margin` must be positive.* at pair 1"):
        of_degrees(R).fit(X, **given, preference_margin=[1.0, wrong])


@each
def test_of_another_length(R):
    X = np.arange(8.0).reshape(4, 2)
    given = {"groups": [0, 0, 0, 0], "preferences": [[0, 1], [2, 3]]}
    with pytest.raises(ValueError, match=r"`preference_margin`.*2 pairs; got shape \(3,\)"):
        of_degrees(R).fit(X, **given, preference_margin=np.ones(3))


@each_of_pairs
def test_nothing_is_ignored(R, data):
    """What is said of pairs is refused where no pairs are given."""
    X, y, groups, _, _ = data
    for name in ("preference_weight", "preference_margin"):
        if name in inspect.signature(R.fit).parameters:
            with pytest.raises(ValueError, match=f"`{name}`.*give `preferences`"):
                make(R).fit(X, y, groups, **{name: np.ones(3)})


@each
def test_a_margin_for_all_pairs_is_none_of_each(R, data):
    if not has(R, "margin"):
        pytest.skip("has no margin")
    X, _, groups, pairs, margin = data
    with pytest.raises(ValueError, match=r"margin=0.5 it would be of no effect. Set margin="):
        make(R, margin=0.5).fit(X, None, groups, preferences=pairs, preference_margin=margin)


@pytest.mark.parametrize(
    "R", [R for R in OF_PAIRS if not takes_margins(R)], ids=lambda R: R.__name__
)
def test_a_ranker_without_degrees_refuses_them(R, data):
    X, _, groups, pairs, margin = data
    with pytest.raises(
        TypeError, match=rf"{R.__name__}.fit\(\) has no argument `preference_margin`: .*no degree"
    ):
        make(R).fit(X, None, groups, preferences=pairs, preference_margin=margin)


@pytest.mark.parametrize("R", [R for R in OF_PAIRS if takes_any_loss(R)], ids=lambda R: R.__name__)
@pytest.mark.parametrize("loss", [getattr(losses, name)() for name in losses.__all__], ids=repr)
def test_losses_take_pairs_or_refuse_them(R, loss, data):
    X, _, groups, pairs, margin = data
    model, given = make(R, loss=loss), {"groups": groups, "preferences": pairs}
    if "preferences" not in loss.abilities:
        with pytest.raises(ValueError, match="is a loss of grades, which `preferences` have not"):
            model.fit(X, **given)
        return
    y = data[1]
    if "margins" in loss.abilities:
        one_each = make(R, loss=type(loss)(**OF_ONE_DEGREE[type(loss).__name__])).fit(X, y, groups)
        assert_allclose(model.fit(X, **given).predict(X), one_each.predict(X), rtol=1e-4, atol=1e-4)
        given["preference_margin"] = margin
        loss = OF_GRADES.get(type(loss), loss)
    else:
        with pytest.raises(ValueError, match="no use for `preference_margin`"):
            model.fit(X, **given, preference_margin=margin)
    expected = make(R, loss=loss).fit(X, y, groups)
    assert_allclose(model.fit(X, **given).predict(X), expected.predict(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "Loss", [L for name in losses.__all__ if issubclass(L := getattr(losses, name), PairsAlike)]
)
def test_losses_of_given_pairs_are_those_of_the_grades(Loss):
    rng = np.random.default_rng(0)
    y, offsets = rng.integers(0, 4, 30).astype(float), np.array([0, 1, 9, 30])
    groups, h = np.repeat([0, 1, 2], np.diff(offsets)), 3 * rng.normal(size=30)
    pairs, margin = preference_pairs(y, groups)
    others = [{}]
    if "target_probability" in inspect.signature(Loss).parameters:
        others.append({"target_probability": 0.8})
    for alike, other in product(("pair", "query"), others):
        loss = Loss(pair_weighting=alike, **other)
        for d, weight in ((0.0, 2.0), (1.0, 2.0), (1000.0, 1.0)):
            given = check_preferences(pairs, np.full(len(pairs), weight), margin, 30)
            if "margins" not in loss.abilities:
                given = given._replace(margin=None)
            data = RankingData.of(np.full(30, np.nan), offsets, preferences=given)
            of_grades = clone(OF_GRADES.get(Loss, Loss()))
            of_grades.set_params(pair_weighting=alike, **other)
            found, expected = loss.bind(data), of_grades.bind(RankingData.of(y, offsets))
            for bound in (found, expected):
                bound.update(d * h)
            factor = weight if alike == "pair" else 1
            value = expected.loss_at(d * h), expected.value
            assert_allclose(found.loss, factor * value[0], rtol=1e-12)
            assert_allclose(found.loss_at(d * h), found.loss, rtol=1e-14)
            for name in ("gradient", "curvature"):
                of_grades = factor * getattr(expected, name)
                assert_allclose(getattr(found, name), of_grades, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("with_margin", [True, False])
def test_pairs_of_selected_queries(data, with_margin):
    """Cut from the pairs of all as they would be listed anew."""
    _, y, groups, pairs, margin = data
    weight = np.random.default_rng(0).random(len(pairs))
    given = check_preferences(pairs, weight, margin if with_margin else None, len(y))
    offsets = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
    mask = np.arange(len(offsets) - 1) % 3 > 0
    whole = RankingData.of(np.full(len(y), np.nan), offsets, preferences=given)
    anew = whole.select(mask)
    whole.pairs  # noqa: B018  listed before the cut
    cut = whole.select(mask)
    for name in ("winner", "loser", "pair_offsets", "offsets", "weight", "margin"):
        assert_array_equal(getattr(cut.pairs, name), getattr(anew.pairs, name))
    assert_array_equal(cut.with_pairs, anew.with_pairs)


def test_batches_of_given_pairs(data):
    X, y, groups, pairs, _ = data
    net = RankNet((4,), random_state=0).fit(X, groups=groups, preferences=pairs)
    of_grades = RankNet((4,), random_state=0).fit(X, y, groups)
    # Other batches, but the same minimum.
    assert net.train_loss_[-1] == pytest.approx(of_grades.train_loss_[-1], rel=0.1)
    assert net.train_loss_[-1] < 0.7 * net.train_loss_[0]


def test_ranksvm_with_margins_against_its_definition():
    """The primal, pair by pair, by a general solver; and the hinge by its subgradients."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    pairs = np.array([(i, j) for i, j in rng.integers(0, 20, (40, 2)) if i != j])
    margin, weight = rng.choice([0.2, 1.0, 3.0], len(pairs)), rng.choice([0.5, 2.0], len(pairs))
    D = X[pairs[:, 0]] - X[pairs[:, 1]]
    given = {
        "groups": np.zeros(20),
        "preferences": pairs,
        "preference_margin": margin,
        "preference_weight": weight,
    }

    def F(w, power):
        return w @ w / 2 + 0.3 * (weight * np.maximum(margin - D @ w, 0) ** power).sum()

    for loss, power in (("squared_hinge", 2), ("hinge", 1)):
        model = RankSVM(0.3, loss=loss).fit(X, **given)
        least = min(
            minimize(F, w, (power,), method="Nelder-Mead", options=CLOSE).fun
            for w in (model.coef_, np.zeros(3))
        )
        assert F(model.coef_, power) <= least * (1 + 2e-6)
        mean = RankSVM(0.3 * weight.sum(), loss=loss, pair_weighting="query").fit(X, **given)
        assert_allclose(mean.coef_, model.coef_, rtol=1e-4)


def test_labels_of_some_queries_and_pairs_of_the_grades_of_others():
    """The labels of one grade, L1, and the pairs of the other queries, P2."""
    QBRank = next(R for R in RANKERS if R.__name__ == "QBRank")
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    single = groups < 10
    y = np.where(single, y[0], y)
    labels = np.where(single, y, np.nan)
    pairs, margin = preference_pairs(np.where(single, np.nan, y), groups)
    both = QBRank(n_estimators=20).fit(
        X, labels, groups, preferences=pairs, preference_margin=margin
    )
    assert both.n_queries_skipped_ == 0
    pairs_only = QBRank(n_estimators=20, pair_weight=1.0).fit(
        X, labels, groups, preferences=pairs, preference_margin=margin
    )
    expected = QBRank(n_estimators=20, pair_weight=1.0).fit(X, y, groups)
    assert_allclose(pairs_only.predict(X), expected.predict(X), rtol=1e-9, atol=1e-12)
    assert not np.allclose(both.predict(X), expected.predict(X), rtol=0.1)
