"""Numbers in percent: read from every kind of file, the same whole and in pieces."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precall as pr
from precall.engines import arrow
from precall.exceptions import InputError
from precall.readers import pieces
from precall.readers.columns import Roles, find_problems, read_columns, read_values
from precall.readers.options import ReadOptions
from precall.readers.percent import carries_sign
from tests.readers.test_excel import workbook

ROLES = Roles(label="y", scores=("s",))
LABELS = [0, 1, 1, 0] * 15


def as_csv(cells, path):
    rows = (f"{y};{s}" for y, s in zip(LABELS, cells, strict=True))
    path.write_text("\r\n".join(["y;s", *rows, ""]), encoding="utf-8-sig", newline="")


def as_json(cells, path):
    rows = (json.dumps({"y": y, "s": s or None}) for y, s in zip(LABELS, cells, strict=True))
    path.write_text("\n".join(rows), encoding="utf-8")


def as_table(cells, kind="string"):
    return pa.table({"y": LABELS, "s": pa.array([cell or None for cell in cells], kind)})


WRITERS = {
    "a.csv": as_csv,
    "a.jsonl": as_json,
    "a.xlsx": lambda cells, path: path.write_bytes(
        workbook([["y", "s"], *([y, s] for y, s in zip(LABELS, cells, strict=True))])
    ),
    "a.parquet": lambda cells, path: parquet.write_table(
        as_table(cells, "large_string"), path, row_group_size=7
    ),
    "a.feather": lambda cells, path: feather.write_feather(as_table(cells), path, chunksize=7),
}
# What the cells are, by turns, and what they mean; or what is wrong with them.
READ = {
    "as people type it": (["23,1 %", "87%"], [0.231, 0.87]),
    "with points": (["23.1 %", "0.5%"], [0.231, 0.005]),
    "with other spaces": (
        ["7\N{NO-BREAK SPACE}%", " -3\N{NARROW NO-BREAK SPACE}% "],
        [0.07, -0.03],
    ),
}
REFUSED = {
    "partly": (["23.1 %", "0.5"], r"percent sign \('23.1 %'\) and without \('0.5'\): write all"),
    "first without": (["7", "0.5 %"], r"percent sign \('0.5 %'\) and without \('7'\): write all"),
    "words": (["23.1 %", "high"], "text such as 'high', not numbers: name a column"),
    "a sign alone": (["23.1 %", "%"], "text such as '%', not numbers: name a column"),
    "both signs": (["23.1 %", "23,1 %"], r"decimal points \('23.1 %'\) and decimal commas"),
}


def in_pieces(path, options=None):
    return arrow.rank(path, label="y", score="s", options=options)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(pieces, "_MOST_BLOCK", 100)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("case", READ)
@pytest.mark.parametrize("gap", [False, True])
def test_every_file_reads_percent_alike_and_says_so(tmp_path, name, case, gap):
    cells, values = READ[case]
    WRITERS[name]([*cells * 29, *cells[:1], "" if gap else cells[1]], tmp_path / name)
    values = np.array([*values * 29, *values[:1], values[1]])[: 59 if gap else 60]
    whole, piecewise = [], []
    missing = "drop" if gap else "raise"
    options = ReadOptions(missing=missing, say=whole.append)
    columns = read_columns(tmp_path / name, ROLES, options)
    np.testing.assert_array_equal(columns.scores["s"], values)
    options = ReadOptions(missing=missing, say=piecewise.append)
    assert in_pieces(tmp_path / name, options) == pr.rank(LABELS[: values.size], values)
    comma = ", with a decimal comma" if "," in cells[0] else ""
    read = f"{cells[0]!r} was read as {values[0]}, and the others likewise."
    sentence = f"column 's' is in percent{comma}: {read}"
    assert sentence in whole
    assert sentence in piecewise


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("case", REFUSED)
def test_every_file_refuses_what_is_not_all_in_percent_alike(tmp_path, name, case):
    cells, words = REFUSED[case]
    WRITERS[name](cells * 30, tmp_path / name)
    with pytest.raises(InputError, match=words) as whole:
        read_columns(tmp_path / name, ROLES)
    with pytest.raises(InputError, match=words) as piecewise:
        in_pieces(tmp_path / name)
    assert str(whole.value) == str(piecewise.value)
    [problem] = find_problems(tmp_path / name, ROLES)
    assert problem == str(whole.value)


@pytest.mark.parametrize("name", WRITERS)
def test_the_decimal_sign_that_was_said_counts(tmp_path, name):
    WRITERS[name](["23,1 %", "87%"] * 30, tmp_path / name)
    options = ReadOptions(decimal=",")
    assert read_columns(tmp_path / name, ROLES, options).scores["s"][0] == 0.231
    options = ReadOptions(decimal=".")
    with pytest.raises(InputError, match="'23,1 %', not numbers: its decimal sign is not"):
        read_columns(tmp_path / name, ROLES, options)
    with pytest.raises(InputError, match="'23,1 %', not numbers: its decimal sign is not"):
        in_pieces(tmp_path / name, options)


def test_files_that_are_read_together_have_the_sign_all_or_none(tmp_path):
    as_csv(["23.1 %", "7 %"] * 30, tmp_path / "a.csv")
    parquet.write_table(pa.table({"y": LABELS, "s": np.linspace(0, 1, 60)}), tmp_path / "b.parquet")
    paths = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    with pytest.raises(InputError, match=r"\('23.1 %'\) and without \('0.0'\)") as whole:
        read_columns(paths, ROLES)
    with pytest.raises(InputError) as piecewise:
        in_pieces(paths)
    assert str(piecewise.value) == str(whole.value)


def test_weights_and_other_numbers_may_be_in_percent(tmp_path):
    (tmp_path / "a.csv").write_text("y,s,w\n0,1,5%\n1,2,10 %\n")
    roles = Roles(label="y", scores=("s",), weight="w")
    assert read_columns(tmp_path / "a.csv", roles).weight.tolist() == [0.05, 0.1]
    assert read_values(tmp_path / "a.csv", numbers=["w"])["w"].tolist() == [0.05, 0.1]


def test_labels_and_groups_keep_their_sign(tmp_path):
    (tmp_path / "a.csv").write_text("y,s,g\n5%,1,5%\n9%,2,10%\n")
    columns = read_columns(
        tmp_path / "a.csv", Roles(label="y", scores=("s",), group="g", pos_label="5%")
    )
    assert columns.positive.tolist() == [True, False]
    assert columns.group.names == ["10%", "5%"]


@given(number=st.integers(0, 10**6), places=st.integers(0, 6))
def test_a_percent_is_the_number_that_one_types(number, places):
    """23.1 % is 0.231 to the last bit: a threshold that was typed is met."""
    exact = Fraction(number, 10**places)
    cell = f"{number / 10**places:.{places}f} %"
    assert carries_sign(cell)
    from precall.readers.percent import _Seen

    assert _Seen().look(pa.array([cell])).to_pylist() == [float(exact / 100)]
