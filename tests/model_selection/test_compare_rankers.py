# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
import builtins
from itertools import product

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from sklearn_ltr import MPBoost
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric, ndcg_score
from sklearn_ltr.model_selection import compare_rankers
from sklearn_ltr.preprocessing import QueryScaler

COLUMNS = [
    "first",
    "second",
    "difference",
    "ci_low",
    "ci_high",
    "t",
    "p_ttest",
    "p_ttest_holm",
    "p_randomization",
    "p_randomization_holm",
    "wins",
    "ties",
    "losses",
]
ALTERNATIVES = ["two-sided", "less", "greater"]


@pytest.fixture(scope="module")
def data():
    """Rows of 40 queries in random order, some queries without a relevant row."""
    X, y, groups = make_ranking(40, (4, 9), 12, n_grades=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, groups = X[order], y[order], groups[order]
    return X, np.where(groups % 10 == 3, 0, y), groups


@pytest.fixture(scope="module")
def scores(data):
    """Four score vectors, better and better."""
    _, y, _ = data
    noise = np.random.default_rng(1).normal(size=len(y))
    return {f"weight {w}": w * y + noise for w in (0, 1, 1.2, 3)}


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_ttest_and_interval_are_scipys(alternative, data, scores):
    _, y, groups = data
    result = compare_rankers(
        scores, y=y, groups=groups, alternative=alternative, n_resamples=99, random_state=0
    )
    pairs = result.pairs
    assert list(pairs.columns) == COLUMNS
    names = list(scores)
    expected = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    assert list(zip(pairs["first"], pairs["second"], strict=True)) == expected
    for pair in pairs.itertuples():
        a, b = result.values[pair.first], result.values[pair.second]
        test = stats.ttest_rel(a, b, alternative=alternative)
        interval = test.confidence_interval(0.95)
        assert pair.difference == pytest.approx(a.mean() - b.mean(), rel=1e-12)
        assert pair.t == pytest.approx(test.statistic, rel=1e-9)
        assert pair.p_ttest == pytest.approx(test.pvalue, rel=1e-9)
        assert pair.ci_low == pytest.approx(interval.low, rel=1e-9)
        assert pair.ci_high == pytest.approx(interval.high, rel=1e-9)
        assert (pair.wins, pair.losses) == ((a > b + 1e-9).sum(), (a < b - 1e-9).sum())
        assert pair.wins + pair.ties + pair.losses == len(result.query_ids)
    assert pairs["ties"].sum() > 0


def test_values_and_means(data, scores):
    _, y, groups = data
    result = compare_rankers(scores, y=y, groups=groups, n_resamples=9)
    relevant = [id for id in range(40) if y[groups == id].any()]
    assert len(relevant) < 40
    np.testing.assert_array_equal(result.query_ids, relevant)
    assert list(result.values.index) == relevant
    for name, score in scores.items():
        expected = ndcg_score(y, score, k=10, groups=groups, per_query=True)
        np.testing.assert_array_equal(result.values[name], expected.values[relevant])
        assert result.means[name] == pytest.approx(
            ndcg_score(y, score, k=10, groups=groups), rel=1e-12
        )
    counted = get_metric("ndcg@10", undefined=0)
    result = compare_rankers(scores, y=y, groups=groups, metric=counted, n_resamples=9)
    assert len(result.query_ids) == 40
    text = repr(result)
    assert text.startswith("40 queries; means\n")
    assert "p_rand" in text or "..." in text


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n_queries", [2, 6, 9])
def test_randomisation_of_few_queries_is_exact(n_queries, alternative, data, scores):
    _, y, groups = data
    kept = np.isin(groups, np.unique(groups[y > 0])[:n_queries])
    some = {name: score[kept] for name, score in scores.items()}
    result = compare_rankers(some, y=y[kept], groups=groups[kept], alternative=alternative)
    assert len(result.query_ids) == n_queries
    for pair in result.pairs.itertuples():
        d = (result.values[pair.first] - result.values[pair.second]).to_numpy()
        # Brute force, and scipy's.
        sums = np.array([np.dot(signs, d) for signs in product([1, -1], repeat=n_queries)])
        more, less = np.mean(sums >= d.sum() - 1e-12), np.mean(sums <= d.sum() + 1e-12)
        both = np.mean(np.abs(sums) >= abs(d.sum()) - 1e-12)
        expected = {"two-sided": both, "less": less, "greater": more}[alternative]
        assert pair.p_randomization == expected
        test = stats.permutation_test(
            (d,), np.mean, permutation_type="samples", alternative=alternative
        )
        assert pair.p_randomization == pytest.approx(test.pvalue, abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_randomisation_by_resamples(alternative, data, scores):
    _, y, groups = data
    result = compare_rankers(
        scores, y=y, groups=groups, alternative=alternative, n_resamples=9999, random_state=0
    )
    for pair in result.pairs.itertuples():
        d = (result.values[pair.first] - result.values[pair.second]).to_numpy()
        test = stats.permutation_test(
            (d,),
            lambda x, axis: x.mean(axis=axis),
            permutation_type="samples",
            alternative=alternative,
            n_resamples=9999,
            rng=np.random.default_rng(0),
        )
        # Both are binomial proportions.
        spread = np.sqrt(test.pvalue * (1 - test.pvalue) / 10000)
        assert pair.p_randomization == pytest.approx(test.pvalue, abs=8 * spread + 2e-4)
    assert (result.pairs["p_randomization"] >= 1e-4).all()
    again = compare_rankers(
        scores, y=y, groups=groups, alternative=alternative, n_resamples=9999, random_state=0
    )
    assert again.pairs.equals(result.pairs)


def test_order_of_rows_names_of_queries_and_other_rankers_make_no_difference(data, scores):
    _, y, groups = data
    expected = compare_rankers(scores, y=y, groups=groups, n_resamples=999, random_state=0)
    order = np.random.default_rng(3).permutation(len(y))
    result = compare_rankers(
        {name: scores[name][order].tolist() for name in list(scores)[::3]},
        y=y[order].tolist(),
        groups=[("query", -int(id)) for id in groups[order]],
        n_resamples=999,
        random_state=0,
    )
    assert set(result.query_ids) == {("query", -id) for id in expected.query_ids}
    assert list(result.values.index) == list(result.query_ids)
    one = expected.pairs[(expected.pairs["first"] == "weight 0")].iloc[2]
    for name in ("difference", "ci_low", "t", "p_ttest", "p_randomization", "wins", "ties"):
        assert result.pairs[name][0] == pytest.approx(one[name], rel=1e-12)
    assert result.pairs["p_randomization"][0] == one["p_randomization"]


def test_holm_by_hand(data, scores):
    """The least of m p-values times m, the next times m - 1, ..., never falling, at most 1."""
    _, y, groups = data
    pairs = compare_rankers(scores, y=y, groups=groups, n_resamples=999, random_state=0).pairs
    for name in ("p_ttest", "p_randomization"):
        p = pairs[name].to_numpy()
        expected = [min(1, max((len(p) - np.sum(p < q)) * q for q in p if q <= own)) for own in p]
        np.testing.assert_allclose(pairs[f"{name}_holm"], expected, rtol=1e-12)
    assert (pairs["p_ttest_holm"] > pairs["p_ttest"]).any()


def test_holm_of_given_p_values():
    """.01, .04, .03, .005 give 4 * .005, 3 * .01, 2 * .03 and, as that is more than .04, .06."""
    from sklearn_ltr.model_selection.comparison import _holm

    np.testing.assert_allclose(_holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(_holm(np.array([0.4, 0.9])), [0.8, 0.9])
    np.testing.assert_allclose(_holm(np.array([0.7, 0.6, 0.2])), [1, 1, 0.6])
    np.testing.assert_array_equal(_holm(np.array([0.2])), [0.2])


def test_baseline(data, scores):
    _, y, groups = data
    result = compare_rankers(
        scores, y=y, groups=groups, baseline="weight 1", n_resamples=99, random_state=0
    )
    assert list(result.pairs["first"]) == ["weight 0", "weight 1.2", "weight 3"]
    assert set(result.pairs["second"]) == {"weight 1"}
    every = compare_rankers(scores, y=y, groups=groups, n_resamples=99, random_state=0).pairs
    same = every[(every["first"] == "weight 1") & (every["second"] == "weight 3")].iloc[0]
    opposite = result.pairs.iloc[2]
    assert opposite["difference"] == pytest.approx(-same["difference"])
    assert opposite["p_ttest"] == pytest.approx(same["p_ttest"], rel=1e-12)
    assert opposite["wins"] == same["losses"]


def test_equal_rankers(data, scores):
    """Equal scores, and scores that rank alike: p is 1, and nothing warns."""
    _, y, groups = data
    score = scores["weight 1"]
    for alternative in ALTERNATIVES:
        result = compare_rankers(
            {"a": score, "b": score.copy(), "c": np.exp(score)},
            y=y,
            groups=groups,
            alternative=alternative,
            n_resamples=99,
        )
        for name in ("p_ttest", "p_ttest_holm", "p_randomization", "p_randomization_holm"):
            assert (result.pairs[name] == 1).all()
        assert (result.pairs[["t", "difference", "wins", "losses"]] == 0).all(axis=None)
        assert (result.pairs["ties"] == len(result.query_ids)).all()


def test_one_query():
    """No variance: the t-test is undefined. The randomisation test has two choices."""
    rankers = {"a": [3, 2, 1], "b": [1, 2, 3], "c": [3, 2, 1]}
    result = compare_rankers(rankers, y=[2, 1, 0], groups=[7, 7, 7], alternative="greater")
    assert result.pairs[["t", "p_ttest", "p_ttest_holm", "ci_low"]].isna().all(axis=None)
    np.testing.assert_array_equal(result.pairs["p_randomization"], [0.5, 1, 1])


def test_differences_that_are_all_the_same():
    """The t statistic is infinite, or as good as."""
    groups = np.repeat(np.arange(8), 2)
    y = np.tile([0, 1], 8)
    result = compare_rankers({"a": y, "b": -y}, y=y, groups=groups)
    (pair,) = result.pairs.itertuples()
    assert pair.p_ttest < 1e-12
    assert pair.ci_low == pytest.approx(pair.difference)
    assert pair.p_randomization == 2 / 2**8


def test_estimators_of_all_kinds(data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), MPBoost(n_estimators=5))
        pipeline.fit(X, y, groups=groups)
        search = GridSearchCV(pipeline, {"mpboost__n_estimators": [5]}, cv=GroupKFold(2))
        search.fit(X, y, groups=groups)
        linear = LinearRegression().fit(X, y)
        result = compare_rankers(
            {
                "pipeline": pipeline,
                "search": search,
                "linear": linear,
                "scores": linear.predict(X),
            },
            X,
            y,
            groups,
            n_resamples=99,
        )
        expected = get_metric("ndcg@10")(y, pipeline.predict(X, groups=groups), groups=groups)
    assert result.means["pipeline"] == pytest.approx(expected, rel=1e-12)
    assert result.means["search"] == result.means["pipeline"]
    assert result.means["scores"] == result.means["linear"] != result.means["search"]


def test_rows_without_a_grade_are_left_out(data, scores):
    _, y, groups = data
    missing = np.arange(len(y)) % 3 == 0
    result = compare_rankers(scores, y=np.where(missing, np.nan, y), groups=groups, n_resamples=9)
    expected = compare_rankers(
        {name: score[~missing] for name, score in scores.items()},
        y=y[~missing],
        groups=groups[~missing],
        n_resamples=9,
    )
    np.testing.assert_allclose(result.means, expected.means, rtol=1e-12)


def test_without_pandas(data, scores, monkeypatch):
    _, y, groups = data
    kwargs = {"y": y, "groups": groups, "n_resamples": 99, "random_state": 0}
    expected = compare_rankers(scores, **kwargs)
    import_any = builtins.__import__

    def import_but_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return import_any(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", import_but_pandas)
    result = compare_rankers(scores, **kwargs)
    assert type(result.values) is type(result.means) is type(result.pairs) is dict
    assert list(result.pairs) == COLUMNS
    for name in COLUMNS:
        np.testing.assert_array_equal(result.pairs[name], expected.pairs[name])
    for name in scores:
        np.testing.assert_array_equal(result.values[name], expected.values[name])
        assert result.means[name] == expected.means[name]
    np.testing.assert_array_equal(result.query_ids, expected.query_ids)
    assert "weight 1.2" in repr(result)


def test_errors(data, scores):
    X, y, groups = data
    with pytest.raises(TypeError, match="must be a dict from names"):
        compare_rankers(list(scores.values()), y=y, groups=groups)
    with pytest.raises(TypeError, match="must be strings; got 1"):
        compare_rankers({1: y, "b": y}, y=y, groups=groups)
    with pytest.raises(ValueError, match=r"at least two rankers; got \['a'\]"):
        compare_rankers({"a": y}, y=y, groups=groups)
    with pytest.raises(ValueError, match="`baseline` must be one of"):
        compare_rankers(scores, y=y, groups=groups, baseline="MPBoost")
    with pytest.raises(ValueError, match="Ranker 'b' has 3 scores but there are"):
        compare_rankers({"a": y, "b": [1, 2, 3]}, y=y, groups=groups)
    with pytest.raises(ValueError, match=r"rankers\['b'\] contains NaN"):
        compare_rankers({"a": y, "b": np.where(y > 0, np.nan, 0)}, y=y, groups=groups)
    with pytest.raises(ValueError, match="`X` is None; ranker 'b' is an estimator"):
        compare_rankers({"a": y, "b": MPBoost()}, y=y, groups=groups)
    with pytest.raises(NotFittedError, match="MPBoost"):
        compare_rankers({"a": y, "b": MPBoost()}, X, y, groups)
    with pytest.raises(ValueError, match="`y` is None"):
        compare_rankers(scores, groups=groups)
    with pytest.raises(ValueError, match="`groups` is None"):
        compare_rankers(scores, y=y)
    with pytest.raises(ValueError, match="`groups` has 40 entries"):
        compare_rankers(scores, y=y, groups=np.bincount(groups))
    with pytest.raises(ValueError, match="no row has a positive gain, which is so in every query"):
        compare_rankers(scores, y=0 * y, groups=groups)
    with pytest.raises(ValueError, match="`alternative` must be one of"):
        compare_rankers(scores, y=y, groups=groups, alternative="larger")
    with pytest.raises(ValueError, match="n_resamples == 0"):
        compare_rankers(scores, y=y, groups=groups, n_resamples=0)
    with pytest.raises(ValueError, match="Unknown metric"):
        compare_rankers(scores, y=y, groups=groups, metric="r2")
