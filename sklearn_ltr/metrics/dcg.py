# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Discounted cumulative gain, plain and normalised."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sklearn_ltr._kernels import _dcg
from sklearn_ltr.labels import as_gain, check_gain, gains
from sklearn_ltr.metrics._per_query import TIES, UNDEFINED, Metric, check_cut_off
from sklearn_ltr.ranking import run_kernel
from sklearn_ltr.validation import check_choice

DISCOUNTS = ("log2", "letor")

# Of one query: the weighted sum over many of them is to be finite.
LARGEST_DCG = 2.0**900

# Gains from 2 to minus this up to 2 to this are taken as they are.
LARGEST_EXPONENT = 900


def discounts_of(n, discount):
    """Discounts of the positions 1 to n."""
    position = np.arange(1.0, n + 1)
    if discount == "log2":
        return 1 / np.log2(1 + position)
    return 1 / np.log2(np.maximum(position, 2))


def relative_gains(gains, offsets):
    """Gains of which only the ratios within queries count, so that sums keep their digits.

    Where the largest gain of a query is very large or very small, all of its gains are multiplied
    by a power of 2, which rounds nothing.

    Parameters
    ----------
    gains : ndarray of shape (n_samples,), dtype float64, not negative
    offsets : ndarray of shape (n_queries + 1,)

    Returns
    -------
    gains : ndarray of shape (n_samples,), dtype float64
    """
    exponent = np.frexp(np.maximum.reduceat(gains, offsets[:-1]))[1]
    if (np.abs(exponent) <= LARGEST_EXPONENT).all():
        return gains
    exponent[np.abs(exponent) <= LARGEST_EXPONENT] = 0
    return np.ldexp(gains, np.repeat(-exponent, np.diff(offsets)))


class _Discounted(Metric):
    """What the two metrics share: the grades they take and the sum of discounted gains."""

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "k", check_cut_off(self.k))
        object.__setattr__(self, "gain", as_gain(self.gain))
        check_choice(self.discount, "discount", DISCOUNTS)
        check_choice(self.ties, "ties", TIES)

    def check_grades(self, y_true):
        check_gain(y_true, self.gain, "y_true")

    def _discounts(self, offsets):
        longest = int(np.diff(offsets).max())
        return discounts_of(longest if self.k is None else min(self.k, longest), self.discount)

    def _sums(self, gains, y_score, discounts, offsets, n_threads):
        return run_kernel(
            _dcg.dcg,
            gains,
            y_score,
            discounts,
            TIES.index(self.ties),
            offsets=offsets,
            n_threads=n_threads,
        )


@dataclass(frozen=True)
class DCG(_Discounted):
    """Mean DCG; see `dcg_score` for the switches."""

    label: ClassVar[str] = "dcg"
    takes_negative_grades: ClassVar[bool] = False
    presets: ClassVar[dict[str, dict]] = {
        "sklearn": {"gain": "linear", "discount": "log2", "ties": "average"},
        "ranklib": {"gain": "exponential", "discount": "log2", "ties": "input"},
    }

    k: int | None = None
    gain: str | tuple | Mapping | Callable = "exponential"
    discount: str = "log2"
    ties: str = "average"

    def _values(self, y_true, y_score, offsets, n_threads):
        gain = gains(y_true, self.gain)
        values = self._sums(gain, y_score, self._discounts(offsets), offsets, n_threads)
        if not (values < LARGEST_DCG).all():
            raise ValueError("The sum of gains overflows float64; use smaller grades in `y_true`.")
        return values


def _preset(gain, discount, ties, undefined, short="clip"):
    return {
        "gain": gain,
        "discount": discount,
        "ties": ties,
        "undefined": undefined,
        "short": short,
    }


