# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted estimator computes on the columns that it is given, in a form for all writers."""

from dataclasses import dataclass

import numpy as np
from sklearn.pipeline import Pipeline

from sklearn_ltr import rankers
from sklearn_ltr.base import BaseRanker, LinearRanker
from sklearn_ltr.export.boosted import of_boosting
from sklearn_ltr.export.functions import Net, Sum, Trees
from sklearn_ltr.export.scalers import add_maps, scaled_net
from sklearn_ltr.export.wrappers import column_names, estimator_columns, steps_of, unwrapped
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
    return Scoring(function, int(estimator_columns(estimator)), column_names(estimator), what)


def _function(estimator, maps):
    """The function behind some maps of the columns, and the class that it is of."""
    estimator = unwrapped(estimator)
    if isinstance(estimator, Pipeline):
        *scalers, (_, last) = steps_of(estimator) or [("", None)]
        if not hasattr(last, "predict"):
            raise TypeError("The pipeline does not end in a ranker, so that it has no scores.")
        for name, scaler in scalers:
            add_maps(maps := list(maps), name, scaler)
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
        return scaled_net(Net([estimator.coef_[:, None].copy()], [zero]), maps), what
    if isinstance(estimator, ScoreFunctionRanker):
        intercepts = [*estimator.intercepts_, np.zeros(1)]
        net = Net(list(estimator.coefs_), intercepts, estimator.activation)
        return scaled_net(net, maps), what
    return of_boosting(estimator, maps), what


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
