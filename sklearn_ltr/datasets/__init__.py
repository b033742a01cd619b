# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading learning-to-rank data and making artificial ones."""

from sklearn_ltr.datasets.letor import load_letor_file, load_letor_folds
from sklearn_ltr.datasets.letor_large import iter_letor_file, letor_to_memmap
from sklearn_ltr.datasets.letor_writer import dump_letor_file
from sklearn_ltr.datasets.synthetic import make_cubic_ranking, make_ranking

__all__ = [
    "dump_letor_file",
    "iter_letor_file",
    "letor_to_memmap",
    "load_letor_file",
    "load_letor_folds",
    "make_cubic_ranking",
    "make_ranking",
]
