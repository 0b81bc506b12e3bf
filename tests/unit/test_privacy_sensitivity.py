"""Every bound on what one row can do, against every data set of up to nine rows, ties included."""

import math
from fractions import Fraction
from itertools import product
from math import fsum

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.privacy import sensitivity
from precall.privacy.rescaled import centred_auroc, lost_precision

# Enumerations contain the worst rankings too.
pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")

MOST_ROWS = 9

# Values of the tight bound from an independent computation with exact fractions.
TIGHT = {
    0: 1.0,
    1: 1.0,
    2: 0.58333333333333333,
    3: 0.42222222222222222,
    4: 0.36111111111111111,
    5: 0.32083333333333333,
    6: 0.29,
    10: 0.21432980599647266,
    20: 0.13672313984966747,
    50: 0.071412353843457654,
    100: 0.042296742602420407,
}


def tables(n_rows):
    """All data sets up to what matters: levels from the top, each (positives, negatives)."""
    by_size = [[()]]
    for size in range(1, n_rows + 1):
        by_size.append(
            [
                (*rest, (positives, here - positives))
                for here in range(1, size + 1)
                for positives in range(here + 1)
                for rest in by_size[size - here]
            ]
        )
    return by_size[n_rows]


def neighbourhoods(n_rows):
    """Groups of data sets that are all neighbours of one another.

    Two data sets are neighbours exactly if taking one row from each leaves the same n_rows - 1
    rows. So for every data set of n_rows - 1 rows: all ways to add one, of either label, at or
    between the levels. Returns positives and negatives, shaped (groups, members, levels).
    """
    rest = tables(n_rows - 1)
    width = 2 * (n_rows - 1) + 1
    base = np.zeros((2, len(rest), width), dtype=np.int64)
    for index, levels in enumerate(rest):
        for level, (positives, negatives) in enumerate(levels):
            base[:, index, 2 * level + 1] = positives, negatives
    members = np.repeat(base[:, :, None, :], 2 * width, axis=2)
    for slot, label in product(range(width), (0, 1)):
        members[label, :, 2 * slot + label, slot] += 1
    return members[0], members[1]


@pytest.fixture(scope="module", params=range(1, MOST_ROWS + 1))
def groups(request):
    positives, negatives = neighbourhoods(request.param)
    return request.param, positives, negatives


def lost(positives, negatives):
    tp, fp = positives.cumsum(-1), negatives.cumsum(-1)
    return (positives * fp / np.maximum(tp + fp, 1)).sum(-1), tp[..., -1]


def reach(values):
    """For each member, the largest distance to another member of its group."""
    high, low = values.max(1, keepdims=True), values.min(1, keepdims=True)
    return np.maximum(high - values, values - low)


def area(positives, negatives):
    n, m = positives.sum(-1), negatives.sum(-1)
    worse = negatives.sum(-1)[..., None] - negatives.cumsum(-1)
    wins = (positives * (worse + negatives / 2)).sum(-1)
    return np.where((n > 0) & (m > 0), wins / np.maximum(n * m, 1), 0.5), n, m


def test_local_average_precision_bounds_every_replacement(groups):
    n_rows, positives, negatives = groups
    b, n = lost(positives, negatives)
    change = reach(np.where(n > 0, 1 - b / np.maximum(n, 1), 0.0))
    bound = sensitivity.local_average_precision(n)
    assert (change <= bound + 1e-12).all()
    for count in range(5, n_rows + 1):  # from 5 positives on the attained term is the larger one
        assert change[n == count].max() == pytest.approx(
            sensitivity.local_average_precision(count), rel=1e-12
        )
    for printed in (False, True):
        assert (
            bound <= sensitivity.local_average_precision_printed(n, logarithmic=printed) + 1e-12
        ).all()


def test_local_auroc_bounds_every_replacement_and_is_attained(groups):
    n_rows, positives, negatives = groups
    values, n, m = area(positives, negatives)
    change = reach(values)
    assert (change <= sensitivity.local_auroc(n, m) + 1e-12).all()
    for count in range(2, n_rows - 1):
        attained = change[n == count].max()
        assert attained == pytest.approx(sensitivity.local_auroc(count, n_rows - count), rel=1e-12)


def test_rescaled_average_precision_moves_by_at_most_one(groups):
    n_rows, positives, negatives = groups
    b, n = lost(positives, negatives)
    widest = reach(b / sensitivity.lost_precision_bound(n)).max()
    assert widest <= 1 + 1e-12
    if n_rows >= 6:
        assert widest == pytest.approx(1, rel=1e-12)


