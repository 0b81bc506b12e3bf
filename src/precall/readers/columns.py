"""Read the columns of a file by their role: CSV, TSV, Parquet, Feather, JSON lines, a pipe.

What comes out is checked, so that a message can name the file and the column: the rest of the
library only ever sees arrays. What is too large for memory is not read here but ranked by
:func:`precall.engines.arrow.rank`; the module ``large`` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._arrow import is_nested, is_number, is_text, numpy_of, plain, with_missing
from .._words import plural
from ..exceptions import InputError
from .label_columns import positive_numbers, positive_text
from .messages import no_rows, refuse_nested, shown, source_name
from .missing import sentence, without_missing
from .names import MISSING, as_names, positions
from .options import ReadOptions
from .percent import text_error
from .sources import File, Named, opened
from .tables import read_table
from .time_columns import as_times
from .wanted import Wanted

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class Coded(NamedTuple):
    """A column of names as positions in the sorted list of the distinct ones."""

    codes: IntArray
    names: list[str]


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which column plays which part.

    Attributes
    ----------
    label : str
        The column with the classes.
    scores : tuple of str
        The columns with scores, one per model.
    weight, group, cluster : str, optional
        Columns with weights, groups to be shown apart, and rows that belong together.
    pos_label : str or number, optional
        The positive class; text is read as the type of the column. 1 if not given.
    by : tuple of str
        Columns to cut the rows by, read as what they hold: numbers, words or dates.
    time : str, optional
        The column that says when a row happened.
    partly_labelled : bool
        Whether labels may be missing: of rows whose label is not known yet.
    """

    label: str
    scores: tuple[str, ...]
    weight: str | None = None
    group: str | None = None
    cluster: str | None = None
    pos_label: Any = None
    by: tuple[str, ...] = ()
    time: str | None = None
    partly_labelled: bool = False

    def __post_init__(self) -> None:
        """Refuse a column in two roles that exclude each other."""
        if not self.scores:
            raise InputError("at least one score column is needed: name it.")
        twice = [name for name in self.scores if self.scores.count(name) > 1]
        if twice:
            raise InputError(f"score column {shown(twice[0])} is named twice: name it once.")
        for role in ("weight", "group", "cluster", "time"):
            if getattr(self, role) == self.label:
                raise InputError(f"column {shown(self.label)} cannot be both label and {role}.")
        for role, names in (("score", self.scores), ("by", self.by)):
            if self.label in names:
                raise InputError(f"column {shown(self.label)} cannot be both label and {role}.")

    @property
    def columns(self) -> list[str]:
        """Every column that has to be read, once."""
        named = (self.weight, self.group, self.cluster, self.time)
        others = [name for name in named if name is not None]
        return list(dict.fromkeys([self.label, *self.scores, *others, *self.by]))

    @property
    def required(self) -> list[str]:
        """Columns without which a row cannot be used; one without a group can."""
        others = [name for name in (self.weight, self.cluster, self.time) if name is not None]
        label = [] if self.partly_labelled else [self.label]
        return list(dict.fromkeys([*label, *self.scores, *others]))

    @property
    def wanted(self) -> Wanted:
        """What a reader has to know of them."""
        numbers = {*self.scores} | ({self.weight} if self.weight else set())
        names = {name for name in (self.group, self.cluster) if name is not None}
        return Wanted(
            columns=tuple(self.columns),
            numbers=frozenset(numbers),
            weights=frozenset({self.weight} if self.weight else ()),
            texts=frozenset(names - numbers),
            levels=frozenset(self.by),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """The columns of a file, checked and by role.

    Attributes
    ----------
    positive : array of bool
        Which rows carry the positive label.
    scores : mapping of str to array
    weight : array of float64, optional
    group, cluster : Coded, optional
    by : mapping of str to array
        Columns to cut by, None where they have no value.
    time : array of numbers or of datetime64, optional
    labelled : array of bool, optional
        Which rows have a label, where some may not.
    """

    positive: Mask
    scores: Mapping[str, Array]
    weight: FloatArray | None = None
    group: Coded | None = None
    cluster: Coded | None = None
    by: Mapping[str, Array] = field(default_factory=dict)
    time: Array | None = None
    labelled: Mask | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.positive.size)


