"""Private commands behave alike on neighbouring files, and say nothing about any row."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from precall.exceptions import InputError
from precall.readers.cells import read_cells
from precall.readers.columns import Roles

from .conftest import write_csv

BIG = 2**53
OPTIONS = ("--label", "y", "--score", "s", "--epsilon", "1")


def table(n_rows=60, labels=("0", "1")):
    rng = np.random.default_rng(1)
    return [[labels[i % 2], repr(float(s))] for i, s in enumerate(rng.random(n_rows))]


def write(path: Path, rows):
    return write_csv(path, dict(zip(("y", "s"), zip(*rows, strict=True), strict=True)))


def replaced(rows, label, score, place=7):
    return [*rows[:place], [label, score], *rows[place + 1 :]]


PAIRS = {
    "the last sick row": (
        ("--pos-label", "sick"),
        replaced([["well", s] for _, s in table()], "sick", "0.5"),
        replaced([["well", s] for _, s in table()], "well", "0.5"),
    ),
    "the last positive": (
        (),
        replaced([["0", s] for _, s in table()], "1", "0.5"),
        replaced([["0", s] for _, s in table()], "0", "0.5"),
    ),
    "a third label": (
        ("--pos-label", "sick"),
        table(labels=("well", "sick")),
        replaced(table(labels=("well", "sick")), "unknown", "0.5"),
    ),
    "a label of another type": (
        ("--pos-label", "1"),
        table(),
        replaced(table(), "sick", "0.5"),
    ),
    "minus one": ((), table(), replaced(table(), "-1", "0.5")),
    "a fraction among whole numbers": (
        (),
        [[y, str(BIG + i)] for i, (y, _) in enumerate(table())],
        replaced([[y, str(BIG + i)] for i, (y, _) in enumerate(table())], "1", "0.5"),
    ),
    "scores upside down": ((), table(), replaced(table(), "0", "1e300")),
    "infinity": ((), table(), replaced(table(), "1", "-inf")),
}


@pytest.mark.parametrize("kind", [(), ("--curve",), ("--metric", "auroc")], ids=str)
@pytest.mark.parametrize("pair", PAIRS)
def test_neighbouring_files_give_the_same_status_and_words(run, tmp_path, pair, kind):
    options, *files = PAIRS[pair]
    outcomes = []
    for number, rows in enumerate(files):
        path = write(tmp_path / f"{number}.csv", rows)
        result = run("private", path, *OPTIONS, *options, *kind)
        # Rules are as long as the released numbers are wide, and these differ by their noise.
        printed = re.sub("─+", "─", result.out).split()
        words = [word for word in printed if not any(c.isdigit() for c in word)]
        # A curve warns of what was released, noise and all; that is not a word on the rows.
        said = [line for line in result.err.splitlines() if "warning: about" not in line]
        outcomes.append((result.status, words, said))
    assert outcomes[0][0] == 0, outcomes
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "feather"])
def test_one_row_changes_no_other_in_any_format(tmp_path, ending):
    rows = [[y, BIG + i] for i, (y, _) in enumerate(table())]
    found = []
    for number, changed in enumerate((rows, replaced(rows, "sick", 0.5))):
        path = _write_as(tmp_path / f"{number}.{ending}", changed)
        found.append(read_cells(path, Roles(label="y", scores=("s",), pos_label="1")))
    (positive, (scores,), _), (other, (others,), _) = found
    kept = np.arange(len(rows)) != 7
    np.testing.assert_array_equal(scores, [float(s) for _, s in rows])
    np.testing.assert_array_equal(scores[kept], others[kept])
    np.testing.assert_array_equal(positive[kept], other[kept])
    assert (others[7], other[7]) == (0.5, False)


def _write_as(path, rows):
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    labels, scores = [y for y, _ in rows], [s for _, s in rows]
    if path.suffix == ".csv":
        return write(path, rows)
    if path.suffix == ".tsv":
        path.write_text("y\ts\n" + "".join(f"{y}\t{s}\n" for y, s in rows))
    elif path.suffix == ".jsonl":
        words = [y if y == "sick" else int(y) for y in labels]
        lines = [json.dumps({"y": y, "s": s}) for y, s in zip(words, scores, strict=True)]
        path.write_text("\n".join(lines) + "\n")
    else:  # the file says which type its columns have, and not its rows
        whole = all(isinstance(s, int) for s in scores)
        columns = pa.table({"y": labels, "s": scores if whole else [float(s) for s in scores]})
        writer = parquet.write_table if path.suffix == ".parquet" else feather.write_feather
        writer(columns, path)
    return path


WRONG = {
    "missing score": replaced(table(), "1", ""),
    "text score": replaced(table(), "1", "0.1234567x"),
    "missing label": replaced(table(), "", "0.5"),
    "third label": replaced(table(), "2", "0.5"),
    "too many cells": replaced(table(), "1", "0.25,17"),
    "no rows": [],
}


def test_whatever_is_wrong_with_the_rows_the_words_are_the_same(run, tmp_path):
    messages = set()
    for name, rows in WRONG.items():
        path = tmp_path / f"{name}.csv"
        path.write_text("y,s\n" + "".join(f"{y},{s}\n" for y, s in rows))
        result = run("private", path, *OPTIONS)
        assert result.status == 2
        assert result.out == ""
        messages.add(result.err)
    (tmp_path / "nothing.csv").write_text("")
    (tmp_path / "bytes.csv").write_bytes(b"y,s\n\xff\xfe,0.5\n")
    (tmp_path / "no header.csv").write_text("1,0.123\n0,0.456\n")
    (tmp_path / "not.parquet").write_text("y,s\n1,0.5\n")
    (tmp_path / "lines.jsonl").write_text('{"y": 1, "s": "0.123"}\n{"y": 0}\n')
    for name in ("nothing.csv", "bytes.csv", "no header.csv", "not.parquet", "lines.jsonl"):
        result = run("private", tmp_path / name, *OPTIONS)
        assert (result.status, result.out) == (2, "")
        messages.add(result.err)
    assert len(messages) == 1
    message = messages.pop()
    assert "precall check FILE --label COLUMN --score COLUMN" in message
    assert not any(character.isdigit() for character in message)


def test_a_ledger_keeps_account_over_runs(run, tmp_path, csv_file):
    ledger = tmp_path / "ledger.json"
    options = ("private", csv_file, "--label", "y", "--score", "a", "--ledger", ledger)
    missing = run(*options, "--epsilon", "1")
    assert (missing.status, missing.out) == (2, "")
    assert "--budget" in missing.err
    assert not ledger.exists()
    first = run(*options, "--epsilon", "0.3", "--budget", "1", "--metric", "auroc", "--json").json()
    assert first["left_in_the_ledger"] == 0.7
    assert first["released"][0]["seeded"] is False
    second = run(*options, "--epsilon", "0.3", "--curve")
    assert "0.4 is left in the ledger." in second.out
    refused = run(*options, "--epsilon", "0.5")
    assert (refused.status, refused.out) == (2, "")
    assert "epsilon=0.4" in refused.err
    again = run(*options, "--epsilon", "0.1", "--budget", "5")
    assert "--budget" in again.err
    assert "--ledger" in run(*options[:-2], "--epsilon", "0.1", "--budget", "5").err


@pytest.mark.parametrize("epsilon", ["0.1", "0.30000000000000004", "0.7", "1e-17"])
def test_metrics_share_epsilon_without_exceeding_it(run, csv_file, epsilon):
    options = ("--label", "y", "--score", "a", "--metric", "auroc", "--metric", "average_precision")
    result = run("private", csv_file, *options, "--epsilon", epsilon, "--json")
    assert result.status == 0, result.err
    shares = [Fraction(repr(value["epsilon"])) for value in result.json()["released"]]
    assert 0 <= Fraction(epsilon) - sum(shares) <= Fraction(epsilon) / 2**50


def test_a_private_file_can_be_said_how_to_read(run, tmp_path):
    rows = table()
    text = "\n".join(["y;s", *(f"{y};{s.replace('.', ',')}" for y, s in rows)]) + "\n"
    (tmp_path / "a.dat").write_text(text)
    options = (*OPTIONS, "--format", "csv", "--decimal", ",")
    result = run("private", tmp_path / "a.dat", *options)
    assert result.status == 0, result.err
    assert result.err == ""
    refused = run("private", tmp_path / "a.dat", *options, "--missing", "drop")
    assert refused.status == 2
    assert "--missing" in refused.err


def test_no_row_decides_how_the_others_are_decoded(tmp_path):
    """A byte that is not UTF-8 in one row leaves the labels of all others as they are."""
    lines = ["y,s", *(f"{'é' if i % 2 else 'e'},{i}" for i in range(60))]
    data = "\n".join([*lines, ""]).encode()
    (tmp_path / "a.csv").write_bytes(data + b"e,60\n")
    (tmp_path / "b.csv").write_bytes(data + b"\xe9,60\n")
    roles = Roles(label="y", scores=("s",), pos_label="é")
    positive, _, _ = read_cells(tmp_path / "a.csv", roles)
    assert positive.tolist() == [i % 2 == 1 for i in range(60)] + [False]
    with pytest.raises(InputError):
        read_cells(tmp_path / "b.csv", roles)


def test_a_ledger_knows_its_rows(run, tmp_path, csv_file):
    ledger = tmp_path / "ledger.json"
    options = ("--epsilon", "1", "--ledger", ledger)
    run("private", csv_file, "--label", "y", "--score", "a", *options, "--budget", "9")
    other = write(tmp_path / "other.csv", table())
    refused = run("private", other, "--label", "y", "--score", "s", *options)
    assert (refused.status, refused.out) == (2, "")
    assert "not those that the ledger was kept for" in refused.err
    assert "--new-rows" in refused.err
    taken = run("private", other, "--label", "y", "--score", "s", *options, "--new-rows")
    assert "7 is left in the ledger" in taken.out
    ledger.rename(tmp_path / "moved.json")
    options = ("--epsilon", "1", "--ledger", tmp_path / "moved.json")
    refused = run("private", other, "--label", "y", "--score", "s", *options)
    assert refused.status == 2
    assert "--moved" in refused.err
    foreseen = run("private", other, *OPTIONS, *options[2:], "--moved", "--dry-run")
    assert "7 is left in the ledger" in " ".join(foreseen.out.split())
    moved = run("private", other, "--label", "y", "--score", "s", *options, "--moved")
    assert "6 is left in the ledger" in moved.out
    for flag in ("--moved", "--new-rows"):
        assert flag in run("private", other, *OPTIONS, flag).err
        new = ("--ledger", tmp_path / "new.json", "--budget", "1")
        assert flag in run("private", other, *OPTIONS, *new, flag).err


def test_a_dry_run_spends_nothing_and_says_what_to_expect(run, tmp_path):
    path = write(tmp_path / "rows.csv", table(2000))
    ledger = tmp_path / "ledger.json"
    result = run("private", path, *OPTIONS, "--dry-run", "--ledger", ledger, "--budget", "3")
    assert result.status == 0, result.err
    assert "Nothing was released or spent." in result.out
    assert not ledger.exists()
    for guess in ("0.01", "0.1", "0.5"):
        assert guess in result.out
    run("private", path, *OPTIONS, "--ledger", ledger, "--budget", "1.5")
    before = ledger.read_bytes()
    for kind in ((), ("--curve",), ("--metric", "auroc", "--metric", "average_precision")):
        again = run("private", path, *OPTIONS, *kind, "--dry-run", "--ledger", ledger)
        assert "The ledger would refuse: 0.5 is left in it." in " ".join(again.out.split())
    assert ledger.read_bytes() == before
    plain = run("private", path, *OPTIONS, "--dry-run", "--prevalence", "0.1", "--json").json()
    assert plain["spent"] == 0.0
    assert [line["prevalence"] for line in plain["expected"]] == [0.1]
    assert 0.02 < plain["expected"][0]["error"] < 0.07
    assert "--dry-run" in run("private", path, *OPTIONS, "--prevalence", "0.1").err
    curve = ("--curve", "--range", "0", "10", "--dry-run")
    assert "--range" in run("private", path, *OPTIONS, *curve).err


def test_a_mechanism_is_chosen_from_public_facts(run, tmp_path):
    path = write(tmp_path / "rows.csv", table(2000))
    columns = ("private", path, "--label", "y", "--score", "s", "--json")

    def mechanism(*options):
        return run(*columns, *options).json()["released"][0]["mechanism"]

    assert mechanism("--epsilon", "0.2", "--mechanism", "auto") == "curve"
    assert mechanism("--epsilon", "2", "--mechanism", "auto") == "rescaled"
    guess = ("--epsilon", "2", "--mechanism", "auto", "--prevalence", "0.01")
    assert mechanism(*guess) == "curve"
    assert mechanism(*guess, "--range", "0", "1") == "curve"
    assert mechanism("--epsilon", "2") == "rescaled"
    foreseen = run(*columns, *guess, "--dry-run").json()
    assert foreseen["expected"][0]["mechanism"] == "curve"
    shown = run(*columns[:-1], "--epsilon", "0.2", "--mechanism", "curve")
    assert "noise and binning" in " ".join(shown.out.split())
    assert "--range" in run(*columns, "--epsilon", "1", "--range", "0", "1").err
    moved = run(*columns, "--epsilon", "1", "--mechanism", "smooth_laplace")
    assert moved.status == 2
    assert "rescaled" in moved.err


def test_a_dry_run_says_the_same_of_all_files_of_one_size(run, tmp_path):
    outcomes = set()
    for name, rows in (("a", table()), ("b", [["0", "0.5"]] * 60)):
        result = run("private", write(tmp_path / f"{name}.csv", rows), *OPTIONS, "--dry-run")
        outcomes.add((result.status, result.out, result.err))
    assert len(outcomes) == 1
    broken = run("private", write(tmp_path / "c.csv", [["2", "x"]] * 60), *OPTIONS, "--dry-run")
    assert (broken.status, broken.out) == (2, "")


def test_persons_are_protected_and_not_rows(run, tmp_path):
    rows = table(600)
    path = write_csv(
        tmp_path / "persons.csv",
        {
            "y": [y for y, _ in rows],
            "s": [s for _, s in rows],
            "who": [f"p{min(i // 2, 199)}" for i in range(600)],
        },
    )
    persons = ("--person", "who")
    for kind in ((), ("--curve",)):
        plain = run("private", path, *OPTIONS, *persons, *kind, "--json").json()
        assert (plain["rows"], plain["persons"], plain["rows_per_person"]) == (200, 200, 1)
        several = (*persons, "--rows-per-person", "3")
        plain = run("private", path, *OPTIONS, *several, *kind, "--json").json()
        assert (plain["rows"], plain["persons"], plain["rows_per_person"]) == (600, 200, 3)
        vouched = run("private", path, *OPTIONS, "--rows-per-person", "3", *kind, "--json").json()
        assert (vouched["rows"], vouched["persons"]) == (600, None)
    result = run("private", path, *OPTIONS, *persons)
    assert "200 rows drawn from 200 persons" in " ".join(result.out.split())
    assert "600" not in result.out  # the number of rows is private then
    foreseen = run("private", path, *OPTIONS, *persons, "--dry-run", "--prevalence", "0.5")
    assert "on 200 rows" in " ".join(foreseen.out.split())
    missing = write_csv(
        tmp_path / "missing.csv", {"y": ["1", "0"], "s": ["1", "2"], "who": ["a", ""]}
    )
    refused = run("private", missing, *OPTIONS, *persons)
    assert refused.status == 2
    assert refused.err == run("private", path, *OPTIONS, "--person", "nobody").err


def test_two_models_are_compared_in_one_release(run, tmp_path, csv_file):
    options = ("private", csv_file, "--label", "y", "--score", "a", "--baseline", "b")
    for metric in ("average_precision", "auroc"):
        plain = run(*options, "--epsilon", "5", "--metric", metric, "--json").json()
        names = [value["metric"] for value in plain["released"]]
        assert names == [f"{metric} ({part})" for part in ("difference", "candidate", "baseline")]
        difference, candidate, baseline = (value["value"] for value in plain["released"])
        assert difference == pytest.approx(candidate - baseline, abs=1e-9)
    ledger = ("--ledger", tmp_path / "ledger.json", "--budget", "5")
    result = run(*options, "--epsilon", "2", *ledger, "--population")
    assert "3 is left in the ledger" in " ".join(result.out.split())
    assert "noise and sampling" in result.out
    for wrong in (
        ("--curve",),
        ("--dry-run",),
        ("--mechanism", "curve"),
        ("--metric", "auroc", "--metric", "average_precision"),
    ):
        refused = run(*options, "--epsilon", "1", *wrong)
        assert refused.status == 2
        assert "--baseline" in refused.err


def test_a_ledger_can_count_many_releases_by_zcdp(run, csv_file, tmp_path):
    options = ("private", csv_file, "--label", "y", "--score", "a", "--epsilon", "0.02")
    new = ("--ledger", tmp_path / "ledger.json", "--budget", "1", "--budget-delta", "1e-6")
    ahead = run(*options, *new, "--dry-run", "--prevalence", "0.2", "--json").json()
    assert ahead["left_in_the_ledger"] == 1.0
    first = run(*options, *new, "--json").json()
    assert 0.97 < first["left_in_the_ledger"] < 0.99
    kept = json.loads((tmp_path / "ledger.json").read_text())
    assert (kept["accounting"], kept["delta"]) == ("zcdp", 1e-6)
    again = run(*options, *new[:2])
    assert again.status == 0, again.err
    for wrong in (new[-2:], (*new[:2], *new[-2:])):
        refused = run(*options, *wrong)
        assert refused.status == 2
        assert "--budget-delta is for a new --ledger" in refused.err


HIDDEN = ("--curve", "--neighbours", "add-remove", "--bins", "8")


def test_a_private_number_of_rows_shows_nowhere(run, tmp_path):
    """Files with a row more, few rows and none give outputs of the same shape."""
    shapes = set()
    for name, rows in {"a": table(60), "b": table(61), "c": table(1), "d": []}.items():
        columns = {"y": [y for y, _ in rows], "s": [s for _, s in rows]}
        path = write_csv(tmp_path / f"{name}.csv", columns)
        result = run("private", path, *OPTIONS, *HIDDEN, "--json")
        assert result.status == 0, result.err
        plain = result.json()
        shapes.add(
            (
                tuple(plain),
                tuple(plain["curve"]),
                len(plain["curve"]["edges"]),
                len(plain["curve"]["recall"]),
                plain["persons"],
                plain["curve"]["neighbours"],
            )
        )
        shown = run("private", path, *OPTIONS, *HIDDEN)
        assert "as far as the noisy counts show" in " ".join(shown.out.split())
    assert len(shapes) == 1
    persons = write_csv(
        tmp_path / "p.csv", {"y": [1, 0, 1], "s": [0.5, 0.2, 0.9], "who": [1, 1, 2]}
    )
    plain = run("private", persons, *OPTIONS, *HIDDEN, "--person", "who", "--json").json()
    assert plain["persons"] is None
    nobody = write_csv(tmp_path / "n.csv", {"y": [], "s": [], "who": []})
    assert run("private", nobody, *OPTIONS, *HIDDEN, "--person", "who").status == 0


def test_what_a_private_number_of_rows_would_show_in_is_refused(run, tmp_path):
    path = write(tmp_path / "a.csv", table())
    refused = {
        "is for --curve": HIDDEN[1:3],
        "needs --bins": HIDDEN[:3],
        "counts the rows": (*HIDDEN, "--dry-run"),
        "--bins is for": ("--curve", "--bins", "8"),
    }
    for words, options in refused.items():
        result = run("private", path, *OPTIONS, *options)
        assert result.status == 2
        assert words in result.err
        assert result.out == ""


def test_a_ledger_knows_whether_the_number_of_rows_is_private(run, tmp_path):
    path, ledger = write(tmp_path / "a.csv", table()), tmp_path / "ledger.json"
    first = run("private", path, *OPTIONS, *HIDDEN, "--ledger", ledger, "--budget", "3", "--json")
    assert first.json()["left_in_the_ledger"] == 2.0
    refused = run("private", path, *OPTIONS, "--ledger", ledger)
    assert refused.status == 2
    assert "takes it as public" in refused.err
    usual = tmp_path / "usual.json"
    run("private", path, *OPTIONS, "--ledger", usual, "--budget", "4")
    twice = run("private", path, *OPTIONS, *HIDDEN, "--ledger", usual, "--json")
    assert twice.json()["left_in_the_ledger"] == 1.0


def test_a_threshold_is_released_for_a_promised_precision(run, tmp_path):
    generator = np.random.default_rng(3)
    y = np.arange(4000) % 2
    score = np.where(y, generator.beta(6, 2, 4000), generator.beta(2, 6, 4000))
    path = write(tmp_path / "rows.csv", [[a, b] for a, b in zip(y, score, strict=True)])
    asked = ("private", path, "--label", "y", "--score", "s", "--epsilon", "2")
    promise = ("--min-precision", "0.8")
    ledger = ("--ledger", tmp_path / "ledger.json")
    plain = run(*asked, *promise, *ledger, "--budget", "5", "--json").json()
    point = plain["operating_point"]
    assert point["certified"]
    assert 0.2 < point["threshold"] < 0.7
    assert plain["left_in_the_ledger"] == 3.0
    text = " ".join(run(*asked, *promise, *ledger, "--range", "0", "1").out.split())
    assert "have a precision of at least 0.8." in text
    assert "1 is left in the ledger" in text
    refused = run(*asked, *promise, *ledger)
    assert refused.status != 0
    nothing = run(*asked, "--min-precision", "0.99999", "--level", "0.999999")
    assert "No threshold was found" in " ".join(nothing.out.split())
    for wrong in (
        ("--curve",),
        ("--baseline", "s"),
        ("--population",),
        ("--rows-per-person", "2"),
        ("--metric", "auroc"),
        ("--mechanism", "auto"),
    ):
        refused = run(*asked, *promise, *wrong)
        assert refused.status == 2
        assert wrong[0] in refused.err
    assert "--min-precision" in run(*asked, "--level", "0.9").err


def test_a_dry_run_of_a_threshold_says_what_to_expect(run, tmp_path):
    path = write(tmp_path / "rows.csv", table(2000))
    asked = ("private", path, *OPTIONS, "--min-precision", "0.7", "--dry-run")
    ledger = tmp_path / "ledger.json"
    text = " ".join(run(*asked, "--ledger", ledger, "--budget", "3").out.split())
    assert "Nothing was released or spent." in text
    assert "3 is left in the ledger" in text
    assert not ledger.exists()
    few = run(*asked, "--ledger", ledger, "--budget", "0.5")
    assert "The ledger would refuse: 0.5 is left in it." in " ".join(few.out.split())
    plain = run(*asked, "--prevalence", "0.4", "--json").json()
    assert [line["prevalence"] for line in plain["expected"]] == [0.4]
    assert plain["expected"][0]["found"] > 0.5
