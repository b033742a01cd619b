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

Speed. A fit starts at `X` as it is, so that binning is included, and runs in a process of its own;
contenders take turns within each repeat, and a ratio is the median over the repeats of the ratio
within one. Data and measures are those of trees.py.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import islice, product
from pathlib import Path

import numpy as np
import sklearn
from joblib import Parallel, delayed
from scipy.stats import ttest_rel
from trees import (
    DATA_SETS,
    MAX_BINS,
    MIN_SAMPLES_LEAF,
    Settings,
    clock,
    describe,
    installed,
    load,
    memory,
    save,
)

import sklearn_ltr
from sklearn_ltr import LambdaMART, RegressionRanker
from sklearn_ltr.datasets import load_letor_file, load_letor_folds
from sklearn_ltr.metrics import get_metric

REFERENCE = "LightGBM lambdarank"
CRITERION = "ndcg@10"
REPORTED = ("ndcg@10", "ndcg@5", "map")
METRICS = {name: get_metric(name, undefined="skip") for name in REPORTED}

GRID = {
    "leaves": (4, 8, 16, 31),
    "learning_rate": (0.03, 0.1),
    "min_rows": (20, 50),
}

LEAVES = 31  # of speed

# The highest ratio wanted of a fit, at LightGBM's and at XGBoost's.
TARGETS = {REFERENCE: 0.5, "XGBoost rank:ndcg": 0.25}


# Accuracy: contenders ---------------------------------------------------------------------------
#
# Each takes a fold and returns fit(rounds, leaves, learning_rate, min_rows), which returns the
# criterion on the validation part after each round, and a function of a number of rounds that
# scores the test part.


def sizes_of(groups):
    """Rows of each query, in the order of the file."""
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1], [True]]))
    if len(starts) != len(np.unique(groups)) + 1:
        raise ValueError("LightGBM and XGBoost need the rows of a query below one another.")
    return np.diff(starts)


def lightgbm_accuracy(fold, **params):
    import lightgbm

    params = {
        "objective": "lambdarank",
        "metric": "none",
        "deterministic": True,
        "force_row_wise": True,
        "feature_pre_filter": False,  # else the data depend on the least rows in a leaf
        "max_bin": MAX_BINS,
        "num_threads": 1,
        "verbosity": -1,
    } | params
    data, validation = fold.train, fold.validation
    train = lightgbm.Dataset(data.X, data.y, group=sizes_of(data.groups), params=params)
    held_out = train.create_valid(validation.X, validation.y, group=sizes_of(validation.groups))

    def fit(rounds, leaves, learning_rate, min_rows):
        curve = []

        def criterion(scores, _):
            curve.append(METRICS[CRITERION](validation.y, scores, validation.groups))
            return CRITERION, curve[-1], True

        setting = {
            "num_leaves": leaves,
            "learning_rate": learning_rate,
            "min_data_in_leaf": min_rows,
        }
        booster = lightgbm.train(
            params | setting, train, rounds, valid_sets=[held_out], feval=criterion
        )
        return curve, lambda best: booster.predict(fold.test.X, num_iteration=best)

    return fit


def ranker_accuracy(fold, model):
    def fit(rounds, leaves, learning_rate, min_rows):
        ranker = sklearn.clone(model).set_params(
            n_estimators=rounds,
            max_leaf_nodes=leaves,
            learning_rate=learning_rate,
            min_samples_leaf=min_rows,
            max_bins=MAX_BINS,
            scoring=METRICS[CRITERION],
        )
        validation = fold.validation
        ranker.fit(
            fold.train.X,
            fold.train.y,
            groups=fold.train.groups,
            X_val=validation.X,
            y_val=validation.y,
            groups_val=validation.groups,
        )
        return (
            ranker.validation_score_,
            lambda best: next(islice(ranker.staged_predict(fold.test.X), best - 1, None)),
        )

    return fit


CONTENDERS = {
    REFERENCE: lightgbm_accuracy,
    "LambdaMART ndcg@10": partial(ranker_accuracy, model=LambdaMART(metric="ndcg@10")),
    "LambdaMART ndcg": partial(ranker_accuracy, model=LambdaMART(metric="ndcg")),
    "RegressionRanker": partial(ranker_accuracy, model=RegressionRanker()),
}


# Accuracy: data ---------------------------------------------------------------------------------


