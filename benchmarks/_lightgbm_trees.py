# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trees of LightGBM, so that both sides do the same work."""

from types import SimpleNamespace

import lightgbm
import numpy as np

TRAINING_ROWS = 20_000


def train(data, n_leaves, n_trees, n_classes):
    X, y, _ = data
    params = {
        "num_leaves": n_leaves,
        "learning_rate": 0.05,
        "num_threads": 1,  # on a busy machine faster than one a core
        "verbosity": -1,
    }
    if n_classes > 1:
        params.update(objective="multiclass", num_class=n_classes)
    dataset = lightgbm.Dataset(X[:TRAINING_ROWS], y[:TRAINING_ROWS], params=params)
    return lightgbm.train(params, dataset, n_trees // n_classes)


def read_tree(root):
    """A tree of LightGBM's dump as arrays."""
    nodes, left = [root], []
    for node in nodes:  # which grows
        left.append(len(nodes) if "split_feature" in node else 0)
        if "split_feature" in node:
            nodes += [node["left_child"], node["right_child"]]
    return SimpleNamespace(
        feature=np.array([node.get("split_feature", -1) for node in nodes], dtype=np.int32),
        threshold=np.array([node.get("threshold", 0.0) for node in nodes]),
        missing_right=np.array([not node.get("default_left", True) for node in nodes]),
        left=np.array(left, dtype=np.int32),
        value=np.array([node.get("leaf_value", 0.0) for node in nodes]),
        has_categories=False,
    )
