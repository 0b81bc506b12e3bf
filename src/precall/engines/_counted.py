"""The counts of a table between the distinct scores of its positives, made by the database.

Every distinct score is a row with its positives and negatives; those with positives, and those that
were asked for, are thresholds. A row belongs to the threshold under it or at it: their number is
how many thresholds lie strictly above, which one window function says. What lies under the last
threshold has a number of its own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ..ranking import Cells, Moments, Ranking, counting
from ..ranking.grouping import as_group_labels
from ..ranking.ranking_set import RankingSet
from ._statements import Bound, Statement
from ._table import Table, TableSurvey

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]

# From here on every double is a whole number.
_ALL_WHOLE = 2**52
_WEIGHT_SUMS = ("weight_coarse", "weight_fine", "square_coarse", "square_fine")


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The rows that came back, by group (a number) and place, highest first."""

    table: Table
    survey: TableSurvey
    labels: list[Any]
    group: IntArray
    real: npt.NDArray[np.bool_]
    threshold: Array
    positives: dict[str, Array]
    tied: dict[str, Array]
    above: dict[str, Array]

    @classmethod
    def of(cls, table: Table, survey: TableSurvey, kept: Array) -> Counted:
        """Let the database count; `kept` are thresholds that need no positive."""
        ours, theirs = _measures(table)
        columns = table.database.columns(_query(table, survey, kept))
        labels: list[Any] = [None]
        group = np.zeros(len(columns[0]), dtype=np.int64)
        if roles := table.request.group_roles:
            parts = [[table.value(role, each) for each in columns.pop(0)] for role in roles]
            named = parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
            labels = list(dict.fromkeys(named))
            with suppress(TypeError):  # labels of different kinds have no order
                labels.sort(key=_missing_last)
            number = {label: place for place, label in enumerate(labels)}
            group = np.fromiter(map(number.__getitem__, named), dtype=np.int64, count=len(named))
        place, real, threshold, *sums = columns
        order = np.lexsort((np.array(place, dtype=np.int64), group))
        counts = [np.array(each, dtype=np.int64)[order] for each in sums]
        ends = len(ours), len(ours) + len(theirs)
        counted = cls(
            table=table,
            survey=survey,
            labels=labels,
            group=group[order],
            real=np.array(real, dtype=np.int64)[order] > 0,
            threshold=np.array(threshold, dtype=table.dtype)[order],
            positives=dict(zip(ours, counts[: ends[0]], strict=True)),
            tied=dict(zip(theirs, counts[ends[0] : ends[1]], strict=True)),
            above=dict(zip(theirs, counts[ends[1] :], strict=True)),
        )
        counted._check()
        return counted

    def _check(self) -> None:
        """Every row once: those that the survey saw."""
        found = [
            int(self.positives["rows"].sum()),
            int(self.tied["rows"].sum()) + int(self.above["rows"].sum()),
        ]
        seen = list(self.survey.by_class("used"))
        if found != seen:
            raise InputError(
                f"the table had {seen[0]} positives and {seen[1]} negatives, and {found[0]} and "
                f"{found[1]} when they were counted: it changed in between; rank it in a "
                "transaction (in PostgreSQL of REPEATABLE READ), or copy it first."
            )

    def _cells(self, kind: str) -> Cells:
        """The cells of one kind: rows, weights or squares."""
        ours, tied, above = (
            self._sums(counts, kind, place)
            for place, counts in ((0, self.positives), (1, self.tied), (1, self.above))
        )
        below = np.zeros(len(self.labels), dtype=above.dtype)
        below[self.group[~self.real]] = above[~self.real]
        return Cells(ours[self.real], tied[self.real], above[self.real], below)

    def _sums(self, counts: dict[str, Array], kind: str, place: int) -> Array:
        if kind == "rows":
            return counts[kind]
        coarse, fine = _units(self.table, self.survey, kind)[place]
        sums: Array = counts[f"{kind}_coarse"] * coarse
        sums += counts[f"{kind}_fine"] * fine
        return sums

    @property
    def _all_cells(self) -> tuple[Cells, Cells | None, Cells | None]:
        """Weights, squares and rows; the counts alone without weights."""
        rows = self._cells("rows")
        if self.table.request.weight is None:
            return rows, None, None
        return self._cells("weight"), self._cells("square"), rows

    def _divisible(self) -> npt.NDArray[np.bool_]:
        parts = self.positives.get("parts")
        if parts is None:
            return np.zeros(len(self.labels), dtype=np.bool_)
        return np.bincount(self.group, weights=parts, minlength=len(self.labels)) > 0

    def ranking(self, moments: Any) -> Ranking:
        """Return the one ranking; `moments` makes them from the total weights of the classes."""
        all_cells, squares, rows = self._all_cells
        cells = _of_one(all_cells)
        negatives = float(np.sum(cells.tied) + np.sum(cells.above)) + cells.below
        found: Moments | None = moments(self.survey, (float(np.sum(cells.positives)), negatives))
        return Ranking(
            threshold=counting.one_zero(self.threshold[self.real]),
            **cells._asdict(),
            squares=squares and _of_one(squares),
            rows=rows and _of_one(rows),
            moments=found,
            divisible=bool(self._divisible()[0]),
        )

    def ranking_set(self) -> RankingSet:
        """Return the rankings of all groups."""
        cells, squares, rows = self._all_cells
        sizes = np.bincount(self.group[self.real], minlength=len(self.labels))
        return RankingSet(
            labels=as_group_labels(self.labels),
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            threshold=counting.one_zero(self.threshold[self.real]),
            cells=cells,
            squares=squares,
            rows=rows,
            divisible=self._divisible(),
        )


