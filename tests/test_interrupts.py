# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that work in parts: a model does not depend on where they end."""

from every_ranker import (
    allows_sparse,
    assert_same,
    each_variant_if_slow,
    make,
    make_data,
    multiplies_matrices,
)
from scipy import sparse

from sklearn_ltr import MPBoost
from sklearn_ltr.interrupts import parts


def test_parts_are_all_there_is():
    assert list(parts(10, 1)) == [slice(0, 10)]
    assert list(parts(0, 5)) == []
    some = list(parts(1000, 2**20))
    assert len(some) > 1
    assert [n for part in some for n in range(part.start, part.stop)] == list(range(1000))
    assert list(parts(2, 2**40)) == [slice(0, 1), slice(1, 2)]


@each_variant_if_slow
def test_models_do_not_depend_on_the_parts(R, params, monkeypatch):
    X, y, groups = make_data(R)
    expected = make(R, **params).fit(X, y, groups=groups)
    monkeypatch.setattr("sklearn_ltr.interrupts.NUMBERS_AT_A_TIME", 200)
    assert_same(make(R, **params).fit(X, y, groups=groups), expected, X)
    if allows_sparse(R) and not multiplies_matrices(R):
        model = make(R, **params).fit(sparse.csr_array(X), y, groups=groups)
        assert_same(model, expected, X)


def test_more_parts_than_one(monkeypatch):
    """The limit that the test above sets is one that counts."""
    calls = []
    original = parts

    def counted(n, cost):
        calls.append(len(list(original(n, cost))))
        return original(n, cost)

    for module in ("queries", "binning", "weak.stump", "losses.exponential"):
        monkeypatch.setattr(f"sklearn_ltr.{module}.parts", counted)
    monkeypatch.setattr("sklearn_ltr.interrupts.NUMBERS_AT_A_TIME", 200)
    X, y, groups = make_data()
    MPBoost(n_estimators=2).fit(X, y, groups=groups)
    assert min(calls) >= 1
    assert sum(n > 1 for n in calls) >= 4
