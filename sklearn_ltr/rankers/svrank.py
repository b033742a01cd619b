# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""SVRank: support vector regression of the differences of grades."""

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _distances
from sklearn_ltr.base import LinearRanker
from sklearn_ltr.cutting_planes import check_cutting_planes, minimise
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.losses.pairs_alike import PAIR_WEIGHTINGS, costs
from sklearn_ltr.queries import centre
from sklearn_ltr.ranking import rows_to_rank
from sklearn_ltr.validation import check_choice, check_positive


class SVRank(LinearRanker):
    r"""Support vector regression of differences: scores about as far apart as grades.

    Minimises

    .. math:: F(w) = \frac12 |w|^2 + \frac{C}{\sum_q v_q} \sum_q \frac{v_q}{|P_q|}
              \sum_{\{i, j\} \in P_q} \max\bigl(0,
              \bigl| (w \cdot x_i - w \cdot x_j) - (y_i - y_j) \bigr| - \epsilon \bigr)

    over all pairs :math:`P_q` of rows of query q, those of equal grades included, with query
    weights :math:`v_q` [1]_. Each query counts the same, however many rows it has, or with
    ``pair_weighting="pair"`` each pair. Pairs are never listed: a query of n rows takes
    O(n log n), and memory is linear in the rows.

    Read more in the :ref:`User Guide <svrank>`.

    Parameters
    ----------
    C : float, default=1.0
        What the mean loss of a query weighs against :math:`\frac12 |w|^2`; positive. It is
        divided by the number of queries, so that the same value serves for few and many. With
        ``pair_weighting="pair"`` it multiplies the sum over all pairs.
    epsilon : float, default=0.1
        By how much a difference of scores may miss that of the grades at no cost; not negative. In
        the units of the grades.
    pair_weighting : {"pair", "query"}, default="query"
        What counts the same: each pair, or each query, however many pairs it has.
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

    See Also
    --------
    MPRank : Squares in the place of this loss, which are minimised at once.
    RankSVM : Differences of scores have to be large enough, and may be larger.

    Notes
    -----
    With :math:`r = w \cdot x - y`, a sort of a query's r gives for each row how many others are
    above and below it by more than :math:`\epsilon`, and from these the loss and its slope. The
    loss has corners, so that F is minimised by cutting planes [2]_, with a bound of what is left:
    the value of the dual problem of the planes is no more than the minimum of F. `coef_` is the w
    of the lowest F.

    There is no intercept: pairs would not see it. Neither do they see a part that the rows of a
    query have in common; dense columns are centred within queries for the computation, so that
    such a part takes no digits. The penalty is on :math:`w` in the given units, so scale the
    features as for any linear model.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    References
    ----------
    .. [1] Cortes, Mohri, Rastogi. "Magnitude-Preserving Ranking Algorithms". ICML 2007.
    .. [2] Joachims, Finley, Yu. "Cutting-Plane Training of Structural SVMs". Machine Learning 77,
       2009.

    Examples
    --------
    >>> from sklearn_ltr import SVRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = SVRank(C=10.0).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.8
    """

    _no_propensity = (
        "pairs of equal grades are a part of its loss, and have no row that is clicked before "
        "the other; fit it to the grades of ClickLog.to_training, or take RankSVM"
    )

    def __init__(
        self,
        C=1.0,
        *,
        epsilon=0.1,
        pair_weighting="query",
        tol=1e-3,
        max_iter=1000,
        n_jobs=None,
        verbose=0,
    ):
        self.C = C
        self.epsilon = epsilon
        self.pair_weighting = pair_weighting
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
            Grades, finite; higher is better. Their differences count.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.

        Returns
        -------
        self : SVRank

        Raises
        ------
        ValueError
            If a parameter or an argument is not as described, or no query has two grades.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` planes, or the precision of numbers, do not suffice for `tol`.
        """
        self._check_params()
        data = self._validate_training_data(X, y, groups, query_weight)
        data = data.select(data.informative)
        loss = _DistanceLoss(data, self.epsilon, self.pair_weighting)
        self.coef_ = minimise(self, loss, self.n_features_in_)
        self._warn_if_constant(
            data,
            loss.scores(self.coef_),
            "Features may be constant, `epsilon` so large that no pair costs anything, or the "
            "penalty too strong: rescale the features, lower `epsilon`, or raise `C`.",
        )
        return self

    def _check_params(self):
        check_cutting_planes(self)
        check_positive(self.epsilon, "epsilon", zero=True)
        check_choice(self.pair_weighting, "pair_weighting", PAIR_WEIGHTINGS)


class _DistanceLoss:
    """The mean of the queries' mean losses of a pair, or the sum over all pairs.

    Parameters
    ----------
    data : RankingData
        Of queries of at least two rows.
    epsilon : float
    pair_weighting : {"query", "pair"}
    """

    def __init__(self, data, epsilon, pair_weighting):
        self._data, self._epsilon = data, epsilon
        n = data.queries.sizes
        self._cost = costs(data, n * (n - 1) / 2, pair_weighting)
        self._cost_of_row = data.per_row(self._cost)
        self._work = rows_to_rank(data.offsets, data.n_threads)
        X = data.rows()
        if sparse.issparse(X):
            self._X = X.astype(np.float64)
        else:
            self._X = centre(np.ascontiguousarray(X, dtype=np.float64), data.offsets)
        self._y = centre(data.y.copy(), data.offsets)

    def scores(self, w):
        return self._X @ w

    def __call__(self, w):
        """The loss, and a slope that it is nowhere below: float, ndarray of shape (n_features,)."""
        r, data = self.scores(w) - self._y, self._data
        slope, total = np.empty_like(r), np.empty(len(self._cost))
        _distances.distances(
            r, data.offsets, self._epsilon, data.n_threads, self._work, slope, total
        )
        value = data.dot(self._cost, np.maximum(total, 0))
        return value, data.merged(self._X.T @ (self._cost_of_row * slope))
