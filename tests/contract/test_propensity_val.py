# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Validation by clicks with propensities: every ranker that takes validation rows."""

import inspect

import numpy as np
import pytest
import sklearn
from every_ranker import RANKERS, assert_same, has, make, make_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ltr import BlendedRanker, RankSVM, SingleFeatureRanker
from sklearn_ltr.exceptions import EstimatedIdealWarning
from sklearn_ltr.metrics import average_relevance_position, dcg_score
from sklearn_ltr.scorers import make_ranking_scorer

TAKERS = [R for R in RANKERS if "X_val" in inspect.signature(R.fit).parameters]
STOPPERS = [R for R in TAKERS if has(R, "early_stopping")]
each_stopper = pytest.mark.parametrize("R", STOPPERS, ids=lambda R: R.__name__)
BY_CLICKS = make_ranking_scorer("dcg@3", propensity=True)


def make_clicks(R):
    """Rows to train on; and others with clicks and propensities, as the arguments of `fit`."""
    X, y, groups = make_data(R)
    train = groups < 18
    rng = np.random.default_rng(3)
    n = int((~train).sum())
    propensity = rng.choice([1, 0.5, 0.2], n)
    validation = {
        "X_val": X[~train],
        "y_val": ((y[~train] > y.min()) & (rng.random(n) < propensity)).astype(float),
        "groups_val": groups[~train],
        "propensity_val": propensity,
    }
    return (X[train], y[train], groups[train]), validation


def grades(validation):
    return {name: value for name, value in validation.items() if name != "propensity_val"}


def stages(model, validation):
    """Scores of the validation rows after each round, if the ranker has them."""
    return list(model.staged_predict(validation["X_val"])) if has_stages(model) else []


def has_stages(model):
    return hasattr(model, "staged_predict")


def test_whoever_takes_validation_rows_takes_their_propensities():
    assert BlendedRanker in TAKERS
    assert len(STOPPERS) > 15
    for R in RANKERS:
        names = inspect.signature(R.fit).parameters
        assert ("propensity_val" in names) == (R in TAKERS), R
        if R not in TAKERS:
            with pytest.raises(TypeError, match="nothing to judge by validation rows"):
                make(R).fit(*make_data(R), propensity_val=[1])


@each_stopper
@pytest.mark.parametrize("early_stopping", [False, True])
def test_rounds_are_judged_by_weighted_clicks(R, early_stopping):
    train, validation = make_clicks(R)
    params = {"early_stopping": early_stopping, "n_iter_no_change": 4}
    model = make(R, scoring=BY_CLICKS, **params).fit(*train, **validation)
    (history,) = model.validation_history_
    assert list(history) == ["dcg@3"]
    clicks, groups, p = (validation[n] for n in ("y_val", "groups_val", "propensity_val"))
    expected = [
        dcg_score(clicks, scores, groups, k=3, propensity=p) for scores in stages(model, validation)
    ]
    if has_stages(model):
        assert_allclose(history["dcg@3"], expected, rtol=1e-12)
    if early_stopping:
        assert model.best_iteration_ == np.argmax(model.validation_score_) + 1
    naive = make(R, scoring="dcg@3", **params).fit(*train, **grades(validation))
    n = min(len(naive.validation_score_), len(model.validation_score_))
    assert (naive.validation_score_[:n] < model.validation_score_[:n]).all()
    # Where all rows are looked at, clicks are grades.
    validation["propensity_val"] = np.ones(len(p))
    same = make(R, scoring=BY_CLICKS, **params).fit(*train, **validation)
    n = min(len(naive.validation_score_), len(same.validation_score_))  # ties may go either way
    assert_allclose(same.validation_score_[:n], naive.validation_score_[:n], rtol=1e-13)


@each_stopper
def test_the_order_of_rows_is_without_effect(R):
    train, validation = make_clicks(R)
    model = make(R, scoring=BY_CLICKS, early_stopping=True).fit(*train, **validation)
    order = np.random.default_rng(0).permutation(len(validation["y_val"]))
    shuffled = {name: value[order] for name, value in validation.items()}
    again = make(R, scoring=BY_CLICKS, early_stopping=True).fit(*train, **shuffled)
    assert_same(again, model, train[0])


