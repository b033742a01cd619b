# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shares of the pairs of all queries together: QBRank's precision at K %, MPBoost's misordering."""

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ltr._kernels import _correlation
from sklearn_ltr.metrics._per_query import group_rows
from sklearn_ltr.metrics.correlation import count_pairs
from sklearn_ltr.validation import check_choice, warn_caller

TIED_PAIR_COUNTS = {"average": 0.5, "wrong": 1.0}


def misordering_rate(y_true, y_score, groups=None, *, ties="average", query_weight=None):
    r"""Share of the pairs of all queries that the scores put into the wrong order.

    .. math::
        \mathrm{MisOrder}(F) = \sum_{(i, j) : y_i > y_j} [[F(x_i) \leq F(x_j)]]

    over the pairs of rows of one query (equation 16 of [1]_), divided by their number. **Lower is
    better.**

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, any finite number.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    ties : {"average", "wrong"}, default="average"
        How a pair of equal scores counts: one half, its expectation over both orders of the tied
        rows, or as wrong, as in the paper.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each pair of the row's query, constant within a query. None weighs all pairs
        alike, so that a query counts by its number of pairs.

    Returns
    -------
    rate : float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, or `ties` is unknown.

    Warns
    -----
    UndefinedMetricWarning
        If no query has two rows of different grades; the rate is then NaN.

    See Also
    --------
    kendall_tau_distance : The mean over queries, each of the same weight, of this share.
    pair_precision_score : One minus this rate, or only the pairs of which the scores are surest.

    Notes
    -----
    The paper counts pairs and leaves their number, :math:`|I|`, to Theorem 1, whose weights are
    :math:`1 / |I|`; it counts (i, j) and (j, i), which cancels. It says nothing of queries: its
    pairs, like these, are within them. With ``ties="wrong"`` this is the rate that
    ``MPBoost().bound_`` bounds.

    References
    ----------
    .. [1] Zhu, Chen, Zhu, Wang, Wang, Chen. "A General Magnitude-Preserving Boosting Algorithm for
       Search Ranking". CIKM 2009.

    Examples
    --------
    >>> from sklearn_ltr.metrics import misordering_rate
    >>> y_true, y_score = [2, 1, 0, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.3]
    >>> misordering_rate(y_true, y_score, ["a", "a", "a", "b", "b"])  # one pair of four and a half
    0.375
    >>> misordering_rate(y_true, y_score, ["a", "a", "a", "b", "b"], ties="wrong")
    0.5
    """
    check_choice(ties, "ties", tuple(TIED_PAIR_COUNTS))
    y_true, y_score, queries, weight = group_rows(y_true, y_score, groups, query_weight)
    pairs, wrong, tied = count_pairs(y_true, y_score, queries.offsets)
    if not pairs.any():
        _warn_undefined("The misordering rate")
        return float("nan")
    misordered = wrong + TIED_PAIR_COUNTS[ties] * tied
    if weight is None:
        weight = np.ones(len(pairs))
    return float(weight @ misordered / (weight @ pairs))


