# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Displays: what is drawn is what the metrics and the rankers give."""

import inspect
import sys
from inspect import isclass

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_ranker import RANKERS, make, make_data
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import (
    FeatureRank,
    FRank,
    LambdaMART,
    ListNet,
    MPBoost,
    QBRank,
    RankBoost,
    SingleFeatureRanker,
    plotting,
)
from sklearn_ltr.base import predict_queries
from sklearn_ltr.labels import DISTANCES, directed_distance
from sklearn_ltr.metrics import get_metric, ndcg_score
from sklearn_ltr.plotting import (
    ContributionsDisplay,
    DirectedDistanceDisplay,
    MetricAtKDisplay,
    MetricByRoundDisplay,
    ShapeFunctionsDisplay,
    WinLossDisplay,
)
from sklearn_ltr.preprocessing import QueryScaler

plt = pytest.importorskip("matplotlib.pyplot")

STUMP_RANKERS = [R for R in RANKERS if hasattr(R, "shape_function")]
STAGED_RANKERS = [R for R in RANKERS if hasattr(R, "staged_predict")]


@pytest.fixture(autouse=True)
def _close_figures():
    assert plt.get_fignums() == []
    yield
    plt.close("all")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def fitted(R, X, y, groups, **params):
    return make(R, **params).fit(X, y, groups=groups)


@pytest.fixture(scope="module")
def data():
    """X, y, groups; 30 queries, rows interleaved, some values missing."""
    return make_data(MPBoost)


@pytest.fixture(scope="module")
def ranker(data):
    return fitted(MPBoost, *data)


@pytest.fixture(scope="module")
def other(data):
    return fitted(FRank, *data)


def test_every_display_has_the_usual_methods():
    assert sorted(plotting.__all__) == plotting.__all__
    displays = [value for value in map(vars(plotting).get, plotting.__all__) if isclass(value)]
    assert len(displays) >= 6
    for display in displays:
        assert callable(display.plot)
        assert hasattr(display, "from_estimator") or hasattr(display, "from_estimators")


def draw_all(data, ranker, other):
    """Calls that draw each display in each way, by name of the function."""
    X, y, groups = data
    scores, rows = ranker.predict(X), (X, y, groups)
    return {
        "MetricAtKDisplay.from_estimator": lambda: MetricAtKDisplay.from_estimator(ranker, *rows),
        "MetricAtKDisplay.from_predictions": lambda: MetricAtKDisplay.from_predictions(
            y, scores, groups
        ),
        "MetricByRoundDisplay.from_estimator": lambda: MetricByRoundDisplay.from_estimator(
            ranker, *rows
        ),
        "DirectedDistanceDisplay.from_estimator": lambda: DirectedDistanceDisplay.from_estimator(
            ranker
        ),
        "ShapeFunctionsDisplay.from_estimator": lambda: ShapeFunctionsDisplay.from_estimator(
            ranker
        ),
        "ContributionsDisplay.from_estimator": lambda: ContributionsDisplay.from_estimator(
            ranker, X[0]
        ),
        "WinLossDisplay.from_estimators": lambda: WinLossDisplay.from_estimators(
            ranker, other, *rows
        ),
        "WinLossDisplay.from_predictions": lambda: WinLossDisplay.from_predictions(
            y, scores, -scores, groups
        ),
    }


def test_without_matplotlib(data, ranker, other, monkeypatch):
    displays = {name: draw() for name, draw in draw_all(data, ranker, other).items()}
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name, draw in draw_all(data, ranker, other).items():
        with pytest.raises(ImportError, match=rf"{name} requires matplotlib.*pip install"):
            draw()
    for display in displays.values():
        with pytest.raises(ImportError, match=rf"{type(display).__name__}\.plot requires"):
            display.plot()


def test_one_figure_a_call_and_none_with_axes(data, ranker, other):
    for i, draw in enumerate(draw_all(data, ranker, other).values(), start=1):
        display = draw()
        assert len(plt.get_fignums()) == i
        axes = display.axes_ if isinstance(display, ShapeFunctionsDisplay) else display.ax_
        assert display.plot(axes) is display
        assert len(plt.get_fignums()) == i
        assert display.figure_ is np.ravel(axes)[0].figure
        display.figure_.draw_without_rendering()  # nothing warns


# A metric by its cut-off


