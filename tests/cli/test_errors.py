"""Bad input: one line that says what, where and what to do; exit status 2; nothing written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from precall import _optional
from precall.cli import main

from .conftest import write_csv

COMMAND = (sys.executable, "-m", "precall.cli")


def refused(result, *words: str) -> str:
    assert result.status == 2
    assert result.out == ""
    lines = result.err.splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith("precall: ")
    for word in words:
        assert word in lines[0]
    return lines[0]


@pytest.mark.parametrize("command", ["evaluate", "report", "compare", "operate", "plot", "private"])
def test_a_file_that_is_not_there(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    options = {
        "compare": ("--score", "b"),
        "operate": ("--min-precision", "0.5"),
        "plot": ("-o", "out.png"),
        "private": ("--epsilon", "1"),
    }.get(command, ())
    result = run(command, "nowhere.csv", "--label", "y", "--score", "a", *options)
    refused(result, "nowhere.csv", "check the path")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--curve", "--metric", "auroc"), ("--metric", "leave --metric or --curve out")),
        (("--curve", "--delta", "0.1"), ("--delta", "leave --delta or --curve out")),
        (("--curve", "--mechanism", "rescaled"), ("leave --mechanism or --curve out",)),
        (("--range", "0", "1"), ("--range is for --curve",)),
        (("--curve", "--range", "1", "0"), ("--range must be", "got 1 0")),
        (("--curve", "--range", "0", "inf"), ("--range must be two finite numbers",)),
    ],
)
def test_a_private_release_refuses_options_that_it_would_ignore(run, csv_file, options, words):
    result = run("private", csv_file, "--label", "y", "--score", "a", "--epsilon", "1", *options)
    refused(result, *words)


def test_a_folder_without_data_is_there_but_empty(run, tmp_path):
    (tmp_path / "_SUCCESS").touch()
    message = refused(run("evaluate", tmp_path, "--label", "y", "--score", "a"), "is a folder")
    assert "not there" not in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prevalence", "5%"), "5% is not a number between 0 and 1: write 0.05."),
        (("--prevalence", "0,05"), "0,05 is not a number between 0 and 1: write 0.05."),
        (("--level", "95"), "95 is not a number between 0 and 1: write 0.95."),
        (("--level", "1"), "1 is not a number between 0 and 1."),
        (("--level", "high"), "'high' is not a number between 0 and 1."),
        (("--level", "nan"), "nan is not a number between 0 and 1."),
    ],
)
def test_a_share_that_is_none_says_how_to_write_it(run, csv_file, arguments, words):
    refused(run("evaluate", csv_file, "--label", "y", "--score", "a", *arguments), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("evalute", "x.csv"), "Did you mean 'evaluate'?"),
        (("frobnicate",), "No such command 'frobnicate'."),
        (("evaluate", "x.csv", "--scores", "a"), "Did you mean '--score'?"),
        (("evaluate", "x.csv", "--cost-ratio", "3"), "It belongs to precall report."),
        (("gate", "x.csv", "--score", "a"), "with --candidate and --baseline"),
        (("evaluate", "x.csv", "--score", "a", "b"), "--label y --score a --score b"),
    ],
)
def test_a_slip_of_the_pen_is_recognised(run, arguments, words):
    refused(run(*arguments), words)


def test_messages_of_the_library_speak_of_options(run, csv_file):
    columns = (csv_file, "--label", "y")
    gate = run("gate", *columns, "--candidate", "a")
    refused(gate, "name a --baseline, or --require 'precision_at_recall(0.8) >= 0.3'")
    both = ("--score", "a", "--score", "b", "--metric", "recall_at_precision(0.5)")
    refused(run("compare", *columns, *both), "use --method 'bootstrap'")
    metric = run("compare", *columns, "--score", "a", "--score", "b", "--metric", "aucp")
    assert len(refused(metric, "and 23 more", "Did you mean 'aucpr'?")) < 300


def test_names_that_are_nearly_those_of_columns(run, tmp_path):
    (tmp_path / "a.csv").write_text('"Fraud ""found""",a,b,,\n1,2,3,,\n0,1,2,,\n')
    asked = ("evaluate", tmp_path / "a.csv", "--label")
    refused(run(*asked, "fraud", "--score", "a"), "2 without a name", "'Fraud \"found\"'?")
    refused(run(*asked, 'Fraud "found"', "--score", "a, b"), "Name 'a' and 'b' one by one.")


