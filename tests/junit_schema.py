"""What JUnit XML may hold, written down from the elements and attributes that its readers document.

An element has attributes (required ones marked) with a type, and children in any number, or at most
one.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

COUNT, TEXT, TIME = "count", "text", "time"
_COUNTS = {"tests": (COUNT, True), "failures": (COUNT, True), "errors": (COUNT, False)}
_COUNTS |= {"skipped": (COUNT, False), "assertions": (COUNT, False), "time": (TIME, False)}
_REASON = {"message": (TEXT, False), "type": (TEXT, False)}
#: By element: its attributes, and its children with whether there may be only one.
SCHEMA: dict[str, tuple[dict[str, tuple[str, bool]], dict[str, bool]]] = {
    "testsuites": ({"name": (TEXT, False), "timestamp": (TEXT, False), **_COUNTS},
                   {"testsuite": False}),
    "testsuite": (
        {"name": (TEXT, True), "timestamp": (TEXT, False), "hostname": (TEXT, False),
         "id": (TEXT, False), "package": (TEXT, False), "file": (TEXT, False), **_COUNTS},
        {"properties": True, "testcase": False, "testsuite": False, "system-out": True,
         "system-err": True},
    ),
    "properties": ({}, {"property": False}),
    "property": ({"name": (TEXT, True), "value": (TEXT, False)}, {}),
    "testcase": (
        {"name": (TEXT, True), "classname": (TEXT, True), "assertions": (COUNT, False),
         "time": (TIME, False), "file": (TEXT, False), "line": (COUNT, False)},
        {"properties": True, "skipped": True, "error": False, "failure": False,
         "system-out": True, "system-err": True},
    ),
    "skipped": ({"message": (TEXT, False)}, {}),
    "error": (_REASON, {}),
    "failure": (_REASON, {}),
    "system-out": ({}, {}),
    "system-err": ({}, {}),
}  # fmt: skip
_MAY_HOLD_TEXT = {"skipped", "error", "failure", "system-out", "system-err", "property"}


def problems(text: str) -> list[str]:
    """Return what is wrong with a document; empty if nothing is."""
    root = ET.fromstring(text)
    start = [] if root.tag in ("testsuites", "testsuite") else [f"the root is {root.tag}"]
    return start + list(_wrong(root))


def _wrong(element: ET.Element) -> Any:
    if element.tag not in SCHEMA:
        yield f"unknown element {element.tag}"
        return
    attributes, children = SCHEMA[element.tag]
    for name, (_, required) in attributes.items():
        if required and name not in element.attrib:
            yield f"{element.tag} has no {name}"
    for name, value in element.attrib.items():
        kind = attributes.get(name, ("", False))[0]
        if not kind:
            yield f"{element.tag} has an unknown attribute {name}"
        elif kind == COUNT and not value.isdecimal():
            yield f"{element.tag} {name}={value!r} is no count"
    if element.tag not in _MAY_HOLD_TEXT and (element.text or "").strip():
        yield f"{element.tag} holds text"
    for name in {child.tag for child in element}:
        found = element.findall(name)
        if name not in children:
            yield f"{element.tag} holds {name}"
        elif children[name] and len(found) > 1:
            yield f"{element.tag} holds {len(found)} {name}"
    if element.tag == "testsuite":
        yield from _miscounted(element)
    for child in element:
        yield from _wrong(child)


def _miscounted(suite: ET.Element) -> Any:
    cases = suite.findall("testcase")
    wanted = {"tests": len(cases)}
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        wanted[name] = sum(case.find(tag) is not None for case in cases)
    for name, count in wanted.items():
        if name in suite.attrib and suite.attrib[name] != str(count):
            yield f"testsuite {name}={suite.attrib[name]}, and there are {count}"
