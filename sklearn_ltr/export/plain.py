# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted rankers as plain data, and back."""

import math
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from numbers import Integral

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ltr import losses, rankers
from sklearn_ltr.binning import MAX_BINS, MOST_CATEGORIES, between_categories
from sklearn_ltr.boosting.additive import AdditiveModel
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.categories import Categories
from sklearn_ltr.export.scoring import LINEAR, RANKERS, unwrapped
from sklearn_ltr.rankers.mcrank import MAX_LEVELS
from sklearn_ltr.scorefunction import ScoreFunctionRanker
from sklearn_ltr.versions import version
from sklearn_ltr.weak import schema
from sklearn_ltr.weak.column import Column
from sklearn_ltr.weak.tree import Tree

FORMAT, FORMAT_VERSION = "sklearn_ltr", 1

LOSSES = {name: getattr(losses, name) for name in losses.__all__}

ROUNDS = partial(schema.list_of, partial(schema.list_of, schema.anything))

# What a term stores beside its weak ranker.
TERM = {"coefficient": partial(schema.number, largest=schema.LARGEST)}


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


def _categories(value, path):
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


def _attribute_kinds(R):
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


def to_dict(ranker):
    """A fitted ranker as plain data, which `json.dumps` can store.

    Parameters
    ----------
    ranker : ranker or search
        Fitted: any but `BlendedRanker` and `FeatureRank`, and with ``estimator=None``. Of a fitted
        search, the ranker that it has found.

    Returns
    -------
    data : dict
        Of dicts with strings as keys, lists, strings, numbers, booleans and None. All numbers are
        finite: a training loss that is not is a string. The :ref:`User Guide <export>` has the
        fields.

    Raises
    ------
    TypeError
        If it is no such ranker.
    ValueError
        If a parameter is an object that JSON cannot hold, such as a function.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    from_dict : The ranker again.
    to_ranklib_xml : A model that search engines read.

    Examples
    --------
    >>> import json
    >>> import numpy as np
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.export import from_dict, to_dict
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = MPBoost(n_estimators=20).fit(X, y, groups=groups)
    >>> stored = json.dumps(to_dict(ranker), allow_nan=False)
    >>> again = from_dict(json.loads(stored))
    >>> np.array_equal(again.predict(X), ranker.predict(X))
    True
    """
    ranker = unwrapped(ranker)
    R = _check_ranker(ranker)
    data = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "sklearn_ltr_version": version(),
        "class": R.__name__,
        "params": {k: _plain_param(k, v) for k, v in ranker.get_params(deep=False).items()},
        "attributes": {
            name: _plain(getattr(ranker, name))
            for name in _attribute_kinds(R)
            if hasattr(ranker, name)
        },
    }
    if issubclass(R, BoostedRanker):
        data |= _plain_rounds(ranker)
    from_dict(data)  # what cannot be loaded is an error now, and not when it is needed
    return data


def _plain_rounds(ranker):
    """The model of a boosted ranker."""
    data = {}
    binned = hasattr(ranker._binner, "thresholds_")
    if binned:
        data["bins"] = [thresholds.tolist() for thresholds in ranker._binner.thresholds_]
    else:
        data["n_features"] = ranker.n_features_in_
    data["rounds"] = [
        [{"coefficient": float(c)} | weak.to_plain() for c, weak in terms]
        for terms in ranker.model_.rounds
    ]
    if not binned:
        return data
    if ranker._binner.has_missing_ is not None:
        data["missing"] = np.flatnonzero(ranker._binner.has_missing_).tolist()
    if ranker._binner.float32_:
        data["float32"] = [list(close) for close in ranker._binner.float32_]
    if ranker._categories is not None:
        data["categories"] = ranker._categories.plain()
    return data


def from_dict(data):
    """The ranker that `to_dict` made plain data of.

    The data need not be trusted: they are checked before anything is built of them, and nothing in
    them is executed.

    Parameters
    ----------
    data : dict
        As `to_dict` returns it, before or after `json.dumps` and `json.loads`.

    Returns
    -------
    ranker : object
        Of the same class, with the same parameters and fitted attributes. It predicts the same, and
        with ``warm_start=True`` its next `fit` goes on in the same way, to the last bit. Requests
        for metadata and callbacks are not kept. Parameters that the version which wrote the data
        did not have are as by default.

    Raises
    ------
    ValueError
        If the data are of another format, malformed, or have what this version does not know. The
        message says where, as in ``rounds[3][0].feature``, and names the version that wrote the
        data if it is another one.

    See Also
    --------
    to_dict : The way there, with an example.
    """
    if type(data) is not dict or data.get("format") != FORMAT:
        raise ValueError(f'Not a model of this package: "format" must be "{FORMAT}".')
    try:
        return _read(data)
    except ValueError as error:
        written = data.get("sklearn_ltr_version")
        if type(written) is not str or written == version():
            raise
        raise ValueError(
            f"{error} The model was written by sklearn_ltr {written[:40]}, and this is sklearn_ltr "
            f"{version()}."
        ) from error


