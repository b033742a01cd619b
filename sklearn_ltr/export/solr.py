# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers as models of Solr's learning-to-rank module."""

import json

import numpy as np

from sklearn_ltr.export.files import written
from sklearn_ltr.export.functions import Net, Trees
from sklearn_ltr.export.rounding import float32, shortest
from sklearn_ltr.export.scoring import scoring_of
from sklearn_ltr.validation import warn_caller

# What Solr adds to thresholds.
SLACK = np.float32(1e-6)

# Its names of functions of hidden units.
ACTIVATIONS = {"tanh": "tanh", "logistic": "sigmoid", "relu": "relu"}


def to_solr_json(ranker, file=None, *, name="sklearn_ltr", store=None, feature_names=None):
    """A ranker as a model of Solr.

    Sums of trees are a ``MultipleAdditiveTreesModel``, linear functions a ``LinearModel``, nets a
    ``NeuralNetworkModel``; so is a linear function with an intercept, behind scalers, which
    ``LinearModel`` does not have.

    Parameters
    ----------
    ranker : ranker, pipeline or search
        Fitted: a ranker of boosted stumps or trees other than `McRank`, a linear function or a net,
        or a `BlendedRanker` with ``standardize="train"``, of trees only or of linear functions
        only. Scalers before it in a pipeline, `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler` and
        `RobustScaler`, become a part of it.
    file : str, path or text file, default=None
        Where to write the text; None returns it.
    name : str, default="sklearn_ltr"
        Of the model.
    store : str, default=None
        Name of the feature store; None is Solr's default one.
    feature_names : array-like of str of shape (n_features,), default=None
        Names in the store. None: those that `fit` saw, or f0, f1, ... if it saw none.

    Returns
    -------
    text : str or None
        None if it was written to `file`.

    Warns
    -----
    UserWarning
        If features that the model uses had missing values in training, in the place of which Solr
        has 0; if training values that the model tells apart are the same number in 32 bits; if a
        threshold is one that Solr cannot have.

    Raises
    ------
    TypeError, ValueError
        If the scores are no such function, or beyond the range of 32 bits; if a step of a pipeline
        cannot be a part of it; if an argument is invalid.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    to_ranklib_xml, to_xgboost_json, to_linear_json : For Elasticsearch and OpenSearch.

    Notes
    -----
    Solr computes with 32 bits, and adds 1e-6 to all thresholds of trees. They are written such that
    the sum is the threshold, by which all values of 32 bits, and all training values rounded to 32
    bits, go where they go here; behind scalers the latter holds of values of 32 bits only. At
    negative powers of two, right below them, and next to 0 there may be no such number, and the
    threshold is the next one above.

    Examples
    --------
    >>> from sklearn_ltr import SingleFeatureRanker
    >>> from sklearn_ltr.export import to_solr_json
    >>> X, y, groups = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0]], [0, 1, 1], [1, 1, 1]
    >>> ranker = SingleFeatureRanker(weights=[0.5, -2.0]).fit(X, y, groups=groups)
    >>> print(to_solr_json(ranker, name="sum", feature_names=["bm25", "age"]))
    {"class": "org.apache.solr.ltr.model.LinearModel", "name": "sum",
    "features": [{"name": "bm25"}, {"name": "age"}],
    "params": {"weights": {"bm25": 0.5, "age": -2.0}}}
    """
    for what, value in (("name", name), ("store", store)):
        if not isinstance(value, str) and not (what == "store" and value is None):
            raise TypeError(f"`{what}` must be a string; got {value!r}.")
    scoring = scoring_of(ranker)
    function = scoring.only(
        Trees,
        Net,
        target="Solr's models are sums of trees, linear functions and nets",
        remedy="to_onnx exports it.",
    )
    names = scoring.checked_names(feature_names)
    if isinstance(function, Trees):
        kind, params = "MultipleAdditiveTreesModel", _trees(scoring, function, names)
    elif function.is_linear and not function.intercepts[0].any():
        float32(function.weights[0])
        weights = dict(zip(names, function.weights[0].ravel().tolist(), strict=True))
        kind, params = "LinearModel", json.dumps({"weights": weights}, ensure_ascii=False)
    else:
        kind, params = "NeuralNetworkModel", _layers(function)
    head = {"class": f"org.apache.solr.ltr.model.{kind}", "name": name}
    if store is not None:
        head["store"] = store
    head["features"] = [{"name": feature} for feature in names]
    head = json.dumps(head, ensure_ascii=False)
    return written(f'{head[:-1]}, "params": {params}}}', file)


def _layers(net):
    layers = []
    for weights, intercepts in zip(net.weights, net.intercepts, strict=True):
        last = len(layers) == len(net.weights) - 1
        for array in (weights, intercepts):
            float32(array)
        layer = {"matrix": weights.T.tolist(), "bias": intercepts.tolist()}
        layers.append(layer | {"activation": "identity" if last else ACTIVATIONS[net.activation]})
    return json.dumps({"layers": layers})


def _trees(scoring, trees, names):
    scoring.warn_of_torn([trees])
    scoring.warn_of_missing([trees], "Solr takes a missing value for 0,")
    moved = np.zeros(scoring.n_features, dtype=bool)
    texts = []
    for nodes in trees.nodes:
        less, found = _less_slack(nodes.narrow)
        moved[nodes.feature[(nodes.feature >= 0) & (found != nodes.narrow)]] = True
        texts.append(_nested(nodes, less, names))
    if moved.any():
        warn_caller(
            "Solr adds 1e-6 to thresholds, in 32 bits, by which some below 0 or next to it move up "
            f"to the next number that it can have, of the features {scoring.listed(moved)}: rows "
            "with a value in between go to another side of a split. Shift these features, so that "
            "they are 0.001 at least, before the fit and in Solr, if there may be such values.",
            UserWarning,
        )
    if trees.constant or not texts:
        texts.append(f'{{"value": "{shortest(float32(trees.constant))}"}}')
    texts = [f'{{"weight": "1.0", "root": {text}}}' for text in texts]
    return '{"trees": [' + ", ".join(texts) + "]}"


def _less_slack(threshold):
    """Numbers of 32 bits that are thresholds when Solr has added to them, and these sums.

    Where there is no such number, because they lie farther apart than thresholds, the sum is the
    next one above: as values are often whole or halves, they are rather at a threshold than right
    above.
    """
    with np.errstate(over="ignore", under="ignore"):
        start = threshold - SLACK
        candidates, below, above = [start], start, start
        for _ in range(2):
            below = np.nextafter(below, np.float32(-np.inf))
            above = np.nextafter(above, np.float32(np.inf))
            candidates += [below, above]
        sums = np.array(candidates) + SLACK
    best = np.argmin(np.where(sums >= threshold, sums, np.inf), axis=0)
    columns = np.arange(len(threshold))
    return np.array(candidates)[best, columns], sums[best, columns]


def _nested(nodes, threshold, names):
    """A tree as nested objects, from the leaves up, as children have higher numbers."""
    values, texts = float32(nodes.value), [""] * len(nodes.feature)
    for node in reversed(range(len(texts))):
        if nodes.feature[node] < 0:
            texts[node] = f'{{"value": "{shortest(values[node])}"}}'
            continue
        left = nodes.left[node]
        texts[node] = (
            f'{{"feature": {json.dumps(names[nodes.feature[node]], ensure_ascii=False)}, '
            f'"threshold": "{_of_java(threshold[node])}", '
            f'"left": {texts[left]}, "right": {texts[left + 1]}}}'
        )
    return texts[0]


def _of_java(x):
    """A number as Java reads it."""
    return shortest(x).replace("inf", "Infinity")
