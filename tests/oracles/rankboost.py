# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost (Freund, Iyer, Schapire, Singer, JMLR 2003) in slow NumPy, without package code.

Pair p says that row `winner[p]`, the paper's x1, is preferred to row `loser[p]`, its x0. D(x0, x1)
is uniform over the pairs of each query, times the weight of the query, and sums to 1. Weak rankers
are the thresholds of section 3.2 with values 0 and 1; instances that a feature does not rank get
q_def, 0 or 1, which is `missing_above`.
"""

from typing import NamedTuple

import numpy as np

from oracles.mpboost import (
    TIE,
    Candidate,
    candidates,
    is_above,
    misordering,
    pair_weights,
    training_pairs,
)

__all__ = ["Candidate", "candidates", "misordering", "training_pairs"]

STEPS = ("exact", "approximate")
MIN_GAIN = 1e-11  # stop when no stump gains more


class Stump(NamedTuple):
    """The weak ranker h: 1 above the threshold and 0 elsewhere."""

    feature: int
    threshold: float  # inf: only missing values are above
    missing_above: bool


class Evaluation(NamedTuple):
    """What a candidate is worth under given pair weights."""

    right: float  # W+, the weight of the pairs with the winner above and the loser not
    wrong: float  # W-, the weight of the pairs with the loser above and the winner not
    alpha: float
    gain: float

    @property
    def r(self):
        return self.right - self.wrong

    def Z(self, alpha):
        """Sum of D exp(alpha (h(x0) - h(x1)))."""
        neither = 1 - self.right - self.wrong
        return neither + self.right * np.exp(-alpha) + self.wrong * np.exp(alpha)


class Round(NamedTuple):
    """Round t of the algorithm."""

    stump: Stump | None  # what the oracle chooses, whatever is followed
    alpha: float  # its coefficient, before the learning rate
    gain: float
    gap: float  # relative gap from the best gain to the best one that does not tie with it
    D: np.ndarray  # D_t, before the round
    Z: float  # Z_t, of the term that was added
    H: np.ndarray  # scores of all rows after the round
    log_loss: float  # log of Z_1 ... Z_t


def weights(H, winner, loser, q):
    """D, and the logarithm of the loss at H over that at 0."""
    return pair_weights(H, winner, loser, np.ones(len(winner)), q)


def evaluate(X, D, winner, loser, candidate, step):
    """W+ and W- of a candidate, pair by pair, its alpha and its gain.

    "exact": the second method of section 3.2, Z = W0 + 2 sqrt(W+ W-). "approximate": the third,
    which bounds Z by sqrt(1 - r^2). Half a pair is added on both sides of a quotient.
    """
    above = is_above(X, *candidate)
    right = float(D[above[winner] & ~above[loser]].sum())
    wrong = float(D[~above[winner] & above[loser]].sum())
    half_pair = 1 / (2 * len(D))
    r = right - wrong
    if step == "exact":
        quotient = (right + half_pair) / (wrong + half_pair)
        gain = right + wrong - 2 * np.sqrt(right * wrong)
    elif step == "approximate":
        quotient = ((1 + r) / 2 + half_pair) / ((1 - r) / 2 + half_pair)
        gain = abs(r)
    else:
        raise ValueError(f"unknown step {step!r}")
    return Evaluation(right, wrong, float(0.5 * np.log(quotient)), float(gain))


def potentials(D, winner, loser, n_rows):
    """pi(x) = sum over x' of D(x', x) - D(x, x'), so that r is the sum of pi(x) h(x)."""
    pi = np.zeros(n_rows)
    for p in range(len(D)):
        pi[winner[p]] += D[p]
        pi[loser[p]] -= D[p]
    return pi


def best_stump(X, D, winner, loser, step, training_rows):
    """The stump of the largest gain, its evaluation, and the relative gap to the first non-tie.

    Of the candidates that tie the lowest feature wins, then the lowest threshold, then
    missing_above=False. The stump is None if there is no candidate at all.
    """
    everything = [(c, evaluate(X, D, winner, loser, c, step)) for c in candidates(X[training_rows])]
    if not everything:
        return None, Evaluation(0.0, 0.0, 0.0, 0.0), 0.0
    best = max(e.gain for _, e in everything)
    level = best * (1 - TIE)
    chosen, evaluation = min((c, e) for c, e in everything if e.gain >= level)
    next_best = max((e.gain for _, e in everything if e.gain < level), default=0.0)
    gap = (best - next_best) / best if best > 0 else 0.0
    return Stump(*chosen), evaluation, gap


def apply_stump(stump, X):
    """h(x) of each row."""
    return is_above(X, stump.feature, stump.threshold, stump.missing_above).astype(float)


def rankboost(
    X, y, groups, n_estimators, *, step, learning_rate=1.0, query_weight=None, follow=None
):
    """The algorithm, a generator of each `Round`; it ends early when no stump gains anything.

    With `follow`, terms (coefficient, stump) of a fitted model, round t starts from the scores of
    the first t - 1 of those terms instead of the oracle's own: so a near tie that rounding
    decides differently spoils one round of a comparison and not all that come after it. It then
    runs for min(n_estimators, len(follow)) rounds at most.
    """
    X = np.asarray(X, dtype=float)
    winner, loser, q, rows = training_pairs(np.asarray(y, dtype=float), groups, query_weight)
    H = np.zeros(len(X))
    D, log_loss = weights(H, winner, loser, q)
    if follow is not None:
        n_estimators = min(n_estimators, len(follow))
    for t in range(n_estimators):
        stump, evaluation, gap = best_stump(X, D, winner, loser, step, rows)
        if evaluation.gain < MIN_GAIN:
            return
        alpha, added = (learning_rate * evaluation.alpha, stump) if follow is None else follow[t]
        h = apply_stump(added, X)
        Z = float(np.sum(D * np.exp(alpha * (h[loser] - h[winner]))))
        H = H + alpha * h
        D_before = D
        D, log_loss = weights(H, winner, loser, q)
        yield Round(stump, evaluation.alpha, evaluation.gain, gap, D_before, Z, H, log_loss)
