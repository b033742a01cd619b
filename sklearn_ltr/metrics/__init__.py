# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranking metrics on flat arrays with a query id a row."""

from sklearn_ltr.metrics._per_query import Metric, QueryValues
from sklearn_ltr.metrics.dcg import dcg_score, ndcg_score
from sklearn_ltr.metrics.precision import average_precision_score, precision_at_k_score
from sklearn_ltr.metrics.reciprocal import reciprocal_rank_score
from sklearn_ltr.metrics.registry import get_metric

__all__ = [
    "Metric",
    "QueryValues",
    "average_precision_score",
    "dcg_score",
    "get_metric",
    "ndcg_score",
    "precision_at_k_score",
    "reciprocal_rank_score",
]
