# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The trees of a fitted ranker, round by round."""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.base import unwrap_search
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.weak.tree import Tree


class Term(NamedTuple):
    """A tree of a round.

    Attributes
    ----------
    round : int
        From 1.
    number : int
        Of the tree in its round, from 0.
    output : int
        What it is added to, from 0.
    coefficient : float
        What its values are taken times.
    tree : Tree
    """

    round: int
    number: int
    output: int
    coefficient: float
    tree: Tree


def trees_of(ranker):
    """A fitted ranker, of a search its best one, and the trees that it predicts by.

    Returns
    -------
    ranker : object
    trees : list of Term

    Raises
    ------
    TypeError
        If it is no ranker of stumps or trees.
    """
    ranker = unwrap_search(ranker)
    if not isinstance(ranker, StumpBoosting | TreeBoosting):
        raise TypeError(
            f"There are trees in rankers of stumps or trees only; got {type(ranker).__name__}. Of "
            "a pipeline, give the last step, of a blend, one of its `estimators_`."
        )
    ranker._check_is_fitted()
    model = ranker.model_.first(ranker.best_iteration_)
    if others := [weak for _, weak in model.terms if not hasattr(weak, "as_tree")]:
        raise TypeError(
            f"The model is of regressors, given as `estimator`, and not of trees: {others[-1]!r}."
        )
    terms = iter(model.terms)  # with the coefficients that they have in the end
    trees = [
        Term(round, number, number % model.n_outputs, coefficient, weak.as_tree())
        for round, own in enumerate(model.rounds, start=1)
        for number, (coefficient, weak) in zip(range(len(own)), terms, strict=False)
    ]
    return ranker, trees


def of_round(trees, round):
    """The trees of a round; ValueError if there are none."""
    check_scalar(round, "round", Integral)
    found = [term for term in trees if term.round == round]
    if found:
        return found
    if not trees:
        raise ValueError("The model has no trees: there was nothing to learn.")
    raise ValueError(
        f"`round` is {round}, but the rounds that `predict` uses are from 1 to {trees[-1].round}."
    )


def depths(tree):
    """Number of splits above each node: ndarray of shape (n_nodes,), dtype intp."""
    found = np.zeros(len(tree.feature), dtype=np.intp)
    for node in np.flatnonzero(tree.feature >= 0):  # children come after their parents
        found[tree.left[node] : tree.left[node] + 2] = found[node] + 1
    return found


def may_be_missing(ranker):
    """Whether each feature may have been missing in training: ndarray of shape (n_features,)."""
    known = ranker._binner.has_missing_
    return np.ones(ranker.n_features_in_, dtype=bool) if known is None else known


def categories_of(ranker):
    """The categories of each feature, by code, and None for others: list."""
    return getattr(ranker, "categories_", [None] * ranker.n_features_in_)


def categories_right(tree, node, values):
    """The categories that go right at a split; None if it is on a number.

    Parameters
    ----------
    values : ndarray or None
        The categories of its feature, by code.
    """
    if not tree.has_categories or not np.isnan(tree.threshold[node]):
        return None
    codes = tree.categories_right(node)
    return values[codes[codes < len(values)]].tolist()


def conditions(tree, node, name, missing, precision, values=None):
    """What leads to the left and to the right child of a node, as text.

    `missing` is whether to say where missing values go, and `values` as of `categories_right`.
    """
    if np.isposinf(tree.threshold[node]):
        return f"{name} is not missing", f"{name} is missing"
    on_right = categories_right(tree, node, values)
    if on_right is None:
        threshold = f"{tree.threshold[node]:.{precision}g}"
        left, right = f"{name} <= {threshold}", f"{name} > {threshold}"
    else:
        listed = ", ".join(map(str, on_right))
        left, right = f"{name} not in {{{listed}}}", f"{name} in {{{listed}}}"
    if not missing:
        return left, right
    if tree.missing_right[node]:
        return left, f"{right} or missing"
    return f"{left} or missing", right
