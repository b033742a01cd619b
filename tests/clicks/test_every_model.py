# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every click model, found by walking the package."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from click_logs import COLUMNS
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid
from test_docstrings import entries

import sklearn_ltr.clicks
from sklearn_ltr.clicks import ClickLog, simulate_clicks
from sklearn_ltr.clicks.base import ClickModel
from sklearn_ltr.exceptions import InconsistentVersionWarning

MODELS = [
    value
    for name, value in vars(sklearn_ltr.clicks).items()
    if inspect.isclass(value) and issubclass(value, ClickModel)
]
each_model = pytest.mark.parametrize("Model", MODELS, ids=lambda Model: Model.__name__)


def columns(seed=0, **params):
    rng = np.random.default_rng(seed)
    y, groups = np.arange(48) % 3, np.repeat(np.arange(8), 6)
    scores = rng.normal(size=(48, 3))
    params = {"n_sessions": 3000, "n_positions": 5, "model": "cascade", "max_grade": 3} | params
    return simulate_clicks(y, groups, scores, random_state=seed, **params)


def make_log(seed=0, **params):
    return ClickLog(**columns(seed, **params), keep_sessions=True)


def state(model):
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_")
    }


def assert_same_models(first, second):
    assert state(first).keys() == state(second).keys()
    for name, value in state(first).items():
        assert_array_equal(value, state(second)[name], err_msg=name)


def test_models_are_found():
    assert {"PositionBasedModel", "CascadeModel", "DependentClickModel"} <= {
        Model.__name__ for Model in MODELS
    }


@each_model
def test_contract_of_estimators(Model):
    model = Model(attractiveness_prior=(1.0, 2.0))
    assert model.get_params()["attractiveness_prior"] == (1.0, 2.0)
    assert repr(model) == f"{Model.__name__}(attractiveness_prior=(1.0, 2.0))"
    log = make_log()
    assert model.fit(log) is model
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert state(again) == {}
    assert_same_models(again.fit(log), model)
    assert_same_models(pickle.loads(pickle.dumps(model)), model)
    assert pickle.loads(pickle.dumps(model)).score(log) == model.score(log)
    assert_same_models(Model().set_params(attractiveness_prior=(1.0, 2.0)).fit(log), model)


@each_model
def test_an_older_pickle_warns(Model, monkeypatch):
    stored = pickle.dumps(Model().fit(make_log()))
    monkeypatch.setattr(sklearn_ltr, "__version__", "99")
    with pytest.warns(InconsistentVersionWarning, match=f"This {Model.__name__} was pickled"):
        pickle.loads(stored)


@each_model
@pytest.mark.parametrize("method", ["score", "perplexity"])
def test_not_fitted(Model, method):
    with pytest.raises(NotFittedError, match=Model.__name__):
        getattr(Model(), method)(make_log())


@each_model
@pytest.mark.parametrize("method", ["fit", "score", "perplexity"])
def test_what_is_no_log(Model, method):
    model = Model().fit(make_log())
    with pytest.raises(TypeError, match=r"takes a ClickLog; got ndarray\. ClickLog\(groups"):
        getattr(model, method)(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="The log is empty"):
        getattr(model, method)(ClickLog())


@each_model
@pytest.mark.parametrize("prior", [1.0, (1.0,), (-1, 0), (0, np.inf), (np.nan, 1), "ab", None])
def test_wrong_priors(Model, prior):
    with pytest.raises(ValueError, match="`attractiveness_prior` must be two numbers"):
        Model(attractiveness_prior=prior).fit(make_log())


