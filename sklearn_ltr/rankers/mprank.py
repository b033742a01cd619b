# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPRank: least squares of the differences of scores and of grades."""

import warnings

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, LinAlgWarning, solve
from scipy.sparse.linalg import LinearOperator, lsmr
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr.base import LinearRanker
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.losses.pairs_alike import PAIR_WEIGHTINGS, costs
from sklearn_ltr.queries import centre
from sklearn_ltr.validation import check_choice, check_positive, warn_caller

# The matrix of as many features squared takes 32 MB.
MOST_FEATURES = 2000

# Of LSMR, which takes its place: relative errors, and most iterations.
PRECISION = 1e-13
MOST_STEPS = 10_000
LSMR_STOPPED = 7


class MPRank(LinearRanker):
    r"""Least squares of differences: scores as far apart as grades.

    Minimises

    .. math:: F(w) = \frac12 |w|^2 + \frac{C}{\sum_q v_q} \sum_q \frac{v_q}{|P_q|}
              \sum_{\{i, j\} \in P_q} \bigl((w \cdot x_i - w \cdot x_j) - (y_i - y_j)\bigr)^2

    over all pairs :math:`P_q` of rows of query q, those of equal grades included, with query
    weights :math:`v_q` [1]_. Each query counts the same, however many rows it has, or with
    ``pair_weighting="pair"`` each pair. Pairs are never listed: the time is linear in the rows.

    Read more in the :ref:`User Guide <mprank>`.

    Parameters
    ----------
    C : float, default=1.0
        What the mean loss of a query weighs against :math:`\frac12 |w|^2`; positive. It is
        divided by the number of queries, so that the same value serves for few and many. With
        ``pair_weighting="pair"`` it multiplies the sum over all pairs.
    pair_weighting : {"pair", "query"}, default="query"
        What counts the same: each pair, or each query, however many pairs it has.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it. Matrix products of `fit` have the threads of the
        BLAS.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Weight of each feature, the paper's :math:`w`; ``X @ coef_`` are the scores.
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
    SVRank : Misses count by their size, and none below a tolerance.
    RankSVM : Differences of scores have to be large enough, and may be larger.
    RegressionRanker : Least squares of the grades themselves, by trees.

    Notes
    -----
    The sum over the pairs of a query of n rows is n times the sum of squares of
    :math:`w \cdot x_i - y_i` about its mean, so that it is ridge regression on features and grades
    that are centred in each query, in which a row weighs :math:`k_q = n C_q` if each pair is
    multiplied with :math:`C_q`, above :math:`C v_q / (|P_q| \sum_q v_q)`:

    .. math:: (I + 2 \tilde X^\top K \tilde X)\, w = 2 \tilde X^\top K \tilde y .

    With more than 2000 features the matrix would take too much space. LSMR [2]_ then solves the
    same problem by products with the features, which stay sparse; and also where the matrix is
    singular to the precision of numbers.

    With one query of m rows, a C that goes with :math:`|w|^2` and the sum over all ordered pairs
    over :math:`m^2` is ours times :math:`2 m / (m - 1)`.

    There is no intercept: pairs would not see it. The penalty is on :math:`w` in the given units,
    so scale the features as for any linear model.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    References
    ----------
    .. [1] Cortes, Mohri, Rastogi. "Magnitude-Preserving Ranking Algorithms". ICML 2007.
    .. [2] Fong, Saunders. "LSMR: An Iterative Algorithm for Sparse Least-Squares Problems". SIAM
       Journal on Scientific Computing 33, 2011.

    Examples
    --------
    >>> from sklearn_ltr import MPRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = MPRank().fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.8
    """

    _no_propensity = (
        "pairs of equal grades are a part of its loss, and have no row that is clicked before "
        "the other; fit it to the grades of ClickLog.to_training, or take RankSVM"
    )

    def __init__(self, C=1.0, *, pair_weighting="query", n_jobs=None):
        self.C = C
        self.pair_weighting = pair_weighting
        self.n_jobs = n_jobs

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
        self : MPRank

        Raises
        ------
        ValueError
            If a parameter or an argument is not as described, or no query has two grades.

        Warns
        -----
        ConvergenceWarning
            If the precision of numbers does not suffice for the minimum.
        """
        self._check_params()
        data = self._validate_training_data(X, y, groups, query_weight)
        data = data.select(data.informative)
        n = data.queries.sizes
        k = self.C * n * costs(data, n * (n - 1) / 2, self.pair_weighting)
        factor = data.per_row(np.sqrt(2 * k))
        Z, b = _Centred(data, factor), factor * centre(data.y.copy(), data.offsets)
        coef = _solve_at_once(Z, b) if self.n_features_in_ <= MOST_FEATURES else None
        self.coef_ = _solve_by_steps(Z, b) if coef is None else coef
        self._warn_if_constant(
            data,
            Z.times(self.coef_),
            "Features may be constant, or so small that the penalty lets them have no weight: "
            "rescale them, or raise `C`.",
        )
        return self

    def _check_params(self):
        check_positive(self.C, "C")
        check_choice(self.pair_weighting, "pair_weighting", PAIR_WEIGHTINGS)


class _Centred:
    """Rows less the mean of their query, times a factor of the query.

    Sparse rows are kept as they are, and what is made of them is centred.

    Parameters
    ----------
    data : RankingData
    factor : ndarray of shape (n_samples,)
        The same for all rows of a query.
    """

    def __init__(self, data, factor):
        self._data = data
        X = data.rows()
        self._is_sparse = sparse.issparse(X)
        if self._is_sparse:
            self._X = sparse.diags_array(factor) @ X.astype(np.float64)
        else:
            self._X = centre(np.ascontiguousarray(X, dtype=np.float64), data.offsets)
            self._X *= factor[:, None]

    def times(self, w):
        """The product with a number for each feature: ndarray of shape (n_samples,)."""
        z = self._X @ w
        return centre(z, self._data.offsets) if self._is_sparse else z

    def transposed_times(self, z):
        """The product of the transpose with a number for each row: ndarray (n_features,)."""
        z = centre(z.copy(), self._data.offsets) if self._is_sparse else z
        return self._data.merged(self._X.T @ z)

    def squares(self):
        """The sum of squares of each column, or what is no less: ndarray (n_features,)."""
        if self._is_sparse:
            return self._data.merged(np.asarray(self._X.power(2).sum(axis=0)).ravel())
        return self._data.merged(np.einsum("ij,ij->j", self._X, self._X))

    def gram(self):
        """Products of columns with each other: ndarray of shape (n_features, n_features)."""
        products = self._X.T @ self._X
        if self._is_sparse:
            # A row for each query: its mean times the root of its number of rows.
            sizes, offsets = self._data.queries.sizes, self._data.offsets
            weight = self._data.per_row(1 / np.sqrt(sizes))
            means = sparse.csr_array((weight, np.arange(len(weight)), offsets)) @ self._X
            products = (products - means.T @ means).toarray()
        return self._data.merged(products)


def _solve_at_once(Z, b):
    """w of (I + Z'Z) w = Z'b, or None if the matrix is singular to the precision of numbers."""
    scale = 1 / np.sqrt(1 + Z.squares())
    matrix = Z.gram() * scale * scale[:, None]
    matrix[np.diag_indices_from(matrix)] += scale**2
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            return scale * solve(matrix, scale * Z.transposed_times(b), assume_a="pos")
        except (LinAlgError, LinAlgWarning):
            return None


def _solve_by_steps(Z, b):
    """The same w as the least squares solution of Zw = b and w = 0 together."""
    scale = 1 / np.sqrt(1 + Z.squares())
    n = len(b)

    def times(u):
        w = scale * u.ravel()
        return np.concatenate([Z.times(w), w])

    def transposed_times(z):
        return scale * (Z.transposed_times(z[:n]) + z[n:])

    A = LinearOperator(
        (n + len(scale), len(scale)), matvec=times, rmatvec=transposed_times, dtype=np.float64
    )
    target = np.concatenate([b, np.zeros(len(scale))])
    u, why, n_steps, *_ = lsmr(
        A, target, atol=PRECISION, btol=PRECISION, conlim=0, maxiter=MOST_STEPS
    )
    if why == LSMR_STOPPED:
        warn_caller(
            f"MPRank has not come to the minimum in {n_steps} steps. Scale the features, or lower "
            "C.",
            ConvergenceWarning,
        )
    return scale * u
