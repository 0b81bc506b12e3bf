"""Groups and clusters are names: text, never numbers that were guessed."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from precall.readers.columns import Roles, read_columns

ROLES = Roles(label="y", scores=("s",), group="g", cluster="c")


def coded(path, names, clusters=None):
    rows = zip(names, clusters or ["k"] * len(names), strict=True)
    lines = [f"{i % 2},{i},{g},{c}" for i, (g, c) in enumerate(rows)]
    path.write_text("\n".join(["y,s,g,c", *lines]) + "\n", encoding="utf-8")
    return read_columns(path, ROLES)


def test_names_that_look_like_equal_numbers_are_different_names(tmp_path):
    columns = coded(tmp_path / "a.csv", ["007", "7", "1", "1.0"], ["1", "01", "1.0", "1e0"])
    assert sorted(columns.group.names) == ["007", "1", "1.0", "7"]
    assert sorted(columns.cluster.names) == ["01", "1", "1.0", "1e0"]


def test_the_country_na_is_a_country_and_an_empty_cell_is_missing(tmp_path):
    columns = coded(tmp_path / "a.csv", ["NA", "DE", "", "NA", "null"])
    assert columns.group.names == ["DE", "NA", "null", "(missing)"]
    assert columns.group.codes.tolist() == [1, 0, 3, 1, 2]


def test_names_are_shown_with_the_numbers_first_and_in_their_order(tmp_path):
    columns = coded(tmp_path / "a.csv", ["10", "9", "b", "nan", "-1", "a", "inf", ""])
    assert columns.group.names == ["-1", "9", "10", "a", "b", "inf", "nan", "(missing)"]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (pa.array([7, 10, 9, 7]), ["7", "9", "10"]),
        (pa.array([1.0, 2.5, None, np.nan]), ["1.0", "2.5", "(missing)"]),
        (pa.array(["NA", "", "7", "007"]), ["007", "7", "", "NA"]),
        (pa.array(["b", "a", "b", None]).dictionary_encode(), ["a", "b", "(missing)"]),
        (pa.array([True, False, None, True]), ["False", "True", "(missing)"]),
    ],
    ids=["whole numbers", "numbers", "text", "dictionary", "booleans"],
)
def test_files_with_types_keep_what_they_store(tmp_path, values, names):
    table = pa.table({"y": [0, 1, 0, 1], "s": [1, 2, 3, 4], "g": values, "c": [1, 2, 3, 4]})
    parquet.write_table(table, tmp_path / "a.parquet")
    group = read_columns(tmp_path / "a.parquet", ROLES).group
    assert group.names == names
    texts = [str(v) if v is not None and v == v else "(missing)" for v in values.to_pylist()]
    assert [group.names[code] for code in group.codes] == texts


def test_a_column_to_cut_by_keeps_the_country_na_and_numbers_stay_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,s,country,age\n1,3,NA,31\n0,2,DE,NA\n0,1,,40\n", encoding="utf-8")
    columns = read_columns(path, Roles(label="y", scores=("s",), by=("country", "age")))
    assert columns.by["country"].tolist() == ["NA", "DE", None]
    assert columns.by["age"][0] == 31
    assert columns.by["age"][1] is None or np.isnan(columns.by["age"][1])
