# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a round of MPBoost costs, beside a LightGBM lambdarank tree, in one run on one machine.

    python benchmarks/stump_round.py [--rows 100000] [--threads 1 2] [--growth] [--memory]
                                     [--prediction] [--long-query]

A round is the mean over the rounds after the first, so that neither side pays for its set-up here:
binning and presorting are shown by themselves. Contenders take turns within each repeat, and a
ratio is the median over the repeats of the ratio within one, so that a slow spell of a shared
machine meets both sides. CPU time is shown too: on a busy machine it is the steadier one.

The search for a stump leaves out features whose bound on the gain cannot win, so its cost depends
on the data. Rounds are also timed where every feature is informative, where the labels are drawn
independently of the features, and, hardest on the bounds of what was tried, where there is no noise
and all features are mixtures of five: many are nearly as good as the best, and steps are long. The
first round, which has no bounds yet and sweeps nearly all features, counts as set-up.
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
from functools import partial
from itertools import product
from pathlib import Path

import lightgbm
import numpy as np
import scipy
import sklearn

import sklearn_ltr
from sklearn_ltr import MPBoost
from sklearn_ltr.datasets import make_ranking

N_DOCS = 100
N_GRADES = 5
MAX_BINS = 255
LEAVES = 31
MB = 2**20
KINDS = ["default", "all informative", "noise", "mixtures"]


def make_data(n_rows, n_features, kind="default", seed=0):
    """Make ranking data of `n_rows` rows in queries of 100.

    "default": 20 features informative, 30 mixtures of them, the others noise. "all informative":
    each feature. "noise": the labels say nothing about the features. "mixtures": no noise, and all
    but 5 features are mixtures of these 5.
    """
    n_informative = {"all informative": n_features, "mixtures": 5}.get(kind, 20)
    n_redundant = {"all informative": 0, "mixtures": n_features}.get(kind, 30)
    n_informative = min(n_informative, n_features)
    noise_free = {"noise": 0.0, "query_effect": 0.0, "query_shift": 0.0}
    X, y, groups = make_ranking(
        n_queries=n_rows // N_DOCS,
        n_docs=N_DOCS,
        n_features=n_features,
        n_informative=n_informative,
        n_redundant=min(n_redundant, n_features - n_informative),
        n_grades=N_GRADES,
        random_state=seed,
        **(noise_free if kind == "mixtures" else {}),
    )
    if kind == "noise":
        y = np.random.RandomState(seed).permutation(y)
    return X, y, groups


class Stopwatch:
    """Wall and CPU time at the end of each round."""

    def __init__(self):
        self.marks = [self._now()]

    def _now(self):
        return time.perf_counter(), time.process_time()

    def mark(self, *_):
        self.marks.append(self._now())

    def setup(self):
        """Seconds until the end of the first round, less a round."""
        return self.marks[1][0] - self.marks[0][0] - self.round()[0]

    def round(self):
        """Wall and CPU seconds of a round: the mean over all but the first."""
        marks = np.array(self.marks[1:])
        return (marks[-1] - marks[0]) / (len(marks) - 1)


class Timed:
    """Mixed into a boosted ranker, notes when each round is asked for.

    The time between includes all that `fit` does.
    """

    def _rounds(self, train):
        for number, terms in enumerate(super()._rounds(train)):
            if number:
                self.watch.mark()
            yield terms
        self.watch.mark()

    def fit(self, *args, **kwargs):
        self.watch = Stopwatch()
        super().fit(*args, **kwargs)
        self.watch.mark()
        return self


class TimedMPBoost(Timed, MPBoost):
    pass


def time_mpboost(data, n_rounds, n_threads, **params):
    X, y, groups = data
    ranker = TimedMPBoost(n_estimators=n_rounds, max_bins=MAX_BINS, n_jobs=n_threads, **params)
    return ranker.fit(X, y, groups=groups).watch


def lightgbm_params(n_threads):
    return {
        "objective": "lambdarank",
        "num_leaves": LEAVES,
        "max_bin": MAX_BINS,
        "metric": "none",
        "num_threads": n_threads,
        "verbosity": -1,
    }


def construct(data, n_threads):
    X, y, groups = data
    sizes = np.unique(groups, return_counts=True)[1]
    dataset = lightgbm.Dataset(X, y, group=sizes, params=lightgbm_params(n_threads))
    return dataset.construct()


def time_lightgbm(data, n_rounds, n_threads):
    start = time.perf_counter()
    dataset = construct(data, n_threads)
    construction = time.perf_counter() - start
    watch = Stopwatch()
    lightgbm.train(lightgbm_params(n_threads), dataset, n_rounds, callbacks=[watch.mark])
    watch.setup = lambda: construction
    return watch


