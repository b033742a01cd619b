# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Transformers that look at queries: features within a query, and features from text."""

from sklearn_ltr.preprocessing.bm25 import BM25Features
from sklearn_ltr.preprocessing.scaling import QueryScaler

__all__ = ["BM25Features", "QueryScaler"]
