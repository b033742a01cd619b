# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers as plain data, as RankLib's XML and as pickles of another process."""

import copy
import importlib
import inspect
import json
import pickle
import pkgutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from exported_models import ranklib_scores
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from strategies import examples, ranking_problems

import sklearn_ltr
from sklearn_ltr import (
    AdaRank,
    FRank,
    GBRank,
    LambdaMART,
    LambdaRank,
    McRank,
    MPBoost,
    QBRank,
    QuadraticBoosting,
    RankBoost,
    RegressionRanker,
    losses,
)
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.export import from_dict, scoring, to_dict, to_ranklib_xml
from sklearn_ltr.metrics import get_metric

NOT_KEPT = "_trained_on"  # by which a scorer knows the queries trained on: no part of the model
STOPPING = {
    "early_stopping": True,
    "n_iter_no_change": 3,
    "validation_fraction": 0.3,
    "random_state": 2,
}
DRAWS = {"subsample": 0.6, "max_features": 0.5, "random_state": 7}
VARIANTS = {
    "stopped": STOPPING,
    "all bins": {"max_bins": None},
    "adaptive": {"binning": "adaptive", "max_bins": 7},
    "draws": DRAWS,
    "deep": {"max_leaf_nodes": 64, "max_depth": 9, "l2_regularization": 0.5},
    "symmetric": {"grow_policy": "symmetric", "max_leaf_nodes": 16, "l2_regularization": 0.5},
    "ordinal": {"method": "ordinal", "monotonic_cst": [1, -1, 0, 0, 0, 0]},
    "grade values": {"grade_values": [0.0, 1.0, 4.0, 9.0, 16.0]},
    "linear": {"gain": "linear"},
    "map": {"metric": "map@5", "truncation_level": 3},
    "margin": {"margin": 0.5},
    "exact": {"step": "exact"},
    "constant": {"step": "constant"},
    "distance": {"distance": "linear", "n_jobs": 1},
}


def find_rankers():
    """Every boosted ranker of the package."""
    found = set()
    for info in pkgutil.iter_modules(sklearn_ltr.rankers.__path__, "sklearn_ltr.rankers."):
        for value in vars(importlib.import_module(info.name)).values():
            if inspect.isclass(value) and issubclass(value, BoostedRanker):
                found.add(value)
    return [R for R in found if R.__module__.startswith("sklearn_ltr.rankers.")]


def make_data(seed=0, n_queries=25, n_features=6):
    X, y, groups = make_ranking(
        n_queries, n_features=n_features, n_informative=3, n_redundant=0, random_state=seed
    )
    rng = np.random.default_rng(seed)
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, groups


def make(R, **params):
    quick = {"n_estimators": 6, "min_samples_leaf": 2, "max_leaf_nodes": 6, **params}
    return R(**{name: x for name, x in quick.items() if name in inspect.signature(R).parameters})


def has(R, params):
    """Whether a ranker has these parameters, and a step of this name."""
    steps = getattr(sys.modules[R.__module__], "STEPS", ())
    known = "step" not in params or params["step"] in steps
    return known and params.keys() <= set(inspect.signature(R).parameters)


RANKERS = sorted(scoring.RANKERS.values(), key=lambda R: R.__name__)
each_ranker = pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
cases = [
    pytest.param(R, params, id=f"{R.__name__}-{name}")
    for R in RANKERS
    for name, params in VARIANTS.items()
    if has(R, params)
]
each_case = pytest.mark.parametrize(("R", "params"), cases)


def round_trip(ranker):
    return from_dict(json.loads(json.dumps(to_dict(ranker), allow_nan=False)))


def assert_equal(one, two, path=""):
    """The same objects, all the way down, to the last bit."""
    if isinstance(one, np.ndarray):
        assert one.dtype == two.dtype, path
        assert_array_equal(one, two, err_msg=path, strict=True)
    elif isinstance(one, list | tuple):
        assert len(one) == len(two), path
        for i, (x, y) in enumerate(zip(one, two, strict=True)):
            assert_equal(x, y, f"{path}[{i}]")
    elif isinstance(one, dict):
        assert one.keys() == two.keys(), path
        for key, x in one.items():
            assert_equal(x, two[key], f"{path}[{key!r}]")
    elif type(one).__module__.startswith("sklearn_ltr."):
        assert type(one) is type(two), path
        attributes = [
            {name: x for name, x in vars(model).items() if name != NOT_KEPT} for model in (one, two)
        ]
        assert attributes[0].keys() == attributes[1].keys(), path
        for name, x in attributes[0].items():
            assert_equal(x, attributes[1][name], f"{path}.{name}")
    else:
        assert one == two, path


