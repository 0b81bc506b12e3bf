"""Slices of files that are read in pieces, and of tables that a database counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..evaluation.quiet import quietly
from ..exceptions import InputError
from ..groups.levels import MOST_LEVELS, MOST_VALUES, crossings_of, require_few_slices
from ..groups.slices_of_rankings import slices_of_rankings
from ..groups.slices_result import Slices
from ..metrics import Metric
from ..ranking.grouping import as_group_labels
from ..ranking.ranking_set import RankingSet
from ..readers.names import crossed_names, crossing
from ..readers.sources import File
from .databases import counted_in_database
from .inputs import FileRequest, groups_by_pieces, in_pieces, ranked_by_pieces
from .lines import shown

# Rankings by model, for each column and crossing.
Groups = dict[tuple[str, ...], dict[str, Any]]


def slices_by_pieces(
    files: list[File], request: FileRequest, metric: Metric, *, depth: int, min_positives: int
) -> list[Slices]:
    """Cut a file that is read in pieces, by one column or crossing after the other."""
    if request.roles.cluster is not None:
        raise _needs_rows("--cluster", "--cluster")
    cuts = crossings_of(request.roles.by, depth)
    crossed = tuple(columns for columns in cuts if len(columns) > 1)
    with quietly(), in_pieces(files, request._replace(crossings=crossed)) as paths:
        without = request._replace(roles=replace(request.roles, by=()))
        for column in request.roles.by:
            _refuse_names(column, _first_names(paths, column))
        rankings = ranked_by_pieces(paths, without)
        groups: Groups = {}
        for columns in cuts:
            group = columns[0] if len(columns) == 1 else crossing(columns)
            found = groups_by_pieces(paths, without, group, rankings)
            if len(columns) > 1:
                found = {model: _parted(sets) for model, sets in found.items()}
            groups[columns] = found
            _refuse_many(groups)
    return _sliced(request, metric, rankings, groups, depth, min_positives)


def _first_names(paths: list[str], column: str) -> set[str]:
    """The distinct names of a column, at least one more than is allowed if there are more."""
    import pyarrow.parquet as parquet

    names: set[str] = set()
    for path in paths:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=[column]):
                names.update(batch.column(0).unique().to_pylist())
                if len(names) > MOST_LEVELS:
                    return names
    return names


def _parted(rankings: RankingSet) -> RankingSet:
    labels = [crossed_names(name) for name in rankings.labels.tolist()]
    return replace(rankings, labels=as_group_labels(labels))


def slices_in_database(
    source: str, request: FileRequest, metric: Metric, *, depth: int, min_positives: int
) -> list[Slices]:
    """Cut a table that a database counts, by one column or crossing after the other."""
    groups: Groups = {}
    with quietly(), counted_in_database(source, request.table, request.roles) as counted:
        rankings = counted.rankings()
        for columns in crossings_of(request.roles.by, depth):
            _refuse_levels(columns, counted.levels(columns))
            groups[columns] = counted.groups(columns, rankings)
            _refuse_many(groups)
    return _sliced(request, metric, rankings, groups, depth, min_positives)


def _sliced(
    request: FileRequest,
    metric: Metric,
    rankings: dict[str, Any],
    groups: Groups,
    depth: int,
    min_positives: int,
) -> list[Slices]:
    return [
        slices_of_rankings(
            ranking,
            {columns: sets[model] for columns, sets in groups.items()},
            metric,
            model=model,
            prevalence=request.prevalence,
            min_positives=min_positives,
            confidence_level=request.level,
            depth=depth,
        )
        for model, ranking in rankings.items()
    ]


def _needs_rows(what: str, left_out: str) -> InputError:
    return InputError(
        f"{what} needs all rows in memory, and this file is larger than --memory: raise --memory "
        f"or leave {left_out} out."
    )


def _refuse_many(groups: Groups) -> None:
    """Refuse more slices than in memory, and what would be cut at quantiles there."""
    counts = {columns: len(next(iter(sets.values()))) for columns, sets in groups.items()}
    columns, sets = list(groups.items())[-1]
    require_few_slices(sum(counts.values()), counts[columns], columns)
    if len(columns) == 1:
        _refuse_names(columns[0], set(next(iter(sets.values())).labels.tolist()))


def _refuse_names(column: str, names: set[str]) -> None:
    if len(names) > MOST_VALUES and all(map(_is_number_or_date, names)):
        raise InputError(
            f"column {shown(column)} has over {MOST_VALUES} numbers or dates, which are cut into "
            "parts with all rows in memory: raise --memory, or write the parts into a column."
        )
    _refuse_levels((column,), len(names))


def _refuse_levels(columns: tuple[str, ...], count: int) -> None:
    """Refuse more levels than in memory, and more crossings than slices there."""
    if len(columns) > 1:
        require_few_slices(count, count, columns)
    elif count > MOST_LEVELS:
        raise InputError(
            f"column {shown(columns[0])} has over {MOST_LEVELS:,} levels: slices need levels with "
            "many rows each. Merge the rare ones, and write parts of numbers or dates into a "
            "column."
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
