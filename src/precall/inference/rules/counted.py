"""Limits of what is counted: a share of rows exactly, and what is made of several shares.

At a threshold that was fixed beforehand every count is binomial. Precision is a share of the rows
selected, recall one of the positives, and F1 a function of the share of true positives among the
rows that are positive or selected. What is made of several shares (recall, the false-positive
rate, and the prevalence where rows came as they came) has the distances of their limits added in
squares; where rows weigh differently, what is made of the weights of the four counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...metrics.base import totals
from ...metrics.confusion import OfCounts, OnRows
from ...metrics.four_counts import SHARES, CountShare, FourCounts
from .. import limits
from ..clusters import cluster_variance
from ..influence import linearise, total_variance
from ..local_weights import LocalWeights, weights_vary
from ..weighted_shares import WeightedCounts, WeightedShare
from .rule import Case, ClosedForm, Rule
from .stabilised import Stabilised

Limits = Callable[[Any, Any, float], tuple[Any, Any]]

# Shares of all rows: those selected, and the negatives among them.
_SELECTED = CountShare((1, 1, 0, 0), (0, 0, 1, 1))
_ALARMS = CountShare((0, 1, 0, 0), (1, 0, 1, 1))
# One standard deviation to both sides.
_ONE_SIGMA = math.erf(math.sqrt(0.5))
# Points between the limits of a part: what is made of it need not rise or fall all the way.
_BETWEEN = 9


@dataclass(frozen=True)
class ShareOfTrials:
    """A share of so many trials, which need not be a whole number."""

    value: Any
    trials: Any
    share_limits: Limits

    def limits(self, level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""
        return self.share_limits(self.value * self.trials, self.trials, level)


@dataclass(frozen=True, kw_only=True)
class CountedShares(Rule):
    """Limits of shares of rows, each by `share_limits`.

    With `by_weight`, limits of rows that weigh differently allow for heavy ones that were not seen
    (:mod:`..weighted_shares`). Otherwise they are those of as many trials as the rows are worth.
    """

    share_limits: Limits
    by_weight: bool = False
    only_counts: ClassVar[bool] = True

    def evidence(self, case: Case) -> Any:
        """Return a share of rows, or what is made of several."""
        metric: OnRows = case.metric  # type: ignore[assignment]
        tp, fp, n, m = metric.counts(case.ranking)
        counts = FourCounts(tp, fp, max(n - tp, 0), max(m - fp, 0))
        share = metric.at.plain_share
        if share is not None and (case.varying or share.of_one_class):
            return self._one_share(share, counts, case)
        weights = self._weights(case)
        if weights is not None and case.varying and weights_vary(case.ranking):
            return SeveralMasses(at=metric.at, masses=weights.masses(metric.selected))
        return self._several(metric.at, counts, case)

    def _one_share(self, share: CountShare, counts: FourCounts, case: Case) -> OneShare:
        up, down = share.weights or (1.0, 1.0)
        of = self._share(share, counts, case)
        if isinstance(of, ShareOfTrials):
            trials = of.trials
        else:
            trials = _trials(share, counts, _squares(case.metric, case))  # type: ignore[arg-type]
        form = OneShare(share=float(of.value), trials=trials, up=up, down=down, of=of)
        if case.clustered and form.slope and 0.0 < form.share < 1.0:
            sizes = case.sizes
            variance = cluster_variance(case.metric, case.sample, sizes, varying=case.varying)
            worth = form.share * (1.0 - form.share) * form.slope**2 / max(variance, 1e-300)
            trials = min(worth, form.trials)
            of = ShareOfTrials(form.share, trials, self.share_limits)
            form = replace(form, trials=trials, of=of)
        return form

    def _several(self, at: OfCounts, counts: FourCounts, case: Case) -> SeveralShares:
        names = ("recall", "false_positive_rate", *(("prevalence",) if case.varying else ()))
        n, m = counts.tp + counts.fn, counts.fp + counts.tn
        return SeveralShares(
            at=at,
            parts=tuple(self._share(SHARES[name], counts, case) for name in names),
            prevalence=float(n / (n + m)),
            widened=_design_effect(case) if case.clustered else 1.0,
        )

    def _share(
        self, share: CountShare, counts: FourCounts, case: Case
    ) -> ShareOfTrials | WeightedShare:
        """One share with its limits."""
        metric: OnRows = case.metric  # type: ignore[assignment]
        part, whole = share.rows(counts)
        weights = self._weights(case)
        if weights is not None and whole:
            return weights.share(share, metric.selected)
        trials = float(_trials(share, counts, _squares(metric, case)))
        return ShareOfTrials(float(part / whole) if whole else 0.0, trials, self.share_limits)

    def _weights(self, case: Case) -> WeightedCounts | None:
        """The weights on either side of thresholds, where there are some that are followed."""
        followed = self.by_weight and not case.clustered and case.ranking.rows is not None
        return WeightedCounts.of(case.ranking) if followed else None


@dataclass(frozen=True, kw_only=True)
class OneShare:
    """A share of rows, and the metric that follows from it: ``u p / (u p + d (1 - p))``."""

    share: float
    trials: float
    up: float
    down: float
    of: ShareOfTrials | WeightedShare

    def _of(self, share: float) -> float:
        rise, rest = self.up * share, self.down * (1.0 - share)
        return rise / (rise + rest)

    @property
    def slope(self) -> float:
        """Derivative of the metric by the share."""
        whole = self.up * self.share + self.down * (1.0 - self.share)
        return self.up * self.down / whole**2

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit."""
        if not self.trials:  # nothing to take a share of, so nothing is known
            return 0.0, 1.0
        low, high = self.of.limits(confidence_level)
        return self._of(float(low)), self._of(float(high))

    @property
    def error(self) -> float:
        """Standard error of the metric."""
        if not self.trials:
            return math.nan
        return self.slope * math.sqrt(self.share * (1.0 - self.share) / self.trials)


