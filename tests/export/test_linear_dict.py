# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Linear functions and nets as plain data."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_ranker import RANKERS, assert_same, make, make_data, variants
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import (
    SVMMAP,
    AdaRank,
    LambdaMART,
    LambdaRank,
    LossRanker,
    RankNet,
    RankSVM,
    SingleFeatureRanker,
    SVRank,
    losses,
)
from sklearn_ltr.base import LinearRanker
from sklearn_ltr.export import from_dict, scoring, to_dict
from sklearn_ltr.scorefunction import ScoreFunctionRanker

CASES = [case for case in variants() if case.values[0] in scoring.LINEAR.values()]
NOT_KEPT = "_trained_on"


def again(ranker):
    return from_dict(json.loads(json.dumps(to_dict(ranker), allow_nan=False)))


def fitted(R, X=None, **params):
    data = make_data(R)
    X = data[0] if X is None else X
    return make(R, **params).fit(X, *data[1:])


def test_all_linear_functions_and_nets_are_known():
    """A new one is missed here, until it is registered."""
    kinds = LinearRanker, ScoreFunctionRanker, AdaRank
    assert {R for R in RANKERS if issubclass(R, kinds)} == set(scoring.LINEAR.values())


@pytest.mark.parametrize(("R", "params"), CASES)
def test_round_trip(R, params):
    ranker = fitted(R, **params)
    model = again(ranker)
    assert type(model) is R
    assert_same(model, ranker, make_data(R)[0])
    assert vars(ranker).keys() - vars(model).keys() == {NOT_KEPT}
    for name, value in vars(ranker).items():
        if isinstance(value, int | float | str) or value is None:
            assert getattr(model, name) == value, name
            assert type(getattr(model, name)) is type(value), name
        elif isinstance(value, np.ndarray) and name != NOT_KEPT:
            assert_array_equal(getattr(model, name), value, strict=True, err_msg=name)
        elif name in ("coefs_", "intercepts_"):
            for one, two in zip(getattr(model, name), value, strict=True):
                assert_array_equal(one, two, strict=True)
    assert to_dict(model) == to_dict(ranker)


