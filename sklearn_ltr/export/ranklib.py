# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted boosted rankers as RankLib's XML."""

import numpy as np

from sklearn_ltr.export.plain import check_ranker
from sklearn_ltr.rankers import McRank
from sklearn_ltr.validation import warn_caller

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def to_ranklib_xml(ranker, *, feature_ids=None):
    """A fitted ranker as an ensemble of trees of RankLib.

    It is the text of RankLib's own LambdaMART models, which RankLib and the learning-to-rank
    plugins of Elasticsearch and OpenSearch read (there as type ``model/ranklib``), whatever the
    ranker. Each term is a tree of weight 1; the rounds are those that `predict` uses.

    Parameters
    ----------
    ranker : FRank, GBRank, LambdaMART, MPBoost, QBRank, QuadraticBoosting, RankBoost or \
            RegressionRanker
        Fitted, and of stumps or trees: with ``estimator=None``.
    feature_ids : array-like of int of shape (n_features,), default=None
        RankLib's number of each feature, positive and all different. None numbers the columns of
        `X` from 1 on.

    Returns
    -------
    model : str

    Warns
    -----
    UserWarning
        If a split tells missing values from all others, which RankLib cannot.

    Raises
    ------
    TypeError
        If it is no such ranker. The scores of `McRank` are no sums of trees.
    ValueError
        If `feature_ids` are invalid, or a score is beyond the range of 32 bits.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    to_dict : Keeps all there is of a ranker.

    Notes
    -----
    RankLib has features and thresholds of 32 bits. Thresholds are rounded down to these, so that
    features of 32 bits are on the same side as here; those of 64 bits may change sides where they
    are rounded. RankLib also adds scores up in 32 bits.

    RankLib takes a missing value for 0. Fill in missing values by 0 before `fit` if there are any.

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
    R = check_ranker(ranker)
    if R is McRank:
        raise TypeError(
            "The scores of McRank are no sums of trees, which is all that RankLib knows; "
            "RegressionRanker is the closest ranker that can be exported."
        )
    ids = _check_feature_ids(feature_ids, ranker.n_features_in_)
    terms = ranker.model_.first(ranker.best_iteration_).terms
    trees = [(coefficient, weak.as_tree()) for coefficient, weak in terms]
    lines = ["## LambdaMART", "", "<ensemble>"]
    for number, (coefficient, tree) in enumerate(trees, start=1):
        lines.append(f'\t<tree id="{number}" weight="1.0">')
        lines += _split_elements(tree, coefficient, ids)
        lines.append("\t</tree>")
    if any(np.isposinf(tree.threshold).any() for _, tree in trees):
        warn_caller(
            "The model has splits between missing values and all others. RankLib takes a missing "
            "value for 0, and ranks rows with missing values differently. Fill them in by 0 before "
            "`fit`.",
            UserWarning,
        )
    return "\n".join([*lines, "</ensemble>", ""])


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


def _split_elements(tree, coefficient, ids):
    """The lines of a tree. Only the tabs at their starts may part elements: RankLib joins lines."""
    lines = []
    todo = [(0, "\t\t", "<split>")]  # nodes, and lines that close others
    while todo:
        node, indent, line = todo.pop()
        lines.append(indent + line)
        if node is None:
            continue
        if tree.feature[node] < 0:
            value = float(coefficient * tree.value[node])
            if abs(value) > LARGEST_FLOAT32:
                raise ValueError(f"The score {value:g} is beyond the range of RankLib's 32 bits.")
            lines += [f"{indent}\t<output> {value!r} </output>", f"{indent}</split>"]
            continue
        left = int(tree.left[node])
        lines.append(f"{indent}\t<feature> {ids[tree.feature[node]]} </feature>")
        lines.append(
            f"{indent}\t<threshold> {_threshold_of_java(tree.threshold[node])} </threshold>"
        )
        todo.append((None, indent, "</split>"))
        todo.append((left + 1, f"{indent}\t", '<split pos="right">'))
        todo.append((left, f"{indent}\t", '<split pos="left">'))
    return lines


def _threshold_of_java(threshold):
    """The largest float32 that is not above a threshold, as Java reads it."""
    threshold = min(threshold, LARGEST_FLOAT32)
    if threshold < -LARGEST_FLOAT32:
        return "-Infinity"
    rounded = np.float32(threshold)
    if rounded > threshold:
        rounded = np.nextafter(rounded, np.float32(-np.inf))
    return repr(float(rounded))
