# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Equal rows have equal scores, to the last bit: so ties are ties.

Whatever rows are around them, in any layout and format of X, with any number of threads.
"""

import inspect

import numpy as np
import pytest
from every_ranker import (
    allows_nan,
    allows_sparse,
    each_ranker,
    each_variant,
    each_variant_if_slow,
    functions_of_rows,
    make,
    multiplies_matrices,
    values,
    with_codes,
)
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_ltr import McRank, MPBoost
from sklearn_ltr.metrics import get_metric, ndcg_score
from sklearn_ltr.preprocessing import BM25Features, QueryScaler

N_FEATURES = 21  # more than any vector of a processor holds, and not a multiple of its length
SIZES = range(1, 71)


def make_rows(R, n=150, seed=0):
    """Graded rows, some of them equal, with zeros, and NaN where `R` takes it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES)) * 10.0 ** rng.integers(-2, 3, N_FEATURES)
    X[rng.random(X.shape) < 0.4] = 0
    if allows_nan(R):
        X[rng.random(X.shape) < 0.05] = np.nan
    X[n // 2 : n // 2 + 9] = X[n // 2]
    X = X.astype(np.float32).astype(np.float64)  # the same values in both precisions
    y = rng.integers(0, 12, n).astype(float)  # McRank has a class for each
    return X, y, np.arange(n) // 10


def layouts(X):
    """The same rows, as they may lie in memory, and in both precisions."""
    for dtype in (np.float64, np.float32):
        rows = X.astype(dtype)
        yield rows
        yield np.asfortranarray(rows)
        yield np.repeat(rows, 3, axis=0)[::3]
        yield np.repeat(rows, 2, axis=1)[:, ::2]
        yield rows[::-1].copy()[::-1]
        yield rows[:, ::-1].copy()[:, ::-1]
        yield np.concatenate([np.zeros(1, dtype), rows.ravel()])[1:].reshape(rows.shape)
        frozen = rows.copy()
        frozen.flags.writeable = False
        yield frozen


def test_functions_of_rows_are_found():
    assert set(functions_of_rows(McRank)) == {"predict", "staged_predict", "predict_grade_proba"}
    assert set(functions_of_rows(MPBoost)) == {"predict", "staged_predict", "contributions"}


@each_variant
def test_a_row_has_the_same_score_in_any_batch(R, params):
    X, y, groups = make_rows(R)
    X, params = with_codes(X, params)
    model = make(R, **params).fit(X, y, groups)
    for name in functions_of_rows(R):
        expected = values(model, name, X)
        same = slice(len(X) // 2, len(X) // 2 + 9)
        assert_array_equal(expected[same], np.repeat(expected[same][:1], 9, axis=0))
        sizes = SIZES if name == "predict" else (1, 2, 3, 7, 8, 17)
        for n in sizes:
            rows = (np.arange(n) + 7 * n) % len(X)  # a row is at another position in each
            assert_array_equal(values(model, name, X[rows]), expected[rows], err_msg=f"{name} {n}")
        alone = np.concatenate([values(model, name, X[i : i + 1]) for i in range(60, 90)])
        assert_array_equal(alone, expected[60:90], err_msg=name)


@each_ranker
def test_a_row_has_the_same_score_at_every_position(R):
    X, y, groups = make_rows(R)
    model = make(R).fit(X, y, groups)
    row, expected = X[3], model.predict(X)
    for n in SIZES:
        assert_array_equal(model.predict(np.tile(row, (n, 1))), np.full(n, expected[3]))
        others = X[-n:].copy()
        others[::2] = row  # then every other position has it
        assert_array_equal(model.predict(others)[::2], np.full(-(-n // 2), expected[3]))


@each_variant_if_slow
def test_layout_format_and_threads(R, params):
    X, y, groups = make_rows(R)
    X, params = with_codes(X, params)
    model = make(R, **params).fit(X, y, groups)
    for name in functions_of_rows(R):
        expected = values(model, name, X)
        for n_jobs in (1, 2):
            model.set_params(n_jobs=n_jobs)
            for rows in layouts(X):
                assert_array_equal(values(model, name, rows), expected, err_msg=name)
            if not allows_sparse(R):
                continue
            stored = sparse.coo_array(X.astype(np.float32))
            for rows in (sparse.csr_matrix(X), sparse.csc_array(X), stored):
                assert_array_equal(values(model, name, rows), expected, err_msg=name)
            some = sparse.csr_array(X)[5:8]
            assert_array_equal(values(model, name, some), expected[5:8], err_msg=name)


@pytest.mark.parametrize("n_features", [1, 8, 20])
@each_variant_if_slow
def test_equal_rows_tie(R, params, n_features):
    """NDCG of one relevant row of three that tie is the mean over its positions."""
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(60, n_features))
    y = np.clip(np.round(2 + X[:, 0] + 0.5 * rng.normal(size=60)), 0, 4)
    X, params = with_codes(X, params)
    model = make(R, **params).fit(X, y, np.arange(60) // 6)
    tied = (1 / np.log2([2, 3, 4])).mean()
    for row in X[:20]:
        scores = model.predict(np.tile(row, (3, 1)))
        assert len(set(scores)) == 1
        assert ndcg_score([1, 0, 0], scores, groups=[1, 1, 1]) == pytest.approx(tied, abs=1e-12)
    assert tied == pytest.approx(0.7103, abs=5e-5)


@each_ranker
def test_equal_rows_of_a_query_tie(R):
    """Where `predict` looks at queries: in each by itself, wherever it is in X."""
    if "groups" not in inspect.signature(R.predict).parameters:
        pytest.skip("predict looks at single rows")
    X, y, groups = make_rows(R)
    model = make(R).fit(X, y, groups)
    doubled, twice = np.repeat(X, 2, axis=0), np.repeat(groups, 2)
    expected = model.predict(doubled, groups=twice)
    assert_array_equal(expected[::2], expected[1::2])
    for rows in layouts(doubled):
        assert_array_equal(model.predict(rows, groups=twice), expected)
    for group in np.unique(groups):
        own = twice == group
        assert_array_equal(model.predict(doubled[own], groups=twice[own]), expected[own])


@pytest.mark.parametrize("method", ["minmax", "standard"])
@pytest.mark.parametrize("n_features", [1, 2, 9])
def test_scaled_queries(method, n_features):
    """A query is scaled alike in any company, and equal rows of it stay equal."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 2 * rng.integers(1, 40, 12))
    X = np.repeat(rng.normal(size=(len(groups) // 2, n_features)), 2, axis=0)
    scaler = QueryScaler(method).fit(X)
    expected = scaler.transform(X, groups)
    assert_array_equal(expected[::2], expected[1::2])
    for group in range(12):
        own = groups == group
        assert_array_equal(scaler.transform(X[own], groups[own]), expected[own])
    for rows in (np.asfortranarray(X), np.repeat(X, 3, axis=0)[::3], X[::-1].copy()[::-1]):
        assert_array_equal(scaler.transform(rows, groups), expected)


def test_features_of_texts():
    words = ["a", "few", "words", "of", "queries", "and", "documents", "or", "of", "none"]
    rng = np.random.default_rng(0)
    texts = [[" ".join(rng.choice(words, rng.integers(1, 9))) for _ in "qd"] for _ in range(70)]
    X = np.array(texts, dtype=object)
    features = BM25Features().fit(X)
    expected = features.transform(X)
    for n in SIZES:
        rows = (np.arange(n) + 7 * n) % len(X)
        assert_array_equal(features.transform(X[rows]), expected[rows])


@each_variant_if_slow
def test_validation_scores_are_those_of_predict(R, params):
    """Of rankers that multiply matrices in training: ties count alike in both."""
    if not multiplies_matrices(R) or "X_val" not in inspect.signature(R.fit).parameters:
        pytest.skip("no validation set, or no matrices")
    X, y, groups = make_rows(R)
    y_val = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    X_val = X[np.arange(len(X)) // 3]  # each row three times
    model = make(R, **params).fit(X, y, groups, X_val=X_val, y_val=y_val, groups_val=groups)
    expected = get_metric(model.scoring)(y_val, model.predict(X_val), groups=groups)
    assert model.validation_score_[model.best_iteration_ - 1] == pytest.approx(expected, abs=1e-14)
