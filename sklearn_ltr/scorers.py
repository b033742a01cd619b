# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranking metrics as scikit-learn scorers."""

from functools import partial

from sklearn_ltr.base import only_labelled, predict_queries
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.metrics import Metric, get_metric
from sklearn_ltr.validation import check_choice, check_propensity

__all__ = ["PropensityScorer", "RankingScorer", "get_scorer", "make_ranking_scorer"]

NO_GROUPS = (
    "A ranking scorer needs `groups`, the query id of each row, and got None. In a search or in "
    "cross-validation groups reach the scorer only with metadata routing: call "
    "sklearn.set_config(enable_metadata_routing=True), then search.fit(X, y, groups=g) or "
    'cross_val_score(..., params={"groups": g}).'
)
NO_PROPENSITY = (
    "This scorer was made with propensity=True and needs `propensity`, how likely each row was "
    "looked at; it got None. In a search or in cross-validation give it as groups are given: "
    'search.fit(X, clicks, groups=g, propensity=p) or cross_val_score(..., params={"groups": g, '
    '"propensity": p}), with metadata routing. Of true grades it is 1 everywhere.'
)


class RankingScorer(Estimator):
    """A ranking metric as a scorer for scikit-learn; `make_ranking_scorer` builds it.

    It can be given as `scoring`, alone or in a dict, wherever scikit-learn takes a scorer. With
    metadata routing it asks for `groups` and `query_weight`; ``set_score_request`` changes that.
    It is a `BaseEstimator` for its metadata requests and its parameters, not to be fitted.

    Parameters
    ----------
    metric : Metric or callable
        ``metric(y_true, y_score, groups=..., query_weight=...)`` -> float, higher is better.
    """

    __metadata_request__score = {"groups": True, "query_weight": True}

    # Whether clicks are weighed by propensities.
    weighs_clicks = False

    def __init__(self, metric):
        self.metric = metric

    def __repr__(self):
        return f"{type(self).__name__}(metric={self.metric!r})"

    @explain_keywords
    def __call__(self, estimator, X, y, groups=None, query_weight=None):
        """Score the rankings that an estimator gives.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a method ``predict(X)`` that gives a score a row. It receives `groups` too
            where it, or a step of a pipeline, requests them for ``predict``. A fitted search
            is replaced by its ``best_estimator_``, because its own ``predict`` takes no groups.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Grades. Rows where it is NaN, which `QBRank` takes as rows without a grade, are left
            out.
        groups : array-like of shape (n_samples,)
            Query id of each row.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query, constant within a query.

        Returns
        -------
        score : float

        Raises
        ------
        ValueError
            If `groups` is None.
        """
        return self._score(estimator, X, y, groups, query_weight)

    def _score(self, estimator, X, y, groups, query_weight, propensity=None):
        if groups is None:
            raise ValueError(NO_GROUPS)
        y_score, weights = predict_queries(estimator, X, groups), {}
        if propensity is not None:
            propensity = check_propensity(propensity, "propensity", len(y_score))
            weights["propensity"] = only_labelled(y, propensity, None, None)[1]
        y, y_score, groups, query_weight = only_labelled(y, y_score, groups, query_weight)
        return self.metric(y, y_score, groups=groups, query_weight=query_weight, **weights)

    def score(self, *args, **kwargs):
        """The same as calling the scorer; metadata requests need a method of this name."""
        return self(*args, **kwargs)


class PropensityScorer(RankingScorer):
    """A ranking metric of clicks with propensities as a scorer for scikit-learn.

    What ``make_ranking_scorer(..., propensity=True)`` builds. It is a `RankingScorer` that asks for
    `propensity`, too, with metadata routing, and does without it in no call.

    Parameters
    ----------
    metric : Metric or callable
        ``metric(y_true, y_score, groups=..., query_weight=..., propensity=...)`` -> float, higher
        is better.
    """

    __metadata_request__score = {"propensity": True}

    weighs_clicks = True

    @explain_keywords
    def __call__(self, estimator, X, y, groups=None, query_weight=None, propensity=None):
        """Score the rankings that an estimator gives, by clicks.

        Parameters
        ----------
        estimator : estimator
            As for `RankingScorer`.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Clicks. Rows where it is NaN are left out.
        groups : array-like of shape (n_samples,)
            Id of each row's query or session.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query, constant within a query.
        propensity : array-like of shape (n_samples,)
            How likely each row was looked at, in (0, 1].

        Returns
        -------
        score : float

        Raises
        ------
        ValueError
            If `groups` or `propensity` is None.
        """
        if propensity is None:
            raise ValueError(NO_PROPENSITY)
        return self._score(estimator, X, y, groups, query_weight, propensity)


