# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FeatureRank against the slow oracle, feature by feature, and its own rules."""

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import featurerank as oracle
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from strategies import examples, ranking_problems

from sklearn_ltr import FeatureRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.scorers import get_scorer
from sklearn_ltr.weak import hidden_order
from sklearn_ltr.weak.hidden_order import ClassCenters, HiddenOrder


def make_lists(n_queries=20, n_rows=30, seed=0):
    """Lists in which every row has a rank of its own, and one feature is best in the middle."""
    rng = np.random.default_rng(seed)
    n = n_queries * n_rows
    X = rng.random((n, 4))
    utility = X[:, 0] - 2 * np.abs(X[:, 1] - 0.6) + 0.1 * rng.normal(size=n)
    groups = np.repeat(np.arange(n_queries), n_rows)
    return X, utility, groups


def one_query(n):
    return QueryGroups.from_ids(None, n)


# --- against the oracle --------------------------------------------------------------------------


def check_in_lock_step(problem, K):
    X, y, groups, query_weight = problem
    model = FeatureRank(n_classes=K).fit(X, y, groups, query_weight=query_weight)
    fitted = list(zip(model.centers_, model.beta_, strict=True))
    rounds = list(oracle.featurerank(X, y, groups, K, query_weight, follow=fitted))
    assume(min(r.margin for r in rounds) > 1e-9)  # which class is the nearest is not in doubt
    assert model.centers_.shape == (X.shape[1], K)
    for m, expected in enumerate(rounds):
        assert_allclose(model.centers_[m], expected.centers, rtol=1e-11, atol=1e-13)
        assert_allclose(model.beta_[m], expected.beta, rtol=1e-9, atol=1e-12)
        assert_allclose(model.train_loss_[m], expected.T, rtol=1e-11, atol=1e-13)
    learnt = ~np.isnan(rounds[-1].f)
    scores = model.predict(X, groups=groups)
    assert_array_equal(scores[learnt], rounds[-1].f[learnt])


@examples(100)
@given(
    problem=ranking_problems(missing=False, grades=("three", "continuous", "negative")),
    K=st.sampled_from([2, 3, 4, 7, 16]),
)
def test_equals_the_oracle(problem, K):
    check_in_lock_step(problem, K)


@examples(100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 40),
    K=st.integers(2, 20),
    decimals=st.integers(1, 16),
)
def test_equals_the_oracle_on_lists(seed, n_rows, K, decimals):
    X, y, groups = make_lists(3, n_rows, seed)
    check_in_lock_step((X.round(decimals), y, groups, None), K)


# --- class centres -------------------------------------------------------------------------------


def test_intervals_where_K_divides_n():
    """Then chunk i K // n of the sorted list, as one would write it."""
    X, y, groups = make_lists(5, 24)
    for K in (2, 3, 8, 24):
        expected = np.zeros(K)
        for q in range(5):
            rows = np.flatnonzero(groups == q)
            rows = rows[np.argsort(-y[rows])]
            chunk = np.arange(24) * K // 24
            expected += [X[rows[chunk == k], 1].mean() / 5 for k in range(K)]
        model = FeatureRank(n_classes=K).fit(X, y, groups)
        assert_allclose(model.centers_[1], expected[::-1], rtol=1e-12)


def test_short_lists_and_ties():
    x = np.array([1.0, 5, 2, 6])
    y = np.array([3.0, 2, 1, 0])

    def centers(y, K):
        return ClassCenters(RankingData.of(y, [0, 4]), K).of(x)

    assert_allclose(centers(y, 8), [6, 6, 2, 2, 5, 5, 1, 1])
    assert_allclose(centers(y, 4), [6, 2, 5, 1])
    # Intervals of 4/3 rows: 1 and a third of 5; the rest of 5 and as much of 2; its rest and 6.
    assert_allclose(centers(y, 3), [(2 / 3 + 6) * 0.75, 3.5, (1 + 5 / 3) * 0.75])
    tied = np.array([1.0, 1, 1, 0])  # mean 8/3 at the first three positions
    assert_allclose(centers(tied, 4), [6, 8 / 3, 8 / 3, 8 / 3])
    assert_allclose(centers(tied, 2), [13 / 3, 8 / 3])


def test_each_query_counts_the_same():
    X, y, groups = make_lists(3, 10)
    weight = np.array([1.0, 2.0, 0.5])
    single = [
        FeatureRank(4).fit(X[groups == q], y[groups == q], groups[groups == q]).centers_
        for q in range(3)
    ]
    model = FeatureRank(4).fit(X, y, groups, query_weight=weight[groups])
    assert_allclose(model.centers_, np.average(single, axis=0, weights=weight), rtol=1e-12)
    rows = np.r_[np.flatnonzero(groups == 0), np.arange(len(y))]  # query 0 is there twice
    ids = np.r_[np.full(10, 7), groups]
    twice = FeatureRank(4).fit(X[rows], y[rows], ids)
    model = FeatureRank(4).fit(X, y, groups, query_weight=np.array([2.0, 1, 1])[groups])
    assert_allclose(twice.centers_, model.centers_, rtol=1e-12)
    assert_allclose(twice.beta_, model.beta_, rtol=1e-10, atol=1e-13)


