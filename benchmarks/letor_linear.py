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

import time
import warnings
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import sklearn
from _accuracy import (
    evaluate,
    fit_all,
    fit_ranker,
    mean,
    means,
    metric_head,
    metric_row,
    paired_test,
)
from _data import PUBLISHED, describe_tests, load_folds
from _harness import make_parser, print_head, require_data
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge

from sklearn_ltr import (
    SVMMAP,
    AdaRank,
    FeatureRank,
    LambdaRank,
    ListMLE,
    ListNet,
    MPRank,
    RankCosine,
    RankNet,
    RankSVM,
    SingleFeatureRanker,
    SVRank,
)
from sklearn_ltr.base import BaseRanker
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


# Every query counts the same. Where pairs are to, RankSVM gets weights of queries, so that its C
# means the same whatever the number of pairs.
ALIKE = {"pair_weighting": "query"}


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
    "RankSVM squared": Model(RankSVM(**ALIKE), {"C": COSTS}, "RankSVM-Primal"),
    "RankSVM squared, per pair": Model(
        RankSVM(**ALIKE), {"C": COSTS}, "RankSVM-Primal", per_pair=True
    ),
    "RankSVM hinge": Model(RankSVM(loss="hinge", **ALIKE), {"C": COSTS}, "RankSVM-Struct"),
    "RankSVM hinge, per pair": Model(
        RankSVM(loss="hinge", **ALIKE), {"C": COSTS}, "RankSVM-Struct", per_pair=True
    ),
    "MPRank": Model(MPRank(), {"C": COSTS}),
    "MPRank, per pair": Model(MPRank(), {"C": COSTS}, per_pair=True),
    "SVRank": Model(SVRank(), {"C": COSTS}),
    "SVMMAP": Model(SVMMAP(), {"C": COSTS}, "SVMMAP"),
    "RankNet": smooth(RankNet, **ALIKE),
    "RankNet, per pair": smooth(RankNet),
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
    "RankNet, net": by_adam(RankNet, hidden_layer_sizes=(10,), **ALIKE),
    "AdaRank map, paper": boosted("map", "paper", "AdaRank-MAP"),
    "AdaRank map, adaboost": boosted("map", "adaboost", "AdaRank-MAP"),
    "AdaRank ndcg@10, paper": boosted("ndcg@10", "paper", "AdaRank-NDCG"),
    "AdaRank ndcg@10, adaboost": boosted("ndcg@10", "adaboost", "AdaRank-NDCG"),
}
REFERENCE = "RankSVM squared, per pair"

