# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of every ranker: validation, tags, metadata requests, score."""

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import _check_feature_names, _num_samples, validate_data

from sklearn_ltr.categories import (
    Categories,
    columns_of_frame,
    columns_of_matrix,
    encoded_frame,
    encoded_matrix,
)
from sklearn_ltr.columns import ENCODE, dtypes_of, explained
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.linear import weighted_sums
from sklearn_ltr.metrics.registry import get_metric
from sklearn_ltr.pairs import check_preferences
from sklearn_ltr.queries import (
    NO_GROUPS,
    QueryGroups,
    encode_groups,
    per_query,
    relative_weights,
    row_hash,
)
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.reduction import anywhere, check_same, count, everywhere, gathered, is_spread
from sklearn_ltr.scored_rows import check_whole_queries, query_digests, scoring_rows, watch
from sklearn_ltr.threads import number_of_threads
from sklearn_ltr.validation import (
    check_column,
    check_feature_sizes,
    check_grade_sizes,
    check_init_score,
    check_positive,
    check_predicted,
    check_propensity,
    check_sample_weight,
    warn_caller,
)


class BaseRanker(RegressorMixin, Estimator):
    """Base class of the rankers.

    A ranker learns scores from rows of features, a grade a row (`y`) and a query id a row
    (`groups`); within a query rows are to be put in descending order of their scores.
    """

    # Requested by default, so that `params={"groups": ids}` is enough in a search. `sample_weight`
    # because `Pipeline.score` names it. `propensity` also by rankers that do not take it, which can
    # then say why.
    __metadata_request__fit = {"groups": True, "query_weight": True, "propensity": True}
    __metadata_request__score = {"groups": True, "query_weight": True, "sample_weight": None}

    # Whether X may hold missing values and be sparse.
    _allow_nan = False
    _allow_sparse = False

    # Memory layout of X, where what `fit` finds depends on it in the last digits.
    _order = None

    # Whether features are multiplied or added up, and not only compared with each other.
    _computes_with_features = False

    # Why clicks cannot be weighed by `propensity`, and what to do; None if they can.
    _no_propensity = None

    # Whether NaN in y marks a row without a grade, which preferences may still tell of.
    _allow_unlabelled = False

    # The Categories found by `fit`; None if no feature is categorical.
    _categories = None

    # How many values a categorical feature may have; None: any number.
    _most_categories = None

    # What to do about a column of categories or strings.
    _how_to_encode = ENCODE

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allow_nan
        tags.input_tags.sparse = self._allow_sparse
        # Grades are ranked, not approximated: R^2 says nothing about a ranker.
        tags.regressor_tags.poor_score = True
        return tags

    @explain_keywords
    def score(self, X, y, groups=None, query_weight=None, sample_weight=None):
        """Mean NDCG@10 of the rankings that `predict` gives.

        Exponential gain, discount 1/log2(1 + position), tied scores by the expectation over their
        orders; queries without a relevant row are left out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Grades, not negative.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row; None takes all rows as one query, and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query, constant within a query.
        sample_weight : array-like of shape (n_samples,), default=None
            Multiplies `query_weight`, under the same rule.

        Returns
        -------
        score : float in [0, 1]
        """
        if groups is None:
            warn_caller(NO_GROUPS.format(n=len(y), method="score"), UserWarning)
        weights = {"query_weight": query_weight, "sample_weight": sample_weight}
        weights = [
            relative_weights(check_column(w, name, _num_samples(X)))
            for name, w in weights.items()
            if w is not None
        ]
        weight = np.prod(weights, axis=0) if weights else None
        y_score = predict_queries(self, X, groups)
        y, y_score, groups, weight = only_labelled(y, y_score, groups, weight)
        return get_metric("ndcg@10")(y, y_score, groups=groups, query_weight=weight)

    # What ``n_iter_`` counts.
    _step = "iteration"

    def _check_is_fitted(self):
        """Raise NotFittedError if there is no model; it says so if a fit did not end."""
        if self.__sklearn_is_fitted__():
            return
        name = type(self).__name__
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(f"This {name} is not fitted yet: call `fit` first.")
        n_steps = getattr(self, "n_iter_", 0)
        after = f" after {n_steps} {self._step}{'s'[: n_steps - 1]}" if n_steps else ""
        raise NotFittedError(
            f"This {name} is not fitted: its last `fit` was interrupted or failed{after}. "
            f"{self._how_to_go_on()}"
        )

    def _how_to_go_on(self):
        """What to do after a fit that did not end."""
        return "Call `fit` again, which starts anew."

    def _n_threads(self):
        return number_of_threads(self.n_jobs)

    def _validate_X(self, X, *, name="X", **kwargs):
        """`X` as an array or canonical CSR matrix of float32 or float64.

        Of categorical features it has the codes.
        """
        predicts = not kwargs.get("reset", True)
        if predicts and "y" not in kwargs and self._is_valid(X):
            X = self._encode_matrix(X, name, False)
            watch(vars(self).get("_trained_on"), X)
            return X
        if is_frame := dtypes_of(X) is not None:
            X = self._encode_frame(X, name, not predicts)
        with explained(X, kwargs.get("y"), name, self._how_to_encode):
            result = validate_data(
                self,
                X,
                accept_sparse="csr" if self._allow_sparse else False,
                dtype=[np.float64, np.float32],
                order=self._order,
                ensure_all_finite="allow-nan" if self._allow_nan else True,
                ensure_min_samples=0 if is_spread() else 1,
                **kwargs,
            )
        X, *y = result if isinstance(result, tuple) else (result,)
        if sparse.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if not is_frame:
            X = self._encode_matrix(X, name, not predicts)
        if predicts:
            watch(vars(self).get("_trained_on"), X)
        return (X, *y) if y else X

    def _categorical_columns(self, X):
        """Numbers of the columns of a frame, or of a validated matrix, that are categorical."""
        return ()

    def _categorical_features(self):
        """Numbers of the features that `fit` took as categorical."""
        return () if self._categories is None else np.flatnonzero(self._categories.is_categorical)

    def _encode_frame(self, X, name, reset):
        """A frame with codes in the place of categories; with `reset`, find them first."""
        if reset:
            self._categories = None
            columns = columns_of_frame(X, self._categorical_columns(X), name)
            _check_same_features(columns, X.shape[1])
            if columns:
                self._categories = Categories.of_columns(columns, X.shape[1], self._most_categories)
        else:
            if hasattr(self, "feature_names_in_"):
                _check_feature_names(self, X, reset=False)
            as_fitted = X.shape[1] == self.n_features_in_
            columns = columns_of_frame(X, self._categorical_features() if as_fitted else (), name)
        return encoded_frame(X, columns, self._categories) if columns else X

    def _encode_matrix(self, X, name, reset):
        """`_encode_frame` of a validated matrix."""
        if reset:
            self._categories = None
            features = self._categorical_columns(X)
            _check_same_features(features, X.shape[1])
        else:
            features = self._categorical_features()
        if len(features) == 0:
            return X
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        columns = columns_of_matrix(X, features, lambda k: f"Column {names[k]!r} of `{name}`")
        if reset:
            self._categories = Categories.of_columns(columns, X.shape[1], self._most_categories)
        return encoded_matrix(X, columns, self._categories)

    def _forget_unweighted(self, X, *weights):
        """Forget categories that only rows of weight 0 have, so that these leave no trace."""
        counted = np.ones(X.shape[0], dtype=bool)
        for name, weight in weights:
            if weight is not None:
                counted &= check_column(weight, name, X.shape[0], finite=False) > 0
        self._categories, X = self._categories.kept(X, counted)
        return X

    def _is_valid(self, X):
        """Whether `X` surely is what `validate_data` would return as it is, without a word.

        That takes longer than to score a row. What is not sure is left to it, and so are errors.
        """
        fitted = vars(self)
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and (X.dtype == np.float64 or X.dtype == np.float32)
            and X.shape[0] > 0
            and X.shape[1] == fitted.get("n_features_in_")
            and "feature_names_in_" not in fitted
            and (self._order is None or X.flags.c_contiguous)
            and (not np.isinf(X).any() if self._allow_nan else bool(np.isfinite(X).all()))
        )

    def _validate_training_data(
        self,
        X,
        y,
        groups,
        query_weight,
        *,
        preferences=None,
        preference_weight=None,
        preference_margin=None,
        sample_weight=None,
        init_score=None,
        propensity=None,
        reset=True,
    ):
        """Check the arguments of `fit` and put the rows into canonical order.

        Queries and rows of zero weight are removed. Sets ``n_queries_``, ``n_queries_skipped_``
        and, from grades, ``grades_``. With `reset`, forgets an earlier fit first.

        Returns
        -------
        data : RankingData
            Of rows without a grade, `y` is NaN.
        """
        if reset:
            self._forget()
        if is_spread():
            given = X, y, groups, query_weight, preferences, sample_weight, init_score, propensity
            self._check_ranks(given, reset)
        if preferences is None:
            of_pairs = {
                "preference_weight": preference_weight,
                "preference_margin": preference_margin,
            }
            for name, values in of_pairs.items():
                if values is not None:
                    raise ValueError(f"`{name}` is of given pairs: give `preferences`, too.")
        self._check_takes_propensity(propensity, preferences)
        if preferences is None or (y is not None and self._allow_unlabelled):
            X, y = self._validate_X_y(X, y, reset)
            if groups is None and preferences is None:
                warn_caller(NO_GROUPS.format(n=len(y), method="fit"), UserWarning)
        elif y is not None:
            raise ValueError("Give `y` or `preferences`, not both.")
        else:
            X = self._validate_X(X, reset=reset)
            y = np.full(X.shape[0], np.nan)
        check_grade_sizes(y)
        if reset and self._categories is not None:
            X = self._forget_unweighted(
                X, ("query_weight", query_weight), ("sample_weight", sample_weight)
            )
        if self._computes_with_features:
            check_feature_sizes(X, self._feature_name)
        check_same({"the size of a number": X.dtype.itemsize})
        if count(X.shape[0]) == 0:
            raise ValueError("No rank has a row.")
        self._note_queries(X, groups, reset)
        if preferences is not None:
            preferences = check_preferences(
                preferences, preference_weight, preference_margin, X.shape[0]
            )
            if groups is None:
                groups = preferences.queries()
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, len(y))
        if propensity is not None:
            propensity = check_propensity(propensity, "propensity", len(y))
            propensity = np.maximum(propensity, getattr(self, "propensity_clip", 0))
        data = self._group(
            X,
            y,
            groups,
            query_weight,
            preferences=preferences,
            sample_weight=sample_weight,
            init_score=check_init_score(init_score, "init_score", len(y)),
            propensity=propensity,
        )
        grades = data.distinct(data.y)
        if len(grades):
            self.grades_ = grades
        self.n_queries_ = data.count(data.n_queries)
        learnable = self._learnable(data)
        self.n_queries_skipped_ = int(data.sum(~learnable))
        if not data.any(learnable):
            raise ValueError(
                f"No query has two rows of different grades, so that no preference pair exists: "
                f"found {data.count(data.n_samples)} sample(s) in {self.n_queries_} queries."
            )
        return data

    def _check_takes_propensity(self, propensity, preferences):
        """Refuse propensities where clicks are not weighed by them."""
        if hasattr(self, "propensity_clip"):
            check_positive(self.propensity_clip, "propensity_clip", maximum=1, zero=True)
        if propensity is None:
            return
        if self._no_propensity is not None:
            raise ValueError(
                f"{type(self).__name__} takes no `propensity`, as {self._no_propensity}."
            )
        if preferences is not None:
            raise ValueError(
                "`propensity` weighs pairs of grades by the row that is clicked; `preferences` "
                "have weights of their own: give 1 / propensity of each winner as "
                "`preference_weight`."
            )

    # Why it takes no rows of several ranks, and what to do; None if it does.
    _why_not_spread = (
        "its sums over rows are rounded, or it looks at all rows at once. Fit it to all rows in "
        "one process, or take LambdaMART or RegressionRanker"
    )

    def _reason_not_to_spread(self):
        """The same, with its parameters."""
        return self._why_not_spread

    def _check_ranks(self, given, reset):
        """Refuse rows of several ranks, if need be, and arguments that differ between these."""
        name = type(self).__name__
        if (why := self._reason_not_to_spread()) is not None:
            raise NotImplementedError(f"{name} takes no rows of several ranks: {why}.")
        names = "X", "y", "groups", "query_weight", "preferences", "sample_weight", "init_score"
        names += ("propensity",)
        is_given = {name: value is not None for name, value in zip(names, given, strict=True)}
        check_same({f"whether `{name}` is given": int(flag) for name, flag in is_given.items()})
        check_same({"whether they go on with an earlier fit": int(not reset)})
        if is_given["preferences"]:
            raise NotImplementedError(
                f"{name} takes no `preferences` with rows of several ranks: give grades in `y`, or "
                "fit all rows in one process."
            )
        if not is_given["groups"]:
            raise ValueError(
                f"{name} needs `groups` with rows of several ranks: the rows of a query are on one."
            )

    def _note_queries(self, X, groups, reset):
        """Keep what tells a scorer which queries were trained on, 16 bytes for each."""
        earlier = None if reset else getattr(self, "_trained_on", None)
        self._trained_on = None
        if groups is not None:
            self._trained_on = gathered(query_digests(X, groups, self._n_threads()))
            check_whole_queries(self._trained_on[:, 0], "groups")
        if earlier is not None and groups is not None:
            self._trained_on = np.unique(np.concatenate([earlier, self._trained_on]), axis=0)

    def _warn_if_constant(self, data, scores, remedy):
        """Say that nothing was learnt, where the scores of the training rows are all the same."""
        if data.smallest(scores) == data.largest(scores):
            warn_caller(
                f"{type(self).__name__} found nothing to rank by: all training rows have the same "
                f"score. {remedy}",
                ConstantModelWarning,
            )

    def _feature_name(self, k):
        """What to call a feature in a message."""
        names = getattr(self, "feature_names_in_", None)
        return f"feature {k}" if names is None else f"feature {names[k]!r}"

    def _forget(self):
        """Drop what an earlier fit found.

        A fit that fails half-way then leaves a ranker that is not fitted, and not the old model
        beside the new number of features, by which `predict` would read outside of `X`.
        """
        # All at once, as an interrupt may come between two deletions.
        self.__dict__ = {
            name: value
            for name, value in vars(self).items()
            if name.startswith("_") or not name.endswith("_")
        }

    def _learnable(self, data):
        """Which queries there is something to learn from: those with a preference pair."""
        return data.with_pairs

    def _validate_X_y(self, X, y, reset):
        if not self._allow_unlabelled or y is None:
            X, y = self._validate_X(X, y=y, y_numeric=True, reset=reset)
            return X, check_column(y, "y")
        X = self._validate_X(X, reset=reset)
        check_column(y, "y", X.shape[0], finite="allow-nan")
        return X, column_or_1d(y, warn=True, dtype=np.float64)

    def _validate_validation_data(self, X, y, groups, init_score=None, propensity=None):
        """Check ``X_val`` and what goes with it, as `_validate_training_data`."""
        if X is None or y is None:
            raise ValueError("`X_val` and `y_val` go together: give both or none.")
        X = self._validate_X(X, name="X_val", reset=False)
        y = check_column(
            y, "y_val", X.shape[0], finite="allow-nan" if self._allow_unlabelled else True
        )
        if everywhere(np.isnan(y)):
            raise ValueError("`y_val` is NaN at every row, so that there is nothing to judge by.")
        if groups is None:
            message = NO_GROUPS.format(n=len(y), method="fit").replace("`groups`", "`groups_val`")
            warn_caller(message, UserWarning)
        others = {"init_score": check_init_score(init_score, "init_score_val", len(y))}
        if propensity is not None:
            others["propensity"] = check_propensity(propensity, "propensity_val", len(y))
        return self._group(X, y, groups, None, name="groups_val", **others)

    def _group(
        self,
        X,
        y,
        groups,
        query_weight,
        name="groups",
        preferences=None,
        sample_weight=None,
        init_score=None,
        propensity=None,
    ):
        queries = QueryGroups.from_ids(groups, len(y), name=name)
        weight = (
            np.ones(queries.n_queries) if query_weight is None else per_query(query_weight, queries)
        )
        row_weight = np.empty(len(y))
        row_weight[queries.order] = np.repeat(weight, queries.sizes)
        content = [] if preferences is None else preferences.columns()
        if not np.isnan(y).all():
            content.append(y)
        if sample_weight is not None:
            content.append(sample_weight)
        if init_score is not None:
            content.append(init_score)
        if propensity is not None:
            content += _of_clicks(y, queries, propensity)
        keys = row_hash(X, *content, row_weight, n_threads=self._n_threads())
        if sample_weight is not None:
            keys[sample_weight == 0] = 0  # so that they leave no trace in the order of queries
        queries = QueryGroups.from_ids(groups, len(y), keys=keys)
        if sample_weight is not None:
            queries = queries.keep_rows(sample_weight[queries.order] > 0)
            sample_weight = sample_weight[queries.order]
        if init_score is not None:
            init_score = init_score[queries.order]
        if propensity is not None:
            propensity = propensity[queries.order]
        y, weight = y[queries.order], row_weight[queries.order][queries.offsets[:-1]]
        if not anywhere(weight):
            raise ValueError("`query_weight` or `sample_weight` is zero at every row.")
        if preferences is not None:
            _check_within_queries(preferences, queries)
        data = RankingData(
            y,
            queries,
            weight,
            X,
            sample_weight,
            preferences,
            init_score,
            propensity,
            n_threads=self._n_threads(),
        )
        return data if (weight > 0).all() else data.select(weight > 0)


