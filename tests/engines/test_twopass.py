"""The two passes that all engines share: pure tasks whose results add up in any order."""

import itertools
import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest

import precall as pr
from precall.engines import _twopass, arrow
from precall.engines._census import PositiveScores, Room
from precall.engines._columns import Request, read_pieces
from precall.engines._survey import checksum
from precall.engines._thresholds import Thresholds
from precall.engines._twopass import Count, TakeCensus, rank_in_two_passes
from precall.groups.ranking_by_group import rank_groups
from precall.ranking.segments import SegmentCounts

pa = pytest.importorskip("pyarrow")

REQUEST = Request(label="y", score="s")


def shards(n_shards=6, rows=3000, decimals=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(rows) < 0.1
    scores = np.round(rng.normal(size=rows) + labels, decimals)
    groups = rng.integers(0, 40, rows)
    weights = rng.integers(1, 9, rows) / 4
    table = pa.table({"y": labels, "s": scores, "g": groups, "w": weights})
    cuts = np.linspace(0, rows, n_shards + 1).astype(int)
    return labels, scores, groups, [table.slice(a, b - a) for a, b in itertools.pairwise(cuts)]


def states(task, tables, request=REQUEST):
    columns = list(request.columns.values())
    return [
        task(read_pieces([table.select(columns)], request, number, 500))
        for number, table in enumerate(tables)
    ]


def over_the_wire(state):
    return pickle.loads(pickle.dumps(state, protocol=5))


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
@pytest.mark.parametrize("by_parts", [False, True])
@pytest.mark.parametrize("group", [None, "g"])
def test_results_add_up_in_any_order_and_grouping(order, by_parts, group, monkeypatch):
    monkeypatch.setattr(_twopass, "THRESHOLDS_PER_BLOCK", 7)
    labels, scores, groups, tables = shards(n_shards=4)
    request = Request(label="y", score="s", group=group)

    def run(task):
        found = [states(task, tables, request)[shard] for shard in order]
        if by_parts:  # as engines do that send parts of results to several places
            parts = {}
            for state in found:
                for number, part in state.split():
                    parts.setdefault(number, []).append(over_the_wire(part))
            found = [reduce(add, part) for part in parts.values()]
        first, second, *rest = (
            map(over_the_wire, found) if len(found) > 2 else (*found, task.start())
        )
        return (task.start() + first) + reduce(add, rest, second)

    found = rank_in_two_passes(run, request, None)
    if group is None:
        assert found == pr.rank(labels, scores)
    else:
        exact = rank_groups(labels, scores, groups)
        assert found.labels.tolist() == exact.labels.tolist()
        assert list(found) == list(exact)


def test_a_result_that_is_added_twice_is_noticed():
    *_, tables = shards()

    def run(task):
        found = states(task, tables)
        return reduce(add, found + found[:1] if isinstance(task, Count) else found)

    with pytest.raises(
        pr.exceptions.InputError, match="first pass read 3000 rows and the second 3500"
    ):
        rank_in_two_passes(run, REQUEST, None)


def test_what_crosses_the_network():
    *_, tables = shards(rows=40_000, decimals=12)
    census = reduce(add, states(TakeCensus(request=REQUEST), tables))
    values, _ = census.scores.thresholds(census.survey.dtype)
    size = values.size
    assert size > 3000
    # 8 bytes for each positive score out, 24 bytes for its counts back, and a little around them.
    assert len(pickle.dumps(census)) < 8 * size + 2000
    task = Count(request=REQUEST, thresholds=Thresholds(values))
    assert len(pickle.dumps(task)) < 8 * size + 2000
    assert len(pickle.dumps(states(task, tables)[0])) < 24 * size + 2000


def test_blocks_are_small_and_come_together_again(monkeypatch):
    monkeypatch.setattr(_twopass, "THRESHOLDS_PER_BLOCK", 10)
    *_, tables = shards()
    census = reduce(add, states(TakeCensus(request=REQUEST), tables))
    values, _ = census.scores.thresholds(census.survey.dtype)
    task = Count(request=REQUEST, thresholds=Thresholds(values))
    whole = reduce(add, states(task, tables))
    parts = [part for _, part in whole.split()]
    assert len(parts) in (values.size // 10, values.size // 10 + 1)
    assert all(
        counts.positives.rows.size <= 21 for part in parts for counts in part.counts.values()
    )
    rebuilt = reduce(add, map(over_the_wire, parts[::-1]), task.start())
    assert rebuilt.survey == whole.survey == census.survey
    assert rebuilt.whole().ranking(values) == whole.whole().ranking(values)
    assert rebuilt.whole().spreads == whole.whole().spreads


@pytest.mark.parametrize("limit", [1, 10, 100])
def test_thinned_scores_are_few_evenly_spaced_and_keep_the_ends(limit):
    rng = np.random.default_rng(0)
    values = rng.normal(size=100_000)
    parts = []
    for part in np.array_split(values, 20):
        parts.append(PositiveScores(limit))
        for chunk in np.array_split(part, 5):
            parts[-1].add(chunk)
    kept, _ = reduce(add, map(over_the_wire, parts)).thresholds(values.dtype)
    assert kept.size <= 2 * limit + 1
    assert (kept[0], kept[-1]) == (values.min(), values.max())
    shares = np.diff(np.searchsorted(np.sort(values), kept)) / values.size
    if limit > 1:
        # Each of about 20 thinnings may move a threshold by the distance of two.
        assert shares.max() < 8 / limit


def test_piecewise_and_whole_positive_scores_agree():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 5000, 50_000).astype(float)
    scores = PositiveScores()
    for chunk in np.array_split(values, 100):
        scores.add(chunk)
    np.testing.assert_array_equal(scores.thresholds(values.dtype)[0], np.unique(values))


def test_distinct_scores_are_counted_once_and_those_waiting_not_yet():
    scores = PositiveScores()
    assert scores.size == 0
    scores.add(np.array([2.0, 1.0, 2.0]))
    assert (scores.size, scores.n_waiting) == (0, 3)
    scores.settle()
    assert (scores.size, scores.n_waiting) == (2, 0)
    scores.add(np.zeros(0))
    scores.add(np.array([1.0, 3.0]))
    scores.settle()
    assert scores.size == 3


@pytest.mark.parametrize(("size", "kept"), [(20, 20), (21, 11)])
def test_scores_are_thinned_to_quantiles_when_they_are_more_than_twice_the_limit(size, kept):
    """Ten steps through equal numbers of rows, and the two ends."""
    scores = PositiveScores(10)
    scores.add(np.arange(float(size)))
    found, _ = scores.thresholds(np.dtype(float))
    assert found.size == kept
    if kept < size:
        inner = np.ceil(size * np.arange(1, 10) / 10) - 1  # the first row that reaches each share
        np.testing.assert_array_equal(found, [0, *inner, size - 1])
        assert scores.weights.sum() == size


def test_scores_are_thinned_within_their_group():
    rng = np.random.default_rng(2)
    groups = rng.choice(3, size=30_000, p=[0.9, 0.099, 0.001])
    values = rng.normal(size=30_000) + 10 * groups
    together, apart = PositiveScores(50), [PositiveScores(50) for _ in range(3)]
    for rows in np.array_split(np.arange(30_000), 7):
        together.add(values[rows], groups[rows])
    for group, scores in enumerate(apart):
        scores.add(values[groups == group])
    kept, kept_groups = together.thresholds(values.dtype)
    assert kept_groups.tolist() == sorted(kept_groups)
    for group, scores in enumerate(apart):
        own = values[groups == group]
        found = kept[kept_groups == group]
        assert found.size <= 101
        assert (found[0], found[-1]) == (own.min(), own.max())
        if own.size <= 100:  # too few to be thinned
            np.testing.assert_array_equal(found, scores.thresholds(values.dtype)[0])


def in_two_readings(change):
    """Two passes over the shards, the second of which sees them changed."""
    *_, tables = shards(rows=600)
    whole = pa.concat_tables(tables)

    def run(task):
        seen = change(whole) if isinstance(task, Count) else whole
        return reduce(add, states(task, [seen], REQUEST_ALL))

    return rank_in_two_passes(run, REQUEST_ALL, None)


REQUEST_ALL = Request(label="y", score="s", weight="w", group="g")


def replaced(table, name, values):
    return table.set_column(table.schema.get_field_index(name), name, pa.array(values))


def swapped(table, name):
    """Exchange the values of two rows of one column: counts and sums stay as they are."""
    values = table[name].to_numpy().copy()
    first, second = 0, int(np.flatnonzero(values != values[0])[0])
    values[[first, second]] = values[[second, first]]
    return replaced(table, name, values)


CHANGES = {
    "labels": (lambda t: swapped(t, "y"), "label='y' or .* had other values"),
    "scores": (lambda t: swapped(t, "s"), "score='s' or .* had other values"),
    "weights": (lambda t: swapped(t, "w"), "weight='w' or .* had other values"),
    "groups": (lambda t: swapped(t, "g"), "group='g' had other values"),
    "other labels": (
        lambda t: replaced(t, "y", np.full(600, 7)),
        r"\(600 of 7\) than in the first",
    ),
    "another negative label": (
        lambda t: replaced(t, "y", np.where(t["y"], 1, -1)),
        "had other labels in the second pass",
    ),
    "no scores": (
        lambda t: replaced(t, "s", np.full(600, np.nan)),
        "score='s' has 600 bad rows in the second pass",
    ),
    "a bad weight": (
        lambda t: replaced(t, "w", np.r_[-1.0, np.ones(599)]),
        "weight='w' has 1 bad row in the second pass",
    ),
    "a new group": (
        lambda t: replaced(t, "g", np.full(600, 99)),
        "group 99 came up in the second pass only",
    ),
    "one row twice": (
        lambda t: pa.concat_tables([t.slice(0, 599), t.slice(0, 1)]),
        "had other",
    ),
    "fewer rows": (lambda t: t.slice(1), "read 600 rows and the second 599"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_rows_that_change_between_the_passes_are_noticed(name):
    change, message = CHANGES[name]
    with pytest.raises(pr.exceptions.InputError, match=f"{message}.*between the passes"):
        in_two_readings(change)


def test_the_order_and_the_type_of_the_rows_may_change_between_the_passes():
    order = np.random.default_rng(3).permutation(600)

    def change(table):
        return replaced(table.take(order), "s", table["s"].to_numpy()[order].astype(np.float64))

    found, expected = in_two_readings(change), in_two_readings(lambda table: table)
    assert list(found) == list(expected)


def test_counts_that_do_not_fit_the_thresholds_are_refused():
    *_, tables = shards()
    census = reduce(add, states(TakeCensus(request=REQUEST), tables))
    values, _ = census.scores.thresholds(census.survey.dtype)
    missing, more = Thresholds(values[1:]), Thresholds(np.append(values, values[-1] + 1))
    for thresholds in (missing, more):
        task = Count(request=REQUEST, thresholds=thresholds)
        counts = reduce(add, states(task, tables)).whole()
        with pytest.raises(pr.exceptions.InputError, match="positives of the two passes"):
            thresholds.require_positives(counts, exact=True)
    counts = reduce(add, states(Count(request=REQUEST, thresholds=missing), tables)).whole()
    missing.require_positives(counts, exact=False)  # thinned thresholds leave positives between


def test_the_checksum_of_rows_is_the_sum_over_pieces_and_knows_equal_numbers():
    rng = np.random.default_rng(4)
    positive, scores = rng.random(50_000) < 0.3, rng.normal(size=50_000)
    weights = rng.random(50_000)
    keys = rng.integers(0, 2**63, 50_000).astype(np.uint64)
    whole = checksum(positive, scores, weights, keys)
    order = rng.permutation(50_000)
    parts = [
        checksum(positive[rows], scores[rows], weights[rows], keys[rows])
        for rows in np.array_split(order, 3)
    ]
    assert sum(parts) % 2**64 == whole
    whole_numbers = rng.integers(-100, 100, 1000)
    alike = [whole_numbers, whole_numbers.astype(np.float32), whole_numbers.astype(np.int8)]
    chosen = positive[:1000]
    assert len({checksum(chosen, each, None, None) for each in alike}) == 1
    zeros = np.zeros(1000)
    assert checksum(chosen, zeros, None, None) == checksum(chosen, -zeros, None, None)
    tiny = [checksum(chosen[:1], np.array([value]), None, None) for value in (1e-300, 2e-300, 0.0)]
    assert len(set(tiny)) == 3


@pytest.mark.parametrize("n_shards", [1, 2, 6])
def test_a_survey_of_shards_is_that_of_all_rows(n_shards):
    """Neither pieces nor shards change the sum by which the two passes are compared."""
    labels, scores, _, tables = shards(n_shards=n_shards)
    survey = reduce(add, states(TakeCensus(request=REQUEST), tables)).survey
    assert survey.checksum == checksum(labels, scores, None, None)
    assert (survey.n_rows, survey.n_used) == (3000, 3000)
    assert {label: found.count for label, found in survey.labels.items()} == {
        True: np.count_nonzero(labels),
        False: np.count_nonzero(~labels),
    }


def test_the_room_is_for_all_threads_together():
    *_, tables = shards(n_shards=2, rows=3000, decimals=12)

    def run(task):
        return reduce(add, states(task, tables))

    n_positives = sum(int(np.count_nonzero(table["y"])) for table in tables)
    with pytest.raises(pr.exceptions.InputError, match=rf"{n_positives} distinct .* memory="):
        rank_in_two_passes(run, REQUEST, None, room=Room(n_positives - 1, 10 * n_positives, 1))
    with pytest.raises(pr.exceptions.InputError, match="distinct scores, too many for memory="):
        rank_in_two_passes(run, REQUEST, None, room=Room(10 * n_positives, n_positives - 1, 1))
    assert rank_in_two_passes(run, REQUEST, None, room=Room(n_positives, n_positives, 1))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_thresholds_are_kept_and_missed_positives_counted(kind):
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(8)
    labels = (rng.random(500) < 0.3).astype(int)
    scores = (10 * rng.normal(size=500) + 10 * labels).astype(kind)
    asked = {"thresholds": [0.7, -3.5, 99.0], "missed_positives": 4}
    table = pa.table({"y": labels, "s": scores})
    found = arrow.rank(table, label="y", score="s", **asked)
    assert found == pr.rank(labels, scores, **asked)
    for option, value in asked.items():
        with pytest.raises(
            pr.exceptions.InputError, match="are for exact rankings, and missed_positives for one"
        ):
            arrow.rank(table, label="y", score="s", max_rows=20, **{option: value})


@pytest.mark.parametrize("n_thresholds", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("per_block", [1, 2, 3, 5])
def test_blocks_part_the_segments_and_join_again(n_thresholds, per_block):
    """No block is left without a threshold, but where there is none at all."""
    counts = SegmentCounts.empty(n_thresholds, weighted=False)
    counts.update(
        np.arange(n_thresholds, dtype=np.float64),
        np.array([True, False, True]),
        np.array([0.5, 0.5, 3.0]),
        None,
    )
    blocks = counts.blocks(per_block)
    sizes = [block.positives.rows.size for block in blocks]
    assert sum(sizes) == 2 * n_thresholds + 1
    assert min(sizes) > 1 or n_thresholds == 0
    again = SegmentCounts.from_blocks(blocks)
    np.testing.assert_array_equal(again.positives.rows, counts.positives.rows)
    np.testing.assert_array_equal(again.negatives.rows, counts.negatives.rows)
    assert again.n_rows == 3
