# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Decision stumps, and the search for the best one over preference pairs."""

from functools import partial

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _stump, _types
from sklearn_ltr.interrupts import parts
from sklearn_ltr.weak import schema
from sklearn_ltr.weak.base import WeakRanker, stored_threshold
from sklearn_ltr.weak.forest import TreeEnsemble
from sklearn_ltr.weak.step_functions import StepFunctions
from sklearn_ltr.weak.tree import Tree

CRITERIA = _types.names(_types.Criterion)  # ("squared", ...)

# Gains within this of the best count as equal: the lowest feature, then threshold, wins.
TIE = 1e-9

# Rounding errors of gains, as a share of the largest conceivable; smaller differences tie, too.
GAIN_ROUNDING = 1e-15

# A gain below this share of the largest conceivable is none.
NO_GAIN = 1e-11

# Rounding errors of the crossing weight, a running sum, as a share of the total weight.
ROUNDING = 1e-13

# Rows that are sorted together, few enough to stay in a processor's cache.
CHUNK_ROWS = 16_384

# Features whose crossing weights are recomputed between two looks at the bounds.
BATCH = 4


class Stump(WeakRanker):
    """Weak ranker with value `value` above a threshold and 0 elsewhere (equation 17 of MPBoost).

    Parameters
    ----------
    feature : int
    bin : int
        Rows with a higher code are above.
    threshold : float
        Rows with a higher value are above; infinite if only missing values are.
    missing_above : bool
        Whether missing values are above.
    gain : float
        What the stump lowers the weighted squared loss by, as a share of the pairs' weight.
    value : float
    n_samples : tuple of int, default=None
        Training rows that are not above, and that are; None where that was not kept.
    """

    def __init__(self, feature, bin, threshold, missing_above, gain, value, n_samples=None):
        self.feature = feature
        self.bin = bin
        self.threshold = threshold
        self.missing_above = missing_above
        self.gain = gain
        self.value = value
        self.n_samples = n_samples

    def __repr__(self):
        missing = ", missing" if self.missing_above else ""
        return f"Stump({self.value:.6g} if x[{self.feature}] > {self.threshold:.6g}{missing})"

    @classmethod
    def collapse(cls, terms, n_outputs=1):
        """As `WeakRanker.collapse`: StepFunctions, or a TreeEnsemble for several outputs."""
        if n_outputs == 1:
            return StepFunctions([(coefficient, stump) for _, coefficient, stump in terms])
        return TreeEnsemble(
            [(o, coefficient, s.as_tree()) for o, coefficient, s in terms], n_outputs
        )

    def as_tree(self):
        """The same function as a Tree, in which each row weighs 1."""
        n_samples = None
        if self.n_samples is not None:
            below, above = self.n_samples
            n_samples = np.array([below + above, below, above])
        return Tree(
            feature=np.array([self.feature, -1, -1], dtype=np.intc),
            bin=np.array([self.bin, 0, 0], dtype=np.intc),
            threshold=np.array([self.threshold, 0.0, 0.0]),
            missing_right=np.array([self.missing_above, False, False]),
            left=np.array([1, 0, 0], dtype=np.intc),
            gain=np.array([self.gain, 0.0, 0.0]),
            value=np.array([0.0, 0.0, self.value]),
            cover=None if n_samples is None else n_samples.astype(np.float64),
            n_samples=n_samples,
        )

    def to_plain(self):
        """Its fields as plain data; the threshold is that of the bin."""
        return schema.plain(self, self._kinds([]))

    @classmethod
    def from_plain(cls, value, path, bins):
        """The stump that `to_plain` made plain data of; ValueError if they are malformed."""
        found = schema.fields(cls._kinds(bins), value, path, schema.with_defaults(cls))
        threshold = stored_threshold(bins, found["feature"], found["bin"], f"{path}.bin")
        return cls(threshold=threshold, **found)

    @classmethod
    def _kinds(cls, bins):
        """The kinds of the fields that are stored."""
        return {
            "feature": partial(schema.integer, high=len(bins) - 1),
            "bin": schema.integer,
            "missing_above": schema.boolean,
            "gain": partial(schema.number, largest=schema.LARGEST**2),
            "value": partial(schema.number, largest=schema.LARGEST),
            "n_samples": _two_counts,
        }

    def above(self, binned):
        """Which rows of a BinnedMatrix are above: ndarray of shape (n_samples,), dtype bool."""
        codes = binned.column(self.feature)
        above = codes > self.bin
        if not self.missing_above:
            above &= codes != binned.n_bins[self.feature]
        return above

    def apply(self, binned, n_threads=1):
        """Values at the rows of a BinnedMatrix: ndarray of shape (n_samples,).

        `n_threads` is for costlier weak rankers.
        """
        return self.value * self.above(binned)

    def importances(self, n_features):
        """Gain of the splits on each feature, and their number: two ndarrays (n_features,)."""
        gains, counts = np.zeros(n_features), np.zeros(n_features, dtype=np.intp)
        gains[self.feature], counts[self.feature] = self.gain, 1
        return gains, counts

    def predict(self, X):
        """Values at the rows of `X`: ndarray of shape (n_samples,).

        Parameters
        ----------
        X : {ndarray, CSC matrix} of shape (n_samples, n_features)
        """
        x = X[:, [self.feature]].toarray().ravel() if sparse.issparse(X) else X[:, self.feature]
        above = x.astype(np.float64, copy=False) > self.threshold
        if self.missing_above:
            above |= np.isnan(x)
        return self.value * above


