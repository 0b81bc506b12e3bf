"""Values that nobody should pass, and some that look wrong and are right, for the fuzzers.

Each is made anew by a function: a generator can be read only once, and a call could change an
array.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch

Y = (1, 0, 1, 0, 0, 1, 0, 0)
S = (0.875, 0.75, 0.75, 0.5, 0.25, 0.5, 0.125, 0.25)


class NoArray:
    """Says that it is an array, and then is not."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        raise RuntimeError("not today")


def read_only(values: object) -> np.ndarray:
    array = np.array(values)
    array.flags.writeable = False
    return array


def strided(values: object) -> np.ndarray:
    """Every second element of a larger array, in which the others are wrong."""
    array = np.asarray(values)
    wide = np.full(2 * array.size, 77, dtype=array.dtype)
    wide[::2] = array
    return wide[::2]


def swapped(values: object, dtype: str) -> np.ndarray:
    """The same numbers in the byte order that this machine does not have."""
    return np.asarray(values).astype(np.dtype(dtype).newbyteorder("S"))


SCALARS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "NaN": lambda: float("nan"),
    "NumPy NaN": lambda: np.float64("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "True": lambda: True,
    "NumPy False": lambda: np.False_,
    "zero": lambda: 0,
    "minus zero": lambda: -0.0,
    "one": lambda: 1,
    "minus one": lambda: -1,
    "half": lambda: 0.5,
    "float16": lambda: np.float16(0.5),
    "unsigned": lambda: np.uint64(3),
    "small": lambda: 1e-300,
    "smallest": lambda: 5e-324,
    "large": lambda: 1e308,
    "nearly one": lambda: float(np.nextafter(1.0, 0.0)),
    "64 bits": lambda: 2**63,
    "100 bits": lambda: 2**100,
    "2000 bits": lambda: -(2**2000),
    "Decimal": lambda: Decimal("0.5"),
    "Decimal NaN": lambda: Decimal("sNaN"),
    "Fraction": lambda: Fraction(1, 2),
    "complex": lambda: 0.5 + 0j,
    "word": lambda: "word",
    "no word": lambda: "",
    "digits": lambda: "1",
    "surrogate": lambda: "\udce4",
    "bytes": lambda: b"1",
    "date": lambda: dt.date(2024, 1, 1),
    "NumPy date": lambda: np.datetime64("NaT"),
    "pandas NA": lambda: pd.NA,
    "type": lambda: float,
    "function": lambda: len,
    "object": object,
    "ellipsis": lambda: ...,
    "slice": lambda: slice(None),
    "0-d array": lambda: np.array(1),
    "0-d tensor": lambda: torch.tensor(0.5),
    "Arrow scalar": lambda: pa.scalar(None, pa.int64()),
}

