"""A threshold that keeps a promised precision, chosen privately.

One release says which of many public thresholds is the lowest whose precision can be promised. The
promise allows for the noise and for the sampling of the rows, and for the choice.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._notebook import Rich
from .._validation import as_count, as_fraction
from ..exceptions import InputError
from ._ledger import as_epsilon, exact
from ._persons import read_persons
from ._rows import FloatArray, Mask, read_rows
from .budget import Budget, Part, as_budget
from .critical_counts import slack
from .edges import as_edges, probability_edges
from .histograms import bin_counts
from .mechanisms import Noise, noise_source
from .rescaled import check_rows
from .sparse_vector import SparseVector
from .values import mark, persons_mark

IntArray = npt.NDArray[np.int64]

# Bins of scores that are probabilities: finer than those of a curve, because more cost little here.
_BINS = 64
# Share of the promise's error for the noise; the rest is for sampling.
_NOISE_SHARE = 0.5


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivateOperatingPoint(Rich):
    """A threshold whose precision is promised. It may be published as it is.

    Attributes
    ----------
    threshold : float or None
        Rows with at least this score are selected; None if nothing could be promised.
    min_precision : float
        What is promised of the population that the rows were drawn from.
    confidence_level : float
        Probability, over the rows and the noise, with which no false promise is made.
    epsilon, delta : float
        What it cost.
    mechanism : str
        How it was made.
    n_thresholds : int
        Number of public thresholds that it was chosen from.
    n_rows : int
        Public number of rows.
    seeded : bool
        Whether the noise came from a seed: then it is for simulation, and not private.
    rows_per_person : int
        How many rows of one person are protected together: always one.
    n_persons : int or None
        Public number of persons, if a row was drawn from each.
    """

    threshold: float | None
    min_precision: float
    confidence_level: float
    epsilon: float
    delta: float
    mechanism: str
    n_thresholds: int
    n_rows: int
    seeded: bool = False
    rows_per_person: int = 1
    n_persons: int | None = None

    @property
    def certified(self) -> bool:
        """Whether a threshold was found that keeps the promise."""
        return self.threshold is not None

    def __repr__(self) -> str:
        """Return one line."""
        found = "nothing certified" if self.threshold is None else f"threshold={self.threshold:.6g}"
        return (
            f"PrivateOperatingPoint({found}, precision >= {self.min_precision:g}, "
            f"{100 * self.confidence_level:g} %, epsilon={self.epsilon:.6g}"
            f"{persons_mark(self.rows_per_person, self.n_persons)}{mark(self.seeded)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary of what may be published."""
        return asdict(self) | {"certified": self.certified}


