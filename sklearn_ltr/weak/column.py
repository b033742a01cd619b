# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Single features as weak rankers."""

from functools import partial

import numpy as np
from scipy import sparse

from sklearn_ltr.weak import schema
from sklearn_ltr.weak.base import WeakRanker


class Column(WeakRanker):
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

    @classmethod
    def collapse(cls, terms, n_outputs=1):
        """As `WeakRanker.collapse`: a SumOfColumns."""
        return SumOfColumns(terms, n_outputs)

    def to_plain(self):
        """Its fields as plain data."""
        return schema.plain(self, self._kinds([]))

    @classmethod
    def from_plain(cls, value, path, bins):
        """The column that `to_plain` made plain data of; ValueError if they are malformed.

        Of `bins` only the number counts, that of the features.
        """
        return cls(**schema.fields(cls._kinds(bins), value, path))

    @classmethod
    def _kinds(cls, bins):
        """The kinds of the fields that are stored."""
        return {
            "feature": partial(schema.integer, high=len(bins) - 1),
            "gain": partial(schema.number, largest=schema.LARGEST),
        }

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
    """A sum of single features: one coefficient for each feature used by an output.

    Parameters
    ----------
    terms : list of (int, float, Column)
        Output, coefficient and feature.
    n_outputs : int, default=1
    """

    def __init__(self, terms, n_outputs=1):
        self.n_outputs = n_outputs
        sums = {}
        for output, coefficient, weak in terms:
            key = output, weak.feature
            sums[key] = sums.get(key, 0.0) + coefficient
        self.coefficients = [(*key, coefficient) for key, coefficient in sums.items()]

    def predict(self, X, n_threads=1):
        """Scores of the rows of `X`: ndarray of shape (n_samples,) or (n_outputs, n_samples)."""
        # Not by BLAS: there the score of a row would depend on the rows around it.
        scores = np.zeros((self.n_outputs, X.shape[0]))
        for output, feature, coefficient in self.coefficients:
            scores[output] += coefficient * column_of(X, feature)
        return scores[0] if self.n_outputs == 1 else scores


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
