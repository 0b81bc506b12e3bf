"""``precall slices`` does what the library does, on 80 columns, and as JSON."""

import csv
import sqlite3

import numpy as np
import pytest

import precall as pr

from .conftest import write_csv

ASKED = ("--label", "y", "--score", "a", "--by", "g")


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Three columns to cut by: words, numbers, and words with gaps."""
    rng = np.random.default_rng(3)
    y = (rng.random(1500) < 0.3).astype(np.int64)
    columns = {
        "y": y,
        "a": np.round(rng.normal(size=1500) + 1.5 * y, 6),
        "b": np.round(rng.normal(size=1500) + 0.5 * y, 6),
        "region": np.array(["north", "south"])[rng.integers(0, 2, 1500)],
        "age": rng.integers(18, 90, 1500),
        "note": np.array(["yes", "no", ""])[rng.integers(0, 3, 1500)],
    }
    path = tmp_path_factory.mktemp("slices") / "wide.csv"
    write_csv(path, columns)
    return path, columns


def test_json_is_what_the_library_finds(run, csv_file, rows):
    ours = pr.slices(pr.Rows(rows["y"], {"a": rows["a"]}, columns={"g": rows["g"]}), "g")
    [model] = run("slices", csv_file, *ASKED, "--json").json()["models"]
    assert model["slices"] == ours.to_dict()["slices"]
    assert model["statement"] == ours.statement
    assert (model["metric"], model["worst"]) == ("aucnpr", ours.worst.name)


def test_the_table_fits_and_ends_in_the_statement(run, csv_file, rows):
    result = run("slices", csv_file, *ASKED)
    ours = pr.slices(pr.Rows(rows["y"], {"a": rows["a"]}, columns={"g": rows["g"]}), "g")
    assert result.status == 0
    assert max(map(len, result.out.splitlines())) <= 80
    printed = [line.split()[0] for line in result.out.splitlines() if line.startswith("g=")]
    assert printed == [one.name for one in ours]
    assert " ".join(ours.statement.split()) in " ".join(result.out.split())


def test_numbers_are_cut_and_rows_without_a_value_are_a_level(run, wide):
    path, columns = wide
    asked = ("--label", "y", "--score", "a", "--by", "age", "--by", "note", "--depth", "1")
    [model] = run("slices", path, *asked, "--json").json()["models"]
    found = {one["name"]: one["n_rows"] for one in model["slices"]}
    assert len(found) == 4 + 3
    assert found["note=(missing)"] == np.count_nonzero(columns["note"] == "")
    assert sum(rows for name, rows in found.items() if name.startswith("age=")) == 1500


def test_options_reach_the_library(run, wide):
    path, columns = wide
    rows = pr.Rows(
        columns["y"],
        {"a": columns["a"], "b": columns["b"]},
        columns={"region": columns["region"], "age": columns["age"]},
    )
    asked = ("--label", "y", "--score", "a", "--score", "b", "--by", "region", "--by", "age")
    asked += ("--metric", "auroc", "--prevalence", "0.1", "--min-positives", "20")
    asked += ("--quantiles", "3", "--level", "0.9")
    models = run("slices", path, *asked, "--json").json()["models"]
    for model in models:
        ours = pr.slices(
            rows,
            ["region", "age"],
            "auroc",
            model=model["model"],
            prevalence=0.1,
            min_positives=20,
            quantiles=3,
            confidence_level=0.9,
        )
        assert model == ours.to_dict()
    assert [model["model"] for model in models] == ["a", "b"]
    assert "of b at prevalence 10 %" in run("slices", path, *asked).out


def test_clusters_count(run, csv_file, rows):
    ours = pr.Rows(rows["y"], rows["a"], clusters=rows["c"], columns={"g": rows["g"]})
    [model] = run("slices", csv_file, *ASKED, "--cluster", "c", "--json").json()["models"]
    assert model["slices"][0]["low"] == pr.slices(ours, "g").worst.interval.low


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--by", "region", "--depth", "3"), "--depth 3 needs as many --by"),
        (("--by", "regoin"), "Did you mean 'region'"),
        (("--by", "y"), "cannot be both label and by"),
        ((), "--by"),
    ],
)
def test_mistakes_are_one_line(run, wide, options, words):
    result = run("slices", wide[0], "--label", "y", "--score", "a", *options)
    assert result.status == 2
    assert words in result.err
    assert len(result.err.splitlines()) == 1


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Rows that are more than two megabytes in memory, in a file of words and numbers."""
    rng = np.random.default_rng(5)
    size = 18_000
    y = (rng.random(size) < 0.015).astype(np.int64)
    region = np.array(["north", "south", ""])[rng.choice(3, size, p=[0.5, 0.3, 0.2])]
    columns = {
        "y": y,
        "a": np.round(rng.normal(size=size) + np.where(region == "north", 2.0, 0.5) * y, 6),
        "region": region,
        "device": rng.choice(["phone", "a\\b"], size),
        "age": rng.integers(18, 90, size),
        "w": np.round(rng.uniform(0.5, 2.0, size), 3),
    }
    path = tmp_path_factory.mktemp("slices") / "large.csv"
    write_csv(path, columns)
    return path


BY_REGION = ("--label", "y", "--score", "a", "--by", "region")


def _numbers_apart(plain):
    """Numbers of nested values, and everything else."""
    if isinstance(plain, float):
        return [plain], None
    if isinstance(plain, (list, dict)):
        values = plain.values() if isinstance(plain, dict) else plain
        parts = [_numbers_apart(value) for value in values]
        return [number for numbers, _ in parts for number in numbers], [rest for _, rest in parts]
    return [], plain