@pytest.mark.parametrize(
    ("metric", "at_k"),
    [
        ("ndcg", lambda k: get_metric(f"ndcg@{k}")),
        ("p", lambda k: get_metric(f"p@{k}")),
        ("map", lambda k: get_metric(f"map@{k}")),
        (get_metric("ndcg", gain="linear"), lambda k: get_metric(f"ndcg@{k}", gain="linear")),
        (get_metric("ndcg@3", like="letor4"), lambda k: get_metric(f"ndcg@{k}", like="letor4")),
        (get_metric("err@5", max_grade=4), lambda k: get_metric(f"err@{k}", max_grade=4)),
    ],
    ids=lambda x: "" if inspect.isfunction(x) else str(x),
)
def test_metric_at_k_draws_the_means(data, ranker, metric, at_k):
    X, y, groups = data
    scores = ranker.predict(X)
    display = MetricAtKDisplay.from_predictions(y, scores, groups, metric=metric, k_max=4)
    x, values = display.line_.get_data()
    assert_array_equal(x, [1, 2, 3, 4])
    assert_array_equal(values, [at_k(k)(y, scores, groups) for k in x])
    assert_array_equal(values, display.values)
    for k, error in zip(x, display.standard_errors, strict=True):
        of_query = at_k(k)(y, scores, groups, per_query=True).values
        of_query = pd.Series(of_query)  # leaves NaN out
        assert_allclose(error, of_query.sem())
    assert display.ax_.get_ylabel() == f"{at_k(1).label.upper()}@k"
    assert display.ax_.get_legend() is None
    assert display.band_ is None


def test_metric_at_k_of_several_rankers_in_one_figure(data, ranker, other):
    X, y, groups = data
    first = MetricAtKDisplay.from_estimator(ranker, X, y, groups, k_max=2)
    second = MetricAtKDisplay.from_estimator(
        other, X, y, groups, k_max=2, ax=first.ax_, name="other", marker="s", show_band=True
    )
    assert second.figure_ is first.figure_
    assert first.ax_.lines[:] == [first.line_, second.line_]
    assert second.line_.get_marker() == "s"
    assert legend_of(first.ax_) == ["MPBoost", "other"]
    (band,) = second.band_.get_paths()
    assert_allclose(band.vertices[:, 1].max(), (second.values + second.standard_errors).max())
    assert_allclose(band.vertices[:, 1].min(), (second.values - second.standard_errors).min())
    assert legend_of(second.plot(name="again").ax_) == ["again"]
    assert all(tick == round(tick) for tick in first.ax_.get_xticks())


def test_metric_at_k_leaves_rows_without_grade_out():
    X, y, groups = make_data(QBRank, seed=1)
    y[::7] = np.nan
    ranker = fitted(QBRank, X, y, groups)
    known = ~np.isnan(y)
    display = MetricAtKDisplay.from_estimator(ranker, X, y, groups, k_max=3)
    scores = ranker.predict(X)
    assert display.values[2] == ndcg_score(y[known], scores[known], groups[known], k=3)


def test_one_query_has_no_standard_error():
    display = MetricAtKDisplay.from_predictions([1, 0], [1, 0], ["a", "a"], show_band=True, k_max=1)
    assert display.values == [1]
    assert np.isnan(display.standard_errors).all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metric": "ndcg@5"}, ValueError, "without one, 'ndcg'"),
        ({"metric": "nope"}, ValueError, "Unknown metric"),
        ({"metric": 3}, ValueError, "Unknown metric"),
        ({"metric": "kendall"}, ValueError, "no cut-off"),
        ({"metric": get_metric("kendall")}, ValueError, "no cut-off"),
        ({"k_max": 0}, ValueError, "k_max"),
        ({"k_max": 2.5}, TypeError, "k_max"),
        ({"groups": None}, ValueError, "`groups` is None"),
        ({"groups": [1, 2]}, ValueError, "3 rows"),
    ],
    ids=str,
)
def test_metric_at_k_refuses(arguments, error, message):
    arguments = {"groups": ["a", "a", "a"]} | arguments
    with pytest.raises(error, match=message):
        MetricAtKDisplay.from_predictions([1, 0, 0], [1, 2, 3], **arguments)
    assert plt.get_fignums() == []


# Anything that predicts


@pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
def test_every_ranker_can_be_drawn(R):
    X, y, groups = make_data(R)
    ranker = fitted(R, X, y, groups)
    scores = predict_queries(ranker, X, groups)
    display = MetricAtKDisplay.from_estimator(ranker, X, y, groups, k_max=2)
    assert display.values[1] == ndcg_score(y, scores, groups, k=2)
    assert legend_of(display.ax_) == [R.__name__]
    single = SingleFeatureRanker().fit(np.nan_to_num(X), y, groups=groups)
    filled = np.nan_to_num(X), y, groups + len(y)  # other rows, and so other ids
    display = WinLossDisplay.from_estimators(ranker, single, *filled)
    assert legend_of(display.ax_)[0].startswith(f"{R.__name__} ")


def test_searches_pipelines_and_other_estimators(data):
    X, y, groups = data
    X = np.nan_to_num(X)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), RankBoost(n_estimators=3))
        search = GridSearchCV(pipeline, {"rankboost__n_estimators": [2, 3]}, cv=GroupKFold(2))
        search.fit(X, y, groups=groups)
        scores = search.best_estimator_.predict(X, groups=groups)
        display = MetricAtKDisplay.from_estimator(search, X, y, groups, k_max=2)
        assert display.values[1] == ndcg_score(y, scores, groups, k=2)
        assert display.name == "Pipeline"
    regressor = LinearRegression().fit(X, y)
    display = MetricAtKDisplay.from_estimator(regressor, X, y, groups, k_max=2)
    assert display.values[1] == ndcg_score(y, regressor.predict(X), groups, k=2)


# A metric by the round


@pytest.mark.parametrize("R", STAGED_RANKERS, ids=lambda R: R.__name__)
def test_metric_by_round_draws_the_means(R):
    X, y, groups = make_data(R)
    X_val, y_val, groups_val = make_data(R, seed=1)
    ranker = fitted(R, X, y, groups, n_estimators=5)
    display = MetricByRoundDisplay.from_estimator(
        ranker, X, y, groups, X_val=X_val, y_val=y_val, groups_val=groups_val, metric="ndcg@3"
    )
    train, validation = display.lines_
    for line, rows in ((train, (X, y, groups)), (validation, (X_val, y_val, groups_val))):
        rounds, values = line.get_data()
        X_, y_, groups_ = rows
        told = {"groups": groups_} if R is FeatureRank else {}
        expected = [ndcg_score(y_, s, groups_, k=3) for s in ranker.staged_predict(X_, **told)]
        assert_array_equal(rounds, np.arange(1, len(expected) + 1))
        assert_array_equal(values, expected)
    assert display.best_ is None
    assert legend_of(display.ax_) == [f"{R.__name__}, train", f"{R.__name__}, validation"]
    assert display.ax_.get_ylabel() == "NDCG@3"
    assert train.get_color() == validation.get_color()
    assert train.get_linestyle() != validation.get_linestyle()


def test_metric_by_round_marks_the_best_one():
    X, y, groups = make_data(LambdaMART)
    X_val, y_val, groups_val = make_data(LambdaMART, seed=1)
    val = {"X_val": X_val, "y_val": y_val, "groups_val": groups_val}
    ranker = make(LambdaMART, early_stopping=True, n_iter_no_change=3, n_estimators=100)
    ranker.fit(X, y, groups=groups, **val)
    assert ranker.best_iteration_ < ranker.n_iter_
    display = MetricByRoundDisplay.from_estimator(ranker, X, y, groups, **val)
    assert_allclose(display.validation_scores, ranker.validation_score_)
    (x,), (value,) = display.best_.get_data()
    assert x == ranker.best_iteration_
    assert value == display.validation_scores.max()
    assert legend_of(display.ax_)[2] == f"best_iteration_ = {x}"
    assert MetricByRoundDisplay.from_estimator(ranker, X, y, groups).best_.get_ydata() == [
        display.train_scores[x - 1]
    ]


def test_metric_by_round_of_several_rankers_in_one_figure(data, ranker, other):
    first = MetricByRoundDisplay.from_estimator(ranker, *data, name="a")
    second = MetricByRoundDisplay.from_estimator(
        other, *data, ax=first.ax_, metric="kendall", linestyle=":"
    )
    assert legend_of(first.ax_) == ["a", "FRank"]
    assert second.lines_[0].get_linestyle() == ":"
    assert second.ax_.get_ylabel() == "Kendall's tau"
    assert second.validation_scores is None
    display = MetricByRoundDisplay(train_scores=np.array([0.1, 0.2]), metric_name="x").plot()
    assert display.ax_.get_legend() is None


