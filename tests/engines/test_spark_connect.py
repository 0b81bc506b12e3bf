"""Spark Connect: a real server on this machine, whose executor can be killed."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import precall as pr
from precall.engines import spark as engine
from precall.exceptions import InputError, MemoryLimitError
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

ROWS = 5_000
LABEL, SCORE, WEIGHT, GROUP = "the.label", "s`co`re", "w; DROP", "g"
NAMES = {"label": LABEL, "score": SCORE}
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
# The executor is a process of its own, which can be killed.
MASTER = "local-cluster[1, 1, 1024]"


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(server: subprocess.Popen, port: int, log: Path) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text()[-2000:]
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the Connect server did not start: {log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    pyspark = pytest.importorskip("pyspark")
    remote = pytest.importorskip("pyspark.sql.connect.session")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer: install it, or set JAVA_HOME")
    home, port = Path(pyspark.__file__).parent, _free_port()
    folder = tmp_path_factory.mktemp("connect")
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": 2,
        "spark.task.maxFailures": 8,
        "spark.ui.enabled": "false",
    }
    command = [str(home / "bin" / "spark-submit"), "--class", SERVER, "--master", MASTER]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    # Executors import what the tests import.
    found = os.pathsep.join([str(Path(pr.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home), "PYTHONPATH": found}
    environment["SPARK_WORKER_DIR"] = str(folder / "work")
    log = folder / "log"
    with log.open("w") as stream:
        server = subprocess.Popen(
            [*command, "spark-internal"],
            env={**os.environ, **environment},
            stdout=stream,
            stderr=stream,
            cwd=folder,
        )
    try:
        _wait_for(server, port, log)
        session = remote.SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        yield session
        session.stop()
    finally:
        server.terminate()
        server.wait(60)


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
    return session.createDataFrame(table).repartition(2)


def test_the_result_is_that_of_rank_without_a_spark_context(session, frame, table):
    assert not hasattr(session, "sparkContext")
    asked = {"thresholds": [0.25], "missed_positives": 2}
    found = engine.rank(frame, **NAMES, **asked)
    expected = pr.rank(table[LABEL], table[SCORE], **asked)
    assert found == expected
    np.testing.assert_allclose(found.moments, expected.moments, rtol=1e-12)


def test_weights_and_groups_at_once(frame, table):
    found = engine.rank_groups(frame, **NAMES, weight=WEIGHT, group=GROUP)
    exact = rank_groups(table[LABEL], table[SCORE], table[GROUP], sample_weight=table[WEIGHT])
    assert found.labels.tolist() == exact.labels.tolist()
    assert all(one == other for one, other in zip(found, exact, strict=True))


def test_columns_of_a_wrong_type_and_too_many_positives_for_a_query(frame, monkeypatch):
    with pytest.raises(InputError, match="score='g' must hold real numbers, got string"):
        engine.rank(frame, label=LABEL, score=GROUP)
    monkeypatch.setattr(engine, "_MOST_SENT", 1000)
    with pytest.raises(MemoryLimitError, match=r"a Spark Connect server takes .* pass max_rows="):
        engine.rank(frame, **NAMES)


def test_an_executor_killed_in_both_passes_changes_nothing(frame, table, tmp_path):
    def killing_the_executor(batches):
        import os
        import signal
        import time
        from pathlib import Path

        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            yield batch
            if number == 0 and TaskContext.get().partitionId() == 0:
                attempt = len(list(tmp_path.iterdir())) + 1
                (tmp_path / str(attempt)).touch()
                if attempt in (1, 3):  # the first attempt of each pass
                    # This process was forked by a daemon that the executor started.
                    state = Path(f"/proc/{os.getppid()}/stat").read_text()
                    os.kill(int(state.rpartition(")")[2].split()[1]), signal.SIGKILL)
                    time.sleep(600)  # until Spark ends this orphan

    plain = frame.toDF("y", "s", "w", "g")
    unreliable = plain.mapInArrow(killing_the_executor, plain.schema)
    expected = pr.rank(table[LABEL], table[SCORE])
    assert engine.rank(unreliable, label="y", score="s") == expected
    assert len(list(tmp_path.iterdir())) >= 4


def test_a_plan_and_its_labels_are_those_in_memory(session, table):
    numbered = table.append_column("id", pa.array(range(ROWS)))
    frame = session.createDataFrame(numbered).repartition(2)
    given = table[SCORE].to_numpy(), table[LABEL].to_numpy()
    asked = ("aucpr", "precision_at_threshold(1.5)")
    population = engine.scores(frame, score=SCORE, keep=["id"])
    check_plan_and_estimate(population, *given, budget=200, metrics=asked)
    with pytest.raises(InputError, match="have no numbers: name a column"):
        pr.audit.plan_of(engine.scores(frame, score=SCORE), budget=200)
