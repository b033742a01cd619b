# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker of the package and its variants, what they can do, and how fits are compared."""

import importlib
import inspect
import pkgutil
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sklearn_ltr
from sklearn_ltr import AdaRank, LambdaRank, RankSVM, RegressionRanker
from sklearn_ltr.base import BaseRanker, LinearRanker
from sklearn_ltr.scorefunction import ScoreFunctionRanker

# Columns of `make_data` that hold integers from 0 on.
CATEGORICAL = [1, 4]

# What a variant sets, where the ranker has the parameter; it is one of those that have the first.
VARIANTS = {
    "default": {},
    "early_stopping": {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 3},
    "few_bins": {"max_bins": 5},
    "all_bins": {"max_bins": None},
    "adaptive": {"binning": "adaptive", "max_bins": 5},
    "subsample": {"subsample": 0.5},
    "max_features": {"max_features": 0.5},
    "shallow": {"max_depth": 2, "l2_regularization": 1.0},
    "symmetric": {"grow_policy": "symmetric", "max_leaf_nodes": 8},
    "pairwise": {"interaction_cst": "pairwise", "max_leaf_nodes": 8},
    "categories": {"categorical_features": CATEGORICAL},
    "symmetric_categories": {
        "categorical_features": CATEGORICAL,
        "grow_policy": "symmetric",
        "max_leaf_nodes": 8,
    },
    "hidden_layer": {"hidden_layer_sizes": (3,)},
    "pairs_only": {"pair_weight": 1.0},
    "ties": {"tie_weight": 0.5},
    "margin": {"margin": 0.5},
    "uncertain": {"target_probability": 0.8},
    "unsmoothed": {"smoothing": 0.0},
    "map": {"metric": "map"},
    "all_pairs": {"all_pairs_weight": 1.0},
    "temperature": {"temperature": 0.25},
    "adam": {"solver": "adam"},
    "uncentred": {"center": False},
    "queries_alike": {"pair_weighting": "query"},
    "train": {"standardize": "train"},
    "chosen": {"standardize": "query", "weights": {"stumps": [0, 0.5, 2]}},
}
# Parameters that choose among algorithms, which are listed in the module of a ranker.
ALGORITHMS = (
    "step", "loss", "method", "target", "gain", "update", "init", "criterion", "probabilities",
)  # fmt: skip
# Variants that no other runs most of the code of; the tests of the rest are slow ones.
UNLIKE = ("default", "early_stopping", "adaptive", "symmetric", "categories", "hidden_layer")
PLURALS = {"loss": "LOSSES", "criterion": "CRITERIA", "probabilities": "PROBABILITIES"}


