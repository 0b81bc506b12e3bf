"""Intervals that a peer has too: DeLong's, the bootstrap's, and a proportion's."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import precall as pr
from benchmarks import peers
from benchmarks.growth import probabilities
from benchmarks.harness import Budget, Race, benchmark
from benchmarks.peers import CONFIDENCE, SCIPY, STATSMODELS, SUBJECT, Label, Score

Limits = tuple[float, float, float]
N_RESAMPLES = 1000


@benchmark
def delong(quick: bool) -> Iterator[Race]:
    """AUROC with DeLong's 95 % interval, from raw rows, 10 % positives."""
    for rows in (10**3, 10**4) if quick else (10**3, 10**4, 10**6):
        label, score = probabilities(rows, 0.1)
        jobs, skipped = peers.available(
            {
                SUBJECT: partial(_delong, label, score),
                CONFIDENCE: partial(_delong_of_peer, label, score),
            }
        )
        yield Race(
            title=f"{rows:,} rows",
            jobs=jobs,
            repeats=2 if rows > 10**5 else 3,
            check=_same_limits,
            skipped=skipped,
        )


@benchmark
def bootstrap(quick: bool) -> Iterator[Race]:
    """Average precision with a percentile interval from 1,000 resamples of rows, 10 % positives."""
    for rows in (10**3,) if quick else (10**3, 10**4):
        label, score = probabilities(rows, 0.1)
        jobs, skipped = peers.available(
            {
                SUBJECT: partial(_bootstrap, label, score),
                SCIPY: partial(_bootstrap_of_scipy, label, score),
                CONFIDENCE: partial(_bootstrap_of_confidenceinterval, label, score),
            }
        )
        yield Race(
            title=f"{rows:,} rows",
            jobs=jobs,
            repeats=1,
            check=_same_distribution,
            skipped=skipped,
        )


@benchmark
def precision_at_threshold(quick: bool) -> Iterator[Race]:
    """Precision at one threshold with a 95 % interval: from raw rows, and from what was counted."""
    rows = 10**5 if quick else 10**6
    label, score = probabilities(rows, 0.1)
    threshold = float(np.sort(score[label == 1])[-label.sum() // 10])
    ranking = pr.rank(label, score)
    selected = score >= threshold
    counted = int(label[selected].sum()), int(selected.sum())
    pairs = {
        "from rows": (
            lambda: _precision(pr.Rows(label, score), threshold),
            lambda: _proportion(*_count(label, score, threshold)),
        ),
        "counted": (
            partial(_precision, ranking, threshold),
            partial(_proportion, *counted),
        ),
    }
    for title, (own, peer) in pairs.items():
        jobs, skipped = peers.available({SUBJECT: own, STATSMODELS: peer})
        yield Race(
            title=f"{rows:,} rows, {title}",
            jobs=jobs,
            repeats=5,
            budgets=() if skipped else (Budget(peer=STATSMODELS, at_most=3),),
            check=_same_precision,
            skipped=skipped,
        )


def _limits(interval: pr.Interval) -> Limits:
    return interval.estimate, interval.low, interval.high


def _delong(label: Label, score: Score) -> Limits:
    return _limits(pr.interval(pr.rank(label, score), "auroc", method="delong", sampling="classes"))


def _delong_of_peer(label: Label, score: Score) -> Limits:
    import confidenceinterval

    area, (low, high) = confidenceinterval.roc_auc_score(label, score, method="delong")
    return float(area), low, high


def _bootstrap(label: Label, score: Score) -> Limits:
    interval = pr.interval(
        pr.rank(label, score),
        method="bootstrap_percentile",
        n_resamples=N_RESAMPLES,
        rng=0,
        sampling="rows",
    )
    return _limits(interval)


def _bootstrap_of_scipy(label: Label, score: Score) -> Limits:
    from scipy import stats
    from sklearn.metrics import average_precision_score

    found = stats.bootstrap(
        (label, score),
        average_precision_score,
        paired=True,
        vectorized=False,
        n_resamples=N_RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    limits = found.confidence_interval
    return average_precision_score(label, score), limits.low, limits.high


def _bootstrap_of_confidenceinterval(label: Label, score: Score) -> Limits:
    from confidenceinterval.bootstrap import bootstrap_ci
    from sklearn.metrics import average_precision_score

    estimate, (low, high) = bootstrap_ci(
        label,
        score,
        average_precision_score,
        n_resamples=N_RESAMPLES,
        method="bootstrap_percentile",
        random_state=0,
    )
    return estimate, low, high


def _precision(data: pr.Ranking | pr.Rows, threshold: float) -> Limits:
    return _limits(pr.interval(data, pr.metrics.precision_at_threshold(threshold), method="wilson"))


def _count(label: Label, score: Score, threshold: float) -> tuple[int, int]:
    selected = score >= threshold
    return int(label[selected].sum()), int(selected.sum())


def _proportion(positives: int, selected: int) -> Limits:
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(positives, selected, method="wilson")
    return positives / selected, float(low), float(high)


def _same_limits(returned: dict[str, object]) -> str | None:
    """The peer ranks in single precision, so its limits are right to about six digits."""
    own, *others = (np.array(limits) for limits in returned.values())
    for other in others:
        np.testing.assert_allclose(other, own, rtol=1e-5)
        return f"limits differ by {np.abs(other - own).max():.1e} at most"
    return None


def _same_distribution(returned: dict[str, object]) -> str:
    """Equal estimates; limits as far apart as 1,000 replicates leave them.

    A quantile at 2.5 % of 1,000 normal replicates has a standard error of .085 standard deviations,
    so the difference of two has .12; five of those are .6, or .15 of an interval's width.
    """
    (estimate, low, high), *others = returned.values()
    width = high - low
    for peer in others:
        np.testing.assert_allclose(peer[0], estimate, rtol=1e-9)
        np.testing.assert_allclose(peer[1:], (low, high), atol=0.15 * width)
    return "; ".join(f"{name}: {lo:.4f} to {hi:.4f}" for name, (_, lo, hi) in returned.items())


def _same_precision(returned: dict[str, object]) -> str:
    """The same proportion with the same limits, Wilson's."""
    first, *others = returned.values()
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-9)
    return f"Wilson: {first[1]:.5f} to {first[2]:.5f}"
