"""Whether it is still true: every model's area, window by window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._interval import Interval
from ..metrics import aucpr
from ..rows import Rows
from . import wording
from .settings import Settings

if TYPE_CHECKING:
    from ..monitoring.windows import Window, Windows
    from .results import Evaluation

# Windows that a sentence names before it counts the rest.
_MOST_NAMED = 4


def over_time(rows: Rows, time: object, every: object, settings: Settings) -> tuple[Windows, ...]:
    """Return the windows of every model; all limits of all models hold at once."""
    from ..monitoring.times import as_times
    from ..monitoring.windows import windows_at

    name = time if isinstance(time, str) else "time"
    column: Any = rows.column(time) if isinstance(time, str) else rows.aligned(time, "time")
    times = as_times(column, name)
    return tuple(
        windows_at(
            rows,
            times,
            aucpr(),
            every=every,
            model=model,
            prevalence=settings.prevalence,
            confidence_level=settings.choice_level,
        )
        for model in rows.names
    )


@dataclass(frozen=True, kw_only=True)
class TimeRow:
    """One window of one model, in words.

    Attributes
    ----------
    start, rows, prevalence, own, compared : str
        Where it begins, its positives among its rows, its prevalence, and AUCPR as it is and at
        the common prevalence, each with its limits.
    verdict : str
        What has changed since the first window.
    worse : bool
        Whether the ranking is shown to be worse.
    """

    start: str
    rows: str
    prevalence: str
    own: str
    compared: str
    verdict: str
    worse: bool


def time_rows(found: Windows) -> list[TimeRow]:
    """Return a row for every window."""
    return [_row(window, first=window is found.reference) for window in found.windows]


def _row(window: Window, *, first: bool) -> TimeRow:
    seen = window.prevalence
    return TimeRow(
        start=window.start,
        rows=f"{wording.count(window.positives)} of {wording.count(window.rows)}",
        prevalence=_share(seen),
        own=_words(window.interval),
        compared=_words(window.at_reference),
        verdict="first window" if first else window.verdict,
        worse=_fell(window),
    )


def _share(seen: Interval) -> str:
    """A share of rows, which is known as it was counted, and its limits."""
    _, _, limits = wording.percent_interval(seen.estimate, seen.low, seen.high).partition("(")
    return f"{wording.percent(seen.estimate)} ({limits}"


def _words(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return wording.interval(interval.estimate, interval.low, interval.high)


def _fell(window: Window) -> bool:
    return window.ranking_changed is not None and window.ranking_changed < 0.0


def best_windows(evaluation: Evaluation) -> Windows | None:
    """The windows of the best model; None where no times were given."""
    if not evaluation.windows:
        return None
    return evaluation.windows[evaluation.models.index(evaluation.best)]


def time_sentences(evaluation: Evaluation, found: Windows, title: str) -> list[str]:
    """What is certain about the changes since the first window: the ranking, then the prevalence.

    A worse ranking is the scorer's; a prevalence that moved is not, and moves AUCPR all the same.
    """
    of = f"{title}: the" if len(evaluation.models) > 1 else "The"
    judged = sum(window.interval is not None for window in found.windows)
    if judged < 2:
        return [f"{of} rows make one window that can be judged: there is nothing to compare."]
    first = f"the first window, {found.reference.start}"
    worse: list[str] = []
    better: list[str] = []
    prevalence: list[str] = []
    for window in found.windows:
        if window.ranking_changed is not None:
            (worse if window.ranking_changed < 0.0 else better).append(window.start)
        if window.prevalence_changed is not None:
            prevalence.append(window.start)
    sentences = []
    if worse:
        sentences.append(
            f"{of} ranking is worse in {wording.listing(worse, _MOST_NAMED)} than in {first}: "
            "positives and negatives are separated less well, whatever the prevalence."
        )
    if better:
        sentences.append(
            f"{of} ranking is better in {wording.listing(better, _MOST_NAMED)} than in {first}."
        )
    if not (worse or better):
        sentences.append(f"{of} ranking is not shown to have changed since {first}.")
    if prevalence:
        alone = "" if worse or better else "; that by itself moves AUCPR"
        moved = wording.listing(prevalence, _MOST_NAMED)
        sentences.append(f"The share of positives is different in {moved} than in {first}{alone}.")
    else:
        sentences.append(f"The share of positives is not shown to have changed since {first}.")
    return sentences
