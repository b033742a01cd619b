# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's callbacks on boosted rankers, alone and inside a search."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import BlendedRanker, MPBoost
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.scorers import get_scorer

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn >= 1.9 has callbacks")


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def data():
    return make_ranking(20, (4, 9), 6, n_informative=3, n_redundant=1, n_grades=3, random_state=0)


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def either_routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield


def monitor(name="ndcg@10"):
    return callback.ScoringMonitor(scoring={name: get_scorer(name)})


def logged(monitor, name="ndcg@10"):
    """Scores of the rounds in the latest run."""
    return [row[name] for row in monitor.get_logs().data if row["task_name"] == "round"]


def mean_ndcg(y, scores, groups, query_weight=None):
    """NDCG@10 of exponential gain by scikit-learn's function, over queries with a relevant row."""
    values, weights = [], []
    for query in np.unique(groups):
        rows = groups == query
        if y[rows].any():
            values.append(ndcg_score(2.0 ** y[rows][None] - 1, scores[rows][None], k=10))
            weights.append(1 if query_weight is None else query_weight[rows][0])
    return np.average(values, weights=weights)


class Recorder:
    """Notes each hook; asks to stop after the rounds `stop_at`."""

    def __init__(self, stop_at=()):
        self.events = []
        self.fitted = []
        self.stop_at = stop_at

    def setup(self, estimator, context):
        self.events.append("setup")
        self.max_subtasks = context.max_subtasks

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        self.events.append(("end", context.task_name, context.task_id))
        self.fitted.append(fitted_estimator)
        self.metadata = metadata
        return context.task_name == "round" and context.task_id in self.stop_at


def rounds(n):
    return [(event, "round", i) for i in range(n) for event in ("begin", "end")]


@pytest.mark.usefixtures("either_routing")
def test_monitor_logs_the_score_of_each_round(data):
    X, y, groups = data
    log = monitor()
    ranker = MPBoost(n_estimators=8).set_callbacks(log).fit(X, y, groups=groups)
    expected = [mean_ndcg(y, scores, groups) for scores in ranker.staged_predict(X)]
    assert len(set(expected)) > 4
    np.testing.assert_allclose(logged(log), expected, rtol=1e-12)


@pytest.mark.usefixtures("either_routing")
def test_monitor_weights_queries(data):
    X, y, groups = data
    weight = 1.0 + groups % 5
    log = monitor()
    ranker = MPBoost(n_estimators=4).set_callbacks(log)
    ranker.fit(X, y, groups=groups, query_weight=weight)
    expected = [mean_ndcg(y, scores, groups, weight) for scores in ranker.staged_predict(X)]
    np.testing.assert_allclose(logged(log), expected, rtol=1e-12)


def test_monitor_logs_no_round_that_did_not_happen():
    """The rounds end early where no stump is left; a round that is not there has no score."""
    X, y, groups = np.array([[0.0], [1]] * 6), [0, 1] * 6, np.repeat(np.arange(6), 2)
    log = monitor()
    ranker = MPBoost(n_estimators=500, learning_rate=20, distance="linear").set_callbacks(log)
    ranker.fit(X, y, groups=groups)
    assert 1 < ranker.n_iter_ < 500
    assert len(logged(log)) == ranker.n_iter_


def test_monitor_with_early_stopping_logs_the_best_round_so_far(data):
    X, y, groups = data
    log = monitor()
    ranker = MPBoost(
        n_estimators=50, early_stopping=True, n_iter_no_change=4, random_state=0
    ).set_callbacks(log)
    ranker.fit(X, y, groups=groups)
    assert ranker.n_iter_ < 50
    staged = list(ranker.staged_predict(X))
    scores = ranker.validation_score_
    best = [int(np.argmax(scores[:t])) for t in range(1, ranker.n_iter_ + 1)]
    expected = [mean_ndcg(y, staged[t], groups) for t in best]
    np.testing.assert_allclose(logged(log), expected, rtol=1e-12)


def test_hooks_in_order(data):
    X, y, groups = data
    recorder = Recorder()
    MPBoost(n_estimators=3).set_callbacks(recorder).fit(X, y, groups=groups)
    assert recorder.events == [
        "setup",
        ("begin", "fit", 0),
        *rounds(3),
        ("end", "fit", 0),
        "teardown",
    ]
    assert recorder.max_subtasks == 3
    assert recorder.metadata.keys() == {"groups"}
    np.testing.assert_array_equal(recorder.metadata["groups"], groups)


def test_fitted_copies_predict_as_if_the_fit_had_ended(data):
    X, y, groups = data
    recorder = Recorder()
    ranker = MPBoost(n_estimators=4).set_callbacks(recorder).fit(X, y, groups=groups)
    *after_rounds, after_fit = recorder.fitted
    for n_rounds, copied in enumerate(after_rounds, start=1):
        expected = MPBoost(n_estimators=n_rounds).fit(X, y, groups=groups)
        np.testing.assert_array_equal(copied.predict(X), expected.predict(X))
        np.testing.assert_array_equal(copied.train_loss_, expected.train_loss_)
        assert len(list(copied.staged_predict(X))) == copied.n_iter_ == n_rounds
    np.testing.assert_array_equal(after_fit.predict(X), ranker.predict(X))


