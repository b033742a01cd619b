# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Clicks over propensities, and interleaved lists, by going through all that may happen.

Joachims, Swaminathan, Schnabel, WSDM 2017; Swaminathan, Joachims, NIPS 2015; Radlinski, Kurup,
Joachims, CIKM 2008; Hofmann, Whiteson, de Rijke, CIKM 2011. Keep lists to a handful of rows.
"""

from collections import defaultdict
from itertools import product

import numpy as np

from oracles.metrics import discounted_gain, expected

# Counterfactual ---------------------------------------------------------------------------------


def click_patterns(propensity, attractiveness):
    """Every pattern of clicks of a position-based user, with its probability."""
    for clicks in product([0, 1], repeat=len(propensity)):
        chance = 1.0
        for click, p, a in zip(clicks, propensity, attractiveness, strict=True):
            chance *= p * a if click else 1 - p * a
        yield clicks, chance


def dcg_of_gains(gains, y_score, k=None, ties="average"):
    """Discounted sum of what each row counts."""
    return expected(
        lambda order: discounted_gain(order, gains, k, "linear", "log2"), gains, y_score, ties
    )


def positions_of_gains(gains, y_score, ties="average"):
    """Sum of position times what each row counts."""
    return expected(
        lambda order: sum(rank * gains[row] for rank, row in enumerate(order, start=1)),
        gains,
        y_score,
        ties,
    )


def weighted_ratio(sums, totals, weights):
    """Sum over queries of weight times sum, over that of weight times total."""
    above = sum(w * s for w, s in zip(weights, sums, strict=True))
    return above / sum(w * t for w, t in zip(weights, totals, strict=True))


# Interleaving -----------------------------------------------------------------------------------


def team_drafts(first, second, length):
    """Every list of a team draft: {(rows, teams): probability}; rankings are lists of rows."""
    found = defaultdict(float)

    def pick(rows, teams, chance):
        if len(rows) == min(length, len(first)):
            found[rows, teams] += chance
            return
        n_first, n_second = teams.count(0), teams.count(1)
        turns = {0: 0.5, 1: 0.5}
        if n_first != n_second:
            turns = {int(n_first > n_second): 1.0}
        for team, share in turns.items():
            ranking = second if team else first
            row = next(row for row in ranking if row not in rows)
            pick((*rows, row), (*teams, team), chance * share)

    pick((), (), 1.0)
    return dict(found)


def _chance_of_row(ranking, row, taken, tau):
    """That a ranker draws a row, those that are taken left out of its softmax over ranks."""
    left = {r: 1 / rank**tau for rank, r in enumerate(ranking, start=1) if r not in taken}
    return left[row] / sum(left.values())


def chance_of_list(first, second, rows, teams, tau):
    """That rows are drawn one after the other by the rankers of these teams."""
    chance = 1.0
    for i, (row, team) in enumerate(zip(rows, teams, strict=True)):
        chance *= _chance_of_row(second if team else first, row, rows[:i], tau)
    return chance


def assignments(first, second, rows, tau):
    """Every assignment of the rows of a list to teams, with its probability given the list."""
    found = {
        teams: chance_of_list(first, second, rows, teams, tau)
        for teams in product([0, 1], repeat=len(rows))
    }
    total = sum(found.values())
    return {teams: chance / total for teams, chance in found.items()}


def outcome(clicks, teams):
    """1 if the first team has more clicks, -1 if the second one has, or 0."""
    mine, theirs = (
        sum(c for c, team in zip(clicks, teams, strict=True) if team == t) for t in (0, 1)
    )
    return int(np.sign(mine - theirs))
