# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What prediction with sums of trees costs, beside LightGBM with the very same trees.

    python benchmarks/tree_prediction.py                    # 100,000 rows, 136 features
    python benchmarks/tree_prediction.py --few              # batches of 1, 10 and 100 rows
    python benchmarks/tree_prediction.py --classes 5 --features 50 --single

LightGBM's trees are read from its dump, so both sides do the same work, and the scores are compared
to 1e-12 of the largest. They take turns; a ratio is the median over the repeats of the ratio within
one, so that a slow spell of a shared machine meets both. Batches of few rows differ between
repeats, and each repeat takes the mean over many.
"""

from functools import partial

import numpy as np
from _data import make_data
from _harness import make_parser, print_head, spread, take_turns, timed
from _lightgbm_trees import read_tree, train

from sklearn_ltr.weak.forest import TreeEnsemble

FEW = (1, 10, 100)


def read_terms(booster, n_trees, n_classes):
    dump = booster.dump_model(num_iteration=n_trees // n_classes)["tree_info"]
    return [(t % n_classes, 1.0, read_tree(tree["tree_structure"])) for t, tree in enumerate(dump)]


def seconds_of(predict, batches):
    """Seconds a batch."""
    return timed(lambda: [predict(X) for X in batches])[0][0] / len(batches)


def check(scores, expected):
    error = np.abs(scores - expected.T).max() / np.abs(expected).max()
    assert error <= 1e-12, error


def table(args):
    data = make_data(args.rows, args.features)
    X = data[0].astype(np.float32) if args.single else data[0]
    sizes = FEW if args.few else (args.rows,)
    print(
        f"{'leaves':>7}{'trees':>7}{'rows':>8}{'threads':>9}{'ours':>12}{'LightGBM':>12}{'ratio':>8}"
        f"{'range':>14}"
    )
    for n_leaves in args.leaves:
        booster = train(data, n_leaves, max(args.trees), args.classes)
        for n_trees in args.trees:
            terms = read_terms(booster, n_trees, args.classes)
            (setup, _), model = timed(TreeEnsemble, terms, args.classes)
            rounds = n_trees // args.classes
            check(model.predict(X), booster.predict(X, raw_score=True, num_iteration=rounds))
            for n_rows in sizes:
                n_batches = min(args.rows // n_rows, 200)
                batches = [X[i * n_rows : (i + 1) * n_rows] for i in range(n_batches)]
                for n_threads in args.threads:
                    contenders = {
                        "ours": partial(model.predict, n_threads=n_threads),
                        "LightGBM": partial(
                            booster.predict,
                            raw_score=True,
                            num_iteration=rounds,
                            num_threads=n_threads,
                        ),
                    }
                    seconds = take_turns(
                        {k: partial(seconds_of, f, batches) for k, f in contenders.items()},
                        args.repeats,
                    )
                    ours, theirs = (np.array(found) for found in seconds.values())
                    ratio = ours / theirs
                    print(
                        f"{n_leaves:>7}{n_trees:>7}{n_rows:>8}{n_threads:>9}"
                        f"{1e3 * np.median(ours):>9.3f} ms{1e3 * np.median(theirs):>9.3f} ms"
                        f"{np.median(ratio):8.3f}{spread(ratio, 3):>14}",
                        flush=True,
                    )
            print(f"{'':7}set up once: {1e3 * setup:.1f} ms")


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--leaves", type=int, nargs="+", default=[20, 31])
    parser.add_argument("--trees", type=int, nargs="+", default=[100, 300, 1000], help="in all")
    parser.add_argument("--classes", type=int, default=1, help="1 or 5")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--few", action="store_true", help="batches of few rows")
    parser.add_argument("--single", action="store_true", help="predict rows of 32 bits")
    args = parser.parse_args()
    print_head("lightgbm")
    print(
        f"{args.rows} rows, {args.features} features of {32 if args.single else 64} bits, "
        f"{args.classes} output(s)"
    )
    table(args)


if __name__ == "__main__":
    main()
