"""The first pass: the distinct scores of positives, and everything that is wrong with the data.

A census of a shard adds to the census of another in any order and grouping, and adding is all
that an engine does with it. Errors say what :func:`precall.rank` would say with all rows in one
array: the count over all shards, and the position of the first bad row.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from .. import _counting
from .._validation import as_positive_mask
from ..exceptions import InputError
from ._columns import Array, Coded, FloatArray, Mask, Piece, Request

Place = tuple[int, int]  # shard, position in it

# Two labels are allowed; more are only counted and shown in a message, up to this many.
_MOST_LABELS = 1000
_SHOWN_LABELS = 5
# Groups are dealt into this many parts, so that several machines can add them up.
N_BUCKETS = 64


@dataclass(frozen=True)
class Found:
    """How often something was seen, and where first."""

    count: int
    first: Place

    def __add__(self, other: object) -> Found:
        """Counts add; the earlier place stays."""
        if not isinstance(other, Found):
            return NotImplemented
        return Found(self.count + other.count, min(self.first, other.first))


def bucket(group: Any) -> int:
    """Deal groups into parts, the same on every machine."""
    return 0 if group is None else zlib.crc32(repr(group).encode()) % N_BUCKETS


def combined(one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:
    """Add the values of equal keys."""
    total = dict(one)
    for key, value in other.items():
        total[key] = total[key] + value if key in total else value
    return total


@dataclass
class PositiveScores:
    """Distinct scores of positives; thinned to about evenly spaced quantiles beyond `limit`.

    Thinning chooses thresholds, nothing else: whatever is kept, the second pass counts exactly
    what lies on and between them. The smallest and the largest score always stay.
    """

    limit: int | None = None
    values: Array | None = None
    weights: FloatArray | None = None
    waiting: list[Array] = field(default_factory=list)
    n_waiting: int = 0

    def add(self, scores: Array) -> None:
        """Take in scores; they are sorted in when they are as many as those already here."""
        if scores.size == 0:
            return
        self.waiting.append(scores)
        self.n_waiting += scores.size
        if self.n_waiting > max(4096, 0 if self.values is None else self.values.size):
            self.settle()

    def settle(self) -> None:
        """Sort in what is waiting."""
        if not self.waiting:
            return
        values, edges = _counting.distinct(np.sort(np.concatenate(self.waiting)))
        self.waiting, self.n_waiting = [], 0
        # Numbers matter to quantiles only: where every score is kept they are not needed.
        weights = None if self.limit is None else np.diff(edges).astype(np.float64)
        self._take(PositiveScores(self.limit, values, weights))

    def __add__(self, other: object) -> PositiveScores:
        """Scores of both."""
        if not isinstance(other, PositiveScores):
            return NotImplemented
        self.settle()
        other.settle()
        total = PositiveScores(self.limit, self.values, self.weights)
        total._take(other)
        return total

    def _take(self, other: PositiveScores) -> None:
        if other.values is None:
            return
        if self.values is None:
            self.values, self.weights = other.values, other.weights
        elif self.weights is None or other.weights is None:
            both = np.sort(np.concatenate([self.values, other.values]))
            self.values = _counting.distinct(both)[0]
        else:
            both = np.concatenate([self.values, other.values])
            order = np.argsort(both, kind="stable")
            self.values, edges = _counting.distinct(both[order])
            weights = np.concatenate([self.weights, other.weights])[order]
            self.weights = _counting.segment_sums(weights, edges)
        if self.limit is not None and self.values.size > 2 * self.limit:
            self._thin(self.limit)

    def _thin(self, limit: int) -> None:
        values, weights = self.values, self.weights
        if values is None or weights is None:
            return
        reached = np.cumsum(weights)
        targets = reached[-1] * np.arange(1, limit) / limit
        inner = np.searchsorted(reached, targets)
        kept = np.unique(np.concatenate([[0], inner, [values.size - 1]]))
        self.values = values[kept]
        self.weights = np.diff(reached[kept], prepend=0.0)

    def thresholds(self, dtype: np.dtype[Any]) -> Array:
        """All that is kept, ascending."""
        self.settle()
        if self.values is None:
            return np.zeros(0, dtype=dtype)
        return np.unique(self.values.astype(dtype, copy=False))

    def __getstate__(self) -> tuple[Any, ...]:
        """Only what is needed crosses the network: 8 bytes per distinct score (16 when thinned)."""
        self.settle()
        return self.limit, self.values, self.weights

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Read what came over the network."""
        self.limit, self.values, self.weights = state
        self.waiting, self.n_waiting = [], 0