def find_rankers():
    """Every public ranker class of the package."""
    found = {}
    for info in pkgutil.walk_packages(sklearn_ltr.__path__, "sklearn_ltr."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if (
                inspect.isclass(value)
                and issubclass(value, BaseRanker)
                and not name.startswith("_")
                and value.__module__.startswith("sklearn_ltr.rankers.")
            ):
                found[value] = name
    return sorted(found, key=lambda R: R.__name__)


RANKERS = find_rankers()


def has(R, name):
    return name in inspect.signature(R).parameters


def make(R, **params):
    """A quick ranker, with `params` where it has them."""
    quick = {"n_estimators": 12, "min_samples_leaf": 2, "max_leaf_nodes": 5, "random_state": 0}
    if R is RankSVM and params.get("loss") != "hinge":  # which gets no closer than by default
        quick["tol"] = 1e-13  # so that what is left of the gap is not seen
        quick["C"] = 0.01  # times a sum over many pairs; more, and rounding keeps from that
    if R is AdaRank:
        quick["update"] = "adaboost"  # the paper's ends where one feature stays the best
    if R is LambdaRank:
        quick |= {"max_iter": 30, "learning_rate_init": 0.1}
    elif {"solver", "hidden_layer_sizes"} & params.keys():
        quick["max_iter"] = 20  # Adam's, which goes on to the last
    quick["min_samples_category"] = 2
    quick["estimators"] = [
        ("trees", RegressionRanker(n_estimators=12, min_samples_leaf=2, max_leaf_nodes=5)),
        ("stumps", RegressionRanker(n_estimators=20, min_samples_leaf=2, max_leaf_nodes=2)),
    ]
    quick |= params
    return R(**{name: value for name, value in quick.items() if has(R, name)})


def variants(quick=(), marks=()):
    """Every ranker with its default parameters, and others.

    Parameters
    ----------
    quick : collection of str
        Names of the variants without `marks`; "algorithms" are those by another algorithm.
    marks : mark
    """
    for R in RANKERS:
        names = {name: {} for name in ("default",)}
        names |= {name: p for name, p in VARIANTS.items() if p and has(R, next(iter(p)))}
        # Other algorithms behind one parameter, as the ranker's module lists them: STEPS, LOSSES...
        for name in ALGORITHMS:
            values = getattr(sys.modules[R.__module__], PLURALS.get(name, f"{name.upper()}S"), ())
            names |= {f"{name}={value}": {name: value} for value in values if has(R, name)}
        for name, params in names.items():
            among = ("algorithms" if "=" in name else name) in quick
            yield pytest.param(R, params, id=f"{R.__name__}-{name}", marks=() if among else marks)


def with_codes(X, params):
    """`X` with integers in the columns of categories, and `params` with those that it has."""
    if "categorical_features" not in params:
        return X, params
    columns = [k for k in params["categorical_features"] if k < X.shape[1]]
    X = X.copy()
    X[:, columns] = np.abs(np.rint(X[:, columns])) % 7
    return X, params | {"categorical_features": columns}


def allows_nan(R):
    return make(R).__sklearn_tags__().input_tags.allow_nan


def allows_sparse(R):
    return make(R).__sklearn_tags__().input_tags.sparse


def parameters(model):
    """All parameters, as they compare: of other estimators their repr, which shows theirs."""
    found = model.get_params()
    return found | {name: repr(value) for name, value in found.items() if _has_estimator(value)}


def _has_estimator(value):
    return hasattr(value, "get_params") or (isinstance(value, list) and value != [])


def learns_from_single_rows(R):
    """Pointwise rankers, which take `sample_weight`, and those with a pointwise part."""
    return takes_sample_weight(R) or mixes_labels_and_pairs(R)


def takes_sample_weight(R):
    return "sample_weight" in inspect.signature(R.fit).parameters


def takes_preferences(R):
    return "preferences" in inspect.signature(R.fit).parameters


def takes_margins(R):
    return "preference_margin" in inspect.signature(R.fit).parameters


def mixes_labels_and_pairs(R):
    """A ranker of both, which takes rows without a label, marked NaN."""
    return "pair_weight" in inspect.signature(R).parameters


def always_draws(R):
    """Rankers of a loss that draws for each row, by its place in an order of all that is known."""
    loss = getattr(make(R), "_loss", None)
    return loss is not None and loss().bound.draws


def functions_of_rows(R):
    """Public methods that make something of the rows of X alone."""
    for name, method in inspect.getmembers(R, inspect.isfunction):
        takes = [p for p in inspect.signature(method).parameters if p != "groups"]
        if takes == ["self", "X"] and not name.startswith("_"):
            yield name


def values(model, name, X):
    """What a method gives for each row: ndarray whose first axis are the rows."""
    result = getattr(model, name)(X)
    return np.array(list(result)).T if inspect.isgenerator(result) else result


def multiplies_matrices(R):
    """Rankers whose training multiplies matrices: by the BLAS, or by scipy if they are sparse.

    The last digits of what they learn depend on the format of X. Those of predictions do not.
    """
    return issubclass(R, LinearRanker | ScoreFunctionRanker)


def make_data(R=None, n_queries=30, seed=0):
    """Graded queries of 1 to 12 rows, rows interleaved, with ties, copies of rows, and NaN."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(1, 13, n_queries))
    n = len(groups)
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(0, 4, n),
            rng.choice([-1.0, 0.0, 0.5, 2.0], n),
            rng.normal(size=n) ** 3 * 1e3,
            rng.integers(0, 2, n),
        ]
    ).astype(float)
    noise = 0.6 * rng.normal(size=n)
    y = np.clip(np.round(X[:, 0] + 0.4 * X[:, 1] + noise), 0, 4)
    X[3:9] = X[3]  # rows that cannot be told apart, but for their grades
    y[4:6] = y[3]
    if R is not None and allows_nan(R):
        X[rng.random(X.shape) < 0.1] = np.nan
    order = rng.permutation(n)
    return X[order], y[order], groups[order]


def state(model):
    """All that a fit has found, as arrays that can be compared bit for bit."""
    names = (
        "train_loss_",
        "validation_score_",
        "feature_importances_",
        "coef_",
        "grades_",
        "centers_",
        "beta_",
        "weights_",
        "means_",
        "deviations_",
        "candidate_scores_",
    )
    found = {name: getattr(model, name) for name in names if hasattr(model, name)}
    for k, of_set in enumerate(getattr(model, "validation_history_", ())):
        found |= {f"{name} of set {k}": scores for name, scores in of_set.items()}
    names = ("n_iter_", "best_iteration_", "n_queries_", "n_queries_skipped_", "n_features_in_")
    return found | {name: getattr(model, name) for name in names if hasattr(model, name)}


def assert_alike(model, expected, X):
    """The same models, to the last bit unless training depends on the format of a matrix."""
    if multiplies_matrices(type(model)):
        atol = 1e-5 if getattr(model, "loss", None) == "hinge" else 1e-9
        assert_allclose(model.predict(X), expected.predict(X), rtol=1e-6, atol=atol)
    else:
        assert_same(model, expected, X)


def assert_same(model, expected, X, X_expected=None):
    """Bit-identical models."""
    first, second = state(model), state(expected)
    assert first.keys() == second.keys()
    for name in first:
        assert_array_equal(first[name], second[name], err_msg=name)
    X_expected = X if X_expected is None else X_expected
    assert_array_equal(model.predict(X), expected.predict(X_expected))


each_ranker = pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
each_variant = pytest.mark.parametrize(
    ("R", "params"), list(variants((*UNLIKE, "algorithms"), pytest.mark.slow))
)
# For what hardly depends on the parameters.
each_variant_if_slow = pytest.mark.parametrize(
    ("R", "params"), list(variants(("default",), pytest.mark.slow))
)
