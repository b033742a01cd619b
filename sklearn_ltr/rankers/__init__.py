# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers: one algorithm, one file, one class."""

from sklearn_ltr.rankers.mpboost import MPBoost

__all__ = ["MPBoost"]
