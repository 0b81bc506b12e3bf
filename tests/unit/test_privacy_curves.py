"""Private curves: edges that are public or paid for, and what follows from noisy histograms."""

import math
import pickle
import warnings

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError, ReliabilityWarning
from precall.privacy import curve_release, reconstruction
from precall.privacy.edges import _joined, _tree
from precall.privacy.mechanisms import SeededNoise
from precall.privacy.private_curve import PrivateCurve, _ranking, _reflected

pytestmark = pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")


def sample(n_pos=2000, n_neg=18_000, seed=0):
    generator = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, np.where(y, generator.beta(5, 2, y.size), generator.beta(2, 5, y.size))


def budget(epsilon=1e9):
    return privacy.Budget(epsilon=epsilon)


def release(y, score, epsilon=1e6, kind="pr", **options):
    function = privacy.pr_curve if kind == "pr" else privacy.roc_curve
    return function(y, score, epsilon=epsilon, budget=budget(), rng=0, **options)


def test_without_noise_only_the_binning_is_left():
    y, score = sample()
    ranking = pr.rank(y, score)
    curve = release(y, score, edges=np.linspace(0, 1, 41))
    at = pr.pr_curve(ranking)
    grid = np.linspace(0.05, 0.95, 19)
    np.testing.assert_allclose(curve.at(grid), at.at(grid), atol=0.02)
    for estimator in pr.ESTIMATORS:
        if estimator == "binormal":
            with pytest.raises(InputError, match="raw scores"):
                curve.area(estimator=estimator)
        else:
            exact = pr.aucpr(ranking, estimator=estimator)
            assert curve.area(estimator=estimator) == pytest.approx(exact, abs=0.01)
    assert curve.to("roc").area() == pytest.approx(pr.auroc(ranking), abs=0.003)
    assert (
        release(y, score, kind="roc", edges=np.linspace(0, 1, 41)).area() == curve.to("roc").area()
    )


def test_counts_fall_between_the_right_edges():
    """Bins hold their lower edge; what lies beyond the ends counts in the end bins."""
    score = np.array([-5.0, 0.0, 0.1, 0.2, 0.2, 0.9, 7.0, math.inf])
    y = np.array([1, 0, 0, 1, 0, 1, 1, 0])
    curve = release(y, score, edges=[0.0, 0.2, 0.5, 1.0])
    np.testing.assert_array_equal(curve.noisy_positives, [2, 1, 1])
    np.testing.assert_array_equal(curve.noisy_negatives, [1, 1, 2])


def test_points_of_the_curve_agree_with_one_another():
    curve = release(*sample(), epsilon=1.0)
    np.testing.assert_allclose(curve.recall[[0, -1]], [0, 1])
    np.testing.assert_allclose(curve.false_positive_rate[[0, -1]], [0, 1])
    assert (np.diff(curve.tp) >= 0).all()
    assert (np.diff(curve.fp) >= 0).all()
    assert (np.diff(curve.threshold) <= 0).all()
    assert curve.threshold[0] == 1.0
    assert curve.threshold[-1] == 0.0
    middle = curve.recall.size // 2
    assert curve.at(curve.recall[middle]) == pytest.approx(curve.precision[middle], rel=1e-6)
    assert curve.tp[-1] + curve.fp[-1] == pytest.approx(curve.n_rows)
    assert curve.prevalence == pytest.approx(curve.tp[-1] / curve.n_rows)
    plain = curve.to_dict()
    assert plain["area"] == curve.area()
    assert len(plain["recall"]) == len(plain["precision"]) == len(plain["threshold"])
    with pytest.raises(InputError, match="between 0 and 1"):
        curve.at(1.5)
    with pytest.raises(InputError, match="one area"):
        curve.to("roc").area(estimator="average_precision")


def test_infinite_ends_have_finite_thresholds():
    curve = release(*sample(), edges=[-math.inf, 0.2, 0.5, 0.8, math.inf])
    assert np.isfinite(curve.threshold).all()


