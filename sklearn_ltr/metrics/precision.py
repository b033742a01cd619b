# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics of relevant against irrelevant rows: average precision, precision at k."""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from sklearn_ltr._kernels import _dcg, _precision
from sklearn_ltr.metrics._per_query import TIES, UNDEFINED, Metric, check_cut_off
from sklearn_ltr.ranking import run_kernel
from sklearn_ltr.validation import check_choice

DENOMINATORS = ("relevant", "min(relevant,k)")
SHORT = ("pad", "clip", "zero")

ABOVE_ZERO = float(np.finfo(np.float64).tiny)
ABOVE_HALF = float(np.nextafter(0.5, 1))


class _Binary(Metric):
    """What the two metrics share: the switches that make grades binary."""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "k", check_cut_off(self.k))
        if not isinstance(self.relevant_from, Real) or not np.isfinite(self.relevant_from):
            raise ValueError(f"`relevant_from` must be a finite grade; got {self.relevant_from!r}.")
        check_choice(self.ties, "ties", TIES)

    def _relevant(self, y_true):
        return (y_true >= self.relevant_from).astype(np.float64)


def _average_precision_preset(relevant_from, denominator, ties, undefined):
    return {
        "relevant_from": relevant_from,
        "denominator": denominator,
        "ties": ties,
        "undefined": undefined,
    }


@dataclass(frozen=True)
class AveragePrecision(_Binary):
    """Mean average precision; see `average_precision_score` for the switches."""

    label: ClassVar[str] = "map"
    undefined_when: ClassVar[str] = "no row is relevant"
    presets: ClassVar[dict[str, dict]] = {
        "lightgbm": _average_precision_preset(ABOVE_HALF, "min(relevant,k)", "input", 1),
        "xgboost": _average_precision_preset(1, "min(relevant,k)", "input", 1),
        "trec_eval": _average_precision_preset(1, "relevant", "reverse", 0),
        "letor3": _average_precision_preset(1, "relevant", "input", 0),
        "letor4": _average_precision_preset(1, "relevant", "input", 0),
        "ranklib": _average_precision_preset(ABOVE_ZERO, "relevant", "input", 0),
    }

    k: int | None = None
    relevant_from: float = 1
    denominator: str = "relevant"
    ties: str = "average"
    undefined: str | int = "skip"

    def __post_init__(self):
        super().__post_init__()
        check_choice(self.denominator, "denominator", DENOMINATORS)
        check_choice(self.undefined, "undefined", UNDEFINED)

    def _values(self, y_true, y_score, offsets, n_threads):
        relevant = self._relevant(y_true)
        depth = len(relevant) if self.k is None else min(self.k, len(relevant))
        n_relevant = np.add.reduceat(relevant, offsets[:-1])
        possible = n_relevant
        if self.denominator == "min(relevant,k)":
            possible = np.minimum(n_relevant, depth)
        precisions = run_kernel(
            _precision.precision_sum,
            relevant,
            y_score,
            depth,
            TIES.index(self.ties),
            offsets=offsets,
            n_threads=n_threads,
        )
        values = np.full(len(possible), np.nan)
        return np.divide(precisions, possible, out=values, where=n_relevant > 0)


@dataclass(frozen=True)
class PrecisionAtK(_Binary):
    """Mean precision at k; see `precision_at_k_score` for the switches."""

    label: ClassVar[str] = "p"
    presets: ClassVar[dict[str, dict]] = {
        "xgboost": {"relevant_from": 1, "ties": "input", "short": "clip"},
        "trec_eval": {"relevant_from": 1, "ties": "reverse", "short": "pad"},
        "letor3": {"relevant_from": 1, "ties": "input", "short": "zero"},
        "letor4": {"relevant_from": 1, "ties": "input", "short": "pad"},
        "ranklib": {"relevant_from": ABOVE_ZERO, "ties": "input", "short": "clip"},
    }

    k: int | None = None
    relevant_from: float = 1
    ties: str = "average"
    short: str = "pad"

    def __post_init__(self):
        super().__post_init__()
        if self.k is None:
            raise ValueError("Precision needs a cut-off `k`, as in get_metric('p@5').")
        check_choice(self.short, "short", SHORT)

    def _values(self, y_true, y_score, offsets, n_threads):
        sizes = np.diff(offsets)
        # The number of relevant rows in the top k is a DCG whose k discounts are all 1.
        top = np.ones(min(self.k, int(sizes.max())))
        values = run_kernel(
            _dcg.dcg,
            self._relevant(y_true),
            y_score,
            top,
            TIES.index(self.ties),
            offsets=offsets,
            n_threads=n_threads,
        )
        values /= np.minimum(sizes, self.k) if self.short == "clip" else self.k
        if self.short == "zero":
            values[sizes < self.k] = 0
        return values


