"""The page that says what was compared, how far apart the numbers are, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from . import ours
from .tools import Answer

# Sums of some hundred terms in another order; tools that count in single precision have seven
# digits in every term.
DOUBLE, SINGLE = 1e-12, 5e-6
SINGLE_PRECISION = {"torchmetrics", "torcheval", "Keras", "confidenceinterval"}

_HEAD = """# Peers

The numbers of this library beside those of every other tool that was installed, on {sets} seeded
data sets: {random} random ones of 4 to 250 rows, half of them probabilities, with few and with
large ties, and {cases} edge cases (all scores equal, negatives first, infinite scores, one
positive). `make peers` writes this page. Python's tools are in an environment of their own; R's
packages are Debian's, those of a library that `R_LIBS` names (precrec, yardstick), or sources named
by environment variables (`PRECALL_PRROC`, `PRECALL_PRECREC`, `PRECALL_RAUCPR`, `PRECALL_PERFMEAS`,
`PRECALL_MLEVAL`, `PRECALL_PRG`, `PRECALL_TREC_EVAL`, `PRECALL_AUC_JAR`). It exits with an error
where numbers differ and no reason is known.

{total:,} numbers were compared. The worst difference is {worst}, and {single} for tools that count
in single precision ({names}).

## What was compared

| tool | release | quantity | data sets | worst difference |
|---|---|---|---|---|
"""
_DIFFER = """
Names of the quantities are those of `conventions` where it knows the rule.

## Where they differ, and why

| tool | quantity | data sets | reason |
|---|---|---|---|
"""
_PATIENTS = """
## pROC's own data

DeLong's test on the 113 patients of `aSAH`, by `roc.test` and by
`pr.compare(outcome, scores, "auroc", distribution="normal")`:

| quantity | pROC | here |
|---|---|---|
"""
_DECISIONS = """
## dcurves' own data

Net benefit at 35 probabilities by `dcurves.dca` and by `pr.net_benefit_curve`, on the two files of
750 patients that come with it; the second is a case-control sample, taken to a prevalence of 0.2.
`all` is the curve of selecting everybody.

| file and model | numbers | worst difference |
|---|---|---|
"""
_FILES = """
## trec_eval's own files

What `trec_eval` 10 prints for the files that it is tested with (map, Rprec, 11pt_avg, recip_rank,
P_10, recall_100, bpref, infAP and ndcg of every query, and their means):

| files | numbers | that differ in a printed digit |
|---|---|---|
"""
_ELSEWHERE = """- Spark: `areaUnderPR` is compared by the tests of the engines, in its own session.
- Weka: its rule was read in its source, and is that of average precision.
- MAPIE: it chooses thresholds and watches risks, and has no number that is also one of these. How
  much recall it certifies, and how soon it notices a precision that fell, stands beside the same of
  this library for [thresholds](how-to/choose-a-threshold.md) and for
  [monitors](how-to/is-it-still-true.md#beside-mapie).
"""


@dataclass
class Line:
    """One quantity of one tool: how many numbers, the worst difference, what was set aside."""

    compared: int = 0
    worst: float = 0.0
    aside: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)


def compared(answers: list[Answer]) -> dict[tuple[str, str], Line]:
    """Put every answer beside this library's number."""
    lines: dict[tuple[str, str], Line] = defaultdict(Line)
    for answer in answers:
        if answer.set not in ours.SETS:
            continue
        line = lines[answer.tool, answer.quantity]
        try:
            mine = ours.value(answer.quantity, ours.SETS[answer.set])
        except ours.NotCompared as reason:
            line.aside[str(reason)] += 1
            continue
        if answer.value is None:
            line.unexplained.append(f"{answer.set}: {answer.message} against {mine:.6g}")
            continue
        # An interval of a share that goes on beyond 0 or 1 is cut off there.
        interval = answer.quantity in ("auroc low", "auroc high")
        theirs = min(max(answer.value, 0.0), 1.0) if interval else answer.value
        if theirs != answer.value:
            line.aside["its limit lies beyond 0 or 1, and was compared as cut off there"] += 1
        difference = abs(theirs - mine)
        line.compared += 1
        line.worst = max(line.worst, difference)
        if difference > (SINGLE if answer.tool in SINGLE_PRECISION else DOUBLE):
            line.unexplained.append(f"{answer.set}: {theirs:.9g} against {mine:.9g}")
    return dict(lines)


def written(
    answers: list[Answer],
    lines: dict[tuple[str, str], Line],
    patients: list[tuple[str, float, float]],
    files: list[tuple[str, int, list[str]]],
    decisions: list[tuple[str, int, float]],
) -> str:
    """Return the page."""
    random = sum(name.startswith("random") for name in ours.SETS)
    release = {a.tool: a.message for a in answers if a.quantity == "version"}
    text = _HEAD.format(
        sets=len(ours.SETS),
        random=random,
        cases=len(ours.SETS) - random,
        total=sum(line.compared for line in lines.values()),
        worst=_power(_worst(lines, False)),
        single=_power(_worst(lines, True)),
        names=", ".join(sorted(SINGLE_PRECISION)),
    )
    for (tool, quantity), line in lines.items():
        worst = _power(line.worst)
        text += f"| {tool} | {release[tool]} | `{quantity}` | {line.compared} | {worst} |\n"
    text += _DIFFER
    for (tool, quantity), line in lines.items():
        for reason, count in line.aside.items():
            text += f"| {tool} | `{quantity}` | {count} | {reason} |\n"
        for case in line.unexplained:
            text += f"| {tool} | `{quantity}` | 1 | not explained: {case} |\n"
    if patients:
        text += _PATIENTS
        text += "".join(f"| {name} | {a:.8g} | {b:.8g} |\n" for name, a, b in patients)
    if decisions:
        text += _DECISIONS
        for name, count, worst in decisions:
            text += f"| {name} | {count} | {_power(worst)} |\n"
    if files:
        text += _FILES
        for name, count, differ in files:
            text += f"| {name} | {count} | {'; '.join(differ) or 'none'} |\n"
    text += "\n## What was not there\n\n"
    absent = [a for a in answers if a.quantity == "missing"]
    return text + "".join(f"- {a.tool}: {a.message}\n" for a in absent) + _ELSEWHERE


def _worst(lines: dict[tuple[str, str], Line], single: bool) -> float:
    return max(
        (line.worst for (tool, _), line in lines.items() if (tool in SINGLE_PRECISION) is single),
        default=0,
    )


def _power(value: float) -> str:
    return "0" if value == 0 else f"{value:.1e}"
