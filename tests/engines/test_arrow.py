"""Files, data sets, readers and pipes give what the same rows in memory give."""

import io
import os
import sys
import threading
import tracemalloc
from contextlib import suppress
from decimal import Decimal
from functools import partial

import numpy as np
import pytest

import precall as pr
from precall.engines import arrow
from precall.exceptions import DirectionWarning, InputError, MemoryLimitError
from precall.groups.ranking_by_group import rank_groups
from precall.ranking.segments import SegmentCounts
from precall.readers.options import ReadOptions
from tests.few_labels import check_plan_and_estimate
from tests.unit.test_package import modules_after

pa = pytest.importorskip("pyarrow")
import pyarrow.compute as pc  # noqa: E402
import pyarrow.csv as csv  # noqa: E402
import pyarrow.dataset as ds  # noqa: E402
import pyarrow.feather as feather  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

ROWS = 5_000
NAMES = {"label": "y", "score": "s"}


def make_table(seed=0, rows=ROWS):
    """Scores with ties inside and between the classes, weights with zeros, three groups."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(rows) < 0.05).astype(np.int64)
    scores = np.round(rng.normal(size=rows) + labels, 2)
    return pa.table(
        {
            "y": labels,
            "s": scores,
            "w": rng.integers(0, 5, rows) / 4,
            "g": rng.choice(["north", "south", "west"], rows),
            "unused": rng.random(rows),
        }
    )


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    """How much fits into a given memory depends on the number of threads."""
    monkeypatch.setattr("precall._threads.available_cores", lambda: 2)


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture(scope="module")
def expected(table):
    return pr.rank(table["y"], table["s"])


def json_lines(table, path):
    path.write_text("\n".join(str(row).replace("'", '"') for row in table.to_pylist()))


WRITERS = {
    "data.parquet": lambda t, path: pq.write_table(t, path, row_group_size=700),
    "data.pq": lambda t, path: pq.write_table(t, path, row_group_size=10**6),
    "data.feather": feather.write_feather,
    "data.arrow": lambda t, path: feather.write_feather(t, path, compression="zstd"),
    "data.csv": csv.write_csv,
    "data.csv.gz": lambda t, path: csv.write_csv(t, pa.CompressedOutputStream(path, "gzip")),
    "data.tsv": lambda t, path: csv.write_csv(t, path, csv.WriteOptions(delimiter="\t")),
    "data.jsonl": json_lines,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file(name, table, expected, tmp_path):
    WRITERS[name](table, tmp_path / name)
    assert arrow.rank(tmp_path / name, **NAMES) == expected


def test_globs_folders_lists_and_names_that_look_like_globs(table, expected, tmp_path):
    for number, start in enumerate(range(0, ROWS, 1500)):
        pq.write_table(table.slice(start, 1500), tmp_path / f"part[{number}].parquet")
    (tmp_path / "_SUCCESS").touch()
    assert arrow.rank(tmp_path, **NAMES) == expected
    assert arrow.rank(str(tmp_path / "part*.parquet"), **NAMES) == expected
    assert arrow.rank(sorted(tmp_path.glob("part*")), **NAMES) == expected
    [first] = tmp_path.glob("part?0?.parquet")
    assert arrow.rank(first, **NAMES).n_neg < 1500


def test_partitioned_data_sets_and_their_columns(table, expected, tmp_path):
    ds.write_dataset(
        table, tmp_path, format="parquet", partitioning=["g"], partitioning_flavor="hive"
    )
    assert arrow.rank(tmp_path, **NAMES) == expected
    rankings = arrow.rank_groups(tmp_path, **NAMES, group="g")
    assert_same_groups(rankings, rank_groups(table["y"], table["s"], table["g"]))


def assert_same_groups(found, expected):
    assert found.labels.tolist() == expected.labels.tolist()
    assert all(one == other for one, other in zip(found, expected, strict=True))


def test_data_sets_tables_and_reader_factories(table, expected, tmp_path):
    pq.write_table(table, tmp_path / "data.parquet", row_group_size=999)
    assert arrow.rank(ds.dataset(tmp_path), **NAMES) == expected
    assert arrow.rank(table, **NAMES) == expected
    assert arrow.rank(lambda: table, **NAMES) == expected
    assert arrow.rank(lambda: table.to_batches(max_chunksize=37), **NAMES) == expected
    assert arrow.rank(lambda: table.to_reader(), **NAMES) == expected
    assert (
        arrow.rank(lambda: pq.ParquetFile(tmp_path / "data.parquet").iter_batches(), **NAMES)
        == expected
    )


def test_the_filter_of_a_data_set_is_applied(table, tmp_path):
    pq.write_table(table, tmp_path / "data.parquet")
    chosen = ds.dataset(tmp_path).filter(ds.field("g") == "west")
    west = table.filter(ds.field("g") == "west")
    assert arrow.rank(chosen, **NAMES) == pr.rank(west["y"], west["s"])


def stream_of(table):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=800)
    return io.BytesIO(sink.getvalue())


def text_of(table, delimiter=","):
    sink = io.BytesIO()
    csv.write_csv(table, sink, csv.WriteOptions(delimiter=delimiter))
    return io.BytesIO(sink.getvalue())


ONCE = {
    "reader": lambda t: t.to_reader(),
    "arrow stream": stream_of,
    "csv": text_of,
    "tsv": lambda t: text_of(t, "\t"),
}


@pytest.mark.parametrize("kind", ONCE)
@pytest.mark.parametrize("memory", [1, 2**29])
def test_what_is_read_once_is_kept_in_memory_or_on_disk(kind, memory, table, expected):
    # With almost no memory the positives are refused, so they are few here.
    few = table.append_column("few", pa.array(np.round(table["s"].to_numpy())))
    ranking = arrow.rank(ONCE[kind](few), label="y", score="few", memory=max(memory, 10_000))
    assert ranking == pr.rank(few["y"], few["few"])


@pytest.mark.parametrize("kind", ONCE)
def test_what_is_read_once_is_ranked_in_one_pass_with_max_rows(kind, table, expected):
    ranking = arrow.rank(ONCE[kind](table), **NAMES, max_rows=20)
    assert len(ranking) <= 20
    assert (ranking.n_pos, ranking.n_neg) == (expected.n_pos, expected.n_neg)
    bounds = pr.tie_bounds(ranking)
    assert bounds.low <= pr.aucpr(expected) <= bounds.high
    grouped = arrow.rank_groups(ONCE[kind](table), **NAMES, max_rows=20, group="g", weight="w")
    assert [len(ranking) <= 20 for ranking in grouped] == [True] * 3


def test_standard_input(table, expected, monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(text_of(table))

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert arrow.rank("-", **NAMES) == expected


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe(table, expected, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(text_of(table).getvalue()))
    writer.start()
    assert arrow.rank(pipe, **NAMES) == expected
    writer.join()


@pytest.mark.parametrize("memory", [200_000, 2**29])
def test_weights_with_their_squares_and_rows(memory, table):
    found = arrow.rank(table, **NAMES, weight="w", memory=memory)
    exact = pr.rank(table["y"], table["s"], sample_weight=table["w"])
    assert found == exact  # weights are quarters, so their sums are exact
    for one, other in zip(found.rows, exact.rows, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(found.moments, exact.moments, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "words", "dictionary"])
def test_many_groups_in_any_order_are_counted_at_once(weighted, kind, tmp_path, monkeypatch):
    rng = np.random.default_rng(11)
    rows = 20_000
    labels = rng.random(rows) < 0.1
    scores = rng.choice([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, np.inf], rows) + 0.01 * labels
    groups = rng.integers(0, 3000, rows)
    weights = rng.integers(0, 5, rows) / 4 if weighted else None
    column = pa.array(groups if kind == "numbers" else [f"query {g}" for g in groups])
    columns = {"y": labels, "s": scores, "w": np.ones(rows) if weights is None else weights}
    table = pa.table(columns | {"g": column.dictionary_encode() if kind[0] == "d" else column})
    pq.write_table(table, tmp_path / "data.parquet", row_group_size=4000)
    calls = []
    count = SegmentCounts.update
    monkeypatch.setattr(
        SegmentCounts, "update", lambda *a, **k: (calls.append(1), count(*a, **k))[1]
    )
    options = {"weight": "w"} if weighted else {}
    found = arrow.rank_groups(tmp_path / "data.parquet", **NAMES, group="g", **options)
    expected = rank_groups(labels, scores, column, sample_weight=weights)
    assert found.labels.tolist() == expected.labels.tolist()
    assert list(found) == list(expected)
    assert len(calls) <= 5  # one for each piece of the file, however many groups there are
    kept = arrow.rank_groups(tmp_path / "data.parquet", **NAMES, group="g", max_rows=50, **options)
    assert list(kept) == list(expected)


@pytest.mark.parametrize("weight", [None, "w"])
def test_thresholds_are_kept_in_every_group(weight, table):
    asked = [-0.5, 0.0, 1.25, 99.0]
    found = arrow.rank_groups(table, **NAMES, group="g", weight=weight, thresholds=asked)
    for label, ranking in zip(found.labels.tolist(), found, strict=True):
        own = table.filter(pc.equal(table["g"], label))
        weights = None if weight is None else own[weight]
        assert ranking == pr.rank(own["y"], own["s"], sample_weight=weights, thresholds=asked)
    with pytest.raises(InputError, match="leave out max_rows"):
        arrow.rank_groups(table, **NAMES, group="g", max_rows=5, thresholds=asked)
    with pytest.raises(MemoryLimitError, match="fewer thresholds"):
        arrow.rank_groups(table, **NAMES, group="g", memory=2**18, thresholds=range(10_000))


def test_groups_are_coarsened_one_by_one():
    rng = np.random.default_rng(12)
    labels = rng.random(20_000) < 0.3
    scores = rng.normal(size=20_000) + labels
    groups = rng.choice(3, size=20_000, p=[0.8, 0.199, 0.001])
    table = pa.table({"y": labels, "s": scores, "g": groups})
    found = arrow.rank_groups(lambda: table.to_batches(1000), **NAMES, group="g", max_rows=20)
    for ranking, exact in zip(found, rank_groups(labels, scores, groups), strict=True):
        assert len(ranking) <= 20
        assert (ranking.n_pos, ranking.n_neg) == (exact.n_pos, exact.n_neg)
        bounds = pr.tie_bounds(ranking)
        assert bounds.low <= pr.aucpr(exact) <= bounds.high
    assert found[2] == rank_groups(labels, scores, groups)[2]  # few enough to stay exact
    assert [ranking.coarsened for ranking in found] == [True, True, False]
    with pytest.raises(InputError, match="this ranking was coarsened"):
        pr.operating_point(found.of(0), min_precision=0.2)
    assert found.select([2, 0])[1].coarsened


def test_groups_without_positives_have_their_place(table):
    group = np.where(table["y"].to_numpy() == 1, 7, np.arange(ROWS) % 3)
    found = arrow.rank_groups(table.append_column("k", pa.array(group)), **NAMES, group="k")
    assert_same_groups(found, rank_groups(table["y"], table["s"], group))
    assert found.n_pos.tolist()[:3] == [0, 0, 0]


LABELS = {
    "booleans": (lambda y: pa.array(y == 1), 1),
    "minus one": (lambda y: pa.array(2.0 * y - 1), 1),
    "negative class": (lambda y: pa.array(y), 0),
    "strings": (lambda y: pa.array(np.where(y == 1, "spam", "ham")), "spam"),
    "categories": (lambda y: pa.array(np.where(y == 1, "spam", "ham")).dictionary_encode(), "spam"),
    "other numbers": (lambda y: pa.array(np.where(y == 1, 7, 3)), 7),
    "decimals": (lambda y: pa.array([Decimal(int(value)) for value in y]), 1),
}


@pytest.mark.parametrize("kind", LABELS)
def test_every_kind_of_label(kind, table, expected):
    make, pos_label = LABELS[kind]
    labels = make(table["y"].to_numpy())
    changed = table.set_column(0, "y", labels)
    if pos_label == 0:
        with pytest.warns(DirectionWarning):
            expected = pr.rank(table["y"], table["s"], pos_label=0)
        with pytest.warns(DirectionWarning):
            assert arrow.rank(changed, **NAMES, pos_label=0) == expected
    else:
        assert arrow.rank(changed, **NAMES, pos_label=pos_label) == expected


SCORES = {
    "float32": lambda s: s.astype(np.float32),
    "float16": lambda s: s.astype(np.float16),
    "int8": lambda s: np.clip(s * 10, -128, 127).astype(np.int8),
    "int64": lambda s: (s * 100).astype(np.int64) + 2**60,
    "uint64": lambda s: (s * 100 + 10_000).astype(np.uint64) + np.uint64(2**63),
    "infinite": lambda s: np.where(s > 1, np.inf, np.where(s < -1, -np.inf, s)),
    "boolean": lambda s: s > 0,
}


@pytest.mark.parametrize("kind", SCORES)
def test_every_kind_of_score(kind, table):
    scores = SCORES[kind](table["s"].to_numpy())
    found = arrow.rank(table.set_column(1, "s", pa.array(scores)), **NAMES)
    assert found == pr.rank(table["y"], scores)
    assert found.threshold.dtype.kind == pr.rank(table["y"], scores).threshold.dtype.kind


def test_decimal_scores_are_numbers(table, expected):
    decimals = pa.array([Decimal(f"{value:.2f}") for value in table["s"].to_numpy()])
    assert arrow.rank(table.set_column(1, "s", decimals), **NAMES) == expected


def test_files_of_different_types_are_compared_as_the_wider_one():
    parts = [
        pa.table({"y": [1, 0, 1], "s": pa.array([3, 2, 1], pa.int32())}),
        pa.table({"y": [1, 0, 0], "s": pa.array([2.5, 2.0, 0.5], pa.float64())}),
    ]
    found = arrow.rank(lambda: parts, **NAMES)
    assert found == pr.rank([1, 0, 1, 1, 0, 0], [3, 2, 1, 2.5, 2.0, 0.5])


def test_hostile_names(table, expected, tmp_path):
    names = ["a.b", "`s`; DROP", "", "g' or 1", "a"]
    pq.write_table(table.rename_columns(names), tmp_path / "data.parquet")
    for data in (tmp_path / "data.parquet", table.rename_columns(names)):
        assert arrow.rank(data, label="a.b", score="`s`; DROP") == expected
        assert arrow.rank(data, label="a.b", score="`s`; DROP", weight="").weighted


def test_one_column_in_two_roles(table):
    found = arrow.rank(table, label="y", score="w", weight="w")
    assert found == pr.rank(table["y"], table["w"], sample_weight=table["w"])


@pytest.mark.parametrize("max_rows", [1, 5, 40])
def test_coarsened_with_bounds_that_contain_the_exact_value(max_rows, tmp_path):
    rng = np.random.default_rng(3)
    labels = rng.random(20_000) < 0.3
    table = pa.table({"y": labels, "s": rng.normal(size=20_000) + labels})
    pq.write_table(table, tmp_path / "data.parquet", row_group_size=1000)
    found = arrow.rank(tmp_path / "data.parquet", **NAMES, max_rows=max_rows, memory=2**20)
    exact = pr.rank(table["y"], table["s"])
    assert len(found) <= max_rows
    assert (found.n_pos, found.n_neg) == (exact.n_pos, exact.n_neg)
    for estimator in ("average_precision", "davis_goadrich"):
        bounds = pr.tie_bounds(found, estimator=estimator)
        best = pr.tie_bounds(exact.coarsen(max_rows), estimator=estimator)
        assert bounds.low <= pr.aucpr(exact, estimator=estimator) <= bounds.high
        # Thresholds from quantiles cost little against choosing from all positives.
        assert bounds.high - bounds.low < 2 * (best.high - best.low)


def test_max_rows_above_the_positives_is_exact(table, expected):
    assert arrow.rank(table, **NAMES, max_rows=ROWS) == expected


def test_positives_beyond_the_memory_are_refused_with_the_way_out():
    table = pa.table({"y": np.ones(20_000), "s": np.arange(20_000.0)})
    with pytest.raises(InputError, match=r"larger memory= .* or max_rows="):
        arrow.rank(table, **NAMES, memory=1_000_000)
    assert arrow.rank(table, **NAMES, memory=1_000_000, max_rows=100).n_pos == 20_000


@pytest.mark.parametrize("n_positives", [60_000, 300_000, 590_000])
@pytest.mark.parametrize(
    "options", [{}, {"weight": "w"}, {"group": "g"}, {"max_rows": 20_000}], ids=str
)
def test_memory_is_a_bound_for_all_threads_together(n_positives, options):
    rng = np.random.default_rng(5)
    labels = np.arange(600_000) < n_positives
    rng.shuffle(labels)
    columns = {"y": labels, "s": rng.normal(size=600_000), "w": rng.random(600_000)}
    table = pa.table(columns | {"g": rng.integers(0, 50, 600_000)})
    memory = 2**25
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        # Whether they fit or not, nothing is to take more than this.
        with suppress(InputError):
            rank_all = arrow.rank_groups if "group" in options else arrow.rank
            rank_all(table, **NAMES, **options, memory=memory)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < memory


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_progress_counts_every_row_twice(suffix, table, tmp_path):
    WRITERS[f"data.{suffix}"](table, tmp_path / f"data.{suffix}")
    calls = []
    arrow.rank(
        tmp_path / f"data.{suffix}",
        **NAMES,
        memory=100_000,
        progress=lambda *call: calls.append(call),
    )
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert calls[-1] == (2 * ROWS, 2 * ROWS)
    if suffix == "parquet":
        assert {call[1] for call in calls} == {2 * ROWS}


def spoiled(table, column, rows, value):
    values = table[column].to_pylist()
    for row in rows:
        values[row] = value
    index = table.schema.get_field_index(column)
    return table.set_column(index, column, pa.array(values))


FLAWS = {
    "NaN scores": ("s", [4321, 17, 900], np.nan, 1),
    "null scores": ("s", [4321, 17], None, 1),
    "null labels": ("y", [4000, 33], None, 1),
    "third label": ("y", [4000, 33], 2, 1),
    "labels without the positive one": ("y", [], 0, 3),
    "labels of another kind": ("y", [], 0, "yes"),
    "negative weight": ("w", [4999, 5], -1.0, 1),
    "infinite weight": ("w", [4999], np.inf, 1),
    "weights that vanish": ("w", [4999, 7], 1e-200, 1),
    "null group": ("g", [5], None, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", FLAWS)
@pytest.mark.parametrize("once", [False, True])
def test_errors_are_those_of_rank_with_the_count_over_all_shards(name, once, table, tmp_path):
    column, rows, value, pos_label = FLAWS[name]
    bad = spoiled(table, column, rows, value)
    arrays = {
        c: np.asarray(bad[c].to_pylist(), dtype=object if c in "yg" else float) for c in "yswg"
    }
    if name == "labels of another kind":
        arrays["y"] = arrays["y"].astype(int)
    with pytest.raises(InputError) as in_memory:
        rank_groups(
            arrays["y"], arrays["s"], arrays["g"], sample_weight=arrays["w"], pos_label=pos_label
        )
    data = bad.to_reader()
    if not once:
        data = tmp_path / "data.parquet"
        pq.write_table(bad, data, row_group_size=1000)
    with pytest.raises(InputError) as found:
        arrow.rank_groups(data, **NAMES, weight="w", group="g", pos_label=pos_label, memory=400_000)
    roles = {"y_true": "label='y'", "y_score": "score='s'", "sample_weight": "weight='w'"}
    told = str(in_memory.value).replace("groups", "group='g'")
    for ours, theirs in roles.items():
        told = told.replace(ours, theirs)
    remedy = " pass label='y' == label"
    if name == "null group":  # in memory, groups are counted by runs of rows
        assert "group='g' must not be missing (NaN or None): 1 bad row of 5000" in str(found.value)
    else:
        assert str(found.value).split(remedy)[0].startswith(told.split(remedy)[0])


def test_missing_positions_of_a_dictionary_without_sign_are_missing():
    words = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0], pa.uint8()), ["n", "p"])
    inside = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 0], pa.int8()), ["n", "p", None])
    message = "must not be missing .*: 1 bad row of 4, the first at position 1"
    scores = pa.array([4.0, 3.0, 2.0, 1.0])
    for column in (words, inside):
        with pytest.raises(InputError, match=f"label='y' {message}"):
            arrow.rank(pa.table({"y": column, "s": scores}), **NAMES, pos_label="p")
        grouped = pa.table({"y": [1, 0, 1, 0], "s": scores, "g": column})
        with pytest.raises(InputError, match=f"group='g' {message}"):
            arrow.rank_groups(grouped, **NAMES, group="g")


@pytest.mark.parametrize("nested", [[[1], [0]], [{"a": 1}, {"a": 0}]], ids=["list", "struct"])
@pytest.mark.parametrize("role", ["label", "score", "weight", "group"])
def test_nested_columns_are_refused_in_one_way(nested, role, tmp_path):
    columns = {"label": [1, 0], "score": [2.0, 1.0], "weight": [1.0, 1.0], "group": ["a", "b"]}
    table = pa.table(columns | {role: nested})
    pq.write_table(table, tmp_path / "data.parquet")
    json_lines(table, tmp_path / "data.jsonl")
    names = {name: name for name in columns}
    for data in (table, tmp_path / "data.parquet", tmp_path / "data.jsonl"):
        with pytest.raises(InputError, match=f"'{role}' .*one value per row"):
            arrow.rank_groups(data, **names)


def test_the_positive_label_is_one(table):
    with pytest.raises(InputError, match=r"pos_label must be one label, got \[1\]"):
        arrow.rank(table, **NAMES, pos_label=[1])


def test_too_many_labels_do_not_fill_the_memory():
    table = pa.table({"y": np.arange(5000.0), "s": np.arange(5000.0)})
    with pytest.raises(InputError, match=r"at most two labels, got more than 1000 \(0.0, 1.0"):
        arrow.rank(table, **NAMES)


def test_labels_that_only_differ_between_shards():
    parts = [pa.table({"y": [1, 0], "s": [1.0, 2.0]}), pa.table({"y": [1, -1], "s": [1.0, 2.0]})]
    with pytest.raises(InputError, match=r"at most two labels, got 3 .* third one is 3"):
        arrow.rank(lambda: parts, **NAMES)


@pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")
def test_one_label_against_the_rest(table, tmp_path):
    """Of words and of numbers, in pieces and in one pass, alone, by group and compared."""
    names = np.array(table["g"].to_pylist())
    numbers = np.select([names == "north", names == "south"], [3, 5], 8)
    wide = table.append_column("k", pa.array(numbers)).append_column(
        "t", pa.array(-table["s"].to_numpy())
    )
    scores, positive = table["s"].to_numpy(), names == "south"
    said = []
    for label, pos_label in (("g", "south"), ("k", 5), ("k", 5.0)):
        asked = {"label": label, "pos_label": pos_label, "one_against_rest": True}
        assert arrow.rank(wide, score="s", **asked) == pr.rank(positive, scores)
        pq.write_table(wide, tmp_path / "wide.parquet")
        told = ReadOptions(say=said.append)
        arrow.rank(tmp_path / "wide.parquet", score="s", options=told, **asked)
        coarse = arrow.rank(wide.to_reader(), score="s", max_rows=50, **asked)
        low, high = pr.tie_bounds(coarse)
        assert low <= pr.aucpr(pr.rank(positive, scores)) <= high
        groups = arrow.rank_groups(wide, score="s", group="y", **asked)
        expected = rank_groups(positive, scores, table["y"].to_numpy())
        assert all(one == other for one, other in zip(groups, expected, strict=True))
        both = arrow.compare(wide, scores=["s", "t"], **asked)
        assert both.estimates == pr.compare(positive, {"s": scores, "t": -scores}).estimates
        with pytest.raises(InputError, match="at most two labels"):
            arrow.rank(wide, label=label, score="s", pos_label=pos_label)
    assert said[0].startswith("label column 'g': 'south' is positive, and '")
    with pytest.raises(InputError, match="label='k' has no label 4; it has '"):
        arrow.rank(wide, label="k", score="s", pos_label=4, one_against_rest=True)
    with pytest.raises(InputError, match="one_against_rest must be"):
        arrow.rank(wide, label="k", score="s", one_against_rest="yes")
    with pytest.raises(InputError, match="at most two labels"):  # a column of something else
        arrow.rank(wide, label="s", score="s", pos_label=0.0, one_against_rest=True)


def test_weights_that_are_all_zero(table):
    zero = table.append_column("zero", pa.array(np.zeros(ROWS)))
    with pytest.raises(InputError, match="weight='zero' is zero in every row"):
        arrow.rank(zero, **NAMES, weight="zero")


def test_no_rows():
    with pytest.raises(InputError, match="label='y' and score='s' must have at least one row"):
        arrow.rank(
            pa.table({"y": pa.array([], pa.int8()), "s": pa.array([], pa.float64())}), **NAMES
        )


WRONG = {
    "no such column": ({"score": "S"}, "score='S' is not a column of the data, which has 'y', 's'"),
    "text as scores": ({"score": "g"}, "score='g' must hold real numbers, got string"),
    "text as weights": ({"weight": "g"}, "weight='g' must hold numbers, got string"),
    "too few rows": ({"max_rows": 0}, "max_rows must be a whole number of at least 1"),
    "no memory": ({"memory": 0}, "memory must be a whole number of at least 1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name, table):
    changed, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        arrow.rank(table, **{**NAMES, **changed})


def test_a_column_that_is_there_twice(table):
    twice = table.rename_columns(["y", "s", "s", "g", "u"])
    with pytest.raises(InputError, match="score='s' names 2 columns"):
        arrow.rank(twice, **NAMES)


def test_a_column_that_one_file_lacks(table, tmp_path):
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(table.drop_columns("s"), tmp_path / "2.parquet")
    with pytest.raises(InputError, match="score='s' is not a column"):
        arrow.rank(tmp_path, **NAMES)


def test_files_that_are_not_there_or_not_known(table, tmp_path):
    (tmp_path / "data.doc").write_bytes(b"?")
    (tmp_path / "data.parquet").write_bytes(b"?")
    (tmp_path / "empty").mkdir()
    for data, message in {
        tmp_path / "none.parquet": "is not there",
        tmp_path / "*.csv": "is not there",
        tmp_path / "data.doc": r"has the ending '.doc', which is none of .parquet",
        tmp_path / "empty": "is a folder without a file of data",
        tmp_path: r"has the ending '.doc'",
        tmp_path / "data.parquet": "cannot be read",
        3.5: "data must be a path",
    }.items():
        with pytest.raises(InputError, match=message):
            arrow.rank(data, **NAMES)
    with pytest.raises(InputError, match="its result was int"):
        arrow.rank(lambda: 3, **NAMES)
    with pytest.raises(InputError, match="is empty"):
        arrow.rank(io.BytesIO(), **NAMES)


def test_a_file_that_turns_bad_further_on(tmp_path):
    lines = ["y,s", *(f"{row % 2},{row}" for row in range(200_000)), "1,high", ""]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"column 's' holds text such as 'high', not numbers"):
        arrow.rank(tmp_path / "data.csv", **NAMES)


def test_an_error_stops_the_other_threads(table):
    seen = []

    def batches():
        for number in range(1000):
            seen.append(number)
            yield table

    def progress(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        arrow.rank(batches, **NAMES, progress=progress)
    assert len(seen) < 500


def test_a_file_that_is_replaced_between_the_passes(table, tmp_path):
    path = tmp_path / "data.feather"
    feather.write_feather(table, path)
    other = table.set_column(1, "s", pa.array(np.roll(table["s"].to_numpy(), 1)))
    replacement = iter([other])

    def progress(done, total):
        if done == ROWS:  # the first pass is over
            feather.write_feather(next(replacement), tmp_path / "new.feather")
            (tmp_path / "new.feather").replace(path)

    with pytest.raises(InputError, match="had other values in the second pass than in the first"):
        arrow.rank(path, **NAMES, progress=progress)


def test_data_that_change_between_the_passes(table):
    passes = iter([table, table.slice(10)])
    with pytest.raises(InputError, match="first pass read 5000 rows and the second 4990"):
        arrow.rank(lambda: next(passes), **NAMES)


def test_a_scorer_worse_than_random_is_told(table):
    with pytest.warns(DirectionWarning):
        arrow.rank(table.set_column(1, "s", pa.array(-table["s"].to_numpy())), **NAMES)


def test_importing_the_engines_imports_none_of_their_libraries():
    loaded = modules_after("from precall.engines import arrow, dask, spark")
    assert "precall.engines.spark" in loaded
    assert not loaded & {"pyarrow", "pandas", "dask", "distributed", "pyspark"}


def test_a_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.setattr("precall._optional.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pyarrow.*\.\[arrow\]"):
        arrow.rank("data.parquet", **NAMES)


@pytest.mark.parametrize("group", [None, "g"])
def test_weighted_results_are_the_same_each_time_and_for_any_number_of_cores(
    tmp_path, monkeypatch, group
):
    rng = np.random.default_rng(5)
    size = 40_000
    columns = {
        "y": rng.random(size) < 0.1,
        "s": rng.integers(0, 500, size) / 500,
        "w": rng.random(size),
        "g": rng.integers(0, 5, size),
    }
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=1500)
    found = []
    for cores in (1, 2, 7, 2, 2):
        monkeypatch.setattr("precall._threads.available_cores", lambda cores=cores: cores)
        names = {"label": "y", "score": "s", "weight": "w"}
        rank_all = arrow.rank if group is None else partial(arrow.rank_groups, group=group)
        found.append(rank_all(path, **names))
    for other in found[1:]:
        if group is None:
            assert other == found[0]
            assert other.moments == found[0].moments
        else:
            assert all(a == b for a, b in zip(other, found[0], strict=True))


def test_an_engine_knows_whether_weights_are_repetitions():
    columns = {"y": [1, 1, 0, 1], "s": [2, 2, 2, 3], "w": [0.5, 0.5, 1.0, 1.0], "g": [1, 1, 1, 2]}
    names = {"label": "y", "score": "s", "weight": "w"}
    table = pa.table(columns)
    assert arrow.rank(table, **names).divisible
    assert arrow.rank_groups(table, **names, group="g").divisible.tolist() == [True, False]
    builder = pr.RankingBuilder(max_rows=10)
    builder.update(columns["y"], columns["s"], sample_weight=columns["w"])
    assert builder.ranking().divisible
    whole = table.set_column(2, "w", pa.array([2.0, 1.0, 0.25, 1.0]))
    assert not arrow.rank(whole, **names).divisible


@pytest.mark.parametrize("weight", [None, "weight"])
def test_few_rows_are_read_once_and_counted_as_many_are(tmp_path, monkeypatch, weight):
    rng = np.random.default_rng(21)
    y = rng.random(3_000) < 0.1
    columns = {"label": y, "score": np.round(rng.normal(size=3_000) + y, 2)}
    columns["weight"] = rng.integers(0, 4, 3_000) / 2
    path = tmp_path / "few.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=700)
    asked = {"label": "label", "score": "score", "weight": weight}
    opened, calls = [], []
    reading = pq.ParquetFile.iter_batches

    def noted(file, *arguments, **options):
        opened.append(file)
        return reading(file, *arguments, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    found = arrow.rank(path, **asked, progress=lambda *how_far: calls.append(how_far))
    assert len(opened) == 1
    passes = 2 if weight else 1
    assert calls[-1] == (passes * 3_000, passes * 3_000)
    monkeypatch.setattr("precall.engines._lanes._FEW_ROWS", 0)
    many = arrow.rank(path, **asked)
    assert len(opened) == 1 + passes
    assert found == many
    assert found.moments == many.moments
    assert found == pr.rank(y, columns["score"], sample_weight=weight and columns["weight"])


def written(table, path, **options):
    pq.write_table(table, path, **options)
    return path


@pytest.mark.parametrize(
    "asked",
    [{}, {"thresholds": [-1.25, 0.0, 2.5]}, {"missed_positives": 7}],
    ids=["plain", "thresholds", "missed positives"],
)
def test_rows_that_fit_are_read_once_and_counted_as_in_two_passes(
    asked, table, tmp_path, monkeypatch
):
    path = written(table, tmp_path / "data.parquet", row_group_size=700)
    monkeypatch.setattr("precall.engines._lanes._FEW_ROWS", 0)
    found = []
    for memory, passes in ((2**20, 1), (100_000, 2)):
        calls = []

        def progress(done, total, calls=calls):
            calls.append((done, total))

        found.append(arrow.rank(path, **NAMES, **asked, memory=memory, progress=progress))
        assert calls[-1] == (passes * ROWS, passes * ROWS)
    whole = pr.rank(table["y"], table["s"], **asked)
    assert found == [whole, whole]
    for ranking in found:
        assert np.allclose(ranking.moments, whole.moments, rtol=1e-12)


def test_rows_that_do_not_fit_for_their_many_positives_are_read_again(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    columns = {"y": rng.random(20_000) < 0.5, "s": rng.integers(0, 500, 20_000)}
    path = written(pa.table(columns), tmp_path / "data.parquet", row_group_size=1_000)
    monkeypatch.setattr("precall.engines._lanes._FEW_ROWS", 0)
    calls = []
    found = arrow.rank(path, **NAMES, memory=20_000 * 40, progress=lambda *call: calls.append(call))
    assert found == pr.rank(columns["y"], columns["s"])
    assert calls[0][1] == 20_000
    done, total = calls[-1]
    assert done == total > 40_000  # what was read in vain counts
    assert [call[0] for call in calls] == sorted(call[0] for call in calls)


@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_memory_is_a_bound_for_rows_that_are_read_once(share, tmp_path):
    rng = np.random.default_rng(8)
    label = np.arange(400_000) < share * 400_000
    columns = {"y": label, "s": rng.normal(size=label.size)}
    path = written(pa.table(columns), tmp_path / "data.parquet", row_group_size=20_000)
    memory = (24 * label.size + 80 * np.count_nonzero(label)) * 4 // 3 + 100_000
    calls = []
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        arrow.rank(path, **NAMES, memory=memory, progress=lambda *call: calls.append(call))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert calls[-1] == (label.size, label.size)
    assert peak - before < memory


@pytest.mark.parametrize("wide", [0, 1])
def test_files_of_different_types_that_are_read_once(wide, tmp_path):
    """An integer beyond 2**53 and the number with a fraction that it is rounded to are tied."""
    scores = [pa.array([2**53 + 1, 5], pa.int64()), pa.array([float(2**53), 0.5])]
    labels = [[1, 0], [0, 1]]
    places = (0, 1) if wide else (1, 0)
    paths = [
        written(pa.table({"y": labels[place], "s": scores[place]}), tmp_path / f"{number}.parquet")
        for number, place in enumerate(places)
    ]
    found = arrow.rank(paths, **NAMES)
    assert found == pr.rank([1, 0, 0, 1], [float(2**53), 5.0, float(2**53), 0.5])
    assert found.tied.tolist() == [1, 0]


def test_a_file_that_cannot_be_counted_is_named(table, tmp_path):
    path = written(table, tmp_path / "data.parquet")
    data = ds.dataset(path)
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match="data cannot be read"):
        arrow.rank(data, **NAMES)


def test_a_damaged_file_of_few_rows_is_named(tmp_path):
    path = tmp_path / "damaged.parquet"
    pq.write_table(pa.table({"label": [0, 1] * 500, "score": np.arange(1000.0)}), path)
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="cannot be read"):
        arrow.rank(path, label="label", score="score")


@pytest.mark.parametrize("name", ["data.parquet", "data.pq", "data.feather", "data.csv", "reader"])
def test_a_plan_of_rows_in_files_is_that_in_memory(name, table, tmp_path):
    numbered = table.append_column("id", pa.array(range(ROWS)))
    data = numbered.to_reader(700) if name == "reader" else tmp_path / name
    if name != "reader":
        WRITERS[name](numbered, data)
    population = arrow.scores(data, score="s", keep=["id"], memory=2**20)
    given = table["s"].to_numpy(), table["y"].to_numpy()
    check_plan_and_estimate(population, *given, budget=150, metrics=("precision_at_k(300)",))


def test_scores_that_change_or_are_missing_are_refused(table, tmp_path):
    tables = iter([table, table, make_table(1)])
    changing = arrow.scores(lambda: next(tables), score="s")
    with pytest.raises(InputError, match="other values in the second pass than in the first"):
        pr.audit.plan_of(changing, budget=100)
    holes = table.set_column(1, "s", pa.array([*table["s"].to_pylist()[:-1], None]))
    with pytest.raises(InputError, match="1 bad row of 5000, the first at position 4999"):
        pr.audit.plan_of(arrow.scores(holes, score="s"), budget=100)
    with pytest.raises(InputError, match="must have at least one row"):
        pr.audit.plan_of(arrow.scores(table.slice(0, 0), score="s"), budget=100)
    with pytest.raises(InputError, match="must hold real numbers"):
        pr.audit.plan_of(arrow.scores(table, score="g"), budget=100)
    csv.write_csv(table, tmp_path / "data.csv")
    with pytest.raises(InputError, match="keep='z' is not a column"):
        arrow.scores(tmp_path / "data.csv", score="s", keep=["z"])


def test_the_copy_of_a_text_file_goes_with_the_rows(table, tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    csv.write_csv(table, tmp_path / "data.csv")
    rows = arrow.scores(tmp_path / "data.csv", score="s")
    assert list((tmp_path / "scratch").iterdir())
    del rows
    assert not list((tmp_path / "scratch").iterdir())
