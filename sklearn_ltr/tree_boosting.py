# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What boosted rankers that grow trees have in common."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from sklearn_ltr.base import check_positive
from sklearn_ltr.binning import Binner
from sklearn_ltr.boosting import Boosting, with_callbacks
from sklearn_ltr.weak.tree import TreeGrower

BINNINGS = ("quantile", "adaptive")


class TreeBoosting(Boosting):
    """Base class of rankers that boost trees; holds the parameters that shape them."""

    @property
    def n_splits_(self):
        """Number of splits on each feature: ndarray of shape (`n_features_in_`,), dtype intp."""
        check_is_fitted(self)
        return self.model_.first(self.best_iteration_).importances()[1]

    def _grower(self, train):
        return TreeGrower(
            train.binned,
            train.n_threads,
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            max_features=self.max_features,
            monotonic_cst=self.monotonic_cst,
        )

    def _seed_of(self, key):
        """A seed of 64 bits for something that is drawn in the present round."""
        sequence = np.random.SeedSequence([self._seed, self.n_iter_, key])
        return int(sequence.generate_state(1, np.uint64)[0])

    def _sample(self, train):
        """The rows to grow this round's trees on; None for all."""
        if self.subsample == 1:
            return None
        return train.sample_queries(self.subsample, self._seed_of(0))

    def _tree_seed(self, output=0):
        """What draws the features of this round's tree for an output."""
        return self._seed_of(1 + output) if self.max_features < 1 else 0

    def _draws(self):
        """Whether a round is random, so that one without a split says nothing of the next."""
        return self.subsample < 1 or self.max_features < 1

    def _make_binner(self):
        return Binner(self.max_bins, self.binning)

    def _check_params(self):
        super()._check_params()
        check_scalar(self.max_leaf_nodes, "max_leaf_nodes", Integral, min_val=2)
        if self.max_depth is not None:
            check_scalar(self.max_depth, "max_depth", Integral, min_val=1)
        check_scalar(self.min_samples_leaf, "min_samples_leaf", Integral, min_val=1)
        check_positive(self.l2_regularization, "l2_regularization", zero=True)
        for name in ("max_features", "subsample"):
            if getattr(self, name) != 1:
                check_positive(getattr(self, name), name, maximum=1)
        if self.binning not in BINNINGS:
            raise ValueError(f"`binning` must be one of {list(BINNINGS)}; got {self.binning!r}.")

    def _restart(self, data):
        self._check_monotonic_cst()
        super()._restart(data)

    def _check_continuation(self):
        self._check_monotonic_cst()
        super()._check_continuation()

    def _check_monotonic_cst(self):
        if self.monotonic_cst is None:
            return
        cst = np.asarray(self.monotonic_cst)
        if cst.shape != (self.n_features_in_,):
            raise ValueError(
                f"`monotonic_cst` must have one entry for each of the {self.n_features_in_} "
                f"features; got shape {cst.shape}."
            )
        if not np.isin(cst, [-1, 0, 1]).all():
            raise ValueError(f"`monotonic_cst` must hold -1, 0 and 1 only; got {cst.tolist()}.")


class PointwiseTreeRanker(TreeBoosting):
    """Base class of rankers that fit trees to the grade of each row by itself."""

    @with_callbacks
    def fit(
        self,
        X,
        y=None,
        groups=None,
        query_weight=None,
        sample_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. The loss takes each row by itself;
            queries are what is held out and sampled, and what scores are formed over. None takes
            all rows as one query, and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, not negative: a row of weight w is as good as w rows, in the loss,
            in `min_samples_leaf` and in the quantiles that bins are formed by. With `query_weight`,
            the loss has their product.
        X_val, y_val, groups_val : array-likes, default=None
            Validation rows. With `early_stopping` they take the place of held-out queries; without
            it they are scored after each round, in ``validation_score_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If an argument is invalid.
        """
        return self._fit(
            X, y, groups, query_weight, (X_val, y_val, groups_val), sample_weight=sample_weight
        )

    def _learnable(self, data):
        """Every row, alone in its query or not."""
        return np.ones(data.queries.n_queries, dtype=bool)
