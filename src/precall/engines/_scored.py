"""Scores of all rows, labelled or not: tasks of others, run where the data are and watched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..ranking.scored_rows import ScoredRows, ScorePiece, ScoreTask
from ..readers.wanted import Wanted
from ._columns import Piece, Request
from ._survey import Survey


@dataclass(frozen=True, kw_only=True)
class ScoreRequest(Request):
    """A column of scores without labels, and columns that are kept as they are."""

    label: str = ""
    keep: tuple[str, ...] = ()

    @classmethod
    def of(cls, score: str, keep: object) -> ScoreRequest:
        """Check the names of the columns to keep."""
        names = tuple(keep) if isinstance(keep, (list, tuple)) else (keep,)
        if isinstance(keep, str) or not all(isinstance(name, str) for name in names):
            raise InputError(f"keep must be a list of names of columns, got {keep!r}.")
        if len({score, *names}) <= len(names):
            raise InputError(
                f"keep must name each column once, and not that of scores, got {keep!r}."
            )
        return cls(score=score, keep=names)

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns asked for, by their role."""
        kept = {f"keep {number}": name for number, name in enumerate(self.keep)}
        return {"score": self.score} | kept

    @property
    def wanted(self) -> Wanted:
        """What a reader of files has to know of them: identifiers stay as they are written."""
        found = super().wanted
        return replace(found, texts=frozenset(self.keep) - {self.score})

    def shown(self, role: str) -> str:
        """How a message speaks of a column: the argument and its value."""
        return f"{role.partition(' ')[0]}={self.columns[role]!r}"


@dataclass
class WatchedScores:
    """What a task found in some rows, and a survey of them."""

    survey: Survey
    found: Any

    def __add__(self, other: object) -> WatchedScores:
        """Both of both."""
        if not isinstance(other, WatchedScores):
            return NotImplemented
        return WatchedScores(self.survey + other.survey, self.found + other.found)

    def split(self) -> Iterator[tuple[int, WatchedScores]]:
        """Results of these tasks are small: one part."""
        yield 0, self


@dataclass(frozen=True, kw_only=True)
class WatchScores:
    """A task of somebody else, and what every pass looks at beside."""

    request: ScoreRequest
    task: ScoreTask

    def start(self) -> WatchedScores:
        """Nothing found in no rows."""
        return WatchedScores(Survey(self.request), self.task.start())

    def __call__(self, pieces: Iterable[Piece]) -> WatchedScores:
        """Result of a shard."""
        survey = Survey(self.request)

        def watched() -> Iterator[ScorePiece]:
            for piece in pieces:
                survey.update(piece, np.broadcast_to(np.False_, (piece.size,)), None)
                if not survey.flaws:
                    yield ScorePiece(piece.shard, piece.start, piece.scores, piece.others)

        found = self.task(watched())
        return WatchedScores(survey, found)


def scored_rows(
    run: Callable[[Any], WatchedScores], request: ScoreRequest, *, ordered: bool = True
) -> ScoredRows:
    """Return the rows behind `run`, an engine's way to apply a task to each of its shards.

    Every pass has to see the rows that the first one saw.
    """
    first: list[Survey] = []

    def run_task(task: ScoreTask) -> Any:
        watch = run(WatchScores(request=request, task=task))
        if first:
            first[0].compare(watch.survey)
        else:
            watch.survey.judge()
            first.append(watch.survey)
        return watch.found

    return ScoredRows(score=request.score, keep=request.keep, ordered=ordered, run=run_task)