def _two_counts(value, path):
    below, above = schema.counts(value, path, n=2).tolist()
    return below, above


class StumpSearch:
    """Exact search for the stump that gains the most on preference pairs.

    For a split into rows above and below a threshold let ``num`` be the signed weighted distance of
    the pairs it separates and ``den`` their weight. `best` maximises over all features, thresholds
    and sides for the missing values

    - "squared": ``num**2 / den``, what the best value ``num / den`` lowers the weighted squared
      loss by (the appendix of the MPBoost paper);
    - "exponential": ``den - sqrt(den**2 - num**2)``, what the best value lowers the exponential
      loss by where all distances are 1 (RankBoost's ``1 - Z``);
    - "correlation": ``abs(num)`` (RankBoost's r).

    ``num`` is a sum of one number a row, a histogram. ``den`` needs a sweep over the rows in the
    order of the feature, about ten times dearer, and is computed only where it can matter: a step
    changes pair weights by a bounded factor and a bounded sum, so a ``den`` of an earlier round
    bounds the present one from below, and the gain from above. A feature whose bound is
    below the best gain found cannot win, and is left alone. "correlation" needs no ``den``.

    Parameters
    ----------
    binned : BinnedMatrix
        Rows grouped by query.
    data : RankingData
        The rows of `binned`.
    criterion : {"squared", "exponential", "correlation"}, default="squared"
    """

    def __init__(self, binned, data, criterion="squared"):
        self.binned = binned
        self.data = data
        self.n_threads = data.n_threads
        self.criterion = criterion
        if criterion != "correlation":
            self._order = _presort(binned, data.offsets, data.n_threads)
        # A candidate is a slot, that is a bin of a feature, with the missing values below or above.
        n_features = binned.n_features
        self._starts = binned.slot_starts()
        self._counts = self._by_code(np.ones(binned.n_samples))
        first = self._starts[:n_features]
        self._has_missing = self._counts[first + binned.n_bins] > 0
        # What the kernels know of a feature: itself, its first slot, its bins, its sides.
        self._table = np.column_stack(
            [np.arange(n_features), first, binned.n_bins, 1 + self._has_missing]
        ).astype(np.intp)
        self._num, self._delta, self._lower = np.zeros((3, self._starts[-1], 2))
        # What has happened to the bounds in `_lower` since the last look: a factor, a loss, a unit.
        self._decay, self._lost, self._log_scale = 1.0, 0.0, 0.0

    def _by_code(self, values):
        sums = np.zeros(self._starts[-1])
        _stump.sum_by_code(self.binned.codes, values, self._starts[:-1], sums, self.n_threads)
        return self.data.merged(sums)

    def note_step(self, loss, crossing, step):
        """Loosen the bounds for a step along a stump.

        Parameters
        ----------
        loss : object
            As `best` saw it.
        crossing : Crossing
            The pairs that the stump separates.
        step : float
            What is added to the scores above.
        """
        distance, agreeing, contrary = crossing
        shrinking = agreeing if step > 0 else contrary
        lost = shrinking * -np.expm1(-abs(step) * distance)
        self._lost = self.data.sum(lost * distance**2 if loss.squared else lost)
        self._decay = np.exp(-abs(step) * loss.max_distance)

    def best(self, loss):
        """The stump of largest gain at the present weights, of value 1, or None.

        Between two calls `note_step` tells of what was added to the scores.

        Parameters
        ----------
        loss : object
            After ``update``: with ``gradient``, ``degree``, ``total``, ``log_scale``,
            ``max_distance``, ``min_distance``, ``squared``, ``crossing`` and ``sweep`` as
            `BoundStumpExponential` has them.

        Returns
        -------
        stump : Stump or None
            None where no stump lowers the loss.
        """
        ceiling, share = self._bound_gains(loss)
        # The largest gain there could be: of a stump on which all pairs agree.
        unit = loss.total * (1 if loss.squared else loss.max_distance**2)
        best, tied = 0.0, NO_GAIN * unit
        swept, gains = [], []
        queue = np.argsort(-ceiling, kind="stable")
        batch = BATCH * self.n_threads
        for first in range(0, len(queue), batch):
            features = queue[first : first + batch]
            features = features[ceiling[features] >= tied * (1 - TIE)]
            if len(features) == 0:
                break
            slots = self._slots(features)
            num = self._num[slots]
            den = num if self.criterion == "correlation" else self._denominators(loss, features)
            gain = np.empty_like(num)
            _stump.gains(num, den, share, CRITERIA.index(self.criterion), gain)
            swept.append(slots)
            gains.append(gain)
            best = max(best, gains[-1].max())
            slack = GAIN_ROUNDING * unit
            if self.criterion == "exponential":
                # The smaller of the two sums is a difference here, and its square root counts.
                slack = 4 * np.sqrt(best * slack)
            tied = max(NO_GAIN * unit, best * (1 - TIE) - slack)
        if best < NO_GAIN * unit:
            return None
        slots, gains = np.concatenate(swept), np.concatenate(gains)
        # Slots ascend by feature, then threshold; missing values below come before above.
        row, side = np.nonzero(gains >= tied)
        if self.criterion == "exponential":
            found = np.array(
                [self._exponential_gain(loss, slots[i], j) for i, j in zip(row, side, strict=True)]
            )
            gains[row, side] = found
            kept = found >= found.max() * (1 - TIE) - GAIN_ROUNDING * unit
            row, side = row[kept], side[kept]
        chosen = np.argmin(2 * slots[row] + side)
        return self._stump(
            slots[row[chosen]], bool(side[chosen]), gains[row[chosen], side[chosen]] / loss.total
        )

    def _bound_gains(self, loss):
        """Numerators of all candidates, and a bound of the gains of each feature.

        Returns
        -------
        ceiling : ndarray of shape (n_features,)
        share : float
            A denominator is at least this share of its numerator, because |num| <= sum of w d.
        """
        share = loss.min_distance if loss.squared else 1 / loss.max_distance
        ceiling = np.empty(self.binned.n_features)
        _stump.bound_gains(
            self._table,
            -self._by_code(loss.gradient),
            self._decay,
            self._lost,
            np.exp(min(self._log_scale - loss.log_scale, 500.0)),  # too low a bound is still one
            share,
            CRITERIA.index(self.criterion),
            self._lower,
            self._num,
            ceiling,
        )
        self._decay, self._lost, self._log_scale = 1.0, 0.0, loss.log_scale
        self._note_error(loss)
        return ceiling, share

    def _note_error(self, loss):
        """How far denominators may be off, by the size of today's weights.

        Those may soon be far smaller.
        """
        self._error = ROUNDING * self.data.sum(loss.degree)

    def _slots(self, features):
        return np.concatenate(
            [np.arange(first, first + n) for _, first, n, _ in self._table[features]]
        )

    def _denominators(self, loss, features):
        """Crossing weights of the candidates of some features, which become their bounds."""
        table, slots = self._table[features], self._slots(features)
        self._delta[slots] = 0
        loss.sweep(table, self.binned.codes, self._order, self._delta)
        _stump.accumulate(table, self._delta)
        den = self.data.merged(self._delta[slots])
        self._lower[slots] = np.maximum(den - self._error, 0)
        return den

    def _exponential_gain(self, loss, slot, missing_above):
        """``den - sqrt(den**2 - num**2)`` of a candidate, from sums without differences."""
        crossing = loss.crossing(self._stump(slot, bool(missing_above), 0.0).above(self.binned))
        right, wrong = (self.data.sum(w) for w in (crossing.agreeing, crossing.contrary))
        return (np.sqrt(right) - np.sqrt(wrong)) ** 2

    def _stump(self, slot, missing_above, gain):
        k = int(np.searchsorted(self._starts, slot, side="right")) - 1
        first, n_bins = self._starts[k], self.binned.n_bins[k]
        bin = int(slot - first)
        thresholds = self.binned.thresholds[k]
        threshold = float(thresholds[bin]) if bin < n_bins - 1 else np.inf
        counts = self._counts[first : first + n_bins + 1]
        below, above = counts[: bin + 1].sum(), counts[bin + 1 : n_bins].sum()
        if not self._has_missing[k]:
            missing_above = bool(above > below)
        missing = counts[n_bins]
        n_samples = int(below + missing * (not missing_above)), int(above + missing * missing_above)
        return Stump(k, bin, threshold, missing_above, float(gain), 1.0, n_samples)


def _presort(binned, offsets, n_threads):
    """Positions of each query's rows by ascending code, for every feature."""
    sizes = np.diff(offsets)
    n_codes = int(binned.n_bins.max()) + 1
    # As many queries as fit into a chunk; a longer query is a chunk of its own.
    chunk_of_query = offsets[:-1] // max(CHUNK_ROWS, 4 * n_codes)
    chunks = np.flatnonzero(np.diff(chunk_of_query, prepend=-1, append=-1)).astype(np.intp)
    longest = int(np.diff(offsets[chunks]).max())
    dtype = np.uint16 if sizes.max() <= 2**16 else np.uint32
    order = np.empty((binned.n_features, binned.n_samples), dtype=dtype)
    inputs = (
        binned.codes,
        np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
        offsets,
        chunks,
        np.empty((n_threads, 2, longest), dtype=np.int32),
        np.empty((n_threads, n_codes + 1), dtype=np.intp),
    )
    for part in parts(binned.n_features, binned.n_samples):
        _stump.presort(*inputs, part.start, order[part])
    return order
