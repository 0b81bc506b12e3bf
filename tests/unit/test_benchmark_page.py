"""The page of the benchmarks, from made-up outcomes: a lost race is on it, and the numbers are."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import figures, page, peers
from benchmarks.harness import Budget, Outcome, Race

ROWS = (10**3, 10**4, 10**5, 10**6, 10**7)


def outcome(title, seconds, *, remark=None, **options):
    race = Race(title=title, jobs=dict.fromkeys(seconds, list), repeats=1, **options)
    return Outcome(race=race, seconds=seconds, remark=remark)


def made_up(outcomes, **options):
    said = {
        "machine": {"processor": "abacus", "load before the run": "0.1"},
        "versions": {"numpy": "2.0"},
        "peers": (),
        "not_run": {},
        "quick": False,
        "minutes": 3.0,
    }
    return page.Results(outcomes=outcomes, **(said | options))


def section(text, heading):
    _, _, rest = text.partition(f"## {heading}\n")
    assert rest, heading
    return rest.partition("\n## ")[0]


def table(text):
    """The cells of every table row of a piece of the page."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_a_lost_race_is_listed_with_its_ratio_and_a_won_one_is_not():
    won = outcome("won here", {"own": 0.001, "rival": 0.004})
    lost = outcome("lost here", {"own": 0.006, "rival": 0.002})
    worse = outcome("lost more", {"own": 0.05, "rival": 0.01})
    text = page.render(made_up({"auroc": [won, lost], "curves": [worse]}))
    rows = table(section(text, "What this library loses at"))[2:]
    assert rows == [
        ["The precision-recall curve", "lost more", "`own` 50 ms", "rival", "10 ms", "5.00×"],
        ["AUROC", "lost here", "`own` 6 ms", "rival", "2 ms", "3.00×"],
    ]
    assert "3 comparisons" in text
    assert "faster in 1, slower in 2" in text


def test_a_part_of_the_work_is_no_rival_but_is_listed_apart():
    race = outcome("10 rows", {"own": 0.004, "sort": 0.001, "rival": 0.008}, bounds=("sort",))
    results = made_up({"auroc": [race]})
    text = page.render(results)
    assert "1 comparisons" in text
    assert "No peer was faster in this run." in section(text, "What this library loses at")
    assert [pair.peer for pair in page.losses(results, to_bounds=True)] == ["sort"]
    assert page.losses(results, to_bounds=False) == []
    [_, _, row] = table(section(text, "Every comparison"))
    assert row == ["10 rows", "**4 ms**", "1 ms, 0.25×", "8 ms, 2.00×", "own"]


def test_work_done_in_part_is_scaled_up_and_says_so():
    race = outcome(
        "10 rows",
        {"own": 0.010, "rival": 0.002},
        part={"rival": 5 / 1000},
        budgets=(Budget(peer="rival", at_most=1 / 30), Budget(peer="rival", at_most=1 / 50)),
    )
    text = page.render(made_up({"intervals": [race]}))
    [_, _, row] = table(section(text, "Every comparison"))
    assert row == ["10 rows", "**10 ms**", "400 ms†, 40×", "own"]
    assert "† rival: 0.50 % of the work was timed, and multiplied by 200." in text
    verdicts = [row[-2:] for row in table(section(text, "Budgets"))[2:]]
    assert verdicts == [
        ["at least 30x faster than rival", "holds"],
        ["at least 50x faster than rival", "**MISSED**"],
    ]
    assert "1 of 2 budgets hold" in text


def test_what_is_missing_is_named():
    [polars] = [peer for peer in peers.PEERS if peer.name == peers.POLARS]
    results = made_up(
        {"growth_rows": [outcome("10 rows", {"own": 1.0}, skipped={"slow": "too slow"}, at=10)]},
        peers=(peers.Found(peer=polars, version=None, problem="not installed"),),
        not_run={"engine_dask": "Dask: not installed"},
    )
    text = page.render(results)
    assert "Peers that could not be asked: polars (not installed)." in text
    assert "Not run: `engine_dask` (Dask: not installed)." in text
    assert "- slow is left out at 10 rows: too slow." in text
    assert table(section(text, "Peers"))[2][:3] == ["polars", "–", "not installed"]


