"""Statistical claims of the private releases: epsilon, coverage, and the error that was promised.

Every claim is a test with an error rate of its own, below one in a thousand, on seeded noise.
"""

import math

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall import privacy
from precall.privacy import rescaled, sensitivity
from precall.privacy.mechanisms import SeededNoise
from precall.simulate import Bibeta
from studies._smooth_sensitivity import CALIBRATIONS, local_sensitivity, releases

pytestmark = [
    pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

RELEASES = {"average_precision": privacy.average_precision, "auroc": privacy.auroc}
# With so many runs at this level a mechanism that spends 1.5 and claims 1 on the pair at hand is
# found out with a probability of at least 0.99: test_measurements_have_the_power_that_they_need.
SAMPLES = 6000
LEVEL = 0.9999
CLAIMED, SPENT = 1.0, 1.5


def budget(epsilon=1e6, delta=0.5):
    return privacy.Budget(epsilon=epsilon, delta=delta)


def neighbours(n_pos=6, n_neg=30):
    """Rows that move the metrics most: all positives on top, and one of them turned round."""
    y = np.repeat([1, 0], [n_pos, n_neg])
    score = np.arange(y.size)[::-1].astype(float)
    turned, moved = y.copy(), score.copy()
    turned[0] = 0
    moved[0] = -1.0
    return (y, score), {"label": (turned, score), "place": (y, moved)}


@pytest.mark.slow
def test_measurements_have_the_power_that_they_need():
    generator = np.random.default_rng(13)
    found, trials = 0, 300
    for _ in range(trials):
        measured = privacy.measure_epsilon(
            lambda x: x + generator.laplace(scale=1 / SPENT),
            0.0,
            1.0,
            epsilon=CLAIMED,
            n_samples=SAMPLES,
            confidence_level=LEVEL,
        )
        found += not measured.passed
    # At a power below 0.99 so many would be found once in a thousand runs at most.
    assert stats.binomtest(found, trials, 0.99, alternative="less").pvalue > 1e-3
    assert found >= 0.98 * trials


def test_measured_bounds_come_near_what_is_spent():
    """Half-lines that are half as likely are chosen, and not a lucky cell of a few outputs."""
    generator = np.random.default_rng(14)
    bounds = [
        privacy.measure_epsilon(
            lambda x: x + generator.laplace(scale=0.5), 0.0, 1.0, epsilon=2.0, n_samples=2000
        ).epsilon
        for _ in range(41)
    ]
    assert np.median(bounds) > 1.5
    assert np.min(bounds) > 1.2
    assert np.max(bounds) <= 2.0


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("mechanism", ["rescaled", "curve", *CALIBRATIONS])
@pytest.mark.parametrize("change", ["label", "place"])
def test_every_mechanism_keeps_its_claim(name, mechanism, change):
    """What the package releases, and what the studies compare it with."""
    data, others = neighbours()
    generator = np.random.default_rng(0)

    def mechanism_under_test(rows):
        return released(name, mechanism, rows, generator, delta=1e-3)

    found = privacy.measure_epsilon(
        mechanism_under_test,
        data,
        others[change],
        epsilon=1.0,
        delta=1e-3 if mechanism.endswith("laplace") else 0.0,
        n_samples=SAMPLES,
        confidence_level=LEVEL,
    )
    assert found.passed, found


def released(name, mechanism, rows, generator, *, delta=0.0):
    """One value of a metric, with noise from a seed."""
    if mechanism not in CALIBRATIONS:
        options = {"epsilon": 1.0, "budget": budget(), "rng": generator}
        if mechanism == "curve":  # without the standard deviation, which takes time and no row
            curve = {"average_precision": privacy.pr_curve, "auroc": privacy.roc_curve}[name]
            return curve(*rows, **options).area()
        return RELEASES[name](*rows, mechanism=mechanism, **options).value
    ranking = pr.rank(*rows)
    (value,) = releases(
        {"average_precision": pr.aucpr, "auroc": pr.auroc}[name](ranking),
        local=local_sensitivity(name, mechanism, rows[0].size),
        mechanism=mechanism,
        n_pos=int(ranking.n_pos),
        n_rows=rows[0].size,
        epsilon=1.0,
        delta=delta,
        times=1,
        noise=SeededNoise(generator),
    )
    return value


class Silent:
    """No noise at all."""

    def add_laplace(self, values, scale):
        return values


@pytest.mark.slow
@pytest.mark.parametrize("spent", [CLAIMED, SPENT])
@pytest.mark.parametrize("change", ["label", "place"])
@pytest.mark.parametrize("form", [rescaled.AveragePrecision(), rescaled.Auroc()])
def test_both_noisy_numbers_together_keep_their_claim(form, change, spent):
    """By their likelihood ratio, the best statistic there is to tell two data sets apart."""
    data, others = neighbours()
    pair = pr.rank(*data), pr.rank(*others[change])
    ours, theirs = (form.release(ranking, epsilon=spent, noise=Silent()) for ranking in pair)
    noise = SeededNoise(np.random.default_rng(1))

    def likelihood_ratio(ranking):
        return sum(
            (abs(noisy.value - b.value) - abs(noisy.value - a.value)) / noisy.scale
            for noisy, a, b in zip(
                form.release(ranking, epsilon=spent, noise=noise), ours, theirs, strict=True
            )
        )

    largest = sum(abs(a.value - b.value) / a.scale for a, b in zip(ours, theirs, strict=True))
    assert largest <= spent
    found = privacy.measure_epsilon(
        likelihood_ratio, *pair, epsilon=CLAIMED, n_samples=SAMPLES, confidence_level=LEVEL
    )
    assert found.epsilon <= largest, found
    if largest > 0.95 * spent:  # this pair shows all that is spent: too much of it is found
        assert found.passed == (spent == CLAIMED), found


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*privacy.CONFUSION_MECHANISMS, "curve", "edges"])
def test_counts_curves_and_edges_keep_their_claim(kind):
    data, others = neighbours()
    generator = np.random.default_rng(2)

    def run(rows):
        if kind == "curve":
            curve = privacy.pr_curve(
                *rows, edges=[0, 20, 31, 40], epsilon=1.0, budget=budget(), rng=generator
            )
            return curve.noisy_positives[0] - curve.noisy_negatives[0] - curve.noisy_positives[-1]
        if kind == "edges":
            return privacy.private_edges(
                rows[1], low=-2, high=40, n_bins=4, epsilon=1.0, budget=budget(), rng=generator
            ).size
        matrix = privacy.confusion(
            *rows, threshold=32.0, epsilon=1.0, budget=budget(), mechanism=kind, rng=generator
        )
        return matrix.noisy[0].value - matrix.noisy[1].value

    for other in others.values():
        found = privacy.measure_epsilon(
            run, data, other, epsilon=1.0, n_samples=SAMPLES, confidence_level=LEVEL
        )
        assert found.passed, found


