# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The rankers that report.py and lambdamart.py compare, ours and theirs, behind one function each.

``fit(train, setting, rounds, validation=None)`` fits a ranker with one setting of its grid and
returns a `Fitted`: ``curve``, NDCG@10 of the validation part after each round (None without a
validation part, one value where there are no rounds), and ``scores(part, rounds=None)``, of all
rounds by default. So the number of rounds is chosen by one rule for all, and not by the libraries'
own early stopping.

Each grid has `GRID_SIZE` settings, but for the rankers that have nothing to choose. Trees share
theirs: the same learning rates, and trees of 8 and 32 leaves, which CatBoost's symmetric trees
reach with a depth of 3 and 5. All else is at the default of each library, but for the number of
threads, which is 1, and the seed, which is 0. Least squares is on 2^grade - 1 everywhere.

Libraries are imported where they are used, so that a process has only what it measures.
"""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import sklearn
from _accuracy import NDCG, fit_ranker, scores_after
from _data import signed_log
from _tree_speed import sizes_of
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import Bunch

from sklearn_ltr import (
    XENDCG,
    AdaRank,
    BlendedRanker,
    FeatureRank,
    FRank,
    GBRank,
    LambdaMART,
    LambdaRank,
    ListMLE,
    ListNet,
    McRank,
    MPBoost,
    QBRank,
    RankBoost,
    RankCosine,
    RankNet,
    RankSVM,
    RegressionRanker,
    SingleFeatureRanker,
    YetiRank,
)
from sklearn_ltr.rankers.blended import _default_estimators

GRID_SIZE = 6
OURS = "sklearn_ltr"

LEAVES = {"max_leaf_nodes": (8, 32)}
TREES = {"learning_rate": (0.05, 0.1, 0.2)} | LEAVES
RATES = {"learning_rate": (0.1, 0.3, 1.0)}
ALPHAS = {"alpha": tuple(10.0**k for k in range(1, -5, -1))}


class Fitted(NamedTuple):
    curve: object  # NDCG@10 of the validation part after each round
    scores: object  # of a part, after some or all rounds


class Contender(NamedTuple):
    library: str  # the distribution
    family: str
    fit: object
    grid: dict = {}
    nested: bool = True  # whether a fit of few rounds is the first part of one of more

    def settings(self):
        """All settings of the grid, as dicts; one, empty, where there is nothing to choose."""
        return [dict(zip(self.grid, v, strict=True)) for v in product(*self.grid.values())]


def criterion(part, scores):
    return float(NDCG(part.y, scores, part.groups))


def gains(part):
    return 2.0**part.y - 1


def curve_of(stages, part):
    """The criterion after each round, from an iterable of scores."""
    return [criterion(part, scores) for scores in stages]


def staged_scores(model):
    """Scores of a part after all rounds, or of a model that predicts in stages after some."""

    def scores(part, rounds=None):
        return model.predict(part.X) if rounds is None else scores_after(model, part.X, rounds)

    return scores


# Ours -------------------------------------------------------------------------------------------


def boosted(ranker, train, setting, rounds, validation=None):
    ranker = sklearn.clone(ranker).set_params(n_estimators=rounds, scoring=NDCG, **setting)
    fit_ranker(ranker, train, validation)
    curve = None if validation is None else ranker.validation_score_.tolist()
    return Fitted(curve, staged_scores(ranker))


def scaled(train, *parts):
    """The parts with features as logarithms, standardised by the training part."""
    scaler = make_pipeline(FunctionTransformer(signed_log), StandardScaler()).fit(train.X)
    return [Bunch(X=scaler.transform(p.X), y=p.y, groups=p.groups) for p in (train, *parts)], scaler


def linear(ranker, train, setting, rounds, validation=None):
    """Anything with a linear function, ours and scikit-learn's."""
    (train, *judge), scaler = scaled(train, *([] if validation is None else [validation]))
    ranker = sklearn.clone(ranker).set_params(**setting)
    if isinstance(ranker, LambdaRank) and judge:  # its passes are chosen, as others' rounds are
        ranker.set_params(early_stopping=True, scoring=NDCG, tol=0)
        fit_ranker(ranker, train, judge[0])
    elif isinstance(ranker, (Ridge, LinearRegression)):
        ranker.fit(train.X, gains(train))
    else:
        fit_ranker(ranker, train)
    curve = [criterion(p, ranker.predict(p.X)) for p in judge]
    return Fitted(curve, lambda part, rounds=None: ranker.predict(scaler.transform(part.X)))


