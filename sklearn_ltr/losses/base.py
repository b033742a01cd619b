# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a loss is to the rankers: bound once to the rows it is of, then evaluated round by round."""

from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

from sklearn_ltr.cached import cached_property
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.validation import check_scores

# A line search goes this far, in multiples of the step that is best for the quadratic bound. Pairs
# that a weak ranker parts by rounding only would have it go on for ever.
FURTHEST_STEP = 1024

# How exactly a line search finds the least value, as a share of that step.
STEP_TOLERANCE = 1e-2

# What any object with these methods is: a loss of one's own.
METHODS = ("value", "gradient", "curvature")


class Loss(Estimator):
    """Base class of the losses; the parameters of one can be searched.

    A subclass says in `bound` which `BoundLoss` it becomes. Where that is not all that one may be,
    it says in `abilities` what it is: of "value", "gradient", "curvature" and "stumps", and of
    "preferences" and "margins", if pairs may be given in the place of grades, and a degree of each,
    and of "propensity", if clicks may be weighed. If they may not, `no_propensity` says why, and
    what to do.
    """

    no_propensity: ClassVar[str] = (
        "it does not say how a row that is clicked is to be weighed; take a loss of pairs, such as "
        "LogisticPairs"
    )
    abilities: ClassVar[frozenset] = frozenset({"value", "gradient", "curvature"})
    bound: ClassVar[type]

    def bind(self, data, weight=None):
        """The loss of some rows.

        Parameters
        ----------
        data : RankingData
        weight : ndarray of shape (n_queries,), default=None
            Of each query; None is `data.v`.

        Returns
        -------
        bound : BoundLoss

        Raises
        ------
        ValueError
            If a parameter of the loss is invalid.
        """
        return self.bound(self, data, weight)

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        return self._at(y, scores, offsets).value

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        return self._at(y, scores, offsets).gradient

    def curvature(self, y, scores, offsets):
        """Diagonal bound of the Hessian: ndarray of shape (n_samples,)."""
        return self._at(y, scores, offsets).curvature

    def _at(self, y, scores, offsets):
        y, scores = (np.ascontiguousarray(values, dtype=np.float64) for values in (y, scores))
        check_scores(y, "y")
        check_scores(scores)
        bound = self.bind(RankingData.of(y, offsets))
        bound.update(scores)
        return bound


class BoundLoss:
    """The weighted mean of a loss over the queries of some rows, at their present scores.

    A subclass implements, all without the weights of the queries,

    - ``_prepare(loss)``, what does not depend on scores;
    - ``_evaluate(scores, round)``, the value of each query and the gradient of their sum;
    - ``_curvature()``, of their sum at the scores that ``_evaluate`` had last;
    - ``_value(scores)``, the values only, where that costs less.

    Parameters
    ----------
    loss : Loss
        Its parameters, which `_prepare` checks.
    data : RankingData
    weight : ndarray of shape (n_queries,), default=None
        Of each query; None is `data.v`, the given weights over their mean.

    Attributes
    ----------
    value : ndarray of shape (n_queries,)
        Loss of each query at the scores of the last `update`.
    gradient : ndarray of shape (n_samples,)
        Derivative of the weighted sum of the queries with respect to each score.
    draws : bool
        Whether it is another function in each round.
    """

    draws: ClassVar[bool] = False

    def __init__(self, loss, data, weight=None):
        self.data = data
        self.weight = data.v if weight is None else weight
        self._W = None
        if data.propensity is not None:
            self._check_takes_propensity(loss)
        self._prepare(loss)

    @cached_property
    def weight_of_row(self):
        return self.data.per_row(self.weight)

    def update(self, scores, round=0):
        """Move to other scores.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,), dtype float64
        round : int, default=0
            For which round; what a loss draws is drawn by ``data.seed(round, ...)``.
        """
        self.value, gradient = self._evaluate(scores, round)
        self.gradient = self.weight_of_row * gradient
        self._W = None

    @property
    def curvature(self):
        """W, not negative, a bound of the second derivatives (equation 6 of the QBRank paper).

        ndarray of shape (n_samples,), computed where it is asked for.
        """
        if self._W is None:
            self._W = self.weight_of_row * self._curvature()
        return self._W

    @property
    def loss(self):
        """The weighted mean over the queries: float."""
        return self.data.mean(self.weight * self.value)

    @property
    def total(self):
        """The weighted sum over the queries: float."""
        return self.data.dot(self.value, self.weight)

    def loss_at(self, scores):
        """`loss` at other scores, without moving there."""
        return self.data.mean(self.weight * self._value(scores))

    def start(self):
        """The constant to start from: what a first step of Newton's method gives."""
        h = np.zeros(self.data.n_samples)
        self.update(h)
        slope, bend = self.data.sum(self.gradient), self.data.sum(self.curvature)
        # Differences of scores do not see a constant: then the slope is rounding.
        if abs(slope) <= 1e-12 * self.data.sum(np.abs(self.gradient)):
            return 0.0
        constant = -slope / bend
        return constant * self.step(h, np.full_like(h, constant))

    def training_set(self):
        """What a weak learner is to fit by least squares, so that the quadratic bound is least.

        Returns
        -------
        targets : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), not negative, or None
            None: all are equal.
        rows : ndarray of bool of shape (n_samples,), or None
            The rows to fit; None: all.
        """
        return ratio(-self.gradient, self.curvature), self.curvature, None

    def step(self, h, g):
        """How far to go from `h`, the present scores, along `g`: float.

        By a line search; 0 where no step lowers the loss.
        """
        slope, bend = self.data.dot(self.gradient, g), self.data.dot(self.curvature * g, g)
        if slope >= 0 or bend <= 0:
            return 0.0
        longest = self._longest_step(g)
        nearest = furthest = min(-slope / bend, longest)
        while furthest < min(FURTHEST_STEP * nearest, longest) and (
            self.loss_at(h + 2 * furthest * g) < self.loss_at(h + furthest * g)
        ):
            furthest *= 2
        found = minimize_scalar(
            lambda s: self.loss_at(h + s * g),
            bounds=(0, min(2 * furthest, longest)),
            method="bounded",
            options={"xatol": STEP_TOLERANCE * nearest},
        )
        s, present = float(found.x), self.loss
        while s > STEP_TOLERANCE**2 * nearest:
            if self.loss_at(h + s * g) < present:
                return s
            s /= 2
        return 0.0

    def _prepare(self, loss):
        pass

    def _check_takes_propensity(self, loss):
        if "propensity" not in getattr(loss, "abilities", Loss.abilities):
            why = getattr(loss, "no_propensity", Loss.no_propensity)
            raise ValueError(f"{loss!r} takes no `propensity`: {why}.")

    def _value(self, scores):
        return self._evaluate(scores, 0)[0]

    def _longest_step(self, g):
        """How far a line search may go along `g`."""
        return np.inf


