"""Coverage of precision at a high recall, and of recall at a precision, with few positives."""

import numpy as np
import pytest
from scipy.stats import binom

import precall as pr
from precall.simulate import REGULAR, Binormal, Levels, Mixture, Pair, Uniform


def held(model, metric, truth, *, n_pos, prevalence, sets, **options):
    rng = np.random.default_rng(3)
    rows, count = round(n_pos / prevalence), 0
    for _ in range(sets):
        positives = max(1, rng.binomial(rows, prevalence))
        y, s = model.sample(positives, rows - positives, rng=rng)
        found = pr.interval(pr.rank(y, s), metric, **options)
        assert found.low <= found.estimate <= found.high
        count += found.low <= truth <= found.high
    return count


@pytest.mark.parametrize("prevalence", [0.1, 0.01])
def test_the_threshold_of_a_high_recall_may_lie_below_every_positive(prevalence):
    """Before, with the last positive as the end of the curve, it covered 0.83 and 0.78."""
    model = REGULAR["bibeta"]
    truth = float(model.precision(0.95, prevalence))
    metric = pr.metrics.precision_at_recall(0.95)
    count = held(model, metric, truth, n_pos=20, prevalence=prevalence, sets=200)
    assert count >= binom.ppf(1e-4, 200, 0.95)


@pytest.mark.parametrize(
    ("name", "n_pos", "prevalence", "precision"),
    [("normal_against_t2", 20, 0.5, 0.8), ("binormal_1", 100, 0.1, 0.8)],
)
def test_recall_at_a_precision(name, n_pos, prevalence, precision):
    """The percentile bootstrap covered 0.60 and 0.67."""
    model = REGULAR[name]
    recall = np.linspace(1e-4, 1, 20_001)
    truth = float(recall[np.flatnonzero(model.precision(recall, prevalence) >= precision)[-1]])
    metric = pr.metrics.recall_at_precision(precision)
    count = held(model, metric, truth, n_pos=n_pos, prevalence=prevalence, sets=100)
    assert count >= binom.ppf(1e-4, 100, 0.95)


def flat(share):
    """A scorer that separates the classes, of which a share has the wrong label.

    Precision is the same up to recall ``1 - share``, and falls at once.
    """
    high, low = Uniform(location=1.0), Uniform()
    shares = (1.0 - share, share)
    return Pair(Mixture((high, low), shares), Mixture((low, high), shares))


@pytest.mark.parametrize("n_pos", [20, 100])
def test_the_threshold_of_a_recall_may_lie_beside_a_cliff(n_pos):
    """Place and count, each by itself, covered 0.84 and 0.77 here."""
    model = flat(0.1)
    truth = float(model.precision(0.9, 0.03))
    metric = pr.metrics.precision_at_recall(0.9)
    count = held(model, metric, truth, n_pos=n_pos, prevalence=0.03, sets=300)
    assert count >= binom.ppf(1e-4, 300, 0.94)


@pytest.mark.parametrize("n_pos", [20, 100])
def test_recall_at_the_precision_that_a_curve_has_all_along(n_pos):
    """It covered 0.84 and 0.80."""
    metric = pr.metrics.recall_at_precision(0.5)
    count = held(flat(0.03), metric, 0.97, n_pos=n_pos, prevalence=0.03, sets=200)
    assert count >= binom.ppf(1e-4, 200, 0.94)


def test_recall_at_a_precision_is_that_of_a_threshold_where_scores_are_tied():
    """The curve goes on between two thresholds, which are far apart; it covered 0.88."""
    model = Levels.cut(Binormal(2.0), 10)
    ends = model.groups.recall
    truth = float(ends[np.flatnonzero(model.precision(ends, 0.01) >= 0.3)[-1]])
    metric = pr.metrics.recall_at_precision(0.3)
    count = held(model, metric, truth, n_pos=100, prevalence=0.01, sets=150)
    assert count >= binom.ppf(1e-4, 150, 0.95)
