# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The trees of fitted boosted rankers as text."""

from numbers import Integral

from sklearn.utils import check_scalar

from sklearn_ltr.columns import check_feature_names
from sklearn_ltr.export._trees import (
    categories_of,
    conditions,
    depths,
    may_be_missing,
    of_round,
    trees_of,
)

INDENT, BRANCH = "|   ", "|--- "


def export_text(ranker, *, round=None, feature_names=None, max_depth=10, precision=4):
    """The rules of a ranker of stumps or trees, to be read, as `sklearn.tree.export_text` has them.

    Parameters
    ----------
    ranker : FRank, GBRank, LambdaMART, McRank, MPBoost, QBRank, QuadraticBoosting, RankBoost, \
            RegressionRanker, XENDCG or YetiRank
        Fitted, and of stumps or trees: with ``estimator=None``; or a fitted search over one.
    round : int, default=None
        The round whose trees are shown, from 1; None shows all that `predict` uses.
    feature_names : list of str of length `n_features_in_`, default=None
        Names to show; None takes those of the frame that the ranker was fitted on, or the numbers.
    max_depth : int, default=10
        Splits above what is shown at most; what is below is one line.
    precision : int, default=4
        Significant digits of thresholds and values.

    Returns
    -------
    text : str
        A line for each side of a split and for each leaf. Values are what a leaf adds to the score,
        with its coefficient; of `McRank`, to one of its outputs. Where missing values go is told of
        features that had some in training, or of which that is not known.

    Raises
    ------
    TypeError
        If it is no such ranker.
    ValueError
        If an argument is invalid.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    trees_to_frame : The same as a table.
    sklearn_ltr.plotting.plot_tree : A drawing of a tree.

    Examples
    --------
    >>> from sklearn_ltr import LambdaMART
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.export import export_text
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = LambdaMART(n_estimators=20, max_leaf_nodes=3).fit(X, y, groups=groups)
    >>> print(export_text(ranker, round=1), end="")
    round 1
    |--- feature 0 <= 0.4435
    |   |--- value: -0.0292
    |--- feature 0 > 0.4435
    |   |--- feature 3 <= 0.6061
    |   |   |--- value: 0.0004235
    |   |--- feature 3 > 0.6061
    |   |   |--- value: 0.06041
    """
    ranker, trees = trees_of(ranker)
    names = check_feature_names(ranker, feature_names)
    check_scalar(max_depth, "max_depth", Integral, min_val=1)
    check_scalar(precision, "precision", Integral, min_val=1)
    missing = may_be_missing(ranker)
    values = categories_of(ranker)
    several = len({term.output for term in trees}) > 1
    lines = []
    for term in trees if round is None else of_round(trees, round):
        lines.append(f"round {term.round}" + (f", output {term.output}" if several else ""))
        lines += _rules(term, names, missing, max_depth, precision, values)
    return "\n".join([*lines, ""])


def _rules(term, names, missing, max_depth, precision, values):
    """The lines of a tree."""
    tree, depth = term.tree, depths(term.tree)
    lines = []
    todo = [(0, None)]  # nodes, and what leads to them
    while todo:
        node, condition = todo.pop()
        if condition is not None:
            lines.append(INDENT * (depth[node] - 1) + BRANCH + condition)
        start = INDENT * depth[node] + BRANCH
        feature = tree.feature[node]
        if feature < 0:
            lines.append(f"{start}value: {term.coefficient * tree.value[node]:.{precision}g}")
        elif depth[node] == max_depth:
            below = _deepest_below(tree, node) - depth[node]
            lines.append(f"{start}truncated branch of depth {below}")
        else:
            left, right = conditions(
                tree, node, names[feature], missing[feature], precision, values[feature]
            )
            todo.append((int(tree.left[node]) + 1, right))
            todo.append((int(tree.left[node]), left))
    return lines


def _deepest_below(tree, node):
    """Depth of the deepest leaf below a node."""
    depth, below, todo = depths(tree), 0, [node]
    while todo:
        node = todo.pop()
        below = max(below, int(depth[node]))
        if tree.feature[node] >= 0:
            todo += [int(tree.left[node]), int(tree.left[node]) + 1]
    return below
