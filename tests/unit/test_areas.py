"""Every estimator against exact references, published values and its own identities."""

import json
import statistics
from pathlib import Path

import mpmath
import numpy as np
import pytest

import precall as pr
from precall._numerics import precision_sum, reciprocal_sum, segment_area
from precall.exceptions import InputError, UndefinedMetricError
from precall.metrics import _kernels
from precall.metrics._kernels import make_steps
from precall.ranking import Cells
from tests import naive
from tests.datasets import random_data

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "vectors.json").read_text())
DATA_SETS = {k: v for k, v in VECTORS.items() if isinstance(v, dict) and "y_true" in v}
COUNTED = [name for name in pr.ESTIMATORS if name != "binormal"]
RANGES = [(0.0, 1.0), (0.0, 0.3), (0.25, 0.75), (0.9, 1.0), (0.1, 0.10001)]


@pytest.mark.parametrize("name", DATA_SETS)
def test_published_and_exact_vectors(name):
    data = DATA_SETS[name]
    ranking = pr.rank(data["y_true"], data["y_score"], sample_weight=data["sample_weight"])
    for estimator, expected in data["expected"].items():
        value = (
            pr.auroc(ranking) if estimator == "auroc" else pr.aucpr(ranking, estimator=estimator)
        )
        assert value == pytest.approx(expected, abs=1e-14), estimator


BY_THRESHOLD = {"interpolated_mean": statistics.mean, "interpolated_median": statistics.median}


@pytest.mark.parametrize("estimator", BY_THRESHOLD)
def test_tied_negatives_counted_once(estimator):
    # After the positive: precisions 1, 1/2, 1/3 and 1/4 of the rows, 1 and 1/4 of the thresholds.
    y, s = [1, 0, 0, 0], [2, 1, 1, 1]
    ranking = pr.rank(y, s, thresholds=s)
    expected = {"interpolated_mean": 25 / 48, "interpolated_median": 5 / 12}[estimator]
    assert pr.aucpr(ranking, estimator=estimator) == pytest.approx(expected)
    assert pr.aucpr(ranking, estimator=estimator, negatives="thresholds") == pytest.approx(5 / 8)
    words = f"aucpr(estimator={estimator}, negatives=thresholds)"
    metric = pr.metrics.parse(words)
    assert str(metric) == words
    assert metric(ranking) == pytest.approx(5 / 8)
    # A threshold at which nothing lies is no point.
    kept = pr.rank(y, s, thresholds=[*s, 1.5, 0.5])
    assert metric(kept) == pytest.approx(5 / 8)
    for seed in range(30):
        y, s, _ = random_data(np.random.default_rng(seed))
        expected = naive.area_of_thresholds(y.tolist(), s.tolist(), BY_THRESHOLD[estimator])
        assert metric(pr.rank(y, s, thresholds=s)) == pytest.approx(float(expected), rel=1e-12)
        # Repeating every row changes no threshold; without ties both are the same.
        twice = pr.rank(np.tile(y, 2), np.tile(s, 2), thresholds=s)
        assert metric(twice) == pytest.approx(float(expected), rel=1e-12)
        apart = s + 1e-9 * np.arange(s.size)
        assert metric(pr.rank(y, apart, thresholds=apart)) == pytest.approx(
            pr.aucpr(pr.rank(y, apart), estimator=estimator), rel=1e-12
        )


def test_counting_thresholds_needs_every_score():
    metric = pr.metrics.aucpr("interpolated_mean", negatives="thresholds")
    for data in (pr.rank([1, 0], [2, 1]), pr.Rows([1, 0, 1], [3, 2, 1])):
        with pytest.raises(InputError, match="thresholds=y_score"):
            metric(data)
    with pytest.raises(InputError, match="thresholds=y_score"):
        pr.interval(pr.rank([1, 0, 1], [3, 2, 1], thresholds=[2]), metric)
    with pytest.raises(InputError, match="is for the estimators interpolated_mean and interp"):
        pr.aucpr(pr.rank([1, 0], [2, 1]), negatives="thresholds")
    with pytest.raises(InputError, match="negatives must be one of"):
        pr.aucpr(pr.rank([1, 0], [2, 1]), negatives="ties")


def test_binormal_on_the_dissertation_table():
    data = DATA_SETS["boyd_table_4_1"]
    ranking = pr.rank(data["y_true"], data["y_score"])
    assert pr.aucpr(ranking, estimator="binormal") == pytest.approx(0.4547042029, abs=5e-11)


