# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Click models in loops over sessions, positions and outcomes.

Chuklin, Markov, de Rijke, "Click Models for Web Search", 2015; Craswell et al., WSDM 2008; Guo,
Liu, Wang, WSDM 2009; Agarwal et al., WSDM 2019; Joachims et al., SIGIR 2005. A session is a query
and a list of (document, position, click) from the top down.
"""

from collections import Counter, defaultdict
from itertools import product
from math import log, sqrt

import numpy as np


def count_cells(sessions):
    """Of each (query, document, position): shown, clicked, and by first and last click."""
    found = defaultdict(lambda: np.zeros(6, dtype=int))
    for query, shown in sessions:
        clicks = [i for i, (_, _, click) in enumerate(shown) if click]
        for i, (document, position, click) in enumerate(shown):
            found[query, document, position] += [
                1,
                click,
                not clicks or i <= clicks[0],
                bool(clicks) and i == clicks[0],
                not clicks or i <= clicks[-1],
                bool(clicks) and i == clicks[-1],
            ]
    return dict(found)


# Preferences ------------------------------------------------------------------------------------


def _is_preferred(strategy, shown, i, j):
    """Whether the document at place i of a session is preferred to that at place j."""
    clicked = [click for _, _, click in shown]
    if not clicked[i]:
        return False
    last = max(k for k, click in enumerate(clicked) if click)
    return {
        "skip_above": j < i and not clicked[j],
        "last_skip_above": i == last and j < i and not clicked[j],
        "earlier_click": j < i and bool(clicked[j]),
        "no_click_next": j == i + 1 and not clicked[j],
        "no_click": not clicked[j],
    }[strategy]


def preferences(sessions, strategy):
    """How often each document of a query is preferred to another: {(query, winner, loser): n}."""
    found = Counter()
    for query, shown in sessions:
        for i, j in product(range(len(shown)), repeat=2):
            if i != j and _is_preferred(strategy, shown, i, j):
                found[query, shown[i][0], shown[j][0]] += 1
    return dict(found)


# Position-based ---------------------------------------------------------------------------------


def em_round(cells, gamma, alpha):
    """A round of Chuklin's algorithm for the position-based model.

    `cells` is {(row, position): (shown, clicked)}, `gamma` {position: p} and `alpha` {row: p}.
    """
    looked, attracted = defaultdict(list), defaultdict(list)
    for (row, position), (shown, clicked) in cells.items():
        g, a = gamma[position], alpha[row]
        for click in [1] * clicked + [0] * (shown - clicked):
            looked[position].append(1 if click else g * (1 - a) / (1 - g * a))
            attracted[row].append(1 if click else a * (1 - g) / (1 - g * a))
    return (
        {position: sum(x) / len(x) for position, x in looked.items()},
        {row: sum(x) / len(x) for row, x in attracted.items()},
    )


def log_likelihood(cells, gamma, alpha):
    """Of the position-based model, with 0 log 0 = 0."""
    total = 0.0
    for (row, position), (shown, clicked) in cells.items():
        p = gamma[position] * alpha[row]
        total += clicked * log(p) if clicked else 0.0
        total += (shown - clicked) * log(1 - p) if shown > clicked else 0.0
    return total


def intervention_rates(cells):
    """Weights and click rates of documents at two positions: {(k, other): (W, c)}."""
    shown_at = defaultdict(dict)
    for (row, position), counts in cells.items():
        shown_at[row][position] = counts
    weights, clicks = defaultdict(float), defaultdict(float)
    for of_row in shown_at.values():
        for k, other in product(of_row, repeat=2):
            if k != other:
                (n, clicked), (m, _) = of_row[k], of_row[other]
                weights[k, other] += sqrt(n * m)
                clicks[k, other] += sqrt(n * m) * clicked / n
    return {key: (weights[key], clicks[key] / weights[key]) for key in weights}


def interventions_objective(rates, gamma, r):
    """What intervention harvesting maximises; `r` is {(k, other): p} with k < other."""
    total = 0.0
    for (k, other), (W, c) in rates.items():
        p = gamma[k] * r[min(k, other), max(k, other)]
        total += W * (c * log(p) if c else 0.0)
        total += W * ((1 - c) * log(1 - p) if c < 1 else 0.0)
    return total


# Models of sessions -----------------------------------------------------------------------------


def session_probability(alpha, stays, clicks):
    """Of clicks on a list, added up over where the user ended.

    `alpha` and `stays` have an entry a place: attractiveness, and to go on after a click there.
    """
    n, total = len(clicks), 0.0
    for end in range(n + 1):  # places that are looked at
        p = 1.0
        for k in range(n):
            if k >= end:
                p *= not clicks[k]
                continue
            p *= alpha[k] if clicks[k] else 1 - alpha[k]
            if k < end - 1:
                p *= stays[k] if clicks[k] else 1.0
        if 0 < end < n:  # ended after a click, and only so
            p *= 1 - stays[end - 1] if clicks[end - 1] else 0.0
        total += p if end > 0 else 0.0
    return total


def click_probability(alpha, stays, place):
    """That a place is clicked, whatever is clicked elsewhere: a sum over all outcomes."""
    return sum(
        session_probability(alpha, stays, clicks)
        for clicks in product([0, 1], repeat=len(alpha))
        if clicks[place]
    )