@pytest.mark.parametrize("edges", ["quantile", "auto", 10, 0.5, b"x"])
def test_edges_from_the_data_are_refused_with_the_reason(edges):
    ours = budget(1.0)
    with pytest.raises(InputError, match="without paying for it"):
        privacy.pr_curve(*sample(), edges=edges, epsilon=1.0, budget=ours)
    assert ours.spent.epsilon == 0.0


@pytest.mark.parametrize("edges", [[0, 1], [0, 0.5, 0.5, 1], [1, 0.5, 0], [0, math.nan, 1]])
def test_edges_must_increase(edges):
    with pytest.raises(InputError, match="increasing"):
        privacy.pr_curve(*sample(), edges=edges, epsilon=1.0, budget=budget())


def test_the_budget_is_asked_first_and_bad_rows_cost_nothing():
    ours = budget(1.0)
    with pytest.raises(privacy.BudgetError):
        privacy.roc_curve(["not", "rows"], None, epsilon=2.0, budget=ours)
    with pytest.raises(InputError, match="Which rows break this is not said"):
        privacy.pr_curve([0, 1], [0.5, math.nan], epsilon=1.0, budget=ours)
    with pytest.raises(InputError, match="Which rows break this is not said"):
        privacy.private_edges([math.nan], low=0, high=1, n_bins=4, epsilon=1.0, budget=ours)
    assert ours.spent.epsilon == 0.0
    privacy.pr_curve(*sample(), epsilon=1.0, budget=ours)
    assert ours.remaining.epsilon == 0.0


def test_other_labels_need_pos_label():
    y, score = sample()
    names = np.where(y == 1, "bad", "good")
    curve = release(names, score, pos_label="bad")
    np.testing.assert_array_equal(curve.noisy_positives, release(y, score).noisy_positives)


def test_a_curve_is_a_function_of_its_noisy_counts(monkeypatch):
    """Two data sets, noise chosen so that both release the same: the results are the same bytes."""

    class Fixed:
        seeded = False

        def __init__(self, draws):
            self.draws = draws

        def add_laplace(self, values, scale):
            assert scale == pytest.approx(2 / 0.5)
            return values if self.draws is None else values + self.draws

    def run(rows, draws=None):
        monkeypatch.setattr(curve_release, "noise_source", lambda *_, **__: Fixed(draws))
        return privacy.pr_curve(*rows, epsilon=0.5, budget=budget())

    data = sample(400, 1600, seed=1), sample(430, 1570, seed=2)
    first, second = run(data[0]), run(data[1])
    counts = [np.concatenate([c.noisy_positives, c.noisy_negatives]) for c in (first, second)]
    assert (counts[0] != counts[1]).any()
    third = run(data[1], counts[0] - counts[1])
    assert pickle.dumps(third) == pickle.dumps(first)
    assert repr(third) == repr(first)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(0, 1), (1, 0), (0, 500), (500, 0), (1, 1)])
def test_one_class_or_one_row_gives_a_curve_and_a_warning(n_pos, n_neg):
    y = np.repeat([1, 0], [n_pos, n_neg])
    score = np.linspace(0, 1, y.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReliabilityWarning)
        for seed in range(5):
            curve = privacy.pr_curve(y, score, epsilon=1.0, budget=budget(), rng=seed)
            assert 0 <= curve.area() <= 1
            assert 0 <= curve.to("roc").area() <= 1
            assert np.isfinite(curve.precision).all()
            assert np.isfinite(curve.band(n_resamples=5, rng=0).width).all()


def test_what_the_release_shows_to_be_useless_is_said():
    with pytest.warns(ReliabilityWarning, match="too few for a curve"):
        release(*sample(2, 2000), epsilon=1.0)
    y, score = sample()
    with pytest.warns(ReliabilityWarning, match="edges do not fit"):
        release(y, score * 1e-7, epsilon=1.0)


