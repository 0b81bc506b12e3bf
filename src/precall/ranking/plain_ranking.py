"""A ranking as plain values that survive JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import InputError
from .number_layout import Cells, Moments, plain_values


def as_plain(ranking: Any) -> dict[str, Any]:
    """Return the plain values of a ranking."""
    plain: dict[str, Any] = {
        "dtype": ranking.threshold.dtype.name,
        "threshold": plain_values(ranking.threshold),
    }
    plain |= ranking.cells.to_dict()
    for name in ("squares", "rows"):
        cells = getattr(ranking, name)
        plain[name] = cells and cells.to_dict()
    moments = ranking.moments
    plain["moments"] = moments and {k: list(v) for k, v in moments._asdict().items()}
    for name in ("coarsened", "divisible", "missed"):
        plain[name] = getattr(ranking, name)
    return plain


def from_plain(plain: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """Return the fields of a ranking with these `names`; raise if one is missing."""
    missing = [name for name in names if name not in plain]
    if missing:
        raise InputError(f"this is not a ranking: it has no {', '.join(missing)}.")
    moments = plain["moments"]
    return {
        "threshold": np.asarray(
            [float(v) if isinstance(v, str) else v for v in plain["threshold"]],
            dtype=plain["dtype"],
        ),
        **Cells.from_dict(plain)._replace(missed=plain["missed"])._asdict(),
        "squares": plain["squares"] and Cells.from_dict(plain["squares"]),
        "rows": plain["rows"] and Cells.from_dict(plain["rows"]),
        "moments": moments and Moments(tuple(moments["positives"]), tuple(moments["negatives"])),
        "coarsened": bool(plain["coarsened"]),
        "divisible": bool(plain["divisible"]),
    }
