# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""X in frames of pandas, polars and pyarrow: read, refused with the column's name, handed on."""

import datetime

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_call import calls_with, make_rows
from every_ranker import RANKERS, allows_nan, each_ranker, has, make
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from sklearn_ltr import LambdaMART, MPBoost, RankNet
from sklearn_ltr.model_selection import (
    compare_rankers,
    learning_curve,
    permutation_importance,
    train_test_split_queries,
)
from sklearn_ltr.plotting import ContributionsDisplay, MetricAtKDisplay, WinLossDisplay
from sklearn_ltr.preprocessing import BM25Features
from sklearn_ltr.scorers import get_scorer

LIBRARIES = ("pandas", "polars", "pyarrow")
NAMES = ["a", "b", "c"]

# `every_call` fits on arrays, and scikit-learn warns of names that come later.
pytestmark = pytest.mark.filterwarnings("ignore:X has feature names")

each_library = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def frame(library, columns):
    """A frame with columns by name."""
    module = pytest.importorskip(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def series(library, values):
    module = pytest.importorskip(library)
    return module.array(values) if library == "pyarrow" else module.Series(values)


def as_frame(library, X):
    return frame(library, dict(zip(NAMES, X.T, strict=True)))


def columns_of(X):
    return list(getattr(X, "column_names", getattr(X, "columns", ())))


@calls_with("X", "X_val")
@each_library
def test_frames_are_read(call, name, library):
    """Every public function and method takes them, with the result of an array."""
    if call.name.startswith("ContributionsDisplay"):
        pytest.skip("takes a row")
    X = as_frame(library, make_rows()[0])
    # A ranker compares the names of the columns of two frames.
    changed = {"X": X, name: X} if "X" in call.parameters else {name: X}
    result = call(**changed)
    if isinstance(result, np.ndarray):
        assert_array_equal(result, call(**{name: make_rows()[0]}))
    if call.name.endswith(".fit"):
        assert list(result.feature_names_in_) == NAMES


@each_ranker
@each_library
def test_ranks_of_a_frame_are_those_of_an_array(R, library):
    X, y, groups = make_rows()
    X_frame = as_frame(library, X)
    model = make(R).fit(X_frame, series(library, y), groups=series(library, groups))
    assert_array_equal(model.predict(X_frame), make(R).fit(X, y, groups=groups).predict(X))
    assert list(model.feature_names_in_) == NAMES
    assert model.score(X_frame, y, groups=series(library, groups)) == make(R).fit(
        X, y, groups=groups
    ).score(X, y, groups=groups)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame(library, dict(zip("abd", X.T, strict=True))))


@each_ranker
def test_other_forms(R):
    X, y, groups = make_rows()
    expected = make(R).fit(X, y, groups=groups).predict(X)
    for form in (X.tolist(), X.astype(object), X.astype(str), [tuple(row) for row in X]):
        assert_array_equal(make(R).fit(form, y, groups=groups).predict(form), expected)


@each_ranker
@each_library
def test_numbers_of_every_dtype(R, library):
    X, y, groups = make_rows()
    integers, booleans = np.arange(12) % 5, np.arange(12) % 2 == 0
    columns = {"a": integers, "b": booleans, "c": X[:, 2].astype(np.float32)}
    expected = np.column_stack(list(columns.values())).astype(float)
    model = make(R).fit(frame(library, columns), y, groups=groups)
    assert_array_equal(
        model.predict(frame(library, columns)),
        make(R).fit(expected, y, groups=groups).predict(expected),
    )


@each_ranker
@each_library
def test_nulls_are_missing_values(R, library):
    X, y, groups = make_rows()
    values = [None, 1, 2, 3] * 3
    columns = {"a": X[:, 0], "b": series(library, values)}
    if library == "pandas":
        columns["b"] = columns["b"].astype("Int64")
    if not allows_nan(R):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            make(R).fit(frame(library, columns), y, groups=groups)
        return
    numbers = np.column_stack([X[:, 0], [np.nan, 1, 2, 3] * 3])
    model = make(R).fit(frame(library, columns), y, groups=groups)
    expected = make(R).fit(numbers, y, groups=groups).predict(numbers)
    assert_array_equal(model.predict(frame(library, columns)), expected)


TEXTS = list("uvwx") * 3
DATES = [datetime.datetime(2020, 1, day + 1) for day in range(12)]
# Of rankers with trees, and of all others.
ENCODERS = "categorical_features|OrdinalEncoder for stumps, by OneHotEncoder for linear"
OF_CATEGORIES = ("categories", "enums")


