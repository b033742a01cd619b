# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers to export, rows at and next to their thresholds, and how scores of 32 bits compare."""

import xml.etree.ElementTree as ET

import numpy as np
from every_ranker import RANKERS, make, make_data
from numpy.testing import assert_allclose

from sklearn_ltr import McRank, RegressionRanker
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.boosting.trees import TreeBoosting

SUMS_OF_TREES = [
    R for R in RANKERS if issubclass(R, StumpBoosting | TreeBoosting) and R is not McRank
]

ULP = 2.0**-23  # from 1 to the next number of 32 bits


def terms_of(ranker):
    """Coefficients and trees that `predict` adds up."""
    terms = ranker.model_.first(ranker.best_iteration_).terms
    return [(coefficient, weak.as_tree()) for coefficient, weak in terms]


def rows_near_thresholds(ranker, X, dtype=np.float32, unscaled=None):
    """Rows of X in which one feature is at a threshold, or the next number below or above it.

    Numbers of `dtype`. `unscaled` takes thresholds to the columns of X.
    """
    rows = [X.astype(dtype)]
    cuts = {
        (int(feature), float(threshold))
        for _, tree in terms_of(ranker)
        for feature, threshold in zip(tree.feature, tree.threshold, strict=True)
        if feature >= 0 and np.isfinite(threshold)
    }
    for i, (feature, threshold) in enumerate(sorted(cuts)):
        if unscaled is not None:
            threshold = unscaled(feature, threshold)
        at = dtype(threshold)
        near = [at]
        for end in (-np.inf, np.inf):
            near += [np.nextafter(at, dtype(end))]
            near += [np.nextafter(near[-1], dtype(end))]
        part = np.tile(X[i % len(X)].astype(dtype), (len(near), 1))
        part[:, feature] = near
        rows.append(part)
    return np.concatenate(rows).astype(np.float64)


def float32_error(ranker, weight=1.0):
    """How far a sum in 32 bits may be from the scores: a rounding of each term and of each sum."""
    largest = [np.abs(c * tree.value).max() for c, tree in terms_of(ranker)]
    return weight * (len(largest) + 2) * np.sum(largest) * np.finfo(np.float32).eps / 2


def assert_scores(found, ranker, rows):
    """Equal but for sums in 32 bits."""
    assert_allclose(np.ravel(found), ranker.predict(rows), rtol=0, atol=float32_error(ranker))


def quick(R, **params):
    """A ranker fitted to rows with missing values, if it takes them, and the rows."""
    X, y, groups = make_data(R)
    return make(R, **params).fit(X, y, groups=groups), X


# Two values of 64 bits that stay apart in 32, but not by what is halfway between, rounded down:
# next to a power of two, where the numbers of 32 bits lie twice as close on one side.
APART = [(1 - 0.3 * ULP, 1 + 0.45 * ULP), (-1 - 0.45 * ULP, -1 + 0.3 * ULP)]
# And two that do not.
TORN = (1 + 0.6 * ULP, 1 + 0.9 * ULP)


def fit_to_two(values):
    """A tree that tells two values apart, and the values as rows."""
    X = np.array(values)[:, None]
    params = {"n_estimators": 1, "max_leaf_nodes": 2, "min_samples_leaf": 1}
    return RegressionRanker(**params).fit(X, [0, 1], groups=[0, 0]), X


def read_ranklib(text):
    """A function of a row: a reader of RankLib's models, written from its format only."""
    lines = text.split("\n")
    assert lines[0] == "## LambdaMART"
    # RankLib joins the lines without the white space around them.
    body = "".join(line.strip() for line in lines if not line.startswith("##"))
    ensemble = ET.fromstring(body)
    assert ensemble.tag == "ensemble"
    trees = list(ensemble)
    assert [tree.get("id") for tree in trees] == [str(i + 1) for i in range(len(trees))]

    def value(split, row):
        if split[0].tag == "output":
            assert len(split) == 1
            return float(split[0].text)
        assert [child.tag for child in split] == ["feature", "threshold", "split", "split"]
        assert [child.get("pos") for child in split[2:]] == ["left", "right"]
        threshold = np.float32(float(split[1].text.replace("Infinity", "inf")))
        x = np.float32(row.get(int(split[0].text), 0.0))  # RankLib's missing values are 0
        return value(split[2] if x <= threshold else split[3], row)

    def score(row):
        return sum(float(tree.get("weight")) * value(tree[0], row) for tree in trees)

    return score


def ranklib_scores(text, X, ids=None):
    score = read_ranklib(text)
    ids = range(1, X.shape[1] + 1) if ids is None else ids
    return [score(dict(zip(ids, row, strict=True))) for row in X]
