# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The position-based click model."""

from numbers import Integral

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar

from sklearn_ltr._kernels import _click_models
from sklearn_ltr.clicks.base import ClickModel
from sklearn_ltr.exceptions import SeparatePositionsWarning
from sklearn_ltr.queries import QueryGroups, row_hash
from sklearn_ltr.threads import number_of_threads
from sklearn_ltr.validation import check_choice, check_positive, warn_caller

METHODS = ("em", "interventions")

# Sums over rows are formed in so many parts, whatever the number of threads.
N_BLOCKS = 64

# Of an interval from 0 to 1, to find the attractiveness in.
N_HALVINGS = 48

# The first guess of all propensities and of all attractivenesses.
START = 0.5


class PositionBasedModel(ClickModel):
    r"""The position-based model: a click is a look at the position, and an attractive document.

    A document :math:`d` of the query :math:`q` at position :math:`k` is clicked with probability

    .. math:: P(C = 1) = \gamma_k \, \alpha_{qd} ,

    where :math:`\gamma_k` is the propensity to look at the position and :math:`\alpha_{qd}` the
    attractiveness, independent of what else was shown and clicked [1]_. Only products are seen, so
    that propensities are relative: the largest is 1.

    They can be told from attractiveness where the same documents were shown at several positions,
    as by rankers that took turns. Of a log of one ranker, that shows every document at one position
    only, nothing can be learnt but the product, however long it is: see the warnings.

    Parameters
    ----------
    method : {"em", "interventions"}, default="em"
        "em" maximises the likelihood of the log, by expectation maximisation. An impression that
        was not clicked may have been attractive or looked at,

        .. math:: P(A = 1 \mid C = 0) = \frac{\alpha (1 - \gamma)}{1 - \gamma \alpha} , \qquad
                  P(E = 1 \mid C = 0) = \frac{\gamma (1 - \alpha)}{1 - \gamma \alpha} ,

        and a round makes each :math:`\alpha_{qd}` and :math:`\gamma_k` the mean of these, and of 1
        for each click, over its impressions (section 4.2.2 of [1]_). With few impressions of a
        document the propensities come out too large, and the more so the smaller they are.

        "interventions" compares two positions by the documents that were shown at both (section 4
        of [2]_). Of these :math:`S_{kk'}` it takes the click rates at either,

        .. math:: c_{kk'} = \frac{\sum_{S_{kk'}} w_{kk'} \, \mathrm{ctr}_k}
                            {\sum_{S_{kk'}} w_{kk'}} ,

        and maximises over :math:`\gamma_k` and :math:`r_{kk'} = r_{k'k}`, how attractive they are,

        .. math:: \sum_{k \ne k'} W_{kk'} \bigl( c_{kk'} \log \gamma_k r_{kk'} +
                  (1 - c_{kk'}) \log (1 - \gamma_k r_{kk'}) \bigr) ,

        with :math:`W_{kk'}` the sum of the weights. It needs fewer impressions, as there is little
        to estimate. In [2]_ each document weighs the same; here it is :math:`w_{kk'} = \sqrt{n_k
        n_{k'}}` for :math:`n_k` and :math:`n_{k'}` impressions, so that rates of a single
        impression are not taken for as good as those of thousands. The attractiveness is then that
        of the largest likelihood given the propensities.
    attractiveness_prior : (float, float), default=(0.0, 0.0)
        How many attracted and unattracted impressions to add to each document of a query: those of
        a Beta distribution with parameters one larger. With none a document that was never clicked
        has attractiveness 0, and a click on it in another log is impossible.
    max_iter : int, default=10000
        Most rounds of expectation maximisation, which is slow and cheap.
    tol : float, default=1e-6
        A fit ends when no propensity has changed by more than this share of it in a round, and no
        attractiveness by more than this.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it.

    Attributes
    ----------
    propensities_ : ndarray of shape (n_positions,)
        :math:`\gamma_k` for the positions from 1 on, relative to the largest. 0 where nothing was
        clicked.
    attractiveness_ : ndarray of shape (n_rows,)
        :math:`\alpha_{qd}` of each document of a query, by their ids, such that the product with
        the propensity is the probability of a click.
    groups_, documents_ : ndarray of shape (n_rows,)
        Ids of the query and the document that each is of.
    n_iter_ : int
        Rounds of expectation maximisation for the propensities.

    Warns
    -----
    SeparatePositionsWarning
        If positions cannot be compared: there are some such that no document that was clicked at
        one of them was shown at one of the others.
    UserWarning
        If nothing was clicked at a position.
    ConvergenceWarning
        If `max_iter` was reached.

    See Also
    --------
    CascadeModel : Users who stop at the first click.
    DependentClickModel : Users who go from click to click.

    Notes
    -----
    Cells of the log are gone through once a round, in time and memory linear in their number and
    whatever the number of impressions. The model does not depend on the order in which impressions
    were added, on the names of queries and documents, or on `n_jobs`, to the last bit.

    References
    ----------
    .. [1] Chuklin, Markov, de Rijke. "Click Models for Web Search". Morgan & Claypool 2015.
    .. [2] Agarwal, Zaitsev, Wang, Li, Najork, Joachims. "Estimating Position Bias without
       Intrusive Interventions". WSDM 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.clicks import ClickLog, PositionBasedModel, simulate_clicks
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(20, 10, random_state=0)
    >>> rankers = X[:, :3]  # each ranks by one feature
    >>> log = ClickLog(**simulate_clicks(y, groups, rankers, n_sessions=20_000, random_state=0))
    >>> model = PositionBasedModel().fit(log)
    >>> model.propensities_[:5].round(2)
    array([1.  , 0.51, 0.36, 0.25, 0.21])
    >>> (1 / np.arange(1, 6)).round(2)
    array([1.  , 0.5 , 0.33, 0.25, 0.2 ])
    """

    def __init__(
        self,
        method="em",
        *,
        attractiveness_prior=(0.0, 0.0),
        max_iter=10_000,
        tol=1e-6,
        n_jobs=None,
    ):
        self.method = method
        self.attractiveness_prior = attractiveness_prior
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(self, log):
        """Estimate the propensity of each position, and the attractiveness of each document.

        Parameters
        ----------
        log : ClickLog
            Sessions are of no account.

        Returns
        -------
        self : PositionBasedModel

        Raises
        ------
        TypeError, ValueError
            If it is no log, it has no impression or no click, or a parameter is out of its range.
        """
        self._check_params()
        self._check_log(log, "fit")
        counts, n_positions = log._counts, log.n_positions
        cells = _Cells.of_counts(counts)
        clicked = cells.by_position(cells.clicked, n_positions) > 0
        _warn_of_positions(cells, clicked)
        prior = tuple(map(float, self.attractiveness_prior))
        if self.method == "em":
            propensities, n_iter = self._maximise(cells, clicked, prior)
        else:
            pairs = _compared(cells, n_positions)
            propensities, n_iter = self._maximise(pairs, clicked, (0.0, 0.0))
        propensities /= propensities.max()
        attractiveness = _most_likely(cells, propensities, prior)
        self._keep(log, propensities, attractiveness[cells.number])
        self.n_iter_ = n_iter
        return self

    def _check_params(self):
        super()._check_params()
        check_choice(self.method, "method", METHODS)
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_positive(self.tol, "tol")

    def _maximise(self, cells, clicked, prior):
        """Propensities, and the number of rounds that led to them.

        Those of positions without a click are 0, and of those in no cell as at the start.
        """
        n_rows, n_positions = len(cells.offsets) - 1, len(clicked)
        propensities, attractiveness = np.where(clicked, START, 0.0), np.full(n_rows, START)
        blocks = np.linspace(0, n_rows, N_BLOCKS + 1).astype(np.intp)
        looked_at, changes = np.empty((N_BLOCKS, n_positions)), np.empty(N_BLOCKS)
        shown = cells.by_position(cells.clicked + cells.skipped, n_positions)
        n_threads = number_of_threads(self.n_jobs)
        for n_iter in range(1, self.max_iter + 1):
            _click_models.expect_and_maximise(
                blocks,
                cells.offsets,
                cells.position,
                cells.clicked,
                cells.skipped,
                cells.times,
                propensities,
                *prior,
                n_threads,
                attractiveness,
                looked_at,
                changes,
            )
            new = looked_at.sum(axis=0)
            new = np.divide(new, shown, out=propensities.copy(), where=shown > 0)
            relative, before = new / new.max(), propensities / propensities.max()
            learnt = relative > 0
            change = (np.abs(relative - before)[learnt] / relative[learnt]).max()
            # Where positions have equal shares of clicks, a first round may leave their ratios.
            change = max(change, changes.max())
            propensities = new
            if change <= self.tol:
                return propensities, n_iter
        warn_caller(
            f"The fit had not converged after max_iter={self.max_iter} rounds: a propensity still "
            f"changes by {change:.1g} of its value, or an attractiveness by that. Raise `max_iter` "
            "or `tol`.",
            ConvergenceWarning,
        )
        return propensities, n_iter

    def _log_likelihoods(self, log):
        _, probability, clicked, skipped = self._click_probabilities(log)
        with np.errstate(divide="ignore"):
            likelihoods = np.concatenate([np.log(probability), np.log1p(-probability)])
        return likelihoods, np.concatenate([clicked, skipped])

    def _click_probabilities(self, log):
        counts = log._counts
        shown, clicked = counts.cells[:2]
        attractiveness = self._attractiveness_in(log)[counts.cell_row]
        probability = np.minimum(self.propensities_[counts.cell_position] * attractiveness, 1)
        return counts.cell_position, probability, clicked, shown - clicked


