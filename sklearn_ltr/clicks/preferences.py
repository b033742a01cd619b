# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of documents of which clicks say that one is preferred."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _num_samples

from sklearn_ltr.clicks._counts import PAIR_COUNTS
from sklearn_ltr.clicks.log import ClickLog
from sklearn_ltr.exceptions import PositionBiasWarning
from sklearn_ltr.validation import check_choice, warn_caller

# By strategy: the counts of pairs that it adds up.
STRATEGIES = {
    "skip_above": ("skipped_above",),
    "last_skip_above": ("skipped_above_last",),
    "earlier_click": ("clicked_above",),
    "no_click_next": ("next",),
    "no_click": ("skipped_above", "below"),
}

# Those of which every preference is for a document over one that was shown above it.
AGAINST_THE_ORDER = ("skip_above", "last_skip_above", "earlier_click")

# A larger share of preferences for what was shown further down is the order upside down.
MOST_UPSIDE_DOWN = 0.9

# Standard errors by which clicks on documents have to differ more than positions explain.
LEAST_EVIDENCE = 3.0


def preferences_from_clicks(
    log, strategy="skip_above", *, groups=None, documents=None, missing="raise"
):
    r"""Pairs of documents of which clicks say that one is preferred, for ``fit(preferences=...)``.

    Every strategy compares documents of one session, and every one is biased by where they were
    shown: :class:`PositionBasedModel` estimates by how much, and ``ClickLog.to_training`` gives
    labels freed of it.

    - "skip_above": a clicked document over each unclicked one above it, strategy 1 of [2]_ and the
      one of [1]_. What was passed over was surely looked at. *Bias*: every preference is for the
      lower document, so that each goes against the order shown, and none ever confirms it. If
      documents are always shown in the same order, or clicks come by position alone, a ranker
      learns that order upside down, however good it was.
    - "last_skip_above": the last click of a session over each unclicked document above it, strategy
      2 of [2]_. The last click is more likely to have satisfied. *Bias*: the same, with fewer
      preferences; upside down in the same cases.
    - "earlier_click": a clicked document over each clicked one above it, as if users had clicked
      from the top down, strategy 3 of [2]_. *Bias*: it tells of nothing that was not clicked, and
      goes against the order shown as well; upside down where users click several at will.
    - "no_click_next": a clicked document over the one right below it, if that was not clicked,
      strategy 5 of [2]_. *Bias*: every preference confirms the order shown, as what is below is
      looked at less often. A poor order is learnt as it is, and never turned.
    - "no_click": a clicked document over all unclicked ones of the session. *Bias*: towards the
      order shown, as what is at the top is clicked more often for being there; of a log of one
      ranker its order is learnt. It is turned where documents differ more than positions, as it
      has preferences both ways. Rankers weigh the same pairs by inverse propensities,
      ``fit(propensity=...)``, in lists by session, ``ClickLog.to_training(by_session=True)``.
      Little is left of the bias then: of documents of attractiveness :math:`a_i > a_j`, which are
      looked at with probability :math:`p_i` and :math:`p_j`, the order is turned only if
      :math:`1 / a_j - 1 / a_i < p_j - p_i`, as pairs of two clicks do not count. Nothing is left
      where each list has one click, such as a copy of the list for each of its clicks.

    Parameters
    ----------
    log : ClickLog
        With sessions.
    strategy : str, default="skip_above"
        Which pairs: one of those above.
    groups, documents : array-like of shape (n_table,), default=None
        Query and document id of each row of a table of features. None: preferences are between the
        rows of ``log.to_training``, which are by query and document.
    missing : {"raise", "drop"}, default="raise"
        What to do about documents that were shown and are not in the table: raise, or leave their
        pairs out.

    Returns
    -------
    preferences : ndarray of shape (n_pairs, 2), dtype intp
        Row of the winner and row of the loser. Each pair is there once, and may be there the other
        way round, too.
    weight : ndarray of shape (n_pairs,), dtype float64
        How often it was seen, for ``fit(preference_weight=...)``.

    Raises
    ------
    ValueError
        If the log has no sessions, or no such pair.

    Warns
    -----
    PositionBiasWarning
        By the strategies that go against the order shown: if 90 % of the preferences are for the
        document that was, on average, shown further down; or if clicks are explained by position
        alone, in that documents are not clicked more or less than their positions are by more than
        chance does.

    References
    ----------
    .. [1] Joachims. "Optimizing Search Engines Using Clickthrough Data". KDD 2002.
    .. [2] Joachims, Granka, Pan, Hembrooke, Gay. "Accurately Interpreting Clickthrough Data as
       Implicit Feedback". SIGIR 2005.

    Examples
    --------
    >>> from sklearn_ltr.clicks import ClickLog, preferences_from_clicks
    >>> log = ClickLog(
    ...     groups=[0] * 6,
    ...     documents=["a", "b", "c", "b", "c", "a"],
    ...     positions=[1, 2, 3, 1, 2, 3],
    ...     clicks=[0, 1, 0, 1, 1, 0],
    ...     sessions=[1, 1, 1, 2, 2, 2],
    ... )
    >>> preferences, weight = preferences_from_clicks(log, "no_click")
    >>> log.to_training([1, 1, 1]).documents[preferences]
    array([['b', 'a'],
           ['b', 'c'],
           ['c', 'a']], dtype=object)
    >>> weight
    array([2., 1., 1.])
    """
    if not isinstance(log, ClickLog):
        raise TypeError(f"`log` must be a ClickLog; got {type(log).__name__}.")
    check_choice(strategy, "strategy", STRATEGIES)
    check_choice(missing, "missing", ("raise", "drop"))
    log._check_has_sessions("preferences_from_clicks")
    counts = log._counts
    if counts.pairs is None:
        raise ValueError("The log has counted no pairs: make it with ClickLog(keep_pairs=True).")
    weight = np.sum([counts.pairs[PAIR_COUNTS.index(n)] for n in STRATEGIES[strategy]], axis=0)
    pairs = np.column_stack([counts.winner, counts.loser])
    joined = groups is not None or documents is not None
    if joined:
        n_table = _num_samples(documents if groups is None else groups)
        at = log._find(n_table, groups, documents, missing)
        weight = np.where((at[pairs] >= 0).all(axis=1), weight, 0)
    kept = weight > 0
    if not kept.any():
        raise ValueError(f"No session of the log has a pair of the strategy {strategy!r}.")
    pairs, weight = pairs[kept], weight[kept].astype(np.float64)
    if strategy in AGAINST_THE_ORDER:
        _warn_if_upside_down(counts, pairs, weight, strategy)
    return (at[pairs] if joined else pairs), weight


