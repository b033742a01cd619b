# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a log of clicks to what a ranker learns from."""

from sklearn_ltr.clicks.cascade import CascadeModel
from sklearn_ltr.clicks.dependent_click import DependentClickModel
from sklearn_ltr.clicks.interleaving import (
    InterleavingComparison,
    compare_interleaved,
    probabilistic_interleaving,
    team_draft_interleaving,
)
from sklearn_ltr.clicks.log import ClickLog
from sklearn_ltr.clicks.position_based import PositionBasedModel
from sklearn_ltr.clicks.preferences import preferences_from_clicks
from sklearn_ltr.clicks.simulation import simulate_clicks

__all__ = [
    "CascadeModel",
    "ClickLog",
    "DependentClickModel",
    "InterleavingComparison",
    "PositionBasedModel",
    "compare_interleaved",
    "preferences_from_clicks",
    "probabilistic_interleaving",
    "simulate_clicks",
    "team_draft_interleaving",
]
