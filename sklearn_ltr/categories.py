# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Categorical features: which they are, and their values as codes.

A code is the number of a value among those known, in ascending order. It depends on the values
alone, not on the order or the codes that a frame lists its categories in.
"""

from numbers import Integral, Real
from types import SimpleNamespace

import numpy as np
from scipy import sparse

from sklearn_ltr import reduction
from sklearn_ltr.columns import (
    column_name,
    column_number,
    column_of,
    dtypes_of,
    is_category_dtype,
    with_columns,
)
from sklearn_ltr.queries import is_missing

# Integers beyond are not told apart as floats.
LARGEST_CODE = 2**53

FROM_DTYPE = "from_dtype"


def check_parameter(value):
    """Raise ValueError unless `categorical_features` is of a form that can name features."""
    if value is None or (isinstance(value, str) and value == FROM_DTYPE):
        return
    kinds = {_kind_of_entry(entry) for entry in np.asarray(value, dtype=object).ravel()}
    if isinstance(value, str) or np.ndim(value) != 1 or len(kinds) > 1 or None in kinds:
        raise ValueError(
            f'`categorical_features` must be "{FROM_DTYPE}", None, a boolean mask of the features, '
            f"or a list of their numbers or names; got {value!r}."
        )


def _kind_of_entry(entry):
    if isinstance(entry, (bool, np.bool_)):
        return "mask"
    return "number" if isinstance(entry, Integral) else "name" if isinstance(entry, str) else None


def named_features(value, fitted):
    """Which features `categorical_features` names: ndarray of shape (n_features,), dtype bool.

    Parameters
    ----------
    value : array-like
        As checked by `check_parameter`; no string, not None.
    fitted : object
        As `column_number` takes it.
    """
    entries = np.asarray(value, dtype=object)
    mask = np.zeros(fitted.n_features_in_, dtype=bool)
    if len(entries) and _kind_of_entry(entries[0]) == "mask":
        if len(entries) != len(mask):
            raise ValueError(
                f"`categorical_features` must have one entry for each of the {len(mask)} features; "
                f"got {len(entries)}."
            )
        return entries.astype(bool)
    for entry in entries:
        mask[column_number(entry, fitted, "categorical_features")] = True
    return mask


def described(X):
    """The columns of a frame, as `column_number` takes them."""
    names = [column_name(X, j) for j in range(X.shape[1])]
    known = {"feature_names_in_": names} if all(isinstance(x, str) for x in names) else {}
    return SimpleNamespace(n_features_in_=len(names), **known)


class Categories:
    """The values of the categorical features of a training set.

    Parameters
    ----------
    values : list
        For each feature its distinct values, ascending, without missing ones: an ndarray of
        float64 or, of strings, of objects. None for a feature that is not categorical.
    """

    def __init__(self, values):
        self.values = values

    def __eq__(self, other):
        return isinstance(other, Categories) and self.plain() == other.plain()

    __hash__ = None

    def plain(self):
        """The values as lists."""
        return [None if values is None else values.tolist() for values in self.values]

    @property
    def is_categorical(self):
        """ndarray of shape (n_features,), dtype bool."""
        return np.array([values is not None for values in self.values])

    @property
    def numbers(self):
        """How many categories each feature has: ndarray of shape (n_features,), dtype intp.

        At least 1 of a categorical feature, 0 of others.
        """
        return np.array(
            [0 if values is None else max(len(values), 1) for values in self.values], dtype=np.intp
        )

    @classmethod
    def of_columns(cls, columns, n_features, most):
        """The categories that some columns have.

        Parameters
        ----------
        columns : dict of int to Column
        n_features : int
        most : int or None
            How many values a column may have.

        Raises
        ------
        ValueError
            If a column has more.
        """
        values = [None] * n_features
        for k, column in columns.items():
            values[k] = column.distinct()
            if most is not None and len(values[k]) > most:
                raise ValueError(
                    f"{column.name} is a categorical feature, by `categorical_features`, of "
                    f"{len(values[k])} distinct values; at most {most} are possible. Put rare ones "
                    "together, or encode it as numbers, as TargetEncoder does."
                )
        return cls(values)

    def codes(self, k, column):
        """The codes of a column, NaN for missing and unknown values: ndarray of float64."""
        known = self.values[k]
        if len(known) and column.kind is not None and column.kind != _kind(known[0]):
            raise ValueError(
                f"{column.name} is a categorical feature, and holds {column.kind} where `fit` had "
                f"{_kind(known[0])}, such as {known.tolist()[0]!r}. Give it values of that kind."
            )
        return column.codes(known)

    def kept(self, X, rows):
        """The categories that some rows of an encoded matrix have, and the matrix by these.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        rows : ndarray of shape (n_samples,), dtype bool

        Returns
        -------
        categories : Categories
        X : {ndarray, CSR matrix}
            Itself if nothing changes.
        """
        values, changed = list(self.values), {}
        for k in np.flatnonzero(self.is_categorical):
            column = dense_column(X, k)
            present = reduction.distinct(np.unique(column[rows & ~np.isnan(column)]))
            if len(present) < len(values[k]):
                values[k] = values[k][present.astype(np.intp)]
                changed[k] = Column("", column).codes(present)
        return (Categories(values), with_dense_columns(X, changed)) if changed else (self, X)


class Column:
    """The values of a column.

    Parameters
    ----------
    name : str
        What to call it in messages.
    values : ndarray of float64, or list of str and None
        NaN or None where missing.
    must_be_codes : bool, default=False
        Whether numbers that are not known must be integers from 0 on.
    """

    def __init__(self, name, values, must_be_codes=False):
        self.name, self.values, self._must_be_codes = name, values, must_be_codes
        self._of_numbers = isinstance(values, np.ndarray)

    @property
    def kind(self):
        """What it holds; None if all values are missing."""
        if self._of_numbers:
            return None if np.isnan(self.values).all() else "numbers"
        return "strings" if any(value is not None for value in self.values) else None

    def distinct(self):
        """Its distinct values in all rows, ascending."""
        # Where all that are here are missing, they may be strings elsewhere.
        if reduction.anywhere(self.kind == "strings"):
            if reduction.anywhere(self.kind == "numbers"):
                raise ValueError(
                    f"{self.name} is a categorical feature, and holds strings on some ranks and "
                    "numbers on others. Make strings of all of them."
                )
            here = () if self.kind is None else set(self.values) - {None}
            return reduction.distinct(np.array(sorted(here), dtype=object))
        here = self.values[~np.isnan(self.values)] if self._of_numbers else np.empty(0)
        found = reduction.distinct(np.unique(here))
        self._check_codes(found)
        return found + 0.0  # not -0.0

    def codes(self, known):
        """The place of each value among those known, NaN if it is not there."""
        if not self._of_numbers:
            table = {value: code for code, value in enumerate(known.tolist())}
            return np.array([table.get(value, np.nan) for value in self.values], dtype=np.float64)
        if len(known) == 0 or self.kind is None:
            self._check_codes(self.values[~np.isnan(self.values)])
            return np.full(len(self.values), np.nan)
        place = np.minimum(np.searchsorted(known, self.values), len(known) - 1)
        found = known[place] == self.values
        self._check_codes(self.values[~found & ~np.isnan(self.values)])
        return np.where(found, place, np.nan)

    def _check_codes(self, values):
        if not self._must_be_codes:
            return
        wrong = ~((values >= 0) & (values <= LARGEST_CODE) & (values == np.rint(values)))
        if wrong.any():
            raise ValueError(
                f"{self.name} is a categorical feature, by `categorical_features`, whose numbers "
                f"must be integers from 0 on; got {values[wrong][0]:g}. NaN marks a missing value."
            )


def _kind(value):
    return "strings" if isinstance(value, str) else "numbers"


def columns_of_frame(X, features, name):
    """Columns of a frame: dict of int to Column.

    Raises
    ------
    ValueError
        If one holds anything but strings or numbers, or both.
    """
    dtypes, columns = dtypes_of(X), {}
    for k in map(int, features):
        title = f"Column {column_name(X, k)!r} of `{name}`"
        columns[k] = _read_column(column_of(X, k), title, is_category_dtype(dtypes[k]))
    return columns


def _read_column(column, name, by_value):
    # NumPy's view of a dictionary of pyarrow has a value for a null.
    values = column.to_pylist() if hasattr(column, "to_pylist") else np.asarray(column)
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "biuf":
            return Column(name, values.astype(np.float64), not by_value)
        values = values.astype(object).tolist() if values.dtype.kind not in "mM" else list(values)
    try:
        distinct = dict.fromkeys(values)
    except TypeError as error:  # lists
        raise ValueError(f"{name} is a categorical feature, and holds no single values.") from error
    for value in distinct:
        distinct[value] = None if is_missing(value) else _as_category(value, name)
    kinds = {_kind(value) for value in distinct.values() if value is not None}
    if len(kinds) > 1:
        raise ValueError(
            f"{name} is a categorical feature, and holds both strings and numbers. Make strings of "
            "all of them."
        )
    if kinds == {"strings"}:
        return Column(name, [distinct[value] for value in values])
    numbers = (np.nan if distinct[value] is None else distinct[value] for value in values)
    return Column(name, np.fromiter(numbers, np.float64, len(values)), not by_value)


def _as_category(value, name):
    """A value as a string or a float."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (Real, np.bool_)):
        number = float(value)
        if number == value and np.isfinite(number):
            return number
    raise ValueError(
        f"{name} is a categorical feature, and holds {value!r}: categories must be strings or "
        "finite numbers. Make strings of its values."
    )


