# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Discounted cumulative gain, plain and normalised, and the average position of gain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sklearn_ltr._kernels import _dcg
from sklearn_ltr.exceptions import EstimatedIdealWarning
from sklearn_ltr.labels import as_gain, check_gain, gains
from sklearn_ltr.metrics._per_query import TIES, UNDEFINED, Metric, check_cut_off
from sklearn_ltr.ranking import run_kernel
from sklearn_ltr.reduction import mean
from sklearn_ltr.validation import check_choice, warn_caller

DISCOUNTS = ("log2", "letor")

# Rules for rows of equal score that go by what they are worth.
BY_GRADE = ("worst", "best")

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
    """What the metrics share: the grades they take and the sum of discounted gains."""

    takes_negative_grades: ClassVar[bool] = False
    takes_propensity: ClassVar[bool] = True

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "k", check_cut_off(self.k))
        object.__setattr__(self, "gain", as_gain(self.gain))
        check_choice(self.ties, "ties", TIES)
        if "discount" in self.__dataclass_fields__:
            check_choice(self.discount, "discount", DISCOUNTS)

    def check_grades(self, y_true):
        check_gain(y_true, self.gain, "y_true")

    def _discounts(self, offsets):
        longest = int(np.diff(offsets).max())
        return discounts_of(longest if self.k is None else min(self.k, longest), self.discount)

    def _gains(self, y_true, propensity=None):
        """Gains of the rows, those of clicks over their propensities."""
        gain = gains(y_true, self.gain)
        if propensity is None:
            return gain
        if self.ties in BY_GRADE:
            raise ValueError(
                f"{self.name} with `propensity` takes no ties={self.ties!r}: rows of equal score "
                "would be ranked by their clicks, so that the estimate is biased. Give "
                'ties="average".'
            )
        if gain[y_true == 0].any():
            raise ValueError(
                f"{self.name} with `propensity` takes no gain of the grade 0: a row that was not "
                "clicked may be one that nobody looked at."
            )
        return _finite(gain / propensity)

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


class _SelfNormalized(_Discounted):
    """A sum over rows, which may be divided by the mean sum of gains of all queries."""

    bounded: ClassVar[bool] = False
    undefined: ClassVar[str] = "skip"
    undefined_when: ClassVar[str] = "no row has a positive gain"

    def __post_init__(self):
        super().__post_init__()
        check_choice(self.self_normalized, "self_normalized", (False, True))

    def _of_rows(self, y_true, y_score, offsets, n_threads, propensity, query_weight):
        values = super()._of_rows(y_true, y_score, offsets, n_threads, propensity, query_weight)
        if not self.self_normalized:
            return values
        of_query = np.add.reduceat(self._gains(y_true, propensity), offsets[:-1])
        total = mean(of_query, query_weight)
        return values / total if total > 0 else np.full(len(values), np.nan)


@dataclass(frozen=True)
class DCG(_SelfNormalized):
    """Mean DCG; see `dcg_score` for the switches."""

    label: ClassVar[str] = "dcg"
    presets: ClassVar[dict[str, dict]] = {
        "sklearn": {"gain": "linear", "discount": "log2", "ties": "average"},
        "ranklib": {"gain": "exponential", "discount": "log2", "ties": "input"},
    }

    k: int | None = None
    gain: str | tuple | Mapping | Callable = "exponential"
    discount: str = "log2"
    ties: str = "average"
    self_normalized: bool = False

    def _values(self, y_true, y_score, offsets, n_threads, propensity=None):
        gain = self._gains(y_true, propensity)
        return _finite(self._sums(gain, y_score, self._discounts(offsets), offsets, n_threads))


@dataclass(frozen=True)
class RelevancePosition(_SelfNormalized):
    """Average relevance position, lower is better; see `average_relevance_position`."""

    label: ClassVar[str] = "average_relevance_position"
    presets: ClassVar[dict[str, dict]] = {}

    gain: str | tuple | Mapping | Callable = "linear"
    ties: str = "average"
    self_normalized: bool = True

    def _values(self, y_true, y_score, offsets, n_threads, propensity=None):
        gain = self._gains(y_true, propensity)
        positions = np.arange(1.0, np.diff(offsets).max() + 1)
        return _finite(self._sums(gain, y_score, positions, offsets, n_threads))


@dataclass(frozen=True)
class NegativeRelevancePosition(RelevancePosition):
    """Minus the average relevance position; see `average_relevance_position`."""

    label: ClassVar[str] = "neg_arp"

    def _values(self, *rows):
        return -super()._values(*rows)


