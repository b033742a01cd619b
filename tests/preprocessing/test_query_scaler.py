# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scaling within queries, against loops over queries and columns."""

import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_ltr.datasets import load_letor_folds
from sklearn_ltr.preprocessing import QueryScaler, scaling

DATA = os.environ.get("SKLEARN_LTR_DATA")
needs_data = pytest.mark.skipif(DATA is None, reason="SKLEARN_LTR_DATA is not set")

METHODS = ("minmax", "standard")
each_method = pytest.mark.parametrize("method", METHODS)

# Twenty rows at once are one query, and twenty times one row are twenty queries.
BATCHES = {"check_methods_subset_invariance": "what a row becomes depends on its query"}
checks = parametrize_with_checks(
    [QueryScaler(method=method) for method in METHODS], expected_failed_checks=lambda _: BATCHES
)
# scikit-learn 1.8 gives pytest a generator, which it will no longer take.
each_check = pytest.mark.parametrize(checks.args[0], list(checks.args[1]), **checks.kwargs)


@pytest.mark.filterwarnings("ignore:`groups` is None:UserWarning")
@each_check
def test_estimator_checks(estimator, check):
    check(estimator)


def by_hand(method, X, groups):
    """One query and one column at a time."""
    X_new = np.full(X.shape, np.nan)
    for query in set(groups.tolist()):
        rows = np.flatnonzero(groups == query)
        for j in range(X.shape[1]):
            found = rows[~np.isnan(X[rows, j])]
            x = X[found, j].astype(np.longdouble)
            if len(found) == 0 or x.min() == x.max():
                X_new[found, j] = 0
            elif method == "minmax":
                X_new[found, j] = (x - x.min()) / (x.max() - x.min())
            else:
                unit = (x - x.min()) / (x.max() - x.min())  # squares must not underflow
                X_new[found, j] = (unit - unit.mean()) / unit.std()
    return X_new


@st.composite
def problems(draw, dtype):
    n, d = draw(st.integers(1, 20)), draw(st.integers(1, 3))
    width = 32 if dtype == np.float32 else 64
    values = st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan]),
        st.floats(allow_nan=False, allow_infinity=False, width=width),
    )
    X = draw(hnp.arrays(dtype, (n, d), elements=values))
    return X, np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))


@pytest.mark.slow
@each_method
@pytest.mark.parametrize("rows_at_a_time", [1, 5, 1024])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_equals_a_loop(method, rows_at_a_time, dtype, tolerance, monkeypatch):
    monkeypatch.setattr(scaling, "ROWS_AT_A_TIME", rows_at_a_time)

    @given(problems(dtype))
    def check(problem):
        X, groups = problem
        given = X.copy()
        X_new = QueryScaler(method=method).fit_transform(X, groups=groups)
        assert_array_equal(X, given)
        assert X_new.dtype == dtype
        assert_allclose(X_new, by_hand(method, X, groups), rtol=tolerance, atol=tolerance)
        if method == "minmax":
            found = X_new[~np.isnan(X_new)]
            assert ((found >= 0) & (found <= 1)).all()
            assert set(np.nanmax(X_new, axis=0, initial=0)) <= {0, 1}

    check()


