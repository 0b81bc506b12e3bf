"""The third pass: the scores of several models, row by row together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..exceptions import InputError
from ..readers.wanted import Wanted
from ._columns import Array, Piece, Request, gathered, read_piece


@dataclass(frozen=True, kw_only=True)
class PairedRequest(Request):
    """Columns of several models: `score` is that of the first, `others` are those of the rest."""

    others: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns asked for, by their role."""
        found = {"label": self.label, "score": self.score}
        found |= {f"score {number}": name for number, name in enumerate(self.others, start=2)}
        return found if self.weight is None else found | {"weight": self.weight}

    @property
    def wanted(self) -> Wanted:
        """What a reader of files has to know of them."""
        found = super().wanted
        return replace(found, numbers=found.numbers | set(self.others))

    def shown(self, role: str) -> str:
        """How a message speaks of a column: the argument and its value."""
        return f"{role.partition(' ')[0]}={self.columns[role]!r}"

    def alone(self, name: str) -> Request:
        """The columns of one model."""
        return Request(
            label=self.label,
            score=name,
            weight=self.weight,
            pos_label=self.pos_label,
            one_against_rest=self.one_against_rest,
        )


class PairedPiece(NamedTuple):
    """Rows with the scores of every model; the first model's are those of `first`."""

    first: Piece
    scores: list[Array]


def read_paired(
    tables: Any, request: PairedRequest, shard: int, rows: int
) -> Iterator[PairedPiece]:
    """Turn the Arrow tables of a shard, whose columns are in the order of their roles, to rows."""
    last = len(request.others) + 2
    start = 0
    for table in gathered(tables, rows):
        pieces = []
        for place, name in enumerate((request.score, *request.others), start=1):
            chosen = [0, place] if request.weight is None else [0, place, last]
            piece = read_piece(table.select(chosen), request.alone(name), shard, start)
            if piece.scores_missing is not None or piece.labels_missing is not None:
                raise changed()
            pieces.append(piece)
        start += pieces[0].size
        yield PairedPiece(pieces[0], [piece.scores for piece in pieces])


def changed() -> InputError:
    """The error for rows that are not those of the first passes."""
    from ._survey import CHANGED

    return InputError(f"the third pass read other rows than the first two: {CHANGED}")