@pytest.mark.parametrize("estimator", COUNTED)
@pytest.mark.parametrize("weights", ["none", "real", "whole"])
def test_estimators_agree_with_exact_references(estimator, weights):
    rng = np.random.default_rng([len(estimator), len(weights)])
    for _ in range(40):
        y, s, w = random_data(rng, weights=weights)
        if estimator == "leave_one_out" and w is not None:
            _, place = np.unique(s, return_inverse=True)
            w = w[place]  # positives that share a score must weigh the same here
        ranking = pr.rank(y, s, sample_weight=w)
        for recall in RANGES:
            expected = naive.aucpr(estimator, y.tolist(), s.tolist(), w, recall)
            assert pr.aucpr(ranking, estimator=estimator, recall=recall) == pytest.approx(
                expected, rel=1e-12, abs=1e-14
            )


@pytest.mark.parametrize("recall", [(0.0, 1.0), (0.2, 0.7)])
@pytest.mark.parametrize(("shift", "stretch"), [(1.0, 1.0), (0.3, 20.0), (2.0, 0.05), (-1.0, 1.0)])
def test_binormal_agrees_with_quadrature(recall, shift, stretch):
    rng = np.random.default_rng(2)
    y = np.repeat([1, 0], [30, 300])
    s = rng.normal(size=330)
    s[:30] = shift + stretch * s[:30]
    ranking = pr.rank(y, s)
    mu_y, mu_x = s[:30].mean(), s[30:].mean()
    sd_y, sd_x = s[:30].std(ddof=1), s[30:].std(ddof=1)
    pi = 30 / 330

    def integrand(z):
        rate = mpmath.ncdf((mu_x - mu_y) / sd_x + sd_y / sd_x * z)
        return mpmath.npdf(z) * pi * mpmath.ncdf(z) / (pi * mpmath.ncdf(z) + (1 - pi) * rate)

    ends = [-12.0 if recall[0] == 0 else float(mpmath.erfinv(2 * recall[0] - 1) * mpmath.sqrt(2))]
    ends += [12.0 if recall[1] == 1 else float(mpmath.erfinv(2 * recall[1] - 1) * mpmath.sqrt(2))]
    centre = -(mu_x - mu_y) / sd_y
    cuts = np.unique(
        np.clip([*np.linspace(-12, 12, 13), *(centre + np.arange(-8, 9) * sd_x / sd_y)], *ends)
    )
    with mpmath.workdps(20):
        expected = float(mpmath.quad(integrand, [float(c) for c in cuts]))
    assert pr.aucpr(ranking, estimator="binormal", recall=recall) == pytest.approx(
        expected, rel=1e-12
    )


def test_binormal_needs_two_scores_in_each_class():
    with pytest.raises(UndefinedMetricError, match="two different scores"):
        pr.aucpr(pr.rank([1, 0, 0], [3, 2, 1]), estimator="binormal")
    with pytest.raises(UndefinedMetricError, match="finite raw scores"):
        pr.aucpr(pr.rank([1, 1, 0, 0], [3, np.inf, 2, 1]), estimator="binormal")


@pytest.mark.parametrize("estimator", COUNTED)
def test_kernels_take_batches_and_rows_without_positives(estimator):
    """A replicate that lost a threshold equals the ranking without that row."""
    rng = np.random.default_rng(4)
    rows = 12
    positives = rng.integers(0, 3, (20, rows)).astype(float)
    positives[:, 5] = 2
    tied, above = rng.integers(0, 3, (2, 20, rows)).astype(float)
    below = rng.integers(0, 4, 20).astype(float)
    batch = pr.ESTIMATORS[estimator].kernel(
        make_steps(Cells(positives, tied, above, below)), 0.1, 0.8
    )
    for k in range(20):
        p, gap = [], []
        carried = 0.0
        for row in range(rows):
            carried += above[k, row]
            if positives[k, row] == 0:
                carried += tied[k, row]
                continue
            p.append((positives[k, row], tied[k, row]))
            gap.append(carried)
            carried = 0.0
        single = Cells(
            np.array([x[0] for x in p]),
            np.array([x[1] for x in p]),
            np.array(gap),
            below[k] + carried,
        )
        assert batch[k] == pytest.approx(
            pr.ESTIMATORS[estimator].kernel(make_steps(single), 0.1, 0.8), rel=1e-13
        )


