"""Excel: the first sheet of a workbook. The workbooks are written here, cell by cell."""

import io
import zipfile
from xml.sax.saxutils import escape

import pytest

import precall as pr
from precall.engines import arrow
from precall.exceptions import InputError
from precall.readers.columns import Roles, columns_of, read_columns
from precall.readers.options import ReadOptions
from precall.readers.sources import opened

ROLES = Roles(label="y", scores=("s",), group="g")
ROWS = [["y", "s", "g"], [1, 0.5, "007"], [0, 0.25, 7], [1, 2, "NA"], [0, 1, ""], [True, 3, 7.5]]

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
OPEN_XML = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(*sheets):
    """The bytes of a workbook with these sheets, which are lists of rows."""
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{TYPES}">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{OPEN_XML}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
            f'ContentType="{OPEN_XML}.worksheet+xml"/>'
            for n in numbers
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>'
        + "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="rId{n}"/>' for n in numbers)
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}">'
        + "".join(
            f'<Relationship Id="rId{n}" Type="{OFFICE}/worksheet" '
            f'Target="worksheets/sheet{n}.xml"/>'
            for n in numbers
        )
        + "</Relationships>",
    }
    for number, rows in zip(numbers, sheets, strict=True):
        lines = "".join(f'<row r="{n}">{cells(row, n)}</row>' for n, row in enumerate(rows, 1))
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{SHEET}"><sheetData>{lines}</sheetData></worksheet>'
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return file.getvalue()


def cells(row, line):
    return "".join(cell(value, f"{'ABC'[place]}{line}") for place, value in enumerate(row))


def cell(value, place):
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        inside = f"<is><t>{escape(value)}</t></is>"
        return f'<c r="{place}" t="inlineStr">{inside}</c>' if value else ""
    return f'<c r="{place}"><v>{value}</v></c>'


def test_a_workbook_is_a_table(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "a.xlsx"
    path.write_bytes(workbook(ROWS))
    for data in (path, io.BytesIO(path.read_bytes())):
        columns = read_columns(data, ROLES)
        assert columns.positive.tolist() == [True, False, True, False, True]
        assert columns.scores["s"].tolist() == [0.5, 0.25, 2.0, 1.0, 3.0]
        assert columns.group.names == ["007", "7", "7.5", "NA", "(missing)"]
    expected = pr.rank(columns.positive, columns.scores["s"])
    assert arrow.rank(path, label="y", score="s") == expected


def test_the_first_of_several_sheets_is_read_and_named(tmp_path):
    pytest.importorskip("python_calamine")
    path, said = tmp_path / "a.xlsx", []
    path.write_bytes(workbook(ROWS, [["other"], [1]]))
    with opened(path, ReadOptions(say=said.append)) as files:
        assert columns_of(files, ROLES, path).n_rows == 5
    [sentence] = said
    assert "has 2 sheets: the first, 'S1', was read." in sentence


def test_a_workbook_that_is_none(tmp_path):
    pytest.importorskip("python_calamine")
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 but no workbook")
    with pytest.raises(InputError, match=r"a.xlsx' cannot be read"):
        read_columns(tmp_path / "a.xlsx", ROLES)


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("precall._optional.find_spec", lambda name: None)
    monkeypatch.setattr("precall.readers.tables.require", lambda *_: None)
    (tmp_path / "a.xlsx").write_bytes(workbook(ROWS))
    with pytest.raises(ImportError, match=r'python_calamine, .* "\.\[excel\]"'):
        read_columns(tmp_path / "a.xlsx", ROLES)


def test_cells_become_columns_as_those_of_text_do(tmp_path, monkeypatch):
    """Without the library, too: what it returns is put in its place."""
    names, *rows = ROWS
    monkeypatch.setattr("precall.readers.excel._cells", lambda _: (names, rows))
    (tmp_path / "a.xlsx").write_bytes(workbook(ROWS))
    columns = read_columns(tmp_path / "a.xlsx", ROLES)
    assert columns.scores["s"].tolist() == [0.5, 0.25, 2.0, 1.0, 3.0]
    assert columns.group.names == ["007", "7", "7.5", "NA", "(missing)"]
    rows[1][1] = "high"
    with pytest.raises(InputError, match="text such as 'high'"):
        read_columns(tmp_path / "a.xlsx", ROLES)
    rows[1][1] = "NA"
    with pytest.raises(InputError, match="1 missing value, the first in data row 2"):
        read_columns(tmp_path / "a.xlsx", ROLES)