def not_numbers(library):
    """Columns that cannot be read as numbers, the name of their dtype, and the remedy."""
    columns = {
        "texts": (series(library, TEXTS), "str", ENCODERS),
        "dates": (series(library, DATES), "(date|time)", "days since a date"),
    }
    if library == "pandas":
        texts = pd.Series(TEXTS)
        columns |= {
            "objects": (texts.astype(object), "object", ENCODERS),
            "categories": (texts.astype("category"), "category", ENCODERS),
            "nullable texts": (texts.astype("string"), "string", ENCODERS),
            "dates with a zone": (pd.Series(DATES).dt.tz_localize("UTC"), "datetime64", "days"),
            "differences": (pd.Series(DATES) - DATES[0], "timedelta64", "days"),
            "date objects": (pd.Series([d.date() for d in DATES]), "object", "days"),
            "pandas.NA": (pd.Series([1.0, pd.NA] * 6, dtype=object), "object", "missing values as"),
            "complex": (pd.Series([1j] * 12), "complex", "imaginary part"),
        }
    elif library == "polars":
        import polars as pl

        texts = pl.Series(TEXTS)
        columns |= {
            "categories": (texts.cast(pl.Categorical), "Categorical", ENCODERS),
            "enums": (texts.cast(pl.Enum(list("uvwx"))), "Enum", ENCODERS),
            "days": (pl.Series([d.date() for d in DATES]), "Date", "days since"),
            "lists": (pl.Series([[1, 2], [3]] * 6), "List", ENCODERS),
            "structs": (pl.Series([{"p": 1}] * 12), "Struct", "a column"),
        }
    else:
        import pyarrow as pa

        columns |= {
            "categories": (pa.array(TEXTS).dictionary_encode(), "dictionary", ENCODERS),
            "days": (pa.array([d.date() for d in DATES]), "date32", "days since"),
            "differences": (pa.array([d - DATES[0] for d in DATES]), "duration", "days since"),
        }
    return columns


def takes_categories(name):
    """Whether a class is a ranker with trees, or, in these tests, of them."""
    return any(
        R.__name__ == name and has(R, parameter)
        for R in RANKERS
        for parameter in (
            "categorical_features",
            "estimators",
        )
    )


@calls_with("X", "X_val")
@each_library
def test_columns_that_hold_no_numbers(call, name, library):
    """The error has the column, its dtype and the remedy."""
    if call.name.partition(".")[0] not in (*(R.__name__ for R in RANKERS), "QueryScaler"):
        pytest.skip("hands rows on to estimators")
    X, fits = make_rows()[0], name == "X" and call.name.endswith(".fit")
    for kind, (column, dtype, remedy) in not_numbers(library).items():
        columns = {"a": X[:, 0], "grape": column, "c": X[:, 2]}
        expected = rf"Column 'grape' of `{name}`, of dtype {dtype}.*({remedy})"
        if fits and kind in OF_CATEGORIES and takes_categories(call.name.partition(".")[0]):
            assert call(X=frame(library, columns)).predict(frame(library, columns)).shape == (12,)
            continue
        with pytest.raises((TypeError, ValueError), match=f"(?i){expected}"):
            call(**{name: frame(library, columns)})
        alone = {"grape": column}
        if fits:
            with pytest.raises((TypeError, ValueError), match=f"(?i){expected}"):
                call(X=frame(library, alone))


@each_ranker
def test_columns_without_names(R):
    X, y, groups = make_rows()
    X = X.astype(object)
    X[5, 1] = "high"
    for form in (X, X.tolist(), pd.DataFrame(X)):
        with pytest.raises(ValueError, match=r"Column 1 of `X`, of dtype object.*'high' at row 5"):
            make(R).fit(form, y, groups=groups)
    for dtype in ("U4", "S4", np.dtypes.StringDType()):
        with pytest.raises(ValueError, match=r"Column 1 of `X`, of dtype .*'high' at row 5"):
            make(R).fit(X.astype(dtype), y, groups=groups)
    for dtype in ("M8[ns]", "m8[s]"):
        with pytest.raises(ValueError, match=r"Column 0 of `X`, of dtype .*64.*days since"):
            make(R).fit(np.ones((12, 3)).astype(int).astype(dtype), y, groups=groups)


@each_ranker
def test_shapes_of_X(R):
    X, y, groups = make_rows()
    flat = r"`X` must be two-dimensional, .*np\.concatenate\(X\)"
    for form in (X.reshape(3, 4, 3), list(X.reshape(3, 4, 3)), X.reshape(3, 4, 3).tolist()):
        with pytest.raises(ValueError, match=flat):
            make(R).fit(form, y, groups=groups)
    with pytest.raises(ValueError, match=flat):
        make(R).fit([X[:5].tolist(), X[5:].tolist()], y, groups=groups)
    with pytest.raises(ValueError, match="Row 7 of `X` has 2 entries, but row 0 has 3"):
        make(R).fit([row[: 3 - (i == 7)] for i, row in enumerate(X.tolist())], y, groups=groups)
    with pytest.raises(ValueError, match="`X` is a masked array"):
        make(R).fit(np.ma.array(X, mask=X < 0), y, groups=groups)


@each_ranker
def test_lazy_frames(R):
    pytest.importorskip("polars")
    X, y, groups = make_rows()
    with pytest.raises(ValueError, match=r"X\.collect\(\)"):
        make(R).fit(as_frame("polars", X).lazy(), y, groups=groups)


