# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Linear and neural rankers on LETOR's OHSUMED and MQ2008, five folds, beside published results.

    python benchmarks/letor_linear.py --data DIR [--sets ohsumed mq2008] [--quick]

DIR (or the environment variable SKLEARN_LTR_DATA) holds the folders `ohsumed-letor3-qln` and
`mq2008`. As LETOR asks, a model is fitted on three parts of five, everything there is to choose is
chosen by the highest MAP on the fourth, and the fifth is scored once. The first of equals is taken,
which is the stronger penalty or the fewer rounds.

"per pair" counts every pair the same, as the RankSVM of the published rows does: the weight of a
query is the number of its pairs. Otherwise queries count the same. ListNet's temperature is in its
grid, as LETOR's ListNet had the mapping of its grades chosen by the validation part.
"""

import argparse
import os
import sys
import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from scipy.stats import ttest_rel
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge

import sklearn_ltr
from sklearn_ltr import (
    AdaRank,
    FeatureRank,
    LambdaRank,
    ListMLE,
    ListNet,
    RankCosine,
    RankNet,
    RankSVM,
    SingleFeatureRanker,
)
from sklearn_ltr.base import BaseRanker
from sklearn_ltr.datasets import load_letor_folds
from sklearn_ltr.metrics import get_metric

REPORTED = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "p@10")
CRITERION = "map"

# Penalties from strong to weak, over all that makes a difference.
ALPHAS = [10.0**k for k in range(2, -6, -1)]
COSTS = [10.0**k for k in range(-3, 5)]


class Model(NamedTuple):
    """A ranker, what to choose its parameters from, and the published row to compare it with."""

    ranker: object
    grid: dict = {}
    published: str | None = None
    stops: bool = False  # the number of its rounds, too, is chosen
    per_pair: bool = False


def smooth(Ranker, published=None, **params):
    """A linear function at the minimum of its loss."""
    return Model(Ranker(max_iter=1000, **params), {"alpha": ALPHAS}, published)


def by_adam(Ranker, **params):
    """A linear function or a small net, stopped where validation is best."""
    params |= {"batch_size": 32, "max_iter": 100, "n_iter_no_change": 20}
    ranker = Ranker(random_state=0, **params)
    grid = {"alpha": ALPHAS[2:6], "learning_rate_init": [1e-3, 1e-2]}
    return Model(ranker, grid, stops=True)


def boosted(metric, update, published):
    ranker = AdaRank(500, metric=metric, update=update, n_iter_no_change=100)
    return Model(ranker, published=published, stops=True)


MODELS = {
    "least squares": Model(LinearRegression(), published="Regression"),
    "ridge": Model(
        Ridge(), {"alpha": [10.0**k for k in range(5, -3, -1)]}, published="L2 Regression"
    ),
    "SingleFeatureRanker": Model(SingleFeatureRanker("map")),
    "FeatureRank": Model(FeatureRank(), {"n_classes": [8, 16, 32]}),
    "RankSVM squared": Model(RankSVM(), {"C": COSTS}, "RankSVM-Primal"),
    "RankSVM squared, per pair": Model(RankSVM(), {"C": COSTS}, "RankSVM-Primal", per_pair=True),
    "RankSVM hinge": Model(RankSVM(loss="hinge"), {"C": COSTS}, "RankSVM-Struct"),
    "RankSVM hinge, per pair": Model(
        RankSVM(loss="hinge"), {"C": COSTS}, "RankSVM-Struct", per_pair=True
    ),
    "RankNet": smooth(RankNet),
    "RankNet, per pair": smooth(RankNet)._replace(per_pair=True),
    "ListNet": Model(
        ListNet(max_iter=1000),
        {"temperature": [1, 1 / 2, 1 / 4, 1 / 8], "alpha": ALPHAS},
        "ListNet",
    ),
    "ListMLE": smooth(ListMLE, "ListMLE"),
    "RankCosine": smooth(RankCosine),
    "LambdaRank ndcg@10": by_adam(LambdaRank, metric="ndcg@10"),
    "LambdaRank map": by_adam(LambdaRank, metric="map"),
    "LambdaRank ndcg@10, net": by_adam(LambdaRank, metric="ndcg@10", hidden_layer_sizes=(10,)),
    "LambdaRank map, net": by_adam(LambdaRank, metric="map", hidden_layer_sizes=(10,)),
    "RankNet, net": by_adam(RankNet, hidden_layer_sizes=(10,)),
    "AdaRank map, paper": boosted("map", "paper", "AdaRank-MAP"),
    "AdaRank map, adaboost": boosted("map", "adaboost", "AdaRank-MAP"),
    "AdaRank ndcg@10, paper": boosted("ndcg@10", "paper", "AdaRank-NDCG"),
    "AdaRank ndcg@10, adaboost": boosted("ndcg@10", "adaboost", "AdaRank-NDCG"),
}
REFERENCE = "RankSVM squared, per pair"

# NDCG@1, 3, 5, 10, MAP, P@10 of LETOR's baselines and of the papers that use the same sets; None
# where not known.
PUBLISHED_OHSUMED = {
    "Regression": (0.4456, 0.4426, 0.4278, 0.4110, 0.4220, 0.4666),
    "L2 Regression": (None, 0.4740, 0.4568, 0.4436, 0.4439, None),
    "RankSVM": (0.4958, 0.4207, 0.4164, 0.4140, 0.4334, 0.4864),
    "RankSVM-Primal": (None, 0.4855, 0.4690, 0.4504, 0.4446, None),
    "RankSVM-Struct": (None, 0.4850, 0.4729, 0.4523, 0.4478, None),
    "ListNet": (0.5326, 0.4732, 0.4432, 0.4410, 0.4457, 0.4975),
    "ListMLE": (None, 0.4188, None, 0.4190, 0.4326, None),
    "AdaRank-MAP": (0.5388, 0.4682, 0.4613, 0.4429, 0.4487, 0.4976),
    "AdaRank-NDCG": (None, 0.4790, 0.4673, 0.4496, 0.4498, None),
}
PUBLISHED_MQ2008 = {
    "RankSVM-Struct": (None, 0.4286, 0.4695, 0.2279, 0.4696, None),
    "ListNet": (None, 0.4324, 0.4747, 0.2303, 0.4775, None),
    "AdaRank-MAP": (None, 0.4370, 0.4794, 0.2288, 0.4764, None),
    "AdaRank-NDCG": (None, 0.4420, 0.4821, 0.2307, 0.4824, None),
}

# Folder, preset of the metrics, published rows, title.
SETS = {
    "ohsumed": ("ohsumed-letor3-qln", "letor3", PUBLISHED_OHSUMED, "OHSUMED (LETOR 3.0)"),
    "mq2008": ("mq2008", "letor4", PUBLISHED_MQ2008, "MQ2008 (LETOR 4.0)"),
}

# What is asked of RankSVM on OHSUMED, and by how much others may miss their published row.
RANKSVM_OHSUMED = {"ndcg@10": 0.446, "map": 0.445}
TOLERANCE = 0.005


class Fit(NamedTuple):
    """A fit with one setting of the grid, and what came of it."""

    params: dict
    rounds: int | None
    validation: float  # the criterion
    train: float
    scores: np.ndarray  # of the test part
    seconds: float
    unconverged: bool


def fit_fold(fold, model, metric, quick):
    """Fit a model with each setting of its grid: a list of Fits."""
    criterion, fits = metric(CRITERION), []
    settings = [
        dict(zip(model.grid, values, strict=True)) for values in product(*model.grid.values())
    ]
    for params in settings[:: len(settings) // 2 or 1] if quick else settings:
        ranker = sklearn.clone(model.ranker).set_params(**params)
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            fit(ranker, fold, model, criterion)
        fits.append(
            Fit(
                params,
                ranker.best_iteration_ if model.stops else None,
                evaluate(ranker, fold.validation, criterion),
                evaluate(ranker, fold.train, criterion),
                predict(ranker, fold.test),
                time.perf_counter() - start,
                len(caught) > 0,
            )
        )
    return fits


def choose(fits):
    """The Fit of the highest criterion; the first of equals."""
    return max(fits, key=lambda f: f.validation)


def describe(fit):
    """The setting and the rounds, in few letters."""
    rounds = [] if fit.rounds is None else [fit.rounds]
    return "/".join(f"{v:g}" for v in [*fit.params.values(), *rounds]) or "-"


def fit(ranker, fold, model, criterion):
    """Fit one ranker to the training part."""
    X, y, groups = fold.train.X, fold.train.y, fold.train.groups
    if not isinstance(ranker, BaseRanker):
        ranker.fit(X, y)
        return
    more = {}
    if model.per_pair:
        more["query_weight"] = pairs_of_query(y, groups)
    if model.stops:
        ranker.set_params(early_stopping=True, scoring=criterion, tol=0)
        part = fold.validation
        more |= {"X_val": part.X, "y_val": part.y, "groups_val": part.groups}
    ranker.fit(X, y, groups, **more)


def pairs_of_query(y, groups):
    """The number of pairs of different grades of each row's query."""
    pairs = np.zeros(len(y))
    for query in np.unique(groups):
        rows = groups == query
        counts = np.unique(y[rows], return_counts=True)[1]
        pairs[rows] = (counts.sum() ** 2 - (counts**2).sum()) / 2
    return pairs


