# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranking metrics on flat arrays with a query id a row."""

from sklearn_ltr.metrics._per_query import Metric, QueryValues
from sklearn_ltr.metrics.correlation import kendall_tau_distance, rank_in_query
from sklearn_ltr.metrics.dcg import average_relevance_position, dcg_score, ndcg_score
from sklearn_ltr.metrics.pairwise import misordering_rate, pair_precision_score
from sklearn_ltr.metrics.precision import average_precision_score, precision_at_k_score
from sklearn_ltr.metrics.reciprocal import expected_reciprocal_rank_score, reciprocal_rank_score
from sklearn_ltr.metrics.registry import get_metric

__all__ = [
    "Metric",
    "QueryValues",
    "average_precision_score",
    "average_relevance_position",
    "dcg_score",
    "expected_reciprocal_rank_score",
    "get_metric",
    "kendall_tau_distance",
    "misordering_rate",
    "ndcg_score",
    "pair_precision_score",
    "precision_at_k_score",
    "rank_in_query",
    "reciprocal_rank_score",
]
