"""Rankings of many groups, and one number per group."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError, UndefinedMetricError
from precall.groups.group_values import per_group
from precall.groups.ranking_by_group import rank_classes, rank_groups
from precall.ranking import grouping, pooling
from precall.ranking.ranking_set import RankingSet
from tests import naive_groups

# Groups whose rows fill a block.
BLOCK_GROUPS = 8

pytestmark = [
    pytest.mark.numerics,
    pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning"),
]

# A plain loop over groups does the same additions in another order.
SAME = 1e-12


def assert_same_as_loop(y, s, groups, w=None):
    rankings = rank_groups(y, s, groups, sample_weight=w)
    assert rankings.labels.tolist() == sorted(set(np.asarray(groups).tolist()))
    for label, ranking in zip(rankings.labels, rankings, strict=True):
        own = np.asarray(groups) == label
        alone = pr.rank(y[own], s[own], sample_weight=None if w is None else w[own])
        assert ranking == alone
        if w is not None:
            for kind in ("squares", "rows"):
                for ours, theirs in zip(getattr(ranking, kind), getattr(alone, kind), strict=True):
                    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("levels", [None, 1, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_group_is_ranked_as_if_it_were_alone(levels, weighted):
    rng = np.random.default_rng(11)
    for n_groups, max_size in ((1, 30), (5, 40), (60, 12), (300, 3)):
        y, s, groups = naive_groups.random_groups(rng, n_groups, max_size, levels)
        w = rng.integers(1, 9, y.size) / 4 if weighted else None
        assert_same_as_loop(y, s, groups, w)


def test_equal_sizes_in_order_and_shuffled_give_the_same():
    rng = np.random.default_rng(12)
    groups = np.repeat(np.arange(50), 30)
    y, s = rng.random(1500) < 0.3, np.round(rng.normal(size=1500), 1)
    assert_same_as_loop(y, s, groups)
    order = rng.permutation(1500)
    together, shuffled = rank_groups(y, s, groups), rank_groups(y[order], s[order], groups[order])
    assert all(a == b for a, b in zip(together, shuffled, strict=True))


def test_many_blocks_and_threads_give_the_same_as_one(monkeypatch):
    rng = np.random.default_rng(13)
    y, s, groups = naive_groups.random_groups(rng, 40, 60, 5)
    once = rank_groups(y, s, groups)
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 16)
    monkeypatch.setattr("precall._threads.THREADING_PAYS", 1)
    again = rank_groups(y, s, groups)
    assert all(a == b for a, b in zip(once, again, strict=True))
    for metric in ("aucpr", "aucnpr", "auroc", "ndcg", "reciprocal_rank"):
        np.testing.assert_allclose(
            per_group(once, metric).values, per_group(again, metric).values, atol=SAME
        )


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["plain", "large", "integers", "infinite", "tiny and large"])
def test_blocks_of_every_kind_of_rows_are_ranked_as_if_alone(equal, weighted, kind, monkeypatch):
    """Scores that fit into a word with the label or do not, in groups of one size or of many."""
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 16)
    rng = np.random.default_rng(14)
    groups = np.repeat(np.arange(12), 9 if equal else rng.integers(1, 18, 12))
    y = rng.random(groups.size) < 0.4
    s = np.round(rng.normal(size=groups.size) + y, 1)
    if kind == "large":
        s *= 1e200
    elif kind == "integers":
        s = (10 * s).astype(np.int64)
    elif kind == "infinite":
        s[::7], s[3::11] = np.inf, -np.inf
    elif kind == "tiny and large":
        s[::5] *= 5e-324 / 0.1
        s[1::5] *= 1e300
    w = rng.integers(1, 9, y.size) / 4 if weighted else None
    assert_same_as_loop(y, s, groups, w)


@pytest.mark.parametrize(
    ("groups", "labels"),
    [
        ([3, 3, -1, 3, -1], [-1, 3]),
        ([10**15, 10**15, 5, 10**15, 5], [5, 10**15]),
        (np.array([7, 7, 200, 7, 200], dtype=np.uint8), [7, 200]),
        (np.array([-128, -128, 127, -128, 127], dtype=np.int8), [-128, 127]),
        (["b", "b", "a", "b", "a"], ["a", "b"]),
        (np.array(["b", "b", "a", "b", "a"], dtype=object), ["a", "b"]),
        ([2.5, 2.5, -1.0, 2.5, -1.0], [-1.0, 2.5]),
        ([(1, "x"), (1, "x"), (0, "y"), (1, "x"), (0, "y")], [(0, "y"), (1, "x")]),
        ([True, True, False, True, False], [False, True]),
        # No order between text and numbers: as they come.
        (np.array(["b", "b", 1, "b", 1], dtype=object), ["b", 1]),
        (np.array(["2020-02-01", "2020-02-01", "2020-01-01", "2020-02-01", "2020-01-01"],
                  dtype="datetime64[D]"), None),
    ],
)  # fmt: skip
def test_labels_of_any_kind(groups, labels):
    rankings = rank_groups([1, 0, 1, 1, 0], [5, 4, 3, 2, 1], groups)
    if labels is not None:
        assert rankings.labels.tolist() == labels
    first, second = (rankings[0], rankings[1])
    if rankings.labels.tolist()[0] == (groups if isinstance(groups, list) else groups.tolist())[0]:
        first, second = second, first
    assert first == pr.rank([1, 0], [3, 1])
    assert second == pr.rank([1, 0, 1], [5, 4, 2])


def test_columns_of_other_libraries():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": [1, 0, 1, 0], "s": [4, 3, 2, 1], "g": ["b", "a", "b", "a"]})
    for column in (frame.g, frame.g.astype("category"), frame.g.astype("string")):
        assert rank_groups(frame.y, frame.s, column).labels.tolist() == ["a", "b"]


def test_more_groups_than_sixteen_bits_hold():
    rng = np.random.default_rng(14)
    groups = rng.permutation(np.repeat(np.arange(70_000), 2))
    y, s = rng.random(140_000) < 0.5, rng.normal(size=140_000)
    rankings = rank_groups(y, s, groups)
    assert len(rankings) == 70_000
    assert rankings.pooled is None
    np.testing.assert_array_equal(
        rankings.n_pos, np.bincount(groups, weights=y.astype(float), minlength=70_000)
    )
    for label in (0, 12_345, 69_999):
        own = groups == label
        assert rankings.of(label) == pr.rank(y[own], s[own])


def test_rows_of_weight_zero_are_left_out_and_their_group_stays():
    rankings = rank_groups([1, 0, 1], [3, 2, 1], ["a", "a", "b"], sample_weight=[1.0, 2.0, 0.0])
    assert rankings.labels.tolist() == ["a", "b"]
    assert (rankings.n_pos.tolist(), rankings.n_neg.tolist()) == ([1.0, 0.0], [2.0, 0.0])
    assert np.isnan(rankings.prevalence[1])
    with pytest.raises(InputError, match="sample_weight is zero in every row"):
        rank_groups([1, 0], [2, 1], [1, 1], sample_weight=[0, 0])


def extreme_scores(kind, rng):
    base = rng.integers(-3, 4, 60)
    return {
        "zeros of both signs": np.where(base == 3, 5.0, np.where(base > 0, 0.0, -0.0)),
        "probabilities": rng.random(60),
        "single precision": np.round(rng.normal(size=60), 1).astype(np.float32),
        "half precision": np.round(rng.normal(size=60), 1).astype(np.float16),
        "last digit": 1e6 + np.spacing(1e6) * base,
        "huge": base * (1e308 / 3),
        "huge and tiny": np.where(base > 0, 1e308, 5e-324 * rng.integers(0, 3, 60)),
        "subnormal": 5e-324 * base,
        "subnormal beside large": np.where(base > 1, 1e5, 5e-324 * base),
        "infinite": np.where(base > 2, np.inf, np.where(base < -2, -np.inf, base)),
        "unsigned": (2**64 - 1 - rng.integers(0, 3, 60).astype(np.uint64)).astype(np.uint64),
        "widest integers": np.where(base > 0, 2**63 - 1, -(2**63)) - np.minimum(base, 0) * 2,
        "integers": base * 2**40,
        "booleans": base > 0,
    }[kind]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        "zeros of both signs",
        "probabilities",
        "single precision",
        "half precision",
        "last digit",
        "huge",
        "huge and tiny",
        "subnormal",
        "subnormal beside large",
        "infinite",
        "unsigned",
        "widest integers",
        "integers",
        "booleans",
    ],
)
def test_scores_of_every_range_keep_all_their_digits(kind, uniform, weighted):
    rng = np.random.default_rng(15)
    s = extreme_scores(kind, rng)
    y = rng.random(60) < 0.5
    groups = np.repeat(np.arange(6), 10) if uniform else np.sort(rng.integers(0, 6, 60))
    assert_same_as_loop(y, s, groups, np.ones(60) if weighted else None)


@pytest.mark.parametrize("place", [0, 3, 4, 7])
def test_one_tiny_score_among_large_ones_keeps_its_digits_wherever_it_stands(place, monkeypatch):
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 4)
    scores = np.full(8, 1e300)
    scores[place] = 5e-324
    rankings = rank_groups(np.ones(8, dtype=int), scores, np.zeros(8, dtype=int))
    assert rankings[0].threshold.tolist() == [1e300, 5e-324]


@pytest.mark.parametrize("sizes", [(4, 4, 4), (5, 4, 3)])
@pytest.mark.parametrize("place", [0, 5, 11])
def test_a_tiny_score_in_one_block_of_groups_keeps_its_digits(sizes, place, monkeypatch):
    monkeypatch.setattr(grouping, "BLOCK_ROWS", 4)  # a group of equal size is a block
    scores = np.arange(12) * 1e3 + 2.0
    scores[place] = 3 * 5e-324
    positive = np.arange(12) % 3 != 1
    assert_same_as_loop(positive, scores, np.repeat(np.arange(3), sizes))


def test_equal_scores_where_groups_meet_are_not_tied():
    """The lowest row of a group and the highest of the next are neighbours of any class."""
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(40), 5)
    for levels in (2, 9, 10**6):
        score = rng.integers(0, levels, 200) / 2
        # The last of each group scores what the first of the next does.
        ordered = np.sort(score.reshape(40, 5), axis=1)[:, ::-1]
        ordered[:-1, -1] = np.minimum(ordered[1:, 0], ordered[:-1, -2])
        positive = rng.random(200) < 0.4
        found = pr.rank_groups(positive, ordered.ravel(), groups, pooled=False)
        for group in range(40):
            alone = pr.rank(positive[groups == group], ordered[group])
            for name in ("threshold", "positives", "tied", "above", "below"):
                np.testing.assert_array_equal(getattr(found[group], name), getattr(alone, name))


def test_one_positive_of_fractional_weight_makes_a_group_divisible():
    weights = np.array([0.5, 1.0, 2.0, 0.5, 2.0, 0.5, 1.5, 2.5])
    y, s, groups = [1, 0] * 4, np.arange(8.0), np.array([0, 0, 1, 1, 2, 2, 2, 2])
    rankings = rank_groups(y, s, groups, sample_weight=weights)
    assert rankings.divisible.tolist() == [True, False, True]
    assert [ranking.divisible for ranking in rankings] == [True, False, True]
    # A set that is put together from its parts sees it too.
    assert replace(rankings, divisible=None).divisible.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "groups", [slice(1, 4, 2), (1, 3), [1, 3], np.array([1, 3]), [False, True, False, True]]
)
def test_groups_are_selected_by_a_slice_by_numbers_or_by_marks(groups):
    rankings = rank_groups([1, 0, 1] * 4, np.arange(12.0), np.repeat(["a", "b", "c", "d"], 3))
    chosen = rankings.select(groups)
    assert chosen.labels.tolist() == ["b", "d"]
    assert list(chosen) == [rankings[1], rankings[3]]


def test_large_integers_are_not_rounded():
    big = 2**53
    rankings = rank_groups([1, 0, 1, 0], [big + 1, big, big, big + 1], [0, 0, 1, 1])
    assert per_group(rankings, "auroc").values.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 0], [1, 2], [1]), "groups has 1 rows"),
        (([1, 0], [1, np.nan], [1, 1]), "y_score must not be missing"),
        (([1, 0], [1, 2], [1.0, np.nan]), "groups must not be missing.*position 1"),
        (([1, 0], [1, 2], ["a", None]), "groups must not be missing.*position 1"),
        (([1, 0, 2], [1, 2, 3], [1, 1, 1]), "y_true must have at most two labels"),
        (([1, 0], [1, 2], [[1], [2]]), "groups must be one-dimensional"),
        (([1, 0], [1, 2], [{}, {}]), "groups must hold hashable labels"),
        (([], [], []), "at least one row"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        rank_groups(*arguments)


@pytest.mark.parametrize("weight", [None, [1, 0, 1, 1]])
def test_a_missing_score_is_named_by_its_place_among_the_rows_as_given(weight):
    """Groups that do not lie together are sorted, and a row without weight has a score too."""
    with pytest.raises(InputError, match=r"y_score must not be missing.*position 1"):
        rank_groups([1, 0, 1, 0], [1, np.nan, 3, 4], [1, 0, 1, 0], sample_weight=weight)


def test_a_set_can_be_looked_at_from_all_sides():
    rankings = rank_groups([1, 0, 1, 0, 0], [4, 3, 2, 9, 8], ["a", "a", "a", "b", "b"])
    assert repr(rankings) == "RankingSet(groups=2, n_pos=2, n_neg=3, prevalence=0 to 0.667)"
    assert rankings[-1] == rankings.of("b")
    with pytest.raises(IndexError):
        rankings[2]
    with pytest.raises(InputError, match="no group 'c'"):
        rankings.of("c")
    with pytest.raises(ValueError, match="read-only"):
        rankings.threshold[0] = 1
    assert [pr.Ranking.from_dict(r) for r in rankings.to_dict()["rankings"]] == list(rankings)
    again = RankingSet.from_rankings(rankings, labels=rankings.labels)
    assert list(again) == list(rankings)
    picked = rankings.select([1, 0])
    assert picked.labels.tolist() == ["b", "a"]
    assert picked[1] == rankings[0]


def test_from_rankings_mixes_weighted_and_plain():
    plain, weighted = pr.rank([1, 0], [2, 1]), pr.rank([1, 0], [2, 1], sample_weight=[2.0, 3.0])
    both = RankingSet.from_rankings({"p": plain, "w": weighted})
    assert both.weighted
    assert per_group(both, "aucpr").values.tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="at least one Ranking"):
        RankingSet.from_rankings([])
    with pytest.raises(InputError, match="labels must be one per ranking"):
        RankingSet.from_rankings([plain], labels=["a", "b"])
    with pytest.raises(InputError, match="do not fit together"):
        RankingSet(
            labels=both.labels,
            offsets=both.offsets[:-1],
            threshold=both.threshold,
            cells=both.cells,
        )
    with pytest.raises(InputError, match="must be a RankingSet"):
        per_group(plain)


# --- one number per group ---------------------------------------------------------------------


@pytest.mark.parametrize("recall", [(0.0, 1.0), (0.2, 0.7)])
@pytest.mark.parametrize("estimator", [name for name in pr.ESTIMATORS if name != "binormal"])
@pytest.mark.parametrize("weights", [None, "whole", "real"])
def test_areas_equal_a_plain_loop(estimator, recall, weights):
    rng = np.random.default_rng(21)
    for n_groups, max_size, levels in ((7, 60, None), (7, 60, 2), (60, 9, 1)):
        y, s, groups = naive_groups.random_groups(rng, n_groups, max_size, levels)
        w = {
            None: None,
            "whole": rng.integers(1, 4, y.size).astype(float),
            "real": rng.random(y.size) + 0.1,
        }[weights]
        rankings = rank_groups(y, s, groups, sample_weight=w)
        for kind, alone in ((pr.metrics.aucpr, pr.aucpr), (pr.metrics.aucnpr, pr.aucnpr)):
            metric = kind(estimator=estimator, recall=recall)
            found = per_group(rankings, metric).values
            for value, ranking in zip(found, rankings, strict=True):
                if not ranking.n_pos or (metric.needs_negatives and not ranking.n_neg):
                    assert np.isnan(value)
                elif ranking.n_neg:
                    expected = alone(ranking, estimator=estimator, recall=recall)
                    assert value == pytest.approx(expected, abs=SAME)


def test_average_precision_and_auroc_equal_exact_fractions():
    rng = np.random.default_rng(22)
    for levels in (None, 2):
        y, s, groups = naive_groups.random_groups(rng, 40, 15, levels)
        rankings = rank_groups(y, s, groups)
        areas, concordances = (per_group(rankings, m).values for m in ("aucpr", "auroc"))
        rows_of = naive_groups.split(y, s, groups)
        for area, share, rows in zip(areas, concordances, rows_of.values(), strict=True):
            classes = {label for label, _ in rows}
            if True in classes:
                assert area == pytest.approx(float(naive_groups.average_precision(rows)), abs=SAME)
            if len(classes) == 2:
                assert share == pytest.approx(float(naive_groups.auroc(rows)), abs=SAME)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
def test_metrics_at_a_rank_are_means_over_all_orders_of_ties(k):
    rng = np.random.default_rng(23 + k)
    groups = np.repeat(np.arange(12), 6)
    y = rng.random(72) < 0.4
    y[::6] = True
    s = rng.integers(0, 3, 72)
    rankings = rank_groups(y, s, groups)
    references = {
        "precision_at_k": lambda labels: naive_groups.precision_at(labels, k),
        "recall_at_k": lambda labels: naive_groups.recall_at(labels, k),
        "reciprocal_rank": lambda labels: naive_groups.reciprocal_rank(labels, k),
        "ndcg": lambda labels: naive_groups.ndcg(labels, k),
    }
    rows_of = naive_groups.split(y, s, groups)
    for metric, reference in references.items():
        found = per_group(rankings, getattr(pr.metrics, metric)(k=k)).values
        expected = [naive_groups.over_all_orders(rows, reference) for rows in rows_of.values()]
        np.testing.assert_allclose(found, expected, atol=SAME)
    for metric in ("reciprocal_rank", "ndcg", "r_precision"):
        found = per_group(rankings, metric).values
        function = getattr(naive_groups, metric)
        expected = [naive_groups.over_all_orders(rows, function) for rows in rows_of.values()]
        np.testing.assert_allclose(found, expected, atol=SAME)


def test_reciprocal_rank_of_a_large_tie_is_exact():
    # Of p + q tied rows the first positive is at place j with probability
    # C(p + q - j, p - 1) / C(p + q, p).
    from math import comb

    p, q, above = 3, 40, 2
    y = [0] * above + [1] * p + [0] * q
    rankings = rank_groups(y, [9] * above + [5] * (p + q), [0] * len(y))
    expected = sum(
        Fraction(comb(p + q - j, p - 1), comb(p + q, p)) / (above + j) for j in range(1, q + 2)
    )
    assert per_group(rankings, "reciprocal_rank").values[0] == pytest.approx(
        float(expected), rel=1e-13
    )


def test_groups_without_a_value():
    y, s, g = [1, 0, 0, 0, 1, 1], [6, 5, 4, 3, 2, 1], ["a", "a", "none", "none", "all", "all"]
    rankings = rank_groups(y, s, g)
    assert rankings.labels.tolist() == ["a", "all", "none"]
    skipped = per_group(rankings, "aucpr")
    assert (skipped.n_undefined, skipped.mean()) == (1, 1.0)
    np.testing.assert_array_equal(skipped.values, [1.0, 1.0, np.nan])
    assert repr(skipped) == "GroupValues(aucpr, mean=1, groups=3, undefined=1 (skip))"
    assert per_group(rankings, "aucpr", undefined="zero").mean() == pytest.approx(2 / 3)
    for metric in ("auroc", "aucnpr"):
        assert per_group(rankings, metric).n_undefined == 2
        assert per_group(rankings, metric, undefined="zero").values.tolist() == [1.0, 0.0, 0.0]
        with pytest.raises(UndefinedMetricError, match=r"undefined in 2 of 3 groups.*'all'"):
            per_group(rankings, metric, undefined="raise")
    assert skipped.to_dict()["values"] == [1.0, 1.0, None]
    np.testing.assert_array_equal(np.asarray(skipped), skipped.values)


def test_nothing_but_groups_without_positives():
    rankings = rank_groups([0, 0], [2, 1], [1, 2])
    assert np.isnan(per_group(rankings, "aucpr").mean())
    assert per_group(rankings, "ndcg", undefined="zero").mean() == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "mrr"}, "metric must be one of"),
        ({"metric": "precision_at_k"}, "needs k, such as"),
        ({"metric": "ndcg(k=0)"}, "k must be a whole number of at least 1"),
        ({"undefined": "drop"}, "undefined must be one of"),
        ({"metric": "aucpr(binormal)"}, "needs the mean and standard"),
        ({"metric": "aucpr(best)"}, "estimator must be one of"),
        ({"metric": "aucnpr(recall=(0.5, 0.2))"}, "recall must satisfy"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        per_group(rank_groups([1, 0], [2, 1], [1, 1]), **options)


def test_ranks_need_rows_without_weights():
    rankings = rank_groups([1, 0], [2, 1], [1, 1], sample_weight=[1.0, 2.0])
    for metric in ("precision_at_k", "recall_at_k", "ndcg", "reciprocal_rank"):
        with pytest.raises(InputError, match="carry weights"):
            per_group(rankings, getattr(pr.metrics, metric)(k=3))


# --- classes ----------------------------------------------------------------------------------


def test_classes_equal_one_ranking_against_the_rest():
    rng = np.random.default_rng(31)
    y = rng.choice(["cat", "ant", "bee"], 90)
    scores = np.round(rng.normal(size=(90, 3)), 1)
    w = rng.integers(1, 9, 90) / 4  # sums of these do not round
    for weights in (None, w):
        rankings = rank_classes(y, scores, sample_weight=weights)
        assert rankings.labels.tolist() == ["ant", "bee", "cat"]
        for column, (label, ranking) in enumerate(zip(rankings.labels, rankings, strict=True)):
            assert ranking == pr.rank(y == label, scores[:, column], sample_weight=weights)


def test_multi_label_and_named_classes():
    y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]])
    scores = np.array([[3, 2, 1], [1, 3, 2], [2, 1, 3]])
    assert rank_classes(y, scores).n_pos.tolist() == [2, 1, 2]
    named = rank_classes(y, scores, classes=["x", "y", "z"])
    assert named.of("y") == pr.rank(y[:, 1], scores[:, 1])
    rare = rank_classes([2, 0, 2], scores, classes=[0, 1, 2])
    assert rare.n_pos.tolist() == [1, 0, 2]


def test_averages_over_classes_equal_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(32)
    y = rng.random((200, 4)) < [0.1, 0.3, 0.5, 0.05]
    scores = np.round(rng.normal(size=(200, 4)) + y, 1)
    rankings = rank_classes(y, scores)
    for how, average in (("mean", "macro"), ("pooled", "micro"), ("weighted", "weighted")):
        ours = pr.aggregate(rankings, "aucpr", how=how).estimate
        assert ours == pytest.approx(
            metrics.average_precision_score(y, scores, average=average), abs=SAME
        )
        ours = pr.aggregate(rankings, "auroc", how=how).estimate
        assert ours == pytest.approx(metrics.roc_auc_score(y, scores, average=average), abs=SAME)


def test_ndcg_shares_ties_as_scikit_learn_does():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(33)
    y = rng.random((30, 12)) < 0.3
    y[:, 0] = True
    scores = rng.integers(0, 5, (30, 12)).astype(float)
    rankings = rank_groups(y.ravel(), scores.ravel(), np.repeat(np.arange(30), 12))
    for k in (None, 4):
        ours = per_group(rankings, pr.metrics.ndcg(k=k)).mean()
        assert ours == pytest.approx(metrics.ndcg_score(y, scores, k=k), abs=SAME)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"], [[1, 2, 3], [1, 2, 3]]), "classes must name the 3 columns"),
        ((["a", "b"], [1, 2]), "scores_matrix must have one row per case"),
        (([[1, 2], [0, 1]], [[1, 2], [1, 2]]), "zeros and ones only"),
        ((["a", "b", "a"], [[1, 2], [1, 2]]), "y_true has 3"),
        ((["a", "b"], [[1, np.nan], [1, 2]]), "scores_matrix must not be missing"),
        ((["a", None], [[1, 2], [1, 2]]), "y_true must not be missing"),
    ],
)
def test_bad_classes_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        rank_classes(*arguments)


def test_labels_without_a_class_are_named():
    with pytest.raises(InputError, match=r"labels that are not in classes.*'b'"):
        rank_classes(["a", "b"], [[1, 2], [1, 2]], classes=["a", "c"])


# --- pooled -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_pooled_is_exact_and_its_shares_add_up(weighted, monkeypatch):
    monkeypatch.setattr(pooling, "_CELLS", (8, 8))
    rng = np.random.default_rng(41)
    y, s, groups = naive_groups.random_groups(rng, 9, 60, 10)
    w = rng.integers(0, 5, y.size) / 4 if weighted else None
    rankings = rank_groups(y, s, groups, sample_weight=w)
    pooled = rankings.pooled
    assert pooled.ranking == pr.rank(y, s, sample_weight=w)
    assert len(pooled.coarse) <= 8
    np.testing.assert_allclose(pooled.positives.sum(axis=0), pooled.coarse.positives, rtol=1e-12)
    negatives = pooled.negatives.sum(axis=0)
    np.testing.assert_allclose(negatives[1::2], pooled.coarse.tied, rtol=1e-12)
    np.testing.assert_allclose(negatives[:-1:2], pooled.coarse.above, rtol=1e-12)
    np.testing.assert_allclose(negatives[-1], pooled.coarse.below, rtol=1e-12)
    np.testing.assert_allclose(pooled.positives.sum(axis=1), rankings.n_pos, rtol=1e-12)
    np.testing.assert_allclose(pooled.negatives.sum(axis=1), rankings.n_neg, rtol=1e-12)
    assert "groups=9" in repr(pooled)


def test_the_pooled_table_has_as_many_cells_as_its_size_and_bounds_allow(monkeypatch):
    rng = np.random.default_rng(44)
    y, s, groups = rng.random(4000) < 0.5, rng.random(4000), np.arange(4000) % 5

    def cells():
        """How many cells the ranking was coarsened to at most: two counts per group and cell."""
        pooled = rank_groups(y, s, groups).pooled
        return [n for n in (32, 100, 512) if pooled.coarse == pooled.ranking.coarsen(n)]

    assert cells() == [512]
    monkeypatch.setattr(pooling, "_TABLE_SIZE", 1009)
    assert cells() == [100]
    monkeypatch.setattr(pooling, "_TABLE_SIZE", 10)
    assert cells() == [32]


def test_kruskal_wallis_equals_scipy():
    stats = pytest.importorskip("scipy.stats")
    from precall.ranking.pooling import kruskal_wallis

    rng = np.random.default_rng(42)
    for _ in range(20):
        table = rng.integers(0, 5, (4, 6))
        table[:, 0] += 1
        samples = [np.repeat(np.arange(6), row) for row in table]
        assert kruskal_wallis(table) == pytest.approx(stats.kruskal(*samples).pvalue, abs=1e-12)
    # A group of one row counts, one of none does not, and two rows are enough to compare.
    for table in ([[3, 2, 0], [0, 0, 1], [0, 0, 0]], [[1, 0], [0, 1]]):
        samples = [np.repeat(np.arange(len(row)), row) for row in table if sum(row)]
        expected = stats.kruskal(*samples).pvalue
        assert kruskal_wallis(np.array(table)) == pytest.approx(expected, abs=1e-12)
    assert kruskal_wallis(np.array([[1, 0]])) == 1.0
    assert kruskal_wallis(np.array([[0, 0]])) == 1.0
    assert kruskal_wallis(np.array([[3, 0], [5, 0]])) == 1.0
    assert kruskal_wallis(np.array([[3, 2]])) == 1.0


def test_pooling_can_be_asked_for_and_refused():
    y, s, g = [1, 0, 1, 0], [4, 3, 2, 1], [0, 0, 1, 1]
    assert rank_groups(y, s, g, pooled=False).pooled is None
    assert rank_groups(y, s, g, pooled=True).pooled is not None
    assert rank_groups([0, 0], [1, 2], [0, 1]).pooled is None


def test_concordance_within_and_between_groups_is_counted_pair_by_pair():
    rng = np.random.default_rng(43)
    y, s, groups = naive_groups.random_groups(rng, 5, 20, 3)
    verdict = pr.aggregate(rank_groups(y, s, groups)).comparability
    won = {True: [], False: []}
    for i, j in combinations(range(y.size), 2):
        if y[i] != y[j]:
            high, low = (i, j) if y[i] else (j, i)
            value = 1.0 if s[high] > s[low] else 0.5 if s[high] == s[low] else 0.0
            won[bool(groups[i] == groups[j])].append(value)
    assert verdict.within == pytest.approx(np.mean(won[True]), abs=SAME)
    assert verdict.between == pytest.approx(np.mean(won[False]), abs=SAME)


def test_a_set_keeps_what_its_rankings_say_of_themselves():
    rng = np.random.default_rng(2)
    y = rng.random(300) < 0.3
    s = rng.normal(size=300) + y
    plain, halves = pr.rank(y, s), pr.rank(y, s, sample_weight=np.full(300, 0.5))
    rankings = pr.RankingSet.from_rankings({"a": plain, "b": plain.coarsen(5), "c": halves})
    for kept in (rankings, rankings.select([2, 1, 0]).select([2, 1, 0])):
        assert [r.coarsened for r in kept] == [False, True, False]
        assert [r.divisible for r in kept] == [False, False, True]
        assert [r.moments for r in kept] == [plain.moments, plain.moments, halves.moments]
    assert pr.aucpr(rankings[0], estimator="binormal") == pr.aucpr(plain, estimator="binormal")
    with pytest.raises(InputError, match="coarsened"):
        pr.operating_point(rankings.of("b"), min_precision=0.5)


def test_a_row_without_positives_is_no_first_positive():
    """As in a replicate that did not draw the highest score."""
    cells = pr.ranking.Cells(np.array([0, 2]), np.array([1, 0]), np.array([1, 1]), 5)
    assert pr.metrics.reciprocal_rank().value(cells) == pytest.approx(1 / 4)


@pytest.mark.parametrize(("groups", "parts"), [(1, 1), (BLOCK_GROUPS, 1), (BLOCK_GROUPS + 1, 2)])
def test_a_set_is_cut_into_parts_only_if_it_is_larger_than_one(groups, parts):
    """What is known of the groups of a small one stays known: it is its own part."""
    codes = np.repeat(np.arange(groups), grouping.BLOCK_ROWS // BLOCK_GROUPS)
    rankings = rank_groups(np.ones(codes.size, dtype=int), np.arange(codes.size), codes)
    found = rankings.parts()
    assert len(found) == parts
    assert (found[0] is rankings) == (parts == 1)
    assert sum(map(len, found)) == groups
    assert np.array_equal(np.concatenate([part.n_pos for part in found]), rankings.n_pos)
