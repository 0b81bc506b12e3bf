"""Private average precision, AUROC and confusion matrix.

Every function here checks its arguments, asks the budget, and only then looks at the counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._validation import as_choice, require_ranking
from ..exceptions import InputError
from ..ranking import Ranking
from . import sensitivity, smooth
from ._ledger import as_delta, as_epsilon
from .budget import Budget, Part, as_budget
from .mechanisms import Noisy, noise_source
from .rescaled import Auroc, AveragePrecision, centred_auroc, lost_precision, row_count
from .values import PrivateValue

MECHANISMS = ("rescaled", *smooth.CALIBRATIONS)


def average_precision(
    ranking: Ranking,
    *,
    epsilon: float,
    budget: Budget | Part,
    delta: float = 0.0,
    mechanism: str = "rescaled",
    rng: object = None,
) -> PrivateValue:
    """Release the average precision.

    The value that noise is added to is ``aucpr(ranking)``, ties and all.

    Parameters
    ----------
    ranking : Ranking
        Unweighted, and of all the rows: not coarsened.
    epsilon : float
        Cost. There is no default, because there is no right one.
    budget : Budget
        What pays for it.
    delta : float, default 0.0
        For the mechanisms with "laplace" in their name; the others neither need nor spend it.
    mechanism : str, default "rescaled"
        "rescaled" releases ``n (1 - AP) / L(n)``, which one row moves by at most 1, and the number
        of positives `n`, and computes the average precision from the two. For comparison:
        "printed_cauchy" and "printed_laplace" (Boyd 2014, Theorems 2.9 and 5.3), and
        "smooth_cauchy", "smooth_quartic" and "smooth_laplace", with the tight sensitivity and the
        least noise that the proofs allow.
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
    >>> ranking = pr.rank(y, np.where(y, 1.0, np.linspace(-1, 1.5, 2000)))
    >>> budget = privacy.Budget(epsilon=1.0)
    >>> private = privacy.average_precision(ranking, epsilon=0.5, budget=budget)
    >>> abs(private.value - pr.aucpr(ranking)) < 0.5
    True
    >>> budget.remaining.epsilon
    0.5
    """
    return _release(
        AveragePrecision(),
        ranking,
        value=lambda: 1.0 - lost_precision(ranking) / ranking.n_pos if ranking.n_pos else 0.0,
        local=lambda printed: (
            (lambda n: sensitivity.local_average_precision_printed(n, logarithmic=True))
            if printed
            else sensitivity.local_average_precision
        ),
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        mechanism=mechanism,
        rng=rng,
    )


def auroc(
    ranking: Ranking,
    *,
    epsilon: float,
    budget: Budget | Part,
    delta: float = 0.0,
    mechanism: str = "rescaled",
    rng: object = None,
) -> PrivateValue:
    """Release the area under the ROC curve.

    Parameters
    ----------
    ranking : Ranking
        Unweighted, and of all the rows: not coarsened.
    epsilon : float
        Cost.
    budget : Budget
        What pays for it.
    delta : float, default 0.0
        For the mechanisms with "laplace" in their name; the others neither need nor spend it.
    mechanism : str, default "rescaled"
        "rescaled" releases ``h(n) (AUROC - 1/2)``, with a weight that makes one row move it by at
        most 1, and the number of positives `n`. The others as in :func:`average_precision`.
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
    >>> ranking = pr.rank(y, np.where(y, 1.0, np.linspace(-1, 1.5, 2000)))
    >>> private = privacy.auroc(ranking, epsilon=1.0, budget=privacy.Budget(epsilon=1.0))
    >>> pr.auroc(ranking) in private.interval(confidence_level=0.999999)
    True
    """
    return _release(
        Auroc(),
        ranking,
        value=lambda: 0.5 + centred_auroc(ranking),
        local=lambda _: lambda n: sensitivity.local_auroc(n, row_count(ranking) - n),
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        mechanism=mechanism,
        rng=rng,
    )


def _release(
    metric: AveragePrecision | Auroc,
    ranking: Ranking,
    *,
    value: Callable[[], float],
    local: Callable[[bool], Callable[[Any], Any]],
    epsilon: float,
    delta: float,
    budget: Budget | Part,
    mechanism: str,
    rng: object,
) -> PrivateValue:
    check_ranking(ranking)
    epsilon, delta = as_epsilon(epsilon), as_delta(delta)
    mechanism = as_choice(mechanism, "mechanism", MECHANISMS)
    budget = as_budget(budget)
    n_rows = row_count(ranking)
    calibration = None
    noisy: tuple[Noisy, ...] = ()
    scale = None
    if mechanism == "rescaled":
        delta = 0.0
    else:
        smooth.check(epsilon, n_rows)
        delta = _delta_for(mechanism, delta)
        calibration = smooth.calibrate(mechanism, epsilon=epsilon, delta=delta)
    noise = noise_source(rng, stacklevel=4)
    with budget.hold(epsilon=epsilon, delta=delta, what=f"{metric.name} ({mechanism})") as hold:
        hold.look()
        if calibration is None:
            noisy = metric.release(ranking, epsilon=epsilon, noise=noise)
            released, scale = metric.value(noisy, n_rows), metric.error(noisy, n_rows)
        else:
            released = smooth.release(
                value(),
                sensitivity=sensitivity.smooth(
                    local(mechanism.startswith("printed")),
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
    )


def check_ranking(ranking: Ranking) -> None:
    """Refuse what the proofs do not cover, by its type only."""
    require_ranking(ranking)
    if ranking.weighted or ranking.positives.dtype.kind not in "iu":
        raise InputError(
            "ranking must be unweighted: with weights one row can move a metric by more than the "
            "noise is made for. Rank the rows without sample_weight."
        )
    if ranking.coarsened:
        raise InputError(
            "ranking must not be coarsened: its cells were chosen from the data, so one row can "
            "move a metric by more than the noise is made for. Rank all the rows."
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
