"""The curve: one path of counts, looked at from five sides.

Precision-recall, ROC, hit, lift and PR-gain curves are different coordinates of the same path
``(FP, TP)`` from "select nothing" to "select everything". :class:`Curve` keeps the counts and
interpolates on them, because a straight line between counts is what a random mixture of two
thresholds achieves; in precision-recall space it is a hyperbola.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich, drawing
from .._numerics import ratio, segment_area
from ..exceptions import InputError
from ..metrics._kernels import roc_hull

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]

# Interpolated points keep a drawn hyperbola this close to the true one.
_DRAWING_TOLERANCE = 5e-4


class _CurveKind(NamedTuple):
    """How a kind of curve reads the path of counts."""

    x: Callable[[Curve], FloatArray]
    y: Callable[[Curve], FloatArray]
    axis: Callable[[Array, Array], Array]  # the count that grows along x and is linear in it
    from_x: Callable[[Curve, FloatArray], FloatArray]  # x to that count
    highest: str  # which of several points at one x is the highest: "left" or "right"
    x_label: str
    y_label: str
    # Height beyond the last point, which only missed positives leave; None: that of the last point.
    beyond: Callable[[Curve, FloatArray], Any] | None = None


_KINDS: dict[str, _CurveKind] = {
    "pr": _CurveKind(
        x=lambda c: c.recall,
        y=lambda c: c.precision,
        axis=lambda tp, fp: tp,
        from_x=lambda c, x: x * c.n_pos,
        highest="left",
        x_label="recall",
        y_label="precision",
        beyond=lambda c, x: 0.0,
    ),
    "roc": _CurveKind(
        x=lambda c: c.false_positive_rate,
        y=lambda c: c.recall,
        axis=lambda tp, fp: fp,
        from_x=lambda c, x: x * c.n_neg,
        highest="right",
        x_label="false-positive rate",
        y_label="true-positive rate (recall)",
    ),
    "hit": _CurveKind(
        x=lambda c: c.selected,
        y=lambda c: c.tp / (c.n_pos + c.n_neg),
        axis=lambda tp, fp: tp + fp,
        from_x=lambda c, x: x * (c.n_pos + c.n_neg),
        highest="right",
        x_label="share selected",
        y_label="share selected and positive",
    ),
    "lift": _CurveKind(
        x=lambda c: c.selected,
        y=lambda c: c.precision / c.prevalence,
        axis=lambda tp, fp: tp + fp,
        from_x=lambda c, x: x * (c.n_pos + c.n_neg),
        highest="right",
        x_label="share selected",
        y_label="lift: precision / prevalence",
        beyond=lambda c, x: c.y[-1] * c.x[-1] / x,  # nothing more is found
    ),
    "gain": _CurveKind(
        x=lambda c: 1 - (c.n_pos / c.n_neg) * (c.n_pos - c.tp) / c.tp,
        y=lambda c: 1 - (c.n_pos / c.n_neg) * c.fp / c.tp,
        axis=lambda tp, fp: tp,
        from_x=lambda c, x: c.n_pos * (c.n_pos / c.n_neg) / (1 - x + c.n_pos / c.n_neg),
        highest="left",
        x_label="recall gain",
        y_label="precision gain",
        beyond=lambda c, x: -np.inf,  # the gain of precision 0
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Curve(Rich):
    """A path of counts with the coordinates of its kind.

    Attributes
    ----------
    kind : {"pr", "roc", "hit", "lift", "gain"}
    tp, fp : array
        Weight of positives and negatives selected at each point, both growing.
    n_pos, n_neg : float
        Their totals.
    threshold : array
        Selecting ``score >= threshold`` gives the point; NaN at interpolated points. A point
        reached by ``score > t`` only has the next representable number above ``t``.
    observed : array of bool
        True where some threshold achieves the point, False where it lies on the straight line
        of counts between two that do (a random mixture of both achieves it).

    Examples
    --------
    >>> import precall as pr
    >>> curve = pr.pr_curve(pr.rank([1, 0, 1, 0], [4, 3, 2, 1]))
    >>> curve
    Curve(pr, 11 points, 4 observed, n_pos=2, n_neg=2)
    >>> curve.recall[curve.observed], curve.precision[curve.observed].round(3)
    (array([0.5, 0.5, 1. , 1. ]), array([1.   , 0.5  , 0.667, 0.5  ]))
    >>> float(curve.at(0.5)), round(float(curve.at(0.75)), 6)
    (1.0, 0.6)
    """

    kind: str
    tp: FloatArray
    fp: FloatArray
    n_pos: float
    n_neg: float
    threshold: FloatArray
    observed: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in ("tp", "fp", "threshold", "observed"):
            array = np.asarray(getattr(self, name)).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def recall(self) -> FloatArray:
        """Share of the positives selected."""
        return np.asarray(self.tp / self.n_pos)

    @property
    def precision(self) -> FloatArray:
        """Share of positives among the selected; at the empty selection, its limit."""
        precision = ratio(self.tp, self.tp + self.fp)
        if self.tp.size > 1 and self.tp[0] + self.fp[0] == 0:
            precision[0] = precision[1]
        return precision

    @property
    def false_positive_rate(self) -> FloatArray:
        """Share of the negatives selected."""
        return np.asarray(self.fp / self.n_neg)

    @property
    def selected(self) -> FloatArray:
        """Share of everything selected."""
        return np.asarray((self.tp + self.fp) / (self.n_pos + self.n_neg))

    @property
    def missed(self) -> bool:
        """Whether some positives are beyond the last point: no threshold selects them."""
        return bool(self.tp[-1] < self.n_pos * (1.0 - 1e-12))

    @property
    def prevalence(self) -> float:
        """Share of positives."""
        return float(self.n_pos / (self.n_pos + self.n_neg))

    @property
    def x(self) -> FloatArray:
        """Horizontal coordinate of this kind of curve."""
        return _KINDS[self.kind].x(self)

    @property
    def y(self) -> FloatArray:
        """Vertical coordinate of this kind of curve."""
        return _KINDS[self.kind].y(self)

    @property
    def labels(self) -> tuple[str, str]:
        """Names of the two coordinates."""
        return _KINDS[self.kind].x_label, _KINDS[self.kind].y_label

    def __len__(self) -> int:
        """Return the number of points."""
        return int(self.tp.size)

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"Curve({self.kind}, {len(self)} points, {int(np.sum(self.observed))} observed, "
            f"n_pos={self.n_pos:.12g}, n_neg={self.n_neg:.12g})"
        )

    def at(self, x: Any) -> FloatArray:
        """Return the height of the curve at `x` (recall, false-positive rate, ...).

        Between points it follows the straight line of counts. Where several points share one
        `x` it gives the highest; the drop that follows is in the arrays.
        """
        values = np.asarray(x, dtype=np.float64)
        if not np.all((values >= 0) & (values <= 1)):
            raise InputError(f"{self.labels[0]} must be between 0 and 1, got {x!r}.")
        kind = _KINDS[self.kind]
        position = kind.axis(self.tp, self.fp)
        asked = kind.from_x(self, values)
        target = _snapped(np.clip(asked, position[0], position[-1]), position)
        if kind.highest == "left":
            after = np.searchsorted(position, target, side="left")
            before = np.maximum(after - 1, 0)
        else:
            before = np.searchsorted(position, target, side="right") - 1
            after = np.minimum(before + 1, len(self) - 1)
        exact = after if kind.highest == "left" else before
        share = ratio(target - position[before], position[after] - position[before])
        share = np.where(position[exact] == target, exact == after, share)
        tp = self.tp[before] + share * (self.tp[after] - self.tp[before])
        fp = self.fp[before] + share * (self.fp[after] - self.fp[before])
        point = self._through(
            np.atleast_1d(tp),
            np.atleast_1d(fp),
            np.full(np.size(tp), np.nan),
            np.zeros(np.size(tp), dtype=bool),
        )
        height = point.y.reshape(np.shape(tp))
        # The empty selection has a limit, which only its neighbour on the curve knows.
        height = np.where(tp + fp == 0, self.y[0], height)
        if kind.beyond is None or not self.missed:
            return height
        beyond = asked > position[-1] + _slack(position)
        return np.where(beyond, kind.beyond(self, np.where(beyond, values, 1.0)), height)

    def area(self) -> float:
        """Return the exact area under the curve.

        For a precision-recall curve this is the ``davis_goadrich`` estimator, for ROC the AUROC,
        for gain the AUPRG. With missed positives it goes on beyond the last point as :meth:`at`
        does; a gain curve then has none.
        """
        if self.kind == "pr":
            pieces = segment_area(self.tp[:-1], self.fp[:-1], self.tp[1:], self.fp[1:])
            return float(np.sum(pieces) / self.n_pos)
        if self.kind == "lift":
            raise InputError("a lift curve has no useful area: take the area of the hit curve.")
        if self.kind == "gain" and self.missed:
            raise InputError(
                "a gain curve has no area with missed positives: precision 0 has a gain of minus "
                "infinity; take the area of the precision-recall curve."
            )
        return float(np.trapezoid(self.y, self.x) + (1.0 - self.x[-1]) * self.y[-1])

    def thin(self, tolerance: float = 1e-3) -> Curve:
        """Drop points that cannot be seen, for drawing.

        Within every strip of `x` as wide as `tolerance` the first, lowest, highest and last
        point stay. So no point of either curve is farther than `tolerance` from the other, the
        extremes are untouched, and at most ``4 / tolerance`` points are left per unit of `x`.
        """
        width = _validation.as_fraction(tolerance, "tolerance")
        x, y = self.x, self.y
        strip = np.floor((x - x[0]) / width)
        start = np.flatnonzero(np.append(True, strip[1:] != strip[:-1]))
        stop = np.append(start[1:], x.size)
        if 4 * start.size >= x.size:
            return self
        lengths = stop - start
        index = np.arange(x.size)
        keep = np.zeros(x.size, dtype=bool)
        keep[start] = keep[stop - 1] = True
        keep[1] = True  # the empty selection takes its precision from its neighbour
        for extreme in (np.minimum, np.maximum):
            best = np.repeat(extreme.reduceat(y, start), lengths)
            keep[np.minimum.reduceat(np.where(y == best, index, x.size), start)] = True
        return self.subset(keep)

    def subset(self, which: Any) -> Curve:
        """Return the curve through some of the points."""
        return self._through(
            self.tp[which], self.fp[which], self.threshold[which], self.observed[which]
        )

    def _through(self, tp: Array, fp: Array, threshold: Array, observed: Array) -> Curve:
        """Return the curve of the same kind and sizes through other points.

        A plain one: what a subclass knows of itself is not true of other points.
        """
        return Curve(
            kind=self.kind,
            tp=tp,
            fp=fp,
            n_pos=self.n_pos,
            n_neg=self.n_neg,
            threshold=threshold,
            observed=observed,
        )

    def convex_hull(self) -> Curve:
        """Return the curve through the vertices of the ROC convex hull.

        It is the best that random mixtures of thresholds achieve. On a precision-recall curve
        this is the achievable curve that the hull maps to, not the hull of the drawn points.
        """
        if self.kind == "gain":
            raise InputError("take the convex hull of the ROC or PR curve, not of the gain curve.")
        path: Curve = self
        if self.tp[0] + self.fp[0] > 0:
            path = self._through(
                np.append(0.0, self.tp),
                np.append(0.0, self.fp),
                np.append(np.inf, self.threshold),
                np.append(True, self.observed),
            )
        return drawable(path.subset(roc_hull(path.tp, path.fp)))

    def perfect(self) -> Curve:
        """Return the curve of a perfect ranking of the same sizes, in the same coordinates."""
        return made_up(self.kind, [0.0, self.n_pos, self.n_pos], [0.0, 0.0, self.n_neg])

    def random(self) -> Curve:
        """Return the curve of random selection, in the same coordinates."""
        return made_up(self.kind, [0.0, self.n_pos], [0.0, self.n_neg])

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the curve with matplotlib and return the Axes."""
        from ..display.mpl import plot_curve

        return plot_curve(self, ax=ax, **style)

    def _drawing(self) -> str:
        thin = self.thin(2e-3)
        return drawing(thin.x, thin.y, labels=self.labels)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return {
            "kind": self.kind,
            "x": self.x.tolist(),
            "y": self.y.tolist(),
            "tp": self.tp.tolist(),
            "fp": self.fp.tolist(),
            "n_pos": self.n_pos,
            "n_neg": self.n_neg,
            "threshold": [v if np.isfinite(v) else str(v) for v in self.threshold.tolist()],
            "observed": self.observed.tolist(),
        }

    def _table(self) -> dict[str, Any]:
        names = ("x", "y", "tp", "fp", "threshold", "observed")
        return {name: getattr(self, name) for name in names}


