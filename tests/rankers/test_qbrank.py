# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""QBRank and GBRank beyond their oracle: labels that are missing, preferences, parameters."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_ltr import GBRank, QBRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.rankers.qbrank import RankingRisk
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.scorers import get_scorer


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=30, n_docs=(1, 20), n_features=12, random_state=0)


def make(R=QBRank, **params):
    quick = {"n_estimators": 15, "learning_rate": 0.3, "max_leaf_nodes": 5, "min_samples_leaf": 3}
    return R(**(quick | params))


def pairs_of(y, groups):
    with np.errstate(invalid="ignore"):
        return np.argwhere((groups[:, None] == groups) & (y[:, None] > y))


def same(a, b, X):
    assert_array_equal(a.train_loss_, b.train_loss_)
    assert_array_equal(a.predict(X), b.predict(X))


@pytest.mark.parametrize("w", [0, 0.3, 1])
@pytest.mark.parametrize("tie_weight", [0, 0.5])
def test_the_step_is_the_best_one(w, tie_weight, data):
    _, y, groups = data
    y = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
    rng = np.random.default_rng(0)
    offsets = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
    rows = RankingData.of(y, offsets, rng.choice([0.5, 2.0], 30))
    R = RankingRisk(QBRank(pair_weight=w, tie_weight=tie_weight), rows)

    def risk(s):
        R.update(h + s * g)
        return R.loss

    for scale in (1e-3, 1, 1e3):
        h, g = rng.normal(size=(2, len(y)))
        g *= scale
        s = R.step(h, g)
        best = minimize_scalar(risk, tol=1e-12)
        assert s == pytest.approx(best.x, rel=1e-5)
        assert risk(s) <= best.fun * (1 + 1e-14)
        R.update(h)
        slope = (R.gradient * g).sum() / 30
        assert slope == pytest.approx(
            (risk(1e-6 / scale) - risk(-1e-6 / scale)) * scale / 2e-6, 1e-4
        )
    assert R.step(h, np.zeros_like(h)) == 0


def test_rows_without_a_label_and_a_preference_change_nothing(data):
    X, y, groups = data
    unlabelled = np.arange(len(y)) % 4 == 0
    some = np.where(unlabelled, np.nan, y)
    ranker = make(max_bins=None, min_samples_leaf=1).fit(X, some, groups)
    assert_array_equal(ranker.grades_, np.unique(y))
    assert ranker.n_queries_ == len(np.unique(groups))
    kept = ~unlabelled
    without = make(max_bins=None, min_samples_leaf=1).fit(X[kept], y[kept], groups[kept])
    # Thresholds lie elsewhere, for lack of the unlabelled rows; the risk is the same.
    n_queries = len(np.unique(groups)) / len(np.unique(groups[kept]))
    assert_allclose(ranker.train_loss_[:3] * n_queries, without.train_loss_[:3], rtol=1e-6)


def test_scores_leave_unlabelled_rows_out(data):
    X, y, groups = data
    some = np.where(np.arange(len(y)) % 4 == 0, np.nan, y)
    kept = ~np.isnan(some)
    ranker = make().fit(X, some, groups)
    expected = ndcg_score(y[kept], ranker.predict(X)[kept], groups[kept], k=10)
    weight = 1.0 + groups % 3
    assert ranker.score(X, some, groups) == expected
    assert get_scorer("ndcg@10")(ranker, X, some, groups=groups) == expected
    assert get_scorer("ndcg@10")(ranker, X, some.tolist(), groups=groups.tolist()) == expected
    assert ranker.score(X, some, groups, query_weight=weight) == ndcg_score(
        y[kept], ranker.predict(X)[kept], groups[kept], k=10, query_weight=weight[kept]
    )
    search = GridSearchCV(make(), {"pair_weight": [0.1, 0.9]}, cv=GroupKFold(3))
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, some, groups=groups)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    stopped = make(n_estimators=200, early_stopping=True, random_state=0).fit(X, some, groups)
    assert stopped.n_iter_ < 200
    judged = make().fit(X, y, groups, X_val=X, y_val=some, groups_val=groups)
    assert judged.validation_score_[-1] == judged.score(X, some, groups)


def test_pairs_of_grades_given_as_preferences(data):
    X, y, groups = data
    pairs = pairs_of(y, groups)
    for R in (QBRank, GBRank):
        expected = make(R, margin=1.0).fit(X, y, groups)
        labels = {"y": y} if R is QBRank else {}
        ranker = make(R, margin=1.0).fit(X, groups=groups, preferences=pairs, **labels)
        n = 5
        assert_allclose(ranker.train_loss_[:n], expected.train_loss_[:n], rtol=1e-9)
        heavy = make(R, margin=1.0).fit(
            X,
            groups=groups,
            preferences=pairs,
            preference_weight=np.full(len(pairs), 2.0),
            **labels,
        )
        if R is GBRank:  # all weights doubled
            assert_allclose(heavy.train_loss_[:n], 2 * expected.train_loss_[:n], rtol=1e-9)