class LinearRanker(BaseRanker):
    """Base class of rankers whose score is a weighted sum of the features, ``coef_``."""

    _allow_sparse = True
    _computes_with_features = True
    _order = "C"

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    @explain_keywords
    def predict(self, X):
        """Scores; within a query, a higher score ranks higher.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            Equal rows have equal scores, to the last bit.

        Raises
        ------
        ValueError
            If `X` is invalid, or a score overflows.
        """
        self._check_is_fitted()
        X = self._validate_X(X, reset=False)
        return check_predicted(weighted_sums(X, self.coef_, self._n_threads()))


def _check_same_features(categorical, n_features):
    """Raise ValueError where ranks have other features, or take others for categories."""
    if is_spread():
        check_same({"the number of features": n_features})
        found = set(map(int, categorical))
        check_same({f"whether feature {k} is categorical": k in found for k in range(n_features)})


def _of_clicks(y, queries, propensity):
    """The propensities of the rows that are clicked, and 1 of others; none if they are equal."""
    order = queries.order
    data = RankingData(y[order], queries, np.ones(queries.n_queries), propensity=propensity[order])
    if data.click_weight is None:
        return []
    column = np.ones(len(y))
    column[order] = np.where(data.clicked, data.propensity, 1.0)
    return [column]


def unwrap_search(estimator):
    """The estimator that a fitted search has found, or that is frozen, or the estimator itself."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        else:
            return estimator


def predict_queries(estimator, X, groups):
    """What an estimator predicts, which is told `groups` if it, or a step of it, asks for them.

    The ``predict`` of a search takes no groups; that of the estimator it has found does.
    """
    with scoring_rows(groups, _num_samples(X)) as rows:
        scores = predict_with_groups(estimator, X, groups)
    rows.warn()
    return scores


def predict_with_groups(estimator, X, groups):
    """The same, outside of a scorer."""
    estimator = unwrap_search(estimator)
    asks = asks_for_groups(estimator)
    return estimator.predict(X, groups=groups) if asks else estimator.predict(X)


def asks_for_groups(estimator):
    """Whether an estimator, or a step of it, ranks by queries."""
    try:
        return bool(get_routing_for_object(estimator).consumes("predict", ["groups"]))
    except NotImplementedError:  # scikit-learn has meta-estimators without routing
        return False


def _check_within_queries(preferences, queries):
    """Raise ValueError if a preference is between rows of two queries."""
    query = np.empty(queries.n_samples, dtype=np.intp)
    query[queries.order] = queries.query_of_row()
    across = query[preferences.winner] != query[preferences.loser]
    if across.any():
        p = int(np.flatnonzero(across)[0])
        pair = [int(preferences.winner[p]), int(preferences.loser[p])]
        raise ValueError(f"`preferences` has the pair {pair}, whose rows differ in `groups`.")


def only_labelled(y, y_score, groups, query_weight, name="y"):
    """The rows whose grade is not NaN; `groups` and `query_weight` may be None.

    `name` is that of `y` in error messages, where it has not one grade for each score.
    """
    grades = check_column(y, name, finite="allow-nan")
    if len(grades) != _num_samples(y_score):
        raise ValueError(
            f"`{name}` and the scores of the rows must have the same length; got {len(grades)} and "
            f"{_num_samples(y_score)}."
        )
    missing = np.isnan(grades)
    if not missing.any():
        return y, y_score, groups, query_weight
    if groups is not None:
        groups = encode_groups(groups, len(missing))[0][~missing]
    if query_weight is not None:
        query_weight = check_column(query_weight, "query_weight", len(missing), finite=False)
        query_weight = query_weight[~missing]
    return grades[~missing], np.asarray(y_score)[~missing], groups, query_weight
