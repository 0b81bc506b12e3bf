"""The results that are shown: measures with their floor and ceiling, models, groups, findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._notebook import Rich
from .._output import as_page
from .._result_frame import columns_of
from .._words import plural
from ..inference.comparison import Comparison
from ..ranking import Ranking
from .decisions import DecisionValue, decision_dict
from .few import too_few
from .measure_rows import evaluation_facts, evaluation_rows, measure_rows
from .model_result import Measure, ModelEvaluation, best_of
from .plain_values import plain, share_of_positives
from .settings import Settings

if TYPE_CHECKING:
    from ..groups.slices_result import Slices
    from ..inference.bands import Band
    from ..monitoring.windows import Windows

#: What ``docs/schemas`` calls the form of :meth:`Evaluation.to_dict`.
SCHEMA = "precall-evaluation-1"


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
        Every pair of models, with several of them on the same rows in memory and with 10
        positives at least; its keys are the models' names.
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
        return share_of_positives(self.ranking)

    @property
    def few_positives(self) -> bool:
        """Whether there are too few positives to quote intervals: then there are none."""
        return too_few(self.ranking)

    @property
    def best(self) -> ModelEvaluation:
        """The model with the highest AUCPR."""
        return best_of(self.models)

    def __repr__(self) -> str:
        """Return one line."""
        areas = ", ".join(f"{model.title}={model.measures['aucpr'].text}" for model in self.models)
        rows = plural(self.n_rows, "row", shown=str(self.n_rows))
        return f"Evaluation({rows}, {self.n_positive_rows} positive, AUCPR: {areas})"

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw precision over recall of every model, up to three with bands; return the Axes.

        `options` are those of :func:`precall.display.mpl.plot_pr`.
        """
        from ..display.result_plots import plot_models

        return plot_models(self.models, ax, **options)

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
            The file, as an absolute path; a notebook shows the page.

        Notes
        -----
        An evaluation made with ``curves=True`` has the differences between whole curves on its
        page, as the page of ``precall report`` does.
        """
        from ..display.report import Origin, write_report

        return write_report(self, as_page(path), origin=Origin(source=source))

    def _table(self) -> dict[str, list[Any]]:
        return columns_of(evaluation_rows(self))

    def _facts(self) -> dict[str, Any]:
        return evaluation_facts(self)
