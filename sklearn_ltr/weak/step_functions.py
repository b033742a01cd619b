# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of stumps."""

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _additive

# Rows of a sparse matrix are made dense this many at a time.
CHUNK = 10_000


class StepFunctions:
    """A sum of stumps as one step function for each feature used.

    Prediction costs one search among its thresholds for each feature used, however many stumps
    there were.

    Parameters
    ----------
    terms : list of (float, Stump)

    Attributes
    ----------
    features : ndarray of shape (n_used,), dtype intp, ascending
    starts : ndarray of shape (n_used + 1,), dtype intp
        Offsets of the features in `thresholds`.
    thresholds : ndarray, dtype float64
        Ascending within a feature.
    values : ndarray, dtype float64
        For each feature the score at 0, 1, ... thresholds below the value, then of a missing value.
    """

    def __init__(self, terms):
        of_feature = {}
        for c, stump in terms:
            of_feature.setdefault(stump.feature, []).append((c, stump))
        self.features = np.array(sorted(of_feature), dtype=np.intp)
        thresholds, values = [], []
        for feature in self.features:
            own = of_feature[feature]
            cuts = np.unique([stump.threshold for _, stump in own])
            cuts = cuts[np.isfinite(cuts)]
            jumps = np.zeros(len(cuts) + 2)  # the one at infinity is never reached
            missing = 0.0
            for coefficient, stump in own:
                jumps[np.searchsorted(cuts, stump.threshold) + 1] += coefficient * stump.value
                missing += coefficient * stump.value * stump.missing_above
            thresholds.append(cuts)
            values.append(np.append(np.cumsum(jumps[:-1]), missing))
        sizes = [len(cuts) for cuts in thresholds]
        self.starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        self.thresholds = np.concatenate([*thresholds, [0.0]])  # never empty
        self.values = np.concatenate([*values, [0.0]])

    def predict(self, X, n_threads=1):
        """Scores of the rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
        """
        scores = np.empty(X.shape[0])
        for rows, part, columns in self._dense(X):
            _additive.step_functions(
                part, columns, self.starts, self.thresholds, self.values, scores[rows], n_threads
            )
        return scores

    def contributions(self, X, n_threads=1):
        """What each feature adds to the scores of the rows; `predict` adds them in this order.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features), dtype float64
        """
        contributions = np.zeros(X.shape, order="F")
        for rows, part, columns in self._dense(X):
            for k, feature in enumerate(self.features):
                start, stop = self.starts[k : k + 2]
                _additive.step_functions(
                    part,
                    columns[k : k + 1],
                    np.array([0, stop - start]),
                    self.thresholds[start:],  # with what follows, as it must not be empty
                    self.values[start + 2 * k :],
                    contributions[rows, feature],
                    n_threads,
                )
        return contributions

    def of_feature(self, feature):
        """The step function of one feature, of no steps if it is not used.

        Returns
        -------
        thresholds : ndarray of shape (n_thresholds,)
        values : ndarray of shape (n_thresholds + 2,)
        """
        k = int(np.searchsorted(self.features, feature))
        if k == len(self.features) or self.features[k] != feature:
            return np.empty(0), np.zeros(2)
        start, stop = self.starts[k : k + 2]
        values = self.values[start + 2 * k : stop + 2 * k + 2]
        return self.thresholds[start:stop].copy(), values.copy()

    def _dense(self, X):
        """Slices of the rows, these rows as an array, and the column in it of each feature used."""
        if not sparse.issparse(X):
            yield slice(None), X, self.features
            return
        positions = np.arange(len(self.features))
        for start in range(0, X.shape[0], CHUNK):
            rows = slice(start, start + CHUNK)
            yield rows, X[rows][:, self.features].toarray(), positions
