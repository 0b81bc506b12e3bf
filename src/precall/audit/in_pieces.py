"""Plans and samples of populations that are somewhere else, in files or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._notebook import Rich
from .._words import plural
from ..exceptions import InputError
from ..metrics import Metric, as_metric
from ..ranking.scored_rows import ScoredRows
from .allocation import equal
from .designs import not_a_population, runs_of_shares
from .label_plan import drawn_places, range_edges, ranges
from .labels import as_population, missing_in
from .sample import TARGETS, Sample
from .score_counts import ScoreCounts, count_scores, opened
from .score_tasks import CountStrata, Picked, PickRows, Strata
from .strata_pieces import edge_ranks, interval_of

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Gaps are not opened for rows that merely stand for others, if that would be more.
_MOST_FOR_STAND_INS = 5_000_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlannedRows(Rich):
    """Rows of a large population to label, and how likely each was to be chosen.

    Attributes
    ----------
    rows : array of int
        Numbers of the rows to label, from 0, in rising order; label all of them. Those of a Spark
        data frame have no meaning: see `others`.
    scores, inclusion : array
        The score of each, and the probability with which it was chosen.
    stratum : array of int
        The stratum of each.
    strata : tuple of dict
        Of each stratum its name, its number of `rows`, and the `labels` it gets.
    others : dict of list
        Columns that were to be kept, one value for each row.
    metric : str
    n_rows : int
        Rows of the population.
    """

    rows: IntArray
    scores: Array
    inclusion: FloatArray
    stratum: IntArray
    strata: tuple[dict[str, Any], ...]
    others: dict[str, list[Any]] = field(default_factory=dict)
    metric: str
    n_rows: int

    def __repr__(self) -> str:
        """Return one line."""
        return (
            f"PlannedRows({plural(int(self.rows.size), 'row')} of {self.n_rows:,} in "
            f"{plural(len(self.strata), 'stratum', 'strata')}, {self.metric})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that survive JSON, those of kept columns if they do."""
        return {
            "metric": self.metric,
            "population": self.n_rows,
            "strata": [dict(each) for each in self.strata],
            "rows": self.rows.tolist(),
            "scores": self.scores.tolist(),
            "inclusion": self.inclusion.tolist(),
            "others": {name: list(values) for name, values in self.others.items()},
        }

    def _table(self) -> dict[str, Any]:
        """One row per row to label."""
        return {
            "row": self.rows,
            **self.others,
            "score": self.scores,
            "stratum": [self.strata[code]["name"] for code in self.stratum.tolist()],
            "inclusion": self.inclusion,
        }

    def _facts(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "population": self.n_rows,
            "strata": [dict(each) for each in self.strata],
        }


def plan_of(
    population: ScoredRows,
    *,
    budget: int,
    metric: Metric | type[Metric] | str = "aucpr",
    rng: np.random.Generator | int | None = None,
) -> PlannedRows:
    """Choose the rows of a population that is not in memory: see :func:`precall.audit.plan`.

    The same rows as without a guess in memory, for the same order of the rows and the same `rng`,
    whatever reads them.

    Parameters
    ----------
    population : ScoredRows
        From :func:`precall.engines.arrow.scores` or its kin.
    budget, metric, rng
        As in :func:`precall.audit.plan`.

    Returns
    -------
    PlannedRows

    Notes
    -----
    The population is read five times: to draw scores to count at, to count, to find the scores at
    the ranks where strata end, to count the strata of every shard, and to pick rows.

    Examples
    --------
    >>> import precall as pr
    >>> rows = pr.engines.arrow.scores(pr.example_path(), score="gradient_boosting")
    >>> pr.audit.plan_of(rows, budget=100, rng=0)
    PlannedRows(100 rows of 4,000 in 8 strata, aucpr)
    """
    _require(population)
    if not (population.ordered or population.keep):
        raise InputError(
            "rows of this population have no numbers: name a column that identifies them in keep=."
        )
    number = _validation.as_count(budget, "budget", minimum=1)
    what = as_metric(metric)
    if not (what.smooth or what.places):
        raise what.no_gradient()
    generator = _validation.as_generator(rng)
    counted = _counted(population, (), [what])
    edges = range_edges(counted.score, counted.falling(), what, number)
    codes, names = ranges(counted.score, edges, counted.count)
    size = np.bincount(codes, counted.count).astype(np.int64)
    if not size.size <= number <= counted.n_rows:
        raise InputError(
            f"budget is {number:,}, but there are {plural(counted.n_rows, 'row')} in "
            f"{plural(int(size.size), 'stratum', 'strata')}: each stratum needs a label."
        )
    wanted = equal(size, number)
    strata = Strata(edges, np.unique(interval_of(counted.score, edges)))
    shards = population.run(CountStrata(strata))
    places = [np.sort(own) for own in drawn_places(size, wanted, generator)]
    found: Picked = population.run(PickRows(strata, places, shards.before(size.size)))
    found = found.in_order()
    stratum = np.array([each[2] for each in found.rows], dtype=np.int64)
    if not np.array_equal(np.bincount(stratum, minlength=size.size), wanted):
        raise InputError(
            "the rows of the population are in other places each time they are read: write them "
            "to a file, or cache them, first."
        )
    return PlannedRows(
        rows=np.array([each[0] for each in found.rows], dtype=np.int64),
        scores=np.array([each[1] for each in found.rows], dtype=counted.score.dtype),
        inclusion=(wanted / size)[stratum],
        stratum=stratum,
        strata=tuple(
            {"name": name, "rows": int(n), "labels": int(k)}
            for name, n, k in zip(names, size, wanted, strict=True)
        ),
        others={
            name: [values[place] for values in found.others]
            for place, name in enumerate(population.keep)
        },
        metric=str(what),
        n_rows=counted.n_rows,
    )


