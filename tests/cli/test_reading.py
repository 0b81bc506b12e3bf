"""Options that say how to read a file, several files, and what was guessed."""

import io
import os
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import precall as pr

COLUMNS = ("--label", "y", "--score", "s")
RNG = np.random.default_rng(4)
Y = (RNG.random(300) < 0.3).astype(int)
SCORES = np.round(RNG.normal(size=300) + Y, 3)


def content(delimiter=",", decimal=".", names="y,s"):
    rows = [f"{y}{delimiter}{str(s).replace('.', decimal)}" for y, s in zip(Y, SCORES, strict=True)]
    return "\n".join([names.replace(",", delimiter), *rows]) + "\n"


@pytest.fixture
def expected(run, tmp_path):
    path = tmp_path / "expected.csv"
    path.write_text(content())
    return models(run("evaluate", path, *COLUMNS, "--json"))


def models(result):
    assert result.status == 0, result.err
    return result.json()["models"]


def counted(result):
    """Models without the estimator whose sums depend in their last bits on the pieces."""
    return [{**model, "estimators": None} for model in models(result)]


@pytest.mark.parametrize(
    ("name", "data", "options"),
    [
        ("a.csv", content("^").encode(), ("--sep", "^")),
        ("a.txt", content("\t").encode(), ("--sep", "tab", "--format", "csv")),
        ("a.csv", content(";", ",").encode(), ("--sep", ";", "--decimal", ",")),
        ("a.csv", content().encode("utf-16-le"), ("--encoding", "utf-16-le")),
        ("a.dat", content().encode(), ("--format", "csv")),
    ],
    ids=["separator", "tab", "decimal comma", "encoding", "format"],
)
def test_options_say_how_to_read(run, tmp_path, expected, name, data, options):
    (tmp_path / name).write_bytes(data)
    result = run("evaluate", tmp_path / name, *COLUMNS, "--json", *options)
    assert models(result) == expected
    assert result.err == ""
    for command, more in {
        "operate": ("--min-precision", "0.3"),
        "check": (),
        "plot": ("-o", tmp_path / "a.svg"),
        "report": ("-o", tmp_path / "a.html"),
    }.items():
        assert run(command, tmp_path / name, *COLUMNS, *more, *options).status == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert options[0] in page, "the command at its end makes the page again"


def test_a_guess_is_printed(run, tmp_path, expected):
    (tmp_path / "a.csv").write_text(content(";", ","))
    result = run("evaluate", tmp_path / "a.csv", *COLUMNS, "--json")
    assert models(result) == expected
    [line] = result.err.splitlines()
    assert "a.csv' was read with ';' between the columns and a decimal comma" in line
    said = ("--sep", ";", "--decimal", ",")
    assert run("evaluate", tmp_path / "a.csv", *COLUMNS, "--json", *said).err == ""


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--sep", ",,"), "--sep must be one sign"),
        (("--encoding", "utf-99"), "--encoding 'utf-99' is not known"),
        (("--sep", ",", "--decimal", ","), "--sep and --decimal are both ','"),
        (("--format", "docx"), "--format"),
        (("--missing", "fill"), "--missing"),
    ],
    ids=str,
)
def test_options_that_cannot_be(run, tmp_path, options, word):
    (tmp_path / "a.csv").write_text(content())
    result = run("evaluate", tmp_path / "a.csv", *COLUMNS, *options)
    assert result.status == 2
    assert word in result.err
    assert len(result.err.splitlines()) == 1


def test_several_files_are_one_table(run, tmp_path, expected, monkeypatch):
    lines = content().splitlines(keepends=True)
    (tmp_path / "1.csv").write_text("".join(lines[:101]))
    (tmp_path / "2.csv").write_text("".join([lines[0], *lines[101:201]]))
    table = pa.table({"s": SCORES[200:], "y": Y[200:]})
    parquet.write_table(table, tmp_path / "3.parquet")
    files = [tmp_path / name for name in ("1.csv", "2.csv", "3.parquet")]
    result = run("evaluate", *files, *COLUMNS, "--json")
    assert models(result) == expected
    assert result.json()["file"] == [str(file) for file in files]
    assert "1.csv and 2 more: 300 rows" in run("evaluate", *files, *COLUMNS).out
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(files[1].read_bytes())))
    assert models(run("evaluate", files[0], "-", files[2], *COLUMNS, "--json")) == expected
    assert "only once" in run("evaluate", "-", "-", *COLUMNS).err
    page = run("report", *files, *COLUMNS, "-o", files[1].with_suffix(".html"))
    assert page.status == 0
    os.link(files[1], tmp_path / "same.html")
    refused = run("report", *files, *COLUMNS, "-o", tmp_path / "same.html")
    assert "is the input" in refused.err


GAPS = {"a.csv": ["", "NA"], "a.jsonl": [None], "a.parquet": [None, np.nan]}


