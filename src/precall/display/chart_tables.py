"""The tables behind the charts: what is drawn, as numbers that can be read aloud and copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._rounding import TOLERANCE
from ..curves import gain_curve, hit_curve, lift_curve, roc_curve
from ..evaluation import Evaluation, wording
from ..inference.bands import Band

# Below this prevalence the other charts crowd into a corner, and lift shows what they hide.
RARE = 0.05

_RECALLS = tuple(round(0.1 * k, 1) for k in range(1, 11))
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_GAINS = (0.2, 0.4, 0.6, 0.8, 0.9)
_PROBABILITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
_SMALL = {
    "roc": ("false-positive rate", "recall", roc_curve, _SHARES),
    "hit": ("share selected", "share selected and positive", hit_curve, _SHARES),
    "gain": ("recall gain", "precision gain", gain_curve, _GAINS),
    "lift": ("share selected", "lift", lift_curve, _SHARES),
}


def shown_prevalence(evaluation: Evaluation) -> float:
    """The prevalence that the page is about: the one that was asked for, or that of the data."""
    asked = evaluation.settings.prevalence
    return evaluation.prevalence if asked is None else asked


def is_rare(evaluation: Evaluation) -> bool:
    """Whether positives are so rare that lift gets a chart."""
    return shown_prevalence(evaluation) < RARE


def chart_tables(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Return for every chart without a table of its own the title, the models and the rows."""
    if not evaluation.models[0].has_both_classes:
        return {}
    tables = {"pr": _precision(evaluation)}
    for kind in _SMALL:
        if kind != "lift" or is_rare(evaluation):
            tables[kind] = _curves(evaluation, kind)
    if evaluation.difference_bands:
        tables["difference"] = _differences(evaluation)
    if any(one.curve is not None for one in evaluation.decisions):
        tables["decision"] = _decisions(evaluation)
    return tables


def band_table(bands: Sequence[Band], titles: Sequence[str], of: str) -> dict[str, Any]:
    """Return the table of curves that are known by their bands only."""
    rows = [
        (
            f"{recall:g}",
            [_limited(float(np.interp(recall, one.x, one.y)), one, recall) for one in bands],
        )
        for recall in _RECALLS
        if all(_reaches(one, recall) for one in bands)
    ]
    return _table(of, "recall", titles, rows)


def _reaches(band: Band, at: float) -> bool:
    return bool(band.x[0] - TOLERANCE <= at <= band.x[-1] + TOLERANCE)


def _table(
    of: str, over: str, titles: Sequence[str], rows: Sequence[tuple[str, list[str]]]
) -> dict[str, Any]:
    return {"of": of, "over": over, "titles": list(titles), "rows": rows}


def _titles(evaluation: Evaluation) -> list[str]:
    return [model.title for model in evaluation.models]


def _precision(evaluation: Evaluation) -> dict[str, Any]:
    rows = []
    for recall in _RECALLS:
        cells = [
            _limited(float(model.curve.at(recall)), model.band, recall)
            for model in evaluation.models
            if model.curve is not None
        ]
        rows.append((f"{recall:g}", cells))
    level = wording.percent(evaluation.settings.confidence_level)
    banded = any(model.band is not None for model in evaluation.models)
    of = f"precision (with the limits of the {level} band)" if banded else "precision"
    return _table(of, "recall", _titles(evaluation), rows)


def _limited(value: float, band: Band | None, at: float) -> str:
    """A height with the limits of the band, where the band goes that far."""
    if band is None or not _reaches(band, at):
        return wording.number(value)
    low, high = band.limits_at(at)
    return wording.interval(value, float(low), float(high), signed=band.low.min() < 0)


def _curves(evaluation: Evaluation, kind: str) -> dict[str, Any]:
    over, of, curve, places = _SMALL[kind]
    curves = [curve(model.there) for model in evaluation.models]
    rows = [(f"{x:g}", [wording.number(float(one.at(x))) for one in curves]) for x in places]
    return _table(of, over, _titles(evaluation), rows)


def _differences(evaluation: Evaluation) -> dict[str, Any]:
    titles = {model.name: model.title for model in evaluation.models}
    bands = evaluation.difference_bands
    rows = []
    for recall in _RECALLS[:-1]:
        cells = []
        for band in bands.values():
            value = float(np.interp(recall, band.x, band.y))
            cells.append(_limited(value, band, recall) if _reaches(band, recall) else "–")
        rows.append((f"{recall:g}", cells))
    names = [f"{evaluation.best.title} − {titles[name]}" for name in bands]
    return _table("difference of precision, with the limits of the band", "recall", names, rows)


def _decisions(evaluation: Evaluation) -> dict[str, Any]:
    drawn = [one for one in evaluation.decisions if one.curve is not None]
    rows = []
    for probability in _PROBABILITIES:
        cells = []
        for one in drawn:
            curve: Any = one.curve
            value = float(np.interp(probability, curve.x, curve.y))
            cells.append(_limited(value, one.band, probability))
        rows.append((wording.percent(probability), cells))
    titles = [one.title for one in drawn]
    return _table("net benefit per row", "threshold probability", titles, rows)
