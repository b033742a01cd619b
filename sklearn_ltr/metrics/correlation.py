# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Kendall's tau of each query's scores and grades, and ranks within queries."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sklearn_ltr._kernels import _correlation
from sklearn_ltr.metrics._per_query import UNDEFINED, Metric
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.ranking import rows_to_rank
from sklearn_ltr.validation import check_choice, check_column

DENOMINATORS = ("comparable", "all")
TIED_PAIR_COUNTS = {"average": 0.5, "agree": 0.0}


def count_pairs(y_true, y_score, offsets, n_threads=1):
    """Count the pairs of each query whose grades differ.

    Parameters
    ----------
    y_true, y_score : ndarray of shape (n_samples,), dtype float64
        Finite, rows grouped by query.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    n_threads : int, default=1
        Does not change the result.

    Returns
    -------
    pairs, wrong, tied : ndarrays of shape (n_queries,), dtype int64
        All pairs of different grades, those whose lower grade has the higher score, and those of
        equal scores.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.metrics.correlation import count_pairs
    >>> count_pairs(np.array([2.0, 1, 1, 0]), np.array([3.0, 1, 4, 1]), np.array([0, 4]))
    (array([5]), array([1]), array([1]))
    """
    work = rows_to_rank(offsets, n_threads)
    counts = np.empty((len(offsets) - 1, 3), dtype=np.int64)
    _correlation.count_pairs(y_true, y_score, offsets, n_threads, work, counts)
    return tuple(counts.T)


@dataclass(frozen=True)
class KendallDistance(Metric):
    """Kendall tau distance, lower is better; see `kendall_tau_distance` for the switches."""

    label: ClassVar[str] = "kendall_tau_distance"
    undefined_when: ClassVar[str] = "all rows have one grade"
    presets: ClassVar[dict[str, dict]] = {}

    denominator: str = "comparable"
    ties: str = "average"
    undefined: str | int = "skip"

    def __post_init__(self):
        super().__post_init__()
        check_choice(self.denominator, "denominator", DENOMINATORS)
        check_choice(self.ties, "ties", tuple(TIED_PAIR_COUNTS))
        check_choice(self.undefined, "undefined", UNDEFINED)

    def _values(self, y_true, y_score, offsets, n_threads):
        pairs, wrong, tied = count_pairs(y_true, y_score, offsets, n_threads)
        z = pairs
        if self.denominator == "all":
            sizes = np.diff(offsets).astype(np.int64)
            z = sizes * (sizes - 1) // 2
        values = np.full(len(pairs), np.nan)
        return np.divide(wrong + TIED_PAIR_COUNTS[self.ties] * tied, z, out=values, where=pairs > 0)


@dataclass(frozen=True)
class KendallTau(KendallDistance):
    """E = 1 - 2 T, from -1 to 1, of the Kendall tau distance T; see `kendall_tau_distance`.

    "skip" and "raise" of `undefined` are those of the distance; 0 and 1 are values of E.
    """

    label: ClassVar[str] = "kendall"

    def _values(self, y_true, y_score, offsets, n_threads):
        return 1 - 2 * super()._values(y_true, y_score, offsets, n_threads)


