# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Multinomial loss: McRank's by classification."""

import numpy as np

from sklearn_ltr.losses.base import Loss
from sklearn_ltr.losses.classes import SMALLEST, BoundClasses


class Multinomial(Loss):
    """-log p of the class of each row (equation 7 of the McRank paper), one output for each class.

    Parameters
    ----------
    n_levels : int
    level_of : callable
        Number of the class of each grade.
    """

    bound = BoundClasses

    def __init__(self, n_levels, level_of):
        self.n_levels = n_levels
        self.level_of = level_of

    def outputs_of(self, y):
        return np.equal.outer(np.arange(self.n_levels), self.level_of(y))

    def probabilities(self, F):
        """Of the classes, from the outputs F (n_levels, n_samples)."""
        return softmax(F)

    def outputs_at(self, p):
        """Outputs of which these are the probabilities of the classes."""
        return np.log(p)

    def of_rows(self, p, y):
        """Losses of rows: ndarray of shape (n_samples,)."""
        return -np.log(np.maximum((p * y).sum(axis=0), SMALLEST))


def softmax(F):
    """Class probabilities: exp(F_k) / sum_s exp(F_s).

    Parameters
    ----------
    F : ndarray of shape (n_classes, n_samples)

    Returns
    -------
    p : ndarray of shape (n_classes, n_samples)
    """
    p = np.exp(F - F.max(axis=0))
    p /= sum(p)  # in the order of the classes; NumPy's has another order for a single row
    return p
