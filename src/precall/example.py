"""The embedded examples: made-up card payments, and real breast tumours, with two scorers each."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._notebook import Rich
from ._options import as_choice


class _File(NamedTuple):
    """One file: its columns by field, its scores by type, what a row and a positive are called."""

    name: str
    columns: Mapping[str, str]
    scores: Mapping[str, DTypeLike]
    row: str
    positive: str


_PAYMENTS = _File(
    "payments.csv",
    MappingProxyType(
        {
            "identifier": "payment_id",
            "cluster": "card_id",
            "group": "channel",
            "amount": "amount",
            "label": "fraud",
        }
    ),
    MappingProxyType({"gradient_boosting": np.float64, "scorecard": np.int64}),
    "payments",
    "fraud",
)
_TUMOURS = _File(
    "tumours.csv",
    MappingProxyType({"identifier": "tumour_id", "group": "fold", "label": "malignant"}),
    MappingProxyType({"logistic_regression": np.float64, "decision_tree": np.float64}),
    "tumours",
    "malignant",
)
_FILES = MappingProxyType({"payments": _PAYMENTS, "tumours": _TUMOURS})
_TYPES: Mapping[str, DTypeLike] = MappingProxyType({"amount": np.float64, "label": np.int64})
#: The names of the embedded examples.
EXAMPLES = tuple(_FILES)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Example(Rich):
    """An embedded example as arrays, one element a row of its file; all read-only.

    Attributes
    ----------
    label : ndarray of int64
        1 is positive (fraud, malignant), 0 is not.
    scores : mapping of str to ndarray
        Of the payments ``gradient_boosting``, a probability, and ``scorecard``, whole points from
        0 to 100 with many ties; of the tumours ``logistic_regression`` and ``decision_tree``, the
        probabilities of models fitted on the other folds. Higher is more suspicious in all.
    identifier : ndarray of str
        Names the row.
    group : ndarray of str
        The channel of a payment (in store, online, ...), each with a prevalence of its own; the
        fold of a tumour.
    cluster : ndarray of str, or None
        The card: payments of one card belong together, frauds on a stolen card most of all.
        Tumours have none.
    amount : ndarray of float64, or None
        What was paid: a sample weight for those who count money instead of payments. Tumours have
        none.
    columns : mapping of str to str
        The name that each of the fields above has in the file at `example_path`; scores are named
        there as they are here.
    name : str
        ``payments`` or ``tumours``.
    """

    identifier: NDArray[np.str_]
    cluster: NDArray[np.str_] | None = None
    group: NDArray[np.str_]
    amount: NDArray[np.float64] | None = None
    label: NDArray[np.int64]
    scores: Mapping[str, NDArray[np.float64] | NDArray[np.int64]]
    columns: Mapping[str, str]
    name: str = "payments"

    def __repr__(self) -> str:
        kind = _FILES[self.name]
        return (
            f"Example({self.label.size} {kind.row}, {int(self.label.sum())} {kind.positive}, "
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
        kind = _FILES[self.name]
        facts: dict[str, Any] = {
            kind.row: self.label.size,
            kind.positive: int(self.label.sum()),
            f"{self.columns['group']}s": np.unique(self.group).tolist(),
            "scores": list(self.scores),
        }
        if self.cluster is not None:
            facts["cards"] = np.unique(self.cluster).size
        return facts


def example_path(name: str = "payments") -> Path:
    """Where the CSV file of an embedded example is.

    Parameters
    ----------
    name : {"payments", "tumours"}, default "payments"
        Which example.

    Returns
    -------
    Path
        A file with a header. Payments have the columns ``payment_id``, ``card_id``, ``channel``,
        ``amount``, ``fraud``, ``gradient_boosting`` and ``scorecard``; tumours have ``tumour_id``,
        ``fold``, ``malignant``, ``logistic_regression`` and ``decision_tree``.

    Examples
    --------
    >>> from precall import example_path
    >>> example_path().name, example_path("tumours").name
    ('payments.csv', 'tumours.csv')
    """
    return Path(str(resources.files("precall") / "data" / _file(name).name))


def _file(name: object) -> _File:
    return _FILES[as_choice(name, "name", EXAMPLES)]


def load_example(name: str = "payments") -> Example:
    """An embedded example: made-up payments, or real tumours, each with two scorers.

    ``payments`` are made up (by ``scripts/make_example.py``), but in the way such data is: about
    two percent positives, frauds that come in runs on the same stolen card, channels that differ in
    prevalence, one scorer that gives a probability and an older one that gives points.

    ``tumours`` are real: the 569 breast tumours of the Breast Cancer Wisconsin (Diagnostic) data of
    Wolberg, Street and Mangasarian (1995), 212 of them malignant, scored by a logistic regression
    and a decision tree that ``scripts/make_tumours.py`` fits to four of the columns by
    cross-validation.

    Parameters
    ----------
    name : {"payments", "tumours"}, default "payments"
        Which example.

    Returns
    -------
    Example
        Read-only arrays of 4,000 or 569 elements.

    Examples
    --------
    >>> from precall import load_example
    >>> example = load_example()
    >>> example
    Example(4000 payments, 78 fraud, scores: gradient_boosting, scorecard)
    >>> example.scores["scorecard"][:5]
    array([ 6, 39, 35, 23, 29])
    >>> load_example("tumours")
    Example(569 tumours, 212 malignant, scores: logistic_regression, decision_tree)
    """
    kind = _file(name)
    with example_path(name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    text = dict(zip(header, zip(*rows, strict=True), strict=True))
    fields = {
        field: _frozen(text[column], _TYPES.get(field, np.str_))
        for field, column in kind.columns.items()
    }
    return Example(
        **fields,
        scores=MappingProxyType(
            {score: _frozen(text[score], dtype) for score, dtype in kind.scores.items()}
        ),
        columns=kind.columns,
        name=name,
    )


def _frozen(column: tuple[str, ...], dtype: DTypeLike) -> NDArray[Any]:
    array = np.array(column).astype(dtype)
    array.setflags(write=False)
    return array