@pytest.mark.parametrize("R", scoring.LINEAR.values(), ids=scoring.LINEAR)
def test_names_and_preferences(R):
    X, _, _ = make_data(R)
    frame = pd.DataFrame(X, columns=["bm25", "für", "c", "d", "e"])
    ranker = fitted(R, frame)
    model = again(ranker)
    assert_array_equal(model.predict(frame), ranker.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    if R in (RankNet, RankSVM):
        ranker = make(R).fit(X, preferences=[[0, 1], [2, 3], [0, 4]])
        assert not hasattr(ranker, "grades_")
        assert_array_equal(again(ranker).predict(X), ranker.predict(X))


def test_a_warm_start_of_adarank_goes_on():
    X, y, groups = make_data()
    ranker = make(AdaRank, n_estimators=4, warm_start=True).fit(X, y, groups)
    model = again(ranker)
    for one in (ranker, model):
        one.set_params(n_estimators=8).fit(X, y, groups)
    assert ranker.n_iter_ == 8
    assert_same(model, ranker, X)


@pytest.mark.parametrize(
    "weights", [[0.5, 1, 0, 0, -2], {0: 0.5, 3: -1}, {"b": 2.5, "e": 1}, {0: 1.0, "e": 2}]
)
def test_given_weights(weights):
    X, y, groups = make_data()
    frame = pd.DataFrame(X, columns=list("abcde"))
    ranker = SingleFeatureRanker(weights=weights).fit(frame, y, groups)
    model = again(ranker)
    assert model.weights == weights
    assert model.feature_ is None
    assert_array_equal(model.predict(frame), ranker.predict(frame))
    array = SingleFeatureRanker(weights=np.array([1.0, 2, 3, 4, 5])).fit(frame, y, groups)
    assert again(array).weights == [1, 2, 3, 4, 5]


def test_layers_are_those_fitted():
    """Not those that parameters now tell of."""
    X, _, _ = make_data()
    ranker = fitted(LambdaRank, hidden_layer_sizes=[4, 2]).set_params(hidden_layer_sizes=7)
    model = again(ranker)
    assert model.hidden_layer_sizes == 7
    assert_array_equal(model.predict(X), ranker.predict(X))


def test_searches_are_unwrapped_and_pipelines_are_not():
    X, y, groups = make_data()
    search = GridSearchCV(RankSVM(C=0.1), {"tol": [0.1]}, cv=GroupKFold(2))
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    assert_array_equal(again(search).predict(X), search.predict(X))
    pipeline = make_pipeline(StandardScaler(), RankSVM(C=0.1)).fit(X, y, ranksvm__groups=groups)
    with pytest.raises(TypeError, match="got Pipeline: store its last step"):
        to_dict(pipeline)


def test_a_loss_that_json_cannot_hold():
    class OwnLoss(losses.SquaredHinge):
        pass

    ranker = fitted(LossRanker, loss=OwnLoss())
    with pytest.raises(ValueError, match="`loss` is OwnLoss"):
        to_dict(ranker)
    ranker = fitted(LossRanker, loss=losses.SquaredHinge(margin=0.25))
    assert again(ranker).loss.margin == 0.25
    ranker = fitted(RankNet, target_probability=lambda better, worse: 0.0 * better + 0.8)
    with pytest.raises(ValueError, match=r"`target_probability` is .*Pickle the ranker"):
        to_dict(ranker)


# --- Malformed data ------------------------------------------------------------------------------

STORED = {
    R.__name__: to_dict(fitted(R, **params))
    for R, params in (
        (AdaRank, {}),
        (LambdaRank, {"hidden_layer_sizes": (3, 2)}),
        (RankSVM, {}),
        (SVMMAP, {}),
        (SVRank, {}),
        (SingleFeatureRanker, {}),
    )
}
ATTRIBUTES = "attributes"
MALFORMED = [
    ("RankSVM", ["bins"], [], "The model has an unknown key 'bins'"),
    ("RankSVM", [ATTRIBUTES, "_seed"], 1, "attributes has an unknown key '_seed'"),
    ("RankSVM", [ATTRIBUTES, "coef_"], [], r"attributes\.coef_ must not be empty"),
    ("RankSVM", [ATTRIBUTES, "coef_"], [1.0, "2"], r"attributes\.coef_\[1\] must be int or float"),
    ("RankSVM", [ATTRIBUTES, "coef_"], [1e300], r"attributes\.coef_\[0\] must be finite, and"),
    ("RankSVM", [ATTRIBUTES, "coef_"], [float("nan")], r"attributes\.coef_\[0\] must be finite"),
    ("RankSVM", [ATTRIBUTES, "n_iter_"], -1, r"attributes\.n_iter_ must be an integer"),
    ("RankSVM", [ATTRIBUTES, "n_queries_skipped_"], 99, "skipped_ must be at most 30"),
    ("RankSVM", [ATTRIBUTES, "feature_names_in_"], ["a"], "names_in_ must have 5 entries"),
    ("RankSVM", ["params", "C"], -1.0, "params: C == -1.0"),
    ("RankSVM", ["params", "loss"], "other", "params: `loss` must be one of"),
    ("RankSVM", ["params", "loss"], {"class": "SquaredHinge"}, "loss must be a number or a string"),
    ("SVRank", ["params", "epsilon"], "1", "params: epsilon must be an instance"),
    ("SVRank", ["params", "pair_weighting"], "row", "params: `pair_weighting` must be one of"),
    ("SVMMAP", ["params", "relevant_from"], "1", "params: relevant_from must be an instance"),
    ("SVMMAP", [ATTRIBUTES, "relevant_from_"], None, "relevant_from_ must be a finite number"),
    ("SingleFeatureRanker", ["params", "scoring"], "none", "params: "),
    ("SingleFeatureRanker", ["params", "weights"], [1.0], "params: `weights` must have one entry"),
    ("SingleFeatureRanker", ["params", "weights"], [["a", 1]], "params: `weights` has 'a'"),
    ("SingleFeatureRanker", ["params", "weights"], [[1]], r"weights\[0\] must be a number or name"),
    ("SingleFeatureRanker", ["params", "weights"], [[1, "a"]], r"weights\[0\] must be a number or"),
    ("SingleFeatureRanker", ["params", "weights"], [[1, 2], [1, 3]], "weights must name none twic"),
    ("SingleFeatureRanker", [ATTRIBUTES, "feature_"], 5, r"feature_ must be below 5"),
    ("SingleFeatureRanker", [ATTRIBUTES, "feature_scores_"], None, "be there if `feature_` is"),
    ("SingleFeatureRanker", [ATTRIBUTES, "feature_scores_"], [[1.0, 2.0]], "be 5 lists of 2 numb"),
    (
        "LambdaRank",
        ["params", "hidden_layer_sizes"],
        [0],
        r"hidden_layer_sizes\[0\] must be an int",
    ),
    ("LambdaRank", ["params", "hidden_layer_sizes"], "3", "hidden_layer_sizes must be an integer"),
    ("LambdaRank", ["params", "activation"], "sin", "params: `activation` must be one of"),
    ("LambdaRank", [ATTRIBUTES, "coefs_"], [], r"attributes\.coefs_ must not be empty"),
    ("LambdaRank", [ATTRIBUTES, "coefs_"], [[[1.0]]], r"attributes\.coefs_ must have 3 layers"),
    ("LambdaRank", [ATTRIBUTES, "coefs_", 1], [[1.0]], r"coefs_\[1\] must be 3 lists of 2 numbers"),
    ("LambdaRank", [ATTRIBUTES, "coefs_", 0, 2], [1.0], r"coefs_\[0\] must be 5 lists of 3 number"),
    ("LambdaRank", [ATTRIBUTES, "coefs_", 0, 2, 1], 1e300, r"coefs_\[0\]\[2\]\[1\] must be finite"),
    ("LambdaRank", [ATTRIBUTES, "coefs_", 2, 0], [], r"coefs_\[2\] must be 2 lists of 1 numbers"),
    ("LambdaRank", [ATTRIBUTES, "intercepts_"], [[], []], r"coefs_\[0\] must be 5 lists of 0"),
    ("LambdaRank", [ATTRIBUTES, "best_iteration_"], 99, "best_iteration_ must be at most 30"),
    ("AdaRank", ["n_features"], 0, "n_features must be an integer from 1"),
    (
        "AdaRank",
        ["rounds", 1, 0, "feature"],
        5,
        r"\[1\]\[0\]\.feature must be an integer from 0 to 4",
    ),
    ("AdaRank", ["rounds", 1, 0, "gain"], None, r"rounds\[1\]\[0\]\.gain must be a finite number"),
    ("AdaRank", ["rounds", 1, 0, "bin"], 1, r"rounds\[1\]\[0\] has an unknown key 'bin'"),
]


@pytest.mark.parametrize(
    ("name", "path", "value", "message"), MALFORMED, ids=[str(i) for i in range(len(MALFORMED))]
)
def test_malformed(name, path, value, message):
    data = copy.deepcopy(STORED[name])
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        from_dict(data)


@pytest.mark.parametrize("name", STORED)
def test_missing_keys(name):
    """Only what a fit to preferences, or to an array, lacks may be absent, or what came later."""
    for part in ([], [ATTRIBUTES]):
        for key in STORED[name][ATTRIBUTES] if part else STORED[name]:
            data = copy.deepcopy(STORED[name])
            del (data[ATTRIBUTES] if part else data)[key]
            if key in ("grades_", "validation_history_", "_adds_to_scores"):
                from_dict(data)
                continue
            with pytest.raises(ValueError, match=f"has no key '{key}'|\"{key}\" must|{key}: "):
                from_dict(data)


def test_trees_are_no_linear_function():
    """The layout is that of the class."""
    trees = to_dict(fitted(LambdaMART))
    for name, stored in STORED.items():
        for data in (trees | {"class": name}, stored | {"class": "LambdaMART"}):
            with pytest.raises(ValueError, match=r"has an unknown key|has no key"):
                from_dict(data)
