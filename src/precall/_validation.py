"""The only place where the caller's arrays are checked.

Everything array-like enters here and leaves as plain one-dimensional NumPy arrays that obey
the rules; nothing behind this module checks them again. Checks that the sorted data give for
free (NaN scores sort last) are made by the sorting code, which calls back here for the message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ._arrow import decoded, is_arrow, is_nested
from ._options import EXACT_INTEGERS
from ._options import as_choice as as_choice
from ._options import as_count as as_count
from ._options import as_flag as as_flag
from ._options import as_fraction as as_fraction
from ._options import as_generator as as_generator
from ._options import as_number as as_number
from ._options import as_prevalence as as_prevalence
from ._options import as_range as as_range
from ._options import require_progress as require_progress
from .exceptions import InputError

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_SHOWN_LABELS = 5
# Labels looked at in one go: as many as a core keeps at hand.
_BLOCK_ROWS = 65_536
# What holds several values where one is wanted.
_SEVERAL = (list, tuple, Set, Mapping, np.ndarray)
# Squares and sums of squares of weights in this range neither overflow nor vanish.
WEIGHTS = (1e-100, 1e100)
# A rule, and what to do with rows that break it; the engines judge by the same ones.
MISSING = ("must not be missing (NaN or None)", "drop or fill those rows first")
BAD_WEIGHT = ("must be finite and not negative", "correct or drop those rows")
FAR_WEIGHT = (
    f"must be 0 or between {WEIGHTS[0]:g} and {WEIGHTS[1]:g}",
    "divide all weights by their mean",
)


def as_vector(values: object, name: str) -> Array:
    """Turn anything array-like into a one-dimensional array, without a copy where possible."""
    array = as_array(values, name)
    if array.ndim != 1:
        if array.ndim == 0:
            raise InputError(
                f"{name} must be an array of values, got {type(values).__name__}: "
                "pass a list or an array."
            )
        raise InputError(
            f"{name} must be one-dimensional, got shape {array.shape}: "
            f"pass {_one_column(values, array, name)}."
        )
    return array


def _one_column(values: object, array: Array, name: str) -> str:
    """The way out of a table; of two columns of probabilities the second is the positive class."""
    several = array.ndim == 2 and min(array.shape) > 1
    if hasattr(values, "columns"):
        column = list(values.columns)[-1]
        whole = "; pr.Rows.from_frame takes a whole data frame" if several else ""
        return f"one column, for example {name}[{column!r}]{whole}"
    given = f"np.asarray({name})" if isinstance(values, (list, tuple)) else name
    if several:
        return f"one column, for example {given}[:, 1], the second class in predict_proba"
    return f"{given}.ravel()"


def as_array(values: object, name: str) -> Array:
    """Turn anything array-like into an array of any shape, without a copy where possible."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        missing = np.ma.getmaskarray(values).ravel()
        _reject(name, "must not have masked values", missing, MISSING[1])
    if isinstance(values, (str, bytes)) or np.isscalar(values) or values is None:
        read = isinstance(values, str) and "." in values
        way = "read the file first, for example with pandas" if read else "pass a list or an array"
        raise InputError(f"{name} must be an array of values, got {values!r}: {way}.")
    if isinstance(values, (Set, Mapping)):
        raise InputError(
            f"{name} must have its values in the order of the rows, got a "
            f"{type(values).__name__}: pass a list or an array."
        )
    if is_arrow(values):
        return _from_arrow(values, name)
    tensor: Any = values
    try:
        if isinstance(values, (list, tuple)) and values and hasattr(values[0], "detach"):
            tensor = [_detached(value) for value in values]
        else:
            tensor = _detached(values)
        if hasattr(tensor, "__array__") or not hasattr(tensor, "__dlpack__"):
            return np.asarray(tensor)
        return np.from_dlpack(tensor)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise InputError(
            f"{name} cannot be read as an array ({error}): "
            "pass a list, a NumPy array, a column or a tensor of plain numbers."
        ) from error


def _detached(value: Any) -> Any:
    """Take a torch tensor out of its graph and off its device."""
    return value.detach().cpu() if hasattr(value, "detach") and hasattr(value, "cpu") else value


