# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The four pair labels of MPBoost on real data, beside published results.

    python benchmarks/ohsumed.py --data DIR [--sets ohsumed imat2009 mslr] [--quick]
    python benchmarks/ohsumed.py --data DIR --protocols paper   # Figures 3 to 5
    python benchmarks/ohsumed.py --data DIR --rounds --sets mslr mslr30k    # Figure 6

DIR (or the environment variable SKLEARN_LTR_DATA) holds `ohsumed-letor3-qln`, `imat2009-sample`,
`mslr-web10k-sample` and `mslr-web30k-sample`. For each of five folds a model is fitted on three
parts; what there is to choose is that of the highest NDCG@5 on the fourth part; the fifth is scored
once, with this. No choice looks at a test part. Two protocols:

- "paper": the paper's step and learning rate 1. The label's parameter and the number of rounds are
  chosen, as in the paper.
- "rates": the learning rate is chosen as well. Labels can only be compared at matched shrinkage.
  The paper's step sets squared distances to 1, so that labels below 1 shrink every step by about
  their mean square, a learning rate under another name; "newton" does not. So every label gets the
  same learning rates, both steps are run, the shrinkage in effect is printed, and the last table
  holds the learning rate fixed.

`--rounds` prints the test NDCG@5 after ever more rounds, under the paper's protocol, with the
parameter that validation chose; and that of BINARY at the learning rate which is the shrinkage of
each other label.
"""

import time
import warnings
from itertools import product
from typing import NamedTuple

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
    query_values,
)
from _data import PUBLISHED, describe_tests, load_folds
from _harness import make_parser, print_head, require_data, row
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr import MPBoost
from sklearn_ltr.labels import directed_distance
from sklearn_ltr.metrics import get_metric

DISTANCES = {
    "BINARY": "binary",
    "LDD": "linear",
    "LOGDD": "logarithmic",
    "LOGITDD": "logistic",
}


class Protocol(NamedTuple):
    """Labels and steps to compare, the first with all others, and what is chosen for each."""

    title: str
    models: list
    grids: dict  # of the label's parameter
    learning_rates: tuple


# The linear label's alpha is only a scale: with the paper's step it acts as a learning rate of
# alpha**2, with newton not at all. Without a learning rate to choose its grid is wider, and has the
# paper's .062. Binary distances are 1, so that the two steps are one and the same.
PROTOCOLS = {
    "paper": Protocol(
        "The paper's protocol: its step, learning rate 1",
        [(label, "paper") for label in DISTANCES],
        {
            "BINARY": [{}],
            "LDD": [{"alpha": a} for a in (0.062, 0.125, 0.25, 0.5, 1.0)],
            "LOGDD": [{"lam": v} for v in (0.1, 0.3, 1.0, 3.0)],
            "LOGITDD": [{"beta": b} for b in (0.25, 0.5, 1.0, 2.0, 4.0)],
        },
        (1.0,),
    ),
    "rates": Protocol(
        "The learning rate is chosen, too",
        [("BINARY", "both")]
        + [(label, step) for label in ("LDD", "LOGDD", "LOGITDD") for step in ("paper", "newton")],
        {
            "BINARY": [{}],
            "LDD": [{"alpha": a} for a in (0.25, 0.5, 1.0)],
            "LOGDD": [{"lam": v} for v in (0.3, 1.0, 3.0)],
            "LOGITDD": [{"beta": b} for b in (0.25, 0.5, 1.0)],
        },
        (0.03, 0.1, 0.3, 1.0),
    ),
}

# The same number as LETOR's RankBoost, with which MPBoost is compared.
MAX_BINS = 255

# Where `--rounds` looks, and the paper's peak of BINARY.
ROUNDS = (10, 30, 60, 90, 150, 250, 500)
PEAK = 90

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


# Name of the folds, what makes the metrics, most rounds (`--rounds` has its own), title.
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
    "mslr30k": (
        "mslr30k", paper_metric, 300,
        "MSLR-WEB30K, a sample (another stand-in for Web-2; 36 queries)",
    ),
}  # fmt: skip


def fit_setting(fold, label, step, metric, n_estimators, learning_rate, params):
    """Fit one setting.

    Returns a dict: the setting, `validation`, the best criterion over the rounds, `rounds`, which
    that was, the scores of the test part by the model of these rounds, and the ranker.
    """
    distance = DISTANCES[label]
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
    return {
        "params": params,
        "learning_rate": learning_rate,
        "rounds": n_rounds,
        "validation": ranker.validation_score_[n_rounds - 1],
        "scores": scores,
        "shrinkage": learning_rate
        * (mean_square(fold.train, distance, params) if step == "paper" else 1.0),
        "ranker": ranker,
    }


def fit_grid(fold, label, step, metric, n_estimators, grid, learning_rates):
    """Fit one label over its grid: a list of settings with what came of them."""
    if label == "LDD" and step == "newton":
        grid = grid[:1]
    return [
        fit_setting(fold, label, step, metric, n_estimators, learning_rate, params)
        for params, learning_rate in product(grid, learning_rates)
    ]


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


def reduced(protocol):
    """A small grid, to see that all runs."""
    grids = {label: grid[len(grid) // 3 :][:1] for label, grid in protocol.grids.items()}
    return protocol._replace(grids=grids, learning_rates=protocol.learning_rates[-3::2])


def run(name, protocol, labels, folder, quick):
    folds_name, metric, n_estimators, title = SETS[name]
    protocol = reduced(protocol) if quick else protocol
    keys = [(label, step) for label, step in protocol.models if label in labels]
    learning_rates = protocol.learning_rates
    n_estimators = 50 if quick else n_estimators
    start = time.perf_counter()
    folds = load_folds(folds_name, folder)
    metrics = {m: metric(m) for m in REPORTED}
    print(f"\n{'=' * 100}\n{title}\n{describe_tests(folds)}\n{protocol.title}")
    print(f"criterion {metric(CRITERION)}")
    print(f"max_bins={MAX_BINS}, rounds 1..{n_estimators}, learning rates {learning_rates}")

    def fit_model(fold, key):
        grid = protocol.grids[key[0]]
        fits = fit_grid(fold, *key, metric, n_estimators, grid, learning_rates)
        for fit in fits:
            del fit["ranker"]  # large, and not needed any more
        return fits

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
    others = keys[1:]
    print_tests(
        "Minus BINARY: difference and paired t-test over the test queries",
        values, dict.fromkeys(others, keys[0]), names,
    )  # fmt: skip

    def best(metric_name):
        pooled = {key: np.nanmean(np.concatenate(values[key][metric_name])) for key in keys}
        return max(pooled, key=pooled.get)

    print_tests(
        "Minus the best of these in that metric (p is not corrected for having picked the best)",
        values, dict.fromkeys(keys, best), names,
    )  # fmt: skip
    print("\nMean of NDCG@1..10, minus that of BINARY")
    for key in others:
        ours, theirs = means(values[key]), means(values[keys[0]])
        difference = np.mean([ours[m] - theirs[m] for m in REPORTED if m != "map"])
        print(f"{' '.join(key):<18}{difference:+9.4f}")

    if len(learning_rates) > 1:
        print_by_rate(folds, results, learning_rates, metrics)
    n_fits = sum(len(of_fold) for of_folds in results.values() for of_fold in of_folds)
    print(f"\n{n_fits} fits, {time.perf_counter() - start:.0f} s", flush=True)


def print_by_rate(folds, results, learning_rates, metrics):
    print("\nLearning rate held fixed (parameter and rounds by validation): mean NDCG@5 / NDCG@10")
    row("", [f"{rate:g}" for rate in learning_rates], 18, 18)
    for key, of_key in results.items():
        cells = []
        for rate in learning_rates:
            scores = [select(of_fold, rate)["scores"] for of_fold in of_key]
            found = evaluate(folds, scores, {m: metrics[m] for m in ("ndcg@5", "ndcg@10")})
            cells.append(" / ".join(f"{mean(v):.4f}" for v in found.values()))
        row(" ".join(key), cells, 18, 18)


def run_rounds(name, labels, folder, quick):
    """Figure 6: the criterion on the test parts by the number of rounds."""
    folds_name, metric, _, title = SETS[name]
    protocol = reduced(PROTOCOLS["paper"]) if quick else PROTOCOLS["paper"]
    at, middle = ((10, 30, 60), 30) if quick else (ROUNDS, PEAK)
    start = time.perf_counter()
    folds = load_folds(folds_name, folder)
    criterion = metric(CRITERION)
    print(f"\n{'=' * 100}\n{title}\n{describe_tests(folds)}\n{protocol.title}")

    def curves(fold, label):
        """By title of the row: values of the test queries after each of `at`, the setting."""
        chosen = select(
            fit_grid(fold, label, "paper", metric, at[-1], protocol.grids[label], (1.0,))
        )
        fits = {label: chosen}
        if label != "BINARY":
            fits[f"BINARY at the rate of {label}"] = fit_setting(
                fold, "BINARY", "paper", metric, at[-1], chosen["shrinkage"], {}
            )
        return {
            key: (by_rounds(fit["ranker"], fold, criterion, at), fit) for key, fit in fits.items()
        }

    found = fit_all(curves, labels, folds)
    rows = {
        key: [of_fold[key] for of_fold in of_label]
        for of_label in found.values()
        for key in of_label[0]
    }
    rows = dict(sorted(rows.items(), key=lambda item: " at " in item[0]))
    title = f"Mean test {CRITERION.upper()} of 5 folds after so many rounds"
    print(
        f"\n{title}, the last minus the highest\n"
        f"of these, and minus that after {middle} (paired t-test over the test queries)"
    )
    row("", [*at, "- highest", f"- {middle}"], 9, 30)
    for key, of_folds in rows.items():
        values = [[by_n[i] for by_n, _ in of_folds] for i in range(len(at))]
        curve = [mean(of_n) for of_n in values]
        pair = (np.concatenate(values[i]) for i in (-1, at.index(middle)))
        difference, _, p = paired_test(*pair)
        cells = [f"{v:.4f}" for v in curve]
        differences = [f"{curve[-1] - max(curve):+.4f}", f" {difference:+.4f} (p={p:.3f})"]
        row(key, [*cells, *differences], 9, 30)
    print("\nChosen on validation: parameter (shrinkage in effect), rounds")
    for key, of_folds in rows.items():
        cells = []
        for _, fit in of_folds:
            parameter = "".join(f"{k}={v:g} " for k, v in fit["params"].items())
            cells.append(f"{parameter}({fit['shrinkage']:.2g}) {fit['rounds']}")
        row(key, cells, 24, 30)
    print(f"\n{time.perf_counter() - start:.0f} s", flush=True)


def by_rounds(ranker, fold, metric, at):
    """Values of the test queries after each of `at` rounds; a fit may have ended before."""
    stages = list(ranker.staged_predict(fold.test.X))
    return [query_values(metric, fold.test, stages[min(n, len(stages)) - 1]) for n in at]


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
    for label, grid in PROTOCOLS["rates"].grids.items():
        for params in grid if label != "LDD" else grid[-1:]:
            d = directed_distance(gaps, np.zeros(4), DISTANCES[label], **params)
            name = label + "".join(f" {k}={v:g}" for k, v in params.items() if label != "LDD")
            print(f"{name:<26}" + "".join(f"{v:8.2f}" for v in d / d[0]))


def main():
    parser = make_parser(
        __doc__, data="folder of the data sets", quick="a small grid, to see that it runs"
    )
    parser.add_argument(
        "--sets", nargs="+", choices=list(SETS), default=["ohsumed", "imat2009", "mslr"]
    )
    parser.add_argument("--protocols", nargs="+", choices=list(PROTOCOLS), default=list(PROTOCOLS))
    parser.add_argument(
        "--labels",
        nargs="+",
        choices=list(DISTANCES)[1:],
        default=list(DISTANCES)[1:],
        help="beside BINARY",
    )
    parser.add_argument("--rounds", action="store_true", help="test NDCG@5 by rounds, nothing else")
    args = parser.parse_args()
    require_data(parser, args)
    labels = ["BINARY", *args.labels]
    print_head()
    if args.rounds:
        for name in args.sets:
            run_rounds(name, labels, args.data, args.quick)
        return
    print()
    print_matched()
    for name, protocol in product(args.sets, args.protocols):
        run(name, PROTOCOLS[protocol], labels, args.data, args.quick)


if __name__ == "__main__":
    main()
