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
    train : Training
        Draws the features by the number of its round.
    """

    constant = Tree.constant

    def __init__(self, grower, train):
        self._grower = grower
        self._train = train

    def fit(self, targets, weights, rows):
        """Fit targets by weighted least squares.

        Parameters
        ----------
        targets : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), or None
        rows : ndarray, ascending, or None
            The rows to fit; None: all.

        Returns
        -------
        weak : weak ranker or None
            None where no split lowers the squared error.
        g : ndarray of shape (n_samples,)
            Its values at all rows.
        """
        grower = self._grower
        leaves = grower.grow(targets, weights, None, rows, self._train.seed(FEATURES))
        leaves.set_values(leaves.sums(targets, weights), leaves.sums(None, weights))
        g = np.zeros_like(targets)
        leaves.add_to(g, 1.0)
        return (leaves.tree if leaves.tree.n_leaves > 1 else None), g


class RegressorLearner:
    """Regressors of scikit-learn as the weak learner.

    Parameters
    ----------
    estimator : regressor
    train : Training
        Draws what the regressor draws by the number of its round.
    """

    constant = FittedRegressor.constant

    def __init__(self, estimator, train):
        self._estimator = estimator
        self._train = train

    def fit(self, targets, weights, rows):
        """As `TreeLearner.fit`; rows of weight 0 are left out."""
        X = self._train.binned.X
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
        seeds = {name: self._train.seed(FEATURES + i) % 2**32 for i, name in enumerate(names)}
        estimator.set_params(**seeds)
        weak = FittedRegressor(estimator.fit(X, targets, sample_weight=weights))
        return weak, weak.apply(self._train.binned)
