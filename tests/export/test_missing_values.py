# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a fitted ranker knows of missing values in training, and where it is told."""

import inspect
import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_ltr import McRank, MPBoost, RankBoost, RegressionRanker
from sklearn_ltr.binning import Binner
from sklearn_ltr.export import from_dict, scoring, to_dict, to_ranklib_xml

RANKERS = [R for R in scoring.RANKERS.values() if R is not McRank]
each_ranker = pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)


def make(R, **params):
    quick = {"n_estimators": 4, "min_samples_leaf": 1, "random_state": 0, **params}
    return R(**{name: x for name, x in quick.items() if name in inspect.signature(R).parameters})


def make_data():
    """Two features that tell the grade together, and one that is constant."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 2)), np.zeros(60)])
    y = np.clip(np.round(X[:, 0] + X[:, 1] + 1), 0, 2)
    return X, y, np.repeat(np.arange(6), 10)


def features_warned_of(ranker):
    """The features that the export warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        to_ranklib_xml(ranker)
    if not caught:
        return []
    (warning,) = caught
    text = str(warning.message)
    assert warning.filename == __file__
    assert "missing value for 0" in text
    assert "Fill missing values in by 0 before `fit`" in text
    listed = text.split("in training: ")[1].split(". RankLib")[0]
    return listed.split(", ")


@pytest.mark.parametrize(
    ("X", "y", "groups"),
    [
        ([[1.0], [3.0], [np.nan]] * 2, [0, 1, 1] * 2, [0, 0, 0, 1, 1, 1]),
        ([[-3.0], [-1.0], [np.nan]], [0, 1, 0], [0, 0, 0]),
    ],
)
@each_ranker
def test_splits_of_known_values_warn_too(R, X, y, groups):
    ranker = make(R, n_estimators=1, max_leaf_nodes=2).fit(X, y, groups)
    assert ranker.feature_importances_[0] == 1
    assert features_warned_of(ranker) == ["0"]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@each_ranker
def test_used_features_that_had_missing_values(R, convert):
    X, y, groups = make_data()
    assert features_warned_of(make(R).fit(convert(X), y, groups)) == []
    X[3, 1] = X[7, 2] = np.nan  # what the constant feature is in one row decides nothing
    ranker = make(R, max_leaf_nodes=2).fit(convert(X), y, groups)
    used = np.flatnonzero(ranker.feature_importances_)
    assert 2 not in used
    expected = ["1"] if 1 in used else []
    assert features_warned_of(ranker) == expected
    assert_array_equal(ranker._binner.has_missing_, [False, True, True])


@each_ranker
def test_only_the_rounds_that_predict_uses_count(R):
    X, y, groups = make_data()
    X[3, :2] = np.nan
    ranker = make(R).fit(X, y, groups)
    ranker.best_iteration_ = 0
    assert features_warned_of(ranker) == []


@each_ranker
def test_rows_to_judge_by_and_later_fits_count(R):
    X, y, groups = make_data()
    with_missing = X.copy()
    with_missing[::10, :2] = np.nan  # one row of each query
    held_out = make(R).fit(X, y, groups, X_val=with_missing, y_val=y, groups_val=groups)
    assert held_out._binner.has_missing_.tolist() == [True, True, False]
    part = make(R, early_stopping=True, validation_fraction=0.3).fit(with_missing, y, groups)
    assert part._binner.has_missing_.tolist() == [True, True, False]
    later = make(R, warm_start=True, n_estimators=2).fit(X, y, groups)
    later.set_params(n_estimators=3).fit(with_missing, y, groups)
    later.set_params(n_estimators=4).fit(X, y, groups)
    assert later._binner.has_missing_.tolist() == [True, True, False]
    for ranker in (held_out, part, later):
        used = np.flatnonzero(ranker.feature_importances_).astype(str).tolist()
        assert used
        assert features_warned_of(ranker) == used


def test_rows_of_no_weight_do_not_count():
    X, y, groups = make_data()
    X[:10, 0] = np.nan
    ranker = make(RankBoost).fit(X, y, groups, query_weight=(groups > 0).astype(float))
    assert not ranker._binner.has_missing_.any()


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y, groups = make_data()
    X[3, :2] = np.nan
    frame = pd.DataFrame(X, columns=["bm25", "age", "none"])
    ranker = make(RegressionRanker).fit(frame, y, groups)
    assert features_warned_of(ranker) == ["bm25", "age"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    y = np.argsort(np.argsort(X.sum(axis=1))) // 20
    X[0] = np.nan
    ranker = make(RegressionRanker, n_estimators=60, max_features=0.1).fit(X, y, groups)
    assert ranker.feature_importances_.all()
    with pytest.warns(UserWarning, match=r"training: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more\."):
        to_ranklib_xml(ranker)


@each_ranker
def test_stored_models_know_it(R):
    X, y, groups = make_data()
    X[3, :2] = np.nan
    ranker = make(R).fit(X, y, groups)
    data = json.loads(json.dumps(to_dict(ranker)))
    assert data["missing"] == [0, 1]
    again = from_dict(data)
    assert features_warned_of(again) == features_warned_of(ranker) != []
    del data["missing"]
    unknown = from_dict(data)
    assert "missing" not in to_dict(unknown)
    with pytest.warns(UserWarning, match="It is not known whether|in training: "):
        to_ranklib_xml(unknown)
    unknown.best_iteration_ = 0
    assert features_warned_of(unknown) == []


def test_a_split_that_only_missing_values_pass_proves_them():
    X = [[np.nan], [1.0], [1.0]]
    data = to_dict(RankBoost(n_estimators=1).fit(X, [1, 0, 0], np.zeros(3)))
    del data["missing"]
    assert features_warned_of(from_dict(data)) == ["0"]


@pytest.mark.parametrize("max_bins", [4, 300])
def test_codes_tell_of_missing_values(max_bins):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25_000, 11))
    X[24_999, 10] = X[0, 0] = X[12_345, 7] = np.nan
    rows = np.arange(len(X))
    binner = Binner(max_bins).fit(X, rows)
    assert not binner.has_missing_.any()
    binner.note_missing(binner.transform(X, rows))
    assert np.flatnonzero(binner.has_missing_).tolist() == [0, 7, 10]
    binner.note_missing(binner.transform(X[5:10], rows[:5]))
    assert np.flatnonzero(binner.has_missing_).tolist() == [0, 7, 10]


def test_shape_functions_show_missing_values_of_training():
    plt = pytest.importorskip("matplotlib.pyplot")
    from sklearn_ltr.plotting import ShapeFunctionsDisplay

    X, y, groups = make_data()
    X[3, 1] = np.nan
    ranker = MPBoost(n_estimators=10).fit(X, y, groups)
    complete = X[~np.isnan(X).any(axis=1)]
    for rows in (None, complete):
        display = ShapeFunctionsDisplay.from_estimator(ranker, rows, features=[0, 1])
        assert display.missing_lines_[0] is None
        at = display.missing_lines_[1].get_ydata()
        assert_array_equal(at, ranker.shape_function(1)[1][-1])
        plt.close(display.figure_)
