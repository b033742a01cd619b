# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every ranker says and does after a fit that did not end."""

import inspect
import pickle
import re

import numpy as np
import pytest
from every_ranker import RANKERS, assert_same, each_ranker, has, make, make_data
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sklearn_ltr import McRank
from sklearn_ltr.export import from_dict, scoring, to_dict

each_warm_ranker = pytest.mark.parametrize(
    "R", [R for R in RANKERS if has(R, "warm_start")], ids=lambda R: R.__name__
)
JUDGED = {"max_iter": 6, "solver": "adam", "n_estimators": 6}


# What a base class has, and what this ranker says why it has not.
REFUSED = {(McRank, "contributions"), (McRank, "expected_score_")}


class StopAtLine:
    """Where to put an interrupt: raised when the ranker has made a number of rounds."""

    def __init__(self, rounds):
        self.rounds = rounds

    def write(self, text):
        if text.startswith(f"[{self.rounds}/"):
            raise KeyboardInterrupt

    def flush(self):
        pass


def interrupted(R, after, X, y, groups, monkeypatch, **params):
    """A ranker whose fit was interrupted after some rounds, when it was to print one."""
    model = make(R, **JUDGED | {"verbose": 1} | params)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", StopAtLine(after))
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, groups)
    assert model.n_iter_ == after
    return model


def methods(R):
    """What a fitted ranker is asked for, by name: functions of the ranker and X."""
    found = {
        "predict": lambda model, X: model.predict(X),
        "staged_predict": lambda model, X: list(model.staged_predict(X)),
        "contributions": lambda model, X: model.contributions(X),
        "shape_function": lambda model, X: model.shape_function(0),
        "predict_grade_proba": lambda model, X: model.predict_grade_proba(X),
        "feature_importances_": lambda model, X: model.feature_importances_,
        "n_splits_": lambda model, X: model.n_splits_,
        "categories_": lambda model, X: [x is None for x in model.categories_],
        "expected_score_": lambda model, X: [model.expected_score_],
    }
    if R in scoring.RANKERS.values():
        found["to_dict"] = lambda model, X: to_dict(model)["rounds"]
    found = {name: f for name, f in found.items() if (R, name) not in REFUSED}
    return {name: f for name, f in found.items() if hasattr(R, name) or name == "to_dict"}


@each_ranker
def test_a_ranker_that_was_never_fitted(R):
    X, _, _ = make_data(R)
    for ask in methods(R).values():
        with pytest.raises(NotFittedError, match=f"This {R.__name__} is not fitted yet: call"):
            ask(make(R), X)


@each_ranker
def test_a_fit_that_failed(R):
    """There is a word on it, and how to go on, whatever the ranker leaves."""
    X, y, groups = make_data(R)
    model = make(R).fit(X, y, groups)
    with pytest.raises(ValueError, match="groups"):
        model.fit(X, y, groups[:-1])
    for ask in methods(R).values():
        with pytest.raises(NotFittedError) as caught:
            ask(model, X)
        assert f"This {R.__name__} is not fitted: its last `fit` was interrupted or failed." in str(
            caught.value
        )
        assert "Call `fit` again, which starts anew." in str(caught.value)
    assert_same(model.fit(X, y, groups), make(R).fit(X, y, groups), X)


# Six steps are few for some.
@pytest.mark.filterwarnings(
    "ignore:.* stopped after 6 planes:sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("R", [R for R in RANKERS if has(R, "verbose")], ids=lambda R: R.__name__)
def test_an_interrupt_without_warm_start(R, monkeypatch):
    X, y, groups = make_data(R)
    model = interrupted(R, 2, X, y, groups, monkeypatch)
    for ask in methods(R).values():
        with pytest.raises(NotFittedError) as caught:
            ask(model, X)
        text = str(caught.value)
        assert re.search(r"was interrupted or failed after 2 (rounds|iterations|steps)\. ", text)
        assert ("set_params(warm_start=True)" in text) == has(R, "warm_start")
        assert "starts anew" in text
    model.set_params(verbose=0)
    assert_same(model.fit(X, y, groups), make(R, **JUDGED).fit(X, y, groups), X)


def test_one_round_is_no_rounds(monkeypatch):
    R = RANKERS[0]
    X, y, groups = make_data(R)
    model = interrupted(R, 1, X, y, groups, monkeypatch)
    with pytest.raises(NotFittedError, match=r"failed after 1 round\. "):
        model.predict(X)


@each_warm_ranker
@pytest.mark.parametrize("stopping", [False, True], ids=["", "early_stopping"])
@pytest.mark.parametrize("from_start", [True, False], ids=["from start", "later"])
def test_a_warm_start_predicts_with_the_rounds_there_are(R, stopping, from_start, monkeypatch):
    """And goes on to what an uninterrupted fit finds, as the message says."""
    X, y, groups = make_data(R)
    params = {"early_stopping": stopping, "n_iter_no_change": 50, "validation_fraction": 0.3}
    n_rounds = 3
    model = interrupted(R, n_rounds, X, y, groups, monkeypatch, warm_start=from_start, **params)
    model.set_params(warm_start=True, verbose=0)
    expected = make(R, **JUDGED | params | {"n_estimators": n_rounds}).fit(X, y, groups)
    again = pickle.loads(pickle.dumps(model))
    for ask in methods(R).values():
        for one in (model, again):
            found, wanted = ask(one, X), ask(expected, X)
            if isinstance(wanted, list) and isinstance(wanted[0], list):  # of rounds
                assert found == wanted
            else:
                for a, b in zip(found, wanted, strict=True):
                    assert_array_equal(a, b)
    assert_same(model, expected, X)
    if R in scoring.RANKERS.values():
        assert_array_equal(from_dict(to_dict(model)).predict(X), expected.predict(X))
    whole = make(R, **JUDGED | params).fit(X, y, groups)
    assert whole.n_iter_ > n_rounds
    assert_same(model.fit(X, y, groups), whole, X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        clone(model).predict(X)


@each_warm_ranker
def test_a_second_interrupt_keeps_all_rounds(R, monkeypatch):
    X, y, groups = make_data(R)
    model = interrupted(R, 2, X, y, groups, monkeypatch, warm_start=True)
    first = model.predict(X)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", StopAtLine(4))
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y, groups)
    expected = make(R, n_estimators=4).fit(X, y, groups)
    assert_array_equal(model.predict(X), expected.predict(X))
    assert not np.array_equal(first, model.predict(X))


@each_ranker
def test_methods_are_those_there_are(R):
    """A new public method of a fitted ranker is asked here, too."""
    others = {"fit", "score"} | {name for name in dir(R) if name.endswith(("_request", "_params"))}
    others |= {"set_callbacks", "get_metadata_routing", "coef_", "bound_"}
    names = {name for name in dir(R) if not name.startswith("_")}
    public = {name for name in names if not is_data(R, name) and (R, name) not in REFUSED}
    assert public - others <= methods(R).keys()


def is_data(R, name):
    value = inspect.getattr_static(R, name)
    return not (callable(value) or isinstance(value, property))
