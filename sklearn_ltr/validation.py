# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of parameters and arguments, and warnings that name the caller's line."""

import sys
import warnings
from numbers import Real

import numpy as np
from sklearn.utils import check_array, check_scalar

OWN_PACKAGES = ("sklearn", "sklearn_ltr")


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


def check_sample_weight(sample_weight, n_samples):
    """`sample_weight` as an array; None where all are 1.

    Raises
    ------
    ValueError
        If it has another shape, an entry that is negative or not finite, or only zeros.
    """
    sample_weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if sample_weight.shape != (n_samples,):
        raise ValueError(
            f"`sample_weight` must have one entry for each of the {n_samples} rows; got shape "
            f"{sample_weight.shape}."
        )
    if (sample_weight < 0).any():
        row = int(np.argmin(sample_weight))
        raise ValueError(
            f"`sample_weight` must not be negative; row {row} has {sample_weight[row]}."
        )
    if not sample_weight.any():
        raise ValueError("`sample_weight` is zero for every row; at least one must be positive.")
    return None if (sample_weight == 1).all() else sample_weight
