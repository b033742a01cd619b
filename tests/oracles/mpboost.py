# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPBoost (Zhu et al., CIKM 2009) in slow NumPy, from the paper, sharing no code with the package.

Numbers in parentheses are the paper's equations. Its index set I holds every preference in both
directions; as dist is antisymmetric, each sum over I is twice the sum over the pairs that have
the winner first, and only those are kept here: pair p says that row `winner[p]` is preferred to
row `loser[p]`, and its directed distance d[p] is positive. |I| is the number of such pairs.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

MAX_EXPONENT = 30.0  # |a| * max(d) of a step
MIN_GAIN = 1e-12  # stop when no stump gains more, the weights summing to 1
TIE = 1e-9  # candidates tie when their gains agree this well, relatively


class Candidate(NamedTuple):
    """A split: a row is above if its value > threshold, a missing one if `missing_above`."""

    feature: int
    threshold: float  # inf: only missing values are above
    missing_above: bool


class Stump(NamedTuple):
    """The weak ranker (17): `value`, the paper's a, above the threshold and 0 below."""

    feature: int
    threshold: float
    value: float
    missing_above: bool


class Evaluation(NamedTuple):
    """What a candidate is worth under given pair weights."""

    num: float  # sum_A1 w d - sum_B2 w d
    den: float  # sum_A1 w + sum_B2 w
    den2: float  # sum_A1 w d^2 + sum_B2 w d^2
    n_crossing: int  # pairs in A1 and B2
    a: float
    gain: float


class Round(NamedTuple):
    """Round t of Algorithm 1."""

    stump: Stump  # what the oracle chooses, whatever is followed
    gain: float
    gap: float  # relative gap from the best gain to the best one that does not tie with it
    w_before: np.ndarray  # w^(t)
    Z: float  # (13), of the term that was added
    F: np.ndarray  # scores of all rows after the round
    w: np.ndarray  # w^(t+1)
    log_bound: float  # log of Z_1 ... Z_t


def directed_distance(ri, rj, distance="logistic", alpha=0.5, lam=3.0, beta=0.5):
    """dist(ri, rj): (6), (7), (8) or the binary labels (2)."""
    ri = np.asarray(ri, dtype=float)
    rj = np.asarray(rj, dtype=float)
    if callable(distance):
        return np.asarray(distance(ri, rj), dtype=float)
    difference = ri - rj
    size = np.abs(difference)
    if distance == "linear":
        return alpha * difference
    if distance == "logarithmic":
        return np.sign(difference) * np.log(1 + lam * size)
    if distance == "logistic":
        return np.sign(difference) / (1 + np.exp(-beta * size))
    if distance == "binary":
        return np.sign(difference)
    raise ValueError(f"unknown distance {distance!r}")


def preference_pairs(y, groups):
    """The rows (winner, loser) of every pair of a query with different grades."""
    winner, loser = [], []
    for i in range(len(y)):
        for j in range(i + 1, len(y)):
            if groups[i] != groups[j] or y[i] == y[j]:
                continue
            if y[i] > y[j]:
                winner.append(i)
                loser.append(j)
            else:
                winner.append(j)
                loser.append(i)
    return np.array(winner, dtype=int), np.array(loser, dtype=int)


def brute_force_pair_count(y, groups):
    """The number of pairs, counted over all ordered pairs of rows."""
    rows = range(len(y))
    return sum(bool(groups[i] == groups[j] and y[i] > y[j]) for i in rows for j in rows)


def pair_weights(F, winner, loser, d, query_weight_of_pair=None):
    """w_ij = exp(-d (F_i - F_j)) times its query's weight, summing to 1; and log(J(F) / J(0))."""
    q = np.ones(len(d)) if query_weight_of_pair is None else np.asarray(query_weight_of_pair, float)
    log_first = np.full(len(d), -np.inf)
    log_first[q > 0] = np.log(q[q > 0] / q.sum())
    log_w = log_first - d * (F[winner] - F[loser])
    log_ratio = logsumexp(log_w)  # J(0) = 1 with these weights
    return np.exp(log_w - log_ratio), float(log_ratio)


def is_above(X, feature, threshold, missing_above):
    """Which rows of `X` are above."""
    above = np.zeros(len(X), dtype=bool)
    for i, value in enumerate(X[:, feature]):
        above[i] = missing_above if np.isnan(value) else value > threshold
    return above


def candidates(X):
    """Every split of the training rows `X`, in order of (feature, threshold, missing_above)."""
    found = []
    for feature in range(X.shape[1]):
        column = X[:, feature]
        present = column[~np.isnan(column)]
        has_missing = len(present) < len(column)
        values = sorted(set(present.tolist()))
        for low, high in pairwise(values):
            threshold = low + (high - low) / 2
            if threshold >= high:  # neighbouring floats
                threshold = low
            if has_missing:
                found.append(Candidate(feature, threshold, False))
                found.append(Candidate(feature, threshold, True))
            else:
                n_above = int(np.sum(column > threshold))
                found.append(Candidate(feature, threshold, n_above > len(column) - n_above))
        if has_missing and values:
            found.append(Candidate(feature, np.inf, True))
    return found


def evaluate(X, w, winner, loser, d, candidate, step="paper"):
    """Sums of a candidate over the pairs that it splits, its best step and its gain.

    With step="paper" the gain is how much the stump lowers J_wse (12).
    """
    above = is_above(X, *candidate)
    A1 = above[winner] & ~above[loser]
    B2 = ~above[winner] & above[loser]
    n_crossing = int(A1.sum() + B2.sum())
    num = float((w * d)[A1].sum() - (w * d)[B2].sum())
    den = float(w[A1].sum() + w[B2].sum())
    den2 = float((w * d**2)[A1].sum() + (w * d**2)[B2].sum())
    divisor = den if step == "paper" else den2
    if n_crossing == 0 or divisor == 0:
        return Evaluation(num, den, den2, n_crossing, 0.0, 0.0)
    largest = MAX_EXPONENT / d.max()
    if step in ("paper", "newton"):
        a = num / divisor
    elif step == "exact":
        a = _exact_step(w, d, A1, B2, largest)
    else:
        raise ValueError(f"unknown step {step!r}")
    a = min(max(a, -largest), largest)
    return Evaluation(num, den, den2, n_crossing, a, num**2 / divisor)