def make_ranking_scorer(metric, *, propensity=False, **switches):
    """Make a scorer from a ranking metric.

    Parameters
    ----------
    metric : str, Metric or callable
        A name that `sklearn_ltr.metrics.get_metric` knows, such as "ndcg@10", "map" or "p@5"; a
        metric object; or any function ``metric(y_true, y_score, groups=..., query_weight=...)`` of
        which higher values are better.
    propensity : bool, default=False
        Whether `y` are clicks, of which each counts 1 over its propensity. The scorer then asks for
        `propensity`, one number a row, in searches and cross-validation; a scorer without this
        weighs nothing by it, so that true grades are not weighted by accident. The metric must be
        one that takes `propensity`, such as "dcg@10" or "neg_arp".
    **switches : object
        Switches of the metric, such as ``gain="linear"`` or ``like="trec_eval"``; keyword arguments
        of a function.

    Returns
    -------
    scorer : RankingScorer or PropensityScorer
        ``scorer(estimator, X, y, groups, query_weight=None)`` -> float; with ``propensity=True`` a
        `PropensityScorer`, which takes `propensity`, too. Its attribute `metric` and its repr show
        the switches.

    Raises
    ------
    ValueError
        If the name of the metric or the value of a switch is unknown, or the metric takes no
        `propensity` and is to.
    TypeError
        If the metric has no such switch.

    See Also
    --------
    get_scorer : Scorers with default switches, by name.

    Notes
    -----
    In a search or in cross-validation the scorer receives groups only with metadata routing
    enabled; without them it raises.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.scorers import make_ranking_scorer
    >>> scorer = make_ranking_scorer("ndcg@5", gain="linear")
    >>> scorer
    RankingScorer(metric=NDCG(k=5, gain='linear', discount='log2', ties='average',
    undefined='skip', short='clip'))
    >>> X, y, groups = make_ranking(n_queries=30, random_state=0)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scores = cross_val_score(
    ...         MPBoost(n_estimators=10), X, y, cv=GroupKFold(3), scoring=scorer,
    ...         params={"groups": groups},
    ...     )
    >>> scores.shape
    (3,)
    """
    check_choice(propensity, "propensity", (False, True))
    scorer = PropensityScorer if propensity else RankingScorer
    if callable(metric) and not isinstance(metric, Metric):
        return scorer(partial(metric, **switches) if switches else metric)
    metric = get_metric(metric, **switches)
    if propensity:
        metric.check_takes_propensity()
    return scorer(metric)


def get_scorer(scoring):
    """Look up a scorer by the name of its metric.

    Parameters
    ----------
    scoring : str, Metric or callable
        A name that `sklearn_ltr.metrics.get_metric` knows, such as "ndcg", "ndcg@10", "map" or
        "p@5", or a metric object. A scorer is returned as it is.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, groups, query_weight=None)`` -> float.

    Raises
    ------
    ValueError
        If the name is unknown; the message lists the known ones.

    See Also
    --------
    make_ranking_scorer : Scorers with other switches.

    Examples
    --------
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.scorers import get_scorer
    >>> X, y, groups = make_ranking(n_queries=30, random_state=0)
    >>> ranker = MPBoost(n_estimators=10).fit(X, y, groups=groups)
    >>> get_scorer("ndcg@10")(ranker, X, y, groups=groups) == ranker.score(X, y, groups=groups)
    True
    """
    if callable(scoring) and not isinstance(scoring, Metric):
        return scoring
    return make_ranking_scorer(scoring)