def read_columns(source: Named, roles: Roles, options: ReadOptions | None = None) -> Columns:
    """Read the columns asked for into memory and check them.

    Parameters
    ----------
    source : path
        A file by its ending (``.csv``, ``.tsv``, ``.parquet``, ``.feather``, ``.jsonl``, ..., each
        also compressed), a folder or a pattern of such files, or ``-`` for standard input or a
        named pipe, where the format is recognised by its first bytes.
    roles : Roles
    options : ReadOptions, optional
        How to read the file; guessed if not given.

    Returns
    -------
    Columns

    Raises
    ------
    InputError
        With one line that names the file, the column, what is wrong and what to do.

    Examples
    --------
    >>> from precall import example_path
    >>> from precall.readers.columns import Roles, read_columns
    >>> columns = read_columns(example_path(), Roles(label="fraud", scores=("scorecard",)))
    >>> columns.n_rows, int(columns.positive.sum())
    (4000, 78)
    """
    with opened(source, options) as files:
        return columns_of(files, roles, source)


def columns_of(files: Sequence[File], roles: Roles, source: object) -> Columns:
    """Read the columns of files that are open; `source` is their name."""
    readers = _readers(_filled_table(files, roles, source), roles, files[0].options)
    scores = {name: readers.pop(f"score {name}")() for name in roles.scores}
    by = {name: readers.pop(f"by {name}")() for name in roles.by}
    return Columns(scores=scores, by=by, **{role: read() for role, read in readers.items()})


def read_values(
    source: Named,
    *,
    numbers: Sequence[str],
    values: Sequence[str] = (),
    options: ReadOptions | None = None,
) -> dict[str, Array]:
    """Read columns of numbers without gaps, and columns of anything, None where they have none.

    Examples
    --------
    >>> from precall import example_path
    >>> from precall.readers.columns import read_values
    >>> found = read_values(example_path(), numbers=["amount"], values=["channel"])
    >>> found["amount"].size, str(found["channel"][0])
    (4000, 'in store')
    """
    wanted = Wanted(columns=tuple(dict.fromkeys([*numbers, *values])), numbers=frozenset(numbers))
    with opened(source, options) as files:
        table = read_table(files, wanted, source)
    if table.num_rows == 0:
        raise no_rows(source)
    found = {name: _values(column_of(table, name), name) for name in values}
    decimal = None if options is None else options.decimal
    return found | {name: _scores(column_of(table, name), name, decimal) for name in numbers}


def _filled_table(files: Sequence[File], roles: Roles, source: object) -> Any:
    table = read_table(files, roles.wanted, source)
    options = files[0].options
    if options.missing == "drop" and table.num_rows:
        rows = table.num_rows
        table = without_missing(table, roles.required)
        if table.num_rows < rows:
            options.tell(sentence(rows - table.num_rows, rows))
        if not table.num_rows:
            raise InputError(f"every row of {source_name(source)} has missing values.")
    if table.num_rows == 0:
        raise no_rows(source)
    return table


def _readers(table: Any, roles: Roles, options: ReadOptions) -> dict[str, Callable[[], Any]]:
    """How each role is read from a table; each says by itself what is wrong with its column."""
    labels = column_of(table, roles.label)
    readers: dict[str, Callable[[], Any]] = {}
    if roles.partly_labelled:
        readers["labelled"] = lambda: ~_missing(labels)
    readers["positive"] = lambda: _positive(labels, roles, options.tell)
    columns: list[tuple[str, str | None, Callable[..., Any]]] = [
        *(
            (f"score {name}", name, partial(_scores, decimal=options.decimal))
            for name in roles.scores
        ),
        ("weight", roles.weight, partial(_weights, decimal=options.decimal)),
        ("group", roles.group, lambda column, _: _coded(column)),
        ("cluster", roles.cluster, _clusters),
        *((f"by {name}", name, _values) for name in roles.by),
        ("time", roles.time, _times),
    ]
    for role, name, read in columns:
        if name is not None:
            readers[role] = partial(_read, table, name, read)
    return readers


def _read(table: Any, name: str, read: Callable[..., Any]) -> Any:
    return read(column_of(table, name), name)


def find_problems(source: Named, roles: Roles, options: ReadOptions | None = None) -> list[str]:
    """Return everything that is wrong with a file, a line for each problem of a column.

    The lines quote the file: they are for its owner, and not private.

    Parameters
    ----------
    source : path
        As for :func:`read_columns`.
    roles : Roles
        Which columns to look at.
    options : ReadOptions, optional
        How to read the file; guessed if not given.

    Returns
    -------
    list of str
        Empty if the file can be evaluated.

    Examples
    --------
    >>> from precall import example_path
    >>> from precall.readers.columns import Roles, find_problems
    >>> find_problems(example_path(), Roles(label="fraud", scores=("scorecard",)))
    []
    >>> find_problems(example_path(), Roles(label="fraud", scores=("channel",)))
    ["score column 'channel' holds text such as 'in store', not numbers: name a column of ..."]
    """
    try:
        with opened(source, options) as files:
            table = _filled_table(files, roles, source)
    except InputError as error:
        return [str(error)]
    problems = []
    quiet = replace(options or ReadOptions(), say=None)
    for role, read in _readers(table, roles, quiet).items():
        try:
            found = read()
            if role == "positive":
                problems += _empty_class(found, roles)
        except InputError as error:
            problems.append(str(error))
            if role == "positive":
                problems += _known_labels(table, roles)
    return problems


