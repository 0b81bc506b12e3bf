"""Precision at a recall, from curves drawn as the fiducial band draws them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...exceptions import InputError
from .rule import Case, Rule

# Bands are loaded where they are asked for: few intervals draw curves.
if TYPE_CHECKING:
    from ..bands.fiducial import Rates
    from ..bands.request import BandRequest

# Curves are drawn at two points at least; the first says nothing here.
_BELOW = 0.5


@dataclass(frozen=True, kw_only=True)
class DrawnCurves:
    """Curves that were drawn, at one recall."""

    request: BandRequest
    curves: Rates = field(repr=False)

    @property
    def error(self) -> float:
        """Half of what an interval of plus and minus one has."""
        low, high = self.limits(math.erf(math.sqrt(0.5)))
        return float(high - low) / 2.0

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return equal tails."""
        from ..bands.fiducial_limits import tails_of

        found = tails_of(replace(self.request, confidence_level=confidence_level), self.curves)
        return float(found.low[-1]), float(found.high[-1])


@dataclass(frozen=True, kw_only=True)
class Fiducial(Rule):
    """Equal tails of the fiducial distribution at one recall."""

    def evidence(self, case: Case) -> DrawnCurves:
        """Draw the curves."""
        from ..bands.fiducial_limits import draw_curves
        from ..bands.request import make_request

        recall = case.metric.recall  # type: ignore[attr-defined]
        if recall == 1.0:
            raise InputError(
                "recall must be below 1 for method='fiducial': use the default method."
            )
        request = make_request(
            case.ranking,
            kind="pr",
            confidence_level=_BELOW,
            span=(_BELOW * recall, recall),
            span_name="recall",
            n_points=2,
            n_resamples=case.n_resamples,
            varying=case.varying,
            rng=case.rng,
        )
        return DrawnCurves(request=request, curves=draw_curves(request))


FIDUCIAL = Fiducial(
    key="fiducial",
    name="fiducial",
    summary="equal tails of curves drawn from the pivotal distributions of the order statistics",
    source="this library",
    caution="1,000 draws leave the third digit of a limit to chance: draw 10,000",
)
