# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""AdaRank in lock-step with the oracle, its theorem, and where it ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import adarank as oracle
from oracles import metrics as slow
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from strategies import examples, ranking_problems

from sklearn_ltr import AdaRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric, ndcg_score
from sklearn_ltr.rankers.adarank import UPDATES

SLOW = {
    "ndcg": lambda y, s: slow.ndcg(y, s),
    "ndcg@2": lambda y, s: slow.ndcg(y, s, k=2),
    "map": lambda y, s: slow.average_precision(y, s),
    "p@2": lambda y, s: slow.precision_at_k(y, s, 2),
    "kendall": lambda y, s: kendall(y, s),
}


def kendall(y, s):
    """The share of the pairs of different grades in order, minus that out of order; or NaN."""
    i, j = np.nonzero(y[:, None] > y)
    return np.sign(s[i] - s[j]).mean() if len(i) else np.nan


def terms_of(model):
    return [(coefficient, column.feature) for coefficient, column in model.model_.terms]


def fit_or_none(problem, **params):
    """None where the metric is the same for every order."""
    X, y, groups, query_weight = problem
    ranker = AdaRank(**params)
    try:
        return ranker.fit(X, y, groups, query_weight=query_weight)
    except ValueError as error:
        if "same for every order" not in str(error):
            raise
        return None


@examples(200)
@given(
    problem=ranking_problems(max_rows=5, missing=False, grades=("three", "five")),
    metric=st.sampled_from(list(SLOW)),
    update=st.sampled_from(UPDATES),
)
def test_rounds_equal_the_oracle(problem, metric, update):
    X, y, groups, query_weight = problem
    model = fit_or_none(problem, n_estimators=8, metric=metric, update=update)
    weight = np.ones(len(y)) if query_weight is None else query_weight
    used = oracle.used_queries(y, groups, SLOW[metric], weight)
    if model is None:
        assert not used
        return
    assert model.n_queries_ - model.n_queries_skipped_ == len(used)
    terms = terms_of(model)
    *rounds, after = oracle.adarank(X, y, groups, SLOW[metric], terms, query_weight, update)
    assert model.n_iter_ == len(rounds) <= 8
    theorem, E_f = 1.0, 0.0
    for (alpha, k), loss, here in zip(terms, model.train_loss_, rounds, strict=True):
        assert here.phi[k] >= here.phi.max() - 1e-8
        # Closer than that, rounding can decide whether two features tie.
        if here.gap > 1e-8:
            assert k == here.feature
        assert alpha == pytest.approx(here.alpha, rel=1e-6, abs=1e-12)
        assert loss == pytest.approx(here.loss, rel=1e-12)
        # Theorem 1, with E = 0 before the first round; with products as weights, AdaBoost's.
        factor = np.sqrt(max(1 - here.phi[k] ** 2, 1e-11))
        if update == "paper":
            factor *= np.exp(-(here.E_f - E_f - alpha * here.E_h).min())
        theorem *= factor
        assert here.bound <= theorem * (1 + 1e-6)
        E_f = here.E_f
    f = sum((coefficient * X[:, k] for coefficient, k in terms), np.zeros(len(y)))
    assert_allclose(model.predict(X), f, rtol=1e-12, atol=1e-12)
    assert_allclose(X @ model.coef_, f, rtol=1e-12, atol=1e-12)
    if model.n_iter_ < 8:
        chosen = {k for _, k in terms}
        assert len(chosen) <= 1 or update == "adaboost"
        stalled = update == "paper" and chosen == {after.feature}
        assert stalled or abs(after.alpha) < 1e-12 or after.gap < 1e-8


@examples(30)
@given(
    problem=ranking_problems(max_rows=5, missing=False, grades=("three", "five")),
    metric=st.sampled_from(list(SLOW)),
)
def test_the_loss_bounds_the_metric(problem, metric):
    """e^-E is at least 1 - E, over the queries that the loss is of."""
    X, y, groups, query_weight = problem
    model = fit_or_none(problem, n_estimators=5, metric=metric)
    if model is None:
        return
    weight = np.ones(len(y)) if query_weight is None else query_weight
    E = get_metric(metric)
    used = oracle.used_queries(y, groups, SLOW[metric], weight)
    keep = np.isin(groups, [groups[rows[0]] for rows in used])
    for loss, scores in zip(model.train_loss_, model.staged_predict(X), strict=True):
        mean = E(y[keep], scores[keep], groups[keep], weight[keep])
        assert loss >= (1 - mean) * (1 - 1e-12)


