# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The Markdown page of report.py: text from results, no result in the text."""

from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _data import SETS
from _peers import CONTENDERS, GRID_SIZE, OURS

from sklearn_ltr.metrics import rank_in_query
from sklearn_ltr.model_selection import compare_rankers

COMMENT = Path(__file__).resolve().parent / "report_comment.md"
TARGET = 0.05  # of p

HEAD = """\
<!-- Written by benchmarks/report.py. Do not edit: the words are there and in report_comment.md. -->

# Comparison with other libraries

All rankers of this package and those of LightGBM, XGBoost, CatBoost and scikit-learn, on the same
folds, with grids of the same size, judged by the same metric.
"""

HOW = """\
## How to read this

**Accuracy.** Queries are cut into five parts. In each of five folds three parts train, one
validates, one tests, so that each query is tested once. Every ranker with something to choose gets
{grid_size} settings ([below](#grids)) and, if it boosts, up to {rounds} rounds. The setting and the
number of rounds, any from 1 on, are those of the highest NDCG@10 on the validation part; the test
part is scored once. The libraries' own early stopping is not used, so that one rule serves all. All
else is at the default of each library: trees of XGBoost and CatBoost are regularised and have no
least number of rows in a leaf, the others are not and have one of 20. One thread, fixed seeds.

**Metrics.** NDCG@10 has the gain 2^grade - 1 and the discount log2(1 + position); MAP takes grades
from 1 on as relevant. Rows of equal scores count by the mean over their orders. Queries without a
relevant row are left out, so that figures cannot be compared with those that LETOR publishes. All
are computed by this package, from the scores that the libraries give. Means are over all test
queries.

**Tests.** "vs. best peer" is the difference in NDCG@10 from the best ranker of the other libraries,
with the 95 % confidence interval of its mean. p is of the paired t-test and of Fisher's
randomisation test over the queries, two-sided and corrected by Holm's procedure for all rows of the
table. The best peer is picked by the very queries it is tested on, which flatters it, as the top of
any table is flattered. The line below each table is free of that: in each fold it takes of ours,
and of theirs, the one ranker that is best on the *validation* part, as someone would who has to
choose one. A difference that is not significant does not say that two rankers are equal: the sets
have {fewest} to {most} queries, and small ones show large differences only.

**Features.** Linear functions, ours and scikit-learn's, get logarithms, standardised by the
training part; all others get the features as they are. Least squares are on 2^grade - 1.

RankLib is missing: it is a Java program that no registry at hand offers. Figures that LETOR
publishes are beside ours, under LETOR's rules, in `benchmarks/letor_pairwise.py` and
`benchmarks/letor_linear.py`.
"""

SPEED = """\
## Time and memory

{rows} training rows x {features} features of `make_ranking` in queries of 100, {rounds} rounds
where there are rounds, one thread; medians over {repeats} turns, in each of which every ranker is
fitted once, in a process of its own. A fit starts at the array, so that binning is included. Memory
is the peak of the fit less what the process had before it, with the rows loaded. Ratios of time are
to the first row, the median of those within a turn: below 1 is faster. Predictions are of half as
many rows of other queries; their NDCG@10, of one setting that nobody tuned, is there to see that
all have learned something. Measured on {date}, at a load of {load:.1f} when the last fit had ended.
"""

LIKE = """\
## Like with like

Differences in NDCG@10 between rankers that learn by the same loss, in each data set and over the
queries of all sets, with the 95 % confidence interval and the p of the paired t-test over all
queries, here not corrected. Above 0 the first is better.
"""

# The peers' own blend, of members that are chosen each by itself: no ranker of a library, so that
# it is no candidate for the best peer.
CONTROL = "CatBoost YetiRank + half Ridge"
PARTS_OF_CONTROL = ("CatBoost YetiRank", "Ridge")

# Of the peers, in each fold the one that is best on the validation part.
CHOSEN = "peer chosen by validation"

# What ours are compared with over the queries of all sets, and which of ours.
RIVALS = ("CatBoost YetiRank", CHOSEN, CONTROL)
FOREMOST = ("BlendedRanker", "YetiRank")

