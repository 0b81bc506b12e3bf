"""Arrow columns as plain values, wherever they enter: as an argument, from a file, in an engine.

PyArrow is imported inside the functions: whoever has an Arrow column has imported it already.
"""

from __future__ import annotations

from typing import Any


def is_arrow(values: object) -> bool:
    """Return whether this is a PyArrow column, without importing PyArrow to find out."""
    return type(values).__module__.partition(".")[0] == "pyarrow" and hasattr(values, "null_count")


def is_nested(column: Any) -> bool:
    """Return whether a row of the column holds several values: a list, a struct, a map."""
    import pyarrow.types as kind

    found = column.type
    return bool(kind.is_nested(found.value_type if kind.is_dictionary(found) else found))


def is_number(column: Any) -> bool:
    """Return whether the column holds plain numbers or booleans."""
    import pyarrow.types as kind

    found = column.type
    return bool(kind.is_integer(found) or kind.is_floating(found) or kind.is_boolean(found))


def is_text(column: Any) -> bool:
    """Return whether the column, or the field of a schema, holds text."""
    import pyarrow.types as kind

    found = column.type.value_type if kind.is_dictionary(column.type) else column.type
    return bool(kind.is_string(found) or kind.is_large_string(found))


def flat(column: Any) -> Any:
    """Return one array of the chunks of a column."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def decoded(column: Any) -> Any:
    """Return values instead of positions in a dictionary; a missing position is a null.

    NumPy's own conversion of a dictionary in chunks gives missing positions the last value.
    """
    import pyarrow as pa
    import pyarrow.types as kind

    if not kind.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        chunks = [chunk.dictionary_decode() for chunk in column.chunks]
        return pa.chunked_array(chunks, type=column.type.value_type)
    return column.dictionary_decode()


def with_missing(values: Any) -> Any:
    """Return an Arrow column that has nulls as objects, None where it has one; others as it is."""
    import numpy as np

    if not (is_arrow(values) and values.null_count):
        return values
    return np.array(decoded(values).to_pylist(), dtype=object)


def plain(column: Any) -> Any:
    """Return one array; what only Arrow knows becomes the nearest plain numbers."""
    import pyarrow as pa
    import pyarrow.types as kind

    column = flat(decoded(column))
    if kind.is_decimal(column.type):
        # Reading the digits rounds correctly; the direct cast does not always.
        return column.cast(pa.string()).cast(pa.float64())
    return column.cast(pa.float64()) if kind.is_null(column.type) else column


def numpy_of(column: Any) -> Any:
    """Return an array as NumPy has it.

    PyArrow's own conversion imports pandas wherever that is installed, which takes longer than all
    the rest of a small file; numbers without gaps are handed over without it.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.types as kind

    found = column.type
    plain_number = kind.is_integer(found) or kind.is_float32(found) or kind.is_float64(found)
    if isinstance(column, pa.Array) and plain_number and not column.null_count:
        return np.from_dlpack(column)
    return column.to_numpy(zero_copy_only=False)
