"""The report: one HTML file that opens offline in any browser and asks nothing of the network.

Text is escaped by Jinja2. Numbers travel as JSON in a block that no browser executes. Scripts are
allowed by their hash only (a content security policy inside the page), so that nothing that comes
from the data can run, and no request can leave.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from .._optional import missing
from .._output import whole_file
from .._text import shell_command
from .._version import __version__
from ..evaluation import Evaluation
from ..evaluation import wording as wording
from .fingerprint import fingerprint
from .mpl import COLOURS
from .payload import payload
from .sections import sections

# The first and the last lines of plotly's script, between which it defines `Plotly`.
_WRAPPER_BEGINS = re.compile(
    r"\(\s*function\(root, factory\) \{[^\"]*\"object\"[^\"]*\} \(typeof self [^,]*, \(\) => \{"
)
_WRAPPER_ENDS = re.compile(r"return Plotly;\s*\}\)\);\s*$")


class ReportPath(type(Path())):  # type: ignore[misc]
    """Where a report was written; a notebook shows the page itself if it is near enough."""

    def _repr_html_(self) -> str:
        """A link, and the page in a frame if it lies in or below the folder of the notebook."""
        try:
            near = self.relative_to(Path.cwd())
        except ValueError:
            return (
                f"<p>The report is in <a href='{escape(self.as_uri())}'>{escape(str(self))}</a></p>"
            )
        address = escape(quote(near.as_posix()))
        return (
            f"<p><a href='{address}' target='_blank'>{escape(self.name)}</a></p>"
            f"<iframe src='{address}' title='Precision-recall report' width='100%' height='700' "
            "style='border:1px solid #888'></iframe>"
        )


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where the data came from, for the page to say.

    Attributes
    ----------
    source : str
        The name of the file.
    command : tuple of str
        The words of the command that makes the page again; empty if there is none.
    notes : tuple of str
        What was decided while the data were read.
    columns : tuple of (str, str)
        What each column of the file is for, and its name, without those of scores: each of them is
        a model, which has its name.
    said_first : tuple of str
        What changes the numbers and is said before any is quoted: rows that were left out, and
        labels that count as negative.
    """

    source: str = ""
    command: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    said_first: tuple[str, ...] = ()


def write_report(evaluation: Evaluation, path: str | Path, *, origin: Origin | None = None) -> Path:
    """Write the report of an evaluation into one HTML file.

    Parameters
    ----------
    evaluation : Evaluation
        From :func:`precall.evaluate`, whose :meth:`~precall.results.Evaluation.report` calls this.
    path : path
        The file; it appears only when the page is complete.
    origin : Origin, optional
        What to say of the data.

    Returns
    -------
    Path
        The file, as an absolute path.

    Examples
    --------
    >>> import tempfile, precall as pr
    >>> from precall.display.report import write_report
    >>> example = pr.load_example()
    >>> result = pr.evaluate(example.label, example.scores)
    >>> path = write_report(result, Path(tempfile.mkdtemp()) / "report.html")
    >>> path.name, path.stat().st_size < 6_000_000
    ('report.html', True)
    """
    return write_page(render_report(evaluation, origin=origin), path)


def write_page(page: str, path: str | Path) -> Path:
    """Write a page whole or not at all, and return its absolute path."""
    with whole_file(path) as unfinished:
        unfinished.write_text(page, encoding="utf-8", newline="\n")
    return ReportPath(Path(path).resolve())


def render_report(evaluation: Evaluation, *, origin: Origin | None = None) -> str:
    """Return the page as text; see :func:`write_report`."""
    template = template_named("report.html.j2")
    try:
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise missing("the report", "plotly and Jinja2", "report") from error
    origin = origin or Origin()
    draws = any(model.has_both_classes for model in evaluation.models)
    scripts = [unwrapped(get_plotlyjs()), _file("wording.js") + _file("report.js")] if draws else []
    page: str = template.render(
        evaluation=evaluation,
        settings=evaluation.settings,
        colours=COLOURS,
        scripts=[Markup(script) for script in scripts],
        data=Markup(_embedded(payload(evaluation))) if draws else None,
        fingerprint=_fingerprint(evaluation),
        **frame(origin, scripts),
        **sections(evaluation),
    )
    return page


def prose(sentence: str) -> str:
    """Keep a number and its percent sign, and a p-value, on one line of a page."""
    return re.sub(
        r"(?<=\d) (?=%)|(?<=\bp) (?=[=<] )|(?<=\bp [=<]) ", "\N{NO-BREAK SPACE}", sentence
    )


def _unbroken(sentence: str) -> str:
    """The same as HTML, with intervals and dates on one line too."""
    from markupsafe import Markup

    whole = r"\([^()\s]*\N{EN DASH}[^()\s]*\)|\b\d{4}-\d\d(?:-\d\d)?\b"
    return Markup(re.sub(whole, r'<span class="keep">\g<0></span>', escape(prose(sentence))))


@cache
def template_named(name: str) -> Any:
    """Return one of the templates, with the filters that all pages use; it is compiled once."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise missing("the report", "plotly and Jinja2", "report") from error
    environment = Environment(
        loader=PackageLoader("precall.display", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": wording.count,
        "percent": lambda share: prose(wording.percent(share)),
        "number": wording.number,
        "threshold": wording.threshold,
        "short": wording.short,
        "plural": wording.plural,
        "prose": _unbroken,
    }
    return environment.get_template(name)


def frame(origin: Origin, scripts: Sequence[str]) -> dict[str, Any]:
    """Return what every page has: its title, style, rules for the browser, and where it is from."""
    from markupsafe import Markup

    return {
        "title": wording.clean_name(origin.source, 80) if origin.source else "Evaluation",
        "origin": origin,
        "columns": [(use, wording.clean_name(name, 80)) for use, name in origin.columns],
        "command": shell_command(origin.command),
        "style": Markup(_file("report.css")),
        "policy": _policy(scripts),
        "made_on": _today(),
        "versions": {
            "precall": __version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
        },
    }


def _today() -> str:
    """The date, or the one that SOURCE_DATE_EPOCH names, for pages that can be made again."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = float(given) if given.isdigit() else time.time()
    return datetime.fromtimestamp(moment, UTC).strftime("%d %B %Y").lstrip("0")


def _fingerprint(evaluation: Evaluation) -> str:
    """Twelve digits that depend on every count and threshold of every model."""
    counted = [
        cells
        for model in evaluation.models
        for cells in (model.ranking.cells, model.ranking.squares, model.ranking.rows)
        if cells is not None
    ]
    arrays = [model.ranking.threshold for model in evaluation.models]
    return fingerprint(
        [model.name for model in evaluation.models],
        [*arrays, *(counts for cells in counted for counts in cells)],
    )


def unwrapped(library: str) -> str:
    """Take plotly's script out of the function that chooses between module systems.

    Browsers read a function's body when they meet it and again when it is called, and this one
    is all of the 4.8 MB: without it the first chart comes about a fifth sooner. A page has no
    modules to choose from. A release that is wrapped in another way stays as it is.
    """
    begin, end = _WRAPPER_BEGINS.search(library), _WRAPPER_ENDS.search(library)
    if begin is None or end is None:
        return library
    return library[: begin.start()] + library[begin.end() : end.start()]


def _file(name: str) -> str:
    return (resources.files("precall.display") / "templates" / name).read_text(encoding="utf-8")


def _embedded(content: Any) -> str:
    """JSON that cannot end its own script block."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(scripts: Sequence[str]) -> str:
    """Allow these scripts and nothing else: no other script, no request, no form, no frame."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes or chr(39) + 'none' + chr(39)}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