def assert_same_ranker(ranker, again, X):
    assert_equal(ranker, again)
    assert_array_equal(again.predict(X), ranker.predict(X))
    if isinstance(X, np.ndarray):
        assert_array_equal(again.predict(sparse.csr_array(X)), ranker.predict(X))
    assert_array_equal(list(again.staged_predict(X)), list(ranker.staged_predict(X)))
    assert_array_equal(again.feature_importances_, ranker.feature_importances_)
    for name in ("predict_grade_proba", "contributions"):
        if hasattr(ranker, name):
            assert_array_equal(getattr(again, name)(X), getattr(ranker, name)(X))


# --- Plain data ----------------------------------------------------------------------------------


def test_all_boosted_rankers_are_known():
    """A new one of stumps or trees is missed here, until it is registered."""
    assert set(find_rankers()) == {*RANKERS, AdaRank}  # whose weak rankers are features


@each_case
def test_round_trip(R, params):
    X, y, groups = make_data()
    ranker = make(R, warm_start=True, **params).fit(X, y, groups)
    again = round_trip(ranker)
    assert_same_ranker(ranker, again, X)
    for model in (ranker, again):
        model.set_params(n_estimators=10).fit(X, y, groups)
    assert_same_ranker(ranker, again, X)
    assert_same_ranker(ranker, round_trip(again), X)


@each_ranker
def test_names_of_features(R):
    X, y, groups = make_data()
    frame = pd.DataFrame(X, columns=list("abcde") + ["für"])
    ranker = make(R).fit(frame, y, groups)
    again = round_trip(ranker)
    assert_same_ranker(ranker, again, frame)
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame[frame.columns[::-1]])


def test_names_of_a_subclass_of_str():
    X, y, groups = make_data()
    frame = pd.DataFrame(X, columns=pd.Index([np.str_(x) for x in "abcdef"], dtype=object))
    ranker = make(MPBoost).fit(frame, y, groups)
    assert_array_equal(round_trip(ranker).predict(frame), ranker.predict(frame))


def test_metadata_requests_are_not_kept():
    X, y, groups = make_data()
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = make(MPBoost).set_fit_request(X_val=True).fit(X, y, groups)
        again = round_trip(ranker)
    assert vars(ranker).keys() - vars(again).keys() == {"_metadata_request", NOT_KEPT}


@examples(10)
@given(problem=ranking_problems(), rounds=st.integers(1, 4))
@each_ranker
def test_awkward_problems(R, problem, rounds):
    X, y, groups, query_weight = problem
    ranker = make(R, n_estimators=rounds, max_bins=None, min_samples_leaf=1)
    if R is McRank and len(np.unique(y)) > 32:
        return
    ranker.fit(X, y, groups, query_weight)
    assert_same_ranker(ranker, round_trip(ranker), X)


@pytest.mark.parametrize("R", [FRank, GBRank, MPBoost, QBRank, RankBoost])
def test_fitted_to_preferences(R):
    X, _, _ = make_data()
    ranker = make(R).fit(X, preferences=[[0, 1], [2, 3], [0, 4]])
    assert not hasattr(ranker, "grades_")
    assert_same_ranker(ranker, round_trip(ranker), X)


def test_validation_of_some_rounds():
    """Rounds before a warm start have no validation score."""
    X, y, groups = make_data()
    ranker = MPBoost(n_estimators=3, warm_start=True).fit(X, y, groups)
    ranker.set_params(n_estimators=5).fit(X, y, groups, None, X, y, groups)
    assert len(ranker.validation_score_) == 2
    assert_same_ranker(ranker, round_trip(ranker), X)


def test_levels_of_mcrank():
    X, y, groups = make_data()
    y = y + np.arange(len(y)) / 1e3
    with pytest.warns(UserWarning, match="distinct grades"):
        ranker = make(McRank, n_estimators=2).fit(X, y, groups)
    assert_same_ranker(ranker, round_trip(ranker), X)
    one_level = make(McRank).fit(X, np.ones(len(y)), groups)
    assert one_level.n_iter_ == 0
    assert_same_ranker(one_level, round_trip(one_level), X)
    two_levels = make(McRank, method="ordinal").fit(X, y > 2, groups)
    assert_same_ranker(two_levels, round_trip(two_levels), X)


@pytest.mark.parametrize("name", losses.__all__)
def test_losses(name):
    X, y, groups = make_data()
    loss = getattr(losses, name)()
    ranker = make(QuadraticBoosting, loss=loss, n_estimators=2).fit(X, y, groups)
    again = round_trip(ranker)
    assert type(again.loss) is type(loss)
    assert again.loss.get_params() == loss.get_params()
    again.loss, ranker.loss = None, None
    assert_same_ranker(ranker, again, X)


def test_parameters_of_a_loss_are_kept():
    X, y, groups = make_data()
    loss = losses.SquaredHinge(margin=np.float64(0.25))
    ranker = make(QuadraticBoosting, loss=loss, n_estimators=2).fit(X, y, groups)
    assert round_trip(ranker).loss.margin == 0.25


