# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Models that skops stores, and the types that must be trusted to load them."""

import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_ranker import RANKERS, each_variant_if_slow, has, make, make_data, parameters
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from sklearn_ltr import LambdaMART, MPBoost, QuadraticBoosting, losses
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.scorers import get_scorer

sio = pytest.importorskip("skops.io", reason="skops is not installed")

GUIDE = Path(__file__).parents[2] / "docs" / "user_guide" / "export.rst"

pytestmark = pytest.mark.skipif(not GUIDE.exists(), reason="not in a checkout")


def path_of(thing):
    cls = thing if inspect.isclass(thing) else type(thing)
    return f"{cls.__module__}.{cls.__qualname__}"


def documented():
    """Types of this package by the ranker's name, as the guide has them."""
    section = GUIDE.read_text(encoding="utf-8").split("\n.. _skops:\n")[1].split("\nJSON\n----")[0]
    table = section.split(".. list-table::")[1].split("\nWith a regressor")[0]
    rows = re.split(r"^   \* - ", table, flags=re.MULTILINE)[2:]
    types = {}
    for row in rows:
        names, cell = (re.findall(r"``([\w.]+)``", part) for part in row.split("\n     - "))
        types |= {name: {f"sklearn_ltr.{path}" for path in cell} for name in names}
    return types


def of_categories():
    """The type of this package that categorical features bring along, as the guide has it."""
    text = GUIDE.read_text(encoding="utf-8").split("With categorical\nfeatures ")[1]
    return {f"sklearn_ltr.{re.match('``(.+?)``', text)[1]}"}


def reload(thing):
    """The types that must be trusted, and what is loaded with these."""
    data = sio.dumps(thing)
    types = sio.get_untrusted_types(data=data)
    return set(types), sio.loads(data, trusted=types)


def test_the_guide_has_every_ranker():
    assert documented().keys() == {R.__name__ for R in RANKERS}


@each_variant_if_slow
def test_rankers_load_with_the_documented_types(R, params):
    X, y, groups = make_data(R)
    model = make(R, **params).fit(X, y, groups)
    data = sio.dumps(model)
    trusted = documented()[R.__name__] | {path_of(R)}
    for _, member in model.get_params()["estimators"] if has(R, "estimators") else ():
        trusted |= documented()[type(member).__name__] | {path_of(member)}
    if "categorical_features" in params:
        trusted |= of_categories()
    assert set(sio.get_untrusted_types(data=data)) == trusted
    again = sio.loads(data, trusted=sorted(trusted))
    assert_array_equal(again.predict(X), model.predict(X))
    assert vars(again).keys() == vars(model).keys()
    assert parameters(again) == parameters(model)
    if has(R, "warm_start"):
        for one in (model, again):
            one.set_params(n_estimators=15, warm_start=True).fit(X, y, groups)
        assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "R", [R for R in RANKERS if has(R, "categorical_features")], ids=lambda R: R.__name__
)
def test_categories(R):
    X, y, groups = make_data(R)
    frame = pd.DataFrame(X).astype({1: "category", 4: "category"})
    model = make(R).fit(frame, y, groups)
    types, again = reload(model)
    assert types == documented()[R.__name__] | {path_of(R)} | of_categories()
    assert_array_equal(again.predict(frame), model.predict(frame))


def test_regressors_as_weak_rankers():
    X, y, groups = make_data()
    model = QuadraticBoosting(n_estimators=3, estimator=Ridge()).fit(X, y, groups)
    types, again = reload(model)
    assert_array_equal(again.predict(X), model.predict(X))
    text = GUIDE.read_text(encoding="utf-8").split("\nWith a regressor")[1].split(", and what")[0]
    expected = {f"sklearn_ltr.{path}" for path in re.findall(r"``(\w+\.[\w.]+)``", text)}
    assert types == expected | {path_of(model)}


@pytest.mark.parametrize("name", losses.__all__)
def test_losses(name):
    X, y, groups = make_data()
    loss = getattr(losses, name)()
    model = QuadraticBoosting(loss=loss, n_estimators=3).fit(X, y, groups)
    types, again = reload(model)
    assert types == documented()["QuadraticBoosting"] | {path_of(model), path_of(loss)}
    assert_array_equal(again.predict(X), model.predict(X))


def test_metrics():
    X, y, groups = make_data()
    metrics = {"metric": get_metric("ndcg@3"), "scoring": get_metric("map")}
    model = LambdaMART(n_estimators=3, **metrics).fit(X, y, groups)
    types, again = reload(model)
    assert types == documented()["LambdaMART"] | {path_of(x) for x in (model, *metrics.values())}
    assert {name: again.get_params()[name] for name in metrics} == metrics


def test_pipelines_and_searches():
    X, y, groups = make_data()
    ranker, scaler, scorer = MPBoost(n_estimators=3), QueryScaler(), get_scorer("ndcg@3")
    with sklearn.config_context(enable_metadata_routing=True):
        grid = {"mpboost__learning_rate": np.array([0.1, 1.0])}
        search = GridSearchCV(make_pipeline(scaler, ranker), grid, cv=GroupKFold(2), scoring=scorer)
        search.fit(X, y, groups=groups)
        types, again = reload(search)
        pipeline, other = search.best_estimator_, again.best_estimator_
        expected = pipeline.predict(X, groups=groups)
        assert_array_equal(other.predict(X, groups=groups), expected)
    own = documented()["MPBoost"] | {path_of(x) for x in (ranker, scaler, scorer, scorer.metric)}
    assert {name for name in types if name.startswith("sklearn_ltr.")} == own
    assert types - own == {"sklearn.model_selection._split.GroupKFold"}
