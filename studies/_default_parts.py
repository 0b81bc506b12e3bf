"""What the study `defaults` asks: one function for each part, which draws data sets and asks.

``PARTS[part](case)`` computes the truth and gives it with a function that draws data sets and
returns their limits. A data set is asked as a user asks it; where a formula has the limits, a block
of data sets is one call of that formula.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

import precall as pr
from precall.inference.rules import rule_for
from precall.inference.rules.rule import closed_form
from precall.simulate import (
    HELD_OUT,
    REGULAR,
    UNSEEN,
    Laplace,
    Mixture,
    Normal,
    Pair,
    StudentT,
    ZeroInflated,
)
from precall.simulate.steps import TiedScenario

from ._cells import draw_cells

Array = npt.NDArray[Any]
Limits = tuple[Any, Any]
#: The truth, and what draws so many data sets and has their lower and upper limits.
Asked = tuple[float, Callable[[np.random.Generator, int], Limits]]

MODELS: dict[str, Any] = {**REGULAR, **UNSEEN, **HELD_OUT}


# Data sets that are drawn at once.
_BLOCK = 500


class Case(NamedTuple):
    """A cell: what is asked, of which scores, and how the rows came about.

    `design` has the rest in words; what it says is read by the part.
    """

    part: str
    metric: str
    model: str
    positives: int
    prevalence: float
    design: str = "rows"


def _negatives(case: Case) -> int:
    return round(case.positives * (1.0 - case.prevalence) / case.prevalence)


def _ranking(model: Any, n_pos: int, n_neg: int, rng: np.random.Generator) -> pr.Ranking:
    """Draw a ranking with these numbers; no row is drawn, so that many negatives cost nothing."""
    cells = draw_cells(model, n_pos, n_neg, 1, rng)[0]
    positives = cells.positives[0]
    tied = np.broadcast_to(cells.tied, cells.positives.shape)[0]
    passed = np.cumsum(tied + cells.above[0])
    held = positives > 0
    tied, passed = tied[held], passed[held]
    return pr.Ranking(
        threshold=-np.arange(float(tied.size)),
        positives=positives[held],
        tied=tied,
        above=passed - tied - np.concatenate([[0], passed[:-1]]),
        below=int(n_neg - passed[-1]),
    )


def _drawn_positives(case: Case, rng: np.random.Generator) -> tuple[int, int]:
    """Numbers of each class among as many rows, at least one of each."""
    total = case.positives + _negatives(case)
    n_pos = int(np.clip(rng.binomial(total, case.prevalence), 1, total - 1))
    return n_pos, total - n_pos


def _of_ranking(case: Case) -> Asked:
    """A metric of a ranking, rows as they came."""
    model, metric = MODELS[case.model], pr.metrics.parse(case.metric)
    truth = _truth(model, metric, case.prevalence)

    def ask(rng: np.random.Generator) -> Any:
        found = pr.interval(_ranking(model, *_drawn_positives(case, rng), rng), metric)
        return found

    return truth, _one_by_one(ask)


def _by_formula(case: Case) -> Asked:
    """The same where limits are a formula: a block of data sets is one call."""
    model, metric = MODELS[case.model], pr.metrics.parse(case.metric)
    rule: Any = rule_for(metric, None)

    def ask(rng: np.random.Generator, count: int) -> Limits:
        ends = []
        for first in range(0, count, _BLOCK):
            size = min(_BLOCK, count - first)
            cells, *sizes = draw_cells(
                model, case.positives, _negatives(case), size, rng, random=True
            )
            form = closed_form(metric, rule, cells, sizes=(sizes[0], sizes[1]), varying=True)
            ends.append(form.limits(0.95))
        low, high = (np.concatenate([pair[end] for pair in ends]) for end in (0, 1))
        return low, high

    return _truth(model, metric, case.prevalence), ask


def _one_by_one(ask: Callable[[np.random.Generator], Any]) -> Callable[..., Limits]:
    """Draw and ask as often as wanted."""

    def asked(rng: np.random.Generator, count: int) -> Limits:
        found = [ask(rng) for _ in range(count)]
        return np.array([each.low for each in found]), np.array([each.high for each in found])

    return asked


def _truth(model: Any, metric: Any, prevalence: float) -> float:
    """What the metric is in the population."""
    return _TRUTHS[metric.name](model, metric, prevalence)


def _area(model: Any, metric: Any, prevalence: float) -> float:
    return float(model.aucpr(prevalence, recall=metric.recall))


def _auroc(model: Any, metric: Any, prevalence: float) -> float:
    return float(model.auroc())


def _precision_at_recall(model: Any, metric: Any, prevalence: float) -> float:
    return float(model.precision(metric.recall, prevalence))


def _recall_at_precision(model: Any, metric: Any, prevalence: float) -> float:
    """The last threshold that is precise enough; those of tied scores are between the groups."""
    recall = model.groups.recall if isinstance(model, TiedScenario) else _FINE
    if isinstance(model, ZeroInflated):
        recall = np.append(recall[recall <= 1.0 - model.positives], 1.0)
    # Where precision is that one along the curve, rounding must not decide.
    precise = model.precision(recall, prevalence) >= metric.precision - 1e-9
    return float(np.max(recall[precise], initial=0.0))


def _at_top(model: Any, metric: Any, prevalence: float) -> float:
    """Precision or recall among the share of rows with the highest scores."""
    recall = np.linspace(0.0, 1.0, 20_001)
    selected = prevalence * recall + (1.0 - prevalence) * model.false_positive_rate(recall)
    found = float(np.interp(metric.k, selected, recall))
    return found * prevalence / metric.k if metric.per_row else found


_FINE = np.linspace(0.0, 1.0, 20_001)[1:]
_TRUTHS = {
    "aucpr": _area,
    "auroc": _auroc,
    "precision_at_recall": _precision_at_recall,
    "recall_at_precision": _recall_at_precision,
    "precision_at_k": _at_top,
    "recall_at_k": _at_top,
}


def _at_prevalence(case: Case) -> Asked:
    """As many positives as negatives were sampled; the answer is about another prevalence."""
    model, metric = MODELS[case.model], pr.metrics.parse(case.metric)
    truth = _truth(model, metric, case.prevalence)

    def ask(rng: np.random.Generator) -> Any:
        ranking = _ranking(model, case.positives, case.positives, rng)
        found = pr.interval(ranking, metric, prevalence=case.prevalence)
        return found

    return truth, _one_by_one(ask)


def _at_threshold(case: Case) -> Asked:
    """What is counted at the threshold that has some recall in the population."""
    metric: Any = pr.metrics.parse(case.metric)
    recall = float(case.design.split()[-1])
    rate = float(MODELS[case.model].false_positive_rate(recall))
    ours = case.prevalence
    truth = float(metric.of(ours * recall, (1.0 - ours) * rate, ours, 1.0 - ours))

    def ask(rng: np.random.Generator) -> Any:
        n_pos, n_neg = _drawn_positives(case, rng)
        tp, fp = int(rng.binomial(n_pos, recall)), int(rng.binomial(n_neg, rate))
        ranking = pr.Ranking(
            threshold=np.array([0.0, -1.0]),
            positives=np.array([tp, n_pos - tp]),
            tied=np.zeros(2, dtype=np.int64),
            above=np.array([fp, 0]),
            below=n_neg - fp,
        )
        found = pr.interval(ranking, metric)
        return found

    return truth, _one_by_one(ask)


def draw_clusters(count: int, size: int, uneven: bool, rng: np.random.Generator) -> Array:
    """Draw the cluster of each row; uneven ones have geometric sizes."""
    rows = rng.geometric(1.0 / size, count) if uneven else np.full(count, size)
    return np.repeat(np.arange(count), rows)


def draw_labels(
    kind: str, cluster: Array, count: int, prevalence: float, rng: np.random.Generator
) -> Array:
    """Draw labels: row by row, cluster by cluster, or with a share of positives per cluster."""
    share: Array = np.full(count, prevalence)
    if kind == "clusters":
        share = (rng.random(count) < prevalence).astype(float)
    elif kind == "shares":
        share = rng.beta(3 * prevalence, 3 * (1 - prevalence), count)
    return np.asarray(rng.random(cluster.size) < share[cluster])


def _scores(model: Any, positive: Array, normal: Array) -> Array:
    """Scores of a model from normal ones, which may depend on each other."""
    ours, theirs = model.distributions()
    above = ndtr(-normal)
    return np.asarray(np.where(positive, ours.upper_quantile(above), theirs.upper_quantile(above)))


def _mixed(shared: Array, own: Array, correlation: float) -> Array:
    return np.asarray(np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * own)


def _clustered(case: Case) -> Asked:
    """Rows in clusters, whose scores depend on each other by a normal copula."""
    model: Any = MODELS[case.model]
    count, size, kind, correlation = _READ_CLUSTERS[case.design]
    truth = model.aucpr(case.prevalence)

    def ask(rng: np.random.Generator) -> Any:
        while True:
            cluster = draw_clusters(count, abs(size), size < 0, rng)
            positive = draw_labels(kind, cluster, count, case.prevalence, rng)
            # Three clusters with positives are the least that say anything.
            if positive.sum() >= 10 and np.unique(cluster[positive]).size >= 3:
                break
        shared, own = rng.normal(size=count)[cluster], rng.normal(size=cluster.size)
        score = _scores(model, positive, _mixed(shared, own, correlation))
        found = pr.interval(pr.Rows(positive, score, clusters=cluster), case.metric)
        return found

    return truth, _one_by_one(ask)


#: Clusters, rows in each (negative: the mean of a geometric distribution), what labels are drawn
#: by, and the correlation of scores; by the words of the design.
_READ_CLUSTERS = {
    f"{count} clusters of {'about ' * (size < 0)}{abs(size)}, labels by {kind}, {rho:g}": (
        count,
        size,
        kind,
        rho,
    )
    for kind in ("rows", "clusters", "shares")
    for rho in (0.0, 0.4, 0.8)
    for count, size in ((15, 12), (60, 5), (40, -8))
}
CLUSTER_DESIGNS = tuple(_READ_CLUSTERS)


def _compared(case: Case) -> Asked:
    """Two models on the same rows, correlated by .5, alone or in clusters.

    The scores of a cluster's rows have a correlation of .4.
    """
    metric = pr.metrics.parse(case.metric)
    first, second = (MODELS[name] for name in case.model.split(" - "))
    truth = _truth(first, metric, case.prevalence) - _truth(second, metric, case.prevalence)
    n_clusters = 0 if case.design == "rows" else int(case.design.split()[0])
    total = case.positives + _negatives(case)

    def ask(rng: np.random.Generator) -> Any:
        while True:
            positive = rng.random(total) < case.prevalence
            if 2 <= positive.sum() < total:
                break
        cluster = rng.integers(n_clusters, size=total) if n_clusters else None
        both = rng.normal(size=(3, total))
        if cluster is not None:
            both = _mixed(rng.normal(size=(3, n_clusters))[:, cluster], both, 0.4)
        scores = {
            name: _scores(model, positive, _mixed(both[2], own, 0.5))
            for name, model, own in (("a", first, both[0]), ("b", second, both[1]))
        }
        compared = pr.compare(pr.Rows(positive, scores, clusters=cluster), metric)
        [found] = compared.intervals.values()
        return found

    return truth, _one_by_one(ask)


def _outlying(location: float) -> Mixture:
    """Normal scores, one in five with four times the spread."""
    return Mixture((Normal(location=location), Normal(location=location, scale=4.0)), (0.8, 0.2))


#: Scores of groups, by the distance of their classes. The first two were looked at while the rules
#: for groups were chosen, the last two were not.
NOISES: dict[str, Callable[[float], Pair]] = {
    "laplace": lambda distance: Pair(Laplace(location=distance), Laplace()),
    "student_t3": lambda distance: Pair(StudentT(3.0, location=distance), StudentT(3.0)),
    "cauchy": lambda distance: Pair(StudentT(1.0, location=distance), StudentT(1.0)),
    "outlying": lambda distance: Pair(_outlying(distance), _outlying(0.0)),
}


#: How far apart the classes of groups are: on average, and where it says so.
DISTANCES = {"near the floor": 0.3, "near the ceiling": 5.0}


def _group(case: Case, rng: np.random.Generator) -> tuple[Array, Array]:
    """Labels and scores of one group: its size and how far apart its classes are vary.

    ``5 groups, spread 1, larger are better``: sizes are lognormal, and depend on the distance.
    ``near the floor`` at the end says that classes are hardly apart.
    """
    distance = DISTANCES.get(case.design.rpartition(", ")[2], 1.5)
    sizes = float(case.design.split("spread ")[1].split(",")[0])
    common, alone = rng.normal(size=2)
    other = 0.8 * common + 0.6 * alone if "better" in case.design else alone
    n_pos = max(2, round(case.positives * float(np.exp(sizes * common))))
    n_neg = max(2, round(n_pos * (1.0 - case.prevalence) / case.prevalence))
    model = NOISES[case.model](distance + 0.5 * other)
    y, s = model.sample(n_pos, n_neg, rng)
    return y, s


@lru_cache(maxsize=64)
def _truth_of_groups(case: Case) -> float:
    """What very many groups give; its error is a twentieth of that of twenty groups."""
    rng = np.random.default_rng([20261118, *"|".join(map(str, case[2:])).encode()])
    drawn = [_group(case, rng) for _ in range(8000)]
    if case.metric != "pooled":
        weight = np.array([y.sum() if case.metric == "weighted" else 1.0 for y, _ in drawn])
        values = np.array([pr.aucpr(pr.rank(y, s)) for y, s in drawn])
        return float(np.average(values, weights=weight))
    y, s = (np.concatenate([each[place] for each in drawn]) for place in (0, 1))
    return pr.aucpr(pr.rank(y, s))


def _aggregated(case: Case) -> Asked:
    """The mean over groups, the mean weighted by positives, or all rows pooled."""
    count = int(case.design.split()[0])
    truth = _truth_of_groups(case._replace(design=case.design.partition(" ")[2]))

    def ask(rng: np.random.Generator) -> Any:
        drawn = [_group(case, rng) for _ in range(count)]
        y, s = (np.concatenate([each[place] for each in drawn]) for place in (0, 1))
        group = np.repeat(np.arange(count), [each[0].size for each in drawn])
        rankings = pr.rank_groups(y, s, group, pooled=case.metric == "pooled")
        found: Any = pr.aggregate(rankings, "aucpr", how=case.metric, design="independent").interval
        return found

    return truth, _one_by_one(ask)


def _summarised(case: Case) -> Asked:
    """The band of a summary curve at one recall, tasks alike or different."""
    recall = float(case.metric.split()[-1])
    count, spread = int(case.design.split()[0]), 0.7 * case.design.endswith("different")
    noise = NOISES[case.model]
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    rates = [noise(1.5 + spread * node).false_positive_rate(recall) for node in nodes]
    rate = float(np.average(rates, weights=weights))
    ours = case.prevalence * recall
    truth = ours / (ours + (1.0 - case.prevalence) * rate)

    def ask(rng: np.random.Generator) -> Any:
        drawn = [
            _ranking(
                noise(1.5 + spread * float(rng.normal())), case.positives, _negatives(case), rng
            )
            for _ in range(count)
        ]
        band = pr.summary_curve(drawn, prevalence=case.prevalence).band
        place = int(np.argmin(np.abs(band.x - recall)))
        return pr.Interval(
            low=band.low[place],
            high=band.high[place],
            estimate=band.y[place],
            confidence_level=0.95,
            method="band",
        )

    return truth, _one_by_one(ask)


#: How a case of each part is asked.
PARTS: dict[str, Callable[[Case], Asked]] = {
    "ranges of recall": _by_formula,
    "precision at a recall": _by_formula,
    "recall at a precision": _of_ranking,
    "first rows": _of_ranking,
    "thresholds": _at_threshold,
    "another prevalence": _at_prevalence,
    "clusters": _clustered,
    "differences": _compared,
    "groups": _aggregated,
    "summary curves": _summarised,
}
