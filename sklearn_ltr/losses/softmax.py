# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cross entropy of what a query's rows should have and the softmax of its scores."""

import numpy as np

from sklearn_ltr.losses.base import BoundLoss


class BoundCrossEntropy(BoundLoss):
    """A loss sets what the rows should have and which queries count.

    These are `_aim`, (n_samples,), which sums to 1 in each query, and `_counts`, (n_queries,).
    """

    def _evaluate(self, scores, round):
        log_now = self._log_softmax(scores)
        self._now = np.exp(log_now)
        gradient = np.where(self.data.per_row(self._counts), self._now - self._aim, 0.0)
        return self._cross_entropy(log_now), gradient

    def _curvature(self):
        return np.where(self.data.per_row(self._counts), np.maximum(self._aim, self._now), 0.0)

    def _value(self, scores):
        return self._cross_entropy(self._log_softmax(scores))

    def _cross_entropy(self, log_now):
        terms = self._aim * log_now
        return np.where(self._counts, -np.add.reduceat(terms, self.data.offsets[:-1]), 0.0)

    def _log_softmax(self, z):
        starts, per_row = self.data.offsets[:-1], self.data.per_row
        z = z - per_row(np.maximum.reduceat(z, starts))
        return z - per_row(np.log(np.add.reduceat(np.exp(z), starts)))
