"""SQLite, DuckDB and a real PostgreSQL server count what the same rows in memory give."""

import math
import sqlite3
import threading
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import precall as pr
from precall.engines import sql
from precall.exceptions import DirectionWarning, InputError
from precall.groups.ranking_by_group import rank_groups

pytestmark = pytest.mark.xdist_group("postgresql")

NAMES = {"label": "y", "score": "s"}
TYPES = {
    "sqlite": {"integer": "INTEGER", "double": "REAL"},
    "duckdb": {"integer": "BIGINT", "double": "DOUBLE"},
    "postgresql": {"integer": "BIGINT", "double": "DOUBLE PRECISION"},
}
# Names that would be syntax, comments, strings or places for values if they were not quoted.
HOSTILE = ['"', '""', "a;DROP TABLE victim--", "%s", "%", "?", "$1", "`x`", "[y]", "'", "a\nb",
           "é", "{x}", " ", "SELECT", "select 1", "a.b", ":name", "\\", "1", "/*", "p_rows", "y",
           "layer"]  # fmt: skip
few = settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


@dataclass(frozen=True)
class Base:
    """A database of the tests, and how to fill a table in it."""

    name: str
    connection: Any

    def run(self, text: str, rows: Sequence[tuple[Any, ...]] = ()) -> None:
        """Run a statement, which may end with rows of values."""
        cursor = self.connection if self.name == "duckdb" else self.connection.cursor()
        place = "?"
        if self.name == "postgresql":
            text, place = text.replace("%", "%%"), "%s"
        listed = (f"({', '.join([place] * len(row))})" for row in rows)
        cursor.execute(text + ", ".join(listed), [value for row in rows for value in row])
        if self.name != "duckdb":
            self.connection.commit()

    def fill(self, columns: dict[str, str], rows: list[tuple[Any, ...]], name: str = "t") -> None:
        """Make a table anew, with these columns (and their types) and these rows."""
        types = TYPES[self.name]
        listed = ", ".join(f"{_quoted(column)} {types.get(k, k)}" for column, k in columns.items())
        self.run(f"DROP TABLE IF EXISTS {_quoted(name)}")
        self.run(f"CREATE TABLE {_quoted(name)} ({listed})")
        if rows:
            self.run(f"INSERT INTO {_quoted(name)} VALUES ", rows)

    def rank(self, table: object = "t", **options: Any) -> pr.Ranking:
        return quietly(sql.rank, self.connection, table, **{**NAMES, **options})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quietly(function: Any, *arguments: Any, **options: Any) -> Any:
    """Small random rankings are often worse than random; that is not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DirectionWarning)
        return function(*arguments, **options)


@pytest.fixture(scope="module", params=sorted(TYPES))
def base(request):
    if request.param == "sqlite":
        connection = sqlite3.connect(":memory:")
    elif request.param == "duckdb":
        connection = pytest.importorskip("duckdb").connect()
    else:
        where = request.getfixturevalue("postgresql")
        connection = pytest.importorskip("psycopg").connect(where)
    yield Base(request.param, connection)
    connection.close()


def assert_same(found: pr.Ranking, expected: pr.Ranking, scores: Any) -> None:
    """Equal to the last bit, the type of the thresholds and the numbers of rows included."""
    assert found == expected
    assert found.threshold.dtype == expected.threshold.dtype
    assert found.divisible == expected.divisible
    assert (found.rows is None) == (expected.rows is None)
    for one, other in zip(found.rows or (), expected.rows or (), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (found.moments is None) == (expected.moments is None)
    if expected.moments is not None:
        # Both subtract numbers as large as the range of the scores, and its square.
        spread = float(np.ptp(np.asarray(scores, dtype=np.float64)))
        total = expected.n_pos + expected.n_neg
        for one, other in zip(found.moments, expected.moments, strict=True):
            assert one[0] == pytest.approx(other[0], rel=1e-12, abs=1e-12 * spread)
            assert one[1] == pytest.approx(other[1], rel=1e-12, abs=1e-12 * total * spread * spread)


finite = st.floats(-10, 10).map(lambda x: round(x, 1))
extreme = st.sampled_from([0.0, -0.0, math.inf, -math.inf, 5e-324, -1e308, 1e308, 1 + 2**-52, 1.0])
weights = st.sampled_from([0.0, 1.0, 2.0, 0.1, 1 / 3, 1e-9, 1e9, 1e100, 1e-100])


@few
@given(
    rows=st.lists(st.tuples(st.integers(0, 1), finite | extreme, weights), min_size=1, max_size=30),
    thresholds=st.lists(finite | extreme, max_size=3),
)
def test_floats_weights_and_thresholds_give_the_same_bits_as_in_memory(base, rows, thresholds):
    base.fill({"y": "integer", "s": "double", "w": "double"}, rows)
    y, s, w = (list(column) for column in zip(*rows, strict=True))
    options = {"thresholds": thresholds, "missed_positives": 2}
    assert_same(base.rank(**options), quietly(pr.rank, y, s, **options), s)
    if any(w):
        weighted = quietly(pr.rank, y, s, sample_weight=w, **options)
        assert_same(base.rank(weight="w", **options), weighted, s)


@few
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 1), st.integers(2**53 - 2, 2**53 + 5) | st.integers(-(2**63), -5)),
        min_size=1,
        max_size=30,
    )
)
def test_integers_beyond_what_floats_hold_are_compared_as_integers(base, rows):
    base.fill({"y": "integer", "s": "integer"}, rows)
    y, s = (list(column) for column in zip(*rows, strict=True))
    assert_same(base.rank(), quietly(pr.rank, y, s), s)
    kept = {"thresholds": [2**53 + 1, 0]}
    assert_same(base.rank(**kept), quietly(pr.rank, y, s, **kept), s)


@few
@given(
    rows=st.lists(
        st.tuples(
            st.booleans(), finite, weights.filter(bool), st.sampled_from(["a", "A", "é", ""])
        ),
        min_size=1,
        max_size=30,
    )
)
def test_groups_with_and_without_weights(base, rows):
    base.fill({"y": "boolean", "s": "double", "w": "double", "g": "text"}, rows)
    y, s, w, g = (list(column) for column in zip(*rows, strict=True))
    for weight, sample_weight in ((None, None), ("w", w)):
        found = sql.rank_groups(base.connection, "t", **NAMES, group="g", weight=weight)
        expected = rank_groups(y, s, g, sample_weight=sample_weight)
        assert found.labels.tolist() == expected.labels.tolist()
        for one, other in zip(found, expected, strict=True):
            assert one == other
            assert one.divisible == other.divisible


@few
@given(
    rows=st.lists(
        st.tuples(
            st.booleans(),
            finite,
            st.sampled_from([0.25, 1.0, 3.0]),
            st.sampled_from(["a", "b", None]),
            st.sampled_from([1.5, math.nan, None]),
        ),
        min_size=1,
        max_size=30,
    ),
    thresholds=st.lists(finite, max_size=3),
)
def test_crossed_groups_missing_ones_and_thresholds_that_are_kept(base, rows, thresholds):
    kinds = {"y": "boolean", "s": "double", "w": "double", "g": "text", "h": "double"}
    base.fill(kinds, rows)
    y, s, w, g, h = (list(column) for column in zip(*rows, strict=True))
    named = [(a, None if b is None or b != b else b) for a, b in zip(g, h, strict=True)]
    asked = {"thresholds": thresholds, "missing_groups": True}
    for columns, labels in (("g", g), (["g"], g), (["g", "h"], named)):
        for weight, each in ((None, np.ones(len(y))), ("w", np.array(w))):
            options = NAMES | asked | {"group": columns, "weight": weight}
            found = sql.rank_groups(base.connection, "t", **options)
            assert set(found.labels.tolist()) == set(labels)
            assert len(found) == len(set(labels))
            for label, ranking in zip(found.labels.tolist(), found, strict=True):
                inside = [place for place, own in enumerate(labels) if own == label]
                expected = quietly(
                    pr.rank,
                    np.array(y)[inside],
                    np.array(s)[inside],
                    sample_weight=None if weight is None else each[inside],
                    thresholds=thresholds,
                )
                np.testing.assert_array_equal(ranking.threshold, expected.threshold)
                for one, other in zip(ranking.cells, expected.cells, strict=True):
                    np.testing.assert_array_equal(one, other)


def test_groups_that_are_refused(base):
    base.fill({"y": "integer", "s": "double", "g": "text"}, [(1, 0.5, "a"), (0, 0.4, "b")])
    for group in ([], ["g", "g"], 3, None, [None], ["g", 3]):
        with pytest.raises(InputError, match="group must be the name of a column, or a list of"):
            sql.rank_groups(base.connection, "t", **NAMES, group=group)
    with pytest.raises(InputError, match=r"group='h' is not a column of the data"):
        sql.rank_groups(base.connection, "t", **NAMES, group=["g", "h"])
    with pytest.raises(InputError, match=r"thresholds must be at most 10000, got 10001"):
        sql.rank_groups(base.connection, "t", **NAMES, group="g", thresholds=np.arange(10_001))
    with pytest.raises(InputError, match="missing_groups must be True or False"):
        sql.rank_groups(base.connection, "t", **NAMES, group="g", missing_groups="yes")


def test_groups_that_are_numbers_and_a_group_whose_weights_are_zero(base):
    rows = [(1, 0.5, 1.0, 10), (0, 0.4, 2.0, 10), (1, 0.1, 0.0, 9)]
    base.fill({"y": "integer", "s": "double", "w": "double", "g": "integer"}, rows)
    found = sql.rank_groups(base.connection, "t", **NAMES, group="g", weight="w")
    y, s, w, g = (list(column) for column in zip(*rows, strict=True))
    expected = rank_groups(y, s, g, sample_weight=w)
    assert found.labels.tolist() == expected.labels.tolist() == [9, 10]
    assert [len(ranking) for ranking in found] == [len(ranking) for ranking in expected] == [0, 1]


@few
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", "d"]), finite, weights.filter(bool)),
        min_size=1,
        max_size=30,
    )
)
def test_one_label_against_the_rest(base, rows):
    rows = [*rows, ("c", 0.0, 1.0), ("a", 1.0, 0.1), ("b", -1.0, 1e9)]
    base.fill({"y": "text", "s": "double", "w": "double"}, rows)
    y, s, w = (list(column) for column in zip(*rows, strict=True))
    positive = [label == "c" for label in y]
    asked = {"pos_label": "c", "one_against_rest": True}
    assert_same(base.rank(**asked), quietly(pr.rank, positive, s), s)
    weighted = quietly(pr.rank, positive, s, sample_weight=w)
    assert_same(base.rank(**asked, weight="w"), weighted, s)
    with pytest.raises(InputError, match="at most two labels"):
        base.rank(pos_label="c")
    with pytest.raises(InputError, match="label='y' has no label 'x'; it has 'a', 'b', 'c'"):
        base.rank(pos_label="x", one_against_rest=True)


def test_decimals_are_the_nearest_floats(base):
    """Two decimals that are one float are one score; a direct cast of DuckDB's is off by a bit."""
    texts = ["0.1", "0.10000000000000000001", "12345678901234567.89", "12345678901234567.90"]
    texts += ["0.30000000000000000004", "98765432109876543.21"]
    scores = [Decimal(text) for text in texts]
    labels = [1, 0, 1, 1, 0, 1]
    stored = [float(score) for score in scores] if base.name == "sqlite" else scores
    kind = "double" if base.name == "sqlite" else "DECIMAL(38, 20)"
    base.fill({"y": "integer", "s": kind}, list(zip(labels, stored, strict=True)))
    assert_same(base.rank(), quietly(pr.rank, labels, scores), stored)


