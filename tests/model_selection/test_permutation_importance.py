# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from strategies import ranking_problems

from sklearn_ltr import FeatureRank, MPBoost, RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.model_selection import permutation_importance
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.scorers import get_scorer, make_ranking_scorer


class Column:
    """Ranks by some of the columns, and records what it is asked to rank."""

    def __init__(self, weights):
        self.weights = np.asarray(weights, dtype=float)
        self.seen = []

    def predict(self, X):
        self.seen.append(X.copy())
        return np.asarray(X, dtype=float) @ self.weights


@pytest.fixture(scope="module")
def data():
    """Rows of 20 queries in random order."""
    X, y, groups = make_ranking(
        20, (4, 9), 5, n_informative=3, n_redundant=0, n_grades=3, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], groups[order]


@pytest.fixture(scope="module")
def ranker(data):
    X, y, groups = data
    return MPBoost(n_estimators=10).fit(X, y, groups=groups)


def test_values_stay_in_their_query(data):
    X, y, groups = data
    X = np.column_stack([X, np.cos(groups)])  # constant within each query
    column = Column(np.arange(6.0))
    permutation_importance(column, X, y, groups, n_repeats=2, random_state=0)
    # As given, then each feature shuffled twice; sorted by query.
    given, *shuffled = column.seen
    assert len(shuffled) == 12
    np.testing.assert_array_equal(sorted(given.tolist()), sorted(X.tolist()))
    names = [float(np.round(cosine, 12)) for cosine in given[:, 5]]
    first_rows = np.flatnonzero(np.r_[True, np.diff(given[:, 5]) != 0])
    assert len(first_rows) == len(set(names)) == 20
    sizes = np.diff(np.r_[first_rows, len(y)])
    for k, changed in enumerate(shuffled):
        j = k // 2
        assert (changed != given)[:, j].any()
        np.testing.assert_array_equal(np.delete(changed, j, axis=1), np.delete(given, j, axis=1))
        if j < 5:
            for query in np.split(np.arange(len(y)), first_rows[1:]):
                np.testing.assert_array_equal(np.sort(changed[query, j]), np.sort(given[query, j]))
        else:
            # One value for all rows of a query, and each query's value used once.
            np.testing.assert_array_equal(changed[:, j], np.repeat(changed[first_rows, j], sizes))
            np.testing.assert_array_equal(
                np.sort(changed[first_rows, j]), np.sort(given[first_rows, j])
            )


def test_importances_by_hand():
    """Two rows a query: a shuffle swaps them or not, and the drop is the share of swapped queries.

    The metric is the precision at 1, which is 1 for all queries before.
    """
    n = 400
    y = np.tile([0.0, 1.0], n)
    X = np.column_stack([y, y[::-1], y * 3])
    groups = np.repeat(np.arange(n), 2)
    column = Column([1, 0, 0])
    result = permutation_importance(
        column, X, y, groups, scoring="p@1", n_repeats=4, random_state=0
    )
    swapped = [np.mean(changed[y_of(changed) == 1, 0] == 0) for changed in column.seen[1:5]]
    np.testing.assert_allclose(result.importances[0], swapped, rtol=1e-12)
    assert result.importances.shape == (3, 4)
    assert np.abs(result.importances[0] - 0.5).max() < 0.1  # 4 standard deviations
    assert len(set(result.importances[0])) > 1
    assert (result.importances[1:] == 0).all()
    np.testing.assert_array_equal(result.importances_mean, result.importances.mean(axis=1))
    np.testing.assert_array_equal(result.importances_std, result.importances.std(axis=1))


def y_of(X):
    return X[:, 2] / 3


def test_a_query_feature_moves_no_additive_score(data):
    """Of trees, which combine it with others, it may be important."""
    X, y, groups = data
    X = np.column_stack([X, np.cos(groups)])
    # What is relevant depends on the query's own feature.
    y = np.where(X[:, 5] > 0, X[:, 0] > X[:, 0].mean(), X[:, 0] < X[:, 0].mean()).astype(float)
    linear = LinearRegression().fit(X, y)
    result = permutation_importance(linear, X, y, groups, random_state=0)
    np.testing.assert_allclose(result.importances[5], 0, atol=1e-12)
    trees = RegressionRanker(50, learning_rate=0.3, min_samples_leaf=5)
    trees.fit(X, y, groups=groups)
    result = permutation_importance(trees, X, y, groups, random_state=0)
    assert (result.importances[5] > 0.05).all()


