"""A table of a database: its columns as the counting needs them, and what is in them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._options import EXACT_INTEGERS
from .._validation import WEIGHTS, is_missing
from .._words import plural
from ..exceptions import InputError
from ..ranking import Moments
from ._columns import Request
from ._database import Database
from ._dialects import SCORE_TYPES
from ._statements import Bound, Statement, quoted
from ._survey import MOST_LABELS, Found, Survey

_QUERY = re.compile(r"\s*(?:select|with|values|from)[\s(]", re.IGNORECASE)
# Deviations under this share of the range, and weights under this share of the largest, are zero:
# they round to nothing anyway, and PostgreSQL refuses products that vanish.
_NEGLIGIBLE = 1e-50


@dataclass(frozen=True, kw_only=True)
class ClassFacts:
    """What has to be known of a class before it is counted: its rows of positive weight."""

    used: int = 0
    largest: float = 1.0
    low: float = math.nan
    high: float = math.nan

    def __add__(self, other: ClassFacts) -> ClassFacts:
        """Facts of a class that has several labels."""
        if not (self.used and other.used):
            return self if self.used else other
        return ClassFacts(
            used=self.used + other.used,
            largest=max(self.largest, other.largest),
            low=min(self.low, other.low),
            high=max(self.high, other.high),
        )

    @property
    def range(self) -> float:
        """Highest less lowest score; NaN or infinite where there is no such thing."""
        return float(self.high) - float(self.low)


@dataclass(frozen=True, kw_only=True)
class TableSurvey:
    """What a table holds: the label of positives as the database has it, and both classes."""

    positive: Any
    has_positive: bool
    positives: ClassFacts
    negatives: ClassFacts

    def by_class(self, name: str) -> tuple[Any, Any]:
        """Return one fact of positives and negatives."""
        return getattr(self.positives, name), getattr(self.negatives, name)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Where the rows are, and every column asked for as an expression of known kind."""

    database: Database
    request: Request
    source: Statement
    kinds: dict[str, str]

    @classmethod
    def of(cls, database: Database, table_or_query: object, request: Request) -> Table:
        """Look at the names and types of the columns."""
        source = _source(database, table_or_query)
        names = database.names(
            Statement.compose("SELECT * FROM {source} AS source WHERE 1 = 0", source=source)
        )
        request.check(names)
        if database.dialect.folds_case:
            _require_one_case(request, names)
        table = cls(database=database, request=request, source=source, kinds={})
        table.kinds.update(table._found_kinds())
        return table

    def _found_kinds(self) -> dict[str, str]:
        dialect = self.database.dialect
        asked = Statement.listed(
            Statement.compose(dialect.type_of, x=quoted(name))
            for name in self.request.columns.values()
        )
        template = "SELECT DISTINCT {types} FROM {source} AS source"
        if not dialect.each_row:
            template = "SELECT {types} FROM {source} AS source LIMIT 1"
        rows = self.database.rows(Statement.compose(template, types=asked, source=self.source))
        if not rows:
            Survey(self.request).judge()  # no rows
        found = {}
        for role, types_of in zip(self.request.columns, zip(*rows, strict=True), strict=True):
            types = {str(name) for name in types_of} - {"null"}
            shown = ", ".join(sorted(types))
            kind = found[role] = dialect.kind(types)
            if role in ("score", "weight") and kind not in SCORE_TYPES:
                raise InputError(
                    f"{self.request.shown(role)} must hold real numbers, got {shown}: cast the "
                    "column in a query."
                )
            if role == "score" and len(types) > 1:
                self._refuse_large()
            if role == "label" and kind == "other":
                raise InputError(
                    f"{self.request.shown(role)} must hold labels (numbers, booleans or strings), "
                    f"got {shown}: cast the column in a query."
                )
        return found

    def _refuse_large(self) -> None:
        """Refuse integers among floats that no float can hold, as :func:`precall.rank` does."""
        template = (
            "SELECT COUNT(*) FROM {source} AS source "
            "WHERE typeof({x}) = 'integer' AND ({x} >= {limit} OR {x} <= -{limit})"
        )
        limit = Bound(int(EXACT_INTEGERS))
        asked = Statement.compose(
            template, source=self.source, x=quoted(self.request.score), limit=limit
        )
        ((count,),) = self.database.rows(asked)
        if count:
            raise InputError(
                f"{self.request.shown('score')} must hold whole numbers that fit one 64-bit type, "
                f"or numbers that floats can hold: {plural(count, 'bad row')}: rank them in a "
                "query, or make all of them floats."
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that the scores have in memory."""
        return SCORE_TYPES[self.kinds["score"]]

    @property
    def columns(self) -> Statement:
        """Select the columns asked for: ``y``, ``s``, and ``w``, ``g``, ``g2`` if there are any."""
        dialect, kinds = self.database.dialect, self.kinds
        names = {role: quoted(name) for role, name in self.request.columns.items()}
        found = {"y": self._plain("label"), "s": dialect.cast(names["score"], kinds["score"])}
        if "weight" in names:
            # A boolean is a number first: PostgreSQL knows no other way.
            weight = dialect.cast(names["weight"], kinds["weight"])
            found["w"] = dialect.cast(weight, "float64")
        for alias, role in zip(self.group_names, self.request.group_roles, strict=True):
            found[alias] = self._plain(role)
        selected = Statement.listed(
            Statement.compose("{x} AS " + name, x=x) for name, x in found.items()
        )
        return Statement.compose(
            "SELECT {selected} FROM {source} AS source", selected=selected, source=self.source
        )

    @property
    def group_names(self) -> list[str]:
        """What the columns of groups are called in the queries."""
        return ["g" + role.partition(" ")[2] for role in self.request.group_roles]

    def _plain(self, role: str) -> Statement:
        """A column of labels or groups as values whose equality is that of Python's."""
        dialect, kind = self.database.dialect, self.kinds[role]
        column = quoted(self.request.columns[role])
        if dialect.each_row or kind == "text":
            return Statement.compose(dialect.text, x=column)
        return dialect.cast(column, kind) if kind in ("float32", "float64") else column

    def value(self, role: str, found: Any) -> Any:
        """Return a label or a group as Python has it: some texts come as bytes."""
        if self.kinds[role] == "text" and isinstance(found, (bytes, bytearray)):
            return bytes(found).decode()
        return found

    def _present(self, name: str, role: str) -> Statement:
        """A condition that is true unless a value is NULL or NaN (which is above everything)."""
        if self.kinds[role] not in ("float32", "float64", "decimal"):
            return Statement((f"{name} IS NOT NULL",))
        return self.double(f"{name} <= {{value}}", math.inf)

    def double(self, template: str, value: float) -> Statement:
        """Fill a number into a template as a double."""
        cast = f"CAST({{value}} AS {self.database.dialect.double})"
        bound = Statement.compose(cast, value=Bound(float(value)))
        return Statement.compose(template, value=bound)

    def of_class(self, positives: float, negatives: float) -> Statement:
        """A number that depends on the class ``c``."""
        return Statement.listed(
            [
                self.double("(CASE WHEN c = 1 THEN {value}", positives),
                self.double(" ELSE {value} END)", negatives),
            ],
            "",
        )

    def survey(self) -> TableSurvey:
        """Look at all rows once, and raise what :func:`precall.rank` would raise."""
        weighted = self.request.weight is not None
        none = Statement(("0",))
        low, high = WEIGHTS
        parts = {
            "no_score": _sum_of_absent(self._present("s", "score")),
            "no_group": none,
            "bad_weight": none,
            "far_weight": none,
            "used": Statement(("COUNT(*)",)),
            "largest": Statement(("1",)),
            "s": Statement(("s",)),
        }
        if self.request.group_roles and not self.request.missing_groups:
            present = map(self._present, self.group_names, self.request.group_roles)
            parts["no_group"] = _sum_of_absent(Statement.listed(present, " AND "))
        if weighted:
            good = self.double("w >= 0 AND w < {value}", math.inf)
            near = [
                self.double("w = 0 OR w >= {value}", low),
                self.double(" AND w <= {value}", high),
            ]
            near = [Statement(("(",)), near[0], Statement((")",)), near[1]]
            parts["bad_weight"] = _sum_of_absent(good)
            outside = Statement.compose(
                "SUM(CASE WHEN {good} AND NOT ({near}) THEN 1 ELSE 0 END)",
                good=good,
                near=Statement.listed(near, ""),
            )
            parts["far_weight"] = outside
            parts["used"] = Statement(("SUM(CASE WHEN w > 0 THEN 1 ELSE 0 END)",))
            parts["largest"] = Statement(("MAX(w)",))
            parts["s"] = Statement(("CASE WHEN w > 0 THEN s END",))
        asked = Statement.compose(
            "SELECT y, COUNT(*) AS n, {no_score} AS no_score, {bad_weight} AS bad_weight, "
            "{far_weight} AS far_weight, {no_group} AS no_group, {used} AS used, "
            "{largest} AS largest, MIN({s}) AS low, MAX({s}) AS high "
            f"FROM ({{columns}}) AS typed GROUP BY y LIMIT {MOST_LABELS + 2}",
            columns=self.columns,
            **parts,
        )
        rows = self.database.rows(asked)
        return self._judged([(self.value("label", row[0]), *row) for row in rows])

    def _judged(self, rows: list[tuple[Any, ...]]) -> TableSurvey:
        """Judge labels and flaws; a row has the label, as it is in the database, and its facts."""
        survey = Survey(self.request, placed=False)
        rows = sorted(rows, key=lambda row: repr(row[0]))
        flaws = dict.fromkeys(("label", "score", "weight", "far weight", "group"), 0)
        for number, (label, _, count, *bad, used, _, _, _) in enumerate(rows):
            survey.rows[number] = int(count)
            survey.n_used += int(used)
            for name, found in zip(("score", "weight", "far weight", "group"), bad, strict=True):
                flaws[name] += int(found)
            if is_missing(label):
                flaws["label"] += int(count)
            else:
                survey.labels[label] = Found(int(count), (number, 0))
        survey.flaws = {name: Found(count, (0, 0)) for name, count in flaws.items() if count}
        survey.judge()
        classes = {True: ClassFacts(), False: ClassFacts()}
        positive = None
        for label, stored, _, *_, used, largest, low, high in rows:
            is_positive = bool(label == self.request.pos_label)
            positive = stored if is_positive else positive
            if used:
                classes[is_positive] += ClassFacts(
                    used=int(used), largest=float(largest), low=float(low), high=float(high)
                )
        return TableSurvey(
            positive=positive,
            has_positive=positive is not None,
            positives=classes[True],
            negatives=classes[False],
        )

    def classified(self, survey: TableSurvey) -> Statement:
        """The columns with ``c``, which is 1 for a positive, in place of the label."""
        weight = [] if self.request.weight is None else [Statement(("w",))]
        groups = map(self._group, self.group_names, self.request.group_roles)
        names = Statement.listed([Statement(("s",)), *weight, *groups])
        of_class = "CASE WHEN y = {positive} THEN 1 ELSE 0 END" if survey.has_positive else "0"
        return Statement.compose(
            f"SELECT {{names}}, {of_class} AS c FROM ({{columns}}) AS typed",
            names=names,
            positive=Bound(survey.positive),
            columns=self.columns,
        )

    def _group(self, name: str, role: str) -> Statement:
        """A column of groups; what is missing is NULL, so that NaN and NULL are one group."""
        if not self.request.missing_groups:
            return Statement((name,))
        return Statement.compose(
            f"CASE WHEN {{present}} THEN {name} END AS {name}", present=self._present(name, role)
        )

    def moments(self, survey: TableSurvey, totals: tuple[float, float]) -> Moments | None:
        """Mean and squared deviations of the scores of each class; None where there are none.

        Deviations from the middle of the range are added up as whole numbers of a unit that is
        small beside the range, so that the sums do not depend on the order of the rows.
        """
        ranges, used = survey.by_class("range"), survey.by_class("used")
        spans = zip(ranges, totals, strict=True)
        if not all(used) or not all(math.isfinite(span * span * total) for span, total in spans):
            return None
        weighted = self.request.weight is not None
        lows, largest = survey.by_class("low"), survey.by_class("largest")
        scales = [span or 1.0 for span in ranges]
        middles = [low + span / 2 for low, span in zip(lows, ranges, strict=True)]
        units = [2.0 ** (62 - number.bit_length()) for number in used]
        dialect = self.database.dialect
        nearest = [
            Statement.compose(dialect.nearest, x=Statement((term,))) for term in ("first", "second")
        ]
        near = [_NEGLIGIBLE * scale for scale in scales]
        light = [_NEGLIGIBLE * each for each in largest]
        asked = Statement.compose(
            "SELECT c, CAST(SUM({first}) AS {integer}) AS a, "
            "CAST(SUM({second}) AS {integer}) AS b FROM ("
            "SELECT c, share * e AS first, share * e * e AS second FROM ("
            "SELECT c, {share} AS share, CASE WHEN d > {near} OR d < -{near} THEN d / {scale} "
            "ELSE 0 END AS e FROM (SELECT c, {weight} AS w, {score} AS d FROM ({rows}) "
            "AS classified) AS deviations) AS scaled) AS terms GROUP BY c",
            first=nearest[0],
            second=nearest[1],
            integer=Statement((dialect.integer,)),
            near=self.of_class(near[0], near[1]),
            scale=self.of_class(scales[0], scales[1]),
            share=Statement.compose(
                "CASE WHEN w > {light} THEN w / {largest} * {unit} ELSE 0 END",
                light=self.of_class(light[0], light[1]),
                largest=self.of_class(largest[0], largest[1]),
                unit=self.of_class(units[0], units[1]),
            ),
            weight=Statement(("w" if weighted else "1",)),
            score=Statement.compose(
                "CASE WHEN {used} THEN CAST(s AS {double}) - {middle} ELSE 0 END",
                used=Statement(("w > 0" if weighted else "1 = 1",)),
                double=Statement((dialect.double,)),
                middle=self.of_class(middles[0], middles[1]),
            ),
            rows=self.classified(survey),
        )
        found = {}
        for is_positive, first, second in self.database.rows(asked):
            place = 1 - int(is_positive)
            factor = scales[place] / units[place] * largest[place]
            total = float(totals[place])
            ahead = int(first) * factor
            squares = int(second) * factor * scales[place] - ahead * (ahead / total)
            found[place] = middles[place] + ahead / total, max(squares, 0.0)
        return Moments(found[0], found[1]) if len(found) == 2 else None


def _source(database: Database, table_or_query: object) -> Statement:
    if isinstance(table_or_query, str) and _QUERY.match(table_or_query):
        text = table_or_query.strip().rstrip(";")
        return Statement(("(", text, "\n)"))  # a comment may end the query
    names = (table_or_query,) if isinstance(table_or_query, str) else table_or_query
    if not isinstance(names, tuple) or not names or not all(isinstance(n, str) for n in names):
        raise InputError(
            "table_or_query must be the name of a table, a tuple of names such as "
            f'("schema", "table"), or a query, got {table_or_query!r}.'
        )
    longest = database.dialect.longest
    for name in names:
        if longest is not None and len(name.encode()) > longest:
            raise InputError(
                f"{database.dialect.name} has no names longer than {longest} bytes, got {name!r}."
            )
    return quoted(*names)


def _require_one_case(request: Request, names: list[str]) -> None:
    folded = [name.casefold() for name in names]
    for role, name in request.columns.items():
        if folded.count(name.casefold()) > 1:
            raise InputError(
                f"{request.shown(role)} names several columns, because the case of letters makes "
                "no difference here: rename all but one in a query."
            )


def _sum_of_absent(present: Statement) -> Statement:
    return Statement.compose("SUM(CASE WHEN {present} THEN 0 ELSE 1 END)", present=present)
