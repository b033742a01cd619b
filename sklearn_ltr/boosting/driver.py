# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Drives the rounds of a boosted ranker.

A ranker states its algorithm as a generator, ``_rounds(train)``; all that surrounds the rounds is
here once: binning, held-out queries and early stopping, warm start, callbacks, prediction.
"""

from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from sklearn_ltr.base import BaseRanker
from sklearn_ltr.binning import MAX_BINS, Binner
from sklearn_ltr.boosting.additive import AdditiveModel
from sklearn_ltr.boosting.early_stopping import EarlyStopping
from sklearn_ltr.boosting.training import Training, Validation, add_terms, zero_scores
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.reduction import alone, from_first, is_first
from sklearn_ltr.validation import LARGEST_SCORE, check_positive, check_predicted

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


class BoostedRanker(CallbackSupportMixin, BaseRanker):
    """Base class of rankers that are sums of weak rankers, one round after the other.

    A subclass implements ``_rounds(train)``: a generator that for each round fits its weak rankers,
    adds them to ``train.scores``, sets ``train.loss`` and yields the list of terms
    ``(coefficient, weak ranker)``. It returns when no further round lowers the loss.

    A ranker of several outputs says how many in ``_n_outputs``, and in ``_to_scores`` what to make
    of them; a round then has a term for each output in turn.
    """

    _allow_nan = True
    _allow_sparse = True
    _step = "round"

    # Whether scores are the mean of what the rounds and the start, 0, give, and not their sum.
    _averaged = False

    @explain_keywords
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
        init_score=None,
        init_score_val=None,
        propensity=None,
        propensity_val=None,
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
        X_val, y_val, groups_val : array-likes or tuples of them, default=None
            Validation rows. With `early_stopping` they take the place of held-out queries; without
            it they are scored after each round, in ``validation_score_``. Tuples are several sets,
            of which the first decides; all are in ``validation_history_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
        init_score : array-like of shape (n_samples,), default=None
            Scores that the model is added to, such as those of another ranker: rounds lower the
            loss of the sum, and begin without a constant. `predict` leaves them out. None is 0.
        init_score_val : array-like of shape (n_validation_samples,), or tuple, default=None
            The same of the validation rows, which are judged by the sum.
        propensity : array-like of shape (n_samples,), default=None
            Where grades are clicks: the probability, in (0, 1], that each row was looked at, as the
            models in `sklearn_ltr.clicks` estimate it. A click counts 1 / propensity, relative to
            the largest; `propensity_clip` bounds it. Those of other rows do not matter.
        propensity_val : array-like of shape (n_validation_samples,), or tuple, default=None
            How likely each validation row was looked at, in (0, 1], where `y_val` are clicks: these
            count 1 over it. It takes a `scoring` that
            ``make_ranking_scorer("dcg@10", propensity=True)`` returns.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If an argument is invalid, or there is nothing to learn from.
        """
        validation = X_val, y_val, groups_val, propensity_val, init_score_val
        others = {"init_score": init_score, "propensity": propensity}
        return self._fit(X, y, groups, query_weight, validation, **others)

    def _fit(self, X, y, groups, query_weight, validation, **others):
        """The body of every `fit`.

        Parameters
        ----------
        validation : tuple
            ``X_val``, ``y_val``, ``groups_val``, ``propensity_val``, ``init_score_val``.
        **others
            What `_validate_training_data` takes besides.
        """
        self._check_params()
        continuing = self.warm_start and getattr(self, "n_iter_", 0) > 0
        data = self._validate_training_data(
            X, y, groups, query_weight, reset=not continuing, **others
        )
        if continuing:
            self._check_continuation()
            self._check_start(data)
        else:
            self._restart(data)
        stopping = EarlyStopping(self)
        train, validation_sets = self._prepare(data, stopping, *validation)
        del data  # with what it has computed, which the rows to train on compute again
        # Whole rounds are all that an interrupted ranker has; see `_check_is_fitted`.
        vars(self).pop("_predictor", None)
        metadata = {"groups": groups, "query_weight": query_weight}
        metadata["propensity"] = others.get("propensity")
        metadata = {name: value for name, value in metadata.items() if value is not None}
        with self._callback_task(None, X, y, metadata) as root:
            rounds = self._rounds(train)
            while (why := stopping.why_stop("n_estimators")) is None:
                with self._callback_task(root, X, y, metadata) as task:
                    terms = next(rounds, None)
                    if terms is not None:
                        self._check_scores(train)
                        scores = [one.scores_with(terms) for one in validation_sets]
                        stopping.record(train.loss, scores, model_=self.model_.plus(terms))
                        stopping.report(self.n_estimators)
                if terms is None:
                    why = "no further weak ranker changes the model for the better"
                    break
                if from_first(int(task.stop)):
                    why = "a callback asked to stop"
                    break
            stopping.conclude(why)
        self._predictor = self.model_.first(self.best_iteration_).collapse()
        remedy = self._remedy_if_constant()
        if train.data.init_score is not None:
            remedy += " Or `init_score` is so large that what is added to it is lost."
        self._warn_if_constant(train.data, self._to_scores(train.learnt()), remedy)
        return self

    def _remedy_if_constant(self):
        """What may be the reason where nothing was learnt."""
        return (
            "Features may be constant or say nothing of the grades, or `min_samples_leaf` may be "
            "more than the rows, counted by `sample_weight`, allow."
        )

    def _check_scores(self, train):
        """Stop before a round that would make scores no numbers, which nothing could go on from."""
        if not train.data.largest(np.abs(train.scores)) <= LARGEST_SCORE:  # nor is NaN
            raise ValueError(
                f"{type(self).__name__}: the scores of training rows overflow in round "
                f"{self.n_iter_ + 1}. Rescale `y`, or lower `learning_rate`; a regressor given as "
                "`estimator` must predict finite numbers."
            )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_predictor") or (self.warm_start and getattr(self, "n_iter_", 0) > 0)

    def _check_is_fitted(self):
        super()._check_is_fitted()
        if not hasattr(self, "_predictor"):  # interrupted, and to go on: the rounds there are
            self._predictor = self.model_.first(self.best_iteration_).collapse()

    def _how_to_go_on(self):
        if getattr(self, "n_iter_", 0) == 0:
            return super()._how_to_go_on()
        return (
            "With set_params(warm_start=True) `predict` uses these rounds, and `fit` on the same "
            "data goes on with them. With warm_start=False `fit` starts anew."
        )

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
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._seed = from_first(int(seed))
        self._binner = None
        self._adds_to_scores = data.init_score is not None
        self.model_ = AdditiveModel(
            self.n_features_in_, n_outputs=self._n_outputs(), averaged=self._averaged
        )
        EarlyStopping(self).start()

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

    def _check_start(self, data):
        """Refuse to go on from other scores than those that the rounds so far are added to."""
        adds = getattr(self, "_adds_to_scores", False)  # not of models of an earlier version
        if adds and data.init_score is None:
            raise ValueError(
                "The fit that warm_start=True goes on with had `init_score`, which is not stored: "
                "give it again, or start anew with warm_start=False."
            )
        if data.init_score is not None and not adds:
            raise ValueError(
                "The fit that warm_start=True goes on with had no `init_score`: leave it out, or "
                "start anew with warm_start=False."
            )

    def _prepare(self, data, stopping, *validation):
        """What rounds see and what early stopping judges by, at the scores of the terms so far."""
        data = replace(data, random_seed=self._seed)
        data, held_out = stopping.hold_out(data, *validation)
        if self._binner is None:
            self._binner = self._make_binner().fit(
                data.X, data.queries.order, data.n_threads, data.sample_weight, data.running
            )
        n_outputs = self._n_outputs()
        binned = self._binner.transform(data.X, data.queries.order, data.n_threads)
        self._binner.note_missing(binned)
        scores = zero_scores(n_outputs, data.n_samples)
        if data.init_score is not None and not self._averaged:
            scores += data.init_score
        train = Training(data, binned, scores, self.n_iter_, self._averaged)
        validation_sets = [Validation(one, self, stopping.judges(one)) for one in held_out]
        for terms in self.model_.rounds:
            add_terms(train.scores, terms, train.binned, data.n_threads)
            for one in validation_sets:
                one.add(terms)
        return train, validation_sets

    def _make_binner(self):
        return Binner(self.max_bins)

    @contextmanager
    def _callback_task(self, parent, X, y, metadata):
        """Tell scikit-learn's callbacks of a task: the whole fit, or one round of it.

        Yields an object whose ``stop`` says after the task whether a callback asks to stop.
        """
        task = _Task()
        if not hasattr(self, "_init_callback_context") or not is_first():
            yield task
            return
        if parent is None:
            remaining = self.n_estimators - self.n_iter_
            task.context = self._init_callback_context(max_subtasks=remaining)
        else:
            task.context = parent.context.subcontext(task_name="round")
        arguments = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        with alone():
            task.context.call_on_fit_task_begin(**arguments)
        before = self.n_iter_
        yield task
        happened = parent is None or self.n_iter_ > before
        with alone():
            task.stop = task.context.call_on_fit_task_end(
                **arguments, reconstruction_attributes=self._snapshot if happened else None
            )

    def _snapshot(self):
        """What a copy of this ranker needs to predict as if the fit had ended here."""
        return {
            "model_": self.model_.first(self.n_iter_),
            "_predictor": self.model_.first(self.best_iteration_).collapse(),
        }

    @explain_keywords
    def predict(self, X):
        """Scores; within a query, a higher score ranks higher.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            The sum of the first ``best_iteration_`` rounds.

        Raises
        ------
        ValueError
            If `X` is invalid, or a score overflows.
        """
        self._check_is_fitted()
        X = self._validate_X(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # features that are scores may overflow
            outputs = self._predictor.predict(X, self._n_threads())
        return check_predicted(self._to_scores(outputs))

    @explain_keywords
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
        self._check_is_fitted()
        X = self._validate_X(X, reset=False)
        for outputs in self.model_.staged_predict(X, self._n_threads()):
            yield check_predicted(self._to_scores(outputs))

    @property
    def feature_importances_(self):
        """Share of each feature in the gain of all rounds: ndarray of shape (`n_features_in_`,)."""
        self._check_is_fitted()
        return self.model_.first(self.best_iteration_).importances()[0]

    def _check_params(self):
        check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        # Weak rankers that are not fitted have neither of these two.
        if hasattr(self, "learning_rate"):
            check_positive(self.learning_rate, "learning_rate")
        if getattr(self, "max_bins", None) is not None:
            check_scalar(self.max_bins, "max_bins", Integral, min_val=2, max_val=MAX_BINS)
        EarlyStopping(self).check_params()