@each_method
def test_equals_scikit_learn_in_each_query(method):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 30, 500)
    X = 10 ** rng.normal(size=(500, 4)) + 100 * groups[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    scaler = MinMaxScaler() if method == "minmax" else StandardScaler()
    expected = np.empty_like(X)
    for query in np.unique(groups):
        expected[groups == query] = scaler.fit_transform(X[groups == query])
    X_new = QueryScaler(method=method).fit_transform(X, groups=groups)
    assert_allclose(X_new, expected, rtol=1e-9, atol=1e-12)


@each_method
def test_constant_columns_and_single_rows_become_zero(method):
    X = np.array([[0.1, 1e300, np.nan], [0.1, 1e300, 7.0], [0.3, -5.0, 2.0]])
    X_new = QueryScaler(method=method).fit_transform(X, groups=["a", "a", "b"])
    assert_array_equal(X_new, [[0, 0, np.nan], [0, 0, 0], [0, 0, 0]])


@each_method
def test_order_and_type_of_ids_do_not_matter(method):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 3)), rng.integers(0, 7, 60)
    scaler = QueryScaler(method=method).fit(X)
    expected = scaler.transform(X, codes)
    names = np.array([f"q{7 - k}" for k in range(7)])[codes]
    for groups in (names, names.tolist(), pd.Categorical(names), codes + 2**60, codes / 3):
        assert_allclose(scaler.transform(X, groups), expected, rtol=1e-14)
    order = rng.permutation(60)
    assert_allclose(scaler.transform(X[order], names[order]), expected[order], atol=1e-13)
    assert_array_equal(scaler.transform(np.asfortranarray(X), codes), expected)


def test_without_groups_it_warns():
    X = np.arange(8.0).reshape(4, 2)
    message = r"`groups` is None: all 4 rows .* reach transform .*enable_metadata_routing=True"
    for call in (QueryScaler().fit_transform, QueryScaler().transform):
        with pytest.warns(UserWarning, match=message) as record:
            X_new = call(X)
        assert [warning.filename for warning in record] == [__file__]
        assert_array_equal(X_new, QueryScaler().transform(X, np.zeros(4)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QueryScaler().fit(X)


def test_errors():
    X, groups = np.ones((4, 2)), [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"`method` must be one of .*'minmax'.* got 'range'"):
        QueryScaler(method="range").fit(X)
    with pytest.raises(ValueError, match="`groups` has 3 entries but there are 4 rows"):
        QueryScaler().fit_transform(X, groups=groups[:3])
    with pytest.raises(ValueError, match="look like query sizes"):
        QueryScaler().fit_transform(X, groups=[2, 2])
    with pytest.raises(ValueError, match="infinity"):
        QueryScaler().fit_transform(np.where(X > 0, np.inf, X), groups=groups)
    with pytest.raises(ValueError, match="3 features, but QueryScaler is expecting 2"):
        QueryScaler().fit(X).transform(np.ones((4, 3)), groups)
    with pytest.raises(TypeError, match=r"dense data is required.*toarray\(\)"):
        QueryScaler().fit_transform(sparse.csr_array(X), groups=groups)


def test_frames_names_and_copies():
    frame = pd.DataFrame({"bm25": [1.0, 3.0, 2.0], "length": [7, 7, 9]}, index=[5, 3, 4])
    groups = pd.Series(["a", "a", "b"], index=[5, 3, 4])
    scaler = QueryScaler().set_output(transform="pandas")
    scaled = scaler.fit_transform(frame, groups=groups)
    assert scaled.to_dict("list") == {"bm25": [0, 1, 0], "length": [0, 0, 0]}
    assert scaled.index.tolist() == [5, 3, 4]
    assert scaler.get_feature_names_out().tolist() == ["bm25", "length"]
    copied = pickle.loads(pickle.dumps(scaler))
    pd.testing.assert_frame_equal(copied.transform(frame, groups), scaled)
    pd.testing.assert_frame_equal(clone(scaler).fit_transform(frame, groups=groups), scaled)
    with pytest.raises(ValueError, match="feature names"):
        scaler.transform(frame[["length", "bm25"]], groups)
    assert "QueryScaler" in scaler._repr_html_()


@needs_data
def test_equals_the_query_level_norm_of_letor():
    """The sets come in both forms, and the scaled one has six decimals."""
    raw = load_letor_folds(Path(DATA) / "ohsumed-letor3-min")
    scaled = load_letor_folds(Path(DATA) / "ohsumed-letor3-qln")
    for fold, expected in zip(raw, scaled, strict=True):
        X_new = QueryScaler().fit_transform(fold.test.X, groups=fold.test.groups)
        assert_array_equal(fold.test.groups, expected.test.groups)
        assert_allclose(X_new, expected.test.X, rtol=0, atol=5.01e-7)