@dataclass(frozen=True)
class NDCG(_Discounted):
    """Mean NDCG; see `ndcg_score` for the switches."""

    label: ClassVar[str] = "ndcg"
    takes_negative_grades: ClassVar[bool] = False
    undefined_when: ClassVar[str] = "no row has a positive gain"
    presets: ClassVar[dict[str, dict]] = {
        "sklearn": _preset("linear", "log2", "average", 0),
        "lightgbm": _preset("exponential", "log2", "input", 1),
        "xgboost": _preset("exponential", "log2", "input", 1),
        "trec_eval": _preset("linear", "log2", "reverse", 0),
        "letor3": _preset("exponential", "letor", "input", 0, "zero"),
        "letor4": _preset("exponential", "letor", "input", 0, "zero"),
        "ranklib": _preset("exponential", "log2", "input", 0),
    }

    k: int | None = None
    gain: str | tuple | Mapping | Callable = "exponential"
    discount: str = "log2"
    ties: str = "average"
    undefined: str | int = "skip"
    short: str = "clip"

    def __post_init__(self):
        super().__post_init__()
        check_choice(self.undefined, "undefined", UNDEFINED)
        check_choice(self.short, "short", ("clip", "zero"))

    def _values(self, y_true, y_score, offsets, n_threads):
        gain = gains(y_true, self.gain)
        gain = relative_gains(gain, offsets)
        discounts = self._discounts(offsets)
        sums = self._sums(gain, y_score, discounts, offsets, n_threads)
        ideal = run_kernel(_dcg.ideal_dcg, gain, discounts, offsets=offsets, n_threads=n_threads)
        defined = ideal > 0
        values = np.full(len(ideal), np.nan)
        np.divide(sums, ideal, out=values, where=defined)
        np.minimum(values, 1, out=values)  # sums in two orders may differ by rounding
        if self.short == "zero" and self.k is not None:
            values[defined & (np.diff(offsets) < self.k)] = 0
        return values


def ndcg_score(
    y_true,
    y_score,
    groups=None,
    *,
    k=None,
    gain="exponential",
    discount="log2",
    ties="average",
    undefined="skip",
    short="clip",
    query_weight=None,
    per_query=False,
    like=None,
):
    """Mean normalised discounted cumulative gain (NDCG) over queries.

    A query's value is ``sum(gain of the row at j * discount of j for positions j <= k)``, divided
    by the largest value that any ranking of the query can give this sum.

    .. warning::
       The defaults are not those of `sklearn.metrics.ndcg_score`: the gain is 2^y - 1, not y, and
       a query without a positive grade is left out of the mean, not counted as 0. The arrays are
       flat, with a query id a row. ``like="sklearn"`` gives scikit-learn's figures.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row: a finite number that has a gain; of at least 0 for a gain by name, and at
        most 1023 for the exponential one.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    k : int, default=None
        Cut-off: only the first k positions count. None ranks every row.
    gain : {"exponential", "linear"}, array-like, mapping or callable, default="exponential"
        2^y - 1; y; the gains of the grades 0, 1, 2, ...; the gain of each grade, ``{grade: gain}``;
        or a function of the distinct grades, ascending, that returns their gains. Gains are
        finite, not negative, and do not fall as grades rise.
    discount : {"log2", "letor"}, default="log2"
        1 / log2(1 + j) at position j; or 1 at positions 1 and 2 and 1 / log2(j) after them, as in
        the LETOR scripts and the MPBoost paper.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the expectation of the value over all
        orders of the tied rows [2]_, which does not depend on the order of the rows. "input" ranks
        the earlier row first, "reverse" the later one, "worst" the lower grade, "best" the higher.
    undefined : {"skip", "raise", 0, 1}, default="skip"
        What a query without a positive grade counts as: nothing, an error, 0 or 1.
    short : {"clip", "zero"}, default="clip"
        What happens in a query of fewer than k rows: the cut-off becomes its number of rows, or
        its value becomes 0 as in the LETOR scripts.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean: not negative, constant within a query. Queries of
        weight zero are left out altogether.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"sklearn", "lightgbm", "xgboost", "trec_eval", "letor3", "letor4", "ranklib"}, \
            default=None
        Set every switch as this tool does; see the notes.

    Returns
    -------
    score : float or QueryValues
        The mean over queries, in [0, 1], or with ``per_query=True`` a named tuple ``(values,
        ids)``. There the skipped queries are NaN: ``np.isnan(values).sum()`` counts them.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, a grade has no gain, a switch has an
        unknown value, `like` is given with another switch, or a query is undefined and
        ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        If every query is undefined and skipped; the mean is then NaN.

    See Also
    --------
    dcg_score : Without the division.
    average_precision_score : For binary relevance.

    Notes
    -----
    What the presets set:

    ========= =========== ======== ======= ========= =====
    like      gain        discount ties    undefined short
    ========= =========== ======== ======= ========= =====
    sklearn   linear      log2     average 0         clip
    lightgbm  exponential log2     input   1         clip
    xgboost   exponential log2     input   1         clip
    trec_eval linear      log2     reverse 0         clip
    letor3    exponential letor    input   0         zero
    letor4    exponential letor    input   0         zero
    ranklib   exponential log2     input   0         clip
    ========= =========== ======== ======= ========= =====

    They give the tool's figures for its default settings, up to its float32 arithmetic: scores
    that are equal in float32 are tied in LightGBM, XGBoost and trec_eval. XGBoost's metrics that
    end in "-" have ``undefined=0``. With query weights LightGBM and XGBoost add the 1 of an
    undefined query to the sum unweighted; the presets weight it. scikit-learn refuses a query of
    one row; here it has a value. trec_eval breaks ties by document name, descending, which
    is "reverse" where names ascend with the rows; its "ndcg" is `k` None, its "ndcg_cut_k" has
    the cut-off.

    References
    ----------
    .. [1] K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM
       Transactions on Information Systems 20(4), 2002.
    .. [2] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.

    Examples
    --------
    >>> from sklearn_ltr.metrics import ndcg_score
    >>> y_true = [3, 2, 0, 0, 0]
    >>> y_score = [1.0, 2.0, 3.0, 0.5, 0.7]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> ndcg_score(y_true, y_score, groups)  # query "b" has no relevant row
    0.6064...
    >>> ndcg_score(y_true, y_score, groups, gain="linear")
    0.6480...
    >>> ndcg_score(y_true, y_score, groups, per_query=True)
    QueryValues(values=array([0.6064227,       nan]), ids=array(['a', 'b'], dtype=object))
    """
    metric = NDCG.create(
        like,
        k=k,
        gain=gain,
        discount=discount,
        ties=ties,
        undefined=undefined,
        short=short,
    )
    return metric(y_true, y_score, groups, query_weight, per_query)


