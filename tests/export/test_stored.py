# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models that earlier versions have stored, and what a later version may add."""

import copy
import inspect
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sklearn_ltr
from sklearn_ltr import McRank, losses
from sklearn_ltr.export import from_dict, plain_fields, scoring, to_dict
from sklearn_ltr.losses import SquaredHinge
from sklearn_ltr.weak import schema
from sklearn_ltr.weak.tree import Tree

# A folder for each form that files have had; `write.py` beside them wrote them.
STORED = Path(__file__).parent / "stored"
FILES = sorted(STORED.rglob("*.json"))


def each(files):
    return pytest.mark.parametrize(
        "path", files, ids=lambda path: f"{path.parent.name}-{path.stem}"
    )


each_file = each([path for path in FILES if path.stem in scoring.RANKERS])
each_linear_file = each([path for path in FILES if path.stem in scoring.LINEAR])


def read(path):
    stored = json.loads(path.read_text(encoding="utf-8"))
    return stored["model"], np.array(stored["X"], dtype=np.float64), np.array(stored["scores"])


def assert_scores(ranker, X, scores):
    if isinstance(ranker, McRank):  # the exponential function is the processor's
        assert_allclose(ranker.predict(X), scores, rtol=1e-13)
    else:
        assert_array_equal(ranker.predict(X), scores)


def test_every_class_is_stored():
    assert {path.stem for path in FILES} == {*scoring.RANKERS, *scoring.LINEAR}