def _read(data):
    """The ranker of a dict of this package."""
    if data.get("format_version") != FORMAT_VERSION:
        raise ValueError(
            f"format_version: this version of sklearn_ltr reads {FORMAT_VERSION} only; load the "
            "model with the version that wrote it."
        )
    classes = RANKERS | LINEAR
    if "class" not in data:
        raise ValueError("The model has no key 'class'.")
    R = classes[schema.one_of(classes, data["class"], "class")]
    head = {
        "format": schema.string,
        "format_version": schema.integer,
        "sklearn_ltr_version": schema.string,
        "class": schema.string,
        "params": schema.anything,
        "attributes": schema.anything,
    }
    if R in LINEAR.values():
        return _read_linear(R, data, head)
    file = schema.fields(
        head
        | {
            "bins": partial(
                schema.list_of, partial(schema.floats, ascending=True, most=MAX_BINS - 1)
            ),
            "missing": schema.anything,
            "float32": partial(schema.list_of, schema.anything),
            "categories": partial(schema.list_of, partial(schema.or_none, _categories)),
            "rounds": ROUNDS,
        },
        data,
        "",
        optional=("missing", "float32", "categories"),
    )
    bins = file["bins"]
    schema.require(len(bins) > 0, "bins", "not be empty")
    ranker = _build(R, file["params"], len(bins))
    if "categories" in file:
        _set_categories(ranker, file["categories"], bins)
    _set_attributes(ranker, file["attributes"], len(file["rounds"]))
    if hasattr(ranker, "monotonic_cst"):
        with _explained_params():  # once names of features are known
            ranker._check_constraints()
    ranker._binner = ranker._make_binner()
    ranker._binner.thresholds_ = bins
    ranker._binner.n_bins_ = np.array([len(cuts) + 1 for cuts in bins], dtype=np.intp)
    if "missing" in file:
        missing = schema.integers(file["missing"], "missing", low=0, high=len(bins) - 1)
        ranker._binner.has_missing_ = np.isin(np.arange(len(bins)), missing)
    close = enumerate(file.get("float32", []))
    ranker._binner.float32_ = [_float32(x, f"float32[{i}]", bins) for i, x in close]
    _set_rounds(ranker, R._weak, file["rounds"], bins)
    return ranker


def _read_linear(R, data, head):
    """A linear function or a net."""
    if not issubclass(R, BoostedRanker):
        file = schema.fields(head, data, "")
        ranker = _build(R, file["params"], None)
        _set_attributes(ranker, file["attributes"])
        _check_features(ranker)
        return ranker
    n_features = partial(schema.integer, low=1, high=2**31 - 1)
    file = schema.fields(head | {"n_features": n_features, "rounds": ROUNDS}, data, "")
    ranker = _build(R, file["params"], file["n_features"])
    _set_attributes(ranker, file["attributes"], len(file["rounds"]))
    ranker._binner = ranker._make_binner()
    _set_rounds(ranker, Column, file["rounds"], range(file["n_features"]))
    return ranker


def _set_rounds(ranker, Weak, stored, bins):
    """Set the model, of weak rankers of a class."""
    n_outputs, rounds = ranker._n_outputs(), []
    for t, terms in enumerate(stored):
        path = f"rounds[{t}]"
        # The first round may begin with a constant for each output. Parameters do not tell: they
        # may have changed before a warm start.
        numbers = (n_outputs, 2 * n_outputs) if t == 0 else (n_outputs,)
        whole = n_outputs == 1 or len(terms) in numbers
        schema.require(whole, path, f"have {n_outputs} trees")
        rounds.append([_term(Weak, term, f"{path}[{j}]", bins) for j, term in enumerate(terms)])
        for j, (_, weak) in enumerate(rounds[-1]):
            _check_sets(ranker, weak, f"{path}[{j}]")
    ranker.model_ = AdditiveModel(ranker.n_features_in_, rounds, n_outputs, ranker._averaged)
    ranker._predictor = ranker.model_.first(ranker.best_iteration_).collapse()