def test_callbacks_do_not_change_the_model(data):
    X, y, groups = data
    plain = MPBoost(n_estimators=5).fit(X, y, groups=groups)
    watched = MPBoost(n_estimators=5).set_callbacks(monitor(), Recorder())
    watched.fit(X, y, groups=groups)
    np.testing.assert_array_equal(plain.predict(X), watched.predict(X))
    np.testing.assert_array_equal(plain.train_loss_, watched.train_loss_)


@pytest.mark.parametrize("stop_at", [0, 3])
def test_callback_stops_the_rounds(stop_at, data):
    X, y, groups = data
    recorder = Recorder(stop_at=[stop_at])
    stopped = MPBoost(n_estimators=30).set_callbacks(recorder).fit(X, y, groups=groups)
    assert recorder.events[2:-2] == rounds(stop_at + 1)
    shorter = MPBoost(n_estimators=stop_at + 1).fit(X, y, groups=groups)
    assert stopped.n_iter_ == stopped.best_iteration_ == stop_at + 1
    np.testing.assert_array_equal(stopped.predict(X), shorter.predict(X))


def test_teardown_after_an_error(data):
    X, y, groups = data
    recorder = Recorder()

    def broken(a, b):
        raise RuntimeError("broken distance")

    ranker = MPBoost(distance=broken).set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="broken distance"):
        ranker.fit(X, y, groups=groups)
    assert recorder.events[-1] == "teardown"
    recorder.events.clear()
    ranker.set_params(distance="linear", n_estimators=2).fit(X, y, groups=groups)
    assert recorder.events[2:-2] == rounds(2)


def test_warm_start_announces_the_rounds_to_come(data):
    X, y, groups = data
    recorder, log = Recorder(), monitor()
    ranker = MPBoost(n_estimators=4, warm_start=True).fit(X, y, groups=groups)
    ranker.set_params(n_estimators=6).set_callbacks(recorder, log).fit(X, y, groups=groups)
    assert recorder.events[2:-2] == rounds(2)
    assert recorder.max_subtasks == 2
    expected = [mean_ndcg(y, scores, groups) for scores in ranker.staged_predict(X)]
    np.testing.assert_allclose(logged(log), expected[4:], rtol=1e-12)


def test_watched_ranker_can_be_cloned_and_pickled(data):
    X, y, groups = data
    ranker = MPBoost(n_estimators=3).set_callbacks(monitor()).fit(X, y, groups=groups)
    loaded = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    np.testing.assert_array_equal(
        clone(ranker).fit(X, y, groups=groups).predict(X), loaded.predict(X)
    )


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_monitor_inside_a_search(n_jobs, data):
    X, y, groups = data
    log = monitor()
    ranker = make_pipeline(StandardScaler(), MPBoost(n_estimators=4).set_callbacks(log))
    search = GridSearchCV(
        ranker,
        {"mpboost__distance": ["linear", "binary"]},
        cv=GroupKFold(2),
        scoring=get_scorer("map"),
        n_jobs=n_jobs,
        error_score="raise",
    )
    search.fit(X, y, groups=groups)

    expected = []
    for distance in ("linear", "binary"):
        for train, _ in GroupKFold(2).split(X, y, groups):
            expected += staged_ndcg(distance, X[train], y[train], groups[train])
    expected += staged_ndcg(search.best_params_["mpboost__distance"], X, y, groups)
    np.testing.assert_allclose(sorted(logged(log)), sorted(expected), rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_monitor_of_a_member_of_a_blend(n_jobs, data):
    """In a pipeline, with and without processes of their own for the members."""
    X, y, groups = data
    log = monitor()
    watched = make_pipeline(StandardScaler(), MPBoost(n_estimators=4).set_callbacks(log))
    members = [("watched", watched), ("other", MPBoost(n_estimators=2))]
    BlendedRanker(members, n_jobs=n_jobs).fit(X, y, groups=groups)
    expected = staged_ndcg(MPBoost().distance, X, y, groups)
    np.testing.assert_allclose(logged(log), expected, rtol=1e-12)


def staged_ndcg(distance, X, y, groups):
    X = StandardScaler().fit_transform(X)
    ranker = MPBoost(n_estimators=4, distance=distance).fit(X, y, groups=groups)
    return [mean_ndcg(y, scores, groups) for scores in ranker.staged_predict(X)]


@pytest.mark.usefixtures("either_routing")
def test_progress_bar(data, capsys):
    pytest.importorskip("rich")
    X, y, groups = data
    MPBoost(n_estimators=5).set_callbacks(callback.ProgressBar()).fit(X, y, groups=groups)
    output = capsys.readouterr().out
    assert "MPBoost" in output
    assert "100%" in output


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_bar_of_a_search(n_jobs, data, capsys):
    pytest.importorskip("rich")
    X, y, groups = data
    search = GridSearchCV(
        MPBoost(n_estimators=3),
        {"distance": ["linear", "binary"]},
        cv=GroupKFold(2),
        n_jobs=n_jobs,
        error_score="raise",
    ).set_callbacks(callback.ProgressBar(max_propagation_depth=None))
    search.fit(X, y, groups=groups)
    output = capsys.readouterr().out
    assert "GridSearchCV" in output
    assert "MPBoost" in output
    assert output.count("100%") > 5
