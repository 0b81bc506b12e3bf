"""``precall slices`` does what the library does, on 80 columns, and as JSON."""

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
