# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keywords of other libraries are answered with the class of the caller and the right argument."""

import inspect
import pickle
import traceback

import numpy as np
import pytest
import sklearn
from every_call import CALLS, make_rows
from every_ranker import each_ranker, has, make
from sklearn.utils.validation import has_fit_parameter

from sklearn_ltr import FeatureRank, LambdaMART, QBRank, RankSVM
from sklearn_ltr.preprocessing import BM25Features, QueryScaler

METHODS = ("fit", "fit_transform", "transform", "predict", "staged_predict", "score")


def takes(R, name, method="fit"):
    return name in inspect.signature(getattr(R, method)).parameters


def error_of(method, /, **wrong):
    X, y, _ = make_rows()
    arguments = (X,) if "y" not in inspect.signature(method).parameters else (X, y)
    with pytest.raises(TypeError) as caught:
        method(*arguments, **wrong)
    return str(caught.value)


@each_ranker
@pytest.mark.parametrize("name", ["group", "qid", "query_id", "group_id"])
def test_query_ids(R, name):
    error = error_of(make(R).fit, **{name: [0] * 12})
    assert error.startswith(f"{R.__name__}.fit() has no argument `{name}`: ")
    assert "give the query id of each row as groups=" in error
    if name == "group":
        assert "np.repeat(np.arange(len(sizes)), sizes)" in error


@each_ranker
@pytest.mark.parametrize("name", ["eval_set", "eval_group", "eval_qid", "X_valid"])
def test_validation_rows(R, name):
    error = error_of(make(R).fit, **{name: []})
    assert error.startswith(f"{R.__name__}.fit() has no argument `{name}`: ")
    if takes(R, "X_val"):
        assert "X_val=, y_val= and groups_val=" in error
    else:
        assert "nothing takes its place" in error


@each_ranker
@pytest.mark.parametrize("name", ["init_score", "base_margin"])
def test_scores_to_start_from(R, name):
    if takes(R, name):
        pytest.skip("takes it")
    error = error_of(make(R).fit, **{name: np.zeros(12)})
    if takes(R, "init_score"):
        assert error.endswith("give the scores to start from as init_score=.")
        return
    assert error.startswith(f"{R.__name__}.fit() has no argument `{name}`: nothing takes its place")
    assert ("warm_start=True" in error) == has(R, "warm_start")


@each_ranker
@pytest.mark.parametrize("name", ["sample_weight", "weight", "group_weight"])
def test_weights(R, name):
    if takes(R, name):
        pytest.skip("takes it")
    error = error_of(make(R).fit, **{name: np.ones(12)})
    assert error.startswith(f"{R.__name__}.fit() has no argument `{name}`: ")
    assert "query_weight=" in error
    assert ("sample_weight=" in error) == takes(R, "sample_weight")


@each_ranker
def test_parameters_of_the_class(R):
    for name in inspect.signature(R).parameters:
        error = error_of(make(R).fit, **{name: 1})
        assert f"a parameter of the class, {R.__name__}({name}=...)" in error
    error = error_of(make(R).fit, eval_metric="ndcg")
    assert (f"{R.__name__}(scoring=...)" in error) == has(R, "scoring")


@each_ranker
def test_anything_else(R):
    error = error_of(make(R).fit, grups=1, zzz=2)
    assert error.startswith(f"{R.__name__}.fit() has no argument `grups`: did you mean groups=?")
    assert "its arguments are X, y, groups, query_weight" in error


@pytest.mark.parametrize(
    "call", [call for call in CALLS if "." in call.name], ids=lambda call: call.name
)
def test_every_method(call):
    """Every method that scikit-learn knows of answers so."""
    name, method = call.name.split(".")
    if method not in METHODS:
        pytest.skip("not known to scikit-learn")
    with pytest.raises(TypeError, match=rf"^{name}\.{method}\(\) has no argument `qid`: "):
        call.function(make_rows()[0], qid=1)


@each_ranker
def test_ids_where_none_are_needed(R):
    if takes(R, "groups", "predict"):
        pytest.skip("takes them")
    X, y, groups = make_rows()
    model = make(R).fit(X, y, groups=groups)
    with pytest.raises(TypeError, match=r"predict\(\) has no .* it needs no query ids; fit and sc"):
        model.predict(X, groups=groups)


def test_transformers():
    error = error_of(QueryScaler().fit, groups=[0] * 12)
    assert "it needs no query ids; fit_transform and transform take groups=" in error
    error = error_of(QueryScaler().fit_transform, sample_weight=[1] * 12)
    assert error.startswith("QueryScaler.fit_transform() has no argument `sample_weight`: nothing")
    assert error_of(BM25Features().fit, groups=[0] * 12).endswith("it needs no query ids.")
    assert "BM25Features(k1=...)" in error_of(BM25Features().fit, k1=2)


@each_ranker
def test_signatures_stay(R):
    """What scikit-learn makes metadata requests of."""
    parameters = inspect.signature(R.fit).parameters
    assert list(parameters)[:5] == ["self", "X", "y", "groups", "query_weight"]
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())
    assert has_fit_parameter(R(), "sample_weight") == takes(R, "sample_weight")
    assert R.fit.__doc__.startswith(inspect.unwrap(R.fit).__doc__.strip()[:3])
    with sklearn.config_context(enable_metadata_routing=True):
        requests = R().get_metadata_routing().fit.requests
        names = set(parameters) - {"self", "X", "y"}
        # Those of clicks also reach the rankers that refuse them, which say why.
        assert set(requests) == names | {"propensity"}
        assert requests["propensity"] is True
        assert (
            R().set_fit_request(groups=False).get_metadata_routing().fit.requests["groups"] is False
        )
        with pytest.raises(TypeError, match="qid"):
            R().set_fit_request(qid=True)


@each_ranker
def test_arguments_by_position(R):
    X, y, groups = make_rows()
    by_name = make(R).fit(X=X, y=y, groups=groups, query_weight=np.ones(12))
    by_position = make(R).fit(X, y, groups, np.ones(12))
    assert pickle.dumps(by_position.predict(X)) == pickle.dumps(by_name.predict(X))


def test_tracebacks():
    """An error inside of `fit` keeps its own class and place."""
    X, y, _ = make_rows()
    for ranker in (LambdaMART(), QBRank(), RankSVM(), FeatureRank()):
        with pytest.raises(ValueError, match="`groups` has 1 entries") as caught:
            ranker.fit(X, y, groups=[0])
        assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "encode_groups"
