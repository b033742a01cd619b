# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""One entry a row: missing query ids, ragged lists and wrong lengths, wherever rows are taken."""

import decimal

import numpy as np
import pandas as pd
import pytest
from every_call import CALLS, calls_with, good_arguments

from sklearn_ltr.model_selection import compare_rankers, train_test_split_queries
from sklearn_ltr.queries import encode_groups

NAN = float("nan")
COLUMNS = (
    "y",
    "y_true",
    "y_val",
    "y_score",
    "y_score_first",
    "y_score_second",
    "scores",
    "query_weight",
    "sample_weight",
    "propensity",
    "propensity_val",
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*FigureManager:UserWarning", "ignore::RuntimeWarning"
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def strings(sentinel):
    values = np.array(["u", "v", "u", "w"], dtype=np.dtypes.StringDType(na_object=sentinel))
    values[1] = sentinel
    return values


# Four ids, of which that of row 1 is missing.
MISSING = {
    "a list with None": lambda: ["u", None, "u", "w"],
    "a list with NaN": lambda: ["u", NAN, "u", "w"],
    "a list with NaT": lambda: [1, pd.NaT, 1, 3],
    "a list with NaT of NumPy": lambda: [1, np.datetime64("NaT"), 1, 3],
    "a list with pandas.NA": lambda: [1, pd.NA, 1, 3],
    "a list with masked": lambda: [1, np.ma.masked, 1, 3],
    "a list with a NaN of 16 bits": lambda: [1, np.float16("nan"), 1, 3],
    "a list with a complex NaN": lambda: [1, complex(0, NAN), 1, 3],
    "a list of tuples": lambda: [(1, "a"), (1, None), (1, "a"), (2, "b")],
    "a tuple": lambda: (1, None, 1, 3),
    "decimals": lambda: [decimal.Decimal(x) for x in (1, "NaN", 1, 3)],
    "decimals that signal": lambda: [decimal.Decimal(x) for x in (1, "sNaN", 1, 3)],
    "an object array": lambda: np.array([1, None, 1, 3], dtype=object),
    "float16": lambda: np.array([1, NAN, 1, 3], dtype=np.float16),
    "longdouble": lambda: np.array([1, NAN, 1, 3], dtype=np.longdouble),
    "complex": lambda: np.array([1, complex(NAN, 0), 1, 3]),
    "datetime64": lambda: np.array(["2020", "NaT", "2020", "2022"], dtype="M8[ns]"),
    "timedelta64": lambda: np.array([1, "NaT", 1, 3], dtype="m8[s]"),
    "a column": lambda: np.array([[1.0], [NAN], [1.0], [3.0]]),
    "StringDType with NaN": lambda: strings(NAN),
    "StringDType with None": lambda: strings(None),
    "StringDType with pandas.NA": lambda: strings(pd.NA),
    "StringDType with a string": lambda: strings("missing"),
    "masked integers": lambda: np.ma.array([1, 2, 1, 3], mask=[0, 1, 0, 0]),
    "masked strings": lambda: np.ma.array(list("uvuw"), mask=[0, 1, 0, 0]),
    "masked objects": lambda: np.ma.array(list("uvuw"), mask=[0, 1, 0, 0], dtype=object),
    "masked floats": lambda: np.ma.array([1.0, NAN, 1, 3]),
    "a masked record": lambda: np.ma.array(
        [(1, 2), (1, 2), (3, 4), (5, 6)],
        mask=[(0, 0), (0, 1), (0, 0), (0, 0)],
        dtype=[("a", int), ("b", int)],
    ),
    "records of floats": lambda: np.array(
        [(1, 2.0), (1, NAN), (1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)]
    ),
    "records of dates": lambda: np.array(
        [(1, "2020"), (1, "NaT"), (1, "2020"), (3, "2020")], dtype=[("a", int), ("b", "M8[ns]")]
    ),
    "records of objects": lambda: np.array(
        [(1, "a"), (1, None), (1, "a"), (3, "b")], dtype=[("a", int), ("b", object)]
    ),
    **{
        f"pandas {dtype}": lambda dtype=dtype: pd.Series([1, None, 1, 3], dtype=dtype)
        for dtype in ("Int64", "Float64", "float32", "category", "object", "datetime64[ns]")
    },
    **{
        f"pandas {dtype}": lambda dtype=dtype: pd.Series(["u", None, "u", "w"], dtype=dtype)
        for dtype in ("string", "str", "category", "object")
    },
    "pandas boolean": lambda: pd.Series([True, None, False, True], dtype="boolean"),
    "pandas periods": lambda: pd.Series(pd.PeriodIndex(["2020", None, "2020", "2022"], freq="Y")),
    "pandas dates with a zone": lambda: pd.to_datetime(
        pd.Series(["2020", None, "2020", "2022"]), utc=True
    ),
    "a categorical": lambda: pd.Categorical(["u", None, "u", "w"]),
    "an index": lambda: pd.Index([1, None, 1, 3]),
    "an index of tuples": lambda: pd.MultiIndex.from_tuples([(1, 1), (1, None), (2, 1), (2, 2)]),
    "a frame of one column": lambda: pd.DataFrame({"q": [1, None, 1, 3]}),
}


def in_arrow():
    pa = pytest.importorskip("pyarrow")
    numbers, texts = pa.array([1, None, 1, 3]), pa.array(["u", None, "u", "w"])
    codes = pa.array([0, 1, 0, 2])
    return {
        "numbers": numbers,
        "texts": texts,
        "a dictionary": texts.dictionary_encode(),
        "a dictionary with a null": pa.DictionaryArray.from_arrays(
            codes, pa.array(["u", None, "w"])
        ),
        "NaN": pa.array([1.0, NAN, 1.0, 3.0]),
        "times": pa.array([1, None, 1, 3], pa.timestamp("us")),
        "dates": pa.array([1, None, 1, 3], pa.date32()),
        "booleans": pa.array([True, None, True, False]),
        "decimals": numbers.cast(pa.decimal128(30)),
        "chunks": pa.chunked_array([[1, None], [1, 3]]),
        "a table": pa.table({"q": numbers}),
        "a list of scalars": list(numbers),
        "pandas numbers": pd.Series([1, None, 1, 3], dtype=pd.ArrowDtype(pa.int64())),
        "pandas texts": pd.Series(["u", None, "u", "w"], dtype=pd.ArrowDtype(pa.string())),
        "pandas string": pd.Series(["u", None, "u", "w"], dtype="string[pyarrow]"),
    }


def in_polars():
    pl = pytest.importorskip("polars")
    numbers, texts = pl.Series("q", [1, None, 1, 3]), pl.Series("q", ["u", None, "u", "w"])
    return {
        "numbers": numbers,
        "texts": texts,
        "NaN": pl.Series([1.0, NAN, 1.0, 3.0]),
        "a frame": numbers.to_frame(),
        "a frame of texts": texts.to_frame(),
        "booleans": pl.Series([True, None, True, False]),
        "bytes": pl.Series([b"u", None, b"u", b"w"]),
        "an enum": texts.cast(pl.Enum(["u", "w"])),
        **{
            str(dtype): numbers.cast(dtype)
            for dtype in (pl.UInt8, pl.Int128, pl.Decimal(20, 0), pl.Datetime, pl.Date, pl.Duration)
        },
        "a category": texts.cast(pl.Categorical),
    }


@pytest.mark.parametrize("kind", MISSING)
def test_every_way_to_say_missing(kind):
    with pytest.raises(ValueError, match="`ids` has a missing id at row 1; every row needs"):
        encode_groups(MISSING[kind](), 4, "ids")


@pytest.mark.parametrize("library", [in_arrow, in_polars])
def test_every_way_of_frames_to_say_missing(library):
    for groups in library().values():
        with pytest.raises(ValueError, match="`ids` has a missing id at row 1; every row needs"):
            encode_groups(groups, 4, "ids")


def test_nothing_but_nulls():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for groups in (pl.Series([None] * 4), pa.nulls(4), [None] * 4, pd.Series([None] * 4)):
        with pytest.raises(ValueError, match="missing id at row 0"):
            encode_groups(groups, 4)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_ids_of_every_library(library):
    pytest.importorskip(library)
    if library == "pandas":
        series, frame = pd.Series, pd.DataFrame
    elif library == "polars":
        import polars as pl

        series, frame = pl.Series, pl.DataFrame
        big = pl.Series([2**100 + 1, 2**100, 2**100 + 1], dtype=pl.Int128)
        assert encode_groups(big, 3)[0].tolist() == [1, 0, 1]
        assert encode_groups(series(list("baa")).cast(pl.Categorical), 3)[0].tolist() == [1, 0, 0]
    else:
        import pyarrow as pa

        series, frame = pa.array, pa.table
        assert encode_groups(pa.array(list("baa")).dictionary_encode(), 3)[0].tolist() == [1, 0, 0]
    for ids in (["b", "a", "a"], [2**63 - 1, 2**63 - 2, 2**63 - 2], [True, False, False]):
        assert encode_groups(series(ids), 3)[0].tolist() == [1, 0, 0]
        assert encode_groups(frame({"q": ids}), 3)[0].tolist() == [1, 0, 0]


@pytest.mark.parametrize("ids", [{"a", "b"}, {"a": 1, "b": 2}, "ab", b"ab", iter(["a", "b"])])
def test_ids_in_no_order(ids):
    with pytest.raises(ValueError, match="`groups` must be an array or a list, one query id"):
        encode_groups(ids, 2)


ROWS = 12
MISSING_IN_CALLS = {
    "StringDType": lambda: np.array(
        ["u", NAN, *"v" * 10], dtype=np.dtypes.StringDType(na_object=NAN)
    ),
    "masked": lambda: np.ma.array(np.repeat([1, 2, 3], 4), mask=np.arange(ROWS) == 1),
    "None": lambda: ["u", None, *"v" * 10],
    "category": lambda: pd.Series(["u", None, *"v" * 10], dtype="category"),
}


@calls_with("groups", "groups_val")
@pytest.mark.parametrize("kind", MISSING_IN_CALLS)
def test_missing_ids(call, name, kind):
    with pytest.raises(ValueError, match=f"`{name}` has a missing id at row 1"):
        call(**{name: MISSING_IN_CALLS[kind]()})


def test_calls_work():
    """With all good arguments, so that the errors of the other tests are due to what is wrong."""
    for call in CALLS:
        if {"groups", *COLUMNS} & call.parameters.keys():
            call()


@calls_with("groups", "groups_val", *COLUMNS)
@pytest.mark.parametrize("ragged", [True, False])
def test_a_list_a_query(call, name, ragged):
    """Of nested lists the error shows the flat form."""
    values = np.asarray(good_arguments()[name])
    nested = np.split(values, [3, 5]) if ragged else values.reshape(3, 4)
    flat_form = rf"`{name}`.*np\.concatenate\({name}\)"
    if not name.startswith("groups"):
        groups = "groups_val" if name.endswith("_val") else "groups"
        flat_form += rf".*{groups}=np\.repeat\(range\(len\({name}\)\), \[len\(q\) for q in {name}\]"
    for form in (lambda x: x, lambda x: [query.tolist() for query in x]):
        with pytest.raises(ValueError, match=flat_form):
            call(**{name: form(nested)})


@calls_with(*COLUMNS)
def test_a_number_in_the_place_of_a_column(call, name):
    with pytest.raises(ValueError, match=f"`{name}`"):
        call(**{name: 5.0})


def test_the_flat_form():
    y = [[1, 0], [1]]
    assert np.concatenate(y).tolist() == [1, 0, 1]
    assert np.repeat(range(len(y)), [len(q) for q in y]).tolist() == [0, 0, 1]


@calls_with("groups", "groups_val", *COLUMNS)
def test_lengths_that_differ(call, name):
    short = np.asarray(good_arguments()[name])[:-1]
    # Which others are compared with.
    if name in ("scores", "y_true") or (name == "y" and "X" not in call.parameters):
        name_in_error = r"\w+"
    else:
        name_in_error = name
    with pytest.raises(ValueError, match=rf"`{name_in_error}`.*\b(11\D+12|12\D+11)\b"):
        call(**{name: short})


@calls_with("preference_weight", "preference_margin")
def test_lengths_of_preferences(call, name):
    with pytest.raises(ValueError, match=rf"`{name}`.*\b4\b.*\b3\b|`{name}`.*\b3\b.*\b4\b"):
        call(**{name: np.ones(3)})
    with pytest.raises(ValueError, match=f"`{name}`"):
        call(**{name: [[1.0], [1.0, 1.0]]})


@calls_with("preferences")
def test_ragged_preferences(call, name):
    with pytest.raises(ValueError, match=r"`preferences` must be .* \(n_pairs, 2\)"):
        call(**{name: [[0, 1], [2]]})


@calls_with("sample_weight")
def test_two_weights(call, name):
    with pytest.raises(ValueError, match=r"`sample_weight`.*12 rows.*11"):
        call(query_weight=np.ones(12), sample_weight=np.ones(11))


@calls_with(*COLUMNS)
def test_no_numbers(call, name):
    with pytest.raises(ValueError, match=f"`{name}`.*could not convert string to float"):
        call(**{name: np.array(["low", "high"] * 6)})


@calls_with(*COLUMNS)
def test_masked_columns(call, name):
    values = np.ma.array(good_arguments()[name], mask=np.arange(12) == 3)
    with pytest.raises(ValueError, match=f"`{name}`.*mask"):
        call(**{name: values})


def test_arrays_of_other_lengths():
    with pytest.raises(ValueError, match="Array 1 has 3 rows but array 0 has 4"):
        train_test_split_queries(np.ones(4), np.ones(3), groups=[0, 0, 1, 1])
    good = good_arguments()
    scores = {"a": good["y_score"], "b": good["y_score"][:-1]}
    with pytest.raises(ValueError, match=r"Ranker 'b' has 11 scores but there are 12 rows"):
        compare_rankers(scores, y=good["y"], groups=good["groups"])