def kendall_tau_distance(
    y_true,
    y_score,
    groups=None,
    *,
    denominator="comparable",
    ties="average",
    undefined="skip",
    query_weight=None,
    per_query=False,
):
    r"""Mean Kendall tau distance: per query, the share of its pairs of rows in the wrong order.

    .. math::
        T = \frac{1}{z} \sum_{i < j} I\{(y_i - y_j)(s_i - s_j) < 0\}

    with grades :math:`y` and scores :math:`s` (equation 2 of [1]_). It is 0 where the scores order
    the grades perfectly and 1 where they reverse them: **lower is better**. The metric "kendall" of
    `get_metric` is :math:`E = 1 - 2T` (equation 1), where higher is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, any finite number; positions of a list that was ranked by hand may be
        given as their negative.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    denominator : {"comparable", "all"}, default="comparable"
        The paper's :math:`z`, which it does not define: the number of pairs of different grades, or
        of all pairs, n(n - 1)/2. The two are the same where no grade repeats. Where grades
        repeat, pairs of equal grades can never be wrong, so that "all" makes T smaller than it is.
    ties : {"average", "agree"}, default="average"
        How a pair of different grades and equal scores counts: one half, its expectation over both
        orders of the tied rows, or not at all, as the strict inequality of the paper has it. With
        "agree" a ranker that gives every row the same score is perfect.
    undefined : {"skip", "raise", 0, 1}, default="skip"
        What a query without rows of different grades counts as; see `ndcg_score`.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    per_query : bool, default=False
        Return the value of each query instead of their mean.

    Returns
    -------
    distance : float or QueryValues
        The mean over queries, or with ``per_query=True`` a named tuple ``(values, ids)``. Between 0
        and 1.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, a switch has an unknown value, or a query
        is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        If every query is undefined and skipped; the mean is then NaN.

    See Also
    --------
    misordering_rate : The share of wrong pairs of all queries together.
    pair_precision_score : The share of right pairs among those of which the scores are surest.

    Notes
    -----
    Pairs are counted by merge sort, in O(n log n) for a query of n rows, and in 64-bit integers.

    With C concordant and D discordant pairs, P pairs of different grades and P' pairs of different
    scores, one query has

    ================================ ============================= =============================
    coefficient                      formula                       equals E = 1 - 2T
    ================================ ============================= =============================
    Somers' D of scores given grades (C - D) / P                   always
    Kendall's tau-a                  (C - D) / (n(n - 1)/2)        if no grade repeats
    Kendall's tau-b                  (C - D) / sqrt(P P')          if no grade or score repeats
    Goodman and Kruskal's gamma      (C - D) / (C + D)             if no score repeats
    ================================ ============================= =============================

    with the default switches. ``scipy.stats.kendalltau`` is tau-b. 1 - T is the concordance index,
    and the area under the ROC curve where there are two grades.

    References
    ----------
    .. [1] Wang, Mao. "FeatureRank: A Non-linear Listwise Approach with Clustering and Boosting".
       2012.
    .. [2] W. R. Knight, "A computer method for calculating Kendall's tau with ungrouped data",
       Journal of the American Statistical Association 61, 1966.

    Examples
    --------
    >>> from sklearn_ltr.metrics import kendall_tau_distance
    >>> kendall_tau_distance([2, 1, 0], [0.9, 0.1, 0.5])  # one pair of three
    0.3333...
    >>> y_true, y_score = [2, 1, 0, 1, 0, 0], [0.9, 0.1, 0.5, 0.3, 0.3, 0.1]
    >>> kendall_tau_distance(y_true, y_score, ["a", "a", "a", "b", "b", "b"], per_query=True).values
    array([0.33333333, 0.25      ])
    """
    metric = KendallDistance(denominator=denominator, ties=ties, undefined=undefined)
    return metric(y_true, y_score, groups, query_weight, per_query)


def rank_in_query(scores, groups=None):
    """Position of each row in the ranking of its query.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Finite; the highest of a query has position 1.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.

    Returns
    -------
    ranks : ndarray of shape (n_samples,), dtype float64
        From 1 to the number of rows of the query. Rows of equal score share the mean of their
        positions.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length.

    Examples
    --------
    >>> from sklearn_ltr.metrics import rank_in_query
    >>> rank_in_query([0.2, 0.9, 0.2, 5.0, 7.0], ["a", "a", "a", "b", "b"])
    array([2.5, 1. , 2.5, 2. , 1. ])
    """
    scores = check_column(scores, "scores")
    queries = QueryGroups.from_ids(groups, len(scores))
    query = queries.query_of_row()
    rows = queries.order[np.lexsort((-scores[queries.order], query))]
    new = np.diff(scores[rows], prepend=np.nan) != 0
    new[queries.offsets[:-1]] = True
    starts = np.flatnonzero(new)
    n_tied = np.diff(starts, append=len(rows))
    ranks = np.empty(len(rows))
    ranks[rows] = np.repeat(starts + (n_tied + 1) / 2, n_tied) - queries.offsets[query]
    return ranks
