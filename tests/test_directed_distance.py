# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Requirement (4) of the MPBoost paper, on directed distances of one's own."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_ltr import MPBoost
from sklearn_ltr.labels import directed_distance


def pairs_of(grades):
    high, low = np.array([(b, a) for a, b in combinations(sorted(set(grades)), 2)]).T
    return high, low


def breaks_requirement_4(high, low, distance):
    """Equation (4) pair by pair, but for equal distances and what rounding may be."""
    gap, d = high - low, distance(high, low)
    return any(gap[i] > gap[j] and d[i] < d[j] for i in range(len(d)) for j in range(len(d)))


OWN = {
    "difference of gains": lambda high, low: (2**high - 2**low) / 16,
    "larger above": lambda high, low: 0.5 * (high - low) + 0.05 * high,
    "capped": lambda high, low: np.minimum(high - low, 2.0),
    "falling": lambda high, low: 1 / (high - low),
    "root": lambda high, low: np.sqrt(high - low),
    "saturating": lambda high, low: 1 / (1 + np.exp(-20 * (high - low))),
    "only the higher": lambda high, low: 1 + high / 100,
}


@given(
    grades=st.lists(st.integers(0, 9).map(float), min_size=2, max_size=6, unique=True),
    name=st.sampled_from(sorted(OWN)),
)
def test_a_function_that_breaks_requirement_4_is_named(grades, name):
    high, low = pairs_of(grades)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = directed_distance(high, low, OWN[name])
    assert_array_equal(values, OWN[name](high, low))
    assert len(caught) == breaks_requirement_4(high, low, OWN[name])


@pytest.mark.filterwarnings("error")
def test_rounding_breaks_nothing():
    """.3 - .2 is not .2 - .1, and a logistic distance comes to 1."""
    high, low = pairs_of(np.arange(1, 40) / 10)
    directed_distance(high, low, lambda a, b: 3 * a - 3 * b)
    far, near = [1000.0, 100.0, 80.0], [0.0, 0.0, 1.0]
    assert_array_equal(directed_distance(far, near, "logistic"), [1, 1, 1])
    directed_distance(far, near, OWN["saturating"])


@pytest.mark.parametrize("n_grades", [4, 40])  # few, and so many that pairs are listed
def test_fit_warns_of_the_pairs_that_it_has(n_grades):
    rng = np.random.default_rng(0)
    y = np.tile(np.arange(float(n_grades)), 2)
    X, groups = rng.normal(size=(len(y), 2)), np.repeat([0, 1], n_grades)
    ranker = MPBoost(n_estimators=2, distance=OWN["only the higher"])
    with pytest.warns(UserWarning, match=r"`distance` is .* \(requirement \(4\)") as caught:
        ranker.fit(X, y, groups=groups)
    assert [w.filename for w in caught] == [__file__]
    # Grades that no query has together are not compared.
    groups = np.arange(len(y)) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(X, y, groups=groups)
