# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of trees as XGBoost's JSON."""

import json

import numpy as np

from sklearn_ltr.export.files import written
from sklearn_ltr.export.functions import Trees
from sklearn_ltr.export.rounding import LARGEST_FLOAT32, float32, shortest
from sklearn_ltr.export.scoring import scoring_of
from sklearn_ltr.validation import check_choice, warn_caller

FORMATS = ("model", "dump")

# The oldest version that has all the fields, and by which later ones read them.
VERSION = [1, 7, 0]

# What XGBoost writes as the parent of the root.
NO_PARENT = 2**31 - 1

# Which XGBoost does not let a feature's name have.
FORBIDDEN = "[]<"


def to_xgboost_json(ranker, file=None, *, format="model", feature_names=None):
    """A sum of trees as XGBoost's JSON.

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
    format : {"model", "dump"}, default="model"
        - "model": what XGBoost's ``load_model`` reads, and what reads XGBoost's models: shap,
          treelite, eland. Its objective is "rank:pairwise", so that scores are as they are.
        - "dump": the list of trees that ``get_dump(dump_format="json")`` gives, which Vespa and the
          learning-to-rank plugins of Elasticsearch and OpenSearch read, these as type
          ``model/xgboost+json``.
    feature_names : array-like of str of shape (n_features,), default=None
        None: those that `fit` saw, if there are any.

    Returns
    -------
    text : str or None
        None if it was written to `file`.

    Warns
    -----
    UserWarning
        If training values that the model tells apart are the same number in 32 bits; if a model
        was stored without the weights of its nodes, which SHAP values need.

    Raises
    ------
    TypeError, ValueError
        If the scores are no sum of trees, or beyond the range of 32 bits; if a step of a pipeline
        cannot be a part of the thresholds; if an argument is invalid.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    to_onnx : Also linear functions, nets and blends of all.
    to_ranklib_xml, to_solr_json : Sums of trees for other programs.

    Notes
    -----
    XGBoost has features, thresholds, values of leaves and sums of 32 bits. Thresholds are such
    that all values of 32 bits, and all training values rounded to 32 bits, go to the side where
    they go here; behind scalers the latter holds of values of 32 bits only. Values of leaves are
    rounded.

    The weight of the rows that came to a node, in the fit of its tree, is XGBoost's sum of second
    derivatives, by which SHAP values are computed.

    Examples
    --------
    >>> from sklearn_ltr import RankBoost
    >>> from sklearn_ltr.export import to_xgboost_json
    >>> X, y, groups = [[0.0], [1.0], [2.0]], [0, 1, 1], [1, 1, 1]
    >>> ranker = RankBoost(n_estimators=1).fit(X, y, groups=groups)
    >>> print(to_xgboost_json(ranker, format="dump"))
    [
    {"nodeid": 0, "depth": 0, "split": "f0", "split_condition": 0.5000000596046448, "yes": 1,
    "no": 2, "missing": 2, "children": [{"nodeid": 1, "leaf": 0.0}, {"nodeid": 2, "leaf": 0.80...}]}
    ]
    """
    check_choice(format, "format", FORMATS)
    scoring = scoring_of(ranker)
    trees = scoring.only(
        Trees,
        target="XGBoost's trees are sums of trees",
        remedy="to_onnx, or to_linear_json or to_solr_json, may export it.",
    )
    names = scoring.checked_names(feature_names, needed=format == "dump")
    scoring.warn_of_torn([trees])
    if format == "dump":
        return written(_dump(trees, names), file)
    wrong = [name for name in names or () if any(c in name for c in FORBIDDEN)]
    if wrong:
        raise ValueError(
            f"The feature name {wrong[0]!r} has one of the characters {FORBIDDEN}, which XGBoost "
            "refuses: give other names as `feature_names`."
        )
    return written(json.dumps(_model(trees, names, scoring.n_features), allow_nan=False), file)


def _model(trees, names, n_features):
    if any(nodes.cover is None for nodes in trees.nodes):
        warn_caller(
            "The model was stored without the weights of its nodes, so that XGBoost and shap "
            "cannot compute SHAP values of it; scores are right. Fit it again for these.",
            UserWarning,
        )
    n_trees = len(trees.nodes)
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(n_trees)},
        "iteration_indptr": list(range(n_trees + 1)),
        "tree_info": [0] * n_trees,
        "trees": [_tree(nodes, i, n_features) for i, nodes in enumerate(trees.nodes)],
    }
    return {
        "learner": {
            "attributes": {},
            "feature_names": names or [],
            "feature_types": ["float"] * n_features if names else [],
            "gradient_booster": {"model": model, "name": "gbtree"},
            "learner_model_param": {
                "base_score": _scientific(float32(trees.constant)),
                "boost_from_average": "0",
                "num_class": "0",
                "num_feature": str(n_features),
                "num_target": "1",
            },
            # As XGBoost 1.7 and 3 name the parameters, without which they refuse the objective.
            "objective": {
                "name": "rank:pairwise",
                "lambda_rank_param": {"num_pairsample": "1", "fix_list_weight": "0"},
                "lambdarank_param": {},
            },
        },
        "version": VERSION,
    }