# Preset of the metrics, title.
SETS = {
    "ohsumed": ("letor3", "OHSUMED (LETOR 3.0)"),
    "mq2008": ("letor4", "MQ2008 (LETOR 4.0)"),
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
            fit_model(ranker, fold, model, criterion)
        fits.append(
            Fit(
                params,
                ranker.best_iteration_ if model.stops else None,
                value(ranker, fold.validation, criterion),
                value(ranker, fold.train, criterion),
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


def fit_model(ranker, fold, model, criterion):
    """Fit one ranker to the training part."""
    if not isinstance(ranker, BaseRanker):
        ranker.fit(fold.train.X, fold.train.y)
        return
    more = {}
    if model.per_pair:
        more["query_weight"] = pairs_of_query(fold.train.y, fold.train.groups)
    if model.stops:
        ranker.set_params(early_stopping=True, scoring=criterion, tol=0)
    fit_ranker(ranker, fold.train, fold.validation if model.stops else None, **more)


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


def value(ranker, part, metric):
    return metric(part.y, predict(ranker, part), part.groups)


def run(name, data, models, quick):
    like, title = SETS[name]
    metric, published = partial(get_metric, like=like), PUBLISHED[name]
    metrics = {m: metric(m) for m in REPORTED}
    start = time.perf_counter()
    folds = load_folds(name, data)
    print(f"\n{'=' * 100}\n{title}, query-level normalised, LETOR's folds; like={like!r}")
    print(describe_tests(folds))

    def fit_grid(fold, key):
        return fit_fold(fold, MODELS[key], metric, quick)

    grids = fit_all(fit_grid, models, folds)

    def on_tests(fits):
        return evaluate(folds, [f.scores for f in fits], metrics)

    chosen = {key: [choose(fits) for fits in grids[key]] for key in models}
    values = {key: on_tests(chosen[key]) for key in models}
    found = {key: means(values[key]) for key in models}

    metric_head("mean of 5 folds", REPORTED)
    for key in models:
        metric_row(key, found[key], REPORTED)
    print("\npublished")
    for method, figures in published.items():
        metric_row(method, figures, REPORTED)
    print("\nmeasured minus published")
    for key in models:
        figures = published.get(MODELS[key].published)
        if figures is not None:
            differences = {m: found[key][m] - figures[m] for m in REPORTED if m in figures}
            cells = [f"{differences[m]:+.4f}" if m in differences else "-" for m in REPORTED]
            below = min(differences[m] for m in ("ndcg@10", "map")) < -TOLERANCE
            label = f"{key} - {MODELS[key].published}"
            verdict = f"  below by more than {TOLERANCE}" if below else ""
            print(f"{label:<44}" + " ".join(f"{cell:>8}" for cell in cells) + verdict)

    print(f"\nMinus {REFERENCE}: difference and paired t-test over the test queries")
    for key in models:
        if key != REFERENCE and REFERENCE in models:
            cells = []
            for m in ("ndcg@1", "ndcg@10", "map"):
                pair = (np.concatenate(values[k][m]) for k in (key, REFERENCE))
                difference, _, p = paired_test(*pair)
                cells.append(f"{m.upper()} {difference:+.4f} (p={p:.3f})")
            print(f"{key:<28}" + "   ".join(cells))

    print("\nNDCG@10 / MAP by fold")
    for key in models:
        pairs = zip(values[key]["ndcg@10"], values[key]["map"], strict=True)
        print(f"{key:<28}" + "  ".join(f"{a.mean():.4f} / {b.mean():.4f}" for a, b in pairs))

    print(
        "\nChosen by validation MAP in each fold: parameters and rounds; mean MAP of training and\n"
        "validation; seconds of all fits of a fold, one thread; fits that did not converge"
    )
    for key in models:
        cells = " ".join(f"{describe(f):>14}" for f in chosen[key])
        train, validation = (
            np.mean([getattr(f, part) for f in chosen[key]]) for part in ("train", "validation")
        )
        every = [f for fits in grids[key] for f in fits]
        seconds, unconverged = sum(f.seconds for f in every) / 5, sum(f.unconverged for f in every)
        title = f"{key:<28}{' '.join(MODELS[key].grid):<25}"
        print(f"{title}{cells}  {train:.4f} {validation:.4f} {seconds:6.1f} {unconverged:>3}")

    print(
        "\nNot by LETOR's rules, to see what is lost by choosing by the few queries of a fold:\n"
        "the setting of the highest mean validation MAP for all folds, and its NDCG@10 / MAP"
    )
    for key in models:
        settings = list(zip(*grids[key], strict=True))
        if len(settings) > 1:
            best = max(settings, key=lambda fits: sum(f.validation for f in fits))
            of_best = on_tests(best)
            cell = " / ".join(f"{mean(of_best[m]):.4f}" for m in ("ndcg@10", "map"))
            params = "/".join(f"{value:g}" for value in best[0].params.values())
            print(f"{key:<28}{' '.join(MODELS[key].grid):<25}{params:>12}  {cell}")

    if name == "ohsumed" and REFERENCE in models:
        for m, target in RANKSVM_OHSUMED.items():
            verdict = "met" if found[REFERENCE][m] >= target else "MISSED"
            print(f"{REFERENCE}: {m.upper()} {found[REFERENCE][m]:.4f}, target {target}: {verdict}")
    print(f"{time.perf_counter() - start:.0f} s", flush=True)


def main():
    parser = make_parser(__doc__, data="folder of the data sets", quick="two settings of each grid")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    args = parser.parse_args()
    require_data(parser, args)
    print_head()
    for name in args.sets:
        run(name, args.data, args.models, args.quick)


if __name__ == "__main__":
    main()
