"""The published schema describes what is printed, and notices what it does not describe."""

import json
from pathlib import Path

import numpy as np
import pytest

import precall as pr

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schemas" / "evaluation-1.json").read_text("utf-8")
)


def validate(value):
    jsonschema.Draft202012Validator(SCHEMA).validate(value)


def cases():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    a, b = rng.normal(size=300) + 2 * y, rng.normal(size=300) + y
    return {
        "two models": pr.evaluate(y, {"a": a, "b": b}),
        "weights and clusters": pr.evaluate(
            y, {"a": a}, sample_weight=rng.random(300), clusters=np.arange(300) // 3
        ),
        "groups": pr.evaluate(y, {"a": a, "b": b}, groups=rng.integers(0, 4, 300)),
        "over time": pr.evaluate(y, {"a": a, "b": b}, time=np.arange(300), every=100),
        "elsewhere": pr.evaluate(y, {"a": a}, prevalence=0.01),
        "few positives": pr.evaluate(np.arange(300) < 7, {"a": a, "b": b}),
        "no negatives": pr.evaluate([1, 1], {"a": [1.0, 2.0]}),
        "infinite scores": pr.evaluate([1, 0, 1, 0], {"a": [np.inf, 1.0, 0.0, -np.inf]}),
    }


@pytest.mark.parametrize("case", cases())
def test_what_is_returned_fits_the_schema(case):
    validate(json.loads(json.dumps(cases()[case].to_dict(), allow_nan=False)))


def test_what_is_printed_fits_the_schema(run, csv_file):
    validate(run("evaluate", csv_file, "--label", "y", "--score", "a", "--json").json())


def test_the_schema_notices_what_is_missing_or_wrong():
    good = pr.evaluate([1, 0, 1, 0], {"a": [4, 3, 2, 1]}).to_dict()
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for key in SCHEMA["required"]:
        with pytest.raises(jsonschema.ValidationError):
            validate({name: value for name, value in good.items() if name != key})
    with pytest.raises(jsonschema.ValidationError):
        validate(good | {"schema": "precall-evaluation-2"})
    with pytest.raises(jsonschema.ValidationError):
        validate(good | {"models": []})


GATE = json.loads(
    (Path(__file__).parents[2] / "docs" / "schemas" / "gate-1.json").read_text("utf-8")
)


def validate_gate(value):
    jsonschema.Draft202012Validator(GATE).validate(json.loads(json.dumps(value, allow_nan=False)))


def test_gates_fit_their_schema(run, csv_file):
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.3
    scores = {"new": rng.normal(size=400) + 2 * y, "old": rng.normal(size=400) + y}
    rows = pr.Rows(y, scores, columns={"part": np.arange(400) % 2})
    jsonschema.Draft202012Validator.check_schema(GATE)
    rules = ["auroc >= 0.5", "precision_at_recall(0.5) >= 0.99"]
    gates = [
        pr.gate(rows, candidate="new", baseline="old", margin=0.01, rules=rules, by="part"),
        pr.gate(rows, candidate="old", baseline=rows["new"], looks=3, adjust_for_looks=True),
        pr.gate(rows, candidate="new", rules=["expected_cost(5, threshold=1.0) <= 0.9"]),
    ]
    assert len({gate.verdict for gate in gates}) > 1
    for gate in gates:
        validate_gate(gate.to_dict())
    words = ("--label", "y", "--candidate", "a", "--require", "auroc >= 0.5", "--json")
    validate_gate(run("gate", csv_file, *words).json())
    good = gates[0].to_dict()
    for key in GATE["required"]:
        with pytest.raises(jsonschema.ValidationError):
            validate_gate({name: value for name, value in good.items() if name != key})
    rule = good["rules"][0]
    for key in GATE["$defs"]["rule"]["required"]:
        less = {name: value for name, value in rule.items() if name != key}
        with pytest.raises(jsonschema.ValidationError):
            validate_gate(good | {"rules": [less]})
