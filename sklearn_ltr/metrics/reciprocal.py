# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reciprocal rank: how far down the user who wants one answer has to read."""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from sklearn_ltr._kernels import _reciprocal
from sklearn_ltr.metrics._per_query import TIES, UNDEFINED, Metric, check_cut_off
from sklearn_ltr.metrics.precision import _Binary
from sklearn_ltr.ranking import run_kernel
from sklearn_ltr.validation import check_choice


@dataclass(frozen=True)
class ReciprocalRank(_Binary):
    """Mean reciprocal rank; see `reciprocal_rank_score` for the switches."""

    label: ClassVar[str] = "mrr"
    undefined_when: ClassVar[str] = "no row is relevant"
    presets: ClassVar[dict[str, dict]] = {
        "trec_eval": {"relevant_from": 1, "ties": "reverse", "undefined": 0},
    }

    k: int | None = None
    relevant_from: float = 1
    ties: str = "average"
    undefined: str | int = "skip"

    def __post_init__(self):
        super().__post_init__()
        check_choice(self.undefined, "undefined", UNDEFINED)

    def _values(self, y_true, y_score, offsets, n_threads):
        relevant = self._relevant(y_true)
        values = run_kernel(
            _reciprocal.reciprocal_rank,
            relevant,
            y_score,
            len(relevant) if self.k is None else min(self.k, len(relevant)),
            TIES.index(self.ties),
            offsets=offsets,
            n_threads=n_threads,
        )
        values[np.add.reduceat(relevant, offsets[:-1]) == 0] = np.nan
        return values


@dataclass(frozen=True)
class ExpectedReciprocalRank(Metric):
    """Expected reciprocal rank; see `expected_reciprocal_rank_score` for the switches."""

    label: ClassVar[str] = "err"
    takes_negative_grades: ClassVar[bool] = False
    undefined_when: ClassVar[str] = "no row has a positive grade"
    presets: ClassVar[dict[str, dict]] = {
        "gdeval": {"max_grade": 4, "ties": "reverse", "undefined": "skip"},
        "ranklib": {"max_grade": 4, "ties": "input", "undefined": 0},
    }

    k: int | None = None
    max_grade: float | None = None
    ties: str = "average"
    undefined: str | int = "skip"

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "k", check_cut_off(self.k))
        if self.max_grade is None:
            raise ValueError(
                "Expected reciprocal rank needs `max_grade`, the highest grade of the scale, as in "
                "get_metric('err@10', max_grade=4)."
            )
        if not isinstance(self.max_grade, Real) or not 0 < self.max_grade < np.inf:
            raise ValueError(
                f"`max_grade` must be a positive finite grade; got {self.max_grade!r}."
            )
        check_choice(self.ties, "ties", TIES)
        check_choice(self.undefined, "undefined", UNDEFINED)

    def check_grades(self, y_true):
        for wrong, problem in (
            (y_true < 0, "the negative grade"),
            (y_true > self.max_grade, f"a grade above max_grade={self.max_grade:g}:"),
        ):
            if wrong.any():
                raise ValueError(
                    f"`y_true` has {problem} {y_true[wrong.argmax()]:g}; expected reciprocal rank "
                    "needs grades from 0 to `max_grade`."
                )

    def _values(self, y_true, y_score, offsets, n_threads):
        stops = np.exp2(y_true - self.max_grade) - np.exp2(-float(self.max_grade))
        values = run_kernel(
            _reciprocal.expected_reciprocal_rank,
            stops,
            y_score,
            len(stops) if self.k is None else min(self.k, len(stops)),
            TIES.index(self.ties),
            offsets=offsets,
            n_threads=n_threads,
        )
        values[np.maximum.reduceat(y_true, offsets[:-1]) <= 0] = np.nan
        return values