def time_linear_pass(data, n_rounds):
    """RankBoost's search in NumPy: per feature the histogram of one potential a row, summed up.

    Only the search: no weight update, binary potentials and no crossing weight. One thread.
    """
    X = data[0]
    quantiles = np.quantile(X[:10_000], np.linspace(0, 1, MAX_BINS + 1)[1:-1], axis=0)
    codes = np.column_stack([np.searchsorted(q, x) for q, x in zip(quantiles.T, X.T, strict=True)])
    codes = np.asfortranarray(codes)  # of intp, as np.bincount wants them
    potential = np.random.RandomState(0).standard_normal(len(X))
    watch = Stopwatch()
    for _ in range(n_rounds):
        best = 0.0
        for k in range(codes.shape[1]):
            r = np.bincount(codes[:, k], weights=potential, minlength=MAX_BINS).cumsum()
            best = max(best, np.abs(r).max())
        watch.mark()
    watch.setup = lambda: np.nan
    return watch


def contenders_for(data, kind, n_rounds, n_threads):
    contenders = {"LightGBM lambdarank tree": partial(time_lightgbm, data, n_rounds, n_threads)}
    for step, rate in product(("paper", "newton"), (1.0, 0.1)):
        contenders[f"MPBoost {step}, learning rate {rate:g}"] = partial(
            time_mpboost, data, n_rounds, n_threads, step=step, learning_rate=rate
        )
    # The linear label has the widest range of distances, which loosens the bounds the most.
    contenders["MPBoost newton, linear, rate 1"] = partial(
        time_mpboost, data, n_rounds, n_threads, step="newton", distance="linear", alpha=1.0
    )
    if kind == "default" and n_threads == 1:
        contenders["RankBoost-style pass (NumPy)"] = partial(time_linear_pass, data, n_rounds)
    return contenders


def rounds_table(args):
    """Rounds of all contenders, taking turns."""
    for kind in args.kinds:
        data = make_data(args.rows, args.features, kind)
        for n_threads in args.threads:
            contenders = contenders_for(data, kind, args.rounds, n_threads)
            wall, cpu, setup = ({name: [] for name in contenders} for _ in range(3))
            for _ in range(args.repeats):
                for name, run in contenders.items():
                    watch = run()
                    seconds = watch.round()
                    wall[name].append(seconds[0])
                    cpu[name].append(seconds[1])
                    setup[name].append(watch.setup())
            print(f"\n{kind}, {n_threads} thread(s), {args.rounds} rounds, {args.repeats} repeats")
            print(
                f"{'':<36}{'ms a round':>12}{'ratio':>8}{'range':>14}{'CPU ratio':>11}"
                f"{'set-up s':>10}{'ratio':>8}"
            )
            reference = next(iter(contenders))
            for name in contenders:
                ratio = np.array(wall[name]) / wall[reference]
                print(
                    f"{name:<36}{1e3 * np.median(wall[name]):12.1f}{np.median(ratio):8.2f}"
                    f"{f'{ratio.min():.2f}-{ratio.max():.2f}':>14}"
                    f"{np.median(np.array(cpu[name]) / cpu[reference]):11.2f}"
                    f"{np.median(setup[name]):10.2f}"
                    f"{np.median(np.array(setup[name]) / setup[reference]):8.2f}",
                    flush=True,
                )


def growth_table(args):
    """Time of ten times the rows."""
    n_threads = max(args.threads)
    print(f"\nGrowth with the rows: {args.features} features, {n_threads} thread(s), 20 rounds")
    names = ("ms a round", "CPU ms", "fit s", "CPU s")
    print(f"{'rows':>9}" + "".join(f"{name:>12}{'ratio':>7}" for name in names))
    before = None
    for n_rows in (10_000, 100_000, 1_000_000):
        data = make_data(n_rows, args.features)
        runs = []
        for _ in range(3):
            start = np.array([time.perf_counter(), time.process_time()])
            watch = time_mpboost(data, 20, n_threads)
            whole = [time.perf_counter(), time.process_time()] - start
            runs.append([*(1e3 * watch.round()), *whole])
        now = np.min(runs, axis=0)  # the least disturbed
        ratios = [""] * 4 if before is None else [f"{r:.1f}" for r in now / before]
        print(
            f"{n_rows:>9}" + "".join(f"{v:12.2f}{r:>7}" for v, r in zip(now, ratios, strict=True)),
            flush=True,
        )
        before = now


