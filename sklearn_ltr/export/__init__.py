# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fitted rankers as plain data, which JSON can hold, as models of other programs, to look at."""

from sklearn_ltr.export.frame import trees_to_frame
from sklearn_ltr.export.linear import to_linear_json
from sklearn_ltr.export.onnx_model import register_onnx_converters, to_onnx
from sklearn_ltr.export.plain_reader import from_dict
from sklearn_ltr.export.plain_writer import to_dict
from sklearn_ltr.export.ranklib import to_ranklib_xml
from sklearn_ltr.export.solr import to_solr_json
from sklearn_ltr.export.text import export_text
from sklearn_ltr.export.xgboost import to_xgboost_json

__all__ = [
    "export_text",
    "from_dict",
    "register_onnx_converters",
    "to_dict",
    "to_linear_json",
    "to_onnx",
    "to_ranklib_xml",
    "to_solr_json",
    "to_xgboost_json",
    "trees_to_frame",
]
