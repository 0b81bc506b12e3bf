"""Rewrite the outputs shown on documentation pages with what their code prints now.

Usage: python scripts/refresh_pages.py PAGE...   Read the difference before you commit it: a number
that changed on a page is a number that changed for the reader.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_extensions"))

from page_runner import run_page


def refreshed(text: str, name: str) -> str:
    """Return the page with every ```text block after a Python block made anew."""
    outcomes = run_page(text, name)
    for outcome in reversed(outcomes):  # from the end, so that earlier places stay where they are
        if outcome.block.shown_at:
            start, end = outcome.block.shown_at
            text = f"{text[:start]}{outcome.printed.rstrip()}\n{text[end:]}"
    for outcome in outcomes:
        if outcome.problem and "raises" in outcome.problem:
            raise SystemExit(f"{name}, line {outcome.line}: {outcome.problem}")
    return text


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    for page in map(Path, sys.argv[1:]):
        page.write_text(refreshed(page.read_text(encoding="utf-8"), page.name), encoding="utf-8")
