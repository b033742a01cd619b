# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Comparing rankers on the same queries, with tests."""

import warnings
from collections.abc import Mapping
from itertools import combinations
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_1samp
from sklearn.utils import check_random_state, check_scalar

from sklearn_ltr.base import only_labelled, predict_queries
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.queries import check_groups
from sklearn_ltr.validation import check_choice, check_column, check_propensity

ALTERNATIVES = ("two-sided", "less", "greater")
RESAMPLES_AT_ONCE = 512


class RankerComparison(NamedTuple):
    """Rankers beside one another on the same queries, as `compare_rankers` returns it.

    Attributes
    ----------
    query_ids : ndarray of shape (n_queries,)
        The queries that the metric is defined for.
    values : DataFrame of shape (n_queries, n_rankers)
        The metric of each query for each ranker.
    means : Series of shape (n_rankers,)
        The mean over the queries.
    pairs : DataFrame with one row a comparison
        See `compare_rankers` for its columns.

    See Also
    --------
    compare_rankers : Makes it, and has an example.

    Notes
    -----
    Without pandas, `values`, `means` and `pairs` are dicts with the same keys, of arrays or, in
    `means`, of floats.
    """

    query_ids: np.ndarray
    values: object
    means: object
    pairs: object

    def __repr__(self):
        return f"{len(self.query_ids)} queries; means\n{self.means}\npairs\n{self.pairs}"


