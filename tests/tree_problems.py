# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What trees are grown on in tests, and what is compared."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import tree as oracle
from strategies import ranking_problems

from sklearn_ltr.binning import Binner

ARRAYS = ("feature", "bin", "threshold", "missing_right", "left")


def binned_of(X, max_bins=255, n_threads=1):
    rows = np.arange(len(X))
    binner = Binner(max_bins).fit(X, rows)
    return binner, binner.transform(X, rows, n_threads)


def give(leaves, values, l2=0.0):
    """Set the values of the leaves themselves."""
    leaves.set_values(values * (1 + l2), np.ones(len(values)))


def give_means(leaves, target, weight=None):
    leaves.set_values(leaves.sums(target, weight), leaves.sums(np.ones(len(target)), weight))


def assert_same_tree(tree, expected, names=(*ARRAYS, "gain")):
    for name in names:
        assert_array_equal(getattr(tree, name), getattr(expected, name), err_msg=name)


@dataclass
class TreeProblem:
    """What a tree is grown on. All are multiples of 1/8, but for weights that are `wild`."""

    X: np.ndarray
    target: np.ndarray
    weight: np.ndarray | None
    count: np.ndarray | None
    rows: np.ndarray | None
    wild: bool


@st.composite
def tree_problems(draw, *, subsets=True, **options):
    problem = draw(ranking_problems(grades=("five", "negative"), weights=False, **options))
    n = len(problem.y)

    def per_row(elements):
        return np.array(draw(st.lists(elements, min_size=n, max_size=n)), dtype=float)

    target = problem.y - draw(st.sampled_from([0.0, 1.5]))
    kind = draw(st.sampled_from(["none", "none", "whole", "zeros", "eighths", "wild"]))
    weight = {
        "none": lambda: None,
        "whole": lambda: per_row(st.integers(1, 3)),
        "zeros": lambda: per_row(st.integers(0, 2)),
        "eighths": lambda: per_row(st.sampled_from([0.125, 1.0, 2.5])),
        "wild": lambda: per_row(st.just(0.0) | st.floats(0.05, 20.0)),
    }[kind]()
    count = {
        "none": lambda: None,
        "weight": lambda: weight,
        "own": lambda: per_row(st.integers(1, 3)),
    }[draw(st.sampled_from(["none", "none", "weight", "own"]))]()
    if count is weight and kind in ("zeros", "wild"):
        count = None
    rows = None
    if subsets and draw(st.booleans()):
        kept = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
        rows = np.flatnonzero(kept)
    if weight is not None:
        weight[0 if rows is None else rows[0]] = 1.0  # at least one is not 0
    return TreeProblem(problem.X, target, weight, count, rows, kind in ("zeros", "wild"))


def growth_of(problem, thresholds, params):
    params = dict(params)
    return oracle.Growth(
        problem.X,
        problem.target,
        weight=problem.weight,
        count=problem.count,
        thresholds=thresholds,
        l2=params.pop("l2_regularization", 0.0),
        **params,
    )


def assert_monotonic(tree, X, cst):
    for k, sign in enumerate(cst):
        Z = X.copy()
        previous = None
        for value in np.unique(X[~np.isnan(X[:, k]), k]):
            Z[:, k] = value
            predicted = tree.predict(Z)
            if sign and previous is not None:
                assert (sign * (predicted - previous) >= 0).all()
            previous = predicted


def make(n, n_features=4, seed=0, *, missing=0.1, distinct=None):
    """A larger problem of a target that several features explain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    if distinct is not None:
        X = np.floor(X * distinct / 5)
    target = X[:, 0] + np.abs(X[:, 1 % n_features]) + 0.5 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, target
