"""``precall gate``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .._output import whole_file
from .._text import visible
from .._version import __version__
from ..evaluation import wording
from ..exceptions import InputError
from ..gates import FAILED, PASSED, UNDECIDED, Gate, gate
from ..gates.settings_file import find_settings, is_stored, read_settings
from ..readers.columns import Roles
from ..readers.options import ReadOptions
from ..rows import Rows
from .examples import Command
from .inputs import read
from .lines import write_json
from .options import (
    FRACTION,
    MetricWords,
    Source,
    check_output,
    cluster_option,
    file_argument,
    json_option,
    prevalence_option,
    reading_options,
)
from .terminal import console, grid, heading, sentences

#: What the exit status says; 2 is bad input.
STATUS = {PASSED: 0, FAILED: 1, UNDECIDED: 3}


@click.command(
    "gate",
    cls=Command,
    examples=(
        "precall gate scores.csv --label y --candidate new --baseline old --margin 0.01",
        "precall gate scores.csv --label y --candidate new --baseline baseline.json",
        "precall gate scores.csv --label y --candidate new \\",
        "    --require 'precision_at_recall(0.8) >= 0.3' --junit gate.xml",
        "precall gate            (everything from precall.toml)",
    ),
)
@file_argument(required=False)
@click.option("--label", metavar="COLUMN", help="Column of labels.")
@click.option("--candidate", metavar="COLUMN", help="Column with the scores to be judged.")
@click.option(
    "--baseline",
    metavar="COLUMN|FILE",
    help="Column with the scores to compare with, or a .json file that precall rank wrote.",
)
@click.option(
    "--metric",
    type=MetricWords(),
    metavar="METRIC",
    help="What both are compared by; aucpr if not given.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0.0),
    help="How much worse than the baseline the candidate may be; 0 if not given.",
)
@click.option(
    "--require",
    "rules",
    multiple=True,
    metavar="RULE",
    help="Another rule, as in 'auroc >= baseline - 0.01'; repeat it for several.",
)
@click.option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    help="Ask every rule of each level of this column too; repeat it for several.",
)
@click.option(
    "--min-positives",
    type=click.IntRange(min=2),
    help="Levels with fewer rows of a class are only listed; 10 if not given.",
)
@click.option("--weight", metavar="COLUMN", help="Column with weights.")
@click.option("--pos-label", metavar="LABEL", help="The positive label; 1 (or true) if not given.")
@cluster_option
@click.option("--level", type=FRACTION, help="Confidence level; 0.95 if not given.")
@prevalence_option
@click.option(
    "--other-rows",
    is_flag=True,
    default=None,
    help="A --baseline file was ranked on other rows of the same kind.",
)
@click.option(
    "--looks",
    type=click.IntRange(min=1),
    help="How often these rows were used for a gate; counted beside a --baseline file.",
)
@click.option(
    "--adjust-for-looks",
    is_flag=True,
    default=None,
    help="Hold the level over all looks together.",
)
@click.option(
    "--config",
    metavar="FILE",
    help="Settings; precall.toml, or [tool.precall] in pyproject.toml, if there is one here.",
)
@click.option("--junit", metavar="FILE", help="Write the verdict as JUnit XML (.xml).")
@click.option("--markdown", metavar="FILE", help="Write the verdict as Markdown (.md).")
@json_option
@reading_options
def command(
    file: Source | None,
    config: str | None,
    junit: str | None,
    markdown: str | None,
    as_json: bool,
    reading: ReadOptions,
    **options: Any,
) -> int:
    """Let a candidate pass or not: rules judged by limits, on the rows of FILE.

    Exit status 0: passed; 1: failed; 3: undecided, these rows do not say; 2: bad input. Settings
    may come from a file; what is given here comes first, and --require and --by add to its rules.
    """
    asked = _asked(file, config, options)
    reading = _reading(reading, asked)
    source: Source = asked.pop("file")
    outputs = [
        (check_output(name, (ending,), source, option=option), text)
        for name, ending, option, text in (
            (junit, ".xml", "--junit", Gate.junit),
            (markdown, ".md", "--markdown", Gate.markdown),
        )
        if name is not None
    ]
    roles, given = _roles(asked)
    columns = read(source, roles, reading)
    rows = Rows(
        columns.positive,
        columns.scores,
        sample_weight=columns.weight,
        clusters=columns.cluster and columns.cluster.codes,
        columns=columns.by,
    )
    found = gate(rows, candidate=roles.scores[0], **given)
    for path, text in outputs:
        with whole_file(path) as unfinished:
            unfinished.write_text(text(found), encoding="utf-8")
    if as_json:
        write_json({"precall": __version__, "file": source, **found.to_dict()})
    else:
        show(found)
    return STATUS[found.verdict]


def _asked(file: Source | None, config: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """What is given here, and what a settings file says beside it."""
    path = find_settings(Path()) if config is None else Path(config)
    settings = {} if path is None else read_settings(path)
    asked = {name.replace("-", "_"): value for name, value in settings.items()}
    for name, key in (("rules", "require"), ("by", "by")):
        asked[name] = tuple(dict.fromkeys([*asked.pop(key, ()), *options.pop(name)]))
    asked |= {name: value for name, value in options.items() if value is not None}
    named = asked.get("file", ())
    asked["file"] = file if file is not None else (named[0] if len(named) == 1 else named)
    wanted = {"file": "FILE", "label": "--label", "candidate": "--candidate"}
    missing = [option for name, option in wanted.items() if not asked.get(name)]
    if missing:
        where = "precall.toml" if path is None else visible(path.name)
        raise InputError(
            f"{missing[0]} is missing: give it here, or as {missing[0].lstrip('-').lower()!r} in "
            f"[gate] of {where}."
        )
    if "baseline" not in asked and asked.get("margin"):
        raise InputError("--margin is about a baseline: give --baseline, or leave --margin out.")
    return asked


#: How to read the file, by the names of options, with what the reader calls them.
_READING = {
    "sep": "delimiter",
    "decimal": "decimal",
    "encoding": "encoding",
    "format": "format",
    "missing": "missing",
}


def _reading(given: ReadOptions, asked: dict[str, Any]) -> ReadOptions:
    """How to read the file: what was typed comes before what a settings file says."""
    source_of = click.get_current_context().get_parameter_source
    said = {}
    for option, name in _READING.items():
        value = asked.pop(option, None)
        typed = source_of({"format": "file_format"}.get(option, option))
        if value is not None and typed is not ParameterSource.COMMANDLINE:
            said[name] = {"tab": "\t"}.get(value, value) if option == "sep" else value
    try:
        return replace(given, **said)
    except InputError as error:
        raise InputError(f"in the settings, {str(error).replace('delimiter', 'sep')}") from None


def _roles(asked: dict[str, Any]) -> tuple[Roles, dict[str, Any]]:
    """Which columns to read, and what the gate is asked."""
    baseline, candidate = asked.pop("baseline", None), asked.pop("candidate")
    scores: tuple[str, ...] = (candidate,)
    if is_stored(baseline):
        asked["baseline"] = Path(baseline)
    elif baseline is not None:
        if baseline == candidate:
            raise InputError(f"--candidate and --baseline are both {visible(baseline)!r}.")
        asked["baseline"], scores = baseline, (candidate, baseline)
    names = ("label", "weight", "pos_label", "cluster")
    named = {name: asked.pop(name, None) for name in names}
    roles = Roles(scores=scores, by=asked["by"], **named)
    if "level" in asked:
        asked["confidence_level"] = asked.pop("level")
    asked["same_rows"] = not asked.pop("other_rows", False)
    return roles, asked


def show(found: Gate) -> None:
    """Print the verdict, every rule with its limits, and what to know."""
    output = console()
    sentences(output, [found.summary])
    level = wording.percent(found.rule_level)
    heading(output, f"Rules with one-sided limits at {level}")
    columns = [("rule", "left"), ("estimate", "right"), ("limits", "right"), ("", "left")]
    grid(
        output, columns, [[visible(rule.title), *rule.shown, rule.verdict] for rule in found.rules]
    )
    said = [rule.message for rule in found.rules if rule.verdict != PASSED]
    if found.too_small:
        listed = ", ".join(map(visible, found.too_small))
        said.append(f"Too few positives to judge: {listed}.")
    for sentence in (*said, *found.notes):
        sentences(output, ["", sentence])
