"""Properties that are computed once, without a lock that all objects of a class share.

Before Python 3.12, ``functools.cached_property`` has one lock for each property of a class: while a
thread computes the band of one model, another thread waits that would compute that of the next.
Without it a value may be computed twice at the same time, and either is kept; what is cached here
is the same each time.
"""

from __future__ import annotations

import functools
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING and sys.version_info < (3, 12):

    class cached_property(functools.cached_property):
        """What ``functools`` has from Python 3.12 on."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """Compute the value and keep it with the object, where it is found from then on."""
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


__all__ = ["cached_property"]
