# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A switch of a metric counts in every ranker that takes metrics, or fit says that it does not."""

import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
from every_ranker import RANKERS, has, make, state
from numpy.testing import assert_array_equal

from sklearn_ltr.losses.lambdas import METRICS as OF_SWAPS
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.metrics._per_query import TIES
from sklearn_ltr.metrics.correlation import TIED_PAIR_COUNTS
from sklearn_ltr.metrics.registry import METRICS

# Other values than the default of each switch; of `undefined` below.
OTHERS = {
    "gain": ["linear"],
    "discount": ["letor"],
    "ties": [ties for ties in (*TIES, *TIED_PAIR_COUNTS) if ties != "average"],
    "short": ["clip", "pad", "zero"],
    "relevant_from": [2],
    "denominator": ["all", "min(relevant,k)"],
    "max_grade": [5],
}
BY_ORDER = {"input", "reverse"}
# A cut-off and `max_grade` are no matter of taste.
BASE = [
    get_metric(name if "k" not in cls.__dataclass_fields__ else f"{name}@3", **switches)
    for name, cls in METRICS.items()
    if cls.bounded and name != "precision"  # others are refused, or checked for themselves
    for switches in [{"max_grade": 4} if name == "err" else {}]
]


def learns_by(R):
    """The parameter that is the metric to learn by; validation has one of its own."""
    if has(R, "metric"):
        return "metric"
    return "scoring" if has(R, "scoring") and not has(R, "validation_fraction") else None


LEARNERS = [R for R in RANKERS if learns_by(R) and not has(R, "estimators")]
each_learner = pytest.mark.parametrize("R", LEARNERS, ids=lambda R: R.__name__)
each_metric = pytest.mark.parametrize("metric", BASE, ids=lambda metric: metric.name)


def variants_of(metric):
    """The metric with one switch changed."""
    for field in fields(metric):
        for value in OTHERS.get(field.name, ()):
            try:
                other = replace(metric, **{field.name: value})
            except ValueError:  # of another metric
                continue
            if other != metric:
                yield field.name, other


def takes(R, metric):
    """Those of swaps take some metrics only."""
    return not R.__name__.startswith("Lambda") or isinstance(metric, OF_SWAPS)


def data(undefined=True):
    """Queries of 1 to 9 rows, features with many ties; one query without a relevant row."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), rng.integers(1, 10, 40))
    X = rng.integers(0, 4, (len(groups), 4)).astype(float)
    y = np.clip(np.round(X[:, 0] + 0.7 * X[:, 1] - 1.5 + rng.normal(size=len(groups))), 0, 4)
    if undefined:
        y[groups == 0] = 0
    else:
        y[np.unique(groups, return_index=True)[1]] = 4
        y[np.cumsum(np.bincount(groups)) - 1] = 0
        alone = np.bincount(groups)[groups] > 1
        X, y, groups = X[alone], y[alone], groups[alone]
    return X, y, groups


def fit(R, metric, **others):
    """The model, and whether `fit` warned of a switch."""
    X, y, groups = data(**others)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make(R, **{learns_by(R): metric}).fit(X, y, groups)
    said = [str(w.message) for w in caught if "in the place of" in str(w.message)]
    assert all("Give the metric so" in message for message in said)
    found = state(model) | {"predicted": model.predict(X)}
    return found | {"scores": getattr(model, "feature_scores_", 0)}, bool(said)


def same(one, other):
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


def tells_orders_apart(metric, other):
    """Whether two metrics differ by more than one number for each query.

    P@3 does not, by what it makes of fewer than 3 rows.
    """
    X, y, groups = data()
    differences = [
        other(y, scores, groups, per_query=True).values
        - metric(y, scores, groups, per_query=True).values
        for scores in X.T
    ]
    return bool((np.ptp(differences, axis=0) > 1e-9).any())


def test_there_are_rankers_and_every_switch():
    names = {R.__name__ for R in LEARNERS}
    assert {"AdaRank", "FeatureRank", "LambdaMART", "LambdaRank", "SingleFeatureRanker"} <= names
    switches = {field.name for metric in BASE for field in fields(metric)}
    assert switches - {"k", "undefined"} == OTHERS.keys()


@each_metric
@each_learner
def test_a_switch_counts_or_fit_warns(R, metric):
    if not takes(R, metric):
        pytest.skip("refuses it")
    expected, warned = fit(R, metric)
    assert not warned
    for name, other in variants_of(metric):
        found, warned = fit(R, other)
        if warned or tells_orders_apart(metric, other):
            assert warned == same(found, expected), other
        assert not warned or name in ("ties", "short")
        if name == "ties" and other.ties in BY_ORDER:
            assert warned, other


@each_learner
def test_ties_of_kendall_count(R):
    """By the strict inequality, tied pairs agree: a constant feature is the best of all."""
    metric = get_metric("kendall")
    if not takes(R, metric):
        pytest.skip("refuses it")
    (average, _), (agree, warned) = fit(R, metric), fit(R, replace(metric, ties="agree"))
    assert not warned
    assert not same(agree, average)


@each_metric
@each_learner
def test_queries_without_a_value(R, metric):
    """Have one whatever their order, or are an error where they are to be."""
    if not takes(R, metric) or not hasattr(metric, "undefined"):
        pytest.skip("refuses it, or is always defined")
    expected, _ = fit(R, metric)
    for value in (0, 1):
        found, warned = fit(R, replace(metric, undefined=value))
        assert not warned
        assert_array_equal(found["predicted"], expected["predicted"])
    raising = replace(metric, undefined="raise")
    with pytest.raises(ValueError, match=r"is undefined where .* so in query"):
        fit(R, raising)
    assert same(fit(R, raising, undefined=False)[0], fit(R, metric, undefined=False)[0])


@pytest.mark.parametrize(
    "metric",
    [
        get_metric("ndcg@3", like="letor3"),
        get_metric("ndcg", gain="linear", ties="worst", undefined=1),
        get_metric("map", like="ranklib"),
        get_metric("p@3", ties="best", short="zero"),
        get_metric("err@3", max_grade=6, ties="reverse", undefined=0),
        get_metric("mrr", relevant_from=3, ties="input", undefined=1),
        get_metric("kendall", ties="agree", denominator="all", undefined=0),
        get_metric("dcg@3", like="ranklib"),
    ],
    ids=lambda metric: metric.name,
)
@pytest.mark.parametrize(
    "R",
    [R for R in RANKERS if has(R, "validation_fraction") and not has(R, "estimators")],
    ids=lambda R: R.__name__,
)
def test_all_switches_count_in_validation(R, metric):
    X, y, groups = data()
    validation = {"X_val": X, "y_val": y, "groups_val": groups}
    params = {"n_estimators": 3, "max_iter": 3, "scoring": metric, "early_stopping": True}
    model = make(R, **params, n_iter_no_change=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of L-BFGS
        model.fit(X, y, groups, **validation)
    expected = metric(y, model.predict(X), groups)
    assert model.validation_score_[model.best_iteration_ - 1] == pytest.approx(expected, rel=1e-12)
