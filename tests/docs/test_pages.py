"""Every Python block on every page runs, in order, and says what the page says.

What is run and what is checked is in docs/_extensions/page_runner.py, which the build of the
documentation uses too.
"""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path

import pytest
from page_runner import FENCE, blocks, run_page

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
PAGES = [page for page in PAGES if "_build" not in page.parts]
RUNNABLE = [page for page in PAGES if blocks(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda p: str(p.relative_to(ROOT)))
def test_page_runs_and_tells_the_truth(page):
    outcomes = run_page(page.read_text(encoding="utf-8"), page.name)
    problems = [f"{page.name}, line {o.line}: {o.problem}" for o in outcomes if o.problem]
    assert not problems, "\n".join(problems)
    # Drawing happens here, and a busy machine is no fault of the page.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Creating legend with loc=.best. can be slow")
        for outcome in outcomes:
            for figure in outcome.figures:
                figure.savefig(io.BytesIO(), format="svg")


@pytest.mark.parametrize(
    "part", ["README.md", "docs/tutorial.md", "docs/how-to", "docs/explanation"]
)
def test_there_are_pages_to_run(part):
    assert [page for page in RUNNABLE if page.is_relative_to(ROOT / part)]


LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target, _ in LINK.findall(text):
        path = page.parent / target
        assert path.exists() or path.with_suffix(".md").exists(), f"{page.name}: {target}"
