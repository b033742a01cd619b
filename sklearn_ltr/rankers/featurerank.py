# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FeatureRank: boosting of the orders hidden in single features."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.base import BaseRanker
from sklearn_ltr.columns import column_number
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.metrics.registry import refuses_negative_grades
from sklearn_ltr.metrics.training import check_switches, order_free
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.scored_rows import check_groups_arrived
from sklearn_ltr.validation import check_choice
from sklearn_ltr.weak.hidden_order import NEIGHBORS, ClassCenters, HiddenOrder


class FeatureRank(BaseRanker):
    r"""Boosting of the orders that the ground truth hides in single features.

    Each training query, in the order of its grades, is cut into K intervals of equal length, the
    classes. The mean value of a feature in each class shows which of its values go with the top of
    the list and which with the bottom: high ones, low ones, or those in the middle. By these class
    centres a weak ranker :math:`h_m` orders the rows of a query, one for each feature m, and
    boosting adds them up [1]_:

    .. math:: F = \sum_{m=1}^M \beta_m h_m .

    There is one pass over the features, in the order of the columns, and nothing is optimised: a
    fit takes O(n log n) for each feature. It is made for lists in which each row has a rank of its
    own.

    :math:`h_m` is the rank of a row within its query. So `predict` needs `groups`, and has only a
    stand-in without them.

    Read more in the :ref:`User Guide <featurerank>`.

    Parameters
    ----------
    n_classes : int, default=16
        Classes, the paper's :math:`K`, at least 2.
    columns : int, sequence of int or str, or None, default=None
        The features and their order: the first so many, the paper's :math:`M`, or these, by number
        or name. None takes all.
    metric : str or metric, default="kendall"
        The paper's :math:`E`, between -1 and 1, by which :math:`\beta` and :math:`w` go: a name
        that `sklearn_ltr.metrics.get_metric` knows, or what it returns. "kendall" is the paper's
        (1), but for the pairs that the Notes speak of, which count by the formula with
        ``get_metric("kendall", ties="agree", denominator="all")``. The paper also weighs MAP and
        NDCG. In the place of rules for ties that go by the order of rows, `fit` takes the
        expectation over all orders, and warns.
    neighbor : {"higher", "lower"}, default="higher"
        The class with whose centre that of a class is compared in equation (4), which is
        misprinted: the next higher one, with the two cases exchanged, or the next lower one, as by
        the text of section 3.2.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it.

    Attributes
    ----------
    columns_ : ndarray of shape (n_columns,), dtype intp
        Numbers of the features in the order that they were taken in: all, unless `columns` says
        otherwise.
    centers_ : ndarray of shape (n_columns, `n_classes`)
        The paper's :math:`C_l` of each feature, of the classes 1 (bottom of the list) to K (top).
    beta_ : ndarray of shape (n_columns,)
        The paper's :math:`\beta_m`, the weights of the features. Negative where a feature's order
        contradicts the grades in the queries that weigh most.
    train_loss_ : ndarray of shape (n_columns,)
        Weighted mean of (1 - E) / 2 of the training queries after each feature, with "kendall" the
        Kendall tau distance :math:`T` (2). It may rise.
    n_queries_ : int
        Queries of positive weight.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries of one grade or one row, and those that `metric`
        is undefined for.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    sklearn_ltr.preprocessing.QueryScaler : Brings features to the same range in every query, which
        should come first.
    RankBoost : Also non-linear in single features, and chooses which to use.

    Notes
    -----
    Where the paper leaves a choice, or cannot be followed to the letter:

    - *KNN* is not k-nearest neighbours. A value belongs to the class with the nearest centre, in
      training, too: a row's own grade does not place it. Of two centres that are equally near, that
      of the higher class counts.
    - Centres are means over queries of the means in each query, so that each query counts the same.
    - Intervals have exactly equal length, :math:`n / K` rows, whatever the grades in them. A row
      that a border cuts belongs to both sides in parts; so K need not divide :math:`n`, nor be
      smaller. Rows of one grade share the intervals that they cover evenly, and their order does
      not matter.
    - As printed, the two cases of equation (4) use :math:`C_0` and :math:`C_{K+1}`. By default they
      are exchanged: within class l the sign of :math:`C_{l+1} - C_l` counts, in class K that of
      :math:`C_K - C_{K-1}`. With ``neighbor="lower"`` the first case is that of l > 1, and in class
      1 :math:`C_2 - C_1` counts. Where the difference is 0, the rows of the class tie.
    - :math:`h_m` is :math:`(r - 1/2) / n`, with r = n for the first of n rows; rows that tie share
      the mean of their ranks. Within a query that is the paper's rank, up to its scale.
    - T is the share of the pairs of rows *of different grades* that are in the wrong order, and a
      tied pair counts half, both for :math:`h_m` and for the sums :math:`f_m`. By the paper's
      formula it would count as right, and a constant feature would be a perfect ranker; now it has
      :math:`E = 1 - 2 T = 0` and :math:`\beta = 0`.
    - :math:`\beta_m` would be infinite for a feature that puts every pair of every query into the
      right order, or the wrong one. It is capped at 18.4, where :math:`1 - |E|` is the machine
      epsilon.
    - `query_weight` multiplies :math:`w`, and weights queries in the centres.

    **Without groups** `predict` puts in the place of the rank within a query the rank that the row
    would have among the training rows, interpolated, from at most 1,000 quantiles of each feature.
    This ranks rows of all queries alike. It makes plain pipelines work, and is good as far as
    features mean the same in all queries; it does not give the paper's ranking. `score` and the
    scorers of this package hand `groups` on.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit. It does depend on the order of the columns.

    References
    ----------
    .. [1] Wang, Mao. "FeatureRank: A Non-linear Listwise Approach with Clustering and Boosting".

    Examples
    --------
    >>> from sklearn_ltr import FeatureRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, query_shift=0, random_state=0)
    >>> ranker = FeatureRank(n_classes=8).fit(X, y, groups=groups)
    >>> scores = ranker.predict(X, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.8
    """

    __metadata_request__predict = {"groups": True}

    _computes_with_features = True

    _no_propensity = (
        "features are chosen by a measure of the grades of whole lists; fit it to the grades "
        "of ClickLog.to_training"
    )

    def __init__(
        self, n_classes=16, *, columns=None, metric="kendall", neighbor="higher", n_jobs=None
    ):
        self.n_classes = n_classes
        self.columns = columns
        self.metric = metric
        self.neighbor = neighbor
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = refuses_negative_grades(self.metric)
        return tags

    @explain_keywords
    def fit(self, X, y, groups=None, query_weight=None):
        """Fit the ranker.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite. A feature should have the same range in every query.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better. Only their order counts.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If an argument is invalid, no query has rows of different grades, or `metric` is
            undefined for all of these.
        """
        check_scalar(self.n_classes, "n_classes", Integral, min_val=2)
        check_choice(self.neighbor, "neighbor", NEIGHBORS)
        metric = self._performance()
        data = self._validate_training_data(X, y, groups, query_weight)
        self.columns_ = self._chosen_columns()
        data = data.select(self._learnable(data))
        queries, v = data.queries, data.query_weight
        class_centers = ClassCenters(data, self.n_classes)

        def E(scores):
            return metric.of_queries(data, scores)

        self._hidden_orders = []
        self.beta_, self.train_loss_ = np.zeros((2, len(self.columns_)))
        w = np.ones(len(v))
        f = np.zeros(len(data.y))
        for m, column in enumerate(self.columns_):  # Table 1
            values = data.X[queries.order, column].astype(np.float64)
            hidden_order = HiddenOrder(class_centers.of(values), values, self.neighbor)
            h = hidden_order.ranks(values, queries, data.n_threads)
            self.beta_[m] = beta_of(data.mean(E(h), v * w))
            f += self.beta_[m] * h  # f_m
            E_of_f = E(f)
            w = np.exp(-E_of_f)  # w_m
            self.train_loss_[m] = (1 - data.mean(E_of_f, v)) / 2
            self._hidden_orders.append(hidden_order)
        self.centers_ = np.array([order.centers for order in self._hidden_orders])
        self._warn_if_constant(data, f, "Features may be constant.")
        return self

    def _performance(self):
        """E, made such that it does not depend on the order of rows."""
        metric = get_metric(self.metric)
        if not metric.bounded:
            raise ValueError(
                f"`metric` must have values between -1 and 1, which {metric.name} has not; take "
                '"ndcg" or another metric.'
            )
        return order_free(metric)

    def _learnable(self, data):
        """Queries with rows of different grades, of which E says something."""
        metric, learnable = self._performance(), data.informative
        metric.check_grades(data.y)
        check_switches(get_metric(self.metric), metric, data)
        defined = learnable & ~np.isnan(metric.of_queries(data, data.y))
        if learnable.any() and not defined.any():
            raise ValueError(f"With these `y`, {metric.undefined_everywhere}.")
        return defined

    def _chosen_columns(self):
        """Numbers of the features in the order of the rounds."""
        columns = self.columns
        if columns is None:
            return np.arange(self.n_features_in_)
        if isinstance(columns, Integral):
            check_scalar(columns, "columns", Integral, min_val=1, max_val=self.n_features_in_)
            return np.arange(columns)
        if isinstance(columns, str) or np.ndim(columns) != 1 or len(columns) == 0:
            raise ValueError(
                "`columns` must be a number of columns, a sequence of numbers or names, or None; "
                f"got {columns!r}."
            )
        chosen = np.array([column_number(column, self, "columns") for column in columns])
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"`columns` must not name a column twice; got {columns!r}.")
        return chosen

    def __sklearn_is_fitted__(self):
        return hasattr(self, "centers_")

    @explain_keywords
    def predict(self, X, groups=None):
        """Scores; within a query, a higher score ranks higher.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes the ranks of single
            values among the training rows in the place of those within a query.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            With `groups`, scores depend on the other rows of the query.

        Raises
        ------
        ValueError
            If an argument is invalid.
        """
        *_, scores = self._stages(X, groups, "predict")
        return scores

    @explain_keywords
    def staged_predict(self, X, groups=None):
        """Scores after each feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite.
        groups : array-like of shape (n_samples,), default=None
            As of `predict`.

        Yields
        ------
        scores : ndarray of shape (n_samples,), dtype float64
            The paper's :math:`f_m`, for each of ``columns_`` in turn. The last are those of
            `predict`.

        Raises
        ------
        ValueError
            If an argument is invalid.
        """
        yield from self._stages(X, groups, "staged_predict")

    def _stages(self, X, groups, method):
        self._check_is_fitted()
        X = self._validate_X(X, reset=False)
        check_groups_arrived(groups, f"FeatureRank.{method}", len(X))
        queries = QueryGroups.from_ids(groups, len(X))
        f = np.zeros(len(X))
        columns = X[queries.order].T
        for beta, hidden_order, m in zip(
            self.beta_, self._hidden_orders, self.columns_, strict=True
        ):
            values = columns[m].astype(np.float64)
            if groups is None:
                f += beta * hidden_order.training_ranks(values)
            else:
                f += beta * hidden_order.ranks(values, queries, self._n_threads())
            scores = np.empty_like(f)
            scores[queries.order] = f
            yield scores


def beta_of(E):
    """beta_m from the weighted mean of E over the queries, capped where that is 1 or -1."""
    limit = 1 - np.finfo(np.float64).eps
    return np.arctanh(np.clip(E, -limit, limit))  # ln((1 + E) / (1 - E)) / 2