def test_number_of_bins_and_public_edges():
    assert privacy.bin_count(1, epsilon=1.0) == 4
    assert privacy.bin_count(10**12, epsilon=10.0) == 256
    assert privacy.bin_count(20_000, epsilon=1.0) == round(20_000**0.3)
    for bins in (2, 4, 13, 256):
        edges = privacy.probability_edges(bins)
        assert edges.size == bins + 1
        assert (np.diff(edges) > 0).all()
        np.testing.assert_allclose(edges + edges[::-1], 1.0, atol=1e-9)
    widths = np.diff(privacy.probability_edges(64))
    assert (np.diff(widths[1:32]) > 0).all()  # finer towards the ends, but for the last bin
    with pytest.raises(InputError, match="n_bins"):
        privacy.probability_edges(1)


@pytest.mark.parametrize(("scale", "centre"), [(1.0, 0.0), (1e-6, 3.0), (1e4, -5e5)])
def test_private_edges_find_scores_of_any_scale(scale, centre):
    y, score = sample()
    ours = budget(2.0)
    edges = privacy.private_edges(
        score * scale + centre, low=-1e6, high=1e6, n_bins=16, epsilon=1.0, budget=ours, rng=0
    )
    assert ours.spent.epsilon == 1.0
    assert edges[0] == -1e6
    assert edges[-1] == 1e6
    assert 10 <= edges.size <= 17
    curve = privacy.pr_curve(
        y, score * scale + centre, edges=edges, epsilon=1.0, budget=ours, rng=0
    )
    assert curve.area() == pytest.approx(pr.aucpr(pr.rank(y, score)), abs=0.05)


def test_private_edges_are_made_of_halves_of_the_public_interval():
    """Edges depend on the scores through which intervals were halved, and on nothing finer."""
    score = np.random.default_rng(1).random(5000)
    edges = privacy.private_edges(
        score, low=0, high=1, n_bins=8, epsilon=1.0, budget=budget(), rng=0
    )
    np.testing.assert_array_equal(edges * 2**20, np.round(edges * 2**20))


def test_the_tree_costs_what_it_claims():
    """Exact probabilities of all shapes of a small tree, on every pair of neighbours."""
    for epsilon in (0.3, 1.0, 3.0):
        scale = 4 / epsilon
        decay, ratio = math.ceil(scale * math.log(2)), math.exp(-1 / scale)

        def splits(count, depth, wanted, decay=decay, ratio=ratio):
            need = wanted - max(count - depth * decay, wanted - decay)
            return (
                ratio ** (need + 1) / (1 + ratio)
                if need >= -1
                else 1 - ratio ** (-need) / (1 + ratio)
            )

        def shapes(counts, depth, wanted, splits=splits):
            """Log-probability of each shape over equal leaves with these counts."""
            total = sum(counts)
            chance = splits(total, depth, wanted)
            if len(counts) == 1:
                return {"": 0.0}
            half = len(counts) // 2
            left = shapes(counts[:half], depth + 1, wanted)
            right = shapes(counts[half:], depth + 1, wanted)
            both = {
                f"({a},{b})": math.log(chance) + left[a] + right[b] for a in left for b in right
            }
            return both | {".": math.log(1 - chance)}

        worst = 0.0
        wanted = 3
        for rest in ([0, 0, 0, 0], [4, 0, 0, 0], [9, 1, 0, 2], [30, 0, 0, 0], [12, 12, 12, 12]):
            for out, into in ((0, 3), (3, 0), (0, 1), (1, 2)):
                ours, theirs = list(rest), list(rest)
                ours[out] += 1
                theirs[into] += 1
                one, two = shapes(ours, 0, wanted), shapes(theirs, 0, wanted)
                assert sum(map(math.exp, one.values())) == pytest.approx(1)
                worst = max(worst, max(abs(one[shape] - two[shape]) for shape in one))
        assert worst <= epsilon


