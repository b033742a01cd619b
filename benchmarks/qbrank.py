# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""QBRank's Table 1 and Figure 1 in kind.

    python benchmarks/qbrank.py --data DIR [--sets webtrack mslr mslr10k synthetic cubic]
                                [--contenders NAME ...] [--targets] [--costs] [--plot FILE]
                                [--quick]

The paper's data are not public; these are. DIR (or the environment variable SKLEARN_LTR_DATA) holds
`webtrack-clueweb09`, `mslr-web10k-sample` and `mslr-web30k-sample`; `synthetic` (`make_ranking`)
and `cubic` (`make_cubic_ranking`) need none and have the paper's 1,300 training queries of some 30
documents. Real data are cut into five parts by query; a model is fitted on three parts, validated
on the fourth and tested on the fifth. Settings are the paper's: trees of 20 leaves, a learning rate
of .05, w = .5, margins of the grade difference. Its number of rounds is not known: figures are for
the number of the highest DCG-5 on the validation queries.

**Table 1**, from whole training parts: precision at K % of the test pairs. All pairs of a fold's
test queries with different grades are sorted by the difference of their scores, the largest first;
the precision is the share of the first K % that are in the right order. Equal scores count half.

**Figure 1**: DCG-5 by rounds. The paper had some 2,000 queries with documents of one grade only,
L1. Here they are made: of a random share of the training queries (`--single`, .6 as in the paper)
only documents of one grade are kept, at most ten, the grade drawn evenly from those of the query.
The other training queries are L2, their pairs are P2. "QBRank P2 + L1", the paper's own experiment,
has labels on L1 only; its pairs are given as `preferences`, with the difference of their grades as
`preference_margin`, unless its name ends in "margin 1". "QBRank P2 + L1 + L2" has the labels of
all. Contenders with "paper" in their name have target="paper", the others the default.

RankSVM is `RankSVM` with squared hinge on all pairs, each of which counts the same; features are
logarithms, standardised, and C is that of the highest DCG-5 on the validation queries. The grid is
of C times the number of pairs, so that sets of all sizes have the same. It has no rounds. `--costs`
shows all of the grid.

