# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The rows that a ranker learns from or is judged by, grouped by query."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sklearn_ltr import reduction
from sklearn_ltr.cached import cached_property
from sklearn_ltr.pairs import Preferences, given_pairs, preference_pairs
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.validation import LEAST_SHARE


class GradeGroups(NamedTuple):
    """Rows of one query and one grade; a row without a grade is a group by itself.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        The rows by query, and by ascending grade within it, those without a grade last.
    first : ndarray of shape (n_groups,)
        Position in `order` of the first row of each group.
    group : ndarray of shape (n_samples,)
        Number of each row's group.
    """

    order: np.ndarray
    first: np.ndarray
    group: np.ndarray


@dataclass(frozen=True, eq=False)
class RankingData:
    """Rows by query, in canonical order, with all that is known of them. It never changes.

    Losses, searches and judges take it whole. What follows from it, such as pairs, is computed
    once. A sum over its rows or queries is asked of it, and of nothing else.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        Grades; NaN at rows without one, of which preferences may be given.
    queries : QueryGroups
        ``queries.order`` says which rows of `X` these are.
    query_weight : ndarray of shape (n_queries,), dtype float64, positive
        As given.
    X : {ndarray, CSR matrix} of shape (n_rows, n_features), default=None
        The caller's rows, possibly converted, in the caller's order.
    sample_weight : ndarray of shape (n_samples,), dtype float64, positive, default=None
        How many rows each row stands for; None is 1.
    preferences : Preferences, default=None
        Given in the place of pairs of grades.
    init_score : ndarray of shape (n_samples,), dtype float64, default=None
        Scores that the model is added to; None is 0.
    propensity : ndarray of shape (n_samples,), dtype float64, default=None
        Probability, in (0, 1], that each row was looked at, where grades are clicks.
    n_threads : int, default=1
    random_seed : int, default=0
    mean_weight : float, default=None
        What weights of queries are relative to; None is their mean. Of a batch it is the mean of
        the whole.
    least_propensity : float, default=None
        What weights of clicks are relative to; None is the least of their propensities. Of a batch
        it is that of the whole.
    """

    y: np.ndarray
    queries: QueryGroups
    query_weight: np.ndarray
    X: object = None
    sample_weight: np.ndarray | None = None
    preferences: Preferences | None = None
    init_score: np.ndarray | None = None
    propensity: np.ndarray | None = None
    n_threads: int = 1
    random_seed: int = 0
    mean_weight: float | None = None
    least_propensity: float | None = None

    @classmethod
    def of(cls, y, offsets, query_weight=None, **others):
        """The data of grades that are grouped by query already.

        Parameters
        ----------
        y : ndarray of shape (n_samples,), dtype float64
        offsets : ndarray of shape (n_queries + 1,), dtype intp
            Rows ``offsets[q]:offsets[q + 1]``, at least one, belong to query q.
        query_weight : ndarray of shape (n_queries,), dtype float64, positive, default=None
            None is 1.
        **others
            The other fields.
        """
        n_queries = len(offsets) - 1
        offsets = np.asarray(offsets, dtype=np.intp)
        queries = QueryGroups(np.arange(len(y)), offsets, np.arange(n_queries))
        query_weight = np.ones(n_queries) if query_weight is None else query_weight
        return cls(y, queries, query_weight, **others)

    @property
    def offsets(self):
        """Rows ``offsets[q]:offsets[q + 1]`` belong to query q: ndarray (n_queries + 1,)."""
        return self.queries.offsets

    @property
    def n_samples(self):
        return len(self.y)

    @property
    def n_queries(self):
        return len(self.query_weight)

    @cached_property
    def _mean(self):
        return reduction.mean(self.query_weight) if self.mean_weight is None else self.mean_weight

    @cached_property
    def v(self):
        """Weight of each query over the mean weight: ndarray of shape (n_queries,)."""
        return self.query_weight / self._mean

    @cached_property
    def row_weight(self):
        """Weight of each row by itself: its query's, over the mean of all, times its own.

        ndarray of shape (n_samples,), dtype float64; None where all are 1.
        """
        w = self.query_weight
        if reduction.smallest(w) == reduction.largest(w):
            return self.sample_weight
        weight = self.per_row(w)
        weight /= reduction.mean(weight, self.sample_weight, self.n_threads)
        return weight if self.sample_weight is None else weight * self.sample_weight

    @cached_property
    def clicked(self):
        """Which rows may win a pair or have a gain, so that their propensity counts.

        ndarray of shape (n_samples,): those above the lowest grade of their query, or above 0.
        """
        lowest = np.fmin.reduceat(self.y, self.offsets[:-1])
        return (self.y > self.per_row(lowest)) | (self.y > 0)

    @cached_property
    def _least(self):
        if self.least_propensity is not None:
            return self.least_propensity
        return reduction.smallest(np.where(self.clicked, self.propensity, 1.0))

    @cached_property
    def click_weight(self):
        """Inverse propensity of each row over the largest of those that count.

        ndarray of shape (n_samples,), dtype float64, in (0, 1], 1 where it does not count; None
        where all are 1. What is divided by for a query must never contain it: the propensities of
        a query with one click would cancel.
        """
        if self.propensity is None:
            return None
        weight = np.where(self.clicked, np.maximum(self._least / self.propensity, LEAST_SHARE), 1.0)
        return None if reduction.smallest(weight) == 1 else weight

    @cached_property
    def win_weight(self):
        """Weight of each pair that a row wins, for kernels: `click_weight`, or ones."""
        return np.ones(self.n_samples) if self.click_weight is None else self.click_weight

    @cached_property
    def informative(self):
        """Which queries have two rows of different grades: ndarray of shape (n_queries,)."""
        starts = self.offsets[:-1]
        return np.fmin.reduceat(self.y, starts) < np.fmax.reduceat(self.y, starts)

    @cached_property
    def with_pairs(self):
        """Which queries have a preference pair, of grades or given: ndarray (n_queries,)."""
        if self.preferences is None:
            return self.informative
        if "pairs" in vars(self):
            return np.diff(self.pairs.pair_offsets) > 0
        query = np.full(self.preferences.n_samples, self.n_queries)
        query[self.queries.order] = self.queries.query_of_row()
        counts = np.bincount(query[self.preferences.winner], minlength=self.n_queries + 1)
        return counts[:-1] > 0

    @cached_property
    def pairs(self):
        """Preference pairs, of grades or as given: GradedPairs or ExplicitPairs."""
        return preference_pairs(self) if self.preferences is None else given_pairs(self)

    @cached_property
    def grade_groups(self):
        """The rows of each query by grade: GradeGroups."""
        y, query = self.y, self.queries.query_of_row()
        order = np.lexsort((y, query))
        ordered = y[order]
        begins = np.ones(len(y), dtype=bool)
        begins[1:] = (ordered[1:] != ordered[:-1]) | (query[1:] != query[:-1])
        group = np.empty(len(y), dtype=np.intp)
        group[order] = np.cumsum(begins) - 1
        return GradeGroups(order, np.flatnonzero(begins), group)

    @cached_property
    def degree(self):
        """Number of rows of its query that have another grade: ndarray (n_samples,), float64."""
        graded, group = ~np.isnan(self.y), self.grade_groups.group
        in_query = self.per_row(np.add.reduceat(graded, self.offsets[:-1], dtype=np.int64))
        return np.where(graded, in_query - np.bincount(group)[group], 0).astype(np.float64)

    @cached_property
    def weighted_degree(self):
        """Weights of the pairs of each row, summed, each that of the row that wins it.

        ndarray of shape (n_samples,), float64; of clicks without propensities it is `degree`.
        """
        if self.click_weight is None:
            return self.degree
        groups, graded = self.grade_groups, ~np.isnan(self.y)
        weight = np.where(graded, self.click_weight, 0.0)[groups.order]
        of_group = np.add.reduceat(weight, groups.first)
        # Sums over the groups of higher grade of a query, from its highest down, so that no digits
        # cancel.
        higher = np.zeros(len(of_group))
        last = groups.group[groups.order[self.offsets[1:] - 1]]
        from_top = np.repeat(last, np.diff(last, prepend=-1)) - np.arange(len(of_group))
        by_depth = np.argsort(from_top, kind="stable")
        for part in np.split(by_depth, np.cumsum(np.bincount(from_top))[:-1])[1:]:
            higher[part] = higher[part + 1] + of_group[part + 1]
        n_lower = groups.first[groups.group] - self.per_row(self.offsets[:-1])
        return np.where(graded, self.click_weight * n_lower + higher[groups.group], 0.0)

    @cached_property
    def n_pairs(self):
        """Number of pairs of rows of different grades: ndarray of shape (n_queries,), float64."""
        return np.add.reduceat(self.degree, self.offsets[:-1]) / 2

    @cached_property
    def pair_weight(self):
        """Weights of the pairs of each query, summed, 1 each unless given: ndarray (n_queries,).

        It is what means are formed by, and so counts pairs of clicks, whatever their propensities.
        """
        if self.preferences is None:
            return self.n_pairs
        pairs = self.pairs
        query = np.repeat(np.arange(self.n_queries), np.diff(pairs.pair_offsets))
        return np.bincount(query, pairs.weight, self.n_queries)

    @cached_property
    def _places(self):
        """Place of each query among all in canonical order, and how many those are."""
        keys = self.queries.keys
        if keys is None and reduction.is_spread():
            raise NotImplementedError("Queries without keys have no order over several ranks.")
        return reduction.places(np.arange(self.n_queries) if keys is None else keys)

    @property
    def query_numbers(self):
        """Number of each query among all, in canonical order: ndarray (n_queries,)."""
        return self._places[0]

    @cached_property
    def row_numbers(self):
        """The same of each row, a slice where these are all, and how many there are."""
        if not reduction.is_spread():
            return slice(None), self.n_samples
        numbers = self.running(np.ones(self.n_samples, dtype=np.int64)) - 1
        return numbers, reduction.count(self.n_samples)

    def running(self, values):
        """Sums of one number a row up to each, rows elsewhere that come before it included.

        Parameters
        ----------
        values : ndarray of shape (n_samples,)
            Of which sums are exact.
        """
        here = np.cumsum(values)
        if not reduction.is_spread():
            return here
        ends = here[self.offsets[1:] - 1]
        of_query = np.diff(ends, prepend=ends.dtype.type(0))
        place, n = self._places
        of_all = np.zeros(n, dtype=values.dtype)
        found = reduction.gathered(np.column_stack([place, of_query.view(np.int64)]))
        of_all[found[:, 0]] = found[:, 1].copy().view(values.dtype)
        before = (np.cumsum(of_all) - of_all)[place]
        return here + self.per_row(before - (ends - of_query))

    def per_row(self, of_query):
        """One number for each query (n_queries,) as one for each of its rows (n_samples,)."""
        return np.repeat(of_query, self.queries.sizes)

    def rows(self):
        """The rows of `X` in the order of `y`."""
        return self.X[self.queries.order]

    def seed(self, round, *key):
        """A seed of 64 bits for something that is drawn in a round.

        Parameters
        ----------
        round : int
            From 0; the same in one fit and in a fit that a warm start goes on with.
        *key : int
            What is drawn.
        """
        sequence = np.random.SeedSequence([self.random_seed, round, *key])
        return int(sequence.generate_state(1, np.uint64)[0])

    def sample_queries(self, share, seed):
        """Rows of a random share of the queries, at least one, ascending.

        Parameters
        ----------
        share : float in (0, 1]
        seed : int
        """
        place, n = self._places
        size = max(1, round(share * n))
        chosen = np.zeros(n, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(n)[:size]] = True
        return np.flatnonzero(self.per_row(chosen[place]))

    def select(self, mask, **others):
        """The data of the queries where `mask` (n_queries,) is true, and other fields changed."""
        queries, positions = self.queries.select(mask)
        selected = replace(
            self,
            y=self.y[positions],
            queries=queries,
            query_weight=self.query_weight[mask],
            sample_weight=_rows_of(self.sample_weight, positions),
            init_score=_rows_of(self.init_score, positions),
            propensity=_rows_of(self.propensity, positions),
            **others,
        )
        if self.preferences is not None and "pairs" in vars(self):
            vars(selected)["pairs"] = self.pairs.select(mask)
        return selected

    def batch(self, mask):
        """The same, as a part of these data: weights stay relative to the mean of all queries."""
        least = None if self.propensity is None else self._least
        return self.select(mask, mean_weight=self._mean, least_propensity=least)

    def labelled(self):
        """The data of the rows that have a grade, without preferences."""
        mask = ~np.isnan(self.y)
        any_left = np.logical_or.reduceat(mask, self.offsets[:-1])
        return replace(
            self,
            y=self.y[mask],
            queries=self.queries.keep_rows(mask),
            query_weight=self.query_weight[any_left],
            preferences=None,
            init_score=_rows_of(self.init_score, mask),
            propensity=_rows_of(self.propensity, mask),
        )

    def in_given_order(self):
        """The same queries, the rows of each in the caller's order, which some tie rules go by."""
        queries = self.queries
        positions = np.lexsort((queries.order, queries.query_of_row()))
        queries = QueryGroups(queries.order[positions], queries.offsets, queries.ids)
        return replace(
            self,
            y=self.y[positions],
            queries=queries,
            init_score=_rows_of(self.init_score, positions),
            propensity=_rows_of(self.propensity, positions),
        )

    def with_rows(self, X):
        """The same data with the rows of `X`, and preferences, in the order of `y`."""
        queries = QueryGroups(np.arange(self.n_samples), self.offsets, self.queries.ids)
        if self.preferences is None:
            return replace(self, X=X, queries=queries)
        pairs = self.pairs
        content = pairs.winner, pairs.loser, pairs.weight, self.n_samples, pairs.margin
        data = replace(self, X=X, queries=queries, preferences=Preferences(*content))
        vars(data)["pairs"] = pairs
        return data

    # Sums, extremes and medians over all rows, or all queries; see `reduction`.

    def sum(self, values, axis=0):
        """Sum of one number for each row, query or pair."""
        return reduction.total(values, axis, self.n_threads)

    def count(self, n):
        """How many rows or queries there are of what there are `n` of here."""
        return reduction.count(n)

    def any(self, flags):
        """Whether any of one truth value for each row or query is true."""
        return reduction.anywhere(flags)

    def all(self, flags):
        """Whether all of them are."""
        return reduction.everywhere(flags)

    def distinct(self, values):
        """The distinct of one number for each row or query, ascending, NaN left out."""
        return reduction.distinct(np.unique(values[~np.isnan(values)]))

    def dot(self, a, b):
        """Sum of products of two numbers for each row or query, or of several numbers with one."""
        return reduction.dot(a, b, self.n_threads)

    def mean(self, values, weights=None):
        """Mean of one number for each row or query."""
        return reduction.mean(values, weights, self.n_threads)

    def median(self, values, weights=None):
        """Median of one number for each row, which is not a sum and takes all of them at once."""
        return reduction.median(values, weights)

    def largest(self, values):
        """The largest of one number for each row or query."""
        return reduction.largest(values)

    def merged(self, partial):
        """Sums formed over rows, such as by a matrix product, as sums over all rows."""
        return reduction.merged(partial)

    def smallest(self, values):
        """The smallest of one number for each row or query."""
        return reduction.smallest(values)


def _rows_of(values, rows):
    """One number each of some rows, where there is one a row."""
    return None if values is None else values[rows]
