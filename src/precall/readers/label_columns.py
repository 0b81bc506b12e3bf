"""Labels of a file: which rows are positive, by a number or by a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import as_positive_mask
from ..exceptions import InputError
from .messages import shown

Mask = npt.NDArray[np.bool_]

#: How a sentence ends that says which labels count as negative.
NEGATIVE_REST = "are negative."
#: With more labels than this, a column of something else was probably named.
MOST_LABELS = 100


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


def listed(labels: Sequence[Any]) -> str:
    """Return the first labels in words."""
    return ", ".join(shown(one) for one in labels[:5]) + (", ..." if len(labels) > 5 else "")


def _refuse_many(name: str, labels: Sequence[Any], pos_label: Any) -> None:
    """Raise, if there are more than two labels and nobody said which is the positive one."""
    if len(labels) <= (2 if pos_label is None else MOST_LABELS):
        return
    way = "name the column of labels, or make one that says positive or not"
    if len(labels) <= MOST_LABELS:
        way = (
            "say which one is positive with pos_label=, and the others are negative (a label that "
            "is not known has to be empty, for missing='drop')"
        )
    count = f"{len(labels):,}"
    raise InputError(
        f"{name} has {count} different labels ({listed(labels)}), and two are allowed: {way}."
    )


def say_rest(name: str, labels: Sequence[Any], positive: Any, say: Callable[[str], None]) -> None:
    """Say which labels are negative, where there are several."""
    others = [one for one in labels if one != positive]
    if len(others) > 1:
        say(f"{name}: {shown(positive)} is positive, and {listed(others)} {NEGATIVE_REST}")


def positive_numbers(
    labels: npt.NDArray[Any], label: str, pos_label: Any, say: Callable[[str], None]
) -> Mask:
    """Labels that are numbers: one against the rest, if it was said which."""
    name = f"label column {shown(label)}"
    value = numeric_label(pos_label, name)
    try:
        return as_positive_mask(labels, value, name)
    except InputError:
        distinct = np.unique(labels).tolist()
        if len(distinct) <= 2 or (pos_label is not None and value not in distinct):
            raise
        _refuse_many(name, distinct, pos_label)
        say_rest(name, distinct, value, say)
        return np.asarray(labels == value, dtype=np.bool_)


def positive_text(column: Any, label: str, pos_label: Any, say: Callable[[str], None]) -> Mask:
    """Labels that are words: compared once per distinct word; one against the rest."""
    name = f"label column {shown(label)}"
    encoded = column.dictionary_encode()
    words = encoded.dictionary.to_pylist()
    names = listed(words)
    _refuse_many(name, words, pos_label)
    if pos_label is None:
        raise InputError(
            f"{name} holds words ({names}): say which one is positive, for example "
            f"pos_label={shown(_rarer(encoded, words))}."
        )
    if str(pos_label) not in words:
        raise InputError(f"{name} has no label {shown(pos_label)}; it has {names}.")
    say_rest(name, words, str(pos_label), say)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return np.asarray(codes == words.index(str(pos_label)), dtype=np.bool_)
