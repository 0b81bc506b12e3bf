"""The measures that are shown, each with what the worst, a random and the best ranking have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..areas import (
    area_limits,
    aucnpr,
    aucpr,
    auprg,
    auroc,
    random_average_precision,
)
from ..curves import pr_curve
from ..exceptions import UndefinedMetricError
from ..inference.result import MetricInterval
from ..ranking import Ranking
from .results import Measure

_AP = "average_precision"


class _Kind(NamedTuple):
    """How a measure is named, computed and placed between its floor and its ceiling."""

    title: str
    estimate: Callable[[Ranking, float], float]
    options: Callable[[float], dict[str, Any]]
    floor: Callable[[Ranking, float], float | None]
    random: Callable[[Ranking, float], float | None]


def _floor(ranking: Ranking, _: float) -> float:
    return area_limits(ranking, _AP, (0.0, 1.0))[0]


def _random_area(ranking: Ranking, _: float) -> float:
    """Expected average precision of a random order; weights that are no counts: the prevalence."""
    if not ranking.divisible and ranking.n_pos + ranking.n_neg > 1:
        return random_average_precision(ranking.n_pos, ranking.n_neg)
    return ranking.prevalence


def _random_normalised(ranking: Ranking, recall: float) -> float:
    floor = _floor(ranking, recall)
    return (_random_area(ranking, recall) - floor) / (1.0 - floor)


def _worst_precision(ranking: Ranking, recall: float) -> float:
    pi = ranking.prevalence
    return pi * recall / (1.0 - pi + pi * recall)


MEASURES: dict[str, _Kind] = {
    "aucpr": _Kind(
        title="AUCPR",
        estimate=lambda ranking, _: aucpr(ranking),
        options=lambda _: {"metric": "aucpr"},
        floor=_floor,
        random=_random_area,
    ),
    "aucnpr": _Kind(
        title="AUCNPR",
        estimate=lambda ranking, _: aucnpr(ranking),
        options=lambda _: {"metric": "aucnpr"},
        floor=lambda ranking, _: 0.0,
        random=_random_normalised,
    ),
    "precision_at_recall": _Kind(
        title="precision at recall",
        estimate=lambda ranking, recall: float(pr_curve(ranking).at(recall)),
        options=lambda recall: {"metric": "precision_at_recall", "recall": recall},
        floor=_worst_precision,
        random=lambda ranking, _: ranking.prevalence,
    ),
    "auroc": _Kind(
        title="AUROC",
        estimate=lambda ranking, _: auroc(ranking),
        options=lambda _: {"metric": "auroc"},
        floor=lambda ranking, _: 0.0,
        random=lambda ranking, _: 0.5,
    ),
    "auprg": _Kind(
        title="AUPRG",
        estimate=lambda ranking, _: auprg(ranking),
        options=lambda _: {"metric": "auprg"},
        floor=lambda ranking, _: None,  # there is no lowest value
        random=lambda ranking, _: 0.0,
    ),
}
#: What is shown of every group.
GROUP_MEASURES = ("aucpr", "aucnpr")


def measure(
    name: str, ranking: Ranking, recall: float, interval: Callable[..., MetricInterval]
) -> Measure:
    """Compute a measure; with one class missing it has a convention's value and a note.

    Parameters
    ----------
    name : str
        A key of :data:`MEASURES`.
    ranking : Ranking
    recall : float
        For ``precision_at_recall``.
    interval : callable
        Returns the interval for the options of a measure.
    """
    kind = MEASURES[name]
    title = kind.title if name != "precision_at_recall" else f"{kind.title} {recall:g}"
    if not (ranking.n_pos and ranking.n_neg):
        return _one_class(name, title, kind, ranking, recall)
    found: MetricInterval | None = None
    note = ""
    try:
        found = interval(**kind.options(recall))
        estimate = found.estimate
    except UndefinedMetricError as error:
        estimate, note = kind.estimate(ranking, recall), f"no interval: {error}"
    return Measure(
        name=name,
        title=title,
        estimate=estimate,
        interval=found,
        floor=kind.floor(ranking, recall),
        random=kind.random(ranking, recall),
        ceiling=1.0,
        note=note,
    )


def _one_class(name: str, title: str, kind: _Kind, ranking: Ranking, recall: float) -> Measure:
    missing = "negatives" if ranking.n_pos else "positives"
    known = name in ("aucpr", "aucnpr")
    return Measure(
        name=name,
        title=title,
        estimate=kind.estimate(ranking, recall) if known else float("nan"),
        interval=None,
        floor=None,
        random=None,
        ceiling=1.0,
        note=f"there are no {missing}" + (", so this is a convention" if known else ""),
    )