def test_narrow_floats_stay_narrow_where_there_are_any(base):
    scores = np.array([0.1, 0.7, 0.3, 0.7], dtype=np.float32)
    labels = [1, 0, 1, 1]
    base.fill({"y": "integer", "s": "REAL"}, list(zip(labels, scores.tolist(), strict=True)))
    scores = scores.astype(np.float64) if base.name == "sqlite" else scores
    for thresholds in ([], [0.7, 0.2]):
        expected = quietly(pr.rank, labels, scores, thresholds=thresholds)
        assert_same(base.rank(thresholds=thresholds), expected, scores)


def test_booleans_are_scores_labels_and_weights(base):
    rows = [(True, True, True), (False, True, True), (True, False, False), (False, False, True)]
    base.fill({"y": "boolean", "s": "boolean", "w": "boolean"}, rows)
    y, s, w = (np.array(column) for column in zip(*rows, strict=True))
    found, expected = base.rank(weight="w"), quietly(pr.rank, y, s, sample_weight=w)
    assert found == expected


def test_text_labels_are_equal_only_if_every_character_is(base):
    collated = {"sqlite": "TEXT COLLATE NOCASE", "duckdb": "VARCHAR COLLATE NOCASE"}
    kind = collated.get(base.name, "TEXT")
    rows = [("spam", 0.9), ("Spam", 0.8), ("spam", 0.3)]
    base.fill({"y": kind, "s": "double"}, rows)
    expected = quietly(pr.rank, [1, 0, 1], [0.9, 0.8, 0.3])
    assert base.rank(pos_label="spam") == expected
    with pytest.raises(InputError, match="pos_label=1"):
        base.rank()
    base.fill({"y": kind, "s": "double"}, [*rows, ("SPAM", 0.1)])
    with pytest.raises(InputError, match=r"label='y' must have at most two labels, got 3"):
        base.rank(pos_label="spam")


