# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What RegressionRanker and McRank cost beside other gradient boosting, and how well both rank.

    python benchmarks/trees.py [--data-sets dense sparse mslr] [--tasks regression classification]
                               [--threads 1 2] [--ordinal] [--growth] [--memory] [--big] [--quick]

Every contender gets the same rows, rounds, leaves, learning rate, least rows in a leaf and number
of bins, and neither row nor column sampling, early stopping or regularisation. Regression is on
2^y - 1, and all but CatBoost grow a tree a class and round for classification, whose score is the
expected grade. What could not be made equal:

- XGBoost has no least number of rows. For regression its `min_child_weight`, a sum of hessians, is
  that; for classification it stays at its default, 1.
- CatBoost grows trees leaf by leaf too (`grow_policy="Lossguide"`), but one tree a round for all
  classes, with a value for each of them.
- scikit-learn's histogram boosting takes no sparse matrix; the dense copy is part of its time.
- XGBoost takes what a sparse matrix leaves out as missing, all others as 0.

A fit starts at `X` as it is, so that binning is included; a prediction takes rows of other queries.
Each fit runs in a process of its own, which imports only what it needs. "Added" memory is the peak
of the fit less what the process had just before, with the training rows loaded.

Contenders take turns within each repeat, and a ratio is the median over the repeats of the ratio
within one, so that a slow spell of a shared machine meets both sides. Each repeat has data of its
own: another draw, or for real data another split by query. The differences of NDCG@10 are of equal
data, so that what the draws differ in is not in their standard deviation.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

MB = 2**20
MAX_BINS = 255
MIN_SAMPLES_LEAF = 20
N_DOCS = 100
OURS = "sklearn_ltr"
ORDINAL = "sklearn_ltr, ordinal"

# The highest ratios wanted, of a fit and of a prediction, and of peak memory.
TARGETS = {
    "LightGBM": {"fit": 0.4, "predict": 0.4, "peak": 1.2},
    "XGBoost": {"fit": 0.25},
    "scikit-learn": {"fit": 0.25},
}

# Contenders -------------------------------------------------------------------------------------
#
# Each takes a `Namespace` of settings and imports its library, and returns fit(X, y, groups), which
# returns predict(X): scores for regression, probabilities of the grades for classification.


def sklearn_ltr_contender(settings, **params):
    from sklearn_ltr import McRank, RegressionRanker

    ranker = {"regression": RegressionRanker, "classification": McRank}[settings.task](
        n_estimators=settings.rounds,
        learning_rate=settings.learning_rate,
        max_leaf_nodes=settings.leaves,
        min_samples_leaf=MIN_SAMPLES_LEAF,
        max_bins=MAX_BINS,
        n_jobs=settings.n_threads,
        **params,
    )

    def fit(X, y, groups):
        ranker.fit(X, y, groups=groups)
        return ranker.predict  # expected grades, of McRank too

    return fit


def lightgbm_contender(settings, **params):
    import lightgbm

    classes = {"objective": "multiclass", "num_class": settings.n_grades}
    params |= {
        **({"objective": "regression"} if settings.task == "regression" else classes),
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": MIN_SAMPLES_LEAF,
        "max_bin": MAX_BINS,
        "metric": "none",
        "num_threads": settings.n_threads,
        "verbosity": -1,
    }

    def fit(X, y, groups):
        data = lightgbm.Dataset(X, settings.target(y), params=params)
        booster = lightgbm.train(params, data, settings.rounds)
        return lambda X: booster.predict(X, num_threads=settings.n_threads)

    return fit


def xgboost_contender(settings):
    import xgboost

    regression = {"objective": "reg:squarederror", "min_child_weight": MIN_SAMPLES_LEAF}
    classes = {"objective": "multi:softprob", "num_class": settings.n_grades}
    params = {
        **(regression if settings.task == "regression" else classes),
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
            X, settings.target(y), max_bin=MAX_BINS, nthread=settings.n_threads
        )
        return xgboost.train(params, data, settings.rounds).inplace_predict

    return fit


