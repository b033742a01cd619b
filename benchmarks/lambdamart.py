# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LambdaMART beside LightGBM's lambdarank: how well both rank, and what a fit costs.

    python benchmarks/lambdamart.py --data DIR [--sets mq2008 ohsumed mslr mslr-pooled]
    python benchmarks/lambdamart.py --tables speed [--speed-sets dense sparse] [--threads 1 2]
    python benchmarks/lambdamart.py --data DIR --quick

Accuracy. Each contender gets the same grid of leaves, learning rates, least rows in a leaf and
rounds, and takes what is best on the validation part by NDCG@10, ties averaged and queries without
a relevant row left out; the test part is scored once. What one choice of the grid is worth is small
beside the noise of choosing, so the mean over all settings, each with its own rounds by validation,
is shown too: there two contenders meet at equal settings. All else is at its default: LightGBM has
`lambdarank_truncation_level=30`, `lambdarank_norm`, at least 3 rows in a bin and a least sum of
hessians in a leaf of .001, for which ours has no counterpart. LightGBM breaks ties of scores, which
are all equal before the first round, by the order of the file; LambdaMART averages over them.

The mean is over the folds, the standard error and the paired t-test over all test queries.

Speed. Fits of `_tree_speed.py`, on data of trees.py.
"""

from functools import partial
from itertools import product

import numpy as np
from _accuracy import best_round, evaluate, fit_all, means, paired_test, standard_error
from _data import FOLDS, SPEED_SETS, describe, describe_tests, load_folds
from _harness import make_parser, print_head, require_data, row
from _peers import boosted, lightgbm
from _tree_speed import MAX_BINS, available, print_table, run_turns

from sklearn_ltr import LambdaMART, RegressionRanker
from sklearn_ltr.metrics import get_metric

REFERENCE = "LightGBM lambdarank"
CRITERION = "ndcg@10"
REPORTED = ("ndcg@10", "ndcg@5", "map")
METRICS = {name: get_metric(name, undefined="skip") for name in REPORTED}

GRID = {
    "max_leaf_nodes": (4, 8, 16, 31),
    "learning_rate": (0.03, 0.1),
    "min_samples_leaf": (20, 50),
}

LEAVES = 31  # of speed

# What takes part in the table of speed, and the highest ratios wanted.
SPEED_CONTENDERS = ["LambdaMART ndcg@10", "LambdaMART ndcg", "LightGBM", "XGBoost"]
TARGETS = {"LightGBM": {"fit": 0.5}, "XGBoost": {"fit": 0.25}}

# As `_peers.py` has them: fit(train, setting, rounds, validation).
CONTENDERS = {
    REFERENCE: partial(
        lightgbm, "lambdarank", deterministic=True, force_row_wise=True, max_bin=MAX_BINS
    ),
    "LambdaMART ndcg@10": partial(boosted, LambdaMART(metric="ndcg@10", max_bins=MAX_BINS)),
    "LambdaMART ndcg": partial(boosted, LambdaMART(metric="ndcg", max_bins=MAX_BINS)),
    "RegressionRanker": partial(boosted, RegressionRanker(max_bins=MAX_BINS)),
}

SETS = ["mq2008", "ohsumed", "mslr", "mslr-pooled", "lambdarank", "webtrack"]
DEFAULT_SETS = SETS[:4]


def fit_grid(fold, contender, grid, rounds):
    """A dict for each setting: what it is, its rounds, their criterion, scores of the test part."""
    results = []
    for values in product(*grid.values()):
        setting = dict(zip(grid, values, strict=True))
        fitted = CONTENDERS[contender](fold.train, setting, rounds, fold.validation)
        best = best_round(fitted.curve)
        results.append(
            {
                "setting": setting,
                "rounds": best,
                "validation": fitted.curve[best - 1],
                "scores": fitted.scores(fold.test, best),
            }
        )
    return results


def accuracy(name, args, grid, rounds):
    folds = load_folds(name, args.data)
    print(f"\n{FOLDS[name][0]}: {describe_tests(folds)}", flush=True)
    names = [key for key in CONTENDERS if key in args.contenders]
    fit = partial(fit_grid, grid=grid, rounds=rounds)
    results = fit_all(fit, names, folds, args.jobs)
    chosen = {
        key: [max(fold, key=lambda r: r["validation"]) for fold in by_fold]
        for key, by_fold in results.items()
    }
    values = {
        key: evaluate(folds, [fold["scores"] for fold in by_fold], METRICS)
        for key, by_fold in chosen.items()
    }
    # By setting, then by query; the first axis is averaged over.
    criterion = {CRITERION: METRICS[CRITERION]}
    whole_grid = {}
    for key, by_fold in results.items():
        settings = zip(*by_fold, strict=True)
        found = [evaluate(folds, [f["scores"] for f in fits], criterion) for fits in settings]
        whole_grid[key] = np.mean([np.concatenate(v[CRITERION]) for v in found], axis=0)

    print(f"{'':<22}{'NDCG@10':>9}{'s.e.':>8}{'NDCG@5':>9}{'MAP':>9}{'all settings':>14}   by fold")
    for key in names:
        found, ndcg = means(values[key]), values[key][CRITERION]
        print(
            f"{key:<22}{found['ndcg@10']:9.4f}{standard_error(np.concatenate(ndcg)):8.4f}"
            f"{found['ndcg@5']:9.4f}{found['map']:9.4f}{np.nanmean(whole_grid[key]):14.4f}   "
            + " ".join(f"{np.nanmean(value):.4f}" for value in ndcg)
        )
    print("Chosen: leaves, learning rate, least rows in a leaf, rounds")
    for key in names:
        cells = [
            "/".join(f"{value:g}" for value in (*fold["setting"].values(), fold["rounds"]))
            for fold in chosen[key]
        ]
        row(key, cells, 16, 22)
    if REFERENCE not in names or len(names) == 1:
        return
    print(f"Minus {REFERENCE}, all test queries: difference (s.e.), p of the paired t-test")
    heads = [*(m.upper() for m in REPORTED), "NDCG@10, all settings"]
    row("", heads, 27, 22)
    for key in names:
        if key == REFERENCE:
            continue
        pairs = [[np.concatenate(values[k][m]) for k in (key, REFERENCE)] for m in REPORTED]
        pairs.append([whole_grid[k] for k in (key, REFERENCE)])
        row(key, [test_of(*pair) for pair in pairs], 27, 22)


def test_of(ours, theirs):
    difference, error, p = paired_test(ours, theirs)
    return f"{difference:+.4f} ({error:.4f}) p={p:.3f}"


def speed(name, args):
    title, make = SPEED_SETS[name]
    settings = {"task": "lambdarank", "rounds": args.speed_rounds, "leaves": LEAVES}
    names = available(SPEED_CONTENDERS)
    problems = [
        (settings | {"learning_rate": 0.1, "n_threads": n_threads}, names)
        for n_threads in args.threads
    ]

    def begin(train, test):
        print(f"\n{title}: {describe(train[0], train[2])}", flush=True)

    results = run_turns(partial(make, args), args.repeats, problems, begin)
    for n_threads, runs in zip(args.threads, results, strict=True):
        print(f"\n{n_threads} thread(s), {args.speed_rounds} rounds, {args.repeats} repeats")
        print_table(runs, names[:2], TARGETS)


def main():
    parser = make_parser(
        __doc__, data="folder of the real sets", quick="small, to see that it runs"
    )
    tables, speed_sets = ["accuracy", "speed"], ["dense", "sparse", "mslr"]
    parser.add_argument("--tables", nargs="+", choices=tables, default=tables)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=DEFAULT_SETS)
    names = list(CONTENDERS)
    parser.add_argument("--contenders", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=300, help="most rounds, of accuracy")
    parser.add_argument("--jobs", type=int, default=1, help="processes, of accuracy")
    parser.add_argument("--speed-sets", nargs="+", choices=speed_sets, help="all there is data for")
    parser.add_argument("--speed-rounds", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3, help="of speed, each with its own data")
    parser.add_argument("--rows", type=int, default=100_000, help="a multiple of 100")
    parser.add_argument("--features", type=int, default=136, help="of the dense set")
    parser.add_argument("--density", type=float, default=0.05, help="of the sparse set")
    args = parser.parse_args()
    if args.speed_sets is None:
        args.speed_sets = speed_sets if args.data else speed_sets[:2]
    if "accuracy" in args.tables or "mslr" in args.speed_sets:
        require_data(parser, args, "--tables speed")
    grid = GRID
    if args.quick:
        grid = {key: values[:1] for key, values in GRID.items()}
        args.rounds, args.rows, args.speed_rounds, args.repeats = 20, 5_000, 10, 1
    print_head("lightgbm", "xgboost")
    if "accuracy" in args.tables:
        print(f"Accuracy: rounds 1..{args.rounds}, {grid}")
        for name in args.sets:
            accuracy(name, args, grid, args.rounds)
    if "speed" in args.tables:
        for name in args.speed_sets:
            speed(name, args)


if __name__ == "__main__":
    main()
