# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What RegressionRanker and McRank cost beside other gradient boosting, and how well both rank.

    python benchmarks/trees.py [--data-sets dense sparse mslr] [--tasks regression classification]
                               [--threads 1 2] [--ordinal] [--growth] [--memory] [--big] [--quick]

What is timed and how is written in `_tree_speed.py`. What could not be made equal:

- XGBoost has no least number of rows. For regression its `min_child_weight`, a sum of hessians, is
  that; for classification it stays at its default, 1.
- CatBoost grows trees leaf by leaf too (`grow_policy="Lossguide"`), but one tree a round for all
  classes, with a value for each of them; the others grow a tree a class and round.
- scikit-learn's histogram boosting takes no sparse matrix; the dense copy is part of its time.
- XGBoost takes what a sparse matrix leaves out as missing, all others as 0.
"""

import tempfile
from functools import partial
from itertools import product

import numpy as np
from _data import N_DOCS, NEED_FILES, SPEED_SETS, describe, grades, make_data
from _harness import MB, make_parser, print_head, require_data, save, times
from _tree_speed import (
    CONTENDERS,
    MAX_BINS,
    MIN_SAMPLES_LEAF,
    available,
    fit_in_child,
    print_table,
    run_turns,
)

OURS = "sklearn_ltr"
ORDINAL = "sklearn_ltr, ordinal"
PEERS = ["LightGBM", "LightGBM, quantised", "XGBoost", "CatBoost", "scikit-learn"]

# The highest ratios wanted, of a fit and of a prediction, and of peak memory.
TARGETS = {
    "LightGBM": {"fit": 0.4, "predict": 0.4, "peak": 1.2},
    "XGBoost": {"fit": 0.25},
    "scikit-learn": {"fit": 0.25},
}


def contenders_for(task, args):
    """Names of those that take part."""
    names = [OURS, *args.contenders]
    if args.ordinal and task == "classification":
        names.insert(1, ORDINAL)
    return available(names)


def settings_of(task, n_threads, args, rounds=None):
    return {
        "task": task,
        "n_threads": n_threads,
        "rounds": rounds or (args.rounds if task == "regression" else args.class_rounds),
        "leaves": args.leaves,
        "learning_rate": args.learning_rate,
    }


def compare(args):
    """All contenders on all data sets, taking turns."""
    for name in args.data_sets:
        title, make = SPEED_SETS[name]
        problems = [
            (settings_of(task, n_threads, args), contenders_for(task, args))
            for task, n_threads in product(args.tasks, args.threads)
        ]

        def begin(train, test, title=title):
            print(f"\n{title}: {describe(train[0], train[2])}")
            print(f"tested on {describe(test[0], test[2])}", flush=True)

        results = run_turns(partial(make, args), args.repeats, problems, begin)
        for (settings, _), runs in zip(problems, results, strict=True):
            print(
                f"\n{title}, {settings['task']}, {settings['n_threads']} thread(s): "
                f"{settings['rounds']} rounds, {args.leaves} leaves, {args.repeats} repeats"
            )
            print_table(runs, [OURS], TARGETS)


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
                settings = settings_of(task, n_threads, args, rounds=10)
                runs = [fit_in_child(folder, contender, 0, **settings) for _ in range(3)]
                now = np.min([[run["fit"], run["cpu"]] for run in runs], axis=0)
                ratio = times(now, before[task, contender])
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
                settings = settings_of(task, n_threads, args, rounds=10)
                runs = {
                    contender: fit_in_child(folder, contender, 0, **settings)
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
            run = fit_in_child(folder, OURS, 0, **settings_of(task, n_threads, args, rounds=5))
            print(
                f"{task}: {run['fit']:.1f} s, peak {run['peak']:.0f} MB, of which the fit added "
                f"{run['added']:.0f} MB, {run['added'] / codes:.2f} times the codes",
                flush=True,
            )


def main():
    parser = make_parser(__doc__, data="of real sets", quick="small, to see that it runs")
    tasks = ["regression", "classification"]
    parser.add_argument("--data-sets", nargs="+", choices=SPEED_SETS, help="all but lambdarank")
    parser.add_argument("--tasks", nargs="+", choices=tasks, default=tasks)
    parser.add_argument("--contenders", nargs="+", choices=PEERS, default=PEERS, metavar="NAME")
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
    parser.add_argument("--growth", action="store_true", help="time on 10^4 to 10^6 rows")
    parser.add_argument("--growth-rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--memory", action="store_true", help="peak memory on 10^5 and 10^6 rows")
    parser.add_argument("--memory-rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--big", action="store_true", help="peak memory on 5 million rows")
    parser.add_argument("--big-rows", type=int, default=5_000_000)
    parser.add_argument("--no-comparison", action="store_true", help="only what else is asked for")
    args = parser.parse_args()
    if args.data_sets is None:
        args.data_sets = ["dense", "sparse"] + (["mslr"] if args.data else [])
    if NEED_FILES & set(args.data_sets):
        require_data(parser, args, "--data-sets dense sparse")
    if args.quick:
        args.rows, args.rounds, args.class_rounds, args.repeats = 5_000, 10, 3, 1
        args.growth_rows, args.memory_rows, args.big_rows = [1_000, 10_000], [10_000], 100_000
    print_head(*(distribution for _, distribution in CONTENDERS.values()))
    print(
        f"{args.leaves} leaves, learning rate {args.learning_rate:g}, {MAX_BINS} bins, at least "
        f"{MIN_SAMPLES_LEAF} rows in a leaf"
    )
    if not args.no_comparison:
        compare(args)
    if args.growth:
        growth_table(args)
    if args.memory:
        memory_table(args)
    if args.big:
        big_table(args)


if __name__ == "__main__":
    main()