@pytest.mark.parametrize("bad", [None, math.nan])
def test_missing_values_are_refused_and_counted(base, bad):
    rows = [(1, 0.5, 1.0, "a"), (0, 0.4, 1.0, "a"), (0, bad, 1.0, "b"), (1, bad, 1.0, "a")]
    types = {"y": "integer", "s": "double", "w": "double", "g": "text"}
    base.fill(types, rows)
    with pytest.raises(
        InputError, match=r"score='s' must not be missing .*: 2 bad rows of 4: drop"
    ):
        base.rank()
    base.fill(types, [(1, 0.5, 1.0, "a"), (0, 0.4, bad, "a"), (0, 0.1, -1.0, None)])
    with pytest.raises(InputError, match="weight='w' must be finite and not negative: 2 bad rows"):
        base.rank(weight="w")
    with pytest.raises(InputError, match=r"group='g' must not be missing .*: 1 bad row of 3"):
        sql.rank_groups(base.connection, "t", **NAMES, group="g")
    base.fill({"y": "double", "s": "double"}, [(1.0, 0.5), (0.0, 0.4), (bad, 0.1)])
    with pytest.raises(InputError, match=r"label='y' must not be missing .*: 1 bad row of 3"):
        base.rank()


def test_weights_far_from_one_and_weights_that_are_all_zero_are_refused(base):
    columns = {"y": "integer", "s": "double", "w": "double"}
    base.fill(columns, [(1, 0.5, 1e101), (0, 0.4, 1e-101), (0, 0.1, 0.0)])
    with pytest.raises(InputError, match=r"weight='w' must be 0 or between .*: 2 bad rows of 3"):
        base.rank(weight="w")
    base.fill(columns, [(1, 0.5, 0.0), (0, 0.4, 0.0)])
    with pytest.raises(InputError, match="weight='w' is zero in every row"):
        base.rank(weight="w")


