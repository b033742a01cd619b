# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
========================================
A model that can be seen: sums of stumps
========================================

The score of :class:`~sklearn_ltr.MPBoost`, :class:`~sklearn_ltr.RankBoost` and
:class:`~sklearn_ltr.FRank` is a sum of step functions of one feature each. This example draws all
of such a model, and then why a row has its score and why one row is ranked above another. Nothing
is approximated. It takes a few seconds and needs matplotlib.
"""

# %%
# A ranker of products
# --------------------
# 200 searches in a shop, with 15 products each. What a customer thinks of a product rises with how
# well its text matches, falls with its price and rises with its rating, which one in four products
# does not have. Sales follow the rating, and the weekday says nothing.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_ltr import FRank, MPBoost
from sklearn_ltr.plotting import ContributionsDisplay, ShapeFunctionsDisplay

# Colours that are safe for colour blindness, and figures whose text can be read when shown small.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#000000"]
plt.rc("axes", prop_cycle=plt.cycler(color=COLORS))
plt.rc("figure", figsize=(5, 3.6))

NAMES = ["text match", "price", "rating", "days to deliver", "sales", "weekday"]

rng = np.random.default_rng(0)
n_queries, n_docs = 200, 15
n = n_queries * n_docs
match = rng.beta(2, 2, n)
price = rng.gamma(4, 5, n)
rating = np.clip(rng.normal(3.8, 0.7, n), 1, 5).round(1)
days = rng.integers(1, 11, n)
sales = rng.poisson(10 * rating)
weekday = np.repeat(rng.integers(0, 7, n_queries), n_docs)
liking = 3 * match - 0.06 * price + 0.8 * rating - 1.0 * (days > 5) + rng.normal(0, 0.5, n)
y = np.searchsorted(np.quantile(liking, [0.5, 0.75, 0.9]), liking).astype(float)
rating[rng.random(n) < 0.25] = np.nan
X = np.column_stack([match, price, rating, days, sales, weekday])
groups = np.repeat(np.arange(n_queries), n_docs)

ranker = MPBoost(n_estimators=150).fit(X, y, groups=groups)
print(f"NDCG@10 on the training queries: {ranker.score(X, y, groups=groups):.3f}")

# %%
# The whole model
# ---------------
# One panel for each feature, the most important one first; the weekday, which is the same for all
# products of a query, is not used. The marks at the bottom are deciles of the rows given. The
# dotted line shows what a missing rating adds.

display = ShapeFunctionsDisplay.from_estimator(ranker, X, feature_names=NAMES)
plt.show()

# %%
# The jump between five and six days is found where it is. At the ends, where there are few rows,
# steps follow the noise more than in the middle.
#
# Two rankers are compared in the same panels by giving ``axes_`` to the second display. Only the
# shape of a curve counts, not its height as a whole.

features = [1, 0, 2]
first = ShapeFunctionsDisplay.from_estimator(
    ranker, X, features=features, feature_names=NAMES, name="MPBoost"
)
other = FRank(n_estimators=150).fit(X, y, groups=groups)
ShapeFunctionsDisplay.from_estimator(
    other, X, features=features, feature_names=NAMES, name="FRank", linestyle="--", ax=first.axes_
)
plt.show()

# %%
# Why this score?
# ---------------
# The bars of :class:`~sklearn_ltr.plotting.ContributionsDisplay` add up to the score. This is the
# row that is ranked first in the first query.

of_query = np.flatnonzero(groups == 0)
ranking = of_query[np.argsort(-ranker.predict(X[of_query]), kind="stable")]

ContributionsDisplay.from_estimator(ranker, X[ranking[0]], feature_names=NAMES)
plt.show()

# %%
# Why above that one?
# -------------------
# With a second row the bars are differences, and add up to the difference of the two scores. Bars
# to the right speak for the first row, bars to the left for the second.

ContributionsDisplay.from_estimator(ranker, X[ranking[0]], X[ranking[3]], feature_names=NAMES)
plt.show()
