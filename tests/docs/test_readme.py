"""What the README claims: a page that runs behind every row, and what scikit-learn has not."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from page_runner import blocks

import precall as pr

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def table() -> list[list[str]]:
    """Rows of the table of questions: question, here, scikit-learn."""
    lines = README.partition("| question |")[2].splitlines()[2:]
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def test_every_claim_has_a_page_that_runs():
    assert len(table()) >= 10
    for question, *_ in table():
        [target] = re.findall(r"\]\((docs/[^)]*\.md)\)", question)
        assert blocks((ROOT / target).read_text(encoding="utf-8")), question


def test_there_are_ten_estimators():
    assert "which of ten areas?" in README
    assert len(pr.ESTIMATORS) == 10


def test_it_says_what_it_is_in_three_lines_and_has_two_commands():
    about = README.split("\n\n")[1]
    assert len(about.splitlines()) == 3
    commands = README.partition("## Two commands")[2].split("```")[1]
    assert re.findall(r"^make \w+", commands, re.M) == ["make demo", "make test"]


def test_scikit_learn_has_no_answer_where_the_table_says_so():
    """The rows with a dash: intervals, bands, tests, gates, other prevalences, floors, privacy."""
    metrics = pytest.importorskip("sklearn.metrics")
    dashes = [question for question, _, there in table() if there == "–"]
    assert len(dashes) == 12
    words = re.compile(
        r"interval|confidence|bootstrap|(^|_)band|compare|p_value|prevalence(?!_pos_label)"
        r"|minimum_|unachievable|epsilon|private|missed|inclusion"
    )
    found = set()
    for name in metrics.__all__:
        found |= {name} if words.search(name.lower()) else set()
        try:
            parameters = inspect.signature(getattr(metrics, name)).parameters
        except (TypeError, ValueError):  # a module, or something without a signature
            continue
        found |= {f"{name}({p})" for p in parameters if words.search(p)}
    assert not found


def test_scikit_learn_has_what_the_table_grants_it():
    selection = pytest.importorskip("sklearn.model_selection")
    metrics = pytest.importorskip("sklearn.metrics")
    assert selection.TunedThresholdClassifierCV
    words = inspect.getdoc(metrics.average_precision_score)
    assert all(f"'{average}'" in words for average in ("macro", "micro", "weighted"))