@pytest.mark.parametrize("memory", [1, 4096])
@pytest.mark.parametrize("name", GAPS)
def test_rows_with_missing_values_are_dropped_and_counted(run, tmp_path, name, memory):
    """Whole or in pieces, for all models the same rows; a row without a group stays."""
    size = 30_000
    rng = np.random.default_rng(7)
    y = (rng.random(size) < 0.2).astype(int)
    scores = {"s": np.round(rng.normal(size=size) + y, 2), "t": np.round(rng.normal(size=size), 2)}
    rows = pa.table({"y": y, **scores, "g": rng.choice(["a", "b"], size)}).to_pylist()
    full = [row for i, row in enumerate(rows) if i not in (5, 6, 29_000)]
    for place, column in ((5, "s"), (6, "t"), (29_000, "y")):
        rows[place] = {**rows[place], column: GAPS[name][place % len(GAPS[name])]}
    write(tmp_path / name, rows)
    write(tmp_path / f"full-{name}", full)
    request = ("--label", "y", "--score", "s", "--score", "t", "--group", "g", "--json")
    options = (*request, "--memory", memory)
    refused = run("evaluate", tmp_path / name, *options)
    assert refused.status == 2
    found = run("evaluate", tmp_path / name, *options, "--missing", "drop")
    expected = run("evaluate", tmp_path / f"full-{name}", *options)
    assert found.err == "precall: 3 rows of 30,000 with missing values left out.\n"
    assert counted(found) == counted(expected)
    assert found.json()["groups"] == expected.json()["groups"]


def write(path, rows):
    import csv
    import json

    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def test_missing_values_name_the_way_out(run, tmp_path):
    (tmp_path / "a.csv").write_text("y,s\n1,2\n0,\n0,1\n")
    result = run("evaluate", tmp_path / "a.csv", *COLUMNS)
    assert "leave them out with --missing drop" in result.err
    (tmp_path / "b.csv").write_text("y,s\n1,\n0,\n")
    result = run("evaluate", tmp_path / "b.csv", *COLUMNS, "--missing", "drop")
    assert result.status == 2
    assert "every row" in result.err


def test_messages_of_a_file_in_pieces_speak_of_columns(run, tmp_path):
    table = pa.table({"y": np.arange(30_000) % 2, "s": [str(i) for i in range(30_000)]})
    parquet.write_table(table, tmp_path / "a.parquet")
    result = run("evaluate", tmp_path / "a.parquet", *COLUMNS, "--memory", 1)
    assert result.status == 2
    assert "score column 's'" in result.err
    assert "score=" not in result.err


@pytest.mark.parametrize("words", [True, False])
def test_one_label_against_the_rest(run, tmp_path, words):
    rng = np.random.default_rng(2)
    kind = rng.integers(0, 3, 90)
    names = np.array(["cat", "dog", "fox"])[kind] if words else kind + 5
    score = rng.normal(size=90) + (kind == 2)
    path = tmp_path / "three.csv"
    lines = [f"{name},{value}" for name, value in zip(names, score, strict=True)]
    path.write_text("\n".join(["y,s", *lines]) + "\n")
    positive = "fox" if words else "7"
    found = run("evaluate", path, "--label", "y", "--score", "s", "--pos-label", positive, "--json")
    area = found.json()["models"][0]["measures"]["aucpr"]["estimate"]
    assert area == pr.aucpr(pr.rank(kind == 2, score))
    assert f"'{positive}' is positive, and " in found.err
    page = tmp_path / "page.html"
    made = run("report", path, "--label", "y", "--score", "s", "--pos-label", positive, "-o", page)
    assert made.status == 0
    assert "is positive, and " in page.read_text(encoding="utf-8")


def test_a_file_without_names_is_recognised_and_read(run, tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("id0,0,0.31\nid1,1,0.52\nid2,0,0.13\nid3,1,0.41\n")
    for arguments in (("--label", "y", "--score", "s"), ()):
        refused = run("evaluate", path, *arguments)
        assert refused.status == 2
        assert "These look like values: if the file has no line of names, add --no-header" in (
            refused.err
        )
    refused = run("report", path, "-o", tmp_path / "page.html")
    assert "add --no-header" in refused.err
    for memory in ("1", "1000"):
        found = run(
            *("evaluate", path, "--no-header", "--label", "2", "--score", "3"),
            *("--memory", memory, "--json"),
        )
        assert found.json()["rows"] == 4
        assert found.json()["positive_rows"] == 2


def test_a_name_with_spaces_around_it_is_found(run, tmp_path):
    path = tmp_path / "spaces.csv"
    path.write_text("y, Score \n0,1\n1,2\n")
    assert (
        "Did you mean ' Score '?" in run("evaluate", path, "--label", "y", "--score", "score").err
    )
