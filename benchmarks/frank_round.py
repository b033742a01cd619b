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
"""

import argparse
import platform
import time

import numpy as np
import sklearn

import sklearn_ltr
from sklearn_ltr import FRank
from sklearn_ltr.datasets import make_ranking

N_DOCS = 100
N_FEATURES = 136
VARIANTS = {
    "paper": {},
    "exact": {"step": "exact"},
    "paper, learning rate 0.1": {"learning_rate": 0.1},
    "paper, P* = 0.9": {"target_probability": 0.9},
}


def make_data(n_queries, kind="default"):
    few = {"n_informative": 5, "n_redundant": 131, "noise": 0.0, "query_effect": 0.0}
    mixtures = few | {"query_shift": 0.0}
    default = {"n_informative": 20, "n_redundant": 30}
    return make_ranking(
        n_queries=n_queries,
        n_docs=N_DOCS,
        n_features=N_FEATURES,
        random_state=0,
        **(mixtures if kind == "mixtures" else default),
    )


class TimedFRank(FRank):
    """Notes when each round ends."""

    def _rounds(self, train):
        for terms in super()._rounds(train):
            self.marks.append((time.perf_counter(), time.process_time()))
            yield terms

    def fit(self, *args, **kwargs):
        self.marks = [(time.perf_counter(), time.process_time())]
        return super().fit(*args, **kwargs)

    def seconds(self):
        """Of the first round with the set-up; wall and CPU of a later one."""
        marks = np.array(self.marks)
        wall, cpu = (marks[-1] - marks[1]) / (len(marks) - 2)
        return marks[1, 0] - marks[0, 0], wall, cpu


def measure(data, args, n_threads, params):
    X, y, groups = data
    found = []
    for _ in range(args.repeats):
        ranker = TimedFRank(n_estimators=args.rounds, n_jobs=n_threads, **params)
        found.append(ranker.fit(X, y, groups=groups).seconds())
    return np.median(found, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--growth", action="store_true", help="10^4, 3 10^4 and 10^5 rows only")
    args = parser.parse_args()
    print(
        f"sklearn_ltr {sklearn_ltr.__version__}, scikit-learn {sklearn.__version__}, "
        f"numpy {np.__version__}, {platform.machine()}, {time.strftime('%Y-%m-%d')}"
    )
    print(f"{'':48}{'set-up + round':>16}{'round':>9}{'CPU':>9}")
    if args.growth:
        for n_queries in (100, 300, 1000):
            data = make_data(n_queries)
            for n_threads in args.threads:
                name = f"{n_queries * N_DOCS} rows, {n_threads} thread(s)"
                show(name, measure(data, args, n_threads, {}))
        return
    for kind in ("default", "mixtures"):
        data = make_data(1000, kind)
        for name, params in VARIANTS.items():
            for n_threads in args.threads:
                found = measure(data, args, n_threads, params)
                show(f"{kind}: {name}, {n_threads} thread(s)", found)


def show(name, seconds):
    first, wall, cpu = seconds
    print(f"{name:48}{first:14.2f} s{wall:7.3f} s{cpu:7.3f} s", flush=True)


if __name__ == "__main__":
    main()
