# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Keywords that other libraries use, answered with the argument that is meant."""

import functools
import inspect
import re
from difflib import get_close_matches

# What other libraries, LightGBM, XGBoost and CatBoost among them, or a guess call an argument.
QUERIES = re.compile(r"groups?(_ids?)?|qids?|(query|queries)(_ids?)?")
VALIDATION = re.compile(
    r"eval_(set|group|qid|name)s?|valid(ation)?_(set|data)s?"
    r"|(X|y|groups?|propensity)_val(id)?"
)
WEIGHTS = re.compile(r"(sample_|query_|group_)?weights?")
WEIGHTS_OF_VALIDATION = re.compile(
    r"eval_sample_weight|sample_weight_eval_set|(sample|query)_weight_val"
)
START = re.compile(
    r"(eval_)?init_(score|model)|init_score_val|base_margin(_eval_set)?|baseline|xgb_model"
)
START_OF_VALIDATION = ("eval_init_score", "base_margin_eval_set")
EARLIER_MODEL = ("init_model", "xgb_model")
PARAMETERS = {
    "early_stopping_rounds": "n_iter_no_change",
    "eval_metric": "scoring",
    "iterations": "n_estimators",
    "n_iter": "n_estimators",
    "num_boost_round": "n_estimators",
}

PAIRS = ("preferences", "preference_weight", "preference_margin")
OF_PAIRS = "MPBoost, RankBoost, FRank, QBRank, GBRank, RankSVM and RankNet"

METHODS = ("fit", "fit_transform", "transform", "predict", "score")


def explain_keywords(method):
    """Decorate a public method: of a keyword that it does not take, say what takes its place.

    The error names the class of the caller, and not the base class that has the method. The
    signature stays what it was, as metadata requests are made of it.
    """
    accepted = inspect.signature(method).parameters

    @functools.wraps(method)
    def explained(self, *args, **kwargs):
        for name in kwargs:
            if name not in accepted:
                where = f"{type(self).__name__}.{method.__name__}"
                raise TypeError(
                    f"{where}() has no argument `{name}`: "
                    f"{_in_its_place(name, accepted, self, method.__name__)}."
                )
        return method(self, *args, **kwargs)

    return explained


def _in_its_place(name, accepted, estimator, method):
    """What to give in the place of an argument that there is not."""
    parameters, cls = estimator.get_params(deep=False), type(estimator).__name__
    if name in parameters:
        return f"it is a parameter of the class, {cls}({name}=...)"
    if QUERIES.fullmatch(name):
        if "groups" in accepted:
            sizes = "; np.repeat(np.arange(len(sizes)), sizes) makes ids of the sizes of queries"
            return f"give the query id of each row as groups={sizes if 'group' in name else ''}"
        others = " and ".join(method for method in METHODS if _takes_groups(estimator, method))
        return "it needs no query ids" + (f"; {others} take groups=" if others else "")
    if name == "propensity" and method in ("score", "__call__"):
        return (
            "it scores by true grades. A scorer that weighs clicks by propensities is "
            'sklearn_ltr.scorers.make_ranking_scorer("dcg@10", propensity=True)'
        )
    if VALIDATION.fullmatch(name):
        if "X_val" in accepted:
            return "give validation rows as X_val=, y_val= and groups_val="
        return "nothing takes its place, as there is nothing to judge by validation rows"
    if name == "preference_margin" and "preferences" in accepted:
        return "nothing takes its place, as its loss keeps the order of a pair, but no degree"
    if name in PAIRS and hasattr(estimator, "predict") and "preferences" not in accepted:
        return (
            "nothing takes its place, as its loss is made of the grades of the rows, which "
            f"preferences have not. {OF_PAIRS} learn from pairs alone, and so do QuadraticBoosting "
            "and LossRanker with a loss of pairs"
        )
    if name == "propensity" and getattr(estimator, "_no_propensity", None):
        return f"nothing takes its place, as {estimator._no_propensity}"
    if WEIGHTS.fullmatch(name) and "sample_weight" in accepted:
        return "give the weight of each row as sample_weight=, or of its query as query_weight="
    if WEIGHTS.fullmatch(name) and "query_weight" in accepted:
        return "give the weight of each row's query as query_weight=; a row has none of its own"
    if WEIGHTS.fullmatch(name) or WEIGHTS_OF_VALIDATION.fullmatch(name):
        return "nothing takes its place, as these rows have no weights"
    if START.fullmatch(name):
        warm = "warm_start=True goes on with an earlier fit" if "warm_start" in parameters else ""
        if "init_score" not in accepted:
            why = getattr(estimator, "_why_no_start", "scores start from 0")
            return f"nothing takes its place, as {why}" + (f"; {warm}" if warm else "")
        if name in EARLIER_MODEL:
            return f"{warm}, and init_score= takes scores of another model to start from"
        val = "_val" if name in START_OF_VALIDATION else ""
        return f"give the scores to start from as init_score{val}="
    if PARAMETERS.get(name) in parameters:
        return f"it is a parameter of the class, {cls}({PARAMETERS[name]}=...)"
    close = get_close_matches(name, accepted, n=1)
    known = ", ".join(argument for argument in accepted if argument != "self")
    return "".join(f"did you mean {match}=? " for match in close) + f"its arguments are {known}"


def _takes_groups(estimator, method):
    function = getattr(type(estimator), method, None)
    return function is not None and "groups" in inspect.signature(function).parameters