def predict(ranker, part):
    if isinstance(ranker, FeatureRank):
        return ranker.predict(part.X, groups=part.groups)
    return ranker.predict(part.X)


def evaluate(ranker, part, metric):
    return metric(part.y, predict(ranker, part), part.groups)


def row(title, values, width=27):
    cells = ("     -" if v is None else f"{v:6.4f}" for v in values)
    print(f"{title:<{width}}" + " ".join(f"{cell:>8}" for cell in cells))


def head(title, width=27):
    print(f"{title:<{width}}" + " ".join(f"{name.upper():>8}" for name in REPORTED))


def run(name, data, models, quick):
    folder, like, published, title = SETS[name]
    metric = partial(get_metric, like=like)
    start = time.perf_counter()
    folds = list(load_letor_folds(data / folder))
    tests = [fold.test for fold in folds]
    n_queries = sum(len(np.unique(t.groups)) for t in tests)
    print(f"\n{'=' * 100}\n{title}, query-level normalised, LETOR's folds; like={like!r}")
    print(
        f"{sum(len(t.y) for t in tests)} rows, {tests[0].X.shape[1]} features, {n_queries} queries"
    )
    tasks = list(product(models, range(5)))
    done = Parallel(n_jobs=2)(
        delayed(fit_fold)(folds[i], MODELS[key], metric, quick) for key, i in tasks
    )
    grids = dict(zip(tasks, done, strict=True))

    def on_tests(fits, m):
        """The values of the test queries, by fold."""
        return [
            metric(m)(t.y, f.scores, t.groups, per_query=True).values
            for t, f in zip(tests, fits, strict=True)
        ]

    chosen = {key: [choose(grids[key, i]) for i in range(5)] for key in models}
    values = {(key, m): on_tests(chosen[key], m) for key in models for m in REPORTED}
    means = {k: float(np.mean([v.mean() for v in by_fold])) for k, by_fold in values.items()}

    head("\nmean of 5 folds")
    for key in models:
        row(key, [means[key, m] for m in REPORTED])
    print("\npublished")
    for method, numbers in published.items():
        row(method, numbers)
    print("\nmeasured minus published")
    for key in models:
        numbers = published.get(MODELS[key].published)
        if numbers is not None:
            differences = [
                "-" if p is None else f"{means[key, m] - p:+.4f}"
                for m, p in zip(REPORTED, numbers, strict=True)
            ]
            known = [
                means[key, m] - p
                for m, p in zip(REPORTED, numbers, strict=True)
                if p is not None and m in ("ndcg@10", "map")
            ]
            verdict = "" if min(known) >= -TOLERANCE else f"  below by more than {TOLERANCE}"
            label = f"{key} - {MODELS[key].published}"
            print(f"{label:<44}" + " ".join(f"{d:>8}" for d in differences) + verdict)

    print(f"\nMinus {REFERENCE}: difference and paired t-test over the {n_queries} test queries")
    for key in models:
        if key != REFERENCE and REFERENCE in models:
            cells = []
            for m in ("ndcg@1", "ndcg@10", "map"):
                a, b = (np.concatenate(values[k, m]) for k in (key, REFERENCE))
                p = ttest_rel(a, b).pvalue if (a != b).any() else 1.0
                cells.append(f"{m.upper()} {(a - b).mean():+.4f} (p={p:.3f})")
            print(f"{key:<27}" + "   ".join(cells))

    print("\nNDCG@10 / MAP by fold")
    for key in models:
        pairs = zip(values[key, "ndcg@10"], values[key, "map"], strict=True)
        print(f"{key:<27}" + "  ".join(f"{a.mean():.4f} / {b.mean():.4f}" for a, b in pairs))

    print(
        "\nChosen by validation MAP in each fold: parameters and rounds; mean MAP of training and"
    )
    print("validation; seconds of all fits of a fold, one thread; fits that did not converge")
    for key in models:
        cells = " ".join(f"{describe(f):>14}" for f in chosen[key])
        train, validation = (
            np.mean([getattr(f, part) for f in chosen[key]]) for part in ("train", "validation")
        )
        every = [f for i in range(5) for f in grids[key, i]]
        seconds, unconverged = sum(f.seconds for f in every) / 5, sum(f.unconverged for f in every)
        title = f"{key:<27}{' '.join(MODELS[key].grid):<25}"
        print(f"{title}{cells}  {train:.4f} {validation:.4f} {seconds:6.1f} {unconverged:>3}")

    print(
        "\nNot by LETOR's rules, to see what is lost by choosing by the few queries of a fold: the"
    )
    print("setting of the highest mean validation MAP for all folds, and its NDCG@10 / MAP")
    for key in models:
        settings = list(zip(*(grids[key, i] for i in range(5)), strict=True))
        if len(settings) > 1:
            best = max(settings, key=lambda fits: sum(f.validation for f in fits))
            ndcg, ap = (np.mean([v.mean() for v in on_tests(best, m)]) for m in ("ndcg@10", "map"))
            params = "/".join(f"{value:g}" for value in best[0].params.values())
            print(f"{key:<27}{' '.join(MODELS[key].grid):<25}{params:>12}  {ndcg:.4f} / {ap:.4f}")

    if name == "ohsumed" and REFERENCE in models:
        for m, target in RANKSVM_OHSUMED.items():
            verdict = "met" if means[REFERENCE, m] >= target else "MISSED"
            print(f"{REFERENCE}: {m.upper()} {means[REFERENCE, m]:.4f}, target {target}: {verdict}")
    print(f"{time.perf_counter() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("SKLEARN_LTR_DATA"))
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--quick", action="store_true", help="two settings of each grid")
    args = parser.parse_args()
    if args.data is None:
        parser.error("give --data or set SKLEARN_LTR_DATA")
    print(
        f"sklearn_ltr {sklearn_ltr.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, Python {sys.version.split()[0]}, "
        f"{time.strftime('%d %b %Y')}"
    )
    for name in args.sets:
        run(name, Path(args.data), args.models, args.quick)


if __name__ == "__main__":
    main()
