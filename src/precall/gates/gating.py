"""Decide whether a candidate may pass: every rule judged by a limit, not by an estimate."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import _validation
from .._text import visible
from ..evaluation import wording
from ..exceptions import InputError
from ..groups.levels import as_column_names, cuts_of
from ..groups.slices import MIN_POSITIVES, counted_slices
from ..inference.differences import LimitsAtEveryLevel, UnpairedDifference, paired_difference
from ..inference.intervals import interval
from ..inference.result import MetricInterval, one_sided_limits
from ..inference.sampling import varying_prevalence
from ..metrics import Metric
from ..ranking import Ranking
from ..ranking.reflex import takes_one
from ..ranking.stored import read_ranking
from ..rows import Rows
from . import looks as looking
from .deciding import Judged, decided, verdict_of
from .rule_words import AskedRule, not_worse, parse_rules
from .verdicts import Gate

_FEW_POSITIVES = 20
# Into how many parts columns of numbers are cut.
_QUANTILES = 4
# One-sided limits need more than even odds, and no approximation reaches further than this.
_LEVELS = (0.5, 0.9999)


@takes_one("pr.Rows(y_true, {'old': s_old, 'new': s_new})")
def gate(
    rows: Rows,
    *,
    candidate: str,
    baseline: str | Ranking | os.PathLike[str] | None = None,
    metric: Metric | type[Metric] | str | None = "aucpr",
    margin: float = 0.0,
    rules: Any = (),
    by: Any = (),
    min_positives: int = MIN_POSITIVES,
    confidence_level: float = 0.95,
    sampling: str | None = None,
    prevalence: float | None = None,
    same_rows: bool = True,
    looks: int | None = None,
    adjust_for_looks: bool = False,
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = 0,
) -> Gate:
    """Decide whether a candidate keeps all rules: passed, failed or undecided.

    Parameters
    ----------
    rows : Rows
        With the scores of the candidate, and of the baseline where that is a model.
    candidate : str
        The model to be judged.
    baseline : str, Ranking or path, optional
        What the candidate must not be worse than: a model of the same rows, which is compared row
        by row; or a ranking, or the path of one that ``precall rank`` stored. A ranking does not
        say which row is which, so the limits are those of two independent samples, which are
        wider. A file counts the looks that are taken with it.
    metric : Metric or str, default "aucpr"
        What candidate and baseline are compared by. None if only `rules` count.
    margin : float, default 0.0
        How much worse than the baseline the candidate may be: lower, or higher for a metric that is
        better when it is lower.
    rules : list of str
        More rules: ``"precision_at_recall(0.8) >= 0.3"``, ``"auroc >= baseline - 0.01"``; ``<=``
        where less is better.
    by : str or list of str
        Columns of the rows: every rule has to hold in each of their levels too, at one prevalence,
        that of all rows if not given. Cut as by :func:`precall.slices`.
    min_positives : int, default 10
        Slices with fewer positives or negatives are listed, and not judged.
    confidence_level : float, default 0.95
        A candidate that breaks any rule passes with a probability of at most one minus this.
    sampling, prevalence
        As in :func:`precall.interval`.
    same_rows : bool, default True
        Whether a stored baseline was ranked on these very rows. Then it has to have as many of each
        class. False: on other rows from where these come from.
    looks : int, optional
        How often these rows were used for a gate, this time included. Counted by itself where the
        baseline is a file; otherwise 1.
    adjust_for_looks : bool, default False
        Whether `confidence_level` is to hold for all looks together. Look t is then made at
        ``1 - alpha 6 / (pi t)^2``, which adds up to alpha over all t.
    n_resamples, rng
        For metrics without influence values, which are drawn. The seed is fixed, so that equal data
        have equal verdicts.

    Returns
    -------
    Gate

    Notes
    -----
    With `by`, slices are rows sampled by class, their negatives weighted to the common prevalence;
    the rules for all rows stay as they are.

    A rule passes if the one-sided limit is on the right side of its target, fails if the opposite
    limit is on the wrong side, and is undecided otherwise. To pass, all rules have to, so each may
    be tested at the full level (an intersection-union test, Berger 1982). That one of several rules
    is broken is a statement about a choice: the limits for that hold for all rules together
    (Bonferroni).

    A candidate that orders all rows as the baseline does is not worse, whatever the margin.

    References
    ----------
    Berger, *Multiparameter hypothesis testing and acceptance sampling*, 1982.

    Examples
    --------
    >>> import precall as pr
    >>> example = pr.load_example()
    >>> rows = pr.Rows(example.label, example.scores)
    >>> pr.gate(rows, candidate="gradient_boosting", baseline="scorecard")
    Gate(passed, gradient_boosting: aucpr >= baseline passed)
    >>> pr.gate(rows, candidate="scorecard", rules=["precision_at_recall(0.8) >= 0.3"]).verdict
    'failed'
    """
    if not isinstance(rows, Rows):
        raise InputError(
            f"rows must be precall.Rows, got {type(rows).__name__}: pass "
            "pr.Rows(y_true, {'new': scores})."
        )
    name = _model(rows, candidate, "candidate")
    against = _Baseline.of(rows, baseline, name, _validation.as_flag(same_rows, "same_rows"))
    asked = _asked(against, metric, margin, rules)
    level = _level(confidence_level)
    adjust = _validation.as_flag(adjust_for_looks, "adjust_for_looks")
    ask = _Question(
        rows=rows,
        candidate=name,
        against=against,
        sampling=sampling,
        prevalence=prevalence,
        varying=varying_prevalence(sampling, prevalence),
        n_resamples=_validation.as_count(n_resamples, "n_resamples", minimum=2),
        rng=rng,
    )
    given = None if looks is None else _validation.as_count(looks, "looks", minimum=1)
    parts, too_small = ask.parts(
        by, _validation.as_count(min_positives, "min_positives", minimum=2)
    )
    judged = [part.judged(rule) for part in (ask, *parts) for rule in asked]
    look = looking.Look.of(rows[name], (each.title for each in judged), level)
    count, uncounted = looking.counted(against.path, look, given)
    alpha = looking.error_of_look(1.0 - level, count) if adjust else 1.0 - level
    found = decided(judged, alpha, name)
    verdict = verdict_of(found)
    notes = [*_notes(ask, asked), *uncounted]
    if count > 1:
        spent = looking.error_of_look(1.0 - level, count)
        strict = verdict_of(decided(judged, spent, name))
        notes.append(looking.cost(count, level, strict, adjusted=adjust))
    ranking = rows[name]
    return Gate(
        verdict=verdict,
        rules=tuple(found),
        candidate=name,
        baseline=against.title,
        paired=None if against.title is None else against.paired,
        n_pos=ranking.n_pos,
        n_neg=ranking.n_neg,
        confidence_level=level,
        rule_level=1.0 - alpha,
        looks=count,
        too_small=tuple(too_small),
        notes=tuple(notes),
    )


def _level(confidence_level: object) -> float:
    level = _validation.as_number(confidence_level, "confidence_level")
    if not _LEVELS[0] < level <= _LEVELS[1]:
        raise InputError(
            f"confidence_level must be over {_LEVELS[0]:g} and at most {_LEVELS[1]:g}, got "
            f"{confidence_level!r}."
        )
    return level


def _model(rows: Rows, name: object, role: str) -> str:
    if isinstance(name, str) and name in rows.scores:
        return name
    hint = "" if role == "candidate" else "; a stored ranking is given as pathlib.Path(...)"
    raise InputError(
        f"{role} must be one of the models of these rows, {', '.join(map(repr, rows.names))}, "
        f"got {name!r}{hint}."
    )


class _Baseline(NamedTuple):
    """What the candidate is compared with."""

    title: str | None = None
    model: str | None = None
    ranking: Ranking | None = None
    path: Path | None = None

    @property
    def paired(self) -> bool:
        return self.model is not None

    @classmethod
    def of(cls, rows: Rows, baseline: object, candidate: str, same_rows: bool) -> _Baseline:
        if baseline is None:
            return cls()
        if isinstance(baseline, Ranking):
            _require_comparable(rows, candidate, baseline, same_rows)
            return cls(title="stored ranking", ranking=baseline)
        if isinstance(baseline, os.PathLike):
            path = Path(baseline)
            ranking = read_ranking(path)
            _require_comparable(rows, candidate, ranking, same_rows)
            return cls(title=path.name, ranking=ranking, path=path)
        model = _model(rows, baseline, "baseline")
        if model == candidate:
            raise InputError(
                f"candidate and baseline are both {candidate!r}: a model is never worse than "
                "itself; name another one."
            )
        return cls(title=model, model=model)


def _require_comparable(rows: Rows, candidate: str, stored: Ranking, same_rows: bool) -> None:
    """Refuse a stored baseline whose difference from the candidate would mean nothing."""
    if rows.cluster is not None:
        raise InputError(
            "a stored baseline does not know which rows belong together: leave the clusters out, "
            "or give the baseline's scores on these rows."
        )
    if not same_rows:
        return
    ours, theirs = ((each.n_pos, each.n_neg) for each in (rows[candidate], stored))
    # Weights are summed in the order of the scores, which is not the same for two models.
    if not np.allclose(ours, theirs, rtol=1e-9, atol=0.0):
        shown = [
            f"{wording.count(n_pos)} positives and {wording.count(n_neg)} negatives"
            for n_pos, n_neg in (theirs, ours)
        ]
        raise InputError(
            f"the baseline was ranked on other rows: it has {shown[0]}, and these rows have "
            f"{shown[1]}. Rank it on these rows, or say same_rows=False if both are samples of "
            "the same."
        )


def _asked(against: _Baseline, metric: object, margin: Any, rules: object) -> list[AskedRule]:
    asked = parse_rules(rules)
    for rule in asked:
        if rule.relative and against.title is None:
            raise InputError(f"rule '{rule}' needs a baseline: name one.")
        low, high = rule.metric.bounds
        if not rule.relative and not low <= rule.target <= high:
            raise InputError(
                f"rule '{rule}' decides nothing: {rule.metric} is always between {low:g} and "
                f"{high:g}."
            )
    allowed = not_worse("aucpr" if metric is None else metric, margin)
    if against.title is None and allowed.target:
        raise InputError("margin is about a baseline: name one, or leave the margin out.")
    if metric is None and allowed.target:
        raise InputError("margin is about a metric: name one, or leave the margin out.")
    if against.title is not None and metric is not None:
        asked = [allowed, *(rule for rule in asked if rule != allowed)]
    if not asked:
        raise InputError(
            "a gate needs a rule: name a baseline, or give rules such as "
            "'precision_at_recall(0.8) >= 0.3'."
        )
    return asked


class _Question(NamedTuple):
    """The data of a gate, and how they came to be."""

    rows: Rows
    candidate: str
    against: _Baseline
    sampling: str | None
    prevalence: float | None
    varying: bool
    n_resamples: int
    rng: Any
    slice: str | None = None

    def parts(self, by: object, least: int) -> tuple[list[_Question], list[str]]:
        """Return the same question in every slice, and the slices that are too small for it."""
        if isinstance(by, (list, tuple)) and not by:
            return [], []
        if self.against.ranking is not None:
            raise InputError(
                "by needs the baseline's scores on these rows: a stored ranking cannot be cut."
            )
        columns = as_column_names(by, self.rows)
        rows = self.rows.only(*(name for name in (self.candidate, self.against.model) if name))
        ranking = self.rows[self.candidate]
        prevalence = ranking.prevalence if self.prevalence is None else self.prevalence
        parts, too_small = [], []
        for cut in cuts_of(rows, columns, depth=1, quantiles=_QUANTILES):
            for index, one in enumerate(counted_slices(rows, cut, least)):
                if one.too_small:
                    too_small.append(one.name)
                    continue
                chosen = rows.select(cut.code == index)
                part = self._replace(rows=chosen, prevalence=prevalence, slice=one.name)
                parts.append(part._replace(sampling=None, varying=False))
        return parts, too_small

    def judged(self, asked: AskedRule) -> Judged:
        """Return what a rule is judged by."""
        try:
            return self._judged(asked)
        except InputError as error:
            if self.slice is None:
                raise
            raise InputError(
                f"rule '{asked}' cannot be asked where {self.slice}, whose negatives are weighted "
                f"to the common prevalence: {error}"
            ) from None

    def _judged(self, asked: AskedRule) -> Judged:
        evidence: LimitsAtEveryLevel
        baseline: float | None = None
        if asked.relative and self.against.model is not None:
            pair = self.rows.only(self.candidate, self.against.model)
            if self.prevalence is not None:
                pair = pair.at_prevalence(self.prevalence)
            evidence, (value, baseline) = paired_difference(
                pair,
                asked.metric,
                varying=self.varying,
                n_resamples=self.n_resamples,
                rng=_validation.as_generator(self.rng),
            )
        else:
            own = self._interval(asked.metric, self.rows, self.candidate)
            evidence, value = _AtLevels(own), own.estimate
            if asked.relative:
                other = self._interval(asked.metric, self.against.ranking, None)
                evidence, baseline = UnpairedDifference(first=own, second=other), other.estimate
        positives = float(np.count_nonzero(self.rows.positive))
        return Judged(asked, self.slice, evidence, value, baseline, positives)

    def _interval(self, metric: Metric, data: Any, model: str | None) -> MetricInterval:
        return interval(
            data,
            metric,
            model=model,
            sampling=self.sampling,
            prevalence=self.prevalence,
            n_resamples=self.n_resamples,
            rng=_validation.as_generator(self.rng),
        )


class _AtLevels(NamedTuple):
    """An interval, asked for its limits at every level."""

    interval: MetricInterval

    @property
    def estimate(self) -> float:
        return self.interval.estimate

    @property
    def method(self) -> str:
        return self.interval.method

    def limits(self, confidence_level: float) -> tuple[float, float]:
        return one_sided_limits(self.interval, confidence_level)


def _notes(ask: _Question, asked: list[AskedRule]) -> Iterator[str]:
    """What to know of the limits."""
    against = ask.against
    if against.ranking is not None and any(rule.relative for rule in asked):
        yield (
            f"The baseline ({wording.clean_name(visible(against.title))}) is a stored ranking, "
            "which does not say how it scored each row: the limits are those of two independent "
            "samples, wider than a comparison row by row would have. Give the baseline's scores "
            "as a column to have that."
        )
    few = ask.rows.effective_sizes[0]
    if few < _FEW_POSITIVES:
        said = wording.plural(few, "independent positive")
        yield f"Only {said}: with fewer than {_FEW_POSITIVES} the limits are rough."
