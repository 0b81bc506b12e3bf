"""A sample: a population of scored rows of which some, chosen at random, are labelled."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _validation
from .._output import as_page
from .._words import plural
from ..exceptions import InputError, ReliabilityWarning, UndefinedMetricError
from ..inference.result import MetricInterval, from_evidence
from ..metrics import Metric, as_metric
from ..rows import SCORE, named_scores, one_of
from .designs import Design, from_inclusion, from_strata, in_strata
from .labels import KnownLabels, as_known, as_population, require_some
from .model_differences import compare_models
from .nothing_found import NothingFound
from .proxies import as_proxy, with_proxy
from .sample_band import estimated_ranking, sample_band
from .sample_limits import SampleEvidence
from .sampled_cells import SampledMetric, placement_variance
from .score_counts import ScoreCounts
from .strata_pieces import Pieces, cut

if TYPE_CHECKING:
    from ..inference.bands import Band
    from ..inference.comparison import Comparison
    from ..ranking import Ranked, Ranking
    from .label_plan import LabelPlan

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]

TARGETS = ("rows", "process")


class Sample:
    """All scores of a population, and labels of rows that were chosen at random.

    Say how the labelled rows were chosen with exactly one of `plan`, `inclusion` and `strata`.

    Parameters
    ----------
    scores : array-like, or mapping from name to array-like
        The scores of all rows by one model, or by each of several.
    labels : array-like or mapping
        One label (0 or 1) per row, NaN or None where it is unknown; or a mapping from row to label.
    plan : LabelPlan, optional
        The plan that the labels follow, from :func:`precall.audit.plan`.
    inclusion : float or array-like, optional
        The probability with which each row of the population was to be labelled, above 0 and at
        most 1; one number if it was the same for all.
    strata : array-like, optional
        The stratum of each row: from every stratum rows were drawn at random, as many as have
        labels now.
    target : {"rows", "process"}
        What the answers are about: these rows, or the process that they came from. The second
        has wider intervals, since other rows might have come.
    proxy : array-like, optional
        A probability of being positive for every row, from another model or a language model that
        judges rows. Where the labels show that it agrees with them, numbers of positives are
        estimated with its help, and are surer; it never has to be right. It must not have been
        fitted to these labels.

    Attributes
    ----------
    n_rows, n_labelled, n_positives : int
        Rows, labelled rows, and labelled rows that are positive.

    Raises
    ------
    InputError
        If the design is not possible: a label on a row that could not be drawn, a row that could
        not be reached, a stratum without labels, a row of the plan without its label.

    Notes
    -----
    Intervals were simulated: docs/how-to/few-labels.md has the shares that covered the truth.

    Examples
    --------
    >>> import numpy as np, precall as pr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(20_000) < 0.02
    >>> scores = rng.normal(size=20_000) + 2.5 * y
    >>> plan = pr.audit.plan(scores, budget=500, rng=0)
    >>> sample = pr.audit.Sample(scores, dict(zip(plan.rows, y[plan.rows])), plan=plan)
    >>> sample
    Sample(500 of 20,000 rows labelled, 146 positive)
    >>> pr.interval(sample).method
    'mover'
    """

    def __init__(
        self,
        scores: object,
        labels: object,
        *,
        plan: LabelPlan | None = None,
        inclusion: object = None,
        strata: object = None,
        target: str = "rows",
        proxy: object = None,
    ) -> None:
        named, shown = named_scores(scores)
        checked = {name: as_population(each, shown[name]) for name, each in named.items()}
        _validation.require_same_length(**{shown[name]: each for name, each in checked.items()})
        self.scores: Mapping[str, Array] = MappingProxyType(checked)
        self.n_rows = int(next(iter(checked.values())).size)
        self.known = as_known(labels, self.n_rows)
        require_some(self.known)
        self.target = _validation.as_choice(target, "target", TARGETS)
        self.design = self._design(plan, inclusion, strata)
        self.proxy = None if proxy is None else as_proxy(proxy, self.n_rows)
        self.looks = 1 if plan is None else plan.looks
        self.round = 1 if plan is None else plan.round
        self.counted: ScoreCounts | None = None
        self._descending: dict[str, Any] = {}

    @classmethod
    def from_counts(
        cls,
        counted: ScoreCounts,
        labelled: object,
        labels: object,
        *,
        strata: IntArray,
        target: str = "rows",
    ) -> Sample:
        """Make a sample of a population that was counted, not held in memory.

        Parameters
        ----------
        counted : ScoreCounts
            From :func:`precall.audit.score_counts.count_scores`.
        labelled, labels : array-like
            The score and the label of every labelled row.
        strata : array
            The stratum, from 0, of every score that was counted.
        """
        place = counted.place_of(as_population(labelled, "labelled"))
        given = as_known(labels, place.size)
        if given.rows.size != place.size:
            raise InputError("labels must not be missing: leave rows without a label out.")
        found = cls.__new__(cls)
        found.scores = MappingProxyType({SCORE: counted.score})
        found.n_rows = counted.n_rows
        found.known = KnownLabels(place, given.positive)
        require_some(found.known)
        found.target = _validation.as_choice(target, "target", TARGETS)
        names = tuple(range(int(strata.max()) + 1))
        found.design = in_strata(strata, names, found.known)
        found.proxy, found.looks, found.round, found.counted = None, 1, 1, counted
        found._descending = {SCORE: counted.falling()}
        return found

    def stratum_sizes(self) -> IntArray:
        """Return the number of rows of each stratum."""
        count = None if self.counted is None else self.counted.count
        sizes = np.bincount(self.design.stratum, count, minlength=len(self.design.names))
        return sizes.astype(np.int64)

    def _design(self, plan: LabelPlan | None, inclusion: object, strata: object) -> Design:
        given = {"plan": plan, "inclusion": inclusion, "strata": strata}
        named = [name for name, value in given.items() if value is not None]
        if len(named) != 1:
            found = " and ".join(named) if named else "none"
            raise InputError(
                "say how the labelled rows were chosen with exactly one of plan, inclusion and "
                f"strata, got {found}: a simple random sample of n rows has "
                "inclusion=n / len(scores)."
            )
        if plan is not None:
            design: Any = getattr(plan, "design_of", None)
            if not callable(design):
                raise InputError(
                    "plan must be what pr.audit.plan returns, got "
                    f"{type(plan).__name__}: pass the plan, or inclusion or strata."
                )
            return plan.design_of(self.known, self.n_rows)
        make = from_inclusion if inclusion is not None else from_strata
        return make(inclusion if inclusion is not None else strata, self.known, self.n_rows)

    def __len__(self) -> int:
        """Return the number of rows, labelled or not."""
        return self.n_rows

    @property
    def names(self) -> list[str]:
        """Names of the models."""
        return list(self.scores)

    @property
    def n_labelled(self) -> int:
        """Number of labelled rows."""
        return int(self.known.rows.size)

    @property
    def n_positives(self) -> int:
        """Number of labelled rows that are positive."""
        return int(np.count_nonzero(self.known.positive))

    def __repr__(self) -> str:
        """Return one line."""
        models = f", models: {', '.join(self.names)}" if len(self.scores) > 1 else ""
        about = "" if self.target == TARGETS[0] else f", about the {self.target}"
        return (
            f"Sample({self.n_labelled:,} of {plural(self.n_rows, 'row')} labelled, "
            f"{self.n_positives:,} positive{models}{about})"
        )

    def model_named(self, model: object) -> str:
        """Return the name of a model; with several, none given is an error that lists them."""
        return one_of(self.names, model, "the sample has")

    def descending(self, model: str) -> Any:
        """Return the scores of a model from the highest down; they are sorted once."""
        if model not in self._descending:
            self._descending[model] = np.sort(self.scores[model])[::-1]
        return self._descending[model]

    def pieces(self, model: str, metric: Metric) -> Pieces:
        """Return the pieces that a metric of a model is estimated from."""
        if self.counted is not None:
            self.counted.require(metric.thresholds, metric.places)
        found = cut(
            self.scores[model],
            self.descending(model),
            self.design,
            self.known,
            tuple(metric.thresholds),
            tuple(metric.places),
            count=None if self.counted is None else self.counted.count,
        )
        return self.helped(found)

    def helped(self, pieces: Pieces) -> Pieces:
        """Return the pieces as the proxy, if there is one, helps to estimate them."""
        if self.proxy is None or not self.n_positives:
            return pieces
        return with_proxy(pieces, self.proxy, self.known, self.design.weight)

    def sampled(self, model: str, metric: Metric, pieces: Pieces | None = None) -> SampledMetric:
        """Return a metric of a model as a function of the positives in each piece."""
        if not (metric.smooth or metric.places):
            raise metric.no_gradient()
        return SampledMetric(
            metric,
            self.scores[model],
            self.pieces(model, metric) if pieces is None else pieces,
            self.known,
            self.design.weight,
        )

    def __getitem__(self, model: str) -> Sample:
        """Return the sample with one of the models."""
        name = self.model_named(model)
        found = copy(self)
        found.scores = MappingProxyType({name: self.scores[name]})
        return found

    def estimated_ranking(self, model: str | None = None) -> Ranking:
        """Return the counts of the whole population as they are estimated."""
        self._require_positives("a curve")
        if model is None and len(self.scores) > 1:
            raise InputError(
                f"the sample has the models {', '.join(map(repr, self.names))}, and this takes "
                f"one: pass sample[{self.names[0]!r}]."
            )
        return estimated_ranking(self.sampled(self.model_named(model), as_metric("aucpr")))

    def _require_positives(self, what: str) -> None:
        if not self.n_positives:
            raise UndefinedMetricError(
                f"none of the {self.n_labelled:,} labelled rows is positive, so that there is "
                f"nothing to make {what} of: label more rows, or ask pr.interval for an upper "
                "limit."
            )

    def _refuse(self, **given: object) -> None:
        """Raise where an argument is given that belongs to rows whose labels are all known."""
        for argument, value in given.items():
            if value is not None:
                raise InputError(
                    f"{argument} has no meaning for a Sample, whose answer is about its own "
                    "population: leave it out."
                )

    def own_band(
        self, kind: str, *, model: str | None, method: str | None, given: dict[str, Any]
    ) -> Band:
        """Answer :func:`precall.band`."""
        if kind != "pr":
            raise InputError(
                f"a Sample has a band for curve='pr' only, got {kind!r}: ask pr.interval for "
                "single points."
            )
        asked = {name: given.pop(name) for name in ("confidence_level", "recall", "n_points")}
        self._refuse(**given)
        if self.target != TARGETS[0]:
            raise InputError(
                "the band of a Sample is about its own rows: make the Sample with target='rows'."
            )
        self._require_positives("a band")
        return sample_band(self, self.model_named(model), method, **asked)

    def own_compare(self, metric: Metric, level: float, given: dict[str, Any]) -> Comparison:
        """Answer :func:`precall.compare`."""
        self._refuse(**given)
        if len(self.scores) < 2:
            raise InputError(
                "scores must name at least two models to compare, got 1: make the Sample with "
                "{'a': s_a, 'b': s_b}."
            )
        self._require_positives("a comparison")
        return compare_models(self, metric, level)

    def own_interval(
        self,
        metric: Metric,
        *,
        model: str | None = None,
        method: str | None = None,
        confidence_level: float = 0.95,
        sampling: str | None = None,
        prevalence: float | None = None,
    ) -> MetricInterval:
        """Answer :func:`precall.interval`."""
        name = self.model_named(model)
        self._refuse(sampling=sampling, prevalence=prevalence)
        if method is not None:
            _validation.as_choice(method, "method", ("mover",))
        evidence: Any = self.evidence(self.sampled(name, metric))
        if not self.n_positives:
            warnings.warn(
                f"none of the {self.n_labelled:,} labelled rows is positive: there is only an "
                "upper limit.",
                ReliabilityWarning,
                stacklevel=3,
            )
            evidence = NothingFound(
                self.scores[name],
                self.known,
                self.design,
                metric,
                evidence,
                None if self.counted is None else self.counted.count,
            )
        return from_evidence(
            metric, "mover", evidence.estimate, evidence.error, evidence, confidence_level
        )

    def evidence(self, sampled: SampledMetric) -> SampleEvidence:
        """Return what the limits of a metric are computed from."""
        return SampleEvidence(
            value=sampled.value,
            pieces=sampled.pieces,
            variance=self._variance(sampled),
            bounds=sampled.metric.bounds,
            looks=self.looks,
        )

    def _variance(self, sampled: SampledMetric) -> float:
        if not self.n_positives:  # there is no estimate that could vary
            return 0.0
        variance = placement_variance(sampled, sampled.slopes)
        if self.target == "process":
            if not sampled.metric.smooth:
                raise sampled.metric.no_gradient()
            variance += sampled.process_variance(sampled.slopes, sampled.prevalence_slope())
        return variance

    def report(
        self,
        path: str | Path,
        *,
        metrics: Sequence[Metric | str] = (),
        confidence_level: float = 0.95,
    ) -> Path:
        """Write a page that says what the labels say, and on top how many they are.

        It has intervals of the metrics (average precision, AUROC and the precision at a recall of
        .5 if none is named), the curve with its band, and the strata with their labels.
        """
        from ..display.sample_page import write_sample_report

        page = as_page(path)
        return write_sample_report(self, page, metrics=metrics, confidence_level=confidence_level)

    def ranked(self, model: str | None = None, thresholds: tuple[float, ...] = ()) -> Ranked:
        """Refuse: a ranking needs the label of every row."""
        raise InputError(
            f"this needs the label of every row, and a Sample has {self.n_labelled:,} of "
            f"{self.n_rows:,}: pr.interval, pr.compare, pr.pr_curve and pr.band take a Sample, or "
            "rank the labelled rows with pr.rank."
        )
