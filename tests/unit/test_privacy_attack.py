"""The adversary: what rounding leaves him, what noise leaves him, and what is possible at all."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.privacy import attack


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


def test_the_adversary_computes_the_library_s_auroc():
    generator = np.random.default_rng(9)
    y = np.arange(50) % 2
    score = generator.integers(0, 10, 50) + y
    positive = y == 1
    assert attack._auroc(score[positive], score[~positive]) == pytest.approx(
        pr.auroc(pr.rank(y, score)), rel=1e-15
    )
