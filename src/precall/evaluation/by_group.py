"""Groups of rows: each ranked and measured by itself, and against the others as slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _validation
from ..ranking import Ranking
from ..ranking.grouping import as_group_labels, factorise
from ..ranking.ranking_set import RankingSet
from ..rows import Rows
from . import wording
from .measures import GROUP_METRICS, intervals_of, measure
from .model_result import Measure
from .prevalences import elsewhere
from .quiet import quietly
from .results import GroupEvaluation
from .settings import Settings

# Slices are loaded where they are asked for: starting takes longer than evaluating a small file.
if TYPE_CHECKING:
    from ..groups.slices_result import Slices

_MOST_GROUPS = 200


def group_sets(rows: Rows, groups: object) -> list[RankingSet]:
    """Return every model ranked group by group."""
    if groups is None:
        return []
    from ..groups.ranking_by_group import groups_in_order

    labels, code = _coded(rows, groups)
    return [groups_in_order(rows, name, code, labels).rankings for name in rows.names]


def group_slices(
    rows: Rows, groups: object, names: Mapping[Any, str] | None, settings: Settings
) -> tuple[Slices, ...]:
    """Every model's slices by group; of very many groups, those with most positives."""
    from ..groups.slices import slices_by_group

    labels, code = _coded(rows, groups)
    shown = _shown(np.bincount(code[rows.positive], minlength=labels.size))
    place = np.full(labels.size, len(shown))
    place[shown] = np.arange(len(shown))
    listed = labels.tolist()
    return tuple(
        slices_by_group(
            rows,
            groups if isinstance(groups, str) else "group",
            _group_names([listed[i] for i in shown], names),
            place[code],
            model=model,
            prevalence=settings.prevalence,
            confidence_level=settings.confidence_level,
        )
        for model in rows.names
    )


def group_slices_of_sets(
    rankings: Mapping[str, Ranking], groups: Mapping[str, RankingSet], settings: Settings
) -> tuple[Slices, ...]:
    """Return every model's slices by group, from its rankings."""
    from ..groups.slices_of_rankings import slices_of_rankings

    shown = np.array(_shown(groups[next(iter(rankings))].n_pos))
    return tuple(
        slices_of_rankings(
            ranking,
            {"group": groups[name]},
            model=name,
            prevalence=settings.prevalence,
            confidence_level=settings.confidence_level,
            shown=shown,
        )
        for name, ranking in rankings.items()
    )


def group_evaluations(
    per_group: list[RankingSet], names: Mapping[Any, str] | None, settings: Settings
) -> tuple[tuple[GroupEvaluation, ...], int]:
    """Return what is shown of each group, and the number of groups that are left out."""
    if not per_group:
        return (), 0
    labels = per_group[0].labels.tolist()
    shown = _shown(per_group[0].n_pos)
    group_names = _group_names([labels[i] for i in shown], names)
    titles = wording.clean_names(group_names)
    found = [
        _group(group_names[k], titles[k], [rankings[i] for rankings in per_group], settings)
        for k, i in enumerate(shown)
    ]
    return tuple(found), len(labels) - len(found)


def _coded(rows: Rows, groups: object) -> tuple[Any, Any]:
    """Return the distinct groups, and the place of each row's group among them."""
    column = rows.column(groups) if isinstance(groups, str) else rows.aligned(groups, "groups")
    labels, code = factorise(as_group_labels(column))
    _validation.reject_missing(labels, "groups")
    return labels, code


def _shown(n_pos: Any) -> list[int]:
    """Which groups are shown: all, or those with most positives, in their order."""
    shown: list[int] = np.argsort(-n_pos, kind="stable")[:_MOST_GROUPS].tolist()
    return sorted(shown)


def _group_names(labels: list[Any], names: Mapping[Any, str] | None) -> list[str]:
    return [str(names[label] if names else label) for label in labels]


def _group(name: str, title: str, rankings: list[Ranking], settings: Settings) -> GroupEvaluation:
    first = rankings[0]
    total = first.n_pos + first.n_neg
    with quietly():
        measures: tuple[dict[str, Measure], ...] = tuple(
            {
                metric.name: measure(
                    metric,
                    elsewhere(ranking, settings.prevalence),
                    intervals_of(ranking, settings),
                )
                for metric in GROUP_METRICS
            }
            for ranking in rankings
        )
    return GroupEvaluation(
        name=name,
        title=title,
        n_pos=first.n_pos,
        n_neg=first.n_neg,
        prevalence=float(first.n_pos / total) if total else float("nan"),
        measures=measures,
    )
