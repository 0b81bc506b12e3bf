"""The action's own shell steps, run as a runner would, and the workflow that the page shows."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from tests import junit_schema

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "how-to" / "gate-a-model.md"
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


def script(path, text):
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def machine(tmp_path):
    """A folder to work in, and programs: python that installs nothing, the command itself."""
    programs = tmp_path / "programs"
    programs.mkdir()
    log = tmp_path / "installed"
    script(
        programs / "python",
        f'#!/usr/bin/env bash\nif [ "$1 $2" = "-m pip" ]; then printf "%s\\n" "$@" >>"{log}"; '
        f'else exec "{sys.executable}" "$@"; fi\n',
    )
    script(
        programs / "precall",
        f'#!/usr/bin/env bash\nexec "{sys.executable}" -m precall.cli "$@"\n',
    )
    work = tmp_path / "work"
    work.mkdir()
    rng = np.random.default_rng(2)
    y = (rng.random(500) < 0.3).astype(int)
    scores = [1.5 * y + rng.normal(size=500), 1.4 * y + rng.normal(size=500), rng.normal(size=500)]
    group = np.arange(500) % 2
    lines = [",".join(map(str, row)) for row in zip(y, *scores, group, strict=True)]
    (work / "my scores.csv").write_text("\n".join(["y,new,old,poor,my group", *lines]))
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    return work, environment, log


def run_step(step, work, environment, values):
    """Run one step; expressions may stand in its environment and nowhere else."""
    assert step["shell"] == "bash"
    assert not EXPRESSION.search(step["run"])
    own = {
        name: EXPRESSION.sub(lambda found: values[found[1]], str(text))
        for name, text in step.get("env", {}).items()
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=work,
        env=environment | own,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run_action(machine, **given):
    work, environment, _ = machine
    unknown = set(given) - set(ACTION["inputs"])
    assert not unknown
    values = {
        f"inputs.{name}": given.get(name, kind["default"])
        for name, kind in ACTION["inputs"].items()
    }
    for step in ACTION["runs"]["steps"]:
        result = run_step(step, work, environment, values)
        if result.returncode:
            break
    return result


INPUTS = {"file": "my scores.csv", "label": "y", "candidate": "new", "baseline": "old"}


@pytest.mark.parametrize(
    ("given", "status", "verdict"),
    [
        ({"margin": "0.2", "require": "auroc >= 0.5\nauprg >= -1\n"}, 0, "passed"),
        ({"margin": "0.3", "by": "my group\n"}, 0, "passed"),
        ({"margin": "0.3", "by": "my group", "min-positives": "20", "pos-label": "1"}, 0, "passed"),
        ({"candidate": "poor", "prevalence": "0.3", "missing": "drop"}, 1, "failed"),
        ({"require": "auroc >= baseline - 0.01"}, 3, "undecided"),
        ({"require": "auroc >= baseline - 0.01", "undecided": "pass"}, 0, "undecided"),
    ],
)
def test_the_action_judges(machine, given, status, verdict):
    work, environment, log = machine
    result = run_action(machine, **(INPUTS | given))
    assert result.returncode == status, result.stderr
    assert log.read_text().splitlines()[-1] == f"{ROOT}[cli]"
    assert Path(environment["GITHUB_OUTPUT"]).read_text() == f"verdict={verdict}\n"
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert summary.startswith(f"<!-- precall gate -->\n### precall gate: {verdict}\n")
    assert (work / "precall-gate.md").read_text() == summary
    assert junit_schema.problems((work / "precall-gate.xml").read_text()) == []


def test_the_action_takes_its_rules_from_the_repository(machine):
    work, _, _ = machine
    settings = {**INPUTS, "margin": 0.2}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    (work / "precall.toml").write_text("[gate]\n" + "\n".join(lines))
    assert run_action(machine).returncode == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"candidate": "$(touch x); `touch y`"}, "has no column"),
        ({"undecided": "maybe"}, "undecided must be fail or pass"),
        ({"require": "aucp >= 0.5"}, "Did you mean 'aucpr'?"),
    ],
)
def test_bad_input_stops_the_action_and_runs_nothing(machine, given, words):
    work, environment, _ = machine
    result = run_action(machine, **(INPUTS | given))
    assert result.returncode == 2
    assert words in result.stderr
    assert [path.name for path in work.iterdir()] == ["my scores.csv"]
    assert not Path(environment["GITHUB_OUTPUT"]).exists()


def yaml_blocks():
    text = PAGE.read_text(encoding="utf-8")
    return [
        yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)
    ]


GH = """#!{python}
import json, sys
from pathlib import Path
store = Path({store!r})
comments = json.loads(store.read_text()) if store.exists() else []
words = sys.argv[1:]
if "--method" not in words:
    assert words[:2] == ["api", "--paginate"] and words[3] == "--jq", words
    assert words[2] == "repos/me/mine/issues/7/comments"
    mark = words[4].split('startswith("')[1].split('")')[0]
    print("\\n".join(str(i) for i, body in enumerate(comments) if body.startswith(mark)))
else:
    method, place, field, value = words[2:6]
    key, _, file = value.partition("=@")
    assert (field, key) == ("--field", "body"), words
    body = Path(file).read_text()
    if method == "PATCH":
        comments[int(place.removeprefix("repos/me/mine/issues/comments/"))] = body
    else:
        assert (method, place) == ("POST", "repos/me/mine/issues/7/comments")
        comments.append(body)
    store.write_text(json.dumps(comments))
"""


def test_the_workflow_on_the_page_keeps_one_comment(machine, tmp_path):
    work, environment, _ = machine
    workflow = yaml_blocks()[0]
    steps = workflow["jobs"]["gate"]["steps"]
    [ours] = [step for step in steps if "precall@" in step.get("uses", "")]
    assert set(ours["with"]) <= set(ACTION["inputs"])
    store = tmp_path / "comments.json"
    store.write_text(json.dumps(["a person's", "<!-- another tool -->"]))
    program = Path(environment["PATH"].split(os.pathsep)[0]) / "gh"
    script(program, GH.format(python=sys.executable, store=str(store)))
    values = {"github.token": "t", "github.repository": "me/mine", "github.event.number": "7"}
    for candidate in ("new", "poor"):
        run_action(machine, **(INPUTS | {"candidate": candidate}))
        result = run_step(steps[-1], work, environment, values)
        assert result.returncode == 0, result.stderr
    comments = json.loads(store.read_text())
    assert len(comments) == 3
    assert comments[2].startswith("<!-- precall gate -->\n### precall gate: failed")
    (work / "precall-gate.md").unlink()
    assert run_step(steps[-1], work, environment, values).returncode == 0


def test_the_hook_runs_the_gate_with_what_the_extra_needs():
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hook["entry"] == "precall gate"
    assert hook["language"] == "python"
    assert hook["additional_dependencies"] == project["optional-dependencies"]["cli"]
    [shown] = yaml_blocks()[1]["repos"]
    assert [each["id"] for each in shown["hooks"]] == [hook["id"]]


def test_every_input_is_an_option_or_the_actions_own():
    from precall.cli.gate import command

    options = {name for parameter in command.params for name in parameter.opts}
    own = {"file", "undecided"}
    assert {f"--{name}" for name in set(ACTION["inputs"]) - own} <= options
    # Every input is handed on as a variable, and asked for in the step.
    step = ACTION["runs"]["steps"][1]
    handed = set(re.findall(r"inputs\.([\w-]+)", "\n".join(step["env"].values())))
    assert handed == set(ACTION["inputs"])
    assert all(f"${name}" in step["run"] for name in step["env"])