# --- the order of values -------------------------------------------------------------------------


def order_of(centers, values):
    """Values in the order of a weak ranker, the first first; those that tie in one tuple."""
    values = np.array(values, dtype=float)
    ranks = HiddenOrder(np.array(centers, dtype=float), values).ranks(
        values, one_query(len(values)), 1
    )
    return [tuple(values[ranks == r].tolist()) for r in np.unique(ranks)[::-1]]


def test_equation_3_and_4():
    # Class 3 is nearest to 2 (falling: 6 to 2), class 2 to 6 (falling), class 1 to 4 (rising).
    assert order_of([4, 6, 2], [1, 2, 5.5, 7, 3.5, 4.5]) == [
        (1.0,), (2.0,), (5.5,), (7.0,), (4.5,), (3.5,),
    ]  # fmt: skip
    # A rising order is that of the values, a falling one its reverse.
    assert order_of([1, 2, 3], [0, 1.4, 1.6, 2.6, 9]) == [(9.0,), (2.6,), (1.6,), (1.4,), (0.0,)]
    assert order_of([3, 2, 1], [0, 1.4, 1.6, 2.6, 9]) == [(0.0,), (1.4,), (1.6,), (2.6,), (9.0,)]


def test_equal_centres():
    # The higher class takes all values, and in the highest there is no slope: they tie.
    assert order_of([0, 4, 4], [3, 5, 4, 1, 0]) == [(3.0, 5.0, 4.0), (1.0,), (0.0,)]
    assert order_of([2, 2], [7, -1]) == [(7.0, -1.0)]
    # Below, the class of the higher number has the slope to the next.
    assert order_of([4, 4, 0], [5, 3, 1, -1]) == [(-1.0,), (1.0,), (3.0,), (5.0,)]


def test_equally_near_goes_to_the_higher_class():
    for centers, beyond in (([4.0, 0.0], np.nextafter(2, 3)), ([0.0, 4.0], np.nextafter(2, 1))):
        order = HiddenOrder(np.array(centers), np.zeros(1))
        cell = order._cell(np.array([2.0, beyond]))
        assert_array_equal(order._class_of_cell[cell], [1, 0])


def test_ranks():
    rising = HiddenOrder(np.array([0.0, 1.0]), np.zeros(1))
    queries = QueryGroups.from_ids([0, 0, 0, 0, 1, 1, 2], 7)
    ranks = rising.ranks(np.array([5.0, 1, 1, -0.0, 0.0, -0.0, 3]), queries, 1)
    assert_array_equal(ranks, [3.5 / 4, 2 / 4, 2 / 4, 0.5 / 4, 1 / 2, 1 / 2, 1 / 2])


# --- without groups ------------------------------------------------------------------------------


@pytest.mark.parametrize("decimals", [1, 16])
def test_training_ranks_are_the_ranks_in_one_query(decimals):
    X, y, _ = make_lists(1, 500)
    X = X.round(decimals)
    for K in (2, 5, 16):
        model = FeatureRank(n_classes=K).fit(X, y, np.zeros(500))
        assert_array_equal(model.predict(X), model.predict(X, groups=np.zeros(500)))


def test_training_ranks_of_other_values():
    rng = np.random.default_rng(0)
    centers = np.array([0.3, 0.9, 0.1, 0.5, 0.5, 0.2])
    for n, tolerance in ((900, 1e-12), (20_000, 1.5e-3)):
        assert (n > hidden_order.N_QUANTILES) == (tolerance > 1e-12)
        training = rng.random(n)
        order = HiddenOrder(centers, training)
        exact = order.ranks(training, one_query(n), 1)
        assert_allclose(order.training_ranks(training), exact, atol=tolerance)
        # The same order as within a query, and no rank outside of it.
        new = np.r_[rng.random(5000), rng.choice(training, 500), -9.0, 9.0]
        ranks = order.training_ranks(new)
        by_key = np.argsort(order.ranks(new, one_query(len(new)), 1))
        assert (np.diff(ranks[by_key]) >= -1e-12).all()
        assert 0 <= ranks.min() < ranks.max() <= 1
        shuffled = HiddenOrder(centers, rng.permutation(training))
        assert_array_equal(shuffled.training_ranks(new), ranks)


# --- boosting ------------------------------------------------------------------------------------


def test_features_that_say_nothing_and_everything():
    X, y, groups = make_lists()
    constant, copy = np.full(len(y), 3.3), -7.0 * y
    model = FeatureRank().fit(np.column_stack([constant, X[:, 1], copy]), y, groups)
    assert model.beta_[0] == 0
    assert model.beta_[2] == pytest.approx(18.4, abs=0.1)
    assert model.train_loss_[0] == 0.5
    worst = FeatureRank(2).fit(constant[:, None], y, groups)
    assert_array_equal(worst.predict(X[:, :1], groups=groups), np.zeros(len(y)))