def test_metric_by_round_refuses(data, ranker):
    X, y, groups = data
    draw = MetricByRoundDisplay.from_estimator
    with pytest.raises(ValueError, match="`groups` is None"):
        draw(ranker, X, y, None)
    with pytest.raises(ValueError, match="give both or none"):
        draw(ranker, X, y, groups, X_val=X)
    with pytest.raises(ValueError, match="give both or none"):
        draw(ranker, X, y, groups, groups_val=groups)
    with pytest.raises(ValueError, match="`groups_val` is None"):
        draw(ranker, X, y, groups, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="Unknown metric"):
        draw(ranker, X, y, groups, metric="nope")
    with pytest.raises(ValueError, match="`staged_predict`; got Pipeline"):
        draw(make_pipeline(StandardScaler(), MPBoost()), X, y, groups)
    with pytest.raises(NotFittedError):
        draw(MPBoost(), X, y, groups)
    assert plt.get_fignums() == []


# Directed distances


@pytest.mark.parametrize("distance", DISTANCES)
def test_directed_distance_draws_the_distance(distance, data):
    ranker = MPBoost(distance=distance, alpha=0.2, lam=2.0, beta=0.7)
    display = DirectedDistanceDisplay.from_estimator(ranker, max_difference=3)
    x, values = display.line_.get_data()
    assert x[0] > 0
    assert x[-1] == 3
    expected = directed_distance(x, np.zeros_like(x), distance, alpha=0.2, lam=2.0, beta=0.7)
    assert_array_equal(values, expected)
    (label,) = legend_of(display.ax_)
    symbol = {"linear": "alpha$ = 0.2", "logarithmic": "lambda$ = 2", "logistic": "beta$ = 0.7"}
    assert label.startswith(distance)
    assert label.endswith(symbol.get(distance, "binary"))


def test_directed_distances_in_one_figure():
    def squared(higher, lower):
        return (higher - lower) ** 2

    first = DirectedDistanceDisplay.from_estimator(MPBoost(distance="linear"))
    second = DirectedDistanceDisplay.from_estimator(
        MPBoost(distance=squared), ax=first.ax_, color="black"
    )
    assert_array_equal(second.distances, second.differences**2)
    assert legend_of(first.ax_)[1] == "squared"
    low, high = first.ax_.get_ylim()
    assert low == 0
    assert high >= 16  # nothing is cut off
    assert second.line_.get_color() == "black"


def test_directed_distance_refuses():
    draw = DirectedDistanceDisplay.from_estimator
    with pytest.raises(TypeError, match=r"needs an MPBoost.*got RankBoost"):
        draw(RankBoost())
    with pytest.raises(ValueError, match="`distance` must be one of"):
        draw(MPBoost(distance="nope"))
    for value in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="max_difference"):
            draw(MPBoost(), max_difference=value)
    assert plt.get_fignums() == []


# Shape functions


def at(line, x):
    """Height of a curve of steps at `x`, where a value at a jump belongs to the left step."""
    edges, heights = line.get_data()
    return heights[max(np.searchsorted(edges, x, side="left") - 1, 0)]


@pytest.mark.parametrize("R", STUMP_RANKERS, ids=lambda R: R.__name__)
def test_shape_functions_add_up_to_the_scores(R):
    X, y, groups = make_data(R)
    ranker = fitted(R, X, y, groups, n_estimators=30)
    display = ShapeFunctionsDisplay.from_estimator(ranker, X, features=range(X.shape[1]))
    assert all(line.get_drawstyle() == "steps-post" for line in display.lines_)
    assert len(display.axes_) == X.shape[1]

    def height(panel, x):
        if np.isnan(x):
            return display.missing_lines_[panel].get_ydata()[0]
        return at(display.lines_[panel], x)

    drawn = [sum(height(panel, x) for panel, x in enumerate(row)) for row in X]
    assert_allclose(drawn, ranker.predict(X), atol=1e-12)
    for panel, line in enumerate(display.lines_):
        thresholds, values = ranker.shape_function(panel)
        edges, heights = line.get_data()
        assert_array_equal(edges[1:-1], thresholds)
        assert_array_equal(heights, np.append(values[:-1], values[-2]))
        assert edges[0] < np.nanmin(X[:, panel])
        assert edges[-1] > np.nanmax(X[:, panel])
    limits = {axes.get_ylim() for axes in display.axes_}
    assert len(limits) == 1


