"""Private cross-validation: what composes, and what does not.

A row is tested in one fold and trained on in the others. Whether the folds' costs compose at all
depends on what the models have seen; proofs in ``PROOFS.md``, section 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._notebook import Rich
from .._validation import as_choice, as_count, as_generator, as_vector
from ..exceptions import InputError
from ..metrics import METRICS, Metric, as_metric, aucpr
from ..metrics import auroc as auroc_metric
from ._ledger import as_delta, as_epsilon, exact, rounded_up
from ._persons import Persons, as_rows_per_person, read_persons
from ._rows import read_rows
from .budget import Budget
from .private_areas import auroc, average_precision
from .values import PrivateValue, mark

_RELEASES = {"average_precision": average_precision, "auroc": auroc}
_TRAINED_ON = ("other_rows", "other_folds")


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivateCrossValidation(Rich):
    """The same metric released from every fold.

    Attributes
    ----------
    value : float
        Mean over the folds.
    folds : tuple of PrivateValue
        The folds' own releases.
    epsilon, delta : float
        What all of it cost, training included.
    scale : float
        Standard deviation of the noise in the mean, to first order.
    """

    value: float
    folds: tuple[PrivateValue, ...]
    epsilon: float
    delta: float
    scale: float

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seed: then this is for simulation, and not private."""
        return any(fold.seeded for fold in self.folds)

    def __float__(self) -> float:
        """Return the mean."""
        return self.value

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"PrivateCrossValidation({self.folds[0].metric.name}={self.value:.4g} "
            f"± {self.scale:.2g}, "
            f"{len(self.folds)} folds, epsilon={self.epsilon:.6g}, delta={self.delta:.6g}"
            f"{mark(self.seeded)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary of what may be published."""
        names = ("value", "epsilon", "delta", "scale", "seeded")
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        return plain | {"folds": [fold.to_dict() for fold in self.folds]}

    def plot(self, ax: Any = None) -> Any:
        """Draw the release of every fold and their mean, and return the Axes."""
        from ..display.private_plots import plot_private_folds

        return plot_private_folds(self, ax)


def assign_folds(n_rows: int, *, n_folds: int, rng: object = None) -> npt.NDArray[np.int64]:
    """Assign rows to folds by their position alone.

    Folds that are stratified by the label, or made in any way from the rows' contents, are not
    parallel: replacing one row could then move others. The assignment itself is no secret.

    Parameters
    ----------
    n_rows, n_folds : int
        Rows and folds.
    rng : optional
        Seed or generator.

    Returns
    -------
    array of int
        The fold of each row, from 0; sizes differ by at most one.

    Examples
    --------
    >>> np.bincount(assign_folds(10, n_folds=3, rng=0))
    array([4, 3, 3])
    """
    n_rows = as_count(n_rows, "n_rows", minimum=1)
    n_folds = as_count(n_folds, "n_folds", minimum=2)
    return as_generator(rng).permutation(np.arange(n_rows) % n_folds)


