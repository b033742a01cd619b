# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What boosted rankers that grow trees have in common."""

from collections.abc import Iterator, Mapping
from numbers import Integral
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.utils import check_scalar, get_tags
from sklearn.utils.validation import has_fit_parameter

from sklearn_ltr.binning import MOST_CATEGORIES, Binner, Unbinned
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.categories import FROM_DTYPE, check_parameter, described, named_features
from sklearn_ltr.columns import column_number, dtypes_of, is_category_dtype
from sklearn_ltr.validation import check_choice, check_positive
from sklearn_ltr.weak.attribution import PathAttribution
from sklearn_ltr.weak.learners import FEATURES, RegressorLearner, TreeLearner
from sklearn_ltr.weak.tree import Tree, TreeGrower, symmetric_depth

BINNINGS = ("quantile", "adaptive")
GROW_POLICIES = ("leafwise", "symmetric")
INTERACTIONS = {"pairwise": 2, "no_interactions": 1}  # how many features go together

# A symmetric tree may have two to the power of its levels of leaves, each with a histogram.
MAX_SYMMETRIC_DEPTH = 16

# What is drawn in a round: the key of its seed. Keys from FEATURES on are one for each output.
ROWS = 0

# What was made of models for `contributions`, by the predictor: not stored with a ranker, and gone
# with its model.
ATTRIBUTIONS = WeakKeyDictionary()


class TreeBoosting(BoostedRanker):
    """Base class of rankers that boost regression trees; holds the parameters that shape them.

    Where a subclass has a parameter `estimator`, a regressor in it takes the place of the trees.
    """

    estimator = None  # of rankers that know trees only
    _weak = Tree  # what its terms are of, where they are stored
    _most_categories = MOST_CATEGORIES
    _how_to_encode = (
        "Name it in `categorical_features`, as a column of a frame, or set that to "
        f'"{FROM_DTYPE}" if it is of a categorical dtype; texts are for BM25Features.'
    )

    @property
    def categories_(self):
        """The values of each categorical feature by their codes, and None for others: list."""
        self._check_is_fitted()
        if self._categories is None:
            return [None] * self.n_features_in_
        return list(self._categories.values)

    @property
    def n_splits_(self):
        """Number of splits on each feature: ndarray of shape (`n_features_in_`,), dtype intp."""
        self._check_is_fitted()
        return self.model_.first(self.best_iteration_).importances()[1]

    @property
    def expected_score_(self):
        """What `contributions` are added to, float: the mean of the trees over training rows.

        Each tree has its own mean, over the rows and weights it was grown on; this is their sum.
        """
        self._check_is_fitted()
        try:
            return self._attribution().expectation
        except (TypeError, ValueError) as error:
            raise AttributeError(str(error)) from error

    def contributions(self, X):
        """What each feature adds to the scores: Shapley values, dependent on the paths of trees.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features), dtype float64
            In the units of the scores; 0 for features that are not used. ``expected_score_`` and
            the sum of a row are ``predict(X)``, up to rounding. Always dense.

        Raises
        ------
        NotFittedError
            If the ranker is not fitted.
        TypeError
            If the score is no sum of trees, but of regressors given as `estimator`.
        ValueError
            If `X` is invalid, or the model was stored before trees kept how many rows came to their
            nodes.

        See Also
        --------
        sklearn_ltr.plotting.ContributionsDisplay : Draws those of a row, or of two rows.

        Notes
        -----
        They are the values of TreeSHAP [1]_, exactly: what a feature adds to the expected score
        where it becomes known, averaged over all orders in which features become known. The
        expectation where a feature is not known goes down both sides of its splits, by the weight
        of the training rows that did (`feature_perturbation="tree_path_dependent"` of the package
        shap). They are therefore relative to the mean of training rows, unlike those of rankers of
        stumps, which are the terms of the sum that the score is. Differences between two rows of a
        query are what explains a ranking.

        References
        ----------
        .. [1] Lundberg, Erion, Lee. "Consistent Individualized Feature Attribution for Tree
           Ensembles". arXiv 1802.03888, 2018.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_ltr import LambdaMART
        >>> from sklearn_ltr.datasets import make_ranking
        >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
        >>> ranker = LambdaMART(n_estimators=50).fit(X, y, groups=groups)
        >>> contributions = ranker.contributions(X)
        >>> contributions.shape == X.shape
        True
        >>> scores = ranker.expected_score_ + contributions.sum(axis=1)
        >>> np.allclose(scores, ranker.predict(X), rtol=0, atol=1e-10)
        True
        """
        self._check_is_fitted()
        attribution = self._attribution()
        X = self._validate_X(X, reset=False)
        return attribution.contributions(X, self._n_threads())

    def _attribution(self):
        """What knows the contributions to the scores of the model that `predict` uses."""
        if self._predictor not in ATTRIBUTIONS:
            terms = self.model_.first(self.best_iteration_).terms
            if regressors := [weak for _, weak in terms if not isinstance(weak, Tree)]:
                raise TypeError(
                    f"The score is a sum of regressors, given as `estimator`: {regressors[-1]!r}. "
                    "Exact contributions of features are known of trees, with estimator=None. "
                    "sklearn_ltr.model_selection.permutation_importance works for every ranker."
                )
            ATTRIBUTIONS[self._predictor] = PathAttribution(terms)
        return ATTRIBUTIONS[self._predictor]

    _why_not_spread = None

    def _reason_not_to_spread(self):
        if self.estimator is not None:
            return (
                "a regressor given as `estimator` sees the rows of one rank only. Set "
                "estimator=None"
            )
        return super()._reason_not_to_spread()

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
            min_samples_category=self.min_samples_category,
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
        if self.estimator is not None:
            return Unbinned()
        numbers = None if self._categories is None else self._categories.numbers
        return Binner(self.max_bins, self.binning, numbers)

    def _categorical_columns(self, X):
        value, dtypes = self.categorical_features, dtypes_of(X)
        if value is None or self.estimator is not None:
            return ()
        if isinstance(value, str):  # by dtype
            return [j for j, dtype in enumerate(dtypes or ()) if is_category_dtype(dtype)]
        return self._named_categorical(self if dtypes is None else described(X))

    def _named_categorical(self, fitted):
        return np.flatnonzero(named_features(self.categorical_features, fitted))

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
        check_parameter(self.categorical_features)
        check_scalar(self.min_samples_category, "min_samples_category", Integral, min_val=1)
        named = self.categorical_features is not None and not isinstance(
            self.categorical_features, str
        )
        if self.estimator is not None and named:
            raise ValueError(
                "`categorical_features` is of trees; a regressor given as `estimator` would take "
                "codes for numbers. Encode them in its pipeline, or set categorical_features=None."
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
        if not isinstance(self.categorical_features, str):
            now = () if self.categorical_features is None else self._named_categorical(self)
            if not np.array_equal(now, self._categorical_features()):
                raise ValueError(
                    "warm_start=True goes on with the rounds already fitted, and "
                    "`categorical_features` now names other features. Set it back, or start anew "
                    "with warm_start=False."
                )
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
        if self._categories is not None and (cst[self._categories.is_categorical] != 0).any():
            k = int(np.flatnonzero((cst != 0) & self._categories.is_categorical)[0])
            raise ValueError(
                f"`monotonic_cst` has {cst[k]} for {self._feature_name(k)}, which is categorical: "
                "its values have no order. Set it to 0."
            )
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
    """Whether it holds others, as a list, a set, a tuple or an array does, more than once."""
    return np.iterable(value) and not isinstance(value, (str, bytes, Mapping, Iterator))
