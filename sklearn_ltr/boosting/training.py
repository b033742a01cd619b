# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The rows of boosted rankers with the scores that rounds give them, to learn from and to judge."""

from dataclasses import dataclass
from itertools import count

import numpy as np

from sklearn_ltr.ranking_data import RankingData

# What rounding may add up to over rounds, in units of the last digit of the largest score.
MANY_ROUNDS = 1000


@dataclass
class Training:
    """What the rounds of a ranker see.

    Attributes
    ----------
    data : RankingData
        The rows to learn from; it never changes.
    binned : BinnedMatrix
        Their features.
    scores : ndarray of shape (n_samples,) or (n_outputs, n_samples), dtype float64
        Outputs of the present model, and what they are added to. Each round adds what it yields.
    round : int
        Number of the first round to make: 0, or more after a warm start.
    averaged : bool
        Whether scores are the mean of what rounds add, to which the loss itself then adds those
        that are given to start from. `scores` are the sum, without them.
    loss : float
        Training loss at `scores`, set by each round before it yields.
    """

    data: RankingData
    binned: object
    scores: np.ndarray
    round: int = 0
    averaged: bool = False
    loss: float = np.nan

    def rounds(self):
        """The numbers of the rounds to make; what is drawn in one is drawn by its number."""
        return count(self.round)

    @property
    def may_start(self):
        """Whether a constant may come first: not where scores to start from are given."""
        return self.round == 0 and self.data.init_score is None

    def learnt(self):
        """The part of the scores that the model makes; all the same if it is constant."""
        start = self.data.init_score
        if start is None or self.averaged:
            return self.scores
        learnt = self.scores - start
        # What rounding leaves of a constant.
        noise = np.finfo(np.float64).eps * self.data.largest(np.abs(self.scores))
        spread = self.data.largest(learnt) - self.data.smallest(learnt)
        return learnt if spread > MANY_ROUNDS * noise else np.zeros_like(learnt)


class Validation:
    """Scores of a set of validation queries, round by round."""

    def __init__(self, data, ranker, judges):
        self._binned = ranker._binner.transform(data.X, data.queries.order, data.n_threads)
        ranker._binner.note_missing(self._binned)
        self._outputs = zero_scores(ranker._n_outputs(), data.n_samples)
        self._to_scores, self._judges, self._n_threads = ranker._to_scores, judges, data.n_threads
        self._start, self._averaged, self._n_rounds = data.init_score, ranker._averaged, 0

    def add(self, terms):
        add_terms(self._outputs, terms, self._binned, self._n_threads)
        self._n_rounds += 1

    def scores_with(self, terms):
        """What each judge says after one more round."""
        self.add(terms)
        scores = self._to_scores(self._outputs)
        if self._start is not None:
            divisor = self._n_rounds + 1 if self._averaged else 1
            scores = self._start + scores / divisor
        return [judge(scores) for judge in self._judges]


def zero_scores(n_outputs, n_samples):
    """Scores to start from, one row for each output where there is more than one."""
    return np.zeros(n_samples if n_outputs == 1 else (n_outputs, n_samples))


def add_terms(scores, terms, binned, n_threads):
    """Add the terms of a round to the scores of a BinnedMatrix's rows.

    With several outputs, there is one term for each in turn.
    """
    outputs = np.atleast_2d(scores)
    for j, (coefficient, weak) in enumerate(terms):
        outputs[j % len(outputs)] += coefficient * weak.apply(binned, n_threads)