AHEAD = """\
## Against the strongest peers

Differences in NDCG@10 in each data set and over the queries of all sets, with the 95 % confidence
interval and the p of the paired t-test over all queries, not corrected. Above 0 the first is
better. The blend is `BlendedRanker()` with the settings of the grid for all its trees; it and its
members were fixed before these figures were made. "{control}" adds up the scores of both, each
standardised within the query.
"""

MORE = """\
### With up to {rounds} rounds

The peer is chosen among {peers}.
"""

DRAWN = """\
### Other draws of the artificial sets

Drawn with other seeds, for rankers that had been fixed before.
"""

# What is nearest to ours among theirs.
COUNTERPARTS = {
    "YetiRank": ("CatBoost YetiRank",),
    "XENDCG": ("LightGBM rank_xendcg",),
    "LambdaMART": ("LightGBM lambdarank", "XGBoost rank:ndcg"),
    "RegressionRanker": (
        "LightGBM regression",
        "XGBoost reg:squarederror",
        "HistGradientBoostingRegressor",
    ),
}


class Results(NamedTuple):
    """Results on one data set."""

    title: str
    y: np.ndarray  # of all test parts, one below the other
    groups: np.ndarray
    sizes: list  # rows of each test part
    n_features: int
    folds: dict  # of each ranker, what was found in each fold


def is_ours(name):
    return name in CONTENDERS and CONTENDERS[name].library == OURS


def bold(name):
    return f"**{name}**" if is_ours(name) else name


