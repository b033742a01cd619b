# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers: one algorithm, one file, one class."""

from sklearn_ltr.rankers.frank import FRank
from sklearn_ltr.rankers.mcrank import McRank
from sklearn_ltr.rankers.mpboost import MPBoost
from sklearn_ltr.rankers.rankboost import RankBoost
from sklearn_ltr.rankers.regression import RegressionRanker

__all__ = ["FRank", "MPBoost", "McRank", "RankBoost", "RegressionRanker"]
