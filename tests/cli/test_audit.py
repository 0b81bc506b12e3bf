"""precall audit: a plan that people fill in, and what its labels say."""

import csv

import numpy as np
import pytest

import precall as pr
from tests.cli.page import command_on

from .conftest import write_csv


@pytest.fixture
def population(tmp_path):
    rng = np.random.default_rng(4)
    y = (rng.random(3000) < 0.1).astype(int)
    scores = np.round(rng.normal(size=3000) + 2 * y, 4)
    path = write_csv(
        tmp_path / "all.csv",
        {"id": [f"a{i}" for i in range(3000)], "s": scores, "p": scores * 0 + 0.1},
    )
    return path, scores, y


def planned(run, population, tmp_path, *more):
    path, _, y = population
    output = tmp_path / "to_label.csv"
    result = run(
        "audit", "plan", path, "--score", "s", "--budget", 300, "--keep", "id", "-o", output, *more
    )
    with output.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    filled = {name: [line[name] for line in lines] for name in lines[0]}
    filled["label"] = [y[int(row)] for row in filled["row"]]
    return result, filled


def test_a_plan_says_how_its_rows_are_found_again(run, population, tmp_path):
    path, *_ = population
    plan = ("audit", "plan", path, "--score", "s", "--budget", 300, "-o", tmp_path / "plan.csv")
    counts = "Its column row counts the rows from 0; --keep COLUMN"
    for more in ((), ("--in-pieces",)):
        assert counts in " ".join(run(*plan, *more).out.split())
        assert counts not in " ".join(run(*plan, "--keep", "id", *more).out.split())


def test_plan_fill_in_estimate(run, population, tmp_path):
    path, scores, y = population
    result, filled = planned(run, population, tmp_path)
    assert result.status == 0
    assert "300 rows of 3,000 to label are in" in " ".join(result.out.split())
    assert list(filled) == ["row", "id", "s", "inclusion", "label"]
    assert filled["id"][5] == f"a{filled['row'][5]}"
    done = write_csv(tmp_path / "done.csv", filled)
    options = ("--score", "s", "--label", "label", "--inclusion", "inclusion", "--population", path)
    found = run("audit", "estimate", done, *options, "--json").json()
    plan = pr.audit.plan(scores, budget=300, rng=0)
    sample = pr.audit.Sample(scores, dict(zip(plan.rows, y[plan.rows], strict=True)), plan=plan)
    # Neighbouring strata of one probability come back as one; they are cut again.
    assert found["answers"][0]["estimate"] == pytest.approx(pr.interval(sample).estimate)
    assert (found["rows"], found["labels"]) == (3000, 300)
    shown = run("audit", "estimate", done, *options, "--metric", "precision_at_k(100)")
    assert shown.status == 0
    assert "precision@100" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_a_page_says_on_top_how_many_labels_it_stands_on(run, population, tmp_path):
    pytest.importorskip("jinja2")
    path, _, _ = population
    _, filled = planned(run, population, tmp_path)
    done = write_csv(tmp_path / "done.csv", filled)
    page = tmp_path / "page.html"
    options = ("--score", "s", "--label", "label", "--inclusion", "inclusion", "--population", path)
    result = run("audit", "estimate", done, *options, "-o", page, "--metric", "precision_at_k(100)")
    assert result.status == 0
    assert "The report is in" in result.out
    text = page.read_text(encoding="utf-8")
    first = text[text.index('id="answer"') :]
    assert "This page stands on 300 labels of 3,000 rows" in first[:200]
    assert "precision@100" in text
    assert command_on(text).startswith(f"precall audit estimate {done}")
    assert "<script" not in text
    refused = run("audit", "estimate", done, *options, "-o", page, "--json")
    assert (refused.status, refused.out) == (2, "")
    assert "give one of the two" in refused.err
    assert run("audit", "estimate", done, *options, "-o", tmp_path / "page.txt").status == 2


