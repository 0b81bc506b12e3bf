"""How the numbers of a ranking are laid out, whatever they count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from ..exceptions import InputError

Array = npt.NDArray[Any]
# The cells of rows that have a score.
_PLAIN = ("positives", "tied", "above", "below")


class Cells(NamedTuple):
    """One number per cell of a ranking, laid out as the ranking's own fields are.

    `missed` is the cell of the positives that no threshold selects: they were never scored.
    """

    positives: Array
    tied: Array
    above: Array
    below: Any
    missed: Any = 0

    @property
    def all_positives(self) -> Any:
        """Sum over the positives of each ranking, the missed ones included."""
        return np.sum(self.positives, axis=-1) + self.missed

    @property
    def tp(self) -> Array:
        """Positives at each threshold and above, one ranking along the last axis."""
        return np.cumsum(self.positives, axis=-1)

    @property
    def fp(self) -> Array:
        """Negatives at each threshold and above, one ranking along the last axis."""
        return np.cumsum(self.above + self.tied, axis=-1)

    def with_sums(self, tp: Array, fp: Array) -> Cells:
        """Return the same cells, whose sums are known and need not be added up."""
        known = SummedCells(*self)
        vars(known).update(tp=tp, fp=fp)
        return known

    def scaled(self, positives: float, negatives: float) -> Cells:
        """Multiply the cells of each class by a factor."""
        return Cells(
            self.positives * positives,
            self.tied * negatives,
            self.above * negatives,
            self.below * negatives,
            self.missed * positives,
        )

    def __add__(self, other: object) -> Cells:
        """Add cell by cell."""
        if not isinstance(other, Cells):
            return NotImplemented
        return Cells(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def merged(self, last: npt.NDArray[np.int64]) -> Cells:
        """Merge neighbouring rows; `last` holds the last old row of each new one.

        The negatives between two merged rows become tied: inside a cell no order is known.
        """
        first = np.concatenate([[0], last[:-1] + 1])
        positives = np.add.reduceat(self.positives, first)
        inside = np.add.reduceat(self.tied + self.above, first) - self.above[first]
        return Cells(positives, inside, self.above[first], self.below, self.missed)

    def only(self, kept: npt.NDArray[np.int64]) -> Cells:
        """Leave out rows without positives; `kept` are the positions of the others.

        The negatives of a row that is left out lie above the next one kept, or below everything.
        """
        if kept.size == self.positives.size:
            return self
        loose = self.above + self.tied
        if kept.size == 0:
            none = np.zeros(0, dtype=loose.dtype)
            return Cells(none, none, none, (loose.sum() + self.below).item(), self.missed)
        loose[kept] = self.above[kept]
        end = kept[-1] + 1
        starts = np.concatenate([[0], kept[:-1] + 1])
        return Cells(
            self.positives[kept],
            self.tied[kept],
            np.add.reduceat(loose[:end], starts),
            (loose[end:].sum() + self.below).item(),
            self.missed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers that survive JSON; a ranking says what it missed."""
        return {name: plain_values(getattr(self, name)) for name in _PLAIN}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Cells:
        """Rebuild cells from :meth:`to_dict`; whole numbers stay whole."""
        fields = [plain[name] for name in _PLAIN]
        listed = [
            value for part in fields for value in (part if isinstance(part, list) else [part])
        ]
        if not all(isinstance(value, (int, float)) for value in listed):
            raise InputError(
                "this is not a ranking: positives, tied, above and below must hold numbers."
            )
        whole = all(isinstance(value, int) for value in listed)
        dtype = np.int64 if whole else np.float64
        positives, tied, above = (np.asarray(part, dtype=dtype) for part in fields[:3])
        return cls(positives, tied, above, dtype(fields[3]).item())


class SummedCells(Cells):
    """Cells that do not change and are asked for many numbers: cumulated once."""

    @cached_property
    def tp(self) -> Array:
        """Positives at each threshold and above."""
        return _frozen(super().tp)

    @cached_property
    def fp(self) -> Array:
        """Negatives at each threshold and above."""
        return _frozen(super().fp)


def _frozen(array: Array) -> Array:
    """Make an array read-only: it is shared."""
    array.flags.writeable = False
    return array


def even_cuts(cells: Cells, tp: Array, fp: Array, max_rows: int) -> npt.NDArray[np.int64]:
    """Last row of each merged cell, all with about the same share in the width of the tie bounds.

    That share is about ``p (p FP + q TP) / (TP + FP)^2`` for `p` positives and `q` negatives.
    """
    p, q = cells.positives, cells.tied + np.append(cells.above[1:], 0)
    found = tp.astype(np.float64), fp.astype(np.float64)
    effort = np.cumsum(np.sqrt(p * (p * found[1] + q * found[0])) / (found[0] + found[1]))
    if effort[-1] == 0:  # a perfect ranking: any cells will do
        effort = np.arange(1.0, p.size + 1)
    targets = effort[-1] * np.arange(1, max_rows) / max_rows
    last = np.searchsorted(effort, targets)
    return np.unique(np.append(last, p.size - 1))


def plain_values(values: Any) -> Any:
    """Turn an array or number into what strict JSON knows: infinities become strings."""
    listed = values.tolist() if isinstance(values, (np.ndarray, np.generic)) else values
    if isinstance(listed, list):
        return [v if v - v == 0 else str(v) for v in listed]
    return listed


class Moments(NamedTuple):
    """Mean and sum of squared deviations of the raw scores in each class."""

    positives: tuple[float, float]
    negatives: tuple[float, float]

    def scaled(self, negatives: float) -> Moments:
        """Multiply the weights of the negatives by a factor."""
        mean, deviation = self.negatives
        return Moments(self.positives, (mean, deviation * negatives))