def compare_rankers(
    rankers,
    X=None,
    y=None,
    groups=None,
    *,
    metric="ndcg@10",
    baseline=None,
    alternative="two-sided",
    n_resamples=9999,
    random_state=None,
    propensity=None,
):
    """Compare rankers by a metric of the same queries, with paired tests over the queries.

    Parameters
    ----------
    rankers : dict of str to estimator or array-like of shape (n_samples,)
        At least two, by name: fitted estimators, or the scores that some ranker, perhaps of another
        library, gives the rows.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), default=None
        Rows for the estimators to score; not needed if `rankers` holds scores only.
    y : array-like of shape (n_samples,)
        Grades. Rows where it is NaN are left out.
    groups : array-like of shape (n_samples,)
        Query id of each row.
    metric : str or Metric, default="ndcg@10"
        A name that `sklearn_ltr.metrics.get_metric` knows, or a metric object. Queries that it is
        undefined for, such as those without a relevant row, are left out.
    baseline : str, default=None
        Name of the ranker that the others are compared with. None compares every pair.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        What the tests look for: a difference, a negative one, or a positive one. It has to be
        chosen before looking at the means.
    n_resamples : int, default=9999
        Resamples of the randomisation test. If there are no more than so many ways to choose signs,
        as for 13 queries and 9999, all of them are taken and the test is exact.
    random_state : int, RandomState instance or None, default=None
        Of the randomisation test.
    propensity : array-like of shape (n_samples,), default=None
        How likely each row was looked at, in (0, 1], where `y` are clicks: each click counts
        1 / propensity. The metric must be one that takes it, such as "dcg@10".

    Returns
    -------
    comparison : RankerComparison
        With `query_ids`, `values`, `means` and `pairs`, which has the columns

        first, second : str
            The two rankers; with a baseline it is the second.
        difference : float
            Mean of the first less mean of the second.
        ci_low, ci_high : float
            Confidence interval (95 %) of the difference, from the t distribution; with a one-sided
            alternative one of them is infinite.
        t : float
            Statistic of the paired t-test.
        p_ttest, p_ttest_holm : float in [0, 1]
            p-value of the paired t-test, and corrected for the number of comparisons.
        p_randomization, p_randomization_holm : float in [0, 1]
            The same of Fisher's randomisation test.
        wins, ties, losses : int
            Numbers of queries for which the first is better, equal or worse.

    Raises
    ------
    TypeError
        If `rankers` is no dict, or a name is no string.
    ValueError
        If there are fewer than two rankers, scores or `groups` have a wrong length, `X` is needed
        and missing, `baseline` or `metric` is unknown, or no query is left.
    sklearn.exceptions.NotFittedError
        If an estimator is not fitted.

    See Also
    --------
    scipy.stats.ttest_rel : The paired t-test.
    scipy.stats.permutation_test : With ``permutation_type="samples"``, the randomisation test.

    Notes
    -----
    The tests take the queries for the sample, and the differences of two rankers for its values. If
    the two rankers are equally good, they might as well change places in any query: the null
    hypothesis of the randomisation test is that every difference may have the other sign. Its
    p-value is the share of the choices of signs whose sum is at least as extreme as the one seen.
    Where choices are drawn at random the one seen is added to them, so that no p-value is below
    1 / (n_resamples + 1) [1]_. Holm's procedure [2]_ bounds the probability of any false alarm
    among the comparisons of one call.

    There is no test of two samples, which some papers use: all rankers are judged on the same
    queries, and what queries have in common would count as noise. ``scipy.stats.ttest_ind`` gives
    it from the columns of `values`.

    Values of two rankers that agree to a relative or absolute 1e-12 are taken as equal. Where that
    is so for every query, the p-values are 1. With one query the t-test is undefined: its results
    are NaN.

    References
    ----------
    .. [1] M. Smucker, J. Allan, B. Carterette. A comparison of statistical significance tests for
       information retrieval evaluation. CIKM 2007.
    .. [2] S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of
       Statistics 6, 1979.

    Examples
    --------
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.model_selection import compare_rankers, train_test_split_queries
    >>> X, y, groups = make_ranking(n_queries=200, random_state=0)
    >>> X, X_test, y, y_test, groups, groups_test = train_test_split_queries(
    ...     X, y, groups=groups, test_size=0.5, random_state=0
    ... )
    >>> result = compare_rankers(
    ...     {
    ...         "boosting": MPBoost(n_estimators=50).fit(X, y, groups=groups),
    ...         "fewer rounds": MPBoost(n_estimators=40).fit(X, y, groups=groups),
    ...         "first feature": X_test[:, 0],
    ...     },
    ...     X_test,
    ...     y_test,
    ...     groups_test,
    ...     baseline="boosting",
    ...     random_state=0,
    ... )
    >>> result.means.round(3)
    boosting         0.786
    fewer rounds     0.770
    first feature    0.532
    dtype: float64
    >>> result.pairs[["first", "second", "difference", "p_ttest_holm", "wins", "losses"]].round(3)
               first    second  difference  p_ttest_holm  wins  losses
    0   fewer rounds  boosting      -0.015         0.007    31      46
    1  first feature  boosting      -0.253         0.000    12      82
    """
    metric = get_metric(metric)
    _check_rankers(rankers, baseline)
    check_choice(alternative, "alternative", ALTERNATIVES)
    check_scalar(n_resamples, "n_resamples", Integral, min_val=1)
    if y is None:
        raise ValueError("`y` is None; give the grade of each row.")
    check_groups(groups)
    y = check_column(y, "y", finite="allow-nan")
    weights = {}
    if propensity is not None:
        metric.check_takes_propensity()
        propensity = check_propensity(propensity, "propensity", len(y))
        weights["propensity"] = propensity[~np.isnan(y)]
    of_ranker = {}
    for name, ranker in rankers.items():
        if hasattr(ranker, "predict"):
            if X is None:
                raise ValueError(
                    f"`X` is None; ranker {name!r} is an estimator and needs the rows."
                )
            scores = predict_queries(ranker, X, groups)
        else:
            scores = check_column(ranker, f"rankers[{name!r}]")
            if len(scores) != len(y):
                raise ValueError(
                    f"Ranker {name!r} has {len(scores)} scores but there are {len(y)} rows."
                )
        labelled, scores, ids, _ = only_labelled(y, scores, groups, None)
        of_ranker[name] = metric(labelled, scores, groups=ids, per_query=True, **weights)
    values = np.column_stack([result.values for result in of_ranker.values()])
    defined = ~np.isnan(values).any(axis=1)
    if not defined.any():
        raise ValueError(f"{metric.undefined_everywhere}.")
    query_ids = next(iter(of_ranker.values())).ids[defined]
    columns = dict(zip(rankers, values[defined].T, strict=True))

    if baseline is None:
        pairs = list(combinations(rankers, 2))
    else:
        pairs = [(name, baseline) for name in rankers if name != baseline]
    pairs = _compare(columns, pairs, alternative, int(n_resamples), random_state)
    means = {name: float(column.mean()) for name, column in columns.items()}
    try:
        import pandas as pd
    except ImportError:
        return RankerComparison(query_ids, columns, means, pairs)
    index = pd.Index(query_ids, tupleize_cols=False, name="query")
    return RankerComparison(
        query_ids, pd.DataFrame(columns, index=index), pd.Series(means), pd.DataFrame(pairs)
    )