def test_a_file_of_the_whole_population(run, population, tmp_path):
    _, scores, y = population
    drawn = np.random.default_rng(1).random(3000) < 0.1
    labels = [
        "" if not chosen else "yes" if own else "no" for chosen, own in zip(drawn, y, strict=True)
    ]
    path = write_csv(tmp_path / "some.csv", {"s": scores, "y": labels, "p": [0.1] * 3000})
    options = ("--score", "s", "--label", "y", "--inclusion", "p", "--pos-label", "yes", "--json")
    found = run("audit", "estimate", path, *options).json()
    sample = pr.audit.Sample(scores, np.where(drawn, y, np.nan), inclusion=0.1)
    assert found["answers"][0]["low"] == pr.interval(sample).low


def test_a_guess_tells_what_to_expect(run, population, tmp_path):
    result, filled = planned(
        run, population, tmp_path, "--guess", "p", "--metric", "recall_at_k(100)"
    )
    assert "wide; rows drawn without a plan would need" in " ".join(result.out.split())
    assert len(filled["row"]) == 300


def test_files_that_do_not_fit(run, population, tmp_path):
    path, _, _ = population
    _, filled = planned(run, population, tmp_path)
    options = ("--score", "s", "--label", "label", "--inclusion", "inclusion")

    def refused(message, population=path, **changes):
        bad = write_csv(tmp_path / "bad.csv", filled | changes)
        more = ("--population", population) if population else ()
        result = run("audit", "estimate", bad, *options, *more)
        assert result.status == 2
        assert message in result.err

    refused("300 rows of 300 have no label yet", label=[""] * 300)
    twice = {name: [*values[:-1], values[0]] for name, values in filled.items()}
    twice["label"][-1] = 1 - twice["label"][0]
    refused("two labels that contradict each other, the second in data row 300", **twice)
    refused("is not that of row", s=["9.5"] * 300)
    refused("the population has 3,000 rows, counted from 0", row=["5000"] * 300)
    refused("stand for", inclusion=["0.5"] * 300)
    refused("inclusion stands for about", population=None)


def test_a_population_in_pieces(run, population, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    as_text, scores, y = population
    path = tmp_path / "all.parquet"
    names = [f"a{i}" for i in range(scores.size)]
    pq.write_table(pa.table({"s": scores, "id": names}), path, row_group_size=500)
    output = tmp_path / "to_label.csv"
    plan = ("audit", "plan", path, "--score", "s", "--budget", 300, "--keep", "id", "-o", output)
    run(*plan)
    in_memory = output.read_text(encoding="utf-8")
    for file in (path, as_text):
        result = run(*plan[:2], file, *plan[3:], "--in-pieces")
        assert "300 rows of 3,000 to label are in" in " ".join(result.out.split())
        assert output.read_text(encoding="utf-8") == in_memory
    with output.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == ["row", "id", "s", "inclusion", "label"]
    filled = {name: [line[name] for line in lines] for name in lines[0]}
    filled["label"] = [y[int(row)] for row in filled["row"]]
    done = write_csv(tmp_path / "done.csv", filled)
    estimate = ("audit", "estimate", done, "--score", "s", "--label", "label", "--inclusion")
    whole = (*estimate, "inclusion", "--population", path, "--metric", "precision_at_k(100)")
    ours, theirs = (run(*whole, "--json", *more).json() for more in ((), ("--in-pieces",)))
    for one, other in zip(ours["answers"], theirs["answers"], strict=True):
        for name in ("estimate", "low", "high"):
            assert one[name] == pytest.approx(other[name], rel=1e-9)
    assert ours["rows"] == theirs["rows"] == 3000
    assert "leave --guess out" in run(*plan, "--in-pieces", "--guess", "s").err
    assert "score column 'z' is not a column" in run(*plan[:4], "z", *plan[5:], "--in-pieces").err
    assert "text such as 'a0', not numbers" in run(*plan[:4], "id", *plan[5:], "--in-pieces").err
    assert "--keep 'z' is not a column" in run(*plan, "--keep", "z", "--in-pieces").err
    assert "give one" in run(*estimate, "inclusion", "--in-pieces").err