def test_plain_types():
    """Numbers of numpy and other containers of parameters become Python's."""
    X, y, groups = make_data()
    ranker = RegressionRanker(
        n_estimators=np.int64(2),
        learning_rate=np.float64(0.1),
        early_stopping=np.bool_(False),
        monotonic_cst=pd.Series([0, 1, 0, 0, 0, 0]),
        random_state=np.uint32(3),
    ).fit(X, y, groups)
    params = to_dict(ranker)["params"]
    assert type(params["n_estimators"]) is type(params["random_state"]) is int
    assert type(params["learning_rate"]) is float
    assert params["early_stopping"] is False
    assert params["monotonic_cst"] == [0, 1, 0, 0, 0, 0]
    assert_array_equal(round_trip(ranker).predict(X), ranker.predict(X))


def test_file():
    X, y, groups = make_data()
    ranker = MPBoost(n_estimators=4).fit(X, y, groups)
    data = to_dict(ranker)
    assert data["format"] == "sklearn_ltr"
    assert data["format_version"] == 1
    assert data["sklearn_ltr_version"] == sklearn_ltr.__version__
    stump = ranker.model_.terms[0][1]
    stored = data["rounds"][0][0]
    assert data["bins"][stored["feature"]][stored["bin"]] == stump.threshold
    # Neither shares anything with what it was made of.
    text, scores = json.dumps(data), ranker.predict(X)
    again = from_dict(data)
    again.model_.rounds[0][0][1].value = 99
    again.train_loss_[:] = 99
    assert json.dumps(data) == text
    data["bins"][0][0] = 99
    assert_array_equal(ranker.predict(X), scores)


def test_losses_that_are_not_finite():
    X, y, groups = make_data()
    ranker = MPBoost(n_estimators=3).fit(X, y, groups)
    ranker.train_loss_[:] = [np.inf, np.nan, -np.inf]
    assert to_dict(ranker)["attributes"]["train_loss_"] == ["inf", "nan", "-inf"]
    assert_array_equal(round_trip(ranker).train_loss_, ranker.train_loss_)


def distance(better, worse):
    return 1.0 + 0 * better


