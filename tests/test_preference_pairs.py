# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs made from grades, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_ltr.labels import preference_pairs

grades = st.sampled_from([0.0, 1.0, 2.0, -0.5, 1e9, np.nan])


@given(rows=st.lists(st.tuples(grades, st.sampled_from("abc")), min_size=1, max_size=20))
def test_all_pairs_of_different_grades(rows):
    y, groups = (list(column) for column in zip(*rows, strict=True))
    pairs, margin = preference_pairs(y, groups)
    n = range(len(y))
    expected = {(i, j) for i in n for j in n if groups[i] == groups[j] and y[i] > y[j]}
    assert pairs.shape == (len(expected), 2)
    assert {(i, j) for i, j in pairs.tolist()} == expected
    assert_array_equal(margin, [y[i] - y[j] for i, j in pairs])


def test_wrong_arguments():
    with pytest.raises(ValueError, match="`groups`"):
        preference_pairs([1.0, 0.0], [0])
    with pytest.raises(ValueError, match="`y`"):
        preference_pairs([[1.0, 0.0]], [0])
    with pytest.raises(ValueError, match="y contains infinity"):
        preference_pairs([np.inf, 0.0], [0, 0])
