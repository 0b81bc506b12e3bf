"""Every line of the policy for bad input is true, and the page shows these lines."""

import math
import re
import runpy
import warnings
from pathlib import Path

import pytest

import precall.exceptions
from tests.bad_input import CASES, NAMES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.section}: {case.case}")
def test_the_outcome_is_what_the_table_says(case):
    kind = getattr(precall.exceptions, case.error or case.warning, None)
    if case.error:
        with pytest.raises(precall.exceptions.PrecallError) as caught:
            eval(case.call, dict(NAMES))
        assert type(caught.value) is kind
        assert case.words in str(caught.value)
        return
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        value = eval(case.call, dict(NAMES))
    assert value == case.value or (math.isnan(case.value) and math.isnan(value))
    assert [w.category for w in given] == ([kind] if kind else [])
    assert all(case.words in str(w.message) for w in given)


def test_the_page_shows_the_table():
    made = runpy.run_path(str(ROOT / "scripts" / "bad_input_page.py"))
    page = (ROOT / "docs" / "explanation" / "bad-input.md").read_text(encoding="utf-8")
    assert page == made["refreshed"](page), "run scripts/bad_input_page.py"


def test_no_cell_breaks_the_table():
    for case in CASES:
        for cell in (case.case, case.call, case.outcome()):
            assert not re.search(r"[|\n]", cell), cell