def _slack(position: Array) -> Any:
    """How far apart two counts may be by rounding only: 0.55 * 100 is not 55."""
    return 4 * np.finfo(float).eps * position[-1]


def _snapped(target: FloatArray, position: Array) -> FloatArray:
    """Move a target onto a point it differs from by rounding only."""
    slack = _slack(position)
    nearest = position[np.minimum(np.searchsorted(position, target - slack), position.size - 1)]
    return np.where(np.abs(nearest - target) <= slack, nearest, target)


def made_up(kind: str, tp: list[float], fp: list[float]) -> Curve:
    """Return a curve through given counts that no data have."""
    size = len(tp)
    curve = Curve(
        kind=kind,
        tp=np.array(tp),
        fp=np.array(fp),
        n_pos=tp[-1],
        n_neg=fp[-1],
        threshold=np.full(size, np.nan),
        observed=np.zeros(size, dtype=bool),
    )
    if kind == "gain":
        start = curve.n_pos * curve.prevalence
        share = start / curve.n_pos
        first_fp = share * curve.fp[1]
        return replace(
            curve, tp=np.append(start, curve.tp[1:]), fp=np.append(first_fp, curve.fp[1:])
        )
    return drawable(curve)


def drawable(curve: Curve) -> Curve:
    """Add points where straight lines of counts bend visibly in this curve's coordinates.

    Along a line precision is ``A + B / (1 + x f)``, ``f`` from 0 to 1; ``k`` pieces of equal
    ratio in ``1 + x f`` stay within ``|B| (log1p(x) / (2 k))**2`` of their chords.
    """
    if curve.kind not in ("pr", "lift"):
        return curve
    tp, fp = curve.tp, curve.fp
    start = tp[:-1] + fp[:-1]
    growth = ratio(np.diff(tp + fp), start)
    bend = np.abs(ratio(tp[:-1], start) - ratio(np.diff(tp), np.diff(tp + fp)))
    # In a precision-recall curve a vertical drop is straight. Lift has no fixed scale: a picture of
    # it is as high as its highest point.
    visible = np.diff(tp) > 0 if curve.kind == "pr" else 1 / np.max(ratio(tp, tp + fp))
    bend = bend * visible
    pieces = np.ceil(0.5 * np.log1p(growth) * np.sqrt(bend / _DRAWING_TOLERANCE)).astype(np.int64)
    pieces = np.maximum(pieces, 1)
    if pieces.max(initial=1) == 1:
        return curve
    segment = np.repeat(np.arange(pieces.size), pieces)
    step = np.arange(segment.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = ratio(np.expm1(np.log1p(growth[segment]) * step / pieces[segment]), growth[segment])
    new_tp = tp[segment] + share * np.diff(tp)[segment]
    new_fp = fp[segment] + share * np.diff(fp)[segment]
    own = step == 0
    return replace(
        curve,
        tp=np.append(new_tp, tp[-1]),
        fp=np.append(new_fp, fp[-1]),
        threshold=np.append(np.where(own, curve.threshold[segment], np.nan), curve.threshold[-1]),
        observed=np.append(own & curve.observed[segment], curve.observed[-1]),
    )
