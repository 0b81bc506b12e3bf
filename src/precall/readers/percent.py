"""Numbers that are written in percent: ``23,1 %`` is 0.231.

Text where numbers are wanted is read so if every cell carries the sign; a cell that is missing
says nothing. A column that has cells with the sign and cells without is refused: 0.5 could be 0.5
or 0.5 %. The decimal sign is the one that was said, or else the one that the cells have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .._arrow import is_text, plain
from ..exceptions import InputError
from .messages import shown
from .sources import File
from .wanted import Wanted

#: How a sentence about a column in percent ends.
IN_PERCENT = "and the others likewise."

_NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)"
# Without an exponent, which nobody writes before the sign: that of the hundredth goes there.
_CELL = re.compile(_NUMBER)
_PLAIN = re.compile(rf"\s*(?:{_NUMBER}(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?)\s*", re.IGNORECASE)


def carries_sign(cell: str) -> bool:
    """Return whether a cell is a number in percent.

    Examples
    --------
    >>> [carries_sign(cell) for cell in ("23,1 %", "87%", "0.87", "%", "5 % of all")]
    [True, True, False, False, False]
    """
    text = cell.strip()
    return text.endswith("%") and _CELL.fullmatch(text[:-1].rstrip()) is not None


@dataclass
class _Seen:
    """The first cell of each kind in a column, as far as it was read."""

    decimal: str | None = None
    percent: str | None = None
    number: str | None = None
    text: str | None = None
    point: str | None = None
    comma: str | None = None

    def look(self, column: Any) -> Any:
        """Take note of some cells, and return them as numbers; None if they are not all in percent.

        What is next to the sign is read together with its hundredth (``23.1e-2``), and so is the
        number that ``0.231`` is, to the last bit.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        column = plain(column)
        cells = pc.utf8_trim_whitespace(column)
        digits = pc.utf8_rtrim_whitespace(pc.utf8_slice_codeunits(cells, 0, -1))
        number = pc.match_substring_regex(digits, f"^{_NUMBER}$")
        signed = pc.and_(pc.ends_with(cells, "%"), number)
        for sign, name in ((".", "point"), (",", "comma")):
            has_sign = pc.and_(signed, pc.match_substring(digits, sign))
            if self.decimal not in (None, sign):
                signed = pc.and_(signed, pc.invert(has_sign))
            elif getattr(self, name) is None:
                setattr(self, name, _first(column, has_sign))
        if self.percent is None:
            self.percent = _first(column, signed)
        others = column.filter(pc.invert(signed)).to_pylist()  # a missing cell is none of them
        for cell in others:
            kind = "number" if _PLAIN.fullmatch(cell) else "text"
            if getattr(self, kind) is None:
                setattr(self, kind, cell)
        if others or (self.point is not None and self.comma is not None):
            return None
        hundredth, nothing = (pa.scalar(text, column.type) for text in ("e-2", ""))
        parts = (pc.replace_substring(digits, ",", "."), hundredth, nothing)
        return pc.binary_join_element_wise(*parts).cast(pa.float64())

    def sentence(self, name: str) -> str | None:
        """What was decided, if anything was."""
        if self.percent is None:
            return None
        comma = "" if self.comma is None else ", with a decimal comma"
        value = float(self.percent.strip()[:-1].strip().replace(",", ".") + "e-2")
        read = f"{shown(self.percent)} was read as {value}"
        return f"column {shown(name)} is in percent{comma}: {read}, {IN_PERCENT}"

    def look_at_numbers(self, column: Any) -> None:
        """Take note of a column that holds numbers, unless all of it is missing."""
        if self.number is None and column.null_count < len(column):
            self.number = str(column.drop_null()[0].as_py())

    def then(self, other: _Seen) -> _Seen:
        """What is seen of two files, one after the other."""
        own, further = vars(self), vars(other)
        return _Seen(**{k: own[k] if own[k] is not None else further[k] for k in own})

    @property
    def is_mixed(self) -> bool:
        """Whether some numbers carry the sign and others do not, or decimal signs differ."""
        signs = self.percent is not None and self.number is not None
        return signs or (self.point is not None and self.comma is not None)

    def error(self, column: str) -> InputError:
        """What is wrong with the column, which the message calls so."""
        if self.text is None and self.percent is not None and self.number is not None:
            return InputError(
                f"{column} has numbers with a percent sign ({shown(self.percent)}) and without "
                f"({shown(self.number)}): write all of them with the sign, or all without."
            )
        if self.text is None and self.point is not None and self.comma is not None:
            return InputError(
                f"{column} has decimal points ({shown(self.point)}) and decimal commas "
                f"({shown(self.comma)}): write all of them with the same sign."
            )
        found = next((word for word in (self.text, self.number) if word is not None), None)
        what = "nothing" if found is None else f"text such as {shown(found)}"
        way = "name a column of numbers, or convert it first"
        if found is not None and carries_sign(found):
            way = "its decimal sign is not the one that was said"
        return InputError(f"{column} holds {what}, not numbers: {way}.")