@each_model
def test_a_prior_lies_between_0_and_1(Model):
    log = make_log(n_sessions=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, model = Model().fit(log), Model(attractiveness_prior=(1, 1)).fit(log)
    assert plain.attractiveness_.min() == 0
    assert 0 < model.attractiveness_.min() < model.attractiveness_.max() < 1


@each_model
def test_shapes_and_ranges(Model):
    log = make_log()
    model = Model().fit(log)
    assert model.propensities_.shape == (5,)
    assert model.propensities_.max() == 1
    assert (model.propensities_ > 0).all()
    assert model.attractiveness_.shape == model.groups_.shape == model.documents_.shape
    assert (model.attractiveness_ >= 0).all()
    assert (model.attractiveness_ <= 1).all()
    training = log.to_training(model.propensities_)
    assert_array_equal(training.groups, model.groups_)
    assert_array_equal(training.documents, model.documents_)
    perplexity = model.perplexity(log)
    assert perplexity.shape == (5,)
    assert (perplexity >= 1).all()
    assert model.score(log) < 0


@each_model
def test_the_order_of_adding_does_not_matter(Model):
    values = columns()
    expected = Model().fit(ClickLog(**values, keep_sessions=True))
    log = ClickLog(keep_sessions=True)
    for sessions in np.array_split(np.random.default_rng(1).permutation(3000), 7):
        inside = np.flatnonzero(np.isin(values.sessions, sessions))[::-1]
        log.add(**{name: values[name][inside] for name in COLUMNS})
    model = Model().fit(log)
    assert_same_models(model, expected)
    assert model.score(log) == expected.score(log)
    assert_array_equal(model.perplexity(log), expected.perplexity(log))


@each_model
def test_it_describes_its_own_log_better(Model):
    """Than clicks whose documents were exchanged at random."""
    log = make_log(n_sessions=5000)
    values = columns(n_sessions=5000)
    values["documents"] = np.random.default_rng(0).permutation(48)[values["documents"]]
    other = ClickLog(**values, keep_sessions=True)
    model, exchanged = (Model(attractiveness_prior=(1, 1)).fit(one) for one in (log, other))
    fresh = make_log(n_sessions=5000)
    assert model.score(fresh) > exchanged.score(fresh) + 0.02
    assert np.mean(model.perplexity(fresh)) < np.mean(exchanged.perplexity(fresh))


@each_model
def test_what_was_not_there_to_fit(Model):
    """Unknown documents are as attractive as the mean over what was shown; positions are not."""
    log = make_log()
    model = Model(attractiveness_prior=(1, 1)).fit(log)
    shown = log.to_training(np.ones(5)).shown
    mean = np.average(model.attractiveness_, weights=shown)
    unknown = ClickLog(["no such"], [0], [1], [1], [0], keep_sessions=True)
    p = mean * model.propensities_[0]
    assert_allclose(model.score(unknown), np.log(p), rtol=1e-12)
    assert_allclose(model.perplexity(unknown)[0], 1 / p, rtol=1e-12)
    assert np.isnan(model.perplexity(unknown)[1:]).all()
    with pytest.raises(ValueError, match="positions up to 6, and the model was fitted on 5"):
        model.score(ClickLog([0], [0], [6], [1], [0], keep_sessions=True))


@each_model
def test_impossible_clicks_are_said(Model):
    log = make_log()
    model = Model().fit(log)
    never = int(np.argmin(model.attractiveness_))
    model.attractiveness_[never] = 0.0
    other = ClickLog(
        model.groups_[[never]], model.documents_[[never]], [1], [1], [0], keep_sessions=True
    )
    with pytest.warns(UserWarning, match=r"impossible for the model.*attractiveness_prior=\(1, 1"):
        assert model.score(other) == -np.inf
    with pytest.warns(UserWarning, match="impossible"):
        assert model.perplexity(other)[0] == np.inf


@each_model
def test_docstrings_have_all_parameters_and_attributes(Model):
    parameters = [name for name, _, _ in entries(Model.__doc__, "Parameters")]
    assert parameters == list(inspect.signature(Model).parameters)
    documented = {name for name, _, _ in entries(Model.__doc__, "Attributes")}
    assert documented == state(Model().fit(make_log())).keys()


def test_the_same_name_is_described_alike():
    found = {}
    for Model in MODELS:
        for name, kind, description in entries(Model.__doc__, "Parameters"):
            found.setdefault(name, set()).add((kind, description))
    assert {name: n for name, n in found.items() if len(n) > 1} == {}


@each_model
def test_parameters_of_numpy(Model):
    """Are those of Python, as of all estimators of the package."""
    (params,) = ParameterGrid({"attractiveness_prior": [(np.float32(1), np.float32(1))]})
    model = Model(**params).fit(make_log())
    assert_same_models(model, Model(attractiveness_prior=(1, 1)).fit(make_log()))