def pair_precision_score(y_true, y_score, groups=None, *, share=1.0):
    r"""Precision at K %: share of right pairs among those of which the scores are surest.

    All pairs of rows of one query with different grades, of all queries together, are sorted by
    :math:`|s_i - s_j|`, the largest first. Of the first K % of them, this is the share whose higher
    grade has the higher score (section 4 of [1]_).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, any finite number.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    share : float or array-like of floats, default=1.0
        The paper's K % as a number above 0 and not above 1.

    Returns
    -------
    precision : float or ndarray of the shape of `share`
        Between 0 and 1; a random order has 1/2 in expectation.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, or a share is not in (0, 1].

    Warns
    -----
    UndefinedMetricWarning
        If no query has two rows of different grades; the precision is then NaN.

    See Also
    --------
    misordering_rate : One minus the precision at 100 %, with weights.
    kendall_tau_distance : The mean over queries of the share of wrong pairs.

    Notes
    -----
    Pairs of several queries are compared by the difference of their scores, so the figure depends
    on the scale of the scores within each query, not on their order alone, unless the share is 1.

    What the paper leaves open: K % of the pairs is rounded to the nearest whole number, halves to
    the even one, and is at least one pair. A pair of equal scores, which comes last, counts one
    half, its expectation over both orders; the paper's "non-contradicting" might count it as
    right. Where the cut falls among pairs of equal difference, the value is the expectation
    over the choice of them.

    Pairs are not listed. The difference at the cut is found by bisection over the floating-point
    numbers, each step of which counts pairs in O(n log n): memory is linear in the rows.

    References
    ----------
    .. [1] Zheng, Zha, Zhang, Chapelle, Chen, Sun. "A General Boosting Method and its Application to
       Learning Ranking Functions for Web Search". NIPS 2007.

    Examples
    --------
    >>> from sklearn_ltr.metrics import pair_precision_score
    >>> y_true, y_score = [2, 1, 0, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.3]
    >>> groups = ["a", "a", "a", "b", "b"]
    >>> pair_precision_score(y_true, y_score, groups)  # two and a half of four
    0.625
    >>> pair_precision_score(y_true, y_score, groups, share=[0.25, 0.5, 0.75])
    array([1.        , 0.75      , 0.66666667])
    """
    shares = np.asarray(share, dtype=np.float64)
    if shares.size == 0 or not ((shares > 0) & (shares <= 1)).all():
        raise ValueError(f"`share` must be above 0 and at most 1; got {share!r}.")
    y_true, y_score, queries, _ = group_rows(y_true, y_score, groups, None)
    pairs, wrong, tied = (
        int(count.sum()) for count in count_pairs(y_true, y_score, queries.offsets)
    )
    if pairs == 0:
        _warn_undefined("Pair precision")
        return np.full(shares.shape, np.nan) if shares.ndim else float("nan")
    everything = pairs - wrong - tied / 2, wrong + tied / 2
    wide_pairs = _WidePairs(y_true, y_score, queries)
    values = [
        _precision_of_first(max(1, round(share * pairs)), everything, wide_pairs)
        for share in shares.ravel()
    ]
    return np.reshape(values, shares.shape) if shares.ndim else values[0]


class _WidePairs:
    """Counts the pairs of different grades whose scores differ by at least a gap."""

    def __init__(self, y_true, y_score, queries):
        query = queries.query_of_row()
        order = np.lexsort((y_true, query))
        # A grade's number is the number of steps up to it from the lowest of its query.
        ordered = y_true[order]
        steps = np.cumsum(np.r_[False, ordered[1:] != ordered[:-1]])
        levels = np.empty_like(steps)
        levels[order] = steps - steps[queries.offsets[query]]
        order = np.lexsort((-y_score, query))
        self._rows = y_score[order], levels[order], queries.offsets
        self._tree = np.empty(queries.sizes.max() + 1, dtype=np.int64)

    def __call__(self, gap):
        return _correlation.count_wide_pairs(*self._rows, gap, self._tree)


def _precision_of_first(m, everything, wide_pairs):
    """Share of right ones among the first m pairs; `everything` counts the right and the wrong."""
    # Bisection: at least m pairs have the gap `low`, fewer the gap `high`. Positive floats are
    # ordered as the integers of the same bits.
    low, high = 0, _bits(np.inf) + 1
    inside, above = everything, (0, 0)
    while sum(inside) > m and high - low > 1:
        middle = (low + high) // 2
        counts = wide_pairs(np.int64(middle).view(np.float64))
        if sum(counts) >= m:
            low, inside = middle, counts
        else:
            high, above = middle, counts
    share_at_cut = (inside[0] - above[0]) / (sum(inside) - sum(above))
    return (above[0] + (m - sum(above)) * share_at_cut) / m


def _bits(value):
    return int(np.float64(value).view(np.int64))


def _warn_undefined(name):
    warn_caller(
        f"{name} is undefined where no query has two rows of different grades; it is NaN.",
        UndefinedMetricWarning,
    )
