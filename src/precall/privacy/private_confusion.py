"""The private confusion matrix at a public threshold, and every metric that follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .._notebook import Rich
from .._validation import as_choice, as_number
from ..exceptions import InputError
from ._ledger import as_epsilon
from ._persons import as_rows_per_person, read_persons, row_share
from ._rows import read_rows
from .balanced import add_balanced, check_epsilon
from .budget import Budget, Part, as_budget
from .mechanisms import IntArray, Noisy, add_to_cells, noise_source
from .neighbours import MOVED_COUNTS, REPLACE, as_neighbours, estimated_rows
from .ratios import CELLS, CONFUSION_METRICS, plausible, ratio
from .values import PrivateValue, mark, persons_mark

#: How noise is added to the four counts, by the name of the mechanism.
CONFUSION_MECHANISMS: dict[str, Callable[..., tuple[Noisy, ...]]] = {
    "k_norm": add_balanced,
    # Replacing a row takes one from a cell and gives one to another.
    "laplace": partial(add_to_cells, sensitivity=2.0),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivateConfusion(Rich):
    """A confusion matrix released with noise. It may be published as it is.

    Attributes
    ----------
    tp, fp, fn, tn : float
        Noisy counts, none below 0; if the number of rows is public, they add up to it.
    threshold : float
        The public threshold: a row is called positive if its score is at least that.
    epsilon, delta : float
        What it cost.
    mechanism : str
        How it was made.
    scale : float
        Standard deviation of the noise in each count, as it was released.
    n_rows : int
        Public number of rows; if that is private, an estimate from the noisy counts.
    noisy : tuple of Noisy
        The four counts as they were released.
    seeded : bool
        Whether the noise came from a seed: then it is for simulation, and not private.
    rows_per_person : int
        How many rows of one person are protected together.
    n_persons : int or None
        Public number of persons, if rows were drawn from each.
    neighbours : str
        "replace" if the number of rows is public; "add_remove" if it is private.
    """

    tp: float
    fp: float
    fn: float
    tn: float
    threshold: float
    epsilon: float
    delta: float
    mechanism: str
    scale: float
    n_rows: int
    noisy: tuple[Noisy, ...]
    seeded: bool = False
    rows_per_person: int = 1
    n_persons: int | None = None
    neighbours: str = REPLACE

    def measure(self, metric: str, *, beta: float = 1.0) -> PrivateValue:
        """Return a metric of this matrix; it costs nothing more, however many are asked for.

        Parameters
        ----------
        metric : str
            One of :data:`CONFUSION_METRICS`.
        beta : float, default 1.0
            Weight of recall in ``f_beta``.

        Returns
        -------
        PrivateValue
            NaN if its denominator is 0.
        """
        form = ratio(metric, beta=beta, free=self.neighbours != REPLACE)
        return PrivateValue(
            value=form.of([getattr(self, cell) for cell in CELLS]),
            epsilon=self.epsilon,
            delta=self.delta,
            mechanism=self.mechanism,
            scale=form.error(self.noisy, self.n_rows),
            metric=form,
            n_rows=self.n_rows,
            noisy=self.noisy,
            seeded=self.seeded,
            rows_per_person=self.rows_per_person,
            n_persons=self.n_persons,
        )

    def __repr__(self) -> str:
        """Return one line."""
        cells = ", ".join(f"{cell}={getattr(self, cell):.6g}" for cell in CELLS)
        return (
            f"PrivateConfusion({cells}, threshold={self.threshold:.6g}, "
            f"epsilon={self.epsilon:.6g}, delta={self.delta:.6g}, mechanism={self.mechanism!r}"
            f"{persons_mark(self.rows_per_person, self.n_persons)}{mark(self.seeded)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary of what may be published, metrics included."""
        cost = ("epsilon", "delta", "mechanism", "scale", "n_rows", "seeded")
        names = (*CELLS, "threshold", *cost, "rows_per_person", "n_persons", "neighbours")
        plain = {name: getattr(self, name) for name in names}
        return plain | {
            name: self.measure(name).value for name in CONFUSION_METRICS if name != "f_beta"
        }


