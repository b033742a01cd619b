# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""All rankers beside LightGBM, XGBoost, CatBoost and scikit-learn: one page of figures.

    python benchmarks/report.py --data DIR                      # accuracy, speed and the page
    python benchmarks/report.py --data DIR --part accuracy --sets mq2008 --rankers LambdaMART Ridge
    python benchmarks/report.py --data DIR --part speed         # wants a quiet machine
    python benchmarks/report.py --data DIR --part page          # the page from what is there
    python benchmarks/report.py --data DIR --quick              # to see that it runs

DIR (or the environment variable SKLEARN_LTR_DATA) holds `mq2008`, `ohsumed-letor3-qln`,
`webtrack-clueweb09`, `mslr-web10k-sample` and `mslr-web30k-sample`. Results are kept as JSON in
`--cache`; what is there already, from the same settings and the same version of the library, is not
run again. Delete the cache after a change of our own code. The page takes all that the cache has of
`--rankers`, with the words of `report_comment.md`, which are written by hand: read them again when
the figures have changed.

The rankers, their grids and what they have in common are in `_peers.py`; how the figures are made
is written on the page itself.
"""

import json
import os
import platform
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from _accuracy import best_round
from _data import FRESH_SETS, SETS, dense_data
from _harness import in_child, installed, machine, make_parser, measure, require_data, save
from _peers import CONTENDERS, criterion
from _report_page import COMMENT, CONTROL, PARTS_OF_CONTROL, Results, is_ours, page
from joblib import Parallel, delayed, parallel_config
from sklearn.utils import Bunch

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks" / "report.md"
ROUNDS = (100, 300)


# Accuracy ---------------------------------------------------------------------------------------


def folds_of(make, args):
    return make(args.data)[: 2 if args.quick else None]


def settings_of(name, args):
    settings = CONTENDERS[name].settings()
    return settings[:: len(settings) - 1 or 1] if args.quick else settings


def library_of(name):
    library = CONTENDERS[name].library
    return f"{library} {installed(library)}"


def what_is_fitted(name, rounds, args):
    """What a result of at most so many rounds depends on, but for the code of the package."""
    contender = CONTENDERS[name]
    return {
        "ranker": [str(a) for a in getattr(contender.fit, "args", [])],
        "library": library_of(name),
        "settings": settings_of(name, args),
        "rounds": rounds,
    }


def cached(path, what):
    """The result in the cache; None if there is none, or of something else."""
    if not path.exists():
        return None
    result = json.loads(path.read_text())
    # Through JSON, which has no tuples.
    return result if result["what"] == json.loads(json.dumps(what)) else None


def path_of(set_name, i, name, rounds, args):
    file = name.replace(" ", "_").replace(":", "_").replace(",", "") + ".json"
    return args.cache / "accuracy" / str(rounds) / set_name / str(i) / file


# Scores that are kept, and of which part.
PARTS = {"scores": "test", "validation_scores": "validation"}


def fit_grid(fold, name, limits):
    """Fit all settings of a ranker to a fold, and keep the scores that the best gives the test.

    `limits` says where to keep it for each largest number of rounds, and what it is. One fit to the
    largest serves all, where fewer rounds of it are what a fit of fewer rounds gives.
    """
    contender, start = CONTENDERS[name], time.perf_counter()
    most = max(limits)
    found = {rounds: {"fits": [], "best": -np.inf} for rounds in limits}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for setting in limits[most][1]["settings"]:
            fitted = None
            for limit, result in found.items():
                if fitted is None or not contender.nested:
                    rounds = most if contender.nested else limit
                    fitted = contender.fit(fold.train, setting, rounds, fold.validation)
                    staged = len(fitted.curve) > 1
                rounds = best_round(fitted.curve[:limit])
                value = fitted.curve[rounds - 1]
                result["fits"].append(
                    {"setting": setting, "validation": value, "rounds": rounds, "staged": staged}
                )
                if value > result["best"]:  # the first of equals
                    result["best"], result["chosen"] = value, result["fits"][-1]
                    for key, part in PARTS.items():
                        arguments = [fold[part], rounds] if staged else [fold[part]]
                        result[key] = np.asarray(fitted.scores(*arguments), dtype=float).tolist()
    for limit, (path, what) in limits.items():
        result = {
            "what": what,
            **found[limit],
            "seconds": time.perf_counter() - start,
            "warnings": sorted({str(w.message) for w in caught}),
            "machine": where(),
            "date": time.strftime("%Y-%m-%d"),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result))
        print(
            f"{path.parent.parent.name:<10}{path.parent.name} {name:<32}{limit:>4} rounds "
            f"{result['seconds']:7.1f} s  validation {result['best']:.4f}",
            flush=True,
        )


def accuracy(args):
    for set_name in args.sets:
        folds = folds_of((SETS | FRESH_SETS)[set_name][1], args)
        tasks = []
        for name in args.rankers:
            for i, fold in enumerate(folds):
                limits = {
                    rounds: (
                        path_of(set_name, i, name, rounds, args),
                        what_is_fitted(name, rounds, args),
                    )
                    for rounds in args.rounds
                }
                if any(cached(path, what) is None for path, what in limits.values()):
                    tasks.append(delayed(fit_grid)(fold, name, limits))
        with parallel_config("loky", n_jobs=args.jobs, inner_max_num_threads=1):
            Parallel()(tasks)


# Speed ------------------------------------------------------------------------------------------

LEAVES, RATE = 32, 0.1
TREE = {"learning_rate": RATE, "max_leaf_nodes": LEAVES}
STUMP = {"learning_rate": RATE, "max_leaf_nodes": 2}

# Of each problem the rankers and their settings; ratios are to the first.
PROBLEMS = {
    f"Trees of {LEAVES} leaves that learn from pairs or lists": {
        "LightGBM lambdarank": TREE,
        "LightGBM rank_xendcg": TREE,
        "XGBoost rank:ndcg": TREE,
        "XGBoost rank:pairwise": TREE,
        "CatBoost YetiRank": TREE,
        "LambdaMART": TREE,
        "QBRank": TREE,
        "GBRank": TREE | {"learning_rate": 1.0},
    },
    f"Trees of {LEAVES} leaves that learn from each row": {
        "LightGBM regression": TREE,
        "XGBoost reg:squarederror": TREE,
        "CatBoost QueryRMSE": TREE,
        "HistGradientBoostingRegressor": TREE,
        "RegressionRanker": TREE,
        "McRank": TREE,
        "McRank, ordinal": TREE,
    },
    "Stumps and single features": {
        "LightGBM lambdarank": STUMP,
        "XGBoost rank:pairwise": STUMP,
        "CatBoost YetiRank": STUMP,
        "MPBoost": {"learning_rate": RATE},
        "RankBoost": {"learning_rate": RATE},
        "FRank": {"learning_rate": RATE},
        "AdaRank": {"update": "adaboost"},
        "FeatureRank": {},
        "SingleFeatureRanker": {},
    },
    "Linear functions": {
        "Ridge": {"alpha": 1.0},
        "LinearRegression": {},
        "RankSVM": {"C": 1.0},
        "RankNet": {"alpha": 1e-2},
        "ListNet": {"alpha": 1e-2},
        "ListMLE": {"alpha": 1e-2},
        "RankCosine": {"alpha": 1e-2},
        "LambdaRank": {"alpha": 1e-2},
    },
}


def run_child(settings):
    """Fit and predict with one ranker."""
    contender = CONTENDERS[settings["ranker"]]

    def fit(X, y, groups):
        train = Bunch(X=X, y=y, groups=groups)
        fitted = contender.fit(train, settings["setting"], settings["rounds"])
        return lambda X, groups: fitted.scores(Bunch(X=X, groups=groups))

    return measure(fit, settings["folder"])


def fit_in_child(folder, ranker, setting, args):
    settings = {"folder": folder, "ranker": ranker, "setting": setting, "rounds": args.rounds[0]}
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    return in_child(run_child, settings, **one_thread)


def speed(args):
    """All rankers of a problem take turns in each repeat."""
    runs = {problem: {name: [] for name in names} for problem, names in PROBLEMS.items()}
    with tempfile.TemporaryDirectory() as folder:
        for part, data in zip(("train", "test"), dense_data(args, seed=0), strict=True):
            save(folder, part, *data)
        for problem, names in PROBLEMS.items():
            for _ in range(args.repeats):
                for name, setting in names.items():
                    runs[problem][name].append(fit_in_child(folder, name, setting, args))
                    last = runs[problem][name][-1]
                    print(f"{name:<32}" + " ".join(f"{k} {v:.3f}" for k, v in last.items()))
    args.cache.mkdir(parents=True, exist_ok=True)
    result = {
        "runs": runs,
        "rows": args.rows,
        "features": args.features,
        "rounds": args.rounds[0],
        "repeats": args.repeats,
        "libraries": sorted({library_of(name) for names in PROBLEMS.values() for name in names}),
        "machine": where(),
        "load": os.getloadavg()[0],
        "date": time.strftime("%Y-%m-%d"),
    }
    (args.cache / "speed.json").write_text(json.dumps(result))


def where():
    return f"{machine()}, Python {platform.python_version()}"


# The page ---------------------------------------------------------------------------------------


def results_of(set_name, rounds, args):
    """What the cache has of a data set: of each ranker all folds or nothing."""
    title, make = (SETS | FRESH_SETS)[set_name]
    folds = folds_of(make, args)
    found = {}
    for name in args.rankers:
        what = what_is_fitted(name, rounds, args)
        of_folds = [
            cached(path_of(set_name, i, name, rounds, args), what) for i in range(len(folds))
        ]
        if None not in of_folds:
            found[name] = of_folds
    if all(name in found for name in PARTS_OF_CONTROL):
        trees, linear = (found[name] for name in PARTS_OF_CONTROL)
        found[CONTROL] = list(map(their_blend, folds, trees, linear))
    tests = [fold.test for fold in folds]
    return Results(
        title,
        np.concatenate([test.y for test in tests]),
        np.concatenate([test.groups for test in tests]),
        [len(test.y) for test in tests],
        tests[0].X.shape[1],
        found,
    )


def their_blend(fold, trees, linear):
    """What the peers' best trees and half their best linear function give, as our blend adds up."""
    found = dict(trees)
    for key, part in PARTS.items():
        groups = fold[part].groups
        found[key] = standardized(trees[key], groups) + 0.5 * standardized(linear[key], groups)
    value = criterion(fold.validation, found["validation_scores"])
    return found | {"chosen": {"validation": value, "rounds": 1, "staged": False}}


