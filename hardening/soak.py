# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Many fits, predictions and pickles of every ranker: memory, threads and files must not grow.

    python hardening/soak.py --fits 1000

Fits every ranker in turn, on small data that differ, with early stopping, two threads, NaN, sparse
matrices, failing and interrupted fits in between; Linux only, as it reads /proc.
"""

import argparse
import gc
import os
import pickle
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone

import sklearn_ltr
from sklearn_ltr import AdaRank
from sklearn_ltr.base import BaseRanker
from sklearn_ltr.datasets import make_ranking

QUICK = {
    "n_estimators": 12,
    "max_leaf_nodes": 6,
    "min_samples_leaf": 3,
    "max_iter": 12,
    "random_state": 0,
    "n_jobs": 2,
}

# What may still grow: pages that the allocator holds, in KiB.
ALLOWED = 4_096


def rankers():
    """One of each public class."""
    classes = [getattr(sklearn_ltr, name) for name in sklearn_ltr.__all__]
    classes = [R for R in classes if isinstance(R, type) and issubclass(R, BaseRanker)]
    made = []
    for R in classes:
        known = R().get_params()
        params = QUICK | ({"update": "adaboost"} if R is AdaRank else {})
        made.append(R(**{name: value for name, value in params.items() if name in known}))
    return made


class Interrupt(BaseException):
    """As KeyboardInterrupt."""


def interrupts(*arguments, **named):
    raise Interrupt


def one_fit(ranker, k):
    """Fit, predict, pickle and load, and let another fit fail."""
    X, y, groups = make_ranking(30, (2, 20), 8, n_informative=4, n_redundant=1, random_state=k % 50)
    tags = ranker.__sklearn_tags__().input_tags
    if tags.allow_nan and k % 3 == 0:
        X[np.random.default_rng(k).random(X.shape) < 0.1] = np.nan
    if tags.sparse and k % 4 == 0:
        X = sparse.csr_array(np.where(X > 0, X, 0))
    model = clone(ranker)
    if "early_stopping" in model.get_params():
        model.set_params(early_stopping=k % 2 == 0)
    model.fit(X, y, groups)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if hasattr(model, "staged_predict"):
        next(again.staged_predict(X))
    if hasattr(model, "_record"):
        again._record = interrupts
        try:
            again.fit(X, y, groups)
        except Interrupt:
            pass
    try:
        again.fit(X, y, groups[:-1])
    except ValueError:
        pass


def state():
    """Resident KiB, threads and open files of this process."""
    gc.collect()
    status = Path("/proc/self/status").read_text().splitlines()
    values = dict(line.split(":", 1) for line in status)
    return (
        int(values["VmRSS"].split()[0]),
        int(values["Threads"]),
        len(os.listdir("/proc/self/fd")),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=1_000)
    parser.add_argument("--warm-up", type=int, default=100)
    parser.add_argument("--trace", action="store_true", help="show what Python allocates, slowly")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    made, begin, after = rankers(), time.perf_counter(), {}
    print(f"{len(made)} rankers\n\n| fits | resident KiB | threads | open files |")
    print("| --- | --- | --- | --- |")
    total, every, before = arguments.warm_up + arguments.fits, max(1, arguments.fits // 5), None
    for k in range(total):
        one_fit(made[k % len(made)], k)
        done = k + 1
        if done == arguments.warm_up and arguments.trace:
            tracemalloc.start(10)
            before = tracemalloc.take_snapshot()
        if done >= arguments.warm_up and (done - arguments.warm_up) % every == 0:
            after[done] = state()
            print(
                f"| {done:,} | {after[done][0]:,} | {after[done][1]} | {after[done][2]} |",
                flush=True,
            )
    if before is not None:
        for line in tracemalloc.take_snapshot().compare_to(before, "lineno")[:15]:
            print(line)
    print(f"\n{time.perf_counter() - begin:.0f} s")
    (first, *first_others), (last, *last_others) = after[arguments.warm_up], after[total]
    if last - first > ALLOWED or last_others != first_others:
        raise SystemExit("grown")


if __name__ == "__main__":
    main()
