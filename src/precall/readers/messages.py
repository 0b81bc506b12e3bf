"""What is said about files and columns that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

from ..exceptions import InputError


def shown(name: object) -> str:
    """A name in a message: quoted, on one line, not endless."""
    text = str(name)
    return repr(text if len(text) <= 60 else text[:40] + "..." + text[-17:])


def source_name(source: object) -> str:
    """A file in a message."""
    if isinstance(source, (list, tuple)):
        others = f" and {len(source) - 1} more" if len(source) > 1 else ""
        return f"{source_name(source[0])}{others}"
    return "standard input" if str(source) == "-" else shown(source)


def unreadable(source: object, error: object) -> InputError:
    """An error of the reader as one line."""
    reason = " ".join(str(error).split())[:200].rstrip(".")
    return InputError(f"{source_name(source)} cannot be read: {reason}.")


def no_rows(source: object) -> InputError:
    """A file that ends with the names of its columns."""
    return InputError(f"{source_name(source)} has a header but no rows: there is nothing to do.")


def check_columns(available: Sequence[str], source: object, wanted: Sequence[str]) -> None:
    """Raise unless every column is there, and there once."""
    for name in wanted:
        times = list(available).count(name)
        if times > 1:
            raise InputError(
                f"{source_name(source)} has {times} columns {shown(name)}: rename all but one."
            )
        if times == 0:
            raise InputError(
                f"{source_name(source)} has no column {shown(name)}; it has "
                f"{listed_names(available)}.{no_header(available) or _nearest(name, available)}"
            )


def _nearest(name: str, available: Sequence[str]) -> str:
    """The name that was probably meant, as a question."""
    from difflib import get_close_matches

    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and set(parts) <= set(available):
        return f" Name {' and '.join(map(shown, parts))} one by one."
    wanted = name.strip().lower()
    alike = [other for other in available if other.strip().lower() == wanted]
    within = [other for other in available if wanted and wanted in other.lower()]
    near = alike or get_close_matches(name, available, n=1) or within[:1]
    return f" Did you mean {shown(near[0])}?" if near else ""


def no_header(names: Sequence[str]) -> str:
    """A question, where names look like the values of a row.

    Most of them are numbers, or one has a decimal point, which few people put into a name.

    Examples
    --------
    >>> no_header(["0", "0.166", "a"])
    ' These look like values: does the file begin with a line of names?'
    >>> no_header(["label", "2024", "2025"]), no_header(["y", "1"])
    (' These look like values: does the file begin with a line of names?', '')
    """
    numbers = [name for name in names if _is_number(name)]
    if 2 * len(numbers) > len(names) or any("." in number for number in numbers):
        return " These look like values: does the file begin with a line of names?"
    return ""


def listed_names(names: Sequence[str]) -> str:
    """The first names of a list, and how many there are beside them."""
    named = [name for name in names if name.strip()]
    listed = [shown(name) for name in named[:8]]
    listed += [f"{len(named) - 8} more"] if len(named) > 8 else []
    listed += [f"{len(names) - len(named)} without a name"] if len(named) < len(names) else []
    return ", ".join(listed)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_nested(name: str, found: object) -> InputError:
    """A column whose rows hold several values each."""
    return InputError(
        f"column {shown(name)} holds {found}, and one value per row is wanted: make a column of "
        "the one value that is meant."
    )
