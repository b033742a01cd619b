# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Symmetric trees and YetiRank beside CatBoost: time of fits and predictions, and size of models.

    python benchmarks/symmetric_trees.py                 # 100,000 rows, 136 features
    python benchmarks/symmetric_trees.py --rows 8000 --quick

The same rows, depth, rounds, learning rate and number of bins; all else is the default of each
library. They take turns, and a ratio is the median over the repeats of the ratio within one: below
1 ours is faster. A fit starts at the array, so that binning, or making a pool, is included. Ours
are stored as JSON and as a pickle, both with all that a warm start needs; CatBoost's as the file of
its own format.
"""

import json
import pickle
from functools import partial

import catboost
import numpy as np
from _data import make_data
from _harness import make_parser, print_head, row, spread, take_turns, timed
from _tree_speed import sizes_of

from sklearn_ltr import RegressionRanker, YetiRank
from sklearn_ltr.export import to_dict

FEW = 100  # rows of a small batch
LOSSES = {
    "least squares": (RegressionRanker(gain="linear", grow_policy="symmetric"), "RMSE"),
    "YetiRank": (YetiRank(random_state=0), "YetiRank"),
}


def fit_ours(ranker, data, params, n_threads):
    X, y, groups = data
    settings = params | {"n_jobs": n_threads, "min_samples_leaf": 1}
    return ranker.set_params(**settings).fit(X, y, groups=groups)


def fit_theirs(loss, data, params, n_threads):
    X, y, groups = data
    queries = np.repeat(np.arange(len(sizes_of(groups))), sizes_of(groups))
    model = catboost.CatBoost(
        {
            "loss_function": loss,
            "iterations": params["n_estimators"],
            "learning_rate": params["learning_rate"],
            "depth": params["max_depth"],
            "border_count": 254,
            "thread_count": n_threads,
            "random_seed": 0,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    return model.fit(catboost.Pool(X, y, group_id=queries, thread_count=n_threads))


def predictor(model, n_threads):
    """A function of rows."""
    if isinstance(model, catboost.CatBoost):
        return partial(model.predict, thread_count=n_threads)
    return model.set_params(n_jobs=n_threads).predict


def seconds_of(predict, batches):
    return timed(lambda: [predict(X) for X in batches])[0][0] / len(batches)


def compare(title, seconds, unit, width=9):
    ours, theirs = (np.array(of_one) for of_one in seconds.values())
    ratio = ours / theirs
    cells = [f"{np.median(ours) * unit:.2f}", f"{np.median(theirs) * unit:.2f}"]
    row(title, [*cells, f"{np.median(ratio):.2f}", spread(ratio)], width + 2, 44)


def main():
    parser = make_parser(__doc__, quick="to see that it runs")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--depths", type=int, nargs="+", default=[6])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.repeats = 5, 1
    data = make_data(args.rows, args.features)
    print_head("catboost")
    print(f"{args.rows} rows, {args.features} features, {args.rounds} rounds")
    row("", ["ours", "CatBoost", "ratio", "range"], 11, 44)
    for name, (ranker, loss) in LOSSES.items():
        for depth in args.depths:
            params = {
                "n_estimators": args.rounds,
                "learning_rate": 0.1,
                "max_depth": depth,
                "max_leaf_nodes": 2**depth,
            }
            models = {}
            for n_threads in args.threads:
                fits = {
                    "ours": partial(fit_ours, ranker, data, params, n_threads),
                    "theirs": partial(fit_theirs, loss, data, params, n_threads),
                }
                seconds = {key: [] for key in fits}
                for _ in range(args.repeats):
                    for key, fit in fits.items():
                        spent, models[key] = timed(fit)
                        seconds[key].append(spent[0])
                title = f"{name}, depth {depth}, {n_threads} thread(s)"
                compare(f"{title}: fit, s", seconds, 1)
                for n_rows, unit, of in ((args.rows, 1e3, "ms"), (FEW, 1e6, "us")):
                    batches = [
                        data[0][i : i + n_rows] for i in range(0, min(20_000, args.rows), n_rows)
                    ]
                    runs = {
                        key: partial(seconds_of, predictor(model, n_threads), batches)
                        for key, model in models.items()
                    }
                    for run in runs.values():
                        run()
                    compare(f"   predict {n_rows} rows, {of}", take_turns(runs, args.repeats), unit)
            ours, theirs = models.values()
            stored = len(json.dumps(to_dict(ours))), len(pickle.dumps(ours))
            sizes = [f"{size / 1024:.0f}" for size in (*stored, len(theirs._serialize_model()))]
            row("   KB: JSON, pickle, CatBoost's file", sizes, 11, 44)


if __name__ == "__main__":
    main()
