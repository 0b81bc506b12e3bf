"""``precall check`` says what is wrong with a file, and that this is not private."""

import pytest

from .conftest import write_csv


def test_check_says_what_is_wrong_a_line_each(run, tmp_path):
    rows = {"y": [0, 1, 2, 1], "s": [0.1, 0.2, 0.3, "n/a?"]}
    path = write_csv(tmp_path / "scores.csv", rows)
    result = run("check", path, "--label", "y", "--score", "s")
    assert result.status == 2
    lines, note = result.out.split("\n\n")
    first, second = lines.splitlines()
    assert "'y'" in first
    assert "3 different labels" in first
    assert "text such as 'n/a?'" in second
    assert "not private" in note
    found = run("check", path, "--label", "y", "--score", "s", "--json").json()
    assert found["problems"] == [first, second]
    assert found["private"] is False


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"y": ["well"] * 3, "s": [1, 2, 3]}, ("--pos-label", "sick"), "no label 'sick'"),
        ({"y": [0] * 3, "s": [1, 2, 3]}, (), "no positive rows"),
        ({"y": [1] * 3, "s": [1, 2, 3]}, (), "no negative rows"),
        ({"y": [0, 1, 0], "s": [1, "", 3]}, (), "the first in data row 2"),
        ({"y": [0, 1, 0], "t": [1, 2, 3]}, (), "no column 's'"),
        ({"y": [0, 1, 0], "s": [1, 2, 3], "w": [1, -1, 1]}, ("--weight", "w"), "'w'"),
    ],
)
def test_check_finds(run, tmp_path, columns, options, words):
    path = write_csv(tmp_path / "scores.csv", columns)
    result = run("check", path, "--label", "y", "--score", "s", *options)
    assert result.status == 2
    assert words in result.out


def test_check_looks_at_the_labels_that_are_there_too(run, tmp_path):
    """Otherwise a user fills in what is missing, and is refused a second time."""
    path = tmp_path / "a.csv"
    path.write_text("y,s\nyes,1\n,2\nno,3\nunknown,4\n", encoding="utf-8")
    out = run("check", path, "--label", "y", "--score", "s").out
    assert "column 'y' has 1 missing value" in out
    assert "has 3 different labels ('yes', 'no', 'unknown')" in out
    assert "a label that is not known has to be empty, for --missing drop" in out
    path.write_text("y,s\n1,1\n,2\n1,3\n", encoding="utf-8")
    assert "has no negative rows" in run("check", path, "--label", "y", "--score", "s").out
    path.write_text("y,s\n1,1\n,2\n0,3\n", encoding="utf-8")
    assert len(run("check", path, "--label", "y", "--score", "s").out.splitlines()) == 4


def test_check_says_that_nothing_is_wrong(run, csv_file):
    result = run("check", csv_file, "--label", "y", "--score", "a", "--score", "b", "--group", "g")
    assert result.status == 0
    assert result.out.startswith("nothing is wrong.\n")
    assert "not private" in result.out
