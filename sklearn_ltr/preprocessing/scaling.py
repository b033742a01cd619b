# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scaling of features within queries."""

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from sklearn_ltr.columns import explained
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.queries import NO_GROUPS, QueryGroups
from sklearn_ltr.scored_rows import check_groups_arrived
from sklearn_ltr.validation import warn_caller

METHODS = ("minmax", "standard")

ROWS_AT_A_TIME = 1024  # so that the passes over them find them in the cache


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, Estimator):
    r"""Scale each feature within each query.

    A score orders the rows of one query, but features often differ more between queries than within
    them: a term that is frequent in the collection makes BM25 small for all rows of a query. With
    :math:`q` the query of row :math:`i`, "minmax" gives

    .. math:: x'_{ij} = \frac{x_{ij} - \min_{k \in q} x_{kj}}{\max_{k \in q} x_{kj} - \min_{k \in q}
              x_{kj}} \in [0, 1] ,

    the *QueryLevelNorm* of the LETOR data sets [1]_, and "standard" gives each feature the mean 0
    and the standard deviation 1 within each query. A feature that is constant within a query
    becomes 0 there, so that a query of one row is all zeros.

    Nothing is learnt from the training rows: a query is scaled by itself.

    Read more in the :ref:`User Guide <preprocessing>`.

    Parameters
    ----------
    method : {"minmax", "standard"}, default="minmax"
        To the range [0, 1], or to mean 0 and standard deviation 1 (of the query's rows as the whole
        population, as in `sklearn.preprocessing.StandardScaler`).

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only where `X` had string column names.

    See Also
    --------
    BM25Features : Features of the match of a query with a text.
    sklearn.preprocessing.MinMaxScaler : Scales over all rows.

    Notes
    -----
    `transform` and `fit_transform` request `groups`. A pipeline and a search hand them on, also to
    `transform` in ``pipeline.predict(X, groups=groups)``, with metadata routing enabled. Where
    scikit-learn has no way for `groups`, all rows are taken as one query, and a warning says so:

    - ``search.predict(X)``; use ``search.best_estimator_.predict(X, groups=groups)``, as the
      scorers of this package do;
    - ``cross_val_predict``, and ``VotingRegressor.predict``.

    ``Pipeline(..., transform_input=["X_val"])`` is worse: it transforms the validation rows with
    the groups of the *training* rows. That is an error, unless there are as many of the one as of
    the other. Since nothing is learnt, all rows can be scaled before they are split, with the same
    result.

    Missing values (NaN) are left out of the minimum, maximum, mean and deviation, and remain. A
    sparse matrix is refused, since zeros would not stay zero.

    References
    ----------
    .. [1] T. Qin, T.-Y. Liu, J. Xu, H. Li, "LETOR: A benchmark collection for research on learning
       to rank for information retrieval", Information Retrieval, 2010.

    Examples
    --------
    >>> from sklearn_ltr.preprocessing import QueryScaler
    >>> X = [[1.0, 5.0], [3.0, 5.0], [2.0, 5.0], [100.0, 7.0], [300.0, 8.0]]
    >>> QueryScaler().fit_transform(X, groups=["a", "a", "a", "b", "b"])
    array([[0. , 0. ],
           [1. , 0. ],
           [0.5, 0. ],
           [0. , 0. ],
           [1. , 1. ]])
    >>> QueryScaler(method="standard").fit_transform(X, groups=["a", "a", "a", "b", "b"])
    array([[-1.22474487,  0.        ],
           [ 1.22474487,  0.        ],
           [ 0.        ,  0.        ],
           [-1.        , -1.        ],
           [ 1.        ,  1.        ]])

    In a pipeline:

    >>> import sklearn
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=30, random_state=0)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     ranker = make_pipeline(QueryScaler(), MPBoost(n_estimators=10))
    ...     ranker = ranker.fit(X, y, groups=groups)
    ...     scores = ranker.predict(X, groups=groups)
    """

    # `fit_transform` requests what `fit` and `transform` do.
    __metadata_request__transform = {"groups": True}

    def __init__(self, method="minmax"):
        self.method = method

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.requires_fit = False
        return tags

    @explain_keywords
    def fit(self, X, y=None):
        """Check the parameters, and note the number and the names of the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        self : QueryScaler

        Raises
        ------
        ValueError
            If `method` is unknown, or `X` has infinite values.
        TypeError
            If `X` is sparse.
        """
        self._validate(X, reset=True)
        return self

    @explain_keywords
    def fit_transform(self, X, y=None, groups=None):
        """The same as ``fit(X).transform(X, groups)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type; None takes all rows as one query,
            and warns.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features)
        """
        return self.fit(X).transform(X, groups)

    @explain_keywords
    def transform(self, X, groups=None):
        """Scale each feature within each query.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type; None takes all rows as one query,
            and warns.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features)
            Of dtype float32 if `X` is, otherwise float64. Rows in the order of `X`.

        Raises
        ------
        ValueError
            If `groups` has not one id for each row, or `X` has infinite values or other features
            than in `fit`.
        """
        X = self._validate(X, reset=False)
        check_groups_arrived(groups, "QueryScaler.transform", len(X))
        if groups is None:
            warn_caller(NO_GROUPS.format(n=len(X), method="transform"), UserWarning)
        queries = QueryGroups.from_ids(groups, len(X))
        scale = _to_unit_range if self.method == "minmax" else _standardize
        X_new = np.empty_like(X)
        for rows, starts, sizes in _whole_queries(queries, ROWS_AT_A_TIME):
            X_new[rows] = scale(X[rows], starts, sizes)
        return X_new

    def _validate(self, X, reset):
        if self.method not in METHODS:
            raise ValueError(f"`method` must be one of {METHODS}; got {self.method!r}.")
        with explained(X):
            return validate_data(
                self, X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", reset=reset
            )


def _whole_queries(queries, n_rows):
    """Parts of about `n_rows` rows: their row numbers, and where queries start and how long."""
    first = 0
    while first < queries.n_queries:
        end = queries.offsets[first] + n_rows
        last = max(first + 1, int(np.searchsorted(queries.offsets, end, side="right")) - 1)
        offsets = queries.offsets[first : last + 1]
        yield queries.order[offsets[0] : offsets[-1]], offsets[:-1] - offsets[0], np.diff(offsets)
        first = last


def _to_unit_range(X, starts, sizes):
    low, high = np.fmin.reduceat(X, starts), np.fmax.reduceat(X, starts)
    with np.errstate(over="ignore"):
        span = high - low
    if np.isinf(span).any():  # halves of two floats are at most the greatest float apart
        X, low = X / 2, low / 2
        span = high / 2 - low
    span[span == 0] = 1
    X -= np.repeat(low, sizes, axis=0)
    X /= np.repeat(span, sizes, axis=0)
    return X


def _standardize(X, starts, sizes):
    # From the unit range, where nothing overflows and a constant is exactly 0.
    X = _to_unit_range(X, starts, sizes)
    missing = np.isnan(X)
    n = np.maximum(np.add.reduceat(~missing, starts, dtype=np.intp), 1)
    mean = np.add.reduceat(np.where(missing, 0, X), starts, dtype=np.float64) / n
    X -= np.repeat(mean, sizes, axis=0).astype(X.dtype)
    variance = np.add.reduceat(np.where(missing, 0, X) ** 2, starts, dtype=np.float64) / n
    variance[variance == 0] = 1
    X /= np.repeat(np.sqrt(variance), sizes, axis=0).astype(X.dtype)
    return X
