"""Private average precision and AUROC.

Both functions check their arguments, ask the budget, and only then look at the rows.
"""

from __future__ import annotations

from .._validation import as_fraction
from ..exceptions import InputError
from ..ranking import rank_checked
from ._ledger import as_delta, as_epsilon
from ._persons import as_rows_per_person, read_persons, row_share
from ._rows import read_rows
from .budget import Budget, Part, as_budget
from .choice import as_mechanism, choose_mechanism
from .curve_release import noisy_bins, warn_of
from .curve_value import CurveArea
from .edges import as_edges
from .mechanisms import noise_source
from .rescaled import Auroc, AveragePrecision, check_rows
from .values import NoisyMetric, PrivateValue


def average_precision(
    y_true: object,
    y_score: object = None,
    *,
    epsilon: float,
    budget: Budget | Part,
    pos_label: object = 1,
    delta: float = 0.0,
    mechanism: str = "rescaled",
    prevalence: float | None = None,
    edges: object = None,
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
        No mechanism needs it; nothing of it is spent.
    mechanism : str, default "rescaled"
        "rescaled" releases ``n (1 - AP) / L(n)``, which one row moves by at most 1, and the number
        of positives `n`, and computes the average precision from the two. "curve" releases the
        curve, as :func:`pr_curve` does, and reads the area off it: better where epsilon is small.
        "auto" is one of the two, by :func:`choose_mechanism`: from public facts, never from the
        rows.
    prevalence : float, optional
        With "auto": a guess of the share of positives, which was not read off these rows.
    edges : array-like, optional
        With "curve" and "auto": public edges, as for :func:`pr_curve`. If left out, the scores are
        taken to be probabilities there; "rescaled" takes scores on any scale.
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
        "pr",
        y_true,
        y_score,
        pos_label=pos_label,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        mechanism=mechanism,
        prevalence=prevalence,
        edges=edges,
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
    prevalence: float | None = None,
    edges: object = None,
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
        No mechanism needs it; nothing of it is spent.
    mechanism : str, default "rescaled"
        "rescaled" releases ``h(n) (AUROC - 1/2)``, with a weight that makes one row move it by at
        most 1, and the number of positives `n`. "curve" as in :func:`average_precision`; it was
        never the better one, and "auto" is always "rescaled".
    prevalence, edges : optional
        As for :func:`average_precision`.
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
        "roc",
        y_true,
        y_score,
        pos_label=pos_label,
        epsilon=epsilon,
        delta=delta,
        budget=budget,
        mechanism=mechanism,
        prevalence=prevalence,
        edges=edges,
        person=person,
        rows_per_person=rows_per_person,
        rng=rng,
    )


def _release(
    form: AveragePrecision | Auroc,
    kind: str,
    y_true: object,
    y_score: object,
    *,
    pos_label: object,
    epsilon: float,
    delta: float,
    budget: Budget | Part,
    mechanism: str,
    prevalence: float | None,
    edges: object,
    person: object,
    rows_per_person: int,
    rng: object,
) -> PrivateValue:
    epsilon, _ = as_epsilon(epsilon), as_delta(delta)
    mechanism = as_mechanism(mechanism)
    rows_per_person = as_rows_per_person(rows_per_person)
    share = row_share(epsilon, rows_per_person)
    budget = as_budget(budget)
    prevalence, edges = _belonging(mechanism, prevalence, edges)
    noise = noise_source(rng, stacklevel=4)
    what = f"{form.name} ({mechanism})"
    with budget.hold(epsilon=epsilon, delta=0.0, what=what, seeded=noise.seeded) as hold:
        positive, scores = read_rows(y_true, y_score, pos_label=pos_label)
        persons = read_persons(person, rows_per_person, positive.size)
        n_rows = check_rows(persons.n_rows)
        if mechanism == "auto":
            mechanism = choose_mechanism(
                n_rows=n_rows,
                epsilon=epsilon,
                prevalence=prevalence,
                metric=form.name,
                rows_per_person=rows_per_person,
            )
        cuts = as_edges(edges, n_rows, epsilon / rows_per_person)
        hold.look(positive, scores)
        positive, scores = persons.draw(noise, positive, scores)
        metric: NoisyMetric
        if mechanism == "curve":
            metric = CurveArea(form.name, kind, tuple(cuts.tolist()))
            noisy = noisy_bins(positive, scores, cuts, share, noise)
        else:
            metric = form
            noisy = form.release(rank_checked(positive, scores, None), epsilon=share, noise=noise)
    if isinstance(metric, CurveArea):
        warn_of(metric.curve(noisy, n_rows, rows_per_person=rows_per_person), stacklevel=4)
    return PrivateValue(
        value=metric.value(noisy, n_rows),
        epsilon=epsilon,
        delta=0.0,
        mechanism=mechanism,
        scale=metric.error(noisy, n_rows),
        metric=metric,
        n_rows=n_rows,
        noisy=noisy,
        seeded=noise.seeded,
        rows_per_person=rows_per_person,
        n_persons=persons.count,
    )


def _belonging(
    mechanism: str, prevalence: float | None, edges: object
) -> tuple[float | None, object]:
    """Check the guess and the edges; refuse those that the mechanism would ignore."""
    if prevalence is not None:
        prevalence = as_fraction(prevalence, "prevalence")
        if mechanism != "auto":
            raise InputError('prevalence is for mechanism="auto": leave it out.')
    if edges is not None:
        edges = as_edges(edges, 1, 1.0)
        if mechanism == "rescaled":
            raise InputError('edges is for mechanism="curve" or "auto": leave it out.')
    return prevalence, edges
