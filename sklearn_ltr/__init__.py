# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Learning-to-rank estimators for scikit-learn."""

from sklearn_ltr import rankers
from sklearn_ltr.rankers import *

__version__ = "0.1.0.dev0"

__all__ = rankers.__all__
