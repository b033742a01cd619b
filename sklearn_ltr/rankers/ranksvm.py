# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM: a linear support vector machine on preference pairs."""

from itertools import pairwise
from numbers import Integral

import numpy as np
from scipy import sparse
from scipy.linalg import norm
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar
from sklearn.utils.sparsefuncs import mean_variance_axis

from sklearn_ltr.base import LinearRanker
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.losses.hinge_sums import HingeSums, ListedHingeSums
from sklearn_ltr.losses.pairs_alike import PAIR_WEIGHTINGS
from sklearn_ltr.progress import check_verbose, print_end, print_step
from sklearn_ltr.validation import check_choice, check_positive, warn_caller

LOSSES = ("squared_hinge", "hinge")

# Of a line search, which takes about ten where numbers are precise enough for it to end.
MOST_TRIALS = 200

# First half-width of the smoothed hinge: wide enough that no pair is outside of it at w = 0.
WIDEST = 2.0

# It is divided by this.
NARROWING = 10.0

# Newton's equations are solved to this relative error at least.
LOOSEST = 0.5

# A line search ends where the slope is this share of the first, or the step cannot be told from 0.
FLAT = 0.1
SAME_STEP = 1e-14

# A line search first changes scores by at most this times their size.
LONGEST = 10.0
TINY = np.finfo(np.float64).tiny

# Values differ by rounding only; the gradient still tells such points apart.
SAME_VALUE = 1e-13


