# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a round of RankBoost costs, beside pairs in NumPy and RankLib's rate.

    python benchmarks/rankboost_round.py [--rows 100000] [--threads 1 2] [--no-rounds] [--growth]

RankLib (Java) is not built here, so that its rate is a figure quoted from earlier measurements and
not measured: about 130 ns for each row, feature and round, at 10 thresholds a feature. It is set
against 255 here. What is measured beside us is the usual implementation in NumPy, on listed pairs
and the same bins: the potential of each row from the pairs, its histogram for each feature, and for
the exact step the weight of the pairs that each threshold separates, from a difference array.

A round is the mean over the rounds after the first, so that set-up, which is binning and presorting
here and the listing of pairs there, is left out on both sides. Targets are about wall time; on a
machine that others use, look at the CPU time of one thread.

Needs scikit-learn 1.9, whose callbacks tell when a round ends.
"""

from pathlib import Path

import numpy as np
from _data import make_data
from _harness import Stopwatch, make_parser, print_head, spread, time_rounds, times

from sklearn_ltr import RankBoost
from sklearn_ltr.binning import Binner
from sklearn_ltr.rankers.rankboost import STEPS

MAX_BINS = 255
RANKLIB_NS = 130.0  # quoted, at 10 thresholds
TARGETS = {"approximate": 30, "exact": 10}


def fit_ours(data, step, n_rounds, n_threads):
    ranker = RankBoost(n_rounds, step=step, max_bins=MAX_BINS, n_jobs=n_threads)
    return time_rounds(ranker, *data), ranker


def list_pairs(y, groups):
    """Winner and loser of every pair; the rows of a query follow each other."""
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    winners, losers = [], []
    for first, last in zip(starts, np.append(starts[1:], len(y)), strict=True):
        winner, loser = np.nonzero(y[first:last, None] > y[first:last])
        winners.append(first + winner)
        losers.append(first + loser)
    return np.concatenate(winners), np.concatenate(losers)


def fit_numpy(data, step, n_rounds):
    """RankBoost on listed pairs.

    Returns the stopwatch, and the product of the Z_t after each round.
    """
    X, y, groups = data
    watch = Stopwatch()
    n_rows, n_features = X.shape
    binned = Binner(MAX_BINS).fit(X, np.arange(n_rows), 1).transform(X, np.arange(n_rows), 1)
    codes = [binned.column(k).astype(np.intp) for k in range(n_features)]
    winner, loser = list_pairs(y, groups)
    D = np.full(len(winner), 1 / len(winner))
    half_pair = 0.5 / len(winner)
    losses = [1.0]
    for _ in range(n_rounds):
        pi = np.bincount(winner, D, n_rows) - np.bincount(loser, D, n_rows)
        best = (0.0, 0, 0, 0.0, 0.0)  # gain, feature, bin, W+, W-
        for k, code in enumerate(codes):
            # r and W+ + W- of the threshold above each bin
            r = -np.bincount(code, pi, MAX_BINS).cumsum()
            if step == "approximate":
                gain, right, wrong = np.abs(r), (1 + r) / 2, (1 - r) / 2
            else:
                ours, theirs = code[winner], code[loser]
                crossing = np.bincount(np.minimum(ours, theirs), D, MAX_BINS)
                crossing -= np.bincount(np.maximum(ours, theirs), D, MAX_BINS)
                crossing = crossing.cumsum()
                right, wrong = np.maximum((crossing + r) / 2, 0), np.maximum((crossing - r) / 2, 0)
                gain = (np.sqrt(right) - np.sqrt(wrong)) ** 2
            t = int(gain.argmax())
            best = max(best, (gain[t], k, t, right[t], wrong[t]))
        _, k, t, right, wrong = best
        alpha = 0.5 * np.log((right + half_pair) / (wrong + half_pair))
        h = alpha * (codes[k] > t)
        D *= np.exp(h[loser] - h[winner])
        Z = D.sum()
        D /= Z
        losses.append(losses[-1] * Z)
        watch.mark()
    return watch, np.array(losses[1:])


def nanoseconds(watch, X):
    """Nanoseconds a row, feature and round: wall and CPU."""
    return 1e9 * watch.round() / X.size


def rounds_table(args):
    data = make_data(args.rows, args.features)
    X, y, groups = data
    n_pairs = len(list_pairs(y, groups)[0])
    print(
        f"\n{args.rows} rows x {args.features} features, {len(np.unique(groups))} queries, "
        f"{len(np.unique(y))} grades, {n_pairs} pairs, {MAX_BINS} bins"
    )
    print(
        f"RankLib: {RANKLIB_NS:g} ns a row, feature and round at 10 thresholds, QUOTED from "
        "measurements elsewhere, not measured here"
    )
    print(
        f"{'ns a row, feature and round':<34}{'wall':>9}{'range':>16}{'CPU':>9}"
        f"{'NumPy is':>10}{'RankLib is':>12}{'target':>9}"
    )
    for step in reversed(STEPS):
        watch, losses = fit_numpy(data, step, args.numpy_rounds)
        slow = nanoseconds(watch, X)
        print(
            f"{f'{step}, NumPy pairs, 1 thread':<34}{slow[0]:9.2f}{'':>16}{slow[1]:9.2f}"
            f"{'':>10}{RANKLIB_NS / slow[0]:11.1f}x",
            flush=True,
        )
        for n_threads in args.threads:
            runs = [fit_ours(data, step, args.rounds, n_threads) for _ in range(args.repeats)]
            found = runs[0][1].train_loss_[: len(losses)]
            if not np.allclose(found, losses, rtol=1e-6):
                raise AssertionError(f"other models: losses {found} and {losses}")
            wall, cpu = np.array([nanoseconds(watch, X) for watch, _ in runs]).T
            ratio = RANKLIB_NS / np.median(wall)
            target = f">= {TARGETS[step]}"
            print(
                f"{f'{step}, RankBoost, {n_threads} thread(s)':<34}{np.median(wall):9.2f}"
                f"{spread(wall):>16}{np.median(cpu):9.2f}"
                f"{slow[0] / np.median(wall):9.0f}x{ratio:11.1f}x{target:>9}"
                f"  {'met' if ratio >= TARGETS[step] else 'MISSED'}",
                flush=True,
            )


def growth_table(args):
    """Time of ten times the rows; the least disturbed of three runs."""
    n_threads = min(args.threads)
    print(f"\nGrowth with the rows: {args.features} features, {n_threads} thread(s), 20 rounds")
    names = [f"{step}, {what} ms" for step in STEPS for what in ("wall", "CPU")]
    print(f"{'rows':>9}" + "".join(f"{name:>22}{'ratio':>7}" for name in names))
    before = None
    for n_rows in (10_000, 100_000, 1_000_000):
        data = make_data(n_rows, args.features)
        now = []
        for step in STEPS:
            runs = [fit_ours(data, step, 20, n_threads)[0].round() for _ in range(3)]
            now.extend(1e3 * np.min(runs, axis=0))
        now = np.array(now)
        cells = zip(now, times(now, before), strict=True)
        print(f"{n_rows:>9}" + "".join(f"{v:22.2f}{r:>7}" for v, r in cells), flush=True)
        before = now


def find_ranklib():
    """A RankLib jar where Maven and Debian put them."""
    for folder in (Path.home() / ".m2", Path("/usr/share/java")):
        for jar in folder.rglob("*.jar") if folder.is_dir() else ():
            if "ranklib" in jar.name.lower():
                return jar
    return None


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="in queries of 100")
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--numpy-rounds", type=int, default=3, help="at least 2")
    parser.add_argument("--no-rounds", action="store_true", help="only what is asked for besides")
    parser.add_argument("--growth", action="store_true", help="also 10^4 to 10^6 rows")
    args = parser.parse_args()
    print_head()
    jar = find_ranklib()
    print(
        "RankLib: no jar in ~/.m2 or /usr/share/java: not run"
        if jar is None
        else f"RankLib: found {jar}, but this script does not run it"
    )
    if not args.no_rounds:
        rounds_table(args)
    if args.growth:
        growth_table(args)


if __name__ == "__main__":
    main()