@dataclass
class Census:
    """What one pass over some rows has found."""

    request: Request
    limit: int | None = None
    rows: dict[int, int] = field(default_factory=dict)
    dtype: Any = None
    labels: dict[Any, Found] = field(default_factory=dict)
    flaws: dict[str, Found] = field(default_factory=dict)
    n_used: int = 0
    scores: dict[Any, PositiveScores] = field(default_factory=dict)

    def update(self, piece: Piece) -> None:
        """Take in some rows."""
        request = self.request
        self.rows[piece.shard] = self.rows.get(piece.shard, 0) + piece.size
        dtype = piece.scores.dtype
        self.dtype = dtype if self.dtype is None else np.result_type(self.dtype, dtype)
        used = None
        if piece.weights is not None:
            used = piece.weights > 0
            self._flaw("weight", ~(np.isfinite(piece.weights) & (piece.weights >= 0)), piece)
        self.n_used += piece.size if used is None else int(np.count_nonzero(used))
        self._flaw("label", piece.labels_missing, piece)
        self._flaw("score", piece.scores_missing, piece)
        if piece.groups is not None:
            self._flaw("group", piece.groups.codes < 0, piece)
        self.labels = _most(combined(self.labels, _label_counts(piece, request.pos_label)))

        chosen = piece.positive(request.pos_label)
        if used is not None:
            chosen = chosen & used
        if piece.scores_missing is not None:
            chosen = chosen & ~piece.scores_missing
        for group, where in piece.by_group():
            scores = self.scores.setdefault(group, PositiveScores(self.limit))
            scores.add(piece.scores[where][chosen[where]])

    def _flaw(self, role: str, bad: Mask | None, piece: Piece) -> None:
        count = 0 if bad is None else int(np.count_nonzero(bad))
        if bad is not None and count:
            found = Found(count, (piece.shard, piece.start + int(np.argmax(bad))))
            self.flaws = combined(self.flaws, {role: found})

    def __add__(self, other: object) -> Census:
        """Census of the rows of both."""
        if not isinstance(other, Census):
            return NotImplemented
        known = [dtype for dtype in (self.dtype, other.dtype) if dtype is not None]
        return Census(
            self.request,
            self.limit,
            combined(self.rows, other.rows),
            np.result_type(*known) if known else None,
            _most(combined(self.labels, other.labels)),
            combined(self.flaws, other.flaws),
            self.n_used + other.n_used,
            combined(self.scores, other.scores),
        )

    def split(self) -> Iterator[tuple[int, Census]]:
        """Cut into numbered parts: those of one number add up, and so do all."""
        parts = {0: replace(self, scores={})}
        for group, scores in self.scores.items():
            number = bucket(group)
            part = parts.setdefault(number, Census(self.request, self.limit))
            part.scores[group] = scores
        yield from parts.items()

    @property
    def n_rows(self) -> int:
        """Rows seen."""
        return sum(self.rows.values())

    @property
    def n_thresholds(self) -> int:
        """Distinct positive scores held so far, over all groups; those waiting count in full."""
        return sum(
            s.n_waiting + (0 if s.values is None else s.values.size) for s in self.scores.values()
        )

    def refuse_more_than(self, most: int) -> None:
        """Raise when the positives alone need more memory than there is to be."""
        if self.n_thresholds > most:
            for scores in self.scores.values():
                scores.settle()
        if self.n_thresholds > most:
            raise InputError(
                f"the positives have more than {most} distinct scores, too many for memory=: "
                "pass a larger memory= to keep them all, or max_rows= (for example "
                "max_rows=100_000) for a coarsened ranking with certified bounds."
            )

    def thresholds(self) -> dict[Any, Array]:
        """Return the thresholds of each group, or raise what :func:`precall.rank` would raise."""
        request = self.request
        if self.n_rows == 0:
            told = " and ".join(request.told(role) for role in request.columns)
            raise InputError(f"{told} must have at least one row, got none.")
        self._judge_labels()
        self._judge("score", "must not be missing (NaN or None)", "drop or fill those rows first")
        self._judge("weight", "must be finite and not negative", "correct or drop those rows")
        self._judge("group", "must not be missing (NaN or None)", "drop or fill those rows first")
        if request.weight is not None and self.n_used == 0:
            raise InputError(
                f"{request.told('weight')} is zero in every row: at least one must be positive."
            )
        return {group: scores.thresholds(self.dtype) for group, scores in self.scores.items()}

    def _judge(self, role: str, rule: str, remedy: str) -> None:
        found = self.flaws.get(role)
        if found is not None:
            rows = "row" if found.count == 1 else "rows"
            raise InputError(
                f"{self.request.told(role)} {rule}: {found.count} bad {rows} of {self.n_rows}, "
                f"the first at position {self._position(found.first)}: {remedy}."
            )

    def _position(self, place: Place) -> int:
        """Position in all the data, the shards taken in order."""
        shard, position = place
        return position + sum(rows for other, rows in self.rows.items() if other < shard)

    def _judge_labels(self) -> None:
        name, pos_label = self.request.told("label"), self.request.pos_label
        distinct = sorted(self.labels, key=lambda label: self.labels[label].first)
        textual = [isinstance(label, (str, bytes)) for label in distinct]
        fits = all(kind == isinstance(pos_label, (str, bytes)) for kind in textual)
        if fits:
            self._judge(
                "label", "must not be missing (NaN or None)", "drop or fill those rows first"
            )
            if len(distinct) > 2:
                self._reject_labels(distinct)
        # One row per distinct label breaks the same rules as all the rows do.
        as_positive_mask(np.array(distinct), pos_label, name)

    def _reject_labels(self, distinct: list[Any]) -> NoReturn:
        name, pos_label = self.request.told("label"), self.request.pos_label
        others = [label for label in distinct if label != pos_label]
        third = self._position(self.labels[others[1]].first)
        shown = ", ".join(repr(label) for label in distinct[:_SHOWN_LABELS])
        number = f"more than {_MOST_LABELS}" if len(distinct) > _MOST_LABELS else str(len(distinct))
        raise InputError(
            f"{name} must have at most two labels, got {number} ({shown}"
            f"{', ...' if len(distinct) > _SHOWN_LABELS else ''}); the first row with a third one "
            f"is {third}: make a column that is true for one class and false for the rest."
        )


