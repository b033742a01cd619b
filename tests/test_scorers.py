# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scorers by themselves; `contract/test_routing.py` has them in searches."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone
from sklearn.ensemble import AdaBoostRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import MPBoost
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric, ndcg_score
from sklearn_ltr.scorers import get_scorer, make_ranking_scorer

NAMES = ["ndcg", "ndcg@3", "ndcg@10", "dcg@5", "map", "p@5"]


@pytest.fixture(scope="module")
def data():
    return make_ranking(20, (4, 9), 6, n_informative=3, n_redundant=1, n_grades=3, random_state=0)


@pytest.fixture(scope="module")
def ranker(data):
    X, y, groups = data
    return MPBoost(n_estimators=5).fit(X, y, groups=groups)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class FirstColumn(RegressorMixin, BaseEstimator):
    """Scores are the first column; nothing is learnt."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


class PositionInQuery(RegressorMixin, BaseEstimator):
    """Scores by the first column's rank within the query, for which `predict` needs groups.

    Without groups all rows are one query, and the sign is wrong, so that scores tell whether groups
    arrived.
    """

    __metadata_request__fit = {"groups": True}
    __metadata_request__predict = {"groups": True}
    __metadata_request__score = {"groups": True}

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y, groups=None):
        self.fitted_ = True
        return self

    def predict(self, X, groups=None):
        X = np.asarray(X)
        if groups is None:
            return -self.sign * X[:, 0]
        scores = np.empty(len(X))
        for query in set(groups):
            rows = np.flatnonzero(np.asarray(groups) == query)
            scores[rows] = self.sign * X[rows, 0].argsort().argsort()
        return scores

    def score(self, X, y, groups=None):
        return ndcg_score(y, self.predict(X, groups), groups)


class CentreInQuery(TransformerMixin, BaseEstimator):
    """Subtracts the mean of each query, for which `transform` needs groups."""

    __metadata_request__fit = {"groups": True}
    __metadata_request__transform = {"groups": True}

    def fit(self, X, y=None, groups=None):
        self.fitted_ = True
        return self

    def fit_transform(self, X, y=None, groups=None):
        return self.fit(X, y, groups).transform(X, groups)

    def transform(self, X, groups=None):
        if groups is None:
            raise ValueError("transform without groups")
        X = X.copy()
        for query in np.unique(groups):
            X[groups == query] -= X[groups == query].mean(axis=0)
        return X


def mean_ndcg(y, scores, groups, k=10):
    """NDCG of exponential gain by scikit-learn's function, over queries with a relevant row."""
    values = []
    for query in np.unique(groups):
        rows = groups == query
        if y[rows].any():
            gains = 2.0 ** y[rows] - 1
            values.append(sklearn_ndcg_score(gains[None], scores[rows][None], k=k))
    return np.mean(values)


def test_scorer_equals_scikit_learns_ndcg_of_the_predictions(ranker, data):
    X, y, groups = data
    expected = mean_ndcg(y, ranker.predict(X), groups)
    assert 0.5 < expected < 1
    assert get_scorer("ndcg@10")(ranker, X, y, groups=groups) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_scorer_equals_its_metric_of_the_predictions(name, ranker, data):
    X, y, groups = data
    weight = 1.0 + groups % 3
    metric, scores = get_metric(name), ranker.predict(X)
    assert get_scorer(name)(ranker, X, y, groups=groups) == metric(y, scores, groups)
    weighted = get_scorer(name)(ranker, X, y, groups=groups, query_weight=weight)
    assert weighted == metric(y, scores, groups, weight) != metric(y, scores, groups)


def test_unknown_name():
    with pytest.raises(ValueError, match=r"'ndgc@10'.*map.*ndcg"):
        get_scorer("ndgc@10")
    with pytest.raises(ValueError, match=r"'r2'.*map.*ndcg"):
        make_ranking_scorer("r2")
    with pytest.raises(ValueError, match="None"):
        get_scorer(None)


