# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Finite numbers, however large, small or lopsided, for every ranker, metric, loss and scaler.

Either a finite result or a ValueError that names the argument; never NaN, never a constant model
without a word, never a loop that does not end.
"""

import faulthandler
import inspect
import re
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from every_ranker import (
    RANKERS,
    allows_nan,
    allows_sparse,
    always_draws,
    each_ranker,
    has,
    make,
    takes_margins,
    takes_preferences,
    takes_sample_weight,
    variants,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.preprocessing import StandardScaler
from strategies import examples

from sklearn_ltr import (
    AdaRank,
    FeatureRank,
    LambdaMART,
    LambdaRank,
    ListNet,
    RankSVM,
    SingleFeatureRanker,
    losses,
)
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.metrics import get_metric, misordering_rate, ndcg_score, pair_precision_score
from sklearn_ltr.metrics.registry import METRICS
from sklearn_ltr.preprocessing import QueryScaler

LARGEST = np.finfo(np.float64).max  # what nan_to_num makes of infinities
SECONDS = 120  # after which a problem counts as one that does not end

# What names an argument, a parameter, or what is the matter with the queries.
NAMED = re.compile(r"`\w+`|`(groups|scoring)|[Nn]o query|queries|is undefined|Input X|feature")

MAGNITUDES = [0.0, 5e-324, 1e-310, 1e-160, 1e-17, 1.0, 3.0, 1e17, 1e154, 1e300, LARGEST]


@contextmanager
def limited():
    """End the process with a traceback where a problem takes too long: no signal reaches a loop."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def signed(number):
    return number | number.map(lambda x: -x)


ANY = st.floats(allow_nan=False, allow_infinity=False)
SIZES = st.sampled_from(MAGNITUDES) | st.integers(-320, 308).map(lambda k: float(f"1e{k}"))
# Kinds of columns: all sizes; one size; small whole numbers; neighbouring floats; one that is off.
NUMBERS = {
    "any": ANY,
    "sizes": signed(SIZES),
    "whole": st.integers(0, 3).map(float),
    "neighbours": st.integers(0, 3).map(lambda k: 1 + k * 2.0**-52),
}


@st.composite
def columns(draw, n, positive=False):
    kind = draw(st.sampled_from([*NUMBERS, "scaled", "off"]))
    numbers = NUMBERS.get(kind, NUMBERS["whole"])
    values = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
    if kind == "scaled":
        with np.errstate(over="ignore"):
            values = np.nan_to_num(values * draw(SIZES))
    if kind == "off":
        values[draw(st.integers(0, n - 1))] = draw(SIZES)
    return np.abs(values) if positive else values


