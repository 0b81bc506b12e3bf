"""Bands of rows whose weights differ inside a class."""

import itertools

import numpy as np
import pytest

import precall as pr
from precall.inference.bands.fiducial import draw_rates
from precall.inference.bands.paths import negatives_path, positives_path
from precall.inference.bands.weighted_draws import (
    _as_heavy_as_around,
    draw_weighted,
)
from precall.inference.bands.weighted_places import Weights, positives_first
from precall.inference.local_weights import weights_vary
from precall.simulate import UNSEEN, Binormal

GRID = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
DRAWS = 4000


def data(scenario, seed=3):
    return scenario.sample(40, 160, rng=seed)


@pytest.mark.parametrize("ties", ["interpolate", "bound"])
@pytest.mark.parametrize("kind", ["pr", "roc"])
@pytest.mark.parametrize("scenario", [Binormal(1.5), UNSEEN["five_levels"]], ids=["untied", "tied"])
def test_rows_of_equal_weight_are_drawn_as_rows_without(scenario, kind, ties):
    """Two samples from one distribution: the largest distance of their distribution functions."""
    y, s = data(scenario)
    path = (positives_path if kind == "pr" else negatives_path)(pr.rank(y, s))
    heavy = pr.rank(y, s, sample_weight=np.where(y == 1, 2.0, 0.5))
    plain = draw_rates(path, GRID, DRAWS, np.random.default_rng(1), ties)
    found, _ = draw_weighted(heavy, kind, GRID, DRAWS, np.random.default_rng(2), ties)
    for one, other in zip(plain, found, strict=True):
        for first, second in zip(one.T, other.T, strict=True):
            both = np.sort(np.concatenate([first, second]))
            places = [
                np.searchsorted(np.sort(part), both, side="right") for part in (first, second)
            ]
            distance = np.abs(places[0] - places[1]).max() / DRAWS
            # 2 exp(-DRAWS d^2) = 4e-6 for each of 15 points in each of eight cases.
            assert distance < 0.0573


def test_the_prevalence_is_that_of_the_weights():
    y, s = data(Binormal(1.0))
    weight = np.where(y == 1, 2.0, 0.5)
    _, share = draw_weighted(
        pr.rank(y, s, sample_weight=weight), "pr", GRID, DRAWS, np.random.default_rng(1), "bound"
    )
    assert share.shape == (DRAWS, 1)
    assert share.mean() == pytest.approx(0.5, abs=0.01)


def test_only_weights_that_differ_inside_a_class_vary():
    y, s = data(Binormal(1.0))
    assert not weights_vary(pr.rank(y, s))
    assert not weights_vary(pr.rank(y, s, sample_weight=np.where(y == 1, 0.1, 0.7)))
    assert not weights_vary(pr.rank(y, s).at_prevalence(0.01))
    assert weights_vary(pr.rank(y, s, sample_weight=1.0 + (s > 0)))


@pytest.mark.parametrize("curve", ["pr", "roc", "hit"])
@pytest.mark.parametrize("method", ["fiducial", "pointwise"])
def test_every_curve_has_a_band_of_weighted_rows(curve, method):
    y, s = data(UNSEEN["five_levels"])
    ranking = pr.rank(y, s, sample_weight=np.random.default_rng(1).exponential(size=y.size))
    band = pr.band(ranking, curve, method=method, n_resamples=300, rng=0)
    assert np.all((band.low >= 0) & (band.low <= band.high) & (band.high <= 1))
    again = pr.band(ranking, curve, method=method, n_resamples=300, rng=0)
    assert np.array_equal(band.low, again.low)


def test_rows_that_weigh_twice_are_worth_less_than_two():
    y, s = Binormal(1.5).sample(60, 240, rng=5)
    weight = np.where(np.random.default_rng(5).random(300) < 0.2, 9.0, 1.0)
    plain, heavy = (
        np.mean(pr.band(pr.rank(y, s, sample_weight=each), rng=0).width) for each in (None, weight)
    )
    assert heavy > 1.2 * plain


def coverage(scenario, chance_of, sets, seed):
    """How many bands have the curve, where rows are kept with a chance that depends on the rank."""
    rng, recall, held, width = np.random.default_rng(seed), np.linspace(0.1, 0.9, 41), 0, 0.0
    truth = scenario.precision(recall, 0.1)
    for _ in range(sets):
        n = rng.binomial(3000, 0.1)
        y, s = scenario.sample(n, 3000 - n, rng=rng)
        chance = chance_of((np.argsort(np.argsort(-s)) + 1) / 3000)
        kept = rng.random(3000) < chance
        ranking = pr.rank(y[kept], s[kept], sample_weight=1 / chance[kept])
        band = pr.band(ranking, n_points=41, n_resamples=500, rng=rng)
        held += bool(np.all((band.low <= truth) & (truth <= band.high)))
        width += np.mean(band.width) / sets
    return held, width


