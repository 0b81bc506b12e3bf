"""What a fitted scikit-learn classifier says of rows: scores, higher for the positive class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError

Array = npt.NDArray[Any]

#: What gives scores, in the order in which it is asked.
RESPONSES = ("decision_function", "predict_proba")


def response_of(estimator: Any, response_method: str, order: Sequence[str] = RESPONSES) -> str:
    """Return the method that gives scores: the one asked for, or the first that there is."""
    methods = tuple(order) if response_method == "auto" else (response_method,)
    chosen = next((method for method in methods if hasattr(estimator, method)), None)
    if chosen is None:
        raise InputError(
            f"{type(estimator).__name__} has none of {', '.join(methods)}: "
            "pass a classifier that gives scores, or use from_predictions."
        )
    return chosen


def positive_class(classes: Any, pos_label: object) -> Any:
    """Return the positive of two classes: the one asked for, or the second."""
    if len(classes) != 2:
        raise InputError(f"this needs a binary classifier, got one with {len(classes)} classes.")
    if pos_label is None:
        return classes[1]
    if pos_label not in classes:
        raise InputError(f"pos_label={pos_label!r} is not a class of the estimator: {classes!r}.")
    return pos_label


def of_positive(responses: Any, classes: Any, positive: Any) -> Array:
    """Return responses as one score per row that is higher for the positive class."""
    scores = np.asarray(responses)
    if scores.ndim == 2:
        return scores[:, int(np.flatnonzero(classes == positive)[0])]
    return -scores if positive == classes[0] else scores


def positive_scores(
    estimator: Any, X: Any, response_method: str, pos_label: object
) -> tuple[Array, Any]:
    """Return the scores of rows by a fitted binary classifier, and its positive class."""
    chosen = response_of(estimator, response_method)
    classes = getattr(estimator, "classes_", np.array([0, 1]))
    positive = positive_class(classes, pos_label)
    return of_positive(getattr(estimator, chosen)(X), classes, positive), positive
