# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker under interrupts, failures and threads, found by walking the package."""

import inspect
import os
import signal
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from every_ranker import RANKERS, allows_nan, assert_same, each_ranker, has, make, make_data
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold

import sklearn_ltr

PACKAGE = str(Path(sklearn_ltr.__file__).parent)

# A fit is interrupted at this many places, evenly spread over the lines that it runs.
N_PLACES = 6

each_warm_ranker = pytest.mark.parametrize(
    "R", [R for R in RANKERS if has(R, "warm_start")], ids=lambda R: R.__name__
)


class Interrupted(BaseException):
    """As KeyboardInterrupt: not an Exception."""


@contextmanager
def interrupt_at(place, function=None):
    """Raise `Interrupted` when the package is about to run its line number `place` in time.

    Only lines of functions of the name `function` count, if it is given.

    Yields a list whose length is the number of lines that have run.
    """
    lines = []

    def at_line(frame, event, arg):
        if event == "line":
            lines.append(None)
            if len(lines) == place:
                raise Interrupted
        return at_line

    def at_call(frame, event, arg):
        code = frame.f_code
        counts = code.co_filename.startswith(PACKAGE) and function in (None, code.co_name)
        # An attribute that scikit-learn sets is its own affair.
        counts = counts and code.co_name not in ("__setattr__", "python_scalar")
        return at_line if counts else None

    before = sys.gettrace()
    sys.settrace(at_call)
    try:
        yield lines
    finally:
        sys.settrace(before)


def places(fit):
    """Where to interrupt: numbers of lines of `fit`, the last of them its last."""
    with interrupt_at(None) as lines:
        fit()
    # The lines before the rounds are few.
    return np.unique(np.linspace(1, len(lines), N_PLACES).astype(int)).tolist()


def assert_not_fitted(model, X):
    with pytest.raises(NotFittedError):
        model.predict(X)


# --- fits that fail or are interrupted -----------------------------------------------------------


@each_ranker
def test_a_fit_that_fails_leaves_no_mixture(R):
    """A model of many features beside the number of few would read outside of X."""
    X, y, groups = make_data(R)
    model = make(R).fit(X, y, groups)
    with pytest.raises(ValueError, match="`groups`"):
        model.fit(X[:, :2], y, groups[:-1])
    assert_not_fitted(model, X[:, :2].copy())
    assert_not_fitted(model, X)
    assert not {name for name in vars(model) if name.endswith("_")} - {"n_features_in_"}
    assert_same(model.fit(X[:, :3], y, groups), make(R).fit(X[:, :3], y, groups), X[:, :3])


@each_ranker
def test_wrong_parameters_leave_the_model(R):
    wrong = {"n_estimators": 0, "max_iter": 0, "n_classes": 1, "scoring": "nonsense", "C": 0}
    name = next(name for name in wrong if has(R, name))
    X, y, groups = make_data(R)
    model = make(R).fit(X, y, groups)
    expected = model.predict(X)
    with pytest.raises(ValueError, match=f"{name}|nonsense"):
        model.set_params(**{name: wrong[name]}).fit(X, y, groups)
    assert_array_equal(model.predict(X), expected)


@each_ranker
def test_an_interrupted_fit_leaves_nothing_behind(R):
    X, y, groups = make_data(R, n_queries=12)
    params = {"n_estimators": 4, "early_stopping": True}
    if has(R, "solver"):
        params |= {"solver": "adam", "max_iter": 4}
    expected = make(R, **params).fit(X, y, groups)
    other, (X_other, y_other, groups_other) = make(R, **params), make_data(R, seed=1, n_queries=9)
    other.fit(X_other[:, :3], y_other, groups_other)
    first = make(R, **params)
    for place in places(lambda: first.fit(X, y, groups)):
        model = make(R, **params).fit(X_other[:, :3], y_other, groups_other)
        with pytest.raises(Interrupted), interrupt_at(place):
            model.fit(X, y, groups)
        if model.__sklearn_is_fitted__():  # it was at its very beginning, or at its end
            at_start = model.n_features_in_ == 3
            whole, rows = (other, X_other[:, :3]) if at_start else (expected, X)
            assert_array_equal(model.predict(rows), whole.predict(rows))
        else:
            assert_not_fitted(model, X)
        assert_same(model.fit(X, y, groups), expected, X)


@each_ranker
def test_an_interrupt_while_the_earlier_fit_is_forgotten(R):
    X, y, groups = make_data(R, n_queries=12)
    model = make(R).fit(X, y, groups)
    expected = model.predict(X)
    with interrupt_at(None, "_forget") as lines:
        model.fit(X, y, groups)
    for place in range(1, len(lines) + 1):
        model = make(R).fit(X, y, groups)
        with pytest.raises(Interrupted), interrupt_at(place, "_forget"):
            model.fit(X[:, :2], y, groups)
        if model.__sklearn_is_fitted__():
            assert model.n_features_in_ == X.shape[1]
            assert_array_equal(model.predict(X), expected)
        else:
            assert_not_fitted(model, X)


@each_warm_ranker
@pytest.mark.parametrize("validation", [False, True], ids=["", "validation"])
def test_an_interrupted_warm_start_goes_on_from_whole_rounds(R, validation):
    X, y, groups = make_data(R, n_queries=12)
    X_val, y_val, groups_val = make_data(R, seed=1, n_queries=9)
    given = {"X_val": X_val, "y_val": y_val, "groups_val": groups_val} if validation else {}
    expected = make(R, n_estimators=6).fit(X, y, groups, **given)
    stages = list(expected.staged_predict(X))

    def start():
        model = make(R, n_estimators=2, warm_start=True).fit(X, y, groups, **given)
        return model.set_params(n_estimators=6)

    fitting = start()
    at = places(lambda: fitting.fit(X, y, groups, **given))
    for place in at:
        model = start()
        with pytest.raises(Interrupted), interrupt_at(place):
            model.fit(X, y, groups, **given)
        n_rounds = model.n_iter_
        assert 2 <= n_rounds <= 6
        assert len(model.model_.rounds) == len(model.train_loss_) == n_rounds
        assert len(model.validation_score_) == (n_rounds if validation else 0)
        assert model.best_iteration_ == n_rounds
        assert_allclose(model.predict(X), stages[n_rounds - 1], rtol=1e-12)
        assert_same(model.fit(X, y, groups, **given), expected, X)


