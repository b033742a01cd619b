# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A drawing of a tree of a ranker."""

from numbers import Integral

import numpy as np
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
from sklearn_ltr.plotting._base import check_matplotlib

# In inches: what a leaf and a level take in a figure of its own.
LEAF_WIDTH, LEVEL_HEIGHT = 1.15, 1.1

# Those of the other figures, mixed with white so that text can be read on them.
LIGHT_POSITIVE, LIGHT_NEGATIVE = "#B2D4E7", "#F9E2B2"


def plot_tree(ranker, round=1, *, tree=None, feature_names=None, precision=3, ax=None, **text_kw):
    """Draw a tree of a ranker of stumps or trees.

    A box of a split has what sends rows to the left, and the number of training rows that came to
    it; a box of a leaf has what it adds to the score, in blue if that is positive, in orange if it
    is negative.

    Parameters
    ----------
    ranker : FRank, GBRank, LambdaMART, McRank, MPBoost, QBRank, QuadraticBoosting, RankBoost, \
            RegressionRanker, XENDCG or YetiRank
        Fitted, and of stumps or trees: with ``estimator=None``; or a fitted search over one.
    round : int, default=1
        The round that the tree is of, from 1.
    tree : int, default=None
        Number of the tree in its round, from 0, as ``tree`` of
        `sklearn_ltr.export.trees_to_frame`. None is the last one: the only one of most rankers, but
        for a constant that the first round may begin with. `McRank` has several.
    feature_names : list of str of length `n_features_in_`, default=None
        Names to show; None takes those of the frame that the ranker was fitted on, or the numbers.
    precision : int, default=3
        Significant digits of thresholds and values.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure, large enough for the tree.
    **text_kw : dict
        Passed to matplotlib's ``text`` for every box, such as ``fontsize``.

    Returns
    -------
    ax : matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If it is no such ranker.
    ValueError
        If an argument is invalid, or there is no such tree.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    sklearn_ltr.export.export_text : The rules of a tree as text.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_ltr import LambdaMART
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.plotting import plot_tree
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = LambdaMART(n_estimators=20, max_leaf_nodes=4).fit(X, y, groups=groups)
    >>> ax = plot_tree(ranker, round=20)
    >>> ax.get_title()
    'round 20'
    >>> plt.close()
    """
    check_matplotlib("plot_tree")
    ranker, trees = trees_of(ranker)
    names = check_feature_names(ranker, feature_names)
    check_scalar(precision, "precision", Integral, min_val=1)
    own = of_round(trees, round)
    if tree is None:
        tree = len(own) - 1
    check_scalar(tree, "tree", Integral, min_val=0, max_val=len(own) - 1)
    term = own[tree]
    x, y = _places(term.tree)
    if ax is None:
        import matplotlib.pyplot as plt

        size = max(4, LEAF_WIDTH * term.tree.n_leaves), LEVEL_HEIGHT * (1 - y.min()) + 0.4
        ax = plt.subplots(layout="constrained", figsize=size)[1]
    missing, values = may_be_missing(ranker), categories_of(ranker)
    for node, feature in enumerate(term.tree.feature):
        color = "white"
        if feature < 0:
            value = term.coefficient * term.tree.value[node]
            text = f"{value:+.{precision}g}"
            color = LIGHT_POSITIVE if value > 0 else LIGHT_NEGATIVE
        else:
            found = names[feature], missing[feature], precision, values[feature]
            text = conditions(term.tree, node, *found)[0]
            text = text.replace(" or missing", "\nor missing")
            left = term.tree.left[node]
            for child, side in ((left, "yes"), (left + 1, "no")):
                _draw_edge(ax, x[[node, child]], y[[node, child]], "" if node else side)
        if term.tree.n_samples is not None:
            text += f"\nn = {term.tree.n_samples[node]}"
        box = {"boxstyle": "round", "facecolor": color, "edgecolor": "black", "linewidth": 0.8}
        settings = {"fontsize": "small", "ha": "center", "va": "center", "zorder": 3, "bbox": box}
        ax.text(x[node], y[node], text, **(settings | text_kw))
    ax.set(xlim=(-0.6, term.tree.n_leaves - 0.4), ylim=(y.min() - 0.5, 0.5))
    ax.set_axis_off()
    title = f"round {term.round}"
    if ranker.model_.n_outputs > 1:
        title += f", output {term.output}"
    ax.set_title(title)
    return ax


def _draw_edge(ax, x, y, side):
    ax.plot(x, y, color="black", linewidth=0.8, zorder=1)
    if side:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(x.mean(), y.mean(), side, fontsize="small", ha="center", va="center", bbox=box)


def _places(tree):
    """Where nodes are: leaves side by side, a split in the middle of its children; depths down."""
    order, todo = [], [0]
    while todo:
        node = todo.pop()
        if tree.feature[node] < 0:
            order.append(node)
        else:
            todo += [tree.left[node] + 1, tree.left[node]]
    x = np.zeros(len(tree.feature))
    x[order] = np.arange(len(order))
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:  # children come after their parents
        x[node] = x[tree.left[node] : tree.left[node] + 2].mean()
    return x, -depths(tree).astype(float)
