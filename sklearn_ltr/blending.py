# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scores of several rankers brought to one scale, and their weighted sum."""

from numbers import Real

import numpy as np

from sklearn_ltr.validation import check_column

# Of scores that are not all the same.
LEAST_DEVIATION = np.finfo(np.float64).smallest_subnormal


def check_weights(weights, kept):
    """The weights of the members that are kept, of which `weights` has all, or is None."""
    weights = np.ones(len(kept)) if weights is None else check_column(weights, "weights")
    if len(weights) != len(kept):
        raise ValueError(
            f"`weights` must have one number for each of the {len(kept)} members; got "
            f"{len(weights)}."
        )
    weights = weights[kept]
    if not weights.any():
        raise ValueError("`weights` is zero for every member; at least one must not be.")
    return weights


def check_candidates(weights, names):
    """The number of the member of ``{name: candidates}``, and the candidates."""
    if len(weights) != 1:
        raise ValueError(
            f"`weights` as a dict must have the candidates of one member; got {len(weights)}. The "
            "weights of several members, chosen by validation, fit the validation queries and "
            "not others."
        )
    ((name, candidates),) = weights.items()
    if name not in names:
        raise ValueError(f"`weights` has candidates for {name!r}; the members are {names}.")
    if len(names) == 1:
        raise ValueError(
            "`weights` has candidates for the only member, whose weight makes no difference."
        )
    several = np.iterable(candidates) and not isinstance(candidates, str)
    wrong = [c for c in candidates if not isinstance(c, Real) or not c > -np.inf] if several else []
    if not several or wrong or len(candidates) == 0:
        raise ValueError(
            f"The candidates of {name!r} in `weights` must be a list of one or more numbers, "
            f"finite or numpy.inf; got {wrong[0] if wrong else candidates!r}."
        )
    return names.index(name), [float(c) for c in candidates]


def with_weight(n_members, m, weight):
    """Weights of which that of member m is given, infinite if it is to stand alone."""
    weights = np.zeros(n_members) if weight == np.inf else np.ones(n_members)
    weights[m] = 1 if weight == np.inf else weight
    return weights


def moments(scores, data):
    """Mean and standard deviation of the scores of the rows of `data`, by their weights."""
    low, high = data.smallest(scores), data.largest(scores)
    if low == high:
        return low, 0.0
    share = (scores - low) / (high - low)  # whose squares neither overflow nor vanish
    mean = data.mean(share, data.sample_weight)
    variance = data.mean((share - mean) ** 2, data.sample_weight)
    deviation = max((high - low) * np.sqrt(variance), LEAST_DEVIATION)
    return low + (high - low) * mean, deviation


def standardized_within(scores, queries):
    """Scores less their mean over their deviation in the query; 0 where they are all the same.

    What is added up is in ascending order, so that nothing depends on the order of rows.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,), dtype float64
        In the order of `queries`.
    queries : QueryGroups
    """
    starts, sizes = queries.offsets[:-1], queries.sizes
    low, high = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    same = np.repeat(low == high, sizes)
    span = np.where(low == high, 1, high - low)
    share = (scores - np.repeat(low, sizes)) / np.repeat(span, sizes)  # from 0 to 1
    ascending = share[np.lexsort((share, queries.query_of_row()))]
    mean = np.repeat(np.add.reduceat(ascending, starts) / sizes, sizes)
    variance = np.add.reduceat((ascending - mean) ** 2, starts) / sizes
    deviation = np.repeat(np.where(low == high, 1, np.sqrt(variance)), sizes)
    return np.where(same, 0, (share - mean) / deviation)


def weighted_sum(parts, weights):
    """Weighted sum of the standardised scores of members; those of weight 0 are not looked at."""
    first, *others = np.flatnonzero(weights)
    with np.errstate(over="ignore", invalid="ignore"):  # as `predict` tells
        scores = weights[first] * parts[first]
        for m in others:
            scores += weights[m] * parts[m]
    return scores