def cross_validation(
    y_true: object,
    y_score: object,
    fold: object,
    *,
    trained_on: str,
    epsilon: float,
    budget: Budget,
    metric: Metric | type[Metric] | str = "average_precision",
    pos_label: object = 1,
    delta: float = 0.0,
    training_epsilon: float | None = None,
    training_delta: float = 0.0,
    mechanism: str = "rescaled",
    prevalence: float | None = None,
    edges: object = None,
    person: object = None,
    rows_per_person: int = 1,
    rng: object = None,
) -> PrivateCrossValidation:
    """Release a metric from every fold, and charge what that really costs.

    Parameters
    ----------
    y_true, y_score : array-like
        The private rows, as for :func:`average_precision`, each scored by its fold's model.
    fold : array-like of int
        The fold of each row, so that no row is in two: assigned by position, see
        :func:`assign_folds`. It is public.
    trained_on : {"other_rows", "other_folds"}
        What the models were trained on. "other_rows": public rows, or rows that are in no fold;
        the folds are then parallel and cost `epsilon` in all. "other_folds": as cross-validation
        does; then the training must itself have been private (`training_epsilon`), and the cost
        is ``epsilon + (k - 1) training_epsilon`` for `k` folds. Ordinary training on the other
        folds is refused: one row then moves every score in the other folds, and **no** sum of
        the folds' costs covers that.
    epsilon : float
        Cost of each fold's release.
    budget : Budget
        What pays for it: a whole budget, not a part of one.
    metric : Metric or str, default "average_precision"
        What to release: ``average_precision`` (or ``aucpr``), ``auroc``.
    pos_label : label, default 1
        The label of the positive class, as for :func:`average_precision`.
    delta : float, default 0.0
        No mechanism needs it; nothing of it is spent.
    training_epsilon, training_delta : float, optional
        What training one fold's model cost, by its own proof, **for a replaced row**. Most
        accountants (Opacus, TensorFlow Privacy) report the cost of a row that is added or taken
        away; a replaced row is one of each, so twice their epsilon is safe. It is charged
        here; do not charge it elsewhere as well.
    person, rows_per_person : optional
        Who is protected, as for :func:`average_precision`. With `person`, all rows of a person have
        to be in one fold. Without it the rows of a person may be in several, so that every fold's
        model may have seen the person: with "other_folds" and more than one row for each person
        the cost is ``epsilon + k training_epsilon``, and `training_epsilon` is the cost of training
        for a replaced person.
    mechanism, prevalence, edges, rng : optional
        As for :func:`average_precision`.

    Returns
    -------
    PrivateCrossValidation

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> y = np.arange(4000) % 4 == 0
    >>> score = np.where(y, 0.8, np.linspace(0, 1, 4000))
    >>> fold = privacy.assign_folds(4000, n_folds=5, rng=0)
    >>> budget = privacy.Budget(epsilon=1.0)
    >>> result = privacy.cross_validation(
    ...     y, score, fold, trained_on="other_rows", epsilon=1.0, budget=budget
    ... )
    >>> budget.spent.epsilon, len(result.folds)
    (1.0, 5)
    """
    trained_on = as_choice(trained_on, "trained_on", _TRAINED_ON)
    release = _RELEASES[_release_name(metric)]
    if not isinstance(budget, Budget):
        raise InputError("budget must be a whole Budget: the folds are parts of it here.")
    epsilon, delta = as_epsilon(epsilon), as_delta(delta)
    training = _training_cost(trained_on, training_epsilon, training_delta)
    generator = None if rng is None else as_generator(rng)
    positive, scores = read_rows(y_true, y_score, pos_label=pos_label)
    rows_per_person = as_rows_per_person(rows_per_person)
    persons = read_persons(person, rows_per_person, positive.size)
    folds = _positions(fold, positive.size)
    _require_one_fold(persons, folds)
    budget.recognise(positive, scores)
    # Who has rows in several folds may have been seen by every model.
    times = len(folds) - (person is not None or rows_per_person == 1)
    values = []
    with budget.parallel() as rows:
        # A row is in k - 1 training sets and in one test set: each fold's part pays for all of it.
        for number, mine in enumerate(folds):
            part = rows.part(f"fold {number}", rows=mine)
            if training is not None:
                with part.hold(
                    epsilon=_times(times, training[0]),
                    delta=_times(times, training[1]),
                    what=f"training, {times} times",
                ) as hold:
                    hold.look()
            values.append(
                release(
                    positive[mine],
                    scores[mine],
                    epsilon=epsilon,
                    delta=delta,
                    budget=part,
                    mechanism=mechanism,
                    prevalence=prevalence,
                    edges=edges,
                    person=None if persons.codes is None else persons.codes[mine],
                    rows_per_person=rows_per_person,
                    rng=generator,
                )
            )
    paid = training or (0.0, 0.0)
    scales = [value.scale for value in values]
    return PrivateCrossValidation(
        value=float(np.mean([value.value for value in values])),
        folds=tuple(values),
        epsilon=_times(times, paid[0], epsilon),
        delta=_times(times, paid[1], values[0].delta),
        scale=float(np.sqrt(np.sum(np.square(scales))) / len(folds)),
    )


def _release_name(metric: object) -> str:
    """Return which release serves a metric, given by its name or as an object."""
    if not isinstance(metric, str) or metric in METRICS:
        metric = {aucpr(): "average_precision", auroc_metric(): "auroc"}.get(as_metric(metric))
    return as_choice(metric, "metric", _RELEASES)


def _positions(fold: object, n_rows: int) -> list[npt.NDArray[np.int64]]:
    """Positions of the rows of each fold."""
    numbers = as_vector(fold, "fold")
    if numbers.dtype.kind not in "iu" or numbers.size != n_rows:
        raise InputError(
            f"fold must be the number of the fold of each of the {n_rows} rows, as assign_folds "
            "gives."
        )
    found = [np.flatnonzero(numbers == number) for number in np.unique(numbers)]
    if len(found) < 2:
        raise InputError("fold must name at least two folds, got one.")
    return found


def _require_one_fold(persons: Persons, folds: list[npt.NDArray[np.int64]]) -> None:
    """Refuse folds that share a person, in words that name none."""
    if persons.codes is None:
        return
    seen = [np.unique(persons.codes[mine]) for mine in folds]
    if sum(map(len, seen)) != persons.count:
        raise InputError(
            "fold must have all rows of a person in one fold. Which persons are in several is not "
            "said here, because errors of a private release may be seen by others."
        )


def _times(times: int, amount: float, more: float = 0.0) -> float:
    """``times * amount + more``, as decimal numbers."""
    return rounded_up(times * exact(amount) + exact(more))


def _training_cost(
    trained_on: str, training_epsilon: float | None, training_delta: float
) -> tuple[float, float] | None:
    if trained_on == "other_rows":
        if training_epsilon is not None or training_delta:
            raise InputError(
                "training_epsilon is for trained_on='other_folds': models trained on other rows "
                "cost these rows nothing."
            )
        return None
    if training_epsilon is None:
        raise InputError(
            "models that were trained on the other folds' rows without privacy cannot be evaluated "
            "privately fold by fold: one row moves every score in the other folds, so neither the "
            "largest nor the sum of the folds' costs is a guarantee. Train on other rows, or train "
            "privately and pass training_epsilon."
        )
    return as_epsilon(training_epsilon, "training_epsilon"), as_delta(
        training_delta, "training_delta"
    )
