"""The paired difference of two curves and its verdict."""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.inference.bands import difference_band
from precall.inference.bands.difference import (
    _cell_edges,
    _draw_differences,
    _units,
    _untied,
    verdict,
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
    from scipy import stats

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
    from precall.inference.bands import difference

    def band():
        rows = pr.Rows(y, {"a": a, "b": b})
        return difference_band(rows, candidate="a", baseline="b", n_resamples=6000, rng=0)

    celled = band()
    monkeypatch.setattr(difference, "_MOST_ROWS", 1)
    all_celled = band()
    monkeypatch.setattr(difference, "_MOST_ROWS", 10**6)
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
def test_units_hold_every_row_once(size):
    rng = np.random.default_rng(0)
    scores = [rng.normal(size=2 * size) for _ in range(2)]
    own = np.repeat([False, True], size)
    units = _units(scores, [np.argsort(s) for s in scores], own, rng)
    assert units.counts.sum() == size
    for model in (0, 1):
        edges = units.edges[model]
        assert edges[[0, -1]].tolist() == [0, size]
        inside = np.bincount(units.position[model], weights=units.counts, minlength=edges.size - 1)
        np.testing.assert_array_equal(inside, np.diff(edges))


def test_tied_rows_come_in_the_order_of_their_drawn_numbers():
    rng = np.random.default_rng(1)
    scores, own = rng.integers(0, 9, 60), rng.random(60) < 0.6
    number, drawn = np.cumsum(own) - 1, rng.random(own.sum())
    order = np.argsort(scores)
    found = number[_untied(scores, order[own[order]][::-1], number, drawn)]
    assert found.tolist() == np.lexsort((drawn, -scores[own])).tolist()


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
