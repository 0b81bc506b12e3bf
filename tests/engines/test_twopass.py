"""The two passes that all engines share: pure tasks whose results add up in any order."""

import itertools
import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest

import precall as pr
from precall.aggregate.groups import rank_groups
from precall.engines import _twopass
from precall.engines._census import PositiveScores
from precall.engines._columns import Request, read_pieces
from precall.engines._twopass import Count, TakeCensus, Tally, rank_in_two_passes

pa = pytest.importorskip("pyarrow")

REQUEST = Request(label="y", score="s")


def shards(n_shards=6, rows=3000, decimals=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(rows) < 0.1
    scores = np.round(rng.normal(size=rows) + labels, decimals)
    groups = rng.integers(0, 40, rows)
    table = pa.table({"y": labels, "s": scores, "g": groups})
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

    rankings = rank_in_two_passes(run, request, None)
    if group is None:
        assert rankings[None] == pr.rank(labels, scores)
    else:
        exact = rank_groups(labels, scores, groups)
        assert all(rankings[label] == exact.of(label) for label in exact.labels.tolist())


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
    [thresholds] = census.thresholds().values()
    size = thresholds.size
    assert size > 3000
    # 8 bytes for each positive score out, 24 bytes for its counts back, and a little around them.
    assert len(pickle.dumps(census)) < 8 * size + 2000
    task = Count(request=REQUEST, thresholds={None: thresholds})
    assert len(pickle.dumps(task)) < 8 * size + 2000
    assert len(pickle.dumps(states(task, tables)[0])) < 24 * size + 2000


def test_blocks_are_small_and_come_together_again(monkeypatch):
    monkeypatch.setattr(_twopass, "THRESHOLDS_PER_BLOCK", 10)
    *_, tables = shards()
    thresholds = reduce(add, states(TakeCensus(request=REQUEST), tables)).thresholds()
    whole = reduce(add, states(Count(request=REQUEST, thresholds=thresholds), tables))
    parts = [part for _, part in whole.split()]
    assert (
        len(parts) == thresholds[None].size // 10 or len(parts) == thresholds[None].size // 10 + 1
    )
    assert all(
        counts.positives.rows.size <= 21 for part in parts for counts in part.counts.values()
    )
    rebuilt = reduce(add, map(over_the_wire, parts[::-1]), Tally()).by_group()[None]
    assert rebuilt.ranking(thresholds[None]) == whole.by_group()[None].ranking(thresholds[None])
    assert rebuilt.spreads == whole.by_group()[None].spreads


@pytest.mark.parametrize("limit", [1, 10, 100])
def test_thinned_scores_are_few_evenly_spaced_and_keep_the_ends(limit):
    rng = np.random.default_rng(0)
    values = rng.normal(size=100_000)
    parts = []
    for part in np.array_split(values, 20):
        parts.append(PositiveScores(limit))
        for chunk in np.array_split(part, 5):
            parts[-1].add(chunk)
    kept = reduce(add, map(over_the_wire, parts)).thresholds(values.dtype)
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
    np.testing.assert_array_equal(scores.thresholds(values.dtype), np.unique(values))
