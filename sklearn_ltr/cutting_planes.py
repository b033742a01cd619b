# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Minimises a convex loss of linear scores with a penalty, by cutting planes.

The "1-slack" form of Joachims, Finley and Yu ("Cutting-Plane Training of Structural SVMs", Machine
Learning 77, 2009): a plane is for the mean loss of all queries.
"""

from numbers import Integral

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from sklearn_ltr.progress import check_verbose, print_end, print_step
from sklearn_ltr.validation import check_positive, warn_caller

# A plane that has had no weight for so many steps is dropped.
PATIENCE = 50

# Singular values, and violations, below this times the largest are rounding.
ROUNDING = 1e-13

# What is no larger has no square to divide by.
LEAST_BEND = 1e-140

# A gain across all curvature that is more than this of the whole is none by rounding.
FLAT = 1e-9

# Of the solver of the dual, for each plane: it takes few, and must end.
MOST_EXCHANGES = 20


def check_cutting_planes(ranker):
    """Raise TypeError or ValueError for invalid parameters that `minimise` looks at."""
    check_positive(ranker.C, "C")
    check_positive(ranker.tol, "tol")
    check_scalar(ranker.max_iter, "max_iter", Integral, min_val=1)
    check_verbose(ranker)


def minimise(ranker, loss, n_features):
    r"""w of the least :math:`F(w) = \frac12 |w|^2 + C \ell(w)`, to ``ranker.tol`` times F.

    Parameters
    ----------
    ranker : LinearRanker
        Has `C`, `tol`, `max_iter` and `verbose`; gets ``n_iter_``.
    loss : callable
        ``loss(w)`` -> the loss, convex and not negative, and a slope: (float, ndarray).
    n_features : int

    Returns
    -------
    w : ndarray of shape (n_features,)
    """
    planes, w = Planes(ranker.C, n_features), np.zeros(n_features)
    best, lowest, bound, ranker.n_iter_ = w, np.inf, 0.0, 0
    while True:
        value, slope = loss(w)
        F = w @ w / 2 + ranker.C * value
        if F < lowest:
            lowest, best = F, w
        gap = lowest - bound
        if ranker.n_iter_:
            print_step(ranker, ranker.max_iter, f"F(w) = {lowest:.9g}, duality gap {gap:.2g}")
        if gap <= ranker.tol * lowest:
            why = f"F(w) is within tol={ranker.tol:g} of its minimum"
            break
        if ranker.n_iter_ >= ranker.max_iter:
            why = f"max_iter={ranker.max_iter} reached"
            break
        # The plane is slope @ w + height.
        if not planes.add(slope, value - slope @ w, w):
            why = "the precision of numbers is reached"
            break
        w = planes.minimise()
        bound = max(bound, planes.value)
        ranker.n_iter_ += 1
    if gap > ranker.tol * lowest:
        warn_caller(
            f"{type(ranker).__name__} stopped after {ranker.n_iter_} planes with F(w) = "
            f"{lowest:.6g}, which may exceed the minimum by {gap:.2g}. Scale the features, lower "
            "C, or raise max_iter or tol.",
            ConvergenceWarning,
        )
    print_end(ranker, why)
    return best


class Planes:
    r"""Minimises :math:`\frac12 |w|^2 + C \max_k (g_k \cdot w + h_k)`, or its dual problem

    .. math:: \max_\alpha h \cdot \alpha - \frac12 |G^\top \alpha|^2 , \qquad
              \alpha \ge 0,\ \sum_k \alpha_k = C , \qquad w = - G^\top \alpha .

    One plane is 0, as no loss is below that.

    Parameters
    ----------
    C : float
    n_features : int

    Attributes
    ----------
    value : float
        Of the dual problem.
    """

    def __init__(self, C, n_features):
        self._G = np.zeros((1, n_features))
        self._h = np.zeros(1)
        self._alpha = np.array([C])
        # Kept beside alpha, as what large slopes sum up to has not the digits that heights need.
        self._w = np.zeros(n_features)
        self._unused = np.zeros(1, dtype=np.int64)
        self._C = C

    def add(self, slope, height, w):
        """Add a plane; returns whether it is above the others at w by more than rounding."""
        heights = self._G @ w + self._h
        at_w = slope @ w + height
        size = max(abs(height), np.abs(self._h).max(), np.abs(self._G @ w).max())
        if not at_w > heights.max() + ROUNDING * size:
            return False
        self._G = np.vstack([self._G, slope])
        self._h = np.append(self._h, height)
        self._alpha = np.append(self._alpha, 0.0)
        self._unused = np.append(self._unused, 0)
        return True

    def minimise(self):
        """The minimum over the planes, starting from the last: ndarray of shape (n_features,).

        An active set method: the highest plane is let in, the dual is maximised over the planes in
        the set, and planes whose weight falls to 0 on the way leave it.
        """
        inside = self._alpha > 0
        for _ in range(MOST_EXCHANGES * len(self._h)):
            heights = self._heights()
            used = heights[inside]
            new = int(np.argmax(heights))
            slack = ROUNDING * (np.abs(heights).max() + np.abs(self._h).max())
            if heights[new] <= used.max() + slack and np.ptp(used) <= 10 * slack:
                break
            inside[new] = True
            while self._step(inside):
                pass
        w = self._alpha @ self._G
        self.value = self._h @ self._alpha - w @ w / 2
        self._unused = np.where(self._alpha > 0, 0, self._unused + 1)
        kept = self._unused <= PATIENCE
        kept[0] = True
        self._G, self._h = self._G[kept], self._h[kept]
        self._alpha, self._unused = self._alpha[kept], self._unused[kept]
        return self._w

    def _heights(self):
        """Of the planes, at w."""
        return self._h + self._G @ self._w

    def _step(self, inside):
        """Go to the maximum over the planes inside, or to where a weight is 0, which then leaves.

        Returns whether one has left.
        """
        S = np.flatnonzero(inside)
        k = int(np.argmax(self._alpha[S]))
        reference, S = S[k], np.delete(S, k)
        if len(S) == 0:
            return False
        D = self._G[S] - self._G[reference]
        heights = self._heights()
        gain = heights[S] - heights[reference]
        U, s, V = np.linalg.svd(D, full_matrices=False)
        bent = s > max(ROUNDING * s[0], LEAST_BEND)
        U, s, V = U[:, bent], s[bent], V[bent]
        along = U.T @ gain
        flat = gain - U @ along
        if np.abs(flat).max() > FLAT * np.abs(gain).max():
            direction, step, move = flat, np.inf, 0.0  # nothing bends the dual this way
        else:
            direction, step, move = U @ (along / s**2), 1.0, -(along / s) @ V
        full = np.zeros(len(self._h))
        full[S], full[reference] = direction, -direction.sum()
        falling = np.flatnonzero(full < 0)
        limits = self._alpha[falling] / -full[falling]
        if len(falling) == 0 or limits.min() >= step:
            self._alpha += step * full
            self._w = self._w + move
            return False
        self._w = self._w + limits.min() * move
        leaving = falling[np.argmin(limits)]
        self._alpha = np.maximum(self._alpha + limits.min() * full, 0)
        self._alpha[leaving] = 0
        inside[leaving] = False
        return True
