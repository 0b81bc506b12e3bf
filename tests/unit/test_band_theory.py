"""The study of the theorems behind the bands: its exact distributions, its parts, its run."""

import json
from fractions import Fraction
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import precall as pr
from precall.simulate import Binormal
from studies import ABOUT, _band_distributions, band_theory
from studies._band_distributions import (
    RowDistribution,
    distance,
    distance_bounds,
    draw_curves,
    precision_distribution,
    row_rates,
    sample_steps,
    threshold_rates,
)
from studies._band_rows import slope
from studies._band_weights import expected_weights, log_weights, weight_case
from studies._results import Results, read_rows

PLAN = dict.fromkeys(band_theory.FULL, 4) | {
    "weight_replicates": 50,
    "curve_replicates": 200,
    "curve_truth": 400,
    "variance_samples": 200,
}
CASES = [
    ("weights", 50, 0.2),
    ("point", "binormal_1", 0.5, 100),
    ("curve", "binormal_1", 0.5, 100),
    ("variance", "gamma", 0.1, 200),
]


def test_every_study_is_told_of():
    folder = Path(band_theory.__file__).parent
    assert set(ABOUT) == {path.stem for path in folder.glob("[!_]*.py")}


@pytest.mark.parametrize(("prevalence", "proposal"), [(1, 5), (5, 3)])
def test_weights_in_expectation_are_those_of_rational_numbers(prevalence, proposal):
    size, p, q = 12, Fraction(prevalence, 10), Fraction(proposal, 10)
    distribution = [comb(size, k) * q**k * (1 - q) ** (size - k) for k in range(size + 1)]
    paper = [(p / q) ** k * ((1 - p) / (1 - q)) ** (size - k) for k in range(size + 1)]
    slides = [
        (Fraction(k, size) / q) ** k * ((1 - Fraction(k, size)) / (1 - q)) ** (size - k)
        for k in range(size + 1)
    ]
    for given, weights in ((float(p), paper), (None, slides)):
        np.testing.assert_allclose(
            np.exp(log_weights(np.arange(size + 1), size, given, float(q))),
            [float(weight) for weight in weights],
            rtol=1e-12,
        )
        mean = sum(w * prob for w, prob in zip(weights, distribution, strict=True))
        square = sum(w * w * prob for w, prob in zip(weights, distribution, strict=True))
        share = sum(
            w * prob * k for k, (w, prob) in enumerate(zip(weights, distribution, strict=True))
        )
        found = expected_weights(size, given, float(q))
        assert found["mean_weight"] == pytest.approx(float(mean), rel=1e-11)
        assert found["weighted_prevalence"] == pytest.approx(float(share / mean / size), rel=1e-11)
        effective = 10.0 ** found["log10_effective_share"]
        assert effective == pytest.approx(float(mean**2 / square), rel=1e-10)
        if given is not None:
            assert mean == 1
            assert share / size == p
            assert mean**2 / square == (1 + (p - q) ** 2 / (q * (1 - q))) ** -size
        else:
            assert share / mean / size == Fraction(1, 2)


def test_weights_of_many_rows():
    found = expected_weights(1000, 0.1, 0.5)
    assert found["log10_effective_share"] == pytest.approx(-1000 * np.log10(1.64), rel=1e-9)
    slides = expected_weights(1000, None, 0.3)
    assert slides["mean_weight"] == pytest.approx(np.sqrt(500 * np.pi) + 2 / 3, rel=1e-3)


def test_replicates_show_the_weights_where_they_can():
    rows = weight_case(50, 0.4, dict(band_theory.FULL, weight_repeats=100), [1])
    near = [row for row in rows if row["prevalence"] == 0.4]
    assert [row["quantity"] for row in near] == ["log10_effective_share", "weighted_prevalence"]
    assert near[0]["value"] == 0.0
    assert near[0]["expected"] == pytest.approx(0.0, abs=1e-12)
    assert abs(near[1]["value"] - 0.4) <= 4 * near[1]["standard_error"]
    # Too far away: replicates cannot show how little is left, nor find the sample's prevalence.
    far = [row for row in rows if row["prevalence"] == 0.02]
    assert far[0]["value"] > -np.log10(2000) > far[0]["expected"]
    assert far[1]["value"] > 2 * far[1]["expected"]