def test_a_column_that_is_not_there_suggests_the_nearest(run, csv_file):
    refused(run("evaluate", csv_file, "--label", "y", "--score", "aa"), "'aa'", "scores.csv")
    refused(run("evaluate", csv_file, "--label", "yy", "--score", "a"), "Did you mean 'y'?")


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"y": [0, 1, 2], "s": [1, 2, 3]}, (), ("label column 'y'", "two")),
        ({"y": ["no", "yes", "no"], "s": [1, 2, 3]}, (), ("--pos-label 'yes'",)),
        (
            {"y": [0, 1, 0], "s": ["1%", "45%", "7"]},
            (),
            ("'1%'", "'7'", "with the sign, or all without"),
        ),
        ({"y": [0, 1, 0], "s": ["low", "high", "%x"]}, (), ("'low'", "convert it first")),
        ({"y": ["yes", "no", "no"], "s": [1, 2, 3]}, (), ("--pos-label 'yes'",)),
        ({"y": ["a", "b", "c"], "s": [1, 2, 3]}, (), ("3 different labels", "--pos-label, and")),
        ({"y": ["a", "b", "c"], "s": [1, 2, 3]}, ("--pos-label", "d"), ("no label 'd'",)),
        ({"y": [0, 1, 2], "s": [1, 2, 3]}, ("--pos-label", "3"), ("label column 'y'", "two")),
        (
            {"y": range(101), "s": range(101)},
            ("--pos-label", "3"),
            ("101 different", "or make one"),
        ),
        ({"y": [0, 1, 0], "s": [1, 2, 3]}, ("--pos-label", "x"), ("'x'", "--pos-label")),
        ({"y": ["n", "p", "n"], "s": [1, 2, 3]}, ("--pos-label", "q"), ("no label 'q'",)),
        ({"y": [0, 1, 0], "s": [1, "", 3]}, (), ("1 missing value,", "data row 2", "fill")),
        ({"y": [0, "", 1], "s": [1, 2, 3]}, (), ("'y'", "1 missing value,", "data row 2")),
        ({"y": [0, 1, 0], "s": ["a", "b", "c"]}, (), ("'s'", "text such as 'a'")),
        ({"y": [0, 1, 0], "s": [1, 2, 3], "w": [1, -1, 1]}, ("--weight", "w"), ("'w'", "negative")),
        ({"y": [0, 1, 0], "s": [1, 2, 3], "w": [0, 0, 0]}, ("--weight", "w"), ("'w'", "zero")),
        ({"y": [0, 1], "s": [1, 2]}, ("--weight", "y"), ("both label and weight",)),
        ({"y": [0, 1], "s": [1, 2]}, ("--score", "s"), ("named twice",)),
        ({"y": [0, 1], "s": [1, 2]}, ("--score", "y"), ("both label and score",)),
        ({"y": [0, 1], "s": [1, 2], "c": [1, ""]}, ("--cluster", "c"), ("'c'", "missing")),
        ({"y": [], "s": []}, (), ("no rows",)),
        ({"y": [0, 1], "s": [1, 2]}, ("--level", "1.5"), ("--level", "--help")),
        ({"y": [0, 1], "s": [1, 2]}, ("--nope",), ("--nope", "--help")),
    ],
)
def test_columns_that_cannot_be_used(run, tmp_path, columns, options, words):
    write_csv(tmp_path / "scores.csv", columns)
    refused(
        run("evaluate", tmp_path / "scores.csv", "--label", "y", "--score", "s", *options), *words
    )


