# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted boosted rankers as plain data, and back."""

import math
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from numbers import Integral

import numpy as np

from sklearn_ltr import losses, rankers
from sklearn_ltr.binning import MAX_BINS
from sklearn_ltr.boosting.additive import AdditiveModel
from sklearn_ltr.rankers.mcrank import MAX_LEVELS
from sklearn_ltr.versions import version
from sklearn_ltr.weak import schema

FORMAT, FORMAT_VERSION = "sklearn_ltr", 1

# Only what is listed here is ever built.
RANKERS = {
    name: getattr(rankers, name)
    for name in (
        "FRank",
        "GBRank",
        "LambdaMART",
        "McRank",
        "MPBoost",
        "QBRank",
        "QuadraticBoosting",
        "RankBoost",
        "RegressionRanker",
        "XENDCG",
        "YetiRank",
    )
}
LOSSES = {name: getattr(losses, name) for name in losses.__all__}

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


PARAMS = {
    "estimator": schema.none,
    "grade_values": partial(schema.or_none, schema.numbers),
    "interaction_cst": partial(schema.or_none, schema.column_groups),
    "loss": partial(schema.or_none, _loss),
    "monotonic_cst": partial(schema.or_none, schema.numbers_by_name),
    "n_jobs": partial(schema.or_none, _n_jobs),
    "random_state": partial(schema.or_none, partial(schema.integer, high=2**32 - 1)),
}  # all others are scalars

