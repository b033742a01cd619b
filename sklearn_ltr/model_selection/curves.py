# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Learning curves over whole queries."""

from numbers import Integral

import numpy as np
from sklearn import config_context
from sklearn.model_selection import GroupKFold, check_cv, cross_validate
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from sklearn_ltr.queries import encode_groups
from sklearn_ltr.scorers import get_scorer
from sklearn_ltr.validation import check_column


def learning_curve(
    estimator,
    X,
    y,
    groups,
    *,
    train_sizes=(0.1, 0.325, 0.55, 0.775, 1.0),
    cv=None,
    scoring="ndcg@10",
    n_jobs=None,
    random_state=None,
    params=None,
):
    """Scores of training and of test queries for a growing number of training queries.

    scikit-learn's function of this name takes the first rows of each training set and cuts through
    queries. This one takes whole queries, chosen at random; more queries include the fewer.

    Parameters
    ----------
    estimator : estimator
        A ranker, a regressor, a pipeline or a search; clones of it are fitted.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Grades.
    groups : array-like of shape (n_samples,)
        Query id of each row. They reach the splitter, `fit` and the scorer, whether or not metadata
        routing is enabled.
    train_sizes : array-like of shape (n_ticks,), default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Numbers of training queries; or, if floats, fractions of the number of training queries of
        the fold with fewest, rounded, at least one query. Repeated sizes are taken once.
    cv : int, splitter or iterable, default=None
        An int is the number of folds of a ``GroupKFold``; None is 5 of them. A splitter or an
        iterable of (train, test) rows must keep queries whole.
    scoring : str, Metric or scorer, default="ndcg@10"
        What `sklearn_ltr.scorers.get_scorer` takes.
    n_jobs : int, default=None
        Fits at the same time. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Chooses the training queries.
    params : dict, default=None
        Other metadata with an entry a row, such as ``{"query_weight": w}``, for those that
        request them by scikit-learn's metadata routing. Rankers and the scorers of this package
        request ``query_weight``.

    Returns
    -------
    train_sizes_abs : ndarray of shape (n_unique_ticks,), dtype int
        Numbers of training queries, ascending.
    train_scores : ndarray of shape (n_unique_ticks, n_folds), dtype float64
        Scores of the queries that were trained on.
    test_scores : ndarray of shape (n_unique_ticks, n_folds), dtype float64
        Scores of the test queries of the fold, the same for every size.

    Raises
    ------
    ValueError
        If a size is not within 0 to 1, or 1 to the number of training queries; a fold has rows of
        one query in both of its parts; a query id is missing; or every fit fails.

    See Also
    --------
    sklearn.model_selection.LearningCurveDisplay : Draws the three arrays.
    sklearn.model_selection.validation_curve : Scores for values of a parameter; splits by query
        with ``cv=GroupKFold()``, ``params={"groups": groups}`` and metadata routing enabled.

    Notes
    -----
    A fit that fails, such as one of a few queries that have no preference pair, gives NaN and a
    ``FitFailedWarning``, as in ``cross_validate``, which does the work.

    The order of the rows makes no difference, provided that the ids can be sorted.

    Examples
    --------
    >>> from sklearn.model_selection import GroupKFold
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.model_selection import learning_curve
    >>> X, y, groups = make_ranking(n_queries=60, random_state=0)
    >>> sizes, train_scores, test_scores = learning_curve(
    ...     MPBoost(n_estimators=20),
    ...     X,
    ...     y,
    ...     groups,
    ...     train_sizes=[5, 20, 40],
    ...     cv=GroupKFold(3, shuffle=True, random_state=0),
    ...     random_state=0,
    ... )
    >>> sizes
    array([ 5, 20, 40])
    >>> train_scores.mean(axis=1).round(2)
    array([0.88, 0.8 , 0.8 ])
    >>> test_scores.mean(axis=1).round(2)
    array([0.71, 0.74, 0.74])
    """
    scorer = get_scorer(scoring)
    n_samples = _num_samples(X)
    check_column(y, "y", n_samples, finite="allow-nan")
    codes, ids = encode_groups(groups, n_samples)
    if cv is None or isinstance(cv, Integral):
        cv = GroupKFold(5 if cv is None else cv)
    folds = list(check_cv(cv).split(X, y, codes))
    queries_of_folds = [np.unique(codes[train]) for train, _ in folds]
    for queries, (_, test) in zip(queries_of_folds, folds, strict=True):
        if (cut := np.intersect1d(queries, codes[test])).size:
            raise ValueError(
                f"`cv` must keep queries whole; query {ids[cut[:1]].tolist()[0]!r} has rows among "
                "the training and among the test rows. Use GroupKFold or GroupShuffleSplit."
            )
    sizes = _numbers_of_queries(train_sizes, min(len(queries) for queries in queries_of_folds))

    random_state = check_random_state(random_state)
    splits = []
    for queries, (train, test) in zip(queries_of_folds, folds, strict=True):
        turn = np.empty(len(ids), dtype=np.intp)
        turn[queries] = random_state.permutation(len(queries))
        splits += [(train[turn[codes[train]] < size], test) for size in sizes]
    with config_context(enable_metadata_routing=True):  # nothing else takes groups to a scorer
        result = cross_validate(
            estimator,
            X,
            y,
            cv=splits,
            scoring=scorer,
            n_jobs=n_jobs,
            params=dict(groups=groups, **(params or {})),
            return_train_score=True,
        )
    train_scores, test_scores = (
        result[name].reshape(len(folds), len(sizes)).T for name in ("train_score", "test_score")
    )
    return sizes, train_scores, test_scores


def _numbers_of_queries(train_sizes, n_queries):
    """Ascending numbers of training queries from numbers or fractions."""
    sizes = np.asarray(train_sizes)
    fractions = sizes.dtype.kind == "f"
    if sizes.ndim != 1 or not sizes.size or sizes.dtype.kind not in "iuf":
        raise ValueError(f"`train_sizes` must be a list of numbers; got {train_sizes!r}.")
    # Negated, so that NaN is refused, too.
    if not ((sizes > 0) & (sizes <= (1 if fractions else n_queries))).all():
        kind, most = ("fractions", 1) if fractions else ("numbers of queries", n_queries)
        raise ValueError(
            f"`train_sizes` are {kind}, above 0 and at most {most}; got {sizes.tolist()}."
        )
    if fractions:
        sizes = np.maximum(np.rint(sizes * n_queries), 1)
    return np.unique(sizes.astype(np.intp))