def test_rescaled_auroc_moves_by_at_most_one_and_less_with_the_label(groups):
    n_rows, positives, negatives = groups
    values, n, _ = area(positives, negatives)
    moved = sensitivity.auroc_weight(n, n_rows) * (values - 0.5)
    for ours in np.unique(n):
        for theirs in (ours, ours + 1):
            limit = (
                sensitivity.AUROC_SAME_LABEL if theirs == ours else sensitivity.AUROC_LABEL_CHANGE
            )
            high = (
                np.where(n == ours, moved, -np.inf).max(1),
                np.where(n == theirs, moved, -np.inf).max(1),
            )
            low = (
                np.where(n == ours, moved, np.inf).min(1),
                np.where(n == theirs, moved, np.inf).min(1),
            )
            assert max((high[0] - low[1]).max(), (high[1] - low[0]).max()) <= limit + 1e-12


@pytest.mark.parametrize("n_rows", [*range(2, 60), 110, 111, 121, 1000, 2001, 100_000])
def test_rescaled_auroc_limits_hold_at_the_corners_for_any_number_of_rows(n_rows):
    """The difference is linear in the counts of wins, so its extremes lie at their corners."""
    n = np.arange(1, n_rows + 1)
    m = n_rows - n
    before = sensitivity.auroc_weight(n, n_rows)
    after = sensitivity.auroc_weight(n - 1, n_rows)
    same = before / np.maximum(np.minimum(n, m), 1)
    assert same.max() <= sensitivity.AUROC_SAME_LABEL * (1 + 1e-15)
    changes = []
    for shared, own, other in product((0, 1), repeat=3):
        wins = np.array([shared * (n - 1) * m + own * m, shared * (n - 1) * m + other * (n - 1)])
        pairs = np.array([n * m, (n - 1) * (m + 1)])
        centred = np.where(pairs > 0, wins / np.maximum(pairs, 1) - 0.5, 0.0)
        changes.append(np.abs(before * centred[0] - after * centred[1]).max())
    assert max(changes) <= sensitivity.AUROC_LABEL_CHANGE * (1 + 1e-12)
    if n_rows >= 1000:  # what both pieces of the weight reach, a little under the limit
        assert max(changes) == pytest.approx(0.6 - 0.605 / n_rows, rel=1e-9)


def test_the_compact_enumeration_finds_what_the_plain_one_finds():
    """All labels and scores of four rows, all replacements, by definition."""
    n_rows = 4
    rows = list(product((0, 1), range(n_rows)))
    values = {}
    for data in product(rows, repeat=n_rows):
        ours = [score for label, score in data if label]
        theirs = [score for label, score in data if not label]
        terms = [
            Fraction(
                sum(x >= y for x in theirs), sum(x >= y for x in theirs) + sum(o >= y for o in ours)
            )
            for y in ours
        ]
        values[data] = (len(ours), float(sum(terms)))
    widest = np.zeros(n_rows + 1)
    for data, (n, b) in values.items():
        for place, row in product(range(n_rows), rows):
            n_other, b_other = values[(*data[:place], row, *data[place + 1 :])]
            widest[n] = max(widest[n], abs(b - b_other) if n == n_other else 0.0)
    positives, negatives = neighbourhoods(n_rows)
    b, n = lost(positives, negatives)
    for count in range(n_rows + 1):
        same = n == count
        high, low = np.where(same, b, -np.inf).max(1), np.where(same, b, np.inf).min(1)
        assert (high - low)[same.any(1)].max() == pytest.approx(widest[count], abs=1e-12)


def test_statistics_of_a_ranking_are_those_of_the_enumeration():
    generator = np.random.default_rng(5)
    for _ in range(200):
        y = generator.random(8) < 0.5
        score = generator.integers(0, 5, 8)
        ranking = pr.rank(y, score, pos_label=True)
        levels = np.arange(5)[::-1]
        positives = np.array([(y & (score == level)).sum() for level in levels])
        negatives = np.array([(~y & (score == level)).sum() for level in levels])
        assert lost_precision(ranking) == pytest.approx(lost(positives, negatives)[0], abs=1e-12)
        assert centred_auroc(ranking) == pytest.approx(
            area(positives, negatives)[0] - 0.5, abs=1e-12
        )


def test_tight_bound_equals_its_exact_values():
    for n, value in TIGHT.items():
        assert sensitivity.local_average_precision(n) == pytest.approx(value, rel=1e-14)
    got = sensitivity.local_average_precision(np.array(list(TIGHT)))
    np.testing.assert_allclose(got, list(TIGHT.values()), rtol=1e-14)