def test_shape_functions_of_the_most_important_features(data, ranker):
    X, _, _ = data
    importances = ranker.feature_importances_
    order = np.argsort(-importances, kind="stable")
    display = ShapeFunctionsDisplay.from_estimator(ranker, X, n_features=2)
    assert display.feature_names == [f"feature {f}" for f in order[:2]]
    assert [axes.get_xlabel() for axes in display.axes_] == display.feature_names
    for sample, feature in zip(display.samples, order, strict=False):
        assert_array_equal(sample, X[:, feature])
    marks = [segment[0, 0] for segment in display.deciles_[0].get_segments()]
    deciles = [np.nanpercentile(X[:, order[0]], q) for q in range(10, 100, 10)]
    assert_allclose(marks, deciles)
    everything = ShapeFunctionsDisplay.from_estimator(ranker)
    assert len(everything.axes_) == (importances > 0).sum()
    assert everything.deciles_ == [None] * len(everything.axes_)
    had_missing = [bool(np.isnan(X[:, k]).any()) for k in order[: len(everything.axes_)]]
    assert [line is not None for line in everything.missing_lines_] == had_missing
    assert everything.figure_.get_supylabel()


def test_shape_functions_of_frames_and_sparse_matrices(data):
    X, y, groups = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    ranker = fitted(MPBoost, frame, y, groups)
    display = ShapeFunctionsDisplay.from_estimator(ranker, frame, features=["c", 0])
    assert display.feature_names == ["c", "a"]
    assert_array_equal(display.samples[0], X[:, 2])
    renamed = ShapeFunctionsDisplay.from_estimator(
        ranker, features=["c"], feature_names=["one", "two", "three", "four", "five"]
    )
    assert renamed.feature_names == ["three"]

    X = np.nan_to_num(X)
    ranker = fitted(MPBoost, X, y, groups)
    dense = ShapeFunctionsDisplay.from_estimator(ranker, X)
    same = ShapeFunctionsDisplay.from_estimator(ranker, sparse.csr_array(X))
    assert_array_equal(dense.samples, same.samples)


def test_shape_functions_of_two_rankers_in_one_figure(data, ranker, other):
    X, _, _ = data
    features = [0, 1, 3]
    first = ShapeFunctionsDisplay.from_estimator(ranker, X, features=features, name="a", n_cols=2)
    second = ShapeFunctionsDisplay.from_estimator(
        other, features=features, name="b", ax=first.axes_, linestyle="--"
    )
    assert second.figure_ is first.figure_
    assert len(first.figure_.axes) == 3  # of a grid of four
    assert legend_of(first.axes_[0])[0::2] == ["a", "b"]
    assert second.lines_[1].get_linestyle() == "--"
    assert first.axes_[0].get_ylabel() == ""
    _, ax = plt.subplots()
    alone = ShapeFunctionsDisplay.from_estimator(ranker, features=[0], ax=ax)
    assert alone.axes_[0] is ax
    assert ax.get_ylabel()


def test_a_feature_that_is_not_used_is_flat():
    X = np.column_stack([[0.0, 1, 2], [5.0, 5, 5]])
    ranker = MPBoost(n_estimators=2).fit(X, [0, 1, 2], groups=[1, 1, 1])
    display = ShapeFunctionsDisplay.from_estimator(ranker, features=[1])
    assert_array_equal(display.lines_[0].get_ydata(), [0, 0])
    display = ShapeFunctionsDisplay.from_estimator(ranker, X * np.nan, features=[1])
    assert display.deciles_ == [None]
    assert display.missing_lines_[0] is not None


