# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""MetricByRoundDisplay of what `fit` has kept, and of several validation sets."""

import numpy as np
import pytest
import sklearn
from every_ranker import RANKERS, has, make, make_data
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from sklearn_ltr import LambdaMART, RankSVM
from sklearn_ltr.metrics import get_metric, ndcg_score
from sklearn_ltr.plotting import MetricByRoundDisplay

plt = pytest.importorskip("matplotlib.pyplot")

JUDGED = [R for R in RANKERS if has(R, "early_stopping")]
OTHERS = [R for R in RANKERS if not has(R, "early_stopping")]
draw = MetricByRoundDisplay.from_estimator


def top_grade(y_true, y_score, groups):
    return float(y_true[np.argmax(y_score)])


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def sets(R):
    first, second = make_data(R, seed=1), make_data(R, seed=2)
    names = ("X_val", "y_val", "groups_val")
    return dict(zip(names, zip(first, second, strict=True), strict=True))


def fitted(R, val=None, **params):
    X, y, groups = make_data(R)
    return make(R, **params).fit(X, y, groups=groups, **(sets(R) if val is None else val))


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("R", JUDGED, ids=lambda R: R.__name__)
def test_every_ranker_that_is_judged_by_rounds_is_drawn(R):
    ranker = fitted(R, scoring=["ndcg@3", "map", top_grade])
    n_sets = len(ranker.validation_history_)
    assert n_sets == 2
    chosen = (
        (None, "ndcg@3"),
        ("map", "map"),
        (get_metric("map"), "map"),
        (top_grade, "top_grade"),
    )
    for metric, name in chosen:
        display = draw(ranker, metric=metric)
        rounds = np.arange(1, ranker.n_iter_ + 1)
        assert len(display.lines_) == n_sets
        for line, of_set in zip(display.lines_, ranker.validation_history_, strict=True):
            assert_array_equal(line.get_xdata(), rounds)
            assert_array_equal(line.get_ydata(), of_set[name])
        assert display.train_scores is None
        assert display.ax_.get_xlabel() == f"{ranker._step}s"
    shown = [draw(ranker, metric=metric).ax_.get_ylabel() for metric, _ in chosen]
    assert shown == ["NDCG@3", "MAP", "MAP", "top_grade"]


@pytest.mark.parametrize("R", OTHERS, ids=lambda R: R.__name__)
def test_others_say_that_there_is_nothing(R):
    ranker = make(R).fit(*make_data(R)[:2], groups=make_data(R)[2])
    with pytest.raises(ValueError, match=f"{R.__name__} keeps no scores of its rounds"):
        draw(ranker)


def test_names_and_colours():
    display = draw(fitted(LambdaMART))
    legend = ["LambdaMART, validation 1", "LambdaMART, validation 2"]
    assert legend_of(display.ax_)[:2] == legend
    assert len({line.get_color() for line in display.lines_}) == 2
    display = draw(fitted(LambdaMART), name="trees", set_names=["new", "old"], linewidth=3)
    assert legend_of(display.ax_)[:2] == ["trees, new", "trees, old"]
    assert {line.get_linewidth() for line in display.lines_} == {3}
    for wrong in (["new"], "ab"):
        with pytest.raises(ValueError, match="a name for each of 2 validation sets"):
            draw(fitted(LambdaMART), set_names=wrong)


def test_the_best_round_is_that_of_the_first_set():
    X, y, groups = make_data(LambdaMART)
    ranker = make(LambdaMART, early_stopping=True, n_iter_no_change=3, n_estimators=60)
    ranker.fit(X, y, groups=groups, **sets(LambdaMART))
    assert ranker.best_iteration_ < ranker.n_iter_
    for display in (draw(ranker), draw(ranker, X, y, groups, **sets(LambdaMART))):
        (x,), (value,) = display.best_.get_data()
        assert x == ranker.best_iteration_
        assert value == display.validation_scores[0].max()
        first = display.lines_[-2]
        assert display.best_.get_color() == first.get_color() != display.lines_[-1].get_color()


def test_rows_of_several_sets_are_evaluated():
    X, y, groups = make_data(LambdaMART)
    val = sets(LambdaMART)
    ranker = fitted(LambdaMART, val={})
    display = draw(ranker, X, y, groups, **val, metric="ndcg@3")
    for k, line in enumerate(display.lines_[1:]):
        X_val, y_val, groups_val = (rows[k] for rows in val.values())
        stages = ranker.staged_predict(X_val)
        expected = [ndcg_score(y_val, scores, groups_val, k=3) for scores in stages]
        assert_array_equal(line.get_ydata(), expected)
    names = ["train", "validation 1", "validation 2"]
    assert legend_of(display.ax_) == [f"LambdaMART, {name}" for name in names]
    with pytest.raises(ValueError, match="`X_val` is a tuple"):
        draw(ranker, X, y, groups, **val | {"groups_val": val["groups_val"][0]})


def test_held_out_queries_of_a_search():
    X, y, groups = make_data(LambdaMART)
    ranker = make(LambdaMART, early_stopping=True, n_iter_no_change=3)
    search = GridSearchCV(ranker, {"max_leaf_nodes": [3]}, cv=GroupKFold(2))
    with sklearn.config_context(enable_metadata_routing=True):
        search.fit(X, y, groups=groups)
    assert_array_equal(
        draw(search).validation_scores, search.best_estimator_.validation_history_[0]["ndcg@10"]
    )
    assert legend_of(plt.gca())[0] == "LambdaMART, validation"


def test_metrics_of_one_name():
    both = [get_metric("ndcg@3"), get_metric("ndcg@3", gain="linear")]
    ranker = fitted(LambdaMART, scoring=both)
    for metric in both:
        display = draw(ranker, metric=metric)
        assert_array_equal(
            display.validation_scores, [x[repr(metric)] for x in ranker.validation_history_]
        )
    with pytest.raises(ValueError, match="`metric` must be one of those"):
        draw(ranker, metric="ndcg@3")  # of the two


def test_what_is_refused():
    X, y, _ = make_data(LambdaMART)
    ranker = fitted(LambdaMART)
    with pytest.raises(ValueError, match="one of those that rounds were judged by, ndcg@10; got"):
        draw(ranker, metric="map")
    with pytest.raises(ValueError, match="Unknown metric 'nope'"):
        draw(ranker, metric="nope")
    with pytest.raises(ValueError, match="`y` goes with `X`"):
        draw(ranker, y=y)
    with pytest.raises(ValueError, match="`X_val` goes with `X`"):
        draw(ranker, X_val=X)
    with pytest.raises(ValueError, match=r"without validation rows, .* early_stopping=True; or"):
        draw(fitted(LambdaMART, val={}))
    with pytest.raises(NotFittedError):
        draw(LambdaMART())
    with pytest.raises(NotFittedError):
        draw(RankSVM())
    with pytest.raises(ValueError, match="Pipeline keeps no scores"):
        draw(make_pipeline(ranker))
    with pytest.raises(ValueError, match="y"):
        draw(ranker, X)


def test_rounds_that_were_not_judged():
    X, y, groups = make_data(LambdaMART)
    ranker = make(LambdaMART, warm_start=True, n_estimators=3).fit(X, y, groups=groups)
    ranker.set_params(n_estimators=5).fit(X, y, groups=groups, **sets(LambdaMART))
    with pytest.raises(ValueError, match="Not all 5 rounds were judged by 'ndcg@10'"):
        draw(ranker)
