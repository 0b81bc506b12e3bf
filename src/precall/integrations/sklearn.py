"""scikit-learn's conventions: metric functions, scorers and a display.

The metric functions take ``(y_true, y_score, *, sample_weight=None, pos_label=1)`` as those of
``sklearn.metrics`` do, and agree with ``average_precision_score`` wherever it is defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._optional import missing
from ..exceptions import InputError
from ..metrics.areas import aucnpr, aucpr
from ..ranking import Ranking, rank

try:
    from sklearn.metrics import make_scorer
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise missing("precall.integrations.sklearn", "scikit-learn", "sklearn") from error

if TYPE_CHECKING:
    from ..inference.bands import Band

AVERAGES = ("macro", "micro", "weighted", "samples")


def aucpr_score(
    y_true: object,
    y_score: object,
    *,
    average: str | None = "macro",
    pos_label: object = 1,
    sample_weight: object = None,
    estimator: str = "average_precision",
    recall: tuple[float, float] = (0.0, 1.0),
) -> Any:
    """Return the area under the precision-recall curve, as a scikit-learn metric.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        Binary labels, class labels of a multi-class problem, or an indicator matrix.
    y_score : array-like of shape (n,) or (n, classes)
    average : {"macro", "micro", "weighted", "samples"} or None
        For more than one column of scores; None gives one value per column.
    pos_label : label, default 1
        For one column of scores.
    sample_weight : array-like of shape (n,), optional
    estimator, recall
        As in :func:`precall.aucpr`.

    Examples
    --------
    >>> from precall.integrations.sklearn import aucpr_score
    >>> round(aucpr_score([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 6)
    0.833333
    """
    return _score(aucpr, y_true, y_score, average, pos_label, sample_weight, estimator, recall)


def aucnpr_score(
    y_true: object,
    y_score: object,
    *,
    average: str | None = "macro",
    pos_label: object = 1,
    sample_weight: object = None,
    estimator: str = "average_precision",
    recall: tuple[float, float] = (0.0, 1.0),
) -> Any:
    """Return the area normalised to what is achievable, as a scikit-learn metric.

    See :func:`aucpr_score` for the parameters and :func:`precall.aucnpr` for the meaning. Unlike
    AUCPR it can be averaged over folds of different prevalence.

    Examples
    --------
    >>> from precall.integrations.sklearn import aucnpr_score
    >>> round(aucnpr_score([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]), 6)
    0.714286
    """
    return _score(aucnpr, y_true, y_score, average, pos_label, sample_weight, estimator, recall)


def _score(
    metric: Any,
    y_true: object,
    y_score: object,
    average: str | None,
    pos_label: object,
    sample_weight: object,
    estimator: str,
    recall: tuple[float, float],
) -> Any:
    scores = _validation.as_array(y_score, "y_score")

    def area(labels: Any, values: Any, weights: Any, label: object = 1) -> float:
        ranking = rank(labels, values, pos_label=label, sample_weight=weights)
        return float(metric(ranking, estimator=estimator, recall=recall))

    if scores.ndim == 1:
        return area(y_true, y_score, sample_weight, pos_label)
    if average is not None:
        _validation.as_choice(average, "average", AVERAGES)
    _validation.as_scores(scores.ravel(), "y_score")
    _validation.reject_missing(scores.ravel(), "y_score")
    indicator = _indicator(y_true, scores)
    if len(indicator) != len(scores):
        raise InputError(
            f"y_true has {len(indicator)} rows and y_score has {len(scores)}: they must be equal."
        )
    weights = None if sample_weight is None else _validation.as_weights(sample_weight)
    if average == "micro":
        repeated = None if weights is None else np.repeat(weights, scores.shape[1])
        return area(indicator.ravel(), scores.ravel(), repeated)
    if average == "samples":
        rows = [area(y, s, None) for y, s in zip(indicator, scores, strict=True)]
        return float(np.average(rows, weights=weights))
    values = np.array(
        [area(indicator[:, k], scores[:, k], weights) for k in range(scores.shape[1])]
    )
    if average is None:
        return values
    if average == "macro":
        return float(values.mean())
    support = indicator.sum(axis=0) if weights is None else weights @ indicator
    return float(np.average(values, weights=support)) if support.any() else 0.0


def _indicator(y_true: object, scores: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Turn class labels into one column per class, sorted; check an indicator matrix."""
    labels = _validation.as_array(y_true, "y_true")
    _validation.reject_missing(labels.ravel(), "y_true")
    if labels.ndim == 1:
        classes, codes = np.unique(labels, return_inverse=True)
        if classes.size != scores.shape[1]:
            raise InputError(
                f"y_true has {classes.size} classes and y_score has {scores.shape[1]} columns: "
                "pass one column of scores per class, in sorted order of the classes."
            )
        return np.asarray(codes[:, np.newaxis] == np.arange(classes.size))
    if labels.shape != scores.shape:
        raise InputError(
            f"y_true has shape {labels.shape} and y_score {scores.shape}: they must be equal."
        )
    if not np.isin(labels, (0, 1)).all():
        raise InputError("y_true must hold only 0 and 1 when it has several columns.")
    return labels.astype(np.bool_)


_RESPONSES = ("decision_function", "predict_proba")

#: Scorers for ``cross_val_score``, ``GridSearchCV`` and the like (binary classifiers).
aucpr_scorer = make_scorer(aucpr_score, response_method=_RESPONSES)
aucnpr_scorer = make_scorer(aucnpr_score, response_method=_RESPONSES)


class PRDisplay:
    """A precision-recall curve with its band, its floor and the interval of its area.

    Shaped like scikit-learn's displays: made by :meth:`from_estimator` or
    :meth:`from_predictions`, it keeps its data and draws with :meth:`plot`.

    Examples
    --------
    >>> from precall.integrations.sklearn import PRDisplay
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> display = PRDisplay.from_predictions(
    ...     example.label, example.scores["scorecard"], name="scorecard", rng=0
    ... )
    >>> display.interval.low < display.interval.estimate < display.interval.high
    True
    """

    def __init__(
        self,
        *,
        ranking: Ranking,
        interval: Interval | None = None,
        band: Band | None = None,
        name: str | None = None,
    ) -> None:
        from ..curves import pr_curve

        self.ranking = ranking
        self.curve = pr_curve(ranking)
        self.interval = interval
        self.band = band
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: object = None,
        response_method: str = "auto",
        pos_label: object = None,
        name: str | None = None,
        band: bool = True,
        confidence_level: float = 0.95,
        rng: np.random.Generator | int | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Score `X` with a fitted classifier and draw the curve."""
        check_is_fitted(estimator)
        methods = _RESPONSES if response_method == "auto" else (response_method,)
        chosen = next((method for method in methods if hasattr(estimator, method)), None)
        if chosen is None:
            raise InputError(
                f"{type(estimator).__name__} has none of {', '.join(methods)}: "
                "pass a classifier that gives scores, or use from_predictions."
            )
        classes = getattr(estimator, "classes_", np.array([0, 1]))
        if len(classes) != 2:
            raise InputError(
                f"the display needs a binary classifier, got one with {len(classes)} classes."
            )
        positive = classes[1] if pos_label is None else pos_label
        if positive not in classes:
            raise InputError(
                f"pos_label={pos_label!r} is not a class of the estimator: {classes!r}."
            )
        scores = np.asarray(getattr(estimator, chosen)(X))
        if scores.ndim == 2:
            scores = scores[:, int(np.flatnonzero(classes == positive)[0])]
        elif positive == classes[0]:
            scores = -scores
        return cls.from_predictions(
            np.asarray(y) == positive,
            scores,
            sample_weight=sample_weight,
            name=name if name is not None else type(estimator).__name__,
            band=band,
            confidence_level=confidence_level,
            rng=rng,
            ax=ax,
            **style,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: object = None,
        pos_label: object = 1,
        name: str | None = None,
        band: bool = True,
        confidence_level: float = 0.95,
        rng: np.random.Generator | int | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Rank the predictions and draw the curve, with a band unless `band` is false."""
        from ..inference.bands import band as make_band
        from ..inference.intervals import interval

        ranking = rank(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        display = cls(
            ranking=ranking,
            interval=interval(ranking, confidence_level=confidence_level),
            band=make_band(ranking, confidence_level=confidence_level, rng=rng) if band else None,
            name=name,
        )
        return display.plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw on `ax` or on a new figure; sets ``ax_``, ``figure_`` and ``line_``."""
        from ..display.mpl import plot_curve

        label = style.pop("label", None) or self._label()
        self.ax_ = plot_curve(self.curve, ax=ax, label=label, **style)
        self.line_ = self.ax_.lines[-1]
        self.figure_ = self.ax_.figure
        if self.band is not None:
            self.ax_.fill_between(
                self.band.recall,
                self.band.low,
                self.band.high,
                color=self.line_.get_color(),
                alpha=0.2,
                linewidth=0,
            )
        self.ax_.legend(loc="best", frameon=False)
        return self

    def _label(self) -> str:
        name = f"{self.name}: " if self.name else ""
        if self.interval is None:
            return f"{name}AP {aucpr(self.ranking):.3f}"
        low, high = self.interval.low, self.interval.high
        return f"{name}AP {self.interval.estimate:.3f} ({low:.3f} to {high:.3f})"
