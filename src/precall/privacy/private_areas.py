"""Private average precision and AUROC.

Both functions check their arguments, ask the budget, and only then look at the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._validation import as_choice
from ..exceptions import InputError
from ..ranking import Ranking, rank_checked
from . import sensitivity, smooth
from ._ledger import as_delta, as_epsilon, rounded_down
from ._persons import as_rows_per_person, read_persons, row_delta, row_share
from ._rows import read_rows
from .budget import Budget, Part, as_budget
from .mechanisms import Noisy, noise_source
from .rescaled import Auroc, AveragePrecision, centred_auroc, check_rows, lost_precision
from .values import PrivateValue

MECHANISMS = ("rescaled", *smooth.CALIBRATIONS)


def average_precision(
    y_true: object,
    y_score: object = None,
    *,
    epsilon: float,
    budget: Budget | Part,
    pos_label: object = 1,
    delta: float = 0.0,
    mechanism: str = "rescaled",
    person: object = None,
    rows_per_person: int = 1,
    rng: object = None,
) -> PrivateValue:
    """Release the average precision.

    The value that noise is added to is ``aucpr(rank(y_true, y_score))``, ties and all, with every
    score taken as a double.

    Parameters
    ----------
    y_true, y_score : array-like
        The private rows, one for each person: labels and scores, no Ranking. Every row is read by
        itself; rows that cannot be read are refused in words that say nothing about them.
    epsilon : float
        Cost. There is no default, because there is no right one.
    budget : Budget
        What pays for it.
    pos_label : label, default 1
        The label of the positive class. With 1 the other labels have to be 0 or -1; with any other
        every row that does not carry it is negative, and nothing says whether any does.
    delta : float, default 0.0
        For the mechanisms with "laplace" in their name; the others neither need nor spend it.
    mechanism : str, default "rescaled"
        "rescaled" releases ``n (1 - AP) / L(n)``, which one row moves by at most 1, and the number
        of positives `n`, and computes the average precision from the two. For comparison:
        "printed_cauchy" and "printed_laplace" (Boyd 2014, Theorems 2.9 and 5.3), and
        "smooth_cauchy", "smooth_quartic" and "smooth_laplace", with the tight sensitivity and the
        least noise that the proofs allow.
    person : array-like, optional
        Whose row it is, for every row: then persons are protected and not rows, whatever rows and
        however many of them a person has. Exactly `rows_per_person` rows of each are used, drawn at
        random, or repeated where a person has fewer, so that every person counts the same. The
        number of persons is public, the number of rows is not.
    rows_per_person : int, default 1
        With `person`, the rows drawn of each. Without it, the most rows that any person has, which
        you vouch for: the number of rows is public, and the noise is made for so many rows at once.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    PrivateValue

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> from precall import privacy
    >>> y = np.arange(2000) % 4 == 0
    >>> score = np.where(y, 1.0, np.linspace(-1, 1.5, 2000))
    >>> budget = privacy.Budget(epsilon=1.0)
    >>> private = privacy.average_precision(y, score, epsilon=0.5, budget=budget)
    >>> abs(private.value - pr.aucpr(pr.rank(y, score))) < 0.5
    True
    >>> budget.remaining.epsilon
    0.5
    """
    return _release(
        AveragePrecision(),
        y_true,
        y_score,
        exact=_average_precision,
        local=lambda printed, _: (
            (lambda n: sensitivity.local_average_precision_printed(n, logarithmic=True))
            if printed
            else sensitivity.local_average_precision
        ),
        pos_label=pos_label,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        mechanism=mechanism,
        person=person,
        rows_per_person=rows_per_person,
        rng=rng,
    )


def auroc(
    y_true: object,
    y_score: object = None,
    *,
    epsilon: float,
    budget: Budget | Part,
    pos_label: object = 1,
    delta: float = 0.0,
    mechanism: str = "rescaled",
    person: object = None,
    rows_per_person: int = 1,
    rng: object = None,
) -> PrivateValue:
    """Release the area under the ROC curve.

    Parameters
    ----------
    y_true, y_score : array-like
        The private rows, as for :func:`average_precision`.
    epsilon : float
        Cost.
    budget : Budget
        What pays for it.
    pos_label : label, default 1
        The label of the positive class, as for :func:`average_precision`.
    delta : float, default 0.0
        For the mechanisms with "laplace" in their name; the others neither need nor spend it.
    mechanism : str, default "rescaled"
        "rescaled" releases ``h(n) (AUROC - 1/2)``, with a weight that makes one row move it by at
        most 1, and the number of positives `n`. The others as in :func:`average_precision`.
    person, rows_per_person : optional
        Who is protected, as for :func:`average_precision`.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    PrivateValue

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> from precall import privacy
    >>> y = np.arange(2000) % 4 == 0
    >>> score = np.where(y, 1.0, np.linspace(-1, 1.5, 2000))
    >>> private = privacy.auroc(y, score, epsilon=1.0, budget=privacy.Budget(epsilon=1.0))
    >>> pr.auroc(pr.rank(y, score)) in private.interval(confidence_level=0.999999)
    True
    """
    return _release(
        Auroc(),
        y_true,
        y_score,
        exact=lambda ranking: 0.5 + centred_auroc(ranking),
        local=lambda _, n_rows: lambda n: sensitivity.local_auroc(n, n_rows - n),
        pos_label=pos_label,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        mechanism=mechanism,
        person=person,
        rows_per_person=rows_per_person,
        rng=rng,
    )


def _average_precision(ranking: Ranking) -> float:
    return 1.0 - lost_precision(ranking) / ranking.n_pos if ranking.n_pos else 0.0


def _release(
    metric: AveragePrecision | Auroc,
    y_true: object,
    y_score: object,
    *,
    exact: Callable[[Ranking], float],
    local: Callable[[bool, int], Callable[[Any], Any]],
    pos_label: object,
    epsilon: float,
    delta: float,
    budget: Budget | Part,
    mechanism: str,
    person: object,
    rows_per_person: int,
    rng: object,
) -> PrivateValue:
    epsilon, delta = as_epsilon(epsilon), as_delta(delta)
    mechanism = as_choice(mechanism, "mechanism", MECHANISMS)
    rows_per_person = as_rows_per_person(rows_per_person)
    share = row_share(epsilon, rows_per_person)
    budget = as_budget(budget)
    calibration = None
    noisy: tuple[Noisy, ...] = ()
    scale = None
    if mechanism == "rescaled":
        delta = 0.0
    else:
        smooth.check_epsilon(epsilon)
        delta = _delta_for(mechanism, delta)
        calibration = smooth.calibrate(
            mechanism,
            epsilon=rounded_down(share),
            delta=row_delta(epsilon, delta, rows_per_person),
        )
    noise = noise_source(rng, stacklevel=4)
    what = f"{metric.name} ({mechanism})"
    with budget.hold(epsilon=epsilon, delta=delta, what=what, seeded=noise.seeded) as hold:
        positive, scores = read_rows(y_true, y_score, pos_label=pos_label)
        persons = read_persons(person, rows_per_person, positive.size)
        n_rows = check_rows(persons.n_rows)
        if calibration is not None:
            smooth.check_rows(n_rows)
        hold.look(positive, scores)
        positive, scores = persons.draw(noise, positive, scores)
        ranking = rank_checked(positive, scores, None)
        if calibration is None:
            noisy = metric.release(ranking, epsilon=share, noise=noise)
            released, scale = metric.value(noisy, n_rows), metric.error(noisy, n_rows)
        else:
            released = smooth.release(
                exact(ranking),
                sensitivity=sensitivity.smooth(
                    local(mechanism.startswith("printed"), n_rows),
                    n_pos=int(ranking.n_pos),
                    n_rows=n_rows,
                    beta=calibration.beta,
                ),
                calibration=calibration,
                n_rows=n_rows,
                noise=noise,
            )
    return PrivateValue(
        value=released,
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        scale=scale,
        metric=metric,
        n_rows=n_rows,
        noisy=noisy,
        seeded=noise.seeded,
        rows_per_person=rows_per_person,
        n_persons=persons.count,
    )


def _delta_for(mechanism: str, delta: float) -> float:
    if not smooth.needs_delta(mechanism):
        return 0.0
    if delta == 0.0:
        raise InputError(
            f"delta must be above 0 for mechanism={mechanism!r}: pass, for example, delta=1e-6, "
            "or use the default mechanism, which needs none."
        )
    return delta
