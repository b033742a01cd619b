# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Columns of matrices and frames: by number or name, of other rows, and why one is refused."""

from contextlib import contextmanager
from datetime import date, time, timedelta
from numbers import Complex, Integral, Real

import numpy as np
from sklearn.utils.validation import _num_samples

from sklearn_ltr.queries import is_missing
from sklearn_ltr.validation import check_column, check_no_mask, is_nested

# What the names of dtypes of dates and times begin with, in NumPy, pandas, polars and pyarrow.
TIMES = ("date", "time", "duration")
# And of categories.
CATEGORIES = ("category", "categorical", "enum", "dictionary")
OF_TIMES = "Make a number of it, such as the days since a date."

ENCODE = (
    "Encode it before, in a pipeline by a ColumnTransformer: by OrdinalEncoder for stumps, by "
    "OneHotEncoder for linear functions and nets; texts by BM25Features. Rankers with trees take "
    "it as it is, by `categorical_features`."
)


def column_number(column, fitted, parameter):
    """Number of a column of `X`.

    Parameters
    ----------
    column : int or str
        Number, from 0, or name.
    fitted : estimator
        With ``n_features_in_`` and, if its columns have names, ``feature_names_in_``.
    parameter : str
        Where the column was named, for the error message.

    Returns
    -------
    number : int

    Raises
    ------
    ValueError
        If there is no such column.
    """
    names = list(getattr(fitted, "feature_names_in_", ()))
    if isinstance(column, str) and column in names:
        return names.index(column)
    is_number = isinstance(column, Integral) and not isinstance(column, bool)
    if is_number and 0 <= column < fitted.n_features_in_:
        return int(column)
    known = f"are named {names}" if names else "have no names"
    raise ValueError(
        f"`{parameter}` has {column!r}, which is no column of `X`: there are "
        f"{fitted.n_features_in_}, and they {known}."
    )


def check_feature_names(fitted, feature_names):
    """A name for each column of `X`: those given, or its own ones, or numbers; list of str."""
    n_features = fitted.n_features_in_
    if feature_names is None:
        default = [f"feature {i}" for i in range(n_features)]
        return list(getattr(fitted, "feature_names_in_", default))
    if len(feature_names) != n_features:
        raise ValueError(
            f"`feature_names` must have one name for each of the {n_features} features; got "
            f"{len(feature_names)}."
        )
    return [str(name) for name in feature_names]


def dtypes_of(X):
    """dtype of each column of a frame of pandas, polars or pyarrow; None of what is no frame."""
    if not hasattr(X, "shape"):  # such as a LazyFrame, whose dtypes cost a query
        return None
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        return list(X.dtypes)
    if hasattr(X, "schema") and hasattr(X, "set_column"):
        return list(X.schema.types)
    return None


def is_category_dtype(dtype):
    """Whether a column of a frame is of categories, by its dtype."""
    return str(dtype).lower().startswith(CATEGORIES)


def holds_strings(column):
    """Whether a column of a frame holds strings, and nothing else but missing values."""
    values = np.asarray(column)
    if values.dtype.kind not in "OUT" or values.ndim != 1:
        return False
    are_strings = [isinstance(value, str) for value in values.tolist() if not is_missing(value)]
    return len(are_strings) > 0 and all(are_strings)


def column_name(X, j):
    """The name of a column of a frame, or its number."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return j if names is None else names[j]


def column_of(X, j):
    """A column, as its library has it."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.column(j) if hasattr(X, "set_column") else X[:, j]


def with_column_of(X, j, rows):
    """A frame with the values of other rows, by number, in one of its columns."""
    if hasattr(X, "iloc"):
        changed = X.copy(deep=False)
        changed.isetitem(j, X.iloc[:, j].array[rows])
        return changed
    if hasattr(X, "set_column"):
        return X.set_column(j, X.schema.field(j), X.column(j).take(rows))
    return X.with_columns(X[:, j][rows])


def with_columns(X, columns):
    """A frame with other values in some of its columns.

    Parameters
    ----------
    X : frame of pandas, polars or pyarrow
    columns : dict of int to ndarray
    """
    if hasattr(X, "iloc"):
        X = X.copy(deep=False)
    for j, values in columns.items():
        if hasattr(X, "iloc"):
            old = X.iloc[:, j].array
            if hasattr(old, "sp_values"):  # a frame of sparse columns stays one
                values = type(old)(values, fill_value=0.0)
            X.isetitem(j, values)
        elif hasattr(X, "set_column"):
            X = X.set_column(j, X.column_names[j], [values])
        else:
            X = X.with_columns(type(X[:, j])(X.columns[j], values))
    return X


def check_no_categories(X, name, encode):
    """Raise ValueError if a column has categories, which could be read as numbers that order them.

    Parameters
    ----------
    X : object
    name : str
    encode : str
        What to do about it.
    """
    for j, dtype in enumerate(dtypes_of(X) or ()):
        if is_category_dtype(dtype):
            raise ValueError(_refusal(X, j, dtype, name, "holds categories", encode))


