"""Data larger than memory, or larger than a machine.

Engines move data and know no statistics: ``arrow.rank``, ``dask.rank``, ``spark.rank`` and
``sql.rank`` return the same :class:`~precall.Ranking` as :func:`precall.rank`, and everything else
runs on that. The first three run the one pair of passes in ``_twopass``; the last lets a database
count.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import arrow as arrow
    from . import dask as dask
    from . import spark as spark
    from . import sql as sql

# Loaded when first used: each needs a library of its own.
_ENGINES = ("arrow", "dask", "spark", "sql")


def __getattr__(name: str) -> Any:
    if name in _ENGINES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_ENGINES]
