# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""How long `predict` takes for the rows of one request, beside LightGBM's booster.

    python benchmarks/serving.py                            # 1 and 100 rows, 136 features
    python benchmarks/serving.py --rankers LambdaMART ListNet --repeats 51
    python benchmarks/serving.py --products --threads 2     # linear functions and nets

Every ranker is called as a user calls it, with all checks of X, one thread, and 300 rounds where it
has rounds, of trees of 31 leaves where it has trees. The booster has as many trees of as many
leaves, fitted to the same rows. All take turns; a time is the median over the repeats of the mean
over many batches, a ratio the median of the ratios within a repeat. `--products` scores 100,000
rows by linear functions and nets, in turn with the same by the BLAS and NumPy's functions.
"""

import inspect
import os
from functools import partial
from itertools import pairwise

import numpy as np
from _data import make_data
from _harness import make_parser, print_head, row, spread, take_turns, timed

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TRAINING_ROWS = 5_000
BATCHES = 200
SETTINGS = {"n_estimators": 300, "max_leaf_nodes": 31, "random_state": 0, "n_jobs": 1}
# So that FRank's fit does not take most of the time, and AdaRank has more than a round or two.
OWN_SETTINGS = {"FRank": {"max_bins": 32}, "AdaRank": {"update": "adaboost"}}
NETS = {"ListNet (10,)": (10,), "ListNet (32,)": (32,)}


def make_rankers(names):
    """Unfitted rankers by title."""
    from sklearn_ltr import rankers

    made = {}
    for name in rankers.__all__:
        R = getattr(rankers, name)
        settings = SETTINGS | OWN_SETTINGS.get(name, {})
        made[name] = R(
            **{k: v for k, v in settings.items() if k in inspect.signature(R).parameters}
        )
    for title, hidden in NETS.items():
        made[title] = rankers.ListNet(hidden_layer_sizes=hidden, max_iter=20, random_state=0)
    return {title: made[title] for title in names or made}


def make_booster(X, y):
    import lightgbm

    params = {"num_leaves": 31, "num_threads": 1, "objective": "lambdarank", "verbosity": -1}
    queries = np.full(len(X) // 100, 100)
    return lightgbm.train(params, lightgbm.Dataset(X, y, group=queries, params=params), 300)


def microseconds(predict, batches):
    """Of a batch."""
    return 1e6 * timed(lambda: [predict(X) for X in batches])[0][0] / len(batches)


def milliseconds(predict):
    return 1e3 * timed(predict)[0][0]


def latencies(args):
    X, y, groups = make_data(TRAINING_ROWS, args.features)
    fitted = {name: ranker.fit(X, y, groups) for name, ranker in make_rankers(args.rankers).items()}
    booster = make_booster(X, y)
    contenders = {"LightGBM": partial(booster.predict, num_threads=1)}
    contenders |= {name: ranker.predict for name, ranker in fitted.items()}
    rows = make_data(max(10_000, BATCHES * min(args.rows)), args.features, seed=1)[0]
    for n in args.rows:
        batches = [rows[i * n : (i + 1) * n] for i in range(min(BATCHES, len(rows) // n))]
        turns = {k: partial(microseconds, f, batches) for k, f in contenders.items()}
        found = {name: np.array(times) for name, times in take_turns(turns, args.repeats).items()}
        print(f"\n{n} row{'s' * (n > 1)}")
        row("", ["median us", "ratio", "range"], width=14)
        for name, times in found.items():
            ratio = times / found["LightGBM"]
            row(name, [f"{np.median(times):.1f}", f"{np.median(ratio):.3f}", spread(ratio)], 14)


def products(args):
    from sklearn_ltr.linear import ACTIVATIONS, weighted_sums
    from sklearn_ltr.scorefunction import outputs, scores_of

    rng = np.random.default_rng(0)
    row("", ["bits", "BLAS ms", "ours ms", "ratio", "range"], width=12)
    for dtype in (np.float64, np.float32):
        X = rng.normal(size=(100_000, args.features)).astype(dtype)
        w = rng.normal(size=args.features)
        cases = {"linear": (partial(np.matmul, X, w), partial(weighted_sums, X, w, args.threads))}
        for hidden in NETS.values():
            sizes = args.features, *hidden, 1
            weights = [rng.normal(size=shape) / 10 for shape in pairwise(sizes)]
            for activation in ACTIVATIONS:
                net = X, weights, [np.ones(n) for n in hidden], activation
                by_blas, ours = partial(outputs, *net), partial(scores_of, *net, args.threads)
                cases[f"{hidden} {activation}"] = by_blas, ours
        for name, (by_blas, ours) in cases.items():
            turns = {
                "blas": lambda f=by_blas: timed(f)[0][0],
                "ours": lambda f=ours: timed(f)[0][0],
            }
            found = take_turns(turns, args.repeats)
            blas, own = 1e3 * np.array(found["blas"]), 1e3 * np.array(found["ours"])
            cells = [8 * X.itemsize, f"{np.median(blas):.1f}", f"{np.median(own):.1f}"]
            cells += [f"{np.median(own / blas):.2f}", spread(own / blas)]
            row(name, cells, 12)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 100], help="of a batch")
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--rankers", nargs="+", help="only these")
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--products", action="store_true", help="large batches, beside the BLAS")
    parser.add_argument("--threads", type=int, default=1, help="with --products, of ours and BLAS")
    args = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != str(args.threads):
        parser.error(f"set {', '.join(THREADS)} to {args.threads}")
    print_head("lightgbm")
    if args.products:
        products(args)
    else:
        latencies(args)


if __name__ == "__main__":
    main()