def operating_point(
    y_true: object,
    y_score: object = None,
    *,
    min_precision: float,
    epsilon: float,
    budget: Budget | Part,
    confidence_level: float = 0.95,
    edges: object = None,
    pos_label: object = 1,
    person: object = None,
    rows_per_person: int = 1,
    rng: object = None,
) -> PrivateOperatingPoint:
    """Choose a threshold privately, and promise its precision.

    The lowest of the inner `edges` at which a precision of at least `min_precision` can be promised
    for the population that the rows were drawn from, one by one. Only that threshold is released;
    what it costs does not depend on how many edges there are. Its recall, and all other metrics at
    it, are another release: :func:`confusion` at this threshold.

    Parameters
    ----------
    y_true, y_score : array-like
        The private rows, as for :func:`average_precision`: other rows than those that the scorer
        was trained on.
    min_precision : float
        What is to be promised.
    epsilon : float
        Cost.
    budget : Budget
        What pays for it.
    confidence_level : float, default 0.95
        A threshold whose precision is lower than promised is released with probability
        ``1 - confidence_level`` at most, over the rows and the noise.
    edges : array-like, optional
        Increasing public numbers, of which all but the first and the last may become the threshold.
        If left out, the scores are taken to be probabilities, as for :func:`pr_curve`, and there
        are 63 thresholds.
    pos_label : label, default 1
        The label of the positive class, as for :func:`average_precision`.
    person : array-like, optional
        Whose row it is: one row of each person is drawn, and persons are protected.
    rows_per_person : int, default 1
        No other number: several rows of a person are not independent, and the promise would be
        wrong.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    PrivateOperatingPoint

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(20_000) % 5 == 0
    >>> score = np.where(y, rng.beta(5, 2, 20_000), rng.beta(2, 5, 20_000))
    >>> budget = privacy.Budget(epsilon=2.0)
    >>> point = privacy.operating_point(y, score, min_precision=0.7, epsilon=1.0, budget=budget)
    >>> point.certified, 0.5 < point.threshold < 0.8
    (True, True)
    >>> matrix = privacy.confusion(y, score, threshold=point.threshold, epsilon=1.0, budget=budget)
    >>> 0.4 < matrix.measure("recall").value < 0.9
    True
    """
    epsilon, budget = as_epsilon(epsilon), as_budget(budget)
    min_precision = as_fraction(min_precision, "min_precision")
    level = as_fraction(confidence_level, "confidence_level")
    if as_count(rows_per_person, "rows_per_person", minimum=1) != 1:
        raise InputError(
            "rows_per_person must be 1 here: several rows of a person are not independent, and the "
            "promise would be wrong. Pass person=, so that one row of each is drawn."
        )
    cuts = threshold_edges(edges)
    test = PrecisionTest.of(min_precision, 1.0 - level, epsilon, cuts.size - 2)
    noise = noise_source(rng)
    what = "threshold for a precision"
    with budget.hold(epsilon=epsilon, delta=0.0, what=what, seeded=noise.seeded) as hold:
        positive, scores = read_rows(y_true, y_score, pos_label=pos_label)
        persons = read_persons(person, 1, positive.size)
        n_rows = check_rows(persons.n_rows)
        hold.look(positive, scores)
        positive, scores = persons.draw(noise, positive, scores)
        place = test.first(*counts_above(positive, scores, cuts), n_rows, noise)
    return PrivateOperatingPoint(
        threshold=None if place is None else float(cuts[1 + place]),
        min_precision=min_precision,
        confidence_level=level,
        epsilon=epsilon,
        delta=0.0,
        mechanism="sparse_vector",
        n_thresholds=cuts.size - 2,
        n_rows=n_rows,
        seeded=noise.seeded,
        n_persons=persons.count,
    )


@dataclass(frozen=True)
class PrecisionTest:
    """What is promised, and the noise that finds a threshold for it.

    Attributes
    ----------
    min_precision : float
        The promise.
    error : float
        Probability, over samples, of certifying a threshold that does not keep it.
    mechanism : SparseVector
        The noise.
    limit : int
        Rows that a threshold has to be away from failing, so that noise rarely lets one pass.
    """

    min_precision: float
    error: float
    mechanism: SparseVector
    limit: int

    @classmethod
    def of(
        cls, min_precision: float, error: float, epsilon: float, n_thresholds: int
    ) -> PrecisionTest:
        """The test for a cost and an error of the promise; no row is involved."""
        mechanism = SparseVector.of(exact(epsilon))
        noise = _NOISE_SHARE * error
        return cls(min_precision, error - noise, mechanism, mechanism.limit(n_thresholds, noise))

    def first(self, tp: IntArray, selected: IntArray, n_rows: int, noise: Noise) -> int | None:
        """The lowest threshold that is found to keep the promise, counted from the lowest."""
        rows = slack(
            tp, selected, n_rows=n_rows, min_precision=self.min_precision, error=self.error
        )
        return self.mechanism.first(rows[::-1], self.limit, noise)


def threshold_edges(edges: object) -> FloatArray:
    """Public edges, of which the inner ones are thresholds: those given, or for probabilities."""
    return probability_edges(_BINS) if edges is None else as_edges(edges, 1, 1.0)


def counts_above(
    positive: Mask, scores: FloatArray, edges: FloatArray
) -> tuple[IntArray, IntArray]:
    """Positives and rows at or above every inner edge, from the highest edge down."""
    bins = edges.size - 1
    counts = bin_counts(positive, scores, edges)
    tp, fp = np.cumsum(counts[:bins])[:-1], np.cumsum(counts[bins:])[:-1]
    return tp, tp + fp