def blended(train, setting, rounds, validation=None):
    """The recommended blend, all of whose trees have the setting.

    With a validation part each member of trees stops at its own best round, the linear member at
    its own best pass, and the weight of the linear member is chosen; without, all rounds are made.
    """
    members, weights = _default_estimators(random_state=0)
    judged = {"early_stopping": True, "scoring": NDCG, "tol": 0}
    for _, member in members[:-1]:
        member.set_params(n_estimators=rounds, **setting)
        if validation is not None:
            member.set_params(n_iter_no_change=rounds, **judged)
    if validation is not None:
        members[-1][1][-1].set_params(n_iter_no_change=20, **judged)
    else:
        weights = [1.0, 1.0, 1.0, 0.5]
    ranker = BlendedRanker(members, weights=weights, scoring=NDCG, random_state=0)
    fit_ranker(ranker, train, validation)

    def scores(part, rounds=None):
        return ranker.predict(part.X, groups=part.groups)

    return Fitted(
        None if validation is None else [criterion(validation, scores(validation))], scores
    )


def by_column(ranker, train, setting, rounds, validation=None):
    """Rankers that choose single features, without rounds."""
    ranker = sklearn.clone(ranker).set_params(**setting)
    fit_ranker(ranker, train)

    def scores(part, rounds=None):
        if isinstance(ranker, FeatureRank):
            return ranker.predict(part.X, groups=part.groups)
        return ranker.predict(part.X)

    return Fitted(
        None if validation is None else [criterion(validation, scores(validation))], scores
    )


# Theirs -----------------------------------------------------------------------------------------


def lightgbm(objective, train, setting, rounds, validation=None, **params):
    import lightgbm

    params |= {
        "objective": objective,
        "metric": "none",
        "num_leaves": setting["max_leaf_nodes"],
        "learning_rate": setting["learning_rate"],
        "num_threads": 1,
        "seed": 0,
        "verbosity": -1,
    }
    if "min_samples_leaf" in setting:
        params["min_data_in_leaf"] = setting["min_samples_leaf"]
    y = gains(train) if objective == "regression" else train.y
    data = lightgbm.Dataset(train.X, y, group=sizes_of(train.groups), params=params)
    curve, more = [], {}
    if validation is not None:
        judge = data.create_valid(validation.X, validation.y, group=sizes_of(validation.groups))

        def metric(scores, _):
            curve.append(criterion(validation, scores))
            return "ndcg", curve[-1], True

        more = {"valid_sets": [judge], "feval": metric}
    booster = lightgbm.train(params, data, rounds, **more)
    return Fitted(
        curve,
        lambda part, rounds=-1: booster.predict(part.X, num_iteration=rounds, num_threads=1),
    )


def xgboost(objective, train, setting, rounds, validation=None):
    import xgboost

    params = {
        "objective": objective,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": setting["max_leaf_nodes"],
        "max_depth": 0,
        "learning_rate": setting["learning_rate"],
        "disable_default_eval_metric": True,
        "nthread": 1,
        "seed": 0,
        "verbosity": 0,
    }
    ranks = objective.startswith("rank:")
    groups = {"group": sizes_of(train.groups)} if ranks else {}
    data = xgboost.QuantileDMatrix(train.X, train.y if ranks else gains(train), nthread=1, **groups)
    curve, more = [], {}
    if validation is not None:
        judge = xgboost.QuantileDMatrix(validation.X, ref=data, nthread=1)

        def metric(scores, _):
            curve.append(criterion(validation, scores))
            return "ndcg", curve[-1]

        more = {"evals": [(judge, "validation")], "custom_metric": metric, "verbose_eval": False}
    booster = xgboost.train(params, data, rounds, **more)
    return Fitted(
        curve, lambda part, rounds=0: booster.inplace_predict(part.X, iteration_range=(0, rounds))
    )


