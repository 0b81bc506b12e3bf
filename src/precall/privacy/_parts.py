"""Releases from parts of the rows that have none in common."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._validation import as_vector
from ..exceptions import InputError
from .neighbours import REPLACE

if TYPE_CHECKING:
    from .budget import Budget, Hold

_MOST_ROWS = 2**62


class Parallel:
    """A block of releases from parts of the rows that have none in common."""

    def __init__(self, budget: Budget, group: int) -> None:
        self.closed = False
        self._budget = budget
        self._group = group
        self._rows: dict[str, npt.NDArray[np.int64]] = {}
        self._lock = threading.Lock()

    def part(self, name: str, *, rows: object = None) -> Part:
        """Return the budget of one part; releases with the same name share one part.

        Parameters
        ----------
        name : str
            Name of the part, the same for every release from those rows.
        rows : array-like of int, optional
            Positions of its rows, to have it checked that no other part of this block has them.

        Returns
        -------
        Part
            To be passed as ``budget=``.
        """
        if rows is not None:
            self._claim(str(name), rows)
        return Part(self, str(name))

    def _claim(self, name: str, rows: object) -> None:
        positions = as_vector(rows, "rows")
        if positions.dtype.kind not in "iu":
            raise InputError("rows must hold the positions of the rows, as whole numbers.")
        if positions.size and not 0 <= positions.min() <= positions.max() < _MOST_ROWS:
            raise InputError(
                "rows must hold positions counted from 0: those below 0 count from the end and "
                "would name a row twice."
            )
        positions = np.unique(positions.astype(np.int64))
        with self._lock:
            for other, taken in self._rows.items():
                if other != name and np.isin(positions, taken, assume_unique=True).any():
                    raise InputError(
                        f"parts {other!r} and {name!r} have rows in common, so they are not "
                        "parallel: release from them one after the other, without parallel()."
                    )
            self._rows[name] = np.union1d(positions, self._rows.get(name, positions))


@dataclass(frozen=True)
class Part:
    """The share of a budget for one part of the rows; made by :meth:`Parallel.part`."""

    block: Parallel
    name: str

    @contextmanager
    def hold(
        self,
        *,
        epsilon: float,
        delta: float,
        what: str,
        seeded: bool = False,
        neighbours: str = REPLACE,
    ) -> Iterator[Hold]:
        """Set a cost aside for this part; see :meth:`Budget.hold`."""
        if neighbours != REPLACE:
            raise InputError(
                "parts are of positions, and a row that is taken away moves those after it: "
                f"neighbours={neighbours!r} has no parallel parts. Use the whole budget."
            )
        if self.block.closed:
            raise InputError(
                f"the parallel block of part {self.name!r} has ended: release inside its "
                "with-statement."
            )
        with self.block._budget.hold(
            epsilon=epsilon,
            delta=delta,
            what=what,
            seeded=seeded,
            group=self.block._group,
            part=self.name,
        ) as hold:
            yield hold
