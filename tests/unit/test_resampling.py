"""The bootstrap on counts is distributed like one on rows: all outcomes of small data."""

from collections import Counter
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
import pytest
from scipy.stats import chi2

import precall as pr
from precall.inference.clusters import draw_cells
from precall.inference.resampling import (
    Multinomial,
    RankingResampler,
    merge_runs,
    replicate,
    resampler_for,
)
from precall.inference.units import Units, rebalanced
from precall.ranking import Cells
from tests import naive_inference

pytestmark = pytest.mark.filterwarnings("ignore::precall.exceptions.DirectionWarning")

Y = np.array([1, 0, 1, 0, 0, 1])
UNTIED = np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
TIED = np.array([2.0, 2.0, 1.0, 1.0, 0.0, 0.0])
# Every test of a distribution here is wrong once in 10,000 times, and the seeds are fixed.
ALPHA = 1e-4


def multisets(names):
    """Every way to draw as many names as there are, without order, and how many orders it has."""
    for drawn in combinations_with_replacement(names, len(names)):
        repeats = Counter(drawn).values()
        yield drawn, factorial(len(names)) // prod(map(factorial, repeats))


def outcomes(y, s, stratified=True, weights=None, groups=None):
    """Probability of every value of average precision, over all ways to draw rows."""
    groups = np.arange(y.size) if groups is None else groups
    names = np.unique(groups)
    strata = [names]
    if stratified:
        labels = np.array([y[groups == g][0] for g in names])
        strata = [names[labels == c] for c in (0, 1)]
    distribution = Counter()
    for parts in product(*map(multisets, strata)):
        rows = np.concatenate([np.flatnonzero(groups == g) for drawn, _ in parts for g in drawn])
        if 0 < y[rows].sum() < rows.size:
            w = None if weights is None else weights[rows]
            value = round(naive_inference.average_precision(y[rows], s[rows], w), 9)
            distribution[value] += prod(orders for _, orders in parts)
    total = sum(distribution.values())
    return {value: count / total for value, count in distribution.items()}


def assert_distribution(values, distribution):
    observed = Counter(np.round(values, 9).tolist())
    assert set(observed) <= set(distribution)
    # Rare outcomes are taken together, so that the statistic has its distribution.
    expected = {v: p * len(values) for v, p in distribution.items()}
    rare = [v for v, e in expected.items() if e < 10]
    pairs = [(observed[v], expected[v]) for v in distribution if v not in rare]
    if rare:
        pairs.append((sum(observed[v] for v in rare), sum(expected[v] for v in rare)))
    statistic = sum((o - e) ** 2 / e for o, e in pairs)
    assert chi2.sf(statistic, len(pairs) - 1) > ALPHA


@pytest.mark.parametrize("by_binomials", [True, False])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("scores", [UNTIED, TIED], ids=["untied", "tied"])
def test_counts_have_the_distribution_of_rows(monkeypatch, scores, together, by_binomials):
    cost = 0.0 if by_binomials else 1e9
    monkeypatch.setattr("precall.inference.resampling._COST_OF_BINOMIAL", cost)
    ranking = pr.rank(Y, scores)
    for merge_ties in (True, False):
        resampler = RankingResampler(ranking, together=together, merge_ties=merge_ties)
        functional = pr.metrics.aucpr().on_both_classes(ranking)
        values = replicate(resampler, functional.value, 20_000, rng=np.random.default_rng(1))
        assert_distribution(values, outcomes(Y, scores, stratified=not together))


def test_rows_drawn_one_by_one_agree_on_larger_data():
    """Another way to say the same: the two-sample Kolmogorov-Smirnov distance."""
    rng = np.random.default_rng(4)
    y = np.arange(120) < 25
    s = np.round(rng.normal(size=120) + y, 1)
    ranking = pr.rank(y, s)
    functional = pr.metrics.aucpr().on_both_classes(ranking)
    counts = replicate(
        resampler_for(functional, ranking, together=False), functional.value, 4000, rng=rng
    )
    rows = [pr.aucpr(pr.rank(*naive_inference.resampled_rows(y, s, rng)[:2])) for _ in range(4000)]
    grid = np.sort(np.concatenate([counts, rows]))
    distance = np.abs(
        np.searchsorted(np.sort(counts), grid, side="right")
        - np.searchsorted(np.sort(rows), grid, side="right")
    ).max()
    # P(sup > c sqrt(2/n)) <= 2 exp(-2 c^2), Kolmogorov.
    critical = np.sqrt(-0.5 * np.log(ALPHA / 2)) * np.sqrt(2 / 4000)
    assert distance / 4000 < critical


