# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
===========================================
Train, tune and compare rankers: quickstart
===========================================

A ranking data set has a row of features for each document, a grade of relevance ``y``, and a query
id for each row, ``groups``. A ranker learns scores that put the documents of a query into the right
order.

This example makes such a data set, tunes :class:`~sklearn_ltr.MPBoost` in a pipeline with
scikit-learn's own grid search, compares its four labels on queries held out, and looks into the
model. It takes less than a minute.
"""

# %%
# Data
# ----
# 300 queries, each with 10 to 40 documents of grade 0 to 4. Five of the features say something
# about relevance, five are mixtures of those, ten are noise. A quarter of the *queries* is held
# out: rows of one query must never be on both sides.

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import MPBoost
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.model_selection import train_test_split_queries
from sklearn_ltr.scorers import get_scorer

X, y, groups = make_ranking(
    n_queries=300, n_docs=(10, 40), n_features=20, n_informative=5, n_redundant=5, random_state=0
)
names = [f"{kind} {i}" for kind in ("informative", "redundant") for i in range(5)]
names += [f"noise {i}" for i in range(10)]

X_train, X_test, y_train, y_test, groups_train, groups_test = train_test_split_queries(
    X, y, groups=groups, test_size=0.25, random_state=0
)
print(f"{len(np.unique(groups_train))} queries ({len(y_train)} rows) to learn from,", end=" ")
print(f"{len(np.unique(groups_test))} queries ({len(y_test)} rows) to test on")

# %%
# Groups reach the ranker inside a pipeline, and the scorer inside a search, by metadata routing,
# which has to be switched on. Rankers and ranking scorers ask for groups by themselves, so that
# nothing else is needed.

sklearn.set_config(enable_metadata_routing=True)

# %%
# Tuning
# ------
# MPBoost labels a pair of documents with a distance between their grades. There are four kinds, and
# all but "binary", which ignores how much better a document is, have a parameter. With the paper's
# step distances should stay near 1: far above, steps overshoot; below, they are shorter, as with a
# small learning rate. So every kind gets the same learning rates to choose from; otherwise the
# comparison would be one of step lengths.
#
# (Stumps do not need scaled features. The scaler stands for whatever comes before the ranker.)

pipeline = make_pipeline(StandardScaler(), MPBoost(n_estimators=100))
parameters = {
    "binary": {},
    "linear": {"mpboost__alpha": [0.2, 0.4]},
    "logarithmic": {"mpboost__lam": [0.3, 1.0]},
    "logistic": {"mpboost__beta": [0.5, 1.0]},
}
grid = [
    {"mpboost__distance": [distance], "mpboost__learning_rate": [0.1, 0.3, 1.0], **values}
    for distance, values in parameters.items()
]

# %%
# ``GroupKFold`` keeps queries whole. The search runs two fits at a time, so each keeps to one
# thread, MPBoost's default; for a single large fit give ``MPBoost(n_jobs=2)`` instead. Either way
# the model is the same.

search = GridSearchCV(pipeline, grid, cv=GroupKFold(5), scoring=get_scorer("ndcg@10"), n_jobs=2)
search.fit(X_train, y_train, groups=groups_train)
print(f"\nBest of {len(search.cv_results_['params'])} settings:")
for name, value in search.best_params_.items():
    print(f"    {name} = {value}")
print(f"    NDCG@10 in cross-validation: {search.best_score_:.4f}")

# %%
# Comparison
# ----------
# For each kind of distance the setting with the best cross-validated NDCG@10 is fitted to all the
# training queries. The baseline sorts by a single feature, up or down, whichever is best on the
# training queries.

metrics = [get_metric(name) for name in ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")]


def best_column(X, y, groups):
    """Column and sign with the best NDCG@10."""
    candidates = [(k, sign) for k in range(X.shape[1]) for sign in (1, -1)]
    ndcg = get_metric("ndcg@10")
    return max(candidates, key=lambda c: ndcg(y, c[1] * X[:, c[0]], groups))


column, sign = best_column(X_train, y_train, groups_train)
scores = {f"feature '{names[column]}'": sign * X_test[:, column]}
chosen = {}
results = search.cv_results_
for distance in parameters:
    of_kind = [i for i, p in enumerate(results["params"]) if p["mpboost__distance"] == distance]
    chosen[distance] = results["params"][min(of_kind, key=lambda i: results["rank_test_score"][i])]
    ranker = clone(pipeline).set_params(**chosen[distance])
    ranker.fit(X_train, y_train, groups=groups_train)
    scores[distance] = ranker.predict(X_test)

print(f"\n{'On the held-out queries':<24}" + "".join(f"{m.name.upper():>10}" for m in metrics))
for name, score in scores.items():
    values = [metric(y_test, score, groups_test) for metric in metrics]
    print(f"{name:<24}" + "".join(f"{value:10.4f}" for value in values))

print("\nChosen:")
for distance, params in chosen.items():
    rest = {k.removeprefix("mpboost__"): v for k, v in params.items() if not k.endswith("distance")}
    print(f"    {distance:<12}" + ", ".join(f"{k} = {v}" for k, v in rest.items()))

# %%
# The model
# ---------
# ``best_estimator_`` is the best pipeline, fitted to all training queries. Importance is a
# feature's share in what all stumps lowered the loss by.

ranker = search.best_estimator_[-1]
print("\nMost important features:")
for k in np.argsort(-ranker.feature_importances_)[:7]:
    print(f"    {names[k]:<14}{ranker.feature_importances_[k]:.3f}")

# %%
# To rank the documents of a query, sort them by descending score.

rows = np.flatnonzero(groups_test == groups_test[0])
order = rows[np.argsort(-search.predict(X_test[rows]), kind="stable")]
print(f"\nGrades of one query's documents, best score first:\n    {y_test[order].astype(int)}")