def test_a_band_does_not_overrate_a_top_that_was_sampled_thinly():
    """With effective sizes it covered 0.68."""
    held, _ = coverage(UNSEEN["noisy"], lambda share: np.where(share < 0.05, 0.1, 1.0), 60, 1)
    assert held >= 49  # fewer once in 10,000 times if it covers with 0.95


def test_a_band_knows_a_top_that_was_sampled_densely():
    """With effective sizes the mean width was 0.66."""
    held, width = coverage(
        UNSEEN["cauchy"],
        lambda share: np.select([share < 0.05, share < 0.2], [1, 0.2], 1 / 80),
        60,
        2,
    )
    assert held >= 49
    assert width < 0.5


def thinned(share):
    """Chance to be kept: 1 in 20 in the middle."""
    return np.where((share > 0.03) & (share < 0.3), 0.05, 1.0)


def test_a_band_leaves_room_for_heavy_negatives_among_heavy_positives():
    """With half a row of the top's weight it covered 0.70."""
    held, _ = coverage(UNSEEN["noisy_perfect"], thinned, 60, 3)
    assert held >= 49  # fewer once in 10,000 times if it covers with 0.95


def test_a_band_leaves_room_for_heavy_positives_that_were_not_seen():
    """Five negatives of weight 20 on top, where no positive was: recall may be made there."""
    y = np.concatenate([np.zeros(5), np.tile([1, 0], 30), np.zeros(100)])
    reached = []
    for heavy in (1.001, 20.0):
        ranking = pr.rank(
            y, -np.arange(165.0), sample_weight=np.where(np.arange(165) < 5, heavy, 1)
        )
        band = pr.band(ranking, recall=(0.02, 0.6), n_points=59, n_resamples=500, rng=0)
        reached.append(np.max(band.x[band.high >= 1.0], initial=0.0))
    # The first spacing is a thirtieth of the positives, or may be nearly half of them.
    assert reached[0] < 0.2
    assert reached[1] > 0.35


def test_half_of_a_heavy_row_comes_after_it_if_the_next_is_lighter():
    """Weights 1, 20, 1, 5, 5, 80: the second and no other has a lighter one next to it below."""
    weight = np.array([1.0, 20.0, 1.0, 5.0, 5.0, 80.0])
    rows = Weights(weight, weight**2, np.ones(6))
    found, others = rows.draw_first(np.random.default_rng(1), 10**5)
    assert not others.any()
    expected = np.array([1.0, 10.0, 11.0, 5.0, 5.0, 80.0])
    deviation = np.sqrt([1.0, 200.0, 201.0, 25.0, 25.0, 6400.0])
    assert np.all(np.abs(found.mean(axis=0) - expected) < 5 * deviation / 10**2.5)
    # The halves are independent and add up to a spacing: gamma numbers of shape 1/2.
    assert np.corrcoef(found[:, 1], found[:, 2])[0, 1] == pytest.approx(0.0, abs=5 / 10**2.5)
    assert np.mean(found[:, 1] < 20 * 0.2274682) == pytest.approx(0.5, abs=2.5 / 10**2.5)


def test_an_upper_limit_counts_no_more_heavy_positives_below_than_were_seen():
    """40 positives of weight 1, two of 80 tied with negatives, and heavy negatives below.

    No negative need lie above the first of the two. Its recall is made of the spacings above it,
    over those of all positives and one more of their mean weight. That one once weighed 65.
    """
    y = np.concatenate([np.ones(42), np.zeros(53)])
    s = np.concatenate([np.arange(40.0, 0, -1), np.zeros(5), np.full(50, -1.0)])
    ranking = pr.rank(y, s, sample_weight=np.where(s > 0, 1.0, 80.0))
    rates, _ = draw_weighted(ranking, "pr", GRID, DRAWS, np.random.default_rng(1), "interpolate")
    light, heavy, other, end = np.random.default_rng(2).gamma([40, 1, 1, 1], size=(10**6, 4)).T
    above = light + 80 * heavy
    recall = above / (above + 80 * other + 200 / 42 * end)
    expected = np.mean(recall[:, None] > GRID, axis=0)
    # Five standard errors; at recalls of 0.5 and 0.7 a weight of 65 takes off 0.24 and 0.22.
    assert np.mean(rates.low == 0, axis=0) == pytest.approx(expected, abs=5 * 0.5 / DRAWS**0.5)


def heavy_above(rows, place):
    """Sum of squares over sum of the weights of ten rows above, and of all that come with them."""
    places = sorted({at for at, _ in rows})
    above = [each for each in places if each < place]
    while len([at for at, _ in rows if at in above]) < 10:
        above = places[: len(above) + 1]
    first = above[-1:]
    while len([at for at, _ in rows if at in first]) < 10:
        first = above[-len(first) - 1 :]
    taken = [weight for at, weight in rows if at in first]
    return sum(weight**2 for weight in taken) / sum(taken)


