"""An evaluation on the terminal: the answer, the measures, the groups, the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluation import wording
from ..evaluation.few import few_in_words
from .lines import shown, wrapped
from .options import Source, file_title
from .terminal import console, findings, grid, heading, measure_blocks, pages, sentences

if TYPE_CHECKING:
    from rich.console import Console

    from ..evaluation import Evaluation, GroupEvaluation
    from ..evaluation.group_table import GroupRow


def show(evaluation: Evaluation, file: Source) -> None:
    """Print an evaluation: the answer, the measures, the groups, the findings."""
    output = console()
    source = shown(file_title(file), 50)
    rows = wording.plural(evaluation.n_rows, "row")
    positive = wording.count(evaluation.n_positive_rows)
    share = wording.percent(evaluation.prevalence)
    level = wording.percent(evaluation.settings.confidence_level)
    sentences(output, [f"{source}: {rows}, {positive} positive, prevalence {share}", ""])
    sentences(output, evaluation.answer)
    titles = [model.title for model in evaluation.models]
    alone = ", each by itself" if len(titles) > 1 else ""
    few, positives = evaluation.few_positives, evaluation.n_positive_rows
    kind = (
        f"without intervals ({few_in_words(positives)})"
        if few
        else f"with {level} intervals{alone}"
    )
    heading(output, f"Measures {kind}")
    measures = [
        [model.measures[name] for model in evaluation.models]
        for name in evaluation.models[0].measures
    ]
    measure_blocks(output, titles, measures)
    if evaluation.groups:
        _groups(output, evaluation)
    if evaluation.windows:
        _times(output, evaluation)
    heading(output, "What to know before quoting it")
    findings(output, evaluation.findings)


def _groups(output: Console, evaluation: Evaluation) -> None:
    """Every group with every model, in as many tables as the width takes."""
    from ..evaluation.group_table import best_slices, group_rows, group_sentences

    compared = group_rows(evaluation)
    at = ""
    if compared:
        of = f" of {evaluation.best.title}" if len(evaluation.models) > 1 else ""
        at = f" at prevalence {wording.percent(best_slices(evaluation).prevalence)}"
        at += f", the lowest{of} first"
    heading(output, wrapped(f"AUCNPR by group{at}", output.width))
    columns = [("group", "left"), ("positive", "right"), ("prevalence", "right")]
    columns += [(model.title, "right") for model in evaluation.models]
    if not compared:
        pages(output, columns, 3, [_alone(group) for group in evaluation.groups])
        return
    pages(output, columns, 3, [_compared(row) for row in compared])
    level = wording.percent(evaluation.settings.confidence_level)
    output.print()
    held = f"With {level} confidence the limits of all groups of a model hold at once."
    sentences(output, [held, *group_sentences(evaluation)])


def _times(output: Console, evaluation: Evaluation) -> None:
    """The best model's windows; --json has those of all."""
    from ..evaluation.over_time import best_windows, time_rows

    found = best_windows(evaluation)
    if found is None:
        return
    of = f" ({evaluation.best.title})" if len(evaluation.models) > 1 else ""
    share = wording.percent(found.prevalence)
    heading(output, f"AUCPR over time, as it is and at prevalence {share}{of}")
    columns = [("from", "left"), ("AUCPR", "right"), (f"at {share}", "right")]
    rows = [
        [row.start, row.own, row.compared, row.verdict.replace(" and ", ", ")]
        for row in time_rows(found)
    ]
    grid(output, [*columns, ("since the first", "left")], rows)
    level = wording.percent(evaluation.settings.confidence_level)
    output.print()
    sentences(output, [f"With {level} confidence the limits of AUCPR in all windows hold at once."])


def _alone(group: GroupEvaluation) -> list[str]:
    return [
        group.title,
        f"{wording.count(group.n_pos)} of {wording.count(group.n_pos + group.n_neg)}",
        wording.percent(group.prevalence),
        *(_cell(measures["aucnpr"]) for measures in group.measures),
    ]


def _compared(row: GroupRow) -> list[str]:
    return [
        row.title,
        f"{wording.count(row.n_pos)} of {wording.count(row.n_rows)}",
        wording.percent(row.prevalence),
        *(
            "–" if each is None else wording.interval(each.estimate, each.low, each.high)
            for each in row.intervals
        ),
    ]


def _cell(measure: Any) -> str:
    return measure.text if measure.interval is not None else "–"
