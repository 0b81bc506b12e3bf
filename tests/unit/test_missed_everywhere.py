"""Positives that were never scored, in every area, interval, band and curve.

A missed positive is a positive below everything that was scored, which no threshold selects: the
curve ends at the recall of the others, and precision is 0 beyond.
"""

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.inference.influence import linearise
from precall.inference.resampling import resampler_for
from precall.inference.units import row_values
from precall.ranking import Cells
from precall.ranking.places import locate
from precall.simulate import Binormal
from tests import naive
from tests.datasets import random_data

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

RANGES = [(0.0, 1.0), (0.0, 0.4), (0.3, 0.9), (0.95, 1.0)]
OF_COUNTS = [name for name, kind in pr.ESTIMATORS.items() if kind.kernel is not None]


def naive_area(estimator, y, s, missed, recall=(0.0, 1.0)):
    """The curve of what was scored, squeezed to the recall that it reached."""
    reached = sum(y) / (sum(y) + missed)
    low, high = (min(end / reached, 1.0) for end in recall)
    if low >= high:
        return 0.0
    return reached * float(naive.aucpr(estimator, y, s, recall=(low, high)))


def naive_leave_one_out(y, s, missed):
    """Of each positive the precision among the others, which stand for one more of all."""
    n = sum(y) + missed
    scores = sorted((t for t, label in zip(s, y, strict=True) if label), reverse=True)
    negatives = [t for t, label in zip(s, y, strict=True) if not label]
    values = []
    for place, t in enumerate(scores):
        others = [u for at, u in enumerate(scores) if at != place and u >= t]
        above = sum(u >= t for u in negatives)
        found = len(others) * n / (n - 1)
        values.append(found / (found + above) if found + above else None)
    later = sorted(set(scores), reverse=True)
    for place, value in enumerate(values):
        if value is None:  # the first one, with nothing above, takes the value of the next score
            after = [v for v, t in zip(values, scores, strict=True) if [t] == later[1:2]]
            values[place] = after[0] if after else 0.0
    return sum(values) / n


@pytest.mark.parametrize("estimator", [name for name in OF_COUNTS if name != "leave_one_out"])
def test_every_estimator_is_that_of_the_scored_ones_squeezed(estimator):
    rng = np.random.default_rng(1)
    for _ in range(25):
        y, s, _ = random_data(rng, max_rows=20)
        missed = int(rng.integers(1, 8))
        ranking = pr.rank(y, s, missed_positives=missed)
        for recall in RANGES:
            expected = naive_area(estimator, y, s, missed, recall)
            found = pr.aucpr(ranking, estimator=estimator, recall=recall)
            assert found == pytest.approx(expected, rel=1e-10, abs=1e-13)
            metric = pr.metrics.aucpr(estimator=estimator, recall=recall)
            several = pr.per_group([ranking, pr.rank(y, s)], metric).values
            alone = naive_area(estimator, y, s, 0, recall)
            assert several == pytest.approx([expected, alone], rel=1e-10, abs=1e-13)


def test_leave_one_out_counts_them_among_the_others():
    rng = np.random.default_rng(2)
    for _ in range(60):
        y, s, _ = random_data(rng, max_rows=12)
        if sum(y) < 2:
            continue
        missed = int(rng.integers(1, 8))
        found = pr.aucpr(pr.rank(y, s, missed_positives=missed), estimator="leave_one_out")
        assert found == pytest.approx(naive_leave_one_out(y, s, missed), rel=1e-12)