@each_file
def test_stored_models_load(path):
    model, X, scores = read(path)
    ranker = from_dict(copy.deepcopy(model))
    assert np.isnan(X).any()
    assert len(np.unique(scores)) > 5
    assert_scores(ranker, X, scores)
    again = json.loads(json.dumps(to_dict(ranker), allow_nan=False))
    again["sklearn_ltr_version"] = model["sklearn_ltr_version"]
    assert_scores(from_dict(again), X, scores)
    assert_nothing_is_lost(model, again)
    # A warm start goes on.
    rng = np.random.default_rng(0)
    ranker.set_params(n_estimators=ranker.n_iter_ + 2, early_stopping=False)
    ranker.fit(X, rng.integers(0, 4, len(X)), np.repeat(np.arange(len(X) // 6), 6))
    assert len(ranker.train_loss_) == ranker.n_iter_ > len(model["rounds"])


@each_linear_file
def test_stored_linear_functions_and_nets_load(path):
    model, X, scores = read(path)
    ranker = from_dict(copy.deepcopy(model))
    assert len(np.unique(scores)) > 2
    if hasattr(ranker, "coefs_"):  # the exponential function is the processor's
        assert_allclose(ranker.predict(X), scores, rtol=1e-13)
    else:
        assert_array_equal(ranker.predict(X), scores)
    again = json.loads(json.dumps(to_dict(ranker), allow_nan=False))
    again["sklearn_ltr_version"] = model["sklearn_ltr_version"]
    assert_nothing_is_lost(model, again)


@each_linear_file
def test_every_parameter_of_a_linear_function_may_have_come_later(path):
    model, X, _ = read(path)
    defaults = scoring.LINEAR[model["class"]]().get_params(deep=False)
    for name in model["params"]:
        data = copy.deepcopy(model)
        del data["params"][name]
        ranker = from_dict(data)
        assert getattr(ranker, name) == defaults[name]
        assert np.isfinite(ranker.predict(X)).all()


def assert_nothing_is_lost(model, again):
    """What was stored is there when it is stored again, beside what came later."""
    for part, value in model.items():
        if isinstance(value, dict):
            assert {name: again[part][name] for name in value} == as_loaded(value)
        else:
            assert again[part] == value


def as_loaded(params):
    """Parameters as stored, with those that losses among them have had since, by default."""
    return {name: loss_as_loaded(value) for name, value in params.items()}


def loss_as_loaded(value):
    if not (isinstance(value, dict) and value.get("class") in losses.__all__):
        return value
    by_default = getattr(losses, value["class"])().get_params()
    return value | {"params": by_default | value["params"]}


def with_parameter(cls, name, default):
    """A class with one more parameter, as a later version may have it."""

    class Later(cls):
        def __init__(self, *args, **params):
            setattr(self, name, params.pop(name, default))
            super().__init__(*args, **params)

        __init__.__signature__ = signature_with(cls, name, default)

    Later.__name__ = cls.__name__
    Later.__module__ = cls.__module__
    return Later


def signature_with(cls, name, default):
    signature = inspect.signature(cls.__init__)
    added = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
    return signature.replace(parameters=[*signature.parameters.values(), added])


@each_file
def test_a_parameter_that_came_later_is_as_by_default(path, monkeypatch):
    model, X, scores = read(path)
    Later = with_parameter(scoring.RANKERS[model["class"]], "later", 0.25)
    monkeypatch.setitem(scoring.RANKERS, model["class"], Later)
    ranker = from_dict(model)
    assert ranker.later == 0.25
    assert_scores(ranker, X, scores)
    since = {
        name: parameter.default
        for name, parameter in inspect.signature(
            getattr(sklearn_ltr, model["class"])
        ).parameters.items()
        if name not in model["params"]
    }
    assert to_dict(ranker)["params"] == as_loaded(model["params"]) | since | {"later": 0.25}


@each_file
def test_every_parameter_may_have_come_later(path):
    """Each takes its default, if the others let it."""
    model, X, _ = read(path)
    defaults = scoring.RANKERS[model["class"]]().get_params(deep=False)
    for name in model["params"]:
        data = copy.deepcopy(model)
        del data["params"][name]
        if (model["class"], name) == ("McRank", "method"):  # classes cannot be monotonic
            with pytest.raises(ValueError, match='`monotonic_cst` needs method="ordinal"'):
                from_dict(data)
            continue
        ranker = from_dict(data)
        assert getattr(ranker, name) == defaults[name]
        assert np.isfinite(ranker.predict(X)).all()


def test_a_parameter_of_a_loss_that_came_later(monkeypatch):
    model, X, scores = read(next(STORED.rglob("QuadraticBoosting.json")))
    Later = with_parameter(SquaredHinge, "later", 3)
    monkeypatch.setitem(plain_fields.LOSSES, "SquaredHinge", Later)
    ranker = from_dict(model)
    assert (ranker.loss.later, ranker.loss.margin) == (3, 0.5)
    assert_scores(ranker, X, scores)


@each_file
def test_an_attribute_that_came_later_is_absent(path, monkeypatch):
    model, X, scores = read(path)
    monkeypatch.setitem(plain_fields.ATTRIBUTES, "later_", schema.integer)
    ranker = from_dict(model)
    assert not hasattr(ranker, "later_")
    assert_scores(ranker, X, scores)
    ranker.later_ = 3
    assert from_dict(to_dict(ranker)).later_ == 3


@each_file
def test_a_field_of_weak_rankers_that_came_later(path, monkeypatch):
    model, X, scores = read(path)
    R = scoring.RANKERS[model["class"]]

    of_nodes = R._weak is Tree

    class Later(R._weak):
        def __init__(self, *args, later=None, **fields):
            super().__init__(*args, **fields)
            default = np.full(len(self.feature), 7.0) if of_nodes else 7.0
            self.later = default if later is None else later

        __init__.__signature__ = signature_with(R._weak, "later", None)

        @classmethod
        def _kinds(cls, bins):
            kind = schema.floats if of_nodes else partial(schema.number, largest=10)
            return super()._kinds(bins) | {"later": kind}

    monkeypatch.setattr(R, "_weak", Later)
    ranker = from_dict(model)
    assert all(np.all(weak.later == 7.0) for _, weak in ranker.model_.terms)
    assert_scores(ranker, X, scores)
    ranker.model_.terms[-1][1].later -= 2.0
    again = from_dict(to_dict(ranker))
    assert np.all(again.model_.terms[-1][1].later == 5.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data["params"].update(later=1), "params has an unknown key 'later'"),
        (lambda data: data["params"].update(step="later"), "`step` must be one of"),
        (
            lambda data: data["attributes"].update(later_=1),
            "attributes has an unknown key",
        ),
        (lambda data: data["rounds"][0][0].update(later=1), r"\[0\] has an unknown key 'later'"),
        (lambda data: data.update(later=1), "The model has an unknown key 'later'"),
        (lambda data: data.update({"class": "Later"}), "class must be one of"),
        (lambda data: data.update(format_version=2), "reads 1 only"),
    ],
)
def test_what_a_later_version_wrote_is_refused_by_name(change, message):
    model, _, _ = read(next(STORED.rglob("FRank.json")))
    change(model)
    with pytest.raises(ValueError, match=message) as same:
        from_dict(model)
    assert "was written by" not in str(same.value)  # by this version, so it is malformed
    model["sklearn_ltr_version"] = "7.8"
    here = f"written by sklearn_ltr 7.8, and this is sklearn_ltr {sklearn_ltr.__version__}"
    with pytest.raises(ValueError, match=message) as other:
        from_dict(model)
    assert here in str(other.value)
