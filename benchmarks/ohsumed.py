# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The four pair labels of MPBoost on real data, beside published results.

    python benchmarks/ohsumed.py --data DIR [--sets ohsumed imat2009 mslr] [--quick]

DIR (or the environment variable SKLEARN_LTR_DATA) holds `ohsumed-letor3-qln`, `imat2009-sample` and
`mslr-web10k-sample`. For each of five folds a model is fitted on three parts; the label's
parameter, the learning rate and the number of rounds are those of the highest NDCG@5 on the fourth
part; the fifth is scored once, with these. No choice looks at a test part.

Labels can only be compared at matched shrinkage. The paper's step sets squared distances to 1, so
that labels below 1 shrink every step by about their mean square, a learning rate under another
name; "newton" does not. So every label gets the same learning rates, both steps are run, the
shrinkage in effect is printed, and the last table holds the learning rate fixed.
"""

import time
import warnings
from itertools import product

import numpy as np
from _accuracy import (
    evaluate,
    fit_all,
    fit_by_validation,
    least_squares,
    mean,
    means,
    metric_head,
    metric_row,
    paired_test,
)
from _data import PUBLISHED, describe_tests, load_folds
from _harness import make_parser, print_head, require_data, row
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr import MPBoost
from sklearn_ltr.labels import directed_distance
from sklearn_ltr.metrics import get_metric

# The label of a pair, and the grid of its parameter. The linear label's alpha is only a scale: with
# the paper's step it acts as a learning rate of alpha**2, with newton not at all.
LABELS = {
    "BINARY": ("binary", [{}]),
    "LDD": ("linear", [{"alpha": a} for a in (0.25, 0.5, 1.0)]),
    "LOGDD": ("logarithmic", [{"lam": v} for v in (0.3, 1.0, 3.0)]),
    "LOGITDD": ("logistic", [{"beta": b} for b in (0.25, 0.5, 1.0)]),
}
# Binary distances are 1, so that the two steps are one and the same.
MODELS = [("BINARY", "both")] + [
    (label, step) for label in ("LDD", "LOGDD", "LOGITDD") for step in ("paper", "newton")
]
LEARNING_RATES = (0.03, 0.1, 0.3, 1.0)

# The same number as LETOR's RankBoost, with which MPBoost is compared.
MAX_BINS = 255

# What selects, in this script as in the paper.
CRITERION = "ndcg@5"
REPORTED = [f"ndcg@{k}" for k in range(1, 11)] + ["map"]


def letor_metric(name):
    return get_metric(name, like="letor3")


def paper_metric(name):
    """LETOR's gain and discount, but a short list is not scored 0 beyond its end."""
    if name == "map":
        return get_metric(name)
    return get_metric(name, discount="letor")


# Name of the folds, what makes the metrics, most rounds, title.
SETS = {
    "ohsumed": (
        "ohsumed", letor_metric, 500,
        "OHSUMED (LETOR 3.0, query-level normalised, LETOR's folds); like='letor3'",
    ),
    "imat2009": (
        "imat2009", paper_metric, 200,
        "Internet Mathematics 2009, a sample of 1,000 rows (the paper's Web-1 is the whole)",
    ),
    "mslr": (
        "mslr-pooled", paper_metric, 300,
        "MSLR-WEB10K, a sample (in place of the paper's Web-2: English web search, five grades)",
    ),
}  # fmt: skip


def fit_grid(fold, label, step, metric, n_estimators, learning_rates, quick):
    """Fit one label over its grid.

    Returns a dict for each setting: `validation`, the best criterion over the rounds, which round
    that was, and the scores of the test part by the model of these rounds.
    """
    distance, grid = LABELS[label]
    if quick or (label == "LDD" and step == "newton"):
        grid = grid[:1] if label != "LOGITDD" else grid[1:2]
    results = []
    for params, learning_rate in product(grid, learning_rates):
        ranker = MPBoost(
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            distance=distance,
            step="newton" if step == "both" else step,
            max_bins=MAX_BINS,
            scoring=metric(CRITERION),
            **params,
        )
        with warnings.catch_warnings():
            # Some settings of the grid overshoot with the paper's step; validation drops them.
            warnings.simplefilter("ignore", ConvergenceWarning)
            n_rounds, scores, _ = fit_by_validation(ranker, fold)
        results.append(
            {
                "params": params,
                "learning_rate": learning_rate,
                "rounds": n_rounds,
                "validation": ranker.validation_score_[n_rounds - 1],
                "scores": scores,
                "shrinkage": learning_rate
                * (mean_square(fold.train, distance, params) if step == "paper" else 1.0),
            }
        )
    return results


def mean_square(data, distance, params):
    """Mean squared distance of the pairs of a data set, which the paper's step takes to be 1."""
    total = count = 0.0
    for query in np.unique(data.groups):
        grades, rows = np.unique(data.y[data.groups == query], return_counts=True)
        high, low = np.nonzero(grades[:, None] > grades)
        pairs = rows[high] * rows[low]
        total += pairs @ directed_distance(grades[high], grades[low], distance, **params) ** 2
        count += pairs.sum()
    return total / count


def select(results, learning_rate=None):
    """The setting of the best validation criterion; the first of equals."""
    if learning_rate is not None:
        results = [r for r in results if r["learning_rate"] == learning_rate]
    return max(results, key=lambda r: r["validation"])


def compare(values, first, second, name):
    """Difference of two models in a metric over all test queries, and the paired t-test's p."""
    difference, _, p = paired_test(*(np.concatenate(values[k][name]) for k in (first, second)))
    return difference, p