@pytest.mark.slow
@pytest.mark.parametrize("change", ["label", "place"])
def test_thresholds_keep_their_claim(change):
    """Rows of which one decides whether a threshold is found."""
    y, score = np.ones(40, dtype=int), np.full(40, 0.8)
    turned, moved = y.copy(), score.copy()
    turned[0], moved[0] = 0, 0.1
    other = {"label": (turned, score), "place": (y, moved)}[change]
    generator = np.random.default_rng(5)

    def run(rows):
        point = privacy.operating_point(
            *rows,
            min_precision=0.5,
            confidence_level=0.5,
            edges=[0, 0.5, 1],
            epsilon=1.0,
            budget=budget(),
            rng=generator,
        )
        return float(point.certified)

    found = privacy.measure_epsilon(
        run, (y, score), other, epsilon=1.0, n_samples=SAMPLES, confidence_level=LEVEL
    )
    assert found.passed, found


def test_measurements_fail_what_is_broken():
    data, others = neighbours()
    pair = pr.rank(*data), pr.rank(*others["label"])
    noise = SeededNoise(np.random.default_rng(3))
    generator = np.random.default_rng(3)
    form = rescaled.AveragePrecision()

    def forgets_the_scale(ranking):  # noise for AP as if one row of N moved it by 1 / N
        return pr.aucpr(ranking) + generator.laplace(scale=1 / (ranking.n_pos + ranking.n_neg))

    def gives_the_positives_away(ranking):
        form.release(ranking, epsilon=1.0, noise=noise)
        return ranking.n_pos + generator.laplace(scale=0.05)

    def scales_to_this_data_alone(ranking):  # local sensitivity: its size tells the data apart
        scale = sensitivity.local_average_precision(ranking.n_pos) ** 12
        return generator.laplace(scale=scale)

    for broken, claimed in (
        (forgets_the_scale, 1.0),
        (gives_the_positives_away, 1.0),
        (scales_to_this_data_alone, 0.2),
    ):
        found = privacy.measure_epsilon(
            broken, *pair, epsilon=claimed, n_samples=3000, confidence_level=LEVEL
        )
        assert not found.passed, (broken.__name__, found)