def table(head, rows, left=1):
    rule = [":--" if i < left else "--:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (head, rule, *rows)) + "\n"


def p_value(p):
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def number(value):
    return f"{value:.4f}"


def ids_of(results):
    """Query ids that differ between the folds, whose queries might share them."""
    fold = np.repeat(np.arange(len(results.sizes)), results.sizes)
    return np.unique(np.column_stack([fold, results.groups]), axis=0, return_inverse=True)[1]


def scores_of(folds):
    return np.concatenate([fold["scores"] for fold in folds])


def compare(results, scores, metric, baseline):
    """Means by ranker, and rows of the comparisons with the baseline by ranker."""
    found = compare_rankers(
        scores,
        y=results.y,
        groups=ids_of(results),
        metric=metric,
        baseline=baseline,
        random_state=0,
    )
    rows = {
        name: {key: found.pairs[key][i] for key in found.pairs}
        for i, name in enumerate(found.pairs["first"])
    }
    return {name: found.means[name] for name in scores}, rows, len(found.query_ids)


def by_validation(results, ours):
    """Scores of the ranker that is the best of ours or of theirs in each fold, and their names."""
    names = [name for name in results.folds if is_ours(name) == ours and name != CONTROL]
    scores, chosen = [], []
    for i in range(len(results.sizes)):
        best = max(names, key=lambda name: results.folds[name][i]["chosen"]["validation"])
        scores.append(results.folds[best][i]["scores"])
        chosen.append(best)
    return np.concatenate(scores), chosen


def difference(row):
    return f"{row['difference']:+.4f} [{row['ci_low']:+.4f}, {row['ci_high']:+.4f}]"


def accuracy_section(results):
    """The section of one data set, and its means by ranker."""
    scores = {name: scores_of(folds) for name, folds in results.folds.items()}
    first = next(iter(scores))
    means, _, n_queries = compare(results, scores, "ndcg@10", first)
    precision, *_ = compare(results, scores, "map", first)
    peer = max((n for n in means if not is_ours(n) and n != CONTROL), key=means.get)
    _, rows, _ = compare(results, scores, "ndcg@10", peer)
    lines = []
    for name in sorted(means, key=means.get, reverse=True):
        row = rows.get(name)
        chosen = [fold["chosen"] for fold in results.folds[name]]
        lines.append(
            (
                bold(name),
                number(means[name]),
                number(precision[name]),
                "best peer" if row is None else difference(row),
                "" if row is None else p_value(row["p_ttest_holm"]),
                "" if row is None else p_value(row["p_randomization_holm"]),
                " ".join(str(c["rounds"]) for c in chosen) if chosen[0]["staged"] else "",
            )
        )
    head = ("", "NDCG@10", "MAP", "vs. best peer", "p, t-test", "p, randomisation", "rounds")
    pair = {}
    for key, ours in (("ours", True), ("theirs", False)):
        pair[key], _ = by_validation(results, ours)
    picked, rows, _ = compare(results, pair, "ndcg@10", "theirs")
    row = rows["ours"]
    text = (
        f"### {results.title}\n\n{len(results.y)} rows, {results.n_features} features, {n_queries} "
        f"queries with a relevant row.\n\n{table(head, lines)}\n"
        f"Chosen by validation in each fold: of ours {number(picked['ours'])}, of theirs "
        f"{number(picked['theirs'])}, difference {difference(row)}, p "
        f"{p_value(row['p_ttest'])} (t-test), {p_value(row['p_randomization'])} (randomisation); "
        f"ours is better in {row['wins']} queries and worse in {row['losses']}.\n"
    )
    return text, means, n_queries


def summary(names, means):
    """NDCG@10 of rankers on all sets, by their mean rank on the sets."""
    values = np.array([[of_set[name] for of_set in means.values()] for name in names])
    n_sets = values.shape[1]
    ranks = rank_in_query(values.T.ravel(), np.repeat(np.arange(n_sets), len(names)))
    mean_rank = ranks.reshape(n_sets, -1).mean(axis=0)
    best = values.max(axis=0)
    rows = []
    for i in np.argsort(mean_rank, kind="stable"):
        cells = [
            f"**{number(v)}**" if v == top else number(v)
            for v, top in zip(values[i], best, strict=True)
        ]
        rows.append((bold(names[i]), *cells, f"{mean_rank[i]:.1f}"))
    return table(("", *means, "mean rank"), rows)


def with_chosen(results):
    """The same with the peer chosen by validation among the rankers."""
    names = [name for name in results.folds if not is_ours(name) and name != CONTROL]
    chosen = [
        max((results.folds[name][i] for name in names), key=lambda f: f["chosen"]["validation"])
        for i in range(len(results.sizes))
    ]
    return results._replace(folds=results.folds | {CHOSEN: chosen})


def peers_of(all_results):
    """The peers that were run on all sets, as text."""
    run = set.intersection(*(set(r.folds) for r in all_results.values())) if all_results else set()
    return ", ".join(name for name in CONTENDERS if name in run and not is_ours(name))


def differences(all_results, pairs):
    """The table of differences between the rankers of each pair, in each set and in all."""
    parts = all_results.values()
    together = Results(
        title="all",
        y=np.concatenate([r.y for r in parts]),
        groups=np.concatenate([r.groups for r in parts]),
        sizes=[size for r in parts for size in r.sizes],
        n_features=0,
        folds={name: [f for r in parts for f in r.folds[name]] for pair in pairs for name in pair},
    )
    rows = []
    for pair in pairs:
        found = []
        for results in (*parts, together):
            scores = {name: scores_of(results.folds[name]) for name in pair}
            found.append(compare(results, scores, "ndcg@10", pair[1])[1][pair[0]])
        cells = [f"{row['difference']:+.4f}" for row in found[:-1]]
        name = " - ".join(map(bold, pair))
        rows.append((name, *cells, difference(found[-1]), p_value(found[-1]["p_ttest"])))
    return table(("", *all_results, "all", "p"), rows)


def ahead(all_results):
    """The table of the foremost of ours against the strongest peers; None without all of them."""
    all_results = {name: with_chosen(results) for name, results in all_results.items()}
    needed = {*FOREMOST, *RIVALS}
    if not all_results or not all(needed <= r.folds.keys() for r in all_results.values()):
        return None
    return differences(all_results, [(first, second) for first in FOREMOST for second in RIVALS])


def setting_text(grid):
    if not grid:
        return "nothing to choose"
    return "; ".join(f"`{k}` {', '.join(f'{v}' for v in values)}" for k, values in grid.items())


def grids():
    """The grids, those that several rankers share in one row."""
    shared = {}
    for name, contender in CONTENDERS.items():
        shared.setdefault(setting_text(contender.grid), []).append(bold(name))
    return table(("rankers", "grid"), [(", ".join(v), k) for k, v in shared.items()], left=2)


def speed_section(speed):
    lines = [SPEED.format(**speed)]
    for problem, runs in speed["runs"].items():
        reference = next(iter(runs.values()))
        rows = []
        for name, of_ranker in runs.items():
            median = {k: np.median([run[k] for run in of_ranker]) for k in of_ranker[0]}
            ratio = {
                k: np.median([a[k] / b[k] for a, b in zip(of_ranker, reference, strict=True)])
                for k in ("fit", "predict")
            }
            rows.append(
                (
                    bold(name),
                    f"{median['fit']:.3f}",
                    f"{ratio['fit']:.2f}",
                    f"{1e3 * median['predict']:.1f}",
                    f"{ratio['predict']:.2f}",
                    f"{median['added']:.0f}",
                    f"{median['ndcg']:.3f}",
                )
            )
        head = ("", "fit, s", "ratio", "predict, ms", "ratio", "memory, MB", "NDCG@10")
        lines.append(f"### {problem}\n\n{table(head, rows)}")
    return "\n".join(lines)


def origin(all_folds, speed, command):
    """Versions, machine, dates and command."""
    libraries = {fold["what"]["library"] for fold in all_folds}
    results = list(all_folds)
    if speed:
        libraries |= set(speed["libraries"])
        results.append(speed)
    machines, dates = ({result[key] for result in results} for key in ("machine", "date"))
    days = " to ".join(sorted({min(dates), max(dates)}))
    return (
        f"{', '.join(sorted(libraries))}; {'; '.join(sorted(machines))}; {days}.\n\n"
        f"    {command}\n\nNames in bold are ours.\n"
    )


def page(found, speed, command):
    """The whole page.

    Parameters
    ----------
    found : dict of int to dict of str to Results
        By the largest number of rounds, the first being that of all tables but one, and by the
        short name of the data set.
    speed : dict or None
        What the part "speed" found.
    command : str
    """
    rounds, *more_rounds = found
    everything = [results for of_rounds in found.values() for results in of_rounds.values()]
    all_folds = [fold for r in everything for folds in r.folds.values() for fold in folds]
    all_results = {name: r for name, r in found[rounds].items() if name in SETS}
    drawn = {name: r for name, r in found[rounds].items() if name not in SETS}
    parts = [HEAD, origin(all_folds, speed, command), COMMENT.read_text()]
    if all_results:
        sections = {name: accuracy_section(results) for name, results in all_results.items()}
        texts, means, counts = zip(*sections.values(), strict=True)
        parts.append(
            HOW.format(grid_size=GRID_SIZE, rounds=rounds, fewest=min(counts), most=max(counts))
        )
        everywhere = set.intersection(*(set(of_set) for of_set in means))
        if everywhere:
            names = [name for name in (*CONTENDERS, CONTROL) if name in everywhere]
            of_sets = dict(zip(sections, means, strict=True))
            parts += ["## NDCG@10 on all data sets\n", summary(names, of_sets)]
            missing = ", ".join(name for name in CONTENDERS if name not in everywhere)
            if missing:
                parts.append(f"Not run on all sets, and so not here: {missing}.\n")
        tables = {AHEAD.format(control=CONTROL): all_results, DRAWN: drawn}
        for more in more_rounds:
            with_more = {n: r for n, r in found[more].items() if n in SETS}
            tables[MORE.format(rounds=more, peers=peers_of(with_more))] = with_more
        parts += chain(*((text, t) for text, r in tables.items() if (t := ahead(r)) is not None))
        if everywhere >= {*COUNTERPARTS, *chain(*COUNTERPARTS.values())}:
            pairs = [(name, other) for name, others in COUNTERPARTS.items() for other in others]
            parts += [LIKE, differences(all_results, pairs)]
        parts += ["## Accuracy\n", *texts]
        unconverged = sum(any("converged" in w for w in fold["warnings"]) for fold in all_folds)
        if unconverged:
            parts.append(
                f"In {unconverged} of {len(all_folds)} grids at least one fit stopped at its "
                "greatest number of iterations.\n"
            )
    if speed:
        parts.append(speed_section(speed))
    parts += ["## Grids\n", grids()]
    return "\n".join(parts)
