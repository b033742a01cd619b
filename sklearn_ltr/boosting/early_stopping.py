# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What judges the rounds or iterations of a ranker, and stops them."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.metrics.registry import get_metric
from sklearn_ltr.progress import check_verbose, print_end, print_step
from sklearn_ltr.queries import split_queries
from sklearn_ltr.validation import check_positive


def best_round(scores, n_rounds):
    """Number of the round of the best validation score; the last `n_rounds` have one."""
    return n_rounds - len(scores) + int(np.argmax(scores)) + 1


class EarlyStopping:
    """Keeps account of a ranker's rounds, and stops them by their scores on validation queries.

    Goes by the ranker's parameters `early_stopping`, `scoring`, `validation_fraction`,
    `n_iter_no_change` and `tol`, and keeps its attributes ``n_iter_``, ``best_iteration_``,
    ``train_loss_`` and ``validation_score_``.

    Parameters
    ----------
    ranker : BaseRanker
    """

    def __init__(self, ranker):
        self._ranker = ranker

    def check_params(self):
        """Raise TypeError or ValueError for an invalid parameter."""
        ranker = self._ranker
        check_positive(ranker.validation_fraction, "validation_fraction", maximum=1)
        check_scalar(ranker.n_iter_no_change, "n_iter_no_change", Integral, min_val=1)
        check_positive(ranker.tol, "tol", zero=True)
        check_verbose(ranker)
        self.metric()

    def metric(self):
        """The metric that `scoring` names or holds."""
        scoring = self._ranker.scoring
        return get_metric(getattr(scoring, "metric", scoring))

    def start(self):
        """Begin to count."""
        vars(self._ranker).update(
            n_iter_=0, best_iteration_=0, train_loss_=np.empty(0), validation_score_=np.empty(0)
        )

    def hold_out(self, data, X_val, y_val, groups_val, init_score_val=None):
        """Part the queries to learn from and those to judge by.

        Parameters
        ----------
        data : RankingData
            Its seed chooses queries.
        X_val, y_val, groups_val : array-likes or None
            Judge by these if they are given, otherwise with `early_stopping` by a share of the
            queries.
        init_score_val : array-like or None
            Scores that they start from, if the data have such, too.

        Returns
        -------
        data : RankingData
        held_out : RankingData or None
        """
        ranker, held_out = self._ranker, None
        self._check_starts(data, X_val is not None or y_val is not None, init_score_val)
        if X_val is not None or y_val is not None:
            held_out = ranker._validate_validation_data(X_val, y_val, groups_val, init_score_val)
        elif ranker.early_stopping and np.isnan(data.y).all():
            raise ValueError(
                "Early stopping with `preferences` needs grades to judge by: give `X_val`, `y_val` "
                "and `groups_val`."
            )
        elif ranker.early_stopping:
            mask = split_queries(data.informative, ranker.validation_fraction, data.random_seed)
            held_out, data = data.select(mask), data.select(~mask)
        if held_out is not None:
            held_out = held_out.labelled().in_given_order()
        return data, held_out

    @staticmethod
    def _check_starts(data, validates, init_score_val):
        if init_score_val is not None and not validates:
            raise ValueError("`init_score_val` is of validation rows: give `X_val` and `y_val`.")
        if init_score_val is None and data.init_score is not None and validates:
            raise ValueError(
                "Training rows start from `init_score`, and so must validation rows: give "
                "`init_score_val`, made as it is, or zeros."
            )
        if init_score_val is not None and data.init_score is None:
            raise ValueError(
                "Validation rows start from `init_score_val`, and so must training rows: give "
                "`init_score`, or zeros."
            )

    def record(self, loss, score, **found):
        """Keep a round.

        Parameters
        ----------
        loss : float
        score : float or None
            The validation score, if there are validation rows.
        **found
            Attributes to set besides.
        """
        ranker = self._ranker
        scores, best = ranker.validation_score_, ranker.n_iter_ + 1
        if score is not None:
            scores = np.append(scores, score)
            if ranker.early_stopping:
                best = best_round(scores, ranker.n_iter_ + 1)
        # All at once: an interrupt comes before or after, and finds whole rounds.
        vars(ranker).update(
            found,
            n_iter_=ranker.n_iter_ + 1,
            best_iteration_=best,
            train_loss_=np.append(ranker.train_loss_, loss),
            validation_score_=scores,
        )

    def report(self, n_rounds):
        """Print how it stands after a round, if it is one of every `verbose`."""
        ranker = self._ranker
        message = f"loss {ranker.train_loss_[-1]:.6g}"
        if len(ranker.validation_score_):
            message += f", {self.metric().name} {ranker.validation_score_[-1]:.6g}"
        print_step(ranker, n_rounds, message)

    def conclude(self, why):
        """Print why the fit ended and which round is best, if `verbose`."""
        ranker, scores = self._ranker, self._ranker.validation_score_
        if len(scores):
            best = best_round(scores, ranker.n_iter_)
            why += f"; best {self.metric().name} {scores.max():.6g}, in {ranker._step} {best}"
        used = ranker.best_iteration_
        used = "the last" if used == ranker.n_iter_ else f"{ranker._step} {used}"
        print_end(ranker, f"{why}; `predict` uses the model of {used}")

    def why_stop(self, limit):
        """Why there are to be no further rounds; None if there are.

        Parameters
        ----------
        limit : str
            The parameter that says how many there are at most.
        """
        ranker = self._ranker
        if ranker.n_iter_ >= getattr(ranker, limit):
            return f"{limit}={getattr(ranker, limit)} reached"
        if self.should_stop():
            return (
                f"no better {self.metric().name} in n_iter_no_change={ranker.n_iter_no_change} "
                f"{ranker._step}s"
            )
        return None

    def should_stop(self):
        """Whether the last `n_iter_no_change` rounds brought no better validation score."""
        ranker = self._ranker
        scores, patience = ranker.validation_score_, ranker.n_iter_no_change
        if not ranker.early_stopping or len(scores) <= patience:
            return False
        return scores[-patience:].max() <= scores[:-patience].max() + ranker.tol


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
        if np.isnan(metric.of_queries(data, np.zeros(data.n_samples), settled=True)).all():
            raise ValueError(
                f"{metric!r} is undefined on every validation query, so that it cannot judge a "
                "round; give validation queries with relevant rows."
            )

    def __call__(self, scores):
        """The metric's mean over the queries at `scores` (n_samples,): float."""
        data = self._data
        return self._metric.on_groups(data.y, scores, data.offsets, data.query_weight)
