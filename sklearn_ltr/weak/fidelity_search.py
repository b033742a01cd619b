# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The search for the stump of least fidelity loss."""

import numpy as np

from sklearn_ltr._kernels import _stump
from sklearn_ltr.weak.stump import BATCH, GAIN_ROUNDING, NO_GAIN, TIE, StumpSearch

# Largest error of an interpolated fall, as a share of alpha and the weights of the pairs cut.
INTERPOLATION = 2e-5

# Slack of bounds: relative, and as a share of the size of rounding errors.
SLACK = 1e-6
ROUNDING = 1e-13

# Time of a node over that of an exact look at a candidate.
NODE_COST = 2.0

# For so many nodes a closer bound first is not worth it.
FEW_NODES = 4

# Interpolate over steps up to this at least: even parts lose digits at tiny steps.
SHORTEST_RANGE = 0.05


class FidelitySearch(StumpSearch):
    """Exact search for the stump after whose step the fidelity loss is least.

    Each candidate, that is feature, threshold and side of the missing values, has a step alpha of
    its own (equation 3 of the FRank paper), and is worth what the loss (2) falls by at alpha:
    Figure 2, (a) and (b). Three things keep this far below candidates times pairs.

    - Let a pair's loss fall by g(a) if its score difference grows by a, and split g into even and
      odd part. The pairs cut by a threshold add up to ``sum even(alpha)``, whichever row is above,
      and to ``sum +-odd(alpha)``, where all pairs that are not cut cancel: at a given alpha the odd
      part of all candidates is a histogram of one number a row, and the even part one sweep.
      Both are computed at a few Chebyshev nodes and interpolated to the alpha of each candidate.
    - Numerator and denominator of alpha are a histogram and a sweep, too, and with bounds of the
      slope and the curvature of g they bound the fall from above (`BoundListedFidelity.ceiling`).
      Features below the fall of a good candidate are not looked at any further. A weight shrinks by
      at most exp(-abs(step)) a round, so that an earlier denominator bounds the present one from
      below, and most features need no sweep at all.
    - The few candidates within the error of the interpolation are compared exactly.

    Parameters
    ----------
    binned : BinnedMatrix
        Rows grouped by query.
    data : RankingData
        The rows of `binned`.
    loss : BoundListedFidelity
    """

    def __init__(self, binned, data, loss):
        super().__init__(binned, data)
        self._share = np.zeros_like(self._num)  # D of the pairs that each candidate cuts
        features = np.arange(binned.n_features)
        slots = self._slots(features)
        self._share[slots] = np.maximum(self._swept(loss.shares(), features), 0)

    def note_step(self, loss, step):
        """Loosen the bounds for `step`, added to the scores above; after ``loss.update``."""
        self._decay, self._lost = np.exp(-abs(step)), loss.lost

    def best(self, loss):
        """The stump of least loss, of value 1, and its step; or None where none lowers the loss.

        Parameters
        ----------
        loss : BoundListedFidelity
            After ``update``.

        Returns
        -------
        found : tuple of Stump and float, or None
        """
        self._number(loss)
        # The size of rounding errors.
        unit = max(loss.total + loss.excess, loss.weight_total)
        least = NO_GAIN * unit
        if loss.weight_total == 0:
            return None
        exactly = _Exactly(self, loss)
        slots, den, least = self._denominators_that_matter(loss, least, exactly)
        num, share = self._num[slots], self._share[slots]
        bound = loss.ceiling(num, den, share)
        row, side = np.nonzero(bound >= least * (1 - SLACK))
        if len(row) == 0:
            return None
        candidates, bound = 2 * slots[row] + side, bound[row, side]
        alpha, mass = loss.step(num[row, side], den[row, side]), den[row, side]
        if count_nodes(max(SHORTEST_RANGE, np.abs(alpha).max())) > FEW_NODES:
            bound = np.minimum(bound, self._losses_ahead(loss, candidates, alpha))
            kept = bound >= least * (1 - SLACK) - ROUNDING * unit
            candidates, bound, alpha, mass = (a[kept] for a in (candidates, bound, alpha, mass))
        far = np.abs(alpha) > best_range(np.abs(alpha))
        fall, error = self._falls(loss, candidates[~far], alpha[~far], mass[~far])
        least = max(least, (fall - error).max(initial=0.0)) * (1 - SLACK) - ROUNDING * unit
        # Far ones in the order of what they promise, each of which can raise what is needed.
        left = candidates[~far][fall + error >= least].tolist()
        for k in np.flatnonzero(far)[np.argsort(-bound[far], kind="stable")]:
            if bound[k] >= least:
                candidate = int(candidates[k])
                least = max(least, exactly(candidate)[2] * (1 - SLACK) - ROUNDING * unit)
                left.append(candidate)
        if not left:
            return None
        # Slots ascend by feature, then threshold; missing values below come before above.
        found = [exactly(candidate) for candidate in sorted(left)]
        falls = np.array([fall for _, _, fall in found])
        best = falls.max()
        if best < NO_GAIN * unit:
            return None
        chosen = int(np.argmax(falls >= best * (1 - TIE) - GAIN_ROUNDING * unit))
        stump, alpha, fall = found[chosen]
        stump.gain = fall / loss.scale
        return stump, alpha

    def _number(self, loss):
        """Numerators of all candidates; the bounds in ``_lower`` age."""
        _stump.bound_gains(
            self._table,
            self._by_code(loss.weights.signed),
            self._decay,
            self._lost,
            1.0,
            1.0,
            0,
            self._lower,
            self._num,
            np.empty(self.binned.n_features),
        )
        self._decay, self._lost = 1.0, 0.0
        self._note_error(loss.weights)

    def _denominators_that_matter(self, loss, least, exactly):
        """Denominators of all features that can still win.

        Returns
        -------
        slots : ndarray of shape (n_slots,), ascending
        den : ndarray of shape (n_slots, 2)
        least : float
            What the best candidate lowers the loss by at least.
        """
        used = slice(self._starts[self.binned.n_features])
        num = self._num[used]
        lower = np.maximum(self._lower[used], np.abs(num))
        bound = loss.ceiling(num, lower, self._share[used])
        starts = self._starts[: self.binned.n_features]
        ceiling = np.maximum.reduceat(bound.max(axis=1), starts)
        queue = np.argsort(-ceiling, kind="stable")
        found, promise, first, size = {}, -1.0, 0, BATCH * self.n_threads
        while first < len(queue):
            features = queue[first : first + size]
            features = features[ceiling[features] >= least * (1 - SLACK)]
            if len(features) == 0:
                break
            slots = self._slots(features)
            den = self._denominators(loss.weights, features)
            # Compare exactly what promises most: the better `least`, the fewer features are left.
            guess = self._num[slots] * loss.step(self._num[slots], den)
            if guess.max() > promise:
                promise = guess.max()
                row, side = np.unravel_index(np.argmax(guess), guess.shape)
                least = max(least, exactly(int(2 * slots[row] + side))[2])
            found.update(zip(features.tolist(), np.split(den, self._ends(features)), strict=True))
            first, size = first + size, 2 * size
        features = np.array(sorted(found), dtype=np.intp)
        if len(features) == 0:
            return np.empty(0, dtype=np.intp), np.empty((0, 2)), least
        return self._slots(features), np.concatenate([found[k] for k in features.tolist()]), least

    def _ends(self, features):
        """Where the slots of all features but the last end, in `_slots`."""
        return np.cumsum(self._table[features, 2])[:-1]

    def _falls(self, loss, candidates, alpha, mass):
        """What candidates lower the loss by at their steps, interpolated, and errors of that."""
        fall = np.zeros(len(candidates))
        if len(candidates) == 0:
            return fall, fall
        features, place = self._where(candidates)
        longest = max(SHORTEST_RANGE, np.abs(alpha).max())
        nodes = chebyshev_nodes(longest)
        basis = lagrange_basis((nodes / longest) ** 2, (alpha / longest) ** 2)
        for node, factor in zip(nodes, basis, strict=True):
            parts = loss.parts(node)
            odd = self._signed(parts.signed, features)[place]
            even = self._swept(parts, features)[place]
            fall += factor * alpha * (odd + alpha * even)
        return fall, INTERPOLATION * np.abs(alpha) * mass

    def _losses_ahead(self, loss, candidates, alpha):
        """What the pairs still lose that each candidate would bring into order."""
        features, place = self._where(candidates)
        losses = loss.losses()
        both = self._swept(losses, features)[place]
        return (both + np.sign(alpha) * self._signed(losses.signed, features)[place]) / 2

    def _where(self, candidates):
        """Features of candidates, and each one's place in `_signed` and `_swept` of these."""
        slots, side = np.divmod(candidates, 2)
        features = np.unique(np.searchsorted(self._starts, slots, side="right") - 1)
        return features, (np.searchsorted(self._slots(features), slots), side)

    def _signed(self, signed, features):
        """Sum of signed numbers over the rows above each threshold of some features."""
        sums = []
        for k in features.tolist():
            n_bins = self.binned.n_bins[k]
            of_bin = np.bincount(self.binned.column(k), signed, n_bins + 1)
            below = np.cumsum(of_bin[:n_bins])
            sums.append(np.column_stack([of_bin[n_bins] + below, below]))  # missing below, above
        return -self.data.merged(np.concatenate(sums))

    def _swept(self, sums, features):
        """Sum of ``sums.weight`` over the pairs that each threshold of some features cuts."""
        table, slots = self._table[features], self._slots(features)
        self._delta[slots] = 0
        sums.sweep(table, self.binned.codes, self._order, self._delta)
        _stump.accumulate(table, self._delta)
        return self.data.merged(self._delta[slots])


