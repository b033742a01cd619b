# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Columns by number or by name."""

from numbers import Integral


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
