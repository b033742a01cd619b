# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The features that may go together in a tree."""

from itertools import chain

import numpy as np


class Interactions:
    """Groups of features that may go together, and the groups that each feature is in.

    Parameters
    ----------
    groups : int or list of collections of int
        Without repetitions within a group. Every feature is in a group. A number stands for all
        groups of so many features, which may be too many to list.
    n_features : int

    Attributes
    ----------
    most : int
        That number; 0 if there are groups.
    members : ndarray, dtype intp
        Features of each group, one group after the other.
    member_starts : ndarray of shape (n_groups + 1,), dtype intp
    groups : ndarray, dtype intp
        Groups of each feature, one feature after the other.
    group_starts : ndarray of shape (n_features + 1,), dtype intp
    """

    def __init__(self, groups, n_features):
        self.most, groups = (groups, []) if isinstance(groups, int) else (0, groups)
        sizes = [len(group) for group in groups]
        self.members = np.fromiter(chain.from_iterable(groups), dtype=np.intp, count=sum(sizes))
        self.member_starts = np.cumsum([0, *sizes], dtype=np.intp)
        order = np.argsort(self.members, kind="stable")
        self.groups = np.repeat(np.arange(len(groups), dtype=np.intp), sizes)[order]
        counts = np.bincount(self.members, minlength=n_features)
        self.group_starts = np.cumsum([0, *counts], dtype=np.intp)
