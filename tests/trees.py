# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of rankers with trees share: rows, weights and parameters."""

import numpy as np
from hypothesis import strategies as st

SMALL = {"n_estimators": 8, "max_leaf_nodes": 5, "min_samples_leaf": 3, "learning_rate": 0.3}


def make(seed=0, n_queries=25, *, missing=0.1, grades=5):
    """Queries of 1 to 9 rows whose grades depend on two features; few distinct values."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(1, 10, n_queries))
    X = np.round(2 * rng.normal(size=(len(groups), 4)), 1)
    y = np.clip(np.round(1.5 + 0.5 * X[:, 0] + 0.3 * np.abs(X[:, 2])), 0, grades - 1)
    y = np.where(rng.random(len(y)) < 0.2, rng.integers(0, grades, len(y)), y)
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 3] = np.nan_to_num(X[:, 3])
    order = rng.permutation(len(groups))
    return X[order], y[order], groups[order]


@st.composite
def weights(draw, n):
    """A `sample_weight`, and whether trees see it without rounding."""
    kind = draw(st.sampled_from(["none", "none", "whole", "fractions"]))
    if kind == "none":
        return None, True
    element = st.integers(0, 3) if kind == "whole" else st.sampled_from([0.0, 0.7, 1.0, 2.5])
    weight = draw(st.lists(element, min_size=n, max_size=n).filter(any))
    return np.array(weight, dtype=float), kind == "whole"


def row_weights(query_weight, sample_weight, n):
    """Weight of each row in the loss, and what it counts: query weights are 1 on average."""
    count = np.ones(n) if sample_weight is None else sample_weight
    of_query = np.ones(n) if query_weight is None else query_weight
    kept = of_query * count > 0
    if not kept.any():
        return np.zeros(n), count
    return of_query / np.average(of_query[kept], weights=count[kept]) * count, count


parameters = {
    "learning_rate": st.sampled_from([0.3, 1.0]),
    "max_leaf_nodes": st.sampled_from([2, 3, 4]),
    "max_depth": st.sampled_from([None, None, 1, 2]),
    "min_samples_leaf": st.integers(1, 3),
    "l2_regularization": st.sampled_from([0.0, 0.0, 1.0]),
    "max_bins": st.sampled_from([255, None]),
}

# For a search.
GRID = {
    "learning_rate": [0.1, 1.0],
    "max_leaf_nodes": [2, 6],
    "n_estimators": [2, 10],
}

INVALID = [
    {"max_leaf_nodes": 1},
    {"max_leaf_nodes": 2.5},
    {"max_leaf_nodes": None},
    {"max_depth": 0},
    {"max_depth": 1.5},
    {"min_samples_leaf": 0},
    {"min_samples_leaf": 0.5},
    {"l2_regularization": -1e-3},
    {"l2_regularization": np.nan},
    {"l2_regularization": np.inf},
    {"max_features": 0.0},
    {"max_features": 1.01},
    {"max_features": -0.5},
    {"max_features": np.nan},
    {"max_features": "sqrt"},
    {"subsample": 0.0},
    {"subsample": 1.5},
    {"subsample": np.nan},
    {"monotonic_cst": [1, 0, 0]},
    {"monotonic_cst": [1, 0, 0, 2]},
    {"monotonic_cst": [0.5, 0, 0, 0]},
    {"monotonic_cst": [[1, 0, 0, 0]]},
    {"binning": "uniform"},
    {"learning_rate": 0.0},
    {"n_estimators": 0},
    {"max_bins": 1},
]
