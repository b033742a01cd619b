# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures call categories by their values, which have no order and are no numbers."""

import numpy as np
import pandas as pd
import pytest
from every_ranker import RANKERS, has, make
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_ltr import LambdaMART
from sklearn_ltr.plotting import ContributionsDisplay

plt = pytest.importorskip("matplotlib.pyplot")

EXPLAINED = [
    R for R in RANKERS if has(R, "categorical_features") and hasattr(make(R), "contributions")
]
BRANDS = ["zebra", "ant", "mole", "cow"]  # not in the order of their codes
YEARS = [1999.0, 123456789.0, 0.1, 2020.0]
draw = ContributionsDisplay.from_estimator


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def make_rows(n=240):
    """A number, a brand and a year, and what is ranked by them."""
    rng = np.random.default_rng(0)
    number, brand, year = rng.normal(size=n), rng.integers(0, 4, n), rng.integers(0, 4, n)
    y = np.clip(np.round(number + np.array([3, 0, 2, 1])[brand] + (year == 2)), 0, 4)
    brand = np.array([*BRANDS, None], dtype=object)[np.where(rng.random(n) < 0.1, 4, brand)]
    return number, brand, np.array(YEARS)[year], y, np.arange(n) // 12


def frame(library, number, brand, year):
    module = pytest.importorskip(library)
    if library == "pandas":
        year = pd.Categorical(year, categories=YEARS)
        brand = pd.Categorical(brand, categories=[*BRANDS, "new"])
        return pd.DataFrame({"number": number, "brand": brand, "year": year})
    columns = {"number": number, "brand": list(brand), "year": year}
    if library == "polars":
        data = module.DataFrame(columns)
        return data.with_columns(module.col("brand").cast(module.Categorical))
    return module.table(columns)


def labels_of(display):
    return dict(label.split(" = ") for label in display.feature_names)


def at(X, row):
    return X.iloc[[row]] if hasattr(X, "iloc") else X[row : row + 1]


@pytest.mark.parametrize("R", EXPLAINED, ids=lambda R: R.__name__)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_bars_name_categories(R, library):
    number, brand, year, y, groups = make_rows()
    X = frame(library, number, brand, year)
    params = {"categorical_features": ["brand", "year"], "min_samples_category": 1}
    if library != "pandas":  # whose numbers are codes
        params["categorical_features"] = ["brand"]
    ranker = make(R, **params).fit(X, y, groups=groups)
    for row in (0, 1, list(brand).index(None)):
        labels = labels_of(draw(ranker, at(X, row)))
        assert labels["number"] == f"{number[row]:.3g}"
        assert labels["brand"] == ("missing" if brand[row] is None else brand[row])
        if library == "pandas":
            assert labels["year"] == {0.1: "0.1"}.get(year[row], f"{year[row]:.0f}")
    shown = draw(ranker, at(X, 0), at(X, 1)).feature_names
    assert f"brand: {brand[0]} vs {brand[1]}" in shown
    ticks = [tick.get_text() for tick in plt.gca().get_yticklabels()]
    assert set(ticks) <= set(shown)


def test_a_category_that_fit_has_not_seen():
    number, brand, year, y, groups = make_rows()
    X = frame("pandas", number, brand, year)
    ranker = make(LambdaMART).fit(X, y, groups=groups)
    row = frame("pandas", [0.5], ["new"], [0.1])
    assert labels_of(draw(ranker, row))["brand"] == "new (unknown)"
    row["brand"] = pd.Categorical([None], categories=BRANDS)
    display = draw(ranker, row)
    assert labels_of(display)["brand"] == "missing"
    assert_array_equal(display.contributions, ranker.contributions(row)[0])


def test_a_series_is_a_row():
    number, brand, year, y, groups = make_rows()
    X = frame("pandas", number, brand, year)
    ranker = make(LambdaMART).fit(X, y, groups=groups)
    assert draw(ranker, X.iloc[0]).feature_names == draw(ranker, X.iloc[[0]]).feature_names


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_codes_of_matrices_are_not_rounded(form):
    number, brand, _, y, groups = make_rows()
    kind = np.array([BRANDS.index(b) if b else 7 for b in brand]) + 123_456.0
    X = np.column_stack([number, kind])
    ranker = make(LambdaMART, categorical_features=[1]).fit(form(X), y, groups=groups)
    display = draw(ranker, form(X)[[0]], feature_names=["a", "b"])
    assert labels_of(display) == {"a": f"{number[0]:.3g}", "b": f"{kind[0]:.0f}"}
    unseen = form(np.array([[0.5, 99.0]]))
    assert labels_of(draw(ranker, unseen, feature_names=["a", "b"]))["b"] == "99 (unknown)"