def test_lower_trapezoid_is_the_mean_of_both_average_precisions():
    """Untied: lower trapezoid = (AP with >= + AP with >) / 2."""
    rng = np.random.default_rng(12)
    for _ in range(100):
        size = int(rng.integers(4, 40))
        y = rng.random(size) < 0.4
        y[:2] = True, False
        s = rng.permutation(size)
        ranking = pr.rank(y, s)
        before_tp, before_fp = ranking.tp - 1, ranking.fp
        strict = np.divide(
            before_tp,
            before_tp + before_fp,
            where=before_tp + before_fp > 0,
            out=np.ones(len(ranking)),
        )
        expected = (pr.aucpr(ranking) + strict.mean()) / 2
        assert pr.aucpr(ranking, estimator="lower_trapezoid") == pytest.approx(expected, rel=1e-13)


def test_orderings_between_estimators():
    rng = np.random.default_rng(13)
    for _ in range(300):
        y, s, w = random_data(rng, weights=("none", "real")[int(rng.integers(2))])
        ranking = pr.rank(y, s, sample_weight=w)
        value = {name: pr.aucpr(ranking, estimator=name) for name in COUNTED}
        slack = 1e-12
        assert value["interpolated_convex"] >= value["interpolated_max"] - slack
        assert value["interpolated_max"] >= value["interpolated_mean"] - slack
        assert value["interpolated_max"] >= value["davis_goadrich"] - slack
        assert value["upper_trapezoid"] >= value["lower_trapezoid"] - slack
        assert value["davis_goadrich"] >= pr.minimum_aucpr(ranking.prevalence) - slack
        assert all(-slack <= v <= 1 + slack for v in value.values())


def test_curve_area_is_davis_goadrich():
    rng = np.random.default_rng(14)
    for _ in range(100):
        y, s, w = random_data(rng, weights=("none", "real")[int(rng.integers(2))])
        ranking = pr.rank(y, s, sample_weight=w)
        assert pr.pr_curve(ranking).area() == pytest.approx(
            pr.aucpr(ranking, estimator="davis_goadrich"), rel=1e-13
        )
        assert pr.roc_curve(ranking).area() == pytest.approx(pr.auroc(ranking), rel=1e-13)
        assert pr.gain_curve(ranking).area() == pytest.approx(
            pr.auprg(ranking), rel=1e-12, abs=1e-12
        )
        assert pr.pr_curve(ranking).convex_hull().area() == pytest.approx(
            pr.aucpr(ranking, estimator="interpolated_convex"), rel=1e-13
        )


@pytest.mark.numerics
@pytest.mark.parametrize("estimator", ["average_precision", "davis_goadrich"])
def test_tie_bounds_by_brute_force(estimator):
    """All orders and inner ties of the rows in every tied cell, exactly."""
    rng = np.random.default_rng(15)
    for _ in range(25):
        sizes = [[5], [3, 2], [4, 2], [2, 2, 1], [3, 1, 2]][int(rng.integers(5))]
        y = rng.integers(0, 2, sum(sizes))
        if y.min() == y.max():
            y[0] = 1 - y[0]
        s = np.repeat(np.arange(len(sizes), 0, -1), sizes)
        # Only rows at a score that a positive has are in a cell; others keep their place.
        cells = [np.flatnonzero(s == v) for v in np.unique(s)[::-1]]
        values = []

        def place(done, remaining, level, y=y, values=values):
            if not remaining:
                values.append(naive.aucpr(estimator, y.tolist(), done.tolist()))
                return
            rows, rest = remaining[0], remaining[1:]
            orders = naive.weak_orders(rows) if y[rows].any() else [[rows]]
            for order in orders:
                scores = done.copy()
                for group in order:
                    level -= 1
                    scores[list(group)] = level
                place(scores, rest, level)
                level += len(order)

        place(np.zeros(len(y), dtype=int), cells, 0)
        bounds = pr.tie_bounds(pr.rank(y, s), estimator=estimator)
        assert bounds.low == pytest.approx(min(values), rel=1e-12)
        assert bounds.high == pytest.approx(max(values), rel=1e-12)