def _finite(sums):
    """The gains or their sums; ValueError if one overflows."""
    if not (sums < LARGEST_DCG).all():
        raise ValueError("The sum of gains overflows float64; use smaller grades in `y_true`.")
    return sums


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

    def warn_of_propensity(self):
        warn_caller(
            f"{self.name} with `propensity` estimates the ideal DCG of a query by that of its "
            "clicks, so that it is not the NDCG of the grades, and may be above 1. DCG, as of "
            f"{self.name[1:]!r}, has no ideal and is estimated without bias. Take it, or silence "
            "sklearn_ltr.exceptions.EstimatedIdealWarning.",
            EstimatedIdealWarning,
        )

    def _values(self, y_true, y_score, offsets, n_threads, propensity=None):
        gain = relative_gains(gains(y_true, self.gain), offsets)
        weighted = gain
        if propensity is not None:
            self._gains(y_true, propensity)  # which are checked
            weighted = _finite(gain / propensity)
        discounts = self._discounts(offsets)
        sums = self._sums(weighted, y_score, discounts, offsets, n_threads)
        # Not of weighted gains: with one click in a list, its propensity would cancel.
        ideal = run_kernel(_dcg.ideal_dcg, gain, discounts, offsets=offsets, n_threads=n_threads)
        defined = ideal > 0
        values = np.full(len(ideal), np.nan)
        np.divide(sums, ideal, out=values, where=defined)
        if propensity is None:
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
    propensity=None,
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
    propensity : array-like of shape (n_samples,), default=None
        How likely each row was looked at, in (0, 1], where `y_true` are clicks: each click counts
        1 / propensity. The ideal is then an estimate; see the notes.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"sklearn", "lightgbm", "xgboost", "trec_eval", "letor3", "letor4", "ranklib"}, \
            default=None
        Set every switch as this tool does; see the notes.

    Returns
    -------
    score : float or QueryValues
        The mean over queries, in [0, 1] without `propensity`, or with ``per_query=True`` a named
        tuple ``(values, ids)``. There the skipped queries are NaN: ``np.isnan(values).sum()``
        counts them.

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
    EstimatedIdealWarning
        If `propensity` is given.

    See Also
    --------
    dcg_score : Without the division; of clicks with propensities it is estimated without bias.
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

    With `propensity`, the sum of each query is that of `dcg_score`, an unbiased estimate, and is
    divided by the largest DCG of its clicks, without propensities: with them, the propensity of the
    only click of a list would cancel. But the ideal of the clicks is not that of the grades. It
    depends on how many clicks there happen to be, and queries without a click go by `undefined`, so
    that the quotient is biased wherever a list has more than one click, and may be above 1. To tell
    rankers apart, take `dcg_score`.

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
    return metric(y_true, y_score, groups, query_weight, per_query, propensity)


def dcg_score(
    y_true,
    y_score,
    groups=None,
    *,
    k=None,
    gain="exponential",
    discount="log2",
    ties="average",
    self_normalized=False,
    query_weight=None,
    propensity=None,
    per_query=False,
    like=None,
):
    r"""Mean discounted cumulative gain (DCG) over queries.

    A query's value is ``sum(gain of the row at j * discount of j for positions j <= k)``. Of clicks
    with propensities it is an unbiased estimate of the DCG of what attracts clicks; see the notes.

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
    self_normalized : bool, default=False
        Divide by the mean sum of gains of all queries together, over propensities if there are any.
        The value is then the mean discount of a gain, between 0 and 1.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    propensity : array-like of shape (n_samples,), default=None
        How likely each row was looked at, in (0, 1], where `y_true` are clicks: each click counts
        1 / propensity.
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
        overflows float64, a switch has an unknown value, or `like` is given with another switch. If
        with `propensity` the grade 0 has a gain, or ties go by grades, "worst" or "best".

    Warns
    -----
    UndefinedMetricWarning
        If it is self-normalised and no row has a positive gain; the mean is then NaN.

    See Also
    --------
    ndcg_score : The same, normalised so that the best ranking has the value 1.
    average_relevance_position : The mean position of a gain.

    Notes
    -----
    A click :math:`c_i` on a row that is looked at with probability :math:`p_i`, and then clicked
    with probability :math:`\alpha_i`, has the expectation :math:`p_i \alpha_i`. So with the
    discount :math:`D(r_i)` of the position that the scores give the row, whatever position it was
    logged at,

    .. math::
        \mathrm{E} \sum_i D(r_i) \frac{c_i}{p_i} = \sum_i D(r_i)\, \alpha_i ,

    the DCG, of linear gain, of the attractiveness [2]_ [3]_. That holds for propensities that are
    known and positive at all rows that may attract. If they are known but for a common factor, as
    those of click models are, so is the value; rankers keep their order.

    One click of small propensity can outweigh all others. With ``self_normalized=True`` all queries
    together are divided by what their clicks add up to,

    .. math:: \frac{\sum_q w_q \sum_i D(r_i)\, c_i / p_i}{\sum_q w_q \sum_i c_i / p_i} ,

    [4]_ [5]_. That has less variance, needs no common factor, and is biased, by a share of the
    order of one over the number of clicks. It is not done by query: the propensity of the only
    click of a list would cancel.

    References
    ----------
    .. [1] K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM
       Transactions on Information Systems 20(4), 2002.
    .. [2] T. Joachims, A. Swaminathan and T. Schnabel, "Unbiased learning-to-rank with biased
       feedback", WSDM 2017.
    .. [3] A. Agarwal, K. Takatsu, I. Zaitsev and T. Joachims, "A general framework for
       counterfactual learning-to-rank", SIGIR 2019.
    .. [4] A. Swaminathan and T. Joachims, "The self-normalized estimator for counterfactual
       learning", NIPS 2015.
    .. [5] X. Wang, N. Golbandi, M. Bendersky, D. Metzler and M. Najork, "Position bias estimation
       for unbiased learning to rank in personal search", WSDM 2018.

    Examples
    --------
    >>> from sklearn_ltr.metrics import dcg_score
    >>> dcg_score([2, 0, 1], [0.3, 0.2, 0.1])  # 3 + 0 + 1/2
    3.5

    Two clicks, of which the second was made where one user in four looks:

    >>> clicks, propensity = [1, 0, 1], [1, 0.5, 0.25]
    >>> dcg_score(clicks, [0.3, 0.2, 0.1], propensity=propensity)  # 1 + 0 + 4/2
    3.0
    >>> dcg_score(clicks, [0.3, 0.2, 0.1], propensity=propensity, self_normalized=True)  # 3/5
    0.6
    """
    metric = DCG.create(
        like, k=k, gain=gain, discount=discount, ties=ties, self_normalized=self_normalized
    )
    return metric(y_true, y_score, groups, query_weight, per_query, propensity)


