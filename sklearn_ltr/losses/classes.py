# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What losses of the classes of single rows share."""

import numpy as np

from sklearn_ltr.losses.base import BoundLoss

SMALLEST = np.finfo(np.float64).tiny  # of the probabilities that logarithms are taken of


class BoundClasses(BoundLoss):
    """A loss of several outputs for each row, each a probability of something that a row is or not.

    `gradient` and `curvature`, the Hessian's diagonal, have a row for each output and no weights:
    those of the rows, ``data.row_weight``, are the trees' to count.

    Parameters
    ----------
    loss : Loss
        With ``outputs_of(y)``, what the rows are, a bool for each output and row;
        ``probabilities(F)`` of that; ``outputs_at(p)``, the F that has these probabilities; and
        ``of_rows(p, outputs)``, the losses of rows.
    data : RankingData
    """

    def _prepare(self, loss):
        self._loss, self._y = loss, loss.outputs_of(self.data.y)

    def update(self, F, round=0):
        """Move to the outputs F (n_outputs, n_samples)."""
        p = self._loss.probabilities(F)
        self._losses = self._loss.of_rows(p, self._y)
        self.gradient = p - self._y
        self._W = np.multiply(p, 1 - p, out=p)

    def start(self):
        """The outputs, the same for all rows, with the least loss: ndarray of shape (n_outputs,).

        Where no row is something, or all are, half the lightest row is taken to be the other.
        """
        data, weight = self.data, self.data.row_weight
        weight = np.ones(data.n_samples) if weight is None else weight
        p = np.array([data.mean(y.astype(np.float64), weight) for y in self._y])
        least = 0.5 * data.smallest(weight) / data.sum(weight)
        return self._loss.outputs_at(np.clip(p, least, 1 - least))

    @property
    def loss(self):
        """The weighted mean over the rows: float."""
        return self.data.mean(self._losses, self.data.row_weight)
