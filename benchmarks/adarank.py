# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""AdaRank on MQ2008: what could explain how far LETOR's own AdaRank rows are above ours.

    python benchmarks/adarank.py --data DIR [--quick]

How LETOR's program works beside the paper is not known. Each thing that the paper leaves open is
changed by itself, from AdaRank by NDCG@10 with AdaBoost's weights; then four of them in every
combination. AdaRank is written here anew, much shorter, since the package has no switch for most
of these; the package itself stands beside the base. DIR (or the environment variable
SKLEARN_LTR_DATA) holds the folder `mq2008`. Folds and metrics are those of `letor_linear.py`.
"""

import time
from itertools import product
from typing import NamedTuple

import numpy as np
from _accuracy import (
    evaluate,
    fit_all,
    fit_ranker,
    means,
    metric_head,
    metric_row,
    paired_test,
)
from _data import PUBLISHED, describe_tests, join, load_folds
from _harness import make_parser, print_head, require_data
from sklearn.utils import Bunch

from sklearn_ltr import AdaRank
from sklearn_ltr.metrics import get_metric

REPORTED = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")


# Rounds at which to print a curve.
AT = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200)


class Variant(NamedTuple):
    """AdaRank, and how its number of rounds is chosen."""

    metric: str = "ndcg@10"  # E
    discount: str = "log2"  # of E
    ties: str = "average"  # of E
    short: str = "clip"  # E of queries of fewer rows than its cut-off
    without: str = "skip"  # queries without a relevant row: left out, or E = 0
    update: str = "adaboost"  # weights by h_t, by f_t alone ("paper"), or by products of f_t's
    again: str = "free"  # features may be chosen again, "never", or not more than 5 times in a row
    features: str = "as they are"  # or with their negatives
    stop: str = "validation"  # rounds by validation, or where training E ceases to rise
    criterion: str = "map"  # of validation
    equals: str = "first"  # which of equally good rounds
    train: str = "train"  # or with the validation part, once the rounds are chosen


BASE = Variant()
ALTERNATIVES = {
    "metric": ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg", "map"),
    "discount": ("letor",),
    "ties": ("input",),
    "short": ("zero",),
    "without": ("zero",),
    "update": ("paper", "products"),
    "again": ("never", "not 5 times"),
    "features": ("and negated",),
    "stop": ("training",),
    "criterion": ("ndcg@10", "ndcg@5", "ndcg"),
    "equals": ("last",),
    "train": ("and validation",),
}
# Of these every combination.
CROSSED = {
    "metric": ("ndcg@5", "ndcg@10", "ndcg"),
    "without": ("skip", "zero"),
    "update": ("adaboost", "paper", "products"),
    "again": ("free", "never", "not 5 times"),
}


def letor(name):
    return get_metric(name, like="letor4")


def make_E(variant):
    """E: the values of the queries of a part by scores."""
    switches = {} if variant.metric == "map" else {"discount": variant.discount}
    if variant.short == "zero" and "@" in variant.metric:
        switches["short"] = "zero"
    metric = get_metric(variant.metric, ties=variant.ties, **switches)

    def E(part, scores):
        values = metric(part.y, scores, part.groups, per_query=True).values
        return np.nan_to_num(values) if variant.without == "zero" else values[~np.isnan(values)]

    return E


def fit(variant, part, rounds):
    """The coefficients after each round: ndarray of shape (rounds, n_features)."""
    E = make_E(variant)
    E_of_features = np.array([E(part, column) for column in part.X.T])
    n_features = len(E_of_features)
    if variant.features == "and negated":
        negated = [E(part, -column) for column in part.X.T]
        E_of_features = np.concatenate([E_of_features, negated])
    exponents = np.zeros(E_of_features.shape[1])
    coef, stages, chosen, best = np.zeros(n_features), [], [], -np.inf
    for _ in range(rounds):
        P = np.exp(exponents.min() - exponents)
        phi = E_of_features @ (P / P.sum())
        if variant.again == "never":
            phi[chosen] = -np.inf
        elif variant.again == "not 5 times" and len(set(chosen[-5:])) == 1 and len(chosen) >= 5:
            phi[chosen[-1]] = -np.inf
        k = int(phi.argmax())
        if phi[k] <= 0:
            break
        alpha = 0.5 * np.log((1 + phi[k]) / (1 - phi[k]))
        coef[k % n_features] += alpha if k < n_features else -alpha
        chosen.append(k)
        if variant.update == "adaboost":
            exponents = exponents + alpha * E_of_features[k]
        if variant.update != "adaboost" or variant.stop == "training":
            E_of_f = E(part, part.X @ coef)
            if variant.stop == "training" and E_of_f.mean() <= best:
                break
            best = E_of_f.mean()
            if variant.update == "paper":
                exponents = E_of_f
            elif variant.update == "products":
                exponents = exponents + alpha * E_of_f
        stages.append(coef.copy())
    return np.array(stages)


def choose(variant, stages, part):
    """The number of rounds."""
    if variant.stop == "training":
        return len(stages)
    criterion = letor(variant.criterion)
    values = np.array([criterion(part.y, part.X @ coef, part.groups) for coef in stages])
    equals = np.flatnonzero(values == values.max()) + 1
    return int(equals[0 if variant.equals == "first" else -1])


def run_variant(fold, variant, rounds):
    """Test scores, rounds and features."""
    stages = fit(variant, fold.train, rounds)
    n_rounds = choose(variant, stages, fold.validation)
    if variant.train != "train":
        stages = fit(variant, join([fold.train, renamed(fold.validation)]), n_rounds)
    coef = stages[min(n_rounds, len(stages)) - 1]
    return fold.test.X @ coef, n_rounds, np.count_nonzero(coef)


def renamed(part):
    """The queries of a part by names that no other part has."""
    names = -1 - np.unique(part.groups, return_inverse=True)[1]
    return Bunch(X=part.X, y=part.y, groups=names)


def test_curve(fold, rounds):
    """MAP of the test part after each round of the base."""
    stages = fit(BASE, fold.train, rounds)
    return [letor("map")(fold.test.y, fold.test.X @ coef, fold.test.groups) for coef in stages]


def run_package(fold, rounds):
    ranker = AdaRank(
        rounds, metric="ndcg@10", update="adaboost", early_stopping=True,
        scoring=letor("map"), tol=0, n_iter_no_change=rounds,
    )  # fmt: skip
    fit_ranker(ranker, fold.train, fold.validation)
    n_features = np.count_nonzero(ranker.coef_)
    return ranker.predict(fold.test.X), ranker.best_iteration_, n_features


def name_of(variant):
    changed = [
        f"{key}: {value}"
        for key, value, base in zip(Variant._fields, variant, BASE, strict=True)
        if value != base
    ]
    return ", ".join(changed) or "base"


def main():
    parser = make_parser(__doc__, data="folder of the data sets", quick="20 rounds, few variants")
    args = parser.parse_args()
    require_data(parser, args)
    print_head()
    start = time.perf_counter()
    rounds = 20 if args.quick else 200
    folds = load_folds("mq2008", args.data)
    metrics = {m: letor(m) for m in REPORTED}
    published = PUBLISHED["mq2008"]["AdaRank-NDCG"]
    print(f"MQ2008, {describe_tests(folds)}, up to {rounds} rounds; like='letor4'")
    singles = [BASE] + [
        BASE._replace(**{field: value})
        for field, of_field in ALTERNATIVES.items()
        for value in of_field
    ]
    crossed = [
        BASE._replace(**dict(zip(CROSSED, values, strict=True)))
        for values in product(*CROSSED.values())
    ]
    if args.quick:
        singles, crossed = singles[::2], crossed[::9]
    results = fit_all(
        lambda fold, variant: (
            run_package(fold, rounds)
            if variant == "package"
            else run_variant(fold, variant, rounds)
        ),
        list(dict.fromkeys(["package", *singles, *crossed])),
        folds,
    )
    curves = np.array(fit_all(lambda fold, _: test_curve(fold, rounds), ["base"], folds)["base"])
    values = {
        key: evaluate(folds, [scores for scores, _, _ in of_folds], metrics)
        for key, of_folds in results.items()
    }
    found = {key: means(of_key) for key, of_key in values.items()}

    metric_head("", REPORTED)
    metric_row("AdaRank-NDCG, published", published, REPORTED)
    metric_row("the package", found["package"], REPORTED)
    for variant in singles:
        metric_row(name_of(variant), found[variant], REPORTED)

    print("\nMinus the base: MAP and paired t-test over the test queries; rounds, features by fold")
    base = np.concatenate(values[BASE]["map"])
    for variant in singles:
        difference, error, p = paired_test(np.concatenate(values[variant]["map"]), base)
        sizes = "  ".join(f"{r}/{f}" for _, r, f in results[variant])
        print(f"{name_of(variant):<28}{difference:+.4f} (s.e. {error:.4f}, p={p:.3f})   {sizes}")

    print("\nTest MAP of the base with the same number of rounds in all folds")
    curve = curves.mean(axis=0)
    print("  ".join(f"{n}: {curve[n - 1]:.4f}" for n in AT if n <= rounds))
    print(f"from {curve.min():.4f} to {curve.max():.4f} (after {curve.argmax() + 1})")
    print(f"Were each fold's chosen on its own test part: {curves.max(axis=1).mean():.4f}")

    print(f"\nEvery combination of {', '.join(CROSSED)}: {len(crossed)}")
    for m in ("map", "ndcg@10", "ndcg@5"):
        of_all = np.array([found[v][m] for v in crossed])
        above = (of_all >= published[m]).sum()
        spread = f"{of_all.min():.4f} to {of_all.max():.4f}, median {np.median(of_all):.4f}"
        print(f"{m.upper():<8} {spread}; {above} reach the published {published[m]:.4f}")
    print("the five highest in MAP, and means by each choice")
    for variant in sorted(crossed, key=lambda v: -found[v]["map"])[:5]:
        metric_row("", found[variant], REPORTED)
        print(f"    {name_of(variant)}")
    for field, of_field in CROSSED.items():
        for value in of_field:
            of_value = [found[v]["map"] for v in crossed if getattr(v, field) == value]
            print(f"{field}: {value:<20}" + (f"{np.mean(of_value):.4f}" if of_value else "-"))
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
