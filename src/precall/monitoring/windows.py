"""A metric window by window, with limits that hold for all windows looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._rounding import at_least
from .._words import listed, plural
from ..exceptions import InputError
from ..inference.intervals import interval
from ..inference.weighted_shares import WeightedShare
from ..metrics import Metric, as_metric
from ..points.share_bounds import observed_share, observed_weight
from ..rows import Rows
from .monitor import restart_share
from .periods import window_of
from .times import as_times, shown_time

IntArray = npt.NDArray[np.int64]

# With fewer positives or negatives a window is counted and not judged.
_FEWEST = 10


@dataclass(frozen=True, kw_only=True)
class Window(Rich):
    """One window.

    Attributes
    ----------
    start : str
        Where it begins.
    rows, positives : int
    prevalence : Interval
        The share of positives.
    interval : MetricInterval or None
        The metric; None with fewer than 10 positives or negatives.
    at_reference : MetricInterval or None
        The metric as it would be at the prevalence of the first window, or at the one given.
    prevalence_changed, ranking_changed : float or None
        The change since the first window where it is shown: of the prevalence, and of the metric
        at one prevalence. None where no change is shown.
    """

    start: str
    rows: int
    positives: int
    prevalence: Interval
    interval: Interval | None
    at_reference: Interval | None
    prevalence_changed: float | None
    ranking_changed: float | None

    @property
    def verdict(self) -> str:
        """What is shown of the change since the first window, in words."""
        if self.interval is None:
            return "too few rows of a class"
        found = []
        if self.ranking_changed is not None:
            found.append("worse ranking" if self.ranking_changed < 0 else "better ranking")
        if self.prevalence_changed is not None:
            found.append("fewer positives" if self.prevalence_changed < 0 else "more positives")
        return listed(found, "and") if found else "no change shown"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("prevalence", "interval", "at_reference"):
            plain[name] = plain[name] and plain[name].to_dict()
        return plain | {"verdict": self.verdict}


@dataclass(frozen=True, kw_only=True, repr=False)
class Windows(Rich):
    """A metric over time.

    Attributes
    ----------
    metric : str
    confidence_level : float
        Of all intervals together, and of all changes together.
    reference : Window
        The first window that can be judged: changes are since then.
    prevalence : float
        The one at which windows are compared.
    windows : tuple of Window
    """

    metric: str
    confidence_level: float
    reference: Window
    prevalence: float
    windows: tuple[Window, ...]

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.windows)

    @property
    def message(self) -> str:
        """What is shown, in words."""
        changes: dict[str, list[str]] = {}
        for window in self.windows:
            if (window.ranking_changed, window.prevalence_changed) != (None, None):
                changes.setdefault(window.verdict, []).append(window.start)
        level = f"{100 * self.confidence_level:.6g} %"
        judged = sum(window.interval is not None for window in self.windows)
        since = f"since {self.reference.start}, in {plural(judged, 'window')} at {level}"
        if not changes:
            return f"No change of {self.metric} or of the prevalence is shown {since}."
        said = [f"{verdict} in {listed(starts, 'and')}" for verdict, starts in changes.items()]
        text = "; ".join(said)
        return f"{text[0].upper()}{text[1:]} ({since})."

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the intervals over time with matplotlib and return the Axes."""
        from ..display.window_plots import plot_windows

        return plot_windows(self, ax=ax, **style)

    def __repr__(self) -> str:
        """Return one line."""
        changed = sum(window.verdict not in _QUIET for window in self.windows)
        return f"Windows({self.metric}, {len(self)} windows, {changed} changed since the first)"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        return {
            "metric": self.metric,
            "confidence_level": self.confidence_level,
            "reference": self.reference.start,
            "prevalence": self.prevalence,
            "message": self.message,
            "windows": [window.to_dict() for window in self.windows],
        }

    def _table(self) -> dict[str, Any]:
        def column(part: str, name: str) -> list[float]:
            found = [getattr(window, part) for window in self.windows]
            return [math.nan if each is None else getattr(each, name) for each in found]

        table: dict[str, Any] = {
            name: [getattr(window, name) for window in self.windows]
            for name in ("start", "rows", "positives")
        }
        table["prevalence"] = column("prevalence", "estimate")
        for name in ("estimate", "low", "high"):
            table[name] = column("interval", name)
        table["at_reference"] = column("at_reference", "estimate")
        table["verdict"] = [window.verdict for window in self.windows]
        return table


_QUIET = ("no change shown", "too few rows of a class")


