# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scorers that weigh clicks by propensities, on request and not otherwise."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
from every_ranker import RANKERS, make, make_data
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import RankSVM
from sklearn_ltr.metrics import dcg_score, get_metric
from sklearn_ltr.model_selection import learning_curve, permutation_importance
from sklearn_ltr.scorers import (
    PropensityScorer,
    RankingScorer,
    get_scorer,
    make_ranking_scorer,
)

WEIGHING = make_ranking_scorer("dcg@3", propensity=True)


class Column(RegressorMixin, BaseEstimator):
    """Scores are a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


class WeighingColumn(Column):
    """The same, which asks for propensities to learn from."""

    __metadata_request__fit = {"propensity": True}

    def fit(self, X, y, propensity=None):
        assert propensity is not None
        return super().fit(X, y)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def log():
    """Sessions of which column 1 was the logged order; column 0 is what attracts."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(400), 5)
    good = rng.random(2000)
    position = np.concatenate([rng.permutation(5) for _ in range(400)])
    # The logged order is poor, so that what attracts is seen by few.
    position[good > 0.8] = 4
    propensity = 1.0 / (1 + position) ** 2
    clicks = (rng.random(2000) < propensity * good).astype(float)
    return np.column_stack([good, -position]), clicks, groups, propensity


def test_it_is_the_metric_of_the_predictions(log):
    X, clicks, groups, p = log
    ranker = Column().fit(X, clicks)
    weight = 1.0 + groups % 3
    found = WEIGHING(ranker, X, clicks, groups, weight, p)
    kwargs = {"k": 3, "query_weight": weight}
    assert found == dcg_score(clicks, X[:, 0], groups, propensity=p, **kwargs)
    assert found != dcg_score(clicks, X[:, 0], groups, **kwargs)
    switches = {"gain": "linear", "self_normalized": True}
    scorer = make_ranking_scorer("dcg@3", propensity=True, **switches)
    expected = dcg_score(clicks, X[:, 0], groups, k=3, propensity=p, **switches)
    assert scorer(ranker, X, clicks, groups, propensity=p) == expected
    by_function = make_ranking_scorer(dcg_score, propensity=True, k=3, **switches)
    assert by_function(ranker, X, clicks, groups, propensity=p) == expected


def test_only_on_request(log):
    X, clicks, groups, p = log
    ranker = Column().fit(X, clicks)
    assert type(make_ranking_scorer("dcg")) is type(get_scorer("dcg")) is RankingScorer
    with pytest.raises(TypeError, match=r"`propensity`: it scores by true grades.*propensity=True"):
        get_scorer("dcg")(ranker, X, clicks, groups, propensity=p)
    with pytest.raises(ValueError, match=r"needs `propensity`.*Of true grades it is 1"):
        WEIGHING(ranker, X, clicks, groups)
    with pytest.raises(ValueError, match="needs `groups`"):
        WEIGHING(ranker, X, clicks, propensity=p)
    with pytest.raises(ValueError, match="`propensity` must be one of"):
        make_ranking_scorer("dcg", propensity=p.tolist())
    for wrong, message in ((p[1:], "2000 rows"), (2 * p, "at most 1")):
        with pytest.raises(ValueError, match=f"`propensity`.*{message}"):
            WEIGHING(ranker, X, clicks, groups, propensity=wrong)


@pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
def test_score_is_of_grades(R):
    X, y, groups = make_data(R)
    model = make(R).fit(X, y, groups)
    with pytest.raises(TypeError, match=rf"{R.__name__}.score\(\).*`propensity`: .*true grades"):
        model.score(X, y, groups=groups, propensity=np.ones(len(y)))


def test_rows_of_which_nothing_is_known_are_left_out(log):
    X, clicks, groups, p = log
    ranker, some = Column().fit(X, clicks), np.arange(len(X)) % 3 > 0
    expected = WEIGHING(ranker, X[some], clicks[some], groups[some], propensity=p[some])
    missing = np.where(some, clicks, np.nan)
    assert WEIGHING(ranker, X, missing, groups, propensity=p) == expected