def test_the_tree_draws_noise_of_that_scale():
    scales = []

    class Watched(SeededNoise):
        def add_laplace(self, values, scale):
            scales.append(scale)
            return super().add_laplace(values, scale)

    noise = Watched(np.random.default_rng(0))
    _tree(np.linspace(0, 1, 500), 0.0, 1.0, wanted=50, epsilon=0.5, noise=noise)
    assert len(scales) > 2
    assert set(scales) == {8.0}


def test_the_tree_stops_where_no_double_lies_between():
    ordered = np.full(10_000, 1.0)
    noise = SeededNoise(np.random.default_rng(0))
    cuts = _tree(ordered, 1.0, math.nextafter(1.0, 2.0), wanted=10, epsilon=1.0, noise=noise)
    np.testing.assert_array_equal(cuts, [1.0, math.nextafter(1.0, 2.0)])


class Quiet:
    """No noise at all."""

    seeded = False

    def add_laplace(self, values, scale):
        return values


def test_the_tree_halves_what_is_crowded_and_stops_at_sixty_halvings():
    """All rows at 0: the interval that begins there is halved again and again, no other is."""
    cuts = _tree(np.zeros(10_000), 0.0, 1.0, wanted=10, epsilon=100.0, noise=Quiet())
    np.testing.assert_array_equal(cuts, [0.0, *(2.0**-k for k in range(60, 0, -1)), 1.0])


def test_the_tree_halves_intervals_with_more_rows_than_wanted():
    """Two thirds on the left. Each level takes a decay of 1 off the counts, down to wanted - 1."""
    ordered = np.repeat([0.1, 0.3, 0.9], [40, 40, 40])
    for wanted, expected in (
        (120, [0, 1]),
        (119, [0, 0.5, 1]),
        (79, [0, 0.5, 1]),
        (78, [0, 0.25, 0.5, 1]),
        (39, [0, 0.25, 0.5, 1]),
    ):
        cuts = _tree(ordered, 0.0, 1.0, wanted=wanted, epsilon=100.0, noise=Quiet())
        np.testing.assert_array_equal(cuts, expected)


@pytest.mark.parametrize(("wanted", "expected"), [(72, [0, 0.25, 0.5, 1]), (73, [0, 0.5, 1])])
def test_each_level_of_the_tree_takes_the_smallest_whole_decay_that_is_enough(wanted, expected):
    """Noise of scale 10 asks for 10 ln 2, so 7: of 80 rows at the first level 73 count."""
    ordered = np.repeat([0.1, 0.3, 0.9], [40, 40, 40])
    cuts = _tree(ordered, 0.0, 1.0, wanted=wanted, epsilon=0.4, noise=Quiet())
    np.testing.assert_array_equal(cuts, expected)


def test_private_edges_of_few_rows_are_edges_all_the_same():
    for seed in range(20):
        edges = privacy.private_edges(
            [0.5], low=0, high=1, n_bins=4, epsilon=0.1, budget=budget(), rng=seed
        )
        assert edges.size >= 3
        assert (np.diff(edges) > 0).all()


def test_private_edges_make_as_few_as_two_bins():
    score = np.linspace(0, 1, 5000)
    edges = privacy.private_edges(
        score, low=0, high=1, n_bins=2, epsilon=1.0, budget=budget(), rng=0
    )
    assert edges.size == 3


@pytest.mark.parametrize(
    "bad",
    [
        {"low": 1, "high": 0},
        {"low": 1, "high": 1},
        {"low": -math.inf},
        {"high": math.inf},
        {"n_bins": 1},
        {"epsilon": 1e-16},
    ],
)
def test_private_edges_refuse_wrong_limits(bad):
    arguments = {"low": 0, "high": 1, "n_bins": 4, "epsilon": 1.0, "budget": budget()} | bad
    with pytest.raises(InputError):
        privacy.private_edges([0.5], **arguments)