def average_precision_score(
    y_true,
    y_score,
    groups=None,
    *,
    k=None,
    relevant_from=1,
    denominator="relevant",
    ties="average",
    undefined="skip",
    query_weight=None,
    per_query=False,
    like=None,
):
    """Mean average precision (MAP): per query, the mean precision at its relevant rows.

    A query's value is ``sum(precision at j for relevant positions j <= k) / denominator``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, any finite number.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    k : int, default=None
        Cut-off: only the first k positions count. None ranks every row.
    relevant_from : float, default=1
        Rows of at least this grade are relevant.
    denominator : {"relevant", "min(relevant,k)"}, default="relevant"
        Divide by the number of relevant rows of the query, or by how many of them the first k
        positions can hold. The two differ only with a cut-off.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the expectation of the value over all
        orders of the tied rows; the others are described in `ndcg_score`.
    undefined : {"skip", "raise", 0, 1}, default="skip"
        What a query without a relevant row counts as; see `ndcg_score`.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"lightgbm", "xgboost", "trec_eval", "letor3", "letor4", "ranklib"}, default=None
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
    precision_at_k_score : The precision at one position.
    ndcg_score : For graded relevance.

    Notes
    -----
    `sklearn.metrics.average_precision_score` is another quantity: one ranking, where all rows of a
    tie are retrieved at once. Without ties the two agree on one query.

    The preset "lightgbm" calls a grade above 0.5 relevant, and "ranklib" one above 0. LightGBM and
    XGBoost divide by "min(relevant,k)" and count a query without a relevant row as 1 (XGBoost's
    "map@5-": 0), and so does the preset; LightGBM adds that 1 to the sum without its query weight,
    the preset with it. RankLib's MAP knows no cut-off.

    In a tie group at positions a+1 to a+m, of which r rows are relevant, and with R relevant rows
    above it, position a+t contributes ``r/m (R + 1 + (t-1)(r-1)/(m-1)) / (a+t)`` in expectation.

    References
    ----------
    .. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.

    Examples
    --------
    >>> from sklearn_ltr.metrics import average_precision_score
    >>> y_true = [1, 0, 2, 0, 1]
    >>> y_score = [0.9, 0.8, 0.7, 0.2, 0.3]
    >>> average_precision_score(y_true, y_score, ["a", "a", "a", "b", "b"])  # 5/6 and 1
    0.9166...
    >>> average_precision_score([1, 0, 0], [0, 0, 0])  # 1, 1/2 or 1/3, each as likely
    0.6111...
    """
    metric = AveragePrecision.create(
        like,
        k=k,
        relevant_from=relevant_from,
        denominator=denominator,
        ties=ties,
        undefined=undefined,
    )
    return metric(y_true, y_score, groups, query_weight, per_query)


def precision_at_k_score(
    y_true,
    y_score,
    groups=None,
    *,
    k,
    relevant_from=1,
    ties="average",
    short="pad",
    query_weight=None,
    per_query=False,
    like=None,
):
    """Mean precision at k: per query, the share of relevant rows among the first k positions.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, any finite number.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    k : int
        Cut-off, at least 1.
    relevant_from : float, default=1
        Rows of at least this grade are relevant.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the expectation of the value over all
        orders of the tied rows; the others are described in `ndcg_score`.
    short : {"pad", "clip", "zero"}, default="pad"
        What happens in a query of n < k rows. "pad" divides by k, as if irrelevant rows followed;
        "clip" divides by n; "zero" gives 0.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"xgboost", "trec_eval", "letor3", "letor4", "ranklib"}, default=None
        Set every switch as this tool does. They differ in `short`; "ranklib" calls every grade
        above 0 relevant.

    Returns
    -------
    score : float or QueryValues
        The mean over queries, or with ``per_query=True`` a named tuple ``(values, ids)``. A query
        without a relevant row has the value 0 and counts.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, a switch has an unknown value, or `like`
        is given with another switch.

    See Also
    --------
    average_precision_score : Averages the precision over the positions of the relevant rows.

    Examples
    --------
    >>> from sklearn_ltr.metrics import precision_at_k_score
    >>> y_true = [1, 0, 2, 0, 1]
    >>> y_score = [0.9, 0.8, 0.7, 0.2, 0.3]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> precision_at_k_score(y_true, y_score, groups, k=3)  # 2/3 and 1/3
    0.5
    >>> precision_at_k_score(y_true, y_score, groups, k=3, short="clip", per_query=True).values
    array([0.66666667, 0.5       ])
    """
    metric = PrecisionAtK.create(like, k=k, relevant_from=relevant_from, ties=ties, short=short)
    return metric(y_true, y_score, groups, query_weight, per_query)