def _from_arrow(values: Any, name: str) -> Array:
    """Look for nulls before they are converted: afterwards some of them look like values."""
    if is_nested(values):
        raise InputError(
            f"{name} must hold one value per row, got {values.type}: take the one value out of "
            "each row first."
        )
    column = decoded(values)
    if column.null_count:
        _reject(name, MISSING[0], np.asarray(column.is_null(), dtype=np.bool_), MISSING[1])
    return np.asarray(column)


def as_numbers(values: object, name: str) -> FloatArray:
    """Return a number, or an array of numbers of any shape, as float64."""
    array = np.asarray(values) if isinstance(values, (Real, np.bool_)) else as_array(values, name)
    if array.dtype.kind == "O":
        return np.asarray(np.frompyfunc(lambda v: as_number(v, name), 1, 1)(array), np.float64)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, got dtype {array.dtype}.")
    return array.astype(np.float64, copy=False)


def as_scores(y_score: object, name: str = "y_score") -> Array:
    """Return scores in a dtype that sorts natively; integers and float32 stay what they are."""
    scores = as_vector(y_score, name)
    kind = scores.dtype.kind
    if kind == "b":
        return scores.view(np.uint8)
    if kind == "f" and isinstance(y_score, (list, tuple)):
        scores = _unrounded(y_score, scores, name)
    if kind in "iuf":
        return scores if scores.dtype.isnative else scores.astype(scores.dtype.newbyteorder("="))
    if kind == "O":
        words = [isinstance(value, (str, bytes)) for value in scores.tolist()]
        if any(words):  # NumPy would read digits out of them here, and refuses them elsewhere
            _reject(name, "must hold numbers, not text", np.asarray(words), "convert it first")
        try:
            return _unrounded(scores, scores.astype(np.float64), name)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            _reject_nested(scores, name)
            reject_missing(scores, name)
            raise InputError(f"{name} must hold numbers ({error}).") from error
    raise InputError(
        f"{name} must hold real numbers, got dtype {scores.dtype}: convert it first, "
        f"for example with np.asarray({name}, dtype=float)."
    )


def _unrounded(given: Sequence[Any] | Array, numbers: FloatArray, name: str) -> Array:
    """Return whole numbers that floats cannot hold as integers; refuse those that do not fit.

    NumPy makes floats of integers beyond 63 bits in a list, and so would tie different scores.
    """
    large = np.flatnonzero(np.abs(numbers) >= EXACT_INTEGERS)
    whole = np.zeros(numbers.size, dtype=np.bool_)
    whole[large] = [isinstance(given[row], Integral) for row in large.tolist()]
    if not whole.any():
        return numbers
    if all(isinstance(value, Integral) for value in given):
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.asarray(given, dtype=dtype)
    _reject(
        name,
        "must hold whole numbers that fit one 64-bit type, or numbers that floats can hold",
        whole,
        "pass the ranks of the scores, or floats",
    )


def as_positive_mask(y_true: object, pos_label: object, name: str = "y_true") -> Mask:
    """Return which rows are positive; the labels must be two at most, and unambiguous."""
    if type(pos_label) is not int:
        require_label(pos_label)
    labels = as_vector(y_true, name)
    kind = labels.dtype.kind
    if kind == "O":
        _reject_nested(labels, name)
    if kind == "b" and isinstance(pos_label, (bool, np.bool_, Integral)) and pos_label in (0, 1):
        mask: Mask = labels if pos_label else ~labels
        return mask
    if kind not in "biufUSOT":
        raise InputError(
            f"{name} must hold labels (numbers, booleans or strings), got {labels.dtype}."
        )
    textual = kind in "UST" or (kind == "O" and any(isinstance(v, str) for v in labels[:1]))
    if kind != "O" and textual != isinstance(pos_label, (str, bytes)):
        _reject_pos_label(labels, pos_label, name)
    if kind in "iu" and type(pos_label) is int and pos_label == 1:
        ones = _ones_among_zeros(labels)
        if ones is not None:
            return ones
    try:
        positive = np.asarray(labels == pos_label, dtype=np.bool_)
    except TypeError:  # pandas.NA has no truth value
        reject_missing(labels, name)
        raise
    count = int(np.count_nonzero(positive))
    n_rest = labels.size - count
    # Of numbers, the first of the usual labels can be counted without comparing them.
    if n_rest == 0 or (kind in "iuf" and pos_label == 1 and np.count_nonzero(labels) == count):
        return positive
    for negative_label in _negative_labels(labels, positive, pos_label):
        if int(np.count_nonzero(labels == negative_label)) == n_rest:
            return positive
    _reject_labels(labels, pos_label, name, textual)


