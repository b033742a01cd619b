# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""QBRank (Zheng et al., NIPS 2007) and GBRank in slow NumPy, from the papers, sharing no code.

All pairs are listed. The loops take `fit_tree`, a function from targets, weights and the rows to
grow on to the regions of a regression tree: arrays of rows that together hold each row once, also
those it was not grown on. So a test decides what grows the trees, and can look at every target.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import NamedTuple

import numpy as np


class Pair(NamedTuple):
    """A preference x > y; `x` and `y` are rows."""

    x: int
    y: int
    margin: float  # tau
    weight: float = 1.0


class Round(NamedTuple):
    """What a round did."""

    h: np.ndarray  # after it
    values: np.ndarray  # of the tree's regions
    step: float  # s, before shrinkage


def pairs_of_grades(y, query, margin="grade"):
    """All pairs of rows of a query with different grades; NaN is in none."""
    rows = range(len(y))
    return [
        Pair(i, j, y[i] - y[j] if margin == "grade" else margin)
        for i in rows
        for j in rows
        if query[i] == query[j] and y[i] > y[j]
    ]


def given_pairs(preferences, weight=None, margin="grade"):
    """Preferences as they are; without grades the margin is 1."""
    weight = np.ones(len(preferences)) if weight is None else weight
    margin = 1.0 if margin == "grade" else margin
    return [Pair(int(i), int(j), margin, p) for (i, j), p in zip(preferences, weight, strict=True)]


def tied_pairs(y, query):
    """All pairs of rows of a query with the same grade, each once."""
    n = len(y)
    return [
        (i, j) for i in range(n) for j in range(i + 1, n) if query[i] == query[j] and y[i] == y[j]
    ]


@dataclass
class Objective:
    """The objective function of section 3, with weights of queries and with ties.

    `label` is NaN where a row has none, `v` is the weight of a row's query, `w` that of the
    preferences beside the labels.
    """

    label: np.ndarray
    v: np.ndarray
    pairs: list
    w: float = 0.5
    ties: list = ()
    tie_weight: float = 0.0

    def __post_init__(self):
        self.n = len(self.label)
        self.labelled = [i for i in range(self.n) if not np.isnan(self.label[i])]

    def margins(self, h):
        """max{0, h(y) - h(x) + tau} of each pair."""
        return [max(0.0, h[p.y] - h[p.x] + p.margin) for p in self.pairs]

    def risk(self, h):
        """R(h)."""
        v = self.v
        pairs = fsum(
            v[p.x] * p.weight * m**2 for p, m in zip(self.pairs, self.margins(h), strict=True)
        )
        ties = fsum(v[i] * (h[i] - h[j]) ** 2 for i, j in self.ties)
        labels = fsum(v[i] * (self.label[i] - h[i]) ** 2 for i in self.labelled)
        return self.w / 2 * (pairs + self.tie_weight * ties) + (1 - self.w) / 2 * labels

    def signed(self, h):
        """Terms of the negative gradient before any weight but that of the pair.

        Of each row the list of (weight, value) of its pairs: winners are to rise, losers to fall.
        """
        terms = [[] for _ in range(self.n)]
        for p, m in zip(self.pairs, self.margins(h), strict=True):
            terms[p.x].append((p.weight, m))
            terms[p.y].append((p.weight, -m))
        if self.tie_weight > 0:
            for i, j in self.ties:
                terms[i].append((self.tie_weight, h[j] - h[i]))
                terms[j].append((self.tie_weight, h[i] - h[j]))
        return terms

    def gradient(self, h):
        """Of the risk."""
        found = np.array([fsum(p * a for p, a in terms) for terms in self.signed(h)])
        found *= -self.w * self.v
        for i in self.labelled:
            found[i] -= (1 - self.w) * self.v[i] * (self.label[i] - h[i])
        return found

    def bound(self):
        """Diagonal W of (6): diag(2, 2) for a pair, n I for n tied rows, 1 for a label."""
        W = np.zeros(self.n)
        for p in self.pairs:
            for i in (p.x, p.y):
                W[i] += 2 * self.w * self.v[i] * p.weight
        tied = [set() for _ in range(self.n)]
        for i, j in self.ties:
            tied[i] |= {i, j}
            tied[j] |= {i, j}
        W += self.w * self.v * self.tie_weight * np.array([len(rows) for rows in tied])
        for i in self.labelled:
            W[i] += (1 - self.w) * self.v[i]
        return W

    def bound_target(self, h):
        """Targets and weights that minimise the right side of (6)."""
        W, G = self.bound(), self.gradient(h)
        return np.array([-g / b if b > 0 else 0.0 for g, b in zip(G, W, strict=True)]), W

    def paper_target(self, h):
        """Step 1 of Algorithm 2 with its remark: targets and weights.

        A row has the average of its pairs with weight w, and its residual with weight 1 - w; the
        two are one example with their mean.
        """
        target, weight = np.zeros(self.n), np.zeros(self.n)
        for i, terms in enumerate(self.signed(h)):
            if terms:
                average = fsum(p * a for p, a in terms) / fsum(p for p, _ in terms)
                target[i] += self.w * average
                weight[i] += self.w
            if i in self.labelled:
                target[i] += (1 - self.w) * (self.label[i] - h[i])
                weight[i] += 1 - self.w
        target = np.array([t / u if u > 0 else 0.0 for t, u in zip(target, weight, strict=True)])
        return target, weight * self.v

    def start(self):
        """h_0: the mean label, as in least-squares boosting; without labels nothing is known."""
        if self.w == 1 or not self.labelled:
            return 0.0
        v = self.v[self.labelled]
        return fsum(v * self.label[self.labelled]) / fsum(v)

    def line_search(self, h, g):
        """The smallest and the largest minimiser of R(h + s g) over all real s.

        R is a quadratic function of s between any two neighbouring values of s at which a pair
        becomes satisfied. On each such segment its own minimum is found, clipped to the segment.
        """
        gaps = [p.margin - (h[p.x] - h[p.y]) for p in self.pairs]
        slopes = [g[p.x] - g[p.y] for p in self.pairs]
        ends = sorted({m / d for m, d in zip(gaps, slopes, strict=True) if d != 0})
        ends = [-np.inf, *ends, np.inf]
        flat, best = [], []
        for low, high in pairwise(ends):
            middle = 0.0 if np.isinf(low) and np.isinf(high) else (low + high) / 2
            if np.isinf(middle):
                middle = high - 1 - abs(high) if np.isinf(low) else low + 1 + abs(low)
            linear, square = self._derivative(h, g, gaps, slopes, middle)
            if square == 0:
                flat.append((low, high))
            else:
                s = min(max(linear / square, low), high)
                best.append((self.risk(h + s * g), s))
        if flat:
            return flat[0][0], flat[-1][1]
        s = min(best)[1]
        return s, s

    def _derivative(self, h, g, gaps, slopes, s):
        """L and Q of the derivative s Q - L of R(h + s g) around s."""
        w, v = self.w, self.v
        linear, square = [], []
        for p, m, d in zip(self.pairs, gaps, slopes, strict=True):
            if m - s * d > 0:
                linear.append(w * v[p.x] * p.weight * m * d)
                square.append(w * v[p.x] * p.weight * d * d)
        for i, j in self.ties:
            d = g[i] - g[j]
            linear.append(-w * self.tie_weight * v[i] * (h[i] - h[j]) * d)
            square.append(w * self.tie_weight * v[i] * d * d)
        for i in self.labelled:
            linear.append((1 - w) * v[i] * (self.label[i] - h[i]) * g[i])
            square.append((1 - w) * v[i] * g[i] * g[i])
        return fsum(linear), fsum(square)


