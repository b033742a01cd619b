# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scalars of NumPy are scalars: in every parameter, switch and argument, found by introspection."""

import importlib
import inspect
import json
import pkgutil
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from every_ranker import RANKERS, has, make, make_data, parameters, state
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import sklearn_ltr
from sklearn_ltr import MPBoost, QuadraticBoosting, RankSVM, losses
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.export import scoring, to_dict
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.metrics.registry import METRICS
from sklearn_ltr.preprocessing import BM25Features, QueryScaler

INTEGERS = (np.int64, np.int32, np.uint8)

# Of parameters whose default is None or too slow, and of those that some functions require.
VALUES = {
    "n_estimators": 4,
    "max_iter": 5,
    "n_iter_no_change": 2,
    "n_jobs": 2,
    "random_state": 3,
    "max_depth": 2,
    "max_bins": 7,
    "scoring": "ndcg@3",
    "hidden_layer_sizes": 3,
    "margin": 0.5,
    "k": 3,
    "max_grade": 4,
    "n_resamples": 255,
    "n_repeats": 2,
    "verbose": 1,
}
# What makes a parameter count.
STOPPING = ("scoring", "validation_fraction", "n_iter_no_change", "tol")
TOGETHER = {name: {"early_stopping": True} for name in STOPPING}
QUICK = {"n_estimators": 4, "max_iter": 5}


def as_numpy(value):
    """Pairs of a NumPy scalar and Python's of the same value."""
    if isinstance(value, bool):
        return [(np.bool_(value), value)]
    if isinstance(value, int):
        types = [t for t in INTEGERS if np.iinfo(t).min <= value <= np.iinfo(t).max]
        return [(t(value), value) for t in types]
    if isinstance(value, float):
        return [(t(value), float(t(value))) for t in (np.float64, np.float32)]
    return [(np.str_(value), value)] if isinstance(value, str) else []


def scalar_parameters(thing, values=VALUES):
    """Name, NumPy's and Python's value of each parameter that takes a scalar."""
    for name, parameter in inspect.signature(thing).parameters.items():
        value = values.get(name, parameter.default)
        for of_numpy, of_python in as_numpy(value):
            yield name, of_numpy, of_python


def cases(things, name_of, slow=()):
    """Each parameter that takes a scalar; of the types in `slow` for the slow tests only."""
    for thing in things:
        for name, of_numpy, of_python in scalar_parameters(thing):
            label = f"{name_of(thing)}-{name}-{type(of_numpy).__name__}"
            marks = pytest.mark.slow if type(of_numpy) in slow else ()
            yield pytest.param(thing, name, of_numpy, of_python, id=label, marks=marks)


def assert_python(value):
    assert type(value) in (bool, int, float, str)