def mixed_rows(library):
    X, y, _ = make_rows()
    tripled = np.tile(X, (3, 1)) + np.repeat([0.0, 0.1, 0.2], 12)[:, None]
    colors = np.resize(["red", "green", "blue", "red"], 36)
    columns = {"a": tripled[:, 0], "color": colors, "c": tripled[:, 2]}
    return frame(library, columns), np.tile(y, 3), np.repeat(np.arange(9), 4)


class Spy(RegressorMixin, BaseEstimator):
    """Notes what kind of rows it is given."""

    __metadata_request__fit = {"groups": True}
    seen = []

    def fit(self, X, y, groups=None):
        Spy.seen.append((type(X), columns_of(X)))
        self.is_fitted_ = True
        return self

    def predict(self, X):
        Spy.seen.append((type(X), columns_of(X)))
        return np.zeros(X.shape[0])


@each_library
def test_frames_are_handed_on(library):
    """What is called with a frame gives estimators frames of the same kind and columns."""
    X, y, groups = mixed_rows(library)
    spy = Spy().fit(X, y)
    Spy.seen.clear()
    ndcg = get_scorer("ndcg@10")
    ndcg(spy, X, y, groups=groups)
    learning_curve(Spy(), X, y, groups, train_sizes=[2], cv=3)
    permutation_importance(spy, X, y, groups, n_repeats=1)
    compare_rankers({"a": spy, "b": spy}, X, y, groups, n_resamples=9)
    MetricAtKDisplay.from_estimator(spy, X, y, groups)
    WinLossDisplay.from_estimators(spy, spy, X, y, groups)
    parts = train_test_split_queries(X, y, groups=groups, random_state=0)[:2]
    Spy.seen += [(type(part), columns_of(part)) for part in parts]
    assert len(Spy.seen) > 20
    assert all(kind is type(X) and names == columns_of(X) for kind, names in Spy.seen)


@pytest.mark.parametrize("library", ["pandas", "polars"])  # that a ColumnTransformer takes
@pytest.mark.parametrize("R", [LambdaMART, RankNet])
def test_the_remedy(library, R):
    """A pipeline that encodes the column by name, through all that rows are handed to."""
    X, y, groups = mixed_rows(library)
    encoder = OrdinalEncoder() if R is LambdaMART else OneHotEncoder(sparse_output=False)
    model = make_pipeline(
        make_column_transformer((encoder, ["color"]), remainder="passthrough"), make(R)
    )
    with sklearn.config_context(enable_metadata_routing=True):
        model.fit(X, y, groups=groups)
        score = get_scorer("ndcg@10")(model, X, y, groups=groups)
        assert 0 < score <= 1
        scores = cross_val_score(
            model,
            X,
            y,
            cv=GroupKFold(3),
            scoring=get_scorer("ndcg@10"),
            params={"groups": groups},
        )
        assert not np.isnan(scores).any()
        _, _, scores = learning_curve(model, X, y, groups, train_sizes=[2], cv=3)
        assert not np.isnan(scores).any()
        importance = permutation_importance(model, X, y, groups, n_repeats=2, random_state=0)
        pandas = permutation_importance(
            model.fit(mixed_rows("pandas")[0], y, groups=groups),
            mixed_rows("pandas")[0],
            y,
            groups,
            n_repeats=2,
            random_state=0,
        )
        assert_array_equal(importance.importances, pandas.importances)


@each_library
def test_groups_and_grades_of_every_library_are_split(library):
    X, y, groups = mixed_rows(library)
    parts = train_test_split_queries(
        X, series(library, y), groups=series(library, groups), random_state=0
    )
    expected = train_test_split_queries(y, groups=groups, random_state=0)
    for part, values in zip(parts[2:], expected, strict=True):
        assert type(part).__module__ == type(series(library, y)).__module__
        assert_array_equal(np.asarray(part), values)
    _, _, scores = learning_curve(
        Spy(), X, series(library, y), series(library, groups), train_sizes=[2], cv=3
    )
    assert not np.isnan(scores).any()


@each_library
def test_texts_of_every_library(library):
    queries, titles = ["red apple", "red apple", "pear"], ["The apple", None, "A pear"]
    rows = np.array(list(zip(queries, titles, strict=True)), dtype=object)
    X = frame(library, {"query": queries, "title": titles})
    features = BM25Features(query="query").fit(X)
    assert list(features.get_feature_names_out()[:2]) == ["title__bm25", "title__tf"]
    assert_array_equal(features.transform(X), BM25Features().fit_transform(rows))
    with pytest.raises(ValueError, match="Column 1 of `X` must hold texts; got 1"):
        BM25Features().fit(frame(library, {"query": queries, "title": [1, 2, 3]}))


@each_library
def test_one_row_of_a_frame(library):
    X, y, groups = make_rows()
    X_frame = as_frame(library, X)
    ranker = make(MPBoost).fit(X_frame, y, groups=groups)
    row = X_frame.iloc[3] if library == "pandas" else X_frame[3:4]
    display = ContributionsDisplay.from_estimator(ranker, row)
    assert display.contributions.sum() == pytest.approx(ranker.predict(X_frame)[3])
