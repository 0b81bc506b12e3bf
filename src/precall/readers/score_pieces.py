"""One column of numbers, read piece by piece in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._optional import require
from .._text import visible
from ..exceptions import InputError

# Rows of a piece: eight megabytes of numbers.
ROWS_OF_A_PIECE = 1_000_000


def score_pieces(
    file: str | Path, column: str, rows: int = ROWS_OF_A_PIECE
) -> Callable[[], Iterator[npt.NDArray[np.float64]]]:
    """Return what reads a column of a Parquet file from the beginning, each time it is called.

    Missing numbers are NaN.
    """
    require("pyarrow", "reading a file in pieces", "arrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            schema = opened.schema_arrow
    except FileNotFoundError:
        raise InputError(f"{visible(str(file))} does not exist.") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            f"{visible(str(file))} is not a Parquet file, and only those are read in pieces: "
            "read it whole, or write it as Parquet."
        ) from error
    if column not in schema.names:
        names = ", ".join(map(repr, schema.names[:20]))
        raise InputError(f"there is no column {column!r} in {visible(str(file))}: it has {names}.")
    kind = schema.field(column).type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"column {column!r} must hold numbers, and it holds {kind}.")

    def read() -> Iterator[npt.NDArray[np.float64]]:
        with pq.ParquetFile(file) as opened:
            # One row group at a time: asked for all of them, PyArrow holds the whole column.
            for group in range(opened.num_row_groups):
                pieces = opened.iter_batches(batch_size=rows, row_groups=[group], columns=[column])
                for batch in pieces:
                    yield _numbers(batch.column(0))

    return read


def _numbers(values: Any) -> npt.NDArray[np.float64]:
    import pyarrow as pa

    plain = values.cast(pa.float64())
    found: npt.NDArray[np.float64] = plain.to_numpy(zero_copy_only=False)
    return found