@each_warm_ranker
def test_a_first_fit_that_is_interrupted_is_started_anew(R):
    X, y, groups = make_data(R, n_queries=12)
    expected = make(R, n_estimators=3).fit(X[:, :3], y, groups)
    first = make(R, n_estimators=1)
    for place in places(lambda: first.fit(X, y, groups))[:-2]:
        model = make(R, n_estimators=3, warm_start=True)
        with pytest.raises(Interrupted), interrupt_at(place):
            model.fit(X, y, groups)
        assert_not_fitted(model.set_params(warm_start=False), X)
        model.set_params(warm_start=True)
        if getattr(model, "n_iter_", 0) == 0:  # other columns are welcome
            assert_same(model.fit(X[:, :3], y, groups), expected, X[:, :3])


LONG_FIT = """
import signal
import sys
import threading
from pathlib import Path
from sklearn_ltr import {name}
from sklearn_ltr.datasets import make_ranking

signal.signal(signal.SIGINT, signal.default_int_handler)
X, y, groups = make_ranking(200, random_state=0)
ranker = {name}({params}, n_jobs=2, warm_start=True, verbose=1)
files = set(Path({folder!r}).iterdir())
try:
    ranker.fit(X, y, groups=groups)
except KeyboardInterrupt:
    pass
else:
    sys.exit("not interrupted")
assert 0 < ranker.n_iter_ == len(ranker.model_.rounds) == len(ranker.train_loss_)
assert len(ranker.predict(X)) == len(y)
assert threading.active_count() == 1
assert set(Path({folder!r}).iterdir()) == files
ranker.set_params(n_estimators=ranker.n_iter_ + 1).fit(X, y, groups=groups)
assert ranker.n_iter_ == ranker.n_estimators
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a single process")
@pytest.mark.parametrize("name", ["MPBoost", "LambdaMART"])
def test_sigint(name, tmp_path):
    code = LONG_FIT.format(name=name, params="n_estimators=1_000_000", folder=str(tmp_path))
    command = [sys.executable, "-u", "-W", "error", "-c", code]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout.readline().startswith("[1/1000000]")  # in the midst of rounds
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, errors


# --- threads -------------------------------------------------------------------------------------


def in_threads(*calls):
    """What each call returns, all begun at the same moment."""
    ready = threading.Barrier(len(calls))

    def run(call):
        ready.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@each_ranker
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_fits_in_two_threads_equal_fits_in_turn(R, n_jobs):
    X, y, groups = make_data(R, n_queries=15)
    for array in (X, y, groups):
        array.setflags(write=False)
    several = [
        {},
        {"early_stopping": True},
        {"random_state": 3, "subsample": 0.5, "batch_size": 10},
    ]
    if has(R, "solver"):
        several = [params | {"solver": "adam", "max_iter": 10} for params in several]
    several = [{"n_estimators": 6, "n_jobs": n_jobs} | params for params in several]
    expected = [make(R, **params).fit(X, y, groups) for params in several]
    filters = list(warnings.filters)
    models = in_threads(*(lambda p=p: make(R, **p).fit(X, y, groups) for p in several))
    assert warnings.filters == filters
    for model, one in zip(models, expected, strict=True):
        assert_same(model, one, X)


@each_ranker
def test_many_threads_may_predict_with_one_model(R):
    X, y, groups = make_data(R)
    model = make(R, n_jobs=2).fit(X, y, groups)
    expected, score = model.predict(X), model.score(X, y, groups)
    before = set(vars(model))
    for scores in in_threads(*[lambda: model.predict(X)] * 6):
        assert_array_equal(scores, expected)
    assert in_threads(*[lambda: model.score(X, y, groups)] * 3) == [score] * 3
    if hasattr(model, "staged_predict"):
        stages = list(model.staged_predict(X))
        for found in in_threads(*[lambda: list(model.staged_predict(X))] * 3):
            assert_array_equal(found, stages)
    assert set(vars(model)) == before


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_searches_of_every_backend_find_the_same(backend):
    X, y, groups = make_data()
    for R in RANKERS[::4] if backend == "loky" else RANKERS:
        if not allows_nan(R):
            X = np.nan_to_num(X)
        grid = {
            name: values
            for name, values in {
                "learning_rate": [0.1, 0.5],
                "alpha": [0.01, 1.0],
                "C": [0.1, 1.0],
                "n_classes": [2, 8],
                "n_jobs": [None, 2],
            }.items()
            if has(R, name)
        }
        search = GridSearchCV(make(R, n_estimators=3, max_iter=5), grid, cv=GroupKFold(2))
        with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
            warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
            alone = sklearn.clone(search).fit(X, y, groups=groups)
            with joblib.parallel_config(backend, n_jobs=2):
                together = sklearn.clone(search).fit(X, y, groups=groups)
        for name in ("mean_test_score", "std_test_score", "params"):
            assert_array_equal(together.cv_results_[name], alone.cv_results_[name])
        scores = together.best_estimator_.predict(X)
        assert_array_equal(scores, alone.best_estimator_.predict(X))
        assert "groups" in inspect.signature(R.fit).parameters
