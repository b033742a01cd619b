# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted rankers again from plain data, all of which is checked before it is used."""

from contextlib import contextmanager
from functools import partial

import numpy as np

from sklearn_ltr import rankers
from sklearn_ltr.binning import MAX_BINS, between_categories
from sklearn_ltr.boosting.additive import AdditiveModel
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.categories import Categories
from sklearn_ltr.export.plain_fields import (
    FORMAT,
    FORMAT_VERSION,
    PARAMS,
    REQUIRED,
    attribute_kinds,
    categories,
)
from sklearn_ltr.export.scoring import LINEAR, RANKERS
from sklearn_ltr.versions import version
from sklearn_ltr.weak import schema
from sklearn_ltr.weak.column import Column
from sklearn_ltr.weak.tree import Tree

ROUNDS = partial(schema.list_of, partial(schema.list_of, schema.anything))

# What a term stores beside its weak ranker.
TERM = {"coefficient": partial(schema.number, largest=schema.LARGEST)}


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
            "categories": partial(schema.list_of, partial(schema.or_none, categories)),
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
    kinds = attribute_kinds(R)
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
