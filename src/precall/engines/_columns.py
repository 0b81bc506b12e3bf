"""From Arrow columns to plain arrays, with what is wrong in them.

A shard cannot judge its labels alone (a third one may be in another shard), so nothing is
rejected here: what is found is written down with its place, and judged over all shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._arrow import flat, is_nested, is_number, plain
from .._options import as_flag
from .._validation import as_scores, require_label
from ..exceptions import InputError
from ..readers.wanted import Wanted

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which columns to read, and what counts as positive.

    With `one_against_rest` there may be more than two labels; `say` hears which are negative.
    `crossed` are further columns of groups, whose combinations with `group` are the groups; with
    `missing_groups` rows without a group are one too. Databases know both.
    """

    label: str
    score: str
    weight: str | None = None
    group: str | None = None
    pos_label: Any = 1
    one_against_rest: bool = False
    say: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
    crossed: tuple[str, ...] = ()
    missing_groups: bool = False

    def __post_init__(self) -> None:
        """Refuse several labels where one is wanted."""
        require_label(self.pos_label)
        as_flag(self.one_against_rest, "one_against_rest")

    @property
    def columns(self) -> dict[str, str]:
        """Names of the columns asked for, by their role."""
        roles = ("label", "score", "weight", "group")
        found = {role: name for role in roles if (name := getattr(self, role)) is not None}
        further = {f"group {place}": name for place, name in enumerate(self.crossed, start=2)}
        return found | further

    @property
    def group_roles(self) -> list[str]:
        """The roles of the columns that make the groups."""
        return [role for role in self.columns if role.startswith("group")]

    @property
    def wanted(self) -> Wanted:
        """What a reader of files has to know of them."""
        numbers = frozenset(name for name in (self.score, self.weight) if name is not None)
        names = frozenset({self.group} if self.group is not None else ())
        return Wanted(
            columns=tuple(dict.fromkeys(self.columns.values())),
            numbers=numbers,
            weights=frozenset({self.weight} if self.weight is not None else ()),
            texts=names - numbers - {self.label},
            check=lambda available, _: self.check(available),
        )

    def shown(self, role: str) -> str:
        """How a message speaks of a column: the argument and its value."""
        return f"{role.partition(' ')[0]}={self.columns[role]!r}"

    def check(self, available: Iterable[object]) -> None:
        """Raise unless every column is there, and there once."""
        names = list(available)
        for role, name in self.columns.items():
            count = names.count(name)
            if count == 0:
                from difflib import get_close_matches

                near = get_close_matches(str(name), [str(other) for other in names], n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                shown = ", ".join(repr(other) for other in names[:20]) or "none"
                raise InputError(
                    f"{self.shown(role)} is not a column of the data, which has {shown}"
                    f"{', ...' if len(names) > 20 else ''}.{hint}"
                )
            if count > 1:
                raise InputError(
                    f"{self.shown(role)} names {count} columns of the data: rename all but one."
                )


class Encoded(NamedTuple):
    """A column as positions in a list of its distinct values; -1 where it is missing."""

    codes: IntArray
    values: list[Any]


class Piece(NamedTuple):
    """Rows of one shard. `start` is the position of the first row in the shard.

    Without a column of labels all rows are of one class; `others` are columns kept as they are.
    """

    shard: int
    start: int
    labels: Array | Encoded
    labels_missing: Mask | None
    scores: Array
    scores_missing: Mask | None
    weights: FloatArray | None
    groups: Encoded | None
    others: Any = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.scores.size)

    def positive(self, pos_label: object) -> Mask:
        """Return the rows that carry the positive label."""
        if isinstance(self.labels, Encoded):
            is_positive = np.array([value == pos_label for value in self.labels.values] + [False])
            return np.asarray(is_positive[self.labels.codes], dtype=np.bool_)
        if self.labels.dtype.kind == "b" and pos_label in (0, 1):
            return self.labels if pos_label else ~self.labels
        return np.broadcast_to(np.asarray(self.labels == pos_label, dtype=np.bool_), (self.size,))

    def rows(self, chosen: Any, positive: Mask) -> tuple[Mask, Array, FloatArray | None]:
        """Return class, score and weight of some rows."""
        weights = None if self.weights is None else self.weights[chosen]
        return positive[chosen], self.scores[chosen], weights