def test_reconstruction_keeps_a_true_dent_and_smooths_a_false_one():
    dent = np.array([0.0, 900.0, 100.0, 0.0]), np.array([800.0, 100.0, 2000.0, 7000.0])
    n_rows = 10_900
    tp, fp = reconstruction.cumulated_counts(*dent, n_rows=n_rows, variance=8.0)
    np.testing.assert_allclose(np.diff(tp), dent[0])
    np.testing.assert_allclose(np.diff(fp), dent[1])
    wiggle = np.array([100.0, 60.0, 20.0, 20.0]), np.array([103.0, 60.0, 300.0, 337.0])
    tp, fp = reconstruction.cumulated_counts(*wiggle, n_rows=1000, variance=8.0)
    share = np.diff(tp) / (np.diff(tp) + np.diff(fp))
    assert (np.diff(share) <= 1e-12).all()


def test_reconstruction_uses_the_public_total_and_never_falls():
    generator = np.random.default_rng(0)
    for _ in range(200):
        bins = int(generator.integers(2, 20))
        noisy = generator.integers(-20, 40, (2, bins)).astype(float)
        n_rows = int(generator.integers(1, 500))
        tp, fp = reconstruction.cumulated_counts(*noisy, n_rows=n_rows, variance=50.0)
        assert tp[-1] + fp[-1] == pytest.approx(n_rows)
        assert tp[0] == fp[0] == 0
        for counts in (tp, fp):
            assert (np.diff(counts) >= -1e-9).all()
        smooth = reconstruction.path(tp, fp)
        assert (np.diff(smooth) >= 0).all()


def test_error_bars_say_what_they_are():
    curve = release(*sample(), epsilon=1.0)
    band = curve.band(n_resamples=40, rng=0)
    assert band.method == "noise only, without binning error"
    assert not band.simultaneous
    assert (band.low <= band.high).all()
    interval = curve.area_interval(of="noise", n_resamples=40, rng=0)
    assert interval.method == band.method
    assert interval.low < curve.area() + 0.05
    assert 0 < interval.width < 0.2
    assert curve.to("roc").band(n_resamples=5, rng=0).kind == "roc"


def test_a_dent_is_smoothed_up_to_half_the_variance_per_count():
    """Shares 1/4 and 3/4 become 1/2 each, which moves four counts by one: twice that is enough."""
    counts = np.array([1.0, 3.0]), np.array([3.0, 1.0])
    tp, fp = reconstruction.cumulated_counts(*counts, n_rows=8, variance=2.0)
    np.testing.assert_allclose([tp, fp], [[0, 2, 4], [0, 2, 4]])
    tp, fp = reconstruction.cumulated_counts(*counts, n_rows=8, variance=2.0 - 1e-9)
    np.testing.assert_allclose([tp, fp], [[0, 1, 4], [0, 3, 4]])


def test_each_class_keeps_a_row_whatever_the_noise():
    much, little = np.array([900.0, 5.0]), np.array([-800.0, -3.0])
    for positives, negatives in ((much, little), (little, much)):
        tp, fp = reconstruction.cumulated_counts(positives, negatives, n_rows=50, variance=1e4)
        assert sorted([tp[-1], fp[-1]]) == [1, 49]
        assert (tp[-1] > fp[-1]) == (positives is much)
    tp, fp = reconstruction.cumulated_counts(much, little, n_rows=1, variance=1e4)
    assert (tp[-1], fp[-1]) == (0.5, 0.5)


def test_noise_is_shared_out_evenly_and_counts_below_zero_are_levelled():
    """Noise added 6 to the rows in all: 3 are taken off each class, 1 off each of its bins."""
    tp, fp = reconstruction.cumulated_counts(
        np.array([22.0, 12.0, 2.0]), np.array([1.0, 11.0, 18.0]), n_rows=60, variance=0.0
    )
    np.testing.assert_allclose(np.diff(tp), [21, 11, 1])
    np.testing.assert_allclose(np.diff(fp), [0, 10, 17], atol=1e-12)
    # Sums of 5 and 3 before the last bin, both of the same weight: both become 4.
    np.testing.assert_allclose(reconstruction._monotone(np.array([5.0, -2, 7]), 10.0), [4, 0, 6])


