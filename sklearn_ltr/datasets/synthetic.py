# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Artificial ranking data."""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state, check_scalar, gen_batches

# Rows worked on at a time, so that temporary arrays stay small beside `X`.
_BATCH = 10_000

# Increasing functions of an informative feature, taken in turn: one that saturates, one with a long
# tail, one flat in the middle. None is linear, and all are standardised before they are added.
_SHAPES = (lambda z: np.tanh(2 * z), np.exp, lambda z: z**3)


def make_ranking(
    n_queries=100,
    n_docs=(5, 40),
    n_features=20,
    *,
    n_informative=5,
    n_redundant=5,
    n_grades=5,
    grade_proportions=None,
    noise=0.5,
    query_difficulty=0.5,
    query_effect=0.5,
    query_shift=1.0,
    random_state=None,
):
    """Make a ranking data set with graded relevance and queries that differ.

    Each document has `n_informative` independent standard normal traits. Its utility is

    - a sum of increasing, nonlinear functions of the traits (saturating, long-tailed and flat in
      the middle, in turn), with weights of random size and sign, scaled to unit variance,
    - plus an effect of its query, normal with standard deviation `query_effect`, which no feature
      shows: some queries have many relevant documents and some none,
    - plus normal noise with standard deviation ``noise * exp(query_difficulty * d)``, with one
      standard normal d for each query.

    Grades cut the utilities of all rows so that they occur in the proportions wanted. The columns
    of `X` are, in this order, the informative features: the traits, each moved by `query_shift`
    times a standard normal number of its query, which says nothing about relevance; the redundant
    features: random linear combinations of the informative ones; and standard normal features that
    only have such a shift. Within a query without noise, the grades never contradict the first sum.

    Parameters
    ----------
    n_queries : int, default=100
    n_docs : int or (int, int), default=(5, 40)
        Documents of each query, or the least and the greatest number, between which each query's
        number is drawn evenly.
    n_features : int, default=20
    n_informative : int, default=5
    n_redundant : int, default=5
    n_grades : int, default=5
        Grades are 0, 1, ..., `n_grades` - 1.
    grade_proportions : array-like of shape (n_grades,), default=None
        Share of each grade, up to a common factor. None halves the share from grade to grade.
    noise : float, default=0.5
    query_difficulty : float, default=0.5
        How much the noise differs between queries; 0 makes all queries equally hard.
    query_effect : float, default=0.5
        How much the number of relevant documents differs between queries.
    query_shift : float, default=1.0
        How much features differ between queries.
    random_state : int, RandomState instance or None, default=None
        `noise`, `query_difficulty`, `query_effect` and the grades do not change the `X` that an int
        gives.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), dtype float64
    y : ndarray of shape (n_samples,), dtype float64
        The grades.
    groups : ndarray of shape (n_samples,), dtype int64
        Query ids 0, ..., `n_queries` - 1; the rows of a query are contiguous.

    Raises
    ------
    TypeError
        If a number is of a wrong type.
    ValueError
        If a parameter is out of range or two contradict each other.

    See Also
    --------
    make_cubic_ranking : A noise-free set in which single features say little.

    Examples
    --------
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=10, n_docs=20, random_state=0)
    >>> X.shape, y.shape, groups.shape
    ((200, 20), (200,), (200,))

    Split by query, never within one:

    >>> train = groups < 8
    >>> X_train, X_test = X[train], X[~train]
    """
    check_scalar(n_queries, "n_queries", Integral, min_val=1)
    least, greatest = _check_n_docs(n_docs)
    check_scalar(n_informative, "n_informative", Integral, min_val=1)
    check_scalar(n_redundant, "n_redundant", Integral, min_val=0)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    # Those of NumPy may be of few bits.
    n_features, n_informative, n_redundant = map(int, (n_features, n_informative, n_redundant))
    if n_features < n_informative + n_redundant:
        raise ValueError(
            f"`n_features`={n_features} must be at least n_informative + n_redundant = "
            f"{n_informative} + {n_redundant}."
        )
    check_scalar(n_grades, "n_grades", Integral, min_val=2)
    if grade_proportions is None:
        grade_proportions = 0.5 ** np.arange(n_grades)
    proportions = _check_proportions(grade_proportions)
    if len(proportions) != n_grades:
        raise ValueError(
            f"`grade_proportions` has {len(proportions)} entries but `n_grades` is {n_grades}."
        )
    for name, value in (
        ("noise", noise),
        ("query_difficulty", query_difficulty),
        ("query_effect", query_effect),
        ("query_shift", query_shift),
    ):
        check_scalar(value, name, Real, min_val=0)
        if not np.isfinite(value):
            raise ValueError(f"`{name}` must be finite; got {value}.")

    rng = check_random_state(random_state)
    sizes = rng.randint(least, greatest + 1, size=n_queries)
    groups = np.repeat(np.arange(n_queries, dtype=np.int64), sizes)
    weights = rng.uniform(0.5, 1.5, size=n_informative) * rng.choice([-1, 1], size=n_informative)
    mixing = rng.standard_normal((n_informative, n_redundant)) / np.sqrt(n_informative)
    effect = rng.standard_normal(n_queries)
    difficulty = np.exp(query_difficulty * rng.standard_normal(n_queries))
    shift = query_shift * rng.standard_normal((n_queries, n_features))
    X = rng.standard_normal((len(groups), n_features))

    utility = np.zeros(len(groups))
    for k in range(n_informative):
        utility += weights[k] * _standardise(_SHAPES[k % len(_SHAPES)](X[:, k]))
    utility = _standardise(utility)
    utility += query_effect * effect[groups]
    utility += noise * difficulty[groups] * rng.standard_normal(len(groups))

    for rows in gen_batches(len(groups), _BATCH):
        X[rows] += shift[groups[rows]]
        X[rows, n_informative : n_informative + n_redundant] = X[rows, :n_informative] @ mixing
    return X, _grade(utility, proportions), groups


