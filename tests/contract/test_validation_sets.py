# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Several metrics on several validation sets, and functions as metrics: every ranker with both."""

import inspect
import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_ranker import RANKERS, assert_same, has, make, make_data
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.metrics import ndcg_score as ndcg_of_sklearn
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ltr import BlendedRanker
from sklearn_ltr.export import from_dict, to_dict
from sklearn_ltr.export.scoring import RANKERS as EXPORTED
from sklearn_ltr.metrics import average_precision_score, get_metric, ndcg_score
from sklearn_ltr.scorers import get_scorer, make_ranking_scorer

STOPPERS = [R for R in RANKERS if has(R, "early_stopping")]
each_stopper = pytest.mark.parametrize("R", STOPPERS, ids=lambda R: R.__name__)
SEVERAL = ["ndcg@10", "map", get_metric("ndcg@10", gain="linear")]
LINEAR = repr(SEVERAL[2])


def make_sets(R):
    """Rows to train on, and two sets of others: dict of the arguments of `fit`."""
    X, y, groups = make_data(R)
    parts = [np.flatnonzero(mask) for mask in (groups < 18, groups % 3 == 0, groups % 3 == 1)]
    parts[1:] = [part[groups[part] >= 18] for part in parts[1:]]
    train, first, second = [(X[part], y[part], groups[part]) for part in parts]
    validation = dict(
        zip(("X_val", "y_val", "groups_val"), zip(first, second, strict=True), strict=True)
    )
    return train, validation


def first_of(validation):
    return {name: values[0] for name, values in validation.items()}


def same_values(history, expected):
    assert [list(of_set) for of_set in history] == [list(of_set) for of_set in expected]
    for of_set, of_expected in zip(history, expected, strict=True):
        for name, scores in of_set.items():
            assert_array_equal(scores, of_expected[name], err_msg=name)


@each_stopper
@pytest.mark.parametrize("early_stopping", [False, True])
def test_the_first_metric_on_the_first_set_decides(R, early_stopping):
    train, validation = make_sets(R)
    params = {"early_stopping": early_stopping, "n_iter_no_change": 3}
    alone = make(R, **params).fit(*train, **first_of(validation))
    model = make(R, scoring=SEVERAL, **params).fit(*train, **validation)
    assert_array_equal(model.predict(train[0]), alone.predict(train[0]))
    assert model.n_iter_ == alone.n_iter_
    assert_array_equal(model.validation_score_, alone.validation_score_)
    names = ["map", LINEAR]
    assert [len(of_set) for of_set in model.validation_history_] == [3, 3]
    first = repr(get_metric("ndcg@10"))  # as another one has the name, too
    assert [list(of_set) for of_set in model.validation_history_] == [[first, *names]] * 2
    assert_array_equal(model.validation_history_[0][first], model.validation_score_)
    same_values(alone.validation_history_, [{"ndcg@10": alone.validation_score_}])
    if not hasattr(model, "staged_predict"):
        return
    for k, (X, y, groups) in enumerate(zip(*validation.values(), strict=True)):
        for name, metric in zip((first, *names), SEVERAL, strict=True):
            expected = [get_metric(metric)(y, s, groups) for s in model.staged_predict(X)]
            assert_allclose(model.validation_history_[k][name], expected, rtol=1e-12)


@each_stopper
def test_held_out_queries_are_one_set(R):
    X, y, groups = make_data(R)
    params = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 3}
    alone = make(R, **params).fit(X, y, groups)
    model = make(R, scoring=("ndcg@10", "p@2"), **params).fit(X, y, groups)
    assert_same_but_history(model, alone, X)
    (history,) = model.validation_history_
    assert list(history) == ["ndcg@10", "p@2"]
    assert_array_equal(history["ndcg@10"], model.validation_score_)
    assert history["p@2"].shape == (model.n_iter_,)
    assert make(R).fit(X, y, groups).validation_history_ == []


def assert_same_but_history(model, expected, X):
    assert_array_equal(model.predict(X), expected.predict(X))
    assert_array_equal(model.validation_score_, expected.validation_score_)


@each_stopper
def test_warm_start_goes_on_with_what_is_asked_for_now(R):
    if not has(R, "warm_start"):
        pytest.skip("no warm start")
    train, validation = make_sets(R)
    scoring = ["map", "ndcg@10"]
    at_once = make(R, scoring=scoring, n_estimators=6).fit(*train, **validation)
    model = make(R, scoring=scoring, n_estimators=3, warm_start=True).fit(*train, **validation)
    stored = from_dict(json.loads(json.dumps(to_dict(model)))) if R.__name__ in EXPORTED else model
    if stored is not model:
        same_values(stored.validation_history_, model.validation_history_)
        assert stored.scoring == scoring
    for each in {id(m): m for m in (model, stored)}.values():
        each.set_params(n_estimators=6).fit(*train, **validation)
        assert_same(each, at_once, train[0])
        same_values(each.validation_history_, at_once.validation_history_)
        each.set_params(n_estimators=7, scoring=["map", "p@1"])
        each.fit(*train, **first_of(validation))
        if each.n_iter_ == 7:
            (history,) = each.validation_history_
            assert [len(history["map"]), len(history["p@1"])] == [7, 1]