def check_no_times(X, name):
    """Raise ValueError if a column has dates or times, which would be read as counts of ticks.

    What a tick is depends on the library, and may differ between `fit` and `predict`. A missing
    date would be a number, too.
    """
    dtypes = dtypes_of(X)
    if dtypes is None:
        dtypes = [getattr(X, "dtype", None)]
        if getattr(dtypes[0], "kind", "f") not in "mM":
            return
    for j, dtype in enumerate(dtypes):
        if str(dtype).lower().startswith(TIMES):
            raise ValueError(_refusal(X, j, dtype, name, "holds dates or times", OF_TIMES))


@contextmanager
def explained(X, y=None, name="X", encode=ENCODE):
    """Say which column of `X`, or what of `y`, an error is about, where scikit-learn does not.

    `encode` is what to do about a column of categories or strings.
    """
    check_no_mask(X, name)
    check_no_mask(y, "y")
    check_no_times(X, name)
    check_no_categories(X, name, encode)
    try:
        # The sum by which scikit-learn looks for numbers that are not finite may overflow.
        with np.errstate(invalid="ignore"):
            yield
    except (TypeError, ValueError) as error:
        message = _explain_X(X, name, encode)
        if message is None and y is not None:
            message = _explain_y(X, y)
        if message is None:
            raise
        # With what scikit-learn says, and of its class, which its checks of estimators ask for.
        raise (TypeError if isinstance(error, TypeError) else ValueError)(
            f"{message} ({error})"
        ) from error


def _explain_y(X, y):
    try:
        n_rows = _num_samples(X)
    except TypeError:  # a scalar
        return None
    try:
        check_column(y, "y", n_rows, finite=False)
    except ValueError as error:
        return str(error)
    return None


def _explain_X(X, name, encode):
    """Why a matrix cannot be read as numbers, or None if that is not what is wrong."""
    if hasattr(X, "collect"):
        return f"`{name}` is a query that has not run; give `{name}.collect()`."
    dtypes = dtypes_of(X)
    if dtypes is None:
        if getattr(X, "dtype", np.dtype(object)).kind not in "OUSTV":
            return _explain_shape(np.shape(X), name)
        if isinstance(X, (list, tuple)) and (message := _explain_list(X, name)):
            return message
        dtype = getattr(X, "dtype", "object")
        X = np.array(X, dtype=object)
        if X.ndim != 2:
            return _explain_shape(X.shape, name)
        dtypes = [dtype] * X.shape[1]
    for j, dtype in enumerate(dtypes):
        values = np.asarray(column_of(X, j))
        if values.ndim > 1:
            return _refusal(X, j, dtype, name, "holds several values a row", "Give each a column.")
        if values.dtype.kind in "biuf":
            continue
        row = _first_that_is_no_number(values.tolist(), str(dtype) == "object")
        if row is not None:
            value = values.tolist()[row]
            why = f"holds {value!r} at row {row}"
            return _refusal(X, j, dtype, name, why, _remedy(value, encode))
    return None


def _explain_shape(shape, name):
    if len(shape) == 3:
        return _below_one_another(name)
    return None


def _explain_list(X, name):
    lengths = [len(row) if hasattr(row, "__len__") else None for row in X]
    if len(set(lengths)) > 1 and None not in lengths:
        if all(is_nested(row) for row in X):
            return _below_one_another(name)
        j = next(j for j, length in enumerate(lengths) if length != lengths[0])
        return f"Row {j} of `{name}` has {lengths[j]} entries, but row 0 has {lengths[0]}."
    return None


def _below_one_another(name):
    return (
        f"`{name}` must be two-dimensional, with the rows of all queries below one another. If it "
        f"has a matrix for each query, np.concatenate({name}) is what is needed."
    )


def _first_that_is_no_number(values, as_objects):
    """Its row, or None if all can be read as numbers."""
    for row, value in enumerate(values):
        try:
            if value is not None and not isinstance(value, Real):
                float(value)
        except (TypeError, ValueError):
            # scikit-learn reads what a nullable dtype marks as missing, and among objects does not.
            if as_objects or not is_missing(value):
                return row
    return None


def _remedy(value, encode):
    if isinstance(value, (date, time, timedelta, np.datetime64, np.timedelta64)):
        return OF_TIMES
    if is_missing(value):
        return "Write missing values as NaN."
    if isinstance(value, Complex):
        return "Give its real and its imaginary part a column each."
    return encode


def _refusal(X, j, dtype, name, why, remedy):
    return (
        f"Column {column_name(X, j)!r} of `{name}`, of dtype {dtype}, cannot be read as numbers: "
        f"it {why}. {remedy}"
    )
