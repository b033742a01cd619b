# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker on as many rows as are shared out between threads, and in forked processes."""

import inspect
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import forked_fits
import numpy as np
import pytest
from every_ranker import (
    RANKERS,
    allows_nan,
    allows_sparse,
    assert_same,
    each_ranker,
    each_variant_if_slow,
    make,
    takes_sample_weight,
    with_codes,
)
from scipy import sparse

# Kernels of trees share out nodes of 20,000 rows and more.
MANY_ROWS = 24_000


def make_rows(R, n=MANY_ROWS):
    """Short queries of `n` rows in all, of features of many and of few values."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(n, 8)), rng.integers(0, 4, (n, 3))])
    y = np.clip(np.round(X[:, 0] + 0.4 * X[:, 8] + 0.6 * rng.normal(size=n)), 0, 4)
    if allows_nan(R):
        X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, np.arange(n) // 8


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_variant_if_slow
def test_two_threads_on_many_rows(R, params):
    X, y, groups = make_rows(R)
    X, params = with_codes(X, params)
    weights = {}
    if takes_sample_weight(R):
        weights["sample_weight"] = np.random.default_rng(1).random(len(y))
    params = {"n_estimators": 3, "max_iter": 3} | params
    one = make(R, **params).fit(X, y, groups, **weights)
    two = make(R, n_jobs=2, **params).fit(X, y, groups, **weights)
    assert_same(two, one, X)
    assert two.score(X, y, groups) == one.score(X, y, groups)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_ranker
def test_two_threads_on_a_sparse_matrix(R):
    if not allows_sparse(R):
        pytest.skip("takes no sparse matrix")
    X, y, groups = make_rows(R)
    X = sparse.csr_array(np.where(np.abs(X) < 1, 0, X))
    one, two = (make(R, n_estimators=3, max_iter=3, n_jobs=n).fit(X, y, groups) for n in (1, 2))
    assert_same(two, one, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_ranker
@pytest.mark.parametrize("n_pairs", [2_000, 40_000])
def test_two_threads_on_preferences(R, n_pairs):
    if "preferences" not in inspect.signature(R.fit).parameters:
        pytest.skip("takes no preferences")
    X, y, _ = make_rows(R, 4_000)
    groups = np.arange(len(X)) // 40
    rng = np.random.default_rng(1)
    winner = rng.integers(0, len(X), n_pairs)
    loser = winner // 40 * 40 + rng.integers(0, 40, n_pairs)
    pairs = np.column_stack([winner, loser])[y[winner] > y[loser]]
    one, two = (
        make(R, n_estimators=3, max_iter=3, n_jobs=n).fit(X, groups=groups, preferences=pairs)
        for n in (1, 2)
    )
    assert_same(two, one, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_all_rankers_in_threads_equal_fits_in_turn():
    def fit(R):
        return make(R, n_estimators=3, max_iter=3, n_jobs=2).fit(*make_rows(R, 2_000))

    expected = [fit(R) for R in RANKERS]
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(fit, RANKERS))
    for model, one in zip(models, expected, strict=True):
        assert_same(model, one, make_rows(type(model), 2_000)[0])


@pytest.fixture(scope="module")
def forked():
    """What `forked_fits.py` prints; in a process of its own, in which no thread runs yet."""
    if sys.platform != "linux":
        pytest.skip("only Linux has a fork that libraries are made for")
    command = [sys.executable, str(Path(forked_fits.__file__))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=1_200, check=False
    )
    return done.stdout.splitlines() or done.stderr


@each_ranker
@pytest.mark.parametrize("way", forked_fits.WAYS)
def test_a_forked_process_fits_and_predicts(R, way, forked):
    assert f"{R.__name__} {way}: the same" in forked


@pytest.mark.parametrize("case", forked_fits.EXPECTED_THREADS)
def test_threads_of_forked_processes(case, forked):
    assert f"{case}: {forked_fits.EXPECTED_THREADS[case]}" in forked
