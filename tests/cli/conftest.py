"""Run the command line in this process, on files made for the test."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from precall.cli import main


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as strict JSON: NaN and Infinity are no JSON."""

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def rows() -> dict[str, np.ndarray]:
    """Two scorers of 600 rows, with weights, groups and clusters."""
    rng = np.random.default_rng(20)
    y = (rng.random(600) < 0.25).astype(np.int64)
    return {
        "y": y,
        "a": np.round(rng.normal(size=600) + 1.5 * y, 6),
        "b": np.round(rng.normal(size=600) + 0.5 * y, 1),
        "w": np.round(rng.gamma(2.0, 0.5, size=600), 3),
        "g": np.array(["north", "south", "east"])[rng.integers(0, 3, 600)],
        "c": rng.integers(0, 150, 600),
    }


@pytest.fixture(scope="session")
def csv_file(rows: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "scores.csv"
    write_csv(path, rows)
    return path


def write_csv(path: Path, columns: dict[str, Any]) -> Path:
    import csv

    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
