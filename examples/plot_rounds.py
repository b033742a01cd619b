# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
===========================================
MPBoost's distances, and rounds of boosting
===========================================

:class:`~sklearn_ltr.MPBoost` learns from how far two grades are apart. This example draws the
directed distances that it can learn from, as Figure 2 of the paper does, then NDCG of queries that
it has not seen by the round for each of them, in the manner of its Figure 6, and last what early
stopping does. It takes a few seconds and needs matplotlib.
"""

# %%
# Directed distances
# ------------------
# The parameters are those of the paper's figure.

import matplotlib.pyplot as plt

from sklearn_ltr import LambdaMART, MPBoost
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.model_selection import train_test_split_queries
from sklearn_ltr.plotting import DirectedDistanceDisplay, MetricByRoundDisplay

# Colours that are safe for colour blindness, and figures whose text can be read when shown small.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#000000"]
plt.rc("axes", prop_cycle=plt.cycler(color=COLORS))
plt.rc("figure", figsize=(5, 3.6))
STYLES = {"linear": "-", "logarithmic": "--", "logistic": "-.", "binary": ":"}

fig, ax = plt.subplots(layout="constrained")
for distance, style in STYLES.items():
    ranker = MPBoost(distance=distance, alpha=0.2, lam=3.0, beta=0.5)
    DirectedDistanceDisplay.from_estimator(ranker, ax=ax, linestyle=style, linewidth=2)
ax.grid(alpha=0.3)
plt.show()

# %%
# The linear and the logarithmic distance tell grades that are far apart from those that are near,
# the logistic one less, and binary labels not at all.
#
# NDCG by round
# -------------
# 150 queries to learn from and 300 to judge by. Given one set of rows,
# :class:`~sklearn_ltr.plotting.MetricByRoundDisplay` draws one curve, so that several rankers fit
# into one figure. Steps are Newton's: the paper's own ones, which take all distances for 1, are too
# long where the logarithmic distance is above 2.

X, y, groups = make_ranking(n_queries=450, n_docs=(10, 40), random_state=1)
X, X_val, y, y_val, groups, groups_val = train_test_split_queries(
    X, y, groups=groups, test_size=300, random_state=0
)

fig, ax = plt.subplots(layout="constrained")
for distance, style in STYLES.items():
    ranker = MPBoost(n_estimators=300, distance=distance, step="newton")
    ranker.fit(X, y, groups=groups)
    MetricByRoundDisplay.from_estimator(
        ranker,
        X_val,
        y_val,
        groups_val,
        metric="ndcg@5",
        name=distance,
        ax=ax,
        linestyle=style,
        linewidth=2,
    )
ax.set(title="300 validation queries", ylim=(0.6, None))
ax.grid(alpha=0.3)
plt.show()

# %%
# On these data the distances hardly differ, and more rounds than needed do little harm.

# %%
# Training and validation
# -----------------------
# LambdaMART's trees can follow the training queries much closer than stumps. With validation rows
# the display has two curves, and marks the round that early stopping has chosen.

ranker = LambdaMART(learning_rate=0.1, early_stopping=True, n_iter_no_change=50)
ranker.fit(X, y, groups=groups, X_val=X_val, y_val=y_val, groups_val=groups_val)
display = MetricByRoundDisplay.from_estimator(
    ranker, X, y, groups, X_val=X_val, y_val=y_val, groups_val=groups_val, linewidth=2
)
display.ax_.grid(alpha=0.3)
plt.show()
