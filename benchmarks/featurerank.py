# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FeatureRank on lists of unique ranks and on graded sets, beside linear rankers.

    python benchmarks/featurerank.py --data DIR [--parts lists graded readings time] [--quick]

DIR (or the environment variable SKLEARN_LTR_DATA) holds the folders `ohsumed-letor3-qln`, `mq2008`
and `mslr-web10k-sample`.

The paper's MQ2008-list, lists of several hundred rows each of which has a rank of its own, is not
at hand. Three kinds of such lists stand in for it:

- synthetic: 200 rows of ten uniform features, of which three count: one rises, two are best in or
  near their middle;
- MQ2008 and OHSUMED, trees: rows of random queries put together into lists of about 400, ranked by
  gradient boosted trees fitted to the grades of the whole set. So the truth is a function of real
  features that is not linear, but mostly rises or falls in each;
- MQ2008 and OHSUMED, humps: the same rows, ranked by six features drawn at random, made uniform by
  their quantiles: three count as they are and three by how near they are to their median.

All have normal noise. Training and test lists share no query.
"""

import warnings
from functools import partial

import numpy as np
from _data import join, load_folds
from _harness import make_parser, print_head, require_data, row, timed
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.utils import Bunch

from sklearn_ltr import FeatureRank, ListMLE
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.weak.hidden_order import NEIGHBORS

CLASSES = (2, 4, 8, 16, 32, 64)


def tau_distance(y, scores, groups):
    """The paper's T, the mean over queries."""
    return (1 - get_metric("kendall")(y, scores, groups=groups)) / 2


# --- linear rankers to compare with --------------------------------------------------------------


def least_squares(train):
    """Fitted to the grades brought to 0..1 within each query, as ranks or as they are."""
    return LinearRegression().fit(train.X, train.target)


def list_mle(train):
    return ListMLE().fit(train.X, train.y, groups=train.groups)


LINEAR = {"least squares": least_squares, "ListMLE, linear": list_mle}


# --- lists of unique ranks -----------------------------------------------------------------------


def as_lists(X, utility, groups):
    """Lists with ranks 1..n, the best n, as the grades."""
    y = np.empty(len(utility))
    target = np.empty(len(utility))
    for q in np.unique(groups):
        rows = groups == q
        y[rows] = rankdata(utility[rows])
        target[rows] = y[rows] / rows.sum()
    return Bunch(X=X, y=y, groups=groups, target=target)


def synthetic_lists(folder, seed):
    rng = np.random.default_rng(seed)
    parts = []
    for n_lists in (100, 50):
        X = rng.random((200 * n_lists, 10))
        utility = 2 * X[:, 0] + np.sin(3 * X[:, 1]) - 6 * (X[:, 2] - 0.5) ** 2
        utility += 0.3 * rng.normal(size=len(X))
        parts.append(as_lists(X, utility, np.repeat(np.arange(n_lists), 200)))
    return parts


