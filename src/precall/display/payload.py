"""The numbers that the page's own script draws from: thinned for the eye, exact where read."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .._threads import in_threads
from ..curves import Curve, gain_curve, hit_curve, lift_curve, pr_curve, roc_curve
from ..evaluation import Evaluation, ModelEvaluation, wording
from ..evaluation.plain_values import plain
from ..evaluation.promises import kept_precision, promise
from ..evaluation.threshold_table import ThresholdLimits
from ..points.contours import iso_f_contours
from ..ranking import Ranking
from .chart_tables import shown_prevalence
from .sections import shown_pairs
from .time_section import time_payload

FloatArray = npt.NDArray[np.float64]

# A pixel of a chart that is 1,000 pixels wide, and of the small ones.
_PIXEL, _SMALL_PIXEL = 1e-3, 2.5e-3
_LIFT_POINTS = 201


def payload(evaluation: Evaluation) -> dict[str, Any]:
    """Return what the page needs, as values that survive JSON."""
    # In parts: three models would keep two threads busy for as long as four.
    parts = [part for model in evaluation.models for part in model.parts()]
    in_threads(parts, evaluation.n_rows)
    models = in_threads([partial(_model, model) for model in evaluation.models], evaluation.n_rows)
    return {
        "level": evaluation.settings.confidence_level,
        "few": evaluation.few_positives,
        "rows": evaluation.n_rows,
        "n_pos": float(evaluation.ranking.n_pos),
        "n_neg": float(evaluation.ranking.n_neg),
        "shown_prevalence": shown_prevalence(evaluation),
        "weighted": evaluation.ranking.weighted,
        "best": evaluation.models.index(evaluation.best),
        "models": models,
        "contours": [
            {"value": line.value, "x": _short(line.recall), "y": _short(line.precision)}
            for line in iso_f_contours((0.2, 0.4, 0.6, 0.8), n_points=61)
        ],
        "pairs": _pairs(evaluation),
        "differences": _differences(evaluation),
        "decisions": _decisions(evaluation),
        "times": time_payload(evaluation),
    }


def _model(model: ModelEvaluation) -> dict[str, Any]:
    ranking, settings = model.ranking, model.settings
    tp, fp = _path(ranking, model.prevalences.prevalence)
    there = model.there
    curves = {"roc": roc_curve(there), "hit": hit_curve(there), "gain": gain_curve(there)}
    lift = _lift(there, ranking.n_pos + ranking.n_neg)
    return {
        "title": model.title,
        "tp": _counts(tp),
        "fp": _counts(fp),
        "band": _band(model),
        "moving_band": _moving_band(model),
        "curves": {kind: _drawn(curve) for kind, curve in curves.items()} | {"lift": lift},
        "thresholds": _thresholds(model),
        "prevalences": {
            name: plain(getattr(model.prevalences, name))
            for name in ("prevalence", "own", "start", "estimate", "low", "high", "floor")
        },
        "certificates": [
            {
                "required": kept_precision(point),
                "threshold": plain(point.threshold),
                "tp": float(point.confusion.tp),
                "fp": float(point.confusion.fp),
                "recall_bound": point.recall_bound,
                "message": promise(point, settings.candidates),
            }
            for point in model.certificates
            if point.confusion is not None
        ],
    }


def _path(ranking: Ranking, prevalences: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points of the curve that draw it at its own and at the extreme prevalences alike.

    What bends visibly depends on the prevalence, so the points that each of the three needs are
    put together.
    """
    parts = []
    for prevalence in (None, prevalences[0], prevalences[-1]):
        moved = ranking if prevalence is None else ranking.at_prevalence(float(prevalence))
        curve = pr_curve(moved).thin(_PIXEL)
        parts.append(np.stack([curve.tp, curve.fp * (float(ranking.n_neg) / curve.n_neg)]))
    tp, fp = np.concatenate(parts, axis=1)
    # Counts that were scaled there and back differ in their last digits.
    total = float(ranking.n_pos + ranking.n_neg)
    keys = np.round(np.stack([tp, fp]) / total, 12)
    _, first = np.unique(keys, axis=1, return_index=True)
    order = first[np.lexsort((fp[first], tp[first]))]
    return tp[order], fp[order]