Tests are paired, over the test queries of all folds, and two-sided.
"""

from itertools import pairwise

import numpy as np
from _accuracy import best_round, fit_ranker, paired_test, query_values, standard_error
from _data import (
    describe_tests,
    fold_of,
    join,
    load_folds,
    n_queries,
    read_files,
    signed_log,
    take,
)
from _harness import make_parser, print_head, row, timed
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import Bunch

from sklearn_ltr import QBRank, RankSVM, RegressionRanker
from sklearn_ltr.datasets import make_cubic_ranking, make_ranking
from sklearn_ltr.labels import preference_pairs
from sklearn_ltr.metrics import get_metric, kendall_tau_distance, pair_precision_score

SHARES = np.arange(1, 11) / 10
DCG = {gain: get_metric("dcg@5", gain=gain) for gain in ("exponential", "linear")}
SHOWN_ROUNDS = (1, 10, 25, 50, 100, 200, 300)

# Precision at 10 %, 20 %, ... of the paper's Table 1.
PUBLISHED = {
    "QBRank P2": (.9446, .903, .8611, .8246, .7938, .7673, .7435, .7218, .7015, .6834),
    "GBT L2": (.9328, .8939, .8557, .8199, .7899, .7637, .7399, .7176, .6977, .6803),
    "RankSVM P2": (.8524, .8152, .7839, .7578, .7357, .7151, .6957, .6779, .6615, .6465),
}  # fmt: skip

COSTS = 10.0 ** np.arange(-2, 5)  # of RankSVM


# --- data ----------------------------------------------------------------------------------------


def queries_of(part, queries):
    return take(part, np.isin(part.groups, queries))


def by_query(part, seed=0):
    """Five folds of train, validation and test, three parts to one to one."""
    fifths = np.array_split(np.random.default_rng(seed).permutation(np.unique(part.groups)), 5)
    for i in range(5):
        turn = fifths[i:] + fifths[:i]
        queries = {"train": np.concatenate(turn[:3]), "validation": turn[3], "test": turn[4]}
        yield Bunch(**{name: queries_of(part, queries[name]) for name in queries})


def mslr10k(args):
    return list(by_query(join(read_files("mslr10k", args.data))))


def mslr(args):
    """Both samples; queries that are in both count once."""
    first, second = (join(read_files(name, args.data)) for name in ("mslr10k", "mslr30k"))
    new = queries_of(second, np.setdiff1d(second.groups, first.groups))
    return list(by_query(join([first, new])))


def synthetic(args):
    n = sum(args.queries)
    return [fold_of(*make_ranking(n, (10, 50), 50, random_state=0), args.queries)]


def cubic(args):
    n = sum(args.queries)
    return [fold_of(*make_cubic_ranking(n, 30, random_state=0), args.queries)]


SETS = {
    "webtrack": lambda args: load_folds("webtrack", args.data),
    "mslr": mslr,
    "mslr10k": mslr10k,
    "synthetic": synthetic,
    "cubic": cubic,
}


def single_grades(train, share, seed):
    """L1 and L2: queries cut down to one grade, and the others."""
    rng = np.random.default_rng(seed)
    queries = rng.permutation(np.unique(train.groups))
    n = round(share * len(queries))
    kept = []
    for query in queries[:n]:
        rows = np.flatnonzero(train.groups == query)
        grade = rng.choice(np.unique(train.y[rows]))
        kept.append(rng.permutation(rows[train.y[rows] == grade])[:10])
    return take(train, np.concatenate(kept)), queries_of(train, queries[n:])


# --- figures of scores ---------------------------------------------------------------------------


def pair_precision(part, scores):
    """Precision at 10 %, 20 %, ... of all pairs together, and at 100 % of each query with pairs."""
    pooled = pair_precision_score(part.y, scores, part.groups, share=SHARES)
    right = 1 - query_values(kendall_tau_distance, part, scores)
    return pooled, right[~np.isnan(right)]


def dcg(part, scores, gain="exponential"):
    """DCG-5 of each query."""
    return query_values(DCG[gain], part, scores)


# --- fits ----------------------------------------------------------------------------------------


def boosted(model, train, fold, args, **fit_params):
    """Scores of the test rows: after the chosen rounds, and after each."""
    model.set_params(
        n_estimators=args.rounds,
        learning_rate=args.learning_rate,
        max_leaf_nodes=args.leaves,
        scoring=DCG["exponential"],
    )
    seconds = fit_ranker(model, train, fold.validation, **fit_params)
    stages = list(model.staged_predict(fold.test.X))
    stages += stages[-1:] * (args.rounds - len(stages))
    chosen = best_round(model.validation_score_)
    return Bunch(scores=stages[chosen - 1], rounds=chosen, stages=stages, seconds=seconds)


def gbt(train, fold, args):
    return boosted(RegressionRanker(gain="linear"), train, fold, args)


def qbrank(train, fold, args, **params):
    return boosted(QBRank(**params), train, fold, args)


def qbrank_of_preferences(L2, labelled, fold, args, **params):
    """Pairs of L2 with the differences of their grades as margins, labels of other rows."""
    train = join([L2, labelled])
    train.y[: len(L2.y)] = np.nan
    preferences, margin = preference_pairs(L2.y, L2.groups)
    given = {"preferences": preferences}
    if params.get("margin", "grade") == "grade":
        given["preference_margin"] = margin
    return boosted(QBRank(**params), train, fold, args, **given)


def fit_svm(train, cost):
    n_pairs = len(preference_pairs(train.y, train.groups)[0])
    ranker = RankSVM(cost / n_pairs)  # which multiplies the sum over the pairs
    svm = make_pipeline(FunctionTransformer(signed_log), StandardScaler(), ranker)
    return svm.fit(train.X, train.y, ranksvm__groups=train.groups)


def best_svm(train, fold):
    """C times the number of pairs, and scores of the test rows."""
    best = -np.inf
    for cost in COSTS:
        svm = fit_svm(train, cost)
        value = dcg(fold.validation, svm.predict(fold.validation.X)).mean()
        if value > best:
            best, chosen, scores = value, cost, svm.predict(fold.test.X)
    return chosen, scores


def rank_svm(train, fold, args):
    (seconds, _), (cost, scores) = timed(best_svm, train, fold)
    return Bunch(scores=scores, rounds=f"{cost:g}", stages=[scores] * args.rounds, seconds=seconds)


TABLE_1 = {
    "QBRank P2": lambda L2, *a: qbrank(L2, *a, pair_weight=1.0),
    "QBRank P2 + L2": lambda L2, *a: qbrank(L2, *a),
    "QBRank P2, paper": lambda L2, *a: qbrank(L2, *a, pair_weight=1.0, target="paper"),
    "GBT L2": gbt,
    "RankSVM P2": rank_svm,
}

FIGURE_1 = {
    "GBT L1": lambda L1, L2, *a: gbt(L1, *a),
    "GBT L2": lambda L1, L2, *a: gbt(L2, *a),
    "GBT L1 + L2": lambda L1, L2, *a: gbt(join([L1, L2]), *a),
    "RankSVM P2": lambda L1, L2, *a: rank_svm(L2, *a),
    "QBRank P2": lambda L1, L2, *a: qbrank(L2, *a, pair_weight=1.0),
    "QBRank P2, margin 1": lambda L1, L2, *a: qbrank(L2, *a, pair_weight=1.0, margin=1.0),
    "QBRank P2, paper": lambda L1, L2, *a: qbrank(L2, *a, pair_weight=1.0, target="paper"),
    "QBRank P2, paper, margin 1": lambda L1, L2, *a: qbrank(
        L2, *a, pair_weight=1.0, margin=1.0, target="paper"
    ),
    "QBRank P2 + L1": lambda L1, L2, *a: qbrank_of_preferences(L2, L1, *a),
    "QBRank P2 + L1, margin 1": lambda L1, L2, *a: qbrank_of_preferences(L2, L1, *a, margin=1.0),
    "QBRank P2 + L1, paper": lambda L1, L2, *a: qbrank_of_preferences(L2, L1, *a, target="paper"),
    "QBRank P2 + L1, paper, margin 1": lambda L1, L2, *a: qbrank_of_preferences(
        L2, L1, *a, target="paper", margin=1.0
    ),
    "QBRank P2 + L1 + L2": lambda L1, L2, *a: qbrank(join([L1, L2]), *a),
}

# What the paper's Figure 1 and its text say: the first is better.
CLAIMS = (
    ("GBT L1 + L2", "GBT L2"),
    ("GBT L2", "GBT L1"),
    ("QBRank P2", "GBT L2"),
    ("QBRank P2", "RankSVM P2"),
    ("QBRank P2 + L1", "QBRank P2"),
    ("QBRank P2 + L1, paper", "QBRank P2, paper"),
    ("QBRank P2 + L1, margin 1", "QBRank P2, margin 1"),
    ("QBRank P2 + L1, paper, margin 1", "QBRank P2, paper, margin 1"),
    ("QBRank P2 + L1", "QBRank P2 + L1, margin 1"),
    ("QBRank P2 + L1, paper", "QBRank P2 + L1, paper, margin 1"),
    ("QBRank P2 + L1 + L2", "QBRank P2"),
    ("QBRank P2 + L1 + L2", "GBT L1 + L2"),
)

WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9)
TIES = (0.1, 1.0)


# --- tables --------------------------------------------------------------------------------------


def mean_and_error(values):
    return f"{values.mean():.3f} ± {standard_error(values):.3f}"


def test_of(better, worse):
    """Difference of the means, and p of the paired t-test."""
    difference, _, p = paired_test(better, worse)
    return f"{difference:+.4f}, p = {p:.2g}"


def run_all(fits, folds):
    """Per contender the fits of all folds, DCG-5 of all test queries, and precisions."""
    results = {}
    for name, fit in fits.items():
        done = [fit(fold) for fold in folds]
        pairs = [pair_precision(fold.test, d.scores) for fold, d in zip(folds, done, strict=True)]
        results[name] = Bunch(
            fits=done,
            pooled=np.mean([pooled for pooled, _ in pairs], axis=0),
            per_query=np.concatenate([each for _, each in pairs]),
            **{
                gain: np.concatenate(
                    [dcg(f.test, d.scores, gain) for f, d in zip(folds, done, strict=True)]
                )
                for gain in DCG
            },
        )
    return results


def rounds_of(result):
    return " ".join(f"{fit.rounds}" for fit in result.fits)


def print_dcg(results, title):
    print(f"\n{title}, test queries of all folds: mean ± standard error")
    print(
        f"{'':<34}{'DCG-5, 2^l - 1':>18}{'DCG-5, linear':>18}{'pairs right':>18}"
        f"{'fit s':>8}  rounds chosen; of RankSVM, C times the number of pairs"
    )
    for name, r in results.items():
        cells = [mean_and_error(values) for values in (r.exponential, r.linear, r.per_query)]
        seconds = np.mean([fit.seconds for fit in r.fits])
        print(
            f"{name:<34}" + "".join(f"{cell:>18}" for cell in cells) + f"{seconds:8.1f}  "
            f"{rounds_of(r)}"
        )


def print_tests(results, pairs):
    print()
    row("", ["DCG-5, 2^l - 1", "pairs right"], 24, 64)
    for better, worse in pairs:
        if not {better, worse} <= results.keys():
            continue
        a, b = results[better], results[worse]
        cells = test_of(a.exponential, b.exponential), test_of(a.per_query, b.per_query)
        row(f"{better} > {worse}", cells, 24, 64)


def table_1(folds, args):
    fits = {
        name: (lambda fold, fit=fit: fit(fold.train, fold, args))
        for name, fit in TABLE_1.items()
        if name in args.contenders
    }
    results = run_all(fits, folds)
    print("\nTable 1: precision at K % of the test pairs, mean of the folds")
    row("", [f"{share:.0%}" for share in SHARES], 8, 30)
    for name, result in results.items():
        row(name, [f"{value:.4f}" for value in result.pooled], 8, 30)
    for name, values in PUBLISHED.items():
        row(f"{name}, published", [f"{value:.4f}" for value in values], 8, 30)
    print_dcg(results, "Table 1's contenders")
    print_tests(results, [("QBRank P2", name) for name in TABLE_1 if name != "QBRank P2"])
    order = ("QBRank P2", "GBT L2", "RankSVM P2")
    for k in (0, 4, 9) if results.keys() >= set(order) else ():
        holds = all(results[a].pooled[k] > results[b].pooled[k] for a, b in pairwise(order))
        print(f"the paper's order at {SHARES[k]:.0%}: {'yes' if holds else 'no'}")


def figure_1(folds, args):
    parts = [single_grades(fold.train, args.single, seed) for seed, fold in enumerate(folds)]
    fits = {}
    for name, fit in FIGURE_1.items():
        if name not in args.contenders:
            continue
        todo = iter(parts)
        fits[name] = lambda fold, fit=fit, todo=todo: fit(*next(todo), fold, args)
    results = run_all(fits, folds)
    print()
    for i, name in enumerate(("L1", "L2")):
        rows = np.mean([len(p[i].y) for p in parts])
        queries = np.mean([n_queries(p[i]) for p in parts])
        print(f"Figure 1: {name} has {queries:.0f} queries and {rows:.0f} rows a fold")
    print_dcg(results, "Figure 1")
    shown = [k for k in SHOWN_ROUNDS if k <= args.rounds]
    print("\nFigure 1: DCG-5 (2^l - 1) of the test queries after so many rounds")
    row("", shown, 8, 34)
    curves = {}
    for name, result in results.items():
        by_fold = list(zip(folds, result.fits, strict=True))
        curves[name] = [
            np.concatenate([dcg(fold.test, fit.stages[k]) for fold, fit in by_fold]).mean()
            for k in range(args.rounds)
        ]
        row(name, [f"{curves[name][k - 1]:.3f}" for k in shown], 8, 34)
    print_tests(results, CLAIMS)
    return curves


def targets(folds, args):
    """Both targets, weights of the pairs, weights of ties."""
    fits = {}
    for target in ("bound", "paper"):
        for w in WEIGHTS:
            fits[f"{target}, w = {w}"] = {"target": target, "pair_weight": w}
        for tie in TIES:
            fits[f"{target}, w = 0.5, ties {tie}"] = {"target": target, "tie_weight": tie}
            fits[f"{target}, w = 1, ties {tie}"] = {
                "target": target, "tie_weight": tie, "pair_weight": 1.0
            }  # fmt: skip
    fits = {
        name: (lambda fold, params=params: qbrank(fold.train, fold, args, **params))
        for name, params in fits.items()
    }
    results = run_all(fits, folds)
    print_dcg(results, "Targets and weights, pairs and labels of whole training parts")
    print_tests(
        results,
        [(f"bound, w = {w}", f"paper, w = {w}") for w in WEIGHTS]
        + [
            (f"{t}, w = 0.5, ties {tie}", f"{t}, w = 0.5")
            for t in ("bound", "paper")
            for tie in TIES
        ],
    )


def costs(folds):
    """RankSVM by C: what validation sees, and what the test parts say."""
    print("\nRankSVM P2, whole training parts, by C times the number of pairs: means of the folds")
    row("", ["validation", "test DCG-5", "precision", "fit CPU s"], 14, 12)
    row("", ["DCG-5", "2^l - 1", "at 100%", ""], 14, 12)
    for cost in COSTS:
        figures = []
        for fold in folds:
            (_, seconds), svm = timed(fit_svm, fold.train, cost)
            scores = svm.predict(fold.test.X)
            figures.append(
                (
                    dcg(fold.validation, svm.predict(fold.validation.X)).mean(),
                    dcg(fold.test, scores).mean(),
                    pair_precision_score(fold.test.y, scores, fold.test.groups),
                    seconds,
                )
            )
        value, test, pairs, seconds = np.mean(figures, axis=0)
        row(f"{cost:g}", [f"{value:.3f}", f"{test:.3f}", f"{pairs:.4f}", f"{seconds:.2f}"], 14, 12)


def plot(curves, file):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(
        1, len(curves), figsize=(6 * len(curves), 4.5), squeeze=False, layout="constrained"
    )
    for ax, (name, lines) in zip(axes[0], curves.items(), strict=True):
        for label, values in lines.items():
            ax.plot(np.arange(1, len(values) + 1), values, label=label)
        ax.set(title=name, xlabel="rounds", ylabel="DCG-5 of test queries")
    axes[0, -1].legend(fontsize="small")
    fig.savefig(file)
    print(f"\nplot written to {file}")


def main():
    parser = make_parser(
        __doc__, data="folder of the real sets", quick="small, to see that it runs"
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument(
        "--queries",
        type=int,
        nargs=3,
        default=[1300, 700, 1400],
        metavar=("TRAIN", "VALIDATION", "TEST"),
        help="of the artificial data",
    )
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--leaves", type=int, default=20)
    parser.add_argument("--single", type=float, default=0.6, help="share of queries made L1")
    parser.add_argument("--targets", action="store_true", help="compare targets, w and tie_weight")
    names = list(TABLE_1 | FIGURE_1)
    parser.add_argument("--contenders", nargs="+", choices=names, default=names)
    parser.add_argument("--costs", action="store_true", help="RankSVM by C")
    parser.add_argument(
        "--no-figures", action="store_true", help="only what --targets and --costs measure"
    )
    parser.add_argument("--plot", metavar="FILE", help="write Figure 1 here")
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.queries = 10, [60, 30, 60]
    if args.data is None:
        args.sets = [name for name in args.sets if name in ("synthetic", "cubic")]
    print_head()
    print(f"up to {args.rounds} rounds, {args.leaves} leaves, learning rate {args.learning_rate:g}")
    curves = {}
    for name in args.sets:
        folds = SETS[name](args)
        rows = sum(len(fold.train.y) for fold in folds) // len(folds)
        print(
            f"\n=== {name}: {len(folds)} folds, {rows} training rows each, {describe_tests(folds)}",
            flush=True,
        )
        if not args.no_figures:
            table_1(folds, args)
            curves[name] = figure_1(folds, args)
        if args.targets:
            targets(folds, args)
        if args.costs:
            costs(folds)
    if args.plot and curves:
        plot(curves, args.plot)


if __name__ == "__main__":
    main()
