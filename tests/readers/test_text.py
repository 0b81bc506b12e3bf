"""Text as people write it: encodings, separators, decimal commas, lines before the names."""

import bz2
import gzip
import io
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.feather as feather
import pytest

import precall as pr
from precall.engines import arrow
from precall.exceptions import InputError
from precall.readers.columns import Roles, columns_of
from precall.readers.options import ReadOptions
from precall.readers.sources import opened

GROUPS = ("Äpfel", "Öl", "Üb")
ROWS = [(i % 3 == 0, i / 8 - 2, GROUPS[i % 3]) for i in range(40)]
EXPECTED = pr.rank([y for y, _, _ in ROWS], [s for _, s, _ in ROWS])


def text(delimiter=",", decimal=".", newline="\n"):
    lines = [f"y{delimiter}Stärke{delimiter}g"]
    for y, s, g in ROWS:
        lines.append(delimiter.join([str(int(y)), str(s).replace(".", decimal), g]))
    return newline.join(lines) + newline


def lines_of_json():
    return "\n".join(json.dumps({"y": int(y), "Stärke": s, "g": g}) for y, s, g in ROWS)


FILES = {
    "UTF-8": ("a.csv", text().encode(), None),
    "UTF-8 with a mark": ("a.csv", text().encode("utf-8-sig"), None),
    "UTF-16": ("a.csv", text().encode("utf-16"), "text in utf-16"),
    "UTF-16, big end first": ("a.csv", b"\xfe\xff" + text().encode("utf-16-be"), "text in utf-16"),
    "Latin-1": ("a.csv", text().encode("latin-1"), "text in latin-1"),
    "Latin-1 and tabs": ("a.tsv", text("\t").encode("latin-1"), "text in latin-1"),
    "carriage returns": ("a.csv", text(newline="\r\n").encode(), None),
    "semicolons": ("a.csv", text(";").encode(), "';' between the columns"),
    "bars": ("a.csv", text("|").encode(), "'|' between the columns"),
    "tabs in a .csv": ("a.csv", text("\t").encode(), "tabs between the columns"),
    "decimal commas": ("a.csv", text(";", ",").encode(), "a decimal comma"),
    "decimal commas and tabs": ("a.tsv", text("\t", ",").encode(), "a decimal comma"),
    "Latin-1 with decimal commas": ("a.csv", text(";", ",").encode("latin-1"), "a decimal comma"),
    "lines of remarks": ("a.csv", b"# made today\n\n# by a tool\n" + text().encode(), "3 lines"),
    "JSON lines with a mark": ("a.jsonl", lines_of_json().encode("utf-8-sig"), None),
    "JSON lines in UTF-16": ("a.jsonl", lines_of_json().encode("utf-16"), None),
    "a JSON array": ("a.json", f"[{lines_of_json()}]".replace("}\n", "},\n").encode(), None),
}
PACKERS = {
    "plain": ("", lambda data: data),
    "gzip": (".gz", gzip.compress),
    "bz2": (".bz2", bz2.compress),
    "zstd": (".zst", lambda data: pa.Codec("zstd").compress(data, asbytes=True)),
}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("title", FILES)
def test_every_way_to_write_text_is_read_alike(tmp_path, title, packer):
    name, content, guess = FILES[title]
    ending, pack = PACKERS[packer]
    path = tmp_path / (name + ending)
    path.write_bytes(pack(content))
    said = []
    roles = Roles(label="y", scores=("Stärke",), group="g")
    # Through a pipe the format has to be found, too.
    for data in (path, io.BytesIO(path.read_bytes())):
        with opened(data, ReadOptions(say=said.append)) as files:
            columns = columns_of(files, roles, path)
        assert columns.scores["Stärke"].tolist() == [s for _, s, _ in ROWS]
        assert columns.positive.tolist() == [y for y, _, _ in ROWS]
        assert columns.group.names == sorted(GROUPS)
        data = data if data is path else io.BytesIO(path.read_bytes())
        assert arrow.rank(data, label="y", score="Stärke") == EXPECTED
    if guess is None:
        assert said == []
    else:
        assert all(guess in sentence for sentence in said[:1])
        assert said


def read(content, options=None, **roles):
    with opened(io.BytesIO(content), options) as files:
        return columns_of(files, Roles(label="y", scores=("s",), **roles), "data")


@pytest.mark.parametrize("name", ["scores", "scores.txt", "scores.dat"])
@pytest.mark.parametrize("title", ["semicolons", "a JSON array", "UTF-16"])
def test_names_that_say_nothing_are_read_by_their_content(tmp_path, name, title):
    (tmp_path / name).write_bytes(FILES[title][1])
    said = []
    with opened(tmp_path / name, ReadOptions(say=said.append)) as files:
        columns = columns_of(files, Roles(label="y", scores=("Stärke",)), name)
    assert columns.scores["Stärke"].tolist() == [s for _, s, _ in ROWS]
    assert f"was read as {'json' if 'JSON' in title else 'csv'}." in said[0]
    assert arrow.rank(tmp_path / name, label="y", score="Stärke") == EXPECTED


def test_text_that_turns_out_not_to_be_utf_8_far_below(tmp_path):
    rows = "".join(f"{i % 2},{i},a\n" for i in range(20_000))
    content = ("y,s,g\n" + rows).encode() + b"1,2,\xe9t\xe9\n"
    said = []
    columns = read(content, ReadOptions(say=said.append), group="g")
    assert columns.group.names == ["a", "été"]
    assert "latin-1" in said[0]


