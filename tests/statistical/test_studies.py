"""The committed tables of the studies are what the studies give.

A thin slice of each is run again with another seed and compared within Monte Carlo error. Every
test has its own probability of failing on right code, `ERROR_RATE`, split over its comparisons.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from studies import (
    attack,
    audit,
    band_theory,
    bands,
    bias,
    defaults,
    downsampling,
    drug_discovery,
    folds,
    gate,
    intervals,
    missed,
    monitoring,
    neighbours,
    planning,
    privacy,
    private_choice,
    private_threshold,
    promises,
    region,
    sites,
    slices,
)
from studies._band_rows import slope
from studies._defaults_page import significantly_low
from studies._results import read_rows

TABLES = Path(__file__).parents[2] / "docs" / "studies"
ERROR_RATE = 1e-3
SEED = 987_654


def table(name):
    rows = read_rows(TABLES / f"{name}.csv")
    assert rows, f"docs/studies/{name}.csv is missing or empty"
    return rows


def the_row(rows, /, **key):
    found = [row for row in rows if all(row[name] == value for name, value in key.items())]
    assert len(found) == 1
    return found[0]


def assert_close(pairs):
    """Each of (value, standard error) pairs, two by two, differs by chance only: z tests."""
    limit = stats.norm.isf(ERROR_RATE / len(pairs) / 2)
    for (new, new_error), (old, old_error) in pairs:
        assert abs(new - old) <= limit * np.hypot(new_error, old_error)


def assert_predicted(new, committed):
    """One more value comes from where the committed ones do: a t interval for the next one."""
    committed = np.asarray(committed)
    count = len(committed)
    limit = stats.t.isf(ERROR_RATE / new.size / 2, count - 1)
    error = committed.std(axis=0, ddof=1) * np.sqrt(1 + 1 / count)
    assert (np.abs(new - committed.mean(axis=0)) <= limit * error).all()


def test_bias():
    committed, pairs = table("bias"), []
    for model, size, prevalence in (("binormal", 100, 0.1), ("offset_uniform", 1000, 0.02)):
        for row in bias.simulate_case(model, size, prevalence, 400, [SEED, size], workers=1):
            key = {name: row[name] for name in ("model", "rows", "prevalence", "estimator")}
            old = the_row(committed, **key)
            pairs.append([(r["bias_ratio"], r["standard_error"]) for r in (row, old)])
    assert len(pairs) == 20
    assert_close(pairs)


def test_region():
    committed = table("region")
    rows = [row for prevalence in region.PREVALENCES for row in region.rows_of(prevalence)]
    assert len(committed) == len(rows)
    for row, old in zip(rows, committed, strict=True):
        assert old == pytest.approx(row, rel=1e-5)  # six digits are kept


def test_downsampling():
    """One more data set; the areas of the committed ones are near enough to normal for a t."""
    committed = table("downsampling")
    ratios = (1, 24)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(downsampling, "RATIOS", ratios)
        rows = downsampling.one_trial(SEED)
    names = [name for name in rows[0] if name.endswith(("aucpr", "aucnpr"))]
    assert len(names) == 4
    trials = sorted({row["seed"] for row in committed})

    def areas(rows, seed):
        return [the_row(rows, seed=seed, ratio=r)[name] for r in ratios for name in names]

    assert_predicted(np.array(areas(rows, SEED)), [areas(committed, trial) for trial in trials])


def test_drug_discovery():
    """One more split of the same collection, without the support vectors, which take longest."""
    committed = table("drug_discovery")
    names = [name for name in drug_discovery.SCORERS if name != "SVM"]
    with pytest.MonkeyPatch.context() as patch:
        scorers = {name: drug_discovery.SCORERS[name] for name in names}
        patch.setattr(drug_discovery, "SCORERS", scorers)
        rows = drug_discovery.one_split(20040826, SEED, *drug_discovery.COLLECTION)
    key = {"quantity": "average_precision"}

    def values(rows, trial):
        return [the_row(rows, scorer=name, trial=trial, **key)["estimate"] for name in names]

    trials = sorted({row["trial"] for row in committed})
    assert_predicted(np.array(values(rows, SEED)), [values(committed, trial) for trial in trials])


def test_attack():
    committed, pairs = table("attack"), []
    for design, size in (("tossed", 50), ("halves", 100)):
        rows = attack.simulate_case(design, size, attack.SCENARIO, 100, [SEED, size])
        for row in rows:
            key = {name: row[name] for name in ("design", "rows", "release", "value")}
            old = the_row(committed, **key)
            pairs.append([(r["success"], r["standard_error"]) for r in (row, old)])
    assert_close(pairs)


def test_the_attack_on_a_private_release_gains_no_more_than_epsilon_allows():
    """Where the class was tossed no adversary is right more often than exp(e) / (1 + exp(e))."""
    rows = [
        row for row in table("attack") if row["design"] == "tossed" and row["release"] != "digits"
    ]
    assert len(rows) == len(attack.SIZES) * len(attack.EPSILONS) * len(attack.RELEASES)
    limit = stats.norm.isf(ERROR_RATE / len(rows))
    for row in rows:
        bound = 1 / (1 + np.exp(-row["value"]))
        assert row["success"] <= bound + limit * row["standard_error"]


def test_privacy():
    """Mechanisms whose squared error has light tails; that of Cauchy noise is all outliers."""
    committed, pairs = table("privacy"), []
    shown = ("printed_laplace", "rescaled", "curve")
    with pytest.MonkeyPatch.context() as patch, privacy.quietly():
        patch.setattr(privacy, "MECHANISMS", [m for m in privacy.MECHANISMS if m.name in shown])
        for size, prevalence in ((500, 0.5), (2000, 0.1)):
            rows = privacy.error_rows(
                privacy.Bibeta(), size, prevalence, 1.0, data_sets=15, releases=10, seed=SEED
            )
            for row in rows:
                key = ("figure", "metric", "mechanism", "delta", "rows", "prevalence", "at")
                old = the_row(committed, **{name: row[name] for name in key})
                pairs.append([(r["value"], r["standard_error"]) for r in (row, old)])
    assert len(pairs) == 16
    assert_close(pairs)


def test_private_choice():
    committed, pairs = table("private_choice"), []
    for case in (
        private_choice.Case("bibeta", 500, 0.5, 1.0),
        private_choice.Case("ten levels", 2000, 0.1, 0.5),
    ):
        for row in private_choice.simulate(case, 15, [SEED]):
            if row["mechanism"] in ("rescaled", "curve"):
                key = {name: row[name] for name in (*case._fields, "metric", "mechanism")}
                old = the_row(committed, **key)
                pairs.append([(r["error"], r["standard_error"]) for r in (row, old)])
    assert len(pairs) == 8
    assert_close(pairs)


def test_private_threshold():
    committed, pairs = table("private_threshold"), []
    for model, epsilon in (("calibrated", 4.0), ("steep", 1.0)):
        case = private_threshold.Case(model, 2000, 0.8, epsilon)
        (row,) = private_threshold.simulate(case, 100, [SEED])
        both = row, the_row(committed, **case._asdict())
        pairs += [[share_held(each, name) for each in both] for name in ("broken", "made")]
        pairs.append([(each["recall"], each["recall_error"]) for each in both])
    assert_close(pairs)


def test_private_thresholds_break_fewer_promises_than_they_may():
    rows = table("private_threshold")
    assert len(rows) == len(private_threshold.cases(quick=False))
    for row in rows:
        broken = round(row["broken"] * row["data_sets"])
        level = 1 - private_threshold.CONFIDENCE_LEVEL
        assert stats.binomtest(broken, row["data_sets"], level, "greater").pvalue > ERROR_RATE


def test_bands():
    committed, pairs = table("bands"), []
    rows = bands.simulate_case("bibeta", "random", 500, 0.1, data_sets=40, seed=SEED)
    for row in rows:
        key = {name: row[name] for name in ("model", "design", "rows", "prevalence", "method")}
        old = the_row(committed, **key)
        pairs.append([(r["coverage"], r["standard_error"]) for r in (row, old)])
        pairs.append([(r["mean_width"], r["width_error"]) for r in (row, old)])
    assert len(pairs) == 2 * len(bands.METHODS)
    assert_close(pairs)


def test_intervals_again():
    """Every case of a default that looked too low was run again, and the first one once more."""
    committed, first = table("intervals_again"), table("intervals")
    name = [*intervals.CASE, "metric", "estimator", "method"]
    doubted = [
        tuple(row[part] for part in name)
        for row in first
        if (row["metric"], row["estimator"], row["method"]) in intervals.DEFAULTS
        and row["coverage"] < intervals.DOUBTED_UNDER
    ]
    assert [tuple(row[part] for part in name) for row in committed] == doubted
    old = committed[0]
    (row,) = intervals.simulate_case(
        *doubted[0][:5], simulations=2000, n_resamples=0, seed=SEED, wanted=(doubted[0][5:],)
    )
    assert_close([[(r["coverage"], r["error"]) for r in (row, old)]])


def test_bands_again():
    """Every case in which the default looked too low was run again, and the first one once more."""
    committed, first = read_rows(TABLES / "bands_again.csv"), table("bands")
    doubted = [
        tuple(row[name] for name in bands.CASE)
        for row in first
        if row["method"] == "fiducial" and row["coverage"] < bands.DOUBTED_UNDER
    ]
    assert [tuple(row[name] for name in bands.CASE) for row in committed] == doubted
    for case, old in zip(doubted[:1], committed, strict=False):
        (row,) = bands.simulate_case(*case, data_sets=40, seed=SEED, methods=("fiducial",))
        assert_close(
            [
                [(r["coverage"], r["standard_error"]) for r in (row, old)],
                [(r["mean_width"], r["width_error"]) for r in (row, old)],
            ]
        )


def test_band_theory():
    """Expected values are the same; simulated ones, also those of new data sets, differ by chance.

    The spread between data sets is taken from the committed ones, of which there are more.
    """
    committed, full, pairs = table("band_theory"), band_theory.FULL, []
    few = full | {
        "weight_repeats": 100,
        "point_data_sets": 30,
        "curve_data_sets": 8,
        "curve_replicates": 4000,
        "curve_truth": 40_000,
        "variance_samples": 4000,
    }
    for part, count, *case in (
        ("weights", "weight_repeats", 50, 0.5),
        ("point", "point_data_sets", "binormal_1", 0.5, 1000),
        ("curve", "curve_data_sets", "binormal_1", 0.5, 1000),
        ("variance", "variance_samples", "bibeta", 0.5, 5000),
    ):
        for row in band_theory.simulate_case(part, *case, few, [SEED]):
            names = [name for name in row if name not in ("value", "standard_error", "expected")]
            old = the_row(committed, **{name: row[name] for name in names})
            if row["expected"] != "":
                assert old["expected"] == pytest.approx(row["expected"], rel=1e-5, abs=1e-12)
            # What depends on the number of replicates is left out.
            if row["quantity"].startswith(("low_", "high_")) or row["method"] == "chance":
                continue
            error = old["standard_error"]
            new_error = error * np.sqrt(full[count] / few[count])
            pairs.append([(row["value"], new_error), (old["value"], error)])
    assert len(pairs) == 9 + 9 + 9 + 15
    assert_close(pairs)


def test_the_powers_of_the_bootstrap_are_those_of_the_theorem():
    """At the smoothed curve far steeper than the naive one and the one that is printed."""
    rows = [
        row
        for row in table("band_theory")
        if (row["part"], row["design"]) == ("bootstrap", "fixed")
    ]
    limit = stats.norm.isf(ERROR_RATE / 6)
    for model in {row["model"] for row in rows}:
        power, error = zip(
            *(
                slope(r for r in rows if (r["model"], r["method"], r["quantity"]) == (model, *kind))
                for kind in (
                    ("undersmoothed", "distance_smoothed"),
                    ("naive", "distance_observed"),
                    ("undersmoothed", "distance_observed"),
                )
            ),
            strict=True,
        )
        for other in (1, 2):
            assert power[other] - power[0] > limit * np.hypot(error[0], error[other])


def test_intervals():
    committed, pairs = table("intervals"), []
    simulations = 400

    def share(row, count):
        """With its error, one success and one failure added so that the error is never 0."""
        smoothed = (row["coverage"] * count + 1) / (count + 2)
        return row["coverage"], np.sqrt(smoothed * (1 - smoothed) / count)

    for model, kind, prevalence, n_pos in (
        ("binormal_1", "fixed", 0.1, 20),
        ("bibeta+1", "random", 0.01, 50),
    ):
        rows = intervals.simulate_case(
            "formula",
            model,
            kind,
            prevalence,
            n_pos,
            simulations=simulations,
            n_resamples=1,
            seed=SEED,
            workers=1,
        )
        for row in rows:
            key = ("part", "model", "numbers", "prevalence", "n_pos", "method")
            old = the_row(committed, **{name: row[name] for name in key})
            pairs.append([share(row, simulations), share(old, 4000)])
    assert len(pairs) == 2 * len(intervals.FORMULAS)
    assert_close(pairs)


def test_planning():
    committed, pairs = table("planning"), []
    for case in planning.cases(quick=False):
        if case.aucpr == 0.4 and case.asked in (0.0, 0.4):
            [row] = planning.simulate_case(case, 60, [SEED])
            old = the_row(committed, **case._asdict())
            pairs.append([(each["mean"], each["error"]) for each in (row, old)])
    assert len(pairs) == 3
    assert_close(pairs)


def test_planned_widths_are_within_a_tenth():
    """What the page on planning says, of every case on the assumed scores."""
    rows = [row for row in table("planning") if row["part"] == "width"]
    for row in rows:
        if row["scores"] == planning.ASSUMED:
            assert abs(row["mean"] - 1.0) <= 0.1 + 2 * row["error"], row


def test_monitoring():
    """Shares of streams that have raised the alarm by the time that half of the others had."""
    committed = table("monitoring")
    limit = stats.norm.isf(ERROR_RATE / 4)
    for target, precision in ((0.5, 0.3), (0.9, 0.8)):
        rng = np.random.default_rng([SEED, round(100 * target)])
        streams = [rng.random(200) < precision for _ in range(300)]
        found = monitoring._alarms(target, streams)
        key = {"part": "delay", "first": target, "second": precision}
        half = the_row(committed, **key, measure="half")
        # The median of 2,000 streams has an error too, and times are whole numbers.
        error = 0.5 * np.sqrt(1 / 300 + 1 / half["runs"])
        assert np.mean(found <= half["value"]) >= 0.5 - limit * error
        assert np.mean(found < half["value"]) <= 0.5 + limit * error
        once = the_row(committed, **key, measure="one look")["value"]
        assert once == monitoring.one_look(target, precision)


def test_monitors_keep_their_level_while_somebody_looks():
    rows = [row for row in table("monitoring") if row["part"] == "size"]
    assert {row["first"] for row in rows} == set(monitoring.TARGETS)
    for row in rows:
        assert row["runs"] == 10_000
        assert row["value"] <= 0.05


def test_folds():
    committed, pairs = table("folds"), []
    for case in folds.cases(quick=False):
        if case.learner == "quadratic discriminant" and case.scheme != "nested":
            for row in folds.simulate_case(case, 20, [SEED]):
                old = the_row(committed, **case._asdict(), method=row["method"])
                pairs += [
                    [share_held(each, name) for each in (row, old)]
                    for name in ("held", "held_again")
                ]
    assert len(pairs) == 12
    assert_close(pairs)


def test_defaults():
    """A cell of each part, those that are drawn in blocks with more data sets."""
    committed, pairs = table("defaults"), []
    chosen = {case.part: case for case in defaults.cases(quick=False)}
    for case in chosen.values():
        count = defaults.DATA_SETS[case.part] // 4
        [row] = defaults.simulate_case(case, count, [SEED])
        old = the_row(committed, **case._asdict())
        assert row["truth"] == pytest.approx(old["truth"], rel=1e-5)  # six digits are kept
        pairs.append([share_held(each, "coverage") for each in (row, old)])
    assert len(pairs) == 10
    assert_close(pairs)


def test_defaults_again():
    """No cell that was run again is significantly under .94, but those that the page names."""
    first, again = table("defaults"), table("defaults_again")
    cells = {tuple(row[name] for name in defaults.Case._fields) for row in first}
    assert all(tuple(row[name] for name in defaults.Case._fields) in cells for row in again)
    page = (TABLES / "defaults.md").read_text()
    low = [row for row in again if significantly_low(row, len(first), again)]
    assert page.count("| yes |") == len(low)


def roots(new, old, value, error):
    """Two root-mean-square errors, with the standard error of the larger simulation for both.

    Squares of errors have a heavy tail: a small sample without large ones has a small mean and a
    small estimate of its error too.
    """
    fewer = np.sqrt(old["data_sets"] / new["data_sets"])
    return [(new[value], old[error] * fewer), (old[value], old[error])]


def test_sites():
    committed, pairs = table("sites"), []
    for sites_and_sizes in ((1, "all"), (5, "unequal"), (20, "equal")):
        case = sites.Case(5000, 1.0, *sites_and_sizes)
        for row in sites.simulate_case(case, 150, [SEED]):
            old = the_row(committed, **case._asdict(), area=row["area"])
            pairs.append(roots(row, old, "rmse", "error"))
            pairs += [
                [share_held(each, name) for each in (row, old)]
                for name in ("rows_covered", "population_covered")
            ]
    assert_close(pairs)


def test_neighbours():
    committed, pairs = table("neighbours"), []
    for case in neighbours.cases(quick=False):
        if case.rows == min(neighbours.ROWS):
            [row] = neighbours.simulate_case(case, 150, [SEED])
            old = the_row(committed, **case._asdict())
            pairs += [roots(row, old, f"{area}_rmse", f"{area}_error") for area in ("ap", "auroc")]
    assert_close(pairs)


def test_intervals_of_private_curves_cover():
    for row in [*table("sites"), *table("neighbours")]:
        for name in (name for name in row if name.endswith("_covered")):
            held = round(row[name] * row["data_sets"])
            assert stats.binomtest(held, row["data_sets"], 0.95, "less").pvalue > ERROR_RATE / 100


def test_missed():
    committed, pairs = table("missed"), []
    for place in (0, 6):
        for row in missed.simulated(place, SEED, 200, 20):
            old = the_row(committed, case=place, what=row["what"])
            pairs.append([share_held(each, "coverage") for each in (row, old)])
    assert_close(pairs)


def test_audit():
    committed, pairs = table("audit"), []
    for model in ("binormal_2", "five_levels"):
        for design in ("plan", "simple"):
            key = {"model": model, "prevalence": 0.01, "budget": 200, "design": design}
            (row,) = audit.one_case(*key.values(), 20, SEED)
            both = row, the_row(committed, **key)
            rows = [each | {"data_sets": each["samples"]} for each in both]
            pairs.append([share_held(each, "covered") for each in rows])
            # As many labelled positives on average, a number that varies like Poisson's or less.
            found = [each["positives"] for each in both]
            pairs.append(
                [(n, np.sqrt(n / each["samples"])) for n, each in zip(found, both, strict=True)]
            )
    assert_close(pairs)


def share_held(row, name):
    """A share with an error that is not 0 where all or none held (Agresti & Coull)."""
    n = row["data_sets"] + 4
    value = (row[name] * row["data_sets"] + 2) / n
    return value, np.sqrt(value * (1 - value) / n)


def test_gate():
    committed, pairs = table("gate"), []
    for model, prevalence, n_pos in (("binormal_1", 0.1, 40), ("mixture+1", 0.1, 100)):
        rng = np.random.default_rng([SEED, n_pos])
        truth, passed, better, _ = gate.at_target(model, prevalence, n_pos, 2000, rng)
        old = the_row(committed, part="target", about=model, number=prevalence, n_pos=n_pos)
        assert truth == pytest.approx(old["truth"], rel=1e-5)
        new = {"data_sets": 2000, "false_passes": passed, "passes_if_better": better}
        names = ("false_passes", "passes_if_better")
        pairs += [[share_held(row, name) for row in (new, old)] for name in names]
    assert_close(pairs)


def test_a_gate_passes_what_is_at_its_target_or_margin_as_seldom_as_it_says():
    rows = [row for row in table("gate") if row["part"] in ("target", "margin")]
    assert {row["data_sets"] for row in rows} == {10_000}
    for row in rows:
        # Each at one in 1,000, all cases together.
        chance = ERROR_RATE / len(rows)
        count = round(row["data_sets"] * row["false_passes"])
        assert stats.binom.sf(count - 1, row["data_sets"], 0.05) > chance, row


def test_slices():
    committed, pairs = table("slices"), []
    for place, count in ((0, 150), (7, 40), (20, 100)):
        [new] = slices.simulated(place, count, SEED)
        old = the_row(committed, part="holds", case=place)
        names = ("all_hold", "called_worse")
        pairs += [[share_held(row, name) for row in (new, old)] for name in names]
    assert_close(pairs)


def test_limits_of_slices_hold_at_once_and_chance_calls_few_of_them_worse():
    rows = [row for row in table("slices") if row["part"] == "holds"]
    assert len(rows) == len(slices.CASES)
    for row in rows:
        n = row["data_sets"]
        chance = ERROR_RATE / len(rows)
        assert stats.binom.cdf(round(n * row["all_hold"]), n, 0.95) > chance, row
        if not slices.CASES[row["case"]].spread:
            assert stats.binom.sf(round(n * row["called_worse"]) - 1, n, 0.05) > chance, row


WRITTEN = [
    audit,
    band_theory,
    bands,
    defaults,
    folds,
    gate,
    intervals,
    monitoring,
    neighbours,
    planning,
    promises,
    sites,
    slices,
]
# Studies whose tables do not have all cases yet: their pages say what is there.
UNFINISHED = ("bands",)


@pytest.mark.parametrize("study", WRITTEN, ids=lambda study: study.__name__.rpartition(".")[2])
def test_committed_pages_are_written_from_the_committed_tables(study, tmp_path, monkeypatch):
    name = study.__name__.rpartition(".")[2]
    for suffix in (".csv", ".json", "_again.csv", "_again.json"):
        if (TABLES / f"{name}{suffix}").exists():
            shutil.copy(TABLES / f"{name}{suffix}", tmp_path)
    monkeypatch.setattr(study, "draw", lambda results: None, raising=False)
    if name in UNFINISHED:
        monkeypatch.setattr(study, "compute", lambda *_: [])
    before = (tmp_path / f"{name}.csv").read_bytes()
    page = study.run(tmp_path, workers=1)  # nothing is left to simulate, or nothing will be
    assert (tmp_path / f"{name}.csv").read_bytes() == before
    assert page.read_text() == (TABLES / f"{name}.md").read_text()


def test_promises():
    committed, pairs = table("promises"), []
    for case in (
        promises.Case("recall", "cauchy", 20, 0.1),
        promises.Case("share of rows", "comb", 100, 0.1),
        promises.Case("recall, weighted", "five_levels", 100, 0.1),
        promises.Case("precision elsewhere, weighted", "calibrated", 100, 0.1),
    ):
        [row] = promises.simulate_case(case, 200, [SEED])
        old = the_row(committed, **case._asdict())
        pairs += [[share_held(each, name) for each in (row, old)] for name in ("broken", "made")]
    assert len(pairs) == 8
    assert_close(pairs)


def test_promises_are_kept_but_where_nothing_says_that_rows_are_missing():
    doubtful = promises.beyond_chance(table("promises"))
    assert {(row["promise"], row["model"], row["positives"]) for row in doubtful} == {
        ("recall, weighted", "two_sided", 20)
    }


def test_every_committed_table_is_tested():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    missing = {path.stem for path in TABLES.glob("*.csv")} - tested
    assert not missing, f"no test here runs a slice of {', '.join(sorted(missing))} again"
