"""What is asked of a reader: which columns, in which parts, and how to read them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The columns to read.

    Attributes
    ----------
    columns : tuple of str
        Names, each once.
    numbers : frozenset of str
        Those that hold numbers.
    texts : frozenset of str
        Those that hold names (groups, clusters), which are text and nothing else.
    guess : bool
        Whether the types of the columns of text files follow from their cells. If not, they
        depend on their part only: numbers are doubles, and the rest is the text of the cells.
    """

    columns: tuple[str, ...]
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    guess: bool = True
