# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Regressors of scikit-learn as weak rankers."""

import numpy as np
from sklearn.dummy import DummyRegressor

from sklearn_ltr.weak.base import WeakRanker


class FittedRegressor(WeakRanker):
    """A fitted regressor as a weak ranker.

    Parameters
    ----------
    estimator : regressor
    """

    def __init__(self, estimator):
        self.estimator = estimator

    @classmethod
    def constant(cls, value):
        """A regressor of one value."""
        dummy = DummyRegressor(strategy="constant", constant=float(value))
        return cls(dummy.fit([[0.0]], [value]))

    def __repr__(self):
        return f"FittedRegressor({self.estimator!r})"

    def importances(self, n_features):
        """The importances that the regressor states, and no number of splits.

        Returns
        -------
        importances : ndarray of shape (n_features,)
        counts : ndarray of shape (n_features,), dtype intp
            Zeros.

        Raises
        ------
        AttributeError
            If the regressor states none.
        """
        counts = np.zeros(n_features, dtype=np.intp)
        if isinstance(self.estimator, DummyRegressor):
            return np.zeros(n_features), counts
        return self.estimator.feature_importances_, counts

    def apply(self, rows, n_threads=1):
        """Values at the rows of a `sklearn_ltr.binning.Rows`: ndarray of shape (n_samples,)."""
        return self.predict(rows.X)

    def predict(self, X):
        """Values at the rows of `X`: ndarray of shape (n_samples,), dtype float64."""
        return np.asarray(self.estimator.predict(X), dtype=np.float64).reshape(X.shape[0])
