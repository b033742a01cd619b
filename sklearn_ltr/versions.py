# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The version of the package, which pickles and stored models carry along."""

import sys

from sklearn_ltr.exceptions import InconsistentVersionWarning
from sklearn_ltr.validation import warn_caller

# Of the version in the state of a pickled object.
KEY = "_sklearn_ltr_version"


def version():
    """The version of this package: str."""
    # The public names are above this module, so that it does not import them.
    return sys.modules["sklearn_ltr"].__version__


class Versioned:
    """Mixin of all that is pickled: the pickle says by which version, and another one warns.

    Mixed in before all other bases.
    """

    def __getstate__(self):
        return {**(super().__getstate__() or {}), KEY: version()}

    def __setstate__(self, state):
        state = dict(state)
        written = state.pop(KEY, None)
        if written != version():
            warning = InconsistentVersionWarning(type(self).__name__, written, version())
            warn_caller(warning, None)
        getattr(super(), "__setstate__", vars(self).update)(state)
