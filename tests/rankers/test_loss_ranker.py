# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LossRanker: what the rankers of a loss give, and what has a closed form."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_ltr import ListMLE, ListNet, LossRanker, RankCosine
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.losses import (
    ListCosine,
    ListCrossEntropy,
    ListLikelihood,
    ListNDCGCrossEntropy,
    LogisticPairs,
    SquaredError,
)
from sklearn_ltr.losses.lambdas import Lambdas
from sklearn_ltr.scorers import get_scorer

SHORT = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make(n_queries=40):
    return make_ranking(n_queries=n_queries, n_features=12, random_state=0)


@SHORT
@pytest.mark.parametrize("hidden", [(), (3,)])
@pytest.mark.parametrize(
    ("ranker", "loss"),
    [
        (ListNet(temperature=0.3), ListCrossEntropy(temperature=0.3)),
        (ListMLE(), ListLikelihood()),
        (RankCosine(), ListCosine()),
    ],
    ids=repr,
)
def test_it_is_the_ranker_of_its_loss(ranker, loss, hidden):
    X, y, groups = make()
    params = {"hidden_layer_sizes": hidden, "max_iter": 15, "alpha": 0.1, "random_state": 0}
    expected = ranker.set_params(**params).fit(X, y, groups)
    found = LossRanker(loss=loss, **params).fit(X, y, groups)
    assert_array_equal(found.predict(X), expected.predict(X))
    assert_array_equal(found.train_loss_, expected.train_loss_)
    assert found.n_queries_skipped_ == expected.n_queries_skipped_


def test_squared_error_has_a_closed_form():
    X, y, groups = make()
    y, alpha = y - y.mean(), 0.3
    n_queries = len(np.unique(groups))
    ranker = LossRanker(loss=SquaredError(), alpha=alpha, tol=1e-9).fit(X, y, groups)
    expected = np.linalg.solve(
        X.T @ X / n_queries + alpha * np.eye(X.shape[1]), X.T @ y / n_queries
    )
    assert_allclose(ranker.coef_, expected, rtol=1e-4, atol=1e-6)


def test_none_is_the_logistic_loss_of_pairs():
    X, y, groups = make()
    one, other = LossRanker(), LossRanker(loss=LogisticPairs())
    assert_array_equal(one.fit(X, y, groups).coef_, other.fit(X, y, groups).coef_)


@SHORT
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_a_loss_of_ones_own(solver):
    """Any object with the three methods of `QuadraticBoosting`."""

    class Own(BaseEstimator):
        def value(self, y, scores, offsets):
            return ListCosine().value(y, scores, offsets)

        def gradient(self, y, scores, offsets):
            return ListCosine().gradient(y, scores, offsets)

        def curvature(self, y, scores, offsets):
            return ListCosine().curvature(y, scores, offsets)

    X, y, groups = make()
    params = {"solver": solver, "max_iter": 5, "alpha": 0.1, "random_state": 0}
    own = LossRanker(loss=Own(), **params).fit(X, y, groups)
    assert_array_equal(own.coef_, LossRanker(loss=ListCosine(), **params).fit(X, y, groups).coef_)


def test_what_is_no_loss_is_said():
    X, y, groups = make(5)
    with pytest.raises(ValueError, match=r"`loss` must have the methods"):
        LossRanker(loss="logistic").fit(X, y, groups)
    with pytest.raises(ValueError, match=r"LossRanker by this solver needs the value of a loss"):
        LossRanker(loss=Lambdas()).fit(X, y, groups)
    assert LossRanker(loss=Lambdas(), solver="adam", max_iter=2).fit(X, y, groups).n_iter_ == 2
    with pytest.raises(ValueError, match="`temperature` must be a positive number"):
        LossRanker(loss=ListCrossEntropy(temperature=0)).fit(X, y, groups)
    with pytest.raises(ValueError, match="`y` has the negative grade -1"):
        LossRanker(loss=ListNDCGCrossEntropy()).fit(X, y - 1, groups)


def test_parameters_of_the_loss_are_searched():
    X, y, groups = make()
    search = GridSearchCV(
        LossRanker(loss=ListCrossEntropy()),
        {"loss__temperature": [0.25, 1.0], "alpha": [1e-3, 1.0]},
        cv=GroupKFold(2),
        scoring=get_scorer("ndcg@10"),
    )
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    assert search.best_estimator_.loss.temperature in (0.25, 1.0)
    assert len(set(search.cv_results_["mean_test_score"])) > 1


@pytest.mark.parametrize("hidden", [(), (5,)])
def test_it_learns_the_drawn_cross_entropy(hidden):
    X, y, groups = make(60)
    train, test = groups < 40, groups >= 40
    ranker = LossRanker(hidden, loss=ListNDCGCrossEntropy(), random_state=0)
    ranker.fit(X[train], y[train], groups[train])
    beside = ListNet(hidden, random_state=0).fit(X[train], y[train], groups[train])
    scores = [model.score(X[test], y[test], groups[test]) for model in (ranker, beside)]
    assert scores[0] > scores[1] - 0.03