def test_a_measurement_rarely_accuses_an_honest_mechanism():
    """A mechanism that spends exactly its epsilon is accused at most as often as the level says."""
    generator = np.random.default_rng(4)
    accused = 0
    for _ in range(200):
        found = privacy.measure_epsilon(
            lambda x: x + generator.laplace(),
            0.0,
            1.0,
            epsilon=1.0,
            n_samples=400,
            confidence_level=0.9,
        )
        accused += not found.passed
    assert stats.binomtest(accused, 200, 0.1, alternative="greater").pvalue > 1e-3


def bibeta(n_rows, prevalence, generator):
    n_pos = round(n_rows * prevalence)
    return Bibeta().sample(n_pos, n_rows - n_pos, generator)


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize(("n_rows", "prevalence"), [(40, 0.3), (300, 0.1), (2000, 0.5)])
def test_intervals_cover_at_least_as_often_as_they_say(name, n_rows, prevalence):
    generator = np.random.default_rng(5)
    exact = pr.aucpr if name == "average_precision" else pr.auroc
    hits, runs = 0, 500
    rows = bibeta(n_rows, prevalence, generator)
    truth = exact(pr.rank(*rows))
    for _ in range(runs):
        released = RELEASES[name](*rows, epsilon=1.0, budget=budget(), rng=generator)
        hits += truth in released.interval(confidence_level=0.9)
    assert stats.binomtest(hits, runs, 0.9, alternative="less").pvalue > 1e-3


def test_intervals_of_confusion_metrics_cover():
    generator = np.random.default_rng(6)
    y, score = bibeta(500, 0.2, generator)
    exact = pr.confusion(pr.rank(y, score >= 0.5), 1)
    names = [name for name in privacy.CONFUSION_METRICS if name != "f_beta"]
    hits, runs = dict.fromkeys(names, 0), 300
    for _ in range(runs):
        matrix = privacy.confusion(
            y, score, threshold=0.5, epsilon=1.0, budget=budget(), rng=generator
        )
        for name in names:
            hits[name] += getattr(exact, name) in matrix.measure(name).interval(
                confidence_level=0.9
            )
    for name in names:
        assert stats.binomtest(hits[name], runs, 0.9, alternative="less").pvalue > 1e-4, name


@pytest.mark.parametrize("name", RELEASES)
def test_the_scale_is_the_standard_deviation_of_the_noise(name):
    generator = np.random.default_rng(7)
    rows = bibeta(20_000, 0.2, generator)
    released = [
        RELEASES[name](*rows, epsilon=1.0, budget=budget(), rng=generator) for _ in range(800)
    ]
    spread = np.std([value.value for value in released])
    assert np.mean([value.scale for value in released]) == pytest.approx(spread, rel=0.15)


def error(release, exact, data_sets, releases, generator):
    """Root-mean-square error over data sets and releases, with its own standard error."""
    squares = []
    for _ in range(data_sets):
        y, score = bibeta(2000, 0.1, generator)
        truth = exact(pr.rank(y, score))
        errors = [release(y, score, generator) - truth for _ in range(releases)]
        squares.append(np.mean(np.square(errors)))
    root = math.sqrt(np.mean(squares))
    return root, np.std(squares, ddof=1) / math.sqrt(data_sets) / (2 * root)


