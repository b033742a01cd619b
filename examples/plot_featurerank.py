# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
====================================
FeatureRank and the order in a value
====================================

:class:`~sklearn_ltr.FeatureRank` looks at one feature at a time: which of its values go with the
top of a list, and which with the bottom. This example draws the class centres that it goes by, as
Figure 1 of the paper does, then the order that follows from them, and the distance between the
lists ranked and the truth for several numbers of classes. It takes a few seconds and needs
matplotlib.
"""

# %%
# Lists
# -----
# 150 lists of 200 rows. Of six features, the first counts by how high it is, the second by how near
# it is to 0.7, the third by how near it is to 0.5; the others say nothing. In each list every row
# has a rank of its own.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from sklearn_ltr import FeatureRank
from sklearn_ltr.metrics import kendall_tau_distance

# From a palette that is safe for colour blindness; line styles differ, too.
BLACK, BLUE, ORANGE, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
NAMES = ["the higher the better", "best at 0.7", "best at 0.5"]

rng = np.random.default_rng(0)
n_lists, n_rows = 150, 200
X = rng.random((n_lists * n_rows, 6))
utility = X[:, 0] - 2 * np.abs(X[:, 1] - 0.7) - 2 * np.abs(X[:, 2] - 0.5)
utility += 0.2 * rng.normal(size=len(X))
groups = np.repeat(np.arange(n_lists), n_rows)
y = utility.reshape(n_lists, n_rows).argsort(axis=1).argsort(axis=1).ravel() + 1.0  # the best n
train = groups < 100

# %%
# Class centres
# -------------
# Each training list, the best row first, is cut into K = 8 classes, and the centre of a class is
# the mean value of the feature in it. Cut into three times as many classes, each of the eight falls
# into its first third in the list (the paper's "prior"), its middle and its last ("posterior").

K = 8
normal = FeatureRank(K).fit(X[train], y[train], groups=groups[train]).centers_
thirds = FeatureRank(3 * K).fit(X[train], y[train], groups=groups[train]).centers_
posterior, middle, prior = np.moveaxis(thirds.reshape(-1, K, 3), 2, 0)  # class 1 is the bottom

classes = np.arange(1, K + 1)
fig, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained", sharey=True)
for m, ax in enumerate(axes):
    for centers, label, color, style in (
        (normal, "normal", BLACK, "-"),
        (prior, "prior", BLUE, "--"),
        (middle, "middle", GREEN, "-."),
        (posterior, "posterior", ORANGE, ":"),
    ):
        ax.plot(classes, centers[m], style, color=color, linewidth=2, marker="o", label=label)
    ax.set(title=NAMES[m], xlabel="class, 8 at the top of the lists", xticks=classes)
    ax.grid(alpha=0.3)
axes[0].set_ylabel("class centre")
axes[0].legend(loc="upper left")
plt.show()

# %%
# Where centres rise towards the top, the prior third of a class is above its posterior third, and
# where they fall it is below: the trend between classes goes on within them. That is what equation
# (4) of the paper takes from the figure. The third feature has no trend, all its centres are near
# 0.5, and which third is above is chance.
#
# The order found
# ---------------
# A value belongs to the class of the nearest centre, and within a class the trend decides. So the
# rank in a large list is a function of the value.

x = np.linspace(0, 1, 401)
fig, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained", sharey=True)
for K, color, style in ((2, BLACK, ":"), (8, BLUE, "--"), (32, ORANGE, "-")):
    ranker = FeatureRank(K).fit(X[train], y[train], groups=groups[train])
    for m, ax in enumerate(axes):
        alone = FeatureRank(K).fit(X[train, m : m + 1], y[train], groups=groups[train])
        rank = alone.predict(x[:, None]) / alone.beta_[0]
        label = f"K = {K}, β = {ranker.beta_[m]:.2f}"
        ax.plot(x, rank, style, color=color, linewidth=2, label=label)
for m, ax in enumerate(axes):
    ax.set(title=NAMES[m], xlabel="value of the feature")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(alpha=0.3)
axes[0].set_ylabel("rank h, 1 is the top")
plt.show()

# %%
# The order of the first two is that of the values. Rows at the bottom have low values of the second
# more often than high ones, so its centres rise, too, and it is taken for one that is the higher
# the better.
#
# The third one's centres differ by noise only, so that nearly all values belong to the lowest or to
# the highest of them, 0 to 0.5 to one and 0.5 to 1 to the other. By equation (4) the lower half
# then rises and the upper half falls, whichever is put first: right for a feature that is best in
# the middle, and wrong, so that β is negative, for one that is worst there. Only if one of the two
# is class K, this fails. With two classes it always does, and the more there are, the less likely
# it is.
#
# Number of classes
# -----------------
# The Kendall tau distance of 50 test lists, beside that of a linear ranker, least squares on the
# ranks. All that more classes add here is the third feature.

linear = LinearRegression().fit(X[train], y[train])
test = ~train
distance = kendall_tau_distance(y[test], linear.predict(X[test]), groups[test])
numbers = [2, 4, 8, 16, 32, 64]
found = []
for K in numbers:
    ranker = FeatureRank(K).fit(X[train], y[train], groups=groups[train])
    scores = ranker.predict(X[test], groups=groups[test])
    found.append(kendall_tau_distance(y[test], scores, groups[test]))
    print(f"K = {K:2}   {found[-1]:.4f}")
print(f"linear   {distance:.4f}")

fig, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
ax.plot(numbers, found, "-o", color=BLUE, linewidth=2, label="FeatureRank")
ax.axhline(distance, linestyle="--", color=ORANGE, linewidth=2, label="linear")
ax.set(xlabel="number of classes K", ylabel="Kendall tau distance T", xscale="log")
ax.set_xticks(numbers, labels=numbers)
ax.minorticks_off()
ax.legend()
ax.grid(alpha=0.3)
plt.show()
