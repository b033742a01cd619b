# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranking by one feature, or by given weights: what learning has to beat."""

from collections.abc import Mapping

import numpy as np
from sklearn.utils import check_array

from sklearn_ltr.base import LinearRanker
from sklearn_ltr.columns import column_number
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.labels import why_not_spread
from sklearn_ltr.metrics.registry import get_metric, refuses_negative_grades
from sklearn_ltr.metrics.training import check_switches, order_free
from sklearn_ltr.weak.column import column_of, columns_of

# Metrics that agree to this, relative to the best, tie.
TIE = 1e-9


class SingleFeatureRanker(LinearRanker):
    """The best single feature, or a weighted sum with given weights.

    Of all features, taken in descending or in ascending order, `fit` chooses the one that ranks the
    training queries best by a metric. What a model has learnt is what it gains over this.

    With `weights`, nothing is learnt, and the score is the weighted sum, such as the .8 BM25 + .2
    PageRank that [1]_ compares with. The weights can be tuned with a grid search.

    Read more in the :ref:`User Guide <single_feature>`.

    Parameters
    ----------
    scoring : str, metric or scorer, default="ndcg@10"
        What the feature is chosen by: a name that `sklearn_ltr.metrics.get_metric` knows, or what
        it or `sklearn_ltr.scorers.get_scorer` returns. Tied rows are scored as its switch `ties`
        says, but for the rules that go by the order of rows, in the place of which `fit` takes the
        expectation over all orders, and warns. Unused with `weights`.
    weights : mapping, array-like of shape (n_features,) or None, default=None
        Weight of each feature, or a mapping from the name or number of a column to its weight, in
        which other columns have weight 0. None chooses the best single feature.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Weight of each feature; ``X @ coef_`` are the scores. Without `weights`, 1 or -1 at
        ``feature_``, and 0 elsewhere.
    feature_ : int or None
        The feature chosen; None with `weights`.
    feature_scores_ : ndarray of shape (`n_features_in_`, 2) or None
        `scoring` of each feature on the training queries, in descending order (the row of the
        highest value first) and in ascending order; None with `weights`.
    n_queries_ : int
        Queries of positive weight.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries of one grade or one row.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    AdaRank : Adds up features that are best by a metric.

    Notes
    -----
    Values of `scoring` tie that agree to 1e-9 of the best; of tied features the one of the lowest
    index is chosen, in descending order if both orders tie. Queries of which the metric is
    undefined count as its switch `undefined` says; by default they are left out.

    References
    ----------
    .. [1] Tsai, Liu, Qin, Chen, Ma. "FRank: a ranking method with fidelity loss". SIGIR 2007,
       Table 4.

    Examples
    --------
    >>> from sklearn_ltr import SingleFeatureRanker
    >>> X = [[0.3, 7.0], [0.1, 4.0], [0.2, 2.0], [0.5, 9.0], [0.9, 8.0]]
    >>> y, groups = [0, 1, 2, 0, 1], ["a", "a", "a", "b", "b"]
    >>> ranker = SingleFeatureRanker().fit(X, y, groups=groups)
    >>> ranker.feature_, ranker.coef_
    (1, array([ 0., -1.]))
    >>> ranker.predict(X)
    array([-7., -4., -2., -9., -8.])
    >>> fixed = SingleFeatureRanker(weights={0: 0.8, 1: -0.2}).fit(X, y, groups=groups)
    >>> fixed.coef_
    array([ 0.8, -0.2])
    """

    # The one feature is compared only; a sum that overflows is an error of `predict`.
    _computes_with_features = False

    _no_propensity = (
        "a feature is chosen by a metric of the grades; fit it to the grades of "
        "ClickLog.to_training"
    )

    def __init__(self, scoring="ndcg@10", *, weights=None, n_jobs=None):
        self.scoring = scoring
        self.weights = weights
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        metric = getattr(self.scoring, "metric", self.scoring)
        tags.target_tags.positive_only = self.weights is None and refuses_negative_grades(metric)
        return tags

    @explain_keywords
    def fit(self, X, y, groups=None, query_weight=None):
        """Choose the feature, or check the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better. They must be such as `scoring` takes.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.

        Returns
        -------
        self : SingleFeatureRanker

        Raises
        ------
        ValueError
            If an argument is invalid, no query has rows of different grades, `scoring` is undefined
            in every query, or `weights` has another number of entries than there are features, or
            names a column that is not there.
        """
        metric = self._check_params()
        data = self._validate_training_data(X, y, groups, query_weight)
        if self.weights is not None:
            self.feature_ = self.feature_scores_ = None
            self.coef_ = self._given_weights()
            return self
        metric.check_grades(data.y)
        used = order_free(metric)
        check_switches(metric, used, data)
        self.feature_scores_ = self._score_features(used, data)
        best = self.feature_scores_.max()
        tied = self.feature_scores_ >= best - TIE * abs(best)
        self.feature_, ascending = divmod(int(tied.argmax()), 2)
        coef = np.zeros(self.n_features_in_)
        coef[self.feature_] = -1 if ascending else 1
        self.coef_ = coef
        x = column_of(data.X, self.feature_)[data.queries.order]
        self._warn_if_constant(data, x, "All features may be constant.")
        return self

    def _reason_not_to_spread(self):
        return why_not_spread(getattr(self._check_params(), "gain", None))

    def _check_params(self):
        """The metric, of `scoring`."""
        if getattr(self.scoring, "weighs_clicks", False):
            raise ValueError(
                "`scoring` weighs clicks by propensities, which `fit` does not take: give a scorer "
                "that was made without propensity=True."
            )
        return get_metric(getattr(self.scoring, "metric", self.scoring))

    def _score_features(self, metric, data):
        y, offsets, n_threads = data.y, data.offsets, data.n_threads
        if data.all(np.isnan(metric.of_queries(data, y))):
            raise ValueError(
                f"{metric.name} is undefined in every query, where no feature is best."
            )
        scores = np.empty((self.n_features_in_, 2))
        for j, x in enumerate(columns_of(data.X)):
            x = x[data.queries.order]
            for k, signed in enumerate((x, -x)):
                scores[j, k] = metric.on_groups(y, signed, offsets, data.query_weight, n_threads)
        return scores

    def _given_weights(self):
        if not isinstance(self.weights, Mapping):
            weights = check_array(
                self.weights, ensure_2d=False, dtype=np.float64, input_name="weights"
            )
            if weights.shape != (self.n_features_in_,):
                raise ValueError(
                    f"`weights` must have one entry for each of the {self.n_features_in_} "
                    f"features; got shape {weights.shape}. A mapping can name some of them."
                )
            return weights.copy()
        coef = np.zeros(self.n_features_in_)
        for column, weight in self.weights.items():
            coef[column_number(column, self, "weights")] = weight
        if not np.isfinite(coef).all():
            raise ValueError(f"`weights` must be finite; got {self.weights}.")
        return coef