@pytest.mark.parametrize("n", [2, 3, 5, 7, 8, 50, 200])
def test_bounds_equal_their_definitions_in_fractions(n):
    harmonic = sum(Fraction(1, k) for k in range(1, n + 2))
    moves = 1 + sum(Fraction(1, 4 * r + 2) for r in range(1, n))
    assert sensitivity.lost_precision_bound(n) == pytest.approx(
        float(max(harmonic - 1, moves)), rel=1e-14
    )
    up_to = harmonic - Fraction(1, n + 1)
    tight = max((up_to - 1) / (n - 1), moves / n)
    assert sensitivity.local_average_precision(n) == pytest.approx(float(tight), rel=1e-14)
    before = up_to - Fraction(1, n)
    negative = (harmonic - 1) / n
    printed = max(negative, (8 + before) / (4 * (n - 1))) + max(negative, (8 + up_to) / (4 * n))
    assert sensitivity.local_average_precision_printed(n) == pytest.approx(
        min(float(printed), 1.0), rel=1e-14
    )


def test_scale_of_the_lost_precision_is_one_for_one_positive_or_none():
    assert sensitivity.lost_precision_bound(0) == 1.0
    assert sensitivity.lost_precision_bound(1) == 1.0
    np.testing.assert_array_equal(sensitivity.lost_precision_bound(np.array([0, 1])), [1, 1])


@pytest.mark.parametrize("n", [2, 5, 11, 15, 21, 50, 10_000])
def test_logarithmic_bound_is_equation_5_45(n):
    negative = math.log(n + 1) / n
    remove = (9 + math.log(n - 1)) / (4 * (n - 1))
    add = (9 + math.log(n)) / (4 * n)
    expected = min(max(negative, remove) + max(negative, add), 1.0)
    found = sensitivity.local_average_precision_printed(n, logarithmic=True)
    assert found == pytest.approx(expected, rel=1e-14)
    assert sensitivity.local_average_precision_printed(1, logarithmic=True) == 1.0


@pytest.mark.parametrize("n_rows", [22, 110, 1000])
def test_weight_of_the_auroc_is_a_line_and_the_parabola_that_touches_it(n_rows):
    """Equal in value and slope at an eleventh of the rows, and the same from both ends."""
    for n in range(n_rows + 1):
        x = Fraction(min(n, n_rows - n), n_rows)
        line = x <= Fraction(1, 11)
        height = x if line else Fraction(6, 5) * (1 - x) - Fraction(121, 100) * (1 - x) ** 2
        assert sensitivity.auroc_weight(n, n_rows) == pytest.approx(float(n_rows * height))
    meet = Fraction(10, 11)
    assert Fraction(6, 5) * meet - Fraction(121, 100) * meet**2 == Fraction(1, 11)
    assert -Fraction(6, 5) + 2 * Fraction(121, 100) * meet == 1


def test_scale_of_the_lost_precision_is_as_accurate_as_the_grid_needs():
    """Relative error below 2^-48 at sizes up to ten million, against exact summation."""
    size = 10_000_000
    terms = 1.0 / np.arange(2, size + 2)
    for n in (1_000, 100_000, size):
        exact = fsum(terms[:n])
        assert abs(sensitivity.lost_precision_bound(n) / exact - 1) < 2.0**-48


@pytest.mark.parametrize("beta", [0.01, 0.1, 1 / 6, 1.0])
@pytest.mark.parametrize("n_rows", [1, 2, 5, 40, 1000])
def test_smooth_equals_the_full_scan(beta, n_rows):
    everywhere = np.arange(n_rows + 1)
    forms = {
        "tight": sensitivity.local_average_precision,
        "harmonic": sensitivity.local_average_precision_printed,
        "logarithmic": lambda n: sensitivity.local_average_precision_printed(n, logarithmic=True),
        "auroc": lambda n: sensitivity.local_auroc(n, n_rows - n),
    }
    for local in forms.values():
        for n in {0, 1, 2, n_rows // 10, n_rows // 2, n_rows - 1, n_rows} & set(
            everywhere.tolist()
        ):
            scan = np.max(local(everywhere) * np.exp(-beta * np.abs(everywhere - n)))
            found = sensitivity.smooth(local, n_pos=n, n_rows=n_rows, beta=beta)
            assert found == pytest.approx(scan, rel=1e-13)


def test_smooth_looks_at_few_places():
    looked = []

    def local(n):
        looked.append(n.size)
        return sensitivity.local_average_precision(n)

    sensitivity.smooth(local, n_pos=10_000, n_rows=10_000_000, beta=1 / 6)
    assert sum(looked) < 200


def test_wrong_arguments_are_refused():
    with pytest.raises(InputError, match="n_pos must be a whole number"):
        sensitivity.local_average_precision(2.5)
    with pytest.raises(InputError, match="n_neg must be a whole number"):
        sensitivity.local_auroc(3, -1)
    with pytest.raises(InputError, match="beta must be above 0"):
        sensitivity.smooth(sensitivity.local_average_precision, n_pos=1, n_rows=2, beta=0.0)
    with pytest.raises(InputError, match="n_pos must not exceed n_rows"):
        sensitivity.smooth(sensitivity.local_average_precision, n_pos=3, n_rows=2, beta=1.0)
