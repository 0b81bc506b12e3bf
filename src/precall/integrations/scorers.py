"""scikit-learn scorers for every metric."""

from __future__ import annotations

from typing import Any

from .._optional import missing
from ..metrics import Metric, as_metric
from ..rows import Rows
from .responses import RESPONSES

try:
    from sklearn.metrics import make_scorer
except ImportError as error:
    raise missing("precall.integrations.sklearn", "scikit-learn", "sklearn") from error


class _Score:
    """A metric as a function of labels and scores; a class, so that it can be pickled."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.__name__ = str(metric)

    def __call__(
        self, y_true: Any, y_score: Any, *, sample_weight: Any = None, pos_label: object = 1
    ) -> float:
        rows = Rows(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
        return self.metric.called(rows, 2)


def scorer(metric: Any, *, pos_label: object = 1, response_method: str = "auto") -> Any:
    """Return a scikit-learn scorer of a metric, for ``cross_val_score``, ``GridSearchCV`` and kin.

    Parameters
    ----------
    metric : Metric or str
        Any of :data:`precall.METRICS`, such as ``"aucnpr"`` or ``"precision_at_recall(0.8)"``. Of
        a metric where less is better the scorer gives the negative, as scikit-learn does.
    pos_label : label, default 1
    response_method : str, default "auto"
        What gives the scores. By default ``decision_function`` before ``predict_proba``; the other
        way round for metrics that take a threshold, which is then one of probabilities.

    Examples
    --------
    >>> from precall.integrations.sklearn import scorer
    >>> scorer("expected_cost(20)")
    make_scorer(expected_cost(20), greater_is_better=False, ...
    """
    chosen = as_metric(metric)
    order = RESPONSES if chosen.of_ranks else RESPONSES[::-1]
    return make_scorer(
        _Score(chosen),
        response_method=order if response_method == "auto" else response_method,
        greater_is_better=not chosen.lower_is_better,
        pos_label=pos_label,
    )
