"""The adversary: what rounding leaves him, what noise leaves him, and what is possible at all."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy import _adversary, attack, rescaled
from precall.privacy._candidates import STATISTICS, Known


def exact_auroc(y, score):
    ours = [s for label, s in zip(y, score, strict=True) if label]
    theirs = [s for label, s in zip(y, score, strict=True) if not label]
    wins = sum(Fraction(1 + (a > b) - (a < b), 2) for a in ours for b in theirs)
    return wins / (len(ours) * len(theirs))


def naive_guess(y, score, released, digits):
    """All places, both labels, by definition."""
    levels = sorted(set(score))
    between = [(a + b) / 2 for a, b in pairwise(levels)]
    places = [levels[0] - 1, *between, levels[-1] + 1, *levels]
    votes = {}
    for label in (1, 0):
        for place in places:
            value = float(exact_auroc([*y, label], [*score, place]))
            distance = abs((value if digits is None else round(value, digits)) - released)
            votes.setdefault(round(distance, 14), []).append(label)
    closest = votes[min(votes)]
    share = np.mean(closest)
    return 0.5 if share == 0.5 else float(share > 0.5)


@pytest.mark.parametrize("digits", [None, 1, 2, 4])
def test_guesses_are_those_of_the_naive_adversary(digits):
    generator = np.random.default_rng(0)
    for trial in range(60):
        y = generator.permutation([1, 1, 1, 0, 0, 0, 0])
        score = generator.integers(0, 5 if trial % 2 else 100, 7).astype(float)
        released = float(exact_auroc(y, score))
        released = released if digits is None else round(released, digits)
        known, places = y[1:].tolist(), score[1:].tolist()
        guess = attack.guess_label(known, places, released, digits=digits)
        assert guess == naive_guess(known, places, released, digits)


def normal_halves(n_rows, generator):
    y = np.arange(n_rows) % 2
    return y, generator.normal(size=n_rows) + 1.8 * y


def test_more_digits_give_more_away_and_more_rows_less():
    """Figure 5.1 of the dissertation, in its shape."""
    curve = attack.reidentification_curve(
        normal_halves, sizes=[22, 202], digits=[1, 2, 4, None], n_trials=60, rng=1
    )
    small, large = curve[:4], curve[4:]
    assert min(small[-1].success, large[-1].success) > 0.95
    assert small[0].success < small[2].success
    assert large[1].success < small[2].success
    assert [(e.n_rows, e.digits) for e in curve[:2]] == [(22, 1), (22, 2)]


def test_a_private_release_keeps_the_adversary_under_its_bound():
    epsilon, targets = 0.5, 400
    y, score = normal_halves(100, np.random.default_rng(2))
    found = attack.exposure(y, score, epsilon=epsilon, n_targets=None, rng=3)
    assert found.bound == pytest.approx(np.exp(epsilon) / (1 + np.exp(epsilon)))
    assert found.n_targets == 100
    assert found.success < found.bound + 4 * found.standard_error
    curve = attack.reidentification_curve(
        normal_halves, sizes=[40], digits=[], epsilons=[epsilon], n_trials=targets, toss=True, rng=4
    )
    assert curve[0].success < curve[0].bound + 4 * curve[0].standard_error


def test_six_digits_of_a_small_data_set_give_every_label_away():
    y, score = normal_halves(60, np.random.default_rng(5))
    found = attack.exposure(y, score, rng=6)
    assert found.success > 0.95
    assert "6 digits" in repr(found)
    assert found.bound == 1.0
    assert found.to_dict()["success"] == found.success


@pytest.mark.parametrize("digits", [2, None])
def test_without_a_toss_each_row_is_attacked_as_it_is(digits):
    """One by one, by the naive adversary, who is told the area of all rows."""
    y, score = normal_halves(14, np.random.default_rng(16))
    released = float(exact_auroc(y, score))
    released = released if digits is None else round(released, digits)
    right = []
    for row in range(14):
        known, places = np.delete(y, row).tolist(), np.delete(score, row).tolist()
        guess = naive_guess(known, places, released, digits)
        right.append(guess if y[row] else 1 - guess)
    found = attack.exposure(y, score, digits=digits, toss=False, rng=0)
    assert found.success == pytest.approx(np.mean(right))
    # One success and one failure more, so that the error is never 0.
    share = (sum(right) + 1) / 16
    assert found.standard_error == pytest.approx(math.sqrt(share * (1 - share) / 14))
    assert attack.exposure(y, score, digits=digits, toss=False, n_targets=5, rng=0).n_targets == 5


@pytest.mark.parametrize("heads", [True, False])
def test_a_toss_replaces_the_row_by_one_of_the_other_class(heads):
    """One positive score and one negative score: a turned row has the score of its new class."""

    class Coin:
        def random(self):
            return 0.4 if heads else 0.5

        def choice(self, values):
            offered.append(sorted(set(values)))
            return values[0]

    kind = attack._ReleaseKind.of(["auroc"], None, None, None)
    positive = np.array([True, True, True, False, False, False])
    score = np.where(positive, 2.0, 1.0)
    for target in range(6):
        offered = []
        before = positive.copy(), score.copy()
        (right,) = attack._trial(positive, score, target, [kind], True, Coin())
        assert offered == ([[1.0 if positive[target] else 2.0]] if heads else [])
        np.testing.assert_array_equal(positive, before[0])
        np.testing.assert_array_equal(score, before[1])
        assert right == 0.5  # a perfect order either way gives nothing away
    assert attack._trial(positive, score, 0, [kind], False, None) == [0.5]


def test_counting_needs_no_release_when_the_classes_are_known_to_be_equal():
    """Without a toss the attack can exceed the bound for a tossed class: no noise hides counts."""
    y, score = normal_halves(60, np.random.default_rng(7))
    plain = attack.exposure(y, score, epsilon=0.1, toss=False, rng=8)
    assert plain.bound == 1.0


def test_wrong_data_are_refused():
    with pytest.raises(InputError, match="both classes"):
        attack.guess_label([1, 1], [0.1, 0.2], 0.5)
    with pytest.raises(InputError, match="at least two rows of each class"):
        attack.exposure([1, 0, 0], [0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="y_score must not be missing"):
        attack.exposure([1, 0, 0, 1], [0.1, np.nan, 0.3, 0.4])


class Silent:
    """No noise at all."""

    seeded = False

    def add_laplace(self, values, scale):
        return values


def noise_free(name, y, score, threshold):
    """What the library itself would release without noise."""
    if name == "confusion":
        rows = [(bool(label), bool(s >= threshold)) for label, s in zip(y, score, strict=True)]
        cells = ((True, True), (False, True), (True, False), (False, False))
        return [rows.count(cell) for cell in cells]
    form = {"auroc": rescaled.Auroc(), "average_precision": rescaled.AveragePrecision()}[name]
    noisy = form.release(pr.rank(y, score), epsilon=1.0, noise=Silent())
    return [number.value for number in noisy]


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
@pytest.mark.parametrize("name", attack.METRICS)
@pytest.mark.parametrize("levels", [6, 1000])
def test_candidates_are_what_the_library_would_release(name, levels):
    """One more row at every known score, as either class, against the release itself."""
    generator = np.random.default_rng(levels)
    for _ in range(20):
        y = generator.permutation(np.arange(15) % 3 == 0)
        score = generator.integers(0, levels, 15).astype(float)
        known = Known.of(y, score)
        places = 2 * np.searchsorted(known.levels, score) + 2
        threshold = float(generator.choice(score))
        for positive in (True, False):
            found = STATISTICS[name](known, places, positive, threshold)
            for row in range(15):
                expected = noise_free(
                    name, np.append(y, positive), np.append(score, score[row]), threshold
                )
                ours = [float(statistic[row]) for statistic in found]
                assert ours == pytest.approx(expected, abs=2e-6)  # the grid has steps of 2^-20


def naive_likelier(y, score, released):
    """Every known score of each class as the missing one, with the noise's own probabilities."""
    likelihoods = []
    for label in (1, 0):
        chances = []
        for place in score[y == label]:
            chance = 1.0
            for name, number in released:
                exact = noise_free(name, np.append(y, label), np.append(score, place), 0.5)
                for noisy, value in zip(number.noisy, exact, strict=True):
                    chance *= math.exp(-abs(noisy.value - value) / noisy.scale)
            chances.append(chance)
        likelihoods.append(np.mean(chances))
    ours, theirs = likelihoods
    return 0.5 if ours == pytest.approx(theirs, rel=1e-9) else float(ours > theirs)


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
@pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")
def test_likelier_classes_are_those_of_the_naive_adversary():
    generator = np.random.default_rng(11)
    guesses = []
    for _ in range(40):
        y = generator.permutation(np.arange(13) % 2)
        score = generator.random(13) + 0.3 * y
        options = {"epsilon": 4.0, "budget": privacy.Budget(epsilon=12.0), "rng": generator}
        released = {
            "auroc": privacy.auroc(y, score, **options),
            "average_precision": privacy.average_precision(y, score, **options),
            "confusion": privacy.confusion(y, score, threshold=0.5, **options),
        }
        for chosen in (["auroc"], ["average_precision"], ["confusion"], list(released)):
            numbers = [released[name] for name in chosen]
            guess = attack.guess_label(y[1:], score[1:], numbers)
            assert guess == naive_likelier(y[1:], score[1:], [(n, released[n]) for n in chosen])
            guesses.append(guess == y[0])
        assert attack.guess_label(y[1:], score[1:], released["auroc"]) in (0.0, 1.0)
    assert np.mean(guesses) > 0.6


