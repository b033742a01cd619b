# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The general boosting method: any loss, any regressor."""

import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_ltr import QBRank, QuadraticBoosting, RegressionRanker, losses
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.scorers import get_scorer

LOSSES = [getattr(losses, name)() for name in losses.__all__]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


class Huber(BaseEstimator):
    """A user's loss of single rows: square near 0, absolute beyond `delta`."""

    def __init__(self, delta=1.0):
        self.delta = delta

    def value(self, y, scores, offsets):
        r = np.abs(y - scores)
        rows = np.where(r < self.delta, r**2 / 2, self.delta * (r - self.delta / 2))
        return np.add.reduceat(rows, offsets[:-1])

    def gradient(self, y, scores, offsets):
        return np.clip(scores - y, -self.delta, self.delta)

    def curvature(self, y, scores, offsets):
        return np.ones_like(y)


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=40, n_docs=(1, 20), n_features=12, random_state=0)


def make(n_estimators=15, **params):
    params = {"learning_rate": 0.3, "max_leaf_nodes": 5, "min_samples_leaf": 3, **params}
    return QuadraticBoosting(n_estimators, random_state=0, **params)


@each_loss
def test_risk_is_the_mean_loss_and_never_rises(loss, data):
    X, y, groups = data
    weight = np.random.default_rng(0).choice([0.3, 1.0, 4.0], 40)[groups]
    ranker = make(40, loss=loss).fit(X, y, groups, query_weight=weight)
    assert ranker.n_iter_ > 20
    if loss.bound.draws:  # each round has a risk of its own
        assert ranker.train_loss_[-1] < ranker.train_loss_[0]
        return
    assert (np.diff(ranker.train_loss_) <= 0).all()
    offsets = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
    of_query = weight[offsets[:-1]]
    for scores, risk in zip(ranker.staged_predict(X), ranker.train_loss_, strict=True):
        values = loss.value(y, scores, offsets)
        assert_allclose(risk, (of_query / of_query.mean() * values).mean(), rtol=1e-9)
    assert ranker.score(X, y, groups) > 0.8


def test_squared_error_is_least_squares_boosting(data):
    X, y, groups = data
    ranker = make(loss=losses.SquaredError()).fit(X, y, groups)
    tree = {"learning_rate": 0.3, "max_leaf_nodes": 5, "min_samples_leaf": 3}
    expected = RegressionRanker(15, gain="linear", **tree).fit(X, y, groups)
    assert_allclose(ranker.predict(X), expected.predict(X), rtol=1e-6)
    assert ranker.model_.terms[0][1].value == pytest.approx(y.mean())


def test_squared_hinge_is_qbrank_with_pairs_only(data):
    X, y, groups = data
    ranker = make(loss=losses.SquaredHinge(margin=0.7)).fit(X, y, groups)
    tree = {"learning_rate": 0.3, "max_leaf_nodes": 5, "min_samples_leaf": 3}
    expected = QBRank(15, pair_weight=1, margin=0.7, **tree).fit(X, y, groups)
    # Their line searches differ in how exact they are.
    assert_allclose(ranker.train_loss_, expected.train_loss_, rtol=0.05)
    assert_allclose(ranker.train_loss_[0], expected.train_loss_[0], rtol=1e-4)


def test_a_loss_of_differences_starts_at_0(data):
    X, y, groups = data
    trees = make(2, loss=losses.LogisticPairs()).fit(X, y, groups).model_.terms
    assert len(trees) == 2


def test_which_queries_have_something_to_tell(data):
    X, y, groups = data
    single = sum(len(set(y[groups == q])) == 1 for q in range(40))
    assert single > 0
    assert make(loss=losses.LogisticPairs()).fit(X, y, groups).n_queries_skipped_ == single
    assert make(loss=losses.SquaredError()).fit(X, y, groups).n_queries_skipped_ == 0
    with pytest.raises(ValueError, match=r"No query .*pair"):
        make(loss=losses.ListCrossEntropy()).fit(X, groups % 2, groups)
    alone = make(loss=losses.SquaredError()).fit(X, y, np.arange(len(y)))
    assert len(np.unique(alone.predict(X))) > 20


def test_a_users_loss_in_a_search(data):
    X, y, groups = data
    pipeline = make_pipeline(StandardScaler(), make(loss=Huber()))
    grid = {"quadraticboosting__loss__delta": [0.01, 1.0]}
    scoring = get_scorer("ndcg@5")
    search = GridSearchCV(pipeline, grid, cv=GroupKFold(3), scoring=scoring)
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    for delta, expected in zip([0.01, 1.0], search.cv_results_["mean_test_score"], strict=True):
        scores = []
        for train, test in GroupKFold(3).split(X, y, groups):
            ranker = make(loss=Huber(delta)).fit(X[train], y[train], groups[train])
            scores.append(scoring(ranker, X[test], y[test], groups=groups[test]))
        assert np.mean(scores) == pytest.approx(expected)
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    assert clone(search.best_estimator_[-1]).loss.delta in (0.01, 1.0)


