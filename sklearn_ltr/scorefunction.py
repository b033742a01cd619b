# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Score function x loss x solver: linear functions and small nets, fitted to losses of rankings.

A ranker states its loss; all else is here once: the function of the features, linear or a net, its
derivatives, and the solvers, L-BFGS on all queries or Adam on batches of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Integral

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state, check_scalar

from sklearn_ltr.base import BaseRanker
from sklearn_ltr.boosting.early_stopping import EarlyStopping
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.linear import hidden_layer, weighted_sums
from sklearn_ltr.losses.base import bind, check_loss
from sklearn_ltr.validation import (
    LARGEST_SCORE,
    SMALLEST_FEATURE,
    check_choice,
    check_positive,
    check_predicted,
    warn_caller,
)

# Of a hidden layer: the function, and its derivative in terms of its value.
ACTIVATIONS = {
    "tanh": (np.tanh, lambda a: 1 - a**2),
    "logistic": (expit, lambda a: a * (1 - a)),
    "relu": (lambda z: np.maximum(z, 0), lambda a: a > 0),
}
SOLVERS = ("auto", "lbfgs", "adam")

# By scipy's status.
ENDS_OF_LBFGS = {
    0: "L-BFGS has converged",
    2: "L-BFGS finds no lower loss, to the precision of numbers",
}
OFTEN = "L-BFGS has evaluated the loss as often as it may"

# A loss so many times that of the first batch at the start is no noise of batches.
MUCH_HIGHER = 10

# Decay rates and guard of the step, as Kingma and Ba give them ("Adam", ICLR 2015).
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class ScoreFunction:
    """A linear function, or a net with hidden layers and one output without an intercept.

    A common part of all scores changes no ranking, hence no intercept. The parameters are one
    vector. In it the weights of the features are for features of standard deviation 1, so that
    their units do not matter to a solver.

    Parameters
    ----------
    hidden : tuple of int
        Units of each hidden layer.
    activation : str
        A key of `ACTIVATIONS`.
    scale : ndarray of shape (n_features,)
        Standard deviations of the features.
    n_threads : int, default=1
        Of `scores`.
    """

    def __init__(self, hidden, activation, scale, n_threads=1):
        sizes = (len(scale), *hidden, 1)
        self._shapes = [*pairwise(sizes), *((n_units,) for n_units in hidden)]
        self._n_layers = len(sizes) - 1
        self._derivative = ACTIVATIONS[activation][1]
        self._activation = activation
        self._scale = scale[:, None]
        self._n_threads = n_threads

    def start(self, rng):
        """Initial parameters: 0 if linear, else as Glorot and Bengio draw them (AISTATS 2010)."""
        parts = [np.zeros(shape) for shape in self._shapes]
        if self._n_layers > 1:
            for part in parts[: self._n_layers]:
                part[:] = rng.uniform(-1, 1, part.shape) * np.sqrt(6 / sum(part.shape))
        return np.concatenate([part.ravel() for part in parts])

    def unpack(self, parameters):
        """Weights and intercepts of the layers, for features in their own units."""
        sizes = [int(np.prod(shape)) for shape in self._shapes]
        parts = np.split(parameters, np.cumsum(sizes)[:-1])
        parts = [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]
        weights, intercepts = parts[: self._n_layers], parts[self._n_layers :]
        return [weights[0] / self._scale, *weights[1:]], intercepts

    def scores(self, parameters, X):
        """Scores of rows, as `predict` gives them: ndarray of shape (n_samples,)."""
        return scores_of(X, *self.unpack(parameters), self._activation, self._n_threads)

    def loss(self, parameters, X, bound, alpha, round=0):
        """The mean loss of the queries with a penalty, and its gradient.

        Parameters
        ----------
        parameters : ndarray
        X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float64
        bound : BoundLoss
            Of these rows.
        alpha : float
            The penalty is this times half the sum of the squared weights, intercepts left out.
        round : int, default=0
            What a loss draws is drawn for this round.

        Returns
        -------
        loss : float
        gradient : ndarray
        """
        weights, intercepts = self.unpack(parameters)
        layers = outputs(X, weights, intercepts, self._activation)
        scores, data = layers[-1].ravel(), bound.data
        if not data.largest(np.abs(scores)) <= LARGEST_SCORE:  # nor is NaN
            raise ValueError(
                "The scores of training rows overflow. Rescale the features, for example by "
                "sklearn.preprocessing.StandardScaler, or lower `learning_rate_init`."
            )
        bound.update(scores, round)
        along = bound.gradient[:, None] / data.n_queries
        slopes, intercept_slopes = [], []
        for k in reversed(range(self._n_layers)):
            slopes.insert(0, data.merged(layers[k].T @ along) + alpha * weights[k])
            if k > 0:
                along = along @ weights[k].T * self._derivative(layers[k])
                intercept_slopes.insert(0, data.sum(along))
        slopes[0] = slopes[0] / self._scale
        penalty = alpha / 2 * sum(float((weight**2).sum()) for weight in weights)
        gradient = np.concatenate([part.ravel() for part in (*slopes, *intercept_slopes)])
        return bound.total / data.n_queries + penalty, gradient


