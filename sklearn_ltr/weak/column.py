# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Single features as weak rankers."""

import numpy as np
from scipy import sparse


class Column:
    """A feature as it is: the weak ranker h(x) = x_k.

    Parameters
    ----------
    feature : int
    gain : float
        What it counts for in the importances.
    """

    def __init__(self, feature, gain):
        self.feature = feature
        self.gain = gain

    def __repr__(self):
        return f"Column(feature={self.feature}, gain={self.gain:.6g})"

    def importances(self, n_features):
        """Gain of each feature, and how often it is used: ndarrays of shape (n_features,)."""
        gains, counts = np.zeros(n_features), np.zeros(n_features, dtype=np.intp)
        gains[self.feature], counts[self.feature] = self.gain, 1
        return gains, counts

    def apply(self, rows, n_threads=1):
        """Values at the rows of a `sklearn_ltr.binning.Rows`: ndarray of shape (n_samples,)."""
        return self.predict(rows.X)

    def predict(self, X):
        """Values at the rows of `X`: ndarray of shape (n_samples,), dtype float64."""
        return column_of(X, self.feature)


class SumOfColumns:
    """A sum of single features: one coefficient for each feature used.

    Parameters
    ----------
    terms : list of (float, Column)
    """

    def __init__(self, terms):
        self.coefficients = {}
        for coefficient, weak in terms:
            self.coefficients[weak.feature] = self.coefficients.get(weak.feature, 0.0) + coefficient

    def predict(self, X, n_threads=1):
        """Scores of the rows of `X`: ndarray of shape (n_samples,), dtype float64."""
        # Not by BLAS: there the score of a row would depend on the rows around it.
        scores = np.zeros(X.shape[0])
        for feature, coefficient in self.coefficients.items():
            scores += coefficient * column_of(X, feature)
        return scores


def column_of(X, feature):
    """A column of an array or a sparse matrix: ndarray of shape (n_samples,), dtype float64."""
    if sparse.issparse(X):
        return X[:, [feature]].toarray().ravel().astype(np.float64)
    return X[:, feature].astype(np.float64)


def columns_of(X):
    """The columns of an array or a sparse matrix in turn, as `column_of`."""
    if sparse.issparse(X):
        X = X.tocsc()
    for k in range(X.shape[1]):
        yield column_of(X, k)
