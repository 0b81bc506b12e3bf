"""A gate as Markdown, for a comment on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import visible
from ..evaluation import wording

if TYPE_CHECKING:
    from .verdicts import Gate, GateRule

#: The first line, which no browser shows: by it a comment is found again.
MARK = "<!-- precall gate -->"
# More sentences than this are folded: the table says the same in less room.
_MOST_OPEN = 5
# Signs that Markdown, HTML or a forge would read as something else.
_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<|#&~$"})


def escaped(text: object) -> str:
    r"""Return text of others so that Markdown shows it as it is, on one line.

    Examples
    --------
    >>> print(escaped("a|b *c* @d"))
    a\|b \*c\* @<!-- -->d
    """
    plain = visible(" ".join(str(text).split())).translate(_SIGNS)
    return plain.replace("@", "@<!-- -->")  # nobody is called to the page by a name in the data


def gate_markdown(gate: Gate) -> str:
    """Return a heading, a table of the rules, and what to know beside it."""
    lines = [MARK, f"### precall gate: {gate.verdict}", "", escaped(gate.summary), ""]
    lines += ["| rule | estimate | limits | verdict |", "|---|--:|--:|---|"]
    lines += [_row(rule) for rule in gate.rules]
    lines.append("")
    lines += _said(gate)
    if gate.too_small:
        listed = ", ".join(map(escaped, gate.too_small))
        lines.append(f"- Too few positives to judge: {listed}.")
    lines += [f"- {escaped(note)}" for note in gate.notes]
    counts = [wording.count(number) for number in (gate.n_pos, gate.n_neg)]
    level = wording.percent(gate.rule_level)
    lines.append("")
    lines.append(
        f"{counts[0]} positives, {counts[1]} negatives. A rule passes if its limit does, one-sided "
        f"at {level}; the limit that fails it holds for all rules together."
    )
    return "\n".join(lines) + "\n"


def _said(gate: Gate) -> list[str]:
    """What is said of every rule that did not pass; of many, only to those who open it."""
    said = [f"- {escaped(rule.message)}" for rule in gate.rules if rule.verdict != "passed"]
    if len(said) <= _MOST_OPEN:
        return said
    summary = f"<summary>{len(said)} rules that did not pass, one by one</summary>"
    return ["<details>", summary, "", *said, "", "</details>", ""]


def _row(rule: GateRule) -> str:
    verdict = f"**{rule.verdict}**" if rule.verdict != "passed" else rule.verdict
    return f"| {' | '.join([escaped(rule.title), *rule.shown, verdict])} |"
