"""Watch rows that are all there already, in the order of their times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._words import plural
from ..exceptions import InputError
from ..ranking.kept_thresholds import as_score
from ..rows import Rows
from .monitor import Monitor
from .monitors import PrecisionMonitor, RecallMonitor
from .times import as_times, shown_time

Mask = npt.NDArray[np.bool_]

# Points of the path that a picture shows.
_MOST_POINTS = 200
#: The monitors by what they watch.
WATCHED: dict[str, type[Monitor]] = {
    kind.watches: kind for kind in (PrecisionMonitor, RecallMonitor)
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Watch(Rich):
    """What a monitor saw in rows.

    Attributes
    ----------
    watches : str
        ``"precision"`` or ``"recall"``.
    threshold, target, confidence_level : float
    interval : Interval
        With limits that hold at all times at once.
    alarm : bool
        Whether the target was excluded from below at some time.
    alarm_at : int or None
        How many trials had been counted then.
    alarm_time : str or None
        The time of the last of them.
    successes, trials : int
    pending : int
        Decisions that do not count yet: their label, or that of an earlier one, is missing.
    state : str
        ``"alarm"``, ``"fine"``, or ``"undecided"`` if nothing was counted.
    message : str
        The result in words.
    path : tuple of (int, int)
        Trials and successes as they grew, at most 200 pairs of them; for :meth:`plot` only.
    """

    watches: str
    threshold: float
    target: float
    confidence_level: float
    interval: Interval
    alarm: bool
    alarm_at: int | None
    alarm_time: str | None
    successes: int
    trials: int
    pending: int
    state: str
    message: str
    path: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"Watch({self.watches}={self.interval.estimate:.4g}, low={self.interval.low:.4g}, "
            f"high={self.interval.high:.4g}, target={self.target:g}, {self.state})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        names = (name for name in self.__dataclass_fields__ if name != "path")
        plain = {name: getattr(self, name) for name in names}
        interval = self.interval.to_dict()
        if not self.trials:
            interval["estimate"] = None
        return plain | {"interval": interval}

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the share over time with its limits and the target, and return the Axes.

        `style` goes to ``Axes.plot``.
        """
        from ..display.window_plots import plot_watch

        return plot_watch(self, ax, **style)


def watch(
    rows: Rows,
    *,
    threshold: float,
    target: float,
    time: str | None = None,
    watches: str = "precision",
    model: str | None = None,
    labelled: object = None,
    confidence_level: float = 0.95,
    delay: str = "any",
    restart_every: int | None = None,
) -> Watch:
    """Replay rows in the order of their times, as a monitor would have seen them.

    Parameters
    ----------
    rows : Rows
    threshold : float
        ``score >= threshold`` is selected.
    target : float
        The precision or recall that was promised.
    time : str, optional
        The column of times: numbers, or dates. Rows of one time count together, because their
        order is not known. The order of the rows if not given.
    watches : {"precision", "recall"}
    model : str, optional
        Which model, where the rows have several.
    labelled : array of bool, optional
        Which rows have a label; whatever label the others have is not looked at.
    confidence_level, delay, restart_every
        As in :class:`PrecisionMonitor`.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> y = np.arange(400) % 10 < np.repeat([6, 3], 200)
    >>> day = np.arange(400) // 20
    >>> rows = pr.Rows(y, np.ones(400), columns={"day": day})
    >>> found = pr.monitoring.watch(rows, threshold=0.5, target=0.6, time="day")
    >>> found.state, found.alarm_time
    ('alarm', '14')
    """
    if not isinstance(rows, Rows):
        raise InputError(f"rows must be Rows, got {type(rows).__name__}: pass pr.Rows(...).")
    if rows.weight is not None:
        raise InputError("weighted rows cannot be watched: every decision counts once.")
    kind = WATCHED[_validation.as_choice(watches, "watches", WATCHED)]
    monitor = kind(
        target=target,
        confidence_level=confidence_level,
        delay=delay,
        restart_every=restart_every,
    )
    cut = _validation.as_number(threshold, "threshold")
    scores = rows.scores[rows.model_named(model)]
    times = np.arange(len(rows)) if time is None else as_times(rows.column(time), time)
    known = np.ones(len(rows), dtype=np.bool_)
    if labelled is not None:
        known = _validation.as_positive_mask(rows.aligned(labelled, "labelled"), True, "labelled")
    least = as_score(cut, scores.dtype)
    selected = np.zeros(len(rows), dtype=np.bool_) if least is None else scores >= least
    order = np.argsort(times, kind="stable")
    order = order[monitor.may_count(selected)[order]]
    counted = order[_countable(known[order], _ends(times[order]), monitor.delay)]
    decisions = selected[counted], rows.positive[counted]
    trials = monitor.is_trial(*decisions)
    when = times[counted][trials]
    outcomes = monitor.went_well(*decisions)[trials]
    monitor.count(outcomes, _ends(when))
    found = _result(monitor, cut, when, order.size - counted.size, time)
    if not found.trials and not selected.any():
        found = replace(found, message=f"{found.message} No score is {cut:g} or more.")
    return replace(found, path=_path(outcomes, _ends(when), found.alarm_at))


def _path(outcomes: Mask, looks: Mask, alarm_at: int | None) -> tuple[tuple[int, int], ...]:
    """Return trials and successes at some of the looks: the last, and that of the alarm, too."""
    trials = np.flatnonzero(looks) + 1
    chosen = np.linspace(0, trials.size - 1, min(trials.size, _MOST_POINTS - 1))
    kept = trials[chosen.round().astype(np.int64)]
    if alarm_at is not None:
        kept = np.union1d(kept, alarm_at)
    successes = np.cumsum(outcomes)
    return tuple((at, int(successes[at - 1])) for at in kept.tolist())


def _ends(times: Any) -> Mask:
    """Return which rows are the last of their time, times being in order."""
    ends = np.ones(times.size, dtype=np.bool_)
    ends[:-1] = times[1:] != times[:-1]
    return ends


def _countable(known: Mask, last: Mask, delay: str) -> Mask:
    """Return which decisions count: labelled ones, or whole times before the first without."""
    if delay == "independent" or known.all():
        return known
    first = int(np.argmin(known))
    ends = np.flatnonzero(last[:first])
    return np.arange(known.size) < (ends[-1] + 1 if ends.size else 0)


def _result(monitor: Monitor, cut: float, times: Any, pending: int, time: str | None) -> Watch:
    at = monitor.alarm_at
    when = None if at is None or time is None else shown_time(times[at - 1])
    message = monitor.message
    if when is not None:
        message = f"{message} The alarm went on at {time} {when}."
    if pending:
        wait = "waits for labels" if pending == 1 else "wait for labels"
        message = f"{message} {plural(pending, 'decision')} {wait}."
    return Watch(
        watches=monitor.watches,
        threshold=cut,
        target=monitor.target,
        confidence_level=monitor.confidence_level,
        interval=monitor.interval,
        alarm=monitor.alarm,
        alarm_at=at,
        alarm_time=when,
        successes=monitor.successes,
        trials=monitor.trials,
        pending=pending,
        state="alarm" if monitor.alarm else "fine" if monitor.trials else "undecided",
        message=message,
    )
