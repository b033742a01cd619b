# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""SVMMAP: a structural support vector machine for average precision."""

from numbers import Real

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr._kernels import _violated
from sklearn_ltr.base import LinearRanker
from sklearn_ltr.cutting_planes import check_cutting_planes, minimise
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.ranking import rows_to_rank


class SVMMAP(LinearRanker):
    r"""Structural support vector machine for average precision.

    Minimises

    .. math:: F(w) = \frac12 |w|^2 + \frac{C}{\sum_q v_q} \sum_q v_q \max_\pi \Bigl( 1 -
              \mathrm{AP}(\pi) - w \cdot \bigl( \Psi_q(\pi^*) - \Psi_q(\pi) \bigr) \Bigr) ,
              \qquad
              \Psi_q(\pi) = \frac{1}{|R|\,|N|} \sum_{i \in R,\, j \in N} \pm (x_i - x_j)

    over all orders :math:`\pi` of the rows of query q, of which R are relevant and N are not, with
    query weights :math:`v_q` [1]_. The sign is + where i is ahead of j, and :math:`\pi^*` is an
    order that has all of R ahead. The maximum bounds 1 less the average precision of the ranking
    by w from above. F is convex, and the minimum is found to the precision asked for.

    Read more in the :ref:`User Guide <svmmap>`.

    Parameters
    ----------
    C : float, default=1.0
        What the mean loss of a query weighs against :math:`\frac12 |w|^2`; positive. It is
        divided by the number of queries, so that the same value serves for few and many.
    relevant_from : float or None, default=None
        The lowest grade that is relevant. None is the second lowest of the training rows: 1, where
        the grades are 0, 1 and so on.
    tol : float, default=1e-3
        :math:`F(w)` exceeds its minimum by at most this times :math:`F(w)`; positive.
    max_iter : int, default=1000
        Most iterations: cutting planes.
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
        Iterations run: cutting planes.
    relevant_from_ : float
        The lowest grade that was relevant.
    n_queries_ : int
        Queries of positive weight.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries without a relevant or without an irrelevant row.
        They are not in any sum above.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    RankSVM : Counts pairs in the wrong order, wherever they are.
    AdaRank : Boosts single features on average precision or another metric.

    Notes
    -----
    **The most violated order** of a query of n rows is found exactly in O(n log n), by the paper's
    observation that each irrelevant row can be placed among the relevant ones by itself, and that
    one of a lower score does not come before one of a higher one.

    **Cutting planes.** The loss at w and its slope are a plane that the loss is nowhere below. Each
    iteration adds the plane at the minimum of :math:`\frac12 |w|^2` and the highest of the planes
    so far. It is one plane for all queries together, the "1-slack" form [2]_; the paper has one for
    each query, with the same minimum. Planes that are not used for 50 iterations are dropped.

    **The dual problem** of these planes, a quadratic one with as many unknowns, is solved by an
    active set method. Its value is a lower bound of the minimum of F, and the lowest F so far an
    upper one; `tol` bounds the difference. `coef_` is the w of the lowest F.

    There is no intercept: the order would not see it. The penalty is on :math:`w` in the given
    units, so scale the features as for any linear model.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    References
    ----------
    .. [1] Yue, Finley, Radlinski, Joachims. "A Support Vector Method for Optimizing Average
       Precision". SIGIR 2007.
    .. [2] Joachims, Finley, Yu. "Cutting-Plane Training of Structural SVMs". Machine Learning 77,
       2009.

    Examples
    --------
    >>> from sklearn_ltr import SVMMAP
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = SVMMAP(C=10, relevant_from=2).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.8
    """

    _no_propensity = "average precision is no sum over clicks; take LambdaMART or RankSVM"

    def __init__(
        self,
        C=1.0,
        *,
        relevant_from=None,
        tol=1e-3,
        max_iter=1000,
        n_jobs=None,
        verbose=0,
    ):
        self.C = C
        self.relevant_from = relevant_from
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    @explain_keywords
    def fit(self, X, y, groups=None, query_weight=None):
        """Fit to graded rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better. Those from `relevant_from` on are relevant.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.

        Returns
        -------
        self : SVMMAP

        Raises
        ------
        ValueError
            If a parameter or an argument is not as described, or no query has a relevant row and
            one that is not.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` planes, or the precision of numbers, do not suffice for `tol`.
        """
        self._check_params()
        data = self._validate_training_data(X, y, groups, query_weight)
        loss = _MarginLoss(data.select(self._learnable(data)), self.relevant_from_)
        self.coef_ = minimise(self, loss, loss.n_features)
        self._warn_if_constant(
            data,
            loss.scores(self.coef_),
            "Features may be constant, or so small that the penalty lets them have no weight: "
            "rescale them, or raise `C`.",
        )
        return self

    def _check_params(self):
        check_cutting_planes(self)
        if self.relevant_from is not None:
            check_scalar(self.relevant_from, "relevant_from", Real)
            if not np.isfinite(self.relevant_from):
                raise ValueError(
                    f"`relevant_from` must be a finite grade or None; got {self.relevant_from!r}."
                )

    def _learnable(self, data):
        """Queries with a relevant row and one that is not."""
        relevant_from = self.relevant_from
        if relevant_from is None and len(self.grades_) > 1:
            relevant_from = self.grades_[1]
        self.relevant_from_ = float(self.grades_[0] if relevant_from is None else relevant_from)
        learnable = _has_both(data, self.relevant_from_)
        if data.informative.any() and not learnable.any():
            raise ValueError(
                f"With relevant_from={self.relevant_from_:g} no query has both relevant and "
                f"irrelevant rows: the grades are from {data.smallest(data.y):g} to "
                f"{data.largest(data.y):g}. Set `relevant_from` between them."
            )
        return learnable


def _has_both(data, relevant_from):
    """Which queries have a row that is relevant and one that is not: ndarray (n_queries,)."""
    relevant, starts = data.y >= relevant_from, data.offsets[:-1]
    some = np.logical_or.reduceat(relevant, starts)
    return some & ~np.logical_and.reduceat(relevant, starts)


class _MarginLoss:
    """The mean loss of the queries less the margin, at their most violated orders.

    Parameters
    ----------
    data : RankingData
        Of queries that all have relevant and irrelevant rows.
    relevant_from : float
    """

    def __init__(self, data, relevant_from):
        self._data = data
        self._relevant = (data.y >= relevant_from).astype(np.uint8)
        self._share = data.query_weight / data.sum(data.query_weight)
        self._share_of_row = data.per_row(self._share)
        self._work = rows_to_rank(data.offsets, data.n_threads)
        self._X = data.rows().astype(np.float64)
        self.n_features = self._X.shape[1]

    def scores(self, w):
        return self._X @ w

    def __call__(self, w):
        """The loss, and a slope that it is nowhere below: float, ndarray of shape (n_features,)."""
        scores, n = self.scores(w), len(self._relevant)
        weight, loss = np.empty(n), np.empty(len(self._share))
        scratch = np.empty(n), np.empty(n, np.intp), np.empty(n, np.intp)
        data = self._data
        _violated.most_violated(
            scores, self._relevant, data.offsets, data.n_threads, self._work, *scratch, weight, loss
        )
        weight *= self._share_of_row
        value = data.dot(self._share, loss) - data.dot(weight, scores)
        return value, -data.merged(self._X.T @ weight)
