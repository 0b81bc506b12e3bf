"""Groups against each other, as the command line and the report show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._interval import Interval
from . import wording

if TYPE_CHECKING:
    from ..groups.slices_result import Slice, Slices
    from .results import Evaluation


@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """One group: its size, and the metric of every model at the common prevalence.

    Attributes
    ----------
    title : str
    n_pos, n_rows : int
    prevalence : float
        Its own.
    intervals : tuple
        Of each model, None where the group is too small.
    difference : Interval, optional
        Of the best model, from the rest.
    p_value : float, optional
        Of that difference, adjusted for the number of groups.
    verdict : str
        "worse" or "better" than the rest, or nothing.
    """

    title: str
    n_pos: int
    n_rows: int
    prevalence: float
    intervals: tuple[Interval | None, ...]
    difference: Interval | None
    p_value: float | None
    verdict: str


def group_rows(evaluation: Evaluation) -> list[GroupRow]:
    """Return a row for every group: the best model's lowest first, those too small at the end."""
    if not evaluation.slices:
        return []
    best = best_slices(evaluation)
    titles = {group.name: group.title for group in evaluation.groups}
    others = [
        {one.name: one.interval for one in (*slices.slices, *slices.too_small)}
        for slices in evaluation.slices
    ]
    below, above = ({one.name for one in part} for part in (best.below, best.above))

    def row(one: Slice) -> GroupRow:
        (level,) = one.levels.values()
        return GroupRow(
            title=titles.get(level, wording.clean_name(level)),
            n_pos=one.n_pos,
            n_rows=one.n_rows,
            prevalence=one.prevalence,
            intervals=tuple(intervals[one.name] for intervals in others),
            difference=one.difference,
            p_value=one.p_value,
            verdict="worse" if one.name in below else "better" if one.name in above else "",
        )

    return [row(one) for one in (*best.slices, *best.too_small)]


def best_slices(evaluation: Evaluation) -> Slices:
    """The slices of the best model."""
    return evaluation.slices[evaluation.models.index(evaluation.best)]


def group_sentences(evaluation: Evaluation) -> list[str]:
    """What is certain about the worst group of the best model."""
    if not evaluation.slices or not best_slices(evaluation).slices:
        return []
    of = f"{evaluation.best.title}: " if len(evaluation.models) > 1 else ""
    rows = group_rows(evaluation)
    worst, count = rows[0], sum(row.p_value is not None for row in rows)
    if count == 0 and len(best_slices(evaluation)) > 1:
        return [_NOT_COMPARED]
    if worst.difference is None or worst.p_value is None:
        return []
    difference = worst.difference
    by = wording.interval(difference.estimate, difference.low, difference.high, signed=True)
    p = wording.p_value(worst.p_value)
    equals = p if p.startswith("<") else f"= {p}"
    verdict = {"worse": "is worse than the rest", "": "is not shown to be worse than the rest"}
    what = verdict.get(worst.verdict, "differs from the rest")
    lowest = f"{of}{worst.title} is the lowest of {wording.plural(count, 'group')} and {what}"
    sentences = [f"{lowest}: difference {by}, p {equals} after adjusting for the choice."]
    others = [row.title for row in rows[1:] if row.verdict == "worse"]
    if others:
        # Of more rows, a smaller difference is shown: the lowest group need not be one of these.
        also = "Also worse" if worst.verdict == "worse" else "Shown to be worse"
        sentences.append(f"{also} than the rest: {wording.listing(others, _MOST_NAMED)}.")
    return sentences


def worse_groups(evaluation: Evaluation, model: str) -> str:
    """Say in which groups the best model is worse than in the rest; nothing if in none."""
    worse = [row.title for row in group_rows(evaluation) if row.verdict == "worse"]
    if not worse:
        return ""
    return (
        f"{model} is worse in {wording.listing(worse, _MOST_NAMED)} than in the rest of the rows."
    )


_MOST_NAMED = 5
_NOT_COMPARED = (
    "No group was compared with the rows outside of it: that takes the rows themselves, or counts "
    "that were not made."
)
