"""What may still be spent, and what was spent on what.

A budget belongs to one private data set. Every release from that data set holds its cost first,
looks at the data, and spends the cost afterwards: so two threads cannot both be promised the last
of it, and a release that is refused has seen nothing. A budget that is kept in a file is shared
in the same way by every program that loads it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NoReturn

from .._options import as_choice, as_flag
from ..exceptions import BudgetError as BudgetError
from ..exceptions import InputError
from ._fingerprint import Fingerprints, FloatArray, Mask
from ._ledger import Cost, Entry, LedgerSums, as_delta, as_epsilon
from ._ledger_file import LedgerFile
from ._parts import Parallel
from ._parts import Part as Part
from .accounting import ACCOUNTS, Account
from .neighbours import REPLACE, as_neighbours, charged

_FORMAT = "precall privacy ledger 4"
# What an older one does not have: it adds up, for replaced rows.
_KINDS = ("accounting", "neighbours")
_FORMATS = ("precall privacy ledger 3", _FORMAT)
_STATES = ("held", "released", "failed")


class Hold:
    """A cost set aside while a release runs."""

    def __init__(self, recognise: Callable[..., None] | None = None) -> None:
        self.looked = False
        self._recognise = recognise

    def look(self, positive: Mask | None = None, *scores: FloatArray) -> None:
        """Declare that the data are looked at from here on: an error now costs the whole price.

        Before that, rows are compared with those that a ledger's file was kept for.
        """
        if self._recognise is not None and (positive is not None or scores):
            self._recognise(positive, *scores)
        self.looked = True


class Budget:
    """The privacy budget of one data set.

    Costs add up over releases (sequential composition); within :meth:`parallel` they add up within
    each part of the rows, and the largest part counts. There is no default and no global budget.

    Amounts are added exactly, as the decimal numbers that they print as: ten times 0.1 is 1.

    A budget belongs to the process that made it: a forked copy spends nothing. For several
    processes, :meth:`save` it and :meth:`load` it in each.

    Parameters
    ----------
    epsilon : float
        Total epsilon, above 0.
    delta : float, default 0.0
        Total delta, in [0, 1).
    accounting : {"sum", "zcdp"}
        "sum" adds up what releases cost. "zcdp" needs a delta and takes releases without one: it
        allows them as long as their sum is within epsilon, or as they are together
        (epsilon, delta)-private by zero-concentrated privacy, which is less than the sum for some
        thirty releases and more (:func:`compose`). `remaining` is then the largest cost that one
        more release may have.
    neighbours : {"replace", "add_remove"}
        Whom the budget protects. "replace": data sets with the same public number of rows, one of
        which is another; a release for rows that are added or taken away costs twice its epsilon
        here. "add_remove": data sets with one row more or less, so that the number of rows is
        private; releases that take it as public are refused.

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

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float = 0.0,
        accounting: str = "sum",
        neighbours: str = REPLACE,
    ) -> None:
        self._limit = Cost(as_epsilon(epsilon), as_delta(delta))
        self._accounting = as_choice(accounting, "accounting", ACCOUNTS)
        self._counts: Account = ACCOUNTS[self._accounting](self._limit)
        self._neighbours = as_neighbours(neighbours)
        self._entries: dict[int, Entry] = {}
        self._sums = LedgerSums()
        self._serial = 0
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._file: LedgerFile | None = None
        self._key = b""
        self._fingerprints = Fingerprints()
        self._new_rows = False

    @property
    def epsilon(self) -> float:
        """Total epsilon."""
        return self._limit.epsilon

    @property
    def delta(self) -> float:
        """Total delta."""
        return self._limit.delta

    @property
    def accounting(self) -> str:
        """How costs are counted."""
        return self._accounting

    @property
    def neighbours(self) -> str:
        """Whom it protects."""
        return self._neighbours

    @property
    def spent(self) -> Cost:
        """What has been spent, releases that still run included."""
        with self._account():
            return self._counts.cost(self._sums.total())

    @property
    def remaining(self) -> Cost:
        """What is left."""
        with self._account():
            return self._left()

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """Every release so far, in the order in which they began."""
        with self._account():
            return tuple(self._entries.values())

    @contextmanager
    def hold(
        self,
        *,
        epsilon: float,
        delta: float,
        what: str,
        seeded: bool = False,
        neighbours: str = REPLACE,
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
        seeded : bool, default False
            Whether the noise comes from a seed, so that the release is not private.
        neighbours : {"replace", "add_remove"}
            Which data sets the release cannot tell apart.
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
            epsilon=charged(as_epsilon(epsilon), release=neighbours, budget=self.neighbours),
            delta=as_delta(delta),
            state="held",
            seeded=seeded,
            group=group,
            part=part,
        )
        number = self._begin(entry)
        # Parts of the rows are other rows each time: only whole data sets are recognised.
        hold = Hold(self.recognise if group is None else None)
        finished = False
        try:
            yield hold
            finished = True
        finally:
            with self._account(change=True):
                if finished:
                    self._entries[number] = replace(entry, state="released")
                elif hold.looked:
                    self._entries[number] = replace(entry, state="failed")
                else:
                    self._sums.add(self._entries.pop(number), -1)

    @contextmanager
    def parallel(self) -> Iterator[Parallel]:
        """Open a block whose releases are made from parts of the rows that have none in common.

        The block costs what its dearest part costs. This holds only if which part a row belongs to
        was fixed by its *position*, not by what is in it: then replacing a row changes one part,
        and the sizes of the parts are public. Parts made by a column of the data (by hospital, by
        label, by stratified folds) are not of that kind: replacing a row can change two of them.
        Where persons have several rows, none may have rows in two parts.

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
        with self._account(change=True):
            self._serial += 1
            block = Parallel(self, self._serial)
        try:
            yield block
        finally:
            block.closed = True

    def recognise(self, positive: Mask | None, *scores: FloatArray) -> None:
        """Refuse rows that a ledger's file was not kept for, in constant words.

        Rows are known if their labels or their scores, in this order, are those of an earlier
        release. The ledger holds digests that say nothing without its key. A budget without a file
        takes all rows.
        """
        if self._file is not None:
            with self._account(change=True):
                self._fingerprints.recognise(self._key, positive, *scores, new_rows=self._new_rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep the ledger in a new file from now on, as JSON.

        Every release is written there before it looks at the data, under a lock, so this budget and
        all that :meth:`load` makes of the file, in this program and in others, are one. The file
        says what was released at what cost. It may be shown to others: the digests by which it
        recognises its rows say nothing without the key, which lies beside it in a hidden file of
        its own and is as secret as the rows. A copy of the ledger is refused.
        """
        target = LedgerFile(Path(path).absolute())
        if self._file is not None:
            raise InputError(
                f"this budget is kept in {self._file.path} already: load it from there."
            )
        with self._account(change=True), target.locked():
            if target.path.exists():
                raise InputError(f"{path} is there already: load it, or choose another name.")
            self._key = target.create(self._plain())
            self._file = target

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, moved: bool = False, new_rows: bool = False
    ) -> Budget:
        """Open a ledger that :meth:`save` made, and go on keeping it in that file.

        Parameters
        ----------
        path : path
            The ledger, at its place with its hidden files.
        moved : bool, default False
            Take a ledger that was moved, restored or edited as it is. Whoever says so vouches
            that no other copy is in use, and that it shows all that was spent. With its key lost,
            the next rows are taken for those that it is kept for.
        new_rows : bool, default False
            Take rows that were not released from before. Whoever says so vouches that they are
            other columns, or another order, of the same rows.
        """
        target = LedgerFile(Path(path).absolute())
        moved, new_rows = as_flag(moved, "moved"), as_flag(new_rows, "new_rows")
        if not target.path.exists():
            raise FileNotFoundError(f"there is no privacy ledger at {path}.")
        with target.locked():
            if moved:
                cls.from_dict(target.plain())  # a damaged one is refused all the same
                target.adopt()
            plain, key = target.read()
            budget = cls.from_dict(plain)
        budget._file, budget._key, budget._new_rows = target, key, new_rows
        return budget

    def to_dict(self) -> dict[str, Any]:
        """Return the limits and the ledger as plain values."""
        with self._account():
            return self._plain()

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Budget:
        """Rebuild a budget from :meth:`to_dict`; what was held then counts as spent."""
        if plain.get("format") not in _FORMATS:
            raise InputError(f"this is not a privacy ledger: its format must be {_FORMAT!r}.")
        try:
            budget = cls(
                epsilon=plain["epsilon"],
                delta=plain["delta"],
                **{name: plain[name] for name in _KINDS if plain["format"] == _FORMAT},
            )
            budget._restore(plain)
        except (KeyError, TypeError) as error:
            raise InputError(f"this privacy ledger is damaged ({error!r}).") from error
        if budget._overdrawn():
            raise InputError("this privacy ledger is damaged: it has spent more than its limits.")
        return budget

    def __repr__(self) -> str:
        """Return one line with the limits and what is left."""
        left = self.remaining
        counted = "" if self.accounting == "sum" else f"accounting={self.accounting!r}, "
        counted += "" if self.neighbours == REPLACE else f"neighbours={self.neighbours!r}, "
        return (
            f"Budget(epsilon={self.epsilon:.12g}, delta={self.delta:.12g}, {counted}"
            f"remaining_epsilon={left.epsilon:.12g}, remaining_delta={left.delta:.12g})"
        )

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled: two copies could be spent twice."""
        raise TypeError("a privacy budget cannot be copied or pickled: use save() and load().")

    @contextmanager
    def _account(self, *, change: bool = False) -> Iterator[None]:
        """Look at the ledger, or change it, alone: as the file has it, if there is one."""
        if change and os.getpid() != self._process:
            raise BudgetError(
                "this budget belongs to the process that made it, and this one is a fork: each "
                "copy could spend all of it. Release there, or save() the budget and load() it in "
                "each process."
            )
        with self._lock:
            if self._file is None:
                yield
                return
            with self._file.locked():
                plain, self._key = self._file.read()
                self._restore(plain)
                yield
                if change:
                    self._file.write(self._plain(), self._key)

    def _plain(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "accounting": self.accounting,
            "neighbours": self.neighbours,
            "serial": self._serial,
            "fingerprints": list(self._fingerprints.records),
            "ledger": [
                {"number": number, **asdict(entry)} for number, entry in self._entries.items()
            ],
        }

    def _restore(self, plain: Mapping[str, Any]) -> None:
        lines = [dict(line) for line in plain["ledger"]]
        self._entries = {int(line.pop("number")): _read_entry(line) for line in lines}
        self._sums = LedgerSums(self._entries.values())
        self._fingerprints = Fingerprints(plain["fingerprints"])
        groups = [entry.group for entry in self._entries.values() if entry.group is not None]
        self._serial = max([int(plain["serial"]), *self._entries, *groups])

    def _begin(self, entry: Entry) -> int:
        self._counts.require(entry)
        with self._account(change=True):
            self._sums.add(entry)
            if self._overdrawn():
                self._sums.add(entry, -1)
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
        return self._counts.left(self._sums.total())

    def _overdrawn(self) -> bool:
        return not self._counts.allows(self._sums.total())


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
