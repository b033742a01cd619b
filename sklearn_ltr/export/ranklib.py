# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of trees as RankLib's XML."""

import numpy as np

from sklearn_ltr.export.files import written
from sklearn_ltr.export.functions import Trees
from sklearn_ltr.export.rounding import float32, shortest
from sklearn_ltr.export.scoring import scoring_of


def to_ranklib_xml(ranker, file=None, *, feature_ids=None):
    """A fitted ranker as an ensemble of trees of RankLib.

    It is the text of RankLib's own LambdaMART models, which RankLib and the learning-to-rank
    plugins of Elasticsearch and OpenSearch read (there as type ``model/ranklib``), whatever the
    ranker. Each term is a tree of weight 1; the rounds are those that `predict` uses.

    Parameters
    ----------
    ranker : ranker, pipeline or search
        Fitted, of boosted stumps or trees: `FRank`, `GBRank`, `LambdaMART`, `MPBoost`, `QBRank`,
        `QuadraticBoosting`, `RankBoost`, `RegressionRanker`, `XENDCG`, `YetiRank`, or a
        `BlendedRanker` of them with ``standardize="train"``. Scalers before it in a pipeline,
        `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler` and `RobustScaler`, become a part of the
        thresholds.
    file : str, path or text file, default=None
        Where to write the text; None returns it.
    feature_ids : array-like of int of shape (n_features,), default=None
        RankLib's number of each feature, positive and all different. None numbers the columns of
        `X` from 1 on.

    Returns
    -------
    text : str or None
        None if it was written to `file`.

    Warns
    -----
    UserWarning
        If features that the model uses had missing values in training, which RankLib takes for 0,
        or if it is not known whether they had; if training values that the model tells apart are
        the same number in 32 bits.

    Raises
    ------
    TypeError, ValueError
        If the scores are no sum of trees, or beyond the range of 32 bits; if a step of a pipeline
        cannot be a part of the thresholds; if `feature_ids` are invalid.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    to_dict : Keeps all there is of a ranker.
    to_xgboost_json : Knows missing values.
    to_linear_json : Linear functions for the same plugins.

    Notes
    -----
    RankLib has features and thresholds of 32 bits. Thresholds are such that all values of 32 bits,
    and all training values rounded to 32 bits, go to the side where they go here; behind scalers
    the latter holds of values of 32 bits only. RankLib also adds scores up in 32 bits.

    RankLib takes a missing value for 0, and so do the plugins. The ranker sends it to the side of a
    split where it did best in training, so that rows with missing values may get other scores
    there. If there are any, fill them in by 0 before `fit`. Missing values count that `fit` has
    seen, in validation rows, too, and in every `fit` of a warm start.

    Examples
    --------
    >>> from sklearn_ltr import RankBoost
    >>> from sklearn_ltr.export import to_ranklib_xml
    >>> X, y, groups = [[0.0], [1.0], [2.0]], [0, 1, 1], [1, 1, 1]
    >>> ranker = RankBoost(n_estimators=1).fit(X, y, groups=groups)
    >>> print(to_ranklib_xml(ranker, feature_ids=[7]).expandtabs(1))
    ## LambdaMART
    <BLANKLINE>
    <ensemble>
     <tree id="1" weight="1.0">
      <split>
       <feature> 7 </feature>
       <threshold> 0.5 </threshold>
       <split pos="left">
        <output> 0.0 </output>
       </split>
       <split pos="right">
        <output> 0.804... </output>
       </split>
      </split>
     </tree>
    </ensemble>
    """
    scoring = scoring_of(ranker)
    trees = scoring.only(
        Trees,
        target="RankLib's ensembles are sums of trees",
        remedy="RegressionRanker is the closest to McRank; to_linear_json is for linear functions.",
    )
    ids = _check_feature_ids(feature_ids, scoring.n_features)
    lines = ["## LambdaMART", "", "<ensemble>"]
    elements = [_split_elements(nodes, ids) for nodes in trees.nodes]
    if trees.constant:
        value = repr(float(trees.constant))
        float32(trees.constant)
        elements.append(["\t\t<split>", f"\t\t\t<output> {value} </output>", "\t\t</split>"])
    for number, element in enumerate(elements, start=1):
        lines += [f'\t<tree id="{number}" weight="1.0">', *element, "\t</tree>"]
    scoring.warn_of_torn([trees])
    scoring.warn_of_missing(
        [trees],
        "RankLib takes a missing value for 0, as do the plugins of Elasticsearch and OpenSearch,",
    )
    return written("\n".join([*lines, "</ensemble>", ""]), file)


def _check_feature_ids(feature_ids, n_features):
    """RankLib's number of each feature: list of int."""
    if feature_ids is None:
        return list(range(1, n_features + 1))
    ids = np.asarray(feature_ids)
    if ids.shape != (n_features,) or ids.dtype.kind not in "iu":
        raise ValueError(
            f"`feature_ids` must have one integer for each of the {n_features} features; got an "
            f"array of shape {ids.shape} and dtype {ids.dtype}."
        )
    if ids.min() < 1 or ids.max() >= 2**31 or len(np.unique(ids)) < n_features:
        raise ValueError(
            "`feature_ids` must be all different, and from 1 to 2147483647: RankLib numbers "
            "features from 1 on."
        )
    return ids.tolist()


def _split_elements(nodes, ids):
    """The lines of a tree. Only the tabs at their starts may part elements: RankLib joins lines."""
    lines = []
    float32(nodes.value)
    todo = [(0, "\t\t", "<split>")]  # nodes, and lines that close others
    while todo:
        node, indent, line = todo.pop()
        lines.append(indent + line)
        if node is None:
            continue
        if nodes.feature[node] < 0:
            lines += [
                f"{indent}\t<output> {float(nodes.value[node])!r} </output>",
                f"{indent}</split>",
            ]
            continue
        left = int(nodes.left[node])
        threshold = shortest(nodes.narrow[node]).replace("inf", "Infinity")
        lines.append(f"{indent}\t<feature> {ids[nodes.feature[node]]} </feature>")
        lines.append(f"{indent}\t<threshold> {threshold} </threshold>")
        todo.append((None, indent, "</split>"))
        todo.append((left + 1, f"{indent}\t", '<split pos="right">'))
        todo.append((left, f"{indent}\t", '<split pos="left">'))
    return lines
