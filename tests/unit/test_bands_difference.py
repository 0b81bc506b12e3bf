"""The paired difference of two curves and its verdict."""

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall import _threads
from precall.exceptions import InputError, UndefinedMetricError
from precall.inference.bands import difference, difference_band, joint_cells
from precall.inference.bands.difference import _draw_differences, _likely_rows, verdict
from precall.inference.bands.joint_cells import (
    _cell_edges,
    _untied,
    falling_rows,
    joint_units,
)

GRID = np.array([0.1, 0.2, 0.3, 0.4])


def two_models(size=400, correlation=0.8, seed=0, lift=(2.0, 1.0)):
    rng = np.random.default_rng(seed)
    y = (rng.random(size) < 0.3).astype(int)
    noise = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], size)
    return y, noise[:, 0] + lift[0] * y, noise[:, 1] + lift[1] * y


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ([0.1, 0.1, 0.0, 0.1], [0.2] * 4, "candidate dominates"),
        ([-0.2] * 4, [-0.1, 0.0, -0.1, -0.1], "baseline dominates"),
        ([0.1, -0.1, -0.1, -0.3], [0.2, 0.1, 0.1, -0.1], "the curves cross"),
        ([0.1, -0.1, 0.1, 0.1], [0.2] * 4, "undecided"),
        ([0.0] * 4, [0.0] * 4, "undecided"),
    ],
)
def test_verdict(low, high, said):
    assert verdict(GRID, np.array(low), np.array(high))["verdict"] == said


def test_verdict_tells_where():
    found = verdict(GRID, np.array([0.1, 0.1, -0.1, -0.3]), np.array([0.2, 0.2, 0.1, -0.1]))
    assert found["candidate_better"] == ((0.1, 0.2),)
    assert found["undecided"] == ((0.3, 0.3),)
    assert found["baseline_better"] == ((0.4, 0.4),)


def test_better_model_dominates_and_exchange_turns_the_verdict():
    y, a, b = two_models(2000)
    band = difference_band(
        pr.Rows(y, {"a": a, "b": b}), candidate="a", baseline="b", recall=(0.3, 0.8), rng=0
    )
    assert band.diagnostics["verdict"] == "candidate dominates"
    turned = difference_band(
        pr.Rows(y, {"a": b, "b": a}), candidate="a", baseline="b", recall=(0.3, 0.8), rng=0
    )
    assert turned.diagnostics["verdict"] == "baseline dominates"
    np.testing.assert_allclose(turned.y, -band.y)
    # The same distribution, drawn with other numbers.
    np.testing.assert_allclose(turned.low, -band.high, atol=0.05)


def test_observed_difference_is_that_of_the_curves():
    y, a, b = two_models()
    band = difference_band(
        pr.Rows(y, {"a": a, "b": b}), candidate="a", baseline="b", rng=0, n_resamples=100
    )
    expected = (pr.band(pr.rank(y, s), rng=0, n_resamples=100).y for s in (a, b))
    np.testing.assert_allclose(band.y, np.subtract(*expected))


@pytest.mark.parametrize("correlation", [0.95, 0.0])
def test_width_follows_the_sampling_deviation_of_the_difference(correlation):
    """Models that err together are compared more precisely; an unpaired band would not know."""
    data = [two_models(400, correlation, seed, lift=(1.5, 1.5)) for seed in range(150)]
    observed = [difference_curve(*rows) for rows in data]
    deviation = np.sqrt(np.mean(np.var(observed, axis=0)))
    widths = [
        difference_band(
            pr.Rows(y, {"a": a, "b": b}), candidate="a", baseline="b", rng=0, n_points=21
        ).width.mean()
        for y, a, b in data[:4]
    ]
    # Simultaneous limits need more than the 1.96 of one point; the envelope needs three to four.
    assert 2.2 < 0.5 * np.mean(widths) / deviation < 5.0


def difference_curve(y, a, b):
    grid = np.linspace(0.1, 0.9, 21)
    return np.subtract(*(pr.curves.pr_curve(pr.rank(y, s)).at(grid) for s in (a, b)))


def test_a_model_against_itself_is_undecided():
    y, a, _ = two_models()
    band = difference_band(pr.Rows(y, {"a": a, "b": np.exp(a)}), candidate="a", baseline="b", rng=0)
    assert band.diagnostics["verdict"] == "undecided"
    assert np.all((band.low <= 0.0) & (band.high >= 0.0))