@pytest.mark.parametrize("metrics", [("auroc",), ("confusion",), attack.METRICS])
def test_an_adversary_who_uses_the_noise_gains_what_a_large_epsilon_allows(metrics):
    """One who only compared values was right in half of the cases at every epsilon."""
    curve = attack.reidentification_curve(
        normal_halves,
        sizes=[60],
        digits=[],
        epsilons=[5.0, 20.0],
        metrics=metrics,
        threshold=0.9,
        n_trials=200,
        toss=True,
        rng=12,
    )
    assert [exposure.metrics for exposure in curve] == [metrics, metrics]
    five, twenty = (exposure.success for exposure in curve)
    # Standard errors are about 0.03; 0.87, 0.92 and 0.76 were found in thousands of attacks.
    assert five > 0.64
    assert twenty > 0.9
    assert all(e.success < e.bound + 4 * e.standard_error for e in curve)
    assert "at most 0.993 is possible" in repr(curve[0])
    assert "at most 1 - 2e-09 is possible" in repr(curve[1])


def test_several_rounded_numbers_give_more_away_than_one():
    y, score = normal_halves(100, np.random.default_rng(13))
    alone = attack.exposure(y, score, digits=3, rng=14)
    both = attack.exposure(y, score, digits=3, metrics=("auroc", "average_precision"), rng=14)
    assert both.success > alone.success
    assert "auroc and average_precision, 3 digits" in repr(both)


@pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning")
def test_what_cannot_be_attacked_is_refused():
    y, score = normal_halves(40, np.random.default_rng(15))
    with pytest.raises(InputError, match="needs epsilon= and threshold="):
        attack.exposure(y, score, metrics=("confusion",))
    with pytest.raises(InputError, match="metrics must be one of"):
        attack.exposure(y, score, metrics=("f1",))
    with pytest.raises(InputError, match="at least one of"):
        attack.exposure(y, score, metrics=())
    budget = privacy.Budget(epsilon=1.0)
    quiet = privacy.auroc(y, score, epsilon=1.0, budget=budget, mechanism="curve")
    with pytest.raises(InputError, match="default mechanism"):
        attack.guess_label(y[1:], score[1:], quiet)


def test_two_trials_are_the_fewest():
    options = {"sizes": [20], "digits": [2], "rng": 17}
    (found,) = attack.reidentification_curve(normal_halves, n_trials=2, **options)
    assert found.n_targets == 2
    with pytest.raises(InputError, match="n_trials"):
        attack.reidentification_curve(normal_halves, n_trials=1, **options)


def test_the_adversary_computes_the_library_s_metrics():
    generator = np.random.default_rng(9)
    y = np.arange(50) % 2
    score = generator.integers(0, 10, 50) + y
    everything = Known.of(y == 1, score)
    ranking = pr.rank(y, score)
    assert _adversary.value_of(everything, "auroc") == pytest.approx(pr.auroc(ranking), rel=1e-14)
    assert _adversary.value_of(everything, "average_precision") == pytest.approx(
        pr.aucpr(ranking), rel=1e-14
    )