@pytest.mark.parametrize("counts", [[3, 0, 5, 1], [1, 1, 1, 1, 1], [0, 0, 7]])
@pytest.mark.parametrize("by_binomials", [True, False])
def test_multinomial_moments(monkeypatch, counts, by_binomials):
    cost = 0.0 if by_binomials else 1e9
    monkeypatch.setattr("precall.inference.resampling._COST_OF_BINOMIAL", cost)
    sampler = Multinomial(np.array(counts))
    assert sampler.by_binomials == by_binomials
    drawn = sampler.draw(np.random.default_rng(2), 20_000)
    total = sum(counts)
    assert (drawn.sum(axis=1) == total).all()
    share = np.array(counts) / total
    assert (drawn[:, share == 0] == 0).all()
    # Five standard errors of a mean of 20,000.
    error = np.sqrt(total * share * (1 - share) / 20_000)
    assert (np.abs(drawn.mean(axis=0) - total * share) <= 5 * error).all()
    covariance = total * (np.diag(share) - np.outer(share, share))
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.08)


def test_the_cheaper_sampler_is_chosen_by_shape():
    few_cells = Multinomial(np.full(10, 1000))
    one_row_each = Multinomial(np.ones(1000, dtype=np.int64))
    assert few_cells.by_binomials
    assert not one_row_each.by_binomials


@pytest.mark.parametrize("prevalence", ["fixed", "random"])
def test_same_numbers_whatever_the_number_of_workers(monkeypatch, prevalence):
    monkeypatch.setattr("precall.inference.resampling._BLOCK_ELEMENTS", 2000)
    rng = np.random.default_rng(3)
    y = np.arange(300) < 60
    ranking = pr.rank(y, rng.normal(size=300) + y)
    functional = pr.metrics.aucpr().on_both_classes(ranking)
    resampler = resampler_for(functional, ranking, together=prevalence == "random")
    runs = [
        replicate(resampler, functional.value, 101, rng=np.random.default_rng(5), workers=workers)
        for workers in (1, 2, 5)
    ]
    assert runs[0].shape == (101,)
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


def test_blocks_hold_as_many_replicates_as_fit_and_at_least_one(monkeypatch):
    monkeypatch.setattr("precall.inference.resampling._BLOCK_ELEMENTS", 100)

    class Recorder:
        def __init__(self, n_cells):
            self.n_cells, self.sizes = n_cells, []

        def draw(self, rng, size):
            self.sizes.append(size)
            return np.zeros(size), None

    for n_cells, sizes in ((1000, [1, 1, 1]), (40, [2, 2]), (34, [2, 2]), (33, [3]), (0, [3])):
        recorder = Recorder(n_cells)
        found = replicate(recorder, lambda cells, _: cells, 3, rng=np.random.default_rng(0))
        assert recorder.sizes == sizes
        assert found.shape == (3,)


MERGED = [
    pr.metrics.aucpr(estimator="davis_goadrich"),
    pr.metrics.aucpr(estimator="interpolated_convex"),
    pr.metrics.auroc(),
    pr.metrics.auprg(),
    pr.metrics.precision_at_recall(recall=0.6),
    pr.metrics.recall_at_precision(precision=0.55),
]


@pytest.mark.parametrize("metric", MERGED, ids=str)
def test_runs_of_positives_are_merged_only_where_it_changes_nothing(metric):
    """The same draws, run by run and row by row, give the same values."""
    rng = np.random.default_rng(11)
    y = rng.random(60) < 0.7
    ranking = pr.rank(y, np.round(rng.normal(size=60) + y, 2))
    functional = metric.on_both_classes(ranking)
    assert functional.merges_runs
    cells, _ = RankingResampler(ranking).draw(rng, 200)
    merged = merge_runs(ranking)
    assert len(merged) < 0.8 * len(ranking)
    last = np.searchsorted(-ranking.threshold, -merged.threshold)
    first = np.concatenate([[0], last[:-1] + 1])
    joined = Cells(
        np.add.reduceat(cells.positives, first, axis=1),
        np.add.reduceat(cells.tied, first, axis=1),
        np.add.reduceat(cells.above, first, axis=1),
        cells.below,
    )
    np.testing.assert_allclose(functional.value(joined), functional.value(cells), rtol=1e-12)
    assert not pr.metrics.aucpr().on_both_classes(ranking).merges_runs


def test_progress_counts_replicates(monkeypatch):
    monkeypatch.setattr("precall.inference.resampling._BLOCK_ELEMENTS", 100)
    told = []
    pr.interval(
        pr.rank(Y, UNTIED),
        method="bootstrap_percentile",
        n_resamples=95,
        rng=0,
        progress=lambda done, total: told.append((done, total)),
        sampling="classes",
    )
    assert told[-1] == (95, 95)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_weights_equal_within_cells_are_drawn_exactly():
    weights = np.where(Y == 1, 2.0, 0.5)
    ranking = pr.rank(Y, UNTIED, sample_weight=weights)
    functional = pr.metrics.aucpr().on_both_classes(ranking)
    resampler = resampler_for(functional, ranking, together=False)
    values = replicate(resampler, functional.value, 20_000, rng=np.random.default_rng(6))
    assert_distribution(values, outcomes(Y, UNTIED, weights=weights))