def _check_ranker(ranker):
    """The class of a fitted ranker that can be exported."""
    R = type(ranker)
    if R is rankers.BlendedRanker:
        raise TypeError(
            "A BlendedRanker cannot be stored as plain data: pickle it, or store its `estimators_` "
            "one by one."
        )
    if isinstance(ranker, Pipeline):
        raise TypeError(
            "Only rankers can be stored as plain data; got Pipeline: store its last step, and its "
            "scalers beside it, or pickle it. The other exports take pipelines of scalers."
        )
    classes = RANKERS | LINEAR
    if classes.get(R.__name__) is not R:
        raise TypeError(
            f"Only fitted {', '.join(classes)} can be stored as plain data; got {R.__name__}: "
            "pickle it, or store it by skops."
        )
    ranker._check_is_fitted()
    if getattr(ranker, "estimator", None) is not None:
        raise ValueError(
            f"`estimator` is {ranker.estimator!r}: only stumps and trees can be exported, no "
            "regressors. Pickle the ranker, or fit it with estimator=None."
        )
    return R


def _plain_param(name, value):
    if value is None:
        return None
    for kind, to in ((str, str), (bool | np.bool_, bool), (Integral, int), (float, float)):
        if isinstance(value, kind):
            return to(value)
    if name == "monotonic_cst" and isinstance(value, Mapping):
        return {str(key): _plain_param(name, x) for key, x in value.items()}
    if name == "scoring" and isinstance(value, (list, tuple)):
        return [_plain_param(name, x) for x in value]
    if name == "interaction_cst":
        return [_plain_group(group) for group in value]
    if name == "weights" and isinstance(value, Mapping):
        pairs = [[_plain_param(name, x) for x in pair] for pair in value.items()]
        return pairs
    if name in PARAMS and name != "loss" and not callable(value) and np.iterable(value):
        return np.asarray(value).tolist()
    if name == "loss" and type(value) in LOSSES.values():
        params = value.get_params(deep=False)
        return {
            "class": type(value).__name__,
            "params": {key: _plain_param(f"loss.{key}", x) for key, x in params.items()},
        }
    raise ValueError(
        f"The parameter `{name}` is {value!r}, which JSON cannot hold. Pickle the ranker; or, as "
        f"the parameter counts in `fit` only, give it another value by set_params({name}=...)."
    )


def _plain_group(columns):
    """A group of `interaction_cst`, sets in an order that does not change."""
    columns = [str(x) if isinstance(x, str) else int(x) for x in columns]
    return sorted(columns, key=lambda x: (isinstance(x, str), x))


def _plain(value):
    """An attribute as JSON holds it."""
    if isinstance(value, list):
        return [
            {name: _plain(x) for name, x in each.items()}
            if isinstance(each, dict)
            else each.tolist()
            for each in value
        ]
    if not isinstance(value, np.ndarray):
        return value.item() if isinstance(value, np.generic) else value
    if value.ndim > 1:
        return value.tolist()
    if value.dtype == object:  # names of features, which may be of a subclass of str
        return [str(name) for name in value]
    return [x if math.isfinite(x) else repr(x) for x in value.tolist()]


def _build(R, params, n_features):
    """A ranker that is not fitted, its parameters checked; those it lacks are as by default."""
    defaults = R().get_params(deep=False)
    kinds = {name: PARAMS.get(name, schema.scalar) for name in defaults}
    if isinstance(defaults.get("loss"), str):  # a choice, and no object
        kinds["loss"] = schema.scalar
    ranker = R(**schema.fields(kinds, params, "params", optional=kinds))
    if n_features is not None:
        ranker.n_features_in_ = n_features
    ranker._categories = None
    with _explained_params():
        ranker._check_params()
    return ranker


def _set_categories(ranker, values, bins):
    """Set the categories of a ranker, whose bins they are."""
    of_trees = hasattr(ranker, "categorical_features")
    schema.require(of_trees, "class", 'be a ranker with trees if there are "categories"')
    schema.require(len(values) == len(bins), "categories", f"have {len(bins)} entries")
    ranker._categories = Categories(values)
    for k in ranker._categorical_features():
        expected = between_categories(ranker._categories.numbers[k])
        schema.require(np.array_equal(bins[k], expected), f"bins[{k}]", "be between categories")


def _check_sets(ranker, weak, path):
    """Require that a tree splits on sets of categories where a feature has them, only there."""
    if not isinstance(weak, Tree):
        return
    inner = weak.feature >= 0
    by_set = np.isin(weak.feature[inner], ranker._categorical_features())
    right = np.array_equal(np.isnan(weak.threshold[inner]), by_set)
    schema.require(right, f"{path}.categories", "be null but at splits on categorical features")


@contextmanager
def _explained_params():
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"params: {error}") from error