@pytest.mark.numerics
@pytest.mark.parametrize("estimator", ["average_precision", "davis_goadrich"])
def test_tie_bounds_certify_coarsened_data(estimator):
    rng = np.random.default_rng(16)
    y = rng.random(200_000) < 0.1
    ranking = pr.rank(y, rng.normal(size=y.size) + y)
    exact = pr.aucpr(ranking, estimator=estimator)
    widths = []
    for rows in (10, 100, 1000, 10_000):
        bounds = pr.tie_bounds(ranking.coarsen(rows), estimator=estimator)
        assert exact in bounds
        widths.append(bounds.width)
    # The width falls about as 1/rows.
    assert widths[0] > 5 * widths[1] > 25 * widths[2] > 100 * widths[3]


@pytest.mark.numerics
def test_tie_bounds_of_fractional_weights_hold_for_every_split():
    rng = np.random.default_rng(17)
    for _ in range(100):
        y, s, w = random_data(rng, weights="real")
        ranking = pr.rank(y, s, sample_weight=w)
        bounds = pr.tie_bounds(ranking)
        jitter = s + rng.uniform(-1e-4, 1e-4, len(s))
        assert pr.aucpr(pr.rank(y, jitter, sample_weight=w)) in bounds


def test_weights_that_add_up_to_whole_numbers_are_not_repetitions():
    """Two positives of weight one half: apart from each other they have less than tied."""
    ranking = pr.rank([1, 1, 0], [2, 2, 2], sample_weight=[0.5, 0.5, 1.0])
    assert ranking.divisible
    apart = pr.aucpr(pr.rank([1, 1, 0], [1, 2, 3], sample_weight=[0.5, 0.5, 1.0]))
    assert apart == pytest.approx(5 / 12)
    for found in (
        ranking,
        pr.Ranking.from_dict(ranking.to_dict()),
        pr.RankingSet.from_rankings([ranking])[0],
        pr.rank_groups([1, 1, 0], [2, 2, 2], [0, 0, 0], sample_weight=[0.5, 0.5, 1.0])[0],
        ranking.at_prevalence(ranking.prevalence),
    ):
        assert apart in pr.tie_bounds(found)
        assert pr.tie_bounds(found).low == pytest.approx(1 - np.log(2))
    whole = pr.rank([1, 1, 0], [2, 2, 2], sample_weight=[1.0, 2.0, 1.0])
    assert not whole.divisible
    assert pr.tie_bounds(whole).low == pytest.approx((1 / 2 + 2 / 3 + 3 / 4) / 3)


def test_tie_bounds_name_what_they_know():
    with pytest.raises(InputError, match="average_precision and davis_goadrich only"):
        pr.tie_bounds(pr.rank([1, 0], [2, 1]), estimator="binormal")
    with pytest.raises(InputError, match="Did you mean 'davis_goadrich'"):
        pr.tie_bounds(pr.rank([1, 0], [2, 1]), estimator="davis")


@pytest.mark.parametrize(("prevalence", "expected"), VECTORS["minimum_aucpr"].items())
def test_minimum_aucpr(prevalence, expected):
    assert pr.minimum_aucpr(float(prevalence)) == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.parametrize(
    "case", VECTORS["minimum_aucpr_recall_range"], ids=lambda c: f"{c['pi']}:{c['a']}-{c['b']}"
)
def test_minimum_aucpr_on_a_recall_range(case):
    a, b = float(case["a"]), float(case["b"])
    # b - a carries the rounding of b itself.
    slack = 4e-16 * (1 + b / (b - a))
    value = pr.minimum_aucpr(float(case["pi"]), recall=(a, b))
    assert value == pytest.approx(float(case["value"]), rel=slack)


def test_minimum_aucpr_limits_and_arrays():
    assert pr.minimum_aucpr(0.0) == 0.0
    assert pr.minimum_aucpr(1.0) == 1.0
    np.testing.assert_array_equal(pr.minimum_aucpr(np.array([0.0, 0.5, 1.0]))[[0, 2]], [0, 1])
    with pytest.raises(InputError, match="between 0 and 1"):
        pr.minimum_aucpr(1.5)


@pytest.mark.parametrize("case", VECTORS["segments"], ids=lambda c: f"{c['tp1']},{c['fp1']}")
def test_segments(case):
    counts = (float(case[k]) for k in ("tp1", "fp1", "tp2", "fp2"))
    assert float(segment_area(*counts)) == pytest.approx(float(case["integral_dTP"]), rel=3e-15)


