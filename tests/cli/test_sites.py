"""Three commands: a plan for all, a release of each site, and the sum."""

import json
import math

import numpy as np
import pytest

import precall as pr

from .conftest import write_csv

COLUMNS = ("--label", "y", "--score", "s")


@pytest.fixture
def sites(tmp_path, run):
    """A plan, and the rows of three sites."""
    result = run(
        *("sites", "plan", "--epsilon", "2", "--rows", "6000", "--sites", "3"),
        *("-o", tmp_path / "plan.json"),
    )
    assert result.status == 0
    rng = np.random.default_rng(0)
    rows = {}
    for site, size in {"north": 3000, "south": 2000, "east": 1000}.items():
        y = (rng.random(size) < 0.2).astype(int)
        s = np.where(y, rng.beta(5, 2, size), rng.beta(2, 5, size))
        rows[site] = y, s
        columns = {"y": y, "s": s, "who": np.arange(size) // 2}
        write_csv(tmp_path / f"{site}.csv", columns)
    return rows


def release(run, folder, site, *options, epsilon="2"):
    return run(
        *("sites", "release", folder / f"{site}.csv", "--plan", folder / "plan.json"),
        *("--site", site, *COLUMNS, "--epsilon", epsilon, "-o", folder / f"{site}.json", *options),
    )


def test_three_commands_from_the_rows_of_sites_to_one_curve(run, tmp_path, sites):
    for site, (y, _) in sites.items():
        result = release(run, tmp_path, site)
        assert result.status == 0, result.err
        assert f"{y.size:,} rows of {site}" in result.out
    files = [tmp_path / f"{site}.json" for site in sites]
    result = run("sites", "combine", *files)
    assert result.status == 0, result.err
    assert "6,000 rows of 3 sites: north (3,000), south (2,000), east (1,000)." in result.out
    for words in ("noise and binning", "k\ntimes", "at which site", "count twice"):
        assert words in result.out or words.replace("\n", " ") in result.out
    plain = run("sites", "combine", *files, "--population", "--json").json()
    y, s = (np.concatenate(parts) for parts in zip(*sites.values(), strict=True))
    ranking = pr.rank(y, s)
    for area, exact in zip(plain["released"], (pr.aucpr(ranking), pr.auroc(ranking)), strict=True):
        assert area["low"] < exact < area["high"]
        assert area["value"] == pytest.approx(exact, abs=0.1)
        assert area["covers"] == "noise, binning and sampling"
    assert plain["curve"]["noises"] == 3
    assert [site["site"] for site in plain["curve"]["sites"]] == list(sites)


def test_a_plan_says_what_to_expect(run, tmp_path):
    options = ("sites", "plan", "--epsilon", "1", "--rows", "20000", "--sites", "4")
    path = tmp_path / "plan.json"
    plain = run(*options, "-o", path, "--json").json()
    assert plain["noise_of_a_count"] == pytest.approx(2 * math.sqrt(8))
    assert [line["prevalence"] for line in plain["expected"]] == [0.01, 0.1, 0.5]
    assert plain["plan"] == json.loads(path.read_text())
    ranged = run(*options, "-o", path, "--range", "-5", "5", "--rows-per-person", "2", "--json")
    plain = ranged.json()
    assert plain["expected"] == []  # nothing is known of such scores
    assert (plain["plan"]["edges"][0], plain["plan"]["edges"][-1]) == (-5, 5)
    assert plain["noise_of_a_count"] == pytest.approx(4 * math.sqrt(8))
    # Where a line ends depends on the path.
    told = " ".join(run(*options, "-o", path, "--range", "-5", "5").out.split())
    assert "from -5 to 5" in told
    assert "standard deviation of 5.66" in told
    assert run(*options, "-o", path, "--range", "5", "-5").status == 2
    assert run(*options, "-o", tmp_path / "plan.txt").status == 2


def test_a_site_keeps_its_own_ledger_and_can_look_ahead(run, tmp_path, sites):
    ledger = ("--ledger", tmp_path / "ledger.json")
    ahead = release(run, tmp_path, "north", *ledger, "--budget", "3", "--dry-run")
    assert ahead.status == 0
    assert "Nothing was released or spent. 3 is left" in ahead.out
    assert not (tmp_path / "ledger.json").exists()
    assert not (tmp_path / "north.json").exists()
    first = release(run, tmp_path, "north", *ledger, "--budget", "3")
    assert "1 is left in the ledger" in first.out
    for kind in ((), ("--json",)):
        again = release(run, tmp_path, "north", *ledger, "--dry-run", *kind)
        assert "would refuse: 1" in again.out or again.json()["left_in_the_ledger"] == 1.0
    before = (tmp_path / "north.json").read_bytes()
    refused = release(run, tmp_path, "north", *ledger)
    assert refused.status == 2
    assert "costs epsilon=2" in refused.err
    assert (tmp_path / "north.json").read_bytes() == before
    guess = release(run, tmp_path, "south", "--dry-run", "--prevalence", "0.2", "--json").json()
    assert [line["prevalence"] for line in guess["expected"]] == [0.2]
    assert guess["spent"] == 0.0
    assert "--dry-run" in release(run, tmp_path, "south", "--prevalence", "0.2").err


def test_persons_of_a_site(run, tmp_path, sites):
    result = release(run, tmp_path, "north", "--person", "who")
    assert "1,500 rows of north, drawn from 1,500 persons" in " ".join(result.out.split())
    plain = release(run, tmp_path, "south", "--person", "who", "--json").json()
    assert (plain["n_persons"], plain["n_rows"]) == (1000, 1000)


def test_a_site_spends_what_it_agreed_to(run, tmp_path, sites):
    refused = release(run, tmp_path, "north", epsilon="1")
    assert refused.status == 2
    assert "--epsilon is 1 and the plan asks for 2" in refused.err
    missing = run(
        *("sites", "release", tmp_path / "north.csv", "--plan", tmp_path / "plan.json"),
        *("--site", "north", *COLUMNS, "-o", tmp_path / "north.json"),
    )
    assert missing.status == 2
    assert "--epsilon" in missing.err


def test_what_is_wrong_with_the_rows_is_not_said(run, tmp_path, sites):
    said = set()
    for rows in ([["1", "x"]], [["1", ""]], [["2", "0.5"]], []):
        write = {"y": [y for y, _ in rows], "s": [s for _, s in rows]}
        write_csv(tmp_path / "broken.csv", write)
        result = release(run, tmp_path, "broken")
        assert result.status == 2
        said.add(result.err)
    assert len(said) == 1


def test_files_that_do_not_go_together_are_named(run, tmp_path, sites):
    for site in sites:
        release(run, tmp_path, site)
    north = tmp_path / "north.json"
    twice = run("sites", "combine", north, north)
    assert twice.status == 2
    assert "count twice" in twice.err
    plain = json.loads(north.read_text()) | {"format": "precall site release 7"}
    (tmp_path / "newer.json").write_text(json.dumps(plain))
    newer = run("sites", "combine", tmp_path / "south.json", tmp_path / "newer.json")
    assert newer.status == 2
    assert "newer.json" in newer.err
    assert "another version" in newer.err
    for wrong in (tmp_path / "north.csv", tmp_path / "plan.json", "-", tmp_path / "nowhere.json"):
        result = run("sites", "combine", wrong, north)
        assert result.status == 2, wrong
        assert result.out == ""
    assert run("sites", "combine").status == 2


def test_sizes_of_sites_can_be_private(run, tmp_path, sites):
    plan = ("sites", "plan", "--epsilon", "2", "--rows", "6000", "--sites", "3")
    assert run(*plan, "-o", tmp_path / "plan.json", "--neighbours", "add-remove").status == 0
    write_csv(tmp_path / "empty.csv", {"y": [], "s": []})
    for site in (*sites, "empty"):
        result = release(run, tmp_path, site)
        assert result.status == 0, result.err
        assert f"was spent on rows of {site}." in result.out
        assert json.loads((tmp_path / f"{site}.json").read_text())["n_rows"] is None
    files = [tmp_path / f"{site}.json" for site in (*sites, "empty")]
    result = run("sites", "combine", *files)
    assert result.status == 0, result.err
    assert "About " in result.out
    assert "is protected with twice this epsilon" in " ".join(result.out.split())
