# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Warnings that can be told from others, to be silenced or made errors by `warnings` filters."""


class ConstantModelWarning(UserWarning):
    """A ranker has found nothing to rank by: all training rows have the same score."""


class CutQueryWarning(UserWarning):
    """A query that is scored was trained on with other rows."""
