"""All metrics by name, and the words that name one."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from .. import _validation
from ..exceptions import InputError
from .base import Metric
from .by_rank import DiscountedGain, ReciprocalRank
from .confusion import AT_THRESHOLDS, F1, FBeta, PrecisionAtThreshold, RecallAtThreshold
from .gain import GainArea
from .normalised_area import NormalisedArea
from .points import PrecisionAtRecall, RecallAtPrecision
from .precision_recall import PrecisionRecallArea
from .roc import RocArea
from .search import ElevenPointPrecision, RPrecision
from .top_k import LiftAtK, PrecisionAtK, RecallAtK
from .utility import ExpectedCost, NetBenefit

_KINDS: tuple[type[Metric], ...] = (
    PrecisionRecallArea,
    NormalisedArea,
    PrecisionAtRecall,
    RocArea,
    GainArea,
    RecallAtPrecision,
    PrecisionAtThreshold,
    RecallAtThreshold,
    F1,
    FBeta,
    *AT_THRESHOLDS,
    NetBenefit,
    ExpectedCost,
    PrecisionAtK,
    RecallAtK,
    LiftAtK,
    DiscountedGain,
    ReciprocalRank,
    RPrecision,
    ElevenPointPrecision,
)

#: Every metric by its name. What is added here appears in intervals, comparisons, groups, the
#: command line and, if it says ``shown``, in the report.
METRICS: dict[str, type[Metric]] = {kind.name: kind for kind in _KINDS}


# What others call them: scikit-learn's scorers, and papers.
_ELSEWHERE = {
    **dict.fromkeys(("average_precision", "ap", "auprc", "pr_auc", "auc_pr", "prauc"), "aucpr"),
    **dict.fromkeys(("roc_auc", "auc", "aucroc", "auc_roc", "rocauc"), "auroc"),
    "f1": "f1_at_threshold(0.5)",
    "precision": "precision_at_threshold(0.5)",
    "recall": "recall_at_threshold(0.5)",
    "accuracy": "accuracy_at_threshold(0.5)",
    "balanced_accuracy": "balanced_accuracy_at_threshold(0.5)",
    "matthews_corrcoef": "mcc_at_threshold(0.5)",
    "mcc": "mcc_at_threshold(0.5)",
}


def as_metric(metric: object, where: Callable[[type[Metric]], bool] | None = None) -> Metric:
    """Return the metric that an object, a factory or words stand for.

    `where` says which metrics serve; others are refused with a list of those that do.
    """
    found: Metric
    if isinstance(metric, Metric):
        found = metric
    elif isinstance(metric, type) and issubclass(metric, Metric):
        found = metric.parsed()
    elif isinstance(metric, str):
        found = parse(metric)
    else:
        raise InputError(
            "metric must be a metric from precall.metrics, or words such as 'aucpr' or "
            f"'precision_at_recall(0.8)', got {type(metric).__name__}{_of_data(metric)}."
        )
    if where is not None and not where(type(found)):
        serve = ", ".join(name for name, kind in METRICS.items() if where(kind))
        raise InputError(f"metric {found.name!r} does not serve here: use one of {serve}.")
    return found


def _of_data(given: object) -> str:
    """The way out for whoever passes labels and scores as scikit-learn takes them."""
    if not hasattr(given, "__len__"):
        return ""
    return (
        ": labels and scores are one argument, pr.rank(y_true, y_score), and several models are "
        "one too, {'a': s_a, 'b': s_b}"
    )


def parse(words: str) -> Metric:
    """Return the metric that words name, such as ``precision_at_recall(0.8)``.

    Parameters
    ----------
    words : str
        A name in :data:`METRICS`, with its options in brackets: numbers, pairs of numbers, and
        names, by position or as ``option=value``. The words of ``str(metric)`` give it back.

    Examples
    --------
    >>> from precall import metrics
    >>> metrics.parse("aucpr(estimator=davis_goadrich, recall=(0, 0.5))").recall
    (0.0, 0.5)
    """
    if not isinstance(words, str):
        raise InputError(f"words must be a text such as 'aucpr', got {type(words).__name__}.")
    name, _, rest = words.strip().partition("(")
    if name.strip().lower() in _ELSEWHERE and name.strip() not in METRICS:
        here = _ELSEWHERE[name.strip().lower()]
        cut = ", with the threshold that you use" if here.endswith(")") else ""
        raise InputError(
            f"metric must be one of the names in pr.METRICS, got {name.strip()!r}: here it is "
            f"called {here!r}{cut}."
        )
    kind = METRICS[_validation.as_choice(name.strip(), "metric", METRICS)]
    try:
        tree = ast.parse(f"metric({rest}" if rest else "metric()", mode="eval").body
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            raise ValueError
        arguments = [_literal(part) for part in tree.args]
        options = {str(part.arg): _literal(part.value) for part in tree.keywords}
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise InputError(
            f"metric {words!r} cannot be read: write its options as in precision_at_recall(0.8) or "
            "aucpr(estimator=davis_goadrich, recall=(0, 0.5))."
        ) from None
    return kind.parsed(*arguments, **options)


def title_of(words: str) -> str:
    """Return the title of the metric that words name, for people; strange words stay as they are.

    Options that the title does not name follow in brackets.

    Examples
    --------
    >>> title_of("aucpr"), title_of("precision_at_recall(0.8)"), title_of("profit")
    ('AUCPR', 'precision at recall 0.8', 'profit')
    >>> title_of("aucpr(estimator=davis_goadrich, recall=(0, 0.5))")
    'AUCPR (estimator davis goadrich, recall 0 to 0.5)'
    """
    return full_title(parse(words)) if words.partition("(")[0] in METRICS else words


def full_title(metric: Metric) -> str:
    """Return the title of a metric, with the options that were chosen and that it does not name."""
    title = str(metric.title)
    chosen = (
        (part.name, _plain(getattr(metric, part.name)))
        for part in fields(metric)
        if part.default is not MISSING and getattr(metric, part.name) != part.default
    )
    more = [f"{name.replace('_', ' ')} {value}" for name, value in chosen if value not in title]
    return f"{title} ({', '.join(more)})" if more else title


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return " to ".join(map(_plain, value))
    return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")


def _literal(node: ast.expr) -> Any:
    """A number, a pair of numbers, or a bare name, which is a text."""
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)
