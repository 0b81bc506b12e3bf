"""Plots: what is drawn is what was computed, and never outside what is achievable."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import precall as pr
from precall.display import mpl
from precall.exceptions import InputError

EXAMPLE = pr.load_example()
MODELS = {name: pr.rank(EXAMPLE.label, scores) for name, scores in EXAMPLE.scores.items()}
RANKING = MODELS["gradient_boosting"]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn(axes, label):
    return next(line for line in axes.lines if str(line.get_label()).startswith(label))


@pytest.mark.parametrize(
    "make", [pr.pr_curve, pr.roc_curve, pr.hit_curve, pr.lift_curve, pr.gain_curve]
)
def test_a_curve_is_drawn_in_its_own_coordinates(make):
    curve = make(RANKING)
    axes = curve.plot(label="model")
    line = drawn(axes, "model")
    thin = curve.thin(5e-4)
    np.testing.assert_array_equal(line.get_xdata(), thin.x)
    np.testing.assert_array_equal(line.get_ydata(), thin.y)
    assert (axes.get_xlabel(), axes.get_ylabel()) == curve.labels
    assert drawn(axes, "random") is not None


def test_the_unachievable_region_is_always_there_and_once():
    axes = mpl.plot_pr(MODELS)
    regions = [c for c in axes.collections if c.get_label() == "unachievable"]
    assert len(regions) == 1
    top = regions[0].get_paths()[0].vertices
    pi = RANKING.prevalence
    floor = pi * top[:, 0] / (1 - pi + pi * top[:, 0])
    assert np.all(top[:, 1] <= floor + 1e-9)
    assert top[:, 1].max() == pytest.approx(pi)
    for name in MODELS:
        line = drawn(axes, name)
        assert pr.is_achievable(line.get_xdata(), line.get_ydata(), pi).all()


def test_iso_f_contours_have_their_value_and_stay_achievable():
    axes = mpl.plot_pr(RANKING.at_prevalence(0.4), iso_f=(0.3, 0.7))
    contours = [line for line in axes.lines if line.get_color() == mpl.SHADE]
    assert len(contours) == 2
    for line, value in zip(contours, (0.3, 0.7), strict=True):
        recall, precision = line.get_xdata(), line.get_ydata()
        np.testing.assert_allclose(2 * recall * precision / (recall + precision), value)
        assert pr.is_achievable(recall, precision, 0.4).all()


def test_bands_points_and_log_recall():
    band = pr.band(RANKING, rng=0)
    axes = mpl.plot_pr(
        {"model": RANKING}, bands={"model": band}, points={"chosen": (0.6, 0.5)}, log_recall=True
    )
    assert axes.get_xscale() == "log"
    assert "chosen" in [text.get_text() for text in axes.texts]
    filled = axes.collections[-1].get_paths()[0].vertices
    assert filled[:, 1].max() == pytest.approx(band.high.max())
    alone = band.plot()
    assert alone.get_xlabel() == "recall"


def test_models_of_different_prevalence_do_not_share_a_floor():
    with pytest.raises(InputError, match="different prevalences"):
        mpl.plot_pr({"a": RANKING, "b": RANKING.at_prevalence(0.5)})


def test_estimators_are_drawn_as_what_they_integrate():
    ranking = pr.rank([1, 0, 0, 1, 1, 0], [6, 5, 4, 3, 2, 1])
    axes = mpl.plot_estimators(ranking, pr.ESTIMATORS)
    assert len(axes.patches) == len(pr.ESTIMATORS)
    for patch in axes.patches:
        name = patch.get_label().split()[0]
        values, edges, _ = patch.get_data()
        assert np.sum(values * np.diff(edges)) == pytest.approx(pr.aucpr(ranking, estimator=name))


def test_prevalence_sweep_and_forest():
    axes = mpl.plot_prevalence(MODELS, [0.01, 0.1, 0.5])
    line = drawn(axes, "scorecard")
    expected = [pr.aucpr(MODELS["scorecard"].at_prevalence(p)) for p in (0.01, 0.1, 0.5)]
    np.testing.assert_allclose(line.get_ydata(), expected)
    intervals = {name: pr.interval(ranking) for name, ranking in MODELS.items()}
    forest = mpl.plot_forest(intervals, reference=0.5, label="AUCPR")
    assert [t.get_text() for t in forest.get_yticklabels()] == list(MODELS)
    low, high = forest.lines[0].get_xdata()
    assert (low, high) == tuple(intervals["gradient_boosting"])


def test_lift_of_rare_positives_has_logarithmic_axes():
    axes = pr.lift_curve(RANKING).plot()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    axes = pr.lift_curve(RANKING.at_prevalence(0.3)).plot()
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")


def test_a_comparison_draws_its_intervals_beside_zero():
    comparison = pr.compare(EXAMPLE.label, EXAMPLE.scores)
    (pair,) = comparison.intervals
    for simultaneous, intervals in ((False, comparison.intervals), (True, comparison.simultaneous)):
        axes = comparison.plot(simultaneous=simultaneous)
        ends, dot, zero = axes.lines
        assert list(ends.get_xdata()) == [intervals[pair].low, intervals[pair].high]
        assert list(dot.get_xdata()) == [intervals[pair].estimate]
        assert list(zero.get_xdata()) == [0.0, 0.0]
        assert [text.get_text() for text in axes.get_yticklabels()] == [" − ".join(pair)]


def test_an_evaluation_and_its_models_draw_their_curves():
    evaluation = pr.evaluate(EXAMPLE.label, EXAMPLE.scores)
    axes = evaluation.plot()
    assert {"gradient_boosting", "scorecard"} <= {
        line.get_label().split(" ")[0] for line in axes.lines
    }
    assert len(evaluation.models[1].plot().collections) >= 2  # what nothing reaches, and the band
    assert drawn(RANKING.plot(), "random") is not None


def test_a_test_against_chance_draws_its_distribution():
    test = pr.chance_test(RANKING, rng=0)
    axes = test.plot()
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1.0)
    assert list(drawn(axes, "these rows").get_xdata()) == [test.estimate] * 2


def test_calibration_groups_and_conventions_draw_their_numbers():
    rows = pr.Rows(EXAMPLE.label, EXAMPLE.scores, columns={"channel": EXAMPLE.group})
    check = pr.calibration_check(rows, model="gradient_boosting")
    np.testing.assert_array_equal(
        drawn(check.plot(), "calibrated").axes.containers[0].lines[0].get_xdata(),
        check.tenths_predicted,
    )
    values = pr.per_group(rows, "aucnpr", by="channel", model="scorecard")
    assert list(values.plot().lines[0].get_xdata()) == sorted(values.values.tolist())
    table = pr.conventions(RANKING)
    drawn_values = list(table.plot().lines[0].get_xdata())
    assert drawn_values == sorted(row.value for row in table if row.value is not None)