def letor(folder, parts="S{}"):
    return lambda data: list(load_letor_folds(data / folder, parts=parts))


def mslr_parts(data):
    return [
        load_letor_file(data / "mslr-web10k-sample" / f"{part}.txt.gz", n_features=136)
        for part in ("train", "vali", "test")
    ]


def mslr_split(data):
    parts = mslr_parts(data)
    return [sklearn.utils.Bunch(**dict(zip(("train", "validation", "test"), parts, strict=True)))]


def pooled(read):
    def make(data):
        from ohsumed import five_folds

        return five_folds(read(data))

    return make


def lambdarank_parts(data):
    return [
        load_letor_file(data / "lightgbm-lambdarank" / f"{part}.txt.gz", n_features=300)
        for part in ("train", "test")
    ]


SETS = {
    "mq2008": ("MQ2008, LETOR's folds", letor("mq2008")),
    "ohsumed": ("OHSUMED (query-level normalised), LETOR's folds", letor("ohsumed-letor3-qln")),
    "mslr": ("MSLR-WEB10K sample, split as given", mslr_split),
    "mslr-pooled": ("MSLR-WEB10K sample, pooled, five folds by query", pooled(mslr_parts)),
    "lambdarank": ("LightGBM's lambdarank example, pooled, five folds", pooled(lambdarank_parts)),
    "webtrack": ("Web Track 2009-2012, ClueWeb09", letor("webtrack-clueweb09", parts="T{}")),
}
DEFAULT_SETS = ["mq2008", "ohsumed", "mslr", "mslr-pooled"]


# Accuracy: table --------------------------------------------------------------------------------


def fit_grid(fold, contender, grid, rounds):
    """A dict for each setting: what it is, its rounds, their criterion, test values a metric."""
    fit = CONTENDERS[contender](fold)
    results = []
    for values in product(*grid.values()):
        setting = dict(zip(grid, values, strict=True))
        curve, predict = fit(rounds, **setting)
        best = int(np.argmax(curve))  # the fewest rounds of equals
        scores = predict(best + 1)
        test = {
            name: metric(fold.test.y, scores, fold.test.groups, per_query=True).values
            for name, metric in METRICS.items()
        }
        results.append(
            {"setting": setting, "rounds": best + 1, "validation": curve[best], "test": test}
        )
    return results


def standard_error(values):
    values = values[~np.isnan(values)]
    return values.std(ddof=1) / np.sqrt(len(values))


def accuracy(name, args, grid, rounds):
    title, make = SETS[name]
    folds = make(Path(args.data))
    tests = [fold.test for fold in folds]
    print(
        f"\n{title}: {sum(len(t.y) for t in tests)} test rows, {tests[0].X.shape[1]} features, "
        f"{sum(len(np.unique(t.groups)) for t in tests)} test queries",
        flush=True,
    )
    names = [key for key in CONTENDERS if key in args.contenders]
    tasks = [(key, i) for key in names for i in range(len(folds))]
    done = Parallel(n_jobs=args.jobs)(
        delayed(fit_grid)(folds[i], key, grid, rounds) for key, i in tasks
    )
    results = {key: [] for key in names}
    for (key, _), result in zip(tasks, done, strict=True):
        results[key].append(result)
    chosen = {
        key: [max(fold, key=lambda r: r["validation"]) for fold in by_fold]
        for key, by_fold in results.items()
    }
    values = {
        key: {m: [fold["test"][m] for fold in by_fold] for m in REPORTED}
        for key, by_fold in chosen.items()
    }
    # By setting, then by fold, then by query; the first axis is averaged over.
    whole_grid = {
        key: np.mean(
            [
                np.concatenate([fold[i]["test"][CRITERION] for fold in by_fold])
                for i in range(len(by_fold[0]))
            ],
            axis=0,
        )
        for key, by_fold in results.items()
    }

    print(f"{'':<22}{'NDCG@10':>9}{'s.e.':>8}{'NDCG@5':>9}{'MAP':>9}{'all settings':>14}   by fold")
    for key in names:
        by_fold = {m: [np.nanmean(v) for v in values[key][m]] for m in REPORTED}
        error = standard_error(np.concatenate(values[key][CRITERION]))
        print(
            f"{key:<22}{np.mean(by_fold['ndcg@10']):9.4f}{error:8.4f}"
            f"{np.mean(by_fold['ndcg@5']):9.4f}{np.mean(by_fold['map']):9.4f}"
            f"{np.nanmean(whole_grid[key]):14.4f}   "
            + " ".join(f"{value:.4f}" for value in by_fold["ndcg@10"])
        )
    print("Chosen: leaves, learning rate, least rows in a leaf, rounds")
    for key in names:
        cells = [
            "/".join(f"{value:g}" for value in (*fold["setting"].values(), fold["rounds"]))
            for fold in chosen[key]
        ]
        print(f"{key:<22}" + "".join(f"{cell:>16}" for cell in cells))
    if REFERENCE not in names or len(names) == 1:
        return
    print(f"Minus {REFERENCE}, all test queries: difference (s.e.), p of the paired t-test")
    heads = [*(m.upper() for m in REPORTED), "NDCG@10, all settings"]
    print(f"{'':<22}" + "".join(f"{head:>27}" for head in heads))
    for key in names:
        if key == REFERENCE:
            continue
        pairs = [[np.concatenate(values[k][m]) for k in (key, REFERENCE)] for m in REPORTED]
        pairs.append([whole_grid[k] for k in (key, REFERENCE)])
        print(f"{key:<22}" + "".join(f"{test_of(*pair):>27}" for pair in pairs), flush=True)


