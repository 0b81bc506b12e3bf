"""What is asked of a reader: which columns, in which parts, and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .messages import check_columns, shown
from .sources import File


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The columns to read.

    Attributes
    ----------
    columns : tuple of str
        Names, each once.
    numbers : frozenset of str
        Those that hold numbers.
    weights : frozenset of str
        Those of them that are weights; the others are scores.
    texts : frozenset of str
        Those that hold names (groups, clusters), which are text and nothing else.
    levels : frozenset of str
        Those to cut by: numbers if every cell is one; otherwise names, such as the country NA.
    guess : bool
        Whether the types of the columns of text files follow from their cells. If not, they
        depend on their part only: numbers are doubles, and the rest is the text of the cells.
    check : callable
        Called with the names of the columns of a file and the name of the file; raises unless
        every column is there, and there once.
    """

    columns: tuple[str, ...]
    numbers: frozenset[str] = frozenset()
    weights: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    guess: bool = True
    check: Callable[[Sequence[str], str], None] | None = None

    def title(self, name: str) -> str:
        """How a message calls a column of numbers."""
        return f"{'weight' if name in self.weights else 'score'} column {shown(name)}"

    def stored(self, names: Iterable[str], file: File) -> list[str]:
        """Which of the columns a file has itself; its folders may have others."""
        own = list(names)
        available = [*own, *(name for name in file.constants if name not in own)]
        if self.check is None:
            check_columns(available, file.name, self.columns)
        else:
            self.check(available, file.name)
        return [name for name in self.columns if name in own]
