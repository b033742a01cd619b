# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
===========================
FRank and the fidelity loss
===========================

:class:`~sklearn_ltr.FRank` boosts stumps on preference pairs, as RankBoost does, with a loss that
is bounded. This example draws that loss beside the cross entropy of RankNet, as Figure 1 of the
paper does, and then shows how the training loss and NDCG change from round to round, in the manner
of its Figure 4. It takes a few seconds and needs matplotlib.
"""

# %%
# The loss of a pair
# ------------------
# A pair of rows has the score difference o. The logistic function makes it the probability that the
# first row should be ranked higher, and a loss compares that with the probability aimed at, P*.
#
# Cross entropy grows without bound the wronger a pair is, and at P* = 0.5 its least value is ln 2.
# Fidelity stays between 0 and 1 and is 0 wherever the probability is the one aimed at.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_ltr import FRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric

# From a palette that is safe for colour blindness; line styles differ, too.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def cross_entropy(o, target):
    return np.logaddexp(0, o) - target * o


def fidelity(o, target):
    p, rest = 1 / (1 + np.exp(-o)), 1 / (1 + np.exp(o))
    return 1 - np.sqrt(target * p) - np.sqrt((1 - target) * rest)


o = np.linspace(-6, 6, 241)
styles = {0: (BLUE, "--"), 0.5: (ORANGE, "-."), 1: (GREEN, "-")}
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, loss, title in zip(
    axes, (cross_entropy, fidelity), ("Cross entropy", "Fidelity"), strict=True
):
    for target, (color, style) in styles.items():
        ax.plot(o, loss(o, target), style, color=color, linewidth=2, label=f"P* = {target}")
    ax.set(title=title, xlabel="score difference o", ylabel="loss of the pair", ylim=(0, None))
    ax.grid(alpha=0.3)
axes[1].set_ylim(0, 1.05)
axes[0].legend(loc="upper center")
plt.show()

# %%
# Training
# --------
# 150 queries to learn from and 100 for validation, of the same kind. Validation rows given to
# ``fit`` are scored after every round, here by NDCG@10; without ``early_stopping`` all rounds are
# run.

X, y, groups = make_ranking(
    n_queries=250, n_docs=(10, 40), n_features=20, n_informative=5, n_redundant=5, random_state=0
)
held_out = np.isin(groups, np.unique(groups)[150:])
X_val, y_val, groups_val = X[held_out], y[held_out], groups[held_out]
X, y, groups = X[~held_out], y[~held_out], groups[~held_out]

ranker = FRank(n_estimators=200)
ranker.fit(X, y, groups=groups, X_val=X_val, y_val=y_val, groups_val=groups_val)

# %%
# ``train_loss_`` and ``validation_score_`` have a value for each round. NDCG of the training
# queries is computed from ``staged_predict``.

ndcg = get_metric("ndcg@10")
train_ndcg = [ndcg(y, scores, groups) for scores in ranker.staged_predict(X)]
best = int(ranker.validation_score_.argmax())

print("round  fidelity loss  NDCG@10 training  validation")
for t in sorted({0, 9, 49, best, ranker.n_iter_ - 1}):
    print(
        f"{t + 1:5}{ranker.train_loss_[t]:15.4f}{train_ndcg[t]:18.4f}"
        f"{ranker.validation_score_[t]:12.4f}"
    )

# %%
# The loss falls in every round, and NDCG of the training queries rises with it, though not in every
# round: NDCG looks at the top of the order, the loss at all pairs. NDCG of the validation queries
# levels off, and its best round is where early stopping would end.

rounds = np.arange(1, ranker.n_iter_ + 1)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
left.plot(rounds, ranker.train_loss_, color=BLUE, linewidth=2)
left.set(title="Training loss", xlabel="rounds", ylabel="fidelity loss J(H)", ylim=(0, None))
right.plot(rounds, train_ndcg, color=BLUE, linewidth=2, label="training queries")
right.plot(
    rounds, ranker.validation_score_, "--", color=ORANGE, linewidth=2, label="validation queries"
)
right.plot(
    best + 1,
    ranker.validation_score_[best],
    "o",
    color=ORANGE,
    label=f"best on validation: round {best + 1}",
)
right.set(title="NDCG@10", xlabel="rounds", ylabel="NDCG@10")
right.legend(loc="lower right")
for ax in (left, right):
    ax.grid(alpha=0.3)
plt.show()