@each_stopper
def test_several_sets_and_metrics(R):
    """The first set has clicks, the second one grades, which are looked at in full."""
    train, validation = make_clicks(R)
    X, y, groups = make_data(R, seed=1)
    second = X, y, groups, np.ones(len(y))
    sets = {
        name: (first, other)
        for (name, first), other in zip(validation.items(), second, strict=True)
    }
    arp = make_ranking_scorer("neg_arp", propensity=True)
    scoring = [BY_CLICKS, arp, "dcg@3"]
    model = make(R, scoring=scoring).fit(*train, **sets)
    alone = make(R, scoring=BY_CLICKS).fit(*train, **validation)
    assert_array_equal(model.validation_score_, alone.validation_score_)
    # Of one name are a metric of clicks and one of grades.
    weighing, name, plain = model.validation_history_[0]
    assert weighing.startswith("DCG(k=3,")
    assert weighing.endswith(", propensity=True")
    assert plain + ", propensity=True" == weighing
    assert name == "neg_arp"
    of_clicks, of_grades = model.validation_history_
    assert_array_equal(of_grades[weighing], of_grades[plain])
    assert (of_clicks[weighing] > of_clicks[plain]).all()
    clicks, ids, p = (validation[n] for n in ("y_val", "groups_val", "propensity_val"))
    expected = [
        -average_relevance_position(clicks, scores, ids, propensity=p)
        for scores in stages(model, validation)
    ]
    if has_stages(model):
        assert_allclose(of_clicks["neg_arp"], expected, rtol=1e-12)
    sets["propensity_val"] = validation["propensity_val"]
    with pytest.raises(ValueError, match="each of 2 validation sets, and `propensity_val` must be"):
        make(R, scoring=scoring).fit(*train, **sets)


@each_stopper
def test_clicks_are_not_taken_for_grades(R):
    train, validation = make_clicks(R)
    for scoring in ("ndcg@10", ["map", BY_CLICKS], make_ranking_scorer("dcg")):
        with pytest.raises(ValueError, match=r"which decides, takes them for grades: give scoring"):
            make(R, scoring=scoring).fit(*train, **validation)
    with pytest.raises(ValueError, match=r"dcg@3 weighs clicks.*give `propensity_val`, 1 at each"):
        make(R, scoring=BY_CLICKS).fit(*train, **grades(validation))
    with pytest.raises(ValueError, match=r"dcg@3 weighs clicks.*give validation rows, `X_val`"):
        make(R, scoring=BY_CLICKS, early_stopping=True).fit(*train)
    with pytest.raises(ValueError, match="`propensity_val` is of validation rows: give `X_val`"):
        make(R, scoring=BY_CLICKS).fit(*train, propensity_val=validation["propensity_val"])


@pytest.mark.parametrize("R", TAKERS, ids=lambda R: R.__name__)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[1:], "one entry for each of the"),
        (lambda p: 0 * p, "has 0 at row 0; propensities are above 0"),
        (lambda p: 2 * p, "has 2 at row .* at most 1"),
        (lambda p: np.append(p[1:], np.nan), "contains NaN"),
        (lambda p: p.astype(str).tolist()[:-1] + ["low"], "cannot be read as a column"),
    ],
)
def test_numbers_that_it_refuses(R, change, message):
    train, validation = make_clicks(R)
    validation["propensity_val"] = change(validation["propensity_val"])
    with pytest.raises(ValueError, match=f"propensity_val`?.*{message}"):
        make(R, scoring=BY_CLICKS).fit(*train, **validation)


@each_stopper
def test_a_function_is_given_them(R):
    train, validation = make_clicks(R)

    def clicks_at_the_top(y_true, y_score, groups, *, propensity):
        top = [
            np.flatnonzero(groups == q)[y_score[groups == q].argmax()] for q in np.unique(groups)
        ]
        return (y_true[top] / propensity[top]).sum()

    scoring = make_ranking_scorer(clicks_at_the_top, propensity=True)
    model = make(R, scoring=scoring).fit(*train, **validation)
    assert list(model.validation_history_[0]) == ["clicks_at_the_top"]
    clicks, groups, p = (validation[n] for n in ("y_val", "groups_val", "propensity_val"))
    expected = [
        clicks_at_the_top(clicks, scores, groups, propensity=p)
        for scores in stages(model, validation)
    ]
    if has_stages(model):
        # Rows of equal scores come in the order of their queries.
        assert_allclose(model.validation_score_, expected, rtol=0.3)
    with pytest.raises(TypeError, match=r"a function of \(y_true, y_score, groups, propensity\)"):
        make(R, scoring=make_ranking_scorer(lambda y, s, g: 1.0, propensity=True)).fit(*train)