@pytest.mark.parametrize(("n_pos", "n_neg", "recall"), [(3, 4, 0.5), (5, 2, 1.0), (1, 6, 0.3)])
def test_distribution_of_the_precision_when_scores_tell_nothing(n_pos, n_neg, recall):
    """All orders are equally likely, so the negatives above the r-th positive are countable."""
    values, cdf = precision_distribution(
        threshold_rates(lambda tail: tail, recall, n_pos), recall, n_pos, n_neg
    )
    row = int(np.ceil(n_pos * recall))
    orders = [
        Fraction(comb(row - 1 + k, k) * comb(n_pos - row + n_neg - k, n_neg - k))
        / comb(n_pos + n_neg, n_pos)
        for k in range(n_neg + 1)
    ]
    expected = np.cumsum([float(share) for share in orders[::-1]])
    np.testing.assert_allclose(cdf, expected, atol=1e-9)
    counts = np.arange(n_neg, -1, -1)
    np.testing.assert_allclose(values, n_pos * recall / (n_pos * recall + counts), rtol=1e-13)


def test_distribution_of_resampled_rows_is_that_of_all_resamples():
    above, n_neg, recall = np.array([0, 1, 1, 3]), 3, 0.5
    positives = np.array([9.0, 7.0, 6.5, 1.0])
    negatives = np.array([8.0, 4.0, 2.0])
    np.testing.assert_array_equal((negatives > positives[:, None]).sum(axis=1), above)
    counts = []
    for ours in product(positives, repeat=4):
        threshold = sorted(ours, reverse=True)[1]
        counts += [
            sum(score > threshold for score in theirs) for theirs in product(negatives, repeat=3)
        ]
    precisions = 2.0 / (2.0 + np.array(counts))
    exact = precision_distribution(
        row_rates(RowDistribution(above=above, n_neg=n_neg), recall), recall, 4, n_neg
    )
    for value, height in zip(*exact, strict=True):
        assert height == pytest.approx(np.mean(precisions <= value + 1e-12), abs=1e-12)


def test_drawn_curves_have_the_computed_distribution():
    n_pos, n_neg, recall, draws = 15, 45, 0.4, 20_000
    scenario = Binormal(1.0)
    rng = np.random.default_rng(3)
    sizes = np.full(draws, n_pos)
    labels, scores = scenario.sample(n_pos, n_neg, rng=4)
    ranking = pr.rank(labels, scores)
    rows = RowDistribution(above=np.cumsum(ranking.above), n_neg=n_neg)
    for distributions, rates in (
        (scenario.distributions(), threshold_rates(scenario.false_positive_rate, recall, n_pos)),
        ((rows, rows), row_rates(rows, recall)),
    ):
        drawn = draw_curves(distributions, np.array([recall]), sizes, n_pos + n_neg, rng)[:, 0]
        exact = precision_distribution(rates, recall, n_pos, n_neg)
        # Values are compared a little above themselves: two ways to divide differ in a last digit.
        gap = distance((exact[0] + 1e-9, exact[1]), sample_steps(drawn + 1e-9))
        # Kolmogorov's limit, too careful for steps: exceeded once in 10,000 runs.
        assert gap <= stats.kstwobign.isf(1e-4) / np.sqrt(draws) + 1e-9


def test_wide_distributions_are_interpolated_well(monkeypatch):
    scenario = Binormal(1.0)

    def distribution():
        rates = threshold_rates(scenario.false_positive_rate, 0.5, 300)
        return precision_distribution(rates, 0.5, 300, 3000)

    usual = distribution()
    monkeypatch.setattr(_band_distributions, "_KNOTS_PER_DEVIATION", 1e9)
    monkeypatch.setattr(_band_distributions, "_NODES", 200)
    np.testing.assert_allclose(usual[1], distribution()[1], atol=2e-6)


def test_distance_is_that_of_kolmogorov():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20, 50), rng.integers(3, 25, 80)
    expected = stats.ks_2samp(a, b).statistic
    assert distance(sample_steps(a), sample_steps(b)) == pytest.approx(expected, rel=1e-12)
    assert distance(sample_steps(a), sample_steps(a)) == 0.0


def test_estimates_bracket_the_distance():
    rng = np.random.default_rng(1)
    shift = 0.1
    grid = np.linspace(-6.0, 6.0, 20_001)
    truth = grid, stats.norm.cdf(grid)
    exact = 2 * stats.norm.cdf(shift / 2) - 1
    found = np.array([distance_bounds(truth, rng.normal(shift, size=1000)) for _ in range(400)])
    mean, error = found.mean(axis=0), found.std(axis=0) / 20
    # One-sided, three standard errors: each fails on right code once in 700 runs.
    assert mean[0] <= exact + 3 * error[0]
    assert mean[1] >= exact - 3 * error[1]
    assert mean[1] - mean[0] < 0.03


