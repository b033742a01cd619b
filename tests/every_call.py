# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every public function and method that takes rows, and arguments to call it with."""

import inspect
from functools import cache

import numpy as np
import pytest
from every_ranker import RANKERS, has, make

from sklearn_ltr import MPBoost, labels, metrics, model_selection, plotting, preprocessing, scorers

PAIRS_OF_ROWS = np.array([[1, 0], [2, 1], [5, 4], [9, 8]])
ALL_SEEN = np.ones(12)


def make_rows():
    """Three queries of four rows, each with all grades."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(12, 3)), 3)
    return X, np.tile([0.0, 1.0, 2.0, 1.0], 3), np.repeat([7, 3, 5], 4)


@cache
def fitted(R):
    X, y, groups = make_rows()
    return make(R).fit(X, y, groups=groups)


def good_arguments():
    """A value for every argument, of the names that they have throughout the package."""
    X, y, groups = make_rows()
    ranker, score = fitted(MPBoost), X[:, 0]
    return {
        **dict.fromkeys(("X", "X_val"), X),
        **dict.fromkeys(("y", "y_true", "y_val"), y),
        **dict.fromkeys(("groups", "groups_val"), groups),
        **dict.fromkeys(("y_score", "y_score_first", "y_score_second", "scores"), score),
        **dict.fromkeys(("estimator", "first", "second", "ranker"), ranker),
        **dict.fromkeys(("query_weight", "sample_weight"), np.ones(12)),
        **dict.fromkeys(("init_score", "init_score_val"), np.linspace(0, 1, 12)),
        **dict.fromkeys(("propensity", "propensity_val"), ALL_SEEN),
        "arrays": (X, y),
        "rankers": {"a": ranker, "b": -score},
        "preferences": PAIRS_OF_ROWS,
        **dict.fromkeys(("preference_weight", "preference_margin"), np.ones(len(PAIRS_OF_ROWS))),
        "k": 2,
        "max_grade": 2,
        "train_sizes": [1],
        "cv": 3,
    }


# Arguments that an argument needs beside it, or that cannot be where it is.
WITH = {
    "X_val": ("y_val", "groups_val"),
    "y_val": ("X_val", "groups_val"),
    "groups_val": ("X_val", "y_val"),
    "propensity_val": ("X_val", "y_val", "groups_val"),
    **dict.fromkeys(("preference_weight", "preference_margin"), ("preferences",)),
    "init_score_val": ("init_score", "X_val", "y_val", "groups_val"),
}
WITHOUT = dict.fromkeys(("preferences", "preference_weight", "preference_margin"), ("y",))

# What some calls are not asked without, though it has a default.
ALWAYS = ("X", "y", "groups", "max_grade", "train_sizes", "cv")


# BM25Features takes texts, and neither query ids nor anything else of one entry a row.
TRANSFORMERS = [
    getattr(preprocessing, name) for name in preprocessing.__all__ if name != "BM25Features"
]


class Call:
    """A public function, with what it takes.

    Parameters
    ----------
    name : str
    parameters : mapping
    function : callable
    """

    def __init__(self, name, parameters, function):
        self.name, self.parameters, self.function = name, parameters, function

    def __repr__(self):
        return self.name

    def __call__(self, **changed):
        """Call it with good arguments but for those that are changed."""
        known = good_arguments()
        names = [
            name
            for name, parameter in self.parameters.items()
            if name in (*changed, *(other for change in changed for other in WITH.get(change, ())))
            or (
                name not in [other for change in changed for other in WITHOUT.get(change, ())]
                and (
                    name in ALWAYS
                    or parameter.kind is parameter.VAR_POSITIONAL
                    or (
                        parameter.default is parameter.empty
                        and parameter.kind is not parameter.VAR_KEYWORD
                    )
                )
            )
        ]
        arguments = {name: changed[name] if name in changed else known[name] for name in names}
        result = self.function(*arguments.pop("arrays", ()), **arguments)
        return list(result) if inspect.isgenerator(result) else result


def _of(function, name, bound=None):
    parameters = dict(inspect.signature(function).parameters)
    if bound is not None:
        parameters.pop("self", None)
    return Call(name, parameters, bound or function)


def _methods(cls):
    """Public methods of a class of this package, and of its bases in it."""
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_") and inspect.unwrap(method).__module__.startswith("sklearn_ltr"):
            yield name, method


def find_calls():
    """All of them."""
    for R in RANKERS:
        for name, method in _methods(R):

            def of_ranker(*args, R=R, name=name, **kwargs):
                model = make(R) if name == "fit" else fitted(R)
                return getattr(model, name)(*args, **kwargs)

            call = _of(method, f"{R.__name__}.{name}", of_ranker)
            if R._no_propensity is not None:  # which tests/contract/test_propensity.py tests
                call.parameters.pop("propensity", None)
            yield call
    for module in (metrics, model_selection, scorers):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("_") and function.__module__.startswith(module.__name__):
                call = _of(function, name)
                if name == "make_ranking_scorer":
                    del call.parameters["propensity"]  # which is a flag
                yield call
    yield _of(labels.preference_pairs, "preference_pairs")
    yield _of(scorers.RankingScorer.__call__, "scorer", scorers.get_scorer("ndcg@10"))

    def by_clicks(*args, propensity=ALL_SEEN, **kwargs):
        scorer = scorers.make_ranking_scorer("dcg@10", propensity=True)
        return scorer(*args, propensity=propensity, **kwargs)

    yield _of(scorers.PropensityScorer.__call__, "scorer_of_clicks", by_clicks)
    for cls in TRANSFORMERS:
        for name, method in _methods(cls):

            def of_transformer(*args, cls=cls, name=name, **kwargs):
                transformer = cls() if name.startswith("fit") else cls().fit(make_rows()[0])
                return getattr(transformer, name)(*args, **kwargs)

            call = _of(method, f"{cls.__name__}.{name}", of_transformer)
            call.parameters.pop("y", None)  # which is ignored
            yield call
    for cls in (getattr(plotting, name) for name in plotting.__all__):
        for name, method in inspect.getmembers(cls, inspect.ismethod):
            yield _of(method, f"{cls.__name__}.{name}")


CALLS = list(find_calls())


def calls_with(*names):
    """Parametrise by every call that takes one of some arguments, and the argument."""
    found = [
        pytest.param(call, name, id=f"{call}-{name}")
        for call in CALLS
        for name in names
        if name in call.parameters
    ]
    return pytest.mark.parametrize(("call", "name"), found)


__all__ = ["CALLS", "Call", "calls_with", "fitted", "good_arguments", "has", "make_rows"]
