# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Write models as this version stores them, with rows and the scores that they give.

Run it where what is stored has changed, and into a new folder beside this file: what is here
already must load in every later version.

    python tests/export/stored/write.py FOLDER
"""

import inspect
import json
import sys
from pathlib import Path

import numpy as np

from sklearn_ltr.export import scoring, to_dict
from sklearn_ltr.losses import SquaredHinge

# Each where a ranker has the parameter.
PARAMS = {
    "n_estimators": 4,
    "max_leaf_nodes": 5,
    "min_samples_leaf": 2,
    "max_bins": 12,
    "max_features": 0.75,
    "subsample": 0.8,
    "monotonic_cst": [1, 0, 0, -1],
    "interaction_cst": [[0, 1], [1, 2, 3]],
    "categorical_features": [1],
    "min_samples_category": 2,
    "method": "ordinal",
    "grade_values": [0.0, 1.0, 3.0, 7.0],
    "early_stopping": True,
    "validation_fraction": 0.3,
    "random_state": 0,
    "warm_start": True,
    "hidden_layer_sizes": (3, 2),
    "max_iter": 5,
    "C": 0.1,
    "tol": 0.01,
}


def make_data():
    """Rows with missing values in three of four features; two are of whole numbers."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(16), 6)
    X = np.round(rng.normal(size=(len(groups), 4)), 3)
    X[:, 1] = np.round(np.abs(X[:, 1]) * 4) % 5
    X[:, 3] = np.round(X[:, 3] * 2)
    effect = X[:, 0] - 0.5 * X[:, 3] + X[:, 1] % 2
    y = np.clip(np.round(1 + effect + 0.2 * rng.normal(size=len(X))), 0, 3)
    X[rng.random(X.shape) < 0.15] = np.nan
    X[np.isnan(X[:, 2]), 2] = 0.0
    return X, y, groups


def make(R):
    names = inspect.signature(R).parameters
    params = {name: value for name, value in PARAMS.items() if name in names}
    return R(**params, **({"loss": SquaredHinge(margin=0.5)} if R.__name__ in LOSS_OF else {}))


LOSS_OF = ("QuadraticBoosting", "LossRanker")


def main(folder):
    X, y, groups = make_data()
    rows = X[:48]
    for name, R in (scoring.RANKERS | scoring.LINEAR).items():
        if name in scoring.LINEAR:
            X, rows = np.nan_to_num(X), np.nan_to_num(rows)
        ranker = make(R).fit(X, y, groups)
        stored = {
            "model": to_dict(ranker),
            "X": [[None if np.isnan(x) else x for x in row] for row in rows.tolist()],
            "scores": ranker.predict(rows).tolist(),
        }
        text = json.dumps(stored, allow_nan=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