def _ones_among_zeros(labels: Array) -> Mask | None:
    """Return which integers are 1 if all others are 0, the usual labels.

    Block by block: the second look at a block finds it in the cache.
    """
    positive, bits = np.empty(labels.size, dtype=np.bool_), 0
    for first in range(0, labels.size, _BLOCK_ROWS):
        block = labels[first : first + _BLOCK_ROWS]
        np.equal(block, 1, out=positive[first : first + _BLOCK_ROWS])
        bits |= int(np.bitwise_or.reduce(block))
        if bits not in (0, 1):
            return None
    return positive


def require_label(pos_label: object) -> None:
    """Raise unless `pos_label` is one label: NumPy would compare the rows with one of several."""
    single = isinstance(pos_label, (str, bytes, np.generic)) or (
        isinstance(pos_label, np.ndarray) and pos_label.ndim == 0
    )
    if not single and any(hasattr(pos_label, name) for name in ("__len__", "__array__")):
        raise InputError(
            f"pos_label must be one label, got {pos_label!r}: pass the label of the positive "
            "class; to count several as positive, pass a boolean array as y_true."
        )
    if is_missing(pos_label):
        raise InputError(f"pos_label must not be missing, got {pos_label!r}: pass the label.")


def _reject_nested(values: Array, name: str) -> None:
    """Raise if a row holds several values; an array of one of them compares like a number."""
    kinds = set(map(type, values.tolist()))
    nested = tuple(kind for kind in kinds if issubclass(kind, _SEVERAL))
    if nested:
        bad = np.asarray([isinstance(value, nested) for value in values.tolist()])
        shown = " and ".join(sorted(kind.__name__ for kind in nested))
        _reject(name, f"must hold one value per row, got {shown}", bad, "take the one value out")


def as_names(values: object, name: str) -> Array:
    """Return a column of names (of groups, clusters, classes): any values that can be compared."""
    column = as_vector(values, name)
    if column.dtype.kind == "O":
        try:
            set(column.tolist())
        except TypeError:
            raise InputError(
                f"{name} must hold hashable labels, such as numbers or words, one per row."
            ) from None
    return column


def _negative_labels(labels: Array, positive: Mask, pos_label: object) -> tuple[object, ...]:
    if isinstance(pos_label, (str, bytes)):
        other = labels[np.argmin(positive)]
        # NaN and None are missing, not a class of their own.
        return (other,) if isinstance(other, (str, bytes)) else ()
    if pos_label == 1:
        return (0, -1)
    if pos_label in (0, -1):
        return (1,)
    return (labels[np.argmin(positive)],)


def _reject_pos_label(labels: Array, pos_label: object, name: str) -> NoReturn:
    shown = ", ".join(repr(v) for v in _distinct(labels)[:_SHOWN_LABELS])
    raise InputError(
        f"pos_label={pos_label!r} does not fit the labels of {name} ({shown}): "
        f"pass the label of the positive class{_for_example(labels)}."
    )


