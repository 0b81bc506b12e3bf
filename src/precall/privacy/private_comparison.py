"""A private comparison of two models on the same rows.

What is released is not the two metrics but their sum and their difference: whatever a row does to
the two, it moves sum and difference together by no more than twice the larger of both moves. So the
sum comes free with the difference (``PROOFS.md``, section 15).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._notebook import Rich
from .._validation import as_choice
from ..ranking import Ranking, rank_checked
from ._ledger import Amount, as_epsilon
from ._persons import as_rows_per_person, read_persons, row_share
from ._rows import read_rows, read_second_scores
from .budget import Budget, Part, as_budget
from .covering import NOISE_SHARE, OF_VALUES, largest_sampling_error, with_sampling
from .mechanisms import Noise, Noisy, add_to_count, add_to_reals, noise_source
from .rescaled import PAIRED, PairedForm, check_rows
from .values import PrivateValue, mark, persons_mark

# Weights of the sum and of the difference of both statistics in what is asked for.
_WEIGHTS = {"difference": (0.0, 1.0), "candidate": (0.5, 0.5), "baseline": (0.5, -0.5)}
# Shares of an interval's error for the two statistics and for the positives.
_STATISTICS_SHARE, _POSITIVES_SHARE = 0.8, 0.2


@dataclass(frozen=True)
class PairedMetric:
    """A metric of one of two models, or the difference of both, from noisy sum and difference.

    Attributes
    ----------
    form : PairedForm
        How a metric follows from its rescaled statistic.
    part : {"difference", "candidate", "baseline"}
        Which of the three it is.
    """

    form: PairedForm
    part: str

    @property
    def name(self) -> str:
        """Name of the metric."""
        return f"{self.form.name} ({self.part})"

    @property
    def covers(self) -> Mapping[str, str]:
        """What an interval contains, by what it is about."""
        return OF_VALUES

    def value(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Best value."""
        count = self.form.inside(noisy[2].value, n_rows)
        return self._cut(self._centre + self._statistic(noisy) * self.form.gain(count, n_rows))

    def error(self, noisy: tuple[Noisy, ...], n_rows: int) -> float:
        """Standard deviation of the noise in it, to first order."""
        total, difference = _WEIGHTS[self.part]
        count = self.form.inside(noisy[2].value, n_rows)
        ends = [self.form.inside(count + step, n_rows) for step in (-1, 1)]
        gains = [self.form.gain(end, n_rows) for end in ends]
        slope = (gains[1] - gains[0]) / max(ends[1] - ends[0], 1)
        spread = math.hypot(total * noisy[0].scale, difference * noisy[1].scale)
        return math.sqrt(2.0) * math.hypot(
            spread * self.form.gain(count, n_rows), self._statistic(noisy) * slope * noisy[2].scale
        )

    def bounds(self, noisy: tuple[Noisy, ...], n_rows: int, error: float) -> tuple[float, float]:
        """Limits of the metric of the data, wrong with probability `error` at most."""
        used = [i for i, weight in enumerate(_WEIGHTS[self.part]) if weight]
        boxes = [noisy[i].bounds(_STATISTICS_SHARE * error / len(used)) for i in used]
        weights = [_WEIGHTS[self.part][i] for i in used]
        low = sum(min(w * a, w * b) for w, (a, b) in zip(weights, boxes, strict=True))
        high = sum(max(w * a, w * b) for w, (a, b) in zip(weights, boxes, strict=True))
        few, many = noisy[2].bounds(_POSITIVES_SHARE * error)
        gains = self.form.gains(few, many, n_rows)
        ends = [statistic * gain for statistic in (low, high) for gain in gains]
        limits = [self._centre + min(ends), self._centre + max(ends)]
        if few < 1:  # without positives the metric is what its convention says
            limits = [min(limits[0], 0.0), max(limits[1], 0.0)]
        return self._cut(limits[0]), self._cut(limits[1])

    def sampled(
        self, noisy: tuple[Noisy, ...], n_rows: int, error: float, rows_per_person: int
    ) -> tuple[float, float]:
        """Limits for the population that rows were drawn from.

        How the two models hang together is not released, so their errors are added up.
        """
        noise = NOISE_SHARE * error
        few, many = noisy[2].bounds(_POSITIVES_SHARE * noise)
        fewest = self.form.deciding(few, many, n_rows) / rows_per_person
        if self.part != "difference":
            return with_sampling(*self.bounds(noisy, n_rows, noise), fewest, error - noise)
        if fewest <= 0:
            return -1.0, 1.0
        # A third of the error for each of what is asked for: the difference and both models.
        low, high = self.bounds(noisy, n_rows, noise / 3)
        reach = 0.0
        for part in ("candidate", "baseline"):
            ends = PairedMetric(self.form, part).bounds(noisy, n_rows, noise / 3)
            reach += largest_sampling_error(*ends, fewest, (error - noise) / 2)
        return max(low - reach, -1.0), min(high + reach, 1.0)

    @property
    def _centre(self) -> float:
        return 0.0 if self.part == "difference" else self.form.centre

    def _statistic(self, noisy: tuple[Noisy, ...]) -> float:
        total, difference = _WEIGHTS[self.part]
        return total * noisy[0].value + difference * noisy[1].value

    def _cut(self, value: float) -> float:
        return float(min(max(value, -1.0 if self.part == "difference" else 0.0), 1.0))


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivateComparison(Rich):
    """Two models compared on the same rows, with noise. It may be published as it is.

    Attributes
    ----------
    difference : PrivateValue
        The candidate's metric less the baseline's.
    candidate, baseline : PrivateValue
        The metric of each. All three come from one release and cost its epsilon once.
    """

    difference: PrivateValue
    candidate: PrivateValue
    baseline: PrivateValue

    @property
    def epsilon(self) -> float:
        """What all of it cost."""
        return self.difference.epsilon

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seed: then this is for simulation, and not private."""
        return self.difference.seeded

    def __repr__(self) -> str:
        """Return one line."""
        value = self.difference
        name = value.metric.name.removesuffix(" (difference)")
        return (
            f"PrivateComparison({name}: {self.candidate.value:.4g} against "
            f"{self.baseline.value:.4g}, difference={value.value:.4g} ± {value.scale:.2g}, "
            f"epsilon={value.epsilon:.6g}"
            f"{persons_mark(value.rows_per_person, value.n_persons)}{mark(value.seeded)})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary of what may be published."""
        return {part: getattr(self, part).to_dict() for part in _WEIGHTS}

    def plot(self, ax: Any = None) -> Any:
        """Draw both values and their difference, and return the Axes."""
        from ..display.private_plots import plot_private_comparison

        return plot_private_comparison(self, ax)


