# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Cython kernels: NumPy arrays in, NumPy arrays filled. They import nothing from the package."""