def _warn_if_upside_down(counts, pairs, weight, strategy):
    share = _share_from_below(counts, pairs, weight)
    evidence = _evidence_of_documents(counts)
    if share >= MOST_UPSIDE_DOWN:
        why = f"{share:.0%} of the preferences are for the document that was shown further down"
    elif evidence < LEAST_EVIDENCE:
        why = "the clicks are explained by position alone: documents differ no more than by chance"
    else:
        return
    warn_caller(
        f"By strategy={strategy!r} a ranker would learn the order that was shown upside down, as "
        f"{why}. Take labels by inverse propensities, ClickLog.to_training, or "
        'strategy="no_click".',
        PositionBiasWarning,
    )


def _share_from_below(counts, pairs, weight):
    """Share of what preferences both ways leave that is for the lower document on average."""
    n_rows = counts.rows.n_rows
    shown, total = (
        np.bincount(counts.cell_row, weights=values, minlength=n_rows)
        for values in (counts.cells[0], counts.cells[0] * counts.cell_position)
    )
    position = total / shown
    winner, loser = pairs.T
    wins = sparse.csr_array((weight, (winner, loser)), shape=(n_rows, n_rows))
    net = (wins - wins.T).tocoo()
    first, second = net.coords
    ahead = net.data > 0
    below = position[first] > position[second]
    if not ahead.any():
        return 0.0
    return float(net.data[ahead & below].sum() / net.data[ahead].sum())


def _evidence_of_documents(counts):
    """By how many standard errors clicks on documents differ more than positions explain."""
    shown, clicked = counts.cells[:2]
    position, n_positions = counts.cell_position, counts.cell_position.max() + 1
    total, clicks = (
        np.bincount(position, weights=v, minlength=n_positions) for v in (shown, clicked)
    )
    rate = np.divide(clicks, total, out=np.zeros(n_positions), where=total > 0)[position]
    excess, variance = (
        np.bincount(counts.cell_row, weights=values)
        for values in (clicked - shown * rate, shown * rate * (1 - rate))
    )
    surplus = excess**2 - variance
    error = np.sqrt((surplus**2).sum())
    return float(surplus.sum() / error) if error > 0 else 0.0