def test_one_side_alone_is_the_fiducial_band():
    """Against a scorer with all rows tied, whose curve is the known prevalence."""
    y, a, _ = two_models(600)
    band = difference_band(
        pr.Rows(y, {"a": a, "b": np.zeros(600)}),
        candidate="a",
        baseline="b",
        rng=0,
        recall=(0.3, 0.8),
        sampling="classes",
    )
    alone = pr.band(pr.rank(y, a), rng=0, recall=(0.3, 0.8), sampling="classes")
    # The tied scorer's own curve is drawn too, so a little wider, and never much.
    assert 0.8 < band.width.mean() / alone.width.mean() < 1.5


def test_above_the_first_positive_anything_is_possible():
    """One positive under nine negatives: nine populations in ten have recall .1 above it.

    There the limits are those of no negative above, for one model, and of all, for the other.
    """
    y, s = np.append(1, np.zeros(9)), np.arange(10.0)
    band = difference_band(
        pr.Rows(y, {"a": s, "b": 2 * s}),
        candidate="a",
        baseline="b",
        recall=(0.1, 0.9),
        n_points=2,
        rng=0,
        sampling="classes",
    )
    most = 1.0 - 0.1 * 0.1 / (0.1 * 0.1 + 0.9)
    assert band.high[0] == pytest.approx(most, rel=1e-12)
    assert band.low[0] == pytest.approx(-most, rel=1e-12)


def test_a_random_prevalence_has_its_beta_distribution():
    """A perfect model may have precision 1, a reversed one the least there is: π r / (π r + 1 - π).

    Their greatest difference shows the prevalence π of each draw: Beta(n + 1/2, m + 1/2).
    """
    y = np.repeat([1, 0], [2, 6])
    scores = [np.arange(8.0, 0.0, -1.0), np.arange(8.0)]
    with pytest.warns(pr.exceptions.DirectionWarning):
        rankings = [pr.rank(y, s) for s in scores]
    grid, rng = np.array([0.3, 0.7]), np.random.default_rng(0)
    orders = [np.argsort(s) for s in scores]
    asked = (y == 1, grid, 20_000, "random", rng)
    _, _, greatest = _draw_differences(rankings, scores, orders, *asked)
    odds = (1.0 - greatest) / (grid * greatest)
    np.testing.assert_allclose(odds[:, 0], odds[:, 1], rtol=1e-9)
    drawn = odds[:, 0] / (1.0 + odds[:, 0])
    assert stats.kstest(drawn, stats.beta(2.5, 6.5).cdf).pvalue > 1e-3


def test_cells_of_ranks_change_little(monkeypatch):
    y, a, b = two_models(6000, seed=2)

    def band():
        rows = pr.Rows(y, {"a": a, "b": b})
        return difference_band(rows, candidate="a", baseline="b", n_resamples=6000, rng=0)

    celled = band()
    monkeypatch.setattr(joint_cells, "_MOST_ROWS", 1)
    all_celled = band()
    monkeypatch.setattr(joint_cells, "_MOST_ROWS", 10**6)
    by_rows = band()
    for other in (celled, all_celled):
        assert other.width.mean() == pytest.approx(by_rows.width.mean(), rel=0.06)
        # Other draws of as many move a limit by up to .01.
        np.testing.assert_allclose(other.low, by_rows.low, atol=0.02)


def test_cells_are_narrow_at_both_ends():
    edges = _cell_edges(50_000)
    assert np.all(np.diff(edges) >= 1)
    assert np.diff(edges)[[0, -1]].tolist() == [1, 1]
    np.testing.assert_array_equal(50_000 - edges[::-1], edges)


@pytest.mark.parametrize("size", [1, 12, 50_000])
@pytest.mark.parametrize("reach", [(0.0, 1.0), (0.3, 0.31), (-1.0, 0.2), (0.9, 2.0)])
def test_units_hold_every_row_once(size, reach):
    rng = np.random.default_rng(0)
    falling = tuple(rng.permutation(size) for _ in range(2))
    bounds = size * reach[0], size * reach[1]
    units = joint_units(falling, (bounds, (0.0, float(size))))
    assert units.counts.sum() == size
    assert np.all(np.diff(units.counts) >= 0)
    for model in (0, 1):
        edges = units.edges[model]
        assert edges[[0, -1]].tolist() == [0, size]
        inside = np.bincount(units.position[model], weights=units.counts, minlength=edges.size - 1)
        np.testing.assert_array_equal(inside, np.diff(edges))


def test_cells_within_reach_are_those_without_limits():
    falling = tuple(np.random.default_rng(0).permutation(50_000) for _ in range(2))
    every = joint_units(falling, ((0.0, 50_000.0),) * 2).edges[0]
    found = joint_units(falling, ((700.5, 9000.0), (0.0, 50_000.0))).edges[0]
    inside = found[1:-1]
    assert inside[0] <= 700.5 < inside[1]
    assert inside[-2] < 9000.0 <= inside[-1]
    np.testing.assert_array_equal(inside, every[(every >= inside[0]) & (every <= inside[-1])])


