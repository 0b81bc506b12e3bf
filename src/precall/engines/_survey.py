"""What both passes look at: everything that is wrong with the rows, and which rows they are.

A survey of a shard adds to the survey of another in any order and grouping. Errors say what
:func:`precall.rank` would say with all rows in one array: the count over all shards, and the
position of the first bad row. The surveys of the two passes have to agree: the second pass counts
between thresholds that the first one found, and is right for those rows only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._validation import BAD_WEIGHT, FAR_WEIGHT, MISSING, as_positive_mask, is_far_weight
from ..exceptions import InputError
from ..readers import label_columns
from ..readers.messages import shown
from ._columns import Array, Encoded, FloatArray, Mask, Piece, Request

Keys = npt.NDArray[np.uint64]
Place = tuple[int, int]  # shard, position in it

# Two labels are allowed; more are only counted and shown in a message, up to this many.
MOST_LABELS = 1000
_SHOWN_LABELS = 5
#: How to ask for one label against several others.
REST = ", and pass one_against_rest=True to count all others as negative"
# What can be wrong with a row: in which role, which rule it breaks, and what to do.
_FLAWS = {
    "label": ("label", MISSING),
    "score": ("score", MISSING),
    "weight": ("weight", BAD_WEIGHT),
    "far weight": ("weight", FAR_WEIGHT),
    "group": ("group", MISSING),
}
# Rows hashed at a time: they stay in a core's cache.
_BLOCK = 1 << 14
CHANGED = (
    "the data changed between the passes, or each reading gives other rows; "
    "write them to a file, or cache them, first."
)


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


def combined(one: dict[Any, Any], other: dict[Any, Any]) -> dict[Any, Any]:
    """Add the values of equal keys."""
    total = dict(one)
    for key, value in other.items():
        total[key] = total[key] + value if key in total else value
    return total


@dataclass
class Survey:
    """Numbers of rows, labels and flaws, and a checksum that no order of the rows changes.

    Attributes
    ----------
    rows : dict
        Number of rows by shard.
    labels : dict
        How often each label occurs, and where first.
    flaws : dict
        How often each rule is broken, and where first.
    n_used : int
        Rows of positive weight.
    checksum : int
        Sum over rows, modulo 2^64, of a hash of class, score, weight and group.
    placed : bool
        Whether rows have positions; those of a table in a database have none.
    """

    request: Request
    rows: dict[int, int] = field(default_factory=dict)
    dtype: Any = None
    labels: dict[Any, Found] = field(default_factory=dict)
    flaws: dict[str, Found] = field(default_factory=dict)
    n_used: int = 0
    checksum: int = 0
    placed: bool = True

    def update(self, piece: Piece, positive: Mask, group_keys: Keys | None) -> None:
        """Take in some rows that are read again; `group_keys` holds a hash of the group of each."""
        self.look_at(piece, positive)
        found = checksum(positive, piece.scores, piece.weights, group_keys)
        self.checksum = (self.checksum + found) % 2**64

    def look_at(self, piece: Piece, positive: Mask) -> None:
        """Take in some rows that are read only once, and need no checksum."""
        self.rows[piece.shard] = self.rows.get(piece.shard, 0) + piece.size
        dtype = piece.scores.dtype
        self.dtype = dtype if self.dtype is None else np.result_type(self.dtype, dtype)
        self.n_used += piece.size
        if piece.weights is not None:
            self.n_used += int(np.count_nonzero(piece.weights > 0)) - piece.size
            good = np.isfinite(piece.weights) & (piece.weights >= 0)
            self._flaw("weight", ~good, piece)
            self._flaw("far weight", good & is_far_weight(piece.weights), piece)
        self._flaw("label", piece.labels_missing, piece)
        self._flaw("score", piece.scores_missing, piece)
        if piece.groups is not None:
            self._flaw("group", piece.groups.codes < 0, piece)
        self.labels = _most(combined(self.labels, _label_counts(piece, self.request.pos_label)))

    def _flaw(self, name: str, bad: Mask | None, piece: Piece) -> None:
        count = 0 if bad is None else int(np.count_nonzero(bad))
        if bad is not None and count:
            found = Found(count, (piece.shard, piece.start + int(np.argmax(bad))))
            self.flaws = combined(self.flaws, {name: found})

    def __add__(self, other: object) -> Survey:
        """Survey of the rows of both."""
        if not isinstance(other, Survey):
            return NotImplemented
        known = [dtype for dtype in (self.dtype, other.dtype) if dtype is not None]
        return Survey(
            self.request,
            combined(self.rows, other.rows),
            np.result_type(*known) if known else None,
            _most(combined(self.labels, other.labels)),
            combined(self.flaws, other.flaws),
            self.n_used + other.n_used,
            (self.checksum + other.checksum) % 2**64,
            self.placed and other.placed,
        )

    @property
    def n_rows(self) -> int:
        """Rows seen."""
        return sum(self.rows.values())

    def judge(self) -> None:
        """Raise what :func:`precall.rank` would raise."""
        request = self.request
        if self.n_rows == 0:
            shown = " and ".join(request.shown(role) for role in request.columns)
            raise InputError(f"{shown} must have at least one row, got none.")
        if "label" in request.columns:
            self._judge_labels()
        for flaw in ("score", "weight", "far weight", "group"):
            self._judge(flaw)
        if request.weight is not None and self.n_used == 0:
            raise InputError(
                f"{request.shown('weight')} is zero in every row: at least one must be positive."
            )

    def compare(self, second: Survey) -> None:
        """Raise unless the second pass saw the rows that this first one saw."""
        if self.n_rows != second.n_rows:
            raise InputError(
                f"the first pass read {self.n_rows} rows and the second {second.n_rows}: {CHANGED}"
            )
        for flaw, found in second.flaws.items():
            count = f"{found.count} bad row{'' if found.count == 1 else 's'}"
            column = self.request.shown(_FLAWS[flaw][0])
            raise InputError(
                f"{column} has {count} in the second pass and none in the first: {CHANGED}"
            )
        seen = [{label: n.count for label, n in each.labels.items()} for each in (self, second)]
        if seen[0] != seen[1]:
            shown = [", ".join(f"{n} of {label!r}" for label, n in each.items()) for each in seen]
            raise InputError(
                f"{self.request.shown('label')} had other labels in the second pass "
                f"({shown[1][:200]}) than in the first ({shown[0][:200]}): {CHANGED}"
            )
        if self.checksum != second.checksum:
            roles = " or ".join(self.request.shown(role) for role in self.request.columns)
            raise InputError(
                f"{roles} had other values in the second pass than in the first: {CHANGED}"
            )

    def _judge(self, name: str) -> None:
        found = self.flaws.get(name)
        if found is not None:
            role, (rule, remedy) = _FLAWS[name]
            rows = "row" if found.count == 1 else "rows"
            where = f", the first at position {self._position(found.first)}" if self.placed else ""
            raise InputError(
                f"{self.request.shown(role)} {rule}: {found.count} bad {rows} of {self.n_rows}"
                f"{where}: {remedy}."
            )

    def _position(self, place: Place) -> int:
        """Position in all the data, the shards taken in order."""
        shard, position = place
        return position + sum(rows for other, rows in self.rows.items() if other < shard)

    def _judge_labels(self) -> None:
        name, pos_label = self.request.shown("label"), self.request.pos_label
        distinct = sorted(self.labels, key=lambda label: self.labels[label].first)
        textual = [isinstance(label, (str, bytes)) for label in distinct]
        fits = all(kind == isinstance(pos_label, (str, bytes)) for kind in textual)
        if fits:
            self._judge("label")
            if len(distinct) > 2 and self.request.one_against_rest:
                return self._judge_rest(distinct)
            if len(distinct) > 2:
                self._reject_labels(distinct)
        # One row per distinct label breaks the same rules as all the rows do; a second one of those
        # that are not the rarest lets the message propose the same label.
        fewest = min((found.count for found in self.labels.values()), default=0)
        common = [label for label in distinct if self.labels[label].count > fewest]
        as_positive_mask(np.array([*distinct, *common]), pos_label, name)

    def _judge_rest(self, distinct: list[Any]) -> None:
        """Accept one label against several others, as a file in memory does."""
        name, pos_label = self.request.shown("label"), self.request.pos_label
        if len(distinct) > label_columns.MOST_LABELS:
            self._reject_labels(distinct)
        if pos_label not in distinct:
            raise InputError(
                f"{name} has no label {pos_label!r}; it has {label_columns.listed(distinct)}."
            )
        if self.request.say is not None:
            column = f"label column {shown(self.request.label)}"
            label_columns.say_rest(column, distinct, pos_label, self.request.say)

    def _reject_labels(self, distinct: list[Any]) -> NoReturn:
        name, pos_label = self.request.shown("label"), self.request.pos_label
        others = [label for label in distinct if label != pos_label]
        third = self._position(self.labels[others[1]].first)
        where = f"; the first row with a third one is {third}" if self.placed else ""
        few = ", ".join(repr(label) for label in distinct[:_SHOWN_LABELS])
        number = f"more than {MOST_LABELS}" if len(distinct) > MOST_LABELS else str(len(distinct))
        way = "make a column that is true for one class and false for the rest"
        if len(distinct) <= label_columns.MOST_LABELS:
            way = f"say which one is positive with pos_label={REST}"
        raise InputError(
            f"{name} must have at most two labels, got {number} ({few}"
            f"{', ...' if len(distinct) > _SHOWN_LABELS else ''}){where}: {way}."
        )


def checksum(
    positive: Mask, scores: Array, weights: FloatArray | None, group_keys: Keys | None
) -> int:
    """Sum a hash of every row modulo 2^64; equal numbers of different types hash alike.

    Two sets of rows with equal sums are almost certainly equal: a row that differs changes the
    sum by a number that is as good as random.
    """
    total = 0
    for start in range(0, scores.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        mixed = _bits(scores[block])
        mixed ^= np.where(positive[block], _CLASS, np.uint64(0))
        _mix(mixed)
        if weights is not None:
            mixed += _bits(weights[block])
            _mix(mixed)
        if group_keys is not None:
            mixed += group_keys[block]
            _mix(mixed)
        total += int(np.add.reduce(mixed))
    return total % 2**64


# An odd number with about as many ones as zeros.
_CLASS = np.uint64(0x9E3779B97F4A7C15)


def _bits(values: Array) -> Keys:
    """The 64 bits of each value as a floating-point number; -0.0 and 0.0 are one."""
    return np.add(values, 0.0, dtype=np.float64).view(np.uint64)


def _mix(keys: Keys) -> None:
    """Scatter 64-bit numbers in place, one to one.

    The last steps of splitmix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
    generators").
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    keys ^= keys >> np.uint64(31)


def _most(labels: dict[Any, Found]) -> dict[Any, Found]:
    """Keep the first of too many labels: a message names a few, and needs the number no further."""
    if len(labels) <= MOST_LABELS + 1:
        return labels
    kept = sorted(labels, key=lambda label: labels[label].first)[: MOST_LABELS + 1]
    return {label: labels[label] for label in kept}


def _label_counts(piece: Piece, pos_label: object) -> dict[Any, Found]:
    """Distinct labels of a piece, how many rows have each, and where it comes first."""
    labels = piece.labels
    if isinstance(labels, Encoded):
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