@each_stopper
def test_ndcg_says_that_its_ideal_is_an_estimate(R):
    train, validation = make_clicks(R)
    scoring = make_ranking_scorer("ndcg@3", propensity=True)
    with pytest.warns(EstimatedIdealWarning, match="ndcg@3") as record:
        make(R, scoring=scoring).fit(*train, **validation)
    assert {warning.filename for warning in record} == {__file__}


@pytest.mark.parametrize("name", ["map", "p@3", "mrr", "kendall"])
def test_other_metrics_refuse_when_the_scorer_is_made(name):
    with pytest.raises(ValueError, match=f"{name} takes no `propensity`"):
        make_ranking_scorer(name, propensity=True)


def test_the_rule_for_single_features_is_told():
    with pytest.raises(ValueError, match="`scoring` weighs clicks by propensities, which `fit`"):
        SingleFeatureRanker(BY_CLICKS).fit(*make_data(SingleFeatureRanker))


@each_stopper
def test_routing(R):
    """They go through a pipeline as other validation arguments do."""
    train, validation = make_clicks(R)
    X, y, groups = train
    expected = make(R, scoring=BY_CLICKS).fit(*train, **validation)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = make(R, scoring=BY_CLICKS).set_fit_request(**dict.fromkeys(validation, True))
        pipeline = Pipeline(
            [("same", FunctionTransformer()), ("rank", ranker)], transform_input=["X_val"]
        )
        pipeline.fit(X, y, groups=groups, **validation)
    assert_array_equal(pipeline[-1].validation_score_, expected.validation_score_)


def test_a_blend_chooses_its_weight_by_them():
    train, validation = make_clicks(BlendedRanker)
    params = {"weights": {"stumps": [0, 0.5, 2]}}
    model = make(BlendedRanker, scoring=BY_CLICKS, **params)
    members = [
        (name, m.set_params(scoring=BY_CLICKS) if has(type(m), "early_stopping") else m)
        for name, m in model.estimators
    ]
    model.set_params(estimators=members).fit(*train, **validation)
    X, clicks, groups, p = validation.values()
    for weight, score in zip([0, 0.5, 2], model.candidate_scores_, strict=True):
        weights = np.where([name == "stumps" for name, _ in members], weight, 1.0)
        alone = BlendedRanker(members, weights=weights).set_params(standardize=model.standardize)
        scores = alone.fit(*train, **validation).predict(X, groups)
        assert score == pytest.approx(dcg_score(clicks, scores, groups, k=3, propensity=p))
    with pytest.raises(ValueError, match="have clicks, and `scoring` ndcg@10 takes them for"):
        make(BlendedRanker, **params).fit(*train, **validation)
    for given in ({}, grades(validation)):
        with pytest.raises(ValueError, match="that a weight is chosen by have no propensities"):
            make(BlendedRanker, scoring=BY_CLICKS, **params).fit(*train, **given)
    with pytest.raises(ValueError, match="`propensity_val` is of validation rows"):
        make(BlendedRanker).fit(*train, propensity_val=p)


def test_no_member_of_a_blend_takes_clicks_for_grades():
    """One that takes validation rows, and nothing of propensities."""

    class Old(RankSVM):
        def fit(self, X, y, groups=None, X_val=None, y_val=None, groups_val=None):
            return super().fit(X, y, groups)

    train, validation = make_clicks(BlendedRanker)
    train = np.nan_to_num(train[0]), *train[1:]
    validation["X_val"] = np.nan_to_num(validation["X_val"])
    model = BlendedRanker([("old", Old()), ("new", RankSVM())])
    model.fit(*train, **grades(validation))
    with pytest.raises(TypeError, match="member 'old' takes validation rows and no `propensity_v"):
        model.fit(*train, **validation)
