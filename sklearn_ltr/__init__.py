# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Learning-to-rank estimators for scikit-learn."""

from sklearn_ltr.rankers import (
    AdaRank,
    FeatureRank,
    FRank,
    GBRank,
    LambdaMART,
    LambdaRank,
    ListMLE,
    ListNet,
    McRank,
    MPBoost,
    QBRank,
    QuadraticBoosting,
    RankBoost,
    RankCosine,
    RankNet,
    RankSVM,
    RegressionRanker,
    SingleFeatureRanker,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "AdaRank",
    "FRank",
    "FeatureRank",
    "GBRank",
    "LambdaMART",
    "LambdaRank",
    "ListMLE",
    "ListNet",
    "MPBoost",
    "McRank",
    "QBRank",
    "QuadraticBoosting",
    "RankBoost",
    "RankCosine",
    "RankNet",
    "RankSVM",
    "RegressionRanker",
    "SingleFeatureRanker",
]
