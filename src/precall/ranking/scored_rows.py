"""Scored rows that are somewhere else: in files, or in the partitions of a cluster.

Whoever asks about them hands over a task, a pure function of some rows; it is applied to each shard
of the data, wherever that is, and the results are added up in any order and grouping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class ScorePiece(NamedTuple):
    """Scores of neighbouring rows of one shard.

    `start` is the position of the first row in the shard; `others` is an Arrow table of the columns
    that are kept beside the scores, if there are any.
    """

    shard: int
    start: int
    scores: Array
    others: Any = None

    def values_of(self, rows: Array) -> dict[int, list[Any]]:
        """Return what other columns have in some rows, by the place of the column."""
        if self.others is None:
            return {}
        found = self.others.take(rows)
        return {place: column.to_pylist() for place, column in enumerate(found.columns)}


class ScoreTask(Protocol):
    """What is done with the rows of a shard; results add."""

    def start(self) -> Any:
        """Return the result of no rows."""

    def __call__(self, pieces: Iterable[ScorePiece]) -> Any:
        """Return the result of some rows; those of one shard come in order, and all of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredRows:
    """The rows of a population and their scores, where they are.

    Made by :func:`precall.engines.arrow.scores` and its kin, for :func:`precall.audit.plan_of` and
    :func:`precall.audit.sample_of`.

    Attributes
    ----------
    score : str
        Name of the column of scores.
    keep : tuple of str
        Names of columns that are shown beside rows, such as an identifier.
    ordered : bool
        Whether rows have numbers. Those of a Spark data frame have none.
    """

    score: str
    keep: tuple[str, ...] = ()
    ordered: bool = True
    run: Callable[[ScoreTask], Any] = field(repr=False)

    @classmethod
    def from_pieces(cls, read: Callable[[], Iterable[Array]]) -> ScoredRows:
        """Rows whose scores `read` gives, piece by piece and in order, each time it is called."""

        def pieces() -> Iterable[ScorePiece]:
            start = 0
            for scores in read():
                yield ScorePiece(0, start, np.asarray(scores))
                start += len(scores)

        return cls(score="scores", run=lambda task: task(pieces()))