class _Cells:
    """Counts of clicks by row and position, in an order that depends on the counts alone.

    Rows with the same counts at the same positions are there once: they are as attractive, and long
    logs have many that were seldom shown and never clicked.

    Parameters
    ----------
    offsets : ndarray of shape (n_rows + 1,), dtype intp
    position : ndarray of shape (n_cells,), dtype intc
    clicked, skipped : ndarray of shape (n_cells,), dtype float64
    times : ndarray of shape (n_rows,), dtype float64
        How many rows of the log each stands for.
    number : ndarray of shape (n_rows_of_log,) or None
        The row here of each row of the log.
    """

    def __init__(self, offsets, position, clicked, skipped, times, number=None):
        self.offsets = offsets
        self.position = position.astype(np.intc)
        self.clicked = clicked
        self.skipped = skipped
        self.times = times
        self.number = number

    @classmethod
    def of_counts(cls, counts):
        shown, clicked = counts.cells[:2].astype(np.float64)
        position = counts.cell_position
        content = np.column_stack([position.astype(np.float64), shown, clicked])
        # Rows of the same content have the same key, and so follow one another.
        rows = QueryGroups.from_ids(counts.cell_row, len(shown), keys=row_hash(content))
        position, clicked, shown = (v[rows.order] for v in (position, clicked, shown))
        row, at = rows.query_of_row(), np.arange(len(shown))
        # Each cell beside that at the same place of the row before, if that is as long.
        other = np.maximum(at - rows.sizes[row], 0)
        same = (row > 0) & (rows.sizes[row] == rows.sizes[row - 1])
        for values in (position, clicked, shown):
            same &= values == values[other]
        new = ~np.logical_and.reduceat(same, rows.offsets[:-1])
        kept, of_row = new[row], np.cumsum(new) - 1
        number = np.empty(len(of_row), dtype=np.intp)
        number[rows.ids] = of_row
        return cls(
            np.concatenate(([0], np.cumsum(rows.sizes[new]))).astype(np.intp),
            position[kept],
            clicked[kept],
            (shown - clicked)[kept],
            np.bincount(of_row).astype(np.float64),
            number,
        )

    def by_position(self, values, n_positions):
        """Sums over the log of values of the cells, of each position."""
        weights = values * np.repeat(self.times, np.diff(self.offsets))
        return np.bincount(self.position, weights=weights, minlength=n_positions)

    def by_row(self, values, n_positions):
        """Values of the cells as a matrix with the columns of positions."""
        shape = len(self.offsets) - 1, n_positions
        return sparse.csr_array((values, self.position, self.offsets), shape=shape)


