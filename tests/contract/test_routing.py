# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Groups on their way through scikit-learn's pipelines, searches and cross-validation.

Results are compared with loops written here, which cut the arrays themselves and score with
scikit-learn's NDCG.
"""

import pickle
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.metrics import ndcg_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ParameterGrid,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from sklearn_ltr import MPBoost
from sklearn_ltr.boosting import driver
from sklearn_ltr.boosting.early_stopping import EarlyStopping
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import average_precision_score
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.scorers import get_scorer

GRID = {"mpboost__distance": ["linear", "binary"], "mpboost__n_estimators": [2, 6]}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def data():
    """Rows of 30 queries in random order, with ids that are strings."""
    X, y, groups = make_ranking(
        30, (4, 9), 6, n_informative=3, n_redundant=1, n_grades=3, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(y))
    groups = np.array([f"query {id}" for id in groups], dtype=object)
    return X[order], y[order], groups[order]


@pytest.fixture(scope="module")
def query_weight(data):
    return np.array([1.0 + int(id[-1]) for id in data[2]])


def pipeline(**params):
    return make_pipeline(StandardScaler(), MPBoost(**params))


def mean_ndcg(y, scores, groups, query_weight=None):
    """NDCG@10 of exponential gain by scikit-learn's function, over queries with a relevant row."""
    values, weights = [], []
    for query in np.unique(groups):
        rows = groups == query
        if y[rows].any():
            values.append(ndcg_score(2.0 ** y[rows][None] - 1, scores[rows][None], k=10))
            weights.append(1 if query_weight is None else query_weight[rows][0])
    return np.average(values, weights=weights)


def fit_by_hand(params, X, y, groups, query_weight=None):
    """Standardise and boost; returns a function from X to scores."""
    mean, std = X.mean(axis=0), X.std(axis=0)
    ranker = MPBoost(**{name.removeprefix("mpboost__"): value for name, value in params.items()})
    ranker.fit((X - mean) / std, y, groups=groups, query_weight=query_weight)
    return lambda X: ranker.predict((X - mean) / std)


def search_by_hand(grid, n_folds, X, y, groups, query_weight=None):
    """Mean validation score of each candidate."""
    means = []
    for params in ParameterGrid(grid):
        scores = []
        for train, test in GroupKFold(n_folds).split(X, y, groups):
            assert not set(groups[train]) & set(groups[test])
            weights = (None, None)
            if query_weight is not None:
                weights = (query_weight[train], query_weight[test])
            predict = fit_by_hand(params, X[train], y[train], groups[train], weights[0])
            scores.append(mean_ndcg(y[test], predict(X[test]), groups[test], weights[1]))
        means.append(np.mean(scores))
    return np.array(means)


def nested_by_hand(grid, inner_folds, outer_folds, X, y, groups):
    scores = []
    for train, test in GroupKFold(outer_folds).split(X, y, groups):
        means = search_by_hand(grid, inner_folds, X[train], y[train], groups[train])
        best = list(ParameterGrid(grid))[means.argmax()]
        predict = fit_by_hand(best, X[train], y[train], groups[train])
        scores.append(mean_ndcg(y[test], predict(X[test]), groups[test]))
    return scores


