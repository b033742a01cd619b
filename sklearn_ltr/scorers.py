# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranking metrics as scikit-learn scorers."""

from functools import partial

from sklearn_ltr.base import only_labelled, predict_queries
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.metrics import Metric, get_metric

__all__ = ["RankingScorer", "get_scorer", "make_ranking_scorer"]

NO_GROUPS = (
    "A ranking scorer needs `groups`, the query id of each row, and got None. In a search or in "
    "cross-validation groups reach the scorer only with metadata routing: call "
    "sklearn.set_config(enable_metadata_routing=True), then search.fit(X, y, groups=g) or "
    'cross_val_score(..., params={"groups": g}).'
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

    def __init__(self, metric):
        self.metric = metric

    def __repr__(self):
        return f"RankingScorer(metric={self.metric!r})"

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
        if groups is None:
            raise ValueError(NO_GROUPS)
        y_score = predict_queries(estimator, X, groups)
        y, y_score, groups, query_weight = only_labelled(y, y_score, groups, query_weight)
        return self.metric(y, y_score, groups=groups, query_weight=query_weight)

    def score(self, *args, **kwargs):
        """The same as calling the scorer; metadata requests need a method of this name."""
        return self(*args, **kwargs)


def make_ranking_scorer(metric, **switches):
    """Make a scorer from a ranking metric.

    Parameters
    ----------
    metric : str, Metric or callable
        A name that `sklearn_ltr.metrics.get_metric` knows, such as "ndcg@10", "map" or "p@5"; a
        metric object; or any function ``metric(y_true, y_score, groups=..., query_weight=...)`` of
        which higher values are better.
    **switches : object
        Switches of the metric, such as ``gain="linear"`` or ``like="trec_eval"``; keyword arguments
        of a function.

    Returns
    -------
    scorer : RankingScorer
        ``scorer(estimator, X, y, groups, query_weight=None)`` -> float. Its attribute `metric` and
        its repr show the switches.

    Raises
    ------
    ValueError
        If the name of the metric or the value of a switch is unknown.
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
    if callable(metric) and not isinstance(metric, Metric):
        return RankingScorer(partial(metric, **switches) if switches else metric)
    return RankingScorer(get_metric(metric, **switches))


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