@pytest.mark.parametrize("role", ["label", "score", "weight", "group", "cluster"])
@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_nested_columns_are_refused_in_one_line(run, tmp_path, role, ending):
    roles = ("label", "score", "weight", "group", "cluster")
    table = pa.table({name: [0, 1] for name in roles} | {role: [[0], [1]]})
    path = tmp_path / f"data{ending}"
    if ending == ".parquet":
        parquet.write_table(table, path)
    else:
        path.write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    options = [word for name in roles for word in (f"--{name}", name)]
    refused(run("evaluate", path, *options), f"column '{role}' holds list", "one value per row")


def test_missing_numbers_are_no_cluster_and_no_group_of_their_own(run, tmp_path):
    columns = {"y": [0, 1, 1, 0] * 5, "s": np.arange(20.0), "c": [1.0, 2.0, 3.0, np.nan] * 5}
    parquet.write_table(pa.table(columns), tmp_path / "scores.parquet")
    words = ("evaluate", tmp_path / "scores.parquet", "--label", "y", "--score", "s")
    refused(run(*words, "--cluster", "c"), "'c'", "5 missing values", "data row 4")
    shown = run(*words, "--group", "c")
    assert shown.status == 0
    assert "(missing)" in shown.out
    assert "nan" not in shown.out


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("empty.csv", b"", "empty"),
        ("broken.parquet", b"PAR1 this is not parquet", "cannot be read"),
        ("broken.feather", b"nothing", "cannot be read"),
        ("broken.jsonl", b'{"y": 1\n', "cannot be read"),
        ("uneven.csv", b"y,s\n1,2\n1,2,3\n", "cannot be read"),
        ("latin.csv", b"y,s\n1,2\n0,3\n1,\xff\xfe\n", "s"),
        ("table.docx", b"", ".csv"),
        ("double.csv", b"y,s,s\n1,2,3\n0,1,1\n", "2 columns 's'"),
    ],
)
def test_files_that_cannot_be_read(run, tmp_path, name, content, word):
    (tmp_path / name).write_bytes(content)
    refused(run("evaluate", tmp_path / name, "--label", "y", "--score", "s"), word)


def test_a_message_stays_on_one_line_whatever_the_names(run, tmp_path):
    hostile = "two\nlines\x1b[31m" + "x" * 500
    write_csv(tmp_path / "scores.csv", {"y": [0, 1], hostile: ["a", "b"]})
    line = refused(run("evaluate", tmp_path / "scores.csv", "--label", "y", "--score", hostile))
    assert "\x1b" not in line
    refused(run("evaluate", tmp_path / "two\nlines.csv", "--label", "y", "--score", "s"))


@pytest.mark.parametrize(
    ("command", "output", "word"),
    [
        ("report", "no/such/folder/report.html", "folder"),
        ("report", "report.txt", ".html"),
        ("report", "scores.html", "is the input"),
        ("plot", "curve.gif", ".png"),
    ],
)
def test_outputs_that_cannot_be_written(
    run, tmp_path, monkeypatch, csv_file, command, output, word
):
    monkeypatch.chdir(tmp_path)
    source = csv_file
    if output == "scores.html":
        source = tmp_path / output
        source.write_bytes(csv_file.read_bytes())
    before = sorted(path.name for path in tmp_path.iterdir())
    refused(run(command, source, "--label", "y", "--score", "a", "-o", output), word)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_nothing_half_written_when_it_fails_in_the_middle(run, tmp_path, csv_file, monkeypatch):
    (tmp_path / "report.html").write_text("the old report")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    options = ("--label", "y", "--score", "a", "-o", tmp_path / "report.html")
    refused(run("report", csv_file, *options), "No space left")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "the old report"


def test_report_says_what_is_missing(run, csv_file):
    refused(run("report", csv_file), "--label")
    refused(run("report", "--label", "y"), "FILE")
    refused(run("compare", csv_file, "--label", "y", "--score", "a"), "--score twice")
    refused(run("operate", csv_file, "--label", "y", "--score", "a"), "--min-precision")


@pytest.mark.parametrize("share", ["0", "1.5", "-3", "nan"])
def test_a_budget_of_rows_is_a_number_or_a_share(run, csv_file, share):
    options = ("--label", "y", "--score", "a", "--max-selected", share)
    refused(run("operate", csv_file, *options), "--max-selected", "a whole number of rows")


