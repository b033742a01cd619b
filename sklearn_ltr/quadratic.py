# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
r"""The general boosting method of the QBRank paper (its section 2).

A risk R of the scores h of all training rows is replaced, in each round, by a quadratic upper bound

.. math:: R(h + g) \le R(h) + \nabla R(h)^T g + \frac{1}{2} g^T W g

with a diagonal W (equation 6). Completing the square, the bound is least where g fits the targets
:math:`-\nabla R / W` with the weights W by least squares, so that any regressor can fit it.

`QuadraticBooster` drives the rounds; what is minimised is an `Objective`.
"""

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from sklearn_ltr.base import check_positive
from sklearn_ltr.binning import Unbinned
from sklearn_ltr.losses.squared_hinge import HingeSums, ListedHingeSums
from sklearn_ltr.tree_boosting import TreeBoosting
from sklearn_ltr.weak.regressor import FittedRegressor
from sklearn_ltr.weak.tree import Tree, ratio

# A line search goes this far, in multiples of the step that is best for the quadratic bound. Pairs
# that a weak ranker parts by rounding only would have it go on for ever.
FURTHEST_STEP = 1024

# How exactly a line search finds the least value, as a share of that step.
STEP_TOLERANCE = 1e-2


class Objective:
    """What a `QuadraticBooster` minimises: a risk of the scores of all training rows.

    Parameters
    ----------
    train : TrainingSet

    Attributes
    ----------
    loss : float
        The risk at the scores of the last `update`.
    gradient, curvature : ndarrays of shape (n_samples,)
        Its gradient there, and the diagonal of the bound W.
    """

    def __init__(self, train):
        # Weights relative to their mean, of queries and of rows.
        self._v = train.query_weight / train.query_weight.mean()
        self._v_of_row = np.repeat(self._v, np.diff(train.offsets))

    def start(self):
        """The initial guess h_0, a constant."""
        return 0.0

    def update(self, h):
        """Move to the scores `h`, of shape (n_samples,)."""
        raise NotImplementedError

    def training_set(self, h):
        """What the weak learner is to fit.

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
        """How far to go from `h` along `g`, both of shape (n_samples,)."""
        return 1.0


class LossObjective(Objective):
    """The weighted mean of a loss over the queries, by the loss's three methods.

    Parameters
    ----------
    loss : object
        As `QuadraticBoosting` takes it.
    train : TrainingSet
    """

    def __init__(self, loss, train):
        super().__init__(train)
        self._loss = loss
        self._y, self._offsets = train.y, train.offsets

    def start(self):
        """The constant that a first step of the same method gives."""
        h = np.zeros_like(self._y)
        self.update(h)
        slope, bend = self.gradient.sum(), self.curvature.sum()
        # Differences of scores do not see a constant: then the slope is rounding.
        if abs(slope) <= 1e-12 * np.abs(self.gradient).sum():
            return 0.0
        constant = -slope / bend
        return constant * self.step(h, np.full_like(h, constant))

    def update(self, h):
        self.loss = self._risk(h)
        self.gradient = self._v_of_row * self._evaluate("gradient", h)
        self.curvature = self._v_of_row * self._evaluate("curvature", h)
        wrong = (self.curvature < 0) | ((self.curvature == 0) & (self.gradient != 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{self._loss!r}: `curvature` must bound the Hessian from above, so it cannot be "
                f"negative, nor 0 where the gradient is not; a row has curvature "
                f"{self.curvature[row]} and gradient {self.gradient[row]}."
            )

    def step(self, h, g):
        """Line search; 0 where no step lowers the risk."""
        slope, bend = (self.gradient * g).sum(), (self.curvature * g * g).sum()
        if slope >= 0 or bend <= 0:
            return 0.0
        nearest = furthest = -slope / bend
        while furthest < FURTHEST_STEP * nearest and (
            self._risk(h + 2 * furthest * g) < self._risk(h + furthest * g)
        ):
            furthest *= 2
        found = minimize_scalar(
            lambda s: self._risk(h + s * g),
            bounds=(0, 2 * furthest),
            method="bounded",
            options={"xatol": STEP_TOLERANCE * nearest},
        )
        s = float(found.x)
        while s > STEP_TOLERANCE**2 * nearest:
            if self._risk(h + s * g) < self.loss:
                return s
            s /= 2
        return 0.0

    def _risk(self, h):
        return (self._v * self._evaluate("value", h)).mean()

    def _evaluate(self, name, h):
        return evaluate(self._loss, name, self._y, h, self._offsets)


def evaluate(loss, name, y, h, offsets):
    """What a method of a loss returns, checked.

    Parameters
    ----------
    loss : object
    name : {"value", "gradient", "curvature"}
    y, h : ndarrays of shape (n_samples,)
    offsets : ndarray of shape (n_queries + 1,)

    Returns
    -------
    values : ndarray of shape (n_queries,) or (n_samples,), dtype float64

    Raises
    ------
    ValueError
        If the shape is wrong, or a number not finite.
    """
    values = np.asarray(getattr(loss, name)(y, h, offsets), dtype=np.float64)
    n, unit = (len(offsets) - 1, "query") if name == "value" else (len(h), "row")
    if values.shape != (n,):
        raise ValueError(
            f"{loss!r}: `{name}` must return one number for each {unit}, shape ({n},); got shape "
            f"{values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{loss!r}: `{name}` returned a number that is not finite.")
    return values


class TreeLearner:
    """Regression trees as the weak learner.

    Parameters
    ----------
    grower : TreeGrower
    """

    constant = Tree.constant

    def __init__(self, grower):
        self._grower = grower

    def fit(self, targets, weights, rows, seed):
        """Fit targets by weighted least squares.

        Parameters
        ----------
        targets : ndarray of shape (n_samples,)
        weights : ndarray of shape (n_samples,), or None
        rows : ndarray, ascending, or None
            The rows to fit; None: all.
        seed : callable
            ``seed(key)`` is a seed of this round.

        Returns
        -------
        weak : weak ranker or None
            None where no split lowers the squared error.
        g : ndarray of shape (n_samples,)
            Its values at all rows.
        """
        grower = self._grower
        leaves = grower.grow(targets, weights, None, rows, seed(1))
        leaves.set_values(leaves.sums(targets, weights), leaves.sums(None, weights))
        g = np.zeros_like(targets)
        leaves.add_to(g, 1.0)
        return (leaves.tree if leaves.tree.n_leaves > 1 else None), g


class RegressorLearner:
    """Regressors of scikit-learn as the weak learner.

    Parameters
    ----------
    estimator : regressor
    rows : Rows
        The training rows.
    """

    constant = FittedRegressor.constant

    def __init__(self, estimator, rows):
        self._estimator = estimator
        self._rows = rows

    def fit(self, targets, weights, rows, seed):
        """As `TreeLearner.fit`; rows of weight 0 are left out."""
        X = self._rows.X
        if weights is not None and not weights.all():
            positive = np.flatnonzero(weights)
            rows = positive if rows is None else np.intersect1d(rows, positive, True)
        if rows is not None:
            X, targets = X[rows], targets[rows]
            weights = None if weights is None else weights[rows]
        estimator = clone(self._estimator)
        names = [
            name
            for name in sorted(estimator.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        ]
        estimator.set_params(**{name: seed(1 + i) % 2**32 for i, name in enumerate(names)})
        weak = FittedRegressor(estimator.fit(X, targets, sample_weight=weights))
        return weak, weak.apply(self._rows)


class QuadraticBooster(TreeBoosting):
    """Base class of rankers that boost by quadratic upper bounds.

    A subclass says in ``_objective(train)`` what is minimised. Where it has a parameter
    `estimator`, a regressor in it takes the place of the trees.
    """

    estimator = None  # of rankers that know trees only

    def _objective(self, train):
        """What to minimise: an Objective."""
        raise NotImplementedError

    def _rounds(self, train):
        """Algorithm 1 of the paper: greedy boosting by quadratic approximation."""
        R, A = self._objective(train), self._learner(train)
        eta, h = self.learning_rate, train.scores
        terms = []
        if self.n_iter_ == 0 and (h_0 := R.start()):
            terms = [(1.0, A.constant(h_0))]
            h += h_0
        R.update(h)
        while True:
            targets, weights, rows = R.training_set(h)
            rows = self._rows_of_round(train, rows)
            g_k = None
            if (targets if rows is None else targets[rows]).any():
                g_k, g = A.fit(targets, weights, rows, self._seed_of)
            s_k = 0.0 if g_k is None else float(R.step(h, g))
            if s_k:
                h += eta * s_k * g
                terms.append((eta * s_k, g_k))
            elif not terms and not self._draws():
                return
            R.update(h)
            train.loss = R.loss
            yield terms
            terms = []

    def _rows_of_round(self, train, mask):
        """Numbers of the rows to fit in this round; None: all."""
        sample = self._sample(train)
        if mask is None or mask.all():
            return sample
        return np.flatnonzero(mask) if sample is None else sample[mask[sample]]

    def _learner(self, train):
        if self.estimator is None:
            return TreeLearner(self._grower(train))
        return RegressorLearner(self.estimator, train.binned)

    def _make_binner(self):
        return super()._make_binner() if self.estimator is None else Unbinned()

    def _draws(self):
        """Whether a round without a gain says nothing of the next."""
        return self.subsample < 1 or (self.estimator is None and self.max_features < 1)

    def _check_params(self):
        super()._check_params()
        if self.estimator is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"`estimator` must be a regressor whose `fit` takes `sample_weight`; got "
                f"{self.estimator!r}."
            )

    @property
    def _allow_nan(self):
        return self.estimator is None or get_tags(self.estimator).input_tags.allow_nan

    @property
    def _allow_sparse(self):
        return self.estimator is None or get_tags(self.estimator).input_tags.sparse


def hinge_of_pairs(train, margin):
    """The squared hinge of a training set's pairs, of grades or given.

    Parameters
    ----------
    train : TrainingSet
    margin : "grade" or float
    """
    if train.preferences is None:
        return HingeSums(train.y, train.offsets, margin, train.n_threads)
    return ListedHingeSums(train.pairs(), 1.0 if margin == "grade" else margin)


def check_margin(margin):
    """Check a parameter `margin`: "grade", or a positive number."""
    if isinstance(margin, str):
        if margin != "grade":
            raise ValueError(f'`margin` must be "grade" or a positive number; got {margin!r}.')
        return
    check_positive(margin, "margin")