def test_shape_functions_refuse(data, ranker):
    X, _, _ = data
    draw = ShapeFunctionsDisplay.from_estimator
    for estimator in (LambdaMART(), make_pipeline(StandardScaler(), MPBoost())):
        with pytest.raises(ValueError, match=f"sum of stumps.*got {type(estimator).__name__}"):
            draw(estimator)
    with pytest.raises(NotFittedError):
        draw(MPBoost())
    with pytest.raises(ValueError, match="no feature to draw"):
        draw(ranker, features=[])
    with pytest.raises(ValueError, match="`features` has 5, which is no column"):
        draw(ranker, features=[5])
    with pytest.raises(ValueError, match="which is no column"):
        draw(ranker, features=["a"])
    with pytest.raises(ValueError, match="one name for each of the 5 features; got 1"):
        draw(ranker, feature_names=["a"])
    with pytest.raises(ValueError, match="n_features"):
        draw(ranker, n_features=0)
    with pytest.raises(ValueError, match="4 features"):
        draw(ranker, X[:, :4])
    assert plt.get_fignums() == []
    with pytest.raises(ValueError, match="n_cols"):
        draw(ranker, n_cols=0)
    _, axes = plt.subplots(1, 3)
    with pytest.raises(ValueError, match="one Axes for each of the 2 features; got 3"):
        draw(ranker, features=[0, 1], ax=axes)
    flat = MPBoost(n_estimators=1).fit(np.ones((3, 2)), [0, 1, 2], groups=[1, 1, 1])
    with pytest.raises(ValueError, match="no feature to draw"):
        draw(flat)


# Contributions


@pytest.mark.parametrize("R", STUMP_RANKERS, ids=lambda R: R.__name__)
def test_contributions_add_up_to_the_score(R):
    X, y, groups = make_data(R)
    ranker = fitted(R, X, y, groups, n_estimators=30)
    score, other_score = ranker.predict(X[:2])
    for n_features in (1, 2, 10):
        display = ContributionsDisplay.from_estimator(ranker, X[0], n_features=n_features)
        widths = [bar.get_width() for bar in display.bars_]
        assert_allclose(sum(widths), score, atol=1e-12)
        assert_array_equal(display.contributions, ranker.contributions(X[:1])[0])
        assert len(widths) <= n_features + 1
        sizes = np.abs(widths)[:n_features]
        assert (np.diff(sizes) <= 0).all()
        assert display.ax_.get_title() == f"score {score:.3f}"
        display = ContributionsDisplay.from_estimator(ranker, X[0], X[1], n_features=n_features)
        widths = [bar.get_width() for bar in display.bars_]
        assert_allclose(sum(widths), score - other_score, atol=1e-12)
        assert display.is_difference
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the largest bar is on top


