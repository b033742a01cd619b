# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Learning-to-rank estimators for scikit-learn."""

__version__ = "0.1.0.dev0"
