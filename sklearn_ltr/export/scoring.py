# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted estimator computes on the columns that it is given, in a form for all writers."""

import os
from dataclasses import dataclass

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from sklearn_ltr import rankers
from sklearn_ltr.base import BaseRanker, LinearRanker
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.scorefunction import ScoreFunctionRanker
from sklearn_ltr.validation import warn_caller

# Only what is listed here is exported, and built of plain data: rankers of boosted stumps and
# trees, which bin features;
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
# and linear functions and nets.
LINEAR = {
    name: getattr(rankers, name)
    for name in (
        "AdaRank",
        "LambdaRank",
        "ListMLE",
        "ListNet",
        "LossRanker",
        "MPRank",
        "RankCosine",
        "RankNet",
        "RankSVM",
        "SVMMAP",
        "SVRank",
        "SingleFeatureRanker",
    )
}

# Features that a warning names.
MOST_NAMES = 10

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
LARGEST_FLOAT64 = float(np.finfo(np.float64).max)

# What scikit-learn's scalers do in turn: with an attribute, if a parameter says so.
SCALERS = {
    StandardScaler: (("mean_", np.subtract, "with_mean"), ("scale_", np.divide, "with_std")),
    MinMaxScaler: (("scale_", np.multiply, None), ("min_", np.add, None)),
    MaxAbsScaler: (("scale_", np.divide, None),),
    RobustScaler: (
        ("center_", np.subtract, "with_centering"),
        ("scale_", np.divide, "with_scaling"),
    ),
}


@dataclass
class Nodes:
    """A tree times its coefficient, on the columns that are given.

    Attributes
    ----------
    feature, left, missing_right, gain, cover
        As of `sklearn_ltr.weak.tree.Tree`.
    threshold : ndarray of shape (n_nodes,), dtype float64
        Rows with a value up to this go to the left.
    narrow : ndarray of shape (n_nodes,), dtype float32
        The same for values of 32 bits: training values, rounded to 32 bits, go where they went.
    torn : ndarray of shape (n_nodes,), dtype bool
        Whether no threshold of 32 bits does that.
    value : ndarray of shape (n_nodes,), dtype float64
        Of leaves, the coefficient included.
    """

    feature: np.ndarray
    threshold: np.ndarray
    narrow: np.ndarray
    torn: np.ndarray
    missing_right: np.ndarray
    left: np.ndarray
    gain: np.ndarray
    cover: np.ndarray | None
    value: np.ndarray

    def times(self, factor):
        return Nodes(**(vars(self) | {"value": factor * self.value}))

    def in_order(self, order):
        """The nodes in another order, which leaves the pairs of children where they are."""
        arrays = {name: x if x is None else x[order] for name, x in vars(self).items()}
        return Nodes(**arrays)


@dataclass
class Trees:
    """A constant and a sum of trees that all have splits.

    Attributes
    ----------
    constant : float
    nodes : list of Nodes
    missing : ndarray of shape (n_features,), dtype bool
        Features split on that had missing values in training.
    is_missing_known : bool
        Whether `missing` is all there is to know; of old stored models it is not.
    """

    constant: float
    nodes: list
    missing: np.ndarray
    is_missing_known: bool = True

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        nodes = [nodes.times(factor) for nodes in self.nodes]
        constant = factor * self.constant + shift
        return Trees(constant, nodes, self.missing, self.is_missing_known)


@dataclass
class Net:
    """A linear function, or a net with hidden layers.

    Attributes
    ----------
    weights : list of ndarrays of shape (n_inputs, n_outputs)
    intercepts : list of ndarrays of shape (n_outputs,)
        Of all layers, the last included.
    activation : str
        Of the hidden layers: "tanh", "logistic" or "relu".
    """

    weights: list
    intercepts: list
    activation: str = "tanh"

    @property
    def is_linear(self):
        return len(self.weights) == 1

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        weights = [*self.weights[:-1], factor * self.weights[-1]]
        intercepts = [*self.intercepts[:-1], factor * self.intercepts[-1] + shift]
        return Net(weights, intercepts, self.activation)