def dcg_score(
    y_true,
    y_score,
    groups=None,
    *,
    k=None,
    gain="exponential",
    discount="log2",
    ties="average",
    query_weight=None,
    per_query=False,
    like=None,
):
    """Mean discounted cumulative gain (DCG) over queries.

    A query's value is ``sum(gain of the row at j * discount of j for positions j <= k)``.

    .. warning::
       The default gain is 2^y - 1, while `sklearn.metrics.dcg_score` takes y itself.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row: a finite number that has a gain; of at least 0 for a gain by name, and at
        most 1023 for the exponential one.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    k : int, default=None
        Cut-off: only the first k positions count. None ranks every row.
    gain : {"exponential", "linear"}, array-like, mapping or callable, default="exponential"
        2^y - 1; y; the gains of the grades 0, 1, 2, ...; the gain of each grade, ``{grade: gain}``;
        or a function of the distinct grades, ascending, that returns their gains. Gains are
        finite, not negative, and do not fall as grades rise.
    discount : {"log2", "letor"}, default="log2"
        1 / log2(1 + j) at position j; or 1 at positions 1 and 2 and 1 / log2(j) after them, as in
        the LETOR scripts and the MPBoost paper.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the expectation of the value over all
        orders of the tied rows; the others are described in `ndcg_score`.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"sklearn", "ranklib"}, default=None
        Set every switch as this tool does: the linear gain and averaged ties, or the exponential
        gain and ties in the order of the rows.

    Returns
    -------
    score : float or QueryValues
        The mean over queries, or with ``per_query=True`` a named tuple ``(values, ids)``. A query
        without a positive grade has the value 0 and counts.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, a grade has no gain, the sum of gains
        overflows float64, a switch has an unknown value, or `like` is given with another switch.

    See Also
    --------
    ndcg_score : The same, normalised so that the best ranking has the value 1.

    References
    ----------
    .. [1] K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM
       Transactions on Information Systems 20(4), 2002.

    Examples
    --------
    >>> from sklearn_ltr.metrics import dcg_score
    >>> dcg_score([2, 0, 1], [0.3, 0.2, 0.1])  # 3 + 0 + 1/2
    3.5
    """
    metric = DCG.create(like, k=k, gain=gain, discount=discount, ties=ties)
    return metric(y_true, y_score, groups, query_weight, per_query)
