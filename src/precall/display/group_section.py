"""Groups against each other, as plain values for the template."""

from __future__ import annotations

from typing import Any

from .._interval import Interval
from ..evaluation import Evaluation, wording
from ..evaluation.group_table import GroupRow, best_slices, group_rows, group_sentences

# Groups that are shown before one asks for all.
_FIRST = 20


def compared_groups(evaluation: Evaluation) -> dict[str, Any]:
    """Return the groups of a page, the best model's lowest first; empty without slices."""
    rows = group_rows(evaluation)
    if not rows:
        return {}
    best = best_slices(evaluation)
    large = [any(interval is not None for interval in row.intervals) for row in rows]
    shown = [_row(row) for row, enough in zip(rows, large, strict=True) if enough]
    return {
        "first": shown[:_FIRST],
        "further": shown[_FIRST:],
        "small": [_row(row) for row, enough in zip(rows, large, strict=True) if not enough],
        "few": best.min_positives,
        "level": wording.percent(evaluation.settings.confidence_level),
        "prevalence": wording.percent(best.prevalence),
        "best": evaluation.best.title if len(evaluation.models) > 1 else "",
        "sentences": group_sentences(evaluation),
    }


def _row(row: GroupRow) -> dict[str, Any]:
    difference = "–"
    if row.difference is not None:
        decimals = wording.decimals_for(0.5 * row.difference.width)
        difference = wording.fixed(row.difference.estimate, decimals, signed=True, digits=1)
    return {
        "title": row.title,
        "n_pos": row.n_pos,
        "rows": row.n_rows,
        "prevalence": row.prevalence,
        "models": [_cell(interval) for interval in row.intervals],
        "difference": difference,
        "p": "" if row.p_value is None else wording.p_value(row.p_value),
        "verdict": row.verdict,
    }


def _cell(interval: Interval | None) -> dict[str, Any]:
    """An interval as text and as a small bar; a dash where there is none."""
    if interval is None:
        return {"text": "–", "at": None}
    low, high = max(interval.low, 0.0), interval.high
    return {
        "text": wording.interval(interval.estimate, interval.low, interval.high),
        "low": round(100 * low, 2),
        "width": round(100 * (high - low), 2),
        "at": round(100 * max(interval.estimate, 0.0), 2),
    }
