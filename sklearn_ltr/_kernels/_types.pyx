# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Python knows of the types in `_types.pxd`.

Serves whoever allocates structs for a kernel, or passes it an enumerator. The enums and constants
are here by their declarations.
"""

import numpy as np

# One of each struct, and a typed view of it, whose fields NumPy can read.
cdef Row row
cdef HingeNode hinge_node
cdef ForestSplit forest_split
cdef Row[::1] rows = <Row[:1]>&row
cdef HingeNode[::1] hinge_nodes = <HingeNode[:1]>&hinge_node
cdef ForestSplit[::1] forest_splits = <ForestSplit[:1]>&forest_split

RANKED_ROW = np.asarray(rows).dtype
HINGE_NODE = np.asarray(hinge_nodes).dtype
FOREST_SPLIT = np.asarray(forest_splits).dtype


def names(enum):
    """Names of the enumerators, such that `index` gives their values: ("fidelity slope", ...)."""
    return tuple(name.lower().replace("_", " ") for name in enum.__members__)
