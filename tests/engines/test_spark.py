"""A real Spark in local mode gives what the same rows in memory give."""

import os
import shutil
import sys

import numpy as np
import pytest

import precall as pr
from precall.engines import spark as engine
from precall.exceptions import InputError
from precall.groups.ranking_by_group import rank_groups
from tests.few_labels import check_plan_and_estimate

pa = pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.xdist_group("spark"),
    # PySpark warns about new versions of pandas, and leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROWS = 20_000
# Names that would be paths, quotes or syntax if they were not taken literally.
LABEL, SCORE, WEIGHT, GROUP = "the.label", "s`co`re", "w; DROP", "g"
NAMES = {"label": LABEL, "score": SCORE}


@pytest.fixture(scope="module")
def session():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer: install it, or set JAVA_HOME")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    builder = sql.SparkSession.builder.master("local[2, 4]")  # a task may fail three times
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    labels = (rng.random(ROWS) < 0.05).astype(np.int64)
    return pa.table(
        {
            LABEL: labels,
            SCORE: np.round(rng.normal(size=ROWS) + labels, 3),
            WEIGHT: rng.integers(0, 5, ROWS) / 4,
            GROUP: rng.choice(["north", "south", "west"], ROWS),
        }
    )


@pytest.fixture(scope="module")
def frame(session, table):
    return session.createDataFrame(table).repartition(3).cache()


@pytest.fixture(scope="module")
def expected(table):
    return pr.rank(table[LABEL], table[SCORE])


def test_the_result_is_that_of_rank_to_the_last_bit(frame, expected):
    found = engine.rank(frame, **NAMES)
    assert found == expected
    np.testing.assert_allclose(found.moments, expected.moments, rtol=1e-12)


def test_thresholds_are_kept_and_missed_positives_counted(frame, table):
    asked = {"thresholds": [0.25], "missed_positives": 2}
    found = engine.rank(frame, **NAMES, **asked)
    assert found == pr.rank(table[LABEL], table[SCORE], **asked)


def test_weights_and_groups_at_once(frame, table):
    found = engine.rank_groups(frame, **NAMES, weight=WEIGHT, group=GROUP)
    exact = rank_groups(table[LABEL], table[SCORE], table[GROUP], sample_weight=table[WEIGHT])
    assert found.labels.tolist() == exact.labels.tolist()
    for one, other in zip(found, exact, strict=True):
        assert one == other  # weights are quarters, so their sums are exact
        for counted, rows in zip(one.rows, other.rows, strict=True):
            np.testing.assert_array_equal(counted, rows)


def test_coarsened_with_bounds_that_contain_the_exact_value(frame, expected):
    found = engine.rank(frame, **NAMES, max_rows=10)
    assert len(found) <= 10
    assert (found.n_pos, found.n_neg) == (expected.n_pos, expected.n_neg)
    bounds = pr.tie_bounds(found)
    assert bounds.low <= pr.aucpr(expected) <= bounds.high
    assert bounds.high - bounds.low < 0.2


def test_a_task_that_fails_after_half_of_its_rows_is_not_counted_twice(frame, expected, tmp_path):
    def failing_once_per_pass(batches):
        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            half = batch.num_rows // 2
            yield batch.slice(0, half)
            if number == 0 and TaskContext.get().partitionId() == 1:
                attempt = len(list(tmp_path.iterdir())) + 1
                (tmp_path / str(attempt)).touch()
                if attempt in (1, 3):  # the first attempt of each pass
                    raise RuntimeError("lost")
            yield batch.slice(half)

    plain = frame.toDF("y", "s", "w", "g")  # mapInArrow itself takes no backticks in names
    unreliable = plain.mapInArrow(failing_once_per_pass, plain.schema)
    assert engine.rank(unreliable, label="y", score="s") == expected
    assert len(list(tmp_path.iterdir())) >= 4


def test_errors_are_those_of_rank_with_the_count_over_all_partitions(session, table):
    scores = table[SCORE].to_numpy().copy()
    scores[[17, 4000, 19_000]] = np.nan
    bad = session.createDataFrame(table.set_column(1, SCORE, pa.array(scores)))
    with pytest.raises(InputError) as in_memory:
        pr.rank(table[LABEL], scores)
    with pytest.raises(InputError) as found:
        engine.rank(bad, **NAMES)
    expected = str(in_memory.value).replace("y_score", f"score={SCORE!r}")
    assert str(found.value) == expected


def test_wrong_columns_and_wrong_data(frame):
    with pytest.raises(InputError, match="score='score' is not a column of the data"):
        engine.rank(frame, label=LABEL, score="score")
    with pytest.raises(InputError, match="score='g' must hold real numbers, got string"):
        engine.rank(frame, label=LABEL, score=GROUP)
    with pytest.raises(InputError, match="must be a PySpark data frame"):
        engine.rank([1, 2], **NAMES)


def test_a_plan_and_its_labels_are_those_in_memory(session, table):
    numbered = table.append_column("id", pa.array(range(ROWS)))
    frame = session.createDataFrame(numbered).repartition(3)
    given = table[SCORE].to_numpy(), table[LABEL].to_numpy()
    asked = ("aucpr", "precision_at_threshold(1.5)")
    population = engine.scores(frame, score=SCORE, keep=["id"])
    check_plan_and_estimate(population, *given, budget=200, metrics=asked)
    with pytest.raises(InputError, match="have no numbers: name a column"):
        pr.audit.plan_of(engine.scores(frame, score=SCORE), budget=200)
