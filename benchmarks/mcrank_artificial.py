# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""McRank's artificial data: Table 1, Figure 1 and the experiments of Appendix II.

    python benchmarks/mcrank_artificial.py [--full] [--scores] [--updates] [--bins SET ...]
                                           [--data DIR] [--models [NAME ...]] [--quick]

Ordinal classification, classification, regression, LambdaRank and RankNet on the cubic polynomials
of `make_cubic_ranking`, whose recipe is a reconstruction: beside the published figures it is the
order of the rankers and the distances between them that can be compared. Training, validation and
test queries are of one draw of the polynomial; trees have 10 leaves and the learning rate is .05,
as in the paper. All is reported for the number of rounds of the highest NDCG@10 on the validation
queries, and for all rounds, as in the paper, which had 1,000.

Nets have one hidden layer of tanh units; the paper names neither their number nor how they were
trained. Where a row has several candidates, each is printed and the validation queries choose. Nets
stop early and keep their best epoch, which is in both columns.

Mean and standard deviation are over test queries, and so are the t-tests: the paper's, one-sided
and of two samples, and the paired one, two-sided. No query is left out: one without a relevant
document, of which NDCG is undefined, hardly occurs among 50 documents, and would be skipped.

`--scores` scores the rows with 2^k - 1 in the place of k, from the probabilities of the same fit
(Figure 3c). `--bins` cuts features into 2^3 to 2^8 bins and 2^16 - 1, by the paper's adaptive rule
and by quantiles (`--cuts`), on the same data (`artificial`) or on the MSLR-WEB10K sample in DIR,
whose features are not uniform (`mslr`; Figure 3a and b). The rounds are `--bins-rounds`, as in the
paper, without a choice. The paper's Figure 3 is of Web-1, which is not public. `--updates`
recomputes the probabilities after each tree, as line 4 of Algorithm 1 has it, and not once a round.
`--models` without a name leaves out Table 1 and what is made of its fits.
"""

from itertools import combinations, product

import numpy as np
import sklearn
from _accuracy import (
    best_round,
    fit_ranker,
    paired_test,
    query_values,
    scores_after,
    standard_error,
)
from _data import fold_of, load_folds
from _harness import make_parser, print_head, require_data, row, timed
from scipy.stats import ttest_ind

from sklearn_ltr import LambdaRank, McRank, RankNet, RegressionRanker
from sklearn_ltr.binning import Binner
from sklearn_ltr.datasets import make_cubic_ranking
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.scorefunction import ScoreFunctionRanker

CUT_OFFS = range(1, 11)
METRICS = {k: get_metric(f"ndcg@{k}", undefined="skip") for k in CUT_OFFS}


def nets(cls, *units):
    """Candidates for each number of hidden units."""
    return [
        cls(
            hidden_layer_sizes=n_units,
            alpha=alpha,
            learning_rate_init=0.003,
            batch_size=32,
            max_iter=200,
            early_stopping=True,
            random_state=0,
        )
        for n_units, alpha in product(units, (1e-4, 1e-3))
    ]


# The better one first, by the paper where it has both. A contender joins by a line: the candidates
# among which the validation queries choose.
MODELS = {
    "RankNet, wide": nets(RankNet, 50, 200),
    "LambdaRank, wide": nets(LambdaRank, 50, 200),
    "ordinal": [McRank(method="ordinal")],
    "classification": [McRank(method="classification")],
    "regression": [RegressionRanker(gain="exponential")],
    "regression, LAD": [RegressionRanker(loss="absolute_error", gain="exponential")],
    "LambdaRank": nets(LambdaRank, 10),
    "RankNet": nets(RankNet, 10),
    "LambdaRank, linear": nets(LambdaRank, ()),
}

# NDCG@10 in percent and its standard deviation over queries, Table 1.
PUBLISHED = {
    "ordinal": (85.0, 9.5),
    "classification": (83.7, 9.9),
    "regression": (82.9, 10.2),
    "LambdaRank": (74.9, 12.6),
}

BINS = [*(2**e for e in range(3, 9)), 2**16 - 1]  # 2^16 less the code of missing values


# Shares of the grades 0 to 4: of Yahoo's set 1, of MSLR-WEB10K, and even ones.
PROPORTIONS = {
    "yahoo": (0.26, 0.36, 0.29, 0.076, 0.019),
    "mslr": (0.52, 0.32, 0.13, 0.017, 0.007),
    "even": (0.2, 0.2, 0.2, 0.2, 0.2),
}


def artificial(sizes, grades, seed):
    """Training, validation and test queries, of one draw of the polynomial."""
    X, y, groups = make_cubic_ranking(
        n_queries=sum(sizes), grade_proportions=PROPORTIONS[grades], random_state=seed
    )
    return fold_of(X, y, groups, sizes)


def fit(candidates, fold, args, **params):
    """The best of the candidates on the validation queries, and the seconds of its fit."""
    fits = []
    for model in candidates:
        settings = {"scoring": METRICS[10], "n_jobs": args.jobs} | params
        if not isinstance(model, ScoreFunctionRanker):
            settings = settings_of_the_paper(args) | settings
        ranker = sklearn.clone(model).set_params(**settings)
        fits.append((ranker, fit_ranker(ranker, fold.train, fold.validation)))
        if len(candidates) > 1:
            show_candidate(*fits[-1], fold)
    return max(fits, key=lambda found: found[0].validation_score_.max())


def settings_of_the_paper(args):
    return {
        "n_estimators": args.rounds,
        "learning_rate": args.learning_rate,
        "max_leaf_nodes": args.leaves,
        "min_samples_leaf": args.min_samples_leaf,
        "max_bins": args.max_bins,
        "binning": args.binning,
    }


def show_candidate(ranker, seconds, fold):
    train, validation, test = (
        100 * METRICS[10](part.y, ranker.predict(part.X), part.groups)
        for part in (fold.train, fold.validation, fold.test)
    )
    print(
        f"  {ranker.hidden_layer_sizes or 'no'} hidden units, alpha {ranker.alpha:g}: "
        f"train {train:.2f}, validation {validation:.2f}, test {test:.2f}; "
        f"epoch {chosen(ranker)}, {seconds:.0f} s",
        flush=True,
    )


def test_scores(ranker, fold):
    """Scores of the test rows: after the rounds chosen on validation queries, and after all."""
    X = fold.test.X
    if isinstance(ranker, ScoreFunctionRanker):
        return dict.fromkeys(("chosen", "all"), ranker.predict(X))
    return {"chosen": scores_after(ranker, X, chosen(ranker)), "all": ranker.predict(X)}


def chosen(ranker):
    return best_round(ranker.validation_score_)


def per_query(part, scores, k=10):
    """NDCG@k in percent of each query."""
    values = query_values(METRICS[k], part, scores)
    return 100 * values[~np.isnan(values)]


def mean_and_deviation(values):
    return f"{values.mean():.2f} ({values.std(ddof=1):.2f})"


def difference_and_p(first, second):
    difference, _, p = paired_test(first, second)
    return f"{difference:+.2f}, p = {p:.2g}"


def two_sample_p(first, second):
    """The paper's test: one-sided, of two samples, though both are of the same queries."""
    return ttest_ind(
        first, second, equal_var=False, alternative="greater", nan_policy="omit"
    ).pvalue