def _reject_labels(labels: Array, pos_label: object, name: str, textual: bool) -> NoReturn:
    reject_missing(labels, name)
    distinct = _distinct(labels)
    shown = ", ".join(repr(v) for v in distinct[:_SHOWN_LABELS])
    if len(distinct) > _SHOWN_LABELS:
        shown += ", ..."
    if len(distinct) > 2:
        allowed = [*[v for v in distinct if v != pos_label][:1], pos_label]
        bad = np.asarray([v not in allowed for v in labels.tolist()])
        first = int(np.argmax(bad))
        way = f"pass {name} == label for one class against the rest"
        if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
            way = "these look like scores; labels come first, then scores"
        raise InputError(
            f"{name} must have at most two labels, got {len(distinct)} ({shown}); the first row "
            f"with a third one is {first}: {way}."
        )
    if textual and not isinstance(pos_label, (str, bytes)):
        raise InputError(
            f"{name} holds strings ({shown}) and pos_label is {pos_label!r}: "
            f"pass the label of the positive class{_for_example(labels)}."
        )
    if pos_label not in distinct:
        _reject_pos_label(labels, pos_label, name)
    raise InputError(
        f"{name} must have the labels {{0, 1}}, {{-1, 1}} or {{False, True}}, got {shown}: "
        f"pass the label of the positive class{_for_example(labels)}, or a boolean array."
    )


def _for_example(labels: Array) -> str:
    """The rarer of two labels, which is the positive one more often than not."""
    values = labels.tolist()
    distinct = _distinct(labels)
    if len(distinct) != 2:
        return " as pos_label"
    rarer = min(distinct, key=lambda label: sum(value == label for value in values))
    return f", for example pos_label={rarer!r}"


def _distinct(labels: Array) -> list[Any]:
    """Distinct labels in order of appearance; only error messages need them."""
    return list(dict.fromkeys(labels.tolist()))


def reject_missing(values: Array, name: str) -> None:
    """Raise if any value is NaN, None or another marker of a missing value."""
    if values.dtype.kind == "O":
        missing = np.asarray([is_missing(v) for v in values.tolist()], dtype=np.bool_)
    elif values.dtype.kind == "f":
        if not values.size or not np.isnan(values.min()):  # no array of marks in the usual case
            return
        missing = np.isnan(values)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    else:
        return
    if missing.any():
        _reject(name, MISSING[0], missing, MISSING[1])


def is_missing(value: object) -> bool:
    """Whether a value is NaN, None or another marker of a missing value."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ArithmeticError):  # pandas.NA, and a Decimal that is a signalling NaN
        return True
    except (ValueError, RuntimeError):  # several values: not one that is missing
        return False


def _reject(name: str, rule: str, bad: Mask, remedy: str) -> NoReturn:
    count = int(np.count_nonzero(bad))
    rows = "row" if count == 1 else "rows"
    raise InputError(
        f"{name} {rule}: {count} bad {rows} of {bad.size}, the first at position "
        f"{int(np.argmax(bad))}: {remedy}."
    )


def as_weights(sample_weight: object, name: str = "sample_weight") -> FloatArray:
    """Return finite, non-negative float64 weights."""
    weights = as_vector(sample_weight, name)
    if weights.dtype.kind == "O":
        _reject_nested(weights, name)
        reject_missing(weights, name)
        other = [not isinstance(v, (Real, Decimal, np.number)) for v in weights.tolist()]
        if any(other):
            _reject(name, "must hold numbers", np.asarray(other), "correct or drop those rows")
        weights = weights.astype(np.float64)
    if weights.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must hold real numbers, got dtype {weights.dtype}: convert it first."
        )
    weights = weights.astype(np.float64, copy=False)
    good = np.isfinite(weights) & (weights >= 0)
    if not good.all():
        _reject(name, BAD_WEIGHT[0], ~good, BAD_WEIGHT[1])
    if weights.size and not weights.any():
        raise InputError(f"{name} is zero in every row: at least one must be positive.")
    far = is_far_weight(weights)
    if far.any():
        _reject(name, FAR_WEIGHT[0], far, FAR_WEIGHT[1])
    return weights


def is_far_weight(weights: FloatArray) -> Mask:
    """Return which weights are so small or so large that sums of their squares go wrong."""
    near = (weights >= WEIGHTS[0]) & (weights <= WEIGHTS[1])
    return np.asarray((weights != 0) & ~near)


def require_same_length(**arrays: Array) -> None:
    """Raise unless all arrays have one length, above zero."""
    sizes = {name: array.shape[0] for name, array in arrays.items()}
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InputError(f"the arrays must have one value per row each, but {lengths} rows.")
    if 0 in sizes.values():
        raise InputError(f"{' and '.join(sizes)} must have at least one row, got none.")