@pytest.mark.parametrize("words", ["precision_at_k(100000)", "net_benefit(1)", "expected_cost(0)"])
def test_a_metric_that_cannot_be(run, csv_file, words):
    refused(run("evaluate", csv_file, "--label", "y", "--score", "a", "--metric", words))


def test_an_unknown_command_and_one_that_has_moved(run):
    refused(run("evaluat"), "evaluat")
    refused(run("study", "bias", "-o", "results"), "python -m studies NAME -o DIR")


def test_missing_extras_are_named(run, csv_file, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    refused(run("report", csv_file, "--label", "y", "--score", "a"), '".[report]"')
    monkeypatch.setitem(sys.modules, "precall.cli.app", None)
    monkeypatch.delitem(sys.modules, "precall.cli.app")
    monkeypatch.setitem(sys.modules, "click", None)
    assert main(["--version"]) == 2
    assert '".[cli]"' in capsys.readouterr().err


def test_drawing_without_matplotlib_names_the_extra(run, csv_file, tmp_path, monkeypatch):
    found = _optional.find_spec
    monkeypatch.setattr(
        _optional, "find_spec", lambda name: None if name == "matplotlib" else found(name)
    )
    picture = tmp_path / "a.png"
    result = run("plot", csv_file, "--label", "y", "--score", "a", "-o", picture)
    message = refused(result, "needs matplotlib", '".[plot]"')
    assert "No module named" not in message


def test_the_installed_command_in_a_pipe_that_closes_early(csv_file):
    """`precall evaluate ... | head -1` ends quietly, without a traceback."""
    process = subprocess.Popen(
        [*COMMAND, "evaluate", str(csv_file), "--label", "y", "--score", "a", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    process.stdout.close()
    _, error = process.communicate(timeout=120)
    assert error == b""


def test_a_terminal_without_unicode_still_gets_its_table(csv_file):
    result = subprocess.run(
        [*COMMAND, "evaluate", str(csv_file), "--label", "y", "--score", "a"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        timeout=120,
        check=True,
    )
    assert b"AUCPR" in result.stdout
    assert b"=o=" in result.stdout
    assert result.stdout.isascii()


def test_large_parquet_reports_its_flaws_in_one_line_too(run, tmp_path):
    scores = np.arange(200_000, dtype=float)
    scores[1234] = np.nan
    table = pa.table({"y": np.arange(200_000) % 97 == 0, "s": scores})
    parquet.write_table(table, tmp_path / "large.parquet")
    options = ("--label", "y", "--score", "s", "--memory", 2)
    refused(run("evaluate", tmp_path / "large.parquet", *options), "1234")


def test_too_many_positives_for_the_memory_speak_of_the_option(run, tmp_path):
    table = pa.table({"y": np.arange(200_000) % 3 == 0, "s": np.arange(200_000.0)})
    parquet.write_table(table, tmp_path / "large.parquet")
    options = ("--label", "y", "--score", "s", "--memory", 2, "--min-precision", "0.5")
    line = refused(run("operate", tmp_path / "large.parquet", *options), "--memory 2", "raise")
    assert "memory=" not in line


@pytest.mark.parametrize("command", ["evaluate", "compare", "operate", "report"])
def test_a_missing_column_option_lists_the_columns(run, csv_file, command):
    message = refused(run(command, csv_file, "--score", "a"), "'y', 'a', 'b'")
    assert "--label" in message


def test_a_missing_column_option_of_a_bad_file_is_still_one_line(run, tmp_path):
    refused(run("evaluate", tmp_path / "none.csv", "--score", "a"), "--label")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 nothing")
    refused(run("evaluate", broken, "--score", "a"), "--label")


def test_a_private_command_says_nothing_of_its_file(run, csv_file):
    line = refused(run("private", csv_file, "--score", "a", "--epsilon", "1"), "--label")
    assert "columns" not in line


def test_a_file_without_a_line_of_names_is_recognised(run, tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("1,0.9\n0,0.2\n1,0.8\n0,0.1\n")
    line = refused(run("evaluate", path, "--label", "y", "--score", "s"), "look like values")
    assert "line of names" in line
