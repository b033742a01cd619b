# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What weak rankers have in common."""

import math

import numpy as np

from sklearn_ltr.weak import schema


class WeakRanker:
    """Base class of weak rankers: functions of a row that a boosted ranker adds up.

    A subclass has

    - ``apply(binned, n_threads=1)``, its values at the rows of what the ranker's binner makes, of
      shape (n_samples,);
    - ``predict(X)``, its values at the rows of an array or a sparse matrix;
    - ``importances(n_features)``, the gain of its splits on each feature, and their number.

    If it can be exported, it also has

    - ``to_plain()``, its fields as a dict that JSON can hold;
    - a class method ``from_plain(value, path, bins)``, which checks such a dict with the kinds in
      ``schema.py`` and builds the weak ranker. A split may store its bin; `bins` are the thresholds
      of each feature, a list of ndarrays. A field that older models lack is a parameter of the
      constructor with a default;
    - ``as_tree()``, the same function as a `Tree`.
    """

    @classmethod
    def collapse(cls, terms, n_outputs=1):
        """A sum of weak rankers of this class in a form that is fast to evaluate.

        Parameters
        ----------
        terms : list of (int, float, weak ranker)
            Output, coefficient and weak ranker, in the order they were added.
        n_outputs : int, default=1

        Returns
        -------
        function : object
            As `OneByOne`, which it is unless a subclass knows a faster one.
        """
        return OneByOne(terms, n_outputs)


class OneByOne:
    """A sum of weak rankers that are evaluated one by one.

    Parameters
    ----------
    terms : list of (int, float, weak ranker)
    n_outputs : int, default=1
    """

    def __init__(self, terms, n_outputs=1):
        self.terms = terms
        self.n_outputs = n_outputs

    def predict(self, X, n_threads=1):
        """Scores of the rows of `X`: ndarray of shape (n_samples,) or (n_outputs, n_samples)."""
        scores = np.zeros((self.n_outputs, X.shape[0]))
        for output, coefficient, weak in self.terms:
            scores[output] += coefficient * weak.predict(X)
        return scores[0] if self.n_outputs == 1 else scores


def stored_threshold(bins, feature, bin, path):
    """What a split at a stored bin compares with; infinite if only missing values are beyond it."""
    cuts = bins[feature]
    schema.require(bin <= len(cuts), path, f"be at most {len(cuts)}, the bins of feature {feature}")
    return float(cuts[bin]) if bin < len(cuts) else math.inf
