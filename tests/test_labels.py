# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directed distances and gains."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ltr import MPBoost
from sklearn_ltr.labels import DISTANCES, check_gain, directed_distance, gains

grades = st.floats(-50, 50)
positive = st.floats(0.01, 10)


@given(
    grades=st.tuples(grades, grades, grades, grades),
    distance=st.sampled_from(DISTANCES),
    alpha=positive,
    lam=positive,
    beta=positive,
)
def test_requirements_of_a_directed_distance(grades, distance, alpha, lam, beta):
    """Requirements (3) and (4) of the MPBoost paper: the sign, and larger for larger gaps."""
    parameters = {"alpha": alpha, "lam": lam, "beta": beta}
    (low, high), (other_low, other_high) = sorted(grades[:2]), sorted(grades[2:])
    assume(high - low > 1e-6)
    assume(other_high - other_low > high - low)
    one, two = directed_distance([high, other_high], [low, other_low], distance, **parameters)
    assert 0 < one < np.inf
    if distance == "binary":
        assert one == two == 1
    else:
        assert one <= two
        # The logistic function saturates, and close gaps round to one distance.
        if beta * (high - low) < 20 and other_high - other_low > (high - low) * (1 + 1e-6):
            assert distance == "logistic" or one < two


@given(low=grades, gap=st.floats(0.01, 5), beta=st.floats(0.01, 2))
def test_logistic_distances_are_larger_for_larger_gaps(low, gap, beta):
    one, two = directed_distance([low + gap, low + 2 * gap], [low, low], "logistic", beta=beta)
    assert 0.5 < one < two < 1


def test_formulas():
    """Equations (6) to (8)."""
    high, low = np.array([3.0, 2.5, 1.0]), np.array([1.0, 2.0, -1.0])
    gap = [2, 0.5, 2]
    assert_allclose(directed_distance(high, low, "linear", alpha=0.3), [0.6, 0.15, 0.6])
    assert_allclose(
        directed_distance(high, low, "logarithmic", lam=3.0), np.log([7, 2.5, 7]), rtol=1e-15
    )
    expected = [1 / (1 + np.exp(-0.5 * g)) for g in gap]
    assert_allclose(directed_distance(high, low, "logistic", beta=0.5), expected, rtol=1e-15)
    assert_array_equal(directed_distance(high, low, "binary"), np.ones(3))
    assert_array_equal(directed_distance(high, low), directed_distance(high, low, "logistic"))
    # The smallest logistic distance of whole grades.
    assert directed_distance(1, 0) == pytest.approx(0.6224593312018546)


@pytest.mark.parametrize("distance", [*DISTANCES, lambda high, low: high - low])
@pytest.mark.parametrize(("higher", "lower"), [(0, 2), (1, 1), ([2, 1], [1, 3]), (np.nan, 1)])
def test_grades_in_the_wrong_order_have_no_distance(distance, higher, lower):
    """Requirement (3): the sign, whatever the distance."""
    with pytest.raises(ValueError, match=r"first of two grades must be the higher one; got"):
        directed_distance(higher, lower, distance)


def test_distances_that_fall_as_grades_are_further_apart():
    """Requirement (4), on the grades at hand."""

    def gain_difference(high, low):
        return (2**high - 2**low) / 16

    match = r"0\.1875 for the grades 2 and 0, and 0\.5 for 4 and 3, which are closer together"
    with pytest.warns(UserWarning, match=match):
        directed_distance([4, 2], [3, 0], gain_difference)
    with pytest.warns(UserWarning, match=match):
        directed_distance([[4], [2]], [[3], [0]], gain_difference)
    X = np.arange(30.0)[:, None]
    with pytest.warns(UserWarning, match="requirement"):
        MPBoost(n_estimators=2, distance=gain_difference).fit(X, np.arange(30) % 5, X[:, 0] // 15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        directed_distance([2, 1], [0, 0], gain_difference)
        directed_distance([4, 3], [3, 2], gain_difference)  # equally far apart
        directed_distance([0.3, 0.1], [0.2, 0.0], lambda high, low: 1 - high)  # but for rounding
        directed_distance([3, 2], [0, 0], lambda high, low: np.ones(2))  # as "binary"


def test_far_grades_stay_numbers():
    far, near = [1e300, 1e5], [-1e300, 0]
    assert_array_equal(directed_distance(far, near, "logistic"), [1, 1])
    assert_allclose(directed_distance(far, near, "logarithmic"), np.log([6e300, 3e5 + 1]))


def test_callables():
    def ratio(high, low):
        assert high.dtype == low.dtype == np.float64
        return high / (1 + low)

    assert_array_equal(directed_distance([3, 8], [2, 1], ratio), [1, 4])
    assert_array_equal(directed_distance([[3], [8]], [[2], [1]], ratio), [[1], [4]])
    with pytest.raises(ValueError, match=r"`distance`.*positive.*-1\.0 for grades 2\.0 and 1\.0"):
        directed_distance([3, 2], [1, 1], lambda high, low: np.where(high == 2, -1.0, 1.0))
    with pytest.raises(ValueError, match=r"`distance` returned shape \(1,\) .* shape \(2,\)"):
        directed_distance([3, 2], [1, 1], lambda high, low: np.ones(1))
    with pytest.raises(ValueError, match=r"`distance` must be one of.*'euclid'"):
        directed_distance([1], [0], "euclid")


def test_gains():
    grades = np.array([0, 1, 2, 3, 0.5, 1e-17, 5e-324])
    root = 0.41421356237309503  # of 2, minus 1; the difference of the floats has a digit less
    small = [np.log(2) * 1e-17, 5e-324]
    assert_array_equal(gains(grades, "exponential"), [0, 1, 3, 7, root, *small])
    assert_array_equal(gains(grades, "linear"), grades)
    assert_array_equal(grades, [0, 1, 2, 3, 0.5, 1e-17, 5e-324])
    assert_array_equal(gains(np.array([300.0]), "exponential"), [2.0**300])


def test_grades_without_a_gain():
    for gain in ("exponential", "linear"):
        check_gain(np.array([0.0, 1023.9]), gain)
        assert np.isfinite(gains(np.array([1023.9]), gain)).all()
        with pytest.raises(ValueError, match=r"`labels` has the negative grade -0\.5;.*at least 0"):
            check_gain(np.array([1, -0.5]), gain, "labels")
    check_gain(np.array([1100.0]), "linear")
    with pytest.raises(ValueError, match=r"`y` has the grade 1100,.*overflows.*linear"):
        check_gain(np.array([0, 1100.0]), "exponential")
