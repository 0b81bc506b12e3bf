"""Curves and bands from few labels."""

import numpy as np
import pytest

import precall as pr
from precall.audit.sample_band import consistent
from precall.audit.sampled_cells import placement_terms, placement_variance
from precall.exceptions import InputError, UndefinedMetricError


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.05
    return rng.normal(size=4000) + 2.0 * y, y


def sampled(people, budget=300, **options):
    scores, y = people
    plan = pr.audit.plan(scores, budget=budget, rng=1, **options)
    labels = {row: y[row] for row in plan.rows.tolist()}
    return pr.audit.Sample(scores, labels, plan=plan)


def test_with_all_labels_the_curve_is_that_of_the_ranking(people):
    scores, y = people
    sample, ranking = pr.audit.Sample(scores, y, inclusion=1), pr.rank(y, scores)
    for curve in (pr.pr_curve, pr.roc_curve, pr.hit_curve):
        x = np.linspace(0.05, 0.95, 19)
        assert curve(sample).at(x) == pytest.approx(curve(ranking).at(x), rel=1e-12)
    band = pr.band(sample)
    assert band.low == pytest.approx(band.y, rel=1e-9)
    assert band.high == pytest.approx(band.y, rel=1e-9)


def test_pointwise_limits_are_the_intervals_of_single_points(people):
    sample = sampled(people)
    band = pr.band(sample, method="pointwise", recall=(0.2, 0.8), n_points=3)
    for place, recall in enumerate((0.2, 0.5, 0.8)):
        found = pr.interval(sample, pr.metrics.precision_at_recall(recall))
        assert (band.low[place], band.high[place]) == pytest.approx(tuple(found), rel=1e-12)
        assert band.y[place] == pytest.approx(found.estimate, rel=1e-9)


def test_a_band_for_the_whole_curve_is_wider(people):
    scores, y = people
    sample = sampled(people)
    whole, single = (pr.band(sample, method=how, n_points=21) for how in ("mover", "pointwise"))
    assert (whole.simultaneous, single.simultaneous) == (True, False)
    assert 0.95 < whole.settings["single_level"] < 1 - 0.05 / 21
    low, high = consistent(single.x, single.low, single.high)
    assert (whole.low <= low).all()
    assert (high <= whole.high).all()
    assert whole.contains(pr.pr_curve(pr.rank(y, scores)))
    assert whole.diagnostics["labels"] == 300
    again = pr.band(sample, n_points=21)
    assert np.array_equal(again.low, whole.low)


def test_no_limit_is_one_that_its_neighbours_rule_out(people):
    """False positives never get fewer as recall grows, so limits of precision cannot jump."""
    for budget in (100, 300):
        band = pr.band(sampled(people, budget), n_points=41)
        for limit in (band.high, band.low):
            with np.errstate(divide="ignore"):
                wrong = band.x * (1.0 - limit) / limit
            steps = np.diff(wrong[np.isfinite(wrong)])
            assert steps.min() >= -1e-9
        assert (band.low <= band.y + 1e-12).all()
        assert (band.y <= band.high + 1e-12).all()


def test_what_is_ruled_out_is_no_curve():
    """A curve within the limits stays within what is left of them."""
    rng = np.random.default_rng(4)
    x = np.linspace(0.1, 0.9, 41)
    for _ in range(50):
        wrong = np.cumsum(rng.exponential(size=x.size) * rng.integers(0, 2, x.size))
        curve = x / (x + 0.05 * wrong)
        low = np.maximum(curve - rng.uniform(0.0, 0.5, x.size), 0.0)
        high = np.minimum(curve + rng.uniform(0.0, 0.5, x.size), 1.0)
        inside = consistent(x, low, high)
        assert (low <= inside[0]).all()
        assert (inside[0] <= curve + 1e-12).all()
        assert (curve <= inside[1] + 1e-12).all()
        assert (inside[1] <= high).all()
        again = consistent(x, *inside)
        assert again[0] == pytest.approx(inside[0], rel=1e-9)
        assert again[1] == pytest.approx(inside[1], rel=1e-9)


def test_looks_widen_a_band(people):
    one, many = (pr.band(sampled(people, looks=looks), n_points=5) for looks in (1, 5))
    assert many.width.mean() > one.width.mean()


def test_one_of_several_models(people):
    scores, y = people
    plan = pr.audit.plan(scores, budget=300, rng=1)
    labels = {row: y[row] for row in plan.rows.tolist()}
    both = pr.audit.Sample({"a": scores, "b": -scores}, labels, plan=plan)
    assert repr(both["a"]) == repr(sampled(people))
    assert np.array_equal(pr.pr_curve(both["a"]).tp, pr.pr_curve(sampled(people)).tp)
    assert pr.band(both, model="b", n_points=3).y.mean() < 0.1
    with pytest.raises(InputError, match=r"this takes one: pass sample\['a'\]"):
        pr.pr_curve(both)


def test_the_terms_of_the_variance_add_up():
    """By hand: a piece of ten rows with two labelled positives, and stand-ins between them."""
    labels = [1, 1, 0] + [None] * 7
    sample = pr.audit.Sample(np.arange(10.0), labels, inclusion=0.3)
    one = sample.sampled("score", pr.metrics.precision_at_threshold(-1))
    slopes = np.zeros(8), np.zeros(8)
    slopes[0][:2] = 0.1, 0.3
    slopes[0][3:] = 0.0, 0.1, 0.2, 0.3, 0.4
    # (1 - .3) / .3**2 times the squares about .2, and the variance of the stand-ins.
    expected = 0.7 / 0.09 * (2 * 0.01 + 0.1 / 4)
    assert placement_variance(one, slopes) == pytest.approx(expected)
    assert np.sum(placement_terms(one, slopes) ** 2) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve": "roc"}, "a band for curve='pr' only, got 'roc'"),
        ({"prevalence": 0.1}, "prevalence has no meaning for a Sample"),
        ({"ties": "bound"}, "ties has no meaning for a Sample"),
        ({"method": "fiducial"}, "method must be one of 'mover', 'pointwise'"),
        ({"selected": (0.1, 0.2)}, "selected does not run along a pr curve"),
        ({"n_points": 1}, "n_points"),
        ({"recall": (0.9, 0.1)}, "recall"),
    ],
)
def test_bad_bands_are_refused(people, options, message):
    with pytest.raises(InputError, match=message):
        pr.band(sampled(people), **options)


def test_what_has_no_curve():
    nothing = pr.audit.Sample([4, 3, 2, 1], [0, 0, None, None], inclusion=0.5)
    with pytest.raises(UndefinedMetricError, match="none of the 2 labelled rows is positive"):
        pr.pr_curve(nothing)
    with pytest.raises(UndefinedMetricError, match="nothing to make a band of"):
        pr.band(nothing)
    process = pr.audit.Sample([4, 3, 2, 1], [1, 0, None, None], inclusion=0.5, target="process")
    with pytest.raises(InputError, match="target='rows'"):
        pr.band(process)


def test_a_band_is_drawn(people):
    pytest.importorskip("matplotlib")
    axes = pr.band(sampled(people), n_points=5).plot()
    assert axes.get_xlabel() == "recall"