def test_labels_and_preferences_of_different_rows(data):
    X, y, groups = data
    clicked = groups < 15  # known by preferences only
    labels = np.where(clicked, np.nan, y)
    pairs = pairs_of(np.where(clicked, y, np.nan), groups)
    both = make().fit(X, labels, groups, preferences=pairs)
    assert both.n_queries_skipped_ == sum(len(set(y[groups == q])) == 1 for q in range(15))
    labels_only = make(pair_weight=0).fit(X, labels, groups, preferences=pairs)
    pairs_only = make(pair_weight=1).fit(X, labels, groups, preferences=pairs)
    same(pairs_only, make(pair_weight=1).fit(X, labels, groups, preferences=pairs), X)
    assert both.score(X, y, groups) > 0.8
    scores = [r.score(X, y, groups) for r in (labels_only, pairs_only, both)]
    assert len(set(scores)) == 3
    order = np.random.default_rng(0).permutation(len(y))
    place = np.argsort(order)
    again = make().fit(X[order], labels[order], groups[order], preferences=place[pairs])
    same(again, both, X)


def test_only_labels_of_pairs_only_are_ignored(data):
    X, y, groups = data
    ranker = make(pair_weight=1).fit(X, y, groups)
    single = np.isin(groups, [q for q in range(30) if len(set(y[groups == q])) == 1])
    other = np.where(single, 7.0, y)
    expected = make(pair_weight=1).fit(X, other, groups)
    assert_allclose(ranker.train_loss_, expected.train_loss_)
    assert ranker.n_queries_skipped_ == len(np.unique(groups[single]))
    assert make().fit(X, y, groups).n_queries_skipped_ == 0


def test_nothing_to_learn_from(data):
    X, y, groups = data
    nothing = np.full(len(y), np.nan)
    with pytest.raises(ValueError, match=r"No query .*pair"):
        make().fit(X, nothing, groups)
    with pytest.raises(ValueError, match=r"No query .*pair"):
        make(pair_weight=1).fit(X, groups % 2, groups)
    with pytest.raises(ValueError, match="requires y"):
        make().fit(X, groups=groups)
    with pytest.raises(ValueError, match=r"No query .*pair"):
        make(pair_weight=0).fit(X, nothing, groups, preferences=[[0, 1]])
    with pytest.raises(ValueError, match="Early stopping with `preferences`"):
        make(early_stopping=True).fit(X, groups=groups, preferences=pairs_of(y, groups))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"pair_weight": -0.1}, "pair_weight"),
        ({"pair_weight": 1.1}, "pair_weight"),
        ({"margin": 0}, "margin"),
        ({"margin": "grades"}, "`margin`"),
        ({"target": "gradient"}, "`target`"),
        ({"tie_weight": -1}, "tie_weight"),
    ],
)
def test_parameters_out_of_range(params, message, data):
    with pytest.raises(ValueError, match=message):
        make(**params).fit(*data)


def test_ties_go_with_grades(data):
    X, y, groups = data
    with pytest.raises(ValueError, match="`tie_weight` is for pairs of equal grades"):
        make(tie_weight=1).fit(X, y, groups, preferences=[[0, 1]])
    loose = make(n_estimators=60).fit(X, y, groups).predict(X)
    tied = make(n_estimators=60, tie_weight=5).fit(X, y, groups).predict(X)

    def spread(scores):
        """Share of the variance that lies between rows of equal grade."""
        cells = groups * 10 + y.astype(int)
        means = (np.bincount(cells, scores) / np.maximum(np.bincount(cells), 1))[cells]
        return ((scores - means) ** 2).sum() / ((scores - scores.mean()) ** 2).sum()

    assert spread(tied) < spread(loose)


@pytest.mark.parametrize("R", [QBRank, GBRank])
def test_a_query_of_2_500_000_000_pairs(R):
    n = 100_000
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 2).astype(float)
    X = (y + 0.7 * rng.normal(size=n))[:, None]
    ranker = make(R, n_estimators=3).fit(X, y, np.zeros(n))
    assert ranker.n_iter_ == 3
    assert ranker.score(X, y, np.zeros(n)) > 0.8


def test_gbrank_averages(data):
    X, y, groups = data
    ranker = make(GBRank, learning_rate=0.8).fit(X, y, groups)
    trees = [tree for _, tree in ranker.model_.terms]
    for k, scores in enumerate(ranker.staged_predict(X), start=1):
        assert_allclose(scores, sum(0.8 * t.predict(X) for t in trees[:k]) / (k + 1), atol=1e-12)
    assert_allclose(ranker.predict(X), scores)
    assert ranker.model_.terms[0][0] == 0.8 / 16
    warm = make(GBRank, learning_rate=0.8, n_estimators=4, warm_start=True).fit(X, y, groups)
    warm.set_params(n_estimators=15).fit(X, y, groups)
    same(warm, ranker, X)


def test_gbrank_with_a_whole_gbt_a_round(data):
    X, y, groups = data
    estimator = GradientBoostingRegressor(n_estimators=20, min_samples_leaf=3)
    strong = make(GBRank, learning_rate=1.0, estimator=estimator).fit(X, y, groups)
    single = make(GBRank, learning_rate=1.0).fit(X, y, groups)
    assert strong.score(X, y, groups) > single.score(X, y, groups)
    linear = make(GBRank, learning_rate=1.0, estimator=Ridge()).fit(X, y, groups)
    assert linear.score(X, y, groups) > 0.7
