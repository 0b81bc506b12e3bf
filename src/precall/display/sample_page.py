"""The report of a population of which some rows are labelled: one HTML file, without scripts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._rounding import TOLERANCE
from ..audit import Sample
from ..evaluation import wording
from ..evaluation.measures import explained
from ..exceptions import ReliabilityWarning
from ..inference.bands import band
from ..inference.compare import compare
from ..inference.intervals import interval
from ..metrics import Metric, as_metric
from .chart_tables import band_table
from .fingerprint import fingerprint
from .report import Origin, frame, template_named, write_page

#: What is shown unless something else is asked for.
METRICS = ("aucpr", "auroc", "precision_at_recall(0.5)")
_POINTS = 41
_MOST_STRATA = 40
_FEW_LABELS = 10
_INTERVALS = (
    "the number of positives of each stratum has exact limits (Clopper and Pearson), narrowed by "
    "the labels that are known; what each stratum's limits do to the metric is put together by "
    "MOVER (Zou and Donner 2008)"
)
_ASSUMES = "labelled rows were drawn at random, with the probabilities that were given"
_PROXY = (
    "a probability for every row helps to count positives, with a weight tuned on the labels of "
    "other strata"
)
# The corner of the chart, and its size.
_LEFT, _TOP, _ACROSS, _UP = 64.0, 10.0, 560.0, 360.0


def write_sample_report(
    sample: Sample,
    path: str | Path,
    *,
    metrics: Sequence[Metric | str] = (),
    confidence_level: float = 0.95,
    origin: Origin | None = None,
) -> Path:
    """Write what few labels say about all rows into one HTML file.

    Parameters
    ----------
    sample : Sample
    path : path
        The file; it appears only when the page is complete.
    metrics : sequence of Metric or str
        What to show: average precision, AUROC and the precision at a recall of .5 if none is named.
    confidence_level : float
    origin : Origin, optional
        What to say of the data.

    Returns
    -------
    Path
        The file, as an absolute path.
    """
    page = render_sample_report(
        sample, metrics=metrics, confidence_level=confidence_level, origin=origin
    )
    return write_page(page, path)


def render_sample_report(
    sample: Sample,
    *,
    metrics: Sequence[Metric | str] = (),
    confidence_level: float = 0.95,
    origin: Origin | None = None,
) -> str:
    """Return the page as text; see :func:`write_sample_report`."""
    template = template_named("sample.html.j2")
    asked = [as_metric(each) for each in metrics or METRICS]
    models = wording.clean_names(sample.names)
    measures = [_measure(sample, metric, models, confidence_level) for metric in asked]
    strata = _strata(sample)
    left_out = len(strata) - _MOST_STRATA
    more = f"{wording.plural(left_out, 'stratum', 'strata')} more." if left_out > 0 else ""
    chart = _chart(sample, confidence_level)
    several = len(models) > 1 and sample.n_positives > 0
    text: str = template.render(
        sample=sample,
        models=models,
        level=confidence_level,
        answer=_answer(sample, models, measures[0], confidence_level),
        findings=_findings(sample, strata),
        measures=measures,
        differences=_differences(sample, asked[0], confidence_level) if several else None,
        differences_of=asked[0].title,
        chart=chart,
        chart_tables={} if chart is None else {"pr": chart["table"]},
        strata=strata[:_MOST_STRATA],
        more_strata=more,
        methods=_methods(sample),
        fingerprint=_fingerprint(sample),
        **frame(origin or Origin(), ()),
    )
    return text


def _measure(sample: Sample, metric: Metric, models: list[str], level: float) -> dict[str, Any]:
    low, high = (float(end) for end in metric.bounds)
    bars = []
    for name, shown in zip(sample.names, models, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReliabilityWarning)
            found = interval(sample, metric, model=name, confidence_level=level)

        def place(value: float) -> float:
            return round(100.0 * (min(max(value, low), high) - low) / (high - low), 2)

        known = sample.n_positives > 0
        limited = wording.interval(found.estimate, found.low, found.high)
        bars.append(
            {
                "model": shown,
                "low": place(found.low),
                "width": round(place(found.high) - place(found.low), 2),
                "at": place(found.estimate) if known else None,
                "text": limited if known else _at_most(found.high, high),
            }
        )
    return {
        "title": str(metric.title),
        "explanation": explained(metric),
        "bounds": (low, high),
        "bars": bars,
    }


def _at_most(limit: float, highest: float) -> str:
    """An upper limit, or that there is none."""
    return "not known" if limit >= highest - TOLERANCE else f"at most {wording.number(limit)}"


def _answer(sample: Sample, models: list[str], measure: dict[str, Any], level: float) -> list[str]:
    labels, rows = sample.n_labelled, sample.n_rows
    positives = wording.count(sample.n_positives) if sample.n_positives else "none"
    stands = (
        f"This page stands on {wording.plural(labels, 'label')} of "
        f"{wording.plural(rows, 'row')}, {positives} of them positive. "
        f"The other {wording.count(rows - labels)} labels are not known."
    )
    said = [stands]
    about = "all rows" if sample.target == "rows" else "the process that the rows came from"
    for name, bar in zip(models, measure["bars"], strict=True):
        whose = f" of {name}" if len(models) > 1 else ""
        if not sample.n_positives:
            said.append(f"{measure['title']}{whose} over {about} is {bar['text']}.")
        else:
            said.append(
                f"{measure['title']}{whose} over {about} is about {bar['text']}, with "
                f"{wording.percent(level)} confidence."
            )
    return said


def _findings(sample: Sample, strata: list[dict[str, Any]]) -> list[str]:
    said = []
    if not sample.n_positives:
        said.append("No labelled row is positive: there are upper limits at most, and no curve.")
    few = [each for each in strata if each["labels"] < min(_FEW_LABELS, each["rows"])]
    if few and len(strata) == 1:
        said.append(f"Only {wording.plural(few[0]['labels'], 'label')}: intervals are wide.")
    elif few:
        said.append(
            f"{wording.plural(len(few), 'stratum has', 'strata have')} fewer than {_FEW_LABELS} "
            f"labels, the first is {few[0]['name']}: intervals are wide because of them."
        )
    if sample.looks > 1:
        said.append(
            f"The level is split over {sample.looks} looks at the labels, of which this is number "
            f"{sample.round}."
        )
    if sample.round > 1 and sample.looks == 1:
        said.append(
            f"The labels came in {sample.round} rounds. The limits are exact for rounds planned "
            "ahead; for rounds that follow the labels so far they are simulated, not proved."
        )
    return said


def _differences(sample: Sample, metric: Metric, level: float) -> list[dict[str, Any]]:
    found = compare(sample, metric=metric, confidence_level=level)
    shown = dict(zip(sample.names, wording.clean_names(sample.names), strict=True))
    return [
        {
            "pair": f"{shown[first]} − {shown[second]}",
            "difference": wording.interval(
                found.differences[first, second], each.low, each.high, signed=True
            ),
            "p": wording.p_value(found.p_values[first, second]),
        }
        for (first, second), each in found.simultaneous.items()
    ]


def _chart(sample: Sample, level: float) -> dict[str, Any] | None:
    if not sample.n_positives or sample.target != "rows":
        return None

    def points(x: Any, y: Any) -> str:
        columns = _LEFT + _ACROSS * np.asarray(x)
        rows = _TOP + _UP * (1.0 - np.asarray(y))
        return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(columns, rows, strict=True))

    lines, bands = [], []
    for name in sample.names:
        found = band(sample, model=name, confidence_level=level, n_points=_POINTS)
        outline = np.append(found.x, found.x[::-1]), np.append(found.low, found.high[::-1])
        lines.append({"band": points(*outline), "curve": points(found.x, found.y)})
        bands.append(found)
    ticks = [
        {
            "x": round(_LEFT + _ACROSS * at, 1),
            "y": round(_TOP + _UP * (1.0 - at), 1),
            "text": f"{at:g}",
        }
        for at in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    of = f"precision (with the limits of the {wording.percent(level)} band)"
    table = band_table(bands, wording.clean_names(sample.names), of)
    return {"lines": lines, "ticks": ticks, "table": table}


def _strata(sample: Sample) -> list[dict[str, Any]]:
    code, known = sample.design.stratum, sample.known
    names = sample.design.names
    rows = sample.stratum_sizes().tolist()
    labels, positives = (
        np.bincount(code[each], minlength=len(names)).tolist()
        for each in (known.rows, known.rows[known.positive])
    )
    shown = [wording.clean_name(name) for name in names] if len(names) > 1 else ["all rows"]
    return [
        {"name": name, "rows": n, "labels": k, "positives": found, "scores": scores}
        for name, n, k, found, scores in zip(
            shown, rows, labels, positives, _score_ranges(sample), strict=True
        )
    ]


def _score_ranges(sample: Sample) -> list[str]:
    """The scores of each stratum, from the lowest to the highest; empty with several models."""
    code, several = sample.design.stratum, len(sample.names) > 1
    [scores, *_] = sample.scores.values()
    ends = [
        [wording.short(end) for end in (np.min(part), np.max(part))] if part.size else []
        for part in (scores[code == k] for k in range(len(sample.design.names)))
    ]
    return ["" if several else " to ".join(dict.fromkeys(each)) for each in ends]


def _methods(sample: Sample) -> list[tuple[str, str]]:
    return [("Intervals", _INTERVALS), ("Assumes", _ASSUMES)] + (
        [] if sample.proxy is None else [("Proxy", _PROXY)]
    )


def _fingerprint(sample: Sample) -> str:
    """Twelve digits that depend on every score, label and stratum."""
    parts = (sample.known.rows, sample.known.positive, sample.design.stratum)
    counts = () if sample.counted is None else (sample.counted.count,)
    return fingerprint([*sample.scores], [*sample.scores.values(), *counts, *parts])
