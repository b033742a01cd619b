# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Boosted rankers as sums of trees on the columns that are given, with thresholds of 32 bits."""

import numpy as np

from sklearn_ltr import rankers
from sklearn_ltr.export.functions import ExpectedGrade, Nodes, Trees
from sklearn_ltr.export.rounding import rounded_down
from sklearn_ltr.export.scalers import largest_below


def of_boosting(ranker, maps):
    """The function that a ranker of boosted stumps or trees is behind some maps of the columns."""
    if getattr(ranker, "estimator", None) is not None:
        raise ValueError(
            f"`estimator` is {ranker.estimator!r}: only stumps and trees can be exported, no "
            "regressors. Pickle the ranker, or fit it with estimator=None."
        )
    model = ranker.model_.first(ranker.best_iteration_)
    outputs = [[] for _ in range(model.n_outputs)]
    numbers = [j % model.n_outputs for terms in model.rounds for j in range(len(terms))]
    for j, term in zip(numbers, model.terms, strict=True):
        outputs[j].append(term)
    outputs = [_trees(terms, ranker, maps) for terms in outputs]
    if isinstance(ranker, rankers.McRank):
        if len(ranker._values) == 1:
            return Trees(float(ranker._values[0]), [], outputs[0].missing)
        return ExpectedGrade(outputs, ranker._values, ranker.method)
    return outputs[0]


def _trees(terms, ranker, maps):
    """Trees of (coefficient, weak ranker)."""
    close = _close_behind(ranker._binner, maps)
    constant, nodes = 0.0, []
    used = np.zeros(ranker.n_features_in_, dtype=bool)
    proven = used.copy()  # splits between missing values and all others
    for coefficient, weak in terms:
        tree = weak.as_tree()
        if len(tree.feature) == 1:
            constant += float(coefficient * tree.value[0])
            continue
        if tree.has_categories:
            _refuse_categories(ranker, tree)
        inner = np.flatnonzero(tree.feature >= 0)
        used[tree.feature[inner]] = True
        proven[tree.feature[np.isposinf(tree.threshold)]] = True
        threshold = tree.threshold.copy()
        threshold[inner] = largest_below(threshold[inner], maps, tree.feature[inner])
        narrow, torn = rounded_down(threshold), np.zeros(len(threshold), dtype=bool)
        for node in inner:
            key = int(tree.feature[node]), int(tree.bin[node])
            if key in close:
                torn[node] = close[key] is None
                narrow[node] = narrow[node] if torn[node] else close[key]
        nodes.append(
            Nodes(
                tree.feature, threshold, narrow, torn, tree.missing_right, tree.left, tree.gain,
                tree.cover, coefficient * tree.value,
            )
        )  # fmt: skip
    known = ranker._binner.has_missing_
    return Trees(constant, nodes, proven if known is None else used & known, known is not None)


def _refuse_categories(ranker, tree):
    """Raise ValueError: no other format has splits on sets of categories as they are here."""
    features = np.unique(tree.feature[np.isnan(tree.threshold)])
    listed = ", ".join(ranker._feature_name(int(k)) for k in features)
    raise ValueError(
        f"{type(ranker).__name__} splits on categories of {listed}, which only pickle and to_dict "
        "keep. Encode them before, as by TargetEncoder, and fit with categorical_features=None."
    )


def _close_behind(binner, maps):
    """As `Binner.float32_`, by feature and number of a threshold.

    Behind scalers, what is known of training values is that there are some between any two
    thresholds: these, if the same number in 32 bits, do not part them.
    """
    if not maps:
        return {(feature, number): x for feature, number, x in binner.float32_}
    found = {}
    for feature, cuts in enumerate(binner.thresholds_):
        narrow = rounded_down(largest_below(cuts, maps, np.full(len(cuts), feature)))
        for number in np.flatnonzero(narrow[1:] == narrow[:-1]).tolist():
            found[feature, number] = found[feature, number + 1] = None
    return found