def test_of(ours, theirs):
    known = ~np.isnan(ours)
    ours, theirs = ours[known], theirs[known]
    if np.array_equal(ours, theirs):
        return "+.0000"
    difference = ours - theirs
    return (
        f"{difference.mean():+.4f} ({standard_error(difference):.4f}) "
        f"p={ttest_rel(ours, theirs).pvalue:.3f}"
    )


# Speed ------------------------------------------------------------------------------------------
#
# Each takes a `Namespace` of settings and imports its library, and returns fit(X, y, groups), which
# returns predict(X).


def lightgbm_speed(settings):
    import lightgbm

    params = {
        "objective": "lambdarank",
        "metric": "none",
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": MIN_SAMPLES_LEAF,
        "max_bin": MAX_BINS,
        "num_threads": settings.n_threads,
        "verbosity": -1,
    }

    def fit(X, y, groups):
        data = lightgbm.Dataset(X, y, group=sizes_of(groups), params=params)
        booster = lightgbm.train(params, data, settings.rounds)
        return lambda X: booster.predict(X, num_threads=settings.n_threads)

    return fit


def xgboost_speed(settings):
    import xgboost

    params = {
        "objective": "rank:ndcg",
        "lambdarank_pair_method": "topk",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "reg_lambda": 0.0,
        "max_bin": MAX_BINS,
        "nthread": settings.n_threads,
        "verbosity": 0,
    }

    def fit(X, y, groups):
        data = xgboost.QuantileDMatrix(
            X, y, group=sizes_of(groups), max_bin=MAX_BINS, nthread=settings.n_threads
        )
        return xgboost.train(params, data, settings.rounds).inplace_predict

    return fit


def ranker_speed(settings, metric):
    ranker = LambdaMART(
        metric=metric,
        n_estimators=settings.rounds,
        learning_rate=settings.learning_rate,
        max_leaf_nodes=settings.leaves,
        min_samples_leaf=MIN_SAMPLES_LEAF,
        max_bins=MAX_BINS,
        n_jobs=settings.n_threads,
    )

    def fit(X, y, groups):
        ranker.fit(X, y, groups=groups)
        return ranker.predict

    return fit


# Name, what makes it, distribution.
SPEED_CONTENDERS = {
    REFERENCE: (lightgbm_speed, "lightgbm"),
    "LambdaMART ndcg@10": (partial(ranker_speed, metric="ndcg@10"), "sklearn_ltr"),
    "LambdaMART ndcg": (partial(ranker_speed, metric="ndcg"), "sklearn_ltr"),
    "XGBoost rank:ndcg": (xgboost_speed, "xgboost"),
}


def run_child(settings):
    """Fit, predict and score one contender; prints a JSON object."""
    fit = SPEED_CONTENDERS[settings.contender][0](settings)
    X, y, groups = load(settings.folder, "train")
    start = clock()
    predict = fit(X, y, groups)
    wall, cpu = clock() - start
    out = {"fit": wall, "cpu": cpu, "peak": memory()[1]}
    X, y, groups = load(settings.folder, "test")
    times = []
    for _ in range(3):
        start = clock()
        scores = predict(X)
        times.append((clock() - start)[0])
    print(json.dumps(out | {"predict": min(times), "ndcg": METRICS[CRITERION](y, scores, groups)}))


