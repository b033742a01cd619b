# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Preference pairs, counted and listed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_ltr import pairs as module
from sklearn_ltr.pairs import ExplicitPairs, GradedPairs, count_pairs, preference_pairs
from sklearn_ltr.ranking_data import RankingData

queries_of_grades = st.lists(
    st.lists(st.sampled_from([-1.0, 0.0, 0.3, 2.0, 7.0]), min_size=1, max_size=7),
    min_size=1,
    max_size=5,
)


def arrays(queries):
    y = np.concatenate(queries).astype(float)
    return y, np.cumsum([0] + [len(q) for q in queries]).astype(np.intp)


@given(queries=queries_of_grades)
def test_pairs_equal_an_enumeration(queries):
    y, offsets = arrays(queries)
    expected = [
        {(i, j) for i, a in enumerate(q) for j, b in enumerate(q) if a > b} for q in queries
    ]
    counts = [len(e) for e in expected]
    grades, grade = np.unique(y, return_inverse=True)
    assert_array_equal(count_pairs(grade, offsets, len(grades)), counts)

    graded = preference_pairs(RankingData.of(y, offsets))
    assert isinstance(graded, GradedPairs)
    assert graded.n_pairs == sum(counts)
    assert_array_equal(graded.grades[graded.grade], y)

    listed = preference_pairs(RankingData.of(y, offsets), max_grades=0)
    assert isinstance(listed, ExplicitPairs)
    assert listed.n_pairs == sum(counts)
    assert_array_equal(listed.y, y)
    for q, (found, start) in enumerate(zip(expected, offsets[:-1], strict=True)):
        span = slice(*listed.pair_offsets[q : q + 2])
        winner, loser = listed.winner[span] - start, listed.loser[span] - start
        assert set(zip(winner.tolist(), loser.tolist(), strict=True)) == found
        assert len(winner) == len(found)  # each once


def test_counts_by_hand():
    assert (
        preference_pairs(RankingData.of(np.array([2.0, 2, 1, 0, 0, 0]), np.array([0, 6]))).n_pairs
        == 11
    )
    assert_array_equal(count_pairs(np.array([1, 0, 0, 1, 1]), np.array([0, 2, 5]), 2), [1, 2])


def test_counts_beyond_32_bits():
    n = 200_000
    counts = count_pairs(np.arange(2 * n) % 2, np.array([0, n, 2 * n]), 2)
    assert counts.dtype == np.int64
    assert counts.tolist() == [10_000_000_000] * 2


@pytest.mark.parametrize(("n_grades", "kind"), [(32, GradedPairs), (33, ExplicitPairs)])
def test_few_grades_are_not_listed(n_grades, kind):
    y = np.arange(n_grades) / 7
    assert type(preference_pairs(RankingData.of(y, np.array([0, n_grades])))) is kind


def test_255_grades_can_be_implicit():
    y = np.arange(255.0)
    graded = preference_pairs(RankingData.of(y, np.array([0, 255])), max_grades=255)
    assert_array_equal(graded.grades[graded.grade], y)


def test_too_many_pairs_to_list():
    """Refused before anything is allocated, with the figures and what to do."""
    n = 60_000
    y = np.random.default_rng(0).permutation(n) / n
    n_pairs = n * (n - 1) // 2
    with pytest.raises(ValueError, match=rf"{n} distinct.*{n_pairs}.*bytes.*round `y`.*{n} rows"):
        preference_pairs(RankingData.of(y, np.array([0, n])))


def test_the_limit_counts_pairs_and_matrix(monkeypatch):
    y, offsets = np.arange(40.0), np.array([0, 20, 40])
    n_bytes = 2 * 190 * module.BYTES_PER_PAIR + 8 * 20**2
    monkeypatch.setattr(module, "MAX_BYTES", n_bytes)
    assert preference_pairs(RankingData.of(y, offsets)).n_pairs == 380
    monkeypatch.setattr(module, "MAX_BYTES", n_bytes - 1)
    with pytest.raises(ValueError, match=rf"380 listed pairs and {n_bytes} bytes"):
        preference_pairs(RankingData.of(y, offsets))
