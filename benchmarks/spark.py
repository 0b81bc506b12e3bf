"""Spark: exact rankings beside Spark's own areaUnderPR, on a classic and on a Connect session."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import precall as pr
from benchmarks.engines import parquet, rank_in_memory, same
from benchmarks.harness import Budget, Job, Race, benchmark, in_units
from benchmarks.peers import SPARK, need

AREA_UNDER_PR = "areaUnderPR"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "4g",
    "spark.log.level": "ERROR",
}
MASTER = "local[2]"
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
# PySpark asks this variable whether its functions run on a Connect session.
MODE = "SPARK_CONNECT_MODE_ENABLED"


@benchmark
def engine_spark(quick: bool) -> Iterator[Race]:
    """`spark.rank` in local mode, against areaUnderPR on the same data frame, second calls."""
    budgets = () if quick else (Budget(peer=AREA_UNDER_PR, at_most=1 / 3),)
    rows = 2 * 10**5 if quick else 10**7
    sessions: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "classic": classic_session,
        "Connect": connect_session,
    }
    for name, opened in sessions.items():
        yield from _on_spark(rows, f"{rows:,} rows, {name} session", opened, budgets)


@benchmark
def spark_mllib(quick: bool) -> Iterator[Race]:
    """`spark.rank` in local mode, beside areaUnderPR, with rows that take Spark seconds."""
    rows = 10**5 if quick else 10**6
    yield from _on_spark(rows, f"{rows:,} rows", classic_session, ())


def _on_spark(
    rows: int,
    title: str,
    opened: Callable[[], AbstractContextManager[Any]],
    budgets: tuple[Budget, ...],
) -> Iterator[Race]:
    need(SPARK)
    from precall.engines import spark as engine

    with parquet(rows, 0.01) as path, opened() as session:
        frame = session.read.parquet(str(path))
        first: dict[str, float] = {}
        jobs: dict[str, Job] = {
            "spark.rank": lambda: engine.rank(frame, label="label", score="score"),
            AREA_UNDER_PR: partial(area_under_pr, frame),
        }
        yield Race(
            title=title,
            jobs={name: partial(_first_timed, first, name, job) for name, job in jobs.items()},
            repeats=1,
            budgets=budgets,
            check=partial(_exact_where_spark_is_not, path, first),
        )


def _first_timed(first: dict[str, float], name: str, job: Job) -> object:
    """Call a job, and keep what the first call took: it starts processes and compiles."""
    start = time.perf_counter()
    found = job()
    first.setdefault(name, time.perf_counter() - start)
    return found


@contextmanager
def classic_session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(MASTER).appName("precall")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def connect_session() -> Iterator[Any]:
    """A session of a Connect server that is started on this machine."""
    import pyspark
    from pyspark.sql.connect.session import SparkSession

    home, port = Path(pyspark.__file__).parent, _free_port()
    settings = {
        **SETTINGS,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    command = [str(home / "bin" / "spark-submit"), "--class", SERVER, "--master", MASTER]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    # The server's own Python processes import what this one does.
    paths = [str(Path(pr.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("w") as stream:
            server = subprocess.Popen(
                [*command, "spark-internal"],
                env={**os.environ, **environment},
                stdout=stream,
                stderr=stream,
                cwd=folder,
            )
        mode = os.environ.get(MODE)
        try:
            _wait_for(server, port, log)
            session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
            os.environ[MODE] = "1"
            yield session
            session.stop()
        finally:
            os.environ.pop(MODE, None)
            if mode is not None:
                os.environ[MODE] = mode
            server.terminate()
            server.wait(60)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the Connect server did not start: {log.read_text()[-2000:]}")


def area_under_pr(frame: Any) -> float:
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    evaluator = BinaryClassificationEvaluator(rawPredictionCol="score", metricName="areaUnderPR")
    columns = frame.selectExpr("double(label) AS label", "score")
    return float(evaluator.evaluate(columns))


def _exact_where_spark_is_not(path: Path, first: dict[str, float], found: dict[str, object]) -> str:
    expected = rank_in_memory(path)
    same(found["spark.rank"], expected)
    names = ("average_precision", "lower_trapezoid", "upper_trapezoid")
    exact = (f"{name} {pr.aucpr(expected, estimator=name):.8f}" for name in names)
    calls = ", ".join(f"{name} {in_units(seconds)}" for name, seconds in first.items())
    return (
        f"first calls: {calls}; areaUnderPR (1,000 bins) is {found[AREA_UNDER_PR]:.8f}; "
        f"exact are {', '.join(exact)}"
    )
