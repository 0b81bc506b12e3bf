"""A table of a database on the command line: counted there, whatever its names hold."""

import csv
import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import precall as pr
from precall.cli import main

pytestmark = pytest.mark.xdist_group("postgresql")

TABLE, LABEL, SCORE, GROUP = 'te"st; DROP TABLE victim --', "the 'label'", "s%co?re", "g[r]oup"
COLUMNS = ["--label", LABEL, "--score", SCORE]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    labels = (rng.random(400) < 0.2).astype(int)
    scores = np.round(rng.normal(size=400) + labels, 2)
    groups = rng.choice(["1", "10", "9"], 400)
    return list(zip(labels.tolist(), scores.tolist(), groups.tolist(), strict=True))


def _created(execute, rows, place):
    def quoted(name):
        return '"' + name.replace('"', '""').replace("%", "%%" if place == "%s" else "%") + '"'

    columns = f"{quoted(LABEL)} INTEGER, {quoted(SCORE)} DOUBLE PRECISION, {quoted(GROUP)} TEXT"
    for name in ("victim", TABLE):  # other tests share the server
        execute(f"DROP TABLE IF EXISTS {quoted(name)}", ())
    execute("CREATE TABLE victim (x INTEGER)", ())
    execute(f"CREATE TABLE {quoted(TABLE)} ({columns})", ())
    values = ", ".join(f"({place}, {place}, {place})" for _ in rows)
    execute(f"INSERT INTO {quoted(TABLE)} VALUES {values}", [v for row in rows for v in row])


@pytest.fixture(scope="module", params=["duckdb", "postgresql", "sqlite"])
def address(request, rows, tmp_path_factory):
    file = tmp_path_factory.mktemp("databases") / "sco res.db"
    if request.param == "postgresql":
        psycopg = pytest.importorskip("psycopg")
        where = request.getfixturevalue("postgresql")
        host = where.partition("host=")[2].partition(" ")[0].replace("/", "%2F")
        with psycopg.connect(where) as connection:
            _created(connection.execute, rows, "%s")
        yield f"postgresql://tester:secret@{host}/postgres?application_name=x"
        return
    library = sqlite3 if request.param == "sqlite" else pytest.importorskip("duckdb")
    connection = library.connect(str(file))
    _created(connection.execute, rows, "?")
    connection.commit() if request.param == "sqlite" else None
    connection.close()
    yield f"{request.param}:///{str(file).replace(' ', '%20')}"


def evaluated(capsys, *arguments: str) -> dict:
    assert main(["evaluate", *arguments, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_a_table_is_evaluated_as_the_same_rows_in_a_file(address, rows, tmp_path, capsys):
    file = tmp_path / "scores.csv"
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([LABEL, SCORE, GROUP])
        writer.writerows(rows)
    options = [*COLUMNS, "--group", GROUP]
    found = evaluated(capsys, address, "--table", TABLE, *options)
    expected = evaluated(capsys, str(file), *options)
    for name, measure in expected["models"][0]["measures"].items():
        assert found["models"][0]["measures"][name]["estimate"] == measure["estimate"], name
    assert [group["name"] for group in found["groups"]] == ["1", "9", "10"]
    assert [g["n_pos"] for g in found["groups"]] == [g["n_pos"] for g in expected["groups"]]


def test_nothing_secret_is_printed(address, capsys):
    found = evaluated(capsys, address, "--table", TABLE, *COLUMNS)
    assert found["file"].startswith(address.partition("://")[0])
    assert "secret" not in json.dumps(found)
    assert main(["evaluate", address, "--table", TABLE, *COLUMNS]) == 0
    assert "secret" not in "".join(capsys.readouterr())


def test_other_commands_take_a_table_too(address, rows, tmp_path, capsys):
    stored = tmp_path / "ranking.json"
    here = [address, "--table", TABLE, *COLUMNS]
    assert main(["rank", *here, "--threshold", "0.5", "-o", str(stored)]) == 0
    labels, scores, _ = zip(*rows, strict=True)
    ranking = pr.Ranking.from_dict(json.loads(stored.read_text()))
    assert ranking == pr.rank(labels, scores, thresholds=[0.5])
    assert main(["operate", *here, "--min-recall", "0.5"]) == 0
    assert main(["plot", *here, "--no-band", "-o", str(tmp_path / "curve.svg")]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["duckdb:///{file}"], "which table of the database? Name it with --table"),
        (["{file}", "--table", "t"], "--table is for a database"),
        (["sqlite:///{file}", "{file}", "--table", "t"], "a database stands alone"),
        (["sqlite:///{file}", "--table", "t", "--missing", "drop"], "are for files"),
        (["sqlite:///{file}", "--table", "t", "--cluster", "c"], "--cluster needs all rows"),
        (["sqlite:///not-there.db", "--table", "t"], "does not exist"),
        (["sqlite://scores.db", "--table", "t"], "write three slashes"),
        (["duckdb:///{file}", "--table", "t"], "cannot be opened"),
        (["postgresql://u:secret@[x/d", "--table", "t"], "cannot be opened"),
        (["postgresql:///d?host=/not/there", "--table", "t"], "cannot be opened"),
        (["sqlite:///{db}", "--table", "u"], "SQLite refused the query (no such table: u)"),
        (["sqlite:///{db}", "--table", "t"], "no such column"),
        (["sqlite:///{db}", "--table", "words"], "say which one is positive"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, said, tmp_path, capsys, request):
    if any("duckdb:" in each for each in arguments):
        pytest.importorskip("duckdb")
    if any("postgresql:" in each for each in arguments):
        pytest.importorskip("psycopg")
    file, db = tmp_path / "scores.csv", tmp_path / "own.db"
    file.write_text("y,s\n1,0.5\n0,0.4\n")
    with sqlite3.connect(db) as connection:
        connection.execute("CREATE TABLE t (other INTEGER)")
        connection.execute("CREATE TABLE words (y TEXT, s REAL)")
        connection.execute("INSERT INTO words VALUES ('spam', 1.0), ('ham', 0.5)")
    connection.close()
    filled = [each.format(file=file, db=db) for each in arguments]
    assert main(["evaluate", *filled, "--label", "y", "--score", "s"]) == 2
    error = capsys.readouterr().err
    assert said in error or (said == "no such column" and "is not a column of the data" in error)
    assert error.count("\n") == 1
    assert "secret" not in error


def test_a_table_is_only_read(tmp_path, capsys):
    db = tmp_path / "own.db"
    with sqlite3.connect(db) as connection:
        connection.execute("CREATE TABLE t (y INTEGER, s REAL)")
        connection.execute("INSERT INTO t VALUES (1, 1.0), (0, 0.5)")
    connection.close()
    before = db.read_bytes()
    assert main(["rank", f"sqlite:///{db}", "--table", "t", "--label", "y", "--score", "s",
                 "-o", str(tmp_path / "r.json")]) == 0  # fmt: skip
    assert db.read_bytes() == before
    assert [path.name for path in Path(tmp_path).iterdir() if path.suffix == ".db"] == ["own.db"]
