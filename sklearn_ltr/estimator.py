# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What scikit-learn's base class does not do for estimators outside of scikit-learn."""

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_ltr.versions import Versioned


def python_scalar(value):
    """A scalar of NumPy as Python's; anything else as it is."""
    if not isinstance(value, np.generic):
        return value
    return float(value) if isinstance(value, np.floating) else value.item()


class Estimator(Versioned, BaseEstimator):
    """`BaseEstimator` whose pickles say by which version, and whose parameters are of Python.

    Parameters from NumPy, such as those of a grid, would otherwise compute by NumPy's rules: those
    of float32 would round what they are multiplied with, those of eight bits overflow.
    """

    def __setattr__(self, name, value):
        super().__setattr__(name, value if name.endswith("_") else python_scalar(value))
