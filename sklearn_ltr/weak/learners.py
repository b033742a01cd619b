# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Weak learners that fit targets by weighted least squares."""

import numpy as np
from sklearn.base import clone

from sklearn_ltr.weak.regressor import FittedRegressor
from sklearn_ltr.weak.tree import Tree

# What is drawn in a round: the key of its seed.
FEATURES = 1


class TreeLearner:
    """Regression trees as the weak learner.

    Parameters
    ----------
    grower : TreeGrower
    data : RankingData
    """

    constant = Tree.constant

    def __init__(self, grower, data):
        self._grower = grower
        self._data = data

    def fit(self, targets, weights, rows, round):
        """Fit targets by weighted least squares.

        Parameters
        ----------
        targets : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), or None
        rows : ndarray, ascending, or None
            The rows to fit; None: all.
        round : int
            What is drawn is drawn by its number.

        Returns
        -------
        weak : weak ranker or None
            None where no split lowers the squared error.
        g : ndarray of shape (n_samples,)
            Its values at all rows.
        """
        grower = self._grower
        leaves = grower.grow(targets, weights, None, rows, self._data.seed(round, FEATURES))
        leaves.set_values(leaves.sums(targets, weights), leaves.sums(None, weights))
        g = np.zeros_like(targets)
        leaves.add_to(g, 1.0)
        return (leaves.tree if leaves.tree.n_leaves > 1 else None), g


class RegressorLearner:
    """Regressors of scikit-learn as the weak learner.

    Parameters
    ----------
    estimator : regressor
    data : RankingData
    rows : Rows
        Their features.
    """

    constant = FittedRegressor.constant

    def __init__(self, estimator, data, rows):
        self._estimator = estimator
        self._data = data
        self._rows = rows

    def fit(self, targets, weights, rows, round):
        """As `TreeLearner.fit`; rows of weight 0 are left out."""
        X = self._rows.X
        if weights is not None and not weights.all():
            positive = np.flatnonzero(weights)
            rows = positive if rows is None else np.intersect1d(rows, positive, True)
        if rows is not None:
            X, targets = X[rows], targets[rows]
            weights = None if weights is None else weights[rows]
        estimator = clone(self._estimator)
        names = [
            name
            for name in sorted(estimator.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        ]
        seeds = (self._data.seed(round, FEATURES + i) % 2**32 for i in range(len(names)))
        estimator.set_params(**dict(zip(names, seeds, strict=True)))
        weak = FittedRegressor(estimator.fit(X, targets, sample_weight=weights))
        return weak, weak.apply(self._rows)