def standardized(scores, groups):
    """Scores less their mean within the query, over their standard deviation there."""
    query = np.unique(groups, return_inverse=True)[1]
    off = scores - (np.bincount(query, scores) / np.bincount(query))[query]
    deviation = np.sqrt(np.bincount(query, off**2) / np.bincount(query))[query]
    return np.divide(off, deviation, out=np.zeros_like(off), where=deviation > 0)


def write_page(args):
    found = {}
    for rounds in args.rounds:
        found[rounds] = {}
        for set_name in SETS | FRESH_SETS:
            if path_of(set_name, 0, "", rounds, args).parent.exists():
                results = results_of(set_name, rounds, args)
                if len({is_ours(name) for name in results.folds}) == 2:  # something to compare
                    found[rounds][set_name] = results
    path = args.cache / "speed.json"
    speed = json.loads(path.read_text()) if path.exists() else None
    command = "python benchmarks/report.py --data DIR" + (" --quick" if args.quick else "")
    if args.rankers != list(CONTENDERS):
        command += " --rankers " + " ".join(f'"{name}"' for name in args.rankers)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(page(found, speed, command))
    print(f"Wrote {args.output}. Read {COMMENT.name} again beside it.")


def main():
    parser = make_parser(__doc__, data="folder of the data sets", quick="to see that it runs")
    parts = {"accuracy": accuracy, "speed": speed, "page": write_page}
    parser.add_argument("--part", choices=list(parts), nargs="+", default=list(parts))
    parser.add_argument("--sets", nargs="+", choices=list(SETS | FRESH_SETS), default=list(SETS))
    parser.add_argument("--rankers", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS))
    parser.add_argument(
        "--rounds", type=int, nargs="+", default=ROUNDS, help="the most, of all that boost"
    )
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time, of one thread each")
    parser.add_argument("--rows", type=int, default=20_000, help="of speed, a multiple of 200")
    parser.add_argument("--features", type=int, default=50, help="of speed")
    parser.add_argument("--repeats", type=int, default=3, help="of speed")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "build" / "report")
    parser.add_argument("--output", type=Path, default=PAGE)
    args = parser.parse_args()
    require_data(parser, args)
    if args.quick:
        args.rounds, args.repeats, args.rows = (5, 10), 1, 2_000
        args.cache /= "quick"
        args.output = args.cache / "report.md"
    for part in args.part:
        parts[part](args)


if __name__ == "__main__":
    main()
