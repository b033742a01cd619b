# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all pairs, pair by pair; the losses that they are for test their values."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from ranked_rows import make
from scipy.special import expit

from sklearn_ltr.losses.sums_over_pairs import TERMS, SumsOverPairs
from sklearn_ltr.ranking_data import RankingData


def test_threads_do_not_change_a_bit():
    y, h, offsets = make(7, n_queries=200)
    results = []
    for n_threads in (1, 2, 3):
        sums = SumsOverPairs(RankingData.of(y, offsets, n_threads=n_threads))
        terms = [sums.of_term(term, h, 1, (0.8, 0.6)) for term in TERMS]
        results.append(np.concatenate([*sums.logistic(h), *terms]))
    assert_array_equal(results[0], results[1])
    assert_array_equal(results[0], results[2])


def test_logistic_sums_of_many_pairs_in_one_product():
    # Factors of the product are 2 at most; 2^1000 and more would overflow.
    n, offsets = 200, np.array([0, 200])
    y = np.repeat([0.0, 1.0], n // 2)
    value, gradient = SumsOverPairs(RankingData.of(y, offsets)).logistic(np.zeros(n))
    assert_allclose(value, [(n // 2) ** 2 * np.log(2)], rtol=1e-14)
    assert_array_equal(gradient, np.where(y == 1, -n / 4, n / 4))
    h = 5 * np.sin(np.arange(n))
    d = np.subtract.outer(h[y == 1], h[y == 0])
    value, gradient = SumsOverPairs(RankingData.of(y, offsets)).logistic(h)
    assert_allclose(value, [np.logaddexp(0, -d).sum()], rtol=1e-14)
    assert_allclose(gradient[y == 0], expit(-d).sum(axis=0), rtol=1e-13)
    assert_allclose(gradient[y == 1], -expit(-d).sum(axis=1), rtol=1e-13)


def test_parts_of_a_query_are_cut_by_its_own_pairs(monkeypatch):
    """Between parts an interrupt is heard; where they end does not depend on other queries."""
    y, h, offsets = make(3, n_queries=40)
    whole = SumsOverPairs(RankingData.of(y, offsets))
    expected = [*whole.logistic(h), *(whole.of_term(t, h, 1, (0.8, 0.6)) for t in TERMS)]
    assert len(whole._windows) == 1
    monkeypatch.setattr("sklearn_ltr.losses.sums_over_pairs.PAIRS_AT_A_TIME", 7)
    parts = SumsOverPairs(RankingData.of(y, offsets))
    assert len(parts._windows) > 20
    found = [*parts.logistic(h), *(parts.of_term(t, h, 1, (0.8, 0.6)) for t in TERMS)]
    assert_allclose(found[0], expected[0], rtol=1e-13)  # logarithms of other products
    for sums, others in zip(found[1:], expected[1:], strict=True):
        assert_array_equal(sums, others)
    longest = int(np.argmax(np.diff(offsets)))
    rows = slice(offsets[longest], offsets[longest + 1])
    alone = SumsOverPairs(RankingData.of(y[rows], [0, rows.stop - rows.start]))
    assert_array_equal(alone.logistic(h[rows])[0], found[0][longest])
