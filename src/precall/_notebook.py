"""What all results share: a data frame, and how they look in a notebook.

A notebook shows a small table, and a small drawing where there is a curve.

Everything is escaped: names of models and columns are the caller's, and not to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ._result_frame import as_frame, table_in

_WIDTH, _HEIGHT = 280.0, 190.0
_COLOUR = "#0072B2"


class Rich:
    """A result: a notebook shows what its ``to_dict`` holds, and ``to_frame`` gives its rows."""

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a data frame: the table in this result, or one row of all that it says.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Whose data frame (table, for PyArrow); it has to be installed.
        """
        return as_frame(self._table(), library)

    def _table(self) -> Mapping[str, Any]:
        """Columns of the frame, by name."""
        return table_in(self._plain())

    def _repr_html_(self) -> str:
        return f"{self._drawing()}{table(type(self).__name__, self._facts().items())}"

    def _facts(self) -> Mapping[str, Any]:
        """What a notebook shows; a result that holds many rows chooses."""
        return self._plain()

    def _plain(self) -> Mapping[str, Any]:
        plain: Mapping[str, Any] = self.to_dict()  # type: ignore[attr-defined]
        return plain

    def _drawing(self) -> str:
        return ""


def table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """Return a table with a name and a value per row."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(_title(str(name)))}</th>"
        f"<td style='text-align:left;overflow-wrap:anywhere'>{_shown(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"


def _title(name: str) -> str:
    """A field in words; what is more than a name, such as a call, stays as it is."""
    return name.replace("_", " ") if name.isidentifier() else name


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "–" if value is None else str(value).lower()
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        parts = {k: _one_line(v) if isinstance(v, Mapping) else _shown(v) for k, v in value.items()}
        return "<br>".join(f"{escape(str(k))}: {part}" for k, part in parts.items()) or "–"
    if isinstance(value, Sequence) and not isinstance(value, str):
        if value and all(isinstance(item, Mapping) for item in value):
            return "<br>".join(map(_one_line, value))
        if value and all(isinstance(item, str) and item.endswith(".") for item in value):
            return "<br>".join(map(_shown, value))  # sentences
        if len(value) > 6:
            return f"{len(value):,} values"
        return ", ".join(_shown(item) for item in value) or "–"
    return escape(str(value)) or "–"


def _one_line(part: Mapping[str, Any]) -> str:
    """What one of several parts says, without what it does not know."""
    known = {name: value for name, value in part.items() if value is not None and value != ""}
    return ", ".join(f"{escape(str(name))} {_shown(value)}" for name, value in known.items()) or "–"


def drawing(
    x: Any, y: Any, limits: tuple[Any, Any] | None = None, labels: tuple[str, str] = ("", "")
) -> str:
    """Draw a line, and a band around it, as SVG."""
    heights = [np.asarray(y), *(np.asarray(limit) for limit in limits or ())]
    low = min(0.0, *(float(np.min(h)) for h in heights))
    high = max(float(np.max(h)) for h in heights)
    high = 1.0 if high <= 1.0 and low == 0.0 and high > 0.5 else high

    def path(across: Any, up: Any) -> str:
        columns = 30.0 + np.asarray(across) * (_WIDTH - 40.0)
        rows = 8.0 + (high - np.asarray(up)) / (high - low or 1.0) * (_HEIGHT - 36.0)
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(columns, rows, strict=True))

    shade = ""
    if limits is not None:
        outline = path(np.append(x, x[::-1]), np.append(limits[0], limits[1][::-1]))
        shade = f"<polygon points='{outline}' fill='{_COLOUR}' fill-opacity='0.2'/>"
    frame = path([0.0, 0.0, 1.0], [high, low, low])
    return (
        f"<svg width='{_WIDTH:g}' height='{_HEIGHT:g}' role='img' "
        f"aria-label='{escape(labels[1])} over {escape(labels[0])}' style='font:10px sans-serif'>"
        f"<polyline points='{frame}' fill='none' stroke='#767676'/>{shade}"
        f"<polyline points='{path(x, y)}' fill='none' stroke='{_COLOUR}' stroke-width='1.5'/>"
        f"<text x='{_WIDTH / 2:g}' y='{_HEIGHT - 4:g}' text-anchor='middle' "
        f"fill='#767676'>{escape(labels[0])}</text>"
        f"<text x='10' y='{_HEIGHT / 2:g}' text-anchor='middle' fill='#767676' "
        f"transform='rotate(-90 10 {_HEIGHT / 2:g})'>{escape(labels[1])}</text>"
        f"<text x='26' y='14' text-anchor='end' fill='#767676'>{high:.3g}</text></svg>"
    )
