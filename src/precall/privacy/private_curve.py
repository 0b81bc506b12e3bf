"""A released curve: everything that follows from two noisy histograms.

Nothing here looks at the data: all of it is post-processing of what has been paid for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._cached import cached_property
from .._interval import Interval
from .._notebook import Rich
from .._validation import as_choice, as_count, as_fraction, as_generator
from ..exceptions import InputError
from ..inference.bands.band import Band
from ..metrics import ESTIMATORS
from ..metrics.areas import aucpr
from ..ranking import Ranking
from . import reconstruction
from .covering import NOISE_SHARE, OF_CURVES, area_limits, count_limits, with_sampling
from .mechanisms import SeededNoise
from .neighbours import REPLACE, estimated_rows
from .values import mark, persons_mark

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Ranked positives that an area is read off with; more change nothing.
_MOST_POSITIVES = 4096


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PrivateCurve(Rich):
    """A curve released with noise. Everything in it was paid for: it may be published as it is.

    Attributes
    ----------
    kind : {"pr", "roc"}
        Which curve it is drawn as; :meth:`to` turns one into the other, at no cost.
    edges : array
        The public edges, increasing.
    noisy_positives, noisy_negatives : array of int
        Rows of each class per bin, from the highest scores down, with their noise.
    epsilon, delta : float
        What it cost.
    mechanism : str
        How it was made.
    scale : float
        Scale of the Laplace noise in each count.
    n_rows : int
        Public number of rows; if that is private, an estimate from the noisy counts.
    seeded : bool
        Whether the noise came from a seed: then the curve is for simulation, and not private.
    rows_per_person : int
        How many rows of one person are protected together.
    n_persons : int or None
        Public number of persons, if rows were drawn from each.
    noises : int
        Independent noises of that scale in each count: 1, or the number of sites added up.
    neighbours : str
        "replace" if the number of rows is public and a replaced row is protected; "add_remove" if
        it is private, and a row more or less is.
    """

    kind: str
    edges: FloatArray
    noisy_positives: IntArray
    noisy_negatives: IntArray
    epsilon: float
    delta: float
    mechanism: str
    scale: float
    n_rows: int
    seeded: bool = False
    rows_per_person: int = 1
    n_persons: int | None = None
    noises: int = 1
    neighbours: str = REPLACE

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in ("edges", "noisy_positives", "noisy_negatives"):
            array = np.array(getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @cached_property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Estimated true and false positives at the edges, from the highest down."""
        return self._reconstructed(self.noisy_positives, self.noisy_negatives)

    @cached_property
    def _path(self) -> tuple[FloatArray, FloatArray]:
        return reconstruction.path(*self.corners)

    @property
    def tp(self) -> FloatArray:
        """Estimated true positives along the curve."""
        return self._path[0]

    @property
    def fp(self) -> FloatArray:
        """Estimated false positives along the curve."""
        return self._path[1]

    @property
    def prevalence(self) -> float:
        """Estimated share of positives."""
        return float(self.tp[-1] / self.n_rows)

    @property
    def recall(self) -> FloatArray:
        """Recall along the curve, from 0 to 1."""
        return np.asarray(self.tp / self.tp[-1])

    @property
    def false_positive_rate(self) -> FloatArray:
        """False-positive rate along the curve, from 0 to 1."""
        return np.asarray(self.fp / self.fp[-1])

    @property
    def precision(self) -> FloatArray:
        """Precision along the curve; before the first row, that of the first."""
        rows = self.tp + self.fp
        first = int(np.argmax(rows > 0))
        precision = self.tp / np.where(rows > 0, rows, 1.0)
        precision[:first] = precision[first]
        return precision

    @property
    def threshold(self) -> FloatArray:
        """Score threshold along the curve, linear between the edges."""
        bins = self.edges.size - 1
        finite = self.edges.copy()
        for end, inner in ((0, 1), (-1, -2)):
            finite[end] = finite[end] if np.isfinite(finite[end]) else finite[inner]
        return np.interp(np.linspace(bins, 0, self.tp.size), np.arange(bins + 1), finite)

    def to(self, kind: str) -> PrivateCurve:
        """Return the other curve of the same release; it costs nothing."""
        return replace(self, kind=as_choice(kind, "kind", ("pr", "roc")))

    def at(self, x: Any) -> Any:
        """Precision at a recall, or true-positive rate at a false-positive rate."""
        places = np.asarray(x, dtype=np.float64)
        if not np.all((places >= 0.0) & (places <= 1.0)):
            raise InputError(f"x must be between 0 and 1, got {x!r}.")
        heights = _heights(self.tp, self.fp, self.kind, places)
        return float(heights) if np.ndim(x) == 0 else heights

    def area(self, *, estimator: str | None = None) -> float:
        """Area under the curve, by any estimator; it costs nothing more.

        Parameters
        ----------
        estimator : str, optional
            For a precision-recall curve a name in :data:`precall.ESTIMATORS` except
            ``binormal``, which needs raw scores; ``average_precision`` if left out. A ROC curve
            has one area.

        Returns
        -------
        float
        """
        return _area(self.tp, self.fp, self.kind, self._estimator(estimator))

    def area_interval(
        self,
        *,
        estimator: str | None = None,
        confidence_level: float = 0.95,
        of: str = "rows",
        n_resamples: int = 200,
        rng: object = None,
    ) -> Interval:
        """Interval for the area; it costs nothing: the data are not looked at.

        Parameters
        ----------
        estimator : str, optional
            As for :meth:`area`. Only ``average_precision`` and the area of a ROC curve have
            intervals of rows and populations.
        confidence_level : float, default 0.95
            Probability of covering.
        of : {"rows", "population", "noise"}
            "rows" covers the area of these rows: noise and binning, whatever the order of the rows
            within the bins. "population" covers the area of the population that they were drawn
            from: noise, binning and sampling, as for :meth:`PrivateValue.interval`. "noise" is
            narrower and promises nothing of the kind: noise is added once more to the reconstructed
            histogram, again and again, and what this does to the area is taken off.
        n_resamples, rng : optional
            For "noise".
        """
        level = as_fraction(confidence_level, "confidence_level")
        method = OF_CURVES[as_choice(of, "of", OF_CURVES)]
        name = self._estimator(estimator)
        here = _area(self.tp, self.fp, self.kind, name)
        if of == "noise":
            renoised = self._renoised(n_resamples, rng)
            again = [_area(tp, fp, self.kind, name) for tp, fp in renoised]
            low, high = map(float, _reflected(here, np.array(again), level))
        else:
            low, high = self._limits(name, 1.0 - level, sampling=of == "population")
        return Interval(
            low=low,
            high=high,
            estimate=min(max(here, low), high),
            confidence_level=level,
            method=method,
        )

    def area_deviation(self, *, n_resamples: int = 200, rng: object = None) -> float:
        """Standard deviation of the noise in the area, from adding noise again to what is here.

        Binning is not in it. It costs nothing: the data are not looked at.

        Parameters
        ----------
        n_resamples : int, default 200
            How often noise is added.
        rng : optional
            Seed or generator. It does not touch privacy.
        """
        name = self._estimator(None)
        again = [_area(tp, fp, self.kind, name) for tp, fp in self._renoised(n_resamples, rng)]
        return float(np.std(again, ddof=1))

    def _limits(self, estimator: str, error: float, *, sampling: bool) -> tuple[float, float]:
        """Limits of an area for noise and binning, and for sampling if asked for."""
        if estimator not in ("average_precision", "auroc"):
            raise InputError(
                f'estimator={estimator!r} has an interval for the noise only: pass of="noise", or '
                "use average_precision."
            )
        noise = NOISE_SHARE * error if sampling else error
        limits = count_limits(
            self.noisy_positives,
            self.noisy_negatives,
            n_rows=self.n_rows if self.neighbours == REPLACE else None,
            scale=self.scale,
            error=noise,
            terms=self.noises,
        )
        low, high = area_limits(limits, roc=self.kind == "roc")
        if not sampling:
            return low, high
        fewest = min(limits.fewest) if self.kind == "roc" else limits.fewest[0]
        return with_sampling(low, high, fewest / self.rows_per_person, error - noise)

    def band(
        self,
        *,
        at: Any = None,
        confidence_level: float = 0.95,
        n_resamples: int = 200,
        rng: object = None,
    ) -> Band:
        """Error bars at each point of the curve, for the noise only: binning is not in them.

        Parameters
        ----------
        at : array-like, optional
            Recalls (for a ROC curve, false-positive rates); from 0.05 to 0.95 if left out.
        confidence_level : float, default 0.95
            Of each point by itself.
        n_resamples : int, default 200
            How often noise is added again to the reconstructed histogram.
        rng : optional
            Seed or generator. It does not touch privacy: nothing here looks at the data.

        Returns
        -------
        Band
            Pointwise.
        """
        level = as_fraction(confidence_level, "confidence_level")
        grid = np.linspace(0.05, 0.95, 91) if at is None else np.asarray(at, dtype=np.float64)
        here = self.at(grid)
        again = [_heights(tp, fp, self.kind, grid) for tp, fp in self._renoised(n_resamples, rng)]
        low, high = _reflected(here, np.array(again), level)
        return Band(
            kind=self.kind,
            x=grid,
            low=low,
            y=here,
            high=high,
            confidence_level=level,
            method=OF_CURVES["noise"],
            simultaneous=False,
        )

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the curve with error bars for its noise, and return the Axes.

        It costs nothing. `style` goes to ``Axes.plot``.
        """
        from ..display.private_plots import plot_private_curve

        return plot_private_curve(self, ax, **style)

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"{type(self).__name__}({self.kind}, {self.edges.size - 1} bins, "
            f"area={self.area():.4g}, epsilon={self.epsilon:.6g}, delta={self.delta:.6g}, "
            f"mechanism={self.mechanism!r}{self._mark()})"
        )

    def _mark(self) -> str:
        """What the one-line form says of who is protected, and of the noise."""
        kind = "" if self.neighbours == REPLACE else f", neighbours={self.neighbours!r}"
        return kind + persons_mark(self.rows_per_person, self.n_persons) + mark(self.seeded)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers of what may be published."""
        x, y = ("recall", "precision") if self.kind == "pr" else ("false_positive_rate", "recall")
        names = ("edges", "noisy_positives", "noisy_negatives", "threshold", x, y)
        plain: dict[str, Any] = {name: getattr(self, name).tolist() for name in names}
        numbers = ("kind", "epsilon", "delta", "mechanism", "scale", "n_rows", "prevalence")
        others = ("seeded", "rows_per_person", "n_persons", "noises", "neighbours")
        public = {name: getattr(self, name) for name in (*numbers, *others)}
        return public | {"area": self.area()} | plain

    def _table(self) -> dict[str, FloatArray]:
        x, y = ("recall", "precision") if self.kind == "pr" else ("false_positive_rate", "recall")
        return {name: getattr(self, name) for name in ("threshold", x, y)}

    def _estimator(self, estimator: str | None) -> str:
        if self.kind == "roc":
            if estimator not in (None, "auroc"):
                raise InputError(
                    f"a ROC curve has one area: leave estimator out, got {estimator!r}."
                )
            return "auroc"
        if estimator in ESTIMATORS and ESTIMATORS[estimator].kernel is None:
            raise InputError(
                f"estimator={estimator!r} needs raw scores, which a private curve does not hold."
            )
        return estimator or "average_precision"

    def _reconstructed(self, ours: Any, theirs: Any) -> tuple[FloatArray, FloatArray]:
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
        known = self.neighbours == REPLACE
        return reconstruction.cumulated_counts(
            ours,
            theirs,
            n_rows=self.n_rows if known else estimated_rows(round(ours.sum() + theirs.sum())),
            variance=2.0 * self.scale * self.scale * self.noises,
        )

    def _renoised(self, n_resamples: int, rng: object) -> list[tuple[FloatArray, FloatArray]]:
        n_resamples = as_count(n_resamples, "n_resamples", minimum=2)
        noise = SeededNoise(as_generator(rng))
        tp, fp = self.corners
        fitted = np.concatenate([np.diff(tp), np.diff(fp)])
        bins = fitted.size // 2
        drawn = noise.laplace_sums(n_resamples * fitted.size, self.scale, self.noises)
        drawn = drawn.reshape(n_resamples, -1)
        return [
            reconstruction.path(*self._reconstructed(counts[:bins], counts[bins:]))
            for counts in fitted + drawn
        ]