def test_the_fitted_curve_is_that_of_the_scored_ones_squeezed():
    y, s = Binormal(1.0).sample(40, 200, rng=1)
    scored, ranking = pr.rank(y, s), pr.rank(y, s, missed_positives=10)
    for low, high in RANGES:
        squeezed = (min(low / 0.8, 1.0), min(high / 0.8, 1.0))
        expected = 0.0
        if squeezed[0] < 1.0:
            expected = 0.8 * pr.aucpr(scored, estimator="binormal", recall=squeezed)
        found = pr.aucpr(ranking, estimator="binormal", recall=(low, high))
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("estimator", ["average_precision", "davis_goadrich", "upper_trapezoid"])
def test_the_normalised_area_is_0_for_the_worst_order_and_1_if_nothing_is_missed(estimator):
    rng = np.random.default_rng(3)
    for _ in range(25):
        y, s, _ = random_data(rng, max_rows=15)
        missed = int(rng.integers(1, 6))
        for recall in RANGES[:3]:
            order = np.argsort(y, kind="stable")  # negatives first
            falling = np.arange(len(y), 0, -1.0)
            floor = naive_area(estimator, y[order].tolist(), falling.tolist(), missed, recall)
            everyone = np.repeat([1, 0], [sum(y) + missed, len(y) - sum(y)]).tolist()
            best = list(range(len(everyone), 0, -1))
            ceiling = naive_area(estimator, everyone, best, 0, recall)
            area = naive_area(estimator, y, s, missed, recall)
            expected = (area - floor) / (ceiling - floor)
            ranking = pr.rank(y, s, missed_positives=missed)
            found = pr.aucnpr(ranking, estimator=estimator, recall=recall)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-11)
            worst = pr.rank(y[order], falling, missed_positives=missed)
            assert pr.aucnpr(worst, estimator=estimator, recall=recall) == pytest.approx(
                0, abs=1e-9
            )
            several = pr.per_group(
                [ranking, worst], pr.metrics.aucnpr(estimator=estimator, recall=recall)
            ).values
            assert several == pytest.approx([expected, 0.0], rel=1e-9, abs=1e-11)


