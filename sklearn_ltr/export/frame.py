# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of the trees of fitted boosted rankers as a frame."""

import numpy as np

from sklearn_ltr.columns import check_feature_names
from sklearn_ltr.export._trees import categories_of, categories_right, depths, trees_of


def trees_to_frame(ranker, *, feature_names=None):
    """The nodes of the trees of a ranker as a pandas frame, as LightGBM and XGBoost have them.

    Parameters
    ----------
    ranker : FRank, GBRank, LambdaMART, McRank, MPBoost, QBRank, QuadraticBoosting, RankBoost, \
            RegressionRanker, XENDCG or YetiRank
        Fitted, and of stumps or trees: with ``estimator=None``; or a fitted search over one.
    feature_names : list of str of length `n_features_in_`, default=None
        Names to show; None takes those of the frame that the ranker was fitted on, or the numbers.

    Returns
    -------
    nodes : pandas.DataFrame
        A row for each node of each tree of the rounds that `predict` uses, with the columns

        - ``round``, from 1; ``tree``, its number in the round, from 0: a constant that the first
          round begins with is a tree of one leaf, and `McRank` has several trees a round; and
          ``output``, from 0, that the tree is added to;
        - ``coefficient``: what the values of the tree are taken times;
        - ``node``, the number of the node in its tree, 0 for the root, and ``depth``, the splits
          above it;
        - of splits ``feature``, a name; ``threshold``: rows with a value up to it go left, infinite
          if only missing ones go right; ``categories``, of a split on a categorical feature, which
          has no threshold, a list of those that go right; ``missing``, the side where missing
          values go, "left" or "right"; ``left`` and ``right``, the nodes that the sides are; and
          ``gain``: of trees, what the split lowers the weighted squared error by, of stumps, the
          share of the pairs' weight that the loss is lowered by;
        - ``cover``, the weight of the training rows that came to the node, of stumps their number,
          and ``n_samples``, their number; missing for constants, and of models that were stored
          before it was kept;
        - of leaves ``value``.

        What does not apply is missing.

    Raises
    ------
    ImportError
        If pandas is not installed.
    TypeError
        If it is no such ranker.
    ValueError
        If an argument is invalid.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    export_text : The same to be read.
    to_dict : All there is of a ranker, without pandas.

    Examples
    --------
    >>> from sklearn_ltr import LambdaMART
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.export import trees_to_frame
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = LambdaMART(n_estimators=20, max_leaf_nodes=3).fit(X, y, groups=groups)
    >>> nodes = trees_to_frame(ranker)
    >>> len(nodes)
    100
    >>> splits = nodes[nodes["feature"].notna()]
    >>> splits[["round", "node", "feature", "left", "right", "n_samples"]].head(2)
       round  node    feature  left  right  n_samples
    0      1     0  feature 0     1      2       1047
    2      1     2  feature 3     3      4        403
    >>> splits.groupby("feature")["gain"].sum().idxmax()  # the most important one
    'feature 0'
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "trees_to_frame requires pandas. You can install pandas with `pip install pandas`. "
            "to_dict has the nodes, too, as plain data."
        ) from error
    ranker, trees = trees_of(ranker)
    names = np.array([*check_feature_names(ranker, feature_names), None], dtype=object)
    columns = [_columns(term, names, categories_of(ranker)) for term in trees]
    dtypes = {
        "round": "int64", "tree": "int64", "output": "int64", "coefficient": "float64",
        "node": "int64", "depth": "int64", "feature": "object", "threshold": "float64",
        "categories": "object", "missing": "object", "left": "Int64", "right": "Int64",
        "gain": "float64", "cover": "float64", "n_samples": "Int64", "value": "float64",
    }  # fmt: skip
    if not columns:
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in dtypes.items()})
    joined = {name: np.concatenate([own[name] for own in columns]) for name in dtypes}
    for name in [name for name, dtype in dtypes.items() if dtype == "Int64"]:
        absent = joined[name] < 0
        joined[name] = pd.arrays.IntegerArray(joined[name].astype(np.int64), absent)
    return pd.DataFrame(joined)


def _columns(term, names, values):
    """The columns of a tree, as arrays; numbers that do not apply are -1 if they are integers."""
    tree, n_nodes = term.tree, len(term.tree.feature)
    inner = tree.feature >= 0
    unknown = np.full(n_nodes, np.nan)
    sides = np.where(tree.missing_right, "right", "left").astype(object)
    sets = np.full(n_nodes, None, dtype=object)
    for node in np.flatnonzero(inner):
        sets[node] = categories_right(tree, node, values[tree.feature[node]])
    return {
        "round": np.full(n_nodes, term.round),
        "tree": np.full(n_nodes, term.number),
        "output": np.full(n_nodes, term.output),
        "coefficient": np.full(n_nodes, float(term.coefficient)),
        "node": np.arange(n_nodes),
        "depth": depths(tree),
        "feature": names[tree.feature],  # the last one, None, of a leaf
        "threshold": np.where(inner, tree.threshold, unknown),
        "categories": sets,
        "missing": np.where(inner, sides, None),
        "left": np.where(inner, tree.left, -1),
        "right": np.where(inner, tree.left + 1, -1),
        "gain": np.where(inner, tree.gain, unknown),
        "cover": unknown if tree.cover is None else tree.cover,
        "n_samples": np.full(n_nodes, -1) if tree.n_samples is None else tree.n_samples,
        "value": np.where(inner, unknown, tree.value),
    }
