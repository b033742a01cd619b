# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of parameters and arguments, and warnings that name the caller's line."""

import sys
import warnings
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_scalar

from sklearn_ltr.reduction import (
    anywhere,
    everywhere,
    is_spread,
    largest,
    largest_of_each,
    smallest,
)

OWN_PACKAGES = ("sklearn", "sklearn_ltr")

# Between these, sums over rows of squares neither overflow nor vanish: of grades and weights, and
# of scores, which may become larger.
LARGEST, SMALLEST, LARGEST_SCORE = 1e120, 1e-120, 1e140

# Of the largest weight: far less than rounding makes of it, and a product of two is not 0.
LEAST_SHARE = 1e-100

# And of features, where penalties of their weights are divided by their squares.
LARGEST_FEATURE, SMALLEST_FEATURE = 1e60, 1e-60


def warn_caller(message, category):
    """Warn at the line that called scikit-learn or this package, however deep the call is here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in OWN_PACKAGES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def check_positive(value, name, *, maximum=None, zero=False):
    """Check a real parameter: finite, positive (or zero if allowed), below `maximum`.

    Raises
    ------
    TypeError, ValueError
        If it is no real number, or outside the range.
    """
    check_scalar(
        value,
        name,
        Real,
        min_val=0,
        max_val=np.inf if maximum is None else maximum,
        include_boundaries="left" if zero else "neither",
    )
    if np.isnan(value):  # compares as neither too small nor too large
        raise ValueError(f"{name} == {value}, must be a number.")


def check_choice(value, name, choices):
    """Raise ValueError unless a parameter or a switch has one of its values."""
    if not isinstance(value, (str, Real)) or value not in choices:
        raise ValueError(f"`{name}` must be one of {list(choices)}; got {value!r}.")


def check_margin(margin):
    """Check a parameter `margin`: "grade", or a positive number."""
    if isinstance(margin, str):
        if margin != "grade":
            raise ValueError(f'`margin` must be "grade" or a positive number; got {margin!r}.')
        return
    check_positive(margin, "margin")


def check_column(values, name, n_rows=None, *, finite=True):
    """One number a row, as a one-dimensional float64 array.

    Parameters
    ----------
    values : array-like of shape (n_rows,) or (n_rows, 1)
    name : str
        Name of the argument in error messages.
    n_rows : int, default=None
        Number of rows expected; None takes any.
    finite : bool or "allow-nan", default=True
        Whether to refuse NaN and infinity, or infinity alone.

    Raises
    ------
    ValueError
        If the values are no numbers, are not one a row, or not as many as there are rows.
    """
    check_no_mask(values, name)
    try:
        # The sum by which scikit-learn looks for numbers that are not finite may overflow.
        with np.errstate(invalid="ignore"):
            column = check_array(
                values,
                ensure_2d=False,
                dtype=np.float64,
                ensure_all_finite=finite,
                ensure_min_samples=0 if is_spread() else 1,
                input_name=name,
            )
    except (TypeError, ValueError) as error:
        if is_nested(values):
            raise ValueError(flat_form(values, name, n_rows)) from error
        if f"Input {name} " in str(error):
            raise
        if np.ndim(values) == 0:
            raise ValueError(f"`{name}` must have {_one_each(n_rows)}; got {values!r}.") from error
        raise ValueError(f"`{name}` cannot be read as a column of numbers: {error}") from error
    if column.ndim == 2 and column.shape[1] == 1:
        column = column.ravel()
    if column.ndim == 2:
        raise ValueError(flat_form(values, name, n_rows))
    if n_rows is not None and len(column) != n_rows:
        raise ValueError(f"`{name}` must have {_one_each(n_rows)}; got shape {column.shape}.")
    return column


def _one_each(n_rows):
    return "one entry a row" if n_rows is None else f"one entry for each of the {n_rows} rows"


def check_no_mask(values, name):
    """Raise ValueError if entries are masked, which scikit-learn would read as if they were not."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"`{name}` is a masked array, whose mask would be lost; fill it, as by NaN."
        )


def is_nested(values):
    """Whether there are lists, such as one a query, where one entry a row should be."""
    shape = getattr(values, "shape", None)
    if shape is not None and len(shape) != 1:
        return len(shape) > 1 and shape[1:] != (1,)
    try:
        return any(hasattr(v, "__len__") and not isinstance(v, (str, bytes)) for v in values)
    except TypeError:  # a single number
        return False


def flat_form(values, name, n_rows=None):
    """What to say of nested values: how the rows of all queries are given."""
    shape = getattr(values, "shape", ())
    got = f"shape {tuple(shape)}" if len(shape) > 1 else "a list of lists"
    groups = "groups_val" if name.endswith("_val") else "groups"
    return (
        f"`{name}` must be one-dimensional, {_one_each(n_rows)}, with the rows of all queries "
        f"below one another; got {got}. If it has a list for each query, np.concatenate({name}) is "
        f"needed, with {groups}=np.repeat(range(len({name})), [len(q) for q in {name}])."
    )


def check_sample_weight(sample_weight, n_samples):
    """`sample_weight` as an array; None where all are 1.

    Raises
    ------
    ValueError
        If it has another shape, an entry that is negative or not finite, or only zeros.
    """
    sample_weight = check_column(sample_weight, "sample_weight", n_samples)
    if (sample_weight < 0).any():
        row = int(np.argmin(sample_weight))
        raise ValueError(
            f"`sample_weight` must not be negative; row {row} has {sample_weight[row]}."
        )
    if not anywhere(sample_weight):
        raise ValueError("`sample_weight` is zero for every row; at least one must be positive.")
    check_largest_weight(sample_weight, "sample_weight", "row")
    sample_weight = without_vanishing(sample_weight)
    return None if everywhere(sample_weight == 1) else sample_weight