@pytest.mark.parametrize(
    ("ranker", "name"),
    [
        (MPBoost(distance=distance), "distance"),
        (MPBoost(random_state=np.random.RandomState(0)), "random_state"),
        (MPBoost(scoring=get_metric("ndcg@3")), "scoring"),
        (LambdaMART(metric=get_metric("ndcg@3")), "metric"),
        (McRank(grade_values=np.sqrt), "grade_values"),
        (GBRank(estimator=DecisionTreeRegressor()), "estimator"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_json_cannot_hold(ranker, name):
    X, y, groups = make_data()
    X = np.nan_to_num(X)
    ranker.set_params(n_estimators=2).fit(X, y, groups)
    with pytest.raises(ValueError, match=f"`{name}` is .*Pickle the ranker"):
        to_dict(ranker)
    if name != "estimator":  # the remedy
        default = type(ranker)().get_params()[name]
        again = round_trip(ranker.set_params(**{name: default}))
        assert_array_equal(again.predict(X), ranker.predict(X))


class OwnLoss(losses.SquaredHinge):
    pass


def test_what_cannot_be_exported():
    X, y, groups = make_data()
    X = np.nan_to_num(X)
    own = make(QuadraticBoosting, loss=OwnLoss(), n_estimators=2).fit(X, y, groups)
    with pytest.raises(ValueError, match="`loss` is OwnLoss"):
        to_dict(own)

    class MyBoost(MPBoost):
        pass

    for ranker in (LinearRegression().fit(X, y), MyBoost(n_estimators=2).fit(X, y, groups)):
        for export in (to_dict, to_ranklib_xml):
            with pytest.raises(TypeError, match=f"got {type(ranker).__name__}"):
                export(ranker)
    for ranker in (AdaRank().fit(X, y, groups), LambdaRank(max_iter=2).fit(X, y, groups)):
        with pytest.raises(TypeError, match=f"the scores of {type(ranker).__name__} are none"):
            to_ranklib_xml(ranker)
    for export in (to_dict, to_ranklib_xml):
        with pytest.raises(NotFittedError):
            export(MPBoost())
    # What would not load is refused when it is stored.
    ranker = MPBoost(n_estimators=2).fit(X, y, groups)
    ranker.model_.rounds[1][0][1].value = np.nan
    with pytest.raises(ValueError, match=r"rounds\[1\]\[0\]\.value"):
        to_dict(ranker)
    with pytest.raises(ValueError, match=r"params\.n_jobs"):
        to_dict(MPBoost(n_estimators=2).fit(X, y, groups).set_params(n_jobs=0))


# --- Malformed data ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored():
    """Small models of each kind."""
    X, y, groups = make_data(n_queries=8, n_features=3)
    return {
        R: to_dict(make(R, n_estimators=3, max_bins=4).fit(X, y, groups))
        for R in (MPBoost, RegressionRanker, McRank, QuadraticBoosting)
    }


@pytest.mark.parametrize("data", [None, [], {}, "MPBoost", 3, {"format": "other"}, {"format": []}])
def test_another_format(data):
    with pytest.raises(ValueError, match="Not a model of this package"):
        from_dict(data)


@pytest.mark.parametrize("version", [None, 0, 2, "1", [1], 1.5])
def test_another_version(stored, version):
    data = stored[MPBoost] | {"format_version": version, "other": 1}
    with pytest.raises(ValueError, match=r"format_version: .* reads 1 only"):
        from_dict(data)


def change(data, path, value):
    """A copy with another value at a path of keys."""
    data = copy.deepcopy(data)
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return data


HUGE = 10**400
malformed = [
    # The frame.
    (MPBoost, ["format_version"], True, "format_version must be an integer"),
    (MPBoost, ["class"], "object", "class must be one of"),
    (MPBoost, ["class"], "FeatureRank", "class must be one of"),
    (MPBoost, ["class"], ["MPBoost"], "class must be one of"),
    (MPBoost, ["class"], "RankBoost", "params has an unknown key 'alpha'"),
    (MPBoost, ["extra"], 1, "The model has an unknown key 'extra'"),
    (MPBoost, ["sklearn_ltr_version"], 1, "sklearn_ltr_version must be a string"),
    (MPBoost, ["missing"], [3], r"missing\[0\] must be from 0 to 2"),
    (MPBoost, ["missing"], [True], r"missing\[0\] must be int"),
    (MPBoost, ["missing"], None, "missing must be a list"),
    # Parameters.
    (MPBoost, ["params"], [], "params must be a dict"),
    (MPBoost, ["params", "__class__"], 1, "params has an unknown key '__class__'"),
    (MPBoost, ["params", "n_estimators"], 0, "params: n_estimators == 0"),
    (MPBoost, ["params", "n_estimators"], "3", "params: n_estimators"),
    (MPBoost, ["params", "n_estimators"], HUGE, None),  # for a fit only
    (MPBoost, ["params", "alpha"], HUGE, "params: "),
    (MPBoost, ["params", "alpha"], float("nan"), r"params\.alpha must be finite"),
    (MPBoost, ["params", "distance"], "os.system", "params: `distance` must be one of"),
    (MPBoost, ["params", "distance"], ["linear"], r"params\.distance must be a number or a string"),
    (MPBoost, ["params", "scoring"], "ndcg@" + "9" * 5000, "params: "),
    (MPBoost, ["params", "scoring"], None, "params: Unknown metric"),
    (MPBoost, ["params", "n_jobs"], 0, r"params\.n_jobs must not be 0"),
    (MPBoost, ["params", "n_jobs"], 2.0, r"params\.n_jobs must be an integer"),
    (MPBoost, ["params", "random_state"], -1, r"params\.random_state must be an integer"),
    (
        QuadraticBoosting,
        ["params", "estimator"],
        "LinearRegression",
        r"params\.estimator must be null",
    ),
    (QuadraticBoosting, ["params", "loss"], "SquaredHinge", r"params\.loss must be a dict"),
    (
        QuadraticBoosting,
        ["params", "loss"],
        {"class": "PairSums", "params": {}},
        r"params\.loss\.class must be one of",
    ),
    (
        QuadraticBoosting,
        ["params", "loss"],
        {"class": "SquaredHinge", "params": {"margin": {}}},
        r"params\.loss\.params\.margin must be a number or a string",
    ),
    (RegressionRanker, ["params", "monotonic_cst"], [1], "params: `monotonic_cst` must have one"),
    (RegressionRanker, ["params", "monotonic_cst"], [1, 2, 0], "params: `monotonic_cst` must hold"),
    (RegressionRanker, ["params", "monotonic_cst"], [True] * 3, r"monotonic_cst\[0\] must be int"),
    (RegressionRanker, ["params", "monotonic_cst"], [1, 0, HUGE], "monotonic_cst has a number"),
    # Attributes.
    (MPBoost, ["attributes"], None, "attributes must be a dict"),
    (MPBoost, ["attributes", "model_"], 1, "attributes has an unknown key 'model_'"),
    (MPBoost, ["attributes", "_seed"], 2**31, r"attributes\._seed must be an integer"),
    (MPBoost, ["attributes", "n_queries_"], 0, r"attributes\.n_queries_ must be an integer from 1"),
    (MPBoost, ["attributes", "n_queries_skipped_"], 99, "n_queries_skipped_ must be at most 8"),
    (MPBoost, ["attributes", "best_iteration_"], 4, "best_iteration_ must be at most 3"),
    (MPBoost, ["attributes", "best_iteration_"], True, "best_iteration_ must be an integer"),
    (MPBoost, ["attributes", "train_loss_"], [1.0], "train_loss_ must have 3 entries"),
    (MPBoost, ["attributes", "train_loss_"], [1.0, "one", 1.0], r"train_loss_\[1\] must be int"),
    (MPBoost, ["attributes", "validation_score_"], [0.5] * 4, "must have at most 3 entries"),
    (MPBoost, ["attributes", "grades_"], [0.0, 0.0], r"attributes\.grades_ must ascend"),
    (MPBoost, ["attributes", "feature_names_in_"], ["a"], "feature_names_in_ must have 3 entries"),
    (
        MPBoost,
        ["attributes", "feature_names_in_"],
        ["a", "b", 3],
        r"_in_\[2\] must be a string",
    ),
    (McRank, ["attributes", "levels_"], [], "levels_ must not be empty"),
    (McRank, ["attributes", "levels_"], list(range(33)), "levels_ must have at most 32 entries"),
    (McRank, ["attributes", "levels_"], [0, 1], "_cuts must have 1 entries"),
    (McRank, ["attributes", "_values"], [0, 1, 2, 3, 1e300], r"_values\[4\] must be finite, and"),
    (McRank, ["params", "method"], "ordinal", r"rounds\[0\] must have 4 trees"),
    # Bins.
    (MPBoost, ["bins"], [], "bins must not be empty"),
    (MPBoost, ["bins", 1], [2.0, 1.0], r"bins\[1\] must ascend"),
    (MPBoost, ["bins", 1], [0.0, float("inf")], r"bins\[1\]\[1\] must be finite"),
    (MPBoost, ["bins", 1], [0.0, float("nan")], r"bins\[1\]\[1\] must be finite"),
    (MPBoost, ["bins", 1], [0.0, "1"], r"bins\[1\]\[1\] must be int or float"),
    (MPBoost, ["bins", 1], [[0.0]], r"bins\[1\]\[0\] must be int or float"),
    (MPBoost, ["bins", 1], [HUGE], r"bins\[1\] has a number that is too large"),
    (MPBoost, ["bins", 1], [float(x) for x in range(65535)], "must have at most 65534 entries"),
    # Stumps.
    (MPBoost, ["rounds"], {}, "rounds must be a list"),
    (MPBoost, ["rounds", 1], 7, r"rounds\[1\] must be a list"),
    (MPBoost, ["rounds", 1, 0], [], r"rounds\[1\]\[0\] must be a dict"),
    (MPBoost, ["rounds", 1, 0, "coefficient"], float("nan"), r"rounds\[1\]\[0\]\.coefficient must"),
    (MPBoost, ["rounds", 1, 0, "coefficient"], HUGE, r"rounds\[1\]\[0\]\.coefficient must"),
    (MPBoost, ["rounds", 1, 0, "value"], 1e200, r"rounds\[1\]\[0\]\.value must be a finite number"),
    (MPBoost, ["rounds", 1, 0, "gain"], "1", r"rounds\[1\]\[0\]\.gain must be a finite number"),
    (MPBoost, ["rounds", 1, 0, "feature"], 3, r"rounds\[1\]\[0\]\.feature must be an integer from"),
    (MPBoost, ["rounds", 1, 0, "feature"], -1, r"rounds\[1\]\[0\]\.feature must be an integer"),
    (MPBoost, ["rounds", 1, 0, "feature"], 1.0, r"rounds\[1\]\[0\]\.feature must be an integer"),
    (MPBoost, ["rounds", 1, 0, "bin"], 4, r"rounds\[1\]\[0\]\.bin must be at most \d"),
    (MPBoost, ["rounds", 1, 0, "bin"], -1, r"rounds\[1\]\[0\]\.bin must be an integer from 0"),
    (MPBoost, ["rounds", 1, 0, "missing_above"], 1, "missing_above must be true or false"),
    (MPBoost, ["rounds", 1, 0, "threshold"], 1.0, r"rounds\[1\]\[0\] has an unknown key"),
    # Trees.
    (RegressionRanker, ["rounds", 1, 0, "feature", 0], 3, r"feature\[0\] must be from -1 to 2"),
    (
        RegressionRanker,
        ["rounds", 1, 0, "feature", 0],
        -1,
        r"\.feature must be -1 at one",
    ),
    (
        RegressionRanker,
        ["rounds", 1, 0, "feature", 0],
        2**70,
        r"\.feature has a number that",
    ),
    (RegressionRanker, ["rounds", 1, 0, "feature"], [], r"\.bin must have 0 entries"),
    (RegressionRanker, ["rounds", 1, 0, "bin", 0], 4, r"\.bin\[0\] must be at most \d"),
    (RegressionRanker, ["rounds", 1, 0, "left", 0], 0, r"\.left must have each odd number once"),
    (RegressionRanker, ["rounds", 1, 0, "left", 0], 3, r"\.left must have each odd number once"),
    (RegressionRanker, ["rounds", 1, 0, "left", 0], 10**9, r"\.left must have each odd number"),
    (RegressionRanker, ["rounds", 1, 0, "value"], [1.0], r"\.value must have 11 entries"),
    (RegressionRanker, ["rounds", 1, 0, "missing_right", 0], 0, r"missing_right\[0\] must be bool"),
    (RegressionRanker, ["rounds", 1, 0, "gain", 10], 1.0, r"\.gain must be 0 at the leaves"),
    (RegressionRanker, ["rounds", 1, 0, "value", 0], 1e200, r"\.value\[0\] must be finite, and"),
    (RegressionRanker, ["rounds", 1, 0, "cover"], [1.0], r"\.cover must have 11 entries"),
    (RegressionRanker, ["rounds", 1, 0, "n_samples", 0], -1, "must be a number of rows"),
    (RegressionRanker, ["rounds", 1, 0, "n_samples", 0], 1.0, r"\.n_samples\[0\] must be int"),
    (MPBoost, ["rounds", 1, 0, "n_samples"], [1], r"\.n_samples must have 2 entries"),
    (McRank, ["rounds", 1], [], r"rounds\[1\] must have 5 trees"),
]


@pytest.mark.parametrize(
    ("R", "path", "value", "message"), malformed, ids=[str(i) for i in range(len(malformed))]
)
def test_malformed(stored, R, path, value, message):
    data = change(stored[R], path, value)
    if message is None:
        assert from_dict(data).n_iter_ == 3
        return
    with pytest.raises(ValueError, match=message):
        from_dict(data)


# What a model need not have, or those stored before it was there.
ABSENT = ("grades_", "missing", "_adds_to_scores", "validation_history_")


@pytest.mark.parametrize("R", [MPBoost, RegressionRanker])
def test_missing_keys(stored, R):
    optional = set()
    of_trees = {"cover", "n_samples"} if R is RegressionRanker else {"n_samples"}
    for path in ([], ["attributes"], ["rounds", 1, 0]):
        at = stored[R]
        for key in path:
            at = at[key]
        for key in at:
            data = copy.deepcopy(stored[R])
            inside = data
            for step in path:
                inside = inside[step]
            del inside[key]
            if key in {*ABSENT, *of_trees}:
                optional.add(key)
                from_dict(data)
                continue
            with pytest.raises(ValueError, match=f"has no key '{key}'|\"{key}\" must|{key}: "):
                from_dict(data)
    assert optional == {*ABSENT, *of_trees}


def tree(feature, left):
    n = len(feature)
    return {
        "coefficient": 1.0,
        "feature": feature,
        "bin": [0] * n,
        "missing_right": [False] * n,
        "left": left,
        "gain": [0.0] * n,
        "value": [float(i) for i in range(n)],
    }


@pytest.mark.parametrize(
    ("feature", "left", "message"),
    [
        ([-1], [0], None),
        ([0, -1, -1], [1, 0, 0], None),
        ([0, -1, 0, -1, -1], [1, 0, 3, 0, 0], None),
        ([0, 0, -1, -1, -1], [1, 3, 0, 0, 0], None),
        ([0, 0, -1, -1, -1], [3, 1, 0, 0, 0], "greater than the number of the node"),
        ([0, -1, -1, 0, -1], [1, 0, 0, 3, 0], "greater than the number of the node"),
        ([-1, 0, -1, 0, -1], [0, 3, 0, 1, 0], "greater than the number of the node"),
        ([0, 0, -1, -1, -1], [1, 1, 0, 0, 0], "each odd number once"),
        ([0, 0, -1, -1, -1], [1, 2, 0, 0, 0], "each odd number once"),
        ([0, -1, -1], [1, 0, 1], "left must be 0 at the leaves"),
        ([0, -1], [1, 0], "-1 at one node more"),
        ([], [], "-1 at one node more"),
    ],
)
def test_only_trees_are_trees(stored, feature, left, message):
    data = change(stored[RegressionRanker], ["rounds", 1], [tree(feature, left)])
    if message is None:
        assert np.isfinite(from_dict(data).predict(np.zeros((2, 3)))).all()
        return
    with pytest.raises(ValueError, match=message):
        from_dict(data)


def paths(data, above=()):
    """Paths to all values."""
    keys = data if isinstance(data, dict) else range(len(data))
    for key in keys:
        yield (*above, key)
        if isinstance(data[key], dict | list):
            yield from paths(data[key], (*above, key))


numbers = st.sampled_from(
    [0, 1, -1, 2, 3, 5, 64, 2**31, 2**53, -(2**63), HUGE, 0.0, -0.0, 0.5, 1e308, -1e308]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    st.integers(-9, 9),
    st.floats(),
    st.sampled_from(["", "inf", "nan", "1", "ndcg@3", "MPBoost", "grade", "ordinal"]),
    st.text(max_size=3),
)
SAME_TYPE = {
    bool: st.booleans(),
    int: st.integers(-2, 12),
    float: st.floats(-10, 10) | st.floats(),
    str: st.sampled_from([*scoring.RANKERS, "ndcg", "grade", "linear", "paper", "exact", "inf"]),
}
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def mutations(draw, data):
    """A model in which something was changed, a few times."""
    data = copy.deepcopy(data)
    for _ in range(draw(st.integers(1, 3))):
        *above, key = draw(st.sampled_from(list(paths(data))))
        at = data
        for step in above:
            at = at[step]
        kind = draw(
            st.sampled_from(["same type", "same type", "any type", "delete", "swap", "add"])
        )
        if kind == "same type" and type(at[key]) in SAME_TYPE:
            at[key] = draw(SAME_TYPE[type(at[key])])
        elif kind in ("same type", "any type"):
            at[key] = draw(junk)
        elif kind == "delete":
            del at[key]
        elif kind == "swap":
            other = draw(st.sampled_from(list(at) if isinstance(at, dict) else range(len(at))))
            at[key], at[other] = at[other], at[key]
        elif isinstance(at, dict):
            at[draw(st.text(max_size=3))] = draw(junk)
        else:
            at.insert(key, draw(st.sampled_from([at[key], None]) | junk))
        if not data:
            break
    return data


ROWS = np.array([[0.0, 1.0, np.nan], [-1e300, 1e300, 0.3], [np.nan] * 3, [0.5, -0.0, 2.0]])


@examples(100)
@given(draws=st.data())
@pytest.mark.parametrize("R", [MPBoost, RegressionRanker, McRank, QuadraticBoosting])
def test_mutations(stored, R, draws):
    """An error that says where, or a ranker that predicts."""
    data = draws.draw(mutations(stored[R]))
    try:
        ranker = from_dict(data)
    except ValueError:
        return
    X = ROWS[:, : ranker.n_features_in_]
    if X.shape[1] < ranker.n_features_in_:
        X = np.zeros((2, ranker.n_features_in_))
    if hasattr(ranker, "feature_names_in_"):
        del ranker.feature_names_in_
    assert np.isfinite(ranker.predict(X)).all()
    assert len(list(ranker.staged_predict(X))) == ranker.n_iter_
    assert np.isfinite(ranker.feature_importances_).all()
    assert to_dict(ranker)["rounds"] == json.loads(json.dumps(data["rounds"]))


# --- RankLib -------------------------------------------------------------------------------------


ADDITIVE = [R for R in RANKERS if R is not McRank]
each_additive = pytest.mark.parametrize("R", ADDITIVE, ids=lambda R: R.__name__)


RANKLIB_VARIANTS = {
    "default": {},
    "stopped": STOPPING,
    "bins": {"max_bins": None},
    "symmetric": VARIANTS["symmetric"],
}


@pytest.mark.parametrize(
    ("R", "params"),
    [
        pytest.param(R, params, id=f"{R.__name__}-{name}")
        for R in ADDITIVE
        for name, params in RANKLIB_VARIANTS.items()
        if has(R, params) or name != "symmetric"
    ],
)
def test_ranklib_scores(R, params):
    X, y, groups = make_data()
    X = np.nan_to_num(X).astype(np.float32)
    ranker = make(R, **params).fit(X, y, groups)
    scores = ranker.predict(X)
    assert len(np.unique(scores)) > 5
    assert_allclose(ranklib_scores(to_ranklib_xml(ranker), X), scores, rtol=1e-12, atol=1e-12)
    ids = [7, 3, 2**31 - 1, 1, 12, 5]
    text = to_ranklib_xml(ranker, feature_ids=ids)
    assert_allclose(ranklib_scores(text, X, ids), scores, rtol=1e-12, atol=1e-12)


@examples(20)
@given(problem=ranking_problems(missing=False))
@pytest.mark.parametrize("R", [RankBoost, GBRank])
def test_ranklib_on_awkward_problems(R, problem):
    X, y, groups, query_weight = problem
    ranker = make(R, min_samples_leaf=1, max_bins=None).fit(X, y, groups, query_weight)
    scores = ranklib_scores(to_ranklib_xml(ranker), X)
    assert_allclose(scores, ranker.predict(X), rtol=1e-12, atol=1e-12)


NEAR = np.float32(1) + np.float32(2**-23) * np.arange(4, dtype=np.float32)


@pytest.mark.parametrize("scale", [1, -1, 1e-45, 3e38, -3e38, 2.0**-149, 0])
def test_thresholds_are_rounded_down(scale):
    """Neighbours of 32 bits have no third number between them."""
    with np.errstate(over="ignore"):
        x = np.unique(np.concatenate([NEAR * np.float32(scale), np.float32([0, 1, -1, 1e-45])]))
    X = x[:, None]
    ranker = RankBoost(n_estimators=20, max_bins=None).fit(X, np.arange(len(x)), np.zeros(len(x)))
    assert len(ranker.shape_function(0)[0]) == len(x) - 1
    assert_allclose(ranklib_scores(to_ranklib_xml(ranker), X), ranker.predict(X), rtol=1e-12)


@pytest.mark.parametrize("low", [-1e300, 0.0, 1e300])
def test_thresholds_beyond_32_bits(low):
    """All numbers of 32 bits are on the same side."""
    X = np.array([[low], [low + 1e299]])
    ranker = RankBoost(n_estimators=1).fit(X, [0, 1], [0, 0])
    rows = np.array([[-3.4e38], [0], [3.4e38]], dtype=np.float32)
    scores = ranker.predict(rows)
    if low:  # both are infinite in 32 bits
        with pytest.warns(UserWarning, match="are the same number in 32 bits"):
            text = to_ranklib_xml(ranker)
    else:
        text = to_ranklib_xml(ranker)
    assert_allclose(ranklib_scores(text, rows), scores, rtol=1e-12)


def test_missing_values_in_ranklib():
    X = np.array([[np.nan], [1.0], [1.0]])
    ranker = RankBoost(n_estimators=1).fit(X, [1, 0, 0], np.zeros(3))
    with pytest.warns(UserWarning, match="RankLib takes a missing value for 0"):
        text = to_ranklib_xml(ranker)
    assert_array_equal(ranklib_scores(text, X[1:]), ranker.predict(X[1:]))
    X, y, groups = make_data()
    ranker = make(RegressionRanker).fit(X, y, groups)
    complete = ~np.isnan(X).any(axis=1)
    X = X[complete].astype(np.float32)
    with pytest.warns(UserWarning, match="missing values in training: 0, 1, 2, 3, 4, 5"):
        text = to_ranklib_xml(ranker)
    assert_allclose(ranklib_scores(text, X), ranker.predict(X), rtol=1e-12)


def test_ranklib_text():
    X = [[0.0], [1.0]]
    ranker = RankBoost(n_estimators=1).fit(X, [1, 0], [0, 0])
    lines = to_ranklib_xml(ranker).split("\n")
    assert lines[:3] == ["## LambdaMART", "", "<ensemble>"]
    assert lines[-2:] == ["</ensemble>", ""]
    # RankLib's readers drop tabs before a line, not spaces, and nothing behind it.
    assert all(line.lstrip("\t") == line.strip() for line in lines)
    nothing = RankBoost(n_estimators=1).fit(np.ones((2, 1)), [1, 0], [0, 0])
    assert ranklib_scores(to_ranklib_xml(nothing), np.ones((1, 1))) == [0]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "one integer for each of the 6"),
        ([1, 2, 3, 4, 5, 6.0], "one integer for each of the 6"),
        (list("abcdef"), "one integer for each of the 6"),
        ([0, 1, 2, 3, 4, 5], "from 1 to 2147483647"),
        ([1, 2, 3, 4, 5, 5], "all different"),
        ([1, 2, 3, 4, 5, 2**31], "from 1 to 2147483647"),
    ],
)
def test_bad_feature_ids(ids, message):
    X, y, groups = make_data()
    ranker = MPBoost(n_estimators=2).fit(X, y, groups)
    with pytest.raises(ValueError, match=message):
        to_ranklib_xml(ranker, feature_ids=ids)