@pytest.mark.parametrize(
    ("names", "cell"),
    [
        ('"y","s","g"', "plain"),
        ('"y","s","g\nof two lines"', "plain"),
        ("y,s,g", '"of\ntwo lines"'),
        ('"y","s","g"', '"of\ntwo lines"'),
        ('"y","s\n","g"', '"of ""two""\r\nlines"'),
    ],
)
def test_quotes_around_names_and_line_breaks_within_quotes(tmp_path, names, cell):
    rows = "".join(f"{i % 3 == 0:d},{i},{cell}\n" for i in range(30))
    path = tmp_path / "scores.csv"
    path.write_bytes(f"{names}\n{rows}".encode())
    score = "s\n" if '"s\n"' in names else "s"
    found = columns(path, label="y", scores=(score,))
    assert found.scores[score].tolist() == list(range(30))
    assert found.positive.tolist() == [i % 3 == 0 for i in range(30)]


def columns(path, **roles):
    with opened(str(path), ReadOptions()) as files:
        return columns_of(files, Roles(**roles), str(path))


def test_a_decimal_comma_far_below_makes_all_scores_decimals():
    rows = "".join(f"{i % 2};{i}\n" for i in range(20_000))
    columns = read(("y;s\n" + rows + "1;0,5\n").encode())
    assert columns.scores["s"].dtype == float
    assert columns.scores["s"][-1] == 0.5


@pytest.mark.parametrize("content", [b"y,s\n", b"y,s", b"# remark\ny,s"])
def test_a_header_alone(tmp_path, content):
    with pytest.raises(InputError, match="has a header but no rows"):
        read(content)
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"no rows|at least one row"):
        arrow.rank(tmp_path / "a.csv", label="y", score="s")


def test_an_engine_names_the_file_that_it_cannot_read(tmp_path):
    (tmp_path / "a.csv").write_text("y,s\n1,2\n1,2,3\n")
    with pytest.raises(InputError, match=r"a.csv' cannot be read: .*Expected 2 columns, got 3"):
        arrow.rank(tmp_path / "a.csv", label="y", score="s")


def test_points_and_commas_do_not_mix():
    with pytest.raises(InputError, match="not numbers"):
        read(b"y;s\n1;0,5\n0;0.25\n")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (b"y^s\n1^0.5\n0^0.25\n", {"delimiter": "^"}),
        (b"y;s\n1;1,5\n0;0,25\n", {"decimal": ","}),
        ("y,s,é\n1,0.5,a\n0,0.25,b\n".encode("cp1252"), {"encoding": "cp1252"}),
        ("y,s\n1,0.5\n0,0.25\n".encode("utf-16-le"), {"encoding": "utf-16-le"}),
        (b"y\ts,t\n1\t0.5\n0\t0.25\n", {"format": "tsv"}),
    ],
    ids=["separator", "decimal", "code page", "no mark", "format"],
)
def test_what_is_said_is_not_guessed(content, options):
    said = []
    if "format" in options:
        content = content.replace(b"s,t", b"s")
    columns = read(content, ReadOptions(**options, say=said.append))
    assert columns.scores["s"][1] == 0.25
    assert not any(str(value) in sentence for sentence in said for value in options.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "docx"}, "format must be one of csv, excel, feather, json, parquet, tsv"),
        ({"delimiter": ", "}, "delimiter must be one sign"),
        ({"decimal": "x"}, "decimal must be '.' or ','"),
        ({"decimal": ",", "delimiter": ","}, "both ','"),
        ({"encoding": "utf-99"}, "encoding 'utf-99' is not known"),
        ({"missing": "fill"}, "missing must be 'raise' or 'drop'"),
    ],
    ids=str,
)
def test_options_that_no_file_can_have(options, message):
    with pytest.raises(InputError, match=message):
        ReadOptions(**options)


def test_an_engine_takes_the_same_options(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text("y^s\n1^0,5\n0^0,25\n1^\n0^0,75\n")
    said = []
    options = ReadOptions(format="csv", delimiter="^", decimal=",", missing="drop", say=said.append)
    names = {"label": "y", "score": "s"}
    assert arrow.rank(path, **names, options=options) == pr.rank([1, 0, 0], [0.5, 0.25, 0.75])
    assert said == ["1 row of 4 with missing values left out."]
    table = pa.table({"y": [1, 0, None], "s": [1.0, 2.0, 3.0]})
    feather.write_feather(table, tmp_path / "a.feather")
    drop = ReadOptions(missing="drop")
    expected = pr.rank([1, 0], [1.0, 2.0])
    assert arrow.rank(tmp_path / "a.feather", **names, options=drop) == expected
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert arrow.rank(io.BytesIO(sink.getvalue()), **names, options=drop) == expected
    with pytest.raises(InputError, match="options are for files"):
        arrow.rank(table, **names, options=drop)


def test_a_decimal_comma_is_found_on_one_core_too(tmp_path):
    """PyArrow then says the row as well."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"y;s\n" + b"1;2,5\n0;1,5\n" * 20)
    code = (
        "import sys\nfrom precall.engines import arrow\n"
        "print(arrow.rank(sys.argv[1], label='y', score='s').threshold.tolist())"
    )
    for threads in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
        )
        assert done.stdout == "[2.5]\n", done.stderr
