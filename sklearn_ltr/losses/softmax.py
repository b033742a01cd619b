# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cross entropy of what a query's rows should have and the softmax of its scores."""

import numpy as np

from sklearn_ltr.losses.base import BoundLoss


class BoundCrossEntropy(BoundLoss):
    """A loss sets what the rows should have and which queries count.

    These are `_aim`, (n_samples,), which sums to 1 in each query, and `_counts`, (n_queries,).

    Of clicks, what a row should have beyond a row without one is times the row's weight. Their
    sums are `_whole`, (n_queries,), and not 1; None where they are.
    """

    _whole = None

    def _weigh(self, least):
        """Weigh the clicks in `_aim`; `least` (n_samples,) is what a row without one should have.

        What a query is divided by has no propensity in it, as these would cancel.
        """
        if self.data.click_weight is None:
            return
        self._aim = least + self.data.click_weight * (self._aim - least)
        self._whole = np.add.reduceat(self._aim, self.data.offsets[:-1])

    def _evaluate(self, scores, round):
        log_now = self._log_softmax(scores)
        self._now = np.exp(log_now)
        if self._whole is not None:
            self._now *= self.data.per_row(self._whole)
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
