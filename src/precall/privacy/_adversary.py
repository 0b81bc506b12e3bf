"""What the adversary believes of a missing row, from numbers that were released."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ._candidates import STATISTICS, Known
from .mechanisms import Noisy
from .private_confusion import PrivateConfusion
from .values import PrivateValue

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
Release = PrivateValue | PrivateConfusion

#: Numbers that are released rounded, by the adversary's own formulas.
ROUNDED = {"auroc": Known.auroc, "average_precision": Known.average_precision}
# Log-likelihoods that differ by less are equal but for rounding.
_EQUAL = 1e-9


def value_of(everything: Known, metric: str) -> float:
    """A metric of all rows, by the adversary's own formulas: as if the last row had come last."""
    ours, theirs = everything.ours, everything.theirs
    place, rest = ours[:1], Known(everything.levels, ours[1:], theirs)
    return float(ROUNDED[metric](rest, place, True)[0])


def closest(known: Known, exact_values: dict[str, float], digits: int | None) -> float:
    """Probability with which the adversary says "positive": 1, 0, or 1/2 for a toss-up."""
    places = known.everywhere
    distances = []
    for positive in (True, False):
        furthest = np.zeros(places.size)
        for name, value in exact_values.items():
            candidates = _rounded(ROUNDED[name](known, places, positive), digits)
            released = value if digits is None else round(value, digits)
            furthest = np.maximum(furthest, np.abs(candidates - released))
        distances.append(furthest)
    closest = min(float(distance.min()) for distance in distances)
    # Doubles that stand for the same rational may differ in their last bits.
    votes = [np.count_nonzero(distance <= closest + 1e-13) for distance in distances]
    return 0.5 if votes[0] == votes[1] else float(votes[0] > votes[1])


def _rounded(values: FloatArray, digits: int | None) -> FloatArray:
    return values if digits is None else np.array([round(v, digits) for v in values.tolist()])


def likelier(known: Known, releases: Iterable[Release]) -> float:
    """The class under which all that was published is the likelier, averaged over its places."""
    numbers = [_published(release) for release in releases]
    ours, theirs = (
        _mean_log_likelihood(known, places, positive, numbers)
        for places, positive in ((known.ours, True), (known.theirs, False))
    )
    return 0.5 if abs(ours - theirs) <= _EQUAL else float(ours > theirs)


def _published(release: Release) -> tuple[str, float, tuple[Noisy, ...]]:
    """What a release is of, its threshold, and its noisy numbers."""
    if isinstance(release, PrivateConfusion):
        return "confusion", release.threshold, release.noisy
    if release.metric.name not in STATISTICS or release.mechanism != "rescaled":
        raise InputError(
            "released must be private releases of the AUROC or the average precision by the "
            "default mechanism, or confusion matrices: there is no attack on the others."
        )
    return release.metric.name, math.nan, release.noisy


def _mean_log_likelihood(
    known: Known,
    places: Array,
    positive: bool,
    numbers: list[tuple[str, float, tuple[Noisy, ...]]],
) -> float:
    """Of Laplace noise, but for a constant: the scale of the noise does not depend on the row.

    That of noise that adds up to 0 is the same, given that it does.
    """
    total = np.zeros(places.size)
    for name, threshold, noisy in numbers:
        candidates = STATISTICS[name](known, places, positive, threshold)
        for number, statistic in zip(noisy, candidates, strict=True):
            released = np.floor(statistic / number.grid) * number.grid
            total -= np.abs(number.value - released) / number.scale
    return float(np.logaddexp.reduce(total) - math.log(places.size))
