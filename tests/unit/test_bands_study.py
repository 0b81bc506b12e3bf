"""The coverage study: its data sets, one case, its table."""

import warnings

import numpy as np
import pytest

import precall as pr
from precall.simulate import UNSEEN, Binormal, Empirical, Levels, OutlyingNegatives
from studies import bands
from studies._bands_page import width_ratios
from studies._results import read_rows


@pytest.mark.parametrize(
    "scenario",
    [
        Binormal(1.0),
        Levels.cut(Binormal(1.0), 6),
        OutlyingNegatives(0.05, Binormal(2.0)),
        UNSEEN["zero_inflated"],
    ],
    ids=["binormal", "levels", "outlying", "inflated"],
)
def test_data_sets_have_the_distribution_of_rows(scenario):
    """Multinomial gaps between sorted positives against ranking every row."""
    rng = np.random.default_rng(0)
    fast, slow = [], []
    for _ in range(800):
        ranking = bands.draw_ranking(scenario, 8, 40, rng)
        assert (ranking.n_pos, ranking.n_neg) == (8, 40)
        rows = rank_quietly(*scenario.sample(8, 40, rng=rng))
        for values, drawn in ((fast, ranking), (slow, rows)):
            values.append([pr.auroc(drawn), pr.aucpr(drawn), drawn.above[0], len(drawn)])
    fast, slow = np.array(fast), np.array(slow)
    error = np.sqrt((fast.var(axis=0) + slow.var(axis=0)) / 800)
    # Sixteen comparisons: beyond four standard errors once in 1,000 runs.
    assert np.all(np.abs(fast.mean(axis=0) - slow.mean(axis=0)) <= 4 * error)


def rank_quietly(y_true, y_score):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pr.exceptions.DirectionWarning)
        return pr.rank(y_true, y_score)


def test_no_quick_way_for_other_scenarios():
    with pytest.raises(TypeError, match="no quick way"):
        bands.draw_ranking(Empirical([1, 0], [1, 0]), 5, 5, np.random.default_rng(0))


def test_a_case_has_a_row_per_method_with_its_error():
    rows = bands.simulate_case("ten_levels", "fixed", 60, 0.5, data_sets=3, seed=1, n_points=11)
    assert [row["method"] for row in rows] == list(bands.METHODS)
    for row in rows:
        assert 0.0 <= row["coverage"] <= 1.0
        assert row["standard_error"] > 0.0
        assert 0.0 < row["mean_width"] <= 1.0
    again = bands.simulate_case("ten_levels", "fixed", 60, 0.5, data_sets=3, seed=1, n_points=11)
    assert rows == again


def test_run_goes_on_where_it_stopped_and_writes_the_page(tmp_path, monkeypatch):
    calls = []

    def simulate(model, design, size, prevalence, *, data_sets, seed, methods):
        calls.append(model)
        return [
            {
                "model": model,
                "design": design,
                "rows": size,
                "prevalence": prevalence,
                "method": method,
                "data_sets": data_sets,
                "coverage": 0.9 + 0.01 * len(calls),
                "standard_error": 0.01,
                "mean_width": 0.6 if method == "fiducial" else 0.8,
                "width_error": 0.01,
            }
            for method in methods
        ]

    monkeypatch.setattr(bands, "simulate_case", simulate)
    drawn = []
    monkeypatch.setattr(bands, "draw", drawn.append)
    finished = []
    page = bands.run(tmp_path, quick=True, progress=lambda done, total: finished.append(done))
    # The first three have 91, 92 and 93 %, so they are run again, the default alone.
    assert calls == [*bands.FIRST, *list(bands.FIRST)[:3]]
    assert finished == list(range(1, 10))
    text = page.read_text()
    assert "| random | 200 | 0.1 | 9 | 0.910 / 0.600 | 0.910 / 0.800 |" in text
    assert "| 0.75 |" in text
    assert "0.75 of `clemencon_vayatis` (9 cases), 0.75 of `bootstrap` (9 cases), " in text
    assert "(bands.svg)" in text
    assert "(band_theory.md)" in text
    assert "run again with other draws and 40 data sets. Their mean is then 1.010." in text
    assert "| random | 200 | 0.1 | bibeta | 0.9300 ± 0.0100 | 1.0200 ± 0.0100 |" in text
    assert len(drawn) == 1
    bands.run(tmp_path, quick=True)
    assert len(calls) == 12


def test_cases_are_in_their_order_and_the_same_on_two_workers(tmp_path, monkeypatch):
    todo = [("bibeta", "random", 60, 0.5), ("ten_levels", "fixed", 40, 0.5)]
    monkeypatch.setattr(bands, "cases", lambda quick: todo)
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        bands.run(folder, quick=True, workers=workers)
        rows = read_rows(folder / "bands.csv")
        assert [row["model"] for row in rows[:: len(bands.METHODS)]] == ["bibeta", "ten_levels"]
        assert (folder / "bands.svg").stat().st_size > 0
    for name in ("bands.csv", "bands.md"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_seeds_of_cases_stay_what_they_were():
    """Tables that were made in parts can be continued: the seed of a case is its own."""
    assert bands._seed(7, "gamma", "fixed", 500, 0.02) == [7, 5, 1, 500, 20]


def test_widths_are_compared_where_both_methods_were_run():
    cases = [
        {"fiducial": {"mean_width": 1.0}, "exact": {"mean_width": 2.0}},
        {"fiducial": {"mean_width": 3.0}},
    ]
    np.testing.assert_array_equal(width_ratios(cases, "fiducial", "exact"), [0.5])


def test_full_study_has_every_case_once():
    cases = list(bands.cases(quick=False))
    since = len(bands.MODELS) - len(bands.FIRST)
    assert len(cases) == len(set(cases)) == (9 * len(bands.FIRST) + 4 * since) * 3


def test_a_table_that_lacks_a_method_gets_that_one_alone(tmp_path, monkeypatch):
    case = ("ten_levels", "fixed", 40, 0.5)
    monkeypatch.setattr(bands, "cases", lambda quick: [case])
    bands.run(tmp_path, quick=True)
    table = tmp_path / "bands.csv"
    kept = [line for line in table.read_text().splitlines() if ",pointwise," not in line]
    table.write_text("\n".join(kept) + "\n")
    bands.run(tmp_path, quick=True)
    assert table.read_text().splitlines()[: len(kept)] == kept
    assert [row["method"] for row in read_rows(table)][-1] == "pointwise"


def test_large_samples_of_random_composition_have_no_exact_band():
    assert "exact" in bands.methods_of("gamma", "random", 2000, 0.1)
    assert "exact" not in bands.methods_of("gamma", "random", 10_000, 0.1)
    assert bands.methods_of("comb", "fixed", 500, 0.1) == bands.METHODS_SINCE
