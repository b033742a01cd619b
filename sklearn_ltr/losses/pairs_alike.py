# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What counts the same in a loss of preference pairs: each pair, or each query."""

import numpy as np

from sklearn_ltr.validation import check_choice

PAIR_WEIGHTINGS = ("pair", "query")


class PairsAlike:
    """A loss that is a sum over the pairs of a query, or with ``pair_weighting="query"`` a mean."""

    def bind(self, data, weight=None):
        check_choice(self.pair_weighting, "pair_weighting", PAIR_WEIGHTINGS)
        weight = data.v if weight is None else weight
        if self.pair_weighting == "query":
            # A query without pairs has a sum of 0 anyway.
            weight = weight / np.where(data.with_pairs, data.pair_weight, 1)
        return super().bind(data, weight)

    def value(self, y, scores, offsets):
        bound = self._at(y, scores, offsets)
        return bound.weight * bound.value