def test_scorers_are_returned_as_they_are_and_metrics_are_wrapped(ranker, data):
    X, y, groups = data
    scorer = make_ranking_scorer("map", ties="worst")
    assert get_scorer(scorer) is scorer
    function = lambda estimator, X, y: 1.0
    assert get_scorer(function) is function
    metric = get_metric("ndcg@5", gain="linear")
    assert get_scorer(metric).metric == make_ranking_scorer(metric).metric == metric
    assert get_scorer(metric)(ranker, X, y, groups) == metric(y, ranker.predict(X), groups)


@pytest.mark.parametrize(("gain", "expected"), [("linear", 0.648041), ("exponential", 0.606423)])
def test_switches_act_and_show_in_the_repr(gain, expected):
    """Figures of two tools may differ by their gain alone."""
    X, y = np.array([[1.0], [2.0], [3.0]]), [3, 2, 0]
    scorer = make_ranking_scorer("ndcg", gain=gain)
    assert f"gain='{gain}'" in repr(scorer)
    estimator = FirstColumn().fit(X, y)
    assert scorer(estimator, X, y, groups=[7, 7, 7]) == pytest.approx(expected, abs=5e-7)


def test_repr_inside_a_search_shows_the_switches():
    search = GridSearchCV(MPBoost(), {}, scoring=make_ranking_scorer("p@5", relevant_from=2))
    assert "relevant_from=2" in repr(search)


def test_unknown_switch():
    with pytest.raises(TypeError, match="relevant_from"):
        make_ranking_scorer("ndcg@10", relevant_from=2)
    with pytest.raises(ValueError, match="gain"):
        make_ranking_scorer("ndcg@10", gain="cubic")


def test_function_as_metric(ranker, data):
    X, y, groups = data
    scores = ranker.predict(X)
    scorer = make_ranking_scorer(ndcg_score, k=3, gain="linear")
    assert scorer(ranker, X, y, groups) == ndcg_score(y, scores, groups, k=3, gain="linear")
    assert "gain='linear'" in repr(scorer)
    assert make_ranking_scorer(ndcg_score)(ranker, X, y, groups) == ndcg_score(y, scores, groups)


@pytest.mark.parametrize(
    "scorer",
    [make_ranking_scorer("ndcg@5", gain="linear"), make_ranking_scorer(ndcg_score, k=3)],
    ids=["name", "function"],
)
def test_copies_score_alike(scorer, ranker, data, routing):
    X, y, groups = data
    scorer = clone(scorer).set_score_request(groups="query")
    search = GridSearchCV(MPBoost(), {}, scoring=scorer)
    copies = [
        clone(scorer),
        copy.deepcopy(scorer),
        pickle.loads(pickle.dumps(scorer)),
        clone(search).scoring,
        pickle.loads(pickle.dumps(search)).scoring,
    ]
    for copied in copies:
        assert copied is not scorer
        assert repr(copied) == repr(scorer)
        assert copied(ranker, X, y, groups) == scorer(ranker, X, y, groups)
        assert copied.get_metadata_routing().score.requests == {
            "groups": "query",
            "query_weight": True,
        }


def test_scorer_judges_early_stopping(data):
    X, y, groups = data
    params = {"n_estimators": 20, "early_stopping": True, "validation_fraction": 0.5}
    scorer = make_ranking_scorer("map", relevant_from=2)
    fitted = MPBoost(**params, scoring=scorer, random_state=0).fit(X, y, groups=groups)
    same = clone(fitted).set_params(scoring=scorer.metric).fit(X, y, groups=groups)
    other = clone(fitted).set_params(scoring="map").fit(X, y, groups=groups)
    np.testing.assert_array_equal(fitted.validation_score_, same.validation_score_)
    assert fitted.validation_score_[0] != other.validation_score_[0]


@pytest.mark.parametrize("enabled", [True, False])
def test_without_groups(enabled, ranker, data):
    X, y, _ = data
    with (
        sklearn.config_context(enable_metadata_routing=enabled),
        pytest.raises(ValueError, match="enable_metadata_routing=True") as error,
    ):
        get_scorer("map")(ranker, X, y)
    assert "`groups`" in str(error.value)
    assert 'params={"groups": g}' in str(error.value)


