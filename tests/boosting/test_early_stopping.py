# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What judges rounds, where its metric is undefined on every validation query."""

import numpy as np
import pytest

from sklearn_ltr.boosting.early_stopping import Judge
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.ranking_data import RankingData

IRRELEVANT = RankingData.of(np.zeros(4), [0, 2, 4])


@pytest.mark.parametrize("value", [0, 1])
def test_undefined_queries_count_as_the_metric_says(value):
    judge = Judge(IRRELEVANT, get_metric("ndcg@10", undefined=value))
    assert judge(np.arange(4.0)) == value


@pytest.mark.parametrize("undefined", ["skip", "raise"])
def test_a_metric_that_cannot_judge_is_refused_before_the_rounds(undefined):
    with pytest.raises(ValueError, match="is undefined"):
        Judge(IRRELEVANT, get_metric("ndcg@10", undefined=undefined))
