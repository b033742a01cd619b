# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
========================================
Trees explained: contributions and rules
========================================

The score of a ranker of trees, such as :class:`~sklearn_ltr.LambdaMART`, is no sum of functions of
one feature each: splits below splits tie features together. What each feature adds to the score of
a row has an exact answer nevertheless, Shapley values, and the trees themselves can be drawn, read
and counted. This example takes a few seconds and needs matplotlib; for the table, pandas.
"""

# %%
# A ranker of products
# --------------------
# 200 searches in a shop, with 15 products each. Customers like products whose text matches and that
# are cheap; a rating counts for those that match well only, and one in four products has none. The
# last feature is noise.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_ltr import LambdaMART
from sklearn_ltr.export import export_text, trees_to_frame
from sklearn_ltr.plotting import ContributionsDisplay, plot_tree

plt.rc("figure", figsize=(5, 3.6))

NAMES = ["text match", "price", "rating", "noise"]

rng = np.random.default_rng(0)
n_queries, n_docs = 200, 15
n = n_queries * n_docs
match, price = rng.beta(2, 2, n), rng.gamma(4, 5, n)
rating = np.clip(rng.normal(3.8, 0.7, n), 1, 5).round(1)
liking = 3 * match - 0.06 * price + 2.0 * (match > 0.5) * (rating > 4) + rng.normal(0, 0.5, n)
y = np.searchsorted(np.quantile(liking, [0.5, 0.75, 0.9]), liking).astype(float)
rating[rng.random(n) < 0.25] = np.nan
X = np.column_stack([match, price, rating, rng.normal(size=n)])
groups = np.repeat(np.arange(n_queries), n_docs)

ranker = LambdaMART(n_estimators=100, max_leaf_nodes=8).fit(X, y, groups=groups)
print(f"NDCG@10 on the training queries: {ranker.score(X, y, groups=groups):.3f}")

# %%
# Why this score?
# ---------------
# The bars of :class:`~sklearn_ltr.plotting.ContributionsDisplay` are what the features add to the
# expected score, which is the mean of the trees over the training rows. They add up to the score.

of_query = np.flatnonzero(groups == 0)
ranking = of_query[np.argsort(-ranker.predict(X[of_query]), kind="stable")]

ContributionsDisplay.from_estimator(ranker, X[ranking[0]], feature_names=NAMES)
plt.show()

# %%
# Why above that one?
# -------------------
# In a difference of two scores the expectation cancels out. Bars to the right speak for the first
# row, bars to the left for the second.

ContributionsDisplay.from_estimator(ranker, X[ranking[0]], X[ranking[3]], feature_names=NAMES)
plt.show()

# %%
# All rows at once
# ----------------
# Contributions of all rows by the value of a feature show what a shape function shows of stumps,
# and more: the rating adds more where the text matches, since what a feature adds depends on the
# others, too. Colours tell rows that match well from others.

contributions = ranker.contributions(X)
fig, ax = plt.subplots(layout="constrained")
for well, color, label in ((True, "#0072B2", "match > 0.5"), (False, "#E69F00", "match <= 0.5")):
    rows = (match > 0.5) == well
    ax.plot(rating[rows], contributions[rows, 2], ".", color=color, markersize=3, label=label)
ax.set(xlabel="rating", ylabel="contribution of the rating")
ax.legend(markerscale=3)
plt.show()

# %%
# The mean size of the contributions ranks the features, in the units of the scores.

for k in np.argsort(-abs(contributions).mean(axis=0)):
    print(f"{NAMES[k]:12}{abs(contributions[:, k]).mean():.3f}")

# %%
# The trees themselves
# --------------------
# :func:`~sklearn_ltr.plotting.plot_tree` draws the tree of a round. Values of leaves are what is
# added to the score, after the learning rate.

plot_tree(ranker, round=1, feature_names=NAMES)
plt.show()

# %%
# The same as text, and all nodes of all trees as a table.

print(export_text(ranker, round=1, feature_names=NAMES))

# %%

nodes = trees_to_frame(ranker, feature_names=NAMES)
print(nodes.loc[nodes["depth"] == 0, "feature"].value_counts())  # which feature is split on first
