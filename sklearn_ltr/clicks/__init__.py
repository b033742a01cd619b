# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""From a log of clicks to what a ranker learns from."""

from sklearn_ltr.clicks.cascade import CascadeModel
from sklearn_ltr.clicks.dependent_click import DependentClickModel
from sklearn_ltr.clicks.log import ClickLog
from sklearn_ltr.clicks.position_based import PositionBasedModel
from sklearn_ltr.clicks.preferences import preferences_from_clicks
from sklearn_ltr.clicks.simulation import simulate_clicks

__all__ = [
    "CascadeModel",
    "ClickLog",
    "DependentClickModel",
    "PositionBasedModel",
    "preferences_from_clicks",
    "simulate_clicks",
]
