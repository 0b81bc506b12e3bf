"""Printing: sentences, findings, and tables that fit the screen."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..evaluation import wording
from .lines import wrapped

if TYPE_CHECKING:
    from ..evaluation import Finding, Measure

_WIDTH = 80
_BAR = 26
_SHORTEST_BAR = 10
_SHORTEST_NAME = 12
#: A cell that has no number.
NOTHING = "–"
_MARK_WIDTH = 6
_MARKS = {
    "warning": ("Warning", "bold red"),
    "note": ("Note", "bold"),
    "good": ("Good", "bold green"),
}
_MARK_WIDTH = max(len(mark) for mark, _ in _MARKS.values())


class _Trimmed(io.TextIOBase):
    """Standard output without the spaces that tables are filled up with."""

    encoding = property(lambda self: sys.stdout.encoding)

    def write(self, text: str) -> int:
        """Write text, whose lines are always complete here."""
        return sys.stdout.write("\n".join(line.rstrip(" ") for line in text.split("\n")))


def console() -> Console:
    """Standard output: at most 100 columns wide on a terminal, 80 in a pipe."""
    options: Any = {"highlight": False, "markup": False, "emoji": False}
    output = Console(**options)
    if output.is_terminal:
        output.width = min(output.width, 100)
        return output
    return Console(file=cast(IO[str], _Trimmed()), width=_WIDTH, **options)


def sentences(output: Console, lines: Iterable[str]) -> None:
    """Write sentences, wrapped."""
    for line in lines:
        output.print(Text(wrapped(line, output.width)))


def findings(output: Console, found: Iterable[Finding]) -> None:
    """Write findings with their marks, or that there are none."""
    from ..evaluation import Finding

    found = list(found) or [Finding(level="good", text="Nothing stands out.")]
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(width=_MARK_WIDTH)
    table.add_column(overflow="fold")
    for finding in found:
        mark, style = _MARKS[finding.level]
        text = wrapped(finding.text, output.width - _MARK_WIDTH - 2)
        table.add_row(Text(mark, style=style), Text(text))
    output.print(table)


def heading(output: Console, text: str) -> None:
    """Write a heading with a line of space above."""
    output.print()
    output.print(Text(text, style="bold"))


def grid(
    output: Console,
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[str]],
    *,
    indent: int = 0,
) -> None:
    """Write a table; a column is its title and "left" or "right". Names are folded, never cut.

    Where there is no room for the longest word of the names, they have lines of their own.
    """
    rows = [list(row) for row in rows]
    widths = [
        max([len(title), *(len(row[place]) for row in rows)])
        for place, (title, _) in enumerate(columns)
    ]
    given: list[int | None] = [None] * len(columns)
    if sum(widths) + 2 * len(widths) + indent > output.width:
        # Numbers are never broken: names give way, and titles between their words.
        for place, (title, justify) in enumerate(columns):
            if justify != "left":
                widths[place] = max(map(len, [*title.split(), *(row[place] for row in rows)]))
        columns = [
            (title if justify == "left" else wrapped(title, width), justify)
            for (title, justify), width in zip(columns, widths, strict=True)
        ]
        least = (
            min(width, _SHORTEST_NAME) if justify == "left" else width
            for (_, justify), width in zip(columns[1:], widths[1:], strict=True)
        )
        room = output.width - indent - sum(width + 2 for width in least)
        longest = max((len(word) for row in rows for word in row[0].split()), default=0)
        if columns[0][1] == "left" and room < min(longest, output.width - indent):
            _stacked(output, columns, rows, widths, indent)
            return
        given = _shared_out(columns, widths, output.width - indent, longest)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for (title, justify), width, fixed in zip(columns, widths, given, strict=True):
        left = justify == "left"
        table.add_column(
            Text(title),
            justify="left" if left else "right",
            no_wrap=not left,
            overflow="fold",
            min_width=min(width, _SHORTEST_NAME) if left and fixed is None else width,
            width=fixed,
        )
    for row in rows:
        table.add_row(*(Text(value) for value in row))
    output.print(Padding(table, (0, 0, 0, indent)))


def _shared_out(
    columns: Sequence[tuple[str, str]], widths: Sequence[int], room: int, longest: int
) -> list[int | None]:
    """Share the room between several columns of words, each at least as wide as it must be.

    rich would make all of them equally wide, and cut what does not fit. One alone gets the rest.
    """
    words = [place for place, (_, justify) in enumerate(columns) if justify == "left"]
    given: list[int | None] = [None] * len(columns)
    if len(words) < 2:
        return given
    least = {place: min(widths[place], _SHORTEST_NAME) for place in words}
    if 0 in least:
        least[0] = min(least[0], max(longest, *map(len, columns[0][0].split()), 0))
    # Two between columns, and one at the end in older releases of Rich.
    taken = sum(widths) - sum(widths[place] for place in words) + 2 * len(columns) - 1
    spare = max(room - taken - sum(least.values()), 0)
    # Those that need little first, so that what they leave goes to the others.
    for number, place in enumerate(sorted(words, key=lambda place: widths[place] - least[place])):
        more = min(widths[place] - least[place], spare // (len(words) - number))
        given[place] = least[place] + more
        spare -= more
    return given


def _stacked(
    output: Console,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    indent: int,
) -> None:
    """Write the name of each row on a line of its own, and below it what belongs to it."""

    def line(cells: Sequence[str]) -> Padding:
        placed = (
            cell.ljust(width) if justify == "left" else cell.rjust(width)
            for cell, width, (_, justify) in zip(cells, widths[1:], columns[1:], strict=True)
        )
        return Padding(Text("  ".join(placed).rstrip()), (0, 0, 0, indent + 2))

    def name(text: str) -> Padding:
        return Padding(Text(wrapped(text, output.width - indent)), (0, 0, 0, indent))

    titles = [title.split("\n") for title, _ in columns[1:]]
    height = max(map(len, titles))
    if columns[0][0]:
        output.print(name(columns[0][0]))
    for cells in zip(*([""] * (height - len(title)) + title for title in titles), strict=True):
        output.print(line(cells))
    rule = "─" if output.encoding.lower().startswith("utf") else "-"
    length = min(sum(widths[1:]) + 2 * len(columns[1:]), output.width - indent)
    output.print(name(rule * length))
    for row in rows:
        output.print(name(row[0]))
        output.print(line(row[1:]))


def pages(
    output: Console,
    columns: Sequence[tuple[str, str]],
    fixed: int,
    rows: Sequence[Sequence[str]],
) -> None:
    """Write a table in as many parts as its width takes, each with the first column.

    The first part has the first `fixed` columns, and as many of the others as fit; in the further
    ones, rows with nothing to say are left out.
    """
    widths = [
        max([len(title), *(len(row[place]) for row in rows)]) + 2
        for place, (title, _) in enumerate(columns)
    ]
    shortest = min(widths[0], _SHORTEST_NAME + 2)
    place, first = fixed, list(range(1, fixed))
    while True:
        part, room = list(first), output.width - shortest - sum(widths[k] for k in first)
        begun = place
        while place < len(columns) and (room >= widths[place] or (place == begun and not first)):
            room -= widths[place]
            part.append(place)
            place += 1
        if first != list(range(1, fixed)):
            output.print()
        cells = [[row[k] for k in (0, *part)] for row in rows]
        said = [row for row in cells if first or set(row[1:]) != {NOTHING}]
        grid(output, [columns[k] for k in (0, *part)], said)
        if place >= len(columns):
            return
        first = []


def measure_blocks(
    output: Console, titles: Sequence[str], blocks: Sequence[Sequence[Measure]]
) -> None:
    """Write every measure of every model as number and bar between its worst and best value.

    Where a line has no room for name, number and bar, the name has a line of its own.
    """
    names = max(len(title) for title in titles)
    values = max(len(measure.text) for block in blocks for measure in block)
    room = output.width - 2 - (values + 2)
    own_line = room - (names + 2) < _SHORTEST_BAR
    width = min(_BAR, room if own_line else room - (names + 2))
    for block in blocks:
        output.print(_block_title(block[0], output.width))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
        if not own_line:
            table.add_column(no_wrap=True, width=names)
        table.add_column(no_wrap=True, width=values)
        table.add_column(no_wrap=True, width=width)
        for name, measure in zip(titles, block, strict=True):
            cells = [Text(measure.text), Text(bar(measure, output.encoding, width))]
            if own_line:
                output.print(Padding(Text(name), (0, 0, 0, 2)))
                single = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
                single.add_column(no_wrap=True, width=values)
                single.add_column(no_wrap=True, width=width)
                single.add_row(*cells)
                output.print(Padding(single, (0, 0, 0, 2)))
            else:
                table.add_row(Text(name), *cells)
        if not own_line:
            output.print(Padding(table, (0, 0, 0, 2)))
        # Few positives are said once, above all measures.
        notes = (measure.note for measure in block if not measure.few_positives)
        for note in dict.fromkeys(filter(None, notes)):
            output.print(Padding(Text(wrapped(note, output.width - 2), style="dim"), (0, 0, 0, 2)))


def _block_title(measure: Measure, width: int) -> Text:
    (start, start_is), (end, end_is) = measure.start, measure.end
    computed = start_is in ("worst", "random")
    ends = [f"{start_is} {wording.number(start) if computed else wording.short(start)}"]
    if measure.floor is not None and measure.random is not None:
        ends.append(f"random {wording.number(measure.random)}")
    said = ", ".join([*ends, f"{end_is} {wording.short(end)}"])
    title = Text(measure.title, style="bold")
    gap = "   " if len(measure.title) + 3 + len(said) <= width else "\n  "
    return title.append(f"{gap}{said}", style="dim")


def bar(measure: Measure, encoding: str = "utf-8", width: int = _BAR) -> str:
    """Draw a measure between the ends of its bar.

    Examples
    --------
    >>> from precall import Interval
    >>> from precall.evaluation import Measure
    >>> interval = Interval(
    ...     low=0.4, high=0.8, estimate=0.6, confidence_level=0.95, method="made up"
    ... )
    >>> kind = {"name": "aucpr", "title": "AUCPR", "explanation": "An area."}
    >>> kind |= {"floor": 0.0, "random": 0.1, "ceiling": 1.0}
    >>> bar(Measure(estimate=0.6, interval=interval, **kind), "ascii", width=11)
    '.|..==o==..'
    """
    if measure.interval is None and not measure.few_positives:
        return ""
    line, thick, dot, mark = "·━●┆" if encoding.lower().startswith("utf") else ".=o|"

    def place(value: float) -> int:
        return round(measure.place(value) * (width - 1))

    signs = [line] * width
    if measure.interval is not None:
        low, high = place(measure.interval.low), place(measure.interval.high)
        signs[low : high + 1] = [thick] * (high - low + 1)
    if measure.floor is not None and measure.random is not None:
        signs[place(measure.random)] = mark
    signs[place(measure.estimate)] = dot
    return "".join(signs)
