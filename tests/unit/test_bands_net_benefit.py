"""Bands of net benefit: what each row contributes, beside draws of whole data sets."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.inference.bands import net_benefit

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]
GRID = np.linspace(0.05, 0.5, 81)


def draw(rng, size):
    """Calibrated probabilities, and the same with noise."""
    p = rng.beta(0.5, 2.0, size)
    noisy = np.clip(p + rng.normal(scale=0.15, size=size), 0.0, 1.0)
    return rng.random(size) < p, {"good": p, "poor": noisy}


@pytest.fixture(scope="module")
def rows():
    return pr.Rows(*draw(np.random.default_rng(0), 500))


def test_it_is_around_the_curve(rows):
    band = pr.band(rows, "net_benefit", model="good", rng=0)
    curve = pr.net_benefit_curve(rows, model="good", probabilities=GRID)
    np.testing.assert_allclose(band.y, curve.y, rtol=1e-12, atol=1e-15)
    assert (band.low <= band.y).all()
    assert (band.y <= band.high).all()
    assert (band.kind, band.method, len(band)) == ("net_benefit", "multiplier", 81)
    again = pr.band(rows, "net_benefit", model="good", rng=0)
    np.testing.assert_array_equal(band.low, again.low)
    # Wider than the interval at one probability, and not absurdly so.
    single = pr.interval(rows, pr.metrics.net_benefit(GRID[40]), model="good")
    assert single.width < band.width[40] < 2.0 * single.width
    assert band.labels == ("threshold probability", "net benefit per row")


def test_the_difference_is_that_of_the_curves(rows):
    band = pr.difference_band(rows, candidate="good", baseline="poor", curve="net_benefit", rng=0)
    ours, theirs = (
        pr.net_benefit_curve(rows, model=name, probabilities=GRID).y for name in ("good", "poor")
    )
    np.testing.assert_allclose(band.y, ours - theirs, rtol=1e-9, atol=1e-12)
    assert band.diagnostics["verdict"] in ("candidate dominates", "undecided")
    # The two go together: independent bands of both would be wider.
    apart = [pr.band(rows, "net_benefit", model=name, rng=0).width for name in ("good", "poor")]
    assert band.width.mean() < np.hypot(*apart).mean()


@pytest.mark.parametrize("varying", [True, False])
def test_the_covariance_is_that_of_other_data_sets(varying):
    rng = np.random.default_rng(1)
    grid = np.array([0.1, 0.3])
    y, scores = draw(rng, 400)
    terms = net_benefit._terms(pr.Rows(y, scores), ["good", "poor"], grid, [1.0, -1.0])
    size = y.size
    values = []
    for _ in range(3000):
        if varying:
            chosen = rng.integers(0, size, size)
        else:
            chosen = np.concatenate(
                [rng.choice(np.flatnonzero(part), part.sum()) for part in (y, ~y)]
            )
        labels = y[chosen]
        value = 0.0
        for name, sign in (("good", 1.0), ("poor", -1.0)):
            said = scores[name][chosen, np.newaxis] >= grid
            value = value + sign * (
                (labels[:, np.newaxis] & said).mean(axis=0)
                - (~labels[:, np.newaxis] & said).mean(axis=0) * grid / (1 - grid)
            )
        values.append(value)
    # 3,000 draws know a variance to 2.6 %.
    found = terms.covariance(varying)
    np.testing.assert_allclose(found, np.cov(np.array(values).T), rtol=0.2, atol=0.03 * found.max())


def test_both_bands_cover():
    """Simultaneously, at 95 %: fewer than 170 of 200 covered has probability 2e-7."""
    rng = np.random.default_rng(2)
    y, scores = draw(rng, 400_000)
    grid = np.linspace(0.05, 0.5, 21)
    odds = grid / (1 - grid)
    truth = {
        name: np.array(
            [
                np.mean(y & (s >= q)) - np.mean(~y & (s >= q)) * w
                for q, w in zip(grid, odds, strict=True)
            ]
        )
        for name, s in scores.items()
    }
    held = np.zeros(2)
    for _ in range(200):
        rows = pr.Rows(*draw(rng, 300))
        options = {"n_points": 21, "rng": 0, "n_resamples": 400}
        one = pr.band(rows, "net_benefit", model="good", **options)
        two = pr.difference_band(
            rows, candidate="good", baseline="poor", curve="net_benefit", **options
        )
        held += one.contains(truth["good"]), two.contains(truth["good"] - truth["poor"])
    assert (held >= binom.ppf(1e-4, 200, 0.93)).all()


def test_at_another_prevalence(rows):
    band = pr.band(rows, "net_benefit", model="good", prevalence=0.05, rng=0)
    curve = pr.net_benefit_curve(rows, model="good", probabilities=GRID, prevalence=0.05)
    np.testing.assert_allclose(band.y, curve.y, rtol=1e-9, atol=1e-12)
    assert (band.low <= band.y).all()
    assert band.settings["sampling"] == "classes"


def test_at_the_prevalence_of_the_rows_it_is_the_band_of_the_rows(rows):
    share = float(np.mean(rows.positive))
    there = pr.band(rows, "net_benefit", model="good", prevalence=share, rng=0)
    here = pr.band(rows, "net_benefit", model="good", sampling="classes", rng=0)
    for ours, theirs in ((there.low, here.low), (there.high, here.high)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "a net-benefit curve has one method"),
        ({"ties": "bound"}, "without options of its own"),
        ({"recall": (0.1, 0.9)}, "recall does not run along a net_benefit curve"),
        ({"probability": (0.0, 0.5)}, "probability must run between 0 and 1"),
        ({"probability": (0.5, 1.0)}, "probability must run between 0 and 1"),
        ({"sampling": "rows", "prevalence": 0.1}, "prevalence is known"),
    ],
)
def test_bad_input_is_named(rows, options, message):
    with pytest.raises(InputError, match=message):
        pr.band(rows, "net_benefit", model="good", **options)


def test_what_it_cannot_take():
    y, s = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]
    with pytest.raises(InputError, match="needs every score: pass"):
        pr.band(pr.rank(y, s), "net_benefit")
    with pytest.raises(InputError, match="knows no weights"):
        pr.band(pr.Rows(y, s, sample_weight=[1, 2, 1, 2]), "net_benefit")
    with pytest.raises(InputError, match="go from 1 to 9: calibrate them first"):
        pr.band(pr.Rows(y, [9, 6, 4, 1]), "net_benefit")
    with pytest.raises(UndefinedMetricError, match="got no negatives"):
        pr.band(pr.Rows([1, 1], [0.5, 0.6]), "net_benefit")
    rows = pr.Rows(y, {"a": s, "b": s})
    with pytest.raises(InputError, match="recall does not run along a net_benefit curve"):
        pr.difference_band(
            rows, candidate="a", baseline="b", curve="net_benefit", recall=(0.1, 0.5)
        )
    same = pr.difference_band(rows, candidate="a", baseline="b", curve="net_benefit", rng=0)
    assert (same.y == 0).all()
    # Four rows in which the two never part exclude little.
    assert (same.width > 0.5).all()
    assert same.diagnostics["verdict"] == "undecided"


@pytest.mark.parametrize("varying", [True, False])
def test_limits_of_a_difference_come_from_the_rows_on_which_the_models_differ(varying):
    """Each of four counts is a share of all rows, or of its class where that is fixed."""
    y = np.array([1] * 6 + [0] * 14)
    scores = {"a": np.zeros(20), "b": np.zeros(20)}
    scores["a"][[0, 1, 2, 6, 7]] = 1.0  # three positives and two negatives
    scores["b"][[2, 3, 7, 8, 9]] = 1.0  # two and three, one of each shared
    grid = np.array([0.2])
    terms = net_benefit._terms(pr.Rows(y, scores), ["a", "b"], grid, [1.0, -1.0])
    low, high = net_benefit._parted_limits(terms, grid, varying, 0.95)
    below = above = 0.0
    for (ours, theirs), in_class, worth in (((2, 1), 6, 1.0), ((1, 2), 14, 0.25)):
        size = 20 if varying else in_class
        better, worse = (ours, theirs) if worth == 1.0 else (theirs, ours)
        for count, helps in ((better, True), (worse, False)):
            limits = binomtest(count, size).proportion_ci(0.95, "exact")
            scale = worth * size / 20
            less, more = scale * (count / size - limits.low), scale * (limits.high - count / size)
            below += (less if helps else more) ** 2
            above += (more if helps else less) ** 2
    middle = (2 - 1) / 20 - 0.25 * (1 - 2) / 20
    np.testing.assert_allclose(low, middle - np.sqrt(below), rtol=1e-9)
    np.testing.assert_allclose(high, middle + np.sqrt(above), rtol=1e-9)
