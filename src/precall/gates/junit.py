"""A gate as JUnit XML: a test case per rule, for whatever shows test results."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from .. import _validation
from .._text import visible

if TYPE_CHECKING:
    from .verdicts import Gate

#: What an undecided rule may be.
UNDECIDED_AS = ("error", "skipped")


def gate_junit(gate: Gate, undecided: str) -> str:
    """Return one suite; a failed rule is a failure, an undecided one an error or skipped."""
    kind = _validation.as_choice(undecided, "undecided", UNDECIDED_AS)
    tags = {"failed": "failure", "undecided": kind}
    found = [tags.get(rule.verdict) for rule in gate.rules]
    counts = {
        "tests": len(found),
        "failures": found.count("failure"),
        "errors": found.count("error"),
        "skipped": found.count("skipped"),
    }
    numbers = {name: str(count) for name, count in counts.items()}
    suites = ET.Element("testsuites", {"name": "precall", **numbers})
    suite = ET.SubElement(suites, "testsuite", {"name": "precall gate", **numbers})
    properties = ET.SubElement(suite, "properties")
    facts = {
        "verdict": gate.verdict,
        "candidate": gate.candidate,
        "baseline": gate.baseline or "",
        "confidence_level": f"{gate.confidence_level:g}",
        "looks": str(gate.looks),
    }
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": visible(value)})
    for rule, tag in zip(gate.rules, found, strict=True):
        names = {"classname": f"precall.gate.{gate.candidate}", "name": rule.title}
        case = ET.SubElement(
            suite, "testcase", {name: visible(value) for name, value in names.items()}
        )
        if tag is not None:
            said = {"message": visible(rule.message)}
            if tag != "skipped":
                said["type"] = rule.verdict
            ET.SubElement(case, tag, said)
    if gate.notes:
        ET.SubElement(suite, "system-out").text = visible(" ".join(gate.notes))
    ET.indent(suites)
    text = ET.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