def _drawn(curve: Curve) -> dict[str, Any]:
    thin = curve.thin(_SMALL_PIXEL)
    return {"x": _short(thin.x, 4), "y": _short(thin.y, 4)}


def _lift(ranking: Ranking, rows: float) -> dict[str, Any]:
    """The lift curve at places that are evenly spread on a logarithmic axis."""
    x = np.geomspace(1.0 / max(float(rows), 2.0), 1.0, _LIFT_POINTS)
    return {"x": _fine(x), "y": _fine(lift_curve(ranking).at(np.minimum(x, 1.0)))}


def _band(model: ModelEvaluation) -> dict[str, Any] | None:
    band = model.own_band
    if band is None:
        return None
    return {"x": _short(band.x), "low": _short(band.low), "high": _short(band.high)}


def _moving_band(model: ModelEvaluation) -> dict[str, Any] | None:
    """The band at a known prevalence as limits of the false-positive rate, which has none.

    From ``precision = pi r / (pi r + (1 - pi) rate)``.
    """
    band = model.fixed_band
    if band is None:
        return None
    odds = model.ranking.prevalence / (1.0 - model.ranking.prevalence)

    def rate(precision: FloatArray) -> FloatArray:
        inside = np.maximum(precision, 1e-12)
        return np.clip(odds * band.x * (1.0 - inside) / inside, 0.0, 1.0)

    return {"x": _short(band.x), "low": _fine(rate(band.high)), "high": _fine(rate(band.low))}


def _thresholds(model: ModelEvaluation) -> dict[str, Any]:
    table = model.thresholds
    exact = {"threshold": plain(table.threshold), "tp": _counts(table.tp), "fp": _counts(table.fp)}
    ends = ("tp_low", "tp_high", "fp_low", "fp_high")
    between = {name: _counts(getattr(table.between, name)) for name in ends}
    return exact | _limits(table) | {"between": between | _limits(table.between)}


def _limits(table: ThresholdLimits) -> dict[str, list[float]]:
    return {name: _fine(getattr(table, name)) for name in ThresholdLimits.__dataclass_fields__}


def _pairs(evaluation: Evaluation) -> list[dict[str, Any]]:
    titles = {model.name: model.title for model in evaluation.models}
    return [
        {
            "first": titles[pair[0]],
            "second": titles[pair[1]],
            "estimate": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "text": wording.interval(interval.estimate, interval.low, interval.high, signed=True),
        }
        for pair, interval in shown_pairs(evaluation).items()
    ]


def _differences(evaluation: Evaluation) -> list[dict[str, Any]]:
    """Bands of the best model's precision minus another's."""
    names = [model.name for model in evaluation.models]
    return [
        {
            "best": evaluation.models.index(evaluation.best),
            "other": names.index(name),
            "x": _short(band.x),
            "low": _short(band.low),
            "y": _short(band.y),
            "high": _short(band.high),
        }
        for name, band in evaluation.difference_bands.items()
    ]


def _decisions(evaluation: Evaluation) -> dict[str, Any] | None:
    """Net-benefit curves with their bands, and what selecting everything is worth."""
    drawn = [(k, one) for k, one in enumerate(evaluation.decisions) if one.curve is not None]
    if not drawn:
        return None
    first = drawn[0][1].curve
    return {
        "models": [
            {
                "model": k,
                "x": _short(one.curve.x),
                "y": _fine(one.curve.y),
                "band": one.band
                and {
                    "x": _short(one.band.x),
                    "low": _fine(one.band.low),
                    "high": _fine(one.band.high),
                },
            }
            for k, one in drawn
            if one.curve is not None
        ],
        "x": _short(first.x) if first else [],
        "everything": _fine(first.references["select everything"]) if first else [],
    }


def _counts(values: Any) -> list[float]:
    """Counts as whole numbers where they are."""
    numbers = np.asarray(values, dtype=np.float64)
    return [int(v) if v.is_integer() else float(f"{v:.10g}") for v in numbers.tolist()]


def _short(values: Any, decimals: int = 5) -> list[float]:
    """Coordinates for drawing."""
    rounded: list[float] = np.round(np.asarray(values, dtype=np.float64), decimals).tolist()
    return rounded


def _fine(values: Any) -> list[float]:
    """Numbers that are read: six significant digits."""
    return [float(f"{v:.6g}") for v in np.asarray(values, dtype=np.float64).tolist()]