COLLECTIONS: dict[str, Callable[[], Any]] = {
    "empty list": list,
    "empty tuple": tuple,
    "empty array": lambda: np.zeros(0),
    "empty column": lambda: pd.Series([], dtype=object),
    "empty dict": dict,
    "pair": lambda: (0.2, 0.8),
    "pair of NaN": lambda: (np.nan, np.nan),
    "pair of words": lambda: ("0", "1"),
    "one row": lambda: [1],
    "a row too many": lambda: [*Y, 1],
    "all ties": lambda: [1] * 8,
    "no positives": lambda: [0] * 8,
    "nested": lambda: [[1], [0], [1, 2], [], [0], [1], [0], [0]],
    "2-d": lambda: [[1, 0]] * 4,
    "2-d array": lambda: np.ones((8, 2)),
    "3-d array": lambda: np.ones((2, 2, 2)),
    "rows of arrays": lambda: np.array([*[np.ones(2)] * 7, None], dtype=object),
    "rows of NoArray": lambda: [NoArray() for _ in Y],
    "rows of tensors": lambda: [torch.tensor(float(v)) for v in Y],
    "generator": lambda: (value for value in Y),
    "map": lambda: map(int, Y),
    "range": lambda: range(8),
    "set": lambda: {0, 1},
    "frozenset": lambda: frozenset({0, 1}),
    "dict": lambda: dict(enumerate(Y)),
    "dict of scores": lambda: {"a": list(S), "b": list(S)[::-1]},
    "dict of rubbish": lambda: {None: object(), 1: "x"},
    "namespace": lambda: SimpleNamespace(n_pos=1, n_neg=1),
    "NoArray": NoArray,
    "text": lambda: ["a", "b"] * 4,
    "text of digits": lambda: [str(v) for v in Y],
    "NumPy text": lambda: np.array(["a", "b"] * 4),
    "string dtype": lambda: np.array(["a", "b"] * 4, dtype=np.dtypes.StringDType()),
    "list of bytes": lambda: [b"a", b"b"] * 4,
    "bytearray": lambda: bytearray(Y),
    "memoryview": lambda: memoryview(bytes(Y)),
    "with None": lambda: [*S[:-1], None],
    "with NaN": lambda: [*S[:-1], np.nan],
    "all NaN": lambda: np.full(8, np.nan),
    "infinite": lambda: [np.inf, -np.inf, 1, 0, np.inf, 2, 3, -np.inf],
    "all infinite": lambda: [np.inf] * 8,
    "signed zeros": lambda: [0.0, -0.0] * 4,
    "third label": lambda: [*Y[:-1], 2],
    "minus one and one": lambda: [2 * v - 1 for v in Y],
    "mixed": lambda: [1, "0", 1.0, None, True, b"0", 0j, []],
    "mixed numbers": lambda: [1, 0.0, True, Decimal(0), Fraction(0), np.int8(1), 0, 0],
    "huge integers": lambda: [2**70 + v for v in range(8)],
    "uint64 and negative": lambda: [2**63 + 1, -1, 0, 1, 2, 3, 4, 5],
    "largest uint64": lambda: np.array([2**64 - 1 - v for v in range(8)], dtype=np.uint64),
    "int8": lambda: np.array([127, -128, *Y[2:]], dtype=np.int8),
    "float16": lambda: np.array(S, dtype=np.float16),
    "longdouble": lambda: np.array(S, dtype=np.longdouble),
    "complex array": lambda: np.array(S) + 0j,
    "object array": lambda: np.array(S, dtype=object),
    "structured": lambda: np.zeros(8, dtype=[("a", "f8"), ("b", "i4")]),
    "void": lambda: np.zeros(8, dtype="V4"),
    "dates": lambda: np.array(["2024-01-01"] * 8, dtype="M8[D]"),
    "durations": lambda: np.arange(8).astype("m8[s]"),
    "with NaT": lambda: np.array(["NaT"] * 8, dtype="M8[ns]"),
    "byte-swapped": lambda: swapped(S, "f8"),
    "read-only": lambda: read_only(S),
    "strided": lambda: strided(S),
    "backwards": lambda: np.array(S)[::-1],
    "booleans": lambda: np.array(Y, dtype=bool),
    "masked": lambda: np.ma.array(S, mask=[0] * 7 + [1]),
    "nothing masked": lambda: np.ma.array(Y, mask=[0] * 8),
    "negative": lambda: [-v for v in S],
    "zeros": lambda: [0.0] * 8,
    "tiny": lambda: [1e-300] * 8,
    "enormous": lambda: [1e308] * 8,
    "tiny and enormous": lambda: [1e-90, 1e90] * 4,
    "beyond tiny and enormous": lambda: [1e-300, 1e308] * 4,
    "pandas with nulls": lambda: pd.Series([*Y[:-1], None], dtype="Int64"),
    "pandas categories": lambda: pd.Series(["x", None] * 4, dtype="category"),
    "pandas strings": lambda: pd.Series(["x", None] * 4, dtype="string"),
    "pandas repeated index": lambda: pd.Series(Y, index=[0] * 8),
    "pandas frame": lambda: pd.DataFrame({"a": Y, "b": S}),
    "pandas dates with zone": lambda: pd.Series(pd.date_range("2024", periods=8, tz="UTC")),
    "Polars with nulls": lambda: pl.Series([*Y[:-1], None]),
    "Polars lists": lambda: pl.Series([[1], [2]] * 4),
    "Polars categories": lambda: pl.Series(["x", None] * 4, dtype=pl.Categorical),
    "Polars decimals": lambda: pl.Series([Decimal("0.5")] * 8),
    "Polars frame": lambda: pl.DataFrame({"a": Y, "b": S}),
    "Polars lazy frame": lambda: pl.LazyFrame({"a": Y}),
    "Arrow with nulls": lambda: pa.array([*Y[:-1], None]),
    "Arrow nulls": lambda: pa.nulls(8),
    "Arrow dictionary": lambda: pa.array(["x", None] * 4).dictionary_encode(),
    "Arrow decimals": lambda: pa.array([Decimal("0.1")] * 8),
    "Arrow lists": lambda: pa.array([[1]] * 8),
    "Arrow structs": lambda: pa.array([{"a": 1}] * 8),
    "Arrow dates": lambda: pa.array([dt.date(2024, 1, 1)] * 8),
    "Arrow half floats": lambda: pa.array(np.array(S, dtype=np.float16)),
    "Arrow chunks": lambda: pa.chunked_array([list(S[:3]), [], list(S[3:])]),
    "Arrow no chunks": lambda: pa.chunked_array([], type=pa.float64()),
    "Arrow table": lambda: pa.table({"a": Y}),
    "tensor": lambda: torch.tensor(S, requires_grad=True),
    "half tensor": lambda: torch.tensor(S, dtype=torch.bfloat16),
    "sparse tensor": lambda: torch.tensor(S).to_sparse(),
    "conjugated tensor": lambda: torch.tensor([1j] * 8).conj(),
    "2-d tensor": lambda: torch.ones(4, 2),
    "meta tensor": lambda: torch.ones(8, device="meta"),
}

HOSTILE = SCALARS | {
    name if name not in SCALARS else f"{name} array": make for name, make in COLLECTIONS.items()
}