def average_relevance_position(
    y_true,
    y_score,
    groups=None,
    *,
    gain="linear",
    ties="average",
    self_normalized=True,
    query_weight=None,
    propensity=None,
    per_query=False,
):
    r"""Average relevance position: the mean position of a gain. **Lower is better.**

    .. math::
        \mathrm{ARP} = \frac{\sum_q w_q \sum_i r_i\, g(y_i)}{\sum_q w_q \sum_i g(y_i)}

    over the rows :math:`i` of queries :math:`q`, with :math:`r_i` the position from 1 that the
    scores give a row. The metric "neg_arp" of `get_metric` is its negative, where higher is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row: a finite number that has a gain.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    gain : {"exponential", "linear"}, array-like, mapping or callable, default="linear"
        What a grade counts: 2^y - 1; y; the gains of the grades 0, 1, 2, ...; the gain of each
        grade, ``{grade: gain}``; or a function of the distinct grades, ascending, that returns
        their gains. Gains are finite, not negative, and do not fall as grades rise.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the expectation of the value over all
        orders of the tied rows; the others are described in `ndcg_score`.
    self_normalized : bool, default=True
        False leaves out the denominator: the value is the sum of the positions of gains in a query,
        in the mean over the queries.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    propensity : array-like of shape (n_samples,), default=None
        How likely each row was looked at, in (0, 1], where `y_true` are clicks: each click counts
        1 / propensity.
    per_query : bool, default=False
        Return the value of each query instead of their mean.

    Returns
    -------
    position : float or QueryValues
        The mean over queries, or with ``per_query=True`` a named tuple ``(values, ids)``. If it is
        self-normalised it is at least 1, and queries have what they contribute to it: their sum
        over the mean sum of gains.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, a grade has no gain, the sum overflows
        float64, or a switch has an unknown value. If with `propensity` the grade 0 has a gain, or
        ties go by grades, "worst" or "best".

    Warns
    -----
    UndefinedMetricWarning
        If it is self-normalised and no row has a positive gain; the mean is then NaN.

    See Also
    --------
    dcg_score : Says what `propensity` estimates, and by whom.

    Notes
    -----
    The sum, without denominator, is the sum of relevant ranks, of which [1]_ shows that clicks over
    their propensities estimate it without bias. The quotient is the self-normalised estimate of the
    mean position. A query of many relevant rows counts more than one of few.

    References
    ----------
    .. [1] T. Joachims, A. Swaminathan and T. Schnabel, "Unbiased learning-to-rank with biased
       feedback", WSDM 2017.

    Examples
    --------
    >>> from sklearn_ltr.metrics import average_relevance_position
    >>> average_relevance_position([2, 0, 1], [0.3, 0.2, 0.1])  # (2 1 + 1 3) / 3
    1.666...

    Two clicks, of which the second was made where one user in four looks:

    >>> clicks, propensity = [1, 0, 1], [1, 0.5, 0.25]
    >>> average_relevance_position(clicks, [0.3, 0.2, 0.1], propensity=propensity)  # (1 + 4 3) / 5
    2.6
    """
    metric = RelevancePosition(gain=gain, ties=ties, self_normalized=self_normalized)
    return metric(y_true, y_score, groups, query_weight, per_query, propensity)