def test_sums_keep_their_digits():
    rng = np.random.default_rng(18)
    for _ in range(400):
        tp, fp = 10.0 ** rng.uniform(-2, 9, 2) * (rng.random(2) < 0.8)
        count = float(np.rint(10.0 ** rng.uniform(0, 7)))
        start = mpmath.mpf(tp) + fp
        reciprocals = mpmath.digamma(start + count + 1) - mpmath.digamma(start + 1)
        assert float(reciprocal_sum(tp + fp, count)) == pytest.approx(float(reciprocals), rel=3e-15)
        exact = float(count - fp * reciprocals)
        assert float(precision_sum(tp, fp, count)) == pytest.approx(exact, rel=3e-15)


def test_minimum_average_precision():
    assert pr.minimum_average_precision(1, 1e9) == pytest.approx(1 / (1e9 + 1), rel=1e-15)
    for n, m in ((1, 1), (5, 15), (100, 3), (1000, 7)):
        exact = sum(i / (i + m) for i in range(1, n + 1)) / n
        assert pr.minimum_average_precision(n, m) == pytest.approx(exact, rel=1e-14)
        worst = pr.rank(np.repeat([0, 1], [m, n]), -np.arange(n + m))
        assert pr.aucpr(worst) == pytest.approx(exact, rel=1e-13)
    assert pr.minimum_average_precision(0, 5) == 0.0
    assert pr.minimum_average_precision(5, 0) == 1.0


@pytest.mark.parametrize(("key", "expected"), VECTORS["random_average_precision"].items())
def test_random_average_precision(key, expected):
    n, total = map(int, key.split(","))
    assert pr.random_average_precision(n, total - n) == pytest.approx(float(expected), rel=1e-13)


def test_a_random_order_of_one_class_has_the_value_by_convention():
    assert [pr.random_average_precision(n, 0) for n in (0, 1, 2)] == [0.0, 1.0, 1.0]
    assert pr.random_average_precision(0, 3) == 0.0


@pytest.mark.parametrize("estimator", COUNTED)
@pytest.mark.parametrize("recall", [(0.0, 1.0), (0.3, 0.8)])
def test_aucnpr_is_zero_on_the_worst_and_one_on_the_perfect_ranking(estimator, recall):
    for n, m in ((1, 4), (3, 2), (6, 30)):
        worst = pr.rank(np.repeat([0, 1], [m, n]), -np.arange(n + m))
        perfect = pr.rank(np.repeat([1, 0], [n, m]), -np.arange(n + m))
        assert pr.aucnpr(worst, estimator=estimator, recall=recall) == pytest.approx(0.0, abs=1e-12)
        assert pr.aucnpr(perfect, estimator=estimator, recall=recall) == pytest.approx(
            1.0, rel=1e-12
        )


@pytest.mark.parametrize(
    ("value", "expected"),
    [(pr.minimum_average_precision, 1 - np.log(2)), (pr.random_average_precision, 0.5)],
)
def test_sizes_of_classes_have_a_largest_one(value, expected):
    assert value(1e100, 1e100) == pytest.approx(expected, rel=1e-9)
    for sizes in ((1.1e100, 1.0), (1.0, 1.1e100), (-1.0, 1.0), (1.0, -1.0)):
        with pytest.raises(InputError, match=r"at most 1e\+100"):
            value(*sizes)


def test_aucnpr_of_extreme_sizes():
    ranking = pr.Ranking(
        threshold=np.array([1.0]),
        positives=np.array([1]),
        tied=np.array([0]),
        above=np.array([3]),
        below=10**9 - 3,
    )
    low, high = 1 / (1e9 + 1), 1.0
    assert pr.aucnpr(ranking) == pytest.approx((0.25 - low) / (high - low), rel=1e-14)
    rare = pr.rank([1, 0, 1, 0], [4, 3, 2, 1]).at_prevalence(1e-100)
    assert 0 <= pr.aucnpr(rare, estimator="davis_goadrich") <= 1


def test_partial_auroc_adds_up_and_matches_the_curve():
    rng = np.random.default_rng(19)
    for _ in range(100):
        y, s, w = random_data(rng, weights=("none", "real")[int(rng.integers(2))])
        ranking = pr.rank(y, s, sample_weight=w)
        parts = [
            pr.auroc(ranking, false_positive_rate=(a, b))
            for a, b in ((0, 0.2), (0.2, 0.65), (0.65, 1))
        ]
        assert sum(parts) == pytest.approx(pr.auroc(ranking), rel=1e-12, abs=1e-13)
        assert pr.auroc(ranking) == pytest.approx(
            naive.auroc(y.tolist(), s.tolist(), w), rel=1e-13, abs=1e-14
        )
        curve = pr.roc_curve(ranking)
        grid = np.union1d(np.linspace(0, 0.2, 7), curve.x[curve.x < 0.2])
        inner = np.trapezoid(np.interp(grid, curve.x, curve.y), grid)
        # np.interp takes one of several heights at a jump, so compare where there is none.
        if np.unique(curve.x).size == curve.x.size:
            assert parts[0] == pytest.approx(inner, rel=1e-12)