def _heights(tp: FloatArray, fp: FloatArray, kind: str, places: FloatArray) -> FloatArray:
    if kind == "roc":
        return np.asarray(np.interp(places * fp[-1], fp, tp) / tp[-1])
    found = np.maximum(places * tp[-1], 1e-9 * tp[-1])
    return np.asarray(found / (found + _alarms(found, tp, fp)))


def _alarms(found: FloatArray, tp: FloatArray, fp: FloatArray) -> FloatArray:
    """False positives where so many positives are first found: bins without any come after."""
    return np.interp(-found, -tp[::-1], fp[::-1])


def _area(tp: FloatArray, fp: FloatArray, kind: str, estimator: str) -> float:
    if kind == "roc":
        return float(np.trapezoid(tp, fp) / (tp[-1] * fp[-1]))
    return aucpr(_ranking(tp, fp), estimator=estimator)


def _ranking(tp: FloatArray, fp: FloatArray) -> Ranking:
    """Positives at equal steps along the curve, with the negatives that lie between them."""
    n_pos = min(max(round(tp[-1]), 1), _MOST_POSITIVES)
    found = tp[-1] * np.arange(1, n_pos + 1) / n_pos
    alarms = _alarms(found, tp, fp)
    return Ranking(
        threshold=-np.arange(n_pos, dtype=np.float64),
        positives=np.full(n_pos, tp[-1] / n_pos),
        tied=np.zeros(n_pos),
        above=np.diff(alarms, prepend=0.0),
        below=float(fp[-1] - alarms[-1]),
    )


def _reflected(here: Any, again: Any, level: float) -> tuple[Any, Any]:
    """Basic bootstrap limits: what noise did to the reconstruction, taken off it."""
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(again, [tail, 1.0 - tail], axis=0)
    return np.clip(2 * here - high, 0.0, 1.0), np.clip(2 * here - low, 0.0, 1.0)
