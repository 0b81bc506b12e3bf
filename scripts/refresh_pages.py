"""Rewrite the outputs shown on documentation pages with what their code prints now.

Usage: python scripts/refresh_pages.py PAGE...   Read the difference before you commit it: a number
that changed on a page is a number that changed for the reader.
"""

import contextlib
import os
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.docs.test_pages import FENCE, run


def refreshed(text: str, name: str) -> str:
    """Return the page with every ```text block after a Python block made anew."""
    namespace: dict[str, object] = {"__name__": "__page__"}
    output: str | None = None
    pieces, end = [], 0
    for match in FENCE.finditer(text):
        pieces.append(text[end : match.start()])
        block = match.group()
        info = match["info"].strip()
        if info == "python":
            output = run(match["body"], namespace, name)
        elif info == "text" and output is not None:
            block = f"```text\n{output.rstrip()}\n```"
        if info != "python":
            output = None
        pieces.append(block)
        end = match.end()
    return "".join([*pieces, text[end:]])


if __name__ == "__main__":
    pages = [Path(argument).resolve() for argument in sys.argv[1:]]
    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.simplefilter("default")
    for page in pages:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page.write_text(
                refreshed(page.read_text(encoding="utf-8"), page.name), encoding="utf-8"
            )
