"""What is shown of one model: its measures with floor and ceiling, curves, bands and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._cached import cached_property
from .._notebook import Rich
from .._result_frame import columns_of
from .._rounding import falling
from ..curves import Curve, pr_curve
from ..exceptions import InputError
from ..inference.result import MetricInterval
from ..metrics.conventions import Conventions, conventions
from ..metrics.precision_recall import (
    PrecisionRecallArea,
    areas_by_estimator,
    bounds_of_estimators,
)
from ..points.constraints import OperatingPoint
from ..ranking import Ranking
from ..rows import Rows
from . import wording
from .few import NO_INTERVAL, too_few
from .measure_rows import measure_rows
from .plain_values import plain, share_of_positives
from .prevalences import PrevalenceTable, elsewhere, prevalence_table
from .promises import certified_points
from .quiet import quietly
from .settings import Settings
from .threshold_table import ThresholdTable, threshold_table

if TYPE_CHECKING:
    from ..inference.bands import Band


@dataclass(frozen=True, kw_only=True)
class Measure(Rich):
    """A number with everything that is needed to judge it.

    Attributes
    ----------
    name, title, explanation : str
        ``aucpr``, "AUCPR" and a sentence.
    estimate : float
        NaN where it does not exist.
    interval : MetricInterval or None
        None where there is none; `note` says why.
    floor, random, ceiling : float or None
        What the worst, a random and the perfect ranking of the same rows have.
    note : str
        Why something is missing; empty otherwise.
    lowest : float or None
        The smallest value that it can have; None where there is none.
    lower_is_better : bool
        Whether `lowest` is the best value, and `ceiling` the worst.
    counts : (float, float) or None
        The rows that count and the rows that they are counted in, shown where there are too few
        positives for an interval; None where it is no share of rows, and where intervals are shown.
    """

    name: str
    title: str
    explanation: str
    estimate: float
    interval: MetricInterval | None
    floor: float | None
    random: float | None
    ceiling: float
    note: str = ""
    lowest: float | None = 0.0
    lower_is_better: bool = False
    counts: tuple[float, float] | None = None

    @property
    def few_positives(self) -> bool:
        """Whether it has no interval because there are too few positives."""
        return self.note == NO_INTERVAL

    @property
    def start(self) -> tuple[float, str]:
        """Where its bar begins, and what has that value: the worst ranking, or a random one."""
        if self.floor is not None:
            return self.floor, "worst"
        if self.random is not None:
            return self.random, "random"
        if self.lowest is None:
            return 0.0, "nothing"
        return self.lowest, "perfect" if self.lower_is_better else "lowest"

    @property
    def end(self) -> tuple[float, str]:
        """Where its bar ends, and what has that value."""
        return self.ceiling, "worst" if self.lower_is_better else "perfect"

    def place(self, value: float) -> float:
        """Where a value stands between the start of its bar (0) and the end (1)."""
        start = self.start[0]
        return min(max((value - start) / (self.ceiling - start), 0.0), 1.0)

    @property
    def text(self) -> str:
        """The number with the digits it deserves, and its interval; counts where those are known.

        Without an interval, few positives support two digits.
        """
        if self.counts is not None:
            return f"{wording.count(self.counts[0])} of {wording.count(self.counts[1])}"
        if self.interval is None:
            return wording.number(self.estimate, 2 if self.few_positives else 3)
        return wording.interval(self.estimate, self.interval.low, self.interval.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        return {
            "estimate": plain(self.estimate),
            "low": plain(self.interval and self.interval.low),
            "high": plain(self.interval and self.interval.high),
            "confidence_level": self.interval and self.interval.confidence_level,
            "method": self.interval and self.interval.method,
            "floor": plain(self.floor),
            "random": plain(self.random),
            "ceiling": self.ceiling,
            "counts": self.counts and list(self.counts),
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelEvaluation(Rich):
    """One model: its ranking and its measures; bands and tables are computed when asked for.

    Attributes
    ----------
    name : str
        As the caller gave it: somebody else's text.
    title : str
        The name as it can be shown: one line, not too long, different from the other models'.
    ranking : Ranking
    measures : mapping of str to Measure
    settings : Settings
    cluster_effect : float or None
        How many times wider the interval of the area is because rows belong together; None
        without clusters.
    rows : Rows or None
        The rows, where they belong together: every interval of the area counts with that.
    """

    name: str
    title: str
    ranking: Ranking
    measures: Mapping[str, Measure]
    settings: Settings
    cluster_effect: float | None = None
    rows: Rows | None = field(default=None, repr=False)

    @property
    def positive_clusters(self) -> int | None:
        """Number of clusters with a positive row; None without clusters."""
        if self.rows is None or self.rows.cluster is None:
            return None
        return int(np.unique(self.rows.cluster[self.rows.positive]).size)

    @property
    def has_both_classes(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.ranking.n_pos and self.ranking.n_neg)

    @property
    def few_positives(self) -> bool:
        """Whether there are too few positives to quote intervals and bands: then there are none."""
        return too_few(self.ranking)

    @cached_property
    def there(self) -> Ranking:
        """The ranking at the prevalence that the answer is about."""
        return elsewhere(self.ranking, self.settings.prevalence)

    @cached_property
    def curve(self) -> Curve | None:
        """The precision-recall curve at the prevalence that the answer is about."""
        return pr_curve(self.there) if self.has_both_classes else None

    @cached_property
    def band(self) -> Band | None:
        """The band around it, or None where it cannot be made or there are too few positives."""
        if self.settings.prevalence is not None:
            return self._band("classes", self.settings.prevalence)
        return self._band("rows")

    @cached_property
    def own_band(self) -> Band | None:
        """The band at the prevalence of the data, whatever the answer is about."""
        return self.band if self.settings.prevalence is None else self._band("rows")

    @cached_property
    def fixed_band(self) -> Band | None:
        """The band if the data's prevalence is known, which can be moved to another one."""
        return self._band("classes")

    def _band(self, sampling: str, prevalence: float | None = None) -> Band | None:
        from ..inference.bands import band

        if not self.has_both_classes or self.few_positives:
            return None
        with quietly():
            try:
                return band(
                    self.ranking,
                    confidence_level=self.settings.confidence_level,
                    sampling=sampling,
                    prevalence=prevalence,
                    rng=self.settings.seed,
                )
            except InputError:  # too few rows of a class
                return None

    @cached_property
    def thresholds(self) -> ThresholdTable:
        """Counts, precision and recall with limits at thresholds along the curve."""
        settings, promised = self.settings, [point.threshold for point in self.certificates]
        level, models = settings.confidence_level, settings.candidates
        return threshold_table(self.ranking, level, promised, n_models=models)

    @cached_property
    def prevalences(self) -> PrevalenceTable:
        """The area with its limits at other prevalences."""
        settings = self.settings
        return prevalence_table(
            self.ranking,
            settings.confidence_level,
            settings.prevalence,
            rows=self.rows,
            model=self.name,
        )

    @cached_property
    def certificates(self) -> tuple[OperatingPoint, ...]:
        """Thresholds that keep a minimum precision, for every minimum that can be promised.

        Quoted of the best model, or of any other one that was chosen on these rows, each holds at
        the confidence level of the settings.
        """
        settings = self.settings
        return certified_points(
            self.ranking, settings.confidence_level, settings.candidates, settings.prevalence
        )

    @cached_property
    def estimators(self) -> dict[str, float]:
        """The area by every estimator that is defined here."""
        return areas_by_estimator(self.there) if self.has_both_classes else {}

    @cached_property
    def estimator_bounds(self) -> tuple[float, float]:
        """Bounds of the estimators that are sums over the rows, for much less than those cost."""
        return bounds_of_estimators(self.there)

    @cached_property
    def unbiased(self) -> float:
        """Average precision with its bias removed."""
        return PrecisionRecallArea("leave_one_out").of_ranking(self.there)

    @cached_property
    def conventions(self) -> Conventions:
        """What other tools print."""
        with quietly():
            return conventions(self.ranking)

    def parts(self) -> list[Callable[[], object]]:
        """Return calls that compute all that is otherwise computed when asked for, longest first.

        None of them needs another one.
        """
        if not self.has_both_classes:
            return []
        names = ["prevalences", "own_band", "fixed_band", "thresholds", "estimators", "curve"]
        if not self.ranking.coarsened:
            names.append("conventions")
        return [partial(getattr, self, name) for name in names]

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw precision over recall with its band, and return the Axes.

        `options` are those of :func:`precall.display.mpl.plot_pr`.
        """
        from ..display.result_plots import plot_models

        return plot_models((self,), ax, **options)

    def _facts(self) -> dict[str, Any]:
        return self.to_dict() | {"measures": {m.title: m.text for m in self.measures.values()}}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON, without bands and tables."""
        n, m = self.ranking.effective_sizes
        return {
            "name": self.name,
            "n_pos": self.ranking.n_pos,
            "n_neg": self.ranking.n_neg,
            "prevalence": plain(share_of_positives(self.ranking)),
            "weighted": self.ranking.weighted,
            "effective_n_pos": n,
            "effective_n_neg": m,
            "thresholds": len(self.ranking),
            "tied_share": plain(self.ranking.tied_share),
            "cluster_effect": plain(self.cluster_effect),
            "measures": {name: measure.to_dict() for name, measure in self.measures.items()},
            "estimators": plain(self.estimators),
        }

    def _table(self) -> dict[str, list[Any]]:
        return columns_of(measure_rows(self.measures))


def best_of(models: Sequence[ModelEvaluation]) -> ModelEvaluation:
    """Return the model with the highest AUCPR, the first of equals."""
    return ranked_models(models)[0]


def ranked_models(models: Sequence[ModelEvaluation]) -> list[ModelEvaluation]:
    """Return the models by falling AUCPR; equals stay in the order given."""
    return [models[i] for i in falling([m.measures["aucpr"].estimate for m in models])]