def test_the_printed_variance_has_its_factor_before_the_first_term_only():
    recall, p = np.array([0.2, 0.6]), 0.1
    scenario = Binormal(1.0)
    threshold = stats.norm.isf(recall, loc=1.0)
    rate = stats.norm.sf(threshold)
    ratio = stats.norm.pdf(threshold) / stats.norm.pdf(threshold, loc=1.0)
    precision = p * recall / (p * recall + (1 - p) * rate)
    terms = (
        (1 - p) * precision**4 * rate**2 / (recall**2 * p**3),
        (1 - p) ** 2 * recall * (1 - recall) * ratio**2 / p**3,
        (1 - p) * rate * (1 - rate) / p**2,
    )
    found = band_theory.printed_variance(scenario, recall, p)
    np.testing.assert_allclose(found, sum(terms), rtol=1e-9)


def test_slopes_are_fitted_by_weight():
    rows = [
        {"rows": size, "value": 3.0 * size**-0.4, "standard_error": 0.01}
        for size in (100, 4000, 8000)
    ]
    assert slope(rows)[0] == pytest.approx(-0.4, rel=1e-12)
    assert np.isnan(slope(rows[:2])[0])


def test_seeds_are_the_cases_own():
    seeds = [tuple(band_theory._seed(1, *case)) for case in band_theory.cases(quick=False)]
    assert len(set(seeds)) == len(seeds) == 30 + 18 + 10 + 54
    quick = [tuple(band_theory._seed(1, *case)) for case in band_theory.cases(quick=True)]
    assert set(quick) < set(seeds)


def test_smoothing_is_measured_at_both_curves():
    rows = band_theory.point_case("binormal_1", 0.5, 400, PLAN, [2])
    kinds = [(row["method"], row["quantity"]) for row in rows]
    expected = [("naive", "distance_observed")]
    for method in band_theory.SMOOTHED:
        expected += [(method, "distance_smoothed"), (method, "distance_observed")]
    assert kinds == expected
    assert all(0.0 < row["value"] < 1.0 for row in rows)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(band_theory, "cases", lambda quick: CASES)
        patch.setattr(band_theory, "QUICK", PLAN)
        page = band_theory.run(folder, quick=True, workers=1)
    return folder, page


def test_a_run_writes_table_figure_and_page(whole):
    folder, page = whole
    rows = read_rows(folder / "band_theory.csv")
    assert {row["part"] for row in rows} == {"weights", "bootstrap", "variance"}
    assert json.loads((folder / "band_theory.json").read_text())["study"] == "band_theory"
    assert (folder / "band_theory.svg").stat().st_size > 0
    text = page.read_text()
    assert "(band_theory.svg)" in text
    assert "nan" not in text.split()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_was_interrupted_gives_the_same_on_any_number_of_workers(
    workers, whole, tmp_path, monkeypatch
):
    monkeypatch.setattr(band_theory, "cases", lambda quick: CASES)
    monkeypatch.setattr(band_theory, "QUICK", PLAN)
    monkeypatch.setattr(band_theory, "draw", lambda results: None)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        band_theory.run(tmp_path, quick=True, workers=1, progress=interrupt)
    told = []
    band_theory.run(
        tmp_path, quick=True, workers=workers, progress=lambda done, total: told.append(done)
    )
    assert told == [2, 3, 4]
    for suffix in (".csv", ".md"):
        name = f"band_theory{suffix}"
        assert (tmp_path / name).read_bytes() == (whole[0] / name).read_bytes()


def test_a_case_does_not_depend_on_the_others(whole):
    rows = read_rows(whole[0] / "band_theory.csv")
    for case in CASES:
        alone = band_theory.simulate_case(*case, PLAN, band_theory._seed(20090615, *case))
        for row in alone:
            assert {
                k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in row.items()
            } in rows


def test_the_page_is_made_from_the_table_alone(whole):
    folder, page = whole
    settings = json.loads((folder / "band_theory.json").read_text())
    before = page.read_bytes()
    band_theory.write_page(Results(folder, "band_theory", settings))
    assert page.read_bytes() == before
