"""Operating points: a threshold whose precision, recall or cost can be promised."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .. import _validation
from ..exceptions import InputError, UndefinedMetricError
from ..ranking import Ranking, as_ranked, own_answer
from ..ranking.reflex import takes_one_ranking
from .constraints import OperatingPoint
from .independent import independent_counts
from .operating_result import Question, certified_at, not_certified
from .requirements import (
    MaxSelectedCount,
    MaxSelectedShare,
    MinNetBenefit,
    MinPrecision,
    MinRecall,
    Requirement,
)
from .shortfall import what_is_missing

PREFERENCES = ("most_recall", "fewest_selected")


@takes_one_ranking
def operating_point(
    data: Any,
    *,
    model: str | None = None,
    min_precision: float | None = None,
    min_recall: float | None = None,
    max_selected: float | None = None,
    min_net_benefit: float | None = None,
    probability: float | None = None,
    prefer: str | None = None,
    confidence_level: float = 0.95,
    prevalence: float | None = None,
    n_candidates: int = 1,
) -> OperatingPoint:
    """Find a threshold that keeps what is promised, though it was chosen on this data.

    Ask for one thing or for several at once: then all of them hold together with
    `confidence_level`. The rows are taken as independent draws from the population that the
    promise is about, other than the ones the scorer was trained on.

    Parameters
    ----------
    data : Ranking or Rows
        Not coarsened: testing has to see every score. Rows with clusters are refused, because the
        bounds hold for independent rows only. Missed positives count as positives that no threshold
        finds: in recall and in net benefit, and in `prevalence`.
    model : str, optional
        Which model, where the rows have several; see `n_candidates` if it was chosen among them.
    min_precision, min_recall : float, optional
        The least precision, the least recall.
    max_selected : int or float, optional
        A whole number: at most so many of these rows are selected, which is counted and costs no
        confidence. A share under 1: at most such a share of the population.
    min_net_benefit : float, optional
        The least net benefit (Vickers & Elkin 2006) at the threshold probability `probability`:
        ``TP/N - FP/N * probability / (1 - probability)``.
    probability : float, optional
        The probability at which acting is just worth its cost; goes with `min_net_benefit`.
    prefer : {"most_recall", "fewest_selected"}, optional
        Which of the thresholds that keep everything: the lowest or the highest. By default the
        lowest; the highest if nothing but `min_recall` was asked.
    confidence_level : float, default 0.95
        ``1 - delta``: something that was asked is missed with probability at most delta.
    prevalence : float, optional
        Promise at this prevalence instead of that of the data, as after a case-control sample:
        precision and net benefit are then bounded through recall and the false-positive rate.
        A ranking from :meth:`precall.Ranking.at_prevalence` brings its own.
    n_candidates : int, default 1
        Number of models that this one was chosen from on the same rows. Each is then certified
        with an error of ``delta / n_candidates``, so that the promise at `confidence_level` holds
        for whichever of them was chosen.

    Returns
    -------
    OperatingPoint
        Says so in `certified` and `message` if nothing can be certified, and which of the
        `constraints` is in the way.

    Raises
    ------
    InputError
        For a coarsened ranking, for rows that have clusters, and where nothing was asked.
    UndefinedMetricError
        If a class is empty.

    Warns
    -----
    ReliabilityWarning
        With weights that differ within a class: no exact distribution is known for them. Precision
        is tested on effective sample sizes, shares are bounded through what rows weigh together,
        and the level is approximate.

    Notes
    -----
    Fixed-sequence testing with exact binomial tails; the proof stands at the top of
    ``precall/points/certificates.py``, what the other constraints stand on in
    ``precall/points/requirements.py``. Several constraints share delta in equal parts.
    Compared with a Bonferroni correction over 30 thresholds it certifies far more: at 2,000 rows
    with 10 % positives, two normal score distributions two standard deviations apart and a
    precision of 0.8, a mean recall of .16 instead of .04 (.38 is possible if the distribution is
    known).

    References
    ----------
    Clopper & Pearson 1934; Massart 1990 (the constant of the Dvoretzky-Kiefer-Wolfowitz
    inequality); Angelopoulos et al., *Learn then test*, 2021 (fixed-sequence testing of
    thresholds).

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.2
    >>> ranking = pr.rank(y, rng.normal(size=5000) + 2 * y)
    >>> point = pr.operating_point(ranking, min_precision=0.8)
    >>> point
    OperatingPoint(threshold=1.82099, precision >= 0.8, recall >= 0.5512, 95 % each, 90 % both)
    >>> point.constraints
    (Constraint(precision >= 0.8: holds),)
    >>> pr.operating_point(ranking, min_recall=0.8)
    OperatingPoint(threshold=1.09461, precision >= 0.5699, recall >= 0.8, 95 % each, 90 % both)
    >>> pr.operating_point(ranking, min_precision=0.8, prevalence=0.05).positives_needed
    1794
    """
    ranking, _ = independent_rows(data, model, "operating_point")
    asked = _requirements(min_precision, min_recall, max_selected, min_net_benefit, probability)
    if prefer is not None:
        _validation.as_choice(prefer, "prefer", PREFERENCES)
    level = _validation.as_fraction(confidence_level, "confidence_level")
    n_candidates = _validation.as_count(n_candidates, "n_candidates", minimum=1)
    delta = (1.0 - level) / n_candidates  # their errors add up, whichever model is chosen
    if prevalence is not None:
        prevalence = _validation.as_fraction(prevalence, "prevalence")
    require_countable(ranking, "operating_point")
    counts = independent_counts(ranking, prevalence)
    question = Question(ranking, counts, asked, level, delta, n_candidates)
    certified = [each.certified(counts, question.part) for each in asked]
    rows = np.flatnonzero(np.logical_and.reduce(certified))
    if not rows.size:
        shortfall = what_is_missing(ranking, counts, asked, certified, question.part)
        return not_certified(question, shortfall)
    if prefer is None:
        alone = [each.name for each in asked] == ["recall"]
        prefer = "fewest_selected" if alone else "most_recall"
    return certified_at(question, int(rows[-1 if prefer == "most_recall" else 0]))


def points_of_precision(
    ranking: Ranking,
    minima: Iterable[float],
    *,
    level: float,
    n_candidates: int,
    prevalence: float | None,
) -> Iterator[OperatingPoint]:
    """Yield what :func:`operating_point` has for each minimum precision that is certified.

    Why another one is not, which takes many times as long to say, is left out.
    """
    ranking = ranking.of_positives
    counts = independent_counts(ranking, prevalence)
    for minimum in minima:
        asked: list[Requirement] = [MinPrecision(minimum)]
        delta = (1.0 - level) / n_candidates
        question = Question(ranking, counts, asked, level, delta, n_candidates)
        rows = np.flatnonzero(asked[0].certified(counts, question.part))
        if rows.size:
            yield certified_at(question, int(rows[-1]))


def independent_rows(data: Any, model: str | None, what: str) -> tuple[Ranking, Any]:
    """Return the ranking, and the rows if there are any; refuse rows that belong together."""
    if own_answer(data, "interval") is not None:
        raise InputError(
            f"{what} promises a threshold that was chosen on the data, and from the labels of "
            "some rows there is no such promise with a proof: choose the threshold beforehand and "
            "ask pr.interval(sample, 'precision_at_threshold(0.5)')."
        )
    ranking, rows, _ = as_ranked(data, model, missed=True)
    if rows is not None and rows.cluster is not None:
        raise InputError(
            f"{what} takes rows as independent, and these rows have clusters, so its "
            "bounds would promise too much: pass one row per cluster, or rows.unclustered() if "
            "rows of one cluster do not resemble each other."
        )
    return ranking.of_positives, rows


def require_countable(ranking: Ranking, what: str) -> None:
    """Refuse a ranking with one class only, and one that does not know every score."""
    if not (ranking.n_pos and ranking.n_neg):
        missing = "positives" if not ranking.n_pos else "negatives"
        raise UndefinedMetricError(
            f"{what} needs both classes, got no {missing}: check the labels and pos_label."
        )
    if ranking.coarsened:
        raise InputError(
            f"{what} must see every score, and this ranking was coarsened: rank all the "
            "rows, with an engine without max_rows where they do not fit into memory."
        )


def _requirements(
    min_precision: object,
    min_recall: object,
    max_selected: object,
    min_net_benefit: object,
    probability: object,
) -> list[Requirement]:
    asked: list[Requirement] = []
    if min_precision is not None:
        asked.append(MinPrecision(_validation.as_fraction(min_precision, "min_precision")))
    if min_recall is not None:
        asked.append(MinRecall(_validation.as_fraction(min_recall, "min_recall")))
    if max_selected is not None:
        asked.append(_selected(max_selected))
    if (min_net_benefit is None) != (probability is None):
        raise InputError(
            "min_net_benefit and probability go together: the probability at which acting is just "
            "worth its cost, such as probability=0.1."
        )
    if min_net_benefit is not None:
        least = _validation.as_number(min_net_benefit, "min_net_benefit")
        if not math.isfinite(least):
            raise InputError(f"min_net_benefit must be finite, got {least!r}.")
        asked.append(MinNetBenefit(least, _validation.as_fraction(probability, "probability")))
    if not asked:
        raise InputError(
            "nothing was asked: give min_precision, min_recall, max_selected or min_net_benefit."
        )
    return asked


def _selected(given: object) -> Requirement:
    most = _validation.as_number(given, "max_selected")
    if 0.0 < most < 1.0:
        return MaxSelectedShare(most)
    if most < 1.0 or not float(most).is_integer():
        raise InputError(
            "max_selected must be a whole number of rows, 1 or more, or a share of the rows "
            f"between 0 and 1, got {most:.12g}."
        )
    return MaxSelectedCount(most)