def table_1(fold, args):
    """Fits all models and prints Table 1; returns the rankers and their test scores."""
    print("\nNDCG@10 in %, mean (standard deviation over test queries)")
    print(
        f"{'':<18}{'rounds chosen':>15}{f'{args.rounds} rounds':>18}{'published':>18}"
        f"{'chosen':>9}{'fit s':>9}"
    )
    rankers, scores = {}, {}
    for name in args.models:
        rankers[name], seconds = fit(MODELS[name], fold, args)
        scores[name] = test_scores(rankers[name], fold)
        cells = [mean_and_deviation(per_query(fold.test, s)) for s in scores[name].values()]
        published = "{:.1f} ({:.1f})".format(*PUBLISHED[name]) if name in PUBLISHED else ""
        print(
            f"{name:<18}{cells[0]:>15}{cells[1]:>18}{published:>18}"
            f"{chosen(rankers[name]):>9}{seconds:9.1f}",
            flush=True,
        )
    for name in PUBLISHED.keys() - rankers.keys():
        print(f"{name:<18}{'':>33}{'{:.1f} ({:.1f})'.format(*PUBLISHED[name]):>18}")

    print(
        "\nDifference of NDCG@10 in %; p of the paired t-test, two-sided, and of the paper's, "
        "of two samples"
    )
    print(f"{'':<38}{'rounds chosen':>30}{f'{args.rounds} rounds':>30}{'published':>11}")
    for better, worse in combinations(args.models, 2):
        cells = []
        for key in ("chosen", "all"):
            pair = [per_query(fold.test, scores[name][key]) for name in (better, worse)]
            cells.append(f"{difference_and_p(*pair)}, {two_sample_p(*pair):.2g}")
        published = ""
        if {better, worse} <= PUBLISHED.keys():
            published = f"{PUBLISHED[better][0] - PUBLISHED[worse][0]:+11.1f}"
        print(f"{f'{better} > {worse}':<38}{cells[0]:>30}{cells[1]:>30}{published}")
    return rankers, scores


