"""MLflow: log an evaluation to a run, its numbers with their limits and its page."""

from __future__ import annotations

import json
import math
import re
import tempfile
from pathlib import Path
from typing import Any

from .._optional import missing
from ..evaluation.results import Evaluation
from ..exceptions import InputError

# What MLflow allows in the name of a metric.
_REFUSED = re.compile(r"[^\w\-. /]")


def log_evaluation(
    evaluation: Evaluation,
    *,
    prefix: str = "precall",
    report: str | None = "precall-report.html",
    run_id: str | None = None,
) -> dict[str, float]:
    """Log every measure with its limits, and the report as an artifact.

    Parameters
    ----------
    evaluation : Evaluation
        From :func:`precall.evaluate`.
    prefix : str, default "precall"
        Metrics are called ``prefix/model/measure``, their limits end in ``.low`` and
        ``.high``.
    report : str, optional
        Name of the page among the artifacts; None logs no page. Beside it lies everything that
        ``to_dict`` gives, as JSON.
    run_id : str, optional
        The run to log to; the active one if not given, or a new one.

    Returns
    -------
    dict
        What was logged as metrics. Measures that have no value here are left out.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.integrations.mlflow import log_evaluation
    >>> evaluation = pr.evaluate([1, 0, 1, 0], {"a": [4, 3, 2, 1]})
    >>> log_evaluation(evaluation, report=None)  # doctest: +SKIP
    {'precall/a/aucpr': 0.833..., ...}
    """
    if not isinstance(evaluation, Evaluation):
        raise InputError(
            f"evaluation must be what precall.evaluate gives, got {type(evaluation).__name__}."
        )
    try:
        from mlflow.tracking import MlflowClient
        from mlflow.tracking.fluent import active_run, start_run
    except ImportError as error:
        raise missing("precall.integrations.mlflow", "mlflow-skinny", "mlflow") from error
    metrics = evaluation_metrics(evaluation, prefix)
    if run_id is None:
        run_id = (active_run() or start_run()).info.run_id
    client = MlflowClient()
    for name, value in metrics.items():
        client.log_metric(run_id, name, value)
    if report is not None:
        _log_files(client, run_id, evaluation, report)
    return metrics


def evaluation_metrics(evaluation: Evaluation, prefix: str = "precall") -> dict[str, float]:
    """Return the finite numbers of an evaluation under names that MLflow allows."""
    metrics = {}
    for model in evaluation.models:
        for name, measure in model.measures.items():
            found = {"": measure.estimate}
            if measure.interval is not None:
                found |= {".low": measure.interval.low, ".high": measure.interval.high}
            for end, value in found.items():
                if math.isfinite(value):
                    key = "/".join(part for part in (prefix, model.title, name) if part)
                    metrics[_REFUSED.sub("_", key) + end] = float(value)
    return metrics


def _log_files(client: Any, run_id: str, evaluation: Evaluation, report: str) -> None:
    name = Path(report).name
    with tempfile.TemporaryDirectory() as folder:
        page = evaluation.report(Path(folder) / name)
        numbers = page.with_suffix(".json")
        numbers.write_text(json.dumps(evaluation.to_dict(), indent=1), encoding="utf-8")
        for path in (page, numbers):
            client.log_artifact(run_id, str(path))
