# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the rounds of a ranker see, and what judges them."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.base import check_positive
from sklearn_ltr.metrics.registry import get_metric
from sklearn_ltr.pairs import given_pairs, preference_pairs
from sklearn_ltr.queries import split_queries


class EarlyStopping:
    """Stops a ranker's rounds by what they achieve on validation queries.

    Mixed in beside `BaseRanker`. Works on the parameters `early_stopping`, `scoring`,
    `validation_fraction`, `n_iter_no_change` and `tol`, and on the attributes ``n_iter_``,
    ``best_iteration_``, ``train_loss_`` and ``validation_score_``.
    """

    def _hold_out(self, data, X_val, y_val, groups_val, seed):
        """Part the queries to learn from and those to judge by.

        Parameters
        ----------
        data : RankingData
        X_val, y_val, groups_val : array-likes or None
            Judge by these if they are given, otherwise with `early_stopping` by a share of the
            queries.
        seed : int
            Chooses them.

        Returns
        -------
        data : RankingData
        held_out : RankingData or None
        """
        held_out = None
        if X_val is not None or y_val is not None:
            held_out = self._validate_validation_data(X_val, y_val, groups_val)
        elif self.early_stopping and np.isnan(data.y).all():
            raise ValueError(
                "Early stopping with `preferences` needs grades to judge by: give `X_val`, `y_val` "
                "and `groups_val`."
            )
        elif self.early_stopping:
            mask = split_queries(data.informative, self.validation_fraction, seed)
            held_out, data = data.select(mask), data.select(~mask)
        if held_out is not None:
            held_out = held_out.labelled().in_given_order()
        return data, held_out

    def _metric(self):
        """The metric that `scoring` names or holds."""
        return get_metric(getattr(self.scoring, "metric", self.scoring))

    def _record(self, loss, score, **found):
        """Keep a round.

        Parameters
        ----------
        loss : float
        score : float or None
            The validation score, if there are validation rows.
        **found
            Attributes to set besides.
        """
        scores, best = self.validation_score_, self.n_iter_ + 1
        if score is not None:
            scores = np.append(scores, score)
            if self.early_stopping:
                best = int(np.argmax(scores)) + 1
        # All at once: an interrupt comes before or after, and finds whole rounds.
        vars(self).update(
            found,
            n_iter_=self.n_iter_ + 1,
            best_iteration_=best,
            train_loss_=np.append(self.train_loss_, loss),
            validation_score_=scores,
        )

    def _progress(self, n_rounds):
        """What to print after a round."""
        message = f"[{self.n_iter_}/{n_rounds}] loss {self.train_loss_[-1]:.6g}"
        if len(self.validation_score_):
            message += f", validation {self.validation_score_[-1]:.6g}"
        return message

    def _should_stop(self):
        """Whether the last `n_iter_no_change` rounds brought no better validation score."""
        scores, patience = self.validation_score_, self.n_iter_no_change
        if not self.early_stopping or len(scores) <= patience:
            return False
        return scores[-patience:].max() <= scores[:-patience].max() + self.tol

    def _check_stopping_params(self):
        check_positive(self.validation_fraction, "validation_fraction", maximum=1)
        check_scalar(self.n_iter_no_change, "n_iter_no_change", Integral, min_val=1)
        check_positive(self.tol, "tol", zero=True)
        self._metric()


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


class Judge:
    """Scores rankings of validation queries.

    Parameters
    ----------
    data : RankingData
    metric : Metric

    Raises
    ------
    ValueError
        If the metric does not take the grades, or is undefined on every query.
    """

    def __init__(self, data, metric):
        self._data = data
        self._metric = metric
        metric.check_grades(data.y)
        # Not their mean, which warns: the filters of warnings are shared by all threads.
        values = metric._settled(data.y, np.zeros(len(data.y)), data.queries.offsets, 1)
        if np.isnan(values).all():
            raise ValueError(
                f"{metric!r} is undefined on every validation query, so that it cannot judge a "
                "round; give validation queries with relevant rows."
            )

    def __call__(self, scores):
        """The metric's mean over the queries at `scores` (n_samples,): float."""
        data = self._data
        return self._metric.on_groups(data.y, scores, data.queries.offsets, data.query_weight)


class Validation:
    """Scores of validation queries, round by round."""

    def __init__(self, data, binned, n_outputs, to_scores, metric, n_threads):
        self._judge = Judge(data, metric)
        self._binned = binned
        self._outputs = zero_scores(n_outputs, len(data.y))
        self._to_scores = to_scores
        self._n_threads = n_threads

    def add(self, terms):
        add_terms(self._outputs, terms, self._binned, self._n_threads)

    def score(self):
        return self._judge(self._to_scores(self._outputs))


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