def figure_1(fold, scores):
    for key, title in (("chosen", "rounds chosen"), ("all", "all rounds")):
        print(f"\nNDCG@ in %, {title}: mean, and below it standard deviation over test queries")
        row("", CUT_OFFS, 7, 18)
        for name in scores:
            values = [per_query(fold.test, scores[name][key], k) for k in CUT_OFFS]
            row(name, [f"{v.mean():.2f}" for v in values], 7, 18)
            row("", [f"{v.std(ddof=1):.2f}" for v in values], 7, 18)


def figure_3c(fold, rankers):
    """Expected relevance and expected gain of the same probabilities."""
    print("\nNDCG@ in % after all rounds: T(k) = k less T(k) = 2^k - 1, same probabilities")
    print(f"{'':<26}" + "".join(f"{k:>7}" for k in CUT_OFFS) + f"{'p @10':>10}")
    for (name, ranker), part in product(rankers.items(), ("train", "test")):
        if not isinstance(ranker, McRank):
            continue
        probabilities = ranker.predict_grade_proba(fold[part].X)
        values = {}
        for key, T in (("relevance", ranker.levels_), ("gain", 2**ranker.levels_ - 1)):
            values[key] = [per_query(fold[part], probabilities @ T, k) for k in CUT_OFFS]
        pairs = zip(values["relevance"], values["gain"], strict=True)
        tests = [paired_test(*pair) for pair in pairs]
        cells = "".join(f"{difference:+7.2f}" for difference, *_ in tests)
        print(f"{f'{name}, {part}':<26}{cells}{tests[-1][2]:10.2g}", flush=True)
    print("(p of the two-sided paired t-test at 10)")


def updates(fold, rankers, scores, args):
    """Probabilities recomputed once a round, and after each tree."""
    ranker, seconds = fit([McRank(probabilities="tree")], fold, args)
    in_turn = test_scores(ranker, fold)
    print("\nClassification, NDCG@10 in %: probabilities recomputed once a round, or in turn")
    print(f"{'':<18}{'once':>15}{'in turn':>18}{'difference, two-sided p':>28}")
    for key in in_turn:
        once, turn = (per_query(fold.test, s[key]) for s in (scores["classification"], in_turn))
        print(
            f"{f'rounds: {key}':<18}{mean_and_deviation(once):>15}{mean_and_deviation(turn):>18}"
            f"{difference_and_p(turn, once):>28}"
        )
    losses = rankers["classification"].train_loss_[-1], ranker.train_loss_[-1]
    print(f"training loss     {losses[0]:15.5f}{losses[1]:18.5f}")
    print(f"rounds chosen     {chosen(rankers['classification']):15}{chosen(ranker):18}")
    print(f"fit in turn: {seconds:.1f} s", flush=True)


def total_bins(X, max_bins, binning):
    return Binner(max_bins, binning).fit(X, np.arange(len(X))).n_bins_.sum()


