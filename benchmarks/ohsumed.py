# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The four pair labels of MPBoost on real data, beside published results.

    python benchmarks/ohsumed.py --data DIR [--sets ohsumed imat2009 mslr] [--quick]

DIR (or the environment variable SKLEARN_LTR_DATA) holds the folders named in `SETS`. For each of
five folds a model is fitted on three parts; the label's parameter, the learning rate and the number
of rounds are those of the highest NDCG@5 on the fourth part; the fifth is scored once, with these.
No choice looks at a test part.

Labels can only be compared at matched shrinkage. The paper's step sets squared distances to 1, so
that labels below 1 shrink every step by about their mean square, a learning rate under another
name; "newton" does not. So every label gets the same learning rates, both steps are run, the
shrinkage in effect is printed, and the last table holds the learning rate fixed.
"""

import argparse
import os
import sys
import time
import warnings
from itertools import islice, product
from pathlib import Path

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from scipy.stats import ttest_rel
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold
from sklearn.utils import Bunch

import sklearn_ltr
from sklearn_ltr import MPBoost
from sklearn_ltr.datasets import load_letor_file, load_letor_folds
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

# LETOR 3.0's page of baselines; FRank's other cut-offs are not known.
PUBLISHED = {
    "RankBoost": [
        0.4632, 0.4504, 0.4555, 0.4543, 0.4494, 0.4439, 0.4412, 0.4361, 0.4326, 0.4302, 0.4411
    ],
    "RankSVM": [
        0.4958, 0.4331, 0.4207, 0.4240, 0.4164, 0.4159, 0.4133, 0.4072, 0.4124, 0.4140, 0.4334
    ],
    "ListNet": [
        0.5326, 0.4810, 0.4732, 0.4561, 0.4432, 0.4400, 0.4409, 0.4460, 0.4459, 0.4410, 0.4457
    ],
    "AdaRank-MAP": [
        0.5388, 0.4789, 0.4682, 0.4721, 0.4613, 0.4579, 0.4558, 0.4506, 0.4464, 0.4429, 0.4487
    ],
    "Regression": [
        0.4456, 0.4532, 0.4426, 0.4368, 0.4278, 0.4216, 0.4217, 0.4187, 0.4136, 0.4110, 0.4220
    ],
    "FRank": [
        None, None, 0.4812, None, 0.4588, None, None, None, None, 0.4433, 0.4439
    ],
}  # fmt: skip


def ohsumed_folds(folder):
    return list(load_letor_folds(folder / "ohsumed-letor3-qln"))


def imat_folds(folder):
    return five_folds([load_letor_file(folder / "imat2009-sample" / "learn-head.txt.gz")])


def mslr_folds(folder):
    names = ("train", "vali", "test")
    files = [folder / "mslr-web10k-sample" / f"{name}.txt.gz" for name in names]
    return five_folds([load_letor_file(file) for file in files])


def five_folds(files):
    """Five parts by query, rotated as in LETOR: three to train, one to validate, one to test."""
    X, y, groups = (np.concatenate([f[key] for f in files]) for key in ("X", "y", "groups"))
    splitter = GroupKFold(5, shuffle=True, random_state=0)
    parts = [rows for _, rows in splitter.split(X, y, groups)]

    def take(*numbers):
        rows = np.concatenate([parts[i % 5] for i in numbers])
        return Bunch(X=X[rows], y=y[rows], groups=groups[rows])

    return [
        Bunch(train=take(i, i + 1, i + 2), validation=take(i + 3), test=take(i + 4))
        for i in range(5)
    ]


def letor_metric(name):
    return get_metric(name, like="letor3")


def paper_metric(name):
    """LETOR's gain and discount, but a short list is not scored 0 beyond its end."""
    if name == "map":
        return get_metric(name)
    return get_metric(name, discount="letor")