def test_equal_weights_beside_a_cell_of_unequal_ones_stay_as_they_are():
    y, s = np.array([1, 1, 0, 0, 0, 0]), np.array([4.0, 2.0, 5.0, 5.0, 3.0, 3.0])
    ranking = pr.rank(y, s, sample_weight=[1.0, 1.0, 0.5, 4.5, 3.0, 3.0])
    cells, squares = RankingResampler(ranking).draw(np.random.default_rng(1), 1000)
    rows = cells.above[:, 1] / 3.0
    assert set(rows.tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    np.testing.assert_array_equal(squares.above[:, 1], 9.0 * rows)
    # The other cell has the rest of the four negatives; none of them, no weight.
    np.testing.assert_array_equal(cells.above[:, 0] == 0.0, rows == 4.0)
    assert len(np.unique(cells.above[:, 0])) > 900


def test_unequal_weights_in_a_cell_keep_mean_and_variance():
    rng = np.random.default_rng(7)
    y = np.array([1] + [0] * 40)
    s = np.array([1.0] + [2.0] * 40)
    w = np.concatenate([[1.0], rng.exponential(size=40)])
    resampler = RankingResampler(pr.rank(y, s, sample_weight=w))
    cells, squares = resampler.draw(np.random.default_rng(8), 20_000)
    drawn = cells.above[:, 0]
    assert drawn.mean() == pytest.approx(w[1:].sum(), abs=5 * drawn.std() / np.sqrt(20_000))
    # 40 draws of a weight: 40 times its (population) variance.
    assert drawn.var() == pytest.approx(40 * w[1:].var(), rel=0.06)
    assert squares.above[0, 0] == pytest.approx((w[1:] ** 2).sum())


def unit_replicates(y, s, *, clusters=None, weights=None, together=False, rebalance=False):
    rows = pr.Rows(y, {"s": s}, sample_weight=weights, clusters=clusters)
    ranking = rows["s"]
    units = Units(rows, [rows.place("s")], [len(ranking)], together=together)
    return draw_cells(
        units,
        [pr.metrics.aucpr().on_both_classes(ranking)],
        odds=ranking.n_pos / ranking.n_neg if rebalance else None,
        n_resamples=20_000,
        rng=np.random.default_rng(9),
        progress=None,
    )[0]


@pytest.mark.parametrize("scores", [UNTIED, TIED], ids=["untied", "tied"])
def test_units_of_rows_have_the_distribution_of_rows(scores):
    assert_distribution(unit_replicates(Y, scores), outcomes(Y, scores))
    assert_distribution(
        unit_replicates(Y, scores, together=True), outcomes(Y, scores, stratified=False)
    )


def test_weighted_rows_as_their_own_clusters_are_drawn_exactly():
    weights = np.array([1.0, 0.5, 2.0, 1.5, 1.0, 0.25])
    values = unit_replicates(Y, TIED, clusters=np.arange(Y.size), weights=weights)
    assert_distribution(values, outcomes(Y, TIED, weights=weights))


def test_clusters_are_drawn_whole():
    groups = np.array([0, 1, 0, 1, 2, 3])
    pure = np.array([1, 0, 1, 0, 0, 1])
    assert_distribution(
        unit_replicates(pure, UNTIED, clusters=groups), outcomes(pure, UNTIED, groups=groups)
    )
    mixed = np.array([0, 0, 1, 1, 2, 3])
    assert_distribution(
        unit_replicates(Y, UNTIED, clusters=mixed),
        outcomes(Y, UNTIED, groups=mixed, stratified=False),
    )


def test_mixed_clusters_at_fixed_prevalence_are_weighted_back():
    rows = pr.Rows(Y, {"s": UNTIED}, clusters=np.array([0, 0, 1, 1, 2, 3]))
    ranking = rows["s"]
    units = Units(rows, [rows.place("s")], [len(ranking)], together=False)
    assert units.mixed
    drawn = np.array([[2, 0, 1, 1], [1, 1, 1, 1]])
    cells = rebalanced(units.cells(drawn), odds=1.0)
    n = cells.positives.sum(axis=1)
    m = cells.above.sum(axis=1) + cells.tied.sum(axis=1) + cells.below
    np.testing.assert_allclose(n / m, 1.0)
    np.testing.assert_allclose(cells.positives[1], ranking.positives)


@pytest.mark.filterwarnings("ignore::precall.exceptions.ReliabilityWarning")
@pytest.mark.parametrize("prevalence", [None, 0.2])
def test_clusters_of_both_classes_keep_the_prevalence_in_every_replicate(prevalence):
    """Where all scores are equal, average precision is the prevalence: nothing may vary."""
    y = np.random.default_rng(0).random(120) < 0.3
    rows = pr.Rows(y, np.zeros(120), clusters=np.arange(120) // 4)
    found = pr.interval(
        rows,
        method="bootstrap_percentile",
        sampling="classes",
        prevalence=prevalence,
        n_resamples=50,
        rng=0,
    )
    expected = prevalence or y.mean()
    assert (found.low, found.high) == pytest.approx((expected, expected), rel=1e-9)
