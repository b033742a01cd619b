# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the displays share: axes to draw into, what is asked of rankers, names."""

from sklearn.utils.validation import _num_samples

from sklearn_ltr.base import only_labelled, predict_queries, unwrap_search
from sklearn_ltr.metrics.registry import METRICS
from sklearn_ltr.queries import check_groups
from sklearn_ltr.validation import check_column

# A pair from Okabe and Ito's palette, told apart with every kind of colour vision and in grey.
POSITIVE, NEGATIVE = "#0072B2", "#E69F00"


def check_matplotlib(caller):
    """Raise an ImportError that names `caller` and the remedy where there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{caller} requires matplotlib. You can install matplotlib with "
            "`pip install matplotlib`"
        ) from error


def axes_or_new(ax, caller):
    """`ax`, or the axes of a new figure, which leaves labels the room they need."""
    check_matplotlib(caller)
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def predict(estimator, X, y, groups):
    """Scores of rows, from any estimator with a method ``predict``, once `y` is one a row."""
    check_groups(groups)
    check_column(y, "y", _num_samples(X), finite="allow-nan")
    return predict_queries(estimator, X, groups)


def labelled(y_true, y_score, groups):
    """The rows whose grade is not NaN."""
    check_groups(groups)
    return only_labelled(y_true, y_score, groups, None, "y_true")[:3]


def metric_label(name):
    """How the name of a metric is written in a figure: "NDCG@10"; others stay as they are."""
    label = name.partition("@")[0]
    if label not in METRICS:
        return name
    return "Kendall's tau" if label == "kendall" else name.upper()


def check_sum_of_stumps(ranker, caller):
    """The fitted ranker, of a search its best one, if it has shape functions."""
    ranker = unwrap_search(ranker)
    if not hasattr(ranker, "shape_function"):
        raise ValueError(
            f"{caller} needs a ranker that is a sum of stumps: MPBoost, RankBoost or FRank; got "
            f"{type(ranker).__name__}. Of a pipeline, give the last step and rows that the others "
            "have transformed."
        )
    ranker._check_is_fitted()
    return ranker


def check_contributions(ranker, caller):
    """The fitted ranker, of a search its best one, if it knows the contributions of features."""
    ranker = unwrap_search(ranker)
    if not hasattr(ranker, "contributions"):
        raise ValueError(
            f"{caller} needs a ranker whose score is a sum of stumps or trees; got "
            f"{type(ranker).__name__}. Of a pipeline, give the last step and rows that the others "
            "have transformed."
        )
    ranker._check_is_fitted()
    return ranker