def test_private_releases_are_as_much_better_than_the_dissertation_s_as_promised():
    """At epsilon 1, 2,000 rows, one in ten positive: AP a sixth of its error, AUROC half."""

    def metric(name, mechanism):
        return lambda y, score, rng: released(name, mechanism, (y, score), rng)

    def measure(release, exact, seed):
        return error(release, exact, 25, 40, np.random.default_rng(seed))

    def holds(ours, theirs, times):
        return theirs[0] / times - ours[0] > 3 * math.hypot(theirs[1] / times, ours[1])

    printed = measure(metric("average_precision", "printed_cauchy"), pr.aucpr, 8)
    assert holds(measure(metric("average_precision", "rescaled"), pr.aucpr, 9), printed, 6)
    assert holds(measure(metric("average_precision", "curve"), pr.aucpr, 10), printed, 6)
    printed = measure(metric("auroc", "printed_cauchy"), pr.auroc, 11)
    assert holds(measure(metric("auroc", "rescaled"), pr.auroc, 12), printed, 2)


@pytest.mark.slow
@pytest.mark.parametrize("spent", [CLAIMED, SPENT])
def test_the_releases_of_all_sites_together_keep_their_claim(spent):
    """By their likelihood ratio, with a row that changes its label and its place at one site."""
    plan = privacy.site_plan(epsilon=spent, n_rows=60, n_sites=3, edges=[0.0, 0.3, 0.6, 1.0])
    rng = np.random.default_rng(11)
    rows = [(np.arange(20) % 4 == 0, rng.random(20)) for _ in range(3)]
    y, score = (column.copy() for column in rows[1])
    y[0], score[0] = not y[0], (0.1 if score[0] > 0.6 else 0.9)
    changed = [rows[0], (y, score), rows[2]]

    def released(sites, seed):
        return [
            privacy.site_release(*site, plan=plan, site=f"s{k}", budget=budget(), rng=seed)
            for k, site in enumerate(sites)
        ]

    def histogram(sites):
        exact = privacy.site_plan(epsilon=1e6, n_rows=60, n_sites=3, edges=plan.edges)
        found = [
            privacy.site_release(*site, plan=exact, site="s", budget=budget(), rng=0)
            for site in sites
        ]
        return np.concatenate([each.noisy_positives + each.noisy_negatives for each in found])

    ours, theirs = histogram(rows), histogram(changed)
    assert np.abs(ours - theirs).sum() == 2

    def likelihood_ratio(sites):
        noisy = np.concatenate(
            [each.noisy_positives + each.noisy_negatives for each in released(sites, rng)]
        )
        return float((np.abs(noisy - theirs) - np.abs(noisy - ours)).sum() / plan.scale)

    found = privacy.measure_epsilon(
        likelihood_ratio, rows, changed, epsilon=CLAIMED, n_samples=SAMPLES, confidence_level=LEVEL
    )
    assert found.epsilon <= spent
    assert found.passed == (spent == CLAIMED), found


@pytest.mark.slow
@pytest.mark.parametrize("spent", [CLAIMED, SPENT])
@pytest.mark.parametrize("name", ["curve", "confusion"])
def test_a_row_more_or_less_keeps_its_claim(name, spent):
    """By the one count that it moves, which is all that differs; the total is such a count too."""
    y, score = np.arange(30) % 3 == 0, np.linspace(0, 1, 30)
    ours = privacy.Budget(epsilon=1e9, neighbours="add_remove")
    generator = np.random.default_rng(17)
    settings = {"epsilon": spent, "budget": ours, "neighbours": "add_remove", "rng": generator}

    def count(rows):
        if name == "curve":
            curve = privacy.pr_curve(*rows, edges=[0.0, 0.5, 1.0], **settings)
            return float(curve.noisy_positives[0])
        matrix = privacy.confusion(*rows, threshold=0.5, mechanism="laplace", **settings)
        return float(matrix.noisy[0].value)

    more = np.append(y, True), np.append(score, 0.9)
    found = privacy.measure_epsilon(
        count, (y, score), more, epsilon=CLAIMED, n_samples=SAMPLES, confidence_level=LEVEL
    )
    assert found.epsilon <= spent
    assert found.passed == (spent == CLAIMED), found