def test_one_class_no_rows_and_wrong_types(base):
    base.fill({"y": "integer", "s": "double"}, [(0, 0.5), (0, 0.4)])
    assert_same(base.rank(), quietly(pr.rank, [0, 0], [0.5, 0.4]), [0.5])
    base.fill({"y": "integer", "s": "double"}, [(1, 0.5), (1, 0.5)])
    assert_same(base.rank(), quietly(pr.rank, [1, 1], [0.5, 0.5]), [0.5])
    base.fill({"y": "integer", "s": "text"}, [(1, "0.5"), (0, "0.4")])
    with pytest.raises(InputError, match="score='s' must hold real numbers, got"):
        base.rank()
    base.fill({"y": "integer", "s": "double"}, [])
    with pytest.raises(InputError, match="must have at least one row, got none"):
        base.rank()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_quoted_whatever_is_in_them(base, name):
    base.fill({"x": "integer"}, [(1,)], name="victim")
    label, score = name + "l", name
    base.fill({label: "integer", score: "double"}, [(1, 0.9), (0, 0.5), (1, 0.1)], name=name)
    expected = quietly(pr.rank, [1, 0, 1], [0.9, 0.5, 0.1])
    assert base.rank((name,), label=label, score=score) == expected
    assert base.rank(("victim",), label="x", score="x").n_pos == 1
    base.run(f"DROP TABLE {_quoted(name)}")


def test_names_that_no_database_has(base):
    base.fill({"y": "integer", "s": "double"}, [(1, 0.5), (0, 0.4)])
    with pytest.raises(
        InputError, match="score='S' is not a column of the data, which has 'y', 's'"
    ):
        base.rank(score="S")
    with pytest.raises(InputError, match="refused the query"):
        base.rank("not there")
    for wrong in ("a\0b", "", "n" * 64):
        with pytest.raises(InputError):
            base.rank(wrong)
    with pytest.raises(InputError, match="table_or_query must be the name of a table"):
        base.rank(["t"])
    assert len(base.rank()) == 1  # an error leaves the connection as it was


