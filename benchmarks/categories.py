# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Categories in trees beside LightGBM's, and beside ordinal and one-hot codes.

    python benchmarks/categories.py                     # 5 to 200 categories, five draws
    python benchmarks/categories.py --quick             # to see that it runs
    python benchmarks/categories.py --smooth 1 10 100   # LightGBM with other values of cat_smooth

The data are made: six numbers, and three features of so many categories, some frequent and most
rare, that matter in an order that their codes do not have, partly together with a number. Grades 0
to 4 are quantiles of the sum and noise. Trees of 31 leaves, at a learning rate of 0.1, on the same
rows; all else is the default of each library. Rounds are chosen, up to `--rounds`, on a validation
part. NDCG@10 is that of a test part, and a difference is that to LightGBM's categories, with its
standard error over the draws. Times are CPU seconds of a fit of all rounds with one thread, from
the array on, with the encoding; contenders take turns. Peak memory is that of a process that makes
a fit.
"""

import tempfile
from functools import partial
from itertools import pairwise

import lightgbm
import numpy as np
from _accuracy import NDCG
from _harness import in_child, load, make_parser, memory, print_head, row, save, take_turns, timed
from _tree_speed import sizes_of
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import Bunch

from sklearn_ltr import LambdaMART, RegressionRanker

N_NUMBERS, CATEGORICAL = 6, [6, 7, 8]
LEAVES, RATE = 31, 0.1
TASKS = {
    "least squares": (partial(RegressionRanker, gain="linear"), "regression"),
    "lambdas": (LambdaMART, "lambdarank"),
}
THEIRS = "LightGBM, categories"
CONTENDERS = ("ours, categories", "ours, ordinal codes", "ours, one-hot codes", THEIRS)


def make_data(n_queries, n_categories, seed):
    """Rows of queries: X, y and groups, and the same of two parts of other queries."""
    rng = np.random.default_rng([seed, n_categories])
    n_parts = [n_queries, n_queries // 3, n_queries // 2]
    groups = np.repeat(np.arange(sum(n_parts)), rng.integers(10, 41, sum(n_parts)))
    n = len(groups)
    numbers = rng.normal(size=(n, N_NUMBERS))
    share = 1 / (2 + np.arange(n_categories))
    drawn = rng.choice(n_categories, (n, len(CATEGORICAL)), p=share / share.sum())
    kinds = np.column_stack([rng.permutation(n_categories)[column] for column in drawn.T])
    effects = rng.normal(size=(len(CATEGORICAL), n_categories))
    latent = numbers[:, 0] + 0.5 * np.abs(numbers[:, 1])
    latent += effects[0][kinds[:, 0]] + 0.7 * effects[1][kinds[:, 1]]
    latent += 0.7 * effects[2][kinds[:, 2]] * numbers[:, 2] + rng.normal(size=n)
    y = np.searchsorted(np.quantile(latent, [0.5, 0.75, 0.9, 0.97]), latent).astype(float)
    X = np.column_stack([numbers, kinds]).astype(float)
    edges = np.cumsum([0, *n_parts])
    parts = []
    for first, last in pairwise(edges):
        rows = (first <= groups) & (groups < last)
        parts.append(Bunch(X=X[rows], y=y[rows], groups=groups[rows]))
    return parts


def encoder_of(name, n_categories):
    """What makes of the rows what a contender takes."""
    if "one-hot" not in name:
        return None
    every = [np.arange(n_categories)] * len(CATEGORICAL)
    return make_column_transformer(
        (OneHotEncoder(categories=every, sparse_output=False), CATEGORICAL), remainder="passthrough"
    )


def fit(name, task, n_categories, rounds, train, **theirs):
    """A fitted model: ``staged(X)`` yields scores after each round, ``predict(X)`` after all."""
    ours, objective = TASKS[task]
    if name.startswith("LightGBM"):
        params = {
            "objective": objective, "num_leaves": LEAVES, "learning_rate": RATE,
            "num_threads": 1, "seed": 0, "verbosity": -1, **theirs,
        }  # fmt: skip
        data = lightgbm.Dataset(
            train.X, train.y, group=sizes_of(train.groups), params=params,
            categorical_feature=CATEGORICAL,
        )  # fmt: skip
        model = lightgbm.train(params, data, rounds)

        def staged(X):
            total = np.zeros(len(X))
            for k in range(rounds):
                total += model.predict(X, start_iteration=k, num_iteration=1)
                yield total

        return Bunch(staged=staged)
    encoder = encoder_of(name, n_categories)
    encode = (lambda X: X) if encoder is None else encoder.fit(train.X).transform
    value = CATEGORICAL if name == CONTENDERS[0] else None
    model = ours(
        n_estimators=rounds, learning_rate=RATE, max_leaf_nodes=LEAVES, categorical_features=value
    )
    model.fit(encode(train.X), train.y, groups=train.groups)
    return Bunch(staged=lambda X: model.staged_predict(encode(X)))


def criterion(part, scores):
    return float(NDCG(part.y, scores, part.groups))


def judge(model, validation, test):
    """NDCG@10 of the test part after the rounds that are best on the validation part."""
    curve = [criterion(validation, scores) for scores in model.staged(validation.X)]
    best = int(np.argmax(curve))
    for k, scores in enumerate(model.staged(test.X)):
        if k == best:
            return criterion(test, scores)


def peak_of(settings):
    """Peak memory in MB of a process that makes a fit."""
    folder, *settings = settings
    X, y, groups = load(folder, "train")
    fit(*settings, Bunch(X=X, y=y, groups=groups))
    return memory()[1]


def main():
    parser = make_parser(__doc__, quick="to see that it runs")
    parser.add_argument("--categories", type=int, nargs="+", default=[5, 20, 50, 200])
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--smooth", type=float, nargs="+", default=[], help="LightGBM's cat_smooth")
    args = parser.parse_args()
    if args.quick:
        args.queries, args.rounds, args.draws = 60, 10, 2
    print_head("lightgbm")
    more = {f"LightGBM, cat_smooth={s:g}": {"cat_smooth": s} for s in args.smooth}
    for task in args.tasks:
        for n_categories in args.categories:
            ndcg, seconds = {}, {}
            for seed in range(args.draws):
                parts = make_data(args.queries, n_categories, seed)
                runs = {
                    name: partial(
                        timed, fit, name, task, n_categories, args.rounds, parts[0],
                        **more.get(name, {}),
                    )
                    for name in (*CONTENDERS, *more)
                }  # fmt: skip
                for name, ((spent, model),) in take_turns(runs, 1).items():
                    ndcg.setdefault(name, []).append(judge(model, *parts[1:]))
                    seconds.setdefault(name, []).append(spent[1])
            show(ndcg, seconds, parts[0], task, n_categories, args.rounds)


def show(ndcg, seconds, train, task, n_categories, rounds):
    title = f"{task}, {n_categories} categories, {len(train.y)} rows"
    print()
    row(title, ["NDCG@10", "less", "error", "CPU s", "ratio", "peak MB"], 10, 44)
    with tempfile.TemporaryDirectory() as folder:
        save(folder, "train", **train)
        for name in ndcg:
            less = np.array(ndcg[name]) - ndcg[THEIRS]
            ratio = np.array(seconds[name]) / seconds[THEIRS]
            peak = ""
            if name in CONTENDERS:
                settings = [folder, name, task, n_categories, rounds]
                peak = f"{in_child(peak_of, settings):.0f}"
            error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else np.nan
            cells = [f"{np.mean(ndcg[name]):.4f}", f"{less.mean():+.4f}", f"{error:.4f}"]
            cells += [f"{np.median(seconds[name]):.2f}", f"{np.median(ratio):.2f}", peak]
            row(f"   {name}", cells, 10, 44)


if __name__ == "__main__":
    main()
