# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted rankers as plain data."""

import math
from collections.abc import Mapping
from numbers import Integral

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ltr import rankers
from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.export.plain_fields import FORMAT, FORMAT_VERSION, LOSSES, PARAMS, attribute_kinds
from sklearn_ltr.export.plain_reader import from_dict
from sklearn_ltr.export.scoring import LINEAR, RANKERS
from sklearn_ltr.export.wrappers import unwrapped
from sklearn_ltr.versions import version


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
            for name in attribute_kinds(R)
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
