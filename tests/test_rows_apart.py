# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Bins and categories of rows that lie in several places are those of all rows in one.

Each place is a thread that has a part of the rows.
"""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import ranks
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_ltr.binning import Binner
from sklearn_ltr.categories import Categories, columns_of_frame, columns_of_matrix
from sklearn_ltr.categories import Column as CategoricalColumn

N_PLACES = 3


def in_places(work, parts):
    """What each place returns of `work`, done with its part."""
    return ranks.run([partial(work, part) for part in parts])[0]


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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("max_bins", "rule"), [(5, "quantile"), (None, "quantile"), (5, "adaptive")]
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_bins(max_bins, rule, weighted, form):
    X, weight = some_rows()
    work = partial(bins, max_bins=max_bins, rule=rule, weighted=weighted)
    whole = work([form(X), weight])
    for binner in in_places(work, parts_of(form(X), weight)):
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


def test_categories_of_numbers():
    X, weight = some_rows()
    counted = weight > 0.4
    whole = categories([X, counted])
    assert whole[0] != whole[1]  # some rows do not count
    for own in in_places(categories, parts_of(X, counted)):
        assert own == whole


def test_categories_of_strings():
    values = np.array(["b", "a", None, "b", "c", "c", None, None, None], dtype=object)

    def work(part):
        columns = {0: CategoricalColumn("brand", part[0].tolist())}
        return Categories.of_columns(columns, 1, 3).plain()

    whole = work([values])
    assert in_places(work, parts_of(values)) == [whole] * N_PLACES == [[["a", "b", "c"]]] * 3


def test_most_categories_are_counted_over_all_rows():
    values = np.array(list("aabbcc"), dtype=object)

    def work(part):
        with pytest.raises(ValueError, match="distinct values") as refused:
            Categories.of_columns({0: CategoricalColumn("brand", part[0].tolist())}, 1, 2)
        return str(refused.value)

    for message in in_places(work, parts_of(values)):
        assert "of 3 distinct values; at most 2" in message


def test_one_place_has_missing_values_only():
    frame = pd.DataFrame({"brand": ["b", "a", "b", None, None, None], "size": [np.nan] * 6})
    frame.loc[4, "size"] = 2.0

    def work(part):
        columns = columns_of_frame(frame.iloc[part], [0, 1], "X")
        return Categories.of_columns(columns, 2, 9).plain()

    parts = np.array_split(np.arange(6), N_PLACES)
    assert in_places(work, parts) == [[["a", "b"], [2.0]]] * N_PLACES == [work(range(6))] * N_PLACES


def test_strings_in_one_place_and_numbers_in_another():
    parts = [["a", "b"], [1, 2], [None, None]]

    def work(part):
        frame = pd.DataFrame({"brand": pd.Series(part, dtype=object)})
        with pytest.raises(ValueError, match=r"'brand' .* strings on some ranks and numbers"):
            Categories.of_columns(columns_of_frame(frame, [0], "X"), 1, 9)

    in_places(work, parts)
