# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Variants of a ranker side by side on validation parts: how defaults are chosen.

    python benchmarks/variants.py mcrank --data DIR
    python benchmarks/variants.py yetirank --data DIR --sets mq2008 cubic --rounds 300

No test part is looked at. Every variant is fitted to the training part of each fold with the same
settings, and judged by the NDCG@10 of the validation part: after the last round, and after the best
one. Figures are means over the queries of all folds and over the settings; differences are from the
first variant, over the queries of all sets, with their standard errors. DIR (or the environment
variable SKLEARN_LTR_DATA) is as in report.py.
"""

from itertools import product

import numpy as np
import sklearn
from _accuracy import best_round, fit_ranker, paired_test, query_values, scores_after
from _data import SETS
from _harness import make_parser, require_data
from _peers import NDCG
from joblib import Parallel, delayed, parallel_config

from sklearn_ltr import LambdaMART, McRank, RegressionRanker

WHICH = ("last", "best")
SETTINGS = {"learning_rate": (0.1,), "max_leaf_nodes": (8, 32)}


def growth(ranker, **others):
    """Both ways to grow trees, and smaller leaves of symmetric ones."""
    symmetric = {"grow_policy": "symmetric"}
    return {
        "leafwise": (ranker, others),
        "symmetric": (ranker, symmetric | others),
        "symmetric, leaves of 1": (ranker, symmetric | {"min_samples_leaf": 1} | others),
        "symmetric, leaves of 5": (ranker, symmetric | {"min_samples_leaf": 5} | others),
    }


VARIANTS = {
    "mcrank": {
        f"{method}, {init}, {criterion}": (
            McRank(method=method),
            {"init": init, "criterion": criterion},
        )
        for method, init, criterion in product(
            ("classification", "ordinal"), ("zero", "prior"), ("squared_error", "newton")
        )
    },
    "lambdamart": growth(LambdaMART()),
    "regression": growth(RegressionRanker()),
}


def fit_variant(fold, ranker, params, rounds):
    """Values of the validation queries after the last and the best round, a row a setting."""
    found = {which: [] for which in WHICH}
    for values in product(*SETTINGS.values()):
        setting = dict(zip(SETTINGS, values, strict=True))
        fitted = sklearn.clone(ranker).set_params(
            n_estimators=rounds, scoring=NDCG, random_state=0, **(setting | params)
        )
        fit_ranker(fitted, fold.train, fold.validation)
        rounds_of = {"last": fitted.n_iter_, "best": best_round(fitted.validation_score_)}
        for which, last in rounds_of.items():
            scores = scores_after(fitted, fold.validation.X, last)
            found[which].append(query_values(NDCG, fold.validation, scores))
    return {which: np.mean(rows, axis=0) for which, rows in found.items()}


def main():
    parser = make_parser(__doc__, data="folder of the data sets")
    parser.add_argument("family", choices=list(VARIANTS))
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    require_data(parser, args)
    variants = VARIANTS[args.family]
    values = {name: {which: [] for which in WHICH} for name in variants}  # of the queries of a set
    for set_name in args.sets:
        folds = SETS[set_name][1](args.data)
        tasks = [
            delayed(fit_variant)(fold, *variant, args.rounds)
            for variant in variants.values()
            for fold in folds
        ]
        with parallel_config("loky", n_jobs=args.jobs, inner_max_num_threads=1):
            done = iter(Parallel(return_as="generator")(tasks))
        for name in variants:
            of_folds = [next(done) for _ in folds]
            for which in WHICH:
                values[name][which].append(np.concatenate([fold[which] for fold in of_folds]))
            means = "  ".join(
                f"{which} {np.nanmean(values[name][which][-1]):.4f}" for which in WHICH
            )
            print(f"{set_name:<10}{name:<46}{means}", flush=True)
    first, *others = values
    print(f"\nOver the queries of all sets, less those of {first}")
    for name in others:
        differences = [
            paired_test(*(np.concatenate(values[n][which]) for n in (name, first)))[:2]
            for which in WHICH
        ]
        print(f"{name:<56}" + "  ".join(f"{d:+.4f} ({e:.4f})" for d, e in differences))


if __name__ == "__main__":
    main()
