"""Results of the public functions on small data, against what they were (scripts/freeze.py).

Not what is right, which other tests state, but what has not changed: a refactoring, a faster kernel
or a new dependency that moves a number shows here, with the data that show it.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tests.frozen import results

FROZEN = json.loads((Path(__file__).parents[1] / "data" / "frozen.json").read_text())
# Sums in another order differ in their last bits: a few hundred terms, each 1e-16. SciPy's inverse
# distributions iterate, and their last digits differ between releases.
TOLERANCE = {"exact": 1e-12, "quantiles": 1e-9, "drawn": 1e-12}


def same(found, frozen, tolerance):
    """None and the names of errors are equal; a number near 0 is a difference of larger ones."""
    if isinstance(found, float) and isinstance(frozen, float):
        return math.isclose(found, frozen, rel_tol=tolerance, abs_tol=1e-13)
    return found == frozen


@pytest.mark.numerics
@pytest.mark.parametrize("name", FROZEN["sets"])
def test_results_are_what_they_were(name):
    frozen = FROZEN["sets"][name]
    found = results(frozen["data"])
    kinds = ["exact", "quantiles"]
    # Another NumPy may draw other numbers from the same seed.
    if np.__version__.split(".")[:2] == FROZEN["made_with"]["numpy"].split(".")[:2]:
        kinds.append("drawn")
    for kind in kinds:
        assert found[kind].keys() == frozen[kind].keys()
        moved = {
            key: (value, found[kind][key])
            for key, value in frozen[kind].items()
            if not same(found[kind][key], value, TOLERANCE[kind])
        }
        assert not moved, f"{len(moved)} of {len(frozen[kind])} numbers moved (was, is)"
