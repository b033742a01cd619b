# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
===================================
Several rankers on the same queries
===================================

Which ranker is better, where in the list, and in how many queries? This example fits four rankers,
draws their NDCG at each cut-off as papers do, and then compares two of them query by query. It
takes a few seconds and needs matplotlib.
"""

# %%
# Rankers
# -------
# 200 queries to learn from and 200 to judge by. Features differ from query to query by a shift that
# says nothing, so they are standardised within each query.

import matplotlib.pyplot as plt

from sklearn_ltr import LambdaMART, ListNet, MPBoost, SingleFeatureRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.model_selection import train_test_split_queries
from sklearn_ltr.plotting import MetricAtKDisplay, WinLossDisplay
from sklearn_ltr.preprocessing import QueryScaler

# Colours that are safe for colour blindness, and figures whose text can be read when shown small.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#000000"]
plt.rc("axes", prop_cycle=plt.cycler(color=COLORS))
plt.rc("figure", figsize=(5, 3.6))

X, y, groups = make_ranking(n_queries=400, n_docs=(10, 40), random_state=0)
X = QueryScaler(method="standard").fit_transform(X, groups=groups)
X, X_test, y, y_test, groups, groups_test = train_test_split_queries(
    X, y, groups=groups, test_size=0.5, random_state=0
)
rankers = [
    LambdaMART(n_estimators=100, learning_rate=0.1),
    MPBoost(n_estimators=100),
    ListNet(),
    SingleFeatureRanker(),
]
for ranker in rankers:
    ranker.fit(X, y, groups=groups)

# %%
# NDCG by cut-off
# ---------------
# :class:`~sklearn_ltr.plotting.MetricAtKDisplay` draws the mean over the queries. The first call
# makes a figure, and the others are given its axes. Markers and line styles tell the curves apart
# where colours do not.

fig, ax = plt.subplots(layout="constrained")
for ranker, marker, style in zip(rankers, "os^D", ("-", "--", "-.", ":"), strict=True):
    MetricAtKDisplay.from_estimator(
        ranker, X_test, y_test, groups_test, ax=ax, marker=marker, linestyle=style
    )
ax.set_title("Mean over 200 test queries")
ax.legend(loc="lower right", fontsize="small")
ax.grid(alpha=0.3)
plt.show()

# %%
# Query by query
# --------------
# A mean does not say how many queries gain. :class:`~sklearn_ltr.plotting.WinLossDisplay` sorts the
# differences: MPBoost is better where bars go up, and LambdaMART where they go down.

display = WinLossDisplay.from_estimators(rankers[1], rankers[0], X_test, y_test, groups_test)
plt.show()

# %%
# The display keeps the differences and the ids of the queries, so that the worst ones can be looked
# at.

worst = display.differences.argsort()[:3]
for query, difference in zip(display.query_ids[worst], display.differences[worst], strict=True):
    print(f"query {query}: {difference:+.3f}")

# %%
# Whether the mean difference could be chance is another question, which
# :func:`~sklearn_ltr.model_selection.compare_rankers` answers.
