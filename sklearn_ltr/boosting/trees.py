# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What boosted rankers that grow trees have in common."""

from collections.abc import Mapping
from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar, get_tags
from sklearn.utils.validation import has_fit_parameter

from sklearn_ltr.binning import Binner, Unbinned
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.columns import column_number
from sklearn_ltr.validation import check_choice, check_positive
from sklearn_ltr.weak.learners import FEATURES, RegressorLearner, TreeLearner
from sklearn_ltr.weak.tree import Tree, TreeGrower, symmetric_depth

BINNINGS = ("quantile", "adaptive")
GROW_POLICIES = ("leafwise", "symmetric")
INTERACTIONS = {"pairwise": 2, "no_interactions": 1}  # how many features go together

# A symmetric tree may have two to the power of its levels of leaves, each with a histogram.
MAX_SYMMETRIC_DEPTH = 16

# What is drawn in a round: the key of its seed. Keys from FEATURES on are one for each output.
ROWS = 0


class TreeBoosting(BoostedRanker):
    """Base class of rankers that boost regression trees; holds the parameters that shape them.

    Where a subclass has a parameter `estimator`, a regressor in it takes the place of the trees.
    """

    estimator = None  # of rankers that know trees only
    _weak = Tree  # what its terms are of, where they are stored

    @property
    def n_splits_(self):
        """Number of splits on each feature: ndarray of shape (`n_features_in_`,), dtype intp."""
        self._check_is_fitted()
        return self.model_.first(self.best_iteration_).importances()[1]

    def _grower(self, train):
        return TreeGrower(
            train.binned,
            train.data.n_threads,
            grow_policy=self.grow_policy,
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            max_features=self.max_features,
            monotonic_cst=self._directions(),
            interaction_cst=self._interactions(),
        )

    def _learner(self, train):
        """The weak learner of least squares: trees, or the regressor given."""
        if self.estimator is None:
            return TreeLearner(self._grower(train), train.data)
        return RegressorLearner(self.estimator, train.data, train.binned)

    def _sample(self, data, k):
        """The rows to grow the trees of round k on; None for all."""
        if self.subsample == 1:
            return None
        return data.sample_queries(self.subsample, data.seed(k, ROWS))

    def _tree_seed(self, data, k, output=0):
        """What draws the features of the tree of round k for an output."""
        return data.seed(k, FEATURES + output) if self.max_features < 1 else 0

    def _draws(self):
        """Whether a round is random, so that one without a split says nothing of the next."""
        return self.subsample < 1 or (self.estimator is None and self.max_features < 1)

    def _make_binner(self):
        return Binner(self.max_bins, self.binning) if self.estimator is None else Unbinned()

    @property
    def _allow_nan(self):
        return self.estimator is None or get_tags(self.estimator).input_tags.allow_nan

    @property
    def _allow_sparse(self):
        return self.estimator is None or get_tags(self.estimator).input_tags.sparse

    def _check_params(self):
        super()._check_params()
        check_choice(self.grow_policy, "grow_policy", GROW_POLICIES)
        check_scalar(self.max_leaf_nodes, "max_leaf_nodes", Integral, min_val=2)
        if self.max_depth is not None:
            check_scalar(self.max_depth, "max_depth", Integral, min_val=1)
        if self.grow_policy == "symmetric":
            depth = symmetric_depth(self.max_leaf_nodes, self.max_depth)
            if depth > MAX_SYMMETRIC_DEPTH:
                raise ValueError(
                    f"Symmetric trees have at most {MAX_SYMMETRIC_DEPTH} levels of splits; "
                    f"max_leaf_nodes={self.max_leaf_nodes} and max_depth={self.max_depth} ask for "
                    f"{depth}. Set `max_depth` to {MAX_SYMMETRIC_DEPTH} or less."
                )
        check_scalar(self.min_samples_leaf, "min_samples_leaf", Integral, min_val=1)
        check_positive(self.l2_regularization, "l2_regularization", zero=True)
        for name in ("max_features", "subsample"):
            if getattr(self, name) != 1:
                check_positive(getattr(self, name), name, maximum=1)
        check_choice(self.binning, "binning", BINNINGS)
        for name in ("monotonic_cst", "interaction_cst"):
            if self.estimator is not None and getattr(self, name) is not None:
                raise ValueError(
                    f"`{name}` constrains trees, and `estimator` takes their place: give it such "
                    f"a constraint of its own, and {name}=None here."
                )
        if self.estimator is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"`estimator` must be a regressor whose `fit` takes `sample_weight`; got "
                f"{self.estimator!r}."
            )

    def _restart(self, data):
        self._check_constraints()
        super()._restart(data)

    def _check_continuation(self):
        self._check_constraints()
        super()._check_continuation()

    def _check_constraints(self):
        self._directions()
        self._interactions()

    def _directions(self):
        """`monotonic_cst` with an entry for each feature: ndarray (n_features,), or None."""
        cst = self.monotonic_cst
        if cst is None:
            return None
        if isinstance(cst, Mapping):
            names = list(getattr(self, "feature_names_in_", ()))
            for name in cst:
                if name not in names:  # nor is a number, as JSON has no numbers as keys
                    raise ValueError(
                        f"`monotonic_cst` has {name!r}, which names no column of `X`: they "
                        f"{f'are named {names}' if names else 'have no names'}."
                    )
            cst = [cst.get(name, 0) for name in names]
        cst = np.asarray(cst)
        if cst.shape != (self.n_features_in_,):
            raise ValueError(
                f"`monotonic_cst` must have one entry for each of the {self.n_features_in_} "
                f"features; got shape {cst.shape}."
            )
        if not np.isin(cst, [-1, 0, 1]).all():
            raise ValueError(f"`monotonic_cst` must hold -1, 0 and 1 only; got {cst.tolist()}.")
        return cst

    def _interactions(self):
        """`interaction_cst` as a `TreeGrower` takes it."""
        cst, every = self.interaction_cst, range(self.n_features_in_)
        if cst is None:
            return None
        if isinstance(cst, str) and cst in INTERACTIONS:
            return INTERACTIONS[cst]
        if not _is_collection(cst) or not all(map(_is_collection, cst)):
            raise ValueError(
                f"`interaction_cst` must be one of {list(INTERACTIONS)} or a sequence of groups of "
                f"features, as in [{{0, 1}}, {{2, 3}}]; got {cst!r}."
            )
        groups = [{column_number(x, self, "interaction_cst") for x in group} for group in cst]
        rest = set(every).difference(*groups)
        return [*groups, rest] if rest else groups


def _is_collection(value):
    """Whether it holds others, as a list, a set, a tuple or an array does."""
    return np.iterable(value) and not isinstance(value, (str, bytes, Mapping))
