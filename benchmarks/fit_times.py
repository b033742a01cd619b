# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fit times of all rankers in two source trees, to judge a change.

    python benchmarks/fit_times.py --before TREE [--after TREE] [--pairs 15] [--threads 1 2]
    python benchmarks/fit_times.py --before TREE --rankers QuadraticBoosting LambdaMART --cpu

A tree is a checkout with its kernels built in place; `--after` is by default the one this script is
in. Each tree has a process that lives through all fits, so that imports are not timed, nor is the
making of the data. Each fit is run once to warm up; then both trees fit in turn, and the one that
begins alternates from pair to pair. A ratio, after over before, is the median over the pairs of the
ratio within one, with the 95 % confidence interval that order statistics give the median. SLOWER
marks a ratio that exceeds 1.03 by more than its interval. "other scores" says that the two trees
learn models that differ, so that times may be of different work.

Only public parameters are used, so that trees that lie far apart can be compared. Those that one of
the two does not have fail the fit.
"""

import gc
import hashlib
import json
import os
import subprocess
import sys
import warnings
from functools import cache
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _harness import clock, make_parser, print_head, row
from threadpoolctl import threadpool_limits

HERE = Path(__file__).resolve()
LIMIT = 1.03
N_FEATURES = 30


class Fit(NamedTuple):
    """A ranker with parameters, on so many queries of 20 to 60 rows."""

    ranker: str
    params: dict = {}
    n_queries: int = 300
    loss: str | None = None


LOSSES = {
    "SquaredError": 60,
    "SquaredHinge": 8,
    "LogisticPairs": 6,
    "FidelityPairs": 6,
    "ListCrossEntropy": 40,
    "ListLikelihood": 20,
    "ListCosine": 30,
}

# A fit takes .2 to 1 s with one thread.
FITS = {
    **{
        f"QuadraticBoosting, {loss}": Fit("QuadraticBoosting", {"n_estimators": rounds}, loss=loss)
        for loss, rounds in LOSSES.items()
    },
    "LambdaMART": Fit("LambdaMART", {"n_estimators": 60}),
    "LambdaMART, ndcg": Fit("LambdaMART", {"n_estimators": 60, "metric": "ndcg"}),
    "LambdaMART, symmetric": Fit("LambdaMART", {"n_estimators": 60, "grow_policy": "symmetric"}),
    "YetiRank": Fit("YetiRank", {"n_estimators": 30}),
    "XENDCG": Fit("XENDCG", {"n_estimators": 60}),
    "RegressionRanker": Fit("RegressionRanker", {"n_estimators": 150}),
    "RegressionRanker, symmetric": Fit(
        "RegressionRanker", {"n_estimators": 150, "grow_policy": "symmetric"}
    ),
    "McRank": Fit("McRank", {"n_estimators": 30}),
    "McRank, ordinal": Fit("McRank", {"n_estimators": 30, "method": "ordinal"}),
    "QBRank": Fit("QBRank", {"n_estimators": 20}),
    "GBRank": Fit("GBRank", {"n_estimators": 60}),
    "MPBoost": Fit("MPBoost", {"n_estimators": 100}),
    "MPBoost, newton": Fit("MPBoost", {"n_estimators": 100, "step": "newton"}),
    "RankBoost": Fit("RankBoost", {"n_estimators": 100}),
    "RankBoost, approximate": Fit("RankBoost", {"n_estimators": 200, "step": "approximate"}),
    "FRank": Fit("FRank", {"n_estimators": 10}),
    "FRank, exact": Fit("FRank", {"n_estimators": 10, "step": "exact"}),
    "AdaRank": Fit("AdaRank", {"n_estimators": 200, "update": "adaboost"}),
    "FeatureRank": Fit("FeatureRank", n_queries=1000),
    "SingleFeatureRanker": Fit("SingleFeatureRanker", n_queries=1000),
    "RankSVM": Fit("RankSVM", n_queries=1500),
    "RankSVM, hinge": Fit("RankSVM", {"loss": "hinge"}, 1000),
    "MPRank": Fit("MPRank", n_queries=5000),
    "SVMMAP": Fit("SVMMAP", {"C": 100.0}, 500),
    "SVRank": Fit("SVRank", {"C": 10.0}, 1000),
    "RankNet": Fit("RankNet", {"alpha": 0.01}, 1000),
    "ListNet": Fit("ListNet", {"alpha": 0.01}, 2000),
    "ListMLE": Fit("ListMLE", {"alpha": 0.01}, 1000),
    "RankCosine": Fit("RankCosine", {"alpha": 0.01}, 2500),
    "LambdaRank": Fit("LambdaRank", {"max_iter": 20}),
    "ListNet, net": Fit("ListNet", {"max_iter": 20, "hidden_layer_sizes": (10,)}),
    "RankNet, net": Fit("RankNet", {"max_iter": 20, "hidden_layer_sizes": (10,)}),
    "LambdaRank, net": Fit("LambdaRank", {"max_iter": 20, "hidden_layer_sizes": (10,)}),
}


# In the process of a tree -----------------------------------------------------------------------


@cache
def data_of(n_queries):
    from sklearn_ltr.datasets import make_ranking

    return make_ranking(n_queries, (20, 60), N_FEATURES, random_state=0)


def location():
    """Where the package is, and its rankers and losses that are not timed here."""
    import sklearn_ltr
    from sklearn_ltr import losses

    rankers = set(sklearn_ltr.__all__) - {fit.ranker for fit in FITS.values()}
    return {
        "file": sklearn_ltr.__file__,
        "missing": sorted(rankers | set(losses.__all__) - set(LOSSES)),
    }


def run(name, n_threads):
    """Wall and CPU seconds of a fit, and a digest of the scores it leads to."""
    import sklearn_ltr
    from sklearn_ltr import losses

    fit = FITS[name]
    params = fit.params | {"n_jobs": n_threads}
    ranker = getattr(sklearn_ltr, fit.ranker)
    if fit.loss is not None:
        params["loss"] = getattr(losses, fit.loss)()
    if "random_state" in ranker().get_params():
        params["random_state"] = 0
    ranker = ranker(**params)
    X, y, groups = data_of(fit.n_queries)
    threadpool_limits(n_threads)
    gc.collect()
    start = clock()
    ranker.fit(X, y, groups=groups)
    seconds = clock() - start
    digest = hashlib.sha256(ranker.predict(X).tobytes()).hexdigest()
    return {"seconds": list(seconds), "digest": digest}


def serve():
    """Answer what comes in, a line each, until there is no more."""
    warnings.simplefilter("ignore")  # few iterations do not converge
    for line in sys.stdin:
        function, arguments = json.loads(line)
        print(json.dumps({"location": location, "run": run}[function](*arguments)), flush=True)


# In the process that asks -----------------------------------------------------------------------


class Tree:
    """The process of a source tree."""

    def __init__(self, folder):
        folder = folder.resolve()
        self._process = subprocess.Popen(
            [sys.executable, HERE, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(folder)},
        )
        found = self.ask("location")
        if folder not in Path(found["file"]).resolve().parents:
            raise RuntimeError(f"{found['file']} is not in {folder}")
        self.missing = found["missing"]

    def ask(self, function, *arguments):
        print(json.dumps([function, arguments]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{function}{arguments} failed; see above")
        return json.loads(answer)


def pairs_of(trees, name, n_threads, n_pairs):
    """Wall and CPU seconds of both trees, (n_pairs, 2, 2), and whether their scores are equal."""
    digests = [tree.ask("run", name, n_threads)["digest"] for tree in trees]
    seconds = np.empty((n_pairs, 2, 2))
    for pair in range(n_pairs):
        for who in (0, 1) if pair % 2 == 0 else (1, 0):
            seconds[pair, who] = trees[who].ask("run", name, n_threads)["seconds"]
    return seconds, digests[0] == digests[1]


def interval(values):
    """The 95 % confidence interval of the median, by order statistics."""
    n, values = len(values), np.sort(values)
    tail = np.cumsum([comb(n, k) for k in range(n)]) / 2**n  # that so many or fewer lie below it
    k = np.searchsorted(tail, 0.025, side="right") - 1
    return values[k], values[n - 1 - k]


def main():
    parser = make_parser(__doc__)
    rankers = list(dict.fromkeys(fit.ranker for fit in FITS.values()))
    parser.add_argument("--before", type=Path, required=True, help="a built source tree")
    parser.add_argument("--after", type=Path, default=HERE.parents[1], help="another one")
    parser.add_argument("--pairs", type=int, default=15, help="at least 6")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rankers", nargs="+", choices=rankers, default=rankers, metavar="NAME")
    parser.add_argument("--cpu", action="store_true", help="compare CPU time, not wall time")
    args = parser.parse_args()
    if args.pairs < 6:
        parser.error("--pairs must be at least 6: fewer have no interval of 95 %")
    trees = [Tree(args.before), Tree(args.after)]
    print_head(ours=False)
    print(
        f"{args.after.resolve()} over {args.before.resolve()}: {'CPU' if args.cpu else 'wall'} "
        f"time, {args.pairs} pairs"
    )
    if trees[1].missing:
        print(f"not timed: {', '.join(trees[1].missing)}")
    row("", ["threads", "before s", "after s", "ratio", "95 % interval"], 14, 36)
    slower = []
    for name, fit in FITS.items():
        for n_threads in args.threads if fit.ranker in args.rankers else ():
            seconds, same = pairs_of(trees, name, n_threads, args.pairs)
            before, after = seconds[:, :, int(args.cpu)].T
            low, high = interval(after / before)
            marks = ["SLOWER"] if low > LIMIT else []
            marks += [] if same else ["other scores"]
            cells = [
                n_threads,
                f"{np.median(before):.3f}",
                f"{np.median(after):.3f}",
                f"{np.median(after / before):.3f}",
                f"{low:.3f}-{high:.3f}",
                f"  {', '.join(marks)}",
            ]
            row(name, cells, 14, 36)
            if low > LIMIT:
                slower.append(f"{name} ({n_threads})")
    print(f"slower than {LIMIT}: {', '.join(slower) or 'none'}")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