def _check_rankers(rankers, baseline):
    if not isinstance(rankers, Mapping):
        raise TypeError(
            f"`rankers` must be a dict from names to estimators or scores; got a "
            f"{type(rankers).__name__}."
        )
    for name in rankers:
        if not isinstance(name, str):
            raise TypeError(f"The names in `rankers` must be strings; got {name!r}.")
    if len(rankers) < 2:
        raise ValueError(f"`rankers` must hold at least two rankers; got {list(rankers)}.")
    if baseline is not None and baseline not in rankers:
        raise ValueError(f"`baseline` must be one of {list(rankers)}; got {baseline!r}.")


def _compare(columns, pairs, alternative, n_resamples, random_state):
    """The columns of `pairs`: ndarrays of shape (n_pairs,)."""
    first = np.column_stack([columns[a] for a, _ in pairs])
    second = np.column_stack([columns[b] for _, b in pairs])
    # What only rounding tells apart is equal, for all that follows.
    differences = np.where(np.isclose(first, second, rtol=1e-12, atol=1e-12), 0, first - second)
    t, p_ttest, (low, high) = _ttest(differences, alternative)
    p_randomization = _randomization_test(differences, alternative, n_resamples, random_state)
    return {
        "first": np.array([a for a, _ in pairs], dtype=object),
        "second": np.array([b for _, b in pairs], dtype=object),
        "difference": differences.mean(axis=0),
        "ci_low": low,
        "ci_high": high,
        "t": t,
        "p_ttest": p_ttest,
        "p_ttest_holm": _holm(p_ttest),
        "p_randomization": p_randomization,
        "p_randomization_holm": _holm(p_randomization),
        "wins": (differences > 0).sum(axis=0),
        "ties": (differences == 0).sum(axis=0),
        "losses": (differences < 0).sum(axis=0),
    }


def _ttest(differences, alternative):
    """t, p and the confidence interval of each column."""
    with warnings.catch_warnings():
        # Of one query, and of differences that are all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        result = ttest_1samp(differences, 0, axis=0, alternative=alternative)
        interval = result.confidence_interval(0.95)
    equal = ~differences.any(axis=0) & (len(differences) > 1)
    return np.where(equal, 0, result.statistic), np.where(equal, 1, result.pvalue), interval


def _randomization_test(differences, alternative, n_resamples, random_state):
    """Fisher's p-value of each column: how often random signs give as extreme a sum."""
    # Sorted, so that neither the order of the queries nor other columns make a difference.
    differences = np.sort(differences, axis=0)
    n_queries = len(differences)
    exact = 2**n_queries <= n_resamples
    n_choices = 2**n_queries if exact else n_resamples
    random_state = check_random_state(random_state)
    seen = differences.sum(axis=0)
    rounding = 1e-12 * np.abs(differences).sum(axis=0)  # sums are taken in another order
    count = np.zeros(differences.shape[1])
    for start in range(0, n_choices, RESAMPLES_AT_ONCE):
        size = min(RESAMPLES_AT_ONCE, n_choices - start)
        if exact:
            flipped = np.arange(start, start + size)[:, None] >> np.arange(n_queries) & 1
        else:
            flipped = random_state.randint(2, size=(size, n_queries), dtype=np.int8)
        sums = (1.0 - 2.0 * flipped) @ differences
        if alternative == "two-sided":
            extreme = np.abs(sums) >= np.abs(seen) - rounding
        elif alternative == "greater":
            extreme = sums >= seen - rounding
        else:
            extreme = sums <= seen + rounding
        count += extreme.sum(axis=0)
    return count / n_choices if exact else (count + 1) / (n_choices + 1)


def _holm(p):
    """p-values corrected by Holm's procedure."""
    order = np.argsort(p)
    corrected = np.empty(len(p))
    factors = np.arange(len(p), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1)
    return corrected
