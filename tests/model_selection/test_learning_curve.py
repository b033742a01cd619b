# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
import sklearn
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LearningCurveDisplay,
    ShuffleSplit,
    validation_curve,
)
from sklearn.model_selection import learning_curve as learning_curve_of_rows
from sklearn.pipeline import make_pipeline

from sklearn_ltr import MPBoost
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.model_selection import learning_curve
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.scorers import get_scorer


class Recorder(MPBoost):
    """Notes the queries and the weights it is fitted on."""

    seen = []

    def fit(self, X, y, groups=None, query_weight=None):
        self.seen.append((list(groups), len(y), query_weight))
        return super().fit(X, y, groups=groups, query_weight=query_weight)


@pytest.fixture(scope="module")
def data():
    """Rows of 30 queries in random order, with ids that are strings."""
    X, y, groups = make_ranking(30, (4, 9), 12, n_grades=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    groups = np.array([f"query {id}" for id in groups], dtype=object)
    return X[order], y[order], groups[order]


@pytest.fixture
def recorder():
    Recorder.seen = []
    return Recorder(n_estimators=2)


def test_training_sets_are_whole_queries_and_nested(recorder, data):
    X, y, groups = data
    sizes, *_ = learning_curve(recorder, X, y, groups, train_sizes=[3, 20, 9], cv=3, random_state=0)
    np.testing.assert_array_equal(sizes, [3, 9, 20])
    assert len(recorder.seen) == 9
    rows_of = {id: int((groups == id).sum()) for id in set(groups)}
    folds = list(GroupKFold(3).split(X, y, groups))
    for k, (train, _) in enumerate(folds):
        queries = []
        for size, (ids, n_rows, _) in zip(sizes, recorder.seen[3 * k : 3 * k + 3], strict=True):
            assert len(set(ids)) == size
            assert n_rows == sum(rows_of[id] for id in set(ids))
            queries.append(set(ids))
        assert queries[0] < queries[1] < queries[2] == set(groups[train])
    assert recorder.seen[0][0] != recorder.seen[3][0]


def test_scores_equal_a_loop(data):
    X, y, groups = data
    weight = np.array([1.0 + int(id[-1]) for id in groups])
    sizes, train_scores, test_scores = learning_curve(
        MPBoost(n_estimators=5),
        X,
        y,
        groups,
        train_sizes=[1.0],
        cv=GroupKFold(4),
        params={"query_weight": weight},
        scoring="ndcg@5",
    )
    assert sizes.tolist() == [len(set(groups)) - 8]
    for k, (train, test) in enumerate(GroupKFold(4).split(X, y, groups)):
        if len(set(groups[train])) > sizes[0]:
            continue  # a fold with more training queries than the least
        ranker = MPBoost(n_estimators=5)
        ranker.fit(X[train], y[train], groups=groups[train], query_weight=weight[train])
        for rows, scores in ((train, train_scores), (test, test_scores)):
            expected = ndcg_score(
                y[rows],
                ranker.predict(X[rows]),
                k=5,
                groups=groups[rows],
                query_weight=weight[rows],
            )
            assert scores[0, k] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("enabled", [False, True])
def test_the_same_with_and_without_routing_jobs_and_order(enabled, data):
    X, y, groups = data
    kwargs = {"train_sizes": [0.3, 1.0], "cv": 3, "random_state": 1}
    expected = learning_curve(MPBoost(n_estimators=5), X, y, groups, **kwargs)
    order = np.random.default_rng(2).permutation(len(y))
    with sklearn.config_context(enable_metadata_routing=enabled):
        result = learning_curve(
            MPBoost(n_estimators=5), X[order], y[order], groups[order], n_jobs=2, **kwargs
        )
    for a, b in zip(result, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    other = learning_curve(MPBoost(n_estimators=5), X, y, groups, **(kwargs | {"random_state": 2}))
    assert (other[2][0] != expected[2][0]).any()
    np.testing.assert_array_equal(other[2][1], expected[2][1])


def test_fractions(data):
    X, y, groups = data
    X, y = X[:, :1], X[:, 0] > 0
    cv = GroupKFold(3)  # 20 training queries each
    for given, expected in (
        ([0.1, 0.55, 1.0], [2, 11, 20]),
        ([1e-9, 0.02, 0.29], [1, 6]),
        (np.float32([0.7]), [14]),
        ((20, 1, 1), [1, 20]),
    ):
        sizes, train_scores, test_scores = learning_curve(
            LinearRegression(), X, y, groups, train_sizes=given, cv=cv, scoring="p@1"
        )
        np.testing.assert_array_equal(sizes, expected)
        assert train_scores.shape == test_scores.shape == (len(expected), 3)
    sizes, *_ = learning_curve(LinearRegression(), X, y, groups, scoring="p@1")
    np.testing.assert_array_equal(sizes, [2, 8, 13, 19, 24])


def test_pipelines_searches_and_splitters(data):
    X, y, groups = data
    pipeline = make_pipeline(QueryScaler(), MPBoost(n_estimators=3))
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(pipeline, {"mpboost__n_estimators": [2, 3]}, cv=GroupKFold(2))
        sizes, _, test_scores = learning_curve(
            search, X, y, groups, train_sizes=[0.5, 1.0], cv=GroupShuffleSplit(2, random_state=0)
        )
    assert test_scores.shape == (2, 2)
    assert (test_scores > 0.4).all()
    splits = list(GroupShuffleSplit(2, random_state=0).split(X, y, groups))
    by_splits = learning_curve(pipeline, X, y, groups, train_sizes=[0.5, 1.0], cv=splits)
    np.testing.assert_array_equal(by_splits[0], sizes)


def test_frames_and_lists(data):
    pd = pytest.importorskip("pandas")
    X, y, groups = data
    kwargs = {"train_sizes": [0.5], "cv": 2, "random_state": 0}
    expected = learning_curve(MPBoost(n_estimators=2), X, y, groups, **kwargs)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    for given in (
        (frame, pd.Series(y), pd.Series(groups).astype("category")),
        (X.tolist(), y.tolist(), groups.tolist()),
    ):
        result = learning_curve(MPBoost(n_estimators=2), *given, **kwargs)
        np.testing.assert_allclose(result[2], expected[2], rtol=1e-12)


def test_a_query_without_a_pair():
    """A fit that fails gives NaN and scikit-learn's warning."""
    groups = np.repeat(np.arange(8), 2)
    y = np.where(groups < 4, 1, np.arange(16) % 2)
    X = np.arange(16.0)[:, None]
    # Training rows of the first fold are queries without a pair.
    cv = [(np.arange(8), np.arange(8, 16)), (np.arange(8, 16), np.arange(8))]
    with pytest.warns(FitFailedWarning, match="No query has two rows of different grades"):
        _, _, test_scores = learning_curve(
            MPBoost(n_estimators=1), X, y, groups, train_sizes=[1], cv=cv, scoring="p@1"
        )
    np.testing.assert_array_equal(np.isnan(test_scores), [[True, False]])


def test_errors(data):
    X, y, groups = data
    ranker = MPBoost(n_estimators=1)
    for cv in (KFold(3), ShuffleSplit(2, random_state=0)):
        with (
            pytest.warns(UserWarning, match="groups parameter is ignored"),
            pytest.raises(ValueError, match="`cv` must keep queries whole; query 'query"),
        ):
            learning_curve(ranker, X, y, groups, cv=cv)
    for sizes, message in (
        ([0.0, 1.0], "fractions, above 0 and at most 1"),
        ([0.5, 1.5], "fractions, above 0 and at most 1"),
        ([np.nan], "fractions, above 0"),
        ([0], "numbers of queries, above 0 and at most 24"),
        ([25], "numbers of queries, above 0 and at most 24"),
        ([], "must be a list of numbers"),
        (0.5, "must be a list of numbers"),
        (["all"], "must be a list of numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            learning_curve(ranker, X, y, groups, train_sizes=sizes)
    with pytest.raises(ValueError, match="`groups` is None"):
        learning_curve(ranker, X, y, None)
    with pytest.raises(ValueError, match="`groups` has 3 entries"):
        learning_curve(ranker, X, y, [1, 2, 3])
    with pytest.raises(TypeError, match="multiple values for keyword argument 'groups'"):
        learning_curve(ranker, X, y, groups, params={"groups": groups})
    with pytest.raises(ValueError, match="Unknown metric"):
        learning_curve(ranker, X, y, groups, scoring="r2")


def test_display(data):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y, groups = data
    sizes, train_scores, test_scores = learning_curve(MPBoost(n_estimators=2), X, y, groups, cv=2)
    display = LearningCurveDisplay(
        train_sizes=sizes, train_scores=train_scores, test_scores=test_scores, score_name="NDCG@10"
    ).plot()
    lines = display.ax_.get_lines()
    np.testing.assert_array_equal(lines[0].get_xdata(), sizes)
    np.testing.assert_allclose(lines[1].get_ydata(), test_scores.mean(axis=1))
    plt.close(display.figure_)


# --- scikit-learn's own functions ----------------------------------------------------------------


def test_the_function_of_rows_cuts_queries(recorder, data):
    """Why there is a function here."""
    X, y, groups = data
    rows_of = {id: int((groups == id).sum()) for id in set(groups)}
    for shuffle in (False, True):
        recorder.seen.clear()
        with sklearn.config_context(enable_metadata_routing=True):
            learning_curve_of_rows(
                recorder,
                X,
                y,
                cv=GroupKFold(2),
                train_sizes=[0.5],
                shuffle=shuffle,
                random_state=0,
                scoring=get_scorer("ndcg@10"),
                params={"groups": groups},
            )
        for ids, n_rows, _ in recorder.seen:
            assert n_rows < sum(rows_of[id] for id in set(ids))


def test_validation_curve_suffices(data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        train_scores, test_scores = validation_curve(
            MPBoost(),
            X,
            y,
            param_name="n_estimators",
            param_range=[1, 8],
            cv=GroupKFold(3),
            scoring=get_scorer("ndcg@10"),
            params={"groups": groups},
        )
    for k, (train, test) in enumerate(GroupKFold(3).split(X, y, groups)):
        for i, n_estimators in enumerate([1, 8]):
            ranker = MPBoost(n_estimators=n_estimators).fit(X[train], y[train], groups[train])
            for rows, scores in ((train, train_scores), (test, test_scores)):
                expected = ranker.score(X[rows], y[rows], groups[rows])
                assert scores[i, k] == pytest.approx(expected, rel=1e-12)
