# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bins and categories of rows that lie in several places are those of all rows in one.

Each place is a thread that has a part of the rows. What they know of each other's they know from
`reduction` alone, which is made to exchange here.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_ltr import binning, reduction
from sklearn_ltr.binning import Binner
from sklearn_ltr.categories import Categories, columns_of_matrix
from sklearn_ltr.categories import Column as CategoricalColumn

N_PLACES, SECONDS = 3, 20


class Exchange:
    """What `reduction` is where the rows are in several places."""

    def __init__(self):
        self._barrier = threading.Barrier(N_PLACES)
        self._place = threading.local()
        self._shown = [None] * N_PLACES

    def run(self, work, parts):
        """What each place returns of `work`, done with its part."""

        def in_place(place, part):
            self._place.number = place
            try:
                return work(part)
            except BaseException:
                self._barrier.abort()  # the others would wait
                raise

        with ThreadPoolExecutor(N_PLACES) as pool:
            return list(pool.map(in_place, range(N_PLACES), parts))

    def _all(self, mine):
        self._shown[self._place.number] = mine
        self._barrier.wait(SECONDS)
        shown = list(self._shown)
        self._barrier.wait(SECONDS)
        names = {name for name, _ in shown}
        assert len(names) == 1, f"places ask for different things: {names}"
        return [what for _, what in shown]

    def total(self, values, axis=0):
        return sum(self._all(("total", values.sum(axis=axis))))

    def number(self, values):
        return sum(self._all(("number", len(values))))

    def somewhere(self, found):
        return np.logical_or.reduce(self._all(("somewhere", found)))

    def distinct(self, values, weight_up_to=None):
        if weight_up_to is None:
            return np.unique(np.concatenate(self._all(("distinct", values))))
        own = values, np.diff(weight_up_to, prepend=0)
        every, weights = map(np.concatenate, zip(*self._all(("distinct", own)), strict=True))
        merged, number = np.unique(every, return_inverse=True)
        return merged, np.cumsum(np.bincount(number, weights, len(merged)))


class InOneThread:
    """A pool of the thread that it is in, so that what is done in it knows its place."""

    def __init__(self, n_threads):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    map = staticmethod(map)


@pytest.fixture
def exchange(monkeypatch):
    exchange = Exchange()
    for name in ("total", "number", "somewhere", "distinct"):
        monkeypatch.setattr(reduction, name, getattr(exchange, name))
    monkeypatch.setattr(binning, "ThreadPoolExecutor", InOneThread)
    return exchange


def some_rows(dtype=np.float64):
    """Features of which each place sees something else."""
    rng = np.random.default_rng(0)
    n = 60
    X = np.column_stack(
        [
            np.arange(n),  # no value in two places
            np.arange(n) // (n // N_PLACES),  # constant in each
            rng.normal(size=n),
            np.where(np.arange(n) == n - 1, np.nan, rng.integers(0, 4, n)),  # missing in one
            np.where(np.arange(n) < n - 20, np.nan, rng.integers(0, 9, n)),  # all missing in two
            np.full(n, np.nan),
            np.where(rng.random(n) < 0.7, 0, rng.normal(size=n)),
        ]
    )
    return X.astype(dtype), rng.random(n) + 0.1


def parts_of(*arrays):
    """The rows of each place."""
    n = arrays[0].shape[0] // N_PLACES
    return [[a[i * n : (i + 1) * n] for a in arrays] for i in range(N_PLACES)]


def bins(part, max_bins, rule, weighted):
    X, weight = part
    rows = np.arange(X.shape[0])
    binner = Binner(max_bins, rule).fit(X, rows, weight=weight if weighted else None)
    binner.note_missing(binner.transform(X, rows))
    return binner


# Every second row is taken where there are more than 31, in parts of an even number. Which rows a
# sample by weight has is another matter in parts.
@pytest.mark.parametrize(
    ("most", "weighted"),
    [(binning.QUANTILE_ROWS, False), (binning.QUANTILE_ROWS, True), (31, False)],
)
@pytest.mark.parametrize(
    ("max_bins", "rule"), [(5, "quantile"), (None, "quantile"), (5, "adaptive")]
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_bins(request, max_bins, rule, weighted, form, most, monkeypatch):
    monkeypatch.setattr(binning, "QUANTILE_ROWS", most)
    X, weight = some_rows()
    work = partial(bins, max_bins=max_bins, rule=rule, weighted=weighted)
    whole = work([form(X), weight])
    exchange = request.getfixturevalue("exchange")
    for binner in exchange.run(work, parts_of(form(X), weight)):
        assert_array_equal(binner.n_bins_, whole.n_bins_)
        for own, cuts in zip(binner.thresholds_, whole.thresholds_, strict=True):
            assert_array_equal(own, cuts)
        assert binner.float32_ == whole.float32_
        assert_array_equal(binner.has_missing_, whole.has_missing_)
    assert_array_equal(whole.has_missing_, [False, False, False, True, True, True, False])


def categories(part):
    X, counted = part
    columns = columns_of_matrix(X, [0, 1, 3, 4, 5], str)
    found = Categories.of_columns(columns, X.shape[1], 99)
    for k, column in columns.items():
        X = X.copy()
        X[:, k] = found.codes(k, column)
    return found, found.kept(X, counted)[0]


def test_categories_of_numbers(request):
    X, weight = some_rows()
    counted = weight > 0.4
    whole = categories([X, counted])
    assert whole[0] != whole[1]  # some rows do not count
    exchange = request.getfixturevalue("exchange")
    for own in exchange.run(categories, parts_of(X, counted)):
        assert own == whole


def test_categories_of_strings(request):
    values = np.array(["b", "a", None, "b", "c", "c", None, None, None], dtype=object)

    def work(part):
        columns = {0: CategoricalColumn("brand", part[0].tolist())}
        return Categories.of_columns(columns, 1, 3).plain()

    whole = work([values])
    exchange = request.getfixturevalue("exchange")
    assert exchange.run(work, parts_of(values)) == [whole] * N_PLACES == [[["a", "b", "c"]]] * 3


def test_most_categories_are_counted_over_all_rows(exchange):
    values = np.array(list("aabbcc"), dtype=object)

    def work(part):
        with pytest.raises(ValueError, match="distinct values") as refused:
            Categories.of_columns({0: CategoricalColumn("brand", part[0].tolist())}, 1, 2)
        return str(refused.value)

    for message in exchange.run(work, parts_of(values)):
        assert "of 3 distinct values; at most 2" in message