def own_to_other(y, weight):
    """What a positive weighs where a negative weighs 1: by those next above, or next below."""
    places = np.flatnonzero(y)
    edges = [-1, *places, y.size]
    gaps = [weight[first + 1 : last] for first, last in itertools.pairwise(edges)]
    found = []
    for beside in (gaps[:-1], gaps[1:]):
        pairs = zip(weight[places], beside, strict=True)
        both = [(ours, gap.mean()) for ours, gap in pairs if gap.size]
        found.append(sum(ours for ours, _ in both) / sum(theirs for _, theirs in both))
    return min(found)


def test_light_positives_among_heavy_rows_vary_as_those_do():
    """Rows that weigh 1 or 9, whatever their class and place: against a count by hand."""
    rng = np.random.default_rng(4)
    y = (rng.random(120) < np.linspace(0.5, 0.1, 120)).astype(int)
    weight = np.where(rng.random(120) < 0.5, 1.0, 9.0)
    places = positives_first(pr.rank(y, -np.arange(120.0), sample_weight=weight))
    found = _as_heavy_as_around(places)
    weight = np.where(y == 1, weight, weight * own_to_other(y, weight))
    # Negatives between two positives are one place, and so is each positive.
    place = 2 * (np.cumsum(y) - y) + y
    down, up = (list(zip(each, weight, strict=True)) for each in (place, -place))
    for square, row in zip(found.own.square, np.flatnonzero(y), strict=True):
        around = min(heavy_above(down, place[row]), heavy_above(up, -place[row]))
        assert square == pytest.approx(weight[row] * max(weight[row], around))
    light = places.own.total == 1.0
    assert light.any()
    assert np.all(found.own.square[light] > 4.0)
    assert np.array_equal(found.own.total, places.own.total)


@pytest.mark.parametrize("design", ["falling", "rising", "steps"])
def test_weights_that_are_a_function_of_the_score_vary_by_themselves(design):
    y = np.random.default_rng(5).random(200) < np.linspace(0.5, 0.1, 200)
    place = np.arange(200)
    weight = {
        "falling": 1.02**-place,
        "rising": 1.02**place,
        "steps": np.select([place < 60, place < 120], [1.0, 5.0], 80.0),
    }[design]
    places = positives_first(pr.rank(y, -place, sample_weight=weight))
    found = _as_heavy_as_around(places).own.square
    # The first ten rows, and the last, have fewer on one side.
    inner = slice(None) if design == "steps" else (place[y] >= 10) & (place[y] < 190)
    assert found[inner] == pytest.approx(places.own.square[inner], rel=1e-9)


def has_limits(band):
    return np.all((band.low >= 0) & (band.low <= band.high) & (band.high <= 1))


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
@pytest.mark.parametrize("curve", ["pr", "roc", "hit"])
@pytest.mark.parametrize(
    "exponents", [(0, 9), (-9, 0, 9), (-100, 0), (0, 100), (-100, 100), (-100, 0, 100)], ids=str
)
def test_a_band_of_weights_of_very_different_size_has_limits(exponents, curve):
    """Light negatives below every positive were lost to rounding, and limits were nan."""
    rng = np.random.default_rng(1)
    for rows in [40] * 10 + [8] * 20:
        y = np.append(rng.random(rows - 3) < 0.4, [True, False, False])
        weight = 10.0 ** rng.choice(exponents, rows)
        ranking = pr.rank(y, -np.arange(float(rows)), sample_weight=weight)
        assert has_limits(pr.band(ranking, curve, n_resamples=100, rng=0))


@pytest.mark.parametrize("heavy", [0, 1])
def test_a_class_may_weigh_all_there_is(heavy):
    """The prevalence was rounded to 0 or 1, and divided by."""
    y, s = data(Binormal(1.0))
    ranking = pr.rank(y, s, sample_weight=np.where(y == heavy, 1e100, 1e-100))
    assert has_limits(pr.band(ranking, n_resamples=100, rng=0))


@pytest.mark.parametrize("curve", ["pr", "roc", "hit"])
def test_the_unit_of_weights_does_not_matter(curve):
    y, s = data(Binormal(1.0))
    weight = 0.1 + np.random.default_rng(3).exponential(size=y.size)
    first, *others = (
        pr.band(pr.rank(y, s, sample_weight=weight * unit), curve, n_resamples=200, rng=0)
        for unit in (1.0, 1e-98, 1e98)
    )
    for other in others:
        assert other.low == pytest.approx(first.low, rel=1e-9)
        assert other.high == pytest.approx(first.high, rel=1e-9)