@pytest.mark.parametrize("weights", ["none", "real"])
def test_auprg_agrees_with_fractions(weights):
    rng = np.random.default_rng(20)
    for _ in range(200):
        y, s, w = random_data(rng, weights=weights)
        value = pr.auprg(pr.rank(y, s, sample_weight=w))
        assert value == pytest.approx(naive.auprg(y.tolist(), s.tolist(), w), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(
    ("y", "s", "expected"),
    [
        ([1, 1, 0, 0, 0], [5, 4, 3, 2, 1], 1.0),  # perfect
        ([1, 0, 1, 0], [1, 1, 1, 1], 0.0),  # all tied
        ([1, 0, 0], [3, 2, 1], 1.0),  # a single positive, first
    ],
)
def test_auprg_where_it_is_known(y, s, expected):
    assert pr.auprg(pr.rank(y, s)) == pytest.approx(expected, abs=1e-15)


def test_change_of_prevalence_is_carried_through():
    rng = np.random.default_rng(21)
    y = rng.random(400) < 0.3
    s = np.round(rng.normal(size=400) + y, 1)
    ranking = pr.rank(y, s)
    tripled = pr.rank(np.append(y, np.tile(y[~y], 2)), np.append(s, np.tile(s[~y], 2)))
    moved = ranking.at_prevalence(tripled.prevalence)
    for estimator in COUNTED:
        assert pr.aucpr(moved, estimator=estimator) == pytest.approx(
            pr.aucpr(tripled, estimator=estimator), rel=1e-12
        )
    assert pr.auprg(moved) == pytest.approx(pr.auprg(tripled), rel=1e-12)
    assert pr.aucnpr(moved) == pytest.approx(pr.aucnpr(tripled), rel=1e-12)
    assert pr.auroc(moved) == pytest.approx(pr.auroc(ranking), rel=1e-14)
    # The binormal distribution of the negatives is estimated from as many rows as there are.
    assert pr.aucpr(moved, estimator="binormal") == pytest.approx(
        pr.aucpr(tripled, estimator="binormal"), rel=1e-2
    )


def test_estimators_are_described():
    assert len(pr.ESTIMATORS) == 10
    for estimator in pr.ESTIMATORS.values():
        assert estimator.summary
        assert estimator.source
        assert estimator.bias


def test_the_binormal_area_needs_different_scores_in_each_class():
    for y, s in (([1, 1, 0, 0], [2.0, 2.0, 1.0, 0.0]), ([1, 1, 0, 0], [2.0, 3.0, 1.0, 1.0])):
        with pytest.raises(UndefinedMetricError, match="two different scores"):
            pr.aucpr(pr.rank(y, s), estimator="binormal")


@pytest.mark.parametrize("poolings", [1, 64])
def test_the_hull_of_a_path_has_falling_slopes_and_no_point_above_it(poolings, monkeypatch):
    monkeypatch.setattr(_kernels, "_MOST_POOLINGS", poolings)  # SciPy does what is left
    rng = np.random.default_rng(4)
    for size in (1, 2, 30, 500):
        tp = np.append(0.0, np.cumsum(rng.integers(0, 3, size)))
        fp = np.append(0.0, np.cumsum(rng.integers(0, 4, size)))
        tp[-1] += 1
        vertex = _kernels.roc_hull(tp, fp)
        assert (vertex[0], tp[vertex[-1]], fp[vertex[-1]]) == (0, tp[-1], fp[-1])
        found, wrong = np.diff(tp[vertex]), np.diff(fp[vertex])
        assert np.all(found[:-1] * wrong[1:] >= found[1:] * wrong[:-1])
        # Every point of the path is on the line of its step of the hull, or below it.
        step = np.searchsorted(vertex, np.arange(1, tp.size)) - 1
        start = vertex[step]
        over = (tp[1:] - tp[start]) * wrong[step] - (fp[1:] - fp[start]) * found[step]
        assert over.max() <= 0