def two_kinds(n_queries=40, seed=0):
    """Queries of which the first column orders one half and the second one the other."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), 8)
    y = rng.integers(0, 3, len(groups)).astype(float)
    X = rng.normal(size=(len(groups), 3))
    X[np.arange(len(groups)), groups % 2] = y + 0.1 * rng.normal(size=len(groups))
    return X, y, groups


def test_goes_on_to_what_the_first_feature_misses():
    X, y, groups = two_kinds()
    ranker = AdaRank(n_estimators=2, metric="ndcg").fit(X, y, groups)
    assert {k for _, k in terms_of(ranker)} == {0, 1}
    best_alone = max(ndcg_score(y, X[:, k], groups) for k in range(3))
    assert ndcg_score(y, ranker.predict(X), groups) > best_alone + 0.02
    assert_array_equal(ranker.coef_ > 0, [True, True, False])
    assert_allclose(ranker.feature_importances_, ranker.coef_ / ranker.coef_.sum())


def test_ends_where_nothing_changes_any_more():
    """The same feature again makes the scores longer, and no more."""
    X, y, groups = make_ranking(n_queries=50, random_state=0)
    ranker = AdaRank(n_estimators=100).fit(X[:, :1], y, groups)
    assert ranker.n_iter_ == ranker.best_iteration_ == 1
    assert ranker.coef_[0] > 0
    assert_array_equal(AdaRank(n_estimators=1).fit(X[:, :1], y, groups).coef_, ranker.coef_)
    ranker.set_params(warm_start=True).fit(X[:, :1], y, groups)
    assert ranker.n_iter_ == 1


@pytest.mark.parametrize("metric", ["ndcg", "map", "mrr"])
def test_a_perfect_feature_has_a_finite_coefficient(metric):
    X, y, groups = two_kinds()
    X[:, 2] = y
    ranker = AdaRank(metric=metric).fit(X, y, groups)
    assert ranker.n_iter_ == 1
    assert_allclose(ranker.coef_, [0, 0, 0.5 * np.log(2e12)], rtol=1e-4)
    assert ranker.train_loss_[0] == pytest.approx(np.exp(-1))


@pytest.mark.parametrize("metric", ["ndcg", "map", "kendall"])
def test_adaboost_looks_for_other_features_where_the_paper_stalls(metric):
    X, y, groups = make_ranking(n_queries=80, random_state=0)
    fits = [AdaRank(30, metric=metric, update=update).fit(X, y, groups) for update in UPDATES]
    paper, adaboost = ((fit.coef_ != 0).sum() for fit in fits)
    assert adaboost > paper
    assert fits[1].n_iter_ == 30


@pytest.mark.parametrize("update", UPDATES)
def test_warm_start_goes_on(update):
    X, y, groups = two_kinds()
    weight = np.random.default_rng(0).uniform(0.5, 2, 40)[groups]
    expected = AdaRank(9, metric="ndcg", update=update).fit(X, y, groups, query_weight=weight)
    ranker = AdaRank(4, metric="ndcg", update=update, warm_start=True)
    ranker.fit(X, y, groups, query_weight=weight)
    ranker.set_params(n_estimators=9).fit(X, y, groups, query_weight=weight)
    assert ranker.n_iter_ == 9
    assert_array_equal(ranker.coef_, expected.coef_)
    assert_array_equal(ranker.train_loss_, expected.train_loss_)


def test_a_perfect_feature_decides_after_others():
    """Others that were chosen in an earlier fit only order what it leaves tied."""
    X, y, groups = two_kinds()
    ranker = AdaRank(2, metric="ndcg", warm_start=True).fit(X, y, groups)
    X[:, 2] = y
    ranker.set_params(n_estimators=30).fit(X, y, groups)
    assert ndcg_score(y, ranker.predict(X), groups) == pytest.approx(1)
    assert np.isfinite(ranker.coef_).all()


def test_nothing_to_gain():
    """No feature has a relevant row in first place: all alphas are 0."""
    y = np.tile([0.0, 0.0, 1.0], 5)
    X = np.column_stack([-y, -2 * y])
    ranker = AdaRank(metric="p@1").fit(X, y, np.repeat(np.arange(5), 3))
    assert ranker.n_iter_ == 0
    assert_array_equal(ranker.coef_, 0)
    assert_array_equal(ranker.predict(X), 0)


def test_features_that_tie():
    """Copies, and what ranks alike: the lowest one, whatever rounding says."""
    X, y, groups = two_kinds()
    weight = np.random.default_rng(0).uniform(0.1, 1, 40)[groups]
    X = np.column_stack([X[:, 2], 3 * X[:, 0] + 1, X[:, 0], X[:, 1], X[:, 1] / 7])
    ranker = AdaRank(20, metric="map").fit(X, y, groups, query_weight=weight)
    assert_array_equal(ranker.coef_ != 0, [False, True, False, True, False])


def test_weights_are_repetitions():
    X, y, groups = two_kinds(12)
    times = np.array([1, 2, 3] * 4)
    rows = np.concatenate([np.flatnonzero(groups == q) for q in range(12) for _ in range(times[q])])
    copy = np.repeat(np.arange(times.sum()), 8)
    weighted = AdaRank(10, metric="map").fit(X, y, groups, query_weight=times[groups])
    repeated = AdaRank(10, metric="map").fit(X[rows], y[rows], copy)
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)
    assert_allclose(weighted.train_loss_, repeated.train_loss_, rtol=1e-10)


@pytest.mark.parametrize("metric", ["ndcg@10", "map"])
def test_queries_that_say_nothing_are_left_out(metric):
    X, y, groups = two_kinds()
    y[groups == 3] = 0
    y[groups == 8] = 2
    y[::8], y[1::8] = np.where(np.isin(groups[::8], [3, 8]), [y[::8], y[1::8]], [[0], [2]])
    keep = ~np.isin(groups, [3, 8])
    ranker = AdaRank(10, metric=metric).fit(X, y, groups)
    without = AdaRank(10, metric=metric).fit(X[keep], y[keep], groups[keep])
    assert ranker.n_queries_skipped_ == 2
    assert without.n_queries_skipped_ == 0
    assert_array_equal(ranker.coef_, without.coef_)
    # Also where the metric has a value for them, or goes by the order of the rows.
    xgboost = AdaRank(10, metric=get_metric(metric, like="xgboost"))
    with pytest.warns(UserWarning, match=r"takes ties='average' in the place of ties='input'"):
        xgboost.fit(X, y, groups)
    assert_array_equal(ranker.coef_, xgboost.coef_)


def test_of_the_same_value_in_every_order():
    """Graded, but all rows are relevant."""
    X, y, groups = two_kinds()
    with pytest.raises(ValueError, match=r"AveragePrecision.* is the same for every order"):
        AdaRank(metric="map").fit(X, y + 1, groups)
    with pytest.raises(ValueError, match=r"PrecisionAtK.* is the same for every order"):
        AdaRank(metric="p@8").fit(X, y, groups)
    assert AdaRank(metric="ndcg").fit(X, y + 1, groups).n_queries_skipped_ == 0


@pytest.mark.parametrize("metric", ["ndcg", "map", "p@3", get_metric("err@5", max_grade=2)])
def test_sparse(metric):
    X, y, groups = two_kinds()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0
    dense = AdaRank(10, metric=metric).fit(X, y, groups)
    for convert in (sparse.csr_array, sparse.csc_matrix):
        ranker = AdaRank(10, metric=metric).fit(convert(X), y, groups)
        assert_array_equal(ranker.coef_, dense.coef_)
        assert_array_equal(ranker.predict(convert(X)), dense.predict(X))


def test_single_precision():
    X, y, groups = two_kinds()
    X = X.astype(np.float32)
    ranker = AdaRank(10).fit(X, y, groups)
    assert ranker.predict(X).dtype == np.float64
    assert_array_equal(ranker.predict(X), ranker.predict(X.astype(np.float64)))
    assert_array_equal(ranker.coef_, AdaRank(10).fit(X.astype(np.float64), y, groups).coef_)


def test_negated_columns():
    """The recipe of the user guide, for features that are low where rows are relevant."""
    X, y, groups = two_kinds()
    X[:, 1] *= -1
    with_negated = make_pipeline(
        FunctionTransformer(lambda X: np.hstack([X, -X])), AdaRank(10, metric="ndcg")
    )
    with_negated.fit(X, y, adarank__groups=groups)
    coef = with_negated[-1].coef_
    assert_array_equal(coef > 0, [True, False, False, False, True, False])
    alone = AdaRank(10, metric="ndcg").fit(X, y, groups)
    scores = with_negated.predict(X)
    assert ndcg_score(y, scores, groups) > ndcg_score(y, alone.predict(X), groups) + 0.03


@pytest.mark.parametrize("metric", ["dcg", "dcg@10", get_metric("dcg", gain="linear"), "neg_arp"])
def test_metrics_without_limits_are_refused(metric):
    X, y, groups = two_kinds()
    with pytest.raises(ValueError, match="between -1 and 1"):
        AdaRank(metric=metric).fit(X, y, groups)


def test_unknown_update():
    X, y, groups = two_kinds()
    with pytest.raises(ValueError, match=r"`update` must be one of \['paper', 'adaboost'\]"):
        AdaRank(update="product").fit(X, y, groups)


def test_negative_grades():
    X, y, groups = two_kinds()
    with pytest.raises(ValueError, match="negative"):
        AdaRank(metric="ndcg").fit(X, y - 1, groups)
    ranker = AdaRank(metric=get_metric("map", relevant_from=0)).fit(X, y - 1, groups)
    assert ranker.n_iter_ > 0
    assert AdaRank(metric="ndcg@5").__sklearn_tags__().target_tags.positive_only
    assert not AdaRank(metric="map").__sklearn_tags__().target_tags.positive_only
