"""An evaluation as rows of a data frame, one a measure, and as a few facts for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .model_result import Measure
    from .results import Evaluation


def measure_rows(measures: Mapping[str, Measure], **where: object) -> list[dict[str, Any]]:
    """Return a row for each measure, with where it was measured in front."""
    return [{**where, "measure": name, **one.to_dict()} for name, one in measures.items()]


def evaluation_rows(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Yield every measure of every model: first of all rows, then of each group."""
    for model in evaluation.models:
        yield from measure_rows(model.measures, group=None, model=model.name)
    for group in evaluation.groups:
        for model, measures in zip(evaluation.models, group.measures, strict=True):
            yield from measure_rows(measures, group=group.name, model=model.name)


def evaluation_facts(evaluation: Evaluation) -> dict[str, Any]:
    """Return what a notebook shows: the answer, what to know, and every measure of every model."""
    found = evaluation.findings
    return {
        "answer": list(evaluation.answer),
        "warnings": [finding.text for finding in found if finding.level == "warning"],
        "to know": [finding.text for finding in found if finding.level != "warning"],
        "rows": evaluation.n_rows,
        "positive rows": evaluation.n_positive_rows,
        "prevalence": evaluation.prevalence,
        **{
            measure.title: {model.title: model.measures[name].text for model in evaluation.models}
            for name, measure in evaluation.models[0].measures.items()
        },
    }
