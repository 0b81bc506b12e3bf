"""scikit-learn's conventions: metric functions, scorers, a display and a certified classifier.

The metric functions take ``(y_true, y_score, *, sample_weight=None, pos_label=1)`` as those of
``sklearn.metrics`` do, and agree with ``average_precision_score`` wherever it is defined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._optional import missing
from ..exceptions import InputError
from ..metrics.areas import aucnpr, aucpr
from ..ranking import Ranking, rank
from .certified import CertifiedThresholdClassifier
from .responses import RESPONSES, positive_scores
from .scorers import scorer

try:
    from sklearn.metrics import make_scorer
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise missing("precall.integrations.sklearn", "scikit-learn", "sklearn") from error

if TYPE_CHECKING:
    from ..inference.bands import Band

__all__ = [
    "CertifiedThresholdClassifier",
    "PRDisplay",
    "aucnpr_score",
    "aucnpr_scorer",
    "aucpr_score",
    "aucpr_scorer",
    "scorer",
]

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


#: Scorers for ``cross_val_score``, ``GridSearchCV`` and the like (binary classifiers).
aucpr_scorer = make_scorer(aucpr_score, response_method=RESPONSES)
aucnpr_scorer = make_scorer(aucnpr_score, response_method=RESPONSES)


# The folds of a cross-validation, behind the curve that sums them up.
_FOLD = {"linewidth": 0.8, "alpha": 0.5, "color": "0.6"}


class PRDisplay:
    """A precision-recall curve with its band, its floor and the interval of its area.

    Shaped like scikit-learn's displays: made by :meth:`from_estimator`, :meth:`from_predictions` or
    :meth:`from_cv_results`, it keeps its data and draws with :meth:`plot`.

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
        ranking: Ranking | None = None,
        interval: Interval | None = None,
        band: Band | None = None,
        name: str | None = None,
        folds: Sequence[Ranking] = (),
    ) -> None:
        from ..curves import pr_curve
        from ..groups import summary_curve

        self.ranking = ranking
        self.folds = tuple(folds)
        self.curve = summary_curve(self.folds) if ranking is None else pr_curve(ranking)
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
        scores, positive = positive_scores(estimator, X, response_method, pos_label)
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

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: object = None,
        response_method: str = "auto",
        pos_label: object = None,
        name: str | None = None,
        confidence_level: float = 0.95,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the curve of every fold of a cross-validation, and the one that sums them up.

        scikit-learn's display of that name draws the folds side by side. This one adds the summary
        curve at the folds' common prevalence (:func:`precall.summary_curve`) with its band over
        folds, and the interval of the mean area (:func:`precall.crossval_interval`). Folds are
        never pooled: their scores come from different models.

        Parameters
        ----------
        cv_results : dict
            From ``cross_validate(..., return_estimator=True, return_indices=True)``.
        X, y : array-like
            What was cross-validated.
        sample_weight, response_method, pos_label, name, confidence_level, ax, style
            As in :meth:`from_estimator`.
        """
        from ..groups import summary_curve
        from ..inference.fold_intervals import crossval_interval

        if not {"estimator", "indices"} <= set(cv_results):
            raise InputError(
                "cv_results must hold the estimators and the indices of the folds: pass "
                "return_estimator=True and return_indices=True to cross_validate."
            )
        weights = None if sample_weight is None else _validation.as_weights(sample_weight)
        labels, folds = np.asarray(y), []
        for estimator, test in zip(
            cv_results["estimator"], cv_results["indices"]["test"], strict=True
        ):
            scores, positive = positive_scores(
                estimator, _safe_indexing(X, test), response_method, pos_label
            )
            weight = None if weights is None else weights[test]
            folds.append(rank(labels[test] == positive, scores, sample_weight=weight))
        if name is None:
            name = type(cv_results["estimator"][0]).__name__
        display = cls(
            interval=crossval_interval(folds, confidence_level=confidence_level),
            band=summary_curve(folds, confidence_level=confidence_level).band,
            name=name,
            folds=folds,
        )
        return display.plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw on `ax` or on a new figure; sets ``ax_``, ``figure_`` and ``line_``."""
        from ..curves import pr_curve
        from ..display.mpl import plot_curve

        label = style.pop("label", None) or self._label()
        for fold in self.folds:
            ax = plot_curve(pr_curve(fold), ax=ax, **_FOLD)
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
            area = self.curve.area() if self.ranking is None else aucpr(self.ranking)
            return f"{name}AP {area:.3f}"
        low, high = self.interval.low, self.interval.high
        folds = f", mean of {len(self.folds)} folds" if self.folds else ""
        return f"{name}AP {self.interval.estimate:.3f} ({low:.3f} to {high:.3f}){folds}"