def _scientific(x):
    """A number as XGBoost writes it; versions before 2 misread other ways to write one."""
    text = np.format_float_scientific(np.float32(x), trim="-", exp_digits=1)
    return text.replace("e+", "E").replace("e", "E")


def _tree(nodes, number, n_features):
    n_nodes = len(nodes.feature)
    nodes, condition, default_left = _splits(nodes)
    inner = nodes.feature >= 0
    values = float32(nodes.value)
    parents = np.full(n_nodes, NO_PARENT)
    parents[nodes.left[inner]] = parents[nodes.left[inner] + 1] = np.flatnonzero(inner)
    cover = np.zeros(n_nodes) if nodes.cover is None else nodes.cover
    return {
        "base_weights": values.tolist(),
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": default_left.astype(int).tolist(),
        "id": number,
        "left_children": np.where(inner, nodes.left, -1).tolist(),
        "loss_changes": np.minimum(nodes.gain, LARGEST_FLOAT32).tolist(),
        "parents": parents.tolist(),
        "right_children": np.where(inner, nodes.left + 1, -1).tolist(),
        "split_conditions": np.where(inner, condition, values).tolist(),
        "split_indices": np.where(inner, nodes.feature, 0).tolist(),
        "split_type": [0] * n_nodes,
        "sum_hessian": np.minimum(cover, LARGEST_FLOAT32).tolist(),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(n_nodes),
            "size_leaf_vector": "1",
        },
    }


def _splits(nodes):
    """The nodes, what to be less than to go left, and whether missing values do.

    A number of 32 bits that is less than the next one is not above a threshold. None is less than
    the least, so that where only missing values part from others, the latter go right: the
    children change places, as XGBoost's SHAP values need the right one behind the left one.
    """
    swapped = np.flatnonzero((nodes.feature >= 0) & (nodes.narrow >= np.float32(LARGEST_FLOAT32)))
    with np.errstate(over="ignore", under="ignore"):  # of those, and of subnormal numbers
        condition = np.nextafter(nodes.narrow, np.float32(np.inf))
    condition[swapped] = -LARGEST_FLOAT32
    default_left = ~nodes.missing_right
    default_left[swapped] = ~default_left[swapped]
    order, left = np.arange(len(nodes.feature)), nodes.left[swapped]
    order[left], order[left + 1] = left + 1, left
    return nodes.in_order(order), condition[order], default_left[order]


def _dump(trees, names):
    # A constant is a part of the leaves of the first tree, or a tree if there is none.
    if not trees.nodes:
        leaf = f'{{"nodeid": 0, "leaf": {shortest(float32(trees.constant))}}}'
        return f"[\n{leaf}\n]\n"
    texts = []
    for i, nodes in enumerate(trees.nodes):
        texts.append(_nested(nodes, trees.constant if i == 0 else 0.0, names))
    return "[\n" + ",\n".join(texts) + "\n]\n"


def _nested(nodes, constant, names):
    """A tree as nested objects, from the leaves up, as children have higher numbers."""
    nodes, condition, default_left = _splits(nodes)
    values, n_nodes = float32(nodes.value + constant), len(nodes.feature)
    depth, texts = np.zeros(n_nodes, dtype=int), [""] * n_nodes
    for node in np.flatnonzero(nodes.feature >= 0):
        depth[nodes.left[node] : nodes.left[node] + 2] = depth[node] + 1
    for node in reversed(range(n_nodes)):
        if nodes.feature[node] < 0:
            texts[node] = f'{{"nodeid": {node}, "leaf": {shortest(values[node])}}}'
            continue
        yes = int(nodes.left[node])
        texts[node] = (
            f'{{"nodeid": {node}, "depth": {depth[node]}, '
            f'"split": {json.dumps(names[nodes.feature[node]])}, '
            f'"split_condition": {shortest(condition[node])}, "yes": {yes}, "no": {yes + 1}, '
            f'"missing": {yes if default_left[node] else yes + 1}, '
            f'"children": [{texts[yes]}, {texts[yes + 1]}]}}'
        )
    return texts[0]