@dataclass
class ExpectedGrade:
    """`McRank`: the mean of values of the grades, by probabilities of which trees are the logits.

    Attributes
    ----------
    outputs : list of Trees
    values : ndarray of shape (n_levels,)
    method : {"classification", "ordinal"}
    scale, shift : float
        The score is scale * mean + shift.
    """

    outputs: list
    values: np.ndarray
    method: str
    scale: float = 1.0
    shift: float = 0.0

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        scale, shift = factor * self.scale, factor * self.shift + shift
        return ExpectedGrade(self.outputs, self.values, self.method, scale, shift)


@dataclass
class Sum:
    """A sum of functions of different kinds."""

    parts: list

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        first, *others = self.parts
        return Sum([first.times(factor, shift), *(part.times(factor) for part in others)])


@dataclass
class Scoring:
    """What a fitted estimator computes.

    Attributes
    ----------
    function : Trees, Net, ExpectedGrade or Sum
    n_features : int
    names : list of str, or None
        Of the columns, where `fit` saw names.
    what : str
        The class that gives the scores, for messages.
    """

    function: object
    n_features: int
    names: list | None
    what: str

    def checked_names(self, names, needed=True):
        """The names given to a writer, else those of `fit`, else f0, f1, ... or None.

        Raises
        ------
        ValueError
            If there are not as many different names as columns.
        """
        if names is None:
            default = [f"f{k}" for k in range(self.n_features)] if needed else None
            return default if self.names is None else self.names
        names = list(names)
        strings = all(isinstance(name, str) and name for name in names)
        if not strings or len(names) != self.n_features or len(set(names)) < len(names):
            raise ValueError(
                f"`feature_names` must be {self.n_features} different strings, one for each column "
                f"of `X`; got {names!r}."
            )
        return [str(name) for name in names]

    def listed(self, features):
        """Names or numbers of some features for a message, ten at most."""
        names = self.names or [str(k) for k in range(self.n_features)]
        found = [names[k] for k in np.flatnonzero(features)]
        text = ", ".join(found[:MOST_NAMES])
        return text + (f" and {len(found) - MOST_NAMES} more" if found[MOST_NAMES:] else "")

    def only(self, *kinds, target, remedy):
        """The function, if it is of some kinds; else TypeError that says which class it is of."""
        if not isinstance(self.function, kinds):
            raise TypeError(f"{target}, and the scores of {self.what} are none. {remedy}")
        return self.function

    def warn_of_torn(self, trees):
        """Warn of features that no thresholds of 32 bits split as in training."""
        features = np.zeros(self.n_features, dtype=bool)
        for part in trees:
            for nodes in part.nodes:
                features[nodes.feature[nodes.torn]] = True
        if features.any():
            warn_caller(
                "Training values that the model tells apart are the same number in 32 bits, of the "
                f"features {self.listed(features)}: rows may go to another side of a split there. "
                "Fit on X.astype(np.float32), so that the model tells apart what it will see.",
                UserWarning,
            )

    def warn_of_missing(self, trees, reads):
        """Warn where a missing value is read as 0, as `reads` says, and the model does not."""
        missing = np.any([np.zeros(self.n_features, bool), *(t.missing for t in trees)], axis=0)
        known = all(part.is_missing_known for part in trees)
        remedy = (
            f"{reads} and this model does not, so that rows with missing values may score "
            "differently there. Fill missing values in by 0 before `fit`."
        )
        if missing.any():
            warn_caller(
                "The model uses features that had missing values in training: "
                f"{self.listed(missing)}. {remedy}",
                UserWarning,
            )
        elif not known and any(part.nodes for part in trees):
            warn_caller(
                "It is not known whether the features had missing values in training, as the model "
                f"was stored without that. If they had: {remedy}",
                UserWarning,
            )


def scoring_of(estimator):
    """What a fitted estimator computes on the columns that it is given.

    Parameters
    ----------
    estimator : ranker, pipeline or search
        A ranker of this package; a pipeline of scalers that work column by column and of one; or a
        fitted search or `FrozenEstimator` of either.

    Returns
    -------
    scoring : Scoring

    Raises
    ------
    TypeError, ValueError
        If the scores are no such function. The message says which step, and why.
    NotFittedError
        If it is not fitted.
    """
    function, what = _function(estimator, [])
    return Scoring(function, int(estimator_columns(estimator)), _names(estimator), what)


