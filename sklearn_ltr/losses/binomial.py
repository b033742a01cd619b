# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Binomial losses of being of a class or above: McRank's by ordinal classification."""

import numpy as np
from scipy.special import expit, logit

from sklearn_ltr.losses.base import Loss
from sklearn_ltr.losses.classes import SMALLEST, BoundClasses


class CumulativeBinomial(Loss):
    """-log p of whether each row is of a class or above, summed over the classes but the lowest.

    One output for each of these (section 4 of the McRank paper).

    Parameters
    ----------
    n_levels, level_of
        As `Multinomial` has them.
    """

    bound = BoundClasses

    def __init__(self, n_levels, level_of):
        self.n_levels = n_levels
        self.level_of = level_of

    def outputs_of(self, y):
        return np.less_equal.outer(np.arange(1, self.n_levels), self.level_of(y))

    def probabilities(self, F):
        """Of being of a class or above, from the outputs F (n_levels - 1, n_samples)."""
        return expit(F)

    def outputs_at(self, p):
        """Outputs of which these are the probabilities of being of a class or above."""
        return logit(p)

    def of_rows(self, p, y):
        """Losses of rows: ndarray of shape (n_samples,)."""
        # In the order of the classes; NumPy's has another order for a single row.
        return -sum(np.log(np.maximum(np.where(y, p, 1 - p), SMALLEST)))
