# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers judged on folds: what is chosen by the validation part, what the test part says."""

from itertools import islice

import numpy as np
from _harness import row, timed
from joblib import Parallel, delayed
from scipy.stats import ttest_rel
from sklearn.linear_model import LinearRegression

from sklearn_ltr.metrics import get_metric

NDCG = get_metric("ndcg@10", undefined="skip")


def fit_ranker(ranker, train, validation=None, **params):
    """Fit a ranker, which notes what it achieves on the validation part; returns seconds."""
    if validation is not None:
        params |= {
            "X_val": validation.X,
            "y_val": validation.y,
            "groups_val": validation.groups,
        }
    return timed(ranker.fit, train.X, train.y, groups=train.groups, **params)[0][0]


def best_round(curve):
    """The round of the highest value: the first of equals."""
    return int(np.argmax(curve)) + 1


def scores_after(ranker, X, n_rounds):
    return next(islice(ranker.staged_predict(X), n_rounds - 1, None))


def fit_by_validation(ranker, fold):
    """The rounds that the validation part chooses, test scores after them, seconds of the fit."""
    seconds = fit_ranker(ranker, fold.train, fold.validation)
    n_rounds = best_round(ranker.validation_score_)
    return n_rounds, scores_after(ranker, fold.test.X, n_rounds), seconds


def fit_all(function, names, folds, n_jobs=2):
    """``function(fold, name)`` of each name and fold, in processes; lists by name."""
    tasks = [(name, fold) for name in names for fold in folds]
    done = iter(Parallel(n_jobs=n_jobs)(delayed(function)(fold, name) for name, fold in tasks))
    return {name: list(islice(done, len(folds))) for name in names}


def query_values(metric, part, scores):
    """Values of the queries; NaN where undefined, which depends on the grades alone."""
    return metric(part.y, scores, part.groups, per_query=True).values


def evaluate(folds, scores, metrics):
    """Values of the test queries of each fold, by metric."""
    return {
        name: [query_values(metric, fold.test, s) for fold, s in zip(folds, scores, strict=True)]
        for name, metric in metrics.items()
    }


def mean(values):
    """The mean over folds of the mean over queries, as LETOR does it."""
    return float(np.mean([np.nanmean(of_fold) for of_fold in values]))


def means(values):
    return {name: mean(of_metric) for name, of_metric in values.items()}


def standard_error(values):
    values = values[~np.isnan(values)]
    return values.std(ddof=1) / np.sqrt(len(values))


def paired_test(first, second):
    """Mean difference over queries, its standard error, and p of the paired t-test."""
    known = ~np.isnan(first)
    first, second = first[known], second[known]
    if np.array_equal(first, second):
        return 0.0, 0.0, 1.0
    difference = first - second
    p = float(ttest_rel(first, second).pvalue)
    return difference.mean(), standard_error(difference), p


def least_squares(folds):
    return [
        LinearRegression().fit(fold.train.X, fold.train.y).predict(fold.test.X) for fold in folds
    ]


def metric_head(title, names):
    print()
    row(title, map(str.upper, names), 8, 28)


def metric_row(title, values, names):
    """A row of values by metric; those not known are dashes."""
    cells = [values.get(name, np.nan) for name in names]
    row(title, ["-" if np.isnan(cell) else f"{cell:.4f}" for cell in cells], 8, 28)
