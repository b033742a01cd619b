# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of weak rankers."""

import numpy as np

from sklearn_ltr.weak.base import WeakRanker
from sklearn_ltr.weak.stump import Stump


class AdditiveModel:
    """A sum of weak rankers with coefficients, in the order they were added.

    Parameters
    ----------
    n_features : int
    n_outputs : int, default=1
        Sums that are formed. With more than one, the terms of a round are for each output in turn.
    averaged : bool, default=False
        Divide the sum over k rounds by k + 1: the mean of the rounds and of the start, 0.

    Attributes
    ----------
    rounds : list of lists of (float, weak ranker)
        The terms that each boosting round added, before any division.
    """

    def __init__(self, n_features, rounds=(), n_outputs=1, averaged=False):
        self.n_features = n_features
        self.n_outputs = n_outputs
        self.averaged = averaged
        self.rounds = list(rounds)

    @property
    def terms(self):
        """All terms in order, with the coefficients they have in the end: list of (float, weak)."""
        divisor = len(self.rounds) + 1 if self.averaged else 1
        return [(c / divisor, weak) for terms in self.rounds for c, weak in terms]

    def first(self, n_rounds):
        """The model of the first `n_rounds` rounds."""
        return AdditiveModel(self.n_features, self.rounds[:n_rounds], self.n_outputs, self.averaged)

    def plus(self, terms):
        """The model with one more round."""
        rounds = [*self.rounds, terms]
        return AdditiveModel(self.n_features, rounds, self.n_outputs, self.averaged)

    def collapse(self):
        """The same function in a form that is fast to evaluate.

        Returns
        -------
        function : object
            What the class of the weak rankers makes of them. Its ``predict(X, n_threads)`` returns
            scores of shape (n_samples,), or (n_outputs, n_samples) where there is more than one
            output.
        """
        outputs = [j % self.n_outputs for terms in self.rounds for j in range(len(terms))]
        terms = [(output, *term) for output, term in zip(outputs, self.terms, strict=True)]
        # A ranker of stumps takes its sum apart even where there is nothing to add up.
        classes = {type(weak) for _, _, weak in terms} or {Stump}
        common = classes.pop() if len(classes) == 1 else WeakRanker
        return common.collapse(terms, self.n_outputs)

    def staged_predict(self, X, n_threads=1):
        """Yield the scores of `X` (n_samples, n_features) after each round."""
        shape = (X.shape[0],) if self.n_outputs == 1 else (self.n_outputs, X.shape[0])
        scores = np.zeros(shape)
        for k, terms in enumerate(self.rounds, start=1):
            one_round = AdditiveModel(self.n_features, [terms], self.n_outputs)
            scores += one_round.collapse().predict(X, n_threads)
            yield scores / (k + 1) if self.averaged else scores.copy()

    def importances(self):
        """What the terms owe to each feature.

        Returns
        -------
        gains : ndarray of shape (n_features,)
            Gain of the splits on a feature, as a share of all.
        counts : ndarray of shape (n_features,), dtype intp
            Number of these splits.
        """
        gains, counts = np.zeros(self.n_features), np.zeros(self.n_features, dtype=np.intp)
        for _, weak in self.terms:
            gain, count = weak.importances(self.n_features)
            gains += gain
            counts += count
        total = gains.sum()
        return (gains / total if total > 0 else gains), counts
