"""Sphinx extension: pages run while they are built.

Every page's Python blocks are executed on every build (all pages together take some seconds, so
nothing is cached and nothing can be stale). A block that raises, or contradicts the page, is a
warning with page and line, which `make docs` turns into a failure. What a block draws follows it as
a picture; what it prints follows it too, where the page does not show it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from page_runner import Outcome, blocks, run_page
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Paper under the picture, so that it can be read on a dark page too; lines of code and of output
# that the eye can see without scrolling.
LOOK = """
img.drawn { display: block; background: white; border-radius: 0.3rem; margin: 0.8rem 0; }
.highlight pre { font-size: 0.76rem; }
.highlight-text pre { white-space: pre-wrap; }
"""


def pages_with_code(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Read every page with code again: the code that it calls may have changed."""
    return [
        name
        for name in env.found_docs - added - changed - removed
        if blocks(Path(env.doc2path(name)).read_text(encoding="utf-8"))
    ]


def run(app: Sphinx, name: str, source: list[str]) -> None:
    """Run a page as it is read, and report what is wrong with it."""
    outcomes = run_page(source[0], f"{name}.md")
    for outcome in outcomes:
        if outcome.problem:
            logger.warning(outcome.problem, location=(name, outcome.line), type="pages")
    app.env.temp_data["outcomes"] = outcomes


def show(app: Sphinx, doctree: nodes.document) -> None:
    """Put what each block printed and drew after it."""
    outcomes: list[Outcome] = app.env.temp_data.pop("outcomes", [])
    written = [node for node in doctree.findall(nodes.literal_block) if "language" in node]
    for outcome in outcomes:
        code = outcome.block.code.strip()
        place = next((node for node in written if node.astext().strip() == code), None)
        if place is None:
            continue
        written.remove(place)
        results = [_picture(app, place, outcome, k) for k in range(len(outcome.figures))]
        if outcome.printed.strip() and outcome.block.shown is None:
            printed = outcome.printed.rstrip()
            results.insert(0, nodes.literal_block(printed, printed, language="text"))
        # Pictures come after the output, whether it stands on the page or was put there.
        where = place.parent.index(place) + (1 if outcome.block.shown is None else 2)
        place.parent[where:where] = results


def _picture(app: Sphinx, place: nodes.Node, outcome: Outcome, count: int) -> nodes.image:
    """Save a figure and return the image of it, described by the code's first comment."""
    import matplotlib as mpl

    name, line = app.env.docname, outcome.block.line
    file = app.doctreedir / "drawn" / f"{name.replace('/', '-')}-{line}-{count}.svg"
    file.parent.mkdir(parents=True, exist_ok=True)
    # The salt and the missing date make the same picture the same file.
    with mpl.rc_context({"svg.hashsalt": name}):
        outcome.figures[count].savefig(file, facecolor="white", metadata={"Date": None})
    comment = re.search(r"^#\s*(.+)$", outcome.block.code, re.M)
    section = place.parent
    while not isinstance(section, nodes.section):
        section = section.parent
    return nodes.image(
        uri=os.path.relpath(file, Path(app.env.doc2path(name)).parent),
        alt=comment[1] if comment else f"Picture: {section[0].astext()}",
        classes=["drawn"],
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the three steps; not in parallel, because a page changes the current folder."""
    os.environ["MPLBACKEND"] = "Agg"
    app.connect("env-get-outdated", pages_with_code)
    app.connect("source-read", run)
    # Before Sphinx collects the images of a page.
    app.connect("doctree-read", show, priority=100)
    app.connect("html-page-context", _add_look)
    return {"parallel_read_safe": False, "parallel_write_safe": True}


def _add_look(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    context["metatags"] = context.get("metatags", "") + f"<style>{LOOK}</style>"
