"""Rows that fit into memory: read once, and ranked there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._validation import as_count
from ..ranking import Ranking
from ..ranking.direction import warn_if_worse_than_random
from ..ranking.from_rows import rank_classes
from ..ranking.kept_thresholds import as_thresholds
from ._columns import Array, Piece, Request
from ._survey import Survey

# Bytes that a row takes until it is ranked, and what a positive takes beside, for the table of
# counts while that is made. Both are measured.
_BYTES_PER_ROW, _BYTES_PER_POSITIVE = 24, 80


class NoRoom(Exception):
    """The rows do not fit into memory; nobody outside of this module sees it."""


class Space:
    """Bytes for all that the threads hold together."""

    def __init__(self, memory: int) -> None:
        self._left = memory
        self._lock = threading.Lock()

    def take(self, rows: int, positives: int) -> None:
        """Take note of more rows, so many of them positive; raise when there are too many."""
        with self._lock:
            self._left -= _BYTES_PER_ROW * rows + _BYTES_PER_POSITIVE * positives
            if self._left < 0:
                raise NoRoom


@dataclass
class HeldRows:
    """Scores of some rows, class by class, and what is wrong with the rows."""

    survey: Survey
    positives: list[Array] = field(default_factory=list)
    negatives: list[Array] = field(default_factory=list)

    def __add__(self, other: object) -> HeldRows:
        """Rows of both."""
        if not isinstance(other, HeldRows):
            return NotImplemented
        return HeldRows(
            self.survey + other.survey,
            self.positives + other.positives,
            self.negatives + other.negatives,
        )

    def split(self) -> Iterator[tuple[int, HeldRows]]:
        """One part: rows stay where they were read."""
        yield 0, self


@dataclass(frozen=True, kw_only=True)
class HoldRows:
    """The task of the only pass."""

    request: Request
    space: Space

    def start(self) -> HeldRows:
        """No rows."""
        return HeldRows(Survey(self.request))

    def __call__(self, pieces: Iterable[Piece]) -> HeldRows:
        """Rows of a shard."""
        held = self.start()
        for piece in pieces:
            positive = piece.positive(self.request.pos_label)
            held.survey.look_at(piece, positive)
            ours, theirs = piece.scores[positive], piece.scores[~positive]
            self.space.take(piece.size, ours.size)
            held.positives.append(ours)
            held.negatives.append(theirs)
        held.positives, held.negatives = _joined(held.positives), _joined(held.negatives)
        return held


def _joined(parts: list[Array]) -> list[Array]:
    """All in one array, if there are any."""
    return [np.concatenate(parts)] if parts else []


def can_be_held(request: Request, rows: int | None, memory: int) -> bool:
    """Whether rows fit, if few of them are positive: labels and scores, no weights or groups."""
    plain = request.columns.keys() == {"label", "score"}
    return plain and rows is not None and _BYTES_PER_ROW * rows <= memory


def rank_held(
    run: Callable[[Any], HeldRows],
    request: Request,
    memory: int,
    *,
    thresholds: object = (),
    missed_positives: int = 0,
) -> Ranking | None:
    """Rank the rows behind `run` after one pass; None where they need more than the memory."""
    missed = as_count(missed_positives, "missed_positives")
    kept = as_thresholds(thresholds, np.dtype(np.float64))
    space = Space(memory)
    try:
        space.take(0, kept.size)
        held = run(HoldRows(request=request, space=space))
    except NoRoom:
        return None
    held.survey.judge()
    nothing = [np.zeros(0)]
    # Files may differ in their types; the widest holds for all.
    ours, *theirs = [
        part.astype(held.survey.dtype, copy=False)
        for part in [*_joined(held.positives or nothing), *(held.negatives or nothing)]
    ]
    ranking = rank_classes(ours, theirs, thresholds)
    warn_if_worse_than_random(ranking)
    return replace(ranking, missed=missed) if missed else ranking
