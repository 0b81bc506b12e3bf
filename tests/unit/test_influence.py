"""Influence values against derivatives of slow references, jackknife and Monte Carlo."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import precall as pr
from precall.exceptions import DirectionWarning, InputError
from precall.inference.influence import linearise, summed_cubes
from precall.inference.resampling import resampler_for
from precall.inference.rules import RULES
from precall.inference.rules.bootstrap import resampled
from precall.inference.units import row_values
from precall.metrics import Metric
from precall.metrics.confusion import AtThreshold
from precall.ranking import Cells
from precall.ranking.places import locate
from precall.simulate import Bibeta, Binormal, rank_batch
from tests import naive_inference
from tests.datasets import random_data

SMOOTH_ESTIMATORS = tuple(name for name, kind in pr.ESTIMATORS.items() if kind.gradient)

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")

METRICS = [
    *(pr.metrics.aucpr(estimator=name) for name in SMOOTH_ESTIMATORS if name != "leave_one_out"),
    *(
        pr.metrics.aucpr(estimator=name, recall=(0.21, 0.83))
        for name in SMOOTH_ESTIMATORS
        if name != "leave_one_out"
    ),
    pr.metrics.aucnpr(),
    pr.metrics.aucnpr(estimator="davis_goadrich"),
    pr.metrics.auroc(),
    pr.metrics.auprg(),
    *(kind(0.7) for kind in pr.METRICS.values() if issubclass(kind, AtThreshold)),
    pr.metrics.f_beta_at_threshold(0.4, beta=2.0),
    pr.metrics.net_benefit(0.2, threshold=0.7),
    pr.metrics.expected_cost(3, threshold=0.7),
]


def centred_row_values(metric, y, s, w):
    ranking = pr.rank(y, s, sample_weight=w, thresholds=metric.thresholds)
    values = metric.on_both_classes(ranking).gradient(ranking.cells)
    rows = row_values(locate(ranking.threshold, np.asarray(s)), np.asarray(y) == 1, values)
    for label in (0, 1):
        chosen = np.asarray(y) == label
        rows[chosen] -= np.average(rows[chosen], weights=None if w is None else w[chosen])
    return rows


def with_an_option(kind):
    """A metric of a kind, with a value for the option that it cannot do without."""
    for option in ((), (0.5,), (3,)):
        try:
            return kind(*option)
        except (TypeError, InputError):
            continue
    raise AssertionError(kind)


@pytest.mark.parametrize("kind", pr.METRICS.values(), ids=list(pr.METRICS))
def test_a_metric_on_data_has_a_gradient_where_the_metric_has_one(kind):
    metric = with_an_option(kind)
    ranking = pr.rank([1, 0, 1, 0, 0], [0.9, 0.8, 0.6, 0.4, 0.2], thresholds=metric.thresholds)
    on_data = metric.on_both_classes(ranking)
    assert on_data.smooth == metric.smooth
    if metric.smooth:
        assert on_data.gradient(ranking.cells).positives.shape == ranking.positives.shape


def test_average_precision_against_the_definition():
    rng = np.random.default_rng(1)
    for kind in ("none", "real"):
        for _ in range(10):
            y, s, w = random_data(rng, weights=kind)
            expected = naive_inference.derivatives(naive_inference.average_precision, y, s, w)
            np.testing.assert_allclose(
                centred_row_values(pr.metrics.aucpr(), y, s, w), expected, rtol=1e-6, atol=1e-8
            )


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_gradient_is_the_derivative_of_the_value(metric):
    # Random weights: no three points of the hull are on one line, where it has no derivative.
    rng = np.random.default_rng(2)
    for decimals in (4, 1):
        y = np.arange(40) < 15
        s = np.round(rng.normal(size=40) + y, decimals)
        w = rng.uniform(0.5, 1.5, 40)
        kept = metric.thresholds
        ranking = pr.rank(y, s, sample_weight=w, thresholds=kept)
        functional = metric.on_both_classes(ranking)

        def value(y_true, y_score, weights, functional=functional, kept=kept):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DirectionWarning)
                moved = pr.rank(y_true, y_score, sample_weight=weights, thresholds=kept)
            return functional.value(moved.cells)

        expected = naive_inference.derivatives(value, y, s, w)
        # Differences of step 1e-4 inside, 1e-5 here: both truncate at about 1e-8, relatively.
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            centred_row_values(metric, y, s, w), expected, rtol=1e-5, atol=1e-6 * scale
        )


def test_many_rankings_at_once_are_many_single_ones():
    rng = np.random.default_rng(3)
    positives = rng.integers(0, 3, (5, 8))
    positives[:, 0] += 1
    cells = Cells(positives, rng.integers(0, 3, (5, 8)), rng.integers(0, 4, (5, 8)), np.arange(5))
    for metric in METRICS:
        if metric.name in ("f_beta", "aucnpr"):
            continue
        functional = metric.on_both_classes(pr.rank([1, 0], [1, 0]))
        together = linearise(functional, cells)
        for row in range(5):
            # Alone, rows without positives are no rows: they join the gap before the next one.
            one = Cells(*(np.asarray(field)[row] for field in cells[:4]))
            alone = linearise(functional, _without_empty_rows(one))
            for field in ("positives", "negatives", "slope"):
                np.testing.assert_allclose(
                    getattr(together, field)[row],
                    getattr(alone, field),
                    rtol=1e-6,
                    atol=1e-10,  # differences over 1e-4 leave 1e-16 / 1e-4 of rounding
                    err_msg=f"{metric} {field}",
                )


def _without_empty_rows(cells):
    held = np.flatnonzero(cells.positives)
    passed = np.cumsum(cells.above + cells.tied)
    before = passed[held] - cells.tied[held]
    above = before - np.concatenate([[0], passed[held[:-1]]])
    return Cells(
        cells.positives[held], cells.tied[held], above, cells.below + passed[-1] - passed[held[-1]]
    )


def test_jackknife_tends_to_the_influence_value():
    """Of k copies of the data, one row left out takes its influence value away as k grows.

    It also moves the prevalence: by the slope over the size of its class.
    """
    y, s = Binormal().sample(10, 30, rng=7)
    ranking = pr.rank(y, s)
    slope = float(linearise(pr.metrics.aucpr().on_both_classes(ranking), ranking.cells).slope)
    class_size = np.where(y == 1, 10, 30)
    expected = centred_row_values(pr.metrics.aucpr(), y, s, None) * class_size + np.where(
        y, slope, -slope
    )
    errors = []
    for copies in (10, 100):
        whole = np.full(y.size, float(copies))
        area = pr.aucpr(pr.rank(y, s, sample_weight=whole))
        lost = [area - pr.aucpr(pr.rank(y, s, sample_weight=whole - row)) for row in np.eye(y.size)]
        errors.append(np.abs(np.array(lost) * class_size * copies - expected).max())
    # The rest is of order 1/k.
    assert errors[1] < 0.11 * errors[0]


def test_heavy_rows_move_the_prevalence_and_the_ranking_together():
    """Rows drawn by rows: the variance is the sum of the squares of what each weighs and does."""
    rng = np.random.default_rng(8)
    for turn in (1.0, -1.0):
        y, s, _ = random_data(rng, weights="none")
        s = np.asarray(s)
        w = np.exp(turn * s)
        ranking = pr.rank(y, s, sample_weight=w)
        linear = linearise(
            pr.metrics.aucpr().on_both_classes(ranking), ranking.cells, ranking.squares
        )
        sizes = sum(1 / size for size in ranking.effective_sizes)
        found = linear.positives + linear.negatives + linear.slope**2 * sizes
        step = 1e-5
        moved = [
            [
                naive_inference.average_precision(y, s, w + sign * step * row)
                for row in np.eye(y.size)
            ]
            for sign in (1, -1)
        ]
        each = w * np.subtract(*moved) / (2 * step)
        assert found + 2 * linear.slope * linear.together == pytest.approx(
            np.sum(each**2), rel=1e-5
        )
        assert abs(linear.slope * linear.together) > 0.01 * found
        plain = pr.rank(y, s)
        assert linearise(pr.metrics.aucpr().on_both_classes(plain), plain.cells).together == 0.0


@pytest.mark.parametrize(
    ("scenario", "prevalence"), [(Binormal(), 0.5), (Bibeta(), 0.1), (Binormal(2.0), 0.1)]
)
def test_variance_is_that_of_repeated_samples(scenario, prevalence):
    """Mean influence variance over Monte Carlo variance, at n=200."""
    n, repeats = 200, 3000
    m = round(n * (1 - prevalence) / prevalence)
    batch = rank_batch(*scenario.sample_scores(n, m, size=repeats, rng=11))
    cells = Cells(batch.positives, batch.tied, batch.above, batch.below)
    functional = pr.metrics.aucpr().on_both_classes(batch[0])
    linear = linearise(functional, cells)
    observed = np.var(functional.value(cells), ddof=1)
    ratio = np.mean(linear.positives + linear.negatives) / observed
    # A variance from 3,000 draws has a relative error of sqrt(2/3000) = .026; three of them, and
    # second-order terms of a few percent at n=200.
    assert 1 - 0.11 < ratio < 1 + 0.11


def test_prevalence_slope_is_what_a_change_of_prevalence_does():
    y, s = Bibeta().sample(300, 2700, rng=5)
    ranking = pr.rank(y, s)
    for metric, value in ((pr.metrics.aucpr(), pr.aucpr), (pr.metrics.auprg(), pr.auprg)):
        slope = float(linearise(metric.on_both_classes(ranking), ranking.cells).slope)
        odds = np.log(0.1 / 0.9)
        moved = [
            value(ranking.at_prevalence(1 / (1 + np.exp(-odds - step)))) for step in (-1e-3, 1e-3)
        ]
        assert slope == pytest.approx((moved[1] - moved[0]) / 2e-3, rel=1e-5)
    assert float(
        linearise(pr.metrics.auroc().on_both_classes(ranking), ranking.cells).slope
    ) == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize(
    ("recall", "low", "high"),
    # Of 16 positives: -+ sqrt(r(1-r)/16), but at least one positive, within the range of recalls.
    [(0.5, 6, 10), (0.9375, 14, 16), (1.0, 15, 16), (0.0625, 0, 2)],
)
def test_precision_at_a_recall_moves_with_the_slope_around_it(recall, low, high):
    """One more positive above moves the threshold up the curve of FP over TP, by its slope."""
    before = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]  # negatives above each positive
    ranking = pr.rank(
        np.concatenate([[0] * k + [1] for k in before]), range(16 + sum(before), 0, -1)
    )
    fp = np.concatenate([[before[0]], np.cumsum(before)])  # at 0, 1, ..., 16 positives
    tp = round(16 * recall)
    slope = (fp[high] - fp[max(low, 1)]) / (high - low)
    got = (
        pr.metrics.precision_at_recall(recall=recall)
        .on_both_classes(ranking)
        .gradient(ranking.cells)
    )
    square = (tp + fp[tp]) ** 2
    passed = np.arange(16) < tp
    np.testing.assert_allclose(got.positives, np.where(passed, tp * slope / square, 0), rtol=1e-12)
    np.testing.assert_allclose(got.above, np.where(passed, -tp / square, 0), rtol=1e-12)
    np.testing.assert_allclose(got.tied, got.above, rtol=1e-12)
    assert got.below == 0


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_acceleration_is_the_skewness_of_the_rows_contributions(metric, weighted):
    """a = sum of cubes over 6 (sum of squares)^(3/2) (Efron 1987), row by row."""
    rng = np.random.default_rng(8)
    y = np.arange(40) < 12
    s = rng.permutation(40) / 40.0 + 0.3 * y
    w = None
    if weighted:  # negatives between the same positives share a weight: they are kept by their sums
        edges = np.append(s[y], metric.thresholds)
        w = rng.uniform(0.5, 1.5, 14)[[np.sum(edges > score) for score in s]]
    ranking = pr.rank(y, s, sample_weight=w, thresholds=metric.thresholds)
    functional = metric.on_both_classes(ranking)
    rows = centred_row_values(metric, y, s, w) * (1.0 if w is None else w)
    linear = linearise(functional, ranking.cells, ranking.squares)
    assert linear.positives == pytest.approx(np.sum(rows[y] ** 2), rel=1e-9)
    assert linear.negatives == pytest.approx(np.sum(rows[~y] ** 2), rel=1e-9)
    assert summed_cubes(functional, ranking.cells, ranking.squares) == pytest.approx(
        np.sum(rows**3), rel=1e-9
    )
    drawn = resampled(
        functional,
        RULES["bootstrap_bca"],
        ranking,
        resampler_for(functional, ranking, together=False),
        n_resamples=2,
        varying=False,
        rng=rng,
    )
    expected = np.sum(rows**3) / (6 * np.sum(rows**2) ** 1.5)
    assert drawn.acceleration == pytest.approx(expected, rel=1e-9)


def test_no_influence_values_where_there_are_none():
    ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    for metric in (
        pr.metrics.aucpr(estimator="interpolated_median"),
        pr.metrics.recall_at_precision(precision=0.5),
    ):
        with pytest.raises(InputError, match="has no influence values"):
            metric.on_both_classes(ranking).gradient(ranking.cells)


def test_the_gain_area_of_rows_that_begin_before_the_prevalence():
    """Differences of the area itself: negatives passed before recall reaches the prevalence."""
    cells = Cells(np.array([3.0, 4, 2]), np.array([2.0, 1, 0]), np.array([1.0, 2, 3]), 4.0)
    metric, step = pr.metrics.auprg(), 1e-5
    value = {name: getattr(metric.gradient(cells), name) for name in ("positives", "tied", "above")}
    slopes = {}
    for name in value:
        ends = []
        for sign in (1.0, -1.0):
            moved = [getattr(cells, name) + sign * step * (np.arange(3) == row) for row in range(3)]
            ends.append([float(metric.value(cells._replace(**{name: each}))) for each in moved])
        slopes[name] = (np.array(ends[0]) - ends[1]) / (2 * step)
    # Up to one constant per class, which both class totals bring.
    ours = slopes["positives"] - value["positives"]
    theirs = np.concatenate([slopes[name] - value[name] for name in ("tied", "above")])
    np.testing.assert_allclose(ours, ours[0], atol=1e-6)
    np.testing.assert_allclose(theirs, theirs[0], atol=1e-6)


@pytest.mark.parametrize(
    "words",
    ["aucpr", "aucnpr", "auroc", "auprg", "precision_at_recall(0.3)", "precision_at_recall(0.8)"],
)
@pytest.mark.parametrize("decimals", [None, 1])
def test_slopes_by_formula_are_those_of_differences(words, decimals):
    rng = np.random.default_rng(6)
    for weighted in (False, True):
        y = rng.random(60) < 0.3
        s = rng.normal(size=60) + y
        ranking = pr.rank(
            y,
            s if decimals is None else np.round(s, decimals),
            sample_weight=rng.exponential(size=60) if weighted else None,
        )
        for missed in (0,) if words == "auprg" or weighted else (0, 4):
            known = replace(ranking, missed=missed)
            metric = pr.metrics.parse(words).on_both_classes(known)
            slope = metric.prevalence_slope(known.cells)
            assert slope == pytest.approx(Metric.prevalence_slope(metric, known.cells), abs=1e-6)


def test_the_slope_of_a_gain_area_at_a_jump_is_the_mean_of_both_sides():
    # Four rows, two positive: recall gain 0 is at one positive, where a negative comes.
    ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1])
    metric = pr.metrics.auprg().on_both_classes(ranking)
    expected = Metric.prevalence_slope(metric, ranking.cells)
    assert metric.prevalence_slope(ranking.cells) == pytest.approx(expected, abs=2e-4)