def _known_labels(table: Any, roles: Roles) -> list[str]:
    """What is wrong with the labels that are there, where others are missing."""
    missing = _missing(column_of(table, roles.label))
    if not missing.any() or missing.all():
        return []
    readers = _readers(table.filter(~missing), roles, ReadOptions())
    try:
        return _empty_class(readers["positive"](), roles)
    except InputError as error:
        return [str(error)]


def _empty_class(positive: Mask, roles: Roles) -> list[str]:
    if positive.any() and not positive.all():
        return []
    absent = "negative" if positive.any() else "positive"
    return [
        f"label column {shown(roles.label)} has no {absent} rows: there is nothing to tell apart."
    ]


def column_of(table: Any, name: str) -> Any:
    """A column in one piece, of plain values."""
    column = table.column(name)
    if is_nested(column):
        raise refuse_nested(name, column.type)
    return plain(column)


def reject_nulls(column: Any, name: str) -> None:
    """Raise if any value of a column is missing."""
    missing = _missing(column)
    count = int(np.count_nonzero(missing))
    if count:
        raise InputError(
            f"column {shown(name)} has {plural(count, 'missing value')}, the first in "
            f"data row {int(np.argmax(missing)) + 1}: fill those rows, or leave them out with "
            "missing='drop'."
        )


def _missing(column: Any) -> Mask:
    if not column.null_count and is_number(column):
        values = numpy_of(column)
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
    return np.asarray(column.is_null(nan_is_null=True), dtype=np.bool_)


def _times(column: Any, name: str) -> Array:
    reject_nulls(column, name)
    return as_times(column, name)


def _scores(column: Any, name: str, decimal: str | None = None) -> Array:
    _require_numbers(column, f"score column {shown(name)}", decimal)
    reject_nulls(column, name)
    scores = _validation.as_scores(numpy_of(column), f"column {shown(name)}")
    _validation.reject_missing(scores, f"column {shown(name)}")
    return scores


def _require_numbers(column: Any, what: str, decimal: str | None) -> None:
    if is_text(column):
        raise text_error(column, what, decimal)
    if not is_number(column):
        raise InputError(
            f"{what} holds {column.type}, not numbers: name a column of numbers, or convert it "
            "first."
        )


def _weights(column: Any, name: str, decimal: str | None) -> FloatArray:
    _require_numbers(column, f"weight column {shown(name)}", decimal)
    reject_nulls(column, name)
    values = numpy_of(column)
    weights = _validation.as_weights(values, f"weight column {shown(name)}")
    if not weights.any():
        raise InputError(f"weight column {shown(name)} is zero in every row.")
    return weights


def _positive(column: Any, roles: Roles, say: Callable[[str], None]) -> Mask:
    name = f"label column {shown(roles.label)}"
    if roles.partly_labelled and (missing := _missing(column)).any():
        positive = np.zeros(len(column), dtype=np.bool_)
        if not missing.all():
            import pyarrow as pa

            labelled = column.filter(pa.array(~missing))  # older releases take no other mask
            positive[~missing] = _positive(labelled, roles, say)
        return positive
    reject_nulls(column, roles.label)
    if is_text(column):
        return positive_text(column, roles.label, roles.pos_label, say)
    if not is_number(column):
        raise InputError(f"{name} holds {column.type}, which are no labels.")
    labels = numpy_of(column)
    return positive_numbers(labels, roles.label, roles.pos_label, say)


def _coded(column: Any) -> Coded:
    """Names in the order to show them, those that are missing last."""
    encoded = as_names(column).fill_null(MISSING).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = positions(names)
    position = np.empty(len(names), dtype=np.int64)
    position[order] = np.arange(len(names))
    return Coded(position[encoded.indices.to_numpy()], [names[place] for place in order])


def _values(column: Any, name: str) -> Array:
    """Whatever a column holds, None where it holds nothing."""
    return _validation.as_vector(with_missing(column), f"column {shown(name)}")


def _clusters(column: Any, name: str) -> Coded:
    reject_nulls(column, name)
    return _coded(column)
