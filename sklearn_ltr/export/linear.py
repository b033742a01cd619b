# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Linear rankers as the learning-to-rank plugins of search engines read them."""

import json

from sklearn_ltr.export.files import written
from sklearn_ltr.export.functions import Net
from sklearn_ltr.export.rounding import float32
from sklearn_ltr.export.scoring import scoring_of


def to_linear_json(ranker, file=None, *, feature_names=None):
    """A linear ranker as a weight for each feature.

    It is the definition of a model of type ``model/linear`` of the learning-to-rank plugins of
    Elasticsearch and OpenSearch.

    Parameters
    ----------
    ranker : ranker, pipeline or search
        Fitted and linear: `AdaRank`, `MPRank`, `RankSVM`, `SVMMAP`, `SVRank`,
        `SingleFeatureRanker`; `LambdaRank`, `ListMLE`, `ListNet`, `LossRanker`, `RankCosine` and
        `RankNet` without hidden layers; or a `BlendedRanker` of them with ``standardize="train"``.
        Scalers before it in a pipeline, `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler` and
        `RobustScaler`, become a part of the weights.
    file : str, path or text file, default=None
        Where to write the text; None returns it.
    feature_names : array-like of str of shape (n_features,), default=None
        Names in the feature set. None: those that `fit` saw, or f0, f1, ... if it saw none.

    Returns
    -------
    text : str or None
        None if it was written to `file`.

    Raises
    ------
    TypeError, ValueError
        If the scores are not linear, or weights beyond the range of 32 bits; if a step of a
        pipeline cannot be a part of them; if an argument is invalid.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    to_solr_json : The same for Solr, and nets.

    Notes
    -----
    The format has no intercept. With scalers that move columns, or in a blend, scores differ from
    those of `predict` by the same number for all rows, which changes no ranking. The plugins
    compute with 32 bits: centred features should be centred where they are logged, if their means
    are a hundred times their deviations or more.

    Examples
    --------
    >>> from sklearn_ltr import SingleFeatureRanker
    >>> from sklearn_ltr.export import to_linear_json
    >>> X, y, groups = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.0]], [0, 1, 1], [1, 1, 1]
    >>> ranker = SingleFeatureRanker(weights=[0.5, -2.0]).fit(X, y, groups=groups)
    >>> to_linear_json(ranker, feature_names=["bm25", "age"])
    '{"bm25": 0.5, "age": -2.0}'
    """
    scoring = scoring_of(ranker)
    net = linear_function(scoring, "model/linear is a weight for each feature")
    names = scoring.checked_names(feature_names)
    weights = net.weights[0].ravel()
    float32(weights)
    text = json.dumps(dict(zip(names, weights.tolist(), strict=True)), ensure_ascii=False)
    return written(text, file)


def linear_function(scoring, target):
    """The function if it is linear; else TypeError that says which class it is of."""
    remedy = "to_xgboost_json, to_solr_json and to_onnx are for other functions."
    net = scoring.only(Net, target=target, remedy=remedy)
    if not net.is_linear:
        raise TypeError(f"{target}, and this {scoring.what} has hidden layers. {remedy}")
    return net