def figure_3ab(title, fold, args):
    """Bins in all, and NDCG lost to a cut."""
    print(
        f"\n{title}: {len(fold.train.y)} training rows, {fold.train.X.shape[1]} features, McRank "
        f"classification, {args.bins_rounds} rounds\n"
        "NDCG@10 in % lost against the most bins, with the standard error of the mean over queries"
    )
    print(
        f"{'':<12}{'bins':>7}{'in all':>10}{'share':>8}{'training':>16}{'test':>16}"
        f"{'fit s':>8}{'CPU s':>8}"
    )
    for binning in args.cuts:
        reference = None
        for max_bins in reversed(BINS):
            settings = settings_of_the_paper(args) | {
                "n_estimators": args.bins_rounds,
                "max_bins": max_bins,
                "binning": binning,
                "n_jobs": args.jobs,
            }
            ranker = McRank(method="classification").set_params(**settings)
            X, y, groups = (fold.train[key] for key in ("X", "y", "groups"))
            seconds, _ = timed(ranker.fit, X, y, groups=groups)
            found = [per_query(part, ranker.predict(part.X)) for part in (fold.train, fold.test)]
            in_all = total_bins(fold.train.X, max_bins, binning)
            if reference is None:
                reference, most = found, in_all
                cells = [f"{values.mean():.2f}" for values in found]
            else:
                losses = [most_bins - v for most_bins, v in zip(reference, found, strict=True)]
                cells = [f"{v.mean():.2f} ± {standard_error(v):.2f}" for v in losses]
            print(
                f"{binning:<12}{max_bins:7}{in_all:10}{in_all / most:8.4f}{cells[0]:>16}"
                f"{cells[1]:>16}{seconds[0]:8.1f}{seconds[1]:8.1f}",
                flush=True,
            )


def main():
    parser = make_parser(__doc__, data="for --bins mslr", quick="small, to see that it runs")
    parser.add_argument(
        "--queries",
        type=int,
        nargs=3,
        default=[2000, 1000, 2000],
        metavar=("TRAIN", "VALIDATION", "TEST"),
    )
    parser.add_argument("--full", action="store_true", help="the paper's 10,000, 5,000 and 10,000")
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--learning-rate", type=float, default=0.05)
    parser.add_argument("--leaves", type=int, default=10)
    parser.add_argument("--min-samples-leaf", type=int, default=20, help="the paper has none")
    parser.add_argument("--max-bins", type=int, default=255, help="the paper had 2^16")
    parser.add_argument("--binning", choices=["quantile", "adaptive"], default="quantile")
    parser.add_argument(
        "--grades",
        choices=PROPORTIONS,
        default="yahoo",
        help="proportions; the paper has none",
    )
    parser.add_argument(
        "--models", nargs="*", choices=MODELS, default=list(MODELS), help="of Table 1; may be none"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    parser.add_argument("--scores", action="store_true", help="T(k) = k against 2^k - 1")
    parser.add_argument(
        "--updates", action="store_true", help="line 4 of Algorithm 1 to the letter"
    )
    parser.add_argument(
        "--bins",
        nargs="+",
        choices=["artificial", "mslr"],
        default=[],
        help="2^3 to 2^8 and 2^16 - 1 bins, on these data",
    )
    parser.add_argument("--bins-rounds", type=int, default=100, help="rounds of --bins")
    parser.add_argument(
        "--cuts",
        nargs="+",
        choices=["adaptive", "quantile"],
        default=["adaptive", "quantile"],
        help="of --bins; the paper's is adaptive",
    )
    args = parser.parse_args()
    if args.scores and not {"ordinal", "classification"} & set(args.models):
        parser.error("--scores is of McRank: name one of its methods in --models")
    if "mslr" in args.bins:
        require_data(parser, args)
    if args.updates and "classification" not in args.models:
        parser.error("--updates is of classification: name it in --models")
    if args.full:
        args.queries = [10_000, 5_000, 10_000]
    if args.quick:
        args.queries, args.rounds, args.bins_rounds = [60, 30, 60], 20, 3
    print_head()
    print(
        "{}/{}/{} queries to train, validate and test, 50 documents each".format(*args.queries)
        + f"; {args.rounds} rounds, {args.leaves} leaves, at least {args.min_samples_leaf} rows in "
        f"each,\nlearning rate {args.learning_rate:g}, {args.max_bins} bins ({args.binning}), "
        f"grades in the proportions of {args.grades!r}, seed {args.seed}"
    )
    fold = artificial(args.queries, args.grades, args.seed)
    if args.models:
        rankers, scores = table_1(fold, args)
        figure_1(fold, scores)
    if args.scores:
        figure_3c(fold, rankers)
    if args.updates:
        updates(fold, rankers, scores, args)
    if "artificial" in args.bins:
        figure_3ab("Artificial data", fold, args)
    if "mslr" in args.bins:
        figure_3ab("MSLR-WEB10K sample", load_folds("mslr", args.data)[0], args)


if __name__ == "__main__":
    main()