def windows(
    rows: Rows,
    metric: Metric | type[Metric] | str = "aucpr",
    *,
    time: str,
    every: object = None,
    model: str | None = None,
    prevalence: float | None = None,
    confidence_level: float = 0.95,
) -> Windows:
    """Return a metric window by window, and tell a worse ranking from fewer positives.

    The t-th window has limits at the level ``1 - alpha * 6 / (pi t)**2``: all of them together,
    however many are still to come, hold with probability ``1 - alpha``. Most metrics of precision
    fall when positives become rarer, and nothing is wrong with the scorer then. So every window is
    also shown at the prevalence of the first one, where only the ranking (the ROC side) can differ.

    Parameters
    ----------
    rows : Rows
        With a column of times.
    metric : Metric or str, default "aucpr"
    time : str
        The column of times: numbers, or dates.
    every : str, number or timedelta, optional
        Length of a window: a number where times are numbers; ``"hour"``, ``"day"``, ``"week"``,
        ``"month"``, ``"quarter"``, ``"year"`` or a timedelta where they are dates. Ten windows of
        about as many rows each if not given.
    model : str, optional
        Which model, where the rows have several.
    prevalence : float, optional
        The prevalence at which windows are compared; that of the first window if not given.
    confidence_level : float, default 0.95
        Of all intervals together; and of all changes together, half of the error for each kind.

    Returns
    -------
    Windows

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> month = np.repeat(np.arange(6), 1000)
    >>> y = rng.random(6000) < np.where(month < 3, 0.2, 0.08)
    >>> rows = pr.Rows(y, rng.normal(size=6000) + 2 * y, columns={"month": month})
    >>> found = pr.monitoring.windows(rows, time="month", every=1)
    >>> [window.verdict for window in found.windows][2:4]
    ['no change shown', 'fewer positives']
    """
    if not isinstance(rows, Rows):
        raise InputError(f"rows must be Rows, got {type(rows).__name__}: pass pr.Rows(...).")
    return windows_at(
        rows,
        as_times(rows.column(time), time),
        as_metric(metric),
        every=every,
        model=model,
        prevalence=prevalence,
        confidence_level=confidence_level,
    )


def windows_at(
    rows: Rows,
    times: npt.NDArray[Any],
    metric: Metric,
    *,
    every: object,
    model: str | None,
    prevalence: float | None,
    confidence_level: float,
) -> Windows:
    """Return :func:`windows` of rows with these times."""
    level = _validation.as_fraction(confidence_level, "confidence_level")
    share = None if prevalence is None else _validation.as_prevalence(prevalence)
    name = rows.model_named(model)
    number, starts = window_of(times, every)
    found: list[Window] = []
    first: tuple[Window, Rows] | None = None
    for index, start in enumerate(starts):
        part = rows.select(number == index)
        error = (1.0 - level) * restart_share(index)
        window = _window(part, metric, name, shown_time(start), error, first, share)
        if first is None and window.interval is not None:
            first = window, part
        found.append(window)
    if first is None:
        raise InputError(
            f"no window has {_FEWEST} positives and {_FEWEST} negatives: make them longer (every=)."
        )
    reference = first[0]
    return Windows(
        metric=str(metric),
        confidence_level=level,
        reference=reference,
        prevalence=reference.prevalence.estimate if share is None else share,
        windows=tuple(found),
    )


def _window(
    rows: Rows,
    metric: Metric,
    model: str,
    start: str,
    error: float,
    first: tuple[Window, Rows] | None,
    known: float | None,
) -> Window:
    """Look at the rows of a window, beside the first that could be judged."""
    positives = int(np.count_nonzero(rows.positive))
    counted = {"start": start, "rows": len(rows), "positives": positives}
    prevalence = _prevalence(rows, 1.0 - error / 2.0)
    if min(positives, len(rows) - positives) < _FEWEST:
        return Window(
            **counted,  # type: ignore[arg-type]
            prevalence=prevalence,
            interval=None,
            at_reference=None,
            prevalence_changed=None,
            ranking_changed=None,
        )
    asked: dict[str, Any] = {"model": model, "rng": 0}
    own = interval(rows, metric, confidence_level=1.0 - error, **asked)
    share = (first[0].prevalence if first else prevalence).estimate if known is None else known
    there = interval(rows, metric, prevalence=share, confidence_level=1.0 - error / 2.0, **asked)
    ranking = then = None
    if first is not None and first[0].at_reference is not None:
        # The first window's limits were made at its own, lower level: made again at this one.
        before = first[0].at_reference.at_level(1.0 - error / 2.0)  # type: ignore[attr-defined]
        ranking = _change(before, there)
        then = _change(_prevalence(first[1], 1.0 - error / 2.0), prevalence)
    return Window(
        **counted,  # type: ignore[arg-type]
        prevalence=prevalence,
        interval=own,
        at_reference=there,
        prevalence_changed=then,
        ranking_changed=ranking,
    )


def _prevalence(rows: Rows, level: float) -> Interval:
    if rows.weight is not None and rows.cluster is None:
        return observed_weight(WeightedShare.of_rows(rows.weight, rows.positive), level)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    share = float(weight[rows.positive].sum() / weight.sum())
    trials = sum(effective_sizes_of(rows))
    return observed_share(share * trials, trials, level)


def effective_sizes_of(rows: Rows) -> tuple[float, float]:
    """Effective numbers of positives and negatives; plain counts where a class is empty."""
    count = int(np.count_nonzero(rows.positive))
    if count in (0, len(rows)):
        return float(count), float(len(rows) - count)
    return rows.effective_sizes


def _change(before: Interval, after: Interval) -> float | None:
    """Return the difference of two independent estimates where it is shown, else None.

    Limits of a difference from those of its parts (Zou & Donner 2008).
    """
    apart = after.estimate - before.estimate
    down = math.hypot(after.estimate - after.low, before.high - before.estimate)
    up = math.hypot(after.high - after.estimate, before.estimate - before.low)
    shown = apart > down if apart > 0 else -apart > up
    return apart if shown and not at_least(0.0, abs(apart)) else None
