# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