def check_propensity(propensity, name, n_rows=None):
    """How likely each row was looked at, as an array.

    Parameters
    ----------
    propensity : array-like of shape (n_rows,)
    name : str
        Name of the argument in error messages.
    n_rows : int, default=None
        Number of rows expected; None takes any.

    Raises
    ------
    ValueError
        If it is not one number a row, each above 0 and at most 1.
    """
    propensity = check_column(propensity, name, n_rows)
    wrong = ~((propensity > 0) & (propensity <= 1))
    if wrong.any():
        row = int(wrong.argmax())
        remedy = (
            "Divide all of them by the largest."
            if propensity[row] > 1
            else "Of a row that was not clicked it is without effect: give 1. Raise what is too "
            "small to divide by, np.maximum(p, 0.01)."
        )
        raise ValueError(
            f"`{name}` has {propensity[row]:g} at row {row}; propensities are above 0 and at most "
            f"1. {remedy}"
        )
    return propensity


def check_largest_weight(weight, name, unit):
    """Raise ValueError for weights too large, or all too small, to compute with."""
    most = largest(weight)
    if not SMALLEST <= most <= LARGEST:
        at = f" at {unit} {int(weight.argmax())}" if most in weight else ""
        raise ValueError(
            f"The largest `{name}`, {most:g}{at}, must be between {SMALLEST:g} and "
            f"{LARGEST:g}: multiply all of them by one number."
        )


def without_vanishing(weights):
    """The weights, those next to nothing beside the largest raised to `LEAST_SHARE` of it.

    Their ratios to others could be 0 in float64, as if they were weights of nothing.

    Parameters
    ----------
    weights : ndarray, dtype float64
    """
    least = LEAST_SHARE * largest(weights)
    tiny = (weights > 0) & (weights < least)
    return np.where(tiny, least, weights) if tiny.any() else weights


def check_grade_sizes(y):
    """Raise ValueError for grades too large, or too close together, to compute with.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        NaN marks a row without a grade.
    """
    graded = y[~np.isnan(y)]
    most, least = largest(graded), smallest(graded)
    if len(graded) and np.abs(graded).max() > LARGEST:
        row = int(np.nanargmax(np.abs(y)))
        raise ValueError(
            f"`y` has the grade {y[row]:g} at row {row}; the largest that can be computed with is "
            f"{LARGEST:g}. Divide the grades, or number them in their order: "
            "np.unique(y, return_inverse=True)[1]."
        )
    if most > least and (spread := most - least) < SMALLEST:
        raise ValueError(
            f"The grades in `y` differ by {spread:g} at most; differences below {SMALLEST:g} are "
            "too small to compute with. Multiply the grades, or number them in their order: "
            "np.unique(y, return_inverse=True)[1]."
        )


def check_feature_sizes(X, name):
    """Raise ValueError for features too large or too small to be multiplied or added up.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Finite.
    name : callable
        ``name(k)`` -> what to call feature k in the message.
    """
    if X.shape[0] == 0:
        size = np.zeros(X.shape[1])
    elif sparse.issparse(X):
        size = np.abs(X).max(axis=0).toarray().ravel().astype(np.float64)
    else:
        # Not of their absolute values, which would be one more array of the size of X.
        size = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
    size = largest_of_each(size)
    wrong = (size > LARGEST_FEATURE) | ((size > 0) & (size < SMALLEST_FEATURE))
    if not wrong.any():
        return
    k = int(wrong.argmax())
    column = X[:, [k]].toarray().ravel() if sparse.issparse(X) else X[:, k]
    at = np.flatnonzero(np.abs(column) == size[k])[:1]
    value, row = (column[at[0]], f" at row {at[0]}") if len(at) else (size[k], "")
    raise ValueError(
        f"`X` has {value:g}{row} of {name(k)}, the largest of the feature, which is "
        f"too {'large' if size[k] > LARGEST_FEATURE else 'small'} to compute with: it must be "
        f"between {SMALLEST_FEATURE:g} and {LARGEST_FEATURE:g}. Clip or rescale the feature, drop "
        "it if it is 0 but for rounding, or take ranks, as "
        "sklearn.preprocessing.QuantileTransformer does."
    )


def check_scores(scores, name="scores"):
    """Raise ValueError for scores that no loss can be computed at.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,), dtype float64
    name : str, default="scores"
    """
    if not np.abs(scores).max() <= LARGEST_SCORE:
        wrong = ~(np.abs(scores) <= LARGEST_SCORE)
        raise ValueError(
            f"`{name}` has {scores[wrong][0]:g} at row {int(wrong.argmax())}; the largest that a "
            f"loss can be computed at is {LARGEST_SCORE:g}."
        )


def check_init_score(scores, name, n_rows):
    """Scores to start from as an array; None where none are given.

    Raises
    ------
    ValueError
        If they have another shape, or one is not finite or too large.
    """
    if scores is None:
        return None
    scores = check_column(scores, name, n_rows)
    check_scores(scores, name)
    return scores


def check_predicted(scores):
    """The scores, of shape (n_samples,); ValueError if one is not finite."""
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores)))
        raise ValueError(
            f"The score of row {row} of `X` overflows float64: its features are far beyond those "
            "of the training rows. Clip or rescale them."
        )
    return scores
