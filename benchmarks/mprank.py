# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fit times of MPRank by rows, lengths of queries and formats.

    python benchmarks/mprank.py [--rows 10000 100000 1000000] [--features 50] [--jobs 2] [--quick]

Standard normal features; grades are a noisy linear score in 5 grades of equal shares. Rows are one
query, or queries of 100 or 10. Wall and CPU seconds of a fit, and the most memory that it has at a
time beyond `X`, over that of `X` (by `tracemalloc`, in a fit of its own).
"""

import tracemalloc

import numpy as np
from _harness import make_parser, print_head, row, timed

from sklearn_ltr import MPRank

TARGET = 3.0


def make(n, n_features, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = X @ rng.normal(size=n_features) / n_features**0.5 + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y).astype(float)


def main():
    parser = make_parser(__doc__, quick="small, to see that it runs")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.quick:
        args.rows = [1000, 10_000]
    print_head()
    print(f"\n{args.features} features, n_jobs={args.jobs}: wall and CPU seconds of a fit")
    row("", [*(f"{n:,}" for n in args.rows), "memory / X"], 18, 20)
    most = 0.0
    for length in (None, 100, 10):
        cells = []
        for n in args.rows:
            X, y = make(n, args.features)
            groups = np.zeros(n, int) if length is None else np.arange(n) // length
            ranker = MPRank(n_jobs=args.jobs)
            (seconds, cpu), _ = min(
                (timed(ranker.fit, X, y, groups) for _ in range(3)), key=lambda run: run[0][0]
            )
            cells.append(f"{seconds:.2f} ({cpu:.2f})")
            most = max(most, cpu)
        X, y, groups = X[: args.rows[0]], y[: args.rows[0]], groups[: args.rows[0]]
        tracemalloc.start()
        ranker.fit(X, y, groups)
        memory = tracemalloc.get_traced_memory()[1] / X.nbytes
        tracemalloc.stop()
        title = "one query" if length is None else f"queries of {length}"
        row(title, [*cells, f"{memory:.1f}"], 18, 20)
    verdict = "met" if most <= TARGET else "MISSED"
    print(f"most CPU time {most:.1f} s; target of {TARGET:.0f} s {verdict}")


if __name__ == "__main__":
    main()
