# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fit times of RankSVM by rows, grades and lengths of queries, and beside other solvers.

    python benchmarks/ranksvm.py [--rows 10000 100000 1000000] [--features 50] [--jobs 2] [--quick]

**Growth.** Standard normal features; grades are a noisy linear score, cut into 2 or 5 grades of
equal shares, or as it is. Rows are one query, or queries of 100. Beside the seconds: Newton steps,
and the most memory that the fit has at a time beyond `X`, over that of `X` (by `tracemalloc`, in a
fit of its own).

**Other solvers**, on one query with the same objective: `LinearSVC` without intercept on the
differences of all pairs, liblinear's primal solver, and scikit-survival's
`FastSurvivalSVM(rank_ratio=1)` if it is installed, which forms no pairs either. Its objective has
alpha / 2 for each pair, ours C over the number of pairs: alpha = 2 C / pairs. It breaks ties of
grades at random, so grades are continuous. Objectives are printed, so that one that stops early
shows.
"""

import tracemalloc
import warnings

import numpy as np
from _harness import make_parser, print_head, row, timed
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from sklearn_ltr import RankSVM
from sklearn_ltr.losses import SquaredHinge

try:
    from sksurv.svm import FastSurvivalSVM
except ImportError:
    FastSurvivalSVM = None

GRADES = {"2 grades": 2, "5 grades": 5, "continuous": None}
TARGET = 60.0


def make(n, n_features, n_grades, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = X @ rng.normal(size=n_features) / n_features**0.5 + rng.normal(size=n)
    if n_grades is not None:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_grades) / n_grades), y).astype(float)
    return X, y


def growth(args, loss):
    print(
        f"\n{loss}, C = 1, {args.features} features, n_jobs={args.jobs}: seconds of a fit (steps)"
    )
    row("", [*(f"{n:,}" for n in args.rows), "memory / X"], 18, 26)
    most = 0.0
    for length in ("one query", "queries of 100"):
        for name, n_grades in GRADES.items():
            cells = []
            for n in args.rows:
                X, y = make(n, args.features, n_grades)
                groups = np.zeros(n, int) if length == "one query" else np.arange(n) // 100
                ranker = RankSVM(loss=loss, pair_weighting="query", n_jobs=args.jobs)
                seconds = timed(ranker.fit, X, y, groups)[0][0]
                cells.append(f"{seconds:.2f} ({ranker.n_iter_})")
                most = max(most, seconds)
                if n == args.rows[0]:
                    tracemalloc.start()
                    ranker.fit(X, y, groups)
                    memory = tracemalloc.get_traced_memory()[1] / X.nbytes
                    tracemalloc.stop()
            row(f"{length}, {name}", [*cells, f"{memory:.1f}"], 18, 26)
    print(f"slowest {most:.1f} s; target of {TARGET:.0f} s {'met' if most <= TARGET else 'MISSED'}")


def objective(X, y, w, C):
    loss = SquaredHinge(margin=1.0).value(y, X @ w, np.array([0, len(y)]))[0]
    return w @ w / 2 + 2 * C * loss / n_pairs(y)


def n_pairs(y):
    counts = np.unique(y, return_counts=True)[1]
    return (len(y) ** 2 - (counts**2).sum()) // 2


def rank_svm(X, y, C):
    return RankSVM(C=C, pair_weighting="query").fit(X, y, np.zeros(len(y))).coef_


def linear_svc(X, y, C):
    winner, loser = np.nonzero(y[:, None] > y)
    differences = X[winner] - X[loser]
    sign = np.where(np.arange(len(winner)) % 2, 1.0, -1.0)
    svc = LinearSVC(C=C / len(winner), fit_intercept=False, dual=False, tol=1e-6)
    return svc.fit(differences * sign[:, None], sign).coef_[0]


def survival_svm(X, y, C):
    times = np.empty(len(y), dtype=[("event", bool), ("time", float)])
    times["event"], times["time"] = True, y - y.min() + 1
    alpha = 2 * C / n_pairs(y)
    return FastSurvivalSVM(alpha=alpha, rank_ratio=1, tol=1e-6).fit(X, times).coef_


def others(args):
    contenders = {"RankSVM": rank_svm, "LinearSVC, all pairs": linear_svc}
    if FastSurvivalSVM is not None:
        contenders["FastSurvivalSVM"] = survival_svm
    print(f"\nSquared hinge, one query, {args.features} features, 1 thread: seconds, objective")
    for n in args.other_rows:
        X, y = make(n, args.features, None)
        for C in (1.0, 1000.0):
            cells = []
            for name, fit in contenders.items():
                if fit is linear_svc and n_pairs(y) * X.shape[1] > args.most_numbers:
                    cells.append(f"{name}: too many pairs")
                    continue
                with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                    (seconds, _), w = timed(fit, X, y, C)
                cells.append(f"{name}: {seconds:.3f} s, {objective(X, y, w, C):.7g}")
            print(f"{n:>7,} rows, C = {C:g}: " + "; ".join(cells), flush=True)


def main():
    parser = make_parser(__doc__, quick="small, to see that it runs")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--other-rows", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most-numbers", type=int, default=3 * 10**7, help="of listed differences")
    args = parser.parse_args()
    if args.quick:
        args.rows, args.other_rows = [1000, 10_000], [300]
    print_head("scikit-survival")
    for loss in ("squared_hinge", "hinge"):
        growth(args, loss)
    others(args)


if __name__ == "__main__":
    main()