def _most(labels: dict[Any, Found]) -> dict[Any, Found]:
    """Keep the first of too many labels: a message names a few, and needs the number no further."""
    if len(labels) <= _MOST_LABELS + 1:
        return labels
    kept = sorted(labels, key=lambda label: labels[label].first)[: _MOST_LABELS + 1]
    return {label: labels[label] for label in kept}


def _label_counts(piece: Piece, pos_label: object) -> dict[Any, Found]:
    """Distinct labels of a piece, how many rows have each, and where it comes first."""
    labels = piece.labels
    if isinstance(labels, Coded):
        present = labels.codes >= 0
        codes, first, counts = np.unique(
            labels.codes[present], return_index=True, return_counts=True
        )
        rows = np.flatnonzero(present)[first]
        values = [labels.values[code] for code in codes.tolist()]
    else:
        quick = _two_labels(piece, labels, pos_label)
        if quick is not None:
            return quick
        present = np.ones(piece.size, dtype=np.bool_)
        if piece.labels_missing is not None:
            present = ~piece.labels_missing
        distinct, first, counts = np.unique(labels[present], return_index=True, return_counts=True)
        rows = np.flatnonzero(present)[first]
        values = distinct.tolist()
    found: dict[Any, Found] = {}
    for value, count, row in zip(values, counts.tolist(), rows.tolist(), strict=True):
        here = Found(count, (piece.shard, piece.start + row))
        found[value] = found[value] + here if value in found else here
    return found


def _two_labels(piece: Piece, labels: Array, pos_label: object) -> dict[Any, Found] | None:
    """Count the usual case without sorting: numbers, none missing, and at most two of them."""
    if piece.labels_missing is not None or isinstance(pos_label, (str, bytes)):
        return None
    positive = piece.positive(pos_label)
    found: dict[Any, Found] = {}
    n_positive = int(np.count_nonzero(positive))
    if n_positive:
        first = int(np.argmax(positive))
        found[labels[first].item()] = Found(n_positive, (piece.shard, piece.start + first))
    if n_positive < piece.size:
        first = int(np.argmin(positive))
        other = labels[first]
        if int(np.count_nonzero(labels == other)) + n_positive != piece.size:
            return None
        found[other.item()] = Found(piece.size - n_positive, (piece.shard, piece.start + first))
    return found
