# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Properties that are computed once."""

import functools


class cached_property(functools.cached_property):
    """That of `functools` without its lock, which Python 3.11 has one of for all instances.

    Ranks that are threads wait for each other within such a property, where it has sums over rows.
    """

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        cache = instance.__dict__
        if self.attrname not in cache:
            cache[self.attrname] = self.func(instance)
        return cache[self.attrname]