@pytest.mark.parametrize("weight", [(), ("--weight", "w")])
def test_a_file_in_pieces_has_the_slices_of_the_whole(run, large, weight):
    whole, pieces = (
        run("slices", large, *BY_REGION, *weight, "--json", *memory).json()["models"]
        for memory in ((), ("--memory", "2"))
    )
    for (numbers, rest), (expected, others) in zip(
        map(_numbers_apart, pieces), map(_numbers_apart, whole), strict=True
    ):
        assert rest == others
        assert numbers == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert all(one["p_value"] is not None for one in pieces[0]["slices"])


def test_the_groups_of_an_evaluation_in_pieces_are_slices(run, large):
    asked = ("evaluate", large, "--label", "y", "--score", "a", "--group", "region", "--json")
    whole, pieces = (run(*asked, *memory).json()["slices"] for memory in ((), ("--memory", "2")))
    (numbers, rest), (expected, others) = _numbers_apart(pieces), _numbers_apart(whole)
    assert rest == others
    assert numbers == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_what_pieces_cannot_do_is_said(run, large):
    small = ("--memory", "2")
    numbers = run("slices", large, "--label", "y", "--score", "a", "--by", "age", *small)
    assert numbers.status == 2
    assert "raise --memory, or write the parts into a column" in numbers.err
    clusters = run("slices", large, *BY_REGION, "--cluster", "age", *small)
    assert clusters.status == 2
    assert "raise --memory or leave --cluster out" in clusters.err


def _same_but_for_the_critical_value(found, expected):
    """Counts, estimates and differences; the limits are those of independent slices: wider."""
    expected_slices = {one["name"]: one for one in expected["slices"]}
    assert {one["name"] for one in found["slices"]} == set(expected_slices)
    for one in found["slices"]:
        other = expected_slices[one["name"]]
        assert one["levels"] == other["levels"]
        assert [one[key] for key in ("n_pos", "n_neg")] == [
            other[key] for key in ("n_pos", "n_neg")
        ]
        for key in ("estimate", "difference"):
            assert one[key] == pytest.approx(other[key], rel=1e-9, abs=1e-12)
        assert one["low"] <= other["low"] + 1e-12
        assert one["high"] >= other["high"] - 1e-12


CROSSED = ("--label", "y", "--score", "a", "--by", "region", "--by", "device")


def test_crossings_of_a_file_in_pieces_are_those_of_the_whole(run, large):
    [pieces] = run("slices", large, *CROSSED, "--memory", "2", "--json").json()["models"]
    [whole] = run("slices", large, *CROSSED, "--json").json()["models"]
    assert {"region": "(missing)", "device": "a\\b"} in [one["levels"] for one in whole["slices"]]
    _same_but_for_the_critical_value(pieces, whole)


@pytest.fixture(params=["duckdb", "sqlite"])
def database(request, large, tmp_path):
    """The same rows as a table; those without a region are NULL there."""
    path = tmp_path / "scores.db"
    if request.param == "duckdb":
        with pytest.importorskip("duckdb").connect(str(path)) as connection:
            connection.read_csv(str(large)).create("scores")
        return f"duckdb:///{path}"
    with large.open(newline="") as stream:
        names, *lines = csv.reader(stream)
    connection = sqlite3.connect(path)
    kinds = ("INTEGER", "REAL", "TEXT", "TEXT", "INTEGER", "REAL")
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    connection.execute(f"CREATE TABLE scores ({columns})")
    rows = [[value or None for value in line] for line in lines]
    connection.executemany(f"INSERT INTO scores VALUES ({', '.join('?' * len(names))})", rows)
    connection.commit()
    connection.close()
    return f"{request.param}:///{path}"


def test_a_table_of_a_database_has_the_slices_of_its_rows(run, large, database):
    found = run("slices", database, "--table", "scores", *BY_REGION, "--json")
    (numbers, rest), (expected, others) = (
        _numbers_apart(each.json()["models"])
        for each in (found, run("slices", large, *BY_REGION, "--json"))
    )
    assert rest == others
    assert numbers == pytest.approx(expected, rel=1e-9, abs=1e-12)
    [crossed] = run("slices", database, "--table", "scores", *CROSSED, "--json").json()["models"]
    [whole] = run("slices", large, *CROSSED, "--json").json()["models"]
    _same_but_for_the_critical_value(crossed, whole)


def test_rests_are_left_out_where_too_many_thresholds_would_be_kept(run, database, monkeypatch):
    monkeypatch.setattr("precall.cli.databases._MOST_KEPT", 100)
    [model] = run("slices", database, "--table", "scores", *BY_REGION, "--json").json()["models"]
    assert "It was not compared with the rest." in model["statement"]


def test_too_many_levels_are_refused_wherever_the_rows_are(run, tmp_path):
    """A column of 100,000 names, in memory, in pieces and in a database."""
    size = 100_000
    rng = np.random.default_rng(0)
    y = (rng.random(size) < 0.1).astype(np.int64)
    columns = {"y": y, "a": np.round(rng.normal(size=size) + y, 2)}
    columns["user"] = np.array([f"user {place}" for place in range(size)])
    columns["device"] = rng.choice(["phone", "tablet"], size)
    path, base = tmp_path / "users.csv", tmp_path / "users.db"
    write_csv(path, columns)
    with sqlite3.connect(base) as connection:
        connection.execute("CREATE TABLE t (y INTEGER, a REAL, user TEXT, device TEXT)")
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.close()
    asked = ("--label", "y", "--score", "a", "--by", "user", "--by", "device")
    for where in ([path], [path, "--memory", "8"], [f"sqlite:///{base}", "--table", "t"]):
        refused = run("slices", *where, *asked)
        assert refused.status == 2
        assert "levels" in refused.err
        assert "1,000" in refused.err
        assert "erge the rare ones" in refused.err
        assert len(refused.err.splitlines()) == 1