def _require(population: object) -> None:
    if not isinstance(population, ScoredRows):
        raise InputError(
            "population must come from pr.engines.arrow.scores, dask.scores or spark.scores, got "
            f"{type(population).__name__}: pr.audit.plan and pr.audit.Sample take scores in memory."
        )


def _counted(
    population: ScoredRows, labelled: Array | tuple[()], metrics: Sequence[Metric], ends: Any = ()
) -> ScoreCounts:
    ranks = [int(rank) for rank in edge_ranks(2**62)] + [int(rank) for rank in ends]
    for metric in metrics:
        ranks += [at for place in metric.places for at in (int(place), int(place) + 1)]
    thresholds = [each for metric in metrics for each in metric.thresholds]
    return count_scores(population, labelled=labelled, thresholds=thresholds, ranks=ranks)


def sample_of(
    population: ScoredRows,
    scores: object,
    labels: object,
    *,
    inclusion: object,
    metrics: Sequence[Metric | type[Metric] | str] = (),
    target: str = "rows",
) -> Sample:
    """Make a sample of a population that is not in memory, from the rows of a plan.

    Parameters
    ----------
    population : ScoredRows
        From :func:`precall.engines.arrow.scores` or its kin: the one that was planned with.
    scores, labels, inclusion : array-like
        The score, the label (0 or 1) and the probability of every labelled row, as
        :func:`plan_of` gave them.
    metrics : sequence of metrics
        Those with a threshold or a rank that will be asked about: the population is counted there.
        Others, such as areas, need not be named.
    target : {"rows", "process"}
        As in :class:`precall.audit.Sample`.

    Returns
    -------
    Sample
        With the estimates and limits that the same rows in memory have.

    Notes
    -----
    The population is read four times. Rows that stand for pieces without a labelled positive are
    found exactly up to some 500 million rows, and beyond that among 50,000 scores.

    Examples
    --------
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> rows = pr.engines.arrow.scores(pr.example_path(), score="gradient_boosting")
    >>> plan = pr.audit.plan_of(rows, budget=300, rng=0)
    >>> labels = example.label[plan.rows]
    >>> pr.audit.sample_of(rows, plan.scores, labels, inclusion=plan.inclusion)
    Sample(300 of 4,000 rows labelled, 44 positive)
    """
    _require(population)
    values = as_population(scores)
    shares = _validation.as_numbers(inclusion, "inclusion").astype(np.float64)
    if shares.shape != values.shape:
        raise InputError(
            f"inclusion must have one probability for each of the {values.size:,} labelled rows, "
            f"got {shares.size:,}."
        )
    if missing_in(shares).any():
        raise InputError("inclusion must not be missing: every labelled row has its probability.")
    if isinstance(metrics, (str, Metric)):
        raise InputError(f"metrics must be a list of metrics, got {metrics!r}.")
    asked = [as_metric(each) for each in metrics]
    _validation.as_choice(target, "target", TARGETS)
    runs = runs_of_shares(values, shares)
    ends = np.cumsum(runs.sizes)
    counted = _counted(population, values, asked, ends)

    def made(counted: ScoreCounts) -> Sample:
        reached = np.cumsum(counted.count)
        stratum = np.searchsorted(ends, reached - counted.count, side="right")
        place = counted.place_of(values)
        if (
            int(ends[-1]) != counted.n_rows
            or not np.isin(ends, reached).all()
            or not np.array_equal(stratum[place[runs.order]], runs.run)
        ):
            raise not_a_population(runs, counted.n_rows)
        return Sample.from_counts(counted, values, labels, strata=stratum, target=target)

    sample = made(counted)
    stand_ins = [
        sample.pieces(sample.names[0], each).stand_ins for each in [as_metric("aucpr"), *asked]
    ]
    places = np.unique(np.concatenate(stand_ins))
    gaps = places[~counted.single[places]]
    if not gaps.size or int(counted.count[gaps].sum()) > _MOST_FOR_STAND_INS:
        return sample
    return made(opened(population, counted, gaps))
