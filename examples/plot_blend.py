# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
===========================
A blend beside its members
===========================

Trees and linear functions make different mistakes. This example adds up the scores of both, lets
validation queries choose what the linear function weighs, and compares the blend with its members
on other queries. It takes some ten seconds and needs matplotlib.
"""

# %%
# Members
# -------
# 150 queries to learn from, 50 to choose a weight by, 200 to judge by. Two of the members are trees
# that learn by different losses; the third is a linear function of scaled features, a pipeline.

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import BlendedRanker, LambdaMART, LambdaRank, YetiRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.model_selection import compare_rankers, train_test_split_queries
from sklearn_ltr.plotting import MetricAtKDisplay

# Colours that are safe for colour blindness, and figures whose text can be read when shown small.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#000000"]
plt.rc("axes", prop_cycle=plt.cycler(color=COLORS))
plt.rc("figure", figsize=(5, 3.6))

X, y, groups = make_ranking(n_queries=400, n_docs=(10, 40), random_state=1)
X, X_test, y, y_test, groups, groups_test = train_test_split_queries(
    X, y, groups=groups, test_size=0.5, random_state=0
)
X, X_val, y, y_val, groups, groups_val = train_test_split_queries(
    X, y, groups=groups, test_size=0.25, random_state=0
)

trees = {"n_estimators": 100, "learning_rate": 0.1, "grow_policy": "symmetric", "random_state": 0}
members = [
    ("YetiRank", YetiRank(**trees)),
    ("LambdaMART", LambdaMART(**trees)),
    ("linear", make_pipeline(StandardScaler(), LambdaRank(random_state=0))),
]

# %%
# The weight of the linear function
# ---------------------------------
# Each candidate is tried on the validation queries, to which the members need not be fitted again.
# The others have weight 1.

candidates = [0, 0.25, 0.5, 1, 2, 4]
blend = BlendedRanker(members, weights={"linear": candidates})
blend.fit(X, y, groups=groups, X_val=X_val, y_val=y_val, groups_val=groups_val)
print("chosen:", blend.weights_)

fig, ax = plt.subplots(layout="constrained")
ax.plot([str(weight) for weight in candidates], blend.candidate_scores_, marker="o")
ax.set_xlabel("weight of the linear function")
ax.set_ylabel("NDCG@10, 50 validation queries")
ax.grid(alpha=0.3)
plt.show()

# %%
# On other queries
# ----------------
# The fitted members are in ``named_estimators_``.

rankers = {**blend.named_estimators_, "blend": blend}
fig, ax = plt.subplots(layout="constrained")
for (name, ranker), marker, style in zip(
    rankers.items(), "os^D", ("--", "-.", ":", "-"), strict=True
):
    MetricAtKDisplay.from_estimator(
        ranker, X_test, y_test, groups_test, ax=ax, name=name, marker=marker, linestyle=style
    )
ax.set_title("Mean over 200 test queries")
ax.legend(loc="lower right", fontsize="small")
ax.grid(alpha=0.3)
plt.show()

# %%
# Query by query: the mean difference of each member from the blend in NDCG@10, with its confidence
# interval.

found = compare_rankers(rankers, X_test, y_test, groups_test, baseline="blend", random_state=0)
for i, name in enumerate(found.pairs["first"]):
    low, high = found.pairs["ci_low"][i], found.pairs["ci_high"][i]
    print(f"{name:<12}{found.pairs['difference'][i]:+.3f} [{low:+.3f}, {high:+.3f}]")