def test_a_query_in_place_of_a_table(base):
    base.fill({"y": "integer", "s": "double", "note": "text"}, [(1, 0.9, "a%?"), (0, 0.5, "b")] * 2)
    query = "SELECT y, s AS \"t%\" FROM t WHERE note LIKE '%?' OR note <> '?' -- all of them"
    assert base.rank(query, score="t%") == quietly(pr.rank, [1, 0, 1, 0], [0.9, 0.5, 0.9, 0.5])
    with_name = " with tallied AS (SELECT * FROM t WHERE y = 1) SELECT * FROM tallied;\n"
    assert base.rank(with_name).n_pos == 2
    assert base.rank(("main", "t") if base.name != "postgresql" else ("public", "t")).n_pos == 2


def test_columns_that_differ_by_case_only_are_never_taken_for_each_other(base):
    query = 'SELECT 1 AS y, 0.5 AS s, 7.5 AS "S" UNION ALL SELECT 0, 0.25, 8.5'
    if base.name == "postgresql":
        assert base.rank(query, score="S").threshold.tolist() == [7.5]
        return
    with pytest.raises(InputError, match=r"names several columns|is not a column"):
        base.rank(query, score="S")


def test_rows_that_change_between_the_queries_are_refused(base):
    base.fill({"y": "integer", "s": "double"}, [(k % 2, k / 7) for k in range(200)])
    chance = {"sqlite": "random() % 2 = 0"}.get(base.name, "random() < 0.5")

    def rank_some_times():
        # Once in 300 times both queries draw as many rows of each class, and nothing shows it.
        for _ in range(5):
            base.rank(f"SELECT y, s FROM t WHERE {chance}")

    with pytest.raises(InputError, match="it changed in between; rank it in a transaction"):
        rank_some_times()


def test_data_of_many_rows_and_their_moments(base):
    rng = np.random.default_rng(5)
    y = (rng.random(1_500) < 0.1).astype(int)
    s = rng.normal(size=y.size) + y
    w = rng.exponential(size=y.size)
    rows = list(zip(y.tolist(), s.tolist(), w.tolist(), strict=True))
    base.fill({"y": "integer", "s": "double", "w": "double"}, rows)
    for options, weight in (({}, None), ({"weight": "w"}, w)):
        found, expected = base.rank(**options), pr.rank(y, s, sample_weight=weight)
        assert_same(found, expected, s)
        np.testing.assert_allclose(found.moments, expected.moments, rtol=1e-12)


def test_sqlite_compares_whole_numbers_with_floats_as_numpy_does():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (y, s)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, 3), (0, 2.5), (1, 1)])
    assert sql.rank(connection, "t", **NAMES) == pr.rank([1, 0, 1], [3.0, 2.5, 1.0])
    connection.execute("INSERT INTO t VALUES (0, ?)", (2**53 + 1,))
    with pytest.raises(InputError, match="must hold whole numbers that fit one 64-bit type"):
        sql.rank(connection, "t", **NAMES)
    connection.execute("INSERT INTO t VALUES ('x', 1)")
    with pytest.raises(
        InputError, match=r"labels \(numbers, booleans or strings\), got integer, text"
    ):
        sql.rank(connection, "SELECT * FROM t WHERE s < 10", **NAMES)
    connection.close()


def test_duckdb_takes_large_integers_that_fit_and_refuses_others():
    connection = pytest.importorskip("duckdb").connect()
    connection.execute("CREATE TABLE t (y INTEGER, s UBIGINT, h HUGEINT)")
    rows = [(1, 2**64 - 1, 2**62 + 1), (0, 2**64 - 2, 2**62), (1, 3, -(2**62))]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    y, s, h = (list(column) for column in zip(*rows, strict=True))
    assert_same(sql.rank(connection, "t", **NAMES), pr.rank(y, np.array(s, dtype=np.uint64)), s)
    assert_same(sql.rank(connection, "t", label="y", score="h"), pr.rank(y, h), h)
    connection.execute("INSERT INTO t VALUES (0, 0, ?)", (2**64,))
    with pytest.raises(InputError, match="DuckDB refused the query"):
        sql.rank(connection, "t", label="y", score="h")
    connection.close()


