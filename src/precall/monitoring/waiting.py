"""Decisions that wait for their labels, in the order in which they were made."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from .._options import as_flag
from .._validation import as_names
from ..exceptions import InputError

#: So many ids of labelled decisions are remembered, to notice one that comes twice.
REMEMBERED = 10_000

Id = str | int
#: Whether the decision was to select, and the label once it is known.
Decision = tuple[bool, bool | None]


class Waiting:
    """A queue of decisions by their ids, and the ids that left it last."""

    def __init__(
        self,
        decisions: Iterable[tuple[Id, bool, bool | None]] = (),
        recent: Iterable[Id] = (),
        *,
        registered: bool = False,
    ) -> None:
        self.queue: OrderedDict[Id, Decision] = OrderedDict(
            (name, (chosen, label)) for name, chosen, label in decisions
        )
        self.recent: OrderedDict[Id, None] = OrderedDict.fromkeys(recent)
        #: Whether decisions come by themselves, before their labels.
        self.registered = registered

    def __len__(self) -> int:
        return len(self.queue)

    def add(self, ids: Sequence[Id], selected: Sequence[bool]) -> None:
        """Take in decisions without labels; all or, if an id is not new, none."""
        self._require_new(ids)
        self.registered = True
        self.queue.update(
            (name, (chosen, None)) for name, chosen in zip(ids, selected, strict=True)
        )

    def label(self, ids: Sequence[Id], labels: Sequence[bool]) -> None:
        """Write down labels of decisions that wait; all or, if one does not fit, none."""
        for name in ids:
            if name not in self.queue:
                known = name in self.recent
                raise InputError(
                    f"id {name!r} already has its label: give every label once."
                    if known
                    else f"id {name!r} has a label before its decision: register() the decision "
                    "first, when it is made."
                )
            if self.queue[name][1] is not None:
                raise InputError(f"id {name!r} already has its label: give every label once.")
        _require_different(ids)
        for name, label in zip(ids, labels, strict=True):
            self.queue[name] = (self.queue[name][0], label)

    def remember(self, ids: Sequence[Id]) -> None:
        """Remember ids whose decision and label came together."""
        self._require_new(ids)
        self._forget_oldest(ids)

    def take(self, ids: Sequence[Id]) -> list[Decision]:
        """Take these decisions out of the queue, labelled as they are."""
        taken = [self.queue.pop(name) for name in ids]
        self._forget_oldest(ids)
        return taken

    def complete(self) -> list[Decision]:
        """Take out the longest run from the front in which every decision has its label."""
        length = 0
        for _, label in self.queue.values():
            if label is None:
                break
            length += 1
        return self.take(list(islice(self.queue, length)))

    def to_list(self) -> list[list[Any]]:
        """Return the queue as plain lists."""
        return [[name, *decision] for name, decision in self.queue.items()]

    def _require_new(self, ids: Sequence[Id]) -> None:
        _require_different(ids)
        for name in ids:
            if name in self.queue:
                raise InputError(f"id {name!r} is waiting for its label already: ids must differ.")
            if name in self.recent:
                raise InputError(
                    f"id {name!r} was there before, with its label: ids must differ, and a "
                    "decision comes before its label."
                )

    def _forget_oldest(self, ids: Sequence[Id]) -> None:
        self.recent.update((name, None) for name in ids[-REMEMBERED:])
        while len(self.recent) > REMEMBERED:
            self.recent.popitem(last=False)


def _require_different(ids: Sequence[Id]) -> None:
    if len(set(ids)) < len(ids):
        seen: set[Id] = set()
        twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"id {twice!r} comes twice in one call: ids must differ.")


def as_ids(ids: object) -> list[Id]:
    """Return one id, or an array of them, as a list of words and whole numbers."""
    single = isinstance(ids, (str, int)) or getattr(ids, "ndim", None) == 0
    listed: list[Any] = [ids] if single else as_names(ids, "id").tolist()
    listed = [name.item() if hasattr(name, "item") else name for name in listed]
    for name in listed:
        if not isinstance(name, (str, int)) or isinstance(name, bool):
            raise InputError(f"id must be a word or a whole number, got {name!r}.")
    return listed


def as_selected(selected: object, count: int) -> list[bool]:
    """Return whether each of `count` decisions was to select, from one answer or an array."""
    if isinstance(selected, bool):
        return [selected] * count
    listed = [selected] if getattr(selected, "ndim", None) == 0 else _flags(selected)
    flags = [as_flag(value, "selected") for value in listed]
    if len(flags) != count:
        raise InputError(f"selected must have one value per decision, got {len(flags)} of {count}.")
    return flags


def _flags(selected: object) -> list[Any]:
    if isinstance(selected, (int, str)) or selected is None:
        return [selected]
    flags: list[Any] = as_names(selected, "selected").tolist()
    return flags