def scores_of(X, weights, intercepts, activation, n_threads):
    """Scores of rows, each with the same bits whatever rows are around it: (n_samples,)."""
    for weight, intercept in zip(weights, intercepts, strict=False):
        X = hidden_layer(X, weight, intercept, activation, n_threads)
    return weighted_sums(X, weights[-1].ravel(), n_threads)


def outputs(X, weights, intercepts, activation):
    """X and the outputs of all layers; the last, of shape (n_samples, 1), are the scores.

    By the BLAS, for training: the last bits of `scores_of` may be other ones.
    """
    layers = [X]
    for weight, intercept in zip(weights, intercepts, strict=False):
        layers.append(ACTIVATIONS[activation][0](layers[-1] @ weight + intercept))
    layers.append(layers[-1] @ weights[-1])
    return layers


class ScoreFunctionRanker(BaseRanker):
    """Base class of rankers that fit a linear function or a small net to a loss.

    A subclass names its loss in ``_loss()``.
    """

    _allow_sparse = True
    _computes_with_features = True
    _order = "C"

    @explain_keywords
    def fit(
        self,
        X,
        y,
        groups=None,
        query_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
        propensity=None,
        propensity_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite.
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
            it they are scored after each iteration, in ``validation_score_``. Tuples are several
            sets, of which the first decides; all are in ``validation_history_``. In a pipeline they
            need ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
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
            If an argument is invalid, or no query has two rows of different grades.

        Warns
        -----
        ConvergenceWarning
            If L-BFGS does not converge within `max_iter` iterations.
        """
        validation = X_val, y_val, groups_val, propensity_val
        return self._fit(X, y, groups, query_weight, validation, propensity=propensity)

    def _fit(self, X, y, groups, query_weight, validation, **others):
        """The body of every `fit`.

        Parameters
        ----------
        validation : tuple
            ``X_val``, ``y_val``, ``groups_val``, ``propensity_val``.
        **others
            What `_validate_training_data` takes besides.
        """
        self._check_params()
        data = self._validate_training_data(X, y, groups, query_weight, **others)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        stopping = EarlyStopping(self)
        data = replace(data, random_seed=seed)
        data, held_out = stopping.hold_out(data, *validation)
        data = self._weighed(data.select(self._learnable(data)))
        train = data.with_rows(_float64_rows(data))  # so that batches are of rows side by side
        scale = StandardScaler(with_mean=False).fit(train.X).scale_
        # Of the rows that there is something to learn from they may be smaller than of all.
        scale[scale < SMALLEST_FEATURE] = 1  # as of constants
        function = ScoreFunction(self._hidden(), self.activation, scale, train.n_threads)
        validation_sets = [(_float64_rows(one), stopping.judges(one)) for one in held_out]
        rng = np.random.default_rng(seed)
        kept = start = function.start(rng)
        stopping.start()

        def after(parameters, loss):
            """Keep an iteration, and tell whether it is the last."""
            nonlocal kept
            scores = [
                [judge(scores) for judge in judges]
                for scores, judges in (
                    (function.scores(parameters, X), judges) for X, judges in validation_sets
                )
            ]
            stopping.record(loss, scores)
            if self.best_iteration_ == self.n_iter_:
                kept = parameters.copy()
            stopping.report(self.max_iter)
            return stopping.should_stop()

        def objective(data, X=None, round=0):
            """The loss of some queries, whose rows are X, as a function of the parameters."""
            X, bound = data.rows() if X is None else X, self._bind(data)
            return lambda parameters: function.loss(parameters, X, bound, self.alpha, round)

        if self._uses_lbfgs():
            ended = lbfgs(objective(train, train.X), start, self.max_iter, self.tol, after)
        else:
            rate, size = self.learning_rate_init, self.batch_size
            adam(objective, start, train, rate, size, self.max_iter, rng, after)
            ended = None
        stopping.conclude(ended or stopping.why_stop("max_iter") or OFTEN)
        self._warn_if_constant(
            train,
            function.scores(kept, train.X),
            "Features may be constant, so small that the penalty lets them have no weight (rescale "
            "them, or lower `alpha`), or grades so close together that they count as equal.",
        )
        coefs, self.intercepts_ = function.unpack(kept)
        self.coefs_ = coefs  # last, for `__sklearn_is_fitted__`
        return self

    def _loss(self):
        """What to minimise: a Loss."""
        raise NotImplementedError

    def _bind(self, data):
        return bind(self._loss(), data)

    def _weighed(self, data):
        """The training rows with the weights that the loss gives their queries: RankingData."""
        return data

    def _uses_lbfgs(self):
        return self.solver == "lbfgs" or (self.solver == "auto" and not self._hidden())

    def _hidden(self):
        """The units of the hidden layers."""
        sizes = self.hidden_layer_sizes
        return (sizes,) if isinstance(sizes, Integral) else tuple(sizes)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coefs_")

    @property
    def coef_(self):
        """Weight of each feature, of a linear function: ndarray of shape (n_features,)."""
        if len(self.coefs_) > 1:
            raise AttributeError("A net has no `coef_`; its weights are in `coefs_`.")
        return self.coefs_[0].ravel()

    @explain_keywords
    def predict(self, X):
        """Scores; within a query, a higher score ranks higher.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            Equal rows have equal scores, to the last bit.

        Raises
        ------
        ValueError
            If `X` is invalid, or a score overflows.
        """
        self._check_is_fitted()
        X = self._validate_X(X, reset=False)
        coefs = self.coefs_, self.intercepts_
        return check_predicted(scores_of(X, *coefs, self.activation, self._n_threads()))

    def _check_params(self):
        sizes = self.hidden_layer_sizes
        if not isinstance(sizes, (Integral, Sequence, np.ndarray)) or isinstance(
            sizes, str | bytes
        ):
            raise TypeError(
                "`hidden_layer_sizes` must be an integer, or a sequence of one for each layer, as "
                f"in (20, 10); got {sizes!r}."
            )
        needs = {"value", "gradient"} if self._uses_lbfgs() else {"gradient"}
        check_loss(self._loss(), needs, f"{type(self).__name__} by this solver")
        for size in self._hidden():
            check_scalar(size, "hidden_layer_sizes", Integral, min_val=1)
        check_choice(self.activation, "activation", tuple(ACTIVATIONS))
        check_choice(getattr(self, "solver", "adam"), "solver", SOLVERS)
        check_positive(self.alpha, "alpha", zero=True)
        check_positive(self.learning_rate_init, "learning_rate_init")
        check_scalar(self.batch_size, "batch_size", Integral, min_val=1)
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        EarlyStopping(self).check_params()


def _float64_rows(data):
    return data.rows().astype(np.float64, copy=False)


def lbfgs(loss, start, max_iter, tol, after):
    """Minimise a loss by L-BFGS.

    Parameters
    ----------
    loss : callable
        ``loss(parameters)`` -> the value and its gradient.
    start : ndarray
    max_iter : int
    tol : float
        It has converged where no derivative is larger.
    after : callable
        ``after(parameters, loss)`` is called after each iteration, and says whether to stop.

    Returns
    -------
    why : str or None
        Why it ended by itself; None if it was stopped.
    """

    def callback(intermediate_result):
        if after(intermediate_result.x, intermediate_result.fun):
            raise StopIteration

    result = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=callback,
        # As scikit-learn sets them: several evaluations an iteration, and progress down to what
        # rounding lets be seen.
        options={
            "maxiter": max_iter,
            "maxfun": 50 * max_iter,
            "maxls": 50,
            "gtol": tol,
            "ftol": 64 * np.finfo(float).eps,
        },
    )
    # Where no lower loss is found, rounding may be all that is in the way.
    if result.status == 1 or (result.status == 2 and np.abs(result.jac).max() > 100 * tol):
        warn_caller(
            f"L-BFGS has not converged after {result.nit} iterations. Raise max_iter, alpha or "
            "tol, or scale the data.",
            ConvergenceWarning,
        )
    return ENDS_OF_LBFGS.get(result.status)


def adam(objective, parameters, data, learning_rate, batch_size, max_iter, rng, after):
    """Minimise a loss by Adam, on one batch of queries after the other.

    Parameters
    ----------
    objective : callable
        ``objective(data, round=k)`` is the loss of some queries, as `lbfgs` takes it. What it draws
        is drawn for round k, the number of steps before.
    parameters : ndarray
        To start from.
    data : RankingData
    learning_rate : float
    batch_size : int
        Queries of a batch.
    max_iter : int
        How often to go through all queries.
    rng : numpy.random.Generator
        Draws their order anew each time.
    after : callable
        As `lbfgs`.
    """
    n_queries = data.n_queries
    n_batches = -(-n_queries // batch_size)
    mean, square, steps = np.zeros_like(parameters), np.zeros_like(parameters), 0
    at_start = None
    for _ in range(max_iter):
        total = 0.0
        batch_of_query = rng.permutation(np.arange(n_queries) % n_batches)
        for k in range(n_batches):
            batch = data.batch(batch_of_query == k)
            value, gradient = objective(batch, round=steps)(parameters)
            at_start = value if at_start is None else at_start
            total += value * batch.n_queries
            steps += 1
            mean = BETA_1 * mean + (1 - BETA_1) * gradient
            square = BETA_2 * square + (1 - BETA_2) * gradient**2
            rate = learning_rate * np.sqrt(1 - BETA_2**steps) / (1 - BETA_1**steps)
            parameters = parameters - rate * mean / (np.sqrt(square) + EPSILON)
        if after(parameters, total / n_queries):
            break
    if total / n_queries > MUCH_HIGHER * at_start:
        warn_caller(
            f"The training loss rose from {at_start:.3g} to {total / n_queries:.3g}: Adam's steps "
            "are too long. Scale the features, or lower learning_rate_init or alpha.",
            ConvergenceWarning,
        )