def test_an_order_of_classes_is_found():
    """A feature that says which eighth of the list a row is in, but not by more or less."""
    rng = np.random.default_rng(0)
    rank = np.argsort(rng.random((20, 80)), axis=1).ravel()
    x = np.array([3.0, 7, 1, 5, 0, 4, 6, 2])[rank // 10] + 0.3 * rng.random(1600)
    groups = np.repeat(np.arange(20), 80)
    train = groups < 10
    kendall = get_scorer("kendall")

    def E(K):
        model = FeatureRank(K).fit(x[train, None], rank[train], groups[train])
        return kendall(model, x[~train, None], rank[~train], groups[~train])

    assert E(2) < 0.3
    # Only pairs of one eighth are in no order: T is half of (10 - 1) / (80 - 1).
    assert E(8) == pytest.approx(1 - 9 / 79, abs=0.02)


def test_orders_depend_on_nothing_but_order_and_nearness():
    X, y, groups = make_lists()
    expected = FeatureRank().fit(X, y, groups).predict(X, groups=groups)
    for scale in (0.25, -1.0, -8.0):
        model = FeatureRank().fit(scale * X, y, groups)
        assert_allclose(model.predict(scale * X, groups=groups), expected, rtol=1e-9)
    model = FeatureRank().fit(X, np.exp(y) - 5, groups)
    assert_allclose(model.predict(X, groups=groups), expected, rtol=1e-9)


def test_the_order_of_columns_counts():
    X, y, groups = make_lists()
    expected = FeatureRank().fit(X, y, groups)
    model = FeatureRank().fit(X[:, ::-1], y, groups)
    assert_allclose(model.centers_[::-1], expected.centers_, rtol=1e-12)
    assert not np.allclose(model.beta_[::-1], expected.beta_, rtol=1e-3)


@pytest.mark.parametrize("K", [1, 0, -3, 2.0, "8", None])
def test_n_classes_is_checked(K):
    X, y, groups = make_lists()
    with pytest.raises((TypeError, ValueError), match="n_classes"):
        FeatureRank(n_classes=K).fit(X, y, groups)


# --- predict with groups -------------------------------------------------------------------------


def test_predict_ranks_within_queries():
    X, y, groups = make_lists()
    model = FeatureRank().fit(X, y, groups)
    X, _, groups = make_lists(7, 40, seed=1)
    scores = model.predict(X, groups=groups)
    for q in range(7):
        alone = model.predict(X[groups == q], groups=np.zeros(40))
        assert_array_equal(alone, scores[groups == q])
    assert_allclose(model.predict(X[:1], groups=[0]), model.beta_.sum() / 2)  # in the middle
    order = np.random.default_rng(0).permutation(len(X))
    names = np.array([f"query {g}" for g in groups])
    assert_array_equal(model.predict(X[order], groups=names[order]), scores[order])
    for n_jobs in (2, 3):
        assert_array_equal(model.set_params(n_jobs=n_jobs).predict(X, groups=groups), scores)
    assert not np.allclose(model.predict(X), scores)
    with pytest.raises(ValueError, match="`groups` has 279 entries"):
        model.predict(X, groups=groups[1:])
    with pytest.raises(ValueError, match="`groups` has a missing id at row 3"):
        model.predict(X, groups=np.where(np.arange(len(X)) == 3, np.nan, groups))


def test_groups_reach_predict():
    X, y, groups = make_ranking(n_queries=30, query_shift=3.0, random_state=0)
    model = FeatureRank(8).fit(X, y, groups)
    kendall = get_scorer("kendall")
    values = kendall.metric(y, model.predict(X, groups=groups), groups=groups)
    assert kendall(model, X, y, groups) == values
    assert values > kendall.metric(y, model.predict(X), groups=groups) + 0.02
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(MinMaxScaler(), FeatureRank(8)).fit(X, y, groups=groups)
        scores = pipeline.predict(X, groups=groups)
        assert kendall(pipeline, X, y, groups) == kendall.metric(y, scores, groups=groups)
        search = GridSearchCV(
            pipeline, {"featurerank__n_classes": [2, 8]}, scoring=kendall, cv=GroupKFold(3)
        ).fit(X, y, groups=groups)
        tests = [test for _, test in GroupKFold(3).split(X, y, groups)]
        for i, test in enumerate(tests):
            train = np.setdiff1d(np.arange(len(y)), test)
            part = pipeline.set_params(featurerank__n_classes=2)
            part.fit(X[train], y[train], groups=groups[train])
            expected = kendall(part, X[test], y[test], groups[test])
            assert search.cv_results_[f"split{i}_test_score"][0] == expected