def test_duckdb_counts_temporary_tables_and_registered_frames():
    connection = pytest.importorskip("duckdb").connect()
    pa = pytest.importorskip("pyarrow")
    connection.register("frame", pa.table({"y": [1, 0], "s": [0.5, 0.25]}))
    connection.execute("CREATE TEMP TABLE own AS SELECT * FROM frame")
    for name in ("frame", "own"):
        assert sql.rank(connection, name, **NAMES) == pr.rank([1, 0], [0.5, 0.25])
    connection.close()


def test_connections_of_sqlalchemy_and_adbc(tmp_path):
    sqlalchemy = pytest.importorskip("sqlalchemy")
    adbc = pytest.importorskip("adbc_driver_sqlite.dbapi")
    file = tmp_path / "scores.db"
    with sqlite3.connect(file) as own:
        own.execute("CREATE TABLE t (y TEXT, s REAL, w REAL)")
        own.executemany("INSERT INTO t VALUES (?, ?, ?)", [("b", 0.5, 2), ("a", 0.25, 0.1)])
    own.close()
    expected = pr.rank([1, 0], [0.5, 0.25], sample_weight=[2, 0.1])
    options = {**NAMES, "weight": "w", "pos_label": "b"}
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    with engine.connect() as connection:
        assert sql.rank(connection, "t", **options) == expected
    with pytest.raises(InputError, match=r"got SQLAlchemy's Engine: pass engine\.connect\(\)"):
        sql.rank(engine, "t", **options)
    engine.dispose()
    with adbc.connect(str(file)) as connection:
        assert sql.rank(connection, "t", **options) == expected
        with pytest.raises(InputError, match="SQLite refused the query"):
            sql.rank(connection, "u", **options)
    with pytest.raises(InputError, match="must be an open connection of sqlite3, duckdb"):
        sql.rank(object(), "t", **options)


def test_rows_are_tuples_whatever_the_connection_makes_of_them(postgresql):
    psycopg = pytest.importorskip("psycopg")
    connection = sqlite3.connect(":memory:")
    connection.row_factory = lambda cursor, row: dict(enumerate(row))
    query = "SELECT 1 AS y, 0.5 AS s UNION ALL SELECT 0, 0.25"
    expected = pr.rank([1, 0], [0.5, 0.25])
    assert sql.rank(connection, query, **NAMES) == expected
    connection.close()
    with psycopg.connect(postgresql, row_factory=psycopg.rows.dict_row) as connection:
        assert sql.rank(connection, query, **NAMES) == expected
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        connection.execute("SELECT 1")  # a transaction of the caller's stays open
        assert sql.rank(connection, query, **NAMES) == expected
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS


@pytest.mark.parametrize("moment", ["before", "typeof", "largest", "place", "first"])
def test_a_connection_killed_at_any_moment_gives_one_clear_error(postgresql, moment):
    """The server ends the session in the midst of the query that has this word in it."""
    psycopg = pytest.importorskip("psycopg")
    query = "SELECT y, s FROM (SELECT 1 AS y, 0.5 AS s UNION ALL SELECT 0, 0.25) AS r"
    pause = query + " CROSS JOIN (SELECT pg_sleep(0.3)) AS pause"
    with psycopg.connect(postgresql, autocommit=True) as other:
        connection = psycopg.connect(postgresql)
        process = connection.info.backend_pid
        ended = []

        def end_it() -> None:
            seen = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND query LIKE %s"
            until = time.monotonic() + 20
            while time.monotonic() < until:
                if moment == "before" or other.execute(seen, [process, f"%{moment}%"]).fetchone():
                    ended.append(other.execute("SELECT pg_terminate_backend(%s)", [process]))
                    return

        thread = threading.Thread(target=end_it)
        thread.start()
        if moment == "before":
            thread.join()
        with pytest.raises(
            InputError, match=r"connection to PostgreSQL was lost or closed .*again"
        ):
            sql.rank(connection, pause, **NAMES)
        thread.join()
        assert ended
        connection.close()
    with psycopg.connect(postgresql) as connection:
        assert sql.rank(connection, query, **NAMES) == pr.rank([1, 0], [0.5, 0.25])


def test_a_closed_connection_gives_one_clear_error():
    connection = sqlite3.connect(":memory:")
    connection.close()
    with pytest.raises(InputError, match=r"SQLite refused the query .*closed"):
        sql.rank(connection, "t", **NAMES)
    connection = pytest.importorskip("duckdb").connect()
    connection.close()
    with pytest.raises(InputError, match=r"DuckDB refused the query .*closed"):
        sql.rank(connection, "t", **NAMES)