def print_tests(title, values, baselines, names):
    print(f"\n{title}")
    print(f"{'':<18}" + "".join(f"{n.upper():>20}" for n in names))
    for key, baseline in baselines.items():
        cells = []
        for name in names:
            other = baseline(name) if callable(baseline) else baseline
            if other == key:
                cells.append(f"{'(the best)':>20}")
                continue
            difference, p = compare(values, key, other, name)
            cells.append(f"{difference:+9.4f} (p={p:.3f})".rjust(20))
        print(f"{' '.join(key):<18}" + "".join(cells))


def run(name, folder, quick):
    folds_name, metric, n_estimators, title = SETS[name]
    learning_rates = LEARNING_RATES[1::2] if quick else LEARNING_RATES
    n_estimators = 50 if quick else n_estimators
    start = time.perf_counter()
    folds = load_folds(folds_name, folder)
    metrics = {m: metric(m) for m in REPORTED}
    print(f"\n{'=' * 100}\n{title}\n{describe_tests(folds)}")
    print(f"criterion {metric(CRITERION)}")
    print(f"max_bins={MAX_BINS}, rounds 1..{n_estimators}, learning rates {learning_rates}")

    keys = MODELS

    def fit_model(fold, key):
        return fit_grid(fold, *key, metric, n_estimators, learning_rates, quick)

    results = fit_all(fit_model, keys, folds)
    chosen = {key: [select(of_fold) for of_fold in results[key]] for key in keys}
    values = {key: evaluate(folds, [c["scores"] for c in chosen[key]], metrics) for key in keys}

    metric_head("mean of 5 folds", REPORTED)
    for key in keys:
        metric_row(" ".join(key), means(values[key]), REPORTED)
    if name == "ohsumed":
        measured = means(evaluate(folds, least_squares(folds), metrics))
        metric_row("least squares, measured", measured, REPORTED)
    for method, published in PUBLISHED.get(name, {}).items():
        metric_row(f"{method}, published", published, REPORTED)

    for i in range(5):
        metric_head(f"fold {i + 1}", REPORTED)
        for key in keys:
            metric_row(
                " ".join(key), {m: np.nanmean(values[key][m][i]) for m in REPORTED}, REPORTED
            )

    print("\nChosen on validation: parameter, learning rate, rounds (shrinkage in effect)")
    for key in keys:
        cells = []
        for c in chosen[key]:
            parameter = "".join(f"{k}={v:g} " for k, v in c["params"].items())
            if key == ("LDD", "newton"):
                parameter = ""  # without effect
            cells.append(f"{parameter}{c['learning_rate']:g} {c['rounds']} ({c['shrinkage']:.2g})")
        print(f"{' '.join(key):<16}" + " ".join(f"{cell:>24}" for cell in cells))

    names = ("ndcg@1", "ndcg@5", "ndcg@10", "map")
    labels = [key for key in keys if key[0] != "BINARY"]
    print_tests(
        "Minus BINARY: difference and paired t-test over the test queries",
        values, dict.fromkeys(labels, MODELS[0]), names,
    )  # fmt: skip

    def best(metric_name):
        pooled = {key: np.nanmean(np.concatenate(values[key][metric_name])) for key in keys}
        return max(pooled, key=pooled.get)

    print_tests(
        "Minus the best of these in that metric (p is not corrected for having picked the best)",
        values, dict.fromkeys(keys, best), names,
    )  # fmt: skip
    print("\nMean of NDCG@1..10, minus that of BINARY")
    for key in labels:
        ours, theirs = means(values[key]), means(values[MODELS[0]])
        difference = np.mean([ours[m] - theirs[m] for m in REPORTED if m != "map"])
        print(f"{' '.join(key):<18}{difference:+9.4f}")

    print("\nLearning rate held fixed (parameter and rounds by validation): mean NDCG@5 / NDCG@10")
    row("", [f"{rate:g}" for rate in learning_rates], 18, 18)
    for key in keys:
        cells = []
        for rate in learning_rates:
            scores = [select(of_fold, rate)["scores"] for of_fold in results[key]]
            found = evaluate(folds, scores, {m: metrics[m] for m in ("ndcg@5", "ndcg@10")})
            cells.append(" / ".join(f"{mean(v):.4f}" for v in found.values()))
        row(" ".join(key), cells, 18, 18)
    n_fits = sum(len(of_fold) for of_folds in results.values() for of_fold in of_folds)
    print(f"\n{n_fits} fits, {time.perf_counter() - start:.0f} s", flush=True)


def print_matched():
    print(
        "What is matched: with step newton the scale of a label cancels, so that labels differ in\n"
        "the shape below only, and the learning rate is the shrinkage. With step paper a label\n"
        "also shrinks by its mean square (the 'shrinkage in effect', a mean over training pairs)."
    )
    print(
        f"{'gap between grades':<26}"
        + "".join(f"{gap:>8}" for gap in (1, 2, 3, 4))
        + "  (distance over that of gap 1)"
    )
    gaps = np.arange(1.0, 5.0)
    for label, (distance, grid) in LABELS.items():
        for params in grid if label != "LDD" else grid[-1:]:
            d = directed_distance(gaps, np.zeros(4), distance, **params)
            name = label + "".join(f" {k}={v:g}" for k, v in params.items() if label != "LDD")
            print(f"{name:<26}" + "".join(f"{v:8.2f}" for v in d / d[0]))


def main():
    parser = make_parser(
        __doc__, data="folder of the data sets", quick="a small grid, to see that it runs"
    )
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    args = parser.parse_args()
    require_data(parser, args)
    print_head()
    print()
    print_matched()
    for name in args.sets:
        run(name, args.data, args.quick)


if __name__ == "__main__":
    main()
