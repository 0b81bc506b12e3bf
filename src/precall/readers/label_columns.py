"""Labels of a file: which rows are positive, by a number or by a word."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from .messages import shown

Mask = npt.NDArray[np.bool_]


def numeric_label(pos_label: Any, name: str) -> Any:
    """Return the positive label of a column of numbers."""
    if pos_label is None:
        return 1
    if not isinstance(pos_label, str):
        return pos_label
    text = pos_label.strip().lower()
    if text in ("true", "false"):
        return int(text == "true")
    try:
        value = float(text)
    except ValueError:
        raise InputError(
            f"{name} holds numbers, and the positive label {shown(pos_label)} is none: "
            "give one of its numbers as pos_label=."
        ) from None
    return int(value) if value.is_integer() else value


def _rarer(encoded: Any, words: list[str]) -> str:
    """The label that fewer rows have, which is the positive one more often than not."""
    rows = np.bincount(encoded.indices.to_numpy(zero_copy_only=False), minlength=len(words))
    return words[int(np.argmin(rows))]


def positive_text(column: Any, label: str, pos_label: Any) -> Mask:
    """Labels that are words: compared once per distinct word."""
    name = f"label column {shown(label)}"
    encoded = column.dictionary_encode()
    words = encoded.dictionary.to_pylist()
    listed = ", ".join(shown(word) for word in words[:5]) + (", ..." if len(words) > 5 else "")
    if len(words) > 2:
        raise InputError(
            f"{name} has {len(words)} different labels ({listed}), and two are allowed: make a "
            "column that says positive or not."
        )
    if pos_label is None:
        raise InputError(
            f"{name} holds words ({listed}): say which one is positive, for example "
            f"pos_label={shown(_rarer(encoded, words))}."
        )
    if str(pos_label) not in words:
        raise InputError(f"{name} has no label {shown(pos_label)}; it has {listed}.")
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return np.asarray(codes == words.index(str(pos_label)), dtype=np.bool_)
