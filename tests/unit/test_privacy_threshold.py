"""A private threshold for a promised precision: its cost, its promise, and what it says."""

import itertools
import math
import pickle

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall import privacy
from precall.exceptions import InputError
from precall.privacy import private_threshold, sparse_vector
from precall.privacy.critical_counts import asked_for, critical_counts, slack
from precall.privacy.private_threshold import PrecisionTest, counts_above
from precall.privacy.sparse_vector import SparseVector
from tests.noise import seeded

quiet = pytest.mark.filterwarnings("ignore::precall.privacy.SeededReleaseWarning")


def budget(epsilon=1e9):
    return privacy.Budget(epsilon=epsilon)


def sample(n_pos=2000, n_neg=8000, seed=0):
    generator = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, np.where(y, generator.beta(5, 2, y.size), generator.beta(2, 5, y.size))


@pytest.mark.parametrize(("promise", "error"), [(0.5, 0.05), (0.8, 0.001), (0.95, 0.02)])
def test_critical_counts_are_those_of_the_binomial_distribution(promise, error):
    rows, positives = critical_counts(300, promise, error)
    assert rows.tolist() == list(range(301))
    for s, c in zip(rows.tolist(), positives.tolist(), strict=True):
        tails = [1.0, *stats.binom.sf(np.arange(s + 1), s, promise)]  # P(X >= k) for k = 0 .. s + 1
        fewest = next(k for k in range(s + 2) if k == s + 1 or tails[k] <= error)
        assert c == fewest