def _warn_of_positions(cells, clicked):
    """Warn of positions of which little is known; `clicked` says which have a click."""
    shown = np.bincount(cells.position, minlength=len(clicked)) > 0
    if not clicked.any():
        raise ValueError("The log has no click: there is nothing to learn from.")
    without = np.flatnonzero(shown & ~clicked) + 1
    if len(without):
        warn_caller(
            f"Nothing was clicked at {_name(without)}, whose propensity comes out as 0: leave "
            "these impressions out, or wait for more.",
            UserWarning,
        )
    sets = _separate(cells, np.flatnonzero(clicked), len(clicked))
    if len(sets) > 1:
        named = "; ".join(_name(positions + 1) for positions in sets[:5])
        warn_caller(
            f"The positions fall into {len(sets)} sets that cannot be compared, {named}"
            f"{'; ...' if len(sets) > 5 else ''}: no document that was clicked in one set was "
            "shown in another, or none the other way round. How large propensities of "
            "different sets are beside each other is not known, and depends on where the "
            "search began. Let several rankers take turns, or swap documents at random now and "
            "then; where that is done, wait for more clicks.",
            SeparatePositionsWarning,
        )


def _most_likely(cells, propensities, prior):
    """Attractiveness of each row, given the propensities: where the likelihood stops rising."""
    n_rows = len(cells.offsets) - 1
    row = np.repeat(np.arange(n_rows), np.diff(cells.offsets))
    attracted = np.bincount(row, weights=cells.clicked, minlength=n_rows) + prior[0]
    low, high = np.zeros(n_rows), np.ones(n_rows)
    p = propensities[cells.position]
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        falls = np.bincount(
            row, weights=cells.skipped * p / (1 - p * middle[row]), minlength=n_rows
        )
        rises = attracted / middle > falls + prior[1] / (1 - middle)
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return np.where(high == 1, 1, low)


