# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Splitting, judging and comparing by whole queries."""

from sklearn_ltr.model_selection.comparison import RankerComparison, compare_rankers
from sklearn_ltr.model_selection.curves import learning_curve
from sklearn_ltr.model_selection.importance import permutation_importance
from sklearn_ltr.model_selection.splitting import train_test_split_queries

__all__ = [
    "RankerComparison",
    "compare_rankers",
    "learning_curve",
    "permutation_importance",
    "train_test_split_queries",
]