@pytest.mark.parametrize("n_rows", [7, 300, 20_000, 1_000_003])
def test_a_row_more_asks_for_no_more_than_one_positive_more(monkeypatch, n_rows):
    monkeypatch.setattr("precall.privacy.critical_counts._MOST_COMPUTED", 200)
    table = critical_counts.__wrapped__(n_rows, 0.8, 0.01)
    generator = np.random.default_rng(0)
    here = np.unique(np.append(generator.integers(0, n_rows, 5000), np.arange(min(n_rows, 999))))
    asked, more = asked_for(here, table), asked_for(here + 1, table)
    assert ((more - asked >= 0) & (more - asked <= 1)).all()
    exact = np.minimum(stats.binom.isf(0.01, here, 0.8).astype(int) + 1, here + 1)
    assert (asked >= exact).all()
    # What the gaps between computed numbers of rows add is small against the margin of the test.
    assert (asked - exact).max() <= max(1, n_rows // 200)


def test_errors_of_rounding_move_no_count_by_more_than_a_row():
    """Whatever the quantiles are, what is asked for rises by 0 or 1."""
    generator = np.random.default_rng(1)
    rows = np.arange(200)
    for _ in range(50):
        wild = np.clip(np.cumsum(generator.integers(-2, 4, 200)), 0, None)
        rising = np.maximum.accumulate(wild)
        repaired = rows + np.maximum.accumulate((rising - rows)[::-1])[::-1]
        assert set(np.diff(repaired)) <= {0, 1}
        assert (repaired >= wild).all()


SCORES = (0, 1, 2)
EDGES = np.array([-1.0, 0.5, 1.5, 3.0])
KINDS = list(itertools.product((False, True), SCORES))


def slack_of(rows, promise=0.4, error=0.9):
    y, score = (np.array(column) for column in zip(*rows, strict=True))
    tp, selected = counts_above(y, score.astype(float), EDGES)
    return tuple(slack(tp, selected, n_rows=len(rows), min_precision=promise, error=error).tolist())


def test_no_row_moves_any_slack_by_more_than_one():
    """All data sets of up to five rows, ties included, and all their neighbours."""
    largest = 0
    for size in range(1, 6):
        found = {
            rows: slack_of(rows) for rows in itertools.combinations_with_replacement(KINDS, size)
        }
        for rows, here in found.items():
            for place, kind in itertools.product(range(size), KINDS):
                other = found[tuple(sorted([*rows[:place], kind, *rows[place + 1 :]]))]
                largest = max(largest, *(abs(a - b) for a, b in zip(here, other, strict=True)))
    assert largest == 1


def test_slack_is_the_number_of_rows_that_have_to_turn():
    """Turn selected positives to negatives until nothing is certified, by the definition."""
    generator = np.random.default_rng(2)
    for _ in range(30):
        y = generator.random(60) < 0.8
        score = generator.integers(0, 3, 60)
        promise, error = 0.5, 0.2
        tp, selected = counts_above(y, score.astype(float), EDGES)
        found = slack(tp, selected, n_rows=60, min_precision=promise, error=error)

        def certified(tp, place, selected=selected, promise=promise, error=error):
            for start in range(place + 1):
                errors = [
                    error * 2 ** (length.bit_length() - 1) / 2
                    for length in range(1, place - start + 2)
                ]
                tails = stats.binom.sf(
                    tp[start : place + 1] - 1, selected[start : place + 1], promise
                )
                if (tails <= errors).all():
                    return True
            return False

        for place in (0, 1):
            turned = 0
            while certified(np.array(tp) - turned, place):
                turned += 1
            # Rows above the highest threshold count for both, so that as many turn at each.
            assert max(found[place], 0) == turned


def exact_outputs(mechanism, counts, limit):
    """Probability of every output of the sparse vector technique, by summation."""
    far = int(60 * max(mechanism.limit_scale, mechanism.count_scale))
    noise = np.arange(-far, far + 1)
    weight = np.exp(-np.abs(noise) / mechanism.limit_scale)
    weight /= weight.sum()
    below = [
        sparse_vector._below((limit + noise - count).astype(float), mechanism.count_scale)
        for count in counts
    ]
    outputs, none = [], weight.copy()
    for under in below:
        outputs.append(float(np.sum(none * (1.0 - under))))
        none = none * under
    return np.array([*outputs, none.sum()])


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_first_of_many_costs_epsilon_for_all_small_counts(epsilon):
    """All vectors of three counts, all moves by one: exact ratios of every output."""
    mechanism = SparseVector.of(epsilon)
    limit, worst = 3, 0.0
    moves = np.array(list(itertools.product((-1, 0, 1), repeat=3)))
    for counts in itertools.product((-2, 0, 3, 6), repeat=3):
        here = exact_outputs(mechanism, counts, limit)
        assert here.sum() == pytest.approx(1.0)
        for move in moves:
            there = exact_outputs(mechanism, np.array(counts) + move, limit)
            worst = max(worst, float(np.abs(np.log(here / there)).max()))
    assert 0.5 * epsilon < worst <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_the_limit_is_the_least_that_noise_rarely_reaches(epsilon):
    mechanism, n = SparseVector.of(epsilon), 20
    limit = mechanism.limit(n, 0.05)
    reached = [1 - exact_outputs(mechanism, [0] * n, at)[-1] for at in (limit, limit - 1)]
    assert reached[0] <= 0.05 < reached[1] * 1.05
    noise = seeded(3)
    hits = sum(
        mechanism.first(np.zeros(n, np.int64), limit, noise) is not None for _ in range(4000)
    )
    assert stats.binom.sf(hits - 1, 4000, 0.05) > 1e-4


def test_the_first_is_the_first():
    class Silent:
        def add_laplace(self, values, scale):
            return values

    mechanism = SparseVector.of(1.0)
    for counts, expected in (([1, 5, 9], 1), ([9, 1, 1], 0), ([1, 2, 4], None), ([], None)):
        assert mechanism.first(np.array(counts, np.int64), 5, Silent()) == expected


def test_an_epsilon_that_is_too_small_is_refused_before_anything_is_spent():
    ours = budget(1.0)
    with pytest.raises(InputError, match="1e-11"):
        privacy.operating_point([1, 0], [1, 0], min_precision=0.5, epsilon=1e-13, budget=ours)
    assert ours.spent.epsilon == 0.0


@quiet
def test_with_next_to_no_noise_it_is_the_lowest_certified_threshold():
    y, score = sample()
    point = privacy.operating_point(
        y, score, min_precision=0.8, epsilon=1e6, budget=budget(), rng=0
    )
    assert point.certified
    edges = private_threshold.threshold_edges(None)
    tp, selected = counts_above(y == 1, score, edges)
    rows = slack(tp, selected, n_rows=y.size, min_precision=0.8, error=0.025)
    lowest = edges[1:-1][::-1][np.flatnonzero(rows >= 1)[-1]]
    assert point.threshold == lowest
    seen = pr.operating_point(pr.rank(y, score), min_precision=0.8).threshold
    assert seen - 0.05 < point.threshold < seen + 0.1
    below = edges[edges < lowest][-1]
    assert np.mean(y[score >= below]) < 0.83


@quiet
def test_thresholds_take_rows_at_them():
    """Ties at a public edge are selected by it."""
    y = np.repeat([1, 0], [500, 500])
    score = np.repeat([2.0, 1.0], [500, 500])
    options = {"min_precision": 0.9, "epsilon": 50.0, "budget": budget(), "rng": 1}
    assert privacy.operating_point(y, score, edges=[0, 1, 2, 3], **options).threshold == 2.0
    assert not privacy.operating_point(y, score, edges=[0, 1, 2.5, 3], **options).certified


@quiet
def test_a_point_says_what_it_cost_and_may_be_published():
    ours = budget(3.0)
    y, score = sample()
    point = privacy.operating_point(y, score, min_precision=0.7, epsilon=1.0, budget=ours, rng=2)
    assert ours.spent == (1.0, 0.0)
    assert ours.ledger[0].what == "threshold for a precision"
    assert point.to_dict()["certified"]
    assert point.n_thresholds == 63
    assert "precision >= 0.7, 95 %, epsilon=1, seeded: not private" in repr(point)
    assert pickle.loads(pickle.dumps(point)) == point
    none = privacy.operating_point(
        y[::-1], score, min_precision=0.9, epsilon=1.0, budget=ours, rng=2
    )
    assert none.threshold is None
    assert "nothing certified" in repr(none)


@quiet
def test_persons_have_one_row_each():
    y, score = sample()
    person = np.arange(y.size) // 2
    options = {"min_precision": 0.6, "epsilon": 1.0, "budget": budget(), "rng": 3}
    point = privacy.operating_point(y, score, person=person, **options)
    assert (point.n_persons, point.n_rows, point.rows_per_person) == (5000, 5000, 1)
    assert "5000 persons" in repr(point)
    with pytest.raises(InputError, match="rows_per_person must be 1"):
        privacy.operating_point(y, score, rows_per_person=2, **options)


def test_errors_say_nothing_about_the_rows_and_cost_nothing():
    ours = budget(1.0)
    options = {"min_precision": 0.5, "epsilon": 0.5, "budget": ours}
    said = set()
    for rows in (([1, 0], [1, np.nan]), ([1, None], [1, 2]), ([1, 0, 0], [1, 2])):
        with pytest.raises(InputError) as refused:
            privacy.operating_point(*rows, **options)
        said.add(str(refused.value))
    assert len(said) == 1
    for wrong in (
        {"min_precision": 0.0},
        {"min_precision": 1.5},
        {"confidence_level": 1.0},
        {"epsilon": 2.0},
        {"edges": "quantiles"},
        {"budget": None},
        {"rows_per_person": 0},
    ):
        with pytest.raises(InputError):
            privacy.operating_point([1, 0], [1, 0], **(options | wrong))
    assert ours.spent.epsilon == 0.0


@quiet
@pytest.mark.parametrize(("n_pos", "n_neg"), [(0, 1), (1, 0), (0, 9), (9, 0), (200, 0)])
def test_one_class_is_released_like_any_other(n_pos, n_neg):
    y, score = np.repeat([1, 0], [n_pos, n_neg]), np.linspace(0, 1, n_pos + n_neg)
    point = privacy.operating_point(
        y, score, min_precision=0.5, epsilon=2.0, budget=budget(), rng=4
    )
    assert point.certified == (n_pos == 200)


@quiet
def test_nothing_but_the_rule_and_the_noise_decides(monkeypatch):
    """Two data sets with the same slacks release the same."""
    handed = []

    def first(self, counts, limit, noise):
        handed.append((tuple(counts), limit))

    monkeypatch.setattr(SparseVector, "first", first)
    y, score = sample(30, 70)
    order = np.random.default_rng(5).permutation(100)
    for rows in ((y, score), (y[order], score[order])):
        privacy.operating_point(*rows, min_precision=0.5, epsilon=1.0, budget=budget(), rng=0)
    assert handed[0] == handed[1]


def test_no_threshold_is_certified_too_often_where_all_just_miss():
    """Labels without scores, and a promise at their share: 2,000 data sets at 10 %."""
    generator, noise = np.random.default_rng(6), seeded(7)
    edges = np.linspace(0, 1, 17)
    test = PrecisionTest.of(0.5, 0.1, 4.0, 15)
    wrong = 0
    for _ in range(2000):
        positive, scores = generator.random(300) < 0.5 - 1e-9, generator.random(300)
        tp, selected = counts_above(positive, scores, edges)
        wrong += test.first(tp, selected, 300, noise) is not None
    assert stats.binom.sf(wrong - 1, 2000, 0.1) > 1e-6


def test_what_to_expect_is_what_happens_to_the_guess():
    options = {"n_rows": 4000, "min_precision": 0.7, "prevalence": 0.3, "n_simulations": 20}
    strong = privacy.expected_operating_point(**options, epsilon=4.0)
    weak = privacy.expected_operating_point(**options, epsilon=0.02)
    assert strong.found == 1.0
    assert weak.found < 0.2
    assert weak.recall < 0.2
    assert 0.5 < strong.recall < 1.0
    assert "found in 100 %" in repr(strong)
    many = privacy.expected_operating_point(**(options | {"n_rows": 4_000_000}), epsilon=1.0)
    assert strong.recall - 0.02 < many.recall < 1.0
    assert math.isfinite(many.to_dict()["recall"])
    for wrong in ({"n_rows": 1}, {"prevalence": 0}, {"min_precision": 2}, {"n_simulations": 1}):
        with pytest.raises(InputError):
            privacy.expected_operating_point(**(options | wrong), epsilon=1.0)
