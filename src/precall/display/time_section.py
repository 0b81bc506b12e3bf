"""The models window by window, as plain values for the template and for the chart."""

from __future__ import annotations

from typing import Any

from .._interval import Interval
from ..evaluation import Evaluation, wording
from ..evaluation.over_time import best_windows, time_rows, time_sentences


def time_section(evaluation: Evaluation) -> dict[str, Any]:
    """Return the tables of the page, the best model's first; empty without times."""
    found = best_windows(evaluation)
    if found is None:
        return {}
    known = evaluation.settings.prevalence
    of = f"that of the window from {found.reference.start}" if known is None else "as asked"
    models = [
        {
            "index": index,
            "title": model.title,
            "sentences": time_sentences(evaluation, windows, model.title),
            "rows": time_rows(windows),
        }
        for index, (model, windows) in enumerate(
            zip(evaluation.models, evaluation.windows, strict=True)
        )
    ]
    best = evaluation.models.index(evaluation.best)
    return {
        "first": models.pop(best),
        "others": models,
        "level": wording.percent(evaluation.settings.confidence_level),
        "prevalence": f"{wording.percent(found.prevalence)} ({of})",
        "share": wording.percent(found.prevalence),
    }


def time_payload(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return what the chart draws: the best model's windows."""
    found = best_windows(evaluation)
    if found is None:
        return None
    return {
        "model": evaluation.models.index(evaluation.best),
        "starts": [window.start for window in found.windows],
        "own": [_limits(window.interval) for window in found.windows],
        "compared": [_limits(window.at_reference) for window in found.windows],
        "prevalence": [_limits(window.prevalence) for window in found.windows],
        "at": wording.percent(found.prevalence),
        "worse": [row.worse for row in time_rows(found)],
    }


def _limits(interval: Interval | None) -> list[float] | None:
    if interval is None:
        return None
    return [float(f"{v:.6g}") for v in (interval.estimate, interval.low, interval.high)]