def _compared(cells, n_positions):
    """Click rates of the documents that were shown at two positions: a row for each such pair."""
    n = cells.clicked + cells.skipped
    root = cells.by_row(np.sqrt(n), n_positions)
    rate = cells.by_row(np.sqrt(n) * cells.clicked / n, n_positions)
    times = np.repeat(cells.times, np.diff(cells.offsets))
    weighed = cells.by_row(times * np.sqrt(n), n_positions)
    weight, clicked = (root.T @ weighed).toarray(), (rate.T @ weighed).toarray()
    k, other = np.nonzero(np.triu(weight, 1))
    weight = np.repeat(weight[k, other], 2)
    clicked = np.column_stack([clicked[k, other], clicked[other, k]]).ravel()
    offsets = np.arange(0, 2 * len(k) + 1, 2, dtype=np.intp)
    position = np.column_stack([k, other]).ravel()
    skipped = np.maximum(weight - clicked, 0)
    return _Cells(offsets, position, clicked, skipped, np.ones(len(k)))


def _separate(cells, positions, n_positions):
    """Sets of positions, out of some, between which documents do not connect.

    An edge leads from where a document was clicked to where it was shown. A click bounds from below
    how attractive the document is, and so, where it is shown, the propensity from above: only along
    edges in both directions it is bounded from both sides.
    """
    clicked = cells.by_row((cells.clicked > 0).astype(np.int64), n_positions)
    shown = cells.by_row(np.ones(len(cells.position), dtype=np.int64), n_positions)
    edges = (clicked.T @ shown)[positions][:, positions]
    n_sets, number = connected_components(edges, directed=True, connection="strong")
    found = [positions[number == i] for i in range(n_sets)]
    return sorted(found, key=lambda members: members[0])


def _name(positions):
    """Positions as they are called in a sentence."""
    if len(positions) == 1:
        return f"position {positions[0]}"
    shown = ", ".join(map(str, positions[:6])) + (", ..." if len(positions) > 6 else "")
    return f"positions {shown}"
