"""The results that are shown: measures with their floor and ceiling, models, groups, findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .._notebook import Rich
from .._result_frame import columns_of
from .._rounding import falling
from .._words import plural
from ..curves import Curve, pr_curve
from ..exceptions import InputError
from ..groups.slices_result import Slices
from ..inference.bands import Band, band
from ..inference.comparison import Comparison
from ..inference.result import MetricInterval
from ..metrics import ESTIMATORS
from ..metrics.areas import aucpr
from ..metrics.conventions import Conventions, conventions
from ..monitoring.windows import Windows
from ..points.constraints import OperatingPoint
from ..ranking import Ranking
from ..rows import Rows
from . import wording
from .decisions import DecisionValue, decision_dict
from .measure_rows import evaluation_facts, evaluation_rows, measure_rows
from .prevalences import PrevalenceTable, elsewhere, prevalence_table
from .promises import certified_points
from .quiet import quietly
from .settings import Settings
from .threshold_table import ThresholdTable, threshold_table

#: What ``docs/schemas`` calls the form of :meth:`Evaluation.to_dict`.
SCHEMA = "precall-evaluation-1"
#: With fewer positives than this, intervals hold the truth too rarely to be quoted.
FEWEST_POSITIVES = 10


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

    @property
    def text(self) -> str:
        """The number with the digits it deserves, and its interval."""
        if self.interval is None:
            return wording.number(self.estimate)
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
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True)
class Finding(Rich):
    """A sentence about the results.

    Attributes
    ----------
    level : {"good", "note", "warning"}
    text : str
    """

    level: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"level": self.level, "text": self.text}


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
        """The band around it, or None where it cannot be made."""
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
        if not self.has_both_classes:
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
        promised = [point.threshold for point in self.certificates]
        return threshold_table(self.ranking, self.settings.confidence_level, promised)

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
        values = {}
        if self.has_both_classes:
            for name in ESTIMATORS:
                # The binormal estimator needs finite scores that differ.
                with suppress(InputError):
                    values[name] = aucpr(self.there, estimator=name)
        return values

    @cached_property
    def conventions(self) -> Conventions:
        """What other tools print."""
        with quietly():
            return conventions(self.ranking)

    def prepare(self) -> None:
        """Compute all that is otherwise computed when asked for."""
        if self.has_both_classes:
            _ = self.curve, self.own_band, self.fixed_band, self.thresholds, self.prevalences
            _ = self.certificates, self.estimators
            if not self.ranking.coarsened:
                _ = self.conventions

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON, without bands and tables."""
        n, m = self.ranking.effective_sizes
        return {
            "name": self.name,
            "n_pos": self.ranking.n_pos,
            "n_neg": self.ranking.n_neg,
            "prevalence": plain(_prevalence(self.ranking)),
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


@dataclass(frozen=True, kw_only=True)
class GroupEvaluation(Rich):
    """One group of rows: its size and every model's measures in it.

    Attributes
    ----------
    name : str
        As the caller gave it.
    title : str
        As it can be shown.
    n_pos, n_neg, prevalence : number
    measures : tuple of mappings
        For each model, in the order of the models.
    """

    name: str
    title: str
    n_pos: float
    n_neg: float
    prevalence: float
    measures: tuple[Mapping[str, Measure], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "n_pos": self.n_pos,
            "n_neg": self.n_neg,
            "prevalence": plain(self.prevalence),
            "models": [
                {name: measure.to_dict() for name, measure in model.items()}
                for model in self.measures
            ],
        }

    def _table(self) -> dict[str, list[Any]]:
        parts = (measure_rows(measures, model=k) for k, measures in enumerate(self.measures))
        return columns_of(row for part in parts for row in part)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Evaluation(Rich):
    """Everything that was found out about one or several models on the same rows.

    Attributes
    ----------
    models : tuple of ModelEvaluation
        In the order given.
    comparison : Comparison or None
        Every pair of models, with several of them on the same rows in memory; its keys are the
        models' names.
    groups : tuple of GroupEvaluation
        In the order of their names; empty without groups.
    left_out : int
        Groups that were left out because there are too many.
    slices : tuple of Slices
        The groups against each other at one prevalence, for each model, in the order of the models;
        empty without groups, and for rankings whose rows are not at hand.
    windows : tuple of Windows
        AUCPR window by window, for each model, in the order of the models; empty without times.
    difference_bands : mapping of str to Band
        Precision of the best model minus that of the other one, by the other's name; for the next
        two models, where asked for and where the rows have no weights.
    decisions : tuple of DecisionValue
        Net benefit, expected cost and calibration of each model, where asked for.
    findings : tuple of Finding
        What to know, in plain words, the most important first.
    answer : tuple of str
        Two or three sentences that can be quoted.
    settings : Settings
    """

    models: tuple[ModelEvaluation, ...]
    comparison: Comparison | None
    groups: tuple[GroupEvaluation, ...] = ()
    left_out: int = 0
    slices: tuple[Slices, ...] = ()
    windows: tuple[Windows, ...] = ()
    difference_bands: Mapping[str, Band] = field(default_factory=dict)
    decisions: tuple[DecisionValue, ...] = ()
    findings: tuple[Finding, ...] = ()
    answer: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)

    @property
    def ranking(self) -> Ranking:
        """The ranking of the first model: class sizes are those of every model."""
        return self.models[0].ranking

    @property
    def n_rows(self) -> int:
        """Number of rows that carry weight."""
        rows = self.ranking.rows or self.ranking.cells
        negatives = np.sum(rows.tied) + np.sum(rows.above) + rows.below
        return round(float(np.sum(rows.positives) + negatives))

    @property
    def n_positive_rows(self) -> int:
        """Number of positive rows that carry weight."""
        return round(float(np.sum((self.ranking.rows or self.ranking.cells).positives)))

    @property
    def prevalence(self) -> float:
        """Share of positives, weights counted."""
        return _prevalence(self.ranking)

    @property
    def few_positives(self) -> bool:
        """Whether there are too few positives, counted with their weights, to quote intervals.

        In simulations with 1, 3, 5 and 8 positives among 100 times as many rows (normal scores one
        and two standard deviations apart, 400 data sets each), 95 % intervals of precision at
        recall 0.8 held the truth in 19 to 80 % of the data sets, those of AUROC in 32 to 91 %.
        """
        # Sums of weights may come out a rounding error short.
        return round(self.ranking.effective_sizes[0], 6) < FEWEST_POSITIVES

    @property
    def best(self) -> ModelEvaluation:
        """The model with the highest AUCPR."""
        return best_of(self.models)

    def __repr__(self) -> str:
        """Return one line."""
        areas = ", ".join(f"{model.title}={model.measures['aucpr'].text}" for model in self.models)
        rows = plural(self.n_rows, "row", shown=str(self.n_rows))
        return f"Evaluation({rows}, {self.n_positive_rows} positive, AUCPR: {areas})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        return {
            "schema": SCHEMA,
            "rows": self.n_rows,
            "positive_rows": self.n_positive_rows,
            "prevalence": plain(self.prevalence),
            "target_prevalence": self.settings.prevalence,
            "confidence_level": self.settings.confidence_level,
            "recall": self.settings.recall,
            "seed": self.settings.seed,
            "clustered": self.settings.clustered,
            "candidates": self.settings.candidates,
            "models": [model.to_dict() for model in self.models],
            "comparison": self.comparison and plain(self.comparison.to_dict()),
            "groups": [group.to_dict() for group in self.groups],
            "groups_left_out": self.left_out,
            "slices": [plain(slices.to_dict()) for slices in self.slices],
            "windows": [plain(windows.to_dict()) for windows in self.windows],
            "decisions": [decision_dict(one) for one in self.decisions],
            "answer": list(self.answer),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def report(self, path: str | Path, *, source: str = "") -> Path:
        """Write everything into one HTML page that opens offline in any browser.

        Parameters
        ----------
        path : path
            The file; it appears only when the page is complete.
        source : str, optional
            Where the data came from, for the title of the page.

        Returns
        -------
        Path
            The file, as an absolute path.

        Notes
        -----
        An evaluation made with ``curves=True`` has the differences between whole curves on its
        page, as the page of ``precall report`` does.
        """
        from ..display.report import Origin, write_report

        return write_report(self, path, origin=Origin(source=source))

    def _table(self) -> dict[str, list[Any]]:
        return columns_of(evaluation_rows(self))

    def _facts(self) -> dict[str, Any]:
        return evaluation_facts(self)


def best_of(models: Sequence[ModelEvaluation]) -> ModelEvaluation:
    """Return the model with the highest AUCPR, the first of equals."""
    return ranked_models(models)[0]


def ranked_models(models: Sequence[ModelEvaluation]) -> list[ModelEvaluation]:
    """Return the models by falling AUCPR; equals stay in the order given."""
    return [models[i] for i in falling([m.measures["aucpr"].estimate for m in models])]


def plain(value: Any) -> Any:
    """Turn a value into what strict JSON has: no NaN (None), no infinity (text), no arrays."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _prevalence(ranking: Ranking) -> float:
    total = ranking.n_pos + ranking.n_neg
    return float(ranking.n_pos / total) if total else float("nan")
