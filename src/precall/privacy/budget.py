"""What may still be spent, and what was spent on what.

A budget belongs to one private data set. Every release from that data set holds its cost first,
looks at the data, and spends the cost afterwards: so two threads cannot both be promised the last
of it, and a release that is refused has seen nothing.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._validation import as_vector
from ..exceptions import BudgetError as BudgetError
from ..exceptions import InputError
from ._ledger import Cost, Entry, Tally, as_delta, as_epsilon, exact

_FORMAT = "precall privacy ledger 1"
_STATES = ("held", "released", "failed")


class Hold:
    """A cost set aside while a release runs."""

    def __init__(self) -> None:
        self.looked = False

    def look(self) -> None:
        """Declare that the data are looked at from here on: an error now costs the whole price."""
        self.looked = True


class Budget:
    """The privacy budget of one data set.

    Costs add up over releases (sequential composition); within :meth:`parallel` they add up within
    each part of the rows, and the largest part counts. There is no default and no global budget.

    Amounts are added exactly, as the decimal numbers that they print as: ten times 0.1 is 1.

    Parameters
    ----------
    epsilon : float
        Total epsilon, above 0.
    delta : float, default 0.0
        Total delta, in [0, 1).

    Examples
    --------
    >>> budget = Budget(epsilon=1.0)
    >>> with budget.hold(epsilon=0.7, delta=0.0, what="a count") as hold:
    ...     hold.look()
    >>> budget
    Budget(epsilon=1, delta=0, remaining_epsilon=0.3, remaining_delta=0)
    >>> with budget.hold(epsilon=0.7, delta=0.0, what="another"):
    ...     pass
    Traceback (most recent call last):
    precall.exceptions.BudgetError: another costs epsilon=0.7 and delta=0, but epsilon=0.3 ...
    """

    def __init__(self, *, epsilon: float, delta: float = 0.0) -> None:
        self._limit = Cost(as_epsilon(epsilon), as_delta(delta))
        self._entries: dict[int, Entry] = {}
        self._tally = Tally()
        self._serial = 0
        self._lock = threading.Lock()

    @property
    def epsilon(self) -> float:
        """Total epsilon."""
        return self._limit.epsilon

    @property
    def delta(self) -> float:
        """Total delta."""
        return self._limit.delta

    @property
    def spent(self) -> Cost:
        """What has been spent, releases that still run included."""
        with self._lock:
            return Cost(*map(float, self._tally.total()))

    @property
    def remaining(self) -> Cost:
        """What is left."""
        with self._lock:
            return self._left()

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """Every release so far, in the order in which they began."""
        with self._lock:
            return tuple(self._entries.values())

    @contextmanager
    def hold(
        self,
        *,
        epsilon: float,
        delta: float,
        what: str,
        group: int | None = None,
        part: str | None = None,
    ) -> Iterator[Hold]:
        """Set a cost aside, run the block, and spend it.

        Parameters
        ----------
        epsilon, delta : float
            The cost.
        what : str
            Line for the ledger. It must say nothing that was learnt from the data.
        group, part : optional
            For :meth:`parallel`.

        Raises
        ------
        BudgetError
            Before the block runs, if the cost is more than what is left.

        Notes
        -----
        An error inside the block gives the cost back only if :meth:`Hold.look` was not called.
        """
        entry = Entry(
            what=what,
            epsilon=as_epsilon(epsilon),
            delta=as_delta(delta),
            state="held",
            group=group,
            part=part,
        )
        number = self._begin(entry)
        hold = Hold()
        finished = False
        try:
            yield hold
            finished = True
        finally:
            with self._lock:
                if finished:
                    self._entries[number] = replace(entry, state="released")
                elif hold.looked:
                    self._entries[number] = replace(entry, state="failed")
                else:
                    self._tally.add(self._entries.pop(number), -1)

    @contextmanager
    def parallel(self) -> Iterator[Parallel]:
        """Open a block whose releases are made from parts of the rows that have none in common.

        The block costs what its dearest part costs. This holds only if which part a row belongs to
        was fixed by its *position*, not by what is in it: then replacing a row changes one part,
        and the sizes of the parts are public. Parts made by a column of the data (by hospital, by
        label, by stratified folds) are not of that kind: replacing a row can change two of them.

        Examples
        --------
        >>> budget = Budget(epsilon=1.0)
        >>> with budget.parallel() as rows:
        ...     for name in ("first half", "second half"):
        ...         with rows.part(name).hold(epsilon=0.8, delta=0.0, what="a count") as hold:
        ...             hold.look()
        >>> budget.spent.epsilon
        0.8
        """
        with self._lock:
            self._serial += 1
            block = Parallel(self, self._serial)
        try:
            yield block
        finally:
            block.closed = True

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger as JSON, replacing the file in one step.

        The file says what was released at what cost and nothing else. It is a record, not a lock:
        whoever loads it twice has two budgets.
        """
        target = Path(path)
        scratch = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
        scratch.write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")
        scratch.replace(target)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Budget:
        """Read a budget from a file that :meth:`save` wrote."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{os.fspath(path)} is not a privacy ledger ({error}).") from error
        return cls.from_dict(plain if isinstance(plain, dict) else {})

    def to_dict(self) -> dict[str, Any]:
        """Return the limits and the ledger as plain values."""
        return {
            "format": _FORMAT,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "ledger": [asdict(entry) for entry in self.ledger],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Budget:
        """Rebuild a budget from :meth:`to_dict`; what was held then counts as spent."""
        if plain.get("format") != _FORMAT:
            raise InputError(f"this is not a privacy ledger: its format must be {_FORMAT!r}.")
        try:
            budget = cls(epsilon=plain["epsilon"], delta=plain["delta"])
            entries = [_read_entry(line) for line in plain["ledger"]]
        except (KeyError, TypeError) as error:
            raise InputError(f"this privacy ledger is damaged ({error!r}).") from error
        budget._entries = dict(enumerate(entries, start=1))
        budget._tally = Tally(entries)
        groups = [entry.group for entry in entries if entry.group is not None]
        budget._serial = max([len(entries), *groups])
        if budget._overdrawn():
            raise InputError("this privacy ledger is damaged: it has spent more than its limits.")
        return budget

    def __repr__(self) -> str:
        """Return one line with the limits and what is left."""
        left = self.remaining
        return (
            f"Budget(epsilon={self.epsilon:.12g}, delta={self.delta:.12g}, "
            f"remaining_epsilon={left.epsilon:.12g}, remaining_delta={left.delta:.12g})"
        )

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled: two copies could be spent twice."""
        raise TypeError("a privacy budget cannot be copied or pickled: use save() and load().")

    def _begin(self, entry: Entry) -> int:
        with self._lock:
            self._tally.add(entry)
            if self._overdrawn():
                self._tally.add(entry, -1)
                left = self._left()
                raise BudgetError(
                    f"{entry.what} costs epsilon={entry.epsilon:.12g} and "
                    f"delta={entry.delta:.12g}, but epsilon={left.epsilon:.12g} and "
                    f"delta={left.delta:.12g} remain of {self.epsilon:.12g} and "
                    f"{self.delta:.12g}: ask for less, or release nothing more."
                )
            self._serial += 1
            self._entries[self._serial] = entry
            return self._serial

    def _left(self) -> Cost:
        epsilon, delta = self._tally.total()
        return Cost(float(exact(self.epsilon) - epsilon), float(exact(self.delta) - delta))

    def _overdrawn(self) -> bool:
        epsilon, delta = self._tally.total()
        return epsilon > exact(self.epsilon) or delta > exact(self.delta)


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
    def hold(self, *, epsilon: float, delta: float, what: str) -> Iterator[Hold]:
        """Set a cost aside for this part; see :meth:`Budget.hold`."""
        if self.block.closed:
            raise InputError(
                f"the parallel block of part {self.name!r} has ended: release inside its "
                "with-statement."
            )
        with self.block._budget.hold(
            epsilon=epsilon, delta=delta, what=what, group=self.block._group, part=self.name
        ) as hold:
            yield hold


def as_budget(value: object) -> Budget | Part:
    """Return a budget or a part of one."""
    if not isinstance(value, (Budget, Part)):
        raise InputError(
            "budget must be a Budget, or a part of one made by parallel(), got "
            f"{type(value).__name__}: make one with Budget(epsilon=...) and use it for every "
            "release from the same data."
        )
    return value


def _read_entry(line: Mapping[str, Any]) -> Entry:
    entry = Entry(**line)
    if entry.state not in _STATES:
        raise InputError(f"this privacy ledger is damaged: state {entry.state!r} is unknown.")
    return replace(entry, epsilon=as_epsilon(entry.epsilon), delta=as_delta(entry.delta))
