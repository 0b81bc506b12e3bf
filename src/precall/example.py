"""The embedded example: 4,000 made-up card payments, of which 78 are fraud, and two scorers."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._notebook import Rich

_COLUMNS = MappingProxyType(
    {
        "identifier": "payment_id",
        "cluster": "card_id",
        "group": "channel",
        "amount": "amount",
        "label": "fraud",
    }
)
_SCORES = MappingProxyType({"gradient_boosting": np.float64, "scorecard": np.int64})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Example(Rich):
    """The embedded example as arrays, one element a payment, in order of time; all read-only.

    Attributes
    ----------
    identifier : ndarray of str
        Names the payment.
    cluster : ndarray of str
        The card: payments of one card belong together, frauds on a stolen card most of all.
    group : ndarray of str
        The channel (in store, online, ...), each with a prevalence of its own.
    amount : ndarray of float64
        What was paid: a sample weight for those who count money instead of payments.
    label : ndarray of int64
        1 is fraud, 0 is not.
    scores : mapping of str to ndarray
        ``gradient_boosting``, a probability, and ``scorecard``, whole points from 0 to 100 with
        many ties. Higher is more suspicious in both.
    columns : mapping of str to str
        The name that each of the fields above has in the file at `example_path`; scores are named
        there as they are here.
    """

    identifier: NDArray[np.str_]
    cluster: NDArray[np.str_]
    group: NDArray[np.str_]
    amount: NDArray[np.float64]
    label: NDArray[np.int64]
    scores: Mapping[str, NDArray[np.float64] | NDArray[np.int64]]
    columns: Mapping[str, str]

    def __repr__(self) -> str:
        return (
            f"Example({self.label.size} payments, {int(self.label.sum())} fraud, "
            f"scores: {', '.join(self.scores)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The same content in lists and dictionaries, ready for JSON."""
        arrays = {field: getattr(self, field).tolist() for field in self.columns}
        scores = {name: score.tolist() for name, score in self.scores.items()}
        return {**arrays, "scores": scores, "columns": dict(self.columns)}

    def _table(self) -> dict[str, Any]:
        fields = {column: getattr(self, name) for name, column in self.columns.items()}
        return fields | dict(self.scores)

    def _facts(self) -> dict[str, Any]:
        return {
            "payments": self.label.size,
            "fraud": int(self.label.sum()),
            "cards": np.unique(self.cluster).size,
            "channels": np.unique(self.group).tolist(),
            "scores": list(self.scores),
        }


def example_path() -> Path:
    """Where the CSV file of the embedded example is.

    Returns
    -------
    Path
        A file with a header and the columns ``payment_id``, ``card_id``, ``channel``, ``amount``,
        ``fraud``, ``gradient_boosting`` and ``scorecard``.

    Examples
    --------
    >>> from precall import example_path
    >>> example_path().name
    'payments.csv'
    """
    return Path(str(resources.files("precall") / "data" / "payments.csv"))


def load_example() -> Example:
    """The embedded example: a rare event, two scorers, groups, clusters and ties.

    The data is made up (by ``scripts/make_example.py``), but in the way such data is: about two
    percent positives, frauds that come in runs on the same stolen card, channels that differ in
    prevalence, one scorer that gives a probability and an older one that gives points.

    Returns
    -------
    Example
        Read-only arrays of 4,000 elements.

    Examples
    --------
    >>> from precall import load_example
    >>> example = load_example()
    >>> example
    Example(4000 payments, 78 fraud, scores: gradient_boosting, scorecard)
    >>> example.scores["scorecard"][:5]
    array([ 6, 39, 35, 23, 29])
    """
    with example_path().open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    text = dict(zip(header, zip(*rows, strict=True), strict=True))
    return Example(
        identifier=_frozen(text[_COLUMNS["identifier"]], np.str_),
        cluster=_frozen(text[_COLUMNS["cluster"]], np.str_),
        group=_frozen(text[_COLUMNS["group"]], np.str_),
        amount=_frozen(text[_COLUMNS["amount"]], np.float64),
        label=_frozen(text[_COLUMNS["label"]], np.int64),
        scores=MappingProxyType(
            {name: _frozen(text[name], dtype) for name, dtype in _SCORES.items()}
        ),
        columns=_COLUMNS,
    )


def _frozen(column: tuple[str, ...], dtype: DTypeLike) -> NDArray[Any]:
    array = np.array(column).astype(dtype)
    array.setflags(write=False)
    return array