@st.composite
def problems(draw):
    """Rows of features, grades, ids, and weights or None."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    n = len(groups)
    X = np.column_stack([draw(columns(n)) for _ in range(draw(st.integers(1, 3)))])
    y = draw(columns(n, positive=draw(st.booleans())))
    weight = None
    if draw(st.booleans()):
        weight = draw(columns(len(sizes), positive=True))[groups]
    return X, y, groups, weight


def assert_named(error):
    assert NAMED.search(str(error)), error


def fit_and_predict(R, params, problem):
    """Check that a fit and what follows are numbers, or an error that names what is wrong."""
    X, y, groups, weight = problem
    arguments = {"y": y, "groups": groups, "query_weight": weight}
    if weight is not None and takes_sample_weight(R):
        arguments["sample_weight"] = np.roll(weight, 1)
    if weight is not None and takes_preferences(R) and len(y) % 2:
        first = np.flatnonzero(groups[1:] == groups[:-1])
        pairs = np.column_stack([first, first + 1])
        arguments |= {"y": None, "preferences": pairs, "preference_weight": weight[first]}
        if takes_margins(R) and len(y) % 3:
            arguments["preference_margin"] = np.roll(weight, 2)[first]
    with warnings.catch_warnings(), limited():
        # What says that a fit is poor is no fault; a warning of NumPy's would be one.
        for category in (ConvergenceWarning, UndefinedMetricWarning, ConstantModelWarning):
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", message="The training loss rose")
        try:
            model = make(R, **params).fit(X, **arguments)
            scores = model.predict(X)
            of_others = model.predict(X[:, ::-1])
        except (ValueError, TypeError) as error:
            assert_named(error)
            return
    assert np.isfinite(scores).all()
    assert np.isfinite(of_others).all()
    for name in ("coef_", "feature_importances_", "validation_score_"):
        assert np.isfinite(getattr(model, name, 0)).all(), name


VARIANTS = [parameters.values for parameters in variants()]


@examples(150)
@given(st.sampled_from(VARIANTS), problems())
def test_rankers_on_any_numbers(variant, problem):
    fit_and_predict(*variant, problem)


@pytest.mark.slow
@examples(1000)
@given(st.sampled_from(VARIANTS), problems())
def test_rankers_on_many_problems(variant, problem):
    fit_and_predict(*variant, problem)


@examples(100)
@given(problems(), st.data())
def test_metrics_on_any_numbers(problem, data):
    X, y, groups, weight = problem
    with warnings.catch_warnings(), limited():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for label, Metric in METRICS.items():
            names = inspect.signature(Metric).parameters
            name, switches = f"{label}@2" if "k" in names else label, {}
            if "gain" in names:
                switches["gain"] = data.draw(st.sampled_from(["exponential", "linear"]))
            if "max_grade" in names:
                switches["max_grade"] = float(y.max())
            for scores in (X[:, 0], y, -y):
                try:
                    metric = get_metric(name, **switches)
                    value = metric(y, scores, groups=groups, query_weight=weight)
                    values = metric(y, scores, groups=groups, per_query=True).values
                except ValueError as error:
                    assert_named(error)
                    continue
                assert not np.isinf(value), metric
                assert np.isnan(value) == np.isnan(values).all() or weight is not None, metric
        for metric in (misordering_rate, pair_precision_score):
            assert not np.isinf(metric(y, X[:, 0], groups=groups)), metric


@examples(100)
@given(problems(), st.sampled_from(losses.__all__))
def test_losses_at_any_numbers(problem, name):
    X, y, groups, _ = problem
    offsets = np.r_[0, np.cumsum(np.bincount(groups))]
    loss = getattr(losses, name)()
    with limited():
        for method in ("value", "gradient", "curvature"):
            try:
                assert np.isfinite(getattr(loss, method)(y, X[:, 0], offsets)).all()
            except ValueError as error:
                assert_named(error)


@examples(100)
@given(problems(), st.sampled_from(["minmax", "standard"]))
def test_scaling_any_numbers(problem, method):
    X, _, groups, _ = problem
    scaled = QueryScaler(method).fit_transform(X, groups=groups)
    assert np.isfinite(scaled).all()
    # No further apart than it is wide, whatever the method.
    for q in np.unique(groups):
        order = np.argsort(X[groups == q, 0])
        assert (np.diff(scaled[groups == q, 0][order]) >= 0).all()


# --- Cells that are far off ----------------------------------------------------------------------


def make_rows(n_queries=20, size=6):
    """Rows with a column that tells all."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_queries * size).astype(float)
    X = rng.normal(size=(len(y), 3))
    X[:, 1] = y + 0.25
    return X, y, np.repeat(np.arange(n_queries), size)


@each_ranker
@pytest.mark.parametrize("cell", [1e155, 1e170, LARGEST, -LARGEST])
def test_one_cell_far_off(R, cell):
    """Rankers that compare features only do not mind; others name the feature and the row."""
    X, y, groups = make_rows()
    X[7, 2] = cell
    model = make(R, binning="quantile")
    if R._computes_with_features:
        with pytest.raises(ValueError, match=r"`X` has .* at row 7 of feature 2"):
            model.fit(X, y, groups=groups)
    else:
        assert ndcg_score(y, model.fit(X, y, groups=groups).predict(X), groups) > 0.99


