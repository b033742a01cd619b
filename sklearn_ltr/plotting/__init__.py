# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Displays of rankings and rankers, and of a tree, as scikit-learn has them; with matplotlib."""

from sklearn_ltr.plotting.contributions import ContributionsDisplay
from sklearn_ltr.plotting.directed_distance import DirectedDistanceDisplay
from sklearn_ltr.plotting.metric_at_k import MetricAtKDisplay
from sklearn_ltr.plotting.metric_by_round import MetricByRoundDisplay
from sklearn_ltr.plotting.shape_functions import ShapeFunctionsDisplay
from sklearn_ltr.plotting.tree import plot_tree
from sklearn_ltr.plotting.win_loss import WinLossDisplay

__all__ = [
    "ContributionsDisplay",
    "DirectedDistanceDisplay",
    "MetricAtKDisplay",
    "MetricByRoundDisplay",
    "ShapeFunctionsDisplay",
    "WinLossDisplay",
    "plot_tree",
]