def _first(column: Any, chosen: Any) -> str | None:
    import pyarrow.compute as pc

    place = pc.index(chosen, True).as_py()
    return None if place < 0 else str(column[place].as_py())


def text_error(column: Any, what: str, decimal: str | None) -> InputError:
    """Say what is wrong with text where numbers are wanted; `what` is how to call the column."""
    seen = _Seen(decimal)
    seen.look(column)
    return seen.error(what)


def with_percents(tables: Sequence[Any], files: Sequence[File], wanted: Wanted) -> list[Any]:
    """Return tables of whole files, in which columns in percent are numbers.

    Other text is left for whoever checks the columns.
    """
    found = list(tables)
    for name in wanted.columns if wanted.guess else ():
        texts = [
            place for place, table in enumerate(tables) if _is_wanted_text(table, name, wanted)
        ]
        if not texts:
            continue
        seen = _Seen(files[0].options.decimal)
        columns = {place: seen.look(tables[place].column(name)) for place in texts}
        if any(column is None for column in columns.values()):
            continue
        for place, table in enumerate(tables):
            if place not in columns:
                seen.look_at_numbers(table.column(name))
        if seen.is_mixed:
            raise seen.error(wanted.title(name))
        for place, column in columns.items():
            found[place] = _with_column(found[place], name, column)
        _tell(seen, name, files)
    return found


class Percents:
    """Columns in percent of files that are read in pieces, and perhaps again from the beginning."""

    def __init__(self, files: Sequence[File], wanted: Wanted) -> None:
        self._files, self._wanted = files, wanted
        self._seen: dict[int, dict[str, _Seen]] = {}

    def converted(self, number: int, tables: Iterable[Any]) -> Iterator[Any]:
        """Yield the tables of a file with numbers for text, or raise at its end what is wrong."""
        decimal = self._files[0].options.decimal
        seen = {name: _Seen(decimal) for name in self._wanted.numbers}
        self._seen[number] = seen
        refused: dict[str, _Seen] = {}
        for table in tables:
            for name in seen:
                if not _is_wanted_text(table, name, self._wanted):
                    seen[name].look_at_numbers(table.column(name))
                elif (column := seen[name].look(table.column(name))) is None:
                    refused[name] = seen[name]
                else:
                    table = _with_column(table, name, column)
            if any(found.text is not None for found in refused.values()):
                break  # what comes later does not change what is said of it
            if not refused:
                yield table
        for name in self._wanted.columns:
            if name in refused:
                raise self._of_all(name).error(self._wanted.title(name))

    def finish(self) -> None:
        """Say what was decided, after all files; raise if they contradict each other."""
        for name in self._wanted.columns:
            if name in self._wanted.numbers:
                seen = self._of_all(name)
                if seen.percent is not None and seen.is_mixed:
                    raise seen.error(self._wanted.title(name))
                _tell(seen, name, self._files)

    def _of_all(self, name: str) -> _Seen:
        found = _Seen()
        for number in sorted(self._seen):
            found = found.then(self._seen[number][name])
        return found


def _tell(seen: _Seen, name: str, files: Sequence[File]) -> None:
    sentence = seen.sentence(name)
    if sentence is not None:
        files[0].options.tell(sentence)


def _is_wanted_text(table: Any, name: str, wanted: Wanted) -> bool:
    """Whether numbers came as text; only the type is looked at."""
    return wanted.guess and name in wanted.numbers and is_text(table.schema.field(name))


def _with_column(table: Any, name: str, column: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, column)
