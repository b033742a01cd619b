# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Boosted trees, ours and theirs, at equal settings: fits in processes of their own, and ratios.

Every contender gets the same rows, rounds, leaves, learning rate, least rows in a leaf and number
of bins, and neither row nor column sampling, early stopping or regularisation. Tasks are
"regression" on 2^y - 1, "classification" of the grades, and "lambdarank".

A fit starts at `X` as it is, so that binning is included; a prediction takes rows of other queries.
Each fit runs in a process of its own, which imports only what it needs. "Added" memory is the peak
of the fit less what the process had just before, with the training rows loaded.

Each repeat has data of its own: another draw, or for real data another split by query. Differences
of NDCG@10 are of equal data, so that what the draws differ in is not in their standard deviation.
"""

import tempfile
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
from _harness import in_child, installed, measure, row, save, spread
from scipy import sparse
from threadpoolctl import threadpool_limits

MAX_BINS = 255
MIN_SAMPLES_LEAF = 20

# Contenders -------------------------------------------------------------------------------------
#
# Each takes a `Namespace` of settings and imports its library, and returns fit(X, y, groups), which
# returns predict(X): scores for regression and lambdarank, probabilities of the grades for
# classification.


def sizes_of(groups):
    """Rows of each query, in the order of the file."""
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1], [True]]))
    if len(starts) != len(np.unique(groups)) + 1:
        raise ValueError("LightGBM and XGBoost need the rows of a query below one another.")
    return np.diff(starts)


def target(settings, y):
    return 2**y - 1 if settings.task == "regression" else y


def queries(settings, groups):
    """What LightGBM and XGBoost ask for where they rank."""
    return {"group": sizes_of(groups)} if settings.task == "lambdarank" else {}


def of_sklearn_ltr(settings, **params):
    import sklearn_ltr

    name = {
        "regression": "RegressionRanker",
        "classification": "McRank",
        "lambdarank": "LambdaMART",
    }[settings.task]
    ranker = getattr(sklearn_ltr, name)(
        n_estimators=settings.rounds,
        learning_rate=settings.learning_rate,
        max_leaf_nodes=settings.leaves,
        min_samples_leaf=MIN_SAMPLES_LEAF,
        max_bins=MAX_BINS,
        n_jobs=settings.n_threads,
        **params,
    )

    def fit(X, y, groups):
        ranker.fit(X, y, groups=groups)
        return ranker.predict  # expected grades, of McRank too

    return fit


def of_lightgbm(settings, **params):
    import lightgbm

    params |= {
        "regression": {"objective": "regression"},
        "classification": {"objective": "multiclass", "num_class": settings.n_grades},
        "lambdarank": {"objective": "lambdarank"},
    }[settings.task]
    params |= {
        "num_leaves": settings.leaves,
        "learning_rate": settings.learning_rate,
        "min_data_in_leaf": MIN_SAMPLES_LEAF,
        "max_bin": MAX_BINS,
        "metric": "none",
        "num_threads": settings.n_threads,
        "verbosity": -1,
    }

    def fit(X, y, groups):
        data = lightgbm.Dataset(X, target(settings, y), params=params, **queries(settings, groups))
        booster = lightgbm.train(params, data, settings.rounds)
        return lambda X: booster.predict(X, num_threads=settings.n_threads)

    return fit


def of_xgboost(settings):
    import xgboost

    objective = {
        "regression": {"objective": "reg:squarederror", "min_child_weight": MIN_SAMPLES_LEAF},
        "classification": {"objective": "multi:softprob", "num_class": settings.n_grades},
        "lambdarank": {"objective": "rank:ndcg", "lambdarank_pair_method": "topk"},
    }[settings.task]
    params = {
        **objective,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": settings.leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate,
        "reg_lambda": 0.0,
        "max_bin": MAX_BINS,
        "nthread": settings.n_threads,
        "verbosity": 0,
    }

    def fit(X, y, groups):
        data = xgboost.QuantileDMatrix(
            X,
            target(settings, y),
            max_bin=MAX_BINS,
            nthread=settings.n_threads,
            **queries(settings, groups),
        )
        return xgboost.train(params, data, settings.rounds).inplace_predict

    return fit


def of_catboost(settings):
    import catboost

    model = catboost.CatBoost(
        {
            "loss_function": "RMSE" if settings.task == "regression" else "MultiClass",
            "iterations": settings.rounds,
            "learning_rate": settings.learning_rate,
            "grow_policy": "Lossguide",
            "max_leaves": settings.leaves,
            "max_depth": 16,  # the most it allows
            "min_data_in_leaf": MIN_SAMPLES_LEAF,
            "border_count": MAX_BINS - 1,
            "boosting_type": "Plain",
            "bootstrap_type": "No",
            "random_strength": 0,
            "l2_leaf_reg": 0,
            "leaf_estimation_iterations": 1,
            "thread_count": settings.n_threads,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
    )
    kind = "RawFormulaVal" if settings.task == "regression" else "Probability"

    def fit(X, y, groups):
        model.fit(catboost.Pool(X, target(settings, y), thread_count=settings.n_threads))
        return lambda X: model.predict(X, prediction_type=kind, thread_count=settings.n_threads)

    return fit


def of_scikit_learn(settings):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    models = {
        "regression": HistGradientBoostingRegressor,
        "classification": HistGradientBoostingClassifier,
    }
    model = models[settings.task](
        max_iter=settings.rounds,
        learning_rate=settings.learning_rate,
        max_leaf_nodes=settings.leaves,
        min_samples_leaf=MIN_SAMPLES_LEAF,
        max_bins=MAX_BINS,
        early_stopping=False,
    )

    def dense(X):
        return X.toarray() if sparse.issparse(X) else X

    def fit(X, y, groups):
        with threadpool_limits(settings.n_threads):
            model.fit(dense(X), target(settings, y))
        return predict

    def predict(X):
        method = model.predict if settings.task == "regression" else model.predict_proba
        with threadpool_limits(settings.n_threads):
            return method(dense(X))

    return fit


# What makes the contender, and the distribution.
CONTENDERS = {
    "sklearn_ltr": (of_sklearn_ltr, "sklearn_ltr"),
    "sklearn_ltr, ordinal": (partial(of_sklearn_ltr, method="ordinal"), "sklearn_ltr"),
    "LambdaMART ndcg@10": (partial(of_sklearn_ltr, metric="ndcg@10"), "sklearn_ltr"),
    "LambdaMART ndcg": (partial(of_sklearn_ltr, metric="ndcg"), "sklearn_ltr"),
    "LightGBM": (of_lightgbm, "lightgbm"),
    "LightGBM, quantised": (partial(of_lightgbm, use_quantized_grad=True), "lightgbm"),
    "XGBoost": (of_xgboost, "xgboost"),
    "CatBoost": (of_catboost, "catboost"),
    "scikit-learn": (of_scikit_learn, "scikit-learn"),
}


def available(names):
    return [name for name in names if installed(CONTENDERS[name][1])]


# Fits -------------------------------------------------------------------------------------------


def run_child(settings):
    """Fit, predict and score one contender."""
    settings = Namespace(**settings)
    fit = CONTENDERS[settings.contender][0](settings)

    def fit_and_score(X, y, groups):
        predict = fit(X, y, groups)

        def scores(X, groups):
            found = predict(X)
            return found @ np.arange(found.shape[1]) if found.ndim == 2 else found

        return scores

    return measure(fit_and_score, settings.folder, settings.predictions)


def fit_in_child(folder, contender, predictions=3, **settings):
    """Figures of a fit to the parts in a folder; `settings` are those of the contenders."""
    n_grades = int(np.load(Path(folder, "train", "y.npy")).max()) + 1
    settings |= {"folder": str(folder), "contender": contender, "predictions": predictions}
    return in_child(run_child, settings | {"n_grades": n_grades})


def run_turns(make_parts, n_repeats, problems, begin):
    """Fit all contenders of all problems to the data of each repeat.

    Parameters
    ----------
    make_parts : callable
        ``make_parts(repeat)`` returns the training and the test part.
    problems : list of (dict, list)
        Settings, and the names of the contenders.
    begin : callable
        ``begin(train, test)`` is called with the parts of the first repeat.

    Returns
    -------
    results : list of dict
        Of each problem, the figures of each contender in each repeat.
    """
    results = [{name: [] for name in names} for _, names in problems]
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(n_repeats):
            train, test = make_parts(repeat)
            save(folder, "train", *train)
            save(folder, "test", *test)
            if repeat == 0:
                begin(train, test)
            del train, test
            for (settings, names), runs in zip(problems, results, strict=True):
                for name in names:
                    runs[name].append(fit_in_child(folder, name, **settings))
    return results


def print_table(results, ours, targets):
    """Figures of all contenders, and ratios of each of `ours` over the others.

    Parameters
    ----------
    results : dict of str to list of dict
    ours : list of str
    targets : dict of str to dict
        Of each peer the highest ratios wanted.
    """
    heads = ["fit s", "CPU s", "predict s", "peak MB", "added", "NDCG@10", "sd"]
    print()
    row("", heads)
    columns = {
        name: {key: np.array([run[key] for run in runs]) for key in runs[0]}
        for name, runs in results.items()
    }
    for name, values in columns.items():
        median = {key: np.median(v) for key, v in values.items()}
        cells = [f"{median[key]:.2f}" for key in ("fit", "cpu")] + [f"{median['predict']:.3f}"]
        cells += [f"{median[key]:.0f}" for key in ("peak", "added")]
        row(name, [*cells, f"{values['ndcg'].mean():.4f}", deviation(values["ndcg"])])
    heads = ["fit", "range", "CPU", "predict", "peak", "added", "NDCG -", "sd"]
    for one in ours:
        row(f"{one} over", heads)
        for name, theirs in columns.items():
            if name == one:
                continue
            ratios = {key: columns[one][key] / theirs[key] for key in theirs if key != "ndcg"}
            median = {key: np.median(ratio) for key, ratio in ratios.items()}
            cells = [f"{median[key]:.2f}" for key in ("fit", "cpu", "predict", "peak", "added")]
            cells.insert(1, spread(ratios["fit"]))
            difference = columns[one]["ndcg"] - theirs["ndcg"]
            cells += [f"{difference.mean():+.4f}", deviation(difference)]
            missed = [
                f"{key} (at most {most:g})"
                for key, most in targets.get(name, {}).items()
                if median[key] > most
            ]
            row(name, [*cells, f"  MISSED: {', '.join(missed)}" if missed else ""])


def deviation(values):
    return f"{values.std(ddof=1):.4f}" if len(values) > 1 else "-"