def _missing_last(label: Any) -> tuple[Any, ...]:
    """A key that orders labels, or tuples of them, those that are missing last."""
    parts = label if isinstance(label, tuple) else (label,)
    return tuple((part is None, 0 if part is None else part) for part in parts)


def _of_one(cells: Cells) -> Cells:
    """The cells of the one group, whose rows below everything are a number."""
    return cells._replace(below=cells.below[0].item())


def _measures(table: Table) -> tuple[list[str], list[str]]:
    """What is added up: for positives, and for negatives."""
    if table.request.weight is None:
        return ["rows"], ["rows"]
    return ["rows", "parts", *_WEIGHT_SUMS], ["rows", *_WEIGHT_SUMS]


def _units(table: Table, survey: TableSurvey, kind: str) -> list[tuple[float, float]]:
    """The units that weights, or their squares, are whole numbers of, in either class.

    They are those of the same rows in memory: one class at a time, or all rows of all groups.
    """
    classes = survey.positives, survey.negatives
    found = []
    for facts in classes:
        largest = facts.largest * facts.largest if kind == "square" else facts.largest
        size = facts.used if table.request.group is None else sum(each.used for each in classes)
        found.append(counting.units(largest, max(size, 1)))
    return found


def _query(table: Table, survey: TableSurvey, kept: Array) -> Statement:
    """One row per threshold and group, and one for what lies under the last."""
    ours, theirs = _measures(table)
    names = ", ".join(table.group_names)
    group = f"{names}, " if names else ""
    over = f"PARTITION BY {names} ORDER BY s DESC" if names else "ORDER BY s DESC"
    integer = table.database.dialect.integer
    score_type = table.database.dialect.number_type(table.kinds["score"])
    listed = [*(f"p_{name}" for name in ours), *(f"n_{name}" for name in theirs)]
    rows = _measured(table, survey, group)
    if kept.size:
        zeros = ", ".join("0" for _ in listed)
        added = Statement.listed(
            Statement.compose(f"(CAST({{t}} AS {score_type}), 1, {zeros})", t=Bound(value))
            for value in kept.tolist()
        )
        # In every group, if there are groups.
        place, joined = "*", "{rows} UNION ALL SELECT {place} FROM (VALUES {added}) AS kept"
        if names:
            place = ", ".join(f"levels.{name}" for name in table.group_names) + ", kept.*"
            joined += f" CROSS JOIN (SELECT DISTINCT {names} FROM ({{rows}}) AS again) AS levels"
        rows = Statement.compose(joined, rows=rows, added=added, place=Statement((place,)))
    summed = ", ".join(f"CAST(SUM({name}) AS {integer}) AS {name}" for name in listed)
    columns = [f"SUM(p_{name})" for name in ours]
    for condition in ("m = 1", "m = 0"):
        columns += [f"SUM(CASE WHEN {condition} THEN n_{name} ELSE 0 END)" for name in theirs]
    selected = ", ".join(
        f"CAST({column} AS {integer}) AS sum_{number}" for number, column in enumerate(columns)
    )
    return Statement.compose(
        f"SELECT {group}place, MAX(m) AS is_real, "
        f"COALESCE(MAX(CASE WHEN m = 1 THEN s END), CAST(0 AS {score_type})) AS t, {selected} "
        "FROM ("
        f"SELECT {group}s, m, {', '.join(listed)}, COALESCE(SUM(m) OVER ({over} "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS place FROM ("
        f"SELECT {group}s, MAX(m) AS m, {summed} FROM ({{rows}}) AS measured GROUP BY {group}s"
        f") AS tallied) AS placed GROUP BY {group}place",
        rows=rows,
    )


def _measured(table: Table, survey: TableSurvey, group: str) -> Statement:
    """Every row with its score, whether it makes a threshold, and its part of each sum."""
    rows = table.classified(survey)
    if table.request.weight is None:
        return Statement.compose(
            f"SELECT {group}s, c AS m, c AS p_rows, 1 - c AS n_rows FROM ({{rows}}) AS classified",
            rows=rows,
        )
    dialect = table.database.dialect
    units = {
        f"{kind}_{name}": table.of_class(*(pair[place] for pair in _units(table, survey, kind)))
        for kind in ("weight", "square")
        for place, name in enumerate(("coarse", "fine"))
    }
    nearest = {
        name: Statement.compose(dialect.nearest, x=Statement((name,))) for name in ("w", "x", "z")
    }
    carried = f"{group}s, c, w, q"
    coarse = Statement.compose(
        f"SELECT {carried}, {{x}} AS weight_coarse, {{z}} AS square_coarse FROM ("
        f"SELECT {carried}, {{weight}} AS x, {{square}} AS z FROM ("
        f"SELECT {group}s, c, w, w * w AS q FROM ({{rows}}) AS classified) AS squared) AS scaled",
        x=nearest["x"],
        z=nearest["z"],
        weight=_in_units("w", units["weight_coarse"]),
        square=_in_units("q", units["square_coarse"]),
        rows=rows,
    )
    fine = Statement.compose(
        f"SELECT {carried}, weight_coarse, square_coarse, {{x}} AS weight_fine, "
        f"{{z}} AS square_fine FROM (SELECT {carried}, weight_coarse, square_coarse, "
        f"{{weight}} AS x, {{square}} AS z FROM (SELECT {carried}, weight_coarse, square_coarse, "
        "w - weight_coarse * {weight_unit} AS e, q - square_coarse * {square_unit} AS f "
        "FROM ({coarse}) AS whole) AS rest) AS scaled_rest",
        x=nearest["x"],
        z=nearest["z"],
        weight=_in_units("e", units["weight_fine"]),
        square=_in_units("f", units["square_fine"]),
        weight_unit=units["weight_coarse"],
        square_unit=units["square_coarse"],
        coarse=coarse,
    )
    whole = [f"CAST({name} AS {dialect.integer})" for name in _WEIGHT_SUMS]
    ours = [f"p * {term} AS p_{name}" for name, term in zip(_WEIGHT_SUMS, whole, strict=True)]
    theirs = [f"n * {term} AS n_{name}" for name, term in zip(_WEIGHT_SUMS, whole, strict=True)]
    return Statement.compose(
        f"SELECT {group}s, p AS m, p AS p_rows, "
        f"CASE WHEN w < {_ALL_WHOLE} AND w <> {{w}} THEN p ELSE 0 END AS p_parts, "
        f"{', '.join(ours)}, n AS n_rows, {', '.join(theirs)} FROM ("
        f"SELECT {group}s, w, {', '.join(_WEIGHT_SUMS)}, CASE WHEN w > 0 THEN c ELSE 0 END AS p, "
        "CASE WHEN w > 0 THEN 1 - c ELSE 0 END AS n FROM ({fine}) AS parted) AS used",
        w=nearest["w"],
        fine=fine,
    )


def _in_units(name: str, unit: Statement) -> Statement:
    """A number in units of its class; what rounds to none of them is zero.

    PostgreSQL refuses a quotient that vanishes.
    """
    return Statement.compose(
        f"CASE WHEN {name} > 0.25 * {{unit}} OR {name} < -0.25 * {{unit}} "
        f"THEN {name} / {{unit}} ELSE 0 END",
        unit=unit,
    )