def leaf_values(regions, target, weight, rows, l2=0.0):
    """Weighted mean target of the rows of each region that the tree was grown on."""
    values, rows = [], set(rows)
    for region in regions:
        grown_on = [i for i in region if i in rows]
        total = fsum(weight[i] for i in grown_on) + l2
        sum_ = fsum(weight[i] * target[i] for i in grown_on)
        values.append(sum_ / total if total > 0 else 0.0)
    return np.array(values)


def spread(regions, values, n):
    """The value of its region for each row."""
    g = np.zeros(n)
    for region, value in zip(regions, values, strict=True):
        g[region] = value
    return g


def nearest_to_zero(low, high, g=None):
    return min(max(0.0, low), high)


def qbrank(
    objective,
    n_rounds,
    eta,
    fit_tree,
    *,
    target="bound",
    l2=0.0,
    choose=nearest_to_zero,
):
    """Algorithm 2, a generator of each `Round`.

    Where all s from `low` to `high` minimise along g, ``choose(low, high, g)`` is taken.
    """
    n = objective.n
    h = np.full(n, objective.start())
    targets = objective.bound_target if target == "bound" else objective.paper_target
    for _ in range(n_rounds):
        r, u = targets(h)
        regions = fit_tree(r, u, range(n))  # 1
        values = leaf_values(regions, r, u, range(n), l2)
        g = spread(regions, values, n)
        s = choose(*objective.line_search(h, g), g)
        h = h + eta * s * g  # 2
        yield Round(h, values, s)


def violated(objective, h):
    """What GBRank fits at `h`: targets, weights, and the rows of violated pairs.

    Targets are scores that would satisfy the pair. A row of several violated pairs has their
    average, weighted by their number. Of ties each row aims at the other, wherever they are.
    """
    wanted = [[] for _ in range(objective.n)]
    for p in objective.pairs:
        if h[p.x] - h[p.y] < p.margin:
            wanted[p.x].append((p.weight, h[p.y] + p.margin))
            wanted[p.y].append((p.weight, h[p.x] - p.margin))
    if objective.tie_weight > 0:
        for i, j in objective.ties:
            wanted[i].append((objective.tie_weight, h[j]))
            wanted[j].append((objective.tie_weight, h[i]))
    rows = [i for i, terms in enumerate(wanted) if terms]
    target = np.zeros(objective.n)
    for i in rows:
        target[i] = fsum(q * t for q, t in wanted[i]) / fsum(q for q, _ in wanted[i])
    return target, objective.v * np.array([fsum(q for q, _ in terms) for terms in wanted]), rows


def gbrank(objective, n_rounds, eta, fit_tree, *, l2=0.0):
    """GBRank, a generator of each `Round`. Ends where no pair is violated."""
    h = np.zeros(objective.n)
    for k in range(1, n_rounds + 1):
        target, weight, rows = violated(objective, h)
        if not rows:
            return
        regions = fit_tree(target, weight, rows)
        values = leaf_values(regions, target, weight, rows, l2)
        g = spread(regions, values, objective.n)
        h = (k * h + eta * g) / (k + 1)
        yield Round(h, values, 1.0)
