# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Permutation importance by query."""

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import (
    Bunch,
    _safe_indexing,
    check_array,
    check_random_state,
    check_scalar,
)
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from sklearn_ltr.columns import dtypes_of, with_column_of
from sklearn_ltr.queries import QueryGroups, encode_groups, per_query, row_hash
from sklearn_ltr.scored_rows import scoring_rows, unwatched
from sklearn_ltr.scorers import get_scorer
from sklearn_ltr.validation import check_column, check_no_mask


def permutation_importance(
    estimator,
    X,
    y,
    groups,
    *,
    scoring="ndcg@10",
    n_repeats=5,
    n_jobs=None,
    random_state=None,
    query_weight=None,
):
    """How much worse the rankings get when the values of a feature are shuffled.

    The values of a feature are shuffled among the rows of each query. A feature that is constant
    within every query, such as the length of the query, would stay as it is; its values are
    shuffled among the queries instead, each of which has one value for all its rows.

    Parameters
    ----------
    estimator : estimator
        Fitted, with a method ``predict(X)`` that gives a score a row: a ranker, a regressor, a
        pipeline, a search. It receives ``groups`` where the scorer hands them on.
    X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        Rows to judge by; held-out queries tell what helps with new queries. The columns of a frame
        keep their types.
    y : array-like of shape (n_samples,)
        Grades.
    groups : array-like of shape (n_samples,)
        Query id of each row.
    scoring : str, Metric or callable, default="ndcg@10"
        What `sklearn_ltr.scorers.get_scorer` takes: the name of a metric, a metric, or a scorer
        ``scorer(estimator, X, y, groups=..., query_weight=...)``, which receives the rows sorted by
        query and the numbers of the queries as `groups`.
    n_repeats : int, default=5
        How often each feature is shuffled.
    n_jobs : int, default=None
        Features to work on at the same time. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Of the shuffles. Every feature is shuffled in the same ways.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query, constant within a query.

    Returns
    -------
    result : Bunch
        With the attributes

        importances : ndarray of shape (n_features, n_repeats), dtype float64
            The score of the rows as they are less the score of the shuffled ones.
        importances_mean : ndarray of shape (n_features,)
            Mean over the repeats.
        importances_std : ndarray of shape (n_features,)
            Standard deviation over the repeats.

    Raises
    ------
    ValueError
        If lengths differ, a query id is missing, `query_weight` is invalid, `n_repeats` is below 1
        or the metric is unknown.

    See Also
    --------
    sklearn.inspection.permutation_importance : Shuffles over all rows, whatever their query, and
        gives a scorer no groups.

    Notes
    -----
    An importance says what this model loses with the feature, not what the feature is worth to
    another. Of two features that tell the same, a model may use one, or share its weight between
    them; each then looks less important than both together are.

    The order of the rows, the order and the names of the queries make no difference, as in `fit`.

    References
    ----------
    L. Breiman. Random Forests. Machine Learning 45(1), 2001, section 10.

    Examples
    --------
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.model_selection import permutation_importance
    >>> X, y, groups = make_ranking(
    ...     100, n_features=4, n_informative=2, n_redundant=0, random_state=0
    ... )
    >>> ranker = MPBoost(n_estimators=20).fit(X, y, groups=groups)
    >>> result = permutation_importance(ranker, X, y, groups, random_state=0)
    >>> result.importances_mean.round(2)
    array([0.18, 0.29, 0.  , 0.  ])
    """
    scorer = get_scorer(scoring)
    check_scalar(n_repeats, "n_repeats", Integral, min_val=1)
    check_no_mask(X, "X")
    if dtypes_of(X) is None:
        X = check_array(X, accept_sparse="csc", dtype=None, ensure_all_finite="allow-nan")
    y = check_column(y, "y", _num_samples(X), finite="allow-nan")
    numbers = _as_numbers(X)
    queries, ids, query_weight = _canonical_queries(numbers, y, groups, query_weight)

    # In this order the same rows are the same problem, in whatever order they came.
    X, y = _safe_indexing(X, queries.order), y[queries.order]
    groups = queries.query_of_row()
    metadata = {"groups": groups}
    if query_weight is not None:
        metadata["query_weight"] = query_weight[queries.order]

    random_state = check_random_state(random_state)
    within, between = [], []
    for _ in range(n_repeats):
        within.append(np.lexsort((random_state.uniform(size=len(y)), groups)))
        other = random_state.permutation(queries.n_queries)
        between.append(queries.offsets[other][groups])  # a row of the query whose value it gets
    constant = _constant_in_queries(numbers[queries.order], queries)

    with scoring_rows(ids[groups], len(y)) as rows:
        score = scorer(estimator, X, y, **metadata)
    rows.warn()
    shuffled = Parallel(n_jobs=n_jobs)(
        delayed(_scores_of_shuffled)(
            scorer, estimator, X, j, between if constant[j] else within, y, metadata
        )
        for j in range(X.shape[1])
    )
    importances = score - np.array(shuffled)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
    )


def _as_numbers(X):
    """`X` as float64, or CSR; of a column that holds no numbers, the ranks of its values."""
    try:
        X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
    except (TypeError, ValueError):
        if X.shape[1] == 1:
            return OrdinalEncoder().fit_transform(X)
        columns = (_safe_indexing(X, [j], axis=1) for j in range(X.shape[1]))
        return np.hstack([_as_numbers(column) for column in columns])
    if sparse.issparse(X):
        X.sum_duplicates()
    return X


def _canonical_queries(numbers, y, groups, query_weight):
    """The queries of positive weight, in an order that only their content decides."""
    codes, ids = encode_groups(groups, len(y))
    content = [y]
    if query_weight is not None:
        per_query(query_weight, QueryGroups.from_ids(codes, len(y)))  # raises if it is invalid
        query_weight = np.asarray(query_weight, dtype=np.float64)
        content.append(query_weight)
    queries = QueryGroups.from_ids(codes, len(y), keys=row_hash(numbers, *content))
    if query_weight is not None:
        queries, _ = queries.select(query_weight[queries.order][queries.offsets[:-1]] > 0)
    return queries, ids[queries.ids], query_weight


def _constant_in_queries(numbers, queries):
    """Which features have one value in each query; rows in grouped order."""
    if sparse.issparse(numbers):
        numbers = numbers.tocsc()
    constant = []
    for j in range(numbers.shape[1]):
        column = numbers[:, [j]].toarray() if sparse.issparse(numbers) else numbers[:, [j]]
        first = np.repeat(column[queries.offsets[:-1]], queries.sizes, axis=0)
        constant.append(np.array_equal(column, first, equal_nan=True))
    return constant


def _scores_of_shuffled(scorer, estimator, X, j, sources, y, metadata):
    """Scores with the values of column `j` taken from other rows, for each array of `sources`."""
    is_frame = dtypes_of(X) is not None
    if sparse.issparse(X):
        column = X[:, [j]].toarray()
        left, right = X[:, :j], X[:, j + 1 :]
    elif not is_frame:
        X = X.copy()
        column = X[:, j].copy()
    scores = []
    for source in sources:
        if sparse.issparse(X):
            shuffled = sparse.hstack([left, type(X)(column[source]), right], format="csc")
        elif is_frame:
            shuffled = with_column_of(X, j, source)
        else:
            X[:, j] = column[source]
            shuffled = X
        with unwatched():
            scores.append(scorer(estimator, shuffled, y, **metadata))
    return scores
