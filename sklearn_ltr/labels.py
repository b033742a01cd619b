# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Functions of grades: what relevance judgements become before a loss or a metric sees them."""

from collections.abc import Mapping
from numbers import Real

import numpy as np
from scipy.special import expit, logit

from sklearn_ltr._kernels import _pairs
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.validation import check_column, warn_caller

__all__ = ["consistent_probability", "directed_distance", "preference_pairs"]

DISTANCES = ("linear", "logarithmic", "logistic", "binary")
GAINS = ("exponential", "linear")

# Of differences of grades, relative: they round.
SAME_GAP = 1e-9

MAX_EXPONENT = 1024  # of 2, the first that float64 cannot hold


def directed_distance(higher, lower, distance="logistic", *, alpha=0.5, lam=3.0, beta=0.5):
    r"""Directed distance from lower to higher grades, the label of a preference pair.

    .. math::
        \mathrm{LDD} = \alpha\,(r_i - r_j), \quad
        \mathrm{LOGDD} = \log(1 + \lambda\,(r_i - r_j)), \quad
        \mathrm{LOGITDD} = \frac{1}{1 + e^{-\beta (r_i - r_j)}}

    for :math:`r_i > r_j`; the distance in the other direction is its negative, and equal grades are
    at distance 0 (equations 6-8 of [1]_).

    Parameters
    ----------
    higher, lower : array-like of the same shape, dtype float64
        Grades, ``higher > lower`` everywhere.
    distance : {"linear", "logarithmic", "logistic", "binary"} or callable, default="logistic"
        A callable takes the two arrays and returns positive numbers, larger ones where the grades
        are further apart.
    alpha, lam, beta : float, default=0.5, 3.0, 0.5
        The paper's :math:`\alpha`, :math:`\lambda`, :math:`\beta`, all positive.

    Returns
    -------
    distances : ndarray of the shape of `higher`, dtype float64, all positive

    Raises
    ------
    ValueError
        If `distance` is unknown, a first grade is not the higher one, or a callable breaks
        requirement (3) of [1]_: a distance must be finite and have the sign of the difference.

    Warns
    -----
    UserWarning
        If a callable breaks requirement (4): a distance of grades that are further apart must not
        be smaller.

    References
    ----------
    .. [1] Zhu, Chen, Zhu, Wang, Wang, Chen. "A General Magnitude-Preserving Boosting Algorithm for
       Search Ranking". CIKM 2009.

    Examples
    --------
    >>> from sklearn_ltr.labels import directed_distance
    >>> directed_distance([1, 2], [0, 0], "linear", alpha=0.5)
    array([0.5, 1. ])
    """
    higher = np.asarray(higher, dtype=np.float64)
    lower = np.asarray(lower, dtype=np.float64)
    gap = higher - lower
    if not (gap > 0).all():
        i = np.flatnonzero(~(gap > 0))[0]
        raise ValueError(
            "The first of two grades must be the higher one; got "
            f"{higher.ravel()[i]} and {lower.ravel()[i]}. A distance in the other direction is the "
            "negative of this one, and that of equal grades is 0."
        )
    if callable(distance):
        values = np.asarray(distance(higher, lower), dtype=np.float64)
        if values.shape != gap.shape:
            raise ValueError(
                f"`distance` returned shape {values.shape} for grades of shape {gap.shape}."
            )
    elif distance == "linear":
        values = alpha * gap
    elif distance == "logarithmic":
        values = np.log1p(lam * gap)
    elif distance == "logistic":
        values = 1.0 / (1.0 + np.exp(-beta * gap))
    elif distance == "binary":
        values = np.ones_like(gap)
    else:
        raise ValueError(
            f"`distance` must be one of {list(DISTANCES)} or a callable; got {distance!r}."
        )
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        i = np.flatnonzero(wrong)[0]
        raise ValueError(
            "`distance` must be finite and positive where the first grade is the higher one; got "
            f"{values.ravel()[i]} for grades {higher.ravel()[i]} and {lower.ravel()[i]}."
        )
    if callable(distance):
        _warn_of_smaller_distances(gap.ravel(), values.ravel(), higher.ravel(), lower.ravel())
    return values


