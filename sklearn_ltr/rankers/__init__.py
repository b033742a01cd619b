# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers: one algorithm, one file, one class."""

from sklearn_ltr.rankers.adarank import AdaRank
from sklearn_ltr.rankers.blended import BlendedRanker
from sklearn_ltr.rankers.featurerank import FeatureRank
from sklearn_ltr.rankers.frank import FRank
from sklearn_ltr.rankers.gbrank import GBRank
from sklearn_ltr.rankers.lambdamart import LambdaMART
from sklearn_ltr.rankers.lambdarank import LambdaRank
from sklearn_ltr.rankers.listmle import ListMLE
from sklearn_ltr.rankers.listnet import ListNet
from sklearn_ltr.rankers.loss_ranker import LossRanker
from sklearn_ltr.rankers.mcrank import McRank
from sklearn_ltr.rankers.mpboost import MPBoost
from sklearn_ltr.rankers.mprank import MPRank
from sklearn_ltr.rankers.qbrank import QBRank
from sklearn_ltr.rankers.quadratic_boosting import QuadraticBoosting
from sklearn_ltr.rankers.rankboost import RankBoost
from sklearn_ltr.rankers.rankcosine import RankCosine
from sklearn_ltr.rankers.ranknet import RankNet
from sklearn_ltr.rankers.ranksvm import RankSVM
from sklearn_ltr.rankers.regression import RegressionRanker
from sklearn_ltr.rankers.single_feature import SingleFeatureRanker
from sklearn_ltr.rankers.svmmap import SVMMAP
from sklearn_ltr.rankers.svrank import SVRank
from sklearn_ltr.rankers.xendcg import XENDCG
from sklearn_ltr.rankers.yetirank import YetiRank

__all__ = [
    "SVMMAP",
    "XENDCG",
    "AdaRank",
    "BlendedRanker",
    "FRank",
    "FeatureRank",
    "GBRank",
    "LambdaMART",
    "LambdaRank",
    "ListMLE",
    "ListNet",
    "LossRanker",
    "MPBoost",
    "MPRank",
    "McRank",
    "QBRank",
    "QuadraticBoosting",
    "RankBoost",
    "RankCosine",
    "RankNet",
    "RankSVM",
    "RegressionRanker",
    "SVRank",
    "SingleFeatureRanker",
    "YetiRank",
]
