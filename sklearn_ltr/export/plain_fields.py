# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a ranker is as plain data: its parameters and attributes, and how each is checked."""

from functools import partial

from sklearn_ltr import losses, rankers
from sklearn_ltr.binning import MOST_CATEGORIES
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.rankers.mcrank import MAX_LEVELS
from sklearn_ltr.scorefunction import ScoreFunctionRanker
from sklearn_ltr.weak import schema

FORMAT, FORMAT_VERSION = "sklearn_ltr", 1

LOSSES = {name: getattr(losses, name) for name in losses.__all__}


def _n_jobs(value, path):
    schema.require(value != 0, path, "not be 0")
    return schema.integer(value, path, -(2**31), 2**31)


def _loss(value, path):
    found = schema.fields(
        {"class": partial(schema.one_of, LOSSES), "params": schema.anything}, value, path
    )
    loss = LOSSES[found["class"]]
    kinds = dict.fromkeys(loss().get_params(deep=False), schema.scalar)
    return loss(**schema.fields(kinds, found["params"], f"{path}.params", optional=kinds))


def _sizes(value, path):
    """Units of hidden layers: a number or a tuple."""
    if type(value) is not list:
        return schema.integer(value, path, low=1)
    return tuple(schema.list_of(partial(schema.integer, low=1), value, path))


def _weights(value, path):
    """A weight for each feature, or for some, as pairs of a number or name and a weight."""
    schema.require(type(value) is list, path, "be a list")
    if not any(type(x) is list for x in value):
        return schema.numbers(value, path)
    pairs = schema.list_of(partial(schema.list_of, schema.scalar), value, path)
    for i, pair in enumerate(pairs):
        two = len(pair) == 2 and type(pair[0]) in (int, str) and type(pair[1]) in (int, float)
        schema.require(two, f"{path}[{i}]", "be a number or name of a feature, and a weight")
    schema.require(len({column for column, _ in pairs}) == len(pairs), path, "name none twice")
    return dict(pairs)


def _names(value, path):
    """A parameter that names features, or says in a word how they are found."""
    if type(value) is not list:
        return schema.or_none(schema.string, value, path)
    return schema.array((str, int, bool), object, value, path).tolist()


def categories(value, path):
    """The categories of a feature: strings or numbers, ascending."""
    if type(value) is list and value and type(value[0]) is str:
        found = schema.array((str,), object, value, path)
        schema.require((found[1:] > found[:-1]).all(), path, "ascend")
    else:
        found = schema.floats(value, path, ascending=True)
    few = len(found) <= MOST_CATEGORIES
    schema.require(few, path, f"have at most {MOST_CATEGORIES} entries")
    return found


PARAMS = {
    "categorical_features": _names,
    "estimator": schema.none,
    "grade_values": partial(schema.or_none, schema.numbers),
    "hidden_layer_sizes": _sizes,
    "interaction_cst": partial(schema.or_none, schema.column_groups),
    "loss": partial(schema.or_none, _loss),
    "monotonic_cst": partial(schema.or_none, schema.numbers_by_name),
    "n_jobs": partial(schema.or_none, _n_jobs),
    "random_state": partial(schema.or_none, partial(schema.integer, high=2**32 - 1)),
    "scoring": schema.scalar_or_strings,
    "weights": partial(schema.or_none, _weights),
}  # all others are scalars

ATTRIBUTES = {
    "_seed": partial(schema.integer, high=2**31 - 1),
    "_adds_to_scores": schema.boolean,
    "n_queries_": partial(schema.integer, low=1),
    "n_queries_skipped_": schema.integer,
    "best_iteration_": schema.integer,
    "train_loss_": schema.any_floats,
    "validation_score_": schema.any_floats,
    "validation_history_": partial(schema.list_of, schema.floats_by_name),
    "grades_": partial(schema.floats, ascending=True),
    "feature_names_in_": partial(schema.list_of, schema.string),
}
MCRANK_ATTRIBUTES = dict.fromkeys(
    ("levels_", "_cuts", "_values"),
    partial(schema.floats, largest=schema.LARGEST, ascending=True, most=MAX_LEVELS),
)
# What every model has, from the first on. Other attributes may be absent: a ranker of preferences
# has no grades, and a model has no attribute that came after it was stored.
REQUIRED = {
    "_seed",
    "n_queries_",
    "n_queries_skipped_",
    "best_iteration_",
    "train_loss_",
    "validation_score_",
    *MCRANK_ATTRIBUTES,
}


# What all rankers have, of the above.
COMMON = ("n_queries_", "n_queries_skipped_", "grades_", "feature_names_in_")
HISTORY = ("best_iteration_", "train_loss_", "validation_score_", "validation_history_")
FINITE_FLOATS = partial(schema.floats, largest=schema.LARGEST)
MATRIX = partial(schema.list_of, FINITE_FLOATS)
ITERATIONS = {"n_iter_": schema.integer}
LINEAR_ATTRIBUTES = {
    "RankSVM": ITERATIONS,
    "SVRank": ITERATIONS,
    "SVMMAP": ITERATIONS | {"relevant_from_": partial(schema.number, largest=schema.LARGEST)},
    "SingleFeatureRanker": {
        "feature_": partial(schema.or_none, schema.integer),
        "feature_scores_": partial(schema.or_none, MATRIX),
    },
}


def attribute_kinds(R):
    """The kinds of the attributes of a class that are stored."""
    if issubclass(R, BoostedRanker):
        return ATTRIBUTES | (MCRANK_ATTRIBUTES if issubclass(R, rankers.McRank) else {})
    if issubclass(R, ScoreFunctionRanker):
        kinds = {name: ATTRIBUTES[name] for name in (*COMMON, *HISTORY)}
        return kinds | {
            "coefs_": partial(schema.list_of, MATRIX),
            "intercepts_": MATRIX,
        }
    kinds = {name: ATTRIBUTES[name] for name in COMMON}
    return kinds | {"coef_": FINITE_FLOATS} | LINEAR_ATTRIBUTES.get(R.__name__, {})
