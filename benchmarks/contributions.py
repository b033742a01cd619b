# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What contributions of features cost, beside LightGBM's ``pred_contrib`` of the very same trees.

    python benchmarks/contributions.py                      # 100 trees, 10,000 rows, 50 features
    python benchmarks/contributions.py --leaves 20 255 --threads 2 --repeats 3

LightGBM's trees are read from its dump, with the numbers of rows that it weighs paths by, and the
contributions are compared to 1e-10 of the largest. They take turns; a ratio is the median over the
repeats of the ratio within one. The last line is of symmetric trees of ours, fitted to the same
rows, which LightGBM does not have.
"""

from functools import partial

import numpy as np
from _data import make_data
from _harness import make_parser, print_head, row, spread, take_turns, timed
from _lightgbm_trees import read_tree, train

from sklearn_ltr import RegressionRanker
from sklearn_ltr.weak.attribution import PathAttribution


def read_terms(booster):
    terms = []
    for tree in booster.dump_model()["tree_info"]:
        nodes = [tree["tree_structure"]]
        for node in nodes:  # which grows, in the order of `read_tree`
            nodes += [node[side] for side in ("left_child", "right_child") if side in node]
        found = read_tree(nodes[0])
        found.cover = np.array([n.get("internal_count", n.get("leaf_count")) for n in nodes], float)
        terms.append((1.0, found))
    return terms


def check(found, base, expected):
    error = np.abs(found - expected[:, :-1]).max() / np.abs(expected).max()
    assert error <= 1e-10, error
    assert np.allclose(base, expected[:, -1], rtol=1e-10)


def seconds_of(function):
    return timed(function)[0][0]


def compare(data, n_leaves, args):
    booster = train(data, n_leaves, args.trees, 1)
    (setup, _), model = timed(PathAttribution, read_terms(booster))
    X = data[0]
    few = X[:200]
    check(model.contributions(few), model.expectation, booster.predict(few, pred_contrib=True))
    for n_threads in args.threads:
        contenders = {
            "ours": partial(model.contributions, X, n_threads),
            "LightGBM": partial(booster.predict, X, pred_contrib=True, num_threads=n_threads),
        }
        turns = {name: partial(seconds_of, call) for name, call in contenders.items()}
        ours, theirs = map(np.array, take_turns(turns, args.repeats).values())
        cells = [n_threads, f"{np.median(ours):.3f}", f"{np.median(theirs):.3f}"]
        ratio = ours / theirs
        row(f"{n_leaves} leaves", [*cells, f"{np.median(ratio):.4f}", spread(ratio, 4)], 14)
    print(f"set up once: {1e3 * setup:.1f} ms")


def symmetric(data, args):
    settings = {"grow_policy": "symmetric", "max_depth": 6, "max_leaf_nodes": 64}
    ranker = RegressionRanker(args.trees, **settings).fit(*data)
    model = PathAttribution(ranker.model_.terms)
    for n_threads in args.threads:
        call = partial(model.contributions, data[0], n_threads)
        seconds = [seconds_of(call) for _ in range(args.repeats)]
        row("symmetric, depth 6", [n_threads, f"{np.median(seconds):.3f}"], 14)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--leaves", type=int, nargs="+", default=[31])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print_head("lightgbm")
    print(f"{args.rows} rows, {args.features} features, {args.trees} trees")
    row("", ["threads", "ours s", "LightGBM s", "ratio", "range"], 14)
    data = make_data(args.rows, args.features)
    for n_leaves in args.leaves:
        compare(data, n_leaves, args)
    symmetric(data, args)


if __name__ == "__main__":
    main()
