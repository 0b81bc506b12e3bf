"""What R's packages and Java's tools say of the data sets."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .data import DataSet
from .tools import Answer

_SCRIPT = Path(__file__).with_name("peers.R")
_DEBIAN = ("r-base-core", "r-cran-proc", "r-cran-rocr")


def install() -> None:
    """Install R and its packages where this is Debian, it is root's to do, and R is not there."""
    if shutil.which("Rscript") or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *_DEBIAN]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def asked(sets: list[DataSet]) -> Iterator[Answer]:
    """Ask every R package that is there; say which are not."""
    if not shutil.which("Rscript"):
        needed = " ".join(_DEBIAN)
        yield Answer("", "R", "missing", None, f"there is no Rscript: install {needed}")
        return
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "data.csv"), Path(folder, "results.csv")
        with given.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["set", "label", "score"])
            for data in sets:
                for label, score in zip(data.y.tolist(), data.s.tolist(), strict=True):
                    writer.writerow([data.name, label, repr(score).replace("inf", "Inf")])
        finished = subprocess.run(
            ["Rscript", str(_SCRIPT), str(given), str(found)], capture_output=True, text=True
        )
        if finished.returncode:
            reason = finished.stderr.strip().splitlines()[-1:] or ["it failed"]
            yield Answer("", "R", "missing", None, f"its script stopped: {reason[0]}")
            return
        with found.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                value = None if row["value"] in {"NA", "NaN"} else float(row["value"])
                yield Answer(row["set"], row["tool"], row["quantity"], value, row["message"])


def auc_calculator(sets: list[DataSet]) -> Iterator[Answer]:
    """Ask AUCCalculator, if PRECALL_AUC_JAR names its jar; one process per data set."""
    name, jar = "AUCCalculator", os.environ.get("PRECALL_AUC_JAR", "")
    if not (jar and Path(jar).is_file() and shutil.which("java")):
        yield Answer("", name, "missing", None, "PRECALL_AUC_JAR names no jar, or there is no java")
        return
    yield Answer("", name, "version", None, Path(jar).name)
    for data in sets:
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder, "list.txt")
            pairs = zip(data.s.tolist(), data.y.tolist(), strict=True)
            lines = "".join(f"{score!r} {label}\n" for score, label in pairs)
            listed.write_text(lines.replace("inf", "Infinity"), encoding="utf-8")
            finished = subprocess.run(
                ["java", "-jar", jar, str(listed), "list"], capture_output=True, text=True
            )
        said = [line for line in finished.stdout.splitlines() if "Precision - Recall is" in line]
        if said:
            yield Answer(data.name, name, "auccalculator", float(said[0].split()[-1]))
        else:
            yield Answer(data.name, name, "auccalculator", None, finished.stderr.strip()[:80])
