# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two rankers in one list, and which of them its clicks are for."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest
from sklearn.utils import Bunch, check_random_state, check_scalar

from sklearn_ltr.clicks._rows import number_ids
from sklearn_ltr.clicks.log import _check_clicks
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.validation import check_column, check_positive

# Outcomes, or cells of a matrix of lists and rows, that are computed with at a time.
BLOCK = 2**21

# Distinct outcomes that the bootstrap draws one by one, and what more are multiples of, inverted.
MOST_VALUES, ROUNDED = 1000, 500

# Of a rank in draws, so that the last ones can be drawn at last whatever `tau` is.
LEAST_SHARE = 1e-250


def team_draft_interleaving(
    y_score_first, y_score_second, groups=None, *, n_positions=10, random_state=None
):
    r"""Interleave two rankings as two captains choose their teams.

    In each round a coin says which ranker chooses first; each then adds the best of its rows that
    is not yet in the list, to which it lays claim (algorithm 2 of [1]_). A click is for the ranker
    that has chosen the row.

    Parameters
    ----------
    y_score_first, y_score_second : array-like of shape (n_samples,)
        Scores of the rows by the two rankers, finite; the highest is ranked first, and of equal
        ones the earlier row.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query. Each
        query has one list: give its rows once for every time that it is asked, under another id.
    n_positions : int, default=10
        The longest list.
    random_state : int, RandomState instance or None, default=None
        Of the coins.

    Returns
    -------
    lists : Bunch
        Arrays of one entry for each row that is shown, by query and position, such as
        ``pandas.DataFrame`` takes:

        - ``rows``: ndarray of shape (n_shown,), where the row is among those given
        - ``groups``: ndarray of shape (n_shown,), its query
        - ``positions``: ndarray of shape (n_shown,), from 1
        - ``credit``: ndarray of shape (n_shown,), which share of a click is for the first ranker,
          0 or 1

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length.

    See Also
    --------
    probabilistic_interleaving : Needs fewer clicks where rankings are alike.
    compare_interleaved : Says who wins.

    Notes
    -----
    A ranker that is as good as the other has as many clicks in expectation, wherever users look:
    both have as many rows in the list, and each position is as likely to be the one's or the
    other's. Where both would have shown a row at the same place, a click on it is noise, which
    :func:`probabilistic_interleaving` takes out.

    References
    ----------
    .. [1] Radlinski, Kurup, Joachims. "How Does Clickthrough Data Reflect Retrieval Quality?". CIKM
       2008.

    Examples
    --------
    >>> from sklearn_ltr.clicks import team_draft_interleaving
    >>> lists = team_draft_interleaving([3, 2, 1, 0], [0, 1, 2, 3], n_positions=3, random_state=0)
    >>> lists.rows, lists.credit
    (array([0, 3, 2]), array([1., 0., 0.]))
    """
    first, second, queries = _check_rankings(y_score_first, y_score_second, groups)
    check_scalar(n_positions, "n_positions", Integral, min_val=1)
    rng = check_random_state(random_state)
    parts = []
    for some, ranked in _blocks(queries, first, second):
        shape = ranked.shape[1:]
        n_lists, depth = shape[0], min(n_positions, shape[1])
        taken = np.zeros(shape, dtype=bool)
        rows, credit = np.full((n_lists, depth), -1), np.zeros((n_lists, depth))
        of_list, sizes = np.arange(n_lists), queries.sizes[some]
        for position in range(depth):
            if position % 2 == 0:
                turn = rng.randint(2, size=n_lists)
            else:
                turn = 1 - turn  # of the ranker that has chosen one row less
            choices = ranked[turn, of_list]
            free = ~np.take_along_axis(taken, choices, axis=1)
            chosen = choices[of_list, free.argmax(axis=1)]
            shown = position < sizes
            rows[shown, position], credit[:, position] = chosen[shown], turn == 0
            taken[of_list, chosen] = True
        parts.append(_shown(queries, some, rows, credit))
    return _joined(parts)