def make_cubic_ranking(
    n_queries=1000,
    n_docs=50,
    n_features=50,
    *,
    grade_proportions=(0.26, 0.36, 0.29, 0.076, 0.019),
    random_state=None,
):
    """Make noise-free grades of a random cubic polynomial: McRank's artificial data, reconstructed.

    The artificial set on which McRank [1]_ was compared with LambdaRank is LambdaRank's, made as in
    RankNet [2]_. **The text of the original recipe could not be seen. This is a reconstruction**
    from what was remembered of it; figures on it must not be set beside published ones as if the
    data were the same. The choices are:

    - every query has `n_docs` documents, whose features are independent and uniform on [-1, 1];
    - the target is the mean of a linear term :math:`\\sum_i v_i x_i`, with v uniform on [-1, 1], a
      quadratic term :math:`\\sum_i x_i x_{Q(i)}` and a cubic term :math:`\\sum_i x_i x_{R(i)}
      x_{S(i)}`, with random permutations Q, R and S; each term is first scaled to zero mean and
      unit variance over all rows;
    - five grades cut the targets of all rows, not of each query, in the proportions 26, 36, 29, 7.6
      and 1.9 % (taken as shares of their sum), which are those of the first Yahoo set: the original
      proportions are unknown.

    Parameters
    ----------
    n_queries : int, default=1000
        Of all splits together: v, Q, R and S are drawn once in a call, so take the queries for
        training, validation and testing from one call. McRank had 10,000, 5,000 and 10,000.
    n_docs : int, default=50
    n_features : int, default=50
    grade_proportions : array-like of shape (n_grades,), default=(0.26, 0.36, 0.29, 0.076, 0.019)
        Share of each grade, up to a common factor.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_queries * n_docs, n_features), dtype float64
    y : ndarray of shape (n_queries * n_docs,), dtype float64
        The grades, 0, 1, ...
    groups : ndarray of shape (n_queries * n_docs,), dtype int64
        Query ids 0, ..., `n_queries` - 1; the rows of a query are contiguous.

    Raises
    ------
    TypeError
        If a number is of a wrong type.
    ValueError
        If a parameter is out of range.

    See Also
    --------
    make_ranking : Queries of unequal length, noise, features that single splits can use.

    References
    ----------
    .. [1] P. Li, C. Burges and Q. Wu, "McRank: Learning to rank using multiple classification and
       gradient boosting", NIPS 2007.
    .. [2] C. Burges et al., "Learning to rank using gradient descent", ICML 2005.

    Examples
    --------
    >>> from sklearn_ltr.datasets import make_cubic_ranking
    >>> X, y, groups = make_cubic_ranking(n_queries=25, random_state=0)
    >>> X.shape
    (1250, 50)
    >>> train, validation, test = groups < 10, (groups >= 10) & (groups < 15), groups >= 15
    >>> X[train].shape, X[validation].shape, X[test].shape
    ((500, 50), (250, 50), (500, 50))
    """
    check_scalar(n_queries, "n_queries", Integral, min_val=1)
    check_scalar(n_docs, "n_docs", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    n_queries, n_docs = int(n_queries), int(n_docs)  # those of NumPy may be of few bits
    proportions = _check_proportions(grade_proportions)

    rng = check_random_state(random_state)
    v = rng.uniform(-1, 1, size=n_features)
    Q, R, S = (rng.permutation(n_features) for _ in range(3))
    X = rng.uniform(-1, 1, size=(n_queries * n_docs, n_features))
    groups = np.repeat(np.arange(n_queries, dtype=np.int64), n_docs)

    terms = np.empty((3, len(X)))
    for rows in gen_batches(len(X), _BATCH):
        x = X[rows]
        terms[0, rows] = x @ v
        terms[1, rows] = (x * x[:, Q]).sum(axis=1)
        terms[2, rows] = (x * x[:, R] * x[:, S]).sum(axis=1)
    target = np.mean([_standardise(term) for term in terms], axis=0)
    return X, _grade(target, proportions), groups


def _check_n_docs(n_docs):
    if isinstance(n_docs, Integral):
        n_docs = (n_docs, n_docs)
    try:
        least, greatest = n_docs
    except (TypeError, ValueError):
        raise ValueError(f"`n_docs` must be an int or a pair of ints; got {n_docs!r}.") from None
    check_scalar(least, "n_docs", Integral, min_val=1)
    check_scalar(greatest, "n_docs", Integral, min_val=1)
    if least > greatest:
        raise ValueError(f"`n_docs` must be (least, greatest); got {n_docs!r}.")
    return int(least), int(greatest)


def _check_proportions(grade_proportions):
    proportions = np.asarray(grade_proportions, dtype=np.float64)
    if proportions.ndim != 1 or len(proportions) < 2:
        raise ValueError(
            "`grade_proportions` must be one-dimensional with at least two entries; got shape "
            f"{proportions.shape}."
        )
    if not np.isfinite(proportions).all() or (proportions <= 0).any():
        raise ValueError(
            f"`grade_proportions` must be positive and finite; got {grade_proportions!r}."
        )
    return proportions / proportions.sum()


def _standardise(values):
    values = values - values.mean()
    deviation = values.std()
    return values / deviation if deviation > 0 else values  # one row has no spread


def _grade(utility, proportions):
    bounds = np.quantile(utility, np.cumsum(proportions)[:-1])
    return np.searchsorted(bounds, utility, side="left").astype(np.float64)
