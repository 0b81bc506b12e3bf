"""Persons with several rows: brute force over neighbours, draws, costs, and silence."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from precall import privacy
from precall.exceptions import InputError
from precall.privacy import (
    _persons,
    balanced,
    curve_release,
    private_areas,
    private_confusion,
)
from precall.privacy._persons import Persons, read_persons
from precall.privacy.mechanisms import SeededNoise, SystemNoise

pytestmark = [
    pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning"),
    pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning"),
]


class Silent:
    """No noise, and the scales that it would have had."""

    seeded = False

    def __init__(self):
        self.scales = []

    def add_laplace(self, values, scale):
        self.scales.extend([scale] * len(values))
        return values

    def words(self, count):
        return np.arange(count, dtype=np.uint64)


def budget(epsilon=1e9, delta=0.9):
    return privacy.Budget(epsilon=epsilon, delta=delta)


RELEASES = {
    "average_precision": lambda *rows, **options: privacy.average_precision(*rows, **options).noisy,
    "auroc": lambda *rows, **options: privacy.auroc(*rows, **options).noisy,
    "confusion": lambda *rows, **options: (
        privacy.confusion(*rows, threshold=1, mechanism="laplace", **options).noisy
    ),
    "curve": lambda *rows, **options: [
        *(curve := privacy.pr_curve(*rows, edges=[0, 1, 2, 3], **options)).noisy_positives,
        *curve.noisy_negatives,
    ],
}
ALL = RELEASES | {
    "edges": lambda _, score, **options: privacy.private_edges(
        score, low=0, high=1, n_bins=4, **options
    )
}
ROWS = list(product((0, 1), (0, 1, 2)))


def statistics(monkeypatch, name, rows, **options):
    """What noise is added to, in units of its scale: one epsilon is a distance of one."""
    noise = Silent()
    for module in (private_areas, private_confusion, curve_release):
        monkeypatch.setattr(module, "noise_source", lambda *_, **__: noise)
    y, score = np.array(rows).T
    released = RELEASES[name](y, score, epsilon=1.0, budget=budget(), **options)
    values = np.array([getattr(part, "value", part) for part in released], dtype=float)
    grids = np.array([getattr(part, "grid", 1.0) for part in released])
    return values / (np.array(noise.scales) * grids)


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("size", [2, 3])
def test_no_person_moves_a_release_by_more_than_its_epsilon(monkeypatch, name, size):
    """All data sets of four rows, ties included, and all ways to replace `size` of them."""
    kinds = ROWS if size == 2 else [row for row in ROWS if row[1] != 1]
    everything = list(product(kinds, repeat=4))
    table = np.array(
        [statistics(monkeypatch, name, rows, rows_per_person=size) for rows in everything]
    ).reshape(*[len(kinds)] * 4, -1)
    largest = 0.0
    for replaced in combinations(range(4), size):
        kept = [axis for axis in range(4) if axis not in replaced]
        moved = table.transpose(*kept, *replaced, 4).reshape(
            len(kinds) ** len(kept), len(kinds) ** size, -1
        )
        for group in moved:
            largest = max(largest, np.abs(group[:, None] - group[None]).sum(-1).max())
    assert 0.2 < largest <= 1.0 + 1e-9


@pytest.mark.parametrize("size", [2, 3])
def test_noise_that_adds_up_pays_for_all_rows_of_a_person(monkeypatch, size):
    """A person's rows move the counts by as many rows, each of which costs its share."""
    shares = []

    def silent(epsilon, noise):
        shares.append(epsilon)
        return [0] * 4

    monkeypatch.setattr(balanced, "balanced_offset", silent)
    ours, theirs = (
        privacy.confusion(
            *np.array(rows).T, threshold=1, epsilon=1.0, budget=budget(), rows_per_person=size
        ).noisy
        for rows in ([(1, 0)] * 4, [(0, 2)] * size + [(1, 0)] * (4 - size))
    )
    moved = [a.value - b.value for a, b in zip(ours, theirs, strict=True)]
    assert sum(part for part in moved if part > 0) == size
    assert shares == [Fraction(1, size)] * 2
    # The same in units of the scale that the likelihood of all four counts has.
    assert sum(map(abs, moved)) / ours[0].scale == pytest.approx(1.0)