class _Exactly:
    """Stump, step and fall of a candidate, a pass over all pairs for each split of the rows."""

    def __init__(self, search, loss):
        self._search = search
        self._loss = loss
        self._found = {}

    def __call__(self, candidate):
        """Of slot ``candidate // 2`` with missing values above if ``candidate % 2``."""
        stump = self._search._stump(candidate // 2, bool(candidate % 2), 0.0)
        above = stump.above(self._search.binned)
        key = np.packbits(above).tobytes()
        if key not in self._found:
            alpha = self._loss.crossing_step(above)
            fall, _ = self._loss.along(above, [alpha])
            self._found[key] = alpha, float(fall[0])
        return stump, *self._found[key]


def count_nodes(longest):
    """How many nodes keep the error of interpolation below `INTERPOLATION`; may be an array.

    The loss is analytic up to a distance of pi from the real axis, which gives the rate at which an
    interpolant converges; the constant is a bound of what was measured for steps up to 6.
    """
    rate = np.pi / longest + np.hypot(np.pi / longest, 1)
    constant = 20 / longest + 5 * longest**2
    n = (np.log(constant / INTERPOLATION) / np.log(rate) - 1) / 2
    return np.maximum(np.ceil(n), 1).astype(int)


def chebyshev_nodes(longest):
    """Positive Chebyshev nodes of [-longest, longest], 0 being one of all."""
    n = int(count_nodes(longest))
    return longest * np.cos(np.pi * (2 * np.arange(n) + 1) / (4 * n + 2))


def best_range(steps):
    """Up to which step to interpolate: beyond, looking at each candidate by itself is cheaper."""
    ranges = np.unique(np.maximum(np.append(steps, SHORTEST_RANGE), SHORTEST_RANGE))
    n_beyond = len(steps) - np.searchsorted(np.sort(steps), ranges, side="right")
    return ranges[np.argmin(NODE_COST * count_nodes(ranges) + n_beyond)]


def lagrange_basis(nodes, points):
    """Values at some points of each Lagrange polynomial: ndarray (n_nodes, n_points)."""
    basis = np.ones((len(nodes), len(points)))
    for i, node in enumerate(nodes):
        others = np.arange(len(nodes)) != i
        basis[others] *= points - node
        basis[others] /= (nodes[others] - node)[:, None]
    return basis
