"""Counts with their nouns, for messages of every room."""

from __future__ import annotations


def plural(value: float, one: str, many: str | None = None, *, shown: str | None = None) -> str:
    """Return a count with its noun.

    Parameters
    ----------
    value : number
    one, many : str
        The noun for exactly one, and for any other number (`one` with an s if not given).
    shown : str, optional
        The number as it is written.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "class", "classes"), plural(2500, "row")
    ('1 row', '3 classes', '2,500 rows')
    """
    text = f"{value:,}" if shown is None else shown
    return f"{text} {one if value == 1 else many or one + 's'}"


def listed(words: list[str], joint: str) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"], "and"), listed(["a"], "or")
    ('a, b and c', 'a')
    """
    return f" {joint} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