class _ThreeMethods(BoundLoss):
    """An object with the three methods of a loss, checked, since it is not ours."""

    def _prepare(self, loss):
        self._loss = loss

    def _evaluate(self, scores, round):
        value, gradient, curvature = (self._call(name, scores) for name in METHODS)
        self._bound = curvature
        wrong = (curvature < 0) | ((curvature == 0) & (gradient != 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{self._loss!r}: `curvature` must bound the Hessian from above, so it cannot be "
                f"negative, nor 0 where the gradient is not; a row has curvature "
                f"{curvature[row]} and gradient {gradient[row]}."
            )
        return value, gradient

    def _curvature(self):
        return self._bound

    def _value(self, scores):
        return self._call("value", scores)

    def _call(self, name, scores):
        data, loss = self.data, self._loss
        values = np.asarray(getattr(loss, name)(data.y, scores, data.offsets), dtype=np.float64)
        n, unit = (data.n_queries, "query") if name == "value" else (data.n_samples, "row")
        if values.shape != (n,):
            raise ValueError(
                f"{loss!r}: `{name}` must return one number for each {unit}, shape ({n},); got "
                f"shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"{loss!r}: `{name}` returned a number that is not finite.")
        return values


def check_loss(loss, needs, ranker):
    """Check that a loss can do what a ranker needs.

    Parameters
    ----------
    loss : object
        A `Loss`, or one's own: any object with the methods value, gradient and curvature.
    needs : set of str
        Of what `Loss.abilities` may have.
    ranker : str
        Who needs it, for the error message.

    Raises
    ------
    ValueError
        If it has not the methods or the abilities.
    """
    if not hasattr(loss, "bind"):
        missing = [name for name in METHODS if not hasattr(loss, name)]
        if missing:
            raise ValueError(
                f"`loss` must have the methods {list(METHODS)}; {loss!r} has no {missing}."
            )
    missing = sorted(needs - getattr(loss, "abilities", Loss.abilities))
    if missing:
        raise ValueError(
            f"{ranker} needs the {' and the '.join(missing)} of a loss, which {loss!r} has not."
        )


def positive(loss, name, otherwise=""):
    """A parameter of a loss that must be a positive number; ValueError if it is none."""
    value = getattr(loss, name)
    if not (isinstance(value, Real) and 0 < value < np.inf):
        raise ValueError(f"`{name}` must be {otherwise}a positive number; got {value!r}.")
    return value


def bind(loss, data):
    """Bind a loss, ours or one's own, to some rows: BoundLoss."""
    return loss.bind(data) if hasattr(loss, "bind") else _ThreeMethods(loss, data)


def learnable(loss, data):
    """Which queries a loss says something of: those where it has a gradient or a curvature.

    Parameters
    ----------
    loss : object
        Ours or one's own.
    data : RankingData

    Returns
    -------
    mask : ndarray of shape (n_queries,), dtype bool

    Raises
    ------
    ValueError
        If preferences are given that the loss cannot take.
    """
    if data.preferences is not None:
        _check_takes_preferences(loss, data.preferences)
    R = bind(loss, data)
    R.update(np.zeros(data.n_samples))
    rows = R.gradient != 0
    if "curvature" in getattr(loss, "abilities", Loss.abilities):
        rows |= R.curvature != 0
    return np.logical_or.reduceat(rows, data.offsets[:-1])


def _check_takes_preferences(loss, preferences):
    abilities = getattr(loss, "abilities", Loss.abilities)
    if "preferences" not in abilities:
        raise ValueError(
            f"{loss!r} is a loss of grades, which `preferences` have not; give a loss of pairs "
            "from sklearn_ltr.losses, such as LogisticPairs or SquaredHinge."
        )
    if preferences.margin is not None and "margins" not in abilities:
        raise ValueError(
            f"{loss!r} has no use for `preference_margin`: it keeps the order of a pair, but no "
            "degree, as SquaredHinge does."
        )


def ratio(numerator, denominator):
    """numerator / denominator, 0 where the denominator is."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