def test_what_ranklib_does_not_know():
    X, y, groups = make_data()
    with pytest.raises(TypeError, match="the scores of McRank are none"):
        to_ranklib_xml(make(McRank).fit(X, y, groups))
    regressors = QBRank(n_estimators=2, estimator=DecisionTreeRegressor()).fit(X, y, groups)
    with pytest.raises(ValueError, match="`estimator` is DecisionTreeRegressor"):
        to_ranklib_xml(regressors)
    far = RegressionRanker(gain="linear", n_estimators=1).fit(X, y * 1e60, groups)
    with pytest.raises(ValueError, match="beyond the range of 32 bits"):
        to_ranklib_xml(far)


# --- Pickles -------------------------------------------------------------------------------------

WRITE = """
import json, pickle, sys
import numpy as np
import sklearn_ltr
for name, path in zip(sys.argv[2::2], sys.argv[3::2]):
    X, y, groups = np.load(sys.argv[1]).values()
    R = getattr(sklearn_ltr, name)
    ranker = R(n_estimators=5, random_state=0).fit(X, y, groups)
    with open(path, "wb") as file:
        pickle.dump((ranker, ranker.predict(X)), file)
"""


def test_pickles_of_another_process(tmp_path):
    X, y, groups = make_data()
    np.savez(tmp_path / "data.npz", X=X, y=y, groups=groups)
    names = {R.__name__: tmp_path / f"{R.__name__}.pickle" for R in RANKERS}
    arguments = [str(x) for pair in names.items() for x in pair]
    command = [sys.executable, "-W", "error", "-c", WRITE, str(tmp_path / "data.npz"), *arguments]
    subprocess.run(command, check=True, timeout=300)
    for name, path in names.items():
        ranker, scores = pickle.loads(path.read_bytes())
        assert type(ranker).__name__ == name
        assert_array_equal(ranker.predict(X), scores)
        again = type(ranker)(n_estimators=5, random_state=0).fit(X, y, groups)
        assert_array_equal(again.predict(X), scores)
        if isinstance(ranker, StumpBoosting):
            assert_array_equal(np.asarray(sum(ranker.contributions(X).T)), scores)