@each_stopper
def test_functions(R):
    """Of rows by query; what they do to their arguments is without effect."""
    train, validation = make_sets(R)

    def ndcg_at_10(y_true, y_score, groups):
        value = ndcg_score(y_true, y_score, groups, k=10)
        y_true[:], y_score[:] = 0, 0
        return value

    expected = make(R, scoring="ndcg@10").fit(*train, **validation)
    for scoring in (
        ndcg_at_10,
        partial(ndcg_score, k=10),
        make_ranking_scorer(ndcg_score, k=10),
        lambda y, scores, ids: float(ndcg_score(y, scores, ids, k=10)),
    ):
        model = make(R, scoring=scoring).fit(*train, **validation)
        assert_allclose(model.validation_score_, expected.validation_score_, rtol=1e-12)
        assert_array_equal(model.predict(train[0]), expected.predict(train[0]))
    both = make(R, scoring=[ndcg_at_10, "map", get_scorer("p@2"), average_precision_score])
    both = both.fit(*train, **validation)
    names = ["ndcg_at_10", "map", "p@2", "average_precision_score"]
    assert [list(of_set) for of_set in both.validation_history_] == [names] * 2
    history = both.validation_history_[1]
    assert_allclose(history["map"], history["average_precision_score"], rtol=1e-12)


@each_stopper
def test_functions_are_given_the_ids_of_the_queries(R):
    X, y, groups = make_data(R)
    names = np.array([f"query {id}" for id in groups], dtype=object)
    seen = []

    def pearson(y_true, y_score, groups):
        seen.append(dict(zip(*np.unique(groups, return_counts=True), strict=True)))
        return np.corrcoef(rankdata(y_true), y_score + np.arange(len(y_score)) * 1e-9)[0, 1]

    model = make(R, scoring=pearson).fit(X, y, names, X_val=X, y_val=y, groups_val=names)
    assert len(seen) == model.n_iter_ > 0
    assert seen[0] == dict(zip(*np.unique(names, return_counts=True), strict=True))


@each_stopper
def test_weights_of_held_out_queries(R):
    X, y, groups = make_data(R)
    weight = 1.0 + groups % 3
    params = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 3}
    expected = make(R, scoring="ndcg", **params).fit(X, y, groups, query_weight=weight)
    model = make(R, scoring=ndcg_score, **params).fit(X, y, groups, query_weight=weight)
    assert_allclose(model.validation_score_, expected.validation_score_, rtol=1e-12)

    def of_three(y_true, y_score, groups):
        return 0.5

    with pytest.raises(ValueError, match="`scoring` of_three takes no `query_weight`, and"):
        make(R, scoring=of_three, **params).fit(X, y, groups, query_weight=weight)
    make(R, scoring=of_three, **params).fit(X, y, groups)


@each_stopper
@pytest.mark.parametrize(
    ("scoring", "error", "message"),
    [
        ([], ValueError, "`scoring` is empty"),
        (["map", "map"], ValueError, "`scoring` has the same metric twice"),
        (["map", "auc"], ValueError, "Unknown metric 'auc'"),
        (["map", 3], ValueError, "Unknown metric 3"),
        ([["map"]], ValueError, r"Unknown metric \['map'\]"),
        (ndcg_of_sklearn, TypeError, r"ndcg_score must be a function of \(y_true, y_score, groups"),
        (mean_squared_error, TypeError, "must be a function of"),
        (make_scorer(mean_squared_error), TypeError, "scores an estimator, but early stopping"),
        (lambda estimator, X, y: 0.5, TypeError, "scores an estimator, but early stopping"),
        (float, ValueError, "Unknown metric <class 'float'>"),
        (lambda y, s, g: np.nan, ValueError, r"<lambda> must return a number, .*; got nan"),
        (lambda y, s, g: None, ValueError, "must return a number, .*; got None"),
        (lambda y, s, g: "best", ValueError, "must return a number, .*; got 'best'"),
        (lambda y, s, g: s, ValueError, "must return a number"),
    ],
)
def test_what_cannot_judge(R, scoring, error, message):
    train, validation = make_sets(R)
    with pytest.raises(error, match=message):
        make(R, scoring=scoring).fit(*train, **validation)


