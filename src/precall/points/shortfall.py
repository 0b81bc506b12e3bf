"""Why nothing could be certified, and how much more data would be enough."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._words import listed
from ..ranking import Ranking
from .independent import IndependentCounts
from .requirements import Requirement

# Data this many times larger is as good as out of reach.
_LARGEST_SCALE = 2.0**20


class Shortfall(NamedTuple):
    """What is missing, and how many positives would be enough; None if no number would be."""

    reason: str
    positives_needed: int | None = None


def what_is_missing(
    ranking: Ranking,
    counts: IndependentCounts,
    asked: list[Requirement],
    certified: list[Any],
    part: float,
) -> Shortfall:
    """Say which requirement is in the way, and how much more data would be enough."""
    pairs = list(zip(asked, certified, strict=True))
    for each, rows in pairs:
        if not rows.any():
            found = _alone(counts, each, part)
            reason = found.reason if len(asked) == 1 else f"{each.words()}: {found.reason}"
            return found._replace(reason=reason)
    ranges = [f"{each.words()} {_where(ranking, rows)}" for each, rows in pairs]
    more = more_of_the_same(counts, partial(_possible, counts, asked, part))
    together = f"no threshold is certified for all of them: {listed(ranges, 'and')}"
    return Shortfall(together, more.positives_needed)


def _alone(counts: IndependentCounts, asked: Requirement, part: float) -> Shortfall:
    """Say why one requirement is certified nowhere."""
    if not asked.uncertain:
        return Shortfall("more rows than that are selected at the highest threshold")
    enough = asked.enough(part)
    if enough is not None and counts.n_all == counts.n_rows:  # else not all can be found
        return Shortfall("there are too few positives", enough)
    return more_of_the_same(counts, partial(_possible, counts, [asked], part))


def _possible(
    counts: IndependentCounts, asked: list[Requirement], part: float, scale: float
) -> bool:
    rows = [each.possible(counts, part, scale) for each in asked]
    return bool(np.any(np.logical_and.reduce(rows)))


def _where(ranking: Ranking, rows: Any) -> str:
    """Return at which thresholds something is certified, in words."""
    places = np.flatnonzero(rows)
    highest, lowest = (f"{ranking.threshold[place]:.6g}" for place in (places[0], places[-1]))
    if places[0] == 0:
        return f"holds for thresholds from {lowest}"
    if places[-1] == len(rows) - 1:
        return f"holds for thresholds up to {highest}"
    return f"holds for thresholds from {lowest} to {highest}"


def more_of_the_same(counts: IndependentCounts, passes: Callable[[float], bool]) -> Shortfall:
    """Find how many times larger the same data would have to be for some threshold to pass."""
    if passes(1.0):
        return Shortfall(
            "the highest-scoring rows already fail the test, so nothing below them can be "
            "certified although some threshold would have passed alone",
        )
    enough, observed = 2 * math.ceil(counts.n_pos), counts.n_pos
    while enough <= _LARGEST_SCALE * observed and not passes(enough / observed):
        enough *= 2
    if enough > _LARGEST_SCALE * observed:
        return Shortfall("no threshold has clearly more on this data, so more of it would not help")
    sizes = range(enough // 2, enough + 1)
    needed = sizes[bisect_left(sizes, True, key=lambda size: passes(size / observed))]
    return Shortfall("there are too few positives", needed)
