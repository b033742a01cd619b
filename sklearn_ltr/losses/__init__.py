# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of scores: those for any ranker of losses, and what the other rankers minimise.

A loss for `QuadraticBoosting` or `LossRanker` is an object with three methods on flat arrays,

- ``value(y, scores, offsets)``, the loss of each query, an array of shape (n_queries,);
- ``gradient(y, scores, offsets)``, the derivatives of their sum with respect to the scores, an
  array of shape (n_samples,);
- ``curvature(y, scores, offsets)``, an array W of shape (n_samples,) that is not negative and
  bounds the second derivatives,

.. math:: R(h + g) \\le R(h) + G^\\top g + \\tfrac12 g^\\top \\operatorname{diag}(W) g

for any step g if such a W is known, otherwise at least the Hessian at the scores: it must be at
most diag(W), in the order of symmetric matrices.

The rows of query ``q`` are ``offsets[q]:offsets[q + 1]``, and no query is empty; ``y`` are finite
grades and ``scores`` the present scores, all float64. A query that there is nothing to learn from,
such as one without pairs, gives zeros. Parameters of a loss that derives from
`sklearn.base.BaseEstimator` can be searched: ``loss__margin``.
"""

from sklearn_ltr.losses.approx_ndcg import ApproxNDCG
from sklearn_ltr.losses.exponential_pairs import ExponentialPairs
from sklearn_ltr.losses.fidelity import FidelityPairs
from sklearn_ltr.losses.list_cosine import ListCosine
from sklearn_ltr.losses.list_cross_entropy import ListCrossEntropy
from sklearn_ltr.losses.list_likelihood import ListLikelihood
from sklearn_ltr.losses.logistic import LogisticPairs
from sklearn_ltr.losses.squared_error import SquaredError
from sklearn_ltr.losses.squared_hinge import SquaredHinge
from sklearn_ltr.losses.xe_ndcg import ListNDCGCrossEntropy

__all__ = [
    "ApproxNDCG",
    "ExponentialPairs",
    "FidelityPairs",
    "ListCosine",
    "ListCrossEntropy",
    "ListLikelihood",
    "ListNDCGCrossEntropy",
    "LogisticPairs",
    "SquaredError",
    "SquaredHinge",
]
