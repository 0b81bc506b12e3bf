"""What all monitors share: counts, limits, an alarm, and a state that lasts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._interval import Interval
from .._notebook import Rich
from .._rounding import at_least
from .._words import plural
from ..exceptions import InputError
from . import sequences
from .waiting import Decision, Waiting, as_ids, as_selected

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

#: Whether the time that a label takes may depend on the label, or was declared not to.
DELAYS = ("any", "independent")
_FIELDS = (
    "watches",
    "target",
    "confidence_level",
    "delay",
    "restart_every",
    "pos_label",
    "successes",
    "trials",
    "starts",
    "alarm_at",
    "registered",
    "waiting",
    "recent",
)


class Monitor(Rich):
    """A share that is watched; a subclass says which decisions are trials, and which went well."""

    watches: ClassVar[str]
    #: What one trial is called, in words.
    trial: ClassVar[str]

    def __init__(
        self,
        *,
        target: float,
        confidence_level: float = 0.95,
        delay: str = "any",
        restart_every: int | None = None,
        pos_label: object = 1,
    ) -> None:
        self.target = _validation.as_fraction(target, "target")
        self.confidence_level = _validation.as_fraction(confidence_level, "confidence_level")
        self.delay = _validation.as_choice(delay, "delay", DELAYS)
        self.restart_every = (
            None
            if restart_every is None
            else _validation.as_count(restart_every, "restart_every", minimum=1)
        )
        _validation.require_label(pos_label)
        self.pos_label = pos_label
        self._successes, self._trials = [0], [0]
        self._starts = [(0, 0)]  # successes and trials before each sequence
        self._alarm_at: int | None = None
        self._waiting = Waiting()

    # What comes in.

    def register(self, id: object, *, selected: object = True) -> None:  # noqa: A002
        """Take in decisions when they are made; their labels come later, in any order.

        Parameters
        ----------
        id : str, int, or array of them
            In the order of the decisions.
        selected : bool or array of bool
            Whether each was selected (its score reached the threshold).
        """
        self._require_single()
        ids = as_ids(id)
        chosen = as_selected(selected, len(ids))
        if not self._waiting.registered and (self.trials or self._waiting.recent):
            raise InputError(
                "labels came before decisions: register() every decision, or none of them."
            )
        self._waiting.add(ids, chosen)

    def update(
        self,
        label: object,
        id: object = None,  # noqa: A002
        *,
        selected: object = True,
    ) -> bool:
        """Take in one label, or an array of them, and return whether there is an alarm.

        Parameters
        ----------
        label : label or array of labels
        id : str, int, or array of them, optional
            Whose labels they are. Without ids, and with ids if nothing was registered, decision
            and label come together and count in this order.
        selected : bool or array of bool
            Of decisions that come together with their labels.
        """
        self._require_single()
        labels = self._as_labels(label)
        ids = None if id is None else as_ids(id)
        if ids is not None and len(ids) != labels.size:
            raise InputError(f"label and id must go together, got {labels.size} and {len(ids)}.")
        if not self._waiting.registered:
            chosen = as_selected(selected, labels.size)
            if ids is not None:
                self._waiting.remember(ids)
            self._count_labelled(np.asarray(chosen, dtype=np.bool_), labels)
        elif ids is None:
            raise InputError("decisions were registered: give the id of the label's decision.")
        else:
            self._waiting.label(ids, labels.tolist())
            together = self.delay == "independent"
            self._count_decisions(self._waiting.take(ids) if together else self._waiting.complete())
        return self.alarm

    def _as_labels(self, label: object) -> Mask:
        single = isinstance(label, (str, bytes, Real)) or getattr(label, "ndim", None) == 0
        return _validation.as_positive_mask([label] if single else label, self.pos_label, "label")

    def _count_decisions(self, decisions: list[Decision]) -> None:
        if decisions:
            chosen, labels = np.asarray(decisions, dtype=np.bool_).T
            self._count_labelled(chosen, labels)

    def _count_labelled(self, selected: Mask, labels: Mask) -> None:
        trial = self.is_trial(selected, labels)
        self.count(self.went_well(selected, labels)[trial])

    @staticmethod
    def may_count(selected: Mask) -> Mask:
        """Return which decisions may become trials, whatever their labels."""
        raise NotImplementedError

    @staticmethod
    def is_trial(selected: Mask, labels: Mask) -> Mask:
        """Return which decisions are trials, by their labels."""
        raise NotImplementedError

    @staticmethod
    def went_well(selected: Mask, labels: Mask) -> Mask:
        """Return which trials are successes."""
        raise NotImplementedError

    def count(self, outcomes: Mask, looks: Mask | None = None) -> None:
        """Count trials in this order, and look after each of them, or after some and the last."""
        if not outcomes.size:
            return
        at = slice(None) if looks is None else looks
        successes = (self.successes + np.cumsum(outcomes))[at]
        trials = (self.trials + np.arange(1, outcomes.size + 1))[at]
        if self.restart_every is not None:
            passed = np.diff(
                trials // self.restart_every, prepend=self.trials // self.restart_every
            )
            fresh = passed > 0
            self._starts += zip(successes[fresh].tolist(), trials[fresh].tolist(), strict=True)
        if self._alarm_at is None:
            first = [
                trials[found].min(initial=np.iinfo(np.int64).max)
                for number, start in enumerate(self._starts)
                if (found := self._excluded(successes, trials, start, number)).any()
            ]
            self._alarm_at = int(min(first)) if first else None
        self._successes, self._trials = [int(successes[-1])], [int(trials[-1])]

    def _excluded(
        self, successes: Counts, trials: Counts, start: tuple[int, int], number: int
    ) -> Mask:
        """Return where the sequence that began at `start` excludes the target."""
        after = trials > start[1]
        shifted = np.where(after, successes - start[0], 0), np.where(after, trials - start[1], 0)
        return sequences.too_few(self.target, *shifted, self.target, self._error(number))

    def _error(self, number: int) -> float:
        """Error that a sequence may spend; those of all restarts, however many, add up."""
        alpha = 1.0 - self.confidence_level
        return alpha if self.restart_every is None else alpha * restart_share(number)

    # What comes out.

    @property
    def successes(self) -> int:
        """Trials that went well."""
        return sum(self._successes)

    @property
    def trials(self) -> int:
        """Trials counted so far."""
        return sum(self._trials)

    @property
    def pending(self) -> int:
        """Registered decisions that are not counted yet."""
        return len(self._waiting)

    @property
    def interval(self) -> Interval:
        """The share with limits that hold at all times at once.

        From 0 to 1, around NaN, while nothing was counted. If shards contradict each other the
        lower limit lies above the upper one.
        """
        low, high = sequences.limits(
            np.asarray(self._successes, dtype=np.float64),
            np.asarray(self._trials, dtype=np.float64),
            self.target,
            1.0 - self.confidence_level,
        )
        return Interval(
            low=low,
            high=high,
            estimate=self.successes / self.trials if self.trials else float("nan"),
            confidence_level=self.confidence_level,
            method="beta_binomial_sequence",
        )

    @property
    def alarm(self) -> bool:
        """Whether the upper limit was, at some time, under the target: once on, it stays on."""
        return self._alarm_at is not None

    @property
    def alarm_at(self) -> int | None:
        """How many trials had been counted when the alarm went on."""
        return self._alarm_at

    @property
    def message(self) -> str:
        """What is known, in a sentence."""
        level = f"{100 * self.confidence_level:.6g} %"
        if not self.trials:
            return f"No {self.trial} was counted yet."
        seen = f"{self.successes / self.trials:.4g} in {plural(self.trials, self.trial)}"
        found = self.interval
        limits = f"{found.low:.4g} to {found.high:.4g} at {level}, whenever you look"
        if self.alarm:
            return (
                f"Alarm after {plural(self._alarm_at or 0, self.trial)}: the {self.watches} is "
                f"under {self.target:g}. Seen: {seen} ({limits})."
            )
        said = "at least" if at_least(found.low, self.target) else "not shown to be under"
        return f"The {self.watches} is {said} {self.target:g}: {seen} ({limits})."

    def __repr__(self) -> str:
        """Return one line."""
        found = self.interval
        return (
            f"{type(self).__name__}({found.estimate:.4g}, low={found.low:.4g}, "
            f"high={found.high:.4g}, target={self.target:g}, {plural(self.trials, self.trial)}, "
            f"pending={self.pending}, alarm={self.alarm})"
        )

    def _facts(self) -> dict[str, Any]:
        found = self.interval
        return {
            self.watches: found.estimate,
            "low": found.low,
            "high": found.high,
            "target": self.target,
            f"{self.trial}s": self.trials,
            "waiting for labels": self.pending,
            "alarm": self.alarm,
        }

    def _table(self) -> dict[str, Any]:
        return {name: [value] for name, value in self._facts().items()}

    # What lasts.

    def to_dict(self) -> dict[str, Any]:
        """Return the whole state as plain values that survive JSON; see :meth:`from_dict`."""
        values = (
            self.watches,
            self.target,
            self.confidence_level,
            self.delay,
            self.restart_every,
            getattr(self.pos_label, "item", lambda: self.pos_label)(),
            list(self._successes),
            list(self._trials),
            [list(start) for start in self._starts],
            self._alarm_at,
            self._waiting.registered,
            self._waiting.to_list(),
            list(self._waiting.recent),
        )
        return dict(zip(_FIELDS, values, strict=True))

    @classmethod
    def from_dict(cls, state: Any) -> Self:
        """Go on from a state that :meth:`to_dict` gave."""
        if not isinstance(state, Mapping) or set(state) != set(_FIELDS):
            raise InputError(f"this is not the state of a monitor: it needs {', '.join(_FIELDS)}.")
        if state["watches"] != cls.watches:
            raise InputError(
                f"this is the state of a monitor of {state['watches']}, not of {cls.watches}."
            )
        monitor = cls(**{name: state[name] for name in _FIELDS[1:6]})
        monitor._successes, monitor._trials = (
            _as_counts(state[name], name) for name in ("successes", "trials")
        )
        monitor._starts = [_as_pair(start) for start in _as_list(state["starts"], "starts")]
        if len(monitor._successes) != len(monitor._trials) or any(
            done > all_ for done, all_ in zip(monitor._successes, monitor._trials, strict=True)
        ):
            raise InputError("this is not the state of a monitor: more successes than trials.")
        at = state["alarm_at"]
        monitor._alarm_at = None if at is None else _validation.as_count(at, "alarm_at")
        try:
            monitor._waiting = Waiting(
                (
                    (as_ids(name)[0], bool(chosen), None if label is None else bool(label))
                    for name, chosen, label in state["waiting"]
                ),
                as_ids(list(state["recent"])) if state["recent"] else (),
                registered=_validation.as_flag(state["registered"], "registered"),
            )
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"this is not the state of a monitor: waiting and recent are not lists ({error})."
            ) from None
        return monitor

    @classmethod
    def merge(cls, shards: object) -> Self:
        """Return what a list of monitors of several shards, or of their states, says together.

        The shards' decisions must be different ones, of the same target, level and delay. With
        ``delay="independent"`` the counts add up. Otherwise the shards' trials are in no common
        order, their evidence is combined by Fisher's method, and the result takes no labels: go on
        with the shards, and merge again. The alarm is that of the merged evidence at this moment.
        """
        given = list(shards) if isinstance(shards, Iterable) else []
        members = [each if isinstance(each, cls) else cls.from_dict(each) for each in given]
        if not members:
            raise InputError("merge needs a list of at least one monitor, got none.")
        shared = ("target", "confidence_level", "delay", "pos_label")
        for name in shared:
            values = {repr(getattr(each, name)) for each in members}
            if len(values) > 1:
                raise InputError(f"the shards differ in {name}: {', '.join(sorted(values))}.")
        first = members[0]
        merged = cls(**{name: getattr(first, name) for name in shared})
        merged._successes, merged._trials = (
            [count for each in members for count in getattr(each, name)]
            for name in ("_successes", "_trials")
        )
        if first.delay == "independent":
            merged._successes, merged._trials = [merged.successes], [merged.trials]
        for each in members:
            if shared_ids := merged._waiting.queue.keys() & each._waiting.queue.keys():
                raise InputError(f"id {min(map(str, shared_ids))!r} waits in two shards.")
            merged._waiting.queue.update(each._waiting.queue)
            merged._waiting.registered |= each._waiting.registered
        merged._look()
        return merged

    def _look(self) -> None:
        """Set the alarm by what is known at this moment."""
        successes, trials = (
            np.asarray(counts, dtype=np.float64) for counts in (self._successes, self._trials)
        )
        found = sequences.evidence_against(self.target, successes, trials, self.target, above=True)
        wanted = sequences.needed(1.0 - self.confidence_level, len(self._trials))
        self._alarm_at = self.trials if self.trials and at_least(found, wanted) else None

    def _require_single(self) -> None:
        if len(self._trials) > 1:
            raise InputError(
                "this monitor was merged from shards: go on with the shards, and merge again."
            )


def restart_share(number: int) -> float:
    """Share of alpha of the restart with this number, from 0: ``6 / (pi^2 (number + 1)^2)``."""
    return 6.0 / (np.pi * (number + 1.0)) ** 2


def _as_list(values: object, name: str) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise InputError(f"this is not the state of a monitor: {name} must be a list of counts.")
    return values


def _as_counts(values: object, name: str) -> list[int]:
    return [_validation.as_count(value, name) for value in _as_list(values, name)]


def _as_pair(values: object) -> tuple[int, int]:
    pair = _as_counts(values, "starts")
    if len(pair) != 2:
        raise InputError("this is not the state of a monitor: starts must be pairs of counts.")
    return pair[0], pair[1]