def test_unused_features_have_none(ranker, data):
    result = permutation_importance(ranker, *data, random_state=0)
    used = ranker.feature_importances_ > 0
    assert not used.all()
    assert (result.importances[~used] == 0).all()
    assert (result.importances_mean[used] > 0).any()


def test_order_of_rows_names_of_queries_and_threads_make_no_difference(ranker, data):
    X, y, groups = data
    weight = 1.0 + groups % 3
    expected = permutation_importance(ranker, X, y, groups, random_state=0, query_weight=weight)
    order = np.random.default_rng(1).permutation(len(y))
    names = np.array([f"query {(7 * id) % 20}" for id in groups])
    for n_jobs in (None, 2):
        result = permutation_importance(
            ranker,
            X[order],
            y[order],
            list(names[order]),
            random_state=0,
            query_weight=weight[order],
            n_jobs=n_jobs,
        )
        np.testing.assert_array_equal(result.importances, expected.importances)
    other = permutation_importance(ranker, X, y, groups, random_state=1, query_weight=weight)
    assert (other.importances != expected.importances).any()


@given(ranking_problems(), st.randoms(use_true_random=False))
def test_order_of_rows_of_awkward_problems(problem, random):
    X, y, groups, query_weight = problem
    column = Column(np.arange(1, X.shape[1] + 1))
    X = np.nan_to_num(X, nan=-5)
    scoring = make_ranking_scorer("ndcg@3", undefined=0)
    order = np.array(random.sample(range(len(y)), len(y)))
    weight = (query_weight, None if query_weight is None else query_weight[order])
    a = permutation_importance(
        column, X, y, groups, scoring=scoring, n_repeats=2, random_state=3, query_weight=weight[0]
    )
    b = permutation_importance(
        column,
        X[order],
        y[order],
        groups[order],
        scoring=scoring,
        n_repeats=2,
        random_state=3,
        query_weight=weight[1],
    )
    np.testing.assert_array_equal(a.importances, b.importances)


def test_queries_of_zero_weight_leave_no_trace(ranker, data):
    X, y, groups = data
    kept = groups % 4 > 0
    weight = np.where(kept, 2.0, 0.0)
    result = permutation_importance(ranker, X, y, groups, random_state=0, query_weight=weight)
    expected = permutation_importance(
        ranker, X[kept], y[kept], groups[kept], random_state=0, query_weight=weight[kept]
    )
    np.testing.assert_array_equal(result.importances, expected.importances)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_sparse(container, data):
    X, y, groups = data
    X = np.column_stack([np.where(X > 0.3, X, 0), groups % 3])
    ranker = MPBoost(n_estimators=10).fit(X, y, groups=groups)
    expected = permutation_importance(ranker, X, y, groups, random_state=0)
    result = permutation_importance(ranker, container(X), y, groups, random_state=0)
    np.testing.assert_array_equal(result.importances, expected.importances)
    assert (expected.importances != 0).any()


def test_frames_keep_types(data):
    pd = pytest.importorskip("pandas")
    X, y, groups = data
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"], index=np.arange(len(y))[::-1])
    frame["kind"] = pd.Categorical(np.where(X[:, 2] > 0, "new", "old"))
    frame["name"] = np.where(X[:, 3] > 0, "x", "y")
    frame["count"] = pd.array(np.arange(len(y)) % 7, dtype="Int64")
    before = frame.copy()
    y = y + (X[:, 2] > 0) + 2 * (X[:, 3] > 0) + frame["count"].to_numpy(int) / 3
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), ["kind", "name"]), ("passthrough", ["a", "b", "count"])
        ),
        LinearRegression(),
    ).fit(frame, y)

    class Checked:
        def predict(self, X):
            assert (X.dtypes == before.dtypes).all()
            return model.predict(X)

    result = permutation_importance(Checked(), frame, y, groups, random_state=0)
    pd.testing.assert_frame_equal(frame, before)
    assert result.importances.shape == (5, 5)
    assert (result.importances != 0).any(axis=1).all()
    order = np.random.default_rng(0).permutation(len(y))
    again = permutation_importance(
        Checked(), frame.iloc[order], y[order], groups[order], random_state=0
    )
    np.testing.assert_array_equal(again.importances, result.importances)


