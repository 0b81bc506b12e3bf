"""Two models compared privately: brute force over neighbours, audits, coverage, and silence."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy.mechanisms import SeededNoise, grid_bits
from precall.privacy.private_comparison import PairedMetric, release_pair
from precall.privacy.rescaled import PAIRED
from precall.ranking import rank_checked
from precall.simulate import Bibeta

pytestmark = [
    pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]
EXACT = {"average_precision": pr.aucpr, "auroc": pr.auroc}


class Silent:
    """No noise."""

    seeded = False

    def add_laplace(self, values, scale):
        return values


def budget(epsilon=1e9):
    return privacy.Budget(epsilon=epsilon)


def rankings(rows):
    y, ours, theirs = np.array(rows).T
    return [rank_checked(y == 1, scores.astype(float), None) for scores in (ours, theirs)]


def released(form, rows, epsilon=1.0):
    return release_pair(form, rankings(rows), len(rows), epsilon, Silent())


@pytest.mark.parametrize("metric", PAIRED)
@pytest.mark.parametrize(("size", "levels"), [(1, 3), (2, 3), (3, 3)])
def test_no_row_moves_the_release_by_more_than_epsilon(metric, size, levels):
    """Every data set of so many rows, ties included, against every neighbour."""
    form = PAIRED[metric]
    kinds = list(product((0, 1), range(levels), range(levels)))
    found = [released(form, rows) for rows in product(kinds, repeat=size)]
    scales = np.array([part.scale for part in found[0]])
    table = np.array([[part.value for part in noisy] for noisy in found])
    table = table.reshape(*[len(kinds)] * size, 3)
    largest = 0.0
    for place in range(size):
        groups = np.moveaxis(table, place, -2).reshape(-1, len(kinds), 3)
        moves = np.abs(groups[:, :, None] - groups[:, None])
        largest = max(largest, float((moves / scales).sum(-1).max()))
        # Sum and difference together: what one statistic moves, twice.
        assert (moves[..., :2].sum(-1) <= 2 + 4 / 2 ** (grid_bits(size) - 1)).all()
    assert largest <= 1.0 + 1e-9
    if size >= 3:
        assert largest > 0.5


def test_sum_and_difference_move_by_twice_the_larger_move():
    rng = np.random.default_rng(0)
    x, y = rng.integers(-1000, 1000, size=(2, 500))
    np.testing.assert_array_equal(
        np.abs(x + y) + np.abs(x - y), 2 * np.maximum(np.abs(x), np.abs(y))
    )


def sample(n_pos=200, n_neg=1800, seed=0, spread=0.1):
    y, ours = Bibeta().sample(n_pos, n_neg, rng=seed)
    return y, ours, ours + np.random.default_rng(seed).normal(0, spread, y.size)


@pytest.mark.parametrize("metric", PAIRED)
def test_with_next_to_no_noise_the_values_are_the_metrics(metric):
    y, ours, theirs = sample()
    compared = privacy.compare(
        y, candidate=ours, baseline=theirs, metric=metric, epsilon=1e7, budget=budget(), rng=0
    )
    exact = [EXACT[metric](pr.rank(y, scores)) for scores in (ours, theirs)]
    assert compared.candidate.value == pytest.approx(exact[0], abs=1e-5)
    assert compared.baseline.value == pytest.approx(exact[1], abs=1e-5)
    assert compared.difference.value == pytest.approx(exact[0] - exact[1], abs=1e-5)
    assert compared.difference.interval().width < 1e-4
    assert (exact[0] - exact[1]) in compared.difference.interval()


@pytest.mark.parametrize("metric", PAIRED)
def test_one_release_is_better_than_two(metric):
    """The difference has 0.7 times the noise of two releases with half of epsilon each."""
    y, ours, theirs = sample(2000, 18_000)
    rng = np.random.default_rng(1)
    together = privacy.compare(
        y, candidate=ours, baseline=theirs, metric=metric, epsilon=1.0, budget=budget(), rng=rng
    )
    release = getattr(privacy, metric)
    apart = release(y, ours, epsilon=0.5, budget=budget(), rng=rng)
    assert together.difference.scale < 0.75 * np.sqrt(2) * apart.scale
    assert together.candidate.scale < apart.scale


@pytest.mark.parametrize("metric", PAIRED)
def test_the_scale_is_the_standard_deviation_of_the_noise(metric):
    y, ours, theirs = sample(2000, 8000)
    rng = np.random.default_rng(2)
    runs = [
        privacy.compare(
            y, candidate=ours, baseline=theirs, metric=metric, epsilon=1.0, budget=budget(), rng=rng
        )
        for _ in range(300)
    ]
    for part in ("difference", "candidate", "baseline"):
        spread = np.std([getattr(run, part).value for run in runs])
        assert np.mean([getattr(run, part).scale for run in runs]) == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("metric", PAIRED)
def test_intervals_cover_the_rows_and_the_population(metric):
    """A difference between two models of independent scores, so that their errors do not cancel."""
    rng = np.random.default_rng(3)
    model, runs = Bibeta(), 150
    hits = {"rows": 0, "population": 0}
    for _ in range(runs):
        n_pos = int(rng.binomial(500, 0.2))
        y, ours = model.sample(n_pos, 500 - n_pos, rng=rng)
        others = rng.beta(np.where(y, 5, 2), np.where(y, 2, 5))
        compared = privacy.compare(
            y, candidate=ours, baseline=others, metric=metric, epsilon=2.0, budget=budget(), rng=rng
        )
        exact = [EXACT[metric](pr.rank(y, scores)) for scores in (ours, others)]
        truth = {"rows": exact[0] - exact[1], "population": 0.0}
        for of, value in truth.items():
            hits[of] += value in compared.difference.interval(of=of, confidence_level=0.8)
    for count in hits.values():
        assert stats.binomtest(count, runs, 0.8, alternative="less").pvalue > 1e-3, hits


def test_the_result_says_what_it_is():
    y, ours, theirs = sample()
    wallet = privacy.Budget(epsilon=1.0)
    compared = privacy.compare(
        y, candidate=ours, baseline=theirs, epsilon=0.5, budget=wallet, rng=0
    )
    assert wallet.spent.epsilon == 0.5
    assert [entry.what for entry in wallet.ledger] == ["average_precision of two models"]
    assert set(compared.to_dict()) == {"difference", "candidate", "baseline"}
    assert "against" in repr(compared)
    assert "not private" in repr(compared)
    assert compared.epsilon == 0.5
    assert compared.difference.metric.name == "average_precision (difference)"
    persons = privacy.compare(
        y,
        candidate=ours,
        baseline=theirs,
        person=np.arange(2000) // 2,
        epsilon=0.5,
        budget=wallet,
        rng=0,
    )
    assert persons.difference.n_persons == 1000
    low, high = compared.difference.interval(of="population")
    assert -1.0 <= low < compared.difference.interval().low < high <= 1.0


@pytest.mark.parametrize("metric", PAIRED)
@pytest.mark.parametrize(("n_pos", "n_neg"), [(0, 1), (1, 0), (0, 5), (5, 0), (1, 1), (1, 5)])
def test_empty_classes_and_single_rows_are_released_like_any_other(metric, n_pos, n_neg):
    y = np.repeat([1, 0], [n_pos, n_neg])
    score = np.arange(y.size)
    for seed in range(5):
        compared = privacy.compare(
            y,
            candidate=score,
            baseline=-score,
            metric=metric,
            epsilon=1.0,
            budget=budget(),
            rng=seed,
        )
        for part in (compared.candidate, compared.baseline, compared.difference):
            assert -1.0 <= part.value <= 1.0
            for of in ("rows", "population"):
                low, high = part.interval(of=of)
                assert -1.0 <= low <= high <= 1.0
            assert np.isfinite(part.scale)


HOSTILE = {
    "missing": [np.nan] + [0.5] * 9,
    "short": [0.5] * 9,
    "words": ["a"] * 10,
    "none": None,
    "a table": np.ones((10, 1)),
    "a number": 3,
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("place", [1, 2])
def test_wrong_scores_are_refused_in_the_same_words_and_free_of_charge(kind, place):
    rows = [np.arange(10) % 2, np.linspace(0, 1, 10), np.linspace(0, 1, 10)]
    rows[place] = HOSTILE[kind]
    wallet = privacy.Budget(epsilon=1.0)
    with pytest.raises(InputError, match="Which rows break this is not said") as refused:
        privacy.compare(rows[0], candidate=rows[1], baseline=rows[2], epsilon=1.0, budget=wallet)
    assert "10" not in str(refused.value).replace("-1", "").replace("1 and 0", "")
    assert wallet.spent.epsilon == 0.0


def test_wrong_arguments_are_refused():
    rows = [np.arange(10) % 2, np.linspace(0, 1, 10), np.linspace(0, 1, 10)]
    with pytest.raises(InputError, match="metric"):
        privacy.compare(
            rows[0], candidate=rows[1], baseline=rows[2], metric="f1", epsilon=1.0, budget=budget()
        )
    with pytest.raises(InputError, match="not a Ranking"):
        privacy.compare(
            rows[0], candidate=rows[1], baseline=pr.rank(*rows[:2]), epsilon=1.0, budget=budget()
        )
    with pytest.raises(InputError, match="budget must be"):
        privacy.compare(rows[0], candidate=rows[1], baseline=rows[2], epsilon=1.0, budget=None)


@pytest.mark.parametrize("metric", PAIRED)
def test_an_audit_finds_no_more_than_was_claimed(metric):
    """By the likelihood ratio of all three numbers, on rows that move both models apart."""
    form = PAIRED[metric]
    rows = [(1, 12 - i, i) for i in range(6)] + [(0, -i, 6 - i) for i in range(20)]
    other = [(0, 30, -30), *rows[1:]]
    pair = rankings(rows), rankings(other)
    ours, theirs = (release_pair(form, both, 26, 1.0, Silent()) for both in pair)
    noise = SeededNoise(np.random.default_rng(4))

    def likelihood_ratio(both):
        return sum(
            (abs(noisy.value - b.value) - abs(noisy.value - a.value)) / noisy.scale
            for noisy, a, b in zip(
                release_pair(form, both, 26, 1.0, noise), ours, theirs, strict=True
            )
        )

    largest = sum(abs(a.value - b.value) / a.scale for a, b in zip(ours, theirs, strict=True))
    assert 0.3 < largest <= 1.0
    found = privacy.measure_epsilon(
        likelihood_ratio, *pair, epsilon=1.0, n_samples=2000, confidence_level=0.9999
    )
    assert found.passed, found
    assert found.epsilon <= largest


@pytest.mark.parametrize("part", ["difference", "candidate", "baseline"])
def test_the_limits_spend_no_more_error_than_they_have(part):
    spent = []

    class Recorded:
        def __init__(self, value):
            self.value = value

        def bounds(self, error):
            spent.append(error)
            return self.value, self.value

    noisy = (Recorded(3.0), Recorded(1.0), Recorded(40))
    PairedMetric(PAIRED["average_precision"], part).bounds(noisy, 200, 0.05)
    assert sum(spent) == pytest.approx(0.05, rel=1e-12)