def test_contributions_name_features_and_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (60, 4)).astype(float)
    y = np.clip(X @ [3, 2, 1, 0] // 6, 0, 4)
    X[0, 1] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    ranker = MPBoost(n_estimators=40).fit(frame, y, groups=np.arange(60) // 10)
    display = ContributionsDisplay.from_estimator(ranker, frame.iloc[0], n_features=2)
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    contributions = ranker.contributions(frame.iloc[[0]])[0]
    order = [i for i in np.argsort(-np.abs(contributions), kind="stable") if contributions[i]]
    text = ["missing" if np.isnan(value) else f"{value:.3g}" for value in X[0]]
    assert labels[:2] == [f"{'abcd'[i]} = {text[i]}" for i in order[:2]]
    rest = len(order) - 2
    assert labels[2:] == ([f"{rest} other feature{'s' * (rest > 1)}"] if rest else [])
    two = ContributionsDisplay.from_estimator(
        ranker, frame.iloc[[0]], frame.iloc[[7]], feature_names=["A", "B", "C", "D"]
    )
    assert f"B: missing vs {X[7, 1]:.3g}" in two.feature_names
    same = ContributionsDisplay.from_estimator(ranker, frame.iloc[3], frame.iloc[3])
    assert len(same.bars_) == 0
    same.figure_.draw_without_rendering()


def test_contributions_of_sparse_rows(data):
    X, y, groups = data
    X = np.nan_to_num(X)
    ranker = fitted(MPBoost, X, y, groups)
    dense = ContributionsDisplay.from_estimator(ranker, X[:1], X[5].tolist())
    same = ContributionsDisplay.from_estimator(
        ranker, sparse.csr_array(X)[[0]], sparse.csr_array(X)[[5]], color="grey"
    )
    assert_array_equal(dense.contributions, same.contributions)
    assert dense.feature_names == same.feature_names


def test_contributions_refuse(data, ranker):
    X, _, _ = data
    draw = ContributionsDisplay.from_estimator
    with pytest.raises(ValueError, match=r"score is a sum of stumps or trees; got ListNet"):
        draw(ListNet(), X[0])
    for R in (RankBoost, LambdaMART):
        with pytest.raises(NotFittedError):
            draw(R(), X[0])
    with pytest.raises(ValueError, match=r"`x` must be one row.*\(2, 5\)"):
        draw(ranker, X[:2])
    with pytest.raises(ValueError, match=r"`x_other` must be one row.*\(1, 2, 5\)"):
        draw(ranker, X[0], X[None, :2])
    with pytest.raises(ValueError, match="3 features"):
        draw(ranker, X[0, :3])
    with pytest.raises(ValueError, match="n_features"):
        draw(ranker, X[0], n_features=0)
    assert plt.get_fignums() == []


# Wins and losses


def heights(patch):
    return patch.get_data().values


def test_win_loss_draws_the_differences(data, ranker, other):
    X, y, groups = data
    groups = np.array([f"q{g}" for g in groups])
    metric = get_metric("ndcg@3")
    a = metric(y, ranker.predict(X), groups, per_query=True)
    b = metric(y, other.predict(X), groups, per_query=True)
    defined = ~np.isnan(a.values)
    assert not defined.all()
    differences = (a.values - b.values)[defined]
    display = WinLossDisplay.from_estimators(ranker, other, X, y, groups, metric=metric)
    assert_array_equal(display.differences, differences)
    assert_array_equal(display.query_ids, a.ids[defined])
    wins, losses = differences[differences > 0], differences[differences < 0]
    assert_array_equal(heights(display.wins_), np.sort(wins)[::-1])
    assert_array_equal(heights(display.losses_), np.sort(losses)[::-1])
    n_ties = len(differences) - len(wins) - len(losses)
    assert display.losses_.get_data().edges[0] == len(wins) + n_ties
    assert display.losses_.get_data().edges[-1] == len(differences)
    assert legend_of(display.ax_) == [
        f"MPBoost better: {len(wins)}",
        f"FRank better: {len(losses)}",
        f"mean {differences.mean():+.4f}",
    ]
    assert display.ax_.get_xlabel().startswith(f"{len(differences)} queries")
    assert display.ax_.get_xlabel().endswith(f"equal: {n_ties}")
    assert display.mean_.get_ydata()[0] == differences.mean()
    assert display.ax_.get_ylabel() == "difference of NDCG@3"


@pytest.mark.parametrize("sign", [1, 0, -1])
def test_win_loss_of_one_side(sign):
    y, groups = [1, 0, 1, 0], [1, 1, 2, 2]
    good = np.array([1.0, 0, 1, 0])
    display = WinLossDisplay.from_predictions(y, sign * good, -sign * good, groups)
    assert len(heights(display.wins_)) == (2 if sign > 0 else 0)
    assert len(heights(display.losses_)) == (2 if sign < 0 else 0)
    assert legend_of(display.plot(names=("a", "b")).ax_)[0].startswith("a better")
    display.figure_.draw_without_rendering()


def test_win_loss_leaves_rows_without_grade_out():
    y, scores = np.array([np.nan, 1, 0, np.nan, 2, 0, 1]), np.array([0, 1, 2, 3, 1, 2, 3.0])
    groups = ["none", "b", "b", "b", "a", "a", "a"]
    display = WinLossDisplay.from_predictions(y, scores, -scores, groups, metric="mrr")
    ids, of_query = display.query_ids, display.differences
    assert dict(zip(ids, of_query, strict=True)) == {"a": 0.0, "b": -0.5}


def test_win_loss_names(data, ranker):
    again = fitted(MPBoost, *data, n_estimators=2)
    display = WinLossDisplay.from_estimators(ranker, again, *data)
    assert display.names == ["MPBoost (first)", "MPBoost (second)"]
    display = WinLossDisplay.from_estimators(ranker, again, *data, names=("12", "2"))
    assert display.names == ("12", "2")


def test_win_loss_refuses(data, ranker, other):
    X, y, groups = data
    with pytest.raises(ValueError, match="`groups` is None"):
        WinLossDisplay.from_estimators(ranker, other, X, y, None)
    with pytest.raises(ValueError, match="`groups` is None"):
        WinLossDisplay.from_predictions(y, y, y, None)
    with pytest.raises(ValueError, match="in every query"):
        WinLossDisplay.from_predictions(0 * y, y, y, groups)
    with pytest.raises(
        ValueError, match=r"`y_score_second` must have .* 206 rows; got shape \(205,\)"
    ):
        WinLossDisplay.from_predictions(y, y, y[:-1], groups)
    with pytest.raises(ValueError, match="Unknown metric"):
        WinLossDisplay.from_predictions(y, y, y, groups, metric="nope")
    assert plt.get_fignums() == []