class RankSVM(LinearRanker):
    r"""Linear support vector machine on preference pairs.

    Minimises

    .. math:: F(w) = \frac12 |w|^2 + C \sum_q c_q
              \sum_{(i, j) \in P_q} \ell\bigl(1 - w \cdot (x_i - x_j)\bigr)

    over the pairs :math:`P_q` of rows of query q of which :math:`x_i` has the higher grade [1]_, or
    over given preferences, as clicks tell.
    :math:`\ell(m)` is :math:`\max(0, m)^2` or :math:`\max(0, m)`. With query weights :math:`v_q`,
    relative to their mean over the Q queries that have pairs, :math:`c_q` is :math:`v_q`, and each
    pair counts the same, or :math:`v_q / (Q |P_q|)`, and each query does. Pairs are never listed: a
    query of n rows takes O(n log n), for any number of grades, and memory is linear in the rows.

    Read more in the :ref:`User Guide <ranksvm>`.

    Parameters
    ----------
    C : float, default=1.0
        What the losses weigh against :math:`\frac12 |w|^2`; positive. It multiplies the sum over
        all pairs, as scikit-learn's SVMs the sum over all rows: the more pairs, the smaller is the
        best value. With ``pair_weighting="query"`` it multiplies the mean over the queries of their
        mean losses, so that the same value serves for few and many rows.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        "squared_hinge" is faster [2]_; "hinge" is the original RankSVM.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, or each query, however many pairs it has.
    propensity_clip : float in [0, 1), default=0.0
        Smaller values of `propensity` count as this: that lowers the variance of what clicks teach,
        for some bias.
    tol : float, default=1e-6
        :math:`F(w)` exceeds its minimum by at most this times :math:`F(w)`; positive. For the hinge
        less than 1e-8 is hardly within the precision of numbers.
    max_iter : int, default=1000
        Most iterations: Newton steps.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it. Matrix products of `fit` have the threads of the
        BLAS.
    verbose : int, default=0
        Print a line every so many steps, 1 being each, and at the end one that says why the fit
        ended. 0 prints nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Weight of each feature, the paper's :math:`w`; ``X @ coef_`` are the scores.
    n_iter_ : int
        Iterations run: Newton steps.
    n_queries_ : int
        Queries of positive weight.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries of one grade or one row. They are not in any sum
        above.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    Notes
    -----
    **Squared hinge.** :math:`F` is minimised by truncated Newton [2]_: conjugate gradients find the
    direction, and a line search goes close to the minimum along it. The value and the gradient take
    a sort of the scores and two sweeps with a Fenwick tree over the grades; products with the
    Hessian reuse that order, and the line search needs no products with `X`.

    Given preferences are listed, and have a margin each, if it is given, in the place of 1.

    **Hinge.** :math:`\max(0, m)` is replaced by
    :math:`\bigl((m + h)_+^2 - (m - h)_+^2\bigr) / (4 h)`, which exceeds it by at most h/4, and only
    where :math:`|m| < h`. h is twice the largest margin at first and is divided by ten, each time
    from the last solution, until `tol` is reached.

    **Stopping.** With the slopes :math:`\alpha_p` of the (smoothed) loss at each pair as a feasible
    point of the dual problem, the duality gap is :math:`\frac12 |\nabla F(w)|^2`, plus
    :math:`h \sum_p c_p \alpha_p (1 - \alpha_p)` for the hinge with pair costs :math:`c_p`. It is
    what `tol` bounds. Since :math:`F` is strongly convex, :math:`w` is off by at most the root of
    twice the gap; it is usually much closer.

    There is no intercept: pairs would not see it. Neither do they see a part that the rows of a
    query have in common; dense columns are centred within queries for the computation, so that
    such a part takes no digits. Features are scaled internally, but only to speed the solver up:
    the penalty is on :math:`w` in the given units, so scale the features as for any linear model.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    With `propensity` a pair weighs 1 / p of the row that wins it, the one that is clicked,
    relative to the largest weight. With ``pair_weighting="query"`` the pairs of a query are
    counted, not weighed, so that a single click does not cancel its own.

    References
    ----------
    .. [1] Joachims. "Optimizing Search Engines Using Clickthrough Data". KDD 2002.
    .. [2] Chapelle, Keerthi. "Efficient Algorithms for Ranking with SVMs". Information Retrieval
       13, 2010.

    Examples
    --------
    >>> from sklearn_ltr import RankSVM
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = RankSVM().fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.8
    """

    _step = "step"

    def __init__(
        self,
        C=1.0,
        *,
        loss="squared_hinge",
        pair_weighting="pair",
        propensity_clip=0.0,
        tol=1e-6,
        max_iter=1000,
        n_jobs=None,
        verbose=0,
    ):
        self.C = C
        self.loss = loss
        self.pair_weighting = pair_weighting
        self.propensity_clip = propensity_clip
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    @explain_keywords
    def fit(
        self,
        X,
        y=None,
        groups=None,
        query_weight=None,
        preferences=None,
        preference_weight=None,
        preference_margin=None,
        propensity=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better. Only their order counts. None with `preferences`.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns; with `preferences` it takes rows that preferences connect as a query.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        preferences : array-like of shape (n_pairs, 2), integer, default=None
            Row of the winner and row of the loser, both of one query, as clicks or comparisons
            tell. They take the place of grades. Pairs may repeat and contradict each other. Row
            numbers do not survive the cutting of folds, so that searches cannot carry them.
        preference_weight : array-like of shape (n_pairs,), default=None
            Weight of each preference, not negative.
        preference_margin : array-like of shape (n_pairs,), default=None
            Degree of each preference, positive: how far the winner is to be ahead. None is 1.
        propensity : array-like of shape (n_samples,), default=None
            Where grades are clicks: the probability, in (0, 1], that each row was looked at, as the
            models in `sklearn_ltr.clicks` estimate it. A click counts 1 / propensity, relative to
            the largest; `propensity_clip` bounds it. Those of other rows do not matter. Not with
            `preferences`, which have weights of their own.

        Returns
        -------
        self : RankSVM

        Raises
        ------
        ValueError
            If a parameter or an argument is not as described, or no query has two grades.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` steps, or the precision of numbers, do not suffice for `tol`.
        """
        self._check_params()
        data = self._validate_training_data(
            X,
            y,
            groups,
            query_weight,
            preferences=preferences,
            preference_weight=preference_weight,
            preference_margin=preference_margin,
            propensity=propensity,
        )
        data = data.select(data.with_pairs)
        X, variance = _design(data)
        if self.pair_weighting == "pair":
            cost = self.C * data.v * data.pair_weight
            of_all = data.sum(cost)
        else:
            v = data.query_weight
            cost, of_all = self.C * v / data.sum(v), self.C
        # About the diagonal of the Hessian where all pairs are active, which also takes care of
        # constant columns.
        scale = np.sqrt(1 + 4 * of_all * variance)
        least, most = _margins(data)
        u, h, self.n_iter_ = np.zeros(X.shape[1]), WIDEST * most, 0
        gap, best = np.inf, None
        while best is None or h > least * self.tol / (4 * NARROWING):
            half_width = None if self.loss == "squared_hinge" else h
            F = _Primal(X, data, cost, scale, half_width, u)
            self._minimise(F)
            smoothing = F.smoothing_gap()
            if F.gap + smoothing >= gap:  # the precision of numbers is reached
                break
            u, gap, best = F.u, F.gap + smoothing, F
            if gap <= self.tol * F.value or half_width is None:
                break
            # At the minimum, the smoothing's part of the gap is at most 2 h F(w).
            h /= NARROWING
        if gap > self.tol * best.value:
            warn_caller(
                f"RankSVM stopped after {self.n_iter_} steps with F(w) = {best.value:.6g}, which "
                f"may exceed the minimum by {gap:.2g}. Scale the features, lower C, or raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        self.coef_ = best.u / scale
        self._warn_if_constant(
            data,
            X @ self.coef_,
            "Features may be constant, or so small that the penalty lets them have no weight: "
            "rescale them, or raise `C`.",
        )
        if gap <= self.tol * best.value:
            why = f"F(w) is within tol={self.tol:g} of its minimum"
        elif self.n_iter_ >= self.max_iter:
            why = f"max_iter={self.max_iter} reached"
        else:
            why = "the precision of numbers is reached"
        print_end(self, why)
        return self

    def _check_params(self):
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_choice(self.loss, "loss", LOSSES)
        check_choice(self.pair_weighting, "pair_weighting", PAIR_WEIGHTINGS)
        check_verbose(self)

    def _minimise(self, F):
        """Newton's method until half of what `tol` allows is left."""
        first = norm(F.gradient)
        while F.gap > self.tol / 2 * F.value and self.n_iter_ < self.max_iter:
            # Loosely at first, so that few products are spent far from the minimum.
            size = norm(F.gradient)
            forcing = min(LOOSEST, np.sqrt(size / first))
            direction, _ = cg(F.hessian(), -F.gradient, atol=forcing * size)
            if not F.advance(direction):  # the precision of numbers is reached
                break
            self.n_iter_ += 1
            message = f"F(w) = {F.value:.9g}, duality gap {F.gap:.2g}{F.label}"
            print_step(self, self.max_iter, message)


class _Primal:
    """F as a function of u = scale * w, for the squared hinge or the smoothed hinge, and a point u.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float64
        Rows grouped by query.
    data : RankingData
        Its rows, of queries that all have pairs.
    cost : ndarray of shape (n_queries,)
        What the mean loss of each query's pairs is multiplied with.
    scale : ndarray of shape (n_features,)
    half_width : float or None
        Of the smoothed hinge; None is the squared hinge.
    u : ndarray of shape (n_features,)

    Attributes
    ----------
    u : ndarray of shape (n_features,)
    value : float
    gradient : ndarray of shape (n_features,)
    gap : float
        By how much the value may exceed the minimum, at most.
    label : str
        For messages.
    """

    def __init__(self, X, data, cost, scale, half_width, u):
        self._X, self._data, self._scale, self._h = X, data, scale, half_width
        h = half_width
        # Either loss is a sum of m^2 / 2 with other margins.
        terms = [(2.0, 0.0)] if h is None else [(0.5 / h, h), (-0.5 / h, -h)]
        self._terms = [(factor, _hinge_sums(data, more)) for factor, more in terms]
        self._cost = cost / data.pair_weight
        self._cost_of_row = data.per_row(self._cost)
        self.label = "" if h is None else f", smoothed by {h:.2g}"
        scores = X @ (u / scale)
        self._move(u, scores, self._evaluate(scores))

    def hessian(self):
        """The Hessian, a LinearOperator."""
        n_features = len(self.u)
        return LinearOperator((n_features, n_features), matvec=self._product, dtype=np.float64)

    def advance(self, direction):
        """Move close to the minimum along a direction; returns whether that was any use.

        Newton's method between bounds. It needs scores only, no products with X.
        """
        w, p = self.u / self._scale, direction / self._scale
        z, dot = self._X @ p, self._data.dot
        slope_at_0 = self.gradient @ direction
        # Not so far at once that margins of 1 drown in rounding.
        longest = LONGEST * (1 + self._data.largest(np.abs(self._scores)))
        s = min(1.0, longest / max(self._data.largest(np.abs(z)), TINY))
        low, high = 0.0, np.inf
        for _ in range(MOST_TRIALS):
            scores = self._scores + s * z
            at = self._evaluate(scores)
            slope = (w + s * p) @ p + dot(self._of_rows(a.gradient for a in at), z)
            flat = abs(slope) <= FLAT * abs(slope_at_0)
            if flat and self._value(w + s * p, at) <= self.value + self._rounding(at):
                before = self.value, self.gap
                self._move(self.u + s * direction, scores, at)
                return self.value < before[0] or self.gap < before[1]
            low, high = (s, high) if slope < 0 else (low, s)
            s -= slope / (p @ p + dot(self._of_rows(a.product(z) for a in at), z))
            if not low < s < high:
                s = 2 * low if high == np.inf else (low + high) / 2
            if not high - low > SAME_STEP * s:
                break
        return False

    def _rounding(self, at):
        """How far rounding may move a value, which is a difference if the hinge is smoothed."""
        terms = sum(
            abs(f) * self._data.dot(self._cost, a.value)
            for (f, _), a in zip(self._terms, at, strict=True)
        )
        return SAME_VALUE * (self.value + terms)

    def smoothing_gap(self):
        """By how much the minimum may exceed that with the hinge itself, at most."""
        if self._h is None:
            return 0.0
        h = self._h
        wide, narrow = self._at
        # Sums of (m + h)_+ and (m - h)_+.
        slopes = [
            sums.missing(self._scores, at)
            for (_, sums), at in zip(self._terms, self._at, strict=True)
        ]
        gap = sum(slopes) / 2 - (wide.value - narrow.value) / (2 * h)
        return self._data.dot(self._cost, gap)

    def _product(self, direction):
        w = direction / self._scale
        z = self._X @ w
        return (w + self._by_feature(at.product(z) for at in self._at)) / self._scale

    def _move(self, u, scores, at):
        w = u / self._scale
        gradient = w + self._by_feature(a.gradient for a in at)
        self.u, self._scores, self._at = u, scores, at
        self.value, self.gradient = self._value(w, at), gradient / self._scale
        self.gap = gradient @ gradient / 2

    def _evaluate(self, scores):
        return [sums(scores) for _, sums in self._terms]

    def _value(self, w, at):
        values = (factor * a.value for (factor, _), a in zip(self._terms, at, strict=True))
        return w @ w / 2 + self._data.dot(self._cost, sum(values))

    def _by_feature(self, arrays):
        """`_of_rows` times X."""
        return self._data.merged(self._X.T @ self._of_rows(arrays))

    def _of_rows(self, arrays):
        """An array of each term, of one entry a row: their weighted sum."""
        terms = zip(self._terms, arrays, strict=True)
        return self._cost_of_row * sum(factor * array for (factor, _), array in terms)


def _hinge_sums(data, more):
    """Sums of the pairs of grades or of given pairs, each with its margin and `more`."""
    if data.preferences is None:
        return HingeSums(data, 1 + more)
    margin = data.pairs.margin
    return ListedHingeSums(data.pairs, (1 if margin is None else margin) + more)


def _margins(data):
    """The smallest and the largest margin of a pair."""
    if data.preferences is None or data.pairs.margin is None:
        return 1.0, 1.0
    return data.smallest(data.pairs.margin), data.largest(data.pairs.margin)


def _design(data):
    """Rows to compute with, and variances of the columns within queries, or at least their size.

    Parameters
    ----------
    data : RankingData

    Returns
    -------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float64
    variance : ndarray of shape (n_features,)
    """
    X = data.rows()
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return X, mean_variance_axis(X, axis=0)[1]
    X = np.ascontiguousarray(X, dtype=np.float64)
    squares = np.zeros(X.shape[1])
    for start, stop in pairwise(data.offsets):
        rows = X[start:stop]
        rows -= rows.mean(axis=0)
        squares += np.einsum("ij,ij->j", rows, rows)
    return X, data.merged(squares) / X.shape[0]
