# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Splitting data by whole queries."""

from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from sklearn_ltr.queries import encode_groups


def train_test_split_queries(*arrays, groups, test_size=0.25, random_state=None):
    """Split rows into training and test rows, keeping every query whole.

    Parameters
    ----------
    *arrays : sequence of indexables with n_samples rows
        Arrays, sparse matrices, data frames or lists; typically ``X, y`` and query weights.
    groups : array-like of shape (n_samples,)
        Query id of each row, in any order and of any type.
    test_size : float or int, default=0.25
        Share of the queries, or number of queries, to hold out for testing.
    random_state : int, RandomState instance or None, default=None
        Chooses the test queries. An int gives the same split each time.

    Returns
    -------
    splitting : list, length 2 * len(arrays) + 2
        Training and test part of each array, then of `groups`; rows keep their order.

    Raises
    ------
    ValueError
        If no array is given, lengths differ, a row has no query id, or one side would be left
        without queries.

    See Also
    --------
    sklearn.model_selection.GroupKFold : Folds of whole queries, for cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.model_selection import train_test_split_queries
    >>> X, y = np.arange(8).reshape(4, 2), [0, 1, 1, 0]
    >>> X_train, X_test, y_train, y_test, groups_train, groups_test = train_test_split_queries(
    ...     X, y, groups=["a", "b", "a", "b"], test_size=0.5, random_state=0
    ... )
    >>> groups_train, groups_test
    (['a', 'a'], ['b', 'b'])
    >>> X_train
    array([[0, 1],
           [4, 5]])
    """
    if not arrays:
        raise ValueError("Give at least one array to split beside `groups`.")
    n_samples = _num_samples(arrays[0])
    for number, array in enumerate(arrays):
        if array is not None and _num_samples(array) != n_samples:
            raise ValueError(
                f"Array {number} has {_num_samples(array)} rows but array 0 has {n_samples}."
            )
    arrays = indexable(*arrays)
    codes, _ = encode_groups(groups, n_samples)
    splitter = GroupShuffleSplit(n_splits=1, test_size=test_size, random_state=random_state)
    train, test = next(splitter.split(codes, groups=codes))
    return [_safe_indexing(a, rows) for a in (*arrays, groups) for rows in (train, test)]