def _warn_of_smaller_distances(gap, values, higher, lower):
    """Warn where a distance is smaller than that of grades that are closer together."""
    order = np.argsort(gap, kind="stable")
    gap, values = gap[order], values[order]
    # The largest distance among the clearly smaller differences: these differ by rounding, too.
    closer = np.searchsorted(gap, gap * (1 - SAME_GAP), side="left")
    largest = np.concatenate([[-np.inf], np.maximum.accumulate(values)])[closer]
    wrong = values < largest
    if wrong.any():
        i = int(np.argmax(wrong))
        j = int(np.argmax(values[: closer[i]]))
        (a, b), (c, d) = ((higher[order[k]], lower[order[k]]) for k in (i, j))
        warn_caller(
            f"`distance` is {values[i]:g} for the grades {a:g} and {b:g}, and {values[j]:g} for "
            f"{c:g} and {d:g}, which are closer together. A directed distance must not fall as "
            "grades are further apart (requirement (4) of the MPBoost paper).",
            UserWarning,
        )


def preference_pairs(y, groups):
    """The pairs that grades make, for ``fit(..., preferences=..., preference_margin=...)``.

    With NaN at the rows of the other queries, the grades of some queries become pairs, beside the
    labels, clicks or comparisons of others.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Grades; higher is better. NaN marks a row that is in no pair.
    groups : array-like of shape (n_samples,)
        Query id of each row.

    Returns
    -------
    preferences : ndarray of shape (n_pairs, 2), dtype intp
        Row of the winner and row of the loser: all pairs of rows of a query with different grades.
    margin : ndarray of shape (n_pairs,), dtype float64
        By how much their grades differ.

    See Also
    --------
    sklearn_ltr.QBRank : Learns from labels and preferences together.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.labels import preference_pairs
    >>> preferences, margin = preference_pairs([0, 2, 1, np.nan, 3], [7, 7, 7, 7, 8])
    >>> preferences.tolist()
    [[1, 0], [1, 2], [2, 0]]
    >>> margin
    array([2., 1., 1.])
    """
    y = check_column(y, "y", finite="allow-nan")
    queries = QueryGroups.from_ids(groups, len(y))
    order = queries.order
    ordered, query = y[order], queries.query_of_row()
    ascending = np.lexsort((ordered, query))
    # Rows of lower grade of the same query: those before the first of a row's own grade.
    key = np.unique(ordered, return_inverse=True)[1] + query * (len(y) + 1)
    lower = np.empty(len(y), dtype=np.intp)
    lower[ascending] = np.searchsorted(key[ascending], key[ascending])
    lower -= np.repeat(queries.offsets[:-1], queries.sizes)
    n_pairs = int(lower[~np.isnan(ordered)].sum())
    pairs = np.empty((2, n_pairs), dtype=np.int32)
    no_ties = np.zeros(len(queries.sizes), dtype=np.uint8)
    _pairs.list_pairs(ordered, queries.offsets, no_ties, *pairs)
    winner, loser = order[pairs]
    return np.column_stack([winner, loser]), y[winner] - y[loser]


