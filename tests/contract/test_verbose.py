# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What every ranker with `verbose` prints."""

import re
import warnings

import numpy as np
import pytest
from every_ranker import RANKERS, assert_same, has, make, make_data
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr import AdaRank, LambdaMART, ListNet, MPBoost, RankNet, RankSVM
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.scorers import make_ranking_scorer

VERBOSE = [R for R in RANKERS if has(R, "verbose")]
JUDGED = [R for R in VERBOSE if has(R, "early_stopping")]
each_verbose = pytest.mark.parametrize("R", VERBOSE, ids=lambda R: R.__name__)
each_judged = pytest.mark.parametrize("R", JUDGED, ids=lambda R: R.__name__)


def fit(R, *data, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make(R, **{"n_estimators": 7, "max_iter": 7} | params).fit(*data)


def printed(capsys):
    """Numbers of the rounds that have a line, the lines, and the last line."""
    *lines, last = capsys.readouterr().out.splitlines()
    numbers = [int(re.match(r"\[(\d+)/\d+\] ", line)[1]) for line in lines]
    return numbers, lines, last


def limit(R):
    return "n_estimators" if has(R, "n_estimators") else "max_iter"


@each_verbose
@pytest.mark.parametrize("verbose", [0, False, 1, True, 3, 1000])
def test_a_line_every_so_many_rounds(R, verbose, capsys):
    data = make_data(R)
    silent = fit(R, *data)
    assert capsys.readouterr().out == ""
    model = fit(R, *data, verbose=verbose)
    assert_same(model, silent, data[0])
    if not verbose:
        assert capsys.readouterr().out == ""
        return
    numbers, lines, last = printed(capsys)
    assert numbers == list(range(verbose, model.n_iter_ + 1, int(verbose)))
    for line in lines:
        assert line.startswith(f"[{numbers[lines.index(line)]}/7] ")
    assert re.match(rf"Ended after {model.n_iter_} (round|iteration|step)s?: \w.*\.$", last)
    if model.n_iter_ == 7:
        assert f"{limit(R)}=7 reached" in last
    if hasattr(model, "train_loss_") and verbose == 1:
        for number, line in zip(numbers, lines, strict=True):
            assert line == f"[{number}/7] loss {model.train_loss_[number - 1]:.6g}"


@each_verbose
def test_wrong_verbosity_is_refused(R):
    data = make_data(R)
    with pytest.raises(ValueError, match="verbose == -1"):
        make(R, verbose=-1).fit(*data)
    for wrong in ("yes", 1.5, None):
        with pytest.raises(TypeError, match="verbose must be an instance of"):
            make(R, verbose=wrong).fit(*data)


class StopAfter:
    """A callback that asks to stop after some rounds."""

    def __init__(self, n_rounds):
        self.n_rounds = n_rounds

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        return estimator.n_iter_ == self.n_rounds


SCORINGS = ["ndcg@10", "map", get_metric("p@2"), make_ranking_scorer("ndcg@3", gain="linear")]


@each_judged
@pytest.mark.parametrize("scoring", SCORINGS, ids=["name", "map", "metric", "scorer"])
def test_lines_name_the_metric(R, scoring, capsys):
    X, y, groups = make_data(R)
    judging = {"X_val": X, "y_val": y, "groups_val": groups}
    model = make(R, n_estimators=7, max_iter=7, verbose=1, scoring=scoring, solver="adam")
    model.fit(X, y, groups, **judging)
    name = get_metric(getattr(scoring, "metric", scoring)).name
    _, lines, last = printed(capsys)
    for score, line in zip(model.validation_score_, lines, strict=True):
        assert line.endswith(f", {name} {score:.6g}")
    best = model.validation_score_.argmax() + 1
    step = "round" if has(R, "n_estimators") else "iteration"
    assert f"; best {name} {model.validation_score_.max():.6g}, in {step} {best}; " in last
    assert last.endswith("`predict` uses the model of the last.")


@each_judged
def test_the_end_by_early_stopping(R, capsys):
    X, y, groups = make_data(R)
    params = {"n_estimators": 200, "max_iter": 200, "solver": "adam", "learning_rate_init": 0.1}
    params |= {"early_stopping": True, "n_iter_no_change": 2, "tol": 0.05, "verbose": 1000}
    # Judged by the opposite, which becomes no better.
    model = make(R, **params)
    model.fit(X, y, groups, X_val=X, y_val=y.max() - y, groups_val=groups)
    _, lines, last = printed(capsys)
    assert lines == []
    assert model.n_iter_ == len(model.validation_score_)
    if model.n_iter_ > 2:
        assert "no better ndcg@10 in n_iter_no_change=2 " in last
    else:
        assert R is AdaRank
    used = model.best_iteration_
    step = "round" if has(R, "n_estimators") else "iteration"
    wanted = "the last" if used == model.n_iter_ else f"{step} {used}"
    assert last.endswith(f"in {step} {used}; `predict` uses the model of {wanted}.")


def test_the_end_where_nothing_is_left(capsys):
    X, y, groups = np.zeros((6, 1)), [0, 1, 0, 1, 0, 1], [0, 0, 0, 1, 1, 1]
    for R in (MPBoost, LambdaMART):
        make(R, verbose=1).fit(X, y, groups)
        _, lines, last = printed(capsys)
        assert lines == []
        assert last.startswith("Ended after 0 rounds: no further weak ranker changes the model")


def test_the_end_where_a_warm_start_has_nothing_to_do(capsys):
    X, y, groups = make_data(MPBoost)
    model = make(MPBoost, n_estimators=2, warm_start=True).fit(X, y, groups)
    model.set_params(verbose=1).fit(X, y, groups)
    assert capsys.readouterr().out.startswith("Ended after 2 rounds: n_estimators=2 reached")


def test_the_end_by_a_callback(capsys):
    pytest.importorskip("sklearn.callback")
    X, y, groups = make_data(MPBoost)
    make(MPBoost, verbose=1).set_callbacks(StopAfter(3)).fit(X, y, groups)
    _, lines, last = printed(capsys)
    assert len(lines) == 3
    assert last.startswith("Ended after 3 rounds: a callback asked to stop")


def test_the_end_of_solvers(capsys):
    X, y, groups = make_data(ListNet)
    ListNet(verbose=1, alpha=1.0).fit(X, y, groups)
    assert "iterations: L-BFGS has converged;" in printed(capsys)[2]
    fit(RankNet, X, y, groups, solver="adam", verbose=1)
    assert "iterations: max_iter=7 reached;" in printed(capsys)[2]
    for params, why in (
        ({}, "F(w) is within tol=1e-06 of its minimum"),
        ({"loss": "hinge", "max_iter": 2}, "max_iter=2 reached"),
        ({"loss": "hinge", "tol": 1e-18}, "the precision of numbers is reached"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = RankSVM(verbose=1, **params).fit(X, y, groups)
        numbers, lines, last = printed(capsys)
        assert numbers == list(range(1, model.n_iter_ + 1))
        assert "F(w) = " in lines[-1]
        assert last == f"Ended after {model.n_iter_} steps: {why}."


def test_the_best_round_is_counted_from_the_first():
    """Also where only the rounds of a warm start have been judged."""
    X, y, groups = make_data(MPBoost)
    model = make(MPBoost, n_estimators=5, warm_start=True).fit(X, y, groups)
    judging = {"early_stopping": True, "n_iter_no_change": 50, "validation_fraction": 0.3}
    model.set_params(n_estimators=12, **judging).fit(X, y, groups)
    assert len(model.validation_score_) == 7
    assert model.best_iteration_ == 5 + model.validation_score_.argmax() + 1
    model.set_params(n_estimators=14).fit(X, y, groups)
    assert model.best_iteration_ == 5 + model.validation_score_.argmax() + 1