def fitted(R, X, y, groups, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make(R, **params).fit(X, y, groups)


@pytest.mark.parametrize(
    ("R", "name", "of_numpy", "of_python"),
    # Those of 64 bits are most like Python's own.
    list(cases(RANKERS, lambda R: R.__name__, slow=(np.int64, np.float64, np.str_))),
)
def test_parameters_of_rankers(R, name, of_numpy, of_python, capsys):
    X, y, groups = make_data(R, n_queries=10)
    params = QUICK | TOGETHER.get(name, {})
    model = fitted(R, X, y, groups, **params | {name: of_numpy})
    printed = capsys.readouterr().out
    expected = fitted(R, X, y, groups, **params | {name: of_python})
    assert capsys.readouterr().out == printed
    found, wanted = state(model), state(expected)
    assert found.keys() == wanted.keys()
    for key in found:
        assert_array_equal(found[key], wanted[key], err_msg=key)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert repr(model) == repr(expected)
    assert_python(model.get_params()[name])
    assert parameters(clone(model)) == parameters(expected)
    later = make(R).set_params(**{name: of_numpy})
    assert_python(later.get_params()[name])
    if R in scoring.RANKERS.values():
        assert json.dumps(to_dict(model)) == json.dumps(to_dict(expected))


@pytest.mark.parametrize("name", ["n_estimators", "learning_rate", "verbose", "tol", "max_iter"])
def test_arrays_without_dimensions_are_no_scalars(name):
    for R in RANKERS:
        if has(R, name) and name != "verbose":
            X, y, groups = make_data(R, n_queries=10)
            with pytest.raises((TypeError, ValueError), match=name):
                make(R, **QUICK | {name: np.array(2)}).fit(X, y, groups)


LOSSES = [getattr(losses, name) for name in losses.__all__]


@pytest.mark.parametrize(
    ("Loss", "name", "of_numpy", "of_python"), list(cases(LOSSES, lambda Loss: Loss.__name__))
)
def test_parameters_of_losses(Loss, name, of_numpy, of_python):
    X, y, groups = make_data(QuadraticBoosting, n_queries=10)
    loss, expected = Loss(**{name: of_numpy}), Loss(**{name: of_python})
    assert repr(loss) == repr(expected)
    models = [make(QuadraticBoosting, loss=x, n_estimators=3) for x in (loss, expected)]
    one, two = (to_dict(model.fit(X, y, groups)) for model in models)
    assert json.dumps(one) == json.dumps(two)


@pytest.mark.parametrize(
    ("T", "name", "of_numpy", "of_python"),
    list(cases([QueryScaler, BM25Features], lambda T: T.__name__)),
)
def test_parameters_of_transformers(T, name, of_numpy, of_python):
    X = np.arange(12.0).reshape(6, 2) ** 2
    more = {"groups": [0, 0, 1, 1, 1, 1]}
    if T is BM25Features:
        X, more = (
            np.array(
                [["one two", "two six one"], ["two", "one"], ["one", "six six"]], dtype=object
            ),
            {},
        )
    one, two = (T(**{name: value}) for value in (of_numpy, of_python))
    assert_alike(one.fit(X).transform(X, **more), two.fit(X).transform(X, **more))
    assert repr(one) == repr(two)


Y_TRUE, Y_SCORE, GROUPS = [2, 1, 0, 0, 0, 1], [0.1, 0.5, 0.3, 0.2, 0.2, 0.2], [0, 0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    ("metric", "name", "of_numpy", "of_python"),
    list(cases(sorted(set(METRICS.values()), key=lambda m: m.label), lambda m: m.__name__)),
)
def test_switches_of_metrics(metric, name, of_numpy, of_python):
    required = {
        n: VALUES[n] for n in ("k", "max_grade") if n in inspect.signature(metric).parameters
    }
    one, two = (metric(**required | {name: value}) for value in (of_numpy, of_python))
    assert one == two
    assert hash(one) == hash(two)
    assert repr(one) == repr(two)
    assert one(Y_TRUE, Y_SCORE, GROUPS) == two(Y_TRUE, Y_SCORE, GROUPS)
    if name not in ("k", "relevant_from"):
        key = next(key for key, value in METRICS.items() if value is metric)
        at = "@3" if metric.label == "p" else ""
        switches = required.keys() & {"max_grade"}
        switches = {n: required[n] for n in switches} | {name: of_numpy}
        assert get_metric(np.str_(key + at), **switches) == get_metric(
            key + at, **switches | {name: of_python}
        )


@pytest.mark.parametrize("undefined", [0, 1])
def test_undefined_as_a_number_of_numpy(undefined):
    for kind in INTEGERS:
        metric = get_metric("ndcg", undefined=kind(undefined))
        assert repr(metric) == repr(get_metric("ndcg", undefined=undefined))
        assert metric([0, 0], [1, 2]) == undefined


# --- functions -----------------------------------------------------------------------------------

X, Y, IDS = make_ranking(8, 6, 3, n_informative=2, n_redundant=0, random_state=0)
METRIC = {"y_true": Y_TRUE, "y_score": Y_SCORE, "groups": GROUPS}
LETOR = "".join(f"{i % 3} qid:{i // 3} 1:{i} 2:1\n" for i in range(9))

# What each public function is called with; what takes no scalars is None.
CALLS = {
    "dump_letor_file": None,
    "iter_letor_file": {"path": "file", "n_features": 255, "chunk_rows": 3, "sparse": False},
    "letor_to_memmap": {"paths": "file", "folder": "", "n_features": 255},
    "load_letor_file": {"path": "file", "n_features": 255, "sparse": False},
    "load_letor_folds": {"folder": "", "n_features": 255, "sparse": True, "parts": "S{}"},
    "make_ranking": {"n_queries": 3, "n_docs": 5, "n_informative": 200, "n_features": 255},
    "make_cubic_ranking": {"n_queries": 3, "n_docs": 5, "n_features": 3},
    "to_dict": None,
    "from_dict": None,
    **dict.fromkeys(
        (
            "to_linear_json",
            "to_onnx",
            "to_ranklib_xml",
            "to_solr_json",
            "to_xgboost_json",
            "register_onnx_converters",
            "trees_to_frame",
        )
    ),
    "export_text": {"round": 2},
    "plot_tree": {"round": 2, "tree": 0},
    "get_metric": None,  # by its switches, above
    "make_ranking_scorer": None,
    "get_scorer": None,
    "rank_in_query": None,
    "average_precision_score": METRIC,
    "average_relevance_position": METRIC,
    "dcg_score": METRIC,
    "expected_reciprocal_rank_score": METRIC,
    "kendall_tau_distance": METRIC,
    "misordering_rate": METRIC,
    "ndcg_score": METRIC,
    "pair_precision_score": METRIC,
    "precision_at_k_score": METRIC,
    "reciprocal_rank_score": METRIC,
    "compare_rankers": {
        "rankers": {"a": X[:, 0], "b": X[:, 1]},
        "y": Y,
        "groups": IDS,
        "baseline": "a",
    },
    "learning_curve": {"estimator": RankSVM(), "X": X, "y": Y, "groups": IDS, "cv": 2},
    "permutation_importance": {"X": X, "y": Y, "groups": IDS},
    "consistent_probability": {"higher": [3.0, 2.0], "lower": [1.0, 0.0]},
    "simulate_clicks": {"y": Y, "groups": IDS, "scores": X[:, 0], "n_sessions": 9},
    "preferences_from_clicks": None,
    **{
        f"{kind}_interleaving": {
            "y_score_first": X[:, 0],
            "y_score_second": X[:, 1],
            "groups": IDS,
        }
        for kind in ("team_draft", "probabilistic")
    },
    "compare_interleaved": {
        "clicks": Y > 0,
        "credit": np.arange(len(Y)) % 2,
        "sessions": IDS,
    },
    "directed_distance": {"higher": [3.0, 2.0], "lower": [1.0, 0.0]},
    "preference_pairs": {"y": Y, "groups": IDS},
    "train_test_split_queries": {"groups": IDS, "test_size": 0.25},
}
# What an argument itself is tested with, where products of small integers would overflow.
LARGE = {
    "make_ranking": {"n_queries": 255, "n_docs": 127},
    "make_cubic_ranking": {"n_queries": 127},
}
REQUIRED = ("k", "max_grade", "random_state", "n_resamples", "n_repeats")


def public_functions():
    for info in pkgutil.iter_modules(sklearn_ltr.__path__, "sklearn_ltr."):
        module = importlib.import_module(info.name)
        for name in getattr(module, "__all__", ()):
            if inspect.isfunction(getattr(module, name)):
                yield getattr(module, name)


FUNCTIONS = {function.__name__: function for function in public_functions()}


def function_cases():
    for name, call in CALLS.items():
        for argument, of_numpy, of_python in (
            ()
            if call is None
            else scalar_parameters(FUNCTIONS[name], VALUES | call | LARGE.get(name, {}))
        ):
            label = f"{name}-{argument}-{type(of_numpy).__name__}"
            yield pytest.param(name, argument, of_numpy, of_python, id=label)


def test_every_function_is_called():
    assert CALLS.keys() == FUNCTIONS.keys()


def call(name, folder, **arguments):
    function = FUNCTIONS[name]
    names = inspect.signature(function).parameters
    given = {key: VALUES[key] for key in REQUIRED if key in names} | CALLS[name] | arguments
    for argument in given.keys() & {"path", "paths"}:
        given[argument] = folder / "S1.txt"
    if "folder" in given:
        given["folder"] = folder
    if name == "permutation_importance":
        given["estimator"] = RankSVM().fit(X, Y, IDS)
    if name in ("export_text", "plot_tree"):
        given["ranker"] = MPBoost(3).fit(X, Y, IDS)
    args = [X, Y] if name == "train_test_split_queries" else []
    result = function(*args, **given)
    if name == "plot_tree":
        plt.close(result.figure)
        return [text.get_text() for text in result.texts]
    return list(result) if inspect.isgenerator(result) else result


def assert_alike(one, two):
    assert type(one) is type(two)
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            assert_alike(one[key], two[key])
    elif isinstance(one, tuple | list):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            assert_alike(a, b)
    elif hasattr(one, "toarray"):
        assert_array_equal(one.toarray(), two.toarray())
    else:
        assert_array_equal(one, two)


@pytest.mark.parametrize(("name", "argument", "of_numpy", "of_python"), list(function_cases()))
def test_arguments_of_functions(name, argument, of_numpy, of_python, tmp_path):
    if argument in ("path", "paths", "folder"):
        return
    for part in range(1, 6):
        (tmp_path / f"S{part}.txt").write_text(LETOR.replace("qid:", f"qid:{part}"))
    one = call(name, tmp_path, **{argument: of_numpy})
    assert_alike(one, call(name, tmp_path, **{argument: of_python}))
