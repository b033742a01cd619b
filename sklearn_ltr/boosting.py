# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Drives the rounds of a boosted ranker.

A ranker states its algorithm as a generator, ``_rounds(train)``; all that surrounds the rounds is
here once: binning, held-out queries and early stopping, warm start, callbacks, prediction.
"""

from contextlib import contextmanager
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from sklearn_ltr.additive import AdditiveModel
from sklearn_ltr.base import BaseRanker, check_positive
from sklearn_ltr.binning import MAX_BINS, Binner
from sklearn_ltr.training import EarlyStopping, TrainingSet, Validation, add_terms

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method):
        return method


# The logarithm of a share of the initial loss that no longer is a normal number.
NO_WEIGHT_LEFT = -700.0


class _Task:
    """A callback context and whether a callback asks to stop after it."""

    context = None
    stop = False


class Boosting(CallbackSupportMixin, EarlyStopping, BaseRanker):
    """Drives the rounds of a ranker, whatever its ``fit`` takes.

    A subclass implements ``_rounds(train)``: a generator that for each round fits its weak rankers,
    adds them to ``train.scores``, sets ``train.loss`` and yields the list of terms
    ``(coefficient, weak ranker)``. It returns when no further round lowers the loss.

    A ranker of several outputs says how many in ``_n_outputs``, and in ``_to_scores`` what to make
    of them; a round then has a term for each output in turn.
    """

    _allow_nan = True
    _allow_sparse = True

    # Whether scores are the mean of what the rounds and the start, 0, give, and not their sum.
    _averaged = False

    @with_callbacks
    def fit(
        self,
        X,
        y=None,
        groups=None,
        query_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        X_val, y_val, groups_val : array-likes, default=None
            Validation rows. With `early_stopping` they take the place of held-out queries; without
            it they are scored after each round, in ``validation_score_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If an argument is invalid, or there is nothing to learn from.
        """
        return self._fit(X, y, groups, query_weight, (X_val, y_val, groups_val))

    def _fit(self, X, y, groups, query_weight, validation, **weights_or_preferences):
        """The body of every `fit`.

        Parameters
        ----------
        validation : tuple
            ``X_val``, ``y_val``, ``groups_val``.
        **weights_or_preferences
            What `_validate_training_data` takes besides.
        """
        self._check_params()
        continuing = self.warm_start and getattr(self, "n_iter_", 0) > 0
        data = self._validate_training_data(
            X, y, groups, query_weight, reset=not continuing, **weights_or_preferences
        )
        if continuing:
            self._check_continuation()
        else:
            self._restart(data)
        train, validation = self._prepare(data, *validation)
        # An interrupted ranker is not fitted; with warm_start, `fit` goes on from its last round.
        vars(self).pop("_predictor", None)
        metadata = {"groups": groups, "query_weight": query_weight}
        metadata = {name: value for name, value in metadata.items() if value is not None}
        with self._callback_task(None, X, y, metadata) as root:
            rounds = self._rounds(train)
            while self.n_iter_ < self.n_estimators and not self._should_stop():
                with self._callback_task(root, X, y, metadata) as task:
                    terms = next(rounds, None)
                    if terms is not None:
                        self._keep(terms, train, validation)
                if terms is None or task.stop:
                    break
        self._predictor = self.model_.first(self.best_iteration_).collapse()
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_predictor")

    def _n_outputs(self):
        """How many sums of terms there are."""
        return 1

    def _to_scores(self, outputs):
        """Scores of rows, of shape (n_samples,), from the outputs."""
        return outputs

    def _forget(self):
        vars(self).pop("_predictor", None)
        super()._forget()

    def _restart(self, data):
        """Start from a model without rounds."""
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._binner = None
        self.model_ = AdditiveModel(
            self.n_features_in_, n_outputs=self._n_outputs(), averaged=self._averaged
        )
        self.n_iter_ = self.best_iteration_ = 0
        self.train_loss_ = np.empty(0)
        self.validation_score_ = np.empty(0)

    def _check_continuation(self):
        """Refuse to go on with rounds that the parameters do not fit any more."""
        if self.n_estimators < self.n_iter_:
            raise ValueError(
                f"n_estimators={self.n_estimators} is smaller than the {self.n_iter_} rounds "
                "already fitted; with warm_start=True it can only grow."
            )
        same_kind = isinstance(self._make_binner(), type(self._binner))
        if not same_kind or self._n_outputs() != self.model_.n_outputs:
            raise ValueError(
                "warm_start=True goes on with the rounds already fitted, and `estimator` or "
                "`method` now asks for other ones. Set it back, or start anew with "
                "warm_start=False."
            )

    def _prepare(self, data, X_val, y_val, groups_val):
        """The training set and what early stopping judges by, at the scores of the terms so far."""
        n_threads = self._n_threads()
        data, held_out = self._hold_out(data, X_val, y_val, groups_val, self._seed)
        if self._binner is None:
            self._binner = self._make_binner().fit(
                data.X, data.queries.order, n_threads, data.sample_weight
            )
        binned = self._binner.transform(data.X, data.queries.order, n_threads)
        n_outputs = self._n_outputs()
        train = TrainingSet(data, binned, n_outputs, n_threads)
        validation = None
        if held_out is not None:
            binned = self._binner.transform(held_out.X, held_out.queries.order, n_threads)
            validation = Validation(
                held_out, binned, n_outputs, self._to_scores, self._metric(), n_threads
            )
        for terms in self.model_.rounds:
            add_terms(train.scores, terms, train.binned, n_threads)
            if validation is not None:
                validation.add(terms)
        return train, validation

    def _make_binner(self):
        return Binner(self.max_bins)

    def _keep(self, terms, train, validation):
        """Keep a round and what it achieved."""
        score = None
        if validation is not None:
            validation.add(terms)
            score = validation.score()
        self._record(train.loss, score, model_=self.model_.plus(terms))
        if self.verbose:
            print(self._progress(self.n_estimators))

    @contextmanager
    def _callback_task(self, parent, X, y, metadata):
        """Tell scikit-learn's callbacks of a task: the whole fit, or one round of it.

        Yields an object whose ``stop`` says after the task whether a callback asks to stop.
        """
        task = _Task()
        if not hasattr(self, "_init_callback_context"):
            yield task
            return
        if parent is None:
            remaining = self.n_estimators - self.n_iter_
            task.context = self._init_callback_context(max_subtasks=remaining)
        else:
            task.context = parent.context.subcontext(task_name="round")
        arguments = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        task.context.call_on_fit_task_begin(**arguments)
        before = self.n_iter_
        yield task
        happened = parent is None or self.n_iter_ > before
        task.stop = task.context.call_on_fit_task_end(
            **arguments, reconstruction_attributes=self._snapshot if happened else None
        )

    def _snapshot(self):
        """What a copy of this ranker needs to predict as if the fit had ended here."""
        return {
            "model_": self.model_.first(self.n_iter_),
            "_predictor": self.model_.first(self.best_iteration_).collapse(),
        }

    def predict(self, X):
        """Scores; within a query, a higher score ranks higher.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            The sum of the first ``best_iteration_`` rounds.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return self._to_scores(self._predictor.predict(X, self._n_threads()))

    def staged_predict(self, X):
        """Scores after each round.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,), dtype float64
            After 1, 2, ... ``n_iter_`` rounds.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        for outputs in self.model_.staged_predict(X, self._n_threads()):
            yield self._to_scores(outputs)

    @property
    def feature_importances_(self):
        """Share of each feature in the gain of all rounds: ndarray of shape (`n_features_in_`,)."""
        check_is_fitted(self)
        return self.model_.first(self.best_iteration_).importances()[0]

    def _check_params(self):
        check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        # Weak rankers that are not fitted have neither of these two.
        if hasattr(self, "learning_rate"):
            check_positive(self.learning_rate, "learning_rate")
        if getattr(self, "max_bins", None) is not None:
            check_scalar(self.max_bins, "max_bins", Integral, min_val=2, max_val=MAX_BINS)
        self._check_stopping_params()


class BoostedRanker(Boosting):
    """Base class of boosted rankers that learn from preference pairs, of grades or given."""

    @with_callbacks
    def fit(
        self,
        X,
        y=None,
        groups=None,
        query_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
        preferences=None,
        preference_weight=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better. None with `preferences`.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns; with `preferences` it takes rows that preferences connect as a query.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        X_val, y_val, groups_val : array-likes, default=None
            Validation rows. With `early_stopping` they take the place of held-out queries; without
            it they are scored after each round, in ``validation_score_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
        preferences : array-like of shape (n_pairs, 2), integer, default=None
            In the place of grades: row of the winner and row of the loser, both of one query, as
            clicks or comparisons tell. Pairs may repeat and contradict each other. All are at the
            same distance, 1. Row numbers do not survive the cutting of folds, so that searches
            cannot carry them.
        preference_weight : array-like of shape (n_pairs,), default=None
            Weight of each preference, not negative.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If an argument is invalid, or no query has two rows of different grades.
        """
        return self._fit(
            X,
            y,
            groups,
            query_weight,
            (X_val, y_val, groups_val),
            preferences=preferences,
            preference_weight=preference_weight,
        )
