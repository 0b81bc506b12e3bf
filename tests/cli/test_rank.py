"""A stored ranking: what was written is read back to the last bit, and anything else is refused."""

import json

import numpy as np
import pytest

import precall as pr
from precall.exceptions import InputError
from precall.ranking.stored import read_ranking, write_ranking

from .conftest import write_csv


def stored(run, csv_file, path, *options):
    result = run("rank", csv_file, "--label", "y", "--score", "a", *options, "-o", path)
    assert result.status == 0, result.err
    return result.out


@pytest.mark.parametrize("weight", [(), ("--weight", "w")])
def test_the_stored_ranking_is_that_of_the_library(run, csv_file, rows, tmp_path, weight):
    path = tmp_path / "baseline.json"
    out = stored(run, csv_file, path, *weight)
    expected = pr.rank(rows["y"], rows["a"], sample_weight=rows["w"] if weight else None)
    assert read_ranking(path) == expected
    assert pr.Ranking.from_dict(json.loads(path.read_text(encoding="utf-8"))) == expected
    assert "The ranking of a on " in out
    assert str(path) in out
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_thresholds_are_kept_in_memory_and_piece_by_piece(run, rows, tmp_path):
    expected = pr.rank(rows["y"], rows["a"], thresholds=[0.5, 1.25])
    small = write_csv(tmp_path / "scores.csv", rows)
    keep = ("--threshold", "0.5", "--threshold", "1.25")
    stored(run, small, tmp_path / "small.json", *keep)
    assert read_ranking(tmp_path / "small.json") == expected
    assert pr.confusion(read_ranking(tmp_path / "small.json"), 0.5) == pr.confusion(expected, 0.5)
    large = write_csv(
        tmp_path / "large.csv", {name: np.tile(rows[name], 60) for name in ("y", "a")}
    )
    stored(run, large, tmp_path / "large.json", *keep, "--memory", "1")
    repeated = pr.rank(np.tile(rows["y"], 60), np.tile(rows["a"], 60), thresholds=[0.5, 1.25])
    found = read_ranking(tmp_path / "large.json")
    np.testing.assert_array_equal(found.threshold, repeated.threshold)
    np.testing.assert_array_equal(found.tp, repeated.tp)
    np.testing.assert_array_equal(found.fp, repeated.fp)


def test_infinite_and_whole_scores_come_back_as_they_were(tmp_path):
    for scores in ([np.inf, 1.5, -np.inf, 0.25], np.array([2**63, 3, 2, 1], dtype=np.uint64)):
        ranking = pr.rank([1, 0, 1, 0], scores)
        write_ranking(tmp_path / "r.json", ranking, model="a")
        back = read_ranking(tmp_path / "r.json")
        assert back == ranking
        assert back.threshold.dtype == ranking.threshold.dtype


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--score", "a", "-o", "out.csv"), ".json"),
        (("--score", "a", "--score", "b", "-o", "out.json"), "give --score once"),
        (("--score", "z", "-o", "out.json"), "no column 'z'"),
        (("--score", "a", "--threshold", "nan", "-o", "out.json"), "must be a number"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_written(
    run, csv_file, tmp_path, monkeypatch, options, words
):
    monkeypatch.chdir(tmp_path)
    result = run("rank", csv_file, "--label", "y", *options)
    assert result.status == 2
    assert words in result.err
    assert len(result.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2]",
        "{}",
        '{"threshold": [1]}',
        "not json",
        "[" * 100_000,
        '"\\ud800"',
    ],
)
def test_what_is_no_stored_ranking_is_refused(tmp_path, text):
    path = tmp_path / "baseline.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"is not a stored ranking.*precall rank"):
        read_ranking(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("dtype", "nonsense"), ("dtype", 7), ("threshold", 3), ("threshold", [1, 2, 3]),
     ("positives", ["a"]), ("tied", [-1, 0]), ("moments", 3), ("squares", [1]), ("below", "x")],
)  # fmt: skip
def test_a_damaged_ranking_is_refused(tmp_path, name, value):
    path = tmp_path / "baseline.json"
    plain = pr.rank([1, 0, 1], [3.0, 2.0, 1.0]).to_dict() | {name: value}
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(InputError, match="is not a stored ranking"):
        read_ranking(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.json' cannot be read"):
        read_ranking(tmp_path / "nowhere.json")
