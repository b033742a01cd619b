# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""How far off propensities by position are that click models estimate, and what a fit costs.

    python benchmarks/clicks.py --data DIR              # MQ2008
    python benchmarks/clicks.py                         # make_ranking
    python benchmarks/clicks.py --part cost             # 10^7 impressions

DIR (or the environment variable SKLEARN_LTR_DATA) holds the folder `mq2008`, of which the training
part of the first fold is used. Rankers take turns in showing their first ten documents of a query:
three weak ones, each trained on another 1 % of the queries, and three poor ones, each a good
feature ranked the wrong way round. They rank all documents of a query, or ten that are drawn anew
for each list. Clicks are drawn by position, with attention 1/k^eta and noise .1. The largest error
is that of the propensities of the ten positions relative to the first, over the draws.

The cost is that of a log of 10^7 impressions, over many queries, in a process of its own: to count
it in parts of 10^6, and to fit.
"""

import warnings

import numpy as np
from _data import load_folds, make_data
from _harness import in_child, make_parser, memory, print_head, row, timed
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr import LambdaMART
from sklearn_ltr.clicks import ClickLog, PositionBasedModel, simulate_clicks
from sklearn_ltr.metrics import get_metric

N_POSITIONS = 10
NOISE = 0.1
METHODS = ("em", "interventions")
NDCG = get_metric("ndcg@10")

# Lists that are drawn at a time.
AT_A_TIME = 10**5


def load(data):
    """Training rows: X, y, groups."""
    if data is None:
        return "make_ranking", *make_data(50_000, 50)
    train = load_folds("mq2008", data)[0].train
    return "MQ2008, fold 1", train.X, train.y, train.groups


def weak_rankers(X, y, groups, n_rankers=3):
    """Scores of rankers that were trained on 1 % of the queries each."""
    rng, scores = np.random.default_rng(0), []
    queries = np.unique(groups)
    while len(scores) < n_rankers:
        drawn = rng.choice(queries, max(1, len(queries) // 100), replace=False)
        rows = np.isin(groups, drawn)
        if all(len(np.unique(y[groups == q])) == 1 for q in drawn):
            continue  # nothing to learn from
        ranker = LambdaMART(n_estimators=20, min_samples_leaf=2)
        scores.append(ranker.fit(X[rows], y[rows], groups=groups[rows]).predict(X))
    return np.column_stack(scores)


def poor_rankers(X, y, groups, places=(0, 3, 6)):
    """Features of the highest NDCG@10, ranked the wrong way round: the best, the fourth, ..."""
    values = [NDCG(y, X[:, j], groups) for j in range(X.shape[1])]
    return -X[:, np.argsort(values)[::-1][list(places)]]


def draw_log(y, groups, scores, n_lists, seed, eta=1.0, n_candidates=None):
    log = ClickLog(keep_pairs=False)
    rng = np.random.RandomState(seed)
    for start in range(0, n_lists, AT_A_TIME):
        drawn = simulate_clicks(
            y,
            groups,
            scores,
            n_sessions=min(AT_A_TIME, n_lists - start),
            n_positions=N_POSITIONS,
            n_candidates=n_candidates,
            eta=eta,
            noise=NOISE,
            random_state=rng,
        )
        log.add(**drawn)
    return log


def errors(log, eta):
    """Largest relative error of the propensities by method, rounds and seconds."""
    truth = np.arange(1, N_POSITIONS + 1.0) ** -eta
    found = {}
    for method in METHODS:
        seconds, model = timed(PositionBasedModel(method).fit, log)
        p = model.propensities_ / model.propensities_[0]
        found[method] = np.abs(p / truth - 1).max(), model.n_iter_, seconds[0]
    return found


def run_errors(args):
    title, X, y, groups = load(args.data)
    rankers = {
        "three weak": weak_rankers(X, y, groups),
        "three poor": poor_rankers(X, y, groups),
    }
    print(f"\n{title}: {len(y)} rows in {len(np.unique(groups))} queries; eta {args.eta}")
    for name, scores in rankers.items():
        values = ", ".join(f"{NDCG(y, s, groups):.3f}" for s in scores.T)
        print(f"{name} rankers: NDCG@10 {values}")
    print(f"\nLargest error of a propensity, in each of {args.draws} draws; rounds, seconds of one")
    row("rankers, candidates", ["impressions", "method", "errors", "rounds", "s"], 22, 28)
    for name, scores in rankers.items():
        for n_candidates in (None, N_POSITIONS):
            for n_lists in args.lists:
                found = {method: [] for method in METHODS}
                for seed in range(args.draws):
                    log = draw_log(y, groups, scores, n_lists, seed, args.eta, n_candidates)
                    for method, values in errors(log, args.eta).items():
                        found[method].append(values)
                for method, values in found.items():
                    off, rounds, seconds = zip(*values, strict=True)
                    cells = [
                        f"{log.n_impressions:.1e}",
                        method,
                        " ".join(f"{e:.3f}" for e in off),
                        int(np.median(rounds)),
                        f"{np.median(seconds):.1f}",
                    ]
                    row(f"{name}, {n_candidates or 'all'}", cells, 22, 28)


def cost(settings):
    """Megabytes and seconds of counting a log and fitting, in this process."""
    rng = np.random.default_rng(0)
    n_queries = settings["queries"]
    y, groups = rng.integers(0, 3, 20 * n_queries), np.repeat(np.arange(n_queries), 20)
    scores = y[:, None] + 2 * rng.normal(size=(len(y), 3))
    log = ClickLog(keep_pairs=settings["pairs"])
    counting = drawing = 0.0
    before = memory()[0]
    for seed in range(settings["impressions"] // (N_POSITIONS * AT_A_TIME)):
        seconds, drawn = timed(
            simulate_clicks, y, groups, scores, n_sessions=AT_A_TIME, random_state=seed
        )
        drawing += seconds[0]
        counting += timed(log.add, **drawn)[0][0]
    del drawn
    counting += timed(log.cells)[0][0]
    held, peak = memory()
    figures = {
        "cells": log.n_cells,
        "draw": drawing,
        "count": counting,
        "held": held - before,
        "peak of counting": peak,
    }
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = PositionBasedModel(method, n_jobs=settings["threads"])
            figures[method] = timed(model.fit, log)[0][0]
        figures[f"{method} rounds"] = model.n_iter_
        figures[f"{method} peak"] = memory()[1]
    return figures


def run_cost(args):
    print(f"\n{args.impressions:.0e} impressions, {args.threads} thread(s): seconds, megabytes")
    for n_queries in (1_000, 100_000):
        for pairs in (False, True):
            settings = {
                "impressions": args.impressions,
                "queries": n_queries,
                "pairs": pairs,
                "threads": args.threads,
            }
            figures = in_child(cost, settings)
            print(f"\n{n_queries} queries, pairs {'counted' if pairs else 'left out'}")
            for name, value in figures.items():
                print(f"    {name:<24}{value:>14,.1f}", flush=True)


def main():
    parser = make_parser(__doc__, data="folder of mq2008", quick="few lists, to see that it runs")
    parser.add_argument("--part", choices=["errors", "cost"], help="only this (default: both)")
    parser.add_argument("--lists", nargs="+", type=int, default=[10**4, 10**5, 10**6])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--eta", type=float, default=1.0)
    parser.add_argument("--impressions", type=int, default=10**7, help="of the cost")
    parser.add_argument("--threads", type=int, default=1, help="of the cost")
    args = parser.parse_args()
    if args.quick:
        args.lists, args.draws, args.impressions = [10**4], 1, 10**6
    print_head()
    if args.part != "cost":
        run_errors(args)
    if args.part != "errors":
        run_cost(args)


if __name__ == "__main__":
    main()