def test_a_users_loss_stops_early_and_continues(data):
    X, y, groups = data
    ranker = make(300, loss=Huber(), early_stopping=True).fit(X, y, groups)
    assert ranker.best_iteration_ <= ranker.n_iter_ < 300
    warm = make(4, loss=Huber(), warm_start=True).fit(X, y, groups)
    warm.set_params(n_estimators=6).fit(X, y, groups)
    assert_array_equal(warm.predict(X), make(6, loss=Huber()).fit(X, y, groups).predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(warm)).predict(X), warm.predict(X))


def faulty(name, function):
    loss = Huber()
    setattr(loss, name, lambda y, scores, offsets: function(y))
    return loss


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (faulty("value", lambda y: 0.0), r"`value` must return one number for each query"),
        (faulty("value", np.zeros_like), r"`value` must return one number for each query"),
        (faulty("gradient", lambda y: y[1:]), r"`gradient` must return one number for each row"),
        (faulty("gradient", lambda y: y / 0.0), r"`gradient` returned a number that is not finite"),
        (faulty("curvature", lambda y: -np.ones_like(y)), r"`curvature` must bound the Hessian"),
        (faulty("curvature", np.zeros_like), r"`curvature` must bound the Hessian"),
        (object(), r"`loss` must have the methods .*has no \['value', 'gradient', 'curvature'\]"),
        ("logistic", r"`loss` must have the methods"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_faulty_losses_are_named(loss, message, data):
    with pytest.raises(ValueError, match=message):
        make(loss=loss).fit(*data)


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(alpha=1e-3),
        DecisionTreeRegressor(max_leaf_nodes=5),
        ExtraTreesRegressor(3, max_leaf_nodes=5),
        make_pipeline,  # replaced below
    ],
    ids=["ridge", "tree", "extra trees", "regressor that takes weights by another name"],
)
def test_any_regressor_with_weights(estimator, data):
    X, y, groups = data
    if estimator is make_pipeline:
        with pytest.raises(ValueError, match=r"`estimator` must be .*`sample_weight`"):
            make(estimator=KNeighborsRegressor()).fit(X, y, groups)
        return
    params = {"estimator": estimator, "loss": losses.LogisticPairs()}
    ranker = make(**params).fit(X, y, groups)
    assert (np.diff(ranker.train_loss_) <= 0).all()
    assert ranker.score(X, y, groups) > 0.75
    assert_allclose(list(ranker.staged_predict(X))[-1], ranker.predict(X))

    order = np.random.default_rng(0).permutation(len(y))
    again = make(**params).fit(X[order], y[order], groups[order].astype(str))
    assert_array_equal(again.predict(X), ranker.predict(X))
    warm = make(5, warm_start=True, **params).fit(X, y, groups)
    warm.set_params(n_estimators=15).fit(X, y, groups)
    assert_array_equal(warm.predict(X), ranker.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), ranker.predict(X))
    stopped = make(50, early_stopping=True, subsample=0.5, n_iter_no_change=3, **params)
    assert stopped.fit(X, y, groups).n_iter_ <= 50

    if hasattr(estimator, "max_leaf_nodes"):
        assert ranker.feature_importances_.sum() == pytest.approx(1)
    else:
        with pytest.raises(AttributeError):
            _ = ranker.feature_importances_


def test_boosted_ridge_is_a_linear_model(data):
    X, y, groups = data
    ranker = make(60, estimator=Ridge(alpha=1e-6), loss=losses.SquaredError(), learning_rate=0.5)
    scores = ranker.fit(X, y, groups).predict(X)
    solution = np.linalg.lstsq(np.column_stack([X, np.ones(len(y))]), y, rcond=None)[0]
    assert_allclose(scores, np.column_stack([X, np.ones(len(y))]) @ solution, atol=1e-4)


def test_rows_are_what_the_estimator_takes(data):
    X, y, groups = data
    gaps = np.where(np.abs(X) < 0.5, 0, X)
    for form in (sparse.csr_array(gaps), sparse.csc_matrix(gaps)):
        ranker = make(estimator=Ridge(solver="lsqr", tol=1e-10)).fit(form, y, groups)
        expected = make(estimator=Ridge(solver="lsqr", tol=1e-10)).fit(gaps, y, groups)
        assert_allclose(ranker.predict(form), expected.predict(gaps), rtol=1e-5, atol=1e-6)
    holes = np.where(np.abs(X) < 0.5, np.nan, X)
    with pytest.raises(ValueError, match="NaN"):
        make(estimator=Ridge()).fit(holes, y, groups)
    tree = DecisionTreeRegressor(max_leaf_nodes=5)
    assert make(estimator=tree).fit(holes, y, groups).score(holes, y, groups) > 0.7
    assert make(estimator=tree).__sklearn_tags__().input_tags.allow_nan
    assert not make(estimator=Ridge()).__sklearn_tags__().input_tags.allow_nan


def test_an_estimators_draws_follow_random_state(data):
    X, y, groups = data
    estimator = ExtraTreesRegressor(2, max_leaf_nodes=5, random_state=0)

    def scores(seed):
        ranker = QuadraticBoosting(5, 0.5, estimator=estimator, random_state=seed)
        return ranker.fit(X, y, groups).predict(X)

    assert_array_equal(scores(1), scores(1))
    assert not np.array_equal(scores(1), scores(2))
