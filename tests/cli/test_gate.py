"""``precall gate``: the verdict as an exit status and in files, rules from a settings file."""

import json
import shlex

import numpy as np
import pytest

import precall as pr
from precall.gates.settings_file import KEYS, find_settings, read_settings
from tests import junit_schema

from .conftest import write_csv
from .test_hostile_files import FILES


@pytest.fixture
def scores(tmp_path, monkeypatch):
    """A folder with scores of a new, an old and a poor model, which is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    y = (rng.random(600) < 0.25).astype(np.int64)
    both = rng.normal(size=600)
    columns = {
        "y": y,
        "new": np.round(1.6 * y + both + 0.4 * rng.normal(size=600), 6),
        "old": np.round(1.5 * y + both + 0.4 * rng.normal(size=600), 6),
        "poor": np.round(0.2 * y + rng.normal(size=600), 6),
        "w": np.round(rng.gamma(2.0, 0.5, size=600), 3),
        "c": rng.integers(0, 150, 600),
        "g": np.array(["north", "south", "islands"])[rng.choice(3, 600, p=[0.5, 0.48, 0.02])],
    }
    write_csv(tmp_path / "scores.csv", columns)
    return columns


def rows_of(scores, *names, **options):
    return pr.Rows(scores["y"], {name: scores[name] for name in names}, **options)


@pytest.mark.parametrize(
    ("words", "status", "verdict"),
    [
        ("--candidate new --baseline old --margin 0.1", 0, "passed"),
        ("--candidate poor --baseline old --margin 0.1", 1, "failed"),
        ("--candidate new --baseline old --require 'auroc >= 0.85'", 3, "undecided"),
        ("--candidate new --require 'auroc >= 0.6'", 0, "passed"),
        ("--candidate new --require 'auroc >= 0.999'", 1, "failed"),
    ],
)
def test_the_exit_status_is_the_verdict(run, scores, words, status, verdict):
    result = run("gate", "scores.csv", "--label", "y", *shlex.split(words))
    assert result.status == status, result.err
    assert verdict in result.out.splitlines()[0]
    assert max(map(len, result.out.splitlines())) <= 80
    found = run("gate", "scores.csv", "--label", "y", *shlex.split(words), "--json")
    assert found.status == status
    assert found.json()["verdict"] == verdict


def test_the_numbers_are_those_of_the_library(run, scores):
    options = ("--label", "y", "--candidate", "new", "--baseline", "old", "--json")
    more = ("--margin", "0.02", "--metric", "auroc", "--level", "0.9", "--prevalence", "0.1")
    found = run("gate", "scores.csv", *options, *more).json()
    ours = pr.gate(
        rows_of(scores, "new", "old"),
        candidate="new",
        baseline="old",
        metric="auroc",
        margin=0.02,
        confidence_level=0.9,
        prevalence=0.1,
    )
    assert found["rules"] == ours.to_dict()["rules"]
    weighted = run("gate", "scores.csv", *options, "--weight", "w", "--cluster", "c").json()
    rows = rows_of(scores, "new", "old", sample_weight=scores["w"], clusters=scores["c"])
    expected = pr.gate(rows, candidate="new", baseline="old")
    assert weighted["rules"][0]["low"] == expected.rules[0].low


def test_junit_and_markdown_are_written(run, scores, tmp_path):
    options = ("gate", "scores.csv", "--label", "y", "--candidate", "poor", "--baseline", "old")
    result = run(*options, "--junit", "gate.xml", "--markdown", "gate.md")
    assert result.status == 1
    text = (tmp_path / "gate.xml").read_text(encoding="utf-8")
    assert junit_schema.problems(text) == []
    assert '<failure message="aucpr of poor' in text
    page = (tmp_path / "gate.md").read_text(encoding="utf-8")
    assert page.startswith("<!-- precall gate -->\n### precall gate: failed\n")
    assert {path.name for path in tmp_path.iterdir()} == {"scores.csv", "gate.xml", "gate.md"}


def test_a_stored_baseline_counts_its_looks(run, scores, tmp_path):
    run("rank", "scores.csv", "--label", "y", "--score", "old", "-o", "baseline.json")
    options = ("gate", "scores.csv", "--label", "y", "--baseline", "baseline.json", "--json")
    first = run(*options, "--candidate", "new").json()
    assert (first["paired"], first["baseline"], first["looks"]) == (False, "baseline.json", 1)
    assert run(*options, "--candidate", "new").json()["looks"] == 1
    second = run(*options, "--candidate", "poor").json()
    assert second["looks"] == 2
    assert any("look 2 at this test set" in note for note in second["notes"])
    third = run(*options, "--candidate", "new", "--margin", "0.2", "--adjust-for-looks").json()
    assert third["looks"] == 3
    assert third["rule_level"] == pytest.approx(1 - 0.05 * 6 / (9 * np.pi**2))
    assert run(*options, "--candidate", "new", "--looks", "7").json()["looks"] == 7
    half = write_csv(tmp_path / "half.csv", {name: scores[name][:300] for name in ("y", "new")})
    result = run("gate", half, *options[2:-1], "--candidate", "new")
    assert result.status == 2
    assert "ranked on other rows" in result.err
    assert "--other-rows" in result.err
    assert run("gate", half, *options[2:-1], "--candidate", "new", "--other-rows").status in (0, 3)


def test_rules_in_every_level_of_a_column(run, scores, tmp_path):
    options = ("gate", "scores.csv", "--label", "y", "--candidate", "new", "--baseline", "old")
    options += ("--margin", "0.2", "--by", "g")
    found = run(*options, "--json").json()
    rows = rows_of(scores, "new", "old", columns={"g": scores["g"]})
    ours = pr.gate(rows, candidate="new", baseline="old", margin=0.2, by="g")
    assert found["rules"] == ours.to_dict()["rules"]
    assert found["too_small"] == ["g=islands"]
    shown = " ".join(run(*options).out.split())
    assert "where g=north" in shown
    assert "Too few positives to judge: g=islands." in shown
    (tmp_path / "precall.toml").write_text('[gate]\nby = "g"\nmin-positives = 2\n')
    more = run(*options[:-2], "--by", "c", "--json").json()
    assert {rule["slice"].split("=")[0] for rule in more["rules"][1:]} == {"g", "c"}
    refused(run(*options[:-2], "--by", "gg"), "no column 'gg'")
    run("rank", "scores.csv", "--label", "y", "--score", "old", "-o", "baseline.json")
    refused(run(*options[:6], "--baseline", "baseline.json", "--by", "g"), "cannot be cut")


SETTINGS = """
file = "scores.csv"
label = "y"
candidate = "new"
baseline = "old"
margin = 0.1
require = ["auroc >= 0.6"]
"""


@pytest.mark.parametrize(
    ("name", "head"), [("precall.toml", "[gate]"), ("pyproject.toml", "[tool.precall.gate]")]
)
def test_a_repository_keeps_its_rules(run, scores, tmp_path, name, head):
    (tmp_path / name).write_text(f"{head}\n{SETTINGS}")
    found = run("gate", "--json").json()
    assert [rule["rule"] for rule in found["rules"]] == ["aucpr >= baseline - 0.1", "auroc >= 0.6"]
    more = run("gate", "--candidate", "poor", "--require", "auprg >= -1", "--json")
    assert more.status == 1
    assert [rule["rule"] for rule in more.json()["rules"]][1:] == ["auroc >= 0.6", "auprg >= -1"]


def test_a_settings_file_may_lie_elsewhere_and_names_files_beside_it(run, scores, tmp_path):
    folder = tmp_path / "ci"
    folder.mkdir()
    (tmp_path / "scores.csv").rename(folder / "scores.csv")
    (folder / "rules.toml").write_text(f"[gate]\n{SETTINGS}")
    assert run("gate", "--config", "ci/rules.toml").status == 0


def test_a_project_without_settings_is_none_of_ours(run, scores, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.other]\ngate = 1\n')
    assert find_settings(tmp_path) is None
    result = run("gate", "scores.csv", "--label", "y", "--candidate", "new", "--baseline", "old")
    assert result.status in (0, 1, 3)


def test_every_key_is_an_option_and_is_read(tmp_path):
    from precall.cli.gate import command

    options = {name for parameter in command.params for name in parameter.opts}
    assert {f"--{key}" for key in KEYS} - {"--file"} <= options
    values = {
        "file": ["a.csv", "-"],
        "pos-label": 1,
        "margin": 0.5,
        "level": 0.9,
        "prevalence": 0.1,
        "looks": 3,
        "min-positives": 20,
        "require": "auroc >= 0.5",
        "baseline": "b.json",
        "other-rows": True,
        "adjust-for-looks": False,
    }
    values = {key: values.get(key, "text") for key in KEYS}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    path = tmp_path / "precall.toml"
    path.write_text("[gate]\n" + "\n".join(lines))
    found = read_settings(path)
    assert set(found) == set(KEYS)
    assert found["file"] == (str(tmp_path / "a.csv"), "-")
    assert found["baseline"] == str(tmp_path / "b.json")
    assert (found["pos-label"], found["require"]) == ("1", ("auroc >= 0.5",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gate]\nmargins = 0.1\n", ("'margins'", "[gate] of precall.toml", "'margin'?")),
        ("[gates]\nmargin = 0.1\n", ("unknown key 'gates'", "Did you mean 'gate'?")),
        ("margin = 0.1\n", ("unknown key 'margin'",)),
        ("gate = 3\n", ("gate must be a table",)),
        ("[gate\n", ("precall.toml' is no TOML",)),
        ("[gate]\nmargin = '0.1'\n", ("precall.toml: margin must be a number",)),
        ("[gate]\nmargin = true\n", ("margin must be a number",)),
        ("[gate]\nlabel = 3\n", ("precall.toml: label must be a text",)),
        ("[gate]\nrequire = []\n", ("require must be a text or a list of texts",)),
        ("[gate]\nrequire = [1]\n", ("require must be a text",)),
        ("[gate]\nother-rows = 1\n", ("other-rows must be true or false",)),
        ("[gate]\nlooks = 1.5\nbaseline = 'old'\n", ("looks must be a whole number",)),
        ("[gate]\nmargin = -0.1\nbaseline = 'old'\n", ("margin must be a finite number",)),
        ("[gate]\nmargin = 0.1\n", ("--margin is about a baseline",)),
        ("[gate]\nmetric = 'aucp'\nbaseline = 'old'\n", ("Did you mean 'aucpr'?",)),
    ],
)
def test_settings_that_are_wrong(run, scores, tmp_path, text, words):
    (tmp_path / "precall.toml").write_text(text)
    result = run("gate", "scores.csv", "--label", "y", "--candidate", "new")
    if "label" in text:
        result = run("gate", "scores.csv", "--candidate", "new")
    refused(result, *words)


def refused(result, *words):
    assert result.status == 2
    assert result.out == ""
    assert len(result.err.splitlines()) == 1, result.err
    for word in words:
        assert word in result.err


def test_two_files_with_settings_contradict_each_other(run, scores, tmp_path):
    (tmp_path / "precall.toml").write_text(f"[gate]\n{SETTINGS}")
    (tmp_path / "pyproject.toml").write_text("[tool.precall.gate]\nmargin = 0.2\n")
    refused(run("gate"), "precall.toml and [tool.precall] in pyproject.toml both have settings")


JUDGED = ("scores.csv", "--label", "y", "--candidate", "new")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("scores.csv", "--label", "y"), ("--candidate is missing", "'candidate' in [gate]")),
        (("scores.csv", "--candidate", "new"), ("--label is missing",)),
        (("--label", "y", "--candidate", "new"), ("FILE is missing",)),
        (("scores.csv", "--label", "y", "--candidate", "neu"), ("no column 'neu'", "'new'?")),
        (
            (*JUDGED, "--baseline", "new"),
            ("--candidate and --baseline are both 'new'",),
        ),
        (
            (*JUDGED, "--baseline", "no.json"),
            ("no.json' cannot be read",),
        ),
        (
            (*JUDGED, "--baseline", "old", "--margin", "-1"),
            ("--margin",),
        ),
        (JUDGED, ("a gate needs a rule",)),
        (
            (*JUDGED, "--require", "aucp >= 0.3"),
            ("Did you mean 'aucpr'?",),
        ),
        (
            (*JUDGED, "--require", "auroc >= 0.3", "--junit", "gate.txt"),
            ("--junit 'gate.txt' must end in .xml",),
        ),
        (
            (*JUDGED, "--require", "auroc >= 0.3", "--markdown", "nowhere/gate.md"),
            ("--markdown 'nowhere/gate.md' is not a file in a folder that exists",),
        ),
        (("--config", "none.toml"), ("none.toml' cannot be read",)),
    ],
)
def test_what_a_gate_refuses(run, scores, tmp_path, options, words):
    refused(run("gate", *options), *words)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_a_threshold_that_a_stored_baseline_did_not_keep(run, scores):
    run("rank", "scores.csv", "--label", "y", "--score", "old", "-o", "baseline.json")
    options = ("gate", "scores.csv", "--label", "y", "--candidate", "new")
    options += ("--baseline", "baseline.json", "--metric", "precision_at_threshold(0.51)")
    refused(run(*options), "precall rank --threshold 0.51")
    keep = ("--threshold", "0.51", "-o", "baseline.json")
    run("rank", "scores.csv", "--label", "y", "--score", "old", *keep)
    assert run(*options).status in (0, 1, 3)


@pytest.mark.parametrize("title", FILES)
def test_hostile_files_are_judged_or_refused_in_one_line(run, tmp_path, monkeypatch, title):
    monkeypatch.chdir(tmp_path)
    name, content = FILES[title]
    (tmp_path / name).write_bytes(content)
    options = ("--label", "y", "--candidate", "a", "--baseline", "b", "--require", "auroc >= 0.5")
    result = run("gate", *options, "--by", "b", "--junit", "gate.xml", "--", name)
    assert result.status in (0, 1, 2, 3)
    assert "Traceback" not in result.err
    assert "\x1b[31m" not in result.err
    if result.status == 2:
        assert (result.out, len(result.err.splitlines())) == ("", 1)
        assert not (tmp_path / "gate.xml").exists()
    else:
        assert junit_schema.problems((tmp_path / "gate.xml").read_text(encoding="utf-8")) == []


def test_the_settings_say_how_to_read_the_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3 == 0
    new = 2.0 * y + rng.normal(size=300)
    lines = [f"{int(a)};{b:.3f}".replace(".", ",") for a, b in zip(y, new, strict=True)]
    (tmp_path / "s.csv").write_text("\n".join(["y;new", *lines, "1;"]))
    keys = ["file = 's.csv'", "label = 'y'", "candidate = 'new'", "require = 'auroc >= 0.5'"]
    settings = tmp_path / "precall.toml"
    settings.write_text("\n".join(["[gate]", *keys]))
    assert run("gate").status == 2  # a missing score
    settings.write_text("\n".join(["[gate]", *keys, "missing = 'drop'", "sep = ';'"]))
    assert run("gate").status == 0
    # What is typed comes first.
    assert run("gate", "--missing", "raise").status == 2
    settings.write_text("\n".join(["[gate]", *keys, "sep = '::'"]))
    result = run("gate")
    assert result.status == 2
    assert "in the settings, sep must be one sign" in result.err
