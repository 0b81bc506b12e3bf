"""The result object and the public functions' checks."""

import json

import numpy as np
import pytest

import precall as pr
from precall.curves import hit_curve, pr_curve, roc_curve
from precall.exceptions import InputError, UndefinedMetricError
from precall.inference.bands import BANDS, Band
from precall.simulate import Binormal


@pytest.fixture(scope="module")
def ranking():
    return pr.rank(*Binormal(2.0).sample(60, 240, rng=0))


def make_band(**changes):
    fields = {
        "x": [0.1, 0.2, 0.3],
        "low": [0.5, 0.4, 0.3],
        "y": [0.7, 0.6, 0.5],
        "high": [0.9, 0.8, 0.7],
        "confidence_level": 0.95,
        "method": "fiducial",
    }
    return Band(**(fields | changes))


def test_band_is_frozen():
    band = make_band(diagnostics={"a": 1})
    with pytest.raises(AttributeError):
        band.method = "exact"
    with pytest.raises(ValueError, match="read-only"):
        band.low[0] = 0.0
    with pytest.raises(TypeError):
        band.diagnostics["a"] = 2


def test_recall_and_precision_are_names_of_a_pr_band_only():
    band = make_band()
    assert band.recall is band.x
    assert band.precision is band.y
    with pytest.raises(AttributeError, match="roc band"):
        _ = make_band(kind="roc").recall
    with pytest.raises(AttributeError, match="difference band"):
        _ = make_band(kind="difference").precision


def test_contains_heights_functions_and_curves(ranking):
    band = make_band()
    assert band.contains([0.9, 0.4, 0.5])
    assert not band.contains([0.91, 0.4, 0.5])
    assert not band.contains([0.9, 0.39, 0.5])
    assert band.contains(lambda x: 0.8 - x)
    with pytest.raises(InputError, match="one height per grid point"):
        band.contains([0.5])
    with pytest.raises(InputError, match="kind 'pr'"):
        band.contains(roc_curve(ranking))
    wide = make_band(low=[0, 0, 0], high=[1, 1, 1])
    assert wide.contains(pr_curve(ranking))


def test_limits_between_grid_points():
    low, high = make_band().limits_at([0.15, 0.3])
    np.testing.assert_allclose(low, [0.45, 0.3])
    np.testing.assert_allclose(high, [0.85, 0.7])
    with pytest.raises(InputError, match="within the band's range"):
        make_band().limits_at(0.5)


def test_a_point_beyond_the_range_by_rounding_is_its_end():
    band = make_band(x=[0.0, 0.5, 1.0])
    low, high = band.limits_at([-1e-12, 1.0 + 1e-12])
    assert low.tolist() == [0.5, 0.3]
    assert high.tolist() == [0.9, 0.7]
    for beyond in (-2e-12, 1.0 + 2e-12):
        with pytest.raises(InputError, match="within the band's range 0 to 1"):
            band.limits_at(beyond)


def test_repr_is_one_line():
    assert repr(make_band()) == (
        "Band(pr, fiducial, 95 %, 3 points from 0.1 to 0.3, mean width 0.4)"
    )
    assert "95 % pointwise" in repr(make_band(simultaneous=False))
    assert "undecided" in repr(make_band(diagnostics={"verdict": "undecided"}))


@pytest.mark.parametrize("method", BANDS)
def test_to_dict_survives_json(ranking, method):
    plain = json.loads(json.dumps(pr.band(ranking, method=method).to_dict()))
    assert plain["method"] == method
    assert len(plain["recall"]) == len(plain["precision"]) == 81
    assert plain["simultaneous"] == (method != "pointwise")


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        (kind, method)
        for kind in ("pr", "roc", "hit")
        for method in BANDS
        if (kind, method) != ("hit", "asymptotic")
    ],
)
def test_every_band_is_within_its_bounds_and_around_its_curve(ranking, kind, method):
    band = pr.band(ranking, kind, method=method)
    assert np.all((band.low >= 0.0) & (band.low <= band.high) & (band.high <= 1.0))
    middle = slice(20, 60)
    assert np.mean((band.low <= band.y)[middle] & (band.y <= band.high)[middle]) > 0.9
    curve = {"pr": pr_curve, "roc": roc_curve, "hit": hit_curve}[kind](ranking)
    # Away from jumps, where the point on arrival and the highest point may differ.
    assert np.mean(np.abs(curve.at(band.x) - band.y) < 1e-9) > 0.9