@each_ranker
def test_the_feature_is_named(R):
    if not R._computes_with_features:
        pytest.skip("takes features of any size")
    pd = pytest.importorskip("pandas")
    X, y, groups = make_rows()
    X[7, 2] = 1e200
    frame = pd.DataFrame(X, columns=["bm25", "length", "clicks"])
    with pytest.raises(ValueError, match="'clicks'"):
        make(R).fit(frame, y, groups=groups)
    X[:, 2] = np.where(X[:, 2] > 0, 1e-200, 0)
    with pytest.raises(ValueError, match=r"1e-200 at row \d+ of feature 2.*too small"):
        make(R).fit(X, y, groups=groups)
    if allows_sparse(R):
        with pytest.raises(ValueError, match=r"1e-200 at row \d+ of feature 2.*too small"):
            make(R).fit(sparse.csr_array(X), y, groups=groups)


@each_ranker
@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-50, 1e50, 1e300])
def test_columns_of_any_size(R, size):
    """A column that tells all does so in any unit, for rankers that compare features only."""
    X, y, groups = make_rows()
    X[:, 1] = np.ceil(X[:, 1]) * size
    if R._computes_with_features:
        pytest.skip("features count by their size")
    scores = make(R, binning="quantile").fit(X, y, groups=groups).predict(X)
    assert ndcg_score(y, scores, groups) > 0.99


@each_ranker
def test_predictions_far_from_the_training_rows(R):
    X, y, groups = make_rows()
    model = make(R).fit(X, y, groups=groups)
    X[5] = [LARGEST, -LARGEST, LARGEST]
    message, scores = "", np.zeros(1)
    try:
        scores = model.predict(X)
    except ValueError as error:
        message = str(error)
    assert np.isfinite(scores).all()
    assert message == "" or re.match("The score of row 5 of `X` overflows", message)
    if not R._computes_with_features and R is not SingleFeatureRanker:
        assert message == ""