def test_units_weigh_as_much_as_their_rows_together():
    """Cumulated weights have mean and variance of their rows, and covariance of shared ones."""
    rng = np.random.default_rng(3)
    size, draws = 300, 20_000
    falling = tuple(np.argsort(rng.normal(size=size) + 0.01 * np.arange(size)) for _ in range(2))
    units = joint_units(falling, ((100.0, 140.0), (30.0, 60.0)))
    assert units.counts.size < size
    weights = units.draw(rng, draws)
    before = [units.cumulated(weights, model)[:, 1:] for model in (0, 1)]
    for model in (0, 1):
        rows = units.edges[model][1:]
        np.testing.assert_allclose(before[model].mean(axis=0), rows, atol=5 * np.sqrt(size / draws))
        for drawn, shape in zip(before[model].T, rows, strict=True):
            assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 1e-5
    for i, j in ((0, 0), (10, 5), (20, 30), (-1, 3)):
        shared = np.intersect1d(
            falling[0][: int(units.edges[0][1:][i])], falling[1][: int(units.edges[1][1:][j])]
        ).size
        found = np.cov(before[0][:, i], before[1][:, j])[0, 1]
        # A covariance of two sums of about 100 such weights, from 20,000 draws.
        assert found == pytest.approx(shared, abs=6 * size / np.sqrt(draws))


def test_drawn_recall_stays_within_the_likely_rows():
    for n in (1, 10, 1000, 10**6):
        for grid in ([0.1, 0.9], [0.001, 0.002], [0.5, 1.0]):
            low, high = _likely_rows(n, np.array(grid))
            # The true recall at row k is Beta(k, n + 1 - k).
            if low >= 1.0:
                assert stats.beta(np.floor(low), n + 1 - np.floor(low)).sf(grid[0]) < 1e-13
            if high <= n:
                assert stats.beta(np.ceil(high), n + 1 - np.ceil(high)).cdf(grid[1]) < 1e-13


def test_rows_fall_in_each_class_and_tied_ones_in_the_order_of_drawn_numbers():
    rng = np.random.default_rng(1)
    scores, positive = rng.integers(0, 9, 60), rng.random(60) < 0.6
    order = np.argsort(scores)
    for own, found in zip(
        (positive, ~positive), falling_rows(scores, order, positive, rng), strict=True
    ):
        assert np.sort(found).tolist() == np.flatnonzero(own).tolist()
        assert np.all(np.diff(scores[found]) <= 0)
    falling = order[::-1].copy()
    values, numbers = scores[falling], np.zeros(60)
    tied = np.bincount(values)[values] > 1
    assert 0 < np.count_nonzero(~tied) < 60
    drawn = numbers[tied] = rng.random(np.count_nonzero(tied))
    expected = falling[np.lexsort((numbers, -values))]
    assert _untied(falling, values, lambda _: drawn).tolist() == expected.tolist()


def test_integer_scores_and_ties_are_fine():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [50, 150])
    a = rng.integers(0, 5, 200) + 2 * y
    band = difference_band(
        pr.Rows(y, {"a": a.astype(np.uint8), "b": rng.normal(size=200) + y}),
        candidate="a",
        baseline="b",
        rng=0,
    )
    assert np.all(np.isfinite(band.low))


def test_wrong_arguments():
    y, a, b = two_models(50)
    with pytest.raises(InputError, match="rows"):
        difference_band(pr.Rows(y, {"a": a, "b": b[1:]}), candidate="a", baseline="b")
    with pytest.raises(InputError, match="missing"):
        difference_band(
            pr.Rows(y, {"a": a, "b": np.where(y == 1, np.nan, b)}), candidate="a", baseline="b"
        )
    with pytest.raises(UndefinedMetricError):
        difference_band(pr.Rows(np.ones(50), {"a": a, "b": b}), candidate="a", baseline="b")
    with pytest.raises(InputError, match="recall must start above 0"):
        difference_band(
            pr.Rows(y, {"a": a, "b": b}), candidate="a", baseline="b", recall=(0.0, 0.5)
        )


def test_draws_do_not_depend_on_the_number_of_threads(monkeypatch):
    y, a, b = two_models()
    rows = pr.Rows(y, {"a": a, "b": b})
    monkeypatch.setattr(difference, "_BLOCK", 1 << 13)  # several blocks
    monkeypatch.setattr(_threads, "THREADING_PAYS", 0)
    found = []
    for cores in (1, 4):
        monkeypatch.setattr(_threads, "available_cores", lambda cores=cores: cores)
        band = difference_band(rows, candidate="a", baseline="b", n_resamples=200, rng=3)
        found.append(np.concatenate([band.low, band.high]))
    np.testing.assert_array_equal(*found)