def integer_ids(groups):
    return np.unique(groups, return_inverse=True)[1]


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("scoring", [get_scorer("ndcg@10"), None], ids=["scorer", "default"])
@pytest.mark.parametrize("ids", ["strings", "integers"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_search_equals_a_loop(n_jobs, ids, scoring, data):
    """Cases 6 and 26: rows are interleaved; without `scoring` the score is NDCG@10."""
    X, y, groups = data
    if ids == "integers":
        groups = integer_ids(groups)
    search = GridSearchCV(
        pipeline(), GRID, cv=GroupKFold(5), scoring=scoring, n_jobs=n_jobs, error_score="raise"
    )
    search.fit(X, y, groups=groups)
    expected = search_by_hand(GRID, 5, X, y, groups)
    assert len(set(expected)) == 4
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    assert search.best_score_ == pytest.approx(expected.max(), rel=1e-12)

    predict = fit_by_hand(search.best_params_, X, y, groups)
    np.testing.assert_array_equal(search.predict(X), predict(X))
    refitted = mean_ndcg(y, predict(X), groups)
    assert search.score(X, y, groups=groups) == pytest.approx(refitted, rel=1e-12)
    assert get_scorer("ndcg@10")(search, X, y, groups) == pytest.approx(refitted, rel=1e-12)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("scoring", [get_scorer("ndcg@10"), None], ids=["scorer", "default"])
def test_search_with_query_weight_equals_a_loop(scoring, data, query_weight):
    X, y, groups = data
    search = GridSearchCV(pipeline(), GRID, cv=GroupKFold(3), scoring=scoring, error_score="raise")
    search.fit(X, y, groups=groups, query_weight=query_weight)
    expected = search_by_hand(GRID, 3, X, y, groups, query_weight)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    assert not np.allclose(expected, search_by_hand(GRID, 3, X, y, groups), rtol=1e-6)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("scoring", [get_scorer("ndcg@10"), None], ids=["scorer", "default"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_nested_search_equals_a_nested_loop(n_jobs, scoring, data):
    X, y, groups = data
    grid = {"mpboost__n_estimators": [1, 8]}
    search = GridSearchCV(pipeline(), grid, cv=GroupKFold(2), scoring=scoring, error_score="raise")
    expected = nested_by_hand(grid, 2, 3, X, y, groups)
    # Both the scorer of the outer loop and, without it, the search's own.
    for outer in (scoring, None):
        scores = cross_val_score(
            search,
            X,
            y,
            cv=GroupKFold(3),
            scoring=outer,
            params={"groups": groups},
            n_jobs=n_jobs,
            error_score="raise",
        )
        np.testing.assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.usefixtures("routing")
def test_predictions_of_a_nested_search(data):
    X, y, groups = data
    search = GridSearchCV(MPBoost(), {"n_estimators": [1, 8]}, cv=GroupKFold(2))
    scores = cross_val_predict(search, X, y, cv=GroupKFold(3), params={"groups": groups})
    expected = np.empty(len(y))
    for train, test in GroupKFold(3).split(X, y, groups):
        fitted = clone(search).fit(X[train], y[train], groups=groups[train])
        expected[test] = fitted.best_estimator_.predict(X[test])
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.usefixtures("routing")
def test_several_metrics_at_once(data):
    X, y, groups = data
    scoring = {"ndcg": get_scorer("ndcg@10"), "map": get_scorer("map")}
    search = GridSearchCV(
        pipeline(), GRID, cv=GroupKFold(3), scoring=scoring, refit="map", error_score="raise"
    )
    search.fit(X, y, groups=groups)
    expected = search_by_hand(GRID, 3, X, y, groups)
    np.testing.assert_allclose(search.cv_results_["mean_test_ndcg"], expected, rtol=1e-12)
    means = search.cv_results_["mean_test_map"]
    assert search.best_score_ == means.max() != search.cv_results_["mean_test_ndcg"].max()
    expected = average_precision_score(y, search.predict(X), groups)
    assert search.score(X, y, groups=groups) == expected

    results = cross_validate(
        pipeline(n_estimators=2, distance="linear"),
        X,
        y,
        cv=GroupKFold(3),
        scoring=scoring,
        params={"groups": groups},
        return_train_score=True,
        error_score="raise",
    )
    first = next(iter(ParameterGrid(GRID)))
    assert first == {"mpboost__distance": "linear", "mpboost__n_estimators": 2}
    assert results["test_map"].mean() == pytest.approx(means[0], rel=1e-12)
    assert (results["train_ndcg"] != results["test_ndcg"]).all()


@pytest.mark.usefixtures("routing")
def test_clone_and_pickle_of_a_search(data):
    X, y, groups = data
    search = GridSearchCV(
        pipeline(), GRID, cv=GroupKFold(3), scoring=get_scorer("map"), error_score="raise"
    )
    fitted = clone(search).fit(X, y, groups=groups)
    copies = [
        clone(fitted).fit(X, y, groups=groups),
        pickle.loads(pickle.dumps(search)).fit(X, y, groups=groups),
        pickle.loads(pickle.dumps(fitted)),
    ]
    for copied in copies:
        assert copied.best_score_ == fitted.best_score_
        assert copied.score(X, y, groups=groups) == fitted.score(X, y, groups=groups)


@pytest.mark.usefixtures("routing")
def test_groups_under_another_name(data):
    """Groups can split folds by one id and rank by another."""
    X, y, groups = data
    pair_of_queries = integer_ids(groups) // 2
    ranker = MPBoost(n_estimators=5).set_fit_request(groups="query")
    scores = cross_val_score(
        ranker,
        X,
        y,
        cv=GroupKFold(3),
        scoring=get_scorer("ndcg@10").set_score_request(groups="query"),
        params={"groups": pair_of_queries, "query": groups},
        error_score="raise",
    )
    expected = []
    for train, test in GroupKFold(3).split(X, y, pair_of_queries):
        fitted = MPBoost(n_estimators=5).fit(X[train], y[train], groups=groups[train])
        expected.append(mean_ndcg(y[test], fitted.predict(X[test]), groups[test]))
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_ids_reach_fit_or_it_warns(data):
    """With routing off, groups reach the splitter alone."""
    X, y, groups = data
    search = GridSearchCV(
        pipeline(n_estimators=2),
        {},
        cv=GroupKFold(3),
        scoring=get_scorer("ndcg@10"),
        error_score="raise",
    )
    with (
        pytest.warns(UserWarning, match=r"`groups` is None.*enable_metadata_routing=True"),
        pytest.raises(ValueError, match=r"scorer needs `groups`.*enable_metadata_routing=True"),
    ):
        search.fit(X, y, groups=groups)
    with pytest.warns(UserWarning, match=r"`groups` is None.*enable_metadata_routing=True"):
        search.set_params(scoring=None).fit(X, y, groups=groups)


def test_score_without_ids_warns(data):
    X, y, groups = data
    ranker = MPBoost(n_estimators=5).fit(X, y, groups=groups)
    with pytest.warns(UserWarning, match="`groups` is None: all") as record:
        one_query = ranker.score(X, y)
    assert [warning.filename for warning in record] == [__file__]
    assert ranker.score(X, y, groups=groups) == pytest.approx(
        mean_ndcg(y, ranker.predict(X), groups), rel=1e-12
    )
    assert one_query == pytest.approx(mean_ndcg(y, ranker.predict(X), np.zeros(len(y))))


@pytest.mark.usefixtures("routing")
def test_score_of_a_pipeline(data, query_weight):
    X, y, groups = data
    fitted = pipeline(n_estimators=5).fit(X, y, groups=groups)
    score = fitted.score(X, y, groups=groups, query_weight=query_weight)
    expected = mean_ndcg(y, fitted.predict(X), groups, query_weight)
    assert score == pytest.approx(expected, rel=1e-12)
    assert score != pytest.approx(mean_ndcg(y, fitted.predict(X), groups), rel=1e-6)


@pytest.mark.usefixtures("routing")
def test_early_stopping_in_a_pipeline_holds_out_transformed_queries(data, monkeypatch):
    X, y, groups = data
    seen = []

    class Noting(EarlyStopping):
        def hold_out(self, *args):
            data, held_out = super().hold_out(*args)
            seen.extend([data, *held_out])
            return data, held_out

    monkeypatch.setattr(driver, "EarlyStopping", Noting)
    params = {
        "n_estimators": 100,
        "early_stopping": True,
        "validation_fraction": 0.3,
        "n_iter_no_change": 3,
        "random_state": 0,
    }
    thousandfold = FunctionTransformer(lambda X: X * 1000)
    fitted = make_pipeline(thousandfold, MPBoost(**params)).fit(X, y, groups=groups)
    train, held_out = seen
    ids = set(train.queries.ids), set(held_out.queries.ids)
    assert not ids[0] & ids[1]
    assert ids[0] | ids[1] == set(groups)
    assert len(ids[1]) == round(0.3 * (fitted[-1].n_queries_ - fitted[-1].n_queries_skipped_))
    for part in seen:
        np.testing.assert_array_equal(part.X[part.queries.order], X[part.queries.order] * 1000)
        np.testing.assert_array_equal(part.y, y[part.queries.order])
    assert fitted[-1].n_iter_ < 100
    assert fitted[-1].best_iteration_ > 1

    # What it stops at is the score of the held-out queries.
    rows = held_out.queries.order
    staged = list(fitted[-1].staged_predict(X * 1000))
    scores = [mean_ndcg(y[rows], scores[rows], groups[rows]) for scores in staged]
    np.testing.assert_allclose(fitted[-1].validation_score_, scores, rtol=1e-12)
    best = staged[fitted[-1].best_iteration_ - 1]
    np.testing.assert_allclose(fitted.predict(X), best, rtol=1e-12, atol=1e-14)


@pytest.fixture
def with_validation(data):
    """Training rows of 20 queries, validation rows of the other 10."""
    X, y, groups = data
    train = integer_ids(groups) < 20
    return (X[train], y[train], groups[train]), (X[~train], y[~train], groups[~train])


STOPPING = {"n_estimators": 60, "early_stopping": True, "n_iter_no_change": 3}


@pytest.mark.usefixtures("routing")
def test_validation_set_in_a_pipeline(with_validation):
    """`transform_input` sends X_val through the steps before the ranker."""
    (X, y, groups), (X_val, y_val, groups_val) = with_validation
    ranker = MPBoost(**STOPPING).set_fit_request(X_val=True, y_val=True, groups_val=True)
    steps = [("scale", StandardScaler()), ("rank", ranker)]
    validation = {"X_val": X_val, "y_val": y_val, "groups_val": groups_val}
    fitted = Pipeline(steps, transform_input=["X_val"]).fit(X, y, groups=groups, **validation)

    mean, std = X.mean(axis=0), X.std(axis=0)
    by_hand = MPBoost(**STOPPING).fit(
        (X - mean) / std,
        y,
        groups=groups,
        X_val=(X_val - mean) / std,
        y_val=y_val,
        groups_val=groups_val,
    )
    assert 1 < by_hand.n_iter_ < 60
    np.testing.assert_array_equal(fitted[-1].validation_score_, by_hand.validation_score_)
    np.testing.assert_array_equal(fitted.predict(X_val), by_hand.predict((X_val - mean) / std))


@pytest.mark.usefixtures("routing")
def test_validation_set_in_a_pipeline_without_transform_input(with_validation):
    """Without it, X_val reaches the ranker as it is: scikit-learn offers no way to notice."""
    (X, y, groups), (X_val, y_val, groups_val) = with_validation
    validation = {"X_val": X_val, "y_val": y_val, "groups_val": groups_val}
    ranker = MPBoost(**STOPPING).set_fit_request(X_val=True, y_val=True, groups_val=True)
    fitted = make_pipeline(StandardScaler(), ranker).fit(X, y, groups=groups, **validation)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    raw = MPBoost(**STOPPING).fit(scaled, y, groups=groups, **validation)
    np.testing.assert_array_equal(fitted[-1].validation_score_, raw.validation_score_)


@pytest.mark.usefixtures("routing")
def test_validation_set_must_be_requested(with_validation):
    (X, y, groups), (X_val, y_val, groups_val) = with_validation
    with pytest.raises(UnsetMetadataPassedError, match="X_val"):
        pipeline().fit(X, y, groups=groups, X_val=X_val, y_val=y_val, groups_val=groups_val)


@pytest.mark.usefixtures("routing")
def test_ids_travel_beside_a_frame(data, query_weight):
    """An id column is taken out of the frame, and goes where `groups` go."""
    pd = pytest.importorskip("pandas")
    X, y, groups = data
    columns = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns, index=np.arange(len(y))[::-1] + 1000)
    frame["query"], frame["grade"], frame["weight"] = groups, y, query_weight
    ranker = make_pipeline(StandardScaler(), MPBoost(n_estimators=5)).set_output(transform="pandas")
    search = GridSearchCV(ranker, GRID, cv=GroupKFold(3), error_score="raise")
    search.fit(frame[columns], frame["grade"], groups=frame["query"], query_weight=frame["weight"])
    expected = search_by_hand(GRID, 3, X, y, groups, query_weight)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)
    assert search.best_estimator_[-1].feature_names_in_.tolist() == columns
    score = search.score(frame[columns], frame["grade"], groups=frame["query"].astype("category"))
    assert score == pytest.approx(mean_ndcg(y, search.predict(frame[columns]), groups), rel=1e-12)
    with pytest.raises(ValueError, match="query"):
        search.predict(frame.drop(columns=["grade", "weight"]))


def test_partial_dependence(data):
    X, y, groups = data
    ranker = MPBoost(n_estimators=20).fit(X, y, groups=groups)
    feature = int(ranker.feature_importances_.argmax())
    result = partial_dependence(ranker, X, [feature], grid_resolution=5)
    for value, average in zip(result["grid_values"][0], result["average"][0], strict=True):
        changed = X.copy()
        changed[:, feature] = value
        assert average == pytest.approx(ranker.predict(changed).mean(), rel=1e-12)
    assert np.ptp(result["average"]) > 0


def test_permutation_importance_with_a_scorer(data):
    X, y, groups = data
    ranker = MPBoost(n_estimators=5).fit(X, y, groups=groups)
    scoring = partial(get_scorer("ndcg@10"), groups=groups)
    result = permutation_importance(ranker, X, y, scoring=scoring, n_repeats=3, random_state=0)
    used = ranker.feature_importances_ > 0
    assert not used.all()
    assert (result.importances_mean[used] != 0).all()
    assert (result.importances_mean[~used] == 0).all()


@pytest.mark.usefixtures("routing")
def test_voting(data):
    X, y, groups = data
    rankers = [("few", MPBoost(n_estimators=2)), ("many", MPBoost(n_estimators=9))]
    fitted = VotingRegressor(rankers, weights=[1, 3]).fit(X, y, groups=groups)
    few, many = (clone(ranker).fit(X, y, groups=groups).predict(X) for _, ranker in rankers)
    np.testing.assert_allclose(fitted.predict(X), (few + 3 * many) / 4, rtol=1e-12)
    score = get_scorer("ndcg@10")(fitted, X, y, groups)
    assert score == pytest.approx(mean_ndcg(y, fitted.predict(X), groups), rel=1e-12)


# --- QueryScaler, whose transform needs the ids, too ---------------------------------------------


def scale_by_hand(X, groups):
    scaled = np.empty_like(X)
    for query in np.unique(groups):
        x = X[groups == query]
        span = x.max(axis=0) - x.min(axis=0)
        scaled[groups == query] = (x - x.min(axis=0)) / np.where(span == 0, 1, span)
    return scaled


def scaling_pipeline(**params):
    return make_pipeline(QueryScaler(), MPBoost(**params))


def scale_and_fit_by_hand(params, X, y, groups, query_weight=None):
    """Scale within queries and boost; returns a function from X and groups to scores."""
    ranker = MPBoost(**{name.removeprefix("mpboost__"): value for name, value in params.items()})
    ranker.fit(scale_by_hand(X, groups), y, groups=groups, query_weight=query_weight)
    return lambda X, groups: ranker.predict(scale_by_hand(X, groups))


def scaled_search_by_hand(grid, n_folds, X, y, groups):
    means = []
    for params in ParameterGrid(grid):
        scores = []
        for train, test in GroupKFold(n_folds).split(X, y, groups):
            predict = scale_and_fit_by_hand(params, X[train], y[train], groups[train])
            scores.append(mean_ndcg(y[test], predict(X[test], groups[test]), groups[test]))
        means.append(np.mean(scores))
    return np.array(means)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("scoring", [get_scorer("ndcg@10"), None], ids=["scorer", "default"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_search_with_scaled_queries_equals_a_loop(n_jobs, scoring, data):
    X, y, groups = data
    search = GridSearchCV(
        scaling_pipeline(),
        GRID,
        cv=GroupKFold(3),
        scoring=scoring,
        n_jobs=n_jobs,
        error_score="raise",
    ).fit(X, y, groups=groups)
    expected = scaled_search_by_hand(GRID, 3, X, y, groups)
    assert len(set(expected)) == 4
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-12)

    scores = scale_and_fit_by_hand(search.best_params_, X, y, groups)(X, groups)
    np.testing.assert_array_equal(search.best_estimator_.predict(X, groups=groups), scores)
    refitted = mean_ndcg(y, scores, groups)
    assert search.score(X, y, groups=groups) == pytest.approx(refitted, rel=1e-12)
    assert search.best_estimator_.score(X, y, groups=groups) == pytest.approx(refitted, rel=1e-12)
    # The scorer unwraps the search, whose own predict takes no groups.
    assert get_scorer("ndcg@10")(search, X, y, groups) == pytest.approx(refitted, rel=1e-12)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("scoring", [get_scorer("ndcg@10"), None], ids=["scorer", "default"])
def test_nested_search_with_scaled_queries_equals_a_nested_loop(scoring, data):
    X, y, groups = data
    grid = {"mpboost__n_estimators": [1, 8]}
    search = GridSearchCV(
        scaling_pipeline(), grid, cv=GroupKFold(2), scoring=scoring, error_score="raise"
    )
    expected = []
    for train, test in GroupKFold(3).split(X, y, groups):
        means = scaled_search_by_hand(grid, 2, X[train], y[train], groups[train])
        best = list(ParameterGrid(grid))[means.argmax()]
        predict = scale_and_fit_by_hand(best, X[train], y[train], groups[train])
        expected.append(mean_ndcg(y[test], predict(X[test], groups[test]), groups[test]))
    for outer in (scoring, None):
        scores = cross_val_score(
            search,
            X,
            y,
            cv=GroupKFold(3),
            scoring=outer,
            params={"groups": groups},
            error_score="raise",
        )
        np.testing.assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.usefixtures("routing")
def test_scaling_before_the_split_gives_the_same(data):
    """A query is scaled by itself, so that nothing leaks from the test queries."""
    X, y, groups = data
    inside = cross_val_score(
        scaling_pipeline(n_estimators=5), X, y, cv=GroupKFold(3), params={"groups": groups}
    )
    scaled = QueryScaler().fit_transform(X, groups=groups)
    outside = cross_val_score(
        MPBoost(n_estimators=5), scaled, y, cv=GroupKFold(3), params={"groups": groups}
    )
    np.testing.assert_array_equal(inside, outside)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("kind", ["columns", "union"])
def test_scaling_of_some_columns(kind, data):
    X, y, groups = data
    if kind == "columns":
        features = make_column_transformer(
            (QueryScaler(), [1, 3, 4]), (StandardScaler(), [0]), ("passthrough", [2, 5])
        )
    else:
        features = make_union(QueryScaler(), StandardScaler())
    fitted = make_pipeline(features, MPBoost(n_estimators=5)).fit(X, y, groups=groups)

    scaled, standard = scale_by_hand(X, groups), StandardScaler().fit_transform(X)
    if kind == "columns":
        expected = np.column_stack([scaled[:, [1, 3, 4]], standard[:, 0], X[:, [2, 5]]])
    else:
        expected = np.column_stack([scaled, standard])
    by_hand = MPBoost(n_estimators=5).fit(expected, y, groups=groups).predict(expected)
    np.testing.assert_allclose(fitted[0].transform(X, groups=groups), expected, rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X, groups=groups), by_hand)
    score = pytest.approx(mean_ndcg(y, by_hand, groups), rel=1e-12)
    assert fitted.score(X, y, groups=groups) == score
    assert get_scorer("ndcg@10")(fitted, X, y, groups) == score


ONE_QUERY = r"`groups` is None.* reach transform .*enable_metadata_routing=True"


@pytest.mark.usefixtures("routing")
def test_where_ids_do_not_reach_the_scaler_it_warns(data):
    """`search.predict`, `cross_val_predict` and voting carry no groups."""
    X, y, groups = data
    ranker = scaling_pipeline(n_estimators=5)
    search = GridSearchCV(ranker, {}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    one_query = MinMaxScaler().fit_transform(X)
    with pytest.warns(UserWarning, match=ONE_QUERY) as record:
        scores = search.predict(X)
    assert [warning.filename for warning in record] == [__file__]
    np.testing.assert_array_equal(scores, search.best_estimator_[-1].predict(one_query))
    with pytest.raises(TypeError, match="groups"):
        search.predict(X, groups=groups)
    with pytest.warns(UserWarning, match=ONE_QUERY):
        cross_val_predict(ranker, X, y, cv=GroupKFold(3), params={"groups": groups})
    voting = VotingRegressor([("a", ranker), ("b", MPBoost(n_estimators=2))])
    voting.fit(X, y, groups=groups)
    with pytest.warns(UserWarning, match=ONE_QUERY):
        voting.predict(X)


def test_scaling_without_routing(data):
    """A pipeline refuses groups, and a search warns where they do not arrive."""
    X, y, groups = data
    with pytest.raises(ValueError, match="does not accept the groups parameter"):
        scaling_pipeline().fit(X, y, groups=groups)
    search = GridSearchCV(scaling_pipeline(n_estimators=2), {}, cv=GroupKFold(3))
    with pytest.warns(UserWarning, match="`groups` is None") as record:
        search.fit(X, y, groups=groups)
    methods = {str(warning.message).split(" reach ")[1].split()[0] for warning in record}
    assert methods == {"fit", "transform", "score"}
    # The step by itself, without a pipeline, needs no routing.
    scaled = QueryScaler().fit_transform(X, groups=groups)
    np.testing.assert_allclose(scaled, scale_by_hand(X, groups), rtol=1e-12)


@pytest.mark.usefixtures("routing")
def test_validation_set_cannot_be_scaled_in_a_pipeline(with_validation):
    """`transform_input` hands the groups of the training rows on with X_val."""
    (X, y, groups), (X_val, y_val, groups_val) = with_validation
    ranker = MPBoost(**STOPPING).set_fit_request(X_val=True, y_val=True, groups_val=True)
    steps = [("scale", QueryScaler()), ("rank", ranker)]
    validation = {"y_val": y_val, "groups_val": groups_val}
    message = f"`groups` has {len(y)} entries but there are {len(y_val)} rows"
    with pytest.raises(ValueError, match=message):
        Pipeline(steps, transform_input=["X_val"]).fit(
            X, y, groups=groups, X_val=X_val, **validation
        )
    # Scaling before the pipeline is as good.
    scaled, scaled_val = scale_by_hand(X, groups), scale_by_hand(X_val, groups_val)
    expected = MPBoost(**STOPPING).fit(scaled, y, groups=groups, X_val=scaled_val, **validation)
    scaler = QueryScaler()
    fitted = Pipeline(steps[1:]).fit(
        scaler.fit_transform(X, groups=groups),
        y,
        groups=groups,
        X_val=scaler.transform(X_val, groups=groups_val),
        **validation,
    )
    np.testing.assert_array_equal(fitted[-1].validation_score_, expected.validation_score_)
