"""The command line, the start of its process included, beside a script of the usual libraries."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.harness import Budget, Race, benchmark
from benchmarks.programs import run_python
from benchmarks.rank_and_ap import data

SCRIPT = "pandas + scikit-learn"
READING = "start-up + 1.5 readings"
EVALUATE = ("-m", "precall.cli", "evaluate")
COLUMNS = ("--label", "label", "--score", "score")
USUAL = """
import sys
import pandas
from sklearn.metrics import average_precision_score
frame = pandas.read_csv(sys.argv[1])
print(average_precision_score(frame["label"], frame["score"]))
"""
# What a thousand rows take as well, and PyArrow's own reading of these files.
READ = """
import sys
import pyarrow.csv
from precall.cli import main
small, *files = sys.argv[1:]
sys.argv[1:] = ["evaluate", small, "--label", "label", "--score", "score"]
main()
for file in files:
    pyarrow.csv.read_csv(file)
"""


@benchmark
def command_line(quick: bool) -> Iterator[Race]:
    """`precall evaluate` of a CSV file, beside a script that computes average precision only."""
    with csv(1_000) as path:
        yield Race(
            title="1,000 rows",
            jobs={
                "precall evaluate": partial(run_python, *EVALUATE, str(path), *COLUMNS),
                SCRIPT: partial(run_python, "-c", USUAL, str(path)),
            },
            repeats=3 if quick else 7,
            budgets=(Budget(peer=SCRIPT, at_most=0.4),),
        )
    rows = 10**5 if quick else 10**6
    with csv(rows) as path, csv(rows // 2) as half, csv(1_000) as small:
        yield Race(
            title=f"{rows:,} rows",
            jobs={
                "precall evaluate": partial(run_python, *EVALUATE, str(path), *COLUMNS),
                SCRIPT: partial(run_python, "-c", USUAL, str(path)),
                READING: partial(run_python, "-c", READ, str(small), str(path), str(half)),
            },
            repeats=3 if quick else 7,
            budgets=() if quick else (Budget(peer=READING, at_most=1),),
            bounds=(READING,),
        )


@contextmanager
def csv(rows: int) -> Iterator[Path]:
    """A temporary file of labels and scores, a tenth of them positive."""
    import pyarrow as pa
    import pyarrow.csv

    label, score = data(rows, 0.1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        pa.csv.write_csv(pa.table({"label": label, "score": score}), path)
        yield path