def test_plot_draws_the_band(ranking):
    import matplotlib.pyplot as plt

    for band in (pr.band(ranking, rng=0), pr.band(ranking, "roc", rng=0)):
        ax = band.plot()
        assert (ax.get_xlabel(), ax.get_ylabel()) == band.labels
        vertices = ax.collections[0].get_paths()[0].vertices
        assert vertices[:, 1].min() == pytest.approx(band.low.min())
        assert vertices[:, 1].max() == pytest.approx(band.high.max())
        other = plt.figure().add_subplot()
        assert band.plot(ax=other, color="red") is other
    plt.close("all")


def test_wrong_arguments_are_named(ranking):
    for options, message in (
        ({"method": "fidcial"}, "Did you mean 'fiducial'"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"recall": (0.0, 0.9)}, "recall must start above 0"),
        ({"recall": (0.9, 0.1)}, "recall must satisfy"),
        ({"n_resamples": 10}, "n_resamples"),
        ({"sampling": "fixed"}, "sampling must be one of"),
        ({"prevalence": 0.1, "sampling": "rows"}, "prevalence is known"),
        ({"curve": "lift"}, "curve must be one of"),
        ({"selected": (0.1, 0.5)}, "selected does not run along a pr curve"),
        ({"bandwidth": 1.0}, "bandwidth is not an option of method='fiducial': its own are ties"),
        ({"method": "exact", "ties": "bound"}, "it has none of its own"),
        ({"ties": "random"}, "ties must be one of"),
        ({"n_points": 1}, "n_points"),
        ({"rng": -1}, "rng"),
    ):
        with pytest.raises(InputError, match=message):
            pr.band(ranking, **options)
    with pytest.raises(InputError, match="must be a Ranking"):
        pr.band([1, 0, 1])
    with pytest.raises(InputError, match="selected must start above 0"):
        pr.band(ranking, "hit", selected=(0.0, 0.5))
    with pytest.raises(UndefinedMetricError):
        pr.band(pr.rank([1, 1], [1, 2]), "roc")
    with pytest.raises(InputError, match="recall must be below 1"):
        pr.interval(ranking, pr.metrics.precision_at_recall(1.0), method="fiducial")


def test_settings_make_the_band_again(ranking):
    band = pr.band(ranking, rng=3, recall=(0.2, 0.8), ties="bound", n_points=31)
    settings = dict(band.settings)
    assert settings.pop("seed") == 3
    again = pr.band(ranking, rng=3, method=band.method, **settings)
    np.testing.assert_array_equal(band.low, again.low)


def test_settings_say_which_scores_were_smoothed(ranking):
    y, s = Binormal(2.0).sample(60, 240, rng=0)
    for scores, said in ((None, None), ((y, s), "raw")):
        band = pr.band(ranking, method="bootstrap", scores=scores, n_resamples=100, rng=0)
        assert band.settings["scores"] == said


def test_memory_is_that_of_positives_and_grid():
    """A band of a million rows allocates little more than its draws."""
    import tracemalloc

    rng = np.random.default_rng(0)
    label = (rng.random(10**6) < 0.01).astype(np.int64)
    ranking = pr.rank(label, rng.standard_normal(10**6) + label)
    pr.band(ranking, n_resamples=1000, rng=0)
    tracemalloc.start()
    pr.band(ranking, n_resamples=1000, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Some twenty arrays of 1000 draws by 82 cells, and ten of 10,000 positives: 14 MB. One array
    # of a million rows would be 8 MB more each.
    assert peak < 20e6
