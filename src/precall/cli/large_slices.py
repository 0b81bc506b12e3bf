"""Slices of files that are read in pieces, and of tables that a database counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..evaluation.quiet import quietly
from ..exceptions import InputError
from ..groups.levels import MOST_LEVELS, MOST_VALUES
from ..groups.slices_of_rankings import slices_of_rankings
from ..groups.slices_result import Slices
from ..metrics import Metric
from ..readers.sources import File
from .databases import ranked_in_database
from .inputs import FileRequest, groups_by_pieces, in_pieces, ranked_by_pieces
from .terminal import shown


def slices_by_pieces(
    files: list[File], request: FileRequest, metric: Metric, *, depth: int, min_positives: int
) -> list[Slices]:
    """Cut a file that is read in pieces, by one column after the other."""
    by = request.roles.by
    if request.roles.cluster is not None:
        raise _needs_rows("--cluster", "--cluster")
    _refuse_crossings(by, depth, "this file is larger than --memory: raise --memory")
    with quietly(), in_pieces(files, request) as paths:
        without = request._replace(roles=replace(request.roles, by=()))
        rankings = ranked_by_pieces(paths, without)
        groups = {column: groups_by_pieces(paths, without, column, rankings) for column in by}
    return _sliced(request, metric, rankings, groups, depth, min_positives)


def slices_in_database(
    source: str, request: FileRequest, metric: Metric, *, depth: int, min_positives: int
) -> list[Slices]:
    """Cut a table that a database counts, by one column after the other."""
    by = request.roles.by
    _refuse_crossings(by, depth, "this table is in a database: write its columns to a file")
    rankings: dict[str, Any] = {}
    groups = {}
    with quietly():
        for column in by:
            roles = replace(request.roles, by=(), group=column)
            rankings, found = ranked_in_database(source, request.table, roles)
            groups[column] = found or {}
    return _sliced(request, metric, rankings, groups, depth, min_positives)


def _sliced(
    request: FileRequest,
    metric: Metric,
    rankings: dict[str, Any],
    groups: dict[str, dict[str, Any]],
    depth: int,
    min_positives: int,
) -> list[Slices]:
    for column, sets in groups.items():
        _refuse_numbers(column, next(iter(sets.values())).labels.tolist())
    return [
        slices_of_rankings(
            ranking,
            {column: sets[model] for column, sets in groups.items()},
            metric,
            model=model,
            prevalence=request.prevalence,
            min_positives=min_positives,
            confidence_level=request.level,
            depth=depth,
        )
        for model, ranking in rankings.items()
    ]


def _refuse_crossings(by: tuple[str, ...], depth: int, why: str) -> None:
    if len(by) > 1 and depth > 1:
        raise InputError(
            f"columns are crossed with all rows in memory, and {why}, or give --depth 1."
        )


def _needs_rows(what: str, left_out: str) -> InputError:
    return InputError(
        f"{what} needs all rows in memory, and this file is larger than --memory: raise --memory "
        f"or leave {left_out} out."
    )


def _refuse_numbers(column: str, labels: list[str]) -> None:
    """Refuse what would be cut at quantiles in memory, and more levels than there."""
    if len(labels) > MOST_VALUES and all(map(_is_number_or_date, labels)):
        raise InputError(
            f"column {shown(column)} has {len(labels):,} numbers or dates, which are cut into "
            "parts with all rows in memory: raise --memory, or write the parts into a column."
        )
    if len(labels) > MOST_LEVELS:
        raise InputError(
            f"column {shown(column)} has {len(labels):,} levels, more than {MOST_LEVELS:,}: merge "
            "the rare ones."
        )


def _is_number_or_date(label: str) -> bool:
    if label == "(missing)":
        return True
    try:
        float(label)
    except ValueError:
        try:
            np.datetime64(label.strip())
        except ValueError:
            return False
    return True
