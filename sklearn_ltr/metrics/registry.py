# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics by name."""

import re

from sklearn_ltr.metrics._per_query import Metric
from sklearn_ltr.metrics.dcg import DCG, NDCG
from sklearn_ltr.metrics.precision import AveragePrecision, PrecisionAtK
from sklearn_ltr.metrics.reciprocal import ReciprocalRank

METRICS = {
    "dcg": DCG,
    "ndcg": NDCG,
    "map": AveragePrecision,
    "mrr": ReciprocalRank,
    "p": PrecisionAtK,
    "precision": PrecisionAtK,
}


def get_metric(name, **switches):
    """Look up a metric by its name and fix its switches.

    Parameters
    ----------
    name : str or Metric
        "dcg", "ndcg", "map", "mrr" or "p" ("precision"), with a cut-off as in "ndcg@10"; "p" needs
        one. A metric object is returned as it is.
    **switches : object
        Switches of the metric's function (`dcg_score`, `ndcg_score`, `average_precision_score`,
        `precision_at_k_score`, `reciprocal_rank_score`), among them `like`, but not its cut-off,
        which belongs to the name.

    Returns
    -------
    metric : Metric
        ``metric(y_true, y_score, groups=None, query_weight=None, per_query=False)`` evaluates
        scores. Metrics with equal switches are equal; they can be hashed, copied and pickled, and
        their repr shows the switches.

    Raises
    ------
    ValueError
        If the name or the value of a switch is unknown.
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
    cut_off = {} if match[2] is None else {"k": int(match[2])}
    return METRICS[match[1]].create(**cut_off, **switches)
