"""Plots: what is drawn is what was computed, and never outside what is achievable."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import precall as pr
from precall import privacy, results
from precall.display import mpl
from precall.exceptions import InputError, UndefinedMetricError
from precall.monitoring import sequences

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
    if axes.get_xscale() == "log":
        np.testing.assert_allclose(line.get_ydata(), curve.at(line.get_xdata()))
        return
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


def test_lift_of_very_rare_positives_is_drawn_as_it_is():
    """Where a logarithmic axis spreads few rows over half of the picture, too."""
    rng = np.random.default_rng(0)
    y = np.arange(100_000) < 20
    curve = pr.lift_curve(pr.rank(y, rng.normal(size=y.size) + 3.5 * y))
    axes = curve.plot()
    (line,) = (one for one in axes.lines if one.get_linewidth() == 1.6)
    x, height = line.get_data()
    for share in np.geomspace(2e-4, 1.0, 40):
        drawn = np.exp(np.interp(np.log(share), np.log(x), np.log(height)))
        assert drawn == pytest.approx(float(curve.at(share)), rel=0.03)
    assert x.size > 500


def test_no_two_of_ten_lines_have_one_colour():
    assert len({style["color"] for style in mpl.styles(10)}) == 10


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


#: Result classes without a picture, and why.
NOTHING_TO_DRAW = {
    **dict.fromkeys(
        ["CertifiedBound", "Constraint", "Convention", "Finding", "GateRule", "GroupEvaluation"],
        "a part of a result that is drawn as a whole",
    ),
    **dict.fromkeys(["Measure", "Slice", "Window"], "a part of a result that is drawn as a whole"),
    **dict.fromkeys(["Interval", "MetricInterval"], "one number; plot_forest draws several"),
    **dict.fromkeys(["Confusion", "PrivateConfusion"], "four counts, which a table shows better"),
    **dict.fromkeys(["Example", "TrecRun"], "data, to be ranked first"),
    **dict.fromkeys(
        ["BestThreshold", "Comparability", "GroupComparison", "LabelBounds", "PrivateValue"],
        "one number or two, with what belongs to them",
    ),
    **dict.fromkeys(
        ["DownsampleEffect", "PrecisionRecallSummary"], "the same few numbers before and after"
    ),
    **dict.fromkeys(
        ["ExpectedError", "Exposure", "MeasuredEpsilon"], "one number and its uncertainty"
    ),
    **dict.fromkeys(["SitePlan", "SiteRelease"], "a file for others, who draw what they combine"),
    **dict.fromkeys(
        ["PrivateOperatingPoint", "ExpectedOperatingPoint"], "one threshold and its promise"
    ),
    "Composition": "one number for each way to count",
    "PlannedRows": "rows to label, as a table",
}


def test_every_result_is_drawn_or_has_nothing_to_draw():
    drawn_classes = {name for name in results.__all__ if hasattr(getattr(results, name), "plot")}
    assert drawn_classes == set(results.__all__) - set(NOTHING_TO_DRAW)


def texts(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def marks(axes, label):
    """Where a marker stands: of the row that has its label in the legend."""
    line = drawn(axes, label)
    return float(line.get_xdata()[0]), float(line.get_ydata()[0])


def hides_no_data(axes):
    """Whether the legend is outside of the frame of the data."""
    axes.figure.canvas.draw()
    return not axes.get_legend().get_window_extent().overlaps(axes.get_window_extent())


def test_groups_are_drawn_over_what_none_of_them_can_reach():
    rankings = pr.rank_groups(EXAMPLE.label, EXAMPLE.scores["scorecard"], EXAMPLE.group)
    axes = rankings.plot()
    for label, ranking in zip(rankings.labels.tolist(), rankings, strict=True):
        line = drawn(axes, f"{label}  AP {pr.aucpr(ranking):.3f}")
        np.testing.assert_array_equal(line.get_xdata(), pr.pr_curve(ranking).thin(5e-4).x)
        assert any(list(mark.get_ydata()) == [ranking.prevalence] for mark in axes.lines)
    [region] = [c for c in axes.collections if c.get_label() == "unachievable"]
    assert region.get_paths()[0].vertices[:, 1].max() == pytest.approx(rankings.prevalence.min())
    assert hides_no_data(axes)


def test_no_legend_of_a_new_picture_lies_over_data():
    bands = {name: pr.band(ranking, rng=0) for name, ranking in MODELS.items()}
    rows = pr.Rows(EXAMPLE.label, EXAMPLE.scores, columns={"day": np.arange(4000) // 1000})
    for axes in (
        mpl.plot_pr(MODELS, bands=bands),
        mpl.plot_pr({f"model {k}": RANKING for k in range(8)}),
        mpl.plot_estimators(RANKING, pr.ESTIMATORS),
        mpl.plot_prevalence(MODELS, [0.01, 0.1]),
        pr.monitoring.windows(rows, "aucpr", time="day", every=1, model="scorecard").plot(),
    ):
        assert hides_no_data(axes)
        area, whole = axes.get_window_extent(), axes.figure.bbox
        assert area.height > 0.5 * whole.height
        box = axes.get_legend().get_window_extent()
        assert box.y0 >= 0
        assert box.y1 <= whole.y1
    _, given = plt.subplots()
    before = given.figure.get_figheight()
    assert mpl.plot_pr(MODELS, ax=given).figure.get_figheight() == before


def test_a_group_with_one_class_is_said_and_left_out():
    rankings = pr.rank_groups([1, 0, 1, 1], [4, 3, 2, 1], ["a", "a", "b", "b"])
    axes = rankings.plot()
    assert axes.get_title() == "2 groups (1 with one class only, not drawn)"
    assert not any(name.startswith("b ") for name in legend(axes))
    with pytest.raises(UndefinedMetricError, match="no curve to draw"):
        rankings.select([1]).plot()


def test_many_groups_are_drawn_alike_and_counted():
    rng = np.random.default_rng(0)
    rankings = pr.rank_groups(np.arange(400) % 2, rng.random(400), np.arange(400) // 10)
    axes = rankings.plot()
    assert "one of 40 groups" in legend(axes)
    assert len({line.get_color() for line in axes.lines if len(line.get_xdata()) > 1}) == 2
    assert hides_no_data(axes)


def test_an_aggregate_draws_its_groups_and_its_limits():
    found = pr.aggregate(pr.rank_groups(EXAMPLE.label, EXAMPLE.scores["scorecard"], EXAMPLE.group))
    axes = found.plot()
    assert list(axes.lines[0].get_xdata()) == sorted(found.per_group.tolist())
    assert list(drawn(axes, "mean").get_xdata()) == [found.estimate] * 2
    [span] = axes.patches
    assert (span.get_x(), span.get_x() + span.get_width()) == pytest.approx(tuple(found.interval))
    assert hides_no_data(axes)


@pytest.fixture(scope="module")
def released():
    """Labels, scores and a budget for private releases that are repeatable."""
    rng = np.random.default_rng(1)
    y = rng.random(4000) < 0.2
    return y, rng.normal(size=4000) + 2.0 * y, privacy.Budget(epsilon=100.0)


@pytest.mark.filterwarnings("ignore::precall.exceptions.SeededReleaseWarning")
def test_a_private_curve_is_drawn_with_its_noise(released):
    y, score, budget = released
    curve = privacy.pr_curve(
        y, score, epsilon=1.0, budget=budget, edges=np.linspace(-4, 6, 21), rng=0
    )
    for one, x, heights in (
        (curve, curve.recall, curve.precision),
        (curve.to("roc"), curve.false_positive_rate, curve.recall),
    ):
        axes = one.plot()
        line = drawn(axes, f"area {one.area():.3f}")
        np.testing.assert_array_equal(line.get_xdata(), x)
        np.testing.assert_array_equal(line.get_ydata(), heights)
        noise = one.band(rng=0)
        assert axes.collections[-1].get_paths()[0].vertices[:, 1].max() == noise.high.max()
        assert "not private" in axes.get_title()
        assert hides_no_data(axes)


@pytest.mark.filterwarnings("ignore::precall.exceptions.SeededReleaseWarning")
def test_private_values_are_drawn_with_their_intervals(released):
    y, score, budget = released
    found = privacy.compare(y, candidate=score, baseline=-score, epsilon=1.0, budget=budget, rng=0)
    axes = found.plot()
    assert texts(axes) == ["candidate", "baseline", "difference"]
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [found.candidate.value, found.baseline.value, found.difference.value]
    assert list(drawn(axes, "95 %").get_xdata()) == list(found.candidate.interval())
    folds = privacy.cross_validation(
        y,
        score,
        privacy.assign_folds(y.size, n_folds=4, rng=0),
        trained_on="other_rows",
        epsilon=1.0,
        budget=budget,
        rng=0,
    )
    axes = folds.plot()
    assert texts(axes) == [f"fold {k}" for k in (1, 2, 3, 4)]
    assert list(drawn(axes, "mean").get_xdata()) == [folds.value] * 2


def test_a_plan_draws_rows_and_labels_of_every_stratum():
    scores = np.random.default_rng(0).random(5000)
    plan = pr.audit.plan(scores, budget=200, rng=0)
    axes = plan.plot()
    assert texts(axes) == [each["name"] for each in plan.strata]
    for label, name in (("rows", "rows"), ("labels", "labels")):
        assert list(drawn(axes, label).get_xdata()) == [each[name] for each in plan.strata]
    assert hides_no_data(axes)
    labels = {int(row): int(scores[row] > 0.7) for row in plan.rows}
    sample = pr.audit.Sample(scores, labels, plan=plan)
    second = pr.audit.plan(scores, budget=100, already=sample, rng=1)
    new = drawn(second.plot(), "of these, new").get_xdata()
    assert list(new) == [each["new"] for each in second.strata]


def test_a_gate_draws_every_rule_with_the_better_side_on_the_right():
    rows = pr.Rows(EXAMPLE.label, EXAMPLE.scores)
    rules = ["aucpr >= 0.95", "false_positive_rate_at_threshold(0.3) <= 0.5"]
    gate = pr.gate(rows, candidate="gradient_boosting", baseline="scorecard", rules=rules)
    axes = gate.plot()
    assert texts(axes) == [rule.title for rule in gate.rules]
    signs = [1.0 if rule.sign == ">=" else -1.0 for rule in gate.rules]
    limits = [line for line in axes.lines if line.get_linewidth() == 1.6]
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in ("o", "X", "D")]
    for line, dot, rule, sign in zip(limits, dots, gate.rules, signs, strict=True):
        assert dot == sign * (rule.estimate - rule.target)
        assert list(line.get_xdata()) == [sign * (x - rule.target) for x in (rule.low, rule.high)]
    assert [rule.verdict for rule in gate.rules] == ["passed", "failed", "passed"]
    assert dots[0] > 0 > dots[1]
    assert dots[2] > 0
    assert drawn(axes, "passed").get_marker() != drawn(axes, "failed").get_marker()
    assert axes.get_title().endswith("failed")
    assert hides_no_data(axes)


def test_an_operating_point_draws_what_was_seen_promised_and_asked():
    point = pr.operating_point(RANKING, min_precision=0.3, min_recall=0.3, max_selected=0.1)
    axes = point.plot()
    assert texts(axes) == ["precision", "recall", "selected"]
    assert marks(axes, "observed") == (point.precision.estimate, 0)
    assert marks(axes, "promised: at least")[0] == point.precision_bound
    assert marks(axes, "promised: at most")[0] == point.of("selected").bound
    assert marks(axes, "asked for") == (0.3, 0)
    assert f"{point.threshold:.6g}" in axes.get_title()
    assert hides_no_data(axes)
    nothing = pr.operating_point(RANKING, min_precision=0.99).plot()
    assert nothing.get_title().startswith("No threshold can be promised")
    assert (texts(nothing), legend(nothing)) == (["precision"], ["asked for"])


def test_two_thresholds_draw_both_promises_and_the_rest(released):
    y, score, _ = released
    found = pr.two_thresholds(pr.Rows(y, score), min_precision=0.6, min_npv=0.9)
    axes = found.plot()
    assert texts(axes)[-1] == "left to review"
    assert len(texts(axes)) == len(found.constraints) + 1
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots[-1] == found.reviewed.estimate
    assert marks(axes, "asked for") == (0.6, 0)


def test_a_watch_draws_the_limits_that_it_ended_with():
    y = np.arange(3000) % 10 < np.repeat([6, 3], 1500)
    rows = pr.Rows(y, np.ones(3000), columns={"day": np.arange(3000) // 10})
    found = pr.monitoring.watch(rows, threshold=0.5, target=0.6, time="day")
    axes = found.plot()
    line = drawn(axes, "precision so far")
    assert len(line.get_xdata()) <= 200
    assert line.get_xdata()[-1] == found.trials
    assert line.get_ydata()[-1] == found.interval.estimate
    assert found.alarm_at in line.get_xdata()
    assert list(drawn(axes, "alarm after").get_xdata()) == [found.alarm_at] * 2
    assert list(drawn(axes, "target").get_ydata()) == [0.6, 0.6]
    band = axes.collections[0].get_paths()[0].vertices
    last = band[band[:, 0] == found.trials][:, 1]
    assert (last.min(), last.max()) == pytest.approx((found.interval.low, found.interval.high))
    # At the alarm the upper limit is under the target, and at the look before it was not.
    at = list(line.get_xdata()).index(found.alarm_at)
    trials, successes = (np.array(found.path[at][k : k + 1], dtype=float) for k in (0, 1))
    assert sequences.limits(successes, trials, 0.6, 0.05)[1] < 0.6
    assert "path" not in found.to_dict()
    assert hides_no_data(axes)


def test_a_watch_of_nothing_has_no_picture():
    found = pr.monitoring.watch(pr.Rows([0, 1], [0.1, 0.2]), threshold=0.5, target=0.6)
    with pytest.raises(UndefinedMetricError, match="nothing was counted"):
        found.plot()


def test_a_contour_is_drawn_with_its_value():
    contour = pr.iso_f_contours([0.5], beta=2.0)[0]
    axes = contour.plot()
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), contour.recall)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), contour.precision)
    assert [text.get_text() for text in axes.texts] == ["F2 0.5"]


def test_names_are_shown_as_they_are():
    """Matplotlib reads $...$ as a formula, and hides what begins with an underscore."""
    names = [r"$\nonsense$", "_hidden", "a\nb"]
    axes = mpl.plot_pr(dict.fromkeys(names, RANKING))
    axes.figure.canvas.draw()
    assert legend(axes)[-3:] == [
        rf"\$\nonsense\$  AP {pr.aucpr(RANKING):.3f}",
        f" _hidden  AP {pr.aucpr(RANKING):.3f}",
        rf"a\nb  AP {pr.aucpr(RANKING):.3f}",
    ]
    forest = mpl.plot_forest({name: pr.interval(RANKING) for name in names})
    forest.figure.canvas.draw()
    assert texts(forest) == [r"\$\nonsense\$", " _hidden", r"a\nb"]


def test_a_picture_is_wide_enough_for_its_names():
    few = mpl.plot_forest({"a": pr.interval(RANKING)})
    long = mpl.plot_forest({"a" * 60: pr.interval(RANKING)})
    assert long.figure.get_figwidth() > few.figure.get_figwidth() + 3
    long.figure.canvas.draw()
    assert long.get_yticklabels()[0].get_window_extent().x0 >= 0


def test_axes_are_named_in_words():
    rows = pr.Rows(EXAMPLE.label, EXAMPLE.scores, columns={"day": np.arange(4000) // 1000})
    groups = pr.rank_groups(EXAMPLE.label, EXAMPLE.scores["scorecard"], EXAMPLE.group)
    wide = pr.compare(rows, metric="precision_at_recall(0.5)").plot()
    assert wide.get_xlabel() == "difference of precision at recall 0.5 (95 %)"
    assert pr.compare(rows).plot().get_xlabel() == "difference of AUCPR (95 %)"
    windows = pr.monitoring.windows(rows, "aucpr", time="day", every=1, model="scorecard")
    assert windows.plot().get_ylabel() == "AUCPR"
    assert pr.aggregate(groups).plot().get_xlabel() == "AUCNPR"
    assert pr.per_group(groups, "auroc").plot().get_xlabel() == "AUROC"
    assert pr.chance_test(RANKING, n_resamples=99, rng=0).plot().get_xlabel() == "AUCPR"
    plan = pr.planning.size(width=0.1, pilot=RANKING)
    assert plan.plot().get_ylabel() == "width of the 95 % interval of AUCPR"
