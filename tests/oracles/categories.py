# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What trees that split on sets of categories are compared with, sharing no code with the package.

The categories that rows have are put into the order of their mean targets, equal ones by number,
and any first ones go left; or, with `subsets`, any of them at all, those in that order before the
others. Categories of fewer rows than `min_samples_category` go where missing values go.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import isnan

import numpy as np

from oracles.tree import Growth, right_set


@dataclass
class CategoricalGrowth(Growth):
    """As `Growth`; `n_categories` has how many a feature has, 0 if its values are numbers."""

    n_categories: tuple = ()
    subsets: bool = False
    min_samples_category: int = 1

    def present(self, feature, rows):
        """A category counts by its share of the weight."""
        rows = super().present(feature, every := rows)
        if not (rows and self.n_categories[feature]) or self.min_samples_category == 1:
            return rows
        column, (_, total) = self.columns[feature], self.sums(every)
        weight = {c: self.sums([i for i in rows if column[i] == c])[1] for c in range(256)}
        enough = self.min_samples_category * Fraction(total) / Fraction(self.size(every))
        return [i for i in rows if Fraction(weight[int(column[i])]) >= enough]

    def ways(self, feature, present):
        if not self.n_categories[feature]:
            yield from super().ways(feature, present)
            return
        column = self.columns[feature]
        of = {}
        for i in present:
            of.setdefault(int(column[i]), []).append(i)
        sums = {c: map(Fraction, self.sums(rows)) for c, rows in of.items()}
        # Those without weight gain nothing wherever they go.
        means = {c: G / H if H else Fraction(0) for c, (G, H) in sums.items()}
        order = sorted(of, key=lambda c: (means[c], c))
        first = [frozenset(order[:k]) for k in range(1, len(order) + 1)]
        sets = first
        if self.subsets:
            any_size = (combinations(order, k) for k in range(1, len(order) + 1))
            sets = dict.fromkeys([*first, *map(frozenset, chain.from_iterable(any_size))])
        for low in sets:
            yield (low, frozenset(of)), {i for c in low for i in of[c]}

    def bin_of(self, feature, way, missing_right):
        """Of categories: those that go right, also of those that are not told apart."""
        if not self.n_categories[feature]:
            return way
        low, present = way
        every = range(self.n_categories[feature])
        return frozenset(every) - low if missing_right else present - low

    def threshold_of(self, split):
        return None if self.n_categories[split.feature] else super().threshold_of(split)


class Keyed:
    """A tree of the package whose splits on categories have these as their `bin`."""

    def __init__(self, tree):
        for name in ("feature", "missing_right", "left", "gain", "value"):
            setattr(self, name, getattr(tree, name))
        self.bin, self.threshold = tree.bin.tolist(), tree.threshold.tolist()
        for i in np.flatnonzero(np.isnan(tree.threshold)):
            assert self.bin[i] == 0
            self.bin[i], self.threshold[i] = frozenset(right_set(tree, i)), None
        if tree.categories is not None:
            by_numbers = np.array([t is not None and not isnan(t) for t in self.threshold])
            assert not tree.categories[by_numbers].any()