def compare(
    y_true: object,
    *,
    candidate: object,
    baseline: object,
    epsilon: float,
    budget: Budget | Part,
    metric: str = "average_precision",
    pos_label: object = 1,
    person: object = None,
    rows_per_person: int = 1,
    rng: object = None,
) -> PrivateComparison:
    """Release how much better one model is than another, and how good both are.

    One release of this kind is better than two of :func:`average_precision` at half of epsilon
    each: the difference has about 0.7 times the noise, and so has each model.

    Parameters
    ----------
    y_true : array-like
        The labels, as for :func:`average_precision`.
    candidate, baseline : array-like
        The scores of both models for the same rows.
    epsilon : float
        Cost of all of it.
    budget : Budget
        What pays for it.
    metric : {"average_precision", "auroc"}
        What to compare.
    pos_label : label, default 1
        The label of the positive class, as for :func:`average_precision`.
    person, rows_per_person : optional
        Who is protected, as for :func:`average_precision`.
    rng : optional
        Seed or generator, for simulation only: the release is then not private.

    Returns
    -------
    PrivateComparison

    Raises
    ------
    BudgetError
        If the budget does not allow it; nothing has been looked at then.

    Examples
    --------
    >>> import numpy as np
    >>> from precall import privacy
    >>> y = np.arange(20_000) % 4 == 0
    >>> good = np.where(y, 1.0, np.linspace(-1, 1.5, 20_000))
    >>> poor = np.where(y, 0.5, np.linspace(-1, 1.5, 20_000))
    >>> budget = privacy.Budget(epsilon=1.0)
    >>> compared = privacy.compare(y, candidate=good, baseline=poor, epsilon=1.0, budget=budget)
    >>> compared.difference.interval().low > 0
    True
    >>> budget.spent.epsilon
    1.0
    """
    epsilon = as_epsilon(epsilon)
    form = PAIRED[as_choice(metric, "metric", PAIRED)]
    rows_per_person = as_rows_per_person(rows_per_person)
    share = row_share(epsilon, rows_per_person)
    budget = as_budget(budget)
    noise = noise_source(rng)
    what = f"{form.name} of two models"
    with budget.hold(epsilon=epsilon, delta=0.0, what=what, seeded=noise.seeded) as hold:
        positive, ours = read_rows(y_true, candidate, pos_label=pos_label)
        theirs = read_second_scores(baseline, positive.size)
        persons = read_persons(person, rows_per_person, positive.size)
        n_rows = check_rows(persons.n_rows)
        hold.look(positive, ours, theirs)
        positive, ours, theirs = persons.draw(noise, positive, ours, theirs)
        rankings = [rank_checked(positive, scores, None) for scores in (ours, theirs)]
        noisy = release_pair(form, rankings, n_rows, share, noise)
    values = {
        part: PrivateValue(
            value=(paired := PairedMetric(form, part)).value(noisy, n_rows),
            epsilon=epsilon,
            delta=0.0,
            mechanism="rescaled",
            scale=paired.error(noisy, n_rows),
            metric=paired,
            n_rows=n_rows,
            noisy=noisy,
            seeded=noise.seeded,
            rows_per_person=rows_per_person,
            n_persons=persons.count,
        )
        for part in _WEIGHTS
    }
    return PrivateComparison(**values)


def release_pair(
    form: PairedForm, rankings: list[Ranking], n_rows: int, epsilon: Amount, noise: Noise
) -> tuple[Noisy, ...]:
    """Release sum and difference of both statistics, and the number of positives."""
    ours, theirs = (form.exact(ranking) for ranking in rankings)
    statistics, positives = form.pair_shares(n_rows, epsilon)
    total, difference = add_to_reals(
        np.array([ours + theirs, ours - theirs]), cost=statistics, n_rows=n_rows, noise=noise
    )
    count = add_to_count(int(rankings[0].n_pos), sensitivity=1.0, epsilon=positives, noise=noise)
    return total, difference, count