def test_counts_pay_for_no_more_than_k_rows_move(monkeypatch):
    """For histograms the noise is tight: k rows can move them by all that is paid for."""
    for size in (1, 2, 3):
        ours = statistics(monkeypatch, "curve", [(1, 0)] * 4, rows_per_person=size)
        theirs = statistics(
            monkeypatch, "curve", [(0, 2)] * size + [(1, 0)] * (4 - size), rows_per_person=size
        )
        assert np.abs(ours - theirs).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("noise", [SeededNoise(np.random.default_rng(0)), SystemNoise()])
@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_every_person_gives_so_many_rows_as_evenly_as_it_goes(noise, rows):
    owned = [1, 2, 3, 5, 11]
    person = np.random.default_rng(1).permutation(np.repeat(np.arange(5), owned))
    persons = read_persons(person, rows, person.size)
    assert (persons.count, persons.n_rows) == (5, 5 * rows)
    (drawn,) = persons.draw(noise, np.arange(person.size))
    assert drawn.size == 5 * rows
    times = Counter(drawn.tolist())
    for who, count in enumerate(owned):
        mine = [times[place] for place in np.flatnonzero(person == who)]
        assert sum(mine) == rows
        assert max(mine) - min(mine) <= 1
        assert len(mine) == count


def test_what_is_drawn_of_one_person_depends_on_no_other():
    """With the random words of their own rows fixed, others may change as they like."""

    class Words:
        def __init__(self, words):
            self.given = words

        def words(self, count):
            return self.given[:count]

    rng = np.random.default_rng(2)
    mine = rng.integers(2**63, size=4).astype(np.uint64)
    found = set()
    for others in range(1, 6):
        codes = np.array([0] * 4 + [1] * others)
        words = np.concatenate([mine, rng.integers(2**63, size=others).astype(np.uint64)])
        (drawn,) = Persons(2, 4, codes, 2).draw(Words(words), np.arange(codes.size))
        found.add(tuple(sorted(drawn[drawn < 4])))
    assert len(found) == 1


def test_each_row_of_a_person_is_drawn_equally_often():
    noise = SeededNoise(np.random.default_rng(3))
    persons = read_persons([0] * 5 + [1], 2, 6)
    drawn = np.concatenate([persons.draw(noise, np.arange(6))[0] for _ in range(4000)])
    times = np.bincount(drawn)
    assert times[5] == 8000
    # 1600 are expected of each, with a standard deviation of about 31.
    assert np.all(np.abs(times[:5] - 1600) < 5 * 31)


@pytest.mark.parametrize("name", RELEASES)
def test_one_row_for_each_person_is_the_release_of_rows(name):
    y, score = np.arange(60) % 3 == 0, np.arange(60) / 20
    options = {"epsilon": 1e6, "budget": budget(), "rng": 0}
    plain = RELEASES[name](y, score, **options)
    alone = RELEASES[name](y, score, person=np.arange(60), **options)
    for ours, theirs in zip(plain, alone, strict=True):
        assert getattr(ours, "value", ours) == pytest.approx(
            getattr(theirs, "value", theirs), abs=1
        )


def test_the_result_says_who_is_protected():
    y, score = np.arange(300) % 3 == 0, np.linspace(0, 1, 300)
    person = np.arange(300) // 3
    for release in (
        privacy.average_precision,
        lambda *rows, **options: privacy.confusion(*rows, threshold=0.5, **options),
        privacy.pr_curve,
    ):
        drawn = release(y, score, person=person, epsilon=1.0, budget=budget(), rng=0)
        assert (drawn.n_persons, drawn.n_rows, drawn.rows_per_person) == (100, 100, 1)
        assert drawn.to_dict()["n_persons"] == 100
        assert "100 persons" in repr(drawn)
        three = release(
            y, score, person=person, rows_per_person=3, epsilon=1.0, budget=budget(), rng=0
        )
        assert (three.n_persons, three.n_rows) == (100, 300)
        vouched = release(y, score, rows_per_person=3, epsilon=1.0, budget=budget(), rng=0)
        assert (vouched.n_persons, vouched.n_rows) == (None, 300)
        assert "rows_per_person=3" in repr(vouched)
        plain = release(y, score, epsilon=1.0, budget=budget(), rng=0)
        assert vouched.scale > 2 * plain.scale
        assert "person" not in repr(plain)


