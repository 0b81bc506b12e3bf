"""Data on disk and on clusters: time against the least that must be done, and peak memory.

Alone (``python -m benchmarks.engines [--quick] [--plot cost.svg]``) it also measures how time and
memory grow with the rows, prints them as a table, and draws them on logarithmic axes.
"""

import argparse
import csv
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

import precall as pr
from benchmarks.harness import Budget, Race, benchmark, lines, run
from benchmarks.peers import DASK, need

CHUNK = 1_000_000
READ_AND_SORT = "read and sort"
GIB = 2**30
# Run in a process of its own: the peak of a process never comes down again.
CHILD = """
import json, sys, time
import pyarrow.dataset, pyarrow.parquet  # the work is timed, not the import of libraries
from benchmarks.engines import peak_bytes
from precall.engines import arrow
start = time.process_time()
ranking = arrow.rank(sys.argv[1], label="label", score="score")
seconds = time.process_time() - start
print(json.dumps([seconds, peak_bytes(), ranking.n_pos + ranking.n_neg, len(ranking)]))
"""


@benchmark
def engine_arrow(quick: bool) -> Iterator[Race]:
    """`arrow.rank` on Parquet, against reading the file and sorting it chunk by chunk."""
    rows = 2 * 10**6 if quick else 10**8
    with parquet(rows, 0.001) as path:
        _, peak, counted, _ = measured(path)
        yield Race(
            title=f"{rows:,} rows, peak {peak / GIB:.2f} GiB",
            jobs={
                "arrow.rank": partial(rank_file, path),
                READ_AND_SORT: partial(read_and_sort, path),
            },
            repeats=1,
            budgets=(Budget(peer=READ_AND_SORT, at_most=2),),
            check=partial(_counted_in_bounds, rows, counted, peak),
            bounds=(READ_AND_SORT,),
        )


@benchmark
def engine_dask(quick: bool) -> Iterator[Race]:
    """`dask.rank` on two processes, against reading all rows and ranking them in memory."""
    need(DASK)
    import dask.dataframe
    from distributed import Client, LocalCluster

    from precall.engines import dask as engine

    rows = 10**6 if quick else 10**7
    with (
        parquet(rows, 0.01) as path,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        frame = dask.dataframe.read_parquet(path, split_row_groups=True)
        yield Race(
            title=f"{rows:,} rows",
            jobs={
                "dask.rank": lambda: engine.rank(frame, label="label", score="score"),
                "in memory": partial(rank_in_memory, path),
            },
            repeats=1,
            check=lambda found: same(found["dask.rank"], found["in memory"]),
            bounds=("in memory",),
        )


@contextmanager
def parquet(rows: int, prevalence: float) -> Iterator[Path]:
    """A temporary file of labels and scores, one standard deviation higher for positives."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    free = shutil.disk_usage(tempfile.gettempdir()).free
    needed = 12 * rows
    if free < 2 * needed:
        raise SystemExit(
            f"{rows:,} rows need {needed / GIB:.1f} GiB of disk, {free / GIB:.1f} are free"
        )
    rng = np.random.default_rng(2012)
    schema = pa.schema([("label", pa.int8()), ("score", pa.float64())])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        with pq.ParquetWriter(path, schema) as writer:
            for start in range(0, rows, CHUNK):
                size = min(CHUNK, rows - start)
                label = (rng.random(size) < prevalence).astype(np.int8)
                score = rng.standard_normal(size) + label
                writer.write_table(pa.table([label, score], schema=schema))
        yield path


def rank_file(path: Path) -> pr.Ranking:
    from precall.engines import arrow

    ranking: pr.Ranking = arrow.rank(path, label="label", score="score")
    return ranking


def read_and_sort(path: Path) -> int:
    """Both columns once, the scores sorted a chunk at a time: what one pass cannot do without."""
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(CHUNK, columns=["label", "score"]):
            rows += np.sort(batch.column("score").to_numpy()).size
    return rows


def rank_in_memory(path: Path) -> pr.Ranking:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return pr.rank(table["label"], table["score"])


def same(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{found} is not {expected}")


def _counted_in_bounds(rows: int, counted: int, peak: int, found: dict[str, object]) -> None:
    same(counted, rows)
    same(found[READ_AND_SORT], rows)
    if peak > GIB:
        raise AssertionError(f"peak memory {peak / GIB:.2f} GiB is over 1 GiB")


def measured(path: Path) -> tuple[float, int, int, int]:
    """Processor seconds, peak bytes, rows and thresholds of `arrow.rank` in a fresh process."""
    import json

    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    seconds, peak, rows, thresholds = json.loads(done.stdout)
    return seconds, peak, rows, thresholds


def peak_bytes() -> int:
    """Largest resident size of this process so far.

    ``ru_maxrss`` would begin with what the parent process had when it started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return 1024 * int(line.split()[1])
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def costs(quick: bool) -> Iterator[dict[str, float]]:
    """Processor time (of all threads) and peak memory against rows, at 0.1 % positives."""
    for rows in (10**5, 10**6, 10**7) if quick else (10**5, 10**6, 10**7, 10**8):
        peers, ours = [], []
        with parquet(rows, 0.001) as path:
            for _ in range(3):
                start = time.process_time()
                read_and_sort(path)
                peers.append(time.process_time() - start)
                ours.append(measured(path))
        yield {
            "rows": rows,
            "thresholds": ours[0][3],
            "seconds": round(min(seconds for seconds, *_ in ours), 3),
            "read_and_sort_seconds": round(min(peers), 3),
            "peak_mib": round(max(peak for _, peak, *_ in ours) / 2**20),
        }


def draw(table: list[dict[str, float]], path: Path) -> None:
    """Both costs on logarithmic axes."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    rows = [row["rows"] for row in table]
    left.loglog(rows, [row["seconds"] for row in table], "o-", label="arrow.rank")
    left.loglog(rows, [row["read_and_sort_seconds"] for row in table], "s--", label=READ_AND_SORT)
    left.set(xlabel="rows", ylabel="processor seconds")
    left.legend()
    right.loglog(rows, [row["peak_mib"] for row in table], "o-", label="arrow.rank")
    right.axhline(1024, color="grey", linestyle=":", label="1 GiB")
    right.set(xlabel="rows", ylabel="peak memory, MiB")
    right.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--plot", type=Path, help="draw cost against rows into this file")
    arguments = parser.parse_args()
    parts: list[Callable[[bool], Iterator[Race]]] = [engine_arrow, engine_dask]
    for part in parts:
        print(f"\n{part.__doc__}", flush=True)
        for line in lines(run(race) for race in part(arguments.quick)):
            print(line, flush=True)
    print("\ncost against rows, 0.1 % positives", flush=True)
    table: list[dict[str, float]] = []
    writer = None
    for row in costs(arguments.quick):
        table.append(row)
        if writer is None:
            writer = csv.DictWriter(sys.stdout, fieldnames=list(row))
            writer.writeheader()
        writer.writerow(row)
        sys.stdout.flush()
    if arguments.plot is not None:
        draw(table, arguments.plot)


if __name__ == "__main__":
    main()
