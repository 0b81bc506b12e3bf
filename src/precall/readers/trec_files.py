"""Lines of the files in which the Text REtrieval Conference keeps runs and judgements."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from ..exceptions import InputError

Array = npt.NDArray[Any]

RUN = ("query", "Q0", "document", "rank", "score", "run name")
QRELS = ("query", "iteration", "document", "relevance")
# More fields than these may follow: trec_eval reads no further than the name of a run.
_OPEN_ENDED = (RUN,)
_LINES_AT_ONCE = 200_000


def columns(
    source: object, fields: tuple[str, ...], name: str, dtype: Any
) -> tuple[list[str], list[str], Array]:
    """Return query, document and number of every line; blank lines and comments are passed over."""
    queries: list[str] = []
    documents: list[str] = []
    numbers: list[Array] = []
    number_at = 4 if "score" in fields else 3
    first = 1
    for lines in _blocks(source, name):
        if not all(isinstance(line, str) for line in lines):
            raise InputError(f"{name} must have lines of text: decode bytes first.")
        rows = [[] if line.lstrip().startswith("#") else line.split() for line in lines]
        if any(row and not _fits(row, fields) for row in rows):
            _reject_line(rows, first, fields, name)
        rows = [row for row in rows if row]
        queries += [row[0] for row in rows]
        documents += [row[2] for row in rows]
        try:
            numbers.append(np.array([row[number_at] for row in rows]).astype(dtype))
        except ValueError as error:
            raise InputError(
                f"{name} must have a number as its {fields[number_at]} ({error}), "
                f"in the lines from {first} to {first + len(lines) - 1}."
            ) from error
        first += len(lines)
    if not queries:
        raise InputError(f"{name} must have at least one line, got none.")
    values = np.concatenate(numbers)
    _validation.reject_missing(values, f"{name} {fields[number_at]}")
    return queries, documents, values


def _blocks(source: object, name: str) -> Iterator[list[str]]:
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if not path.is_file():
            raise InputError(
                f"{name} must be a file or lines of text; there is no file {str(path)!r}."
            )
        try:
            with path.open(encoding="utf-8") as lines:
                while block := list(islice(lines, _LINES_AT_ONCE)):
                    yield block
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{name} cannot be read as UTF-8 text ({error}).") from error
    elif isinstance(source, Iterable) and getattr(source, "ndim", 1) == 1:
        lines_given = iter(source)
        while block := list(islice(lines_given, _LINES_AT_ONCE)):
            yield block
    else:
        raise InputError(f"{name} must be a file or lines of text, got {type(source).__name__}.")


def _fits(row: list[str], fields: tuple[str, ...]) -> bool:
    return len(row) == len(fields) or (fields in _OPEN_ENDED and len(row) > len(fields))


def _reject_line(rows: list[list[str]], first: int, fields: tuple[str, ...], name: str) -> None:
    line, row = next(
        (first + index, row) for index, row in enumerate(rows) if row and not _fits(row, fields)
    )
    raise InputError(
        f"{name} must have {len(fields)} fields on each line ({', '.join(fields)}), but line "
        f"{line} has {len(row)}: {' '.join(row)[:60]!r}."
    )