def read_pieces(tables: Iterable[Any], request: Request, shard: int, rows: int) -> Iterator[Piece]:
    """Turn the Arrow tables or batches of a shard into pieces of about `rows` rows.

    Columns are taken by their position, which is that of their roles in the request.
    """
    start = 0
    for table in gathered(tables, rows):
        piece = read_piece(table, request, shard, start)
        start += piece.size
        yield piece


def gathered(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """Put small batches together: the cost per batch grows with the number of thresholds."""
    waiting: list[Any] = []
    size = 0
    for table in tables:
        if table.num_rows == 0:
            continue
        waiting.append(table)
        size += table.num_rows
        if size >= rows:
            yield _together(waiting)
            waiting, size = [], 0
    if waiting:
        yield _together(waiting)


def _together(tables: list[Any]) -> Any:
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(
        [pa.Table.from_batches([t]) if isinstance(t, pa.RecordBatch) else t for t in tables],
        promote_options="permissive",
    )


def select(table: Any, request: Request) -> Any:
    """Reduce a table to the columns asked for, in the order of their roles."""
    request.check(table.schema.names)
    return table.select([table.schema.get_field_index(name) for name in request.columns.values()])


def read_piece(table: Any, request: Request, shard: int, start: int) -> Piece:
    """Turn one Arrow table or batch, whose columns are in the order of their roles, into arrays."""
    columns = dict(zip(request.columns, table.columns, strict=True))
    for role, column in columns.items():
        if is_nested(column):
            raise InputError(
                f"{request.shown(role)} must hold one value per row, got {column.type}: make a "
                "column of the one value that is meant."
            )
    labels: Array | Encoded = np.broadcast_to(np.False_, (table.num_rows,))
    labels_missing = None
    if "label" in columns:
        labels, labels_missing = _labels(columns["label"], request)
    others = [place for place, role in enumerate(columns) if role.startswith("keep ")]
    scores, scores_missing = _scores(columns["score"], request)
    return Piece(
        shard,
        start,
        labels,
        labels_missing,
        scores,
        scores_missing,
        _weights(columns["weight"], request) if request.weight is not None else None,
        _coded(columns["group"]) if request.group is not None else None,
        table.select(others) if others else None,
    )


def _numbers(column: Any) -> tuple[Array, Mask | None]:
    """Values and which of them are missing (null or NaN; None when there are none)."""
    import pyarrow.types as kind

    if column.null_count and not kind.is_floating(column.type):
        missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
        # Any value will do in their place: missing rows end in an error.
        filled = column.fill_null(False if kind.is_boolean(column.type) else 0)
        return filled.to_numpy(zero_copy_only=False), missing
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        missing = np.isnan(values)  # nulls have become NaN
        return values, missing if missing.any() else None
    return values, None


def _labels(column: Any, request: Request) -> tuple[Array | Encoded, Mask | None]:
    import pyarrow.types as kind

    column = flat(column)
    if kind.is_dictionary(column.type) or not is_number(plain(column)):
        coded = _coded(column)
        present = [value for value in coded.values if value is not None]
        if not all(isinstance(value, (str, bytes, bool, int, float)) for value in present):
            raise InputError(
                f"{request.shown('label')} must hold labels (numbers, booleans or strings), "
                f"got {column.type}."
            )
        missing = coded.codes < 0
        return coded, missing if missing.any() else None
    return _numbers(plain(column))


def _scores(column: Any, request: Request) -> tuple[Array, Mask | None]:
    column = plain(column)
    name = request.shown("score")
    if not is_number(column):
        raise InputError(
            f"{name} must hold real numbers, got {column.type}: convert the column first."
        )
    values, missing = _numbers(column)
    return as_scores(values, name), missing


def _weights(column: Any, request: Request) -> FloatArray:
    """Weights as they are; nulls become NaN and are judged with the other bad weights."""
    import pyarrow as pa

    column = plain(column)
    if not is_number(column):
        raise InputError(f"{request.shown('weight')} must hold numbers, got {column.type}.")
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


def _coded(column: Any) -> Encoded:
    import pyarrow as pa
    import pyarrow.types as kind

    column = flat(column)
    if not kind.is_dictionary(column.type):
        column = column.dictionary_encode()
    # Signed before nulls become -1: positions may be stored without a sign.
    indices = column.indices.cast(pa.int64()).fill_null(-1)
    codes = indices.to_numpy(zero_copy_only=False)
    values = column.dictionary.to_pylist()
    missing = [value is None or value != value for value in values]
    if any(missing):
        codes = np.where(np.array([*missing, True])[codes], -1, codes)
    return Encoded(codes, values)