def pooled_lists(name, truth, folder, seed):
    rng = np.random.default_rng(seed)
    part = join([fold.test for fold in load_folds(name, folder)])
    X, y, ids = part.X, part.y, part.groups
    utility = truth(X, y, rng)
    utility = utility + 0.2 * utility.std() * rng.normal(size=len(y))
    _, ids, sizes = np.unique(ids, return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    list_of_query = np.empty(len(sizes), dtype=int)
    list_of_query[order] = np.cumsum(sizes[order]) // 400
    groups = list_of_query[ids]
    train = groups < 0.6 * groups.max()
    return [as_lists(X[part], utility[part], groups[part]) for part in (train, ~train)]


def trees(X, y, rng):
    model = HistGradientBoostingRegressor(max_iter=200, max_leaf_nodes=15, random_state=0)
    return model.fit(X, y).predict(X)


def humps(X, y, rng):
    varied = [m for m in range(X.shape[1]) if len(np.unique(X[:, m])) > 1000]
    quantiles = rankdata(X[:, rng.choice(varied, 6, replace=False)], axis=0) / len(X)
    return quantiles[:, :3].sum(axis=1) - 2 * np.abs(quantiles[:, 3:] - 0.5).sum(axis=1)


LISTS = {
    "synthetic": synthetic_lists,
    "MQ2008, trees": partial(pooled_lists, "mq2008", trees),
    "MQ2008, humps": partial(pooled_lists, "mq2008", humps),
    "OHSUMED, trees": partial(pooled_lists, "ohsumed", trees),
    "OHSUMED, humps": partial(pooled_lists, "ohsumed", humps),
}


def run_lists(folder, quick):
    seeds = range(2 if quick else 10)
    print("\nKendall tau distance T of test lists (Table 3), mean of", len(seeds), "draws")
    print(f"{'':<18}" + "".join(f"{name:>18}" for name in LINEAR), end="")
    print("".join(f"{f'K={K}':>8}" for K in CLASSES) + "   at random")
    for name, load in LISTS.items():
        linear, found, of_random = [], [], []
        for seed in seeds:
            train, test = load(folder, seed)
            T = partial(tau_distance, test.y, groups=test.groups)
            linear.append([T(scores=fit(train).predict(test.X)) for fit in LINEAR.values()])
            rankers = [FeatureRank(K).fit(train.X, train.y, groups=train.groups) for K in CLASSES]
            found.append([T(scores=r.predict(test.X, groups=test.groups)) for r in rankers])
            of_random.append(T(scores=np.random.default_rng(seed).random(len(test.y))))
        print(f"{name:<18}" + "".join(f"{v:18.4f}" for v in np.mean(linear, axis=0)), end="")
        print("".join(f"{v:8.4f}" for v in np.mean(found, axis=0)), end="")
        print(f"{np.mean(of_random):12.4f}")
        spread = np.std(np.array(found) - np.array(linear)[:, :1], axis=0, ddof=1)
        spread = spread / np.sqrt(len(seeds))
        print(f"{'  s.e. of T minus least squares':<18}".ljust(18 + 18 * len(LINEAR)), end="")
        print("".join(f"{v:8.4f}" for v in spread), flush=True)

    print("\nAccuracy 1 - T of test lists after m features (Fig. 2), first draw")
    for name, load in LISTS.items():
        train, test = load(folder, 0)
        M = train.X.shape[1]
        steps = sorted({1, 2, 5, M // 4, M // 2, 3 * M // 4, M})
        row(name, [f"m={m}" for m in steps], 8, 24)
        for K in (8, 16, 32):
            ranker = FeatureRank(K).fit(train.X, train.y, groups=train.groups)
            stages = list(ranker.staged_predict(test.X, groups=test.groups))
            cells = [f"{1 - tau_distance(test.y, stages[m - 1], test.groups):.4f}" for m in steps]
            row(f"  K={K}", cells, 8, 24)

    print("\nT of test lists where columns are in a random order, K=16, first draw")
    for name, load in LISTS.items():
        train, test = load(folder, 0)
        found, passes = [], []
        for i in range(3 if quick else 20):
            order = np.random.default_rng(i).permutation(train.X.shape[1])
            order = np.arange(len(order)) if i == 0 else order
            ranker = FeatureRank(16).fit(train.X[:, order], train.y, groups=train.groups)
            scores = ranker.predict(test.X[:, order], groups=test.groups)
            found.append(tau_distance(test.y, scores, test.groups))
        given, passes = found[0], found[1:]
        print(
            f"{name:<18}as given {given:.4f}; random {np.mean(passes):.4f} ± "
            f"{np.std(passes, ddof=1):.4f} ({min(passes):.4f} to {max(passes):.4f})",
            flush=True,
        )

    print(
        "\nFigure 1, K=8: in how many classes of all features is the best third of the class above"
    )
    print("the worst third where the centre is above that of the next lower class, and below where")
    print("that is below; the same with the next higher class. First draw; the thirds are those of")
    print("one half of the training lists, the trend that of the other")
    for name, load in LISTS.items():
        train, _ = load(folder, 0)
        half = train.groups % 2 == 0
        thirds, classes = (
            FeatureRank(K).fit(train.X[rows], train.y[rows], groups=train.groups[rows]).centers_
            for K, rows in ((24, half), (8, ~half))
        )
        thirds = thirds.reshape(-1, 8, 3)
        inner = np.sign(thirds[:, :, 2] - thirds[:, :, 0])
        trend = np.sign(np.diff(classes, axis=1))
        lower, higher = inner[:, 1:] == trend, inner[:, :-1] == trend
        varied = np.ptp(classes, axis=1) > 0
        print(f"{name:<18}{lower[varied].mean():8.3f}{higher[varied].mean():8.3f}", flush=True)

    print("\nA feature of pure noise: T of new lists, by the nearest centre and by the own ranks")
    for K in (8, 16, 32):
        near, leaked = [], []
        for seed in range(2 if quick else 10):
            rng = np.random.default_rng(seed)
            X, X_test = rng.random((2, 20_000, 1))
            y = np.concatenate([rng.permutation(200) for _ in range(100)])
            groups = np.repeat(np.arange(100), 200)
            ranker = FeatureRank(K).fit(X, y, groups=groups)
            near.append(tau_distance(y, ranker.predict(X_test, groups=groups), groups))
            slope = np.sign(np.diff(ranker.centers_[0], append=np.nan))
            slope[-1] = slope[-2]
            own = y * K // 200  # what no ranker can know
            leaked.append(tau_distance(y, own + 0.9 * slope[own] * (X_test[:, 0] - 0.5), groups))
        print(f"K={K:<4}{np.mean(near):8.4f}{np.mean(leaked):8.4f}   1/(2K) = {0.5 / K:.4f}")


# --- graded sets ---------------------------------------------------------------------------------


def scaled(folds):
    """Folds with features brought to 0..1 within each query."""
    for fold in folds:
        parts = {}
        for name in ("train", "validation", "test"):
            part = fold[name]
            X = QueryScaler().fit_transform(part.X, groups=part.groups)
            parts[name] = Bunch(X=X, y=part.y, groups=part.groups, target=part.y)
        yield Bunch(**parts)


# Name of the folds, and the preset of the metrics.
GRADED = {
    "OHSUMED": ("ohsumed", "letor3"),
    "MQ2008": ("mq2008", "letor4"),
    "MSLR sample": ("mslr-pooled", None),
}


def run_graded(folder, quick):
    for name, (folds_name, like) in GRADED.items():
        folds = list(scaled(load_folds(folds_name, folder)))
        metrics = {m: get_metric(m, like=like) for m in ("ndcg@10", "map")}
        metrics["T"] = lambda y, s, groups: tau_distance(y, s, groups)

        def judge(ranker, part, metrics=metrics):
            if isinstance(ranker, FeatureRank):
                scores = ranker.predict(part.X, groups=part.groups)
            else:
                scores = ranker.predict(part.X)
            return [metric(part.y, scores, groups=part.groups) for metric in metrics.values()]

        rows = {title: [] for title in LINEAR}
        rows |= {f"FeatureRank K={K}": [] for K in CLASSES}
        rows |= {"FeatureRank, K by validation": [], "  without groups": []}
        chosen = []
        for fold in folds:
            train = fold.train
            for title, fit in LINEAR.items():
                rows[title].append(judge(fit(train), fold.test))
            rankers = {
                K: FeatureRank(K).fit(train.X, train.y, groups=train.groups) for K in CLASSES
            }
            on_validation = {K: judge(r, fold.validation)[1] for K, r in rankers.items()}
            best = max(CLASSES, key=on_validation.get)
            chosen.append(best)
            for K, ranker in rankers.items():
                rows[f"FeatureRank K={K}"].append(judge(ranker, fold.test))
            rows["FeatureRank, K by validation"].append(rows[f"FeatureRank K={best}"][-1])
            scores = rankers[best].predict(fold.test.X)
            test = fold.test
            rows["  without groups"].append(
                [metric(test.y, scores, groups=test.groups) for metric in metrics.values()]
            )
        print(f"\n{name}, mean of five folds; K by validation MAP: {chosen}; like={like!r}")
        row("", metrics, 10, 32)
        for title, values in rows.items():
            row(title, [f"{v:.4f}" for v in np.mean(values, axis=0)], 10, 32)


# --- the readings of equation (4) ----------------------------------------------------------------


def validation_parts(name, folder, seeds):
    """Pairs of training and validation rows: of lists, or of the folds of a graded set."""
    if name in LISTS:
        for seed in seeds:
            train, _ = LISTS[name](folder, seed)
            kept = train.groups < 0.6 * train.groups.max()
            yield [Bunch(**{key: train[key][part] for key in train}) for part in (kept, ~kept)]
    else:
        for fold in scaled(load_folds(GRADED[name][0], folder)):
            yield fold.train, fold.validation


def run_readings(folder, quick):
    classes = (8, 16) if quick else CLASSES
    print(
        "\nEquation (4), compared with the next higher class and with the next lower one: T of "
        "validation\nlists, which no test list is of, and how often each is ahead"
    )
    print(f"{'':<18}" + "".join(f"{f'K={K}':>23}" for K in classes))
    for name in (*LISTS, *GRADED):
        found = []
        for train, validation in validation_parts(name, folder, range(2 if quick else 10)):
            found.append(
                [
                    [
                        tau_distance(
                            validation.y,
                            FeatureRank(K, neighbor=neighbor)
                            .fit(train.X, train.y, groups=train.groups)
                            .predict(validation.X, groups=validation.groups),
                            validation.groups,
                        )
                        for neighbor in NEIGHBORS
                    ]
                    for K in classes
                ]
            )
        found = np.array(found)
        ahead = [(found[..., k] < found[..., 1 - k]).sum(axis=0) for k in (0, 1)]
        cells = [
            f"{a:.4f} {b:.4f} {f'{n}:{m}':>5}"
            for (a, b), n, m in zip(found.mean(axis=0), *ahead, strict=True)
        ]
        print(f"{name:<18}" + "".join(f"{cell:>23}" for cell in cells), flush=True)


# --- time ----------------------------------------------------------------------------------------


def run_time(folder, quick):
    """As many lists of the same lengths as MQ2008-list has, and ten times fewer."""
    print("\nSeconds (CPU seconds), 46 features, lists of about 1,150 rows, K=16")
    print(f"{'rows':>9}{'threads':>9}{'fit':>18}{'predict':>18}{'without groups':>18}")
    rng = np.random.default_rng(0)
    for n in (9_000, 90_000) if quick else (90_000, 900_000):
        X = rng.random((n, 46))
        y = X[:, :5].sum(axis=1) + rng.normal(size=n)
        groups = np.arange(n) // 1150
        for n_jobs in (1, 2):
            ranker = FeatureRank(n_jobs=n_jobs)
            cells = [
                seconds(ranker.fit, X, y, groups=groups),
                seconds(ranker.predict, X, groups=groups),
                seconds(ranker.predict, X),
            ]
            print(f"{n:9}{n_jobs:9}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def seconds(function, *args, **kwargs):
    wall, cpu = timed(function, *args, **kwargs)[0]
    return f"{wall:.2f} ({cpu:.2f})"


PARTS = {
    "lists": run_lists,
    "graded": run_graded,
    "readings": run_readings,
    "time": run_time,
}


def main():
    parser = make_parser(
        __doc__, data="folder of the data sets", quick="few draws, to see that it runs"
    )
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    args = parser.parse_args()
    require_data(parser, args)
    # ListMLE's loss hardly falls any more when its iterations end.
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_head()
    for part in args.parts:
        PARTS[part](args.data, args.quick)


if __name__ == "__main__":
    main()