def unwrapped(estimator):
    """The estimator that a fitted search has found, or that is frozen, or the estimator itself."""
    while True:
        if isinstance(estimator, BaseSearchCV):
            check_is_fitted(estimator)
            if not estimator.refit:  # what an earlier fit has found may still be there
                raise ValueError(
                    f"{type(estimator).__name__} has refit=False, so that there is no fitted "
                    "ranker to export: fit its best_params_, or set refit=True."
                )
            estimator = estimator.best_estimator_
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        else:
            return estimator


def _steps(pipeline):
    """Steps of a pipeline that do something, as (name, step)."""
    return [(n, unwrapped(s)) for n, s in pipeline.steps if s is not None and s != "passthrough"]


def _first(estimator):
    """What sees the columns as they are given."""
    estimator = unwrapped(estimator)
    while isinstance(estimator, Pipeline):
        estimator = _steps(estimator)[0][1]
    return estimator


def estimator_columns(estimator):
    """The number of columns."""
    return _first(estimator).n_features_in_


def _names(estimator):
    names = getattr(_first(estimator), "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _function(estimator, maps):
    """The function behind some maps of the columns, and the class that it is of."""
    estimator = unwrapped(estimator)
    if isinstance(estimator, Pipeline):
        *scalers, (_, last) = _steps(estimator) or [("", None)]
        if not hasattr(last, "predict"):
            raise TypeError("The pipeline does not end in a ranker, so that it has no scores.")
        for name, scaler in scalers:
            _add_maps(maps := list(maps), name, scaler)
        return _function(last, maps)
    what = type(estimator).__name__
    if not isinstance(estimator, BaseRanker):
        raise TypeError(
            "Only fitted rankers of this package, pipelines of scalers and one of them, and "
            f"searches of these can be exported; got {what}."
        )
    if isinstance(estimator, rankers.FeatureRank):
        raise TypeError(
            "The scores of FeatureRank are made of the ranks of a row among those of its query, "
            "which no other program knows: pickle the ranker."
        )
    known = RANKERS | LINEAR | {"BlendedRanker": rankers.BlendedRanker}
    if known.get(what) is not type(estimator):
        raise TypeError(
            f"Only the rankers of this package itself can be exported; got {what}, a class of its "
            "own, whose scores may be others."
        )
    estimator._check_is_fitted()
    if isinstance(estimator, rankers.BlendedRanker):
        return _of_blend(estimator, maps), what
    if isinstance(estimator, LinearRanker | rankers.AdaRank):
        zero = np.zeros(1)
        return _scaled_net(Net([estimator.coef_[:, None].copy()], [zero]), maps), what
    if isinstance(estimator, ScoreFunctionRanker):
        intercepts = [*estimator.intercepts_, np.zeros(1)]
        net = Net(list(estimator.coefs_), intercepts, estimator.activation)
        return _scaled_net(net, maps), what
    return _of_boosting(estimator, maps), what


def _of_boosting(ranker, maps):
    if getattr(ranker, "estimator", None) is not None:
        raise ValueError(
            f"`estimator` is {ranker.estimator!r}: only stumps and trees can be exported, no "
            "regressors. Pickle the ranker, or fit it with estimator=None."
        )
    model = ranker.model_.first(ranker.best_iteration_)
    outputs = [[] for _ in range(model.n_outputs)]
    numbers = [j % model.n_outputs for terms in model.rounds for j in range(len(terms))]
    for j, term in zip(numbers, model.terms, strict=True):
        outputs[j].append(term)
    outputs = [_trees(terms, ranker, maps) for terms in outputs]
    if isinstance(ranker, rankers.McRank):
        if len(ranker._values) == 1:
            return Trees(float(ranker._values[0]), [], outputs[0].missing)
        return ExpectedGrade(outputs, ranker._values, ranker.method)
    return outputs[0]


def _trees(terms, ranker, maps):
    """Trees of (coefficient, weak ranker)."""
    close = _close_behind(ranker._binner, maps)
    constant, nodes = 0.0, []
    used = np.zeros(ranker.n_features_in_, dtype=bool)
    proven = used.copy()  # splits between missing values and all others
    for coefficient, weak in terms:
        tree = weak.as_tree()
        if len(tree.feature) == 1:
            constant += float(coefficient * tree.value[0])
            continue
        if tree.has_categories:
            _refuse_categories(ranker, tree)
        inner = np.flatnonzero(tree.feature >= 0)
        used[tree.feature[inner]] = True
        proven[tree.feature[np.isposinf(tree.threshold)]] = True
        threshold = tree.threshold.copy()
        threshold[inner] = largest_below(threshold[inner], maps, tree.feature[inner])
        narrow, torn = rounded_down(threshold), np.zeros(len(threshold), dtype=bool)
        for node in inner:
            key = int(tree.feature[node]), int(tree.bin[node])
            if key in close:
                torn[node] = close[key] is None
                narrow[node] = narrow[node] if torn[node] else close[key]
        nodes.append(
            Nodes(
                tree.feature, threshold, narrow, torn, tree.missing_right, tree.left, tree.gain,
                tree.cover, coefficient * tree.value,
            )
        )  # fmt: skip
    known = ranker._binner.has_missing_
    return Trees(constant, nodes, proven if known is None else used & known, known is not None)


def _refuse_categories(ranker, tree):
    """Raise ValueError: no other format has splits on sets of categories as they are here."""
    features = np.unique(tree.feature[np.isnan(tree.threshold)])
    listed = ", ".join(ranker._feature_name(int(k)) for k in features)
    raise ValueError(
        f"{type(ranker).__name__} splits on categories of {listed}, which only pickle and to_dict "
        "keep. Encode them before, as by TargetEncoder, and fit with categorical_features=None."
    )


def _close_behind(binner, maps):
    """As `Binner.float32_`, by feature and number of a threshold.

    Behind scalers, what is known of training values is that there are some between any two
    thresholds: these, if the same number in 32 bits, do not part them.
    """
    if not maps:
        return {(feature, number): x for feature, number, x in binner.float32_}
    found = {}
    for feature, cuts in enumerate(binner.thresholds_):
        narrow = rounded_down(largest_below(cuts, maps, np.full(len(cuts), feature)))
        for number in np.flatnonzero(narrow[1:] == narrow[:-1]).tolist():
            found[feature, number] = found[feature, number + 1] = None
    return found


def _of_blend(blend, maps):
    if blend.standardize == "query":
        raise ValueError(
            'BlendedRanker with standardize="query" scores a row by the other rows of its query, '
            'which no other program knows: fit it with standardize="train", pickle it, or export '
            "its `estimators_` one by one."
        )
    parts = []
    fitted = [(n, m) for n, m in blend.named_estimators_.items() if not isinstance(m, str)]
    for (name, member), weight, mean, deviation in zip(
        fitted, blend.weights_, blend.means_, blend.deviations_, strict=True
    ):
        if weight == 0 or deviation == 0:
            continue
        try:
            function, _ = _function(member, maps)
        except (TypeError, ValueError) as error:
            raise type(error)(f'BlendedRanker: member "{name}": {error}') from error
        parts.append(function.times(weight / deviation, -weight * mean / deviation))
    if not parts:
        return Trees(0.0, [], np.zeros(blend.n_features_in_, dtype=bool))
    if all(isinstance(part, Trees) for part in parts):
        return Trees(
            sum(part.constant for part in parts),
            [nodes for part in parts for nodes in part.nodes],
            np.any([part.missing for part in parts], axis=0),
            all(part.is_missing_known for part in parts),
        )
    if all(isinstance(part, Net) and part.is_linear for part in parts):
        weights = np.add.reduce([part.weights[0] for part in parts])
        return Net([weights], [np.add.reduce([part.intercepts[0] for part in parts])])
    return Sum(parts)


# --- Scalers -------------------------------------------------------------------------------------


def _add_maps(maps, name, scaler):
    """Add what a step does to each column, as (function, numbers of the columns)."""
    where = f"Step {name!r} of the pipeline, {type(scaler).__name__},"
    if isinstance(scaler, Pipeline):
        for inner in _steps(scaler):
            _add_maps(maps, *inner)
        return
    if isinstance(scaler, QueryScaler):
        raise TypeError(
            f"{where} scales a row by the other rows of its query, which no other program knows. "
            "Scale where the features are logged, and export the ranker behind it."
        )
    if type(scaler) not in SCALERS:
        raise TypeError(
            f"{where} cannot be exported with the ranker: only StandardScaler, MinMaxScaler, "
            'MaxAbsScaler, RobustScaler and "passthrough" can. Do its work where the features are '
            "computed, and export the ranker behind it."
        )
    check_is_fitted(scaler)
    if getattr(scaler, "clip", False):
        raise ValueError(
            f"{where} has clip=True, so that it is not the same map everywhere. Fit it with "
            "clip=False."
        )
    for attribute, operation, parameter in SCALERS[type(scaler)]:
        if parameter is None or getattr(scaler, parameter):
            numbers = np.asarray(getattr(scaler, attribute), dtype=np.float64)
            maps.append((operation, numbers))


def _scaled_net(net, maps):
    """A net on columns before they are mapped."""
    slope, shift = 1.0, 0.0
    for operation, numbers in maps:
        shift = operation(shift, numbers)
        if operation in (np.multiply, np.divide):
            slope = operation(slope, numbers)
    if not maps:
        return net
    n_features = len(net.weights[0])
    slope, shift = np.broadcast_to(slope, n_features), np.broadcast_to(shift, n_features)
    weights = [net.weights[0] * slope[:, None], *net.weights[1:]]
    intercepts = [net.intercepts[0] + shift @ net.weights[0], *net.intercepts[1:]]
    return Net(weights, intercepts, net.activation)


def largest_below(threshold, maps, feature):
    """The largest numbers whose maps are not above thresholds; -inf if there is none.

    By bisection over all floats: maps of scalers never fall, to the last bit.
    """
    if not maps or not len(threshold):
        return threshold
    low = np.full(len(threshold), _ordinal(np.float64(-LARGEST_FLOAT64)))
    high = np.full(len(threshold), _ordinal(np.float64(LARGEST_FLOAT64)))
    smallest = low.copy()
    while (low < high).any():
        middle = (low | high) - ((low ^ high) >> 1)  # the mean, rounded up, without overflow
        fits = _mapped(_of_ordinal(middle), maps, feature) <= threshold
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    found = _of_ordinal(low)
    none = (low == smallest) & (_mapped(found, maps, feature) > threshold)
    return np.where(np.isposinf(threshold), np.inf, np.where(none, -np.inf, found))


def _mapped(x, maps, feature):
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for operation, numbers in maps:
            x = operation(x, numbers[feature])
    return x


def _ordinal(x):
    """Integers in the order of floats."""
    bits = x.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _of_ordinal(number):
    return (number ^ ((number >> 63) & np.int64(2**63 - 1))).view(np.float64)


# --- 32 bits -------------------------------------------------------------------------------------


def rounded_down(threshold):
    """The largest numbers of 32 bits that are not above thresholds; -inf if there is none."""
    rounded = np.clip(threshold, None, LARGEST_FLOAT32)
    with np.errstate(over="ignore"):
        narrow = rounded.astype(np.float32)
    above = narrow > rounded
    narrow[above] = np.nextafter(narrow[above], np.float32(-np.inf))
    return narrow


def float32(values):
    """Scores of 32 bits; ValueError if they are beyond their range."""
    values = np.asarray(values, dtype=np.float64)
    if (np.abs(values) > LARGEST_FLOAT32).any():
        largest = values.flat[np.argmax(np.abs(values))]
        raise ValueError(f"The score {largest:g} is beyond the range of 32 bits.")
    return values.astype(np.float32)


def shortest(x):
    """A number of 32 bits as the fewest digits of 64 bits that are exactly it."""
    return repr(float(x))


# --- Files ---------------------------------------------------------------------------------------


def written(text, file):
    """The text if there is no file; else it is written there.

    Parameters
    ----------
    file : str, path, text file or None
    """
    if file is None:
        return text
    if hasattr(file, "write"):
        file.write(text)
    elif isinstance(file, str | os.PathLike):
        with open(file, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    else:
        raise TypeError(f"`file` must be a path, a text file or None; got {file!r}.")
    return None
