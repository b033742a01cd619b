# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading learning-to-rank data and making artificial ones."""

from sklearn_ltr.datasets.letor import load_letor_file, load_letor_folds
from sklearn_ltr.datasets.synthetic import make_cubic_ranking, make_ranking

__all__ = ["load_letor_file", "load_letor_folds", "make_cubic_ranking", "make_ranking"]