def by_hand(X, clicks, groups, p, metric=dcg_score):
    return [
        np.mean(
            [
                metric(
                    clicks[t],
                    X[t, column],
                    groups[t],
                    k=3,
                    **({} if p is None else {"propensity": p[t]}),
                )
                for _, t in GroupKFold(4).split(X, clicks, groups)
            ]
        )
        for column in (0, 1)
    ]


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("piped", [False, True])
def test_a_search_on_clicks(piped, log):
    """With propensities it finds what attracts; without, what was shown at the top."""
    X, clicks, groups, p = log
    ranker, name = Column(), "column"
    if piped:
        ranker, name = make_pipeline(StandardScaler(), Column()), "column__column"
    params = {"cv": GroupKFold(4), "error_score": "raise"}
    search = GridSearchCV(ranker, {name: [0, 1]}, scoring=WEIGHING, **params)
    search.fit(X, clicks, groups=groups, propensity=p)
    found = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, by_hand(X, clicks, groups, p), rtol=1e-12)
    assert search.best_params_ == {name: 0}
    assert search.score(X, clicks, groups=groups, propensity=p) == pytest.approx(
        dcg_score(clicks, X[:, 0], groups, k=3, propensity=p)
    )
    naive = GridSearchCV(ranker, {name: [0, 1]}, scoring=get_scorer("dcg@3"), **params)
    naive.fit(X, clicks, groups=groups)
    assert naive.best_params_ == {name: 1}
    with pytest.raises(ValueError, match="needs `propensity`"):
        search.fit(X, clicks, groups=groups)


@pytest.mark.usefixtures("routing")
def test_true_grades_are_not_weighted_by_accident(log):
    """Propensities that go to `fit` do not reach a scorer that was not made for them."""
    X, clicks, groups, p = log
    grid, params = {"column": [0, 1]}, {"cv": GroupKFold(4), "error_score": "raise"}
    search = GridSearchCV(WeighingColumn(), grid, scoring=get_scorer("dcg@3"), **params)
    search.fit(X, clicks, groups=groups, propensity=p)
    expected = by_hand(X, clicks, groups, None)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    scoring = {"clicks": WEIGHING, "grades": get_scorer("dcg@3")}
    both = GridSearchCV(WeighingColumn(), grid, scoring=scoring, refit=False, **params)
    both.fit(X, clicks, groups=groups, propensity=p)
    np.testing.assert_allclose(both.cv_results_["mean_test_grades"], expected, rtol=1e-12)
    np.testing.assert_allclose(
        both.cv_results_["mean_test_clicks"], by_hand(X, clicks, groups, p), rtol=1e-12
    )
    # Where nobody asks for them, scikit-learn says so.
    with pytest.raises(TypeError, match="propensity"):
        cross_val_score(
            Column(),
            X,
            clicks,
            cv=GroupKFold(4),
            scoring=get_scorer("dcg@3"),
            params={"groups": groups, "propensity": p},
        )


def test_copies_and_requests(log, routing):
    X, clicks, groups, p = log
    ranker = Column().fit(X, clicks)
    value = WEIGHING(ranker, X, clicks, groups, propensity=p)
    for copied in (clone(WEIGHING), copy.deepcopy(WEIGHING), pickle.loads(pickle.dumps(WEIGHING))):
        assert type(copied) is PropensityScorer
        assert copied(ranker, X, clicks, groups, propensity=p) == value
        assert repr(copied) == repr(WEIGHING) == f"PropensityScorer(metric={get_metric('dcg@3')!r})"
    assert WEIGHING.get_metadata_routing().score.requests == {
        "groups": True,
        "query_weight": True,
        "propensity": True,
    }
    assert "propensity" not in get_scorer("dcg").get_metadata_routing().score.requests
    renamed = clone(WEIGHING).set_score_request(propensity="p")
    scores = cross_val_score(
        Column(), X, clicks, cv=GroupKFold(4), scoring=renamed, params={"groups": groups, "p": p}
    )
    assert np.mean(scores) == pytest.approx(by_hand(X, clicks, groups, p)[0])


def test_who_has_no_propensities_says_so(log):
    X, clicks, groups, _ = log
    ranker = RankSVM().fit(X, clicks, groups)
    with pytest.raises(ValueError, match="needs `propensity`"):
        permutation_importance(ranker, X, clicks, groups, scoring=WEIGHING, n_repeats=1)
    # scikit-learn warns of what a scorer raises.
    with pytest.warns(UserWarning, match="needs `propensity`"):
        learning_curve(RankSVM(), X, clicks, groups, scoring=WEIGHING, cv=2, train_sizes=[20])