@each_ranker
def test_features_that_are_tiny_where_there_is_something_to_learn(R):
    X = np.r_[np.zeros(7), 1e-160, 1e-17].reshape(-1, 1)
    y, groups = np.r_[np.zeros(7), 1, 0], [0, 1, 2, 2, 2, 2, 2, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(make(R).fit(X, y, groups=groups).predict(X)).all()


# --- Grades --------------------------------------------------------------------------------------


@each_ranker
@pytest.mark.parametrize("size", [1e-300, 1e300, LARGEST / 2])
def test_grades_beyond_computing(R, size):
    X, y, groups = make_rows()
    with pytest.raises(ValueError, match=r"grades? .*`y`|`y` has the grade"):
        make(R).fit(X, size * y, groups=groups)


@each_ranker
@pytest.mark.parametrize("size", [1e-17, 1e-5])
def test_small_grades(R, size):
    X, y, groups = make_rows()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = make(R).fit(X, size * y, groups=groups).predict(X)
    if np.ptp(scores) == 0:
        assert any(w.category is ConstantModelWarning for w in caught)
    else:
        assert ndcg_score(y, scores, groups) > 0.95


def test_small_gains():
    """The difference 2^y - 1 of small grades keeps its digits."""
    assert ndcg_score([3e-16, 1e-16, 0], [1, 3, 2]) == pytest.approx(0.688529, abs=1e-6)
    assert ndcg_score([2e-17, 1e-17, 0], [1, 3, 2]) == pytest.approx(0.760188, abs=1e-6)
    LambdaMART(min_samples_leaf=1).fit([[0.0], [1.0]], [0, 1e-17], groups=[0, 0])


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("size", [5e-324, 1e-320, 1e-310, 1e-200, 1e-17])
def test_gains_of_any_size(gain, size):
    """NDCG is a ratio: of denormal gains, too, and whatever other queries have."""
    y = np.array([3.0, 1.0, 0.0])
    expected = ndcg_score(y, [1, 3, 2], gain="linear")
    ours = ndcg_score(size * y, [1, 3, 2], gain=gain)
    assert ours == pytest.approx(expected, rel=0.35 if size < 1e-323 else 1e-3)
    both = ndcg_score(
        np.r_[size * y, 1000 * y / 3], [1, 3, 2, 3, 2, 1], groups=[0] * 3 + [1] * 3, gain=gain
    )
    assert both == (ours + 1) / 2


# --- Weights -------------------------------------------------------------------------------------


@each_ranker
@pytest.mark.parametrize("size", [2.0**-1060, 2.0**-700, 2.0**900])
def test_the_size_of_weights_says_nothing(R, size):
    """Only their ratios count; rows may come in another order, by which last digits differ."""
    if getattr(make(R), "_uses_lbfgs", lambda: True)() is False:
        pytest.skip("takes batches of queries, whose order is by their content")
    X, y, groups = make_rows()
    weight = np.random.default_rng(1).integers(1, 9, 20)[groups].astype(float)
    model = make(R).fit(X, y, groups=groups, query_weight=weight)
    scaled = make(R).fit(X, y, groups=groups, query_weight=size * weight)
    if always_draws(R):  # then by the size of weights, too
        assert ndcg_score(y, scaled.predict(X), groups) > 0.95
    else:
        assert_allclose(scaled.predict(X), model.predict(X), rtol=1e-5, atol=1e-5)
    assert model.score(X, y, groups=groups, query_weight=weight) == model.score(
        X, y, groups=groups, query_weight=size * weight
    )


@each_ranker
def test_products_of_weights_of_any_size(R):
    X, y, groups = make_rows()
    weight = np.random.default_rng(1).integers(1, 9, 20)[groups].astype(float)
    model = make(R).fit(X, y, groups=groups)
    expected = model.score(X, y, groups=groups, query_weight=weight)
    for size in (2.0**-1000, 2.0**1000):
        found = model.score(
            X, y, groups=groups, query_weight=size * weight, sample_weight=np.full(len(y), size)
        )
        assert found == expected


@each_ranker
def test_lopsided_weights(R):
    """A query of next to no weight changes next to nothing, but is one of those of some weight."""
    X, y, groups = make_rows()
    weight = np.where(groups == 3, 5e-324, LARGEST)
    model = make(R).fit(X, y, groups=groups, query_weight=weight)
    assert model.n_queries_ == 20
    assert ndcg_score(y, model.predict(X), groups) > 0.95


@each_ranker
def test_a_sample_of_queries_of_next_to_no_weight(R):
    if not has(R, "subsample"):
        pytest.skip("samples no queries")
    X, y, groups = make_rows(n_queries=4)
    weight = np.where(groups == 1, 1e15, 2e-309)
    for seed in range(8):
        model = make(R, subsample=0.5, random_state=seed)
        model.fit(X, y, groups=groups, query_weight=weight)
        assert np.isfinite(model.predict(X)).all()


@each_ranker
@pytest.mark.parametrize("size", [5e-324, 1e-130, 1e130, LARGEST])
def test_weights_of_rows_beyond_computing(R, size):
    if not takes_sample_weight(R):
        pytest.skip("takes no weights of rows")
    X, y, groups = make_rows()
    with pytest.raises(ValueError, match=r"`sample_weight`, .* must be between"):
        make(R).fit(X, y, groups=groups, sample_weight=np.full(len(y), size))


# --- Models that say nothing ---------------------------------------------------------------------


@each_ranker
@pytest.mark.filterwarnings("ignore:RegressionRanker found")  # as a member of a blend
def test_constant_features_are_told(R):
    X, y, groups = make_rows()
    match = f"{R.__name__} found nothing to rank by"
    with pytest.warns(ConstantModelWarning, match=match) as caught:
        make(R).fit(np.ones_like(X), y, groups=groups)
    assert caught[0].filename == __file__


@each_ranker
def test_weights_that_no_leaf_is_enough_for(R):
    if not (takes_sample_weight(R) and has(R, "min_samples_leaf")):
        pytest.skip("rows do not count by their weights")
    X, y, groups = make_rows()
    with pytest.warns(ConstantModelWarning, match="`sample_weight`"):
        make(R).fit(X, y, groups=groups, sample_weight=np.full(len(y), 1 / len(y)))


# --- As reported ---------------------------------------------------------------------------------

FAR = [
    (LambdaRank, [[0.0], [1.0], [LARGEST]], [0, 1, 0]),
    (FeatureRank, [[LARGEST]] * 4, [1, 1, 0, 0]),
    (ListNet, [[0.0, 0], [1, LARGEST], [0, 0]], [0, 1, 0]),
    (RankSVM, [[0.0], [1e160]], [0, 1]),
    (AdaRank, [[0.0], [1.0], [LARGEST]], [0, 1, 0]),
]


@pytest.mark.parametrize(("R", "X", "y"), FAR, ids=lambda x: getattr(x, "__name__", ""))
def test_features_that_are_refused(R, X, y):
    with limited(), pytest.raises(ValueError, match="feature"):
        R().fit(X, y, groups=[0] * len(y))


def test_steps_that_are_too_long_are_told():
    """Features so small that the penalty of their weights is all there is to the loss."""
    X, y, groups = make_rows()
    match = r"loss rose from .* Scale the features"
    with pytest.warns(ConvergenceWarning, match=match) as caught:
        LambdaRank(max_iter=20).fit(1e-30 * X, y, groups=groups)
    assert caught[0].filename == __file__


def test_warnings_of_fits_name_the_line_of_the_caller():
    X, y, groups = make_rows()
    for ranker in (RankSVM(max_iter=1, tol=1e-14), ListNet(max_iter=1)):
        with pytest.warns(ConvergenceWarning) as caught:
            ranker.fit(X, y, groups=groups)
        assert caught[0].filename == __file__


def test_a_line_search_that_cannot_see_its_steps_ends():
    """Features of sizes that are 33 digits apart: a step of one cannot be added to the other."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(6), 6)
    y = rng.integers(0, 3, len(groups)).astype(float)
    X = np.column_stack([1e31 * (y + 0.25), 1e-3 * rng.normal(size=len(y))])
    with limited(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for loss in ("hinge", "squared_hinge"):
            model = RankSVM(loss=loss).fit(X, y, groups=groups)
            assert np.isfinite(model.coef_).all()


@each_ranker
def test_float32_is_no_narrower(R):
    X, y, groups = make_rows()
    X[:, 2] *= 1e37
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(R).fit(X.astype(np.float32), y, groups=groups)
    assert np.isfinite(model.predict(X.astype(np.float32))).all()


def test_scaling_is_right_at_any_size():
    x = np.array([[-LARGEST], [0.0], [LARGEST]])
    groups = [0, 0, 0]
    assert_allclose(QueryScaler().fit_transform(x, groups=groups).ravel(), [0, 0.5, 1])
    tiny = np.array([[5e-324], [0.0], [1e-323]])
    assert_allclose(QueryScaler().fit_transform(tiny, groups=groups).ravel(), [0.5, 0, 1])
    standard = StandardScaler().fit_transform([[0.0], [1.0], [2.0]])
    for column in (x, np.sort(tiny, axis=0)):
        ours = QueryScaler("standard").fit_transform(column, groups=groups)
        assert_allclose(ours, standard)


def test_every_ranker_says_whether_it_computes_with_features():
    """So that a new one is tested as what it is."""
    for R in RANKERS:
        assert isinstance(R._computes_with_features, bool)
        assert not (R._computes_with_features and allows_nan(R)), R