def test_a_frame_of_numbers_equals_its_array(ranker, data):
    pd = pytest.importorskip("pandas")
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcda"))  # also with a name twice
    expected = permutation_importance(ranker, X, y, groups, random_state=0)
    by_frame = permutation_importance(
        Column([1, 2, 3, 4, 5]), frame, pd.Series(y), pd.Series(groups), random_state=0
    )
    by_array = permutation_importance(Column([1, 2, 3, 4, 5]), X, y, groups, random_state=0)
    np.testing.assert_array_equal(by_frame.importances, by_array.importances)
    named = MPBoost(n_estimators=10).fit(frame.iloc[:, :4], y, groups=groups)
    result = permutation_importance(named, frame.iloc[:, :4], y, groups, random_state=0)
    assert result.importances.shape == (4, 5)
    assert expected.importances.shape == (5, 5)


def test_groups_reach_predict(data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), MPBoost(n_estimators=10))
        pipeline.fit(X, y, groups=groups)
        result = permutation_importance(pipeline, X, y, groups, random_state=0, n_jobs=2)
    scaled = QueryScaler().fit_transform(X, groups=groups)
    expected = permutation_importance(pipeline[-1], scaled, y, groups, random_state=0)
    # A shuffle within a query and scaling it are the same in either order, but the hash of a row,
    # and so the shuffles, are not: compare what is not random.
    np.testing.assert_array_equal(result.importances == 0, expected.importances == 0)
    assert (result.importances_mean > 0).any()
    feature_rank = FeatureRank(n_classes=2).fit(X, y, groups=groups)
    assert permutation_importance(feature_rank, X, y, groups).importances.shape == (5, 5)


def test_scoring(ranker, data):
    X, y, groups = data
    expected = permutation_importance(ranker, X, y, groups, scoring="map", random_state=0)
    for scoring in (get_metric("map"), get_scorer("map")):
        result = permutation_importance(ranker, X, y, groups, scoring=scoring, random_state=0)
        np.testing.assert_array_equal(result.importances, expected.importances)

    def own_scorer(estimator, X, y, groups):
        assert (np.diff(groups) >= 0).all()
        return get_metric("map")(y, estimator.predict(X), groups=groups)

    result = permutation_importance(ranker, X, y, groups, scoring=own_scorer, random_state=0)
    np.testing.assert_array_equal(result.importances, expected.importances)
    unlabelled = np.where(np.arange(len(y)) % 5 == 0, np.nan, y)
    result = permutation_importance(ranker, X, unlabelled, groups, random_state=0)
    assert np.isfinite(result.importances).all()


def test_degenerate_problems():
    """One query and a constant feature, one row, no repeats of anything."""
    constant = DummyRegressor().fit([[0]], [0])
    result = permutation_importance(constant, [[1.0], [1.0]], [0, 1], [3, 3], n_repeats=1)
    np.testing.assert_array_equal(result.importances, [[0]])
    result = permutation_importance(constant, [[np.nan]], [1], ["a"])
    np.testing.assert_array_equal(result.importances, np.zeros((1, 5)))


def test_errors(ranker, data):
    X, y, groups = data
    with pytest.raises(ValueError, match="n_repeats == 0"):
        permutation_importance(ranker, X, y, groups, n_repeats=0)
    with pytest.raises(ValueError, match="`groups` is None"):
        permutation_importance(ranker, X, y, None)
    with pytest.raises(ValueError, match=rf"`y` must .* {len(y)} rows; got shape"):
        permutation_importance(ranker, X, y[:-1], groups)
    with pytest.raises(ValueError, match="`groups` has 20 entries"):
        permutation_importance(ranker, X, y, np.bincount(groups))
    with pytest.raises(ValueError, match="Unknown metric 'r2'"):
        permutation_importance(ranker, X, y, groups, scoring="r2")
    with pytest.raises(ValueError, match="constant within a query"):
        permutation_importance(ranker, X, y, groups, query_weight=1 + X[:, 0] ** 2)