SETS = {
    "ohsumed": (
        ohsumed_folds, letor_metric, PUBLISHED, 500,
        "OHSUMED (LETOR 3.0, query-level normalised, LETOR's folds); like='letor3'",
    ),
    "imat2009": (
        imat_folds, paper_metric, {}, 200,
        "Internet Mathematics 2009, a sample of 1,000 rows (the paper's Web-1 is the whole)",
    ),
    "mslr": (
        mslr_folds, paper_metric, {}, 300,
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
        validation = fold.validation
        with warnings.catch_warnings():
            # Some settings of the grid overshoot with the paper's step; validation drops them.
            warnings.simplefilter("ignore", ConvergenceWarning)
            ranker.fit(
                fold.train.X,
                fold.train.y,
                groups=fold.train.groups,
                X_val=validation.X,
                y_val=validation.y,
                groups_val=validation.groups,
            )
        best = int(np.argmax(ranker.validation_score_))
        results.append(
            {
                "params": params,
                "learning_rate": learning_rate,
                "rounds": best + 1,
                "validation": ranker.validation_score_[best],
                "scores": next(islice(ranker.staged_predict(fold.test.X), best, None)),
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


def evaluate(folds, scores, metric):
    """Values of the reported metrics for the test queries of each fold.

    Returns a list, one entry a fold, of arrays (n_metrics, n_queries); NaN where undefined, which
    depends on the grades alone.
    """
    values = []
    for fold, s in zip(folds, scores, strict=True):
        y, groups = fold.test.y, fold.test.groups
        values.append(
            np.array([metric(name)(y, s, groups, per_query=True).values for name in REPORTED])
        )
    return values


def means(values):
    """Mean over folds of the mean over queries, as LETOR does it."""
    return np.mean([np.nanmean(v, axis=1) for v in values], axis=0)


def least_squares(folds):
    return [
        LinearRegression().fit(fold.train.X, fold.train.y).predict(fold.test.X) for fold in folds
    ]


def row(title, values, width=24):
    cells = ("     -" if v is None or np.isnan(v) else f"{v:6.4f}" for v in values)
    print(f"{title:<{width}}" + " ".join(cells))


def head(title, width=24):
    names = [str(k) for k in range(1, 11)] + ["MAP"]
    print(f"{title:<{width}}" + " ".join(f"{name:>6}" for name in names))


def compare(values, first, second, name):
    """Difference of two models in a metric over all test queries, and the paired t-test's p."""
    i = REPORTED.index(name)
    a, b = (np.concatenate([v[i] for v in values[key]]) for key in (first, second))
    known = ~np.isnan(a)
    a, b = a[known], b[known]
    if np.array_equal(a, b):
        return 0.0, 1.0
    return (a - b).mean(), ttest_rel(a, b).pvalue


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
    load, metric, published, n_estimators, title = SETS[name]
    learning_rates = LEARNING_RATES[1::2] if quick else LEARNING_RATES
    n_estimators = 50 if quick else n_estimators
    start = time.perf_counter()
    folds = load(folder)
    tests = [fold.test for fold in folds]
    n_rows = sum(len(t.y) for t in tests)
    n_queries = sum(len(np.unique(t.groups)) for t in tests)
    print(f"\n{'=' * 100}\n{title}")
    print(f"{n_rows} rows, {tests[0].X.shape[1]} features, {n_queries} queries")
    print(f"criterion {metric(CRITERION)}")
    print(f"max_bins={MAX_BINS}, rounds 1..{n_estimators}, learning rates {learning_rates}")

    keys = MODELS
    tasks = [(i, key) for key in keys for i in range(5)]
    done = Parallel(n_jobs=2)(
        delayed(fit_grid)(folds[i], *key, metric, n_estimators, learning_rates, quick)
        for i, key in tasks
    )
    results = dict(zip(tasks, done, strict=True))
    chosen = {key: [select(results[i, key]) for i in range(5)] for key in keys}
    values = {key: evaluate(folds, [c["scores"] for c in chosen[key]], metric) for key in keys}

    head("\nNDCG@, mean of 5 folds")
    for key in keys:
        row(" ".join(key), means(values[key]))
    if name == "ohsumed":
        row("least squares, measured", means(evaluate(folds, least_squares(folds), metric)))
    for method, published_row in published.items():
        row(f"{method}, published", published_row)

    for i in range(5):
        head(f"\nfold {i + 1}")
        for key in keys:
            row(" ".join(key), np.nanmean(values[key][i], axis=1))

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
        f"Minus BINARY: difference and paired t-test over the {n_queries} test queries",
        values, dict.fromkeys(labels, MODELS[0]), names,
    )  # fmt: skip

    def best(metric_name):
        pooled = {
            key: np.nanmean(np.concatenate([v[REPORTED.index(metric_name)] for v in values[key]]))
            for key in keys
        }
        return max(pooled, key=pooled.get)

    print_tests(
        "Minus the best of these in that metric (p is not corrected for having picked the best)",
        values, dict.fromkeys(keys, best), names,
    )  # fmt: skip
    print("\nMean of NDCG@1..10, minus that of BINARY")
    for key in labels:
        difference = (means(values[key]) - means(values[MODELS[0]]))[:10].mean()
        print(f"{' '.join(key):<18}{difference:+9.4f}")

    print("\nLearning rate held fixed (parameter and rounds by validation): mean NDCG@5 / NDCG@10")
    print(f"{'':<18}" + "".join(f"{rate:>18g}" for rate in learning_rates))
    for key in keys:
        cells = []
        for rate in learning_rates:
            scores = [select(results[i, key], rate)["scores"] for i in range(5)]
            mean = means(evaluate(folds, scores, metric))
            cells.append(f"{mean[4]:.4f} / {mean[9]:.4f}".rjust(18))
        print(f"{' '.join(key):<18}" + "".join(cells))
    print(f"\n{sum(map(len, done))} fits, {time.perf_counter() - start:.0f} s", flush=True)


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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("SKLEARN_LTR_DATA"))
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--quick", action="store_true", help="a small grid, to see that it runs")
    args = parser.parse_args()
    if args.data is None:
        parser.error("give --data or set SKLEARN_LTR_DATA")
    print(
        f"sklearn_ltr {sklearn_ltr.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, Python {sys.version.split()[0]}, "
        f"{time.strftime('%d %b %Y')}\n"
    )
    print_matched()
    for name in args.sets:
        run(name, Path(args.data), args.quick)


if __name__ == "__main__":
    main()
