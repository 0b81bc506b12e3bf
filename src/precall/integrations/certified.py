"""A classifier whose threshold was certified on rows that it was not fitted on."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np

from .. import _validation
from .._optional import missing
from ..exceptions import NotCertifiedError, ReliabilityWarning
from ..points import operating_point
from ..ranking import rank
from .responses import of_positive, positive_class, response_of

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.model_selection import StratifiedShuffleSplit, check_cv, cross_val_predict
    from sklearn.utils import _safe_indexing, indexable
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, column_or_1d
except ImportError as error:
    raise missing("precall.integrations.sklearn", "scikit-learn", "sklearn") from error

UNCERTIFIED = ("raise", "estimator")
#: For ``check_estimator(..., expected_failed_checks=...)``. The check wants the predictions of a
#: threshold of one half, or of 0; scikit-learn exempts its own classifiers with a tuned one.
EXPECTED_FAILED_CHECKS = {"check_classifiers_train": "the threshold is not that of the estimator"}
_ASKED = (
    "min_precision",
    "min_recall",
    "max_selected",
    "min_net_benefit",
    "probability",
    "prefer",
    "confidence_level",
    "prevalence",
    "n_candidates",
)


def _has(method: str) -> Any:
    def check(self: CertifiedThresholdClassifier) -> bool:
        # What is missing says so in its own words.
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class CertifiedThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A binary classifier that predicts at a threshold with a promise.

    The threshold is found by :func:`precall.operating_point` on rows that the estimator was not
    fitted on, so what is promised holds with `confidence_level` although the threshold was chosen
    on data. Where nothing can be promised, :meth:`predict` raises, unless `uncertified` says what
    to do.

    Parameters
    ----------
    estimator : classifier
        With ``decision_function`` or ``predict_proba``.
    min_precision, min_recall, max_selected, min_net_benefit, probability, prefer
        What to promise, as in :func:`precall.operating_point`.
    confidence_level, prevalence, n_candidates
        The same.
    cv : float, int, splitter or "prefit", default 0.3
        Where the rows come from that the threshold is certified on.

        - A share: as many rows are held out, the estimator is fitted on the others, and the
          promise holds for it exactly.
        - ``"prefit"``: the estimator is fitted already, and all rows given to :meth:`fit` are used
          for the threshold. They must not be those that it was fitted on.
        - A number of folds or a splitter: every row is scored by a model that did not see it, and
          the estimator is fitted anew on all rows. Nothing is held out, but the models that were
          scored are not the one that predicts, so the promise is approximate, with a
          :class:`~precall.exceptions.ReliabilityWarning`.
    response_method : {"auto", "decision_function", "predict_proba"}
    pos_label : label, optional
        The second of the sorted classes by default.
    uncertified : {"raise", "estimator"}
        What :meth:`predict` does where nothing was certified: raise, or predict as the estimator
        by itself does.
    random_state : int, RandomState instance or None
        For the rows that are held out.

    Attributes
    ----------
    estimator_ : classifier
        Fitted.
    classes_ : array
    certificate_ : OperatingPoint
        What was certified, with its message.
    threshold_ : number or None

    Notes
    -----
    Of the checks of ``sklearn.utils.estimator_checks.check_estimator`` one does not apply: it wants
    the predictions of the estimator's own threshold. ``expected_failed_checks`` takes
    `EXPECTED_FAILED_CHECKS` of ``precall.integrations.certified``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from precall.integrations.sklearn import CertifiedThresholdClassifier
    >>> X, y = make_classification(4000, weights=[0.8], class_sep=2.0, random_state=0)
    >>> chosen = CertifiedThresholdClassifier(
    ...     LogisticRegression(), min_precision=0.85, random_state=0
    ... ).fit(X[:3000], y[:3000])
    >>> chosen.certificate_.certified
    True
    >>> selected = chosen.predict(X[3000:]) == 1
    >>> bool(y[3000:][selected].mean() >= 0.85)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        min_precision: float | None = None,
        min_recall: float | None = None,
        max_selected: float | None = None,
        min_net_benefit: float | None = None,
        probability: float | None = None,
        prefer: str | None = None,
        confidence_level: float = 0.95,
        prevalence: float | None = None,
        n_candidates: int = 1,
        cv: Any = 0.3,
        response_method: str = "auto",
        pos_label: object = None,
        uncertified: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.min_precision = min_precision
        self.min_recall = min_recall
        self.max_selected = max_selected
        self.min_net_benefit = min_net_benefit
        self.probability = probability
        self.prefer = prefer
        self.confidence_level = confidence_level
        self.prevalence = prevalence
        self.n_candidates = n_candidates
        self.cv = cv
        self.response_method = response_method
        self.pos_label = pos_label
        self.uncertified = uncertified
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimator, unless it is, and certify a threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, features)
        y : array-like of shape (n,)
            Labels of two classes.
        """
        _validation.as_choice(self.uncertified, "uncertified", UNCERTIFIED)
        X, y = indexable(X, y)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        labels = column_or_1d(y, warn=True)
        if isinstance(self.cv, str):
            _validation.as_choice(self.cv, "cv", ("prefit",))
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            seen, scores = labels, self._responses(self.estimator, X)
        elif isinstance(self.cv, float):
            seen, scores = self._held_out(X, labels)
        else:
            seen, scores = self._cross_validated(X, labels)
        self.classes_ = self.estimator_.classes_
        positive = positive_class(self.classes_, self.pos_label)
        asked = {name: getattr(self, name) for name in _ASKED}
        ranking = rank(seen == positive, of_positive(scores, self.classes_, positive))
        self.certificate_ = operating_point(ranking, **asked)
        self.threshold_ = self.certificate_.threshold
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _responses(self, estimator: Any, X: Any) -> Any:
        return getattr(estimator, response_of(estimator, self.response_method))(X)

    def _held_out(self, X: Any, labels: Any) -> tuple[Any, Any]:
        share = _validation.as_fraction(self.cv, "cv")
        splitter = StratifiedShuffleSplit(
            n_splits=1, test_size=share, random_state=self.random_state
        )
        fitted, kept = next(splitter.split(np.zeros(labels.size), labels))
        self.estimator_ = clone(self.estimator)
        self.estimator_.fit(_safe_indexing(X, fitted), labels[fitted])
        return labels[kept], self._responses(self.estimator_, _safe_indexing(X, kept))

    def _cross_validated(self, X: Any, labels: Any) -> tuple[Any, Any]:
        if isinstance(self.cv, Integral):
            _validation.as_count(self.cv, "cv", minimum=2)
        folds = check_cv(self.cv, labels, classifier=True)
        method = response_of(self.estimator, self.response_method)
        scores = cross_val_predict(clone(self.estimator), X, labels, cv=folds, method=method)
        self.estimator_ = clone(self.estimator).fit(X, labels)
        warnings.warn(
            "the threshold was certified for models fitted on parts of the rows, and is used with "
            "one fitted on all: the promise is approximate. For an exact one hold rows out, as "
            "with cv=0.3, or pass a fitted estimator with cv='prefit'.",
            ReliabilityWarning,
            stacklevel=3,
        )
        return labels, scores

    def predict(self, X: Any) -> Any:
        """Return the positive class where the score reaches the threshold.

        Raises
        ------
        NotCertifiedError
            If no threshold was certified and ``uncertified="raise"``.
        """
        check_is_fitted(self, "certificate_")
        if self.threshold_ is None:
            if self.uncertified == "raise":
                raise NotCertifiedError(
                    f"{self.certificate_.message} To predict without a promise, pass "
                    "uncertified='estimator'."
                )
            return self.estimator_.predict(X)
        positive = positive_class(self.classes_, self.pos_label)
        scores = of_positive(self._responses(self.estimator_, X), self.classes_, positive)
        other = self.classes_[0] if positive == self.classes_[1] else self.classes_[1]
        return np.where(scores >= self.threshold_, positive, other).astype(self.classes_.dtype)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the fitted estimator."""
        check_is_fitted(self, "certificate_")
        return self.estimator_.predict_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the decision function of the fitted estimator."""
        check_is_fitted(self, "certificate_")
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn should know: two classes, and what the estimator takes."""
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The same for scikit-learn 1.5, and which of its checks does not apply."""
        return {"binary_only": True, "_xfail_checks": dict(EXPECTED_FAILED_CHECKS)}