@each_stopper
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_val": None}, "`X_val` and `y_val` go together|`y_val` must be one"),
        ({"y_val": ([0.0, 1.0],)}, "each of 2 validation sets, and `y_val` must be one"),
        ({"y_val": np.zeros(2)}, "each of 2 validation sets, and `y_val` must be one"),
        ({"groups_val": ([1],)}, "each of 2 validation sets, and `groups_val` must be one"),
        ({"X_val": ()}, "`X_val` is an empty tuple"),
    ],
)
def test_sets_that_do_not_go_together(R, changed, message):
    train, validation = make_sets(R)
    with pytest.raises(ValueError, match=message):
        make(R).fit(*train, **validation | changed)


@each_stopper
def test_sets_of_frames_and_without_groups(R):
    train, validation = make_sets(R)
    expected = make(R).fit(*train, **validation)
    frames = {
        "X_val": tuple(pd.DataFrame(X) for X in validation["X_val"]),
        "y_val": tuple(pd.Series(y) for y in validation["y_val"]),
        "groups_val": tuple(map(list, validation["groups_val"])),
    }
    same_values(make(R).fit(*train, **frames).validation_history_, expected.validation_history_)
    frames["groups_val"] = None
    with pytest.warns(UserWarning, match="`groups_val`"):
        make(R).fit(*train, **frames)


@each_stopper
def test_sets_through_a_pipeline(R):
    """As `transform_input` takes tuples."""
    train, validation = make_sets(R)
    expected = make(R).fit(train[0] * 2, *train[1:], **_doubled(validation))
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = make(R).set_fit_request(X_val=True, y_val=True, groups_val=True)
        steps = [("double", FunctionTransformer(lambda X: X * 2)), ("rank", ranker)]
        pipeline = Pipeline(steps, transform_input=["X_val"])
        pipeline.fit(*train[:2], groups=train[2], **validation)
    same_values(pipeline[-1].validation_history_, expected.validation_history_)


def _doubled(validation):
    return validation | {"X_val": tuple(2 * X for X in validation["X_val"])}


@pytest.mark.parametrize(
    "R",
    [R for R in STOPPERS if "init_score" in inspect.signature(R.fit).parameters],
    ids=lambda R: R.__name__,
)
def test_sets_start_from_scores_of_their_own(R):
    train, validation = make_sets(R)
    starts = tuple(0.1 * np.arange(len(y)) for y in validation["y_val"])
    start = 0.1 * np.arange(len(train[1]))
    model = make(R).fit(*train, init_score=start, init_score_val=starts, **validation)
    for k in (0, 1):
        one = {name: values[k] for name, values in validation.items()}
        alone = make(R).fit(*train, init_score=start, init_score_val=starts[k], **one)
        assert_array_equal(model.validation_history_[k]["ndcg@10"], alone.validation_score_)
    with pytest.raises(ValueError, match="each of 2 validation sets, and `init_score_val` must"):
        make(R).fit(*train, init_score=start, init_score_val=starts[0], **validation)


@each_stopper
def test_what_is_printed(R, capsys):
    train, validation = make_sets(R)
    params = {"scoring": ["ndcg@10", "map"], "verbose": 1, "n_estimators": 3}
    model = make(R, **params).fit(*train, **first_of(validation))
    history = model.validation_history_[0]
    line = capsys.readouterr().out.splitlines()[0]
    assert line.endswith(f", ndcg@10 {history['ndcg@10'][0]:.6g}, map {history['map'][0]:.6g}")
    make(R, **params).fit(*train, **validation)
    line = capsys.readouterr().out.splitlines()[0]
    assert ", set 0 ndcg@10 " in line
    assert ", set 1 map " in line


@pytest.mark.parametrize(
    ("history", "message"),
    [
        ({}, "validation_history_ must be a list"),
        ([[]], r"validation_history_\[0\] must be a dict"),
        ([{"map": 1}], r"validation_history_\[0\]\['map'\] must be a list"),
        ([{"map": [0.5] * 99}], r"validation_history_\[0\]\['map'\] must have at most 12 entries"),
        ([{"map": ["best"]}], r"\['map'\]\[0\] must be int or float"),
        ([{3: [0.5]}], "the key 3 must be a string"),
    ],
)
def test_malformed_exports(history, message):
    R = next(R for R in STOPPERS if R.__name__ == "LambdaMART")
    data = to_dict(make(R).fit(*make_data(R)))
    data["attributes"]["validation_history_"] = history
    with pytest.raises(ValueError, match=message):
        from_dict(data)
    data["attributes"]["validation_history_"] = []
    data["params"]["scoring"] = ["map", 3]
    with pytest.raises(ValueError, match=r"params.scoring\[1\] must be a string"):
        from_dict(data)
    del data["params"]["scoring"], data["attributes"]["validation_history_"]
    assert from_dict(data).validation_history_ == []  # of a model of an earlier version


def test_members_of_a_blend_have_one_set():
    train, validation = make_sets(BlendedRanker)
    with pytest.raises(TypeError, match="of several validation sets; a BlendedRanker takes one"):
        make(BlendedRanker).fit(*train, **validation)
