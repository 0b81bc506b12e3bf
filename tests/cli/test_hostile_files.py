"""Hostile files and names: a command is done, or says in one line what is wrong; no traceback."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROWS = [(row % 3 == 0, row / 64 + (row % 3 == 0) * 0.25, (row * 37 % 64) / 64) for row in range(60)]
GOOD = "y,a,b\n" + "".join(f"{int(y)},{a},{b}\n" for y, a, b in ROWS)
COMMANDS = {
    "evaluate": ("evaluate",),
    "compare": ("compare", "--score", "b"),
    "operate": ("operate", "--min-precision", "0.3"),
}

# A file's name and its bytes.
FILES: dict[str, tuple[str, bytes]] = {
    "good": ("good.csv", GOOD.encode()),
    "empty": ("empty.csv", b""),
    "one newline": ("newline.csv", b"\n"),
    "header only": ("header.csv", b"y,a,b\n"),
    "header without newline": ("header.csv", b"y,a,b"),
    "one row": ("one.csv", b"y,a,b\n1,2,3\n"),
    "one class": ("class.csv", b"y,a,b\n" + b"1,2,3\n" * 5),
    "ragged": ("ragged.csv", b"y,a,b\n1,2\n0,1,2,3\n"),
    "blank lines": ("blank.csv", GOOD.replace("\n", "\n\n").encode()),
    "no newline at the end": ("end.csv", GOOD.encode().rstrip()),
    "byte order mark": ("mark.csv", b"\xef\xbb\xbf" + GOOD.encode()),
    "UTF-16": ("wide.csv", GOOD.encode("utf-16")),
    "Latin-1": ("latin.csv", "y,a,b,é\n1,2,3,ä\n0,1,2,ü\n".encode("latin-1")),
    "carriage returns": ("returns.csv", GOOD.replace("\n", "\r\n").encode()),
    "only carriage returns": ("mac.csv", GOOD.replace("\n", "\r").encode()),
    "zero bytes": ("zero.csv", b"y,a,b\n1,\x002,3\n0,1,2\n"),
    "nothing but zero bytes": ("zeros.csv", bytes(1000)),
    "gigantic line": ("line.csv", b"y,a,b\n1," + b"9" * 3_000_000 + b",1\n0,1,2\n"),
    "gigantic header": ("head.csv", b"y,a,b," + b"c" * 3_000_000 + b"\n1,2,3,4\n"),
    "open quote": ("quote.csv", b'y,a,b\n1,"2,3\n0,1,2\n'),
    "quotes": ("quotes.csv", b'"y","a","b"\n"1","2","3"\n"0","1","2"\n'),
    "line break in quotes": ("broken.csv", b'y,a,b,t\n1,2,3,"x\ny"\n0,1,2,""\n'),
    "two headers of one name": ("twice.csv", b"y,a,a,b\n1,2,3,4\n0,1,2,3\n"),
    "semicolons": ("semicolons.csv", GOOD.replace(",", ";").encode()),
    "decimal commas": ("commas.csv", b"y;a;b\n1;0,5;1\n0;0,25;2\n"),
    "thousands": ("thousands.csv", b'y,a,b\n1,"1,000",1\n0,5,2\n'),
    "words for numbers": ("words.csv", b"y,a,b\n1,high,1\n0,low,2\n"),
    "numbers beyond 64 bits": ("huge.csv", b"y,a,b\n1,99999999999999999999999,1\n0,1,2\n"),
    "numbers beyond floats": ("beyond.csv", b"y,a,b\n1,1e999,1\n0,1,2\n0,3,2\n"),
    "missing words": ("missing.csv", b"y,a,b\n1,NA,1\n0,nan,2\n"),
    "dates": ("dates.csv", b"y,a,b\n1,2024-01-01,1\n0,2024-01-02,2\n"),
    "terminal codes": ("codes.csv", b"y,a,b\n1,\x1b[31mred,1\n0,\x1b]0;x\x07,2\n"),
    "no such ending": ("scores.docx", b"PK\x03\x04"),
    "no ending": ("scores", GOOD.encode()),
    "not compressed": ("plain.csv.gz", GOOD.encode()),
    "compressed, no ending": ("packed.csv", gzip.compress(GOOD.encode())),
    "compressed otherwise": ("other.csv.gz", bz2.compress(GOOD.encode())),
    "cut off": ("cut.csv.gz", gzip.compress(GOOD.encode())[:-20]),
    "compressed": ("good.csv.gz", gzip.compress(GOOD.encode())),
    "no Parquet": ("wrong.parquet", GOOD.encode()),
    "empty Parquet": ("empty.parquet", b""),
    "no Feather": ("wrong.feather", b"ARROW1\0\0" + bytes(40)),
    "JSON array": ("array.jsonl", b'[{"y": 1, "a": 2, "b": 3}]'),
    "JSON numbers": ("numbers.jsonl", b"1\n2\n"),
    "half JSON": ("half.jsonl", b'{"y": 1, "a": 2, "b": 3}\n{"y": 0, "a"'),
    "JSON of two kinds": ("kinds.jsonl", b'{"y":1,"a":2,"b":3}\n{"y":0,"a":"x","b":[1]}\n'),
    "JSON null": ("null.jsonl", b'{"y":1,"a":2,"b":3}\n{"y":0,"a":null,"b":1}\n'),
    "JSON NaN": ("nan.jsonl", b'{"y":1,"a":NaN,"b":3}\n{"y":0,"a":1,"b":1}\n'),
    "deep JSON": ("deep.jsonl", b'{"y":' + b"[" * 200 + b"]" * 200 + b"}\n"),
}
NAMES = (
    "\x1b[31mred.csv",
    "new\nline.csv",
    "bell\x07.csv",
    "\u202egnp.csv",
    "-o.csv",
    "--help",
    "$(touch gone).csv",
    "*.csv",
    "[a].csv",
    "day=3.csv",
    "space and 'quotes'\".csv",
    "ü\u0301.csv",
    "b" * 200 + ".csv",
    os.fsdecode(b"\xff\xfe.csv"),
)


def words(
    command: str, path: object, *others: str, label: str = "y", score: str = "a"
) -> tuple[object, ...]:
    name, *options = COMMANDS[command]
    return name, "--label", label, "--score", score, *options, *others, "--", path


def judged(result, folder: Path, before: set[Path]) -> None:
    """Done, or refused in one line; nothing written either way."""
    assert result.status in (0, 2), result
    assert "Traceback" not in result.err
    if result.status == 2:
        assert result.out == ""
        lines = result.err.splitlines()
        assert len(lines) == 1, result.err
        assert lines[0].startswith("precall: ")
        assert len(lines[0]) < 2000, "a line nobody can read"
    assert not set(result.err) & set("\x07\u202e"), "control codes of a file reach the terminal"
    assert "\x1b[31m" not in result.err
    assert set(folder.iterdir()) == before


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("title", FILES)
@pytest.mark.parametrize("command", COMMANDS)
def test_hostile_files(run, folder, command, title):
    name, content = FILES[title]
    (folder / name).write_bytes(content)
    judged(run(*words(command, name)), folder, {folder / name})


@pytest.mark.parametrize(
    "title",
    [
        "good",
        "blank lines",
        "no newline at the end",
        "byte order mark",
        "UTF-16",
        "carriage returns",
        "only carriage returns",
        "semicolons",
        "no ending",
        "not compressed",
        "compressed",
        "compressed, no ending",
        "compressed otherwise",
    ],
)
def test_files_that_only_look_hostile_are_read(run, folder, title):
    name, content = FILES[title]
    (folder / "good.csv").write_bytes(GOOD.encode())
    (folder / name).write_bytes(content)
    expected, found = (run(*words("evaluate", path, "--json")) for path in ("good.csv", name))
    assert found.status == 0
    assert found.json()["models"] == expected.json()["models"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_hostile_names_of_files(run, folder, name):
    for content in (GOOD.encode(), b"y,a,b\n"):
        try:
            (folder / name).write_bytes(content)
        except OSError:
            pytest.skip("this file system has no such names")
        before = set(folder.iterdir())
        judged(run(*words("evaluate", name)), folder, before)


@pytest.mark.parametrize("name", ["", ".", "/dev/null", "nowhere/at/all.csv", "a" * 5000])
def test_names_of_no_file(run, folder, name):
    for command in COMMANDS:
        judged(run(*words(command, name)), folder, set())
    assert run(*words("evaluate", name)).status == 2


@pytest.mark.parametrize(
    "name", ["\x1b[31mred", "new\nline", "\u202egnp", "--label", "", "y", 'ä,;"']
)
def test_hostile_names_of_columns(run, folder, name):
    rows = [{"y": int(y), name: a, "b": b} for y, a, b in ROWS]
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    judged(run(*words("evaluate", path, score=name)), folder, {path})
    judged(run(*words("evaluate", path, score=name + "?")), folder, {path})
    judged(run(*words("evaluate", path, label=name)), folder, {path})


@settings(
    max_examples=settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    text=st.lists(
        st.sampled_from(
            ["y", "a", "b", ",", "\n", "\r", '"', ";", "\t", "1", "0", "-", "e9", "nan", " "]
        )
        | st.binary(min_size=1, max_size=3)
    ),
    ending=st.sampled_from(["csv", "tsv", "jsonl", "json", "parquet", "csv.gz", "txt"]),
    header=st.booleans(),
)
def test_any_bytes(run: Callable[..., object], folder: Path, text, ending, header):
    path = folder / f"any.{ending}"
    content = b"".join(part.encode() if isinstance(part, str) else part for part in text)
    path.write_bytes(b"y,a,b\n" * header + content)
    judged(run(*words("evaluate", path)), folder, {path})
    path.unlink()
