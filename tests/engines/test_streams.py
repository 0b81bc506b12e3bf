"""Lazy frames and relations give what the same rows in memory give, as streams."""

import numpy as np
import pytest

import precall as pr
from precall.engines import arrow
from precall.exceptions import InputError
from precall.groups.ranking_by_group import rank_groups

pa = pytest.importorskip("pyarrow")

ROWS = 30_000
LABEL, SCORE, WEIGHT, GROUP = 'the "label"', "s, core; --", "w", "g"
NAMES = {"label": LABEL, "score": SCORE}
SMALL = {"memory": 2**20}  # many small batches


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    labels = rng.random(ROWS) < 0.05
    return pa.table(
        {
            "other": np.arange(ROWS),
            LABEL: np.where(labels, "spam", "ham"),
            SCORE: np.round(rng.normal(size=ROWS) + labels, 3),
            WEIGHT: rng.integers(0, 5, ROWS) / 4,
            GROUP: rng.choice(["north", "south", "west"], ROWS),
        }
    )


@pytest.fixture(scope="module", params=["lazy", "relation", "polars"])
def frame(request, table):
    if request.param == "relation":
        duckdb = pytest.importorskip("duckdb")
        connection = duckdb.connect()
        connection.register("rows", table)
        yield connection.table("rows")
        connection.close()
        return
    polars = pytest.importorskip("polars")
    whole = polars.from_arrow(table)
    if request.param == "lazy" and not hasattr(polars.LazyFrame, "collect_batches"):
        pytest.skip("this release of Polars cannot stream a LazyFrame")
    yield whole.lazy() if request.param == "lazy" else whole


@pytest.fixture(scope="module")
def expected(table):
    return pr.rank(table[LABEL], table[SCORE], pos_label="spam")


def test_the_ranking_is_that_of_the_rows_in_memory(frame, expected):
    found = arrow.rank(frame, **NAMES, pos_label="spam", **SMALL)
    assert found == expected
    np.testing.assert_allclose(found.moments, expected.moments, rtol=1e-12)


def test_weights_and_groups(frame, table):
    found = arrow.rank_groups(
        frame, **NAMES, pos_label="spam", weight=WEIGHT, group=GROUP, memory=2**22
    )
    weights = table[WEIGHT]
    exact = rank_groups(
        table[LABEL], table[SCORE], table[GROUP], sample_weight=weights, pos_label="spam"
    )
    assert found.labels.tolist() == exact.labels.tolist()
    assert all(one == other for one, other in zip(found, exact, strict=True))


def test_columns_that_are_not_there(frame):
    with pytest.raises(InputError, match="score='nothing' is not a column of the data"):
        arrow.rank(frame, label=LABEL, score="nothing")


def test_only_the_columns_asked_for_are_computed(table, expected):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("rows", table)
    relation = connection.sql("SELECT *, error('computed') AS bad FROM rows")
    assert arrow.rank(relation, **NAMES, pos_label="spam") == expected
    connection.close()


def test_a_query_that_gives_other_rows_each_time_is_refused():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql("SELECT (i % 7 = 0)::INT AS y, random() AS s FROM range(1000) t(i)")
    with pytest.raises(InputError, match="in the second pass than in the first"):
        arrow.rank(relation, label="y", score="s")
    connection.close()


def test_a_stream_that_can_be_read_once_is_kept_for_the_second_pass(table, expected):
    class Stream:
        """What any library may give: the protocol, and nothing else."""

        def __init__(self) -> None:
            self._reader = table.to_reader(1000)

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self._reader.__arrow_c_stream__(requested_schema)

    assert arrow.rank(Stream(), **NAMES, pos_label="spam", **SMALL) == expected