def test_the_cost_is_what_was_asked_for():
    ours = privacy.Budget(epsilon=1.0)
    y, score = np.arange(30) % 3 == 0, np.linspace(0, 1, 30)
    privacy.auroc(y, score, rows_per_person=7, epsilon=0.3, budget=ours, rng=0)
    assert ours.spent.epsilon == 0.3


def test_the_share_of_a_row_is_exact():
    assert _persons.row_share(0.3, 7) == Fraction(3, 70)


@pytest.mark.parametrize("mechanism", privacy.MECHANISMS)
def test_every_mechanism_protects_persons(mechanism):
    y, score = np.arange(60) % 3 == 0, np.linspace(0, 1, 60)
    for who in ({"rows_per_person": 2}, {"person": np.arange(60) // 2, "rows_per_person": 2}):
        released = privacy.average_precision(
            y, score, epsilon=1.0, delta=1e-3, mechanism=mechanism, budget=budget(), rng=0, **who
        )
        assert released.rows_per_person == 2
        assert 0.0 <= released.value <= 1.0


HOSTILE = {
    "missing": [None] + [1] * 29,
    "not a number": np.array([np.nan] + [1.0] * 29),
    "too few": np.arange(29),
    "none": [],
    "a word": "somebody",
    "a number": 3,
    "a table": np.ones((30, 1)),
    "lists": [[1, 2]] * 30,
    "unhashable": [{}] * 30,
    "complex": np.ones(30) * 1j,
    "no time": np.array(["NaT"] * 30, dtype="datetime64[s]"),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", ALL)
def test_wrong_persons_are_refused_in_the_same_words_and_free_of_charge(kind, name):
    y, score = np.arange(30) % 3 == 0, np.linspace(0, 1, 30)
    ours = budget()
    release = ALL[name]
    with pytest.raises(InputError) as refused:
        release(y, score, person=HOSTILE[kind], epsilon=1.0, budget=ours)
    assert str(refused.value) == _persons._PERSONS
    assert not any(character.isdigit() for character in _persons._PERSONS)
    assert ours.spent.epsilon == 0.0


@pytest.mark.parametrize("rows", [0, -1, 1.5, "2", None, 2**31 + 1])
def test_wrong_numbers_of_rows_are_refused(rows):
    y, score = [1, 0], [1.0, 0.0]
    with pytest.raises(InputError, match="rows_per_person"):
        privacy.auroc(y, score, rows_per_person=rows, epsilon=1.0, budget=budget())


def test_more_rows_than_the_proofs_cover_are_refused_before_they_are_made():
    with pytest.raises(InputError, match="take fewer rows_per_person"):
        privacy.auroc(
            [1, 0], [1.0, 0.0], person=[0, 1], rows_per_person=2**31, epsilon=1.0, budget=budget()
        )


def test_persons_may_be_anything_that_can_be_compared():
    for person in (["a", "b", "a"], [(1, 2), None.__class__, (1, 2)], np.array([1.5, 2, 1.5])):
        assert read_persons(person, 1, 3).count == 2
    times = np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="datetime64[D]")
    assert read_persons(times, 1, 3).count == 2


def test_folds_may_not_share_a_person():
    y, score = np.arange(60) % 3 == 0, np.linspace(0, 1, 60)
    person, fold = np.arange(60) // 2, np.arange(60) // 20
    options = {"trained_on": "other_rows", "epsilon": 1.0, "rng": 0}
    ours = budget(2.0)
    result = privacy.cross_validation(y, score, fold, person=person, budget=ours, **options)
    assert ours.spent.epsilon == 1.0
    assert [part.n_persons for part in result.folds] == [10, 10, 10]
    with pytest.raises(InputError, match="all rows of a person in one fold"):
        privacy.cross_validation(y, score, np.arange(60) % 3, person=person, budget=ours, **options)
    assert ours.spent.epsilon == 1.0


def test_training_costs_once_more_where_persons_may_be_in_all_folds():
    y, score, fold = np.arange(60) % 3 == 0, np.linspace(0, 1, 60), np.arange(60) // 20
    options = {"trained_on": "other_folds", "epsilon": 1.0, "training_epsilon": 0.25, "rng": 0}
    for who, cost in (
        ({}, 1.5),
        ({"rows_per_person": 2}, 1.75),
        ({"rows_per_person": 2, "person": np.arange(60) // 2}, 1.5),
    ):
        ours = budget(2.0)
        result = privacy.cross_validation(y, score, fold, budget=ours, **options, **who)
        assert ours.spent.epsilon == cost == result.epsilon


def neighbours():
    """A person with three rows, once positive on top and once negative at the bottom."""
    y = np.repeat([1, 0], [6, 24])
    score = np.arange(30)[::-1] / 10.0
    other, others = y.copy(), score.copy()
    other[:3], others[:3] = 0, -1.0
    return (y, score), (other, others)


AUDITED = {
    # The best statistic to tell the neighbours apart: their likelihood ratio, from two cells.
    "curve": lambda *rows, **o: (
        np.clip(
            (curve := privacy.pr_curve(*rows, edges=[0, 1, 2, 3], **o)).noisy_positives[0], 3, 6
        )
        - np.clip(curve.noisy_negatives[-1], 10, 13)
    ),
    "edges": lambda _, score, **o: privacy.private_edges(score, low=-2, high=4, n_bins=4, **o).size,
}


@pytest.mark.parametrize("name", ["average_precision", "auroc", "confusion"])
@pytest.mark.parametrize("drawn", [False, True], ids=["vouched", "drawn"])
def test_all_noisy_numbers_together_keep_the_claim(name, drawn):
    """By their likelihood ratio, where a person's three rows on top change their label."""
    generator = np.random.default_rng(0)
    y, score = neighbours()[0]
    pair = (y, score), (np.where(np.arange(30) < 3, 0, y), score)
    person = np.concatenate([[0, 0, 0], np.arange(1, 28)]) if drawn else None
    who = {"person": person, "rows_per_person": 3, "rng": generator}

    def release(rows, epsilon=1.0):
        return RELEASES[name](*rows, epsilon=epsilon, budget=budget(), **who)

    ours, theirs = (release(rows, 1e7) for rows in pair)

    def likelihood_ratio(rows):
        return sum(
            (abs(noisy.value - b.value) - abs(noisy.value - a.value)) / noisy.scale
            for noisy, a, b in zip(release(rows), ours, theirs, strict=True)
        )

    found = privacy.measure_epsilon(
        likelihood_ratio, *pair, epsilon=1.0, n_samples=600, confidence_level=0.9999
    )
    assert found.passed, found


@pytest.mark.parametrize("name", AUDITED)
@pytest.mark.parametrize("drawn", [False, True], ids=["vouched", "drawn"])
def test_an_audit_finds_no_more_than_was_claimed(name, drawn):
    generator = np.random.default_rng(0)
    person = np.concatenate([[0, 0, 0], np.arange(1, 28)]) if drawn else None

    def release(rows):
        return AUDITED[name](
            *rows,
            person=person,
            rows_per_person=3,
            epsilon=1.0,
            budget=budget(),
            rng=generator,
        )

    found = privacy.measure_epsilon(
        release, *neighbours(), epsilon=1.0, n_samples=500, confidence_level=0.9999
    )
    assert found.passed, found


def test_an_audit_finds_rows_that_are_protected_instead_of_persons():
    generator = np.random.default_rng(0)

    def release(rows):
        return AUDITED["curve"](*rows, epsilon=0.5, budget=budget(), rng=generator)

    found = privacy.measure_epsilon(
        release, *neighbours(), epsilon=0.5, n_samples=1500, confidence_level=0.9999
    )
    assert not found.passed, found
