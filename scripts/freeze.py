"""Write tests/data/frozen.json: what the public functions say of small data sets.

The areas are checked against the slow references in tests/naive.py first. Run it only when a number
was wrong and is right now, and say in the commit which and why:

    .venv/bin/python -m scripts.freeze
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

from precall import ESTIMATORS
from tests import naive
from tests.frozen import results

TARGET = Path(__file__).resolve().parent.parent / "tests" / "data" / "frozen.json"


def data_sets() -> dict[str, dict[str, list]]:
    """Return small data with what breaks things, by name."""
    rng = np.random.default_rng(20)
    falling = [float(score) for score in range(12, 0, -1)]
    labels = {
        "two rows": "10",
        "two rows upside down": "01",
        "perfect": "111110000000",
        "worst": "000000011111",
        "alternating": "101010101010",
        "one positive first": "100000000000",
        "one positive in the middle": "000001000000",
        "one positive last": "000000000001",
        "one negative first": "011111111111",
        "one negative last": "111111111110",
        "mixed": "110100101000",
        "negatives lead": "001101001010",
    }
    sets = {
        name: {"y": [int(label) for label in text], "s": falling[: len(text)]}
        for name, text in labels.items()
    }
    mixed = sets["mixed"]["y"]
    for name, s in {
        "all tied": [1.0] * 12,
        "two levels": [2.0] * 5 + [1.0] * 7,
        "three levels": [3.0] * 3 + [2.0] * 6 + [1.0] * 3,
        "first tied": [9.0] * 4 + falling[4:],
        "last tied": falling[:8] + [1.0] * 4,
        "huge and tiny": [1e308, 1e200, 1.0, 1e-200, 5e-324, 0.0, -1e-9, -1, -2, -3, -1e9, -1e308],
        "one bit apart": [1.0 + i * 2.0**-52 for i in range(12, 0, -1)],
        "whole numbers": [2**52 + i for i in range(12, 0, -1)],
    }.items():
        sets[name] = {"y": mixed, "s": s}
    weights = {
        "weights": [0.5, 2.0, 1.25, 3.0, 0.75, 1.0, 2.5, 0.25, 1.5, 4.0, 1.0, 0.5],
        "whole weights": [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3],
        "zero weights": [1, 0, 2, 0.5, 0, 1, 1, 0, 3, 1, 0, 0],
        "one heavy row": [1] * 5 + [1000] + [1] * 6,
    }
    for name, w in weights.items():
        sets[name] = {"y": mixed, "s": falling, "w": w}
        sets[f"{name}, tied"] = {"y": mixed, "s": sets["three levels"]["s"], "w": w}
    for name, n, m, decimals in (
        ("rare", 4, 76, 3),
        ("frequent", 60, 12, 3),
        ("balanced, coarse", 30, 30, 1),
        ("strong", 20, 40, 2),
    ):
        y = np.repeat([1, 0], [n, m])
        first, second = (np.round(rng.normal(size=n + m) + k * y, decimals) for k in (1.5, 1.0))
        sets[name] = {"y": y.tolist(), "s": first.tolist(), "other": second.tolist()}
        sets[f"{name}, clusters"] = sets[name] | {
            "clusters": rng.integers(0, 15, n + m).tolist(),
            "w": (rng.integers(1, 9, n + m) / 4).tolist(),
        }
        sets[f"{name}, groups"] = sets[name] | {"groups": rng.integers(0, 5, n + m).tolist()}
    return sets


def check(name: str, data: dict[str, list], found: dict[str, object]) -> None:
    """Compare the areas with the references, which work with fractions and 50 digits."""
    rows = data["y"], data["s"], data.get("w")
    expected = {"auroc": naive.auroc(*rows), "auprg": naive.auprg(*rows)}
    for estimator in ESTIMATORS:
        # The binormal area is of another kind; positives that share a score and not a weight have
        # no naive leave-one-out.
        if estimator == "binormal" or (estimator == "leave_one_out" and "w" in data):
            continue
        expected[f"aucpr {estimator}"] = naive.aucpr(estimator, *rows)
        expected[f"aucpr in part {estimator}"] = naive.aucpr(estimator, *rows, (0.25, 0.75))
    for key, value in expected.items():
        ours = found[key]
        if not (
            isinstance(ours, float) and math.isclose(ours, value, rel_tol=1e-12, abs_tol=1e-14)
        ):
            raise SystemExit(f"{name}: {key} is {ours!r}, the reference says {value!r}")


def main() -> None:
    """Compute, check and write."""
    frozen = {}
    for name, data in data_sets().items():
        found = results(data)
        check(name, data, found["exact"])
        frozen[name] = {"data": data, **found}
    rows = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in frozen.items()]
    made_with = json.dumps({"numpy": np.__version__})
    TARGET.write_text(f'{{"made_with": {made_with},\n"sets": {{\n' + ",\n".join(rows) + "\n}}\n")
    count = sum(len(part) for entry in frozen.values() for part in entry.values())
    count -= sum(len(entry["data"]) for entry in frozen.values())
    print(f"{TARGET.name}: {len(frozen)} data sets, {count} numbers")


if __name__ == "__main__":
    main()
