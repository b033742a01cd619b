# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers beside one another by clicks with propensities."""

import numpy as np
import pytest

from sklearn_ltr.exceptions import EstimatedIdealWarning
from sklearn_ltr.metrics import dcg_score
from sklearn_ltr.model_selection import compare_rankers


@pytest.fixture
def log():
    """Lists in which what attracts least was shown at the top."""
    rng = np.random.default_rng(0)
    attracts, groups = rng.random((600, 5)), np.repeat(np.arange(600), 5)
    propensity = 1 / (1 + attracts.argsort(axis=1).argsort(axis=1).ravel()) ** 2
    attracts = attracts.ravel()
    clicks = (rng.random(3000) < propensity * attracts).astype(float)
    return {"best": attracts, "logged": -attracts}, clicks, groups, propensity


def test_values_are_those_of_the_metric(log):
    rankers, clicks, groups, p = log
    result = compare_rankers(rankers, y=clicks, groups=groups, metric="dcg@3", propensity=p)
    for name, scores in rankers.items():
        expected = dcg_score(clicks, scores, groups, k=3, propensity=p, per_query=True)
        np.testing.assert_array_equal(result.values[name], expected.values)
        np.testing.assert_array_equal(result.query_ids, expected.ids)
    naive = compare_rankers(rankers, y=clicks, groups=groups, metric="dcg@3")
    # By clicks alone the logged order is the better one.
    assert naive.pairs["difference"][0] < 0 < result.pairs["difference"][0]
    assert result.pairs["p_ttest"][0] < 0.01


def test_rows_of_which_nothing_is_known_are_left_out(log):
    rankers, clicks, groups, p = log
    some = np.arange(3000) % 4 > 0
    result = compare_rankers(
        rankers, y=np.where(some, clicks, np.nan), groups=groups, metric="dcg", propensity=p
    )
    rankers = {name: scores[some] for name, scores in rankers.items()}
    expected = compare_rankers(
        rankers, y=clicks[some], groups=groups[some], metric="dcg", propensity=p[some]
    )
    np.testing.assert_array_equal(result.values, expected.values)


def test_what_is_refused_and_said(log):
    rankers, clicks, groups, p = log
    args = {"y": clicks, "groups": groups, "n_resamples": 9}
    with pytest.raises(ValueError, match="map takes no `propensity`"):
        compare_rankers(rankers, **args, metric="map", propensity=p)
    with pytest.raises(ValueError, match=r"`propensity`.*3000 rows"):
        compare_rankers(rankers, **args, metric="dcg", propensity=p[1:])
    with pytest.warns(EstimatedIdealWarning, match="ndcg@10"):
        compare_rankers(rankers, **args, propensity=p)