def test_the_path_goes_through_the_edges_without_a_turn():
    tp, fp = np.array([0.0, 30.0, 45.0, 50.0]), np.array([0.0, 5.0, 60.0, 450.0])
    ours, theirs = reconstruction.path(tp, fp)
    assert ours.size == theirs.size == 3 * 16 + 1
    np.testing.assert_allclose(ours[::16], tp)
    np.testing.assert_allclose(theirs[::16], fp)


def made(noisy_positives, noisy_negatives, edges, n_rows, **options):
    settings = {"kind": "pr", "epsilon": 1.0, "delta": 0.0, "mechanism": "laplace", "scale": 1e-3}
    return PrivateCurve(
        **settings | options,
        edges=np.array(edges),
        noisy_positives=np.array(noisy_positives),
        noisy_negatives=np.array(noisy_negatives),
        n_rows=n_rows,
    )


def test_precision_is_found_over_selected_however_few_rows_there_are():
    """Also where less than one row is selected; before the first row it is that of the first."""
    curve = made([0, 2, 1], [0, 1, 2], [0.0, 0.2, 0.5, 1.0], 6)
    rows = curve.tp + curve.fp
    selected = rows > 0
    assert 0 < rows[selected].min() < 1
    expected = curve.tp[selected] / rows[selected]
    np.testing.assert_allclose(curve.precision[selected], expected)
    np.testing.assert_array_equal(curve.precision[~selected], expected[0])
    assert np.count_nonzero(~selected) > 1


def test_heights_are_defined_from_end_to_end():
    curve = made([40, 10], [10, 140], [0.0, 0.5, 1.0], 200)
    assert curve.at(1.0) == pytest.approx(0.25)
    assert curve.at(0.0) == pytest.approx(curve.precision[1], rel=0.05)
    assert curve.at(0.8) == pytest.approx(0.8)
    roc = curve.to("roc")
    assert (roc.at(0.0), roc.at(1.0)) == (0.0, 1.0)
    assert roc.at(10 / 150) == pytest.approx(0.8)
    for outside in (-1e-9, 1 + 1e-9, [0.5, 2.0], math.nan):
        with pytest.raises(InputError, match="between 0 and 1"):
            curve.at(outside)


@pytest.mark.parametrize(("scale", "smoothed"), [(0.5, False), (1.0, True), (2.0, True)])
def test_a_curve_is_smoothed_as_far_as_its_own_noise_explains(scale, smoothed):
    """Laplace noise has the variance 2 scale^2; four counts that move by 1 need a variance of 2."""
    curve = made([1, 3], [3, 1], [0.0, 0.5, 1.0], 8, scale=scale)
    np.testing.assert_allclose(curve.corners[0], [0, 2, 4] if smoothed else [0, 1, 4])


