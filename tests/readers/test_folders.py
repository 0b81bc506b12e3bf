"""Folders whose names hold columns, and several files as one table."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import precall as pr
from precall.engines import arrow
from precall.exceptions import InputError
from precall.readers.columns import Roles, read_columns

WRITERS = {
    "csv": lambda rows, path: path.write_text(
        "y,s\n" + "".join(f"{row['y']},{row['s']}\n" for row in rows)
    ),
    "jsonl": lambda rows, path: path.write_text("\n".join(map(json.dumps, rows))),
    "parquet": lambda rows, path: parquet.write_table(pa.Table.from_pylist(rows), path),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_the_names_of_folders_are_columns(tmp_path, ending):
    rng = np.random.default_rng(3)
    everything = []
    for shop, label in (("007", 1), ("7", 0), ("7", 1), ("a%2Fb", 0)):
        scores = np.round(rng.normal(size=5), 3).tolist()
        folder = tmp_path / f"shop={shop}" / f"label={label}"
        folder.mkdir(parents=True)
        WRITERS[ending]([{"y": label, "s": s} for s in scores], folder / f"part.{ending}")
        everything += [(label, s, shop.replace("%2F", "/")) for s in scores]
    roles = Roles(label="label", scores=("s",), group="shop")
    columns = read_columns(tmp_path, roles)
    assert columns.group.names == ["007", "7", "a/b"]
    found = zip(columns.positive, columns.scores["s"], columns.group.codes, strict=True)
    assert sorted((int(p), s, columns.group.names[g]) for p, s, g in found) == sorted(everything)
    expected = pr.rank([y for y, _, _ in everything], [s for _, s, _ in everything])
    assert arrow.rank(tmp_path, label="label", score="s") == expected


def test_a_column_of_the_file_goes_before_the_name_of_its_folder(tmp_path):
    folder = tmp_path / "s=9"
    folder.mkdir()
    (folder / "a.csv").write_text("y,s\n1,2\n0,1\n")
    columns = read_columns(folder, Roles(label="y", scores=("s",)))
    assert columns.scores["s"].tolist() == [2, 1]


def test_the_types_of_several_text_files_follow_from_all_of_them(tmp_path):
    (tmp_path / "1.csv").write_text(f"y,s\n1,{2**53}\n0,{2**53 + 1}\n")
    (tmp_path / "2.csv").write_text("s,y\n0.5,0\n1.5,1\n")
    paths = sorted(tmp_path.iterdir())
    columns = read_columns(paths, Roles(label="y", scores=("s",)))
    assert columns.scores["s"].tolist() == [2.0**53, 2.0**53, 0.5, 1.5]
    assert columns.positive.tolist() == [True, False, False, True]
    assert arrow.rank(paths, label="y", score="s") == pr.rank(columns.positive, columns.scores["s"])


def test_a_file_of_several_that_lacks_a_column_is_named(tmp_path):
    (tmp_path / "1.csv").write_text("y,s\n1,2\n0,1\n")
    (tmp_path / "2.csv").write_text("y,t\n1,2\n0,1\n")
    with pytest.raises(InputError, match=r"2.csv' has no column 's'"):
        read_columns(tmp_path, Roles(label="y", scores=("s",)))