def test_ids_of_strings_and_frames(ranker, data):
    pd = pytest.importorskip("pandas")
    X, y, groups = data
    expected = get_scorer("map")(ranker, X, y, groups)
    names = np.array([f"query {id}" for id in groups])
    y_column = pd.Series(y, index=np.arange(len(y))[::-1])
    assert get_scorer("map")(ranker, X, y_column, pd.Series(names)) == expected
    assert get_scorer("map")(ranker, X, y, pd.Categorical(names)) == expected


@pytest.fixture
def forwarding_data():
    """Rows of two columns, the first of which ranks each query rightly."""
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b", "c", "d"], 6)
    y = np.tile([2.0, 1, 0, 2, 0, 0], 4)
    X = np.column_stack([y + rng.uniform(0, 0.5, 24), rng.normal(size=24)])
    return X, y, groups


def test_groups_reach_predict_of_a_bare_ranker(forwarding_data):
    X, y, groups = forwarding_data
    ranker = PositionInQuery().fit(X, y)
    assert get_scorer("ndcg")(ranker, X, y, groups) == 1
    assert get_metric("ndcg")(y, ranker.predict(X), groups) < 0.7


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("piped", [False, True], ids=["bare", "pipeline"])
def test_groups_reach_predict_in_a_pipeline_and_in_a_search(piped, forwarding_data):
    X, y, groups = forwarding_data
    ranker = make_pipeline(StandardScaler(), PositionInQuery()) if piped else PositionInQuery()
    scorer = get_scorer("ndcg")
    assert scorer(clone(ranker).fit(X, y, groups=groups), X, y, groups) == 1

    prefix = "positioninquery__" if piped else ""
    grid = {prefix + "sign": [-1, 1]}
    search = GridSearchCV(ranker, grid, cv=GroupKFold(2), scoring=scorer, error_score="raise")
    search.fit(X, y, groups=groups)
    assert search.best_score_ == 1
    assert search.cv_results_["mean_test_score"][0] < 0.7
    assert scorer(search, X, y, groups) == search.score(X, y, groups=groups) == 1

    nested = GridSearchCV(search, {"error_score": ["raise"]}, cv=GroupKFold(2), scoring=scorer)
    nested.fit(X, y, groups=groups)
    assert scorer(nested, X, y, groups) == 1


@pytest.mark.usefixtures("routing")
def test_groups_reach_a_transformer_in_front_of_a_ranker(data):
    X, y, groups = data
    pipeline = make_pipeline(CentreInQuery(), MPBoost(n_estimators=5))
    pipeline.fit(X, y, groups=groups)
    centred = CentreInQuery().transform(X, groups)
    by_hand = MPBoost(n_estimators=5).fit(centred, y, groups=groups)
    score = get_scorer("ndcg@10")(pipeline, X, y, groups)
    assert score == get_scorer("ndcg@10")(by_hand, centred, y, groups)


@pytest.mark.usefixtures("routing")
def test_groups_are_not_forced_on_predict(forwarding_data):
    X, y, groups = forwarding_data
    ranker = PositionInQuery().set_predict_request(groups=False).fit(X, y)
    expected = get_metric("ndcg")(y, ranker.predict(X), groups)
    assert get_scorer("ndcg")(ranker, X, y, groups) == expected < 0.7


@pytest.mark.parametrize("enabled", [True, False])
def test_any_regressor_can_be_scored(enabled, data):
    """Plain regressors, one without routing support, and objects that are no estimators."""
    X, y, groups = data

    class Duck:
        def predict(self, X):
            return X[:, 0]

    estimators = [
        Duck(),
        LinearRegression().fit(X, y),
        AdaBoostRegressor(n_estimators=2, random_state=0).fit(X, y),
    ]
    with sklearn.config_context(enable_metadata_routing=enabled):
        for estimator in estimators:
            expected = mean_ndcg(y, estimator.predict(X), groups)
            score = get_scorer("ndcg@10")(estimator, X, y, groups)
            assert score == pytest.approx(expected, abs=1e-12)
