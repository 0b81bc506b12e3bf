"""Two thresholds: both sides certified, the fewest rows between."""

import json

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.points.certificates import sequences
from tests import naive_points

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]


def normal(seed=0, rows=2000, prevalence=0.3, shift=2.0, decimals=None):
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < prevalence
    s = rng.normal(size=rows) + shift * y
    return y, s if decimals is None else np.round(s, decimals)


def naive_certified(y, s, required, delta):
    """The lowest score of a positive that any of the sequences certifies."""
    found = [
        naive_points.certified_threshold(y.tolist(), s.tolist(), required, share, rank)
        for rank, share in sequences(required, delta, len(y))
    ]
    return min((each for each in found if each is not None), default=None)


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("seed", [1, 3, 5, 8])
def test_each_side_is_the_walk_down_the_rows_as_they_are_and_upside_down(seed, decimals):
    y, s = normal(seed, rows=300, decimals=decimals)
    point = pr.two_thresholds(pr.Rows(y, s), min_precision=0.625, min_npv=0.875)
    assert point.upper == naive_certified(y, s, 0.625, 0.025)
    highest = -naive_certified(~y, -s, 0.875, 0.025)
    assert point.lower == min(s[s > highest])
    above, below = s >= point.upper, s < point.lower
    counts = (point.true_positives, point.false_positives)
    assert counts == (np.sum(above & y), np.sum(above & ~y))
    assert (point.true_negatives, point.false_negatives) == (np.sum(below & ~y), np.sum(below & y))
    between = ~above & ~below
    assert point.reviewed.estimate == pytest.approx(np.mean(between))
    reviewed = (point.reviewed_positives, point.reviewed_negatives)
    assert reviewed == (np.sum(between & y), np.sum(between & ~y))
    precision, npv = point.constraints
    assert precision.observed.estimate == pytest.approx(np.mean(y[above]))
    assert npv.observed.estimate == pytest.approx(np.mean(~y[below]))


def test_a_ranking_is_certified_too_and_leaves_more_to_review():
    y, s = normal(1)
    asked = {"min_precision": 0.7, "min_npv": 0.9}
    rows = pr.two_thresholds(pr.Rows(y, s), **asked)
    ranking = pr.two_thresholds(pr.rank(y, s), **asked)
    assert ranking.certified
    assert ranking.upper == rows.upper
    assert ranking.lower < rows.lower
    below = s < ranking.lower
    assert (ranking.true_negatives, ranking.false_negatives) == (
        np.sum(below & ~y),
        np.sum(below & y),
    )


def test_unsigned_and_lowest_integers_keep_their_order():
    y, s = normal(2)
    whole = np.round(50 * (s - s.min())).astype(np.int64)
    expected = pr.two_thresholds(pr.Rows(y, whole), min_precision=0.7, min_npv=0.9)
    unsigned = pr.two_thresholds(
        pr.Rows(y, whole.astype(np.uint8 if whole.max() < 256 else np.uint16)),
        min_precision=0.7,
        min_npv=0.9,
    )
    assert (unsigned.lower, unsigned.upper) == (expected.lower, expected.upper)
    lowest = np.iinfo(np.int64).min
    shifted = pr.two_thresholds(pr.Rows(y, whole + lowest), min_precision=0.7, min_npv=0.9)
    assert (shifted.lower, shifted.upper) == (expected.lower + lowest, expected.upper + lowest)


def test_where_both_sides_reach_beyond_each_other_nothing_is_reviewed():
    y, s = normal(3, shift=3.0)
    point = pr.two_thresholds(pr.Rows(y, s), min_precision=0.5, min_npv=0.8)
    assert point.certified
    assert point.lower <= point.upper
    assert not np.any((s >= point.lower) & (s < point.upper) & y)
    assert point.reviewed.estimate < 0.01


def test_one_side_that_cannot_be_promised_is_reviewed():
    y, s = normal(4)
    point = pr.two_thresholds(pr.Rows(y, s), min_precision=0.7, min_npv=0.9999)
    assert not point.certified
    assert point.lower is None
    assert point.true_negatives == point.false_negatives == 0
    assert [each.holds for each in point.constraints] == [True, False]
    assert "no threshold can be promised a negative predictive value of 0.9999" in point.message
    assert "lower=None" in repr(point)
    neither = pr.two_thresholds(pr.Rows(y, s), min_precision=0.9999, min_npv=0.9999)
    assert (neither.upper, neither.lower, neither.reviewed.estimate) == (None, None, 1.0)
    assert neither.message.startswith("no threshold can be promised a precision of 0.9999 and no")


@pytest.mark.parametrize("make", [pr.Rows, pr.rank])
def test_at_another_prevalence_and_as_the_best_of_several(make):
    y, s = normal(5, rows=20_000)
    asked = {"min_precision": 0.6, "min_npv": 0.95}
    here = pr.two_thresholds(make(y, s), **asked)
    rarer = pr.two_thresholds(make(y, s), prevalence=0.05, **asked)
    assert rarer.prevalence == 0.05
    assert rarer.upper > here.upper
    assert rarer.lower > here.lower
    assert all(each.observed is None for each in rarer.constraints)
    best = pr.two_thresholds(make(y, s), n_candidates=5, **asked)
    assert best.upper >= here.upper
    assert best.lower <= here.lower
    assert "best of 5 models" in best.message


def test_weights_that_only_repeat_change_nothing():
    y, s = normal(6)
    asked = {"min_precision": 0.7, "min_npv": 0.9}
    plain = pr.two_thresholds(pr.Rows(y, s), **asked)
    weighted = pr.two_thresholds(pr.Rows(y, s, sample_weight=np.full(y.size, 3.0)), **asked)
    assert (weighted.lower, weighted.upper) == (plain.lower, plain.upper)
    assert weighted.reviewed.low == pytest.approx(plain.reviewed.low)
    assert weighted.true_positives == 3 * plain.true_positives


def test_it_survives_json_and_is_a_table_of_decisions():
    y, s = normal(7)
    point = pr.two_thresholds(pr.Rows(y, s), min_precision=0.7, min_npv=0.9)
    plain = json.loads(json.dumps(point.to_dict()))
    assert plain["upper"] == point.upper
    assert [each["name"] for each in plain["constraints"]] == [
        "precision",
        "negative_predictive_value",
    ]
    frame = point.to_frame()
    assert frame["decision"].tolist() == ["positive", "review", "negative"]
    assert frame[["positives", "negatives"]].to_numpy().sum() == y.size


def test_what_is_refused():
    y, s = normal(8)
    rows = pr.Rows(y, s, clusters=np.arange(y.size) // 2)
    with pytest.raises(InputError, match="two_thresholds takes rows as independent"):
        pr.two_thresholds(rows, min_precision=0.7, min_npv=0.9)
    with pytest.raises(InputError, match="min_npv must be strictly between 0 and 1"):
        pr.two_thresholds(pr.Rows(y, s), min_precision=0.7, min_npv=1.0)
    with pytest.raises(UndefinedMetricError, match="two_thresholds needs both classes"):
        pr.two_thresholds(pr.rank([1, 1], [1, 2]), min_precision=0.7, min_npv=0.9)
    with pytest.raises(InputError, match="coarsened"):
        pr.two_thresholds(pr.rank(y, s).coarsen(5), min_precision=0.7, min_npv=0.9)
