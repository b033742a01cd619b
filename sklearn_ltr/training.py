# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the rounds of a boosted ranker see, and what judges them."""

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ltr.pairs import given_pairs, preference_pairs


class TrainingSet:
    """What the rounds of a ranker see: rows grouped by query, in canonical order.

    Attributes
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        Grades; NaN at rows without one, of which preferences may be given.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    query_weight : ndarray of shape (n_queries,), dtype float64
    binned : BinnedMatrix
    scores : ndarray of shape (n_samples,) or (n_outputs, n_samples), dtype float64
        Outputs of the present model. Each round adds what it yields.
    loss : float
        Training loss at `scores`, set by each round before it yields.
    n_threads : int
    preferences : Preferences or None
        Given in the place of pairs of grades.
    row_weight : ndarray of shape (n_samples,), dtype float64, or None
        The weight of each row by itself: that of its query, over the mean of them, times its own.
        None: all are 1.
    row_count : ndarray of shape (n_samples,), dtype float64, or None
        How many rows a row stands for, its `sample_weight`. None: all are 1.
    """

    def __init__(self, data, binned, n_outputs, n_threads):
        self.y = data.y
        self.offsets = data.queries.offsets
        self.query_weight = data.query_weight
        self.binned = binned
        self.scores = zero_scores(n_outputs, len(data.y))
        self.loss = np.nan
        self.n_threads = n_threads
        self.row_weight = self.row_count = data.sample_weight
        if (data.query_weight != data.query_weight[0]).any():
            self.row_weight = np.repeat(data.query_weight, data.queries.sizes)
            self.row_weight /= np.average(self.row_weight, weights=data.sample_weight)
            if data.sample_weight is not None:
                self.row_weight *= data.sample_weight
        self.preferences = data.preferences
        self._order = data.queries.order

    def pairs(self):
        """Preference pairs, from grades or as given: GradedPairs or ExplicitPairs."""
        if self.preferences is None:
            return preference_pairs(self.y, self.offsets, n_threads=self.n_threads)
        return given_pairs(self.preferences, self._order, self.offsets, self.n_threads)

    def sample_queries(self, share, seed):
        """Rows of a random share of the queries, at least one, ascending.

        Parameters
        ----------
        share : float in (0, 1]
        seed : int
        """
        n_queries = len(self.offsets) - 1
        size = max(1, round(share * n_queries))
        chosen = np.zeros(n_queries, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(n_queries)[:size]] = True
        return np.flatnonzero(np.repeat(chosen, np.diff(self.offsets)))


class Validation:
    """Scores of validation queries, round by round."""

    def __init__(self, data, binned, n_outputs, to_scores, metric, n_threads):
        self._data = data
        self._binned = binned
        self._outputs = zero_scores(n_outputs, len(data.y))
        self._to_scores = to_scores
        self._metric = metric
        self._n_threads = n_threads
        metric.check_grades(data.y)
        with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
            undefined = np.isnan(self.score())
        if undefined:
            raise ValueError(
                f"{metric!r} is undefined on every validation query, so that it cannot judge a "
                "round; give validation queries with relevant rows."
            )

    def add(self, terms):
        add_terms(self._outputs, terms, self._binned, self._n_threads)

    def score(self):
        data, scores = self._data, self._to_scores(self._outputs)
        return self._metric.on_groups(data.y, scores, data.queries.offsets, data.query_weight)


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
