# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics by name."""

import re

from sklearn_ltr.metrics._per_query import Metric
from sklearn_ltr.metrics.correlation import KendallTau
from sklearn_ltr.metrics.dcg import DCG, NDCG, NegativeRelevancePosition
from sklearn_ltr.metrics.precision import AveragePrecision, PrecisionAtK
from sklearn_ltr.metrics.reciprocal import ExpectedReciprocalRank, ReciprocalRank

METRICS = {
    "dcg": DCG,
    "ndcg": NDCG,
    "map": AveragePrecision,
    "mrr": ReciprocalRank,
    "err": ExpectedReciprocalRank,
    "kendall": KendallTau,
    "neg_arp": NegativeRelevancePosition,
    "p": PrecisionAtK,
    "precision": PrecisionAtK,
}


def get_metric(name, **switches):
    """Look up a metric by its name and fix its switches.

    Parameters
    ----------
    name : str or Metric
        "dcg", "ndcg", "map", "mrr", "err" or "p" ("precision"), with a cut-off as in "ndcg@10",
        which "p" needs; "kendall", E = 1 - 2T of the Kendall tau distance T; or "neg_arp", minus
        the average relevance position. "err" needs the switch `max_grade`. Of every metric higher
        values are better. A metric object is returned as it is.
    **switches : object
        Switches of the metric's function (`dcg_score`, `ndcg_score`, `average_precision_score`,
        `precision_at_k_score`, `reciprocal_rank_score`, `expected_reciprocal_rank_score`,
        `kendall_tau_distance`, `average_relevance_position`), among them `like`, but not its
        cut-off, which belongs to the name.

    Returns
    -------
    metric : Metric
        ``metric(y_true, y_score, groups=None, query_weight=None, per_query=False,
        propensity=None)`` evaluates scores. Metrics with equal switches are equal; they can be
        hashed, copied and pickled, and their repr shows the switches.

    Raises
    ------
    ValueError
        If the name or the value of a switch is unknown, a switch or cut-off is missing, or the
        metric knows no cut-off.
    TypeError
        If the metric has no such switch.

    Examples
    --------
    >>> from sklearn_ltr.metrics import get_metric
    >>> metric = get_metric("ndcg@10", gain="linear")
    >>> metric
    NDCG(k=10, gain='linear', discount='log2', ties='average', undefined='skip', short='clip')
    >>> metric([3, 2, 0], [1, 2, 3])
    0.6480...
    >>> get_metric("map", like="trec_eval").name
    'map'
    >>> get_metric("err@10", max_grade=4)
    ExpectedReciprocalRank(k=10, max_grade=4, ties='average', undefined='skip')
    >>> get_metric("kendall")([2, 1, 0], [0.9, 0.1, 0.5])  # T = 1/3
    0.3333...
    """
    if isinstance(name, Metric):
        if switches:
            raise ValueError(f"{name} has its switches already; got {switches} beside it.")
        return name
    match = re.fullmatch(r"(\w+?)(?:@(\d+))?", name) if isinstance(name, str) else None
    if match is None or match[1] not in METRICS:
        raise ValueError(
            f"Unknown metric {name!r}. Known names: {', '.join(sorted(METRICS))}; with a cut-off "
            "as in 'ndcg@10'."
        )
    if "k" in switches:
        raise TypeError(f"Give the cut-off in the name, as in '{match[1]}@{switches['k']}'.")
    metric_class = METRICS[match[1]]
    if match[2] is None:
        return metric_class.create(**switches)
    if "k" not in metric_class.__dataclass_fields__:
        raise ValueError(f"'{match[1]}' looks at whole queries and has no cut-off; got {name!r}.")
    return metric_class.create(k=int(match[2]), **switches)


def refuses_negative_grades(metric):
    """Whether a metric takes no negative grades: bool.

    Parameters
    ----------
    metric : str or Metric
        A name that `get_metric` does not know refuses none.
    """
    label = getattr(metric, "label", None) or str(metric).partition("@")[0]
    return label in METRICS and not METRICS[label].takes_negative_grades