def memory_table(args):
    """Peak memory of a fit, each in a process of its own."""
    print(f"\nPeak memory of a fit: {args.features} features, 10 rounds, 1 thread, MB")
    print(
        f"{'rows':>9}{'':<14}{'X':>8}{'before fit':>12}{'peak':>8}{'added':>8}"
        f"{'ratio of peaks':>16}"
    )
    for n_rows in args.memory_rows:
        with tempfile.TemporaryDirectory() as folder:
            for name, array in zip("Xyg", make_data(n_rows, args.features), strict=True):
                np.save(Path(folder, name), array)
            peaks = {}
            for who in ("LightGBM", "MPBoost"):
                out = child(who, folder)
                peaks[who] = out["peak"]
                print(
                    f"{n_rows:>9}    {who:<10}{n_rows * args.features * 8 / MB:8.0f}"
                    f"{out['before']:12.0f}{out['peak']:8.0f}{out['peak'] - out['before']:8.0f}"
                    f"{out['peak'] / peaks['LightGBM']:16.2f}",
                    flush=True,
                )


def long_query(args):
    """One query of 100,000 rows, half of them relevant: 2.5e9 pairs."""
    n = 100_000
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, args.features))
    y = np.zeros(n)
    y[np.argsort(X[:, :5].sum(axis=1) + rng.standard_normal(n))[n // 2 :]] = 1
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip("Xyg", (X, y, np.zeros(n, dtype=int)), strict=True):
            np.save(Path(folder, name), array)
        out = child("MPBoost", folder)
    print(
        f"\nOne query of {n} rows, {n // 2} relevant ({(n // 2) ** 2:.2g} pairs), "
        f"{args.features} features, 10 rounds, 1 thread: {out['seconds']:.1f} s, "
        f"{out['peak']:.0f} MB at the peak, {out['before']:.0f} MB of it before the fit"
    )


def child(who, folder):
    command = [sys.executable, __file__, "--child", who, folder]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peak_memory():
    """Most memory that this process has had, in MB."""
    try:
        status = Path("/proc/self/status").read_text().split()
    except OSError:
        usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return usage / (MB if sys.platform == "darwin" else 1024)
    # Not getrusage on Linux: there a child starts from the peak of its parent.
    return int(status[status.index("VmHWM:") + 1]) / 1024


def run_child(who, folder):
    data = [np.load(Path(folder, f"{name}.npy")) for name in "Xyg"]

    before, start = peak_memory(), time.perf_counter()
    if who == "MPBoost":
        MPBoost(n_estimators=10, max_bins=MAX_BINS).fit(data[0], data[1], groups=data[2])
    else:
        lightgbm.train(lightgbm_params(1), construct(data, 1), 10)
    seconds = time.perf_counter() - start
    print(json.dumps({"before": before, "peak": peak_memory(), "seconds": seconds}))


def prediction_table(args):
    """Prediction against the number of rounds or trees."""
    small = make_data(10_000, args.features)
    X = make_data(args.rows, args.features)[0]
    print(f"\nPrediction of {args.rows} rows, ms (best of {args.repeats})")
    print(f"{'threads':>8}{'n_estimators':>14}{'MPBoost':>10}{'LightGBM':>10}{'ratio':>8}")
    for n_estimators in (10, 100, 1000):
        ranker = MPBoost(n_estimators=n_estimators, learning_rate=0.1)
        ranker.fit(small[0], small[1], groups=small[2])
        booster = lightgbm.train(lightgbm_params(2), construct(small, 2), n_estimators)
        for n_threads in args.threads:
            ranker.set_params(n_jobs=n_threads)
            times = []
            for _ in range(args.repeats):
                marks = [time.perf_counter()]
                ranker.predict(X)
                marks.append(time.perf_counter())
                booster.predict(X, num_threads=n_threads)
                marks.append(time.perf_counter())
                times.append(np.diff(marks))
            ours, theirs = 1e3 * np.min(times, axis=0)
            print(
                f"{n_threads:>8}{n_estimators:>14}{ours:10.1f}{theirs:10.1f}{ours / theirs:8.3f}",
                flush=True,
            )


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of data")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--memory-rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--prediction", action="store_true")
    parser.add_argument("--long-query", action="store_true")
    parser.add_argument("--no-rounds", action="store_true", help="leave out the table of rounds")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run_child(*args.child)
        return
    print(
        f"sklearn_ltr {sklearn_ltr.__version__}, LightGBM {lightgbm.__version__}, scikit-learn "
        f"{sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}, Python "
        f"{platform.python_version()}\n{time.strftime('%d %b %Y')}, {cpu_name()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
        f"{args.rows} rows in queries of {N_DOCS}, {args.features} features, {N_GRADES} grades, "
        f"{MAX_BINS} bins; trees of {LEAVES} leaves"
    )
    if not args.no_rounds:
        rounds_table(args)
    tables = {
        "growth": growth_table,
        "memory": memory_table,
        "prediction": prediction_table,
        "long_query": long_query,
    }
    for name, table in tables.items():
        if getattr(args, name):
            table(args)


if __name__ == "__main__":
    main()