def exact_objective(s, w, d, A1, B2):
    """What step="exact" minimises over s: the loss of the split pairs, smoothed."""
    crossing = A1 | B2
    m = (w * d)[crossing].sum() / w[crossing].sum()
    eps = 1 / (2 * len(d))
    loss = (w * np.exp(-d * s))[A1].sum() + (w * np.exp(d * s))[B2].sum()
    return loss + eps * (np.exp(-m * s) + np.exp(m * s))


def _exact_step(w, d, A1, B2, largest):
    crossing = A1 | B2
    m = (w * d)[crossing].sum() / w[crossing].sum()
    eps = 1 / (2 * len(d))

    def slope(s):  # of `exact_objective`; increasing
        loss = (w * d * np.exp(d * s))[B2].sum() - (w * d * np.exp(-d * s))[A1].sum()
        return loss + eps * m * (np.exp(m * s) - np.exp(-m * s))

    if slope(-largest) >= 0:
        return -largest
    if slope(largest) <= 0:
        return largest
    return brentq(slope, -largest, largest, xtol=1e-15, maxiter=1000)


def best_candidates(X, w, winner, loser, d, step="paper", training_rows=None):
    """Every candidate with its `Evaluation`; for step="exact" their `a` is the Newton step."""
    step = "newton" if step == "exact" else step
    rows = np.ones(len(X), dtype=bool) if training_rows is None else training_rows
    return [(c, evaluate(X, w, winner, loser, d, c, step)) for c in candidates(X[rows])]


def best_stump(X, w, winner, loser, d, step="paper", training_rows=None):
    """The stump of the largest gain, that gain, and the relative gap to the first without a tie.

    Of the candidates that tie the lowest feature wins, then the lowest threshold, then
    missing_above=False. The stump is None if there is no candidate at all.
    """
    everything = best_candidates(X, w, winner, loser, d, step, training_rows)
    if not everything:
        return None, 0.0, 0.0
    best = max(e.gain for _, e in everything)
    level = best * (1 - TIE)
    chosen = min(c for c, e in everything if e.gain >= level)
    chosen_value = evaluate(X, w, winner, loser, d, chosen, step)
    stump = Stump(chosen.feature, chosen.threshold, chosen_value.a, chosen.missing_above)
    next_best = max((e.gain for _, e in everything if e.gain < level), default=0.0)
    gap = (best - next_best) / best if best > 0 else 0.0
    return stump, chosen_value.gain, gap


def apply_stump(stump, X):
    """f(x) of (17) for each row, before shrinkage."""
    above = is_above(X, stump.feature, stump.threshold, stump.missing_above)
    return np.where(above, stump.value, 0.0)


def step_predict(terms, X):
    """F(x) = sum of coefficient * f(x) over terms (coefficient, stump)."""
    F = np.zeros(len(X))
    for coefficient, stump in terms:
        F = F + coefficient * apply_stump(stump, X)
    return F


def misordering(F, winner, loser, w_first):
    """Left side of Theorem 1: the weight in w^(1) of the pairs that F does not order strictly."""
    return float(sum(w for i, j, w in zip(winner, loser, w_first, strict=True) if F[i] <= F[j]))


def training_pairs(y, groups, query_weight=None):
    """Pairs of the queries with nonzero weight, each pair's query weight, and those rows."""
    q = np.ones(len(y)) if query_weight is None else np.asarray(query_weight, dtype=float)
    winner, loser = preference_pairs(y, groups)
    kept = q[winner] > 0
    winner, loser = winner[kept], loser[kept]
    return winner, loser, q[winner], q > 0


def mpboost(
    X,
    y,
    groups,
    n_estimators,
    *,
    learning_rate=1.0,
    distance="logistic",
    alpha=0.5,
    lam=3.0,
    beta=0.5,
    step="paper",
    query_weight=None,
    follow=None,
):
    """Algorithm 1, a generator of each `Round`; it ends early when no stump gains anything.

    With `follow`, terms (coefficient, stump) of a fitted model, round t starts from the scores of
    the first t - 1 of those terms instead of the oracle's own: so a near tie that rounding
    decides differently spoils one round of a comparison and not all that come after it. It then
    runs for min(n_estimators, len(follow)) rounds at most.
    """
    X = np.asarray(X, dtype=float)
    y = np.asarray(y, dtype=float)
    winner, loser, q, rows = training_pairs(y, groups, query_weight)
    d = directed_distance(y[winner], y[loser], distance, alpha, lam, beta)
    F = np.zeros(len(X))
    w, log_bound = pair_weights(F, winner, loser, d, q)
    if follow is not None:
        n_estimators = min(n_estimators, len(follow))
    for t in range(n_estimators):
        stump, gain, gap = best_stump(X, w, winner, loser, d, step, rows)
        if gain <= MIN_GAIN:
            return
        coefficient, added = (learning_rate, stump) if follow is None else follow[t]
        f = coefficient * apply_stump(added, X)
        Z = float(np.sum(w * np.exp(-d * (f[winner] - f[loser]))))
        F = F + f
        w_before = w
        w, log_bound = pair_weights(F, winner, loser, d, q)
        yield Round(stump, gain, gap, w_before, Z, F, w, log_bound)