def test_a_remark_and_a_busy_machine_are_on_the_page():
    race = outcome("10 rows", {"own": 1.0, "rival": 2.0}, remark="0.1 where 0.2 is exact")
    calm = page.render(made_up({"auroc": [race]}))
    assert "- 10 rows: 0.1 where 0.2 is exact." in calm
    assert "busy" not in calm
    assert "quick run" not in calm
    busy = page.render(
        made_up({"auroc": [race]}, quick=True, machine={"load before the run": "2.4"})
    )
    assert "The machine was busy" in busy
    assert "slowly" not in busy
    assert "quick run" in busy
    slow = page.render(made_up({"auroc": [race]}, machine={"numpy.sort": "slow"}))
    assert "NumPy sorts slowly on this processor" in slow


def test_a_benchmark_without_a_heading_is_on_the_page_too():
    text = page.render(made_up({"brand_new": [outcome("10 rows", {"own": 1.0, "rival": 2.0})]}))
    assert "### brand_new" in text


def growing():
    """Fixed cost and quadratic growth for one; proportional, and too slow at the end, for two."""
    for rows in ROWS:
        seconds = {
            peers.SUBJECT: 1e-8 * rows,
            peers.SORT: 1e-4 if rows < 10**5 else 1e-14 * rows**2,
        }
        if rows <= 10**5:
            seconds[peers.BINNED] = 1e-5 * rows
        yield outcome(f"{rows:,} rows", seconds, at=rows, bounds=(peers.SORT,))


def test_exponents_are_those_of_the_larger_sizes():
    text = page.render(made_up({"growth_rows": list(growing())}))
    rows = {row[0]: row[1:] for row in table(section(text, "How cost grows"))[2:]}
    assert rows[peers.SUBJECT] == ["1.00", "3", "10 µs", "100 ms", "10,000,000"]
    assert rows[peers.SORT][:2] == ["2.00", "3"]
    assert rows[peers.BINNED] == ["–", "1", "10 ms", "1 s", "100,000"]


def test_a_series_has_gaps_where_a_tool_was_not_timed():
    lines = figures.series(list(growing()))
    assert lines[peers.BINNED][0] == [10**3, 10**4, 10**5]
    np.testing.assert_allclose(lines[peers.SUBJECT][1], 1e-8 * np.array(ROWS))
    with pytest.raises(ValueError, match=r"Race\.at"):
        figures.series([outcome("10 rows", {"own": 1.0})])


def test_page_and_figures_are_written_and_the_links_lead_to_them(tmp_path):
    shares = [
        outcome(f"{share:.0%}", {peers.SUBJECT: share, peers.SORT: 0.1}, at=share)
        for share in (0.01, 0.1, 0.5)
    ]
    results = made_up({"growth_rows": list(growing()), "growth_positives": shares})
    page.write(results, tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    for name in ("images/benchmark_rows.svg", "images/benchmark_positives.svg"):
        assert f"]({name})" in text
        first = (tmp_path / name).read_bytes()
        assert b"<svg" in first
    page.write(results, tmp_path / "benchmarks.md")
    assert (tmp_path / "images/benchmark_positives.svg").read_bytes() == first


def test_a_peer_that_fails_is_reported_and_not_timed(monkeypatch):
    def breaks():
        raise TypeError("no such argument\nand a long story")

    broken = peers.Peer(name="b", distribution="numpy", module="numpy", asked="", trial=breaks)
    absent = peers.Peer(name="a", distribution="no-such", module="no_such_module", asked="")
    works = peers.Peer(name="w", distribution="numpy", module="numpy", asked="", trial=list)
    monkeypatch.setattr(peers, "PEERS", (broken, absent, works))
    assert peers.problem.__wrapped__("b") == "does not work here: TypeError: no such argument"
    assert peers.problem.__wrapped__("a") == "not installed"
    assert peers.problem.__wrapped__("w") is None
    jobs, skipped = peers.available({"own": list, "a": list, "w": list})
    assert list(jobs) == ["own", "w"]
    assert skipped == {"a": "not installed"}


def test_tools_that_disagree_are_not_timed():
    exact = {peers.SUBJECT: 0.5, peers.SKLEARN: 0.5, peers.BINNED: 0.505}
    remark = peers.check_average_precision(exact)
    assert remark == "torchmetrics, 1,000 bins: 0.505000 where 0.500000 is exact (+1.00%)"
    with pytest.raises(AssertionError, match="scikit-learn"):
        peers.check_average_precision(exact | {peers.SKLEARN: 0.5001})


def test_the_committed_page_was_written_by_the_command():
    committed = Path(__file__).parents[2] / "docs" / "benchmarks.md"
    assert f"Written by `{page.COMMAND}" in committed.read_text(encoding="utf-8")
