# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures of what features add to the scores of rankers of trees."""

import numpy as np
import pytest
from every_ranker import RANKERS, make, make_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.tree import DecisionTreeRegressor

from sklearn_ltr import McRank, QBRank, RegressionRanker
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.plotting import ContributionsDisplay

plt = pytest.importorskip("matplotlib.pyplot")

EXPLAINED = [R for R in RANKERS if issubclass(R, TreeBoosting) and R is not McRank]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def widths(display):
    return [bar.get_width() for bar in display.bars_]


@pytest.mark.parametrize("R", EXPLAINED, ids=lambda R: R.__name__)
def test_bars_add_up_to_the_score(R):
    X, y, groups = make_data(R)
    ranker = make(R).fit(X, y, groups)
    score, other_score = ranker.predict(X[:2])
    display = ContributionsDisplay.from_estimator(ranker, X[0], n_features=2)
    assert display.expected_score == ranker.expected_score_
    assert_allclose(ranker.expected_score_ + sum(widths(display)), score, atol=1e-12)
    assert_array_equal(display.contributions, ranker.contributions(X[:1])[0])
    assert display.ax_.get_title() == f"score {score:.3f}"
    label = display.ax_.get_xlabel()
    assert label.startswith("added to the expected score, ")
    assert float(label.split()[-1]) == round(ranker.expected_score_, 3)
    assert "-0.000" not in label
    display = ContributionsDisplay.from_estimator(ranker, X[0], X[1], n_features=2)
    assert display.expected_score is None
    assert_allclose(sum(widths(display)), score - other_score, atol=1e-12)
    assert display.ax_.get_title() == f"difference of the scores {score - other_score:.3f}"
    display.figure_.draw_without_rendering()


def test_of_a_search():
    X, y, groups = make_data()
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(RegressionRanker(3), {"max_leaf_nodes": [2, 4]}, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
    display = ContributionsDisplay.from_estimator(search, X[0])
    assert_array_equal(display.contributions, search.best_estimator_.contributions(X[:1])[0])


def test_refused():
    X, y, groups = make_data()
    ranker = make(McRank).fit(X, y, groups)
    with pytest.raises(ValueError, match="score is a sum of stumps or trees; got McRank"):
        ContributionsDisplay.from_estimator(ranker, X[0])
    X = np.nan_to_num(X)
    ranker = make(QBRank, estimator=DecisionTreeRegressor(max_depth=2)).fit(X, y, groups)
    with pytest.raises(TypeError, match="given as `estimator`"):
        ContributionsDisplay.from_estimator(ranker, X[0])
    assert plt.get_fignums() == []