@dataclass(frozen=True, kw_only=True)
class SeveralShares:
    """Recall, false-positive rate and, unless it is known, the prevalence.

    The three are independent, so the distances of the limits add in squares (Zou & Donner 2008).
    """

    at: OfCounts
    parts: tuple[ShareOfTrials | WeightedShare, ...]
    prevalence: Any
    widened: float = 1.0

    def _of(self, *shares: Any) -> Any:
        recall, rate = shares[:2]
        ours = shares[2] if len(shares) > 2 else self.prevalence
        return self.at.of(ours * recall, (1.0 - ours) * rate, ours, 1.0 - ours)

    @property
    def estimate(self) -> Any:
        """The metric of the shares as they were observed."""
        return self._of(*(part.value for part in self.parts))

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit, within the bounds of the metric."""
        return _together(
            self.at,
            self._of,
            [part.value for part in self.parts],
            [part.limits(confidence_level) for part in self.parts],
            self.widened,
        )

    @property
    def error(self) -> float:
        """Half of what plus and minus one standard deviation have, on the unit scale."""
        return _half_width(self)


@dataclass(frozen=True, kw_only=True)
class SeveralMasses:
    """What the four counts weigh, which is independent where rows came as they came.

    Recall and prevalence are not: heavy positives at the top raise both.
    """

    at: OfCounts
    masses: FourCounts

    def _of(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
        whole = tp + fp + fn + tn
        return self.at.of(tp / whole, fp / whole, (tp + fn) / whole, (fp + tn) / whole)

    @property
    def estimate(self) -> Any:
        """The metric as it was observed."""
        return self._of(*(mass.weight for mass in self.masses))

    def limits(self, confidence_level: float) -> tuple[Any, Any]:
        """Return the lower and the upper limit: their distances add in squares."""
        return _together(
            self.at,
            self._of,
            [mass.weight for mass in self.masses],
            [mass.limits(confidence_level) for mass in self.masses],
        )

    @property
    def error(self) -> float:
        """Half of what plus and minus one standard deviation have, on the unit scale."""
        return _half_width(self)


def _together(
    at: OfCounts,
    of: Callable[..., Any],
    parts: list[Any],
    ends: list[tuple[Any, Any]],
    widened: float = 1.0,
) -> tuple[Any, Any]:
    """Limits of what is made of independent parts: the distances of theirs add in squares."""
    estimate = of(*parts)
    below = above = 0.0 * estimate
    for place, (part, (least, most)) in enumerate(zip(parts, ends, strict=True)):
        moved = list(parts)
        # The part itself too, so that neither distance is negative.
        between = np.linspace(least, most, _BETWEEN)
        moved[place] = np.concatenate([between, np.asarray(part)[None]])
        values = of(*moved)
        below = below + (estimate - np.min(values, axis=0)) ** 2
        above = above + (np.max(values, axis=0) - estimate) ** 2
    low, high = at.bounds
    return (
        np.maximum(estimate - widened * np.sqrt(below), low),
        np.minimum(estimate + widened * np.sqrt(above), high),
    )


def _half_width(form: SeveralShares | SeveralMasses) -> float:
    """Half of what plus and minus one standard deviation have, on the unit scale."""
    low, high = form.limits(_ONE_SIGMA)
    zero, one = form.at.unit
    return float((high - low) / (2.0 * (one - zero)))


def _squares(metric: OnRows, case: Case) -> FourCounts | None:
    """Sums of squared weights of the four counts; None if every row counts once."""
    squares = case.ranking.squares
    if squares is None:
        return None
    chosen = slice(metric.selected)
    tp = float(np.sum(squares.positives[chosen]))
    fp = float(np.sum(squares.tied[chosen]) + np.sum(squares.above[chosen]))
    m = float(np.sum(squares.tied) + np.sum(squares.above) + squares.below)
    return FourCounts(tp, fp, max(float(squares.all_positives) - tp, 0.0), max(m - fp, 0.0))


def _trials(share: CountShare, counts: FourCounts, squares: FourCounts | None) -> float:
    """As many trials as the variance of a share of weights is worth (Korn & Graubard 1998).

    At a share of 0 or 1 Kish's effective number of rows. Without weights, their number.
    """
    part, whole = share.rows(counts)
    if squares is None or not whole:
        return float(whole)
    ours, both = share.rows(squares)
    value = part / whole
    effective = whole**2 / both
    variance = (ours * (1.0 - value) ** 2 + (both - ours) * value**2) / whole**2
    worth = value * (1.0 - value)
    return float(min(worth / variance, effective) if worth and variance else effective)


def _design_effect(case: Case) -> float:
    """How many times wider an interval is because rows belong together, at least 1."""
    apart = linearise(case.metric, case.ranking.cells, case.ranking.squares, slope=case.varying)
    alone = total_variance(case.metric, apart, case.ranking.cells, case.sizes)
    together = cluster_variance(case.metric, case.sample, case.sizes, varying=case.varying)
    return math.sqrt(max(together / max(float(alone), 1e-300), 1.0)) if together else 1.0


@dataclass(frozen=True, kw_only=True)
class Trials(Stabilised):
    """Limits of a share of as many trials as the influence variance is worth.

    For the rows above a cut by rank, which another sample would put elsewhere. The influence of a
    row takes what is about the cut as even; where the scores have a cliff there it is not. So the
    limits are not inside of those with the cut elsewhere, cut and share each with a part of the
    error.
    """

    share_limits: Limits
    by_weight: bool = False
    guarded: bool = False

    def limits(self, form: ClosedForm, level: float) -> tuple[Any, Any]:
        """Return the limits on the unit scale."""
        if self.by_weight and form.local is not None and np.ndim(form.cells.positives) == 1:
            return _by_weight(form, form.local, level)
        estimate = np.clip(np.asarray(form.estimate, dtype=np.float64), 0.0, 1.0)
        most = np.asarray(form.metric.trials(*form.sizes), dtype=np.float64)
        spread = estimate * (1.0 - estimate)
        worth = spread / np.maximum(form.variance, 1e-300)
        trials = np.where(spread > 0.0, np.minimum(worth, most), most)
        low, high = self.share_limits(estimate * trials, trials, level)
        rows = sum(totals(form.cells))
        # Places are as sure as the rows that count.
        effect = np.sqrt(rows / sum(form.sizes))
        for of_cut, of_share in limits.two_errors(level):
            far = effect * limits.normal_quantile(of_cut)
            for by in (-far, far):
                value, places = form.metric.moved_cut(form.cells, by)  # type: ignore[attr-defined]
                value, places = form.metric.to_unit(value), places / effect**2
                ends = self.share_limits(value * places, places, of_share)
                low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        return low, high


def _by_weight(form: ClosedForm, local: LocalWeights, level: float) -> tuple[float, float]:
    """Limits of the share above a cut by rank where rows weigh differently, one ranking.

    As many rows as those above the cut in the population may weigh more or less in a sample, and
    the share above that cut has limits of its own. Where hits are counted in positives, how many
    of those are above is the share's own error, and only the negatives there move the cut.
    """
    counts, metric = WeightedCounts.of_cells(form.cells, local), form.metric
    place = float(metric.cut_place(form.cells))  # type: ignore[attr-defined]
    whole = float(sum(totals(form.cells)))
    per_row = metric.per_row  # type: ignore[attr-defined]
    share, moving = (SHARES["precision"], _SELECTED) if per_row else (SHARES["recall"], _ALARMS)
    here = counts.at_place(form.cells, local, place)
    low, high = (float(end) for end in here.share(share, 0).limits(level))
    fixed = 0.0 if per_row else float(here.weights.tp[0])
    for of_cut, of_share in limits.two_errors(level):
        for moved in here.share(moving, 0).limits(of_cut):
            there = counts.at_place(form.cells, local, min(fixed + float(moved) * whole, whole))
            ends = there.share(share, 0).limits(of_share)
            low, high = min(low, float(ends[0])), max(high, float(ends[1]))
    return low, high


def _clopper_pearson(successes: Any, trials: Any, level: float) -> tuple[Any, Any]:
    return limits.share_limits(successes, trials, 0.5 * (1.0 - level))


_EXACT = (
    "Clopper & Pearson 1934; several shares: Zou & Donner 2008; weights: Fay & Feuer 1997",
    "wide with few rows",
)
_SCORE = (
    "Wilson 1927; several shares: Zou & Donner 2008",
    "near its level on average, under it for some shares",
)
CLOPPER_PEARSON = CountedShares(
    key="clopper_pearson",
    name="clopper_pearson",
    share_limits=_clopper_pearson,
    by_weight=True,
    clustered=True,
    summary="exact limits of what is counted at a threshold",
    source=_EXACT[0],
    caution=_EXACT[1],
)
WILSON = CountedShares(
    key="wilson",
    name="wilson",
    share_limits=limits.wilson_limits,
    clustered=True,
    summary="score limits of what is counted at a threshold",
    source=_SCORE[0],
    caution=_SCORE[1],
)
CLOPPER_PEARSON_OF_RANKS = Trials(
    key="clopper_pearson_of_ranks",
    name="clopper_pearson",
    share_limits=_clopper_pearson,
    by_weight=True,
    clustered=True,
    summary="exact limits of a share of as many rows as the variance is worth",
    source=_EXACT[0],
    caution=_EXACT[1],
)
WILSON_OF_RANKS = Trials(
    key="wilson_of_ranks",
    name="wilson",
    share_limits=limits.wilson_limits,
    clustered=True,
    summary="score limits of a share of as many rows as the variance is worth",
    source=_SCORE[0],
    caution=_SCORE[1],
)
