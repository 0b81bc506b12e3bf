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