def catboost(loss, train, setting, rounds, validation=None):
    import catboost

    model = catboost.CatBoost(
        {
            "loss_function": loss,
            "iterations": rounds,
            "learning_rate": setting["learning_rate"],
            "depth": int(np.log2(setting["max_leaf_nodes"])),
            "thread_count": 1,
            "random_seed": 0,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    y = train.y if loss.startswith("YetiRank") else gains(train)
    queries = np.repeat(np.arange(len(sizes_of(train.groups))), sizes_of(train.groups))
    model.fit(catboost.Pool(train.X, y, group_id=queries, thread_count=1))

    def stages(part):
        return model.staged_predict(part.X, thread_count=1)

    return Fitted(
        None if validation is None else curve_of(stages(validation), validation),
        lambda part, rounds=0: model.predict(part.X, ntree_end=rounds, thread_count=1),
    )


def histogram(train, setting, rounds, validation=None):
    model = HistGradientBoostingRegressor(max_iter=rounds, early_stopping=False, **setting)
    model.fit(train.X, gains(train))
    curve = None
    if validation is not None:
        curve = curve_of(model.staged_predict(validation.X), validation)
    return Fitted(curve, staged_scores(model))


# The list ---------------------------------------------------------------------------------------


def ours(family, fit, ranker, grid):
    return Contender(OURS, family, partial(fit, ranker), grid)


SYMMETRIC = {"grow_policy": "symmetric", "random_state": 0}
CONTENDERS = {
    "BlendedRanker": Contender(OURS, "blend", blended, TREES, nested=False),
    "YetiRank": ours("trees", boosted, YetiRank(random_state=0), TREES),
    "LambdaMART": ours("trees", boosted, LambdaMART(), TREES),
    "LambdaMART, symmetric": ours("trees", boosted, LambdaMART(**SYMMETRIC), TREES),
    "XENDCG": ours("trees", boosted, XENDCG(random_state=0), TREES),
    "RegressionRanker": ours("trees", boosted, RegressionRanker(), TREES),
    "McRank": ours("trees", boosted, McRank(), TREES),
    "McRank, ordinal": ours("trees", boosted, McRank(method="ordinal"), TREES),
    "QBRank": ours("trees", boosted, QBRank(), TREES),
    # Scores are averages: the rate sets their scale beside the margin, and is no small number.
    "GBRank": ours("trees", boosted, GBRank(), {"learning_rate": (0.5, 1.0, 2.0)} | LEAVES),
    "MPBoost": ours("stumps", boosted, MPBoost(), RATES | {"distance": ("logistic", "binary")}),
    "RankBoost": ours("stumps", boosted, RankBoost(), RATES | {"step": ("exact", "approximate")}),
    "FRank": ours(
        "stumps",
        boosted,
        FRank(max_pairs_per_query=1000, random_state=0),  # all pairs take ten times as long
        RATES | {"step": ("paper", "exact")},
    ),
    "AdaRank": ours(
        "columns",
        boosted,
        AdaRank(),
        {"metric": ("ndcg@10", "ndcg", "map"), "update": ("paper", "adaboost")},
    ),
    "FeatureRank": ours(
        "columns", by_column, FeatureRank(), {"n_classes": (4, 8, 16, 32, 64, 128)}
    ),
    "SingleFeatureRanker": ours("columns", by_column, SingleFeatureRanker("ndcg@10"), {}),
    "RankSVM": ours(
        "linear",
        linear,
        RankSVM(pair_weighting="query"),
        {"C": tuple(10.0**k for k in range(-3, 3))},
    ),
    "RankNet": ours("linear", linear, RankNet(pair_weighting="query", max_iter=1000), ALPHAS),
    "ListNet": ours("linear", linear, ListNet(max_iter=1000), ALPHAS),
    "ListMLE": ours("linear", linear, ListMLE(max_iter=1000), ALPHAS),
    "RankCosine": ours("linear", linear, RankCosine(max_iter=1000), ALPHAS),
    "LambdaRank": ours(
        "linear",
        linear,
        LambdaRank(n_iter_no_change=20, random_state=0),
        {"learning_rate_init": (1e-3, 1e-2), "alpha": (1.0, 1e-2, 1e-4)},
    ),
    "LightGBM lambdarank": Contender("lightgbm", "trees", partial(lightgbm, "lambdarank"), TREES),
    "LightGBM rank_xendcg": Contender("lightgbm", "trees", partial(lightgbm, "rank_xendcg"), TREES),
    "LightGBM regression": Contender("lightgbm", "trees", partial(lightgbm, "regression"), TREES),
    "XGBoost rank:ndcg": Contender("xgboost", "trees", partial(xgboost, "rank:ndcg"), TREES),
    "XGBoost rank:pairwise": Contender(
        "xgboost", "trees", partial(xgboost, "rank:pairwise"), TREES
    ),
    "XGBoost reg:squarederror": Contender(
        "xgboost", "trees", partial(xgboost, "reg:squarederror"), TREES
    ),
    "CatBoost YetiRank": Contender("catboost", "trees", partial(catboost, "YetiRank"), TREES),
    "CatBoost YetiRank:mode=NDCG": Contender(
        "catboost", "trees", partial(catboost, "YetiRank:mode=NDCG"), TREES
    ),
    "CatBoost QueryRMSE": Contender("catboost", "trees", partial(catboost, "QueryRMSE"), TREES),
    "HistGradientBoostingRegressor": Contender("scikit-learn", "trees", histogram, TREES),
    "Ridge": Contender(
        "scikit-learn",
        "linear",
        partial(linear, Ridge()),
        {"alpha": (1e5, 1e4, 1e3, 1e2, 10.0, 1.0)},
    ),
    "LinearRegression": Contender("scikit-learn", "linear", partial(linear, LinearRegression())),
}
