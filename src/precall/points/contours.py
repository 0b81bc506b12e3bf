"""Contours: lines of equal F-measure in precision-recall space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from ..exceptions import InputError
from ..metrics.four_counts import recall_share

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Contour(Rich):
    """A line of equal F-measure in precision-recall space.

    Attributes
    ----------
    value, beta : float
        The F-measure on the line and its beta.
    prevalence : float or None
        Given for the modified F-measure.
    recall, precision : array
        Points of the line, recall ascending.
    """

    value: float
    beta: float
    prevalence: float | None
    recall: FloatArray
    precision: FloatArray

    def __repr__(self) -> str:
        """Return one line."""
        kind = "" if self.prevalence is None else f", modified at prevalence {self.prevalence:g}"
        return f"Contour(F{self.beta:g} = {self.value:g}{kind}, {self.recall.size} points)"

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists."""
        return {
            "value": self.value,
            "beta": self.beta,
            "prevalence": self.prevalence,
            "recall": self.recall.tolist(),
            "precision": self.precision.tolist(),
        }

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the line in precision-recall space, and return the Axes.

        `style` goes to ``Axes.plot``.
        """
        from ..display.mpl import plot_contour

        return plot_contour(self, ax, **style)

    def _table(self) -> dict[str, Any]:
        return {"recall": self.recall, "precision": self.precision}


def iso_f_contours(
    values: Sequence[float] = (0.2, 0.4, 0.6, 0.8),
    *,
    beta: float = 1.0,
    prevalence: float | None = None,
    n_points: int = 101,
) -> tuple[Contour, ...]:
    """Return lines of equal F-measure, as data for a plot.

    Parameters
    ----------
    values : sequence of float
        F-measures strictly between 0 and 1.
    beta : float, default 1
        Above zero and finite.
    prevalence : float, optional
        Give it for the modified F-measure, which depends on it.
    n_points : int, default 101
        Points per line, from where precision reaches 1 to recall 1.

    Examples
    --------
    >>> import precall as pr
    >>> contour = pr.iso_f_contours([0.5], n_points=3)[0]
    >>> contour.recall.round(6), contour.precision.round(6)
    (array([0.333333, 0.666667, 1.      ]), array([1.      , 0.4     , 0.333333]))
    """
    share = recall_share(beta)
    if not 0.0 < share < 1.0:
        raise InputError(f"beta must be above zero and finite for contours, got {beta!r}.")
    floor = 0.0 if prevalence is None else _validation.as_fraction(prevalence, "prevalence")
    count = _validation.as_count(n_points, "n_points", minimum=2)
    contours = []
    for given in _validation.as_vector(values, "values").tolist():
        value = _validation.as_fraction(given, "values")
        recall = np.linspace(share * value / (1.0 - value + share * value), 1.0, count)
        # 1/F = share/r + (1 - share)/p, solved for p; the line starts where p is 1
        after = recall[1:]
        height = np.append(1.0, (1.0 - share) * value * after / (after - share * value))
        precision = floor + (1.0 - floor) * np.minimum(height, 1.0)
        contours.append(
            Contour(
                value=value,
                beta=float(beta),
                prevalence=prevalence,
                recall=recall,
                precision=precision,
            )
        )
    return tuple(contours)
