# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is around a ranker: searches, frozen estimators and pipelines."""

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def unwrapped(estimator):
    """The estimator that a fitted search has found, or that is frozen, or the estimator itself."""
    while True:
        if isinstance(estimator, BaseSearchCV):
            check_is_fitted(estimator)
            if not estimator.refit:  # what an earlier fit has found may still be there
                raise ValueError(
                    f"{type(estimator).__name__} has refit=False, so that there is no fitted "
                    "ranker to export: fit its best_params_, or set refit=True."
                )
            estimator = estimator.best_estimator_
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        else:
            return estimator


def steps_of(pipeline):
    """Steps of a pipeline that do something, as (name, step)."""
    return [(n, unwrapped(s)) for n, s in pipeline.steps if s is not None and s != "passthrough"]


def _first(estimator):
    """What sees the columns as they are given."""
    estimator = unwrapped(estimator)
    while isinstance(estimator, Pipeline):
        estimator = steps_of(estimator)[0][1]
    return estimator


def estimator_columns(estimator):
    """The number of columns."""
    return _first(estimator).n_features_in_


def column_names(estimator):
    """Names of the columns; None if there are none."""
    names = getattr(_first(estimator), "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]