def test_a_missed_positive_is_below_every_negative():
    """AUROC, whole and in part, is that of the missed ranked last; so is its interval."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        y, s, _ = random_data(rng)
        missed = int(rng.integers(1, 6))
        ours = pr.rank(y, s, missed_positives=missed)
        last = pr.rank(np.append(y, np.ones(missed)), np.append(s, np.full(missed, -1e9)))
        for part in ((0.0, 1.0), (0.0, 0.3), (0.2, 0.9)):
            metric = pr.metrics.auroc(false_positive_rate=part)
            assert metric(ours) == pytest.approx(metric(last), rel=1e-12, abs=1e-14)
            assert pr.per_group([ours], metric).values[0] == pytest.approx(
                metric(last), rel=1e-12, abs=1e-14
            )
        for method in ("beta", "logit", "delong"):
            found, expected = (pr.interval(r, "auroc", method=method) for r in (ours, last))
            assert tuple(found) == pytest.approx(tuple(expected), rel=1e-9, abs=1e-12)


LIKE_LAST = [
    "recall_at_k(3)",
    "precision_at_k(3)",
    "lift_at_k(3)",
    "recall_at_threshold(0.5)",
    "f1_at_threshold(0.5)",
    "precision_at_threshold(0.5)",
    "mcc_at_threshold(0.5)",
]


@pytest.mark.parametrize("words", LIKE_LAST)
def test_intervals_of_what_is_selected_are_those_with_the_missed_ranked_last(words):
    rng = np.random.default_rng(5)
    checked = 0
    for _ in range(40):
        y, s, _ = random_data(rng, max_rows=40)
        if len(y) < 10 or not 0 < sum(y[s >= 0.5]) < sum(y):
            continue
        checked += 1
        cut = {"thresholds": [0.5]}
        ours = pr.rank(y, s, missed_positives=4, **cut)
        last = pr.rank(np.append(y, np.ones(4)), np.append(s, np.full(4, -1e9)), **cut)
        metric = pr.metrics.parse(words)
        rules = [rule for rule in metric.rules if not rule.startswith("bootstrap")]
        for method in (rule.removesuffix("_of_ranks") for rule in rules):
            # A prevalence that varies moves the rank of a cut, and what is a row matters there.
            for sampling in ("classes",) if metric.places else ("rows", "classes"):
                found, expected = (
                    pr.interval(r, metric, method=method, sampling=sampling) for r in (ours, last)
                )
                assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
                assert tuple(found) == pytest.approx(tuple(expected), rel=1e-9, abs=1e-12)
    assert checked > 10


SMOOTH = [
    *(
        pr.metrics.aucpr(estimator=name, recall=recall)
        for name, kind in pr.ESTIMATORS.items()
        if kind.gradient is not None and name != "leave_one_out"
        for recall in ((0.0, 1.0), (0.21, 0.83))
    ),
    pr.metrics.aucnpr(),
    pr.metrics.aucnpr(estimator="davis_goadrich"),
    pr.metrics.auroc(),
    pr.metrics.recall_at_threshold(0.7),
    pr.metrics.mcc_at_threshold(0.7),
]


@pytest.mark.parametrize("metric", SMOOTH, ids=str)
def test_the_gradient_of_a_missed_positive_is_the_derivative(metric):
    """Up to one constant per class, as for every other row."""
    rng = np.random.default_rng(6)
    for _ in range(6):
        y = rng.random(40) < 0.4
        s = np.round(rng.normal(size=40) + y, 1)
        ranking = pr.rank(y, s, missed_positives=7, thresholds=metric.thresholds)
        ranking = metric.ranked(ranking)
        bound = metric.on_both_classes(ranking)
        cells = Cells(*(np.asarray(part, dtype=float) for part in ranking.cells))
        gradient, step = bound.gradient(cells), 1e-5
        by_hand = []
        for row in np.flatnonzero(ranking.positives):
            moved = [cells._replace(positives=cells.positives.copy()) for _ in range(2)]
            moved[0].positives[row] += step
            moved[1].positives[row] -= step
            up, down = (float(bound.value(each)) for each in moved)
            by_hand.append((up - down) / (2 * step) - gradient.positives[row])
        up, down = (
            float(bound.value(cells._replace(missed=cells.missed + sign * step)))
            for sign in (1, -1)
        )
        missed = (up - down) / (2 * step) - float(np.asarray(gradient.missed))
        # Where the range of recall cuts a row, a difference is taken over a kink.
        np.testing.assert_allclose(missed, np.median(by_hand), rtol=2e-4, atol=2e-6)


def test_their_variance_is_that_of_one_more_cell_of_positives():
    y, s = Binormal(1.0).sample(30, 200, rng=3)
    ranking = pr.rank(y, s, missed_positives=6)
    metric = pr.metrics.aucpr()
    found = linearise(metric, ranking.cells)
    # By hand: P_j and what a positive does to those below it; 0 for a missed one.
    n, tp, fp, w = 36, ranking.tp, ranking.fp, ranking.positives
    own = tp / (tp + fp)
    below = np.cumsum((w * fp / (tp + fp) ** 2)[::-1])[::-1]
    values = np.append(np.repeat(own + below, w), np.zeros(6)) / n
    assert float(found.positives) == pytest.approx(np.sum((values - values.mean()) ** 2), rel=1e-12)


@pytest.mark.parametrize("together", [False, True])
def test_a_replicate_draws_them_as_it_draws_other_positives(together):
    y, s = Binormal(1.0).sample(30, 60, rng=3)
    ranking = pr.rank(y, s, missed_positives=10)
    resampler = resampler_for(pr.metrics.aucpr(), ranking, together=together)
    cells, _ = resampler.draw(np.random.default_rng(0), 4000)
    everyone = cells.positives.sum(axis=1) + cells.missed
    total = everyone + cells.above.sum(axis=1) + np.sum(cells.tied, axis=-1) + cells.below
    assert np.all(total == 100)
    if not together:
        assert np.all(everyone == 40)
    # Ten in forty, or in a hundred: five standard errors of the mean over 4,000 draws.
    variance = 7.5 if not together else 9.0
    assert cells.missed.mean() == pytest.approx(10.0, abs=5 * np.sqrt(variance / 4000))
    assert cells.missed.var() == pytest.approx(variance, rel=0.12)
    value = float(pr.metrics.aucpr().value(Cells(*(np.asarray(part)[0] for part in cells))))
    first = cells.positives[0] * np.cumsum(cells.positives[0])
    first = first / np.maximum(np.cumsum(cells.positives[0] + cells.above[0] + cells.tied[0]), 1)
    assert value == pytest.approx(first.sum() / everyone[0], rel=1e-12)


@pytest.mark.parametrize(
    ("words", "methods"),
    [
        ("aucpr", ["guarded", "influence", "logit", "binomial", "bootstrap_bca", "bootstrap_t"]),
        ("aucpr(estimator=davis_goadrich)", ["guarded", "bootstrap_percentile"]),
        ("aucpr(estimator=interpolated_median)", ["bootstrap_percentile"]),
        ("aucpr(recall=(0, 0.5))", ["guarded"]),
        ("aucnpr", ["guarded", "bootstrap_percentile"]),
        ("auroc", ["beta", "bootstrap_percentile"]),
        ("precision_at_recall(0.5)", ["mover", "fiducial", "influence", "bootstrap_percentile"]),
        ("recall_at_precision(0.5)", ["mover", "bootstrap_percentile"]),
        ("recall_at_k(20)", ["clopper_pearson", "wilson", "bootstrap_percentile"]),
    ],
)
def test_every_interval_contains_its_estimate_and_falls_with_what_is_missed(words, methods):
    y, s = Binormal(1.5).sample(60, 240, rng=5)
    scored, ranking = pr.rank(y, s), pr.rank(y, s, missed_positives=20)
    for method in methods:
        few, many = (pr.interval(r, words, method=method, rng=1) for r in (scored, ranking))
        assert many.low <= many.estimate <= many.high
        assert many.estimate < few.estimate
        assert many.low < few.low
        assert pr.interval(ranking, words, method=method, rng=1, confidence_level=0.5).width < (
            many.width
        )
        if not pr.metrics.parse(words).places:
            known = pr.interval(ranking, words, method=method, rng=1, prevalence=0.05)
            assert known.low <= known.estimate <= known.high


@pytest.mark.parametrize("recall", [0.6, 0.8, 0.84, 0.9])
def test_precision_about_the_end_of_the_curve_is_covered(recall):
    """Each positive is missed with probability .15: the curve of the population ends at .85."""
    rng = np.random.default_rng(7)
    model, among = Binormal(1.5), 0.3 * 0.85 / (0.3 * 0.85 + 0.7)
    truth = float(model.precision(recall / 0.85, among)) if recall <= 0.85 else 0.0
    metric, held = pr.metrics.precision_at_recall(recall), 0
    inverse = pr.metrics.recall_at_precision(0.4)
    goal = max(r for r in np.linspace(0.001, 1.0, 1000) if model.precision(r, among) >= 0.4)
    found = 0
    for _ in range(300):
        positives = max(int(rng.binomial(200, 0.3)), 2)
        missed = min(int(rng.binomial(positives, 0.15)), positives - 1)
        y, s = model.sample(positives - missed, 200 - positives, rng)
        ranking = pr.rank(y, s, missed_positives=missed)
        limits = pr.interval(ranking, metric)
        assert limits.low <= limits.estimate <= limits.high
        held += limits.low <= truth <= limits.high
        if recall == 0.6:
            limits = pr.interval(ranking, inverse)
            found += limits.low <= 0.85 * goal <= limits.high
    # Of 300 at 95 %, 272 or fewer are held once in a thousand times.
    assert held > 272
    assert found > 272 or recall != 0.6


def test_another_prevalence_counts_them_among_the_positives():
    y, s = Binormal(1.5).sample(30, 100, rng=5)
    moved = pr.rank(y, s, missed_positives=10).at_prevalence(0.02)
    assert moved.overall_prevalence == pytest.approx(0.02, rel=1e-12)
    assert moved.missed == 10
    assert moved.effective_sizes == pytest.approx((40.0, 100.0))
    # The same as more negatives of the same kind: 40 positives among 2,000.
    many = pr.rank(
        np.append(y[y == 1], np.zeros(1960)),
        np.append(s[y == 1], np.repeat(s[y == 0], 20)[:1960]),
        missed_positives=10,
    )
    assert pr.aucpr(moved) == pytest.approx(pr.aucpr(many), rel=0.02)
    groups = pr.RankingSet.from_rankings([pr.rank(y, s, missed_positives=10), pr.rank(y, s)])
    values = pr.per_group(groups.at_prevalence(0.02), "aucpr").values
    assert values[0] == pytest.approx(pr.aucpr(moved), rel=1e-12)


def test_lift_and_gain_curves_end_where_nothing_more_is_found():
    y, s = [1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    ranking = pr.rank(y, s, missed_positives=3)
    lift, hits = pr.lift_curve(ranking), pr.hit_curve(ranking)
    for x in (0.1, 0.3, 0.5, 5 / 8, 0.7, 1.0):
        expected = float(hits.at(x)) / (x * 5 / 8)
        assert float(lift.at(x)) == pytest.approx(expected, rel=1e-12)
    assert float(lift.at(3 / 8)) == pytest.approx(pr.metrics.lift_at_k(3)(ranking), rel=1e-12)
    assert hits.area() == pytest.approx(
        np.trapezoid(hits.at(np.linspace(0, 1, 80_001)), dx=1 / 80_000), rel=1e-4
    )
    few = pr.rank([1, 1, 0, 1, 0, 0, 0, 0, 0, 0], np.arange(10, 0, -1), missed_positives=1)
    gain = pr.gain_curve(few)
    assert gain.x[-1] == pytest.approx(1 - (4 / 7) * (1 / 3), rel=1e-12)
    assert gain.at([gain.x[-1], 1.0]).tolist() == [gain.y[-1], -np.inf] or gain.at(1.0) == -np.inf
    with pytest.raises(InputError, match="gain of minus infinity"):
        gain.area()
    with pytest.raises(UndefinedMetricError, match="too many positives were missed"):
        pr.gain_curve(ranking)


def test_the_area_of_gains_has_no_value():
    ranking = pr.rank([1, 0, 1, 0], [4, 3, 2, 1], missed_positives=1)
    for ask in (pr.auprg, lambda r: pr.interval(r, "auprg"), lambda r: pr.per_group([r], "auprg")):
        with pytest.raises(InputError, match="a precision of 0 is a gain of minus infinity"):
            ask(ranking)


@pytest.mark.parametrize("method", ["clemencon_vayatis", "bootstrap", "asymptotic"])
def test_what_smooths_the_scores_of_all_positives_refuses(method):
    y, s = Binormal(1.5).sample(30, 100, rng=5)
    ranking = pr.rank(y, s, missed_positives=3)
    with pytest.raises(InputError, match="a smoothed distribution of scores needs a score"):
        pr.band(ranking, method=method, rng=0)
    with pytest.raises(InputError, match="a smoothed distribution of scores needs a score"):
        pr.smooth_pr_curve(ranking)


@pytest.mark.parametrize("method", ["fiducial", "pointwise", "exact"])
def test_weights_that_differ_have_no_band_beside_them(method):
    y, s = Binormal(2.0).sample(85, 400, rng=5)
    weighted = pr.rank(y, s, sample_weight=1.0 + (s > 1.0), missed_positives=15)
    with pytest.raises(InputError, match="weights"):
        pr.band(weighted, method=method, rng=0)
    # An interval takes each of them as a row of weight 1, as the area does.
    found = pr.interval(weighted)
    assert found.low < found.estimate < found.high
    same = pr.rank(y, s, sample_weight=np.full(485, 1.0), missed_positives=15)
    assert tuple(pr.interval(same)) == pytest.approx(
        tuple(pr.interval(pr.rank(y, s, missed_positives=15))), rel=1e-9
    )


@pytest.mark.parametrize("method", ["fiducial", "pointwise", "exact"])
@pytest.mark.parametrize("kind", ["pr", "roc", "hit"])
def test_a_band_goes_down_to_nothing_where_the_reached_recall_may_end(method, kind):
    y, s = Binormal(2.0).sample(85, 400, rng=5)
    ranking = pr.rank(y, s, missed_positives=15)
    band = pr.band(ranking, kind, method=method, rng=0)
    # An observed curve within its band, but at the cliff, where both are one point wide.
    assert np.mean((band.low <= band.y) & (band.y <= band.high)) > 0.97
    assert np.all(np.isfinite([band.low, band.high]))
    if kind == "pr":
        whole = pr.band(ranking, kind, method=method, rng=0, recall=(0.1, 1.0))
        assert np.all(whole.low[whole.x > 0.86] == 0.0)
        assert np.all(whole.low[whole.x < 0.7] > 0.0)
        assert np.all(whole.high[whole.x > 0.97] == 0.0)
        assert whole.high[whole.x < 0.86].min() > 0.0
    if kind == "roc":
        assert band.high[-1] < 1.0
        last = pr.rank(np.append(y, np.ones(15)), np.append(s, np.full(15, -1e9)))
        np.testing.assert_allclose(band.y, pr.band(last, kind, rng=0).y, atol=1e-12)
    if kind == "hit":
        assert band.high[-1] <= 100 / 500 + 0.1


def test_random_orders_of_any_metric_miss_them_too():
    """All orders of five rows with two positives, by hand."""
    from itertools import combinations

    y, s = [1, 0, 1, 0, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    for words in ("aucpr", "aucnpr", "auroc", "recall_at_k(2)", "precision_at_recall(0.4)"):
        metric = pr.metrics.parse(words)
        found = pr.chance_test(pr.rank(y, s, missed_positives=3), metric)
        values = []
        for chosen in combinations(range(5), 2):
            labels = np.isin(np.arange(5), chosen)
            values.append(metric(pr.rank(labels, s, missed_positives=3)))
        assert found.expected == pytest.approx(np.mean(values), rel=1e-12)
        assert found.distribution == pytest.approx(np.sort(values), rel=1e-12)
        if metric.random(pr.rank(y, s)) is not None and words in ("aucpr", "recall_at_k(2)"):
            expected = metric.random(pr.rank(y, s, missed_positives=3))
            assert found.expected == pytest.approx(expected, rel=1e-12)


def test_the_best_threshold_counts_them():
    y, s = [1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1]
    ranking = pr.rank(y, s, missed_positives=2)
    assert pr.best_threshold(ranking).value == pytest.approx(6 / 9)
    assert pr.best_threshold(ranking, "recall", min_precision=0.7).confusion.recall == 3 / 5
    assert pr.best_threshold(ranking, "precision", min_recall=0.6).threshold == 3
    with pytest.raises(UndefinedMetricError, match="2 positives of 5 were never scored"):
        pr.best_threshold(ranking, "precision", min_recall=0.7)
    assert pr.best_threshold(ranking, "cost", cost_ratio=5).value == pytest.approx(11 / 8)
    # Precision above that of a random choice among the rows with a score, and recall of all.
    chance = 0.5
    above = [(p - chance) / (1 - chance) for p in (1, 1, 0.75)]
    recall = np.array([1, 2, 3]) / 5
    expected = 2 / (1 / np.array(above) + 1 / recall)
    np.testing.assert_allclose(pr.f_beta(ranking, modified=True), expected, rtol=1e-12)


def test_groups_and_folds_count_them():
    rng = np.random.default_rng(8)
    y = rng.random(600) < 0.3
    s = rng.normal(size=600) + y
    group = np.repeat([0, 1, 2], 200)
    from dataclasses import replace

    rankings = pr.rank_groups(y, s, group, pooled=True)
    missed = replace(rankings, missed=np.array([5, 0, 20]))
    pooled = pr.aggregate(missed, "aucpr", how="pooled")
    assert pooled.estimate == pytest.approx(pr.aucpr(pr.rank(y, s, missed_positives=25)), rel=1e-12)
    assert pooled.interval.low < pooled.estimate < pooled.interval.high
    beside = pr.aggregate(missed, "aucpr").beside["pooled aucpr"]
    assert beside == pytest.approx(pooled.estimate, rel=1e-12)
    folds = pr.crossval_interval(list(missed), "aucpr")
    assert folds.estimate == pytest.approx(pr.per_group(missed, "aucpr").values.mean(), rel=1e-12)


def test_slices_of_rankings_need_to_know_whose_they_are():
    """What a slice missed is not what the rest missed: counts of all rows do not say."""
    from dataclasses import replace

    from precall.groups.slices_of_rankings import slices_of_rankings

    rng = np.random.default_rng(8)
    y = rng.random(600) < 0.3
    s = rng.normal(size=600) + y
    ranking, sets = pr.rank(y, s), pr.rank_groups(y, s, np.repeat([0, 1, 2], 200))
    assert len(slices_of_rankings(ranking, {"group": sets})) == 3
    for whole, parts in (
        (replace(ranking, missed=2), sets),
        (ranking, replace(sets, missed=np.array([5, 0, 20]))),
    ):
        with pytest.raises(InputError, match="a comparison of slices with the rows outside needs"):
            slices_of_rankings(whole, {"group": parts})


def test_downsampling_counts_them():
    y, s = Binormal(1.5).sample(30, 3000, rng=5)
    ranking = pr.rank(y, s, missed_positives=10)
    effect = pr.downsample_effect(ranking, ratio=1.0)
    assert effect.original.aucpr == pytest.approx(pr.aucpr(ranking), rel=1e-12)
    assert effect.downsampled.aucpr == pytest.approx(effect.original.aucpr, rel=1e-9)
    assert effect.original.aucnpr == pytest.approx(pr.aucnpr(ranking), rel=1e-9)
    assert effect.original.prevalence == pytest.approx(40 / 3040)
    undone = pr.undo_downsampling(ranking, ratio=1.0)
    assert undone.aucnpr == pytest.approx(pr.aucnpr(ranking), rel=1e-9)


def test_a_pilot_that_missed_some_expects_to_miss_as_many():
    y, s = Binormal(1.5).sample(60, 540, rng=5)
    ranking = pr.rank(y, s, missed_positives=20)
    from precall.planning.expected import of_pilot

    shape, _ = of_pilot(ranking, None, ())
    grown = shape.ranking(800, 5400)
    assert (grown.missed, grown.n_pos) == (200, 600)
    assert pr.aucpr(grown) == pytest.approx(pr.aucpr(ranking), rel=0.02)
    size = pr.planning.size(width=0.1, pilot=ranking)
    assert size.positives > 80


def test_rows_ranked_last_have_the_same_differences():
    """What comes last in both rankings adds the same to both, to the value and to its variance."""
    rng = np.random.default_rng(9)
    y = rng.random(300) < 0.3
    scores = {name: rng.normal(size=300) + 1.5 * y for name in ("a", "b")}
    last = {name: np.append(s, np.full(20, -np.inf)) for name, s in scores.items()}
    for words in ("aucpr", "auroc", "recall_at_k(40)", "f1_at_threshold(1.0)"):
        metric = pr.metrics.parse(words)
        rows = pr.Rows(np.append(y, np.ones(20)), last)
        found = pr.compare(rows, metric, sampling="classes")
        values, columns = [], []
        for s in scores.values():
            ranking = pr.rank(y, s, missed_positives=20, thresholds=metric.thresholds)
            ranking = metric.ranked(ranking)
            bound = metric.on_both_classes(ranking)
            gradient = bound.gradient(ranking.cells)
            own = row_values(locate(ranking.threshold, s), y, gradient)
            columns.append(np.append(own, np.full(20, float(np.asarray(gradient.missed)))))
            values.append(bound.of_ranking(ranking))
        assert found.differences["a", "b"] == pytest.approx(values[0] - values[1], rel=1e-10)
        change, variance = columns[0] - columns[1], 0.0
        for chosen in (rows.positive, ~rows.positive):
            size = chosen.sum()
            variance += np.var(change[chosen]) * size * size / (size - 1)
        covariance = found.covariance
        error = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
        assert error == pytest.approx(variance, rel=1e-9)
    only = pr.aucpr(pr.rank(np.append(y, np.ones(20)), last["a"]))
    ours = pr.aucpr(pr.rank(y, scores["a"], missed_positives=20))
    everyone = y.sum() + 20
    assert only - ours == pytest.approx(20 / everyone * everyone / 320, rel=1e-9)


@pytest.mark.parametrize("estimator", OF_COUNTS)
def test_nothing_was_found(estimator):
    """Every positive was missed: no area, whatever the estimator."""
    ranking = pr.rank([0, 0], [2.0, 1.0], missed_positives=3)
    assert pr.aucpr(ranking, estimator=estimator) == 0.0
    assert pr.aucnpr(ranking, estimator=estimator) == 0.0
    assert pr.auroc(ranking) == 0.0
    with pytest.raises(UndefinedMetricError, match="no interval with no positives"):
        pr.interval(ranking)
