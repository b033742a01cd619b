# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of weak rankers."""

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _additive

# Rows of a sparse matrix are made dense this many at a time.
CHUNK = 10_000


class AdditiveModel:
    """A sum of weak rankers with coefficients, in the order they were added.

    Parameters
    ----------
    n_features : int

    Attributes
    ----------
    rounds : list of lists of (float, weak ranker)
        The terms that each boosting round added.
    """

    def __init__(self, n_features, rounds=()):
        self.n_features = n_features
        self.rounds = list(rounds)

    @property
    def terms(self):
        """All terms in order: list of (float, weak ranker)."""
        return [term for terms in self.rounds for term in terms]

    def first(self, n_rounds):
        """The model of the first `n_rounds` rounds."""
        return AdditiveModel(self.n_features, self.rounds[:n_rounds])

    def collapse(self):
        """The same function as one step function a feature: StepFunctions."""
        return StepFunctions(self.terms)

    def staged_predict(self, X):
        """Yield the scores of `X` (n_samples, n_features) after each round."""
        if sparse.issparse(X):
            X = X.tocsc()
        scores = np.zeros(X.shape[0])
        for terms in self.rounds:
            for coefficient, weak in terms:
                scores += coefficient * weak.predict(X)
            yield scores.copy()

    def importances(self):
        """Gain of each feature as a share of all: ndarray of shape (n_features,)."""
        gains = np.zeros(self.n_features)
        for _, weak in self.terms:
            gains[weak.feature] += weak.gain
        total = gains.sum()
        return gains / total if total > 0 else gains


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
        self.features = np.unique([stump.feature for _, stump in terms]).astype(np.intp)
        thresholds, values = [], []
        for feature in self.features:
            own = [(c, stump) for c, stump in terms if stump.feature == feature]
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
        if not sparse.issparse(X):
            self._predict_dense(X, self.features, scores, n_threads)
            return scores
        positions = np.arange(len(self.features))
        for start in range(0, X.shape[0], CHUNK):
            rows = X[start : start + CHUNK][:, self.features].toarray()
            self._predict_dense(rows, positions, scores[start : start + CHUNK], n_threads)
        return scores

    def _predict_dense(self, X, columns, scores, n_threads):
        _additive.step_functions(
            X, columns, self.starts, self.thresholds, self.values, scores, n_threads
        )
