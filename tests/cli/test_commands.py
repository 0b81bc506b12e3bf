"""The other commands: each does what the library does, and says where its output is."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

import precall as pr
from precall._version import __version__
from precall.evaluation import wording
from precall.inference.compare import compare
from precall.points.operating import operating_point
from precall.ranking.stored import read_ranking
from tests.cli.page import command_on

from .conftest import write_csv

COMMANDS = (
    "evaluate",
    "compare",
    "report",
    "plot",
    "operate",
    "watch",
    "size",
    "slices",
    "gate",
    "rank",
    "audit",
    "private",
    "sites",
    "check",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example_that_starts_with_the_command(run, command):
    result = run(command, "--help")
    assert result.status == 0
    examples = result.out.split("Examples:\n")[1].splitlines()
    assert any(line.strip().startswith(f"precall {command}") for line in examples)
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("group", ["", "audit", "sites"])
def test_help_says_what_every_command_does_without_cutting_it(run, group, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    out = run(*filter(None, [group]), "--help").out
    listed = out.partition("Commands:")[2].partition("Examples:")[0]
    assert "..." not in listed
    assert max(map(len, listed.splitlines())) <= 60


def test_bare_command_version_and_short_help(run):
    assert "Commands:" in run().out
    assert run().status == 0
    assert run("--version").out == f"precall {__version__}\n"
    assert run("-h").out == run("--help").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_there(shell):
    result = subprocess.run(
        [sys.executable, "-c", "from precall.cli import main; main()"],
        env={"_PRECALL_COMPLETE": f"{shell}_source", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "_PRECALL_COMPLETE" in result.stdout


def test_compare_prints_the_comparison_of_the_library(run, csv_file, rows):
    options = (csv_file, "--label", "y", "--score", "a", "--score", "b", "--cluster", "c")
    ours = compare(rows["y"], {"a": rows["a"], "b": rows["b"]}, clusters=rows["c"])
    found = run("compare", *options, "--json").json()
    assert found["pairs"][0]["low"] == ours.intervals["a", "b"].low
    table = run("compare", *options).out
    interval = ours.intervals["a", "b"]
    told = wording.interval(interval.estimate, interval.low, interval.high, signed=True)
    assert told in table
    assert "a is better than b." in table
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("method", ["bootstrap", "permutation"])
def test_compare_resamples_with_a_seed_and_no_bar_in_a_pipe(run, csv_file, method):
    options = ("compare", csv_file, "--label", "y", "--score", "a", "--score", "b", "--json")
    options += ("--method", method, "--resamples", "200")
    first, again = run(*options, "--seed", "5"), run(*options, "--seed", "5")
    assert first.err == ""
    assert first.json() == again.json()


def test_operate_certifies_what_the_library_certifies(run, csv_file, rows):
    ours = operating_point(pr.rank(rows["y"], rows["a"]), min_precision=0.5)
    options = ("operate", csv_file, "--label", "y", "--score", "a", "--min-precision", "0.5")
    [model] = run(*options, "--json").json()["models"]
    assert model["threshold"] == ours.threshold
    assert model["constraints"] == [ours.of("precision").to_dict()]
    assert model["other_bounds"] == [ours.of("recall").to_dict()]
    shown = run(*options).out
    assert " ".join(ours.message.split()) in " ".join(shown.split())
    impossible = run(*options[:-1], "0.999")
    assert impossible.status == 0
    assert "no threshold" in impossible.out


def test_positives_that_nobody_scored(run, csv_file, rows, tmp_path):
    asked = (csv_file, "--label", "y", "--score", "a", "--missed-positives", "30")
    ranking = pr.rank(rows["y"], rows["a"], missed_positives=30)
    [model] = run("operate", *asked, "--min-recall", "0.4", "--json").json()["models"]
    ours = operating_point(ranking, min_recall=0.4)
    assert model["threshold"] == ours.threshold
    assert ours.threshold < operating_point(ranking.scored, min_recall=0.4).threshold
    stored = tmp_path / "stored.json"
    assert "(30 more were missed)" in run("rank", *asked, "-o", stored).out
    assert read_ranking(stored) == ranking
    for kind in ("pr", "lift"):
        picture = tmp_path / f"{kind}.png"
        assert run("plot", *asked, "--kind", kind, "-o", picture).status == 0
        assert picture.stat().st_size > 0
    refused = run("operate", *asked[:-1], "-1", "--min-recall", "0.4")
    assert refused.status == 2
    assert "--missed-positives" in refused.err


def test_plot_leaves_no_figure_open(run, csv_file, tmp_path):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    for kind in ("pr", "roc"):
        asked = ("--kind", kind, "--no-band", "-o", tmp_path / f"{kind}.svg")
        assert run("plot", csv_file, "--label", "y", "--score", "a", *asked).status == 0
    assert plt.get_fignums() == before


def test_a_number_of_rows_is_shown_as_one(run, csv_file):
    options = ("operate", csv_file, "--label", "y", "--score", "a", "--max-selected", "20")
    shown = run(*options).out
    row = next(line for line in shown.splitlines() if line.split()[:1] == ["selected"])
    assert row.split()[1] == "≤"
    assert row.split()[2].isdigit()


def test_operate_certifies_several_models_so_that_one_can_be_picked(run, csv_file, rows):
    options = ("operate", csv_file, "--label", "y", "--score", "a", "--score", "b")
    options += ("--min-precision", "0.5")
    found = run(*options, "--json").json()
    assert (found["confidence_level"], found["candidates"]) == (0.95, 2)
    for model in found["models"]:
        ranking = pr.rank(rows["y"], rows[model["name"]])
        ours = operating_point(ranking, min_precision=0.5, confidence_level=0.975)
        assert model["threshold"] == ours.threshold
        assert (model["confidence_level"], model["n_candidates"]) == (0.95, 2)
    shown = " ".join(run(*options).out.split())
    assert "the one you choose holds with 95 % confidence" in shown


@pytest.mark.parametrize(
    ("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
@pytest.mark.parametrize("kind", ["pr", "roc", "hit", "gain"])
def test_plot_writes_pictures(run, csv_file, tmp_path, ending, magic, kind):
    path = tmp_path / f"curve.{ending}"
    options = ("--label", "y", "--score", "a", "--score", "b", "--kind", kind, "-o", path)
    result = run("plot", csv_file, *options)
    assert result.status == 0, result.err
    assert path.read_bytes().startswith(magic)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert str(path) in result.out


def test_private_tells_nothing_but_the_release(run, csv_file, rows):
    options = ("private", csv_file, "--label", "y", "--score", "a", "--epsilon", "2")
    result = run(*options, "--metric", "average_precision", "--metric", "auroc", "--json")
    assert result.status == 0, result.err
    found = result.json()
    assert found["rows"] == 600
    assert [value["epsilon"] for value in found["released"]] == [1.0, 1.0]
    assert all(0 <= value["low"] <= value["high"] <= 1 for value in found["released"])
    text = run(*options).out
    assert str(int(rows["y"].sum())) not in text.replace(".", " ").replace("(", " ").split()


def test_a_private_curve_says_what_its_ranges_cover_and_which_scores_it_takes(run, csv_file):
    options = ("private", csv_file, "--label", "y", "--score", "a", "--epsilon", "5", "--curve")
    result = run(*options)
    assert result.status == 0, result.err
    text = " ".join(result.out.split())
    assert "value (95 %, noise and binning)" in text
    assert "precision (range of the noise)" in text
    assert "They leave out the error of counting scores in" in text
    assert "The interval is for the value of these rows" in text
    assert "The bins run from 0 to 1; a score outside counts in the first or the last" in text
    assert "--range LOW HIGH" in text
    found = run(*options, "--json").json()
    assert found["released"][0]["covers"] == "noise and binning"
    assert found["points_cover"] == "noise only, without binning error"
    wider = run(*options, "--population", "--json").json()
    assert wider["released"][0]["covers"] == "noise, binning and sampling"
    assert "for the population" in " ".join(run(*options, "--population").out.split())
    assert found["range"] == [0.0, 1.0]
    moved = run(*options, "--range", "-4", "4", "--json").json()
    assert moved["range"] == [-4.0, 4.0]
    widths = [b - a for a, b in pairwise(moved["curve"]["edges"])]
    assert widths == pytest.approx([widths[0]] * len(widths))


def test_a_private_curve_says_the_same_whether_or_not_scores_lie_outside(run, tmp_path):
    rng = np.random.default_rng(0)
    y = (np.arange(4000) % 2).astype(int)
    inside = np.clip(0.4 + 0.2 * y + rng.normal(scale=0.15, size=4000), 0.01, 0.99)
    said = []
    for name, scores in (("inside", inside), ("outside", np.where(inside > 0.9, 7.0, inside))):
        path = tmp_path / f"{name}.csv"
        write_csv(path, {"y": y, "s": scores})
        options = ("--label", "y", "--score", "s", "--epsilon", "5", "--curve")
        result = run("private", path, *options)
        assert result.status == 0
        assert result.err == ""
        said.append(result.out[result.out.index("Epsilon 5") :])
    assert said[0] == said[1]


def test_report_with_nothing_is_about_the_example(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("report")
    assert result.status == 0, result.err
    path = tmp_path / "precall-report.html"
    assert str(path) in result.out
    page = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 6_000_000
    assert "gradient_boosting" in page
    assert command_on(page) == "precall report -o precall-report.html"


def test_the_command_on_the_page_makes_the_page_again(run, tmp_path, csv_file, monkeypatch):
    import shlex

    monkeypatch.chdir(tmp_path)
    options = ("--label", "y", "--score", "a", "--score", "b", "--group", "g", "--weight", "w")
    run("report", csv_file, *options, "--level", "0.9", "-o", "first.html")
    first = (tmp_path / "first.html").read_text(encoding="utf-8")
    command = shlex.split(command_on(first))
    assert command[0] == "precall"
    (tmp_path / "first.html").unlink()
    assert run(*command[1:]).status == 0
    assert (tmp_path / "first.html").read_text(encoding="utf-8") == first


@pytest.mark.parametrize("module", ["precall", "precall.cli"])
def test_python_runs_the_command_line_by_either_name(module):
    asked = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"precall {__version__}"


def test_what_draws_tables_is_loaded_only_to_draw_them():
    code = (
        "import sys; from precall.cli import main; from precall import example_path; "
        "main(['evaluate', str(example_path()), '--label', 'fraud', '--score', 'scorecard', "
        "'--json']); sys.exit(any(name.partition('.')[0] == 'rich' for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)


@pytest.mark.parametrize("library", ["click", "rich"])
def test_a_library_that_is_missing_is_named_before_anything_is_done(library):
    code = (
        "import importlib.util, sys; real = importlib.util.find_spec; "
        f"importlib.util.find_spec = lambda name: None if name == {library!r} else real(name); "
        "from precall.cli import main; sys.exit(main(['--version']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("precall: the command line needs click and rich, which ")