ATTRIBUTES = {
    "_seed": partial(schema.integer, high=2**31 - 1),
    "_adds_to_scores": schema.boolean,
    "n_queries_": partial(schema.integer, low=1),
    "n_queries_skipped_": schema.integer,
    "best_iteration_": schema.integer,
    "train_loss_": schema.any_floats,
    "validation_score_": schema.any_floats,
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


def _attribute_kinds(R):
    return ATTRIBUTES | (MCRANK_ATTRIBUTES if issubclass(R, rankers.McRank) else {})


def to_dict(ranker):
    """A fitted ranker as plain data, which `json.dumps` can store.

    Parameters
    ----------
    ranker : FRank, GBRank, LambdaMART, McRank, MPBoost, QBRank, QuadraticBoosting, RankBoost, \
            RegressionRanker, XENDCG or YetiRank
        Fitted, and of stumps or trees: with ``estimator=None``.

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
    R = check_ranker(ranker)
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
        "bins": [thresholds.tolist() for thresholds in ranker._binner.thresholds_],
        "rounds": [
            [{"coefficient": float(c)} | weak.to_plain() for c, weak in terms]
            for terms in ranker.model_.rounds
        ],
    }
    if ranker._binner.has_missing_ is not None:
        data["missing"] = np.flatnonzero(ranker._binner.has_missing_).tolist()
    if ranker._binner.float32_:
        data["float32"] = [list(close) for close in ranker._binner.float32_]
    from_dict(data)  # what cannot be loaded is an error now, and not when it is needed
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
    file = schema.fields(
        {
            "format": schema.string,
            "format_version": schema.integer,
            "sklearn_ltr_version": schema.string,
            "class": partial(schema.one_of, RANKERS),
            "params": schema.anything,
            "attributes": schema.anything,
            "bins": partial(
                schema.list_of, partial(schema.floats, ascending=True, most=MAX_BINS - 1)
            ),
            "missing": schema.anything,
            "float32": partial(schema.list_of, schema.anything),
            "rounds": partial(schema.list_of, partial(schema.list_of, schema.anything)),
        },
        data,
        "",
        optional=("missing", "float32"),
    )
    R, bins = RANKERS[file["class"]], file["bins"]
    schema.require(len(bins) > 0, "bins", "not be empty")
    ranker = _build(R, file["params"], len(bins))
    _set_attributes(ranker, file["attributes"], bins, len(file["rounds"]))
    if hasattr(ranker, "monotonic_cst"):
        with _explained_params():  # once names of features are known
            ranker._check_constraints()
    if "missing" in file:
        missing = schema.integers(file["missing"], "missing", low=0, high=len(bins) - 1)
        ranker._binner.has_missing_ = np.isin(np.arange(len(bins)), missing)
    close = enumerate(file.get("float32", []))
    ranker._binner.float32_ = [_float32(x, f"float32[{i}]", bins) for i, x in close]
    n_outputs, rounds = ranker._n_outputs(), []
    for t, terms in enumerate(file["rounds"]):
        path = f"rounds[{t}]"
        # The first round may begin with a constant for each output. Parameters do not tell: they
        # may have changed before a warm start.
        numbers = (n_outputs, 2 * n_outputs) if t == 0 else (n_outputs,)
        whole = n_outputs == 1 or len(terms) in numbers
        schema.require(whole, path, f"have {n_outputs} trees")
        rounds.append([_term(R._weak, term, f"{path}[{j}]", bins) for j, term in enumerate(terms)])
    ranker.model_ = AdditiveModel(len(bins), rounds, n_outputs, R._averaged)
    ranker._predictor = ranker.model_.first(ranker.best_iteration_).collapse()
    return ranker


def check_ranker(ranker):
    """The class of a fitted ranker that can be exported."""
    R = type(ranker)
    if R is rankers.BlendedRanker:
        raise TypeError(
            "A BlendedRanker cannot be exported: pickle it, or export its `estimators_` one by one."
        )
    if RANKERS.get(R.__name__) is not R:
        raise TypeError(f"Only fitted {', '.join(RANKERS)} can be exported; got {R.__name__}.")
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
    if name == "interaction_cst":
        return [_plain_group(group) for group in value]
    if name in ("grade_values", "monotonic_cst") and not callable(value):
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
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == object:  # names of features, which may be of a subclass of str
        return [str(name) for name in value]
    return [x if math.isfinite(x) else repr(x) for x in value.tolist()]


def _build(R, params, n_features):
    """A ranker that is not fitted, its parameters checked; those it lacks are as by default."""
    defaults = R().get_params(deep=False)
    kinds = {name: PARAMS.get(name, schema.scalar) for name in defaults}
    if isinstance(defaults.get("loss"), str):  # one of its own, by name
        kinds["loss"] = schema.scalar
    ranker = R(**schema.fields(kinds, params, "params", optional=kinds))
    ranker.n_features_in_ = n_features
    with _explained_params():
        ranker._check_params()
    return ranker


@contextmanager
def _explained_params():
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"params: {error}") from error


def _set_attributes(ranker, value, bins, n_rounds):
    """Set all fitted attributes but the model."""
    kinds = _attribute_kinds(type(ranker))
    found = schema.fields(kinds, value, "attributes", optional=kinds.keys() - REQUIRED)
    sizes = {"train_loss_": n_rounds, "feature_names_in_": len(bins)}
    if "levels_" in found:
        n_levels = len(found["levels_"])
        schema.require(n_levels > 0, "attributes.levels_", "not be empty")
        sizes |= {"_cuts": n_levels - 1, "_values": n_levels}
    for name, size in sizes.items():
        wrong = name in found and len(found[name]) != size
        schema.require(not wrong, f"attributes.{name}", f"have {size} entries")
    few = len(found["validation_score_"]) <= n_rounds
    schema.require(few, "attributes.validation_score_", f"have at most {n_rounds} entries")
    for name, most in (("best_iteration_", n_rounds), ("n_queries_skipped_", found["n_queries_"])):
        schema.require(found[name] <= most, f"attributes.{name}", f"be at most {most}")
    if "feature_names_in_" in found:
        found["feature_names_in_"] = np.array(found["feature_names_in_"], dtype=object)
    for name, x in found.items():
        setattr(ranker, name, x)
    ranker.n_iter_ = n_rounds
    ranker._binner = ranker._make_binner()
    ranker._binner.thresholds_ = bins
    ranker._binner.n_bins_ = np.array([len(cuts) + 1 for cuts in bins], dtype=np.intp)


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
