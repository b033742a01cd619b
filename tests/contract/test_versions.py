# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pickles of every public class say by which version they were written."""

import copy
import importlib
import inspect
import io
import pickle
import pkgutil
import warnings

import joblib
import pytest
from every_ranker import RANKERS, each_ranker, make, make_data
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

import sklearn_ltr
from sklearn_ltr import MPBoost, QuadraticBoosting, losses
from sklearn_ltr.exceptions import InconsistentVersionWarning
from sklearn_ltr.metrics import Metric, get_metric
from sklearn_ltr.metrics.registry import METRICS
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.scorers import RankingScorer, get_scorer
from sklearn_ltr.versions import KEY, Versioned

# What some need to be made.
ARGUMENTS = {"metric": "ndcg@3", "k": 3, "max_grade": 4, "n_classes": 3}


def public_classes():
    found = set(METRICS.values())
    for info in pkgutil.iter_modules(sklearn_ltr.__path__, "sklearn_ltr."):
        module = importlib.import_module(info.name)
        public = (getattr(module, name) for name in getattr(module, "__all__", ()))
        found |= {value for value in public if inspect.isclass(value)}
    return sorted(found, key=lambda cls: cls.__name__)


def is_result(cls):
    """A tuple, a warning or a figure: nothing that a later version would compute with."""
    return issubclass(cls, tuple | Warning) or cls.__name__.endswith("Display")


# Metric itself is abstract.
CLASSES = [cls for cls in public_classes() if not is_result(cls) and cls is not Metric]
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def create(cls):
    names = ARGUMENTS.keys() & inspect.signature(cls).parameters.keys()
    return cls(**{name: ARGUMENTS[name] for name in names})


def written_by(version, thing, monkeypatch, dumps=pickle.dumps):
    """A pickle as another version writes it; None: one that does not say which it is."""
    with monkeypatch.context() as patch:
        if version is None:
            state = Versioned.__getstate__
            patch.setattr(
                Versioned,
                "__getstate__",
                lambda self: {k: x for k, x in state(self).items() if k != KEY},
            )
        else:
            patch.setattr(sklearn_ltr, "__version__", version)
        return dumps(thing)


def dump_by_joblib(thing):
    file = io.BytesIO()
    joblib.dump(thing, file)
    return file.getvalue()


def test_classes_are_found():
    assert {QueryScaler, MPBoost, RankingScorer, losses.SquaredHinge, *RANKERS} <= set(CLASSES)
    assert len(CLASSES) > 30


@each_class
def test_the_same_version_is_silent(cls):
    thing = create(cls)
    assert KEY.encode() in pickle.dumps(thing)
    copies = [pickle.loads(pickle.dumps(thing, protocol)) for protocol in range(6)]
    copies += [copy.copy(thing), copy.deepcopy(thing)]
    copies += [joblib.load(io.BytesIO(dump_by_joblib(thing)))]
    if isinstance(thing, BaseEstimator):
        copies.append(clone(thing))
    for again in copies:
        assert repr(again) == repr(thing)
        assert KEY not in vars(again)
        assert vars(again).keys() == vars(thing).keys()


@each_class
@pytest.mark.parametrize("written", ["0.0.9", "99.1", None])
def test_another_version_warns(cls, written, monkeypatch):
    for dumps, load in (
        (pickle.dumps, pickle.loads),
        (dump_by_joblib, lambda text: joblib.load(io.BytesIO(text))),
    ):
        stored = written_by(written, create(cls), monkeypatch, dumps)
        if written is None:
            assert KEY.encode() not in stored
            # Without attributes there is no state, and so nothing that is told.
            if not vars(create(cls)):
                continue
        with pytest.warns(InconsistentVersionWarning) as caught:
            again = load(stored)
        (warning,) = caught
        assert warning.message.class_name == cls.__name__
        assert warning.message.original_version == written
        assert warning.message.current_version == sklearn_ltr.__version__
        text = str(warning.message)
        for part in (cls.__name__, written or "before 0.1", sklearn_ltr.__version__, "to_dict"):
            assert part in text
        assert repr(again) == repr(create(cls))


def test_the_line_that_loads_is_named(monkeypatch):
    stored = written_by("0.0.9", MPBoost(), monkeypatch)
    with pytest.warns(InconsistentVersionWarning) as caught:
        pickle.loads(stored)
    assert caught[0].filename == __file__


def test_the_warning_can_be_an_error_and_be_pickled(monkeypatch):
    stored = written_by("0.0.9", MPBoost(), monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InconsistentVersionWarning)
        with pytest.raises(InconsistentVersionWarning) as caught:
            pickle.loads(stored)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@each_ranker
def test_fitted_rankers_of_another_version_predict(R, monkeypatch):
    X, y, groups = make_data(R)
    model = make(R, n_estimators=3).fit(X, y, groups)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    with pytest.warns(InconsistentVersionWarning):
        again = pickle.loads(written_by("0.0.9", model, monkeypatch))
    assert_array_equal(again.predict(X), model.predict(X))
    assert vars(again).keys() == vars(model).keys()


def test_parts_warn_for_themselves(monkeypatch):
    loss = losses.SquaredHinge(margin=0.5)
    whole = make_pipeline(QueryScaler(), QuadraticBoosting(loss=loss, scoring=get_metric("ndcg@3")))
    with pytest.warns(InconsistentVersionWarning) as caught:
        pickle.loads(written_by("0.0.9", (whole, get_scorer("map")), monkeypatch))
    assert {warning.message.class_name for warning in caught} == {
        "QueryScaler",
        "QuadraticBoosting",
        "SquaredHinge",
        "NDCG",
        "RankingScorer",
        "AveragePrecision",
    }


class OwnLoss(losses.SquaredHinge):
    """A class of a user, with a state of its own."""

    def __getstate__(self):
        return super().__getstate__() | {"more": 1}


def test_classes_of_users_carry_the_version(monkeypatch):
    assert pickle.loads(pickle.dumps(OwnLoss())).more == 1
    with pytest.warns(InconsistentVersionWarning, match="OwnLoss"):
        assert pickle.loads(written_by("0.0.9", OwnLoss(), monkeypatch)).more == 1