def probabilistic_interleaving(
    y_score_first, y_score_second, groups=None, *, n_positions=10, tau=3.0, random_state=None
):
    r"""Interleave two rankings by draws, so that every row may be any ranker's.

    A ranker that puts row :math:`d` at rank :math:`r(d)` draws it with probability

    .. math:: P(d) = \frac{r(d)^{-\tau}}{\sum_{d'} r(d')^{-\tau}} .

    For each position a coin says which ranker draws, from the rows that are not yet in the list
    (algorithm 2 of [1]_). A click is for the ranker that drew the row. But either may have drawn
    it, and given the list that is a matter of

    .. math::
        P(a_k = 1 \mid l) = \frac{P_1(l_k \mid l_1 \dots l_{k-1})}
        {P_1(l_k \mid l_1 \dots l_{k-1}) + P_2(l_k \mid l_1 \dots l_{k-1})} ,

    for each position :math:`k` by itself, as coins are independent. So clicks are shared out by
    expectation over all assignments, and not by the one that there happened to be.

    Parameters
    ----------
    y_score_first, y_score_second : array-like of shape (n_samples,)
        Scores of the rows by the two rankers, finite; the highest is ranked first, and of equal
        ones the earlier row.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query. Each
        query has one list: give its rows once for every time that it is asked, under another id.
    n_positions : int, default=10
        The longest list.
    tau : float, default=3.0
        How sure the draws are, :math:`\tau`, from 0, by which any row is drawn, to below 100.
    random_state : int, RandomState instance or None, default=None
        Of what is drawn.

    Returns
    -------
    lists : Bunch
        Arrays of one entry for each row that is shown, by query and position, such as
        ``pandas.DataFrame`` takes:

        - ``rows``: ndarray of shape (n_shown,), where the row is among those given
        - ``groups``: ndarray of shape (n_shown,), its query
        - ``positions``: ndarray of shape (n_shown,), from 1
        - ``credit``: ndarray of shape (n_shown,), which share of a click is for the first ranker,
          :math:`P(a_k = 1 \mid l)`

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, or `tau` is out of range.

    See Also
    --------
    team_draft_interleaving : Shows what the rankers would show, and draws nothing else.
    compare_interleaved : Says who wins.

    References
    ----------
    .. [1] Hofmann, Whiteson, de Rijke. "A Probabilistic Method for Inferring Preferences from
       Clicks". CIKM 2011.

    Examples
    --------
    >>> from sklearn_ltr.clicks import probabilistic_interleaving
    >>> lists = probabilistic_interleaving(
    ...     [3, 2, 1, 0], [0, 1, 2, 3], n_positions=3, random_state=0
    ... )
    >>> lists.rows, lists.credit.round(3)
    (array([0, 1, 3]), array([0.985, 0.957, 0.25 ]))
    """
    first, second, queries = _check_rankings(y_score_first, y_score_second, groups)
    check_scalar(n_positions, "n_positions", Integral, min_val=1)
    check_positive(tau, "tau", zero=True, maximum=100)
    rng = check_random_state(random_state)
    parts = []
    for some, ranked in _blocks(queries, first, second):
        shape = ranked.shape[1:]
        n_lists, depth = shape[0], min(n_positions, shape[1])
        rows, credit = np.full((n_lists, depth), -1), np.zeros((n_lists, depth))
        of_list, sizes = np.arange(n_lists), queries.sizes[some]
        # What each ranker gives each row, and what of it is left.
        share = np.empty((2, *shape))
        of_rank = np.maximum(np.arange(1.0, shape[1] + 1) ** -float(tau), LEAST_SHARE)
        np.put_along_axis(share, ranked, of_rank[None, None], axis=2)
        share *= np.arange(shape[1]) < sizes[:, None]
        for position in range(depth):
            turn = rng.randint(2, size=n_lists)
            left = np.cumsum(share, axis=2)
            total = left[:, :, -1]
            drawn = rng.random_sample(n_lists) * total[turn, of_list]
            # The last row that is left, where rounding makes the sum as large as what is drawn.
            chosen = np.minimum(
                (left[turn, of_list] <= drawn[:, None]).sum(axis=1),
                shape[1] - 1 - (share[turn, of_list, ::-1] > 0).argmax(axis=1),
            )
            shown = position < sizes
            rows[shown, position] = chosen[shown]
            by = share[:, of_list[shown], chosen[shown]] / total[:, shown]
            credit[shown, position] = by[0] / by.sum(axis=0)
            share[:, of_list, chosen] = 0
        parts.append(_shown(queries, some, rows, credit))
    return _joined(parts)