@pytest.mark.parametrize(("crowd", "said"), [(75, False), (76, True)])
def test_edges_that_more_than_three_quarters_of_the_rows_lie_between_are_named(crowd, said):
    rest = 100_000 - 1000 * crowd
    curve = made([900 * crowd, 100], [100 * crowd, rest - 100], [0.0, 0.5, 1.0], 100_000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve_release.warn_of(curve, stacklevel=2)
    assert ["edges do not fit" in str(warning.message) for warning in caught] == [True] * said
    if said:
        assert f"about {crowd} % of the rows" in str(caught[0].message)


@pytest.mark.parametrize(("epsilon", "said"), [(1.0, False), (0.9, True)])
def test_too_few_rows_of_a_class_are_named_by_what_epsilon_makes_of_them(epsilon, said):
    few = math.ceil(curve_release._USABLE)
    for counts in (([few, 0], [200, 300]), ([200, 300], [few, 0])):
        curve = made(*counts, [0.0, 0.5, 1.0], 500 + few, epsilon=epsilon)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            curve_release.warn_of(curve, stacklevel=2)
        assert ["too few for a curve" in str(warning.message) for warning in caught] == (
            [True] * said
        )


def test_thresholds_are_linear_between_the_edges():
    curve = made([40, 10], [10, 140], [0.0, 0.5, 1.0], 200)
    np.testing.assert_allclose(curve.threshold, np.linspace(1, 0, 33))
    open_ended = made([40, 10, 1], [10, 140, 1], [-math.inf, 0.25, 0.5, math.inf], 202)
    np.testing.assert_allclose(open_ended.threshold[::16], [0.5, 0.5, 0.25, 0.25])


def test_the_ranking_of_a_path_keeps_every_row():
    """Negatives between the positives, and those of bins without positives below them all."""
    tp, fp = np.array([0.0, 30.0, 50.0, 50.0]), np.array([0.0, 5.0, 60.0, 450.0])
    ranking = _ranking(tp, fp)
    assert (ranking.n_pos, ranking.n_neg) == (pytest.approx(50), pytest.approx(450))
    assert len(ranking) == 50
    # Along a straight line from (0, 0) to (30, 5), the first of 50 steps takes 1 and 1/6.
    assert (ranking.positives[0], ranking.above[0]) == (pytest.approx(1), pytest.approx(1 / 6))
    assert ranking.below == pytest.approx(390)
    assert made([30, 20, 0], [5, 55, 390], np.arange(4.0), 500).at(1.0) == pytest.approx(50 / 110)
    assert len(_ranking(tp[:3], fp[:3])) == 50
    assert len(_ranking(1e4 * tp, fp)) == 4096
    assert len(_ranking(0.01 * tp, fp)) == 1


def test_what_noise_did_is_taken_off_and_limits_stay_between_0_and_1():
    again = np.linspace(0.4, 0.8, 101)
    # The middle nine tenths go from 0.42 to 0.78; reflected at 0.5 they are 0.22 to 0.58.
    np.testing.assert_allclose(_reflected(0.5, again, 0.9), (0.22, 0.58))
    assert _reflected(1.0, np.full(9, 0.75), 0.9) == (1.0, 1.0)
    assert _reflected(0.0, np.full(9, 0.25), 0.9) == (0.0, 0.0)


def test_joined_leaves_are_the_nearest_to_the_wanted_shares():
    """By looking for each wanted share among all cuts, from the top."""
    cuts = np.arange(41.0)
    noisy = np.random.default_rng(5).integers(0, 50, 40)
    n_bins = 6
    above = np.cumsum(noisy[::-1])
    share = np.geomspace(1 / (n_bins * 16), 1.0, 1000)
    mixed = (share + np.linspace(0.0, 1.0, 1000)) / 2
    wanted = [np.interp(k / n_bins, mixed, share) * above[-1] for k in range(1, n_bins)]
    expected = {0.0, 40.0} | {39.0 - np.argmin(np.abs(above - goal)) for goal in wanted}
    np.testing.assert_array_equal(_joined(cuts, noisy, n_bins), sorted(expected))
    # As many leaves as bins, or no rows at all: nothing to join.
    np.testing.assert_array_equal(_joined(cuts[:7], noisy[:6], n_bins), cuts[:7])
    np.testing.assert_array_equal(_joined(cuts, -noisy, n_bins), cuts)


def test_probability_edges_are_quantiles_of_the_mixture():
    """Half uniform, half uniform on the logit scale from 0.0001 to 0.9999, by bisection."""

    def share(place):
        low, high = math.log(1e-4 / 0.9999), math.log(0.9999 / 1e-4)
        logit = math.log(place / (1 - place))
        return 0.5 * place + 0.5 * min(max((logit - low) / (high - low), 0.0), 1.0)

    for bins in (2, 5, 24):
        edges = privacy.probability_edges(bins)
        assert (edges[0], edges[-1]) == (0.0, 1.0)
        for k, edge in enumerate(edges[1:-1], start=1):
            assert share(edge) == pytest.approx(k / bins, abs=1e-6)
