"""What Python's tools say of the data sets. Each is asked only where it is installed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .data import DataSet

# One threshold probability for decision curves; no score lies on it.
PROBABILITY = 0.3
MEASURES = ("map", "Rprec", "bpref", "infAP", "11pt_avg", "recip_rank", "ndcg", "P_5", "recall_5")


@dataclass(frozen=True)
class Answer:
    """What a tool says of a data set: a number, or why it has none."""

    set: str
    tool: str
    quantity: str
    value: float | None
    message: str = ""


@dataclass(frozen=True)
class Tool:
    """A tool, the module that it needs, and its functions of a data set by quantity."""

    name: str
    module: str
    distribution: str
    functions: Callable[[], dict[str, Callable[[DataSet], float]]]
    #: Which data sets it can be asked about.
    takes: Callable[[DataSet], bool] = lambda data: True


def _scikit_learn() -> dict[str, Callable[[DataSet], float]]:
    from sklearn import metrics

    def trapezoid(data: DataSet, w: Any = None) -> float:
        precision, recall, _ = metrics.precision_recall_curve(data.y, data.s, sample_weight=w)
        return metrics.auc(recall, precision)

    def at_middle(score: Callable[..., float]) -> Callable[[DataSet], float]:
        return lambda data: score(data.y, data.s >= np.median(data.s), zero_division=0.0)

    return {
        "sklearn_average_precision": lambda d: metrics.average_precision_score(d.y, d.s),
        "sklearn_average_precision weighted": lambda d: metrics.average_precision_score(
            d.y, d.s, sample_weight=d.w
        ),
        "sklearn_trapezoid": trapezoid,
        "sklearn_trapezoid weighted": lambda d: trapezoid(d, d.w),
        "auroc": lambda d: metrics.roc_auc_score(d.y, d.s),
        "auroc weighted": lambda d: metrics.roc_auc_score(d.y, d.s, sample_weight=d.w),
        "precision at the median": at_middle(metrics.precision_score),
        "recall at the median": at_middle(metrics.recall_score),
        "f1 at the median": at_middle(metrics.f1_score),
    }


def _torchmetrics() -> dict[str, Callable[[DataSet], float]]:
    import torch
    from torchmetrics.functional import classification

    def asked(function: Callable[..., Any]) -> Callable[[DataSet], float]:
        return lambda d: float(function(torch.tensor(d.s), torch.tensor(d.y)))

    return {
        "average_precision": asked(classification.binary_average_precision),
        "auroc": asked(classification.binary_auroc),
    }


def _torcheval() -> dict[str, Callable[[DataSet], float]]:
    import torch
    from torcheval.metrics import functional

    return {
        "torcheval_binary_auprc": lambda d: float(
            functional.binary_auprc(torch.tensor(d.s), torch.tensor(d.y))
        ),
        "auroc": lambda d: float(functional.binary_auroc(torch.tensor(d.s), torch.tensor(d.y))),
    }


def _keras() -> dict[str, Callable[[DataSet], float]]:
    import keras

    def area(data: DataSet, w: Any = None) -> float:
        metric = keras.metrics.AUC(curve="PR")
        metric.update_state(data.y, data.s, sample_weight=w)
        return float(metric.result())

    return {"keras_auc_pr": area, "keras_auc_pr weighted": lambda d: area(d, d.w)}


def _statsmodels() -> dict[str, Callable[[DataSet], float]]:
    from statsmodels.stats.proportion import proportion_confint

    def limit(which: int) -> Callable[[DataSet], float]:
        def found(data: DataSet) -> float:
            chosen = data.y[data.s >= np.median(data.s)]
            return float(proportion_confint(chosen.sum(), chosen.size, method="beta")[which])

        return found

    return {"precision low": limit(0), "precision high": limit(1)}


def _confidenceinterval() -> dict[str, Callable[[DataSet], float]]:
    import confidenceinterval

    def limit(which: int) -> Callable[[DataSet], float]:
        return lambda d: float(confidenceinterval.roc_auc_score(d.y, d.s)[1][which])

    return {
        "auroc": lambda d: float(confidenceinterval.roc_auc_score(d.y, d.s)[0]),
        "auroc low": limit(0),
        "auroc high": limit(1),
    }


def _dcurves() -> dict[str, Callable[[DataSet], float]]:
    import dcurves
    import pandas as pd

    def benefit(data: DataSet) -> float:
        frame = pd.DataFrame({"y": data.y, "s": data.s})
        # It looks the threshold up among those that it was given, and wants more than one.
        found = dcurves.dca(
            data=frame, outcome="y", modelnames=["s"], thresholds=[PROBABILITY, 2 * PROBABILITY]
        )
        row = found[(found["model"] == "s") & np.isclose(found["threshold"], PROBABILITY)]
        return float(row["net_benefit"].iloc[0])

    return {"net benefit": benefit}


def collection(data: DataSet) -> tuple[dict[str, float], dict[str, int]]:
    """One query: every row a document; every seventh was not judged, every ninth not returned."""
    names = [f"d{row}" for row in range(data.y.size)]
    run = {
        name: float(score)
        for row, (name, score) in enumerate(zip(names, data.s, strict=True))
        if row % 9 != 8
    }
    judged = {
        name: int(label)
        for row, (name, label) in enumerate(zip(names, data.y, strict=True))
        if row % 7 != 6
    }
    return run, judged


def untied(data: DataSet) -> bool:
    """No two scores are equal."""
    return np.unique(data.s).size == data.s.size


def _pytrec_eval() -> dict[str, Callable[[DataSet], float]]:
    import pytrec_eval

    asked = {"map", "Rprec", "bpref", "infAP", "11pt_avg", "recip_rank", "ndcg", "P.5", "recall.5"}

    def measured(measure: str) -> Callable[[DataSet], float]:
        def found(data: DataSet) -> float:
            run, judged = collection(data)
            evaluator = pytrec_eval.RelevanceEvaluator({"q": judged}, asked)
            return evaluator.evaluate({"q": run})["q"][measure]

        return found

    return {measure: measured(measure) for measure in MEASURES}


def _ir_measures() -> dict[str, Callable[[DataSet], float]]:
    import ir_measures as ir

    measures = {
        "map": ir.AP,
        "Rprec": ir.Rprec,
        "bpref": ir.Bpref,
        "infAP": ir.infAP,
        "recip_rank": ir.RR,
        "ndcg": ir.nDCG,
        "P_5": ir.P @ 5,
        "recall_5": ir.R @ 5,
    }

    def measured(measure: Any) -> Callable[[DataSet], float]:
        def found(data: DataSet) -> float:
            run, judged = collection(data)
            return ir.calc_aggregate([measure], {"q": judged}, {"q": run})[measure]

        return found

    return {name: measured(measure) for name, measure in measures.items()}


def _ranx() -> dict[str, Callable[[DataSet], float]]:
    import ranx

    names = {"map": "map", "recip_rank": "mrr", "P_5": "precision@5", "recall_5": "recall@5"}

    def measured(name: str) -> Callable[[DataSet], float]:
        def found(data: DataSet) -> float:
            run, judged = collection(data)
            return ranx.evaluate(ranx.Qrels({"q": judged}), ranx.Run({"q": run}), name)

        return found

    return {quantity: measured(name) for quantity, name in names.items()}


def _probabilities(data: DataSet) -> bool:
    return bool(data.s.min() >= 0.0 and data.s.max() <= 1.0)


def _finite(data: DataSet) -> bool:
    return bool(np.isfinite(data.s).all())


TOOLS = (
    Tool("scikit-learn", "sklearn", "scikit-learn", _scikit_learn),
    Tool("torchmetrics", "torchmetrics", "torchmetrics", _torchmetrics, _probabilities),
    Tool("torcheval", "torcheval", "torcheval", _torcheval),
    Tool("Keras", "keras", "keras", _keras, _probabilities),
    Tool("statsmodels", "statsmodels", "statsmodels", _statsmodels),
    Tool(
        "confidenceinterval",
        "confidenceinterval",
        "confidenceinterval",
        _confidenceinterval,
        _finite,
    ),
    Tool("dcurves", "dcurves", "dcurves", _dcurves, _probabilities),
    Tool("pytrec_eval", "pytrec_eval", "pytrec-eval-terrier", _pytrec_eval, _finite),
    Tool("ir-measures", "ir_measures", "ir-measures", _ir_measures, _finite),
    Tool("ranx", "ranx", "ranx", _ranx, lambda data: _finite(data) and untied(data)),
)


def asked(tool: Tool, sets: list[DataSet]) -> Iterator[Answer]:
    """Ask one tool about every data set that it takes."""
    try:
        importlib.import_module(tool.module)
    except ImportError as error:
        yield Answer("", tool.name, "missing", None, f"not installed ({error})")
        return
    version = "?"
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        version = importlib.metadata.version(tool.distribution)
    yield Answer("", tool.name, "version", None, version)
    functions = tool.functions()
    for data in filter(tool.takes, sets):
        for quantity, function in functions.items():
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    value = float(function(data))
                except Exception as error:  # noqa: BLE001, whatever a tool raises is its answer
                    yield Answer(data.name, tool.name, quantity, None, f"raises: {error}"[:120])
                    continue
            found = None if math.isnan(value) else value
            yield Answer(data.name, tool.name, quantity, found, "NaN" if found is None else "")