def measure(folder, contender, n_threads, args):
    settings = {
        "folder": str(folder),
        "contender": contender,
        "n_threads": n_threads,
        "rounds": args.speed_rounds,
        "leaves": LEAVES,
        "learning_rate": 0.1,
    }
    command = [sys.executable, __file__, "--child", json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{contender} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def speed(name, args):
    title, make = DATA_SETS[name]
    names = [key for key, (_, distribution) in SPEED_CONTENDERS.items() if installed(distribution)]
    runs = {n_threads: {key: [] for key in names} for n_threads in args.threads}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(args.repeats):
            parts = dict(zip(("train", "test"), make(args, repeat), strict=True))
            for part, data in parts.items():
                save(folder, part, *data)
            if repeat == 0:
                print(f"\n{title}: {describe(parts['train'][0], parts['train'][2])}", flush=True)
            del parts, data
            for n_threads, by_contender in runs.items():
                for key, done in by_contender.items():
                    done.append(measure(folder, key, n_threads, args))
    for n_threads, by_contender in runs.items():
        print(f"\n{n_threads} thread(s), {args.speed_rounds} rounds, {args.repeats} repeats")
        print_speed(by_contender)


def print_speed(runs):
    columns = {
        key: {m: np.array([run[m] for run in done]) for m in done[0]} for key, done in runs.items()
    }
    print(f"{'':<22}{'fit s':>9}{'CPU s':>9}{'predict s':>11}{'peak MB':>9}{'NDCG@10':>9}")
    for key, values in columns.items():
        medians = {m: np.median(v) for m, v in values.items()}
        print(
            f"{key:<22}{medians['fit']:9.2f}{medians['cpu']:9.2f}{medians['predict']:11.3f}"
            f"{medians['peak']:9.0f}{values['ndcg'].mean():9.4f}"
        )
    for key, (peer, target) in product(columns, TARGETS.items()):
        if not key.startswith("LambdaMART") or peer not in columns:
            continue
        ratios = {m: columns[key][m] / columns[peer][m] for m in columns[key]}
        median = {m: np.median(ratio) for m, ratio in ratios.items()}
        print(
            f"{key} over {peer}: fit {median['fit']:.2f} "
            f"({ratios['fit'].min():.2f}-{ratios['fit'].max():.2f}), CPU {median['cpu']:.2f}, "
            f"predict {median['predict']:.2f}, peak {median['peak']:.2f}"
            + (f"  MISSED: fit (at most {target:g})" if median["fit"] > target else ""),
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tables, speed_sets = ["accuracy", "speed"], ["dense", "sparse", "mslr"]
    parser.add_argument("--data", default=os.environ.get("SKLEARN_LTR_DATA"))
    parser.add_argument("--tables", nargs="+", choices=tables, default=tables)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=DEFAULT_SETS)
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
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run_child(Settings(**args.child))
        return
    if args.speed_sets is None:
        args.speed_sets = speed_sets if args.data else speed_sets[:2]
    if args.data is None and ("accuracy" in args.tables or "mslr" in args.speed_sets):
        parser.error("give --data, set SKLEARN_LTR_DATA or ask for --tables speed")
    grid = GRID
    if args.quick:
        grid = {key: values[:1] for key, values in GRID.items()}
        args.rounds, args.rows, args.speed_rounds, args.repeats = 20, 5_000, 10, 1

    from stump_round import cpu_name

    packages = {name: installed(name) for name in ("lightgbm", "xgboost", "numpy", "scipy")}
    print(
        f"sklearn_ltr {sklearn_ltr.__version__}, "
        + ", ".join(f"{name} {number or 'not installed'}" for name, number in packages.items())
        + f", Python {platform.python_version()}\n{time.strftime('%d %b %Y')}, {cpu_name()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {MAX_BINS} bins"
    )
    if "accuracy" in args.tables:
        print(f"Accuracy: rounds 1..{args.rounds}, {grid}")
        for name in args.sets:
            accuracy(name, args, grid, args.rounds)
    if "speed" in args.tables:
        for name in args.speed_sets:
            speed(name, args)


if __name__ == "__main__":
    main()