def _set_attributes(ranker, value, n_rounds=None):
    """Set all fitted attributes but the rounds, of which there may be a number."""
    R = type(ranker)
    kinds = _attribute_kinds(R)
    required = kinds.keys() - {"grades_", "feature_names_in_", "validation_history_"}
    if issubclass(R, BoostedRanker):
        required &= REQUIRED
    found = schema.fields(kinds, value, "attributes", optional=kinds.keys() - required)
    if n_rounds is None and "train_loss_" in found:
        n_rounds = len(found["train_loss_"])
    if "coefs_" in found:
        _set_layers(ranker, found)
    elif "coef_" in found:
        ranker.n_features_in_ = len(found["coef_"])
        schema.require(ranker.n_features_in_ > 0, "attributes.coef_", "not be empty")
    sizes = {"train_loss_": n_rounds, "feature_names_in_": ranker.n_features_in_}
    if "levels_" in found:
        n_levels = len(found["levels_"])
        schema.require(n_levels > 0, "attributes.levels_", "not be empty")
        sizes |= {"_cuts": n_levels - 1, "_values": n_levels}
    for name, size in sizes.items():
        wrong = name in found and len(found[name]) != size
        schema.require(not wrong, f"attributes.{name}", f"have {size} entries")
    if n_rounds is not None:
        few = len(found["validation_score_"]) <= n_rounds
        schema.require(few, "attributes.validation_score_", f"have at most {n_rounds} entries")
        for k, of_set in enumerate(found.get("validation_history_", ())):
            for name, scores in of_set.items():
                path = f"attributes.validation_history_[{k}][{name[:40]!r}]"
                schema.require(len(scores) <= n_rounds, path, f"have at most {n_rounds} entries")
        ranker.n_iter_ = n_rounds
    for name, most in (("best_iteration_", n_rounds), ("n_queries_skipped_", found["n_queries_"])):
        fits = name not in found or found[name] <= most
        schema.require(fits, f"attributes.{name}", f"be at most {most}")
    if "feature_names_in_" in found:
        found["feature_names_in_"] = np.array(found["feature_names_in_"], dtype=object)
    if "validation_score_" in found:
        found.setdefault("validation_history_", [])
    for name, x in found.items():
        setattr(ranker, name, x)


def _set_layers(ranker, found):
    """Check the layers of a linear function or a net, and make arrays of them."""
    path = "attributes.coefs_"
    weights, intercepts = found["coefs_"], found["intercepts_"]
    schema.require(len(weights) > 0 and len(weights[0]) > 0, path, "not be empty")
    ranker.n_features_in_ = len(weights[0])
    # Parameters do not tell the units: they may have been set since.
    units = [len(x) for x in intercepts]
    n_layers = len(units) + 1
    schema.require(len(weights) == n_layers, path, f"have {n_layers} layers")
    shapes = [ranker.n_features_in_, *units, 1]
    for k, (layer, n_in, n_out) in enumerate(zip(weights, shapes, shapes[1:], strict=False)):
        fits = len(layer) == n_in and all(len(row) == n_out for row in layer) and n_out > 0
        schema.require(fits, f"{path}[{k}]", f"be {n_in} lists of {n_out} numbers")
    found["coefs_"] = [np.array(layer) for layer in weights]


def _check_features(ranker):
    """Check what names features, now that their number and names are known."""
    n_features = ranker.n_features_in_
    if isinstance(ranker, rankers.SingleFeatureRanker):
        feature, scores = ranker.feature_, ranker.feature_scores_
        chosen = feature is not None
        path = "attributes.feature_"
        schema.require(not chosen or feature < n_features, path, f"be below {n_features}")
        path = "attributes.feature_scores_"
        schema.require(chosen == (scores is not None), path, "be there if `feature_` is")
        if chosen:
            fits = len(scores) == n_features and all(len(row) == 2 for row in scores)
            schema.require(fits, path, f"be {n_features} lists of 2 numbers")
            ranker.feature_scores_ = np.array(scores)
        if ranker.weights is not None:
            try:
                ranker._given_weights()
            except (TypeError, ValueError) as error:
                raise ValueError(f"params: {error}") from error


def _float32(value, path, bins):
    """Feature, number of a threshold, and what stands for it in 32 bits."""
    schema.require(type(value) is list and len(value) == 3, path, "be a list of three")
    feature = schema.integer(value[0], f"{path}[0]", high=len(bins) - 1)
    schema.require(len(bins[feature]) > 0, f"{path}[0]", "be a feature with thresholds")
    number = schema.integer(value[1], f"{path}[1]", high=len(bins[feature]) - 1)
    largest = float(np.finfo(np.float32).max)
    x = schema.or_none(partial(schema.number, largest=largest), value[2], f"{path}[2]")
    schema.require(x is None or x == float(np.float32(x)), f"{path}[2]", "be a number of 32 bits")
    return feature, number, x


def _term(Weak, value, path, bins):
    """A coefficient and a weak ranker."""
    schema.require(type(value) is dict, path, "be a dict")
    others = dict(value)
    own = {key: others.pop(key) for key in TERM if key in others}
    return schema.fields(TERM, own, path)["coefficient"], Weak.from_plain(others, path, bins)