def columns_of_matrix(X, features, name, must_be_codes=True):
    """Columns of a matrix: dict of int to Column."""
    return {
        int(k): Column(name(k), dense_column(X, k).astype(np.float64), must_be_codes)
        for k in features
    }


def encoded_frame(X, columns, categories):
    """A frame with codes in the place of the columns read."""
    return with_columns(X, {k: categories.codes(k, column) for k, column in columns.items()})


def encoded_matrix(X, columns, categories):
    """A matrix with codes in the place of the columns read; itself if they have these already."""
    codes = {}
    for k, column in columns.items():
        found = categories.codes(k, column)
        if not np.array_equal(found, column.values, equal_nan=True):
            codes[k] = found
    return with_dense_columns(X, codes)


def dense_column(X, k):
    """A column of a matrix: ndarray of shape (n_samples,)."""
    return X[:, [k]].toarray().ravel() if sparse.issparse(X) else X[:, k]


def with_dense_columns(X, columns):
    """A matrix with other values in some columns; itself if there are none.

    Parameters
    ----------
    X : {ndarray, CSR matrix}
    columns : dict of int to ndarray
    """
    if not columns:
        return X
    if not sparse.issparse(X):
        X = X.copy()
        for k, values in columns.items():
            X[:, k] = values
        return X
    rest = X.tocoo()
    kept = ~np.isin(rest.col, list(columns))
    rows, cols, data = [rest.row[kept]], [rest.col[kept]], [rest.data[kept]]
    for k, values in columns.items():
        there = np.flatnonzero(values)  # NaN is not zero
        rows.append(there)
        cols.append(np.full(len(there), k))
        data.append(values[there].astype(X.dtype))
    parts = np.concatenate(data), (np.concatenate(rows), np.concatenate(cols))
    changed = type(rest)(parts, shape=X.shape).tocsr()
    changed.sum_duplicates()
    return changed
