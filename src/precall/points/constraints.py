"""What can be promised at a threshold: the constraints asked for, and what comes with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._interval import Interval
from .._notebook import Rich
from .._result_frame import flat
from ..exceptions import InputError
from .matrix import Confusion, plain_number


@dataclass(frozen=True, kw_only=True, repr=False)
class CertifiedBound(Rich):
    """A bound for one quantity at a threshold, and what was observed there.

    Attributes
    ----------
    name : str
        ``"precision"``, ``"recall"``, ``"selected"`` or ``"net_benefit"``.
    bound : float or None
        The bound, true with the confidence level of the point although the threshold was
        chosen on the same data. None if no threshold could be certified.
    observed : Interval or None
        The value observed with two-sided Clopper-Pearson limits, which hold for a threshold and a
        model fixed in advance: narrower than the bound, and optimistic here. None where nothing
        is estimated, and for a net benefit, which is not a share.
    sign : str
        ``">="`` for a lower bound, ``"<="`` for an upper one.
    """

    name: str
    bound: float | None
    observed: Interval | None
    sign: str = ">="

    def __repr__(self) -> str:
        """Return one line."""
        if self.bound is None:
            return f"{type(self).__name__}({self.name}, no bound)"
        return f"{type(self).__name__}({self.name} {self.sign} {self.bound:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["observed"] = self.observed and self.observed.to_dict()
        return plain

    def _facts(self) -> dict[str, Any]:
        facts = self.to_dict()
        if seen := self.observed:
            facts["observed"] = f"{seen.estimate:.4g} ({seen.low:.4g} to {seen.high:.4g})"
        return facts


@dataclass(frozen=True, kw_only=True, repr=False)
class Constraint(CertifiedBound):
    """Something that was asked of a threshold, and whether it can be promised.

    Attributes
    ----------
    name, bound, observed, sign
        As in :class:`CertifiedBound`.
    required : float
        The value asked for: at least (``">="``) or at most (``"<="``) so much.
    holds : bool
        Whether it is certified at the threshold.
    """

    required: float
    holds: bool

    def __repr__(self) -> str:
        """Return one line."""
        verdict = "holds" if self.holds else "not certified"
        return f"Constraint({self.name} {self.sign} {self.required:g}: {verdict})"


@dataclass(frozen=True, kw_only=True, repr=False)
class OperatingPoint(Rich):
    """A threshold with what can be promised there.

    Attributes
    ----------
    certified : bool
        Whether a threshold could be certified. If not, `threshold` and all that belongs to it
        are None and `message` says why.
    threshold : number or None
        ``score >= threshold`` is selected.
    constraints : tuple of Constraint
        What was asked, in the order of the arguments.
    other_bounds : tuple of CertifiedBound
        What can be promised at the same threshold without having been asked for.
    confidence_level : float
        Of each bound by itself.
    joint_confidence_level : float
        Probability with which all bounds are true together.
    confusion : Confusion or None
        The counts observed there.
    prevalence : float or None
        The prevalence that precision refers to, if it is not that of the data.
    positives_needed : int or None
        If not certified: about how many positives would be enough if more data looked like this
        data; None if more of the same would not help.
    n_candidates : int
        Number of models that the promise was corrected for.
    exact : bool
        False for rows whose weights differ within a class: the levels are then approximate.
    message : str
        The result in words.
    """

    certified: bool
    threshold: Any
    constraints: tuple[Constraint, ...]
    other_bounds: tuple[CertifiedBound, ...]
    confidence_level: float
    joint_confidence_level: float
    confusion: Confusion | None
    prevalence: float | None
    positives_needed: int | None
    n_candidates: int
    exact: bool
    message: str

    @property
    def precision_bound(self) -> float | None:
        """Lower bound of the precision; None if not certified."""
        return self.of("precision").bound

    @property
    def recall_bound(self) -> float | None:
        """Lower bound of the recall; None if not certified."""
        return self.of("recall").bound

    @property
    def precision(self) -> Interval | None:
        """The precision observed; see :attr:`CertifiedBound.observed`."""
        return self.of("precision").observed

    @property
    def recall(self) -> Interval | None:
        """The recall observed; see :attr:`CertifiedBound.observed`."""
        return self.of("recall").observed

    @property
    def bounds(self) -> tuple[CertifiedBound, ...]:
        """Everything that is bounded here, asked for or not, in the order of the names."""
        return tuple(sorted((*self.constraints, *self.other_bounds), key=lambda each: each.name))

    def of(self, name: str) -> CertifiedBound:
        """Return what can be promised about one quantity: a Constraint if it was asked for."""
        found = {each.name: each for each in self.bounds}
        if name not in found:
            raise InputError(f"no bound for {name!r} here: take one of {', '.join(found)}.")
        return found[name]

    def __repr__(self) -> str:
        """Return one line."""
        if not self.certified:
            return f"OperatingPoint(not certified: {self.message})"
        promised = ", ".join(f"{each.name} {each.sign} {each.bound:.4g}" for each in self.bounds)
        together = "both" if len(self.bounds) == 2 else "all"
        return (
            f"OperatingPoint(threshold={self.threshold:.6g}, {promised}, "
            f"{100 * self.confidence_level:.6g} % each, "
            f"{100 * self.joint_confidence_level:.6g} % {together})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["threshold"] = None if self.threshold is None else plain_number(self.threshold)
        plain["confusion"] = self.confusion and self.confusion.to_dict()
        for name in ("constraints", "other_bounds"):
            plain[name] = [each.to_dict() for each in plain[name]]
        return plain

    def plot(self, ax: Any = None) -> Any:
        """Draw what was observed, promised and asked for, and return the Axes."""
        from ..display.promise_plots import plot_operating_point

        return plot_operating_point(self, ax)

    def _table(self) -> dict[str, list[Any]]:
        """One row; a quantity's columns begin with its name."""
        row = self._by_name(CertifiedBound.to_dict)
        return {name: [value] for name, value in flat(row).items()}

    def _facts(self) -> dict[str, Any]:
        """The promise first, then what was counted: measures are in :attr:`confusion`."""
        facts = self._by_name(CertifiedBound._facts)
        if self.confusion is not None:
            counts = facts["confusion"]
            facts["confusion"] = {name: counts[name] for name in ("tp", "fp", "fn", "tn")}
        return {"message": facts.pop("message")} | facts

    def _by_name(self, shown: Callable[[CertifiedBound], dict[str, Any]]) -> dict[str, Any]:
        """Plain values, with an entry for each quantity instead of two lists of them."""
        entries = {"constraints", "other_bounds"}
        plain = {name: value for name, value in self.to_dict().items() if name not in entries}
        for each in self.bounds:
            entry = shown(each)
            plain[entry.pop("name")] = entry
        return plain
