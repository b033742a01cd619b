# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a round of FRank costs, and how that grows with the rows.

    python benchmarks/frank_round.py [--threads 1 2] [--rounds 12] [--repeats 3] [--growth]

Data of `make_ranking`: 136 features, 20 of them informative and 30 mixtures of these, 5 grades, 100
rows a query, some 34 pairs a row. A round is the mean over the rounds after the first; the median
of the repeats is shown, and the CPU time, which is the steadier figure on a busy machine. The first
round, which has no bounds yet and sweeps nearly all features, is shown with the set-up: binning,
presorting, listing pairs.

What a round costs depends on how much its bounds prune: "mixtures" are data without noise in which
all features are mixtures of five, so that many are nearly as good as the best and steps are long.
With a target probability below 1 bounds are fewer.

Needs scikit-learn 1.9, whose callbacks tell when a round ends.
"""

import numpy as np
from _data import make_data
from _harness import make_parser, print_head, time_rounds

from sklearn_ltr import FRank

N_FEATURES = 136
VARIANTS = {
    "paper": {},
    "exact": {"step": "exact"},
    "paper, learning rate 0.1": {"learning_rate": 0.1},
    "paper, P* = 0.9": {"target_probability": 0.9},
}


def measure(data, args, n_threads, params):
    """Seconds of the first round with the set-up; wall and CPU seconds of a later one."""
    found = []
    for _ in range(args.repeats):
        ranker = FRank(n_estimators=args.rounds, n_jobs=n_threads, **params)
        watch = time_rounds(ranker, *data)
        found.append([watch.first()[0], *watch.round()])
    return np.median(found, axis=0)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--growth", action="store_true", help="10^4, 3 10^4 and 10^5 rows only")
    args = parser.parse_args()
    print_head()
    print(f"{'':48}{'set-up + round':>16}{'round':>9}{'CPU':>9}")
    if args.growth:
        for n_rows in (10_000, 30_000, 100_000):
            data = make_data(n_rows, N_FEATURES)
            for n_threads in args.threads:
                name = f"{n_rows} rows, {n_threads} thread(s)"
                show(name, measure(data, args, n_threads, {}))
        return
    for kind in ("default", "mixtures"):
        data = make_data(100_000, N_FEATURES, kind)
        for name, params in VARIANTS.items():
            for n_threads in args.threads:
                found = measure(data, args, n_threads, params)
                show(f"{kind}: {name}, {n_threads} thread(s)", found)


def show(name, seconds):
    first, wall, cpu = seconds
    print(f"{name:48}{first:14.2f} s{wall:7.3f} s{cpu:7.3f} s", flush=True)


if __name__ == "__main__":
    main()
