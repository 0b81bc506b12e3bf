"""The result of every band: a lower and an upper limit over a range of the curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from precall._notebook import Rich, drawing
from precall._rounding import TOLERANCE
from precall.curves import Curve
from precall.exceptions import InputError

FloatArray = npt.NDArray[np.float64]

_LABELS = {
    "pr": ("recall", "precision"),
    "roc": ("false-positive rate", "true-positive rate (recall)"),
    "hit": ("share selected", "share selected and positive"),
    "difference": ("recall", "difference of precision"),
    "net_benefit": ("threshold probability", "net benefit per row"),
    "net_benefit_difference": ("threshold probability", "difference of net benefit per row"),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Band(Rich):
    """Limits between which the whole true curve lies with the stated confidence.

    Attributes
    ----------
    kind : {"pr", "roc", "hit", "difference", "net_benefit", "net_benefit_difference"}
        What the band is for; a precision-recall band unless another function made it.
    x, low, y, high : array
        The grid, the limits and the observed curve on it. For precision-recall bands `recall` and
        `precision` are other names of `x` and `y`. The observed curve is jagged and the
        limits are not, so with few positives its teeth may touch a limit.
    confidence_level : float
        Probability with which the method promises to hold the curve at every point of `x` at once
        (at each point by itself if `simultaneous` is False).
    method : str
        How the limits were made.
    simultaneous : bool
        False for pointwise limits.
    diagnostics : mapping
        What the method has to say of its own reliability: effective sample size, bandwidths, ...
    settings : mapping
        What is needed to make the band again.

    Examples
    --------
    >>> import precall as pr
    >>> from precall.simulate import Binormal
    >>> ranking = pr.rank(*Binormal(2.0).sample(100, 900, rng=0))
    >>> band = pr.band(ranking, rng=0)
    >>> band
    Band(pr, fiducial, 95 %, 81 points from 0.1 to 0.9, mean width 0.4)
    >>> band.contains(Binormal(2.0).precision(band.recall, prevalence=0.1))
    True
    """

    kind: str = "pr"
    x: FloatArray
    low: FloatArray
    y: FloatArray
    high: FloatArray
    confidence_level: float
    method: str
    simultaneous: bool = True
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Freeze the arrays and mappings."""
        for name in ("x", "low", "y", "high"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name in ("diagnostics", "settings"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def recall(self) -> FloatArray:
        """The grid of recalls (precision-recall and difference bands)."""
        if self.kind not in ("pr", "difference"):
            raise AttributeError(f"a {self.kind} band has no grid of recalls: use x and y.")
        return self.x

    @property
    def precision(self) -> FloatArray:
        """Observed precision on the grid (precision-recall bands)."""
        if self.kind != "pr":
            raise AttributeError(f"a {self.kind} band has no precision: use x and y.")
        return self.y

    @property
    def width(self) -> FloatArray:
        """Distance between the limits at each point."""
        return self.high - self.low

    @property
    def labels(self) -> tuple[str, str]:
        """Names of the two coordinates."""
        return _LABELS[self.kind]

    def __len__(self) -> int:
        """Return the number of points."""
        return int(self.x.size)

    def __repr__(self) -> str:
        """Return one line."""
        level = f"{100 * self.confidence_level:.6g} %" + ("" if self.simultaneous else " pointwise")
        verdict = f", {self.diagnostics['verdict']}" if "verdict" in self.diagnostics else ""
        return (
            f"Band({self.kind}, {self.method}, {level}, {len(self)} points from {self.x[0]:g} to "
            f"{self.x[-1]:g}, mean width {np.mean(self.width):.2g}{verdict})"
        )

    def limits_at(self, x: Any) -> tuple[FloatArray, FloatArray]:
        """Return both limits at other points of the same range, linear between grid points."""
        values = np.asarray(x, dtype=np.float64)
        if not np.all((values >= self.x[0] - TOLERANCE) & (values <= self.x[-1] + TOLERANCE)):
            raise InputError(
                f"x must be within the band's range {self.x[0]:g} to {self.x[-1]:g}, got {x!r}."
            )
        return np.interp(values, self.x, self.low), np.interp(values, self.x, self.high)

    def contains(self, curve: Curve | Callable[[FloatArray], Any] | npt.ArrayLike) -> bool:
        """Return whether a curve lies within the limits at every grid point.

        `curve` is a :class:`Curve` of the same kind, a function of `x`, or the heights at `x`.
        """
        if isinstance(curve, Curve):
            if curve.kind != self.kind:
                raise InputError(f"curve must be of kind {self.kind!r}, got {curve.kind!r}.")
            heights = curve.at(self.x)
        else:
            heights = np.asarray(curve(self.x) if callable(curve) else curve, dtype=np.float64)
        if heights.shape != self.x.shape:
            raise InputError(
                f"curve must have one height per grid point ({len(self)}), got shape "
                f"{heights.shape}: evaluate it at band.x."
            )
        return bool(np.all((self.low <= heights) & (heights <= self.high)))

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the band and the observed curve with matplotlib and return the Axes."""
        from precall.display.mpl import plot_band

        return plot_band(self, ax=ax, **style)

    def _drawing(self) -> str:
        return drawing(self.x, self.y, (self.low, self.high), self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        plain: dict[str, Any] = {"kind": self.kind}
        plain |= {name: array.tolist() for name, array in self._table().items()}
        plain |= {
            "confidence_level": self.confidence_level,
            "method": self.method,
            "simultaneous": self.simultaneous,
            "diagnostics": {key: _plain(value) for key, value in self.diagnostics.items()},
            "settings": {key: _plain(value) for key, value in self.settings.items()},
        }
        return plain

    def _table(self) -> dict[str, FloatArray]:
        x, y = ("recall", "precision") if self.kind == "pr" else ("x", "y")
        return {x: self.x, "low": self.low, y: self.y, "high": self.high}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