def as_gain(gain):
    """A gain as rankers and metrics keep it: a list or an array as a tuple, the others as given.

    Parameters
    ----------
    gain : {"exponential", "linear"}, sequence, mapping or callable

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if isinstance(gain, (list, tuple, np.ndarray)) and np.ndim(gain) == 1 and len(gain) > 0:
        return tuple(float(value) for value in gain)
    known = isinstance(gain, str) and gain in GAINS
    if known or isinstance(gain, Mapping) or callable(gain):
        return gain
    raise ValueError(
        f"`gain` must be one of {list(GAINS)}, the gains of the grades 0, 1, 2, ... as a list, a "
        f"mapping of grades to gains or a callable; got {gain!r}."
    )


def check_gain(grades, gain, name="y"):
    """Check that grades have gains.

    Parameters
    ----------
    grades : ndarray, dtype float64, not empty
    gain : {"exponential", "linear"}, tuple, mapping or callable
        As `as_gain` returns it.
    name : str, default="y"
        Name of the grades in error messages.

    Raises
    ------
    ValueError
        If a grade has no gain, its gain is negative or infinite, or a higher grade has a lower
        gain. For a gain by name, if a grade is negative.
    """
    if not isinstance(gain, str):
        _given_gains(np.unique(grades), gain, name)
        return
    if len(grades) == 0:  # of a rank without rows
        return
    if (lowest := grades.min()) < 0:
        raise ValueError(
            f"`{name}` has the negative grade {lowest:g}; a gain needs grades of at least 0. "
            f"Subtract the lowest grade from `{name}`."
        )
    if gain == "exponential" and (highest := grades.max()) >= MAX_EXPONENT:
        raise ValueError(
            f"`{name}` has the grade {highest:g}, whose gain 2^y - 1 overflows float64, as it does "
            f'from {MAX_EXPONENT} on. Use gain="linear" or smaller grades.'
        )


def _given_gains(distinct, gain, name="y"):
    """Gains of distinct grades, ascending, by a tuple, a mapping or a callable; all are checked."""
    if callable(gain):
        values = np.asarray(gain(distinct), dtype=np.float64)
        if values.shape != distinct.shape:
            raise ValueError(
                f"`gain` returned shape {values.shape} for {len(distinct)} distinct grades."
            )
    else:
        listed = gain if isinstance(gain, Mapping) else dict(enumerate(gain))
        missing = [grade for grade in distinct.tolist() if grade not in listed]
        if missing:
            raise ValueError(
                f"`{name}` has the grade {missing[0]:g}, which `gain` does not list; it has "
                f"{list(listed)}."
            )
        values = np.array([listed[grade] for grade in distinct.tolist()], dtype=np.float64)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"`gain` must be finite and not negative; it is {values[i]:g} for the grade "
            f"{distinct[i]:g}."
        )
    falls = np.diff(values) < 0
    if falls.any():
        i = int(np.argmax(falls))
        raise ValueError(
            f"`gain` must not fall as grades rise; it is {values[i]:g} for the grade "
            f"{distinct[i]:g} and {values[i + 1]:g} for {distinct[i + 1]:g}."
        )
    return values


def why_not_spread(gain):
    """Why a gain takes no grades of several ranks, and what to do; None if it does."""
    if callable(gain):
        return "a callable `gain` is of all grades at once. Give the gains as a list or a mapping"
    return None


def gains(grades, gain):
    """Gain of each grade: 2^y - 1 ("exponential"), y ("linear"), or what `gain` says.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.labels import gains
    >>> gains(np.array([0.0, 1.0, 2.0, 3.0]), "exponential")
    array([0., 1., 3., 7.])
    >>> gains(np.array([2.0, 0.0, 1.0]), (0, 3, 10))
    array([10.,  0.,  3.])
    """
    if not isinstance(gain, str):
        distinct, of_row = np.unique(grades, return_inverse=True)
        return _given_gains(distinct, gain)[of_row]
    if gain == "linear":
        return grades
    values = np.exp2(grades)
    values -= 1
    # Of small grades the difference would leave few digits, or none.
    small = grades < 1
    values[small] = np.expm1(np.log(2) * grades[small])
    return values


def consistent_probability(higher, lower, step=0.6):
    r"""Probability that the higher of two grades wins, put together from steps between grades.

    If i beats j with probability p and j beats k with q, then i beats k with

    .. math:: \frac{p q}{p q + (1 - p) (1 - q)} ,

    property (3) of section 3.1 of [1]_: .6 and .6 make .692. The log-odds of a pair are the sum of
    those of the steps between its grades.

    Parameters
    ----------
    higher, lower : array-like of the same shape, dtype float64
        Grades, ``higher > lower`` everywhere.
    step : float or sequence of float, default=0.6
        Probabilities in [0.5, 1). One number is that of grades 1 apart, and grades may be any;
        several are those of the grades 0 and 1, 1 and 2, and so on, and there are no others.

    Returns
    -------
    probabilities : ndarray of the shape of `higher`, dtype float64

    Raises
    ------
    ValueError
        If a step is not in [0.5, 1), or there is none for a grade.

    References
    ----------
    .. [1] Tsai, Liu, Qin, Chen, Ma. "FRank: A Ranking Method with Fidelity Loss". SIGIR 2007.

    Examples
    --------
    >>> from sklearn_ltr.labels import consistent_probability
    >>> consistent_probability([1, 2, 3], [0, 0, 0], 0.6).round(3)
    array([0.6  , 0.692, 0.771])
    >>> consistent_probability([1, 2, 2], [0, 1, 0], [0.6, 0.9]).round(3)
    array([0.6  , 0.9  , 0.931])

    In a search or a ranker, with its step:

    >>> from functools import partial
    >>> from sklearn_ltr import FRank
    >>> ranker = FRank(target_probability=partial(consistent_probability, step=0.9))
    """
    higher = np.asarray(higher, dtype=np.float64)
    lower = np.asarray(lower, dtype=np.float64)
    steps = np.asarray(step, dtype=np.float64)
    if steps.ndim > 1 or steps.size == 0 or not ((steps >= 0.5) & (steps < 1)).all():
        raise ValueError(
            f"`step` must be a number in [0.5, 1), or a sequence of such; got {step!r}."
        )
    if steps.ndim == 0:
        return expit((higher - lower) * logit(steps))
    for grades in (higher, lower):
        wrong = ~np.isin(grades, np.arange(len(steps) + 1))
        if wrong.any():
            raise ValueError(
                f"`step` is of the grades 0 to {len(steps)}, but there is the grade "
                f"{grades[wrong].flat[0]:g}."
            )
    sums = np.concatenate([[0.0], np.cumsum(logit(steps))])
    return expit(sums[higher.astype(np.intp)] - sums[lower.astype(np.intp)])


def check_target_probability(P):
    """Check that `target_probability` is one of what it may be; ValueError if not."""
    if isinstance(P, Mapping) or callable(P):
        return
    if not (isinstance(P, Real) and 0.5 <= P <= 1):
        raise ValueError(
            "`target_probability` must be in [0.5, 1], a mapping of differences of grades to such "
            f"numbers, or a callable; got {P!r}."
        )


def check_tie_weight(weight):
    """Check that `tie_weight` is a number that is not negative; ValueError if not."""
    if not (isinstance(weight, Real) and 0 <= weight < np.inf):
        raise ValueError(f"`tie_weight` must be a number, not negative; got {weight!r}.")


def target_probability(higher, lower, P):
    r"""The probability :math:`P^*` aimed at that the row of the higher grade wins.

    Parameters
    ----------
    higher, lower : ndarrays of shape (n_pairs,), dtype float64
        Grades, ``higher > lower`` everywhere.
    P : float, mapping or callable
        Of every pair; of the differences of grades; or what takes both arrays.

    Returns
    -------
    probabilities : ndarray of shape (n_pairs,), dtype float64

    Raises
    ------
    ValueError
        If a difference has no probability, or one is not in [0.5, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.labels import target_probability
    >>> target_probability(np.array([1.0, 2.0]), np.array([0.0, 0.0]), {1: 0.6, 2: 0.9})
    array([0.6, 0.9])
    """
    if callable(P):
        values = np.asarray(P(higher, lower), dtype=np.float64)
        if values.shape != higher.shape:
            raise ValueError(
                f"`target_probability` returned shape {values.shape} for grades of shape "
                f"{higher.shape}."
            )
    elif isinstance(P, Mapping):
        gaps, of_pair = np.unique(higher - lower, return_inverse=True)
        missing = [gap for gap in gaps.tolist() if gap not in P]
        if missing:
            raise ValueError(
                f"`target_probability` has no probability of grades {missing[0]:g} apart; it lists "
                f"{list(P)}."
            )
        values = np.array([P[gap] for gap in gaps.tolist()], dtype=np.float64)[of_pair]
    else:
        values = np.full(higher.shape, P, dtype=np.float64)
    wrong = ~((values >= 0.5) & (values <= 1))
    if wrong.any():
        i = np.flatnonzero(wrong)[0]
        raise ValueError(
            f"`target_probability` must be in [0.5, 1]; got {values[i]:g} for the grades "
            f"{higher[i]:g} and {lower[i]:g}."
        )
    return values
