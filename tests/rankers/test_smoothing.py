# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""`smoothing`, what is added to both sums of a step, in every ranker that has it."""

import numpy as np
import pytest
from every_ranker import RANKERS, has, make
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import frank, rankboost
from strategies import examples, ranking_problems

from sklearn_ltr import FRank, RankBoost
from sklearn_ltr.losses.pair_sums import LONGEST_STEP, balancing_step

SMOOTHED = [R for R in RANKERS if has(R, "smoothing")]
each_ranker = pytest.mark.parametrize("R", SMOOTHED)

# Five queries of one pair, of which one stump orders two rightly.
FIVE = {
    "X": np.array([[0.0], [1.0]] * 5),
    "y": [0, 1] * 2 + [1, 0] * 3,
    "groups": np.arange(10) // 2,
}


def test_which_have_it():
    assert {FRank, RankBoost} <= set(SMOOTHED)


@each_ranker
@pytest.mark.parametrize("smoothing", [0.0, 0.5, 3.0])
def test_a_step_by_hand(R, smoothing):
    alpha, _ = R(n_estimators=1, smoothing=smoothing).fit(**FIVE).model_.terms[0]
    assert alpha == pytest.approx(0.5 * np.log((2 + smoothing) / (3 + smoothing)))


@each_ranker
def test_without_it_steps_are_finite_where_all_pairs_agree(R):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    model = R(n_estimators=3, smoothing=0.0).fit(X, y, groups=np.zeros(4))
    assert next(alpha for alpha, _ in model.model_.terms) == LONGEST_STEP
    model = R(n_estimators=3, smoothing=0.0).fit(-X, y, groups=np.zeros(4))
    assert next(alpha for alpha, _ in model.model_.terms) == -LONGEST_STEP
    assert np.isfinite(model.predict(X)).all()


@each_ranker
@pytest.mark.parametrize("smoothing", [-0.1, np.nan, np.inf, "1", None])
def test_wrong_smoothing(R, smoothing):
    with pytest.raises((ValueError, TypeError), match="smoothing"):
        make(R, smoothing=smoothing).fit(**FIVE)


@each_ranker
@examples(60)
@given(
    problem=ranking_problems(weights=False, missing=False),
    smoothing=st.sampled_from([0.0, 0.1, 2.0]),
    learning_rate=st.sampled_from([1.0, 0.1]),
)
def test_steps_equal_the_oracle(R, problem, smoothing, learning_rate):
    """Of the stumps that were chosen; the first rounds, in which sums are not all rounding."""
    X, y, groups, _ = problem
    model = R(n_estimators=3, smoothing=smoothing, learning_rate=learning_rate)
    model.fit(X, y, groups=groups)
    winner, loser, D, _ = frank.training_pairs(y, groups)
    H = np.zeros(len(X))
    for alpha, stump in model.model_.terms:
        above = frank.is_above(X, stump.feature, stump.threshold, stump.missing_above)
        h = above[winner].astype(int) - above[loser].astype(int)
        o = H[winner] - H[loser]
        if R is FRank:
            right, wrong = frank.sides(h, o, D, 1.0)
            added = smoothing * np.mean(frank.weights(o, D, 1.0))
        else:
            W, _ = rankboost.weights(H, winner, loser, np.ones(len(winner)))
            right, wrong, added = W[h == 1].sum(), W[h == -1].sum(), smoothing * W.mean()
        if min(right, wrong) + added > 1e-6 * max(right, wrong):
            step = 0.5 * np.log((right + added) / (wrong + added))
            assert alpha == pytest.approx(learning_rate * step, rel=1e-7, abs=1e-9)
        else:
            assert abs(alpha) >= learning_rate * 0.5 * np.log(0.9e6)
        assert abs(alpha) <= learning_rate * (LONGEST_STEP if smoothing == 0 else np.inf)
        H = H + alpha * above


def test_balancing_step():
    right, wrong = np.array([2.0, 1.0, 0.0, 0.0, 1e30]), np.array([3.0, 0.0, 1.0, 0.0, 1.0])
    expected = [0.5 * np.log(2 / 3), LONGEST_STEP, -LONGEST_STEP, 0.0, LONGEST_STEP]
    assert_array_equal(balancing_step(right, wrong, 0.0), expected)
    assert balancing_step(3.0, 0.0, 1.0) == pytest.approx(np.log(2))
