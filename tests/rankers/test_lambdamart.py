# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LambdaMART: its first round from the definition, its metrics, and its own rules."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from oracles import lambdas as oracle
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_ltr import LambdaMART, RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.scorers import get_scorer

SMALL = {"n_estimators": 10, "max_leaf_nodes": 5, "min_samples_leaf": 2, "learning_rate": 0.3}
METRIC_NAMES = pytest.mark.parametrize("name", ["ndcg", "ndcg@3", "map", "map@3", "mrr", "mrr@2"])


def make(seed=0, n_queries=30):
    """Queries of 1 to 6 rows with few distinct values, so that many rows share a leaf."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(1, 7, n_queries))
    X = np.round(2 * rng.normal(size=(len(groups), 3))) / 2
    y = np.clip(np.round(X[:, 0] + 0.7 * rng.normal(size=len(groups))), 0, 3)
    return X, y, groups


def trees_of(ranker):
    return [tree for terms in ranker.model_.rounds for _, tree in terms]


def assert_same_trees(one, other):
    assert len(trees_of(one)) == len(trees_of(other))
    for a, b in zip(trees_of(one), trees_of(other), strict=True):
        for name, values in vars(a).items():
            if isinstance(values, np.ndarray):
                assert_array_equal(values, getattr(b, name))


def slow_metric(name):
    metric = get_metric(name)
    if metric.label == "ndcg":
        return lambda y, T: oracle.ndcg(y, metric.k, T)
    function = {"map": oracle.average_precision, "mrr": oracle.reciprocal_rank}[metric.label]
    return lambda y, T: function(y, metric.k)


@METRIC_NAMES
def test_first_leaves_are_newton_steps(name):
    """From scores that are all equal, so that every swap is an expectation over all orders."""
    X, y, groups = make()
    T, sigmoid, l2 = 4, 1.5, 0.5
    ranker = LambdaMART(1, 0.3, metric=name, truncation_level=T, sigmoid=sigmoid)
    ranker.set_params(max_leaf_nodes=6, min_samples_leaf=2, l2_regularization=l2)
    got = ranker.fit(X, y, groups).predict(X)
    gradient, curvature = np.zeros((2, len(y)))
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        zeros = np.zeros(len(rows))
        of_query = y[rows].tolist()
        delta = oracle.expected_changes(slow_metric(name)(of_query, T), of_query, zeros, T)
        gain = 2.0 ** y[rows] - 1 if name.startswith("ndcg") else (y[rows] >= 1) * 1.0
        gradient[rows], curvature[rows] = oracle.lambdas(delta, gain, zeros, sigmoid, True)
    leaves = np.unique(got, return_inverse=True)[1]
    assert leaves.max() == 5
    expected = -np.bincount(leaves, gradient) / (np.bincount(leaves, curvature) + l2)
    assert_allclose(got, 0.3 * expected[leaves], rtol=1e-10)


@METRIC_NAMES
def test_order_of_rows_does_not_matter_from_the_first_round_on(name):
    """Rows sorted by grade, which would leak it where ties are broken by the order of the rows."""
    X, y, groups = make()
    best_first = np.lexsort([-y, groups])
    worst_first = np.lexsort([y, groups])
    at_random = np.random.default_rng(0).permutation(len(y))
    for rounds in (1, 10):
        fits = [
            LambdaMART(**SMALL | {"n_estimators": rounds}, metric=name).fit(
                X[order], y[order], groups[order]
            )
            for order in (best_first, worst_first, at_random)
        ]
        for other in fits[1:]:
            assert_same_trees(fits[0], other)
            assert_array_equal(fits[0].train_loss_, other.train_loss_)


@METRIC_NAMES
def test_training_loss_is_what_the_metric_lacks(name):
    X, y, groups = make(n_queries=60)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 60)[groups]
    ranker = LambdaMART(**SMALL | {"n_estimators": 30}, metric=name)
    ranker.fit(X, y, groups, query_weight=weight)
    metric = get_metric(name)
    values = [metric(y, scores, groups, weight) for scores in ranker.staged_predict(X)]
    assert_allclose(1 - ranker.train_loss_, values, rtol=1e-12)
    assert values[-1] > values[0] > metric(y, np.zeros(len(y)), groups, weight)


def unseen(ranker, metric, seed=0):
    """The metric on queries that the ranker has not seen, and that of a random order."""
    X, y, groups = make_ranking(n_queries=240, random_state=seed)
    train, test = groups < 120, groups >= 120
    scores = ranker.fit(X[train], y[train], groups[train]).predict(X[test])
    metric = get_metric(metric)
    return [metric(y[test], s, groups[test]) for s in (scores, np.zeros(test.sum()))]


@pytest.mark.parametrize("name", ["ndcg", "ndcg@10", "map"])
def test_learns_more_than_regression(name):
    value, _ = unseen(LambdaMART(60, 0.1, metric=name), name)
    assert value > unseen(RegressionRanker(60, 0.1), name)[0]


def test_learns_from_first_relevant_rows_alone():
    """All that "mrr" sees; so it learns less from a query than the others."""
    value, at_random = unseen(LambdaMART(60, 0.1, metric="mrr"), "mrr")
    assert value > (at_random + 1) / 2


@METRIC_NAMES
@pytest.mark.parametrize("grade", [0.0, 3.0])
def test_queries_in_which_no_order_is_better_do_not_change_the_trees(name, grade):
    """One grade alone: nothing is relevant, or all is. Bins and leaf sizes are kept the same."""
    X, y, groups = make()
    params = SMALL | {"min_samples_leaf": 1, "max_bins": None, "metric": name}
    alone = LambdaMART(**params).fit(X, y, groups)
    more = np.arange(0, len(y), 2)
    beside = LambdaMART(**params).fit(
        np.vstack([X, X[more]]),
        np.concatenate([y, np.full(len(more), grade)]),
        np.concatenate([groups, 1000 + more // 6]),
    )
    assert beside.n_queries_skipped_ == alone.n_queries_skipped_ + len(np.unique(more // 6))
    assert len(trees_of(alone)) == len(trees_of(beside)) > 0
    for a, b in zip(trees_of(alone), trees_of(beside), strict=True):
        assert_array_equal(a.feature, b.feature)
        assert_array_equal(a.threshold, b.threshold)
    # Query weights are taken relative to their mean, which these queries share: all 1.
    assert_allclose(alone.predict(X), beside.predict(X), rtol=1e-12)


def test_truncation():
    X, y, groups = make()
    longest = np.bincount(groups).max()
    fit = lambda level: LambdaMART(**SMALL, metric="ndcg", truncation_level=level).fit(X, y, groups)
    assert_same_trees(fit(longest), fit(10**6))
    assert (fit(1).predict(X) != fit(longest).predict(X)).any()


@pytest.mark.parametrize(
    ("name", "value"), [("sigmoid", 3.0), ("query_norm", False), ("metric", "ndcg@1")]
)
def test_parameters_matter(name, value):
    X, y, groups = make()
    default, other = (LambdaMART(**SMALL | p).fit(X, y, groups) for p in ({}, {name: value}))
    assert (default.predict(X) != other.predict(X)).any()


def test_metric_objects_and_their_switches():
    X, y, groups = make()
    fit = lambda metric: LambdaMART(**SMALL, metric=metric).fit(X, y, groups).predict(X)
    assert_array_equal(fit("ndcg@3"), fit(get_metric("ndcg@3")))
    # How the metric is reported where it is undefined or scores tie is no concern of gradients.
    assert_array_equal(fit("ndcg@3"), fit(get_metric("ndcg@3", undefined=0)))
    with pytest.warns(UserWarning, match=r"takes ties='average' in the place of ties='input'"):
        by_input = fit(get_metric("ndcg@3", ties="input"))
    assert_array_equal(fit("ndcg@3"), by_input)
    assert (fit("ndcg@3") != fit(get_metric("ndcg@3", gain="linear"))).any()
    assert (fit("ndcg@3") != fit(get_metric("ndcg@3", discount="letor"))).any()
    assert (fit("map") != fit(get_metric("map", relevant_from=2))).any()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"metric": "dcg"}, "must be one of .*'ndcg', 'map', 'mrr'"),
        ({"metric": "p@5"}, "must be one of"),
        ({"metric": "auc"}, "Unknown metric 'auc'"),
        ({"metric": None}, "Unknown metric None"),
        ({"truncation_level": 0}, "truncation_level == 0, must be >= 1"),
        ({"sigmoid": 0.0}, "sigmoid == 0.0, must be > 0"),
        ({"sigmoid": np.nan}, "sigmoid == nan"),
    ],
)
def test_parameters_are_checked(params, message):
    X, y, groups = make()
    with pytest.raises(ValueError, match=message):
        LambdaMART(**params).fit(X, y, groups)


@pytest.mark.parametrize("params", [{"query_norm": "yes"}, {"truncation_level": 2.5}])
def test_types_are_checked(params):
    X, y, groups = make()
    with pytest.raises(TypeError, match=f"{next(iter(params))} must be an instance of"):
        LambdaMART(**params).fit(X, y, groups)


def test_grades_that_metrics_take():
    X, y, groups = make()
    with pytest.raises(ValueError, match="`y` has the negative grade -1"):
        LambdaMART(**SMALL).fit(X, y - 1, groups)
    LambdaMART(**SMALL, metric="map", scoring="map").fit(X, y - 1, groups)
    with pytest.raises(ValueError, match="No query has both relevant and irrelevant rows"):
        LambdaMART(**SMALL, metric="map").fit(X, y + 1, groups)
    with pytest.raises(ValueError, match="No query has two rows of different grades"):
        LambdaMART(**SMALL, metric="mrr").fit(X, np.zeros(len(y)), groups)


def test_tags_say_which_grades():
    positive_only = lambda m: LambdaMART(metric=m).__sklearn_tags__().target_tags.positive_only
    assert positive_only("ndcg")
    assert positive_only(get_metric("ndcg@5", gain="linear"))
    assert not positive_only("map@5")
    assert not positive_only(get_metric("mrr"))
    assert not positive_only(None)  # refused by fit, and no reason to fail here


def test_search_over_metrics():
    X, y, groups = make(n_queries=40)
    grid = {"metric": ["ndcg@3", get_metric("map")], "truncation_level": [2, 30]}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            LambdaMART(**SMALL),
            grid,
            cv=GroupKFold(3),
            scoring=get_scorer("ndcg@10"),
            error_score="raise",
        )
        search.fit(X, y, groups=groups)
    assert len(set(search.cv_results_["mean_test_score"])) == 4
