"""Data larger than memory, or larger than a machine.

Engines move data and know no statistics: ``arrow.rank``, ``dask.rank`` and ``spark.rank`` return
the same :class:`~precall.Ranking` as :func:`precall.rank`, and everything else runs on that.
All three run the one pair of passes in ``_twopass``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import arrow as arrow
    from . import dask as dask
    from . import spark as spark

# Loaded when first used: each needs a library of its own.
_ENGINES = ("arrow", "dask", "spark")


def __getattr__(name: str) -> Any:
    if name in _ENGINES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_ENGINES]
