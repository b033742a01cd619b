# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What rankers that learn from each row by itself make of features that say nothing."""

import inspect

import numpy as np
import pytest
from every_ranker import RANKERS, has, learns_from_single_rows, make
from numpy.testing import assert_allclose, assert_array_equal
from oracles import mcrank as oracle

from sklearn_ltr import McRank
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.losses import SquaredError
from sklearn_ltr.rankers.mcrank import METHODS

y = np.repeat([0.0, 1.0, 2.0], [10, 40, 25])[np.random.default_rng(0).permutation(75)]
groups = np.repeat(np.arange(15), 5)
X = np.ones((75, 2))
weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 15)[groups]

pytestmark = pytest.mark.filterwarnings("ignore", category=ConstantModelWarning)


def takes_a_loss(R):
    return has(R, "loss") and inspect.signature(R).parameters["loss"].default is None


def predicts_grades(R):
    """All but blends, which take weights for their members and standardise what these predict."""
    return takes_a_loss(R) or (learns_from_single_rows(R) and not has(R, "estimators"))


@pytest.mark.parametrize("query_weight", [None, weight])
@pytest.mark.parametrize("R", [R for R in RANKERS if predicts_grades(R)])
def test_the_mean_grade_is_learnt(R, query_weight):
    params = {"n_estimators": 400, "learning_rate": 0.1, "gain": "linear"}
    if takes_a_loss(R):
        params["loss"] = SquaredError()
    model = make(R, **params).fit(X, y, groups=groups, query_weight=query_weight)
    mean = np.average(y, weights=query_weight)
    assert_allclose(model.predict(X), np.full(75, mean), rtol=1e-4)  # linear ones are penalised


def shares():
    return np.bincount(y.astype(int)) / 75


@pytest.mark.parametrize("method", METHODS)
def test_each_round_is_the_oracle_s(method):
    model = McRank(20, 0.3, method=method).fit(X, y, groups=groups)
    algorithm = oracle.classification if method == "classification" else oracle.ordinal
    loop = algorithm(y.astype(int), 3, 20, 0.3, lambda *_: [np.arange(75)])
    for terms, expected in zip(model.model_.rounds, loop, strict=True):
        assert_allclose(
            [tree.value for _, tree in terms], np.array(expected.values), rtol=1e-9, atol=1e-12
        )


def test_the_end_of_a_fit_that_cannot_split():
    """Newton's steps at full length have nothing left to do after some rounds."""
    model = McRank(300, 1.0, method="ordinal").fit(X, y, groups=groups)
    assert 3 < model.n_iter_ < 20
    assert (np.diff(model.train_loss_) < 1e-12).all()
    odds = np.log([65 / 10, 25 / 50])
    loss = -(shares() @ [np.log(10 / 75), np.log(65 / 75), np.log(65 / 75)]) - (
        shares() @ [np.log(50 / 75), np.log(50 / 75), np.log(25 / 75)]
    )
    assert model.train_loss_[-1] == pytest.approx(loss)
    total = sum(np.array([tree.value[0] for _, tree in terms]) for terms in model.model_.rounds)
    assert_allclose(total, odds, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_warm_start_and_early_stopping_where_nothing_splits(method):
    at_once = McRank(40, 0.1, method=method).fit(X, y, groups=groups)
    grown = McRank(15, 0.1, method=method, warm_start=True).fit(X, y, groups=groups)
    grown = grown.set_params(n_estimators=40).fit(X, y, groups=groups)
    assert_array_equal(grown.predict_grade_proba(X), at_once.predict_grade_proba(X))
    # An order of equals gets no better: the first round is the best.
    stopped = McRank(40, 0.1, method=method, early_stopping=True, n_iter_no_change=4)
    stopped.fit(X, y, groups=groups, X_val=X, y_val=y, groups_val=groups)
    assert (stopped.n_iter_, stopped.best_iteration_) == (5, 1)