def reciprocal_rank_score(
    y_true,
    y_score,
    groups=None,
    *,
    k=None,
    relevant_from=1,
    ties="average",
    undefined="skip",
    query_weight=None,
    per_query=False,
    like=None,
):
    """Mean reciprocal rank (MRR): per query, 1 over the position of the first relevant row.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, any finite number.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    k : int, default=None
        Cut-off: a query whose first relevant row comes after position k has the value 0.
    relevant_from : float, default=1
        Rows of at least this grade are relevant.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the expectation of the value over all
        orders of the tied rows; the others are described in `ndcg_score`.
    undefined : {"skip", "raise", 0, 1}, default="skip"
        What a query without a relevant row counts as; see `ndcg_score`.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"trec_eval"}, default=None
        Set every switch as this tool does; see the notes.

    Returns
    -------
    score : float or QueryValues
        The mean over queries, or with ``per_query=True`` a named tuple ``(values, ids)``.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, a switch has an unknown value, `like` is
        given with another switch, or a query is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        If every query is undefined and skipped; the mean is then NaN.

    See Also
    --------
    expected_reciprocal_rank_score : For graded relevance.
    average_precision_score : Looks at every relevant row.

    Notes
    -----
    trec_eval's "recip_rank" knows no cut-off, ranks rows of equal score by document name,
    descending, and counts a query without a relevant row as 0.

    In a tie group at positions a+1 to a+m, of which r > 0 rows are relevant, with none above it,
    position a+t holds the first relevant row with probability C(m-t, r-1) / C(m, r).

    References
    ----------
    .. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.

    Examples
    --------
    >>> from sklearn_ltr.metrics import reciprocal_rank_score
    >>> y_true = [0, 1, 2, 0, 1]
    >>> y_score = [0.9, 0.8, 0.7, 0.2, 0.3]
    >>> reciprocal_rank_score(y_true, y_score, ["a", "a", "a", "b", "b"])  # 1/2 and 1
    0.75
    >>> reciprocal_rank_score([1, 0, 0], [0, 0, 0])  # 1, 1/2 or 1/3, each as likely
    0.6111...
    """
    metric = ReciprocalRank.create(
        like, k=k, relevant_from=relevant_from, ties=ties, undefined=undefined
    )
    return metric(y_true, y_score, groups, query_weight, per_query)


def expected_reciprocal_rank_score(
    y_true,
    y_score,
    groups=None,
    *,
    k=None,
    max_grade=None,
    ties="average",
    undefined="skip",
    query_weight=None,
    per_query=False,
    like=None,
):
    r"""Mean expected reciprocal rank (ERR): per query, 1 over the position where the user stops.

    The user reads from the top and stops at a row of grade y with probability
    :math:`R(y) = (2^y - 1) / 2^{y_{max}}`, so that

    .. math::
        \mathrm{ERR@}k = \sum_{p=1}^{\min(k, n)} \frac{1}{p}\, R(y_{(p)})
        \prod_{j < p} \bigl(1 - R(y_{(j)})\bigr)

    with :math:`y_{(p)}` the grade at position p (equations 1 and 4 of [1]_).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, from 0 to `max_grade`.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    k : int, default=None
        Cut-off: only the first k positions count. None ranks every row.
    max_grade : float, default=None
        The highest grade of the scale, :math:`y_{max}`, which the data need not contain. It must be
        given unless `like` sets it: figures for two values cannot be compared, and the highest
        grade that the data happen to have would make them differ without a word.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the expectation of the value over all
        orders of the tied rows; the others are described in `ndcg_score`.
    undefined : {"skip", "raise", 0, 1}, default="skip"
        What a query without a positive grade counts as; see `ndcg_score`.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"gdeval", "ranklib"}, default=None
        Set every switch as this tool does; see the notes.

    Returns
    -------
    score : float or QueryValues
        The mean over queries, or with ``per_query=True`` a named tuple ``(values, ids)``. Below 1,
        even for a perfect ranking.

    Raises
    ------
    ValueError
        If `max_grade` is missing, a grade is negative or above it, an array has NaN, infinity or a
        wrong length, a switch has an unknown value, `like` is given with another switch, or a query
        is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        If every query is undefined and skipped; the mean is then NaN.

    See Also
    --------
    reciprocal_rank_score : For relevant and irrelevant rows.
    ndcg_score : Adds up the gains of all rows.

    Notes
    -----
    RankLib and gdeval.pl divide by 16 whatever the data, which is ``max_grade=4``; some versions of
    gdeval.pl have a switch for it. RankLib counts a query without a positive grade as 0; gdeval.pl
    leaves it out, and ranks rows of equal score by document name, descending.

    A group of m tied rows, at positions a+1 to a+m, contributes the probability of passing all rows
    above it times :math:`\sum_t B_t / (a + t + 1)`, where B_t is the mean, over the sets of t of
    the rows and one more row, of the probability to pass the t and to stop at the other. The means
    for m rows follow from those for m - 1 rows, in O(m min(m, k)) in all: long queries of equal
    scores are slow without a cut-off.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded
       relevance", CIKM 2009.

    Examples
    --------
    >>> from sklearn_ltr.metrics import expected_reciprocal_rank_score
    >>> y_true, y_score = [0, 2, 1], [0.9, 0.8, 0.7]
    >>> expected_reciprocal_rank_score(y_true, y_score, max_grade=2)  # 0 + 3/4 / 2 + 1/4 1/4 / 3
    0.3958...
    >>> expected_reciprocal_rank_score(y_true, y_score, max_grade=2, k=2)
    0.375
    >>> expected_reciprocal_rank_score([2, 0], [1, 1], max_grade=2)  # 3/4 or 3/8, each as likely
    0.5625
    """
    metric = ExpectedReciprocalRank.create(
        like, k=k, max_grade=max_grade, ties=ties, undefined=undefined
    )
    return metric(y_true, y_score, groups, query_weight, per_query)
