# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""NDCG@10 against the number of training queries, after Table 6 of FRank's paper.

    python benchmarks/training_size.py --data DIR [--sets mq2007 synthetic] [--plot FILE] [--quick]

DIR (or the environment variable SKLEARN_LTR_DATA) holds the folder `mq2007-agg`; "synthetic" is
data of `make_ranking` and needs none. A seed orders the training queries, and a share is the first
of that order, so that the shares of a seed are nested and all rankers see the same queries. The
number of rounds is that of the highest NDCG@10 on the validation part, and so are the passes of
RankNet and the C of RankSVM, which the paper tunes; the test part is scored once. Neither part
shrinks with the share. Nothing else is chosen: the rankers' defaults, and 10 units for the net.

Mean and standard deviation are over the seeds, which differ in the queries drawn and nothing else:
the deviation does not include that of the test queries, and all queries are a single fit.
"""

import numpy as np
import sklearn
from _accuracy import NDCG, fit_by_validation, fit_ranker
from _data import fold_of, load_folds, n_queries, take
from _harness import make_parser, print_head, require_data, row
from joblib import Parallel, delayed
from sklearn.utils import Bunch

from sklearn_ltr import FRank, MPBoost, RankBoost, RankNet, RankSVM
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.preprocessing import QueryScaler

MODELS = {
    "FRank": FRank(),
    "RankBoost": RankBoost(step="exact"),
    "MPBoost": MPBoost(),
    "RankNet, linear": RankNet(solver="adam", random_state=0),
    "RankNet, two layers": RankNet((10,), random_state=0),
    "RankSVM": RankSVM(),
}
COSTS = [10.0**k for k in range(-3, 3)]
PASSES = 100

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)

# Okabe and Ito's colours and a marker each, so that colour is not all that tells lines apart.
STYLES = [
    ("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v"),
    ("#56B4E9", "P"), ("#000000", "X"),
]  # fmt: skip


def mq2007(data):
    """First fold of MQ2007-agg: trains on S1 to S3, validates on S4, tests on S5."""
    return load_folds("mq2007", data)[0]


def synthetic(_):
    return fold_of(*make_ranking(3000, 20, 20, random_state=0), (2000, 500, 500))


SETS = {"mq2007": ("MQ2007-agg, fold 1", mq2007), "synthetic": ("make_ranking", synthetic)}


def size(share, total):
    return max(1, round(share * total))


def scaled(part):
    """A part as linear functions and nets get it: each query from 0 to 1, gaps at its middle."""
    X = QueryScaler().fit_transform(part.X, groups=part.groups)
    return Bunch(**part | {"X": np.nan_to_num(X, nan=0.5)})


def fit_linear(ranker, fold):
    """As `fit_by_validation`, of a ranker without rounds: what is chosen is its C or its passes."""
    fold = Bunch(**{name: scaled(part) for name, part in fold.items()})
    if isinstance(ranker, RankNet):
        ranker.set_params(max_iter=PASSES, early_stopping=True, n_iter_no_change=20, scoring=NDCG)
        seconds = fit_ranker(ranker, fold.train, fold.validation)
        return ranker.best_iteration_, ranker.predict(fold.test.X), seconds
    best, seconds = (-1.0, None, None), 0.0
    for C in COSTS:
        ranker.set_params(C=C)
        seconds += fit_ranker(ranker, fold.train)
        scores = ranker.predict(fold.validation.X)
        value = NDCG(fold.validation.y, scores, fold.validation.groups)
        if value > best[0]:
            best = value, C, ranker.predict(fold.test.X)
    return best[1], best[2], seconds


def fit_share(fold, model, share, seed, n_estimators):
    """Test NDCG@10 at what was chosen, that, and the seconds of the fit."""
    queries = np.random.default_rng(seed).permutation(np.unique(fold.train.groups))
    drawn = queries[: size(share, len(queries))]
    train = take(fold.train, np.isin(fold.train.groups, drawn))
    fold = Bunch(**fold | {"train": train})
    ranker = sklearn.clone(model)
    if isinstance(ranker, (RankNet, RankSVM)):
        rounds, scores, seconds = fit_linear(ranker, fold)
    else:
        ranker.set_params(n_estimators=n_estimators, scoring=NDCG)
        rounds, scores, seconds = fit_by_validation(ranker, fold)
    return NDCG(fold.test.y, scores, fold.test.groups), rounds, seconds


def run(name, data, n_seeds, n_estimators):
    """Prints the tables of a set; returns the training queries, and values by model and share."""
    title, load = SETS[name]
    fold = load(data)
    parts = [n_queries(fold[part]) for part in ("train", "validation", "test")]
    print(
        f"\n{title}: {parts[0]}, {parts[1]} and {parts[2]} queries to train, validate and test, "
        f"{len(fold.train.y)} training rows, {fold.train.X.shape[1]} features; rounds "
        f"1..{n_estimators} by validation NDCG@10; {n_seeds} seeds"
    )
    # The longest fits first, so that no thread is left with one at the end.
    tasks = [
        (key, share, seed)
        for share in sorted(SHARES, reverse=True)
        for key in MODELS
        for seed in range(1 if share == 1 else n_seeds)
    ]
    done = Parallel(n_jobs=2)(
        delayed(fit_share)(fold, MODELS[key], share, seed, n_estimators)
        for key, share, seed in tasks
    )
    fits = {(key, share): [] for key in MODELS for share in SHARES}
    for (key, share, _), fit in zip(tasks, done, strict=True):
        fits[key, share].append(fit)

    sizes = [size(share, parts[0]) for share in SHARES]
    print("\nTest NDCG@10, mean (standard deviation)")
    row("training queries", sizes, 22, 24)
    for key in MODELS:
        cells = []
        for share in SHARES:
            values = [fit[0] for fit in fits[key, share]]
            deviation = f"({np.std(values, ddof=1):.4f})" if len(values) > 1 else "(-)"
            cells.append(f"{np.mean(values):.4f} {deviation:>8}")
        row(key, cells, 22, 24)
    print(
        f"Rounds, passes or C chosen, by seed; mean seconds of a fit of {n_estimators} rounds, of "
        f"all C, 1 thread"
    )
    for key in MODELS:
        cells = []
        for share in SHARES:
            rounds = "/".join(str(fit[1]) for fit in fits[key, share])
            cells.append(f"{rounds} {np.mean([fit[2] for fit in fits[key, share]]):5.1f}")
        row(key, cells, 22, 24)
    values = {key: [[fit[0] for fit in fits[key, share]] for share in SHARES] for key in MODELS}
    return sizes, values


def plot(results, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(
        1, len(results), figsize=(4.8 * len(results), 3.8), squeeze=False, layout="constrained"
    )
    for ax, (name, (sizes, values)) in zip(axes[0], results.items(), strict=True):
        for i, (key, by_share) in enumerate(values.items()):
            color, marker = STYLES[i % len(STYLES)]
            deviations = [np.std(v, ddof=1) if len(v) > 1 else 0 for v in by_share]
            ax.errorbar(
                np.array(sizes) * 1.03 ** (i - (len(values) - 1) / 2),  # bars side by side
                [np.mean(v) for v in by_share],
                yerr=deviations,
                color=color,
                marker=marker,
                markersize=5,
                linewidth=1.5,
                capsize=2,
                label=key,
            )
        ax.set_xscale("log", base=2)
        ax.set_xticks(sizes, [str(n) for n in sizes])
        ax.minorticks_off()
        ax.set_title(SETS[name][0])
        ax.set_xlabel("training queries")
        ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("test NDCG@10, mean ± standard deviation")
    axes[0, -1].legend(loc="lower right", frameon=False)
    fig.savefig(file, dpi=150)
    print(f"\nplot written to {file}")


def main():
    parser = make_parser(
        __doc__, data="folder of mq2007-agg", quick="10 rounds, to see that it runs"
    )
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3, help="draws of a share (default 3)")
    parser.add_argument("--rounds", type=int, default=200, help="most rounds (default 200)")
    parser.add_argument("--plot", metavar="FILE", help="write the learning curves here")
    args = parser.parse_args()
    if "mq2007" in args.sets:
        require_data(parser, args, "--sets synthetic")
    print_head()
    rounds = 10 if args.quick else args.rounds
    results = {name: run(name, args.data, args.seeds, rounds) for name in args.sets}
    if args.plot:
        plot(results, args.plot)


if __name__ == "__main__":
    main()