def _check_rankings(y_score_first, y_score_second, groups):
    first = check_column(y_score_first, "y_score_first")
    second = check_column(y_score_second, "y_score_second")
    if len(first) != len(second):
        raise ValueError(
            "`y_score_first` and `y_score_second` must have the same length; got "
            f"{len(first)} and {len(second)}."
        )
    return first, second, QueryGroups.from_ids(groups, len(first))


def _blocks(queries, first, second):
    """Some queries at a time, and their rows by rank, with places without a row at the end.

    The latter are of shape (2, n_queries, longest), for both rankers, and number the rows of each
    query as they come.
    """
    longest = int(queries.sizes.max())
    at_a_time = max(1, BLOCK // longest)
    for start in range(0, queries.n_queries, at_a_time):
        some = np.arange(start, min(start + at_a_time, queries.n_queries))
        place = np.arange(longest)
        there = place < queries.sizes[some, None]
        # Rows of a query in the order in which they are given.
        at = queries.order[np.where(there, queries.offsets[some, None] + place, 0)]
        scores = np.where(there, np.array([first, second])[:, at], -np.inf)
        yield some, np.argsort(-scores, axis=2, kind="stable")


def _shown(queries, some, rows, credit):
    """The columns of some lists: `rows` has rows of each query, and -1 after the last."""
    shown = rows >= 0
    at, position = np.nonzero(shown)
    query = some[at]
    return (
        queries.order[queries.offsets[query] + rows[shown]],
        queries.ids[query],
        position + 1,
        credit[shown],
    )


def _joined(parts):
    names = ("rows", "groups", "positions", "credit")
    return Bunch(**dict(zip(names, map(np.concatenate, zip(*parts, strict=True)), strict=True)))


class InterleavingComparison(NamedTuple):
    """Which of two rankers has the clicks of interleaved lists, as `compare_interleaved` finds it.

    Parameters
    ----------
    preference : float
        Mean outcome of a list that has a click: 1 if the first ranker has more clicks in all of
        them, -1 if the second one has, 0 if they are even.
    ci_low, ci_high : float
        Confidence interval (95 %) of it, by the bootstrap.
    p_sign : float in [0, 1]
        p-value of the sign test, two-sided: wins against losses.
    p_bootstrap : float in [0, 1]
        p-value of the bootstrap, two-sided.
    wins, ties, losses : int
        Numbers of lists with a click that the first ranker wins, ties and loses.
    n_lists : int
        Number of lists, those without a click among them.
    outcomes : ndarray of shape (n_lists,)
        Of each list, from -1 to 1: the expectation of the sign of the difference of clicks. NaN
        where there is no click.
    ids : ndarray of shape (n_lists,)
        The ids of the lists.

    See Also
    --------
    compare_interleaved : Makes it.

    Examples
    --------
    Of four lists the first ranker has the clicks of three, and the second those of one:

    >>> from sklearn_ltr.clicks import compare_interleaved
    >>> comparison = compare_interleaved([1, 1, 1, 1], [1, 1, 1, 0], [7, 8, 9, 10])
    >>> comparison.wins, comparison.losses, comparison.preference, comparison.p_sign
    (3, 1, 0.5, 0.625)
    """

    preference: float
    ci_low: float
    ci_high: float
    p_sign: float
    p_bootstrap: float
    wins: int
    ties: int
    losses: int
    n_lists: int
    outcomes: np.ndarray
    ids: np.ndarray

    def __repr__(self):
        return (
            f"InterleavingComparison(preference={self.preference:.3f} [{self.ci_low:.3f}, "
            f"{self.ci_high:.3f}], p_sign={self.p_sign:.3g}, p_bootstrap={self.p_bootstrap:.3g}, "
            f"{self.wins:,} wins, {self.ties:,} ties, {self.losses:,} losses in {self.n_lists:,} "
            "lists)"
        )


def compare_interleaved(clicks, credit, sessions, *, n_resamples=9999, random_state=None):
    r"""Say which of two interleaved rankers wins, with tests over the lists.

    Each list has an outcome, :math:`o = 1` if the first ranker has more of its clicks, -1 if the
    second one has, 0 if they are even [1]_; where it is not certain whose a row is, the expectation
    over all assignments :math:`a` of the clicked rows to rankers [2]_,

    .. math:: o = \sum_a P(a \mid l)\,
              \mathrm{sign}\Bigl(\sum_k c_k\,[[a_k = 1]] - \sum_k c_k\,[[a_k = 2]]\Bigr) .

    Parameters
    ----------
    clicks : array-like of shape (n_shown,)
        1 where a row was clicked, 0 where not.
    credit : array-like of shape (n_shown,)
        Which share of a click is for the first ranker, from 0 to 1, as
        :func:`team_draft_interleaving` and :func:`probabilistic_interleaving` say of each row.
    sessions : array-like of shape (n_shown,)
        Id of the list that each row was in.
    n_resamples : int, default=9999
        Resamples of the bootstrap.
    random_state : int, RandomState instance or None, default=None
        Of the bootstrap.

    Returns
    -------
    comparison : InterleavingComparison
        With `preference`, its confidence interval, two p-values, and the outcome of each list.

    Raises
    ------
    ValueError
        If an argument has a wrong length or value, or no list has a click.

    See Also
    --------
    sklearn_ltr.model_selection.compare_rankers : By grades.

    Notes
    -----
    Lists without a click say nothing, and are left out of all but `n_lists`. The sign test is exact
    for independent lists: of the lists that are won or lost, as many are won as lost where the
    rankers are equally good. With shares of clicks, the side to which an outcome leans is all that
    it looks at; the bootstrap looks at how far. It draws lists, with replacement: the interval has
    the percentiles of the mean, and the p-value is twice the share of means on the other side of 0,
    or at it, the one seen added to them. It needs some tens of lists; with few the sign test is to
    be trusted. Where all outcomes are the same there is nothing to draw from, and its results are
    NaN. Where more than 1,000 differ, they are rounded to multiples of 0.002 for the draws, whose
    mean stays what it is.

    Lists must be independent. Sessions of the same users may not be, nor are looks at the test
    while it runs, which find a winner sooner or later: say beforehand when to stop. How
    preferences, and the numbers of lists that they need, compare with other tests is in [3]_.

    References
    ----------
    .. [1] Radlinski, Kurup, Joachims. "How Does Clickthrough Data Reflect Retrieval Quality?". CIKM
       2008.
    .. [2] Hofmann, Whiteson, de Rijke. "A Probabilistic Method for Inferring Preferences from
       Clicks". CIKM 2011.
    .. [3] Chapelle, Joachims, Radlinski, Yue. "Large-Scale Validation and Analysis of Interleaved
       Search Evaluation". ACM Transactions on Information Systems 30, 2012.

    Examples
    --------
    A ranker that knows much of what attracts against one that knows less; users click as the
    position-based model has it:

    >>> import numpy as np
    >>> from sklearn_ltr.clicks import compare_interleaved, team_draft_interleaving
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(500), 8)
    >>> attracts = rng.random(4000)
    >>> good, poor = attracts + rng.normal(0, 0.2, 4000), attracts + rng.normal(0, 1, 4000)
    >>> lists = team_draft_interleaving(good, poor, groups, n_positions=5, random_state=0)
    >>> clicks = rng.random(len(lists.rows)) < attracts[lists.rows] / lists.positions
    >>> compare_interleaved(clicks, lists.credit, lists.groups, random_state=0)
    InterleavingComparison(preference=0.143 [0.067, 0.218], p_sign=0.000362, p_bootstrap=0.0004,
    189 wins, 135 ties, 125 losses in 500 lists)
    """
    clicked = _check_clicks(clicks, None)
    credit = check_column(credit, "credit", len(clicked))
    wrong = ~((credit >= 0) & (credit <= 1))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"`credit` has {credit[row]:g} at row {row}; shares are from 0 to 1.")
    check_scalar(n_resamples, "n_resamples", Integral, min_val=1)
    session, ids = number_ids(sessions, len(clicked), "sessions", "session id")
    outcomes = _outcomes(credit[clicked], session[clicked], len(ids))
    seen = outcomes[~np.isnan(outcomes)]
    if len(seen) == 0:
        raise ValueError("No list has a click, so that there is nothing to compare by.")
    wins, losses = int((seen > 0).sum()), int((seen < 0).sum())
    p_sign = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    p_bootstrap, low, high = _bootstrap(seen, int(n_resamples), check_random_state(random_state))
    return InterleavingComparison(
        preference=float(seen.mean()),
        ci_low=low,
        ci_high=high,
        p_sign=float(p_sign),
        p_bootstrap=p_bootstrap,
        wins=wins,
        ties=len(seen) - wins - losses,
        losses=losses,
        n_lists=len(ids),
        outcomes=outcomes,
        ids=ids,
    )