def confusion(
    y_true: object,
    y_score: object = None,
    *,
    threshold: float,
    epsilon: float,
    budget: Budget | Part,
    pos_label: object = 1,
    mechanism: str = "k_norm",
    person: object = None,
    rows_per_person: int = 1,
    neighbours: str = REPLACE,
    rng: object = None,
) -> PrivateConfusion:
    """Release the confusion matrix at a threshold that was chosen without the data.

    Replacing a row moves two counts by one each, so little noise is needed, and every metric of
    the matrix follows at no cost.

    Parameters
    ----------
    y_true, y_score : array-like
        The private rows, as for :func:`average_precision`.
    threshold : float
        Public; not a quantile or an optimum of the same data. Rows at or above it are called
        positive.
    epsilon : float
        Cost.
    budget : Budget
        What pays for it.
    pos_label : label, default 1
        The label of the positive class, as for :func:`average_precision`.
    mechanism : {"k_norm", "laplace"}
        "k_norm" is noise that adds up to 0, as the counts add up to the public number of rows: of
        all noise that protects a replaced row in this way it has the fewest rows in it. "laplace"
        is independent noise in each count, whose error is a fifth larger and whose intervals are
        wider by two fifths.
    person, rows_per_person : optional
        Who is protected, as for :func:`average_precision`.
    neighbours : {"replace", "add_remove"}
        As for :func:`pr_curve`. "add_remove" keeps the number of rows private, and takes
        ``mechanism="laplace"``, with noise of scale ``1 / epsilon``.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    PrivateConfusion

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> y = np.arange(10_000) % 4 == 0
    >>> score = np.where(y, 0.8, np.linspace(0, 1, 10_000))
    >>> budget = privacy.Budget(epsilon=1.0)
    >>> matrix = privacy.confusion(y, score, threshold=0.5, epsilon=1.0, budget=budget)
    >>> round(matrix.measure("precision").value, 1), round(matrix.measure("recall").value, 1)
    (0.4, 1.0)
    """
    epsilon = as_epsilon(epsilon)
    threshold = as_number(threshold, "threshold")
    rows_per_person = as_rows_per_person(rows_per_person)
    share = row_share(epsilon, rows_per_person)
    add = CONFUSION_MECHANISMS[as_choice(mechanism, "mechanism", CONFUSION_MECHANISMS)]
    private_number = as_neighbours(neighbours) != REPLACE
    if private_number:
        if mechanism != "laplace":
            raise InputError(
                'neighbours="add_remove" takes mechanism="laplace": noise that adds up to 0 would '
                "show the number of rows, which is private."
            )
        add = partial(add_to_cells, sensitivity=MOVED_COUNTS[neighbours])
    check_epsilon(share)
    budget = as_budget(budget)
    noise = noise_source(rng)
    what = "confusion matrix"
    with budget.hold(
        epsilon=epsilon, delta=0.0, what=what, seeded=noise.seeded, neighbours=neighbours
    ) as hold:
        positive, scores = read_rows(
            y_true, y_score, pos_label=pos_label, may_be_empty=private_number
        )
        persons = read_persons(
            person, rows_per_person, positive.size, private_number=private_number
        )
        hold.look(positive, scores)
        positive, scores = persons.draw(noise, positive, scores)
        noisy = add(_counts(positive, scores >= threshold), epsilon=share, noise=noise)
    n_rows = int(positive.size)
    if private_number:
        cells = [max(cell.value, 0.0) for cell in noisy]
        n_rows = estimated_rows(sum(int(cell.value) for cell in noisy))
    else:
        cells = plausible(noisy, n_rows)
    return PrivateConfusion(
        **dict(zip(CELLS, cells, strict=True)),
        threshold=threshold,
        epsilon=epsilon,
        delta=0.0,
        mechanism=mechanism,
        scale=noisy[0].deviation,
        n_rows=n_rows,
        noisy=noisy,
        seeded=noise.seeded,
        rows_per_person=rows_per_person,
        n_persons=None if private_number else persons.count,
        neighbours=neighbours,
    )


def _counts(positive: npt.NDArray[np.bool_], called: npt.NDArray[np.bool_]) -> IntArray:
    cells = (positive & called, ~positive & called, positive & ~called, ~positive & ~called)
    return np.array([np.count_nonzero(cell) for cell in cells], dtype=np.int64)
