# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What surrounds the rounds of boosted rankers, and what those with stumps or trees share."""