def _outcomes(credit, session, n_lists):
    """Expected sign of the difference of clicks of each list; NaN where there is none."""
    # The order of the rows of a list is without effect, to the last bit.
    order = np.lexsort((credit, session))
    credit, counts = credit[order], np.bincount(session, minlength=n_lists)
    starts = np.cumsum(counts) - counts
    outcomes = np.full(n_lists, np.nan)
    for n in np.unique(counts[counts > 0]):  # lists of as many clicks at a time
        lists = np.flatnonzero(counts == n)
        shares = credit[starts[lists, None] + np.arange(n)]
        # How likely it is that 0, 1, ... of the clicks are for the first ranker.
        chances = np.zeros((len(lists), n + 1))
        chances[:, 0] = 1
        for share in shares.T[:, :, None]:
            chances[:, 1:] = chances[:, 1:] * (1 - share) + chances[:, :-1] * share
            chances[:, :1] *= 1 - share
        sign = np.sign(2 * np.arange(n + 1) - n)
        difference = np.array([chances[:, sign == s].sum(axis=1) for s in (1, -1)])
        outcomes[lists] = difference[0] - difference[1]
    outcomes[np.abs(outcomes) < 1e-12] = 0  # but for rounding
    return outcomes


def _bootstrap(outcomes, n_resamples, rng):
    """p-value, and the ends of the confidence interval of the mean."""
    values, counts = np.unique(outcomes, return_counts=True)
    if len(values) == 1:
        return (float("nan"),) * 3
    n, shift = len(outcomes), 0.0
    if len(values) > MOST_VALUES:
        values, counts = np.unique(np.round(outcomes * ROUNDED) / ROUNDED, return_counts=True)
        shift = outcomes.mean() - values @ counts / n
    means = np.empty(n_resamples)
    at_a_time = max(1, BLOCK // len(values))
    for start in range(0, n_resamples, at_a_time):
        size = min(at_a_time, n_resamples - start)
        drawn = rng.multinomial(n, counts / n, size=size)
        means[start : start + size] = drawn @ values / n + shift
    sides = (means <= 0).sum(), (means >= 0).sum()
    p = min(1.0, 2 * (min(sides) + 1) / (n_resamples + 1))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(p), float(low), float(high)
