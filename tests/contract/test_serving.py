# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What `predict` leaves out where X is as it should be already, and that nothing else is left out.

Scikit-learn's checks take several times as long as scoring a row.
"""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from every_ranker import each_ranker, functions_of_rows, make, make_data, values
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklearn_ltr import MPBoost, base, threads


class Subclass(np.ndarray):
    pass


def inputs(X):
    """Good and bad arguments of `predict`, by name; X has five columns."""
    yield "plain", X
    yield "single precision", X.astype(np.float32)
    yield "one row", X[:1]
    yield "no rows", X[:0]
    yield "columns first", np.asfortranarray(X)
    yield "strided", X[::2, ::-1]
    yield "read only", np.broadcast_to(X[0], X.shape)
    yield "big-endian", X.astype(X.dtype.newbyteorder(">"))
    yield "half precision", X.astype(np.float16)
    yield "extended precision", X.astype(np.longdouble)
    yield "integers", np.arange(10).reshape(2, 5)
    yield "booleans", np.ones((2, 5), dtype=bool)
    yield "objects", X.astype(object)
    yield "strings", X.astype(str)
    yield "words", np.full((2, 5), "word")
    yield "complex", X.astype(complex)
    yield "list", X.tolist()
    yield "subclass", X.view(Subclass)
    yield "masked", np.ma.masked_array(X, X > 1)
    yield "too few columns", X[:, :4]
    yield "too many columns", np.column_stack([X, X])
    yield "no columns", X[:, :0]
    yield "one dimension", X[0]
    yield "three dimensions", X[None]
    yield "a number", np.float64(1)
    yield "frame", pd.DataFrame(X)
    yield "frame with names", pd.DataFrame(X, columns=list("abcde"))
    yield "frame with other names", pd.DataFrame(X, columns=list("edcba"))
    yield "sparse", sparse.csr_array(X)
    for dtype in (np.float64, np.float32):
        for value in (np.nan, np.inf, -np.inf, np.finfo(dtype).max):
            rows = X.astype(dtype)
            rows[1, 2] = rows[2, 2] = value
            yield f"{value} {dtype.__name__}", rows
    rows = X.copy()
    rows[0, 0], rows[0, 1], rows[1, 0] = np.inf, -np.inf, np.nan
    yield "all of them", rows
    yield "huge sum", np.full((2, 5), 1e308)


def outcome(function, X):
    """What a call returns, or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(X)
            result = [result, type(result), getattr(result, "dtype", None)]
        except (TypeError, ValueError) as error:
            result = [str(error), type(error)]
    return result, [str(w.message) for w in caught]


@each_ranker
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_checks_are_those_of_scikit_learn(R, named, monkeypatch):
    X, y, groups = make_data()
    given = pd.DataFrame(X, columns=list("abcde")) if named else X
    model = make(R).fit(given, y, groups)

    def validate(Z):
        return model._validate_X(Z, reset=False)

    cases = [(name, f, Z) for name, Z in inputs(X[:6]) for f in (validate, model.predict)]
    found = [outcome(function, Z) for _, function, Z in cases]
    monkeypatch.setattr(R, "_is_valid", lambda self, X: False)
    for (name, function, Z), (result, warned) in zip(cases, found, strict=True):
        expected, expected_warnings = outcome(function, Z)
        assert warned == expected_warnings, name
        assert result[1:] == expected[1:], name
        if isinstance(expected[0], np.ndarray):
            assert_array_equal(result[0], expected[0], err_msg=name)
        else:
            assert str(result[0]) == str(expected[0]), name


@each_ranker
def test_plain_rows_are_not_checked_twice(R, monkeypatch):
    """An array of the right dtype and shape takes the short way."""
    X, y, groups = make_data()
    model = make(R, n_jobs=1).fit(X, y, groups)
    expected = model.predict(X)

    def never(*args, **kwargs):
        raise AssertionError("the long way")

    for module, name in ((base, "validate_data"), (base, "explained"), (threads, "cpu_count")):
        monkeypatch.setattr(module, name, never)
    assert_array_equal(model.predict(X), expected)
    assert model.predict(X[:1].astype(np.float32)).shape == (1,)
    model.set_params(n_jobs=None)
    assert_array_equal(model.predict(X), expected)
    with pytest.raises(AssertionError, match="the long way"):
        model.predict(X.tolist())


@each_ranker
def test_every_function_of_rows_says_that_there_is_no_model(R):
    X = make_data()[0]
    for name in functions_of_rows(R):
        with pytest.raises(NotFittedError, match=f"This {R.__name__} is not fitted yet"):
            values(make(R), name, X)


def test_number_of_threads(monkeypatch):
    for n_processors, most in ((1, 4), (4, 4), (6, 6)):
        monkeypatch.setattr(threads, "cpu_count", lambda n=n_processors: n)
        given = (None, 1, 2, 4, 5, 1000)
        found = [MPBoost(n_jobs=n)._n_threads() for n in given]
        assert found == [1, 1, 2, 4, min(5, most), most]
        with joblib.parallel_config("threading", n_jobs=3):
            assert MPBoost()._n_threads() == 3
            assert MPBoost(n_jobs=1)._n_threads() == 1
