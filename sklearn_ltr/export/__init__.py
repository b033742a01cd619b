# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted boosted rankers as plain data, which JSON can hold, and as RankLib's XML."""

from sklearn_ltr.export.plain import from_dict, to_dict
from sklearn_ltr.export.ranklib import to_ranklib_xml

__all__ = ["from_dict", "to_dict", "to_ranklib_xml"]