def catboost_contender(settings):
    import catboost

    model = catboost.CatBoost(
        {
            "loss_function": "RMSE" if settings.task == "regression" else "MultiClass",
            "iterations": settings.rounds,
            "learning_rate": settings.learning_rate,
            "grow_policy": "Lossguide",
            "max_leaves": settings.leaves,
            "max_depth": 16,  # the most it allows
            "min_data_in_leaf": MIN_SAMPLES_LEAF,
            "border_count": MAX_BINS - 1,
            "boosting_type": "Plain",
            "bootstrap_type": "No",
            "random_strength": 0,
            "l2_leaf_reg": 0,
            "leaf_estimation_iterations": 1,
            "thread_count": settings.n_threads,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    kind = "RawFormulaVal" if settings.task == "regression" else "Probability"

    def fit(X, y, groups):
        model.fit(catboost.Pool(X, settings.target(y), thread_count=settings.n_threads))
        return lambda X: model.predict(X, prediction_type=kind, thread_count=settings.n_threads)

    return fit


def histogram_contender(settings):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    models = {
        "regression": HistGradientBoostingRegressor,
        "classification": HistGradientBoostingClassifier,
    }
    model = models[settings.task](
        max_iter=settings.rounds,
        learning_rate=settings.learning_rate,
        max_leaf_nodes=settings.leaves,
        min_samples_leaf=MIN_SAMPLES_LEAF,
        max_bins=MAX_BINS,
        early_stopping=False,
    )

    def dense(X):
        return X.toarray() if sparse.issparse(X) else X

    def fit(X, y, groups):
        with threadpool_limits(settings.n_threads):
            model.fit(dense(X), settings.target(y))
        return predict

    def predict(X):
        method = model.predict if settings.task == "regression" else model.predict_proba
        with threadpool_limits(settings.n_threads):
            return method(dense(X))

    return fit


# Name, what makes it, further parameters, distribution.
CONTENDERS = {
    OURS: (sklearn_ltr_contender, {}, "sklearn_ltr"),
    ORDINAL: (sklearn_ltr_contender, {"method": "ordinal"}, "sklearn_ltr"),
    "LightGBM": (lightgbm_contender, {}, "lightgbm"),
    "LightGBM, quantised": (lightgbm_contender, {"use_quantized_grad": True}, "lightgbm"),
    "XGBoost": (xgboost_contender, {}, "xgboost"),
    "CatBoost": (catboost_contender, {}, "catboost"),
    "scikit-learn": (histogram_contender, {}, "scikit-learn"),
}


def installed(distribution):
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def contenders_for(task, args):
    """Names of those that take part."""
    names = [OURS, *args.contenders]
    if args.ordinal and task == "classification":
        names.insert(1, ORDINAL)
    return [name for name in names if installed(CONTENDERS[name][2])]


# A fit in a process of its own ------------------------------------------------------------------


class Settings(argparse.Namespace):
    """Settings of one fit."""

    def target(self, y):
        return 2**y - 1 if self.task == "regression" else y


def memory():
    """Megabytes the process has now, and the most it has had."""
    try:
        status = Path("/proc/self/status").read_text().split()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak /= MB if sys.platform == "darwin" else 1024
        return peak, peak
    # Not getrusage on Linux: there a child starts from the peak of its parent.
    return tuple(int(status[status.index(f"{name}:") + 1]) / 1024 for name in ("VmRSS", "VmHWM"))


def save(folder, part, X, y, groups):
    arrays = {"y": y, "groups": groups}
    if sparse.issparse(X):
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        arrays["X"] = X
    Path(folder, part).mkdir(exist_ok=True)
    for old in Path(folder, part).iterdir():
        old.unlink()
    for name, array in arrays.items():
        np.save(Path(folder, part, name), array)


def load(folder, part):
    arrays = {file.stem: np.load(file) for file in Path(folder, part).iterdir()}
    X = arrays.get("X")
    if X is None:
        content = arrays["data"], arrays["indices"], arrays["indptr"]
        X = sparse.csr_matrix(content, shape=tuple(arrays["shape"]))
    return X, arrays["y"], arrays["groups"]


def clock():
    return np.array([time.perf_counter(), time.process_time()])


def run_child(settings):
    """Fit, predict and score one contender; prints a JSON object."""
    make, params, _ = CONTENDERS[settings.contender]
    fit = make(settings, **params)
    X, y, groups = load(settings.folder, "train")
    before, start = memory()[0], clock()
    predict = fit(X, y, groups)
    wall, cpu = clock() - start
    peak = memory()[1]
    out = {"fit": wall, "cpu": cpu, "peak": peak, "added": peak - before}

    if settings.predictions:
        del X
        from sklearn_ltr.metrics import get_metric

        X, y, groups = load(settings.folder, "test")
        times = []
        for _ in range(settings.predictions):
            start = clock()
            scores = predict(X)
            if scores.ndim == 2:
                scores = scores @ np.arange(scores.shape[1])
            times.append((clock() - start)[0])
        out |= {"predict": min(times), "ndcg": get_metric("ndcg@10")(y, scores, groups)}
    print(json.dumps(out))


def rounds_of(task, args):
    return args.rounds if task == "regression" else args.class_rounds


def measure(folder, contender, task, n_threads, args, rounds=None, predictions=3):
    settings = {
        "folder": str(folder),
        "contender": contender,
        "task": task,
        "n_threads": n_threads,
        "rounds": rounds or rounds_of(task, args),
        "leaves": args.leaves,
        "learning_rate": args.learning_rate,
        "n_grades": int(np.load(Path(folder, "train", "y.npy")).max()) + 1,
        "predictions": predictions,
    }
    command = [sys.executable, __file__, "--child", json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{contender} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


# Data -------------------------------------------------------------------------------------------
#
# Each takes the options and a seed, and returns the training and the test part: (X, y, groups).


def split(X, y, groups, train):
    return (X[train], y[train], groups[train]), (X[~train], y[~train], groups[~train])


def dense_data(args, seed):
    from stump_round import make_data  # not above, as it imports LightGBM

    X, y, groups = make_data(args.rows + args.rows // 2, args.features, seed=seed)
    return split(X, y, groups, groups < args.rows // N_DOCS)


def grades(utility, n_grades=5):
    """Grades that cut the utilities; each is half as frequent as the one below."""
    shares = np.cumsum(0.5 ** np.arange(n_grades))
    return np.searchsorted(np.quantile(utility, shares[:-1] / shares[-1]), utility).astype(float)


def sparse_data(args, seed, n_features=300, n_informative=30):
    """Counts of terms: few frequent, many rare, `args.density` of all not 0.

    The utility is a sum of logarithms of 1 + count of some terms, and of products of these, with
    an effect of the query and noise.
    """
    rng = np.random.default_rng(seed)
    n_queries = (args.rows + args.rows // 2) // N_DOCS
    n_rows = n_queries * N_DOCS
    frequency = rng.permutation(1 / np.arange(10, n_features + 10))
    frequency *= args.density / frequency.mean()
    columns = [np.flatnonzero(rng.random(n_rows) < share) for share in np.minimum(frequency, 0.9)]
    indptr = np.cumsum([0] + [len(rows) for rows in columns])
    counts = rng.geometric(0.4, indptr[-1]).astype(float)
    X = sparse.csc_matrix((counts, np.concatenate(columns), indptr), shape=(n_rows, n_features))
    terms = X[:, np.argsort(-frequency)[: 2 * n_informative : 2]].log1p().toarray()
    utility = terms @ rng.standard_normal(n_informative)
    utility += (terms * terms[:, rng.permutation(n_informative)]).sum(axis=1)
    utility /= utility.std()
    groups = np.repeat(np.arange(n_queries), N_DOCS)
    utility += 0.3 * rng.standard_normal(n_queries)[groups] + 0.5 * rng.standard_normal(n_rows)
    return split(X.tocsr(), grades(utility), groups, groups < args.rows // N_DOCS)


def real_data(folder, parts, n_features, is_sparse):
    """A real set: its parts pooled, and a third of the queries drawn to test on."""

    def make(args, seed):
        from sklearn_ltr.datasets import load_letor_file

        read = [
            load_letor_file(
                Path(args.data, folder, f"{part}.txt.gz"), n_features=n_features, sparse=is_sparse
            )
            for part in parts
        ]
        X = (sparse.vstack if is_sparse else np.vstack)([part.X for part in read])
        y, groups = (np.concatenate([part[name] for part in read]) for name in ("y", "groups"))
        queries = np.random.default_rng(seed).permutation(np.unique(groups))
        return split(X, y, groups, ~np.isin(groups, queries[: len(queries) // 3]))

    return make


DATA_SETS = {
    "dense": ("make_ranking", dense_data),
    "sparse": ("term counts", sparse_data),
    "mslr": (
        "MSLR-WEB10K sample",
        real_data("mslr-web10k-sample", ["train", "vali", "test"], 136, False),
    ),
    "lambdarank": (
        "LightGBM's lambdarank example",
        real_data("lightgbm-lambdarank", ["train", "test"], 300, True),
    ),
}
NEED_FILES = {"mslr", "lambdarank"}


def describe(X, groups):
    text = f"{X.shape[0]} rows x {X.shape[1]} features in {len(np.unique(groups))} queries"
    if sparse.issparse(X):
        text += f", {100 * X.nnz / np.prod(X.shape):.1f} % of the values not 0"
    return text


# Tables -----------------------------------------------------------------------------------------


def compare(args):
    """All contenders on all data sets, taking turns."""
    for name in args.data_sets:
        title, make = DATA_SETS[name]
        settings = list(product(args.tasks, args.threads))
        results = {
            key: {contender: [] for contender in contenders_for(key[0], args)} for key in settings
        }
        with tempfile.TemporaryDirectory() as folder:
            for repeat in range(args.repeats):
                parts = dict(zip(("train", "test"), make(args, repeat), strict=True))
                for part, data in parts.items():
                    save(folder, part, *data)
                if repeat == 0:
                    print(f"\n{title}: {describe(parts['train'][0], parts['train'][2])}")
                    print(f"tested on {describe(parts['test'][0], parts['test'][2])}", flush=True)
                del parts, data
                for task, n_threads in settings:
                    for contender, runs in results[task, n_threads].items():
                        runs.append(measure(folder, contender, task, n_threads, args))
        for (task, n_threads), runs in results.items():
            print(
                f"\n{title}, {task}, {n_threads} thread(s): {rounds_of(task, args)} rounds, "
                f"{args.leaves} leaves, {args.repeats} repeats"
            )
            print_table(runs)


def print_table(results):
    print(
        f"{'':<24}{'fit s':>9}{'CPU s':>9}{'predict s':>11}{'peak MB':>9}{'added':>8}"
        f"{'NDCG@10':>10}{'sd':>8}"
    )
    columns = {
        contender: {key: np.array([run[key] for run in runs]) for key in runs[0]}
        for contender, runs in results.items()
    }
    for contender, values in columns.items():
        medians = {key: np.median(v) for key, v in values.items()}
        print(
            f"{contender:<24}{medians['fit']:9.2f}{medians['cpu']:9.2f}{medians['predict']:11.3f}"
            f"{medians['peak']:9.0f}{medians['added']:8.0f}"
            f"{values['ndcg'].mean():10.4f}{deviation(values['ndcg']):>8}"
        )
    print(
        f"{'sklearn_ltr over':<24}{'fit':>9}{'range':>14}{'CPU':>7}{'predict':>9}{'peak':>7}"
        f"{'added':>7}{'NDCG -':>10}{'sd':>8}"
    )
    ours = columns[OURS]
    for contender, theirs in columns.items():
        if contender == OURS:
            continue
        ratios = {key: ours[key] / theirs[key] for key in theirs if key != "ndcg"}
        median = {key: np.median(ratio) for key, ratio in ratios.items()}
        least, most = ratios["fit"].min(), ratios["fit"].max()
        difference = ours["ndcg"] - theirs["ndcg"]
        missed = [
            f"{key} (at most {target:g})"
            for key, target in TARGETS.get(contender, {}).items()
            if median[key] > target
        ]
        print(
            f"{contender:<24}{median['fit']:9.2f}{f'{least:.2f}-{most:.2f}':>14}"
            f"{median['cpu']:7.2f}{median['predict']:9.2f}{median['peak']:7.2f}"
            f"{median['added']:7.2f}{difference.mean():+10.4f}{deviation(difference):>8}"
            + (f"  MISSED: {', '.join(missed)}" if missed else ""),
            flush=True,
        )


def deviation(values):
    return f"{values.std(ddof=1):.4f}" if len(values) > 1 else "-"


def growth_table(args):
    """Time of ten times the rows; the least disturbed of three fits."""
    n_threads, contenders = max(args.threads), (OURS, "LightGBM")
    before = dict.fromkeys(product(args.tasks, contenders))
    print(f"\nGrowth with the rows: make_ranking, {n_threads} thread(s), 10 rounds")
    print(f"{'rows':>9}    {'':<18}{'':<24}{'fit s':>9}{'ratio':>8}{'CPU s':>9}{'ratio':>8}")
    for n_rows in args.growth_rows:
        with tempfile.TemporaryDirectory() as folder:
            save_rows(folder, n_rows, args)
            for task, contender in before:
                runs = [
                    measure(folder, contender, task, n_threads, args, rounds=10, predictions=0)
                    for _ in range(3)
                ]
                now = np.min([[run["fit"], run["cpu"]] for run in runs], axis=0)
                then = before[task, contender]
                ratio = ["", ""] if then is None else [f"{r:.1f}" for r in now / then]
                before[task, contender] = now
                print(
                    f"{n_rows:>9}    {task:<18}{contender:<24}"
                    f"{now[0]:9.3f}{ratio[0]:>8}{now[1]:9.3f}{ratio[1]:>8}",
                    flush=True,
                )


def memory_table(args):
    """Peak memory of a fit of few rounds."""
    n_threads = max(args.threads)
    print(f"\nPeak memory of a fit: make_ranking, {n_threads} thread(s), 10 rounds, MB")
    print(f"{'rows':>9}    {'':<18}{'':<24}{'X':>8}{'peak':>8}{'added':>8}{'ours over it':>14}")
    for n_rows in args.memory_rows:
        with tempfile.TemporaryDirectory() as folder:
            size = save_rows(folder, n_rows, args)
            for task in args.tasks:
                runs = {
                    contender: measure(
                        folder, contender, task, n_threads, args, rounds=10, predictions=0
                    )
                    for contender in contenders_for(task, args)
                }
                for contender, run in runs.items():
                    print(
                        f"{n_rows:>9}    {task:<18}{contender:<24}{size:8.0f}"
                        f"{run['peak']:8.0f}{run['added']:8.0f}"
                        f"{runs[OURS]['peak'] / run['peak']:14.2f}",
                        flush=True,
                    )


def save_rows(folder, n_rows, args):
    """Saves dense training rows; returns the size of X in MB."""
    from stump_round import make_data

    data = make_data(n_rows, args.features)
    save(folder, "train", *data)
    return data[0].nbytes / MB


def big_table(args):
    """Peak memory beside the size of the codes."""
    n_threads, n_rows, n_features = max(args.threads), args.big_rows, 50
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    y = grades(X[:, :5].sum(axis=1) + rng.standard_normal(n_rows))
    codes = n_rows * -(-n_features // 8) * 8 / MB  # blocks of eight features, one byte each
    print(
        f"\n{n_rows} rows x {n_features} features of 32 bits ({X.nbytes / MB:.0f} MB), 5 rounds, "
        f"{n_threads} thread(s); bin codes are {codes:.0f} MB"
    )
    with tempfile.TemporaryDirectory() as folder:
        save(folder, "train", X, y, np.arange(n_rows) // N_DOCS)
        del X
        for task in args.tasks:
            run = measure(folder, OURS, task, n_threads, args, rounds=5, predictions=0)
            print(
                f"{task}: {run['fit']:.1f} s, peak {run['peak']:.0f} MB, of which the fit added "
                f"{run['added']:.0f} MB, {run['added'] / codes:.2f} times the codes",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tasks, peers = (
        ["regression", "classification"],
        [name for name in CONTENDERS if name not in (OURS, ORDINAL)],
    )
    parser.add_argument("--data-sets", nargs="+", choices=DATA_SETS, help="all but lambdarank")
    parser.add_argument("--data", default=os.environ.get("SKLEARN_LTR_DATA"), help="of real sets")
    parser.add_argument("--tasks", nargs="+", choices=tasks, default=tasks)
    parser.add_argument("--contenders", nargs="+", choices=peers, default=peers, metavar="NAME")
    parser.add_argument("--ordinal", action="store_true", help="McRank's ordinal method too")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3, help="each with data of its own")
    parser.add_argument("--rows", type=int, default=100_000, help="a multiple of 100")
    parser.add_argument("--features", type=int, default=136, help="of the dense set")
    parser.add_argument("--density", type=float, default=0.05, help="of the sparse set")
    parser.add_argument("--rounds", type=int, default=100, help="of regression")
    parser.add_argument("--class-rounds", type=int, default=30, help="of classification")
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--quick", action="store_true", help="small, to see that it runs")
    parser.add_argument("--growth", action="store_true", help="time on 10^4 to 10^6 rows")
    parser.add_argument("--growth-rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--memory", action="store_true", help="peak memory on 10^5 and 10^6 rows")
    parser.add_argument("--memory-rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--big", action="store_true", help="peak memory on 5 million rows")
    parser.add_argument("--big-rows", type=int, default=5_000_000)
    parser.add_argument("--no-comparison", action="store_true", help="only what else is asked for")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run_child(Settings(**args.child))
        return
    if args.data_sets is None:
        args.data_sets = ["dense", "sparse"] + (["mslr"] if args.data else [])
    if args.data is None and NEED_FILES & set(args.data_sets):
        parser.error("give --data, set SKLEARN_LTR_DATA or ask for --data-sets dense sparse")
    if args.quick:
        args.rows, args.rounds, args.class_rounds, args.repeats = 5_000, 10, 3, 1
        args.growth_rows, args.memory_rows, args.big_rows = [1_000, 10_000], [10_000], 100_000

    from stump_round import cpu_name

    packages = {distribution: installed(distribution) for *_, distribution in CONTENDERS.values()}
    packages |= {name: installed(name) for name in ("numpy", "scipy")}
    print(
        ", ".join(f"{name} {number or 'not installed'}" for name, number in packages.items())
        + f", Python {platform.python_version()}\n{time.strftime('%d %b %Y')}, {cpu_name()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n{args.leaves} leaves, learning "
        f"rate {args.learning_rate:g}, {MAX_BINS} bins, at least {MIN_SAMPLES_LEAF} rows in a leaf"
    )
    if not args.no_comparison:
        compare(args)
    for name in ("growth", "memory", "big"):
        if getattr(args, name):
            globals()[f"{name}_table"](args)


if __name__ == "__main__":
    main()
