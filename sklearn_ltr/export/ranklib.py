# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted boosted rankers as RankLib's XML."""

import numpy as np

from sklearn_ltr.export.plain import check_ranker
from sklearn_ltr.rankers import McRank
from sklearn_ltr.validation import warn_caller

# Features that a warning names.
MOST_NAMES = 10

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def to_ranklib_xml(ranker, *, feature_ids=None):
    """A fitted ranker as an ensemble of trees of RankLib.

    It is the text of RankLib's own LambdaMART models, which RankLib and the learning-to-rank
    plugins of Elasticsearch and OpenSearch read (there as type ``model/ranklib``), whatever the
    ranker. Each term is a tree of weight 1; the rounds are those that `predict` uses.

    Parameters
    ----------
    ranker : FRank, GBRank, LambdaMART, MPBoost, QBRank, QuadraticBoosting, RankBoost, \
            RegressionRanker, XENDCG or YetiRank
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
        If features that the model uses had missing values in training, which RankLib takes for 0,
        or if it is not known whether they had.

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
    _warn_of_missing(ranker, [tree for _, tree in trees])
    return "\n".join([*lines, "</ensemble>", ""])


def _warn_of_missing(ranker, trees):
    """Warn if rows with missing values may score differently in RankLib."""
    used = np.zeros(ranker.n_features_in_, dtype=bool)
    proven = used.copy()  # splits between missing values and all others
    for tree in trees:
        used[tree.feature[tree.feature >= 0]] = True
        proven[tree.feature[np.isposinf(tree.threshold)]] = True
    known = ranker._binner.has_missing_
    missing = np.flatnonzero(proven if known is None else used & known)
    remedy = (
        "RankLib takes a missing value for 0, as do the plugins of Elasticsearch and OpenSearch, "
        "and this model does not, so that rows with missing values may score differently there. "
        "Fill missing values in by 0 before `fit`."
    )
    if len(missing):
        names = getattr(ranker, "feature_names_in_", np.arange(len(used)))[missing].tolist()
        listed = ", ".join(map(str, names[:MOST_NAMES]))
        if len(names) > MOST_NAMES:
            listed += f" and {len(names) - MOST_NAMES} more"
        message = f"The model uses features that had missing values in training: {listed}. {remedy}"
        warn_caller(message, UserWarning)
    elif known is None and used.any():
        warn_caller(
            "It is not known whether the features had missing values in training, as the model "
            f"was stored without that. If they had: {remedy}",
            UserWarning,
        )


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
